"""How much smaller an allocation could be if the operation that makes it used another of its plans.

This looks at formats only, without re-planning: for the result of an operation it is the output that each alternative
asks for, for an operand brought to a requirement the operand's format in each alternative. It is what the tables show
at once; what a swap really does to the peak is known when it has been evaluated.
"""

from __future__ import annotations

from dataclasses import dataclass

from tileview.core.geometry.resolve import LayoutError, resolve
from tileview.model.config import INTERLEAVED_ELEMENT_BYTES, STANDARD_ELEMENT_BYTES
from tileview.model.graph import Operation
from tileview.model.plan import Plan
from tileview.model.recipe import Recipe
from tileview.model.tensor import Format, MemoryClass
from tileview.model.timeline import Timeline, TimelineValue


@dataclass(frozen=True, slots=True)
class Saving:
    """``bytes`` that alternative ``alternative`` of ``operation`` would take off an allocation."""

    bytes: int
    operation: int
    alternative: int


class Shrinkage:
    """Answers for one timeline and the recipe behind it (None: nothing can be smaller)."""

    def __init__(self, timeline: Timeline, recipe: Recipe | None) -> None:
        self._timeline = timeline
        self._recipe = recipe
        self._operations: dict[int, Operation] = {}
        if recipe is not None:
            self._operations = {operation.id: operation for operation, _ in recipe.graph.walk()}

    def best(self, root: int, tile: int) -> Saving | None:
        """The largest saving on a tile that an alternative's formats promise; None where there is none.

        The tile's present bytes are compared with the largest shard of the alternative: the saving is never overstated.
        """
        operation = self._timeline.maker(root)
        if self._recipe is None or operation is None or operation not in self._operations:
            return None
        plan = self._recipe.plans.get(operation)
        if plan is None:
            return None
        now = int(self._timeline.tiles.allocation(root)[tile])
        best: Saving | None = None
        for index, alternative in enumerate(self._recipe.alternatives.get(operation, ())):
            if alternative == plan:
                continue
            then = self._bytes_with(root, operation, plan, alternative)
            if then is not None and then < now and (best is None or now - then > best.bytes):
                best = Saving(now - then, operation, index)
        return best

    def _bytes_with(self, root: int, operation: int, plan: Plan, alternative: Plan) -> int | None:
        """Bytes of the allocation if every value of it took the alternative's format; None where that is not known."""
        largest = 0
        for index in self._timeline.aliases.get(root, (root,)):
            value = self._timeline.values[index]
            wanted = self._format_in(value, operation, plan, alternative)
            size = None if wanted is None else self._sized(root, value, wanted)
            if size is None:
                return None
            largest = max(largest, size)
        return largest

    def _format_in(self, value: TimelineValue, operation: int, plan: Plan, alternative: Plan) -> Format | None:
        node = self._operations[operation]
        if value.origin in node.results and value.layout == plan.output.format.layout:
            return alternative.output.format
        for position, origin in enumerate(node.inputs):
            if origin == value.origin and position < min(len(plan.inputs), len(alternative.inputs)):
                required = plan.inputs[position].format
                if value.layout == required.layout and value.precision == required.precision:
                    return alternative.inputs[position].format
        return None

    def _sized(self, root: int, value: TimelineValue, wanted: Format) -> int | None:
        element = wanted.precision.element_bytes
        if element is None:
            return None
        try:
            elements = resolve(value.shape, wanted.layout).maximum_elements
        except LayoutError:
            return None
        size = elements * element + self._timeline.tails.get(root, 0)
        if root in self._timeline.aligned_roots:
            interleaved = wanted.layout.memory_class is MemoryClass.INTERLEAVED
            unit = INTERLEAVED_ELEMENT_BYTES if interleaved else STANDARD_ELEMENT_BYTES
            size = -(-size // unit) * unit
        return size * value.copies
