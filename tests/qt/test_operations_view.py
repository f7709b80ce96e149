"""The tree of operations: regions, words, shares, marks, and its part in the one selection."""

from __future__ import annotations

import pytest

from tests.helpers.views import Stage, stage
from tileview.qt.views.operations import OperationsView


@pytest.fixture
def shown(qtbot) -> Stage:
    return stage(OperationsView, qtbot, "so400m-over.recipe.json")


def test_operations_by_region(shown: Stage) -> None:
    repeat = shown.view.model.find(24)
    assert shown.view.model.data(repeat.siblingAtColumn(1)) == "Repeat × 27"
    assert shown.view.model.rowCount(repeat) == 21
    assert shown.view.tree.isExpanded(repeat)
    body = shown.view.model.find(21)
    assert shown.view.model.parent(body) == repeat
    assert shown.view.model.data(body.siblingAtColumn(3)).startswith("grid 8 × 36 × 5")


def test_shares_follow_the_selected_step_and_tile(shown: Stage) -> None:
    timeline = shown.session.timeline
    assert timeline is not None
    for step, tile in ((69, None), (20, 3)):
        shown.session.select_step(step)
        shown.session.select_tiles(() if tile is None else (tile,))
        tops = [shown.view.model.row(shown.view.model.index(row, 0)) for row in range(shown.view.model.rowCount())]
        at = int(timeline.tiles.worst()[step, 3]) if tile is None else tile
        assert sum(row.bytes for row in tops) == int(timeline.tiles.usage(step)[at].sum())


def test_a_click_selects_and_the_selection_moves_the_row(shown: Stage) -> None:
    shown.click(shown.view.model.find(14))
    assert shown.session.selection.operation == 14
    shown.session.select_operation(21)
    assert shown.view.tree.current_key() == 21


def test_a_collapsed_repeat_opens_for_what_is_selected_in_it(shown: Stage) -> None:
    shown.view.tree.collapse(shown.view.model.find(24))
    shown.session.select_operation(21)
    assert shown.view.tree.isExpanded(shown.view.model.find(24))


def test_a_swap_is_marked_and_undone(shown: Stage) -> None:
    shown.session.swap(21, 0)
    shown.estimate()
    plan = shown.view.model.find(21).siblingAtColumn(3)
    assert shown.view.model.data(plan).startswith("* grid 8 × 18 × 9")
    shown.session.undo()
    assert shown.view.model.data(plan).startswith("grid 8 × 36 × 5")


def test_filtering(shown: Stage, qtbot) -> None:
    qtbot.keyClicks(shown.view.filter_box, "gelu")
    kinds = shown.texts(1)
    assert set(kinds) == {"Repeat × 27", "Gelu"}


def test_a_timeline_alone_shows_its_operations_and_steps(qtbot) -> None:
    shown = stage(OperationsView, qtbot, "rejected-op0.timeline.json")
    assert shown.view.note.text().startswith("Operations that the steps name")
    assert shown.texts(1) == ["Convert, Copy, Gemm, Sum", "Step 0", "Step 1", "Step 2", "Step 3"]
    shown.click(shown.view.model.find(("step", 2)))
    assert shown.session.selection.step == 2
    shown.click(shown.view.model.find(("source", 0)))
    assert shown.session.selection.operation == 0


def test_a_long_timeline_shows_its_operations_first_and_the_steps_of_what_is_looked_for(qtbot) -> None:
    shown = stage(OperationsView, qtbot, "vit3-64tiles.v3.timeline.json")
    tops = [shown.view.model.index(row, 0) for row in range(shown.view.model.rowCount())]
    assert not any(map(shown.view.tree.isExpanded, tops))
    assert sum(shown.view.model.rowCount(top) for top in tops) == len(shown.session.timeline.steps)
    shown.view.filter_box.setText("AttentionSoftmax")
    tops = [shown.view.model.index(row, 0) for row in range(shown.view.model.rowCount())]
    assert tops
    assert all(map(shown.view.tree.isExpanded, tops))


def test_csv_has_every_operation(shown: Stage) -> None:
    recipe = shown.session.recipe
    assert recipe is not None
    lines = shown.view.table_csv().strip().split("\r\n")
    count = len(list(recipe.graph.walk()))
    assert len(lines) == 1 + count + 1  # header, operations, the row of the inputs


def test_another_document_starts_anew(shown: Stage) -> None:
    from tests.helpers.opened import opened

    opened("rejected-op0.timeline.json", shown.session)
    assert shown.texts(1)[0] == "Convert, Copy, Gemm, Sum"
    shown.session.open(None)
    assert shown.texts() == []
    assert shown.view.note.text() == "Nothing open"


def test_the_window_s_search_goes_to_the_filter(shown: Stage, qtbot) -> None:
    shown.view.activateWindow()
    shown.view.find_operation()
    qtbot.waitUntil(shown.view.filter_box.hasFocus, timeout=2000)
    shown.session.select_operation(0)
    shown.view.centre_selection()
