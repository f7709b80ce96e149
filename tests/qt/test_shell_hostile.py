"""Broken, odd and hostile files in the real window: a note that is seen, no fault, no layout torn apart, no markup."""

from __future__ import annotations

import os
import re

import pytest
from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QModelIndex, Qt
from PySide6.QtGui import QAction
from PySide6.QtGui import Qt as GuiQt
from PySide6.QtWidgets import QAbstractItemView, QApplication, QLabel, QMessageBox, QTextEdit, QWidget

from tests.helpers.dumps import compact, sample
from tests.helpers.hostile import (
    MARKUP,
    NAMES,
    hostile_recipe,
    hostile_timeline,
    odd_counts,
    unavailable_timeline,
    wide_recipe,
    wide_timeline,
    write_hostile,
)
from tileview.qt import program
from tileview.qt.base.text import plain_tip, visible_text
from tileview.qt.files.fix import FixDialog
from tileview.qt.files.folder import FolderDialog
from tileview.qt.files.opening import MANY_FILES
from tileview.qt.widgets.dialogs import ErrorDialog, ask_about_edits, confirm
from tileview.qt.widgets.docked import ElidedLabel
from tileview.qt.window.palette import CommandPalette

SIZE = (1280, 800)


def open_any(driver, path) -> str:
    """Open a file and wait for what comes of it: the text of the error, or nothing where it is open now."""
    window = driver.window
    before = driver.session.document
    window.files.open(path)
    driver.qtbot.waitUntil(
        lambda: window.findChild(ErrorDialog) is not None or driver.session.document is not before, timeout=30_000
    )
    dialog = window.findChild(ErrorDialog)
    if dialog is not None:
        text = dialog.text()
        dialog.close()
        driver.qtbot.waitUntil(lambda: window.findChild(ErrorDialog) is None)
        return text
    driver.qtbot.waitUntil(
        lambda: driver.session.is_current and not window.estimates.steps_reader.is_running, timeout=30_000
    )
    return ""


def walk(driver) -> None:
    """Go through what can be selected, with every view on the screen once."""
    window, session = driver.window, driver.session
    timeline = session.timeline
    steps = 0 if timeline is None else len(timeline.steps)
    for view in window.docks.views.values():
        window.docks.show_view(view.name)
        QApplication.processEvents()
    for step in range(min(steps, 3)):
        session.select_step(step)
        session.select_tiles((0,))
        session.select_operation(step)
        if timeline.values:
            session.select_allocation(timeline.values[0].root)
        QApplication.processEvents()
    for name in ("peak_total", "peak_standard", "over_next", "step_last", "centre", "fit"):
        action = window.commands.action(name)
        if action.isEnabled():
            action.trigger()
    session.select_tiles(())
    session.select_allocation(None)
    window.grab()
    for view in window.docks.views.values():
        view.table_csv()


def assert_in_shape(driver) -> None:
    """No text has pushed the window wider than it was made, nor made it want to be."""
    window = driver.window
    assert (window.width(), window.height()) == SIZE
    assert window.minimumSizeHint().width() <= SIZE[0]
    for view in window.docks.views.values():
        assert view.minimumSizeHint().width() <= 700, view.name


def texts(model: QAbstractItemModel, parent: QModelIndex, role: int):
    columns = 1 if isinstance(model, QAbstractListModel) else model.columnCount(parent)
    for row in range(model.rowCount(parent)):
        for column in range(columns):
            yield model.data(model.index(row, column, parent), role)
        yield from texts(model, model.index(row, 0, parent), role)


def rendered_as_markup(text: str) -> bool:
    """Whether Qt would take a tag of a name for one of its own."""
    return GuiQt.mightBeRichText(text) and ("<b>x" in text or "<img" in text)


def assert_no_markup() -> int:
    """No label, tooltip, document or cell of any widget shows a name as markup; how many hold a name."""
    held = 0
    for widget in QApplication.allWidgets():
        held += check_widget(widget)
        for action in widget.findChildren(QAction):
            assert not rendered_as_markup(action.toolTip()), action.text()
        if isinstance(widget, QAbstractItemView) and widget.model() is not None:
            for tip in texts(widget.model(), QModelIndex(), Qt.ItemDataRole.ToolTipRole):
                if tip:
                    held += "b>x" in tip or "&lt;b" in tip
                    assert not rendered_as_markup(tip), (widget.accessibleName(), tip)
    return held


def check_widget(widget: QWidget) -> int:
    where = f"{type(widget).__name__} {widget.objectName()} {widget.accessibleName()}"
    assert not rendered_as_markup(widget.toolTip()), f"{where}: {widget.toolTip()[:200]}"
    assert not rendered_as_markup(widget.whatsThis()), where
    held = 0
    if isinstance(widget, QLabel):
        held += "<b>x" in widget.text() or "&lt;b" in widget.text()
        if widget.textFormat() == Qt.TextFormat.AutoText:
            assert not rendered_as_markup(widget.text()), f"{where}: {widget.text()[:200]}"
        elif widget.textFormat() != Qt.TextFormat.PlainText:
            assert "<b>x" not in widget.text(), where
            assert "<img src=file" not in widget.text(), where
    if isinstance(widget, QTextEdit):
        page = widget.toHtml()
        held += "&lt;b&gt;x" in page
        assert "<img" not in page, where
        assert "file:" not in page.replace("&lt;img src=file:", ""), where
    return held


@pytest.fixture
def shaped(shared_driver, pair):
    """A window of a common size that has one file open."""
    shared_driver.window.resize(*SIZE)
    shared_driver.open(pair)
    return shared_driver


@pytest.fixture
def broken(samples):
    return sorted((samples / "broken").iterdir())


def test_broken_samples_are_refused_in_words_or_open_with_a_note(shaped, broken):
    opened = set()
    for path in broken:
        before = shaped.session.document
        text = open_any(shaped, path)
        if text:
            assert path.name in text
            assert "Traceback" not in text
            assert "expected" in text
            assert shaped.session.document is before
        else:
            opened.add(path.name)
            assert shaped.session.problems
            walk(shaped)
            assert shaped.window.docks.views["problems"].model.rowCount() > 0
    assert opened == {"unknown-kinds.recipe.json", "dangling.recipe.json", "dangling.timeline.json"}
    assert_in_shape(shaped)


def test_what_is_no_file_is_refused_at_once(shaped, tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "secret").write_bytes(compact(hostile_timeline("x")))
    for name, word in (
        ("fifo", "FIFO"),
        ("loop", ""),
        ("missing", "nothing under this name"),
        ("n" * 300, ""),
        (".", "a folder"),
    ):
        assert word in open_any(shaped, tmp_path / name)
    system_open = os.open

    def refuse(path, *more, **named):
        if str(path).endswith("secret"):
            raise PermissionError(13, "Permission denied")
        return system_open(path, *more, **named)

    monkeypatch.setattr(os, "open", refuse)
    assert "without permission" in open_any(shaped, tmp_path / "secret")
    assert shaped.session.document.name == "pair-8tiles.recipe.json"


def test_odd_numbers_of_tiles_open_or_are_refused(shaped, tmp_path):
    refused = {}
    for title, path in odd_counts(tmp_path).items():
        text = open_any(shaped, path)
        if text:
            refused[title] = text
        else:
            walk(shaped)
            assert_in_shape(shaped)
    assert set(refused) == {"0 tiles, version 1", "0 tiles, version 3"}
    assert all("tile_count" in text for text in refused.values())


def test_numbers_that_need_64_bits_without_a_sign(shaped, tmp_path):
    """Ids, counts and limits: Qt's own numbers are smaller."""
    most, window, session = 2**64 - 1, shaped.window, shaped.session
    for index, document in enumerate((wide_timeline(1), wide_timeline(3), wide_recipe())):
        path = tmp_path / f"{index}.json"
        path.write_bytes(compact(document))
        assert open_any(shaped, path) == ""
        walk(shaped)
        session.select_operation(most)
        QApplication.processEvents()
        assert session.selection.operation == most
    session.swap(most, 2)
    session.swap(most - 1, 1)
    shaped.settle()
    assert session.verdict.fits
    walk(shaped)
    edits = window.docks.views["details"].edits
    session.select_operation(most)
    (value, button), *_ = edits.boundary_buttons.items()
    assert value == most - 1
    button.click()
    assert session.state.boundaries == {value: True}
    ((value, button),) = edits.home_buttons.items()
    assert value == most
    edits.fill_home_menu(button.menu(), value)
    offered = [action for action in button.menu().actions() if action.isEnabled() and not action.isChecked()]
    offered[0].trigger()
    assert list(session.state.homes) == [value]
    session.mark_clean()


@pytest.mark.parametrize("name", sorted(NAMES))
def test_hostile_names_in_every_view(shaped, tmp_path, name):
    made = write_hostile(tmp_path)
    for title, path in made.items():
        if title.startswith(f"{name}, "):
            assert open_any(shaped, path) == ""
            walk(shaped)
            assert_no_markup()
            assert_in_shape(shaped)


def test_markup_is_shown_as_it_is(shaped, tmp_path):
    held = 0
    for index, document in enumerate((hostile_recipe(MARKUP), hostile_timeline(MARKUP), unavailable_timeline(MARKUP))):
        path = tmp_path / f"<b>x<i>{index}.json"
        path.write_bytes(compact(document))
        assert open_any(shaped, path) == ""
        walk(shaped)
        held += assert_no_markup()
        assert shaped.window.windowTitle().startswith(path.name)
    assert held > 10


def test_markup_is_shown_as_it_is_in_lists_and_dialogs(shaped, tmp_path):
    """Alternatives with their results, pinned states, a comparison, the fix dialog, a folder's list."""
    window, session = shaped.window, shaped.session
    folder = tmp_path / "<b>x<img src=file:a>"
    folder.mkdir()
    path, other = folder / "<b>x<img src=file:b>-1-2.json", folder / "<b>xother.json"
    path.write_bytes(compact(hostile_recipe(MARKUP)))
    other.write_bytes(compact(unavailable_timeline(MARKUP)))
    (folder / "<b>xbad.json").write_bytes(b'{"version":7,"context":"<b>x"}')
    assert open_any(shaped, path) == ""
    window.tools.evaluation.evaluate()
    shaped.qtbot.waitUntil(lambda: not window.tools.evaluation.is_running, timeout=60_000)
    session.select_operation(0)
    session.swap(0, 2)
    shaped.settle()
    session.pin_current(MARKUP)
    window.files.compare_with(other)
    shaped.qtbot.waitUntil(lambda: len(session.pins) == 2, timeout=30_000)
    window.docks.show_view("compare")
    QApplication.processEvents()
    assert assert_no_markup() > 10
    window.tools.find_fix()
    QApplication.processEvents()
    assert_no_markup()
    window.findChild(FixDialog).reject()
    window.tools.show_folder(folder)
    tree = window.findChild(FolderDialog).tree
    shaped.qtbot.waitUntil(lambda: all(tree.topLevelItem(row).text(3) != "waiting" for row in range(3)), timeout=30_000)
    assert tree.topLevelItem(0).text(0) == path.name
    assert_no_markup()
    session.mark_clean()


def test_errors_and_messages_show_markup_as_it_is(shaped, tmp_path):
    path = tmp_path / "<b>x.json"
    path.write_bytes(b'{"version":7,"context":"<b>x</b>"}')
    shaped.window.files.open(path)
    shaped.qtbot.waitUntil(lambda: shaped.window.findChild(ErrorDialog) is not None)
    assert_no_markup()
    shaped.window.findChild(ErrorDialog).close()
    shaped.window.bridge.message.emit(MARKUP)
    QApplication.processEvents()
    assert_no_markup()


def test_questions_show_markup_as_it_is(shaped, monkeypatch):
    seen = []

    def look(box) -> int:
        box.show()
        QApplication.processEvents()
        seen.append(assert_no_markup())
        box.hide()
        return 0

    monkeypatch.setattr(QMessageBox, "exec", look)
    confirm(shaped.window, MARKUP, MARKUP, "Yes", MARKUP)
    ask_about_edits(shaped.window, MARKUP, [MARKUP], can_export=True)
    assert len(seen) == 2
    assert min(seen) >= 2


def test_the_palette_and_menus_show_markup_as_it_is(shaped, tmp_path):
    path = tmp_path / "<b>x<img src=file:passwd>.json"
    path.write_bytes(sample("pair-8tiles.recipe.json"))
    assert open_any(shaped, path) == ""
    shaped.trigger("commands")
    palette = shaped.window.findChild(CommandPalette)
    QApplication.processEvents()
    assert_no_markup()
    palette.close()
    shaped.menu("File", "Open recent")
    assert_no_markup()


def test_a_tip_with_markup_is_escaped():
    tip = plain_tip(f"{MARKUP}\nsecond line")
    assert not rendered_as_markup(tip)
    assert "&lt;b&gt;" in tip
    assert plain_tip("") == ""


UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def test_marks_that_reorder_text_are_written_out(shaped, tmp_path):
    """A name must not show the figures that stand behind it from right to left."""
    name = "a\u202eb\0c\u2067d"
    shown = 0
    for index, document in enumerate((hostile_recipe(name), hostile_timeline(name), unavailable_timeline(name))):
        path = tmp_path / f"{index}.json"
        path.write_bytes(compact(document))
        assert open_any(shaped, path) == ""
        walk(shaped)
        for widget in QApplication.allWidgets():
            found = [widget.text()] if isinstance(widget, QLabel | ElidedLabel) else []
            if isinstance(widget, QAbstractItemView) and widget.model() is not None:
                found += [text for text in texts(widget.model(), QModelIndex(), Qt.ItemDataRole.DisplayRole) if text]
            for text in found:
                assert not UNSEEN.search(text), (type(widget).__name__, text[:100])
                shown += "a\\u{202e}b" in text
            if isinstance(widget, QTextEdit):
                assert not UNSEEN.search(widget.toPlainText())
    assert shown > 10
    assert visible_text("plain \u00e9 \U0001f642 \u05d0\u05d1") == "plain \u00e9 \U0001f642 \u05d0\u05d1"


def test_a_thousand_files_at_once_become_a_list(driver, tmp_path):
    """A window for each, or all beside one, would end in a machine that does nothing else any more."""
    paths = [tmp_path / f"{number}.json" for number in range(1000)]
    for path in paths:
        path.write_bytes(b"{}")
    driver.window.open_paths([*paths, paths[0]])
    dialog = driver.window.findChild(FolderDialog)
    assert dialog.tree.topLevelItemCount() == 1000
    assert dialog.tree.topLevelItem(999).text(0) == "999.json"
    assert driver.session.document is None
    driver.qtbot.waitUntil(lambda: dialog.tree.topLevelItem(5).text(3) == "cannot be read", timeout=90_000)
    dialog.close()
    driver.window.open_paths(paths[: MANY_FILES - 1])
    driver.qtbot.waitUntil(lambda: driver.window.findChild(ErrorDialog) is not None, timeout=60_000)
    driver.window.files.loader.cancel()
    for dialog in driver.window.findChildren(ErrorDialog):
        dialog.close()


def test_many_files_named_at_the_start_are_one_window(monkeypatch, qapp, tmp_path):
    opened = []
    monkeypatch.setattr(program.Windows, "open", lambda self, paths: opened.append(paths))
    monkeypatch.setattr(QApplication, "exec", lambda *_: 0)
    paths = [tmp_path / f"{number}.json" for number in range(MANY_FILES)]
    assert program.run_windows(paths, compare=False) == 0
    assert opened == [paths]
