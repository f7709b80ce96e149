"""Work off the window's thread: estimates, large files, alternatives, the search for a fix; how all of it ends."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tileview.analysis.alternatives import evaluate_all
from tileview.formats import open_file
from tileview.qt.files.fix import FixDialog
from tileview.qt.jobs import prefetch as early
from tileview.qt.jobs import processes
from tileview.qt.jobs.estimator import Estimator
from tileview.qt.jobs.evaluation import shares
from tileview.qt.jobs.processes import Task, Worker
from tileview.qt.jobs.worker_evaluate import share
from tileview.qt.widgets.dialogs import ErrorDialog
from tileview.session.document import Document
from tileview.session.estimate import EstimateJob
from tileview.session.state import EditState


class Slow:
    """A stand-in for a job that takes a while and notes that it ran."""

    def __init__(self, log, number, seconds=0.05, fail=False) -> None:
        self.log, self.number, self.seconds, self.fail = log, number, seconds, fail
        self.revision = number
        self.document = None

    def run(self, _replanner):
        self.log.append((self.number, threading.current_thread() is threading.main_thread()))
        time.sleep(self.seconds)
        if self.fail:
            raise RuntimeError("no")
        return self.number


@pytest.fixture
def estimator(qapp):
    one = Estimator()
    yield one
    one.close()


def test_the_newest_request_wins_and_none_runs_in_the_windows_thread(estimator, qtbot):
    log, results = [], []
    estimator.finished.connect(lambda result, _ms: results.append(result))
    for number in range(10):
        estimator.request(Slow(log, number))
    qtbot.waitUntil(lambda: 9 in results)
    assert len(log) <= 2
    assert results[-1] == 9
    assert not any(in_main for _, in_main in log)


def test_requests_aside_are_all_computed(estimator, qtbot):
    log, tags = [], []
    estimator.finished_aside.connect(lambda _result, tag: tags.append(tag))
    for number in range(4):
        estimator.request_aside(Slow(log, number, 0.01), f"tag {number}")
    estimator.request(Slow(log, 99, 0.01))
    qtbot.waitUntil(lambda: len(tags) == 4)
    assert tags == ["tag 0", "tag 1", "tag 2", "tag 3"]


def test_a_failing_estimate_is_reported_and_the_next_one_runs(estimator, qtbot):
    failures, results = [], []
    estimator.failed.connect(failures.append)
    estimator.finished.connect(lambda result, _ms: results.append(result))
    estimator.request(Slow([], 1, fail=True))
    qtbot.waitUntil(lambda: bool(failures))
    assert "RuntimeError: no" in failures[0].summary
    assert "Traceback" in failures[0].details
    estimator.request(Slow([], 2))
    qtbot.waitUntil(lambda: results == [2])


def test_closing_while_an_estimate_runs_brings_no_signal(qapp, qtbot):
    results = []
    estimator = Estimator()
    estimator.finished.connect(lambda result, _ms: results.append(result))
    estimator.request(Slow([], 1, 0.2))
    qtbot.wait(50)
    estimator.close()
    qtbot.wait(100)
    assert results == []


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


class Ends:
    """Collects how tasks of a worker ended."""

    def __init__(self, worker) -> None:
        self.outcomes = {}
        self.payloads = {}
        worker.ended.connect(self.take)

    def take(self, task, outcome, payload) -> None:
        self.outcomes[task] = outcome
        self.payloads[task] = payload


@pytest.fixture
def worker(qapp):
    one = Worker()
    yield one
    one.close()


def test_a_worker_reads_a_file_into_the_same_document(worker, qtbot, pair):
    ends = Ends(worker)
    task = Task("load", str(pair))
    worker.submit(task)
    qtbot.waitUntil(lambda: task in ends.outcomes, timeout=20_000)
    assert ends.outcomes[task] == "done"
    here = open_file(pair)
    there = ends.payloads[task]
    assert there.raw == here.raw
    assert there.recipe == here.recipe


def test_a_worker_refuses_a_bad_file_in_one_sentence(worker, qtbot, samples):
    ends = Ends(worker)
    task = Task("load", str(samples / "broken" / "not-json.json"))
    worker.submit(task)
    qtbot.waitUntil(lambda: task in ends.outcomes, timeout=20_000)
    assert ends.outcomes[task] == "refused"
    assert "not-json.json" in ends.payloads[task]


def test_an_unknown_kind_of_task_is_a_fault_with_details(worker, qtbot):
    ends = Ends(worker)
    task = Task("nonsense", None)
    worker.submit(task)
    qtbot.waitUntil(lambda: task in ends.outcomes, timeout=20_000)
    assert ends.outcomes[task] == "failed"
    assert "Traceback" in ends.payloads[task][1]


def test_a_killed_worker_is_started_again_and_its_task_done(worker, qtbot, vit3):
    ends = Ends(worker)
    recipe = open_file(vit3).recipe
    task = Task("evaluate", ("key", share(recipe, (4, 12)), EditState().overrides))
    parts = []
    worker.part.connect(lambda _task, found: parts.append(found))
    worker.submit(task)
    qtbot.waitUntil(lambda: bool(parts), timeout=30_000)
    victim = worker.pid
    os.kill(victim, signal.SIGKILL)
    qtbot.waitUntil(lambda: task in ends.outcomes, timeout=60_000)
    assert ends.outcomes[task] == "done"
    assert task.attempts == 2
    assert worker.pid != victim


def test_a_worker_that_dies_every_time_is_reported(worker, qtbot, vit3):
    ends = Ends(worker)
    recipe = open_file(vit3).recipe
    task = Task("evaluate", ("key", recipe, EditState().overrides))
    killed = set()
    worker.submit(task)

    def kill() -> bool:
        pid = worker.pid
        if pid is not None and pid not in killed:
            killed.add(pid)
            os.kill(pid, signal.SIGKILL)
        return task in ends.outcomes

    qtbot.waitUntil(kill, timeout=30_000)
    assert ends.outcomes[task] == "lost"
    assert len(killed) >= 1


def test_a_task_is_cancelled_while_it_runs_and_the_process_serves_on(worker, qtbot, vit3, pair):
    ends = Ends(worker)
    recipe = open_file(vit3).recipe
    parts = []
    worker.part.connect(lambda _task, found: parts.append(found))
    task = Task("evaluate", ("key", recipe, EditState().overrides))
    worker.submit(task)
    qtbot.waitUntil(lambda: bool(parts), timeout=30_000)
    pid = worker.pid
    worker.cancel(task)
    qtbot.waitUntil(lambda: task in ends.outcomes, timeout=20_000)
    assert ends.outcomes[task] == "cancelled"
    after = Task("load", str(pair))
    worker.submit(after)
    qtbot.waitUntil(lambda: after in ends.outcomes, timeout=20_000)
    assert ends.outcomes[after] == "done"
    assert worker.pid == pid


def test_a_waiting_task_is_cancelled_before_it_begins(worker, qtbot, pair):
    ends = Ends(worker)
    first, second = Task("load", str(pair)), Task("load", str(pair))
    worker.submit(first)
    worker.submit(second)
    worker.cancel(second)
    qtbot.waitUntil(lambda: second in ends.outcomes, timeout=20_000)
    assert ends.outcomes[second] == "cancelled"
    assert second.attempts == 0


@pytest.mark.parametrize("delay", [0.0, 0.02, 0.1, 0.3])
def test_a_worker_can_be_closed_at_any_moment(qapp, vit3, delay):
    worker = Worker()
    recipe = open_file(vit3).recipe
    worker.submit(Task("evaluate", ("key", recipe, EditState().overrides)))
    time.sleep(delay)
    worker.close()
    assert worker.pid is None


# -- loading ----------------------------------------------------------------------------------------------------------


def test_a_large_file_is_read_in_a_process_and_opens_as_ever(driver, vit3, monkeypatch):
    monkeypatch.setattr(early, "LARGE_BYTES", 1000)
    shown = []
    driver.window.files.loader.progress.connect(lambda _request, done, total: shown.append((done, total)))
    driver.open(vit3)
    assert driver.session.verdict.fits
    assert shown[0] == (0, 0)
    assert shown[-1][1] == 1000
    assert driver.window.status.work.running() == ()


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
    driver.qtbot.waitUntil(lambda: "load" in driver.window.status.work.running())
    assert driver.window.status.work.stop.isVisible()
    driver.window.status.work.stop.click()
    driver.qtbot.waitUntil(lambda: bool(cancelled), timeout=20_000)
    driver.qtbot.waitUntil(lambda: driver.window.status.work.running() == ())
    assert driver.session.document.path == pair


def test_a_process_that_dies_while_it_loads_is_tried_again(driver, vit3, monkeypatch):
    monkeypatch.setattr(early, "LARGE_BYTES", 1000)
    loader = driver.window.files.loader
    driver.window.files.open(vit3)
    driver.qtbot.waitUntil(lambda: loader._worker is not None and loader._worker.pid is not None)
    os.kill(loader._worker.pid, signal.SIGKILL)
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


def test_files_asked_for_at_once_are_opened_in_order(driver, pair, vit3):
    opened = []
    driver.window.files.loader.loaded.connect(lambda _request, document: opened.append(document.path))
    driver.window.files.open(pair)
    driver.window.files.open(vit3)
    driver.qtbot.waitUntil(lambda: len(opened) == 2, timeout=20_000)
    assert opened == [pair, vit3]
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
    monkeypatch.setattr(processes, "IDLE_SECONDS", 0.2)
    worker = Worker()
    try:
        ends = Ends(worker)
        first, second = Task("load", str(pair)), Task("load", str(pair))
        worker.submit(first)
        qtbot.waitUntil(lambda: first in ends.outcomes, timeout=20_000)
        qtbot.waitUntil(lambda: worker.pid is None, timeout=10_000)
        worker.submit(second)
        qtbot.waitUntil(lambda: second in ends.outcomes, timeout=20_000)
        assert ends.outcomes[second] == "done"
    finally:
        worker.close()


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
