"""Timeline files in which one figure speaks against all others: never FITS, and the same verdict after an export."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from tests.helpers.dumps import with_value
from tests.helpers.make_timeline import write_timeline
from tileview.core.memory.accounts import Findings
from tileview.core.memory.from_file import timeline_from_file
from tileview.core.memory.study import study_parts
from tileview.core.memory.whatif import with_findings
from tileview.formats.timeline import timeline_from_bytes
from tileview.formats.timeline_writer import dump_timeline
from tileview.model.timeline import Cause, Timeline

LOST = 2**64 - 1
HUGE = 700_000


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A version 3 file of 6 steps that fits and agrees with itself."""
    path = tmp_path_factory.mktemp("made") / "made.json"
    write_timeline(path, 6, 8, 4)
    document: dict[str, Any] = json.loads(path.read_bytes())
    assert document["fits_budget"] is True
    return document


def as_version_1(document: dict[str, Any]) -> dict[str, Any]:
    """The same without numbers per tile: usage and peaks are sums of each allocation's largest bytes."""
    result = copy.deepcopy(document)
    steps = result["timeline"]["steps"]
    for step in steps:
        step["usage"] = step.pop("coarse_usage")
        del step["tile_usage"], step["tile_scratch"]
    for value in result["timeline"]["values"]:
        del value["tile_shards"], value["tile_bytes"], value["layout_error"]
    columns = {name: [step["usage"][name] for step in steps] for name in ("standard", "interleaved")}
    columns["total"] = [sum(pair) for pair in zip(columns["standard"], columns["interleaved"], strict=True)]
    for name, figures in columns.items():
        result["peak"][name] = max(figures)
        result[f"{name}_peak_step"] = figures.index(max(figures))
    result["peak"]["exchange_rows"] = 0
    result |= {"version": 1, "effective_peak_bytes": max(columns["total"]) + result["support_reserve_bytes"]}
    return result


def opened(document: dict[str, Any]) -> Timeline:
    """After all its arrays are read."""
    file = timeline_from_bytes(json.dumps(document).encode())
    timeline = timeline_from_file(file)
    for part in study_parts(file):
        if isinstance(part, Findings):
            timeline = with_findings(timeline, part)
    return timeline


def again(timeline: Timeline) -> Timeline:
    """As it is written by an export, and opened again."""
    return opened(json.loads(dump_timeline(timeline)))


DAMAGED = {
    "usage": ("timeline.steps[2].usage.standard", LOST),
    "interleaved usage": ("timeline.steps[2].usage.interleaved", LOST),
    "scratch": ("timeline.steps[2].scratch.standard", LOST),
    "interleaved scratch": ("timeline.steps[2].scratch.interleaved", LOST),
    "scratch of a tile": ("timeline.steps[2].tile_scratch[3]", [LOST, 0]),
    "interleaved scratch of a tile": ("timeline.steps[2].tile_scratch[3]", [0, LOST]),
    "shard": ("timeline.values[2].shard_bytes", LOST),
    "effective peak": ("effective_peak_bytes", LOST),
    "contiguous overflow": ("standard_contiguous_overflow_bytes", LOST),
    "what is left of an unavailable overflow": ("standard_contiguous_overflow_bytes", LOST - 424_880),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_an_unavailable_figure_beside_known_ones_is_damage(base, name):
    place, figure = DAMAGED[name]
    timeline = opened(with_value(base, place, figure))
    assert (timeline.verdict.fits, timeline.verdict.cause) == (None, Cause.DAMAGED)
    assert "18,446,744" not in timeline.verdict.text
    assert again(timeline).verdict.fits is None


CONTRADICTING = {
    "shard": ("timeline.values[2].shard_bytes", HUGE),
    "aligned": ("timeline.values[2].aligned_bytes", HUGE),
    "copies": ("timeline.values[2].copies", 1_000_000),
    "bytes": ("timeline.values[2].bytes", HUGE),
    "usage": ("timeline.steps[2].usage.standard", HUGE),
    "scratch": ("timeline.steps[2].scratch.standard", HUGE),
    "interleaved scratch": ("timeline.steps[2].scratch.interleaved", HUGE),
    "tile": ("timeline.steps[2].tile_usage[3]", [HUGE, 0]),
}


@pytest.mark.parametrize("name", CONTRADICTING)
def test_one_figure_that_would_not_fit_is_a_contradiction(base, name):
    place, figure = CONTRADICTING[name]
    timeline = opened(with_value(base, place, figure))
    assert (timeline.verdict.fits, timeline.verdict.cause) == (None, Cause.CONTRADICTION)
    assert again(timeline).verdict.fits is None


@pytest.mark.parametrize("field", ["shard_bytes", "aligned_bytes", "copies", "bytes"])
def test_one_figure_of_a_value_in_version_1_too(base, field):
    """Its numbers per tile are derived: a map with tiles over the budget never stands below FITS."""
    document = as_version_1(base)
    assert opened(document).verdict.fits is True
    timeline = opened(with_value(document, f"timeline.values[2].{field}", 1_000_000))
    assert (timeline.verdict.fits, timeline.verdict.cause) == (None, Cause.CONTRADICTION)
    assert again(timeline).verdict.fits is None


def test_a_headline_of_no_steps_is_not_believed(base):
    without = with_value(base, "timeline.steps", [])
    assert opened(without).verdict.cause is Cause.DAMAGED
    for name in ("total", "standard", "interleaved"):
        without[f"{name}_peak_step"] = None
    without["timeline"]["values"] = []
    verdict = opened(without).verdict
    assert (verdict.fits, verdict.cause) == (None, Cause.DAMAGED)
    assert "timeline.steps: there are none, and the peaks are those of steps" in verdict.text
    nothing = without | {"peak": dict.fromkeys(base["peak"], 0), "effective_peak_bytes": 49_152}
    assert opened(nothing).verdict.fits is True


def test_more_interleaved_memory_than_there_is_is_cut(base):
    """A budget of 10 MB lets no 500,000 bytes into a region of 424,880."""
    document = copy.deepcopy(base)
    document["interleaved_budget_bytes"] = 10_000_000
    assert opened(document).verdict.fits is True
    step = document["timeline"]["steps"][3]
    step["usage"] = {"standard": 0, "interleaved": 500_000}
    document["support_reserve_bytes"] = 0
    document["peak"] |= {"interleaved": 500_000, "total": 500_000}
    document |= {"effective_peak_bytes": 500_000, "total_peak_step": 3, "interleaved_peak_step": 3}
    timeline = timeline_from_file(timeline_from_bytes(json.dumps(document).encode()))
    assert timeline.verdict.fits is False
    assert timeline.verdict.cause is Cause.INTERLEAVED
    assert timeline.interleaved_budget_bytes == 424_880
    note = "the interleaved budget of 10,000,000 B is cut to the 424,880 B of the interleaved region"
    assert note in timeline.notes


@pytest.mark.parametrize(
    ("place", "figure"),
    [
        ("budget_bytes", 0),
        ("support_reserve_bytes", 586_961),
        ("tile_count", 9),
        ("timeline.steps[2].tile_usage", None),
    ],
)
def test_what_is_not_known_stays_so_after_an_export(base, place, figure):
    """``fits_budget`` is true or false, as every reader of the schema expects."""
    timeline = opened(with_value(base, place, figure))
    assert timeline.verdict.fits is None
    assert type(json.loads(dump_timeline(timeline))["fits_budget"]) is bool
    assert again(timeline).verdict.fits is None
