"""The whole way in the real window, by mouse and keys: open, select, step, swap, undo, redo, export, open again."""

from __future__ import annotations

import json
import re

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog

from tileview.qt.files.fix import FixDialog

SWAPS = {4: 0, 21: 0}
"""Operation → alternative: together they make the sample fit, alone neither does."""


@pytest.fixture
def dialogs(monkeypatch):
    """Answers the file dialogs with the paths put in here."""
    answers = {}
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *words, **named: (str(answers["open"]), ""))
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *words, **named: (str(answers["save"]), ""))
    return answers


def click_row(driver, name: str, key: object, *, double: bool = False) -> None:
    """Click the row of a view's table that stands for ``key``."""
    tree = driver.window.docks.show_view(name).tree
    index = tree.model().find(key)
    assert index.isValid(), (name, key)
    tree.scrollTo(index)
    driver.qtbot.waitUntil(lambda: tree.viewport().rect().contains(tree.visualRect(index).center()), timeout=10_000)
    spot = tree.visualRect(index).center()
    spot.setX(40)
    mouse = (Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, spot)
    QTest.mouseClick(tree.viewport(), *mouse)
    if double:
        QTest.mouseDClick(tree.viewport(), *mouse)


def press(driver, key: Qt.Key, *modifiers: Qt.KeyboardModifier) -> None:
    """A key for the window as a whole."""
    driver.window.activateWindow()
    driver.window.setFocus()
    held = Qt.KeyboardModifier.NoModifier
    for modifier in modifiers:
        held |= modifier
    QTest.keyClick(driver.window, key, held)


def shown_sums(model) -> tuple[int, int, int]:
    """(standard, interleaved, total): the bytes of all rows of the allocation table, added up by class."""
    sums = {"standard": 0, "interleaved": 0}
    for index in model.indexes():
        if not model.hasChildren(index):
            texts = [model.data(index.siblingAtColumn(column)) for column in range(model.columnCount())]
            headers = [model.headerData(column, Qt.Orientation.Horizontal) for column in range(model.columnCount())]
            row = dict(zip(headers, texts, strict=True))
            sums[row["Class"]] += int(re.sub(r"[^0-9]", "", row["Bytes"]))
    return sums["standard"], sums["interleaved"], sum(sums.values())


def test_from_does_not_fit_to_an_exported_recipe_that_fits(driver, over, dialogs, tmp_path):
    window, session, control = driver.window, driver.session, Qt.KeyboardModifier.ControlModifier
    dialogs["open"] = over
    press(driver, Qt.Key.Key_O, control)
    driver.qtbot.waitUntil(lambda: session.document is not None, timeout=30_000)
    driver.settle()
    assert window.verdict.verdict_text().startswith("Does not fit")
    assert "30,504 B over" in window.verdict.verdict_text()

    press(driver, Qt.Key.Key_Home)
    press(driver, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    press(driver, Qt.Key.Key_Right)
    assert session.selection.step == 11
    press(driver, Qt.Key.Key_P)
    assert (session.selection.step, session.selection.tile) == (69, 174)
    table = window.docks.show_view("allocations")
    driver.qtbot.waitUntil(lambda: table.headline.text().startswith("Step 69/165"), timeout=10_000)
    assert shown_sums(table.model) == (568_312, 0, 568_312)

    click_row(driver, "operations", 21)
    assert session.selection.operation == 21
    click_row(driver, "alternatives", (21, SWAPS[21]), double=True)
    driver.settle()
    assert "14,760 B over" in window.verdict.verdict_text()
    click_row(driver, "operations", 4)
    click_row(driver, "alternatives", (4, SWAPS[4]))
    QTest.mouseClick(window.docks.views["alternatives"].swap_button, Qt.MouseButton.LeftButton)
    driver.settle()
    assert dict(session.state.swaps) == SWAPS
    assert window.verdict.verdict_text().startswith("Fits")
    assert "leaves 37,464 B" in window.verdict.verdict_text()

    press(driver, Qt.Key.Key_Z, control)
    driver.settle()
    assert "14,760 B over" in window.verdict.verdict_text()
    press(driver, Qt.Key.Key_Z, control, Qt.KeyboardModifier.ShiftModifier)
    driver.settle()
    assert window.verdict.verdict_text().startswith("Fits")

    dialogs["save"] = tmp_path / "fixed.recipe.json"
    press(driver, Qt.Key.Key_E, control)
    assert not window.isWindowModified()
    written = dialogs["save"].read_bytes()
    expected = json.loads(over.read_bytes())
    for operation, alternative in SWAPS.items():
        expected["recipe"]["plans"][str(operation)] = expected["alternatives"][str(operation)][alternative]
    assert written == json.dumps(expected, separators=(",", ":"), ensure_ascii=False).encode()

    dialogs["open"] = dialogs["save"]
    press(driver, Qt.Key.Key_O, control)
    driver.qtbot.waitUntil(lambda: session.document.path == dialogs["save"], timeout=30_000)
    driver.settle()
    assert window.verdict.verdict_text().startswith("Fits")
    assert session.timeline.peak.total == 500_344


def test_the_whole_way_by_keyboard_alone(driver, over, dialogs, tmp_path):
    """Every key goes to whatever has the focus; nothing is given the focus by the test but the window as a whole."""
    window, session, control = driver.window, driver.session, Qt.KeyboardModifier.ControlModifier
    shift = Qt.KeyboardModifier.ShiftModifier

    def key(name: Qt.Key, held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        if QApplication.activeModalWidget() is None:
            window.activateWindow()
        driver.qtbot.waitUntil(lambda: QApplication.focusWidget() is not None, timeout=10_000)
        QTest.keyClick(QApplication.focusWidget(), name, held)

    dialogs["open"], dialogs["save"] = over, tmp_path / "fixed.recipe.json"
    key(Qt.Key.Key_O, control)
    driver.qtbot.waitUntil(lambda: session.document is not None, timeout=30_000)
    driver.settle()
    driver.qtbot.waitUntil(lambda: window.docks.current_view() is window.docks.views["timeline"])
    key(Qt.Key.Key_2, control)
    why = window.docks.views["why"]
    assert window.docks.current_view() is why
    driver.qtbot.waitUntil(lambda: why.diagnosis is not None, timeout=20_000)
    key(Qt.Key.Key_F, control | shift)
    dialog = window.findChild(FixDialog)
    driver.qtbot.waitUntil(lambda: not dialog.is_running, timeout=60_000)
    key(Qt.Key.Key_Return)
    driver.settle()
    assert window.verdict.verdict_text().startswith("Fits")
    assert dict(session.state.swaps) == {4: 1}, "with the compiler's fusions one swap does"
    key(Qt.Key.Key_E, control)
    driver.qtbot.waitUntil(dialogs["save"].exists, timeout=10_000)
    driver.qtbot.waitUntil(lambda: not window.isWindowModified(), timeout=10_000)
    dialogs["open"] = dialogs["save"]
    key(Qt.Key.Key_O, control)
    driver.qtbot.waitUntil(lambda: session.document.path == dialogs["save"], timeout=30_000)
    driver.settle()
    assert window.verdict.verdict_text().startswith("Fits")
