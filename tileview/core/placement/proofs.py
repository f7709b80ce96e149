"""What no placement can get round: more live bytes than there is memory for them, or a request that no range holds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tileview.core.placement.fit import Asked, usable
from tileview.model.placement import Memory


@dataclass(frozen=True, slots=True)
class Shortage:
    """Live bytes of some requests at their worst event (None where there are none), and the memory they may use."""

    peak: int
    event: int | None
    capacity: int

    @property
    def over(self) -> int:
        """Bytes that are missing whatever the order; 0 where the bytes alone prove nothing."""
        return max(0, self.peak - self.capacity)


@dataclass(frozen=True, slots=True)
class Proofs:
    """``all``: the compiler's own. ``kept``: what lives before or after the run, which may not use the window.
    ``interleaved``: against region 1. ``no_place``: requests that no range can hold even alone."""

    all: Shortage
    kept: Shortage
    interleaved: Shortage
    no_place: tuple[int, ...]

    @property
    def worst(self) -> tuple[str, Shortage]:
        """The shortage with the most bytes missing, by name: "all requests", "kept requests" or "interleaved"."""
        named = (("all requests", self.all), ("kept requests", self.kept), ("interleaved requests", self.interleaved))
        return max(named, key=lambda entry: entry[1].over)

    @property
    def over(self) -> int:
        """The most bytes that are missing by any of the three."""
        return self.worst[1].over

    @property
    def impossible(self) -> bool:
        """Whether it is proved that nothing places these requests."""
        return self.over > 0 or bool(self.no_place)


def prove(asked: Asked, memory: Memory) -> Proofs:
    """The proofs of one tile's requests against its bare ranges.

    A request counts with its smallest bytes over its places, with none where it has no place.
    """
    smallest, no_place = _smallest(asked, memory)
    window, lowest = memory.window, memory.boundary + memory.interleaved_offset
    outside = sum(b - a for a, b in memory.ranges if not (window[0] <= a and b <= window[1]))
    above = sum(max(0, b - max(a, lowest)) for a, b in memory.ranges)
    lives = _Lives(asked, smallest)
    return Proofs(
        lives.shortage(None, memory.bytes),
        lives.shortage(asked.kept, outside),
        lives.shortage(asked.interleaved, above),
        no_place,
    )


def _smallest(asked: Asked, memory: Memory) -> tuple[list[int], tuple[int, ...]]:
    """Every request's smallest bytes over its places in the bare ranges, and the requests that have none."""
    room: dict[tuple[int, int, bool, bool], tuple[int, int]] = {}
    smallest, without = [], []
    rows = zip(asked.sizes, asked.sizes1, asked.grains, asked.grains1, asked.interleaved, asked.kept, strict=True)
    for index, (size, size1, *traits) in enumerate(rows):
        key = (traits[0], traits[1], bool(traits[2]), bool(traits[3]))
        longest = room.get(key)
        if longest is None:
            longest = room[key] = _longest(asked, index, memory)
        if size1 <= longest[1]:
            smallest.append(min(size, size1) if size <= longest[0] else size1)
        elif size <= longest[0]:
            smallest.append(size)
        else:
            smallest.append(0)
            without.append(index)
    return smallest, tuple(without)


def _longest(asked: Asked, index: int, memory: Memory) -> tuple[int, int]:
    """The most bytes that a request like this one may have to start aligned in region 0, and in region 1; −1: none."""
    longest = [-1, -1]
    grains = (asked.grains[index], asked.grains1[index])
    for span in memory.ranges:
        for (low, high), region in usable(asked, index, span, memory):
            longest[region] = max(longest[region], high - ((low + grains[region] - 1) & -grains[region]))
    return longest[0], longest[1]


class _Lives:
    """The bytes that live at the events at which requests begin."""

    def __init__(self, asked: Asked, sizes: list[int]) -> None:
        firsts = np.array(asked.firsts, dtype=np.int64)
        self.sizes = np.array(sizes, dtype=np.int64)
        self.events, self.begins = np.unique(firsts, return_inverse=True)
        self.ends = np.searchsorted(self.events, np.array(asked.lasts, dtype=np.int64), side="right")

    def shortage(self, counted: list[bool] | None, capacity: int) -> Shortage:
        """The worst event for the requests that count (None: all); of equal peaks the earliest is named."""
        sizes = self.sizes if counted is None else np.where(counted, self.sizes, 0)
        change = np.zeros(len(self.events) + 1, dtype=np.int64)
        np.add.at(change, self.begins, sizes)
        np.subtract.at(change, self.ends, sizes)
        live = np.cumsum(change[:-1])
        if not live.any():
            return Shortage(0, None, capacity)
        worst = int(live.argmax())
        return Shortage(int(live[worst]), int(self.events[worst]), capacity)
