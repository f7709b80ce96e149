"""After any swaps, an estimate that builds on what went before equals one from nothing: fused, priced, step by step.

The programs have their Repeats written out, so that a swap leaves most of what is there alone or only renumbers it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.golden_recipes import golden_recipe
from tests.helpers.unrolled import unrolled
from tileview.core.cycles import prices
from tileview.core.estimate import estimate, judge_recipe
from tileview.core.estimated import Estimate
from tileview.core.fusion.stand import Reason
from tileview.core.geometry import resolve as geometry
from tileview.core.lowering.replanner import Replanner
from tileview.core.memory import exchange, measurement, usage
from tileview.model.config import PLANNED_BYTES
from tileview.model.recipe import Overrides, Recipe

MODELS = (
    ("vit3-64tiles", 4),
    ("models/c07_two_repeats_t64", 3),
    ("models/c09_invariant_t64", 3),
    ("models/g04_attn_fp8_t256", 3),
)


@cache
def written_out(name: str, times: int) -> Recipe:
    return unrolled(golden_recipe(name), times)


def forget() -> None:
    """As in a process that has estimated nothing."""
    for module in (geometry, measurement, exchange, usage, prices):
        module.clear_cache()


def all_of(result: Estimate) -> dict[str, Any]:
    """Everything that an estimate says."""
    timeline, fusion, cycles = result.timeline, result.fusion, result.cycles
    found: dict[str, Any] = {
        "error": str(result.error),
        "verdict": result.verdict,
        "notes": result.notes,
        "homes": result.homes,
        "program": result.program,
        "cycles": cycles,
        "operations": None if cycles is None else cycles.operations(),
        "fits_without_fusion": result.fits_without_fusion,
        "other_peak": result.other_peak,
    }
    if fusion is not None:
        found["fusion"] = (fusion.reason, fusion.candidates, fusion.tried, fusion.composed, fusion.composed_cycles)
    if timeline is not None:
        found["timeline"] = {
            name: value for name, value in asdict_flat(timeline).items() if name not in ("tiles", "steps")
        }
        found["steps"] = [(*asdict_flat(step).items(), tuple(step.live)) for step in timeline.steps]
        found["worst"] = timeline.tiles.worst().tolist()
        found["usage"] = [timeline.tiles.usage(index).tolist() for index in range(0, len(timeline.steps), 7)]
    return found


def asdict_flat(one: Any) -> dict[str, Any]:
    """The fields of a slotted dataclass, as they are."""
    return {name: getattr(one, name) for name in one.__dataclass_fields__}


def swaps(recipe: Recipe) -> st.SearchStrategy[list[tuple[int, int]]]:
    choices = [(operation, len(plans)) for operation, plans in recipe.alternatives.items() if len(plans) > 1]
    one = st.sampled_from(choices).flatmap(lambda of: st.tuples(st.just(of[0]), st.integers(0, of[1] - 1)))
    return st.lists(one, min_size=1, max_size=3)


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_an_estimate_after_swaps_is_that_from_nothing(data: st.DataObject) -> None:
    recipe = written_out(*data.draw(st.sampled_from(MODELS)))
    peak = estimate(recipe).timeline
    assert peak is not None
    assert isinstance(peak.peak.total, int)
    used, judging = Replanner(), Replanner()
    for _ in range(data.draw(st.integers(2, 4))):
        for operation, index in data.draw(swaps(recipe)):
            recipe = recipe.with_plan(operation, recipe.alternatives[operation][index])
        room = data.draw(st.sampled_from([PLANNED_BYTES, peak.peak.total, peak.peak.total * 9 // 10]))
        overrides = Overrides(
            budget_bytes=room, reserve_bytes=0, fusion=data.draw(st.sampled_from([True, True, False]))
        )
        warm, judged = estimate(recipe, overrides, used), judge_recipe(recipe, overrides, judging)
        told = all_of(warm)
        forget()
        cold = estimate(recipe, overrides)
        assert told == all_of(cold)
        again = judge_recipe(recipe, overrides)
        assert (str(judged.error), judged.own_peaks) == (str(again.error), again.own_peaks)
        assert judged.peak == (None if cold.timeline is None else cold.timeline.peak)
        assert (judged.verdict, judged.price) == (cold.verdict, cold.price)
        assert judged.fusion == (None if cold.fusion is None else cold.fusion.reason)


@pytest.mark.parametrize(("name", "times"), MODELS)
def test_a_repeat_written_out_runs_as_often_as_asked(name: str, times: int) -> None:
    """The helper does what it says: so many copies of each operation of a body, in one chain from end to end."""
    graph, made = golden_recipe(name).graph, written_out(name, times)
    bodies = sum(len(kind.body.operations) for one in graph.operations if hasattr(kind := one.kind, "body"))
    plain = sum(not hasattr(one.kind, "body") for one in graph.operations)
    assert len(made.graph.operations) == plain + times * bodies
    read = {value for one in made.graph.operations for value in one.inputs}
    given_values = {one.value for one in made.graph.inputs}
    results = [value for one in made.graph.operations for value in one.results]
    assert len(set(results)) == len(results)
    assert read <= given_values | set(results)


def test_a_program_that_is_over_without_fusions_is_over_with_them() -> None:
    """Where the one proves the other over, the answer is that of measuring both."""
    recipe = written_out("vit3-64tiles", 4)
    whole = estimate(recipe)
    assert whole.timeline is not None
    assert isinstance(whole.timeline.peak.total, int)
    reasons, used = set(), Replanner()
    for share in range(20, 110, 2):  # after one that does not fit fused, the composed program is measured first
        overrides = Overrides(budget_bytes=whole.timeline.peak.total * share // 100, reserve_bytes=0)
        judged, measured = judge_recipe(recipe, overrides, used), estimate(recipe, overrides)
        assert measured.fusion is not None
        reasons.add(judged.fusion)
        assert (judged.fusion, judged.verdict) == (measured.fusion.reason, measured.verdict)
    assert reasons == {Reason.FUSED, Reason.DOES_NOT_FIT}
