"""Memory against planner's cycles: which choices are shown, what is best, what is said of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.helpers.golden_recipes import golden_recipe
from tileview.analysis.alternatives import AlternativeResult, evaluate_all
from tileview.core.estimate import estimate
from tileview.core.estimated import Estimate
from tileview.core.placement.ranges import CAPTURED, preset
from tileview.model.sizes import UNAVAILABLE
from tileview.present.choices import (
    Choices,
    ChoiceScope,
    Standing,
    choice_sentence,
    choice_tip,
    choices_csv,
    choices_of,
)
from tileview.present.choices import choices_sentence as sentence


@pytest.fixture(scope="module")
def over() -> tuple[Estimate, tuple[AlternativeResult, ...]]:
    recipe = golden_recipe("so400m-over")
    return estimate(recipe), evaluate_all(recipe, (4, 21), workers=1)


CAPTURED_MEMORY = preset(CAPTURED, 49_152)


@pytest.fixture(scope="module")
def shown(over) -> Choices:
    return choices_of(*over)


def test_every_choice_and_the_state_in_force(over, shown: Choices) -> None:
    now, results = over
    wanted = {
        ((one.operation, one.alternative),): (one.peak.total + 49_152, one.price.cycles)
        for one in results
        if one.ok and not one.in_force
    }
    wanted[()] = (568_312 + 49_152, now.price.cycles)
    assert {point.swaps: (point.memory, point.cycles) for point in shown.points} == wanted
    assert shown.limit == 586_960
    assert shown.now is not None
    assert shown.now.standing is Standing.OVER


def test_the_front_is_what_no_other_beats(shown: Choices) -> None:
    figures = [(point.memory, point.cycles) for point in shown.points]
    best = {
        one
        for one in figures
        if not any(other != one and other[0] <= one[0] and other[1] <= one[1] for other in figures)
    }
    front = [figures[place] for place in shown.front]
    assert set(front) == best
    assert len(front) == len(best)
    assert front == sorted(front)


def test_the_memory_in_which_all_is_placed_takes_the_axis(over, shown: Choices) -> None:
    needs = {point.swaps: 400_000 + place for place, point in enumerate(shown.points)}
    placed = choices_of(*over, needs, memory=CAPTURED_MEMORY)
    assert placed.by_placement
    assert {point.swaps: point.memory for point in placed.points} == needs
    assert "placed" in placed.memory_name
    assert all(point.standing in (Standing.PLACED, Standing.OVER) for point in placed.points)
    assert (placed.limit, placed.planner) == (498_872, 537_808)


def test_what_is_not_yet_placed_stands_at_its_sum_and_is_no_trade_off(over, shown: Choices) -> None:
    needs: dict = {point.swaps: 498_872 + 4_096 for point in shown.points}
    waiting, never = (4, 0), (4, 1)
    del needs[waiting,]
    needs[never,] = None
    partly = choices_of(*over, needs, memory=CAPTURED_MEMORY)
    by_swaps = {point.swaps: point for point in partly.points}
    assert partly.by_placement
    assert (never,) not in by_swaps
    assert by_swaps[waiting,].memory == 500_344 + 49_152
    assert by_swaps[waiting,].standing is Standing.FITS
    assert by_swaps[waiting,].memory_change is None
    assert all(partly.points[place].is_placed_in for place in partly.front)
    assert partly.left_out[0] == "1 not yet placed, drawn hollow at the sum"
    assert partly.left_out[-1] == "1 that no enlargement of this memory places"
    others = [point for point in partly.points if point.is_placed_in]
    assert {point.standing for point in others} == {Standing.UNPLACED, Standing.OVER}
    assert "487.2" not in choice_sentence(others[0], partly)
    assert "491.2 KiB open, 4.0 KiB more than captured 498,872 B" in choice_sentence(others[0], partly)


def test_what_has_no_figures_is_counted(over) -> None:
    now, results = over
    one = next(result for result in results if result.ok and not result.in_force)
    lost = replace(one, peak=replace(one.peak, total=UNAVAILABLE))
    refused = replace(one, ok=False, error="no", peak=None, price=None)
    found = choices_of(now, [lost, refused], missing=3)
    assert [point.swaps for point in found.points] == [()]
    assert found.left_out == ("3 not yet evaluated", "1 cannot be lowered", "1 without known memory or cycles")
    assert sentence(ChoiceScope.SINGLE, found).startswith("0 single swaps: 0 fit")


def test_words_of_a_choice(shown: Choices) -> None:
    point = next(point for point in shown.points if point.swaps == ((4, 0),))
    now = shown.now
    assert now is not None
    text = choice_sentence(point, shown)
    assert text.startswith("op 4 → 0 · 536.6 KiB (36.6 KiB spare) · ")
    assert f"−{now.cycles - point.cycles:,}" in choice_tip([point], shown)
    assert "(placement not known)" in choice_tip([point], shown)
    assert choice_sentence(now, shown).startswith("current · 603.0 KiB (29.8 KiB over) · 24.86 M planner's cycles")
    lines = choices_csv(shown).splitlines()
    assert len(lines) == len(shown.points) + 1
    assert any(line.startswith(f"op 4 → 0,549496,-67968,{point.cycles},") for line in lines)


def test_nothing_without_a_program() -> None:
    assert choices_of(None, ()).points == ()
    assert "no program" in sentence(ChoiceScope.SINGLE, choices_of(None, ()))


def test_tiles_without_a_place_are_told_of_each_choice(over) -> None:
    left = {((4, 0),): 0, ((4, 1),): 176, (): 1_296}
    found = choices_of(*over, left=left.get, memory=CAPTURED_MEMORY)
    by_swaps = {point.swaps: point for point in found.points}
    assert by_swaps[(4, 0),].standing is Standing.PLACED
    assert by_swaps[(4, 1),].standing is Standing.UNPLACED
    assert by_swaps[(4, 2),].standing is Standing.FITS
    assert found.now is not None
    assert found.now.standing is Standing.OVER
    assert choice_sentence(by_swaps[(4, 0),], found).endswith("every tile placed in captured 498,872 B")
    assert "176 tiles not placed in captured 498,872 B" in choice_tip([by_swaps[(4, 1),]], found)
    header, *lines = choices_csv(found).splitlines()
    assert '"Tiles not placed in captured 498,872 B"' in header
    assert sorted(line.split(",")[-2] for line in lines if line.split(",")[-2]) == ["0", "1296", "176"]
