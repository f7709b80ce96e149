"""Where texts stand in a plot, so that none lies on another, on a mark, or (where it can be helped) on a curve."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter

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
