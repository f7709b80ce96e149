"""The states that are compared as charts: totals on one scale along the steps, and a small heat map each.

All are looked at where the first state's total peaks, each at its own step that corresponds to it: there the change
has to help. The scale of the differences is symmetrical around 0 and the same for all, so that a colour means the same
bytes in every map.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

import numpy as np

from tileview.analysis.loads import total_peak_place
from tileview.analysis.words import counted, step_place
from tileview.core.geometry.chip import Grid, grid
from tileview.model.sizes import kib_text
from tileview.model.timeline import ByteArray, Timeline
from tileview.present.compare_rows import CompareState
from tileview.present.curves import (
    BoolArray,
    CurveMode,
    IndexArray,
    Series,
    matched_max,
    matching_steps,
    stack,
)
from tileview.present.curves import curves as curves_of
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
from tileview.present.scales import binary_spacing
from tileview.present.tables import signed_exact, signed_kib

MOST_STACKED: Final = 6_000
"""Steps and values of a program whose curve is shared out among its operations; more take too long."""


@dataclass(frozen=True, slots=True)
class StateCurve:
    """The fullest tile of one state at every step of the first one, reserve included.

    ``needed`` and ``there`` are (steps,): bytes, and whether the state has steps that correspond. ``ranges`` is
    (steps, 2): the half-open range of its own steps. ``difference`` is (steps,): by how much it differs from the first
    state where both are there, else 0. ``lost`` says in words what of it is not drawn, empty where all is. ``layers``
    are of (steps,) bytes too and add up to what is drawn less the reserve; empty for a program that is too large.
    """

    needed: ByteArray
    there: BoolArray
    ranges: IndexArray
    difference: ByteArray
    budget: int
    lost: str
    layers: tuple[Series, ...] = ()

    def place_of(self, step: int) -> int | None:
        """The first state's step at which one of its own steps is drawn; None where none is."""
        found = np.flatnonzero((self.ranges[:, 0] <= step) & (step < self.ranges[:, 1]))
        return int(found[0]) if len(found) else None


@dataclass(frozen=True, slots=True)
class StateCurves:
    """The curves of all states, None for one without a timeline; all share the axis from ``low`` to ``high`` bytes.

    ``reach`` is the largest difference of any of them.
    """

    steps: int
    curves: tuple[StateCurve | None, ...]
    low: int
    high: int
    reach: int

    def tip(self, letters: Sequence[str], place: int) -> str:
        """What every state needs at a step of the first one."""
        lines = [f"Step {place} of {letters[0]}: fullest tile and reserve"]
        for letter, curve in zip(letters, self.curves, strict=True):
            if curve is None or not bool(curve.there[place]):
                lines.append(f"{letter}  no such step")
                continue
            first, stop = curve.ranges[place].tolist()
            own = f"step {first}" if stop == first + 1 else f"steps {first} to {stop - 1}"
            delta = "" if letter == letters[0] else f", {signed_kib(int(curve.difference[place]))}"
            lines.append(f"{letter}  {kib_text(int(curve.needed[place]))}{delta} ({own})")
        return "\n".join(lines)


def state_curves(
    states: Sequence[CompareState], places: Mapping[int, int] = MappingProxyType({}), most: int = MOST_STACKED
) -> StateCurves:
    """The curves of the states along the steps of the first that has a timeline.

    ``places`` are the categories of the operations that have a colour of their own, in every state. Programs of more
    than ``most`` steps and values are not stacked.
    """
    base = next((state.timeline for state in states if state.timeline is not None and state.timeline.steps), None)
    if base is None:
        return StateCurves(0, (None,) * len(states), 0, 1, 0)
    first = _curve(base, base, None)
    found = [None if state.timeline is None else _curve(state.timeline, base, first) for state in states]
    curves = tuple(
        curve if curve is None or state.timeline is None else _stacked(curve, state.timeline, places, most)
        for curve, state in zip(found, states, strict=True)
    )
    shown = [curve for curve in curves if curve is not None]
    high = max(max(int(curve.needed.max(initial=0)), curve.budget) for curve in shown)
    least = min(int(curve.needed[curve.there].min(initial=high)) for curve in shown)
    spacing = binary_spacing(high, 5)
    reach = max(int(np.abs(curve.difference).max(initial=0)) for curve in shown)
    return StateCurves(len(base.steps), curves, least // spacing * spacing, high, reach)


def _stacked(curve: StateCurve, timeline: Timeline, places: Mapping[int, int], most: int) -> StateCurve:
    """The curve with its layers: at each step of the first state those of its own step that is drawn there."""
    if not bool(curve.there.any()) or len(timeline.steps) + len(timeline.values) > most:
        return curve
    shown = curves_of(timeline, CurveMode.WORST)
    layers = stack(timeline, shown, len(places), lambda: places)
    where = np.flatnonzero(curve.there)
    ranges = curve.ranges[where]
    at = ranges[:, 0].copy()
    for place in np.flatnonzero(ranges[:, 1] - ranges[:, 0] > 1):
        start, stop = ranges[place]
        at[place] = start + int(shown.total[start:stop].argmax())
    spread = []
    for layer in layers:
        sizes = np.zeros(len(curve.needed), dtype=np.int64)
        sizes[where] = layer.sizes[at]
        spread.append(replace(layer, sizes=sizes))
    return replace(curve, layers=tuple(spread))


def _curve(timeline: Timeline, base: Timeline, first: StateCurve | None) -> StateCurve:
    totals = timeline.tiles.worst()[:, 2] if timeline.steps else np.zeros(0, dtype=np.int64)
    numbers = np.arange(len(base.steps), dtype=np.int64)
    ranges = np.column_stack([numbers, numbers + 1]) if timeline is base else matching_steps(base, timeline)
    largest, there = matched_max(totals, ranges)
    needed = np.where(there, largest + timeline.reserve_bytes, 0)
    both = np.zeros(len(needed), dtype=np.bool_) if first is None else there & first.there
    difference = np.where(both, needed - first.needed, 0) if first is not None else np.zeros_like(needed)
    lost = ""
    if len(totals) and int(totals.max()) > int(largest.max(initial=0)):
        step = int(totals.argmax())
        lost = f"its fullest step, {step} ({kib_text(int(totals[step]) + timeline.reserve_bytes)}), has no counterpart"
    return StateCurve(needed, there, ranges, difference, timeline.budget_bytes, lost)


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
