"""The session as Qt signals, and what the window's parts tell each other: what every view is built on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from tileview.model.timeline import Timeline
from tileview.present.operation_colours import operation_colours
from tileview.qt.base.theme import Theme, load_theme
from tileview.qt.jobs.pacing import IdleQueue, StaggeredCalls, takes_turns
from tileview.session.session import Change, Session


@dataclass(frozen=True, slots=True)
class WorkLine:
    """One piece of running work: what it is, how much is done and of how much (0: not known); whether it is paused,
    None where it cannot be."""

    text: str
    done: int = 0
    total: int = 0
    is_paused: bool | None = None


class Work(QObject):
    """What runs in the background of one window, by key; shown in the status bar."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lines: dict[str, WorkLine] = {}

    def show(self, key: str, text: str, done: int = 0, total: int = 0, is_paused: bool | None = None) -> None:
        """Show or update one piece of work."""
        self._lines[key] = WorkLine(text, done, total, is_paused)
        self.changed.emit()

    def end(self, key: str) -> None:
        if self._lines.pop(key, None) is not None:
            self.changed.emit()

    def running(self) -> tuple[str, ...]:
        """The keys of what runs."""
        return tuple(self._lines)

    @property
    def newest(self) -> WorkLine | None:
        """What was begun last of what runs."""
        return next(reversed(self._lines.values()), None)


class SessionSignals(QObject):
    """Owns the session's signals and the theme; lives in the GUI thread.

    The signals carry nothing: a view that is told reads the session. ``hovered`` is transient (an operation id, a
    root, a tile; any may be None) and never changes a table. ``message`` passes through the status bar; ``notice`` is a
    sentence that stays there until it is dealt with (empty: it is). ``fault`` is a sentence and details of something
    that failed in the background: shown and logged. ``requested`` asks the main window to run a command by name, with
    an argument; ``diagnosed`` carries the newest diagnosis, None while there is none; ``needs_wanted`` asks for the
    memory in which every tile of some states is placed, the most wanted first (none: it is no longer in sight).
    ``is_first_estimate`` is True until the first estimate of a document has been told. ``turns`` is where views wait to
    show a large file, ``quiet`` where computations wait until the views have shown what is known, ``work`` what runs.
    """

    document_changed = Signal()
    state_changed = Signal()
    estimate_changed = Signal()
    selection_changed = Signal()
    alternatives_changed = Signal()
    placement_changed = Signal()
    overflows_changed = Signal()
    pins_changed = Signal()
    theme_changed = Signal()
    hovered = Signal(object, object, object)
    message = Signal(str)
    notice = Signal(str)
    fault = Signal(str, str)
    requested = Signal(str, object)
    diagnosed = Signal(object)
    needs_wanted = Signal(object)

    def __init__(self, session: Session, theme: Theme | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self._theme = load_theme("light") if theme is None else theme
        self.turns = StaggeredCalls(self)
        self.quiet = IdleQueue(self.turns, self)
        self.work = Work(self)
        self.is_first_estimate = True
        self._coloured: Timeline | None = None
        self._colours: Mapping[int, int] = {}
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
            Change.PLACEMENT: self.placement_changed,
            Change.OVERFLOWS: self.overflows_changed,
            Change.PINS: self.pins_changed,
        }[change].emit()
        if change is Change.ESTIMATE:
            self.is_first_estimate = False

    @property
    def theme(self) -> Theme:
        return self._theme

    def colours(self, is_read: bool = False) -> Mapping[int, int]:
        """Operation → index of its category in the theme, the same in every view; operations not in it are grey.

        All are grey in a large file until somebody says that its allocations ``is_read``.
        """
        timeline = self.session.timeline
        if self._coloured is not timeline:
            if not is_read and takes_turns(timeline, may_wait=False):
                return {}
            self._coloured, self._colours = timeline, operation_colours(timeline)
        return self._colours

    def set_theme(self, theme: Theme) -> None:
        if theme != self._theme:
            self._theme = theme
            self.theme_changed.emit()

    def close(self) -> None:
        """Stop listening to the session."""
        self.turns.close()
        self.quiet.close()
        self._unsubscribe()
