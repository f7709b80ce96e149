"""The addresses of one tile over the events of the run: what every order gives each request, where it ended.

The facts behind a drawing: of a program's tile, of the problem in a tile dump, of a tile in a finished placement.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tileview.analysis.placement import RequestNames, proof_text
from tileview.core.placement.events import find_events
from tileview.core.placement.fit import Asked, spell_out, usable
from tileview.core.placement.orders import OrderRun, PlacementOrder, run_order
from tileview.core.placement.outcome import Ended
from tileview.core.placement.proofs import prove
from tileview.core.placement.ranges import open_ranges
from tileview.core.placement.requests import ProgramRequests, RequestTemplate
from tileview.core.placement.search import Searched, search_placement
from tileview.model.placement import END, Memory, PlacementProfile, ProfileTile, Request, Span, TileDump
from tileview.model.tensor import MemoryClass
from tileview.model.timeline import Timeline

ORDER_TITLES: Final = {
    PlacementOrder.FIRST_USE: "Order 1",
    PlacementOrder.SIZE: "Order 2",
    PlacementOrder.END_FIRST: "End first",
}
SEARCH: Final = "Search"
STATED: Final = "As stated"
FINISHED: Final = "As placed"

_VALUE: Final = re.compile(r"value (\d+) · origin (\d+)")

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class AddressEntry:
    """What lies, or should lie, at an address: a request, or an entry of a finished placement.

    ``kind`` is a word of :data:`tileview.model.placement.KINDS`. ``roots``: allocations of the open program that it
    holds. ``conflicts``: indices of entries that may share no memory element with it. ``memory_class`` and
    ``alignment`` are None where the file does not say.
    """

    name: str
    kind: str
    bytes: int
    first: int
    last: int
    roots: tuple[int, ...] = ()
    operation: int | None = None
    memory_class: MemoryClass | None = None
    alignment: int | None = None
    conflicts: tuple[int, ...] = ()

    @property
    def is_resident(self) -> bool:
        """Whether it lives through the whole run."""
        return self.first == 0 and self.last == END


@dataclass(frozen=True, slots=True, eq=False)
class Attempt:
    """One placement of the entries, whole or as far as it came.

    ``starts``, ``payload_ends``, ``ends``: (entries,) addresses, −1 where the entry has none. Where the order ended:
    ``failed`` is the entry without a place, ``hole`` the longest piece it might have used, ``free_bytes`` all that was
    free. ``text`` says in one sentence what came of it.
    """

    title: str
    starts: Numbers
    payload_ends: Numbers
    ends: Numbers
    text: str
    failed: int | None = None
    hole: Span | None = None
    free_bytes: int = 0

    @property
    def count(self) -> int:
        """How many entries have an address."""
        return int((self.starts >= 0).sum())


@dataclass(frozen=True, slots=True, eq=False)
class AddressMap:
    """One tile. ``alike``: how many tiles ask for the same. ``events``: the last event of the run. ``steps``: the step
    of the open program at each event from 1 on, empty where there is none. ``requests`` are None for a finished
    placement."""

    tile: int
    alike: int
    memory: Memory
    entries: tuple[AddressEntry, ...]
    attempts: tuple[Attempt, ...]
    events: int
    steps: tuple[int, ...] = ()
    requests: tuple[Request, ...] | None = None

    def attempt(self, title: str) -> Attempt | None:
        return next((one for one in self.attempts if one.title == title), None)

    def step_of(self, event: int) -> int | None:
        """The step at an event; None before and after the run, and where there is no program."""
        return self.steps[event - 1] if 1 <= event <= len(self.steps) else None

    def events_of(self, step: int) -> tuple[int, ...]:
        """The events of a step, ascending."""
        return tuple(event for event, at in enumerate(self.steps, start=1) if at == step)


# -- a program ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class ProgramMaps:
    """The requests of a program with their names, made once for all its tiles."""

    requests: ProgramRequests
    names: tuple[str, ...]
    operations: tuple[int | None, ...]
    steps: tuple[int, ...]

    def tile(self, tile: int, memory: Memory) -> AddressMap:
        """The map of a tile in one memory, by every order."""
        each = self.requests.class_of(tile)
        asked = self.requests.asked(each, memory)
        templates = [self.requests.templates[index] for index in each.present]
        entries = tuple(
            AddressEntry(
                self.names[index],
                _kind(template),
                size,
                template.first,
                template.last,
                template.roots,
                self.operations[index],
                template.memory_class,
                template.alignment,
                asked.conflicts[place_],
            )
            for place_, (index, template, size) in enumerate(zip(each.present, templates, each.bytes, strict=True))
        )
        attempts = by_orders(asked, memory, entries)
        requests = self.requests.requests(each)
        return AddressMap(
            tile, len(each.tiles), memory, entries, attempts, self.requests.events, self.steps, requests
        )  # fmt: skip


def program_maps(requests: ProgramRequests) -> ProgramMaps:
    """Names, operations and steps of a program's requests."""
    name = RequestNames(requests)
    names = tuple(name(template) for template in requests.templates)
    makers = tuple(
        name.timeline.maker(template.roots[0]) if template.step is None else template.step.source
        for template in requests.templates
    )
    return ProgramMaps(requests, names, makers, tuple(find_events(requests.program).steps))


def _kind(template: RequestTemplate) -> str:
    if not template.roots:
        return "scratch"
    return "parameter" if template.first == 0 and template.last == END else "activation"


# -- the two dumps --------------------------------------------------------------------------------------------------


def dump_map(dump: TileDump) -> AddressMap:
    """The problem of a tile dump: the placement that it states, then what the orders give."""
    problem = dump.problem
    memory = problem.memory
    asked = spell_out(problem.requests, memory)
    entries = tuple(_dump_entry(request, asked.conflicts[at]) for at, request in enumerate(problem.requests))
    attempts = by_orders(asked, memory, entries)
    if dump.spans is not None:
        attempts = (_stated(dump, dump.spans), *attempts)
    return AddressMap(
        problem.tile, 1, memory, entries, attempts, last_event(problem.requests), requests=problem.requests
    )  # fmt: skip


def _dump_entry(request: Request, conflicts: tuple[int, ...]) -> AddressEntry:
    roots = request.roots
    if request.auxiliary is not None or not roots:
        name, kind = f"auxiliary request {request.auxiliary}", "scratch"
    else:
        name = f"root {roots[0]}" + (f" ×{len(roots)}" if len(roots) > 1 else "")
        kind = "parameter" if request.first == 0 and request.last == END else "activation"
    return AddressEntry(
        name, kind, request.bytes, request.first, request.last, (), None, request.memory_class, request.alignment,
        conflicts,
    )  # fmt: skip


def last_event(requests: Sequence[Request]) -> int:
    """The last event that any life names, the end of the run aside."""
    return max((event for one in requests for event in (one.first, one.last) if event != END), default=0)


def _stated(dump: TileDump, spans: Mapping[int, Span]) -> Attempt:
    requests = dump.problem.requests
    found = [spans.get(one.roots[0]) if one.roots else None for one in requests]
    rooted = sum(bool(one.roots) for one in requests)
    count = sum(one is not None for one in found)
    text = f"the file gives addresses for {count:,} of {rooted:,} requests with roots"
    starts = np.array([-1 if one is None else one[0] for one in found], dtype=np.int64)
    ends = np.array([-1 if one is None else one[1] for one in found], dtype=np.int64)
    return Attempt(STATED, starts, ends, ends, text)


def profile_map(profile: PlacementProfile, tile: int, timeline: Timeline | None = None) -> AddressMap:
    """A tile of a finished placement; ``timeline`` is that of the program it belongs to, where that is open.

    Raises
    ------
    LoadError
        An entry is not as it must be.
    KeyError
        The file does not list the tile.
    """
    found = profile.tiles.tile(tile)
    known = None if timeline is None else _Known(timeline)
    entries = tuple(_profile_entry(found, at, profile.labels, known) for at in range(len(found.kinds)))
    starts, payload_ends, ends = (np.ascontiguousarray(column) for column in found.spans.T)
    text = f"a finished compile placed all {len(entries):,} entries"
    memory = Memory(open_ranges(found, profile.labels))
    ended = found.lives[found.lives != END]
    attempt = Attempt(FINISHED, starts, payload_ends, ends, text)
    return AddressMap(tile, 1, memory, entries, (attempt,), int(ended.max(initial=0)))


def _profile_entry(tile: ProfileTile, at: int, labels: Sequence[str], known: _Known | None) -> AddressEntry:
    label = labels[tile.labels[at]]
    name, _, rest = label.partition("\n")
    memory_class = next((one for one in MemoryClass if rest.endswith(one.value)), None)
    first, last = tile.lives[at].tolist()
    size = int(tile.spans[at, 2] - tile.spans[at, 0])
    is_tensor = tile.kinds[at] not in ("support", "padding")
    roots = known.roots(name) if known is not None and is_tensor else ()
    maker = known.timeline.maker(roots[0]) if known is not None and roots else None
    return AddressEntry(name, tile.kinds[at], size, first, last, roots, maker, memory_class)


class _Known:
    """Finds the allocations of a program by the names that a finished placement gives: a graph input by its own,
    another value by the graph value it stems from."""

    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline
        self._by_name: dict[str, set[int]] = {}
        self._by_origin: dict[int, set[int]] = {}
        for value in timeline.values:
            self._by_name.setdefault(value.name, set()).add(value.root)
            if value.origin is not None:
                self._by_origin.setdefault(value.origin, set()).add(value.root)

    def roots(self, name: str) -> tuple[int, ...]:
        """The allocations that a name may stand for, ascending."""
        value = _VALUE.fullmatch(name)
        if value is None:
            return tuple(sorted(self._by_name.get(name, ())))
        number, origin = int(value[1]), int(value[2])
        among = self._by_origin.get(origin, set())
        if number < len(self.timeline.values) and self.timeline.values[number].root in among:
            return (self.timeline.values[number].root,)
        return tuple(sorted(among))


# -- attempts -------------------------------------------------------------------------------------------------------


def by_orders(asked: Asked, memory: Memory, entries: Sequence[AddressEntry]) -> tuple[Attempt, ...]:
    """Order 1, order 2 and end first, whichever succeed."""
    return tuple(_by_order(run_order(asked, memory, order), asked, memory, entries) for order in PlacementOrder)


def _by_order(placing: OrderRun, asked: Asked, memory: Memory, entries: Sequence[AddressEntry]) -> Attempt:
    starts, ends = _spans(placing.starts, asked, memory)
    count, failed = int((starts >= 0).sum()), placing.failed
    title = ORDER_TITLES[placing.order]
    if failed is None:
        return Attempt(title, starts, ends, ends, f"all {count:,} requests placed")
    hole = _hole(placing, asked, failed, memory)
    text = (
        f"{count:,} of {len(asked):,} requests placed, then it ended: {entries[failed].name} asks for "
        f"{asked.bytes[failed]:,} B, the largest hole is {placing.hole:,} B, {placing.free_bytes:,} B are free in all"
    )
    return Attempt(title, starts, ends, ends, text, failed, hole, placing.free_bytes)


def _hole(placing: OrderRun, asked: Asked, failed: int, memory: Memory) -> Span | None:
    pieces = [piece for span in placing.free for piece, _ in usable(asked, failed, span, memory) if piece[0] < piece[1]]
    return max(pieces, key=lambda piece: piece[1] - piece[0], default=None)


def _spans(starts: Sequence[int | None], asked: Asked, memory: Memory) -> tuple[Numbers, Numbers]:
    low = np.array([-1 if start is None else start for start in starts], dtype=np.int64)
    sizes = np.array(
        [
            asked.sizes[at] if start is None or start < memory.boundary else asked.sizes1[at]
            for at, start in enumerate(starts)
        ],
        dtype=np.int64,
    )
    return low, np.where(low < 0, -1, low + sizes)


def by_search(tile: AddressMap, ended: Ended | None = None) -> Attempt:
    """What the compiler tries last; may take a second, ``ended`` is asked now and then whether to stop.

    Raises
    ------
    ValueError
        For a finished placement, which asks for nothing.
    """
    if tile.requests is None:
        raise ValueError("a finished placement has no requests to search a place for")
    asked = spell_out(tile.requests, tile.memory)
    found = search_placement(asked, tile.memory, ended)
    starts, ends = _spans(found.starts or (None,) * len(asked), asked, tile.memory)
    return Attempt(SEARCH, starts, ends, ends, _search_text(found, asked, tile.memory))


def _search_text(found: Searched, asked: Asked, memory: Memory) -> str:
    if found.placed:
        return f"all {len(asked):,} requests placed after {found.nodes:,} nodes"
    if found.excess:
        return f"not started: over by {found.excess:,} B whatever the order"
    if found.ended:
        return "stopped before it was done"
    proof = proof_text(prove(asked, memory))
    why = f"; {proof}" if proof else "; that proves nothing"
    limit = "limit reached" if found.exhausted else "nothing found"
    return f"{limit} after {found.nodes:,} nodes, no placement found{why}"
