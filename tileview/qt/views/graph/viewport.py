"""Zoom and offset of the graph: which part of the picture is seen, and how it is moved."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSizeF
from PySide6.QtGui import QTransform

LEAST_SCALE, MOST_SCALE = 0.002, 4.0
READABLE = 0.75
"""The zoom at which everything on a box can be read."""
MARGIN = 16.0


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
