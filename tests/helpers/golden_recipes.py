"""Golden recipes and what they must come to, read from ``tests/golden/data``."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from tests.helpers.golden_program import DATA, load_golden
from tileview.core.estimate import estimate
from tileview.core.estimated import Estimate
from tileview.core.lowering.replanner import Replanner
from tileview.formats.search_state import search_state_from_bytes
from tileview.model.program import Kernel, Step
from tileview.model.recipe import Overrides, Recipe
from tileview.model.timeline import Peak

Json = dict[str, Any]


COMPOSED = Overrides(fusion=False)
"""The golden programs, peaks and fixes, but for those of fusions, are of the composed program."""


def composed_estimate(recipe: Recipe, replanner: Replanner | None = None) -> Estimate:
    """The estimate without the compiler's fusions."""
    return estimate(recipe, COMPOSED, replanner)


@cache
def golden_recipe(name: str) -> Recipe:
    """``vit3-64tiles``, ``so400m``, ``so400m-over`` or ``models/NAME``."""
    return search_state_from_bytes(gzip.decompress((DATA / f"{name}.recipe.json.gz").read_bytes()), name).recipe


@cache
def golden_rules() -> dict[str, Json]:
    """The rule cases by name: a tiny search state each, and what it must come to."""
    lines = gzip.decompress((DATA / "rules.jsonl.gz").read_bytes()).decode().splitlines()
    return {case["name"]: case for case in map(json.loads, lines)}


def rule_recipe(name: str) -> Recipe:
    return search_state_from_bytes(json.dumps(golden_rules()[name]["recipe"]).encode(), name).recipe


def model_names() -> list[str]:
    return sorted(path.name.removesuffix(".recipe.json.gz") for path in (DATA / "models").glob("*.recipe.json.gz"))


def golden_model(name: str) -> tuple[Recipe, Json]:
    expected: Json = load_golden(f"models/{name}.expected.json.gz")
    return golden_recipe(f"models/{name}"), expected


def swapped(recipe: Recipe, swaps: Iterable[Iterable[int]]) -> Recipe:
    """The recipe with [operation, alternative] pairs put in force."""
    for operation, alternative in swaps:
        recipe = recipe.with_plan(operation, recipe.alternatives[operation][alternative])
    return recipe


def peak_json(peak: Peak) -> Json:
    return {
        "standard": peak.standard,
        "interleaved": peak.interleaved,
        "total": peak.total,
        "exchange_rows": peak.exchange_rows,
        "maximum_standard_allocation": peak.maximum_standard_allocation,
    }


def kind_json(step: Step) -> str:
    """A step's kind as the golden models name it: a kernel by its name, the others in small letters."""
    return step.kernel if isinstance(step, Kernel) else type(step).__name__.lower()


def assert_swap(result: Estimate, expected: Json) -> None:
    """A swap comes to what it must: lowered or not, peaks, verdict, and where given the peak step and counts."""
    assert (result.error is None) == expected.get("ok", True), result.error
    if result.timeline is None:
        return
    timeline = result.timeline
    assert peak_json(timeline.peak) == expected["peak"]
    assert result.verdict.fits == expected["fits"]
    found: dict[str, Callable[[], object]] = {
        "total_peak_step": lambda: timeline.total_peak_step,
        "standard_peak_step": lambda: timeline.standard_peak_step,
        "interleaved_peak_step": lambda: timeline.interleaved_peak_step,
        "steps": lambda: len(timeline.steps),
        "values": lambda: len(timeline.values),
    }
    for name, look in found.items():
        if name in expected:
            assert look() == expected[name], name


def assert_in_force(result: Estimate, expected: Json) -> None:
    """Everything a golden model says about the current program."""
    assert_swap(result, expected)
    if result.timeline is None or result.program is None:
        return
    timeline = result.timeline
    steps = timeline.steps
    assert [
        [s.usage.standard, s.usage.interleaved, s.usage.total, s.coarse.standard, s.coarse.interleaved] for s in steps
    ] == expected["step_usage"]
    assert [s.scratch.standard for s in steps] == expected["step_scratch"]
    assert [len(s.live) for s in steps] == expected["live_counts"]
    assert [s.source for s in steps] == expected["step_source"]
    assert [kind_json(flat.step) for flat in result.program.flatten()] == expected["step_kind"]
    if timeline.total_peak_step is not None:
        usage = timeline.tiles.usage(timeline.total_peak_step)
        assert usage.tolist() == expected["tile_usage_at_total_peak"]
    assert {
        str(value.id): [value.shard_bytes, value.aligned_bytes, value.bytes, timeline.values[value.root].id]
        for value in timeline.values
    } == expected["value_bytes"]
