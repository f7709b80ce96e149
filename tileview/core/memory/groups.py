"""Which values share one allocation, which allocations fill whole memory elements, and which have an access tail.

When each allocation is live.

Inputs are live from the start, everything else from the step that first mentions it. At a step, live = live before ∪
what the step reads or writes; after it, what has passed its last use is dropped. Program outputs and Parameter inputs
live to the end; an input that nothing uses is dropped after step 0.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

from tileview.model.graph import InputKind
from tileview.model.program import FlatStep, Kernel, Product, Program, Repeat, Step

TAIL_ELEMENTS = 8
"""A matrix product reads up to 8 elements of its multiply precision past its left operand."""


@dataclass(frozen=True, slots=True)
class Groups:
    """Alias groups of a program. ``roots[i]`` is the smallest id of value i's group; ``members`` are ascending."""

    roots: tuple[int, ...]
    members: dict[int, tuple[int, ...]]
    tails: dict[int, int]
    """Root → access tail in bytes, for groups that are the first input of a matrix product."""
    aligned: frozenset[int]
    """Roots of the first inputs and the results of matrix products."""


def group_values(program: Program, flat: Sequence[FlatStep], *, with_yields: bool = False) -> Groups:
    """Union what shares memory.

    A compute step's declared (result, input) pairs; a Repeat's carried and invariant arguments with its inputs, its
    results with its carried inputs, and each iterated argument with the first member of its sequence. ``with_yields``:
    also a body's yields with the carried inputs, as where addresses are chosen.
    """
    parent = list(range(len(program.values)))

    def find(value: int) -> int:
        while parent[value] != value:
            parent[value] = parent[parent[value]]
            value = parent[value]
        return value

    def union(a: int, b: int) -> None:
        a, b = find(a), find(b)
        if a != b:
            parent[max(a, b)] = min(a, b)

    for entry in flat:
        step = entry.step
        if isinstance(step, (Kernel, Product)):
            for result, operand in step.aliases:
                union(step.results[result], step.inputs[operand])
        elif isinstance(step, Repeat):
            _union_repeat(step, union)
            if with_yields:
                for given, operand in zip(step.yields, step.inputs[: step.carried], strict=True):
                    union(given, operand)
    roots = tuple(map(find, parent))
    gathered: dict[int, list[int]] = {}
    for value, root in enumerate(roots):
        gathered.setdefault(root, []).append(value)
    tails: dict[int, int] = {}
    aligned: set[int] = set()
    for entry in flat:
        step = entry.step
        if isinstance(step, Product):
            left = roots[step.inputs[0]]
            tail = TAIL_ELEMENTS * (step.multiply.element_bytes or 0)
            tails[left] = max(tails.get(left, 0), tail)
            aligned.add(left)
            aligned.update(roots[result] for result in step.results)
    return Groups(roots, {root: tuple(ids) for root, ids in gathered.items()}, tails, frozenset(aligned))


def _union_repeat(step: Repeat, union: Callable[[int, int], None]) -> None:
    plain = len(step.inputs)
    for argument, operand in zip(step.arguments[:plain], step.inputs, strict=True):
        union(argument, operand)
    for result, operand in zip(step.results, step.inputs[: step.carried], strict=True):
        union(result, operand)
    for argument, members in zip(step.arguments[plain:], step.iterated, strict=True):
        if members:
            union(argument, members[0])


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """``initial``: roots live before the first step. ``live[i]``: roots live at step i. Both ascending.

    ``spans``: root → half-open range of steps; allocations that are never live are left out.
    """

    initial: tuple[int, ...]
    live: Sequence[tuple[int, ...]]
    spans: dict[int, tuple[int, int]]
    parameters: frozenset[int]

    @property
    def made_at(self) -> dict[int, int]:
        """Root → the step that makes it; inputs are made by none."""
        given = frozenset(self.initial)
        return {root: first for root, (first, _) in self.spans.items() if root not in given}


class LiveSets(Sequence[tuple[int, ...]]):
    """The live roots of each step, ascending, put together when one is looked at: for those who look at few."""

    def __init__(self, spans: Mapping[int, tuple[int, int]], steps: int) -> None:
        self._spans = spans
        self._steps = steps

    def __len__(self) -> int:
        return self._steps

    @overload
    def __getitem__(self, step: int) -> tuple[int, ...]: ...

    @overload
    def __getitem__(self, step: slice) -> tuple[tuple[int, ...], ...]: ...

    def __getitem__(self, step: int | slice) -> tuple[int, ...] | tuple[tuple[int, ...], ...]:
        if isinstance(step, slice):
            return tuple(self[index] for index in range(*step.indices(self._steps)))
        place = range(self._steps)[step]
        return tuple(sorted(root for root, (first, last) in self._spans.items() if first <= place < last))


def mentions(step: Step) -> Iterable[int]:
    """The values a step reads or writes; a Repeat also every member of its sequences and its body's yields."""
    if isinstance(step, Repeat):
        members = [value for sequence in step.iterated for value in sequence]
        return (*step.inputs, *step.results, *members, *step.yields)
    return (*step.inputs, *step.results)


def find_lifetimes(
    program: Program, flat: Sequence[FlatStep], roots: Sequence[int], *, every_set: bool = True
) -> Lifetimes:
    """The lifetimes of a program's allocations, named by their roots.

    ``every_set`` False leaves the live sets to be put together one by one when they are looked at.
    """
    end = len(flat)
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    parameters = frozenset(roots[i.value] for i in program.inputs if i.kind is InputKind.PARAMETER)
    initial = tuple(sorted({roots[entry.value] for entry in program.inputs}))
    for root in initial:
        first[root] = 0
        last[root] = 0
    for index, entry in enumerate(flat):
        for value in mentions(entry.step):
            root = roots[value]
            if root not in first:
                first[root] = index
            last[root] = index
    for root in parameters | {roots[output] for output in program.outputs}:
        last[root] = end
    spans = {root: (start, min(last[root] + 1, end)) for root, start in first.items()}
    live = _live_sets(spans, end) if every_set else LiveSets(spans, end)
    return Lifetimes(initial, live, spans, parameters)


def _live_sets(spans: Mapping[int, tuple[int, int]], end: int) -> tuple[tuple[int, ...], ...]:
    """The live roots of every step, one after the other from the set before."""
    born: list[list[int]] = [[] for _ in range(end + 1)]
    gone: list[list[int]] = [[] for _ in range(end + 1)]
    for root, (start, stop) in spans.items():
        if start < stop:
            born[start].append(root)
            gone[stop].append(root)
    current: list[int] = []
    live: list[tuple[int, ...]] = []
    for index in range(end):
        for root in gone[index]:
            del current[bisect_left(current, root)]
        for root in born[index]:
            insort(current, root)
        live.append(tuple(current))
    return tuple(live)
