"""Python's garbage is collected in the window's thread only.

A collection runs on whichever thread happens to allocate, and a widget, pixmap or timer that it finds in a cycle is
destroyed there. Qt objects must not be destroyed on another thread than theirs: the program crashes, seldom, and
somewhere else. So while windows are open, or a thread of ours works, collections do not run by themselves; the window's
thread makes up for them between events.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

_EVERY_MS = 500
_THRESHOLDS = (700, 10, 10)
"""Python's own, whatever holds for the process."""
FULL_TO_ALL = 8
"""Full collections after which the next one looks at everything again."""
MANY = 50_000
"""So many new objects between two looks are a document or an estimate, none of them in a cycle: not worth a look that
takes longer than a frame."""
MOST_SET_ASIDE = 150_000
"""Looking at more objects than this at once would be felt: what is set aside stays so."""


class _Holds:
    """Counts who wants no collections by themselves. Calls come from the window's thread."""

    def __init__(self) -> None:
        self._count = 0
        self._was_on = True

    def hold(self) -> None:
        if self._count == 0:
            self._was_on = gc.isenabled()
            gc.disable()
        self._count += 1

    def release(self) -> None:
        self._count -= 1
        if self._count == 0 and self._was_on:
            gc.enable()


HOLDS = _Holds()


class GuiCollector(QObject):
    """Collects in the thread it lives in, from its making until :meth:`close`.

    It follows Python's own rule: the generation whose count is over its threshold is collected, the oldest such one
    first, and nothing where little was allocated. Objects that a large document is made of are set aside unseen, as is
    what the program consists of.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        HOLDS.hold()
        self._is_open = True
        self._full = 0
        self._timer = QTimer(self)
        self._timer.setInterval(_EVERY_MS)
        self._timer.timeout.connect(self.collect)
        self._timer.start()
        gc.freeze()

    def collect(self) -> None:
        counts = gc.get_count()
        if counts[0] > MANY:
            gc.freeze()
            return
        for generation in (2, 1, 0):
            if counts[generation] > _THRESHOLDS[generation]:
                gc.collect(generation)
                if generation == 2:
                    self._set_aside()
                return

    def _set_aside(self) -> None:
        """Do not look at what survived again and again; now and then do so nevertheless.

        A large document has hundreds of thousands of objects, none of them in a cycle, and looking at all of them takes
        a tenth of a second.
        """
        self._full += 1
        if self._full % FULL_TO_ALL == 0 and gc.get_freeze_count() < MOST_SET_ASIDE:
            gc.unfreeze()
        else:
            gc.freeze()

    def close(self) -> None:
        """Python collects by itself again, unless another window is open."""
        if self._is_open:
            self._is_open = False
            self._timer.stop()
            gc.unfreeze()
            HOLDS.release()
