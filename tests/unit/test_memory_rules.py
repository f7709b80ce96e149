"""The rules of the memory model one by one, with the figures of their worked examples."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.small_programs import F8, WHOLE, kernel, program, value
from tileview.core.columns import program_columns
from tileview.core.memory.exchange import step_exchange
from tileview.core.memory.footprint import footprint
from tileview.core.memory.groups import find_lifetimes, group_values
from tileview.core.memory.measurement import measure
from tileview.core.memory.scratch import Scratch, share_micro_panels, stages, step_scratch
from tileview.core.memory.verdict import (
    Budgets,
    Place,
    Unsized,
    contiguous_bytes,
    contiguous_overflow,
    decide,
)
from tileview.model.owners import Owners
from tileview.model.plan import Staging, StagingKind
from tileview.model.program import Copy, Opaque, Product, Repeat, Sum
from tileview.model.sizes import UNAVAILABLE
from tileview.model.tensor import (
    F16,
    F32,
    LEFT,
    OUTPUT,
    ROW_MAJOR,
    TRANSPOSED_LEFT,
    TRANSPOSED_RIGHT,
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
from tileview.model.timeline import Cause, Peak, Verdict

COMPLETE = Staging(StagingKind.COMPLETE)
BUDGETS = Budgets(586_960, 424_880, 49_152)


def axis(base: AxisBase, index: int, partitions: int, block: int, stride: int | None = None) -> Axis:
    return Axis(base, index, partitions, 1, block, block, 1, Padding.ZERO, stride)


# -- sizes: the sample timeline's values ---------------------------------------------------------------------------


def test_left_operand_of_a_product_has_a_tail_and_whole_elements() -> None:
    layout = Layout(TRANSPOSED_LEFT, Tiling(1472, 46, (axis(AxisBase.END, 2, 4, 160), axis(AxisBase.END, 1, 8, 2))))
    plain = footprint((588, 1152), F8, layout, 1472)
    assert (plain.shard, plain.aligned) == (23_040, 23_040)
    tailed = footprint((588, 1152), F8, layout, 1472, tail=8, element_aligned=True)
    assert (tailed.shard, tailed.aligned) == (23_040, 32_768)
    assert tailed.bytes(1472).tolist() == [32_768] * 1472
    assert tailed.shards(1472).tolist() == [23_040] * 1472


def test_a_tail_can_cost_a_whole_element() -> None:
    # 16,384 bytes fill a standard element exactly; 8 more need a second one
    assert footprint((16_384,), F8, WHOLE, 1, element_aligned=True).aligned == 16_384
    assert footprint((16_384,), F8, WHOLE, 1, tail=8, element_aligned=True).aligned == 32_768
    interleaved = footprint((16_384,), F8, WHOLE, 1, element_aligned=True, memory_class=MemoryClass.INTERLEAVED)
    assert interleaved.aligned == 32_768


def test_tiles_without_a_shard_hold_neither_tail_nor_element() -> None:
    layout = Layout(ROW_MAJOR, Tiling(3, 1, (axis(AxisBase.START, 0, 3, 1),)))
    size = footprint((2,), F16, layout, 4, tail=16, element_aligned=True, owners=Owners(rotation=1))
    assert size.bytes(4).tolist() == [0, 16_384, 16_384, 0]
    assert size.shards(4).tolist() == [0, 2, 2, 0]


def test_sizes_that_cannot_be_known_say_why() -> None:
    unknown = Precision(PrecisionKind.UNKNOWN, text="F6")
    assert footprint((4,), unknown, WHOLE, 4).error == "the precision F6 is not known"
    assert footprint((4,), F16, None, 4).error == "the layout cannot be read"
    many = Layout(ROW_MAJOR, Tiling(8, 8, ()))
    assert footprint((4,), F16, many, 4).error == "8 owners do not fit a device of 4 tiles"
    huge = footprint((2**40, 2**40), F16, WHOLE, 4)
    assert huge.shard is UNAVAILABLE
    assert huge.shards(4).tolist() == [0, 0, 0, 0]


def test_embedding_with_a_tile_named_twice_counts_both_shards() -> None:
    layout = Layout(ROW_MAJOR, Tiling(2, 2, ()))
    size = footprint((4,), F16, layout, 4, owners=Owners(embedding=(3, 3)))
    assert size.aligned == 8
    assert size.bytes(4).tolist() == [0, 0, 0, 16]
    assert size.largest(4) == 16


# -- groups and lifetimes ------------------------------------------------------------------------------------------


def test_aliases_of_a_repeat() -> None:
    #  0 carried, 1 invariant, 2 3 sequence;  4 5 6 arguments;  7 made in the body;  8 result
    values = [value(i) for i in range(9)]
    repeat = Repeat(None, 2, (0, 1), (8,), 1, ((2, 3),), (4, 5, 6), (kernel(4, 5, 6, to=7),), (7,))
    made = program(values, [repeat], outputs=(8,), host=(0, 1), parameters=(2, 3))
    groups = group_values(program_columns(made))
    assert groups.roots == (0, 1, 2, 3, 0, 1, 2, 7, 0)
    assert groups.members[0] == (0, 4, 8)
    lifetimes = find_lifetimes(program_columns(made), groups.root_of)
    # step 0 is the body, step 1 the Repeat; it uses every member of the sequence, inputs and yields
    assert lifetimes.live == ((0, 1, 2, 3, 7), (0, 1, 2, 3, 7))
    assert [step.execution_count for step in made.flatten()] == [2, 1]


def test_tails_and_alignment_come_from_products() -> None:
    values = [value(0), value(1), value(2), value(3)]
    first = Product(None, (0, 1), (2,), F8, F16)
    second = Product(None, (0, 1, 2), (3,), F16, F16, ((0, 2),))
    made = program(values, [first, second], host=(0, 1))
    groups = group_values(program_columns(made))
    assert groups.roots == (0, 1, 2, 2)
    assert groups.tails == {0: 16}
    assert groups.aligned == {0, 2}


def test_lifetimes() -> None:
    #  step 0: 0 → 2, step 1: 2 → 3;  1 is an unused input, 4 an unused parameter, 5 is mentioned by nothing
    values = [value(i) for i in range(6)]
    made = program(values, [kernel(0, to=2), kernel(2, to=3)], outputs=(3,), host=(0, 1), parameters=(4,))
    lifetimes = find_lifetimes(program_columns(made), np.arange(6))
    assert lifetimes.initial == (0, 1, 4)
    assert lifetimes.live == ((0, 1, 2, 4), (2, 3, 4))
    assert lifetimes.spans == {0: (0, 1), 1: (0, 1), 2: (0, 2), 3: (1, 2), 4: (0, 2)}
    assert lifetimes.parameters == {4}


def test_class_of_an_allocation_is_that_of_its_last_value() -> None:
    layout = Layout(ROW_MAJOR, Tiling(1, 1, ()), MemoryClass.INTERLEAVED)
    values = [value(0, (8,)), value(1, (4,), layout)]
    timeline = measure(program(values, [kernel(0, to=1, aliases=((0, 0),))], host=(0,)), 586_960, 0)
    assert timeline.tiles.usage(0)[0].tolist() == [0, 16]
    assert (timeline.peak.standard, timeline.peak.interleaved) == (0, 16)


# -- scratch -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("staging", "contributors", "expected"),
    [
        (COMPLETE, 4, 3),
        (COMPLETE, 1, 1),
        (Staging(StagingKind.STREAMED), 4, 1),
        (Staging(StagingKind.BATCHED, 2), 4, 2),
        (Staging(StagingKind.BATCHED, 9), 4, 3),
        (Staging(StagingKind.BATCHED, 9), 1, 1),
    ],
)
def test_stages_of_a_sum(staging: Staging, contributors: int, expected: int) -> None:
    assert stages(staging, contributors) == expected


def test_scratch_of_a_sum_is_stages_and_two_more_shards() -> None:
    values = (value(0, (4, 9)), value(1, (9,)))
    assert step_scratch(Sum(None, (0,), (1,), 0, COMPLETE), values) == Scratch(1, 5)


def order(kind: OrderKind, rows: int = 16) -> Order:
    return Order(kind, rows, 16)


@pytest.mark.parametrize(
    ("a", "b", "shared"),
    [
        (LEFT, TRANSPOSED_RIGHT, True),
        (LEFT, order(OrderKind.TRANSPOSED_MATRIX), True),
        (TRANSPOSED_LEFT, order(OrderKind.MATRIX), True),
        (order(OrderKind.MATRIX, 16), order(OrderKind.MATRIX, 32), True),
        (LEFT, TRANSPOSED_LEFT, False),
        (LEFT, ROW_MAJOR, False),
        (ROW_MAJOR, ROW_MAJOR, False),
        (OUTPUT, OUTPUT, False),
    ],
)
def test_micro_panels(a: Order, b: Order, shared: bool) -> None:
    assert share_micro_panels(a, b, F16) == shared
    assert share_micro_panels(b, a, F8) == shared
    assert not share_micro_panels(a, b, F32)


def test_only_copies_that_reorder_pack() -> None:
    left, right = Layout(LEFT, WHOLE.tiling), Layout(TRANSPOSED_RIGHT, WHOLE.tiling)
    copy = Copy(None, (0,), (1,))
    assert step_scratch(copy, (value(0), value(1, layout=left))) == Scratch(1, 1)
    assert step_scratch(copy, (value(0, layout=left), value(1, layout=right))) is None
    assert step_scratch(copy, (value(0, layout=left, precision=F32), value(1, layout=right, precision=F32))) == (1, 1)
    assert step_scratch(copy, (value(0), value(1))) is None
    assert step_scratch(copy, (value(0), value(1, layout=left, precision=F8))) is None
    assert step_scratch(kernel(0, to=1), (value(0), value(1, layout=left))) is None


# -- exchange rows -------------------------------------------------------------------------------------------------


def test_rows_of_the_sample_sum() -> None:
    layout = Layout(
        TRANSPOSED_LEFT,
        Tiling(1472, 1, (axis(AxisBase.END, 2, 46, 16, 1), axis(AxisBase.END, 1, 32, 2, 46))),
        MemoryClass.INTERLEAVED,
    )
    values = (value(0, (4, 1, 729, 1152), WHOLE), value(1, (1, 729, 1152), layout))
    # 1,152 B a shard, 3 remote ones = 3,456 B in 14 fragments, one phase: (1 + 9 · 14) · 4
    assert step_exchange(Sum(None, (0,), (1,), 0, COMPLETE), values) == 508


def test_a_copy_that_moves_nothing_costs_nothing() -> None:
    copy = Copy(None, (0,), (1,))
    assert step_exchange(copy, (value(0), value(1))) == 0
    assert step_exchange(copy, (value(0), value(1, owners=Owners(rotation=1)))) == 40
    assert step_exchange(kernel(0, to=1), (value(0), value(1))) == 0


def test_rows_are_unavailable_where_a_layout_does_not_resolve() -> None:
    broken = Layout(ROW_MAJOR, Tiling(3, 1, ()))
    assert step_exchange(Copy(None, (0,), (1,)), (value(0, layout=broken), value(1))) is UNAVAILABLE


def test_linear_layouts_fragment_by_the_grain_of_the_other_order() -> None:
    linear = Layout(ROW_MAJOR, Tiling(1, 1, (Axis(AxisBase.LINEAR, 0, 1),)))
    left = Layout(LEFT, Tiling(1, 1, ()))
    values = (value(0, (64,), linear), value(1, (64,), left))
    # 128 B in pieces of a Left grain, 16 F16 elements = 32 B: 4 fragments
    assert step_exchange(Copy(None, (0,), (1,)), values) == (1 + 9 * 4) * 4


# -- verdict -------------------------------------------------------------------------------------------------------

PLACE = Place(31, 212, 12)


def verdict_of(
    peak: Peak, unsized: tuple[Unsized, ...] = (), at_least: bool = False, budgets: Budgets = BUDGETS
) -> Verdict:
    return decide(
        peak,
        budgets,
        total_place=PLACE,
        interleaved_place=Place(3, 4, 5),
        standard_place=Place(6, 7, 8),
        unsized=unsized,
        at_least=at_least,
    )


def test_over_the_total_budget() -> None:
    verdict = verdict_of(Peak(617_464, 0, 617_464, 1000, 99))
    assert not verdict.fits
    assert verdict.cause is Cause.TOTAL
    assert verdict.text == (
        "total peak 617,464 B + reserve 49,152 B is 79,656 B over the budget of 586,960 B at step 31, tile 212, "
        "operation 12"
    )
    assert (verdict.needed_bytes, verdict.available_bytes, verdict.short_bytes) == (666_616, 586_960, 79_656)
    assert (verdict.step, verdict.tile, verdict.operation) == (31, 212, 12)


def test_budget_is_met_exactly() -> None:
    assert verdict_of(Peak(537_808, 0, 537_808, 1000, 10**9)).fits
    assert not verdict_of(Peak(537_809, 0, 537_809, 1000, 0)).fits


def test_interleaved_is_named_before_total() -> None:
    assert verdict_of(Peak(0, 424_880, 424_880, 0, 0)).fits
    verdict = verdict_of(Peak(617_464, 424_881, 1_000_000, 0, 0))
    assert verdict.cause is Cause.INTERLEAVED
    assert verdict.short_bytes == 1
    assert verdict.step == 3
    assert "interleaved region" in verdict.text


def test_one_allocation_larger_than_any_piece_of_memory() -> None:
    small = Budgets(586_960, 424_880, 0)
    assert verdict_of(Peak(424_880, 0, 424_880, 424_880, 0), budgets=small).fits
    verdict = verdict_of(Peak(424_881, 0, 424_881, 424_881, 0), budgets=small)
    assert verdict.cause is Cause.CONTIGUOUS
    assert verdict.short_bytes == 1
    assert verdict.step == 6
    assert contiguous_bytes(0) == 424_880
    assert contiguous_overflow(UNAVAILABLE, 0) is UNAVAILABLE


def test_invalid_layouts_are_named_first() -> None:
    unsized = (
        Unsized(0, "a.scale", "no size is given", False),
        Unsized(2, "vit.embedding.bias", "1,472 tiles requested, only 288 grains", True),
        Unsized(4, "b.bias", "other", True),
    )
    verdict = verdict_of(Peak(UNAVAILABLE, 0, UNAVAILABLE, UNAVAILABLE, 0), unsized)
    assert verdict.cause is Cause.INVALID_LAYOUT
    expected = "2 values have no valid layout, the first is vit.embedding.bias: 1,472 tiles requested, only 288 grains"
    assert verdict.text == expected
    assert verdict.needed_bytes is UNAVAILABLE
    assert verdict.short_bytes is UNAVAILABLE


def test_a_size_that_is_not_known_decides_nothing() -> None:
    """What is known fits: not known. What is known is too much: does not fit."""
    unsized = (Unsized(0, "a.scale", "no size is given", False),)
    verdict = verdict_of(Peak(UNAVAILABLE, 0, UNAVAILABLE, 0, 0), unsized)
    assert (verdict.fits, verdict.cause) == (None, Cause.INCOMPLETE)
    assert verdict.text == "a.scale has no known size: no size is given"
    known = verdict_of(Peak(586_961, 0, 586_961, 0, 0), unsized, budgets=Budgets(586_960, 424_880, 0))
    assert (known.fits, known.cause, known.short_bytes) == (False, Cause.TOTAL, 1)
    assert "at least 586,961 B" in known.text


def test_unavailable_peaks_without_a_reason_are_not_known() -> None:
    verdict = verdict_of(Peak(UNAVAILABLE, 0, UNAVAILABLE, 0, 0))
    assert (verdict.fits, verdict.cause) == (None, Cause.INCOMPLETE)


# -- what the estimate cannot know ---------------------------------------------------------------------------------


def test_unknown_operations_make_sums_lower_bounds() -> None:
    values = [value(0), value(1)]
    made = program(values, [Opaque(7, (0,), (1,), "no such operator: Fold")], outputs=(1,), host=(0,))
    timeline = measure(made, 586_960, 49_152)
    assert timeline.verdict.at_least
    assert (timeline.verdict.fits, timeline.verdict.cause) == (None, Cause.INCOMPLETE)
    assert "at least" in timeline.verdict.text
    assert timeline.notes == ("operation 7 is not modelled (no such operator: Fold): sums are at least what is shown",)
    assert timeline.steps[0].kind == "Unknown"
    assert timeline.peak.total == 32


def test_invalid_layout_is_left_out_of_what_is_known() -> None:
    linear = Layout(ROW_MAJOR, Tiling(4, 1, (Axis(AxisBase.LINEAR, 0, 4, block_size=4, padding_multiple=4),)))
    values = [value(0), value(1, (8,), linear, name="scale"), value(2)]
    timeline = measure(program(values, [kernel(0, 1, to=2)], outputs=(2,), host=(0,), parameters=(1,)), 586_960, 0)
    assert timeline.values[1].bytes is UNAVAILABLE
    assert timeline.values[1].layout_error == "4 tiles requested, only 2 grains (8 elements, 4 a grain)"
    assert timeline.unavailable_roots == {1}
    assert timeline.peak == Peak(UNAVAILABLE, 0, UNAVAILABLE, UNAVAILABLE, 0)
    assert timeline.steps[0].usage.standard is UNAVAILABLE
    assert timeline.steps[0].usage.interleaved == 0
    assert timeline.tiles.worst()[0].tolist() == [32, 0, 32, 0]
    assert (
        timeline.verdict.text == "scale has no valid layout: 4 tiles requested, only 2 grains (8 elements, 4 a grain)"
    )
    assert [(p.severity, p.value) for p in timeline.problems] == [("error", 1)]


def test_a_program_without_steps_is_its_inputs() -> None:
    values = [value(0, (128,)), value(1, (16,)), value(2)]
    timeline = measure(program(values, [], host=(0,), parameters=(1,)), 586_960, 0)
    assert (timeline.peak.total, timeline.peak.maximum_standard_allocation) == (288, 256)
    assert timeline.total_peak_step is None
    assert timeline.tiles.worst().shape == (0, 4)
    assert timeline.verdict.fits


def test_budget_is_at_most_what_exists() -> None:
    timeline = measure(program([value(0)], [], host=(0,)), 10**9, 0)
    assert timeline.budget_bytes == 586_960


def test_arrays_are_read_only() -> None:
    timeline = measure(program([value(0), value(1)], [kernel(0, to=1)], host=(0,)), 586_960, 0)
    arrays = [
        timeline.tiles.usage(0),
        timeline.tiles.scratch(0),
        timeline.tiles.shards(0),
        timeline.tiles.allocation(0),
        timeline.tiles.value_bytes(0),
        timeline.tiles.worst(),
        timeline.tiles.tile_curve(0),
    ]
    for array in arrays:
        assert array.dtype == "int64"
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 1
