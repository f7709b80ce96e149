"""The banner: every overflow with its allocation, the next thing to do, what-if values, layouts to hand on."""

from __future__ import annotations

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from tests.qt.conftest import copy_of
from tileview.analysis.layout_texts import Notation
from tileview.core.geometry.resolve import layout_failure
from tileview.formats.tensorjson import layout_from_json
from tileview.model.recipe import Overrides

OVER_KEPT = (69, 174, 21)
"""Step, tile and operation of the first overflow of the sample."""


@pytest.fixture
def banner(driver, over):
    driver.open(over)
    why = driver.window.docks.views["why"]
    driver.qtbot.waitUntil(lambda: why.diagnosis is not None, timeout=60_000)
    return driver.window.verdict


def test_it_names_every_overflow_with_its_allocations(banner):
    text = banner.says.plain()
    assert text.startswith("Two steps overflow: step 69 (op 21 Gemm: its 155.3 KiB copy")
    for words in ("80.0 KiB cast of op 20's result", "by 29.8 KiB on tile 174", "step 20 (op 4 Gemm", "by 14.4 KiB"):
        assert words in text
    assert banner.chip_texts()[0] == "Sum 29.8 KiB over"
    assert banner.share.text() == "603.0 KiB of 573.2 KiB, 105.2 %"


def test_its_links_select_step_tile_and_operation_together(driver, banner):
    driver.session.select_step(0)
    banner.says.linkActivated.emit("step:69")
    selection = driver.session.selection
    assert (selection.step, selection.tile, selection.operation) == OVER_KEPT
    banner.says.linkActivated.emit("root:454")
    assert driver.session.timeline.values[driver.session.selection.allocation].id is not None
    assert driver.session.selection.operation == 21


@pytest.mark.parametrize("size", [(1280, 720), (1600, 1000), (2560, 1440)])
def test_nothing_in_it_is_cut_off(driver, banner, size):
    driver.window.resize(*size)
    QTest.qWait(50)
    for text in (banner.says, banner.next):
        assert text.height() >= text.heightForWidth(text.width())
        assert text.geometry().bottom() <= banner.height()
    for label in (banner.share, banner.cycles, banner.notes, banner.find_fix, banner.export, banner.act):
        assert label.width() >= label.sizeHint().width() or label.isHidden(), label.text()


def test_the_next_thing_is_done_by_its_button_and_then_the_next_is_named(driver, banner):
    driver.qtbot.waitUntil(lambda: banner.act.text() == "Swap in", timeout=30_000)
    QTest.mouseClick(banner.act, Qt.MouseButton.LeftButton)
    driver.settle()
    assert list(driver.session.state.swaps) == [4]
    assert driver.session.verdict.fits
    assert banner.next.plain() == "Next: Export the recipe (Ctrl+E)."
    assert "fit" in banner.find_fix.toolTip()
    assert not banner.find_fix.isEnabled()
    why = driver.window.docks.views["why"]
    driver.qtbot.waitUntil(lambda: why.diagnosis is not None)
    driver.session.mark_clean()
    assert banner.next.plain().startswith("Next: By the sum there is nothing to do: it fits with")
    assert why.diagnosis is not None
    assert "Looking for the cause" not in why.text()


def test_what_if_values_mark_it_and_are_reset_there(driver, pair):
    driver.open(pair)
    banner = driver.window.verdict
    driver.session.set_overrides(Overrides(budget_bytes=114_688))
    driver.settle()
    marked = [text for text in banner.chip_texts() if text.startswith("What if")]
    assert marked == ["What if: budget 112.0 KiB (file: 573.2 KiB) Reset"]
    chip = next(one for one in banner.findChildren(type(banner.act).__mro__[1]) if one.text() == marked[0])
    QTest.mouseClick(chip, Qt.MouseButton.LeftButton)
    driver.settle()
    assert not any(text.startswith("What if") for text in banner.chip_texts())


def test_the_layouts_that_would_resolve_are_copied_in_three_notations(driver, rejected):
    driver.open(rejected)
    banner = driver.window.verdict
    driver.qtbot.waitUntil(lambda: banner.act.text() == "Copy 43 layouts", timeout=60_000)
    assert banner.next.plain().startswith("Next: Copy the 43 valid layouts")
    assert [action.text() for action in banner.layout_actions(banner)][:4] == [
        "Copy as text", "Copy as JSON", "Copy as Markdown", "Apply here",
    ]  # fmt: skip
    banner.copy_layouts(Notation.JSON)
    rows = json.loads(QGuiApplication.clipboard().text())
    assert len(rows) == 43
    for row in rows:
        assert layout_failure(tuple(row["shape"]), layout_from_json(row["layout"])) is None
    banner.copy_layouts(Notation.TEXT)
    assert len(QGuiApplication.clipboard().text().splitlines()) == 43
    banner.copy_layouts(Notation.MARKDOWN)
    assert len(QGuiApplication.clipboard().text().splitlines()) == 45


def test_why_takes_each_overflow_apart_into_parts_that_add_up(driver, banner):
    text = driver.window.docks.views["why"].text()
    for words in (
        "Step 69, tile 174",
        "29.8 KiB (30,504 B) over",
        "Step 20, tile 153",
        "14.4 KiB (14,760 B) over",
        "op 21's copy of op 20's",
    ):
        assert words in text
    assert text.index("Step 69") < text.index("Step 20")


def test_a_view_gets_the_whole_window_and_gives_it_back(driver, banner):
    docks = driver.window.docks
    docks.show_view("tiles")
    before = {name: view.isVisible() for name, view in docks.views.items()}
    driver.trigger("maximise_view")
    assert docks.maximised == "tiles"
    assert not docks.dock("timeline").isVisible()
    driver.trigger("maximise_view")
    assert docks.maximised == ""
    assert docks.dock("timeline").isVisible()
    assert {name for name, seen in before.items() if seen} <= {n for n, view in docks.views.items() if view.isVisible()}


def test_selections_are_walked_back_and_forth(driver, banner):
    session = driver.session
    session.select_operation(4)
    for step in range(10, 15):
        session.select_step(step)
    session.select_tiles((7,))
    driver.trigger("selection_back")
    assert (session.selection.step, session.selection.operation) == (14, 4)
    driver.trigger("selection_back")
    assert session.selection.operation == 4
    assert session.selection.step != 13, "a walk over steps is one place"
    driver.trigger("selection_on")
    driver.trigger("selection_on")
    assert session.selection.tiles == (7,)


def test_the_diagnosis_stays_after_an_export(driver, banner):
    why = driver.window.docks.views["why"]
    driver.session.mark_clean()
    assert why.diagnosis is not None
    assert "Looking for" not in why.text()


def test_a_selected_step_is_found_again_after_a_swap_that_renumbers(driver, banner):
    session = driver.session
    timeline = session.timeline
    step = next(one for one in timeline.steps if one.source == 26)
    session.select_step(step.index)
    session.swap(4, 0)
    driver.settle()
    found = session.timeline.steps[session.selection.step]
    assert (found.source, found.kind) == (26, step.kind)
    assert len(session.timeline.steps) != len(timeline.steps)


NOTED = ["rejected-op0.timeline.json", "so400m.recipe.json"]


@pytest.mark.parametrize("name", NOTED)
def test_no_note_is_told_twice(driver, tmp_path, name):
    driver.open(copy_of(name, tmp_path))
    notes = driver.window.verdict.notes
    told = notes.accessibleDescription().splitlines()
    assert len(told) == len(set(told)) > 0
    assert notes.text() == f"{len(told)} note{'s' if len(told) > 1 else ''}"
