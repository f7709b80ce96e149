"""Peaks and the verdict: fits or not, by how much, and where.

Fits if interleaved ≤ the interleaved budget, and total + reserve ≤ budget, and no single standard allocation is
larger than the largest unbroken piece of standard memory. What is unavailable never fits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tileview.model.config import INTERLEAVED_BYTES, STANDARD_BELOW_BYTES
from tileview.model.sizes import UNAVAILABLE, Size, Unavailable, exact_text
from tileview.model.timeline import Cause, Peak, Verdict

CONTIGUOUS_LIMIT: Final = "contiguous standard memory"
INTERLEAVED_LIMIT: Final = "interleaved region"
TOTAL_LIMIT: Final = "total budget"
LAYOUT_LIMIT: Final = "valid layouts"
SIZE_LIMIT: Final = "known sizes"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a peak is; each part None where it is not known."""

    step: int | None = None
    tile: int | None = None
    operation: int | None = None

    def __str__(self) -> str:
        """`` at step 31, tile 212, operation 12``, with what is known of it; empty where nothing is."""
        parts = []
        if self.step is not None:
            parts.append(f"step {self.step}")
        if self.tile is not None:
            parts.append(f"tile {self.tile}")
        if self.operation is not None:
            parts.append(f"operation {self.operation}")
        return f" at {', '.join(parts)}" if parts else ""


@dataclass(frozen=True, slots=True)
class Unsized:
    """A live value whose size is unavailable. ``invalid_layout``: because its layout does not resolve."""

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


def contiguous_bytes(taken: int) -> int:
    """The largest unbroken piece of standard memory when ``taken`` bytes below the interleaved region are gone."""
    return max(max(STANDARD_BELOW_BYTES - taken, 0), INTERLEAVED_BYTES)


def contiguous_overflow(largest: Size, taken: int) -> Size:
    """Bytes by which the largest standard allocation exceeds the largest unbroken piece; unavailable if it is."""
    return UNAVAILABLE if isinstance(largest, Unavailable) else max(0, largest - contiguous_bytes(taken))


def decide(
    peak: Peak,
    budgets: Budgets,
    *,
    total_place: Place,
    interleaved_place: Place,
    standard_place: Place,
    unsized: tuple[Unsized, ...] = (),
    at_least: bool = False,
) -> Verdict:
    """The verdict on peaks (exchange rows not included).

    Where several limits are exceeded, the first of: invalid layouts, other unavailable sizes, interleaved region, total
    budget, contiguous standard memory.

    Parameters
    ----------
    total_place, interleaved_place, standard_place : Place
        Where the total and the interleaved peak and the largest standard allocation are.
    at_least : bool
        Whether unknown operations make every sum a lower bound.
    """
    if unsized:
        return _unavailable(unsized, budgets, total_place, at_least)
    total, interleaved, largest = peak.total, peak.interleaved, peak.maximum_standard_allocation
    if isinstance(total, Unavailable) or isinstance(interleaved, Unavailable) or isinstance(largest, Unavailable):
        text = "the file gives no size for its peaks"
        return _verdict(Cause.UNAVAILABLE, text, SIZE_LIMIT, UNAVAILABLE, budgets.total, total_place, at_least)
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
    figures = f"total peak {bound}{exact_text(total)} + reserve {exact_text(budgets.reserve)}"
    if needed > budgets.total:
        excess = exact_text(needed - budgets.total)
        text = f"{figures} is {excess} over the budget of {exact_text(budgets.total)}{total_place}"
        return _verdict(Cause.TOTAL, text, TOTAL_LIMIT, needed, budgets.total, total_place, at_least)
    room = contiguous_bytes(budgets.reserve)
    if largest > room:
        text = (
            f"a standard allocation of {bound}{exact_text(largest)} is {exact_text(largest - room)} larger than the "
            f"largest unbroken piece of standard memory, {exact_text(room)}{standard_place}"
        )
        return _verdict(Cause.CONTIGUOUS, text, CONTIGUOUS_LIMIT, largest, room, standard_place, at_least)
    spare = exact_text(budgets.total - needed)
    text = f"{figures} leaves {spare} of the budget of {exact_text(budgets.total)}{total_place}"
    if at_least:
        text += "; operations that are not known may need more"
    return _verdict(Cause.FITS, text, TOTAL_LIMIT, needed, budgets.total, total_place, at_least)


def _unavailable(unsized: tuple[Unsized, ...], budgets: Budgets, place: Place, at_least: bool) -> Verdict:
    invalid = [value for value in unsized if value.invalid_layout]
    named = invalid or list(unsized)
    what = "valid layout" if invalid else "known size"
    if len(named) == 1:
        text = f"{named[0].name} has no {what}: {named[0].reason}"
    else:
        text = f"{len(named)} values have no {what}, the first is {named[0].name}: {named[0].reason}"
    cause = Cause.INVALID_LAYOUT if invalid else Cause.UNAVAILABLE
    limit = LAYOUT_LIMIT if invalid else SIZE_LIMIT
    return _verdict(cause, text, limit, UNAVAILABLE, budgets.total, place, at_least)


def _verdict(
    cause: Cause, text: str, limit: str, needed: Size, available: int, place: Place, at_least: bool
) -> Verdict:
    short: Size = UNAVAILABLE if isinstance(needed, Unavailable) else needed - available
    return Verdict(
        fits=cause is Cause.FITS,
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
