"""Trying swaps. An evaluator holds its own re-planner, so that what one trial lowered serves the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from tileview.analysis.conflict import NOTHING_PROVEN, ConflictFinder, SwapConflict
from tileview.core.cycles.prices import Price
from tileview.core.estimate import estimate, judge_recipe
from tileview.core.estimated import Estimate
from tileview.core.lowering.replanner import Replanner
from tileview.core.memory.assemble import OwnPeak
from tileview.model.recipe import NO_OVERRIDES, Overrides, Recipe
from tileview.model.sizes import Size
from tileview.model.timeline import Peak, Verdict

Swap = tuple[int, int]
"""(operation, index of the alternative swapped in)."""
Swaps = tuple[Swap, ...]


@dataclass(frozen=True, slots=True)
class Trial:
    """What a set of swaps gives. ``peak`` and ``price`` are None where it cannot be lowered; ``error`` then says why.

    ``conflict`` is asked for by the fix search only: operations of which at least one must change for the verdict to
    change, empty where nothing is proven (then every operation may matter). ``own_peaks``: of the operations that are
    swapped (of all where none is), the fullest of their own steps; not given with a conflict.
    """

    swaps: Swaps
    ok: bool
    error: str | None
    peak: Peak | None
    fits: bool | None
    verdict: Verdict
    price: Price | None = None
    conflict: SwapConflict = NOTHING_PROVEN
    own_peaks: Mapping[int, OwnPeak] = field(default_factory=dict)

    @property
    def cycles(self) -> Size | None:
        """The planner's cycles; None where it cannot be lowered."""
        return None if self.price is None else self.price.cycles


def with_swaps(recipe: Recipe, swaps: Iterable[Swap]) -> Recipe:
    """The recipe with alternatives swapped in.

    Raises
    ------
    KeyError
        Where the recipe has no such operation or alternative.
    """
    plans = dict(recipe.plans)
    for operation, index in swaps:
        alternatives = recipe.alternatives.get(operation, ())
        if not 0 <= index < len(alternatives):
            raise KeyError(f"operation {operation} has no alternative {index}")
        plans[operation] = alternatives[index]
    return replace(recipe, plans=plans)


class Evaluator:
    """Evaluates sets of swaps on one recipe, one after another."""

    def __init__(self, recipe: Recipe, overrides: Overrides = NO_OVERRIDES, replanner: Replanner | None = None) -> None:
        self.recipe = recipe
        self.overrides = overrides
        self._replanner = Replanner() if replanner is None else replanner
        self._finder: ConflictFinder | None = None

    @property
    def most_trials(self) -> int | None:
        """:func:`most_trials` after at least one trial was made."""
        return most_trials(self.recipe, self._replanner.size)

    def estimate(self, swaps: Swaps = ()) -> Estimate:
        """The whole estimate with the swaps."""
        return estimate(with_swaps(self.recipe, swaps), self.overrides, self._replanner)

    def trial(self, swaps: Swaps, mark: int | None = None) -> Trial:
        """The outcome of a set of swaps; with its conflict with ``mark``, a total peak in bytes, where one is given."""
        if mark is None:
            outcome = judge_recipe(with_swaps(self.recipe, swaps), self.overrides, self._replanner)
            verdict, peak, own = outcome.verdict, outcome.peak, outcome.own_peaks
            error = verdict.text if peak is None else None
            if swaps:
                own = {operation: own[operation] for operation, _ in swaps if operation in own}
            return Trial(swaps, peak is not None, error, peak, verdict.fits, verdict, outcome.price, own_peaks=own)
        result = self.estimate(swaps)
        timeline, verdict = result.timeline, result.verdict
        if self._finder is None:
            self._finder = ConflictFinder(self.recipe)
        conflict = self._finder.find(with_swaps(self.recipe, swaps), result, mark)
        if timeline is None:
            return Trial(swaps, False, verdict.text, None, False, verdict, None, conflict)
        return Trial(swaps, True, None, timeline.peak, verdict.fits, verdict, result.price, conflict)

    def confirm(self, swaps: Swaps) -> Trial:
        """The same from nothing: nothing lowered before is used."""
        return Evaluator(self.recipe, self.overrides).trial(swaps)


Cancelled = Callable[[], bool]


def never() -> bool:
    """The default of ``cancelled``."""
    return False


_HEAVY_OPERATION = 128
_TRIED_VALUES, _TRIED_VALUES_EACH = 1 << 15, 1 << 11


def most_trials(recipe: Recipe, size: int) -> int | None:
    """How many trials of a recipe are taken on, by an estimate of the work; None where any number is.

    Only programs out of proportion are bounded: those with far more values (``size``) than operations. A trial takes
    time in proportion to the values, so a file may ask for so many values in all, and for more with each alternative.
    """
    if size <= _HEAVY_OPERATION * max(1, len(recipe.plans)):
        return None
    kept = sum(map(len, recipe.alternatives.values()))
    return max(1, (_TRIED_VALUES + _TRIED_VALUES_EACH * kept) // size)


def single_swaps(recipe: Recipe, operations: Iterable[int] | None = None) -> list[Swap]:
    """Every alternative of the operations given (of all), in ascending order, the current ones included."""
    wanted = sorted(recipe.alternatives) if operations is None else sorted(set(operations))
    return [(operation, index) for operation in wanted for index in range(len(recipe.alternatives.get(operation, ())))]


def in_force_indices(recipe: Recipe) -> Mapping[int, frozenset[int]]:
    """Operation → indices of all alternatives that equal the current plan."""
    return {
        operation: frozenset(index for index, plan in enumerate(plans) if plan == recipe.plans.get(operation))
        for operation, plans in recipe.alternatives.items()
    }
