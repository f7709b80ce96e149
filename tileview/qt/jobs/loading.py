"""Reading beside the window: files that are to be opened, and the numbers per tile of one that is shown already."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from tileview.core.memory.accounts import Findings
from tileview.core.memory.file_tiles import FileNumbers, StepsRead
from tileview.formats.dumps import Dump
from tileview.formats.opening import open_dump
from tileview.model.timeline import Problem
from tileview.model.timeline_file import TimelineFile
from tileview.qt.jobs.process import EARLY_TOKEN, LOAD, Reporter, is_large_file, take_begun
from tileview.qt.jobs.runner import Job, Runner, failure_of
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.session.document import Document

OPEN = "open"
"""The purpose of a file that is to become the open one: only the last one asked for does."""
STUDY = "study"
CHECK = "check"


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """One file to open; ``purpose`` is what the window wants it for and comes back with the result."""

    path: Path
    purpose: str
    extra: object = None


class Loader(QObject):
    """Opens files one at a time, in the order asked for: small ones on a thread, large ones in a process.

    ``loaded`` carries the request and a :class:`Document`, ``failed`` the request, a sentence and details (empty where
    the file is to blame). ``progress`` carries the request, how much is done and of how much. Closing the window ends
    everything at once.
    """

    loaded = Signal(object, object)
    failed = Signal(object, str, str)
    cancelled = Signal(object)
    progress = Signal(object, object, object)
    started = Signal(object)
    idle = Signal()

    def __init__(self, parent: QObject | None = None, say: Callable[[str], object] | None = None) -> None:
        super().__init__(parent)
        self._runner = Runner(self, keep=False, say=say)
        self._runner.started.connect(self._on_started)
        self._runner.progress.connect(self._on_progress)
        self._runner.ended.connect(self._on_ended)

    @property
    def pid(self) -> int | None:
        """Id of the process that reads a large file."""
        return self._runner.pid

    def load(self, request: LoadRequest) -> None:
        """Open a file after those that wait; one to be opened takes the place of another that is not yet read."""
        path, place = request.path, OPEN if request.purpose == OPEN else ""
        if not is_large_file(path):
            self._runner.submit(Job(partial(_read, path), about=request, place=place))
            return
        job = Job(LOAD, str(path), about=request, place=place, may_kill=True, begun=take_begun(path))
        if job.begun is not None:
            job.token = EARLY_TOKEN
        self._runner.submit(job)

    def cancel(self) -> None:
        """Give up the file that is being read, and those that wait."""
        self._runner.cancel_all()

    def close(self) -> None:
        """End the process and the thread; no signal comes after this."""
        self._runner.close()

    @Slot(object)
    def _on_started(self, job: Job) -> None:
        self.started.emit(job.about)

    @Slot(object, object)
    def _on_progress(self, job: Job, payload: tuple[int, int, str]) -> None:
        self.progress.emit(job.about, payload[0], payload[1])

    @Slot(object, str, object)
    def _on_ended(self, job: Job, outcome: str, payload: object) -> None:
        request = job.about
        assert isinstance(request, LoadRequest)
        if outcome == "done" and isinstance(payload, Dump):
            self.loaded.emit(request, Document(request.path, payload))
        elif outcome == "cancelled":
            self.cancelled.emit(request)
        elif outcome == "refused":
            self.failed.emit(request, str(payload), "")
        else:
            summary, details = failure_of(outcome, payload)
            self.failed.emit(request, f"{request.path.name} could not be read: {summary}", details)
        if not self._runner.is_busy:
            self.idle.emit()


def _read(path: Path, _reporter: Reporter) -> Dump:
    return open_dump(path)


class StepsReader(QObject):
    """Reads the numbers per tile of the open timeline, or the alternatives of a large recipe, to their end, and checks
    them; another document ends it.

    What views need of every step arrives in parts and is taken in as it comes; when all of it is there, and again when
    the check has found something, the session is asked to renew its estimate.
    """

    renewed = Signal()
    """The session may want an estimate now."""

    def __init__(self, signals: SessionSignals, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._signals = signals
        self._document: Document | None = None
        self._job: Job | None = None
        self._is_due = False
        self._runner = Runner(self, keep=False, say=signals.message.emit)
        self._runner.progress.connect(self._on_progress)
        self._runner.part.connect(self._on_part)
        self._runner.ended.connect(self._on_ended)
        signals.document_changed.connect(self.stop)
        signals.estimate_changed.connect(self.begin_soon)

    @property
    def is_running(self) -> bool:
        return self._job is not None or self._is_due

    @property
    def pid(self) -> int | None:
        """Id of the process that reads."""
        return self._runner.pid

    @Slot()
    def begin_soon(self) -> None:
        """Begin once the document is on the screen."""
        document = self._signals.session.document
        if document is None or document is self._document:
            return
        source = document.source
        self._document = document
        self._is_due = source.has_tiles if isinstance(source, TimelineFile) else document.is_read_late
        if self._is_due:
            self._signals.quiet.add(self._begin)

    def _begin(self) -> None:
        document = self._document
        if not self._is_due or document is None:
            return
        self._is_due = False
        numbers = self._numbers()
        if isinstance(document.source, TimelineFile):
            self._job = Job(STUDY, (document.source, 0 if numbers is None else numbers.scanned), may_kill=True)
        else:
            self._job = Job(CHECK, document.source, may_kill=True)
        self._runner.submit(self._job)

    def _numbers(self) -> FileNumbers | None:
        is_timeline = self._document is not None and isinstance(self._document.source, TimelineFile)
        tiles = self._document.file_timeline().tiles if self._document is not None and is_timeline else None
        return tiles if isinstance(tiles, FileNumbers) else None

    @Slot()
    def stop(self) -> None:
        """Give the document up."""
        job, self._job, self._document = self._job, None, None
        self._is_due = False
        if job is not None:
            self._runner.cancel(job)
            self._signals.work.end(STUDY)

    @Slot(object, object)
    def _on_progress(self, job: Job, payload: tuple[int, int, str]) -> None:
        if job is self._job:
            self._signals.work.show(STUDY, payload[2], payload[0], payload[1])

    @Slot(object, object)
    def _on_part(self, job: Job, part: StepsRead | Findings) -> None:
        numbers = self._numbers()
        if job is not self._job or numbers is None or self._document is None:
            return
        if isinstance(part, Findings):
            self._document.add_findings(part)
            self._renew(())
            return
        was_complete = numbers.is_complete
        numbers.take(part)
        if numbers.is_complete and not was_complete:
            self._renew(())

    @Slot(object, str, object)
    def _on_ended(self, job: Job, outcome: str, payload: object) -> None:
        if job is not self._job:
            return
        self._job = None
        self._signals.work.end(STUDY)
        numbers = self._numbers()
        if numbers is not None:
            numbers.resume()
        if outcome == "done" and isinstance(payload, tuple) and payload:
            self._renew(payload)
        elif outcome not in ("done", "cancelled"):
            summary, details = failure_of(outcome, payload)
            what = "The alternatives" if job.work == CHECK else "The numbers per tile"
            text = f"{what} could not be checked: {summary}"
            if details:
                self._signals.fault.emit(text, details)
            else:
                self._signals.message.emit(text)

    def _renew(self, problems: tuple[Problem, ...]) -> None:
        document = self._document
        if document is not None and document is self._signals.session.document:
            document.mark_changed()
            document.add_problems(problems)
            self._signals.session.renew()
            self.renewed.emit()

    def close(self) -> None:
        """End the process; no signal comes after this."""
        self._job, self._is_due = None, False
        self._runner.close()
