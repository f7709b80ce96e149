"""One region being rewritten: the steps of a program or of a Repeat's body, who makes and who reads each value.

A pass looks at its candidates in step order. What it changes in place is seen by later candidates at once; steps that
it drops, and copies that it adds before a step, are dropped and added when it ends: until then a dropped step still
reads, and still lies between others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final, NamedTuple

from tileview.core.cycles.prices import step_price
from tileview.core.geometry.resolve import same_distribution
from tileview.model.owners import Owners
from tileview.model.program import Copy, Kernel, Repeat, Step, Value
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


class FusedRegion:
    """See the module. ``values`` is the program's list, which grows; ``required`` are the outputs or yields."""

    def __init__(self, steps: Iterable[Step], required: Iterable[int], values: list[Value]) -> None:
        self.steps = list(steps)
        self.required = frozenset(required)
        self.values = values
        self._dropped: set[int] = set()
        self._before: dict[int, list[Step]] = {}
        makers: dict[int, tuple[int, ...]] = {}
        readers: dict[int, int] = {}
        read = readers.get
        for position, step in enumerate(self.steps):
            for value in step.results:
                makers[value] = (*makers[value], position) if value in makers else (position,)
            for value in _reads(step):
                readers[value] = read(value, 0) + 1
        self._makers = makers
        self._readers = readers
        """How many steps read a value."""

    def copy(self) -> FusedRegion:
        """The same region and values, to be changed apart from this one."""
        made = FusedRegion.__new__(FusedRegion)
        made.required, made.values = self.required, [*self.values]
        made._dropped, made._before = set(), {}
        made.steps = [*self.steps]
        made._makers = {**self._makers}
        made._readers = {**self._readers}
        return made

    # -- questions ------------------------------------------------------------------------------------------------

    def kernels(self, names: Collection[str]) -> list[tuple[int, Kernel]]:
        """The kernel steps of these names, by position."""
        return [
            (position, step)
            for position, step in enumerate(self.steps)
            if type(step) is Kernel and step.kernel in names
        ]

    def used_once(self, value: int) -> bool:
        """Exactly one step reads it, in however many places, and nothing outside needs it."""
        return self._readers.get(value) == 1 and value not in self.required

    def maker(self, value: int, before: int) -> int | None:
        """Position of the last step before a position that makes a value; None where there is none."""
        places = self._makers.get(value, ())
        if len(places) == 1:
            return places[0] if places[0] < before else None
        return max([place for place in places if place < before], default=None)

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
        source, result = self.values[copy.inputs[0]], self.values[copy.results[0]]
        if not copy.mapping.is_identity or source.shape != result.shape or source.precision != result.precision:
            return False
        return not within_storage or same_storage(source, result)

    def is_clear(self, start: int, end: int, chain: Sequence[int], groups: Collection[int]) -> bool:
        """No Repeat lies between two positions, and no step outside the chain writes one of these storage groups."""
        for position in range(start + 1, end):
            step = self.steps[position]
            if type(step) is Repeat:
                return False
            if position not in chain and any(self.values[value].storage_group in groups for value in step.results):
                return False
        return True

    def price(self, steps: Iterable[Step]) -> Size:
        """Sum of the prices of steps, execution counts left out; unavailable as soon as one is."""
        return region_price(steps, self.values)

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
        for value in old.results:
            self._makers[value] = tuple(place for place in self._makers[value] if place != position)
        for value in _reads(old):
            self._readers[value] -= 1
        self.steps[position] = step
        for value in step.results:
            self._makers[value] = (*self._makers.get(value, ()), position)
        for value in _reads(step):
            self._readers[value] = self._readers.get(value, 0) + 1

    def drop(self, *positions: int) -> None:
        self._dropped.update(positions)

    def add_before(self, position: int, steps: Iterable[Step]) -> None:
        self._before.setdefault(position, []).extend(steps)

    @property
    def drops(self) -> bool:
        """Whether anything is dropped."""
        return bool(self._dropped)

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


def region_price(steps: Iterable[Step], values: Sequence[Value]) -> Size:
    """Prices of a region's own steps, Repeats free."""
    added = 0
    for step in steps:
        cycles = step_price(step, values).cycles
        if isinstance(cycles, Unavailable):
            return UNAVAILABLE
        added += cycles
    return added
