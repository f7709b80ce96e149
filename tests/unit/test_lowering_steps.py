"""Steps of single plans and conversions, against worked figures."""

from __future__ import annotations

import pytest

from tests.helpers.small_recipes import ONE, add_plan, axis, host, layout, need, operation, parameter, plan, recipe
from tileview.core.lowering.convert import CAST, conversion
from tileview.core.lowering.gemm import lower_gemm
from tileview.core.lowering.replanner import Replanner
from tileview.core.lowering.sheet import DIRECT, RESULT, STAGED, Sheet, operand
from tileview.core.lowering.tilings import broadcast, project, strides
from tileview.core.lowering.valuetypes import RefusedError, TypeTable, ValueType
from tileview.model.plan import BlockedGemm, GemmOperator, Orientation, ParallelReduction, Plan, Staging, StagingKind
from tileview.model.program import Copy, Kernel, Product, Sum
from tileview.model.tensor import (
    F16,
    F32,
    LEFT,
    ROW_MAJOR,
    TRANSPOSED_LEFT,
    Axis,
    AxisBase,
    Layout,
    MemoryClass,
    Order,
    OrderKind,
    Padding,
    Precision,
    PrecisionKind,
    Tiling,
)

F8 = Precision(PrecisionKind.F8F143, -4)
ZERO, REJECT = Padding.ZERO, Padding.REJECT
INTERLEAVED = MemoryClass.INTERLEAVED


# -- a product of the sample timeline ---------------------------------------------------------------------------------


def start(dimension: int, partitions: int, block: int, stride: int, padding: Padding = ZERO) -> Axis:
    return Axis(AxisBase.START, dimension, partitions, 1, block, block, 1, padding, stride)


def test_swapped_product_of_the_sample_timeline() -> None:
    """Operation 0 of a 1152-wide transformer: 8 row, 46 column and 4 inner partitions on 1472 tiles.

    Its left operand is the weight, used where it is; values 68 to 70 of the timeline are the result, the patches spread
    over the grid, and the partial products.
    """
    types = TypeTable(1472)
    blocks = Order(OrderKind.TRANSPOSED_MATRIX, 160, 16)
    patches_layout = layout(axis(2, 46, 16, ZERO, 1), axis(1, 4, 160, ZERO), order=blocks, replicas=8)
    weight_layout = layout(axis(2, 4, 160, ZERO), axis(1, 8, 2, ZERO), order=TRANSPOSED_LEFT, replicas=46)
    result_layout = layout(
        axis(2, 46, 16, ZERO, 1), axis(1, 32, 2, ZERO, 46), order=TRANSPOSED_LEFT, memory_class=INTERLEAVED
    )
    staging = Staging(StagingKind.COMPLETE)
    operator = GemmOperator(False, False, F8, F16)
    dispatch = BlockedGemm(160, 16, Orientation.SWAPPED, ParallelReduction(8, 46, 4, 32, 46, staging))
    chosen = Plan(operator, dispatch, (need(patches_layout, F8), need(weight_layout, F8)), need(result_layout))
    patches = types.get((1, 729, 588), F8, patches_layout)
    weight = types.get((588, 1152), F8, weight_layout)
    sheet = Sheet(types, (patches, weight), types.get((1, 729, 1152), F16, result_layout))
    fragment = lower_gemm(sheet, chosen, operator, dispatch)

    spread, partials = fragment.temporaries
    assert spread == types.get(
        (1, 729, 588), F8, Layout(blocks, Tiling(1472, 8, (start(1, 46, 16, 1), start(2, 4, 160, 46))))
    )
    assert partials == types.get(
        (4, 1, 729, 1152),
        F16,
        Layout(
            TRANSPOSED_LEFT,
            Tiling(1472, 1, (start(2, 46, 16, 1), start(3, 8, 2, 184), start(0, 4, 1, 46, REJECT))),
            INTERLEAVED,
        ),
    )
    assert fragment.steps == (
        Copy(None, (operand(0),), (1,)),
        Product(None, (operand(1), 1), (2,), F8, F16),
        Sum(None, (2,), (RESULT,), 0, staging),
    )


# -- projections ------------------------------------------------------------------------------------------------------


def test_strides_are_packed_from_the_replicas_on() -> None:
    tiling = layout(axis(1, 3), axis(2, 4, stride=7), axis(3, 2), replicas=5).tiling
    assert strides(tiling) == [5, 7, 5 * 3 * 4]


def test_broadcast_keeps_strides_and_turns_the_rest_into_replicas() -> None:
    """[2, 4, 32] over 2 × 4 × 8 owners, projected onto a bias [32]: the 8 columns at their stride, 8 replicas."""
    tiling = layout(axis(3, 2), axis(2, 4), axis(1, 8)).tiling
    projected = broadcast(tiling, (2, 4, 32), (32,))
    assert projected == Tiling(64, 8, (start(0, 8, 1, 8, REJECT),))


def test_broadcast_of_equal_shapes_is_the_tiling_itself() -> None:
    tiling = layout(axis(2, 4), axis(1, 8)).tiling
    assert broadcast(tiling, (4, 32), (4, 32)) is tiling


def test_broadcast_maps_an_extent_of_1_that_the_result_has_too() -> None:
    tiling = layout(axis(3, 1, stride=9), axis(2, 4)).tiling
    assert broadcast(tiling, (1, 4, 32), (1, 1, 32)) == Tiling(4, 4, (start(0, 1, 1, 9, REJECT),))


@pytest.mark.parametrize("shape", [(2, 32), (1, 4, 4, 32), (4, 16)])
def test_what_cannot_be_broadcast(shape: tuple[int, ...]) -> None:
    with pytest.raises(RefusedError, match="cannot be broadcast"):
        broadcast(layout(axis(2, 4)).tiling, (1, 4, 32), shape)


def test_projection_drops_what_has_no_target() -> None:
    tiling = layout(axis(2, 3), axis(1, 5)).tiling
    assert project(tiling, 2, {1: 0}) == Tiling(15, 3, (start(0, 5, 1, 3, REJECT),))


# -- conversions ------------------------------------------------------------------------------------------------------

SHAPE = (1, 8, 64)
GRID = (axis(2, 4, 2, ZERO), axis(1, 2, 32, ZERO))


def hops(source: ValueType, target: ValueType, types: TypeTable, slices: bool = False) -> list[tuple[object, ...]]:
    return [
        ("Cast" if policy is CAST else policy, str(made.precision), made.layout)
        for made, policy in conversion(types, source, target, slices)
    ]


def test_conversions_of_the_same_precision() -> None:
    types = TypeTable(64)
    rows = types.get(SHAPE, F16, ONE)
    row_major, left = layout(*GRID), layout(*GRID, order=LEFT)
    assert hops(rows, rows, types) == []
    assert hops(rows, types.get(SHAPE, F16, row_major), types) == [(DIRECT, "F16", row_major)]
    assert hops(rows, types.get(SHAPE, F16, left), types) == [(STAGED, "F16", left)]
    assert hops(rows, types.get(SHAPE, F16, left), types, slices=True) == []


def test_f16_to_f8_left_is_staged_row_major_where_rows_can_be_packed() -> None:
    types = TypeTable(64)
    row_major, left = layout(*GRID), layout(*GRID, order=LEFT)
    assert hops(types.get(SHAPE, F16, ONE), types.get(SHAPE, F8, left), types) == [
        (DIRECT, "F16", row_major),
        ("Cast", str(F8), left),
    ]


def test_f16_to_f8_left_is_packed_first_where_rows_cannot() -> None:
    """Shards 2 wide are no multiple of 4."""
    types = TypeTable(64)
    left = layout(axis(1, 32, 2, ZERO), order=LEFT)
    assert hops(types.get(SHAPE, F16, ONE), types.get(SHAPE, F8, left), types) == [
        (STAGED, "F16", left),
        ("Cast", str(F8), left),
    ]


def test_f8_to_f16_goes_through_row_major() -> None:
    types = TypeTable(64)
    row_major, left = layout(*GRID), layout(*GRID, order=LEFT)
    assert hops(types.get(SHAPE, F8, layout(axis(2, 1), order=LEFT)), types.get(SHAPE, F16, left), types) == [
        (STAGED, str(F8), row_major),
        ("Cast", "F16", row_major),
        (STAGED, "F16", left),
    ]


def test_f32_to_f16_is_cast_where_it_lies() -> None:
    types = TypeTable(64)
    left = layout(*GRID, order=LEFT)
    assert hops(types.get(SHAPE, F32, ONE), types.get(SHAPE, F16, left), types) == [
        ("Cast", "F16", ONE),
        (STAGED, "F16", left),
    ]
    assert hops(types.get(SHAPE, F32, ONE), types.get(SHAPE, F16, left), types, slices=True) == [("Cast", "F16", ONE)]


# -- whole programs of one or two operations --------------------------------------------------------------------------


def test_result_is_numbered_before_temporaries_and_closed_after() -> None:
    """An Add with a broadcast operand: conversions, result, operand copy, closing copy."""
    rows = layout(axis(2, 4))
    made = recipe(
        [host(0, (1, 4, 32)), host(1, (1, 1, 32))],
        [operation(0, [0, 1], 2)],
        {2: (1, 4, 32)},
        {0: add_plan([rows, ONE], rows, may_alias=[0])},
    )
    program = Replanner().lower(made)
    assert program.steps == (
        Copy(0, (0,), (2,), policy=DIRECT),  # x to its rows; the bias is where it is asked for
        Copy(0, (1,), (4,)),  # the bias to every row
        Kernel(0, "Add", (2, 4, 2), (3,), ((0, 2),)),
        Copy(0, (3,), (5,), policy=DIRECT),
    )
    assert [value.storage_group for value in program.values] == [0, 1, 0, 3, 4, 3]
    assert [value.origin for value in program.values] == [0, 1, 0, 2, 2, 2]
    assert program.values[4].layout.tiling.replicas == 4
    assert program.outputs == (5,)


def test_converted_parameters_are_copies_of_their_own() -> None:
    rows = layout(axis(2, 4))
    made = recipe(
        [host(0, (1, 4, 32)), parameter(1, (1, 4, 32), "w")],
        [operation(0, [0, 1], 2)],
        {2: (1, 4, 32)},
        {0: add_plan([rows, rows], rows)},
    )
    program = Replanner().lower(made)
    home, converted = program.values[1], program.values[3]
    assert (home.name, converted.name, converted.origin) == ("w", "w", 1)
    assert converted.storage_group == 3
    assert home.layout.order == ROW_MAJOR
    assert home.layout.tiling.is_linear


def test_plan_of_rank_1_products_is_refused() -> None:
    operator = GemmOperator(False, False, F16, F16)
    dispatch = BlockedGemm(16, 16, Orientation.NORMAL, ParallelReduction(1, 1, 1, 1, 1, Staging(StagingKind.COMPLETE)))
    types = TypeTable(4)
    vector = types.get((8,), F16, layout(axis(1, 1)))
    chosen = plan(operator, dispatch, [need(vector.layout)] * 2, need(vector.layout))
    with pytest.raises(RefusedError, match="needs two dimensions"):
        lower_gemm(Sheet(types, (vector, vector), vector), chosen, operator, dispatch)
