"""Alternatives: ranked as results come in, swapped in by click, key or button, taken back by undo."""

from __future__ import annotations

import csv

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from tests.helpers.opened import document
from tests.helpers.views import Stage, stage
from tileview.analysis.alternatives import evaluate_alternative
from tileview.present.alternative_rows import AlternativeOutcome, OperationHead
from tileview.qt.views.alternatives import AlternativeScope, AlternativesView

OPERATION = 21


@pytest.fixture
def shown(qtbot) -> Stage:
    made = stage(AlternativesView, qtbot, "so400m-over.recipe.json")
    made.session.select_operation(OPERATION)
    return made


def give_results(shown: Stage, *alternatives: int, operation: int = OPERATION) -> None:
    recipe = shown.session.recipe
    assert recipe is not None
    results = [evaluate_alternative(recipe, operation, alternative) for alternative in alternatives]
    assert shown.session.add_results(shown.session.revision, results)


def of_operation(shown: Stage, title: str, operation: int = OPERATION) -> list[str]:
    """A column of one operation's alternatives, in the order shown."""
    model = shown.view.model
    column = model.spec.place(title)
    top = model.find(("op", operation))
    return [model.data(model.index(row, column, top)) for row in range(model.rowCount(top))]


def test_operations_at_fault_come_first_the_selected_one_after_them(shown: Stage) -> None:
    model = shown.view.model
    heads = [model.data(model.index(row, 0)) for row in range(model.rowCount())]
    assert heads == ["op 21 Gemm (step 69), 4 alternatives", "op 4 Gemm (step 20), 7 alternatives"]
    shown.session.select_operation(18)
    heads = [model.data(model.index(row, 0)) for row in range(model.rowCount())]
    assert [head.split(" (")[0].split(",")[0] for head in heads] == ["op 21 Gemm", "op 4 Gemm", "op 18 Gemm"]
    assert all(shown.view.tree.isExpanded(model.index(row, 0)) for row in range(model.rowCount()))
    shown.view.scope_box.setCurrentIndex(AlternativeScope.SELECTED)
    assert [model.row(model.index(row, 0)).operation for row in range(model.rowCount())] == [18]
    shown.view.scope_box.setCurrentIndex(AlternativeScope.ALL)
    recipe = shown.session.recipe
    assert recipe is not None
    found = [model.row(model.index(row, 0)).operation for row in range(model.rowCount())]
    assert found[:3] == [21, 4, 18]
    assert sorted(found) == sorted(recipe.alternatives)


def test_each_has_figures_and_a_line_of_what_it_changes(shown: Stage) -> None:
    give_results(shown, 0, 1, 2, 3)
    assert of_operation(shown, "Alt") == ["0", "3", "→ 1", "2"]
    assert of_operation(shown, "Own peak") == ["✓ 47.0 spare", "✓ 38.0 spare", "✗ 29.8 over", "✗ 29.8 over"]
    assert of_operation(shown, "Δ peak") == ["−15.4", "−15.4", "±0.0", "±0.0"]
    assert of_operation(shown, "Fits") == ["✗ 14.4 over", "✗ 14.4 over", "✗ 29.8 over", "✗ 29.8 over"]
    model, spec = shown.view.model, shown.view.spec
    line = spec.line(model.row(model.find((21, 0))))
    assert [(part.lead, part.value) for part in line] == [("grid 8×36×5 → ", "8×18×9")]
    assert spec.line(model.row(model.find((21, 1))))[0].lead.startswith("current: grid 8 × 36 × 5, blocks")
    tree = shown.view.tree
    assert tree.visualRect(model.find((21, 0))).height() >= 2 * tree.fontMetrics().height()
    assert tree.isFirstColumnSpanned(0, model.parent(model.index(0, 0)))
    assert shown.view.progress.text() == "4 of 11 evaluated, 0 fit; sizes in KiB"


def test_the_current_plan_is_the_current_row_of_what_is_selected(shown: Stage) -> None:
    assert shown.view.tree.current_key() == (OPERATION, shown.session.alternative_in_force(OPERATION))
    shown.session.select_operation(4)
    assert shown.view.tree.current_key() == (4, 4)


def test_results_stream_in_and_the_chosen_row_stays(shown: Stage) -> None:
    shown.view.tree.show_current((OPERATION, 2))
    give_results(shown, 1)
    assert of_operation(shown, "Own peak") == ["✗ 29.8 over", "…", "…", "…"]
    give_results(shown, 0, 2, 3)
    assert shown.view.tree.current_key() == (OPERATION, 2)
    give_results(shown, *range(7), operation=4)
    assert not shown.view.evaluate_button.isEnabled()
    assert shown.view.evaluate_button.toolTip() == "All of them are evaluated"


def test_a_filter_finds_what_came_out_so(shown: Stage) -> None:
    give_results(shown, 0, 1, 2, 3)
    box = shown.view.outcome_box
    box.setCurrentIndex(box.findData(AlternativeOutcome.OVER))
    assert [shown.view.model.key(one) for one in shown.view.model.indexes()][1:] == [(21, 0), (21, 3), (21, 1), (21, 2)]
    box.setCurrentIndex(box.findData(AlternativeOutcome.NOT_KNOWN))
    assert shown.texts() == []
    assert shown.view.headline.text() == "No alternative is found by the filter"
    box.setCurrentIndex(0)
    shown.view.filter_box.setText("one by one")
    assert (21, 2) in [shown.view.model.key(one) for one in shown.view.model.indexes()]
    assert (21, 0) not in [shown.view.model.key(one) for one in shown.view.model.indexes()]


def test_the_button_swaps_in_and_undo_takes_back(shown: Stage) -> None:
    assert not shown.view.swap_button.isEnabled()
    assert shown.view.swap_button.toolTip() == "This is the current plan already"
    assert shown.view.back_button.toolTip() == "The plan is the file's already"
    shown.click(shown.view.model.find((OPERATION, 0)))
    shown.view.swap_button.click()
    assert dict(shown.session.state.swaps) == {OPERATION: 0}
    assert "→ 0" in of_operation(shown, "Alt")
    assert shown.view.back_button.isEnabled()
    shown.session.undo()
    assert not shown.session.state.swaps
    assert not shown.view.back_button.isEnabled()


def test_double_click_and_enter_swap_in(shown: Stage) -> None:
    shown.click(shown.view.model.find((OPERATION, 0)), double=True)
    assert dict(shown.session.state.swaps) == {OPERATION: 0}
    shown.view.tree.show_current((OPERATION, 3))
    QTest.keyClick(shown.view.tree, Qt.Key.Key_Return)
    assert dict(shown.session.state.swaps) == {OPERATION: 3}


def test_an_alternative_of_another_operation_is_swapped_in_where_it_stands(shown: Stage) -> None:
    shown.click(shown.view.model.find((4, 1)))
    assert shown.session.selection.operation == 4
    assert shown.view.tree.current_key() == (4, 1)
    shown.view.swap_button.click()
    assert dict(shown.session.state.swaps) == {4: 1}


def test_back_to_the_file_s_plan(shown: Stage) -> None:
    shown.session.swap(OPERATION, 0)
    shown.view.back_button.click()
    assert not shown.session.state.swaps


def test_an_edit_drops_results_that_no_longer_hold(shown: Stage) -> None:
    give_results(shown, 0, 1)
    shown.session.swap(OPERATION, 0)
    assert set(of_operation(shown, "Own peak")) == {"…"}


def test_what_it_asks_of_the_window(shown: Stage) -> None:
    shown.view.evaluate_button.click()
    shown.click(shown.view.model.find((OPERATION, 0)))
    shown.view.compare_button.click()
    assert shown.requests == [("evaluate_alternatives", (21, 4)), ("compare_alternative", (OPERATION, 0))]


def test_alternatives_that_cannot_be_lowered_say_why(qtbot) -> None:
    shown = stage(AlternativesView, qtbot, "vit3-64tiles.recipe.json")
    shown.session.select_operation(3)
    recipe = shown.session.recipe
    assert recipe is not None
    give_results(shown, *range(len(recipe.alternatives[3])), operation=3)
    assert of_operation(shown, "Own peak", 3)[-1] == "! not lowered"
    assert of_operation(shown, "Fits", 3)[-1] == "! not lowered"
    model = shown.view.model
    last = model.row(model.index(model.rowCount(model.index(0, 0)) - 1, 0, model.index(0, 0)))
    assert last.outcome is AlternativeOutcome.REFUSED
    assert shown.view.spec.line(last)[0].lead.lower() == last.result.error.lower()


def test_without_an_operation_or_a_recipe_it_says_what_to_do(qtbot) -> None:
    assert stage(AlternativesView, qtbot).view.headline.text() == "Nothing open"
    shown = stage(AlternativesView, qtbot, "vit3-64tiles.recipe.json")
    assert shown.view.headline.text() == "Select an operation to see its alternatives"
    alone = stage(AlternativesView, qtbot, "rejected-op0.timeline.json")
    assert alone.view.headline.text().startswith("A timeline alone holds no alternatives")
    alone.session.link(document("so400m-over.recipe.json"))
    assert alone.view.headline.text().startswith("Open so400m-over.recipe.json to try alternatives")
    alone.session.link(None)
    assert alone.view.headline.text().startswith("A timeline alone holds no alternatives")


def test_a_repeat_has_no_plan_to_choose(shown: Stage) -> None:
    shown.session.select_operation(24)
    assert shown.view.headline.text() == "Operation 24 (Repeat × 27) has no plan to choose"
    assert {shown.view.model.row(one).operation for one in shown.view.model.indexes()} == {21, 4}


def test_csv_and_copies_have_a_line_an_alternative_with_all_of_its_words(shown: Stage) -> None:
    give_results(shown, 1)
    rows = list(csv.DictReader(shown.view.table_csv().splitlines()))
    assert len(rows) == 11
    own = next(row for row in rows if (row["Op"], row["Alt"]) == ("21", "1"))
    assert own["Own peak (bytes)"] == own["Total peak (bytes)"] == "568312"
    assert own["Plan"].startswith("grid 8 × 36 × 5")
    assert own["Changes"] == "current"
    shown.click(shown.view.model.find((OPERATION, 0)))
    shown.view.tree.copy_rows()
    assert len(QGuiApplication.clipboard().text().split("\n")) == 2


@pytest.mark.parametrize("width", [230, 300, 420, 800])
def test_what_decides_is_seen_without_scrolling_in_a_narrow_dock(qtbot, width: int) -> None:
    shown = stage(AlternativesView, qtbot, "so400m-over.recipe.json", (width, 400))
    shown.session.select_operation(OPERATION)
    give_results(shown, 0, 1, 2, 3)
    tree, model = shown.view.tree, shown.view.model
    assert tree.horizontalScrollBar().maximum() == 0
    right = tree.viewport().width()
    for index in model.indexes():
        if isinstance(model.row(index), OperationHead):
            continue
        for title in ("Alt", "Own peak", "Δ peak"):
            column = model.spec.place(title)
            assert not tree.isColumnHidden(column)
            box = tree.visualRect(index.siblingAtColumn(column))
            assert 0 <= box.left() < box.right() <= right
            text = model.data(index.siblingAtColumn(column))
            assert tree.fontMetrics().horizontalAdvance(text) <= box.width(), (text, box.width())
