"""The session as Qt signals: what every view is built on."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from tileview.qt.base.theme import Theme, load_theme
from tileview.qt.jobs.idle_queue import Quiet
from tileview.qt.jobs.staggered import Turns
from tileview.session.session import Change, Session


class Bridge(QObject):
    """Owns the session's signals and the theme; lives in the GUI thread.

    The signals carry nothing: a view that is told reads the session. ``hovered`` is transient (an operation id, a
    root, a tile; any may be None) and never changes a table. ``message`` goes to the status bar. ``fault`` is a
    sentence and details of something that failed in the background: shown and logged. ``requested`` asks the main
    window to run a command by name (see ``actions.py``), with an argument. ``is_first_estimate`` is
    True until the first estimate of a document has been told. ``turns`` is where views wait to
    show a large file, ``quiet`` where computations wait until the views have shown what is known.
    """

    document_changed = Signal()
    state_changed = Signal()
    estimate_changed = Signal()
    selection_changed = Signal()
    alternatives_changed = Signal()
    pins_changed = Signal()
    theme_changed = Signal()
    hovered = Signal(object, object, object)
    message = Signal(str)
    fault = Signal(str, str)
    requested = Signal(str, object)

    def __init__(self, session: Session, theme: Theme | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self._theme = load_theme("light") if theme is None else theme
        self.turns = Turns(self)
        self.quiet = Quiet(self.turns, self)
        self.is_first_estimate = True
        self._unsubscribe = session.subscribe(self._on_change)

    def _on_change(self, change: Change) -> None:
        if change is Change.DOCUMENT:
            self.is_first_estimate = True
        {
            Change.DOCUMENT: self.document_changed,
            Change.STATE: self.state_changed,
            Change.ESTIMATE: self.estimate_changed,
            Change.SELECTION: self.selection_changed,
            Change.ALTERNATIVES: self.alternatives_changed,
            Change.PINS: self.pins_changed,
        }[change].emit()
        if change is Change.ESTIMATE:
            self.is_first_estimate = False

    @property
    def theme(self) -> Theme:
        return self._theme

    def set_theme(self, theme: Theme) -> None:
        if theme != self._theme:
            self._theme = theme
            self.theme_changed.emit()

    def close(self) -> None:
        """Stop listening to the session."""
        self.turns.close()
        self.quiet.close()
        self._unsubscribe()
