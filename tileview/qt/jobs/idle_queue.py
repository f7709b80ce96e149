"""Work on other threads begins when the window has shown what is known already.

Python runs one thread at a time. A computation beside views that draw would make each of them take twice as long, and
it is the views that a user waits for: what they have to show first takes milliseconds, the computation goes on for as
long as it needs. For the same reason one computation waits for another, though not for long.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Slot

from tileview.qt.jobs.staggered import Turns

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


class Quiet(QObject):
    """Calls that are made one by one when the window is at rest; one that waits already is not added again.

    ``turns`` are those of views that still have to show something. ``is_engaged`` says whether a computation is under
    way already.
    """

    def __init__(self, turns: Turns, parent: QObject | None = None) -> None:
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
