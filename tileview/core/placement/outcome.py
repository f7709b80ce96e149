"""Whether tiles can be placed: what the compiler would try, in its order, and what is proved where that fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from tileview.core.placement.proofs import Asked, Proofs, prove, spell_out
from tileview.core.placement.ranges import enlargements
from tileview.core.placement.requests import ProgramRequests, TileClass
from tileview.core.placement.search import OrderRun, PlacementOrder, Searched, run_order, search_placement
from tileview.model.placement import Memory, TileProblem

Ended = Callable[[], bool]
"""Asked now and then whether the answer is no longer wanted."""


class Answer(StrEnum):
    """OVER is proved, whatever the order; NOT_PLACED is what the orders tried came to, and no proof."""

    PLACED = "placed"
    NOT_PLACED = "not placed"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class TileOutcome:
    """What came of one tile. ``placing``: the order that placed it, else order 2 as it ended. ``proofs`` are None
    where an order placed it. ``searched`` is None where the search was not run."""

    placing: OrderRun
    proofs: Proofs | None = None
    searched: Searched | None = None

    @property
    def answer(self) -> Answer:
        if self.by is not None:
            return Answer.PLACED
        assert self.proofs is not None
        return Answer.OVER if self.proofs.impossible else Answer.NOT_PLACED

    @property
    def by(self) -> str | None:
        """What places the tile first: "order 1", "order 2" or "search"; None where nothing tried does."""
        if self.placing.placed:
            return self.placing.order.value
        return "search" if self.searched is not None and self.searched.placed else None

    @property
    def starts(self) -> tuple[int | None, ...]:
        """Addresses by request; of a tile that was not placed, as far as order 2 came."""
        if self.searched is not None and self.searched.starts is not None:
            return self.searched.starts
        return self.placing.starts


def try_orders(asked: Asked, memory: Memory) -> OrderRun:
    """Order 1, and order 2 where that fails: what the compiler does first."""
    placing = run_order(asked, memory, PlacementOrder.FIRST_USE)
    return placing if placing.placed else run_order(asked, memory, PlacementOrder.SIZE)


def solve(asked: Asked, memory: Memory, *, searching: bool = False, ended: Ended | None = None) -> TileOutcome:
    """The compiler's orders, the proofs where both fail, and the search where it is asked for and nothing is proved."""
    placing = try_orders(asked, memory)
    if placing.placed:
        return TileOutcome(placing)
    proofs = prove(asked, memory)
    searched = search_placement(asked, memory, ended) if searching and not proofs.impossible else None
    return TileOutcome(placing, proofs, searched)


def solve_problem(problem: TileProblem, *, searching: bool = False, ended: Ended | None = None) -> TileOutcome:
    """:func:`solve` for a problem as a tile dump states it."""
    asked = spell_out(problem.requests, problem.memory)
    return solve(asked, problem.memory, searching=searching, ended=ended)


def solve_classes(
    requests: ProgramRequests, memory: Memory, *, searching: bool = False, ended: Ended | None = None
) -> Iterator[TileOutcome]:
    """The outcome of every class of tiles, in their order, each worked out when it is asked for."""
    for each in requests.classes:
        yield solve(requests.asked(each, memory), memory, searching=searching, ended=ended)


def first_failing(requests: ProgramRequests, memory: Memory, begin: int = 0) -> int | None:
    """The first class found that the compiler's two orders do not place; None where they place all.

    The quick yes or no: it stops at that class. ``begin`` is the class to try first, such as the one that failed
    before.
    """
    count = len(requests.classes)
    for offset in range(count):
        index = (begin + offset) % count
        if not try_orders(requests.asked(requests.classes[index], memory), memory).placed:
            return index
    return None


def smallest_enlargement(requests: ProgramRequests, memory: Memory, ended: Ended | None = None) -> int | None:
    """The fewest bytes more, in steps of 4,096, with which order 1 or 2 places every tile; None where none do.

    Every step is tried: with more memory a lowest start may stand where it did not, and an order then fail.
    """
    begin: int | None = 0
    for more, larger in enlargements(memory.ranges):
        if ended is not None and ended():
            return None
        begin = first_failing(requests, replace(memory, ranges=larger), begin or 0)
        if begin is None:
            return more
    return None


@dataclass(frozen=True, slots=True)
class Totals:
    """Tiles by what came of them."""

    order1: int = 0
    order2: int = 0
    search: int = 0
    not_placed: int = 0
    over: int = 0

    @property
    def placed(self) -> int:
        return self.order1 + self.order2 + self.search

    @property
    def answer(self) -> Answer:
        """Of the whole program: over if a tile is, placed if every tile is."""
        if self.over:
            return Answer.OVER
        return Answer.NOT_PLACED if self.not_placed else Answer.PLACED


def count_tiles(classes: tuple[TileClass, ...], outcomes: tuple[TileOutcome, ...]) -> Totals:
    counts = dict.fromkeys(("order1", "order2", "search", "not_placed", "over"), 0)
    names = {"order 1": "order1", "order 2": "order2", "search": "search", None: ""}
    for each, outcome in zip(classes, outcomes, strict=True):
        name = names[outcome.by] or ("over" if outcome.answer is Answer.OVER else "not_placed")
        counts[name] += len(each.tiles)
    return Totals(**counts)


def smallest_enlargement_of_problem(problem: TileProblem) -> int | None:
    """:func:`smallest_enlargement` for one tile's problem."""
    memory = problem.memory
    for more, larger in enlargements(memory.ranges):
        wider = replace(memory, ranges=larger)
        if try_orders(spell_out(problem.requests, wider), wider).placed:
            return more
    return None
