"""The tiles of the states that are compared, one small heat map a state: the first as it is, the others against it.

All are looked at where the first state's total peaks, each at its own step that corresponds to it: there the change
has to help. The scale of the differences is symmetrical around 0 and the same for all, so that a colour means the same
bytes in every map.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tileview.analysis.loads import total_peak_place
from tileview.analysis.words import counted, step_place
from tileview.core.geometry.chip import Grid, grid
from tileview.model.sizes import kib_text
from tileview.model.timeline import Timeline
from tileview.present.compare_rows import CompareState
from tileview.present.curves import IndexArray, matching_steps
from tileview.present.rasters import (
    ByteImage,
    Metric,
    Scale,
    ScaleMode,
    TileField,
    scale_for,
    slot_levels,
    slots_on_grid,
    tile_field,
)
from tileview.present.tables import signed_exact


@dataclass(frozen=True, slots=True)
class StateMap:
    """The map of one state. ``slots``: (rows, columns) of colour slots; ``text`` says what is seen, in words.

    ``grid`` gives the place of each tile, ``field`` the bytes (of the first state) or differences (of the others),
    ``scale`` what the colours mean.
    """

    slots: ByteImage
    grid: Grid
    field: TileField
    scale: Scale
    text: str


def state_maps(states: Sequence[CompareState]) -> list[StateMap | None]:
    """A map for each state; None where there is no step to look at."""
    base = states[0].timeline if states else None
    place = None if base is None else total_peak_place(base)
    if base is None or place is None:
        return [None] * len(states)
    fields: list[tuple[Timeline, TileField] | None] = []
    for state in states[1:]:
        timeline = state.timeline
        if timeline is None or not timeline.steps:
            fields.append(None)
            continue
        step, matches = _moment(timeline, base, place.step)
        fields.append((timeline, tile_field(timeline, Metric.DIFFERENCE, step, baseline=base, matches=matches)))
    ends = [scale_for(*found, ScaleMode.LOCKED).high for found in fields if found is not None and not found[1].missing]
    end = max(ends, default=1024)
    first = tile_field(base, Metric.TOTAL, place.step)
    scale = scale_for(base, first, ScaleMode.LOCKED)
    others = [None if found is None else _map(*found, Scale(-end, end), _words(*found, end, base)) for found in fields]
    return [_map(base, first, scale, _first_words(base, first)), *others]


def _moment(timeline: Timeline, base: Timeline, peak: int) -> tuple[int, IndexArray]:
    """The last step that corresponds to the baseline's peak, and the match that holds just these two together.

    Where the baseline's operation has no step in ``timeline``, it is the step of the same number.
    """
    start, stop = matching_steps(base, timeline)[peak].tolist()
    step = min(stop - 1 if stop > start else peak, len(timeline.steps) - 1)
    matches = np.zeros((len(timeline.steps), 2), dtype=np.int64)
    matches[step] = (peak, peak + 1)
    return step, matches


def _map(timeline: Timeline, field: TileField, scale: Scale, text: str) -> StateMap:
    placed = grid(timeline.tile_count)
    return StateMap(slots_on_grid(placed, slot_levels(field, scale)), placed, field, scale, text)


def _first_words(base: Timeline, field: TileField) -> str:
    where = step_place(field.step, len(base.steps))
    if field.missing:
        return f"Total a tile at {where}: unavailable, {field.reason}."
    over = int(field.over.sum())
    return (
        f"Total a tile at {where}: {kib_text(int(field.values.min(initial=0)))} to "
        f"{kib_text(int(field.values.max(initial=0)))}; {counted(over, 'tile')} over budget."
    )


def _words(timeline: Timeline, field: TileField, end: int, base: Timeline) -> str:
    if field.missing or field.baseline_step is None:
        return f"No difference can be shown: {field.reason}."
    here = step_place(field.step, len(timeline.steps))
    there = step_place(field.baseline_step, len(base.steps))
    more, less = int((field.values > 0).sum()), int((field.values < 0).sum())
    words = f"Total a tile at {here} against {there} of the baseline"
    if not more and not less:
        return f"{words}: all tiles the same."
    low, high = int(field.values.min()), int(field.values.max())
    same = timeline.tile_count - more - less
    return (
        f"{words}: {counted(more, 'tile')} more (up to {signed_exact(max(high, 0))}), {less:,} less (down to "
        f"{signed_exact(min(low, 0))}), {same:,} the same. Blue is less, orange more, white none; ± {kib_text(end)}."
    )


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
