"""Texts of plots: where labels stand so that none lies on another, and legends in reading order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from tileview.qt.base.painting import painting
from tileview.qt.base.text import plain_tip

FloatArray = npt.NDArray[np.float64]

_FORBIDDEN = 1e6
_ALONG = 24.0
"""Pixels from one place along a line that is tried to the next."""


class LabelPlacer:
    """Chooses a box for each text out of those that are offered, the first that is free.

    What a box may not touch: the boxes chosen before it, and ``obstacles`` (marks, lines of budgets). Curves may be
    covered where nothing else is left; then the box that covers the fewest columns of them is taken.

    Parameters
    ----------
    area : QRectF
        The plot; boxes are kept inside it.
    left, right : (columns,) float
        Where the columns of the curves begin and end, in pixels, ascending.
    curves : sequence of (columns,) float
        The height of each curve in each column, in pixels from above; NaN where it is not drawn.
    """

    def __init__(
        self, area: QRectF, left: FloatArray, right: FloatArray, curves: Sequence[FloatArray], reach: float = 2.0
    ) -> None:
        self._area = area
        self._left, self._right = left, right
        self._reach = reach
        bands = [_bands(curve) for curve in curves if len(curve)]
        self._high = np.array([high for high, _ in bands]).reshape(len(bands), len(left))
        self._low = np.array([low for _, low in bands]).reshape(len(bands), len(left))
        self.taken: list[QRectF] = []
        self.placed: list[QRectF] = []

    def block(self, box: QRectF) -> None:
        """No text may lie here."""
        self.taken.append(box)

    def place(self, boxes: Iterable[QRectF]) -> QRectF | None:
        """The best of the boxes offered, which then counts as taken; None where every one is forbidden."""
        best: tuple[float, QRectF] | None = None
        for box in boxes:
            cost = self.cost(box)
            if best is None or cost < best[0]:
                best = (cost, box)
            if cost == 0:
                break
        if best is None or best[0] >= _FORBIDDEN:
            return None
        self.taken.append(best[1])
        self.placed.append(best[1])
        return best[1]

    def cost(self, box: QRectF) -> float:
        """0 for a free box, else the columns of curves that it covers; forbidden ones cost more than any curve."""
        if not self._area.contains(box) or any(box.intersects(other) for other in self.taken):
            return _FORBIDDEN
        first = int(np.searchsorted(self._right, box.left(), "right"))
        last = int(np.searchsorted(self._left, box.right(), "left"))
        top, bottom = box.top() - self._reach, box.bottom() + self._reach
        return float(np.count_nonzero((self._high[:, first:last] <= bottom) & (self._low[:, first:last] >= top)))


def _bands(curve: FloatArray) -> tuple[FloatArray, FloatArray]:
    """What a staircase covers in each column, the rises to both neighbours included: upper and lower edge."""
    before, after = np.append(curve[:1], curve[:-1]), np.append(curve[1:], curve[-1:])
    with np.errstate(invalid="ignore"):
        upper = np.fmin(curve, np.fmin(before, after))
        lower = np.fmax(curve, np.fmax(before, after))
    return np.where(np.isnan(curve), np.inf, upper), np.where(np.isnan(curve), -np.inf, lower)


def boxes_along(area: QRectF, y: float, width: float, height: float) -> list[QRectF]:
    """Places for the name of a line across the plot at ``y``: above it from right to left, then below it."""
    found = []
    for top in (y - height - 2, y + 2):
        if top < area.top() or top + height > area.bottom():
            continue
        left = area.right() - width - 3
        while left >= area.left() + 2:
            found.append(QRectF(left, top, width, height))
            left -= _ALONG
    return found


def boxes_under(area: QRectF, left: float, right: float, width: float, height: float) -> list[QRectF]:
    """Places for the name of a part of the steps: from the upper edge downwards, at its left end and then further
    in.
    """
    found = []
    top = area.top() + 1
    while top + height <= area.bottom():
        x = max(left + 3, area.left() + 2)
        while x + width <= min(right, area.right()) - 2 or x <= max(left + 3, area.left() + 2):
            found.append(QRectF(x, top, width, height))
            x += 2 * _ALONG
        top += height / 2
    return found


def draw_label(painter: QPainter, box: QRectF, text: str, ink: QColor, ground: QColor) -> None:
    """A text on a ground of its own, so that lines of the grid do not strike it through."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ground)
    painter.drawRoundedRect(box, 2, 2)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(ink)
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)


def around(place: QPointF, reach: float) -> QRectF:
    """The square around a mark."""
    return QRectF(place.x() - reach, place.y() - reach, 2 * reach, 2 * reach)


_SWATCH = 22


@dataclass(frozen=True, slots=True)
class LegendLine:
    """A line (``pen``) or an area (``brush``, framed by ``pen`` where there is one), its name, and a number."""

    name: str
    pen: QPen | None = None
    brush: QBrush | None = None
    number: str = ""
    widest: str = ""
    """The longest that ``name`` can become as the cursor moves, where that changes it."""

    @property
    def text(self) -> str:
        return f"{self.name} {self.number}" if self.number else self.name


class Legend(QWidget):
    """Entries in reading order, on as many lines as they need."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName("Legend")
        self._entries: tuple[LegendLine, ...] = ()
        self._rooms: dict[str, int] = {}
        self._most = 99

    def set_most_lines(self, most: int) -> None:
        """Show at most so many lines; what does not fit is counted, and listed in the tooltip."""
        if most != self._most:
            self._most = most
            self.updateGeometry()
            self.update()

    def set_entries(self, entries: tuple[LegendLine, ...]) -> None:
        names = [entry.widest or entry.name for entry in self._entries]
        self._entries = entries
        if names != [entry.widest or entry.name for entry in entries]:
            self._rooms.clear()
            self.updateGeometry()
        self.setAccessibleDescription(", ".join(entry.text for entry in entries))
        self.setToolTip(plain_tip("\n".join(entry.text for entry in entries)))
        self.update()

    @property
    def texts(self) -> tuple[str, ...]:
        """The words of the legend."""
        return tuple(entry.text for entry in self._entries)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return len(self._lines(width)) * (self.fontMetrics().height() + 2)

    def sizeHint(self) -> QSize:
        return QSize(200, self.heightForWidth(max(self.width(), 120)))

    def minimumSizeHint(self) -> QSize:
        return QSize(80, self.heightForWidth(max(self.width(), 120)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.updateGeometry()

    def _room(self, entry: LegendLine) -> int:
        """Room for an entry whatever its number becomes, so that entries do not jump while the cursor moves."""
        name = entry.widest or entry.name
        room = self._rooms.get(name)
        if room is None:
            metrics = self.fontMetrics()
            widest = f"{name} 0,000.0 KiB" if entry.number else name
            room = _SWATCH + 4 + max(metrics.horizontalAdvance(widest), metrics.horizontalAdvance(entry.text)) + 12
            self._rooms[name] = room
        return room

    def _lines(self, width: int) -> list[list[LegendLine]]:
        lines: list[list[LegendLine]] = []
        left = 0
        for entry in self._entries:
            needed = self._room(entry)
            if not lines or needed > left:
                lines.append([])
                left = width
            lines[-1].append(entry)
            left -= needed
        if len(lines) > self._most:
            rest = sum(map(len, lines[self._most :]))
            lines = lines[: self._most]
            if lines:
                lines[-1][-1:] = [LegendLine(f"and {rest + 1:,} more")]
        return lines

    def paintEvent(self, event: QPaintEvent) -> None:
        with painting(self) as painter:
            self.draw(painter)

    def draw(self, painter: QPainter) -> None:
        metrics = self.fontMetrics()
        height = metrics.height() + 2
        for row, entries in enumerate(self._lines(self.width())):
            x = 0
            for entry in entries:
                box = QRectF(x + 1, row * height + 3, _SWATCH - 2, height - 6)
                if entry.brush is not None:
                    painter.setBrush(entry.brush)
                    painter.setPen(entry.pen if entry.pen is not None else QPen(self.palette().mid().color(), 1))
                    painter.drawRect(box)
                elif entry.pen is not None:
                    painter.setPen(entry.pen)
                    painter.drawLine(QPointF(box.left(), box.center().y()), QPointF(box.right(), box.center().y()))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.setPen(self.palette().windowText().color())
                place = QRectF(x + _SWATCH + 4, row * height, self.width() - x - _SWATCH - 4, height)
                text = metrics.elidedText(entry.text, Qt.TextElideMode.ElideRight, int(place.width()))
                painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
                x += self._room(entry)
