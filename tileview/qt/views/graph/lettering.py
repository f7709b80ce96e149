"""Texts of the graph's drawing: readable at every zoom, shortened to their room, measured once."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter

_MOST_KEPT = 20_000
"""Texts whose width is remembered, a size of letters."""


class Side(Enum):
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

    def write(self, painter: QPainter, area: QRectF, text: str, side: Side = Side.LEFT) -> None:
        """Write a text in the middle of an area's height; the painter has the font and the pen already."""
        room = area.width()
        shown, width = self.fitted(text, room)
        x = area.left()
        if side is not Side.LEFT:
            x += (room - width) / (2 if side is Side.CENTRE else 1)
        painter.drawText(QPointF(x, area.top() + area.height() / 2 + self.drop), shown)

    def write_two(self, painter: QPainter, area: QRectF, left: str, right: str) -> None:
        """A text at the left, shortened to what the one at the right leaves."""
        room = area
        if right:
            self.write(painter, area, right, Side.RIGHT)
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
