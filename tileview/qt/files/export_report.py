"""The page about the current state, made in a worker process and written on a thread."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget

from tileview.formats.files import Source
from tileview.formats.search_state import SearchState
from tileview.model.timeline_file import TimelineFile
from tileview.qt.base.command import Command
from tileview.qt.base.settings import Settings
from tileview.qt.files.saving import FileWriter, may_replace
from tileview.qt.jobs.runner import Job, Runner, failure_of
from tileview.qt.jobs.session_signals import SessionSignals

WORK = "report"
PAGES = "HTML page (*.html);;All files (*)"


class ReportExporter(FileWriter):
    """Writes what ``tileview report`` would, for the current state when it was asked for; later edits do not count."""

    def __init__(self, signals: SessionSignals, settings: Settings, window: QWidget) -> None:
        super().__init__(signals, settings, window)
        self._making = Runner(self, keep=False, say=signals.message.emit)
        self._making.progress.connect(self._on_progress)
        self._making.ended.connect(self._on_made)

    def commands(self) -> tuple[Command, ...]:
        return (
            Command("export_report", "Export re&port…", "File", self.export_report, (),
                    "Write a page about the current state: verdict, pictures, swaps tried", self._can_report,
                    icon="note"),
        )  # fmt: skip

    def _can_report(self) -> bool:
        document = self.signals.session.document
        return document is not None and not document.no_program and self.signals.session.is_current

    @property
    def is_running(self) -> bool:
        return self._making.is_busy or self.writing.is_busy

    def export_report(self, argument: object = None) -> None:
        """Ask for a file (or take the path given), and begin."""
        document = self.signals.session.document
        if document is None or document.no_program:
            return
        if self.is_running:
            self.signals.message.emit("Another report is still being made.")
            return
        stem = document.path.name.removesuffix(".json").removesuffix(".recipe").removesuffix(".timeline")
        suggested = document.path.absolute().with_name(f"{stem}.report.html")
        target = Path(str(argument)) if argument is not None else self.ask("Export report", suggested, PAGES)
        if target is not None and may_replace(self.window, document.path, target):
            self._start(target)

    def _start(self, target: Path) -> None:
        from tileview.qt.jobs.plan_tasks import ReportOrder  # with all that a report needs: not before one is asked for

        session = self.signals.session
        document = session.document
        assert document is not None
        assert isinstance(document.source, SearchState | TimelineFile)
        edits = tuple(edit.label for edit in session.history.done)
        problems = tuple(dict.fromkeys(session.problems))
        order = ReportOrder(
            document.path, _content(document.source), session.state, edits, problems, dict(session.results)
        )
        self.signals.work.show(WORK, f"Report on {document.name}")
        self._making.submit(Job("report", order, about=target, may_kill=True))

    @Slot(object, object)
    def _on_progress(self, _job: Job, payload: tuple[int, int, str]) -> None:
        self.signals.work.show(WORK, payload[2], payload[0], payload[1])

    @Slot(object, str, object)
    def _on_made(self, job: Job, outcome: str, payload: object) -> None:
        self.signals.work.end(WORK)
        if outcome == "done" and isinstance(payload, bytes) and isinstance(job.about, Path):
            page = payload
            self.write(job.about, lambda _: (page, ""))
        elif outcome == "cancelled":
            self.signals.message.emit("Stopped: no report was written.")
        else:
            summary, details = failure_of(outcome, payload)
            self.failed(f"The report could not be made: {summary}", details)

    def stop(self) -> None:
        self._making.cancel_all()

    def close(self) -> None:
        """End the process, and wait for a page that is being written."""
        self._making.close()
        super().close()


def _content(source: SearchState | TimelineFile) -> bytes | Source | TimelineFile:
    """What a process makes the document's source of."""
    if isinstance(source, TimelineFile):
        return source
    return source.raw if source.cut is None else source.cut.source
