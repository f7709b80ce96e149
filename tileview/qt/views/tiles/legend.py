"""The legend under the tiles: what lines, swatches and bars mean, with how many tiles have them."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from tileview.present.colours import OVER_LINE
from tileview.qt.base.painting import painting
from tileview.qt.base.theme import Theme
from tileview.qt.views.tiles.items import cosmetic
from tileview.qt.views.tiles.words import LegendEntry

_SWATCH = 11
_GAP = 16
_EDGE = 4


class TileLegend(QWidget):
    """Entries in rows; its height follows from its width."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName("Legend of the tiles")
        self._theme = theme
        self._entries: tuple[LegendEntry, ...] = ()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def set_entries(self, entries: Sequence[LegendEntry], scale_words: Sequence[str] = ()) -> None:
        """What stands there; ``scale_words`` say the colour bar to those who hear the legend."""
        if tuple(entries) != self._entries:
            self._entries = tuple(entries)
            self.updateGeometry()
            self.update()
        self.setAccessibleDescription("; ".join([*scale_words, *self.entries]))

    @property
    def entries(self) -> tuple[str, ...]:
        """The words of the legend."""
        return tuple(entry.text for entry in self._entries)

    def sizeHint(self) -> QSize:
        return QSize(200, self.heightForWidth(max(self.width(), 120)))

    def minimumSizeHint(self) -> QSize:
        return QSize(80, self.heightForWidth(max(self.width(), 120)))

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return max(len(self._rows(width)), 1) * (self.fontMetrics().height() + 3)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.updateGeometry()

    def _rows(self, width: int) -> list[list[tuple[int, LegendEntry]]]:
        """Entries with their x, row by row."""
        rows: list[list[tuple[int, LegendEntry]]] = []
        x = _EDGE
        for entry in self._entries:
            needed = _SWATCH + 5 + self.fontMetrics().horizontalAdvance(entry.text)
            if not rows or x + needed > width:
                rows.append([])
                x = _EDGE
            rows[-1].append((x, entry))
            x += needed + _GAP
        return rows

    def paintEvent(self, event: QPaintEvent) -> None:
        with painting(self) as painter:
            self.draw(painter)

    def draw(self, painter: QPainter) -> None:
        """Draw it on any painter: the widget's own, or that of a file."""
        metrics, height = self.fontMetrics(), self.fontMetrics().height() + 3
        painter.setFont(self.font())
        for row, entries in enumerate(self._rows(self.width())):
            for x, entry in entries:
                self._draw_sign(painter, QRectF(x + 1, row * height + (height - _SWATCH) / 2, _SWATCH, _SWATCH), entry)
                room = QRectF(x + _SWATCH + 5, row * height, self.width() - x - _SWATCH - 5, height)
                painter.setPen(self._theme.color("text"))
                text = metrics.elidedText(entry.text, Qt.TextElideMode.ElideRight, int(room.width()))
                painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, text)

    def _draw_sign(self, painter: QPainter, box: QRectF, entry: LegendEntry) -> None:
        theme = self._theme
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if entry.sign in ("over", "selected"):
            painter.setPen(cosmetic(OVER_LINE if entry.sign == "over" else theme.mark, 2))
            painter.drawRect(box.adjusted(1, 1, -1, -1))
        elif entry.sign in ("unavailable", "absent"):
            painter.fillRect(box, theme.color("surface" if entry.sign == "unavailable" else "raised"))
            if entry.sign == "unavailable":
                painter.fillRect(box, QBrush(theme.color("unavailable"), Qt.BrushStyle.DiagCrossPattern))
            painter.setPen(QPen(theme.color("muted"), 1))
            painter.drawRect(box)
        else:
            painter.fillRect(box, theme.color(entry.sign))
