"""Memory against planner's cycles: what every swap, or set of swaps, would give, and which are the best trade-offs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from tileview.analysis.alternatives import AlternativeResult
from tileview.analysis.fix import FixResult
from tileview.analysis.trials import Swaps, Trial
from tileview.analysis.words import counted
from tileview.core.cycles.words import (
    cycles_between,
    describe_cycles,
    exact_cycles,
    percent_between,
    short_change,
    short_cycles,
)
from tileview.core.estimated import Estimate
from tileview.core.fusion.verdict_words import verdict_words
from tileview.core.placement.ranges import Preset, planner_bytes
from tileview.model.sizes import Size, exact_text, kib_text
from tileview.model.timeline import Verdict
from tileview.present.tables import Cell, Column, Node, TableSpec, delta_cell, outcome


class ChoiceScope(StrEnum):
    """Which choices are shown."""

    OPERATION = "Alternatives of one operation"
    SINGLE = "All single swaps"
    FIXES = "Fixes found"


class Standing(StrEnum):
    """What is known of a choice; each has a mark of its own."""

    PLACED = "every tile is placed"
    FITS = "fits by the sum, not yet placed"
    UNPLACED = "fits by the sum, not every tile is placed"
    OVER = "does not fit"
    UNKNOWN = "not known whether it fits"


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice: no swaps are the current state.

    ``memory``: bytes a tile, the total peak with the reserve, or, where ``is_placed_in``, the open memory in which
    every tile is placed. ``cycles``: planner's cycles. ``change``: these against the current state, None where not
    known.
    """

    swaps: Swaps
    memory: int
    cycles: int
    standing: Standing
    total: int
    words: str
    is_placed_in: bool = False
    change: int | None = None
    memory_change: int | None = None
    left: int | None = None
    """Tiles that are left without a place in the memory looked at; None where not known."""

    @property
    def name(self) -> str:
        """``op 4 → 1, op 21 → 0``, or that it is the current state."""
        return ", ".join(f"op {operation} → {index}" for operation, index in self.swaps) or "current"


@dataclass(frozen=True, slots=True)
class Choices:
    """What is shown: the choices by memory and cycles, and those of them that no other beats in both.

    ``front``: places in ``points``, ascending in memory and descending in cycles; of choices alike in both, the first.
    ``left_out``: why choices are missing. ``limit``: bytes that a tile has (None: not known), and ``limit_name``.
    ``by_placement``: whether memory is that in which every tile is placed; then those of which it is not known yet
    stand at their sum, and none of them is in the front. ``planner``: bytes that the planner assumes, in that case.
    """

    points: tuple[Choice, ...] = ()
    front: tuple[int, ...] = ()
    left_out: tuple[str, ...] = ()
    limit: int | None = None
    limit_name: str = "budget"
    by_placement: bool = False
    planner: int | None = None
    where: str = ""
    """The memory that ``left`` of each choice speaks of."""

    @property
    def memory_name(self) -> str:
        return PLACED_MEMORY if self.by_placement else SUM_MEMORY

    def words_of(self, standing: Standing) -> str:
        """What a mark stands for, with the memory that is looked at."""
        words = {
            Standing.PLACED: f"placed in {self.where}",
            Standing.UNPLACED: f"fits by the sum, not placed in {self.where}",
            Standing.OVER: "over by the sum" if self.by_placement else str(Standing.OVER),
        }
        return words.get(standing, str(standing)) if self.where else str(standing)

    @property
    def now(self) -> Choice | None:
        """The current state."""
        return next((point for point in self.points if not point.swaps), None)


SUM_MEMORY: Final = "total peak with reserve, the sum on the fullest tile (placement not known)"
PLACED_MEMORY: Final = "memory in which every tile is placed (open bytes a tile, orders 1 and 2)"

Needs = Mapping[Swaps, int | None]
"""Swaps → open bytes a tile with which every tile is placed, None where no enlargement of the memory looked at is
enough; as far as known."""
Left = Callable[[Swaps], int | None]
"""Swaps → tiles that are left without a place in the memory looked at, None where not known."""


def none_known(_swaps: Swaps) -> int | None:
    """Nothing has been placed."""
    return None


def choices_of(
    now: Estimate | None,
    trials: Iterable[Trial | AlternativeResult],
    needs: Needs | None = None,
    missing: int = 0,
    left: Left = none_known,
    memory: Preset | None = None,
) -> Choices:
    """The choices that trials come to, with the current state.

    Parameters
    ----------
    now : Estimate or None
        Of the current state; nothing is shown without.
    trials : iterable
        Outcomes of swaps on that state; current alternatives are left out as being the state itself.
    needs : mapping, optional
        Memory in which every tile is placed. It is what is shown as soon as it is known of a choice, else the sum is.
    missing : int
        Alternatives that are not evaluated yet.
    left, memory
        Tiles without a place, and the memory that this and ``needs`` are of.
    """
    if now is None or now.timeline is None or now.price is None:
        return Choices(left_out=("there is no program whose memory and cycles could be compared",))
    timeline, needs = now.timeline, needs or {}
    reserve, room = timeline.reserve_bytes, 0 if memory is None else memory.bytes
    outcomes: list[tuple[Swaps, Trial | AlternativeResult]] = [
        (swaps_of(trial), trial) for trial in trials if not (isinstance(trial, AlternativeResult) and trial.in_force)
    ]
    found = [_choice((), timeline.peak.total, now.price.cycles, now.verdict, reserve, left)]
    refused = 0
    for swaps, trial in outcomes:
        if swaps and trial.ok and trial.peak is not None and trial.price is not None and trial.verdict is not None:
            found.append(_choice(swaps, trial.peak.total, trial.price.cycles, trial.verdict, reserve, left))
        else:
            refused += bool(swaps)
    points = [choice for choice in found if choice is not None]
    unknown = len(found) - len(points)
    by_placement = any(needs.get(point.swaps) is not None for point in points)
    never = sum(needs.get(point.swaps, 0) is None for point in points) if by_placement else 0
    if by_placement:
        points = [_placed(point, needs, room) for point in points if needs.get(point.swaps, 0) is not None]
    base = next((point for point in points if not point.swaps), None)
    if base is not None:
        points = [_against(base, point) for point in points]
    points.sort(key=lambda point: (point.memory, point.cycles, len(point.swaps), point.swaps))
    waiting = sum(not point.is_placed_in for point in points) if by_placement else 0
    left_out = [
        f"{count:,} {words}"
        for count, words in (
            (waiting, "not yet placed, drawn hollow at the sum"),
            (missing, "not yet evaluated"),
            (refused, "cannot be lowered"),
            (unknown, "without known memory or cycles"),
            (never, "that no enlargement of this memory places"),
        )
        if count
    ]
    where = "" if memory is None else memory.title
    shown = Choices(tuple(points), front_of(points), tuple(left_out), timeline.budget_bytes, where=where)
    if not by_placement:
        return shown
    planner = planner_bytes(reserve)
    return replace(shown, limit=room, limit_name=where, by_placement=True, planner=None if planner == room else planner)


def fix_trials(result: FixResult) -> list[Trial]:
    """The fixes that a search found, the proposal as it was confirmed; the closest one tried where it found none."""
    after, closest = result.after, result.closest
    found = [after if after is not None and after.swaps == trial.swaps else trial for trial in result.proposals]
    return found if found or closest is None else [closest]


def front_of(points: Sequence[Choice]) -> tuple[int, ...]:
    """Places of the choices that no other beats in memory and cycles, of points sorted by both: of those placed
    where some are."""
    front: list[int] = []
    least: int | None = None
    by_placement = any(point.is_placed_in for point in points)
    for place, point in enumerate(points):
        if point.is_placed_in == by_placement and (least is None or point.cycles < least):
            front.append(place)
            least = point.cycles
    return tuple(front)


def swaps_of(trial: Trial | AlternativeResult) -> Swaps:
    """What a trial swaps."""
    return trial.swaps if isinstance(trial, Trial) else ((trial.operation, trial.alternative),)


def _choice(swaps: Swaps, total: Size, cycles: Size, verdict: Verdict, reserve: int, left: Left) -> Choice | None:
    if not isinstance(total, int) or not isinstance(cycles, int):
        return None
    standing = Standing.UNKNOWN if verdict.fits is None else Standing.FITS if verdict.fits else Standing.OVER
    tiles = left(swaps)
    if standing is Standing.FITS and tiles is not None:
        standing = Standing.UNPLACED if tiles else Standing.PLACED
    return Choice(swaps, total + reserve, cycles, standing, total, verdict_words(verdict), left=tiles)


def _placed(point: Choice, needs: Needs, room: int) -> Choice:
    """The choice at the memory that it needs, where that is known."""
    need = needs.get(point.swaps)
    if need is None:
        return point
    standing = point.standing
    if standing in (Standing.FITS, Standing.PLACED, Standing.UNPLACED):
        standing = Standing.PLACED if need <= room else Standing.UNPLACED
    left = 0 if need <= room else point.left
    return replace(point, memory=need, is_placed_in=True, standing=standing, left=left)


def _against(origin: Choice, point: Choice) -> Choice:
    change = cycles_between(origin.cycles, point.cycles)
    alike = point.is_placed_in == origin.is_placed_in
    return replace(point, change=change, memory_change=point.memory - origin.memory if alike else None)


def choice_sentence(point: Choice, choices: Choices) -> str:
    """One choice in a line: what is swapped, its memory and cycles, whether it fits."""
    parts = [
        point.name,
        f"{kib_text(point.memory)}{_room(point, choices)}",
        f"{short_cycles(point.cycles)} planner's cycles",
    ]
    now = choices.now
    if point.swaps and now is not None and point.change is not None:
        parts[-1] += f", {short_change(point.change)}{percent_between(now.cycles, point.cycles)}"
    parts.append(point.words)
    parts += _placed_words(point, choices)
    return " · ".join(parts)


def _placed_words(point: Choice, choices: Choices) -> list[str]:
    if point.left is None:
        return [str(point.standing)] if point.standing in (Standing.PLACED, Standing.UNPLACED) else []
    tiles = "every tile placed" if not point.left else f"{counted(point.left, 'tile')} not placed"
    return [f"{tiles} in {choices.where}" if choices.where else tiles]


def _room(point: Choice, choices: Choices) -> str:
    if choices.limit is None or point.is_placed_in != choices.by_placement:
        return ""
    spare = choices.limit - point.memory
    if choices.by_placement:
        return " open" if spare >= 0 else f" open, {kib_text(-spare)} more than {choices.where}"
    return f" ({kib_text(abs(spare))} {'spare' if spare >= 0 else 'over'})"


def choice_tip(points: Sequence[Choice], choices: Choices, most: int = 6) -> str:
    """The tooltip of one place, where several choices may lie on one another."""
    if not points:
        return ""
    first, now = points[0], choices.now
    lines = [
        f"{exact_text(first.memory)} ({kib_text(first.memory)}), {memory_name(first)}",
        f"{exact_cycles(first.cycles)} planner's cycles",
    ]
    if now is not None and first.change:
        lines[-1] += f", {describe_cycles(first.change)}{percent_between(now.cycles, first.cycles)}"
    lines += [
        ": ".join((point.name, ", ".join((point.words, *_placed_words(point, choices))))) for point in points[:most]
    ]
    if len(points) > most:
        lines.append(f"and {len(points) - most:,} more here")
    return "\n".join(lines)


def memory_name(point: Choice) -> str:
    """What the memory of a choice is."""
    return PLACED_MEMORY if point.is_placed_in else SUM_MEMORY


def choices_sentence(scope: ChoiceScope, choices: Choices, operation: int | None = None) -> str:
    """What the picture shows, in one line: how many choices, how many fit, the best trade-offs, what is left out."""
    if not choices.points:
        return "; ".join(choices.left_out)
    swaps = [point for point in choices.points if point.swaps]
    fits = sum(point.standing in (Standing.FITS, Standing.PLACED, Standing.UNPLACED) for point in swaps)
    what = {
        ChoiceScope.OPERATION: f"{counted(len(swaps), 'alternative')} of op {operation}",
        ChoiceScope.SINGLE: counted(len(swaps), "single swap"),
        ChoiceScope.FIXES: "1 fix" if len(swaps) == 1 else f"{len(swaps):,} fixes",
    }[scope]
    parts = [f"{what}: {fits:,} fit, {counted(len(choices.front), 'best trade-off')}", *choices.left_out]
    return "; ".join(parts)


class ChoiceSpec(TableSpec[Choice]):
    """The choices as a table, for files: swaps, memory, planner's cycles, changes, outcome, tiles not placed, front."""

    def __init__(self, choices: Choices) -> None:
        self._front = frozenset(choices.points[place].swaps for place in choices.front)
        self.columns = (
            Column("Swaps"),
            Column(choices.memory_name, True, unit="bytes"),
            Column("Memory against now", True, unit="bytes"),
            Column("Planner's cycles", True),
            Column("Planner's cycles against now", True),
            Column("Outcome"),
            Column(f"Tiles not placed in {choices.where}" if choices.where else "Tiles not placed", True),
            Column("Best trade-off"),
        )

    def cell(self, row: Choice, column: int) -> Cell:
        sign, _, tone = outcome({Standing.OVER: False, Standing.UNKNOWN: None}.get(row.standing, True))
        change = row.change
        return (
            Cell(row.name),
            Cell(kib_text(row.memory), row.memory, exact_text(row.memory)),
            delta_cell(row.memory_change),
            Cell(short_cycles(row.cycles), row.cycles, exact_cycles(row.cycles)),
            Cell("" if change is None else describe_cycles(change), change),
            Cell(f"{sign} {row.words}", row.words, tone=tone),
            Cell("" if row.left is None else f"{row.left:,}", row.left),
            Cell("yes" if row.swaps in self._front else "no"),
        )[column]


def choices_csv(choices: Choices) -> str:
    """All choices as CSV, by memory and cycles."""
    return ChoiceSpec(choices).csv(Node(place, point) for place, point in enumerate(choices.points))
