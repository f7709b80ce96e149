"""A directed graph made acyclic: duplicates merged, self-loops set aside, some edges turned round.

A compiler's graph has no cycles, but a broken file may. Nothing is lost here: what is set aside or turned round is
named in the result, so that it can be drawn and reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


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

    @property
    def self_loops(self) -> int:
        return sum(1 for index in self.of if index < 0)


def back_edges(nodes: int, edges: Sequence[tuple[int, int]]) -> set[int]:
    """Indices of edges that close a cycle in a depth-first walk from node 0 on, targets in the order of the edges.

    Turning these round leaves no cycle: every other edge then leads from an earlier to a later node of the reversed
    finishing order. Without a cycle the result is empty. Linear in nodes and edges; no recursion, so that a chain of
    any length works.
    """
    outgoing: list[list[int]] = [[] for _ in range(nodes)]
    for index, (source, _) in enumerate(edges):
        outgoing[source].append(index)
    found: set[int] = set()
    # 0 not seen, 1 on the current path, 2 finished.
    mark = bytearray(nodes)
    for start in range(nodes):
        if mark[start]:
            continue
        mark[start] = 1
        path = [(start, iter(outgoing[start]))]
        while path:
            node, rest = path[-1]
            for index in rest:
                target = edges[index][1]
                if mark[target] == 1:
                    found.add(index)
                elif mark[target] == 0:
                    mark[target] = 1
                    path.append((target, iter(outgoing[target])))
                    break
            else:
                mark[node] = 2
                path.pop()
    return found


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
    """Nodes of an acyclic graph, sources before targets, the smallest number first where there is a choice by level.

    Raises
    ------
    ValueError
        Where the edges have a cycle.
    """
    outgoing: list[list[int]] = [[] for _ in range(nodes)]
    missing = [0] * nodes
    for source, target in edges:
        outgoing[source].append(target)
        missing[target] += 1
    order = [node for node in range(nodes) if missing[node] == 0]
    for node in order:
        for target in outgoing[node]:
            missing[target] -= 1
            if missing[target] == 0:
                order.append(target)
    if len(order) != nodes:
        raise ValueError("the edges have a cycle")
    return order
