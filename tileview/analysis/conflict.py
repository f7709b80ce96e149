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
- What a step of operation q reads, writes and needs as scratch, where the step is no Copy and no Cast: q's plan
alone, because
  plans bring their operands to types of their own first. Exceptions are plans that take an operand as it comes
  (output-stationary products and scalar attention with ``DispatchSlices``): there the neighbours of q count too.
- What was made before q's steps and is read after them: the operations that touch its class. q runs at least one step
that is no
  Copy, so no composition of copies reaches across it.
- Anything else at a step of q: whatever touches a class that q touches, or an operand class of a reader of q's results.
- Rounding up to memory elements, and an access tail: the operations that touch any class of the allocation.
- Two allocations may come to share memory by in-place plans in a row: where counted classes are linked by operations
that may work
  in place, all operations along the links count.
- Views and Slices with a choice of plans always count.
- Where the compiler's fusions are looked for, the composed program is looked at, and what a fusion could take away
  counts nothing (:mod:`tileview.analysis.fusable`): then both programs break the limit.

Nothing is proven (None) where homes are still to be chosen, or where operations are not known.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from tileview.analysis.fusable import FusableOperations
from tileview.analysis.influence import Influence, Operations
from tileview.analysis.moments import Item, Moments
from tileview.core.estimate import Estimate
from tileview.core.fusion.stand import Reason
from tileview.core.memory.estimate import measure
from tileview.model.recipe import Recipe


class Conflict(NamedTuple):
    """What a program that misses its mark proves about sets of swaps.

    ``branch``: at least one of these operations is in every set that reaches the mark. ``final``: if one more swap
    does it, then that of one of these. Empty where nothing can help, None where nothing is proven.
    """

    branch: Operations | None
    final: Operations | None


NOTHING_PROVEN: Final = Conflict(None, None)


class ConflictFinder:
    """Conflicts for states of one graph and one set of alternatives; what depends on these alone is kept."""

    def __init__(self, recipe: Recipe) -> None:
        self._influence = Influence(recipe)
        self._fusable = FusableOperations(recipe)

    def find(self, recipe: Recipe, estimate: Estimate, mark: int | None = None) -> Conflict:
        """The conflict of a recipe with the mark it misses.

        Parameters
        ----------
        recipe : Recipe
            What is in force: the same graph, homes, boundaries and alternatives, possibly other plans.
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
        return Conflict(branch, final)

    def _refused(self, operation: int | None) -> Conflict:
        """A plan is refused for what it asks and for the formats of its operands."""
        if operation is None or not self._influence.knows(operation):
            return NOTHING_PROVEN
        found = self._influence.around(operation) | self._influence.always
        return Conflict(found, found)

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
