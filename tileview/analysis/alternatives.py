"""What each alternative would give, swapped in alone."""

from __future__ import annotations

from dataclasses import dataclass

from tileview.model.timeline import Peak, Verdict


@dataclass(frozen=True, slots=True)
class AlternativeResult:
    """One alternative of one operation, evaluated against the recipe in force.

    ``ok`` False means that it cannot be lowered, ``error`` says why; then ``peak`` and ``delta_total`` are None.
    ``delta_total`` is the change of the total peak in bytes against the recipe in force (negative: better), None
    where either is unavailable.
    """

    operation: int
    alternative: int
    in_force: bool
    ok: bool
    error: str | None
    peak: Peak | None
    fits: bool
    delta_total: int | None
    verdict: Verdict | None = None
