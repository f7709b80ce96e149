"""What budget and reserve would do: the smallest budget that fits, the largest reserve, and what no budget helps."""

from __future__ import annotations

from dataclasses import dataclass

from tileview.core.memory.verdict import contiguous_overflow
from tileview.model.config import PLANNED_BYTES
from tileview.model.recipe import Overrides
from tileview.model.sizes import Size, Unavailable, exact_text, size_text
from tileview.model.timeline import Peak, Timeline

NEVER_EXPORTED = "What if only: budget and reserve belong to the context of a compile, an export never contains them."


@dataclass(frozen=True, slots=True)
class Limits:
    """``smallest_budget``: total peak + reserve; ``largest_reserve``: what the budget leaves beside the total peak.

    Both are unavailable where the total peak is. ``obstacle`` says what no budget and no reserve can change; empty
    where nothing stands in the way.
    """

    smallest_budget: Size
    largest_reserve: Size
    obstacle: str = ""


def limits(timeline: Timeline, other: Peak | None = None) -> Limits:
    """The limits for a timeline's peaks, by the verdict's own rules: fits if total + reserve ≤ min(budget, 586,960).

    ``other``: peaks of the recipe's program that does not stand (fused or composed); with another budget it may, so the
    better of the two counts.
    """
    own = _limits(timeline, timeline.peak)
    second = own if other is None else _limits(timeline, other)
    if second.obstacle or not isinstance(second.smallest_budget, int):
        return own
    if own.obstacle or not isinstance(own.smallest_budget, int) or second.smallest_budget < own.smallest_budget:
        return second
    return own


def _limits(timeline: Timeline, peak: Peak) -> Limits:
    total = peak.total
    if isinstance(total, Unavailable):
        return Limits(total, total, "sizes are unavailable: no budget makes it fit")
    smallest = total + timeline.reserve_bytes
    reserve = min(timeline.budget_bytes, PLANNED_BYTES) - total
    obstacle = ""
    overflow = contiguous_overflow(peak.maximum_standard_allocation, timeline.reserve_bytes)
    interleaved = peak.interleaved
    if isinstance(interleaved, Unavailable) or interleaved > timeline.interleaved_budget_bytes:
        obstacle = (
            f"the interleaved peak of {exact_text(interleaved)} is over its region of "
            f"{exact_text(timeline.interleaved_budget_bytes)}: no budget makes it fit"
        )
    elif isinstance(overflow, Unavailable) or overflow > 0:
        obstacle = (
            f"a standard allocation of {exact_text(peak.maximum_standard_allocation)} does not fit into one piece of "
            f"standard memory ({exact_text(overflow)} too large): no budget makes it fit"
        )
    elif smallest > PLANNED_BYTES:
        obstacle = f"a tile has {exact_text(PLANNED_BYTES)} for plans: no budget makes it fit with this reserve"
    return Limits(smallest, reserve, obstacle)


def sentences(timeline: Timeline | None, overrides: Overrides, other: Peak | None = None) -> list[str]:
    """What the pane says: the smallest budget, the largest reserve, obstacles, and what applies.

    ``other`` as in :func:`limits`.
    """
    if timeline is None:
        return ["No estimate: there is nothing to compare with a budget."]
    found = limits(timeline, other)
    lines = []
    total = timeline.peak.total
    smallest = found.smallest_budget
    if isinstance(smallest, int) and not found.obstacle:
        total = smallest - timeline.reserve_bytes
    if isinstance(found.smallest_budget, Unavailable):
        lines.append("The smallest budget that fits is unavailable, because the total peak is.")
    elif found.obstacle:
        lines.append(
            f"Total peak {exact_text(total)} + reserve {exact_text(timeline.reserve_bytes)} = "
            f"{size_text(found.smallest_budget)}."
        )
    else:
        lines.append(
            f"The smallest budget that fits is {size_text(found.smallest_budget)}: total peak {exact_text(total)} + "
            f"reserve {exact_text(timeline.reserve_bytes)}."
        )
    if found.obstacle:
        lines.append(found.obstacle[0].upper() + found.obstacle[1:] + ".")
    elif isinstance(found.largest_reserve, int):
        if found.largest_reserve >= 0:
            lines.append(f"The largest reserve that fits this budget is {size_text(found.largest_reserve)}.")
        else:
            lines.append("No reserve fits this budget: the total peak alone is over it.")
    if timeline.verdict.at_least:
        lines.append("Operations that are not known are missing in the peak: these figures are lower bounds.")
    if overrides != Overrides():
        lines.append("What-if values apply.")
    return lines


def not_modelled(timeline: Timeline | None) -> list[str]:
    """What the peaks leave out, so that nobody takes a budget that just fits for a promise; a line each."""
    if timeline is None or not timeline.notes:
        return []
    return ["What these figures leave out:", *(f"• {note[:1].upper()}{note[1:]}." for note in timeline.notes)]
