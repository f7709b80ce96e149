"""What another plan would really do to the place that overflows: measured by re-planning, operation by operation.

The peak of the whole program hardly tells: where two places are over the budget, curing one of them changes the peak
little or not at all. So each operation that has something at the place of the verdict is looked at alone: what is the
most that a tile holds during its own steps, now and with each of its alternatives.

How much smaller an allocation could be if the operation that makes it used another of its plans.

This looks at formats only, without re-planning: for the result of an operation it is the output that each alternative
asks for, for an operand brought to a requirement the operand's format in each alternative. It is what the tables show
at once; what a swap really does to the peak is known when it has been evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tileview.analysis.loads import PeakPlace
from tileview.core.fusion.verdict_words import fits_only_fused
from tileview.core.geometry.resolve import LayoutError, resolve
from tileview.model.config import INTERLEAVED_ELEMENT_BYTES, STANDARD_ELEMENT_BYTES
from tileview.model.recipe import NO_OVERRIDES, Overrides, Recipe
from tileview.model.sizes import LARGEST_LIMIT_BYTES, UNAVAILABLE, Size, Unavailable
from tileview.model.tensor import Format, MemoryClass
from tileview.model.timeline import Cause, Peak, Timeline, TimelineValue, Verdict, steps_of_operation

if TYPE_CHECKING:
    from tileview.analysis.trials import Evaluator
    from tileview.core.cycles.prices import Price
    from tileview.core.lowering.replanner import Replanner
    from tileview.model.graph import Operation
    from tileview.model.plan import Plan


@dataclass(frozen=True, slots=True)
class Cure:
    """Swaps made together, measured: ``fits`` is None where it is not known, ``spare`` are bytes. ``only_fused``: it
    fits with the compiler's fusions alone."""

    swaps: tuple[tuple[int, int], ...]
    fits: bool | None
    spare: Size
    only_fused: bool = False


DEFAULT_LIMIT = 60
"""Alternatives that are re-planned at most: about a second."""

_COLUMNS = {Cause.INTERLEAVED: 1, Cause.CONTIGUOUS: 0}
"""Column of ``TileNumbers.worst`` that a limit looks at; the total by default."""


@dataclass(frozen=True, slots=True)
class Relief:
    """The best alternative of an operation for its own steps.

    ``now`` and ``then``: the most bytes a tile holds during the operation's steps, of the class that the limit looks
    at. ``fits``: whether the whole program fits with this one swap, ``only_fused``: with the compiler's fusions only;
    ``spare``: the bytes that are then left.
    """

    operation: int
    alternative: int
    now: int
    then: int
    fits: bool | None
    only_fused: bool = False
    spare: Size = UNAVAILABLE

    @property
    def saved(self) -> int:
        return self.now - self.then


def makers(timeline: Timeline, place: PeakPlace) -> tuple[int, ...]:
    """The operations that make what is no input at a place, that of the step itself first."""
    step = timeline.steps[place.step]
    there = [root for root in step.live if root in timeline.made_at and timeline.tiles.allocation(root)[place.tile]]
    found = [step.source, *map(timeline.maker, there)]
    return tuple(dict.fromkeys(operation for operation in found if operation is not None))


def fullest(timeline: Timeline, operation: int, column: int = 2) -> int | None:
    """The most bytes a tile holds during an operation's steps; None where it has none.

    ``column`` as in ``TileNumbers.worst``: 0 standard, 1 interleaved, 2 total.
    """
    worst = timeline.tiles.worst()
    sizes = [int(worst[step.index, column]) for step in steps_of_operation(timeline, operation)]
    return max(sizes, default=None)


def reliefs(
    recipe: Recipe,
    timeline: Timeline,
    cause: Cause,
    operations: Iterable[int],
    overrides: Overrides = NO_OVERRIDES,
    replanner: Replanner | None = None,
    limit: int = DEFAULT_LIMIT,
    check: Callable[[], object] = bool,
) -> tuple[Relief, ...]:
    """The best alternative of each operation, those that save most on the operation's own steps first.

    Of alternatives with which the program fits it is the one that a search for a fix would name first.

    Parameters
    ----------
    timeline : Timeline
        The estimate of ``recipe``.
    cause : Cause
        The verdict's: decides which class of bytes counts.
    operations : iterable of int
        Those to be tried, in order; see :func:`makers`.
    limit : int
        Alternatives that are re-planned at most.
    check : callable
        Called before each of them; may raise to give up, the exception passes through.
    """
    column = _COLUMNS.get(cause, 2)
    from tileview.analysis.trials import Evaluator  # most files fit, and are told of without a trial

    evaluator = Evaluator(recipe, overrides, replanner)
    found = []
    tried = 0
    for operation in operations:
        now = fullest(timeline, operation, column)
        best: tuple[tuple[int, ...], Relief] | None = None
        for index, plan in enumerate(recipe.alternatives.get(operation, ())):
            if plan == recipe.plans.get(operation) or now is None:
                continue
            if tried >= limit:
                break
            tried += 1
            check()
            then, verdict, peak, price = _tried(evaluator, operation, index, column)
            if then is None or then >= now:
                continue
            rank = _rank(then, verdict, peak, price)
            if best is None or rank < best[0]:
                known = verdict.fits, fits_only_fused(verdict), _spare(verdict)
                best = rank, Relief(operation, index, now, then, *known)
        if best is not None:
            found.append(best[1])
    return tuple(sorted(found, key=lambda relief: (-relief.saved, relief.operation)))


def _tried(
    evaluator: Evaluator, operation: int, index: int, column: int
) -> tuple[int | None, Verdict, Peak | None, Price | None]:
    """The most that a tile holds during an operation's steps with another of its plans, None where that is not known;
    verdict, peak and price of the program then. Of the total, judging is enough; the classes need the timeline."""
    if column == 2:
        trial = evaluator.trial(((operation, index),))
        own = trial.own_peaks.get(operation)
        then = None if own is None or isinstance(own.total, Unavailable) else own.total
        return then, trial.verdict, trial.peak, trial.price
    changed = evaluator.estimate(((operation, index),))
    timeline = changed.timeline
    if timeline is None:
        return None, changed.verdict, None, None
    return fullest(timeline, operation, column), changed.verdict, timeline.peak, changed.price


def _spare(verdict: Verdict) -> Size:
    short = verdict.short_bytes
    return UNAVAILABLE if isinstance(short, Unavailable) or not verdict.fits else -short


def _rank(then: int, verdict: Verdict, peak: Peak | None, price: Price | None) -> tuple[int, ...]:
    """What is better comes first: alternatives with which the program fits, by total peak and planner's cycles as a
    search for a fix ranks them; then the others, by what the operation's own steps hold."""
    if not verdict.fits or peak is None:
        return 1, then
    cycles = None if price is None else price.cycles
    return (
        0,
        peak.total if isinstance(peak.total, int) else LARGEST_LIMIT_BYTES,
        cycles if isinstance(cycles, int) else LARGEST_LIMIT_BYTES,
    )


def cure(
    recipe: Recipe,
    found: Sequence[Relief],
    at_fault: Sequence[int],
    overrides: Overrides = NO_OVERRIDES,
    replanner: Replanner | None = None,
) -> Cure | None:
    """The best alternatives of the operations at fault, swapped in together; None where none has a better one.

    ``at_fault``: operations, the worst overflow's first. The fewest that fit: a single relief that does it alone before
    all of them together.
    """
    alone = next((relief for relief in found if relief.fits), None)
    chosen = [alone] if alone is not None else [relief for relief in found if relief.operation in at_fault] or found[:1]
    if not chosen:
        return None
    place = {operation: number for number, operation in reversed(list(enumerate(at_fault)))}
    chosen = sorted(chosen, key=lambda relief: place.get(relief.operation, len(place)))
    swaps = tuple((relief.operation, relief.alternative) for relief in chosen)
    if len(chosen) == 1:
        return Cure(swaps, chosen[0].fits, chosen[0].spare, chosen[0].only_fused)
    from tileview.analysis.trials import Evaluator

    verdict = Evaluator(recipe, overrides, replanner).trial(swaps).verdict
    return Cure(swaps, verdict.fits, _spare(verdict), fits_only_fused(verdict))


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
