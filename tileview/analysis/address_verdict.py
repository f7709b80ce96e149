"""The verdict on a file that speaks of addresses: a tile's problem solved again, a finished placement."""

from __future__ import annotations

from tileview.analysis.placement import insufficient_message
from tileview.analysis.placement_files import TileStudy, stated_against_derived, study_tile
from tileview.core.placement.outcome import Answer
from tileview.model.placement import PlacementProfile, TileDump
from tileview.model.sizes import UNAVAILABLE
from tileview.model.timeline import Cause, Problem, Verdict

PLACED = "addresses"
OPEN = "open memory"


def dump_verdict(dump: TileDump) -> tuple[Verdict, tuple[Problem, ...]]:
    """What the compiler's orders come to for the problem of a tile dump, and where the file states otherwise."""
    study = study_tile(dump.problem.tile, dump.problem.requests, dump.problem.memory, searching=False)
    return _verdict(dump, study), stated_against_derived(dump, study)


def _verdict(dump: TileDump, study: TileStudy) -> Verdict:
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
