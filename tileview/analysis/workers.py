"""Trials in worker processes that answer as they get done.

Workers are started fresh (no forked state, no shell), ignore Ctrl+C, which is their parent's to handle, and end by
themselves when the parent is gone.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import pickle
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from types import TracebackType

from tileview.analysis.trials import Cancelled, Evaluator, Swaps, Trial, never
from tileview.collecting import collect_seldom
from tileview.model.recipe import NO_OVERRIDES, Overrides, Recipe

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
