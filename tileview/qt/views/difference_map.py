"""A small heat map of the differences between the tiles of two states."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QImage, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from tileview.present.colours import Ramp, Slot, colour_table, parse_rgb
from tileview.present.difference_maps import DifferenceMap
from tileview.qt.base.painting import painting
from tileview.qt.base.text import safe_tip
from tileview.qt.base.theme import Theme


class DifferenceMapWidget(QWidget):
    """Tiles in their places, blue where they hold less than the baseline, orange where more; hidden without a map."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._map: DifferenceMap | None = None
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setMinimumSize(QSize(66, 48))
        self.hide()

    def sizeHint(self) -> QSize:
        height = self.minimumHeight()
        return QSize(height * 65 // 24, height)

    @property
    def shown(self) -> DifferenceMap | None:
        """What is drawn."""
        return self._map

    def show_map(self, shown: DifferenceMap | None, name: str, theme: Theme) -> None:
        """Draw another map; None hides the widget."""
        self._map, self._theme = shown, theme
        self.setAccessibleName(f"Difference of {name} from the baseline, tile by tile")
        self.setAccessibleDescription("" if shown is None else shown.text)
        text = "" if shown is None else f"{shown.text}\nThe Tiles view shows it at every step (Difference)."
        self.setToolTip(safe_tip(text))
        self.setVisible(shown is not None)
        self.update()

    def target(self) -> QRectF:
        """Where the tiles are drawn: whole pixels a tile where there is room, so that no tile is lost."""
        shown = self._map
        if shown is None:
            return QRectF()
        rows, columns = shown.slots.shape
        unit = min((self.width() - 2) / max(columns, 1), (self.height() - 2) / max(rows, 1))
        unit = float(int(unit)) if unit >= 1 else max(unit, 0.0)
        return QRectF(1, 1, unit * columns, unit * rows)

    def paintEvent(self, event: QPaintEvent) -> None:
        with painting(self) as painter:
            self.draw(painter)

    def draw(self, painter: QPainter) -> None:
        """Draw on any painter: the widget's own, or that of a file."""
        if self._map is not None:
            self._draw(painter, self._map)

    def _draw(self, painter: QPainter, shown: DifferenceMap) -> None:
        theme = self._theme
        target = self.target()
        slots = np.ascontiguousarray(shown.slots)
        rows, columns = slots.shape
        image = QImage(slots.data, columns, rows, columns, QImage.Format.Format_Indexed8)
        image.setColorTable(
            colour_table(
                Ramp.DIFFERENCE,
                {
                    Slot.BACKGROUND: parse_rgb(theme.background),
                    Slot.UNAVAILABLE: parse_rgb(theme.raised),
                    Slot.ABSENT: parse_rgb(theme.raised),
                },
            )
        )
        painter.drawImage(target, image.copy())
        if shown.field.missing:
            painter.fillRect(target, QBrush(theme.color("unavailable"), Qt.BrushStyle.DiagCrossPattern))
        painter.setPen(QPen(theme.color("border"), 1))
        painter.drawRect(target.adjusted(-0.5, -0.5, 0.5, 0.5))
