"""Pens and letters of the graph's drawing, and its small signs."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, IntEnum, auto

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen, QPolygonF

from tileview.qt.base.theme import Theme

_MOST_KEPT = 20_000
"""Texts whose width is remembered, a size of letters."""


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


class TextSide(Enum):
    """Where a text stands in its room."""

    LEFT = auto()
    CENTRE = auto()
    RIGHT = auto()


@dataclass(slots=True)
class Letters:
    """One font in one size, with the texts it has been used for: shortened to a width, and how wide they are then."""

    font: QFont
    metrics: QFontMetricsF = field(init=False)
    drop: float = field(init=False)
    """From the middle of a line down to its baseline."""
    _kept: dict[tuple[str, float], tuple[str, float]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.metrics = QFontMetricsF(self.font)
        self.drop = (self.metrics.ascent() - self.metrics.descent()) / 2

    def fitted(self, text: str, room: float) -> tuple[str, float]:
        """A text shortened to a room, and its width."""
        key = (text, room)
        found = self._kept.get(key)
        if found is None:
            shown = self.metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
            found = (shown, self.metrics.horizontalAdvance(shown))
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[key] = found
        return found

    def write(self, painter: QPainter, area: QRectF, text: str, side: TextSide = TextSide.LEFT) -> None:
        """Write a text in the middle of an area's height; the painter has the font and the pen already."""
        room = area.width()
        shown, width = self.fitted(text, room)
        x = area.left()
        if side is not TextSide.LEFT:
            x += (room - width) / (2 if side is TextSide.CENTRE else 1)
        painter.drawText(QPointF(x, area.top() + area.height() / 2 + self.drop), shown)

    def write_two(
        self, painter: QPainter, area: QRectF, left: str, right: str, right_ink: QColor | None = None
    ) -> None:
        """A text at the left, shortened to what the one at the right leaves; that may have a colour of its own."""
        room = area
        if right:
            pen = None if right_ink is None else painter.pen()
            if right_ink is not None:
                painter.setPen(right_ink)
            self.write(painter, area, right, TextSide.RIGHT)
            if pen is not None:
                painter.setPen(pen)
            room = area.adjusted(0, 0, -self.fitted(right, area.width())[1] - 8, 0)
        if left and room.width() > 0:
            self.write(painter, room, left)


class Lettering:
    """A font, plain and bold, in the sizes that zooms ask for."""

    def __init__(self, font: QFont) -> None:
        self._fonts = (QFont(font), QFont(font))
        self._fonts[1].setBold(True)
        self._heights = tuple(QFontMetricsF(one).height() for one in self._fonts)
        self._kept: dict[tuple[bool, int], Letters] = {}

    def height(self, bold: bool = False) -> float:
        """The height of a line at the font's own size."""
        return self._heights[bold]

    def letters(self, bold: bool, scale: float, room: float) -> Letters:
        """Letters whose lines are as high as the font's own, larger when zoomed out so that they stay readable,
        never above the room. In units of the picture.
        """
        own = self._heights[bold]
        height = min(own if scale >= 0.9 else own * 0.9 / scale, room)
        font = self._fonts[bold]
        usual = font.pixelSize() if font.pixelSize() > 0 else own * 0.84
        pixels = max(1, int(usual * height / own))
        found = self._kept.get((bold, pixels))
        if found is None:
            sized = QFont(font)
            sized.setPixelSize(pixels)
            found = self._kept[bold, pixels] = Letters(sized)
        return found


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
