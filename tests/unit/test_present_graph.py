"""Words, figures, colours and legend of the graph's boxes; the rows of the list of steps."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

from tests.helpers.fake_timeline import Alloc, FakeProgram, Step, make_timeline, small_timeline
from tests.helpers.graphs import graph, operation, transformer
from tileview.analysis.holdings import holdings, input_readers, owners_of_values
from tileview.graphlayout import NodeKind, layout_graph, read_structure
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
from tileview.model.tensor import F16, ROW_MAJOR, Axis, AxisBase, Format, Layout, Tiling
from tileview.model.timeline import Timeline
from tileview.present.allocation_rows import AllocationFigures
from tileview.present.colours import Ramp, contrast, ramp_table, relative_luminance
from tileview.present.graph_figures import NodeFigures, StepState, no_figures, node_figures
from tileview.present.graph_style import SHADES, ColourMode, graph_style, shade_table, shades_of
from tileview.present.graph_words import node_words, short_plan
from tileview.present.operation_rows import step_spans
from tileview.present.step_rows import StepColumn, StepSpec, step_nodes

KIB = 1024
REQUIREMENT = Requirement(Format(F16, Layout(ROW_MAJOR, Tiling(1, 1, (Axis(AxisBase.LINEAR, 0, 1),)))))
STATES = [(255, 255, 255), (240, 240, 240), (230, 230, 230), (200, 220, 250), (10, 90, 170)]


def plan(operator: object, dispatch: object) -> Plan:
    return Plan(operator, dispatch, (), REQUIREMENT)  # type: ignore[arg-type]


def gemm(distribution: object, orientation: Orientation = Orientation.NORMAL) -> Plan:
    return plan(GemmOperator(False, False, F16, F16), BlockedGemm(144, 16, orientation, distribution))  # type: ignore[arg-type]


REDUCTION = ParallelReduction(8, 46, 4, 8, 46, Staging(StagingKind.COMPLETE))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (gemm(REDUCTION, Orientation.SWAPPED), "8 × 46 × 4, F16, swapped"),
        (gemm(OutputStationary()), "output stationary, F16"),
        (gemm(Unknown("Ring", "{}")), "unknown distribution Ring, F16"),
        (plan(LayerNormOperator(), LayerNormParts(4)), "in 4 parts"),
        (plan(LayerNormOperator(), Pointwise("LayerNorm")), "on local shards"),
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
    assert by[2].detail == "* 8 × 46 × 4, F16"
    assert by[2].is_edited
    assert by[6].title == "6 Repeat ×27"
    assert by[6].detail == "5 operations"
    assert by[7].title == "? 7 Sort"
    assert by[7].is_unknown
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


class TestStyle:
    def test_shares_and_legend_say_the_same(self) -> None:
        structure, figures = figures_at(1)
        style = graph_style(structure, figures, ColourMode.SHARE)  # type: ignore[arg-type]
        node = structure.by_operation  # type: ignore[attr-defined]
        assert style.share_text(node[0]) == "50.0 %"
        assert style.share_text(node[1]) == "40.0 %"
        assert style.share_text(node[2]) == ""
        assert style.read_text(node[0]) == "input 10.0 %"
        assert style.read_text(node[1]) == ""
        assert style.figure_tip(node[0]) == (
            "Holds 40.0 KiB (40,960 B) on tile 0 at step 1, 50.0 % of 81,920 B",
            "The parameters and inputs it reads hold 8.0 KiB (8,192 B) there, 10.0 % of 81,920 B",
        )
        assert style.figure_tip(node[2]) == ("Holds nothing on tile 0 at step 1",)
        # Bars reach as far as the shares, in parts of the largest box: 48 KiB.
        assert style.bars[node[0]].tolist() == [40 / 48, 1.0]
        assert style.bars[node[1]].tolist() == [32 / 48, 32 / 48]
        assert style.bars[node[2]].tolist() == [0.0, 0.0]
        assert style.shade[node[0]] == SHADES - 1
        assert style.shade[node[2]] == -1
        assert style.legend.title == "Share of 81,920 B on tile 0 at step 1"
        assert style.legend.ramp == ("0", "60.0 % (49,152 B)")
        assert [entry.mark for entry in style.legend.entries] == ["stripes"]
        assert style.legend.notes == ()
        assert style.running == node[1]

    def test_parameters_and_inputs_are_told_apart_where_they_can_be(self) -> None:
        # Operation 0 reads an input and a parameter, 1 only parameters, 2 only an input.
        steps = [operation(0, [0, 1], [4]), operation(1, [4, 1, 2], [5]), operation(2, [5, 0], [6])]
        structure = read_structure(graph(steps, [6], [0], [1, 2]))
        nodes = [structure.by_operation[number] for number in range(3)]
        read = np.zeros(len(structure.nodes), dtype=np.int64)
        read[nodes] = 10
        figures = dataclasses.replace(no_figures(structure), read=read, usage=100, step=0, tile=0, has_hosts=True)
        words = [graph_style(structure, figures, ColourMode.SHARE).read_text(node) for node in nodes]
        assert words == ["reads 10.0 %", "params 10.0 %", "input 10.0 %"]
        style = graph_style(structure, dataclasses.replace(figures, has_hosts=False), ColourMode.SHARE)
        assert style.read_text(nodes[0]) == "param 10.0 %"

    def test_what_belongs_to_no_box_and_what_several_read_is_said(self) -> None:
        structure, figures = figures_at(1)
        figures = dataclasses.replace(figures, outside=4096, shared=8192)
        style = graph_style(structure, figures, ColourMode.SHARE)  # type: ignore[arg-type]
        assert style.legend.notes == (
            "5.0 % (4,096 B) belong to no box.",
            "10.0 % (8,192 B) are read by several operations: counted for the first.",
        )

    def test_the_ramp_ends_at_what_is_in_view(self) -> None:
        structure, figures = figures_at(1)
        picture = layout_graph(structure, only=[structure.by_operation[1]])  # type: ignore[attr-defined, arg-type]
        style = graph_style(
            structure,
            figures,
            ColourMode.SHARE,
            shown=picture.nodes,
            expanded=picture.expanded,  # type: ignore[arg-type]
        )
        assert style.legend.ramp == ("0", "40.0 % (32,768 B)")

    def test_unavailable_sizes_are_marked_and_the_sum_is_at_least(self) -> None:
        timeline = make_timeline(
            FakeProgram(1, [Step("Copy", 0)], [Alloc("known", 4 * KIB, 0, 0), Alloc("unknown", None, 0, 0)])
        )
        model = graph([operation(0, [0], [1]), operation(1, [1], [2])], [2])
        values = tuple(dataclasses.replace(value, origin=1 + value.id) for value in timeline.values)
        timeline = dataclasses.replace(timeline, values=values)
        structure, owners = read_structure(model), owners_of_values(model)
        held = holdings(timeline, 0, 0, owners, input_readers(model))
        figures = node_figures(structure, held, timeline, 0, 0, owners)
        style = graph_style(structure, figures, ColourMode.SHARE)
        assert style.share_text(structure.by_operation[1]) == "n/a"
        assert "1 allocation unavailable" in style.figure_tip(structure.by_operation[1])[0]
        assert style.legend.title.startswith("Share of at least 4,096 B")
        assert any(entry.mark == "hatch" for entry in style.legend.entries)

    def test_by_step(self) -> None:
        structure, figures = figures_at(1)
        style = graph_style(structure, figures, ColourMode.STEP, state_colours=STATES)  # type: ignore[arg-type]
        assert style.shade[structure.by_operation[1]] == StepState.RUNS  # type: ignore[attr-defined]
        assert style.legend.title == "Step 1: Product"
        assert [entry.text for entry in style.legend.entries][-1] == "makes no step of its own"
        structure, figures = figures_at(2)
        style = graph_style(structure, figures, ColourMode.STEP, state_colours=STATES)  # type: ignore[arg-type]
        assert style.legend.notes == ("This step belongs to no operation of the graph.",)

    def test_without_an_estimate(self) -> None:
        structure = read_structure(transformer())
        style = graph_style(structure, no_figures(structure), ColourMode.SHARE)
        assert {style.share_text(node.index) for node in structure.nodes} == {""}
        assert style.legend.ramp is None

    def test_marks_can_be_seen_on_every_shade_and_grey_keeps_the_order(self) -> None:
        structure, figures = figures_at(1)
        style = graph_style(structure, figures, ColourMode.SHARE)  # type: ignore[arg-type]
        for shade, ink in zip(style.shades.tolist(), style.inks.tolist(), strict=True):
            assert contrast(tuple(shade), tuple(ink)) >= 4.5
        light = [relative_luminance(tuple(shade)) for shade in shade_table().tolist()]
        assert all(after >= before for before, after in itertools.pairwise(light))
        assert light[-1] > 0.7 > 0.1 > light[0]

    def test_the_ramp_is_that_of_the_tile_map(self) -> None:
        assert shade_table().tolist() == ramp_table(Ramp.VIRIDIS, SHADES).tolist()

    def test_shades_are_exact_for_large_counts(self) -> None:
        most = 2**60
        assert shades_of(np.array([0, 1, most // 2, most]), most).tolist() == [-1, 0, (SHADES - 1) // 2, SHADES - 1]
        assert shades_of(np.array([0, 0]), 0).tolist() == [-1, -1]


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
