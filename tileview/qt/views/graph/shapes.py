"""Small shapes of the graph's drawing: signs, bars and stripes; its pens and fonts."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen, QPolygonF

from tileview.qt.base.theme import Theme
from tileview.qt.views.graph.lettering import Lettering

Floats = npt.NDArray[np.float64]

BAR = 10.0
"""Height of the bar of a box at full detail, in units of the picture."""
_STRIPE = 6.0
"""From stripe to stripe."""


class Detail(IntEnum):
    """What a zoom can show: coloured blocks, numbers, titles and shares, everything."""

    BLOCKS = 0
    NUMBERS = 1
    TITLES = 2
    ALL = 3


def detail_at(scale: float) -> Detail:
    """The detail for a zoom: text is drawn only where it is large enough to be read."""
    if scale >= 0.72:
        return Detail.ALL
    if scale >= 0.42:
        return Detail.TITLES
    return Detail.NUMBERS if scale >= 0.22 else Detail.BLOCKS


@dataclass(slots=True)
class Pens:
    """Pens and fonts of one theme, made once."""

    theme: Theme
    font: QFont
    lettering: Lettering = field(init=False)
    edge: QPen = field(init=False)
    upwards: QPen = field(init=False)
    straight: QPen = field(init=False)
    far: QColor = field(init=False)
    far_back: QColor = field(init=False)

    def __post_init__(self) -> None:
        self.lettering = Lettering(self.font)
        self.edge = QPen(self.theme.color("baseline"), 1.3)
        self.upwards = QPen(self.theme.color("over"), 1.8, Qt.PenStyle.DashLine)
        # Thin lines seen from afar are pale, but not transparent: mixing them into what is there takes ten times as
        # long.
        self.straight = QPen(self._mixed("baseline", 0.43), 0)
        self.far = self._mixed("baseline", 0.47)
        self.far_back = self._mixed("over", 0.7)

    def _mixed(self, token: str, part: float) -> QColor:
        """A colour with so much of a token over the background."""
        ink, ground = self.theme.color(token), self.theme.color("background")
        red, green, blue = (
            part * one + (1 - part) * other
            for one, other in (
                (ink.redF(), ground.redF()),
                (ink.greenF(), ground.greenF()),
                (ink.blueF(), ground.blueF()),
            )
        )
        return QColor.fromRgbF(red, green, blue)


def draw_toggle(painter: QPainter, area: QRectF, width: float, is_open: bool, ink: QColor) -> None:
    """Plus or minus in a square, in the first ``width`` of an area: collapsed or expanded."""
    side = 11.0
    box = QRectF(0, 0, side, side)
    box.moveCenter(QPointF(area.left() + width / 2, area.center().y()))
    painter.setPen(QPen(ink, 1.3))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(box)
    middle = box.center()
    lines = [QLineF(box.left() + 2.5, middle.y(), box.right() - 2.5, middle.y())]
    if not is_open:
        lines.append(QLineF(middle.x(), box.top() + 2.5, middle.x(), box.bottom() - 2.5))
    painter.drawLines(lines)


def draw_warning(painter: QPainter, rect: QRectF, theme: Theme) -> None:
    """A triangle in the corner: something here was wrong in the file."""
    corner = rect.topRight()
    shape = [QPointF(corner.x() - 14, corner.y() + 1), QPointF(corner.x() - 1, corner.y() + 1)]
    shape.append(QPointF(corner.x() - 1, corner.y() + 14))
    painter.setPen(QPen(theme.color("background"), 1))
    painter.setBrush(theme.color("over"))
    painter.drawPolygon(QPolygonF(shape))


def _bar_height(box: Floats, detail: Detail) -> Floats:
    """The height of a bar in boxes of some height: the higher the fewer words there are."""
    part = {Detail.NUMBERS: 0.4, Detail.TITLES: 0.26}.get(detail)
    return np.full_like(box, BAR) if part is None else box * part


def bar_area(rect: QRectF, detail: Detail) -> QRectF:
    """Where the bar of a box lies: along its lower edge, all of it where there are no words."""
    if detail is Detail.BLOCKS:
        return rect
    height = float(_bar_height(np.array(rect.height()), detail))
    return QRectF(rect.left() + 3, rect.bottom() - height - 2, rect.width() - 6, height)


def bar_areas(rects: Floats, detail: Detail) -> Floats:
    """The same for many boxes at once: (k, 4) left, top, width, height."""
    if detail is Detail.BLOCKS:
        return rects.copy()
    left, top, width, height = rects.T
    bar = _bar_height(height, detail)
    return np.stack([left + 3, top + height - bar - 2, width - 6, bar], axis=1)


def stripes(areas: Floats) -> Floats:
    """(m, 4): slanted lines over areas (k, 4) left, top, width, height, cut at their edges by arithmetic: SVG files
    know no clipping.
    """
    left, top, width, height = areas.T
    counts = np.where(width > 0, np.ceil((width + height - 3) / _STRIPE), 0).astype(np.int64).clip(0)
    area = np.repeat(np.arange(len(areas)), counts)
    number = np.arange(len(area)) - np.repeat(np.cumsum(counts) - counts, counts)
    left, top, right, height = left[area], top[area], (left + width)[area], height[area]
    # From (x, top) down to the left by the height; both ends moved along the line into the area.
    x = left + 3 + number * _STRIPE
    start, end = np.minimum(x, right), np.maximum(x - height, left)
    lines = np.stack([start, top + (x - start), end, top + (x - end)], axis=1)
    return np.asarray(lines[start > end])


def draw_stripes(painter: QPainter, area: QRectF, ink: QColor) -> None:
    """Slanted lines over an area."""
    color = QColor(ink)
    color.setAlpha(190)
    painter.setPen(QPen(color, 1.2))
    lines = stripes(np.array([[area.left(), area.top(), area.width(), area.height()]]))
    painter.drawLines([QLineF(*line) for line in lines.tolist()])
