"""Work off the window's thread: estimates, large files, alternatives, the search for a fix; how all of it ends."""

from __future__ import annotations

import json
import os
import signal
import threading
import time

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QProgressDialog, QPushButton

from tests.helpers.make_recipe import write_recipe
from tileview.analysis.alternatives import evaluate_all
from tileview.formats.lateplans import LATE_BYTES
from tileview.formats.opening import open_file
from tileview.model.timeline import Cause
from tileview.qt.files import exports
from tileview.qt.files.fix import FixDialog
from tileview.qt.jobs import process as early
from tileview.qt.jobs import runner as runners
from tileview.qt.jobs.evaluation import share, shares
from tileview.qt.jobs.runner import ATTEMPTS, RESTARTED, Job, Runner, failure_of
from tileview.qt.widgets.dialogs import ErrorDialog
from tileview.session.document import Document
from tileview.session.edits import EditState
from tileview.session.estimate_jobs import EstimateJob


class Slow:
    """Work that takes a while and notes that it ran, and where."""

    def __init__(self, log, number, seconds=0.05, fail=False) -> None:
        self.log, self.number, self.seconds, self.fail = log, number, seconds, fail

    def __call__(self, _reporter):
        self.log.append((self.number, threading.current_thread() is threading.main_thread()))
        time.sleep(self.seconds)
        if self.fail:
            raise RuntimeError("no")
        return self.number


class Ends:
    """Collects how the jobs of a runner ended."""

    def __init__(self, runner) -> None:
        self.outcomes = {}
        self.payloads = {}
        runner.ended.connect(self.take)

    def take(self, job, outcome, payload) -> None:
        assert job not in self.outcomes
        self.outcomes[job] = outcome
        self.payloads[job] = payload


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def runner(qapp, said):
    one = Runner(say=said.append)
    yield one
    one.close()


def test_the_newest_of_a_place_wins_and_none_runs_in_the_windows_thread(runner, qtbot):
    log, ends = [], Ends(runner)
    jobs = [Job(Slow(log, number), place="estimate", is_first=True) for number in range(10)]
    for job in jobs:
        runner.submit(job)
    assert runner.is_busy
    qtbot.waitUntil(lambda: len(ends.outcomes) == 10)
    assert not runner.is_busy
    assert len(log) <= 2
    assert ends.outcomes[jobs[-1]] == "done"
    assert ends.payloads[jobs[-1]] == 9
    assert set(list(ends.outcomes.values())[1:-1]) <= {"cancelled", "done"}
    assert not any(in_main for _, in_main in log)


def test_what_is_first_goes_before_what_waits_and_all_is_done(runner, qtbot):
    log, ends = [], Ends(runner)
    for number in range(4):
        runner.submit(Job(Slow(log, number, 0.02)))
    runner.submit(Job(Slow(log, 99, 0.01), is_first=True))
    qtbot.waitUntil(lambda: len(ends.outcomes) == 5)
    assert set(ends.outcomes.values()) == {"done"}
    order = [number for number, _ in log]
    assert order.index(99) <= 1
    assert [number for number in order if number != 99] == [0, 1, 2, 3]


def test_a_call_that_fails_is_told_and_the_next_one_runs(runner, qtbot):
    ends = Ends(runner)
    bad, good = Job(Slow([], 1, fail=True)), Job(Slow([], 2))
    runner.submit(bad)
    runner.submit(good)
    qtbot.waitUntil(lambda: good in ends.outcomes)
    assert ends.outcomes[bad] == "failed"
    summary, details = ends.payloads[bad]
    assert summary == "RuntimeError: no"
    assert "Traceback" in details
    assert ends.payloads[good] == 2


def test_a_call_talks_and_stops_where_it_is_asked_to(runner, qtbot):
    ends, heard = Ends(runner), []
    going = threading.Event()

    def work(reporter):
        reporter.progress(1, 2, "half")
        reporter.part("a part")
        going.set()
        while True:
            reporter.check()
            time.sleep(0.005)

    runner.progress.connect(lambda _job, payload: heard.append(payload))
    runner.part.connect(lambda _job, payload: heard.append(payload))
    job = Job(work)
    runner.submit(job)
    qtbot.waitUntil(going.is_set)
    runner.cancel(job)
    qtbot.waitUntil(lambda: job in ends.outcomes)
    assert ends.outcomes[job] == "cancelled"
    assert heard == [(1, 2, "half"), "a part"]


def test_closing_while_a_call_runs_brings_no_signal(qapp, qtbot):
    runner = Runner()
    ends, started = Ends(runner), []
    runner.started.connect(started.append)
    runner.submit(Job(Slow([], 1, 0.2)))
    qtbot.waitUntil(lambda: bool(started))
    runner.close()
    qtbot.wait(50)
    assert ends.outcomes == {}


def test_held_undo_and_redo_end_at_the_right_estimate(driver, pair):
    driver.open(pair)
    first = driver.session.estimate.timeline.peak
    for _ in range(5):
        driver.session.swap(0, 2)
        driver.session.swap(1, 1)
        driver.session.undo()
        driver.session.undo()
    driver.settle()
    assert driver.session.estimate.timeline.peak == first
    assert driver.session.state == EditState()


# -- processes --------------------------------------------------------------------------------------------------------


def test_a_worker_reads_a_file_into_the_same_document(runner, qtbot, pair):
    ends = Ends(runner)
    task = Job("load", str(pair))
    runner.submit(task)
    qtbot.waitUntil(lambda: task in ends.outcomes, timeout=20_000)
    assert ends.outcomes[task] == "done"
    here = open_file(pair)
    there = ends.payloads[task]
    assert there.raw == here.raw
    assert there.recipe == here.recipe


def test_a_worker_refuses_a_bad_file_in_one_sentence(runner, qtbot, samples):
    ends = Ends(runner)
    task = Job("load", str(samples / "broken" / "not-json.json"))
    runner.submit(task)
    qtbot.waitUntil(lambda: task in ends.outcomes, timeout=20_000)
    assert ends.outcomes[task] == "refused"
    assert "not-json.json" in ends.payloads[task]


def test_an_unknown_kind_of_task_is_a_fault_with_details(runner, qtbot):
    ends = Ends(runner)
    task = Job("nonsense", None)
    runner.submit(task)
    qtbot.waitUntil(lambda: task in ends.outcomes, timeout=20_000)
    assert ends.outcomes[task] == "failed"
    assert "Traceback" in ends.payloads[task][1]


def test_a_killed_worker_is_started_again_and_its_task_done(runner, qtbot, vit3):
    ends = Ends(runner)
    recipe = open_file(vit3).recipe
    task = Job("evaluate", ("key", share(recipe, (4, 12)), EditState().overrides, frozenset()))
    parts = []
    runner.part.connect(lambda _task, found: parts.append(found))
    runner.submit(task)
    qtbot.waitUntil(lambda: bool(parts), timeout=30_000)
    victim = runner.pid
    os.kill(victim, signal.SIGKILL)
    qtbot.waitUntil(lambda: task in ends.outcomes, timeout=60_000)
    assert ends.outcomes[task] == "done"
    assert task.attempts == 2
    assert runner.pid != victim


def test_a_worker_that_dies_every_time_is_reported(runner, qtbot, vit3, said):
    ends = Ends(runner)
    recipe = open_file(vit3).recipe
    task = Job("evaluate", ("key", recipe, EditState().overrides, frozenset()))
    killed = set()
    runner.submit(task)

    def kill() -> bool:
        pid = runner.pid
        if pid is not None and pid not in killed:
            killed.add(pid)
            os.kill(pid, signal.SIGKILL)
        return task in ends.outcomes

    qtbot.waitUntil(kill, timeout=30_000)
    assert ends.outcomes[task] == "lost"
    assert said == [RESTARTED] * (ATTEMPTS - 1)
    assert failure_of("lost", ends.payloads[task]) == (f"The worker process ended unexpectedly, {ATTEMPTS} times.", "")


def test_a_task_is_cancelled_while_it_runs_and_the_process_serves_on(runner, qtbot, vit3, pair):
    ends = Ends(runner)
    recipe = open_file(vit3).recipe
    parts = []
    runner.part.connect(lambda _task, found: parts.append(found))
    task = Job("evaluate", ("key", recipe, EditState().overrides, frozenset()))
    runner.submit(task)
    qtbot.waitUntil(lambda: bool(parts), timeout=30_000)
    pid = runner.pid
    runner.cancel(task)
    qtbot.waitUntil(lambda: task in ends.outcomes, timeout=20_000)
    assert ends.outcomes[task] == "cancelled"
    after = Job("load", str(pair))
    runner.submit(after)
    qtbot.waitUntil(lambda: after in ends.outcomes, timeout=20_000)
    assert ends.outcomes[after] == "done"
    assert runner.pid == pid


def test_a_waiting_task_is_cancelled_before_it_begins(runner, qtbot, pair):
    ends = Ends(runner)
    first, second = Job("load", str(pair)), Job("load", str(pair))
    runner.submit(first)
    runner.submit(second)
    runner.cancel(second)
    qtbot.waitUntil(lambda: second in ends.outcomes, timeout=20_000)
    assert ends.outcomes[second] == "cancelled"
    assert second.attempts == 0


@pytest.mark.parametrize("delay", [0.0, 0.02, 0.1, 0.3])
def test_a_worker_can_be_closed_at_any_moment(qapp, vit3, delay):
    runner = Runner()
    recipe = open_file(vit3).recipe
    runner.submit(Job("evaluate", ("key", recipe, EditState().overrides, frozenset())))
    time.sleep(delay)
    runner.close()
    assert runner.pid is None


# -- loading ----------------------------------------------------------------------------------------------------------


def test_a_large_file_is_read_in_a_process_and_opens_as_ever(driver, vit3, monkeypatch):
    monkeypatch.setattr(early, "LARGE_BYTES", 1000)
    shown = []
    driver.window.files.loader.progress.connect(lambda _request, done, total: shown.append((done, total)))
    driver.open(vit3)
    assert driver.session.verdict.fits
    assert shown[-1][1] == 1000
    assert driver.window.bridge.work.running() == ()


def test_a_large_timeline_keeps_its_tile_numbers_across_the_process(driver, samples, monkeypatch):
    here = open_file(samples / "vit3-64tiles.v3.timeline.json").tiles.tile_usage(3)
    monkeypatch.setattr(early, "LARGE_BYTES", 1000)
    driver.open(samples / "vit3-64tiles.v3.timeline.json")
    there = driver.session.document.source.tiles.tile_usage(3)
    assert there is not None
    assert (there == here).all()


def test_loading_is_stopped_and_the_open_file_stays(driver, pair, vit3, monkeypatch):
    driver.open(pair)
    monkeypatch.setattr(early, "LARGE_BYTES", 1000)
    cancelled = []
    driver.window.files.loader.cancelled.connect(cancelled.append)
    driver.window.files.open(vit3)
    driver.qtbot.waitUntil(lambda: "load" in driver.window.bridge.work.running())
    assert driver.window.status.work.stop.isVisible()
    driver.window.status.work.stop.click()
    driver.qtbot.waitUntil(lambda: bool(cancelled), timeout=20_000)
    driver.qtbot.waitUntil(lambda: driver.window.bridge.work.running() == ())
    assert driver.session.document.path == pair


def test_a_process_that_dies_while_it_loads_is_tried_again(driver, vit3, monkeypatch):
    monkeypatch.setattr(early, "LARGE_BYTES", 1000)
    loader = driver.window.files.loader
    driver.window.files.open(vit3)
    driver.qtbot.waitUntil(lambda: loader.pid is not None)
    os.kill(loader.pid, signal.SIGKILL)
    driver.qtbot.waitUntil(lambda: driver.session.document is not None, timeout=30_000)
    driver.settle()


@pytest.mark.parametrize("delay", [0, 20, 150, 400])
def test_the_window_can_be_closed_in_mid_load(make_driver, vit3, monkeypatch, delay):
    monkeypatch.setattr(early, "LARGE_BYTES", 1000)
    driver = make_driver()
    driver.window.files.open(vit3)
    driver.qtbot.wait(delay)
    driver.window.close()
    assert driver.window.closed


def test_of_files_asked_for_at_once_the_last_one_is_opened(driver, pair, vit3):
    opened = []
    driver.window.files.loader.loaded.connect(lambda _request, document: opened.append(document.path))
    driver.window.files.open(pair)
    driver.window.files.open(vit3)
    driver.qtbot.waitUntil(lambda: vit3 in opened, timeout=20_000)
    assert opened in ([vit3], [pair, vit3])
    driver.settle()
    assert driver.session.document.path == vit3


# -- alternatives -----------------------------------------------------------------------------------------------------


def test_all_alternatives_stream_in_and_equal_those_computed_here(driver, pair):
    driver.open(pair)
    driver.trigger("evaluate_alternatives")
    recipe = driver.session.recipe
    expected = {(one.operation, one.alternative): one for one in evaluate_all(recipe, workers=1)}
    driver.qtbot.waitUntil(lambda: not driver.window.tools.evaluation.is_running, timeout=60_000)
    assert dict(driver.session.results) == expected


def test_an_edit_ends_the_evaluation_and_its_results_are_dropped(driver, vit3):
    driver.open(vit3)
    evaluation = driver.window.tools.evaluation
    evaluation.evaluate()
    driver.qtbot.waitUntil(lambda: len(driver.session.results) > 0, timeout=30_000)
    driver.session.swap(4, 0)
    assert not evaluation.is_running
    assert len(driver.session.results) == 0
    driver.settle()
    driver.qtbot.wait(300)
    assert len(driver.session.results) == 0


def test_the_selected_operation_comes_first(driver, vit3):
    driver.open(vit3)
    driver.session.select_operation(20)
    seen = []
    driver.window.bridge.alternatives_changed.connect(lambda: seen.append(set(driver.session.results)))
    driver.window.tools.evaluation.evaluate()
    driver.qtbot.waitUntil(lambda: bool(seen) and bool(seen[-1]), timeout=30_000)
    driver.qtbot.waitUntil(lambda: any(operation == 20 for operation, _ in driver.session.results), timeout=30_000)
    driver.window.tools.stop()
    assert not driver.window.tools.evaluation.is_running


def test_alternatives_are_evaluated_by_themselves_where_that_is_set(driver, pair):
    driver.window.settings.evaluate_by_itself = True
    driver.open(pair)
    driver.qtbot.waitUntil(lambda: len(driver.session.results) == 7, timeout=30_000)


def test_shares_cover_all_operations_once_in_order():
    recipe = type("R", (), {"alternatives": {number: (None,) * (number % 5) for number in range(40)}})()
    parts = shares(recipe, list(range(40)), 6)
    assert [operation for part in parts for operation in part] == list(range(40))
    assert 5 <= len(parts) <= 8


def test_a_swap_is_pinned_for_comparison(driver, pair):
    driver.open(pair)
    driver.window.bridge.requested.emit("compare_alternative", (1, 1))
    driver.qtbot.waitUntil(lambda: len(driver.session.pins) == 1, timeout=20_000)
    assert dict(driver.session.pins[0].state.swaps) == {1: 1}
    assert driver.session.state == EditState()


# -- find fix ---------------------------------------------------------------------------------------------------------


def test_find_fix_proposes_a_pair_and_applies_it_as_one_edit(driver, pair):
    driver.open(pair)
    driver.trigger("find_fix")
    dialog = driver.window.findChild(FixDialog)
    driver.qtbot.waitUntil(lambda: not dialog.is_running, timeout=60_000)
    assert dialog.proposals.topLevelItemCount() >= 1
    assert dialog.proposals.topLevelItem(0).text(0) == "op 0 → alt 1, op 1 → alt 1"
    assert dialog.rows.topLevelItem(0).text(1) == "does not fit"
    assert dialog.rows.topLevelItem(0).text(2) == "fits"
    assert dialog.apply_button.isEnabled()
    # The proposals have the keys: Enter applies the current one.
    assert dialog.focusWidget() is dialog.proposals
    QTest.keyClick(dialog.proposals, Qt.Key.Key_Return)
    driver.settle()
    assert driver.session.verdict.fits
    assert len(driver.session.state.swaps) == 2
    assert len(driver.session.history.done) == 1
    driver.session.undo()
    driver.settle()
    assert driver.session.state == EditState()
    assert not driver.session.verdict.fits


def test_find_fix_repairs_the_layouts_of_a_timeline(driver, rejected):
    driver.open(rejected)
    driver.trigger("find_fix")
    dialog = driver.window.findChild(FixDialog)
    driver.qtbot.waitUntil(lambda: not dialog.is_running, timeout=60_000)
    driver.qtbot.waitUntil(lambda: dialog.apply_button.isEnabled(), timeout=20_000)
    titles = [dialog.proposals.headerItem().text(column) for column in range(dialog.proposals.columnCount())]
    cells = [dialog.proposals.topLevelItem(0).text(column) for column in range(len(titles))]
    assert titles == ["Layouts", "Values", "Largest shard"]
    assert cells[0].startswith("at most one tile per grain")
    assert cells[1:] == ["43", "8 B"]
    dialog.apply_button.click()
    driver.settle()
    assert driver.session.verdict.fits
    assert len(driver.session.state.layouts) == 43
    assert len(driver.session.history.done) == 1


def test_a_proposal_goes_stale_with_an_edit(driver, pair):
    driver.open(pair)
    driver.trigger("find_fix")
    dialog = driver.window.findChild(FixDialog)
    driver.qtbot.waitUntil(lambda: not dialog.is_running, timeout=60_000)
    driver.session.swap(0, 1)
    assert not dialog.apply_button.isEnabled()
    dialog.apply()
    assert dict(driver.session.state.swaps) == {0: 1}
    dialog.reject()


def test_the_search_can_be_stopped_and_the_window_closed_meanwhile(make_driver, over):
    driver = make_driver()
    driver.open(over)
    driver.trigger("find_fix")
    dialog = driver.window.findChild(FixDialog)
    assert dialog.is_running
    driver.qtbot.wait(300)
    driver.window.close()
    assert driver.window.closed


def test_an_estimate_that_fails_is_shown_and_the_window_lives_on(driver, pair, monkeypatch):
    driver.open(pair)
    monkeypatch.setattr(EstimateJob, "run", lambda self, replanner=None: 1 // 0)
    driver.session.swap(0, 1)
    driver.qtbot.waitUntil(lambda: driver.window.findChild(ErrorDialog) is not None)
    dialog = driver.window.findChild(ErrorDialog)
    assert "ZeroDivisionError" in dialog.text()
    dialog.close()
    monkeypatch.undo()
    driver.session.undo()
    driver.settle()


def test_a_document_can_be_read_while_another_is_estimated(driver, pair, over):
    driver.window.files.show_document(Document(over, open_file(over)))
    driver.window.files.show_document(Document(pair, open_file(pair)))
    driver.settle()
    assert driver.session.timeline.tile_count == 8


def test_a_process_without_work_goes_and_comes_back(qapp, qtbot, pair, monkeypatch):
    monkeypatch.setattr(runners, "IDLE_SECONDS", 0.2)
    runner = Runner()
    try:
        ends = Ends(runner)
        first, second = Job("load", str(pair)), Job("load", str(pair))
        runner.submit(first)
        qtbot.waitUntil(lambda: first in ends.outcomes, timeout=20_000)
        qtbot.waitUntil(lambda: runner.pid is None, timeout=10_000)
        runner.submit(second)
        qtbot.waitUntil(lambda: second in ends.outcomes, timeout=20_000)
        assert ends.outcomes[second] == "done"
    finally:
        runner.close()


def test_a_file_asked_for_later_takes_the_place_of_one_that_is_still_read(driver, pair, vit3, monkeypatch):
    monkeypatch.setattr(early, "LARGE_BYTES", 100_000)
    cancelled, loaded = [], []
    driver.window.files.loader.cancelled.connect(lambda request: cancelled.append(request.path))
    driver.window.files.loader.loaded.connect(lambda _request, document: loaded.append(document.path))
    driver.window.files.open(vit3)
    driver.window.files.open(pair)
    driver.qtbot.waitUntil(lambda: loaded == [pair], timeout=20_000)
    assert cancelled == [vit3]
    driver.settle()


def test_whether_alternatives_are_evaluated_by_themselves_can_be_switched(driver, pair):
    driver.open(pair)
    driver.window.commands.refresh()
    action = driver.window.commands.action("evaluate_by_itself")
    assert not action.isChecked()
    driver.trigger("evaluate_by_itself")
    assert driver.window.settings.evaluate_by_itself
    driver.qtbot.waitUntil(lambda: len(driver.session.results) == 7, timeout=30_000)
    driver.window.commands.refresh()
    assert action.isChecked()


def press_cancel(driver, go_on) -> None:
    """Press the button of the dialog that says what is being written, then let the writing go on."""
    dialog = driver.window.findChild(QProgressDialog, "writing")
    if dialog is None or not dialog.isVisible():
        QTimer.singleShot(10, lambda: press_cancel(driver, go_on))
        return
    QTest.mouseClick(dialog.findChild(QPushButton), Qt.MouseButton.LeftButton)
    go_on.set()


def test_a_recipe_read_late_is_checked_when_it_is_shown_and_its_damage_reaches_the_verdict(
    driver, tmp_path, monkeypatch
):
    path, target = tmp_path / "late.json", tmp_path / "out.json"
    write_recipe(path, operations=340, alternatives=100)
    whole = path.read_bytes()
    assert len(whole) > LATE_BYTES
    driver.open(path)
    driver.qtbot.waitUntil(lambda: not driver.window.estimates.steps_reader.is_running)
    assert driver.session.verdict.fits
    driver.session.swap(339, 7)
    driver.settle()
    with monkeypatch.context() as patch:  # Cancel while it is written: nothing stands there, the edits stay unsaved
        go_on = threading.Event()
        patch.setattr(exports, "render", lambda *_: (go_on.wait(60) and b"x" for _ in range(2)))
        QTimer.singleShot(0, lambda: press_cancel(driver, go_on))
        assert not driver.window.exporter.export_recipe(target)
    assert not target.exists()
    assert not list(tmp_path.glob(".tileview-*"))
    assert not driver.session.history.is_clean
    assert driver.window.exporter.export_recipe(target)
    assert driver.session.history.is_clean
    plans, alternatives = (json.loads(target.read_bytes())[key] for key in ("recipe", "alternatives"))
    assert plans["plans"]["339"] == alternatives["339"][7] == json.loads(whole)["alternatives"]["339"][7]
    assert alternatives == json.loads(whole)["alternatives"]

    at = whole.rindex(b'"dispatch":')
    damaged = tmp_path / "damaged.json"
    damaged.write_bytes(whole[:at] + b'"operator":"Add",' + whole[at:])
    driver.open(damaged)
    driver.qtbot.waitUntil(lambda: driver.session.verdict is not None and driver.session.verdict.fits is None)
    assert driver.session.verdict.cause is Cause.DAMAGED
    assert '"operator" twice' in driver.session.verdict.text
    assert "alternatives.339[99].operator" in [problem.place for problem in driver.session.problems]
