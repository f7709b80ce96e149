"""Lifetimes of allocations as bars under the curves, on the same steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QMouseEvent, QPainter, QPen, QWheelEvent
from PySide6.QtWidgets import QWidget

from tileview.analysis.lifetimes import Lifetime
from tileview.model.sizes import Unavailable, kib_text
from tileview.present.colours import class_token
from tileview.qt.base.theme import Theme
from tileview.qt.plot.plane import Plane
from tileview.qt.views.timeline.axis import StepAxis
from tileview.qt.views.timeline.canvas import KeyCommand, StepCanvas


class LifetimeBars(StepCanvas):
    """One row an allocation: bytes in the gutter, a bar for each range of steps, the name in or beside it.

    Where the steps that use it are known they are ticks along the bar's lower edge.
    Only the rows that are visible are drawn, so that thousands cost no more than a screenful.
    """

    chosen = Signal(object)
    """The root that was clicked, or None."""
    pointed_root = Signal(object)
    scrolled = Signal()
    """The offset or the number of rows changed."""

    def __init__(
        self,
        theme: Theme,
        axis: StepAxis,
        keys: KeyCommand,
        tip: Callable[[Lifetime], str],
        uses: Callable[[int], Sequence[int]],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(theme, axis, keys, parent)
        self._uses = uses
        self.setMinimumSize(QSize(120, 40))
        self.setAccessibleName("Lifetimes of allocations")
        self._tip = tip
        self._rows: tuple[Lifetime, ...] = ()
        self._place_of: dict[int, int] = {}
        self._message = ""
        self._selected: int | None = None
        self._root_pointed: int | None = None
        self._offset = 0

    # -- what is shown --------------------------------------------------------------------------------------------

    def set_rows(self, rows: Sequence[Lifetime], message: str) -> None:
        """The rows from above; ``message`` says why there are none."""
        self._rows = tuple(rows)
        self._place_of = {row.root: index for index, row in enumerate(self._rows)}
        self._message = message
        self._offset = min(self._offset, self.most_offset())
        self.scrolled.emit()
        self.redraw()

    @property
    def rows(self) -> tuple[Lifetime, ...]:
        return self._rows

    def set_selected(self, root: int | None) -> None:
        """The selected allocation; its row is scrolled to."""
        if root != self._selected:
            self._selected = root
            place = None if root is None else self._place_of.get(root)
            if place is not None and not self._offset <= place < self._offset + self.page():
                self.scroll_to(place - self.page() // 2)
            self.redraw()

    def row_height(self) -> int:
        return self.fontMetrics().height() + 3

    def page(self) -> int:
        """Whole rows that are visible."""
        return max(self.height() // self.row_height(), 1)

    def most_offset(self) -> int:
        return max(len(self._rows) - self.page(), 0)

    @property
    def offset(self) -> int:
        return self._offset

    def scroll_to(self, row: int) -> None:
        """Make a row the first one shown."""
        row = min(max(row, 0), self.most_offset())
        if row != self._offset:
            self._offset = row
            self.scrolled.emit()
            self.redraw()

    def neighbour(self, by: int) -> int | None:
        """The root so many rows below the selected one (above where negative); the first visible where none is
        selected.
        """
        if not self._rows:
            return None
        place = self._place_of.get(self._selected) if self._selected is not None else None
        place = self._offset if place is None else min(max(place + by, 0), len(self._rows) - 1)
        return self._rows[place].root

    def row_at(self, place: QPointF) -> Lifetime | None:
        index = self._offset + int(place.y() // self.row_height())
        return self._rows[index] if place.y() >= 0 and index < len(self._rows) else None

    def plane(self) -> Plane:
        left = self.gutter()
        area = QRectF(left, 0, max(self.width() - left - 10, 10), max(self.height(), 10))
        return Plane(area, self.axis.first, self.axis.last, 1)

    def tip(self, place: QPointF) -> str:
        row = self.row_at(place)
        return "" if row is None else self._tip(row)

    # -- painting -------------------------------------------------------------------------------------------------

    def render_picture(self, painter: QPainter) -> None:
        plane = self.plane()
        if not self._rows:
            painter.setPen(self._theme.color("muted"))
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(self.rect().adjusted(8, 4, -8, -4), flags, self._message)
            return
        height = self.row_height()
        painter.setClipRect(self.rect())
        for index in range(self._offset, min(self._offset + self.page() + 1, len(self._rows))):
            self._draw_row(painter, plane, self._rows[index], (index - self._offset) * height, height)
        painter.setPen(QPen(self._theme.color("border"), 1))
        painter.drawLine(plane.area.topLeft(), plane.area.bottomLeft())

    def _draw_row(self, painter: QPainter, plane: Plane, row: Lifetime, top: int, height: int) -> None:
        theme, area = self._theme, plane.area
        selected = row.root == self._selected
        if selected:
            painter.fillRect(QRectF(0, top, self.width(), height), theme.color("selection"))
        unavailable = isinstance(row.size, Unavailable)
        ink = theme.color("selection_text" if selected else "unavailable" if unavailable else "muted")
        painter.setPen(ink)
        flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(
            QRectF(0, top, area.left() - 5, height), flags, "no size" if unavailable else kib_text(row.size)
        )
        painter.save()
        painter.setClipRect(QRectF(area.left(), top, area.width(), height))
        for start, stop in row.spans:
            band = plane.band(start, stop)
            if not band.isEmpty():
                self._draw_bar(painter, row, QRectF(band.left(), top + 2, max(band.width(), 2), height - 4))
        self._draw_uses(painter, plane, row, top + height - 2)
        self._draw_name(painter, plane, row, top, height)
        painter.restore()

    def _draw_uses(self, painter: QPainter, plane: Plane, row: Lifetime, bottom: int) -> None:
        last = -10.0
        for step in self._uses(row.root):
            x = plane.x(step + 0.5)
            if plane.shows(x) and x - last >= 3:
                painter.fillRect(QRect(round(x) - 1, bottom - 4, 2, 4), self._theme.color("total"))
                last = x

    def _draw_bar(self, painter: QPainter, row: Lifetime, bar: QRectF) -> None:
        """Standard is plain, interleaved hatched, what has no size crossed: not by colour alone."""
        theme = self._theme
        token = "unavailable" if isinstance(row.size, Unavailable) else class_token(row.memory_class)
        painter.setPen(QPen(theme.color(token), 1.4))
        painter.setBrush(theme.color(token, 70))
        painter.drawRect(bar)
        pattern = {"unavailable": Qt.BrushStyle.DiagCrossPattern, "interleaved": Qt.BrushStyle.BDiagPattern}.get(token)
        if pattern is not None:
            painter.setBrush(QBrush(theme.color(token, 120), pattern))
            painter.drawRect(bar)
        if row.root == self._selected:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.color("accent"), 2))
            painter.drawRect(bar)

    def _draw_name(self, painter: QPainter, plane: Plane, row: Lifetime, top: int, height: int) -> None:
        """The name inside the bar where it fits there, else on the side with more room.

        An arrow points to a bar that is out of view.
        """
        area, metrics = plane.area, self.fontMetrics()
        begin, end = plane.x(row.first), plane.x(row.last + 1)
        left, right = (min(max(x, area.left()), area.right()) for x in (begin, end))
        name = row.name
        if end <= area.left():
            name = f"◂ {name}"
        elif begin >= area.right():
            name = f"{name} ▸"
        rooms = {"inside": right - left - 8, "right": area.right() - right - 8, "left": left - area.left() - 8}
        needed = metrics.horizontalAdvance(name)
        side = next((side for side, room in rooms.items() if room >= needed), max(rooms, key=lambda name: rooms[name]))
        text = metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, max(int(rooms[side]), 0))
        width = metrics.horizontalAdvance(text)
        x = {"inside": left + 4, "right": right + 4, "left": left - 4 - width}[side]
        painter.setPen(self._theme.color("selection_text" if row.root == self._selected else "text"))
        painter.drawText(QPointF(x, top + (height + metrics.ascent() - metrics.descent()) / 2), text)

    # -- mouse ----------------------------------------------------------------------------------------------------

    def resizeEvent(self, event) -> None:  # type: ignore[no-untyped-def]
        super().resizeEvent(event)
        self._offset = min(self._offset, self.most_offset())
        self.scrolled.emit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier):
            self.zoom_wheel(event)
            return
        self.scroll_to(self._offset - round(event.angleDelta().y() / 40))
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            row = self.row_at(event.position())
            again = row is not None and row.root == self._selected
            self.chosen.emit(None if row is None or (again and bool(event.modifiers())) else row.root)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.point_at(event.position())
        row = self.row_at(event.position())
        self._point_at_root(None if row is None else row.root)

    def leaveEvent(self, event) -> None:  # type: ignore[no-untyped-def]
        super().leaveEvent(event)
        self._point_at_root(None)

    def _point_at_root(self, root: int | None) -> None:
        if root != self._root_pointed:
            self._root_pointed = root
            self.pointed_root.emit(root)
