"""Words, figures, colours and legend of the graph's boxes; the rows of the list of steps."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.helpers.fake_timeline import Alloc, FakeProgram, Step, make_timeline, small_timeline
from tests.helpers.graphs import graph, operation, transformer
from tileview.analysis.holdings import holdings, input_readers, owners_of_values
from tileview.analysis.overflows import TOTAL, Overflow
from tileview.core.cycles.prices import UNPRICED, Price, ProgramCycles
from tileview.graphlayout import NodeKind, read_structure
from tileview.model.plan import (
    AttentionDispatch,
    AttentionOperator,
    BlockedGemm,
    GemmOperator,
    LayerNormOperator,
    LayerNormParts,
    Orientation,
    OutputStationary,
    ParallelReduction,
    Plan,
    Pointwise,
    Requirement,
    Staging,
    StagingKind,
    Unknown,
    ViewDispatch,
    ViewOperator,
)
from tileview.model.sizes import UNAVAILABLE as NO_SIZE
from tileview.model.tensor import F16, ROW_MAJOR, Axis, AxisBase, Format, Layout, Tiling
from tileview.model.timeline import Timeline
from tileview.present.allocation_rows import AllocationFigures
from tileview.present.graph_boxes import (
    MADE,
    READ,
    UNAVAILABLE,
    ColourMode,
    GraphStyle,
    NodeFigures,
    StepState,
    cycle_figures,
    graph_style,
    no_figures,
    no_marks,
    node_figures,
    node_marks,
    node_words,
    short_plan,
)
from tileview.present.operation_colours import operation_colours
from tileview.present.operation_rows import step_spans
from tileview.present.scales import contrast
from tileview.present.step_rows import StepColumn, StepSpec, step_nodes

KIB = 1024
REQUIREMENT = Requirement(Format(F16, Layout(ROW_MAJOR, Tiling(1, 1, (Axis(AxisBase.LINEAR, 0, 1),)))))
COLOURS = [(0, 114, 178), (230, 159, 0), (125, 132, 144)]
"""Two categories, and the grey of all other operations."""
STATES = [(255, 255, 255), (240, 240, 240), (230, 230, 230), (200, 220, 250), (10, 90, 170)]


def plan(operator: object, dispatch: object) -> Plan:
    return Plan(operator, dispatch, (), REQUIREMENT)  # type: ignore[arg-type]


def gemm(distribution: object, orientation: Orientation = Orientation.NORMAL) -> Plan:
    return plan(GemmOperator(False, False, F16, F16), BlockedGemm(144, 16, orientation, distribution))  # type: ignore[arg-type]


REDUCTION = ParallelReduction(8, 46, 4, 8, 46, Staging(StagingKind.COMPLETE))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (gemm(REDUCTION, Orientation.SWAPPED), "grid 8 × 46 × 4, F16, swapped"),
        (gemm(OutputStationary()), "output stationary, F16"),
        (gemm(Unknown("Ring", "{}")), "unknown distribution Ring, F16"),
        (plan(LayerNormOperator(), LayerNormParts(4)), "in 4 parts"),
        (plan(LayerNormOperator(), Pointwise("LayerNorm")), "on 1 tile"),
        (plan(ViewOperator(2, 0, 4, False), ViewDispatch()), "one copy"),
        (plan(Unknown("Sort", "{}"), ViewDispatch()), "unknown operator Sort"),
        (plan(LayerNormOperator(), Unknown("Fused", "{}")), "unknown dispatch Fused"),
        (
            plan(AttentionOperator(False, "s", F16), AttentionDispatch((None, None), None, None, False, 64, 80, 80)),
            "online, 64 key rows a block",
        ),
    ],
)
def test_a_plan_in_the_words_of_a_box(given: Plan, words: str) -> None:
    assert short_plan(given) == words


def test_what_boxes_say() -> None:
    model = transformer(27)
    structure = read_structure(model)
    words = node_words(structure, model, {2: gemm(REDUCTION)}, [2], {4: "its plan is not known"})
    by = {structure.nodes[index].operation: entry for index, entry in enumerate(words)}
    assert by[2].title == "2 Gemm"
    assert by[2].detail == "* grid 8 × 46 × 4, F16"
    assert by[2].is_edited
    assert by[6].title == "6 Repeat ×27"
    assert by[6].detail == "5 operations"
    assert by[7].title == "? 7 Sort"
    assert by[7].is_unknown
    joined = node_words(structure, model, {}, fused={1: 0})
    assert joined[structure.by_operation[1]].detail == "in the step of op 0"
    assert by[4].title == "? 4 Gelu"
    assert "Unknown: its plan is not known" in by[4].tip
    assert "Reads 1 parameter: w1" in by[0].tip
    assert "Makes [1,64]" in by[0].tip
    port = next(entry for entry, node in zip(words, structure.nodes, strict=True) if node.kind is NodeKind.ARGUMENT)
    assert port.title == "carried 0"


def example() -> tuple[Timeline, object]:
    """x0 → 0 → 1 → 2: three operations on two tiles, four steps; operation 2 has none.

    Live at step 1 on tile 0: the input 8 KiB, the result of 0 40 KiB, that of 1 (16 + 4 of a temporary), scratch 12.
    """
    kib = KIB
    steps = [Step("Copy", 0), Step("Product", 1, scratch=[12 * kib, 0]), Step("Cast", None), Step("Add", 1)]
    allocs = [
        Alloc("x0", [8 * kib, 8 * kib], 0, 1, parameter=True),
        Alloc("result of 0", [40 * kib, 0], 0, 1),
        Alloc("result of 1", [16 * kib, 16 * kib], 1, 3),
        Alloc("temporary of 1", [4 * kib, 0], 1, 1),
    ]
    timeline = make_timeline(FakeProgram(2, steps, allocs))
    origins = [0, 1, 2, 2]
    values = tuple(dataclasses.replace(value, origin=origins[value.id]) for value in timeline.values)
    model = graph([operation(0, [0], [1]), operation(1, [1], [2]), operation(2, [2], [3])], [3])
    return dataclasses.replace(timeline, values=values), model


def figures_at(step: int, tile: int | None = 0) -> tuple[object, NodeFigures]:
    timeline, model = example()
    structure = read_structure(model)  # type: ignore[arg-type]
    owners = owners_of_values(model)  # type: ignore[arg-type]
    table = AllocationFigures(timeline).table(step, tile)
    assert table.tile is not None
    held = holdings(timeline, step, table.tile, owners, input_readers(model))  # type: ignore[arg-type]
    return structure, node_figures(structure, held, timeline, step, table.tile, owners)


class TestFigures:
    def test_bytes_add_up_to_the_usage(self) -> None:
        structure, figures = figures_at(1)
        nodes = [node for node in structure.nodes if not node.is_port]  # type: ignore[attr-defined]
        assert {node.operation: figures.own[node.index] for node in nodes} == {
            0: 40 * KIB,
            1: (16 + 4 + 12) * KIB,
            2: 0,
        }
        assert {node.operation: figures.read[node.index] for node in nodes} == {0: 8 * KIB, 1: 0, 2: 0}
        assert figures.outside == 0
        assert figures.usage == 80 * KIB
        assert figures.bytes.sum() + figures.outside == figures.usage

    def test_states_at_a_step(self) -> None:
        structure, figures = figures_at(1)
        by = {node.operation: StepState(figures.states[node.index]) for node in structure.nodes if not node.is_port}  # type: ignore[attr-defined]
        assert by == {0: StepState.HOLDS, 1: StepState.RUNS, 2: StepState.IDLE}
        structure, figures = figures_at(0)
        assert StepState(figures.states[structure.by_operation[1]]) is StepState.COMING  # type: ignore[attr-defined]
        structure, figures = figures_at(2)
        assert StepState(figures.states[structure.by_operation[0]]) is StepState.DONE  # type: ignore[attr-defined]
        assert figures.runs == -1

    def test_a_repeat_holds_what_its_body_holds(self) -> None:
        model = transformer()
        structure = read_structure(model)
        timeline = small_timeline()
        # Values 1 … 4 stem from operations 1 … 4 of the body (results 11 … 14), value 0 from the graph's parameter 1.
        origins = [1, 11, 12, 13, 14]
        values = tuple(dataclasses.replace(value, origin=origins[value.id]) for value in timeline.values)
        timeline = dataclasses.replace(timeline, values=values)
        owners = owners_of_values(model)
        held = holdings(timeline, 5, 0, owners, input_readers(model))
        figures = node_figures(structure, held, timeline, 5, 0, owners)
        own = [figures.own[structure.by_operation[number]] for number in (1, 2, 3, 4, 5)]
        # What lives then is first live at a step of operation 5, which makes it.
        assert own == [0, 0, 0, 0, 108 * KIB]
        assert figures.own[structure.by_operation[6]] == 108 * KIB
        # The parameter is read by operation 0, outside the body.
        assert figures.read[structure.by_operation[6]] == 0
        assert figures.read[structure.by_operation[0]] == int(timeline.tiles.allocation(0)[0])
        assert StepState(figures.states[structure.by_operation[6]]) is StepState.RUNS

    def test_first_and_last_steps(self) -> None:
        assert step_spans(example()[0]) == {0: (0, 0), 1: (1, 3)}


def styled(structure: object, figures: NodeFigures, mode: ColourMode = ColourMode.SHARE) -> GraphStyle:
    colours = COLOURS if mode is ColourMode.SHARE else STATES
    return graph_style(structure, figures, no_marks(structure), mode, colours)  # type: ignore[arg-type]


def overflow(operation: int | None, over: int) -> Overflow:
    return Overflow(TOTAL, 1, 1, 1, 0, 1, operation, over, ())


class TestStyle:
    def test_shares_and_legend_say_the_same(self) -> None:
        structure, figures = figures_at(1)
        style = styled(structure, figures)
        node = structure.by_operation  # type: ignore[attr-defined]
        assert style.share_text(node[0]) == "50.0 %"
        assert style.share_text(node[1]) == "40.0 %"
        assert style.share_text(node[2]) == "0.0 %"
        assert style.read_text(node[0]) == "input 10.0 %"
        assert style.read_text(node[1]) == ""
        assert style.figure_tip(node[0]) == (
            "Makes 40.0 KiB (40,960 B) on tile 0 at step 1, 50.0 % of 81,920 B",
            "The parameters and inputs it reads hold 8.0 KiB (8,192 B) there, 10.0 % of 81,920 B",
        )
        assert style.figure_tip(node[2]) == ("Makes nothing on tile 0 at step 1",)
        # Bars reach as far as the shares of the whole.
        assert style.bars[node[0]].tolist() == [0.5, 0.6]
        assert style.bars[node[1]].tolist() == [0.4, 0.4]
        assert style.bars[node[2]].tolist() == [0.0, 0.0]
        assert style.legend == (
            (MADE, "made by its plan"),
            (READ, "parameters it reads"),
            ("", "on tile 0, step 1: 81,920 B"),
        )
        assert style.running == node[1]

    def test_operations_have_the_colour_of_their_category_and_the_rest_is_grey(self) -> None:
        structure, figures = figures_at(1)
        node = structure.by_operation  # type: ignore[attr-defined]
        marks = node_marks(structure, (), {1: 0, 0: 1})  # type: ignore[arg-type]
        style = graph_style(structure, figures, marks, ColourMode.SHARE, COLOURS)  # type: ignore[arg-type]
        assert [style.shade[node[number]] for number in range(3)] == [1, 0, 2]
        ports = [entry.index for entry in structure.nodes if entry.is_port]  # type: ignore[attr-defined]
        assert {int(style.shade[port]) for port in ports} == {-1}

    def test_a_repeat_has_the_first_colour_and_the_worst_fault_of_its_body(self) -> None:
        structure = read_structure(transformer())
        marks = node_marks(structure, (overflow(3, 2048), overflow(5, 1024), overflow(None, 9)), {5: 1, 4: 0, 0: 2})
        node = structure.by_operation
        assert [int(marks.colours[node[number]]) for number in (6, 4, 5, 0, 3)] == [0, 0, 1, 2, -1]
        assert marks.faults == {node[3]: (3, 2048), node[5]: (5, 1024), node[6]: (3, 2048)}
        assert marks.worst == node[3]
        style = graph_style(structure, no_figures(structure), marks, ColourMode.SHARE, COLOURS)
        assert [style.over_text(node[number]) for number in (3, 5, 6, 0)] == [
            "2.0 KiB over",
            "1.0 KiB over",
            "op 3: 2.0 KiB over",
            "",
        ]

    def test_nothing_is_at_fault_where_an_overflow_names_no_operation_of_the_graph(self) -> None:
        structure = read_structure(transformer())
        for found in ((), (overflow(None, 9),), (overflow(99, 9),)):
            marks = node_marks(structure, found, {99: 0})
            assert (marks.worst, marks.faults, set(marks.colours.tolist())) == (-1, {}, {-1})

    def test_parameters_and_inputs_are_told_apart_where_they_can_be(self) -> None:
        # Operation 0 reads an input and a parameter, 1 only parameters, 2 only an input.
        steps = [operation(0, [0, 1], [4]), operation(1, [4, 1, 2], [5]), operation(2, [5, 0], [6])]
        structure = read_structure(graph(steps, [6], [0], [1, 2]))
        nodes = [structure.by_operation[number] for number in range(3)]
        read = np.zeros(len(structure.nodes), dtype=np.int64)
        read[nodes] = 10
        figures = dataclasses.replace(no_figures(structure), read=read, usage=100, step=0, tile=0, has_hosts=True)
        style = styled(structure, figures)
        assert [style.read_text(node) for node in nodes] == ["reads 10.0 %", "params 10.0 %", "input 10.0 %"]
        assert (READ, "parameters and inputs it reads") in style.legend
        style = styled(structure, dataclasses.replace(figures, has_hosts=False))
        assert style.read_text(nodes[0]) == "param 10.0 %"

    def test_what_belongs_to_no_box_and_what_several_read_is_said(self) -> None:
        structure, figures = figures_at(1)
        style = styled(structure, dataclasses.replace(figures, outside=4096, shared=8192))
        assert [words for shown, words in style.legend if not shown][1:] == [
            "5.0 % (4,096 B) belong to no box",
            "10.0 % (8,192 B) are read by several operations: counted for the first",
        ]

    def test_unavailable_sizes_are_marked_and_the_sum_is_at_least(self) -> None:
        timeline = make_timeline(
            FakeProgram(1, [Step("Copy", 0)], [Alloc("known", 4 * KIB, 0, 0), Alloc("unknown", None, 0, 0)])
        )
        model = graph([operation(0, [0], [1]), operation(1, [1], [2])], [2])
        values = tuple(dataclasses.replace(value, origin=1 + value.id) for value in timeline.values)
        timeline = dataclasses.replace(timeline, values=values)
        structure, owners = read_structure(model), owners_of_values(model)
        held = holdings(timeline, 0, 0, owners, input_readers(model))
        style = styled(structure, node_figures(structure, held, timeline, 0, 0, owners))
        assert style.share_text(structure.by_operation[1]) == "n/a"
        assert "1 allocation unavailable" in style.figure_tip(structure.by_operation[1])[0]
        assert ("", "on tile 0, step 0: at least 4,096 B") in style.legend
        assert (UNAVAILABLE, "size unavailable") in style.legend

    def test_cycles_in_place_of_bytes(self) -> None:
        structure, figures = figures_at(1)
        # Operation 0 once for 60, 10 of them exchange, operation 1 ten times for 2 and 1; 10 belong to no operation.
        prices = (Price(60, 10), Price(2, 1), Price(10, 0))
        cycles = ProgramCycles(prices, (1, 10, 1), (0, 1, None), 90, 20, 90)
        style = styled(structure, cycle_figures(structure, cycles, figures), ColourMode.CYCLES)  # type: ignore[arg-type]
        node = structure.by_operation  # type: ignore[attr-defined]
        assert [style.share_text(node[number]) for number in range(3)] == ["66.7 %", "22.2 %", "0.0 %"]
        assert [style.read_text(node[number]) for number in range(3)] == ["exchange 11.1 %", "exchange 11.1 %", ""]
        assert style.bars[node[0]].tolist() == [50 / 90, 60 / 90]
        assert style.figure_tip(node[1]) == (
            "20 of the planner's cycles in all runs, 22.2 % of 90; 10 of them exchange",
        )
        assert style.legend == (
            (MADE, "computing"),
            (READ, "exchange"),
            ("", "of 90 planner's cycles in all runs"),
            ("", "11.1 % (10) belong to no box"),
        )
        unpriced = ProgramCycles((*prices[:2], UNPRICED), (1, 10, 1), (0, 1, 2), NO_SIZE, NO_SIZE, 80)
        style = styled(structure, cycle_figures(structure, unpriced, figures), ColourMode.CYCLES)  # type: ignore[arg-type]
        assert [style.share_text(node[number]) for number in range(3)] == ["75.0 %", "25.0 %", "n/a"]
        assert style.legend[2] == ("", "of at least 80 planner's cycles in all runs")

    def test_by_step(self) -> None:
        structure, figures = figures_at(1)
        style = styled(structure, figures, ColourMode.STEP)
        assert style.shade[structure.by_operation[1]] == StepState.RUNS  # type: ignore[attr-defined]
        assert style.legend[0] == ("", "Step 1: Product")
        assert style.legend[-1] == (str(int(StepState.IDLE)), "makes no step of its own")
        structure, figures = figures_at(2)
        assert styled(structure, figures, ColourMode.STEP).legend[-1] == (
            "",
            "this step belongs to no operation of the graph",
        )

    def test_without_an_estimate(self) -> None:
        structure = read_structure(transformer())
        style = styled(structure, no_figures(structure))
        assert {style.share_text(node.index) for node in structure.nodes} == {""}
        assert style.legend == (("", "No figures: this state has no estimate"),)

    def test_texts_can_be_read_on_every_colour(self) -> None:
        structure, figures = figures_at(1)
        style = styled(structure, figures)
        for shade, ink in zip(style.shades.tolist(), style.inks.tolist(), strict=True):
            assert contrast(tuple(shade), tuple(ink)) >= 4.5


class TestColoursOfOperations:
    def test_in_order_of_what_is_made_at_the_peak_or_at_the_own_fullest_step(self) -> None:
        kib = KIB
        steps = [Step("Copy", 7), Step("Product", 4, scratch=[30 * kib, 0]), Step("Cast", None), Step("Add", 9)]
        allocs = [
            Alloc("parameter", [50 * kib, 50 * kib], 0, 3, parameter=True),
            Alloc("result of 7", [8 * kib, 4 * kib], 0, 1),
            Alloc("result of 4", [10 * kib, 1 * kib], 1, 2),
            Alloc("result of 9", [kib, 20 * kib], 3, 3),
        ]
        timeline = make_timeline(FakeProgram(2, steps, allocs))
        # What is live at the first step may be an input: nothing says that operation 7 makes it.
        assert timeline.maker(1) is None
        # The peak is step 1 on tile 0: operation 4 makes 10 + 30; at its own step, on tile 1, operation 9 makes 20.
        assert operation_colours(timeline) == {4: 0, 9: 1}

    def test_of_many_operations_six_have_a_colour_and_of_equals_the_lower_number_is_first(self) -> None:
        steps = [Step("Idle", None), *(Step("Copy", 20 - at) for at in range(10))]
        allocs = [Alloc(f"result {at}", [KIB * (2 if at == 7 else 1)], 1 + at, 1 + at) for at in range(10)]
        timeline = make_timeline(FakeProgram(1, steps, allocs))
        assert operation_colours(timeline) == {13: 0, 11: 1, 12: 2, 14: 3, 15: 4, 16: 5}

    def test_nothing_without_steps(self) -> None:
        assert operation_colours(None) == {}
        assert operation_colours(make_timeline(FakeProgram(1, [], []))) == {}


class TestSteps:
    def test_rows_say_what_is_over_and_where_the_peaks_are(self) -> None:
        nodes = step_nodes(small_timeline())
        spec = StepSpec()
        assert [node.key for node in nodes] == list(range(8))
        row = nodes[5].row
        # Tile 2 holds 64 + 64 + 500 + 8 KiB at step 5, the reserve is 48 KiB, the budget 586,960 B.
        assert row.total == 636 * KIB
        assert row.over == f"{636 * KIB + 49_152 - 586_960:,} B over the budget"
        assert spec.cell(row, StepColumn.TOTAL).text == "636.0 KiB"
        assert spec.cell(row, StepColumn.MARKS).text.startswith(f"! {row.over}; peak: total")
        assert spec.cell(row, StepColumn.RUNS).text == "1"
        assert spec.cell(nodes[2].row, StepColumn.RUNS).text == "3"
        assert nodes[0].row.over == ""

    def test_search_by_text_operation_and_number(self) -> None:
        timeline = small_timeline()
        assert [node.key for node in step_nodes(timeline, "product")] == [1, 5]
        assert [node.key for node in step_nodes(timeline, "op 3")] == [3]

    def test_unavailable_steps(self) -> None:
        timeline = make_timeline(FakeProgram(1, [Step("Copy\nlong", None)], [Alloc("unknown", None, 0, 0)]))
        row = step_nodes(timeline)[0].row
        spec = StepSpec()
        assert spec.cell(row, StepColumn.TOTAL).text.startswith("≥ ")
        assert "part unavailable" in spec.cell(row, StepColumn.MARKS).text
        assert spec.cell(row, StepColumn.TEXT).text == "Copy long"
        assert spec.cell(row, StepColumn.OPERATION).text == ""

    def test_no_steps(self) -> None:
        assert step_nodes(make_timeline(FakeProgram(1, [], []))) == ()
