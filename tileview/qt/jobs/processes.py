"""Worker processes as the window sees them: tasks go in, signals come out in the GUI thread."""

from __future__ import annotations

import itertools
import queue
import threading
import traceback
from dataclasses import dataclass, field
from typing import Final

from PySide6.QtCore import QObject, Signal

from tileview.qt.jobs.child import ChildProcess

ATTEMPTS: Final = 2
"""How often a task is given to a process before it is reported as lost."""

IDLE_SECONDS: float = 45.0
"""How long a process without work is kept, so that the next task need not wait for a new one."""

_tokens = itertools.count(1)


@dataclass(eq=False)
class Task:
    """One request. ``harmless_to_kill``: cancelling ends the process, for jobs that cannot look up while they run."""

    kind: str
    payload: object
    harmless_to_kill: bool = False
    token: int = field(default_factory=lambda: next(_tokens))
    cancelled: bool = False
    attempts: int = 0
    is_sent: bool = False
    """Whether the process has the request already."""


class Worker(QObject):
    """Runs tasks in a process of its own, one after another, restarting the process where it died.

    The signals are sent by a thread of this object and arrive in the GUI thread: connect bound methods of QObjects
    only. ``ended`` is the last signal of every task: ``outcome`` is ``done`` (payload: the result), ``cancelled``,
    ``refused`` (payload: a sentence for the user), ``failed`` or ``lost`` (payload: (summary, details)).
    """

    progress = Signal(object, object)
    part = Signal(object, object)
    ended = Signal(object, str, object)

    def __init__(self, parent: QObject | None = None, keep: bool = True) -> None:
        super().__init__(parent)
        self._keep = keep
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._process: ChildProcess | None = None
        self._running: Task | None = None
        self._closing = False

    @property
    def pid(self) -> int | None:
        """Process id, None while no process runs."""
        process = self._process
        return None if process is None else process.pid

    def adopt(self, process: ChildProcess) -> None:
        """Before any task: use a process that runs already."""
        self._process = process

    def submit(self, task: Task) -> None:
        """Run a task after those that wait already."""
        if self._closing:
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="tileview worker", daemon=True)
            self._thread.start()
        self._tasks.put(task)

    def cancel(self, task: Task) -> None:
        """Stop a task, waiting or running; its ``ended`` still comes."""
        with self._lock:
            task.cancelled = True
            process = self._process
            if process is None or self._running is not task:
                return
            if task.harmless_to_kill:
                process.kill()
            else:
                process.stop(task.token)

    def close(self) -> None:
        """End the process and the thread; no signal comes after this."""
        with self._lock:
            self._closing = True
            if self._process is not None:
                self._process.kill()
        if self._thread is not None:
            self._tasks.put(None)
            self._thread.join()
            self._thread = None

    # -- on the thread --------------------------------------------------------------------------------------------

    def _serve(self) -> None:
        while (task := self._next()) is not None and not self._closing:
            outcome, payload = self._run(task)
            if not self._keep:
                self._drop_process()
            if not self._closing:
                self.ended.emit(task, outcome, payload)
        self._drop_process()

    def _next(self) -> Task | None:
        """The next task; meanwhile the process goes where nothing has come for a while: it holds a recipe's worth of
        memory."""
        try:
            return self._tasks.get(timeout=IDLE_SECONDS)
        except queue.Empty:
            self._drop_process()
            return self._tasks.get()

    def _run(self, task: Task) -> tuple[str, object]:
        while not task.cancelled and not self._closing:
            task.attempts += 1
            try:
                return self._attempt(task)
            except (OSError, EOFError, ValueError) as error:
                self._drop_process()
                if task.attempts >= ATTEMPTS and not task.cancelled:
                    return "lost", ("The worker process ended unexpectedly, twice.", repr(error))
            except Exception as error:  # a payload that cannot be pickled, an answer that cannot be read
                self._drop_process()
                return "failed", (f"{type(error).__name__}: {error}", traceback.format_exc())
        return "cancelled", None

    def _attempt(self, task: Task) -> tuple[str, object]:
        with self._lock:
            if task.cancelled or self._closing:
                return "cancelled", None
            if self._process is None:
                self._process = ChildProcess()
            process = self._process
            self._running = task
        try:
            if not task.is_sent:
                process.send((task.token, task.kind, task.payload))
            task.is_sent = False
            while True:
                token, kind, payload = process.receive()
                if token != task.token or self._closing:
                    continue
                if kind == "done":
                    return "done", payload
                if kind == "error":
                    return _outcome(payload)
                (self.progress if kind == "progress" else self.part).emit(task, payload)
        finally:
            with self._lock:
                self._running = None

    def _drop_process(self) -> None:
        with self._lock:
            process, self._process = self._process, None
        if process is not None:
            process.close()


def failure_of(outcome: str, payload: object) -> tuple[str, str]:
    """What to say of a task that is not done: a sentence, and details where the program itself is at fault."""
    if isinstance(payload, tuple):
        return str(payload[0]), str(payload[1])
    return str(payload or outcome), ""


def _outcome(payload: tuple[str, str, str]) -> tuple[str, object]:
    kind, summary, details = payload
    if kind == "cancelled":
        return "cancelled", None
    return (kind, summary) if kind == "refused" else (kind, (summary, details))
