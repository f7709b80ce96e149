"""Fusions as facts, and which of a recipe's programs a timeline is of."""

from __future__ import annotations

from tests.helpers.golden_recipes import COMPOSED, golden_recipe, swapped
from tests.helpers.small_recipes import ONE, add_plan, host, operation, recipe
from tileview.analysis.fusions import agreement, fusion_facts
from tileview.core.estimate import estimate
from tileview.core.fusion.stand import Reason
from tileview.core.memory.measurement import measure


def test_every_candidate_with_its_prices() -> None:
    """Figures of the 3-layer sample: two LayerNorms write F8 at the source, a BiasGelu stays F16 either way."""
    facts = fusion_facts(estimate(golden_recipe("vit3-64tiles")))
    assert facts is not None
    assert facts.reason is Reason.FUSED
    assert "−4,788 planner's cycles" in facts.text
    found = {(row.kind, row.operation): (row.partner, row.apart, row.together, row.made) for row in facts.rows}
    assert found == {
        ("BiasGelu", 20): (19, 1_332, 540, True),
        ("F8 at source", 3): (4, 4_281, 3_759, True),
        ("F8 at source", 17): (18, 3_993, 3_711, True),
        ("F8 at consumer", 20): (21, 1_254, 6_522, False),
        ("F8 at source", 20): (21, 2_334, 2_628, False),
    }
    assert facts.went_into == {19: 20}
    words = {row.kind: row.words for row in facts.rows if row.operation == 20}
    assert words["BiasGelu"] == "made (−792)"
    assert words["F8 at source"] == "does not pay (+294)"


def test_steps_of_fused_kernels_are_named() -> None:
    timeline = estimate(golden_recipe("so400m")).timeline
    assert timeline is not None
    names = [step.operation for step in timeline.steps if step.operation.endswith("to F8")]
    assert names == ["LayerNorm to F8", "BiasGelu to F8"]
    assert {step.kind for step in timeline.steps if step.operation.endswith("to F8")} == {"LayerNorm", "BiasGelu"}


def test_a_set_that_does_not_fit_falls_as_a_whole() -> None:
    facts = fusion_facts(estimate(golden_recipe("so400m-over")))
    assert facts is not None
    assert facts.reason is Reason.DOES_NOT_FIT
    assert "552,568 B" in facts.text
    assert any(row.made for row in facts.rows)
    assert facts.went_into == {}


def test_a_timeline_tells_which_program_it_is_of() -> None:
    fused = estimate(golden_recipe("vit3-64tiles"))
    composed = estimate(golden_recipe("vit3-64tiles"), COMPOSED)
    assert fused.fusion is not None
    assert fused.timeline is not None
    assert composed.timeline is not None
    of_fused, of_composed = agreement(fused.fusion, fused.timeline), agreement(fused.fusion, composed.timeline)
    assert (of_fused.steps, of_fused.fused) == (147, 147)
    assert of_fused.composed < 147
    assert of_fused.text.endswith("the timeline is of the program with fusions")
    assert (of_composed.steps, of_composed.composed) == (150, 150)
    assert of_composed.text.endswith("the timeline is of the program without fusions")


def test_a_timeline_of_what_does_not_fit_fused_is_compared_with_both() -> None:
    """A rejected compile may have written either program."""
    over = estimate(golden_recipe("so400m-over"))
    repaired = estimate(swapped(golden_recipe("so400m-over"), [(4, 0)]))
    assert over.fusion is not None
    assert over.timeline is not None
    assert repaired.fusion is not None
    found = agreement(over.fusion, over.timeline)
    assert (found.steps, found.composed) == (165, 165)
    assert found.fused is not None
    assert found.fused < 165
    fused = measure(repaired.fusion.program, 586_960, 49_152)
    assert agreement(repaired.fusion, fused).fused == len(fused.steps)


def test_where_there_is_nothing_to_fuse() -> None:
    shape = (1, 4, 32)
    plain = recipe(
        [host(0, shape), host(1, shape)], [operation(0, [0, 1], 2)], {2: shape}, {0: add_plan([ONE, ONE], ONE)}
    )
    result = estimate(plain)
    facts = fusion_facts(result)
    assert facts is not None
    assert (facts.reason, facts.rows) == (Reason.NOTHING, ())
    assert result.fusion is not None
    assert result.timeline is not None
    assert "nothing to fuse" in agreement(result.fusion, result.timeline).text
