"""The timeline view: what it draws, what keys and the mouse do, what it says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QKeyEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QInputDialog

from tests.helpers.fake_session import publish, session_of, set_baseline, show
from tests.helpers.fake_timeline import Alloc, FakeProgram, Step, big_timeline, make_timeline, small_timeline
from tests.helpers.opened import opened
from tileview.analysis.lifetimes import LifetimeOrder
from tileview.present.curves import CurveMode
from tileview.qt.base.theme import load_theme
from tileview.qt.files.export_view import picture_of
from tileview.qt.plot.items import ByteAxis
from tileview.qt.plot.picture import svg_bytes
from tileview.qt.views.timeline.controls import LifetimeFilter
from tileview.qt.views.timeline.plot import StepZoom
from tileview.qt.views.timeline.view import TimelineView
from tileview.session.session import Session

KIB = 1024
NONE, SHIFT, CTRL = (
    Qt.KeyboardModifier.NoModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.ControlModifier,
)


@pytest.fixture
def make(show_view):
    """Makes shown views and shuts them down at the end."""

    def build(session: Session, theme: str = "light", size: tuple[int, int] = (900, 560)) -> TimelineView:
        view = show_view(TimelineView, session, theme, size)
        view.set_stacked(False)
        QApplication.processEvents()
        return view

    return build


def far_cursor(session: Session) -> None:
    """Put the cursor at the last step, out of the way of probed pixels."""
    session.select_step(10**6)


def spike(steps: int = 4000, at: int = 1717, height: int = 500 * KIB):
    """A flat program with a peak of one step."""
    allocs = [Alloc("flat", 64 * KIB, 0, -1, parameter=True), Alloc("spike", height - 64 * KIB, at, at)]
    return make_timeline(FakeProgram(2, [Step(source=index // 10) for index in range(steps)], allocs))


def close_to(first: QColor, second: QColor, by: int = 40) -> bool:
    return all(
        abs(a - b) <= by
        for a, b in ((first.red(), second.red()), (first.green(), second.green()), (first.blue(), second.blue()))
    )


def colours_at(view: TimelineView, step: float, size: int, reach: int = 3) -> set[str]:
    """All colours within ``reach`` pixels of a place of the plot."""
    plot = view.plot
    image = view.plot.grab().toImage()
    x, y = round(plot.pixel(step).x()), round(plot.pixel(0, size).y())
    return {
        image.pixelColor(x + dx, y + dy).name()
        for dx in range(-reach, reach + 1)
        for dy in range(-reach, reach + 1)
        if image.rect().contains(x + dx, y + dy)
    }


# -- what it draws ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("at", [0, 3, 1717, 1718, 2222, 3998])
def test_a_peak_of_one_step_never_vanishes(make, theme: str, at: int) -> None:
    session = session_of(spike(at=at))
    view = make(session, theme)
    session.select_step(3999 if at < 3000 else 10)
    total = QColor(view.bridge.theme.total).name()
    assert total in colours_at(view, at + 0.5, 500 * KIB)
    # Half-way up, where nothing but the rise of this one step can be.
    assert total in colours_at(view, at + 0.5, 300 * KIB)
    beside = at + 400 if at < 3000 else at - 400
    assert total not in colours_at(view, beside, 300 * KIB)


def test_the_curve_is_where_its_bytes_are(make) -> None:
    session = session_of(small_timeline())
    view = make(session)
    far_cursor(session)
    theme = view.bridge.theme
    for step, size in enumerate((96, 160, 128, 130, 128, 636, 75)):
        assert theme.total in colours_at(view, step + 0.3, size * KIB), step
    assert theme.standard in colours_at(view, 1.3, 96 * KIB)
    assert theme.interleaved in colours_at(view, 2.5, 64 * KIB, reach=12)


def test_budget_lines_are_drawn_and_labelled_at_their_bytes(make) -> None:
    session = session_of(small_timeline())
    view = make(session)
    theme = view.bridge.theme
    assert theme.budget in colours_at(view, 2.5, 586_960)
    assert theme.budget not in colours_at(view, 2.5, 540_000)


def test_excess_is_hatched_above_the_budget_only(make) -> None:
    session = session_of(small_timeline())
    view = make(session)
    far_cursor(session)
    # Step 5: 636 KiB and 48 KiB of reserve; the budget is 573.2 KiB.
    inside = colours_at(view, 5.5, 610 * KIB, reach=6)
    assert any(close_to(QColor(name), QColor(view.bridge.theme.over), 60) for name in inside)
    for step in (0.5, 1.5):
        beside = colours_at(view, step, 610 * KIB, reach=6)
        assert not any(close_to(QColor(name), QColor(view.bridge.theme.over), 60) for name in beside)
    assert "over budget at 1 step" in view.legend.texts


def test_reserve_lies_on_the_total(make) -> None:
    session = session_of(small_timeline())
    view = make(session)
    far_cursor(session)
    ground = QColor(view.bridge.theme.background).name()
    assert colours_at(view, 0.5, (96 + 20) * KIB, reach=0) != {ground}
    assert colours_at(view, 0.5, (96 + 60) * KIB, reach=0) == {ground}
    assert "reserve 48.0 KiB" in view.legend.texts


@pytest.mark.parametrize("stacked", [False, True])
def test_unavailable_steps_are_a_band_and_never_a_number(make, stacked: bool) -> None:
    timeline = make_timeline(
        FakeProgram(2, [Step() for _ in range(10)], [Alloc("a", 64 * KIB, 0, -1), Alloc("lost", None, 4, 6)])
    )
    session = session_of(timeline)
    view = make(session)
    view.set_stacked(stacked)
    session.select_step(0)
    ground = QColor(view.bridge.theme.background).name()
    for size in (20 * KIB, 150 * KIB):
        band = colours_at(view, 5.5, size, reach=6)
        assert ground not in band
        assert len(band) > 1
    assert QColor(view.bridge.theme.total).name() not in colours_at(view, 5.5, 64 * KIB)
    session.select_step(5)
    assert view.line.full_text.endswith("usage unavailable, known part 64.0 KiB (65,536 B)")
    assert view.legend.texts[0].startswith("total, fullest tile ")
    assert view.legend.texts[0].endswith(" unavailable")
    assert "1 live allocation without a known size" in view.tip(5)
    assert "18446744073709551615" not in view.tip(5) + view.table_csv()


def test_repeat_bodies_are_shaded(make) -> None:
    session = session_of(small_timeline())
    view = make(session)
    far_cursor(session)
    assert [(span.start, span.stop, span.count) for span in view.data.repeats] == [(2, 4, 3)]
    ground = QColor(view.bridge.theme.background).name()
    assert ground not in colours_at(view, 3.0, 350 * KIB, reach=0)
    assert colours_at(view, 1.5, 350 * KIB, reach=0) == {ground}
    assert "inside a Repeat of 3 runs, steps 2 … 3" in view.tip(2)


def test_peaks_are_flagged_and_marked(make) -> None:
    session = session_of(small_timeline())
    view = make(session)
    far_cursor(session)
    assert {(mark.letter, mark.step) for mark in view.data.marks} == {("P", 5), ("S", 5), ("I", 1)}
    assert view.bridge.theme.interleaved in colours_at(view, 1.5, 64 * KIB)
    plot = view.plot
    image = view.plot.grab().toImage()
    flag = {
        image.pixelColor(round(plot.pixel(1.5).x()) + dx, round(plot.area().top()) - 12).name() for dx in range(-8, 9)
    }
    assert view.bridge.theme.mark in flag


def test_the_baseline_is_drawn_behind(make) -> None:
    before = make_timeline(FakeProgram(4, [Step(source=index) for index in range(8)], [Alloc("a", 300 * KIB, 0, -1)]))
    session = session_of(before)
    view = make(session)
    assert view.data.baseline is None
    publish_other = make_timeline(
        FakeProgram(4, [Step(source=index) for index in range(8)], [Alloc("a", 100 * KIB, 0, -1)])
    )
    set_baseline(session, before)
    publish(session, publish_other)
    far_cursor(session)
    assert view.data.baseline[0].tolist() == [300 * KIB] * 8
    assert view.bridge.theme.baseline in colours_at(view, 2.5, 300 * KIB)
    assert "baseline" in view.legend.texts
    assert "baseline total  300.0 KiB (307,200 B)" in view.tip(2)
    view.controls.baseline_action.setChecked(False)
    assert view.data.baseline is None


def test_layers_add_up_and_are_named(make) -> None:
    session = session_of(small_timeline())
    view = make(session)
    view.set_stacked(True)
    session.select_step(5)
    data = view.data
    assert sum(layer.sizes for layer in data.layers).tolist() == data.curves.total.tolist()
    assert {
        "total, fullest tile 2 636.0 KiB",
        "parameters 64.0 KiB",
        "op 5 508.0 KiB",
        "op 1 64.0 KiB",
    } <= set(view.legend.texts)
    far_cursor(session)
    assert QColor(view.bridge.theme.border).name() in colours_at(view, 4.5, 20 * KIB, reach=1)
    view.grab()


def test_height_to_budget_or_to_data(make) -> None:
    session = session_of(make_timeline(FakeProgram(1, [Step()] * 4, [Alloc("a", 10 * KIB, 0, -1)])))
    view = make(session)
    assert view.plot.top >= 586_960
    view.controls.budget_action.setChecked(False)
    assert view.plot.top < 100 * KIB
    view.plot.grab()


# -- modes -----------------------------------------------------------------------------------------------------------


def test_curves_follow_the_tile_that_is_chosen(make) -> None:
    session = session_of(small_timeline())
    view = make(session)
    assert view.data.curves.mode is CurveMode.WORST
    box = view.controls.mode_box
    box.setCurrentIndex(box.findData(CurveMode.TILE))
    assert view.data.curves.mode is CurveMode.WORST
    assert view.line.full_text.startswith("No tile selected, fullest tile shown")
    session.select_tiles((3,))
    assert view.data.curves.mode is CurveMode.TILE
    assert view.data.curves.total.tolist() == [size * KIB for size in (32, 32, 32, 34, 32, 140, 44, 40)]
    session.select_tiles((3, 0))
    assert view.data.curves.total[0] == 96 * KIB
    view.set_mode(CurveMode.LARGEST)
    assert box.currentData() == CurveMode.LARGEST
    assert view.data.curves.standard.max() == 572 * KIB


# -- keys ------------------------------------------------------------------------------------------------------------


def test_keys_move_the_cursor(make) -> None:
    session = session_of(spike(200, 50))
    view = make(session)
    keys = (
        (Qt.Key.Key_Home, NONE, 0),
        (Qt.Key.Key_Left, NONE, 0),
        (Qt.Key.Key_Right, NONE, 1),
        (Qt.Key.Key_Right, SHIFT, 11),
        (Qt.Key.Key_Left, SHIFT, 1),
        (Qt.Key.Key_End, NONE, 199),
        (Qt.Key.Key_Right, SHIFT, 199),
        (Qt.Key.Key_P, NONE, 50),
        (Qt.Key.Key_Home, NONE, 0),
        (Qt.Key.Key_S, NONE, 0),
        (Qt.Key.Key_S, SHIFT, 50),
        (Qt.Key.Key_I, NONE, 0),
    )
    for key, modifier, step in keys:
        QTest.keyClick(view.plot, key, modifier)
        assert session.selection.step == step, key


def test_peaks_take_the_tile_along_that_reaches_them(make) -> None:
    """The last one, where several do, whatever the class."""
    allocs = [
        Alloc("s", [90, 90, 20], 1, 1),
        Alloc("i", [70, 70, 60], 2, 2, interleaved=True),
        Alloc("t", [60, 60, 60], 3, 3),
        Alloc("u", [40, 30, 41], 3, 3, interleaved=True),
    ]
    session = session_of(make_timeline(FakeProgram(3, [Step()] * 4, allocs)))
    view = make(session)
    for key, modifier, step, tile in (
        (Qt.Key.Key_S, SHIFT, 1, 1),
        (Qt.Key.Key_I, NONE, 2, 1),
        (Qt.Key.Key_P, NONE, 3, 2),
    ):
        QTest.keyClick(view.plot, key, modifier)
        assert (session.selection.step, session.selection.tiles) == (step, (tile,))


def test_a_step_selected_elsewhere_comes_into_view(make) -> None:
    session = session_of(spike(1000, 900))
    view = make(session)
    view.axis.show(100, 200)
    session.select_step(700)
    assert view.axis.first <= 700 < view.axis.last


def test_over_budget_steps_by_key(make, qtbot) -> None:
    allocs = [Alloc("a", 560 * KIB, 2, 3), Alloc("b", 560 * KIB, 7, 7)]
    session = session_of(make_timeline(FakeProgram(1, [Step()] * 10, allocs)))
    view = make(session)
    QTest.keyClick(view.plot, Qt.Key.Key_Home)
    seen = []
    for _ in range(3):
        QTest.keyClick(view.plot, Qt.Key.Key_N)
        seen.append(session.selection.step)
    with qtbot.waitSignal(view.bridge.message) as caught:
        QTest.keyClick(view.plot, Qt.Key.Key_N)
    assert caught.args == ["No step after this one is over budget"]
    for _ in range(3):
        QTest.keyClick(view.plot, Qt.Key.Key_B)
        seen.append(session.selection.step)
    assert seen == [2, 3, 7, 3, 2, 2]
    assert session.selection.tiles == (0,)
    show(session, make_timeline(FakeProgram(1, [Step()], [])))
    with qtbot.waitSignal(view.bridge.message) as caught:
        QTest.keyClick(view.plot, Qt.Key.Key_N)
    assert caught.args == ["No step is over budget"]


def test_both_canvases_take_the_same_keys_before_the_window(make) -> None:
    view = make(session_of(small_timeline()))
    for canvas in (view.plot, view.bars):
        for key in (Qt.Key.Key_Left, Qt.Key.Key_P, Qt.Key.Key_Backspace, Qt.Key.Key_G):
            event = QKeyEvent(QEvent.Type.ShortcutOverride, key, NONE)
            event.ignore()
            QApplication.sendEvent(canvas, event)
            assert event.isAccepted() == (key != Qt.Key.Key_G)
    event = QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_P, CTRL | SHIFT)
    event.ignore()
    QApplication.sendEvent(view.plot, event)
    assert not event.isAccepted()


# -- mouse -----------------------------------------------------------------------------------------------------------


def at(view: TimelineView, step: float, below: bool = False) -> QPoint:
    plot = view.plot
    y = plot.area().bottom() + 6 if below else plot.area().center().y()
    return QPoint(round(plot.pixel(step).x()), round(y))


def drag(view: TimelineView, begin: QPoint, end: QPoint, modifier: Qt.KeyboardModifier = NONE) -> None:
    QTest.mousePress(view.plot.viewport(), Qt.MouseButton.LeftButton, modifier, begin)
    QTest.mouseMove(view.plot.viewport(), (begin + end) / 2)
    QTest.mouseMove(view.plot.viewport(), end)
    view.plot.grab()
    QTest.mouseRelease(view.plot.viewport(), Qt.MouseButton.LeftButton, modifier, end)


def test_a_click_selects_and_a_drag_scrubs(make) -> None:
    session = session_of(spike(100, 50))
    view = make(session)
    QTest.mouseClick(view.plot.viewport(), Qt.MouseButton.LeftButton, pos=at(view, 20.5))
    assert session.selection.step == 20
    steps = []
    view.bridge.selection_changed.connect(lambda: steps.append(session.selection.step))
    drag(view, at(view, 30.5), at(view, 60.5))
    assert steps == [30, 45, 60]


def test_brushing_a_range_filters_and_can_be_cleared(make) -> None:
    session = session_of(small_timeline())
    view = make(session)
    drag(view, at(view, 2.2), at(view, 4.6), SHIFT)
    assert session.selection.span == (2, 5)
    assert "range 2 … 4" in view.line.full_text
    view.controls.filter_box.setCurrentIndex(view.controls.filter_box.findData(LifetimeFilter.SPAN))
    assert [row.root for row in view.bars.rows] == [0, 2]
    drag(view, at(view, 6.9), at(view, 5.1), SHIFT)
    assert session.selection.span == (5, 7)
    assert 1 not in [row.root for row in view.bars.rows]
    assert view.controls.clear_button.isVisible()
    QTest.keyClick(view.plot, Qt.Key.Key_Escape)
    assert session.selection.span is None
    assert view.bars.rows == ()
    assert not view.controls.clear_button.isVisible()


def wheel(widget, place: QPoint, delta: int, modifier=NONE) -> None:
    event = QWheelEvent(
        place.toPointF(), widget.mapToGlobal(place).toPointF(), QPoint(), QPoint(0, delta),
        Qt.MouseButton.NoButton, modifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(widget, event)


def test_zoom_has_a_history_to_go_back_through(make) -> None:
    session = session_of(spike(1000, 50))
    view = make(session)
    axis = view.axis
    assert (axis.first, axis.last) == (0, 1000)
    drag(view, at(view, 200), at(view, 400), CTRL)
    assert axis.first == pytest.approx(200, abs=2)
    assert axis.last == pytest.approx(400, abs=2)
    first = (axis.first, axis.last)
    place = at(view, 300)
    before = view.plot.value(place).x()
    wheel(view.plot.viewport(), place, 240)
    assert axis.last - axis.first == pytest.approx((first[1] - first[0]) / 1.25**2)
    assert view.plot.value(place).x() == pytest.approx(before)
    drag(view, at(view, 290, below=True), at(view, 310, below=True))
    assert axis.last - axis.first == pytest.approx(20, abs=1)
    QTest.keyClick(view.plot, Qt.Key.Key_Backspace)
    QTest.keyClick(view.plot, Qt.Key.Key_Backspace)
    assert (axis.first, axis.last) == pytest.approx(first)
    QTest.keyClick(view.plot, Qt.Key.Key_Backspace)
    assert (axis.first, axis.last) == (0, 1000)
    assert not axis.can_go_back
    view.axis.show(5, 50)
    QTest.mouseDClick(view.plot.viewport(), Qt.MouseButton.LeftButton, pos=at(view, 20))
    assert axis.is_fit
    QTest.keyClick(view.plot, Qt.Key.Key_Backspace)
    assert (axis.first, axis.last) == (5, 50)
    QTest.keyClick(view.plot, Qt.Key.Key_0)
    assert axis.is_fit


def test_the_cursor_stays_visible_and_can_be_centred(make) -> None:
    session = session_of(spike(1000, 900))
    view = make(session)
    view.axis.show(100, 200)
    QTest.keyClick(view.plot, Qt.Key.Key_P)
    assert session.selection.step == 900
    assert view.axis.first <= 900 < view.axis.last
    assert view.axis.last - view.axis.first == pytest.approx(100)
    view.axis.fit()
    QTest.keyClick(view.plot, Qt.Key.Key_F)
    assert (view.axis.first + view.axis.last) / 2 == pytest.approx(875, abs=30)
    assert not view.axis.is_fit


def test_an_axis_stays_inside_its_steps(qtbot) -> None:
    axis = StepZoom()
    axis.set_steps(100, keep=False)
    axis.show(-50, 20)
    assert (axis.first, axis.last) == (0, 70)
    axis.show(90, 90.1)
    assert axis.last - axis.first == pytest.approx(4)
    axis.pan(1000)
    assert axis.last == 100
    axis.set_steps(50, keep=True)
    assert axis.last <= 50
    axis.set_steps(2, keep=False)
    axis.zoom(10, QPointF(1, 0))
    assert (axis.first, axis.last) == (0, 2)
    assert not axis.back()


# -- lifetimes -------------------------------------------------------------------------------------------------------


def test_lifetimes_are_sorted_picked_and_lit(make) -> None:
    session = session_of(small_timeline())
    view = make(session)
    assert [row.root for row in view.bars.rows] == [3, 0, 2, 1, 4]
    box = view.controls.order_box
    box.setCurrentIndex(box.findData(LifetimeOrder.START))
    assert [row.root for row in view.bars.rows] == [0, 1, 2, 3, 4]
    height = view.bars.row_height()
    QTest.mouseClick(view.bars.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(200, height * 2 + 4))
    assert session.selection.allocation == 2
    QTest.keyClick(view.bars, Qt.Key.Key_Down)
    assert session.selection.allocation == 3
    QTest.keyClick(view.bars, Qt.Key.Key_Up)
    QTest.keyClick(view.bars, Qt.Key.Key_Up)
    assert session.selection.allocation == 1
    assert view.plot.lit_spans == ((0, 2),)
    image = view.bars.grab().toImage()
    assert image.pixelColor(2, height + 4).name() == QColor(view.bridge.theme.selection).name()
    plot = view.bars
    inside = image.pixelColor(round(plot.pixel(1.5).x()), height + height - 4).name()
    outside = image.pixelColor(round(plot.pixel(6.5).x()), height + height - 4).name()
    assert outside == QColor(view.bridge.theme.selection).name() != inside
    tip = view.bars.tip_at(QPointF(0, 0))
    assert tip.startswith("weights #0\nstandard, largest on a tile 64.0 KiB (65,536 B)")


def test_live_at_the_step_follows_the_cursor(make) -> None:
    session = session_of(small_timeline())
    view = make(session)
    view.controls.filter_box.setCurrentIndex(view.controls.filter_box.findData(LifetimeFilter.STEP))
    session.select_step(1)
    assert {row.root for row in view.bars.rows} == {0, 1, 2}
    session.select_step(7)
    assert {row.root for row in view.bars.rows} == {0, 4}


def test_thousands_of_rows_scroll(make) -> None:
    allocs = [Alloc(f"v{index}", 3000 - index, 0, 1) for index in range(3000)]
    session = session_of(make_timeline(FakeProgram(1, [Step(), Step()], allocs)))
    view = make(session)
    wheel(view.bars.viewport(), QPoint(100, 20), -1200)
    assert view.bars.offset == 30
    assert view.scroll_bar.value() == 30
    view.scroll_bar.setValue(100)
    assert view.bars.rows[view.bars.offset].root == 100
    session.select_allocation(2500)
    assert view.bars.offset <= 2500 < view.bars.offset + view.bars.page()
    view.bars.grab()
    view.controls.lifetimes_action.setChecked(False)
    assert not view.bars.isVisible()


# -- life ------------------------------------------------------------------------------------------------------------


def test_nothing_open_and_empty_programs(make) -> None:
    session = Session()
    view = make(session)
    assert view.data is None
    view.grab()
    show(session, make_timeline(FakeProgram(1, [], [])))
    assert view.plot.message == "The program has no steps"
    view.grab()
    show(session, make_timeline(FakeProgram(1, [Step()], [Alloc("a", 5, 0, 0)])))
    assert len(view.data.curves) == 1
    view.grab()
    session.open(None)
    assert view.plot.message == "Nothing is open"
    assert view.bars.rows == ()
    view.grab()


def test_a_new_estimate_keeps_the_zoom_and_a_new_document_does_not(make) -> None:
    session = session_of(spike(500, 50))
    view = make(session)
    view.axis.show(100, 200)
    publish(session, spike(520, 60))
    assert (view.axis.first, view.axis.last) == (100, 200)
    assert view.data.curves.total[60] == 500 * KIB
    show(session, spike(30, 5))
    assert (view.axis.first, view.axis.last) == (0, 30)
    assert not view.axis.can_go_back


@pytest.mark.parametrize("size", [(180, 200), (380, 300), (1600, 900)])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_paints_at_any_size(make, size: tuple[int, int], theme: str) -> None:
    session = session_of(big_timeline(16, 80, 120, unavailable=2))
    view = make(session, theme, size)
    set_baseline(session, big_timeline(16, 70, 100))
    session.select_tiles((3,))
    session.select(replace(session.selection, span=(10, 20), operation=5, allocation=4))
    for mode in CurveMode:
        view.set_mode(mode)
        for stacked in (True, False):
            view.set_stacked(stacked)
            assert not view.grab().isNull()


def test_csv_and_svg(make) -> None:
    session = session_of(small_timeline())
    view = make(session)
    view.set_stacked(True)
    lines = view.table_csv().splitlines()
    fields = lines[0].split(",")
    assert fields[:5] == ["step", "operation", "kind", "execution_count", "tile"]
    assert fields[5:10] == ["standard_bytes", "interleaved_bytes", "total_bytes", "unavailable", "over"]
    assert lines[6].startswith("5,5,Product,1,2,585728,65536,651264,no,yes,65536,520192,65536,0,0")
    assert b"<svg" in svg_bytes(picture_of(view))


def test_themes_change_in_place(make) -> None:
    view = make(session_of(small_timeline()))
    before = view.plot.grab().toImage().pixelColor(2, 2).name()
    view.bridge.set_theme(load_theme("dark"))
    assert view.plot.grab().toImage().pixelColor(2, 2).name() != before


def test_hovering_a_step_tells_its_operation(make, qtbot) -> None:
    view = make(session_of(small_timeline()))
    QTest.mouseMove(view.plot.viewport(), at(view, 1.5))
    with qtbot.waitSignal(view.bridge.hovered) as caught:
        QTest.mouseMove(view.plot.viewport(), at(view, 3.5))
    assert caught.args == [3, None, None]
    assert view.bars.pointed_at == 3
    assert view.session.selection.step == 5


def test_actions_do_what_they_say(make) -> None:
    view = make(session_of(spike(100, 40)))
    actions = {action.text(): action for action in view.view_actions()}
    actions["Timeline: stack by operation"].trigger()
    assert view.data.layers
    view.axis.show(5, 20)
    actions["Timeline: zoom to all steps"].trigger()
    assert view.axis.is_fit
    actions["Timeline: zoom back"].trigger()
    assert (view.axis.first, view.axis.last) == (5, 20)
    actions["Timeline: largest of each class"].trigger()
    assert view.data.curves.mode is CurveMode.LARGEST


def test_steps_of_the_selected_operation_are_lit(make) -> None:
    session = session_of(spike(100, 40))
    view = make(session)
    session.select_operation(3)
    assert np.flatnonzero(view.plot.lit_steps).tolist() == list(range(30, 40))
    session.select_operation(None)
    assert view.plot.lit_steps is None


def test_ranges_by_key(make, qtbot) -> None:
    session = session_of(spike(200, 50))
    view = make(session)
    session.select_step(40)
    QTest.keyClick(view.plot, "[")
    assert session.selection.span == (40, 41)
    session.select_step(59)
    QTest.keyClick(view.plot, "]")
    assert session.selection.span == (40, 60)
    session.select_step(50)
    QTest.keyClick(view.plot, "[")
    assert session.selection.span == (50, 60)
    # Before the start: the range ends with the step and is that step alone.
    session.select_step(10)
    QTest.keyClick(view.bars, "]")
    assert session.selection.span == (10, 11)
    session.select_step(99)
    QTest.keyClick(view.bars, "]")
    assert session.selection.span == (10, 100)
    QTest.keyClick(view.plot, Qt.Key.Key_Z)
    assert view.axis.first == pytest.approx(10 - 3.6)
    assert view.axis.last == pytest.approx(100 + 3.6)
    QTest.keyClick(view.plot, Qt.Key.Key_Backspace)
    assert view.axis.is_fit
    QTest.keyClick(view.plot, Qt.Key.Key_Escape)
    with qtbot.waitSignal(view.bridge.message) as caught:
        QTest.keyClick(view.plot, Qt.Key.Key_Z)
    assert caught.args[0].startswith("No range of steps is chosen")


def test_a_low_pane_gives_its_height_to_the_curves(make, qtbot) -> None:
    session = session_of(small_timeline())
    view = make(session, size=(900, 560))
    line = view.fontMetrics().height()
    assert view.plot.isVisible()
    assert view.bars.isVisible()
    assert view.line.y() > view.controls.options_button.y()
    view.resize(900, 13 * line)
    qtbot.waitUntil(lambda: not view.bars.isVisible())
    # The line of text stands beside the controls, and the curves have most of the height and their axis.
    button = view.controls.options_button
    qtbot.waitUntil(lambda: abs(view.line.geometry().center().y() - button.geometry().center().y()) <= 2)
    assert view.line.x() >= button.x() + button.width()
    assert view.plot.height() >= 0.6 * view.height()
    assert view.plot.area().bottom() + line <= view.plot.height()
    assert not view.controls.order_box.isVisible()
    # Bars in place of the curves, by one button.
    view.controls.bars_button.click()
    assert view.bars.isVisible()
    assert not view.plot.isVisible()
    assert view.controls.order_box.isVisible()
    view.controls.bars_button.click()
    assert view.plot.isVisible()
    view.resize(900, 9 * line)
    assert not view.legend.isVisible()
    view.resize(900, 560)
    qtbot.waitUntil(lambda: view.bars.isVisible() and view.legend.isVisible())
    assert view.plot.height() > 1.5 * view.bars.height()


def test_names_from_files_are_no_markup(make) -> None:
    timeline = make_timeline(FakeProgram(1, [Step("<b>x</b> y")], [Alloc("<i>a</i>", 64, 0, 0)]))
    view = make(session_of(timeline))
    assert "&lt;b&gt;" in view.line.toolTip()
    assert "<b>" not in view.line.toolTip()


def test_lifetime_bars_show_who_makes_and_uses_an_allocation(make) -> None:
    session = opened("so400m-over.recipe.json")
    view = make(session)
    session.select_step(0)
    row = next(row for row in view.bars.rows if row.root == 455)
    uses = view.lives.uses(row.root)
    assert uses
    assert all(row.first <= step <= row.last for step in uses)
    program = session.estimate.program
    touching = {
        flat.index
        for flat in program.flatten()
        for value in (*flat.step.inputs, *flat.step.results)
        if view.timeline.values[row.root].id == value
    }
    assert touching <= set(uses)
    tip = view.lives.tip(row)
    assert f"made in step {min(uses)}: operation" in tip
    assert f"last used in step {max(uses)}: operation" in tip
    place = view.bars.rows.index(row) - view.bars.offset
    height, plot = view.bars.row_height(), view.bars
    image = view.bars.grab().toImage()
    x, bottom = round(plot.pixel(max(uses) + 0.5).x()), place * height + height - 4
    found = {image.pixelColor(x + dx, bottom - dy).name() for dx in (-1, 0, 1) for dy in (0, 1, 2)}
    assert QColor(view.bridge.theme.total).name() in found


def test_an_arrow_points_to_bars_out_of_view(make) -> None:
    session = session_of(spike(200, 20))
    view = make(session)
    session.select_step(150)
    view.axis.show(120, 180)
    assert not view.bars.grab().isNull()
    view.axis.show(0, 10)
    assert not view.bars.grab().isNull()


def test_operations_are_stacked_at_first_and_the_hint_says_what_one_does(show_view) -> None:
    view = show_view(TimelineView, session_of(small_timeline()))
    assert view.controls.stacked
    assert [layer.name for layer in view.data.layers][:2] == ["parameters", "op 5"]
    assert "Shift+drag: measure a range" in view.hint.text()


def test_a_range_is_measured(make) -> None:
    session = session_of(small_timeline())
    view = make(session)
    drag(view, at(view, 2.2), at(view, 5.6), SHIFT)
    # Totals of the fullest tile: 128, 130, 128 and 636 KiB.
    assert session.selection.span == (2, 6)
    assert view.hint.text() == (
        "Steps 2 … 5 (4) · total 128.0 KiB → 636.0 KiB, +508.0 KiB (520,192 B) · most 636.0 KiB at step 5 · "
        "least 128.0 KiB at step 2"
    )
    QTest.keyClick(view.plot, Qt.Key.Key_Escape)
    assert "drag: go to a step" in view.hint.text()


def test_an_edge_of_the_range_can_be_dragged(make) -> None:
    session = session_of(spike(100, 50))
    view = make(session)
    session.select(replace(session.selection, step=5, span=(20, 40)))
    drag(view, at(view, 40), at(view, 60.2))
    assert session.selection.span == (20, 60)
    assert session.selection.step == 5


def test_w_a_s_d_zoom_and_move(make) -> None:
    session = session_of(spike(1000, 50))
    view = make(session)
    QTest.keyClick(view.plot, Qt.Key.Key_W)
    width = view.axis.last - view.axis.first
    assert width == pytest.approx(1000 / 1.5)
    first = view.axis.first
    QTest.keyClick(view.plot, Qt.Key.Key_D)
    assert view.axis.first > first
    QTest.keyClick(view.bars, Qt.Key.Key_A)
    assert view.axis.first == pytest.approx(first)
    QTest.keyClick(view.plot, Qt.Key.Key_S)
    assert view.axis.is_fit
    session.select_step(3)
    QTest.keyClick(view.plot, Qt.Key.Key_S)
    assert session.selection.step == 3, "zooming out once too often selects nothing"
    QTest.keyClick(view.plot, Qt.Key.Key_S, SHIFT)
    assert session.selection.step == 50


def test_m_asks_for_a_note_on_the_step(make) -> None:
    session = session_of(small_timeline())
    view = make(session)
    session.select_step(2)
    QTest.keyClick(view.plot, Qt.Key.Key_M)
    dialog = view.findChild(QInputDialog)
    assert dialog.windowTitle() == "Note on step 2"
    dialog.setTextValue("too much")
    dialog.accept()
    assert view.notes.by_step() == {2: "too much"}


def test_notes_are_kept_with_the_file(make, show_view) -> None:
    view = make(session_of(small_timeline()))
    view.notes.write(3, "look at   this")
    assert view.data.notes == ((3, "look at this"),)
    assert "note: look at this" in view.tip(3)
    again = show_view(TimelineView, session_of(small_timeline()))
    assert again.notes.by_step() == {3: "look at this"}
    again.notes.write(3, " ")
    assert again.notes.by_step() == {}
    other = session_of(small_timeline())
    show(other, small_timeline(), "other.timeline.json")
    assert show_view(TimelineView, other).notes.by_step() == {}


def test_a_strip_of_numbers_appears_with_its_numbers(make) -> None:
    view = make(session_of(small_timeline()))
    assert not view.strip.isVisible()
    known = np.ones(8, dtype=np.bool_)
    known[2] = False
    view.show_cycles(np.arange(8) * 1000, known, most="step 7: 7,000")
    assert view.strip.isVisible()
    assert view.strip.tip_at(view.strip.pixel(3.5)) == "Step 3: 3,000 planner's cycles"
    assert view.strip.tip_at(view.strip.pixel(2.5)) == "Step 2: not known"
    view.controls.cycles_action.setChecked(False)
    assert not view.strip.isVisible()


def test_what_is_pointed_at_elsewhere_is_lit(make) -> None:
    session = session_of(spike(100, 40))
    view = make(session)
    session.select_operation(3)
    view.bridge.hovered.emit(5, None, None)
    assert np.flatnonzero(view.plot.lit_steps).tolist() == list(range(50, 60))
    view.bridge.hovered.emit(None, None, None)
    assert np.flatnonzero(view.plot.lit_steps).tolist() == list(range(30, 40))


@pytest.mark.parametrize("height", [20, 40, 60, 200, 800])
def test_an_axis_of_bytes_has_two_ticks_however_low_it_is(qtbot, height: int) -> None:
    axis = ByteAxis()
    texts = [text for _, text in axis.ticks(0.0, 620.0 * KIB, height)]
    assert texts[:1] == ["0 KiB"]
    assert len(texts) >= 2
