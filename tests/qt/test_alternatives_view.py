"""Alternatives: ranked as results come in, swapped in by click, key or button, taken back by undo."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from tests.helpers.opened import document
from tests.helpers.views import Stage, stage
from tileview.analysis.alternatives import evaluate
from tileview.present.alternative_rows import NOT_COMPUTED, AlternativeColumn
from tileview.qt.views.alternatives import AlternativesView

OPERATION = 21


@pytest.fixture
def shown(qtbot) -> Stage:
    made = stage(AlternativesView, qtbot, "so400m-over.recipe.json")
    made.session.select_operation(OPERATION)
    return made


def give_results(shown: Stage, *alternatives: int) -> None:
    recipe = shown.session.recipe
    assert recipe is not None
    results = [evaluate(recipe, OPERATION, alternative) for alternative in alternatives]
    assert shown.session.add_results(shown.session.revision, results)


def test_rows_of_the_selected_operation(shown: Stage) -> None:
    recipe = shown.session.recipe
    assert recipe is not None
    assert shown.view.headline.text() == "Alternatives of operation 21 (Gemm)"
    numbers = [text.removeprefix("▶ ") for text in shown.texts(0)]
    assert numbers == [str(i) for i in range(len(recipe.alternatives[OPERATION]))]
    assert set(shown.texts(3)) == {NOT_COMPUTED}
    assert shown.view.progress.text() == "0 of 4 evaluated"


def test_the_plan_in_force_is_marked_by_glyph_and_word_and_current(shown: Stage) -> None:
    in_force = shown.session.alternative_in_force(OPERATION)
    assert shown.view.tree.current_key() == in_force
    assert [text for text in shown.texts(0) if text.startswith("▶")] == [f"▶ {in_force}"]
    words = dict(zip(shown.texts(0), shown.texts(5), strict=True))
    assert words[f"▶ {in_force}"] == "current, the file's plan"


def test_results_stream_in_and_rank(shown: Stage) -> None:
    shown.view.tree.show_current(2)
    give_results(shown, 1)
    assert shown.texts(0)[0] == "▶ 1"
    give_results(shown, 0, 2, 3)
    assert shown.view.progress.text() == "4 of 4 evaluated, 0 fit"
    assert shown.texts(6) == ["1", "2", "3", "4"]
    totals = [row.peak_total for row in (shown.view.model.row(index) for index in shown.view.model.indexes())]
    assert totals == sorted(totals)
    assert shown.view.tree.current_key() == 2
    assert not shown.view.evaluate_button.isEnabled()


def test_the_button_swaps_in_and_undo_takes_back(shown: Stage) -> None:
    assert not shown.view.swap_button.isEnabled()
    shown.click(shown.view.model.find(0))
    shown.view.swap_button.click()
    assert dict(shown.session.state.swaps) == {OPERATION: 0}
    assert shown.texts(0)[0] == "▶ 0"
    assert shown.texts(5)[0] == "current"
    assert shown.texts(5)[1].startswith("the file's plan; ")
    assert shown.view.back_button.isEnabled()
    shown.session.undo()
    assert not shown.session.state.swaps
    assert not shown.view.back_button.isEnabled()


def test_double_click_and_enter_swap_in(shown: Stage) -> None:
    shown.click(shown.view.model.find(0), double=True)
    assert dict(shown.session.state.swaps) == {OPERATION: 0}
    shown.view.tree.show_current(3)
    QTest.keyClick(shown.view.tree, Qt.Key.Key_Return)
    assert dict(shown.session.state.swaps) == {OPERATION: 3}


def test_back_to_the_file_s_plan(shown: Stage) -> None:
    shown.session.swap(OPERATION, 0)
    shown.view.back_button.click()
    assert not shown.session.state.swaps


def test_an_edit_drops_results_that_no_longer_hold(shown: Stage) -> None:
    give_results(shown, 0, 1)
    shown.session.swap(OPERATION, 0)
    assert set(shown.texts(3)) == {NOT_COMPUTED}


def test_what_it_asks_of_the_window(shown: Stage) -> None:
    shown.view.evaluate_button.click()
    shown.click(shown.view.model.find(0))
    shown.view.compare_button.click()
    assert shown.requests == [("evaluate_alternatives", OPERATION), ("compare_alternative", (OPERATION, 0))]


def test_alternatives_that_cannot_be_lowered_say_why(qtbot) -> None:
    shown = stage(AlternativesView, qtbot, "vit3-64tiles.recipe.json")
    shown.session.select_operation(3)
    recipe = shown.session.recipe
    assert recipe is not None
    results = [evaluate(recipe, 3, i) for i in range(len(recipe.alternatives[3]))]
    shown.session.add_results(shown.session.revision, results)
    refused = [result for result in results if not result.ok]
    assert len(refused) == 1
    assert shown.texts(3)[-1] == "! refused"
    assert shown.texts(7)[-1].startswith("cannot be lowered: ")
    assert shown.texts(6)[-1] == ""


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
    assert shown.texts() == []


def test_csv_has_all_alternatives(shown: Stage) -> None:
    give_results(shown, 1)
    lines = shown.view.table_csv().strip().split("\r\n")
    assert len(lines) == 5
    assert "568312" in lines[1]


@pytest.mark.parametrize("width", [190, 230, 300, 420, 610, 800])
def test_what_decides_is_seen_without_scrolling_in_a_narrow_dock(qtbot, width: int) -> None:
    shown = stage(AlternativesView, qtbot, "so400m-over.recipe.json", (width, 400))
    shown.session.select_operation(OPERATION)
    give_results(shown, 0, 1, 2, 3)
    tree, model = shown.view.tree, shown.view.model
    assert tree.horizontalScrollBar().maximum() == 0
    right = tree.viewport().width()
    for row in range(model.rowCount()):
        top = model.index(row, 0)
        for column in (AlternativeColumn.ALTERNATIVE, AlternativeColumn.DELTA, AlternativeColumn.FITS):
            assert not tree.isColumnHidden(column)
            box = tree.visualRect(top.siblingAtColumn(column))
            assert 0 <= box.left() < box.right() <= right
            if width >= 230:
                text = model.data(top.siblingAtColumn(column))
                assert tree.fontMetrics().horizontalAdvance(text) <= box.width(), (text, box.width())
        # The words of the plan and what differs have lines of their own over the whole width.
        entry = model.row(top)
        lines = [model.index(child, 0, top) for child in range(model.rowCount(top))]
        assert model.data(lines[0]) == entry.words
        assert model.data(lines[1]) in (entry.differences, f"differs by {entry.differences}")
        assert all(tree.isFirstColumnSpanned(line.row(), top) for line in lines)
        assert "\n".join(entry.all_differences) in model.data(lines[1], Qt.ItemDataRole.ToolTipRole) or entry.in_force
        assert tree.isExpanded(top)
        if width >= 610:
            assert tree.fontMetrics().horizontalAdvance(entry.words) <= right - tree.indentation() - 8


def test_lines_of_words_stand_for_their_alternative(qtbot) -> None:
    shown = stage(AlternativesView, qtbot, "so400m-over.recipe.json", (300, 400))
    shown.session.select_operation(OPERATION)
    shown.click(shown.view.model.find(("differs", 0)))
    assert shown.view.swap_button.isEnabled()
    shown.view.compare_button.click()
    assert shown.requests == [("compare_alternative", (OPERATION, 0))]
    shown.view.swap_button.click()
    assert dict(shown.session.state.swaps) == {OPERATION: 0}
    shown.session.undo()
    shown.click(shown.view.model.find(("plan", 3)), double=True)
    assert dict(shown.session.state.swaps) == {OPERATION: 3}
    shown.click(shown.view.model.find(("plan", 3)))
    assert not shown.view.swap_button.isEnabled()
    # A table for other programs has a line an alternative, however wide the dock is.
    assert len(shown.view.table_csv().strip().split("\r\n")) == 5
    shown.view.tree.selectAll()
    shown.view.tree.copy_rows()
    assert len(QGuiApplication.clipboard().text().split("\n")) == 5


def test_a_dock_that_grows_has_columns_of_words_again(shown: Stage) -> None:
    assert not shown.view.tree.isColumnHidden(AlternativeColumn.PLAN)
    assert shown.view.model.rowCount(shown.view.model.index(0, 0)) == 0
    shown.click(shown.view.model.find(2))
    shown.view.resize(300, 400)
    assert shown.view.tree.isColumnHidden(AlternativeColumn.PLAN)
    assert shown.view.model.rowCount(shown.view.model.index(0, 0)) == 2
    assert shown.view.tree.current_key() == 2
    shown.view.resize(1200, 400)
    assert not shown.view.tree.isColumnHidden(AlternativeColumn.WHY)
    assert shown.view.model.rowCount(shown.view.model.index(0, 0)) == 0
    assert shown.view.tree.current_key() == 2


def test_why_one_cannot_be_lowered_is_a_line_too(qtbot) -> None:
    shown = stage(AlternativesView, qtbot, "vit3-64tiles.recipe.json", (300, 500))
    shown.session.select_operation(3)
    recipe = shown.session.recipe
    assert recipe is not None
    results = [evaluate(recipe, 3, i) for i in range(len(recipe.alternatives[3]))]
    shown.session.add_results(shown.session.revision, results)
    refused = next(result for result in results if not result.ok)
    assert shown.view.model.data(shown.view.model.find(("why", refused.alternative))).startswith("cannot be lowered: ")
    assert not shown.view.model.find(("why", 0 if refused.alternative else 1)).isValid()
