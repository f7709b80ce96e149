"""The scale of each metric of the tile view, locked until the user chooses otherwise."""

from __future__ import annotations

from tileview.model.timeline import Timeline
from tileview.present.curves import IndexArray
from tileview.present.rasters import Metric, Scale, ScaleMode, TileField, scale_for
from tileview.present.state_maps import DifferenceScale


class MetricScales:
    """How each metric is scaled, for each apart.

    All start locked to 0 … budget, but for the bytes of a single allocation: they end at its largest, which is the same
    at every step, so that it is as steady, and small ones are seen.
    """

    def __init__(self) -> None:
        self._modes = dict.fromkeys(Metric, ScaleMode.LOCKED) | {Metric.ALLOCATION: ScaleMode.AUTO}
        self._ends: dict[Metric, tuple[int, int]] = {}
        self._differences = DifferenceScale()

    def mode(self, metric: Metric) -> ScaleMode:
        return self._modes[metric]

    def of(
        self, timeline: Timeline, field: TileField, baseline: Timeline | None = None, matches: IndexArray | None = None
    ) -> Scale:
        """What the colours of a picture mean; differences are from ``baseline``, whose steps ``matches`` gives."""
        known = 0
        if field.metric is Metric.DIFFERENCE and baseline is not None:
            known = self._differences.largest(timeline, baseline, matches, field)
        return scale_for(timeline, field, self._modes[field.metric], self._ends.get(field.metric), known)

    def choose(
        self, metric: Metric, mode: ScaleMode, ends: tuple[int, int] | None, current: Scale | None
    ) -> tuple[int, int] | None:
        """Another scale; gives the ends of a custom one: those asked for, those it had before, or the current ones."""
        self._modes[metric] = mode
        if mode is not ScaleMode.CUSTOM:
            return None
        chosen = ends or self._ends.get(metric)
        if chosen is None:
            chosen = (0, 1 << 19) if current is None else (current.low, current.high)
        self._ends[metric] = chosen
        return chosen

    def set_ends(self, metric: Metric, ends: tuple[int, int]) -> bool:
        """Ends of a custom scale; False where the lower is not below the upper, then nothing changes."""
        if ends[0] >= ends[1]:
            return False
        self._ends[metric] = ends
        return True
