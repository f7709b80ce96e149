"""Work of many views spread over turns of the event loop, so that none keeps the window from its user for long."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Slot

from tileview.model.timeline import Origin, Timeline

_LARGE = 2000
"""Steps and values of a file together from which on the views take turns."""

REST_MS = 1
"""Between two calls, so that whatever else is due goes first."""


def is_large(timeline: Timeline | None, is_first: bool) -> bool:
    """Whether views are to take turns, since showing a timeline in all of them at once would be felt.

    A view that has not had its turn yet shows what was there before, and that must still be a place that exists: so
    only the first timeline of a document, and later ones of files, where no edit changes the number of steps.
    """
    if timeline is None or not (is_first or timeline.origin is Origin.FILE):
        return False
    return len(timeline.steps) + len(timeline.values) > _LARGE


class Turns(QObject):
    """Calls that wait, one made in each turn of the event loop, in the order in which they came."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: list[Callable[[], None]] = []
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._next)

    @property
    def is_done(self) -> bool:
        return not self._waiting

    def add(self, call: Callable[[], None]) -> None:
        self._waiting.append(call)
        if not self._timer.isActive():
            self._timer.start(0)

    @Slot()
    def _next(self) -> None:
        if self._waiting:
            self._waiting.pop(0)()
        if self._waiting:
            self._timer.start(REST_MS)

    def finish(self) -> None:
        """Make all of them now."""
        while self._waiting:
            self._next()

    def close(self) -> None:
        """Forget them."""
        self._waiting.clear()
        self._timer.stop()
