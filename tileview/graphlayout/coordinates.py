"""Coordinates: x from four extreme alignments of the layers; long drawings folded into columns.

The method is that of Brandes and Köpf: nodes are lined up with the median of their neighbours into vertical blocks,
long edges first; the blocks are packed to the left; this is done for both vertical and both horizontal directions,
and each node takes the mean of the two middle results. As all four keep the order and the distances within layers, so
does the mean.

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

from tileview.graphlayout.order import Proper
from tileview.graphlayout.structure import ProgressPart, Silent, Token, check

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_WIDE = 2.5
"""A drawing wider than this many times its widest layer is tried again with shorter blocks."""
_LARGE = 10_000
"""Nodes and bends above which short blocks are taken at once."""
_LARGE_BLOCK = 6
"""Layers that a block spans at most in a large drawing. Long blocks push one another aside over hundreds of layers,
until everything lies scattered over a drawing that is fifty times as wide as its layers.
"""


def assign_x(
    proper: Proper,
    layers: Sequence[Sequence[int]],
    widths: Sequence[float],
    gap: float,
    bend_gap: float,
    token: Token | None = None,
) -> list[float]:
    """The centre of every node and bend, the leftmost border at 0.

    Blocks are as long as they can be, so that long edges are straight; where that makes the drawing much wider than
    its layers, they are cut.

    Parameters
    ----------
    layers
        The order of each layer, from :func:`tileview.graphlayout.order.reduce_crossings`; none is empty.
    widths
        Width of every node and bend (bends may have 0).
    gap, bend_gap
        Least distance between the borders of two nodes, and where a bend is one of them.
    """
    token = Silent() if token is None else token
    if not proper.size:
        return []
    if all(len(layer) == 1 for layer in layers):
        # A body of a Repeat often is such a chain, and there may be thousands of them.
        return [max(widths) / 2] * proper.size
    rows = _arrange(proper, layers, np.array(widths, dtype=np.float64), gap, bend_gap)
    attempts = (_LARGE_BLOCK,) if proper.size > _LARGE else (proper.size, 2 * _LARGE_BLOCK, _LARGE_BLOCK)
    half = rows.widths / 2
    xs: Floats = half
    for number, limit in enumerate(attempts):
        part = ProgressPart(token, number / len(attempts), (number + 1) / len(attempts))
        xs = _middle(rows, limit, part)
        xs = xs - (xs - half).min()
        if (xs + half).max() <= _WIDE * rows.natural_width:
            break
    found: list[float] = xs.tolist()
    return found


@dataclass(frozen=True, slots=True)
class _Rows:
    """What does not depend on the direction in which a drawing is packed.

    ``layers`` in their order; ``place`` (n,): a node's place in its layer; ``mirrored`` (n,): counted from the right.
    ``left`` and ``right`` (k,): neighbours within a layer, their centres at least ``apart`` (k,) from one another.
    ``above`` and ``below`` (n, 2): the two median neighbours of each node in the layer above and below, the left one
    first; −1 where there is none, where both are the same (the second), or where the edge gives way.
    """

    layers: Sequence[Sequence[int]]
    place: Ints
    mirrored: Ints
    widths: Floats
    left: Ints
    right: Ints
    apart: Floats
    above: Ints
    below: Ints
    natural_width: float
    """The width of the widest layer, packed."""


def _arrange(proper: Proper, layers: Sequence[Sequence[int]], widths: Floats, gap: float, bend_gap: float) -> _Rows:
    flat = np.array([node for layer in layers for node in layer], dtype=np.int64)
    lengths = np.array([len(layer) for layer in layers], dtype=np.int64)
    place, mirrored = np.zeros(proper.size, dtype=np.int64), np.zeros(proper.size, dtype=np.int64)
    place[flat] = np.arange(len(flat)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    mirrored[flat] = np.repeat(lengths, lengths) - 1 - place[flat]
    has_left = place[flat[1:]] > 0
    left, right = flat[:-1][has_left], flat[1:][has_left]
    gaps = np.where((left < proper.nodes) & (right < proper.nodes), gap, bend_gap)
    layer = np.array(proper.layer, dtype=np.int64)
    packed = np.bincount(layer, widths, len(layers)) + np.bincount(layer[right], gaps, len(layers))
    upper, lower = proper.edges[:, 0], proper.edges[:, 1]
    free = ~_give_way(proper, flat, place, mirrored)
    return _Rows(
        layers,
        place,
        mirrored,
        widths,
        left,
        right,
        (widths[left] + widths[right]) / 2 + gaps,
        _medians(lower, upper, place, free),
        _medians(upper, lower, place, free),
        float(packed.max()),
    )


def _give_way(proper: Proper, flat: Ints, place: Ints, mirrored: Ints) -> Bools:
    """(e,): edges that cross a stretch between two bends. The stretch stays straight, they give way.

    ``flat`` holds all nodes, layer by layer in their order. Within a layer each node lies between two stretches (or
    a stretch and the border): its edges may only lead to what lies between the upper ends of these two.
    """
    upper, lower = proper.edges[:, 0], proper.edges[:, 1]
    is_stretch = (upper >= proper.nodes) & (lower >= proper.nodes)
    end = np.full(proper.size, -1, dtype=np.int64)
    end[lower[is_stretch]] = place[upper[is_stretch]]
    ends, at = end[flat], np.arange(len(flat))
    first, last = at - place[flat], at + mirrored[flat]
    before = np.maximum.accumulate(np.where(ends >= 0, at, -1))
    before = np.concatenate([[-1], before[:-1]])
    after = np.minimum.accumulate(np.where(ends >= 0, at, len(flat))[::-1])[::-1]
    low, high = np.zeros(proper.size, dtype=np.int64), np.zeros(proper.size, dtype=np.int64)
    low[flat] = np.where(before >= first, ends[before], 0)
    high[flat] = np.where(after <= last, ends[np.minimum(after, len(flat) - 1)], len(flat))
    return ~is_stretch & ((place[upper] < low[lower]) | (place[upper] > high[lower]))


def _medians(of: Ints, near: Ints, place: Ints, free: Bools) -> Ints:
    """(n, 2): for each node of ``of`` (e,) the medians of its neighbours ``near`` (e,) by their place; see
    :class:`_Rows`.
    """
    found = np.full((len(place), 2), -1, dtype=np.int64)
    order = np.lexsort((place[near], of))
    count = np.bincount(of, minlength=len(place))
    start = np.cumsum(count) - count
    nodes = np.flatnonzero(count)
    first = order[start[nodes] + (count[nodes] - 1) // 2]
    second = order[start[nodes] + count[nodes] // 2]
    found[nodes, 0] = np.where(free[first], near[first], -1)
    found[nodes, 1] = np.where(free[second] & (second != first), near[second], -1)
    return found


def _middle(rows: _Rows, limit: int, token: Token) -> Floats:
    """The mean of the two middle of the four alignments, with blocks of at most ``limit`` nodes."""
    results: list[Floats] = []
    for upwards in (False, True):
        for rightwards in (False, True):
            check(token)
            token.progress(len(results) / 4)
            root = np.array(_align(rows, upwards, rightwards, limit), dtype=np.int64)
            if rightwards:
                results.append(-_compact(root[rows.right], root[rows.left], rows.apart, root))
            else:
                results.append(_compact(root[rows.left], root[rows.right], rows.apart, root))
    return _balance(np.array(results), rows.widths / 2)


def _align(rows: _Rows, upwards: bool, rightwards: bool, limit: int) -> list[int]:
    """Blocks of nodes that share an x: the root of each node.

    A node joins the block of a median neighbour in the layer before, unless a block of its own layer has gone past
    it; no block holds more than ``limit`` nodes.
    """
    medians = rows.below if upwards else rows.above
    first, second = (medians[:, side].tolist() for side in ((1, 0) if rightwards else (0, 1)))
    place = (rows.mirrored if rightwards else rows.place).tolist()
    root = list(range(len(place)))
    length = [1] * len(place)
    for layer in reversed(rows.layers) if upwards else rows.layers:
        furthest = -1
        for node in reversed(layer) if rightwards else layer:
            near = first[node]
            if near < 0 or place[near] <= furthest or length[root[near]] >= limit:
                near = second[node]
                if near < 0 or place[near] <= furthest or length[root[near]] >= limit:
                    continue
            head = root[node] = root[near]
            length[head] += 1
            furthest = place[near]
    return root


def _compact(left: Ints, right: Ints, apart: Floats, root: Ints) -> Floats:
    """Pack the blocks: as far left as their left neighbours allow, then back right as far as the right ones leave
    room.

    Parameters
    ----------
    left, right, apart
        (k,): blocks (by their roots) that stand side by side, and how far apart at least.
    root
        (n,): the root of each node.
    """
    size = len(root)
    # Of a pair of blocks that meet in several layers the largest distance counts.
    order = np.lexsort((-apart, left * size + right))
    pair = (left * size + right)[order]
    order = order[np.concatenate([[True], pair[1:] != pair[:-1]])] if len(order) else order
    starts = np.searchsorted(left[order], np.arange(size + 1)).tolist()
    waiting = np.bincount(right[order], minlength=size).tolist()
    others, distances = right[order].tolist(), apart[order].tolist()
    blocks = [block for block in np.flatnonzero(root == np.arange(size)).tolist() if not waiting[block]]
    at = [0.0] * size
    for block in blocks:
        x = at[block]
        for edge in range(starts[block], starts[block + 1]):
            other = others[edge]
            least = x + distances[edge]
            if least > at[other]:
                at[other] = least
            waiting[other] -= 1
            if not waiting[other]:
                blocks.append(other)
    for block in reversed(blocks):
        start, stop = starts[block], starts[block + 1]
        if start < stop:
            most = min([at[others[edge]] - distances[edge] for edge in range(start, stop)])
            if most > at[block]:
                at[block] = most
    return np.array(at)[root]


def _balance(results: Floats, half: Floats) -> Floats:
    """The mean of the two middle of four results (4, n), after moving them to one border of the narrowest."""
    low, high = (results - half).min(axis=1), (results + half).max(axis=1)
    narrowest = int((high - low).argmin())
    # Even results are packed to the left, odd ones to the right.
    shifts = np.where(np.arange(len(results)) % 2, high[narrowest] - high, low[narrowest] - low)
    middle = np.sort(results + shifts[:, None], axis=0)[1:3]
    found: Floats = (middle[0] + middle[1]) / 2
    return found


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
