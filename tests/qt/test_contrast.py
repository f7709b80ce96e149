"""Texts can be read, and what matters can be told apart without colour: by pixels turned to grey, in both themes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QComboBox, QLineEdit, QPushButton, QSpinBox, QTreeWidget, QVBoxLayout, QWidget

from tests.helpers.fake_session import session_of
from tests.helpers.fake_timeline import Alloc, FakeProgram, Step, make_timeline
from tests.helpers.opened import opened
from tileview.analysis.lifetimes import lifetimes
from tileview.analysis.overflows import steps_over
from tileview.present.curves import CurveMode, curves, stack
from tileview.present.graph_boxes import ColourMode, StepState
from tileview.present.scales import contrast, ink_on, parse_rgb, relative_luminance
from tileview.qt.base.theme import GROUND_TOKENS, TEXT_TOKENS, Theme, apply_theme, load_theme
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.views.graph.view import GraphView
from tileview.qt.views.tiles.view import TilesView
from tileview.qt.views.timeline.data import PlotData
from tileview.qt.views.timeline.plot import CurvePlot, StepZoom
from tileview.qt.views.timeline.view import TimelineView

KIB = 1024
READABLE = 4.5
Grey = np.ndarray

themes = pytest.mark.parametrize("name", ["light", "dark"])


def of(theme: Theme, token: str) -> tuple[int, int, int]:
    return parse_rgb(getattr(theme, token))


# -- texts -----------------------------------------------------------------------------------------------------------


@themes
@pytest.mark.parametrize("token", TEXT_TOKENS)
def test_every_text_token_can_be_read_on_every_ground(name: str, token: str) -> None:
    theme = load_theme(name)
    found = {ground: contrast(of(theme, token), of(theme, ground)) for ground in GROUND_TOKENS}
    assert min(found.values()) >= READABLE, found


@themes
def test_texts_on_grounds_of_their_own(name: str) -> None:
    theme = load_theme(name)
    assert contrast(of(theme, "accent_text"), of(theme, "accent")) >= READABLE
    assert contrast(of(theme, "selection_text"), of(theme, "selection")) >= READABLE
    # A flag of a peak: its letter is cut out of the mark.
    assert contrast(of(theme, "background"), of(theme, "mark")) >= READABLE
    for colour in theme.categories:
        assert contrast(ink_on(parse_rgb(colour)), parse_rgb(colour)) >= READABLE


@themes
def test_lines_and_marks_stand_out_from_the_ground(name: str) -> None:
    theme = load_theme(name)
    for token in ("baseline", "scratch", "standard", "interleaved", "over", "unavailable", "accent"):
        assert contrast(of(theme, token), of(theme, "background")) >= 3, token


@themes
def test_frames_of_fields_and_the_focus_are_seen(qtbot, name: str) -> None:
    """By pixels of what the style draws: 3:1 against the ground around it and against the field's own ground."""
    theme = load_theme(name)
    apply_theme(theme)
    window = QWidget()
    qtbot.addWidget(window)
    column = QVBoxLayout(window)
    fields = [QLineEdit(window), QSpinBox(window), QComboBox(window), QPushButton(window)]
    views = [QTreeWidget(window)]
    for field in (*fields, *views):
        column.addWidget(field)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)

    def frame(field: QWidget) -> tuple[int, int, int]:
        """The pixel of the outermost line of a widget, half-way up its left side."""
        image, box = window.grab().toImage(), field.geometry()
        return image.pixelColor(box.left(), box.center().y()).getRgb()[:3]

    for field in fields:
        other = fields[field is fields[0]]
        other.setFocus()
        assert min(contrast(frame(field), of(theme, ground)) for ground in ("surface", "background")) >= 3, field
    for field in (*fields, *views):
        field.setFocus(Qt.FocusReason.TabFocusReason)
        assert field.hasFocus()
        assert min(contrast(frame(field), of(theme, ground)) for ground in ("surface", "background")) >= 3, field
        fields[field is fields[0]].setFocus(Qt.FocusReason.TabFocusReason)


@themes
def test_names_of_layers_can_be_read_on_every_category(qtbot, name: str) -> None:
    theme = load_theme(name)
    allocs = [Alloc(f"layer {index}", 60 * KIB, 0, -1, group=f"layer {index}") for index in range(8)]
    timeline = make_timeline(
        FakeProgram(1, [Step(source=0)] * 4, [Alloc("p", 40 * KIB, 0, -1, parameter=True), *allocs])
    )
    shown = curves(timeline, CurveMode.WORST)
    layers = stack(timeline, shown, 7)
    data = PlotData(shown, 586_960, 424_880, 49_152, steps_over(timeline), layers=layers)
    zoom = StepZoom()
    zoom.set_steps(4, keep=False)
    plot = CurvePlot(theme, zoom, lambda _: None, lambda _: "")
    qtbot.addWidget(plot)
    plot.resize(700, 700)
    plot.set_data(data)
    image = plot.grab().toImage()
    # Parameters, seven groups and the rest.
    names = [label for label in plot.marks.labels if not label.text.startswith("budget")]
    assert len(names) == 9
    for label in names:
        area = label.box.toRect().adjusted(1, 2, -1, -2)
        pixels = Counter(
            image.pixelColor(x, y).getRgb()[:3]
            for x in range(area.left(), area.right())
            for y in range(area.top(), area.bottom())
        )
        ground = pixels.most_common(1)[0][0]
        assert ground == of(theme, "background")
        assert max(contrast(pixel, ground) for pixel in pixels) >= READABLE


@themes
def test_texts_on_the_states_of_a_step_can_be_read(qtbot, name: str) -> None:
    bridge = SessionSignals(opened("vit3-64tiles.recipe.json"), load_theme(name))
    view = GraphView(bridge)
    qtbot.addWidget(view)
    view.show()
    qtbot.waitUntil(lambda: not view.is_busy(), timeout=20_000)
    view.set_mode(ColourMode.STEP)
    style = view.shown_style
    assert style is not None
    assert len(style.shades) == len(StepState)
    for shade, ink in zip(style.shades.tolist(), style.inks.tolist(), strict=True):
        assert contrast(tuple(shade), tuple(ink)) >= READABLE
    view.shut_down()
    bridge.close()


# -- grey ------------------------------------------------------------------------------------------------------------


def grey_of(image: QImage, box: QRectF) -> Grey:
    """(rows, columns): luminance 0 … 1 of the pixels of a box."""
    area = box.toRect()
    return np.array(
        [
            [relative_luminance(image.pixelColor(x, y).getRgb()[:3]) for x in range(area.left(), area.right())]
            for y in range(area.top(), area.bottom())
        ]
    )


def marked(grey: Grey, least: float = 0.08) -> np.ndarray:
    """The pixels that differ clearly from the commonest grey."""
    levels, counts = np.unique(grey.round(3), return_counts=True)
    return np.abs(grey - levels[counts.argmax()]) > least


def longest_diagonal(pixels: np.ndarray) -> int:
    """The longest run of marked pixels along a line that falls to the right."""
    best = 0
    for offset in range(-pixels.shape[0] + 1, pixels.shape[1]):
        run = 0
        for pixel in np.diagonal(pixels, offset):
            run = run + 1 if pixel else 0
            best = max(best, run)
    return best


def lines(pixels: np.ndarray) -> tuple[int, int]:
    """Longest diagonals: falling, rising."""
    return longest_diagonal(pixels), longest_diagonal(pixels[:, ::-1])


@pytest.fixture
def tiles(show_view):
    def build(timeline, name: str) -> TilesView:
        return show_view(TilesView, session_of(timeline), name, size=(700, 460))

    return build


@themes
@pytest.mark.parametrize("held", [10 * KIB, 300 * KIB, 560 * KIB])
def test_an_over_budget_tile_is_hatched_whatever_its_colour(tiles, name: str, held: int) -> None:
    timeline = make_timeline(FakeProgram(4, [Step()], [Alloc("a", [held, held, 0, 0], 0, 0)]))
    # The scale goes to the budget; a reserve as large makes every tile with anything in it too full.
    timeline = replace(timeline, reserve_bytes=timeline.budget_bytes - 1)
    view = tiles(timeline, name)
    assert view.field.over.tolist() == [True, True, False, False]
    image = view.map.grab().toImage()
    inside = view.map.cell_rect(0).adjusted(3, 3, -3, -3)
    hatched = marked(grey_of(image, inside))
    falling, rising = lines(hatched)
    side = int(min(inside.width(), inside.height()))
    assert rising >= side // 2
    assert falling < side // 2
    plain = marked(grey_of(image, view.map.cell_rect(2).adjusted(3, 3, -3, -3)))
    assert not plain.any()


@themes
def test_an_unavailable_tile_is_crossed_in_both_directions(tiles, name: str) -> None:
    view = tiles(make_timeline(FakeProgram(4, [Step()], [Alloc("lost", None, 0, 0)])), name)
    assert view.field.missing
    image = view.map.grab().toImage()
    inside = view.map.cell_rect(1).adjusted(3, 3, -3, -3)
    side = int(min(inside.width(), inside.height()))
    falling, rising = lines(marked(grey_of(image, inside)))
    assert min(falling, rising) >= side // 2


@themes
@pytest.mark.parametrize("held", [0, 150 * KIB, 400 * KIB, 573 * KIB])
def test_a_selected_tile_has_a_frame_of_light_and_dark(tiles, name: str, held: int) -> None:
    loads = [held] * 9
    timeline = replace(make_timeline(FakeProgram(9, [Step()], [Alloc("a", loads, 0, 0)])), reserve_bytes=0)
    view = tiles(timeline, name)
    view.session.select_tiles((4,))
    image = view.map.grab().toImage()

    def edge(tile: int) -> float:
        """Contrast of the lightest and the darkest pixel across the left edge of a cell."""
        box = view.map.cell_rect(tile)
        y = int(box.center().y())
        row = [image.pixelColor(int(box.left()) + dx, y).getRgb()[:3] for dx in range(-5, 4)]
        light = [relative_luminance(pixel) for pixel in row]
        return (max(light) + 0.05) / (min(light) + 0.05)

    assert edge(4) >= 3
    # Selected tiles that are not the current one have a frame too.
    view.session.select_tiles((1, 7, 4))
    image = view.map.grab().toImage()
    assert edge(1) >= 3
    assert edge(7) >= 3


@pytest.fixture
def plot(show_view):
    def build(timeline, name: str) -> TimelineView:
        view = show_view(TimelineView, session_of(timeline), name)
        view.set_stacked(False)
        return view

    return build


@themes
def test_excess_and_unavailable_steps_are_told_apart_in_grey(plot, name: str) -> None:
    allocs = [Alloc("flat", 100 * KIB, 0, -1), Alloc("wide", 700 * KIB, 4, 11), Alloc("lost", None, 20, 27)]
    view = plot(make_timeline(FakeProgram(1, [Step() for _ in range(40)], allocs)), name)
    view.session.select_step(39)
    image, plot = view.plot.grab().toImage(), view.plot

    def part(first: int, last: int, low: int, high: int) -> Grey:
        box = QRectF(plot.pixel(first, high), plot.pixel(last, low))
        return grey_of(image, box.adjusted(6, 6, -6, -6))

    over = part(4, 12, 586_960, 780 * KIB)
    crossed = part(20, 28, 200 * KIB, 500 * KIB)
    nothing = part(31, 38, 200 * KIB, 380 * KIB)
    falling, rising = lines(marked(over, 0.05))
    assert max(falling, rising) >= 20
    assert min(falling, rising) < 10
    assert min(lines(marked(crossed, 0.03))) >= 20
    # A line of the grid at most, nothing slanted.
    assert max(lines(marked(nothing, 0.05))) < 10


@themes
def test_lifetime_bars_of_each_kind_differ_in_grey(plot, name: str) -> None:
    allocs = [
        Alloc("standard", 90 * KIB, 0, -1),
        Alloc("interleaved", 80 * KIB, 0, -1, interleaved=True),
        Alloc("lost", None, 0, -1),
    ]
    view = plot(make_timeline(FakeProgram(1, [Step() for _ in range(10)], allocs)), name)
    view.session.select_step(0)
    assert len(lifetimes(view.timeline)) == 3
    image, height = view.bars.grab().toImage(), view.bars.row_height()
    rows = [row.name.rpartition(" #")[0] for row in view.bars.rows]

    def bar(kind: str) -> np.ndarray:
        top = rows.index(kind) * height
        return marked(grey_of(image, QRectF(view.bars.pixel(5).x(), top + 4, 120, height - 8)), 0.03)

    assert not bar("standard").any()
    assert bar("interleaved").any()
    assert bar("lost").mean() > bar("interleaved").mean()


@themes
def test_marks_on_boxes_of_the_graph_are_seen_in_grey(qtbot, name: str) -> None:
    session = opened("vit3-64tiles.recipe.json")
    bridge = SessionSignals(session, load_theme(name))
    view = GraphView(bridge)
    qtbot.addWidget(view)
    view.resize(900, 700)
    view.show()
    qtbot.waitUntil(lambda: not view.is_busy(), timeout=20_000)
    session.select_operation(36)
    node = view.result.structure.by_operation[36]
    view.canvas.centre(node, 1.0)
    image = view.canvas.grab().toImage()
    rect = view.canvas.transform().mapRect(view.canvas.scene.rect(node))
    y = int(rect.center().y())
    row = [relative_luminance(image.pixelColor(int(rect.left()) - out, y).getRgb()[:3]) for out in range(12)]
    assert (max(row) + 0.05) / (min(row) + 0.05) >= 3
    assert QColor(bridge.theme.mark).name() in {image.pixelColor(int(rect.left()) - out, y).name() for out in range(12)}
    view.shut_down()
    bridge.close()
