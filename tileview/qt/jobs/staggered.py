"""Work of many views spread over turns of the event loop, so that none keeps the window from its user for long."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Slot

from tileview.model.timeline import Origin, Timeline

_LARGE = 2000
"""Steps and values of a file together from which on the views take turns."""

REST_MS = 1
"""Between two calls, so that whatever else is due goes first."""


def is_large(timeline: Timeline | None, may_wait: bool) -> bool:
    """Whether views are to take turns, since showing a timeline in all of them at once would be felt.

    A view that has not had its turn yet shows what was there before, and that must still be a place that exists: so
    only the first timeline of a document, and later ones of files, where no edit changes the number of steps; after
    edits only views that ``may_wait`` all the same.
    """
    if timeline is None or not (may_wait or timeline.origin is Origin.FILE):
        return False
    return len(timeline.steps) + len(timeline.values) > _LARGE


class Turns(QObject):
    """Calls that wait, one made in each turn of the event loop, in the order in which they came.

    Those that are for later, such as of views that nobody sees, are made when no other waits.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: list[Callable[[], None]] = []
        self._later: list[Callable[[], None]] = []
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._next)

    @property
    def is_done(self) -> bool:
        return not self._waiting and not self._later

    def add(self, call: Callable[[], None], is_for_later: bool = False) -> None:
        (self._later if is_for_later else self._waiting).append(call)
        if not self._timer.isActive():
            self._timer.start(0)

    @Slot()
    def _next(self) -> None:
        if not self.is_done:
            (self._waiting or self._later).pop(0)()
        if not self.is_done:
            self._timer.start(REST_MS)

    def finish(self) -> None:
        """Make all of them now."""
        while not self.is_done:
            self._next()

    def close(self) -> None:
        """Forget them."""
        self._waiting.clear()
        self._later.clear()
        self._timer.stop()
