"""Paths through thousands of points, made without a call for each of them."""

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QByteArray, QDataStream
from PySide6.QtGui import QPainterPath

Floats = npt.NDArray[np.float64]

_ELEMENT = np.dtype([("kind", ">i4"), ("x", ">f8"), ("y", ">f8")])
"""A point as Qt streams it; kind 0 moves there, kind 1 draws a line there."""


def polyline(x: Floats, y: Floats) -> QPainterPath:
    """The path from point to point, in order; empty for no points. All coordinates have to be finite."""
    return polylines(np.stack([x, y], axis=1)[None])


def polylines(points: Floats) -> QPainterPath:
    """A path of several lines (k, s, 2): each goes through its s points, in order.

    Qt reads a path back from the form in which it streams one; numpy makes that form at once, where adding 10,000
    points one by one takes milliseconds at every repaint.
    """
    return joined_polylines([points])


def joined_polylines(groups: list[Floats]) -> QPainterPath:
    """The same of groups of lines, each with a number of points of its own."""
    path = QPainterPath()
    groups = [group for group in groups if group.size]
    if not groups:
        return path
    elements = np.empty(sum(group.shape[0] * group.shape[1] for group in groups), dtype=_ELEMENT)
    elements["kind"] = 1
    start = 0
    for group in groups:
        stop = start + group.shape[0] * group.shape[1]
        part = elements[start:stop]
        part["kind"][:: group.shape[1]] = 0
        part["x"], part["y"] = group[:, :, 0].ravel(), group[:, :, 1].ravel()
        start = stop
    # After the points: where the last line starts, and the fill rule (odd-even).
    last = len(elements) - groups[-1].shape[1]
    data = QByteArray(struct.pack(">i", len(elements)) + elements.tobytes() + struct.pack(">ii", last, 0))
    stream = QDataStream(data)
    stream >> path
    return path
