"""Rows of operations, alternatives and problems; homes on offer; what-if limits."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.helpers.fake_timeline import Alloc, FakeProgram, Step, make_timeline, small_timeline
from tests.helpers.golden_recipes import golden_recipe
from tests.helpers.opened import opened
from tileview.analysis.alternatives import AlternativeResult, evaluate_alternative
from tileview.analysis.holdings import NO_HOLDINGS, holdings, input_readers, owners_of_values, step_holdings
from tileview.analysis.home_offers import consumers, home_offers, values_together
from tileview.analysis.trials import with_swaps
from tileview.core.estimate import estimate
from tileview.core.fusion.verdict_words import verdict_words
from tileview.core.geometry.resolve import resolve
from tileview.model.recipe import Overrides
from tileview.model.sizes import UNAVAILABLE, Unavailable
from tileview.model.timeline import Cause, Peak, Problem
from tileview.present.alternative_rows import (
    ALTERNATIVES,
    NOT_COMPUTED,
    AlternativeOutcome,
    OperationHead,
    alternative_nodes,
    alternative_rows,
    progress_words,
)
from tileview.present.operation_rows import (
    OPERATIONS,
    OUTSIDE,
    RecipeOperations,
    StepOperations,
    operations_footer,
    step_spans,
)
from tileview.present.override_limits import limits, sentences
from tileview.present.problem_rows import OVER_BUDGET, PROBLEMS, over_budget, problem_nodes, tally
from tileview.present.tables import LinePart, Tone, fitted_line, flat_rows

# -- operations -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["vit3-64tiles.recipe.json", "so400m-over.recipe.json"])
def test_shares_of_the_outermost_rows_add_up_to_the_usage(name: str) -> None:
    session = opened(name)
    recipe, timeline = session.recipe, session.timeline
    assert recipe is not None
    assert timeline is not None
    owners, readers = owners_of_values(recipe.graph), input_readers(recipe.graph)
    for step in range(0, len(timeline.steps), 9):
        tile = int(timeline.tiles.worst()[step, 3])
        held = holdings(timeline, step, tile, owners, readers)
        nodes = RecipeOperations(recipe, step_spans(timeline)).nodes(held)
        assert sum(node.row.bytes for node in nodes) == int(timeline.tiles.worst()[step, 2])


def test_operations_stand_in_graph_order_with_bodies_under_their_repeat() -> None:
    recipe = opened("so400m-over.recipe.json").recipe
    assert recipe is not None
    nodes = RecipeOperations(recipe, {}).nodes(NO_HOLDINGS)
    assert [node.key for node in nodes] == [operation.id for operation in recipe.graph.operations]
    repeat = next(node for node in nodes if node.row.kind == "Repeat × 27")
    assert repeat.key == 24
    assert [child.key for child in repeat.children] == list(range(3, 24))


def test_first_and_last_steps_and_alternatives_are_those_of_the_file() -> None:
    session = opened("so400m-over.recipe.json")
    recipe, timeline = session.recipe, session.timeline
    assert recipe is not None
    assert timeline is not None
    rows = {row.operation: row for row in flat_rows(RecipeOperations(recipe, step_spans(timeline)).nodes(NO_HOLDINGS))}
    body = {operation.id for operation, around in recipe.graph.walk() if 24 in around}
    for operation, row in rows.items():
        wanted = {24, *body} if operation == 24 else {operation}
        own = [step.index for step in timeline.steps if step.source in wanted]
        assert (row.first_step, row.last_step) == ((own[0], own[-1]) if own else (None, None))
    assert rows[21].alternatives == len(recipe.alternatives[21])


def test_edited_and_unknown_operations_are_marked_in_words() -> None:
    recipe = opened("vit3-64tiles.recipe.json").recipe
    assert recipe is not None
    spec = OPERATIONS
    rows = {
        row.operation: row
        for row in flat_rows(
            RecipeOperations(recipe, {}, edited=[4], unknown={5: "no such dispatch"}).nodes(NO_HOLDINGS)
        )
    }
    assert spec.cell(rows[4], OPERATIONS.place("Current plan")).text.startswith("* ")
    assert spec.cell(rows[5], OPERATIONS.place("Op")).text == "? 5"
    assert spec.cell(rows[5], OPERATIONS.place("Op")).tip == "Unknown: no such dispatch"
    assert spec.cell(rows[6], OPERATIONS.place("Op")).text == "6"


def test_a_filter_keeps_the_repeat_around_what_it_finds() -> None:
    recipe = opened("vit3-64tiles.recipe.json").recipe
    assert recipe is not None
    nodes = RecipeOperations(recipe, {}).nodes(NO_HOLDINGS, "gelu")
    repeat = next(node for node in nodes if node.children)
    assert {child.row.kind for child in repeat.children} == {"Gelu"}


def test_a_timeline_alone_shows_operations_with_their_steps() -> None:
    timeline = small_timeline()
    operations = StepOperations(timeline)
    held = step_holdings(timeline, 5, 2)
    nodes = operations.nodes(held)
    assert [(node.row.operation, [child.row.step for child in node.children]) for node in nodes] == [
        (None, []),
        (0, [0]),
        (1, [1]),
        (2, [2]),
        (3, [3]),
        (4, [4]),
        (5, [5, 6]),
        (6, [7]),
    ]
    # wide and result are first live at step 5; product at step 1; weights from the start; scratch of 3 KiB at step 5
    assert [node.row.made for node in nodes] == [64 * 1024, 0, 64 * 1024, 0, 0, 0, 508 * 1024, 0]
    assert sum(node.row.bytes for node in nodes) == int(timeline.tiles.usage(5)[2].sum())
    assert [node.row.operation for node in operations.nodes(held, within=(1, 3))] == [1, 2]


def test_parameters_stand_under_the_operation_that_reads_them() -> None:
    session = opened("so400m-over.recipe.json")
    recipe, timeline = session.recipe, session.timeline
    assert recipe is not None
    assert timeline is not None
    held = holdings(timeline, 69, 174, owners_of_values(recipe.graph), input_readers(recipe.graph))
    nodes = RecipeOperations(recipe, step_spans(timeline)).nodes(held)
    assert all(node.key != OUTSIDE for node in nodes)
    rows = {row.operation: row for row in flat_rows(nodes)}
    spec = OPERATIONS
    # 27 layers of mlp.down.weight, 3,584 B each on that tile: 96,768 B; its plan makes 240,896 B, together 59.4 %.
    assert (rows[21].made, rows[21].read) == (240_896, 96_768)
    cell = spec.cell(rows[21], OPERATIONS.place("Share"))
    assert cell.text == "59.4 %"
    assert cell.tip == "337,664 B of 568,312 B: makes 240,896 B, reads 96,768 B of parameters and inputs"
    assert spec.cell(rows[21], OPERATIONS.place("Reads")).text == "94.5 KiB"
    assert (rows[20].made, rows[20].read) == (0, 0)
    assert spec.cell(rows[20], OPERATIONS.place("Reads")).text == ""
    made, read = sum(held.own.values()), sum(held.read.values())
    assert made + read == 568_312
    tenths = [round(1000 * part / 568_312) / 10 for part in (made, read)]
    assert operations_footer(held, True) == f"568,312 B: {tenths[0]} % made, {tenths[1]} % parameters read"


def test_a_range_of_steps_keeps_what_runs_in_it() -> None:
    session = opened("so400m-over.recipe.json")
    recipe, timeline = session.recipe, session.timeline
    assert recipe is not None
    assert timeline is not None
    spans = step_spans(timeline)
    for within in ((68, 73), (0, 1), (100, 110)):
        wanted = {step.source for step in timeline.steps[within[0] : within[1]]}
        rows = list(flat_rows(RecipeOperations(recipe, spans).nodes(NO_HOLDINGS, within=within)))
        leaves = {row.operation for row in rows if not row.kind.startswith("Repeat")}
        runs = {one for one, (first, last) in spans.items() if first < within[1] and within[0] <= last}
        assert leaves == runs - {24}
        assert wanted - {24, None} <= leaves
        assert any(row.operation == 24 for row in rows) == (within[0] < 80 and within[1] > 10)


def test_what_has_no_size_is_never_a_share_of_its_own() -> None:
    row = replace(next(iter(flat_rows(StepOperations(small_timeline()).nodes()))), made=0, usage=1000, unavailable=2)
    cell = OPERATIONS.cell(row, OPERATIONS.place("Share"))
    assert (cell.text, cell.tone) == ("n/a", Tone.UNAVAILABLE)
    assert cell.tip.endswith("2 allocations unavailable, not in the sum")
    assert OPERATIONS.cell(replace(row, made=100), OPERATIONS.place("Share")).text == "≥ 10.0 %"


# -- alternatives ---------------------------------------------------------------------------------------------------


def result(alternative: int, total: int | None, fits: bool, delta: int | None = None) -> AlternativeResult:
    peak = None if total is None else Peak(total, 0, total, 0, 0)
    error = None if total is not None else "parts of 2 are refused"
    return AlternativeResult(3, alternative, False, total is not None, error, peak, fits, delta)


def test_alternatives_rank_by_fit_then_peak_and_refused_ones_come_last() -> None:
    recipe = opened("vit3-64tiles.recipe.json").recipe
    assert recipe is not None
    count = len(recipe.alternatives[3])
    results = {
        (3, 0): result(0, 900, False, 5),
        (3, 1): result(1, 800, True),
        (3, 2): result(2, None, False),
        (3, 3): result(3, 700, True, -3),
    }
    rows = alternative_rows(recipe, 3, recipe.in_force(3), recipe.plans[3], results)
    assert [row.index for row in rows] == [3, 1, 0, *range(4, count), 2]
    spec = ALTERNATIVES
    assert spec.cell(rows[3], ALTERNATIVES.place("Own peak")).text == "…"
    assert rows[3].outcome == NOT_COMPUTED
    assert spec.cell(rows[-1], ALTERNATIVES.place("Fits")).text == "! not lowered"
    assert spec.cell(rows[-1], ALTERNATIVES.place("Why")).text == "parts of 2 are refused"
    assert spec.cell(rows[0], ALTERNATIVES.place("Fits")).text == "✓ fits"
    assert spec.cell(rows[0], ALTERNATIVES.place("Δ peak")).text == "−3 B"
    assert spec.cell(rows[2], ALTERNATIVES.place("Fits")).text == "✗ no"
    assert progress_words(rows) == f"4 of {count} evaluated, 2 fit, 1 cannot be lowered"


@pytest.mark.parametrize(("fusion", "total", "add"), [(True, 386_131, 6_198), (False, 390_919, 7_764)])
def test_operations_have_their_share_of_the_cycles(fusion: bool, total: int, add: int):
    """The outermost rows add up to the program's; an Add that went into its Gelu keeps only its copies."""
    recipe = golden_recipe("vit3-64tiles")
    made = estimate(recipe, Overrides(fusion=fusion))
    operations = RecipeOperations(recipe, step_spans(made.timeline), cycles=made.cycles)
    nodes = operations.nodes(NO_HOLDINGS)
    assert sum(node.row.cycles for node in nodes) == total
    rows = {row.operation: row for row in flat_rows(nodes)}
    cell = OPERATIONS.cell(rows[19], OPERATIONS.place("Cycles"))
    assert cell.value == add
    assert f"{add:,} planner's cycles in all runs" in cell.tip
    assert cell.text == f"{100 * add / total:.1f} %"


def test_an_alternative_that_fits_with_the_fusions_alone_says_so():
    """Of operation 21: alternative 1 is 30,504 B over without the fusions, 3 takes no more than the plan in force."""
    recipe = golden_recipe("so400m")
    results = {(21, index): evaluate_alternative(recipe, 21, index) for index in (1, 3)}
    rows = {row.index: row for row in alternative_rows(recipe, 21, recipe.in_force(21), recipe.plans[21], results)}
    cells = {index: ALTERNATIVES.cell(rows[index], ALTERNATIVES.place("Fits")) for index in (1, 3)}
    assert (cells[1].text, cells[3].text) == ("✓ fits fused", "✓ fits")
    composed = estimate(with_swaps(recipe, [(21, 1)]), Overrides(fusion=False)).verdict
    assert f"without them {composed.short_bytes:,} B over" in cells[1].tip
    assert verdict_words(results[21, 1].verdict) == "fits with the compiler's fusions"


def test_the_current_plan_is_marked_in_words_and_differs_by_nothing() -> None:
    recipe = opened("vit3-64tiles.recipe.json").recipe
    assert recipe is not None
    in_force = recipe.in_force(4)
    rows = alternative_rows(recipe, 4, in_force, recipe.plans[4], {})
    current = [row for row in rows if row.is_current]
    assert [row.index for row in current] == [in_force]
    assert ALTERNATIVES.cell(current[0], ALTERNATIVES.place("Alt")).text == f"→ {in_force}"
    assert current[0].is_file_plan
    assert current[0].changes == ()
    assert current[0].all_differences == ()
    assert ALTERNATIVES.line(current[0])[0].lead == f"current: {current[0].words}"
    assert all(row.all_differences for row in rows if not row.is_current and row.plan != recipe.plans[4])


def test_a_current_plan_that_is_no_alternative_has_a_row_of_its_own() -> None:
    recipe = opened("vit3-64tiles.recipe.json").recipe
    assert recipe is not None
    plan = replace(recipe.plans[4], may_alias=(0,))
    rows = alternative_rows(recipe.with_plan(4, plan), 4, None, plan, {})
    own = [row for row in rows if row.index is None]
    assert len(own) == 1
    assert own[0].is_current
    assert ALTERNATIVES.cell(own[0], ALTERNATIVES.place("Total peak")).text == ""


def test_changes_name_the_choices_alone_and_tell_every_alternative_apart() -> None:
    recipe = opened("so400m-over.recipe.json").recipe
    assert recipe is not None
    rows = {row.index: row for row in alternative_rows(recipe, 21, recipe.in_force(21), recipe.plans[21], {})}
    assert [change.words for change in rows[0].changes] == ["grid 8×36×5 → 8×18×9"]
    assert [change.words for change in rows[3].changes] == ["grid 8×36×5 → 4×18×15", "result whole → rows in 5 parts"]
    assert [change.after for change in rows[2].changes] == ["partials streamed one by one"]
    for operation, plans in recipe.alternatives.items():
        found = alternative_rows(recipe, operation, recipe.in_force(operation), recipe.plans[operation], {})
        others = [row for row in found if not row.is_current]
        lines = {tuple(change.words for change in row.changes) for row in others}
        assert len(lines) == len({row.plan for row in others}), (operation, len(plans))
        assert () not in lines or any(row.plan == recipe.plans[operation] for row in others)


def test_own_peaks_are_those_of_the_operations_own_steps() -> None:
    session = opened("so400m-over.recipe.json")
    recipe = session.recipe
    assert recipe is not None
    for operation, alternative in ((21, 0), (21, 1), (21, 3), (4, 1)):
        swapped = estimate(with_swaps(recipe, [(operation, alternative)])).timeline
        assert swapped is not None
        own = max(
            int(swapped.tiles.usage(step.index).sum(axis=1).max()) for step in swapped.steps if step.source == operation
        )
        found = evaluate_alternative(recipe, operation, alternative).own_peak
        assert found is not None
        assert (found.total, found.spare) == (own, 586_960 - 49_152 - own)
    row = alternative_rows(recipe, 21, 1, None, {(21, 0): evaluate_alternative(recipe, 21, 0)})[0]
    assert ALTERNATIVES.cell(row, ALTERNATIVES.place("Own peak")).text == "✓ 47.0 spare"
    assert ALTERNATIVES.cell(row, ALTERNATIVES.place("Δ peak")).text == "−15.4"


def test_a_line_keeps_its_values_whole_and_counts_what_has_no_room() -> None:
    parts = (LinePart("grid 8×36×5 → ", "8×18×9", "grid "), LinePart("result whole → ", "rows in 5 parts", "result "))

    def width(text: str, is_bold: bool) -> int:
        return len(text)

    def line(room: int) -> str:
        return "".join(text for text, _ in fitted_line(parts, room, width))

    assert line(60) == "grid 8×36×5 → 8×18×9, result whole → rows in 5 parts"
    assert line(40) == "grid 8×18×9, result rows in 5 parts"
    assert line(20) == "grid 8×18×9 +1"
    assert line(4) == "grid 8×18×9 +1"
    assert [text for text, is_bold in fitted_line(parts, 60, width) if is_bold] == ["8×18×9", "rows in 5 parts"]


def test_alternatives_are_filtered_by_what_came_out() -> None:
    recipe = opened("so400m-over.recipe.json").recipe
    assert recipe is not None
    results = {
        (21, 0): replace(result(0, 900, True), operation=21),
        (21, 2): replace(result(2, 900, False), operation=21, fits=None),
    }
    rows = alternative_rows(recipe, 21, 1, recipe.plans[21], results)
    groups = [(OperationHead(21, "Gemm", "step 69", 4), rows)]

    def kept(query: str = "", outcome: AlternativeOutcome | None = None) -> list[int | None]:
        return [child.row.index for node in alternative_nodes(groups, query, outcome) for child in node.children]

    assert kept() == [0, 2, 1, 3]
    assert kept(outcome=AlternativeOutcome.NOT_KNOWN) == [2]
    assert kept(outcome=AlternativeOutcome.WAITING) == [1, 3]
    assert kept(outcome=AlternativeOutcome.OVER) == []
    assert kept("not known") == [2]
    assert kept("8×18×9") == [0]
    assert kept("op 21") == [0, 2, 1, 3]
    assert kept("nothing such") == []


def test_an_unavailable_peak_ranks_behind_known_ones() -> None:
    recipe = opened("vit3-64tiles.recipe.json").recipe
    assert recipe is not None
    unknown = AlternativeResult(3, 0, False, True, None, Peak(UNAVAILABLE, 0, UNAVAILABLE, 0, 0), False, None)
    rows = alternative_rows(recipe, 3, None, None, {(3, 0): unknown, (3, 1): result(1, 10**9, False)})
    assert [row.index for row in rows[:2]] == [1, 0]
    assert ALTERNATIVES.cell(rows[1], ALTERNATIVES.place("Total peak")).text == "unavailable"


# -- problems -------------------------------------------------------------------------------------------------------


def test_the_rejected_sample_has_43_invalid_layouts_under_one_row() -> None:
    session = opened("rejected-op0.timeline.json")
    nodes = problem_nodes(session.timeline, session.problems, session.verdict)
    first = nodes[0]
    assert first.row.count == 43
    assert first.row.place == "43 invalid layouts"
    assert len(first.children) == 43
    assert first.children[0].row.place == "vit.embedding.bias"
    assert first.children[0].row.text.startswith("1,472 tiles requested, only 288 grains")
    assert "At most one tile per grain: 288 tiles" in first.children[0].row.hint
    assert all(child.row.repairable for child in first.children)
    assert tally(nodes).startswith("43 errors")
    cell = PROBLEMS.cell(first.row, PROBLEMS.place("Severity"))
    assert cell.text == "✗ error"
    assert cell.tone is Tone.OVER


def test_steps_over_budget_are_one_row_a_run_at_its_worst_step() -> None:
    # reserve 10, budget 100: steps 1, 2 and 4 are over, by 5, 20 and 1
    sizes = [50, 95, 110, 90, 91]
    allocs = [Alloc(f"a{i}", [size, 0], i, i) for i, size in enumerate(sizes)]
    timeline = make_timeline(FakeProgram(2, [Step(source=i) for i in range(5)], allocs, budget=100, reserve=10))
    rows = over_budget(timeline)
    assert [(row.place, row.step, row.tile, row.operation) for row in rows] == [
        ("steps 1 … 2", 2, 0, 2),
        ("step 4", 4, 0, 4),
    ]
    assert rows[0].text.startswith("20 B (0.0 KiB) over the total budget of 100 B at step 2")
    assert "120 B needed, reserve included" in rows[0].text


def test_the_interleaved_region_has_a_limit_of_its_own_without_the_reserve() -> None:
    allocs = [Alloc("a", [1, 51], 0, 0, interleaved=True)]
    timeline = make_timeline(FakeProgram(2, [Step()], allocs, interleaved_budget=50))
    rows = over_budget(timeline)
    assert [(row.kind, row.tile) for row in rows] == [(OVER_BUDGET, 1)]
    assert "1 B (0.0 KiB) over the interleaved region of 50 B" in rows[0].text


def test_a_recipe_that_cannot_be_lowered_has_one_error_with_its_operation() -> None:
    verdict = replace(small_timeline().verdict, fits=False, cause=Cause.CANNOT_LOWER, text="why", operation=7)
    nodes = problem_nodes(None, (), verdict)
    assert [(node.row.text, node.row.operation) for node in nodes] == [("why", 7)]


def test_reported_problems_keep_place_hint_and_severity_and_are_said_once() -> None:
    reported = [
        Problem("warning", "timeline.steps[1]", "usage differs", "the file disagrees with itself", step=1),
        Problem("warning", "timeline.steps[1]", "usage differs", "the file disagrees with itself", step=1),
        Problem("odd", "x", "y"),
    ]
    nodes = problem_nodes(None, reported)
    rows = [row for row in flat_rows(nodes) if not row.count]
    assert [(row.severity, row.place, row.step) for row in rows] == [
        ("warning", "timeline.steps[1]", 1),
        ("warning", "x", None),
    ]


def test_nothing_wrong_is_said_too() -> None:
    assert tally(problem_nodes(None, ())) == "No problems"


def test_notes_come_after_everything_else() -> None:
    timeline = replace(small_timeline(), notes=("gaps are not counted",))
    nodes = problem_nodes(timeline, (Problem("warning", "a", "b"),))
    assert [node.row.severity for node in nodes] == ["error", "warning", "note"]


# -- homes ----------------------------------------------------------------------------------------------------------


def test_homes_on_offer_resolve_and_hold_the_present_one() -> None:
    session = opened("vit3-64tiles.recipe.json")
    recipe = session.recipe
    assert recipe is not None
    for given in recipe.graph.inputs:
        current = recipe.inputs[given.value]
        offers = home_offers(recipe, given.value, current)
        assert current in [offer.format for offer in offers]
        assert len({offer.format for offer in offers}) == len(offers)
        for offer in offers:
            assert offer.format.precision == current.precision
            elements = resolve(given.shape, offer.format.layout).maximum_elements
            assert offer.shard_bytes == elements * (current.precision.element_bytes or 0)
            assert offer.format.layout.tiling.tile_count <= 64


def test_members_of_a_sequence_move_together_and_are_read_inside_the_body() -> None:
    recipe = opened("so400m-over.recipe.json").recipe
    assert recipe is not None
    sequence = recipe.graph.sequences[0]
    assert values_together(recipe.graph, sequence.values[3]) == sequence.values
    readers = consumers(recipe, sequence.values[3])
    assert readers
    assert {reader.copies for reader in readers} == {27}


def test_without_a_home_nothing_is_offered() -> None:
    recipe = opened("vit3-64tiles.recipe.json").recipe
    assert recipe is not None
    assert home_offers(recipe, recipe.graph.inputs[0].value, None) == ()
    assert home_offers(recipe, 10**6, recipe.inputs[recipe.graph.inputs[0].value]) == ()


# -- what if --------------------------------------------------------------------------------------------------------


def test_the_smallest_budget_is_peak_and_reserve() -> None:
    timeline = opened("so400m-over.recipe.json").timeline
    assert timeline is not None
    found = limits(timeline)
    assert found.smallest_budget == 568_312 + 49_152
    assert found.obstacle.startswith("a tile has 586,960 B for plans")
    assert found.largest_reserve == 586_960 - 568_312


def test_a_program_that_fits_names_both_limits() -> None:
    timeline = opened("vit3-64tiles.recipe.json").timeline
    assert timeline is not None
    text = "\n".join(sentences(timeline, Overrides()))
    assert "The smallest budget that fits is 126.0 KiB (129,024 B): total peak 79,872 B + reserve 49,152 B." in text
    assert "The largest reserve that fits this budget is 495.2 KiB (507,088 B)." in text
    assert "What-if values apply." in "\n".join(sentences(timeline, Overrides(600_000)))


def test_what_no_budget_can_change_is_said() -> None:
    timeline = small_timeline()
    lost = replace(timeline, peak=Peak(UNAVAILABLE, 0, UNAVAILABLE, UNAVAILABLE, 0))
    assert isinstance(limits(lost).smallest_budget, Unavailable)
    over = replace(timeline, peak=Peak(0, 500_000, 500_000, 0, 0))
    assert "interleaved peak of 500,000 B" in limits(over).obstacle
    wide = replace(timeline, peak=Peak(430_000, 0, 430_000, 430_000, 0))
    assert "5,120 B too large" in limits(wide).obstacle
    assert sentences(None, Overrides()) == ["No estimate: there is nothing to compare with a budget."]


def test_the_program_that_does_not_stand_counts_for_the_limits() -> None:
    """Composed 568,312 B, fused 552,568 B: a budget between the two fits, for then the fused one stands."""
    made = estimate(golden_recipe("so400m-over"))
    assert made.timeline is not None
    assert made.other_peak is not None
    assert made.other_peak.total == 552_568
    found = limits(made.timeline, made.other_peak)
    reserve = made.timeline.reserve_bytes
    assert found.smallest_budget == limits(made.timeline).smallest_budget == 568_312 + reserve  # over what a tile has
    little = estimate(golden_recipe("so400m-over"), Overrides(reserve_bytes=34_393))
    assert little.timeline is not None
    found = limits(little.timeline, little.other_peak)
    assert found.largest_reserve == 586_960 - 568_312
    fits = estimate(golden_recipe("so400m-over"), Overrides(reserve_bytes=10_000))
    assert fits.timeline is not None
    assert limits(fits.timeline, fits.other_peak).smallest_budget == 552_568 + 10_000
    less = estimate(golden_recipe("so400m-over"), Overrides(budget_bytes=560_000, reserve_bytes=10_000))
    assert less.timeline is not None
    assert less.timeline.peak.total == 568_312
    assert limits(less.timeline, less.other_peak).smallest_budget == 552_568 + 10_000
    assert "562,568 B" in "\n".join(sentences(less.timeline, Overrides(), less.other_peak))
