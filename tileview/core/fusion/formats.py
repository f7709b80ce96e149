"""Formats of the values that fusions make: statistics of a sum, and results written as F8."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from tileview.core.geometry.resolve import LayoutError, layout_failure, resolve
from tileview.core.geometry.resolved import Resolved, Split
from tileview.core.lowering.tilings import ZERO, dimension_of, find_axis, from_end, moved, replaced, with_order
from tileview.core.memory.scratch import share_micro_panels
from tileview.model.tensor import (
    F32,
    LEFT,
    ROW_MAJOR,
    Axis,
    AxisBase,
    Layout,
    Order,
    Padding,
    Precision,
    Shape,
    Tiling,
)

_PANEL: Final = 32
"""Elements of a row of an F8 panel."""


@lru_cache(maxsize=1 << 10)
def moments_format(shape: Shape, layout: Layout) -> tuple[Shape, Layout] | None:
    """Shape and layout (in F32) of the statistics of a value, a pair for each part of its last dimension.

    None unless the value is row-major, not linear, and all shards of its last dimension are of one width that 4
    divides, none of them padded.
    """
    found = _resolved(shape, layout)
    if found is None or not shape:
        return None
    last = len(shape) - 1
    split = None if found.splits is None else found.splits[last]
    if not _equal_parts(split, shape[last], found.padded_shape[last]):
        return None
    parts = 1 if split is None else split.partitions
    axes: list[Axis] = []
    for axis in layout.tiling.axes:
        dimension = dimension_of(axis, len(shape))
        if dimension is None:
            return None
        if dimension == last:
            axes.append(Axis(AxisBase.START, last, axis.partitions, 1, 1, 1, 1, Padding.REJECT, axis.tile_stride))
        else:
            axes.append(moved(axis, dimension, axis.tile_stride))
    tiling = Tiling(layout.tiling.tile_count, layout.tiling.replicas, tuple(axes))
    return (*shape[:-1], parts, 2), Layout(layout.order, tiling, layout.memory_class)


def _resolved(shape: Shape, layout: Layout) -> Resolved | None:
    """The resolved layout of a row-major value divided by dimensions."""
    if layout.order != ROW_MAJOR or layout.tiling.is_linear:
        return None
    try:
        return resolve(shape, layout)
    except LayoutError:
        return None


def _equal_parts(split: Split | None, extent: int, padded: int) -> bool:
    width = extent if split is None else split.wide
    if width <= 0 or width % 4 or padded != extent:
        return False
    return split is None or (split.narrow == width and width * split.partitions == extent)


@lru_cache(maxsize=1 << 10)
def moved_moments_format(shape: Shape, layout: Layout, parts: int) -> tuple[Shape, Layout] | None:
    """The statistics of ``parts`` parts where a value of another layout is normalised: all of them in every part.

    Without the axis of the last dimension, whose parts are replicas now. None where the value has no statistics of its
    own.
    """
    own = moments_format(shape, layout)
    if own is None:
        return None
    last = len(shape) - 1
    tiling = own[1].tiling
    axes = tuple(axis for axis in tiling.axes if axis.index != last)
    replicas = tiling.replicas * own[0][-2]
    moved_layout = Layout(layout.order, Tiling(tiling.tile_count, replicas, axes), layout.memory_class)
    return (*shape[:-1], parts, 2), moved_layout


@lru_cache(maxsize=1 << 10)
def f8_layout(shape: Shape, layout: Layout, precision: Precision, wanted: Order) -> Layout | None:
    """The layout in which a kernel writes a result as F8 itself, to be used in the order ``wanted``.

    Row-major as the result would be, or in Left panels, the last dimension's shards padded to whole panels. None where
    neither can be: the result must be row-major, not linear, all its shards a multiple of 4 wide.
    """
    found = _resolved(shape, layout)
    if found is None or not shape:
        return None
    split = None if found.splits is None else found.splits[-1]
    widths = (found.padded_shape[-1],) if split is None else tuple({split.narrow, split.wide})
    if any(width % 4 for width in widths):
        return None
    if wanted == ROW_MAJOR:
        return layout
    if len(shape) < 2 or not (wanted == LEFT or share_micro_panels(LEFT, wanted, precision)):
        return None
    written = with_order(layout, LEFT)
    if any(width % _PANEL for width in widths):
        written = _whole_panels(written, len(shape))
    return None if layout_failure(shape, written) is not None else written


def _whole_panels(layout: Layout, rank: int) -> Layout:
    tiling = layout.tiling
    position = find_axis(tiling, rank, rank - 1)
    axis = from_end(1, 1, 1, ZERO) if position is None else tiling.axes[position]
    padded = Axis(
        axis.base,
        axis.index,
        axis.partitions,
        axis.padding_groups,
        axis.block_size,
        axis.padding_multiple,
        max(axis.shard_padding_multiple, _PANEL),
        ZERO,
        axis.tile_stride,
    )
    axes = replaced(tiling.axes, position, padded)
    return Layout(layout.order, Tiling(tiling.tile_count, tiling.replicas, axes), layout.memory_class)


def has_whole_rows(shape: Shape, layout: Layout) -> bool:
    """Whether every axis divides a dimension and the last dimension is neither divided nor padded."""
    last = len(shape) - 1
    for axis in layout.tiling.axes:
        dimension = dimension_of(axis, len(shape))
        if dimension is None:
            return False
        if dimension != last:
            continue
        if axis.partitions != 1 or shape[last] % axis.padding_multiple or shape[last] % axis.shard_padding_multiple:
            return False
    return True


STATISTICS: Final = F32
"""Precision of statistics."""
