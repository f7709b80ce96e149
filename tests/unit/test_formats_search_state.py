"""Reading search states: every kind of plan, what is unknown, what is odd but can be shown."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import pytest

from tests.helpers.dumps import Json, at, compact, sample, small_recipe, with_value, without
from tileview.errors import LoadError
from tileview.formats.planjson import PlanReader, dispatch_from_json, operator_from_json
from tileview.formats.search_state import SearchState, load_search_state, search_state_from_bytes
from tileview.formats.tensorjson import debug_to_json, json_to_debug, order_from_json, precision_from_json
from tileview.model.graph import (
    AddKind,
    AttentionKind,
    GemmKind,
    InputKind,
    LayerNormKind,
    RepeatKind,
    SliceKind,
    UnknownKind,
    ViewKind,
)
from tileview.model.plan import (
    AddOperator,
    AttentionDispatch,
    AttentionOperator,
    BlockedGemm,
    Dispatch,
    GeluOperator,
    GemmOperator,
    LayerNormOperator,
    LayerNormParts,
    Operator,
    Orientation,
    OutputStationary,
    ParallelReduction,
    Pointwise,
    ProductGrid,
    SliceOperator,
    Staging,
    StagingKind,
    Unknown,
    ViewDispatch,
    ViewOperator,
)
from tileview.model.tensor import F16, F32, Order, OrderKind, Precision, PrecisionKind

F8 = Precision(PrecisionKind.F8F143, -4)
F8_JSON = {"F8F143": {"scale_exponent": -4}}


def opened(document: Json) -> SearchState:
    return search_state_from_bytes(compact(document), "x")


# -- the samples ----------------------------------------------------------------------------------------------------


def test_vit3_sample() -> None:
    state = search_state_from_bytes(sample("vit3-64tiles.recipe.json"))
    recipe, graph = state.recipe, state.recipe.graph
    assert state.version == 6
    assert not state.problems
    assert not recipe.requests
    assert (recipe.visited, recipe.attempts) == (0, 4)
    assert recipe.tile_mapping == "None"
    assert recipe.open_boundaries == {58, 69, 72}
    assert len(recipe.plans) == 45
    assert 24 not in recipe.plans
    assert sum(map(len, recipe.alternatives.values())) == 957
    assert len(recipe.inputs) == 55
    first = graph.inputs[0]
    assert (first.name, first.kind, first.value, first.shape) == ("vit.image.patches", InputKind.HOST, 0, (1, 4, 588))
    assert graph.inputs[1].kind is InputKind.PARAMETER
    assert len(graph.inputs) == 55
    assert len(graph.sequences) == 12
    assert graph.sequences[0].values == (7, 8, 9)
    assert (graph.next_operation, graph.next_value) == (46, 114)
    assert graph.shapes[5] == (1, 4, 144)
    assert graph.shape_of(46) == (144, 432)
    repeat = next(operation for operation in graph.operations if operation.id == 24)
    assert isinstance(repeat.kind, RepeatKind)
    assert (repeat.kind.count, repeat.kind.carried_inputs, repeat.kind.invariant_inputs) == (3, 1, 0)
    assert repeat.kind.iterated_inputs == tuple(range(12))
    assert repeat.kind.body.yields == (76,)
    kinds = {operation.id: operation.kind for operation, _ in graph.walk()}
    assert kinds[0] == GemmKind(False, False)
    assert kinds[1] == AddKind()
    assert kinds[3] == LayerNormKind()
    assert kinds[6] == SliceKind(2, 0, 144)
    assert kinds[9] == ViewKind(2, 0, 2, False)
    assert kinds[12] == AttentionKind(False, "InverseSqrtQueryWidth")


def test_vit3_configuration() -> None:
    state = search_state_from_bytes(sample("vit3-64tiles.recipe.json"))
    config = state.recipe.config
    assert config.tile_count == 64
    assert config.capacity_baseline is False
    assert (config.reserve_bytes, config.tile_budget_bytes, config.budget_bytes) == (49_152, 586_960, 586_960)
    assert config.inputs == {}
    assert len(config.automatic_inputs) == 55
    assert (config.automatic_inputs[0], config.automatic_inputs[1]) == (F16, F8)
    shown = dict(config.fields)
    assert shown["gemm_output_packing"] == "Automatic"
    assert shown["exchange_stream_words"] == "Some(1024)"
    assert "operator_candidates" not in shown
    assert len(state.operator_candidates()) == 64


def test_candidates_are_not_parsed_unless_asked_for() -> None:
    document = small_recipe()
    context = document["context"].replace("operator_candidates: [", "operator_candidates: [@@@ ", 1)
    assert context != document["context"]
    state = opened({**document, "context": context})
    assert not state.problems
    with pytest.raises(LoadError, match="context, line 2, column"):
        state.operator_candidates()


def test_plans_share_what_is_equal() -> None:
    recipe = search_state_from_bytes(sample("vit3-64tiles.recipe.json")).recipe
    formats = [item.format for plans in recipe.alternatives.values() for plan in plans for item in plan.inputs]
    assert len({id(item) for item in formats}) == len(set(formats)) < 200


def test_opens_from_a_path_and_survives_pickling(tmp_path: Any) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(sample("pair-8tiles.recipe.json"))
    steps: list[float] = []
    state = load_search_state(path, lambda fraction, text: steps.append(fraction))
    assert steps == sorted(steps)
    assert steps[-1] == 1.0
    again = pickle.loads(pickle.dumps(state))
    assert (again.raw, again.recipe, again.path) == (state.raw, state.recipe, str(path))


def test_loading_can_be_cancelled(tmp_path: Any) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(sample("pair-8tiles.recipe.json"))

    class Cancelled(Exception):  # noqa: N818 - raised by the watcher, no error
        pass

    def cancel(fraction: float, text: str) -> None:
        if fraction > 0.15:
            raise Cancelled

    with pytest.raises(Cancelled):
        load_search_state(path, cancel)


# -- plans ----------------------------------------------------------------------------------------------------------

GRID = {"rows": 1, "columns": 2, "inner": 3}
REDUCTION = {
    "row_partitions": 1,
    "column_partitions": 9,
    "inner_partitions": 7,
    "result_row_partitions": 2,
    "result_column_partitions": 3,
    "reduction_staging": "Complete",
}


@pytest.mark.parametrize(
    ("json", "operator"),
    [
        ("Add", AddOperator()),
        ("Gelu", GeluOperator()),
        ("LayerNorm", LayerNormOperator()),
        (
            {
                "Gemm": {
                    "options": {"transpose_left": True, "transpose_right": False},
                    "multiply": F8_JSON,
                    "accumulate": "F16",
                }
            },
            GemmOperator(True, False, F8, F16),
        ),
        (
            {
                "FlashAttention": {
                    "options": {"causal": True, "scale": "InverseSqrtQueryWidth"},
                    "accumulate": "F32",
                }
            },
            AttentionOperator(True, "InverseSqrtQueryWidth", F32),
        ),
        (
            {"FlashAttention": {"options": {"causal": False, "scale": {"Constant": 0.125}}, "accumulate": "F32"}},
            AttentionOperator(False, "Constant(0.125)", F32),
        ),
        ({"Slice": {"axis": 2, "start": 144, "length": 288}}, SliceOperator(2, 144, 288)),
        (
            {"View": {"split_axis": 2, "merge_axis": 0, "factor": 2, "reversed": True}},
            ViewOperator(2, 0, 2, True),
        ),
        ("Softsign", Unknown("Softsign", '"Softsign"')),
        ({"Softmax": {"axis": 1}}, Unknown("Softmax", '{"Softmax":{"axis":1}}')),
    ],
)
def test_operators(json: object, operator: Operator) -> None:
    assert operator_from_json(json, "p") == operator


@pytest.mark.parametrize(
    ("json", "dispatch"),
    [
        ("View", ViewDispatch()),
        ({"LayerNorm": {"parts": 4}}, LayerNormParts(4)),
        ({"Pointwise": {"kernel": "Gelu"}}, Pointwise("Gelu")),
        (
            {
                "BlockedGemm": {
                    "inner_block": 96,
                    "output_column_block": 16,
                    "orientation": "Swapped",
                    "distribution": "OutputStationary",
                }
            },
            BlockedGemm(96, 16, Orientation.SWAPPED, OutputStationary()),
        ),
        (
            {
                "BlockedGemm": {
                    "inner_block": 96,
                    "output_column_block": 16,
                    "orientation": "Normal",
                    "distribution": {"ParallelReduction": REDUCTION},
                }
            },
            BlockedGemm(96, 16, Orientation.NORMAL, ParallelReduction(1, 9, 7, 2, 3, Staging(StagingKind.COMPLETE))),
        ),
        (
            {
                "Attention": {
                    "fp8_scales": [None, -3],
                    "query_key": None,
                    "probability_value": GRID,
                    "materialized": True,
                    "key_block_rows": 64,
                    "padded_query_dimension": 32,
                    "padded_value_dimension": 16,
                }
            },
            AttentionDispatch((None, -3), None, ProductGrid(1, 2, 3), True, 64, 32, 16),
        ),
        ("Fused", Unknown("Fused", '"Fused"')),
        ({"Ring": {"steps": 4}}, Unknown("Ring", '{"Ring":{"steps":4}}')),
    ],
)
def test_dispatches(json: object, dispatch: Dispatch) -> None:
    assert dispatch_from_json(json, "Gelu", "p") == dispatch


@pytest.mark.parametrize(
    ("staging", "expected"),
    [
        ("Complete", Staging(StagingKind.COMPLETE)),
        ("Streamed", Staging(StagingKind.STREAMED)),
        ({"Batched": 3}, Staging(StagingKind.BATCHED, 3)),
    ],
)
def test_staging(staging: object, expected: Staging) -> None:
    json = {"ParallelReduction": {**REDUCTION, "reduction_staging": staging}}
    gemm = {"inner_block": 1, "output_column_block": 1, "orientation": "Normal", "distribution": json}
    dispatch = dispatch_from_json({"BlockedGemm": gemm}, None, "p")
    assert isinstance(dispatch, BlockedGemm)
    assert isinstance(dispatch.distribution, ParallelReduction)
    assert dispatch.distribution.reduction_staging == expected


def test_unknown_distribution_and_staging() -> None:
    for json in ("Systolic", {"ParallelReduction": {**REDUCTION, "reduction_staging": "Folded"}}):
        gemm = {"inner_block": 1, "output_column_block": 1, "orientation": "Normal", "distribution": json}
        dispatch = dispatch_from_json({"BlockedGemm": gemm}, None, "p")
        assert isinstance(dispatch, BlockedGemm)
        assert isinstance(dispatch.distribution, Unknown)


def test_the_kernel_of_the_scalar_attention_repeats_its_operator() -> None:
    operator = {"FlashAttention": {"options": {"causal": False, "scale": "S"}, "accumulate": "F32"}}
    other = {"FlashAttention": {"options": {"causal": True, "scale": "S"}, "accumulate": "F32"}}
    assert dispatch_from_json({"Pointwise": {"kernel": operator}}, operator, "p") == Pointwise("FlashAttention")
    assert isinstance(dispatch_from_json({"Pointwise": {"kernel": other}}, operator, "p"), Unknown)


def test_aliasing() -> None:
    plan = at(small_recipe(), "recipe.plans.0")
    reader = PlanReader()
    for json, expected in (("Fresh", ()), ({"MayAliasInputs": [1, 0]}, (1, 0)), ({"MayAliasInputs": []}, ())):
        asked = {**plan, "requirements": {**plan["requirements"], "output_aliasing": json}}
        assert reader.plan(asked, "p").may_alias == expected


@pytest.mark.parametrize(
    ("json", "order"),
    [
        ("RowMajor", Order(OrderKind.ROW_MAJOR)),
        ({"Amp": "TransposedOutput"}, Order(OrderKind.TRANSPOSED_OUTPUT)),
        ({"BlockMajor": {"Matrix": {"row_block": 96, "column_block": 16}}}, Order(OrderKind.MATRIX, 96, 16)),
        ({"Amp": "Sideways"}, Order(OrderKind.UNKNOWN, text="Amp(Sideways)")),
        ({"Spiral": {"turns": 3}}, Order(OrderKind.UNKNOWN, text="Spiral { turns: 3 }")),
        ("ColumnMajor", Order(OrderKind.UNKNOWN, text="ColumnMajor")),
    ],
)
def test_orders(json: object, order: Order) -> None:
    assert order_from_json(json) == order


def test_unknown_precision() -> None:
    precision = precision_from_json({"F4": {"block": 32}})
    assert precision == Precision(PrecisionKind.UNKNOWN, text="F4 { block: 32 }")
    assert precision.element_bytes is None


@pytest.mark.parametrize(
    "json",
    [
        "Name",
        {"A": 5},
        {"A": [1, 2]},
        {"A": {"x": 1, "y": None}},
        {"A": {"B": {"x": 1}}},
        {"A": "two words"},
        {"A": {"B": "C"}},
        [{"a": 1}, "b"],
        {"a b": 1, "c": True},
    ],
)
def test_unknown_json_keeps_its_meaning_as_debug_text(json: object) -> None:
    assert debug_to_json(json_to_debug(json)) == json


# -- what the recipe asks for ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "value", "requests"),
    [
        ("recipe.packing", [{"operation": 3}], [("packing", '{"operation":3}')]),
        ("recipe.cast_before_copies", [4, 5], [("cast_before_copies", "4"), ("cast_before_copies", "5")]),
        ("recipe.owners.inputs", {"3": 1}, [("owners.inputs", '{"3":1}')]),
        ("recipe.cast_storage.default", "Shared", [("cast_storage.default", '"Shared"')]),
        ("recipe.reduction_groups", [[1, 2]], [("reduction_groups", "[1,2]")]),
        ("recipe.fusion", [1], [("fusion", "1")]),
        ("recipe.fusion", [], []),
        ("recipe.fusion", None, []),
        ("recipe.fusion", {"mode": "On"}, [("fusion", '{"mode":"On"}')]),
    ],
)
def test_requests(path: str, value: object, requests: list[tuple[str, str]]) -> None:
    state = opened(with_value(small_recipe(), path, value))
    assert list(state.recipe.requests) == requests


# -- what is odd but can be shown -----------------------------------------------------------------------------------


def problems(document: Json) -> list[tuple[str, str, int | None]]:
    return [(problem.severity, problem.place, problem.operation) for problem in opened(document).problems]


def test_operation_without_a_plan() -> None:
    assert problems(without(small_recipe(), "recipe.plans.1")) == [("error", "recipe.plans.1", 1)]


def test_ids_of_nothing() -> None:
    document = small_recipe()
    plan, home = at(document, "recipe.plans.1"), at(document, "inputs.0")
    document["recipe"]["plans"]["77"] = plan
    document["alternatives"]["78"] = [plan]
    document["inputs"]["79"] = home
    document["recipe"]["open_boundaries"] = [80]
    assert problems(document) == [
        ("warning", "recipe.plans.77", None),
        ("warning", "alternatives.78", None),
        ("warning", "inputs.79", None),
        ("warning", "recipe.open_boundaries", None),
    ]


def test_a_plan_that_is_not_among_its_alternatives() -> None:
    document = small_recipe()
    document["alternatives"]["0"] = [p for p in document["alternatives"]["0"] if p != document["recipe"]["plans"]["0"]]
    assert problems(document) == [("note", "alternatives.0", 0)]
    assert opened(document).recipe.in_force(0) is None


def test_ids_out_of_order() -> None:
    document = small_recipe()
    document["recipe"]["plans"] = dict(reversed(document["recipe"]["plans"].items()))
    document["recipe"]["open_boundaries"] = [2, 1]
    assert problems(document) == [("note", "recipe.plans", None), ("note", "recipe.open_boundaries", None)]


def test_homes_may_be_left_open() -> None:
    state = opened({**small_recipe(), "inputs": {}})
    assert state.recipe.inputs == {}
    assert not state.problems


@pytest.mark.parametrize("name", ["visited", "attempts"])
def test_optional_fields(name: str) -> None:
    state = opened(without(small_recipe(), name))
    assert (state.recipe.visited, state.recipe.attempts) == (0, 0)
    assert not state.problems


def graph_problems(old: str, new: str) -> list[str]:
    document = small_recipe()
    assert old in document["context"]
    state = opened({**document, "context": document["context"].replace(old, new, 1)})
    return [problem.text for problem in state.problems if problem.place.startswith("context")]


def test_graph_with_dangling_ids() -> None:
    """x → Gelu 0 → Gelu 1: what each broken link is called."""
    (text,) = graph_problems(
        "inputs: [ValueId(1)], results: [ValueId(2)]", "inputs: [ValueId(9)], results: [ValueId(2)]"
    )
    assert "operation 1 names 9" in text
    (text,) = graph_problems("outputs: [ValueId(2)]", "outputs: [ValueId(7)]")
    assert "outputs names 7" in text
    texts = graph_problems("results: [ValueId(2)]", "results: [ValueId(1)]")
    assert "value 1 is made twice" in texts
    texts = graph_problems("id: OperationId(1)", "id: OperationId(0)")
    assert "operation 0 occurs twice" in texts
    texts = graph_problems("ValueId(2): TensorShape([8, 26900])", "ValueId(8): TensorShape([8, 26900])")
    assert "value 2 has no shape" in texts


def test_graph_with_a_cycle() -> None:
    """Each of the two operations reads what the other makes."""
    old = "inputs: [ValueId(0)], results: [ValueId(1)]"
    (text,) = graph_problems(old, "inputs: [ValueId(2)], results: [ValueId(1)]")
    assert "operation 0 names 2, which nothing before it makes" in text


def test_graph_with_an_unknown_operation() -> None:
    document = small_recipe()
    text = "kind: Softsign(SignOptions { axis: 2 })"
    state = opened({**document, "context": document["context"].replace("kind: Gelu", text, 1)})
    kind = state.recipe.graph.operations[0].kind
    assert kind == UnknownKind("Softsign", "Softsign(SignOptions { axis: 2 })")
    assert [(problem.severity, problem.operation) for problem in state.problems] == [("note", 0)]


def test_graph_with_the_wrong_number_of_inputs() -> None:
    assert graph_problems("kind: Gelu", "kind: Add") == ["Add takes 2 inputs, operation 0 has 1"]


def test_unknown_parts_of_a_plan_are_noted() -> None:
    document = with_value(small_recipe(), "recipe.plans.0.operator", {"Softsign": {"axis": 2}})
    found = opened(document).problems
    assert any("Softsign" in problem.text and problem.operation == 0 for problem in found)


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("kind: Host", "kind: Guest", "context: graph.inputs[0].kind"),
        ("TensorShape([8, 26900])", "TensorShape([8, -1])", "context: graph.inputs[0].shape"),
        ("next_operation: 2", "next_operation: 2.5", "context: graph.next_operation"),
        ("next_operation: 2, ", "", "context: graph.next_operation"),
        ("capacity_baseline: false", "capacity_baseline: 0", "context: configuration.capacity_baseline"),
        ("automatic_inputs: {", "automatic_inputs: {x: F16, ", "context: configuration.automatic_inputs"),
        ("ComputeGraph {", "DataGraph {", "context: graph"),
        ("PipelineConfig {", "Pipeline {", "context, line 2, column 1"),
        ("tile_memory_budget_bytes: 586960", "tile_memory_budget_bytes: (", "context, line 2"),
    ],
)
def test_contexts_that_are_refused(old: str, new: str, place: str) -> None:
    document = small_recipe()
    assert old in document["context"]
    with pytest.raises(LoadError) as caught:
        opened({**document, "context": document["context"].replace(old, new, 1)})
    assert caught.value.place.startswith(place)


@pytest.mark.parametrize("context", ["", "a\nb", "a\nb\nc\nd"])
def test_a_context_has_three_lines(context: str) -> None:
    with pytest.raises(LoadError) as caught:
        opened({**small_recipe(), "context": context})
    assert caught.value.place == "context"


def test_replaced_recipes_stay_equal() -> None:
    """Reading the same bytes twice gives equal recipes, also where pieces are shared."""
    first, second = (search_state_from_bytes(sample("pair-8tiles.recipe.json")).recipe for _ in range(2))
    assert first == second
    assert replace(first, attempts=first.attempts + 1) != second
