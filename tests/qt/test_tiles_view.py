"""The tile view: what it draws, what keys and clicks do, what it says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.helpers.fake_session import publish, session_of, set_baseline, show
from tests.helpers.fake_timeline import Alloc, FakeProgram, Step, big_timeline, make_timeline, small_timeline
from tileview.core.geometry.chip import grid
from tileview.present.rasters import Metric, Scale, ScaleMode, load_order
from tileview.present.scales import LEVELS, OVER_LINE, Ramp, ramp_table
from tileview.qt.base.theme import load_theme
from tileview.qt.files.export_view import picture_of
from tileview.qt.plot.picture import svg_bytes
from tileview.qt.views.tiles.view import TilesView
from tileview.session.session import Session

KIB = 1024


@pytest.fixture
def make(show_view):
    """Makes shown views and shuts them down at the end."""

    def build(session: Session, theme: str = "light", size: tuple[int, int] = (700, 460)) -> TilesView:
        return show_view(TilesView, session, theme, size)

    return build


def chip_timeline():
    """1472 tiles, two steps; the load grows with the logical number, tiles from 1400 on are over at step 1."""
    load = (np.arange(1472) * 300).tolist()
    more = [200 * KIB if tile >= 1400 else 0 for tile in range(1472)]
    return make_timeline(FakeProgram(1472, [Step(), Step(source=3)], [Alloc("a", load, 0, 1), Alloc("b", more, 1, 1)]))


def pixel(view: TilesView, tile: int, dx: float = 0.5, dy: float = 0.5) -> QColor:
    """The colour of a place inside a cell."""
    box = view.map.cell_rect(tile)
    image = view.map.grab().toImage()
    return image.pixelColor(int(box.left() + box.width() * dx), int(box.top() + box.height() * dy))


def colours(view: TilesView, tile: int) -> set[str]:
    """All colours of a cell."""
    box = view.map.cell_rect(tile).toRect()
    image = view.map.grab().toImage()
    return {
        image.pixelColor(x, y).name() for x in range(box.left(), box.right()) for y in range(box.top(), box.bottom())
    }


def around(view: TilesView, tile: int) -> set[str]:
    """All colours of a cell and of the lines around it."""
    box = view.map.cell_rect(tile).toRect().adjusted(-2, -2, 2, 2)
    image = view.map.grab().toImage()
    return {
        image.pixelColor(x, y).name() for x in range(box.left(), box.right()) for y in range(box.top(), box.bottom())
    }


def centre(view: TilesView, tile: int) -> QPoint:
    return view.map.cell_rect(tile).center().toPoint()


# -- what it draws ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_are_levels_of_the_locked_scale(make, theme: str) -> None:
    session = session_of(chip_timeline())
    session.select_step(0)
    view = make(session, theme)
    assert view.scale() == Scale(0, 586_960)
    table = ramp_table(Ramp.VIRIDIS)
    for tile in (0, 46, 700, 1471):
        level = tile * 300 * (LEVELS - 1) // 586_960
        assert pixel(view, tile).name() == QColor(*table[level].tolist()).name()


def test_the_chip_order_puts_tiles_where_they_sit(make) -> None:
    view = make(session_of(chip_timeline()))
    assert view.grid.is_chip
    width, height = view.map.cell_rect(0).width(), view.map.cell_rect(0).height()
    corner = view.map.cell_rect(0).topLeft()
    for tile, row, column in ((45, 22, 2), (46, 22, 1), (1471, 0, 63)):
        place = view.map.cell_rect(tile).topLeft() - corner
        assert (round(place.y() / height), round(place.x() / width)) == (row, column)
        assert view.map.tile_at(view.map.cell_rect(tile).center()) == tile
    view.set_logical_order(True)
    place = view.map.cell_rect(65).topLeft() - view.map.cell_rect(0).topLeft()
    assert (round(place.y() / view.map.cell_rect(0).height()), round(place.x() / view.map.cell_rect(0).width())) == (
        1,
        1,
    )


def test_other_tile_counts_have_no_chip_order(make) -> None:
    view = make(session_of(small_timeline()))
    box = view.controls.picture_box
    assert [box.itemText(index) for index in range(box.count())] == ["Logical order", "Sorted by load"]
    assert (view.grid.rows, view.grid.columns) == (2, 2)
    show(view.session, chip_timeline())
    assert box.count() == 3
    assert box.currentText() == "Chip map"


def test_over_budget_tiles_are_hatched_and_marked_and_counted(make) -> None:
    session = session_of(chip_timeline())
    session.select_step(1)
    view = make(session, size=(900, 600))
    over = view.field.over
    assert over.tolist() == [tile * 300 + (200 * KIB if tile >= 1400 else 0) + 49_152 > 586_960 for tile in range(1472)]
    count = int(over.sum())
    assert 0 < count <= 72
    assert OVER_LINE in around(view, 1471)
    assert OVER_LINE not in around(view, 5)
    assert f"over budget: {count} of 1,472 tiles" in view.legend.texts
    assert f"{count} tiles over budget" in view.line.full_text


def test_unavailable_tiles_have_a_swatch_of_their_own(make) -> None:
    timeline = make_timeline(FakeProgram(4, [Step(), Step()], [Alloc("a", 64 * KIB, 0, 1), Alloc("lost", None, 1, 1)]))
    session = session_of(timeline)
    session.select_step(1)
    view = make(session)
    ramp = {QColor(*rgb).name() for rgb in ramp_table(Ramp.VIRIDIS).tolist()}
    assert view.bridge.theme.unavailable in colours(view, 2)
    assert not ramp & colours(view, 2)
    assert "unavailable: 4 tiles" in view.legend.texts
    assert view.controls.known_check.isVisible()
    view.controls.known_check.setChecked(True)
    assert ramp & colours(view, 2)
    assert "known part only" in view.line.full_text
    session.select_step(0)
    view.controls.known_check.setChecked(False)
    assert not any(text.startswith("unavailable") for text in view.legend.texts)
    assert not view.controls.known_check.isVisible()


def test_the_scale_stays_locked_until_the_user_chooses(make) -> None:
    session = session_of(chip_timeline())
    view = make(session)
    for step in (0, 1, 0):
        session.select_step(step)
        assert view.scale() == Scale(0, 586_960)
    view.set_scale(ScaleMode.AUTO)
    assert view.scale() == Scale(0, 1471 * 300)
    view.set_scale(ScaleMode.CUSTOM, (64 * KIB, 128 * KIB))
    assert view.scale() == Scale(64 * KIB, 128 * KIB)
    assert view.controls.low_box.value() == 64
    view.controls.high_box.setValue(256)
    assert view.scale() == Scale(64 * KIB, 256 * KIB)
    view.set_metric(Metric.INTERLEAVED)
    assert view.scale() == Scale(0, 424_880)
    view.set_metric(Metric.TOTAL)
    assert view.scale() == Scale(64 * KIB, 256 * KIB)


def test_boxes_choose_what_is_shown(make) -> None:
    view = make(session_of(chip_timeline()))
    controls = view.controls
    controls.metric_box.setCurrentIndex(controls.metric_box.findData(Metric.STANDARD))
    assert view.shown_metric is Metric.STANDARD
    assert view.field.metric is Metric.STANDARD
    assert controls.scale_box.currentText() == "0 … budget"
    controls.scale_box.setCurrentIndex(controls.scale_box.findData(ScaleMode.AUTO))
    assert controls.scale_box.currentText() == "Scale to step"
    assert view.scale().high == int(view.field.values.max())
    view.set_metric(Metric.ALLOCATION)
    assert controls.scale_box.currentText() == "0 … its largest"
    view.set_metric(Metric.STANDARD)
    controls.scale_box.setCurrentIndex(controls.scale_box.findData(ScaleMode.CUSTOM))
    assert controls.low_box.isVisible()
    box = controls.picture_box
    assert [box.itemText(index) for index in range(box.count())] == ["Chip map", "Logical order", "Sorted by load"]
    box.setCurrentIndex(1)
    assert not view.grid.is_chip
    assert view.map.isVisible()
    box.setCurrentIndex(2)
    assert view.bars.isVisible()
    assert not view.map.isVisible()
    box.setCurrentIndex(0)
    assert view.map.isVisible()
    assert view.grid.is_chip
    controls.ramp_actions[Ramp.CIVIDIS].trigger()
    assert controls.ramp_actions[Ramp.CIVIDIS].isChecked()
    assert not controls.ramp_actions[Ramp.VIRIDIS].isChecked()


def test_selecting_an_allocation_shows_its_bytes(make) -> None:
    session = session_of(small_timeline())
    view = make(session)
    session.select_allocation(1)
    assert view.shown_metric is Metric.ALLOCATION
    assert view.field.values.tolist() == [32 * KIB, 32 * KIB, 16 * KIB, 0]
    assert view.scale() == Scale(0, 32 * KIB)
    assert "left #1 on 3 tiles, not live at this step" in view.line.full_text
    assert "nothing there: 1 tile" in view.legend.texts
    session.select_step(1)
    assert "not live" not in view.line.full_text
    session.select_allocation(None)
    assert view.shown_metric is Metric.TOTAL
    view.controls.follow_action.setChecked(False)
    session.select_allocation(1)
    assert view.shown_metric is Metric.TOTAL


def test_difference_is_white_at_zero_and_blue_or_orange_beside(make) -> None:
    before = make_timeline(FakeProgram(3, [Step(source=1)], [Alloc("a", [100 * KIB] * 3, 0, 0)]))
    after = make_timeline(FakeProgram(3, [Step(source=1)], [Alloc("a", [100 * KIB, 164 * KIB, 36 * KIB], 0, 0)]))
    session = session_of(before)
    view = make(session)
    set_baseline(session, before)
    publish(session, after)
    view.set_metric(Metric.DIFFERENCE)
    assert view.field.values.tolist() == [0, 64 * KIB, -64 * KIB]
    assert view.scale() == Scale(-64 * KIB, 64 * KIB)
    white, more, less = (pixel(view, tile) for tile in range(3))
    assert min(white.red(), white.green(), white.blue()) > 0xEC
    assert more.red() > more.blue() + 60
    assert less.blue() > less.red() + 60
    assert "difference  +64.0 KiB (+65,536 B)" in view.tip(1)


def test_the_scale_of_differences_keeps_still_from_step_to_step(make) -> None:
    """All of few steps are looked at ahead; of many some, and the end grows once it meets a larger difference."""

    def pair(steps: int, *widened: tuple[int, int]):
        program = [Step(source=step) for step in range(steps)]
        before = make_timeline(FakeProgram(2, program, [Alloc("a", 100 * KIB, 0, -1)]))
        more = [Alloc(f"more {step}", size, step, step) for step, size in widened]
        return before, make_timeline(FakeProgram(2, program, [Alloc("a", 100 * KIB, 0, -1), *more]))

    before, after = pair(4, (1, 3 * KIB), (2, 60 * KIB))
    session = session_of(before)
    view = make(session)
    set_baseline(session, before)
    publish(session, after)
    view.set_metric(Metric.DIFFERENCE)
    for step in (0, 1, 2, 3, 1):
        session.select_step(step)
        assert view.scale() == Scale(-64 * KIB, 64 * KIB)
        assert "-64.0 KiB to +64.0 KiB" in view.legend.accessibleDescription().replace("\u2212", "-")
    assert view.controls.scale_box.currentText() == "± power of two"
    assert "same at every step" in view.controls.scale_box.toolTip()
    # Step 1 of 1,001 is none of the 32 that are looked at ahead, step 0 and the last are.
    session.select_step(0)
    before, after = pair(1001, (1, 200 * KIB), (1000, 5 * KIB))
    set_baseline(session, before)
    publish(session, after)
    ends = []
    for step in (0, 1000, 1, 0, 1000):
        session.select_step(step)
        ends.append(view.scale().high)
    assert ends == [8 * KIB, 8 * KIB, 256 * KIB, 256 * KIB, 256 * KIB]
    # Another pair starts anew.
    publish(session, pair(1001)[1])
    assert view.scale() == Scale(-KIB, KIB)


def test_the_scale_of_one_allocation_says_where_it_ends(make) -> None:
    session = session_of(small_timeline())
    view = make(session)
    box = view.controls.scale_box
    session.select_allocation(1)
    assert [box.itemText(place) for place in range(2)] == ["0 … budget", "0 … its largest"]
    assert box.currentText() == "0 … its largest"
    assert "most bytes that the allocation takes on a tile" in box.toolTip()
    box.setCurrentIndex(0)
    assert view.scale() == Scale(0, 586_960)
    assert box.toolTip() == "Scale: 0 to the budget; the same at every step"
    # Each metric keeps its own choice.
    session.select_allocation(None)
    session.select_allocation(0)
    assert box.currentText() == "0 … budget"


# -- tooltips --------------------------------------------------------------------------------------------------------


def test_a_tooltip_says_where_and_how_much(make) -> None:
    session = session_of(chip_timeline())
    session.select_step(1)
    view = make(session)
    lines = view.tip(1471).split("\n")
    assert lines[0] == "Tile 1471 · P 63 · row 0, column 63"
    assert lines[1] == "standard  631.0 KiB (646,100 B)"
    assert lines[2] == "interleaved  0.0 KiB (0 B), 0.0 % of its budget"
    assert lines[3] == "total  631.0 KiB (646,100 B), 110.1 % of the budget"
    assert lines[4] == "with reserve  679.0 KiB (695,252 B), 118.4 %: 108,292 B over"
    view.set_logical_order(True)
    assert view.tip(1471).startswith("Tile 1471 · P 63 ·")
    small = make(session_of(small_timeline()))
    small.session.select_step(6)
    assert small.tip(3).split("\n")[:2] == ["Tile 3", "standard  44.0 KiB (45,056 B), scratch 4.0 KiB of it"]


def test_an_unavailable_tooltip_gives_the_known_part_as_such(make) -> None:
    timeline = make_timeline(FakeProgram(2, [Step()], [Alloc("a", 64, 0, 0), Alloc("lost", None, 0, 0)]))
    view = make(session_of(timeline))
    assert "usage unavailable: 1 live allocation without a known size; known:" in view.tip(0)
    assert "18446744073709551615" not in view.tip(0)


# -- selection -------------------------------------------------------------------------------------------------------


def test_clicks_select_toggle_and_range(make) -> None:
    view = make(session_of(chip_timeline()))
    tiles = lambda: view.session.selection.tiles  # noqa: E731
    QTest.mouseClick(view.map.viewport(), Qt.MouseButton.LeftButton, pos=centre(view, 100))
    assert tiles() == (100,)
    QTest.mouseClick(
        view.map.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, centre(view, 300)
    )
    assert tiles() == (100, 300)
    QTest.mouseClick(
        view.map.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, centre(view, 100)
    )
    assert tiles() == (300,)
    QTest.mouseClick(view.map.viewport(), Qt.MouseButton.LeftButton, pos=centre(view, 0))
    chip = grid(1472)
    end = chip.tile_at(2, 3)
    QTest.mouseClick(
        view.map.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier, centre(view, end)
    )
    assert {(int(chip.row[tile]), int(chip.column[tile])) for tile in tiles()} == {
        (row, column) for row in range(3) for column in range(4)
    }
    assert tiles()[-1] == end


def test_arrows_move_and_shift_extends(make) -> None:
    view = make(session_of(chip_timeline()))
    chip = grid(1472)
    view.session.select_tiles((0,))
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Up):
        QTest.keyClick(view.map, key)
    assert view.session.selection.tiles == (chip.tile_at(0, 2),)
    QTest.keyClick(view.map, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClick(view.map, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    places = {(int(chip.row[tile]), int(chip.column[tile])) for tile in view.session.selection.tiles}
    assert places == {(0, 2), (1, 2), (0, 3), (1, 3)}
    assert view.session.selection.tile == chip.tile_at(1, 3)
    QTest.keyClick(view.map, Qt.Key.Key_Escape)
    assert view.session.selection.tiles == ()
    QTest.keyClick(view.map, Qt.Key.Key_Left)
    assert view.session.selection.tiles == (1471,)
    QTest.keyClick(view.map, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert len(view.session.selection.tiles) == 1472


def test_the_map_keeps_its_arrows_from_the_window(make) -> None:
    view = make(session_of(chip_timeline()))
    for key, kept in ((Qt.Key.Key_Left, True), (Qt.Key.Key_F, True), (Qt.Key.Key_0, True), (Qt.Key.Key_P, False)):
        event = QKeyEvent(QEvent.Type.ShortcutOverride, key, Qt.KeyboardModifier.NoModifier)
        event.ignore()
        QApplication.sendEvent(view.map, event)
        assert event.isAccepted() == kept, key


def test_centre_zoom_and_fit(make) -> None:
    view = make(session_of(chip_timeline()))
    view.session.select_tiles((700,))
    QTest.keyClick(view.map, Qt.Key.Key_F)
    assert view.map.magnification > 1
    middle = view.map.cell_rect(700).center()
    assert abs(middle.x() - view.map.width() / 2) < view.map.cell_rect(700).width() + 30
    assert abs(middle.y() - view.map.height() / 2) < view.map.cell_rect(700).height() + 20
    assert view.map.tile_at(middle) == 700
    place = QPointF(200, 100)
    under = view.map.tile_at(place)
    view.map.view_zoom.zoom(1.5, view.map.value(place))
    assert view.map.tile_at(place) == under
    view.map.grab()
    QTest.keyClick(view.map, Qt.Key.Key_0)
    assert view.map.magnification == 1


def test_w_a_s_d_zoom_and_move(make) -> None:
    view = make(session_of(chip_timeline()))
    seen = view.map.view_zoom
    QTest.keyClick(view.map, Qt.Key.Key_W)
    QTest.keyClick(view.map, Qt.Key.Key_W)
    assert view.map.magnification > 2
    box = view.map.cell_rect(700)
    assert abs(box.width() / box.height() - view.map.cell_rect(3).width() / view.map.cell_rect(3).height()) < 0.01
    left = seen.shown.left()
    QTest.keyClick(view.map, Qt.Key.Key_D)
    assert seen.shown.left() > left
    QTest.keyClick(view.map, Qt.Key.Key_A)
    assert seen.shown.left() == pytest.approx(left)
    QTest.keyClick(view.map, Qt.Key.Key_S)
    QTest.keyClick(view.map, Qt.Key.Key_S)
    assert view.map.magnification == pytest.approx(1)


def test_a_drag_moves_a_zoomed_map_and_picks_nothing(make) -> None:
    view = make(session_of(chip_timeline()))
    view.map.view_zoom.zoom(4.0, view.map.view_zoom.shown.center())
    tile, port = view.map.tile_at(QPointF(200, 150)), view.map.viewport()
    QTest.mousePress(port, Qt.MouseButton.LeftButton, pos=QPoint(200, 150))
    QTest.mouseMove(port, QPoint(230, 160))
    QTest.mouseRelease(port, Qt.MouseButton.LeftButton, pos=QPoint(230, 160))
    assert view.map.tile_at(QPointF(230, 160)) == tile
    assert view.session.selection.tiles == ()


def over_on(tiles: set[int], count: int = 1472):
    """A timeline whose one step is over on some tiles."""
    loads = [560 * KIB if tile in tiles else 100 * KIB for tile in range(count)]
    return make_timeline(FakeProgram(count, [Step()], [Alloc("a", loads, 0, 0)]))


def test_many_tiles_over_have_a_line_around_them_and_no_hatch(make) -> None:
    """With hundreds over budget lines over the cells would hide the values: only the region is framed."""
    chip = grid(1472)
    whole = {tile for tile in range(1472) if chip.column[tile] < 40}
    hole = chip.tile_at(10, 20)
    view = make(session_of(over_on(whole - {hole})), size=(900, 600))
    inside = chip.tile_at(5, 5)
    assert len(colours(view, inside)) == 1
    edge, island = around(view, chip.tile_at(10, 39)), around(view, hole)
    assert {OVER_LINE, "#ffffff"} <= edge
    # A hole of one tile has a thin line, without the light one beside it.
    assert OVER_LINE in island
    assert "#ffffff" not in island
    # Few are hatched as well.
    view = make(session_of(over_on({chip.tile_at(10, column) for column in range(10)})), size=(900, 600))
    assert len(colours(view, chip.tile_at(10, 5))) > 1


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_line_around_tiles_over_budget_is_the_same_in_both_themes(make, theme: str) -> None:
    chip = grid(1472)
    view = make(session_of(over_on({tile for tile in range(1472) if chip.row[tile] < 9})), theme, (900, 600))
    assert OVER_LINE in around(view, chip.tile_at(8, 30))


def test_the_scale_names_the_limit_and_one_unit(make) -> None:
    view = make(session_of(chip_timeline()), size=(700, 460))
    texts = view.map.scale_bar.texts
    assert "525.2 limit" in texts
    assert texts[0] == "0 KiB"
    assert not any("B" in text for text in texts[1:])
    # Of an allocation of 7 bytes all numbers are bytes.
    session = session_of(make_timeline(FakeProgram(4, [Step()], [Alloc("a", [7, 3, 1, 0], 0, 0)])))
    view = make(session)
    session.select_allocation(0)
    assert view.scale() == Scale(0, 7)
    texts = view.map.scale_bar.texts
    assert texts[0] == "0 B"
    assert texts[-1] == "7"
    assert all(text.isdigit() for text in texts[1:])


def test_several_tiles_show_least_most_and_sum(make) -> None:
    session = session_of(small_timeline())
    session.select_step(1)
    view = make(session)
    assert view.field.values.tolist() == [98304, 163840, 147456, 32768]
    session.select_tiles((3, 0, 1))
    text = "3 tiles selected: least 32.0 KiB (tile 3), most 160.0 KiB (tile 1), sum 288.0 KiB"
    assert text in view.legend.texts
    assert text in view.map.accessibleDescription()
    session.select_tiles((1,))
    assert "selected tile 1: 160.0 KiB" in view.legend.texts


def test_a_tooltip_lists_the_largest_allocations(make) -> None:
    sizes = [70, 10, 60, 20, 50, 30, 40]
    allocs = [Alloc(f"a{size}", size * KIB, 0, 0) for size in sizes]
    view = make(session_of(make_timeline(FakeProgram(1, [Step(scratch=KIB)], allocs))))
    lines = view.tip(0).split("\n")
    start = lines.index("largest here:")
    assert lines[start + 1 :] == [
        "  70.0 KiB  a70 #0",
        "  60.0 KiB  a60 #2",
        "  50.0 KiB  a50 #4",
        "  40.0 KiB  a40 #6",
        "  30.0 KiB  a30 #5",
        "  31.0 KiB  in 3 more",
    ]


def test_a_tile_offers_its_identical_ones_and_its_name(make, qtbot) -> None:
    session = session_of(make_timeline(FakeProgram(5, [Step()], [Alloc("a", [8, 16, 8, 16, 8], 0, 0)])))
    view = make(session)
    asked = []
    view.bridge.requested.connect(lambda name, argument: asked.append((name, argument)))
    same, allocations, name, figures = view.tile_actions(2)
    assert same.text().replace("&", "") == "Select the tiles identical to tile 2"
    same.trigger()
    assert session.selection.tiles == (0, 4, 2)
    allocations.trigger()
    assert session.selection.tiles == (2,)
    assert asked == [("show_view", "allocations")]
    name.trigger()
    assert QApplication.clipboard().text() == "tile 2"
    figures.trigger()
    assert QApplication.clipboard().text() == view.tip(2)


def test_what_is_pointed_at_elsewhere_lights_up(make) -> None:
    session = session_of(small_timeline())
    view = make(session)

    def lit() -> set[int]:
        """Tiles with a dashed frame of the accent colour somewhere on their edge."""
        image, accent = view.map.grab().toImage(), view.bridge.theme.accent
        found = set()
        for tile in range(4):
            box = view.map.cell_rect(tile)
            middle = box.center().toPoint()
            column = {image.pixelColor(x, middle.y() + dy).name()
                      for x in range(int(box.left()) - 1, int(box.left()) + 2) for dy in range(-12, 12)}  # fmt: skip
            row = {image.pixelColor(middle.x() + dx, y).name()
                   for y in range(int(box.top()) - 1, int(box.top()) + 2) for dx in range(-12, 12)}  # fmt: skip
            if accent in column and accent in row:
                found.add(tile)
        return found

    assert lit() == set()
    view.bridge.hovered.emit(None, None, 2)
    assert 2 in lit()
    view.bridge.hovered.emit(None, 2, None)
    assert lit() >= {1}
    view.bridge.hovered.emit(None, None, None)
    assert lit() == set()


def test_hovering_is_told_and_followed(make, qtbot) -> None:
    view = make(session_of(chip_timeline()))
    with qtbot.waitSignal(view.bridge.hovered) as caught:
        QTest.mouseMove(view.map.viewport(), centre(view, 77))
    assert caught.args == [None, None, 77]
    assert view.session.selection.tiles == ()
    view.bridge.hovered.emit(None, None, 12)
    view.map.grab()


# -- sorted by load --------------------------------------------------------------------------------------------------


def test_bars_over_the_limit_are_hatched(make) -> None:
    session = session_of(chip_timeline())
    session.select_step(1)
    view = make(session)
    view.set_sorted(True)
    place = view.bars.pixel(20.5, 586_960 - 49_152)
    image = view.bars.grab().toImage()
    column = {image.pixelColor(int(place.x()), int(place.y()) - dy).name() for dy in range(2, 20)}
    assert view.bridge.theme.over in column
    assert len(column) > 1


def test_bars_are_sorted_and_can_be_picked(make) -> None:
    session = session_of(chip_timeline())
    session.select_step(1)
    view = make(session)
    view.set_sorted(True)
    assert view.bars.order == tuple(load_order(view.field.values).tolist())
    assert view.bars.order[0] == 1471
    view.bars.grab()
    QTest.keyClick(view.bars, Qt.Key.Key_Right)
    assert session.selection.tile == 1471
    QTest.keyClick(view.bars, Qt.Key.Key_Right)
    assert session.selection.tile == 1470
    QTest.keyClick(view.bars, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    assert session.selection.tiles[-1] == view.bars.order[11]
    assert set(session.selection.tiles) == set(view.bars.order[1:12])
    area = view.bars.area()
    QTest.mouseClick(
        view.bars.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(int(area.left()) + 2, int(area.center().y()))
    )
    assert session.selection.tiles[0] in view.bars.order[:5]
    assert view.legend.texts[:2] == ("standard", "interleaved")


def test_bars_of_an_unavailable_step_say_so(make) -> None:
    timeline = make_timeline(FakeProgram(2, [Step()], [Alloc("lost", None, 0, 0)]))
    view = make(session_of(timeline))
    view.set_sorted(True)
    assert view.bars.order == ()
    assert view.bars.message == "Unavailable: 1 live allocation has no known size"
    view.bars.grab()


# -- groups ----------------------------------------------------------------------------------------------------------


def test_groups_are_said_and_select_their_tiles(make, qtbot) -> None:
    first, second = np.full(1472, 640), np.full(1472, 128)
    first[1408:1471] = 64
    second[1471] = 4096
    allocs = [Alloc("a", first.tolist(), 0, 0), Alloc("b", second.tolist(), 1, 1)]
    session = session_of(make_timeline(FakeProgram(1472, [Step(), Step()], allocs)))
    session.select_step(0)
    view = make(session)
    assert view.groups.sentence == "1,409 identical tiles, 63 identical"
    session.select_step(1)
    assert view.groups.sentence == "1,471 identical tiles, 1 unique"
    view.groups.scope.setCurrentIndex(1)
    qtbot.waitUntil(lambda: len(view.groups.groups) == 3)
    assert view.groups.sentence == "1,408 identical tiles, 63 identical, 1 unique"
    QTest.mouseClick(view.groups.buttons[1], Qt.MouseButton.LeftButton)
    assert session.selection.tiles == tuple(range(1408, 1471))
    QTest.keyClick(view.groups.buttons[2], Qt.Key.Key_Space)
    assert session.selection.tiles == (1471,)
    view.controls.groups_action.setChecked(False)
    assert not view.groups.isVisible()
    assert not view.groups.is_searching


def test_groups_stay_on_one_line_and_the_rest_is_in_a_menu(make, qtbot) -> None:
    # Groups of 9, 8, … 2 tiles, and three tiles alone.
    loads = [size for size in range(9, 1, -1) for _ in range(size)] + [100, 101, 102]
    session = session_of(make_timeline(FakeProgram(len(loads), [Step()], [Alloc("a", loads, 0, 0)])))
    view = make(session, size=(500, 460))
    strip = view.groups
    assert strip.height() <= 2 * view.fontMetrics().height()
    shown = [button for button in strip.buttons if button.isVisible()]
    assert [button.text() for button in shown] == ["9 identical tiles,", "8 identical,", "7 identical,"][: len(shown)]
    named = len(shown)
    tiles = sum(range(9, 9 - named, -1))
    assert 1 <= named < 8
    assert strip.more.text() == f"{8 - named + 3} more groups, {len(loads) - tiles} tiles"
    assert strip.more.geometry().right() <= strip.width()
    strip.menu.aboutToShow.emit()
    texts = [action.text() for action in strip.menu.actions()]
    assert texts[-1] == "3 unique: tiles 44 … 46"
    assert len(texts) == 8 - named + 1
    strip.menu.actions()[-1].trigger()
    assert session.selection.tiles == (44, 45, 46)
    view.resize(300, 460)
    qtbot.waitUntil(lambda: strip.more.text().endswith(" more"))
    assert strip.sentence.startswith("9 identical tiles,")
    view.resize(1600, 460)
    qtbot.waitUntil(
        lambda: strip.sentence.startswith("9 identical tiles, 8 identical, 7 identical, 6 identical, 5 identical")
    )


def test_groups_of_an_unavailable_step_are_said_to_be_by_the_known_part(make) -> None:
    allocs = [Alloc("a", [8, 8, 16], 0, 1), Alloc("lost", None, 1, 1)]
    session = session_of(make_timeline(FakeProgram(3, [Step(), Step()], allocs)))
    session.select_step(0)
    view = make(session)
    assert not view.groups.label.isVisible()
    session.select_step(1)
    assert view.groups.label.isVisible()
    assert view.groups.label.text() == "known part:"
    assert view.groups.sentence == "2 identical tiles, 1 unique"
    session.select_step(0)
    assert not view.groups.label.isVisible()


def test_a_low_pane_gives_its_height_to_the_tiles(make, qtbot) -> None:
    view = make(session_of(chip_timeline()), size=(560, 560))
    view.setMinimumSize(120, 60)
    line = view.fontMetrics().height()
    high = view.legend.height()
    view.resize(560, 15 * line)
    assert view.legend.isVisible()
    assert view.map.height() >= 0.4 * view.height()
    view.resize(560, 11 * line)
    qtbot.waitUntil(lambda: not view.groups.isVisible())
    view.resize(560, 8 * line)
    qtbot.waitUntil(lambda: not view.legend.isVisible())
    view.grab()
    view.resize(560, 560)
    qtbot.waitUntil(lambda: view.legend.isVisible() and view.groups.isVisible() and view.legend.height() == high)


def test_ctrl_and_space_choose_tiles_far_apart(make) -> None:
    view = make(session_of(chip_timeline()))
    chip, control = grid(1472), Qt.KeyboardModifier.ControlModifier
    view.session.select_tiles((0,))
    start = (int(chip.row[0]), int(chip.column[0]))
    for _ in range(3):
        QTest.keyClick(view.map, Qt.Key.Key_Down, control)
    assert view.session.selection.tiles == (0,)
    cursor = chip.tile_at(start[0] + 3, start[1])
    assert view.choice.cursor == cursor
    assert view.line.full_text.startswith(f"tile {cursor}: ")
    # The cursor can be seen, and not by its colour alone: a dotted frame.
    box = view.map.cell_rect(cursor)
    image = view.map.grab().toImage()
    rows = [
        {image.pixelColor(x, round(box.top()) + dy).name() for x in range(int(box.left()), int(box.right()))}
        for dy in (-1, 0)
    ]
    assert any(view.bridge.theme.mark in row and len(row) > 1 for row in rows)
    QTest.keyClick(view.map, Qt.Key.Key_Space)
    assert view.session.selection.tiles == (0, cursor)
    QTest.keyClick(view.map, Qt.Key.Key_Down, control)
    QTest.keyClick(view.map, Qt.Key.Key_Space, control)
    assert set(view.session.selection.tiles) == {0, cursor, chip.tile_at(start[0] + 4, start[1])}
    QTest.keyClick(view.map, Qt.Key.Key_Up, control)
    QTest.keyClick(view.map, Qt.Key.Key_Space)
    assert set(view.session.selection.tiles) == {0, chip.tile_at(start[0] + 4, start[1])}
    QTest.keyClick(view.map, Qt.Key.Key_Right)
    assert view.session.selection.tiles == (chip.tile_at(start[0] + 3, start[1] + 1),)
    assert view.choice.cursor is None
    view.set_sorted(True)
    QTest.keyClick(view.bars, Qt.Key.Key_Right, control)
    QTest.keyClick(view.bars, Qt.Key.Key_Space)
    assert len(view.session.selection.tiles) == 2
    view.bars.grab()
    QTest.keyClick(view.bars, Qt.Key.Key_Escape)
    assert view.session.selection.tiles == ()
    assert view.choice.cursor is None


# -- life ------------------------------------------------------------------------------------------------------------


def test_nothing_open_and_no_timeline(make) -> None:
    session = Session()
    view = make(session)
    assert view.line.full_text == "Nothing is open"
    view.grab()
    show(session, small_timeline())
    assert view.line.full_text.startswith("Step 5/8")
    session.open(None)
    assert view.field is None
    assert view.tip(0) == ""
    view.grab()


def test_another_program_with_other_tiles_is_shown(make) -> None:
    session = session_of(chip_timeline())
    session.select_tiles((1400,))
    view = make(session)
    publish_again = small_timeline()
    show(session, publish_again)
    assert view.map.tile_at(view.map.cell_rect(3).center()) == 3
    view.grab()
    show(session, make_timeline(FakeProgram(1, [Step()], [])))
    view.grab()
    show(session, make_timeline(FakeProgram(3, [], [])))
    assert view.field is None
    view.grab()


def test_rows_and_columns_are_numbered_also_after_nothing_was_open(make) -> None:
    session = Session()
    view = make(session)
    show(session, chip_timeline())
    QApplication.processEvents()
    area = view.map.area()
    image, ground = view.map.grab().toImage(), view.bridge.theme.background
    for xs, ys in (
        (range(int(area.left()) - 2), range(int(area.top()), int(area.bottom()))),
        (range(int(area.left()), int(area.right())), range(int(area.top()) - 2)),
    ):
        assert {image.pixelColor(x, y).name() for x in xs for y in ys} - {ground}


@pytest.mark.parametrize("size", [(180, 160), (330, 260), (1600, 1000)])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_paints_at_any_size(make, size: tuple[int, int], theme: str) -> None:
    session = session_of(big_timeline(1472, 12, 40, unavailable=1))
    view = make(session, theme, size)
    session.select_tiles(tuple(range(100)))
    for metric in Metric:
        view.set_metric(metric)
        for by_load in (True, False):
            view.set_sorted(by_load)
            assert not view.grab().isNull()


def test_themes_change_in_place(make) -> None:
    view = make(session_of(small_timeline()))
    before = view.map.grab().toImage().pixelColor(1, 1).name()
    view.bridge.set_theme(load_theme("dark"))
    assert view.map.grab().toImage().pixelColor(1, 1).name() != before


def test_csv_and_svg(make) -> None:
    session = session_of(chip_timeline())
    session.select_step(1)
    view = make(session)
    lines = view.table_csv().splitlines()
    assert lines[0].split(",")[:5] == ["tile", "physical", "row", "column", "standard_bytes"]
    assert lines[1472].split(",")[:5] == ["1471", "63", "0", "63", "646100"]
    assert lines[1472].endswith(",yes")
    assert len(lines) == 1473
    for by_load in (False, True):
        view.set_sorted(by_load)
        assert b"<svg" in svg_bytes(picture_of(view))


def test_actions_do_what_they_say(make) -> None:
    view = make(session_of(chip_timeline()))
    actions = {action.text(): action for action in view.view_actions()}
    actions["Tiles: interleaved"].trigger()
    assert view.shown_metric is Metric.INTERLEAVED
    actions["Tiles: sorted by load"].trigger()
    assert view.bars.isVisible()
    actions["Tiles: map"].trigger()
    actions["Tiles: total"].trigger()
    actions["Tiles: select the fullest tile"].trigger()
    assert view.session.selection.tile == 1471


def test_reserve_and_budget_of_a_what_if_move_the_hatch(make) -> None:
    timeline = chip_timeline()
    session = session_of(timeline)
    session.select_step(1)
    view = make(session)
    publish(session, replace(timeline, budget_bytes=200 * KIB))
    assert view.field.over.sum() == sum(
        tile * 300 + (200 * KIB if tile >= 1400 else 0) + 49_152 > 200 * KIB for tile in range(1472)
    )
    assert view.scale() == Scale(0, 200 * KIB)
