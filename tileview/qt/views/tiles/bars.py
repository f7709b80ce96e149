"""Tiles sorted by load: one bar a tile, the largest on the left, against the budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from tileview.model.sizes import kib_text
from tileview.model.timeline import ByteArray
from tileview.present.curves import Columns, column_max, columns
from tileview.present.rasters import load_order
from tileview.present.ticks import Tick, byte_ticks
from tileview.qt.base.painting import draw_focus, painting
from tileview.qt.base.text import plain_tip
from tileview.qt.base.theme import Theme
from tileview.qt.plot.labels import draw_label
from tileview.qt.plot.plane import FloatArray
from tileview.qt.plot.polyline import polyline

Layer = tuple[ByteArray, str]
"""Bytes of each tile, theme token of the colour."""


class LoadBars(QWidget):
    """Bars of all tiles in descending order of what is shown; layers of one bar are stacked.

    The same signals as the map: one view, two pictures.
    """

    picked = Signal(object, object)
    moved = Signal(object, object)
    """Places along the order, keyboard modifiers."""
    toggled = Signal()
    pointed = Signal(object)
    cleared = Signal()
    all_wanted = Signal()

    def __init__(self, theme: Theme, tip: Callable[[int], str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(QSize(80, 60))
        self.setAccessibleName("Tiles sorted by load")
        self._theme = theme
        self._tip = tip
        self._layers: list[Layer] = []
        self._order = np.zeros(0, dtype=np.int64)
        self._place = np.zeros(0, dtype=np.int64)
        self._low, self._high = 0, 1
        self._limits: list[tuple[int, str]] = []
        self._message = ""
        self._selected: tuple[int, ...] = ()
        self._cursor: int | None = None
        self._pointed: int | None = None

    # -- what is shown --------------------------------------------------------------------------------------------

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def set_values(
        self, values: ByteArray, layers: Sequence[Layer], scale: tuple[int, int], limits: Sequence[tuple[int, str]]
    ) -> None:
        """What decides the order, the layers that add up to it, the ends of the axis, and lines across with their
        names.
        """
        self._order = load_order(values)
        self._place = np.empty_like(self._order)
        self._place[self._order] = np.arange(len(self._order))
        self._layers = [(sizes[self._order], token) for sizes, token in layers]
        self._low = min(scale[0], int(values.min(initial=0)))
        self._high = max(scale[1], int(values.max(initial=0)))
        self._limits = list(limits)
        self._message = ""
        self.update()

    def set_message(self, text: str) -> None:
        """Why there is nothing to show."""
        self._layers, self._message = [], text
        self._order = self._place = np.zeros(0, dtype=np.int64)
        self.update()

    def set_selected(self, tiles: Sequence[int]) -> None:
        self._selected = tuple(tiles)
        self.update()

    def set_cursor(self, tile: int | None) -> None:
        """The tile that Ctrl and the arrows have come to."""
        if tile != self._cursor:
            self._cursor = tile
            self.update()

    @property
    def order(self) -> tuple[int, ...]:
        """Tile numbers from left to right."""
        return tuple(self._order.tolist())

    def place_of(self, tile: int) -> int | None:
        """Where a tile stands in the order."""
        return int(self._place[tile]) if tile < len(self._place) else None

    # -- geometry -------------------------------------------------------------------------------------------------

    def _area(self) -> QRect:
        metrics = self.fontMetrics()
        left = max((metrics.horizontalAdvance(tick.text) for tick in self._ticks()), default=20) + 10
        return QRect(
            left,
            metrics.height() + 4,
            max(self.width() - left - 8, 1),
            max(self.height() - 2 * metrics.height() - 14, 1),
        )

    def _ticks(self) -> tuple[Tick, ...]:
        return byte_ticks(self._low, self._high, max(self.height() // 42, 2))

    def _y(self, area: QRect, size: float) -> float:
        return area.bottom() + 1 - (size - self._low) * area.height() / max(self._high - self._low, 1)

    def _ys(self, area: QRect, sizes: ByteArray) -> FloatArray:
        scaled = (sizes - self._low).astype(np.float64) * (area.height() / max(self._high - self._low, 1))
        return area.bottom() + 1 - scaled

    def tile_at(self, place: QPointF) -> int | None:
        area = self._area()
        if not len(self._order) or not area.contains(place.toPoint()):
            return None
        index = int((place.x() - area.x()) * len(self._order) / area.width())
        return int(self._order[min(index, len(self._order) - 1)])

    # -- painting -------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        with painting(self) as painter:
            self.draw(painter)
            draw_focus(painter, self, self._theme.color("accent"))

    def draw(self, painter: QPainter) -> None:
        theme = self._theme
        painter.fillRect(self.rect(), theme.color("background"))
        if not self._layers or not len(self._order):
            painter.setPen(theme.color("muted"))
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(self.rect().adjusted(8, 8, -8, -8), flags, self._message or "No tiles to show")
            return
        area = self._area()
        metrics = self.fontMetrics()
        for tick in self._ticks():
            y = self._y(area, tick.value)
            painter.setPen(theme.color("grid"))
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            painter.setPen(theme.color("muted"))
            box = QRectF(0, y - metrics.height() / 2, area.left() - 5, metrics.height())
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, tick.text)
        self._draw_bars(painter, area)
        self._draw_limits(painter, area)
        self._draw_marks(painter, area)

    def _draw_bars(self, painter: QPainter, area: QRect) -> None:
        """Where bars are narrower than a pixel, a column shows its largest tile: the first, as they are sorted."""
        count = len(self._order)
        wide = area.width() / count >= 3
        shown = count if wide else min(area.width(), count)
        where = columns(0, count, shown, count)
        first = Columns(where.starts, where.starts + 1)
        base = np.zeros(shown, dtype=np.int64)
        width = area.width() / shown
        for sizes, token in self._layers:
            top = base + column_max(sizes, first)
            upper, lower = self._ys(area, top), self._ys(area, base)
            colour = self._theme.color(token)
            if wide:
                for index, (high, low) in enumerate(zip(upper.tolist(), lower.tolist(), strict=True)):
                    box = QRectF(area.x() + index * width, min(high, low), width - 1, abs(low - high))
                    painter.fillRect(box, colour)
            else:
                edges = np.repeat(area.x() + np.arange(shown + 1) * width, 2)[1:-1]
                xs = np.concatenate([edges, edges[::-1]])
                ys = np.concatenate([np.repeat(upper, 2), np.repeat(lower, 2)[::-1]])
                painter.fillPath(polyline(xs, ys), colour)
            base = top
        self._draw_excess(painter, area, base, width)

    def _draw_excess(self, painter: QPainter, area: QRect, tops: ByteArray, width: float) -> None:
        if not self._limits:
            return
        limit = self._limits[0][0]
        count = int((tops > limit).sum())
        if not count:
            return
        painter.save()
        outline = QPolygonF([QPointF(area.x(), self._y(area, limit))])
        for index in range(count):
            y = self._y(area, int(tops[index]))
            outline.append(QPointF(area.x() + index * width, y))
            outline.append(QPointF(area.x() + (index + 1) * width, y))
        outline.append(QPointF(area.x() + count * width, self._y(area, limit)))
        painter.setPen(QPen(self._theme.color("over"), 1))
        painter.setBrush(self._theme.color("background", 170))
        painter.drawPolygon(outline)
        painter.setBrush(QBrush(self._theme.color("over"), Qt.BrushStyle.BDiagPattern))
        painter.drawPolygon(outline)
        painter.restore()

    def _draw_limits(self, painter: QPainter, area: QRect) -> None:
        metrics = self.fontMetrics()
        taken: list[QRectF] = []
        for size, name in self._limits:
            y = self._y(area, size)
            painter.setPen(QPen(self._theme.color("budget"), 1.5, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            text = metrics.elidedText(f"{name} {kib_text(size)}", Qt.TextElideMode.ElideRight, area.width() - 8)
            box = QRectF(0, y - metrics.height() - 2, metrics.horizontalAdvance(text) + 6, metrics.height())
            box.moveRight(area.right())
            while any(box.intersects(other) for other in taken):
                box.translate(0, metrics.height())
            taken.append(box)
            draw_label(painter, box, text, self._theme.color("budget"), self._theme.color("background"))

    def _draw_marks(self, painter: QPainter, area: QRect) -> None:
        metrics = self.fontMetrics()
        bottom = area.bottom() + 1
        painter.setPen(QPen(self._theme.color("border"), 1))
        painter.drawLine(area.left(), bottom, area.right(), bottom)
        width = area.width() / len(self._order)
        painter.setPen(Qt.PenStyle.NoPen)
        for tile in self._selected:
            place = self.place_of(tile)
            if place is None:
                continue
            x = area.x() + (place + 0.5) * width
            current = tile == self._selected[-1]
            painter.setBrush(self._theme.color("mark" if current else "accent"))
            painter.drawPolygon(
                QPolygonF([QPointF(x - 4, bottom + 8), QPointF(x + 4, bottom + 8), QPointF(x, bottom + 1)])
            )
            if current:
                painter.fillRect(QRectF(x - 0.75, area.top(), 1.5, area.height()), self._theme.color("mark", 150))
        cursor = None if self._cursor is None else self.place_of(self._cursor)
        if cursor is not None:
            x = area.x() + (cursor + 0.5) * width
            painter.setPen(QPen(self._theme.color("mark"), 1.5, Qt.PenStyle.DotLine))
            painter.drawLine(QPointF(x, area.top()), QPointF(x, bottom + 8))
        painter.setPen(self._theme.color("muted"))
        text = f"{len(self._order):,} tiles, the largest on the left"
        line = QRectF(area.left(), bottom + 8, area.width(), metrics.height())
        painter.drawText(
            line, Qt.AlignmentFlag.AlignLeft, metrics.elidedText(text, Qt.TextElideMode.ElideRight, area.width())
        )

    # -- events ---------------------------------------------------------------------------------------------------

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self._command(event):
            event.accept()
            return True
        if event.type() == QEvent.Type.ToolTip:
            if self._pointed is None:
                QToolTip.hideText()
            else:
                QToolTip.showText(event.globalPos(), plain_tip(self._tip(self._pointed)), self)  # type: ignore[attr-defined]
            return True
        return super().event(event)

    def _command(self, event: QKeyEvent) -> Callable[[], None] | None:
        key, modifiers = Qt.Key(event.key()), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if modifiers & Qt.KeyboardModifier.AltModifier:
            return None
        by = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Up: -10, Qt.Key.Key_Down: 10}.get(key)
        if by is not None:
            return lambda: self.moved.emit(by, modifiers)
        if key == Qt.Key.Key_Space and not modifiers & Qt.KeyboardModifier.ShiftModifier:
            return self.toggled.emit
        if modifiers & Qt.KeyboardModifier.ControlModifier:
            select_all = key == Qt.Key.Key_A and modifiers == Qt.KeyboardModifier.ControlModifier
            return self.all_wanted.emit if select_all else None
        return self.cleared.emit if key == Qt.Key.Key_Escape else None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        command = self._command(event)
        if command is None:
            super().keyPressEvent(event)
        else:
            command()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._point_at(self.tile_at(event.position()))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        tile = self.tile_at(event.position())
        if tile is not None and event.button() == Qt.MouseButton.LeftButton:
            self.picked.emit(tile, event.modifiers())

    def leaveEvent(self, event: QEvent) -> None:
        self._point_at(None)

    def _point_at(self, tile: int | None) -> None:
        if tile != self._pointed:
            self._pointed = tile
            self.pointed.emit(tile)
