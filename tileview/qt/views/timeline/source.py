"""The curves that the timeline shows, from the session: of the fullest tile, of the selected one, of the baseline."""

from __future__ import annotations

import numpy as np

from tileview.model.timeline import ByteArray, Timeline, is_same_program, steps_read
from tileview.present.curves import BoolArray, CurveMode, Curves, curves, matched_max, matching_steps
from tileview.session.session import Session

Behind = tuple[tuple[ByteArray, BoolArray] | None, tuple[ByteArray, ByteArray] | None]
"""The baseline's total with whether there is one, and its two classes, on the steps of the current timeline."""


class CurveSource:
    """What is drawn in a mode. Those curves that do not follow the selected tile are kept while it changes."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.mode = CurveMode.BOTH
        self._kept: tuple[Timeline, tuple[object, ...], Curves] | None = None

    @property
    def tile(self) -> int | None:
        """The selected tile, where a curve follows it."""
        return self._session.selection.tile if self.mode in (CurveMode.BOTH, CurveMode.TILE) else None

    def effective(self) -> CurveMode:
        """The mode that is drawn: without a selected tile its curves give way to those of the worst one."""
        return CurveMode.WORST if self.mode in (CurveMode.BOTH, CurveMode.TILE) and self.tile is None else self.mode

    def first(self, timeline: Timeline) -> Curves:
        """The curves that classes, layers and budgets are drawn with."""
        mode = self.effective()
        key = (mode, self.tile if mode is CurveMode.TILE else None, steps_read(timeline))
        if self._kept is None or not is_same_program(self._kept[0], timeline) or self._kept[1] != key:
            self._kept = (timeline, key, curves(timeline, mode, self.tile))
        return self._kept[2]

    def second(self, timeline: Timeline) -> Curves | None:
        """The selected tile's curves, where they are wanted beside the first ones."""
        if self.effective() is not CurveMode.BOTH:
            return None
        return curves(timeline, CurveMode.TILE, self.tile)

    def behind(self, timeline: Timeline) -> Behind:
        """The baseline's curves; nothing where there is none to compare with."""
        pin, mode, tile = self._session.baseline, self.effective(), self.tile
        other = None if pin is None else pin.timeline
        if other is None or other is timeline or not other.steps:
            return (None, None)
        if mode is CurveMode.TILE and (tile is None or tile >= other.tile_count):
            return (None, None)
        before = curves(other, mode, tile)
        ranges = matching_steps(timeline, other)
        (total, present), (standard, _), (interleaved, _) = (
            matched_max(sizes, ranges) for sizes in (before.total, before.standard, before.interleaved)
        )
        lost, _ = matched_max(before.unavailable.astype(np.int64), ranges)
        return (total, present & (lost == 0)), (standard, interleaved)
