"""Which values share one allocation, which allocations fill whole memory elements, and which have an access tail.

When each allocation is live.

Inputs are live from the start, everything else from the step that first mentions it. At a step, live = live before ∪
what the step reads or writes; after it, what has passed its last use is dropped. Program outputs and Parameter inputs
live to the end; an input that nothing uses is dropped after step 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import eq
from typing import Final, overload

import numpy as np
import numpy.typing as npt

from tileview.core.memory.usage import KeptResults
from tileview.model.config import TAIL_ELEMENTS
from tileview.model.graph import InputKind
from tileview.model.program import Copy, FlatStep, Kernel, Product, Program, Repeat, Step


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
    moved: set[int] = set()
    products: list[Product] = []

    def find(value: int) -> int:
        while parent[value] != value:
            parent[value] = parent[parent[value]]
            value = parent[value]
        return value

    def union(a: int, b: int) -> None:
        a, b = find(a), find(b)
        if a != b:
            parent[max(a, b)] = min(a, b)
            moved.add(max(a, b))

    for entry in flat:
        step = entry.step
        kind = type(step)
        if kind is Copy:
            continue
        if isinstance(step, (Kernel, Product)):
            for result, operand in step.aliases:
                union(step.results[result], step.inputs[operand])
            if kind is Product:
                products.append(step)  # type: ignore[arg-type]
        elif isinstance(step, Repeat):
            _union_repeat(step, union)
            if with_yields:
                for given, operand in zip(step.yields, step.inputs[: step.carried], strict=True):
                    union(given, operand)
    count = len(parent)
    members: dict[int, tuple[int, ...]] = dict(zip(range(count), zip(range(count), strict=True), strict=True))
    joined: dict[int, list[int]] = {}
    for value in sorted(moved):  # a group's root is its smallest value, so what is before is at its root already
        root = parent[value] = parent[parent[value]]
        del members[value]
        joined.setdefault(root, [root]).append(value)
    members.update((root, tuple(values)) for root, values in joined.items())
    roots = tuple(parent)
    tails: dict[int, int] = {}
    aligned: set[int] = set()
    for step in products:
        left = roots[step.inputs[0]]
        tail = TAIL_ELEMENTS * (step.multiply.element_bytes or 0)
        tails[left] = max(tails.get(left, 0), tail)
        aligned.add(left)
        aligned.update([roots[result] for result in step.results])
    return Groups(roots, members, tails, frozenset(aligned))


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
    live: LiveSets
    spans: dict[int, tuple[int, int]]
    parameters: frozenset[int]

    @property
    def made_at(self) -> dict[int, int]:
        """Root → the step that makes it; inputs are made by none."""
        given = frozenset(self.initial)
        return {root: first for root, (first, _) in self.spans.items() if root not in given}


_KEPT_SETS: Final = 64


class LiveSets(Sequence[tuple[int, ...]]):
    """The live roots of each step, ascending, put together when one is looked at: most are looked at by nobody, and
    together they have far more entries than there are values.
    """

    def __init__(self, spans: Mapping[int, tuple[int, int]], steps: int) -> None:
        self._spans = spans
        self._steps = steps
        self._columns: tuple[npt.NDArray[np.int64], ...] | None = None
        self._made: KeptResults[int, tuple[int, ...]] = KeptResults(_KEPT_SETS)

    def __len__(self) -> int:
        return self._steps

    def span(self, root: int) -> tuple[int, int]:
        """The half-open range of steps at which a root is live; an empty one where it never is."""
        return self._spans.get(root, (0, 0))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]

    @overload
    def __getitem__(self, step: int) -> tuple[int, ...]: ...

    @overload
    def __getitem__(self, step: slice) -> tuple[tuple[int, ...], ...]: ...

    def __getitem__(self, step: int | slice) -> tuple[int, ...] | tuple[tuple[int, ...], ...]:
        if isinstance(step, slice):
            return tuple(self[index] for index in range(*step.indices(self._steps)))
        return self._made.get(range(self._steps)[step], self._roots)

    def _roots(self, place: int) -> tuple[int, ...]:
        if self._columns is None:
            roots = sorted(self._spans)
            spans = np.array([self._spans[root] for root in roots], dtype=np.int64).reshape(-1, 2)
            self._columns = (np.array(roots, dtype=np.int64), spans[:, 0].copy(), spans[:, 1].copy())
        names, first, last = self._columns
        return tuple(names[(first <= place) & (place < last)].tolist())


class LiveSet(Sequence[int]):
    """The live roots of one step, put together when they are looked at, and not kept for long."""

    __slots__ = ("_sets", "_step")

    def __init__(self, sets: LiveSets, step: int) -> None:
        self._sets = sets
        self._step = step

    def roots(self) -> tuple[int, ...]:
        """All of them, ascending."""
        return self._sets[self._step]

    def __len__(self) -> int:
        return len(self.roots())

    @overload
    def __getitem__(self, place: int) -> int: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[int, ...]: ...

    def __getitem__(self, place: int | slice) -> int | tuple[int, ...]:
        return self.roots()[place]

    def __iter__(self) -> Iterator[int]:
        return iter(self.roots())

    def __contains__(self, root: object) -> bool:
        first, end = self.span(root) if isinstance(root, int) else (0, 0)
        return first <= self._step < end

    def span(self, root: int) -> tuple[int, int]:
        """As :meth:`LiveSets.span`."""
        return self._sets.span(root)

    def __eq__(self, other: object) -> bool:
        return self.roots() == (other.roots() if isinstance(other, LiveSet) else other)

    def __hash__(self) -> int:
        return hash(self.roots())

    def __repr__(self) -> str:
        return repr(self.roots())


def mentions(step: Step) -> Iterable[int]:
    """The values a step reads or writes; a Repeat also every member of its sequences and its body's yields."""
    if isinstance(step, Repeat):
        members = [value for sequence in step.iterated for value in sequence]
        return (*step.inputs, *step.results, *members, *step.yields)
    return (*step.inputs, *step.results)


def find_lifetimes(program: Program, flat: Sequence[FlatStep], roots: Sequence[int]) -> Lifetimes:
    """The lifetimes of a program's allocations, named by their roots."""
    end = len(flat)
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    parameters = frozenset(roots[i.value] for i in program.inputs if i.kind is InputKind.PARAMETER)
    initial = tuple(sorted({roots[entry.value] for entry in program.inputs}))
    for root in initial:
        first[root] = 0
        last[root] = 0
    for index, entry in enumerate(flat):
        step = entry.step
        for value in mentions(step) if type(step) is Repeat else step.inputs + step.results:
            root = roots[value]
            if root not in first:
                first[root] = index
            last[root] = index
    for root in parameters | {roots[output] for output in program.outputs}:
        last[root] = end
    spans = {root: (start, min(last[root] + 1, end)) for root, start in first.items()}
    return Lifetimes(initial, LiveSets(spans, end), spans, parameters)
