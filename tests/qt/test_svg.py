"""Views as SVG: nothing lies outside what is in view, for SVG files know no clipping."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

from tests.helpers.opened import opened
from tileview.qt.plot.picture import Picture, svg_bytes
from tileview.qt.views.graph.boxes import Detail
from tileview.qt.views.graph.view import GraphView
from tileview.qt.views.tiles.view import TilesView
from tileview.qt.views.timeline.view import TimelineView

OVER = "so400m-over.recipe.json"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def make(show_view):
    def build(kind, name: str = OVER, theme: str = "light", size: tuple[int, int] = (900, 560)):
        return show_view(kind, opened(name), theme, size)

    return build


def rendered(path: Path) -> QImage:
    """The file as a renderer shows it, one pixel a unit of its view box."""
    renderer = QSvgRenderer(str(path))
    assert renderer.isValid()
    box = renderer.viewBoxF()
    image = QImage(round(box.width()), round(box.height()), QImage.Format.Format_RGB32)
    image.fill(QColor("white"))
    painter = QPainter(image)
    renderer.render(painter, QRectF(image.rect()))
    painter.end()
    return image


def written(view, path: Path, whole: bool = False) -> Path:
    """The parts of the view's picture alone, without caption and margins: where they stand is known."""
    ground = view.bridge.theme.color("surface")
    path.write_bytes(svg_bytes(Picture("", "", view.picture_parts(whole), ground, 0, 0)))
    return path


def texts(path: Path) -> str:
    root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    return " ".join("".join(entry.itertext()).strip() for entry in root.iter(f"{SVG}text"))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("stacked", [False, True])
def test_a_zoomed_timeline_keeps_inside_its_axes(make, tmp_path: Path, theme: str, stacked: bool) -> None:
    view = make(TimelineView, theme=theme)
    view.set_stacked(stacked)
    view.axis.show(60, 90)
    session = view.session
    session.select(replace(session.selection, step=69, span=(20, 70)))
    path = written(view, tmp_path / "timeline.svg")
    image, plot = rendered(path), view.plot
    top = view.legend.height()
    ground = QColor(view.bridge.theme.background)
    # Beside the axis of bytes nothing but numbers: the range began at step 20, far to the left.
    column = {image.pixelColor(2, top + y).name() for y in range(int(plot.area().top()), int(plot.area().bottom()))}
    assert column == {ground.name()}
    right = int(plot.area().right()) + 4
    column = {image.pixelColor(right, top + y).name() for y in range(int(plot.area().top()), int(plot.area().bottom()))}
    assert column == {ground.name()}
    below = top + view.plot.height()
    rows = range(below, min(below + view.bars.height(), image.height()))
    assert {image.pixelColor(2, y).name() for y in rows} == {ground.name()}
    # Inside, the range is shaded up to its end.
    y = top + int(plot.area().top()) + 24
    assert image.pixelColor(int(plot.pixel(65).x()), y) != image.pixelColor(int(plot.pixel(85).x()), y)
    assert "budget 573.2 KiB" in texts(path)


@pytest.mark.parametrize("by_load", [False, True])
def test_a_zoomed_map_keeps_inside_its_frame(make, tmp_path: Path, by_load: bool) -> None:
    view = make(TilesView)
    view.session.select_tiles((0, 1, 64, 700, 1471))
    view.set_sorted(by_load)
    view.map.centre_on(700)
    view.map.view_zoom.zoom(2.0, view.map.view_zoom.shown.center())
    path = written(view, tmp_path / "tiles.svg")
    image = rendered(path)
    picture = view.bars if by_load else view.map
    assert image.height() == picture.height() + view.legend.height()
    # Between the plot and the edge of the picture there is nothing but numbers: no part of a cell or a frame.
    area, ground = picture.area(), QColor(view.bridge.theme.background)
    rows = range(int(area.top()) + 12, int(area.bottom()) - 12)
    assert {image.pixelColor(1, y).name() for y in rows} == {ground.name()}
    right = int(area.right()) + 3
    assert {image.pixelColor(right, y).name() for y in rows} == {ground.name()}
    assert "over budget: 1,246 of 1,472 tiles" in texts(path)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_graph_is_written_whole_with_bars_and_legend(make, tmp_path: Path, theme: str) -> None:
    view = make(GraphView, theme=theme)
    path = written(view, tmp_path / "graph.svg", whole=True)
    words = texts(path)
    for expected in (
        "21 Gemm",
        "42.4 %",
        "29.8 KiB over",
        "24 Repeat ×27",
        "op 21: 29.8 KiB over · 42.6 % + params 53.5 %",
    ):
        assert expected in words
    image = rendered(path)
    blue = QColor(view.bridge.theme.categories[0])
    scene = view.canvas.scene
    bar = scene.bar(view.result.structure.by_operation[21], Detail.ALL)[0].translated(-scene.bounds.topLeft())
    spot = image.pixelColor(int(bar.center().x() + 16), int(bar.center().y() + 16))
    assert abs(spot.red() - blue.red()) + abs(spot.green() - blue.green()) < 12


@pytest.mark.parametrize("kind", [GraphView, TilesView, TimelineView])
def test_a_picture_of_a_view_is_no_blank(make, kind) -> None:
    view = make(kind)
    image = view.grab().toImage()
    colours = {image.pixelColor(x, y).name() for x in range(0, 900, 7) for y in range(0, 560, 7)}
    assert len(colours) > 6
