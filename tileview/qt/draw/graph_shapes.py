"""Small shapes of the graph's drawing: curves, arrow heads, signs, and text that fits."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from itertools import pairwise

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen, QPolygonF

from tileview.qt.theme import Theme

BAR = 10.0
"""Height of the bar of a box at full detail, in units of the picture."""


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
    bold: QFont = field(init=False)
    edge: QPen = field(init=False)
    upwards: QPen = field(init=False)
    straight: QPen = field(init=False)

    def __post_init__(self) -> None:
        self.bold = QFont(self.font)
        self.bold.setBold(True)
        self.edge = QPen(self.theme.color("baseline"), 1.3)
        self.upwards = QPen(self.theme.color("over"), 1.8, Qt.PenStyle.DashLine)
        self.straight = QPen(self.theme.color("baseline", 110), 0)


def smooth(points: list[QPointF]) -> QPainterPath:
    path = QPainterPath(points[0])
    for before, after in pairwise(points):
        if abs(before.x() - after.x()) < 0.5:
            path.lineTo(after)
        else:
            middle = (before.y() + after.y()) / 2
            path.cubicTo(QPointF(before.x(), middle), QPointF(after.x(), middle), after)
    return path


def broken(points: list[QPointF]) -> QPainterPath:
    path = QPainterPath(points[0])
    for point in points[1:]:
        path.lineTo(point)
    return path


def arrow(before: QPointF | None, tip: QPointF, size: float, is_down: bool) -> QPolygonF:
    """A triangle at ``tip``, along the line from ``before``, or vertical where the edge ends so."""
    if before is None:
        dx, dy = 0.0, 1.0 if is_down else -1.0
    else:
        line = QLineF(before, tip)
        length = line.length() or 1.0
        dx, dy = line.dx() / length, line.dy() / length
    back = QPointF(tip.x() - dx * size * 1.7, tip.y() - dy * size * 1.7)
    across = QPointF(-dy * size * 0.8, dx * size * 0.8)
    return QPolygonF([tip, back + across, back - across])


def text_size(font: QFont, scale: float, room: float) -> float:
    """Pixels in picture units: the font's own size, larger when zoomed out so that it stays readable, never above the
    room.
    """
    own = QFontMetricsF(font).height()
    wanted = own if scale >= 0.9 else own * 0.9 / scale
    return min(wanted, room)


def sized(font: QFont, height: float) -> QFont:
    """A font whose lines are ``height`` high."""
    sized = QFont(font)
    metrics = QFontMetricsF(font)
    pixels = font.pixelSize() if font.pixelSize() > 0 else metrics.height() * 0.84
    sized.setPixelSize(max(1, int(pixels * height / metrics.height())))
    return sized


def elided(
    painter: QPainter, area: QRectF, font: QFont, text: str, ink: QColor, centred: bool, right: bool = False
) -> None:
    painter.setFont(font)
    painter.setPen(ink)
    metrics = QFontMetricsF(font)
    shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, area.width())
    side = Qt.AlignmentFlag.AlignHCenter if centred else Qt.AlignmentFlag.AlignLeft
    side = Qt.AlignmentFlag.AlignRight if right else side
    painter.drawText(area, int(side | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine), shown)


def two_texts(painter: QPainter, area: QRectF, font: QFont, left: str, right: str, ink: QColor, side: QColor) -> None:
    """A text at the left, shortened to what the text at the right leaves."""
    used = QFontMetricsF(font).horizontalAdvance(right) + 8 if right else 0.0
    if right:
        elided(painter, area, font, right, side, False, True)
    elided(painter, area.adjusted(0, 0, -used, 0), font, left, ink, False)


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


def bar_area(rect: QRectF, detail: Detail) -> QRectF:
    """Where the bar of a box lies: along its lower edge, higher the fewer words there are, all of it without words."""
    if detail is Detail.BLOCKS:
        return rect
    part = {Detail.NUMBERS: 0.4, Detail.TITLES: 0.26}.get(detail)
    height = BAR if part is None else rect.height() * part
    return QRectF(rect.left() + 3, rect.bottom() - height - 2, rect.width() - 6, height)


def draw_stripes(painter: QPainter, area: QRectF, ink: QColor) -> None:
    """Slanted lines over an area, cut at its edges by arithmetic: SVG files know no clipping."""
    if area.width() <= 0:
        return
    color = QColor(ink)
    color.setAlpha(190)
    painter.setPen(QPen(color, 1.2))
    height, lines = area.height(), []
    x = area.left() + 3.0
    while x - height < area.right():
        # From (x, top) down to the left; both ends moved along the line into the area.
        start, end = min(x, area.right()), max(x - height, area.left())
        if start > end:
            lines.append(QLineF(start, area.top() + (x - start), end, area.top() + (x - end)))
        x += 6.0
    painter.drawLines(lines)
