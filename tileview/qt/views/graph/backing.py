"""The ground of a graph as it was last drawn, moved along while one pans: only what comes into view is drawn."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, QSizeF
from PySide6.QtGui import QPainter, QPixmap

from tileview.qt.base.painting import painting
from tileview.qt.views.graph.boxes import Look
from tileview.qt.views.graph.scene import GraphScene, Highlight
from tileview.qt.views.graph.viewport import Viewport

_SPILL = 4.0
"""Pixels by which outlines reach beyond their boxes."""


@dataclass(frozen=True, slots=True)
class _State:
    """What the ground depends on besides where it is moved to. ``scene`` and ``look`` count by identity."""

    scene: GraphScene
    look: Look
    scale: float
    size: QSize
    ratio: float
    marks: Highlight


class Backing:
    """Draws the ground of scenes by way of a pixmap of the widget's size."""

    def __init__(self) -> None:
        self._pixmap = QPixmap()
        self._state: _State | None = None
        self._at = QPoint()

    def clear(self) -> None:
        """Forget what was drawn, and free it."""
        self._pixmap, self._state = QPixmap(), None

    def draw(self, painter: QPainter, scene: GraphScene, port: Viewport, marks: Highlight) -> None:
        """Draw the ground in view; what was in view before is not drawn anew while only the place has changed."""
        size = (port.size * port.ratio).toSize()
        if size.isEmpty():
            return
        ground = Highlight(marks.selected, marks.holder, None, marks.found)
        state = _State(scene, scene.look, port.scale, size, port.ratio, ground)
        at = (port.snapped * port.ratio).toPoint()
        whole = QRect(QPoint(), size)
        new = [whole]
        if state != self._state:
            if self._pixmap.size() != size or self._pixmap.devicePixelRatio() != port.ratio:
                self._pixmap = QPixmap(size)
                self._pixmap.setDevicePixelRatio(port.ratio)
        else:
            moved = at - self._at
            self._pixmap.scroll(moved.x(), moved.y(), whole)
            new = _uncovered(whole, moved)
        # Where drawing fails, nothing of it is taken for drawn.
        self._state = None
        for rect in new:
            self._draw_new(rect, scene, port, ground)
        self._state, self._at = state, at
        painter.drawPixmap(0, 0, self._pixmap)

    def _draw_new(self, rect: QRect, scene: GraphScene, port: Viewport, marks: Highlight) -> None:
        """Draw a part of the ground, given in pixels of the device."""
        shown = QRectF(QPointF(rect.topLeft()) / port.ratio, QSizeF(rect.size()) / port.ratio)
        with painting(self._pixmap) as painter:
            painter.setClipRect(shown)
            painter.fillRect(shown, scene.theme.color("background"))
            painter.setTransform(port.transform(), True)
            around = shown.adjusted(-_SPILL, -_SPILL, _SPILL, _SPILL)
            area = QRectF(port.to_picture(around.topLeft()), port.to_picture(around.bottomRight()))
            scene.paint_ground(painter, area, port.scale, marks)


def _uncovered(whole: QRect, moved: QPoint) -> list[QRect]:
    """What comes into view in an area whose contents have moved: a strip at one side, and one above or below."""
    rest = whole.translated(moved).intersected(whole)
    if rest.isEmpty():
        return [whole]
    left = 0 if moved.x() > 0 else rest.right() + 1
    top = 0 if moved.y() > 0 else rest.bottom() + 1
    beside = QRect(left, 0, abs(moved.x()), whole.height())
    above = QRect(rest.left(), top, rest.width(), abs(moved.y()))
    return [strip for strip in (beside, above) if not strip.isEmpty()]
