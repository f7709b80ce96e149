"""Manners of a desktop program: everything by key and by name, drops, folders, reloading, themes, scaling, help."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QColor, QDragEnterEvent, QDropEvent, QGuiApplication, QImage, QTextDocument
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QCheckBox,
    QComboBox,
    QDialog,
    QFileDialog,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QScrollBar,
    QTabBar,
    QWidget,
)

from tileview.qt.base.command import MENUS, with_mnemonics
from tileview.qt.base.text import short_path
from tileview.qt.files import folder
from tileview.qt.files import opening as files
from tileview.qt.files.folder import FolderDialog
from tileview.qt.window import main_window
from tileview.qt.window.help import Reference, reference_pages

ROOT = Path(__file__).resolve().parents[2]


def letter(text: str) -> str | None:
    """The mnemonic of a text."""
    found = re.search(r"&([^&])", text.replace("&&", ""))
    return None if found is None else found[1].lower()


def contrast(one: QColor, other: QColor) -> float:
    """As WCAG computes it."""

    def luminance(color: QColor) -> float:
        parts = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in color.getRgbF()[:3]]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


# -- keys -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("menu", ["File", "Edit", "View", "Go", "Plan", "Help"])
def test_every_entry_of_a_menu_has_a_letter_of_its_own(driver, over, menu):
    driver.open(over)
    titles = {view.title for view in driver.window.docks.views.values()}
    entries = [
        action
        for action in driver.menu(menu).actions()
        if not action.isSeparator() and not (action.menu() is not None and action.text() in titles)
    ]
    letters = Counter(letter(action.text()) for action in entries)
    assert None not in letters, [action.text() for action in entries if letter(action.text()) is None]
    assert max(letters.values()) == 1, letters


def test_letters_of_controls_clash_neither_with_the_menus_nor_with_one_another(driver, over):
    driver.open(over)
    window = driver.window
    kinds = (QPushButton, QCheckBox, QLabel)
    assert len(driver.views()) == 14
    controls = [one for kind in kinds for one in window.findChildren(kind) if letter(one.text())]
    assert len(controls) > 10
    letters = Counter(letter(control.text()) for control in controls)
    menus = {letter(action.text()) for action in window.menuBar().actions()}
    assert menus == set("fevgph")
    assert not menus & set(letters)
    shared = [control.text() for control in controls if letters[letter(control.text())] > 1]
    assert shared == []


@pytest.mark.parametrize("key", "FEVGPH")
def test_alt_and_a_letter_open_the_menu_wherever_the_focus_is(driver, over, key):
    driver.open(over)
    driver.window.activateWindow()
    view = driver.window.docks.show_view("alternatives")
    opened: list[str] = []
    for menu in [driver.menu(title) for title in MENUS]:
        menu.aboutToShow.connect(lambda menu=menu: opened.append(menu.title()))
    QTest.keyClick(view.tree, getattr(Qt.Key, f"Key_{key}"), Qt.KeyboardModifier.AltModifier)
    assert [letter(title).upper() for title in opened] == [key]
    QApplication.activePopupWidget().close()


def test_mnemonics_take_letters_that_are_free():
    assert with_mnemonics(["Open", "Operations", "A & B", "oooo"], "b") == ["&Open", "O&perations", "&A && B", "oooo"]


def test_every_view_is_reached_by_its_key_and_by_going_round(driver, over):
    driver.open(over)
    docks = driver.window.docks
    for place, name in enumerate(docks.views, start=1):
        command = driver.window.commands.command(f"show_{name}")
        assert command.keys == ((f"Ctrl+{place}",) if place < 10 else ())
        driver.trigger(f"show_{name}")
        driver.qtbot.waitUntil(lambda name=name: docks.views[name].is_in_sight)
        assert docks.current_view() is docks.views[name]
    driver.window.resize(1600, 1000)
    for name in ("graph", "tiles", "timeline", "operations"):
        docks.show_view(name)
    driver.qtbot.waitUntil(lambda: docks.views["operations"].is_in_sight)
    in_sight = [name for name, view in docks.views.items() if view.is_in_sight]
    assert {"operations", "tiles", "timeline"} < set(in_sight)
    seen = []
    for _ in in_sight:
        driver.trigger("next_view")
        QApplication.processEvents()
        seen.append(docks.current_view().name)
    place = in_sight.index("operations") + 1
    assert seen == in_sight[place:] + in_sight[:place]
    driver.trigger("previous_view")
    assert docks.current_view().name == seen[-2]


def test_every_command_says_what_it_does(driver, over):
    driver.open(over)
    for menu, action in driver.window.all_actions():
        assert action.text()
        if menu in MENUS:
            assert action.statusTip(), action.text()


# -- names ------------------------------------------------------------------------------------------------------------


def nameless(around: QWidget) -> list[str]:
    """What takes input in a widget and says nothing of itself to a screen reader."""
    kinds = (QAbstractButton, QComboBox, QLineEdit, QAbstractSpinBox, QAbstractItemView)
    inside = (QComboBox, QLineEdit, QAbstractSpinBox, QAbstractItemView, QMenu, QScrollBar, QTabBar)
    found = []
    for widget in around.findChildren(QWidget):
        parents = []
        parent = widget.parentWidget()
        while parent is not None and parent is not around:
            parents.append(parent)
            parent = parent.parentWidget()
        if not isinstance(widget, kinds) or any(isinstance(one, inside) for one in parents) or widget.isHidden():
            continue
        text = widget.text() if isinstance(widget, QAbstractButton) else ""
        if not widget.accessibleName() and not text:
            found.append(type(widget).__name__)
    return found


def test_every_control_of_the_window_and_its_dialogs_has_a_name(driver, over, samples):
    driver.open(over)
    window = driver.window
    assert {name: nameless(view) for name, view in window.docks.views.items() if nameless(view)} == {}
    assert nameless(window.verdict) == nameless(window.status) == nameless(window.welcome) == []
    window.tools.show_folder(samples)
    for name in ("key_sheet", "reference", "about", "export_view", "go_to", "commands"):
        driver.trigger(name)
    dialogs = window.findChildren(QDialog)
    assert len(dialogs) >= 7
    assert {dialog.windowTitle(): nameless(dialog) for dialog in dialogs if nameless(dialog)} == {}
    for dialog in dialogs:
        assert dialog.windowTitle() or dialog.accessibleName()
        dialog.close()


# -- drops and folders ------------------------------------------------------------------------------------------------


def drop(widget: QWidget, paths: list[Path]) -> bool:
    """Drop files on a widget as a file manager does; False where it does not take them."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    keys = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    entering = QDragEnterEvent(QPoint(3, 3), *keys)
    entering.setAccepted(False)
    QApplication.sendEvent(widget, entering)
    if entering.isAccepted():
        QApplication.sendEvent(widget, QDropEvent(QPointF(3, 3), *keys))
    return entering.isAccepted()


def test_files_are_dropped_on_floating_docks_and_on_filter_fields_too(driver, pair, vit3):
    driver.open(pair)
    docks = driver.window.docks
    docks.dock("tiles").setFloating(True)
    assert drop(docks.dock("tiles"), [vit3])
    driver.qtbot.waitUntil(lambda: driver.session.document.path == vit3)
    field = docks.views["allocations"].filter_box
    drop(field, [pair])
    assert field.text() == ""
    assert driver.views()
    assert not any(edit.acceptDrops() for edit in driver.window.findChildren(QLineEdit))


def test_a_folder_among_files_is_listed_and_the_rest_is_said(driver, pair, samples):
    said = []
    driver.window.bridge.message.connect(said.append)
    assert drop(driver.window, [pair, samples])
    assert driver.window.findChild(FolderDialog) is not None
    assert said == ["Only sample_data is listed; drop the 1 other on its own."]
    driver.window.findChild(FolderDialog).close()


def listed(dialog: FolderDialog, column: int) -> list[str]:
    return [dialog.tree.topLevelItem(row).text(column) for row in range(dialog.tree.topLevelItemCount())]


def test_a_folder_is_opened_by_key_and_sorted_by_what_its_files_hold(driver, samples, tmp_path, monkeypatch):
    dumps = tmp_path / "dumps"
    dumps.mkdir()
    for name, source in (
        ("op-7-2.json", "vit3-64tiles.v3.timeline.json"),
        ("op-7-11.json", "pair-8tiles.v3.timeline.json"),
        ("z.json", "rejected-op0.timeline.json"),
    ):
        (dumps / name).write_bytes((samples / source).read_bytes())
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(dumps))
    driver.trigger("open_folder")
    dialog = driver.window.findChild(FolderDialog)
    driver.qtbot.waitUntil(lambda: "waiting" not in listed(dialog, 3), timeout=30_000)
    given = ["op-7-2.json", "op-7-11.json", "z.json"]
    assert listed(dialog, 0) == given
    header = dialog.tree.header()
    header.setSortIndicator(folder.COLUMNS.index("Peak"), Qt.SortOrder.DescendingOrder)
    assert listed(dialog, 0) == ["op-7-11.json", "op-7-2.json", "z.json"]
    header.setSortIndicator(folder.COLUMNS.index("Verdict"), Qt.SortOrder.DescendingOrder)
    assert listed(dialog, 3) == ["fits", "does not fit", "does not fit"]
    header.setSortIndicator(0, Qt.SortOrder.AscendingOrder)
    assert listed(dialog, 0) == given
    # The same by keys: the box of columns follows the header, and leads it.
    header.setSortIndicator(folder.COLUMNS.index("Peak"), Qt.SortOrder.DescendingOrder)
    assert (dialog.sort_box.currentText(), dialog.down_check.isChecked()) == ("Peak", True)
    dialog.sort_box.setFocus()
    QTest.keyClicks(dialog.sort_box, "Fi")
    QTest.keyClick(dialog.down_check, Qt.Key.Key_Space)
    assert listed(dialog, 0) == given
    assert (header.sortIndicatorSection(), header.sortIndicatorOrder()) == (0, Qt.SortOrder.AscendingOrder)
    dialog.tree.setCurrentItem(dialog.tree.topLevelItem(1))
    QTest.keyClick(dialog.tree, Qt.Key.Key_Return)
    driver.settle()
    assert driver.session.document.name == "op-7-11.json"
    # The list gave way, and comes back as it was; closed, it is gone.
    assert not dialog.isVisible()
    driver.trigger("back_to_list")
    assert dialog.isVisible()
    assert dialog.tree.currentItem().text(0) == "op-7-11.json"
    dialog.reject()
    driver.qtbot.waitUntil(lambda: not driver.window.commands.action("back_to_list").isEnabled())


def test_a_list_stays_where_the_user_keeps_what_is_open(driver, samples, pair, vit3, monkeypatch):
    driver.window.tools.show_folder([pair, vit3])
    driver.window.tools.show_folder([vit3, pair])
    driver.qtbot.wait(20)
    # The first list is gone, the second one is still known.
    (dialog,) = driver.window.findChildren(FolderDialog)
    with monkeypatch.context() as staying:
        staying.setattr(driver.window.files, "may_leave", lambda: False)
        QTest.keyClick(dialog.tree, Qt.Key.Key_Return)
    assert dialog.isVisible()
    assert driver.session.document is None
    dialog.close()


def test_folders_that_cannot_be_listed_or_hold_too_much_say_so(driver, pair, tmp_path, monkeypatch):
    driver.window.tools.show_folder(tmp_path / "gone")
    dialog = driver.window.findChild(FolderDialog)
    assert dialog.count_label.text() == f"{tmp_path / 'gone'} cannot be listed: No such file or directory."
    dialog.close()
    for name in "abc":
        (tmp_path / f"{name}.json").write_bytes(pair.read_bytes())
    monkeypatch.setattr(folder, "FILE_LIMIT", 2)
    driver.window.tools.show_folder(tmp_path)
    dialog = next(one for one in driver.window.findChildren(FolderDialog) if one.isVisible())
    assert listed(dialog, 0) == ["a.json", "b.json"]
    assert dialog.count_label.text().endswith("2 further files are not listed.")
    dialog.close()


# -- recent files -----------------------------------------------------------------------------------------------------


def test_recent_files_have_numbers_as_keys_and_their_paths_as_tips(driver, pair, tmp_path):
    driver.open(pair)
    recent = driver.menu("File", "Open recent")
    first = recent.actions()[0]
    assert first.text().startswith("&1  ")
    assert first.toolTip() == str(pair)
    assert recent.toolTipsVisible()
    long = Path("/", *(["folder"] * 40), "so400m-over.recipe.json")
    assert len(short_path(long)) == 90
    assert short_path(long).endswith("/so400m-over.recipe.json")
    assert short_path(pair.parent / "a&b") == f"{pair.parent}/a&b" if len(str(pair.parent)) < 80 else True


# -- reloading --------------------------------------------------------------------------------------------------------


def replaced(path: Path, content: dict) -> None:
    part = path.with_suffix(".new")
    part.write_bytes(json.dumps(content, separators=(",", ":")).encode())
    os.replace(part, path)


def test_a_reload_keeps_pinned_states_and_the_linked_file(driver, vit3, samples):
    driver.open(vit3)
    pin = driver.session.pin_current("before")
    driver.session.set_baseline(pin)
    driver.window.files.compare_with(samples / "vit3-64tiles.v3.timeline.json")
    driver.qtbot.waitUntil(lambda: len(driver.session.pins) == 2, timeout=20_000)
    linked, first = driver.session.linked, driver.session.document
    content = json.loads(vit3.read_bytes())
    content["attempts"] += 1
    replaced(vit3, content)
    driver.qtbot.waitUntil(lambda: driver.session.document is not first, timeout=20_000)
    driver.settle()
    assert [one.name for one in driver.session.pins] == ["before", "vit3-64tiles.v3.timeline.json"]
    assert driver.session.baseline is pin
    assert driver.session.linked is linked


@pytest.mark.parametrize("answer", [True, False])
def test_a_file_that_changes_again_while_one_is_asked_counts_as_it_is_last(driver, pair, monkeypatch, answer):
    driver.open(pair)
    driver.session.swap(0, 2)
    driver.settle()
    whole = json.loads(pair.read_bytes())
    without = json.loads(pair.read_bytes())
    del without["alternatives"]["0"][2]
    asked = []

    def confirm(*words):
        asked.append(words)
        whole["attempts"] += 1
        replaced(pair, whole)
        driver.qtbot.waitUntil(lambda: driver.window.files.is_newer_waiting, timeout=20_000)
        return answer

    monkeypatch.setattr(files, "confirm", confirm)
    first = driver.session.document
    replaced(pair, without)
    driver.qtbot.waitUntil(lambda: driver.session.document is not first, timeout=20_000)
    assert len(asked) == 1
    assert len(driver.session.recipe.alternatives[0]) == len(whole["alternatives"]["0"])
    assert dict(driver.session.state.swaps) == {0: 2}


# -- look -------------------------------------------------------------------------------------------------------------


def test_the_system_theme_is_followed_while_it_is_wanted(make_driver, monkeypatch):
    driver = make_driver("system")
    changed = QGuiApplication.styleHints().colorSchemeChanged
    for name, scheme in (("dark", Qt.ColorScheme.Dark), ("light", Qt.ColorScheme.Light)):
        monkeypatch.setattr(main_window, "system_theme_name", lambda name=name: name)
        changed.emit(scheme)
        assert driver.window.bridge.theme.name == name
    driver.window.set_theme("dark")
    changed.emit(Qt.ColorScheme.Light)
    assert driver.window.bridge.theme.name == "dark"


def test_on_a_dense_screen_everything_is_drawn_with_more_pixels(samples, tmp_path):
    target = tmp_path / "dense.png"
    done = subprocess.run(
        [sys.executable, "-m", "tileview", "screenshot", samples / "pair-8tiles.recipe.json", "-o", target,
         "--size", "900x600"],
        env={**os.environ, "QT_SCALE_FACTOR": "2", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    picture = QImage(str(target))
    assert (picture.width(), picture.height()) == (1800, 1200)
    blocks = [(x, y) for x in range(0, 1800, 10) for y in range(0, 1200, 10)]
    fine = sum(len({picture.pixel(x + dx, y + dy) for dx in (0, 1) for dy in (0, 1)}) > 1 for x, y in blocks)
    assert fine > 500, "a picture blown up to twice its size has blocks of two by two pixels alike"


@pytest.mark.parametrize("name", ["dark", "light"])
def test_a_check_box_can_be_seen_and_shows_the_focus(make_driver, name):
    theme = make_driver(name).window.bridge.theme
    box = QCheckBox("x")
    box.show()

    def strongest() -> tuple[float, QImage]:
        """The contrast of the strongest line of the frame with the ground, left of the text."""
        picture = box.grab().toImage()
        ground = picture.pixelColor(picture.width() - 1, 0)
        inks = [picture.pixelColor(x, y) for x in range(16) for y in range(picture.height())]
        return max(contrast(ink, ground) for ink in inks), picture

    box.clearFocus()
    plain, picture = strongest()
    assert plain >= 3, theme.name
    box.activateWindow()
    box.setFocus(Qt.FocusReason.TabFocusReason)
    QApplication.processEvents()
    focused, other = strongest()
    assert focused >= 3
    assert picture != other
    box.close()


# -- help -------------------------------------------------------------------------------------------------------------


def test_the_reference_begins_with_the_tour_and_shows_its_pictures(driver):
    assert [path.stem for _, path in reference_pages()] == [
        "tour",
        "window",
        "glossary",
        "formats",
        "estimate",
        "placement",
        "command-line",
        "changes",
        "speed",
        "architecture",
    ]
    driver.trigger("reference")
    reference = driver.window.findChild(Reference)
    assert reference.page.toPlainText().startswith("From failed compile to fixed recipe")
    kind = QTextDocument.ResourceType.ImageResource.value
    names = re.findall(r"!\[[^]]*\]\(([^)]+)\)", reference_pages()[0][1].read_text(encoding="utf-8"))
    assert len(names) >= 5
    for name in names:
        picture = reference.page.loadResource(kind, QUrl(name))
        assert isinstance(picture, QImage)
        assert not picture.isNull()
        assert picture.width() / picture.devicePixelRatio() <= 720
    assert reference.page.loadResource(kind, QUrl("file:///etc/hostname")) is None
    assert reference.page.loadResource(kind, QUrl("../../pyproject.toml")) is None
    reference.close()
