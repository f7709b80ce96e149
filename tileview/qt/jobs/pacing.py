"""Everything that is put off, so that none keeps the window from its user: calls in turns, at rest, or now and then.

Python runs one thread at a time. A computation beside views that draw would make each of them take twice as long, and
it is the views that a user waits for: what they have to show first takes milliseconds, the computation goes on for as
long as it needs. For the same reason one computation waits for another, though not for long.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Slot

from tileview.model.timeline import Origin, Timeline

LARGE = 2000
"""Steps and values of a file together from which on the views take turns."""
REST_MS = 1
"""Between two staggered calls, so that whatever else is due goes first."""

LOOK_MS = 1
CALM_SECONDS = 0.004
"""Looks that follow each other within this time found nothing else to do."""
CALM_LOOKS = 3
PATIENCE_SECONDS = 0.25
"""How long a window that is never at rest is waited for, as where a key is held down."""
ENGAGED_MS = 20
"""How often a computation under way is looked at."""
ENGAGED_SECONDS = 1.0
"""How long it is waited for."""

_QUICK_SECONDS = 0.12
"""Requests closer together than this come from a held key or a drag."""
_STREAK = 3
_COSTLY_SECONDS = 0.001
_THROTTLED_MS = 80


def takes_turns(timeline: Timeline | None, may_wait: bool) -> bool:
    """Whether views are to take turns, since showing a timeline in all of them at once would be felt.

    A view that has not had its turn yet shows what was there before, and that must still be a place that exists: so
    only the first timeline of a document, and later ones of files, where no edit changes the number of steps; after
    edits only views that ``may_wait`` all the same.
    """
    if timeline is None or not (may_wait or timeline.origin is Origin.FILE):
        return False
    return len(timeline.steps) + len(timeline.values) > LARGE


class StaggeredCalls(QObject):
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


class IdleQueue(QObject):
    """Calls that are made one by one when the window is at rest; one that waits already is not added again.

    ``turns`` are those of views that still have to show something. ``is_engaged`` says whether a computation is under
    way already.
    """

    def __init__(self, turns: StaggeredCalls, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._turns = turns
        self.is_engaged: Callable[[], bool] = lambda: False
        self._first: list[Callable[[], None]] = []
        self._waiting: list[Callable[[], None]] = []
        self._since = self._last = 0.0
        self._calm = 0
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._look)

    @property
    def is_done(self) -> bool:
        return not self._first and not self._waiting

    def add(self, call: Callable[[], None], is_first: bool = False) -> None:
        """Make a call; with ``is_first`` before all others, and whether or not a computation is under way."""
        waiting = self._first if is_first else self._waiting
        if call in waiting:
            return
        waiting.append(call)
        if not self._timer.isActive() or (is_first and len(waiting) == 1):
            self._begin()

    def _begin(self) -> None:
        self._since = self._last = time.monotonic()
        self._calm = 0
        self._timer.start(LOOK_MS)

    @Slot()
    def _look(self) -> None:
        now = time.monotonic()
        gap, self._last = now - self._last, now
        if not self._turns.is_done:
            self._begin()
            return
        if not self._first and self.is_engaged() and now - self._since < ENGAGED_SECONDS:
            self._timer.setInterval(ENGAGED_MS)
            self._calm = 0
            return
        self._timer.setInterval(LOOK_MS)
        self._calm = self._calm + 1 if gap < CALM_SECONDS else 0
        if self._calm >= CALM_LOOKS or now - self._since > PATIENCE_SECONDS:
            call = (self._first or self._waiting).pop(0)
            if self.is_done:
                self._timer.stop()
            else:
                self._begin()
            call()

    def close(self) -> None:
        """Forget them."""
        self._first.clear()
        self._waiting.clear()
        self._timer.stop()


class Throttle(QObject):
    """Runs a refresh at once, except in the middle of a quick series of requests: then at most every 80 ms.

    The last request of a series is always carried out. Only refreshes that cost something are held back, so that
    small files never see a delay.
    """

    def __init__(self, run: Callable[[], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._run = run
        self._last = 0.0
        self._streak = 0
        self._cost = 0.0
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_THROTTLED_MS)
        self._timer.timeout.connect(self.now)

    @property
    def is_waiting(self) -> bool:
        return self._timer.isActive()

    def ask(self) -> None:
        """Refresh now, or soon."""
        moment = time.perf_counter()
        self._streak = self._streak + 1 if moment - self._last < _QUICK_SECONDS else 0
        self._last = moment
        if self._streak >= _STREAK and self._cost > _COSTLY_SECONDS:
            if not self._timer.isActive():
                self._timer.start()
        else:
            self.now()

    def now(self) -> None:
        """Refresh without waiting."""
        self._timer.stop()
        started = time.perf_counter()
        self._run()
        self._cost = time.perf_counter() - started

    def stop(self) -> None:
        """Forget a refresh that waits."""
        self._timer.stop()
