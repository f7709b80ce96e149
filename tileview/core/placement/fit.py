"""Where a request can lie: its places in a list of ranges, the elements it must avoid, and the first start that stands.

Requests stand in parallel lists here (:class:`Asked`), because the orders look at each of a few hundred of them a few
hundred times per class of tiles.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

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
