"""The tree of operations: regions, words, shares, marks, and its part in the one selection."""

from __future__ import annotations

import csv
from dataclasses import replace

import pytest

from tests.helpers.opened import document, estimate, opened
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


def test_what_is_counted_is_said_below(shown: Stage) -> None:
    words = shown.view.footer.text()
    assert words.startswith("568,312 B: ")
    assert words.endswith(" % parameters read")
    assert "the parameters and inputs it reads" in shown.view.footer.toolTip()
    assert "as in the graph" in shown.view.footer.toolTip()


def test_a_brushed_range_keeps_what_runs_in_it(shown: Stage) -> None:
    timeline = shown.session.timeline
    assert timeline is not None
    shown.session.select(replace(shown.session.selection, span=(68, 73)))
    sources = {step.source for step in timeline.steps[68:73]}
    assert {shown.view.model.row(index).operation for index in shown.view.model.indexes()} == {24, *sources}
    assert shown.view.note.text() == "At step 69, fullest tile, only steps 68 … 72"
    shown.session.select(replace(shown.session.selection, span=None))
    assert len(shown.texts()) == 46


def test_a_timeline_with_its_recipe_counts_as_the_recipe_does(qtbot) -> None:
    """The linked recipe's graph says who reads what: the same rows as with the recipe open alone."""
    recipe = opened("vit3-64tiles.recipe.json")
    recipe.set_fusion(False)
    estimate(recipe)
    assert recipe.timeline is not None
    alone = stage(OperationsView, qtbot, "vit3-64tiles.recipe.json")
    alone.session.set_fusion(False)
    alone.estimate()
    shown = stage(OperationsView, qtbot, "vit3-64tiles.v3.timeline.json")
    assert shown.texts(1)[0] == "From the start"
    shown.session.link(document("vit3-64tiles.recipe.json"))
    step = recipe.timeline.total_peak_step
    assert step is not None
    for one in (alone, shown):
        one.session.select_step(step)
    rows = [[one.view.model.row(index) for index in one.view.model.indexes()] for one in (alone, shown)]
    figures = [[(row.operation, row.made, row.read, row.usage) for row in side] for side in rows]
    assert figures[0] == figures[1]
    assert any(read for _, _, read, _ in figures[1])
    assert shown.view.tree.isExpanded(shown.view.model.find(24))
    shown.session.link(None)
    assert shown.texts(1)[0] == "From the start"


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
    assert shown.texts(1) == ["From the start", "Convert, Copy, Gemm, Sum", "Step 0", "Step 1", "Step 2", "Step 3"]
    timeline = shown.session.timeline
    assert timeline is not None
    tops = [shown.view.model.row(shown.view.model.index(row, 0)) for row in range(2)]
    assert sum(row.bytes for row in tops) == 93_432
    assert sum(row.unavailable for row in tops) == 43
    assert shown.view.footer.text().startswith("93,432 B: ")
    assert shown.view.footer.text().endswith("43 allocations unavailable, not in the sum")
    assert "does not say who reads an allocation" in shown.view.footer.toolTip()
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
    assert len(lines) == 1 + count
    rows = list(csv.DictReader(lines))
    outermost = {operation.id for operation in recipe.graph.operations}
    held = sum(int(row["Holds (bytes)"] or 0) for row in rows if int(row["Op"]) in outermost)
    assert held == 568_312


def test_another_document_starts_anew(shown: Stage) -> None:
    opened("rejected-op0.timeline.json", shown.session)
    assert shown.texts(1)[:2] == ["From the start", "Convert, Copy, Gemm, Sum"]
    shown.session.open(None)
    assert shown.texts() == []
    assert shown.view.note.text() == "Nothing open"


def test_the_window_s_search_goes_to_the_filter(shown: Stage, qtbot) -> None:
    shown.view.activateWindow()
    shown.view.find_operation()
    qtbot.waitUntil(shown.view.filter_box.hasFocus, timeout=2000)
    shown.session.select_operation(0)
    shown.view.centre_selection()
