"""The diagnosis: figures that add up, causes ranked, a next step for every kind of failure."""

from __future__ import annotations

import pytest

from tests.helpers.command_line import SAMPLES
from tests.helpers.golden_recipes import COMPOSED, golden_model, golden_recipe, model_names
from tileview.analysis.alternatives import evaluate_all
from tileview.analysis.diagnose import counterpart_step, diagnose, diagnose_fully, verdict_place
from tileview.analysis.diagnosis import grouped
from tileview.analysis.diagnosis_words import PLACEMENT_NOTE
from tileview.analysis.loads import compare_loads, item_keys, match_by, tile_load, total_peak_place
from tileview.analysis.next_step import Action, next_step
from tileview.analysis.relief import Shrinkage, cure, fullest, makers, reliefs
from tileview.analysis.trials import Evaluator
from tileview.core.estimate import estimate
from tileview.core.geometry.resolve import LayoutErrorKind
from tileview.core.memory.from_file import timeline_from_file
from tileview.formats.timeline import load_timeline
from tileview.model.recipe import Overrides
from tileview.model.sizes import Unavailable, size_text
from tileview.model.timeline import Cause


def over():
    recipe = golden_recipe("so400m-over")
    return recipe, estimate(recipe)


def rejected():
    return timeline_from_file(load_timeline(SAMPLES / "rejected-op0.timeline.json"))


# -- loads ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", model_names())
def test_a_load_adds_up_to_the_usage_of_its_tile(name):
    recipe, expected = golden_model(name)
    timeline = estimate(recipe, COMPOSED).timeline
    assert timeline is not None
    place = total_peak_place(timeline)
    assert place is not None
    assert place.step == expected["in_force"]["total_peak_step"]
    load = tile_load(timeline, place.step, place.tile)
    golden = expected["in_force"]["tile_usage_at_total_peak"][place.tile]
    assert [load.standard, load.interleaved] == golden
    assert load.total == expected["in_force"]["peak"]["total"]
    assert load.total == sum(item.bytes for item in load.items)
    assert load.unexplained == 0
    for step in range(0, len(timeline.steps), 7):
        for tile in {0, timeline.tile_count - 1}:
            again = tile_load(timeline, step, tile)
            assert [again.standard, again.interleaved] == timeline.tiles.usage(step)[tile].tolist()


def test_a_load_of_a_place_that_is_not_there():
    timeline = estimate(golden_recipe("vit3-64tiles")).timeline
    assert timeline is not None
    for step, tile in ((-1, 0), (len(timeline.steps), 0), (0, 64), (0, -1)):
        with pytest.raises(IndexError):
            tile_load(timeline, step, tile)


def test_two_loads_differ_by_the_sum_of_their_changes():
    recipe, now = over()
    then = Evaluator(recipe).estimate(((4, 0), (21, 0)))
    assert now.timeline is not None
    assert then.timeline is not None
    a = tile_load(now.timeline, 69, 174)
    b = tile_load(then.timeline, 62, 134)
    changes = compare_loads(now.timeline, a, then.timeline, b)
    assert sum(change.delta for change in changes) == b.total - a.total
    same = compare_loads(now.timeline, a, now.timeline, a)
    assert all(change.delta == 0 for change in same)
    assert [change.root_b for change in same] == [item.root for item in a.items]
    assert len(item_keys(now.timeline, a.items[0])) == len(item_keys(now.timeline, a.items[-1]))


def test_items_are_paired_by_their_strictest_common_key():
    a = [("x1", "x"), ("y1", "y"), ("z1", "z")]
    b = [("y2", "y"), ("x1", "x"), ("x2", "x"), ("w", "w")]
    assert match_by(a, b) == [(0, 1), (1, 0), (2, None), (None, 2), (None, 3)]
    assert match_by([], b) == [(None, 0), (None, 1), (None, 2), (None, 3)]
    assert match_by(a, []) == [(0, None), (1, None), (2, None)]


# -- over the budget ------------------------------------------------------------------------------------------------


def test_over_the_total_budget():
    recipe, result = over()
    diagnosis = diagnose(result.verdict, result.timeline, recipe)
    assert (diagnosis.cause, diagnosis.fits) == (Cause.TOTAL, False)
    figures = {figure.label: figure.bytes for figure in diagnosis.figures}
    assert figures["standard"] + figures["interleaved"] == figures["total peak"] == 568_312
    assert figures["total peak"] + figures["reserve"] == figures["needed"] == 617_464
    assert figures["needed"] - figures["budget"] == figures["over by"] == 30_504
    assert sum(item.bytes for item in diagnosis.contributions) == 568_312
    assert sum(group.bytes for group in grouped(diagnosis.contributions)) == 568_312
    assert sum(group.count for group in grouped(diagnosis.contributions)) == len(diagnosis.contributions)
    assert (diagnosis.place.step, diagnosis.place.tile) == (69, result.verdict.tile)
    assert diagnosis.contributions[0].operation == 21
    assert diagnosis.contributions[0].choice == (21, 0)


def test_the_cause_stands_above_the_victim():
    """The largest allocation cannot shrink; the one that another plan shrinks most comes first all the same."""
    recipe, result = over()
    contributions = diagnose(result.verdict, result.timeline, recipe).contributions
    sizes = [item.bytes for item in contributions]
    assert contributions[0].bytes < max(sizes)
    savings = [item.smaller_by for item in contributions]
    assert savings == sorted(savings, reverse=True)
    assert savings[0] > 0


def test_a_saving_is_what_the_alternative_really_takes():
    """Where formats promise a smaller result, the re-planned program has it."""
    recipe, result = over()
    timeline = result.timeline
    assert timeline is not None
    place = total_peak_place(timeline)
    shrinkage = Shrinkage(timeline, recipe)
    checked = 0
    for root in timeline.steps[place.step].live:
        best = shrinkage.best(root, place.tile)
        if best is None:
            continue
        value = timeline.values[root]
        changed = Evaluator(recipe).estimate(((best.operation, best.alternative),)).timeline
        alike = [v for v in changed.values if (v.origin, v.shape) == (value.origin, value.shape)]
        promised = int(timeline.tiles.allocation(root)[place.tile]) - best.bytes
        assert promised in {v.bytes for v in alike}
        checked += 1
    assert checked > 0
    assert Shrinkage(timeline, None).best(timeline.steps[place.step].live[-1], place.tile) is None


def test_reliefs_are_what_the_steps_of_an_operation_hold_at_most():
    recipe, result = over()
    timeline = result.timeline
    assert timeline is not None
    place = verdict_place(result.verdict, timeline)
    assert makers(timeline, place)[0] == 21
    found = reliefs(recipe, timeline, result.verdict.cause, makers(timeline, place))
    assert [relief.operation for relief in found] == [21]
    (relief,) = found
    assert relief.now == 568_312
    changed = Evaluator(recipe).estimate(((21, relief.alternative),)).timeline
    worst = changed.tiles.worst()
    assert relief.then == max(int(worst[step.index, 2]) for step in changed.steps if step.source == 21)
    others = [Evaluator(recipe).estimate(((21, index),)).timeline for index in (0, 2, 3)]
    assert relief.then == min(fullest(other, 21) for other in others)
    assert not relief.fits
    diagnosis = diagnose(result.verdict, timeline, recipe, reliefs=found)
    assert diagnosis.contributions[0].relief == relief.saved
    assert f"{relief.saved:,} B less" in " ".join(diagnosis.details)
    assert (
        "op 21 → alternative 0"
        in diagnose(result.verdict, timeline, recipe, reliefs=found, together=cure(recipe, found, (21,))).next_step
    )


def test_growth_against_a_baseline_adds_up():
    recipe, now = over()
    good = estimate(golden_recipe("so400m"), COMPOSED)
    diagnosis = diagnose(now.verdict, now.timeline, recipe, baseline=good.timeline)
    place = diagnosis.place
    step = counterpart_step(now.timeline, place.step, good.timeline)
    assert step is not None
    assert good.timeline.steps[step].source == now.timeline.steps[place.step].source
    before = tile_load(good.timeline, step, place.tile).total
    assert sum(change.delta for change in diagnosis.changes) == 568_312 - before
    assert any("Against the baseline" in sentence for sentence in diagnosis.details)
    grown = {item.root: item.growth for item in diagnosis.contributions}
    assert all(growth is not None for growth in grown.values())


def test_levers_are_the_best_swap_of_each_operation():
    recipe, expected = golden_model("d02_encoder_head_t368_nofit")
    result = estimate(recipe)
    results = {(r.operation, r.alternative): r for r in evaluate_all(recipe, workers=1)}
    diagnosis = diagnose(result.verdict, result.timeline, recipe, results=results)
    fitting = [e for e in expected["swaps"] if e["ok"] and e["fits"]]
    best = min(fitting, key=lambda e: (e["peak"]["total"], e["op"], e["alt"]))
    lever = diagnosis.levers[0]
    assert (lever.operation, lever.alternative, lever.fits) == (best["op"], best["alt"], True)
    assert len({lever.operation for lever in diagnosis.levers}) == len(diagnosis.levers)
    assert f"op {best['op']} → alternative {best['alt']}" in diagnosis.next_step


def test_over_the_interleaved_region():
    recipe, expected = golden_model("h01_nofit_interleaved_t4")
    result = estimate(recipe)
    diagnosis = diagnose(result.verdict, result.timeline, recipe)
    assert diagnosis.cause is Cause.INTERLEAVED
    figures = {figure.label: figure.bytes for figure in diagnosis.figures}
    assert figures["interleaved peak"] == expected["in_force"]["peak"]["interleaved"] == 425_984
    assert figures["interleaved peak"] - figures["interleaved region"] == figures["over by"] == 425_984 - 424_880
    assert diagnosis.load.interleaved == 425_984


def test_one_standard_allocation_too_large():
    """A budget that leaves the total alone: 430,400 bytes in one piece are still more than 424,880."""
    recipe, _ = golden_model("i02_pair_standard_t8")
    result = Evaluator(recipe).estimate(((0, 1),))
    assert result.verdict.cause in (Cause.TOTAL, Cause.CONTIGUOUS)
    assert result.timeline.peak.maximum_standard_allocation == 430_400
    if result.verdict.cause is Cause.CONTIGUOUS:
        figures = {f.label: f.bytes for f in diagnose(result.verdict, result.timeline, recipe).figures}
        assert figures["largest standard allocation"] - figures["largest contiguous range"] == figures["over by"]


def test_what_cannot_be_lowered_names_plan_and_a_way_out():
    recipe = golden_recipe("vit3-64tiles")
    result = Evaluator(recipe).estimate(((3, 11),))
    for alternative in range(12):
        result = Evaluator(recipe).estimate(((3, alternative),))
        if result.timeline is None:
            break
    assert result.timeline is None
    diagnosis = diagnose(result.verdict, None, recipe)
    assert diagnosis.cause is Cause.CANNOT_LOWER
    assert "operation 3" in diagnosis.headline
    assert "operation 3" in diagnosis.next_step
    assert (diagnosis.figures, diagnosis.contributions) == ((), ())


def test_fits_with_its_margin_and_the_warning_about_placement():
    recipe = golden_recipe("so400m")
    result = estimate(recipe)
    diagnosis = diagnose(result.verdict, result.timeline, recipe)
    assert diagnosis.fits
    assert {f.label: f.bytes for f in diagnosis.figures}["spare"] == 586_960 - 49_152 - 500_344
    assert PLACEMENT_NOTE in diagnosis.details
    assert "37,464 B" in diagnosis.next_step


def test_invalid_layouts_with_the_rule_and_what_resolves():
    timeline = rejected()
    diagnosis = diagnose(timeline.verdict, timeline)
    assert diagnosis.cause is Cause.INVALID_LAYOUT
    assert len(diagnosis.bad_layouts) == 43
    first = diagnosis.bad_layouts[0]
    assert (first.name, first.kind) == ("vit.embedding.bias", LayoutErrorKind.EMPTY_AXIS_TILING)
    assert "288 tiles" in first.remedy
    assert "1,152 elements in grains of 4" in first.remedy
    assert "valid layouts" in diagnosis.next_step
    assert any("288 tiles" in sentence for sentence in diagnosis.details)
    known = [item.bytes for item in diagnosis.contributions if not isinstance(item.bytes, Unavailable)]
    assert diagnosis.load.total == sum(known)
    assert len(known) < len(diagnosis.contributions)
    figures = {figure.label: figure.bytes for figure in diagnosis.figures}
    assert figures["known on the fullest tile"] + figures["reserve"] == figures["known, with reserve"]


def test_a_what_if_budget_decides_the_figures():
    recipe = golden_recipe("vit3-64tiles")
    result = estimate(recipe, Overrides(budget_bytes=100_000, reserve_bytes=30_000))
    figures = {f.label: f.bytes for f in diagnose(result.verdict, result.timeline, recipe).figures}
    assert figures["over by"] == 79_872 + 30_000 - 100_000


def test_the_next_step_is_the_true_one_for_each_state():
    recipe, result = over()
    diagnosis = diagnose_fully(result.verdict, result.timeline, recipe)
    told = next_step(diagnosis, result.verdict, result.timeline, recipe)
    assert told.action is Action.SWAP
    ((operation, alternative),) = told.swaps
    assert operation == 4
    swapped = Evaluator(recipe).estimate(told.swaps).verdict
    assert swapped.fits
    assert told.text == (
        f"Swap in op {operation} → alternative {alternative}: it then fits with the compiler's fusions, "
        f"{size_text(-swapped.short_bytes)} spare."
    )
    good = estimate(golden_recipe("so400m"))
    fits = diagnose(good.verdict, good.timeline, golden_recipe("so400m"))
    assert next_step(fits, good.verdict, good.timeline, recipe).action is Action.NOTHING
    assert next_step(fits, good.verdict, good.timeline, recipe, swaps=2).text == "Export the recipe (Ctrl+E)."
    assert "reset" in next_step(fits, good.verdict, good.timeline, recipe, what_if=True).text
    spare = size_text(-good.verdict.short_bytes)
    assert fits.next_step == f"By the sum there is nothing to do: it fits with {spare} spare."
    placed = next_step(fits, good.verdict, good.timeline, recipe, unplaced="")
    assert placed.text == f"Nothing to do: it fits with {spare} spare, and every tile is placed."
    missing = next_step(
        fits, good.verdict, good.timeline, recipe, unplaced="144 tiles not placed in captured 498,872 B"
    )
    assert missing.action is Action.FIND_PLACED
    assert missing.text == (
        "It fits by the sum, but with 144 tiles not placed in captured 498,872 B: search for swaps that place every "
        "tile."
    )
    edited = next_step(fits, good.verdict, good.timeline, recipe, swaps=1, unplaced="1 tile over in captured 498,872 B")
    assert edited.action is Action.FIND_PLACED
    assert edited.text.endswith("every tile. Or export it as it is (Ctrl+E).")
    timeline = rejected()
    bad = diagnose(timeline.verdict, timeline)
    assert next_step(bad, timeline.verdict, timeline, None).action is Action.COPY_LAYOUTS
    assert "the 43 valid layouts" in bad.next_step
    assert next_step(fits, good.verdict, timeline, None, layouts=43).text.startswith("Copy the 43 layouts")
