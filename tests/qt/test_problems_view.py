"""Problems: the tree, going to a place, and repairs of a kind as one edit."""

from __future__ import annotations

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit

from tests.helpers.views import Stage, stage
from tileview.core.geometry.resolve import layout_failure
from tileview.formats.opening import open_file
from tileview.model.timeline import Cause
from tileview.qt.views.problems import ProblemsView
from tileview.session.document import Document


@pytest.fixture
def shown(qtbot) -> Stage:
    return stage(ProblemsView, qtbot, "rejected-op0.timeline.json")


def in_front(driver, name: str) -> bool:
    """Whether a view is the one of its tabs that is seen."""
    return driver.window.docks.views[name].is_in_sight


def test_the_rejected_sample(shown: Stage) -> None:
    assert shown.view.headline.text().startswith("43 errors")
    assert shown.texts(1)[0] == "43 invalid layouts"
    assert shown.texts(1)[1] == "vit.embedding.bias"
    assert "1,472 tiles requested, only 288 grains" in shown.texts(2)[1]


def test_a_timeline_with_errors_opens_on_why_and_its_problems_have_a_repair_in_sight(driver, rejected) -> None:
    driver.window.resize(1280, 800)
    driver.open(rejected)
    view = driver.window.docks.views["problems"]
    driver.qtbot.waitUntil(lambda: in_front(driver, "why"), timeout=5000)
    assert not in_front(driver, "problems")
    driver.qtbot.waitUntil(lambda: driver.window.docks.dock("problems").windowTitle() == "Problems (43)", timeout=5000)
    driver.window.docks.show_view("problems")
    driver.qtbot.waitUntil(lambda: in_front(driver, "problems"), timeout=5000)
    assert view.all_button.text() == "Appl&y to all 43"
    for widget in (view.all_button, view.repair_list):
        assert view.rect().contains(widget.mapTo(view, widget.rect().topLeft()))
        assert view.rect().contains(widget.mapTo(view, widget.rect().bottomRight()))
    offers = [view.repair_list.visualItemRect(view.repair_list.item(row)) for row in range(2)]
    assert all(view.repair_list.viewport().rect().contains(offer) for offer in offers)
    view.all_button.click()
    driver.settle()
    assert driver.session.verdict.fits
    assert len(driver.session.history.done) == 1


def test_after_a_repair_the_keys_are_those_of_the_window(driver, rejected) -> None:
    """The button that was clicked goes away: no search box may get the focus, which would take Ctrl+Z and letters."""
    driver.open(rejected)
    view = driver.window.docks.show_view("problems")
    driver.qtbot.waitUntil(lambda: in_front(driver, "problems"), timeout=5000)
    driver.window.activateWindow()
    view.all_button.setFocus()
    driver.qtbot.waitUntil(view.all_button.hasFocus, timeout=5000)
    QTest.keyClick(view.all_button, Qt.Key.Key_Space)
    driver.settle()
    driver.qtbot.waitUntil(lambda: not view.all_button.isVisible(), timeout=5000)
    focused = QApplication.focusWidget()
    assert focused is not None
    assert not isinstance(focused, QLineEdit)
    QTest.keyClick(focused, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    driver.settle()
    assert driver.session.history.done == ()


def test_a_recipe_and_a_sound_timeline_keep_what_is_in_front(driver, over, samples) -> None:
    for path in (over, samples / "vit3-64tiles.v3.timeline.json"):
        driver.open(path)
        driver.qtbot.waitUntil(lambda: in_front(driver, "why"), timeout=5000)
        assert not in_front(driver, "problems")


def test_a_timeline_over_its_budget_opens_on_why(driver, samples) -> None:
    driver.open(samples / "pair-8tiles.v3.timeline.json")
    driver.settle()
    assert driver.session.verdict.cause is Cause.TOTAL
    driver.qtbot.waitUntil(lambda: in_front(driver, "why"), timeout=5000)
    assert driver.window.docks.views["problems"].headline.text() != "No problems"


def test_a_failing_file_opens_on_why_whatever_was_in_front(driver, samples, over, vit3) -> None:
    """Of whatever kind the failure is; a file that fits leaves in front what is there."""
    faults = (samples / "rejected-op0.timeline.json", over)
    for path in faults:
        driver.window.docks.show_view("operations")
        driver.open(path)
        driver.qtbot.waitUntil(lambda: in_front(driver, "why"), timeout=5000)
    driver.window.docks.show_view("operations")
    driver.open(vit3)
    driver.qtbot.waitUntil(lambda: driver.window.docks.dock("problems").windowTitle() == "Problems", timeout=5000)
    assert in_front(driver, "operations")


def test_a_file_without_plans_has_no_empty_pane_of_alternatives(driver, rejected, over) -> None:
    docks = driver.window.docks
    driver.open(rejected)
    driver.qtbot.waitUntil(lambda: docks.dock("alternatives").isHidden(), timeout=5000)
    kept = docks.keep()
    driver.open(over)
    driver.qtbot.waitUntil(lambda: not docks.dock("alternatives").isHidden(), timeout=5000)
    # What is stored meanwhile has the pane: it is away for that file alone.
    docks.dock("alternatives").hide()
    assert docks.restore(kept)
    assert not docks.dock("alternatives").isHidden()


def test_the_offer_that_was_chosen_is_the_one_applied(shown: Stage) -> None:
    rows = {shown.view.repair_list.item(i).text(): i for i in range(shown.view.repair_list.count())}
    chunks = next(i for text, i in rows.items() if text.startswith("chunks of 256 B"))
    shown.view.repair_list.setCurrentRow(chunks)
    shown.click(shown.view.model.index(0, 0))
    assert shown.view.repair_list.currentRow() == chunks
    shown.view.all_button.click()
    owners = {layout.tiling.tile_count for layout in shown.session.state.layouts.values()}
    assert min(owners) == 9


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
    labels = [shown.view.repair_list.item(i).text() for i in range(shown.view.repair_list.count())]
    assert any("288" in label for label in labels)
    assert any("chunks of 256 B: 9 to" in label for label in labels)
    assert shown.view.all_button.text() == "Appl&y to all 43"


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
    assert shown.texts(1) == ["43 invalid layouts", "vit.embedding.bias"]
    shown.view.filter_box.setText("layer3 mlp_norm.scale")
    assert shown.texts(1)[1:] == ["vit.encoder.layer3.mlp_norm.scale"]


def test_nothing_open(qtbot) -> None:
    shown = stage(ProblemsView, qtbot)
    assert shown.view.headline.text() == "Nothing open"
    assert shown.texts() == []


# -- homes of a recipe that do not resolve --------------------------------------------------------------------------


@pytest.fixture
def bad_homes(samples, tmp_path):
    """A recipe whose first two parameters have homes of more owners than their grains make."""
    document = json.loads((samples / "vit3-64tiles.recipe.json").read_bytes())
    for value in ("1", "2"):
        home = document["inputs"][value]["layout"]
        home["order"] = "RowMajor"
        axis = {
            "axis": "Linear", "partitions": 999_999, "padding_groups": 1, "block_size": 4, "padding_multiple": 1,
            "shard_padding_multiple": 1, "padding": "Reject", "tile_stride": None,
        }  # fmt: skip
        home["tiling"] = {"tile_count": 999_999, "replicas": 1, "axes": [axis]}
    target = tmp_path / "bad.recipe.json"
    target.write_text(json.dumps(document, separators=(",", ":")))
    return target


def test_homes_that_do_not_resolve_are_listed_and_repaired_by_an_edit(driver, bad_homes, vit3) -> None:
    driver.open(bad_homes)
    driver.qtbot.waitUntil(lambda: in_front(driver, "why"), timeout=5000)
    view = driver.window.docks.show_view("problems")
    driver.qtbot.waitUntil(lambda: in_front(driver, "problems"), timeout=5000)
    texts = [view.model.data(index.siblingAtColumn(1)) for index in view.model.indexes()]
    names = {entry.value: entry.name for entry in driver.session.graph.inputs}
    assert "2 invalid homes" in texts
    assert names[1] in texts
    assert view.all_button.text() == "Appl&y to all 2"
    assert view.repair_list.item(0).text() == "the planner's own choice"
    view.all_button.click()
    driver.settle()
    assert len(driver.session.history.done) == 1
    assert driver.session.verdict.fits
    original = Document(vit3, open_file(vit3)).recipe
    assert {value: driver.session.recipe.inputs[value] for value in (1, 2)} == {
        value: original.inputs[value] for value in (1, 2)
    }
    driver.trigger("undo")
    driver.settle()
    assert not driver.session.verdict.fits
    assert view.all_button.isVisible()


def test_one_home_takes_another_layout_that_resolves(driver, bad_homes) -> None:
    driver.open(bad_homes)
    view = driver.window.docks.views["problems"]
    view.tree.expandAll()
    rows = [(index, view.model.row(index)) for index in view.model.indexes()]
    index, row = next((index, row) for index, row in rows if row.home == 2)
    view.tree.show_current(view.model.key(index))
    assert view.one_button.isEnabled()
    view.repair_list.setCurrentRow(1)
    view.one_button.click()
    (value,) = driver.session.state.homes
    assert value == row.home
    home = driver.session.state.homes[value]
    shape = next(entry.shape for entry in driver.session.graph.inputs if entry.value == value)
    assert layout_failure(shape, home.layout) is None
    assert home.precision == driver.session.file_recipe.inputs[value].precision
    driver.settle()
    texts = [view.model.data(index.siblingAtColumn(1)) for index in view.model.indexes()]
    assert "2 invalid homes" not in texts
