"""Reading a timeline file to its end: parts that can be taken in elsewhere, and what is found wrong on the way."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.dumps import compact, sample, small_timeline
from tests.helpers.make_timeline import write_timeline
from tileview.core.memory.check_file import LiveSums, check_step
from tileview.core.memory.file_tiles import FileNumbers, StepsRead
from tileview.core.memory.from_file import timeline_from_file
from tileview.core.memory.study import study_parts
from tileview.formats import files
from tileview.formats.timeline import load_timeline, timeline_from_bytes
from tileview.model.timeline import Problem, Timeline, fullest_tile
from tileview.model.timeline_file import FILE_CHANGED, TimelineFile


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """150 steps, 60 values, 23 tiles."""
    write_timeline(tmp_path / "made.json", 150, 60, 23)
    return tmp_path / "made.json"


def numbers_of(timeline: Timeline) -> FileNumbers:
    assert isinstance(timeline.tiles, FileNumbers)
    return timeline.tiles


def parts_of(file: TimelineFile, first: int = 0) -> tuple[list[StepsRead], tuple[Problem, ...]]:
    parts = list(study_parts(file, first))
    problems = parts[-1]
    assert isinstance(problems, tuple)
    return [part for part in parts if isinstance(part, StepsRead)], problems


def test_a_file_that_agrees_with_itself_has_no_problems(made: Path) -> None:
    parts, problems = parts_of(load_timeline(made))
    assert problems == ()
    assert sum(len(part.worst) for part in parts) == 150
    assert [part.first for part in parts] == [0, 64, 128]


def test_parts_taken_in_equal_what_is_read_here(made: Path) -> None:
    here = timeline_from_file(load_timeline(made))
    there = timeline_from_file(load_timeline(made))
    numbers = numbers_of(there)
    numbers.defer()
    for part in parts_of(load_timeline(made))[0]:
        numbers.take(part)
    assert numbers.is_complete
    np.testing.assert_array_equal(there.tiles.worst(), here.tiles.worst())
    for tile in (0, 7, 22):
        expected = np.array([here.tiles.usage(step)[tile] for step in range(150)])
        np.testing.assert_array_equal(there.tiles.tile_curve(tile), expected)


def test_before_it_is_read_a_step_has_what_the_file_states(made: Path) -> None:
    timeline = timeline_from_file(load_timeline(made))
    numbers = numbers_of(timeline)
    numbers.defer()
    worst = timeline.tiles.worst()
    assert worst[:, 3].tolist() == [-1] * 150
    stated = [(step.usage.standard, step.usage.interleaved, step.usage.total) for step in timeline.steps]
    assert [tuple(row) for row in worst[:, :3].tolist()] == stated
    assert not timeline.tiles.tile_curve(3).any()
    usage = timeline.tiles.usage(90).sum(axis=1)
    tile = fullest_tile(timeline.tiles, 90)
    assert usage[tile] == usage.max()
    assert not (usage[tile + 1 :] == usage.max()).any()
    numbers.resume()
    assert timeline.tiles.worst()[90, 3] == tile


def test_parts_out_of_order_and_of_other_files_are_ignored(made: Path) -> None:
    numbers = numbers_of(timeline_from_file(load_timeline(made)))
    numbers.defer()
    parts = parts_of(load_timeline(made))[0]
    numbers.take(parts[1])
    assert numbers.scanned == 0
    numbers.take(parts[0])
    numbers.take(parts[0])
    assert numbers.scanned == 64
    too_far = StepsRead(64, np.zeros((500, 4), np.int64), None)
    numbers.take(too_far)
    assert numbers.scanned == 64


def test_a_study_goes_on_where_reading_stopped(made: Path) -> None:
    timeline = timeline_from_file(load_timeline(made))
    numbers = numbers_of(timeline)
    numbers.read(100)
    for part in parts_of(load_timeline(made), 100)[0]:
        numbers.take(part)
    assert numbers.is_complete
    np.testing.assert_array_equal(timeline.tiles.worst(), timeline_from_file(load_timeline(made)).tiles.worst())


def test_sums_carried_on_equal_sums_made_anew(made: Path) -> None:
    file = load_timeline(made)
    timeline = timeline_from_file(file)
    carried = LiveSums(timeline)
    for step in (*range(0, 150, 7), *range(149, -1, -11)):
        live = timeline.steps[step].live
        np.testing.assert_array_equal(carried.at(live), LiveSums(timeline).at(live))
        assert check_step(file, timeline, step, carried) == []


def test_numbers_beyond_four_bytes_are_kept_exactly(tmp_path: Path) -> None:
    write_timeline(tmp_path / "x.json", 70, 30, 8, scale=100_000)
    timeline = timeline_from_file(load_timeline(tmp_path / "x.json"))
    worst = timeline.tiles.worst()
    assert int(worst[:, 2].max()) > 2**32
    for tile in range(8):
        expected = np.array([timeline.tiles.usage(step)[tile] for step in range(70)])
        np.testing.assert_array_equal(timeline.tiles.tile_curve(tile), expected)
    assert [row[2] for row in worst.tolist()] == [step.usage.total for step in timeline.steps]
    assert parts_of(load_timeline(tmp_path / "x.json"))[1] == ()


def damaged(change: Any) -> TimelineFile:
    document = small_timeline()
    change(document["timeline"])
    return timeline_from_bytes(compact(document), "dump.json")


def test_malformed_arrays_are_named() -> None:
    def change(timeline: Any) -> None:
        timeline["steps"][1]["tile_usage"][2] = [-1, 0]
        timeline["values"][0]["tile_bytes"][3] = 1.5

    _, problems = parts_of(damaged(change))
    assert [problem.place for problem in problems[:2]] == [
        "timeline.values[0].tile_bytes",
        "timeline.steps[1].tile_usage",
    ]
    assert all(problem.severity == "error" for problem in problems[:2])


def test_disagreements_are_found() -> None:
    def change(timeline: Any) -> None:
        timeline["steps"][2]["tile_usage"][1][0] += 8
        timeline["values"][0]["tile_bytes"][0] += 4

    _, problems = parts_of(damaged(change))
    places = {problem.place for problem in problems}
    assert "timeline.steps[2].tile_usage" in places
    assert "timeline.values[0].tile_bytes" in places


def test_many_problems_of_a_kind_are_counted_not_listed(tmp_path: Path) -> None:
    write_timeline(tmp_path / "x.json", 60, 20, 16)
    raw = (tmp_path / "x.json").read_bytes()
    file = timeline_from_bytes(raw.replace(b'"tile_usage":[[', b'"tile_usage":[[-'), "x.json")
    _, problems = parts_of(file)
    assert len(problems) == 21
    assert "40 more" in problems[-1].text


@pytest.mark.parametrize("version", [2, 3])
def test_samples_have_no_problems(version: int) -> None:
    file = timeline_from_bytes(sample(f"pair-8tiles.v{version}.timeline.json"), "pair")
    assert parts_of(file)[1] == ()


def test_a_file_without_arrays_has_nothing_to_read() -> None:
    file = timeline_from_bytes(sample("rejected-op0.timeline.json"), "rejected")
    assert parts_of(file) == ([], ())


def test_a_file_that_was_cut_off_after_it_was_opened_is_one_problem(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "HELD_BYTES", 0)
    file = load_timeline(made)
    os.truncate(made, 30_000)
    parts, problems = parts_of(file)
    assert sum(len(part.worst) for part in parts) == 150
    assert problems[0] == FILE_CHANGED
    assert len(problems) < 50
