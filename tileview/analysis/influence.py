"""The ground that proofs about swaps stand on: what has a say in what, and what a fusion could take away.

Graph values fall into *classes*: a value, what a View or Slice makes of it, and what a Repeat carries it through. An
operation touches the classes of its operands and results. See :mod:`tileview.analysis.conflict` for what follows from
that.

A program that stands after fusions lacks sums that went into a Gelu or LayerNorm, results that are written as F8 at
once, and the copies between; and it has steps of these operations elsewhere, or none. Which of them a program with
other plans would lack is not known, so everything that *could* be lacking is left out of a bound:

- An Add whose sum a LayerNorm or Gelu reads, such a reader, and a Gelu or LayerNorm whose result some plan reads as F8:
  their own steps prove nothing.
- Their F16 results, and F16 copies of these made by them or by such a reader. Kept are sums that the graph reads more
  than once: they stay results, for only copies made for one reader are ever dropped; and their closing copies, unless
  one has the storage of the sum.
- Of an allocation that any such operation writes: what rounding and tails add, since a result may no longer share it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

import numpy as np

from tileview.core.fusion.region import same_storage
from tileview.model.graph import (
    AddKind,
    GeluKind,
    Graph,
    InputKind,
    LayerNormKind,
    Operation,
    RepeatKind,
    SliceKind,
    ViewKind,
)
from tileview.model.plan import AttentionOperator, BlockedGemm, OutputStationary, Plan, Pointwise, Unknown
from tileview.model.program import Copy, FlatStep, Kernel, Program
from tileview.model.recipe import Recipe
from tileview.model.tensor import MemoryClass, PrecisionKind
from tileview.model.timeline import ByteArray, Timeline

Operations = frozenset[int]
NOBODY: Final[Operations] = frozenset()


class Influence:
    """Answers for one graph and one set of alternatives; the current plans may vary."""

    def __init__(self, recipe: Recipe) -> None:
        self._alternatives = recipe.alternatives
        self.homes_are_fixed = all(
            given.value in recipe.inputs or given.value in recipe.config.inputs for given in recipe.graph.inputs
        )
        self._nodes = {operation.id: operation for operation, _ in recipe.graph.walk()}
        self._classes = ValueClasses(recipe.graph)
        self.choices: Operations = frozenset(
            operation
            for operation, plans in recipe.alternatives.items()
            if operation in self._nodes and any(plan != recipe.plans.get(operation) for plan in plans)
        )
        """Operations that can be swapped at all."""
        self._readers: dict[int, set[int]] = {}
        self._touching: dict[int, set[int]] = {}
        for operation, node in self._nodes.items():
            for value in node.inputs:
                self._readers.setdefault(self.class_of(value), set()).add(operation)
            for cls in self.classes_of(operation):
                self._touching.setdefault(cls, set()).add(operation)
        self.always: Operations = frozenset(operation for operation in self.choices if self.is_view(operation))
        """Views and Slices with a choice: they count everywhere."""
        self._in_place = self._find_in_place(recipe)
        self._resident: ByteArray | None = None

    def knows(self, operation: int) -> bool:
        """Whether the graph has the operation and it is no Repeat."""
        node = self._nodes.get(operation)
        return node is not None and not isinstance(node.kind, RepeatKind)

    def weight(self, operation: int) -> int:
        """How many alternatives an operation has."""
        return len(self._alternatives.get(operation, ()))

    def class_of(self, origin: int) -> int:
        return self._classes.find(origin)

    def classes_of(self, operation: int) -> frozenset[int]:
        node = self._nodes[operation]
        return frozenset(map(self._classes.find, (*node.inputs, *node.results)))

    def touching(self, cls: int) -> Operations:
        """Swappable operations that read or write a value of a class."""
        return self.choices & self._touching.get(cls, frozenset())

    def is_view(self, operation: int) -> bool:
        """Whether an operation's own steps are copies only; a Repeat has none of its own."""
        node = self._nodes.get(operation)
        return node is None or isinstance(node.kind, ViewKind | SliceKind | RepeatKind)

    def only(self, operation: int) -> Operations:
        return self.choices & {operation}

    def around(self, operation: int) -> Operations:
        """Whatever may change how an operation's own steps come out."""
        found: set[int] = {operation}
        for cls in self.classes_of(operation):
            found |= self._touching.get(cls, set())
        for result in self._nodes[operation].results:
            for reader in self._readers.get(self.class_of(result), ()):
                for value in self._nodes[reader].inputs:
                    found |= self._touching.get(self.class_of(value), set())
        return self.choices & found

    def deciding(self, classes: frozenset[int], recipe: Recipe) -> Operations:
        """Whatever may change the steps that name values of these classes, apart from what lies between."""
        found: set[int] = set()
        for cls in classes:
            for operation in self._touching.get(cls, ()):
                plan = recipe.plans.get(operation)
                if plan is not None and takes_operands_as_they_come(plan):
                    found |= self.around(operation)
                found.add(operation)
        return self.choices & found

    def may_share(self, classes: frozenset[int]) -> frozenset[int]:
        """The sets of classes, by number, within which plans may work in place."""
        return frozenset(self._in_place[cls] for cls in classes if cls in self._in_place)

    def linked(self, allocations: Iterable[frozenset[int]]) -> Operations:
        """Operations that could make allocations, each given by its classes, share memory."""
        seen: set[int] = set()
        twice: set[int] = set()
        for classes in allocations:
            sets = self.may_share(classes)
            twice |= sets & seen
            seen |= sets
        if not twice:
            return NOBODY
        return frozenset().union(*(self.touching(cls) for cls, number in self._in_place.items() if number in twice))

    def _find_in_place(self, recipe: Recipe) -> dict[int, int]:
        """Class → number of its set under "some plan may make the result share the operand's memory"."""
        links = Union()
        for operation, node in self._nodes.items():
            own = recipe.plans.get(operation)
            plans = (*self._alternatives.get(operation, ()), *(() if own is None else (own,)))
            for position in {position for plan in plans for position in plan.may_alias}:
                if position < len(node.inputs):
                    for result in node.results:
                        links.join(self.class_of(result), self.class_of(node.inputs[position]))
        return {cls: links.find(cls) for cls in links.members()}

    def resident(self, program: Program, timeline: Timeline) -> ByteArray:
        """(tiles, 2): payload of the parameters that no plan may overwrite, by class. Homes are fixed: made once."""
        if self._resident is None:
            table = np.zeros((timeline.tile_count, 2), dtype=np.int64)
            for number in self.resident_values(program):
                column = int(program.values[number].layout.memory_class is MemoryClass.INTERLEAVED)
                table[:, column] += timeline.tiles.shards(number)
            self._resident = table
        return self._resident

    def resident_values(self, program: Program) -> frozenset[int]:
        """Parameter inputs that no plan may overwrite in place."""
        return frozenset(
            given.value
            for given in program.inputs
            if given.kind is InputKind.PARAMETER
            and not self.may_share(frozenset({self.class_of(program.values[given.value].origin)}))
        )


def takes_operands_as_they_come(plan: Plan) -> bool:
    """Whether a plan's steps depend on the formats that its operands happen to have."""
    if isinstance(plan.operator, Unknown) or isinstance(plan.dispatch, Unknown):
        return True
    if all(requirement.materialization == "Complete" for requirement in plan.inputs):
        return False
    if isinstance(plan.dispatch, BlockedGemm):
        return isinstance(plan.dispatch.distribution, OutputStationary | Unknown)
    return isinstance(plan.dispatch, Pointwise) and isinstance(plan.operator, AttentionOperator)


class Union:
    """Sets of integers that are joined; the smallest member names a set."""

    def __init__(self) -> None:
        self._parent: dict[int, int] = {}

    def find(self, item: int) -> int:
        root = item
        while self._parent.get(root, root) != root:
            root = self._parent[root]
        while self._parent.get(item, item) != root:
            self._parent[item], item = root, self._parent[item]
        return root

    def join(self, a: int, b: int) -> None:
        a, b = self.find(a), self.find(b)
        low, high = min(a, b), max(a, b)
        self._parent[high] = low
        self._parent.setdefault(low, low)

    def members(self) -> list[int]:
        return list(self._parent)


class ValueClasses(Union):
    """Graph values joined where one is the other, seen through a View, a Slice or a Repeat."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self._sequences = {sequence.id: sequence.values for sequence in graph.sequences}
        for operation, _ in graph.walk():
            if isinstance(operation.kind, RepeatKind):
                self._join_repeat(operation, operation.kind)
            elif isinstance(operation.kind, ViewKind | SliceKind):
                for value in operation.results:
                    if operation.inputs:
                        self.join(operation.inputs[0], value)

    def _join_repeat(self, operation: Operation, kind: RepeatKind) -> None:
        carried = kind.carried_inputs
        body = kind.body
        for argument, given in zip(body.arguments, operation.inputs, strict=False):
            self.join(argument, given)
        for argument, given in zip(body.yields, body.arguments[:carried], strict=False):
            self.join(argument, given)
        for result, given in zip(operation.results, operation.inputs[:carried], strict=False):
            self.join(result, given)
        for argument, sequence in zip(body.arguments[len(operation.inputs) :], kind.iterated_inputs, strict=False):
            for member in self._sequences.get(sequence, ()):
                self.join(argument, member)


class FusableOperations:
    """The operations of a graph that fusions could touch, with any plans of a set of alternatives."""

    def __init__(self, recipe: Recipe) -> None:
        nodes = {operation.id: operation for operation, _ in recipe.graph.walk()}
        self.consumers = frozenset(
            n for n, node in nodes.items() if isinstance(node.kind, GeluKind | LayerNormKind) and node.inputs
        )
        adds = {value: n for n, node in nodes.items() if isinstance(node.kind, AddKind) for value in node.results}
        read_as_f8 = {
            value
            for n, node in nodes.items()
            for plan in _plans(recipe, n)
            for value, requirement in zip(node.inputs, plan.inputs, strict=False)
            if requirement.format.precision.is_f8
        }
        joined = _joined(recipe.graph)
        fused_adds = {
            adds[value]
            for n in self.consumers
            for value in joined.get(nodes[n].inputs[0], (nodes[n].inputs[0],))
            if value in adds
        }
        self.adds = frozenset(fused_adds)
        self.operations = self.adds | frozenset(
            n
            for n in self.consumers
            if any(value in adds for value in joined.get(nodes[n].inputs[0], (nodes[n].inputs[0],)))
            or any(other in read_as_f8 for value in nodes[n].results for other in joined.get(value, (value,)))
        )
        uses: Counter[int] = Counter(recipe.graph.outputs)
        for node in nodes.values():
            uses.update(set(node.inputs))
            if isinstance(node.kind, RepeatKind):
                uses.update(node.kind.body.yields)
        self.read_often = frozenset(n for n in self.adds if all(uses[value] > 1 for value in nodes[n].results))
        """Adds whose sum the graph reads more than once."""


def _plans(recipe: Recipe, operation: int) -> tuple[Plan, ...]:
    own = recipe.plans.get(operation)
    return (*recipe.alternatives.get(operation, ()), *(() if own is None else (own,)))


def _joined(graph: Graph) -> dict[int, tuple[int, ...]]:
    """Value → the values it may be another name of: through Views and Slices, which may move nothing."""
    from_views = {
        node.results[0]: node.inputs[0]
        for node, _ in graph.walk()
        if isinstance(node.kind, ViewKind | SliceKind) and node.inputs and node.results
    }
    found: dict[int, list[int]] = {}
    for start in from_views:
        value = start
        while value in from_views:
            value = from_views[value]
            found.setdefault(start, [start]).append(value)
            found.setdefault(value, [value]).append(start)
    return {value: tuple(names) for value, names in found.items()}


class Fusable:
    """The same for one composed program, value by value."""

    def __init__(self, operations: FusableOperations, program: Program, flat: tuple[FlatStep, ...]) -> None:
        self._operations = operations
        self._program = program
        self._makers = {value: entry.step for entry in flat for value in entry.step.results}

    def has_moving_steps(self, operation: int | None) -> bool:
        """Whether an operation's own steps may be taken away, moved or changed."""
        return operation in self._operations.operations

    def may_drop(self, value: int) -> bool:
        """Whether a fusion could leave a value unmentioned, or let it die earlier."""
        values, known = self._program.values, self._operations
        if values[value].precision.kind is not PrecisionKind.F16:
            return False
        maker = origin = self._makers.get(value)
        source = value
        while isinstance(origin, Copy) or (isinstance(origin, Kernel) and origin.kernel == "Cast"):
            source = origin.inputs[0]
            origin = self._makers.get(source)
        if maker is None or origin is None or origin.source not in known.operations:
            return False
        if origin.source not in known.adds:
            return True
        if maker.source == origin.source and origin.source in known.read_often:
            return value != source and same_storage(values[value], values[source])
        return maker.source == origin.source or maker.source in known.consumers

    def is_loose(self, members: tuple[int, ...]) -> bool:
        """Whether an operation with fusions writes one of the values that share an allocation."""
        return any(
            maker is not None and maker.source in self._operations.operations
            for maker in map(self._makers.get, members)
        )
