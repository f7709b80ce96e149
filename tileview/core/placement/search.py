"""The compiler's orders, and its last resort: a depth-first search over starts, bounded in nodes and work.

An order ends at the first request without a place. Nothing is ever moved; that is why an order may fail where there is
a placement.

Ending without success proves nothing. The search may take a second or more; whoever runs it can end it.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from heapq import heappop, heappush
from itertools import chain
from typing import Final, NamedTuple

from tileview.core.placement.proofs import (
    Asked,
    FreePlace,
    forbidden_spans,
    largest_hole,
    past_forbidden,
    places,
    prove,
    widened,
)
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


MOST_NODES: Final = 4_096
MOST_WORK: Final = 2_000_000


@dataclass(frozen=True, slots=True)
class Searched:
    """``starts``: addresses by request, None where nothing was found. ``excess``: bytes over by the first proof, which
    ends a search before its first node. ``exhausted``: a limit was reached; ``ended``: the caller ended it."""

    starts: tuple[int, ...] | None
    nodes: int
    work: int
    excess: int = 0
    exhausted: bool = False
    ended: bool = False

    @property
    def placed(self) -> bool:
        return self.starts is not None


Urgency = tuple[int, int, int, int, int, int]
"""The request with the smallest is placed next; the last entry is its number in order 2."""


class Domain(NamedTuple):
    """Where a request can still start, and how soon it must be placed for that."""

    urgency: Urgency
    places: list[FreePlace]


Domains = dict[int, Domain]
"""By request; only those that are not placed yet."""


@dataclass(slots=True)
class _Node:
    """One level of the search: which request is tried, the starts left to try, and what the others could do before."""

    chosen: int
    starts: Iterator[tuple[int, FreePlace]]
    domains: Domains


@dataclass(slots=True)
class _Search:
    """The state of a search. Requests are numbered as in order 2."""

    asked: Asked
    memory: Memory
    order: list[int]
    numbers: list[int]
    nodes: int = 0
    work: int = 0
    found: dict[int, int] = field(default_factory=dict)

    @property
    def limited(self) -> bool:
        return self.nodes >= MOST_NODES or self.work >= MOST_WORK

    def enter(self, domains: Domains) -> _Node | None:
        """Begin a node; None where a limit forbids it."""
        if self.limited:
            return None
        self.nodes += 1
        if not domains:
            return _Node(-1, iter(()), domains)
        chosen = self.order[min(domains.values()).urgency[-1]]
        return _Node(chosen, self._starts(domains[chosen].places), domains)

    def first_domains(self) -> Domains:
        """Every request's places in the bare ranges."""
        asked, memory = self.asked, self.memory
        found = {index: places(asked, index, memory.ranges, memory) for index in self.order}
        return {index: Domain(self._urgency(index, left), left) for index, left in found.items()}

    def _urgency(self, index: int, left: list[FreePlace]) -> Urgency:
        """First what has no place, then what lives to the end, few starts for the size, many conflicts, many bytes."""
        asked = self.asked
        count = sum((place.high - place.low) // place.alignment + 1 for place in left)
        slack = count * asked.alignments[index] // max(asked.bytes[index], 1)
        return (
            1 if left else 0,
            0 if asked.lasts[index] == END else 1,
            slack,
            -len(asked.conflicts[index]),
            -asked.bytes[index],
            self.numbers[index],
        )

    def _starts(self, left: list[FreePlace]) -> Iterator[tuple[int, FreePlace]]:
        """The starts worth trying: the ends of each place, and those that begin or end at a memory element."""
        for place in left:
            low, high, size, grain = place
            element = self.memory.region1_element if low >= self.memory.boundary else self.memory.region0_element
            tried = {low, high}
            for edge in range(-(-low // element) * element, high + size + 1, element):
                tried.add((edge + grain - 1) & -grain)
                tried.add((edge - size) & -grain)
            for start in sorted(tried):
                if low <= start <= high:
                    yield start, place

    def narrowed(self, node: _Node, start: int, size: int) -> Domains | None:
        """What is left for the others once the chosen request lies at a start; None where one is left without."""
        asked, chosen = self.asked, node.chosen
        first, last, conflicts = asked.firsts[chosen], asked.lasts[chosen], asked.conflicts[chosen]
        span = (start, start + size)
        wide = widened(*span, self.memory) if conflicts else span
        left: Domains = {}
        for index, domain in node.domains.items():
            if index == chosen:
                continue
            if index in conflicts:
                taken = wide
            elif asked.firsts[index] <= last and first <= asked.lasts[index]:
                taken = span
            else:
                left[index] = domain
                continue
            self.work += len(domain.places)
            remaining = _without(domain.places, taken)
            if not remaining:
                return None
            unchanged = remaining is domain.places
            left[index] = domain if unchanged else Domain(self._urgency(index, remaining), remaining)
        return left


def _without(left: list[FreePlace], taken: Span) -> list[FreePlace]:
    """Places less a taken span: starts that end below it, then starts from its end on. The same list if none goes."""
    low, high = taken
    remaining: list[FreePlace] = []
    changed = False
    for place in left:
        first, last, size, grain = place
        if (last + size <= low or first >= high) and size:
            remaining.append(place)
            continue
        changed = True
        below, above = (low - size) & -grain, (high + grain - 1) & -grain
        if first <= below:
            remaining.append(FreePlace(first, min(last, below), size, grain))
        if above <= last:
            remaining.append(FreePlace(max(first, above), last, size, grain))
    return remaining if changed else left


def search_placement(asked: Asked, memory: Memory, ended: Callable[[], bool] | None = None) -> Searched:
    """Search for a placement, with the compiler's limits of 4,096 nodes and 2,000,000 units of work.

    Parameters
    ----------
    ended : callable, optional
        Asked before each node whether the search is no longer wanted.
    """
    excess = prove(asked, memory).all.over
    if excess:
        return Searched(None, 0, 0, excess)
    order = by_size(asked)
    numbers = [0] * len(asked)
    for number, index in enumerate(order):
        numbers[index] = number
    run = _Search(asked, memory, order, numbers)
    given_up = False
    stack: list[_Node] = []
    node = run.enter(run.first_domains())
    while node is not None:
        if node.chosen < 0:
            return Searched(tuple(run.found[index] for index in range(len(asked))), run.nodes, run.work)
        stack.append(node)
        node = None
        while stack and node is None:
            if ended is not None and ended():
                given_up = True
                stack.clear()
                break
            node = _descend(run, stack)
    return Searched(None, run.nodes, run.work, exhausted=run.limited, ended=given_up)


def _descend(run: _Search, stack: list[_Node]) -> _Node | None:
    """Try the next start of the deepest node; the node below it, or None where that start, or the node, has failed."""
    node = stack[-1]
    entry = next(node.starts, None)
    if entry is None:
        stack.pop()
        if run.limited:
            stack.clear()
        return None
    start, place = entry
    domains = run.narrowed(node, start, place.bytes)
    below = None
    if domains is not None:
        run.found[node.chosen] = start
        below = run.enter(domains)
    if below is None and run.limited:
        stack.clear()
    return below
