"""Planner's cycles by hand, where no golden case decides: each figure is worked out beside it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.helpers.golden_recipes import golden_recipe
from tests.helpers.small_programs import F8, value
from tests.helpers.small_recipes import axis, layout
from tileview.core.cycles.prices import UNPRICED, Price, program_cycles, step_price
from tileview.core.cycles.words import describe_cycles, percent_between, short_cycles
from tileview.core.lowering.replanner import Replanner
from tileview.model.plan import Staging, StagingKind
from tileview.model.program import (
    Copy,
    Kernel,
    MergePart,
    Opaque,
    Product,
    ProductBlocks,
    Program,
    Repeat,
    SoftmaxKeys,
    Step,
    Sum,
    Value,
)
from tileview.model.sizes import UNAVAILABLE
from tileview.model.tensor import (
    F16,
    F32,
    LEFT,
    OUTPUT,
    ROW_MAJOR,
    TRANSPOSED_LEFT,
    TRANSPOSED_RIGHT,
    MemoryClass,
    Order,
    OrderKind,
    Precision,
    Shape,
)

INTERLEAVED = MemoryClass.INTERLEAVED


def tensor(
    number: int,
    shape: Shape,
    order: Order = ROW_MAJOR,
    precision: Precision = F16,
    memory: MemoryClass = MemoryClass.STANDARD,
) -> Value:
    """A tensor whole on one tile."""
    return value(number, shape, layout(axis(1, 1), order=order, memory_class=memory), precision)


def price(step: Step, *values: Value) -> Price:
    return step_price(step, values)


def kernel_price(name: str, *values: Value, part: SoftmaxKeys | MergePart | None = None) -> object:
    """The price of a kernel whose result is the last of the values."""
    last = len(values) - 1
    return price(Kernel(None, name, tuple(range(last)), (last,), (), part), *values).cycles


def blocks(number: int) -> Order:
    return Order(OrderKind.TRANSPOSED_MATRIX, number, 16)


def product_price(
    result: Value, multiply: Precision = F16, memory: MemoryClass = INTERLEAVED, cut: ProductBlocks | None = None
) -> object:
    """[rows, 64] by [64, columns]; blocks of 64 by 32 unless ``cut`` says else."""
    rows, columns = result.shape
    left = tensor(0, (rows, 64), LEFT, multiply)
    right = tensor(1, (64, columns), Order(OrderKind.MATRIX, 64, 16), multiply, memory)
    step = Product(None, (0, 1), (2,), multiply, F32, (), cut or ProductBlocks(64, 32, 1, 1))
    return price(step, left, right, result).cycles


# -- products -------------------------------------------------------------------------------------------------------


def test_columns_among_the_rows_count_as_one_call_takes_them() -> None:
    """Order Output leaves the last dimension out; columns are the first: R = 32 of 96, three calls.

    i = 64, c = 32: 294 + 4 · 2 · (4 · 32 + 160) = 2,598.
    """
    swapped = ProductBlocks(64, 32, 1, 0)
    left, right = tensor(0, (96, 64), LEFT), tensor(1, (64, 40), memory=INTERLEAVED)
    step = Product(None, (0, 1), (2,), F16, F32, (), swapped)
    assert price(step, left, right, tensor(2, (96, 40), OUTPUT)).cycles == 3 * 2_598


@pytest.mark.parametrize("order", [blocks(24), blocks(8), Order(OrderKind.TRANSPOSED_MATRIX, 32, 8)])
def test_row_blocks_that_are_no_packed_ones(order: Order) -> None:
    """24 is no power of two, 8 is below 16, columns of 8 are none of 16: 294 + 4 · 2 · (4 · 48 + 160)."""
    assert product_price(tensor(2, (48, 32), order)) == 3_110


def test_packed_with_a_standard_right_operand() -> None:
    """R = 48: each of six workers has 8 rows, the second from row 8: 24 · 8 + 184 = 376. 342 + 4 · 2 · (376 + 202)."""
    result = tensor(2, (48, 32), blocks(32))
    assert product_price(result, memory=MemoryClass.STANDARD) == 4_966
    assert product_price(result) == 342 + 8 * (376 + 170)


@pytest.mark.parametrize("memory", list(MemoryClass))
def test_f32_takes_the_general_kernel_in_both_classes(memory: MemoryClass) -> None:
    """R = 9, i = 64, c = 80: 294 + 4 · (80 · 9 + ⌈5 · 2126 / 4⌉) = 294 + 4 · (720 + 2,658)."""
    cut = ProductBlocks(64, 80, 1, 1)
    assert product_price(tensor(2, (9, 80), LEFT, F32), F32, memory, cut) == 13_806


@pytest.mark.parametrize("cut", [ProductBlocks(0, 32, 1, 1), ProductBlocks(64, 0, 1, 1), ProductBlocks(64, 32, 2, 1)])
def test_blocks_of_nothing_have_no_price(cut: ProductBlocks) -> None:
    assert product_price(tensor(2, (48, 32), LEFT), cut=cut) is UNAVAILABLE


def test_a_product_of_no_plan_has_no_price() -> None:
    values = (tensor(0, (8, 64)), tensor(1, (64, 32)), tensor(2, (8, 32)))
    assert price(Product(None, (0, 1), (2,), F16, F32), *values) == UNPRICED


# -- copies and sums ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("width", "cycles"),
    [
        (12, 288 + 48 + 300 + 1 * 2 * 6 * (12 + 140)),  # 192 elements, 384 bytes, one block of 16 × 16
        (16, 288 + 64 + 300 + 1 * 2 * 6 * 60),
        (20, 288 + 80 + 300 + 1 * 2 * 6 * (12 + 280)),  # 320 elements in one block of 16 × 32
        (18, 288 + 72 + 10 * 288 + 11),  # 18 is not a multiple of 4
    ],
)
def test_packing_to_matrix(width: int, cycles: int) -> None:
    copy = Copy(None, (0,), (1,))
    shape = (16, width)
    assert price(copy, tensor(0, shape), tensor(1, shape, Order(OrderKind.MATRIX, 16, 16))) == (cycles, 0)


def test_packing_to_other_orders() -> None:
    """8 × 16 elements of 2 bytes: 32 cycles to write them and 288; then by order."""
    copy, shape = Copy(None, (0,), (1,)), (8, 16)
    for order, packing in ((LEFT, 139), (TRANSPOSED_RIGHT, 395), (TRANSPOSED_LEFT, 1_291), (OUTPUT, 1_291)):
        assert price(copy, tensor(0, shape), tensor(1, shape, order)).cycles == 320 + packing
    assert price(copy, tensor(0, shape, LEFT), tensor(1, shape)).cycles == 320 + 1_280
    assert price(copy, tensor(0, shape, LEFT), tensor(1, shape, TRANSPOSED_RIGHT)).cycles == 320, "the same panels"


def test_a_sum_in_batches_of_nothing_has_no_price() -> None:
    step = Sum(None, (0,), (1,), 0, Staging(StagingKind.BATCHED, 0))
    assert price(step, tensor(0, (4, 8)), tensor(1, (8,))) == UNPRICED


# -- kernels --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shapes", "cycles"),
    [
        (((96,), (64,), (96,)), 450 + 8 * 54),  # 64 does not divide 96
        (((96,), (32,), (96,)), 504 + 3 * 2 * 18 + 2 * 234),
        (((6,), (6,), (6,)), 450 + 54),  # 4 does not divide 6
        (((96,), (96,), (96,)), 504 + 4 * 18),
    ],
)
def test_add(shapes: tuple[Shape, ...], cycles: int) -> None:
    assert kernel_price("Add", *[tensor(i, shape) for i, shape in enumerate(shapes)]) == cycles
    assert kernel_price("Add", *[tensor(i, shape, precision=F32) for i, shape in enumerate(shapes)]) == (
        3 * shapes[-1][0] + 11
    )


def test_donors_are_no_operands() -> None:
    """A donor behind an Add's two operands changes nothing, whatever it is."""
    step = Kernel(None, "Add", (0, 1, 2), (3,), ((0, 2),))
    values = (tensor(0, (96,)), tensor(1, (96,)), tensor(2, (500,)), tensor(3, (96,)))
    assert price(step, *values).cycles == 504 + 4 * 18


def test_gelu() -> None:
    assert kernel_price("Gelu", tensor(0, (100,), precision=F32), tensor(1, (100,), precision=F32)) == 1_011
    assert kernel_price("Gelu", tensor(0, (0,)), tensor(1, (0,))) == 0


def test_layer_norm_of_widths_that_are_no_vectors() -> None:
    """Width 100: no multiple of 8, so 9 · 48 and 1,200; of 4, so 66 + 5 · 72. Width 98: 9 · 60 to apply."""
    for width, cycles in ((100, 132 + 2 * (432 + 1_200 + 426)), (98, 132 + 2 * (432 + 1_200 + 540))):
        values = [tensor(0, (2, width)), tensor(1, (width,)), tensor(2, (width,)), tensor(3, (2, width))]
        assert kernel_price("LayerNorm", *values) == cycles


def test_layer_norm_from_statistics() -> None:
    """Width 98, two rows, two parts, counted by the statistics' second last extent: 558 + 2 · (324 + 108 + 540)."""
    values = [tensor(0, (2, 98)), tensor(1, (98,)), tensor(2, (98,)), tensor(3, (2, 2, 2), precision=F32)]
    assert kernel_price("LayerNormApply", *values, tensor(4, (2, 98))) == 2_502


@pytest.mark.parametrize(
    ("rows", "keys", "precision", "cycles"),
    [
        (1, SoftmaxKeys(112, 112), F16, 2_166),  # split would be 2,010, but starts at 128 keys
        (1, SoftmaxKeys(128, 128), F16, 2_010),
        (1, SoftmaxKeys(128, 128), F8, 2_010 + 6 * (3 * 7 + 8)),
        (1, SoftmaxKeys(112, 112), F8, 2_166 + 6 * (7 * 7 + 8)),
        (0, SoftmaxKeys(128, 128), F8, 0),
    ],
)
def test_softmax(rows: int, keys: SoftmaxKeys, precision: Precision, cycles: int) -> None:
    weights = tensor(1, (rows, keys.padded), LEFT, precision)
    assert kernel_price("AttentionSoftmax", tensor(0, (rows, keys.padded), LEFT), weights, part=keys) == cycles


def test_merge() -> None:
    """Six rows of 72 to F16, not the first block, the last: 31 + 3 + 1 + 12 + 36 · 7 + 5 = 304 a row."""
    values = [tensor(0, (6, 80), LEFT), tensor(1, (2, 6), precision=F32), tensor(2, (6, 72))]
    assert kernel_price("AttentionMerge", *values, part=MergePart(72, False, True)) == 222 + 6 * 304
    assert kernel_price("AttentionMerge", *values) is UNAVAILABLE


def test_a_materialized_attention_ends_its_work_in_every_block() -> None:
    merges = {}
    for name in ("g02_attn_online_t128", "g04_attn_fp8_t256", "e03_input_twice_t8"):
        recipe = golden_recipe(f"models/{name}")
        flat = Replanner().replan(recipe).flatten()
        merges[name] = [
            (entry.step.source, entry.step.part)
            for entry in flat
            if isinstance(entry.step, Kernel) and entry.step.kernel == "AttentionMerge"
        ]
        for operation in {source for source, _ in merges[name]}:
            parts = [part for source, part in merges[name] if source == operation]
            plan = recipe.plans[operation]
            materialized = plan.dispatch.materialized  # type: ignore[union-attr]
            assert [part.initial for part in parts] == [True] + [False] * (len(parts) - 1)  # type: ignore[union-attr]
            ends = [materialized] * (len(parts) - 1) + [True]
            assert [part.final for part in parts] == ends  # type: ignore[union-attr]
    assert any(len(found) > 1 for found in merges.values())


def test_cast_to_f8() -> None:
    """One Left row as long as it was: no panels, 330 + 2 · 24. TransposedRight: two panels of 16 rows."""
    assert kernel_price("Cast", tensor(0, (1, 96), LEFT), tensor(1, (1, 96), LEFT, F8)) == 378
    shape = (32, 32)
    assert kernel_price("Cast", tensor(0, shape), tensor(1, shape, TRANSPOSED_RIGHT, F8)) == 330 + 2 * (120 + 3 * 72)


# -- programs -------------------------------------------------------------------------------------------------------


def test_what_has_no_price() -> None:
    broken = value(0, (8,), layout(axis(1, 3, 3)))
    unknown = replace(tensor(1, (8,)), precision=Precision(Precision(F16.kind).kind.UNKNOWN, text="F4"))
    good = tensor(2, (8,))
    assert kernel_price("Add", broken, good, good) is UNAVAILABLE
    assert price(Copy(None, (0,), (1,)), good, unknown) == UNPRICED
    assert kernel_price("Sine", good, good) is UNAVAILABLE
    assert price(Opaque(0, (0,), (1,), "not known"), good, good) == UNPRICED


def test_a_program_counts_a_body_as_often_as_it_runs() -> None:
    """An Add of 96 is 576: alone once, in the body five times. The Repeat's own step is free."""
    values = tuple(tensor(i, (96,)) for i in range(6))
    body = (Kernel(7, "Add", (2, 2), (3,)),)
    repeat = Repeat(None, 5, (1,), (4,), 1, (), (2,), body, (3,))
    program = Program(1, (), (4,), values, (Kernel(6, "Add", (0, 0), (1,)), repeat))
    found = program_cycles(program)
    assert [step.cycles for step in found.steps] == [576, 576, 0]
    assert (found.total, found.exchange) == (576 * 6, 0)
    assert found.operations() == {6: (576, 0), 7: (2_880, 0)}


def test_one_step_without_a_price_leaves_the_total_unknown() -> None:
    values = tuple(tensor(i, (96,)) for i in range(3))
    steps = (Kernel(0, "Add", (0, 0), (1,)), Opaque(1, (1,), (2,), "not known"))
    found = program_cycles(Program(1, (), (2,), values, steps))
    assert found.price == UNPRICED
    assert found.known == 576
    assert found.operations() == {0: (576, 0), 1: UNPRICED}


def test_prices_survive_renumbering() -> None:
    """A re-planner used before gives what a new one gives, for every plan of an operation in the middle."""
    recipe, used = golden_recipe("vit3-64tiles"), Replanner()
    for plan in recipe.alternatives[19][:6]:
        swapped = recipe.with_plan(19, plan)
        assert program_cycles(used.replan(swapped)) == program_cycles(Replanner().replan(swapped))


def test_words() -> None:
    assert short_cycles(20_751_796) == "20.75 M"
    assert short_cycles(999_999) == "999,999"
    assert short_cycles(UNAVAILABLE) == "unavailable"
    assert [describe_cycles(number) for number in (5_000, -4_113_153, 0)] == ["+5,000", "−4,113,153", "±0"]
    assert percent_between(24_864_949, 20_751_796) == " (−17 %)"
    assert percent_between(1_000, 1_019) == ""
    assert percent_between(1_000, 1_020) == " (+2 %)"
    assert percent_between(UNAVAILABLE, 1) == ""
