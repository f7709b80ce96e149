"""What holds of every placement, whatever the requests: recomputed here from the rules, byte by byte."""

from __future__ import annotations

from hypothesis import given, settings

from tests.helpers.placements import problems
from tileview.core.placement.outcome import solve_problem
from tileview.core.placement.proofs import prove, spell_out
from tileview.core.placement.search import PlacementOrder, run_order, search_placement
from tileview.model.placement import END, Request, TileProblem
from tileview.model.tensor import MemoryClass

MANY = settings(max_examples=150, deadline=None)


def size_at(problem: TileProblem, request: Request, start: int) -> int:
    if request.region1_stride is not None and start >= problem.memory.boundary:
        return request.region1_stride * len(request.assignments)
    return request.bytes


def elements(problem: TileProblem, start: int, size: int) -> set[int]:
    """The elements that a span touches, each by its address."""
    element = 16_384 if start < problem.memory.boundary else 32_768
    return set(range(start // element * element, start + size, element)) if size else set()


def conflicting(a: Request, b: Request) -> bool:
    return bool(set(a.conflicts) & set(b.roots) or set(b.conflicts) & set(a.roots))


def assert_sound(problem: TileProblem, starts: tuple[int | None, ...]) -> None:
    memory = problem.memory
    placed = [(request, start) for request, start in zip(problem.requests, starts, strict=True) if start is not None]
    for request, start in placed:
        end = start + size_at(problem, request, start)
        element = 0
        if request.region1_stride is not None:
            element = 16_384 if start < memory.boundary else 32_768
        assert start % max(request.alignment, element, 1) == 0
        holding = [(a, b) for a, b in memory.ranges if a <= start and end <= b]
        assert holding or any(b == c for (_, b), (c, _) in zip(memory.ranges, memory.ranges[1:], strict=False))
        assert end <= memory.boundary or start >= memory.boundary
        if request.memory_class is MemoryClass.INTERLEAVED:
            assert start >= memory.boundary + memory.interleaved_offset
        if (request.first == 0 or request.last == END) and end > start:
            assert not (start < memory.window[1] and end > memory.window[0])
    for index, (a, at) in enumerate(placed):
        for b, to in placed[index + 1 :]:
            a_size, b_size = size_at(problem, a, at), size_at(problem, b, to)
            if a_size and b_size and a.first <= b.last and b.first <= a.last:
                assert at + a_size <= to or to + b_size <= at
            if conflicting(a, b):
                assert not elements(problem, at, a_size) & elements(problem, to, b_size)


@MANY
@given(problems())
def test_what_is_placed_is_sound(problem: TileProblem):
    asked = spell_out(problem.requests, problem.memory)
    for order in PlacementOrder:
        placing = run_order(asked, problem.memory, order)
        assert_sound(problem, placing.starts)
        assert placing.placed == (None not in placing.starts)
        assert run_order(asked, problem.memory, order) == placing
    found = search_placement(asked, problem.memory)
    if found.starts is not None:
        assert_sound(problem, found.starts)


@MANY
@given(problems())
def test_a_proof_is_never_contradicted(problem: TileProblem):
    asked = spell_out(problem.requests, problem.memory)
    if prove(asked, problem.memory).impossible:
        assert not any(run_order(asked, problem.memory, order).placed for order in PlacementOrder)
        assert not search_placement(asked, problem.memory).placed


@MANY
@given(problems())
def test_a_proof_counts_every_byte(problem: TileProblem):
    """The live bytes of the proof over all requests, added up event by event."""
    asked = spell_out(problem.requests, problem.memory)
    proofs = prove(asked, problem.memory)
    without = set(proofs.no_place)
    for event in {request.first for request in problem.requests}:
        live = [
            request
            for index, request in enumerate(problem.requests)
            if request.first <= event <= request.last and index not in without and request.region1_stride is None
        ]
        assert sum(request.bytes for request in live) <= proofs.all.peak
    assert proofs.all.capacity == sum(end - start for start, end in problem.memory.ranges)


@MANY
@given(problems())
def test_a_tile_has_one_outcome(problem: TileProblem):
    outcome = solve_problem(problem, searching=True)
    assert outcome == solve_problem(problem, searching=True)
    if outcome.by is not None:
        assert None not in outcome.starts
        assert_sound(problem, outcome.starts)
