"""Hypothesis strategies: small shapes and layouts, most of them valid."""

from __future__ import annotations

from math import prod

from hypothesis import strategies as st

from tileview.model.tensor import (
    LEFT,
    ROW_MAJOR,
    Axis,
    AxisBase,
    Layout,
    MemoryClass,
    Padding,
    Shape,
    Tiling,
)

shapes = st.lists(st.integers(1, 9), min_size=1, max_size=3).map(tuple)
classes = st.sampled_from([MemoryClass.STANDARD, MemoryClass.INTERLEAVED])


@st.composite
def axis_layouts(draw: st.DrawFn, shape: Shape, most_owners: int = 48) -> Layout:
    """An axis layout whose parts and owners agree; padding groups and odd multiples may still make it fail."""
    dimensions = draw(st.permutations(range(len(shape))))
    dimensions = dimensions[: draw(st.integers(0, len(shape)))]
    replicas = draw(st.integers(1, 3))
    owners = replicas
    axes: list[Axis] = []
    for dimension in dimensions:
        groups = draw(st.sampled_from([1, 1, 1, 2, 3]))
        partitions = groups * draw(st.integers(1, 4))
        if owners * partitions > most_owners:
            continue
        owners *= partitions
        block = draw(st.integers(1, 3))
        multiple = block * draw(st.integers(1, 2))
        shard_multiple = draw(st.sampled_from([1, 1, 2, 4]))
        padding = draw(st.sampled_from([Padding.ZERO, Padding.ZERO, Padding.REJECT]))
        base = draw(st.sampled_from([AxisBase.START, AxisBase.END]))
        index = dimension if base is AxisBase.START else len(shape) - dimension
        axes.append(Axis(base, index, partitions, groups, block, multiple, shard_multiple, padding))
    axes = _with_strides(draw, axes, replicas)
    order = draw(st.sampled_from([ROW_MAJOR, LEFT]))
    return Layout(order, Tiling(owners, replicas, tuple(axes)), draw(classes))


def _with_strides(draw: st.DrawFn, axes: list[Axis], replicas: int) -> list[Axis]:
    """Explicit strides: the packed ones of some other order of the axes, replicas innermost or outermost."""
    if not axes or not draw(st.booleans()):
        return axes
    stride = replicas if draw(st.booleans()) else 1
    strides: dict[int, int] = {}
    for index in draw(st.permutations(range(len(axes)))):
        strides[index] = stride
        stride *= axes[index].partitions
    return [
        Axis(
            axis.base,
            axis.index,
            axis.partitions,
            axis.padding_groups,
            axis.block_size,
            axis.padding_multiple,
            axis.shard_padding_multiple,
            axis.padding,
            strides[index],
        )
        for index, axis in enumerate(axes)
    ]


@st.composite
def linear_layouts(draw: st.DrawFn, shape: Shape, most_owners: int = 48) -> Layout:
    """A linear layout; it may ask for more owners than there are grains."""
    grain = draw(st.integers(1, 4))
    grains = -(-prod(shape) // grain)
    owners = draw(st.integers(1, min(grains + 1, most_owners)))
    padding = draw(st.sampled_from([Padding.ZERO, Padding.REJECT]))
    axis = Axis(AxisBase.LINEAR, 0, owners, block_size=grain, padding_multiple=grain, padding=padding)
    return Layout(ROW_MAJOR, Tiling(owners, 1, (axis,)), draw(classes))


def layouts(shape: Shape, most_owners: int = 48) -> st.SearchStrategy[Layout]:
    return st.one_of(axis_layouts(shape, most_owners), linear_layouts(shape, most_owners))
