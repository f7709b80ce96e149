"""The search against exhaustive enumeration on random small models: subsets of the golden models' alternatives, random
plans in force, random budgets."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import combinations

import pytest

from tests.helpers.golden_recipes import golden_recipe, model_names
from tileview.analysis.alternatives import evaluate_all, ranked
from tileview.analysis.conflict import ConflictFinder
from tileview.analysis.fix import MOST_PLACED, Mode, search_fixes, search_placed
from tileview.analysis.placement import placeable, program_requests
from tileview.analysis.trials import Evaluator, with_swaps
from tileview.core.placement.ranges import Preset
from tileview.model.placement import BOUNDARY
from tileview.model.recipe import Overrides
from tileview.model.sizes import U64_MAX

NAMES = [name for name in model_names() if name not in ("d02_encoder_head_t368_nofit", "k02_seed_swapped_t64_nofit")]


def random_model(seed, fusion=True):
    """A recipe with few alternatives, and a budget between what it needs now and what it could need.

    ``fusion`` False: judged without the compiler's fusions.
    """
    draw = random.Random(seed)
    recipe = golden_recipe(f"models/{draw.choice(NAMES)}")
    with_choice = [operation for operation, plans in recipe.alternatives.items() if len(plans) > 1]
    operations = sorted(draw.sample(with_choice, min(len(with_choice), 5)))
    alternatives = {
        operation: tuple(
            draw.sample(recipe.alternatives[operation], min(len(recipe.alternatives[operation]), draw.randint(2, 4)))
        )
        for operation in operations
    }
    plans = {**recipe.plans, **{operation: draw.choice(alternatives[operation]) for operation in operations}}
    recipe = replace(recipe, plans=plans, alternatives=alternatives)
    evaluator = Evaluator(recipe, Overrides(fusion=fusion))
    sets = all_sets(recipe, 3)
    trials = {swaps: evaluator.trial(swaps) for swaps in sets}
    peaks = sorted({trial.peak.total for trial in trials.values() if trial.peak is not None})
    budget = draw.choice(peaks) if peaks else 0
    return recipe, Overrides(budget_bytes=budget, reserve_bytes=0, fusion=fusion)


def all_sets(recipe, most):
    swaps = [
        (operation, index)
        for operation, plans in recipe.alternatives.items()
        for index, plan in enumerate(plans)
        if plan != recipe.plans[operation] and plan not in plans[:index]
    ]
    return [
        chosen
        for size in range(most + 1)
        for chosen in combinations(swaps, size)
        if len({operation for operation, _ in chosen}) == size
    ]


@pytest.mark.parametrize("fusion", [True, False])
@pytest.mark.parametrize("seed", range(16))
def test_fewest_and_best_equal_exhaustive_enumeration(seed, fusion):
    recipe, overrides = random_model(seed, fusion)
    evaluator = Evaluator(recipe, overrides)
    trials = {swaps: evaluator.trial(swaps) for swaps in all_sets(recipe, 3)}
    fitting = sorted((len(swaps), t.peak.total, t.cycles, swaps) for swaps, t in trials.items() if t.fits)
    fewest = search_fixes(recipe, 3, overrides=overrides, workers=1)
    assert fewest.exhaustive
    assert fewest.found is bool(fitting)
    margin = search_fixes(recipe, 3, Mode.MARGIN, overrides=overrides, workers=1)
    assert margin.exhaustive
    assert margin.found is bool(fitting)
    if fitting:
        _, total, _, swaps = fitting[0]
        assert fewest.swaps == swaps
        assert fewest.after is not None
        assert fewest.after.peak is not None
        assert fewest.after.peak.total == total
        best = min((total, size) for size, total, _, _ in fitting)
        assert margin.after is not None
        assert margin.after.peak is not None
        assert (margin.after.peak.total, len(margin.swaps)) == best


@pytest.mark.parametrize("limit", [MOST_PLACED, 1])
@pytest.mark.parametrize("seed", [200, 201, 204, 205, 207, 208])
def test_the_fewest_that_place_every_tile_equal_exhaustive_enumeration(seed, limit):
    """In memory a little larger than the live peak of the best single swap: tight, and first fit does not fill it."""
    recipe, _ = random_model(seed)
    overrides = Overrides(budget_bytes=1 << 20, reserve_bytes=0)
    sets = all_sets(recipe, 2)
    trials = {swaps: Evaluator(recipe, overrides).trial(swaps) for swaps in sets}
    least = min(trial.peak.total for swaps, trial in trials.items() if trial.peak is not None and len(swaps) < 2)
    share = (30 + seed % 5) * least // 64
    memory = Preset("", "little memory", ((BOUNDARY - share, BOUNDARY + share),), "")
    placed = {
        swaps
        for swaps, trial in trials.items()
        if trial.fits and placeable(program_requests(with_swaps(recipe, swaps), overrides), memory).placed
    }
    fewest = min(map(len, placed), default=None)
    found = search_placed(recipe, memory, 2, overrides, workers=1, limit=limit)
    result = found.result
    assert found.tried <= limit
    if not result.found:
        assert "no proof" in result.text
        assert fewest is None or limit == 1
        return
    assert {trial.swaps for trial in result.proposals} <= placed
    if limit > 1 or "fewest possible" in result.text:
        assert len(result.swaps) == fewest
    if limit > 1:
        assert {trial.swaps for trial in result.proposals} == {swaps for swaps in placed if len(swaps) == fewest}
        order = [(t.peak.total, t.cycles, t.peak.standard, t.swaps) for t in result.proposals]
        assert order == sorted(order)


@pytest.mark.parametrize("seed", range(40, 52))
def test_ranking_equals_the_exhaustive_one(seed):
    recipe, overrides = random_model(seed)
    evaluator = Evaluator(recipe, overrides)
    found = ranked(evaluate_all(recipe, workers=1, overrides=overrides))
    expected = []
    for operation, plans in recipe.alternatives.items():
        for index in range(len(plans)):
            trial = evaluator.trial(((operation, index),))
            total = trial.peak.total if trial.peak is not None else U64_MAX
            expected.append(((not trial.ok, not trial.fits, total, operation, index), (operation, index)))
    assert [(result.operation, result.alternative) for result in found] == [swap for _, swap in sorted(expected)]


@pytest.mark.parametrize("fusion", [True, False])
@pytest.mark.parametrize("seed", range(100, 116))
def test_no_set_of_swaps_gets_past_the_bound(seed, fusion):
    """From a random state: what reaches a mark changes an operation of the branch, one swap alone one of the final."""
    recipe, _ = random_model(seed)
    draw = random.Random(seed)
    evaluator = Evaluator(recipe, Overrides(fusion=fusion))
    finder = ConflictFinder(recipe)
    sets = all_sets(recipe, 3)
    start = draw.choice(sets)
    base = evaluator.estimate(start)
    state = with_swaps(recipe, start)
    for swaps in draw.sample(sets, min(len(sets), 40)):
        merged = tuple(sorted({**dict(start), **dict(swaps)}.items()))
        trial = evaluator.trial(merged)
        if not trial.fits or trial.peak is None:
            continue
        mark = trial.peak.total
        if base.timeline is not None and base.verdict.fits and base.timeline.peak.total <= mark:
            continue
        changed = {op for op, index in swaps if recipe.alternatives[op][index] != state.plans[op]}
        conflict = finder.find(state, base, mark)
        assert conflict.branch is None or changed & conflict.branch
        assert len(changed) != 1 or conflict.final is None or changed & conflict.final
