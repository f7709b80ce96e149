"""The search for a fix and the evaluation of alternatives against the golden models and against brute force."""

from __future__ import annotations

import multiprocessing
from functools import cache
from itertools import combinations

import pytest

from tests.helpers.golden_recipes import COMPOSED, golden_model, golden_recipe, model_names
from tileview.analysis.alternatives import evaluate_all, evaluate_alternative, ranked
from tileview.analysis.conflict import ConflictFinder
from tileview.analysis.fix import Mode, search_fixes, search_placed
from tileview.analysis.placement import placeable, program_requests
from tileview.analysis.trials import Evaluator, single_swaps, with_swaps
from tileview.analysis.workers import Workers
from tileview.core.placement.ranges import CAPTURED, preset
from tileview.model.recipe import Overrides
from tileview.model.sizes import U64_MAX

NEEDED = [name for name in model_names() if golden_model(name)[1]["fixes"]["needed"]]


@pytest.mark.parametrize("name", model_names())
def test_a_search_agrees_with_the_fixes_of_the_golden_models(name):
    recipe, expected = golden_model(name)
    fixes = expected["fixes"]
    result = search_fixes(recipe, 2, overrides=COMPOSED, workers=1)
    assert result.exhaustive
    if not fixes["needed"]:
        assert (result.found, result.swaps) == (True, ())
        return
    assert result.found
    peaks = {(entry["op"], entry["alt"]): entry["peak"]["total"] for entry in expected["swaps"] if entry["ok"]}
    singles = {tuple(swap) for swap in fixes["single"]}
    if singles:
        assert {trial.swaps for trial in result.proposals} == {(swap,) for swap in singles}
        assert peaks[result.swaps[0]] == min(peaks[swap] for swap in singles)
    else:
        pairs = {tuple(sorted(map(tuple, pair))) for pair in fixes["pair"]}
        assert {trial.swaps for trial in result.proposals} == pairs
    assert result.after is not None
    assert result.after.fits
    assert Evaluator(recipe, COMPOSED).confirm(result.swaps).peak == result.after.peak


@pytest.mark.parametrize("name", model_names())
def test_alternatives_of_the_golden_models(name):
    recipe, expected = golden_model(name)
    results = {(r.operation, r.alternative): r for r in evaluate_all(recipe, workers=1, overrides=COMPOSED)}
    assert list(results) == sorted(results)
    assert len(results) == len(expected["swaps"])
    base = expected["in_force"]["peak"]["total"]
    for entry in expected["swaps"]:
        result = results[entry["op"], entry["alt"]]
        assert result.ok is entry["ok"]
        if entry["ok"]:
            assert result.peak is not None
            assert (result.peak.total, result.peak.standard) == (entry["peak"]["total"], entry["peak"]["standard"])
            assert result.fits is entry["fits"]
            assert result.delta_total == entry["peak"]["total"] - base
        else:
            assert (result.peak, result.delta_total, result.fits) == (None, None, False)
            assert result.error


def test_ranking_is_that_of_the_exhaustive_enumeration():
    recipe, expected = golden_model("d02_encoder_head_t368_nofit")
    order = [(r.operation, r.alternative) for r in ranked(evaluate_all(recipe, workers=1, overrides=COMPOSED))]
    known = [entry for entry in expected["swaps"] if entry["ok"]]
    known.sort(key=lambda e: (not e["fits"], e["peak"]["total"], e["op"], e["alt"]))
    assert order[: len(known)] == [(entry["op"], entry["alt"]) for entry in known]


def test_workers_stream_and_agree_with_this_process():
    recipe, _ = golden_model("a05_mlp_t8_f8_nofit")
    parts = []
    found = evaluate_all(recipe, workers=2, on_results=parts.append)
    assert found == evaluate_all(recipe, workers=1)
    with Workers(recipe, workers=2, patience=0) as pool:
        tasks = [(swap,) for swap in single_swaps(recipe)]
        elsewhere = [trial for trials in pool.run(tasks) for trial in trials]
        assert len(multiprocessing.active_children()) == 2
    by_swap = {(result.operation, result.alternative): result for result in found}
    assert len(elsewhere) == len(found)
    for trial in elsewhere:
        result = by_swap[trial.swaps[0]]
        assert (trial.ok, trial.peak, trial.fits, trial.verdict) == (
            result.ok,
            result.peak,
            result.fits,
            result.verdict,
        )
    assert len(parts) > 1
    streamed = [result for part in parts for result in part]
    assert sorted(streamed, key=lambda r: (r.operation, r.alternative)) == list(found)
    assert evaluate_alternative(recipe, found[3].operation, found[3].alternative) == found[3]


def test_a_cancelled_evaluation_ends_early():
    recipe, _ = golden_model("a05_mlp_t8_f8_nofit")
    seen = []
    found = evaluate_all(recipe, workers=1, on_results=seen.extend, cancelled=lambda: len(seen) >= 12)
    assert 12 <= len(found) < 33


def test_a_killed_worker_loses_nothing(monkeypatch):
    recipe, _ = golden_model("b02_block_f16_t4_nofit")
    tasks = [(swap,) for swap in single_swaps(recipe)]
    with Workers(recipe, workers=2, patience=0) as pool:
        found = []
        for index, trials in enumerate(pool.run(tasks)):
            found.extend(trials)
            if index == 0:
                for process in multiprocessing.active_children():
                    process.kill()
    assert sorted(trial.swaps for trial in found) == sorted(set(tasks))


# -- the bound ------------------------------------------------------------------------------------------------------


@cache
def evaluated(name, fusion=True):
    recipe = golden_recipe(f"models/{name}") if name != "vit3" else golden_recipe("vit3-64tiles")
    evaluator = Evaluator(recipe, Overrides(fusion=fusion))
    base = evaluator.estimate()
    swaps = single_swaps(recipe)
    if name == "vit3":
        swaps = swaps[::5]
    return recipe, base, {swap: evaluator.trial((swap,)) for swap in swaps}


@pytest.mark.parametrize("fusion", [True, False])
@pytest.mark.parametrize("name", [*model_names(), "vit3"])
def test_what_the_bound_leaves_out_cannot_help(name, fusion):
    """For every peak that some single swap reaches: it is a swap of the branch and of the final set.

    Without fusions something is always proven.
    """
    recipe, base, trials = evaluated(name, fusion)
    assert base.timeline is not None
    finder = ConflictFinder(recipe)
    total = base.timeline.peak.total
    reached = sorted({t.peak.total for t in trials.values() if t.fits and t.peak is not None})
    marks = [mark for mark in reached if mark < total] or [total - 1]
    for mark in marks:
        conflict = finder.find(recipe, base, mark)
        if fusion and conflict.branch is None:
            continue
        assert conflict.branch is not None
        for (operation, _), trial in trials.items():
            if trial.fits and trial.peak is not None and trial.peak.total <= mark:
                assert operation in conflict.branch
                assert operation in conflict.final


def brute_force(recipe, overrides, most):
    """The fewest swaps that fit, by trying everything; then the lowest total peak."""
    evaluator = Evaluator(recipe, overrides)
    if evaluator.trial(()).fits:
        return [()]
    swaps = [s for s in single_swaps(recipe) if recipe.alternatives[s[0]][s[1]] != recipe.plans[s[0]]]
    for size in range(1, most + 1):
        found = []
        for chosen in combinations(swaps, size):
            if len({operation for operation, _ in chosen}) == size:
                trial = evaluator.trial(chosen)
                if trial.fits:
                    found.append((trial.peak.total, trial.cycles, chosen))
        if found:
            return [chosen for _, _, chosen in sorted(found)]
    return []


SMALL = ["a03_mlp_t1", "a05_mlp_t8_f8_nofit", "e03_input_twice_t8", "f01_gemm_swapped_t64", "g02_attn_online_t128"]


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("share", [15, 40, 75])
def test_fewest_swaps_are_those_of_brute_force_at_tight_budgets(name, share):
    """Budgets between the lowest peak that any single swap reaches and the peak in force."""
    recipe, base, trials = evaluated(name)
    assert base.timeline is not None
    total = base.timeline.peak.total
    lowest = min(t.peak.total for t in trials.values() if t.ok and t.peak is not None)
    budget = lowest + (total - lowest) * share // 100 - (1 if share == 15 else 0)
    overrides = Overrides(budget_bytes=budget, reserve_bytes=0)
    expected = brute_force(recipe, overrides, 2)
    result = search_fixes(recipe, 2, overrides=overrides, workers=1)
    assert result.exhaustive
    assert result.found is bool(expected)
    if expected:
        assert result.swaps == expected[0]
        assert {trial.swaps for trial in result.proposals} == set(expected)


@pytest.mark.parametrize("name", ["a05_mlp_t8_f8_nofit", "e03_input_twice_t8", "f05_dispatch_match_t64"])
def test_most_margin_is_that_of_brute_force(name):
    recipe, _, _ = evaluated(name)
    evaluator = Evaluator(recipe)
    swaps = [s for s in single_swaps(recipe) if recipe.alternatives[s[0]][s[1]] != recipe.plans[s[0]]]
    pairs = [pair for pair in combinations(swaps, 2) if pair[0][0] != pair[1][0]]
    trials = map(evaluator.trial, [(), *((swap,) for swap in swaps), *pairs])
    best = min((t.peak.total, len(t.swaps)) for t in trials if t.fits and t.peak is not None)
    result = search_fixes(recipe, 2, Mode.MARGIN, workers=1)
    assert result.exhaustive
    assert result.after is not None
    assert result.after.peak is not None
    assert (result.after.peak.total, len(result.swaps)) == best


def test_the_recipe_over_budget_is_fixed_by_one_swap():
    """With the compiler's fusions each of six alternatives of operation 4 alone does, and no other single swap."""
    result = search_fixes(golden_recipe("so400m-over"), 3, workers=1)
    assert (result.found, result.exhaustive) == (True, True)
    assert {trial.swaps for trial in result.proposals} == {((4, index),) for index in (0, 1, 2, 3, 5, 6)}
    assert result.swaps == ((4, 1),), "of six with the same peak the one with the fewest cycles"
    assert result.after is not None
    assert (result.after.peak.total, result.after.cycles) == (500_344, 18_035_866)
    assert result.tried < 80


def test_the_composed_recipe_over_budget_is_fixed_by_two_swaps():
    recipe = golden_recipe("so400m-over")
    result = search_fixes(recipe, 3, overrides=COMPOSED, workers=1)
    assert (result.found, result.exhaustive) == (True, True)
    assert result.swaps == ((4, 1), (21, 3)), "of twelve with the same peak the one with the fewest cycles"
    assert len(result.proposals) == 12
    assert {trial.peak.total for trial in result.proposals} == {500_344}
    cycles = [trial.cycles for trial in result.proposals]
    assert (cycles, cycles[0]) == (sorted(cycles), 19_947_061)
    assert result.after is not None
    assert result.after.peak is not None
    assert result.after.peak.total == 500_344
    assert result.tried < 200
    assert "exhaustive" not in result.text
    assert "operation 4 to alternative 1 and operation 21 to alternative 3" in result.text


def test_of_the_twelve_pairs_four_place_every_tile_and_the_cheapest_is_first():
    """Counted tile by tile: with twelve pairs of one peak 0, 183, 808 or 853 tiles have no place in the capture."""
    recipe, memory = golden_recipe("so400m-over"), preset(CAPTURED, 49_152)
    found = search_placed(recipe, memory, 2, COMPOSED, workers=1)
    pairs = [((4, one), (21, other)) for one in (0, 1, 2, 3, 5, 6) for other in (0, 3)]
    left = {swaps: placeable(program_requests(with_swaps(recipe, swaps), COMPOSED), memory) for swaps in pairs}
    assert sorted(one.not_placed for one in left.values()) == [0] * 4 + [183] * 2 + [808] * 4 + [853] * 2
    assert not any(one.over for one in left.values())
    proposals = found.result.proposals
    assert {trial.swaps for trial in proposals} == {swaps for swaps in pairs if left[swaps].placed}
    assert [trial.cycles for trial in proposals] == sorted(trial.cycles for trial in proposals)
    assert found.result.swaps == ((4, 1), (21, 0))
    assert found.result.after.cycles == 20_323_468
    assert (found.tried, found.result.exhaustive) == (12, True)
    assert found.result.text.endswith("total peak 500,344 B; fewest possible.")


def test_the_closest_of_what_was_tried_is_named_where_nothing_fits():
    recipe = golden_recipe("so400m-over")
    overrides = Overrides(budget_bytes=500_344 + 49_151, fusion=False)
    result = search_fixes(recipe, 2, overrides=overrides, workers=1)
    assert (result.found, result.exhaustive) == (False, True)
    assert result.closest is not None
    assert result.closest.peak.total == 500_344
    assert len(result.closest.swaps) == 2
    assert "500,344 B" in result.text


def test_progress_is_told_and_a_cancelled_search_is_not_exhaustive():
    told = []
    result = search_fixes(
        golden_recipe("so400m-over"),
        2,
        overrides=COMPOSED,
        workers=1,
        on_progress=told.append,
        cancelled=lambda: len(told) >= 10,
    )
    assert not result.found
    assert not result.exhaustive
    assert len(told) == 10
    assert [progress.tried for progress in told] == sorted(progress.tried for progress in told)


def test_a_mark_beyond_everything_asks_for_the_limits_only():
    recipe, base, _ = evaluated("i02_pair_standard_t8")
    conflict = ConflictFinder(recipe).find(recipe, base, U64_MAX)
    assert conflict.final == frozenset()
    assert conflict.branch is not None
    assert len(conflict.branch) >= 1
