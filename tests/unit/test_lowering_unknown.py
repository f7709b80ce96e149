"""What is not known or not modelled is lowered as an opaque step with a reason; what is wrong is refused by name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.helpers.small_recipes import ONE, add_plan, axis, host, layout, need, operation, parameter, plan, recipe
from tileview.core.estimate import estimate
from tileview.core.lowering.replanner import Replanner
from tileview.core.lowering.tilings import linear
from tileview.errors import PlanError
from tileview.model.graph import (
    AddKind,
    GemmKind,
    Operation,
    Region,
    RepeatKind,
    SliceKind,
    UnknownKind,
    ValueSequence,
)
from tileview.model.plan import (
    BlockedGemm,
    GeluOperator,
    GemmOperator,
    Orientation,
    OutputStationary,
    Plan,
    Pointwise,
    SliceOperator,
    Unknown,
    ViewDispatch,
)
from tileview.model.program import Copy, Kernel, Opaque, Program
from tileview.model.recipe import Recipe
from tileview.model.tensor import F16, ROW_MAJOR, Format, Layout, Order, OrderKind, Precision, PrecisionKind
from tileview.model.timeline import Cause

SHAPE = (1, 4, 32)
ROWS = layout(axis(2, 4))
UNKNOWN_ORDER = Order(OrderKind.UNKNOWN, text='{"Spiral":3}')
UNKNOWN_PRECISION = Precision(PrecisionKind.UNKNOWN, text="F4")


def one_operation(chosen: Plan, kind: object = None) -> Recipe:
    """x + y by the given plan; the result is closed, and added to x once more by a known plan."""
    operations = [operation(0, [0, 1], 2, kind), operation(1, [2, 0], 3)]  # type: ignore[arg-type]
    known = add_plan([ONE, ONE], ONE)
    return recipe([host(0, SHAPE), host(1, SHAPE)], operations, {2: SHAPE, 3: SHAPE}, {0: chosen, 1: known})


def gemm(transposed: bool, distribution: object) -> Plan:
    operator = GemmOperator(transposed, False, F16, F16)
    dispatch = BlockedGemm(16, 16, Orientation.NORMAL, distribution)  # type: ignore[arg-type]
    return plan(operator, dispatch, [need(ROWS), need(ROWS)], need(ROWS))


KNOWN = add_plan([ROWS, ROWS], ROWS)
CASES = {
    "operation": (KNOWN, UnknownKind("Fold", "Fold"), "the operation Fold is not known"),
    "operator": (replace(KNOWN, operator=Unknown("Fold", '"Fold"')), None, "the operator Fold is not known"),
    "dispatch": (replace(KNOWN, dispatch=Unknown("Warp", '"Warp"')), None, "the dispatch Warp is not known"),
    "combination": (replace(KNOWN, dispatch=ViewDispatch()), None, "Add with the dispatch ViewDispatch is not known"),
    "kernel": (replace(KNOWN, dispatch=Pointwise("Gelu")), None, "Add with the dispatch Pointwise is not known"),
    "distribution": (gemm(False, Unknown("Ring", '"Ring"')), GemmKind(), "the distribution Ring is not known"),
    "transposed": (gemm(True, OutputStationary()), GemmKind(), "transposed operands are not modelled"),
    "order of the result": (
        replace(KNOWN, output=need(Layout(UNKNOWN_ORDER, ROWS.tiling))),
        None,
        "the result is required as F16 in order",
    ),
    "order of an operand": (
        replace(KNOWN, inputs=(need(ROWS), need(Layout(UNKNOWN_ORDER, ROWS.tiling)))),
        None,
        "the operand 1 is required",
    ),
    "precision": (replace(KNOWN, output=need(ROWS, UNKNOWN_PRECISION)), None, "the result is required as F4"),
}


@pytest.mark.parametrize("name", sorted(CASES))
def test_unknown_is_opaque(name: str) -> None:
    chosen, kind, reason = CASES[name]
    result = estimate(one_operation(chosen, kind))
    assert result.error is None
    program = result.program
    assert program is not None
    ((number, text),) = program.unknown
    assert number == 0
    assert reason in text
    opaque = next(step for step in program.steps if isinstance(step, Opaque))
    assert opaque.source == 0
    assert reason in opaque.reason
    assert any(reason in note for note in result.notes)
    assert isinstance(program.steps[-1], Copy | Kernel)
    assert (result.verdict.fits, result.verdict.cause) == (None, Cause.INCOMPLETE)


def test_unknown_keeps_formats_and_boundaries() -> None:
    """Operands are brought to the formats required, the result has its own and is closed as any other."""
    chosen, _, _ = CASES["operator"]
    program = Replanner().lower(one_operation(chosen))
    first, second, opaque, closing, *_ = program.steps
    assert isinstance(opaque, Opaque)
    assert isinstance(closing, Copy)
    (result,) = opaque.results
    assert opaque.inputs == (first.results[0], second.results[0])
    assert [program.values[value].layout for value in (*opaque.inputs, result)] == [ROWS, ROWS, ROWS]
    assert program.values[closing.results[0]].layout == ONE


def test_input_of_unknown_precision_or_order() -> None:
    """Its sizes are unavailable; the rest is lowered."""
    shape, known = SHAPE, add_plan([ONE, ONE], ONE)
    made = recipe(
        [host(0, shape), parameter(1, shape)],
        [operation(0, [0, 1], 2)],
        {2: shape},
        {0: known},
        precisions={1: UNKNOWN_PRECISION},
    )
    for homes in ({}, {1: Format(F16, Layout(UNKNOWN_ORDER, ONE.tiling))}):
        result = estimate(replace(made, inputs=homes))
        assert result.error is None
        assert result.verdict.cause is Cause.INCOMPLETE or result.verdict.cause is Cause.INVALID_LAYOUT


def test_unknown_in_a_body() -> None:
    body = Region(
        (10, 11),
        (Operation(1, (10, 11), (12,), UnknownKind("Fold", "Fold")),),
        (12,),
        dict.fromkeys((10, 11, 12), SHAPE),
    )
    kind = RepeatKind(2, 1, 0, (5,), body)
    made = recipe(
        [host(0, SHAPE), parameter(1, SHAPE), parameter(2, SHAPE)],
        [Operation(0, (0,), (3,), kind)],
        {3: SHAPE},
        {1: replace(KNOWN, operator=Unknown("Fold", '"Fold"'))},
        sequences=[ValueSequence(5, "w", (1, 2))],
    )
    program = Replanner().replan(made)
    assert program.unknown == ((1, "the operation Fold is not known"),)


# -- refusals -------------------------------------------------------------------------------------------------------


def refusal(made: Recipe) -> PlanError:
    result = estimate(made)
    assert result.error is not None
    assert result.program is None
    assert result.timeline is None
    assert result.verdict.cause is Cause.CANNOT_LOWER
    assert result.verdict.operation == result.error.operation
    assert not result.verdict.fits
    return result.error


def test_no_plan() -> None:
    """The compiler would choose one: what is known is a lower bound, which decides only where it is too much."""
    made = one_operation(KNOWN)
    result = estimate(replace(made, plans={0: KNOWN}))
    assert (result.verdict.fits, result.verdict.cause) == (None, Cause.INCOMPLETE)
    assert "at least" in result.verdict.text
    assert result.program is not None
    assert result.program.unknown == ((1, "the recipe has no plan for it"),)
    tight = estimate(replace(made, plans={0: KNOWN}, config=replace(made.config, tile_budget_bytes=1)))
    assert (tight.verdict.fits, tight.verdict.cause) == (False, Cause.TOTAL)


def test_plan_of_another_kind() -> None:
    gelu = plan(GeluOperator(), Pointwise("Gelu"), [need(ROWS), need(ROWS)], need(ROWS))
    error = refusal(one_operation(gelu, AddKind()))
    assert (error.operation, error.reason) == (0, "the plan computes Gelu, the operation is of kind Add")


def test_plan_for_other_operands() -> None:
    error = refusal(one_operation(replace(KNOWN, inputs=KNOWN.inputs[:1])))
    assert error.operation == 0
    assert "1 operands, the operation has 2" in error.reason


def test_result_that_needs_too_many_tiles() -> None:
    error = refusal(one_operation(add_plan([ROWS, ROWS], layout(axis(1, 8)))))
    assert error.operation == 0
    assert error.reason == "result 0 [1, 4, 32] F16 needs 8 tiles, the program has 4"


def test_result_without_a_valid_layout() -> None:
    error = refusal(one_operation(add_plan([ROWS, ROWS], layout(axis(1, 3, 5)))))
    assert error.operation == 0
    assert "result 0 [1, 4, 32] F16 has no valid layout" in error.reason


def test_operand_without_a_valid_layout() -> None:
    error = refusal(one_operation(add_plan([ROWS, layout(axis(1, 3, 5))], ROWS)))
    assert error.operation == 0
    assert "converted operand [1, 4, 32] F16 has no valid layout" in error.reason


def test_input_without_a_valid_home() -> None:
    made = one_operation(KNOWN)
    error = refusal(replace(made, inputs={1: Format(F16, layout(axis(1, 8)))}))
    assert error.operation is None
    assert error.reason == "input x1 [1, 4, 32] F16 needs 8 tiles, the program has 4"


def test_input_without_a_precision() -> None:
    made = one_operation(KNOWN)
    error = refusal(replace(made, config=replace(made.config, automatic_inputs={0: F16})))
    assert "input x1" in error.reason
    assert "no precision" in error.reason


def test_home_that_does_not_fit() -> None:
    made = recipe(
        [host(0, SHAPE), parameter(1, SHAPE)],
        [operation(7, [0, 1], 2)],
        {2: SHAPE},
        {7: add_plan([ONE, ONE], ONE)},
        budget=100,
        reserve=95,
    )
    error = refusal(made)
    assert error.operation == 7
    assert str(error).startswith("operation 7: has no legal format: ")


@pytest.mark.parametrize("axis_number", [3, 7])
def test_slice_of_no_axis(axis_number: int) -> None:
    chosen = plan(SliceOperator(axis_number, 0, 4), ViewDispatch(), [need(ONE)], need(ONE))
    made = recipe([host(0, SHAPE)], [operation(0, [0], 1, SliceKind(axis_number, 0, 4))], {1: SHAPE}, {0: chosen})
    assert "slice of axis" in refusal(made).reason


def test_operand_that_nothing_makes() -> None:
    made = recipe([host(0, SHAPE)], [operation(0, [0, 9], 1)], {1: SHAPE}, {0: KNOWN})
    assert "value 9" in refusal(made).reason


def test_output_that_nothing_makes() -> None:
    made = recipe([host(0, SHAPE)], [operation(0, [0, 0], 1)], {1: SHAPE}, {0: KNOWN}, outputs=[5])
    assert "output 5" in refusal(made).reason


def test_short_sequence() -> None:
    body = Region((10, 11), (Operation(1, (10, 11), (12,), AddKind()),), (12,), dict.fromkeys((10, 11, 12), SHAPE))
    made = recipe(
        [host(0, SHAPE), parameter(1, SHAPE)],
        [Operation(0, (0,), (3,), RepeatKind(2, 1, 0, (5,), body))],
        {3: SHAPE},
        {1: KNOWN},
        sequences=[ValueSequence(5, "w", (1,))],
    )
    assert refusal(made).reason == "sequence 5 has 1 members for 2 iterations"


def test_linear_layout_does_not_broadcast() -> None:
    spread = Layout(ROW_MAJOR, linear(4, 4))
    made = recipe(
        [host(0, SHAPE), host(1, (1, 1, 32))],
        [operation(0, [0, 1], 2)],
        {2: SHAPE},
        {0: add_plan([spread, ONE], spread)},
    )
    assert "linear layout cannot be projected" in refusal(made).reason


def test_a_program_without_operations() -> None:
    made = recipe([host(0, SHAPE)], [], {}, {}, outputs=[0])
    program: Program = Replanner().replan(made)
    assert program.steps == ()
    assert program.outputs == (0,)
