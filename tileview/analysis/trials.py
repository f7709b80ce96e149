"""Trying swaps: one evaluator in this process, or several in worker processes that answer as they get done.

Each evaluator holds its own re-planner, so that what one trial lowered serves the next. Workers are started fresh (no
forked state, no shell), ignore Ctrl+C, which is their parent's to handle, and end by themselves when the parent is
gone.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import TracebackType

from tileview.analysis.conflict import NOTHING_PROVEN, Conflict, ConflictFinder
from tileview.collecting import collect_seldom
from tileview.core.cycles.prices import Price
from tileview.core.estimate import Estimate, estimate, judge
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
    conflict: Conflict = NOTHING_PROVEN
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
            outcome = judge(with_swaps(self.recipe, swaps), self.overrides, self._replanner)
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
        """The same from nothing: nothing lowered before is used. The verdict tells if it hangs on fusions."""
        fresh = Evaluator(self.recipe, self.overrides)
        trial = fresh.trial(swaps)
        return replace(trial, verdict=fresh.estimate(swaps).verdict) if trial.fits else trial


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


_WORTH_WORKERS = 15
"""On two cores, workers that start with nothing known overtake one process that goes on only after four or five
seconds."""


class Workers:
    """Runs trials in parallel; a context manager. With one worker, or where none can be started, in this process.

    Starting workers takes as long as some dozens of trials: they are started only where the trials of the first
    ``patience`` seconds, made in this process, foretell that the rest would take some fifteen times as long.
    """

    def __init__(
        self, recipe: Recipe, overrides: Overrides = NO_OVERRIDES, workers: int = 2, patience: float = 0.3
    ) -> None:
        self._own = Evaluator(recipe, overrides)
        self._count = max(1, workers)
        self._patience = patience
        self._pool: ProcessPoolExecutor | None = None
        self._handed = b""

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the worker processes; what they were doing is dropped."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None

    def run(
        self, tasks: Sequence[Swaps], mark: int | None = None, cancelled: Cancelled = never, chunk: int = 8
    ) -> Iterator[list[Trial]]:
        """Evaluate sets of swaps; yields lists of results as they get done, in no particular order.

        Neighbours in ``tasks`` go to the same worker: put those that have much in common beside each other. Ends
        early, without an error, as soon as ``cancelled()`` is true.
        """
        done = 0
        if self._count > 1 and self._pool is None:
            start = time.monotonic()
            while done < len(tasks) and time.monotonic() - start < self._patience and not cancelled():
                yield [self._own.trial(tasks[done], mark)]
                done += 1
            spent = time.monotonic() - start
            if done and spent / done * (len(tasks) - done) < _WORTH_WORKERS * self._patience:
                yield from self._run_here(tasks[done:], mark, cancelled)
                return
        tasks = tasks[done:]
        if self._count == 1 or len(tasks) < 2 * chunk:
            yield from self._run_here(tasks, mark, cancelled)
            return
        chunks = [tuple(tasks[start : start + chunk]) for start in range(0, len(tasks), chunk)]
        waiting: dict[Future[list[Trial]], tuple[Swaps, ...]] = {}
        position = 0
        try:
            while (position < len(chunks) or waiting) and not cancelled():
                while position < len(chunks) and len(waiting) < 2 * self._count:
                    with interrupts_held():
                        future = self._workers().submit(_trials, self._handed, chunks[position], mark)
                    waiting[future] = chunks[position]
                    position += 1
                finished, _ = wait(waiting, timeout=0.1, return_when=FIRST_COMPLETED)
                for future in finished:
                    found = future.result()
                    del waiting[future]
                    yield found
        except (BrokenProcessPool, OSError):  # the latter where one dies while another is being started
            self._pool = None
            self._count = 1
            left = [task for part in (*waiting.values(), *chunks[position:]) for task in part]
            yield from self._run_here(left, mark, cancelled)
        finally:
            for future in waiting:
                future.cancel()

    def _run_here(self, tasks: Sequence[Swaps], mark: int | None, cancelled: Cancelled) -> Iterator[list[Trial]]:
        for task in tasks:
            if cancelled():
                return
            yield [self._own.trial(task, mark)]

    def _workers(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._handed = pickle.dumps((self._own.recipe, self._own.overrides), pickle.HIGHEST_PROTOCOL)
            spawn = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self._count, mp_context=spawn, initializer=_start)
        return self._pool


_ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Keep Ctrl+C and requests to terminate back while a process may be started: an interrupted start would leave half
    a worker, complaining.

    Workers inherit the mask and never see Ctrl+C. The mask alone does not hold it back here: the system may hand the
    signal to any other thread (numpy's have no mask), and Python then runs its handler in this one; so the handler is
    replaced as well. Where signals cannot be held (Windows, other threads) nothing is done.
    """
    if not hasattr(signal, "pthread_sigmask") or threading.current_thread() is not threading.main_thread():
        yield
        return
    seen: list[int] = []
    heard = [number for number in _ENDING if callable(signal.getsignal(number))]
    handlers = [signal.signal(number, lambda number, frame: seen.append(number)) for number in heard]
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in zip(heard, handlers, strict=True):
            signal.signal(number, handler)
        if seen:
            signal.raise_signal(seen[0])


_WORKER: dict[str, Evaluator] = {}
"""In a worker process: its evaluator."""


def _start() -> None:
    """In a worker that has just begun.

    What it works on comes with its first task: a start that carries more than a pipe holds waits for ever where the
    worker dies before it has read it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    collect_seldom()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)


def _trials(handed: bytes, tasks: tuple[Swaps, ...], mark: int | None) -> list[Trial]:
    if "evaluator" not in _WORKER:
        _WORKER["evaluator"] = Evaluator(*pickle.loads(handed))
    evaluator = _WORKER["evaluator"]
    return [evaluator.trial(task, mark) for task in tasks]


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
