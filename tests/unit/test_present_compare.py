"""States side by side: figures, differences, and matching of allocations by name."""

from __future__ import annotations

from dataclasses import replace

from tests.helpers.fake_timeline import Alloc, FakeProgram, Step, make_timeline, plain, small_timeline
from tests.helpers.opened import estimate, opened
from tileview.model.sizes import UNAVAILABLE
from tileview.model.timeline import Peak, Timeline
from tileview.present.compare_rows import (
    CompareRow,
    CompareSpec,
    CompareState,
    Section,
    compare_nodes,
    peak_loads,
)
from tileview.present.state_charts import state_curves
from tileview.present.tables import Tone, flat_rows
from tileview.session import edits


def state(name: str, timeline: Timeline) -> CompareState:
    return CompareState(name, timeline.verdict, timeline, None)


def make(*allocs: Alloc) -> Timeline:
    return make_timeline(FakeProgram(1, [Step()], allocs))


def rows(states: list[CompareState], section: Section) -> list[CompareRow]:
    return [row for row in flat_rows(compare_nodes(states)) if row.section is section and not row.is_head]


def row(states: list[CompareState], label: str) -> CompareRow:
    return next(found for found in flat_rows(compare_nodes(states)) if found.label == label)


def test_figures_stand_beside_each_other_with_bytes_and_per_cent() -> None:
    states = [state("a", make(Alloc("x", 1000 * 1024, 0, 0))), state("b", make(Alloc("x", 1024 * 1024, 0, 0)))]
    found = row(states, "Total peak")
    assert [entry.size for entry in found.entries if entry] == [1_024_000, 1_048_576]
    spec = CompareSpec(["a", "b"])
    assert spec.cell(found, 1).text == "1,000.0 KiB"
    assert spec.cell(found, 2).text == "1,024.0 KiB  (+24.0 KiB, +2.4 %)"
    assert spec.cell(found, 2).tip == "1,048,576 B  (+24,576 B, +2.4 %)"
    assert spec.cell(found, 2).tone is Tone.OVER
    assert spec.cell(found, 3).text == ""


def test_equal_figures_are_called_the_same() -> None:
    states = [state("a", small_timeline()), state("b", small_timeline())]
    assert CompareSpec(["a", "b"]).cell(row(states, "Total peak"), 2).text.endswith("(same)")
    assert [node.row.label for node in compare_nodes(states) if node.row.is_head] == []


def test_an_unavailable_figure_is_no_number_and_gives_no_difference() -> None:
    timeline = small_timeline()
    peak = Peak(UNAVAILABLE, 0, UNAVAILABLE, UNAVAILABLE, 0)
    states = [state("a", timeline), state("b", replace(timeline, peak=peak))]
    entry = row(states, "Total peak").entries[1]
    assert entry is not None
    assert entry.delta is None
    assert entry.text == "unavailable"


def test_allocations_at_the_peak_are_matched_by_name_and_the_largest_difference_comes_first() -> None:
    a = make(Alloc("grown", 100, 0, 0), Alloc("same", 7, 0, 0), Alloc("gone", 30, 0, 0))
    b = make(Alloc("new", 300, 0, 0), Alloc("same", 7, 0, 0), Alloc("grown", 150, 0, 0))
    found = rows([state("a", a), state("b", b)], Section.ALLOCATIONS)
    assert [(plain(r.label), [e and e.size for e in r.entries], [e and e.delta for e in r.entries]) for r in found] == [
        ("new", [None, 300], [None, 300]),
        ("grown", [100, 150], [None, 50]),
        ("gone", [30, None], [None, -30]),
    ]


def test_differences_of_allocations_add_up_to_that_of_the_load() -> None:
    session = opened("so400m-over.recipe.json")
    before = session.timeline
    session.swap(21, 0)
    estimate(session)
    after = session.timeline
    assert before is not None
    assert after is not None
    states = [state("before", before), state("after", after)]
    loads = peak_loads(states)
    assert loads[0] is not None
    assert loads[1] is not None
    found = rows(states, Section.ALLOCATIONS)
    deltas = [row.entries[1].delta for row in found if row.entries[1] is not None]
    assert sum(delta for delta in deltas if delta is not None) == loads[1].total - loads[0].total
    assert loads[0].total == 568_312


def test_a_third_state_is_matched_through_the_ones_before_it() -> None:
    a, b, c = make(Alloc("x", 1, 0, 0)), make(Alloc("y", 2, 0, 0)), make(Alloc("x", 3, 0, 0), Alloc("y", 4, 0, 0))
    found = rows([state("a", a), state("b", b), state("c", c)], Section.ALLOCATIONS)
    assert {plain(r.label): [e and e.size for e in r.entries] for r in found} == {"x": [1, None, 3], "y": [None, 2, 4]}
    unmatched = {
        r.label: [e and e.text for e in r.entries] for r in rows([state("a", a), state("b", b)], Section.UNMATCHED)
    }
    assert unmatched == {"x": ["1 value", "–"], "y": ["–", "1 value"]}


def test_plans_homes_and_boundaries_that_differ_are_named() -> None:
    session = opened("vit3-64tiles.recipe.json")
    recipe, verdict = session.recipe, session.verdict
    assert recipe is not None
    assert verdict is not None
    operation = 4
    other = next(i for i, plan in enumerate(recipe.alternatives[operation]) if plan != recipe.plans[operation])
    session.swap(operation, other)
    result = next(found for found, _ in recipe.graph.walk() if found.id == operation).results[0]
    session.do(edits.set_boundary(session.state, result, result not in recipe.open_boundaries))
    estimate(session)
    changed = session.recipe
    states = [
        CompareState("file", verdict, None, recipe),
        CompareState("edited", verdict, None, changed),
    ]
    plans = rows(states, Section.PLANS)
    assert [r.label for r in plans] == ["Operation 4"]
    assert plans[0].operation == 4
    entry = plans[0].entries[1]
    assert entry is not None
    assert "→" in entry.tip
    assert [r.label for r in rows(states, Section.BOUNDARIES)] == [f"Value {result}"]
    assert rows(states, Section.HOMES) == []


def test_a_state_without_a_timeline_has_empty_cells() -> None:
    timeline = small_timeline()
    states = [state("a", timeline), CompareState("b", timeline.verdict, None, None)]
    assert row(states, "Total peak").entries[1] is None
    assert compare_nodes([]) == ()


def test_curves_of_states_stand_at_the_steps_of_the_first() -> None:
    before = make_timeline(
        FakeProgram(1, [Step(source=0), Step(source=1), Step(source=2)], [Alloc("a", 10, 0, 2), Alloc("b", 90, 1, 1)])
    )
    steps = [Step(source=0), Step(source=1), Step(source=1), Step(source=7), Step(source=2)]
    after = make_timeline(FakeProgram(1, steps, [Alloc("a", 10, 0, 4), Alloc("b", 50, 2, 2), Alloc("c", 500, 3, 3)]))
    reserve = before.reserve_bytes
    shown = state_curves([state("a", before), state("b", after), CompareState("c", after.verdict, None, None)])
    first, second, third = shown.curves
    assert third is None
    assert first.needed.tolist() == [10 + reserve, 100 + reserve, 10 + reserve]
    # Operation 1 takes two steps now: the larger of them stands at its one step.
    assert second.needed.tolist() == [10 + reserve, 60 + reserve, 10 + reserve]
    assert second.ranges.tolist() == [[0, 1], [1, 3], [4, 5]]
    assert second.difference.tolist() == [0, -40, 0]
    assert first.difference.tolist() == [0, 0, 0]
    assert [second.place_of(step) for step in range(5)] == [0, 1, 1, None, 2]
    # Step 3 of the second, its fullest, is of an operation that the first has not: that is said.
    assert second.lost == f"its fullest step, 3 ({(510 + reserve) / 1024:.1f} KiB), has no counterpart"
    assert first.lost == ""
    assert shown.reach == 40
    assert "A  48.1 KiB (step 1)" in shown.tip("ABC", 1)
    assert "B  48.1 KiB, −40 B (steps 1 to 2)" in shown.tip("ABC", 1)
    assert "C  no such step" in shown.tip("ABC", 1)


def test_curves_are_shared_out_among_the_operations_that_make_the_bytes() -> None:
    """In every state the layers add up to what is drawn, at the step that is drawn; a colour is an operation's own."""
    before = make_timeline(
        FakeProgram(1, [Step(source=0), Step(source=1), Step(source=2)], [Alloc("a", 10, 0, 2), Alloc("b", 90, 1, 1)])
    )
    steps = [Step(source=0), Step(source=1), Step(source=1), Step(source=2)]
    after = make_timeline(FakeProgram(1, steps, [Alloc("a", 10, 0, 3), Alloc("b", 50, 2, 2)]))
    states = [state("a", before), state("b", after)]
    for curve in state_curves(states, {1: 3}).curves:
        assert curve is not None
        layers = {layer.operation: layer for layer in curve.layers if layer.kind == "group"}
        assert layers[1].place == 3
        total = sum(layer.sizes for layer in curve.layers)
        assert total.tolist() == (curve.needed - before.reserve_bytes).tolist()
    made = [layer.sizes.tolist() for layer in state_curves(states, {1: 3}).curves[1].layers if layer.operation == 1]
    assert made == [[0, 50, 0]]
    assert state_curves(states, {1: 3}, most=2).curves[0].layers == ()


def test_all_curves_share_the_largest_scale() -> None:
    timeline = small_timeline()
    # fullest tile: 64 + 64 + 500 + 8 KiB at step 5, and the reserve of 48 KiB
    shown = state_curves([state("a", timeline), state("b", make(Alloc("x", 1, 0, 0)))])
    assert shown.high == (636 + 48) * 1024
    assert shown.low == 0
    assert state_curves([]).steps == 0


def test_csv_names_the_states() -> None:
    states = [state("a", make(Alloc("x", 1, 0, 0))), state("b", make(Alloc("x", 2, 0, 0)))]
    lines = CompareSpec(["a", "b"]).csv(compare_nodes(states)).split("\r\n")
    assert lines[0].startswith("What,a,b")
    assert lines[2].startswith("Total peak,1,2")
