"""A verdict in three steps: the figures and sentences of the samples, and what is said where nothing is known."""

from __future__ import annotations

import pytest

from tests.helpers.golden_recipes import golden_recipe, swapped
from tileview.analysis.placement import (
    PlacementUnknownError,
    State,
    StepWords,
    elements_words,
    place_steps,
    program_requests,
    totals_text,
    verdict_step_words,
)
from tileview.core.estimate import judge_recipe
from tileview.core.placement.outcome import Totals
from tileview.model.recipe import Overrides, Recipe


def words(recipe: Recipe, enlarge: bool = True) -> StepWords:
    composed = Overrides(fusion=False)
    return verdict_step_words(judge_recipe(recipe, composed).verdict, place_steps(recipe, composed, enlarge=enlarge))


def test_so400m_fits_and_is_placed():
    found = words(golden_recipe("so400m"))
    assert (found.title, found.state, found.more) == ("Fits, placed", State.GOOD, "")
    assert [(step.label, step.text) for step in found.steps] == [
        ("Sum", "36.6 KiB spare"),
        ("Planner's memory", "all 1,472 tiles placed"),
        ("Captured 498,872 B", "all 1,472 tiles placed"),
    ]
    assert found.sentences == (
        "In the tighter captured 482,496 B, 819 tiles are not placed: 16,384 B more would do.",
        "Less than 120 KiB is spare: support code took 86.0 to 165.6 KiB in real compiles, 48.0 KiB are assumed.",
    )


def test_so400m_with_alternative_3_of_operation_21_fits_and_is_not_placed():
    found = words(swapped(golden_recipe("so400m"), [(21, 3)]))
    assert (found.title, found.state) == ("Fits, not placed", State.PART)
    assert [step.text for step in found.steps] == ["36.6 KiB spare", "all 1,472 tiles placed", "808 tiles not placed"]
    assert found.sentences[0] == (
        "In the memory that one real compile left open (498,872 B), 808 of 1,472 tiles cannot be placed by the "
        "compiler's two orders: on tile 0, vit.encoder.attention.qkv.weight ×27 (82,944 B in one piece) finds no hole, "
        "the largest is 72,360 B. This is no proof that it cannot be placed: 134,568 B are free in all."
    )
    assert found.more == "53,248 B more would do, four elements of code or table less."


def test_so400m_over_is_over_by_proof():
    found = words(golden_recipe("so400m-over"), enlarge=False)
    assert (found.title, found.state) == ("Does not fit", State.OVER)
    assert [step.text for step in found.steps] == [
        "29.8 KiB over",
        "1,066 tiles over, 127 not placed",
        "1,296 tiles over",
    ]
    assert "whatever the order" in found.sentences[0]


def test_with_plenty_to_spare_nothing_is_said_of_support_code():
    found = words(golden_recipe("vit3-64tiles"))
    assert (found.title, found.sentences) == ("Fits, placed", ())


def test_where_placement_is_not_known():
    found = verdict_step_words(
        judge_recipe(golden_recipe("vit3-64tiles")).verdict, None, "a timeline lists no requests"
    )
    assert [step.state for step in found.steps] == [State.GOOD, State.UNKNOWN, State.UNKNOWN]
    assert found.title == "Fits by the sum, placement not known"
    assert found.sentences == ("Whether it can be placed is not known: a timeline lists no requests.",)


def test_a_recipe_that_cannot_be_lowered_is_not_known():
    # a LayerNorm in two parts is one of the alternatives of operation 3
    recipe = golden_recipe("vit3-64tiles")
    others = (swapped(recipe, [(3, index)]) for index in range(len(recipe.alternatives[3])))
    refused = next(other for other in others if judge_recipe(other).peak is None)
    with pytest.raises(PlacementUnknownError, match="cannot be lowered"):
        program_requests(refused)


def test_a_reserve_that_leaves_nothing():
    with pytest.raises(PlacementUnknownError, match="leaves no memory"):
        place_steps(golden_recipe("vit3-64tiles"), Overrides(None, 600_000))


def test_tiles_in_words():
    assert totals_text(Totals(order1=1)) == "the tile placed"
    assert totals_text(Totals(order1=3, search=2)) == "all 5 tiles placed"
    assert totals_text(Totals(order1=3, not_placed=1)) == "1 tile not placed"
    assert totals_text(Totals(over=1, not_placed=2)) == "1 tile over, 2 not placed"
    assert [elements_words(more) for more in (16_384, 53_248, 200_000)] == [
        "one element",
        "four elements",
        "13 elements",
    ]
