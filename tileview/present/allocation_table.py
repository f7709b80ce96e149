"""The allocation table: nodes flat or grouped, columns, headline and footer."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from enum import IntEnum

from tileview.analysis.linkage import Difference
from tileview.analysis.words import class_words, counted
from tileview.model.sizes import UNAVAILABLE, Size, Unavailable, exact_text, percent_text
from tileview.model.tensor import MemoryClass
from tileview.model.timeline import Timeline
from tileview.present.allocation_rows import AllocationRow, AllocationTable, RowKind
from tileview.present.csvtext import Field
from tileview.present.places import at_start, step_place
from tileview.present.tables import EMPTY_CELL, Cell, Column, Node, TableSpec, Tone, bytes_cell, kib_cell, signed_exact


def flat_nodes(table: AllocationTable) -> tuple[Node[AllocationRow], ...]:
    """One node a row; an allocation's key is its root."""
    return tuple(Node(_key(row), row) for row in table.rows)


def grouped_nodes(table: AllocationTable) -> tuple[Node[AllocationRow], ...]:
    """Rows of the same group (the tensors of a parameter sequence) under one node with their sums, by class."""
    groups: dict[tuple[str, MemoryClass], list[AllocationRow]] = {}
    order: list[tuple[str, MemoryClass] | AllocationRow] = []
    for row in table.rows:
        if row.kind is not RowKind.ALLOCATION:
            order.append(row)
            continue
        key = (row.group, row.memory_class)
        if key not in groups:
            order.append(key)
        groups.setdefault(key, []).append(row)
    nodes: list[Node[AllocationRow]] = []
    for entry in order:
        if isinstance(entry, AllocationRow):
            nodes.append(Node(_key(entry), entry))
            continue
        members = groups[entry]
        if len(members) == 1:
            nodes.append(Node(_key(members[0]), members[0]))
        else:
            children = tuple(Node(_key(row), row) for row in members)
            nodes.append(Node(("group", *entry), _group_row(entry[0], members), children))
    return tuple(nodes)


def _key(row: AllocationRow) -> Hashable:
    return row.root if row.root is not None else (row.kind, row.memory_class, isinstance(row.bytes, Unavailable))


def _group_row(group: str, members: Sequence[AllocationRow]) -> AllocationRow:
    """Sums over a group; unavailable members are left out and named in the note."""
    known = [row for row in members if not isinstance(row.bytes, Unavailable)]
    unknown = len(members) - len(known)
    note = f"{counted(unknown, 'member')} unavailable, not in the sum" if unknown else ""

    def summed(sizes: list[Size | None]) -> Size | None:
        return sum(size for size in sizes if isinstance(size, int))

    copies = {row.copies for row in known}
    return AllocationRow(
        RowKind.GROUP,
        None,
        group,
        group,
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
        unsized=unknown,
    )


# -- the table ------------------------------------------------------------------------------------------------------


UNSIZED_MARK = "✗"
"""Before the name of what has no size, so that it is seen without colour."""


class AllocationColumn(IntEnum):
    NAME = 0
    CLASS = 1
    PAYLOAD = 2
    ALIGN = 3
    TAIL = 4
    COPIES = 5
    BYTES = 6
    SHARE = 7
    KIB = 8
    LINKED = 9


_SIZES = frozenset({AllocationColumn.BYTES, AllocationColumn.SHARE, AllocationColumn.KIB})


class AllocationSpec(TableSpec[AllocationRow]):
    """name · class · payload · align · tail · copies · bytes · share · KiB · the linked file's bytes."""

    columns = (
        Column("Name", tip="The tensor that the allocation is named after"),
        Column("Class", tip="Standard memory, or memory of the interleaved region"),
        Column("Payload", True, "The largest shard on the tile, without tail and alignment", "bytes"),
        Column("Align", True, "Added by rounding up to whole memory elements", "bytes"),
        Column("Tail", True, "Bytes that a matrix product may read past the end of its left operand", "bytes"),
        Column("Copies", True, "Bytes = (payload + align + tail) × copies"),
        Column("Bytes", True, "What the allocation takes on the tile", "bytes"),
        Column("Share", True, "Of the known usage of the tile", "%"),
        Column("KiB", True, "The bytes in KiB", "kib"),
        Column("Linked", True, "What the linked file has in its place on the same tile", "bytes"),
    )

    def cell(self, row: AllocationRow, column: int) -> Cell:
        match AllocationColumn(column):
            case AllocationColumn.NAME:
                return self._name(row)
            case AllocationColumn.CLASS:
                return Cell(class_words(row.memory_class), class_words(row.memory_class))
            case AllocationColumn.PAYLOAD:
                return self._part(row, row.payload)
            case AllocationColumn.ALIGN:
                return self._part(row, row.align)
            case AllocationColumn.TAIL:
                return self._part(row, row.tail)
            case AllocationColumn.COPIES:
                return EMPTY_CELL if row.copies is None else Cell(f"{row.copies:,}", row.copies)
            case AllocationColumn.BYTES:
                return self._size(row, bytes_cell(row.bytes, row.note, row.kind is RowKind.GROUP))
            case AllocationColumn.KIB:
                if isinstance(row.bytes, Unavailable):
                    return Cell("–", row.bytes, "unavailable", Tone.UNAVAILABLE)
                return self._size(row, kib_cell(row.bytes, row.note, row.kind is RowKind.GROUP))
            case AllocationColumn.SHARE:
                return self._share(row)
            case AllocationColumn.LINKED:
                return self._linked(row)

    def fields(self, row: AllocationRow) -> list[Field]:
        found = super().fields(row)
        if isinstance(row.bytes, int):
            found[AllocationColumn.KIB] = round(row.bytes / 1024, 1)
        return found

    def sort_value(self, row: AllocationRow, column: int) -> Field:
        if column in _SIZES:
            return UNAVAILABLE if row.unsized else row.bytes
        return self.cell(row, column).value

    def unknown_leads(self, column: int) -> bool:
        """What has no size may well be what does not fit: by size it stands above all that has one."""
        return column in _SIZES

    def _size(self, row: AllocationRow, cell: Cell) -> Cell:
        """A sum that leaves members out is said to be a lower bound."""
        return replace(cell, text=f"≥ {cell.text}", tone=Tone.UNAVAILABLE) if row.unsized else cell

    def _name(self, row: AllocationRow) -> Cell:
        mark = f"{UNSIZED_MARK} " if row.unsized or isinstance(row.bytes, Unavailable) else ""
        if row.kind is RowKind.GROUP:
            tone = Tone.UNAVAILABLE if mark else Tone.TEXT
            tip = row.note or "A parameter sequence"
            return Cell(f"{mark}{row.name} ({row.members})", row.name, tip, tone, bold=True)
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

    def _part(self, row: AllocationRow, size: Size | None) -> Cell:
        if size is None:
            return EMPTY_CELL
        if size == 0:
            return Cell("0 B", 0, tone=Tone.MUTED)
        return bytes_cell(size)

    def _linked(self, row: AllocationRow) -> Cell:
        """The linked file's bytes: named the same where they are, else with what they differ by from those here."""
        if row.linked is None:
            return Cell("–", None, "Nothing there matches", Tone.MUTED) if row.root is not None else EMPTY_CELL
        words = Difference(row.bytes, row.linked)
        if row.bytes == row.linked:
            return Cell("same", row.linked, words.words(), Tone.MUTED)
        if words.delta is None:
            return Cell("unavailable", row.linked, words.words(), Tone.UNAVAILABLE)
        tone = Tone.OVER if words.delta > 0 else Tone.OK
        return Cell(signed_exact(words.delta), row.linked, words.words(), tone)

    def _share(self, row: AllocationRow) -> Cell:
        if isinstance(row.bytes, Unavailable) or not row.usage:
            return EMPTY_CELL
        text = percent_text(row.bytes, row.usage)
        return Cell(text, round(100 * row.bytes / row.usage, 3), f"{exact_text(row.bytes)} of {exact_text(row.usage)}")


def headline(table: AllocationTable, timeline: Timeline | None) -> str:
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


def footer(table: AllocationTable) -> str:
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
