"""Where something is to be written: asking for a file, never replacing one unasked, writing it beside the window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QFileDialog, QWidget

from tileview.formats.files import BLOCK_BYTES, BlockSums, fingerprint
from tileview.formats.save import replacement_notes, write_atomic
from tileview.qt.base.settings import Settings
from tileview.qt.jobs.process import Reporter
from tileview.qt.jobs.runner import Job, Runner, failure_of
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.widgets.dialogs import ErrorDialog, confirm, show_error


def same_file(first: Path, second: Path) -> bool:
    """Whether two paths name one file, links and spellings included."""
    try:
        return first.exists() and second.exists() and first.samefile(second)
    except OSError:
        return first.absolute() == second.absolute()


def ask_target(window: QWidget, settings: Settings, title: str, suggested: Path, kinds: str) -> tuple[Path, str] | None:
    """Ask for a file to write, in the folder last used; its path and the kind chosen, None where the user gave up.

    Whether something may be replaced is asked later, in words of our own.
    """
    folder = Path(settings.folder) if settings.folder else suggested.parent
    name, kind = QFileDialog.getSaveFileName(
        window, title, str(folder / suggested.name), kinds, options=QFileDialog.Option.DontConfirmOverwrite
    )
    return (Path(name), kind) if name else None


def may_replace(window: QWidget, opened: Path | None, target: Path) -> bool:
    """Ask before a file is replaced; the open one is never replaced by something that is no recipe of it."""
    if opened is not None and same_file(opened, target):
        text = f"{target.name} is the file that is open. Choose another name."
        ErrorDialog("Not exported", text, "", window).open()
        return False
    if target.exists():
        text = f"{target} exists already. Replace it?"
        return confirm(window, "Replace file?", text, "Replace", " ".join(replacement_notes(target)))
    return True


def may_replace_opened(window: QWidget, opened: Path, target: Path, mark: str) -> bool:
    """The same for a recipe, which may take the place of the open one; ``mark``: the fingerprint of that as opened."""
    if not same_file(opened, target):
        return may_replace(window, opened, target)
    lost = "The plans as opened would be lost."
    if not _holds(target, mark):
        lost = "It has changed on disk since it was opened; that change would be lost."
    return confirm(
        window,
        "Replace the opened file?",
        f"{target.name} is the file that is open. Replace it with the edited recipe?",
        "Replace the opened file",
        " ".join((lost, *replacement_notes(target))),
    )


def _holds(path: Path, wanted: str) -> bool:
    """Whether a file's content has this fingerprint."""
    sums = BlockSums()
    try:
        with path.open("rb") as file:
            while part := file.read(BLOCK_BYTES):
                sums.add(part)
    except OSError:
        return False
    return fingerprint(sums.all()) == wanted


class FileWriter(QObject):
    """What all exports of a window share: where to, the work beside the window, how it went."""

    work_key = ""

    def __init__(self, signals: SessionSignals, settings: Settings, window: QWidget) -> None:
        super().__init__(window)
        self.signals = signals
        self.settings = settings
        self.window = window
        self.writing = Runner(self)
        self.writing.ended.connect(self._on_written)

    def ask(self, title: str, suggested: Path, kinds: str) -> Path | None:
        """Ask where to write; a name without any ending gets the one suggested."""
        found = ask_target(self.window, self.settings, title, suggested, kinds)
        if found is None:
            return None
        return found[0] if found[0].suffix else found[0].with_name(f"{found[0].name}{suggested.suffix}")

    def write(self, target: Path, make: Callable[[Reporter], tuple[bytes, str]]) -> None:
        """Write what ``make`` gives beside the window: the bytes, and what to say besides that they are written."""

        def work(reporter: Reporter) -> str:
            data, note = make(reporter)
            reporter.check()
            write_atomic(target, data)
            return note

        if self.work_key:
            self.signals.work.show(self.work_key, f"Writing {target.name}")
        self.writing.submit(Job(work, about=target))

    def written(self, target: Path, note: str = "") -> None:
        """Say that a file is written, and remember its folder."""
        self.settings.folder = str(target.parent)
        self.signals.message.emit(f"Exported to {target}.{note}")

    def failed(self, summary: str, details: str = "") -> None:
        show_error("Not exported", summary, details, self.window)

    @Slot(object, str, object)
    def _on_written(self, job: Job, outcome: str, payload: object) -> None:
        self.signals.work.end(self.work_key)
        if outcome == "done" and isinstance(job.about, Path):
            self.written(job.about, str(payload))
        elif outcome == "cancelled":
            self.signals.message.emit("Stopped: nothing was exported.")
        else:
            self.failed(*failure_of(outcome, payload))

    def stop(self) -> None:
        """Give up what is being made; a file that is being written is finished."""
        self.writing.cancel_all()

    def close(self) -> None:
        """Wait for a file that is being written: it would be left half done otherwise."""
        self.writing.close()
