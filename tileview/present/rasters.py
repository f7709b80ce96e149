"""The heatmap as arrays: what a tile's number is, which colour slot it takes, what is drawn around and over it.

From a timeline to a picture, each step a pure function: :func:`tile_field` (bytes of every tile, and which of them are
unavailable, absent or over), :func:`scale_for` (what the colours mean), :func:`slot_levels` (a colour slot for every
tile), and on a grid of cells :func:`slots_on_grid` (the image), :func:`outline` and :func:`hatch_lines` (the lines over
it).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from tileview.analysis.overflows import tiles_over
from tileview.analysis.placement import OUTCOMES
from tileview.core.geometry.chip import Grid
from tileview.model.timeline import ByteArray, Timeline
from tileview.present.curves import BoolArray, IndexArray, matching_steps
from tileview.present.scales import LEVELS, Slot, binary_spacing

_PERIOD = 8
"""Pixels along an axis from one line of a hatch to the next, in cells that are large enough."""

ByteImage = npt.NDArray[np.uint8]
FloatArray = npt.NDArray[np.float64]


class Metric(StrEnum):
    """What the heatmap shows of each tile at the selected step."""

    TOTAL = "total"
    STANDARD = "standard"
    INTERLEAVED = "interleaved"
    ALLOCATION = "allocation"
    """The bytes of the selected allocation, whether it is live at the step or not."""
    DIFFERENCE = "difference"
    """Total minus the baseline's total at the corresponding step."""
    PLACEMENT = "placement"
    """What came of placing the tile, by its number in :data:`tileview.analysis.placement.OUTCOMES`; of all steps."""


@dataclass(frozen=True, slots=True)
class TileField:
    """The numbers of one picture. ``values``: (tiles,) bytes, negative ones only for differences.

    ``missing``: nothing can be said of any tile, because a term is unavailable and nobody knows on which tiles it lies,
    or because the baseline has no such step; ``reason`` says which. ``absent``: (tiles,) the tile holds none of the
    allocation. ``over``: (tiles,) the tile is over a budget at the step, whatever the metric: by total + reserve, or by
    interleaved bytes.
    """

    metric: Metric
    step: int
    values: ByteArray
    absent: BoolArray
    over: BoolArray
    missing: bool = False
    reason: str = ""
    baseline_step: int | None = None


def unavailable_at(timeline: Timeline, step: int) -> tuple[int, ...]:
    """Roots live at a step whose size could not be computed."""
    return tuple(root for root in timeline.steps[step].live if root in timeline.unavailable_roots)


def tile_field(
    timeline: Timeline,
    metric: Metric,
    step: int,
    *,
    root: int | None = None,
    baseline: Timeline | None = None,
    known: bool = False,
    matches: IndexArray | None = None,
    outcomes: ByteImage | None = None,
    unplaced: str = "",
) -> TileField:
    """The numbers of a picture.

    Parameters
    ----------
    root : int, optional
        The allocation of :attr:`Metric.ALLOCATION`; without one nothing can be shown.
    baseline : Timeline, optional
        What :attr:`Metric.DIFFERENCE` is taken against. Its step is the last of those that correspond to ``step``.
    matches : (steps, 2), optional
        What :func:`tileview.present.curves.matching_steps` gives for the two, where the caller has it already.
    known : bool
        Show the known part of a step with unavailable terms instead of declaring all tiles unavailable.
    outcomes : (tiles,), optional
        What :attr:`Metric.PLACEMENT` shows; ``unplaced`` says why there is nothing.
    """
    usage = timeline.tiles.usage(step)
    over = tiles_over(timeline, usage)
    absent = np.zeros(timeline.tile_count, dtype=np.bool_)
    if metric is Metric.ALLOCATION:
        return _allocation_field(timeline, step, root, over)
    if metric is Metric.PLACEMENT:
        is_there = outcomes is not None and len(outcomes) == timeline.tile_count
        codes = outcomes.astype(np.int64) if outcomes is not None and is_there else np.zeros(len(over), np.int64)
        return TileField(metric, step, codes, absent, over, not is_there, "" if is_there else unplaced)
    lost = unavailable_at(timeline, step)
    reason = ""
    if lost:
        reason = f"{len(lost):,} live allocation{'s have' if len(lost) > 1 else ' has'} no known size"
    if metric is Metric.DIFFERENCE:
        return _difference_field(timeline, step, usage, over, baseline, reason, matches)
    if metric is Metric.STANDARD:
        values = usage[:, 0]
    elif metric is Metric.INTERLEAVED:
        values = usage[:, 1]
    else:
        values = usage[:, 0] + usage[:, 1]
    return TileField(metric, step, values, absent, over, bool(lost) and not known, reason)


def _allocation_field(timeline: Timeline, step: int, root: int | None, over: BoolArray) -> TileField:
    nothing = np.zeros(timeline.tile_count, dtype=np.int64)
    none = np.zeros(timeline.tile_count, dtype=np.bool_)
    if root is None:
        return TileField(Metric.ALLOCATION, step, nothing, none, over, True, "no allocation is selected")
    if root in timeline.unavailable_roots:
        return TileField(Metric.ALLOCATION, step, nothing, none, over, True, "its size could not be computed")
    values = timeline.tiles.allocation(root)
    return TileField(Metric.ALLOCATION, step, values, values == 0, over)


def _difference_field(
    timeline: Timeline,
    step: int,
    usage: ByteArray,
    over: BoolArray,
    baseline: Timeline | None,
    reason: str,
    matches: IndexArray | None,
) -> TileField:
    metric, nothing = Metric.DIFFERENCE, np.zeros(timeline.tile_count, dtype=np.int64)
    none = np.zeros(timeline.tile_count, dtype=np.bool_)
    if baseline is None:
        return TileField(metric, step, nothing, none, over, True, "there is no baseline")
    if baseline.tile_count != timeline.tile_count:
        text = f"the baseline has {baseline.tile_count:,} tiles, this program {timeline.tile_count:,}"
        return TileField(metric, step, nothing, none, over, True, text)
    start, stop = (matching_steps(timeline, baseline) if matches is None else matches)[step].tolist()
    if stop <= start:
        return TileField(metric, step, nothing, none, over, True, "the baseline has no such step")
    other = stop - 1
    if unavailable_at(baseline, other) and not reason:
        reason = "the baseline's usage is unavailable there"
    before = baseline.tiles.usage(other)
    values = usage[:, 0] + usage[:, 1] - before[:, 0] - before[:, 1]
    return TileField(metric, step, values, none, over, bool(reason), reason, other)


# -- what the colours mean -----------------------------------------------------------------------------------------


class ScaleMode(StrEnum):
    """How the ends of the colour bar are chosen."""

    LOCKED = "locked"
    """0 … budget: the same colour means the same bytes at every step and in every window."""
    AUTO = "auto"
    """0 … the largest value shown."""
    CUSTOM = "custom"


@dataclass(frozen=True, slots=True)
class Scale:
    """The colour bar: bytes at its two ends, ``low`` < ``high``. Differences are symmetrical around 0."""

    low: int
    high: int

    @property
    def diverging(self) -> bool:
        return self.low < 0


def budget_of(timeline: Timeline, metric: Metric) -> int:
    """The budget a metric is measured against: the interleaved one for interleaved bytes, else the tile's."""
    return timeline.interleaved_budget_bytes if metric is Metric.INTERLEAVED else timeline.budget_bytes


def scale_for(
    timeline: Timeline,
    field: TileField,
    mode: ScaleMode,
    custom: tuple[int, int] | None = None,
    largest_difference: int = 0,
) -> Scale:
    """What the colours of a picture mean.

    Locked is 0 … budget. Differences are of another order than budgets: their locked scale is, symmetrically, the
    smallest power of two that holds the largest difference shown and ``largest_difference``, bytes that are known of
    other steps, so that it does not move from step to step; auto ends at the difference shown itself.
    """
    if mode is ScaleMode.CUSTOM and custom is not None and custom[0] < custom[1]:
        return Scale(*custom)
    largest = 0 if field.missing else int(np.abs(field.values).max(initial=0))
    if field.metric is Metric.DIFFERENCE:
        if mode is ScaleMode.AUTO:
            return Scale(-max(largest, 1), max(largest, 1))
        end = binary_spacing(max(largest, largest_difference, 1024), 1)
        return Scale(-end, end)
    if mode is ScaleMode.AUTO:
        return Scale(0, max(largest, 1))
    return Scale(0, max(budget_of(timeline, field.metric), 1))


def slot_levels(field: TileField, scale: Scale) -> ByteImage:
    """(tiles,): the colour slot of each tile, see :mod:`tileview.present.scales`.

    Values outside the scale take the colour of its end. Nothing here is a float: a level is ⌊(value − low) · (levels −
    1) / (high − low)⌋, so that only the end itself reaches the last level.
    """
    if field.missing:
        return np.full(len(field.values), Slot.UNAVAILABLE, dtype=np.uint8)
    if field.metric is Metric.PLACEMENT:
        return ((field.values * 2 + 1) * LEVELS // (2 * len(OUTCOMES))).astype(np.uint8)
    inside = np.clip(field.values, scale.low, scale.high) - scale.low
    levels = (inside * (LEVELS - 1) // (scale.high - scale.low)).astype(np.uint8)
    levels[field.absent] = Slot.ABSENT
    return levels


# -- cells ---------------------------------------------------------------------------------------------------------


def slots_on_grid(grid: Grid, slots: ByteImage) -> ByteImage:
    """(rows, columns): the slots in their places; places without a tile are background."""
    padded = np.append(slots, np.uint8(Slot.BACKGROUND))
    return padded[grid.tile]


def mask_on_grid(grid: Grid, mask: BoolArray) -> BoolArray:
    """(rows, columns): a flag of each tile in its place; False where there is no tile."""
    return np.append(mask, False)[grid.tile]


def hatch_lines(cells: IndexArray, width: float, height: float, falling: bool = False) -> FloatArray:
    """(lines, 4): diagonal lines x0, y0, x1, y1 over some cells, in cells; they run on from cell to cell.

    Parameters
    ----------
    cells : (n, 2)
        Column and row of each cell.
    width, height : float
        Pixels of a cell: the lines are :data:`_PERIOD` pixels apart and rise by 45° on the screen; in small cells they
        are closer, so that one crosses every cell.
    falling : bool
        Lines that fall from left to right instead.
    """
    width, height = max(width, 1.0), max(height, 1.0)
    period = min(_PERIOD, max(width + height - 2, 3))
    across, down = cells[:, :1], cells[:, 1:]
    base = across * width + (-(down + 1) if falling else down) * height
    reach = np.arange(int((width + height) / period) + 2)
    place = (np.floor(base / period) + reach) * period - base  # on x + y of a cell, in pixels
    left = np.clip((place - height) / width, 0.0, 1.0)
    right = np.clip(place / width, 0.0, 1.0)
    upper, lower = (place - left * width) / height, (place - right * width) / height
    if falling:
        upper, lower = 1 - upper, 1 - lower
    lines: FloatArray = np.stack([across + left, down + upper, across + right, down + lower], axis=-1)
    return lines[(place > 0) & (place < width + height)]


def lines_within(lines: FloatArray, left: float, top: float, right: float, bottom: float) -> FloatArray:
    """(lines, 4): lines x0, y0, x1, y1 as far as they lie in a rectangle; those outside are left out.

    Cut by arithmetic, because not everything that shows an SVG file clips.
    """
    start, way = lines[:, :2], lines[:, 2:] - lines[:, :2]
    with np.errstate(divide="ignore", invalid="ignore"):
        one, other = ((np.array(corner) - start) / way for corner in ((left, top), (right, bottom)))
    enter = np.fmax(np.fmin(one, other).max(axis=1, where=way != 0, initial=0.0), 0.0)[:, None]
    leave = np.fmin(np.fmax(one, other).min(axis=1, where=way != 0, initial=1.0), 1.0)[:, None]
    beside = (way == 0) & ((start < (left, top)) | (start > (right, bottom)))
    kept = (enter < leave)[:, 0] & ~beside.any(axis=1)
    cut: FloatArray = np.concatenate([start + enter * way, start + leave * way], axis=1)[kept]
    return cut


def islands(mask: BoolArray, most: int = 5) -> BoolArray:
    """(rows, columns): the cells of regions of at most ``most`` cells; those of a region share edges.

    Every cell takes the largest number of its region within ``most`` moves. A small region is then one number through
    and through; a part of a larger one has a neighbour with another number.
    """
    numbers = np.zeros((mask.shape[0] + 2, mask.shape[1] + 2), dtype=np.int64)
    inner = numbers[1:-1, 1:-1]
    inner[mask] = np.flatnonzero(mask) + 1
    for _ in range(most):
        spread = np.maximum(np.maximum(numbers[:-2, 1:-1], numbers[2:, 1:-1]), np.maximum(numbers[1:-1, :-2], inner))
        inner[:] = np.where(mask, np.maximum(spread, numbers[1:-1, 2:]), 0)
    size = np.bincount(inner.ravel(), minlength=mask.size + 1)
    edge = np.zeros(mask.size + 1, dtype=np.bool_)
    for one, other in ((inner[1:], inner[:-1]), (inner[:, 1:], inner[:, :-1])):
        apart = (one != other) & (one > 0) & (other > 0)
        edge[one[apart]] = edge[other[apart]] = True
    return mask & (size <= most)[inner] & ~edge[inner]


def outline(mask: BoolArray) -> IndexArray:
    """(segments, 4): the lines x0, y0, x1, y1 around the cells of a (rows, columns) mask, in cells; runs are one line.

    An edge is drawn where one of its two cells is in the mask and the other is not, so that a block of selected tiles
    has one frame.
    """
    framed = np.pad(mask, 1)
    across = framed[1:, 1:-1] != framed[:-1, 1:-1]
    down = framed[1:-1, 1:] != framed[1:-1, :-1]
    return np.concatenate([_runs(across), _runs(down.T)[:, [1, 0, 3, 2]]])


def _runs(edges: BoolArray) -> IndexArray:
    """Horizontal runs of True: (runs, 4) as x0, y, x1, y."""
    steps = np.diff(np.pad(edges, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    rows, starts = np.nonzero(steps == 1)
    stops = np.nonzero(steps == -1)[1]
    return np.column_stack([starts, rows, stops, rows]).astype(np.int64)


def fitted(rows: int, columns: int, width: float, height: float, most: float = 64, stretch: float = 1.75) -> FloatArray:
    """(4,): x, y, width and height, in cells, that a pane shows so that the grid lies in its middle.

    Cells are as large as fits, at most ``most`` pixels, and neither side is more than ``stretch`` times the other.
    """
    across = min(max(width, 1) / max(columns, 1), most)
    down = min(max(height, 1) / max(rows, 1), most)
    across, down = min(across, down * stretch), min(down, across * stretch)
    seen = np.array([max(width, 1) / across, max(height, 1) / down])
    return np.concatenate([(np.array([columns, rows]) - seen) / 2, seen])


def tiles_between(grid: Grid, anchor: int, tile: int) -> tuple[int, ...]:
    """The tiles of a range, ``tile`` last: on the chip the rectangle of the two, in logical order all numbers
    between.
    """
    if grid.is_chip:
        rows = sorted((int(grid.row[anchor]), int(grid.row[tile])))
        columns = sorted((int(grid.column[anchor]), int(grid.column[tile])))
        block = grid.tile[rows[0] : rows[1] + 1, columns[0] : columns[1] + 1]
        found = block[block >= 0].tolist()
    else:
        low, high = sorted((anchor, tile))
        found = list(range(low, high + 1))
    return (*(number for number in found if number != tile), tile)


def neighbour(grid: Grid, tile: int, across: int, down: int) -> int:
    """The tile a move leads to; the same where the grid ends there."""
    found = grid.tile_at(int(grid.row[tile]) + down, int(grid.column[tile]) + across)
    return tile if found is None else found


# -- sorted by load ------------------------------------------------------------------------------------------------


def load_order(values: ByteArray) -> IndexArray:
    """(tiles,): tile numbers, the largest value first, equal ones by number."""
    return np.argsort(-values, kind="stable").astype(np.int64)
