"""The numbers per tile of an opened timeline, read and checked in a worker process after the file is shown."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot

from tileview.core.memory.accounts import Findings
from tileview.core.memory.file_tiles import FileNumbers, StepsRead
from tileview.model.timeline_file import TimelineFile
from tileview.qt.jobs.processes import Task, Worker, failure_of
from tileview.qt.jobs.session_signals import Bridge
from tileview.qt.window.status import Work
from tileview.session.document import Document

WORK = "study"


class Study(QObject):
    """Reads the open timeline to its end, one document at a time; another document ends it.

    What views need of every step arrives in parts and is taken in as it comes; when all of it is there, and again when
    the check has found something, the session is asked to renew its estimate. A file that cannot be read a second time
    (it was changed meanwhile) is read in the window's own process when something asks for it.
    """

    renewed = Signal()
    """The session may want an estimate now."""

    def __init__(self, bridge: Bridge, work: Work, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._work = work
        self._document: Document | None = None
        self._task: Task | None = None
        self._is_due = False
        self._worker = Worker(self, keep=False)
        self._worker.progress.connect(self._on_progress)
        self._worker.part.connect(self._on_part)
        self._worker.ended.connect(self._on_ended)
        bridge.document_changed.connect(self._on_document)
        bridge.estimate_changed.connect(self._on_estimate)

    @property
    def is_running(self) -> bool:
        return self._task is not None or self._is_due

    @Slot()
    def _on_document(self) -> None:
        self.stop()

    @Slot()
    def _on_estimate(self) -> None:
        """Begin once the document is on the screen."""
        document = self._bridge.session.document
        if document is None or document is self._document or not isinstance(document.source, TimelineFile):
            return
        self._document = document
        self._is_due = document.source.has_tiles
        if self._is_due:
            self._bridge.quiet.add(self._begin)

    def _begin(self) -> None:
        document = self._document
        if not self._is_due or document is None or not isinstance(document.source, TimelineFile):
            return
        self._is_due = False
        numbers = self._numbers()
        self._task = Task("study", (document.source, 0 if numbers is None else numbers.scanned), harmless_to_kill=True)
        self._worker.submit(self._task)

    def _numbers(self) -> FileNumbers | None:
        tiles = self._document.file_timeline().tiles if self._document is not None else None
        return tiles if isinstance(tiles, FileNumbers) else None

    def stop(self) -> None:
        """Give the document up."""
        task, self._task, self._document = self._task, None, None
        self._is_due = False
        if task is not None:
            self._worker.cancel(task)
            self._work.end_work(WORK)

    # -- what comes back ------------------------------------------------------------------------------------------

    @Slot(object, object)
    def _on_progress(self, task: Task, payload: tuple[int, int, str]) -> None:
        if task is self._task:
            self._work.show_work(WORK, payload[2], payload[0], payload[1])

    @Slot(object, object)
    def _on_part(self, task: Task, part: StepsRead | Findings) -> None:
        numbers = self._numbers()
        if task is not self._task or numbers is None or self._document is None:
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
    def _on_ended(self, task: Task, outcome: str, payload: object) -> None:
        if task is not self._task:
            return
        self._task = None
        self._work.end_work(WORK)
        numbers = self._numbers()
        if numbers is not None:
            numbers.resume()
        if outcome == "done" and isinstance(payload, tuple) and payload:
            self._renew(payload)
        elif outcome not in ("done", "cancelled"):
            summary, details = failure_of(outcome, payload)
            text = f"The numbers per tile could not be checked: {summary}"
            if details:
                self._bridge.fault.emit(text, details)
            else:
                self._bridge.message.emit(text)

    def _renew(self, problems: tuple[object, ...]) -> None:
        document = self._document
        if document is not None and document is self._bridge.session.document:
            document.add_problems(problems)  # type: ignore[arg-type]
            self._bridge.session.renew()
            self.renewed.emit()

    def close(self) -> None:
        """End the process; no signal comes after this."""
        self._task, self._is_due = None, False
        self._worker.close()
