"""Who makes what an operation reads, who reads what it makes, and who is how many steps away."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tileview.graphlayout.structure import NodeKind, Structure


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Per node the operations it reads from, in the order of its operands, and those that read from it.

    A body's ports are looked through: what reads a carried value has the Repeat's producer and the operation that
    yields the next iteration's value as its producers. The results of a Repeat come from the Repeat. Ports have no
    entries of their own.
    """

    producers: tuple[tuple[int, ...], ...]
    consumers: tuple[tuple[int, ...], ...]

    def within(self, starts: Iterable[int], hops: int) -> frozenset[int]:
        """All nodes at most ``hops`` edges away from one of ``starts``, in either direction."""
        reached = dict.fromkeys(starts)
        frontier = list(reached)
        for _ in range(hops):
            frontier = [
                other
                for node in frontier
                for other in (*self.producers[node], *self.consumers[node])
                if other not in reached and reached.setdefault(other) is None
            ]
        return frozenset(reached)


def find_neighbours(structure: Structure) -> Neighbours:
    """The neighbours of every node; linear in nodes and uses of values (times the nesting where ports are looked
    through).
    """
    into: dict[tuple[int, int], list[int]] = {}
    for edge in structure.edges:
        into.setdefault((edge.target, edge.slot), []).append(edge.source)
    producers: list[dict[int, None]] = [{} for _ in structure.nodes]
    for edge in structure.edges:
        target = structure.nodes[edge.target]
        if not target.is_port:
            producers[edge.target].update(dict.fromkeys(_makers(structure, into, edge.source)))
    consumers: list[dict[int, None]] = [{} for _ in structure.nodes]
    for node, makers in enumerate(producers):
        for maker in makers:
            consumers[maker][node] = None
    return Neighbours(tuple(tuple(entry) for entry in producers), tuple(tuple(entry) for entry in consumers))


def _makers(structure: Structure, into: dict[tuple[int, int], list[int]], source: int) -> list[int]:
    """The operations behind a node: itself, or, for a port, what feeds it from outside and from one round before."""
    found: list[int] = []
    seen: set[int] = set()
    waiting = [source]
    while waiting:
        index = waiting.pop(0)
        if index in seen:
            continue
        seen.add(index)
        node = structure.nodes[index]
        if not node.is_port:
            found.append(index)
            continue
        if node.kind is not NodeKind.ARGUMENT:
            continue
        region = structure.regions[node.region]
        if region.owner is not None:
            waiting.extend(into.get((region.owner, node.slot), ()))
        if node.slot < min(region.carried, len(region.yields)):
            waiting.extend(into.get((region.yields[node.slot], node.slot), ()))
    return found
