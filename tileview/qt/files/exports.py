"""What leaves the window besides its views: the recipe, the timeline, a summary, the page about a state."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from tileview.core.fusion.verdict_words import verdict_words
from tileview.errors import TileViewError
from tileview.formats.files import Source
from tileview.formats.save import Changes, render, write_atomic
from tileview.formats.search_state import SearchState
from tileview.formats.timeline_writer import dump_timeline
from tileview.model.sizes import Size, Unavailable, exact_text
from tileview.model.timeline_file import TimelineFile
from tileview.present.cycle_words import cycles_sentence
from tileview.qt.base.command import Command
from tileview.qt.base.settings import Settings
from tileview.qt.files.saving import FileWriter, may_replace, may_replace_opened
from tileview.qt.jobs.process import Reporter
from tileview.qt.jobs.runner import Job, Runner, failure_of
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.session.session import Session

RECIPES = "Recipes (*.json);;All files (*)"


def suggested_name(path: Path) -> str:
    """``x.recipe.json`` becomes ``x.fixed.recipe.json``: never the name of the opened file."""
    name = path.name
    for ending in (".recipe.json", ".json"):
        if name.endswith(ending):
            return f"{name.removesuffix(ending)}.fixed{ending}"
    return f"{name}.fixed.json"


def summary_markdown(session: Session) -> str:
    """What the window shows, as Markdown: verdict, peaks, budgets, edits, notes."""
    document, timeline, verdict = session.document, session.timeline, session.verdict
    if document is None or verdict is None:
        return ""
    lines = [f"## {_markdown(document.name)}: {verdict_words(verdict)}", "", _markdown(verdict.text), ""]
    words = session.placement_words()
    if words is not None and document.is_recipe:
        lines += [part for line in words.lines for part in (_markdown(line), "")]
    if timeline is not None:
        peak = timeline.peak
        rows: list[tuple[str, Size]] = [
            ("total peak", peak.total),
            ("standard peak", peak.standard),
            ("interleaved peak", peak.interleaved),
            ("largest standard allocation", peak.maximum_standard_allocation),
            ("exchange rows (not counted)", peak.exchange_rows),
            ("reserve", timeline.reserve_bytes),
            ("budget", timeline.budget_bytes),
            ("interleaved budget", timeline.interleaved_budget_bytes),
        ]
        lines += ["| | bytes |", "| --- | ---: |", *(f"| {name} | {exact_text(size)} |" for name, size in rows), ""]
    cycles = cycles_sentence(session.estimate, session.baseline)
    if cycles:
        lines += [f"{_markdown(cycles)}.", ""]
    if isinstance(verdict.short_bytes, Unavailable):
        lines += ["The shortfall is unavailable.", ""]
    edits = session.history.done
    if edits:
        lines += ["Edits:", "", *(f"- {_markdown(edit.label)}" for edit in edits), ""]
    if timeline is not None and timeline.notes:
        lines += ["Notes:", "", *(f"- {_markdown(note)}" for note in timeline.notes), ""]
    return "\n".join(lines)


def _markdown(text: str) -> str:
    """A text with everything that Markdown or HTML would take for markup set off by backslashes."""
    line = " ".join(text.split())
    return "".join(f"\\{char}" if char in "\\`*_{}[]<>#|~&" else char for char in line)


class Exporter(FileWriter):
    """The commands of one window that write its recipe, its timeline, its summary."""

    recipe_written = Signal(object)
    """A recipe now stands under this path."""

    def commands(self) -> tuple[Command, ...]:
        return (
            Command("export_recipe", "&Export recipe…", "File", self.export_recipe, ("Ctrl+E",),
                    "Write the recipe with the current edits to a file", self._has_recipe, icon="export",
                    separator_before=True),
            Command("export_timeline", "Export ti&meline…", "File", self.export_timeline, (),
                    "Write the current estimate as a memory timeline of version 3", self._has_timeline),
        )  # fmt: skip

    def edit_commands(self) -> tuple[Command, ...]:
        return (
            Command("copy_summary", "&Copy summary", "Edit", self.copy_summary, ("Ctrl+Shift+C",),
                    "Copy verdict, peaks and edits as Markdown", self._has_verdict, separator_before=True, icon="copy"),
        )  # fmt: skip

    def _has_recipe(self) -> bool:
        document = self.signals.session.document
        return document is not None and document.is_recipe

    def _has_timeline(self) -> bool:
        session = self.signals.session
        return session.is_current and session.timeline is not None

    def _has_verdict(self) -> bool:
        return self.signals.session.verdict is not None

    def export_recipe(self, argument: object = None) -> bool:
        """Ask for a file (or take the path given) and write the recipe; False where nothing was written.

        While a question stands, the file may be read again because it changed on disk: what is written is what is open
        when all has been answered.
        """
        session = self.signals.session
        document = session.document
        if document is None or not isinstance(document.source, SearchState):
            return False
        target = (
            Path(str(argument))
            if argument is not None
            else self.ask("Export recipe", document.path.with_name(suggested_name(document.path)), RECIPES)
        )
        if target is None or not may_replace_opened(self.window, document.path, target, document.source.fingerprint):
            return False
        document, recipe = session.document, session.recipe
        if document is None or recipe is None or not isinstance(document.source, SearchState):
            return False
        state, source = session.state, document.source
        boundaries = recipe.open_boundaries if state.boundaries else None
        changes = Changes(plans=state.swaps, inputs=state.homes, open_boundaries=boundaries)
        if source.cut is not None:
            if not self.write_and_wait(target, lambda: render(source, changes), source.cut.source.size):
                return False
        else:
            try:
                write_atomic(target, render(source, changes))
            except (TileViewError, OSError) as error:
                self.failed(str(error))
                return False
        if session.document is document and session.state == state:
            session.mark_clean()
        self.recipe_written.emit(target)
        note = ""
        if session.state.overrides.budget_bytes is not None or session.state.overrides.reserve_bytes is not None:
            note = " What-if budget and reserve are not part of a recipe and are not in the file."
        self.written(target, note)
        return True

    def export_timeline(self, argument: object = None) -> None:
        """Ask for a file (or take the path given) and write the current estimate in the compiler's own schema.

        Written on a thread: with the numbers of every tile it can be tens of megabytes.
        """
        session = self.signals.session
        document, timeline = session.document, session.timeline
        if document is None or timeline is None or self.writing.is_busy:
            return
        if argument is not None:
            target: Path | None = Path(str(argument))
        else:
            name = f"{document.path.stem.removesuffix('.recipe')}.timeline.json"
            target = self.ask("Export timeline", document.path.with_name(name), "Timelines (*.json);;All files (*)")
        if target is None or not may_replace(self.window, document.path, target):
            return
        options = document.source.options if isinstance(document.source, TimelineFile) else ()

        def make(_reporter: Reporter) -> tuple[bytes, str]:
            return dump_timeline(timeline, options), ""

        self.write(target, make)

    def copy_summary(self, _argument: object = None) -> None:
        QGuiApplication.clipboard().setText(summary_markdown(self.signals.session))
        self.signals.message.emit("Summary copied as Markdown.")


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
