"""Where a request can lie, and what no placement can get round.

Requests stand in parallel lists here (:class:`Asked`), because the orders look at each of a few hundred of them a few
hundred times per class of tiles.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tileview.model.placement import END, Memory, Request, Span
from tileview.model.tensor import MemoryClass


class FreePlace(NamedTuple):
    """Starts ``low``, ``low + alignment``, … ``high`` for a request that is ``bytes`` long there."""

    low: int
    high: int
    bytes: int
    alignment: int


class Asked:
    """The requests of one tile, spelt out: entry i of every list belongs to request i.

    ``sizes`` and ``grains`` hold bytes and alignment in region 0, ``sizes1`` and ``grains1`` those in region 1; they
    differ where a request has a region1_stride. ``bytes`` and ``alignments`` are what it states. ``conflicts``:
    indices of the requests that may share no element with it, ascending, both ways.
    """

    __slots__ = (
        "alignments",
        "bytes",
        "conflicts",
        "firsts",
        "grains",
        "grains1",
        "interleaved",
        "kept",
        "lasts",
        "sizes",
        "sizes1",
    )

    def __init__(
        self,
        interleaved: list[bool],
        sizes: list[int],
        alignments: list[int],
        firsts: list[int],
        lasts: list[int],
        conflicts: list[tuple[int, ...]],
    ) -> None:
        self.interleaved = interleaved
        self.bytes = self.sizes = self.sizes1 = sizes
        self.alignments = self.grains = self.grains1 = alignments
        self.firsts = firsts
        self.lasts = lasts
        self.conflicts = conflicts
        self.kept = [first == 0 or last == END for first, last in zip(firsts, lasts, strict=True)]

    def __len__(self) -> int:
        return len(self.bytes)

    def with_strides(self, strides: Sequence[tuple[int, int] | None], memory: Memory) -> None:
        """Let requests with a (region1_stride, members) take whole elements in both regions."""
        self.grains, self.grains1, self.sizes1 = list(self.alignments), list(self.alignments), list(self.bytes)
        for index, entry in enumerate(strides):
            if entry is not None:
                stride, members = entry
                self.sizes1[index] = stride * members
                self.grains[index] = max(self.alignments[index], memory.region0_element)
                self.grains1[index] = max(self.alignments[index], memory.region1_element)


def spell_out(requests: Sequence[Request], memory: Memory) -> Asked:
    """Requests as parallel lists; conflicts become indices, and hold both ways though one side lists them."""
    holders = {root: index for index, request in enumerate(requests) for root in request.roots}
    meeting: list[set[int]] = [set() for _ in requests]
    for index, request in enumerate(requests):
        for root in request.conflicts:
            other = holders.get(root, index)
            if other != index:
                meeting[index].add(other)
                meeting[other].add(index)
    asked = Asked(
        [request.memory_class is MemoryClass.INTERLEAVED for request in requests],
        [request.bytes for request in requests],
        [request.alignment or 1 for request in requests],
        [request.first for request in requests],
        [request.last for request in requests],
        [tuple(sorted(others)) for others in meeting],
    )
    if any(request.region1_stride is not None for request in requests):
        asked.with_strides(
            [
                None if request.region1_stride is None else (request.region1_stride, len(request.assignments))
                for request in requests
            ],
            memory,
        )
    return asked


def usable(asked: Asked, index: int, span: Span, memory: Memory) -> Iterable[tuple[Span, int]]:
    """The parts of a range that a request may use by region, offset and window, each with its region (0 or 1)."""
    start, end = span
    window = memory.window
    if asked.kept[index] and window[0] <= start and end <= window[1]:
        return
    boundary = memory.boundary
    if start <= boundary and not asked.interleaved[index]:
        yield (start, min(end, boundary)), 0
    if end >= boundary:
        lowest = boundary + memory.interleaved_offset if asked.interleaved[index] else boundary
        yield (max(start, lowest), end), 1


def places(asked: Asked, index: int, ranges: Iterable[Span], memory: Memory) -> list[FreePlace]:
    """The places of a request in a list of ranges: by range, region 0 before region 1."""
    found = []
    for span in ranges:
        for (low, high), region in usable(asked, index, span, memory):
            size, grain = (
                (asked.sizes[index], asked.grains[index])
                if region == 0
                else (asked.sizes1[index], asked.grains1[index])
            )
            lowest, highest = (low + grain - 1) & -grain, (high - size) & -grain
            if size <= high and lowest <= highest:
                found.append(FreePlace(lowest, highest, size, grain))
    return found


def widened(start: int, end: int, memory: Memory) -> Span:
    """A placed span, widened to the whole memory elements that it touches."""
    element = memory.region0_element if start < memory.boundary else memory.region1_element
    return start // element * element, -(-end // element) * element


def forbidden_spans(spans: Iterable[Span], memory: Memory) -> list[Span]:
    """What placed requests keep from one that conflicts with them: elements, ascending, merged where they touch."""
    found: list[Span] = []
    for start, end in sorted(widened(*span, memory) for span in spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def past_forbidden(start: int, size: int, grain: int, forbidden: Iterable[Span]) -> int:
    """The first start from ``start`` on, at the alignment, that keeps clear of every forbidden span."""
    for low, high in forbidden:
        if start < high and low < start + size:
            start = (high + grain - 1) & -grain
    return start


def largest_hole(asked: Asked, index: int, free: Iterable[Span], memory: Memory) -> int:
    """The longest piece of free memory that a request may use, alignment and conflicts aside; 0 where there is none."""
    return max(
        (high - low for span in free for (low, high), _ in usable(asked, index, span, memory) if high > low), default=0
    )


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
