"""A long drawing folded into columns, like a text that is set in several of them.

A chain of 5,000 operations is two thousand times as high as it is wide: seen as a whole it would be a hair. Its layers
are therefore cut into columns that stand side by side; edges go on from the foot of one column to the head of the next
in lanes between them. Drawings of some hundred layers stay in one piece, as they can be scrolled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Point = tuple[float, float]

LEAST_HEIGHT = 6_000.0
"""No column is cut lower than this: some eighty layers."""
LEAST_COLUMNS = 4
"""A drawing that would make fewer columns stays in one piece."""
_PLAY = 0.1
"""By which part of its height a column may be longer or shorter at an end."""
_ASPECT = 1.6
"""Width to height of the whole, about that of a screen."""


@dataclass(frozen=True, slots=True)
class Lane:
    """The way of an edge from the foot of a column to the head of the next: how low, how far right, how high."""

    low: float
    across: float
    high: float

    def way(self, start: float, end: float) -> tuple[Point, ...]:
        """The corners between leaving a column at x ``start`` and entering the next at ``end``."""
        return (start, self.low), (self.across, self.low), (self.across, self.high), (end, self.high)


@dataclass(frozen=True, slots=True)
class LayerColumns:
    """Where layers stand: upper and lower border of each, and by how much it is moved to the right.

    ``lanes`` holds the :class:`Lane` of the edges that leave a node (or bend) for a layer in the next column.
    """

    tops: list[float]
    bottoms: list[float]
    shifts: list[float]
    lanes: dict[int, Lane]


def arrange(
    heights: Sequence[float],
    gaps: Sequence[float],
    borders: Floats,
    edges: Ints,
    layer: Ints,
    xs: Floats,
    lane: float,
) -> LayerColumns:
    """Stack the layers, in columns where one would be far too high.

    Parameters
    ----------
    heights, gaps
        Of each layer, and what is to be left free below it.
    borders
        (layers, 2): left and right border of what stands in each layer.
    edges, layer, xs
        (e, 2) upper and lower node of edges between neighbouring layers; layer and x of each node.
    lane
        The distance of lanes, and twice that between the lanes and the columns beside them.
    """
    pitch = np.array(heights) + np.array(gaps)
    starts = np.cumsum(pitch) - pitch
    column = _column_of(starts, float(pitch.sum()), borders, np.bincount(layer[edges[:, 0]], minlength=len(starts)))
    first = np.flatnonzero(np.diff(column, prepend=-1))
    upper = _crossing(edges, layer, column)
    most = max((len(nodes) for nodes in upper.values()), default=0)
    head = (most + 2) * lane if most else 0.0
    tops = starts - np.repeat(starts[first], np.diff(first, append=len(column))) + head
    bottoms = tops + np.array(heights)
    shifts = np.zeros(len(column))
    lanes: dict[int, Lane] = {}
    x = 0.0
    for number, start in enumerate(first.tolist()):
        stop = int(first[number + 1]) if number + 1 < len(first) else len(column)
        left, right = float(borders[start:stop, 0].min()), float(borders[start:stop, 1].max())
        shifts[start:stop] = x - left if len(first) > 1 else 0.0
        x += right - left
        # The rightmost goes below and above the others, nearest to its column: so no two of them cross.
        leaving = sorted(upper.get(number, ()), key=lambda node: (-xs[node], node))
        foot = float(bottoms[stop - 1])
        for at, node in enumerate(leaving):
            low, high = foot + (at + 2) * lane, head - (len(leaving) - at + 1) * lane
            lanes[node] = Lane(low, x + (at + 2) * lane, high)
        x += (len(leaving) + 3) * lane
    return LayerColumns(tops.tolist(), bottoms.tolist(), shifts.tolist(), lanes)


def _column_of(starts: Floats, height: float, borders: Floats, passing: Ints) -> Ints:
    """(layers,): the column of each layer. All are of about one height, and cut where few edges pass: ``passing``
    (layers,) counts those below each layer.
    """
    width = float(borders[:, 1].max() - borders[:, 0].min())
    count = min(round(sqrt(_ASPECT * height / max(width, 1.0))), int(height // LEAST_HEIGHT))
    if count < LEAST_COLUMNS:
        return np.zeros(len(starts), dtype=np.int64)
    found = np.zeros(len(starts), dtype=np.int64)
    one = height / count
    for number in range(1, count):
        wanted = number * one
        near = np.flatnonzero(np.abs(starts[1:] - wanted) <= _PLAY * one) + 1
        if not len(near):  # a layer as high as a column
            near = np.array([min(int(np.searchsorted(starts, wanted)), len(starts) - 1)])
        found[near[np.lexsort((np.abs(starts[near] - wanted), passing[near - 1]))[0]] :] += 1
    return np.unique(found, return_inverse=True)[1].astype(np.int64)


def _crossing(edges: Ints, layer: Ints, column: Ints) -> dict[int, list[int]]:
    """By column the nodes with edges into the next one."""
    found: dict[int, list[int]] = {}
    if not len(column) or not column[-1]:
        return found
    crosses = column[layer[edges[:, 0]]] != column[layer[edges[:, 1]]]
    for node in np.unique(edges[crosses, 0]).tolist():
        found.setdefault(int(column[layer[node]]), []).append(node)
    return found
