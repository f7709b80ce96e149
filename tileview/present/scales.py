"""Scales of plots: ticks of axes, ramps for sizes and differences, reserved slots.

A heatmap is drawn as one byte a pixel through a table of 256 colours. The first :data:`LEVELS` slots are the ramp; the
slots of :class:`Slot` stand above them, so that an unavailable tile or a hatch can never take a colour that also means
a number of bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from tileview.model.sizes import exact_text
from tileview.model.tensor import MemoryClass

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


Rgb = tuple[int, int, int]
RgbArray = npt.NDArray[np.uint8]

LEVELS: Final = 240
"""Slots 0 … 239 of a colour table belong to the ramp."""


class Slot(IntEnum):
    """Slots of a colour table that are no level of the ramp."""

    BACKGROUND = 240
    """No tile, and the gaps between tiles."""
    ABSENT = 241
    """The tile holds nothing of what is shown."""
    UNAVAILABLE = 242


OVER_LINE: Final = "#b42318"
"""The line around tiles that are over a budget, in every theme: it lies on the colours of a ramp, not on the ground."""


class Ramp(StrEnum):
    """Ramps by name."""

    VIRIDIS = "viridis"
    CIVIDIS = "cividis"
    DIFFERENCE = "difference"
    PLACEMENT = "placement"
    """What came of placing a tile, five colours in steps."""


_ANCHORS = {
    Ramp.VIRIDIS: (
        "440154 470d60 48186a 482374 472d7b 453781 424086 3e4989 3b528b 375b8d 33638d "
        "2f6b8e 2c728e 297a8e 26828e 23898e 21918c 1f978b 1f9f88 21a685 27ad81 31b57b "
        "3dbc74 4cc26c 5cc863 6ece58 81d34d 95d840 aadc32 c0df25 d5e21a eae51a fde725"
    ),
    Ramp.CIVIDIS: (
        "00204d 00265a 002c69 00306f 06366e 1f3c6d 2d426c 38486b 414d6b 4a536b 52596c "
        "595f6d 61646f 686a71 6f7073 767676 7d7c78 848179 8b8779 938e78 9b9477 a39a76 "
        "aca174 b4a872 bcaf6f c5b56c cebc68 d7c463 e0cb5e e9d358 f2da50 fbe248 ffea46"
    ),
    Ramp.PLACEMENT: "dcf1e4 9fd4b2 9fd4b2 6e4600 4a0d08",
    Ramp.DIFFERENCE: "08306b 0b5aa5 3f86c4 7fb2dc c0d9ee f7f7f7 fbdcb8 f5b567 e08a1e b35d00 6b3500",
}


def parse_rgb(text: str) -> Rgb:
    """``#1f77b4`` or ``1f77b4`` as three numbers of 0 … 255."""
    digits = text.removeprefix("#")
    return int(digits[0:2], 16), int(digits[2:4], 16), int(digits[4:6], 16)


@lru_cache(maxsize=16)
def ramp_table(ramp: Ramp, entries: int = LEVELS) -> RgbArray:
    """(entries, 3): the colours of a ramp, low to high; read-only.

    Viridis and Cividis grow evenly in lightness, so that twice the bytes look twice as bright also to people who do not
    tell red from green. The difference ramp is white in the middle; blue is less, orange is more, both darker the
    further from 0. That of placement has steps: placed ones are light, the others dark, with a contrast of 4.7 or more.
    """
    anchors = np.array([parse_rgb(text) for text in _ANCHORS[ramp].split()], dtype=np.float64)
    if ramp is Ramp.PLACEMENT:
        steps = anchors[np.arange(entries) * len(anchors) // entries].astype(np.uint8)
        steps.flags.writeable = False
        return steps
    places = np.linspace(0.0, len(anchors) - 1.0, entries)
    channels = [np.interp(places, np.arange(len(anchors)), anchors[:, channel]) for channel in range(3)]
    table = np.rint(np.stack(channels, axis=1)).astype(np.uint8)
    table.flags.writeable = False
    return table


def colour_table(ramp: Ramp, slots: Mapping[Slot, Rgb]) -> RgbArray:
    """(256, 3): the colours of an image of slots; slots that are not given are black."""
    table = np.zeros((256, 3), dtype=np.uint8)
    table[:LEVELS] = ramp_table(ramp)
    for slot, rgb in slots.items():
        table[slot] = rgb
    return table


def needs_light_ink(table: RgbArray) -> npt.NDArray[np.bool_]:
    """(n,): on which of some colours white lines show better than black ones."""
    return np.array([ink_on((red, green, blue)) == (255, 255, 255) for red, green, blue in table.tolist()])


def relative_luminance(rgb: Rgb) -> float:
    """Luminance of an sRGB colour, 0 (black) … 1 (white)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (part / 255 for part in rgb)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: Rgb, second: Rgb) -> float:
    """Contrast ratio of two colours, 1 … 21; text needs 4.5."""
    low, high = sorted((relative_luminance(first), relative_luminance(second)))
    return (high + 0.05) / (low + 0.05)


def ink_on(background: Rgb) -> Rgb:
    """Black or white, whichever is easier to read on a colour."""
    black, white = (0, 0, 0), (255, 255, 255)
    return black if contrast(black, background) >= contrast(white, background) else white


def class_token(memory_class: MemoryClass) -> str:
    return "interleaved" if memory_class is MemoryClass.INTERLEAVED else "standard"


def category(index: int, colours: Sequence[str]) -> tuple[str, int]:
    """Colour and pattern of the ``index``-th category.

    The pattern number grows each time the colours start again, so that no two categories look the same; pattern 0 is
    plain.
    """
    return colours[index % len(colours)], index // len(colours)
