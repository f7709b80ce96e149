"""What the tiles of a lowered program ask for: requests, the events they live in, what may not overlap.

Events are counted from 1, a Repeat's body once. A step takes one event, at which its inputs and results are touched,
but for a Repeat (one before and one after its body), a Copy that packs through scratch (two) and a Sum of several
contributors (two a stage, and two). Program inputs are touched at 0, parameters also at the end, outputs at the end.

Source and result of a copy may share no memory element on a tile that receives its own multicast: the compiler compares
the pieces of its messages; the test here compares what both hold of the tensor, and may state some conflicts too many
or too few.

Built for all tiles at once: a :class:`RequestTemplate` says what is the same on every tile, rows over the tiles say how
many bytes it asks for there (none: no request) and where two of them conflict. Tiles whose requests are equal, roots
and conflicts included, form a class and need one look.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tileview.core.columns import program_columns
from tileview.core.geometry.owners import owner_parts, owner_tiles
from tileview.core.geometry.resolve import resolve
from tileview.core.geometry.resolved import OwnerArray, Resolved
from tileview.core.memory.exchange import contributors, stages, step_scratch
from tileview.core.memory.footprint import footprint
from tileview.core.memory.groups import Groups, group_values
from tileview.core.placement.proofs import Asked
from tileview.errors import PlanError
from tileview.model.graph import InputKind
from tileview.model.owners import Owners
from tileview.model.placement import END, REGION0_ELEMENT, REGION1_ELEMENT, Memory, Request
from tileview.model.program import Copy, FlatStep, Product, Program, Repeat, Step, Sum, Value
from tileview.model.tensor import Layout, MemoryClass, Shape
from tileview.model.timeline import ByteArray


@dataclass(frozen=True, slots=True)
class Working:
    """Scratch of a step: ``factor`` shards of the value ``result`` on each tile that holds one, live ``first`` …
    ``last``. ``what`` names it: "packing", "received parts", "own part", "accumulator"."""

    step: Step
    result: int
    factor: int
    first: int
    last: int
    what: str


@dataclass(slots=True)
class Events:
    """``lives``: value → first and last touch; a value that nothing touches is left out. ``last``: the last event of
    the run. ``repeats`` in the order of the steps, outer before inner. ``stepped``: values that a step other than a
    Repeat touches. ``steps``: the index in the flattened program of the step that each event, from 1 on, belongs to."""

    lives: dict[int, tuple[int, int]] = field(default_factory=dict)
    last: int = 0
    working: list[Working] = field(default_factory=list)
    repeats: list[Repeat] = field(default_factory=list)
    stepped: set[int] = field(default_factory=set)
    steps: list[int] = field(default_factory=list)

    def touch(self, values: Iterable[int], event: int) -> None:
        for value in values:
            first, last = self.lives.get(value, (event, event))
            self.lives[value] = (min(first, event), max(last, event))


def find_events(program: Program) -> Events:
    """Walk the steps and number their events."""
    events = Events()
    for given in program.inputs:
        events.touch((given.value,), 0)
        if given.kind is InputKind.PARAMETER:
            events.touch((given.value,), END)
    _walk(program.steps, program.values, events, 0)
    events.touch(program.outputs, END)
    return events


def _walk(steps: Sequence[Step], values: tuple[Value, ...], events: Events, index: int) -> int:
    """Number the events of some steps, the first of them ``index`` of the flattened program; the index behind them."""
    for step in steps:
        if isinstance(step, Repeat):
            events.repeats.append(step)
            members = [member for sequence in step.iterated for member in sequence]
            touched = [*step.inputs, *step.results, *step.arguments, *step.yields, *members]
            events.last += 1
            events.touch(touched, events.last)
            before = len(events.steps)
            events.steps.append(0)
            index = events.steps[before] = _walk(step.body, values, events, index)
            events.last += 1
            events.touch(touched, events.last)
            events.steps.append(index)
            index += 1
            continue
        event = events.last + 1
        events.stepped.update(step.inputs, step.results)
        if isinstance(step, Sum) and contributors(step, values) > 1:
            _sum(step, event, values, events)
        elif isinstance(step, Copy) and step_scratch(step, values) is not None:
            events.touch(step.inputs, event)
            events.touch(step.results, event + 1)
            events.working.append(Working(step, step.results[0], 1, event, event + 1, "packing"))
            events.last = event + 1
        else:
            events.touch((*step.inputs, *step.results), event)
            events.last = event
        events.steps += [index] * (events.last + 1 - event)
        index += 1
    return index


def _sum(step: Sum, event: int, values: tuple[Value, ...], events: Events) -> None:
    """Two events a stage while the parts come in, one before them and one for the result."""
    count = contributors(step, values)
    at_a_time = stages(step.staging, count)
    rounds = -(-(count - 1) // at_a_time)
    even = rounds % 2 == 0
    result = step.results[0]
    events.touch(step.inputs, event)
    events.touch(step.inputs, event + 2 * rounds - 1)
    events.touch(step.results, event + 2 * rounds + 1)
    end = event + 2 * rounds
    events.working += [
        Working(step, result, at_a_time, event, end, "received parts"),
        Working(step, result, 1, event + 1, end + even, "own part"),
        Working(step, result, 1, event + 2, end + 1 - even, "accumulator"),
    ]
    events.last = end + 1


_LEAST_REPLICAS = 3

TileMask = npt.NDArray[np.bool_]


def multicast_tiles(step: Step, values: tuple[Value, ...], tile_count: int) -> TileMask | None:
    """(tiles,): where a step's source and result conflict, shards on both taken for granted; None for nowhere.

    Only a Copy that neither packs nor has a view, from a standard source in one replica to a result that is not linear
    and has at least three. On a tile: the source is linear, or what both hold overlaps on every axis once the result's
    bounds are moved by the offsets.
    """
    if not isinstance(step, Copy) or step.mapping.view is not None or step_scratch(step, values) is not None:
        return None
    source, result = values[step.inputs[0]], values[step.results[0]]
    source_tiling, result_tiling = source.layout.tiling, result.layout.tiling
    if source.layout.memory_class is not MemoryClass.STANDARD or source_tiling.replicas != 1:
        return None
    if result_tiling.is_linear or result_tiling.replicas < _LEAST_REPLICAS:
        return None
    if source_tiling.is_linear:
        return np.ones(tile_count, dtype=np.bool_)
    return _overlap(
        (source.shape, source.layout, source.owners),
        (result.shape, result.layout, result.owners),
        step.mapping.offsets,
        tile_count,
    )


_Side = tuple[Shape, Layout, Owners]


@lru_cache(maxsize=1 << 10)
def _overlap(source: _Side, result: _Side, offsets: tuple[int, ...], tile_count: int) -> TileMask:
    """(tiles,): whether what source and moved result hold of the tensor overlaps. Read-only."""
    (own_starts, own_ends, own_tiles), (starts, ends, tiles) = _held(source, tile_count), _held(result, tile_count)
    rank = min(starts.shape[1], own_starts.shape[1])
    moved = np.zeros(starts.shape[1], dtype=np.int64)
    moved[: min(len(offsets), len(moved))] = offsets[: len(moved)]
    own, other = _paired(own_tiles, tiles, tile_count)
    low = np.maximum(own_starts[own, :rank], starts[other, :rank] + moved[:rank])
    high = np.minimum(own_ends[own, :rank], ends[other, :rank] + moved[:rank])
    mask = np.zeros(tile_count, dtype=np.bool_)
    mask[own_tiles[own][(low < high).all(axis=1)]] = True
    mask.flags.writeable = False
    return mask


def _held(side: _Side, tile_count: int) -> tuple[OwnerArray, OwnerArray, OwnerArray]:
    """(owners, axes) first and last logical element of each owner on every axis, and (owners,) its tile."""
    shape, layout, owners = side
    resolved = resolve(shape, layout)
    starts, ends = _logical_bounds(resolved)
    return starts, ends, owner_tiles(owners, resolved.owner_count, tile_count)


@lru_cache(maxsize=1 << 10)
def _logical_bounds(resolved: Resolved) -> tuple[OwnerArray, OwnerArray]:
    assert resolved.dimensions is not None
    parts = owner_parts(resolved)
    starts, ends = np.empty_like(parts), np.empty_like(parts)
    for axis, bounds in enumerate(resolved.dimensions):
        starts[:, axis] = np.array(bounds.starts, dtype=np.int64)[parts[:, axis]]
        ends[:, axis] = np.array(bounds.logical_ends, dtype=np.int64)[parts[:, axis]]
    return starts, ends


def _paired(own_tiles: OwnerArray, tiles: OwnerArray, tile_count: int) -> tuple[OwnerArray, OwnerArray]:
    """Every pair of owners, one of each side, that sit on one tile."""
    if len(np.unique(own_tiles)) == len(own_tiles):
        owner_on = np.full(tile_count, -1, dtype=np.int64)
        owner_on[own_tiles] = np.arange(len(own_tiles))
        other = np.flatnonzero(owner_on[tiles] >= 0)
        return owner_on[tiles[other]], other
    pairs = np.argwhere(own_tiles[:, np.newaxis] == tiles[np.newaxis, :])
    return pairs[:, 0], pairs[:, 1]


PRODUCT_ALIGNMENT = 32
STEP_ALIGNMENT = 8
OTHER_ALIGNMENT = 4


@dataclass(frozen=True, slots=True)
class RequestTemplate:
    """What a request says on every tile. ``roots`` are empty for scratch, which has ``step`` and ``what`` instead.
    ``strided``: members that conflict with each other take whole elements of region 1."""

    memory_class: MemoryClass
    alignment: int
    first: int
    last: int
    roots: tuple[int, ...]
    step: Step | None = None
    what: str = ""
    strided: bool = False


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two requests, by template, that may share no element on the tiles of ``mask``, where both ask: ``roots`` meet.
    ``multicast``: by the approximate test, at least on some tiles."""

    templates: tuple[int, int]
    roots: tuple[int, int]
    mask: TileMask
    multicast: bool


@dataclass(frozen=True, slots=True)
class TileClass:
    """Tiles with equal requests, ascending. ``present``: the templates that ask there; ``bytes``: how much each."""

    tiles: tuple[int, ...]
    present: tuple[int, ...]
    bytes: tuple[int, ...]
    conflicts: tuple[Conflict, ...]


@dataclass(frozen=True, slots=True)
class ProgramRequests:
    """``sizes``: (templates, tiles) bytes. ``classes``: by their lowest tile. ``events``: the last event of the run."""

    program: Program
    templates: tuple[RequestTemplate, ...]
    sizes: ByteArray
    conflicts: tuple[Conflict, ...]
    events: int
    classes: tuple[TileClass, ...] = field(default=())

    @property
    def count(self) -> int:
        """Requests of all tiles together."""
        return int(np.count_nonzero(self.sizes))

    def class_of(self, tile: int) -> TileClass:
        return next(each for each in self.classes if tile in each.tiles)

    def asked(self, each: TileClass, memory: Memory) -> Asked:
        """The requests of a class as the orders read them."""
        chosen = [self.templates[index] for index in each.present]
        position = {template: place for place, template in enumerate(each.present)}
        meeting: list[tuple[int, ...]] = [()] * len(chosen)
        for conflict in each.conflicts:
            one, other = (position[template] for template in conflict.templates)
            if other not in meeting[one]:
                meeting[one] = (*meeting[one], other)
                meeting[other] = (*meeting[other], one)
        asked = Asked(
            [template.memory_class is MemoryClass.INTERLEAVED for template in chosen],
            list(each.bytes),
            [template.alignment for template in chosen],
            [template.first for template in chosen],
            [template.last for template in chosen],
            meeting,
        )
        if any(template.strided for template in chosen):
            asked.with_strides([_strides(t, size) for t, size in zip(chosen, each.bytes, strict=True)], memory)
        return asked

    def requests(self, each: TileClass) -> tuple[Request, ...]:
        """The requests of a class in the canonical order, as a tile dump would list them."""
        listed: dict[int, set[int]] = {template: set() for template in each.present}
        for conflict in each.conflicts:
            (one, other), (root, peer) = conflict.templates, conflict.roots
            listed[one].add(peer)
            listed[other].add(root)
        return tuple(
            _request(self.templates[index], size, tuple(sorted(listed[index])))
            for index, size in zip(each.present, each.bytes, strict=True)
        )


def _request(template: RequestTemplate, size: int, conflicts: tuple[int, ...]) -> Request:
    stride = size // len(template.roots) if template.roots else 0
    strides = _strides(template, size)
    return Request(
        template.memory_class,
        size,
        template.alignment,
        template.first,
        template.last,
        tuple((root, index * stride) for index, root in enumerate(template.roots)),
        conflicts,
        None if strides is None else strides[0],
    )


def _strides(template: RequestTemplate, size: int) -> tuple[int, int] | None:
    """(region1_stride, members) of a sequence whose members conflict with each other."""
    if not template.strided:
        return None
    members = len(template.roots)
    return -(-(size // members) // REGION1_ELEMENT) * REGION1_ELEMENT, members


def build_requests(program: Program, *, multicast: bool = True) -> ProgramRequests:
    """The requests of every tile of a program, and their classes.

    Parameters
    ----------
    multicast : bool
        Whether copies that multicast state conflicts; the test for them is an approximation, so both can be looked at.

    Raises
    ------
    PlanError
        A value in memory has no size, or two sequences share only some of their members.
    """
    builder = _Builder(program)
    builder.sequences()
    builder.groups_left()
    builder.scratch()
    conflicts = builder.conflicts(multicast)
    sizes = np.array(builder.rows, dtype=np.int64).reshape(len(builder.rows), program.tile_count)
    classes = tuple(_classes(sizes, conflicts))
    return ProgramRequests(program, tuple(builder.templates), sizes, conflicts, builder.events.last, classes)


class _Builder:
    """Templates and their rows, put together in the canonical order: sequences, groups by root, scratch by step."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.flat: tuple[FlatStep, ...] = program.flatten()
        self.groups: Groups = group_values(program_columns(program), with_yields=True)
        self.events: Events = find_events(program)
        self.touched: dict[int, list[int]] = {}
        for value in sorted(self.events.lives):
            self.touched.setdefault(self.groups.roots[value], []).append(value)
        self.products = {
            self.groups.roots[value]
            for entry in self.flat
            if isinstance(entry.step, Product)
            for value in (*entry.step.inputs, *entry.step.results)
        }
        self.stepped = {self.groups.roots[value] for value in self.events.stepped}
        self.holder: dict[int, int] = {}
        self.templates: list[RequestTemplate] = []
        self.rows: list[ByteArray] = []

    def shards(self, value: int) -> ByteArray:
        """(tiles,): bytes of a value's shard."""
        listed = self.program.values[value]
        size = footprint(listed.shape, listed.precision, listed.layout, self.program.tile_count, owners=listed.owners)
        if size.error is not None:
            raise PlanError(f"value {value} ({listed.name}) has no size: {size.error}")
        return size.shards(self.program.tile_count)

    def group_row(self, root: int) -> ByteArray:
        """(tiles,): the largest shard of a group's members with the access tail; 0 where none has one."""
        members = self.touched.get(root, [])
        if not members:
            return np.zeros(self.program.tile_count, dtype=np.int64)
        row = self.shards(members[0])
        for member in members[1:]:
            row = np.maximum(row, self.shards(member))
        tail = self.groups.tails.get(root, 0)
        return np.where(row > 0, row + tail, 0) if tail else row

    def alignment(self, root: int) -> int:
        if root in self.products:
            return PRODUCT_ALIGNMENT
        return STEP_ALIGNMENT if root in self.stepped else OTHER_ALIGNMENT

    def life(self, roots: Sequence[int]) -> tuple[int, int]:
        lives = [self.events.lives[value] for root in roots for value in self.touched[root]]
        return min(first for first, _ in lives), max(last for _, last in lives)

    def add(self, template: RequestTemplate, row: ByteArray) -> None:
        for root in template.roots:
            self.holder[root] = len(self.templates)
        self.templates.append(template)
        self.rows.append(row)

    def memory_class(self, root: int) -> MemoryClass:
        """That of the touched value with the largest id."""
        return self.program.values[self.touched[root][-1]].layout.memory_class

    def sequences(self) -> None:
        """The members of each iterated input, as one request."""
        for repeat in self.events.repeats:
            for members in repeat.iterated:
                roots = tuple(self.groups.roots[member] for member in members)
                known = {self.holder.get(root) for root in roots}
                if not roots or (None not in known and len(known) == 1 and self._held_by(known.pop(), roots)):
                    continue
                if known != {None} or len(set(roots)) < len(roots):
                    raise PlanError("repeat iterated placement constraints overlap incompatibly", repeat.source)
                self._sequence(roots)

    def _held_by(self, holder: int | None, roots: tuple[int, ...]) -> bool:
        return holder is not None and set(self.templates[holder].roots) == set(roots)

    def _sequence(self, roots: tuple[int, ...]) -> None:
        grain = max(self.alignment(root) for root in roots)
        largest = self.group_row(roots[0])
        for root in roots[1:]:
            row = self.group_row(root)
            if row is not largest:
                largest = np.maximum(largest, row)
        kind = self.memory_class(roots[0])
        stride = (largest + grain - 1) & -grain
        self.add(RequestTemplate(kind, grain, *self.life(roots), roots), stride * len(roots))

    def groups_left(self) -> None:
        """Every group that no sequence holds, by ascending root."""
        for root in sorted(self.touched):
            if root not in self.holder:
                row = self.group_row(root)
                if row.any():
                    kind = self.memory_class(root)
                    self.add(RequestTemplate(kind, self.alignment(root), *self.life([root]), (root,)), row)

    def scratch(self) -> None:
        for work in self.events.working:
            row = self.shards(work.result) * work.factor
            template = RequestTemplate(
                MemoryClass.STANDARD, STEP_ALIGNMENT, work.first, work.last, (), work.step, work.what
            )
            self.add(template, row)

    def conflicts(self, multicast: bool) -> tuple[Conflict, ...]:
        """What a Product reads first and makes; what a Copy multicasts to its own source's tile."""
        found: dict[frozenset[int], Conflict] = {}
        for entry in self.flat:
            step = entry.step
            mask: TileMask | None = None
            if isinstance(step, Product):
                mask = np.ones(self.program.tile_count, dtype=np.bool_)
            elif multicast:
                mask = multicast_tiles(step, self.program.values, self.program.tile_count)
                if mask is not None:
                    mask = mask & (self.shards(step.inputs[0]) > 0) & (self.shards(step.results[0]) > 0)
            if mask is not None:
                self._meet(step, mask, found)
        return tuple(found.values())

    def _meet(self, step: Step, mask: TileMask, found: dict[frozenset[int], Conflict]) -> None:
        one, other = self.groups.roots[step.inputs[0]], self.groups.roots[step.results[0]]
        first, second = self.holder.get(one), self.holder.get(other)
        if first is None or second is None or one == other:
            return
        if first == second:  # members of one sequence
            kind = self.templates[first]
            element = REGION1_ELEMENT if kind.memory_class is MemoryClass.INTERLEAVED else REGION0_ELEMENT
            self.templates[first] = RequestTemplate(
                kind.memory_class, max(kind.alignment, element), kind.first, kind.last, kind.roots, strided=True
            )
            return
        mask = mask & (self.rows[first] > 0) & (self.rows[second] > 0)
        known, inexact = found.get(frozenset((one, other))), not isinstance(step, Product)
        if known is not None:
            mask, inexact = mask | known.mask, inexact or known.multicast
        if mask.any():
            found[frozenset((one, other))] = Conflict((first, second), (one, other), mask, inexact)


def _classes(sizes: ByteArray, conflicts: Sequence[Conflict]) -> Iterator[TileClass]:
    """Group the tiles by their columns: bytes of every template, and where the approximate conflicts hold."""
    columns = np.vstack([sizes, *(conflict.mask[np.newaxis] for conflict in conflicts if conflict.multicast)])
    rows = np.ascontiguousarray(columns.T)
    alike: dict[bytes, list[int]] = {}
    for tile in range(len(rows)):
        alike.setdefault(rows[tile].tobytes(), []).append(tile)
    masks = np.array([conflict.mask for conflict in conflicts], dtype=np.bool_).reshape(len(conflicts), sizes.shape[1])
    for tiles in alike.values():
        column = sizes[:, tiles[0]]
        present = np.flatnonzero(column)
        yield TileClass(
            tuple(tiles),
            tuple(present.tolist()),
            tuple(column[present].tolist()),
            tuple(conflicts[index] for index in np.flatnonzero(masks[:, tiles[0]]).tolist()),
        )
