"""Plans and layouts in words, and what differs between two plans."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from tests.helpers.opened import document
from tileview.analysis.operation_words import kind_words
from tileview.analysis.words import layout_differences, layout_words, order_words, precision_words, shape_text
from tileview.model.graph import GemmKind, RepeatKind, SliceKind, UnknownKind, ViewKind
from tileview.model.plan import (
    AddOperator,
    AttentionDispatch,
    BlockedGemm,
    GemmOperator,
    LayerNormParts,
    Orientation,
    OutputStationary,
    ParallelReduction,
    Plan,
    Pointwise,
    ProductGrid,
    Requirement,
    Staging,
    StagingKind,
    Unknown,
)
from tileview.model.tensor import (
    F16,
    LEFT,
    ROW_MAJOR,
    Axis,
    AxisBase,
    Format,
    Layout,
    MemoryClass,
    Order,
    OrderKind,
    Padding,
    Precision,
    PrecisionKind,
    Tiling,
)
from tileview.present.plan_words import (
    dispatch_words,
    plan_differences,
    plan_facts,
    plan_is_known,
    plan_words,
    short_differences,
    staging_words,
)

F8 = Precision(PrecisionKind.F8F143, -4)
LINEAR = Layout(ROW_MAJOR, Tiling(1472, 1, (Axis(AxisBase.LINEAR, 0, 1472, block_size=4),)))
CUT = Layout(
    LEFT,
    Tiling(
        1472,
        46,
        (
            Axis(AxisBase.END, 2, 4, block_size=160, padding_multiple=160, padding=Padding.ZERO),
            Axis(AxisBase.START, 1, 8, block_size=2, tile_stride=4),
        ),
    ),
    MemoryClass.INTERLEAVED,
)


def gemm(**changes: object) -> Plan:
    distribution = ParallelReduction(8, 36, 5, 1, 1, Staging(StagingKind.COMPLETE))
    dispatch = BlockedGemm(96, 16, Orientation.NORMAL, distribution)
    plan = Plan(
        GemmOperator(False, False, F8, F16),
        replace(dispatch, **{k: v for k, v in changes.items() if k in ("inner_block", "orientation", "distribution")}),
        (Requirement(Format(F8, CUT)), Requirement(Format(F8, LINEAR))),
        Requirement(Format(F16, LINEAR)),
    )
    return replace(plan, **{k: v for k, v in changes.items() if k in ("inputs", "output", "may_alias", "operator")})


def test_tensors_in_words() -> None:
    assert shape_text((588, 1152)) == "[588,1152]"
    assert precision_words(F8) == "F8 scaled by 2⁻⁴"
    assert precision_words(F16) == "F16"
    assert order_words(Order(OrderKind.MATRIX, 96, 16)) == "Matrix in blocks of 96 × 16"
    assert order_words(Order(OrderKind.UNKNOWN, text="Spiral")) == "unknown order Spiral"


def test_layouts_in_words() -> None:
    assert layout_words(LINEAR) == "1,472 owners, spread in grains of 4; row-major; standard memory"
    assert layout_words(CUT) == (
        "1,472 owners; second-last dimension: 4 parts in blocks of 160, zero-padded; dimension 1: 8 parts in blocks of "
        "2, stride 4; 46 copies of each part; Left; interleaved memory"
    )
    assert layout_words(Layout(ROW_MAJOR, Tiling(1, 1, ()))) == "1 owner, not divided; row-major; standard memory"


def test_kinds_of_operations() -> None:
    body = RepeatKind.__new__(RepeatKind)
    object.__setattr__(body, "count", 27)
    assert kind_words(body) == "Repeat × 27"
    assert kind_words(SliceKind(1, 0, 729)) == "Slice of dimension 1, 0 … 728"
    assert kind_words(GemmKind(transpose_right=True)) == "Gemm, right transposed"
    assert kind_words(ViewKind(2, 0, 16, False)) == "View: dimension 2 split by 16, merged into dimension 0"
    assert kind_words(UnknownKind("Scatter", "Scatter { … }")) == "Scatter (unknown)"


@pytest.mark.parametrize(
    ("staging", "words"),
    [
        (Staging(StagingKind.COMPLETE), "all partials at once"),
        (Staging(StagingKind.STREAMED), "partials streamed one by one"),
        (Staging(StagingKind.BATCHED, 4), "partials in batches of 4"),
    ],
)
def test_staging(staging: Staging, words: str) -> None:
    assert staging_words(staging) == words


def test_products_name_grid_blocks_and_staging() -> None:
    assert plan_words(gemm()) == "grid 8 × 36 × 5, blocks 96 inner × 16 columns, all partials at once, F8 product"
    swapped = gemm(orientation=Orientation.SWAPPED, distribution=OutputStationary())
    assert plan_words(swapped) == "output stationary, blocks 96 inner × 16 columns, swapped, F8 product"


def test_other_dispatches() -> None:
    assert dispatch_words(Pointwise("Add")) == "on local shards, kernel Add"
    assert dispatch_words(LayerNormParts(4)) == "in 4 parts of the last dimension"
    attention = AttentionDispatch((-3, None), ProductGrid(1, 5, 1), None, True, 64, 80, 80)
    assert dispatch_words(attention) == (
        "materialized, key blocks of 64 rows, query–key grid 1 × 5 × 1, query–key in F8 scaled by 2⁻³"
    )


def test_unknown_plans_are_called_so() -> None:
    plan = gemm(distribution=Unknown("Ring", "{}"))
    assert not plan_is_known(plan)
    assert "unknown distribution Ring" in plan_words(plan)
    assert plan_words(gemm(operator=Unknown("Scatter", "{}"))).startswith("unknown operator Scatter")
    assert plan_is_known(gemm())


def test_equal_plans_do_not_differ() -> None:
    assert plan_differences(gemm(), gemm()) == ()
    assert short_differences(gemm(), gemm()) == "same"


def test_each_difference_is_named_with_both_values() -> None:
    other = gemm(inner_block=192, orientation=Orientation.SWAPPED)
    assert plan_differences(gemm(), other) == ("orientation normal → swapped", "inner block 96 → 192")


def test_differences_of_operands_name_the_operand() -> None:
    other = gemm(inputs=(Requirement(Format(F8, CUT), "MatchRemote"), Requirement(Format(F8, LINEAR))))
    assert plan_differences(gemm(), other) == ("operand 0: local staging Direct → MatchRemote",)


def test_what_only_one_side_has_is_a_dash() -> None:
    other = gemm(distribution=OutputStationary())
    assert "grid (rows × columns × inner) 8 × 36 × 5 → —" in plan_differences(gemm(), other)


def test_long_lists_are_cut_and_counted() -> None:
    other = gemm(distribution=OutputStationary(), inner_block=1, may_alias=(0,))
    count = len(plan_differences(gemm(), other))
    assert short_differences(gemm(), other, most=2).endswith(f"; {count - 2} more")


def test_layouts_that_differ() -> None:
    wider = replace(LINEAR.tiling, tile_count=288)
    assert layout_differences(LINEAR, Layout(ROW_MAJOR, wider)) == ("owners 1,472 → 288",)


def test_labels_of_a_plan_are_unique() -> None:
    recipe = document("vit3-64tiles.recipe.json").recipe
    assert recipe is not None
    for plan in recipe.plans.values():
        labels = [label for label, _ in plan_facts(plan)]
        assert len(labels) == len(set(labels))


def test_no_two_different_alternatives_of_the_sample_read_the_same() -> None:
    recipe = document("vit3-64tiles.recipe.json").recipe
    assert recipe is not None
    for alternatives in recipe.alternatives.values():
        for first, second in pairwise(alternatives):
            assert (first == second) == (plan_differences(first, second) == ())


def test_pointwise_plans_read_by_their_kernel() -> None:
    plan = Plan(AddOperator(), Pointwise("Add"), (), Requirement(Format(F16, LINEAR)), (1,))
    owners = LINEAR.tiling.tile_count
    assert plan_words(plan) == f"{owners:,} owners, on local shards, kernel Add"
    assert ("may reuse the memory of", "operand 1") in plan_facts(plan)
