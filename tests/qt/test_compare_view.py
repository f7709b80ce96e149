"""Compare: up to four states, baseline and pins, and the statement on a linked file."""

from __future__ import annotations

import pytest

from tests.helpers.opened import document, opened
from tests.helpers.views import Stage, stage
from tileview.qt.theme import load_theme
from tileview.qt.views.compare import CompareView
from tileview.session.session import Pin


@pytest.fixture
def shown(qtbot) -> Stage:
    return stage(CompareView, qtbot, "so400m-over.recipe.json")


def names(shown: Stage) -> list[str]:
    return [state.name for state in shown.view.states()]


def test_an_unedited_file_is_one_state(shown: Stage) -> None:
    assert names(shown) == ["as opened"]
    assert shown.view.note.text().startswith("One state only")
    assert [card.isVisible() for card in shown.view.cards] == [True, False, False, False]


def test_an_edit_stands_beside_the_baseline_with_differences(shown: Stage) -> None:
    shown.session.swap(21, 0)
    shown.estimate()
    assert names(shown) == ["as opened", "in force"]
    row = shown.view.model.find(("Summary", "Total peak"))
    assert shown.view.model.data(row.siblingAtColumn(1)) == "555.0 KiB"
    assert shown.view.model.data(row.siblingAtColumn(2)) == "539.6 KiB  (−15.4 KiB, −2.8 %)"
    assert "Plans (1)" in shown.texts()
    assert "Operation 21" in shown.texts()
    assert not shown.view.tree.isColumnHidden(2)
    assert shown.view.tree.isColumnHidden(3)


def test_pins_stay_can_be_the_baseline_and_go(shown: Stage) -> None:
    shown.session.swap(21, 0)
    shown.estimate()
    shown.session.pin_current("smaller grid")
    shown.session.undo()
    assert names(shown) == ["as opened", "smaller grid"]
    shown.view.cards[1].baseline_action.trigger()
    assert names(shown)[0] == "smaller grid"
    assert shown.view.cards[0].title.text() == "✗ smaller grid (baseline)"
    baseline = shown.session.baseline
    assert baseline is not None
    assert baseline.name == "smaller grid"
    shown.view.cards[0].remove_action.trigger()
    assert shown.session.pins == ()


def test_four_states_at_most(shown: Stage) -> None:
    session = shown.session
    session.swap(21, 0)
    shown.estimate()
    for name in ("p", "q", "r"):
        session.pin_current(name)
    session.swap(21, 3)
    shown.estimate()
    assert names(shown) == ["as opened", "in force", "p", "q"]
    assert shown.view.note.text() == "Four states at most are shown; 1 more are pinned."
    assert all(card.isVisible() for card in shown.view.cards)


def test_another_file_beside(shown: Stage) -> None:
    other = opened("vit3-64tiles.recipe.json")
    assert other.estimate is not None
    shown.session.add_pin(Pin("other", document("vit3-64tiles.recipe.json"), other.state, other.estimate))
    assert names(shown) == ["as opened", "other"]
    assert any(text.startswith("Unmatched") for text in shown.texts())


def test_a_recipe_against_a_timeline(shown: Stage) -> None:
    other = opened("rejected-op0.timeline.json")
    assert other.estimate is not None
    shown.session.add_pin(Pin("dump", document("rejected-op0.timeline.json"), other.state, other.estimate))
    row = shown.view.model.find(("Summary", "Total peak"))
    assert shown.view.model.data(row.siblingAtColumn(2)) == "unavailable"


def test_the_link_is_stated(qtbot) -> None:
    shown = stage(CompareView, qtbot, "vit3-64tiles.recipe.json")
    assert not shown.view.link_label.isVisible()
    shown.session.link(document("vit3-64tiles.v3.timeline.json"))
    text = shown.view.link_label.text()
    assert text.startswith("Linked: vit3-64tiles.recipe.json and vit3-64tiles.v3.timeline.json")
    assert "All matched values have the same shape, precision, layout and size." in text
    shown.session.link(document("rejected-op0.timeline.json"))
    assert "not of one compile" in shown.view.link_label.text()
    shown.session.link(None)
    assert not shown.view.link_label.isVisible()


def test_selecting_a_row_selects_its_operation_or_allocation(shown: Stage) -> None:
    shown.session.swap(21, 0)
    shown.estimate()
    index = next(i for i in shown.view.model.indexes() if shown.view.model.data(i) == "Operation 21")
    shown.click(index)
    assert shown.session.selection.operation == 21
    rows = [i for i in shown.view.model.indexes() if len(shown.view.model.row(i).roots) == 2]
    here = next(i for i in rows if shown.view.model.row(i).roots[1] is not None)
    shown.click(here)
    assert shown.session.selection.allocation == shown.view.model.row(here).roots[1]


def test_what_it_asks_of_the_window(shown: Stage) -> None:
    shown.view.pin_button.click()
    shown.view.other_button.click()
    assert shown.requests == [("pin", None), ("compare_with", None)]


def test_themes_and_nothing_open(qtbot) -> None:
    shown = stage(CompareView, qtbot)
    assert shown.view.note.text() == "Nothing open"
    shown.bridge.set_theme(load_theme("dark"))
    assert not shown.view.grab().isNull()
