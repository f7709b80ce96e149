"""From steps and bytes to pixels: the plane that curves are drawn in, and staircases through it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPolygonF

from tileview.model.timeline import ByteArray
from tileview.present.curves import BoolArray, Columns, column_any, column_max, columns

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Plane:
    """An area of a widget that shows steps ``first`` … ``last`` (step i occupies i … i + 1) and 0 … ``top`` bytes."""

    area: QRectF
    first: float
    last: float
    top: int

    def x(self, step: float) -> float:
        return self.area.left() + (step - self.first) * self.area.width() / (self.last - self.first)

    def y(self, size: float) -> float:
        return self.area.bottom() - size * self.area.height() / self.top

    def place(self, x: float) -> float:
        """The fractional step at an x."""
        return self.first + (x - self.area.left()) * (self.last - self.first) / self.area.width()

    def step(self, x: float, steps: int) -> int:
        """The step at an x, clipped to those there are."""
        return min(max(int(np.floor(self.place(x))), 0), max(steps - 1, 0))


@dataclass(frozen=True, slots=True)
class Stairs:
    """The columns of a plane: where each begins and ends in pixels, and which steps it shows.

    Where steps are wider than a pixel there is one column a step; where several share a pixel, one column a pixel,
    which shows the largest of them.
    """

    left: FloatArray
    right: FloatArray
    where: Columns

    def largest(self, values: ByteArray) -> ByteArray:
        return column_max(values, self.where)

    def any(self, flags: BoolArray) -> BoolArray:
        return column_any(flags, self.where)


def stairs(plane: Plane, steps: int) -> Stairs:
    """The columns of a plane for so many steps in all."""
    begin, end = max(int(np.floor(plane.first)), 0), min(int(np.ceil(plane.last)), steps)
    pixels = max(int(plane.area.width()), 1)
    if end - begin <= pixels:
        shown = np.arange(begin, end, dtype=np.int64)
        left = plane.area.left() + (shown - plane.first) * plane.area.width() / (plane.last - plane.first)
        width = plane.area.width() / (plane.last - plane.first)
        return Stairs(
            np.maximum(left, plane.area.left()),
            np.minimum(left + width, plane.area.right()),
            Columns(shown, shown + 1),
        )
    left = plane.area.left() + np.arange(pixels, dtype=np.float64)
    return Stairs(left, left + 1, columns(plane.first, plane.last, pixels, steps))


def runs(flags: BoolArray) -> list[tuple[int, int]]:
    """The half-open ranges in which a flag is set."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def _points(plane: Plane, at: Stairs, values: ByteArray, begin: int, end: int) -> list[QPointF]:
    ys = (plane.area.bottom() - values[begin:end] * (plane.area.height() / plane.top)).tolist()
    points = []
    for left, right, y in zip(at.left[begin:end].tolist(), at.right[begin:end].tolist(), ys, strict=True):
        points.append(QPointF(left, y))
        points.append(QPointF(right, y))
    return points


def line(plane: Plane, at: Stairs, values: ByteArray, begin: int, end: int) -> QPolygonF:
    """The staircase over columns ``begin`` … ``end``."""
    return QPolygonF(_points(plane, at, values, begin, end))


def ribbon(plane: Plane, at: Stairs, lower: ByteArray, upper: ByteArray, begin: int, end: int) -> QPolygonF:
    """The area between two staircases over columns ``begin`` … ``end``."""
    there = _points(plane, at, upper, begin, end)
    return QPolygonF(there + _points(plane, at, lower, begin, end)[::-1])
