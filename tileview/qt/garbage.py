"""Python's garbage collector, run in the GUI thread only.

Left to itself the collector runs in whatever thread happens to allocate: on a thread that reads a file or computes an
estimate it would delete the Qt objects of dead rings there, which Qt does not survive. So it is switched off, and a
timer of the GUI thread does its work. Documents and estimates contain no rings (a test holds that), they go with their
last reference; what is left for the collector are widgets and dialogs.
"""

from __future__ import annotations

import gc
from typing import Final

from PySide6.QtCore import QObject, QTimer, Slot

TICK_MS: Final = 1000
_YOUNG: Final = 2000
"""New objects from which on it is worth while to look at them."""
_TICKS_TO_MIDDLE, _TICKS_TO_FULL = 8, 60
"""Collections after which the next older generation is looked at as well."""
_FULL_TO_ALL: Final = 16
"""Full collections after which objects that were set aside are looked at again."""


class Collector(QObject):
    """Collects while it lives; one for the whole program.

    Objects that survive a full collection are set aside (``gc.freeze``): a large document has hundreds of thousands,
    and looking at all of them takes a tenth of a second each time. Now and then they are looked at all the same.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._was_enabled = gc.isenabled()
        self._ticks = 0
        self._full = 0
        gc.disable()
        self._timer = QTimer(self)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self.tick)
        self._timer.start()

    @Slot()
    def tick(self) -> None:
        """Collect as much as is due."""
        if gc.get_count()[0] < _YOUNG:
            return
        self._ticks += 1
        if self._ticks % _TICKS_TO_FULL == 0:
            self.collect()
        else:
            gc.collect(0 if self._ticks % _TICKS_TO_MIDDLE else 1)

    def collect(self) -> None:
        """A full collection; what survives is set aside."""
        self._full += 1
        if self._full % _FULL_TO_ALL == 0:
            gc.unfreeze()
        gc.collect()
        gc.freeze()

    def close(self) -> None:
        """Give the collector back to Python."""
        self._timer.stop()
        gc.unfreeze()
        if self._was_enabled:
            gc.enable()
