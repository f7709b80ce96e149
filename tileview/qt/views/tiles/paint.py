"""Shared drawing of tiles: the colour table of a theme, indexed images, swatches of what is hatched or crossed."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QImage, QPainter, QPen

from tileview.present.colours import Ramp, Slot, colour_table, parse_rgb
from tileview.present.rasters import ByteImage, cell_image
from tileview.qt.base.theme import Theme


def table_of(theme: Theme, ramp: Ramp) -> list[int]:
    """The colour table of an indexed image in a theme."""
    return colour_table(
        ramp,
        {
            Slot.BACKGROUND: parse_rgb(theme.background),
            Slot.ABSENT: parse_rgb(theme.raised),
            Slot.UNAVAILABLE: parse_rgb(theme.surface),
            Slot.UNAVAILABLE_MARK: parse_rgb(theme.unavailable),
            Slot.HATCH_DARK: (0, 0, 0),
            Slot.HATCH_LIGHT: (255, 255, 255),
            Slot.OVER_MARK: parse_rgb(theme.over),
        },
    )


class IndexedPicture:
    """A numpy image of colour slots as a QImage; keeps the array alive, because the QImage only looks at it."""

    def __init__(self, pixels: ByteImage, table: list[int], ratio: float = 1.0) -> None:
        self._pixels = np.ascontiguousarray(pixels, dtype=np.uint8)
        rows, columns = self._pixels.shape
        self.image = QImage(self._pixels.data, columns, rows, columns, QImage.Format.Format_Indexed8)
        self.image.setColorTable(table)
        self.image.setDevicePixelRatio(ratio)


def draw_swatch(painter: QPainter, rect: QRect, theme: Theme, ramp: Ramp, slot: int, over: bool = False) -> None:
    """A cell as the map draws it, with a border: legends show exactly what the map shows."""
    ratio = painter.device().devicePixelRatioF()
    width, height = max(round(rect.width() * ratio), 1), max(round(rect.height() * ratio), 1)
    cells = np.full((1, 1), slot, dtype=np.uint8)
    pixels = cell_image(cells, np.full((1, 1), over), width, height, ramp=ramp, line=max(round(ratio), 1))
    painter.drawImage(rect.topLeft(), IndexedPicture(pixels, table_of(theme, ramp), ratio).image)
    painter.setPen(QPen(theme.color("muted"), 1))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(rect.adjusted(0, 0, -1, -1))
