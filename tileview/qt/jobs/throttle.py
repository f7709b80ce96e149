"""Keeping tables out of the way of a held key: what costs much is done some times a second, not at every step."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from PySide6.QtCore import QObject, QTimer

_QUICK_SECONDS = 0.12
"""Requests closer together than this come from a held key or a drag."""
_STREAK = 3
_COSTLY_SECONDS = 0.001
_REST_MS = 80


class Pace(QObject):
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
        self._timer.setInterval(_REST_MS)
        self._timer.timeout.connect(self.now)

    @property
    def is_waiting(self) -> bool:
        return self._timer.isActive()

    def ask(self) -> None:
        """Refresh now, or soon."""
        moment = perf_counter()
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
        started = perf_counter()
        self._run()
        self._cost = perf_counter() - started

    def stop(self) -> None:
        """Forget a refresh that waits."""
        self._timer.stop()
