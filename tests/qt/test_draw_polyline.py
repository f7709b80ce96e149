"""Paths made from arrays."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QPainterPath

from tileview.qt.views.graph.scene import polylines


def polyline(x, y):
    """One line through all points."""
    return polylines(np.stack([x, y], axis=1)[None])


def test_a_path_goes_through_its_points(qapp):
    x, y = np.array([0.0, 10.5, 10.5, -3.0]), np.array([1.0, 1.0, 7.25, 1e6])
    made = polyline(x, y)
    expected = QPainterPath()
    expected.moveTo(0, 1)
    for a, b in ((10.5, 1), (10.5, 7.25), (-3, 1e6)):
        expected.lineTo(a, b)
    assert made == expected
    assert made.fillRule() == Qt.FillRule.OddEvenFill


def test_no_point_and_one_point(qapp):
    nothing = np.zeros(0)
    assert polyline(nothing, nothing).isEmpty()
    assert polyline(np.array([3.0]), np.array([4.0])).currentPosition().toTuple() == (3.0, 4.0)


def test_a_closed_path_encloses_its_inside(qapp):
    box = polyline(np.array([0.0, 10.0, 10.0, 0.0]), np.array([0.0, 0.0, 10.0, 10.0]))
    box.closeSubpath()
    assert box.contains(box.boundingRect().center())
    assert box.boundingRect().width() == 10


def test_many_points(qapp):
    x = np.arange(100_000, dtype=float)
    path = polyline(x, np.sin(x))
    assert path.elementCount() == 100_000
    last = path.elementAt(99_999)
    assert (last.x, last.y) == (99_999.0, float(np.sin(99_999.0)))
