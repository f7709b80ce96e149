"""The orders, the search and the proofs on hand-made and random problems: every address."""

from __future__ import annotations

import pytest

from tests.helpers.placements import Json, as_problem, golden_problems
from tileview.core.placement.outcome import solve_problem
from tileview.core.placement.proofs import prove, spell_out
from tileview.core.placement.search import PlacementOrder, run_order, search_placement

NAMES = [entry["name"] for entry in golden_problems()]
ORDERS = {"order1": PlacementOrder.FIRST_USE, "order2": PlacementOrder.SIZE, "end_first": PlacementOrder.END_FIRST}


@pytest.fixture(params=golden_problems(), ids=NAMES)
def entry(request: pytest.FixtureRequest) -> Json:
    return request.param


def test_there_are_as_many_problems_as_the_data_has():
    assert len(NAMES) == 32 + 6


@pytest.mark.parametrize("name", ORDERS)
def test_orders(entry: Json, name: str):
    problem, expected = as_problem(entry), entry["expected"][name]
    found = run_order(spell_out(problem.requests, problem.memory), problem.memory, ORDERS[name])
    assert found.placed is expected["placed"]
    assert list(found.starts) == expected["addresses"]
    if not found.placed:
        assert found.failed == expected["failed"]
        assert [list(span) for span in found.free] == expected["free"]
        assert (found.hole, found.free_bytes) == (expected["largest_hole"], expected["free_bytes"])


def test_search(entry: Json):
    problem, expected = as_problem(entry), entry["expected"]["search"]
    found = search_placement(spell_out(problem.requests, problem.memory), problem.memory)
    assert found.placed is expected["placed"]
    assert (None if found.starts is None else list(found.starts)) == expected["addresses"]
    names = ("nodes", "work", "excess", "exhausted")
    assert [getattr(found, name) for name in names] == [expected[name] for name in names]


def test_proofs(entry: Json):
    problem, expected = as_problem(entry), entry["expected"]["proofs"]
    found = prove(spell_out(problem.requests, problem.memory), problem.memory)
    assert {
        "live_peak": found.all.peak,
        "live_event": found.all.event,
        "capacity": found.all.capacity,
        "over_all": found.all.over,
        "kept_peak": found.kept.peak,
        "over_kept": found.kept.over,
        "interleaved_peak": found.interleaved.peak,
        "over_interleaved": found.interleaved.over,
        "no_place": list(found.no_place),
        "over": found.over,
    } == expected


def test_what_the_compiler_comes_to(entry: Json):
    problem, expected = as_problem(entry), entry["expected"]
    found = solve_problem(problem, searching=True)
    assert found.by == expected["compiler"]
    if found.by is None:
        request = problem.requests[found.placing.failed or 0]
        message = f"tile {problem.tile} has insufficient {request.memory_class.value} SRAM for {request.bytes} bytes"
        assert message == expected["message"]
