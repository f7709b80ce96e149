"""From a lowered program to its memory timeline.

A value with an invalid layout is unavailable and so is every sum that contains it; the rest is summed all the
same. An operation that is not known makes every sum a lower bound, which verdict and notes say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from itertools import repeat
from operator import is_
from typing import NamedTuple

import numpy as np

from tileview.core.columns import Numbers, program_columns
from tileview.core.columns import clear_cache as clear_columns
from tileview.core.memory.assemble import (
    NO_SCRATCH,
    Allocations,
    Judged,
    Mask,
    Spans,
    StepWork,
    judge_allocations,
    listed_steps,
)
from tileview.core.memory.exchange import Scratch
from tileview.core.memory.footprint import Footprint, footprint, forget_footprints, layout_fault
from tileview.core.memory.groups import LiveSet, find_lifetimes, group_values
from tileview.core.memory.step_costs import FREE, StepCost, step_costs
from tileview.core.memory.usage import PlacedTiles
from tileview.core.memory.verdict import Budgets, Unsized
from tileview.model.config import INTERLEAVED_BYTES, PLANNED_BYTES
from tileview.model.program import Copy, Kernel, Opaque, Product, Program, Repeat, Step, Sum, Value
from tileview.model.records import from_columns
from tileview.model.sizes import UNAVAILABLE, Size, Unavailable, total
from tileview.model.tensor import Layout, MemoryClass
from tileview.model.timeline import ByteArray, ClassBytes, Origin, Problem, Timeline, TimelineValue

DEFAULT_MODEL = (
    "Per-tile live storage of the re-planned program, before address placement. Scratch is estimated. "
    "Repeat execution counts do not multiply scratch. Exchange rows are reported separately."
)
_WRITE_F8 = frozenset({"Gelu", "BiasGelu", "LayerNorm"})
"""Kernels that may write F8 themselves."""


def measure(
    program: Program,
    budget_bytes: int,
    reserve_bytes: int,
    scope: str = "estimate",
    *,
    model: str = DEFAULT_MODEL,
    interleaved_budget_bytes: int = INTERLEAVED_BYTES,
    notes: tuple[str, ...] = (),
) -> Timeline:
    """The timeline of a program.

    Parameters
    ----------
    program : Program
        Lowered, with dense value ids.
    budget_bytes : int
        What total peak plus reserve may reach on a tile; at most the 586,960 bytes that exist count.
    reserve_bytes : int
        Kept for linked support code.
    scope, model : str
        Name of the timeline and the sentence that states what was summed.
    notes : tuple of str
        What the caller's estimate leaves out; notes on unknown operations are added.
    """
    budgets = Budgets(min(budget_bytes, PLANNED_BYTES), interleaved_budget_bytes, reserve_bytes)
    return Measurement(program).timeline(budgets, scope, model, notes)


class AtMost(NamedTuple):
    """What a program takes at most, by another one that was measured. All in bytes, scratch included.

    ``total``, ``interleaved``: peaks. ``largest``: the largest standard allocation. ``may_be_less``: whether its total
    peak may be below the other's.
    """

    total: int
    interleaved: int
    largest: int
    may_be_less: bool


class Measurement:
    """The intermediate results of one measurement, in the order in which they depend on each other."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.tiles = program.tile_count
        self._judged: tuple[Budgets, Judged] | None = None
        self.columns = program_columns(program)
        self.steps = self.columns.steps
        self.groups = group_values(self.columns)
        self.lifetimes = find_lifetimes(self.columns, self.groups.root_of)

    @cached_property
    def sizes(self) -> _Sizes:
        """Every value's bytes."""
        columns, groups, count = self.columns, self.groups, len(self.program.values)
        whole, tails = np.zeros((2, count), dtype=np.int64)
        whole[list(groups.aligned)] = 1
        tails[list(groups.tails)] = list(groups.tails.values())
        tails *= whole
        beyond = int(tails.max(initial=0)) + 1
        kinds = (columns.kinds * 2 + whole[groups.root_of]) * beyond + tails[groups.root_of]
        each: list[int] = kinds.tolist()
        places = {kind: place for place, kind in enumerate(dict.fromkeys(each))}
        found = [_FOOTPRINTS.get((kind, beyond, self.tiles)) for kind in places]
        if None in found:
            examples = dict(zip(reversed(each), reversed(range(count)), strict=True))
            for place, kind in enumerate(places):
                if found[place] is None:
                    found[place] = self._new_footprint(examples[kind], (kind, beyond, self.tiles))
        return _Sizes([one for one in found if one is not None], [places[kind] for kind in each])

    def _new_footprint(self, number: int, key: _FootprintKey) -> _Kept:
        value, root = self.program.values[number], self.groups.roots[number]
        layout, aligned = value.layout, root in self.groups.aligned
        if len(_FOOTPRINTS) >= _MOST_LISTED:
            _FOOTPRINTS.clear()
        size = footprint(
            value.shape,
            value.precision,
            layout,
            self.tiles,
            owners=value.owners,
            tail=self.groups.tails.get(root, 0) if aligned else 0,
            element_aligned=aligned,
            memory_class=layout.memory_class,
        )
        made = _FOOTPRINTS[key] = _Kept(size, layout.memory_class is MemoryClass.INTERLEAVED, size.largest(self.tiles))
        return made

    @cached_property
    def unavailable(self) -> frozenset[int]:
        """Roots of the allocations without a known size."""
        sizes = self.sizes
        if sizes.known.all():
            return frozenset()
        return frozenset(self.groups.root_of[~sizes.known[sizes.which]].tolist())

    @cached_property
    def costs(self) -> list[StepCost]:
        """What each step takes beside its operands."""
        return step_costs(self.columns)

    @cached_property
    def scratch(self) -> dict[int, Scratch]:
        """Step → its working memory, of steps that have any."""
        factors = [cost.factor for cost in self.costs]
        steps = np.flatnonzero(np.array(factors, dtype=np.int64))
        results = self.columns.mentions[self.columns.starts[steps] + 1]  # after the one value that it reads
        found = zip(steps.tolist(), results.tolist(), strict=True)
        return {step: Scratch(result, factors[step]) for step, result in found}

    @cached_property
    def work(self) -> StepWork:
        """What judging needs of the steps."""
        sizes = self.sizes
        made: dict[tuple[int, int], ClassBytes] = {}
        scratch: dict[int, ClassBytes] = {}
        for step, (result, factor) in self.scratch.items():
            key = (sizes.place(result), factor)
            found = made.get(key)
            if found is None:
                shard = sizes.of(result).shard
                found = ClassBytes(UNAVAILABLE if isinstance(shard, Unavailable) else shard * factor, 0)
                made[key] = found
            scratch[step] = found
        return StepWork(self.columns.sources, scratch)

    @cached_property
    def scratch_rows(self) -> dict[int, ByteArray]:
        """Step → (tiles,) of its scratch, where that is known: a whole number of shards of the result on every tile
        that owns one."""
        sizes, tiles = self.sizes, self.tiles
        results = [(step, factor, sizes.of(result)) for step, (result, factor) in self.scratch.items()]
        return {step: size.times(factor, tiles) for step, factor, size in results if size.error is None}

    @cached_property
    def _last_members(self) -> Numbers:
        """(values,): for each root the largest number of its group."""
        last = np.arange(len(self.program.values))
        joined = self.groups.joined
        last[list(joined)] = [members[-1] for members in joined.values()]
        return last

    @cached_property
    def _is_interleaved(self) -> Callable[[int], bool]:
        """By root. What others keep names no measurement, so that its numbers go once nobody shows them."""
        interleaved = self.sizes.interleaved[self.sizes.which[self._last_members]]
        return lambda root: bool(interleaved[root])

    @cached_property
    def spans(self) -> list[tuple[int, int, int]]:
        """(root, first step, step after the last) of every allocation that is live at some time."""
        lives = self.lifetimes
        return list(zip(lives.roots.tolist(), lives.first.tolist(), lives.last.tolist(), strict=True))

    @cached_property
    def placed(self) -> PlacedTiles:
        """What every tile holds."""
        sizes, tiles = self.sizes, self.tiles
        return PlacedTiles(
            self.tiles,
            self.lifetimes.live,
            self.groups.members,
            self._is_interleaved,
            lambda value: sizes.of(value).shards(tiles),
            lambda value: sizes.of(value).bytes(tiles),
            self.unavailable,
            self.scratch_rows,
            spans=self.spans,
            held=partial(_held, self.allocations.spans, sizes, self.groups.joined, self.unavailable, tiles),
        )

    @cached_property
    def allocations(self) -> Allocations:
        """The allocations by root."""
        lives, sizes, roots = self.lifetimes, self.sizes, self.lifetimes.roots
        known = np.ones(len(self.program.values), dtype=bool)
        known[list(self.unavailable)] = False
        table = Spans(
            roots,
            lives.first,
            lives.last,
            np.where(known, self._largest, 0)[roots],
            sizes.interleaved[sizes.which[self._last_members[roots]]],
            known[roots],
        )
        return Allocations(table, self._size_of, self._is_interleaved, self.unavailable, lives.initial)

    @cached_property
    def _largest(self) -> Numbers:
        """(values,): for each root the largest bytes of its allocation on any tile, known part."""
        sizes = self.sizes
        largest: Numbers = sizes.largest[sizes.which]
        for root, members in self.groups.joined.items():
            largest[root] = largest[list(members)].max()
        return largest

    @cached_property
    def _size_of(self) -> Callable[[int], int]:
        """The largest bytes of an allocation on any tile, by root; 0 where it is not known."""
        largest, unavailable = self._largest, self.unavailable
        return lambda root: 0 if root in unavailable else int(largest[root])

    def at_most(self, other: Measurement, with_least: bool = False) -> AtMost | None:
        """What the program takes at most, by one of nearly the same steps; None where a size is unavailable, and for
        a program without steps.

        Steps that both have, the same objects, stand beside each other, every other one beside the last such step
        before it. A step holds at most what the one beside it does, with what is live here and not there, and the
        scratch of a step that has no fellow. Takes a fraction of what measuring does.

        ``with_least``: find out, too, whether the total peak may be less; else it is said that it may.
        """
        values, theirs = self.program.values, other.program.values
        if other.unavailable or values != theirs[: len(values)] or not self.steps or not other.steps:
            return None
        beside, fellows = self._beside(other)
        more = np.zeros((2, len(self.steps) + 1), dtype=np.int64)
        largest = 0
        for root, spans in self._only_here(other, beside):
            if root in self.unavailable:
                return None
            size = int(self._largest[root])
            column = int(self._is_interleaved(root))
            if not column:
                largest = max(largest, size)
            for first, last in spans:
                more[column, first] += size
                more[column, last] -= size
        np.cumsum(more, axis=1, out=more)
        for index in self.scratch.keys() - set(fellows[0].tolist()):
            scratch = self.work.scratch[index].standard
            if isinstance(scratch, Unavailable):
                return None
            more[0, index] += scratch
            largest = max(largest, scratch)
        worst = other.placed.worst()
        there = np.zeros((2, len(self.steps)), dtype=np.int64)
        known = beside >= 0
        there[:, known] = worst[beside[known]][:, [1, 2]].T
        interleaved = int((there[0] + more[1, :-1]).max(initial=0))
        total = int((there[1] + more[0, :-1] + more[1, :-1]).max(initial=0))
        may_be_less = not with_least or self._may_be_less(other, fellows, worst)
        return AtMost(total, interleaved, largest, may_be_less)

    def proves_over(self, other: Measurement, budgets: Budgets) -> bool:
        """Whether another program, of the same values and more, is over the total budget beyond doubt.

        Where it has the step of this one's total peak, the same object, it holds there at least what this one does less
        what it has not; with that it is over. Takes a fraction of what measuring it does.
        """
        values, theirs = self.program.values, other.program.values
        step = self.judged(budgets).total_peak_step
        if step is None or self.unavailable or values != theirs[: len(values)]:
            return False
        same = list(map(is_, other.steps, repeat(self.steps[step])))
        if True not in same:
            return False
        place = same.index(True)
        held = self.lifetimes.roots[(self.lifetimes.first <= step) & (step < self.lifetimes.last)]
        first, last = self._lives_in(other)[:, held]
        missing = held[~((first <= place) & (place < last))]
        lacking = sum(map(self._size_of, missing.tolist()))
        return int(self.placed.worst()[step, 2]) - lacking + budgets.reserve > budgets.total

    def _beside(self, other: Measurement) -> tuple[Numbers, Numbers]:
        """(steps,) the other program's step beside each, −1 for none; and (2, fellows) of steps and the same ones
        there."""
        fellows = np.stack(self.columns.shared_steps(other.columns))
        fellows = fellows[:, np.argsort(fellows[0])]
        before = np.maximum.accumulate(np.concatenate(([-1], fellows[1])))[:-1]
        fellows = fellows[:, fellows[1] > before]
        beside = np.full(len(self.steps), -1, dtype=np.int64)
        beside[fellows[0]] = fellows[1]
        return np.maximum.accumulate(beside), fellows

    def _changed(self, other: Measurement) -> frozenset[int]:
        """Roots of the allocations that have not the same values of the same bytes in both programs, one of which has
        the values of the other and more."""
        here, there = self.groups, other.groups
        count = min(len(here.roots), len(there.roots))
        unlike = here.root_of[:count] != there.root_of[:count]
        found = {*here.root_of[:count][unlike].tolist(), *there.root_of[:count][unlike].tolist()}
        found.update(here.roots[count:], there.roots[count:])
        found |= here.aligned ^ there.aligned
        found.update(root for root, _ in here.tails.items() ^ there.tails.items())
        return frozenset(found)

    def _lives_in(self, other: Measurement) -> Numbers:
        """(2, values): for each root, of this program or the other one, the half-open range of the other's steps at
        which its allocation is live there; an empty one for what is not the same allocation in both."""
        theirs = other.lifetimes
        lives = np.zeros((2, max(len(self.program.values), len(other.program.values))), dtype=np.int64)
        lives[:, theirs.roots] = theirs.first, theirs.last
        lives[:, list(self._changed(other))] = 0
        return lives

    def _only_here(self, other: Measurement, beside: ByteArray) -> Iterator[tuple[int, list[tuple[int, int]]]]:
        """Allocations that are live at steps beside which they are not, with the stretches of such steps."""
        own = self.lifetimes
        first, last = own.first, own.last
        begins, ends = np.searchsorted(beside, self._lives_in(other)[:, own.roots])
        until, since = np.clip(begins, first, last), np.clip(ends, first, last)
        for index in np.flatnonzero((until > first) | (since < last)).tolist():
            stretches = ((first[index], until[index]), (max(since[index], until[index]), last[index]))
            yield int(own.roots[index]), [(int(a), int(b)) for a, b in stretches if a < b]

    def _may_be_less(self, other: Measurement, fellows: Numbers, worst: ByteArray) -> bool:
        """Whether the total peak may be below the other's: it is not where the step of that one has all here, too."""
        peak = int(worst[:, 2].argmax())
        here = fellows[0, fellows[1] == peak]
        if not len(here):
            return True
        theirs = other.lifetimes
        held = theirs.roots[(theirs.first <= peak) & (peak < theirs.last)]
        first, last = other._lives_in(self)[:, held]
        return not bool(((first <= here[0]) & (here[0] < last)).all())

    def _exchange(self) -> Size:
        return total(cost.exchange for cost in self.costs if cost is not FREE)

    @cached_property
    def _unknown(self) -> tuple[str, ...]:
        return _unknown_notes(self.program, self.steps)

    def judged(self, budgets: Budgets) -> Judged:
        """Peaks and verdict; kept for the budgets asked for last."""
        if self._judged is None or self._judged[0] != budgets:
            at_least = bool(self._unknown)
            asked = (self.work, self.allocations, self.placed, budgets, self._exchange(), self._unsized())
            self._judged = budgets, judge_allocations(*asked, at_least=at_least)
        return self._judged[1]

    def timeline(
        self, budgets: Budgets, scope: str, model: str = DEFAULT_MODEL, notes: tuple[str, ...] = ()
    ) -> Timeline:
        """Put everything together."""
        judged = self.judged(budgets)
        return Timeline(
            origin=Origin.ESTIMATE,
            version=3,
            scope=scope,
            model=model,
            tile_count=self.tiles,
            budget_bytes=budgets.total,
            interleaved_budget_bytes=budgets.interleaved,
            reserve_bytes=budgets.reserve,
            peak=judged.peak,
            total_peak_step=judged.total_peak_step,
            standard_peak_step=judged.standard_peak_step,
            interleaved_peak_step=judged.interleaved_peak_step,
            values=tuple(self._listed_values()),
            steps=listed_steps(self._facts(), self.work, self.allocations, self.placed),
            tiles=self.placed,
            unavailable_roots=self.unavailable,
            aliases=self.groups.members,
            tails=self.groups.tails,
            aligned_roots=self.groups.aligned,
            verdict=judged.verdict,
            notes=(*notes, *self._unknown),
            problems=tuple(
                Problem("error", value.name, f"no size: {value.reason}", value=value.value) for value in self._unsized()
            ),
            parameters=self.lifetimes.parameters,
            made_at=self.lifetimes.made_at,
        )

    def _unsized(self) -> tuple[Unsized, ...]:
        """Values without a size in allocations that are live at some time; others hold no memory."""
        if not self.unavailable:
            return ()
        return tuple(
            Unsized(value.id, value.name, size.error, layout_fault(value.shape, value.layout, self.tiles) is not None)
            for value, size in zip(self.program.values, self.sizes.of_all(), strict=True)
            if size.error is not None and self.groups.roots[value.id] in self.lifetimes.spans
        )

    def _facts(self) -> tuple[Sequence[object], ...]:
        """The steps in words, a column for each field of :class:`StepFacts`."""
        columns, work, live = self.columns, self.work, self.lifetimes.live
        texts, kinds = zip(*columns.by_nature(_WORDS, _full_words), strict=True) if self.steps else ((), ())
        steps = range(len(self.steps))
        lives = [LiveSet(live, step) for step in steps]
        scratch = [NO_SCRATCH] * len(steps)
        for step, taken in work.scratch.items():
            scratch[step] = taken
        return work.sources, texts, kinds, columns.counts, lives, scratch

    def _listed_values(self) -> list[TimelineValue]:
        """The values as the timeline lists them; the same objects again while value object and sizes are the same."""
        values, roots, sizes = self.program.values, self.groups.roots, self.sizes.of_all()
        if len(_LISTED) + len(values) > _MOST_LISTED:
            _LISTED.clear()
        listed: list[TimelineValue | None] = []
        for value, root, size in zip(values, roots, sizes, strict=True):
            known = _LISTED.get(id(value))
            listed.append(known[1] if known is not None and known[1].root == root and known[2] is size else None)
        places = [place for place, one in enumerate(listed) if one is None]
        new = [(values[place], roots[place], sizes[place]) for place in places]
        for place, (value, _, size), made in zip(places, new, _new_listed(new), strict=True):
            listed[place] = made
            _LISTED[id(value)] = (value, made, size)
        return listed  # type: ignore[return-value]


class _Kept(NamedTuple):
    """Bytes of values, whether their class is interleaved, and the largest bytes of one copy on any tile."""

    size: Footprint
    interleaved: bool
    largest: int


class _Sizes:
    """The bytes of a program's values: its unlike footprints, and which of them each value has.

    ``largest``: (footprints,) of the largest bytes of one copy on any tile. ``interleaved``, ``known``: (footprints,)
    of whether its class is, and whether the sizes are.
    """

    __slots__ = ("_listed", "footprints", "interleaved", "known", "largest", "which")

    def __init__(self, kept: list[_Kept], which: list[int]) -> None:
        self.footprints = footprints = [one.size for one in kept]
        self._listed = which
        self.which: Numbers = np.array(which, dtype=np.int64)
        self.interleaved: Mask = np.array([one.interleaved for one in kept], dtype=bool)
        self.known: Mask = np.array([size.error is None for size in footprints], dtype=bool)
        self.largest: Numbers = np.array([one.largest for one in kept], dtype=np.int64)

    def place(self, value: int) -> int:
        """Where the footprint of a value is in their list."""
        return self._listed[value]

    def of(self, value: int) -> Footprint:
        """The footprint of a value."""
        return self.footprints[self._listed[value]]

    def of_all(self) -> list[Footprint]:
        """The footprint of every value."""
        footprints = self.footprints
        return [footprints[place] for place in self._listed]


def _held(
    spans: Spans,
    sizes: _Sizes,
    joined: Mapping[int, tuple[int, ...]],
    unavailable: frozenset[int],
    tiles: int,
    allocation: Callable[[int], ByteArray],
) -> tuple[list[ByteArray], ByteArray]:
    """What :class:`PlacedTiles` takes as ``held``; ``joined`` are the members of allocations with several values."""
    row_of, own = sizes.which.copy(), len(sizes.footprints)
    added: dict[tuple[int, ...], int] = {}
    more: list[ByteArray] = []
    for root, members in joined.items():
        kinds = {sizes.place(member) for member in members}
        if len(kinds) > 1 and root not in unavailable:
            unlike = tuple(sorted(kinds))
            if unlike not in added:
                added[unlike] = own + len(more)
                more.append(allocation(root))
            row_of[root] = added[unlike]
    counted = spans.known & (spans.first < spans.last)
    places = row_of[spans.roots]
    used = np.flatnonzero(np.bincount(places[counted], minlength=own))
    rows = [sizes.footprints[place].bytes(tiles) if place < own else more[place - own] for place in used.tolist()]
    renumbered = np.zeros(own + len(more), dtype=np.int64)
    renumbered[used] = np.arange(len(used))
    table = np.stack((renumbered[places], spans.first, spans.last, spans.interleaved.astype(np.int64)), axis=1)
    return rows, table[counted]


def _new_listed(values: Sequence[tuple[Value, int, Footprint]]) -> list[TimelineValue]:
    """Values as a timeline lists them, from value, root and bytes of each."""
    given, roots, sizes = zip(*values, strict=True) if values else ((), (), ())
    layouts = [value.layout for value in given]
    aligned = [size.aligned for size in sizes]
    return from_columns(
        TimelineValue,
        [value.id for value in given],
        [value.origin for value in given],
        roots,
        [value.name for value in given],
        [value.group for value in given],
        [value.shape for value in given],
        [value.precision for value in given],
        layouts,
        _layout_texts(layouts),
        [size.error for size in sizes],
        [layout.memory_class for layout in layouts],
        [value.storage_group for value in given],
        [size.shard for size in sizes],
        aligned,
        [1] * len(given),
        aligned,
    )


def _layout_texts(layouts: Sequence[Layout]) -> list[str]:
    """Their Debug texts, each layout object looked at once."""
    texts = {id(layout): layout_text(layout) for layout in {id(layout): layout for layout in layouts}.values()}
    return [texts[id(layout)] for layout in layouts]


_MOST_LISTED = 1 << 15
_FootprintKey = tuple[int, int, int]
_FOOTPRINTS: dict[_FootprintKey, _Kept] = {}
"""Bytes by kind of value (with tail and whether sizes are whole memory elements), one more than the largest tail that
this counts with, and tile count."""
_LISTED: dict[int, tuple[Value, TimelineValue, Footprint]] = {}
"""Values listed before, by identity (each entry holds its value, so that the id stays its own): successive programs of
a re-planner share many of their value objects."""
_WORDS: dict[int, tuple[str, str]] = {}
"""Words and kind of a step by its nature."""


def clear_cache() -> None:
    """Forget the footprints and the values measured and listed before (for measurements from cold)."""
    clear_columns()
    _FOOTPRINTS.clear()
    _LISTED.clear()
    forget_footprints()


@lru_cache(maxsize=1 << 13)
def layout_text(layout: Layout) -> str:
    """The Debug text of a layout, kept: a program names the same few layouts over and over."""
    return str(layout)


def _unknown_notes(program: Program, steps: Sequence[Step]) -> tuple[str, ...]:
    """A sentence for each operation that is not modelled and makes every sum a lower bound."""
    reasons = dict(program.unknown)
    consequence = "sums are at least what is shown"
    notes = [
        f"operation {operation} is not modelled ({reason}): {consequence}" for operation, reason in reasons.items()
    ]
    for index, step in enumerate(steps):
        if type(step) is Opaque and step.source not in reasons:
            place = f"step {index}" if step.source is None else f"operation {step.source}"
            notes.append(f"{place} is not modelled ({step.reason}): {consequence}")
    return tuple(notes)


def _full_words(step: Step, values: Sequence[Value]) -> tuple[str, str]:
    text, kind = step_words(step)
    if kind in _WRITE_F8 and values[step.results[0]].precision.is_f8:
        text = f"{text} to F8"
    return text, kind


def step_words(step: Step) -> tuple[str, str]:
    """A step in words, and its kind: their first word (Copy, Product, Sum, Repeat, Unknown or the kernel's name)."""
    if isinstance(step, Copy):
        return _copy_words(step.policy)
    if isinstance(step, Kernel):
        return _kernel_words(step.kernel)
    if isinstance(step, Product):
        return "Product Accumulate" if len(step.inputs) > 2 else "Product Initialize", "Product"
    if isinstance(step, Sum):
        return f"Sum axis {step.axis} staging {step.staging}", "Sum"
    if isinstance(step, Repeat):
        return f"Repeat {step.count} boundary", "Repeat"
    return f"Unknown {step.reason}", "Unknown"


@lru_cache(maxsize=1 << 6)
def _copy_words(policy: str) -> tuple[str, str]:
    return f"Copy {policy}", "Copy"


@lru_cache(maxsize=1 << 6)
def _kernel_words(kernel: str) -> tuple[str, str]:
    return kernel, kernel.partition(" ")[0]
