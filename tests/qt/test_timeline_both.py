"""Fullest tile and selected tile at once: both drawn, told apart without colour, named, and never thinned out."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from PySide6.QtGui import QColor, QImage

from tests.helpers.fake_session import publish, session_of, set_baseline
from tests.helpers.fake_timeline import Alloc, FakeProgram, Step, big_timeline, make_timeline
from tileview.model.timeline import Timeline
from tileview.present.curves import CurveMode
from tileview.qt.views.timeline.view import TimelineView
from tileview.session.session import Session

KIB = 1024


@pytest.fixture
def make(show_view):
    """Makes shown views and shuts them down at the end."""

    def build(session: Session, theme: str = "light", size: tuple[int, int] = (900, 560)) -> TimelineView:
        view = show_view(TimelineView, session, theme, size)
        view.set_stacked(False)
        return view

    return build


def two_levels(steps: int = 12) -> Timeline:
    """Tile 0 holds 500 KiB throughout, tile 1 200 KiB, tile 2 260 KiB of which 60 KiB interleaved, tile 3 nothing."""
    allocs = [
        Alloc("a", [500 * KIB, 200 * KIB, 200 * KIB, 0], 0, -1),
        Alloc("b", [0, 0, 60 * KIB, 0], 0, -1, interleaved=True),
    ]
    return make_timeline(FakeProgram(4, [Step(source=index) for index in range(steps)], allocs))


def column(view: TimelineView, size: int, reach: int = 2) -> QImage:
    """A strip along the plot's whole width around a number of bytes, the cursor's step left out."""
    plot = view.plot
    left = round(plot.pixel(1.2).x())
    y = round(plot.pixel(0, size).y())
    return view.plot.grab().toImage().copy(left, y - reach, round(plot.area().right()) - left - 4, 2 * reach + 1)


def darkest(strip: QImage) -> np.ndarray:
    """(columns,) 0 … 255: the darkest grey in each column of a strip."""
    grey = strip.convertToFormat(QImage.Format.Format_Grayscale8)
    rows = [[QColor(grey.pixel(x, y)).red() for x in range(grey.width())] for y in range(grey.height())]
    return np.array(rows).min(axis=0)


def dark_rows(strip: QImage, below: int) -> int:
    """How many rows of a strip have dark pixels: the thickness of a line across."""
    grey = strip.convertToFormat(QImage.Format.Format_Grayscale8)
    rows = [[QColor(grey.pixel(x, y)).red() for x in range(grey.width())] for y in range(grey.height())]
    return int((np.array(rows).min(axis=1) < below).sum())


def test_both_stand_at_their_bytes_and_differ_in_greyscale(make) -> None:
    session = session_of(two_levels())
    view = make(session)
    session.select_step(0)
    session.select_tiles((1,))
    first, second = column(view, 500 * KIB), column(view, 200 * KIB)
    # Black on white: the fullest tile's line has no gap, the selected tile's is broken and thinner.
    assert darkest(first).max() < 90
    gaps = darkest(second) > 200
    assert 0.1 < gaps.mean() < 0.6
    assert np.count_nonzero(np.diff(gaps.astype(int))) > 20
    assert dark_rows(second, 128) < dark_rows(first, 128)


def test_classes_of_the_selected_tile_are_drawn_as_well(make) -> None:
    session = session_of(two_levels())
    view = make(session)
    session.select_step(0)
    session.select_tiles((2,))
    strip = column(view, 60 * KIB)
    colours = {strip.pixelColor(x, y).name() for x in range(strip.width()) for y in range(strip.height())}
    assert view.bridge.theme.interleaved in colours
    session.select_tiles((1,))
    strip = column(view, 60 * KIB)
    colours = {strip.pixelColor(x, y).name() for x in range(strip.width()) for y in range(strip.height())}
    assert view.bridge.theme.interleaved not in colours


def test_the_legend_names_both_with_their_tiles_and_bytes(make) -> None:
    session = session_of(two_levels())
    view = make(session)
    assert view.controls.mode_box.currentData() == CurveMode.BOTH
    assert view.data.second is None
    assert view.legend.texts[0] == "total, fullest tile 0 500.0 KiB"
    session.select_tiles((2,))
    assert {
        "total, fullest tile 0 500.0 KiB",
        "standard 500.0 KiB",
        "interleaved 0.0 KiB",
        "total, tile 2 260.0 KiB",
        "standard, tile 2 200.0 KiB",
        "interleaved, tile 2 60.0 KiB",
    } <= set(view.legend.texts)
    assert "tile 2: 260.0 KiB (266,240 B)" in view.line.full_text
    assert "selected tile 2: total  260.0 KiB (266,240 B)" in view.tip(3)
    assert "fullest tile 0" in view.tip(3)


def test_only_one_of_them_on_demand(make) -> None:
    session = session_of(two_levels())
    view = make(session)
    session.select_tiles((2,))
    assert view.data.second is not None
    box = view.controls.mode_box
    box.setCurrentIndex(box.findData(CurveMode.WORST))
    assert view.data.second is None
    assert not any("tile 2" in text for text in view.legend.texts)
    box.setCurrentIndex(box.findData(CurveMode.TILE))
    assert view.data.second is None
    assert view.data.curves.total.tolist() == [260 * KIB] * 12
    assert view.legend.texts[0] == "total, tile 2 260.0 KiB"
    actions = {action.text(): action for action in view.view_actions()}
    actions["Timeline: fullest and selected tile"].trigger()
    assert view.data.second is not None
    assert box.currentData() == CurveMode.BOTH


@pytest.mark.parametrize("at", [0, 1717, 1718, 3998])
def test_a_peak_of_one_step_never_vanishes_from_the_second_curve(make, at: int) -> None:
    allocs = [
        Alloc("flat", [500 * KIB, 40 * KIB], 0, -1, parameter=True),
        Alloc("spike", [0, 300 * KIB], at, at),
    ]
    session = session_of(make_timeline(FakeProgram(2, [Step(source=index // 10) for index in range(4000)], allocs)))
    view = make(session)
    session.select_step(3000 if at < 2000 else 10)
    session.select_tiles((1,))
    plot = view.plot
    image = view.plot.grab().toImage()
    x = round(plot.pixel(at + 0.5).x())
    found = set()
    for size in range(60 * KIB, 330 * KIB, 2 * KIB):
        y = round(plot.pixel(0, size).y())
        if any(image.pixelColor(x + dx, y).lightness() < 128 for dx in range(-2, 3)):
            found.add(size)
    # The rise of one step, dashed: most of its height is dark, where beside it nothing is.
    assert len(found) > 0.5 * 135
    beside = round(plot.pixel(at + (300 if at < 2000 else -300)).x())
    rows = range(round(plot.pixel(0, 330 * KIB).y()), round(plot.pixel(0, 60 * KIB).y()))
    assert not any(image.pixelColor(beside, y).lightness() < 128 for y in rows)


def test_stacked_by_group_the_selected_tile_lies_over_the_layers(make) -> None:
    session = session_of(two_levels())
    view = make(session)
    session.select_step(0)
    session.select_tiles((1,))
    view.set_stacked(True)
    assert view.data.layers
    gaps = darkest(column(view, 200 * KIB, 1))
    assert (gaps < 90).mean() > 0.4
    assert "total, tile 1 200.0 KiB" in view.legend.texts


def test_the_table_has_columns_of_the_second_tile(make) -> None:
    session = session_of(two_levels())
    view = make(session)
    session.select_tiles((2,))
    rows = list(csv.DictReader(io.StringIO(view.table_csv())))
    assert [int(row["tile 2 total_bytes"]) for row in rows] == [260 * KIB] * 12
    assert [int(row["tile 2 standard_bytes"]) for row in rows] == [200 * KIB] * 12
    assert [int(row["tile 2 interleaved_bytes"]) for row in rows] == [60 * KIB] * 12
    assert [int(row["total_bytes"]) for row in rows] == [500 * KIB] * 12
    session.select_tiles(())
    assert "tile 2 total_bytes" not in view.table_csv()


def test_unavailable_steps_have_no_second_curve_either(make) -> None:
    allocs = [Alloc("a", [90 * KIB, 64 * KIB], 0, -1), Alloc("lost", None, 4, 6)]
    session = session_of(make_timeline(FakeProgram(2, [Step() for _ in range(10)], allocs)))
    view = make(session)
    session.select_tiles((1,))
    assert view.data.second.unavailable.tolist() == [False] * 4 + [True] * 3 + [False] * 3
    session.select_step(5)
    assert "total, tile 1 unavailable" in view.legend.texts
    assert "18446744073709551615" not in view.tip(5) + view.table_csv()


def test_what_of_a_large_file_is_still_being_read_is_said_to_be_so(make) -> None:
    """Curves of a tile need the numbers of every step; those not read yet are neither numbers nor unavailable."""
    timeline = two_levels()
    timeline.tiles.scanned = 5
    session = session_of(timeline)
    view = make(session)
    session.select_tiles((2,))
    session.select_step(8)
    assert view.data.second.unavailable.tolist() == [False] * 5 + [True] * 7
    assert "total, tile 2 not read yet" in view.legend.texts
    assert "total, fullest tile 0 500.0 KiB" in view.legend.texts
    assert view.line.full_text.endswith("tile 2: not read yet")
    assert "selected tile 2  not read yet" in view.tip(8)
    rows = list(csv.DictReader(io.StringIO(view.table_csv())))
    assert [row["tile 2 total_bytes"] for row in rows] == [str(260 * KIB)] * 5 + [""] * 7
    colours = column(view, 260 * KIB)
    plot = view.plot
    read_until = round(plot.pixel(5).x()) - round(plot.pixel(1.2).x())
    assert darkest(colours)[: read_until - 8].min() < 128
    assert darkest(colours.copy(read_until + 8, 0, 60, colours.height())).min() > 128
    timeline.tiles.scanned = 12
    view.refresh()
    assert "total, tile 2 260.0 KiB" in view.legend.texts


def test_the_tile_changes_and_the_worst_curves_stay(make) -> None:
    session = session_of(big_timeline(64, 300, 200))
    view = make(session)
    session.select_tiles((3,))
    before = view.data.curves
    session.select_tiles((4,))
    assert view.data.curves is before
    assert view.data.second.total.tolist() == session.timeline.tiles.tile_curve(4).sum(axis=1).tolist()
    publish(session, big_timeline(64, 300, 200, seed=2))
    assert view.data.curves is not before
    assert view.data.second.total.tolist() == session.timeline.tiles.tile_curve(4).sum(axis=1).tolist()


def test_with_the_baseline_behind(make) -> None:
    session = session_of(two_levels())
    view = make(session)
    set_baseline(session, two_levels())
    publish(session, two_levels())
    session.select_tiles((1,))
    assert view.data.baseline is not None
    assert view.data.second is not None
    view.grab()
