"""Every view shows an operation in one colour, that of its place among those that make most bytes."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor

from tests.helpers.opened import estimate, opened
from tests.helpers.views import stage
from tileview.analysis.diagnosis import Diagnosis
from tileview.analysis.overflows import overflows
from tileview.model.timeline import Cause
from tileview.present.operation_colours import operation_colours
from tileview.present.why_parts import why_overflow
from tileview.qt.base.theme import load_theme
from tileview.qt.views.allocations import AllocationsView
from tileview.qt.views.operations import OperationsView
from tileview.qt.views.timeline.data import layer_brushes
from tileview.qt.views.timeline.view import TimelineView
from tileview.qt.views.why import page

OVER = "so400m-over.recipe.json"
FIRST = (21, 4)
"""The operations at fault in the sample, the one that makes more first."""
OKABE_ITO = ["#0072b2", "#e69f00", "#009e73", "#56b4e9", "#f0e442", "#cc79a7"]


def test_the_categories_are_those_of_okabe_and_ito() -> None:
    assert list(load_theme("light").categories[:6]) == OKABE_ITO


def test_the_timeline_stacks_in_the_operations_colours(qtbot) -> None:
    shown = stage(TimelineView, qtbot, OVER)
    qtbot.waitUntil(lambda: bool(shown.view.data.layers))
    layers = shown.view.data.layers
    brushes = layer_brushes(load_theme("light"), layers)
    drawn = {one.operation: brush.color().name() for one, brush in zip(layers, brushes, strict=True)}
    assert [drawn[one] for one in FIRST] == OKABE_ITO[:2]
    places = shown.bridge.colours()
    assert {one: OKABE_ITO[place] for one, place in places.items()} == {
        one: color for one, color in drawn.items() if one is not None
    }


@pytest.mark.parametrize("view", [AllocationsView, OperationsView])
def test_tables_have_a_swatch_in_the_operations_colour(qtbot, view) -> None:
    shown = stage(view, qtbot, OVER)
    model = shown.view.model
    found = {}
    for index in model.indexes():
        row = model.row(index)
        operation = row.maker if view is AllocationsView else row.operation
        found.setdefault(operation, model.data(index, Qt.ItemDataRole.DecorationRole))
    assert found[21] == QColor(OKABE_ITO[0])
    if view is AllocationsView:
        assert found[None] == QColor(load_theme("light").border)
    else:
        assert found[4] == QColor(OKABE_ITO[1])


def test_why_draws_each_overflow_in_the_colour_of_its_operation() -> None:
    session = opened(OVER)
    estimate(session)
    timeline = session.timeline
    found = [why_overflow(timeline, one) for one in overflows(timeline)]
    said = Diagnosis(Cause.TOTAL, False, "over", (), (), "")
    text = page(said, {}, load_theme("light"), found, operation_colours(timeline))
    first, _, second = text.partition("Step 20")
    assert OKABE_ITO[0] in first
    assert OKABE_ITO[1] not in first
    assert OKABE_ITO[1] in second
    assert OKABE_ITO[0] not in second
