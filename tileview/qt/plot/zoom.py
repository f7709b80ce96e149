"""What part of a plot is in view: to zoom, to move, to go back. Several plots can follow one."""

from __future__ import annotations

import time
from typing import Final

from PySide6.QtCore import QObject, QPointF, QRectF, Signal

_ONE_GESTURE_SECONDS: Final = 0.6
"""Changes of one kind closer together than this are one entry of the history."""
_REMEMBERED: Final = 64


class Zoom(QObject):
    """A part ``shown`` of all there is (``bounds``), both in the plot's own units, with a short history.

    The part lies inside the bounds and is nowhere narrower than ``smallest`` units. With ``across_only`` it always has
    the height of the bounds.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None, smallest: float = 4.0, across_only: bool = False) -> None:
        super().__init__(parent)
        self.bounds, self.shown = QRectF(0, 0, 1, 1), QRectF(0, 0, 1, 1)
        self.across_only = across_only
        self._smallest = smallest
        self._past: list[QRectF] = []
        self._gesture = ("", 0.0)

    @property
    def can_go_back(self) -> bool:
        return bool(self._past)

    @property
    def is_fit(self) -> bool:
        """Whether all there is is in view."""
        return self.shown.contains(self.bounds)

    def set_bounds(self, bounds: QRectF, keep: bool) -> None:
        """Change what there is; ``keep`` leaves the part in view in place as far as it can, else all is shown and the
        history ends.
        """
        was_fit = self.is_fit
        self.bounds = QRectF(bounds)
        if not keep:
            self._past.clear()
        if not keep or was_fit:
            self.shown = QRectF(bounds)
            self.changed.emit()
        else:
            self.move_to(self.shown)

    def show_part(self, part: QRectF, gesture: str = "show") -> None:
        """Bring a part into view; what was in view can be gone back to."""
        before = QRectF(self.shown)
        if self.move_to(part):
            kind, moment = self._gesture
            now = time.monotonic()
            if gesture != kind or now - moment > _ONE_GESTURE_SECONDS:
                self._past.append(before)
                del self._past[:-_REMEMBERED]
            self._gesture = (gesture, now)

    def move_to(self, part: QRectF) -> bool:
        """Bring a part into view without an entry in the history; False where it was in view already."""
        bounds = self.bounds
        left, width = self._inside(part.left(), part.width(), bounds.left(), bounds.width())
        top, height = bounds.top(), bounds.height()
        if not self.across_only:
            top, height = self._inside(part.top(), part.height(), bounds.top(), bounds.height())
        if (left, top, width, height) == self.shown.getRect():
            return False
        self.shown = QRectF(left, top, width, height)
        self.changed.emit()
        return True

    def _inside(self, start: float, size: float, least: float, most: float) -> tuple[float, float]:
        """Start and size of a stretch about the same middle, not too small, and inside of what there is."""
        middle = start + size / 2
        size = min(max(size, min(self._smallest, most)), most)
        return min(max(middle - size / 2, least), least + most - size), size

    def zoom(self, factor: float, about: QPointF) -> None:
        """Show ``factor`` times as little; the place ``about`` stays where it is."""
        old = self.shown
        left, top = (about.x() - (about.x() - old.left()) / factor, about.y() - (about.y() - old.top()) / factor)
        self.show_part(QRectF(left, top, old.width() / factor, old.height() / factor), "zoom")

    def pan(self, across: float, up: float = 0.0) -> None:
        """Move by so many units, as far as there is anything."""
        self.show_part(self.shown.translated(across, up), "pan")

    def fit(self) -> None:
        """Show all there is."""
        self.show_part(self.bounds, "fit")

    def back(self) -> bool:
        """Show what was in view before; False where there is nothing to go back to."""
        if not self._past:
            return False
        self._gesture = ("", 0.0)
        self.move_to(self._past.pop())
        return True
