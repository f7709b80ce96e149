"""Estimates off the window's thread: one thread, newest request wins, results come back as signals."""

from __future__ import annotations

import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from tileview.core.lowering.replanner import Replanner
from tileview.core.memory.file_tiles import FileNumbers
from tileview.errors import TileViewError
from tileview.session.document import Document
from tileview.session.estimate import EstimateJob, EstimateResult

SCANNED_AT_ONCE = 100
"""Steps of a file that are read between two looks at what is wanted."""
READ_HERE = 1 << 20
"""Numbers per tile that are read before a file is shown; where there are more, a process reads them meanwhile."""
JOIN_SECONDS = 10.0
"""How long closing waits for the estimate that is being computed; the thread is a daemon, it never holds the exit."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An estimate that could not be computed: a sentence, and the traceback where the program itself is at fault."""

    job: EstimateJob
    summary: str
    details: str


class Estimator(QObject):
    """Computes estimates on a thread of its own.

    :meth:`request` replaces a request that has not begun: while keys are held down only the newest state is computed.
    :meth:`request_aside` is for other documents (comparison): each of those is computed. ``finished`` carries an
    ``EstimateResult`` and the milliseconds it took, ``failed`` a :class:`Failure`; ``finished_aside`` and
    ``failed_aside`` are the same for requests aside, with the tag they were made with. All arrive in the GUI thread:
    connect bound methods of QObjects only.
    """

    finished = Signal(object, float)
    failed = Signal(object)
    finished_aside = Signal(object, object)
    failed_aside = Signal(object, object)
    busy_changed = Signal(bool)
    reading = Signal(int, int)
    """How many of how many steps of a file have been read."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._condition = threading.Condition()
        self._newest: EstimateJob | None = None
        self._aside: deque[tuple[EstimateJob, object]] = deque()
        self._closing = False
        self._busy = False
        self._thread: threading.Thread | None = None
        self._planned_for: Document | None = None
        self._replanner: Replanner | None = None

    @property
    def is_busy(self) -> bool:
        with self._condition:
            return self._busy or self._newest is not None or bool(self._aside)

    def request(self, job: EstimateJob) -> None:
        """Compute an estimate; one that waits already is dropped."""
        with self._condition:
            self._newest = job
            self._wake()

    def request_aside(self, job: EstimateJob, tag: object) -> None:
        """Compute an estimate of another document; it waits for the window's own."""
        with self._condition:
            self._aside.append((job, tag))
            self._wake()

    def _wake(self) -> None:
        if self._closing:
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="tileview estimates", daemon=True)
            self._thread.start()
        self._condition.notify()

    def close(self) -> None:
        """End the thread; no signal comes after this."""
        with self._condition:
            self._closing = True
            self._newest = None
            self._aside.clear()
            self._condition.notify()
        if self._thread is not None:
            self._thread.join(JOIN_SECONDS)
            self._thread = None

    # -- on the thread --------------------------------------------------------------------------------------------

    def _serve(self) -> None:
        while True:
            with self._condition:
                was_busy, self._busy = self._busy, False
                idle = self._newest is None and not self._aside
                if was_busy and idle and not self._closing:
                    self.busy_changed.emit(False)
                while self._newest is None and not self._aside and not self._closing:
                    self._condition.wait()
                if self._closing:
                    return
                self._busy = True
                newest, self._newest = self._newest, None
                aside = None if newest is not None else self._aside.popleft()
            if not was_busy:
                self.busy_changed.emit(True)
            if newest is not None:
                self._compute(newest)
            elif aside is not None:
                self._compute_aside(*aside)

    def _compute(self, job: EstimateJob) -> None:
        if job.document is not self._planned_for:
            self._planned_for = job.document
            self._replanner = Replanner()
        started = time.perf_counter()
        try:
            result = job.run(self._replanner)
            self._read_steps(result, may_defer=True)
        except Exception as error:
            self._replanner = Replanner()
            if not self._closing:
                self.failed.emit(_failure(job, error))
            return
        if not self._closing:
            self.finished.emit(result, (time.perf_counter() - started) * 1000.0)

    def _compute_aside(self, job: EstimateJob, tag: object) -> None:
        try:
            result = job.run(None)
            self._read_steps(result)
        except Exception as error:
            if not self._closing:
                self.failed_aside.emit(_failure(job, error), tag)
            return
        if not self._closing:
            self.finished_aside.emit(result, tag)

    def _read_steps(self, result: EstimateResult, may_defer: bool = False) -> None:
        """Have the worst tile of every step at hand before views ask for it.

        The per-tile arrays of a file are read here, some steps at a time: in the window's thread that would take
        seconds. Those of a large one are left to a process, where ``may_defer``: a parser of numbers holds the
        interpreter's lock. Ends early where the result is no longer wanted.
        """
        timeline = getattr(result.estimate, "timeline", None) if isinstance(result, EstimateResult) else None
        numbers = getattr(timeline, "tiles", None)
        if timeline is None or not isinstance(numbers, FileNumbers):
            return
        if may_defer and numbers.numbers > READ_HERE:
            numbers.defer()
            return
        count = len(timeline.steps)
        for done in range(0, count, SCANNED_AT_ONCE):
            if self._closing or self._newest is not None or numbers.scan(SCANNED_AT_ONCE):
                return
            if done >= SCANNED_AT_ONCE:
                self.reading.emit(min(done + SCANNED_AT_ONCE, count), count)


class Background(QObject):
    """Runs one call on a thread; ``done`` carries its result, ``failed`` a sentence and details."""

    done = Signal(object)
    failed = Signal(str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thread: threading.Thread | None = None
        self._closing = False

    @property
    def is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def start(self, call: Callable[[], object]) -> None:
        """Run ``call`` after the one that runs, if any."""
        self._join()
        self._thread = threading.Thread(target=self._run, args=(call,), name="tileview background", daemon=True)
        self._thread.start()

    def _run(self, call: Callable[[], object]) -> None:
        try:
            result = call()
        except TileViewError as error:
            if not self._closing:
                self.failed.emit(str(error), "")
            return
        except Exception as error:
            if not self._closing:
                self.failed.emit(f"{type(error).__name__}: {error}", "".join(traceback.format_exception(error)))
            return
        if not self._closing:
            self.done.emit(result)

    def _join(self) -> None:
        if self._thread is not None:
            self._thread.join(JOIN_SECONDS)
            self._thread = None

    def close(self) -> None:
        """End; no signal comes after this."""
        self._closing = True
        self._join()


def _failure(job: EstimateJob, error: Exception) -> Failure:
    if isinstance(error, TileViewError):
        return Failure(job, str(error), "")
    details = "".join(traceback.format_exception(error))
    return Failure(job, f"The estimate could not be computed: {type(error).__name__}: {error}", details)
