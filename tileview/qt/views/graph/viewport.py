"""What is seen of the graph: zoom and offset, and the ground as it was last drawn, moved along while one pans."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, QSizeF
from PySide6.QtGui import QPainter, QPixmap, QTransform

from tileview.qt.base.painting import painting
from tileview.qt.views.graph.boxes import Look
from tileview.qt.views.graph.scene import GraphScene, Highlight

LEAST_SCALE, MOST_SCALE = 0.002, 4.0
READABLE = 0.9
"""The zoom at which everything on a box can be read."""
MARGIN = 16.0
_SPILL = 4.0
"""Pixels by which outlines reach beyond their boxes."""


class Viewport:
    """Maps a picture into a widget of a size: ``scale`` widget pixels a unit, the picture's origin at ``offset``.

    It is drawn at :attr:`snapped`, a whole number of the device's pixels from the corner (``ratio`` of them make a
    pixel of the widget): what is drawn can then be moved without being drawn anew.
    """

    def __init__(self) -> None:
        self.scale = 1.0
        self.offset = QPointF()
        self.size = QSizeF()
        self.ratio = 1.0

    @property
    def snapped(self) -> QPointF:
        """Where the picture's origin is drawn."""
        return QPointF(round(self.offset.x() * self.ratio), round(self.offset.y() * self.ratio)) / self.ratio

    @property
    def middle(self) -> QPointF:
        return QPointF(self.size.width() / 2, self.size.height() / 2)

    def transform(self) -> QTransform:
        """Picture to widget."""
        at = self.snapped
        return QTransform(self.scale, 0, 0, self.scale, at.x(), at.y())

    def to_picture(self, point: QPointF) -> QPointF:
        return (point - self.snapped) / self.scale

    def visible_area(self) -> QRectF:
        """The part of the picture in view."""
        return QRectF(self.to_picture(QPointF(0, 0)), self.to_picture(QPointF(self.size.width(), self.size.height())))

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        """Zoom about a point of the widget, its centre by default."""
        at = self.middle if at is None else at
        scale = min(max(self.scale * factor, LEAST_SCALE), MOST_SCALE)
        self.offset = at - (at - self.offset) * (scale / self.scale)
        self.scale = scale

    def centre_on(self, point: QPointF) -> None:
        """Bring a point of the picture into the middle."""
        self.offset = self.middle - point * self.scale

    def fit(self, bounds: QRectF) -> None:
        """Show all of an area; nothing changes where the widget has no room."""
        room_x, room_y = self.size.width() - 2 * MARGIN, self.size.height() - 2 * MARGIN
        if bounds.isEmpty() or room_x <= 0 or room_y <= 0:
            return
        scale = min(room_x / bounds.width(), room_y / bounds.height(), 1.25)
        self.scale = min(max(scale, LEAST_SCALE), MOST_SCALE)
        self.centre_on(bounds.center())

    def centre_box(self, rect: QRectF) -> None:
        """Bring a box into the middle; of one taller than the widget its upper end."""
        tall = rect.height() * self.scale > self.size.height()
        top = rect.top() + self.size.height() / 2 / self.scale - 8
        self.centre_on(QPointF(rect.center().x(), top) if tall else rect.center())

    def reveal(self, rect: QRectF) -> bool:
        """Move as little as is needed to have a box in view; False where nothing had to move."""
        shown = self.transform().mapRect(rect)
        whole = QRectF(QPointF(), self.size)
        room = whole.adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)
        if room.contains(shown) or (shown.height() > room.height() and shown.intersects(room)):
            return False
        if not whole.intersects(shown) or shown.width() > room.width():
            self.centre_box(rect)
            return True
        dx = max(room.left() - shown.left(), 0) or min(room.right() - shown.right(), 0)
        dy = max(room.top() - shown.top(), 0) or min(room.bottom() - shown.bottom(), 0)
        self.offset += QPointF(dx, dy)
        return True

    def keep_middle(self, before: QSizeF) -> None:
        """After another size of the widget: what was in the middle is there again."""
        self.offset += QPointF((self.size.width() - before.width()) / 2, (self.size.height() - before.height()) / 2)


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
