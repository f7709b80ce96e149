"""Estimates: figures, verdicts, what-if values, homes, and what they say they leave out."""

from __future__ import annotations

import pickle
from dataclasses import replace

from tests.helpers.golden_recipes import golden_recipe, swapped
from tests.helpers.small_recipes import ONE, add_plan, axis, host, layout, operation, parameter, recipe
from tileview.core.estimate import GENERAL_NOTES, estimate
from tileview.core.fusion.stand import Reason
from tileview.core.lowering.replanner import Replanner
from tileview.model.recipe import Overrides
from tileview.model.tensor import F16, Format
from tileview.model.timeline import Cause

SHAPE = (1, 4, 32)
MADE = recipe(
    [host(0, SHAPE), parameter(1, SHAPE)],
    [operation(0, [0, 1], 2)],
    {2: SHAPE},
    {0: add_plan([ONE, ONE], ONE)},
    budget=2_000,
    reserve=100,
)
"""x, the parameter's home, its copy and the result, 256 bytes each, on one tile: 1,024 bytes at the Add."""


def test_verdict() -> None:
    result = estimate(MADE)
    assert result.timeline is not None
    assert result.timeline.peak.total == 1_024
    assert result.verdict.fits
    assert result.verdict == result.timeline.verdict


def test_overrides_stand_in_for_the_configuration() -> None:
    assert estimate(MADE, Overrides(reserve_bytes=976)).verdict.fits
    over = estimate(MADE, Overrides(reserve_bytes=977))
    assert over.verdict.cause is Cause.TOTAL
    assert over.verdict.short_bytes == 1
    tight = estimate(MADE, Overrides(budget_bytes=1_123))
    assert not tight.verdict.fits
    assert tight.timeline is not None
    assert tight.timeline.budget_bytes == 1_123
    assert estimate(MADE, Overrides()).verdict == estimate(MADE).verdict


def test_overrides_count_when_homes_are_chosen() -> None:
    """With 300 bytes left a tile holds the home of 256 bytes; with 200 it takes two tiles."""
    replanner = Replanner()
    roomy = estimate(MADE, Overrides(budget_bytes=400), replanner)
    tight = estimate(MADE, Overrides(budget_bytes=300), replanner)
    assert roomy.homes[1].layout.tiling.tile_count == 1
    assert tight.homes[1].layout.tiling.tile_count == 2


def test_homes_are_those_of_all_graph_inputs() -> None:
    home = Format(F16, layout(axis(2, 2)))
    result = estimate(replace(MADE, inputs={1: home}))
    assert result.homes == {0: Format(F16, ONE), 1: home}


def test_notes_name_what_is_asked_for() -> None:
    assert estimate(MADE).notes == ("the compiler's fusions: nothing to fuse", *GENERAL_NOTES)
    asking = replace(MADE, requests=(("packing", '{"operation":3}'), ("owners.results", "[4]"), ("later", "1")))
    notes = estimate(asking).notes
    assert notes[0] == 'the recipe asks for copies packed in row batches (packing: {"operation":3}): not modelled'
    assert notes[1] == "the recipe asks for chosen owners (owners.results: [4]): not modelled"
    assert notes[2] == "the recipe asks for what TileView does not know (later: 1): not modelled"
    assert notes[4:] == GENERAL_NOTES


def test_a_recipe_that_cannot_be_lowered() -> None:
    """LayerNorm in 2 parts of the sample."""
    whole = golden_recipe("vit3-64tiles")
    index = next(
        index for index in range(len(whole.alternatives[3])) if estimate(swapped(whole, [(3, index)])).error is not None
    )
    result = estimate(swapped(whole, [(3, index)]))
    assert result.verdict.cause is Cause.CANNOT_LOWER
    assert result.verdict.operation == 3
    assert "moments" in result.verdict.text
    assert result.homes == {}
    assert result.error is not None
    assert str(pickle.loads(pickle.dumps(result.error))) == str(result.error)


def test_sample_fits_and_its_excess_counterpart_does_not() -> None:
    """Worked figures of the 27-layer model: in force 568,312 + 49,152 reserve are 30,504 over 586,960."""
    assert estimate(golden_recipe("so400m")).verdict.fits
    over = estimate(golden_recipe("so400m-over"))
    assert over.verdict.cause is Cause.TOTAL
    assert (over.verdict.needed_bytes, over.verdict.short_bytes) == (617_464, 30_504)
    assert over.verdict.step == 69


def test_scope_and_model() -> None:
    result = estimate(MADE, scope="what I asked")
    assert result.timeline is not None
    assert result.timeline.scope == "what I asked"
    assert result.timeline.version == 3


def test_a_recipe_that_fits_only_with_fusions_says_so() -> None:
    """so400m-over after 4 → 0: 500,344 B with the compiler's fusions, 30,504 B over without."""
    swapped_once = swapped(golden_recipe("so400m-over"), [(4, 0)])
    result = estimate(swapped_once)
    assert result.verdict.fits
    words = "fits with the compiler's fusions (total 500,344 B; without them 30,504 B over)"
    assert result.verdict.text.startswith(words)
    assert result.timeline is not None
    assert result.timeline.verdict == result.verdict
    assert result.fits_without_fusion is False
    assert result.fusion is not None
    assert result.fusion.reason is Reason.FUSED
    assert result.program is result.fusion.program
    without = estimate(swapped_once, Overrides(fusion=False))
    assert not without.verdict.fits
    assert without.fusion is not None
    assert without.fusion.reason is Reason.OFF
    assert without.verdict.short_bytes == 30_504


def test_what_the_configuration_or_the_file_leaves_unfused() -> None:
    recipe = golden_recipe("vit3-64tiles")
    fields = tuple((name, "true" if name == "diagnostic_checkpoints" else text) for name, text in recipe.config.fields)
    asked = estimate(replace(recipe, config=replace(recipe.config, fields=fields)))
    assert asked.fusion is not None
    assert asked.fusion.reason is Reason.NOT_LOOKED
    assert "diagnostic checkpoints" in asked.notes[0]
    over = estimate(golden_recipe("so400m-over"))
    assert over.fusion is not None
    assert over.fusion.reason is Reason.DOES_NOT_FIT
    assert "552,568 B, −4,351,779 planner's cycles" in over.notes[0]
