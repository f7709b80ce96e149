"""How bytes arise, in sentences: figures from the specification's worked examples."""

from __future__ import annotations

import re
from dataclasses import replace
from math import prod

import pytest

from tests.helpers.fake_timeline import small_timeline
from tests.helpers.opened import opened
from tileview.model.sizes import Unavailable
from tileview.model.timeline import Timeline
from tileview.present.details import allocation_details, operation_details, plain_text, tile_details
from tileview.present.explain import (
    alias_sentence,
    life_sentences,
    owners_sentence,
    tile_sentence,
    value_sentence,
)
from tileview.present.lives import Lives
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
        "[1,729,1152] F16: 839,808 elements make 209,952 grains of 4, 142 or 143 for each of 1,472 owners. "
        "Largest shard: 143 × 4 elements × 2 B = 1,144 B"
    )


def test_a_layout_that_does_not_resolve_says_why(rejected: Timeline) -> None:
    text = value_sentence(rejected, 2)
    assert "no valid layout" in text
    assert "1472 owners asked of 288 grains" in text
    assert text.endswith("its size is unavailable")


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
    assert life_sentences(small_timeline(), product)[:2] == [
        "Live at steps 1 to 5 (5 steps of 8).",
        "Produced by step 1 (Product of operation 1).",
    ]
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
    assert "1472 owners" in caption(drawn)
