"""The fewest swaps with which every tile is placed in given memory: the sum first, then what the sum leaves open.

A set of swaps counts only if it fits by the sum; of those that do, it is asked whether the compiler's two orders place
every tile, which stops at the first class that fails. First fit is not monotone, so nothing rules a swap out: beyond
the sets that the search by the sum proves to be the fewest, one more swap of any operation is tried, until a limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from tileview.analysis.fix import (
    FixResult,
    Mode,
    Prefer,
    distinct_alternatives,
    reordered,
    search_fixes,
    swaps_sentence,
)
from tileview.analysis.placement import Placeability, PlacementUnknownError, placeable, program_requests
from tileview.analysis.trials import Cancelled, Evaluator, Swaps, Trial, never, with_swaps
from tileview.analysis.words import counted
from tileview.analysis.workers import Workers
from tileview.core.fusion.verdict_words import fits_only_fused
from tileview.core.lowering.replanner import Replanner
from tileview.core.placement.outcome import first_failing
from tileview.core.placement.ranges import Preset
from tileview.model.recipe import NO_OVERRIDES, Overrides, Recipe
from tileview.model.sizes import Size, exact_text

MOST_PLACED = 300
"""Programs that are placed before a search gives up: about half a minute for a program of 1,472 tiles."""
MOST_TRIALS = 600
"""Sets beyond the fewest that fit whose sum is looked at."""
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
    prefer: Prefer = Prefer.MEMORY,
) -> PlacedFix:
    """Find the fewest swaps that fit by the sum and place every tile in a memory.

    Of those found the first has the lowest total peak, then the fewest cycles, then the lowest standard peak; where
    cycles are preferred these come first. At most ``limit`` programs are placed, the best by that order first.
    """
    by_sum = search_fixes(recipe, max_swaps, Mode.FEWEST, overrides, workers, cancelled=cancelled)
    if not by_sum.found:
        return PlacedFix(by_sum, preset, 0, ())
    repaired = replace(recipe, inputs={**recipe.inputs, **by_sum.homes})
    with Workers(repaired, overrides, workers) as pool:
        hunt = _Hunt(repaired, preset, overrides, pool, prefer, limit, on_placed, cancelled)
        level: tuple[Trial, ...] = by_sum.proposals
        fewest = depth = len(by_sum.swaps)
        while True:
            placed = hunt.level(depth, level)
            if placed or depth >= max_swaps or hunt.cut:
                break
            depth += 1
            level = hunt.extended(level, depth)
    # every set of one swap more than none holds the empty set; larger ones need not hold a set that fits
    whole = fewest + (not fewest) if by_sum.exhaustive else -1
    if not placed:
        left = hunt.counted(by_sum.proposals)
        return PlacedFix(_nothing(by_sum, preset, max_swaps, hunt, left), preset, hunt.tried, left)
    best = placed[0]
    after = Evaluator(repaired, overrides).confirm(best.swaps)
    proof = "fewest possible" if depth <= whole + 1 else "fewer swaps may be enough: not every set was tried"
    if depth > whole or hunt.cut:
        proof += f"; not every set of {counted(depth, 'swap')} was tried"
    found = replace(
        by_sum,
        found=after.fits is True,
        swaps=best.swaps,
        after=after,
        proposals=tuple(placed),
        exhaustive=depth <= whole and not hunt.cut,
        text=_found_text(best, after, preset, proof),
    )
    return PlacedFix(found, preset, hunt.tried, ())


@dataclass(frozen=True, slots=True)
class RankedFix:
    """A fix whose proposals of equal peak are ranked further; ``why`` says in a sentence why the first is first, empty
    where it stands alone. ``left``: the tiles without a placement, of those that were counted."""

    result: FixResult
    why: str
    left: tuple[tuple[Swaps, Placeability], ...]


def rank_equal(
    recipe: Recipe,
    result: FixResult,
    preset: Preset,
    mode: Mode,
    overrides: Overrides = NO_OVERRIDES,
    prefer: Prefer = Prefer.MEMORY,
    cancelled: Cancelled = never,
) -> RankedFix:
    """Rank the best proposals that have one total peak by tiles not placed, then cycles, then standard peak.

    Where cycles are preferred those with the fewest cycles are of equal rank instead, and are told apart by the rest.
    At most twelve are placed; where the search is cancelled none.
    """
    proposals = result.proposals
    if not proposals or not result.found:
        return RankedFix(result, "", ())
    best = proposals[0]
    equal = [trial for trial in proposals if _alike(trial, best, prefer)][:_MOST_COUNTED]
    repaired = replace(recipe, inputs={**recipe.inputs, **result.homes})
    replanner, left = Replanner(), {}
    for trial in equal if len(equal) > 1 else ():
        if cancelled():
            return RankedFix(result, "", ())
        try:
            requests = program_requests(with_swaps(repaired, trial.swaps), overrides, replanner)
            left[trial.swaps] = placeable(requests, preset, cancelled)
        except PlacementUnknownError:
            continue
    if len(equal) < 2 or cancelled():
        return RankedFix(result, "", ())

    def figures(trial: Trial) -> tuple[int, int, int]:
        found = left.get(trial.swaps)
        missing = 1 << 64 if found is None else found.not_placed + found.over
        return missing, _size(trial.cycles), _size(trial.peak.standard if trial.peak is not None else None)

    equal.sort(key=lambda trial: (figures(trial), trial.swaps))
    others = tuple(trial for trial in proposals if trial not in equal)
    ranked = reordered(result, (*equal, *others), mode, prefer)
    why = _why_first(figures(equal[0]), figures(equal[1]), len(equal), preset, prefer)
    return RankedFix(ranked, why, tuple(left.items()))


def _alike(trial: Trial, best: Trial, prefer: Prefer) -> bool:
    if len(trial.swaps) != len(best.swaps) or _rank(trial)[0] != _rank(best)[0]:
        return False
    return prefer is Prefer.MEMORY or _size(trial.cycles) == _size(best.cycles)


def _size(size: Size | None) -> int:
    return size if isinstance(size, int) else 1 << 64


def _why_first(
    first: tuple[int, int, int], second: tuple[int, int, int], count: int, preset: Preset, prefer: Prefer
) -> str:
    same = "total peak" if prefer is Prefer.MEMORY else "total peak and cycles"
    head = f"{count:,} proposals have the same {same}; the first is listed first because"
    if first[0] != second[0]:
        left = "every tile is placed" if not first[0] else f"{first[0]:,} tiles are not placed"
        more = "an unknown number" if second[0] >= 1 << 64 else f"{second[0]:,}"
        return f"{head} {left} in {preset.title}, with the next {more} {'is' if second[0] == 1 else 'are'} not."
    if first[1] != second[1]:
        return f"{head} it takes the fewest planner's cycles of those with as few tiles not placed."
    if first[2] != second[2]:
        return f"{head} its standard peak is the lowest: {exact_text(first[2])}."
    return f"{count:,} proposals are equal in all that is compared; they are in the order of their operations."


class _Hunt:
    """What has been tried so far, in ``told`` by the number of swaps; ``cut`` once a limit left something out."""

    def __init__(
        self,
        recipe: Recipe,
        preset: Preset,
        overrides: Overrides,
        pool: Workers,
        prefer: Prefer,
        limit: int,
        on_placed: OnPlaced | None,
        cancelled: Cancelled,
    ) -> None:
        self.recipe, self.preset, self.overrides, self.pool, self.prefer = recipe, preset, overrides, pool, prefer
        self.limit, self.on_placed, self.cancelled = limit, on_placed, cancelled
        self.tried = self.trials = 0
        self.cut = False
        self.told: list[str] = []
        self._replanner = Replanner()
        self._tile = 0

    def level(self, depth: int, trials: Iterable[Trial]) -> list[Trial]:
        """Those of the sets with ``depth`` swaps that place every tile, the best first."""
        ranked = sorted(trials, key=lambda trial: _rank(trial, self.prefer))
        room = max(0, self.limit - self.tried)
        self.cut |= len(ranked) > room
        before = self.tried
        placed = [trial for trial in ranked[:room] if not self.cancelled() and self._is_placed(trial)]
        self.cut |= self.cancelled()
        sets = f"{self.tried - before:,} of {counted(len(ranked), 'set')} of {counted(depth, 'swap')}"
        self.told.append(f"{sets} that fit by the sum" if depth else "it as it is")
        return placed

    def _is_placed(self, trial: Trial) -> bool:
        self.tried += 1
        if self.on_placed is not None:
            self.on_placed(self.tried, f"placing {swaps_sentence(trial.swaps) or 'it as it is'}")
        try:
            requests = program_requests(with_swaps(self.recipe, trial.swaps), self.overrides, self._replanner)
        except PlacementUnknownError:
            return False
        begin = requests.classes.index(requests.class_of(self._tile))
        failing = first_failing(requests, self.preset.memory, begin)
        if failing is not None:
            self._tile = requests.classes[failing].tiles[0]  # what fails in one set often fails in the next
        return failing is None

    def extended(self, trials: Iterable[Trial], depth: int) -> tuple[Trial, ...]:
        """The sets with one more swap that fit by the sum, from the best on until the limit."""
        found: dict[Swaps, None] = {}
        for trial in sorted(trials, key=lambda trial: _rank(trial, self.prefer)):
            taken = {operation for operation, _ in trial.swaps}
            for operation, alternatives in distinct_alternatives(self.recipe).items():
                for alternative in alternatives if operation not in taken else ():
                    found[tuple(sorted((*trial.swaps, (operation, alternative))))] = None
        tasks = list(found)[: max(0, MOST_TRIALS - self.trials)]
        self.cut |= len(tasks) < len(found)
        if self.on_placed is not None:
            self.on_placed(self.tried, f"looking at the sum of {len(tasks):,} sets of {depth} swaps")
        self.trials += len(tasks)
        return tuple(other for others in self.pool.run(tasks, None, self.cancelled) for other in others if other.fits)

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


def _rank(trial: Trial, prefer: Prefer = Prefer.MEMORY) -> tuple[int, int, int, Swaps]:
    """Total peak, cycles, standard peak; cycles first where they are preferred."""
    total, standard = (None, None) if trial.peak is None else (trial.peak.total, trial.peak.standard)
    figures = (_size(total), _size(trial.cycles))
    first, second = figures if prefer is Prefer.MEMORY else figures[::-1]
    return first, second, _size(standard), trial.swaps


def _found_text(best: Trial, after: Trial, preset: Preset, proof: str) -> str:
    what = f"after swapping {swaps_sentence(best.swaps)}" if best.swaps else "as it is"
    fused = " with the compiler's fusions" if fits_only_fused(after.verdict) else ""
    peak = "" if after.peak is None else f": total peak {exact_text(after.peak.total)}"
    return f"It fits{fused} {what}, and every tile is placed in {preset.title}{peak}; {proof}."


def _nothing(
    by_sum: FixResult,
    preset: Preset,
    max_swaps: int,
    hunt: _Hunt,
    left: tuple[tuple[Swaps, Placeability], ...],
) -> FixResult:
    if hunt.cancelled():
        cut = "the search was stopped"
    elif hunt.cut:
        cut = f"the search ends at {hunt.limit:,} programs placed and {MOST_TRIALS:,} more sets whose sum is looked at"
    else:
        cut = "larger sets of which no part fits were not tried"
    text = (
        f"No set of at most {max_swaps} swaps was found with which every tile is placed in {preset.title}: "
        f"{hunt.tried:,} programs were placed ({', '.join(hunt.told)}); {cut}. That is no proof that there is none."
    )
    if left:
        swaps, worst = left[0]
        missing = worst.not_placed + worst.over
        text += f" Closest: {swaps_sentence(swaps) or 'no swap'}, {missing:,} tiles not placed."
    return replace(by_sum, found=False, swaps=(), after=None, proposals=(), exhaustive=False, text=text)
