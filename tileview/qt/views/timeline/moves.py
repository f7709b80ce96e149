"""Ways through the timeline: steps, peaks, steps over a budget, ranges, zoom, and the keys for all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QObject, QPointF, Qt
from PySide6.QtGui import QKeyEvent

from tileview.analysis.loads import peak_place
from tileview.analysis.overflows import next_place_over, steps_over
from tileview.qt.views.timeline.plot import StepZoom
from tileview.session.session import Session

LEAP = 10
"""Steps that an arrow key moves with Shift held, rows that a page key moves."""


class TimelineMoves(QObject):
    """Moves the selection and the steps in view.

    ``neighbour`` gives the allocation so many lifetime bars below the selected one, ``note`` asks for a note on the
    selected step, ``say`` tells the user something.
    """

    def __init__(
        self,
        session: Session,
        axis: StepZoom,
        neighbour: Callable[[int], int | None],
        note: Callable[[], object],
        say: Callable[[str], object],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._axis = session, axis
        self._neighbour, self._note, self._say = neighbour, note, say

    # -- keys -----------------------------------------------------------------------------------------------------

    def key(self, event: QKeyEvent) -> Callable[[], object] | None:
        """What a key does in the timeline; None leaves it to the plot, then to the window."""
        key, modifiers = Qt.Key(event.key()), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if modifiers & ~Qt.KeyboardModifier.ShiftModifier:
            return None
        by = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(key)
        if by is not None:
            return lambda: self.move_step(by * (LEAP if modifiers else 1))
        if key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            return lambda: self.zoom(1.5)
        if key == Qt.Key.Key_S and modifiers:
            return lambda: self.go_to_peak("S")
        typed = {"[": self.begin_range, "]": self.end_range}.get(event.text())
        if typed is not None:
            return typed
        return None if modifiers else self._plain_key(key)

    def _plain_key(self, key: Qt.Key) -> Callable[[], object] | None:
        page = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -LEAP, Qt.Key.Key_PageDown: LEAP}
        rows = page.get(key)
        if rows is not None:
            return lambda: self.move_row(rows)
        return {
            Qt.Key.Key_Home: lambda: self.go_to(0),
            Qt.Key.Key_End: lambda: self.go_to(self._axis.steps - 1),
            Qt.Key.Key_P: lambda: self.go_to_peak("P"),
            Qt.Key.Key_I: lambda: self.go_to_peak("I"),
            Qt.Key.Key_N: lambda: self.go_to_over(True),
            Qt.Key.Key_B: lambda: self.go_to_over(False),
            Qt.Key.Key_F: self.centre,
            Qt.Key.Key_Z: self.zoom_to_range,
            Qt.Key.Key_M: self._note,
            Qt.Key.Key_0: self._axis.fit,
            Qt.Key.Key_Minus: lambda: self.zoom(1 / 1.5),
            Qt.Key.Key_Backspace: self.back,
            Qt.Key.Key_Escape: self.clear_range,
        }.get(key)

    # -- steps ----------------------------------------------------------------------------------------------------

    def go_to(self, step: int) -> None:
        """Select a step and bring it into view."""
        self._session.select_step(step)
        self._axis.reveal(min(max(step, 0), self._axis.steps - 1))

    def move_step(self, by: int) -> None:
        """Select the step so many further on."""
        current = self._session.selection.step
        self.go_to(min(max((0 if current is None else current) + by, 0), self._axis.steps - 1))

    def go_to_peak(self, letter: str) -> None:
        """Select the step of a peak (P total, S standard, I interleaved) and the tile that reaches it."""
        timeline = self._session.timeline
        place = None if timeline is None else peak_place(timeline, letter)
        if place is None:
            self._say("The timeline has no such peak")
        else:
            self._session.select(replace(self._session.selection, step=place.step, tiles=(place.tile,)))
            self._axis.reveal(place.step)

    def go_to_over(self, forward: bool) -> None:
        """Select the next (previous) step at which some tile is over a budget, and the fullest such tile."""
        timeline = self._session.timeline
        place = None if timeline is None else next_place_over(timeline, self._session.selection.step, forward)
        if place is not None:
            self._session.select(replace(self._session.selection, step=place.step, tiles=(place.tile,)))
        elif timeline is not None and bool(steps_over(timeline).any()):
            self._say(f"No step {'after' if forward else 'before'} this one is over budget")
        else:
            self._say("No step is over budget")

    def move_row(self, by: int) -> None:
        """Select the allocation so many lifetime bars further down."""
        root = self._neighbour(by)
        if root is not None:
            self._session.select_allocation(root)

    # -- ranges ---------------------------------------------------------------------------------------------------

    def set_range(self, span: tuple[int, int] | None) -> None:
        """Filter the tables by a half-open range of steps, or no longer."""
        self._session.select(replace(self._session.selection, span=span))

    def clear_range(self) -> None:
        self.set_range(None)

    def begin_range(self) -> None:
        """The range starts at the selected step; it ends where it did if that is later, else with this step."""
        selection = self._session.selection
        if selection.step is None:
            self._say("Select a step first")
            return
        end = selection.span[1] if selection.span is not None and selection.span[1] > selection.step else None
        self.set_range((selection.step, selection.step + 1 if end is None else end))

    def end_range(self) -> None:
        """The range ends with the selected step; it starts where it did if that is earlier, else with this step."""
        selection = self._session.selection
        if selection.step is None:
            self._say("Select a step first")
            return
        start = selection.span[0] if selection.span is not None and selection.span[0] <= selection.step else None
        self.set_range((selection.step if start is None else start, selection.step + 1))

    # -- zoom -----------------------------------------------------------------------------------------------------

    def zoom(self, factor: float) -> None:
        """Zoom about the selected step."""
        current = self._session.selection.step
        middle = self._axis.shown.center().x() if current is None else current + 0.5
        self._axis.zoom(factor, QPointF(middle, 0))

    def zoom_to_range(self) -> None:
        """Show the range of steps that filters the tables, with a little on both sides."""
        span = self._session.selection.span
        if span is None:
            self._say("No range of steps is chosen: [ begins one at the selected step, ] ends it")
            return
        margin = (span[1] - span[0]) * 0.04
        self._axis.show(span[0] - margin, span[1] + margin, "range")

    def centre(self) -> None:
        """Bring the selected step into the middle."""
        step = self._session.selection.step
        if step is not None:
            self._axis.centre(step)

    def back(self) -> None:
        """The steps that were shown before."""
        if not self._axis.back():
            self._say("No earlier zoom to go back to")
