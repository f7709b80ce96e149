"""Judging alone gives the peaks and the verdict of the whole estimate."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.golden_recipes import golden_recipe, golden_rules, model_names, rule_recipe
from tileview.core.estimate import estimate, judge_recipe
from tileview.core.lowering.replanner import Replanner
from tileview.model.recipe import Overrides

REPLANNERS: dict[str, Replanner] = {}


def same(recipe, replanner=None, overrides=None):
    whole, outcome = estimate(recipe, overrides), judge_recipe(recipe, overrides, replanner)
    assert outcome.verdict == whole.verdict
    assert outcome.price == whole.price
    assert outcome.fusion == (None if whole.fusion is None else whole.fusion.reason)
    assert outcome.peak == (None if whole.timeline is None else whole.timeline.peak)
    assert str(outcome.error) == str(whole.error)


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_of_any_swaps_of_the_samples(data):
    name = data.draw(st.sampled_from(["vit3-64tiles", "so400m-over"]))
    recipe = golden_recipe(name)
    replanner = REPLANNERS.setdefault(name, Replanner())
    for operation in data.draw(st.lists(st.sampled_from(sorted(recipe.alternatives)), max_size=4)):
        recipe = recipe.with_plan(operation, data.draw(st.sampled_from(recipe.alternatives[operation])))
    same(recipe, replanner)


@pytest.mark.parametrize("name", model_names())
def test_of_every_model(name):
    recipe = golden_recipe(f"models/{name}")
    same(recipe)
    plenty = estimate(recipe, Overrides(reserve_bytes=0))
    unfused = judge_recipe(recipe, Overrides(reserve_bytes=0, fusion=False))
    peaks = [plenty.timeline and plenty.timeline.peak, unfused.peak]
    for total in {peak.total for peak in peaks if peak is not None and isinstance(peak.total, int)}:
        for budget in (total - 1, total, 2 * total):  # at twice what it takes it is often sure to fit unfused too
            same(recipe, overrides=Overrides(budget_bytes=budget, reserve_bytes=0))


def test_of_every_rule_case():
    for name in golden_rules():
        same(rule_recipe(name))
