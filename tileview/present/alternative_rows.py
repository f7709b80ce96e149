"""The alternatives of operations, ranked by what they give when swapped in alone.

Each stands under its operation: figures in columns, and in a line below them only what swapping it in changes. Another
figure is one more :class:`Column` in :data:`ALTERNATIVES`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from tileview.analysis.alternatives import AlternativeResult
from tileview.analysis.placement import Placeability
from tileview.analysis.words import at_start, counted
from tileview.core.cycles.words import describe_cycles, short_cycles
from tileview.core.fusion.verdict_words import fits_only_fused
from tileview.core.memory.assemble import OwnPeak
from tileview.model.plan import Plan
from tileview.model.recipe import Recipe
from tileview.model.sizes import Size, Unavailable, exact_text, kib_text
from tileview.present.plan_words import PlanDifference, plan_differences, plan_words, told_apart
from tileview.present.tables import (
    EMPTY_CELL,
    Cell,
    Column,
    LinePart,
    Node,
    Room,
    TableSpec,
    Tone,
    delta_cell,
    kib_cell,
    matches,
)

NOT_COMPUTED = "not yet computed"


class AlternativeOutcome(StrEnum):
    """What came of an alternative, as a filter names it."""

    FITS = "fits"
    OVER = "over"
    NOT_KNOWN = "not known"
    REFUSED = "cannot be lowered"
    WAITING = NOT_COMPUTED


@dataclass(frozen=True, slots=True)
class OperationHead:
    """The heading of an operation's alternatives; ``place`` says at which steps it is at fault, empty where at none."""

    operation: int
    kind: str
    place: str
    count: int


@dataclass(frozen=True, slots=True)
class AlternativeRow:
    """One alternative. ``index`` is None for a current plan that is not among the alternatives of the file.

    ``result`` is None until it was evaluated. ``changes``: what swapping it in changes, empty for the current plan.
    ``places`` is what it leaves without a place, None where that is not known (yet).
    """

    operation: int
    index: int | None
    plan: Plan
    words: str
    changes: tuple[PlanDifference, ...]
    all_differences: tuple[str, ...]
    is_current: bool
    is_file_plan: bool
    result: AlternativeResult | None
    places: Placeability | None = None

    @property
    def outcome(self) -> AlternativeOutcome:
        if self.result is None:
            return AlternativeOutcome.WAITING
        if not self.result.ok:
            return AlternativeOutcome.REFUSED
        if self.result.fits is None:
            return AlternativeOutcome.NOT_KNOWN
        return AlternativeOutcome.FITS if self.result.fits else AlternativeOutcome.OVER

    @property
    def peak_total(self) -> Size | None:
        if self.result is None or self.result.peak is None:
            return None
        return self.result.peak.total

    @property
    def own_peak(self) -> OwnPeak | None:
        return None if self.result is None else self.result.own_peak


Entry = OperationHead | AlternativeRow


def alternative_rows(
    recipe: Recipe,
    operation: int,
    current: int | None,
    file_plan: Plan | None,
    results: Mapping[tuple[int, int], AlternativeResult],
) -> tuple[AlternativeRow, ...]:
    """The rows of an operation, ranked.

    Parameters
    ----------
    recipe : Recipe
        With the edits in it: its plan for the operation is what changes refer to.
    current : int or None
        Which alternative that plan is, None where it is none of them.
    file_plan : Plan or None
        The plan that the file has.
    results : mapping
        (operation, alternative) → result, as far as they are computed.
    """
    base = recipe.plans.get(operation)
    plans = recipe.alternatives.get(operation, ())
    changes = [()] * len(plans) if base is None else told_apart(base, plans)
    rows = []
    for index, plan in enumerate(plans):
        every = () if base is None else plan_differences(base, plan)
        own, result = changes[index] if every else (), results.get((operation, index))
        is_current, is_file_plan = index == current, plan == file_plan
        words = plan_words(plan)
        rows.append(AlternativeRow(operation, index, plan, words, own, every, is_current, is_file_plan, result))
    if current is None and base is not None:
        rows.append(AlternativeRow(operation, None, base, plan_words(base), (), (), True, base == file_plan, None))
    return tuple(sorted(rows, key=rank_key))


def with_results(
    rows: Sequence[AlternativeRow],
    results: Mapping[tuple[int, int], AlternativeResult],
    places: Callable[[int, int], Placeability | None],
) -> tuple[AlternativeRow, ...]:
    """The same rows with what is known now, ranked by it; ``places`` gives what (operation, alternative) leaves."""
    found = []
    for row in rows:
        if row.index is not None:
            result, placed = results.get((row.operation, row.index)), places(row.operation, row.index)
            row = replace(row, result=result, places=placed)
        found.append(row)
    return tuple(sorted(found, key=rank_key))


_RANKS = (
    AlternativeOutcome.FITS,
    AlternativeOutcome.NOT_KNOWN,
    AlternativeOutcome.OVER,
    AlternativeOutcome.WAITING,
    AlternativeOutcome.REFUSED,
)


def rank_key(row: AlternativeRow) -> tuple[int, bool, int, int, int]:
    """Order of rank: what fits, what may, what does not, not computed, cannot be lowered; in each by total peak, those
    of equal ones first whose own steps leave most."""
    total, own = row.peak_total, row.own_peak
    spare = own.spare if own is not None and isinstance(own.spare, int) else 0
    known = total if isinstance(total, int) else 0
    index = -1 if row.index is None else row.index
    return (_RANKS.index(row.outcome), isinstance(total, Unavailable), known, -spare, index)


def alternative_nodes(
    groups: Sequence[tuple[OperationHead, Sequence[AlternativeRow]]],
    query: str = "",
    outcome: AlternativeOutcome | None = None,
) -> tuple[Node[Entry], ...]:
    """Operations with their alternatives below them; of these only what a query finds and what came out so.

    A query that finds the operation keeps all of its alternatives. Keys: ``("op", operation)``, and (operation, index).
    """
    nodes: list[Node[Entry]] = []
    for head, rows in groups:
        is_found = matches(query, f"op {head.operation} {head.kind}", head.place)
        kept = [
            row
            for row in rows
            if (outcome is None or row.outcome is outcome) and (is_found or matches(query, row.words, _said(row)))
        ]
        if kept:
            children: tuple[Node[Entry], ...] = tuple(Node((row.operation, row.index), row) for row in kept)
            nodes.append(Node(("op", head.operation), head, children))
    return tuple(nodes)


def _said(row: AlternativeRow) -> str:
    return f"{row.outcome} {'current' if row.is_current else ''} " + " ".join(change.words for change in row.changes)


def progress_words(rows: Sequence[AlternativeRow]) -> str:
    """How many are evaluated and what came out."""
    countable = [row for row in rows if row.index is not None]
    if not countable:
        return "No alternatives were kept for this operation"
    counts = {outcome: sum(row.outcome is outcome for row in countable) for outcome in AlternativeOutcome}
    done = len(countable) - counts[AlternativeOutcome.WAITING]
    words = f"{done} of {len(countable)} evaluated"
    if done:
        words += f", {counts[AlternativeOutcome.FITS]} {'fits' if counts[AlternativeOutcome.FITS] == 1 else 'fit'}"
    for outcome in (AlternativeOutcome.NOT_KNOWN, AlternativeOutcome.REFUSED):
        words += f", {counts[outcome]} {outcome}" if counts[outcome] else ""
    return words


# -- the table ------------------------------------------------------------------------------------------------------


def _number(entry: Entry) -> Cell:
    if isinstance(entry, OperationHead):
        place = f" ({entry.place})" if entry.place else ""
        text = f"op {entry.operation} {entry.kind}{place}, {counted(entry.count, 'alternative')}"
        return Cell(text, None, text, bold=True)
    number = "–" if entry.index is None else str(entry.index)
    tips = ["The current plan"] if entry.is_current else []
    if entry.is_file_plan:
        tips.append("The file's plan")
    if entry.index is None:
        tips.append("Not among the alternatives of the file")
    if entry.is_current:
        return Cell(f"→ {number}", entry.index, "\n".join(tips), Tone.ACCENT, True)
    return Cell(number, entry.index, "\n".join(tips))


def _own(entry: Entry) -> Cell:
    """What the fullest of the operation's own steps leaves, or is over by."""
    if isinstance(entry, OperationHead):
        return EMPTY_CELL
    result, own = entry.result, entry.own_peak
    if result is None:
        return EMPTY_CELL if entry.index is None else Cell("…", None, "Not yet computed: press Evaluate", Tone.MUTED)
    if not result.ok:
        reason = f"Cannot be lowered: {result.error or 'no reason given'}"
        return Cell("! not lowered", None, reason, Tone.WARNING)
    if own is None or isinstance(own.spare, Unavailable) or isinstance(own.total, Unavailable):
        why = "It has no steps of its own" if own is None else "A size of its own steps is unavailable"
        return Cell("–", None, why, Tone.MUTED if own is None else Tone.UNAVAILABLE)
    tip = f"{exact_text(own.total)} at the fullest of its own steps, without the reserve"
    if own.spare < 0:
        return Cell(f"✗ {_kib(-own.spare)} over", own.total, f"{tip}: {exact_text(-own.spare)} over", Tone.OVER)
    tip += f": {exact_text(own.spare)} spare"
    if result.fits is None:
        return Cell(f"? {_kib(own.spare)} spare", own.total, f"{tip} of what is known", Tone.UNKNOWN)
    return Cell(f"✓ {_kib(own.spare)} spare", own.total, tip, Tone.OK)


def _kib(size: int) -> str:
    """KiB without the unit, which the view names once; a size below half a tenth keeps its own."""
    text = kib_text(size)
    return text.removesuffix(" KiB") if size >= 52 or size == 0 else exact_text(size)


def _delta(entry: Entry) -> Cell:
    if isinstance(entry, OperationHead) or entry.result is None:
        return EMPTY_CELL
    cell = delta_cell(entry.result.delta_total)
    if entry.result.delta_total == 0:
        return Cell("±0.0", 0, "The total peak stays", Tone.MUTED)
    return Cell(cell.text.removesuffix(" KiB"), cell.value, cell.tip, cell.tone)


def _cycles(entry: Entry) -> Cell:
    if isinstance(entry, OperationHead) or entry.result is None or entry.result.delta_cycles is None:
        return EMPTY_CELL
    delta = entry.result.delta_cycles
    tone = Tone.MUTED if delta == 0 else Tone.TEXT
    sign = "±" if delta == 0 else "+" if delta > 0 else "−"
    return Cell(f"{sign}{short_cycles(abs(delta))}", delta, f"{describe_cycles(delta)} planner's cycles", tone)


def _placed(entry: Entry) -> Cell:
    """The tiles that are left without a place: none is what one looks for."""
    if isinstance(entry, OperationHead) or entry.places is None:
        return EMPTY_CELL
    left = entry.places.not_placed + entry.places.over
    if not left:
        return Cell("✓ all", 0, "Every tile is placed", Tone.OK)
    tip = f"{counted(entry.places.not_placed, 'tile')} not placed, {counted(entry.places.over, 'tile')} over"
    return Cell(f"{left:,} not", left, tip, Tone.OVER if entry.places.over else Tone.WARNING)


def _fits(entry: Entry) -> Cell:
    if isinstance(entry, OperationHead) or entry.result is None:
        return EMPTY_CELL
    result, outcome = entry.result, entry.outcome
    reason = (result.error if result.verdict is None else result.verdict.text) or ""
    short = None if result.verdict is None else result.verdict.short_bytes
    match outcome:
        case AlternativeOutcome.FITS:
            is_fused = result.verdict is not None and fits_only_fused(result.verdict)
            return Cell("✓ fits fused" if is_fused else "✓ fits", str(outcome), reason, Tone.OK)
        case AlternativeOutcome.NOT_KNOWN:
            return Cell("? not known", str(outcome), reason, Tone.UNKNOWN)
        case AlternativeOutcome.REFUSED:
            return Cell("! not lowered", str(outcome), reason, Tone.WARNING)
    text = f"✗ {_kib(short)} over" if isinstance(short, int) and short > 0 else "✗ no"
    return Cell(text, str(outcome), reason, Tone.OVER)


def _peak(entry: Entry) -> Cell:
    if isinstance(entry, OperationHead) or entry.result is None or entry.result.peak is None:
        return EMPTY_CELL
    peak = entry.result.peak
    cell = kib_cell(peak.total, f"standard {exact_text(peak.standard)}, interleaved {exact_text(peak.interleaved)}")
    return Cell(cell.text.removesuffix(" KiB"), cell.value, cell.tip, cell.tone)


def _plan(entry: Entry) -> Cell:
    return EMPTY_CELL if isinstance(entry, OperationHead) else Cell(entry.words, entry.words)


def _changes(entry: Entry) -> Cell:
    if isinstance(entry, OperationHead):
        return EMPTY_CELL
    text = "current" if entry.is_current else "; ".join(entry.all_differences) or "same as the current plan"
    return Cell(text, text)


def _why(entry: Entry) -> Cell:
    if isinstance(entry, OperationHead) or entry.result is None:
        return EMPTY_CELL
    text = (entry.result.error if entry.result.verdict is None else entry.result.verdict.text) or ""
    return Cell(text, text or None)


class AlternativeSpec(TableSpec[Entry]):
    """The columns, the headings, and the line under each alternative."""

    def is_head(self, row: Entry) -> bool:
        return isinstance(row, OperationHead)

    def is_exported(self, row: Entry) -> bool:
        return isinstance(row, AlternativeRow)

    def line(self, row: Entry) -> Sequence[LinePart]:
        """What swapping it in changes; of the current plan what it is, of a refused one why."""
        if isinstance(row, OperationHead):
            return ()
        if row.is_current:
            return (LinePart(f"current: {row.words}"),)
        refused = () if row.result is None or row.result.ok else (LinePart(at_start(row.result.error or "refused")),)
        parts = tuple(LinePart(change.lead, change.after, change.short_lead) for change in row.changes)
        return (*refused, *parts) or (LinePart("same as the current plan"),)

    def line_tip(self, row: Entry) -> str:
        """The same in full, and what follows from it."""
        more = [] if isinstance(row, OperationHead) else row.all_differences
        return "\n".join((super().line_tip(row), *(["In full:"] if more else []), *more))


ALTERNATIVES: Final = AlternativeSpec(
    (
        Column(
            "Alt",
            tip="Number in the file, from 0; → is the current plan",
            cell=_number,
            sample="→ 1234",
            room=Room.SHARED,
            is_seen=True,
        ),
        Column("Op", cell=lambda one: Cell(str(one.operation), one.operation), room=Room.NEVER),
        Column(
            "Own peak",
            True,
            "What is spare at the fullest of the operation's own steps, reserve included, or by how much it is over",
            "bytes",
            cell=_own,
            sample="✗ 1,399.8 over",
            is_seen=True,
        ),
        Column(
            "Δ peak",
            True,
            "Change of the total peak against the current recipe",
            "bytes",
            cell=_delta,
            sample="−1,115.4",
            is_seen=True,
        ),
        Column(
            "Δ cycles",
            True,
            "Change of the planner's cycles",
            "cycles",
            cell=_cycles,
            sample="−14.41 M",
            room=Room.SPARE,
        ),
        Column(
            "Placed",
            True,
            "Tiles not placed if it is swapped in alone, in the memory chosen for placement",
            "tiles left",
            cell=_placed,
            sample="1,249 not",
            room=Room.SPARE,
        ),
        Column(
            "Total peak",
            True,
            "If swapped in alone: of the fullest tile, without the reserve",
            "bytes",
            cell=_peak,
            sample="1,555.0",
            room=Room.SPARE,
        ),
        Column("Fits", True, "If swapped in alone", cell=_fits, sample="✗ 129.8 over", room=Room.SPARE),
        Column("Plan", cell=_plan, room=Room.NEVER),
        Column("Changes", cell=_changes, room=Room.NEVER),
        Column("Why", cell=_why, room=Room.NEVER),
    )
)
