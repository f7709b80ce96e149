"""Axis ticks: byte axes in powers of two, step axes in round decimals."""

from __future__ import annotations

from dataclasses import dataclass

from tileview.model.sizes import exact_text

UNIT_BYTES = {"EiB": 1 << 60, "PiB": 1 << 50, "TiB": 1 << 40, "GiB": 1 << 30, "MiB": 1 << 20, "KiB": 1 << 10, "B": 1}
"""Units of sizes, the largest first."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A place on an axis (bytes or a step) and what is written there."""

    value: int
    text: str


def binary_spacing(extent: int, most: int) -> int:
    """The smallest power of two that divides ``extent`` bytes into at most ``most`` gaps; at least 1."""
    most = max(most, 1)
    spacing = 1
    while spacing * most < extent:
        spacing *= 2
    return spacing


def byte_ticks(low: int, high: int, most: int = 8) -> tuple[Tick, ...]:
    """Ticks from ``low`` to ``high`` bytes, both included, at multiples of a power of two.

    Memory is laid out in powers of two, so an axis that counts 128, 256, 384 KiB lines up with memory elements and
    regions where one of 100, 200, 300 KiB does not. All labels have the same unit, the largest in which the spacing is
    a whole number of units (KiB for every spacing from 1 KiB to below 1 MiB); 0 is written with the unit too, because a
    number without one says nothing.

    Parameters
    ----------
    low, high : int
        Bytes; negative ones (differences) are allowed.
    most : int
        The most gaps between ticks over the whole extent, at least 1.
    """
    if high <= low:
        return (Tick(low, exact_text(low)),)
    spacing = binary_spacing(high - low, most)
    unit, size = next(entry for entry in UNIT_BYTES.items() if spacing >= entry[1])
    first = -(-low // spacing)
    return tuple(
        Tick(index * spacing, f"{_signed(index * spacing // size)} {unit}")
        for index in range(first, high // spacing + 1)
    )


def cycle_ticks(low: int, high: int, most: int = 8) -> tuple[Tick, ...]:
    """Ticks at round numbers of planner's cycles in ``low`` … ``high``: in millions where all of them are round."""
    if high <= low:
        return (Tick(low, f"{low:,}"),)
    spacing = step_spacing(high - low, most)
    first = max(-(-low // spacing), 0)
    return tuple(
        Tick(index * spacing, _millions(index * spacing, spacing)) for index in range(first, high // spacing + 1)
    )


def _millions(cycles: int, spacing: int) -> str:
    if spacing < 10_000:
        return f"{cycles:,}"
    digits = 0 if spacing >= 10**6 else 1 if spacing >= 10**5 else 2
    return f"{cycles / 10**6:,.{digits}f} M"


def _signed(number: int) -> str:
    return f"−{-number:,}" if number < 0 else f"{number:,}"


def step_spacing(extent: int, most: int) -> int:
    """The smallest of 1, 2, 5, 10, 20, 50 … that divides ``extent`` steps into at most ``most`` gaps."""
    most = max(most, 1)
    decade = 1
    while True:
        for factor in (1, 2, 5):
            if factor * decade * most >= extent:
                return factor * decade
        decade *= 10


def step_ticks(first: int, last: int, most: int = 10) -> tuple[Tick, ...]:
    """Ticks at round step numbers in ``first`` … ``last``, both included; none where the range is empty."""
    if last < first:
        return ()
    spacing = step_spacing(max(last - first, 1), most)
    start = -(-first // spacing)
    return tuple(Tick(index * spacing, f"{index * spacing:,}") for index in range(start, last // spacing + 1))
