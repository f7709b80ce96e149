"""What a fusion could take away, whatever is swapped: the values and steps that a proof must not count.

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

from tileview.core.fusion.region import same_storage
from tileview.model.graph import AddKind, GeluKind, Graph, LayerNormKind, RepeatKind, SliceKind, ViewKind
from tileview.model.plan import Plan
from tileview.model.program import Copy, FlatStep, Kernel, Program
from tileview.model.recipe import Recipe
from tileview.model.tensor import PrecisionKind


class FusableOperations:
    """The operations of a graph that fusions could touch, with any plans of a set of alternatives."""

    def __init__(self, recipe: Recipe) -> None:
        nodes = {operation.id: operation for operation, _ in recipe.graph.walk()}
        self.consumers = frozenset(n for n, node in nodes.items() if isinstance(node.kind, GeluKind | LayerNormKind))
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
