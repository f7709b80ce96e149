"""Building tilings: plain axes, axes moved to another dimension, and projections onto an operand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tileview.core.lowering.valuetypes import RefusedError
from tileview.model.tensor import Axis, AxisBase, Layout, MemoryClass, Order, Padding, Shape, Tiling

ZERO = Padding.ZERO
REJECT = Padding.REJECT


def from_end(index: int, partitions: int, block: int, padding: Padding) -> Axis:
    """A plain axis counted from the last dimension: blocks of ``block``, padded to whole blocks, no stride."""
    return Axis(AxisBase.END, index, partitions, 1, block, block, 1, padding, None)


def from_start(dimension: int, partitions: int, block: int, padding: Padding, stride: int | None = None) -> Axis:
    """A plain axis counted from the first dimension."""
    return Axis(AxisBase.START, dimension, partitions, 1, block, block, 1, padding, stride)


def linear(owners: int, grain: int) -> Tiling:
    """The flattened elements over ``owners``, in grains."""
    return Tiling(owners, 1, (Axis(AxisBase.LINEAR, 0, owners, 1, grain, grain, 1, REJECT, None),))


def moved(axis: Axis, dimension: int, stride: int | None) -> Axis:
    """The same division on another dimension, named FromStart, at the given stride."""
    return Axis(
        AxisBase.START,
        dimension,
        axis.partitions,
        axis.padding_groups,
        axis.block_size,
        axis.padding_multiple,
        axis.shard_padding_multiple,
        axis.padding,
        stride,
    )


def with_blocks(axis: Axis, block: int, multiple: int, shard_multiple: int | None = None) -> Axis:
    """The same axis with other blocks (``block_size``, ``padding_multiple``) and, if given, another shard multiple."""
    shard = axis.shard_padding_multiple if shard_multiple is None else shard_multiple
    return Axis(
        axis.base,
        axis.index,
        axis.partitions,
        axis.padding_groups,
        block,
        multiple,
        shard,
        axis.padding,
        axis.tile_stride,
    )


def with_order(layout: Layout, order: Order) -> Layout:
    return layout if layout.order == order else Layout(order, layout.tiling, layout.memory_class)


def with_class(layout: Layout, memory_class: MemoryClass) -> Layout:
    return layout if layout.memory_class is memory_class else Layout(layout.order, layout.tiling, memory_class)


def dimension_of(axis: Axis, rank: int) -> int | None:
    """The dimension an axis divides; None for a linear axis or one outside the rank."""
    if axis.base is AxisBase.END:
        dimension = rank - axis.index
    elif axis.base is AxisBase.START:
        dimension = axis.index
    else:
        return None
    return dimension if 0 <= dimension < rank else None


def find_axis(tiling: Tiling, rank: int, dimension: int) -> int | None:
    """Position in the list of the axis that divides a dimension; None where no axis does."""
    for position, axis in enumerate(tiling.axes):
        if dimension_of(axis, rank) == dimension:
            return position
    return None


def axis_on(tiling: Tiling, rank: int, dimension: int) -> Axis | None:
    """The axis that divides a dimension; None where no axis does."""
    position = find_axis(tiling, rank, dimension)
    return None if position is None else tiling.axes[position]


def last_axis(tiling: Tiling, rank: int) -> tuple[int | None, Axis]:
    """The axis that divides the last dimension and its position in the list; where none does, one that leaves it whole
    and None, for :func:`replaced`."""
    position = find_axis(tiling, rank, rank - 1)
    return position, from_end(1, 1, 1, ZERO) if position is None else tiling.axes[position]


def strides(tiling: Tiling) -> list[int]:
    """Each axis's stride: its own, or the packed one (replicas times the partitions of the axes before it)."""
    packed = tiling.replicas
    found: list[int] = []
    for axis in tiling.axes:
        found.append(packed if axis.tile_stride is None else axis.tile_stride)
        packed *= axis.partitions
    return found


def project(tiling: Tiling, rank: int, targets: Mapping[int, int]) -> Tiling:
    """A tiling projected onto an operand, so that every owner holds what it needs of it.

    ``targets`` maps dimensions of the tiled tensor (of ``rank`` dimensions) to dimensions of the operand. Axes that map
    keep their division and their stride, named FromStart and made explicit; the partitions of the others multiply the
    replicas. The owners stay as many as they were.

    Raises
    ------
    RefusedError
        For a linear tiling: its grains belong to no dimension.
    """
    replicas = tiling.replicas
    kept: list[Axis] = []
    for axis, stride in zip(tiling.axes, strides(tiling), strict=True):
        dimension = dimension_of(axis, rank)
        if dimension is None:
            raise RefusedError("a linear layout cannot be projected onto an operand of another shape")
        target = targets.get(dimension)
        if target is None:
            replicas *= axis.partitions
        else:
            kept.append(moved(axis, target, stride))
    return Tiling(tiling.tile_count, replicas, tuple(kept))


def broadcast(tiling: Tiling, shape: Shape, operand: Shape) -> Tiling:
    """A result's tiling projected onto an operand that is broadcast to it (shapes aligned at the right).

    Equal shapes keep the tiling as it is. Otherwise a dimension maps where both extents are equal and is dropped where
    the operand lacks it or has extent 1 there.

    Raises
    ------
    RefusedError
        Where the operand cannot be broadcast to the shape, or the tiling is linear.
    """
    if shape == operand:
        return tiling
    lacking = len(shape) - len(operand)
    if lacking < 0:
        raise RefusedError(f"an operand {list(operand)} cannot be broadcast to {list(shape)}")
    targets: dict[int, int] = {}
    for dimension, extent in enumerate(operand):
        if extent == shape[lacking + dimension]:
            targets[lacking + dimension] = dimension
        elif extent != 1:
            raise RefusedError(f"an operand {list(operand)} cannot be broadcast to {list(shape)}")
    return project(tiling, len(shape), targets)


def batch_targets(shape: Shape, operand: Shape) -> dict[int, int]:
    """Leading (batch) dimensions of a product's result that map to the operand's: same extent, aligned at the right."""
    lacking = len(shape) - len(operand)
    targets: dict[int, int] = {}
    for dimension in range(len(operand) - 2):
        source = dimension + lacking
        if source >= 0 and operand[dimension] == shape[source]:
            targets[source] = dimension
    return targets


def replaced(axes: Sequence[Axis], position: int | None, axis: Axis) -> tuple[Axis, ...]:
    """The axes with the one at ``position`` replaced, or with ``axis`` added at the end where there is none."""
    if position is None:
        return (*axes, axis)
    return (*axes[:position], axis, *axes[position + 1 :])
