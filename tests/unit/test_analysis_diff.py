"""Differences between recipes and timelines, item by item."""

from __future__ import annotations

import dataclasses

from tests.helpers.command_line import SAMPLES
from tests.helpers.golden_recipes import golden_recipe, swapped
from tileview.analysis.diff import DiffSide, diff
from tileview.core.estimate import estimate
from tileview.core.memory.from_file import timeline_from_file
from tileview.formats.timeline import load_timeline


def side(recipe, name="x"):
    result = estimate(recipe)
    return DiffSide(name, recipe, result.timeline, "" if result.error is None else str(result.error))


def file_side(name):
    return DiffSide(name, None, timeline_from_file(load_timeline(SAMPLES / name)))


def test_nothing_differs_from_itself():
    recipe = golden_recipe("vit3-64tiles")
    result = diff(side(recipe), side(recipe))
    assert result.same
    assert (result.plans, result.homes, result.boundaries, result.steps, result.unmatched) == ((), (), (), (), ())


def test_a_swap_is_one_plan_and_what_follows_from_it():
    recipe = golden_recipe("so400m-over")
    result = diff(side(recipe), side(swapped(recipe, [(21, 0)])))
    assert not result.same
    assert [(p.operation, p.kind, p.alternative_a, p.alternative_b) for p in result.plans] == [
        (21, "Gemm", recipe.in_force(21), 0)
    ]
    peaks = {number.name: number for number in result.peaks}
    assert (peaks["total"].a, peaks["total"].b, peaks["total"].delta) == (568_312, 552_568, -15_744)
    for loads in result.loads:
        assert sum(change.delta for change in loads.changes) == loads.total_b - loads.total_a
    touched = {change.operation for change in result.steps} | {21}
    assert 21 in touched
    assert all(change.a != change.b for change in result.steps)


def test_homes_boundaries_and_budgets():
    recipe = golden_recipe("vit3-64tiles")
    value = min(recipe.inputs)
    opened = min(set(recipe.graph.shapes) - set(recipe.open_boundaries) - {g.value for g in recipe.graph.inputs})
    changed = dataclasses.replace(
        recipe,
        inputs={key: home for key, home in recipe.inputs.items() if key != value},
        open_boundaries=recipe.open_boundaries | {opened},
        config=dataclasses.replace(recipe.config, reserve_bytes=1000),
    )
    result = diff(side(recipe), side(changed))
    assert [(home.value, home.b) for home in result.homes] == [(value, None)]
    assert [(b.value, b.open_a, b.open_b) for b in result.boundaries] == [(opened, False, True)]
    assert {n.name: n.delta for n in result.budgets if n.delta} == {"reserve_bytes": 1000 - 49_152}


def test_a_recipe_without_a_timeline_says_why():
    recipe = golden_recipe("vit3-64tiles")
    refused = next(index for index in range(12) if estimate(swapped(recipe, [(3, index)])).timeline is None)
    result = diff(side(recipe), side(swapped(recipe, [(3, refused)]), "broken"))
    assert not result.same
    assert [plan.operation for plan in result.plans] == [3]
    assert any("broken has no timeline" in note for note in result.notes)


def test_plans_and_inputs_that_only_one_side_has():
    recipe = golden_recipe("vit3-64tiles")
    without = dataclasses.replace(recipe, plans={key: plan for key, plan in recipe.plans.items() if key != 5})
    a, b = DiffSide("a", recipe, None), DiffSide("b", without, None)
    assert [(u.side, u.what) for u in diff(a, b).unmatched] == [("a", "plan")]
    assert [(u.side, u.what) for u in diff(b, a).unmatched] == [("b", "plan")]
    other = diff(side(recipe), side(golden_recipe("so400m")))
    assert {u.what for u in other.unmatched} >= {"input", "step", "value"}
    assert any("different graphs" in note for note in other.notes)


def test_versions_are_brought_together():
    result = diff(file_side("pair-8tiles.v2.timeline.json"), file_side("pair-8tiles.v3.timeline.json"))
    assert result.same
    assert any("version 3" in note for note in result.notes)
    derived = diff(file_side("rejected-op0.timeline.json"), file_side("rejected-op0.timeline.json"))
    assert derived.same
    assert any("derived from shapes and layouts" in note for note in derived.notes)
