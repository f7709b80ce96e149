"""Which operations a fix must touch: a proven bound, so that a search can leave out what cannot help.

Take one moment at which a program breaks a limit: one step, one tile, what lies there. If every plan that decides over
enough of it stays as it is, the same things lie there whatever else is swapped, and the limit is still broken. So a
set of swaps that makes the program fit contains at least one operation of that moment's *conflict set*. A search that
branches over conflict sets only misses nothing.

What decides over what (all homes of inputs fixed, boundaries as they are)
-------------------------------------------------------------------------
Graph values fall into *classes*: a value, what a View or Slice makes of it, and what a Repeat carries it through. An
operation touches the classes of its operands and results.

- A resident parameter's payload: nothing decides, its home is fixed.
- What a step of operation q reads, writes and needs as scratch, where the step is no Copy and no Cast: q's plan alone,
  because plans bring their operands to types of their own first. Exceptions are plans that take an operand as it comes
  (output-stationary products and scalar attention with ``DispatchSlices``): there the neighbours of q count too.
- What was made before q's steps and is read after them: the operations that touch its class. q runs at least one step
  that is no Copy, so no composition of copies reaches across it.
- Anything else at a step of q: whatever touches a class that q touches, or an operand class of a reader of q's results.
- Rounding up to memory elements, and an access tail: the operations that touch any class of the allocation.
- Two allocations may come to share memory by in-place plans in a row: where counted classes are linked by operations
  that may work in place, all operations along the links count.
- Views and Slices with a choice of plans always count.
- Where the compiler's fusions are looked for, the composed program is looked at, and what a fusion could take away
  counts nothing (:mod:`tileview.analysis.influence`): then both programs break the limit.

Nothing is proven (None) where homes are still to be chosen, or where operations are not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from tileview.analysis.influence import (
    NOBODY,
    Fusable,
    FusableOperations,
    Influence,
    Operations,
    takes_operands_as_they_come,
)
from tileview.core.estimated import Estimate
from tileview.core.fusion.stand import Reason
from tileview.core.memory.measurement import measure
from tileview.core.memory.verdict import contiguous_bytes
from tileview.model.program import Copy, FlatStep, Kernel, Opaque, Program, Repeat
from tileview.model.recipe import Recipe
from tileview.model.tensor import MemoryClass
from tileview.model.timeline import Timeline, last_largest


class SwapConflict(NamedTuple):
    """What a program that misses its mark proves about sets of swaps.

    ``branch``: at least one of these operations is in every set that reaches the mark. ``final``: if one more swap
    does it, then that of one of these. Empty where nothing can help, None where nothing is proven.
    """

    branch: Operations | None
    final: Operations | None


NOTHING_PROVEN: Final = SwapConflict(None, None)


class ConflictFinder:
    """Conflicts for states of one graph and one set of alternatives; what depends on these alone is kept."""

    def __init__(self, recipe: Recipe) -> None:
        self._influence = Influence(recipe)
        self._fusable = FusableOperations(recipe)

    def find(self, recipe: Recipe, estimate: Estimate, mark: int | None = None) -> SwapConflict:
        """The conflict of a recipe with the mark it misses.

        Parameters
        ----------
        recipe : Recipe
            The current state: the same graph, homes, boundaries and alternatives, possibly other plans.
        estimate : Estimate
            Its estimate.
        mark : int or None
            The largest total peak that would do, in bytes; the limits hold in any case.
        """
        influence = self._influence
        fusion = estimate.fusion
        program, timeline = estimate.program, estimate.timeline
        if fusion is not None and fusion.stands and timeline is not None:
            program = fusion.composed
            timeline = measure(program, timeline.budget_bytes, timeline.reserve_bytes)
        if not influence.homes_are_fixed:
            return NOTHING_PROVEN
        if estimate.error is not None:
            return self._refused(estimate.error.operation)
        if program is None or timeline is None or program.unknown or timeline.unavailable_roots:
            return NOTHING_PROVEN
        branch: Operations | None = None
        final: Operations | None = None
        fusable = None if fusion is None or fusion.reason is Reason.OFF else self._fusable
        for room, items in Moments(influence, recipe, program, timeline, mark, fusable):
            found, alone = _explain(items, room, influence)
            if found is None or alone is None:
                continue
            final = alone if final is None else final & alone
            if branch is None or self._cost(found) < self._cost(branch):
                branch = found
        return SwapConflict(branch, final)

    def _refused(self, operation: int | None) -> SwapConflict:
        """A plan is refused for what it asks and for the formats of its operands."""
        if operation is None or not self._influence.knows(operation):
            return NOTHING_PROVEN
        found = self._influence.around(operation) | self._influence.always
        return SwapConflict(found, found)

    def _cost(self, operations: Operations) -> int:
        """How many alternatives a search would have to try."""
        return sum(map(self._influence.weight, operations))


def _explain(items: list[Item], room: int, influence: Influence) -> tuple[Operations | None, Operations | None]:
    """Operations of which one must change, and those of which one alone could do, for a moment with too many bytes.

    For the first: starts from everything and drops, again and again, the operation whose items hold the fewest bytes
    for the alternatives it brings, as long as what is left still breaks the limit. For the second: the operations
    without whose items the limit is kept. (None, None) where what is provable does not break the limit.
    """
    apart = _apart(items, influence)
    if sum(item.bytes for item in apart) > room:
        items = apart
    total = sum(item.bytes for item in items)
    if total <= room:
        return None, None
    loss = _losses(items)
    alone = {operation for operation, size in loss.items() if total - size <= room}
    alone |= influence.linked(_allocations(items)) | influence.always
    left = items
    while True:
        droppable = [operation for operation, size in loss.items() if total - size > room]
        if not droppable:
            break
        worst = min(droppable, key=lambda operation: (loss[operation] / max(1, influence.weight(operation)), operation))
        left = [item for item in left if worst not in item.decided_by]
        total = sum(item.bytes for item in left)
        loss = _losses(left)
    found = frozenset().union(*(item.decided_by for item in left))
    return found | influence.linked(_allocations(left)) | influence.always, frozenset(alone)


def _apart(items: list[Item], influence: Influence) -> list[Item]:
    """The items without the smaller ones of allocations that in-place plans could make share memory."""
    sizes: dict[int, int] = {}
    classes: dict[int, frozenset[int]] = {}
    for item in items:
        if item.root is not None:
            sizes[item.root] = sizes.get(item.root, 0) + item.bytes
            classes[item.root] = item.classes
    taken: set[int] = set()
    dropped: set[int] = set()
    for root in sorted(sizes, key=lambda root: (-sizes[root], root)):
        sets = influence.may_share(classes[root])
        if sets & taken:
            dropped.add(root)
        taken |= sets
    return [item for item in items if item.root not in dropped]


def _losses(items: Iterable[Item]) -> dict[int, int]:
    """Operation → bytes that are no longer certain once it changes."""
    loss: dict[int, int] = {}
    for item in items:
        for operation in item.decided_by:
            loss[operation] = loss.get(operation, 0) + item.bytes
    return loss


def _allocations(items: Iterable[Item]) -> list[frozenset[int]]:
    """The classes of every allocation counted, once each."""
    return list({item.root: item.classes for item in items if item.root is not None}.values())


_MOST_MOMENTS: Final = 12
"""How many broken moments of a kind are looked at; each costs about a millisecond."""


@dataclass(frozen=True, slots=True)
class Item:
    """``bytes`` that stay on the tile as long as no operation of ``decided_by`` changes.

    ``root`` is the allocation (None for scratch and for all resident parameters together), ``classes`` those of its
    values.
    """

    bytes: int
    decided_by: Operations
    root: int | None = None
    classes: frozenset[int] = frozenset()


Moment = tuple[int, list[Item]]
"""Bytes that may not be exceeded, and what lies there."""


class Moments:
    """The broken moments of one program, those with the most excess first.

    ``mark``: the largest total peak that would do, None where the budget alone counts. ``fusable``: the program is a
    composed one that is fused where that helps; what fusions could take away counts nothing then.
    """

    def __init__(
        self,
        influence: Influence,
        recipe: Recipe,
        program: Program,
        timeline: Timeline,
        mark: int | None = None,
        fusable: FusableOperations | None = None,
    ) -> None:
        self._influence = influence
        self._recipe = recipe
        self._program = program
        self._timeline = timeline
        room = timeline.budget_bytes - timeline.reserve_bytes
        self._room = room if mark is None else min(room, mark)
        self._flat = program.flatten()
        self._fusable = None if fusable is None else Fusable(fusable, program, self._flat)
        self._mentions = _mentions(program, self._flat)
        self._blocks = _blocks(self._flat)
        self._resident = influence.resident_values(program)

    def __iter__(self) -> Iterator[Moment]:
        timeline = self._timeline
        worst = timeline.tiles.worst()
        for step in self._steps_over(worst[:, 2].tolist(), self._room):
            yield self._room, self._items(step, int(worst[step, 3]), (MemoryClass.STANDARD, MemoryClass.INTERLEAVED))
        room = timeline.interleaved_budget_bytes
        for step in self._steps_over(worst[:, 1].tolist(), room):
            tile = last_largest(timeline.tiles.usage(step)[:, 1])
            yield room, self._items(step, tile, (MemoryClass.INTERLEAVED,))
        yield from self._single_allocations()

    def _steps_over(self, totals: list[int], room: int) -> list[int]:
        """For each operation its step with the largest excess, own steps preferred; the largest first."""
        best: dict[int | None, int] = {}
        quality: dict[int | None, tuple[bool, int]] = {}
        for entry in self._flat:
            size = totals[entry.index]
            if size <= room or not self._stays(entry):
                continue
            found = (self._is_own(entry), size)
            if entry.step.source not in best or found > quality[entry.step.source]:
                best[entry.step.source], quality[entry.step.source] = entry.index, found
        return sorted(best.values(), key=lambda step: (-totals[step], step))[:_MOST_MOMENTS]

    def _stays(self, entry: FlatStep) -> bool:
        """Whether no fusion can take a step away, move it or change what it reads."""
        if self._fusable is None:
            return True
        return self._is_own(entry) and not self._fusable.has_moving_steps(entry.step.source)

    def _single_allocations(self) -> Iterator[Moment]:
        """Moments at which one standard allocation, or one step's scratch, is larger than any unbroken piece."""
        timeline = self._timeline
        room = contiguous_bytes(timeline.reserve_bytes)
        largest = timeline.peak.maximum_standard_allocation
        if not isinstance(largest, int) or largest <= room:
            return
        tried: set[int] = set()
        for entry in self._flat:
            scratch = int(timeline.tiles.scratch(entry.index)[:, 0].max(initial=0))
            if scratch > room and self._stays(entry):
                yield room, [Item(scratch, self._scratch_influence(entry))]
            for root in timeline.steps[entry.index].live:
                if root in tried or self._class_of(root) is not MemoryClass.STANDARD:
                    continue
                tried.add(root)
                row = timeline.tiles.allocation(root)
                if int(row.max(initial=0)) > room:
                    for step in self._steps_with(root):
                        yield room, self._parts(root, step, last_largest(row))

    def _steps_with(self, root: int) -> list[int]:
        """Some steps at which an allocation is live: an own step of every operation around."""
        found: dict[int | None, int] = {}
        for step in self._timeline.steps:
            entry = self._flat[step.index]
            if root in step.live and self._is_own(entry) and self._stays(entry):
                found.setdefault(step.source, step.index)
        return list(found.values())[:_MOST_MOMENTS]

    def _class_of(self, root: int) -> MemoryClass:
        return self._timeline.values[self._timeline.aliases[root][-1]].memory_class

    # -- what lies there ------------------------------------------------------------------------------------------

    def _items(self, step: int, tile: int, counted: tuple[MemoryClass, ...]) -> list[Item]:
        """Everything of the classes counted on a tile at a step that something is known about."""
        entry = self._flat[step]
        timeline = self._timeline
        resident = self._influence.resident(self._program, timeline)[tile]
        items = [Item(int(resident[column]), NOBODY) for column, cls in enumerate(MemoryClass) if cls in counted]
        for root in timeline.steps[step].live:
            if root not in self._resident and self._class_of(root) in counted:
                items.extend(self._parts(root, step, tile))
        if MemoryClass.STANDARD in counted:
            scratch = int(timeline.tiles.scratch(step)[tile, 0])
            if scratch:
                items.append(Item(scratch, self._scratch_influence(entry)))
        return [item for item in items if item.bytes > 0]

    def _scratch_influence(self, entry: FlatStep) -> Operations:
        if not self._has_operation(entry):
            return self._influence.choices
        assert entry.step.source is not None
        if self._is_own(entry):
            return self._own_influence(entry.step.source)
        return self._influence.around(entry.step.source)

    def _parts(self, root: int, step: int, tile: int) -> list[Item]:
        """An allocation's bytes on a tile: its payload, and what else it takes, each with who decides over it."""
        timeline, influence = self._timeline, self._influence
        size = int(timeline.tiles.allocation(root)[tile])
        if not size:
            return []
        entry = self._flat[step]
        classes = frozenset(influence.class_of(self._program.values[v].origin) for v in timeline.aliases[root])
        crossing = self._crossing(root, entry)
        payload, decided_by = self._payload(root, entry, tile, crossing)
        payload = min(payload, size)
        parts = [Item(payload, decided_by, root, classes)]
        if self._fusable is not None and self._fusable.is_loose(timeline.aliases[root]):
            return parts
        if size > payload:
            rest = decided_by | influence.deciding(classes, self._recipe)
            if not crossing:
                rest |= self._around_influence(entry)
            parts.append(Item(size - payload, rest, root, classes))
        return parts

    def _around_influence(self, entry: FlatStep) -> Operations:
        if not self._has_operation(entry):
            return self._influence.choices
        assert entry.step.source is not None
        return self._influence.around(entry.step.source)

    def _payload(self, root: int, entry: FlatStep, tile: int, crossing: list[int]) -> tuple[int, Operations]:
        """The best-founded part of an allocation: bytes on the tile, and who decides over them."""
        timeline, influence = self._timeline, self._influence
        if self._is_own(entry):
            assert entry.step.source is not None
            named = {*entry.step.inputs, *entry.step.results}
            sizes = [int(timeline.tiles.shards(v)[tile]) for v in timeline.aliases[root] if v in named]
            if sizes:
                return max(sizes), self._own_influence(entry.step.source)
        if crossing:
            sized = [(int(timeline.tiles.shards(value)[tile]), value) for value in crossing]
            size, value = max(sized)
            return size, influence.touching(influence.class_of(self._program.values[value].origin))
        return 0, NOBODY

    def _crossing(self, root: int, entry: FlatStep) -> list[int]:
        """Values of an allocation that exist before the step's operation begins and are read after it has ended.

        Only of operations that run a step which is no Copy: copies on either side of it are never composed.
        """
        if not self._has_operation(entry):
            return []
        first, last = self._blocks[entry.step.source]
        found = []
        for value in self._timeline.aliases[root]:
            where = self._mentions.get(value)
            if where is None or where[0] >= first or where[1] <= last:
                continue
            if self._fusable is None or not self._fusable.may_drop(value):
                found.append(value)
        return found

    def _has_operation(self, entry: FlatStep) -> bool:
        """Whether a step belongs to an operation that has a plan and runs more than copies."""
        source = entry.step.source
        return source is not None and not self._influence.is_view(source) and source in self._recipe.plans

    def _is_own(self, entry: FlatStep) -> bool:
        """Whether a step's operands, result and scratch are what its operation's plan says, whatever lies around it."""
        step = entry.step
        if isinstance(step, Copy | Repeat | Opaque) or (isinstance(step, Kernel) and step.kernel == "Cast"):
            return False
        return self._has_operation(entry)

    def _own_influence(self, operation: int) -> Operations:
        if takes_operands_as_they_come(self._recipe.plans[operation]):
            return self._influence.around(operation)
        return self._influence.only(operation)


def _mentions(program: Program, flat: tuple[FlatStep, ...]) -> dict[int, tuple[int, int]]:
    """Value → first and last step that names it; inputs from before the first, outputs to after the last.

    A Repeat names its arguments, members and yields too.
    """
    found = {given.value: (-1, -1) for given in program.inputs}
    for entry in flat:
        step = entry.step
        named = [*step.inputs, *step.results]
        if isinstance(step, Repeat):
            named += [*step.arguments, *step.yields, *(member for members in step.iterated for member in members)]
        for value in named:
            first = found[value][0] if value in found else entry.index
            found[value] = (first, entry.index)
    for value in program.outputs:
        if value in found:
            found[value] = (found[value][0], len(flat))
    return found


def _blocks(flat: tuple[FlatStep, ...]) -> dict[int | None, tuple[int, int]]:
    """Operation → its first and last step."""
    found: dict[int | None, tuple[int, int]] = {}
    for entry in flat:
        first = found[entry.step.source][0] if entry.step.source in found else entry.index
        found[entry.step.source] = (first, entry.index)
    return found
