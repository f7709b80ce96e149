"""The timelines of the golden programs, reproduced completely from the programs alone."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.helpers.golden_program import load_golden, read_program
from tileview.core.memory.measurement import measure
from tileview.core.memory.verdict import contiguous_overflow
from tileview.model.timeline import Timeline

CASES = [("vit3", "selected"), ("vit3", "composed"), ("so400m", "composed")]


@cache
def case(name: str, level: str) -> tuple[Timeline, dict[str, Any]]:
    profile = load_golden(f"{name}-profile.json.gz")[level]
    program = read_program(load_golden(f"{name}-program.json.gz")[level])
    timeline = measure(program, profile["budget_bytes"], profile["support_reserve_bytes"], "golden")
    return timeline, profile


@pytest.fixture(params=CASES, ids="-".join)
def measured(request: pytest.FixtureRequest) -> tuple[Timeline, dict[str, Any]]:
    return case(*request.param)


def test_values(measured: tuple[Timeline, dict[str, Any]]) -> None:
    timeline, profile = measured
    expected = profile["timeline"]["values"]
    assert len(timeline.values) == len(expected)
    for index, (value, entry) in enumerate(zip(timeline.values, expected, strict=True)):
        assert value.id == entry["id"] == index
        assert value.root == entry["root"], value
        assert (value.origin, value.name, value.group) == (entry["origin"], entry["name"], entry["group"])
        assert value.layout_text == entry["layout"]
        assert value.layout_error is None
        assert value.memory_class.value == entry["class"]
        assert value.shard_bytes == entry["shard_bytes"], value
        assert value.aligned_bytes == entry["aligned_bytes"], value
        assert (value.copies, value.bytes) == (entry["copies"], entry["bytes"])


def test_bytes_of_values_on_every_tile(measured: tuple[Timeline, dict[str, Any]]) -> None:
    timeline, profile = measured
    for index, entry in enumerate(profile["timeline"]["values"]):
        np.testing.assert_array_equal(timeline.tiles.shards(index), entry["tile_shards"])
        np.testing.assert_array_equal(timeline.tiles.value_bytes(index), entry["tile_bytes"])


def test_steps(measured: tuple[Timeline, dict[str, Any]]) -> None:
    timeline, profile = measured
    expected = profile["timeline"]["steps"]
    assert len(timeline.steps) == len(expected)
    for step, entry in zip(timeline.steps, expected, strict=True):
        assert step.index == entry["index"]
        assert step.source == entry["source"]
        assert step.execution_count == entry["execution_count"]
        assert list(step.live) == entry["live"], step.index
        for found, field in ((step.scratch, "scratch"), (step.usage, "usage"), (step.coarse, "coarse_usage")):
            assert (found.standard, found.interleaved) == (entry[field]["standard"], entry[field]["interleaved"])


def test_usage_on_every_tile(measured: tuple[Timeline, dict[str, Any]]) -> None:
    timeline, profile = measured
    worst = timeline.tiles.worst()
    for index, entry in enumerate(profile["timeline"]["steps"]):
        usage = np.array(entry["tile_usage"], dtype=np.int64)
        np.testing.assert_array_equal(timeline.tiles.usage(index), usage)
        np.testing.assert_array_equal(timeline.tiles.scratch(index), entry["tile_scratch"])
        total = usage.sum(axis=1)
        last = int(np.flatnonzero(total == total.max())[-1])
        assert worst[index].tolist() == [*usage.max(axis=0).tolist(), int(total.max()), last]


def test_curves_of_single_tiles(measured: tuple[Timeline, dict[str, Any]]) -> None:
    timeline, profile = measured
    usage = np.array([entry["tile_usage"] for entry in profile["timeline"]["steps"]], dtype=np.int64)
    for tile in (0, 1, timeline.tile_count // 2, timeline.tile_count - 1):
        np.testing.assert_array_equal(timeline.tiles.tile_curve(tile), usage[:, tile])


def test_peaks_and_verdict(measured: tuple[Timeline, dict[str, Any]]) -> None:
    timeline, profile = measured
    peak = profile["peak"]
    found = timeline.peak
    assert (found.standard, found.interleaved, found.total) == (peak["standard"], peak["interleaved"], peak["total"])
    assert found.maximum_standard_allocation == peak["maximum_standard_allocation"]
    assert found.exchange_rows == peak["exchange_rows"]
    assert timeline.total_peak_step == profile["total_peak_step"]
    assert timeline.standard_peak_step == profile["standard_peak_step"]
    assert timeline.interleaved_peak_step == profile["interleaved_peak_step"]
    assert timeline.verdict.fits == profile["fits_budget"]
    assert timeline.verdict.needed_bytes == profile["effective_peak_bytes"]
    overflow = contiguous_overflow(peak["maximum_standard_allocation"], timeline.reserve_bytes + peak["exchange_rows"])
    assert overflow == profile["standard_contiguous_overflow_bytes"]
