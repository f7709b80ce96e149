"""The order of nodes and bends within each layer: edges cut at every layer they pass, then few crossings.

Edges of one group (the same value of the same source) share their way down as far as they go together: a value that
a hundred operations read is one line with a hundred ends, and costs as many bends as its longest edge, not their sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
import numpy.typing as npt

from tileview.graphlayout.layers import digraph, nx
from tileview.graphlayout.structure import Silent, Token, check

Ints = npt.NDArray[np.int64]

BEND_BUDGET = 24_000
"""Bends over all edges. Beyond it the longest groups are led straight, and drawn at their ends: 5,000 nodes have to be
laid out within 3 seconds.
"""


@dataclass(frozen=True, slots=True)
class Proper:
    """A layered graph in which every edge joins neighbouring layers.

    Nodes 0 … ``nodes`` − 1 are the given ones, the rest are bends. ``edges`` (e, 2): upper and lower node of every
    edge between neighbouring layers. ``down[v]`` and ``up[v]`` are the neighbours in the layer below and above.
    ``ways[e]`` lists the bends of the given edge e from top to bottom, None where it is drawn straight (over the
    budget).
    """

    nodes: int
    layer: list[int]
    layers: list[list[int]]
    edges: Ints
    down: list[list[int]]
    up: list[list[int]]
    ways: list[tuple[int, ...] | None]

    @property
    def size(self) -> int:
        return len(self.layer)

    @property
    def straight(self) -> int:
        """How many edges are drawn straight."""
        return sum(1 for way in self.ways if way is None)


def make_proper(
    layer: Sequence[int],
    edges: Sequence[tuple[int, int]],
    groups: Sequence[int] | None = None,
    budget: int = BEND_BUDGET,
) -> Proper:
    """Put a bend into every layer an edge passes.

    Parameters
    ----------
    layer
        Layer of each node, from :func:`tileview.graphlayout.layers.assign_layers`.
    edges
        Distinct pairs, each leading to a lower layer.
    groups
        A number an edge; edges of one source with equal numbers share bends. By default every edge is on its own.
    budget
        Bends at most; groups are served by rising length, then in the order of their first edge.
    """
    groups = range(len(edges)) if groups is None else groups
    bundles: dict[tuple[int, int], list[int]] = {}
    for index, (source, _) in enumerate(edges):
        bundles.setdefault((source, groups[index]), []).append(index)
    full_layer = list(layer)
    ways: list[tuple[int, ...] | None] = [None] * len(edges)
    upper: list[int] = []
    lower: list[int] = []

    def length(bundle: list[int]) -> int:
        return max([layer[edges[index][1]] for index in bundle]) - layer[edges[bundle[0]][0]] - 1

    for bends, _, bundle in sorted((length(bundle), bundle[0], bundle) for bundle in bundles.values()):
        if bends > budget:
            break
        budget -= bends
        source = edges[bundle[0]][0]
        below = layer[source] + 1
        chain = range(len(full_layer), len(full_layer) + bends)
        full_layer.extend(range(below, below + bends))
        if bends:
            upper.append(source)
            upper.extend(chain[:-1])
            lower.extend(chain)
        for index in bundle:
            target = edges[index][1]
            passed = layer[target] - below
            upper.append(chain[passed - 1] if passed else source)
            lower.append(target)
            ways[index] = tuple(chain[:passed])
    pairs = np.array([upper, lower], dtype=np.int64).T.reshape(-1, 2)
    size = len(full_layer)
    return Proper(
        len(layer),
        full_layer,
        _by_key(np.array(full_layer, dtype=np.int64), np.arange(size), max(full_layer, default=-1) + 1),
        pairs,
        _by_key(pairs[:, 0], pairs[:, 1], size),
        _by_key(pairs[:, 1], pairs[:, 0], size),
        ways,
    )


def _by_key(keys: Ints, values: Ints, count: int) -> list[list[int]]:
    """The values of each key 0 … ``count`` − 1, in the order in which they are given."""
    order = np.argsort(keys, kind="stable")
    stops = np.cumsum(np.bincount(keys, minlength=count)).tolist()
    ordered = values[order].tolist()
    return [ordered[start:stop] for start, stop in pairwise([0, *stops])]


_LARGE = 10_000
"""Above this many nodes and bends there are eight sweeps only, and the first two are not counted."""
_SMALL = 1500
"""Up to this many nodes and bends neighbours are also exchanged one by one, which is slow and better."""


def crossings(proper: Proper, layers: Sequence[Sequence[int]]) -> int:
    """Crossings of a whole drawing; ``layers`` in their order from left to right."""
    flat = np.fromiter(chain.from_iterable(layers), np.int64, proper.size)
    place = np.empty(proper.size, dtype=np.int64)
    place[flat] = np.arange(proper.size)
    # Places run through all layers, so that edges of different layers never count as crossing.
    upper, lower = place[proper.edges[:, 0]], place[proper.edges[:, 1]]
    ends = lower[np.argsort(upper * proper.size + lower)]
    rank = np.empty(len(ends), dtype=np.int64)
    rank[np.argsort(ends, kind="stable")] = np.arange(len(ends))
    return inversions(rank)


def inversions(numbers: Ints) -> int:
    """How many pairs of a permutation of 0 … n − 1 stand in falling order.

    A radix sort from the highest bit: within a group of equal higher bits every one that stands before a zero is such
    a pair. All groups are counted at once, in steps of numpy, where an ordered list would be searched for each number.
    """
    total = 0
    kind = np.uint16 if len(numbers) <= 1 << 16 else np.int64
    at = np.arange(len(numbers))
    for bit in reversed(range((len(numbers) - 1).bit_length() if len(numbers) else 0)):
        ones = (numbers >> bit) & 1
        before = np.cumsum(ones) - ones
        group = numbers >> (bit + 1)
        start = np.maximum.accumulate(np.where(np.diff(group, prepend=-1) != 0, at, 0))
        total += int((before - before[start])[ones == 0].sum())
        numbers = numbers[np.argsort((numbers >> bit).astype(kind), kind="stable")]
    return total


def reduce_crossings(proper: Proper, token: Token | None = None) -> list[list[int]]:
    """An order of each layer with few crossings; equal input gives equal output.

    Barycentre sweeps downwards and upwards, the best order seen is kept: 24 sweeps for small graphs, fewer for large
    ones (by size, never by clock, so that a slow machine draws the same picture). Small graphs then exchange
    neighbours as long as that removes crossings.
    """
    token = Silent() if token is None else token
    if all(len(layer) == 1 for layer in proper.layers):
        return proper.layers
    layers = _first_order(proper)
    best = [list(layer) for layer in layers]
    least = crossings(proper, layers)
    is_large = proper.size > _LARGE
    sweeps = 8 if is_large else 24 if proper.size <= 2_000 else 10
    without_gain = 0
    for sweep in range(sweeps):
        check(token)
        token.progress(sweep / sweeps)
        if least == 0 or without_gain >= 4:
            break
        _sweep(proper, layers, downwards=sweep % 2 == 0)
        if is_large and sweep < 2:
            # Counting costs nearly as much as sweeping, and the first sweeps hardly ever hold the best order.
            continue
        count = crossings(proper, layers)
        if count < least:
            best = [list(layer) for layer in layers]
            least = count
            without_gain = 0
        else:
            without_gain += 1
    if least and proper.size <= _SMALL:
        _exchange(proper, best, token)
    token.progress(1.0)
    return best


def _positions(layers: Sequence[Sequence[int]], size: int) -> list[int]:
    position = [0] * size
    for layer in layers:
        for place, node in enumerate(layer):
            position[node] = place
    return position


def _first_order(proper: Proper) -> list[list[int]]:
    """Layers in the order of a depth-first walk from the top, so that connected parts start side by side."""
    layers: list[list[int]] = [[] for _ in proper.layers]
    starts = chain.from_iterable(proper.layers)
    below = (_bends_inside(others, proper.nodes) if len(others) > 2 else others for others in proper.down)
    graph = digraph(starts, ((node, other) for node, others in enumerate(below) for other in others))
    for node in nx().dfs_preorder_nodes(graph):
        layers[proper.layer[node]].append(node)
    return layers


def _bends_inside(below: list[int], nodes: int) -> list[int]:
    """What hangs from a node with the bends in the middle: a value that a hundred operations read goes down between
    them. At a side it would lead each layer past the one before, down a staircase.
    """
    bends = [other for other in below if other >= nodes]
    boxes = [other for other in below if other < nodes]
    half = len(boxes) // 2
    return [*boxes[:half], *bends, *boxes[half:]]


def _sweep(proper: Proper, layers: list[list[int]], downwards: bool) -> None:
    """Sort each layer by the mean position of its neighbours in the layer before; a node without any goes with the
    one to its left.
    """
    position = _positions(layers, proper.size)
    neighbours = proper.up if downwards else proper.down
    for layer in layers if downwards else reversed(layers):
        if len(layer) == 1:
            continue
        mean = -1.0
        means = []
        for place, node in enumerate(layer):
            near = neighbours[node]
            if len(near) == 1:
                mean = position[near[0]]
            elif near:
                mean = sum([position[other] for other in near]) / len(near)
            means.append((mean, place, node))
        means.sort()
        layer[:] = [node for _, _, node in means]
        for place, node in enumerate(layer):
            position[node] = place


def _exchange(proper: Proper, layers: list[list[int]], token: Token) -> None:
    position = _positions(layers, proper.size)
    for _ in range(8):
        check(token)
        improved = False
        for layer in layers:
            for place in range(len(layer) - 1):
                left, right = layer[place], layer[place + 1]
                now = _pair(proper, left, right, position)
                if now and _pair(proper, right, left, position) < now:
                    layer[place], layer[place + 1] = right, left
                    position[left], position[right] = place + 1, place
                    improved = True
        if not improved:
            return


def _pair(proper: Proper, left: int, right: int, position: Sequence[int]) -> int:
    """Crossings between the edges of two neighbours, ``left`` standing left of ``right``."""
    total = 0
    for sides in (proper.up, proper.down):
        others = sorted(position[other] for other in sides[right])
        for other in sides[left]:
            # Ends of the right node that lie strictly left of an end of the left node cross it.
            total += _below(others, position[other])
    return total


def _below(ordered: Sequence[int], limit: int) -> int:
    count = 0
    for value in ordered:
        if value >= limit:
            break
        count += 1
    return count
