"""How bytes arise, in sentences: figures from the specification's worked examples."""

from __future__ import annotations

import re
from dataclasses import replace
from math import prod

import pytest

from tests.helpers.fake_timeline import small_timeline
from tests.helpers.opened import opened
from tileview.analysis.lifetimes import Lives
from tileview.core.geometry.resolve import resolve
from tileview.model.sizes import Unavailable
from tileview.model.tensor import ROW_MAJOR, Axis, AxisBase, Layout, Padding, Tiling
from tileview.model.timeline import Timeline
from tileview.present.detail_sections import (
    alias_sentence,
    allocation_details,
    budget_sentence,
    dimension_cuts,
    life_lines,
    line_text,
    operation_details,
    owners_sentence,
    plain_text,
    tile_details,
    tile_sentence,
    value_sentence,
)
from tileview.present.partition_picture import caption, picture


@pytest.fixture(scope="module")
def rejected() -> Timeline:
    timeline = opened("rejected-op0.timeline.json").timeline
    assert timeline is not None
    return timeline


def test_a_left_operand_with_tail_and_memory_elements(rejected: Timeline) -> None:
    assert value_sentence(rejected, 1) == (
        "[588,1152] F8: 588 padded to 640 in 4 parts of 160; 1152 in 8 parts of 144. Largest shard: 160 × 144 elements "
        "× 1 B = 23,040 B, + 8 B access tail, rounded up to 2 memory elements of 16,384 B = 32,768 B"
    )


def test_a_product_in_interleaved_memory(rejected: Timeline) -> None:
    text = value_sentence(rejected, 70)
    assert text.endswith("= 4,608 B, rounded up to 1 memory element of 32,768 B = 32,768 B")


def test_a_value_that_is_not_rounded(rejected: Timeline) -> None:
    assert value_sentence(rejected, 68).endswith("× 2 B = 1,152 B")


def test_a_linear_layout_counts_grains(rejected: Timeline) -> None:
    assert value_sentence(rejected, 3) == (
        "[1,729,1152] F16: 839,808 elements make 209,952 grains of 4, 143 or 142 for each of 1,472 owners. "
        "Largest shard: 143 × 4 elements × 2 B = 1,144 B"
    )


def test_a_layout_that_does_not_resolve_says_why(rejected: Timeline) -> None:
    text = value_sentence(rejected, 2)
    # layout.md: E = 1,152, g = 4, T = 1472: G = 288 < 1472.
    assert text == (
        "[1,1,1152] F16: no valid layout: 1,472 tiles requested, only 288 grains (1,152 elements, 4 a grain), at most "
        "one tile per grain; its size is unavailable"
    )


OVER = "so400m-over.recipe.json"
HAND = [
    # Each by hand from layout.md and memory.md: blocks, ⌊B / q⌋ and one more for the first B mod q, products, rounding.
    # 729 over 92 parts of single elements: 7 each, 85 more: 8 or 7. 8 · 588 · 2.
    (OVER, 0, "[1,729,588] F16: 729 in 92 parts of 8 or 7. Largest shard: 1 × 8 × 588 elements × 2 B = 9,408 B"),
    # 588 to 19 blocks of 32 = 608; 1152 = 72 blocks of 16. 32 · 16 · 1, a parameter's home that nothing rounds.
    (OVER, 1, "[588,1152] F8: 588 padded to 608 in 19 parts of 32; 1152 in 72 parts of 16. Largest shard: "
     "32 × 16 elements × 1 B = 512 B"),
    # Linear: 1152 / 4 = 288 grains over 9 owners.
    (OVER, 2, "[1,1,1152] F16: 1,152 elements make 288 grains of 4, 32 for each of 9 owners. Largest shard: "
     "32 × 4 elements × 2 B = 256 B"),
    # One part that is only padded: 1 to 16 rows of a Left panel.
    (OVER, 330, "[1,1,1152] F16: 1 padded to 16; 1152 in 72 parts of 16. Largest shard: 1 × 16 × 16 elements × 2 B "
     "= 512 B"),
    # Left operand in F8: 730 / 2 = 365 blocks over 8: 46 or 45 blocks; 92 · 128 + 8 → one element of 16,384.
    (OVER, 344, "[1,729,588] F8: 729 padded to 730 in 8 parts of 92 or 90; 588 padded to 640 in 5 parts of 128. "
     "Largest shard: 1 × 92 × 128 elements × 1 B = 11,776 B, + 8 B access tail, rounded up to 1 memory element of "
     "16,384 B = 16,384 B"),
    # A product's result, interleaved: no tail; 92 · 32 · 2 → one element of 32,768.
    (OVER, 348, "[5,1,729,1152] F16: 5 in 5 parts of 1; 729 padded to 730 in 8 parts of 92 or 90; 1152 in 36 parts of "
     "32. Largest shard: 1 × 1 × 92 × 32 elements × 2 B = 5,888 B, rounded up to 1 memory element of 32,768 B "
     "= 32,768 B"),
    # The right operand of such a product: replicated, neither tail nor rounding.
    (OVER, 347, "[588,1152] F8: 588 padded to 640 in 5 parts of 128; 1152 in 36 parts of 32. Largest shard: "
     "128 × 32 elements × 1 B = 4,096 B"),
    # Swapped orientation: the weight is the left operand. 12 blocks of 96 over 5: 3 or 2; 288 · 432 + 8 = 124,424 → 8.
    (OVER, 377, "[1152,3456] F8: 1152 in 5 parts of 288 or 192; 3456 in 8 parts of 432. Largest shard: 288 × 432 "
     "elements × 1 B = 124,416 B, + 8 B access tail, rounded up to 8 memory elements of 16,384 B = 131,072 B"),
    # F16 left operand: tail of 8 elements = 16 B.
    (OVER, 406, "[16,729,96] F16: 16 in 16 parts of 1; 729 in 23 parts of 32 or 31; 96 in 2 parts of 48. Largest "
     "shard: 1 × 32 × 48 elements × 2 B = 3,072 B, + 16 B access tail, rounded up to 1 memory element of 16,384 B "
     "= 16,384 B"),
    # F32, a dimension that is not divided counts in full: 2 · 1 · 8 · 4.
    (OVER, 411, "[2,16,729] F32: 16 in 16 parts of 1; 729 in 92 parts of 8 or 7. Largest shard: 2 × 1 × 8 elements "
     "× 4 B = 64 B"),
    # Whole on one tile.
    ("vit3-64tiles.recipe.json", 0, "[1,4,588] F16: not divided: 1 × 4 × 588 elements × 2 B = 4,704 B"),
    # Linear on one owner: 8 · 26,900 = 215,200 elements = 53,800 grains.
    ("pair-8tiles.v2.timeline.json", 1, "[8,26900] F16: 215,200 elements make 53,800 grains of 4, all for one owner. "
     "Largest shard: 53,800 × 4 elements × 2 B = 430,400 B"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "index", "sentence"), HAND)
def test_kinds_of_allocations_worked_by_hand(name: str, index: int, sentence: str) -> None:
    timeline = opened(name).timeline
    assert timeline is not None
    assert value_sentence(timeline, index) == sentence


def test_padding_groups_and_widened_parts_are_told_as_such() -> None:
    # Two groups of 50, each padded to 64 = 8 blocks of 8 over 3 parts: 24, 24, 16 (24 or 16).
    grouped = Axis(AxisBase.START, 0, 6, block_size=8, padding_multiple=64, padding=Padding.ZERO, padding_groups=2)
    resolved = resolve((100,), Layout(ROW_MAJOR, Tiling(6, 1, (grouped,))))
    assert dimension_cuts(resolved) == ["100 in 2 groups of 50 padded to 64 each, 2 × 3 parts of 24 or 16"]
    assert resolved.splits is not None
    assert resolved.splits[0] is not None
    assert set(resolved.splits[0].bounds().widths) == {24, 16}
    # 10 over 4 parts: 3, 3, 2, 2, each widened to a multiple of 4.
    widened = Axis(AxisBase.START, 0, 4, shard_padding_multiple=4, padding=Padding.ZERO)
    resolved = resolve((10,), Layout(ROW_MAJOR, Tiling(4, 1, (widened,))))
    assert dimension_cuts(resolved) == ["10 in 4 parts of 3 or 2 widened to 4"]
    assert resolved.maximum_elements == 4
    # 7 each, widened to a multiple of 6.
    widened = Axis(AxisBase.START, 0, 2, shard_padding_multiple=6, padding=Padding.ZERO)
    assert dimension_cuts(resolve((14,), Layout(ROW_MAJOR, Tiling(2, 1, (widened,))))) == [
        "14 in 2 parts of 7 widened to 12"
    ]
    # More parts than blocks: some hold nothing.
    sparse = Axis(AxisBase.START, 0, 4, block_size=8)
    resolved = resolve((16,), Layout(ROW_MAJOR, Tiling(4, 1, (sparse,))))
    assert dimension_cuts(resolved) == ["16 in 4 parts of 8 or 0"]
    assert resolved.owner_elements().tolist() == [8, 8, 0, 0]


def test_small_shares_are_not_told_as_nothing(rejected: Timeline) -> None:
    # 537,808 B: 0.05 % are 268.9 B.
    assert budget_sentence(268, rejected) == "Less than 0.1 % of the 537,808 B that the reserve leaves of the budget."
    assert budget_sentence(269, rejected) == "0.1 % of the 537,808 B that the reserve leaves of the budget."
    assert budget_sentence(0, rejected).startswith("0.0 % of")
    assert budget_sentence(58_696, replace(rejected, reserve_bytes=0)) == "10.0 % of the budget of 586,960 B."


def test_copies_multiply(rejected: Timeline) -> None:
    values = list(rejected.values)
    values[1] = replace(values[1], copies=27, bytes=27 * 32_768)
    text = value_sentence(replace(rejected, values=tuple(values)), 1)
    assert text.endswith("= 32,768 B, × 27 copies = 884,736 B")


def test_a_file_that_states_another_size_is_contradicted(rejected: Timeline) -> None:
    values = list(rejected.values)
    values[1] = replace(values[1], bytes=1)
    assert value_sentence(replace(rejected, values=tuple(values)), 1).endswith("; the file says 1 B")


def test_one_tile_s_part(rejected: Timeline) -> None:
    assert tile_sentence(rejected, 1, 5) == (
        "On tile 5: 23,040 B payload + 8 B access tail + 9,720 B alignment = 32,768 B."
    )
    assert tile_sentence(small_timeline(), 1, 3) == "Tile 3 holds no part of it."


def test_where_it_lies(rejected: Timeline) -> None:
    assert owners_sentence(small_timeline(), 1) == (
        "On 3 of 4 tiles, 16,384 B to 32,768 B each, 80.0 KiB (81,920 B) in all."
    )
    assert "not known" in owners_sentence(rejected, 2)


def test_figures_multiply_for_every_value_of_the_samples() -> None:
    for name in ("vit3-64tiles.recipe.json", "rejected-op0.timeline.json"):
        timeline = opened(name).timeline
        assert timeline is not None
        for index, value in enumerate(timeline.values):
            text = value_sentence(timeline, index)
            if isinstance(value.bytes, Unavailable):
                assert "unavailable" in text
                continue
            assert "the file says" not in text
            found = re.search(r"([\d,]+(?: × [\d,]+)*) elements × (\d) B = ([\d,]+) B", text)
            assert found is not None, text
            factors = [int(part.replace(",", "")) for part in found[1].split(" × ")]
            assert prod(factors) * int(found[2]) == int(found[3].replace(",", "")) == value.shard_bytes
            last = re.findall(r"= ([\d,]+) B", text)[-1]
            assert int(last.replace(",", "")) == value.bytes


# -- lifetimes ------------------------------------------------------------------------------------------------------


def test_lives_of_a_timeline_without_a_program() -> None:
    lives = Lives(small_timeline())
    product = lives.of(2)
    assert product is not None
    assert (product.first, product.last, product.producer) == (1, 5, 1)
    lines = life_lines(small_timeline(), 2, product, {1: "Gemm"})
    assert [line_text(line) for line in lines] == [
        "Live at steps 1 to 5 (5 steps of 8).",
        "Made by op 1 Gemm, step 1 Product. ",
    ]
    assert [target for _, target in lines[1] if target] == ["op:1", "step:1"]
    weights = lives.of(0)
    assert weights is not None
    assert weights.producer is None
    assert lives.of(99) is None


def test_lives_with_a_program_know_producer_and_last_use() -> None:
    session = opened("vit3-64tiles.recipe.json")
    timeline, estimate = session.timeline, session.estimate
    assert timeline is not None
    assert estimate is not None
    assert estimate.program is not None
    lives = Lives(timeline, estimate.program)
    flat = estimate.program.flatten()
    outputs = set(estimate.program.outputs)
    for root, members in timeline.aliases.items():
        life = lives.of(root)
        if life is None or not life.exact:
            continue
        ids = {timeline.values[i].id for i in members}
        assert life.first <= life.first_use <= life.last_use <= life.last
        assert all(root in timeline.steps[index].live for index in (life.first, life.last))
        if life.producer is not None:
            assert ids & set(flat[life.producer].step.results)
        if root not in timeline.parameters and not ids & outputs:
            assert life.last == life.last_use


# -- pane -----------------------------------------------------------------------------------------------------------


def test_details_of_an_allocation(rejected: Timeline) -> None:
    sections = allocation_details(rejected, 1, 0, Lives(rejected))
    text = plain_text("vit.embedding.weight", sections)
    assert "How its bytes arise" in text
    assert "23,040 B payload + 8 B access tail" in text
    assert "derived, with owners starting at tile 0" in text
    assert alias_sentence(rejected, 1) == "One value, in standard memory."


def test_details_of_an_operation_name_operands_and_plan() -> None:
    session = opened("so400m-over.recipe.json")
    recipe = session.recipe
    assert recipe is not None
    operation = next(found for found, _ in recipe.graph.walk() if found.id == 21)
    text = plain_text("", operation_details(recipe, operation, session.timeline))
    assert "Operand 0: value 361, result of operation 20, [1,729,4304]" in text
    assert "Operand 1: value 342, argument of the body of operation 24, [4304,1152]" in text
    assert "grid (rows × columns × inner): 8 × 36 × 5" in text


def test_details_of_a_tile_hold_usage_against_both_budgets() -> None:
    # tile 2 at step 5: 572 KiB standard, 64 KiB interleaved; + 48 KiB reserve = 700,416 B of 586,960 B
    text = plain_text("", tile_details(small_timeline(), 5, 2))
    assert "700,416 B, 119.3 % of the budget of 586,960 B, 113,456 B over." in text
    assert "636.0 KiB (651,264 B) at step 5" in text


# -- picture --------------------------------------------------------------------------------------------------------


def test_the_picture_shows_cuts_padding_and_the_tile_s_part(rejected: Timeline) -> None:
    drawn = picture(rejected, 1, 0)
    assert drawn.down is not None
    assert drawn.across is not None
    assert (drawn.down.extent, drawn.down.padded, drawn.down.parts) == (588, 640, 4)
    assert drawn.down.edges == (160, 320, 480)
    assert drawn.across.edges == tuple(range(144, 1152, 144))
    assert drawn.replicas == 46
    assert drawn.box == (0, 144, 0, 160)
    assert "46 copies of each part" in caption(drawn)


def test_divided_dimensions_are_drawn_before_others(rejected: Timeline) -> None:
    # [4,1,729,1152] in 4 × 1 × 46 × 8 parts: the two longest of the divided dimensions, the first named in words
    drawn = picture(rejected, 70)
    assert drawn.down is not None
    assert drawn.across is not None
    assert (drawn.down.extent, drawn.across.extent) == (729, 1152)
    assert drawn.others == "dimension 0: 4 parts"


def test_a_picture_of_an_invalid_layout_says_why(rejected: Timeline) -> None:
    drawn = picture(rejected, 2)
    assert drawn.across is None
    assert "1,472 tiles requested, only 288 grains" in caption(drawn)
