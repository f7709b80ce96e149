"""The steps of a timeline as rows: what stands where the graph would be when there is no recipe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np

from tileview.analysis.overflows import steps_over
from tileview.model.kept import KeptFor
from tileview.model.sizes import exact_text, percent_text
from tileview.model.timeline import Timeline, TimelineStep, steps_read
from tileview.present.curves import unavailable_steps
from tileview.present.tables import EMPTY_CELL, Cell, Column, Node, TableSpec, Tone, kib_cell, matches


@dataclass(frozen=True, slots=True)
class StepRow:
    """One step.

    ``total``, ``standard`` and ``interleaved`` are the largest of any tile, in bytes, what is known of them; ``tile``
    is the (last) tile of the largest total, ``needed`` that with the reserve. ``over`` says by how much and of what,
    empty where nothing is over.
    """

    step: TimelineStep
    total: int
    standard: int
    interleaved: int
    tile: int
    needed: int
    budget: int
    unavailable: bool
    over: str
    peak: str


MOST_LISTED: Final = 20_000
"""Steps of which a list is made as a whole: a table of 50,000 rows is felt."""


def step_nodes(timeline: Timeline, query: str = "", within: tuple[int, int] | None = None) -> tuple[Node[StepRow], ...]:
    """All steps, or those whose operation text, operation id or number holds the words of ``query`` and that lie in a
    half-open range.
    """
    first, end = within or (0, len(timeline.steps))
    if not query:
        return _kept_nodes(timeline, range(first, min(end, len(timeline.steps))))
    steps = enumerate(timeline.steps[first:end], first)
    return _make_nodes(timeline, [place for place, step in steps if matches(query, *_words(step))])


def _words(step: TimelineStep) -> tuple[str, ...]:
    return step.operation, "" if step.source is None else f"op {step.source}", f"step {step.index}"


_NODES: Final[KeptFor[tuple[Node[StepRow], ...]]] = KeptFor(2)


def _kept_nodes(timeline: Timeline, wanted: range) -> tuple[Node[StepRow], ...]:
    """Steps in a row; made anew where more of them have been read since, or peaks or budgets are others."""
    peaks = (timeline.total_peak_step, timeline.standard_peak_step, timeline.interleaved_peak_step)
    facts = (wanted, steps_read(timeline), peaks, timeline.limits)
    return _NODES.get((timeline.steps, timeline.unavailable_roots), lambda: _make_nodes(timeline, wanted), facts)


def _make_nodes(timeline: Timeline, wanted: Sequence[int]) -> tuple[Node[StepRow], ...]:
    if not wanted:
        return ()
    places = np.asarray(wanted, dtype=np.int64)
    worst, over = timeline.tiles.worst()[places].tolist(), steps_over(timeline)[places].tolist()
    missing = unavailable_steps(timeline)[places].tolist()
    steps = [timeline.steps[index] for index in wanted]
    nodes = []
    for step, figures, is_over, is_missing in zip(steps, worst, over, missing, strict=True):
        standard, interleaved, total, tile = figures
        text = _over_text(timeline, total, interleaved) if is_over else ""
        row = StepRow(
            step,
            total,
            standard,
            interleaved,
            tile,
            total + timeline.reserve_bytes,
            timeline.budget_bytes,
            is_missing,
            text,
            _peak_text(timeline, step.index),
        )
        nodes.append(Node(step.index, row))
    return tuple(nodes)


def _over_text(timeline: Timeline, total: int, interleaved: int) -> str:
    parts = []
    excess = total + timeline.reserve_bytes - timeline.budget_bytes
    if excess > 0:
        parts.append(f"{exact_text(excess)} over the budget")
    excess = interleaved - timeline.interleaved_budget_bytes
    if excess > 0:
        parts.append(f"{exact_text(excess)} over the interleaved region")
    return ", ".join(parts)


def _peak_text(timeline: Timeline, step: int) -> str:
    names = (
        ("total", timeline.total_peak_step),
        ("standard", timeline.standard_peak_step),
        ("interleaved", timeline.interleaved_peak_step),
    )
    found = [name for name, at in names if at == step]
    return f"peak: {', '.join(found)}" if found else ""


class StepColumn(IntEnum):
    STEP = 0
    OPERATION = 1
    TEXT = 2
    TOTAL = 3
    SHARE = 4
    MARKS = 5
    RUNS = 6


class StepSpec(TableSpec[StepRow]):
    """The columns of the list of steps."""

    columns = (
        Column("Step", True),
        Column("Op", True, "The operation of the graph that the step belongs to"),
        Column("Operation text"),
        Column("Fullest tile", True, "Largest total of any tile, without the reserve", "bytes"),
        Column("Budget", True, "Share of the budget, reserve included", "per cent"),
        Column("Marks"),
        Column("Runs", True, "How often the step runs: the product of the counts of the Repeats around it"),
    )

    def cell(self, row: StepRow, column: int) -> Cell:
        match StepColumn(column):
            case StepColumn.STEP:
                return Cell(f"{row.step.index:,}", row.step.index, bold=bool(row.peak))
            case StepColumn.OPERATION:
                source = row.step.source
                return EMPTY_CELL if source is None else Cell(str(source), source)
            case StepColumn.TEXT:
                return Cell(_one_line(row.step.operation), row.step.operation, row.step.operation)
            case StepColumn.RUNS:
                return Cell(f"{row.step.execution_count:,}", row.step.execution_count)
            case StepColumn.TOTAL:
                return self._total(row)
            case StepColumn.SHARE:
                if row.budget <= 0:
                    return EMPTY_CELL
                tone = Tone.OVER if row.over else Tone.UNAVAILABLE if row.unavailable else Tone.TEXT
                least = "≥ " if row.unavailable else ""
                text = f"{least}{percent_text(row.needed, row.budget)}"
                return Cell(text, round(100 * row.needed / row.budget, 3), tone=tone)
            case StepColumn.MARKS:
                return self._marks(row)

    def _total(self, row: StepRow) -> Cell:
        tip = (
            f"{exact_text(row.total)} on tile {row.tile}; largest standard {exact_text(row.standard)}, "
            f"largest interleaved {exact_text(row.interleaved)}"
        )
        if row.tile < 0:
            tip = f"{exact_text(row.total)} on the fullest tile; the file's numbers per tile are still being read"
        if row.unavailable:
            text = f"≥ {kib_cell(row.total).text}"
            return Cell(text, row.total, f"Known part only. {tip}", Tone.UNAVAILABLE)
        return Cell(kib_cell(row.total).text, row.total, tip, Tone.OVER if row.over else Tone.TEXT)

    def _marks(self, row: StepRow) -> Cell:
        words = []
        if row.over:
            words.append(f"! {row.over}")
        if row.unavailable:
            words.append("part unavailable")
        if row.peak:
            words.append(row.peak)
        tone = Tone.OVER if row.over else Tone.UNAVAILABLE if row.unavailable else Tone.MUTED
        return Cell("; ".join(words), "; ".join(words), "\n".join(words), tone)


def _one_line(text: str) -> str:
    return " ".join(text.split())[:400]
