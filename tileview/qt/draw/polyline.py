"""Paths through thousands of points, made without a call for each of them."""

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QByteArray, QDataStream
from PySide6.QtGui import QPainterPath

_ELEMENT = np.dtype([("kind", ">i4"), ("x", ">f8"), ("y", ">f8")])
"""A point as Qt streams it; kind 0 moves there, kind 1 draws a line there."""
_END = struct.pack(">ii", 0, 0)
"""Where the last subpath starts, and the fill rule (odd-even)."""


def polyline(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> QPainterPath:
    """The path from point to point, in order; empty for no points. All coordinates have to be finite.

    Qt reads a path back from the form in which it streams one; numpy makes that form at once, where adding 10,000
    points one by one takes milliseconds at every repaint.
    """
    path = QPainterPath()
    if not len(x):
        return path
    points = np.empty(len(x), dtype=_ELEMENT)
    points["kind"] = 1
    points["kind"][0] = 0
    points["x"], points["y"] = x, y
    data = QByteArray(struct.pack(">i", len(x)) + points.tobytes() + _END)
    stream = QDataStream(data)
    stream >> path
    return path
