"""The compiler's last resort: a depth-first search over starts, bounded in nodes and in work.

Ending without success proves nothing. The search may take a second or more; whoever runs it can end it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from tileview.core.placement.fit import Asked, FreePlace, places, widened
from tileview.core.placement.orders import by_size
from tileview.core.placement.proofs import prove
from tileview.model.placement import END, Memory, Span

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
