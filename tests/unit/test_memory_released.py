"""What an estimate holds is released with its last reference: no ring keeps arrays until the collector comes by."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.dumps import SAMPLES
from tileview.core.memory.whatif import with_layouts
from tileview.formats.opening import open_file
from tileview.model.kept import KeptResults
from tileview.model.recipe import Overrides
from tileview.session.document import Document
from tileview.session.edits import EditState
from tileview.session.estimate_jobs import EstimateJob


@pytest.fixture(autouse=True)
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def used(timeline: object) -> weakref.ref[object]:
    """Ask for everything once, so that all caches hold something."""
    tiles = timeline.tiles  # type: ignore[attr-defined]
    tiles.usage(0)
    tiles.worst()
    tiles.tile_curve(0)
    tiles.scratch(0)
    tiles.shards(0)
    tiles.allocation(timeline.values[0].root)  # type: ignore[attr-defined]
    return weakref.ref(tiles)


@pytest.mark.parametrize(
    "name", ["pair-8tiles.recipe.json", "pair-8tiles.v3.timeline.json", "rejected-op0.timeline.json"]
)
def test_the_numbers_of_a_document_go_with_it(name: str) -> None:
    path = Path(SAMPLES) / name
    document = Document(path, open_file(path))
    result = EstimateJob(1, document, EditState()).run()
    assert result.estimate.timeline is not None
    gone = used(result.estimate.timeline)
    assert gone() is not None
    del result, document
    assert gone() is None


def test_the_numbers_of_a_changed_timeline_go_with_it() -> None:
    path = Path(SAMPLES) / "pair-8tiles.v3.timeline.json"
    document = Document(path, open_file(path))
    base = document.file_timeline()
    other = next(value.layout for value in base.values if value.layout != base.values[0].layout)
    assert other is not None
    changed = with_layouts(base, {0: other})
    gone = used(changed)
    del changed
    assert gone() is None


def test_what_if_on_the_budget_shares_the_numbers() -> None:
    path = Path(SAMPLES) / "pair-8tiles.v3.timeline.json"
    document = Document(path, open_file(path))
    state = EditState(overrides=Overrides(budget_bytes=1000))
    result = EstimateJob(1, document, state).run()
    assert result.estimate.timeline is not None
    assert result.estimate.timeline.tiles is document.file_timeline().tiles


def test_kept_results_are_bounded_and_made_once() -> None:
    made: list[int] = []

    def make(key: int) -> int:
        made.append(key)
        return key * key

    kept: KeptResults[int, int] = KeptResults(3)
    assert [kept.get(key, make) for key in (1, 2, 1, 3, 1, 4, 1, 2)] == [1, 4, 1, 9, 1, 16, 1, 4]
    assert made == [1, 2, 3, 4, 2]
