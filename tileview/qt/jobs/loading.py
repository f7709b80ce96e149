"""Opening files without blocking: small ones on a thread, large ones in a process of their own."""

from __future__ import annotations

import threading
import traceback
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from tileview.errors import TileViewError
from tileview.formats import open_file
from tileview.qt.jobs import prefetch as early
from tileview.qt.jobs.processes import Task, Worker, failure_of
from tileview.session.document import Document

OPEN = "open"
"""The purpose of a file that is to become the open one: only the last one asked for does."""


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """One file to open; ``purpose`` is what the window wants it for and comes back with the result."""

    path: Path
    purpose: str
    extra: object = None


class Loader(QObject):
    """Opens files one at a time, in the order asked for.

    ``loaded`` carries the request and a :class:`Document`, ``failed`` the request, a sentence and details (empty where
    the file is to blame). ``progress`` carries the request, how much is done and of how much (0 of 0: not known).
    Closing the window ends everything at once.
    """

    loaded = Signal(object, object)
    failed = Signal(object, str, str)
    cancelled = Signal(object)
    progress = Signal(object, object, object)
    started = Signal(object)
    idle = Signal()
    _read = Signal(object, object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: list[LoadRequest] = []
        self._current: LoadRequest | None = None
        self._task: Task | None = None
        self._thread: threading.Thread | None = None
        self._worker: Worker | None = None
        self._closing = False
        self._read.connect(self._on_read)

    @property
    def current(self) -> LoadRequest | None:
        """The request that is worked on."""
        return self._current

    def load(self, request: LoadRequest) -> None:
        """Open a file after those that wait; one to be opened takes the place of another that is not yet read."""
        if request.purpose == OPEN:
            self._waiting = [waiting for waiting in self._waiting if waiting.purpose != OPEN]
            if self._current is not None and self._current.purpose == OPEN:
                self._stop_current()
        self._waiting.append(request)
        if self._current is None:
            self._next()

    def cancel(self) -> None:
        """Give up the file that is being read, and those that wait."""
        self._waiting.clear()
        self._stop_current()

    def _stop_current(self) -> None:
        if self._task is not None and self._worker is not None:
            self._worker.cancel(self._task)

    def close(self) -> None:
        """End the process and the thread; no signal comes after this."""
        self._closing = True
        self._waiting.clear()
        if self._worker is not None:
            self._worker.close()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _next(self) -> None:
        if self._closing or not self._waiting:
            self._current = None
            self.idle.emit()
            return
        request = self._waiting.pop(0)
        self._current = request
        self.started.emit(request)
        if early.is_large(request.path):
            self._start_process(request)
            return
        self._thread = threading.Thread(target=self._read_file, args=(request,), name="tileview file", daemon=True)
        self._thread.start()

    def _done(self) -> None:
        self._task = None
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        QTimer.singleShot(0, self, self._next)

    # -- small files ----------------------------------------------------------------------------------------------

    def _read_file(self, request: LoadRequest) -> None:
        try:
            source: object = open_file(request.path)
        except Exception as error:
            source = error
        if not self._closing:
            details = "".join(traceback.format_exception(source)) if isinstance(source, Exception) else ""
            self._read.emit(request, source, details)

    @Slot(object, object, object)
    def _on_read(self, request: LoadRequest, source: object, details: str) -> None:
        self._done()
        if isinstance(source, TileViewError | OSError | MemoryError):
            self.failed.emit(request, str(source), "")
        elif isinstance(source, Exception):
            self.failed.emit(request, f"{request.path.name} could not be read: {source}", details)
        else:
            self.loaded.emit(request, Document(request.path, source))  # type: ignore[arg-type]

    # -- large files ----------------------------------------------------------------------------------------------

    def _start_process(self, request: LoadRequest) -> None:
        if self._worker is None:
            self._worker = self._new_worker()
        self._task = Task("load", str(request.path), harmless_to_kill=True)
        begun = early.take(request.path)
        if begun is not None:
            self._worker.close()
            self._worker.deleteLater()
            self._worker = self._new_worker()
            self._worker.adopt(begun)
            self._task.token, self._task.is_sent = early.TOKEN, True
        self._worker.submit(self._task)
        self.progress.emit(request, 0, 0)

    def _new_worker(self) -> Worker:
        worker = Worker(self, keep=False)
        worker.progress.connect(self._on_progress)
        worker.ended.connect(self._on_ended)
        return worker

    @Slot(object, object)
    def _on_progress(self, task: Task, payload: tuple[int, int, str]) -> None:
        if task is self._task and self._current is not None:
            self.progress.emit(self._current, payload[0], payload[1])

    @Slot(object, str, object)
    def _on_ended(self, task: Task, outcome: str, payload: object) -> None:
        request = self._current
        if task is not self._task or request is None:
            return
        self._done()
        if outcome == "done":
            self.loaded.emit(request, Document(request.path, payload))  # type: ignore[arg-type]
        elif outcome == "cancelled":
            self.cancelled.emit(request)
        elif outcome == "refused":
            self.failed.emit(request, str(payload), "")
        else:
            summary, details = failure_of(outcome, payload)
            self.failed.emit(request, f"{request.path.name} could not be read: {summary}", details)
