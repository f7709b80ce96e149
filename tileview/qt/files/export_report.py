"""The page about the state in force, made in a worker process and written on a thread."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget

from tileview.formats.save import write_atomic
from tileview.formats.search_state import SearchState
from tileview.qt.base.command import Command
from tileview.qt.base.settings import Settings
from tileview.qt.files.saving import ask_target, may_replace
from tileview.qt.jobs.estimator import Background
from tileview.qt.jobs.processes import Task, Worker, failure_of
from tileview.qt.jobs.session_signals import Bridge
from tileview.qt.jobs.worker_report import ReportJob
from tileview.qt.widgets.dialogs import show_error
from tileview.qt.window.status import Work

WORK = "report"
PAGES = "Pages (*.html);;All files (*)"


class ReportExporter(QObject):
    """Writes what ``tileview report`` would, for the state in force when it was asked for; later edits do not count."""

    def __init__(self, bridge: Bridge, settings: Settings, work: Work, window: QWidget) -> None:
        super().__init__(window)
        self._bridge = bridge
        self._settings = settings
        self._work = work
        self._window = window
        self._task: Task | None = None
        self._target = Path()
        self._worker = Worker(self, keep=False)
        self._worker.progress.connect(self._on_progress)
        self._worker.ended.connect(self._on_ended)
        self._writing = Background(self)
        self._writing.done.connect(self._on_written)
        self._writing.failed.connect(self._on_failed)

    def commands(self) -> tuple[Command, ...]:
        return (
            Command("export_report", "Export re&port…", "File", self.export_report, (),
                    "Write a page about the state in force: verdict, pictures, swaps tried", self._can_report,
                    icon="note"),
        )  # fmt: skip

    def _can_report(self) -> bool:
        return self._bridge.session.is_current

    @property
    def is_running(self) -> bool:
        return self._task is not None or self._writing.is_running

    def export_report(self, argument: object = None) -> None:
        """Ask for a file (or take the path given), and begin."""
        document = self._bridge.session.document
        if document is None:
            return
        if self.is_running:
            self._bridge.message.emit("Another report is still being made.")
            return
        target = Path(str(argument)) if argument is not None else self._ask(document.path)
        if target is not None and may_replace(self._window, document.path, target):
            self._start(target)

    def _ask(self, opened: Path) -> Path | None:
        stem = opened.name.removesuffix(".json").removesuffix(".recipe").removesuffix(".timeline")
        suggested = opened.absolute().with_name(f"{stem}.report.html")
        found = ask_target(self._window, self._settings, "Export report", suggested, PAGES)
        if found is None:
            return None
        return found[0] if found[0].suffix else found[0].with_name(f"{found[0].name}.html")

    def _start(self, target: Path) -> None:
        session = self._bridge.session
        document = session.document
        assert document is not None
        edits = tuple(edit.label for edit in session.history.done)
        problems = tuple(dict.fromkeys(session.problems))
        source = document.source.raw if isinstance(document.source, SearchState) else document.source
        job = ReportJob(document.path, source, session.state, edits, problems, dict(session.results))
        self._target = target
        self._task = Task("report", job, harmless_to_kill=True)
        self._work.show_work(WORK, f"Report on {document.name}")
        self._worker.submit(self._task)

    @Slot(object, object)
    def _on_progress(self, task: Task, payload: tuple[int, int, str]) -> None:
        if task is self._task:
            self._work.show_work(WORK, payload[2], payload[0], payload[1])

    @Slot(object, str, object)
    def _on_ended(self, task: Task, outcome: str, payload: object) -> None:
        if task is not self._task:
            return
        self._task = None
        self._work.end_work(WORK)
        if outcome == "done" and isinstance(payload, bytes):
            self._writing.start(partial(_write, self._target, payload))
        elif outcome == "cancelled":
            self._bridge.message.emit("Stopped: no report was written.")
        else:
            summary, details = failure_of(outcome, payload)
            self._on_failed(f"The report could not be made: {summary}", details)

    @Slot(object)
    def _on_written(self, target: Path) -> None:
        self._settings.folder = str(target.parent)
        self._bridge.message.emit(f"Exported to {target}.")

    @Slot(str, str)
    def _on_failed(self, summary: str, details: str) -> None:
        show_error("Not exported", summary, details, self._window)

    def stop(self) -> None:
        """Give up the report that is being made."""
        if self._task is not None:
            self._worker.cancel(self._task)

    def close(self) -> None:
        """End the process, and wait for a page that is being written."""
        self._task = None
        self._worker.close()
        self._writing.close()


def _write(target: Path, data: bytes) -> Path:
    write_atomic(target, data)
    return target
