"""The swaps that make a program fit, or that place every tile of it: the fewest, or the most margin.

The search branches over conflict sets (:mod:`tileview.analysis.conflict`): operations of which a program that does
not fit proves that one must change. Whatever is left out is therefore proven not to help, and a search that was not
cut short is exhaustive: it says so. What it proposes was estimated once more from nothing, by a re-planner that has
seen no other trial.

A set of swaps counts only if it fits by the sum; of those that do, it is asked whether the compiler's two orders place
every tile, which stops at the first class that fails. First fit is not monotone, so nothing rules a swap out: beyond
the sets that the search by the sum proves to be the fewest, one more swap of any operation is tried, until a limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from tileview.analysis.conflict import SwapConflict
from tileview.analysis.placement import Placeability, PlacementUnknownError, placeable, program_requests
from tileview.analysis.repair import bad_homes
from tileview.analysis.trials import Cancelled, Evaluator, Swap, Swaps, Trial, never, with_swaps
from tileview.analysis.words import at_start, counted, in_words
from tileview.analysis.workers import Workers
from tileview.core.cycles.words import cycles_between, describe_cycles, percent_between
from tileview.core.estimate import estimate
from tileview.core.fusion.verdict_words import fits_only_fused
from tileview.core.lowering.replanner import Replanner
from tileview.core.placement.outcome import first_failing
from tileview.core.placement.ranges import Preset
from tileview.model.graph import RepeatKind
from tileview.model.recipe import NO_OVERRIDES, Overrides, Recipe
from tileview.model.sizes import U64_MAX, Size, exact_text
from tileview.model.tensor import Format

DEFAULT_LIMIT: Final = 20_000
"""Re-plans after which a search gives up: some minutes on two cores."""

_WAVE: Final = 96
"""Trials between two looks at the best one so far, in the search for margin."""


class Mode(StrEnum):
    """What is best: the fewest swaps (then the lowest total peak), or the lowest total peak (then the fewest swaps)."""

    FEWEST = "fewest changes"
    MARGIN = "most margin"


class Prefer(StrEnum):
    """Which of several fixes with equally few swaps comes first: the lowest total peak, or the fewest cycles."""

    MEMORY = "memory"
    CYCLES = "cycles"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a search is: trials done, trials planned in this round, swaps in this round, the best fix so far."""

    tried: int
    planned: int
    swaps: int
    best: Trial | None


@dataclass(frozen=True, slots=True)
class FixResult:
    """What a search came to.

    ``swaps`` is the proposal (empty where nothing was found, or where nothing has to be swapped); ``after`` its
    outcome, confirmed by a cold re-plan. ``proposals`` are all fixes found with as many swaps, best first, the
    proposal among them. ``homes`` are repaired homes of inputs (graph value id → format), to be applied together with
    the swaps. ``tried`` counts re-plans. ``exhaustive``: nothing better exists within the number of swaps allowed.
    """

    found: bool
    swaps: Swaps
    before: Trial
    after: Trial | None
    proposals: tuple[Trial, ...]
    homes: Mapping[int, Format]
    tried: int
    exhaustive: bool
    text: str
    closest: Trial | None = None
    """Where nothing was found: of the sets tried, the one with the lowest total peak, if that is lower than without."""


def search_fixes(
    recipe: Recipe,
    max_swaps: int = 3,
    mode: Mode = Mode.FEWEST,
    overrides: Overrides = NO_OVERRIDES,
    workers: int = 2,
    limit: int = DEFAULT_LIMIT,
    on_progress: Callable[[Progress], None] | None = None,
    cancelled: Cancelled = never,
    prefer: Prefer = Prefer.MEMORY,
) -> FixResult:
    """Find swaps that make a recipe fit.

    Parameters
    ----------
    max_swaps : int
        At most so many operations are given another plan.
    limit : int
        Re-plans after which the search gives up (then it is not exhaustive); fewer where each is a lot of work.
    on_progress : callable or None
        Told how far the search is, in the calling thread.
    cancelled : callable
        Asked all the time; once true, the best that is known is returned (not exhaustive).
    prefer : Prefer
        What ranks fixes with the fewest swaps; the search for the most margin ranks by memory.
    """
    evaluator = Evaluator(recipe, overrides)
    before = evaluator.trial(())
    limit = min(limit, evaluator.most_trials or limit)
    homes = repaired_homes(recipe, overrides)
    repaired = replace(recipe, inputs={**recipe.inputs, **homes}) if homes else recipe
    with Workers(repaired, overrides, workers) as pool:
        hunt = _Hunt(repaired, overrides, pool, max_swaps, limit, on_progress, cancelled, prefer)
        solutions, base = hunt.fewest() if mode is Mode.FEWEST else hunt.most_margin()
    tried = hunt.tried + 1
    exhaustive = hunt.complete
    for solution in solutions:
        after = Evaluator(repaired, overrides).confirm(solution.swaps)
        tried += 1
        if hunt.fits(after):
            others = tuple(trial for trial in solutions if len(trial.swaps) == len(solution.swaps))
            text = _found_text(before, after, homes, mode, exhaustive, prefer)
            return FixResult(True, solution.swaps, before, after, others, homes, tried, exhaustive, text)
        exhaustive = False
    closest = hunt.closest()
    text = _nothing_text(base, max_swaps, tried, exhaustive, closest)
    return FixResult(False, (), before, None, (), homes, tried, exhaustive, text, closest)


def repaired_homes(recipe: Recipe, overrides: Overrides = NO_OVERRIDES) -> dict[int, Format]:
    """New homes for graph inputs whose fixed one is invalid on the tiles there are: those that the re-planner
    chooses itself.

    Empty where all resolve, and where the re-planner cannot lower the recipe without them either.
    """
    bad = {item.value for item in bad_homes(recipe)}
    if not bad:
        return {}
    kept = {value: home for value, home in recipe.inputs.items() if value not in bad}
    result = estimate(replace(recipe, inputs=kept), overrides)
    return {value: result.homes[value] for value in sorted(bad) if value in result.homes}


@dataclass
class _Hunt:
    """One search: what has been tried, and the way through the levels."""

    recipe: Recipe
    overrides: Overrides
    pool: Workers
    max_swaps: int
    limit: int
    on_progress: Callable[[Progress], None] | None
    cancelled: Cancelled
    prefer: Prefer = Prefer.MEMORY
    tried: int = 0
    complete: bool = True
    known: dict[Swaps, Trial] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.choices = distinct_alternatives(self.recipe)
        self.base = Evaluator(self.recipe, self.overrides).trial((), U64_MAX)
        self.tried += 1
        self.known[()] = self.base
        unplanned = [
            operation.id
            for operation, _ in self.recipe.graph.walk()
            if not isinstance(operation.kind, RepeatKind) and operation.id not in self.recipe.plans
        ]
        curable = any(operation in self.choices for operation in unplanned)
        self.takes_unknown = self.base.verdict.at_least and not curable

    def fits(self, trial: Trial) -> bool:
        """Whether a trial is a fix; where the recipe has operations that are not known and that no swap does away with,
        it need fit only as far as is known."""
        return trial.fits is True or (trial.fits is None and self.takes_unknown)

    # -- fewest swaps ---------------------------------------------------------------------------------------------

    def fewest(self) -> tuple[list[Trial], Trial]:
        """All fixes with the fewest swaps, best first; and the outcome without swaps."""
        if self.fits(self.base):
            return [self.base], self.base
        frontier = [self.base]
        for depth in range(1, self.max_swaps + 1):
            leaves = self._children(frontier, final=True)
            found = [trial for trial in self._evaluate(leaves, depth, U64_MAX) if self.fits(trial)]
            if not self.complete or found or depth == self.max_swaps:
                return sorted(found, key=self._rank), self.base
            inner = self._children(frontier, final=False)
            trials = self._evaluate(inner, depth, U64_MAX)
            found = [trial for trial in trials if self.fits(trial)]
            if not self.complete or found:
                return sorted(found, key=self._rank), self.base
            frontier = trials
        return [], self.base

    # -- most margin ----------------------------------------------------------------------------------------------

    def most_margin(self) -> tuple[list[Trial], Trial]:
        """Fixes by total peak, each better than all with as many swaps before; and the outcome without swaps."""
        fixes = [self.base] if self.fits(self.base) else []
        frontier = [self.base]
        if fixes:
            mark = _total(self.base) - 1
            self.known[()] = Evaluator(self.recipe, self.overrides).trial((), mark)
            self.tried += 1
            frontier = [self.known[()]]
        for depth in range(1, self.max_swaps + 1):
            tasks = self._children(frontier, final=depth == self.max_swaps)
            frontier = []
            for start in range(0, len(tasks), _WAVE):
                mark = min((_total(fix) for fix in fixes), default=U64_MAX) - 1
                trials = self._evaluate(tasks[start : start + _WAVE], depth, mark)
                fixes.extend(trial for trial in trials if self.fits(trial) and _total(trial) <= mark)
                frontier.extend(trials)
                if not self.complete:
                    break
            if not self.complete:
                break
        return sorted(fixes, key=lambda fix: (_total(fix), len(fix.swaps), fix.swaps)), self.base

    # -- trials ---------------------------------------------------------------------------------------------------

    def _children(self, nodes: Iterable[Trial], final: bool) -> list[Swaps]:
        """Every set with one more swap that the nodes' conflicts leave open, each once, those alike together."""
        found: dict[Swaps, None] = {}
        for node in nodes:
            taken = {operation for operation, _ in node.swaps}
            for operation in self._open(node.conflict, final):
                if operation in taken:
                    continue
                for alternative in self.choices.get(operation, ()):
                    found[tuple(sorted((*node.swaps, (operation, alternative))))] = None
        return list(found)

    def _open(self, conflict: SwapConflict, final: bool) -> list[int]:
        operations = conflict.final if final else conflict.branch
        return sorted(self.choices if operations is None else operations)

    def _evaluate(self, tasks: list[Swaps], depth: int, mark: int) -> list[Trial]:
        """The trials of a list of sets, in its order; fewer where the limit is reached or the search is cancelled."""
        new = [task for task in tasks if task not in self.known]
        room = self.limit - self.tried
        if len(new) > room:
            new = new[: max(0, room)]
            self.complete = False
        planned = self.tried + len(new)
        for trials in self.pool.run(new, mark, self.cancelled):
            for trial in trials:
                self.known[trial.swaps] = trial
            self.tried += len(trials)
            if self.on_progress is not None:
                self.on_progress(Progress(self.tried, planned, depth, self._best()))
        if any(task not in self.known for task in new):
            self.complete = False
        return [self.known[task] for task in tasks if task in self.known]

    def closest(self) -> Trial | None:
        """The set with the lowest total peak of all tried, if it is lower than that of the recipe itself."""
        best = min(self.known.values(), key=lambda trial: (_total(trial), len(trial.swaps), trial.swaps))
        return best if _total(best) < _total(self.base) else None

    def _best(self) -> Trial | None:
        fixes = [trial for trial in self.known.values() if trial.swaps and self.fits(trial)]
        return min(fixes, key=lambda fix: (len(fix.swaps), *self._rank(fix)), default=None)

    def _rank(self, trial: Trial) -> tuple[int, int, Swaps]:
        """Total peak, then cycles; the other way round where cycles are preferred."""
        figures = (_total(trial), _cycles(trial))
        return (*(figures if self.prefer is Prefer.MEMORY else figures[::-1]), trial.swaps)


def reordered(result: FixResult, proposals: tuple[Trial, ...], mode: Mode, prefer: Prefer = Prefer.MEMORY) -> FixResult:
    """The same fixes in another order, told of the first of them."""
    first = proposals[0]
    text = _found_text(result.before, first, result.homes, mode, result.exhaustive, prefer)
    return replace(result, swaps=first.swaps, after=first, proposals=proposals, text=text)


def distinct_alternatives(recipe: Recipe) -> dict[int, tuple[int, ...]]:
    """Operation → indices of the alternatives that differ from the current plan and from each other."""
    found: dict[int, tuple[int, ...]] = {}
    known = {operation.id for operation, _ in recipe.graph.walk()}
    for operation in sorted(recipe.alternatives):
        if operation not in known:
            continue
        own = recipe.plans.get(operation)
        seen = set() if own is None else {own}
        indices = []
        for index, plan in enumerate(recipe.alternatives[operation]):
            if plan not in seen:
                seen.add(plan)
                indices.append(index)
        if indices:
            found[operation] = tuple(indices)
    return found


def _total(trial: Trial) -> int:
    size: Size = trial.peak.total if trial.peak is not None else U64_MAX
    return size if isinstance(size, int) else U64_MAX


def _cycles(trial: Trial) -> int:
    return trial.cycles if isinstance(trial.cycles, int) else U64_MAX


def swaps_sentence(swaps: Iterable[Swap]) -> str:
    """``operation 4 to alternative 0 and operation 21 to alternative 0``."""
    return " and ".join(f"operation {operation} to alternative {index}" for operation, index in swaps)


def _found_text(
    before: Trial, after: Trial, homes: Mapping[int, Format], mode: Mode, exhaustive: bool, prefer: Prefer
) -> str:
    parts = []
    if homes:
        parts.append(f"new homes for {len(homes)} inputs whose layouts are invalid")
    if after.swaps:
        parts.append(f"swapping {swaps_sentence(after.swaps)}")
    if not parts and after.fits is None:
        return f"It is not known whether it fits as it is: {after.verdict.text}."
    if not parts:
        return "It fits as it is."
    peak = _total(after)
    change = f"total peak {exact_text(peak)}"
    if before.peak is not None and isinstance(before.peak.total, int):
        change += f" instead of {exact_text(before.peak.total)}"
    saved = cycles_between(before.cycles, after.cycles)
    if saved is not None:
        change += f", planner's cycles {describe_cycles(saved)}{percent_between(before.cycles, after.cycles)}"
    if mode is Mode.FEWEST:
        better = "has a lower peak" if prefer is Prefer.MEMORY else "takes fewer cycles"
        other = f"; no other {in_words(len(after.swaps))}-swap fix {better}" if after.swaps else ""
        proof = f"fewest possible{other}" if exhaustive else "the search was cut short"
    else:
        proof = "no lower peak was left out" if exhaustive else "the search was cut short"
    text = " and ".join(parts)
    if after.fits is None:
        return f"As far as is known it fits after {text}: {change} at least; {proof}."
    fused = " with the compiler's fusions" if fits_only_fused(after.verdict) else ""
    return f"It fits{fused} after {text}: {change}; {proof}."


def _nothing_text(base: Trial, max_swaps: int, tried: int, exhaustive: bool, closest: Trial | None) -> str:
    sets = "single swap" if max_swaps == 1 else f"set of at most {max_swaps} swaps"
    reason = at_start(base.verdict.text).rstrip(".")
    if exhaustive:
        text = f"No {sets} makes it fit; the search was exhaustive ({tried:,} re-plans). {reason}."
    else:
        text = (
            f"No set of swaps that makes it fit was found in {tried:,} re-plans; the search was cut short, so there "
            f"may be one. {reason}."
        )
    if closest is not None:
        text += f" Closest of those tried: {swaps_sentence(closest.swaps)}, total peak {exact_text(_total(closest))}."
    return text


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
        hunt = _PlacedHunt(repaired, preset, overrides, pool, prefer, limit, on_placed, cancelled)
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
        text=_placed_text(best, after, preset, proof),
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


class _PlacedHunt:
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


def _placed_text(best: Trial, after: Trial, preset: Preset, proof: str) -> str:
    what = f"after swapping {swaps_sentence(best.swaps)}" if best.swaps else "as it is"
    fused = " with the compiler's fusions" if fits_only_fused(after.verdict) else ""
    peak = "" if after.peak is None else f": total peak {exact_text(after.peak.total)}"
    return f"It fits{fused} {what}, and every tile is placed in {preset.title}{peak}; {proof}."


def _nothing(
    by_sum: FixResult,
    preset: Preset,
    max_swaps: int,
    hunt: _PlacedHunt,
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
