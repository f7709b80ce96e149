"""The allocations of one tile at one step, as rows that add up to the usage shown.

An allocation's bytes on a tile are the largest over its values, each (payload + access tail + alignment) · copies; a
row shows the split of the value that decides. Beside the rows stands the step's scratch. Whatever the usage of a file
holds beyond them (a file may disagree with itself) is a row of its own, so that the sum is exact in every case and
the disagreement is seen.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from tileview.analysis.linkage import Counterparts, FigureDifference
from tileview.analysis.words import (
    at_start,
    class_words,
    counted,
    name_parts,
    precision_short,
    scratch_name,
    shape_text,
    step_place,
)
from tileview.model.sizes import UNAVAILABLE, Size, Unavailable, exact_text, percent_text
from tileview.model.tensor import MemoryClass
from tileview.model.timeline import Timeline, fullest_tile, last_largest
from tileview.present.tables import (
    EMPTY_CELL,
    Cell,
    Column,
    Field,
    Node,
    Room,
    TableSpec,
    Tone,
    bytes_cell,
    kib_cell,
    matches,
    signed_exact,
)


class RowKind(StrEnum):
    ALLOCATION = "allocation"
    SCRATCH = "scratch"
    GROUP = "group"
    UNEXPLAINED = "unexplained"
    """Usage that a file states beyond its allocations and scratch."""


@dataclass(frozen=True, slots=True)
class Making:
    """The operation whose plan makes an allocation (None: a step that belongs to none), what it makes, and of what."""

    maker: int | None
    what: str = ""
    of: str = ""


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
    made: Making | None = None
    """None of what is there from the start, and of what nothing explains."""

    @property
    def maker(self) -> int | None:
        """The operation whose plan makes it."""
        return None if self.made is None else self.made.maker


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
        is_one = stop == start + 1
        entry = self.timeline.steps[start]
        name = scratch_name(self.timeline, start) if is_one else "scratch"
        made = Making(entry.source if is_one else None, f"scratch of its {entry.kind}")
        rows = [
            AllocationRow(RowKind.SCRATCH, None, name, "", memory_class, size, 0, 0, 1, size, 0, made=made)
            for memory_class, size in zip((MemoryClass.STANDARD, MemoryClass.INTERLEAVED), largest, strict=True)
            if size
        ]
        if unavailable:
            rows.append(
                AllocationRow(
                    RowKind.SCRATCH,
                    None,
                    name,
                    "",
                    MemoryClass.STANDARD,
                    None,
                    None,
                    None,
                    1,
                    UNAVAILABLE,
                    0,
                    made=made,
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
    parts = name_parts(timeline, root)
    name = str(parts)
    made = Making(parts.maker, parts.what, parts.of) if root in timeline.made_at else None
    members = timeline.aliases.get(root, (root,))
    tensor = f"{shape_text(value.shape)} {precision_short(value.precision)}"
    memory_class = timeline.values[members[-1]].memory_class
    if root in timeline.unavailable_roots:
        reasons = [timeline.values[i].layout_error for i in members if timeline.values[i].layout_error]
        return AllocationRow(
            RowKind.ALLOCATION, root, name, value.group, memory_class, None, None, None, value.copies,
            UNAVAILABLE, 0, len(members), root, reasons[0] or "" if reasons else "", tensor, made=made,
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
        len(members), decides, note, tensor, made=made,
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


def flat_nodes(table: AllocationTable) -> tuple[Node[AllocationRow], ...]:
    """One node a row; an allocation's key is its root."""
    return tuple(Node(_key(row), row) for row in table.rows)


def grouped_nodes(table: AllocationTable) -> tuple[Node[AllocationRow], ...]:
    """What belongs together under one node with its sum, by class: what one operation's plan makes, the tensors of a
    parameter sequence."""
    groups: dict[Hashable, list[AllocationRow]] = {}
    for row in table.rows:
        groups.setdefault(_group_key(row), []).append(row)
    nodes: list[Node[AllocationRow]] = []
    for key, members in groups.items():
        children = tuple(Node(_key(row), row) for row in members)
        nodes.append(children[0] if len(members) == 1 else Node(("group", key), _group_row(members), children))
    return tuple(nodes)


def _group_key(row: AllocationRow) -> Hashable:
    if row.maker is not None:
        return ("op", row.maker, row.memory_class)
    if row.kind is RowKind.ALLOCATION:
        return (row.group, row.memory_class)
    return _key(row)


def _key(row: AllocationRow) -> Hashable:
    return row.root if row.root is not None else (row.kind, row.memory_class, isinstance(row.bytes, Unavailable))


def _group_name(members: Sequence[AllocationRow]) -> str:
    """``op 21: copy and cast of op 20's result``; of inputs the name of their sequence."""
    maker = members[0].maker
    if maker is None:
        return members[0].group
    makings = [row.made for row in members if row.made is not None]
    whats = list(dict.fromkeys(made.what for made in makings))
    shown, left = whats[:_MOST_NAMED], len(whats) - _MOST_NAMED
    last = f"{left} more" if left > 0 else shown.pop()
    words = f"{', '.join(shown)} and {last}" if shown else last
    of = {made.of for made in makings}
    return f"op {maker}: {words}" + (f" of {of.pop()}" if len(of) == 1 and "" not in of else "")


def _group_row(members: Sequence[AllocationRow]) -> AllocationRow:
    """Sums over a group; unavailable members are left out and named in the note."""
    name = _group_name(members)
    known = [row for row in members if not isinstance(row.bytes, Unavailable)]
    unknown = len(members) - len(known)
    note = f"{counted(unknown, 'member')} unavailable, not in the sum" if unknown else ""

    def summed(sizes: list[Size | None]) -> Size | None:
        return sum(size for size in sizes if isinstance(size, int))

    copies = {row.copies for row in known} if known else {None}
    return AllocationRow(
        RowKind.GROUP,
        None,
        name,
        members[0].group,
        members[0].memory_class,
        summed([row.payload for row in known]) if copies <= {1} else None,
        summed([row.align for row in known]) if copies <= {1} else None,
        summed([row.tail for row in known]) if copies <= {1} else None,
        None,
        sum(row.bytes for row in known if isinstance(row.bytes, int)) if known else UNAVAILABLE,
        members[0].usage,
        len(members),
        None,
        note,
        "What one plan makes" if members[0].maker is not None else "A parameter sequence",
        unknown,
        made=members[0].made,
    )


# -- the table ------------------------------------------------------------------------------------------------------


_MOST_NAMED = 3
UNSIZED_MARK = "✗"
"""Before the name of what has no size, so that it is seen without colour."""


def _name(row: AllocationRow) -> Cell:
    mark = f"{UNSIZED_MARK} " if row.unsized or isinstance(row.bytes, Unavailable) else ""
    if row.kind is RowKind.GROUP:
        tone = Tone.UNAVAILABLE if mark else Tone.TEXT
        return Cell(f"{mark}{row.name} ({row.members})", row.name, row.note or row.tensor, tone, bold=True)
    if row.kind is RowKind.UNEXPLAINED:
        return Cell(f"! {row.name}", row.name, row.note, Tone.WARNING)
    if row.kind is RowKind.SCRATCH:
        tone = Tone.UNAVAILABLE if mark else Tone.MUTED
        return Cell(mark + row.name, row.name, "Temporary memory of the step itself", tone, bool(mark))
    tip = f"{row.name} {row.tensor}"
    if row.members > 1:
        tip += f": {row.members} values share this memory"
    if mark:
        tip += "\nIts size is unavailable: it is in no sum."
    if row.note:
        tip += f"\n{row.note}"
    tone = Tone.UNAVAILABLE if mark else Tone.TEXT
    return Cell(mark + row.name, row.name, tip, tone, bool(mark))


def _maker(row: AllocationRow) -> Cell:
    if row.maker is not None:
        return Cell(f"op {row.maker}", row.maker, f"The plan of operation {row.maker} makes it")
    if row.kind is RowKind.UNEXPLAINED or row.made is not None:
        return EMPTY_CELL
    return Cell("input", None, "There from the start: a parameter or another input", Tone.MUTED)


def _part(size: Size | None) -> Cell:
    if size is None:
        return EMPTY_CELL
    if size == 0:
        return Cell("0 B", 0, tone=Tone.MUTED)
    return bytes_cell(size)


def _spare(title: str, tip: str, take: Callable[[AllocationRow], Size | None], sample: str) -> Column:
    """A part of the bytes, where there is room for it."""
    return Column(title, True, tip, "bytes", cell=lambda row: _part(take(row)), sample=sample, room=Room.SPARE)


def _size(row: AllocationRow, cell: Cell) -> Cell:
    """A sum that leaves members out is said to be a lower bound."""
    if not row.unsized or isinstance(row.bytes, Unavailable):
        return cell
    return replace(cell, text=f"≥ {cell.text}", tone=Tone.UNAVAILABLE)


def _bytes(row: AllocationRow) -> Cell:
    return _size(row, bytes_cell(row.bytes, row.note, row.kind is RowKind.GROUP))


def _kib(row: AllocationRow) -> Cell:
    if isinstance(row.bytes, Unavailable):
        return Cell("–", row.bytes, "unavailable", Tone.UNAVAILABLE)
    return _size(row, kib_cell(row.bytes, row.note, row.kind is RowKind.GROUP))


def _share(row: AllocationRow) -> Cell:
    if isinstance(row.bytes, Unavailable) or not row.usage:
        return EMPTY_CELL
    text = percent_text(row.bytes, row.usage)
    tip = f"{exact_text(row.bytes)} of {exact_text(row.usage)}, which is all of the tile whatever the filter"
    return Cell(text, round(100 * row.bytes / row.usage, 3), tip)


def _linked(row: AllocationRow) -> Cell:
    """The linked file's bytes: named the same where they are, else with what they differ by from those here."""
    if row.linked is None:
        return Cell("–", None, "Nothing there matches", Tone.MUTED) if row.root is not None else EMPTY_CELL
    words = FigureDifference(row.bytes, row.linked)
    if row.bytes == row.linked:
        return Cell("same", row.linked, words.words(), Tone.MUTED)
    if words.delta is None:
        return Cell("unavailable", row.linked, words.words(), Tone.UNAVAILABLE)
    tone = Tone.OVER if words.delta > 0 else Tone.OK
    return Cell(signed_exact(words.delta), row.linked, words.words(), tone)


def _sorted_size(row: AllocationRow) -> Field:
    """What has no size may well be what does not fit: by size it stands above all that has one."""
    return UNAVAILABLE if row.unsized else row.bytes


class AllocationSpec(TableSpec[AllocationRow]):
    """The columns; sums of groups stay out of CSV, so that what stands there adds up to the usage."""

    def is_exported(self, row: AllocationRow) -> bool:
        return row.kind is not RowKind.GROUP


ALLOCATIONS: Final = AllocationSpec(
    (
        Column(
            "Allocation",
            tip="What it is: what makes it, of what, in which precision, and its number",
            cell=_name,
            sample="op 21's copy of op 20's result (F16) #454",
            room=Room.SHARED,
            is_seen=True,
        ),
        Column("Made by", tip="The operation whose plan makes it", cell=_maker, sample="op 1234", is_seen=True),
        Column(
            "Class",
            tip="Standard memory, or memory of the interleaved region",
            cell=lambda row: Cell(class_words(row.memory_class), class_words(row.memory_class)),
            sample="interleaved",
            room=Room.SPARE,
        ),
        Column(
            "Payload",
            True,
            "The largest shard on the tile, without tail and alignment",
            "bytes",
            cell=lambda row: _part(row.payload),
            sample="586,960 B",
        ),
        _spare("Align", "Added by rounding up to whole memory elements", lambda row: row.align, "16,384 B"),
        _spare(
            "Tail",
            "Bytes that a matrix product may read past the end of its left operand",
            lambda row: row.tail,
            "16 B",
        ),
        Column(
            "Copies",
            True,
            "Bytes = (payload + align + tail) × copies",
            cell=lambda row: EMPTY_CELL if row.copies is None else Cell(f"{row.copies:,}", row.copies),
            sample="1",
            room=Room.SPARE,
        ),
        Column(
            "Bytes",
            True,
            "What the allocation takes on the tile",
            "bytes",
            cell=_bytes,
            sample="unavailable B",
            is_seen=True,
            sort=_sorted_size,
            unknown_first=True,
        ),
        Column(
            "KiB",
            True,
            "The bytes in KiB",
            "kib",
            cell=_kib,
            sample="1,573.2 KiB",
            room=Room.SPARE,
            sort=_sorted_size,
            field=lambda row: round(row.bytes / 1024, 1) if isinstance(row.bytes, int) else row.bytes,
            unknown_first=True,
        ),
        Column(
            "Share",
            True,
            "Of the known usage of the tile, whatever the filter",
            "%",
            cell=_share,
            sample="100.0 %",
            is_seen=True,
            sort=_sorted_size,
            unknown_first=True,
        ),
        Column(
            "Linked",
            True,
            "What the linked file has in its place on the same tile",
            "bytes",
            cell=_linked,
            sample="−158,976 B",
        ),
    )
)
"""name · maker · class · payload · align · tail · copies · bytes · KiB · share · the linked file's bytes."""


def allocations_headline(table: AllocationTable, timeline: Timeline | None) -> str:
    """Where the table looks: step, tile, and which rule chose the tile."""
    if timeline is None or not timeline.steps:
        return "No steps"
    if table.is_span:
        where = f"steps {table.span[0]} … {table.span[1] - 1}"
        on = "largest on any tile" if table.tile is None else f"on tile {table.tile}"
        return f"Live anywhere in {where}, {on}"
    step = timeline.steps[table.step]
    rule = "fullest " if table.tile_is_worst else ""
    return f"{at_start(step_place(table.step, len(timeline.steps)))}, {step.kind}, {rule}tile {table.tile}"


def allocations_footer(table: AllocationTable) -> str:
    """Sums by class, in words; they equal the usage of the tile at the step."""
    totals = table.totals
    words = (
        f"{counted(len(table.rows), 'row')}: standard {exact_text(totals.standard)} + interleaved "
        f"{exact_text(totals.interleaved)} = {exact_text(totals.total)}"
    )
    if table.is_span:
        words += " (not live all at once)"
    if totals.unavailable:
        words += f"; {counted(totals.unavailable, 'row')} unavailable, not in the sum"
    return words
