"""The graph as parts of an exported picture: what is in view of it, or all of it."""

from __future__ import annotations

from math import ceil

from PySide6.QtCore import QMarginsF
from PySide6.QtGui import QFont, QPainter, QPicture

from tileview.qt.base.painting import painting
from tileview.qt.views.graph.canvas import GraphCanvas
from tileview.qt.views.graph.legend import LegendStrip
from tileview.qt.views.graph.scene import GraphScene, Highlight

_MARGIN = 16
_LEAST_WIDTH = 420


class WholeGraph:
    """All of the graph at full detail, whatever part of it is in view.

    It draws with a scene of its own, so that it can be drawn on another thread than the one in view.
    """

    def __init__(self, scene: GraphScene, marks: Highlight, font: QFont) -> None:
        self._scene = GraphScene(scene.structure, scene.picture, scene.words, scene.style, scene.theme, font)
        self._marks = Highlight(marks.selected, marks.holder)
        self._bounds = scene.bounds.marginsAdded(QMarginsF(_MARGIN, _MARGIN, _MARGIN, _MARGIN))

    def width(self) -> int:
        return max(ceil(self._bounds.width()), _LEAST_WIDTH)

    def height(self) -> int:
        return ceil(self._bounds.height())

    def draw(self, painter: QPainter) -> None:
        painter.fillRect(0, 0, self.width(), self.height(), self._scene.theme.color("background"))
        painter.translate(-self._bounds.topLeft())
        self._scene.paint(painter, self._bounds, 1.0, self._marks)


class SeenGraph:
    """The part of the graph that a canvas shows. Boxes at its edge reach beyond it: it needs clipping, or cover."""

    spills = True

    def __init__(self, canvas: GraphCanvas, scene: GraphScene) -> None:
        self._canvas, self._scene = canvas, scene

    def width(self) -> int:
        return self._canvas.width()

    def height(self) -> int:
        return self._canvas.height()

    def draw(self, painter: QPainter) -> None:
        canvas = self._canvas
        painter.fillRect(canvas.rect(), self._scene.theme.color("background"))
        painter.setTransform(canvas.transform(), True)
        marks = Highlight(canvas.marks.selected, canvas.marks.holder, None, canvas.marks.found)
        self._scene.paint(painter, canvas.visible_area(), canvas.scale, marks)


class WidthLegend:
    """The legend, wrapped to the width of the graph above it; recorded, so that any thread can draw it."""

    def __init__(self, legend: LegendStrip, width: int) -> None:
        self._width, self._height = width, legend.height_for(width)
        self._picture = QPicture()
        with painting(self._picture) as painter:
            legend.paint_on(painter, width)

    def width(self) -> int:
        return self._width

    def height(self) -> int:
        return self._height

    def draw(self, painter: QPainter) -> None:
        painter.drawPicture(0, 0, self._picture)
