"""How a layout divides a tensor: padded dimensions, the partition of each dimension, and what every owner holds.

A layout resolves against a shape or fails; the failure's kind is part of the result, and where several checks would
fail it is the first one in the compiler's order that counts. Everything is decided with plain integers and, except for
odd strides, without looking at single owners; partition bounds and arrays per owner are made when they are asked for.
Answers are cached by (shape, layout), so that asking again costs one dictionary look-up.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from math import prod

from tileview.core.geometry.resolved import Bounds, Resolved, Split, is_mapping
from tileview.errors import TileViewError
from tileview.model.tensor import Axis, AxisBase, Layout, OrderKind, Padding, Shape

__all__ = [
    "Bounds",
    "LayoutError",
    "LayoutErrorKind",
    "Resolved",
    "Split",
    "clear_cache",
    "layout_failure",
    "resolve",
    "same_distribution",
]

_CACHE_ENTRIES = 1 << 15
_MOST_OWNERS = 2**32 - 1
"""The compiler counts owners in 32 bits: a product of partitions above this is an overflow."""


class LayoutErrorKind(StrEnum):
    """Why a layout is invalid; the names are the compiler's."""

    EMPTY_TILE_GROUP = "EmptyTileGroup"
    EMPTY_AXIS_TILING = "EmptyAxisTiling"
    TILE_COUNT_OVERFLOW = "TileCountOverflow"
    AXIS_OUT_OF_RANGE = "AxisOutOfRange"
    DUPLICATE_AXIS = "DuplicateAxis"
    INVALID_PADDING_GROUPS = "InvalidPaddingGroups"
    INDIVISIBLE_AXIS = "IndivisibleAxis"
    INDIVISIBLE_SHARD = "IndivisibleShard"
    TILE_COUNT_MISMATCH = "TileCountMismatch"
    INVALID_TILE_MAPPING = "InvalidTileMapping"
    UNKNOWN_ORDER = "UnknownOrder"


class LayoutError(TileViewError):
    """A layout that is invalid against a shape: ``kind`` and a sentence with the figures."""

    def __init__(self, kind: LayoutErrorKind, text: str) -> None:
        self.kind = kind
        self.text = text
        super().__init__(text)

    def __reduce__(self) -> tuple[type[LayoutError], tuple[LayoutErrorKind, str]]:
        return LayoutError, (self.kind, self.text)


class _Failure:
    """A cached failure; raised as a fresh exception each time, so that no traceback is kept alive."""

    __slots__ = ("kind", "text")

    def __init__(self, kind: LayoutErrorKind, text: str) -> None:
        self.kind = kind
        self.text = text


def resolve(shape: Shape, layout: Layout) -> Resolved:
    """Resolve, cached by (shape, layout).

    Parameters
    ----------
    shape : tuple of int
        Extents, each ≥ 0.
    layout : Layout
        What divides them.

    Raises
    ------
    LayoutError
        With the kind of the first check that fails.
    """
    outcome = _resolve_cached(shape, layout)
    if type(outcome) is _Failure:
        raise LayoutError(outcome.kind, outcome.text)
    assert type(outcome) is Resolved
    return outcome


def layout_failure(shape: Shape, layout: Layout) -> LayoutError | None:
    """Why a layout is invalid, as a value instead of a raised error; None where it does."""
    outcome = _resolve_cached(shape, layout)
    return LayoutError(outcome.kind, outcome.text) if isinstance(outcome, _Failure) else None


def clear_cache() -> None:
    """Forget every cached answer (for measurements from cold)."""
    _resolve_cached.cache_clear()


@lru_cache(maxsize=_CACHE_ENTRIES)
def _resolve_cached(shape: Shape, layout: Layout) -> Resolved | _Failure:
    try:
        return _resolve(shape, layout)
    except LayoutError as error:
        return _Failure(error.kind, error.text)


def _resolve(shape: Shape, layout: Layout) -> Resolved:
    tiling = layout.tiling
    if tiling.tile_count == 0 or tiling.replicas == 0:
        raise LayoutError(
            LayoutErrorKind.EMPTY_TILE_GROUP,
            f"{tiling.tile_count} owners and {tiling.replicas} replicas are declared, at least 1 of each is needed",
        )
    if layout.order.kind is OrderKind.UNKNOWN:
        raise LayoutError(LayoutErrorKind.UNKNOWN_ORDER, f"the element order {layout.order} is not known")
    if tiling.is_linear:
        return _resolve_linear(shape, layout)
    return _resolve_axes(shape, layout)


def _resolve_linear(shape: Shape, layout: Layout) -> Resolved:
    """Spread the flattened elements in grains: ⌊G / T⌋ an owner, one more for the first G mod T."""
    axis = layout.tiling.axes[0]
    grain, owners = axis.block_size, layout.tiling.tile_count
    if not shape:
        raise LayoutError(LayoutErrorKind.EMPTY_AXIS_TILING, "a linear layout needs a shape with a dimension")
    if grain == 0:
        raise LayoutError(LayoutErrorKind.EMPTY_AXIS_TILING, "a linear layout needs a grain of at least one element")
    elements = prod(shape)
    grains = -(-elements // grain)
    if grains < owners:
        raise LayoutError(
            LayoutErrorKind.EMPTY_AXIS_TILING,
            f"{owners:,} tiles requested, only {grains:,} grains ({elements:,} elements, {grain} a grain)",
        )
    if elements % grain and axis.padding is Padding.REJECT:
        raise LayoutError(
            LayoutErrorKind.EMPTY_AXIS_TILING,
            f"{elements} elements do not divide into grains of {grain} and padding is Reject",
        )
    return Resolved(shape, layout, shape, -(-grains // owners) * grain, None)


def _resolve_axes(shape: Shape, layout: Layout) -> Resolved:
    """Check and pad axis by axis, then owner count, strides, mapping and shard widths, in that order."""
    tiling = layout.tiling
    rank = len(shape)
    padded = list(shape)
    tiled: list[tuple[int, int, int]] = []  # dimension, padded and logical extent of a group; one entry an axis
    seen = 0
    product = tiling.replicas
    for axis in tiling.axes:
        if not (
            axis.partitions
            and axis.padding_groups
            and axis.block_size
            and axis.padding_multiple
            and axis.shard_padding_multiple
        ):
            raise LayoutError(LayoutErrorKind.EMPTY_AXIS_TILING, f"an axis has a figure of 0: {axis}")
        product *= axis.partitions
        if product > _MOST_OWNERS:
            raise LayoutError(
                LayoutErrorKind.TILE_COUNT_OVERFLOW,
                f"replicas and partitions multiply to {product} owners, above {_MOST_OWNERS}",
            )
        dimension = _dimension(axis, rank)
        if seen >> dimension & 1:
            raise LayoutError(LayoutErrorKind.DUPLICATE_AXIS, f"dimension {dimension} is tiled twice")
        seen |= 1 << dimension
        group_padded, group = _pad(axis, dimension, shape[dimension])
        if group_padded != group:
            padded[dimension] = group_padded * axis.padding_groups
        tiled.append((dimension, group_padded, group))
    if product != tiling.tile_count:
        raise LayoutError(
            LayoutErrorKind.TILE_COUNT_MISMATCH,
            f"replicas and partitions multiply to {product} owners, the layout declares {tiling.tile_count}",
        )
    strides = _strides(layout)
    splits: list[Split | None] = [None] * rank
    maximum = 1
    for axis, (dimension, group_padded, group), stride in zip(tiling.axes, tiled, strides, strict=True):
        split = _split(axis, group_padded, group, stride)
        splits[dimension] = split
        maximum *= split.wide
    for dimension, extent in enumerate(padded):
        if splits[dimension] is None:
            maximum *= extent
    return Resolved(shape, layout, tuple(padded), maximum, tuple(splits))


def _dimension(axis: Axis, rank: int) -> int:
    """The dimension an axis refers to: FromStart k → k, FromEnd k → rank − k."""
    if axis.base is AxisBase.END:
        dimension = rank - axis.index
    elif axis.base is AxisBase.START:
        dimension = axis.index
    else:
        raise LayoutError(LayoutErrorKind.AXIS_OUT_OF_RANGE, "Linear cannot be one of several axes")
    if not 0 <= dimension < rank:
        raise LayoutError(
            LayoutErrorKind.AXIS_OUT_OF_RANGE, f"axis {axis.base.value}({axis.index}) is outside a shape of rank {rank}"
        )
    return dimension


def _pad(axis: Axis, dimension: int, extent: int) -> tuple[int, int]:
    """Padded and logical extent of one padding group."""
    groups = axis.padding_groups
    if groups == 1:
        group = extent
    else:
        if axis.partitions % groups or extent % groups:
            raise LayoutError(
                LayoutErrorKind.INVALID_PADDING_GROUPS,
                f"dimension {dimension}: extent {extent} and {axis.partitions} partitions cannot be divided into "
                f"{groups} padding groups",
            )
        group = extent // groups
    padded = group
    multiple = axis.padding_multiple
    if rest := group % multiple:
        if axis.padding is Padding.REJECT:
            raise LayoutError(
                LayoutErrorKind.INDIVISIBLE_AXIS,
                f"dimension {dimension}: extent {group} is not a multiple of {multiple} and padding is Reject",
            )
        padded += multiple - rest
    if padded % axis.block_size:
        raise LayoutError(
            LayoutErrorKind.INDIVISIBLE_AXIS,
            f"dimension {dimension}: padded extent {padded} does not divide into blocks of {axis.block_size}",
        )
    return padded, group


def _strides(layout: Layout) -> Sequence[int]:
    """The stride of each axis: its own, or the packed one where it has none; checked to be a mapping."""
    tiling = layout.tiling
    packed = tiling.replicas
    strides: list[int] = []
    natural = True
    for axis in tiling.axes:
        stride = axis.tile_stride
        if stride is None:
            stride = packed
        elif stride != packed:
            natural = False
        strides.append(stride)
        packed *= axis.partitions
    if natural:
        return strides
    if 0 in strides:
        raise LayoutError(LayoutErrorKind.EMPTY_AXIS_TILING, "an axis has a tile stride of 0")
    divided = [
        (stride, axis.partitions) for stride, axis in zip(strides, tiling.axes, strict=True) if axis.partitions > 1
    ]
    if not is_mapping(divided, tiling.tile_count, tiling.replicas):
        figures = ", ".join(f"{partitions} partitions at stride {stride}" for stride, partitions in divided)
        raise LayoutError(
            LayoutErrorKind.INVALID_TILE_MAPPING,
            f"{figures}: not every combination of parts falls to {tiling.replicas} of {tiling.tile_count} owners",
        )
    return strides


def _split(axis: Axis, padded: int, logical: int, stride: int) -> Split:
    """Divide one dimension; the widths of its partitions, which take two values at most."""
    per_group = axis.partitions // axis.padding_groups
    block, multiple = axis.block_size, axis.shard_padding_multiple
    short, long = divmod(padded // block, per_group)
    narrow = short * block
    wide = narrow + block if long else narrow
    if multiple != 1:
        if axis.padding is Padding.REJECT:
            for width in (narrow, wide):
                if width % multiple:
                    raise LayoutError(
                        LayoutErrorKind.INDIVISIBLE_SHARD,
                        f"a shard of width {width} is not a multiple of {multiple} and padding is Reject",
                    )
        narrow = -(-narrow // multiple) * multiple
        wide = -(-wide // multiple) * multiple
    return Split(axis.partitions, axis.padding_groups, block, padded, logical, multiple, stride, narrow, wide)


def same_distribution(shape_a: Shape, layout_a: Layout, shape_b: Shape, layout_b: Layout) -> bool:
    """Whether two layouts hold the same distribution; False where one does not resolve.

    Shapes, owner counts and padded shapes agree, and either the tilings are equal, or both divide axes and every
    dimension has the same partitions and, where there is more than one partition, the same stride.
    """
    tiling_a, tiling_b = layout_a.tiling, layout_b.tiling
    if shape_a != shape_b or tiling_a.tile_count != tiling_b.tile_count:
        return False
    a, b = _resolve_cached(shape_a, layout_a), _resolve_cached(shape_b, layout_b)
    if isinstance(a, _Failure) or isinstance(b, _Failure) or a.padded_shape != b.padded_shape:
        return False
    if tiling_a == tiling_b:
        return True
    if a.splits is None or b.splits is None:
        return False
    return all(map(_same_split, a.splits, b.splits, a.padded_shape))


def _same_split(a: Split | None, b: Split | None, extent: int) -> bool:
    partitions = 1 if a is None else a.partitions
    if partitions != (1 if b is None else b.partitions):
        return False
    if a is not None and b is not None:
        if partitions > 1 and a.stride != b.stride:
            return False
        if (a.groups, a.block, a.padded, a.logical, a.narrow, a.wide) == (
            b.groups,
            b.block,
            b.padded,
            b.logical,
            b.narrow,
            b.wide,
        ):
            return True
    return _edges(a, extent) == _edges(b, extent)


def _edges(split: Split | None, extent: int) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    if split is None:
        return (0,), (extent,), (extent,)
    bounds = split.bounds()
    return bounds.starts, bounds.logical_ends, bounds.physical_ends
