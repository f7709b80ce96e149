"""What a re-planner keeps never shows: after any edits, a used one gives what a new one gives."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.golden_recipes import golden_recipe, golden_rules, rule_recipe, swapped
from tests.helpers.unrolled import unrolled
from tileview.core.lowering.replanner import Replanner
from tileview.errors import PlanError
from tileview.model.config import PipelineConfig
from tileview.model.graph import RepeatKind
from tileview.model.program import Program
from tileview.model.recipe import Recipe

MODELS = (
    "vit3-64tiles",
    "models/c07_two_repeats_t64",
    "models/c09_invariant_t64",
    "models/e01_scrambled_ids_t60",
    "models/e03_input_twice_t8",
    "models/g04_attn_fp8_t256",
    "models/g06_slice_view_t64",
)
RULES = (
    "own_alias",
    "own_copy_seq",
    "rep_inv_rotated",
    "rep_member_rotated",
    "rep_nested",
    "conv_cast_reuse",
    "param_slice",
)


def outcome(replanner: Replanner, recipe: Recipe, config: PipelineConfig) -> tuple[Program, Program] | str:
    """The programs before and after composition, or why there are none."""
    try:
        return replanner.lower(recipe, config), replanner.replan(recipe, config)
    except PlanError as error:
        return str(error)


def result_values(recipe: Recipe) -> list[int]:
    return [value for operation, _ in recipe.graph.walk() for value in operation.results]


@st.composite
def edits(draw: st.DrawFn, recipe: Recipe) -> tuple[Recipe, PipelineConfig]:
    """The recipe after some swaps, boundaries toggled, homes left open or moved, and perhaps another budget."""
    choices = [operation for operation, alternatives in recipe.alternatives.items() if alternatives]
    for operation in draw(st.lists(st.sampled_from(choices), max_size=4)) if choices else ():
        index = draw(st.integers(0, len(recipe.alternatives[operation]) - 1))
        recipe = swapped(recipe, [(operation, index)])
    toggled = draw(st.lists(st.sampled_from(result_values(recipe)), max_size=3)) if result_values(recipe) else []
    recipe = replace(recipe, open_boundaries=recipe.open_boundaries ^ frozenset(toggled))
    kept = draw(st.sampled_from(["all", "none", "some"]))
    if kept == "none":
        recipe = replace(recipe, inputs={})
    elif kept == "some" and recipe.inputs:
        open_homes = set(draw(st.lists(st.sampled_from(sorted(recipe.inputs)), max_size=6)))
        recipe = replace(recipe, inputs={v: home for v, home in recipe.inputs.items() if v not in open_homes})
    budget = draw(st.sampled_from([recipe.config.tile_budget_bytes, 60_000, 2_048]))
    return recipe, replace(recipe.config, tile_budget_bytes=budget)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_edits_of_models(data: st.DataObject) -> None:
    recipe = golden_recipe(data.draw(st.sampled_from(MODELS)))
    check_sequence(data, recipe)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_edits_of_programs_written_out(data: st.DataObject) -> None:
    """Without Repeats a run begins where the first plan differs from the last one's."""
    check_sequence(data, unrolled(golden_recipe(data.draw(st.sampled_from(MODELS[:3]))), 4))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_edits_of_rule_cases(data: st.DataObject) -> None:
    recipe = rule_recipe(data.draw(st.sampled_from(RULES)))
    check_sequence(data, recipe)


def check_sequence(data: st.DataObject, recipe: Recipe) -> None:
    used = Replanner()
    for _ in range(data.draw(st.integers(2, 6))):
        edited, config = data.draw(edits(recipe))
        assert outcome(used, edited, config) == outcome(Replanner(), edited, config)


def test_every_rule_case_through_one_replanner() -> None:
    """One re-planner for many graphs: each graph starts it afresh."""
    used = Replanner()
    for name in golden_rules():
        recipe = rule_recipe(name)
        assert outcome(used, recipe, recipe.config) == outcome(Replanner(), recipe, recipe.config)


def test_the_same_objects_come_back() -> None:
    """Steps before a swap keep their identity, so that what others remember about them holds."""
    recipe = golden_recipe("vit3-64tiles")
    replanner = Replanner()
    first = replanner.replan(recipe)
    last = max(operation.id for operation in recipe.graph.operations if not isinstance(operation.kind, RepeatKind))
    again = replanner.replan(swapped(recipe, [(last, len(recipe.alternatives[last]) - 1)]))
    assert first != again
    assert sum(a is b for a, b in zip(first.steps, again.steps, strict=False)) > len(first.steps) // 2
    assert sum(a is b for a, b in zip(first.values, again.values, strict=False)) > 200
