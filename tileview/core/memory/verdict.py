"""Peaks and the verdict: fits or not, by how much, and where.

Fits if interleaved ≤ the interleaved budget, and total + reserve ≤ budget, and no single standard allocation is
larger than the largest contiguous range of standard memory. A value without a valid layout never fits; where sizes
are not known, or operations are not, what is known decides only if it is too much already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tileview.model.config import INTERLEAVED_BYTES, PLANNED_BYTES, STANDARD_BELOW_BYTES
from tileview.model.sizes import UNAVAILABLE, Size, Unavailable, exact_text
from tileview.model.timeline import Cause, Peak, Place, Verdict

CONTIGUOUS_LIMIT: Final = "contiguous standard memory"
INTERLEAVED_LIMIT: Final = "interleaved region"
TOTAL_LIMIT: Final = "total budget"
LAYOUT_LIMIT: Final = "valid layouts"
SIZE_LIMIT: Final = "known sizes"
NOT_KNOWN: Final = frozenset({Cause.CONTRADICTION, Cause.DAMAGED, Cause.INCOMPLETE})
"""The causes of a verdict that is not known."""


@dataclass(frozen=True, slots=True)
class Unsized:
    """A live value whose size is unavailable. ``invalid_layout``: because its layout is invalid."""

    value: int
    name: str
    reason: str
    invalid_layout: bool


@dataclass(frozen=True, slots=True)
class Budgets:
    """``total``: what peak plus ``reserve`` may reach; ``interleaved``: what the interleaved peak may reach."""

    total: int
    interleaved: int
    reserve: int


def cut_note(budget: int) -> tuple[str, ...]:
    """Says that a budget is larger than what a tile has for plans, and counts as that; nothing where it is not."""
    if budget <= PLANNED_BYTES:
        return ()
    return (f"the budget of {exact_text(budget)} is cut to the {exact_text(PLANNED_BYTES)} that a tile has for plans",)


def region_note(budget: int) -> tuple[str, ...]:
    """:func:`cut_note` for what is given to interleaved memory."""
    if budget <= INTERLEAVED_BYTES:
        return ()
    region = exact_text(INTERLEAVED_BYTES)
    return (f"the interleaved budget of {exact_text(budget)} is cut to the {region} of the interleaved region",)


def contiguous_bytes(taken: int) -> int:
    """The largest unbroken piece of standard memory when ``taken`` bytes below the interleaved region are gone."""
    return max(max(STANDARD_BELOW_BYTES - taken, 0), INTERLEAVED_BYTES)


def contiguous_overflow(largest: Size, taken: int) -> Size:
    """Bytes by which the largest standard allocation exceeds the largest unbroken piece; unavailable if it is."""
    return UNAVAILABLE if isinstance(largest, Unavailable) else max(0, largest - contiguous_bytes(taken))


def deciding_sizes(peak: Peak) -> tuple[Size, Size, Size]:
    """The figures that the limits are held against: total, interleaved, largest standard allocation."""
    return peak.total, peak.interleaved, peak.maximum_standard_allocation


def decide(
    peak: Peak,
    budgets: Budgets,
    *,
    total_place: Place,
    interleaved_place: Place,
    standard_place: Place,
    unsized: tuple[Unsized, ...] = (),
    at_least: bool = False,
    unknown: Cause = Cause.INCOMPLETE,
) -> Verdict:
    """The verdict on peaks (exchange rows not included).

    Where several limits are exceeded, the first of: invalid layouts, interleaved region, total budget, contiguous
    standard memory.

    Parameters
    ----------
    peak : Peak
        Where there are values without a known size, the known part of it.
    total_place, interleaved_place, standard_place : Place
        Where the total and the interleaved peak and the largest standard allocation are.
    at_least : bool
        Whether unknown operations make every sum a lower bound.
    unknown : Cause
        INCOMPLETE or DAMAGED: why it is not known, where sizes are missing and what is left would fit.
    """
    if any(value.invalid_layout for value in unsized):
        return _invalid(unsized, budgets, total_place, at_least)
    figures = deciding_sizes(peak)
    at_least = at_least or bool(unsized) or any(isinstance(size, Unavailable) for size in figures)
    total, interleaved, largest = (0 if isinstance(size, Unavailable) else size for size in figures)
    bound = "at least " if at_least else ""
    if interleaved > budgets.interleaved:
        excess = exact_text(interleaved - budgets.interleaved)
        text = (
            f"interleaved peak of {bound}{exact_text(interleaved)} is {excess} over the interleaved region of "
            f"{exact_text(budgets.interleaved)}{interleaved_place}"
        )
        return _verdict(
            Cause.INTERLEAVED, text, INTERLEAVED_LIMIT, interleaved, budgets.interleaved, interleaved_place, at_least
        )
    needed = total + budgets.reserve
    sums = f"total peak {bound}{exact_text(total)} + reserve {exact_text(budgets.reserve)}"
    if needed > budgets.total:
        excess = exact_text(needed - budgets.total)
        text = f"{sums} is {excess} over the budget of {exact_text(budgets.total)}{total_place}"
        return _verdict(Cause.TOTAL, text, TOTAL_LIMIT, needed, budgets.total, total_place, at_least)
    room = contiguous_bytes(budgets.reserve)
    if largest > room:
        text = (
            f"a standard allocation of {bound}{exact_text(largest)} is {exact_text(largest - room)} larger than the "
            f"largest unbroken piece of standard memory, {exact_text(room)}{standard_place}"
        )
        return _verdict(Cause.CONTIGUOUS, text, CONTIGUOUS_LIMIT, largest, room, standard_place, at_least)
    spare = exact_text(budgets.total - needed)
    if unsized or any(isinstance(size, Unavailable) for size in figures):
        reason = _unsized_text(unsized, "known size") if unsized else "its peaks have no known size"
        known = "" if isinstance(peak.total, Unavailable) else f"; what is known, {sums}, is within the budget"
        return _verdict(unknown, f"{reason}{known}", SIZE_LIMIT, UNAVAILABLE, budgets.total, total_place, True)
    text = f"{sums} leaves {spare} of the budget of {exact_text(budgets.total)}{total_place}"
    if at_least:
        text = f"operations that are not known may need more: {text}"
        return _verdict(Cause.INCOMPLETE, text, TOTAL_LIMIT, needed, budgets.total, total_place, at_least)
    return _verdict(Cause.FITS, text, TOTAL_LIMIT, needed, budgets.total, total_place, at_least)


def _invalid(unsized: tuple[Unsized, ...], budgets: Budgets, place: Place, at_least: bool) -> Verdict:
    text = _unsized_text([value for value in unsized if value.invalid_layout], "valid layout")
    return _verdict(Cause.INVALID_LAYOUT, text, LAYOUT_LIMIT, UNAVAILABLE, budgets.total, place, at_least)


def _unsized_text(values: Sequence[Unsized], what: str) -> str:
    first = values[0]
    if len(values) == 1:
        return f"{first.name} has no {what}: {first.reason}"
    return f"{len(values):,} values have no {what}, the first is {first.name}: {first.reason}"


def _verdict(
    cause: Cause, text: str, limit: str, needed: Size, available: int, place: Place, at_least: bool
) -> Verdict:
    short: Size = UNAVAILABLE if isinstance(needed, Unavailable) else needed - available
    return Verdict(
        fits=None if cause in NOT_KNOWN else cause is Cause.FITS,
        cause=cause,
        text=text,
        limit=limit,
        needed_bytes=needed,
        available_bytes=available,
        short_bytes=short,
        step=place.step,
        tile=place.tile,
        operation=place.operation,
        at_least=at_least,
    )
