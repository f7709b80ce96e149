"""Which memory of a tile is open: presets with their origin, typed ranges and their checks, the smallest enlargement.

What is open depends on the program: descriptors, code and exchange tables take their part first. A preset is what one
real compile left open (or, for "planner", what the estimate assumes); another program leaves something else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tileview.errors import TileViewError
from tileview.model.placement import (
    DATA_END,
    DATA_START,
    END,
    REGION0_ELEMENT,
    WINDOW,
    Memory,
    ProfileTile,
    Ranges,
    Span,
)

CODE_START: Final = 376_832
"""Host and tile programs lie from here on."""
STEP: Final = 4_096
"""Bytes by which an enlargement is tried."""
PLANNER: Final = "planner"
_REFUSED: Final = "the compiler rejects such ranges (tile 0 has insufficient Ipu21Standard SRAM for 0 bytes)"
_DESCRIPTORS: Final = "Per-tile image data / host descriptors"
_PROFILING: Final = "cycle profile samples"


class RangeError(TileViewError):
    """Ranges that the compiler would refuse, or a text that does not name ranges."""


@dataclass(frozen=True, slots=True)
class Preset:
    """Ranges with a name and where they come from. ``title`` is for sentences: "captured 498,872 B". ``stated``: the
    memory of a tile dump, which may divide it in a way of its own; its ranges are these."""

    name: str
    title: str
    ranges: Ranges
    origin: str
    stated: Memory | None = None

    @property
    def memory(self) -> Memory:
        return Memory(self.ranges) if self.stated is None else self.stated

    @property
    def bytes(self) -> int:
        return sum(end - start for start, end in self.ranges)


def from_parts(descriptors: int, elements: int, *, window: bool = True) -> Ranges:
    """The ranges that D bytes of host descriptors and E elements of code and exchange table leave.

    Raises
    ------
    RangeError
        Where nothing sound is left.
    """
    low = DATA_START + descriptors
    behind = [(low, CODE_START), (CODE_START + REGION0_ELEMENT * elements, DATA_END)] if elements else [(low, DATA_END)]
    return checked([*([WINDOW] if window else []), *behind])


def presets(reserve: int) -> tuple[Preset, ...]:
    """The presets, the planner's first; ``reserve``: bytes that it keeps for support code."""
    return (
        Preset(
            PLANNER,
            "the planner's memory",
            ((DATA_START + reserve, DATA_END),),
            f"what the estimate assumes: all planned memory behind {reserve:,} B for support code, no window",
        ),
        Preset(
            "captured-482496",
            "captured 482,496 B",
            from_parts(6_160, 8),
            "what a real compile of a 27-layer model left open: 6,160 B of descriptors, 8 elements of code and table",
        ),
        Preset(
            "captured-498872",
            "captured 498,872 B",
            from_parts(6_168, 7),
            "what a real compile of a 27-layer model left open: 6,168 B of descriptors, 7 elements of code and table",
        ),
        Preset(
            "notes-513920",
            "notes 513,920 B",
            (WINDOW, (368_488, CODE_START), (475_136, 524_288), (525_512, DATA_END)),
            "put together from notes on a build for batch one: 6,280 B of descriptors, 6 elements of code and table, "
            "and the hole that profiling left at the region boundary",
        ),
    )


CAPTURED: Final = "captured-498872"
"""The preset that a verdict's third step looks at."""
TIGHTER: Final = "captured-482496"


def planner_bytes(reserve: int) -> int:
    """Bytes a tile that the planner assumes to be open."""
    return DATA_END - DATA_START - reserve


def preset(name: str, reserve: int) -> Preset | None:
    """A preset by its name; None where there is none of that name."""
    return next((each for each in presets(reserve) if each.name == name), None)


def checked(ranges: Sequence[Span]) -> Ranges:
    """The ranges, if the compiler would take them.

    Raises
    ------
    RangeError
        A range is empty, does not lie behind the one before, ends above 949,168 or starts below 362,208 without being
        exactly the window.
    """
    before = 0
    for start, end in ranges:
        name = f"the range {start:,} to {end:,}"
        if start >= end:
            raise RangeError(f"{name} is empty: {_REFUSED}")
        if start < before:
            raise RangeError(f"{name} starts before the one in front of it ends: {_REFUSED}")
        if end > DATA_END:
            raise RangeError(f"{name} ends above {DATA_END:,}, the end of the data: {_REFUSED}")
        if start < DATA_START and (start, end) != WINDOW:
            window = f"{WINDOW[0]:,} to {WINDOW[1]:,}"
            raise RangeError(f"{name} starts below {DATA_START:,} and is not the window ({window}): {_REFUSED}")
        before = end
    return tuple(ranges)


def parse_ranges(text: str) -> Ranges:
    """Typed ranges, ``A-B,C-D``: half-open, addresses in decimal or, with 0x, in hexadecimal.

    Raises
    ------
    RangeError
        No such text, or ranges that the compiler would refuse.
    """
    found = []
    for part in text.replace("_", "").split(","):
        low, dash, high = part.strip().partition("-")
        try:
            found.append((int(low, 0), int(high, 0)))
        except ValueError:
            expected = "expected ranges such as 368376-376832,0x78000-949168"
            raise RangeError(f'{expected}, found "{part.strip()[:40]}"' if dash or part else expected) from None
    return checked(found)


def open_ranges(tile: ProfileTile, labels: Sequence[str]) -> Ranges:
    """What a finished compile left open on a tile: data memory less the support that lives through the run.

    Host descriptors and profiling samples do not count as support here: the first lay where tensors left room in older
    builds, the second are a request. The window is open where it is listed with lives 0–0 and END–END.
    """
    ignored = (_DESCRIPTORS, _PROFILING)
    through = (tile.lives[:, 0] == 0) & (tile.lives[:, 1] == END)
    taken = sorted(
        (int(tile.spans[index, 0]), int(tile.spans[index, 2]))
        for index in np.flatnonzero(through)
        if tile.kinds[index] == "support" and not labels[tile.labels[index]].startswith(ignored)
    )
    lives = {
        (int(first), int(last))
        for (start, _, end), (first, last) in zip(tile.spans.tolist(), tile.lives.tolist(), strict=True)
        if (start, end) == WINDOW
    }
    found = [WINDOW] if {(0, 0), (END, END)} <= lives else []
    low = DATA_START
    for start, end in [*taken, (DATA_END, DATA_END)]:
        if low < min(start, DATA_END):
            found.append((low, min(start, DATA_END)))
        low = max(low, end)
    return tuple(found)


def enlargements(ranges: Ranges) -> Iterator[tuple[int, Ranges]]:
    """(bytes, ranges): the first range behind the code's start lowered in steps of 4,096 bytes, while it can be.

    The first entry is the ranges themselves. The start stays behind the range before, with which it is merged once
    they touch, and at 362,208 or above; the last step may be cut short and still counts in full.
    """
    yield 0, ranges
    index = next((index for index, (start, _) in enumerate(ranges) if start >= CODE_START), None)
    if index is None:
        return
    before, (start, end), after = ranges[:index], ranges[index], ranges[index + 1 :]
    floor = max(DATA_START, before[-1][1] if before else 0)
    low, step = start, 0
    while low > floor:
        step += 1
        low = max(start - STEP * step, floor)
        if before and low == before[-1][1]:
            yield STEP * step, (*before[:-1], (before[-1][0], end), *after)
        else:
            yield STEP * step, (*before, (low, end), *after)


def elements_of(enlargement: int) -> int:
    """How many elements of code or table an enlargement is worth."""
    return -(-enlargement // REGION0_ELEMENT)
