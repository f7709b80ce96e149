"""What the tiles of a lowered program ask for: one request a group of values, a sequence, or a buffer of scratch.

Built for all tiles at once: a :class:`RequestTemplate` says what is the same on every tile, rows over the tiles say how
many bytes it asks for there (none: no request) and where two of them conflict. Tiles whose requests are equal, roots
and conflicts included, form a class and need one look.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from tileview.core.columns import program_columns
from tileview.core.memory.footprint import footprint
from tileview.core.memory.groups import Groups, group_values
from tileview.core.placement.events import Events, find_events
from tileview.core.placement.fit import Asked
from tileview.core.placement.multicast import TileMask, multicast_tiles
from tileview.errors import PlanError
from tileview.model.placement import REGION0_ELEMENT, REGION1_ELEMENT, Memory, Request
from tileview.model.program import FlatStep, Product, Program, Step
from tileview.model.tensor import MemoryClass
from tileview.model.timeline import ByteArray

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
