"""Planner's cycles in words: exact, short, and as differences."""

from __future__ import annotations

from tileview.model.sizes import Size, Unavailable


def exact_cycles(cycles: Size) -> str:
    """``20,751,796``, or ``unavailable``."""
    return "unavailable" if isinstance(cycles, Unavailable) else f"{cycles:,}"


def short_cycles(cycles: Size) -> str:
    """``20.75 M``: millions with two decimals from a million on (half up), exact below."""
    if isinstance(cycles, Unavailable) or cycles < 10**6:
        return exact_cycles(cycles)
    hundredths = (cycles + 5_000) // 10_000
    return f"{hundredths // 100:,}.{hundredths % 100:02} M"


def describe_cycles(difference: int) -> str:
    """``+1,024``, ``−4,113,153``, ``±0``."""
    sign = "±" if difference == 0 else "+" if difference > 0 else "−"
    return f"{sign}{abs(difference):,}"


def short_change(difference: int) -> str:
    """``−4.11 M``, ``+1,024``, ``±0``: as :func:`short_cycles`, with its sign."""
    sign = "±" if difference == 0 else "+" if difference > 0 else "−"
    return f"{sign}{short_cycles(abs(difference))}"


def cycles_between(before: Size | None, after: Size | None) -> int | None:
    """after − before; None where one is not known."""
    return after - before if isinstance(before, int) and isinstance(after, int) else None


def percent_between(before: Size | None, after: Size | None) -> str:
    """`` (−16 %)``, whole per cents; empty below 2 %, which is less than the planner's cycles can tell apart."""
    difference = cycles_between(before, after)
    if difference is None or not isinstance(before, int) or before <= 0 or 50 * abs(difference) < before:
        return ""
    whole = (200 * abs(difference) + before) // (2 * before)
    return f" ({'+' if difference > 0 else '−'}{whole} %)"
