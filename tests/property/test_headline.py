"""A false headline never leads to a verdict that the file's own steps deny: every field, every version."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.make_timeline import write_timeline
from tileview.core.memory.accounts import Findings
from tileview.core.memory.from_file import timeline_from_file
from tileview.core.memory.study import study_parts
from tileview.core.memory.whatif import with_findings
from tileview.formats.timeline import timeline_from_bytes
from tileview.model.timeline import Cause, Verdict

EXCHANGE = 7_000
PEAKS = ("standard", "interleaved", "total", "maximum_standard_allocation")
FIELDS = (
    *(("peak", name) for name in PEAKS),
    ("effective_peak_bytes",),
    ("standard_contiguous_overflow_bytes",),
    ("fits_budget",),
    ("total_peak_step",),
    ("standard_peak_step",),
    ("interleaved_peak_step",),
)
FIGURES = st.one_of(st.integers(0, 600), st.integers(0, 2**20), st.integers(0, 2**48), st.just(2**64 - 1))


@cache
def made(folder: Path, version: int, fits: bool) -> dict[str, Any]:
    """A file of 12 steps that agrees with itself; one that does not fit has a budget a byte too small."""
    path = folder / "made.json"
    write_timeline(path, 12, 8, 5)
    document: dict[str, Any] = json.loads(path.read_bytes())
    document["support_reserve_bytes"] = 0
    peak, steps = document["peak"], document["timeline"]["steps"]
    if version == 1:
        for step in steps:
            step["usage"] = step.pop("coarse_usage")
            del step["tile_usage"], step["tile_scratch"]
        for value in document["timeline"]["values"]:
            del value["tile_shards"], value["tile_bytes"], value["layout_error"]
        usages = [step["usage"] for step in steps]
        columns = {
            "standard": [usage["standard"] for usage in usages],
            "interleaved": [usage["interleaved"] for usage in usages],
            "total": [usage["standard"] + usage["interleaved"] for usage in usages],
        }
        for name, figures in columns.items():
            peak[name] = max(figures)
            document[f"{name}_peak_step"] = figures.index(max(figures))
    total = peak["total"]
    document["budget_bytes"] = total if fits else total - 1
    if version < 3:
        peak["exchange_rows"] = EXCHANGE
        peak["standard"] += EXCHANGE
        peak["total"] += EXCHANGE
    document |= {
        "version": version,
        "effective_peak_bytes": peak["total"],
        "fits_budget": fits,
        "standard_contiguous_overflow_bytes": 0,
    }
    return document


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("made")


def verdict_of(document: dict[str, Any]) -> Verdict:
    """After all arrays are read."""
    file = timeline_from_bytes(json.dumps(document).encode())
    timeline = timeline_from_file(file)
    for part in study_parts(file):
        if isinstance(part, Findings):
            timeline = with_findings(timeline, part)
    return timeline.verdict


@pytest.mark.parametrize("fits", [True, False])
@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_file_that_agrees_with_itself_is_known(folder: Path, version: int, fits: bool) -> None:
    assert verdict_of(made(folder, version, fits)).fits is fits


@pytest.mark.parametrize("fits", [True, False])
@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field[-1])
def test_a_false_field_never_turns_the_verdict(folder: Path, version: int, fits: bool, field: tuple[str, ...]) -> None:
    """The truth, or not known; and where a file fits by all figures but says that it does not, not known."""

    @settings(max_examples=12, deadline=None)
    @given(FIGURES)
    def check(figure: int) -> None:
        document = copy.deepcopy(made(folder, version, fits))
        holder = document if len(field) == 1 else document[field[0]]
        if field[-1] == "fits_budget":
            holder["fits_budget"] = not fits
        else:
            holder[field[-1]] = figure % 20 if field[-1].endswith("_step") else figure
        verdict = verdict_of(document)
        assert verdict.fits in (fits, None)
        if field[-1] == "fits_budget":
            assert verdict.cause is Cause.CONTRADICTION
        if field[-1].endswith("_step"):
            assert verdict.fits is fits

    check()


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_total_peak_of_a_byte_more_or_less_is_a_contradiction(folder: Path, version: int) -> None:
    for fits, change in ((True, 1), (False, -1)):
        document = copy.deepcopy(made(folder, version, fits))
        document["peak"]["total"] += change
        document["effective_peak_bytes"] += change
        verdict = verdict_of(document)
        assert (verdict.fits, verdict.cause) == (None, Cause.CONTRADICTION)
        assert isinstance(verdict.stated_bytes, int)
        assert verdict.found_bytes == verdict.stated_bytes - change
