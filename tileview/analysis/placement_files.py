"""What dumps that speak of addresses come to: a tile's problem solved again, a finished placement, the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tileview.analysis.placement import insufficient_message
from tileview.core.placement.fit import spell_out
from tileview.core.placement.orders import OrderRun, PlacementOrder, run_order
from tileview.core.placement.outcome import Answer, Ended, TileOutcome, solve
from tileview.core.placement.proofs import Proofs, prove
from tileview.core.placement.ranges import Preset, RangeError, open_ranges
from tileview.core.placement.search import Searched, search_placement
from tileview.model.placement import END, Memory, PlacementProfile, ProfileTile, Ranges, Request, Span, TileDump
from tileview.model.sizes import UNAVAILABLE
from tileview.model.timeline import Cause, Problem, Verdict


@dataclass(frozen=True, slots=True)
class TileStudy:
    """One tile's requests through everything that can be tried. ``searched`` is None where it was not wanted."""

    tile: int
    memory: Memory
    requests: tuple[Request, ...]
    outcome: TileOutcome
    orders: tuple[OrderRun, ...]
    proofs: Proofs
    searched: Searched | None

    @property
    def message(self) -> str:
        """What the compiler writes where nothing tried places the tile; empty where something does."""
        failed = self.outcome.placing.failed
        if self.outcome.answer is Answer.PLACED or failed is None:
            return ""
        return insufficient_message(self.tile, self.requests[failed].memory_class, self.requests[failed].bytes)


def study_tile(
    tile: int, requests: tuple[Request, ...], memory: Memory, *, searching: bool, ended: Ended | None = None
) -> TileStudy:
    """Run order 1, order 2 and end first, whichever succeed, the proofs, and the search where it is wanted.

    The outcome is what the compiler's own way gives: its orders, then the search.
    """
    asked = spell_out(requests, memory)
    outcome = solve(asked, memory, searching=searching, ended=ended)
    searched = outcome.searched
    if searching and searched is None:
        searched = search_placement(asked, memory, ended)
    orders = tuple(run_order(asked, memory, order) for order in PlacementOrder)
    return TileStudy(tile, memory, requests, outcome, orders, prove(asked, memory), searched)


def stated_against_derived(dump: TileDump, study: TileStudy) -> tuple[Problem, ...]:
    """Where a tile dump states another placement than these rules give for its requests and ranges."""
    found = []
    placed = study.outcome.answer is Answer.PLACED
    if dump.placed is not None and dump.placed != placed:
        stated = "placed" if dump.placed else "not placed"
        derived = f"placed by {study.outcome.by}" if placed else "not placed"
        found.append(Problem("warning", "placed", f"the file says {stated}, these rules give {derived}"))
    if dump.spans is not None:
        derived_spans = spans_of(study.requests, study.outcome.starts, study.memory)
        differing = sorted(
            root for root in dump.spans.keys() | derived_spans.keys() if dump.spans.get(root) != derived_spans.get(root)
        )
        if differing:
            root = differing[0]
            text = (
                f"{len(differing)} of {len(dump.spans):,} roots lie elsewhere than these rules put them: root {root} "
                f"stated {_span_text(dump.spans.get(root))}, derived {_span_text(derived_spans.get(root))}"
            )
            found.append(Problem("note", "assigned_root_spans", text))
    return tuple(found)


def _span_text(span: Span | None) -> str:
    return "nowhere" if span is None else f"{span[0]:#x} to {span[1]:#x}"


def spans_of(requests: tuple[Request, ...], starts: tuple[int | None, ...], memory: Memory) -> dict[int, Span]:
    """Root → span of its whole request, for requests that have a start."""
    asked = spell_out(requests, memory)
    found = {}
    for index, (request, start) in enumerate(zip(requests, starts, strict=True)):
        if start is not None:
            size = asked.sizes[index] if start < memory.boundary else asked.sizes1[index]
            found.update(dict.fromkeys(request.roots, (start, start + size)))
    return found


@dataclass(frozen=True, slots=True)
class ProfileTileFacts:
    """A tile of a finished placement. ``ranges``: what was open on it. ``peak``: the most bytes of tensors (all but
    support and padding) that live at once, at ``event``."""

    logical: int
    physical: int
    entries: int
    ranges: Ranges
    peak: int
    event: int

    @property
    def open_bytes(self) -> int:
        return sum(end - start for start, end in self.ranges)


def profile_facts(profile: PlacementProfile) -> Iterator[ProfileTileFacts]:
    """The facts of every tile, in the order of the file; reads one after the other."""
    for logical in profile.tiles.logical():
        tile = profile.tiles.tile(logical)
        peak, event = _tensor_peak(tile)
        yield ProfileTileFacts(logical, tile.physical, len(tile.kinds), open_ranges(tile, profile.labels), peak, event)


def _tensor_peak(tile: ProfileTile) -> tuple[int, int]:
    """The most bytes of tensors that live at once, and the first event at which they do."""
    counted = np.array([kind not in ("support", "padding") for kind in tile.kinds], dtype=np.bool_)
    if not counted.any():
        return 0, 0
    sizes = (tile.spans[:, 2] - tile.spans[:, 0])[counted]
    firsts, lasts = tile.lives[counted, 0], tile.lives[counted, 1]
    events, begins = np.unique(firsts, return_inverse=True)
    change = np.zeros(len(events) + 1, dtype=np.int64)
    np.add.at(change, begins, sizes)
    np.subtract.at(change, np.searchsorted(events, lasts, side="right"), sizes)
    live = np.cumsum(change[:-1])
    return int(live.max()), int(events[live.argmax()])


def event_text(event: int) -> str:
    """``event 14``, ``before the run``, ``at its end``."""
    return "before the run" if event == 0 else "at the end of the run" if event == END else f"event {event:,}"


def ranges_of_dump(source: TileDump | PlacementProfile, name: str, tile: int | None = None) -> Preset:
    """The memory that a dump left open: that of a tile dump, of a tile of a profile, of all where they are alike.

    Raises
    ------
    RangeError
        Of a profile: the tile is not listed, or its tiles differ and none is named. The text continues the file's name.
    """
    if isinstance(source, TileDump):
        problem = source.problem
        memory, offset = problem.memory, problem.memory.interleaved_offset
        origin = "a tile dump" + (f", interleaved memory from {memory.boundary + offset:#x} on" if offset else "")
        return Preset("", f"the memory of tile {problem.tile} in {name}", memory.ranges, origin, memory)
    listed = source.tiles.logical()
    if tile is not None and tile not in listed:
        raise RangeError(f"does not list tile {tile}")
    wanted = listed if tile is None else (tile,)
    found = Counter(open_ranges(source.tiles.tile(each), source.labels) for each in wanted)
    if len(found) != 1:
        raise RangeError(f"leaves {len(found)} different memories open; name one tile")
    return Preset("", f"the memory left open in {name}", next(iter(found)), "a placement profile")


PLACED = "addresses"
OPEN = "open memory"


def dump_verdict(dump: TileDump) -> tuple[Verdict, tuple[Problem, ...]]:
    """What the compiler's orders come to for the problem of a tile dump, and where the file states otherwise."""
    study = study_tile(dump.problem.tile, dump.problem.requests, dump.problem.memory, searching=False)
    return _verdict(study), stated_against_derived(dump, study)


def _verdict(study: TileStudy) -> Verdict:
    tile, outcome, proofs = study.tile, study.outcome, study.proofs
    count = len(study.requests)
    peak, capacity = proofs.all.peak, study.memory.bytes
    if outcome.answer is Answer.PLACED:
        text = f"Tile {tile}: all {count:,} requests are placed by {outcome.by}."
        return Verdict(True, Cause.PLACED, text, PLACED, peak, capacity, peak - capacity, tile=tile)
    if proofs.over:
        counted, shortage = proofs.worst
        text = f"Tile {tile} is over by {shortage.over:,} B whatever the order: that is what {counted} come to."
        return Verdict(
            False, Cause.NOT_PLACED, text, OPEN, shortage.peak, shortage.capacity, shortage.over, tile=tile
        )  # fmt: skip
    if proofs.no_place:
        size = study.requests[proofs.no_place[0]].bytes
        text = f"Tile {tile}: no range can hold a request of {size:,} B."
        return Verdict(False, Cause.NOT_PLACED, text, OPEN, size, capacity, UNAVAILABLE, tile=tile)
    placing = outcome.placing
    assert placing.failed is not None
    request = study.requests[placing.failed]
    text = (
        f"Tile {tile}: the compiler's two orders do not place all {count:,} requests: {request.bytes:,} B are needed "
        f"in one piece, the largest hole is {placing.hole:,} B, {placing.free_bytes:,} B are free in all. That is "
        f"no proof that they cannot be placed. The compiler would write: "
        f'"{insufficient_message(tile, request.memory_class, request.bytes)}".'
    )
    return Verdict(
        None, Cause.NOT_PLACED, text, PLACED, request.bytes, placing.hole, request.bytes - placing.hole, tile=tile
    )  # fmt: skip


def profile_verdict(profile: PlacementProfile) -> Verdict:
    """A placement profile is written only when the whole package has succeeded."""
    tiles = profile.tiles.logical()
    count = f"{len(tiles):,} tile" + ("s" if len(tiles) != 1 else "")
    text = f"A finished compile: everything on {count} has its address."
    return Verdict(True, Cause.PLACED, text, PLACED, UNAVAILABLE, UNAVAILABLE, UNAVAILABLE)
