"""Reads what a stack of layers needs, a little at a time between events."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject, QTimer, Signal

from tileview.model.timeline import Timeline, steps_read
from tileview.present.curves import Curves, Series, StackSource
from tileview.present.operation_colours import COLOURED

_FIRST_SECONDS = 0.05
"""How long a stack may keep the window waiting when it is asked for."""
_TURN_SECONDS = 0.012
"""How long reading goes on between two events after that."""


def _read_for(source: StackSource, seconds: float) -> bool:
    """Read for a while; True when all has been read."""
    end = time.monotonic() + seconds
    while not source.advance(4):
        if time.monotonic() > end:
            return False
    return True


class LayerReader(QObject):
    """Keeps the source of the stack of one timeline. ``ready``: all has been read; ``progressed``: how much of how
    much.
    """

    ready = Signal()
    progressed = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._source: StackSource | None = None
        self._made: tuple[Curves, tuple[Series, ...]] | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._read_on)

    def layers(self, timeline: Timeline, shown: Curves, places: Callable[[], Mapping[int, int]]) -> tuple[Series, ...]:
        """The layers that add up to curves; empty while they are being read; ``places`` is asked for after that.

        While the steps of a large file are read elsewhere, their fullest tiles are not known: another estimate follows.
        """
        if steps_read(timeline) < len(timeline.steps):
            self._timer.stop()
            return ()
        if self._source is None or self._source.timeline is not timeline:
            self._source, self._made = StackSource(timeline), None
        if _read_for(self._source, _FIRST_SECONDS):
            self._timer.stop()
            if self._made is None or self._made[0] is not shown:
                self._made = (shown, self._source.layers(shown, COLOURED, places()))
            return self._made[1]
        self._timer.start()
        return ()

    def stop(self) -> None:
        """Read no further; what was read is kept."""
        self._timer.stop()

    def forget(self) -> None:
        """Another document."""
        self._timer.stop()
        self._source = self._made = None

    def _read_on(self) -> None:
        source = self._source
        if source is None:
            self._timer.stop()
        elif _read_for(source, _TURN_SECONDS):
            self._timer.stop()
            self.ready.emit()
        else:
            self.progressed.emit(source.read, source.count)
