"""The totals of the states that are compared, all along the steps of the first one, on one scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

import numpy as np

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
from tileview.present.tables import signed_kib
from tileview.present.ticks import binary_spacing

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
