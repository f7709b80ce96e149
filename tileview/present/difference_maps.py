"""By how much the tiles of states differ from those of the first one: one small heat map a state, on one scale.

All are looked at where the first state's total peaks, each at its own step that corresponds to it: there the change
has to help. The scale is symmetrical around 0 and the same for all, so that a colour means the same bytes in every map.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tileview.analysis.loads import total_peak_place
from tileview.analysis.words import counted
from tileview.core.geometry.chip import Grid, grid
from tileview.model.sizes import kib_text
from tileview.model.timeline import Timeline
from tileview.present.colours import Slot
from tileview.present.compare_states import CompareState
from tileview.present.curves import IndexArray, matching_steps
from tileview.present.places import step_place
from tileview.present.rasters import Metric, Scale, ScaleMode, TileField, scale_for, slot_levels, tile_field
from tileview.present.tables import signed_exact


@dataclass(frozen=True, slots=True)
class DifferenceMap:
    """The map of one state. ``slots``: (rows, columns) of colour slots; ``text`` says what is seen, in words.

    ``grid`` gives the place of each tile, ``field`` the differences in bytes, ``end`` the bytes at both ends of the
    scale.
    """

    slots: npt.NDArray[np.uint8]
    grid: Grid
    field: TileField
    end: int
    text: str


def difference_maps(states: Sequence[CompareState]) -> list[DifferenceMap | None]:
    """A map for each state; None for the first one, and where there is no step to look at."""
    base = states[0].timeline if states else None
    place = None if base is None else total_peak_place(base)
    fields: list[tuple[Timeline, TileField] | None] = []
    for position, state in enumerate(states):
        timeline = state.timeline
        if not position or timeline is None or not timeline.steps or base is None or place is None:
            fields.append(None)
            continue
        step, matches = _moment(timeline, base, place.step)
        field = tile_field(timeline, Metric.DIFFERENCE, step, baseline=base, matches=matches)
        fields.append((timeline, field))
    ends = [scale_for(*found, ScaleMode.LOCKED).high for found in fields if found is not None and not found[1].missing]
    end = max(ends, default=1024)
    return [None if found is None else _map(found[0], found[1], end, base) for found in fields]


def _moment(timeline: Timeline, base: Timeline, peak: int) -> tuple[int, IndexArray]:
    """The last step that corresponds to the baseline's peak, and the match that holds just these two together.

    Where the baseline's operation has no step in ``timeline``, it is the step of the same number.
    """
    start, stop = matching_steps(base, timeline)[peak].tolist()
    step = min(stop - 1 if stop > start else peak, len(timeline.steps) - 1)
    matches = np.zeros((len(timeline.steps), 2), dtype=np.int64)
    matches[step] = (peak, peak + 1)
    return step, matches


def _map(timeline: Timeline, field: TileField, end: int, base: Timeline | None) -> DifferenceMap:
    placed = grid(timeline.tile_count)
    where = np.asarray(placed.tile)
    levels = slot_levels(field, Scale(-end, end))
    slots = np.full(where.shape, Slot.BACKGROUND, dtype=np.uint8)
    slots[where >= 0] = levels[where[where >= 0]]
    return DifferenceMap(slots, placed, field, end, _words(timeline, field, end, base))


def _words(timeline: Timeline, field: TileField, end: int, base: Timeline | None) -> str:
    if field.missing or field.baseline_step is None or base is None:
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
