"""Reads what a stack of layers needs, a little at a time between events."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject, QTimer, Signal

from tileview.model.timeline import Timeline, is_same_program, steps_read
from tileview.present.curves import Curves, Series, Stacking, StackSource
from tileview.present.operation_colours import COLOURED
from tileview.qt.jobs.pacing import takes_turns

_FIRST_SECONDS = 0.05
"""How long a stack may keep the window waiting when it is asked for."""
_TURN_SECONDS = 0.012
"""How long reading goes on between two events after that."""


def _read_for(stacking: Stacking, seconds: float) -> bool:
    """Read for a while; True when all has been read."""
    end = time.monotonic() + seconds
    while not stacking.advance(4):
        if time.monotonic() > end:
            return False
    return True


class LayerReader(QObject):
    """Makes the stack of one timeline. ``ready``: it is there; ``progressed``: how much has been read, of how much."""

    ready = Signal()
    progressed = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._stacking: Stacking | None = None
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
        stacking = self._stacking
        if stacking is None or stacking.shown is not shown:
            is_read = stacking is not None and is_same_program(stacking.source.timeline, timeline)
            known = stacking.source if stacking is not None and is_read else StackSource(timeline)
            stacking = self._stacking = Stacking(known, shown, COLOURED, places)
        if _read_for(stacking, _TURN_SECONDS if takes_turns(timeline, may_wait=True) else _FIRST_SECONDS):
            self._timer.stop()
            return stacking.layers
        self._timer.start()
        return ()

    def stop(self) -> None:
        """Read no further; what was read is kept."""
        self._timer.stop()

    def forget(self) -> None:
        """Another document."""
        self._timer.stop()
        self._stacking = None

    def _read_on(self) -> None:
        stacking = self._stacking
        if stacking is None:
            self._timer.stop()
        elif _read_for(stacking, _TURN_SECONDS):
            self._timer.stop()
            self.ready.emit()
        else:
            self.progressed.emit(min(stacking.read, stacking.count), stacking.count)
