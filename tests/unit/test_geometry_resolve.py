"""Worked examples of layouts, the rules beside the golden vectors, and what is refused."""

from __future__ import annotations

import pickle

import pytest

from tileview.core.geometry.resolve import (
    LayoutError,
    LayoutErrorKind,
    layout_failure,
    resolve,
    same_distribution,
)
from tileview.core.geometry.resolved import is_mapping
from tileview.errors import TileViewError
from tileview.model.tensor import (
    LEFT,
    ROW_MAJOR,
    Axis,
    AxisBase,
    Layout,
    MemoryClass,
    Order,
    OrderKind,
    Padding,
    Tiling,
)


def linear(owners: int, grain: int, padding: Padding = Padding.REJECT) -> Layout:
    axis = Axis(AxisBase.LINEAR, 0, owners, block_size=grain, padding_multiple=grain, padding=padding)
    return Layout(ROW_MAJOR, Tiling(owners, 1, (axis,)))


def end(k: int, partitions: int, block: int, stride: int | None = None, padding: Padding = Padding.ZERO) -> Axis:
    return Axis(
        AxisBase.END,
        k,
        partitions,
        block_size=block,
        padding_multiple=block,
        padding=padding,
        tile_stride=stride,
    )


def test_linear_layout_gives_one_grain_more_to_the_first_owners() -> None:
    resolved = resolve((1, 729, 1152), linear(1472, 4))
    # 839,808 elements are 209,952 grains = 142 · 1472 + 928
    assert resolved.maximum_elements == 572
    assert resolved.padded_shape == (1, 729, 1152)
    assert resolved.dimensions is None
    assert resolved.owner_elements().tolist() == [572] * 928 + [568] * (1472 - 928)


def test_linear_layout_with_fewer_grains_than_owners() -> None:
    failure = layout_failure((1, 1, 1152), linear(1472, 4))
    assert failure is not None
    assert failure.kind is LayoutErrorKind.EMPTY_AXIS_TILING
    assert str(failure).startswith("1,472 tiles requested, only 288 grains")


def test_axis_layout_of_the_worked_example() -> None:
    layout = Layout(LEFT, Tiling(1472, 46, (end(2, 4, 160), end(1, 8, 2))))
    resolved = resolve((588, 1152), layout)
    assert resolved.padded_shape == (640, 1152)
    assert resolved.maximum_elements == 160 * 144 == 23_040
    assert resolved.dimensions is not None
    rows, columns = resolved.dimensions
    assert (rows.starts, rows.logical_ends, rows.physical_ends) == (
        (0, 160, 320, 480),
        (160, 320, 480, 588),
        (160, 320, 480, 640),
    )
    assert (rows.stride, columns.stride) == (46, 46 * 4)
    assert resolved.is_uniform


def test_padding_groups_divide_the_dimension_into_padded_pieces() -> None:
    # 12 = 2 groups of 6, padded to 8 each, 2 partitions a group: 4 + 2 logical elements
    axis = Axis(AxisBase.START, 0, 4, 2, 4, 4, 1, Padding.ZERO)
    resolved = resolve((12,), Layout(ROW_MAJOR, Tiling(4, 1, (axis,))))
    assert resolved.padded_shape == (16,)
    assert resolved.dimensions is not None
    (bounds,) = resolved.dimensions
    assert bounds.starts == (0, 4, 6, 10)
    assert bounds.logical_ends == (4, 6, 10, 12)
    assert bounds.physical_ends == (4, 8, 10, 14)


def test_more_partitions_than_blocks_leave_empty_ones() -> None:
    resolved = resolve((3,), Layout(ROW_MAJOR, Tiling(5, 1, (end(1, 5, 1),))))
    assert resolved.owner_elements().tolist() == [1, 1, 1, 0, 0]


def test_strides_that_are_no_chain_can_still_be_a_mapping() -> None:
    # t mod 2 and t mod 3 over 6 owners: every pair once (remainders), though 1 is not a multiple of 2
    assert is_mapping([(1, 2), (1, 3)], 6, 1)
    layout = Layout(ROW_MAJOR, Tiling(6, 1, (end(1, 2, 1, stride=1), end(2, 3, 1, stride=1))))
    assert resolve((3, 2), layout).owner_elements().tolist() == [1] * 6
    # t mod 2 and t mod 2: (0, 1) never occurs
    assert not is_mapping([(1, 2), (1, 2)], 4, 1)


def test_zero_stride_is_an_empty_tiling() -> None:
    failure = layout_failure((4,), Layout(ROW_MAJOR, Tiling(2, 1, (end(1, 2, 1, stride=0),))))
    assert failure is not None
    assert failure.kind is LayoutErrorKind.EMPTY_AXIS_TILING


def test_unknown_order_does_not_resolve() -> None:
    layout = Layout(Order(OrderKind.UNKNOWN, text="Spiral"), Tiling(1, 1, ()))
    with pytest.raises(LayoutError, match="Spiral") as caught:
        resolve((4,), layout)
    assert caught.value.kind is LayoutErrorKind.UNKNOWN_ORDER


def test_a_layout_without_axes_holds_everything_on_each_replica() -> None:
    resolved = resolve((2, 3), Layout(ROW_MAJOR, Tiling(4, 4, ())))
    assert resolved.owner_elements().tolist() == [6] * 4


def test_errors_travel_between_processes() -> None:
    failure = layout_failure((1, 1, 1152), linear(1472, 4))
    copy = pickle.loads(pickle.dumps(failure))
    assert failure is not None
    assert (copy.kind, str(copy)) == (failure.kind, str(failure))


def test_what_no_chip_could_hold_is_resolved_but_not_listed() -> None:
    huge = resolve((2**40, 2**40), Layout(ROW_MAJOR, Tiling(1, 1, ())))
    assert huge.maximum_elements == 2**80
    with pytest.raises(TileViewError, match="too large"):
        huge.owner_elements()
    many = resolve((2**40,), linear(2**25, 1))
    assert many.maximum_elements == 2**15
    with pytest.raises(TileViewError, match="too many"):
        many.owner_elements()


def test_same_distribution_looks_at_partitions_not_at_names() -> None:
    shape = (4, 6)
    by_end = Layout(LEFT, Tiling(4, 2, (end(1, 2, 3),)))
    by_start = Layout(
        ROW_MAJOR,
        Tiling(4, 2, (Axis(AxisBase.START, 0, 1), Axis(AxisBase.START, 1, 2, block_size=1))),
        MemoryClass.INTERLEAVED,
    )
    assert same_distribution(shape, by_end, shape, by_start)
    other_stride = Layout(LEFT, Tiling(4, 2, (end(1, 2, 3, stride=1),)))
    assert not same_distribution(shape, by_end, shape, other_stride)
    uneven = Layout(LEFT, Tiling(4, 2, (end(1, 2, 4),)))
    assert not same_distribution(shape, by_end, shape, uneven)
    assert not same_distribution(shape, by_end, (6, 4), by_end)
    other_count = Layout(LEFT, Tiling(2, 1, (end(1, 2, 3),)))
    assert not same_distribution(shape, by_end, shape, other_count)


def test_same_distribution_of_linear_and_invalid_layouts() -> None:
    shape = (4, 4)
    assert same_distribution(shape, linear(4, 4), shape, linear(4, 4))
    rows = Layout(ROW_MAJOR, Tiling(4, 1, (end(2, 4, 1),)))
    assert not same_distribution(shape, linear(4, 4), shape, rows)
    assert not same_distribution(shape, linear(17, 1), shape, linear(17, 1))
