"""The colour bar with its numbers, and the swatches of what is no number."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QPolygonF, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from tileview.model.sizes import kib_text
from tileview.present.colours import LEVELS, Ramp, Slot
from tileview.present.rasters import Scale
from tileview.present.tables import signed_kib
from tileview.present.ticks import byte_ticks, scale_text
from tileview.qt.base.painting import painting
from tileview.qt.base.theme import Theme
from tileview.qt.views.tiles.paint import IndexedPicture, draw_swatch, table_of

_BAR = 11
_SWATCH = 14


class ColourBar(QWidget):
    """What the colours mean: the ramp between the ends of the scale, ticks with units, where the limit lies; below,
    swatches.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Colours")
        self._theme = theme
        self._ramp = Ramp.VIRIDIS
        self._scale = Scale(0, 1)
        self._marks: list[tuple[int, str]] = []
        self._entries: list[tuple[int, bool, str]] = []
        self._series: list[tuple[str, str]] = []
        self._is_low = False

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def set_low(self, is_low: bool) -> None:
        """Whether height is scarce: then ramp and swatches share a row."""
        if is_low != self._is_low:
            self._is_low = is_low
            self.updateGeometry()
            self.update()

    def set_scale(self, scale: Scale, ramp: Ramp, marks: list[tuple[int, str]]) -> None:
        """The scale; ``marks`` are bytes with a name that are pointed at on the bar."""
        if (scale, ramp, marks, []) == (self._scale, self._ramp, self._marks, self._series):
            return
        self._scale, self._ramp, self._marks, self._series = scale, ramp, marks, []
        self.setToolTip("\n".join(f"{name}: {kib_text(size)} ({size:,} B)" for size, name in marks))
        self.update()

    def set_series(self, series: list[tuple[str, str]]) -> None:
        """Colours of bars instead of a ramp: theme tokens and their names."""
        self._series = series
        self.setToolTip("")
        self.updateGeometry()
        self.update()

    def set_counts(self, over: int, unavailable: int, absent: int | None) -> None:
        """How many tiles are over, unavailable, and (None: does not apply) without any of what is shown."""
        before = self._entries
        self._entries = [
            (LEVELS - 1, True, f"over budget ({over:,})" if over else "over budget (none)"),
            (Slot.UNAVAILABLE, False, f"unavailable ({unavailable:,})" if unavailable else "unavailable (none)"),
        ]
        if absent is not None:
            self._entries.append((Slot.ABSENT, False, f"nothing there ({absent:,})"))
        if self._entries != before:
            self.updateGeometry()
            self.update()
        self.setAccessibleDescription("; ".join(self._words()))

    def _words(self) -> list[str]:
        """The legend in words, for screen readers."""
        words = [text for _, text in self._series]
        if not words:
            words = [f"{self._end_text(self._scale.low)} to {self._end_text(self._scale.high)}"]
            words += [f"{name} {kib_text(size)}" for size, name in self._marks]
        return words + [text for _, _, text in self._entries]

    @property
    def entries(self) -> tuple[str, ...]:
        """The words of the legend."""
        return tuple(text for _, text in self._series) + tuple(text for _, _, text in self._entries)

    def sizeHint(self) -> QSize:
        return QSize(200, self.heightForWidth(max(self.width(), 120)))

    def minimumSizeHint(self) -> QSize:
        return QSize(80, self.heightForWidth(max(self.width(), 120)))

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        line = self.fontMetrics().height()
        ramp = 8 + _BAR + line + 4
        return ramp if self._beside(width) else ramp + len(self._rows(width)) * (max(line, _SWATCH) + 3)

    def _beside(self, width: int) -> int:
        """Pixels that the swatches take beside the ramp, one above the other; 0 where they stand below it."""
        line = self.fontMetrics().height()
        if not self._is_low or len(self._entries) > (_BAR + line + 12) // line:
            return 0
        widest = max((self.fontMetrics().horizontalAdvance(text) for _, _, text in self._entries), default=0)
        needed = _SWATCH + 5 + widest + 14
        return needed if width - needed > 200 else 0

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.updateGeometry()

    def _rows(self, width: int) -> list[list[tuple[int, bool, str]]]:
        rows: list[list[tuple[int, bool, str]]] = []
        left = 0
        for entry in self._entries:
            needed = _SWATCH + 5 + self.fontMetrics().horizontalAdvance(entry[2]) + 14
            if not rows or needed > left:
                rows.append([])
                left = width - 12
            rows[-1].append(entry)
            left -= needed
        return rows

    # -- painting -------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        with painting(self) as painter:
            self.draw(painter)

    def draw(self, painter: QPainter) -> None:
        painter.fillRect(self.rect(), self._theme.color("background"))
        if self._series:
            self._draw_series(painter)
            return
        metrics = self.fontMetrics()
        widest = metrics.horizontalAdvance(self._end_text(self._scale.high))
        beside = self._beside(self.width())
        bar = QRect(8, 8, max(self.width() - 16 - beside, 1), _BAR)
        levels = (np.arange(bar.width()) * (LEVELS - 1) // max(bar.width() - 1, 1)).astype(np.uint8)
        strip = IndexedPicture(np.repeat(levels[None, :], _BAR, axis=0), table_of(self._theme, self._ramp))
        painter.drawImage(bar, strip.image)
        painter.setPen(QPen(self._theme.color("muted"), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(bar.adjusted(0, 0, -1, -1))
        self._draw_ticks(painter, bar, widest)
        for size, _ in self._marks:
            if self._scale.low <= size <= self._scale.high:
                x = self._x(bar, size)
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(self._theme.color("budget"))
                painter.drawPolygon(QPolygonF([QPointF(x - 4, 0), QPointF(x + 4, 0), QPointF(x, 7)]))
                painter.setPen(QPen(self._theme.color("budget"), 1.5))
                painter.drawLine(QPointF(x, 6), QPointF(x, bar.bottom() + 1))
        if beside:
            self._draw_beside(painter, self.width() - beside + 6)
        else:
            self._draw_entries(painter, bar.bottom() + metrics.height() + 6)

    def _draw_beside(self, painter: QPainter, left: int) -> None:
        """Swatches one above the other."""
        height = self.height() // max(len(self._entries), 1)
        for row, entry in enumerate(self._entries):
            self._draw_entry(painter, entry, left, row * height, height)

    def _draw_series(self, painter: QPainter) -> None:
        metrics = self.fontMetrics()
        x, height = 8, max(metrics.height(), _SWATCH)
        for token, text in self._series:
            painter.fillRect(QRect(x, 6 + (height - _SWATCH) // 2, _SWATCH, _SWATCH), self._theme.color(token))
            painter.setPen(self._theme.color("text"))
            painter.drawText(QPointF(x + _SWATCH + 5, 6 + (height + metrics.ascent() - metrics.descent()) / 2), text)
            x += _SWATCH + 5 + metrics.horizontalAdvance(text) + 14
        beside = self._beside(self.width())
        if beside:
            self._draw_beside(painter, self.width() - beside + 6)
        else:
            self._draw_entries(painter, 8 + _BAR + metrics.height() + 4)

    def _end_text(self, size: int) -> str:
        return signed_kib(size) if self._scale.diverging else scale_text(size, self._scale.low, self._scale.high)

    def _x(self, bar: QRect, size: int) -> float:
        return bar.x() + (size - self._scale.low) * (bar.width() - 1) / (self._scale.high - self._scale.low)

    def _draw_ticks(self, painter: QPainter, bar: QRect, widest: int) -> None:
        """The ends of the scale always; round ticks where there is room between them."""
        metrics = self.fontMetrics()
        line = bar.bottom() + 3 + metrics.ascent()
        painter.setPen(self._theme.color("text"))
        low, high = self._end_text(self._scale.low), self._end_text(self._scale.high)
        painter.drawText(QPointF(bar.left(), line), low)
        painter.drawText(QPointF(bar.right() - metrics.horizontalAdvance(high), line), high)
        free_from = bar.left() + metrics.horizontalAdvance(low) + 10
        free_to = bar.right() - metrics.horizontalAdvance(high) - 10
        painter.setPen(self._theme.color("muted"))
        most = max(bar.width() // (widest + 24), 1)
        for tick in byte_ticks(self._scale.low, self._scale.high, most):
            x = self._x(bar, tick.value)
            half = metrics.horizontalAdvance(tick.text) / 2
            if x - half >= free_from and x + half <= free_to:
                painter.drawLine(QPointF(x, bar.bottom() + 1), QPointF(x, bar.bottom() + 3))
                painter.drawText(QPointF(x - half, line), tick.text)

    def _draw_entries(self, painter: QPainter, top: int) -> None:
        metrics = self.fontMetrics()
        height = max(metrics.height(), _SWATCH)
        for row in self._rows(self.width()):
            x = 8
            for entry in row:
                self._draw_entry(painter, entry, x, top, height)
                x += _SWATCH + 5 + metrics.horizontalAdvance(entry[2]) + 14
            top += height + 3

    def _draw_entry(self, painter: QPainter, entry: tuple[int, bool, str], x: int, top: int, height: int) -> None:
        slot, over, text = entry
        box = QRect(x, top + (height - _SWATCH) // 2, _SWATCH, _SWATCH)
        draw_swatch(painter, box, self._theme, self._ramp, slot, over)
        painter.setPen(self._theme.color("text"))
        place = QRectF(x + _SWATCH + 5, top, self.width() - x - _SWATCH - 9, height)
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, text)
