"""What each alternative would give, swapped in alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tileview.analysis.trials import (
    Cancelled,
    Evaluator,
    Swap,
    Swaps,
    Trial,
    in_force_indices,
    never,
    single_swaps,
)
from tileview.core.cycles.prices import Price
from tileview.core.cycles.words import cycles_between
from tileview.core.lowering.replanner import Replanner
from tileview.core.memory.assemble import OwnPeak
from tileview.errors import WorkError
from tileview.model.recipe import NO_OVERRIDES, Overrides, Recipe
from tileview.model.timeline import Peak, Verdict


@dataclass(frozen=True, slots=True)
class AlternativeResult:
    """One alternative of one operation, evaluated against the current recipe.

    ``ok`` False means that it cannot be lowered, ``error`` says why; then ``peak`` and ``delta_total`` are None.
    ``delta_total`` is the change of the total peak in bytes against the current recipe (negative: better),
    ``delta_cycles`` that of the planner's cycles; None where either is unavailable. ``own_peak`` is the fullest of the
    operation's own steps: a cure shows there even where another operation's step keeps the total peak up.
    """

    operation: int
    alternative: int
    in_force: bool
    ok: bool
    error: str | None
    peak: Peak | None
    fits: bool | None
    delta_total: int | None
    verdict: Verdict | None = None
    price: Price | None = None
    delta_cycles: int | None = None
    own_peak: OwnPeak | None = None


def evaluate_alternative(
    recipe: Recipe,
    operation: int,
    alternative: int,
    replanner: Replanner | None = None,
    overrides: Overrides = NO_OVERRIDES,
    baseline: Trial | None = None,
) -> AlternativeResult:
    """Swap one alternative in alone and estimate.

    Parameters
    ----------
    recipe : Recipe
        The current choices: what the difference is measured against.
    replanner : Replanner or None
        Keeps what earlier evaluations of the same recipe lowered.
    baseline : Trial or None
        The outcome of the recipe itself, where it is known already (:meth:`Evaluator.trial` of no swaps).

    Raises
    ------
    KeyError
        Where the recipe has no such operation or alternative.
    """
    plans = recipe.alternatives.get(operation, ())
    if not 0 <= alternative < len(plans):
        raise KeyError(f"operation {operation} has no alternative {alternative}")
    evaluator = Evaluator(recipe, overrides, replanner)
    before = evaluator.trial(()) if baseline is None else baseline
    in_force = plans[alternative] == recipe.plans.get(operation)
    trial = before if in_force else evaluator.trial(((operation, alternative),))
    return _result((operation, alternative), trial, before, recipe.in_force(operation) == alternative)


def evaluate_all(
    recipe: Recipe,
    operations: Iterable[int] | None = None,
    workers: int = 2,
    on_results: Callable[[list[AlternativeResult]], None] | None = None,
    cancelled: Cancelled = never,
    overrides: Overrides = NO_OVERRIDES,
) -> tuple[AlternativeResult, ...]:
    """Evaluate every alternative of the operations given (of all), each swapped in alone.

    Parameters
    ----------
    workers : int
        Worker processes; 1 evaluates in this process.
    on_results : callable or None
        Called with some results at a time, as they come in, in the calling thread.
    cancelled : callable
        Asked all the time; once true, the search ends and what is known so far is returned.

    Raises
    ------
    WorkError
        Where that is too much work for the file.

    Returns
    -------
    tuple of AlternativeResult
        Ascending by operation and alternative, whatever the order in which they came in.
    """
    from tileview.analysis.workers import Workers  # with pools of processes: large, and wanted here alone

    swaps = single_swaps(recipe, operations)
    if not swaps:
        return ()
    evaluator = Evaluator(recipe, overrides)
    before = evaluator.trial(())
    most = evaluator.most_trials
    if most is not None and len(swaps) > most:
        raise WorkError(
            f"{len(swaps):,} alternatives of so large a program are more than TileView tries at once ({most:,}); name "
            "some operations"
        )
    same = in_force_indices(recipe)
    found: dict[Swap, AlternativeResult] = {}

    def take(results: list[AlternativeResult]) -> None:
        found.update(((result.operation, result.alternative), result) for result in results)
        if on_results is not None and results:
            on_results(results)

    def result_of(swap: Swap, trial: Trial) -> AlternativeResult:
        return _result(swap, trial, before, recipe.in_force(swap[0]) == swap[1])

    take([result_of(swap, before) for swap in swaps if swap[1] in same[swap[0]]])
    tasks: list[Swaps] = [(swap,) for swap in swaps if swap not in found]
    with Workers(recipe, overrides, workers) as pool:
        for trials in pool.run(tasks, cancelled=cancelled):
            take([result_of(trial.swaps[0], trial) for trial in trials])
    return tuple(found[swap] for swap in swaps if swap in found)


def _result(swap: Swap, trial: Trial, before: Trial, in_force: bool) -> AlternativeResult:
    delta: int | None = None
    if trial.peak is not None and before.peak is not None:
        now, then = trial.peak.total, before.peak.total
        delta = now - then if isinstance(now, int) and isinstance(then, int) else None
    cycles = cycles_between(before.cycles, trial.cycles)
    found = (
        trial.ok,
        trial.error,
        trial.peak,
        trial.fits,
        delta,
        trial.verdict,
        trial.price,
        cycles,
        trial.own_peaks.get(swap[0]),
    )
    return AlternativeResult(swap[0], swap[1], in_force, *found)


def ranked(results: Iterable[AlternativeResult]) -> list[AlternativeResult]:
    """Best first: those that fit, that may, that do not; then by total peak, operation and alternative; refused ones
    last."""

    def key(result: AlternativeResult) -> tuple[bool, int, bool, int, int, int]:
        total = None if result.peak is None else result.peak.total
        known = isinstance(total, int)
        return (
            not result.ok,
            1 if result.fits is None else 0 if result.fits else 2,
            not known,
            total if isinstance(total, int) else 0,
            result.operation,
            result.alternative,
        )

    return sorted(results, key=key)


def evaluation_order(
    operations: Iterable[int], shown: Iterable[int] = (), at_fault: Iterable[int] = ()
) -> tuple[int, ...]:
    """Operations in the order in which their alternatives are worth evaluating: those on the screen, those that hold
    memory where the verdict is decided, then the others as they come.
    """
    wanted = tuple(operations)
    known = frozenset(wanted)
    first = [operation for operation in (*shown, *at_fault) if operation in known]
    return tuple(dict.fromkeys((*first, *wanted)))


_SURE_AFTER_SECONDS, _SURE_AFTER = 2.0, 16


def seconds_left(done: int, total: int, spent: float) -> float | None:
    """How long the rest of an evaluation will take, from what the first part took; None while that says too little."""
    if done < _SURE_AFTER or spent < _SURE_AFTER_SECONDS or total <= done:
        return None
    return spent / done * (total - done)


def time_left_text(seconds: float | None) -> str:
    """``about 12 min left``; empty where it is not known, and for the last few seconds."""
    if seconds is None or seconds < 5:
        return ""
    if seconds < 90:
        return f"about {round(seconds / 5) * 5} s left"
    minutes = round(seconds / 60)
    return f"about {minutes} min left" if minutes < 90 else f"about {minutes / 60:.1f} h left"
