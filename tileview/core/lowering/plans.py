"""What a plan asks for at its operation, worked out once: types required and made, whether it is modelled, fragments.

Before anything is worked out, the numbers of a plan are held against their ranges: one beyond its range cannot be a
plan's, the file is damaged. What the numbers of a plan come to together is left to the rules that lower it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from tileview.core.lowering.attention import lower_attention
from tileview.core.lowering.gemm import lower_gemm
from tileview.core.lowering.homes import canonical_layout
from tileview.core.lowering.pointwise import (
    lower_layernorm_parts,
    lower_pointwise,
    lower_scalar_attention,
    lower_slice,
    lower_view,
)
from tileview.core.lowering.sheet import Fragment, Sheet
from tileview.core.lowering.templates import Template
from tileview.core.lowering.valuetypes import RefusedError, TypeTable, ValueType
from tileview.model.config import PipelineConfig
from tileview.model.graph import GemmKind, Operation, UnknownKind, kind_name
from tileview.model.plan import (
    AddOperator,
    AttentionDispatch,
    AttentionOperator,
    BlockedGemm,
    GeluOperator,
    GemmOperator,
    LayerNormOperator,
    LayerNormParts,
    ParallelReduction,
    Plan,
    Pointwise,
    Requirement,
    SliceOperator,
    StagingKind,
    Unknown,
    ViewDispatch,
    ViewOperator,
)
from tileview.model.tensor import Layout, OrderKind, PrecisionKind, Shape

_Number = tuple[str, int, int, int]
"""Name, number, the least and the most it may be."""

_MOST_ELEMENTS: Final = 2**30
"""No extent, start or block that a plan names is larger."""
_MOST_PARTS: Final = 2**20
"""Nothing is divided into more parts."""
_MOST_SCALE: Final = 2**15


def check_numbers(plan: Plan) -> None:
    """Refuse a plan with a number of zero where there must be one, or beyond what any plan can hold.

    Raises
    ------
    RefusedError
        Naming the number as the file does.
    """
    for name, number, least, most in _numbers(plan):
        if number < least:
            raise RefusedError(f"the plan's {name} is {number:,}, it must be at least {least:,}")
        if number > most:
            raise RefusedError(f"the plan's {name} is {number:,}, it must be at most {most:,}")


def _numbers(plan: Plan) -> Iterator[_Number]:
    operator, dispatch = plan.operator, plan.dispatch
    if isinstance(operator, SliceOperator):
        yield from _each(operator, ("axis", "start"), 0, _MOST_ELEMENTS)
        yield from _each(operator, ("length",), 1, _MOST_ELEMENTS)
    elif isinstance(operator, ViewOperator):
        yield from _each(operator, ("split_axis", "merge_axis"), 0, _MOST_ELEMENTS)
        yield from _each(operator, ("factor",), 1, _MOST_ELEMENTS)
    if isinstance(dispatch, BlockedGemm):
        yield from _each(dispatch, ("inner_block", "output_column_block"), 1, _MOST_ELEMENTS)
        grid = dispatch.distribution
        if isinstance(grid, ParallelReduction):
            yield from _each(grid, _PARTITIONS, 1, _MOST_PARTS)
            if grid.reduction_staging.kind is StagingKind.BATCHED:
                yield "reduction_staging.Batched", grid.reduction_staging.batch, 1, _MOST_PARTS
    elif isinstance(dispatch, LayerNormParts):
        yield from _each(dispatch, ("parts",), 1, _MOST_PARTS)
    elif isinstance(dispatch, AttentionDispatch):
        yield from _each(dispatch, _ATTENTION, 1, _MOST_ELEMENTS)
        for name, spread in (("query_key", dispatch.query_key), ("probability_value", dispatch.probability_value)):
            if spread is not None:
                yield from _each(spread, ("rows", "columns", "inner"), 1, _MOST_PARTS, f"{name}.")
        yield from (("fp8_scales", scale, -_MOST_SCALE, _MOST_SCALE) for scale in dispatch.fp8_scales if scale)
    for requirement in (*plan.inputs, plan.output):
        yield from _layout_numbers(requirement.format.layout)
    yield from (("MayAliasInputs", operand, 0, len(plan.inputs) - 1) for operand in plan.may_alias)


_PARTITIONS: Final = (
    "row_partitions",
    "column_partitions",
    "inner_partitions",
    "result_row_partitions",
    "result_column_partitions",
)
_ATTENTION: Final = ("key_block_rows", "padded_query_dimension", "padded_value_dimension")


_AXIS: Final = ("partitions", "padding_groups", "block_size", "padding_multiple", "shard_padding_multiple")


def _layout_numbers(layout: Layout) -> Iterator[_Number]:
    if layout.order.kind in (OrderKind.MATRIX, OrderKind.TRANSPOSED_MATRIX):
        yield from _each(layout.order, ("row_block", "column_block"), 1, _MOST_ELEMENTS)
    yield from _each(layout.tiling, ("tile_count", "replicas"), 1, _MOST_PARTS)
    for axis in layout.tiling.axes:
        yield from _each(axis, _AXIS, 1, _MOST_ELEMENTS)
        yield "tile_stride", axis.tile_stride or 0, 0, _MOST_ELEMENTS


def _each(part: object, names: Iterable[str], least: int, most: int, before: str = "") -> Iterator[_Number]:
    return ((before + name, getattr(part, name), least, most) for name in names)


_OPERATOR_NAMES = {
    GemmOperator: "Gemm",
    AddOperator: "Add",
    GeluOperator: "Gelu",
    LayerNormOperator: "LayerNorm",
    AttentionOperator: "FlashAttention",
    SliceOperator: "Slice",
    ViewOperator: "View",
}

Writer = Callable[[Sheet], Fragment]


class PlanForm:
    """A plan at an operation: everything about it that no other plan changes.

    ``targets``: per operand the required type (None where its format is not known) and whether only slices are asked
    for. ``results``: the types of the results; ``closed``: the same at a closed boundary. ``unknown``: why the
    operation is not modelled, None where it is. ``keeps_parameter``: the result counts as a parameter if the operand
    does.
    """

    __slots__ = (
        "_fragments",
        "_types",
        "closed",
        "keeps_parameter",
        "operation",
        "plan",
        "results",
        "targets",
        "templates",
        "unknown",
        "writer",
    )

    def __init__(
        self, types: TypeTable, config: PipelineConfig, operation: Operation, plan: Plan, shapes: Mapping[int, Shape]
    ) -> None:
        self.plan: Plan | None = plan
        self.operation = operation
        self._types = types
        self._fragments: dict[tuple[ValueType, ...], Fragment | str] = {}
        self.templates: dict[tuple[object, ...], Template] = {}
        if len(plan.inputs) != len(operation.inputs):
            raise RefusedError(
                f"the plan is for {len(plan.inputs)} operands, the operation has {len(operation.inputs)}"
            )
        check_numbers(plan)
        self.writer, self.unknown = _writer(operation, plan)
        self.keeps_parameter = isinstance(plan.dispatch, ViewDispatch)
        self.targets = tuple(
            _target(types, _shape(shapes, value), requirement)
            for value, requirement in zip(operation.inputs, plan.inputs, strict=True)
        )
        made = plan.output.format
        self.results = tuple(
            types.get(_shape(shapes, value), made.precision, made.layout) for value in operation.results
        )
        self.closed = tuple(_closed(types, config, own) for own in self.results)
        for index, own in enumerate(self.results):
            if own.problem is not None:
                raise RefusedError(f"result {index} {own} {own.problem}")

    @classmethod
    def without_plan(
        cls, types: TypeTable, config: PipelineConfig, operation: Operation, results: Mapping[int, ValueType]
    ) -> PlanForm:
        """The form of an operation for which the recipe has no plan: the compiler would choose one.

        ``results``: what each of its results is taken to be, so that what reads it can be lowered.
        """
        form = cls.__new__(cls)
        form.plan, form.operation, form.writer, form.keeps_parameter = None, operation, None, False
        form._types, form._fragments, form.templates = types, {}, {}
        form.unknown = "the recipe has no plan for it"
        form.targets = tuple((None, False) for _ in operation.inputs)
        form.results = tuple(results[value] for value in operation.results)
        form.closed = tuple(_closed(types, config, own) for own in form.results)
        return form

    def fragment(self, operands: tuple[ValueType, ...]) -> Fragment:
        """The plan's steps for operands of these types.

        Raises
        ------
        RefusedError
            Where a rule refuses the plan.
        """
        found = self._fragments.get(operands)
        if found is None:
            try:
                assert self.writer is not None
                found = self.writer(Sheet(self._types, operands, self.results[0]))
            except RefusedError as refusal:
                found = str(refusal)
            self._fragments[operands] = found
        if isinstance(found, str):
            raise RefusedError(found)
        return found


def _shape(shapes: Mapping[int, Shape], value: int) -> Shape:
    shape = shapes.get(value)
    if shape is None:
        raise RefusedError(f"value {value} has no shape in the graph")
    return shape


def _closed(types: TypeTable, config: PipelineConfig, own: ValueType) -> ValueType:
    """The type of a result at a closed boundary; its own where no size, so no canonical layout, is known."""
    key = (own.shape, own.precision)
    closed = types.canonical.get(key)
    if closed is None:
        closed = own
        if own.precision.element_bytes is not None:
            closed = types.get(own.shape, own.precision, canonical_layout(own.shape, own.precision, config))
            types.canonical[key] = closed
    return closed


def _target(types: TypeTable, shape: Shape, requirement: Requirement) -> tuple[ValueType | None, bool]:
    wanted = requirement.format
    if not _is_known(requirement):
        return None, False
    return types.get(shape, wanted.precision, wanted.layout), requirement.materialization == "DispatchSlices"


def _is_known(requirement: Requirement) -> bool:
    wanted = requirement.format
    return wanted.precision.kind is not PrecisionKind.UNKNOWN and wanted.layout.order.kind is not OrderKind.UNKNOWN


def _writer(operation: Operation, plan: Plan) -> tuple[Writer | None, str | None]:
    """What writes the plan's steps; or None and why the operation is not modelled.

    Raises
    ------
    RefusedError
        Where the plan is for another kind of operation.
    """
    kind, operator, dispatch = operation.kind, plan.operator, plan.dispatch
    if isinstance(kind, UnknownKind):
        return None, f"the operation {kind.name} is not known"
    if isinstance(operator, Unknown):
        return None, f"the operator {operator.name} is not known"
    name = _OPERATOR_NAMES[type(operator)]
    if name != kind_name(kind):
        raise RefusedError(f"the plan computes {name}, the operation is of kind {kind_name(kind)}")
    if isinstance(dispatch, Unknown):
        return None, f"the dispatch {dispatch.name} is not known"
    if isinstance(operator, GemmOperator):
        transposed = operator.transpose_left or operator.transpose_right
        if transposed or (isinstance(kind, GemmKind) and (kind.transpose_left or kind.transpose_right)):
            return None, "products of transposed operands are not modelled"
    for role, requirement in (*((f"operand {i}", r) for i, r in enumerate(plan.inputs)), ("result", plan.output)):
        if not _is_known(requirement):
            wanted = requirement.format
            return (
                None,
                f"the {role} is required as {wanted.precision} in order {wanted.layout.order}, which is not known",
            )
    if len(operation.results) != 1:
        return None, f"an operation with {len(operation.results)} results is not known"
    writer = _known_writer(plan, name)
    if isinstance(writer, str):
        return None, writer
    return writer, None


def _known_writer(plan: Plan, name: str) -> Writer | str:
    operator, dispatch = plan.operator, plan.dispatch
    if isinstance(dispatch, Pointwise):
        if isinstance(operator, AttentionOperator):
            return lower_scalar_attention
        if dispatch.kernel == name and isinstance(operator, AddOperator | GeluOperator | LayerNormOperator):
            return lambda sheet: lower_pointwise(sheet, plan, name)
    elif isinstance(dispatch, LayerNormParts) and isinstance(operator, LayerNormOperator):
        parts = dispatch.parts
        return lambda sheet: lower_layernorm_parts(sheet, parts)
    elif isinstance(dispatch, BlockedGemm) and isinstance(operator, GemmOperator):
        if isinstance(dispatch.distribution, Unknown):
            return f"the distribution {dispatch.distribution.name} is not known"
        return lambda sheet: lower_gemm(sheet, plan, operator, dispatch)
    elif isinstance(dispatch, AttentionDispatch) and isinstance(operator, AttentionOperator):
        return lambda sheet: lower_attention(sheet, operator, dispatch)
    elif isinstance(dispatch, ViewDispatch):
        if isinstance(operator, SliceOperator):
            return lambda sheet: lower_slice(sheet, operator)
        if isinstance(operator, ViewOperator):
            return lambda sheet: lower_view(sheet, operator)
    return f"{name} with the dispatch {type(dispatch).__name__} is not known"
