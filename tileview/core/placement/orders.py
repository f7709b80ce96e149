"""The compiler's two orders, and a third: requests one after the other, each at the lowest address that stands.

An order ends at the first request without a place. Nothing is ever moved; that is why an order may fail where there is
a placement.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from heapq import heappop, heappush
from itertools import chain

from tileview.core.placement.fit import Asked, forbidden_spans, largest_hole, past_forbidden
from tileview.model.placement import END, Memory, Span


class PlacementOrder(Enum):
    """FIRST_USE and SIZE are the compiler's; END_FIRST is an experiment of its authors."""

    FIRST_USE = "order 1"
    SIZE = "order 2"
    END_FIRST = "end first"


@dataclass(frozen=True, slots=True)
class OrderRun:
    """What came of an order. ``starts[i]``: address of request i, None where the order had ended. Where it failed:
    ``failed`` is the request without a place, ``free`` the free memory then, ``hole`` its longest usable piece."""

    order: PlacementOrder
    starts: tuple[int | None, ...]
    failed: int | None = None
    free: tuple[Span, ...] = ()
    hole: int = 0

    @property
    def placed(self) -> bool:
        return self.failed is None

    @property
    def free_bytes(self) -> int:
        return sum(end - start for start, end in self.free)


def by_first_use(asked: Asked) -> list[int]:
    """Indices in order 1: first; interleaved before standard; larger alignment; larger bytes; smaller last."""
    firsts, lasts, sizes, grains, inter = asked.firsts, asked.lasts, asked.bytes, asked.alignments, asked.interleaved
    keys = [
        (first, not wide, -grain, -size, last, index)
        for index, (first, wide, grain, size, last) in enumerate(zip(firsts, inter, grains, sizes, lasts, strict=True))
    ]
    keys.sort()
    return [key[-1] for key in keys]


def by_size(asked: Asked, first_use: Sequence[int] | None = None) -> list[int]:
    """Indices in order 2: larger alignment; larger bytes; longer life; smaller first; then the place in order 1."""
    firsts, lasts, sizes, grains = asked.firsts, asked.lasts, asked.bytes, asked.alignments
    keys = [
        (-grains[index], -sizes[index], firsts[index] - lasts[index], firsts[index], place, index)
        for place, index in enumerate(by_first_use(asked) if first_use is None else first_use)
    ]
    keys.sort()
    return [key[-1] for key in keys]


def end_first(asked: Asked, size: Sequence[int] | None = None) -> list[int]:
    """Indices end first: what lives to the end; larger bytes; larger alignment; smaller first; then order 2."""
    firsts, lasts, sizes, grains = asked.firsts, asked.lasts, asked.bytes, asked.alignments
    return sorted(
        by_size(asked) if size is None else size,
        key=lambda index: (lasts[index] != END, -sizes[index], -grains[index], firsts[index]),
    )


def run_order(asked: Asked, memory: Memory, order: PlacementOrder) -> OrderRun:
    """Run one order from the start."""
    if order is PlacementOrder.FIRST_USE:
        return _run_first_use(asked, memory)
    return _run_sized(asked, memory, order, by_size(asked) if order is PlacementOrder.SIZE else end_first(asked))


def _run_first_use(asked: Asked, memory: Memory) -> OrderRun:
    """Order 1: free memory is one list; what has died before a request's first event is given back to it."""
    starts: list[int | None] = [None] * len(asked)
    free = list(memory.ranges)
    active: list[tuple[int, int, int]] = []
    firsts, lasts, sizes, sizes1 = asked.firsts, asked.lasts, asked.sizes, asked.sizes1
    boundary = memory.boundary
    for index in by_first_use(asked):
        first = firsts[index]
        if active and active[0][0] < first:
            while active and active[0][0] < first:
                free.append(heappop(active)[1:])
            free = _merged(free)
        found = _first_fit(asked, index, free, starts, memory)
        if found is None:
            hole = largest_hole(asked, index, free, memory)
            return OrderRun(PlacementOrder.FIRST_USE, tuple(starts), index, tuple(free), hole)
        at, start = found
        starts[index] = start
        end = start + (sizes[index] if start < boundary else sizes1[index])
        low, high = free[at]
        if low < start:
            free[at] = (low, start)
            if end < high:
                free.insert(at + 1, (end, high))
        elif end < high:
            free[at] = (end, high)
        else:
            del free[at]
        heappush(active, (lasts[index], start, end))
    return OrderRun(PlacementOrder.FIRST_USE, tuple(starts))


def _merged(pieces: list[Span]) -> list[Span]:
    """Free pieces, ascending, merged where they touch; empty ones dropped."""
    pieces.sort()
    merged: list[Span] = []
    last_low = last_high = -1
    for low, high in pieces:
        if low == last_high:
            last_high = high
        else:
            if last_high > last_low:
                merged.append((last_low, last_high))
            last_low, last_high = low, high
    if last_high > last_low:
        merged.append((last_low, last_high))
    return merged


def _run_sized(asked: Asked, memory: Memory, order: PlacementOrder, sequence: Iterable[int]) -> OrderRun:
    """Order 2 and end first: free memory for a request is the ranges less the placed spans that live with it."""
    starts: list[int | None] = [None] * len(asked)
    placed: list[tuple[int, int, int, int]] = []
    firsts, lasts, sizes, sizes1 = asked.firsts, asked.lasts, asked.sizes, asked.sizes1
    for index in sequence:
        first, last = firsts[index], lasts[index]
        found = _first_fit(asked, index, _free_beside(placed, first, last, memory.ranges), starts, memory)
        if found is None:
            free = tuple(_free_beside(placed, first, last, memory.ranges))
            return OrderRun(order, tuple(starts), index, free, largest_hole(asked, index, free, memory))
        start = starts[index] = found[1]
        size = sizes[index] if start < memory.boundary else sizes1[index]
        insort(placed, (start, start + size, first, last))
    return OrderRun(order, tuple(starts))


def _free_beside(
    placed: Sequence[tuple[int, int, int, int]], first: int, last: int, ranges: Sequence[Span]
) -> Iterator[Span]:
    """The ranges less every placed (start, end, first, last), by address, that lives in ``first`` … ``last``.

    Pieces that touch stay apart; an empty span cuts where it lies.
    """
    remaining = iter(ranges)
    low, high = next(remaining, (0, 0))
    if low == high:
        return
    for start, end, begins, ends in placed:
        if begins > last or ends < first:
            continue
        while start >= high:
            if low < high:
                yield low, high
            low, high = next(remaining, (0, 0))
            if low == high:
                return
        if low < start:
            yield low, start
        if low < end:
            low = end
    for piece in chain([(low, high)], remaining):
        if piece[0] < piece[1]:
            yield piece


def _first_fit(
    asked: Asked, index: int, free: Iterable[Span], starts: Sequence[int | None], memory: Memory
) -> tuple[int, int] | None:
    """(piece, start): the lowest start that stands in free memory, ascending; None where no place does."""
    size, size1, grain, grain1 = asked.sizes[index], asked.sizes1[index], asked.grains[index], asked.grains1[index]
    standard, kept = not asked.interleaved[index], asked.kept[index]
    boundary, window = memory.boundary, memory.window
    lowest = boundary if standard else boundary + memory.interleaved_offset
    forbidden = None
    if asked.conflicts[index]:
        forbidden = _kept_clear(asked, asked.conflicts[index], starts, memory)
    for at, (low, high) in enumerate(free):
        if high - low < size and high - low < size1:
            continue
        if kept and low >= window[0] and high <= window[1]:
            continue
        if standard and low <= boundary:
            start = (low + grain - 1) & -grain
            if forbidden:
                start = past_forbidden(start, size, grain, forbidden)
            if start + size <= high and start + size <= boundary:
                return at, start
        if high >= boundary:
            start = low if low > lowest else lowest
            start = (start + grain1 - 1) & -grain1
            if forbidden:
                start = past_forbidden(start, size1, grain1, forbidden)
            if start + size1 <= high:
                return at, start
    return None


def _kept_clear(asked: Asked, others: Sequence[int], starts: Sequence[int | None], memory: Memory) -> list[Span]:
    spans = []
    for other in others:
        start = starts[other]
        if start is not None:
            spans.append((start, start + (asked.sizes if start < memory.boundary else asked.sizes1)[other]))
    return forbidden_spans(spans, memory)
