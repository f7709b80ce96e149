"""The allocations of one tile at one step, as rows that add up to the usage shown.

An allocation's bytes on a tile are the largest over its values, each (payload + access tail + alignment) · copies; a
row shows the split of the value that decides. Beside the rows stands the step's scratch. Whatever the usage of a file
holds beyond them (a file may disagree with itself) is a row of its own, so that the sum is exact in every case and
the disagreement is seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from tileview.analysis.allocation_names import allocation_name, scratch_name
from tileview.analysis.linkage import Counterparts
from tileview.analysis.words import precision_short, shape_text
from tileview.model.sizes import UNAVAILABLE, Size, Unavailable
from tileview.model.tensor import MemoryClass
from tileview.model.timeline import Timeline, fullest_tile, last_largest
from tileview.present.tables import matches


class RowKind(StrEnum):
    ALLOCATION = "allocation"
    SCRATCH = "scratch"
    GROUP = "group"
    UNEXPLAINED = "unexplained"
    """Usage that a file states beyond its allocations and scratch."""


@dataclass(frozen=True, slots=True)
class AllocationRow:
    """One row. All sizes are bytes on the tile; (payload + tail + align) · copies = bytes where ``split`` is True.

    ``root`` is None for scratch and groups. ``tail`` and ``payload`` are of the value that decides; ``align`` is what
    rounding up to memory elements adds. ``usage`` is the tile's known total, which ``share`` refers to.
    """

    kind: RowKind
    root: int | None
    name: str
    group: str
    memory_class: MemoryClass
    payload: Size | None
    align: Size | None
    tail: Size | None
    copies: int | None
    bytes: Size
    usage: int
    members: int = 1
    value: int | None = None
    """Index of the value that decides."""
    note: str = ""
    tensor: str = ""
    """Shape and precision, for the tip."""
    unsized: int = 0
    """Members of a group that are unavailable and so in none of its sums."""
    linked: Size | None = None
    """What the linked file has in its place on the same tile; None where nothing is linked or nothing matches."""


@dataclass(frozen=True, slots=True)
class ClassTotals:
    """Sums by class of what is known, equal to the tile's usage; ``unavailable`` counts the rows left out."""

    standard: int
    interleaved: int
    unavailable: int

    @property
    def total(self) -> int:
        return self.standard + self.interleaved


@dataclass(frozen=True, slots=True)
class AllocationTable:
    """Rows and sums. ``tile`` is None where figures are the largest on any tile (a span without a tile).

    ``span`` is the half-open range of steps that the rows are gathered from; one step where ``is_span`` is False.
    """

    rows: tuple[AllocationRow, ...]
    totals: ClassTotals
    step: int
    tile: int | None
    tile_is_worst: bool
    span: tuple[int, int]
    is_span: bool
    budget_bytes: int
    reserve_bytes: int


EMPTY_TABLE = AllocationTable((), ClassTotals(0, 0, 0), 0, None, True, (0, 0), False, 0, 0)


class AllocationFigures:
    """Figures of one timeline's allocations, kept while one scrubs through its steps.

    What an allocation takes on a tile does not depend on the step, so a row is computed once per tile.
    """

    def __init__(self, timeline: Timeline, counterparts: Counterparts | None = None) -> None:
        self.timeline = timeline
        self.counterparts = counterparts
        self._tile: int | None = -1
        self._figures: dict[int, AllocationRow | None] = {}

    def table(
        self, step: int, tile: int | None = None, span: tuple[int, int] | None = None, names: str = ""
    ) -> AllocationTable:
        """The rows at (step, tile), or over a span of steps.

        Parameters
        ----------
        step : int
            Index into the steps; clipped.
        tile : int or None
            None is the tile with the largest total at the step; over a span each row's largest tile.
        span : (start, stop) or None
            Half-open range of steps: every allocation live anywhere in it.
        names : str
            Words that a row's name or group must contain. Sums are of what is shown, shares of all that is there.
        """
        timeline = self.timeline
        steps = len(timeline.steps)
        if not steps:
            return EMPTY_TABLE
        step = min(max(step, 0), steps - 1)
        is_worst = tile is None
        if span is None:
            if tile is None:
                tile = fullest_tile(timeline.tiles, step)
            start, stop = step, step + 1
        else:
            start, stop = max(span[0], 0), min(span[1], steps)
        self._turn_to(tile)
        roots: set[int] = set()
        for index in range(start, stop):
            roots.update(timeline.steps[index].live)
        rows = [row for root in sorted(roots) if (row := self._row(root, tile)) is not None]
        rows.extend(self._scratch_rows(start, stop, tile))
        if span is None and tile is not None:
            rows.extend(self._unexplained(step, tile, rows))
        usage = _totals(rows).total
        rows = [replace(row, usage=usage) for row in rows if matches(names, row.name, row.group)]
        totals = _totals(rows)
        return AllocationTable(
            tuple(rows),
            totals,
            step,
            tile,
            is_worst,
            (start, stop),
            span is not None,
            timeline.budget_bytes,
            timeline.reserve_bytes,
        )

    def _turn_to(self, tile: int | None) -> None:
        if tile != self._tile:
            self._tile = tile
            self._figures.clear()

    def _row(self, root: int, tile: int | None) -> AllocationRow | None:
        if root not in self._figures:
            row = allocation_row(self.timeline, root, tile)
            if row is not None and self.counterparts is not None:
                row = replace(row, linked=self.counterparts.bytes_there(root, tile))
            self._figures[root] = row
        return self._figures[root]

    def _scratch_rows(self, start: int, stop: int, tile: int | None) -> list[AllocationRow]:
        """Scratch at a step; over a span the largest of it, by class."""
        largest: list[int] = [0, 0]
        unavailable = False
        for index in range(start, stop):
            coarse = self.timeline.steps[index].scratch
            if isinstance(coarse.total, Unavailable):
                unavailable = True
            elif coarse.total == 0:
                continue
            scratch = self.timeline.tiles.scratch(index)
            for column in (0, 1):
                size = scratch[:, column].max(initial=0) if tile is None else scratch[tile, column]
                largest[column] = max(largest[column], int(size))
        name = scratch_name(self.timeline, start) if stop == start + 1 else "scratch"
        rows = [
            AllocationRow(RowKind.SCRATCH, None, name, "", memory_class, size, 0, 0, 1, size, 0)
            for memory_class, size in zip((MemoryClass.STANDARD, MemoryClass.INTERLEAVED), largest, strict=True)
            if size
        ]
        if unavailable:
            rows.append(
                AllocationRow(
                    RowKind.SCRATCH, None, name, "", MemoryClass.STANDARD, None, None, None, 1, UNAVAILABLE, 0
                )
            )
        return rows

    def _unexplained(self, step: int, tile: int, rows: Sequence[AllocationRow]) -> list[AllocationRow]:
        """What the usage of a tile holds beyond its rows: nothing, unless a file is inconsistent."""
        usage = self.timeline.tiles.usage(step)[tile]
        sums = _totals(rows)
        found = []
        pairs = (
            (MemoryClass.STANDARD, int(usage[0]) - sums.standard),
            (MemoryClass.INTERLEAVED, int(usage[1]) - sums.interleaved),
        )
        for memory_class, difference in pairs:
            if difference:
                note = "The file's usage of this tile differs from the sum of its allocations and scratch by this much."
                found.append(
                    AllocationRow(
                        RowKind.UNEXPLAINED,
                        None,
                        "not accounted for by the file",
                        "",
                        memory_class,
                        None,
                        None,
                        None,
                        None,
                        difference,
                        0,
                        note=note,
                    )
                )
        return found


def allocation_row(timeline: Timeline, root: int, tile: int | None) -> AllocationRow | None:
    """The row of one allocation on a tile (None: its largest tile); None where it holds nothing there."""
    value = timeline.values[root]
    name = allocation_name(timeline, root)
    members = timeline.aliases.get(root, (root,))
    tensor = f"{shape_text(value.shape)} {precision_short(value.precision)}"
    memory_class = timeline.values[members[-1]].memory_class
    if root in timeline.unavailable_roots:
        reasons = [timeline.values[i].layout_error for i in members if timeline.values[i].layout_error]
        return AllocationRow(
            RowKind.ALLOCATION, root, name, value.group, memory_class, None, None, None, value.copies,
            UNAVAILABLE, 0, len(members), root, reasons[0] or "" if reasons else "", tensor,
        )  # fmt: skip
    sizes = timeline.tiles.allocation(root)
    at = last_largest(sizes) if tile is None else tile
    size = int(sizes[at])
    if size == 0:
        return None
    decides = next((i for i in members if int(timeline.tiles.value_bytes(i)[at]) == size), members[0])
    copies = timeline.values[decides].copies
    payload: Size | None = int(timeline.tiles.shards(decides)[at])
    tail: Size | None = timeline.tails.get(root, 0)
    align: Size | None = None
    note = ""
    if copies > 0 and size % copies == 0:
        assert isinstance(payload, int)
        assert isinstance(tail, int)
        align = size // copies - payload - tail
    if align is None or (isinstance(align, int) and align < 0):
        payload, tail, align = payload, None, None
        note = "The file's size of this allocation is not what its payload, tail and alignment give."
    return AllocationRow(
        RowKind.ALLOCATION, root, name, value.group, memory_class, payload, align, tail, copies, size, 0,
        len(members), decides, note, tensor,
    )  # fmt: skip


def _totals(rows: Sequence[AllocationRow]) -> ClassTotals:
    sums = {MemoryClass.STANDARD: 0, MemoryClass.INTERLEAVED: 0}
    unavailable = 0
    for row in rows:
        if isinstance(row.bytes, Unavailable):
            unavailable += 1
        else:
            sums[row.memory_class] += row.bytes
    return ClassTotals(sums[MemoryClass.STANDARD], sums[MemoryClass.INTERLEAVED], unavailable)
