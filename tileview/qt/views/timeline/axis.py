"""The steps that are visible, shared by curves and lifetime bars, with a history to go back through."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject, Signal

_SMALLEST = 4.0
"""Steps that are visible at least."""
_ONE_GESTURE_SECONDS = 0.6
"""Changes of one kind closer together than this are one entry of the history."""
_REMEMBERED = 64


class StepAxis(QObject):
    """A range of steps ``first`` … ``last``, fractions allowed, inside 0 … ``steps``."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.steps = 1
        self.first, self.last = 0.0, 1.0
        self._past: list[tuple[float, float]] = []
        self._gesture = ("", 0.0)

    @property
    def can_go_back(self) -> bool:
        return bool(self._past)

    @property
    def is_fit(self) -> bool:
        return self.first <= 0 and self.last >= self.steps

    def set_steps(self, steps: int, keep: bool) -> None:
        """So many steps now; ``keep`` leaves the range in place as far as it can, else all are shown and the history
        ends.
        """
        all_shown = self.is_fit
        self.steps = max(steps, 1)
        if not keep:
            self._past.clear()
        if not keep or all_shown:
            self.first, self.last = 0.0, float(self.steps)
            self.changed.emit()
        else:
            self._set(self.first, self.last)

    def show(self, first: float, last: float, gesture: str = "show") -> None:
        """Make a range visible; what was visible can be gone back to."""
        before = (self.first, self.last)
        if self._set(first, last):
            kind, moment = self._gesture
            now = time.monotonic()
            if gesture != kind or now - moment > _ONE_GESTURE_SECONDS:
                self._past.append(before)
                del self._past[:-_REMEMBERED]
            self._gesture = (gesture, now)

    def _set(self, first: float, last: float) -> bool:
        size = min(max(last - first, min(_SMALLEST, self.steps)), self.steps)
        middle = (first + last) / 2
        first = min(max(middle - size / 2, 0.0), self.steps - size)
        if (first, first + size) == (self.first, self.last):
            return False
        self.first, self.last = first, first + size
        self.changed.emit()
        return True

    def zoom(self, factor: float, about: float) -> None:
        """Show ``factor`` times as few steps; the step ``about`` stays where it is."""
        self.show(about - (about - self.first) / factor, about + (self.last - about) / factor, "zoom")

    def pan(self, steps: float) -> None:
        """Move by so many steps, as far as there are any."""
        size = self.last - self.first
        first = min(max(self.first + steps, 0.0), self.steps - size)
        self.show(first, first + size, "pan")

    def reveal(self, step: int) -> None:
        """Move just so far that a step is visible; no entry of the history, because the cursor is gone back to by its
        own keys.
        """
        size = self.last - self.first
        if step < self.first:
            self._set(step - size * 0.1, step - size * 0.1 + size)
        elif step + 1 > self.last:
            self._set(step + 1 - size * 0.9, step + 1 + size * 0.1)

    def centre(self, step: int) -> None:
        """Bring a step into the middle, zooming in where all steps are shown."""
        size = self.last - self.first
        if self.is_fit:
            size = max(self.steps / 4, min(40.0, self.steps))
        self.show(step + 0.5 - size / 2, step + 0.5 + size / 2, "centre")

    def fit(self) -> None:
        """Show all steps."""
        self.show(0.0, float(self.steps), "fit")

    def back(self) -> bool:
        """What was visible before; False where there is nothing to go back to."""
        if not self._past:
            return False
        first, last = self._past.pop()
        self._gesture = ("", 0.0)
        self._set(first, last)
        return True
