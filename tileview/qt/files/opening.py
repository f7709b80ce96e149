"""Opening, comparing, reloading and recovering files: everything that brings a document into the window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QFileDialog, QMainWindow

from tileview.model.timeline import Timeline
from tileview.model.timeline_file import TimelineFile
from tileview.qt.base.command import Command
from tileview.qt.base.settings import Settings
from tileview.qt.files.exports import Exporter
from tileview.qt.files.recovery import KeptEdits, Recovery, carry_over, carry_selection, left_behind, marks_of, to_offer
from tileview.qt.files.saving import same_file
from tileview.qt.files.watch import FileWatch
from tileview.qt.jobs.estimates import Estimates
from tileview.qt.jobs.loading import Loader, LoadRequest
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.widgets.dialogs import (
    LOGGER,
    EditsAnswer,
    ErrorDialog,
    ask_about_edits,
    ask_to_recover,
    confirm,
    show_error,
)
from tileview.resources import sample_folder
from tileview.session.document import Document
from tileview.session.edits import EditState, Step
from tileview.session.session import Selection

MANY_STEPS = 500
"""From so many steps on, a new estimate and its selection reach the views in two turns of the event loop."""
MANY_FILES = 9
"""So many files named at once are listed: each in a window of its own, or all beside one, would be of no use."""
FILTER = "Dumps (*.json);;All files (*)"


@dataclass(frozen=True, slots=True)
class _Return:
    """Where the user stood before a reload."""

    document: Document
    selection: Selection
    before: Document


class Files(QObject):
    """The file commands of one window; see the module."""

    opened = Signal()
    elsewhere = Signal(object)
    """Asks for another window on a list of paths."""

    def __init__(
        self,
        signals: SessionSignals,
        settings: Settings,
        estimates: Estimates,
        exporter: Exporter,
        window: QMainWindow,
    ) -> None:
        super().__init__(window)
        self._signals = signals
        self._settings = settings
        self._estimates = estimates
        self._exporter = exporter
        self._window = window
        self._return: _Return | None = None
        self._timeline_before: Timeline | None = None
        self._is_new = False
        self._is_asking = False
        self._newer: Document | None = None
        self.loader = Loader(self, say=signals.message.emit)
        self.loader.started.connect(self._on_started)
        self.loader.loaded.connect(self._on_loaded)
        self.loader.failed.connect(self._on_failed)
        self.loader.cancelled.connect(self._on_cancelled)
        self.loader.progress.connect(self._on_progress)
        self.loader.idle.connect(self._on_idle)
        self.watch = FileWatch(self)
        self.watch.changed.connect(self._on_replaced)
        self.watch.missing.connect(self._on_missing)
        self.recovery = Recovery(signals, self)
        exporter.recipe_written.connect(self._on_written)
        estimates.compared.connect(self._on_compared)
        signals.estimate_changed.connect(self._on_estimate)

    def commands(self) -> tuple[Command, ...]:
        there = self._is_open
        return (
            Command("open", "&Open…", "File", self.open, ("Ctrl+O",),
                    "Open a recipe, a memory timeline, or a dump of addresses", icon="open"),
            Command("open_folder", "Open &folder…", "File", self.open_folder, (),
                    "List the dumps of a folder with their verdicts", icon="folder"),
            Command("compare_with", "&Compare with…", "File", self.compare_with, ("Ctrl+Shift+O",),
                    "Open another file beside this one", there, icon="compare", separator_before=True),
            Command("reload", "&Reload", "File", self.reload, ("F5",),
                    "Read the file again, keeping edits and selection", there, icon="reload"),
            Command("close_file", "C&lose file", "File", self.close_file, ("Ctrl+W",), "Close the open file", there,
                    icon="close"),
        )  # fmt: skip

    def _is_open(self) -> bool:
        return self._signals.session.document is not None

    # -- opening --------------------------------------------------------------------------------------------------

    def open(self, argument: object = None) -> bool:
        """Open the path given, or ask for one; False where the user kept what is open."""
        path = Path(str(argument)) if argument is not None else self._ask("Open")
        if path is None or not self.may_leave():
            return False
        self.loader.load(LoadRequest(path.absolute(), "open"))
        return True

    def open_folder(self, argument: object = None) -> None:
        """List the folder given, or ask for one."""
        name = (
            str(argument)
            if argument is not None
            else QFileDialog.getExistingDirectory(self._window, "Open folder", self._settings.folder)
        )
        if name:
            self._settings.folder = name
            self._signals.requested.emit("show_folder", Path(name))

    def open_together(self, first: Path, others: list[Path]) -> None:
        """Open a file, and stand the others beside it."""
        self.loader.load(LoadRequest(first.absolute(), "open"))
        for path in others:
            self.loader.load(LoadRequest(path.absolute(), "compare"))

    def stand_beside(self, path: Path) -> None:
        """Link a file with the open one where one is a recipe, the other a timeline; else open a window of its own."""
        self.loader.load(LoadRequest(path.absolute(), "beside"))

    def compare_with(self, argument: object = None) -> None:
        path = Path(str(argument)) if argument is not None else self._ask("Compare with")
        if path is not None:
            self.loader.load(LoadRequest(path.absolute(), "compare"))

    def close_file(self, _argument: object = None) -> None:
        if self.may_leave():
            self.watch.watch(None)
            self._signals.notice.emit("")
            self._signals.session.open(None)

    def _ask(self, title: str) -> Path | None:
        name, _ = QFileDialog.getOpenFileName(self._window, title, self._settings.folder, FILTER)
        if not name:
            return None
        self._settings.folder = str(Path(name).parent)
        return Path(name)

    def may_leave(self) -> bool:
        """Ask about edits that would be lost; True where the document can go."""
        session = self._signals.session
        document = session.document
        if document is None or session.history.is_clean:
            return True
        labels = [edit.label for edit in session.history.done]
        answer = ask_about_edits(self._window, document.name, labels, document.is_recipe)
        if answer is EditsAnswer.EXPORT:
            return self._exporter.export_recipe()
        return answer is EditsAnswer.DISCARD

    # -- what the loader says -------------------------------------------------------------------------------------

    @Slot(object)
    def _on_started(self, request: LoadRequest) -> None:
        self._signals.work.show("load", f"Opening {request.path.name}")

    @Slot(object, object, object)
    def _on_progress(self, request: LoadRequest, done: int, total: int) -> None:
        self._signals.work.show("load", f"Opening {request.path.name}", done, total)

    @Slot()
    def _on_idle(self) -> None:
        self._signals.work.end("load")

    @Slot(object)
    def _on_cancelled(self, request: LoadRequest) -> None:
        self._signals.message.emit(f"{request.path.name} was not opened.")

    @Slot(object, str, str)
    def _on_failed(self, request: LoadRequest, summary: str, details: str) -> None:
        if request.purpose == "reload":
            self._renew_numbers()
            text = f"{request.path.name} changed on disk and cannot be read now; what is open stays."
            self._signals.notice.emit(f"{text} {summary}")
            return
        show_error(f"{request.path.name} cannot be opened", summary, details, self._window)

    @Slot(object, object)
    def _on_loaded(self, request: LoadRequest, document: Document) -> None:
        if request.purpose == "compare":
            self.show_beside(document)
        elif request.purpose == "beside":
            self._stand_beside(document)
        elif request.purpose == "reload":
            self._take_reloaded(document, is_wanted=request.extra is None)
        elif request.purpose == "recover" and isinstance(request.extra, KeptEdits):
            self._take_recovered(document, request.extra)
        else:
            kept = self._kept_for(document)
            if kept is not None and self._wants(kept, document):
                self._take_recovered(document, kept)
            else:
                self.show_document(document)

    def show_document(self, document: Document, steps: Sequence[Step] = ()) -> None:
        """Make a document that is read already the open one, with the edits that led to its state."""
        self._is_new = True
        self._return = None
        self._settings.add_recent(document.path)
        self._settings.folder = str(document.path.absolute().parent)
        self.watch.watch(document.path.absolute())
        self._signals.notice.emit("")
        self._signals.session.open(document, steps)
        self.opened.emit()

    def show_beside(self, document: Document) -> None:
        """Stand a document that is read already beside the open one."""
        session = self._signals.session
        open_one = session.document
        if open_one is None:
            self.show_document(document)
        elif document.addresses is not None or open_one.addresses is not None:
            self._join_addresses(open_one, document)
        else:
            if open_one.is_recipe != document.is_recipe:
                session.link(document)
            self._estimates.compare(document)

    def _join_addresses(self, open_one: Document, document: Document) -> None:
        """Put a file that speaks of addresses beside a program, whichever of the two was opened first."""
        if open_one.addresses is not None and document.addresses is not None:
            self.elsewhere.emit([document.path])
            document.close()
        elif document.addresses is not None:
            self._signals.session.stand_addresses(document)
            self._signals.requested.emit("show_view", "address_map")
        else:
            self.show_document(document)
            self._signals.session.stand_addresses(open_one)

    def _stand_beside(self, document: Document) -> None:
        open_one = self._signals.session.document
        if open_one is not None and open_one.kind == document.kind:
            self.elsewhere.emit([document.path])
        else:
            self.show_beside(document)

    @Slot(object)
    def _on_compared(self, _document: Document) -> None:
        self._signals.requested.emit("show_view", "compare")

    # -- the file on disk -----------------------------------------------------------------------------------------

    def reload(self, _argument: object = None) -> None:
        document = self._signals.session.document
        if document is not None:
            self.loader.load(LoadRequest(document.path, "reload"))

    @Slot(object)
    def _on_replaced(self, path: Path) -> None:
        document = self._signals.session.document
        if document is not None and document.path.absolute() == path:
            self.loader.load(LoadRequest(document.path, "reload", "replaced"))

    @Slot(object)
    def _on_written(self, target: Path) -> None:
        """An export over the opened file is no news: what it says is what is shown."""
        document = self._signals.session.document
        if document is not None and same_file(document.path, target):
            self.watch.seen()

    @Slot(object)
    def _on_missing(self, path: Path) -> None:
        self._signals.notice.emit(f"{path.name} is no longer on disk; what is open stays.")

    def _renew_numbers(self) -> None:
        """Have shown that numbers which were to be read from the file are unavailable now, where they are."""
        session = self._signals.session
        if session.document is not None and session.document.mark_changed():
            session.renew()
            self._estimates.ask()

    @property
    def is_newer_waiting(self) -> bool:
        """Whether the file was read again while a question about it stands."""
        return self._newer is not None

    def _take_reloaded(self, document: Document, is_wanted: bool = False) -> None:
        session = self._signals.session
        before = session.document
        if before is None or before.path != document.path:
            return
        if self._is_asking:
            self._newer = document
            return
        is_same = document.source.fingerprint == before.source.fingerprint and not self._numbers_are_gone(before)
        if is_same and not is_wanted:
            self.watch.seen()
            self._signals.notice.emit("")
            self._signals.message.emit(f"{document.name} was read again from disk: its content is the same.")
            return
        steps = session.history.steps()
        carried = carry_over(document, steps, marks_of(before, steps))
        taken = not carried.conflicts or self._gives_up(document, carried.conflicts)
        newer, self._newer = self._newer, None
        if newer is not None:
            self._take_reloaded(newer)
            return
        if not taken:
            self._renew_numbers()
            self._signals.notice.emit(
                f"{document.name} changed on disk; what is open was kept. F5 takes the new content."
            )
            return
        pins, linked, baseline = session.pins, session.linked, session.baseline
        beside = session.address_document if before.addresses is None else None
        self._return = _Return(document, session.selection, before)
        self._timeline_before = session.timeline
        self.watch.seen()
        self._signals.notice.emit("")
        session.open(document, carried.steps)
        for pin in pins:
            session.add_pin(pin)
        if baseline is not None and any(pin is baseline for pin in pins):
            session.set_baseline(baseline)
        if linked is not None:
            session.link(linked)
        if beside is not None:
            session.stand_addresses(beside)
        kept = "" if carried.state == EditState() else " Edits were kept."
        self._signals.message.emit(f"{document.name} was read again from disk.{kept}")

    @staticmethod
    def _numbers_are_gone(document: Document) -> bool:
        return isinstance(document.source, TimelineFile) and document.source.tiles.has_changed()

    def _gives_up(self, document: Document, conflicts: tuple[str, ...]) -> bool:
        """Ask whether edits may go that the new content has no place for; it may change once more meanwhile."""
        count = len(conflicts)
        self._is_asking, self._newer = True, None
        try:
            return confirm(
                self._window,
                "The file changed on disk",
                f"{document.name} was replaced, and {count} of the edits cannot be carried over. "
                "Take the new content without them, or keep what is open?",
                "Take the new content",
                "\n".join(conflicts[:12]) + (f"\n… and {count - 12} more" if count > 12 else ""),
            )
        finally:
            self._is_asking = False

    @Slot()
    def _on_estimate(self) -> None:
        """After a reload, stand where the user stood before; in a newly opened file, where the verdict points."""
        back, session = self._return, self._signals.session
        if not session.is_current:
            return
        if self._is_new:
            self._is_new = False
            timeline = session.timeline
            if session.document is not None and session.document.addresses is not None:
                self._signals.requested.emit("show_view", "address_map")
            if back is None and timeline is not None and len(timeline.steps) > MANY_STEPS:
                QTimer.singleShot(0, self, self._select_verdict)  # views have enough to do in this turn
            elif back is None:
                self._select_verdict()
        if back is None or session.document is not back.document:
            return
        self._return = None
        before, self._timeline_before = self._timeline_before, None
        session.select(carry_selection(back.selection, before, session.timeline))

    @Slot()
    def _select_verdict(self) -> None:
        """Select the step, tile and operation that the verdict names, so that the cause is in sight at once."""
        session = self._signals.session
        verdict, selection = session.verdict, session.selection
        if verdict is None:
            return
        selection = replace(selection, operation=verdict.operation)
        if verdict.step is not None:
            selection = replace(selection, step=verdict.step)
        if verdict.tile is not None:
            selection = replace(selection, tiles=(verdict.tile,))
        session.select(selection)

    # -- after a crash --------------------------------------------------------------------------------------------

    def offer_recovery(self) -> bool:
        """Offer the newest edits that a crash left behind; True where their document is being opened."""
        found = left_behind()
        self._say_aside(found.note())
        kept = to_offer(found.kept)
        if kept is not None and self._wants(kept):
            self.loader.load(LoadRequest(kept.document, "recover", kept))
            return True
        return False

    def _kept_for(self, document: Document) -> KeptEdits | None:
        """Edits from before a crash on a file that was opened, also where it was moved since."""
        found = left_behind()
        self._say_aside(found.note())
        mark = document.source.fingerprint
        fitting = [kept for kept in found.kept if kept.belongs_to(document, mark)]
        return next((kept for kept in fitting if kept.fingerprint == mark), next(iter(fitting), None))

    def _say_aside(self, note: str) -> None:
        if note:
            LOGGER.warning("%s", note)
            self._signals.message.emit(note)

    def _wants(self, kept: KeptEdits, document: Document | None = None) -> bool:
        """Ask whether edits from before a crash are wanted; they are gone only where they are said not to be."""
        same = kept.same_file if document is None else kept.fingerprint == document.source.fingerprint
        changed = "" if same else " The file has changed since then."
        if document is not None and document.path != kept.document:
            changed = f" {document.path} has the same content."
        text = f"TileView ended unexpectedly with edits on {kept.document}.{changed} Open it with these edits?"
        answer = ask_to_recover(self._window, text, kept.labels[-8:])
        if answer is EditsAnswer.DISCARD:
            kept.discard()
        return answer is EditsAnswer.RECOVER

    def _take_recovered(self, document: Document, kept: KeptEdits) -> None:
        """Open a document with edits from before a crash; those that have no place in it wait for the content they were
        made on."""
        carried = carry_over(document, kept.steps, kept.marks)
        self.show_document(document, carried.steps)
        if carried.conflicts:
            kept.keep_rest()
            text = (
                "Some edits do not apply to this file. They are kept, and offered again when the file that they were "
                "made on is opened.\n" + "\n".join(carried.conflicts[:20])
            )
            ErrorDialog("Not all edits were recovered", text, "", self._window).open()
        elif self.recovery.write():
            kept.discard()

    # -- ends -----------------------------------------------------------------------------------------------------

    def close(self, keep_edits: bool = False) -> None:
        """End loading and watching. The recovery file goes, unless edits are to be offered at the next start."""
        self.loader.close()
        self.watch.close()
        self.recovery.close(keep_edits)


def samples() -> list[Path]:
    """The sample files that come with TileView, broken ones left out."""
    folder = sample_folder()
    return sorted(folder.glob("*.json")) if folder.is_dir() else []
