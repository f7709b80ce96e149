"""How far the colours of differences reach: steady from step to step, so that a colour keeps its meaning.

The largest difference of all steps would need the usage of each of them in both timelines, which is too much for long
ones. So some steps are looked at ahead, spread evenly, and the end only grows while the same two are compared.
"""

from __future__ import annotations

import numpy as np

from tileview.model.timeline import Timeline
from tileview.present.curves import IndexArray, matching_steps
from tileview.present.rasters import Metric, TileField, tile_field

LOOKED_AT = 32
"""Steps looked at ahead: some 20 ms for two estimates of a whole chip. All of them, where there are no more."""


class DifferenceScale:
    """The largest difference known of the two timelines that are compared."""

    def __init__(self) -> None:
        self._pair: tuple[Timeline, Timeline] | None = None
        self._largest = 0

    def largest(self, timeline: Timeline, baseline: Timeline, matches: IndexArray | None, field: TileField) -> int:
        """Bytes: the largest absolute difference in ``field``, in those shown before, and in those looked at ahead.

        Parameters
        ----------
        matches : (steps, 2), optional
            What :func:`tileview.present.curves.matching_steps` gives for the two, where the caller has it already.
        field : TileField
            The difference that is shown.
        """
        if self._pair is None or self._pair[0] is not timeline or self._pair[1] is not baseline:
            self._pair = (timeline, baseline)
            self._largest = _ahead(timeline, baseline, matches)
        self._largest = max(self._largest, _largest(field))
        return self._largest


def _ahead(timeline: Timeline, baseline: Timeline, matches: IndexArray | None) -> int:
    if baseline.tile_count != timeline.tile_count:
        return 0
    matches = matching_steps(timeline, baseline) if matches is None else matches
    steps = np.unique(np.linspace(0, len(timeline.steps) - 1, min(LOOKED_AT, len(timeline.steps))).astype(np.int64))
    fields = (
        tile_field(timeline, Metric.DIFFERENCE, step, baseline=baseline, matches=matches) for step in steps.tolist()
    )
    return max((_largest(field) for field in fields), default=0)


def _largest(field: TileField) -> int:
    return 0 if field.missing else int(np.abs(field.values).max(initial=0))
