"""The steps in view, shared by curves, cycles and lifetimes."""

from __future__ import annotations

from PySide6.QtCore import QObject, QRectF

from tileview.qt.plot.zoom import Zoom


class StepZoom(Zoom):
    """A range of steps ``first`` … ``last``, fractions allowed, inside 0 … ``steps``; at least 4 are in view."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent, smallest=4.0, across_only=True)

    @property
    def steps(self) -> int:
        return int(self.bounds.width())

    @property
    def first(self) -> float:
        return self.shown.left()

    @property
    def last(self) -> float:
        return self.shown.right()

    def set_steps(self, steps: int, keep: bool) -> None:
        """So many steps now; see :meth:`Zoom.set_bounds`."""
        self.set_bounds(QRectF(0, 0, max(steps, 1), 1), keep)

    def show(self, first: float, last: float, gesture: str = "show") -> None:
        """Make a range visible; what was visible can be gone back to."""
        self.show_part(QRectF(first, 0, last - first, 1), gesture)

    def reveal(self, step: int) -> None:
        """Move just so far that a step is visible; no entry of the history, because the cursor is gone back to by its
        own keys.
        """
        size = self.shown.width()
        if step < self.first:
            self.move_to(QRectF(step - size * 0.1, 0, size, 1))
        elif step + 1 > self.last:
            self.move_to(QRectF(step + 1 - size * 0.9, 0, size, 1))

    def centre(self, step: int) -> None:
        """Bring a step into the middle, zooming in where all steps are shown."""
        size = self.shown.width()
        if self.is_fit:
            size = max(self.steps / 4, min(40.0, self.steps))
        self.show(step + 0.5 - size / 2, step + 0.5 + size / 2, "centre")
