"""Fusions of any program: deterministic, never dearer, never to an overflow, and what they drop holds no memory."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.golden_recipes import golden_recipe, model_names
from tests.helpers.small_programs import programs
from tileview.core.estimate import estimate, judge_recipe
from tileview.core.fusion.stand import Reason, fuse, stand
from tileview.core.lowering.replanner import Replanner
from tileview.core.memory.measurement import Measurement, measure
from tileview.model.program import Program, Repeat
from tileview.model.recipe import Overrides

REPLANNERS: dict[str, Replanner] = {}
NAMES = ["vit3-64tiles", *(f"models/{name}" for name in model_names())]


def named(program: Program) -> set[int]:
    found = {given.value for given in program.inputs} | set(program.outputs)
    for entry in program.flatten():
        found.update((*entry.step.inputs, *entry.step.results))
        if isinstance(entry.step, Repeat):
            found.update((*entry.step.arguments, *entry.step.yields))
            found.update(member for members in entry.step.iterated for member in members)
    return found


def check_bounds(composed: Program, fused: Program) -> None:
    """What the composed program takes at most, told from the fused one, against what it takes; and the other way."""
    for program, other in ((composed, fused), (composed, composed)):
        most = Measurement(program).at_most(Measurement(other), with_least=True)
        peak, beside = (measure(each, 0, 0).peak for each in (program, other))
        if most is None:  # a size is unavailable, or there are no steps
            continue
        assert most.total >= peak.total
        assert most.interleaved >= peak.interleaved
        assert max(most.largest, beside.maximum_standard_allocation) >= peak.maximum_standard_allocation
        assert most.may_be_less or peak.total >= beside.total
        if program is other:
            assert (most.total, most.interleaved, most.largest) == (peak.total, peak.interleaved, 0)
            assert not most.may_be_less


def check(composed: Program, budget: int) -> None:
    made = fuse(composed)
    again = fuse(composed)
    assert (made.program, made.candidates) == (again.program, again.candidates)
    assert made.changed or made.program is composed
    assert made.program.values[: len(composed.values)] == composed.values
    assert [value.id for value in made.program.values] == list(range(len(made.program.values)))
    found, _ = stand(composed, lambda program: measure(program, budget, 0))
    if isinstance(found.composed_cycles.total, int):
        assert isinstance(found.cycles.total, int)
        assert found.cycles.total <= found.composed_cycles.total
    fits = measure(composed, budget, 0).verdict.fits
    stands = measure(found.program, budget, 0)
    assert stands.verdict.fits or not fits
    check_bounds(composed, made.program)
    live = {root for step in stands.steps for root in step.live}
    gone = named(composed) - named(found.program)
    assert not any(set(stands.aliases[root]) <= gone for root in live)


@settings(max_examples=60, deadline=None)
@given(programs(), st.integers(0, 4_000))
def test_of_small_programs(program: Program, budget: int) -> None:
    check(program, budget)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_of_any_plans(data: st.DataObject) -> None:
    """Whatever is swapped and whatever the budget: with fusions a recipe fits where it fits without."""
    name = data.draw(st.sampled_from(NAMES))
    recipe = golden_recipe(name)
    replanner = REPLANNERS.setdefault(name, Replanner())
    choice = sorted(recipe.alternatives)
    for operation in data.draw(st.lists(st.sampled_from(choice), max_size=3)) if choice else ():
        recipe = recipe.with_plan(operation, data.draw(st.sampled_from(recipe.alternatives[operation])))
    without = judge_recipe(recipe, Overrides(fusion=False), replanner)
    if without.peak is None or not isinstance(without.peak.total, int):
        return
    budget = without.peak.total + data.draw(st.integers(-3_000, 3_000))
    for_it = Overrides(budget_bytes=max(budget, 0), reserve_bytes=0)
    result = estimate(recipe, for_it, replanner)
    assert result.fusion is not None
    alone = judge_recipe(recipe, Overrides(for_it.budget_bytes, 0, fusion=False), replanner)
    assert result.fits_without_fusion == alone.verdict.fits
    assert result.verdict.fits or not result.fits_without_fusion
    if result.other_peak is None and result.fusion.stands:
        assert result.timeline is not None
        assert alone.peak.total >= result.timeline.peak.total
    assert (result.fusion.reason is Reason.FUSED) == (result.program is not result.fusion.composed)
    check(result.fusion.composed, for_it.budget_bytes or 0)
