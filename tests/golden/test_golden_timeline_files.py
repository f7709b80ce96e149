"""Timeline files of every version made from the golden profiles, and the sample of a rejected operation."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.golden_program import load_golden, read_program
from tileview.analysis.repair import repair_groups
from tileview.core.geometry.resolve import LayoutErrorKind
from tileview.core.memory.check_file import check_arrays
from tileview.core.memory.from_file import timeline_from_file
from tileview.core.memory.measurement import measure
from tileview.core.memory.whatif import with_layouts
from tileview.formats.timeline import load_timeline, timeline_from_bytes
from tileview.model.sizes import UNAVAILABLE
from tileview.model.timeline import Cause, Origin, Peak, Timeline
from tileview.model.timeline_file import TimelineFile

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data" / "rejected-op0.timeline.json"
NAMES = ["vit3", "so400m"]


def profile_of(name: str) -> dict[str, Any]:
    return copy.deepcopy(_profile(name))


@cache
def _profile(name: str) -> dict[str, Any]:
    profile: dict[str, Any] = load_golden(f"{name}-profile.json.gz")["composed"]
    return profile


@cache
def measured(name: str) -> Timeline:
    return measure(read_program(load_golden(f"{name}-program.json.gz")["composed"]), 586_960, 49_152)


def read(profile: dict[str, Any]) -> tuple[TimelineFile, Timeline]:
    file = timeline_from_bytes(json.dumps(profile, separators=(",", ":")).encode())
    return file, timeline_from_file(file)


def as_version_2(profile: dict[str, Any]) -> dict[str, Any]:
    """Version 2 adds the exchange rows to standard and total."""
    profile["version"] = 2
    rows = profile["peak"]["exchange_rows"]
    for name in ("standard", "total"):
        profile["peak"][name] += rows
    profile["effective_peak_bytes"] += rows
    return profile


def as_version_1(profile: dict[str, Any]) -> dict[str, Any]:
    """Version 1 has no arrays; its usage is the coarse one, and so are its peaks."""
    steps = profile["timeline"]["steps"]
    for value in profile["timeline"]["values"]:
        for field in ("layout_error", "tile_shards", "tile_bytes"):
            del value[field]
    for step in steps:
        step["usage"] = step.pop("coarse_usage")
        del step["tile_usage"], step["tile_scratch"]
    sums = {
        "standard": [step["usage"]["standard"] for step in steps],
        "interleaved": [step["usage"]["interleaved"] for step in steps],
    }
    sums["total"] = [a + b for a, b in zip(*sums.values(), strict=True)]
    for name, column in sums.items():
        profile["peak"][name] = max(column)
        profile[f"{name}_peak_step"] = column.index(max(column))
    profile["effective_peak_bytes"] = profile["peak"]["total"] + profile["support_reserve_bytes"]
    profile["fits_budget"] = profile["effective_peak_bytes"] <= profile["budget_bytes"]
    profile = as_version_2(profile)
    profile["version"] = 1
    return profile


# -- versions 2 and 3: the file's own numbers ----------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("version", [2, 3])
def test_a_file_with_tiles_says_what_the_estimate_says(name: str, version: int) -> None:
    profile = profile_of(name)
    _, timeline = read(as_version_2(profile) if version == 2 else profile)
    expected = measured(name)
    assert (timeline.origin, timeline.version, timeline.derived) == (Origin.FILE, version, False)
    assert timeline.peak == expected.peak
    assert timeline.total_peak_step == expected.total_peak_step
    assert timeline.verdict.text == expected.verdict.text
    assert (timeline.verdict.tile, timeline.verdict.fits) == (expected.verdict.tile, expected.verdict.fits)
    assert timeline.problems == ()
    assert timeline.notes == ()
    for step, other in zip(timeline.steps, expected.steps, strict=True):
        assert (step.live, step.usage, step.coarse, step.scratch) == (
            other.live,
            other.usage,
            other.coarse,
            other.scratch,
        )
    np.testing.assert_array_equal(timeline.tiles.worst(), expected.tiles.worst())
    for tile in (0, timeline.tile_count - 1):
        np.testing.assert_array_equal(timeline.tiles.tile_curve(tile), expected.tiles.tile_curve(tile))


@pytest.mark.parametrize("name", NAMES)
def test_alignment_and_tails_are_inferred(name: str) -> None:
    _, timeline = read(profile_of(name))
    expected = measured(name)
    assert timeline.aliases == expected.aliases
    assert timeline.aligned_roots == expected.aligned_roots
    assert timeline.tails == expected.tails


def test_arrays_agree_with_each_other() -> None:
    file, timeline = read(profile_of("vit3"))
    assert [found for found in check_arrays(file, timeline) if found is not None] == []


def test_steps_can_be_scanned_a_few_at_a_time() -> None:
    _, timeline = read(profile_of("vit3"))
    numbers: Any = timeline.tiles
    assert not numbers.scan(100)
    assert numbers.scanned == 100
    assert numbers.scan(100)
    np.testing.assert_array_equal(timeline.tiles.worst(), measured("vit3").tiles.worst())


def test_coarse_usage_is_computed_where_a_file_lacks_it() -> None:
    profile = profile_of("vit3")
    for step in profile["timeline"]["steps"]:
        del step["coarse_usage"]
    _, timeline = read(profile)
    assert [step.coarse for step in timeline.steps] == [step.coarse for step in measured("vit3").steps]


def test_a_malformed_array_is_replaced_by_what_the_layout_gives() -> None:
    profile = profile_of("vit3")
    profile["timeline"]["steps"][3]["tile_usage"] = [[0, 0]]
    profile["timeline"]["values"][0]["tile_bytes"] = [1, 2]
    _, timeline = read(profile)
    expected = measured("vit3")
    np.testing.assert_array_equal(timeline.tiles.usage(3), expected.tiles.usage(3))
    np.testing.assert_array_equal(timeline.tiles.value_bytes(0), expected.tiles.value_bytes(0))


# -- version 1: everything derived ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_version_1_file_is_derived(name: str) -> None:
    profile = as_version_1(profile_of(name))
    _, timeline = read(profile)
    rows = profile["peak"]["exchange_rows"]
    assert timeline.derived
    assert timeline.peak.total == profile["peak"]["total"] - rows
    assert timeline.peak.standard == profile["peak"]["standard"] - rows
    assert timeline.problems == ()
    assert any("derived" in note for note in timeline.notes)
    expected = measured(name)
    assert [step.coarse for step in timeline.steps] == [step.coarse for step in expected.steps]
    for index in range(len(timeline.values)):
        # a file does not say where owners sit, so the same numbers may stand on other tiles
        for row, other in (
            (timeline.tiles.value_bytes(index), expected.tiles.value_bytes(index)),
            (timeline.tiles.shards(index), expected.tiles.shards(index)),
        ):
            np.testing.assert_array_equal(np.sort(row), np.sort(other))
    for step in range(len(timeline.steps)):
        ours, other = timeline.tiles.scratch(step), expected.tiles.scratch(step)
        assert ours.max() == other.max()
        assert ours.sum() >= other.sum()


# -- the sample: nothing fits because 43 values have no valid layout ------------------------------------------------


@pytest.fixture(scope="module")
def sample() -> Timeline:
    return timeline_from_file(load_timeline(SAMPLE))


def test_sample_peaks(sample: Timeline) -> None:
    assert sample.peak == Peak(UNAVAILABLE, 33_920, UNAVAILABLE, UNAVAILABLE, 548)
    assert (sample.total_peak_step, sample.standard_peak_step, sample.interleaved_peak_step) == (0, 0, 3)
    assert len(sample.unavailable_roots) == 43


def test_sample_verdict(sample: Timeline) -> None:
    assert sample.verdict.cause is Cause.INVALID_LAYOUT
    assert sample.verdict.text.startswith(
        "43 values have no valid layout, the first is vit.embedding.bias: 1,472 tiles requested, only 288 grains"
    )


def test_sample_agrees_with_itself(sample: Timeline) -> None:
    assert [problem for problem in sample.problems if problem.severity != "error"] == []
    assert sample.aligned_roots == {1, 70}
    assert sample.tails == {1: 8}


def test_sample_numbers_per_tile(sample: Timeline) -> None:
    assert sample.tiles.value_bytes(1).tolist() == [32_768] * 1472
    assert sample.tiles.shards(1).tolist() == [23_040] * 1472
    assert sample.tiles.value_bytes(68).tolist() == [1_152] * 1472
    assert sample.tiles.scratch(3)[:, 0].tolist() == [5_760] * 1472
    worst = sample.tiles.worst()
    assert worst[:, 1].tolist() == [0, 0, 32_768, 33_920]


def test_one_edit_repairs_the_sample(sample: Timeline) -> None:
    (group,) = repair_groups(sample)
    assert group.kind is LayoutErrorKind.EMPTY_AXIS_TILING
    assert len(group.values) == 43
    assert set(group.values) == sample.unavailable_roots
    by_key = {repair.key: repair for repair in group.repairs}
    fewer, chunks = by_key[("fewer-owners",)], by_key[("chunks",)]
    assert fewer.layouts[2].tiling.tile_count == 288
    assert chunks.layouts[2].tiling.tile_count == 9
    for repair in group.repairs:
        repaired = with_layouts(sample, repair.layouts)
        assert repaired.verdict.fits, repair.label
        assert repaired.unavailable_roots == frozenset()
        assert repaired.problems == ()
        assert (repaired.budget_bytes, repaired.reserve_bytes) == (586_960, 49_152)
    fewer_timeline = with_layouts(sample, fewer.layouts)
    # 43 values of one grain of 4 F16 elements at most
    assert [fewer_timeline.values[index].bytes for index in group.values] == [8] * 43
    # step 2: coarse sums of version 1: the file's known values, 43 repaired ones
    known = sum(v.bytes for v in sample.values if v.root in sample.steps[2].live and v.bytes is not UNAVAILABLE)  # type: ignore[misc]
    assert fewer_timeline.peak.total == known + 43 * 8
    assert fewer_timeline.total_peak_step == 2
    # undoing the edit restores the verdict
    layouts = {index: sample.values[index].layout for index in group.values}
    undone = with_layouts(fewer_timeline, layouts)  # type: ignore[arg-type]
    assert undone.peak == sample.peak
    assert undone.verdict.text == sample.verdict.text


def test_budget_what_if(sample: Timeline) -> None:
    (group,) = repair_groups(sample)
    repaired = with_layouts(sample, group.repairs[0].layouts)
    needed = repaired.verdict.needed_bytes
    assert isinstance(needed, int)
    assert with_layouts(repaired, {}, budget_bytes=needed).verdict.fits
    short = with_layouts(repaired, {}, budget_bytes=needed - 1)
    assert not short.verdict.fits
    assert (short.verdict.cause, short.verdict.short_bytes) == (Cause.TOTAL, 1)
    assert with_layouts(repaired, {}, budget_bytes=needed, reserve_bytes=49_153).verdict.short_bytes == 1
    assert with_layouts(sample, {}) is sample
    assert with_layouts(sample, {}, budget_bytes=1).verdict.cause is Cause.INVALID_LAYOUT


# -- files that disagree with themselves ---------------------------------------------------------------------------


def places(profile: dict[str, Any]) -> set[str]:
    return {problem.place for problem in read(profile)[1].problems}


def test_every_contradiction_is_named() -> None:
    profile = profile_of("vit3")
    values, steps = profile["timeline"]["values"], profile["timeline"]["steps"]
    values[5]["bytes"] += 1
    values[100]["shard_bytes"] -= 8
    values[100]["aligned_bytes"] -= 8
    values[100]["bytes"] -= 8
    values[56]["aligned_bytes"] = 16_383
    steps[7]["coarse_usage"]["standard"] += 100
    profile["peak"]["total"] += 4
    profile["standard_peak_step"] = 4000
    profile["effective_peak_bytes"] = 1
    profile["standard_contiguous_overflow_bytes"] = 3
    profile["fits_budget"] = False
    found = places(profile)
    assert "timeline.values[5].bytes" in found
    assert "timeline.values[100].shard_bytes" in found
    assert "timeline.values[56].aligned_bytes" in found
    assert "timeline.steps[7].coarse_usage.standard" in found
    expected = {"peak.total", "standard_peak_step", "effective_peak_bytes", "standard_contiguous_overflow_bytes"}
    assert expected <= found
    assert "fits_budget" in found


def test_contradictions_in_arrays_are_found_when_looked_for() -> None:
    profile = profile_of("vit3")
    values, steps = profile["timeline"]["values"], profile["timeline"]["steps"]
    steps[3]["tile_usage"][5][0] += 1
    steps[4]["usage"]["standard"] -= 1
    steps[4]["scratch"]["standard"] += 1
    shards = values[7]["tile_shards"]
    shards[shards.index(max(shards))] += 2
    file, timeline = read(profile)
    found = {problem.place for problem in check_arrays(file, timeline) if problem is not None}
    assert found == {
        "timeline.steps[3].tile_usage",
        "timeline.steps[4].usage",
        "timeline.steps[4].scratch",
        "timeline.values[7].tile_shards",
        "timeline.values[7].tile_bytes",
    }


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("version", [1, 2, 3])
def test_no_golden_file_is_said_to_contradict_itself(name: str, version: int) -> None:
    make = {1: as_version_1, 2: as_version_2, 3: lambda profile: profile}[version]
    file, timeline = read(make(profile_of(name)))
    assert timeline.problems == ()
    assert [problem for problem in check_arrays(file, timeline) if problem is not None] == []


@pytest.mark.parametrize("change", [-4, 4])
def test_a_changed_largest_standard_allocation_is_named(change: int) -> None:
    for profile in (as_version_1(profile_of("vit3")), profile_of("vit3")):
        profile["peak"]["maximum_standard_allocation"] += change
        assert places(profile) == {"peak.maximum_standard_allocation"}


@pytest.mark.parametrize("field", ["peak.standard", "peak.interleaved", "standard_peak_step", "interleaved_peak_step"])
@pytest.mark.parametrize("version", [2, 3])
def test_a_changed_class_peak_is_found_from_the_arrays(field: str, version: int) -> None:
    profile = profile_of("vit3") if version == 3 else as_version_2(profile_of("vit3"))
    holder = profile["peak"] if field.startswith("peak.") else profile
    holder[field.removeprefix("peak.")] += 1
    file, timeline = read(profile)
    assert [problem.place for problem in check_arrays(file, timeline) if problem is not None] == [field]


@pytest.mark.parametrize(("step", "said"), [(None, "the file names no step"), (3, "the file says 3")])
def test_a_peak_step_that_is_another_is_said_in_words(step: int | None, said: str) -> None:
    profile = profile_of("vit3")
    profile["total_peak_step"] = step
    (problem,) = read(profile)[1].problems
    assert (problem.place, problem.text) == (
        "total_peak_step",
        f"{said}, the earliest step with the largest value is 106",
    )


def test_a_peak_step_that_does_not_exist_is_said_once() -> None:
    profile = profile_of("vit3")
    profile["total_peak_step"] = 4000
    assert [problem.place for problem in read(profile)[1].problems] == ["total_peak_step"]


def test_a_class_peak_is_not_judged_where_an_array_cannot_be_read() -> None:
    profile = profile_of("vit3")
    profile["peak"]["standard"] += 1
    profile["timeline"]["steps"][9]["tile_usage"][3][0] = 2**64 - 1
    file, timeline = read(profile)
    assert "peak.standard" not in {problem.place for problem in check_arrays(file, timeline) if problem is not None}


def test_shards_that_are_not_those_of_shape_and_layout_are_found() -> None:
    """One tile has 2 bytes less of payload and of allocation: all other figures of the value still agree."""
    profile = profile_of("vit3")
    value = profile["timeline"]["values"][1]
    assert value["tile_shards"][2] == value["tile_bytes"][2] == 1536
    value["tile_shards"][2] = value["tile_bytes"][2] = 1534
    file, timeline = read(profile)
    found = [problem for problem in check_arrays(file, timeline) if problem is not None and problem.value is not None]
    assert [problem.place for problem in found] == ["timeline.values[1].tile_shards"]
    assert "87,550 B, shape and layout give 87,552 B" in found[0].text


def test_a_class_that_the_layout_does_not_have_is_named() -> None:
    profile = as_version_1(profile_of("vit3"))
    profile["timeline"]["values"][1]["class"] = "Ipu21Interleaved"
    assert "timeline.values[1].class" in places(profile)


def test_a_reason_beside_a_size_is_named() -> None:
    profile = profile_of("vit3")
    profile["timeline"]["values"][0]["layout_error"] = "does not divide"
    assert places(profile) == {"timeline.values[0].layout_error"}


def test_peaks_smaller_than_their_exchange_rows() -> None:
    profile = as_version_2(profile_of("vit3"))
    profile["peak"]["standard"] = 10
    _, timeline = read(profile)
    assert timeline.peak.standard is UNAVAILABLE
    assert "peak.standard" in {problem.place for problem in timeline.problems}


def test_a_size_without_a_layout_counts_on_every_tile() -> None:
    profile = as_version_1(profile_of("vit3"))
    value = profile["timeline"]["values"][56]
    value["layout"] = "Layout { nonsense"
    _, timeline = read(profile)
    assert timeline.values[56].layout is None
    assert timeline.values[56].bytes == value["bytes"]
    assert timeline.tiles.value_bytes(56).tolist() == [value["bytes"]] * 64


def test_unknown_precision_is_counted_by_its_shards() -> None:
    profile = as_version_1(profile_of("vit3"))
    value = profile["timeline"]["values"][100]
    value["precision"] = "BF16"
    _, timeline = read(profile)
    np.testing.assert_array_equal(timeline.tiles.value_bytes(100), measured("vit3").tiles.value_bytes(100))
