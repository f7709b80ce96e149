"""What stands under the curves on the same steps: lifetimes as bars, and what each step costs besides memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QMouseEvent, QPainter, QPen, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from tileview.analysis.lifetimes import Lifetime
from tileview.model.sizes import Unavailable, kib_text
from tileview.present.curves import BoolArray, stretch
from tileview.present.scales import class_token
from tileview.qt.base.theme import Theme
from tileview.qt.plot.base import Drag, KeyCommand
from tileview.qt.plot.items import byte_gutter
from tileview.qt.views.timeline.plot import RIGHT, StepPlot, StepZoom

_FILL = 110
"""How strong a bar is filled, 0 … 255: names are written on it."""


class LifetimeBars(StepPlot):
    """One row an allocation: bytes in the gutter, a bar for each range of steps, the name in or beside it.

    ``category`` is that of what makes an allocation, None for grey. Where the steps that use it are known they are
    ticks along the bar's lower edge.
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
        zoom: StepZoom,
        keys: KeyCommand,
        tip: Callable[[Lifetime], str],
        uses: Callable[[int], Sequence[int]],
        category: Callable[[int], int | None],
        parent: QWidget | None = None,
    ) -> None:
        self._uses, self._row_tip, self._category = uses, tip, category
        super().__init__(theme, "Lifetimes of allocations", parent, zoom=zoom, keys=keys)
        self.setMinimumSize(QSize(120, 40))

    def build(self) -> None:
        self._rows: tuple[Lifetime, ...] = ()
        self._place_of: dict[int, int] = {}
        self._message = ""
        self._selected: int | None = None
        self._root_pointed: int | None = None
        self._lit: int | None = None
        self._offset = 0
        super().build()
        self.setYRange(0, 1, padding=0)

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
        return int(self.fontMetrics().height()) + 3

    def page(self) -> int:
        """Whole rows that are visible."""
        return max(int(self.height()) // self.row_height(), 1)

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

    def set_lit(self, root: int | None) -> None:
        """The allocation that is pointed at in another view."""
        if root != self._lit:
            self._lit = root
            self.draw_again()

    def tip_at(self, place: QPointF) -> str:
        row = self.row_at(place)
        return "" if row is None else self._row_tip(row)

    def redraw(self) -> None:
        self.set_margins(byte_gutter(self.font()), 0, RIGHT, 0)
        super().redraw()

    # -- painting -------------------------------------------------------------------------------------------------

    def draw_over(self, painter: QPainter) -> None:
        area = self.area()
        if not self._rows:
            painter.setPen(self.theme.color("muted"))
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(self.rect().adjusted(8, 4, -8, -4), flags, self._message)
            return
        height = self.row_height()
        for index in range(self._offset, min(self._offset + self.page() + 1, len(self._rows))):
            self._draw_row(painter, area, self._rows[index], (index - self._offset) * height, height)
        painter.setPen(QPen(self.theme.color("border"), 1))
        painter.drawLine(area.topLeft(), area.bottomLeft())

    def _across(self, area: QRectF, start: float, stop: float) -> tuple[float, float] | None:
        """Where some steps lie, as far as they are in view; None where none of them is."""
        left, right = max(self.pixel(start).x(), area.left()), min(self.pixel(stop).x(), area.right())
        return (left, right) if right > left else None

    def _draw_row(self, painter: QPainter, area: QRectF, row: Lifetime, top: int, height: int) -> None:
        theme = self.theme
        selected = row.root == self._selected
        if row.root == self._lit and not selected:
            painter.fillRect(QRectF(0, top, self.width(), height), theme.color("hover"))
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
            seen = self._across(area, start, stop)
            if seen is not None:
                self._draw_bar(painter, row, QRectF(seen[0], top + 2, max(seen[1] - seen[0], 2), height - 4))
        self._draw_uses(painter, area, row, top + height - 2)
        self._draw_name(painter, area, row, top, height)
        painter.restore()

    def _draw_uses(self, painter: QPainter, area: QRectF, row: Lifetime, bottom: int) -> None:
        last = -10.0
        for step in self._uses(row.root):
            x = self.pixel(step + 0.5).x()
            if area.left() <= x <= area.right() and x - last >= 3:
                painter.fillRect(QRect(round(x) - 1, bottom - 4, 2, 4), self.theme.color("total"))
                last = x

    def _draw_bar(self, painter: QPainter, row: Lifetime, bar: QRectF) -> None:
        """In the colour of what makes it. Standard is plain, interleaved hatched, what has no size crossed."""
        theme = self.theme
        token = "unavailable" if isinstance(row.size, Unavailable) else class_token(row.memory_class)
        place = self._category(row.root)
        line = theme.color("border" if row.resident else "field")
        if token == "unavailable":
            line = theme.color(token)
        elif place is not None:
            line = QColor(theme.categories[place])
        painter.setPen(QPen(line, 1.4))
        fill = QColor(line)
        fill.setAlpha(_FILL)
        painter.setBrush(fill)
        painter.drawRect(bar)
        pattern = {"unavailable": Qt.BrushStyle.DiagCrossPattern, "interleaved": Qt.BrushStyle.BDiagPattern}.get(token)
        if pattern is not None:
            painter.setBrush(QBrush(theme.color(token if token == "unavailable" else "text", 120), pattern))
            painter.drawRect(bar)
        if row.root == self._selected:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.color("accent"), 2))
            painter.drawRect(bar)

    def _draw_name(self, painter: QPainter, area: QRectF, row: Lifetime, top: int, height: int) -> None:
        """The name inside the bar where it fits there, else on the side with more room.

        An arrow points to a bar that is out of view.
        """
        metrics = self.fontMetrics()
        begin, end = self.pixel(row.first).x(), self.pixel(row.last + 1).x()
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
        painter.setPen(self.theme.color("selection_text" if row.root == self._selected else "text"))
        painter.drawText(QPointF(x, top + (height + metrics.ascent() - metrics.descent()) / 2), text)

    # -- mouse ----------------------------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        super().resizeEvent(event)
        if event is not None:
            self._offset = min(self._offset, self.most_offset())
            self.scrolled.emit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll; with Ctrl zoom, with Shift move, as over the curves."""
        if event.modifiers() & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier):
            super().wheelEvent(event)
            return
        self.scroll_to(self._offset - round(event.angleDelta().y() / 40))
        event.accept()

    def start_drag(self, event: QMouseEvent) -> Drag | None:
        """A click selects an allocation."""
        if event.button() != Qt.MouseButton.LeftButton:
            return super().start_drag(event)
        row = self.row_at(event.position())
        again = row is not None and row.root == self._selected
        self.chosen.emit(None if row is None or (again and bool(event.modifiers())) else row.root)
        return lambda _place, _done: None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        row = self.row_at(event.position())
        self._point_at_root(None if row is None else row.root)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._point_at_root(None)

    def _point_at_root(self, root: int | None) -> None:
        if root != self._root_pointed:
            self._root_pointed = root
            self.pointed_root.emit(root)


_LINES = 2.4
"""Height of the strip, in lines of text."""


class StepStrip(StepPlot):
    """Bars over the steps, on the axis of the curves; hidden as long as there is nothing to show.

    Where several steps share a pixel, its bar is the largest of them. Steps without a known number have none.
    """

    def build(self) -> None:
        self._values: npt.NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._known: BoolArray = np.zeros(0, dtype=np.bool_)
        self._name, self._most = "", ""
        self._tell: Callable[[int], str] | None = None
        super().build()
        self.bars = pg.BarGraphItem(x=[], height=[], width=1.0, pen=None)
        self.box.addItem(self.bars, ignoreBounds=True)
        self.hide()

    def show_values(
        self,
        values: npt.NDArray[np.int64] | None,
        known: BoolArray,
        name: str,
        most: str,
        tell: Callable[[int], str] | None = None,
    ) -> None:
        """Show a number a step; None hides the strip.

        Parameters
        ----------
        values : (steps,) int
        known : (steps,) bool
            False where the number of a step is not known.
        name : str
            What the numbers are, on two lines at most: it is written in the gutter.
        most : str
            The largest in words, with its step.
        tell : callable, optional
            What the tooltip of a step says of its number.
        """
        self._values = np.zeros(0, dtype=np.int64) if values is None else values
        self._known, self._name, self._most, self._tell = known, name, most, tell
        self.setVisible(self.has_values)
        self.setFixedHeight(int(_LINES * self.fontMetrics().height()))
        self.set_description(f"{name}: {most}")
        self.redraw()

    @property
    def has_values(self) -> bool:
        return bool(len(self._values))

    def tip_at(self, place: QPointF) -> str:
        step = self.step_at(self.value(place).x())
        if step >= len(self._values):
            return ""
        if self._tell is not None:
            return f"Step {step}: {self._tell(step)}"
        return f"Step {step}: {f'{int(self._values[step]):,} {self._name}' if self._known[step] else 'not known'}"

    def redraw(self) -> None:
        self.set_margins(byte_gutter(self.font()), 2, RIGHT, 0)
        if len(self._values):
            at = stretch(self.zoom.first, self.zoom.last, max(int(self.area().width()), 1), len(self._values))
            heights = at.largest(np.where(self._known, self._values, 0))
            self.setYRange(0, max(int(self._values.max(initial=0)), 1), padding=0)
            self.bars.setOpts(x0=at.edges[:-1], x1=at.edges[1:], height=heights, brush=self.theme.color("muted"))
        super().redraw()

    def draw_over(self, painter: QPainter) -> None:
        area = self.area()
        painter.setPen(self.theme.color("muted"))
        gutter = QRectF(4, area.top(), area.left() - 8, area.height())
        painter.drawText(gutter, Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignVCenter, self._name)
        metrics = self.fontMetrics()
        room = QRectF(area.left() + 4, area.top(), metrics.horizontalAdvance(self._most) + 2, metrics.height())
        painter.fillRect(room, self.theme.color("background", 200))
        painter.drawText(QPointF(room.left(), room.top() + metrics.ascent()), self._most)
