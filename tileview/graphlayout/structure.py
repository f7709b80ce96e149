"""The graph of a recipe as nodes, ports and edges, region by region, with everything odd about it reported.

Parameters make no nodes: 55 boxes for 45 operations would hide the graph. They are folded into the operation that
reads them. Host inputs, outputs and the carried values of a Repeat's body become small ports. Nothing here fails:
whatever a broken graph holds is drawn or named.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from tileview.graphlayout.layers import nx
from tileview.model.timeline import Problem


class NodeKind(StrEnum):
    """INPUT and OUTPUT are the graph's, ARGUMENT and YIELD those of a body."""

    OPERATION = "operation"
    REPEAT = "repeat"
    INPUT = "input"
    OUTPUT = "output"
    ARGUMENT = "argument"
    YIELD = "yield"


PORTS = frozenset({NodeKind.INPUT, NodeKind.OUTPUT, NodeKind.ARGUMENT, NodeKind.YIELD})


@dataclass(frozen=True, slots=True)
class LayoutNode:
    """One box. ``operation`` is the id of an operation or Repeat, ``value`` that of a port.

    ``label`` is the kind of an operation, the name of a port. ``parameters`` are the names of the parameters (and of
    the sequences of parameters) it reads, ``missing`` the values it reads that nothing produces. ``region`` is where
    it stands, ``body`` the region of a Repeat's body, ``slot`` the number of a port among its region's arguments,
    yields or outputs. ``count`` is a Repeat's.
    """

    index: int
    kind: NodeKind
    region: int
    label: str
    operation: int | None = None
    value: int | None = None
    parameters: tuple[str, ...] = ()
    missing: tuple[int, ...] = ()
    unknown: bool = False
    body: int | None = None
    slot: int = -1
    count: int = 1

    @property
    def is_port(self) -> bool:
        return self.kind in PORTS


@dataclass(frozen=True, slots=True)
class Edge:
    """One use of a value: both ends stand in one region.

    ``slot`` is the operand it becomes, −1 where it stands for a use further in; ``result`` which result of its source
    it is, −1 likewise.
    """

    source: int
    target: int
    value: int
    slot: int
    result: int = 0


@dataclass(frozen=True, slots=True)
class RegionNodes:
    """A region: the graph itself (index 0, ``owner`` None) or the body of the Repeat ``owner``. Parents come before
    children.

    ``arguments`` and ``yields`` hold the port of each slot, None for an argument that is a parameter and therefore
    has no port.
    """

    index: int
    owner: int | None
    depth: int
    nodes: tuple[int, ...]
    edges: tuple[int, ...]
    arguments: tuple[int | None, ...] = ()
    yields: tuple[int, ...] = ()
    carried: int = 0


@dataclass(frozen=True, slots=True)
class Structure:
    """All regions of a graph.

    ``by_operation``: operation id → node (the first where an id occurs twice). ``input_readers``: nodes that read what
    arrives with every run, from an input of the graph or as an invariant of a body.
    """

    nodes: tuple[LayoutNode, ...]
    edges: tuple[Edge, ...]
    regions: tuple[RegionNodes, ...]
    by_operation: dict[int, int]
    problems: tuple[Problem, ...]
    input_readers: frozenset[int] = frozenset()

    def around(self, node: int) -> Iterator[int]:
        """The Repeats around a node, innermost first."""
        owner = self.regions[self.nodes[node].region].owner
        while owner is not None:
            yield owner
            owner = self.regions[self.nodes[owner].region].owner

    def in_order(self) -> list[int]:
        """All nodes as one reads the graph: a Repeat, then its body, then what follows it."""
        found: list[int] = []
        waiting = list(reversed(self.regions[0].nodes)) if self.regions else []
        while waiting:
            index = waiting.pop()
            found.append(index)
            body = self.nodes[index].body
            if body is not None:
                waiting.extend(reversed(self.regions[body].nodes))
        return found

    def operations_in(self, region: int) -> int:
        """How many operations a region holds, those of nested bodies included, Repeats themselves not counted."""
        total = 0
        waiting = [region]
        while waiting:
            for index in self.regions[waiting.pop()].nodes:
                node = self.nodes[index]
                if node.kind is NodeKind.OPERATION:
                    total += 1
                elif node.body is not None:
                    waiting.append(node.body)
        return total


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
        graph = nx().Graph()
        graph.add_nodes_from(range(len(self.producers)))
        graph.add_edges_from((maker, node) for node, makers in enumerate(self.producers) for maker in makers)
        lengths = (nx().single_source_shortest_path_length(graph, start, hops) for start in starts)
        return frozenset(node for reached in lengths for node in reached)


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


class LayoutCancelled(Exception):  # noqa: N818 - it is no error, it is what was asked for
    """Raised out of a layout whose token says that nobody waits for it any more."""


class Token(Protocol):
    """What a layout asks and tells while it runs; called on the thread that runs the layout."""

    def cancelled(self) -> bool:
        """True as soon as the result is of no use any more."""
        ...

    def progress(self, fraction: float) -> None:
        """How far the layout is, 0 … 1, never falling."""
        ...


class Silent:
    """The token of a caller that waits to the end."""

    def cancelled(self) -> bool:
        return False

    def progress(self, fraction: float) -> None:
        pass


class ProgressPart:
    """A stretch of another token's progress: its 0 … 1 is ``start`` … ``stop`` there."""

    def __init__(self, token: Token, start: float, stop: float) -> None:
        self._token = token
        self._start = start
        self._length = stop - start

    def cancelled(self) -> bool:
        return self._token.cancelled()

    def progress(self, fraction: float) -> None:
        self._token.progress(self._start + self._length * fraction)


def check(token: Token) -> None:
    """Leave with :class:`LayoutCancelled` where the token is cancelled."""
    if token.cancelled():
        raise LayoutCancelled
