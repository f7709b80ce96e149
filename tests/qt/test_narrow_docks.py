"""Tables in narrow docks: what matters most is seen without scrolling, the rest gives way or lies further right."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt

from tests.helpers.opened import opened
from tests.helpers.views import stage
from tileview.present.operation_rows import OPERATIONS
from tileview.present.step_rows import StepColumn
from tileview.qt.base.theme import load_theme
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.views.graph.controls import StepsList
from tileview.qt.views.operations import OperationsView


@pytest.mark.parametrize("width", [240, 300, 420])
def test_operations_show_kind_share_and_plan(qtbot, width: int) -> None:
    shown = stage(OperationsView, qtbot, "so400m-over.recipe.json", (width, 400))
    tree, model = shown.view.tree, shown.view.model
    room = tree.viewport().width()
    row = model.find(21)
    columns = (
        OPERATIONS.place("Op"),
        OPERATIONS.place("Kind"),
        OPERATIONS.place("Share"),
        OPERATIONS.place("Current plan"),
    )
    tree.horizontalScrollBar().setValue(0)
    for column in columns[: 3 if width < 300 else 4]:
        box = tree.visualRect(row.siblingAtColumn(column))
        assert 0 <= box.left() < box.right() <= room, column
    # What the plan's column cannot show, its tip does; figures are never cut.
    plan = row.siblingAtColumn(OPERATIONS.place("Current plan"))
    assert model.data(plan, Qt.ItemDataRole.ToolTipRole) == model.row(row).plan
    share = row.siblingAtColumn(OPERATIONS.place("Share"))
    assert tree.fontMetrics().horizontalAdvance(model.data(share)) <= tree.visualRect(share).width()


def test_a_wide_dock_gives_the_plan_what_is_left(qtbot) -> None:
    shown = stage(OperationsView, qtbot, "so400m-over.recipe.json", (900, 400))
    tree = shown.view.tree
    assert tree.horizontalScrollBar().maximum() == 0
    assert tree.columnWidth(OPERATIONS.place("Current plan")) > 200


@pytest.fixture
def steps(qtbot):
    session = opened("vit3-64tiles.v3.timeline.json")
    bridge = SessionSignals(session, load_theme("light"))
    made = StepsList(bridge)
    qtbot.addWidget(made)
    made.resize(400, 240)
    made.show_timeline(session.timeline)
    made.show()
    qtbot.waitExposed(made)
    yield made
    bridge.close()


def test_steps_show_their_text_and_the_worst_tile(steps) -> None:
    table, room = steps.table, steps.table.viewport().width()
    row = steps.model.index(0, 0)
    for column in (StepColumn.STEP, StepColumn.OPERATION, StepColumn.TEXT, StepColumn.TOTAL, StepColumn.SHARE):
        box = table.visualRect(row.siblingAtColumn(column))
        assert 0 <= box.left() < box.right() <= room, column
    total = row.siblingAtColumn(StepColumn.TOTAL)
    assert table.fontMetrics().horizontalAdvance(total.data()) <= table.visualRect(total).width()


def test_a_brushed_range_filters_the_steps(steps) -> None:
    session = steps.bridge.session
    count = steps.model.rowCount()
    assert count == len(session.timeline.steps)
    session.select(replace(session.selection, span=(20, 30)))
    steps.show_selection()
    assert [steps.model.key(index) for index in steps.model.indexes()] == list(range(20, 30))
    assert steps.note.text().endswith("10 of steps 20 … 29 shown.")
    steps.search.setText("product")
    wanted = [step.index for step in session.timeline.steps[20:30] if "product" in step.operation.lower()]
    assert [steps.model.key(index) for index in steps.model.indexes()] == wanted
    steps.search.clear()
    session.select(replace(session.selection, span=None))
    steps.show_selection()
    assert steps.model.rowCount() == count
