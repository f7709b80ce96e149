"""What the bars of the tile view are made of, and which limits stand beside its numbers."""

from __future__ import annotations

import numpy as np

from tileview.model.timeline import Timeline
from tileview.present.rasters import Metric, TileField
from tileview.qt.views.tiles.bars import Layer
from tileview.qt.views.tiles.text import METRIC_NAMES

_SERIES = {
    "standard": "standard",
    "interleaved": "interleaved",
    "warning": "more than the baseline",
    "accent": "less than the baseline",
}
"""What the colours of the bars mean, by theme token."""


def bar_layers(timeline: Timeline, field: TileField) -> list[Layer]:
    """The layers that add up to a bar: the two classes of a total, else one; more and less of a difference."""
    usage = timeline.tiles.usage(field.step)
    if field.metric is Metric.TOTAL:
        return [(usage[:, 0], "standard"), (usage[:, 1], "interleaved")]
    if field.metric is Metric.DIFFERENCE:
        return [(np.maximum(field.values, 0), "warning"), (np.minimum(field.values, 0), "accent")]
    token = {Metric.INTERLEAVED: "interleaved", Metric.STANDARD: "standard"}.get(field.metric, "accent")
    return [(field.values, token)]


def series_names(layers: list[Layer], metric: Metric) -> list[tuple[str, str]]:
    """Token and name of each layer, for the legend."""
    if metric is Metric.ALLOCATION:
        return [(token, METRIC_NAMES[metric].lower()) for _, token in layers]
    return [(token, _SERIES[token]) for _, token in layers]


def scale_marks(timeline: Timeline, metric: Metric) -> list[tuple[int, str]]:
    """Bytes with a name that a metric is held against: what the reserve leaves of the budget, or the interleaved
    budget.
    """
    if metric is Metric.INTERLEAVED:
        return [(timeline.interleaved_budget_bytes, "interleaved budget")]
    if metric in (Metric.TOTAL, Metric.STANDARD):
        limit = timeline.budget_bytes - timeline.reserve_bytes
        return [(limit, "budget − reserve")] if timeline.reserve_bytes else [(limit, "budget")]
    return []
