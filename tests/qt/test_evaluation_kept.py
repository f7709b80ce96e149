"""Evaluating alternatives can be paused, and what came of them is there at the next opening."""

from __future__ import annotations

import os
import shutil
import stat

import pytest
from PySide6.QtCore import Qt

from tests.helpers.hostile import make_odd_file
from tileview.analysis.alternatives import evaluate_all
from tileview.formats.search_state import load_search_state
from tileview.qt.jobs import evaluation, result_store
from tileview.qt.jobs.result_store import ResultStore, results_folder, trim
from tileview.session.document import Document
from tileview.session.edits import EditState


@pytest.fixture
def expected(driver, pair):
    """The window on a file, and what every alternative of it gives."""
    driver.open(pair)
    return {(one.operation, one.alternative): one for one in evaluate_all(driver.session.recipe, workers=1)}


def rest(driver) -> None:
    """Wait until nothing is evaluated any more."""
    driver.qtbot.waitUntil(lambda: not driver.window.tools.evaluation.is_running)


def kept() -> list:
    return sorted(results_folder().glob("*.results"))


def evaluated(driver) -> list:
    """Evaluate everything, wait until it is kept, and return the files."""
    before = len(kept())
    driver.trigger("evaluate_alternatives")
    rest(driver)
    driver.qtbot.waitUntil(lambda: len(kept()) > before)
    return kept()


@pytest.fixture
def tasks(monkeypatch):
    """How many tasks have been handed to workers."""
    handed = []
    submit = evaluation.Runner.submit

    def note(self, job):
        if job.work == "evaluate":
            handed.append(job)
        submit(self, job)

    monkeypatch.setattr(evaluation.Runner, "submit", note)
    return handed


# -- pause ------------------------------------------------------------------------------------------------------------


def test_a_pause_keeps_what_is_there_and_the_rest_follows(driver, vit3, tasks):
    driver.open(vit3)
    bar, window = driver.window.status.work, driver.window
    assert not window.commands.action("pause_evaluation").isEnabled()
    window.tools.evaluation.evaluate()
    driver.qtbot.waitUntil(lambda: len(driver.session.results) > 0)
    assert bar.pause.isVisible()
    assert bar.pause.text() == "Pause"
    driver.qtbot.mouseClick(bar.pause, Qt.MouseButton.LeftButton)
    assert not window.tools.evaluation.is_running
    assert window.commands.action("pause_evaluation").isChecked()
    assert bar.pause.text() == "Continue"
    count, total = len(driver.session.results), sum(map(len, driver.session.recipe.alternatives.values()))
    assert bar.text() == f"Paused: {count} of {total} alternatives"
    driver.qtbot.wait(300)
    assert len(driver.session.results) == count
    first = len(tasks)
    driver.qtbot.mouseClick(bar.pause, Qt.MouseButton.LeftButton)
    assert window.tools.evaluation.is_running
    again = {(operation, index) for job in tasks[first:] for operation, plans in job.payload[1].alternatives.items()
             for index in range(len(plans)) if (operation, index) not in job.payload[3]}  # fmt: skip
    rest(driver)
    assert len(driver.session.results) == total
    assert len(again) <= total - count
    assert bar.text() == ""
    assert not window.commands.action("pause_evaluation").isEnabled()


def test_the_menu_pauses_and_goes_on(driver, vit3):
    driver.open(vit3)
    driver.trigger("evaluate_alternatives")
    driver.trigger("pause_evaluation")
    assert driver.window.tools.evaluation.is_paused
    assert driver.window.status.work.text().startswith("Paused: ")
    driver.trigger("pause_evaluation")
    assert driver.window.tools.evaluation.is_running
    driver.window.tools.stop()


def test_nothing_begins_by_itself_during_a_pause(driver, vit3, tasks):
    driver.window.settings.evaluate_by_itself = True
    driver.open(vit3)
    driver.qtbot.waitUntil(lambda: len(driver.session.results) > 0)
    driver.trigger("pause_evaluation")
    handed = len(tasks)
    driver.session.swap(4, 0)
    driver.settle()
    driver.session.select_operation(20)
    driver.qtbot.wait(3 * evaluation.DELAY_MS)
    assert len(tasks) == handed
    assert driver.window.status.work.text() == "Paused: alternatives are not evaluated"
    driver.trigger("pause_evaluation")
    driver.qtbot.waitUntil(lambda: len(tasks) > handed)
    driver.trigger("stop")
    assert not driver.window.tools.evaluation.is_paused


def test_stop_ends_a_pause_and_another_file_does(driver, vit3, pair):
    driver.open(vit3)
    driver.trigger("evaluate_alternatives")
    driver.trigger("pause_evaluation")
    driver.qtbot.mouseClick(driver.window.status.work.stop, Qt.MouseButton.LeftButton)
    assert not driver.window.tools.evaluation.can_pause()
    assert driver.window.status.work.text() == ""
    driver.trigger("evaluate_alternatives")
    driver.trigger("pause_evaluation")
    driver.open(pair)
    assert not driver.window.tools.evaluation.is_paused


def test_an_operation_selected_meanwhile_goes_before_the_rest(driver, vit3, tasks, monkeypatch):
    monkeypatch.setattr(evaluation, "REORDER_FROM", 0)
    driver.open(vit3)
    driver.trigger("evaluate_alternatives")
    rest_of_all = [job for job in tasks if len(job.payload[1].alternatives) > 1]
    driver.window.tools.stop()
    driver.trigger("evaluate_alternatives")
    late = max(driver.session.recipe.alternatives)
    if any(late in job.payload[1].alternatives for job in rest_of_all[-1:]):
        return  # it was among the first already
    handed = len(tasks)
    driver.session.select_operation(late)
    driver.qtbot.waitUntil(lambda: len(tasks) > handed and late in tasks[handed].payload[1].alternatives)
    driver.window.tools.stop()


# -- kept -------------------------------------------------------------------------------------------------------------


def test_the_next_opening_starts_with_the_results(driver, make_driver, expected, pair, tasks):
    evaluated(driver)
    handed = len(tasks)
    driver.window.close()
    again = make_driver()
    again.open(pair)
    again.qtbot.waitUntil(lambda: len(again.session.results) > 0)
    assert dict(again.session.results) == expected
    again.trigger("evaluate_alternatives")
    rest(again)
    assert len(tasks) == handed


def test_the_content_counts_not_the_path(driver, expected, pair, tmp_path):
    evaluated(driver)
    other = tmp_path / "other.json"
    shutil.move(pair, other)
    driver.open(other)
    driver.qtbot.waitUntil(lambda: dict(driver.session.results) == expected)
    changed = tmp_path / "changed.json"
    changed.write_bytes(other.read_bytes() + b"\n")
    driver.open(changed)
    driver.window.tools.evaluation.evaluate(0)
    rest(driver)
    assert {operation for operation, _ in driver.session.results} == {0}


def test_what_came_in_before_an_early_end_is_kept_and_the_rest_follows(driver, make_driver, vit3):
    driver.open(vit3)
    driver.trigger("evaluate_alternatives")
    driver.qtbot.waitUntil(lambda: len(driver.session.results) > 0)
    driver.window.close()
    found = dict(driver.session.results)
    again = make_driver()
    again.open(vit3)
    again.qtbot.waitUntil(lambda: dict(again.session.results) == found)
    again.trigger("evaluate_alternatives")
    rest(again)
    assert len(again.session.results) == sum(map(len, again.session.recipe.alternatives.values()))
    assert all(again.session.results[swap] == one for swap, one in found.items())


def test_results_of_a_state_come_back_with_undo(driver, expected):
    evaluated(driver)
    driver.session.swap(1, 1)
    assert dict(driver.session.results) == {}
    driver.session.undo()
    driver.settle()
    driver.qtbot.waitUntil(lambda: dict(driver.session.results) == expected)
    driver.session.set_fusion(False)
    driver.settle()
    files = evaluated(driver)
    assert len(files) == 2
    unfused = evaluate_all(driver.session.recipe, workers=1, overrides=driver.session.state.overrides)
    assert dict(driver.session.results) == {(one.operation, one.alternative): one for one in unfused}


def test_nobody_else_reads_them(driver, expected):
    (file,) = evaluated(driver)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert not list(file.parent.glob("*.part"))


@pytest.mark.parametrize("kind", ["nonsense", "flipped", "cut", "empty", "fifo", "folder", "link", "large"])
def test_what_is_no_file_of_results_harms_nothing(driver, make_driver, expected, pair, kind):
    (file,) = evaluated(driver)
    content = file.read_bytes()
    driver.window.close()
    file.unlink()
    if kind in ("fifo", "folder", "link", "large"):
        make_odd_file(file, kind, pair)
    else:
        middle = len(content) // 2
        flipped = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
        file.write_bytes({"nonsense": b"{}\n", "flipped": flipped, "cut": content[:-3], "empty": b""}[kind])
    driver = make_driver()
    said = []
    driver.window.bridge.message.connect(said.append)
    driver.open(pair)
    driver.trigger("evaluate_alternatives")
    rest(driver)
    assert dict(driver.session.results) == expected
    if kind == "folder":
        driver.qtbot.waitUntil(lambda: any("cannot be kept" in text for text in said))
        assert file.is_dir()
    else:
        driver.qtbot.waitUntil(lambda: file.is_file() and not file.is_symlink() and file.stat().st_size == len(content))
        assert ResultStore(driver.session.document, EditState()).load() == list(driver.session.results.values())
    assert pair.stat().st_size > 1000


def test_a_folder_that_takes_nothing_is_told_of_once(driver, pair, state_folder):
    (state_folder / "results").write_text("no folder")
    driver.open(pair)
    said = []
    driver.window.bridge.message.connect(said.append)
    driver.trigger("evaluate_alternatives")
    rest(driver)
    driver.qtbot.waitUntil(lambda: any("cannot be kept" in text for text in said))
    driver.session.swap(0, 1)
    driver.settle()
    driver.trigger("evaluate_alternatives")
    rest(driver)
    assert len(driver.session.results) == 7
    assert len([text for text in said if "cannot be kept" in text]) == 1


def test_the_folder_stays_small(driver, expected, monkeypatch):
    (file,) = evaluated(driver)
    size = file.stat().st_size
    others = []
    for number in range(6):
        others.append(file.with_name(f"{number}.results"))
        others[-1].write_bytes(bytes(size))
        os.utime(others[-1], (number, number))
    begun = file.with_name("x-1.part")
    begun.write_bytes(b"x")
    monkeypatch.setattr(result_store, "MOST_FOLDER_BYTES", 4 * size)
    trim(file)
    assert [other.exists() for other in others] == [False, False, False, True, True, True]
    monkeypatch.setattr(result_store, "MOST_FILES", 2)
    trim(file)
    assert [other.exists() for other in others] == [False] * 5 + [True]
    assert file.exists()
    assert begun.exists()
    os.utime(begun, (0, 0))
    trim(file)
    assert not begun.exists()


def test_fewer_results_do_not_take_the_place_of_more(driver, expected):
    (file,) = evaluated(driver)
    content = file.read_bytes()
    store = ResultStore(driver.session.document, EditState())
    store.save(list(expected.values())[:3])
    assert file.read_bytes() == content
    file.unlink()
    store.save(list(expected.values())[:3])
    assert store.load() == list(expected.values())[:3]


def test_large_files_do_not_take_each_others_results(pair, monkeypatch, state_folder):
    monkeypatch.setattr("tileview.formats.search_state.LATE_BYTES", 0)
    monkeypatch.setattr("tileview.formats.files.HELD_BYTES", 0)
    other = pair.with_name("other.json")
    other.write_bytes(pair.read_bytes().replace(b'"attempts":', b'"attempts":1', 1))
    one, another = (Document(path, load_search_state(path)) for path in (pair, other))
    results = list(evaluate_all(one.recipe, workers=1))
    store = ResultStore(one, EditState())
    store.save(results)
    assert store.load() == results
    assert ResultStore(another, EditState()).load() == []
    ResultStore(another, EditState()).save(results[:2])
    other.write_bytes(pair.read_bytes())
    assert ResultStore(another, EditState()).load() == []
    ResultStore(another, EditState()).save(results)
    assert len(kept()) == 2
    assert store.load() == results


def test_what_another_process_has_dropped_meanwhile_is_no_error(state_folder, monkeypatch):
    folder = results_folder()
    old = folder / "0.results"
    old.write_bytes(b"x")
    monkeypatch.setattr(result_store, "MOST_FILES", 1)
    trim(folder / "dropped.results")
    assert not old.exists()
