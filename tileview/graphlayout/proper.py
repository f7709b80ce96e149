"""Edges cut at every layer they pass: the graph on which order and coordinates are decided.
 Edges of one group (the same value of the same source) share their way down as far as they go together: a value that
a hundred operations read is one line with a hundred ends, and costs as many bends as its longest edge, not their sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

BEND_BUDGET = 24_000
"""Bends over all edges. Beyond it the longest groups are drawn as straight lines: 5,000 nodes have to be laid out
within 3 seconds.
"""


@dataclass(frozen=True, slots=True)
class Proper:
    """A layered graph in which every edge joins neighbouring layers.

    Nodes 0 … ``nodes`` − 1 are the given ones, the rest are bends. ``down[v]`` and ``up[v]`` are the neighbours in
    the layer below and above. ``ways[e]`` lists the bends of edge e from top to bottom, None where the edge is drawn
    straight (over the budget).
    """

    nodes: int
    layer: list[int]
    layers: list[list[int]]
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
    down: list[list[int]] = [[] for _ in layer]
    up: list[list[int]] = [[] for _ in layer]
    ways: list[tuple[int, ...] | None] = [None] * len(edges)

    def length(bundle: list[int]) -> int:
        return max(full_layer[edges[index][1]] for index in bundle) - full_layer[edges[bundle[0]][0]] - 1

    def join(above: int, below: int) -> None:
        down[above].append(below)
        up[below].append(above)

    by_length = sorted(bundles.values(), key=lambda bundle: (length(bundle), bundle[0]))
    for bundle in by_length:
        bends = length(bundle)
        if bends > budget:
            break
        budget -= bends
        source = edges[bundle[0]][0]
        chain = [source]
        for step in range(bends):
            bend = len(full_layer)
            full_layer.append(full_layer[source] + step + 1)
            down.append([])
            up.append([])
            join(chain[-1], bend)
            chain.append(bend)
        for index in bundle:
            target = edges[index][1]
            passed = full_layer[target] - full_layer[source] - 1
            join(chain[passed], target)
            ways[index] = tuple(chain[1 : passed + 1])
    layers: list[list[int]] = [[] for _ in range(max(full_layer, default=-1) + 1)]
    for node, at in enumerate(full_layer):
        layers[at].append(node)
    return Proper(len(layer), full_layer, layers, down, up, ways)
