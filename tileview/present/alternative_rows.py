"""The alternatives of one operation, ranked by the peak they give when swapped in alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from tileview.analysis.alternatives import AlternativeResult
from tileview.model.plan import Plan
from tileview.model.recipe import Recipe
from tileview.model.sizes import UNAVAILABLE, Size, Unavailable, exact_text, kib_text
from tileview.present.plan_words import plan_differences, plan_words, short_differences
from tileview.present.tables import EMPTY_CELL, Cell, Column, Node, TableSpec, Tone, delta_cell, kib_cell

NOT_COMPUTED = "not yet computed"


@dataclass(frozen=True, slots=True)
class AlternativeRow:
    """One alternative. ``index`` is None for a plan in force that is not among the alternatives of the file.

    ``result`` is None until it was evaluated. ``rank`` counts from 1, None while the result is missing or the
    alternative cannot be lowered.
    """

    operation: int
    index: int | None
    plan: Plan
    words: str
    differences: str
    all_differences: tuple[str, ...]
    in_force: bool
    is_file_plan: bool
    result: AlternativeResult | None
    rank: int | None = None

    @property
    def peak_total(self) -> Size | None:
        if self.result is None or self.result.peak is None:
            return None
        return self.result.peak.total


def alternative_rows(
    recipe: Recipe,
    operation: int,
    in_force: int | None,
    file_plan: Plan | None,
    results: Mapping[tuple[int, int], AlternativeResult],
) -> tuple[AlternativeRow, ...]:
    """The rows of an operation, ranked.

    Parameters
    ----------
    recipe : Recipe
        With the edits in force: its plan for the operation is what differences refer to.
    in_force : int or None
        Which alternative that is, None where it is none of them.
    file_plan : Plan or None
        The plan that the file has in force.
    results : mapping
        (operation, alternative) → result, as far as they are computed.
    """
    current = recipe.plans.get(operation)
    rows = []
    for index, plan in enumerate(recipe.alternatives.get(operation, ())):
        is_current = index == in_force
        rows.append(
            _row(operation, index, plan, current, is_current, plan == file_plan, results.get((operation, index)))
        )
    if in_force is None and current is not None:
        rows.append(_row(operation, None, current, current, True, current == file_plan, None))
    return _ranked(rows)


def _row(
    operation: int,
    index: int | None,
    plan: Plan,
    current: Plan | None,
    in_force: bool,
    is_file_plan: bool,
    result: AlternativeResult | None,
) -> AlternativeRow:
    every: tuple[str, ...] = ()
    short = "there is no current plan"
    if current is not None:
        short, every = short_differences(current, plan), plan_differences(current, plan)
    if in_force:
        short = "current, the file's plan" if is_file_plan else "current"
    elif current is not None and not every:
        short = "same as the current plan"
    elif is_file_plan:
        short = f"the file's plan; {short}"
    return AlternativeRow(operation, index, plan, plan_words(plan), short, every, in_force, is_file_plan, result)


def rank_key(row: AlternativeRow) -> tuple[int, int, int]:
    """Order of rank: what fits, by total peak; what may, what does not, likewise; sizes not known; not computed; cannot
    be lowered."""
    index = -1 if row.index is None else row.index
    if row.result is None:
        return (4, 0, index)
    if not row.result.ok:
        return (5, 0, index)
    total = row.peak_total
    if total is None or isinstance(total, Unavailable):
        return (3, 0, index)
    return (1 if row.result.fits is None else 0 if row.result.fits else 2, total, index)


def _ranked(rows: Sequence[AlternativeRow]) -> tuple[AlternativeRow, ...]:
    ordered = sorted(rows, key=rank_key)
    ranked = []
    for position, row in enumerate(ordered, start=1):
        rank = position if rank_key(row)[0] <= 3 else None
        ranked.append(replace(row, rank=rank))
    return tuple(ranked)


@dataclass(frozen=True, slots=True)
class AlternativeNote:
    """A line of words under an alternative, for tables too narrow for columns of words."""

    index: int | None
    text: str
    tip: str
    tone: Tone


Line = AlternativeRow | AlternativeNote


def alternative_nodes(rows: Sequence[AlternativeRow], with_words: bool = False) -> tuple[Node[Line], ...]:
    """One node a row; the key is the alternative's index. ``with_words``: plan, differences and, of one that cannot be
    lowered, the reason in lines below it.
    """
    return tuple(Node(row.index, row, _notes(row) if with_words else ()) for row in rows)


def _notes(row: AlternativeRow) -> tuple[Node[Line], ...]:
    lines = [("plan", row.words, row.words, Tone.TEXT)]
    tip = "\n".join(row.all_differences) or row.differences
    words = row.differences if row.in_force or not row.all_differences else f"differs by {row.differences}"
    lines.append(("differs", words, tip, Tone.MUTED))
    if row.result is not None and not row.result.ok:
        reason = f"cannot be lowered: {row.result.error or 'no reason given'}"
        lines.append(("why", reason, reason, Tone.WARNING))
    return tuple(
        Node((what, row.index), AlternativeNote(row.index, text, tip, tone)) for what, text, tip, tone in lines
    )


def progress_words(rows: Sequence[AlternativeRow]) -> str:
    """How many are evaluated and how many of them fit."""
    countable = [row for row in rows if row.index is not None]
    if not countable:
        return "No alternatives were kept for this operation"
    done = [row for row in countable if row.result is not None]
    fitting = sum(row.result.fits is True for row in done if row.result is not None)
    unknown = sum(row.result.fits is None for row in done if row.result is not None)
    refused = sum(not row.result.ok for row in done if row.result is not None)
    words = f"{len(done)} of {len(countable)} evaluated"
    if done:
        words += f", {fitting} {'fits' if fitting == 1 else 'fit'}"
    if unknown:
        words += f", {unknown} not known"
    if refused:
        words += f", {refused} cannot be lowered"
    return words


class AlternativeColumn(IntEnum):
    ALTERNATIVE = 0
    PLAN = 1
    DELTA = 2
    FITS = 3
    PEAK = 4
    DIFFERS = 5
    RANK = 6
    WHY = 7


class AlternativeSpec(TableSpec[Line]):
    """alternative · plan in words · Δ · fits · peak · what differs · rank · why (not); what decides stands first."""

    columns = (
        Column("Alt", tip="Number in the file, from 0; ▶ marks the current plan"),
        Column("Plan"),
        Column("Δ peak", True, "Change of the total peak from the current recipe", "bytes"),
        Column("Fits"),
        Column("Peak", True, "Total peak if swapped in alone: of the worst tile, without the reserve", "bytes"),
        Column("Differs from the current plan by"),
        Column("Rank", True, "1 is the lowest total peak among those that fit, then those that do not"),
        Column("Why"),
    )

    def is_right(self, row: Line, column: int) -> bool:
        return isinstance(row, AlternativeRow) and super().is_right(row, column)

    def is_exported(self, row: Line) -> bool:
        return isinstance(row, AlternativeRow)

    def cell(self, row: Line, column: int) -> Cell:
        if isinstance(row, AlternativeNote):
            return EMPTY_CELL if column else Cell(row.text, None, row.tip, row.tone)
        match AlternativeColumn(column):
            case AlternativeColumn.ALTERNATIVE:
                return self._number(row)
            case AlternativeColumn.PLAN:
                return Cell(row.words, row.words, row.words, bold=row.in_force)
            case AlternativeColumn.DELTA:
                return EMPTY_CELL if row.result is None else delta_cell(row.result.delta_total)
            case AlternativeColumn.FITS:
                return self._fits(row)
            case AlternativeColumn.PEAK:
                return self._peak(row)
            case AlternativeColumn.DIFFERS:
                tip = "\n".join(row.all_differences)
                return Cell(row.differences, row.differences, tip, Tone.MUTED if row.in_force else Tone.TEXT)
            case AlternativeColumn.RANK:
                return EMPTY_CELL if row.rank is None else Cell(f"{row.rank}", row.rank)
            case AlternativeColumn.WHY:
                return self._why(row)

    def _number(self, row: AlternativeRow) -> Cell:
        number = "–" if row.index is None else str(row.index)
        tips = [] if row.index is not None else ["Not among the alternatives of the file"]
        if row.is_file_plan:
            tips.append("The plan that the file chose")
        if row.in_force:
            tips.insert(0, "In force")
            return Cell(f"▶ {number}", row.index, "\n".join(tips), Tone.ACCENT, True)
        return Cell(number, row.index, "\n".join(tips))

    def _fits(self, row: AlternativeRow) -> Cell:
        result = row.result
        if result is None:
            return EMPTY_CELL if row.index is None else Cell(NOT_COMPUTED, None, "Evaluate computes it", Tone.MUTED)
        if not result.ok:
            return Cell("! refused", "refused", result.error or "", Tone.WARNING)
        reason = result.verdict.text if result.verdict is not None else ""
        if result.fits:
            return Cell("✓ fits", "fits", reason, Tone.OK)
        if result.fits is None:
            return Cell("? not known", "not known", reason, Tone.UNKNOWN)
        short = result.verdict.short_bytes if result.verdict is not None else UNAVAILABLE
        text = f"✗ {kib_text(short)} over" if isinstance(short, int) and short > 0 else "✗ no"
        return Cell(text, text, reason, Tone.OVER)

    def _peak(self, row: AlternativeRow) -> Cell:
        peak = None if row.result is None else row.result.peak
        if peak is None:
            return EMPTY_CELL
        tip = f"standard {exact_text(peak.standard)}, interleaved {exact_text(peak.interleaved)}"
        return kib_cell(peak.total, tip)

    def _why(self, row: AlternativeRow) -> Cell:
        result = row.result
        if result is None:
            return EMPTY_CELL
        if not result.ok:
            text = f"cannot be lowered: {result.error or 'no reason given'}"
            return Cell(text, text, text, Tone.WARNING)
        text = result.verdict.text if result.verdict is not None else ""
        return Cell(text, text or None, text)
