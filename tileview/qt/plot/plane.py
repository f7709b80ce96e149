"""From steps and bytes to pixels: the plane that curves are drawn in, and staircases through it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainterPath

from tileview.model.timeline import ByteArray
from tileview.present.curves import BoolArray, Columns, column_any, column_max, columns
from tileview.qt.plot.polyline import polyline

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

    def band(self, start: float, stop: float) -> QRectF:
        """The area over some steps, as far as it is in view; empty where none of it is.

        Cut by arithmetic, because SVG files know no clipping.
        """
        left, right = max(self.x(start), self.area.left()), min(self.x(stop), self.area.right())
        return QRectF(left, self.area.top(), max(right - left, 0.0), self.area.height())

    def shows(self, x: float) -> bool:
        """Whether an x lies in the area."""
        return self.area.left() <= x <= self.area.right()

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


def _corners(plane: Plane, at: Stairs, values: ByteArray, begin: int, end: int) -> tuple[FloatArray, FloatArray]:
    """The corners of the staircase; neighbours of the same height are one tread."""
    part = values[begin:end]
    firsts = np.flatnonzero(np.concatenate([[True], part[1:] != part[:-1]]))
    lasts = np.append(firsts[1:], len(part)) - 1
    x = np.column_stack([at.left[begin:end][firsts], at.right[begin:end][lasts]]).reshape(-1)
    y = np.repeat(plane.area.bottom() - part[firsts] * (plane.area.height() / plane.top), 2)
    return x, y


def line(plane: Plane, at: Stairs, values: ByteArray, begin: int, end: int) -> QPainterPath:
    """The staircase over columns ``begin`` … ``end``."""
    x, y = _corners(plane, at, values, begin, end)
    return polyline(x, y)


def ribbon(plane: Plane, at: Stairs, lower: ByteArray, upper: ByteArray, begin: int, end: int) -> QPainterPath:
    """The area between two staircases over columns ``begin`` … ``end``, closed."""
    x, y = _corners(plane, at, upper, begin, end)
    back_x, back_y = _corners(plane, at, lower, begin, end)
    path = polyline(np.concatenate([x, back_x[::-1]]), np.concatenate([y, back_y[::-1]]))
    path.closeSubpath()
    return path
