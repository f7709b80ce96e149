"""What if: exact bytes in, verdict out, never part of an export."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

from tests.helpers.views import Stage, stage
from tileview.model.recipe import Overrides
from tileview.qt.views.whatif import WhatIfView


@pytest.fixture
def shown(qtbot) -> Stage:
    return stage(WhatIfView, qtbot, "so400m-over.recipe.json")


def test_it_shows_the_configuration(shown: Stage) -> None:
    assert shown.view.budget_box.value() == 586_960
    assert shown.view.reserve_box.value() == 49_152
    assert shown.view.budget_box.text() == "586,960 B"
    assert shown.view.budget_kib.text() == "573.2 KiB"
    assert shown.view.verdict.text().startswith("✗ Does not fit")
    assert "never contains them" in shown.view.hint.text()
    assert not shown.view.reset_button.isEnabled()


def test_a_smaller_reserve_makes_it_fit(shown: Stage) -> None:
    shown.view.reserve_box.setValue(586_960 - 568_312)
    assert shown.session.state.overrides == Overrides(None, 18_648)
    shown.estimate()
    verdict = shown.session.verdict
    assert verdict is not None
    assert verdict.fits
    assert shown.view.verdict.text().startswith("✓ Fits")
    assert shown.session.history.is_clean
    assert not shown.session.state.is_exportable_change
    shown.view.reset_button.click()
    assert shown.session.state.overrides == Overrides()
    assert shown.view.reserve_box.value() == 49_152


@pytest.mark.parametrize(
    ("typed", "taken"),
    [("620000", 586_960), ("99999999999999999999999", 586_960), ("586960", 586_960), ("500,000", 500_000), ("0", 0)],
)
def test_a_number_is_taken_whole_or_becomes_the_most(shown: Stage, typed: str, taken: int) -> None:
    """The box must not drop the digit that is too much: 620,000 typed is not 62,000."""
    box = shown.view.budget_box
    box.selectAll()
    QTest.keyClicks(box, typed)
    QTest.keyClick(box, Qt.Key.Key_Return)
    assert box.value() == taken
    assert shown.session.state.overrides == Overrides(None if taken == 586_960 else taken)
    assert box.toolTip() == "0 … 586,960 B"


def test_one_byte_less_does_not_fit(shown: Stage) -> None:
    """The fused program takes 552,568 B; where that does not fit, the composed one of 568,312 B stands."""
    shown.view.reserve_box.setValue(586_960 - 552_568 + 1)
    shown.estimate()
    verdict = shown.session.verdict
    assert verdict is not None
    assert not verdict.fits
    assert verdict.short_bytes == 568_312 - 552_568 + 1


def test_the_smallest_budget_is_set_to_the_byte(qtbot) -> None:
    shown = stage(WhatIfView, qtbot, "vit3-64tiles.recipe.json")
    shown.view.smallest_button.click()
    assert shown.session.state.overrides == Overrides(129_024)
    shown.estimate()
    verdict = shown.session.verdict
    assert verdict is not None
    assert verdict.fits
    assert verdict.short_bytes == 0
    assert "What-if values apply." in shown.view.text.text()


def test_where_no_budget_helps_the_button_is_off(shown: Stage) -> None:
    assert not shown.view.smallest_button.isEnabled()
    assert "no budget makes it fit" in shown.view.text.text()


def test_a_slider_becomes_one_edit_when_it_rests(shown: Stage, qtbot) -> None:
    for position in range(1000, 1010):
        shown.view.budget_slider.setValue(position)
    assert shown.view.budget_box.value() == 1009 * 256
    assert shown.session.history.done == ()
    qtbot.waitUntil(lambda: shown.session.state.overrides == Overrides(1009 * 256), timeout=2000)
    assert len(shown.session.history.done) == 1


def test_undo_moves_the_boxes_back(shown: Stage) -> None:
    shown.view.budget_box.setValue(500_000)
    shown.session.undo()
    assert shown.view.budget_box.value() == 586_960
    assert shown.view.budget_slider.value() == 586_960 // 256


def test_a_timeline_alone(qtbot) -> None:
    shown = stage(WhatIfView, qtbot, "rejected-op0.timeline.json")
    assert shown.view.budget_box.value() == 586_960
    assert shown.view.reserve_box.value() == 49_152
    assert "unavailable" in shown.view.text.text()


def test_with_nothing_open_it_is_off(qtbot) -> None:
    shown = stage(WhatIfView, qtbot)
    assert not shown.view.budget_box.isEnabled()
    assert shown.view.text.text() == "Nothing open"
    shown.view.apply()
    shown.view.set_smallest()
    shown.view.shut_down()


def test_what_the_figures_leave_out_is_said_beside_them(shown: Stage) -> None:
    timeline = shown.session.timeline
    assert timeline is not None
    told = shown.view.notes.text()
    assert told.startswith("What these figures leave out:")
    for note in timeline.notes:
        assert note[1:] in told


@pytest.mark.parametrize("size", [(340, 110), (260, 200), (700, 500)])
def test_in_a_small_dock_nothing_is_squeezed_and_everything_is_reached_by_key(qtbot, size) -> None:
    shown = stage(WhatIfView, qtbot, "so400m-over.recipe.json", size=size)
    view = shown.view
    qtbot.wait(20)
    for label in (view.verdict, view.text, view.hint, view.notes):
        assert label.height() >= label.heightForWidth(label.width())
    for widget in (view.budget_box, view.budget_slider, view.smallest_button, view.reset_button):
        assert widget.height() >= widget.minimumSizeHint().height()
    view.activateWindow()
    area = view.budget_box.parentWidget().parentWidget()
    view.reset_button.setEnabled(True)
    view.reset_button.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(view.reset_button.hasFocus, timeout=2000)
    spot = view.reset_button.mapTo(area, view.reset_button.rect().center())
    assert area.rect().contains(spot)


def test_an_export_is_the_file_itself_whatever_if(driver, over, tmp_path, monkeypatch) -> None:
    driver.open(over)
    view = driver.window.docks.show_view("whatif")
    view.reserve_box.setValue(1_000)
    view.budget_box.setValue(580_000)
    driver.settle()
    assert driver.session.verdict.fits
    target = tmp_path / "exported.json"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, **__: (str(target), ""))
    driver.trigger("export_recipe")
    assert target.read_bytes() == over.read_bytes()


def test_what_cannot_be_pressed_says_why(qtbot) -> None:
    shown = stage(WhatIfView, qtbot, "rejected-op0.timeline.json")
    assert not shown.view.reset_button.isEnabled()
    assert shown.view.reset_button.toolTip() == "Everything is as in the file"
    assert not shown.view.smallest_button.isEnabled()
    assert shown.view.smallest_button.toolTip() == "sizes are unavailable: no budget makes it fit"
