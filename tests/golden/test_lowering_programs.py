"""The programs of the two large golden recipes, value by value and step by step, before and after copy composition.

Every check runs on a new re-planner and on one that has lowered other recipes before: what is kept must not show.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from tests.helpers.golden_program import load_golden, read_program
from tests.helpers.golden_recipes import golden_recipe, swapped
from tileview.core.geometry.resolve import resolve
from tileview.core.lowering.replanner import Replanner
from tileview.errors import PlanError
from tileview.model.program import Copy, Mapping, Program, Repeat, Step, Value
from tileview.model.recipe import Recipe
from tileview.model.tensor import Layout

RECIPES = {"vit3": "vit3-64tiles", "so400m": "so400m"}


@cache
def expected_program(name: str, level: str) -> Program:
    return read_program(load_golden(f"{name}-program.json.gz")[level])


def used_replanner(recipe: Recipe) -> Replanner:
    """One that has lowered the recipe with every first and last alternative, some of which are refused."""
    replanner = Replanner()
    for operation, alternatives in recipe.alternatives.items():
        for index in {0, len(alternatives) - 1}:
            try:
                replanner.replan(swapped(recipe, [(operation, index)]))
            except PlanError:
                continue
    return replanner


def assert_same_layout(value: Value, expected: Value) -> None:
    """The same layout, or one whose axes are only named otherwise."""
    ours, theirs = value.layout, expected.layout
    if ours == theirs:
        return
    assert (ours.order, ours.memory_class) == (theirs.order, theirs.memory_class), value
    assert (ours.tiling.tile_count, ours.tiling.replicas) == (theirs.tiling.tile_count, theirs.tiling.replicas), value
    assert bounds(value.shape, ours) == bounds(value.shape, theirs), value


def bounds(shape: tuple[int, ...], layout: Layout) -> list[tuple[object, ...]]:
    dimensions = resolve(shape, layout).dimensions
    assert dimensions is not None
    return [(d.starts, d.logical_ends, d.physical_ends, d.stride if len(d.starts) > 1 else 1) for d in dimensions]


def normal(step: Step) -> Step:
    """A step with offsets that are all zero written as none."""
    if isinstance(step, Copy) and not any(step.mapping.offsets):
        return replace(step, mapping=Mapping((), step.mapping.view))
    if isinstance(step, Repeat):
        return replace(step, body=tuple(map(normal, step.body)))
    return step


def assert_same_program(program: Program, expected: Program) -> None:
    assert (program.tile_count, program.inputs, program.outputs) == (
        expected.tile_count,
        expected.inputs,
        expected.outputs,
    )
    assert len(program.values) == len(expected.values)
    for value, theirs in zip(program.values, expected.values, strict=True):
        assert replace(value, layout=theirs.layout) == theirs
        assert_same_layout(value, theirs)
    assert tuple(map(normal, program.steps)) == tuple(map(normal, expected.steps))
    assert program.unknown == ()


@pytest.mark.parametrize("used", [False, True], ids=["new", "used"])
@pytest.mark.parametrize("name", sorted(RECIPES))
def test_programs(name: str, used: bool) -> None:
    recipe = golden_recipe(RECIPES[name])
    replanner = used_replanner(recipe) if used else Replanner()
    assert_same_program(replanner.lower(recipe), expected_program(name, "selected"))
    assert_same_program(replanner.replan(recipe), expected_program(name, "composed"))


@pytest.mark.parametrize(("name", "homes"), [("vit3-64tiles", 55), ("so400m", 343)])
def test_homes_follow_from_the_configuration_alone(name: str, homes: int) -> None:
    """With the recipe's ``inputs`` emptied, the rules for homes give what the file holds, and so the same program."""
    recipe = golden_recipe(name)
    assert len(recipe.inputs) == homes
    emptied = replace(recipe, inputs={})
    program = Replanner().replan(emptied)
    found = {program.values[given.value].origin: program.values[given.value] for given in program.inputs}
    assert found.keys() == recipe.inputs.keys()
    for value, home in recipe.inputs.items():
        assert (found[value].precision, found[value].layout) == (home.precision, home.layout), found[value].name
    assert program == Replanner().replan(recipe)
