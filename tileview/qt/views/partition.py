"""A small picture of a value's partition: the tensor cut into parts, and the tiles that hold them."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QFontMetrics, QImage, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from tileview.present.colours import Ramp, ramp_table
from tileview.present.partition_picture import DimensionCut, PartitionPicture, caption
from tileview.qt.base.painting import painting
from tileview.qt.base.text import safe_tip
from tileview.qt.base.theme import Theme

_CELL_LINES = 7.0
"""Tiles are divided by lines where they are at least this many pixels wide."""
_LINE_GAP = 3.0
"""Edges of parts are drawn where they are at least this many pixels apart; closer ones become a shade."""


class PartitionWidget(QWidget):
    """Left two of the tensor's dimensions with the edges of parts, right the tiles by their bytes."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._picture: PartitionPicture | None = None
        self.setMinimumHeight(120)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Partition over tiles")

    def sizeHint(self) -> QSize:
        return QSize(320, 150)

    def show_picture(self, picture: PartitionPicture | None, theme: Theme) -> None:
        """Draw another picture; None draws nothing."""
        self._picture, self._theme = picture, theme
        text = "" if picture is None else caption(picture)
        self.setToolTip(safe_tip(text))
        self.setAccessibleDescription(text)
        self.setVisible(picture is not None)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        with painting(self) as painter:
            self.draw(painter)

    def draw(self, painter: QPainter) -> None:
        """Draw on any painter: the widget's own, or that of a file."""
        painter.setFont(self.font())
        painter.fillRect(self.rect(), self._theme.color("background"))
        if self._picture is not None:
            self._paint(painter, self._picture)

    def _paint(self, painter: QPainter, picture: PartitionPicture) -> None:
        theme = self._theme
        metrics = QFontMetrics(self.font())
        foot = metrics.height() + 4
        room = QRectF(self.rect()).adjusted(4, 4, -4, -4 - foot)
        text = metrics.elidedText(caption(picture), Qt.TextElideMode.ElideRight, int(room.width()))
        painter.setPen(theme.color("muted"))
        painter.drawText(QRectF(room.left(), room.bottom() + 2, room.width(), foot), Qt.AlignmentFlag.AlignLeft, text)
        half = room.width() / 2 - 6
        self._draw_tensor(painter, QRectF(room.left(), room.top(), half, room.height()), picture)
        self._draw_tiles(painter, QRectF(room.right() - half, room.top(), half, room.height()), picture)

    def _draw_tensor(self, painter: QPainter, area: QRectF, picture: PartitionPicture) -> None:
        across, down = picture.across, picture.down
        if across is None or not across.padded or (down is not None and not down.padded):
            return
        x = area.width() / across.padded
        y = area.height() / (down.padded if down is not None else 1)
        theme = self._theme
        painter.fillRect(area, theme.color("raised"))
        hatch = QBrush(theme.color("muted"), Qt.BrushStyle.BDiagPattern)
        if across.padded > across.extent:
            painter.fillRect(
                QRectF(area.left() + across.extent * x, area.top(), (across.padded - across.extent) * x, area.height()),
                hatch,
            )
        if down is not None and down.padded > down.extent:
            painter.fillRect(
                QRectF(area.left(), area.top() + down.extent * y, area.width(), (down.padded - down.extent) * y), hatch
            )
        if picture.box is not None:
            left, right, top, bottom = picture.box
            box = QRectF(area.left() + left * x, area.top() + top * y, (right - left) * x, (bottom - top) * y)
            painter.fillRect(box.intersected(area), theme.color("accent", 190))
        painter.setPen(QPen(theme.color("text", 140), 0))
        for position in _visible(across, x):
            painter.drawLine(
                int(area.left() + position * x), int(area.top()), int(area.left() + position * x), int(area.bottom())
            )
        if down is not None:
            for position in _visible(down, y):
                painter.drawLine(
                    int(area.left()), int(area.top() + position * y), int(area.right()), int(area.top() + position * y)
                )
        painter.setPen(QPen(theme.color("text"), 1))
        painter.drawRect(area)

    def _draw_tiles(self, painter: QPainter, area: QRectF, picture: PartitionPicture) -> None:
        """The tiles on their grid, darker the more bytes; those without a part stay blank."""
        theme = self._theme
        if picture.tile_bytes is None or picture.grid is None:
            painter.fillRect(area, QBrush(theme.color("unavailable"), Qt.BrushStyle.DiagCrossPattern))
            painter.setPen(theme.color("text"))
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, "unavailable")
            return
        numbers = picture.tile_bytes
        most = int(numbers.max(initial=0))
        where = np.asarray(picture.grid.tile)
        ramp = ramp_table(Ramp.VIRIDIS)
        background = theme.color("raised")
        pixels = np.empty((*where.shape, 3), dtype=np.uint8)
        pixels[:] = (background.red(), background.green(), background.blue())
        held = where >= 0
        sizes = np.zeros(where.shape, dtype=np.int64)
        sizes[held] = numbers[where[held]]
        if most:
            levels = (sizes * (len(ramp) - 1)) // most
            pixels[sizes > 0] = ramp[levels[sizes > 0]]
        rows, columns = where.shape
        image = QImage(np.ascontiguousarray(pixels).data, columns, rows, columns * 3, QImage.Format.Format_RGB888)
        unit = min(area.width() / columns, area.height() / rows)
        target = QRectF(area.left(), area.top(), unit * columns, unit * rows)
        painter.drawImage(target, image.copy())
        painter.setPen(QPen(theme.color("border"), 1))
        painter.drawRect(target)
        if unit >= _CELL_LINES:
            for column in range(1, columns):
                painter.drawLine(
                    QPointF(target.left() + column * unit, target.top()),
                    QPointF(target.left() + column * unit, target.bottom()),
                )
            for row in range(1, rows):
                painter.drawLine(
                    QPointF(target.left(), target.top() + row * unit),
                    QPointF(target.right(), target.top() + row * unit),
                )
        if picture.tile is not None:
            spot = np.argwhere(where == picture.tile)
            if len(spot):
                row, column = spot[0].tolist()
                painter.setPen(QPen(theme.color("over"), 2))
                painter.drawRect(
                    QRectF(target.left() + column * unit, target.top() + row * unit, unit, unit).adjusted(-1, -1, 1, 1)
                )


def _visible(cut: DimensionCut, scale: float) -> list[int]:
    """The edges that can be told apart at a scale of so many pixels an element."""
    shown: list[int] = []
    last = -_LINE_GAP
    for edge in cut.edges:
        if edge * scale - last >= _LINE_GAP:
            shown.append(edge)
            last = edge * scale
    return shown
