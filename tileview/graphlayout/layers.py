"""Layers: every edge leads downwards, and no layer grows wider than a screen can use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from math import isqrt

from tileview.graphlayout.cycles import topological_order


class Pin(StrEnum):
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
    pins: Mapping[int, Pin] | None = None,
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
    first = [node for node in range(nodes) if pins.get(node) is Pin.FIRST and not incoming[node]]
    last = [node for node in range(nodes) if pins.get(node) is Pin.LAST and not outgoing[node]]
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
