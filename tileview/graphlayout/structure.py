"""The graph of a recipe as nodes, ports and edges, region by region, with everything odd about it reported.

Parameters make no nodes: 55 boxes for 45 operations would hide the graph. They are folded into the operation that
reads them. Host inputs, outputs and the carried values of a Repeat's body become small ports. Nothing here fails:
whatever a broken graph holds is drawn or named.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

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
class Node:
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

    nodes: tuple[Node, ...]
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
