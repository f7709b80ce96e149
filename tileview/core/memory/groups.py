"""Which values share one allocation, which allocations fill whole memory elements, which have an access tail, and
when each is live.

Inputs are live from the start, everything else from the step that first mentions it. At a step, live = live before ∪
what the step reads or writes; after it, what has passed its last use is dropped. Program outputs and Parameter inputs
live to the end; an input that nothing uses is dropped after step 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from operator import eq
from typing import Final, overload

import numpy as np

from tileview.core.columns import Numbers, ProgramColumns
from tileview.model.config import TAIL_ELEMENTS
from tileview.model.graph import InputKind
from tileview.model.kept import KeptResults
from tileview.model.program import Kernel, Product, Repeat, Step, Value


class Members(Mapping[int, tuple[int, ...]]):
    """Root → values of its group, ascending; put together when one is asked for: most groups are of one value."""

    __slots__ = ("_joined", "_roots")

    def __init__(self, roots: tuple[int, ...], joined: Mapping[int, tuple[int, ...]]) -> None:
        self._roots = roots
        self._joined = joined

    def __getitem__(self, root: int) -> tuple[int, ...]:
        if not 0 <= root < len(self._roots) or self._roots[root] != root:
            raise KeyError(root)
        return self._joined.get(root) or (root,)

    def __iter__(self) -> Iterator[int]:
        return (value for value, root in enumerate(self._roots) if value == root)

    def __len__(self) -> int:
        return sum(map(eq, self._roots, range(len(self._roots))))


@dataclass(frozen=True, slots=True)
class Groups:
    """Alias groups of a program. ``roots[i]`` is the smallest id of value i's group; ``members`` are ascending.

    ``joined``: the members of the groups of more than one value. ``root_of``: (values,) the roots as a column.
    """

    roots: tuple[int, ...]
    members: Mapping[int, tuple[int, ...]]
    tails: dict[int, int]
    """Root → access tail in bytes, for groups that are the first input of a matrix product."""
    aligned: frozenset[int]
    """Roots of the first inputs and the results of matrix products."""
    joined: dict[int, tuple[int, ...]]
    root_of: Numbers = field(compare=False)


def group_values(columns: ProgramColumns, *, with_yields: bool = False) -> Groups:
    """Union what shares memory.

    A compute step's declared (result, input) pairs; a Repeat's carried and invariant arguments with its inputs, its
    results with its carried inputs, and each iterated argument with the first member of its sequence. ``with_yields``:
    also a body's yields with the carried inputs, as where addresses are chosen.
    """
    count = len(columns.program.values)
    parent = list(range(count))
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

    roles = columns.by_nature(_ROLES, _role)
    for step in compress(columns.steps, roles):
        if isinstance(step, (Kernel, Product)):
            for result, operand in step.aliases:
                union(step.results[result], step.inputs[operand])
            if type(step) is Product:
                products.append(step)
        elif isinstance(step, Repeat):
            _union_repeat(step, union)
            if with_yields:
                for given, operand in zip(step.yields, step.inputs[: step.carried], strict=True):
                    union(given, operand)
    groups: dict[int, list[int]] = {}
    for value in sorted(moved):  # a group's root is its smallest value, so what is before is at its root already
        root = parent[value] = parent[parent[value]]
        groups.setdefault(root, [root]).append(value)
    joined = {root: tuple(values) for root, values in groups.items()}
    roots = tuple(parent)
    tails: dict[int, int] = {}
    for product in products:
        left = roots[product.inputs[0]]
        tails[left] = max(tails.get(left, 0), TAIL_ELEMENTS * (product.multiply.element_bytes or 0))
    aligned = {*tails, *[roots[result] for product in products for result in product.results]}
    members = Members(roots, joined)
    return Groups(roots, members, tails, frozenset(aligned), joined, np.array(parent, dtype=np.int64))


_ROLES: dict[int, bool] = {}
"""Nature → whether such a step has to do with groups."""


def _role(step: Step, _: Sequence[Value]) -> bool:
    return isinstance(step, (Product, Repeat)) or (isinstance(step, Kernel) and bool(step.aliases))


def _union_repeat(step: Repeat, union: Callable[[int, int], None]) -> None:
    plain = len(step.inputs)
    for argument, operand in zip(step.arguments[:plain], step.inputs, strict=True):
        union(argument, operand)
    for result, operand in zip(step.results, step.inputs[: step.carried], strict=True):
        union(result, operand)
    for argument, members in zip(step.arguments[plain:], step.iterated, strict=True):
        if members:
            union(argument, members[0])


@dataclass(frozen=True, eq=False)
class Lifetimes:
    """When each allocation is live.

    ``roots``, ``first``, ``last``: of each allocation that is ever live its root, its first step, and the step after
    its last; inputs first, the others in the order in which steps mention them. ``initial``: roots live before the
    first step, ascending. ``steps``: how many there are.
    """

    roots: Numbers
    first: Numbers
    last: Numbers
    initial: tuple[int, ...]
    parameters: frozenset[int]
    steps: int

    @cached_property
    def spans(self) -> dict[int, tuple[int, int]]:
        """Root → half-open range of steps; allocations that are never live are left out."""
        lives = zip(self.first.tolist(), self.last.tolist(), strict=True)
        return dict(zip(self.roots.tolist(), lives, strict=True))

    @cached_property
    def live(self) -> LiveSets:
        """Roots live at each step, ascending."""
        return LiveSets(self)

    @property
    def made_at(self) -> dict[int, int]:
        """Root → the step that makes it; inputs are made by none."""
        given = len(self.initial)
        return dict(zip(self.roots[given:].tolist(), self.first[given:].tolist(), strict=True))


_KEPT_SETS: Final = 64


class LiveSets(Sequence[tuple[int, ...]]):
    """The live roots of each step, ascending, put together when one is looked at: most are looked at by nobody, and
    together they have far more entries than there are values.
    """

    def __init__(self, lifetimes: Lifetimes) -> None:
        self._lifetimes = lifetimes
        self._steps = lifetimes.steps
        self._columns: tuple[Numbers, ...] | None = None
        self._made: KeptResults[int, tuple[int, ...]] = KeptResults(_KEPT_SETS)

    def __len__(self) -> int:
        return self._steps

    def span(self, root: int) -> tuple[int, int]:
        """The half-open range of steps at which a root is live; an empty one where it never is."""
        return self._lifetimes.spans.get(root, (0, 0))

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
            lives = self._lifetimes
            order = np.argsort(lives.roots)
            self._columns = (lives.roots[order], lives.first[order], lives.last[order])
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


def find_lifetimes(columns: ProgramColumns, root_of: Numbers) -> Lifetimes:
    """The lifetimes of a program's allocations, named by their roots.

    Parameters
    ----------
    root_of : numpy array
        (values,) of the root of each value.
    """
    program, end = columns.program, len(columns.steps)
    given = np.array([entry.value for entry in program.inputs], dtype=np.int64)
    is_parameter = np.array([entry.kind is InputKind.PARAMETER for entry in program.inputs], dtype=bool)
    initial, resident = (sorted({*root_of[those].tolist()}) for those in (given, given[is_parameter]))
    mentioned = root_of[columns.mentions]
    first, last = np.full((2, len(root_of)), -1, dtype=np.int64)
    place = np.full(len(root_of), len(mentioned), dtype=np.int64)
    place[mentioned[::-1]] = np.arange(len(mentioned))[::-1]  # the first of equals is written last
    first[mentioned[::-1]] = columns.at[::-1]
    last[mentioned] = columns.at
    first[initial] = 0
    last[initial] = np.maximum(last[initial], 0)
    last[resident] = last[root_of[np.array(program.outputs, dtype=np.int64)]] = end
    place[initial] = np.arange(-len(initial), 0)
    roots = np.flatnonzero(first >= 0)
    roots = roots[np.argsort(place[roots])]
    until = np.minimum(last[roots] + 1, end)
    return Lifetimes(roots, first[roots], until, tuple(initial), frozenset(resident), end)
