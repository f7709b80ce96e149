"""Notes on steps, kept with the settings of their file."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QInputDialog, QWidget

from tileview.analysis.identity import noted_steps, step_keys
from tileview.qt.base.settings import Settings
from tileview.session.session import Session


class StepNotes(QObject):
    """The notes on the steps of the open file; ``changed`` when one was written or taken away."""

    changed = Signal()

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(parent)
        self._session, self._window = session, parent
        self._kept: dict[str, str] = {}

    def load(self) -> None:
        """Read the notes of the file that is open now."""
        document = self._session.document
        self._kept = {} if document is None else Settings().notes(document.path)

    def by_step(self) -> dict[int, str]:
        """Step → note, on the current timeline."""
        timeline = self._session.timeline
        return {} if timeline is None else noted_steps(timeline, self._kept)

    def write(self, step: int, text: str) -> None:
        """Note something on a step; an empty text takes the note away."""
        timeline, document = self._session.timeline, self._session.document
        if timeline is None or document is None or not 0 <= step < len(timeline.steps):
            return
        key = step_keys(timeline)[step]
        self._kept.pop(key, None)
        if text.strip():
            self._kept[key] = " ".join(text.split())
        Settings().keep_notes(document.path, self._kept)
        self.changed.emit()

    def ask(self) -> None:
        """Ask for the note on the selected step."""
        step = self._session.selection.step
        if step is None or self._session.timeline is None:
            return
        dialog = QInputDialog(self._window)
        dialog.setWindowTitle(f"Note on step {step:,}")
        dialog.setLabelText("It is kept with this file's settings, not in the file. Leave it empty to delete it.")
        dialog.setTextValue(self.by_step().get(step, ""))
        dialog.textValueSelected.connect(lambda text: self.write(step, text))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
