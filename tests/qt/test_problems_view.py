"""Problems: the tree, going to a place, and repairs of a kind as one edit."""

from __future__ import annotations

import pytest

from tests.helpers.views import Stage, stage
from tileview.core.geometry.resolve import layout_failure
from tileview.qt.views.problems import ProblemsView


@pytest.fixture
def shown(qtbot) -> Stage:
    return stage(ProblemsView, qtbot, "rejected-op0.timeline.json")


def test_the_rejected_sample(shown: Stage) -> None:
    assert shown.view.headline.text().startswith("43 errors")
    assert shown.texts(1)[0] == "43 invalid layouts"
    assert shown.texts(1)[1] == "vit.embedding.bias"
    assert "1472 owners asked of 288 grains" in shown.texts(2)[1]


def test_selecting_goes_to_the_allocation_and_a_step_where_it_lives(shown: Stage) -> None:
    shown.view.tree.expandAll()
    value = shown.view.model.row(shown.view.model.index(0, 0, shown.view.model.index(0, 0)))
    shown.click(shown.view.model.index(0, 0, shown.view.model.index(0, 0)))
    selection, timeline = shown.session.selection, shown.session.timeline
    assert timeline is not None
    assert selection.allocation == value.root
    assert selection.allocation in timeline.steps[selection.step or 0].live


def test_repairs_on_offer_resolve_and_name_their_owners(shown: Stage) -> None:
    shown.click(shown.view.model.index(0, 0))
    labels = [shown.view.repair_box.itemText(i) for i in range(shown.view.repair_box.count())]
    assert any("288" in label for label in labels)
    assert any("chunks of 256 B: 9 to" in label for label in labels)
    assert shown.view.all_button.text() == "Apply to &all 43 of a kind"


def test_applying_to_all_is_one_edit_and_the_timeline_fits(shown: Stage) -> None:
    shown.click(shown.view.model.index(0, 0))
    shown.view.all_button.click()
    assert len(shown.session.history.done) == 1
    assert len(shown.session.state.layouts) == 43
    timeline = shown.session.timeline
    assert timeline is not None
    for index, layout in shown.session.state.layouts.items():
        assert layout_failure(timeline.values[index].shape, layout) is None
    shown.estimate()
    verdict = shown.session.verdict
    assert verdict is not None
    assert verdict.fits
    assert "invalid layout" not in " ".join(shown.texts(1))
    shown.session.undo()
    shown.estimate()
    assert shown.texts(1)[0] == "43 invalid layouts"


def test_applying_to_one(shown: Stage) -> None:
    shown.view.tree.expandAll()
    shown.click(shown.view.model.index(3, 0, shown.view.model.index(0, 0)))
    shown.view.one_button.click()
    row = shown.view.tree.current_row()
    assert list(shown.session.state.layouts) == [row.value]
    shown.estimate()
    assert shown.texts(1)[0] == "42 invalid layouts"


def test_steps_over_budget_lead_to_step_tile_and_operation(qtbot) -> None:
    shown = stage(ProblemsView, qtbot, "so400m-over.recipe.json")
    assert shown.texts(1)[0] == "2 runs of steps over budget"
    shown.session.select_step(0)
    shown.view.tree.expandAll()
    runs = [shown.view.model.index(row, 0, shown.view.model.index(0, 0)) for row in range(2)]
    worst = next(index for index in runs if shown.view.model.row(index).step == 69)
    shown.click(worst)
    selection = shown.session.selection
    assert (selection.step, selection.tile, selection.operation) == (69, 174, 21)


def test_layouts_of_a_recipe_are_repaired_by_its_plans(qtbot) -> None:
    shown = stage(ProblemsView, qtbot, "so400m-over.recipe.json")
    assert not shown.view.all_button.isVisible()
    assert not shown.view.repair_label.isVisible()


def test_filtering(shown: Stage, qtbot) -> None:
    qtbot.keyClicks(shown.view.filter_box, "embedding.bias")
    assert shown.texts(1) == ["43 invalid layouts", "vit.embedding.bias"] or shown.texts(1)[0] == "43 invalid layouts"
    shown.view.filter_box.setText("layer3 mlp_norm.scale")
    assert shown.texts(1)[1:] == ["vit.encoder.layer3.mlp_norm.scale"]


def test_nothing_open(qtbot) -> None:
    shown = stage(ProblemsView, qtbot)
    assert shown.view.headline.text() == "Nothing open"
    assert shown.texts() == []
