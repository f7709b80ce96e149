"""The compiler's fusions: 42 small programs, the large recipes, their swaps, and ten small models."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from tests.golden.test_lowering_programs import assert_same_layout, normal
from tests.helpers.golden_program import DATA, load_golden, read_program, read_value
from tests.helpers.golden_recipes import golden_recipe, peak_json, swapped
from tileview.core.cycles.prices import program_cycles
from tileview.core.fusion.stand import Fusion, fuse, stand
from tileview.core.lowering.replanner import Replanner
from tileview.core.memory.measurement import measure, step_words
from tileview.errors import PlanError
from tileview.model.program import Copy, Kernel, Program
from tileview.model.recipe import Recipe

Json = dict[str, Any]


def load_cases() -> list[Json]:
    text = gzip.decompress((DATA / "fusion" / "fusion-cases.jsonl.gz").read_bytes()).decode()
    return [json.loads(line) for line in text.splitlines()]


def figures(program: Program, budget: int, reserve: int) -> Json:
    timeline = measure(program, budget, reserve)
    cycles = program_cycles(program)
    steps = [timeline.total_peak_step, timeline.standard_peak_step, timeline.interleaved_peak_step]
    return {
        "cycles": cycles.total,
        "exchange_cycles": cycles.exchange,
        "peak": peak_json(timeline.peak),
        "fits": timeline.verdict.fits,
        "peak_steps": steps,
        "steps": len(timeline.steps),
        "values": len(timeline.values),
    }


def mentioned(program: Program) -> set[int]:
    found = set(program.outputs) | {given.value for given in program.inputs}
    for entry in program.flatten():
        step = entry.step
        found.update((*step.inputs, *step.results))
        for members in getattr(step, "iterated", ()):
            found.update(members)
        found.update((*getattr(step, "arguments", ()), *getattr(step, "yields", ())))
    return found


def assert_fused(composed: Program, fused: Program, expected: Json, budget: int, reserve: int) -> None:
    found = figures(fused, budget, reserve)
    assert found == {key: expected[key] for key in found}
    timeline = measure(fused, budget, reserve)
    if "step_usage" in expected:
        assert [[s.usage.standard, s.usage.interleaved, s.usage.total] for s in timeline.steps] == (
            expected["step_usage"]
        )
    new = [read_value(entry) for entry in expected["new_values"]]
    assert len(fused.values) == len(composed.values) + len(new)
    for value, theirs in zip(fused.values[len(composed.values) :], new, strict=True):
        assert (value.id, value.origin, value.name, value.group, value.shape, value.precision) == (
            theirs.id, theirs.origin, theirs.name, theirs.group, theirs.shape, theirs.precision,
        )  # fmt: skip
        assert (value.storage_group, value.owners) == (theirs.storage_group, theirs.owners)
        assert_same_layout(value, theirs)
    assert sorted(mentioned(composed) - mentioned(fused)) == expected["dropped_values"]
    cycles = program_cycles(fused)
    assert {str(operation): price.cycles for operation, price in cycles.operations().items()} == expected["operations"]
    flat = fused.flatten()
    for change in expected["changed_steps"]:
        entry = flat[change["index"]]
        step = entry.step
        assert isinstance(step, Copy | Kernel)
        aliases = [list(alias) for alias in step.aliases] if isinstance(step, Kernel) else []
        assert [step_words(step)[1], step.source, list(step.inputs), list(step.results), aliases] == [
            change["kind"], change["source"], change["inputs"], change["results"], change["aliases"],
        ]  # fmt: skip
        price = cycles.steps[change["index"]]
        assert (entry.execution_count, price.cycles, price.exchange) == (
            change["execution_count"], change["cycles"], change["exchange_cycles"],
        )  # fmt: skip


def decide(composed: Program, budget: int, reserve: int) -> Fusion:
    return stand(composed, lambda program: measure(program, budget, reserve))[0]


def assert_record(composed: Program, expected: Json, budget: int, reserve: int) -> None:
    found = decide(composed, budget, reserve)
    assert found.reason.value == expected["reason"]
    assert (found.program is composed) == (expected["stands"] == "composed")
    assert figures(composed, budget, reserve) == expected["composed"]
    rewritten = fuse(composed)
    assert rewritten.changed == (expected["fused"] is not None)
    if expected["fused"] is not None:
        assert_fused(composed, rewritten.program, expected["fused"], budget, reserve)
    if "candidates" in expected:
        wanted = {tuple(entry) for entry in expected["candidates"] if entry[0] != "pass"}
        assert {(c.kind, c.source, c.before, c.after, c.pays) for c in rewritten.candidates} == wanted


@pytest.mark.parametrize("case", load_cases(), ids=lambda case: case["name"])
def test_cases(case: Json) -> None:
    program = read_program(case["program"])
    assert_record(program, case["expected"], case["budget"], case["reserve"])
    if case["fused_program"] is not None:
        expected = read_program(case["fused_program"])
        fused = fuse(program).program
        assert tuple(map(normal, fused.steps)) == tuple(map(normal, expected.steps))
        assert (fused.inputs, fused.outputs) == (expected.inputs, expected.outputs)


def test_there_are_42() -> None:
    assert len(load_cases()) == 42


def assert_recipe(recipe: Recipe, replanner: Replanner, expected: Json) -> None:
    program = replanner.replan(recipe)
    assert_record(program, expected, recipe.config.tile_budget_bytes, recipe.config.reserve_bytes)


@pytest.mark.parametrize(("name", "golden"), [("vit3-64tiles", "vit3"), ("so400m-over", "so400m-over")])
def test_large_recipes(name: str, golden: str) -> None:
    assert_recipe(golden_recipe(name), Replanner(), load_golden(f"fusion/fusion-{golden}.json.gz"))


def test_the_totals_of_the_recipe_that_fits() -> None:
    expected = load_golden("fusion/fusion-so400m-totals.json")
    recipe = golden_recipe("so400m")
    composed = Replanner().replan(recipe)
    found = decide(composed, recipe.config.tile_budget_bytes, recipe.config.reserve_bytes)
    assert found.reason.value == expected["reason"]
    for program, key in ((composed, "composed"), (found.program, "fused")):
        assert figures(program, recipe.config.tile_budget_bytes, recipe.config.reserve_bytes) == expected[key]


@pytest.mark.parametrize(
    ("name", "golden"), [("vit3-64tiles", "vit3"), ("so400m", "so400m"), ("so400m-over", "so400m-over")]
)
def test_swaps(name: str, golden: str) -> None:
    recipe, replanner = golden_recipe(name), Replanner()
    for case in load_golden(f"fusion/fusion-swaps-{golden}.json.gz")["swaps"]:
        if case["ok"]:
            assert_recipe(swapped(recipe, case["swaps"]), replanner, case)
            continue
        with pytest.raises(PlanError):
            replanner.replan(swapped(recipe, case["swaps"]))


@pytest.mark.parametrize("name", sorted(load_golden("fusion/fusion-models.json.gz")))
def test_models(name: str) -> None:
    expected = load_golden("fusion/fusion-models.json.gz")[name]
    assert_recipe(golden_recipe(f"models/{name}"), Replanner(), expected)
