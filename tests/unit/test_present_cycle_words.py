"""Planner's cycles and fusions in the words of the window."""

from __future__ import annotations

from tests.helpers.golden_recipes import COMPOSED, golden_recipe, swapped
from tests.helpers.opened import SAMPLES, opened
from tileview.analysis.fusions import fusion_facts
from tileview.core.cycles.words import short_change
from tileview.core.estimate import estimate
from tileview.core.fusion.verdict_words import verdict_sentence, verdict_words
from tileview.formats.opening import open_file
from tileview.model.timeline import Timeline
from tileview.present.compare_rows import CompareSpec, CompareState, compare_nodes
from tileview.present.cycle_words import (
    FusionSpec,
    cycles_note,
    cycles_sentence,
    fusion_headline,
    fusion_lines,
    fusion_nodes,
    step_cycles,
    step_name,
)
from tileview.present.scales import cycle_ticks
from tileview.present.tables import Tone


def test_changes_are_short_and_signed() -> None:
    assert [short_change(one) for one in (-4_113_153, 1_024, 0, 994_999)] == ["−4.11 M", "+1,024", "±0", "+994,999"]


def test_the_sentence_and_what_it_is_of() -> None:
    session = opened("so400m-over.recipe.json")
    assert cycles_sentence(session.estimate, session.baseline) == "24.86 M planner's cycles"
    assert "without fusions" in cycles_note(session.estimate)
    assert cycles_sentence(None) == ""
    session.swap(4, 0)
    job = session.job()
    assert job is not None
    session.publish(job.run())
    before, after = session.baseline.estimate.price.cycles, session.estimate.price.cycles
    text = cycles_sentence(session.estimate, session.baseline)
    assert text.startswith(f"{after / 1e6:.2f} M planner's cycles, −")
    assert round((after - before) / before * 100) == int(text.rpartition("(−")[2].removesuffix(" %)")) * -1
    assert "after the compiler's fusions" in cycles_note(session.estimate)


def test_steps_cost_their_price_times_their_runs() -> None:
    result = estimate(golden_recipe("so400m-over"), COMPOSED)
    found = step_cycles(result.cycles, result.timeline)
    assert found is not None
    assert found.known.all()
    assert int(found.values.sum()) == result.cycles.total
    top = int(found.values.argmax())
    assert found.most.startswith(f"step {top}, op {result.timeline.steps[top].source} ")
    assert found.tip(top).endswith(f"27 runs of {int(found.values[top]) // 27:,}")
    assert found.tip(10_000) == ""
    file = open_file(SAMPLES / "rejected-op0.timeline.json")
    assert step_cycles(None, file if isinstance(file, Timeline) else None) is None


def test_a_verdict_that_hangs_on_fusions_says_so_everywhere() -> None:
    """One swap repairs the sample, with fusions only: 30,504 B over without."""
    result = estimate(swapped(golden_recipe("so400m-over"), [(4, 0)]))
    assert verdict_words(result.verdict) == "fits with the compiler's fusions"
    text = verdict_sentence(result.verdict)
    assert text.startswith("Fits with the compiler's fusions (total 500,344 B; without them 30,504 B over)")
    over = estimate(golden_recipe("so400m-over"))
    assert verdict_sentence(over.verdict).startswith("Does not fit: total peak 568,312 B")
    states = [
        CompareState(name, one.verdict, one.timeline, None, price=one.price)
        for name, one in (("a", over), ("b", result))
    ]
    rows = {node.row.label: node.row for node in compare_nodes(states)}
    assert rows["Verdict"].entries[1].text == "✓ fits with the compiler's fusions"
    cycles = rows["Planner's cycles"]
    assert cycles.entries[0].text == "24.86 M"
    assert cycles.entries[1].text.endswith(" %)")
    assert CompareSpec(["a", "b"]).fields(cycles)[1:3] == [over.price.cycles, result.price.cycles]
    assert rows["Of them exchange"].entries[0].size == over.price.exchange


def test_small_changes_get_no_per_cent_and_no_colour() -> None:
    fused = estimate(golden_recipe("vit3-64tiles"))
    composed = estimate(golden_recipe("vit3-64tiles"), COMPOSED)
    states = [CompareState("", one.verdict, one.timeline, None, price=one.price) for one in (composed, fused)]
    rows = {node.row.label: node.row for node in compare_nodes(states)}
    entry = rows["Planner's cycles"].entries[1]
    assert entry.text.endswith("(−4,788)")
    assert entry.tone is Tone.TEXT


def test_every_candidate_is_a_row() -> None:
    facts = fusion_facts(estimate(golden_recipe("vit3-64tiles")))
    assert facts is not None
    spec = FusionSpec()
    spec.facts = facts
    rows = [[spec.cell(node.row, column).text for column in range(5)] for node in fusion_nodes(facts)]
    assert ["BiasGelu: op 19's Add goes into op 20's Gelu", "1,332", "540", "−792", "made"] in rows
    assert ["Op 20 writes F8 at once, in place of op 21's cast", "2,334", "2,628", "+294", "does not pay"] in rows
    assert fusion_headline(facts).endswith("5 considered, 3 made; all of them are made, or none.")
    assert fusion_lines(19, facts)[0] == "Its Add went into op 20's step: only its copies are left here."
    assert fusion_lines(0, facts) == fusion_lines(0, None) == ()


def test_a_set_that_falls_takes_what_pays_with_it() -> None:
    facts = fusion_facts(estimate(golden_recipe("so400m-over")))
    assert facts is not None
    spec = FusionSpec()
    spec.facts = facts
    outcomes = {spec.cell(node.row, 4).text for node in fusion_nodes(facts)}
    assert "pays, but not the whole set" in outcomes
    assert "made" not in outcomes
    assert "552,568 B" in fusion_headline(facts)
    assert "would be made" in fusion_headline(facts)
    assert "timeline" in fusion_headline(None)


def test_steps_that_write_f8_are_named_so() -> None:
    timeline = estimate(golden_recipe("so400m")).timeline
    assert timeline is not None
    names = [step_name(step) for step in timeline.steps]
    assert [name for name in names if " " in name] == ["LayerNorm to F8", "BiasGelu to F8"]


def test_ticks_of_cycles_are_round() -> None:
    assert [tick.text for tick in cycle_ticks(18_100_000, 24_900_000, 8)] == [f"{n} M" for n in range(19, 25)]
    assert [tick.text for tick in cycle_ticks(20_000, 31_000, 4)] == ["20,000", "25,000", "30,000"]
    assert [tick.value for tick in cycle_ticks(-500, 900, 4)] == [0, 500]
    assert [tick.text for tick in cycle_ticks(1_150_000, 1_250_000, 5)] == [
        "1.16 M",
        "1.18 M",
        "1.20 M",
        "1.22 M",
        "1.24 M",
    ]
