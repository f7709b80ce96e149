"""The one way to work beside the window: on a thread, or in a process that this thread speaks for."""

from __future__ import annotations

import itertools
import threading
import traceback
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from PySide6.QtCore import QObject, Signal, Slot

from tileview.qt.jobs.collector import HOLDS
from tileview.qt.jobs.process import ChildProcess, OnBase, Reporter, outcome_of

ATTEMPTS: Final = 3
"""How often a task is given to a process before it is reported as lost."""
IDLE_SECONDS: float = 45.0
"""How long a process without work is kept, so that the next task need not wait for a new one."""
JOIN_SECONDS: Final = 10.0
"""How long closing waits for work that cannot be killed; the thread is a daemon, it never holds the exit."""
RESTARTED: Final = "A worker process ended unexpectedly. Another one has taken over its work."

_tokens = itertools.count(1)


@dataclass(eq=False)
class Job:
    """Work for a :class:`Runner`; ``about`` is whatever its owner knows it by.

    ``work`` is a call for the runner's thread, given a :class:`~tileview.qt.jobs.process.Reporter`, or the kind of a
    task for its process, with a ``payload``. ``place``: the job takes the place of others of this name, those that wait
    and one that runs are asked to stop. ``is_first``: it goes before all that wait. ``may_kill``: stopping it ends the
    process, for tasks that cannot look up while they run. ``begun``: a process that works on it already.
    """

    work: Callable[[Reporter], object] | str
    payload: object = None
    about: object = None
    place: str = ""
    is_first: bool = False
    may_kill: bool = False
    begun: ChildProcess | None = None
    token: int = field(default_factory=lambda: next(_tokens))
    is_cancelled: bool = False
    attempts: int = 0


class Runner(QObject):
    """Runs jobs one after another on a thread of its own, starting its process again where that died.

    Garbage is not collected by itself while a job is unfinished: see :mod:`tileview.qt.jobs.collector`.

    All signals come in the thread that the runner lives in. ``ended`` is the last one of every job: ``outcome`` is
    ``done`` (payload: the result), ``cancelled``, ``refused`` (payload: a sentence for the user), ``failed`` or
    ``lost`` (payload: (summary, details)). ``progress`` carries (done, total, text).

    Parameters
    ----------
    keep : bool
        Whether the process is kept for further tasks.
    say : callable
        Told in one sentence that a process died and another goes on.
    """

    started = Signal(object)
    progress = Signal(object, object)
    part = Signal(object, object)
    ended = Signal(object, str, object)
    _told = Signal(object, str, object)

    def __init__(
        self, parent: QObject | None = None, keep: bool = True, say: Callable[[str], object] | None = None
    ) -> None:
        super().__init__(parent)
        self._keep = keep
        self._say = say
        self._condition = threading.Condition()
        self._waiting: deque[Job] = deque()
        self._unfinished: list[Job] = []
        self._thread: threading.Thread | None = None
        self._process: ChildProcess | None = None
        self._running: Job | None = None
        self._closing = False
        self._told.connect(self._on_told)

    @property
    def pid(self) -> int | None:
        """Id of the process, None while there is none."""
        process = self._process
        return None if process is None else process.pid

    @property
    def is_busy(self) -> bool:
        """Whether a job has not ended yet."""
        return bool(self._unfinished)

    @property
    def is_awaited(self) -> bool:
        """Whether a job waits that goes before others; may be asked on the runner's thread."""
        with self._condition:
            return any(job.is_first for job in self._waiting)

    def submit(self, job: Job) -> None:
        """Run a job after those that wait already (before them where it is first)."""
        if self._closing:
            _let_go(job)
            return
        for other in tuple(self._unfinished):
            if job.place and other.place == job.place:
                self.cancel(other)
        self._unfinished.append(job)
        if len(self._unfinished) == 1:
            HOLDS.hold()
        with self._condition:
            if job.is_first:
                self._waiting.appendleft(job)
            else:
                self._waiting.append(job)
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="tileview runner", daemon=True)
                self._thread.start()
            self._condition.notify()

    def cancel(self, job: Job) -> None:
        """Ask a job to stop, waiting or running; its ``ended`` still comes."""
        with self._condition:
            job.is_cancelled = True
            if self._process is None or self._running is not job or callable(job.work):
                return
            if job.may_kill:
                self._process.kill()
            else:
                self._process.stop(job.token)

    def cancel_all(self) -> None:
        for job in tuple(self._unfinished):
            self.cancel(job)

    def close(self) -> None:
        """End the process and the thread; no signal comes after this. A call that runs is waited for."""
        with self._condition:
            self._closing = True
            for job in self._unfinished:
                job.is_cancelled = True
            if self._process is not None:
                self._process.kill()
            self._condition.notify()
        if self._thread is not None:
            self._thread.join(JOIN_SECONDS)
            self._thread = None
        if self._unfinished:
            self._unfinished.clear()
            HOLDS.release()

    @Slot(object, str, object)
    def _on_told(self, job: Job, what: str, payload: object) -> None:
        if self._closing:
            return
        if what == "started":
            self.started.emit(job)
        elif what == "progress":
            self.progress.emit(job, payload)
        elif what == "part":
            self.part.emit(job, payload)
        elif what == "restarted":
            if self._say is not None:
                self._say(RESTARTED)
        else:
            self._unfinished.remove(job)
            if not self._unfinished:
                HOLDS.release()
            self.ended.emit(job, what, payload)

    # -- on the thread ------------------------------------------------------------------------------------------------

    def _serve(self) -> None:
        while (job := self._next()) is not None:
            outcome, payload = self._run(job)
            _let_go(job)
            if not self._keep:
                self._drop_process()
            if not self._closing:
                self._told.emit(job, outcome, payload)
        self._drop_process()
        for job in self._waiting:
            _let_go(job)

    def _next(self) -> Job | None:
        """The next job; None where the runner closes. A process without work goes: it holds a recipe's worth of
        memory."""
        with self._condition:
            self._running = None
            if self._condition.wait_for(self._is_wanted, IDLE_SECONDS) or self._process is None:
                self._condition.wait_for(self._is_wanted)
            if self._is_wanted():
                return self._take()
        self._drop_process()
        with self._condition:
            self._condition.wait_for(self._is_wanted)
            return self._take()

    def _is_wanted(self) -> bool:
        return self._closing or bool(self._waiting)

    def _take(self) -> Job | None:
        if self._closing:
            return None
        self._running = self._waiting.popleft()
        return self._running

    def _run(self, job: Job) -> tuple[str, object]:
        if job.is_cancelled:
            return "cancelled", None
        self._told.emit(job, "started", None)
        if callable(job.work):
            reporter = Reporter(
                job.token,
                lambda message: self._told.emit(job, message[1], message[2]),  # type: ignore[index]
                lambda _: job.is_cancelled or self._closing,
            )
            try:
                return "done", job.work(reporter)
            except Exception as error:
                return outcome_of(error)
        while not job.is_cancelled and not self._closing:
            job.attempts += 1
            try:
                return self._attempt(job, job.work)
            except (OSError, EOFError, ValueError) as error:
                self._drop_process()
                if job.attempts >= ATTEMPTS and not job.is_cancelled:
                    return "lost", (f"The worker process ended unexpectedly, {ATTEMPTS} times.", repr(error))
                self._told.emit(job, "restarted", None)
            except Exception as error:  # a payload that cannot be pickled, an answer that cannot be read
                self._drop_process()
                return "failed", (f"{type(error).__name__}: {error}", traceback.format_exc())
        return "cancelled", None

    def _attempt(self, job: Job, kind: str) -> tuple[str, object]:
        begun, job.begun = job.begun, None
        if begun is not None:
            self._drop_process()
        with self._condition:
            if begun is not None:
                self._process = begun
            if job.is_cancelled or self._closing:
                return "cancelled", None
            if self._process is None:
                self._process = ChildProcess()
            process = self._process
        if begun is None:
            payload = job.payload.handed_to(process) if isinstance(job.payload, OnBase) else job.payload
            process.send((job.token, kind, payload))
        while True:
            token, what, payload = process.receive()
            if token != job.token or self._closing:
                continue
            if what == "done":
                return "done", payload
            if what == "error":
                return payload[0], payload[1]
            self._told.emit(job, what, payload)

    def _drop_process(self) -> None:
        with self._condition:
            process, self._process = self._process, None
        if process is not None:
            process.close()


def _let_go(job: Job) -> None:
    """End a process that was begun for a job which will not have it."""
    begun, job.begun = job.begun, None
    if begun is not None:
        begun.close()


def failure_of(outcome: str, payload: object) -> tuple[str, str]:
    """What to say of a job that is not done: a sentence, and details where the program itself is at fault."""
    if isinstance(payload, tuple):
        return str(payload[0]), "" if outcome == "lost" else str(payload[1])
    return str(payload or outcome), ""
