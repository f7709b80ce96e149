"""Layers: every edge leads downwards, and no layer grows wider than a screen can use.

A compiler's graph has no cycles, but a broken file may: it is made acyclic first. Duplicates are merged, self-loops set
aside, some edges turned round; nothing is lost, what was done is named in the result, so that it can be drawn and told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isqrt
from types import ModuleType
from typing import Any, cast


class LayerPin(StrEnum):
    """Nodes that have to stand in the first or in the last layer: the ports of a body."""

    FIRST = "first"
    LAST = "last"


def width_limit(nodes: int) -> int:
    """How many nodes a layer may hold: 1.5 · √nodes, at least 12. A star of 5,000 nodes becomes 47 rows of 106, not
    one of 4,999.
    """
    return max(12, 3 * isqrt(nodes) // 2)


def assign_layers(
    nodes: int,
    edges: Sequence[tuple[int, int]],
    pins: Mapping[int, LayerPin] | None = None,
    limit: int | None = None,
) -> list[int]:
    """The layer of each node, 0 at the top, without gaps.

    The rule: the first layer below all predecessors that still has room (longest path, with a limit on the width).
    Then nodes with no more edges in than out sink to just above their first successor, so that an input, or a branch
    that hangs on parameters only, stands beside what reads it. Nodes without any edge follow in rows of their own
    below. Pinned nodes go to the first and last layer whatever the limit; their edges must allow it (nothing leads
    into a FIRST one, nothing out of a LAST one), an edge against a pin simply overrides the pin.

    Parameters
    ----------
    edges
        Without cycles and self-loops.
    limit
        Nodes a layer, :func:`width_limit` by default.
    """
    pins = {} if pins is None else pins
    limit = width_limit(nodes) if limit is None else max(1, limit)
    incoming: list[list[int]] = [[] for _ in range(nodes)]
    outgoing: list[list[int]] = [[] for _ in range(nodes)]
    for source, target in edges:
        incoming[target].append(source)
        outgoing[source].append(target)
    first = [node for node in range(nodes) if pins.get(node) is LayerPin.FIRST and not incoming[node]]
    last = [node for node in range(nodes) if pins.get(node) is LayerPin.LAST and not outgoing[node]]
    pinned = set(first) | set(last)
    order = topological_order(nodes, edges)
    layer = [0] * nodes
    room = _Room(limit)
    base = 1 if first else 0
    linked = [node for node in order if node not in pinned and (incoming[node] or outgoing[node])]
    for node in linked:
        lowest = max((layer[source] + 1 for source in incoming[node]), default=base)
        layer[node] = room.take(max(lowest, base))
    _sink(linked, incoming, outgoing, layer, room, set(last))
    bottom = max((layer[node] + 1 for node in linked), default=base)
    alone = [node for node in range(nodes) if node not in pinned and not incoming[node] and not outgoing[node]]
    across = min(limit, max(4, isqrt(len(alone))))
    for place, node in enumerate(alone):
        layer[node] = bottom + place // across
    if alone:
        bottom += (len(alone) - 1) // across + 1
    for node in last:
        layer[node] = bottom
    return _without_gaps(layer)


class _Room:
    """Counts nodes a layer, and finds the next layer with room in nearly constant time."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._count: dict[int, int] = {}
        self._next: dict[int, int] = {}

    def take(self, lowest: int) -> int:
        """The first layer from ``lowest`` on with room, one place in it taken."""
        skipped = []
        layer = lowest
        while self._count.get(layer, 0) >= self._limit:
            skipped.append(layer)
            layer = self._next.get(layer, layer + 1)
        for full in skipped:
            self._next[full] = layer
        self._count[layer] = self._count.get(layer, 0) + 1
        return layer

    def has(self, layer: int) -> bool:
        return self._count.get(layer, 0) < self._limit

    def move(self, old: int, new: int) -> None:
        # A layer that was full keeps its forward link: the limit is a bound, not a promise to fill every layer.
        self._count[old] -= 1
        self._count[new] = self._count.get(new, 0) + 1


def _sink(
    linked: Sequence[int],
    incoming: Sequence[Sequence[int]],
    outgoing: Sequence[Sequence[int]],
    layer: list[int],
    room: _Room,
    last: set[int],
) -> None:
    """Move nodes down to just above their first successor, where that makes edges no longer in sum."""
    for node in reversed(linked):
        below = [layer[target] for target in outgoing[node] if target not in last]
        if not below or len(incoming[node]) > len(outgoing[node]):
            continue
        for wanted in range(min(below) - 1, layer[node], -1):
            if room.has(wanted):
                room.move(layer[node], wanted)
                layer[node] = wanted
                break


def _without_gaps(layer: list[int]) -> list[int]:
    number = {old: new for new, old in enumerate(sorted(set(layer)))}
    return [number[old] for old in layer]


@dataclass(frozen=True, slots=True)
class Acyclic:
    """Edges of a graph without cycles, and what had to be done for it.

    ``edges``: distinct (source, target) pairs, in the order of their first appearance, the reversed ones already
    turned round. ``reversed``: indices into ``edges``. ``of``: for every edge given the index into ``edges`` it
    became, −1 for a self-loop.
    """

    edges: tuple[tuple[int, int], ...]
    reversed: frozenset[int]
    of: tuple[int, ...]


def back_edges(nodes: int, edges: Sequence[tuple[int, int]]) -> set[int]:
    """Indices of edges that close a cycle in a depth-first walk from node 0 on, targets in the order of the edges.

    Turning these round leaves no cycle: every other edge then leads from an earlier to a later node of the reversed
    finishing order. Without a cycle, that is where every strongly connected component is one node, the result is empty.
    """
    graph = digraph(range(nodes), edges)
    if all(len(part) == 1 for part in nx().strongly_connected_components(graph)) and not any(a == b for a, b in edges):
        return set()
    closing: set[tuple[int, int]] = set()
    path: set[int] = set()
    for source, target, label in nx().dfs_labeled_edges(graph):
        if label == "forward":
            path.add(target)
        elif label == "reverse":
            path.discard(target)
        elif target in path:
            closing.add((source, target))
    return {index for index, edge in enumerate(edges) if edge in closing}


def nx() -> ModuleType:
    """The networkx package, imported when a layout first needs it: the command line and the window's start do not."""
    import networkx

    return cast(ModuleType, networkx)


def digraph(nodes: Iterable[int], edges: Iterable[tuple[int, int]]) -> Any:
    """Nodes and edges in the order given, so that every walk through them is the same each time."""
    graph = nx().DiGraph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(edges)
    return graph


def make_acyclic(nodes: int, edges: Sequence[tuple[int, int]]) -> Acyclic:
    """Merge duplicates, drop self-loops, reverse the edges that close cycles.

    An edge whose reverse is also given (a cycle of two) is turned round and then merged with it.
    """
    distinct: dict[tuple[int, int], int] = {}
    for edge in edges:
        if edge[0] != edge[1]:
            distinct.setdefault(edge, len(distinct))
    pairs = list(distinct)
    turned = back_edges(nodes, pairs)
    kept: dict[tuple[int, int], int] = {}
    place: list[int] = []
    reversed_edges: set[int] = set()
    for index, (source, target) in enumerate(pairs):
        pair = (target, source) if index in turned else (source, target)
        at = kept.setdefault(pair, len(kept))
        if index in turned and pair not in distinct:
            reversed_edges.add(at)
        place.append(at)
    of = tuple(place[distinct[edge]] if edge[0] != edge[1] else -1 for edge in edges)
    return Acyclic(tuple(kept), frozenset(reversed_edges), of)


def topological_order(nodes: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """Nodes of an acyclic graph by topological generation, those of one generation by number.

    Raises
    ------
    ValueError
        Where the edges have a cycle.
    """
    try:
        return [node for part in nx().topological_generations(digraph(range(nodes), edges)) for node in sorted(part)]
    except nx().NetworkXUnfeasible:
        raise ValueError("the edges have a cycle") from None
