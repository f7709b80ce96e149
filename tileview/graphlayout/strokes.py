"""The lines that the edges of a picture consist of, each once, and the part of them that lies in view.

Edges of one value share their way down: drawn edge by edge, a value that 5,000 operations read would be drawn as
240,000 lines, most of them over one another. Here every line is there once, and lines that lie end to end are one.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from tileview.graphlayout.region import Way

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_UPRIGHT = 0.5
"""Sideways, a line that moves less than this counts as upright."""


class Stroke(IntEnum):
    """What a line belongs to: a usual edge, one that runs against the others (back, to itself, or both ways), or one
    that was too long to be led round boxes.
    """

    PLAIN = 0
    BACK = 1
    STRAIGHT = 2


@dataclass(frozen=True, slots=True)
class Strokes:
    """Lines (k, 4) from the upper end (x, y) to the lower end, what they belong to (k,): :class:`Stroke`, and which
    (k,) are drawn as an S, upright at both ends.
    """

    lines: Floats
    kinds: npt.NDArray[np.int8]
    curved: Bools

    def __len__(self) -> int:
        return len(self.lines)

    def within(self, area: tuple[float, float, float, float]) -> Strokes:
        """Those that may be seen in an area (left, top, right, bottom)."""
        return self.take(touching(self.lines, area))

    def take(self, chosen: Bools) -> Strokes:
        return Strokes(self.lines[chosen], self.kinds[chosen], self.curved[chosen])

    def of(self, kind: Stroke) -> Strokes:
        return self.take(self.kinds == kind)


def touching(lines: Floats, area: tuple[float, float, float, float]) -> Bools:
    """(k,): lines (k, 4), upper ends first, whose bounds touch an area (left, top, right, bottom)."""
    left, top, right, bottom = area
    x0, y0, x1, y1 = lines.T
    is_beside = (np.minimum(x0, x1) >= right) | (np.maximum(x0, x1) <= left)
    found: Bools = (y0 < bottom) & (y1 > top) & ~is_beside
    return found


def snapped_to_grid(lines: Floats, step: float) -> Floats:
    """(m, 4): lines with their ends on a grid of ``step``, each once, without those that become points.

    On a grid of pixels thousands of lines of a picture that is seen from afar are one.
    """
    cells = np.rint(lines / step)
    cells = cells[_first_of_equal(cells)]
    moves = (cells[:, 0] != cells[:, 2]) | (cells[:, 1] != cells[:, 3])
    found: Floats = cells[moves] * step
    return found


def stubs(lines: Floats, length: float) -> Floats:
    """(m, 4): both ends of lines (k, 4), so long; the whole line where the ends would meet."""
    along = lines[:, 2:] - lines[:, :2]
    whole = np.hypot(along[:, 0], along[:, 1])
    is_long = whole > 2 * length
    lines, rest, along = lines[is_long], lines[~is_long], along[is_long] * (length / whole[is_long])[:, None]
    begin = np.concatenate([lines[:, :2], lines[:, :2] + along], axis=1)
    end = np.concatenate([lines[:, 2:] - along, lines[:, 2:]], axis=1)
    return np.concatenate([rest, begin, end])


def make_strokes(points: Floats, offsets: Ints, ways: Ints) -> Strokes:
    """The lines of edges.

    Parameters
    ----------
    points, offsets, ways
        Of a :class:`tileview.graphlayout.nested.GraphPicture`: the points of edge e are
        ``points[offsets[e]:offsets[e + 1]]``.
    """
    counts = np.diff(offsets)
    edge = np.repeat(np.arange(len(counts)), counts)
    starts = np.flatnonzero(edge[1:] == edge[:-1]) if len(edge) else np.zeros(0, dtype=np.int64)
    lines = np.concatenate([points[starts], points[starts + 1]], axis=1)
    way = ways[edge[starts]]
    kinds = np.where(way & (Way.UPWARDS | Way.LOOP | Way.BOTH) != 0, int(Stroke.BACK), int(Stroke.PLAIN))
    kinds[way & Way.STRAIGHT != 0] = int(Stroke.STRAIGHT)
    turned = (lines[:, 1] > lines[:, 3]) | ((lines[:, 1] == lines[:, 3]) & (lines[:, 0] > lines[:, 2]))
    lines[turned] = lines[turned][:, [2, 3, 0, 1]]
    once = _first_of_equal(np.concatenate([lines, kinds[:, None]], axis=1))
    lines, kinds, way = lines[once], kinds[once], way[once]
    curved = (np.abs(lines[:, 0] - lines[:, 2]) >= _UPRIGHT) & (way & (Way.STRAIGHT | Way.LOOP) == 0)
    upright = (lines[:, 0] == lines[:, 2]) & (lines[:, 1] < lines[:, 3])
    joined, joined_kinds = _end_to_end(lines[upright], kinds[upright])
    return Strokes(
        np.concatenate([lines[~upright], joined]),
        np.concatenate([kinds[~upright], joined_kinds]).astype(np.int8),
        np.concatenate([curved[~upright], np.zeros(len(joined), dtype=np.bool_)]),
    )


def _first_of_equal(rows: Floats) -> Ints:
    """Indices of one row of each set of equal ones, in an order that depends on the rows only."""
    mixed = np.zeros(len(rows), dtype=np.uint64)
    for column in rows.T:
        # Equal rows have equal sums; unequal ones with equal sums are told apart below, or stay twice.
        mixed = (mixed ^ (column + 0.0).view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    order = np.argsort(mixed, kind="stable")
    ordered = rows[order]
    is_first = np.ones(len(rows), dtype=np.bool_)
    is_first[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return np.sort(order[is_first])


def _end_to_end(lines: Floats, kinds: Ints) -> tuple[Floats, Ints]:
    """Upright lines at one x and of one kind, joined where they meet or overlap."""
    if not len(lines):
        return lines, kinds
    order = np.lexsort((lines[:, 1], lines[:, 0], kinds))
    lines, kinds = lines[order], kinds[order]
    is_other = np.ones(len(lines), dtype=np.bool_)
    is_other[1:] = (lines[1:, 0] != lines[:-1, 0]) | (kinds[1:] != kinds[:-1])
    # One running maximum over all columns: each column stands below all of the one before.
    height = lines[:, 3].max() - lines[:, 1].min() + 1.0
    shift = np.cumsum(is_other) * height
    lowest = np.maximum.accumulate(lines[:, 3] + shift)
    begins = is_other.copy()
    begins[1:] |= lines[1:, 1] + shift[1:] > lowest[:-1] + 1e-3
    first = np.flatnonzero(begins)
    bottom = np.maximum.reduceat(lines[:, 3], first)
    joined = np.stack([lines[first, 0], lines[first, 1], lines[first, 0], bottom], axis=1)
    return joined, kinds[first]


def clip(lines: Floats, area: tuple[float, float, float, float], period: float = 0.0) -> Floats:
    """The parts of lines (k, 4) that lie in an area (left, top, right, bottom); lines outside it are left out.

    With a ``period`` a line is cut at whole multiples of it from its start, so that the dashes of a dashed line stay
    where they are while the area moves.
    """
    left, top, right, bottom = area
    start, along = lines[:, :2], lines[:, 2:] - lines[:, :2]
    enters, leaves = np.zeros(len(lines)), np.ones(len(lines))
    for axis, low, high in ((0, left, right), (1, top, bottom)):
        with np.errstate(divide="ignore", invalid="ignore"):
            one, other = (low - start[:, axis]) / along[:, axis], (high - start[:, axis]) / along[:, axis]
        is_still = along[:, axis] == 0
        is_out = is_still & ((start[:, axis] < low) | (start[:, axis] > high))
        enters = np.maximum(enters, np.where(is_still, np.where(is_out, 2.0, 0.0), np.minimum(one, other)))
        leaves = np.minimum(leaves, np.where(is_still, 1.0, np.maximum(one, other)))
    seen = enters < leaves
    start, along, enters, leaves = start[seen], along[seen], enters[seen], leaves[seen]
    if period:
        part = period / np.maximum(np.hypot(along[:, 0], along[:, 1]), 1e-9)
        enters = np.floor(enters / part) * part
    return np.concatenate([start + along * enters[:, None], start + along * leaves[:, None]], axis=1)


def bent(lines: Floats, steps: int) -> Floats:
    """(k, steps + 1, 2): points along each S from the start to the end of a line (k, 4), upright at both ends.

    The S is the cubic whose control points lie half way down, above one another with the ends.
    """
    t = np.linspace(0.0, 1.0, steps + 1)
    across = t * t * (3 - 2 * t)
    down = 1.5 * t * (1 - t) + t**3
    x = lines[:, 0, None] + (lines[:, 2] - lines[:, 0])[:, None] * across
    y = lines[:, 1, None] + (lines[:, 3] - lines[:, 1])[:, None] * down
    return np.stack([x, y], axis=2)
