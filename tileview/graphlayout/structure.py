"""The graph of a recipe as nodes, ports and edges, region by region, with everything odd about it reported.

Parameters make no nodes: 55 boxes for 45 operations would hide the graph. They are folded into the operation that
reads them. Host inputs, outputs and the carried values of a Repeat's body become small ports. Nothing here fails:
whatever a broken graph holds is drawn or named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Protocol

from tileview.graphlayout.layers import back_edges, nx
from tileview.model.graph import Graph, InputKind, Operation, RepeatKind, UnknownKind, kind_name
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


@dataclass(slots=True)
class _Definition:
    """What a value is in a region: a result of a node, or a parameter of this name."""

    node: int | None
    parameter: str | None = None
    result: int = 0


@dataclass(slots=True)
class _Draft:
    """A region while it is read."""

    index: int
    owner: int | None
    depth: int
    parent: int | None
    repeat: Operation | None
    nodes: list[int] = field(default_factory=list)
    arguments: list[int | None] = field(default_factory=list)
    yields: list[int] = field(default_factory=list)
    defined: dict[int, _Definition] = field(default_factory=dict)
    operations: list[tuple[int, Operation]] = field(default_factory=list)
    carried: int = 0


class _Reports:
    """Problems, each once, with a limit a kind, so that a file with 100,000 dangling values stays readable."""

    LIMIT = 50

    def __init__(self) -> None:
        self._found: dict[str, list[Problem]] = {}
        self._more: dict[str, int] = {}
        self._said: set[tuple[str, str]] = set()

    def add(
        self, kind: str, severity: str, place: str, text: str, hint: str = "", operation: int | None = None
    ) -> None:
        if (place, text) in self._said:
            return
        self._said.add((place, text))
        found = self._found.setdefault(kind, [])
        if len(found) < self.LIMIT:
            found.append(Problem(severity, place, text, hint, operation=operation))
        else:
            self._more[kind] = self._more.get(kind, 0) + 1

    def all(self) -> tuple[Problem, ...]:
        problems: list[Problem] = []
        for kind, found in self._found.items():
            problems.extend(found)
            if kind in self._more:
                problems.append(Problem(found[0].severity, "graph", f"{self._more[kind]:,} more of this kind: {kind}"))
        return tuple(problems)


def read_structure(graph: Graph) -> Structure:
    """Nodes, ports and edges of a graph.

    Reported, never fatal: a value that nothing produces, one that two operations produce, an operation id given
    twice, an operation that reads its own result, a cycle, a value read from outside a body without being its
    argument, an unknown sequence, a body whose arguments or yields do not match its Repeat, an operation of unknown
    kind, a value that an operation reads several times.
    """
    return _Reader(graph).read()


class _Reader:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.reports = _Reports()
        self.nodes: list[LayoutNode] = []
        self.drafts: list[_Draft] = []
        self.by_operation: dict[int, int] = {}
        self.anywhere: dict[int, tuple[int, int]] = {}
        """Value → (region, node) of any operation's result or port."""
        self.sequences = {sequence.id: sequence for sequence in graph.sequences}
        self.edges: list[Edge] = []

    def read(self) -> Structure:
        self.drafts.append(_Draft(0, None, 0, None, None))
        self._graph_inputs(self.drafts[0])
        for draft in self.drafts:  # grows while bodies are found
            if draft.repeat is not None:
                self._arguments(draft)
            kind = None if draft.repeat is None else draft.repeat.kind
            operations = kind.body.operations if isinstance(kind, RepeatKind) else self.graph.operations
            for operation in operations:
                self._operation(draft, operation)
        parameters: dict[int, list[str]] = {}
        missing: dict[int, list[int]] = {}
        for draft in self.drafts:
            self._uses(draft, parameters, missing)
        nodes = tuple(
            _with_uses(node, parameters.get(node.index, []), missing.get(node.index, [])) for node in self.nodes
        )
        regions = self._regions()
        self._cycles(regions)
        readers = frozenset(edge.target for edge in self.edges if self._is_input(edge.source))
        return Structure(nodes, tuple(self.edges), regions, self.by_operation, self.reports.all(), readers)

    def _is_input(self, node: int) -> bool:
        entry = self.nodes[node]
        is_invariant = entry.kind is NodeKind.ARGUMENT and entry.slot >= self.drafts[entry.region].carried
        return entry.kind is NodeKind.INPUT or is_invariant

    # -- nodes ----------------------------------------------------------------------------------------------------

    def _add(self, draft: _Draft, kind: NodeKind, label: str, **more: object) -> int:
        index = len(self.nodes)
        self.nodes.append(LayoutNode(index, kind, draft.index, label, **more))  # type: ignore[arg-type]
        draft.nodes.append(index)
        return index

    def _define(self, draft: _Draft, value: int, definition: _Definition, place: str, operation: int | None) -> None:
        if value in draft.defined:
            self.reports.add(
                "values made twice",
                "error",
                place,
                f"value {value} is produced a second time; the first producer is shown as its source",
                operation=operation,
            )
            return
        draft.defined[value] = definition
        if definition.node is not None:
            self.anywhere.setdefault(value, (draft.index, definition.node))

    def _graph_inputs(self, draft: _Draft) -> None:
        for entry in self.graph.inputs:
            place = f"input {entry.name}"
            if entry.kind is InputKind.PARAMETER:
                self._define(draft, entry.value, _Definition(None, entry.name), place, None)
            else:
                node = self._add(draft, NodeKind.INPUT, entry.name, value=entry.value)
                self._define(draft, entry.value, _Definition(node), place, None)

    def _arguments(self, draft: _Draft) -> None:
        """Ports of a body: carried values and invariants, unless the invariant is a parameter outside; sequences
        fold.
        """
        repeat = draft.repeat
        assert repeat is not None
        assert isinstance(repeat.kind, RepeatKind)
        kind = repeat.kind
        draft.carried = kind.carried_inputs
        outer = self.drafts[draft.parent] if draft.parent is not None else draft
        place = f"operation {repeat.id}"
        expected = kind.carried_inputs + kind.invariant_inputs + len(kind.iterated_inputs)
        if len(kind.body.arguments) != expected or len(repeat.inputs) != kind.carried_inputs + kind.invariant_inputs:
            self.reports.add(
                "bodies that do not match their Repeat",
                "error",
                place,
                f"the body takes {len(kind.body.arguments)} arguments where {kind.carried_inputs} carried, "
                f"{kind.invariant_inputs} invariant and {len(kind.iterated_inputs)} iterated inputs make {expected}",
                operation=repeat.id,
            )
        for slot, value in enumerate(kind.body.arguments):
            iterated = slot - kind.carried_inputs - kind.invariant_inputs
            if iterated >= 0:
                name = self._sequence_name(kind, iterated, repeat.id)
                self._define(draft, value, _Definition(None, name), place, repeat.id)
                continue
            source = outer.defined.get(repeat.inputs[slot]) if slot < len(repeat.inputs) else None
            if source is not None and source.parameter is not None and slot >= kind.carried_inputs:
                draft.arguments.append(None)
                self._define(draft, value, _Definition(None, source.parameter), place, repeat.id)
                continue
            label = f"carried {slot}" if slot < kind.carried_inputs else f"invariant {slot - kind.carried_inputs}"
            node = self._add(draft, NodeKind.ARGUMENT, label, value=value, slot=slot)
            draft.arguments.append(node)
            self._define(draft, value, _Definition(node), place, repeat.id)

    def _sequence_name(self, kind: RepeatKind, iterated: int, operation: int) -> str:
        identifier = kind.iterated_inputs[iterated] if iterated < len(kind.iterated_inputs) else None
        sequence = self.sequences.get(identifier) if identifier is not None else None
        if sequence is None:
            text = f"iterated input {iterated} names sequence {identifier}, which the graph does not have"
            self.reports.add("unknown sequences", "error", f"operation {operation}", text, operation=operation)
            return f"sequence {identifier} (unknown)"
        return f"{sequence.name} (one of {len(sequence.values)} an iteration)"

    def _operation(self, draft: _Draft, operation: Operation) -> None:
        kind = operation.kind
        place = f"operation {operation.id}"
        unknown = isinstance(kind, UnknownKind)
        if isinstance(kind, RepeatKind):
            body = len(self.drafts)
            node = self._add(
                draft, NodeKind.REPEAT, kind_name(kind), operation=operation.id, body=body, count=kind.count
            )
            self.drafts.append(_Draft(body, node, draft.depth + 1, draft.index, operation))
        else:
            node = self._add(draft, NodeKind.OPERATION, kind_name(kind), operation=operation.id, unknown=unknown)
        draft.operations.append((node, operation))
        if operation.id in self.by_operation:
            text = f"the id {operation.id} is given to a second operation ({kind_name(kind)})"
            self.reports.add("operation ids given twice", "error", place, text, operation=operation.id)
        self.by_operation.setdefault(operation.id, node)
        if unknown:
            text = f"operations of kind {kind_name(kind)} are not known: drawn dashed, their memory is not in the sums"
            self.reports.add("unknown operations", "warning", place, text, operation=operation.id)
        for result, value in enumerate(operation.results):
            self._define(draft, value, _Definition(node, None, result), place, operation.id)

    # -- edges ----------------------------------------------------------------------------------------------------

    def _uses(self, draft: _Draft, parameters: dict[int, list[str]], missing: dict[int, list[int]]) -> None:
        for node, operation in draft.operations:
            for slot, value in enumerate(operation.inputs):
                self._use(draft, node, value, slot, parameters, missing, operation.id)
            if len(set(operation.inputs)) < len(operation.inputs):
                self._read_twice(draft, operation)
            if isinstance(operation.kind, RepeatKind):
                for iterated in range(len(operation.kind.iterated_inputs)):
                    identifier = operation.kind.iterated_inputs[iterated]
                    if identifier in self.sequences:
                        parameters.setdefault(node, []).append(self.sequences[identifier].name)
        if draft.repeat is None:
            for slot, value in enumerate(self.graph.outputs):
                node = self._add(draft, NodeKind.OUTPUT, f"output {slot}", value=value, slot=slot)
                self._use(draft, node, value, slot, parameters, missing, None)
            return
        assert isinstance(draft.repeat.kind, RepeatKind)
        yields = draft.repeat.kind.body.yields
        if len(yields) != draft.carried:
            text = f"the body yields {len(yields)} values where {draft.carried} are carried"
            place = f"operation {draft.repeat.id}"
            kind = "bodies that do not match their Repeat"
            self.reports.add(kind, "error", place, text, operation=draft.repeat.id)
        for slot, value in enumerate(yields):
            node = self._add(draft, NodeKind.YIELD, f"to carried {slot}", value=value, slot=slot)
            draft.yields.append(node)
            self._use(draft, node, value, slot, parameters, missing, draft.repeat.id)

    def _read_twice(self, draft: _Draft, operation: Operation) -> None:
        """An operation may read a value twice; the drawing has one line for it."""
        for value, times in Counter(operation.inputs).items():
            found = draft.defined.get(value)
            if times > 1 and found is not None and found.node is not None:
                text = f"reads value {value} {times} times: one line stands for all"
                place = f"operation {operation.id}"
                self.reports.add("values read several times", "note", place, text, operation=operation.id)

    def _use(
        self,
        draft: _Draft,
        node: int,
        value: int,
        slot: int,
        parameters: dict[int, list[str]],
        missing: dict[int, list[int]],
        operation: int | None,
    ) -> None:
        place = "graph outputs" if operation is None else f"operation {operation}"
        found = draft.defined.get(value)
        if found is not None:
            if found.node is None:
                parameters.setdefault(node, []).append(found.parameter or "")
                return
            if found.node == node:
                text = f"reads its own result, value {value}"
                self.reports.add("operations that read their own result", "error", place, text, operation=operation)
            elif found.node > node and self.nodes[found.node].operation is not None:
                text = f"reads value {value}, which operation {self.nodes[found.node].operation} produces only later"
                self.reports.add("values read before they are made", "warning", place, text, operation=operation)
            self.edges.append(Edge(found.node, node, value, slot, found.result))
            return
        self._use_from_afar(draft, node, value, place, parameters, missing, operation)

    def _use_from_afar(
        self,
        draft: _Draft,
        node: int,
        value: int,
        place: str,
        parameters: dict[int, list[str]],
        missing: dict[int, list[int]],
        operation: int | None,
    ) -> None:
        """A value of another region: the edge is drawn between what stands for both ends in the region they share."""
        for region in self._upwards(draft.parent):
            outer = self.drafts[region].defined.get(value)
            if outer is not None and outer.parameter is not None:
                parameters.setdefault(node, []).append(outer.parameter)
                text = f"reads value {value} ({outer.parameter}) from outside its body without taking it as an argument"
                self.reports.add("values read through a body's border", "warning", place, text, operation=operation)
                return
        home = self.anywhere.get(value)
        if home is None:
            missing.setdefault(node, []).append(value)
            text = f"reads value {value}, which nothing produces"
            hint = "the file is incomplete or its ids are wrong"
            self.reports.add("values that nothing produces", "error", place, text, hint, operation=operation)
            return
        text = f"reads value {value} of another body without taking it as an argument"
        self.reports.add("values read through a body's border", "warning", place, text, operation=operation)
        ends = self._common(home[1], node)
        if ends is not None and ends[0] != ends[1]:
            self.edges.append(Edge(ends[0], ends[1], value, -1, -1))

    def _upwards(self, region: int | None) -> Iterator[int]:
        while region is not None:
            yield region
            region = self.drafts[region].parent

    def _common(self, source: int, target: int) -> tuple[int, int] | None:
        """What stands for two nodes in the innermost region that holds both."""
        stands = {self.nodes[source].region: source}
        for region in self._upwards(self.nodes[source].region):
            owner, parent = self.drafts[region].owner, self.drafts[region].parent
            if owner is not None and parent is not None:
                stands[parent] = owner
        at = target
        for region in self._upwards(self.nodes[target].region):
            if region in stands:
                return stands[region], at
            owner = self.drafts[region].owner
            at = at if owner is None else owner
        return None

    # -- regions --------------------------------------------------------------------------------------------------

    def _regions(self) -> tuple[RegionNodes, ...]:
        edges: list[list[int]] = [[] for _ in self.drafts]
        for index, edge in enumerate(self.edges):
            edges[self.nodes[edge.source].region].append(index)
        return tuple(
            RegionNodes(
                draft.index,
                draft.owner,
                draft.depth,
                tuple(draft.nodes),
                tuple(edges[draft.index]),
                tuple(draft.arguments),
                tuple(draft.yields),
                draft.carried,
            )
            for draft in self.drafts
        )

    def _cycles(self, regions: tuple[RegionNodes, ...]) -> None:
        for region in regions:
            number = {node: place for place, node in enumerate(region.nodes)}
            pairs = [(number[self.edges[index].source], number[self.edges[index].target]) for index in region.edges]
            loops = {index for index, (source, target) in enumerate(pairs) if source == target}
            for index in sorted(back_edges(len(region.nodes), pairs) - loops):
                edge = self.edges[region.edges[index]]
                source, target = self.nodes[edge.source].operation, self.nodes[edge.target].operation
                text = (
                    f"value {edge.value} closes a cycle: operation {source} makes it, and needs what operation "
                    f"{target} makes"
                )
                self.reports.add("cycles", "error", f"operation {target}", text, operation=target)


def _with_uses(node: LayoutNode, parameters: list[str], missing: list[int]) -> LayoutNode:
    if not parameters and not missing:
        return node
    return replace(node, parameters=tuple(parameters), missing=tuple(dict.fromkeys(missing)))
