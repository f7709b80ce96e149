"""The table of operations: its columns, and what is counted in it, in words."""

from __future__ import annotations

from enum import IntEnum

from tileview.analysis.holdings import Holdings
from tileview.analysis.words import counted
from tileview.model.sizes import exact_text, percent_text
from tileview.present.operation_rows import OperationRow
from tileview.present.tables import EMPTY_CELL, Cell, Column, TableSpec, Tone, kib_cell

COUNTED = (
    "Counted under an operation: what it makes, the scratch of its steps, and the parameters and inputs it reads; a "
    "Repeat has those of its body as well."
)


class OperationColumn(IntEnum):
    OPERATION = 0
    KIND = 1
    SHARE = 2
    PLAN = 3
    BYTES = 4
    READ = 5
    ALTERNATIVES = 6
    FIRST_STEP = 7
    LAST_STEP = 8


class OperationSpec(TableSpec[OperationRow]):
    """op · kind · share of the usage · plan in words · bytes · of them read · alternatives · first and last step."""

    columns = (
        Column("Op", tip="Operation of the graph"),
        Column("Kind"),
        Column("Share", True, f"Of the known usage at the selected step and tile. {COUNTED}", "%"),
        Column("Plan in force", tip="The plan in words; a star marks one that is not the file's"),
        Column("Holds", True, f"Bytes counted under it at the selected step and tile. {COUNTED}", "bytes"),
        Column("Reads", True, "Of that, the parameters and inputs that it reads", "bytes"),
        Column("Plans", True, "How many plans the search kept for this operation: its alternatives"),
        Column("First", True, "The first step that belongs to the operation; of a Repeat, of its body as well"),
        Column("Last", True, "The last step that belongs to the operation; of a Repeat, of its body as well"),
    )

    def cell(self, row: OperationRow, column: int) -> Cell:
        match OperationColumn(column):
            case OperationColumn.OPERATION:
                return self._name(row)
            case OperationColumn.KIND:
                tip = f"{row.kind}\n{row.remark}" if row.remark else row.kind
                return Cell(row.short or row.kind, row.kind, tip, Tone.TEXT if row.is_known else Tone.WARNING)
            case OperationColumn.PLAN:
                text = f"* {row.plan}" if row.is_edited else row.plan
                tip = f"{row.plan} (not the file's plan)" if row.is_edited else row.plan
                return Cell(text, row.plan, tip, Tone.TEXT, row.is_edited)
            case OperationColumn.ALTERNATIVES:
                return EMPTY_CELL if row.alternatives is None else Cell(f"{row.alternatives:,}", row.alternatives)
            case OperationColumn.BYTES:
                return self._bytes(row)
            case OperationColumn.READ:
                return kib_cell(row.read) if row.read else EMPTY_CELL
            case OperationColumn.SHARE:
                return self._share(row)
            case OperationColumn.FIRST_STEP:
                return EMPTY_CELL if row.first_step is None else Cell(f"{row.first_step:,}", row.first_step)
            case OperationColumn.LAST_STEP:
                return EMPTY_CELL if row.last_step is None else Cell(f"{row.last_step:,}", row.last_step)

    def _name(self, row: OperationRow) -> Cell:
        if row.operation is None:
            return Cell("" if row.step is not None else "–", -1)
        if not row.is_known:
            return Cell(f"? {row.operation}", row.operation, f"Unknown: {row.remark}", Tone.WARNING)
        return Cell(str(row.operation), row.operation, row.kind)

    def _share(self, row: OperationRow) -> Cell:
        if not row.usage or not (row.bytes or row.unavailable):
            return EMPTY_CELL
        value = round(100 * row.bytes / row.usage, 3)
        share = percent_text(row.bytes, row.usage)
        if row.unavailable:
            return Cell(f"≥ {share}" if row.bytes else "n/a", value, split_words(row), Tone.UNAVAILABLE)
        return Cell(share, value, split_words(row))

    def _bytes(self, row: OperationRow) -> Cell:
        if row.unavailable:
            tip = f"{exact_text(row.bytes)} known; {counted(row.unavailable, 'allocation')} unavailable"
            return Cell(f"≥ {kib_cell(row.bytes).text}", row.bytes, tip, Tone.UNAVAILABLE)
        return kib_cell(row.bytes) if row.bytes else EMPTY_CELL


def split_words(row: OperationRow) -> str:
    """What a row's bytes are made of: ``96,768 B of 568,312 B: makes 0 B, reads 96,768 B of parameters and inputs``."""
    words = f"{exact_text(row.bytes)} of {exact_text(row.usage)}"
    if row.operation is not None:
        words += f": makes {exact_text(row.made)}, reads {exact_text(row.read)} of parameters and inputs"
    if row.unavailable:
        words += f"; {counted(row.unavailable, 'allocation')} unavailable, not in the sum"
    return words


def footer(held: Holdings, has_graph: bool) -> str:
    """What the shares add up to: ``568,312 B: 44.2 % made, 55.8 % parameters and inputs read``."""
    if not held.usage:
        return ""
    whole, parts = held.usage, []
    if has_graph:
        parts.append(f"{percent_text(sum(held.own.values()), whole)} made")
        what = "parameters and inputs" if held.has_hosts else "parameters"
        parts.append(f"{percent_text(sum(held.read.values()), whole)} {what} read")
        if held.outside:
            parts.append(f"{percent_text(held.outside, whole)} under no operation")
    else:
        parts.append(f"{percent_text(sum(held.own.values()), whole)} made by steps")
        parts.append(f"{percent_text(held.outside, whole)} there from the start")
    words = f"{exact_text(whole)}: {', '.join(parts)}"
    missing = sum(held.unavailable.values()) + held.unavailable_outside
    if missing:
        words += f"; {counted(missing, 'allocation')} unavailable, not in the sum"
    return words


def counted_words(held: Holdings, has_graph: bool) -> str:
    """The rule by which bytes are shared out, for a tooltip."""
    if not has_graph:
        return (
            "A timeline alone does not say who reads an allocation: each is counted under the operation of the step "
            "at which it is first live, scratch under the operation of the step. What is live at the first step has a "
            "row of its own. All rows add up to the usage of the tile."
        )
    words = f"{COUNTED} All outermost rows add up to the usage of the tile, as in the graph."
    if held.shared:
        words += (
            f" {percent_text(held.shared, held.usage)} ({exact_text(held.shared)}) are read by several operations: "
            "counted for the first."
        )
    return words
