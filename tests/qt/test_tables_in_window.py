"""All tables in the real window: models under Qt's tester through every kind of change, keys, CSV, names."""

from __future__ import annotations

import csv
import io

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QWidget,
)

from tileview.model.recipe import Overrides
from tileview.present.step_rows import StepSpec, step_nodes
from tileview.qt.widgets.node_model import NodeModel
from tileview.qt.widgets.node_view import NodeView

TABLES = ("operations", "problems", "alternatives", "allocations", "compare")


class Watch:
    """Every table's model of a window under the tester, and how often each was reset."""

    def __init__(self, window) -> None:
        views = [window.docks.views[name] for name in TABLES]  # made now, where nobody has looked at them yet
        self.models = [model for view in views for model in view.findChildren(NodeModel)]
        assert len(self.models) >= len(TABLES)
        mode = QAbstractItemModelTester.FailureReportingMode.Fatal
        self.testers = [QAbstractItemModelTester(model, mode, model) for model in self.models]
        self.resets: list[str] = []
        for model in self.models:
            model.modelReset.connect(self._note)

    def _note(self) -> None:
        self.resets.append("reset")


def tree_of(driver, name: str) -> NodeView:
    """The table of a view, brought to the front."""
    view = driver.window.docks.show_view(name)
    driver.qtbot.waitUntil(lambda: view.is_in_sight, timeout=5000)
    return view.tree


def go_through(driver) -> None:
    """Change everything that tables follow."""
    session = driver.session
    for name in TABLES:
        tree_of(driver, name).expandAll()
    for step in (0, 3, 40, 69, 164, 20):
        session.select_step(step)
        driver.qtbot.wait(5)
    for operation in (21, 24, 0, 18, 21):
        session.select_operation(operation)
    session.select_tiles((5, 700))
    session.select_allocation(session.timeline.steps[20].live[-1])
    session.swap(21, 0)
    driver.settle()
    session.pin_current("smaller grid")
    session.swap(18, 1)
    driver.settle()
    session.set_baseline(session.pins[0])
    driver.trigger("undo")
    driver.settle()
    driver.trigger("undo")
    driver.settle()
    driver.trigger("redo")
    driver.settle()
    session.set_overrides(Overrides(500_000, 1_000))
    driver.settle()
    driver.trigger("undo")
    driver.trigger("undo")
    driver.settle()
    session.remove_pin(0)


def test_no_change_resets_a_model_but_another_document(driver, over, pair) -> None:
    driver.open(over)
    watch = Watch(driver.window)
    go_through(driver)
    assert watch.resets == []
    driver.open(pair)
    assert watch.resets


def test_sorting_filtering_and_grouping_pass_the_tester(driver, vit3) -> None:
    driver.open(vit3)
    driver.session.set_overrides(Overrides(50_000, None))  # so that there is something to list among the problems
    driver.settle()
    watch = Watch(driver.window)
    driver.session.select_operation(0)
    assert driver.session.selection.step
    assert all(tree_of(driver, name).nodes.rowCount() > 1 for name in TABLES)
    for name in TABLES:
        tree = tree_of(driver, name)
        for column in range(tree.nodes.columnCount()):
            for order in (Qt.SortOrder.DescendingOrder, Qt.SortOrder.AscendingOrder):
                tree.sort_by(column, order)
        driver.session.select_step(driver.session.selection.step - 1)
        tree.sort_by(-1)
        box = getattr(driver.window.docks.views[name], "filter_box", None)
        for text in ("e", "gemm", "no such thing", "") if box is not None else ():
            box.setText(text)
    allocations = driver.window.docks.views["allocations"]
    for grouped in (True, False, True):
        allocations.group_box.setChecked(grouped)
        driver.session.select_step(20)
        driver.session.select_step(69)
    assert watch.resets == []


@pytest.mark.parametrize("name", ["operations", "allocations", "alternatives", "problems", "compare"])
def test_home_end_and_arrows_move_in_the_table_that_has_the_focus(driver, over, name) -> None:
    driver.open(over)
    driver.session.select_operation(21)
    driver.session.swap(21, 0)
    driver.settle()
    tree = tree_of(driver, name)
    tree.expandAll()
    tree.setFocus(Qt.FocusReason.TabFocusReason)
    driver.window.activateWindow()
    driver.qtbot.waitUntil(tree.hasFocus, timeout=5000)
    rows = list(tree.nodes.indexes())
    assert len(rows) > 2
    tree.selectionModel().setCurrentIndex(rows[1], QItemSelectionModel.SelectionFlag.ClearAndSelect)
    step = driver.session.selection.step
    QTest.keyClick(tree, Qt.Key.Key_End)
    assert tree.nodes.key(tree.currentIndex()) == tree.nodes.key(rows[-1])
    QTest.keyClick(tree, Qt.Key.Key_Up)
    assert tree.nodes.key(tree.currentIndex()) == tree.nodes.key(rows[-2])
    QTest.keyClick(tree, Qt.Key.Key_Home)
    assert tree.nodes.key(tree.currentIndex()) == tree.nodes.key(rows[0])
    QTest.keyClick(tree, Qt.Key.Key_Down)
    assert tree.nodes.key(tree.currentIndex()) == tree.nodes.key(rows[1])
    if name in ("operations", "allocations", "alternatives"):
        assert driver.session.selection.step == step


def test_arrows_fold_a_tree_and_step_from_a_flat_row(driver, over) -> None:
    driver.open(over)
    tree = tree_of(driver, "operations")
    driver.window.activateWindow()
    tree.setFocus(Qt.FocusReason.TabFocusReason)
    driver.qtbot.waitUntil(tree.hasFocus, timeout=5000)
    repeat = tree.nodes.find(24)
    tree.show_current(24)
    tree.expand(repeat)
    step = driver.session.selection.step
    QTest.keyClick(tree, Qt.Key.Key_Left)
    assert not tree.isExpanded(repeat)
    QTest.keyClick(tree, Qt.Key.Key_Right)
    assert tree.isExpanded(repeat)
    assert driver.session.selection.step == step
    tree.show_current(0)
    QTest.keyClick(tree, Qt.Key.Key_Right)
    assert driver.session.selection.step == step + 1


def test_every_table_gives_csv_with_a_line_a_row(driver, over) -> None:
    driver.open(over)
    driver.session.select_operation(21)
    for name in TABLES:
        tree = tree_of(driver, name)
        text = driver.window.docks.views[name].table_csv()
        lines = list(csv.reader(io.StringIO(text)))
        columns = tree.nodes.spec.header()
        assert lines[0] == columns
        assert len(lines) == 1 + sum(tree.nodes.spec.is_exported(tree.nodes.row(one)) for one in tree.nodes.indexes())
        assert all(len(line) == len(columns) for line in lines)


def test_copied_rows_are_lines_with_tabs_under_the_header(driver, over) -> None:
    driver.open(over)
    driver.session.select_operation(21)
    driver.window.activateWindow()
    for name in TABLES:
        tree = tree_of(driver, name)
        tree.expandAll()
        tree.setFocus(Qt.FocusReason.TabFocusReason)
        driver.qtbot.waitUntil(tree.hasFocus, timeout=5000)
        QTest.keyClick(tree, Qt.Key.Key_Home)
        QTest.keyClick(tree, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
        QTest.keyClick(tree, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
        lines = QGuiApplication.clipboard().text().split("\n")
        rows = tree.selected_rows()
        assert len(lines) == 1 + len(rows)
        assert lines[0].split("\t") == tree.nodes.spec.header()
        assert all(line.count("\t") == lines[0].count("\t") for line in lines)


def test_every_control_of_the_tables_is_named_and_reached_by_tab(driver, over) -> None:
    driver.open(over)
    driver.session.select_operation(21)
    for name in (*TABLES, "details", "whatif"):
        view = driver.window.docks.views[name]
        assert view.accessibleName() == view.title
        controls = [
            child
            for kind in (QAbstractButton, QAbstractItemView, QAbstractSlider, QAbstractSpinBox, QComboBox, QLineEdit)
            for child in view.findChildren(kind)
            if is_control(child, view)
        ]
        assert controls
        assert all(tree.accessibleDescription() for tree in view.findChildren(NodeView))
        for control in controls:
            said = control.accessibleName() or getattr(control, "text", str)()
            assert said, f"{name}: {type(control).__name__} {control.objectName()} is not named"
            assert control.focusPolicy() & Qt.FocusPolicy.TabFocus, f"{name}: {said}"


def is_control(widget: QWidget, view: QWidget) -> bool:
    """Whether a widget is one that a user meets: not a part of another (a header, a scroll bar, a clear button)."""
    around = widget.parentWidget()
    while around is not None and around is not view:
        if isinstance(around, QAbstractItemView | QAbstractSpinBox | QComboBox | QLineEdit | QAbstractSlider):
            return False
        around = around.parentWidget()
    return not widget.objectName().startswith("qt_") and type(widget).__name__ not in ("QScrollBar", "QHeaderView")


@pytest.mark.parametrize(("step", "is_at_top"), [(8, True), (140, False)])
def test_a_table_filled_before_it_is_seen_scrolls_no_further_than_its_row_asks(driver, vit3, step, is_at_top) -> None:
    driver.open(vit3)
    model = NodeModel(StepSpec(), driver.window.bridge.theme, driver.window)
    tree = NodeView(model, "Steps")
    driver.qtbot.addWidget(tree)
    tree.resize(300, 40)  # as before it is laid out
    model.set_nodes(step_nodes(driver.session.timeline))
    assert tree.show_current(step)
    tree.resize(600, 600)
    tree.show()
    driver.qtbot.waitExposed(tree)
    driver.qtbot.waitUntil(lambda: tree.viewport().rect().contains(tree.visualRect(tree.currentIndex()).center()))
    assert tree.current_key() == step
    assert (tree.verticalScrollBar().value() == 0) is is_at_top
