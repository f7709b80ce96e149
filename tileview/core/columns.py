"""A program as columns: its steps in the order of the timeline, what they mention, and what is alike among them.

What a step costs depends on what it says and on the types of its values, never on their numbers. So each value has a
*kind* (shape, precision, layout and owners, by identity) and each step a *nature* (what it says, of values of which
kinds), and whatever follows from a nature is worked out once, however often the nature occurs and however the values
are numbered after a swap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, compress, count
from operator import is_not
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from tileview.model.program import Copy, Kernel, Product, Program, Repeat, Step, Sum, Value

Numbers = npt.NDArray[np.int64]
T = TypeVar("T")

_MOST_KNOWN: Final = 1 << 15
_MOST_COLUMNS: Final = 4


class _Table:
    """Numbers of kinds, sayings and natures; what they are of is kept, so that the ids in keys stay their own."""

    __slots__ = ("kept", "kinds", "natures", "sayings")

    def __init__(self) -> None:
        self.kinds: dict[tuple[int, int, int, int], int] = {}
        self.sayings: dict[tuple[object, ...], int] = {}
        self.natures: dict[tuple[int, bytes], int] = {}
        self.kept: list[object] = []

    def __len__(self) -> int:
        return len(self.kinds) + len(self.sayings) + len(self.natures)


_table = _Table()
_next_number = count().__next__
"""Numbers are never given twice, so that what is kept by a number holds for good."""


class ProgramColumns:
    """A program's steps and values as columns.

    Attributes
    ----------
    steps : list of Step
        Flattened: a Repeat's body, then the Repeat.
    counts : list of int
        How often each step runs.
    sources : list of int or None
        The operation of each step.
    mentions : numpy array
        (mentions,) of value numbers: for each step what it reads, then what it makes; for a Repeat also the members of
        its sequences and its body's yields.
    at : numpy array
        (mentions,) of the step of each mention.
    starts : numpy array
        (steps + 1,): where the mentions of each step begin.
    kinds : numpy array
        (values,) of the kind of each value.
    natures : numpy array
        (steps,) of the nature of each step.
    """

    __slots__ = (
        "_ids",
        "at",
        "counts",
        "kinds",
        "mentions",
        "natures",
        "program",
        "sources",
        "starts",
        "steps",
        "table",
    )

    def __init__(self, program: Program, earlier: Sequence[ProgramColumns] = ()) -> None:
        global _table
        if len(_table) > _MOST_KNOWN:
            _table = _Table()
        self.program = program
        self.steps, self.counts = program.in_order()
        self.sources = [step.source for step in self.steps]
        self.table = _table
        self._ids: Numbers = np.fromiter(map(id, self.steps), np.int64, len(self.steps))
        base, same = self._base(earlier)
        self.kinds: Numbers = self._kinds(base, same)
        steps = len(self.steps)
        lengths, natures = np.zeros(steps, dtype=np.int64), np.full(steps, -1, dtype=np.int64)
        here = there = np.zeros(0, dtype=np.int64)
        if base is not None:
            here, there = self.shared_steps(base)
            lengths[here] = np.diff(base.starts)[there]
            natures[here] = base.natures[there]
        left = np.flatnonzero(natures < 0).tolist()
        mentioned, sayings = self._read(left)
        lengths[left] = list(map(len, mentioned))
        self.starts: Numbers = np.zeros(steps + 1, dtype=np.int64)
        np.cumsum(lengths, out=self.starts[1:])
        self.at: Numbers = np.repeat(np.arange(steps), lengths)
        self.mentions: Numbers = np.empty(len(self.at), dtype=np.int64)
        is_left = (natures < 0)[self.at]
        self.mentions[is_left] = np.fromiter(chain.from_iterable(mentioned), np.int64)
        if base is not None:
            moved = np.zeros(steps, dtype=np.int64)
            moved[here] = base.starts[there] - self.starts[here]
            known = np.flatnonzero(~is_left)
            self.mentions[known] = base.mentions[known + moved[self.at[known]]]
            again = np.flatnonzero(
                np.bincount(self.at[self.mentions >= same], minlength=steps) * (natures >= 0)
            ).tolist()
            left, sayings = left + again, sayings + self._read(again)[1]
        natures[left] = self._natures(left, sayings)
        self.natures: Numbers = natures

    def _base(self, earlier: Sequence[ProgramColumns]) -> tuple[ProgramColumns | None, int]:
        """The columns to start from, and how many values, from the first on, are the same objects."""
        values = self.program.values
        found, most = None, (0, 0)
        for one in earlier:
            if one.table is self.table:
                theirs = one.program.values
                alike = (same_at_first(theirs, values), -abs(len(theirs) - len(values)))
                if alike > most or found is None:
                    found, most = one, alike
        return found, most[0]

    def _kinds(self, base: ProgramColumns | None, same: int) -> Numbers:
        known, kept = self.table.kinds, self.table.kept
        found: list[int] = []
        for value in self.program.values[same:]:
            key = (id(value.shape), id(value.precision), id(value.layout), id(value.owners))
            kind = known.get(key)
            if kind is None:
                kept.append((value.shape, value.precision, value.layout, value.owners))
                kind = known.setdefault(key, _next_number())
            found.append(kind)
        new = np.array(found, dtype=np.int64)
        return new if base is None else np.concatenate((base.kinds[:same], new))

    def _read(self, places: Sequence[int]) -> tuple[list[tuple[int, ...]], list[int]]:
        """What some steps mention, and what they say beside that, as numbers."""
        mentioned: list[tuple[int, ...]] = []
        sayings: list[int] = []
        known, steps = self.table.sayings, self.steps
        for place in places:
            step = steps[place]
            key = _saying(step)
            saying = known.get(key)
            if saying is None:
                self.table.kept.append(step)
                saying = known.setdefault(key, _next_number())
            mentioned.append(_mentions(step))
            sayings.append(saying)
        return mentioned, sayings

    def _natures(self, places: Sequence[int], sayings: Sequence[int]) -> list[int]:
        """The natures of some steps, by what they say and the kinds they mention."""
        text, known = self.kinds[self.mentions].astype(np.int32).tobytes(), self.table.natures
        first, last = (self.starts[places] * 4).tolist(), (self.starts[1:][places] * 4).tolist()
        found = []
        for saying, start, end in zip(sayings, first, last, strict=True):
            key = (saying, text[start:end])
            nature = known.get(key)
            found.append(known.setdefault(key, _next_number()) if nature is None else nature)
        return found

    def shared_steps(self, other: ProgramColumns) -> tuple[Numbers, Numbers]:
        """Where the steps are that both programs have, the same objects: here, and in the other."""
        order, others = np.argsort(self._ids), np.argsort(other._ids)
        mine, theirs = self._ids[order], other._ids[others]
        if not len(theirs):
            return others, others
        place = np.searchsorted(theirs, mine)
        place[place == len(theirs)] = 0
        both = theirs[place] == mine
        return order[both], others[place[both]]

    def by_nature(self, known: dict[int, T], make: Callable[[Step, Sequence[Value]], T]) -> list[T]:
        """What ``make`` gives for each step and the program's values, made once for each nature.

        Parameters
        ----------
        known : dict
            Nature → what was made, which is filled; cleared where it has grown large.
        make : callable
            Gives what follows from a step's nature alone; never None.
        """
        natures = self.natures.tolist()
        found = list(map(known.get, natures))
        if None in found:
            if len(known) > _MOST_KNOWN:
                known.clear()
            values = self.program.values
            for place, one in enumerate(found):
                if one is None:
                    nature = natures[place]
                    made = known.get(nature)
                    if made is None:
                        made = known[nature] = make(self.steps[place], values)
                    found[place] = made
        return found  # type: ignore[return-value]


def _mentions(step: Step) -> tuple[int, ...]:
    """The values a step reads, then those it makes; a Repeat also every member of its sequences and its body's
    yields."""
    if type(step) is Repeat:
        return (*step.inputs, *step.results, *chain.from_iterable(step.iterated), *step.yields)
    return step.inputs + step.results


def _saying(step: Step) -> tuple[object, ...]:
    """What a step says beside the values that it mentions, by the identities of its parts."""
    if isinstance(step, Copy):
        return (id(step.mapping), step.policy)
    if isinstance(step, Kernel):
        return (step.kernel, len(step.inputs), step.aliases, id(step.part))
    kind = type(step)
    if isinstance(step, Product):
        return (kind, len(step.inputs), id(step.multiply), id(step.accumulate), step.aliases, id(step.blocks))
    if isinstance(step, Sum):
        return (kind, step.axis, id(step.staging))
    if isinstance(step, Repeat):
        return (kind, step.count)
    return (kind, len(step.inputs), step.reason)


def same_at_first(a: Sequence[object], b: Sequence[object]) -> int:
    """How many objects at the beginning are the same in both."""
    return next(compress(count(), map(is_not, a, b)), min(len(a), len(b)))


_MADE: list[ProgramColumns] = []
"""The columns made last."""


def program_columns(program: Program) -> ProgramColumns:
    """The columns of a program; the same again while they are among those asked for last."""
    for made in _MADE:
        if made.program is program:
            return made
    found = ProgramColumns(program, tuple(_MADE))
    _MADE.insert(0, found)
    del _MADE[_MOST_COLUMNS:]
    return found


def clear_cache() -> None:
    """Forget all numbers and columns (for measurements from cold)."""
    global _table
    _table = _Table()
    _MADE.clear()
