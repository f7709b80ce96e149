"""Opening, editing, exporting, reloading and recovering files in the real window."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QTreeWidget

from tests.helpers.crashed import left_by_a_crash
from tileview.qt.base.text import short_path
from tileview.qt.files import opening as files
from tileview.qt.files import saving
from tileview.qt.files.folder import FolderDialog
from tileview.qt.files.recovery import recovery_folder
from tileview.qt.widgets.dialogs import EditsAnswer, ErrorDialog

PAIR = ((0, 2), (1, 1))
"""The two swaps that make the 8-tile sample fit; neither does alone."""


def test_open_shows_the_verdict_and_selects_where_it_points(driver, over):
    driver.open(over)
    text = driver.window.verdict.verdict_text()
    assert text.startswith("Does not fit")
    assert "568,312" in text
    assert "30,504" in text
    assert driver.session.selection.step == 69
    assert driver.session.selection.operation == 21
    assert driver.window.windowTitle().startswith("so400m-over.recipe.json")
    assert driver.window.status.place_text().startswith("step 69/165 · op 21 Gemm · tile 174 (row 4, column 5)")


def test_swap_undo_redo_and_the_edited_mark(driver, pair):
    driver.open(pair)
    before = driver.session.estimate
    assert not driver.session.verdict.fits
    for operation, alternative in PAIR:
        assert driver.session.swap(operation, alternative)
        driver.settle()
    assert driver.session.verdict.fits
    assert driver.window.isWindowModified()
    assert "Swap operation 1 to alternative 1" in driver.window.commands.action("undo").text()
    driver.trigger("undo")
    driver.trigger("undo")
    driver.settle()
    assert driver.session.estimate.timeline.peak == before.timeline.peak
    assert not driver.window.isWindowModified()
    assert not driver.window.commands.action("undo").isEnabled()
    driver.trigger("redo")
    driver.trigger("redo")
    driver.settle()
    assert driver.session.verdict.fits


def test_exported_recipe_differs_in_the_swapped_plans_only_and_fits(driver, pair, tmp_path, monkeypatch):
    driver.open(pair)
    for operation, alternative in PAIR:
        driver.session.swap(operation, alternative)
    driver.settle()
    target = tmp_path / "fixed.json"
    offered = []

    def choose(parent, title, name, *rest, **options):
        offered.append(name)
        return str(target), ""

    monkeypatch.setattr(QFileDialog, "getSaveFileName", choose)
    driver.trigger("export_recipe")
    assert Path(offered[0]).name == "pair-8tiles.fixed.recipe.json"
    assert not driver.window.isWindowModified()
    original, exported = json.loads(pair.read_bytes()), json.loads(target.read_bytes())
    for operation, alternative in PAIR:
        original["recipe"]["plans"][str(operation)] = original["alternatives"][str(operation)][alternative]
    assert exported == original
    driver.open(target)
    assert driver.session.verdict.fits


def test_export_over_the_opened_file_asks(driver, pair, monkeypatch):
    driver.open(pair)
    content = pair.read_bytes()
    driver.session.swap(0, 2)
    asked = []
    monkeypatch.setattr(saving, "confirm", lambda *words: asked.append(words) or False)
    assert not driver.window.exporter.export_recipe(pair)
    assert len(asked) == 1
    assert pair.read_bytes() == content
    assert not driver.session.history.is_clean


def test_export_over_the_opened_file_through_a_link_asks_too(driver, pair, tmp_path, monkeypatch):
    link = tmp_path / "link.json"
    link.symlink_to(pair)
    driver.open(pair)
    asked = []
    monkeypatch.setattr(saving, "confirm", lambda *words: asked.append(words[1]) or False)
    driver.window.exporter.export_recipe(link)
    assert asked == ["Replace the opened file?"]


def test_export_into_a_missing_folder_says_so_and_keeps_the_edits(driver, pair, tmp_path, qtbot):
    driver.open(pair)
    driver.session.swap(0, 2)
    assert not driver.window.exporter.export_recipe(tmp_path / "nowhere" / "x.json")
    dialog = driver.window.findChild(ErrorDialog)
    assert "does not exist" in dialog.text()
    dialog.close()
    assert not driver.session.history.is_clean


@pytest.mark.parametrize(
    ("answer", "stays"), [(EditsAnswer.CANCEL, True), (EditsAnswer.DISCARD, False), (EditsAnswer.EXPORT, True)]
)
def test_closing_with_edits_asks(driver, pair, monkeypatch, answer, stays):
    driver.open(pair)
    driver.session.swap(0, 2)
    monkeypatch.setattr(files, "ask_about_edits", lambda *words: answer)
    monkeypatch.setattr(driver.window.exporter, "export_recipe", lambda: False)
    driver.window.close()
    assert driver.window.closed is not stays


def test_opening_another_file_with_edits_asks(driver, pair, vit3, monkeypatch):
    driver.open(pair)
    driver.session.swap(0, 2)
    seen = []
    monkeypatch.setattr(files, "ask_about_edits", lambda *words: seen.append(words) or EditsAnswer.CANCEL)
    assert not driver.window.files.open(vit3)
    assert seen[0][1:] == ("pair-8tiles.recipe.json", ["Swap operation 0 to alternative 2"], True)


def test_what_if_budgets_alone_do_not_ask(driver, pair):
    from tileview.model.recipe import Overrides

    driver.open(pair)
    driver.session.set_overrides(Overrides(reserve_bytes=1))
    assert driver.window.files.may_leave()


def test_a_broken_file_is_refused_in_one_sentence_and_the_open_one_stays(driver, pair, samples):
    driver.open(pair)
    driver.window.files.open(samples / "broken" / "truncated.recipe.json")
    driver.qtbot.waitUntil(lambda: driver.window.findChild(ErrorDialog) is not None)
    dialog = driver.window.findChild(ErrorDialog)
    assert "truncated.recipe.json" in dialog.text()
    assert "Traceback" not in dialog.text()
    dialog.close()
    assert driver.session.document.path == pair


@pytest.mark.parametrize("name", ["nothing.json", "folder"])
def test_what_is_no_file_is_refused(driver, tmp_path, name):
    (tmp_path / "folder").mkdir()
    driver.window.files.open(tmp_path / name)
    driver.qtbot.waitUntil(lambda: driver.window.findChild(ErrorDialog) is not None)
    driver.window.findChild(ErrorDialog).close()


def test_missing_recent_files_are_greyed(driver, pair, vit3):
    driver.open(vit3)
    driver.open(pair)
    vit3.unlink()
    recent = driver.menu("File", "Open recent")
    entries = {action.text(): action.isEnabled() for action in recent.actions() if action.text()}
    first, second = f"&1  {short_path(pair)}", f"&2  {short_path(vit3)} (missing)"
    assert entries[first] is True
    assert entries[second] is False
    assert list(entries)[:2] == [first, second]


def test_a_timeline_and_its_recipe_are_linked(driver, samples, vit3):
    driver.open(vit3)
    driver.window.files.compare_with(samples / "vit3-64tiles.v3.timeline.json")
    driver.qtbot.waitUntil(lambda: len(driver.session.pins) == 1, timeout=20_000)
    assert driver.session.linked is not None
    assert not driver.session.linked.is_recipe
    session, linked = driver.session, driver.session.pins[0].timeline
    # The timeline is of the program without fusions; with them the bytes stay, but runs of F8 panels are shorter.
    assert replace(session.timeline.peak, exchange_rows=0) == replace(linked.peak, exchange_rows=0)
    assert session.timeline.peak.exchange_rows > linked.peak.exchange_rows
    session.set_fusion(False)
    driver.settle()
    assert session.timeline.peak == linked.peak


def drop(window, paths) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    keys = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    entering = QDragEnterEvent(QPoint(10, 10), *keys)
    QApplication.sendEvent(window, entering)
    assert entering.isAccepted()
    QApplication.sendEvent(window, QDropEvent(QPointF(10, 10), *keys))


def test_a_dropped_file_opens(driver, pair):
    drop(driver.window, [pair])
    driver.settle()
    assert driver.session.document.path == pair


def test_a_dropped_folder_becomes_a_list_with_verdicts(driver, samples, tmp_path):
    folder = tmp_path / "dumps"
    folder.mkdir()
    for name, source in (
        ("whole-7-10.json", "pair-8tiles.v3.timeline.json"),
        ("whole-7-9.json", "vit3-64tiles.v3.timeline.json"),
        ("notes.json", "broken/not-json.json"),
    ):
        (folder / name).write_bytes((samples / source).read_bytes())
    drop(driver.window, [folder])
    dialog = driver.window.findChild(FolderDialog)
    tree = dialog.findChild(QTreeWidget)
    driver.qtbot.waitUntil(lambda: all(tree.topLevelItem(row).text(3) != "waiting" for row in range(3)), timeout=30_000)
    rows = [[tree.topLevelItem(row).text(column) for column in range(4)] for row in range(3)]
    assert rows == [
        ["whole-7-9.json", "whole", "timeline", "fits"],
        ["whole-7-10.json", "whole", "timeline", "does not fit"],
        ["notes.json", "", "", "cannot be read"],
    ]
    titles = [tree.headerItem().text(column) for column in range(tree.columnCount())]
    over = [tree.topLevelItem(row).text(titles.index("Over by")) for row in range(3)]
    assert over == ["", "267.4 KiB", ""]
    assert tree.topLevelItem(1).toolTip(titles.index("Over by")) == "273,840 B"
    told = dialog.count_label
    driver.qtbot.waitUntil(lambda: told.text().startswith("3 of 3"))
    assert told.text() == "3 of 3 files checked: 1 fits, 1 does not fit, 1 cannot be read."
    # All columns are in sight: none has to be scrolled to.
    assert tree.header().length() <= tree.viewport().width()
    compare = dialog.compare_button
    assert not compare.isEnabled()
    assert "Select two files" in compare.toolTip()
    tree.itemActivated.emit(tree.topLevelItem(0), 0)
    driver.settle()
    assert driver.session.document.name == "whole-7-9.json"
    tree.topLevelItem(0).setSelected(True)
    tree.topLevelItem(1).setSelected(True)
    compare.click()
    driver.qtbot.waitUntil(
        lambda: any(pin.document.name == "whole-7-10.json" for pin in driver.session.pins), timeout=30_000
    )
    assert driver.session.document.name == "whole-7-9.json"


# -- the file on disk -------------------------------------------------------------------------------------------------


def replace_by_rename(path: Path, content: bytes) -> None:
    part = path.with_suffix(".new")
    part.write_bytes(content)
    os.replace(part, path)


def test_a_replaced_file_is_read_again_and_everything_kept(driver, pair):
    driver.open(pair)
    driver.session.swap(0, 2)
    driver.settle()
    driver.session.select_step(1)
    driver.session.select_tiles((5,))
    first = driver.session.document
    content = json.loads(pair.read_bytes())
    content["attempts"] += 1
    replace_by_rename(pair, json.dumps(content, separators=(",", ":")).encode())
    driver.qtbot.waitUntil(lambda: driver.session.document is not first, timeout=20_000)
    driver.settle()
    assert dict(driver.session.state.swaps) == {0: 2}
    assert driver.session.selection.step == 1
    assert driver.session.selection.tiles == (5,)


def test_edits_follow_an_alternative_that_moved(driver, pair):
    driver.open(pair)
    driver.session.swap(0, 2)
    first = driver.session.document
    content = json.loads(pair.read_bytes())
    content["alternatives"]["0"].reverse()
    count = len(content["alternatives"]["0"])
    replace_by_rename(pair, json.dumps(content, separators=(",", ":")).encode())
    driver.qtbot.waitUntil(lambda: driver.session.document is not first, timeout=20_000)
    assert dict(driver.session.state.swaps) == {0: count - 1 - 2}


@pytest.mark.parametrize("take", [True, False])
def test_edits_that_do_not_apply_any_more_are_explained(driver, pair, monkeypatch, take):
    driver.open(pair)
    driver.session.swap(0, 2)
    first = driver.session.document
    content = json.loads(pair.read_bytes())
    del content["alternatives"]["0"][2]
    asked = []
    monkeypatch.setattr(files, "confirm", lambda *words: asked.append(words) or take)
    replace_by_rename(pair, json.dumps(content, separators=(",", ":")).encode())
    driver.qtbot.waitUntil(lambda: bool(asked), timeout=20_000)
    assert asked[0][4] == "Operation 0 has lost the alternative that was swapped in (2)."
    assert (driver.session.document is not first) is take
    assert bool(driver.session.state.swaps) is not take


def test_a_file_replaced_by_rubbish_leaves_what_is_open(driver, pair):
    driver.open(pair)
    replace_by_rename(pair, b"{")
    driver.qtbot.waitUntil(lambda: "what is open stays" in driver.window.status.notice_text(), timeout=20_000)
    assert driver.session.verdict is not None


def test_a_file_that_is_removed_leaves_what_is_open(driver, pair):
    driver.open(pair)
    content = pair.read_bytes()
    pair.unlink()
    driver.qtbot.waitUntil(lambda: "no longer on disk" in driver.window.status.notice_text(), timeout=20_000)
    assert driver.session.document.path == pair
    pair.write_bytes(content)
    driver.qtbot.waitUntil(lambda: not driver.window.status.notice_text(), timeout=20_000)


# -- recovery ---------------------------------------------------------------------------------------------------------


def test_edits_are_kept_while_the_window_lives_and_gone_when_it_closes(driver, pair):
    driver.open(pair)
    driver.session.swap(0, 2)
    kept = driver.window.files.recovery.file
    driver.qtbot.waitUntil(kept.exists)
    assert json.loads(kept.read_text())["steps"][-1]["edits"]["swaps"] == {"0": 2}
    driver.session.undo()
    driver.qtbot.waitUntil(lambda: not kept.exists())
    driver.session.redo()
    driver.qtbot.waitUntil(kept.exists)
    driver.session.mark_clean()
    driver.window.close()
    assert list(recovery_folder().iterdir()) == []


def test_edits_of_a_crashed_window_are_offered(make_driver, pair, monkeypatch):
    left_by_a_crash(make_driver(), pair)
    asked = []
    monkeypatch.setattr(files, "ask_to_recover", lambda *words: asked.append(words) or EditsAnswer.RECOVER)
    driver = make_driver()
    assert driver.window.files.offer_recovery()
    driver.qtbot.waitUntil(lambda: driver.session.document is not None, timeout=20_000)
    assert asked[0][2] == ("Swap operation 0 to alternative 2",)
    assert dict(driver.session.state.swaps) == {0: 2}
    assert not driver.session.history.is_clean
    assert not (recovery_folder() / "crashed.json").exists()


@pytest.mark.parametrize(("answer", "stays"), [(EditsAnswer.DISCARD, False), (EditsAnswer.CANCEL, True)])
def test_declined_edits_of_a_crashed_window_are_removed_only_when_discarded(
    make_driver, pair, monkeypatch, answer, stays
):
    left_by_a_crash(make_driver(), pair)
    monkeypatch.setattr(files, "ask_to_recover", lambda *words: answer)
    driver = make_driver()
    assert not driver.window.files.offer_recovery()
    assert (recovery_folder() / "crashed.json").exists() is stays


def test_the_edits_of_a_living_window_are_not_offered(make_driver, pair):
    first = make_driver()
    first.open(pair)
    first.session.swap(0, 2)
    first.window.files.recovery.write()
    second = make_driver()
    assert not second.window.files.offer_recovery()
    assert first.window.files.recovery.file.exists()


def test_the_timeline_in_force_is_exported_and_opens_with_the_same_peaks(driver, pair, tmp_path):
    driver.open(pair)
    driver.session.swap(0, 2)
    driver.session.swap(1, 1)
    driver.settle()
    peak = driver.session.timeline.peak
    target = tmp_path / "out.timeline.json"
    messages = []
    driver.window.bridge.message.connect(messages.append)
    driver.window.exporter.export_timeline(target)
    driver.qtbot.waitUntil(lambda: bool(messages), timeout=20_000)
    driver.session.mark_clean()
    driver.open(target)
    assert driver.session.timeline.peak == peak
    assert driver.session.verdict.fits


def test_a_timeline_that_cannot_be_written_is_reported(driver, pair, tmp_path):
    driver.open(pair)
    driver.window.exporter.export_timeline(tmp_path / "nowhere" / "x.json")
    driver.qtbot.waitUntil(lambda: driver.window.findChild(ErrorDialog) is not None)
    assert "does not exist" in driver.window.findChild(ErrorDialog).text()
    driver.window.findChild(ErrorDialog).close()


def test_two_windows_on_one_file_keep_their_edits_apart(make_driver, pair):
    first, second = make_driver(), make_driver()
    first.open(pair)
    second.open(pair)
    first.session.swap(0, 2)
    second.session.swap(1, 1)
    first.settle()
    second.settle()
    first.window.files.recovery.write()
    second.window.files.recovery.write()
    kept = [json.loads(path.read_text())["steps"][-1]["edits"]["swaps"] for path in recovery_folder().glob("*.json")]
    assert sorted(kept, key=str) == [{"0": 2}, {"1": 1}]
    assert dict(first.session.state.swaps) == {0: 2}


def test_a_relative_path_opens_wherever_the_program_goes_later(driver, pair, monkeypatch, tmp_path):
    monkeypatch.chdir(pair.parent)
    driver.window.files.open(pair.name)
    driver.settle()
    monkeypatch.chdir("/")
    assert driver.session.document.path == pair
    first = driver.session.document
    driver.trigger("reload")
    driver.qtbot.waitUntil(lambda: driver.session.document is not first, timeout=20_000)


def test_an_export_over_the_opened_file_is_no_news(driver, pair, monkeypatch, qtbot):
    driver.open(pair)
    driver.session.swap(0, 2)
    driver.settle()
    monkeypatch.setattr(saving, "confirm", lambda *words: True)
    first = driver.session.document
    assert driver.window.exporter.export_recipe(pair)
    qtbot.wait(900)
    assert driver.session.document is first
    assert driver.session.history.undo_label == "Swap operation 0 to alternative 2"


@pytest.mark.parametrize("answer", [EditsAnswer.RECOVER, EditsAnswer.DISCARD, EditsAnswer.CANCEL])
def test_opening_the_file_of_a_crashed_window_offers_its_edits(make_driver, pair, monkeypatch, answer):
    left_by_a_crash(make_driver(), pair)
    monkeypatch.setattr(files, "ask_to_recover", lambda *words: answer)
    driver = make_driver()
    driver.open(pair)
    assert dict(driver.session.state.swaps) == ({0: 2} if answer is EditsAnswer.RECOVER else {})
    assert (recovery_folder() / "crashed.json").exists() is (answer is EditsAnswer.CANCEL)


def test_files_opened_for_comparison_stand_beside_the_first(driver, pair, vit3, over):
    driver.window.open_paths([pair, vit3, over])
    driver.qtbot.waitUntil(lambda: len(driver.session.pins) == 2, timeout=30_000)
    assert driver.session.document.path == pair
    assert [pin.name for pin in driver.session.pins] == [vit3.name, over.name]
