"""Damaged dumps: a file opens or is refused with a LoadError, and nothing else ever happens.

``tests/benchmarks/fuzz_formats.py`` runs the same with as many cases as there is time for.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.helpers.mutate import damage
from tests.helpers.opened import rendered
from tileview.errors import LoadError
from tileview.formats.save import Changes
from tileview.formats.search_state import SearchState, search_state_from_bytes
from tileview.formats.sniff import DumpKind, sniff
from tileview.formats.tilearrays import TileArrays
from tileview.formats.timeline import timeline_from_bytes
from tileview.model.timeline_file import TimelineFile

SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"
BASES = ("pair-8tiles.recipe.json", "pair-8tiles.v2.timeline.json", "pair-8tiles.v3.timeline.json")
LARGER = ("rejected-op0.timeline.json",)


def open_bytes(raw: bytes) -> SearchState | TimelineFile:
    """What opening a file with these bytes does."""
    if sniff("x", raw[:65_536]).kind is DumpKind.RECIPE:
        return search_state_from_bytes(raw, "x")
    return timeline_from_bytes(raw, "x")


def look_at(document: SearchState | TimelineFile) -> None:
    """Use what was opened: export it, decode all its arrays."""
    if isinstance(document, SearchState):
        assert rendered(document) == document.raw
        swaps = {operation: 0 for operation, plans in document.recipe.alternatives.items() if plans}
        search_state_from_bytes(rendered(document, Changes(swaps, open_boundaries=frozenset({1}))))
        return
    assert isinstance(document.tiles, TileArrays)
    document.tiles.check()
    for index in range(min(5, len(document.steps))):
        usage = document.tiles.tile_usage(index)
        assert usage is None or usage.shape == (document.tile_count, 2)
    for index in range(min(5, len(document.values))):
        shards = document.tiles.tile_shards(index)
        assert shards is None or shards.shape == (document.tile_count,)
    for step in document.steps:
        assert all(document.values[root].root == root for root in step.live)


def run(base: bytes, seed: int) -> bool:
    """One case; True where the damaged file opened."""
    raw = damage(random.Random(seed), base)
    try:
        look_at(open_bytes(raw))
    except LoadError as error:
        refusal = error
    else:
        return True
    assert refusal.path == "x"
    assert all((refusal.expected, refusal.found, refusal.hint))
    return False


@pytest.mark.parametrize(("name", "cases"), [*((name, 150) for name in BASES), *((name, 50) for name in LARGER)])
def test_only_load_errors(name: str, cases: int) -> None:
    base = (SAMPLES / name).read_bytes()
    opened = sum(run(base, seed) for seed in range(cases))
    assert 0 < opened < cases
