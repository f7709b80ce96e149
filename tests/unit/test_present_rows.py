"""Rows of operations, alternatives and problems; homes on offer; what-if limits."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.helpers.fake_timeline import Alloc, FakeProgram, Step, make_timeline, small_timeline
from tests.helpers.opened import opened
from tileview.analysis.alternatives import AlternativeResult
from tileview.core.geometry.resolve import resolve
from tileview.model.recipe import Overrides
from tileview.model.sizes import UNAVAILABLE, Unavailable
from tileview.model.timeline import Cause, Peak, Problem
from tileview.present.allocation_rows import AllocationFigures
from tileview.present.alternative_rows import (
    NOT_COMPUTED,
    AlternativeColumn,
    AlternativeSpec,
    alternative_rows,
    progress_words,
)
from tileview.present.offers import consumers, home_offers, values_together
from tileview.present.operation_rows import (
    INPUTS,
    NO_SHARES,
    OperationColumn,
    OperationSpec,
    StepOperations,
    owners_of_values,
    recipe_nodes,
    shares,
    step_spans,
)
from tileview.present.problem_rows import OVER_BUDGET, ProblemColumn, ProblemSpec, over_budget, problem_nodes, tally
from tileview.present.tables import Tone, flat_rows
from tileview.present.whatif import limits, sentences

# -- operations -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["vit3-64tiles.recipe.json", "so400m-over.recipe.json"])
def test_shares_of_the_outermost_rows_add_up_to_the_usage(name: str) -> None:
    session = opened(name)
    recipe, timeline = session.recipe, session.timeline
    assert recipe is not None
    assert timeline is not None
    owners = owners_of_values(recipe.graph)
    for step in range(0, len(timeline.steps), 9):
        table = AllocationFigures(timeline).table(step)
        nodes = recipe_nodes(recipe, shares(table, timeline, owners), step_spans(timeline))
        assert sum(node.row.bytes for node in nodes) == int(timeline.tiles.worst()[step, 2])


def test_operations_stand_in_graph_order_with_bodies_under_their_repeat() -> None:
    recipe = opened("so400m-over.recipe.json").recipe
    assert recipe is not None
    nodes = recipe_nodes(recipe, NO_SHARES, {})
    assert [node.key for node in nodes] == [operation.id for operation in recipe.graph.operations]
    repeat = next(node for node in nodes if node.row.kind == "Repeat × 27")
    assert repeat.key == 24
    assert [child.key for child in repeat.children] == list(range(3, 24))


def test_first_and_last_steps_and_alternatives_are_those_of_the_file() -> None:
    session = opened("so400m-over.recipe.json")
    recipe, timeline = session.recipe, session.timeline
    assert recipe is not None
    assert timeline is not None
    rows = {row.operation: row for row in flat_rows(recipe_nodes(recipe, NO_SHARES, step_spans(timeline)))}
    body = {operation.id for operation, around in recipe.graph.walk() if 24 in around}
    for operation, row in rows.items():
        wanted = {24, *body} if operation == 24 else {operation}
        own = [step.index for step in timeline.steps if step.source in wanted]
        assert (row.first_step, row.last_step) == ((own[0], own[-1]) if own else (None, None))
    assert rows[21].alternatives == len(recipe.alternatives[21])


def test_edited_and_unknown_operations_are_marked_in_words() -> None:
    recipe = opened("vit3-64tiles.recipe.json").recipe
    assert recipe is not None
    spec = OperationSpec()
    rows = {
        row.operation: row
        for row in flat_rows(recipe_nodes(recipe, NO_SHARES, {}, edited=[4], unknown={5: "no such dispatch"}))
    }
    assert spec.cell(rows[4], OperationColumn.PLAN).text.startswith("* ")
    assert spec.cell(rows[5], OperationColumn.OPERATION).text == "? 5"
    assert spec.cell(rows[5], OperationColumn.OPERATION).tip == "Unknown: no such dispatch"
    assert spec.cell(rows[6], OperationColumn.OPERATION).text == "6"


def test_a_filter_keeps_the_repeat_around_what_it_finds() -> None:
    recipe = opened("vit3-64tiles.recipe.json").recipe
    assert recipe is not None
    nodes = recipe_nodes(recipe, NO_SHARES, {}, query="gelu")
    repeat = next(node for node in nodes if node.children)
    assert {child.row.kind for child in repeat.children} == {"Gelu"}


def test_a_timeline_alone_shows_operations_with_their_steps() -> None:
    timeline = small_timeline()
    share = shares(AllocationFigures(timeline).table(5, 2), timeline, None)
    nodes = StepOperations(timeline).nodes(share)
    assert [(node.row.operation, [child.row.step for child in node.children]) for node in nodes] == [
        (0, [0]),
        (1, [1]),
        (2, [2]),
        (3, [3]),
        (4, [4]),
        (5, [5, 6]),
        (6, [7]),
    ]
    # wide and result are first live at step 5; product at step 1; weights from the start
    assert share.bytes == {None: 64 * 1024, 1: 64 * 1024, 5: 508 * 1024}


def test_what_stems_from_inputs_has_its_own_row() -> None:
    session = opened("so400m-over.recipe.json")
    recipe, timeline = session.recipe, session.timeline
    assert recipe is not None
    assert timeline is not None
    share = shares(AllocationFigures(timeline).table(0), timeline, owners_of_values(recipe.graph))
    nodes = recipe_nodes(recipe, share, {})
    assert nodes[0].key == INPUTS
    assert nodes[0].row.bytes == share.bytes[None]


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
    assert [row.rank for row in rows[:4]] == [1, 2, 3, None]
    spec = AlternativeSpec()
    assert spec.cell(rows[3], AlternativeColumn.FITS).text == NOT_COMPUTED
    assert spec.cell(rows[-1], AlternativeColumn.FITS).text == "! refused"
    assert spec.cell(rows[-1], AlternativeColumn.WHY).text == "cannot be lowered: parts of 2 are refused"
    assert spec.cell(rows[0], AlternativeColumn.FITS).text == "✓ fits"
    assert spec.cell(rows[0], AlternativeColumn.DELTA).text == "−3 B"
    assert spec.cell(rows[2], AlternativeColumn.FITS).text == "✗ no"
    assert progress_words(rows) == f"4 of {count} evaluated, 2 fit, 1 cannot be lowered"


def test_the_plan_in_force_is_marked_in_words_and_differs_by_nothing() -> None:
    recipe = opened("vit3-64tiles.recipe.json").recipe
    assert recipe is not None
    in_force = recipe.in_force(4)
    rows = alternative_rows(recipe, 4, in_force, recipe.plans[4], {})
    current = [row for row in rows if row.in_force]
    assert [row.index for row in current] == [in_force]
    assert AlternativeSpec().cell(current[0], AlternativeColumn.ALTERNATIVE).text == f"▶ {in_force}"
    assert current[0].differences == "in force, the file's plan"
    assert current[0].all_differences == ()
    assert all(row.all_differences for row in rows if not row.in_force and row.plan != recipe.plans[4])


def test_a_plan_in_force_that_is_no_alternative_has_a_row_of_its_own() -> None:
    recipe = opened("vit3-64tiles.recipe.json").recipe
    assert recipe is not None
    plan = replace(recipe.plans[4], may_alias=(0,))
    rows = alternative_rows(recipe.with_plan(4, plan), 4, None, plan, {})
    own = [row for row in rows if row.index is None]
    assert len(own) == 1
    assert own[0].in_force
    assert AlternativeSpec().cell(own[0], AlternativeColumn.PEAK).text == ""


def test_an_unavailable_peak_ranks_behind_known_ones() -> None:
    recipe = opened("vit3-64tiles.recipe.json").recipe
    assert recipe is not None
    unknown = AlternativeResult(3, 0, False, True, None, Peak(UNAVAILABLE, 0, UNAVAILABLE, 0, 0), False, None)
    rows = alternative_rows(recipe, 3, None, None, {(3, 0): unknown, (3, 1): result(1, 10**9, False)})
    assert [row.index for row in rows[:2]] == [1, 0]
    assert AlternativeSpec().cell(rows[1], AlternativeColumn.PEAK).text == "unavailable"


# -- problems -------------------------------------------------------------------------------------------------------


def test_the_rejected_sample_has_43_invalid_layouts_under_one_row() -> None:
    session = opened("rejected-op0.timeline.json")
    nodes = problem_nodes(session.timeline, session.problems, session.verdict)
    first = nodes[0]
    assert first.row.count == 43
    assert first.row.place == "43 invalid layouts"
    assert len(first.children) == 43
    assert first.children[0].row.place == "vit.embedding.bias"
    assert first.children[0].row.text.startswith("1472 owners asked of 288 grains")
    assert "At most 288 owners" in first.children[0].row.hint
    assert all(child.row.repairable for child in first.children)
    assert tally(nodes).startswith("43 errors")
    cell = ProblemSpec().cell(first.row, ProblemColumn.SEVERITY)
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
        Problem("warning", "timeline.steps.1", "usage differs", "the file disagrees with itself", step=1),
        Problem("warning", "timeline.steps.1", "usage differs", "the file disagrees with itself", step=1),
        Problem("odd", "x", "y"),
    ]
    nodes = problem_nodes(None, reported)
    rows = [row for row in flat_rows(nodes) if not row.count]
    assert [(row.severity, row.place, row.step) for row in rows] == [
        ("warning", "timeline.steps.1", 1),
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
    assert "What-if values are in force." in "\n".join(sentences(timeline, Overrides(600_000)))


def test_what_no_budget_can_change_is_said() -> None:
    timeline = small_timeline()
    lost = replace(timeline, peak=Peak(UNAVAILABLE, 0, UNAVAILABLE, UNAVAILABLE, 0))
    assert isinstance(limits(lost).smallest_budget, Unavailable)
    over = replace(timeline, peak=Peak(0, 500_000, 500_000, 0, 0))
    assert "interleaved peak of 500,000 B" in limits(over).obstacle
    wide = replace(timeline, peak=Peak(430_000, 0, 430_000, 430_000, 0))
    assert "5,120 B too large" in limits(wide).obstacle
    assert sentences(None, Overrides()) == ["No estimate: there is nothing to hold against a budget."]
