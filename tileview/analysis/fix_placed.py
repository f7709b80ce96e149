"""The fewest swaps with which every tile is placed in given memory: the sum first, then what the sum leaves open.

A set of swaps counts only if it fits by the sum; of those that do, it is asked whether the compiler's two orders place
every tile, which stops at the first class that fails. First fit is not monotone, so nothing rules a swap out: beyond
the sets that the search by the sum proves to be the fewest, one more swap of any operation is tried until a limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from tileview.analysis.fix import FixResult, Mode, choices, search, swaps_text
from tileview.analysis.placement import Placeability, PlacementUnknownError, placeable, program_requests
from tileview.analysis.trials import Cancelled, Evaluator, Swaps, Trial, never, with_swaps
from tileview.core.lowering.replanner import Replanner
from tileview.core.placement.outcome import first_failing
from tileview.core.placement.ranges import Preset
from tileview.model.placement import Memory
from tileview.model.recipe import NO_OVERRIDES, Overrides, Recipe
from tileview.model.sizes import exact_text

MOST_PLACED = 400
"""Programs that are placed before a search gives up: half a minute for a program of 1,472 tiles."""
_MOST_COUNTED = 12
"""Sets whose tiles that are not placed are counted, for the ranking and where nothing was found."""

OnPlaced = Callable[[int, str], None]
"""Told how many sets were placed, and what is being done."""


@dataclass(frozen=True, slots=True)
class PlacedFix:
    """``result``: as for the sum; ``found`` only where every tile is placed. ``tried``: programs placed. ``left``: by
    set, the tiles that stay without a placement, for those that were counted."""

    result: FixResult
    preset: Preset
    tried: int
    left: tuple[tuple[Swaps, Placeability], ...]


def search_placed(
    recipe: Recipe,
    preset: Preset,
    max_swaps: int = 3,
    overrides: Overrides = NO_OVERRIDES,
    workers: int = 2,
    limit: int = MOST_PLACED,
    on_placed: OnPlaced | None = None,
    cancelled: Cancelled = never,
) -> PlacedFix:
    """Find the fewest swaps that fit by the sum and place every tile in a memory.

    Of sets with equal total peak, those found are ranked by their standard peak; of those that place not every tile,
    by the tiles that are left.
    """
    by_sum = search(recipe, max_swaps, Mode.FEWEST, overrides, workers, cancelled=cancelled)
    if not by_sum.found:
        return PlacedFix(by_sum, preset, 0, ())
    repaired = replace(recipe, inputs={**recipe.inputs, **by_sum.homes})
    hunt = _Hunt(repaired, preset, overrides, limit, on_placed, cancelled)
    level = {trial.swaps: trial for trial in by_sum.proposals}
    complete = by_sum.exhaustive
    depth = len(by_sum.swaps)
    while True:
        placed = [trial for trial in sorted(level.values(), key=_rank) if hunt.placed(trial)]
        complete &= not hunt.cut
        if placed or depth >= max_swaps or hunt.cut or cancelled():
            break
        depth += 1
        complete &= depth <= len(by_sum.swaps) + 1
        level = hunt.extended(level.values())
    if not placed:
        left = hunt.counted(by_sum.proposals)
        return PlacedFix(_nothing(by_sum, preset, max_swaps, hunt, left), preset, hunt.tried, left)
    best = placed[0]
    after = Evaluator(repaired, overrides).confirm(best.swaps)
    return PlacedFix(_found(by_sum, best, after, placed, preset, complete), preset, hunt.tried, ())


class _Hunt:
    """Which sets have been placed so far."""

    def __init__(
        self,
        recipe: Recipe,
        preset: Preset,
        overrides: Overrides,
        limit: int,
        on_placed: OnPlaced | None,
        cancelled: Cancelled,
    ) -> None:
        self.recipe, self.preset, self.overrides = recipe, preset, overrides
        self.limit, self.on_placed, self.cancelled = limit, on_placed, cancelled
        self.tried = 0
        self.cut = False
        self._replanner = Replanner()
        self._evaluator = Evaluator(recipe, overrides)

    def placed(self, trial: Trial) -> bool:
        """Whether the two orders place every tile with a set of swaps; False where the limit is reached."""
        if self.tried >= self.limit or self.cancelled():
            self.cut = True
            return False
        self.tried += 1
        if self.on_placed is not None:
            self.on_placed(self.tried, f"placing {swaps_text(trial.swaps) or 'it as it is'}")
        try:
            requests = program_requests(with_swaps(self.recipe, trial.swaps), self.overrides, self._replanner)
        except PlacementUnknownError:
            return False
        return first_failing(requests, Memory(self.preset.ranges)) is None

    def extended(self, trials: Iterable[Trial]) -> dict[Swaps, Trial]:
        """Every set with one more swap that fits by the sum."""
        found: dict[Swaps, Trial] = {}
        for trial in trials:
            taken = {operation for operation, _ in trial.swaps}
            for operation, alternatives in choices(self.recipe).items():
                for alternative in alternatives if operation not in taken else ():
                    swaps = tuple(sorted((*trial.swaps, (operation, alternative))))
                    if swaps in found or self.cancelled():
                        continue
                    other = self._evaluator.trial(swaps)
                    if other.fits:
                        found[swaps] = other
        return found

    def counted(self, trials: tuple[Trial, ...]) -> tuple[tuple[Swaps, Placeability], ...]:
        """The tiles that the best sets leave without a placement, fewest first."""
        found = []
        for trial in sorted(trials, key=_rank)[:_MOST_COUNTED]:
            if self.cancelled():
                break
            requests = program_requests(with_swaps(self.recipe, trial.swaps), self.overrides, self._replanner)
            found.append((trial, placeable(requests, self.preset)))
        found.sort(key=lambda entry: (entry[1].over + entry[1].not_placed, _rank(entry[0])))
        return tuple((trial.swaps, left) for trial, left in found)


def _rank(trial: Trial) -> tuple[int, int, Swaps]:
    sizes = [] if trial.peak is None else [trial.peak.total, trial.peak.standard]
    total, standard = [size if isinstance(size, int) else 1 << 64 for size in (*sizes, 1 << 64, 1 << 64)][:2]
    return total, standard, trial.swaps


def _found(
    by_sum: FixResult, best: Trial, after: Trial, placed: list[Trial], preset: Preset, complete: bool
) -> FixResult:
    what = f"after swapping {swaps_text(best.swaps)}" if best.swaps else "as it is"
    proof = "fewest possible" if complete or not best.swaps else "fewer swaps may do: the search was cut short"
    peak = "" if after.peak is None else f": total peak {exact_text(after.peak.total)}"
    text = f"It fits {what}, and every tile is placed in {preset.title}{peak}; {proof}."
    return replace(
        by_sum,
        found=after.fits is True,
        swaps=best.swaps,
        after=after,
        proposals=tuple(placed),
        exhaustive=complete,
        text=text,
    )


def _nothing(
    by_sum: FixResult,
    preset: Preset,
    max_swaps: int,
    hunt: _Hunt,
    left: tuple[tuple[Swaps, Placeability], ...],
) -> FixResult:
    cut = "the search was cut short" if hunt.cut else "sets that differ in more from those that fit were not tried"
    text = (
        f"No set of at most {max_swaps} swaps was found with which every tile is placed in {preset.title}: "
        f"{hunt.tried:,} that fit by the sum were placed; {cut}."
    )
    if left:
        swaps, worst = left[0]
        missing = worst.not_placed + worst.over
        text += f" Closest: {swaps_text(swaps) or 'no swap'}, {missing:,} tiles not placed."
    return replace(by_sum, found=False, swaps=(), after=None, proposals=(), exhaustive=False, text=text)
