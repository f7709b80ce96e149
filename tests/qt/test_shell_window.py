"""The window itself: layout, themes, menus, keys, palette, help, faults, closing."""

from __future__ import annotations

import re
import sys

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QAction, QColor, QKeySequence, QTextDocument
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QDockWidget, QInputDialog, QLineEdit, QTreeView, QWidget

from tileview.qt.base.theme import load_theme
from tileview.qt.views.graph.canvas import GraphCanvas
from tileview.qt.views.kinds import VIEW_KINDS
from tileview.qt.views.tiles.pictures import TileMap
from tileview.qt.views.timeline.plot import CurvePlot
from tileview.qt.widgets.dialogs import ErrorDialog
from tileview.qt.window.faults import FaultHandler, log_path
from tileview.qt.window.help import KeySheet, Reference, action_sections, reference_pages, view_sections
from tileview.qt.window.keyguard import keys_taken
from tileview.qt.window.palette import CommandPalette, GoTo, rank

VIEWS = {
    "address_map",
    "choose",
    "fusions",
    "operations",
    "problems",
    "graph",
    "tiles",
    "alternatives",
    "timeline",
    "allocations",
    "compare",
    "details",
    "whatif",
    "why",
}


# -- docks ------------------------------------------------------------------------------------------------------------


def test_every_view_has_a_dock_that_can_be_closed_and_shown_again(driver, pair):
    driver.open(pair)
    docks = driver.window.docks
    assert set(docks.views) == VIEWS
    for name, view in docks.views.items():
        dock = docks.dock(name)
        toggle = dock.toggleViewAction()
        dock.close()
        assert not toggle.isChecked(), name
        toggle.trigger()
        assert not dock.isHidden(), name
        assert view.accessibleName(), name
        assert docks.show_view(name) is view
        assert view.isVisible(), name


def test_a_view_is_made_when_it_is_looked_at(driver, over):
    """The verdict comes first, then the views in sight; those behind others wait until they are asked for."""
    docks, told = driver.window.docks, []
    driver.window.bridge.estimate_changed.connect(lambda: told.append(set(docks.views.made)))
    assert docks.views.made == {}
    driver.open(over)
    assert told[0] == set()
    driver.qtbot.waitUntil(lambda: not docks.is_busy)
    made = docks.views.made
    assert {name for name, view in made.items() if view.is_in_sight} | {"problems", "why"} == set(made)
    assert {"timeline", "alternatives", "details", "allocations"} <= set(made)
    assert not set(made) & {"compare", "whatif", "address_map", "choose", "fusions"}
    docks.dock("whatif").raise_()
    driver.qtbot.waitUntil(lambda: "whatif" in made)
    assert made["whatif"].is_in_sight
    assert made["whatif"].budget_box.value() == driver.session.timeline.budget_bytes
    assert not docks.views["compare"].is_in_sight


def test_views_are_known_by_the_names_and_titles_that_they_have():
    for kind in VIEW_KINDS:
        assert (kind.load().name, kind.load().title) == (kind.name, kind.title)


def test_the_arrangement_is_kept_and_can_be_reset(make_driver, pair):
    first = make_driver()
    first.open(pair)
    first.window.docks.dock("graph").close()
    first.window.docks.dock("tiles").setFloating(True)
    first.window.close()
    second = make_driver()
    second.open(pair)
    docks = second.window.docks
    assert docks.dock("graph").isHidden()
    assert docks.dock("tiles").isFloating()
    second.trigger("reset_layout")
    assert not docks.dock("graph").isHidden()
    assert not docks.dock("tiles").isFloating()
    assert docks.dock("problems") in docks.tabifiedDockWidgets(docks.dock("operations"))


def test_a_stored_layout_that_is_rubbish_is_ignored(make_driver, state_folder, pair):
    (state_folder / "settings.ini").write_text(
        '[window]\nlayout=@ByteArray(rubbish)\ngeometry="x"\n[files]\nrecent=@Invalid()\n', encoding="utf-8"
    )
    driver = make_driver()
    driver.open(pair)
    assert all(dock.isVisibleTo(driver.window.docks) for dock in driver.window.docks.findChildren(QDockWidget))


@pytest.mark.parametrize("size", [(1280, 800), (2560, 1440), (640, 400)])
def test_the_window_takes_any_size(driver, pair, size):
    driver.open(pair)
    driver.window.resize(*size)
    QApplication.processEvents()
    assert driver.window.width() <= max(size[0], 1280)
    assert driver.window.grab().size() == driver.window.size()


def test_a_very_long_verdict_wraps_and_shows_names_as_they_are(driver):
    text = driver.window.verdict.says
    text.show_pieces([("vit.encoder.<b>layer</b> " * 40, "")])
    assert "<b>layer" in text.plain()
    assert "&lt;b&gt;layer" in text.text()
    assert text.heightForWidth(500) > 3 * text.fontMetrics().height()
    assert driver.window.minimumSizeHint().width() <= 1280


# -- themes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["dark", "light"])
def test_a_theme_reaches_every_widget_and_is_remembered(make_driver, pair, name):
    driver = make_driver(theme="light" if name == "dark" else "dark")
    driver.open(pair)
    driver.window.set_theme(name)
    theme = load_theme(name)
    assert driver.window.settings.theme == name
    assert driver.window.palette().window().color() == QColor(theme.surface)
    picture = driver.window.grab().toImage()
    corner = picture.pixelColor(picture.width() // 2, 2)
    assert corner.lightness() < 100 if name == "dark" else corner.lightness() > 150
    driver.window.close()
    assert make_driver(theme=name).window.bridge.theme.name == name


def luminance(color: QColor) -> float:
    parts = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in color.getRgbF()[:3]]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


@pytest.mark.parametrize("name", ["dark", "light"])
@pytest.mark.parametrize("token", ["text", "muted", "ok", "over", "warning", "unavailable", "accent"])
def test_texts_stand_out_from_their_ground(name, token):
    theme = load_theme(name)
    for ground in (theme.background, theme.surface):
        pair = sorted((luminance(QColor(getattr(theme, token))), luminance(QColor(ground))))
        assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 4.5


# -- keys and commands ------------------------------------------------------------------------------------------------


def press(widget: QWidget, key: str) -> None:
    sequence = QKeySequence(key)[0]
    QTest.keyClick(widget, sequence.key(), sequence.keyboardModifiers())


def test_steps_peaks_and_over_budget_steps_by_key(driver, over):
    driver.open(over)
    window, session = driver.window, driver.session
    window.activateWindow()
    window.setFocus()
    timeline = session.timeline
    last = len(timeline.steps) - 1
    for key, expected in (
        ("Home", 0),
        ("Right", 1),
        ("Shift+Right", 11),
        ("Left", 10),
        ("Shift+Left", 0),
        ("Left", 0),
        ("End", last),
        ("Right", last),
        ("P", timeline.total_peak_step),
        ("S", timeline.standard_peak_step),
        ("I", timeline.interleaved_peak_step),
    ):
        press(window, key)
        assert session.selection.step == expected, key
        if key in ("S", "I"):
            figures = timeline.tiles.usage(expected)[:, "SI".index(key)].tolist()
            assert session.selection.tile == max(range(len(figures)), key=lambda tile: (figures[tile], tile))
    worst = timeline.tiles.worst()
    over_steps = [
        step for step in range(last + 1) if int(worst[step, 2]) + timeline.reserve_bytes > timeline.budget_bytes
    ]
    press(window, "Home")
    visited = []
    for _ in over_steps:
        press(window, "N")
        visited.append(session.selection.step)
    assert visited == over_steps
    press(window, "N")
    assert session.selection.step == over_steps[-1]
    press(window, "B")
    assert session.selection.step == over_steps[-2]
    assert session.selection.tile == int(worst[over_steps[-2], 3])


def test_a_tree_keeps_the_keys_that_fold_it(driver, vit3):
    driver.open(vit3)
    view = driver.window.docks.show_view("operations")
    tree = view.findChild(QTreeView)
    driver.window.activateWindow()
    tree.setFocus()
    tree.setCurrentIndex(tree.model().index(0, 0))
    model = tree.model()
    parent = next(row for row in range(model.rowCount()) if model.hasChildren(model.index(row, 0)))
    tree.setCurrentIndex(model.index(parent, 0))
    tree.expand(model.index(parent, 0))
    step = driver.session.selection.step
    press(tree, "Left")
    assert not tree.isExpanded(tree.model().index(parent, 0))
    press(tree, "Right")
    assert tree.isExpanded(tree.model().index(parent, 0))
    assert driver.session.selection.step == step


def test_in_a_flat_table_the_arrows_step(driver, vit3):
    driver.open(vit3)
    view = driver.window.docks.show_view("allocations")
    table = view.findChild(QTreeView)
    driver.window.activateWindow()
    table.setFocus()
    table.setCurrentIndex(table.model().index(0, 0))
    driver.session.select_step(5)
    press(table, "Right")
    assert driver.session.selection.step == 6


def test_a_state_is_pinned_under_a_name(driver, pair, monkeypatch):
    driver.open(pair)
    monkeypatch.setattr(QInputDialog, "getText", lambda *words: ("before lunch", True))
    driver.trigger("pin")
    monkeypatch.setattr(QInputDialog, "getText", lambda *words: ("", False))
    driver.trigger("pin")
    assert [pin.name for pin in driver.session.pins] == ["before lunch"]


def test_typing_into_a_field_is_no_command(driver, vit3):
    driver.open(vit3)
    view = driver.window.docks.show_view("operations")
    field = view.findChild(QLineEdit)
    driver.window.activateWindow()
    field.setFocus()
    step = driver.session.selection.step
    QTest.keyClicks(field, "psinb0f?")
    assert field.text() == "psinb0f?"
    press(field, "Home")
    press(field, "Right")
    assert driver.session.selection.step == step


def test_no_key_is_ambiguous_wherever_the_focus_is(driver, vit3):
    driver.open(vit3)
    window = driver.window
    window.activateWindow()
    everything = [action for _, action in window.all_actions()]
    for view in window.docks.views.values():
        window.docks.show_view(view.name)
        for widget in view.findChildren(QWidget):
            if widget.focusPolicy() == Qt.FocusPolicy.NoFocus or not widget.isVisible():
                continue
            widget.setFocus()
            taken = keys_taken(widget)
            for action in everything:
                if action.shortcutContext() is Qt.ShortcutContext.WindowShortcut:
                    clash = [key.toString() for key in action.shortcuts() if key in taken]
                    assert not clash, f"{view.name}: {action.text()} {clash}"


def test_no_two_commands_share_a_key(driver):
    keys: dict[str, str] = {}
    for command in driver.window.commands.commands():
        for key in command.keys:
            text = QKeySequence(key).toString()
            assert text, f"{command.name}: {key} is no key"
            assert keys.setdefault(text, command.name) == command.name


def test_the_promised_keys_are_there(driver):
    promised = {
        "Right": "step_next",
        "Left": "step_previous",
        "Shift+Right": "step_leap",
        "Shift+Left": "step_leap_back",
        "Home": "step_first",
        "End": "step_last",
        "P": "peak_total",
        "S": "peak_standard",
        "I": "peak_interleaved",
        "N": "over_next",
        "B": "over_previous",
        "F": "centre",
        "0": "fit",
        "Ctrl+F": "find",
        "Ctrl+G": "go_to",
        "Ctrl+Z": "undo",
        "Ctrl+Shift+Z": "redo",
        "Ctrl+E": "export_recipe",
        "Ctrl+Shift+P": "commands",
        "?": "key_sheet",
    }
    for key, name in promised.items():
        assert key in driver.window.commands.command(name).keys


def test_the_palette_lists_every_action_and_runs_one(driver, over):
    driver.open(over)
    driver.window.tools.show_palette()
    palette = driver.window.findChild(CommandPalette)
    listed = [palette.list.item(row).text() for row in range(palette.list.count())]
    docks = driver.window.docks.toggle_actions()
    for _, action in driver.window.all_actions():
        plain = action.text().replace("&", "")
        plain = f"Show or hide {plain}" if action in docks else plain
        assert any(line.startswith(plain) for line in listed), plain
    QTest.keyClicks(palette.line, "last step")
    QTest.keyClick(palette.line, Qt.Key.Key_Return)
    assert driver.session.selection.step == len(driver.session.timeline.steps) - 1


def test_the_name_of_a_view_goes_to_it_and_does_not_take_it_away(driver, over):
    driver.open(over)
    for name, view in driver.window.docks.views.items():
        driver.window.tools.show_palette()
        palette = driver.window.findChildren(CommandPalette)[-1]
        QTest.keyClicks(palette.line, view.title)
        QTest.keyClick(palette.line, Qt.Key.Key_Return)
        assert not driver.window.docks.dock(name).isHidden(), name
        assert driver.window.docks.current_view() is view, name


def test_what_is_opened_can_be_stepped_through_at_once(driver, over):
    driver.window.activateWindow()
    driver.open(over)
    driver.qtbot.waitUntil(lambda: QApplication.focusWidget() is driver.window.docks.views["timeline"].plot)
    for key, step in ((Qt.Key.Key_Left, 68), (Qt.Key.Key_Home, 0), (Qt.Key.Key_Right, 1), (Qt.Key.Key_End, 164)):
        QTest.keyClick(QApplication.focusWidget(), key)
        assert driver.session.selection.step == step


def test_tab_reaches_everything_that_is_seen_and_takes_input(driver, over):
    """By the key itself: a focus proxy would be jumped to, past what stands before it."""
    window = driver.window
    window.activateWindow()
    driver.open(over)
    start = window.docks.views["timeline"].plot
    driver.qtbot.waitUntil(lambda: QApplication.focusWidget() is start and len(driver.views()) == 14)
    reached, widget = set(), start
    frame = window.bridge.theme.color("accent").name()
    for _ in range(200):
        reached.add(widget)
        if isinstance(widget, TileMap | CurvePlot | GraphCanvas):
            # Pictures say by a frame that they have the keys, and only then.
            assert widget.grab().toImage().pixelColor(0, widget.height() // 2).name() == frame
            assert widget is start or start.grab().toImage().pixelColor(0, start.height() // 2).name() != frame
        QTest.keyClick(widget, Qt.Key.Key_Tab)
        widget = QApplication.focusWidget()
        if widget is start:
            break
    assert widget is start
    missing = [
        f"{type(one).__name__} {one.accessibleName()}"
        for one in window.findChildren(QWidget)
        if one.focusPolicy() & Qt.FocusPolicy.TabFocus
        and one.isEnabled()
        and one.focusProxy() is None
        and one.window() is window
        and not one.visibleRegion().isEmpty()
        and one not in reached
    ]
    assert missing == []
    views = window.docks.views.values()
    behind = [view.name for view in views if not view.is_in_sight and any(view.isAncestorOf(one) for one in reached)]
    assert behind == []
    silent = [one for one in reached if not one.accessibleName() and not str(one.property("text") or "").strip()]
    assert silent == []


def test_rank_prefers_words_over_letters():
    assert rank("xyz", "Export recipe") is None
    assert rank("er", "Export recipe") is not None
    assert rank("recipe", "Export recipe") < rank("erci", "Export recipe")


@pytest.mark.parametrize(
    ("typed", "attribute", "value"),
    [("op 4", "operation", 4), ("step 12", "step", 12), ("tile 7", "tile", 7), ("L7", "tile", 7), ("s3", "step", 3)],
)
def test_go_to_by_number(driver, vit3, typed, attribute, value):
    driver.open(vit3)
    driver.trigger("go_to")
    asked = driver.window.findChild(GoTo)
    QTest.keyClicks(asked.line, typed)
    QTest.keyClick(asked.line, Qt.Key.Key_Return)
    assert getattr(driver.session.selection, attribute) == value


def test_go_to_something_that_is_not_there_offers_nothing(driver, vit3):
    driver.open(vit3)
    driver.trigger("go_to")
    asked = driver.window.findChild(GoTo)
    QTest.keyClicks(asked.line, "tile 64")
    assert asked.list.count() == 0
    asked.close()


# -- help -------------------------------------------------------------------------------------------------------------


def test_the_key_sheet_shows_all_keys_and_filters(driver):
    driver.window.tools.show_keys()
    sheet = driver.window.findChild(KeySheet)
    titles = [sheet.tree.topLevelItem(row).text(0) for row in range(sheet.tree.topLevelItemCount())]
    assert {"File", "Edit", "Go", "Help"} <= set(titles)
    sheet.search.setText("total")
    shown = [
        sheet.tree.topLevelItem(row).child(line).text(1)
        for row in range(sheet.tree.topLevelItemCount())
        for line in range(sheet.tree.topLevelItem(row).childCount())
        if not sheet.tree.topLevelItem(row).child(line).isHidden()
    ]
    assert shown
    assert all("total" in text.lower() for text in shown)
    sheet.close()


def test_every_key_section_is_well_formed(driver):
    for title, lines in [*view_sections(), *action_sections(driver.window.commands)]:
        assert title
        assert lines
        assert all(keys and text for keys, text in lines)


def test_the_reference_shows_every_page(driver):
    driver.window.tools.show_reference("glossary")
    reference = driver.window.findChild(Reference)
    pages = reference_pages()
    assert {path.stem for _, path in pages} >= {"formats", "estimate", "glossary"}
    assert reference.page.toPlainText().startswith("Glossary")
    for row in range(len(pages)):
        reference.list.setCurrentRow(row)
        assert len(reference.page.toPlainText()) > 200
    reference.search.setText("byte")
    assert reference.page.textCursor().selectedText().lower() == "byte"
    reference.close()


def test_about_names_versions(driver):
    driver.trigger("about")
    dialog = next(one for one in driver.window.children() if one.objectName() == "about")
    text = " ".join(label.text() for label in dialog.findChildren(QWidget) if hasattr(label, "text"))
    assert "PySide6" in text
    assert "TileView" in text
    copy = next(button for button in dialog.findChildren(QAbstractButton) if button.text() == "&Copy")
    copy.click()
    lines = QApplication.clipboard().text().splitlines()
    names = [line.split(" ")[0] for line in lines]
    assert names[:7] == ["TileView", "Python", "Qt", "PySide6", "NumPy", "System", "networkx"]
    assert lines[-4:] == [
        "Reads search states of version 6, 7, 8",
        "Reads memory timelines of version 1, 2, 3",
        "Reads tile dumps of version 1",
        "Reads placement profiles of version 1",
    ]
    dialog.close()


# -- faults -----------------------------------------------------------------------------------------------------------


def test_a_fault_in_a_slot_becomes_a_dialog_and_the_window_lives_on(driver, pair, qtbot):
    driver.open(pair)
    faults = FaultHandler()
    hook = sys.excepthook
    try:
        action = QAction(driver.window)
        action.triggered.connect(lambda: 1 // 0)
        driver.window.activateWindow()
        with qtbot.capture_exceptions():
            sys.excepthook = hook
            action.trigger()
            action.trigger()
        dialog = driver.window.findChild(ErrorDialog)
        # Enter closes it, whatever else it offers.
        assert dialog.focusWidget().text().replace("&", "") == "Close"
        assert "ZeroDivisionError" in dialog.text()
        assert "1 more since" in dialog.label.text()
        dialog.copy.click()
        assert "Traceback" in QApplication.clipboard().text()
        assert "ZeroDivisionError" in log_path().read_text(encoding="utf-8")
        dialog.close()
        driver.session.select_step(0)
        assert driver.session.selection.step == 0
    finally:
        faults.close()


# -- views ------------------------------------------------------------------------------------------------------------


def test_the_summary_is_markdown_with_the_figures(driver, over):
    driver.open(over)
    driver.trigger("copy_summary")
    text = QApplication.clipboard().text()
    assert text.startswith("## so400m-over.recipe.json: does not fit")
    assert "| total peak | 568,312 B |" in text
    assert "| reserve | 49,152 B |" in text


def test_pictures_of_the_reference_are_no_wider_than_its_page(driver, qtbot):
    driver.window.tools.show_reference("tour")
    dialog = driver.window.findChild(Reference)
    kind = QTextDocument.ResourceType.ImageResource.value
    seen = []
    for width in (900, 500, 1400):
        dialog.resize(width, 500)
        QApplication.processEvents()
        room = dialog.page.viewport().width()
        names = re.findall(r'<img src="([^"]+)"', dialog.page.toHtml())
        assert names
        for name in names:
            picture = dialog.page.document().resource(kind, QUrl(name))
            assert 200 <= picture.width() <= room, width
        seen.append(picture.width())
    assert seen[1] < seen[0] < seen[2] == 720
    # Narrow, a word of code may be wider than the page; at the dialog's own width nothing is.
    dialog.resize(1100, 500)
    for row in range(dialog.list.count()):
        dialog.list.setCurrentRow(row)
        QApplication.processEvents()
        assert dialog.page.horizontalScrollBar().maximum() == 0, dialog.list.item(row).text()
    dialog.close()
