"""The comparison as a table of up to four columns, and the curves of the states on one scale."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tileview.model.sizes import percent_text
from tileview.model.timeline import Timeline
from tileview.present.compare_states import MISSING, MOST_STATES, CompareRow, CompareState, Section
from tileview.present.csvtext import Field
from tileview.present.tables import EMPTY_CELL, Cell, Column, TableSpec, Tone, signed_exact, signed_kib

_WORDY = frozenset({Section.PLANS, Section.HOMES})
"""Sections whose entries are long words: those read from the left."""


class CompareSpec(TableSpec[CompareRow]):
    """What · one column a state; always four of those, so that pinning a state changes no column count."""

    def __init__(self, names: Sequence[str] = ()) -> None:
        self.is_compact = False
        """Whether figures that differ stand on two lines: bytes and per cent, below them the difference."""
        self.set_names(names)

    def set_names(self, names: Sequence[str]) -> None:
        """Take the states' names as titles."""
        titles = [*names[:MOST_STATES], *[""] * (MOST_STATES - len(names))]
        self.columns = (Column("What"), *(Column(title, True, title) for title in titles))

    def is_right(self, row: CompareRow, column: int) -> bool:
        return column > 0 and row.section not in _WORDY

    def cell(self, row: CompareRow, column: int) -> Cell:
        return self._cell(row, column, self.is_compact)

    def _cell(self, row: CompareRow, column: int, is_compact: bool) -> Cell:
        if column == 0:
            return Cell(row.label, row.label, row.tip, bold=row.is_head)
        entry = row.entries[column - 1] if column <= len(row.entries) else None
        if entry is None:
            return EMPTY_CELL
        if entry.delta is None:
            value = entry.text if entry.size is None and entry.text != MISSING else entry.size
            return Cell(entry.text, value, entry.tip, entry.tone)
        if entry.delta == 0:
            return Cell(f"{entry.text}  (same)", entry.size, entry.tip, Tone.MUTED)
        percent = percent_text(entry.delta, entry.base, signed=True) if entry.base else ""
        difference = f"{signed_kib(entry.delta)}, {percent}" if percent else signed_kib(entry.delta)
        exact = f"{signed_exact(entry.delta)}, {percent}" if percent else signed_exact(entry.delta)
        tone = Tone.OVER if entry.delta > 0 else Tone.OK
        text = f"{entry.text}  ({difference})"
        if is_compact:
            text = f"{entry.text}  {percent}".rstrip() + f"\n{signed_kib(entry.delta)}"
        return Cell(text, entry.size, f"{entry.tip}  ({exact})", tone)

    def fields(self, row: CompareRow) -> list[Field]:
        cells = [self._cell(row, column, False) for column in range(len(self.columns))]
        return [cells[0].text, *(cell.text if cell.value is None else cell.value for cell in cells[1:])]


# -- curves ---------------------------------------------------------------------------------------------------------


def sparkline(timeline: Timeline | None, width: int) -> npt.NDArray[np.int64]:
    """(≤ width,): the largest total of any step that falls into each column; a peak of one step is never lost."""
    if timeline is None or not timeline.steps or width <= 0:
        return np.zeros(0, dtype=np.int64)
    totals = timeline.tiles.worst()[:, 2]
    if len(totals) <= width:
        return totals.astype(np.int64)
    starts = np.arange(width, dtype=np.int64) * len(totals) // width
    return np.maximum.reduceat(totals, starts).astype(np.int64)


def shared_top(states: Sequence[CompareState]) -> int:
    """The top of the scale that all curves share: the largest total with its reserve, or budget, of any state."""
    tops = [0]
    for state in states:
        timeline = state.timeline
        if timeline is not None:
            worst = timeline.tiles.worst()
            highest = int(worst[:, 2].max()) if len(worst) else 0
            tops.extend((highest + timeline.reserve_bytes, timeline.budget_bytes))
    return max(tops)
