"""Large timelines: shown before everything is read, read to their end in a process, views take turns."""

from __future__ import annotations

import os
import signal
from dataclasses import replace

import numpy as np
import pytest

from tests.helpers.make_timeline import write_timeline
from tileview.core.memory.file_tiles import FileNumbers
from tileview.core.memory.from_file import timeline_from_file
from tileview.formats.timeline import load_timeline
from tileview.model.timeline import steps_read
from tileview.qt.jobs import estimates as jobs
from tileview.qt.jobs import pacing as turns
from tileview.qt.jobs import process as early
from tileview.qt.jobs import runner
from tileview.qt.views.graph import controls
from tileview.qt.views.tiles.view import TilesView
from tileview.qt.views.timeline.view import TimelineView


@pytest.fixture
def made(tmp_path):
    """1,500 steps, 700 values, 16 tiles; large for a window that is told so."""
    path = tmp_path / "made.timeline.json"
    write_timeline(path, 1500, 700, 16)
    return path


@pytest.fixture
def large(monkeypatch):
    monkeypatch.setattr(early, "LARGE_BYTES", 1000)
    monkeypatch.setattr(jobs, "READ_HERE", 1000)


def settle(driver) -> None:
    window = driver.window
    driver.qtbot.waitUntil(
        lambda: (
            driver.session.is_current and not window.estimates.steps_reader.is_running and window.bridge.turns.is_done
        ),
        timeout=60_000,
    )


def test_a_large_timeline_is_shown_first_and_read_then(driver, made, large):
    seen = []

    def look() -> None:
        timeline = driver.session.timeline
        if timeline is not None:
            seen.append((steps_read(timeline), timeline.verdict.text, timeline.tiles.worst()[:, 2].copy()))

    driver.window.bridge.estimate_changed.connect(look)
    driver.open(made)
    settle(driver)
    here = timeline_from_file(load_timeline(made))
    assert seen[0][0] == 0
    assert seen[-1][0] == 1500
    for _, verdict, totals in seen:
        assert verdict == here.verdict.text
        np.testing.assert_array_equal(totals, here.tiles.worst()[:, 2])
    timeline = driver.session.timeline
    np.testing.assert_array_equal(timeline.tiles.worst(), here.tiles.worst())
    np.testing.assert_array_equal(timeline.tiles.tile_curve(5), here.tiles.tile_curve(5))
    assert driver.session.problems == ()
    assert driver.window.bridge.work.running() == ()


def test_every_view_shows_a_large_timeline_in_the_end(driver, made, large):
    driver.open(made)
    settle(driver)
    views = driver.window.docks.views
    assert views["graph"].steps.model.rowCount() == 1500
    assert views["operations"].model.rowCount() == 375
    assert views["allocations"].model.rowCount() > 0
    driver.session.select_step(777)
    assert driver.session.selection.step == 777


def test_a_step_that_is_not_read_yet_is_looked_up_by_itself(driver, made, large):
    driver.window.bridge.estimate_changed.disconnect(driver.window.estimates.steps_reader.begin_soon)
    driver.open(made)
    timeline = driver.session.timeline
    assert steps_read(timeline) == 0
    driver.qtbot.waitUntil(lambda: driver.window.bridge.turns.is_done)
    driver.session.select_step(40)
    driver.trigger("peak_total")
    usage = timeline.tiles.usage(driver.session.selection.step).sum(axis=1)
    assert usage[driver.session.selection.tile] == usage.max()
    assert isinstance(timeline.tiles, FileNumbers)
    assert not timeline.tiles.is_complete


def test_what_the_check_finds_stands_among_the_problems(driver, made, large):
    raw = made.read_bytes()
    at = raw.index(b'"tile_usage":[[', raw.index(b'"index":700,')) + len(b'"tile_usage":[[')
    made.write_bytes(raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :])
    driver.open(made)
    settle(driver)
    found = {problem.place for problem in driver.session.problems}
    assert "timeline.steps[700].tile_usage" in found
    assert found - {"timeline.steps[700].usage", "peak.standard"} == {"timeline.steps[700].tile_usage"}
    model = driver.window.docks.views["problems"].model
    texts = [model.data(index.siblingAtColumn(column)) or "" for index in model.indexes() for column in range(4)]
    assert any("tiles disagree with live allocations" in text for text in texts)


def test_small_timelines_are_checked_too(driver, samples, tmp_path):
    raw = (samples / "pair-8tiles.v3.timeline.json").read_bytes()
    path = tmp_path / "pair.json"
    at = raw.index(b'"tile_scratch":[[') + len(b'"tile_scratch":[[')
    path.write_bytes(raw[:at] + b"8" + raw[at:])
    driver.open(path)
    settle(driver)
    assert any("tile_usage" in problem.place for problem in driver.session.problems)


def test_edits_stay_in_force_when_the_file_has_been_read(driver, made, large):
    driver.open(made)
    driver.trigger("step_next")
    driver.window.bridge.session.set_overrides(type(driver.session.state.overrides)(budget_bytes=1000))
    settle(driver)
    assert driver.session.timeline.budget_bytes == 1000
    assert steps_read(driver.session.timeline) == 1500
    assert driver.session.baseline.timeline is driver.session.document.file_timeline()


def test_another_document_ends_the_reading(driver, made, pair, large):
    driver.open(made)
    driver.qtbot.waitUntil(lambda: driver.window.estimates.steps_reader.is_running, timeout=20_000)
    driver.open(pair)
    assert not driver.window.estimates.steps_reader.is_running
    settle(driver)
    assert driver.session.document.path == pair


def test_a_killed_reader_is_started_again(driver, made, large):
    driver.open(made)
    study = driver.window.estimates.steps_reader
    driver.qtbot.waitUntil(lambda: study.pid is not None or not study.is_running, timeout=20_000)
    if study.pid is not None:
        os.kill(study.pid, signal.SIGKILL)
    settle(driver)
    assert steps_read(driver.session.timeline) == 1500
    assert driver.session.problems == ()


@pytest.mark.parametrize("delay", [0, 30, 200])
def test_the_window_can_be_closed_in_mid_reading(make_driver, made, large, delay):
    driver = make_driver()
    driver.open(made)
    driver.qtbot.wait(delay)
    driver.window.close()
    assert driver.window.closed


def test_selection_before_a_views_turn_is_shown_in_its_turn(driver, made, large, monkeypatch):
    monkeypatch.setattr(turns, "LARGE", 100)
    calls = []
    view = driver.window.docks.views["details"]
    monkeypatch.setattr(view, "on_estimate", lambda: calls.append("estimate"))
    monkeypatch.setattr(view, "on_selection", lambda: calls.append("selection"))
    driver.open(made)
    driver.session.select_step(3)
    driver.qtbot.waitUntil(lambda: driver.window.bridge.turns.is_done)
    assert calls[:2] == ["estimate", "selection"]


def test_after_an_edit_of_a_large_recipe_only_what_may_be_late_takes_its_turn(driver, vit3, monkeypatch):
    driver.open(vit3)
    driver.window.bridge.turns.finish()
    monkeypatch.setattr(turns, "LARGE", 100)
    calls = []
    for name in ("timeline", "compare", "whatif"):
        view = driver.window.docks.views[name]
        monkeypatch.setattr(view, "on_estimate", lambda name=name: calls.append((name, driver.session.timeline)))
    before = driver.session.timeline
    waiting = []
    driver.window.estimates.took.connect(lambda _: waiting.append([name for name, _ in calls]))
    driver.session.swap(4, 0)
    driver.settle()
    driver.qtbot.waitUntil(lambda: driver.window.bridge.turns.is_done)
    assert waiting == [["timeline"]]  # the others are behind tabs
    assert [name for name, _ in calls] == ["timeline", "compare", "whatif"]
    assert all(timeline is driver.session.timeline is not before for _, timeline in calls)


def test_a_view_that_comes_to_the_front_before_its_turn_takes_it(driver, vit3, monkeypatch):
    driver.open(vit3)
    bridge = driver.window.bridge
    bridge.turns.finish()
    monkeypatch.setattr(turns, "LARGE", 100)
    monkeypatch.setattr(bridge.turns, "add", lambda *_, **__: None)  # its turn never comes
    calls = []
    view = driver.window.docks.views["whatif"]
    monkeypatch.setattr(view, "on_estimate", lambda: calls.append("estimate"))
    driver.session.swap(4, 0)
    driver.settle()
    assert calls == []
    driver.window.docks.show_view("whatif")
    driver.qtbot.waitUntil(lambda: calls == ["estimate"])
    bridge.turns.close()


def test_views_that_are_seen_take_their_turns_before_those_that_are_not(qtbot):
    waiting, order = turns.StaggeredCalls(), []
    waiting.add(lambda: order.append("behind"), is_for_later=True)
    waiting.add(lambda: order.append("one"))
    waiting.add(lambda: order.append("other"))
    qtbot.waitUntil(lambda: waiting.is_done)
    assert order == ["one", "other", "behind"]


def test_reading_begins_before_the_window_stands(make_driver, made, large, monkeypatch):
    early.begin(made)
    assert list(early.begun()) == [str(made)]
    driver = make_driver()
    with monkeypatch.context() as patch:
        patch.setattr(runner, "ChildProcess", None)  # no other process reads it
        driver.window.files.open(made)
        driver.qtbot.waitUntil(lambda: driver.session.document is not None, timeout=20_000)
    assert not early.begun()
    settle(driver)


def test_what_was_begun_for_nothing_is_ended(qapp, made, large, tmp_path):
    early.begin(made)
    early.begin(tmp_path / "missing.json")
    early.begin(tmp_path)
    assert len(early.begun()) == 1
    early.drop()
    assert not early.begun()


def test_a_begun_reader_that_died_is_replaced(make_driver, made, large):
    early.begin(made)
    os.kill(early.begun()[str(made)], signal.SIGKILL)
    driver = make_driver()
    driver.open(made)
    settle(driver)
    assert driver.session.document.path == made


def test_views_of_a_large_file_are_made_in_parts_and_shown_in_turns(driver, made, large):
    driver.open(made)
    settle(driver)
    driver.qtbot.waitUntil(lambda: not driver.window.docks.is_busy)
    bridge, session = driver.window.bridge, driver.session
    view, parts = TimelineView.begun(bridge), 1
    while not view.make_more():
        parts += 1
    assert parts > 3
    assert view.data is None
    view.begin()
    assert view.data is None
    driver.qtbot.waitUntil(lambda: bridge.turns.is_done)
    np.testing.assert_array_equal(view.data.curves.total, session.timeline.tiles.worst()[:, 2])
    assert view.plot.current == session.selection.step
    view.shut_down()
    view.deleteLater()


def test_what_the_session_tells_finishes_a_view_that_is_being_made(driver, made, large):
    driver.open(made)
    settle(driver)
    driver.qtbot.waitUntil(lambda: not driver.window.docks.is_busy)
    view = TilesView.begun(driver.window.bridge)
    assert not view.make_more()
    driver.session.select_step(41)
    view.show_all()
    assert view.step == 41
    np.testing.assert_array_equal(view.field.values, driver.session.timeline.tiles.usage(41).sum(axis=1))
    view.shut_down()
    view.deleteLater()


def test_the_list_of_steps_is_whole_for_whoever_takes_it_now(driver, made, large):
    driver.open(made)
    driver.qtbot.waitUntil(lambda: driver.session.is_current)
    view = driver.window.docks.views["graph"]
    assert view.steps.model.rowCount() == 1500
    settle(driver)
    assert view.steps.table.current_row().step.index == driver.session.selection.step


def test_of_very_many_steps_the_list_holds_those_around_the_selected_one(driver, made, large, monkeypatch):
    monkeypatch.setattr(controls, "MOST_LISTED", 100)
    monkeypatch.setattr(controls, "LISTED_PART", 50)
    driver.open(made)
    settle(driver)
    view = driver.window.docks.views["graph"]
    driver.qtbot.waitUntil(lambda: driver.window.bridge.turns.is_done)
    steps = driver.session.timeline.steps

    def listed() -> list[int]:
        return [node.key for node in view.steps.model.nodes]

    for step in (777, 3, 1499):
        driver.session.select_step(step)
        start = step - step % 50
        assert listed() == list(range(start, start + 50))
        assert view.steps.table.current_row().step is steps[step]
        assert f"Steps {start:,} … {start + 49:,} are listed" in view.steps.note.text()
    assert len(view.table_csv().splitlines()) == 1501
    view.steps.search.setText("1499")
    assert listed() == [1499]
    view.steps.search.clear()
    driver.session.select(replace(driver.session.selection, span=(40, 60)))
    assert listed() == list(range(40, 60))
