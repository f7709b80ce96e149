"""Edges cut at every layer they pass: the graph on which order and coordinates are decided.

Edges of one group (the same value of the same source) share their way down as far as they go together: a value that
a hundred operations read is one line with a hundred ends, and costs as many bends as its longest edge, not their sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

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
