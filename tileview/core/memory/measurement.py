"""From a lowered program to its memory timeline.

A value with an invalid layout is unavailable and so is every sum that contains it; the rest is summed all the
same. An operation that is not known makes every sum a lower bound, which verdict and notes say.

Bytes of one value on each tile: shards, access tails, rounding to memory elements; cached by all they depend on.

Two values with equal shape, layout, owners, element size, tail and rounding share one :class:`Footprint` and its
arrays, over every estimate made in this process: re-planning after a swap computes only what the swap changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from tileview.core.geometry.owners import OwnerError, check_owners, spread
from tileview.core.geometry.resolve import LayoutError, LayoutErrorKind, layout_failure, resolve
from tileview.core.geometry.resolved import Resolved
from tileview.core.memory.assemble import NO_SCRATCH, Allocations, Judged, StepFacts, judge_allocations, listed_steps
from tileview.core.memory.groups import LiveSet, find_lifetimes, group_values
from tileview.core.memory.scratch import Scratch
from tileview.core.memory.step_costs import FREE, StepCost, step_cost
from tileview.core.memory.usage import PlacedTiles
from tileview.core.memory.verdict import Budgets, Unsized
from tileview.model.config import INTERLEAVED_BYTES, INTERLEAVED_ELEMENT_BYTES, PLANNED_BYTES, STANDARD_ELEMENT_BYTES
from tileview.model.program import (
    DIRECT_OWNERS,
    Copy,
    FlatStep,
    Kernel,
    Opaque,
    Owners,
    Product,
    Program,
    Repeat,
    Step,
    Sum,
    Value,
)
from tileview.model.sizes import LARGEST_COUNTED_BYTES, UNAVAILABLE, Size, Unavailable, total
from tileview.model.tensor import Layout, MemoryClass, Precision, Shape
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


_FootprintKey = tuple[int, int, int, int, int, bool, int]


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
        self.flat = program.flatten()
        self.groups = group_values(program, self.flat)
        self.lifetimes = find_lifetimes(program, self.flat, self.groups.roots)

    @cached_property
    def footprints(self) -> list[Footprint]:
        """Every value's bytes."""
        return self._footprints()

    @cached_property
    def unavailable(self) -> frozenset[int]:
        """Roots of the allocations without a known size."""
        return frozenset(
            [self.groups.roots[index] for index, size in enumerate(self.footprints) if size.error is not None]
        )

    @cached_property
    def costs(self) -> list[StepCost]:
        """What each step takes beside its operands."""
        values = self.program.values
        return [
            step_cost(step, values) if type(step := entry.step) is Copy or type(step) is Sum else FREE
            for entry in self.flat
        ]

    @cached_property
    def facts(self) -> list[StepFacts]:
        """What judging needs of each step, without live sets and words."""
        alike: dict[tuple[int | None, int], StepFacts] = {}
        found = []
        for entry, cost in zip(self.flat, self.costs, strict=True):
            key = (entry.step.source, entry.execution_count)
            fact = alike.get(key)
            if fact is None:
                fact = alike[key] = StepFacts(key[0], "", "", key[1], (), NO_SCRATCH)
            found.append(fact if cost.scratch is None else fact._replace(scratch=self._scratch(cost.scratch)))
        return found

    @cached_property
    def scratch_rows(self) -> dict[int, ByteArray]:
        """Step → (tiles,) of its scratch, where that is known: a whole number of shards of the result on every tile
        that owns one."""
        known = [(step, cost.scratch) for step, cost in enumerate(self.costs) if cost.scratch is not None]
        sizes, tiles = self.footprints, self.tiles
        return {
            step: sizes[scratch.result].times(scratch.factor, tiles)
            for step, scratch in known
            if sizes[scratch.result].error is None
        }

    @cached_property
    def _interleaved(self) -> frozenset[int]:
        values = self.program.values
        return frozenset(
            [
                root
                for root, members in self.groups.members.items()
                if values[members[-1]].layout.memory_class is MemoryClass.INTERLEAVED
            ]
        )

    @cached_property
    def spans(self) -> list[tuple[int, int, int]]:
        """(root, first step, step after the last) of every allocation that is live at some time."""
        return [(root, first, last) for root, (first, last) in self.lifetimes.spans.items()]

    @cached_property
    def placed(self) -> PlacedTiles:
        """What every tile holds."""
        sizes, tiles = self.footprints, self.tiles
        return PlacedTiles(
            self.tiles,
            self.lifetimes.live,
            self.groups.members,
            self._interleaved.__contains__,
            lambda value: sizes[value].shards(tiles),
            lambda value: sizes[value].bytes(tiles),
            self.unavailable,
            self.scratch_rows,
            spans=self.spans,
        )

    @cached_property
    def allocations(self) -> Allocations:
        """The allocations by root."""
        unavailable = self.unavailable
        largest = {root: self._largest(root) for root, _, _ in self.spans if root not in unavailable}
        return Allocations(largest, self._interleaved.__contains__, unavailable, self.spans, self.lifetimes.initial)

    def _largest(self, root: int) -> int:
        inside, sizes, tiles = self.groups.members[root], self.footprints, self.tiles
        if len(inside) == 1:
            return sizes[root].largest(tiles)
        return max([sizes[member].largest(tiles) for member in inside])

    def _footprints(self) -> list[Footprint]:
        """Every value's bytes; looked up by identity first: successive programs share values, and those that are made
        anew share what they are made of."""
        roots, aligned = self.groups.roots, self.groups.aligned
        plain = _PLAIN.setdefault(self.tiles, {})
        if len(plain) >= _MOST_LISTED:
            plain.clear()
        found: list[Footprint] = []
        for value, root in zip(self.program.values, roots, strict=True):
            whole = root in aligned
            same = None if whole else plain.get(id(value))
            if same is not None:
                found.append(same[1])
                continue
            size = self._one_footprint(value.id)
            found.append(size)
            if not whole:
                plain[id(value)] = (value, size)
        return found

    def _one_footprint(self, number: int) -> Footprint:
        value, root = self.program.values[number], self.groups.roots[number]
        whole = root in self.groups.aligned
        tail = self.groups.tails.get(root, 0) if whole else 0
        key = (id(value.shape), id(value.precision), id(value.layout), id(value.owners), tail, whole, self.tiles)
        known = _FOOTPRINTS.get(key)
        return self._new_footprint(value, tail, whole, key) if known is None else known[1]

    def _new_footprint(self, value: Value, tail: int, aligned: bool, key: _FootprintKey) -> Footprint:
        layout = value.layout
        made = footprint(
            value.shape,
            value.precision,
            layout,
            self.tiles,
            owners=value.owners,
            tail=tail,
            element_aligned=aligned,
            memory_class=layout.memory_class,
        )
        if len(_FOOTPRINTS) >= _MOST_LISTED:
            _FOOTPRINTS.clear()
        _FOOTPRINTS[key] = ((value.shape, value.precision, layout, value.owners), made)
        return made

    def _in_words(self, entry: FlatStep, fact: StepFacts) -> StepFacts:
        step = entry.step
        text, kind = step_words(step)
        if kind in _WRITE_F8 and self.program.values[step.results[0]].precision.is_f8:
            text = f"{text} to F8"
        live = LiveSet(self.lifetimes.live, entry.index)
        return StepFacts(fact.source, text, kind, fact.execution_count, live, fact.scratch)

    def _scratch(self, scratch: Scratch) -> ClassBytes:
        """A step's scratch on a tile that owns the largest shard of the result."""
        shard = self.footprints[scratch.result].shard
        return ClassBytes(UNAVAILABLE if isinstance(shard, Unavailable) else shard * scratch.factor, 0)

    def at_most(self, other: Measurement, with_least: bool = False) -> AtMost | None:
        """What the program takes at most, by one of nearly the same steps; None where a size is unavailable, and for
        a program without steps.

        Steps that both have, the same objects, stand beside each other, every other one beside the last such step
        before it. A step holds at most what the one beside it does, with what is live here and not there, and the
        scratch of a step that has no fellow. Takes a fraction of what measuring does.

        ``with_least``: find out, too, whether the total peak may be less; else it is said that it may.
        """
        values, theirs = self.program.values, other.program.values
        if other.unavailable or values != theirs[: len(values)] or not self.flat or not other.flat:
            return None
        beside, fellows = self._beside(other)
        changed = self._changed(other)
        more = np.zeros((2, len(self.flat) + 1), dtype=np.int64)
        largest = 0
        for root, spans in self._only_here(other, beside, changed):
            sizes = [self._one_footprint(member) for member in self.groups.members[root]]
            if any(size.error is not None for size in sizes):
                return None
            size = max([size.largest(self.tiles) for size in sizes])
            column = int(values[self.groups.members[root][-1]].layout.memory_class is MemoryClass.INTERLEAVED)
            if not column:
                largest = max(largest, size)
            for first, last in spans:
                more[column, first] += size
                more[column, last] -= size
        np.cumsum(more, axis=1, out=more)
        for index in set(range(len(self.flat))) - fellows.keys():
            scratch = step_cost(self.flat[index].step, values).scratch
            if scratch is not None:
                shard = self._one_footprint(scratch.result).shard
                if isinstance(shard, Unavailable):
                    return None
                more[0, index] += shard * scratch.factor
                largest = max(largest, shard * scratch.factor)
        worst = other.placed.worst()
        there = np.zeros((2, len(self.flat)), dtype=np.int64)
        known = beside >= 0
        there[:, known] = worst[beside[known]][:, [1, 2]].T
        interleaved = int((there[0] + more[1, :-1]).max(initial=0))
        total = int((there[1] + more[0, :-1] + more[1, :-1]).max(initial=0))
        may_be_less = not with_least or self._may_be_less(other, fellows, worst, changed)
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
        place = next((entry.index for entry in other.flat if entry.step is self.flat[step].step), None)
        if place is None:
            return False
        least = int(self.placed.worst()[step, 2])
        changed, there = self._changed(other), other.lifetimes.spans
        for root, first, last in self.spans:
            if first <= step < last:
                begin, end = (0, 0) if root in changed else there.get(root, (0, 0))
                least -= 0 if begin <= place < end else self._largest(root)
        return least + budgets.reserve > budgets.total

    def _beside(self, other: Measurement) -> tuple[ByteArray, dict[int, int]]:
        """(steps,) the other program's step beside each, −1 for none; and step → the same one there."""
        places = {id(entry.step): entry.index for entry in other.flat}
        beside, fellows, last = [], {}, -1
        for index, entry in enumerate(self.flat):
            place = places.get(id(entry.step), -1)
            if place > last:
                fellows[index] = last = place
            beside.append(last)
        return np.array(beside, dtype=np.int64), fellows

    def _changed(self, other: Measurement) -> frozenset[int]:
        """Roots of the allocations that have not the same values of the same bytes in both programs."""
        here, there = self.groups, other.groups
        roots, count = there.roots, len(here.roots)
        found = {root for pair in zip(here.roots, roots, strict=False) if pair[0] != pair[1] for root in pair}
        found.update(roots[count:])
        found |= here.aligned ^ there.aligned
        found.update(root for root, _ in here.tails.items() ^ there.tails.items())
        return frozenset(found)

    def _only_here(
        self, other: Measurement, beside: ByteArray, changed: frozenset[int]
    ) -> Iterator[tuple[int, list[tuple[int, int]]]]:
        """Allocations that are live at steps beside which they are not, with the stretches of such steps."""
        own, theirs, none = self.lifetimes.spans, other.lifetimes.spans, (0, 0)
        roots = list(own)
        there = [none if root in changed else theirs.get(root, none) for root in roots]
        first, last = np.array(list(own.values()), dtype=np.int64).reshape(-1, 2).T
        begins, ends = np.searchsorted(beside, np.array(there, dtype=np.int64).reshape(-1, 2)).T
        until, since = np.clip(begins, first, last), np.clip(ends, first, last)
        for index in np.flatnonzero((until > first) | (since < last)).tolist():
            stretches = ((first[index], until[index]), (max(since[index], until[index]), last[index]))
            yield roots[index], [(int(a), int(b)) for a, b in stretches if a < b]

    def _may_be_less(
        self, other: Measurement, fellows: Mapping[int, int], worst: ByteArray, changed: frozenset[int]
    ) -> bool:
        """Whether the total peak may be below the other's: it is not where the step of that one has all here, too."""
        peak = int(worst[:, 2].argmax()) if len(worst) else None
        here = next((step for step, place in fellows.items() if place == peak), None)
        if peak is None or here is None:
            return True
        own, none = self.lifetimes.spans, (0, 0)
        for root, (first, last) in other.lifetimes.spans.items():
            if first <= peak < last:
                begin, end = none if root in changed else own.get(root, none)
                if not begin <= here < end:
                    return True
        return False

    def _exchange(self) -> Size:
        return total(cost.exchange for cost in self.costs if cost is not FREE)

    def judged(self, budgets: Budgets) -> Judged:
        """Peaks and verdict; kept for the budgets asked for last."""
        if self._judged is None or self._judged[0] != budgets:
            at_least = bool(unknown_notes(self.program, self.flat))
            asked = (self.facts, self.allocations, self.placed, budgets, self._exchange(), self._unsized())
            self._judged = budgets, judge_allocations(*asked, at_least=at_least)
        return self._judged[1]

    def timeline(
        self, budgets: Budgets, scope: str, model: str = DEFAULT_MODEL, notes: tuple[str, ...] = ()
    ) -> Timeline:
        """Put everything together."""
        judged = self.judged(budgets)
        unknown = unknown_notes(self.program, self.flat)
        facts = [*map(self._in_words, self.flat, self.facts)]
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
            values=tuple(map(self._value, self.program.values, self.footprints)),
            steps=listed_steps(facts, self.allocations, self.placed),
            tiles=self.placed,
            unavailable_roots=self.unavailable,
            aliases=self.groups.members,
            tails=self.groups.tails,
            aligned_roots=self.groups.aligned,
            verdict=judged.verdict,
            notes=(*notes, *unknown),
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
            for value, size in zip(self.program.values, self.footprints, strict=True)
            if size.error is not None and self.groups.roots[value.id] in self.lifetimes.spans
        )

    def _value(self, value: Value, size: Footprint) -> TimelineValue:
        """A value as the timeline lists it; the same object again while value object and sizes are the same."""
        root = self.groups.roots[value.id]
        key = (id(value), root, size.shard, size.aligned, size.error)
        known = _LISTED.get(key)
        if known is not None:
            return known[1]
        listed = TimelineValue(
            id=value.id,
            origin=value.origin,
            root=root,
            name=value.name,
            group=value.group,
            shape=value.shape,
            precision=value.precision,
            layout=value.layout,
            layout_text=layout_text(value.layout),
            layout_error=size.error,
            memory_class=value.layout.memory_class,
            storage_group=value.storage_group,
            shard_bytes=size.shard,
            aligned_bytes=size.aligned,
            copies=1,
            bytes=size.aligned,
        )
        if len(_LISTED) >= _MOST_LISTED:
            _LISTED.clear()
        _LISTED[key] = (value, listed)
        return listed


_MOST_LISTED = 1 << 14
_FOOTPRINTS: dict[_FootprintKey, tuple[tuple[object, ...], Footprint]] = {}
"""Bytes by the identity of all they depend on; each entry holds the objects, so that their ids stay their own."""
_PLAIN: dict[int, dict[int, tuple[Value, Footprint]]] = {}
"""Tile count → bytes of values in no group of a matrix product, by identity; each entry holds its value."""
_LISTED: dict[tuple[object, ...], tuple[Value, TimelineValue]] = {}
"""Values listed before, by identity (each entry holds its value, so that the id stays its own): successive programs of
a re-planner share most of their value objects."""


def clear_cache() -> None:
    """Forget the footprints and the values measured and listed before (for measurements from cold)."""
    _FOOTPRINTS.clear()
    _PLAIN.clear()
    _LISTED.clear()
    _footprint.cache_clear()


@lru_cache(maxsize=1 << 13)
def layout_text(layout: Layout) -> str:
    """The Debug text of a layout, kept: a program names the same few layouts over and over."""
    return str(layout)


def unknown_notes(program: Program, flat: Sequence[FlatStep]) -> tuple[str, ...]:
    """A sentence for each operation that is not modelled and makes every sum a lower bound."""
    reasons = dict(program.unknown)
    consequence = "sums are at least what is shown"
    notes = [
        f"operation {operation} is not modelled ({reason}): {consequence}" for operation, reason in reasons.items()
    ]
    for entry in [entry for entry in flat if type(entry.step) is Opaque]:
        if isinstance(entry.step, Opaque) and entry.step.source not in reasons:
            place = f"step {entry.index}" if entry.step.source is None else f"operation {entry.step.source}"
            notes.append(f"{place} is not modelled ({entry.step.reason}): {consequence}")
    return tuple(notes)


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


_CACHED_FOOTPRINTS = 1 << 13


class Footprint:
    """What a value takes: largest shard, largest size, and both on every tile.

    ``error`` says why the sizes are unavailable, None where they are known. The arrays are made when asked for.
    """

    __slots__ = (
        "_bytes",
        "_rounding",
        "_shards",
        "_times",
        "aligned",
        "element_bytes",
        "error",
        "owners",
        "resolved",
        "shard",
        "tail",
    )

    def __init__(
        self,
        resolved: Resolved | None,
        error: str | None,
        element_bytes: int,
        tail: int,
        rounding: int,
        owners: Owners,
    ) -> None:
        self.resolved = resolved
        self.error = error
        self.element_bytes = element_bytes
        self.tail = tail
        self.owners = owners
        self._rounding = rounding
        self._shards: ByteArray | None = None
        self._bytes: ByteArray | None = None
        self._times: dict[int, ByteArray] = {}
        self.shard: Size = UNAVAILABLE
        self.aligned: Size = UNAVAILABLE
        if resolved is not None:
            shard = resolved.maximum_elements * element_bytes
            self.shard = shard
            self.aligned = self._size(shard)

    def _size(self, shard: int) -> int:
        """Bytes for a shard: its payload and tail, in whole memory elements where its group needs them; 0 for none."""
        if shard == 0:
            return 0
        size = shard + self.tail
        return size if self._rounding == 0 else -(-size // self._rounding) * self._rounding

    def shards(self, tile_count: int) -> ByteArray:
        """(tiles,): payload bytes on each tile; zeros where unavailable. Read-only."""
        if self._shards is None:
            if self.resolved is None:
                row = np.zeros(tile_count, dtype=np.int64)
            else:
                row = spread(self.resolved.owner_elements() * self.element_bytes, self.owners, tile_count)
            row.flags.writeable = False
            self._shards = row
        return self._shards

    def count_shards(self, tile_count: int) -> ByteArray:
        """As :meth:`shards`, made anew and not kept: for whoever looks at very many values once."""
        if self._shards is not None or self.resolved is None:
            return self.shards(tile_count)
        return spread(self.resolved.count_elements() * self.element_bytes, self.owners, tile_count)

    def times(self, factor: int, tile_count: int) -> ByteArray:
        """(tiles,): so many times the payload on each tile; the same array again where it is asked for again."""
        if factor == 1:
            return self.shards(tile_count)
        row = self._times.get(factor)
        if row is None:
            row = self._times[factor] = self.shards(tile_count) * factor
            row.flags.writeable = False
        return row

    def bytes(self, tile_count: int) -> ByteArray:
        """(tiles,): bytes on each tile, tail and rounding included, of one copy; zeros where unavailable. Read-only."""
        if self._bytes is None:
            if self.resolved is None or (self.tail == 0 and self._rounding == 0):
                self._bytes = self.shards(tile_count)
            else:
                per_owner = self.resolved.owner_elements() * self.element_bytes
                sizes = per_owner + self.tail
                if self._rounding:
                    sizes = -(-sizes // self._rounding) * self._rounding
                sizes[per_owner == 0] = 0
                row = spread(sizes, self.owners, tile_count)
                row.flags.writeable = False
                self._bytes = row
        return self._bytes

    def largest(self, tile_count: int) -> int:
        """The largest bytes of one copy on any tile, known part (an embedding may put two owners on one tile)."""
        if not isinstance(self.aligned, int):
            return 0
        if self.owners.embedding is None:
            return self.aligned
        return int(self.bytes(tile_count).max(initial=0))


def footprint(
    shape: Shape,
    precision: Precision,
    layout: Layout | None,
    tile_count: int,
    *,
    owners: Owners = DIRECT_OWNERS,
    tail: int = 0,
    element_aligned: bool = False,
    memory_class: MemoryClass = MemoryClass.STANDARD,
) -> Footprint:
    """The footprint of a value.

    Parameters
    ----------
    tail : int
        Access tail in bytes, added to every non-empty shard.
    element_aligned : bool
        Whether sizes are rounded up to whole memory elements of ``memory_class`` (16,384 or 32,768 bytes).
    """
    rounding = 0
    if element_aligned:
        rounding = INTERLEAVED_ELEMENT_BYTES if memory_class is MemoryClass.INTERLEAVED else STANDARD_ELEMENT_BYTES
    element_bytes = precision.element_bytes
    if element_bytes is None:
        return Footprint(None, f"the precision {precision} is not known", 0, tail, rounding, owners)
    if layout is None:
        return Footprint(None, "the layout cannot be read", element_bytes, tail, rounding, owners)
    return _footprint(shape, layout, element_bytes, tail, rounding, owners, tile_count)


@lru_cache(maxsize=_CACHED_FOOTPRINTS)
def _footprint(
    shape: Shape, layout: Layout, element_bytes: int, tail: int, rounding: int, owners: Owners, tile_count: int
) -> Footprint:
    try:
        resolved = resolve(shape, layout)
        check_owners(owners, resolved.owner_count, tile_count)
    except (LayoutError, OwnerError) as error:
        return Footprint(None, str(error), element_bytes, tail, rounding, owners)
    if resolved.maximum_elements * element_bytes + tail > LARGEST_COUNTED_BYTES:
        text = f"a shard of {resolved.maximum_elements * element_bytes:,} B is beyond what any tile could hold"
        return Footprint(None, text, element_bytes, tail, rounding, owners)
    return Footprint(resolved, None, element_bytes, tail, rounding, owners)


def layout_fault(shape: Shape, layout: Layout | None, tile_count: int) -> str | None:
    """Why a layout cannot be used on a device: it does not resolve, or has more owners than there are tiles.

    None of an element order that is not known: then nobody can tell.
    """
    if layout is None:
        return None
    failure = layout_failure(shape, layout)
    if failure is not None:
        return None if failure.kind is LayoutErrorKind.UNKNOWN_ORDER else str(failure)
    owners = layout.tiling.tile_count
    return f"{owners} owners do not fit a device of {tile_count} tiles" if owners > tile_count else None
