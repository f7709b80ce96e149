"""One region being rewritten: the steps of a program or of a Repeat's body, who makes and who reads each value.

A pass looks at its candidates in step order. What it changes in place is seen by later candidates at once; steps that
it drops, and copies that it adds before a step, are dropped and added when it ends: until then a dropped step still
reads, and still lies between others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import Final, NamedTuple

import numpy as np

from tileview.core.columns import program_columns
from tileview.core.cycles.prices import step_price, step_prices
from tileview.core.geometry.resolve import same_distribution
from tileview.model.owners import Owners
from tileview.model.program import IDENTITY, Copy, Kernel, Program, Repeat, Step, Value
from tileview.model.sizes import UNAVAILABLE, Size, Unavailable
from tileview.model.tensor import Layout, Precision, Shape

DIRECT: Final = "DirectRetile"


class Candidate(NamedTuple):
    """A fusion that was looked at: which, of which operations, its prices apart and together (no execution counts).

    ``source`` is the operation whose kernel it becomes, ``partner`` the one whose Add or Cast goes into it. ``made``:
    it is in the fused program; one that pays is not where its region was rewritten the other way.
    """

    kind: str
    source: int | None
    partner: int | None
    before: Size
    after: Size
    made: bool = False

    @property
    def pays(self) -> bool:
        """Cheaper together; an unavailable price never is."""
        before, after = self.before, self.after
        return isinstance(before, int) and isinstance(after, int) and after < before


def same_type(a: Value, b: Value) -> bool:
    """Equal as written: shape, precision, layout."""
    return a.shape == b.shape and a.precision == b.precision and a.layout == b.layout


def same_storage(a: Value, b: Value) -> bool:
    """Equal in owners, precision, order and class, and of the same distribution, however its axes are written."""
    return a.owners == b.owners and same_format(a, b.shape, b.precision, b.layout)


def same_format(a: Value, shape: Shape, precision: Precision, layout: Layout) -> bool:
    """:func:`same_storage` with owners left out."""
    return (
        a.precision == precision
        and a.layout.order == layout.order
        and a.layout.memory_class is layout.memory_class
        and same_distribution(a.shape, a.layout, shape, layout)
    )


class Chain(NamedTuple):
    """What walking back found: the value where the plain copies begin, its maker's position, the copies' positions."""

    value: int
    maker: int
    copies: tuple[int, ...]


class StepPrices:
    """The prices of a program's steps, and of those that fusions make of them; each step is priced once."""

    def __init__(self, program: Program) -> None:
        columns = program_columns(program)
        self._known = dict(zip(map(id, columns.steps), step_prices(columns), strict=True))
        self._made: list[Step] = [*columns.steps]
        """The steps priced, so that their ids stay their own."""

    def total(self, steps: Iterable[Step], values: Sequence[Value]) -> Size:
        """Sum of the prices of steps, execution counts left out, Repeats free; unavailable as soon as one is."""
        added = 0
        known = self._known
        for step in steps:
            price = known.get(id(step))
            if price is None:
                self._made.append(step)
                price = known[id(step)] = step_price(step, values)
            if isinstance(price.cycles, Unavailable):
                return UNAVAILABLE
            added += price.cycles
        return added


class FusedRegion:
    """See the module. ``values`` is the program's list, which grows; ``required`` are the outputs or yields."""

    def __init__(self, steps: Iterable[Step], required: Iterable[int], values: list[Value], prices: StepPrices) -> None:
        self.steps = list(steps)
        self.prices = prices
        self.required = frozenset(required)
        self.values = values
        self._dropped: set[int] = set()
        self._before: dict[int, list[Step]] = {}
        self._makers, self._several = _makers(self.steps, len(values))
        self._readers = _readers(self.steps, len(values))
        """How many steps read a value, by its number."""
        self._kernels = [position for position, step in enumerate(self.steps) if type(step) is Kernel]
        """Where kernels are; more are not added."""

    def copy(self) -> FusedRegion:
        """The same region and values, to be changed apart from this one."""
        made = FusedRegion.__new__(FusedRegion)
        made.required, made.values, made.prices = self.required, [*self.values], self.prices
        made._dropped, made._before = set(), {}
        made.steps = [*self.steps]
        made._makers, made._several = [*self._makers], {**self._several}
        made._readers, made._kernels = [*self._readers], self._kernels
        return made

    # -- questions ------------------------------------------------------------------------------------------------

    def kernels(self, names: Collection[str]) -> list[tuple[int, Kernel]]:
        """The kernel steps of these names, by position."""
        found = []
        for position in self._kernels:
            step = self.steps[position]
            if type(step) is Kernel and step.kernel in names:
                found.append((position, step))
        return found

    def used_once(self, value: int) -> bool:
        """Exactly one step reads it, in however many places, and nothing outside needs it."""
        return value < len(self._readers) and self._readers[value] == 1 and value not in self.required

    def maker(self, value: int, before: int) -> int | None:
        """Position of the last step before a position that makes a value; None where there is none."""
        place = self._makers[value] if value < len(self._makers) else _NONE
        if place >= 0:
            return place if place < before else None
        return max([place for place in self._several.get(value, ()) if place < before], default=None)

    def walk_back(self, value: int, position: int, within_storage: bool = False) -> Chain | None:
        """Through plain copies to the value that something else makes; None where nothing makes one alone.

        ``within_storage``: only copies between values of the same storage are passed.
        """
        copies: list[int] = []
        while True:
            made_at = self.maker(value, position)
            if made_at is None:
                return None
            step = self.steps[made_at]
            if len(step.results) != 1:
                return None
            if type(step) is not Copy or not self._is_plain(step, within_storage):
                return Chain(value, made_at, tuple(copies[::-1]))
            copies.append(made_at)
            value, position = step.inputs[0], made_at

    def _is_plain(self, copy: Copy, within_storage: bool) -> bool:
        mapping = copy.mapping
        if mapping is not IDENTITY and not mapping.is_identity:
            return False
        source, result = self.values[copy.inputs[0]], self.values[copy.results[0]]
        if source.shape != result.shape or source.precision != result.precision:
            return False
        return not within_storage or same_storage(source, result)

    def is_clear(self, start: int, end: int, chain: Sequence[int], groups: Collection[int]) -> bool:
        """No Repeat lies between two positions, and no step outside the chain writes one of these storage groups."""
        values = self.values
        for position, step in enumerate(self.steps[start + 1 : end], start + 1):
            if type(step) is Repeat:
                return False
            for value in step.results:
                if values[value].storage_group in groups and position not in chain:
                    return False
        return True

    def price(self, steps: Iterable[Step]) -> Size:
        """Sum of the prices of steps, execution counts left out; unavailable as soon as one is."""
        return self.prices.total(steps, self.values)

    # -- changes --------------------------------------------------------------------------------------------------

    def new_value(
        self, shape: Shape, precision: Precision, layout: Layout, follows: Value, owners: Owners | None = None
    ) -> int:
        """A value numbered after all others, a storage group of its own, with the names of the one it follows."""
        number = len(self.values)
        placed = follows.owners if owners is None else owners
        self.values.append(
            Value(number, follows.origin, follows.name, follows.group, shape, precision, layout, number, placed)
        )
        return number

    def replace(self, position: int, step: Step) -> None:
        """Put another step in the place of one."""
        old = self.steps[position]
        beyond = max((*step.inputs, *step.results), default=0) + 1 - len(self._makers)
        if beyond > 0:
            self._makers += [_NONE] * beyond
            self._readers += [0] * beyond
        for value in old.results:
            self._set_makers(value, [place for place in self._made_at(value) if place != position])
        for value in _reads(old):
            self._readers[value] -= 1
        self.steps[position] = step
        for value in step.results:
            self._set_makers(value, [*self._made_at(value), position])
        for value in _reads(step):
            self._readers[value] += 1

    def _made_at(self, value: int) -> Sequence[int]:
        place = self._makers[value]
        return (place,) if place >= 0 else self._several.get(value, ())

    def _set_makers(self, value: int, places: Sequence[int]) -> None:
        self._several.pop(value, None)
        self._makers[value] = places[0] if len(places) == 1 else _NONE
        if len(places) > 1:
            self._several[value] = tuple(places)

    def drop(self, *positions: int) -> None:
        self._dropped.update(positions)

    def add_before(self, position: int, steps: Iterable[Step]) -> None:
        self._before.setdefault(position, []).extend(steps)

    def finished(self) -> list[Step]:
        """The steps with all changes made."""
        into: list[Step] = []
        done = 0
        for position in sorted({*self._before, *self._dropped}):
            into += self.steps[done:position]
            into += self._before.get(position, ())
            done = position + 1 if position in self._dropped else position
        return into + self.steps[done:]


def _reads(step: Step) -> Iterable[int]:
    """What a step reads, each once, donors too; a Repeat also every member of its sequences."""
    inputs = step.inputs
    if type(step) is Repeat:
        return {*inputs, *[member for members in step.iterated for member in members]}
    return inputs if len(inputs) < 2 else set(inputs)


_NONE: Final = -1
"""In place of a position: no step makes a value, or several do."""


def _makers(steps: Sequence[Step], values: int) -> tuple[list[int], dict[int, tuple[int, ...]]]:
    """The position of the one step that makes each value, and value → positions of those that several steps make."""
    results = [step.results for step in steps]
    made = np.fromiter(chain.from_iterable(results), np.int64)
    places = np.repeat(np.arange(len(steps)), np.fromiter(map(len, results), np.int64, len(results)))
    makers = np.full(values, _NONE, dtype=np.int64)
    makers[made] = places
    several: dict[int, tuple[int, ...]] = {}
    for value in np.flatnonzero(np.bincount(made, minlength=values) > 1).tolist():
        several[value] = tuple(places[made == value].tolist())
        makers[value] = _NONE
    return makers.tolist(), several


def _readers(steps: Sequence[Step], values: int) -> list[int]:
    """How many steps read each value."""
    reads = [step.inputs if type(step) is not Repeat else tuple(_reads(step)) for step in steps]
    each = np.fromiter(chain.from_iterable(reads), np.int64)
    places = np.repeat(np.arange(len(steps)), np.fromiter(map(len, reads), np.int64, len(reads)))
    pairs = np.sort(places * values + each)
    is_first = np.ones(len(pairs), dtype=bool)
    is_first[1:] = pairs[1:] != pairs[:-1]
    found: list[int] = np.bincount(pairs[is_first] % max(values, 1), minlength=values).tolist()
    return found
