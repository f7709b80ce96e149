"""Plans that run one kernel over local shards: Add, Gelu, LayerNorm, and the scalar reference of attention.

LayerNorm divided into parts along its feature axis: moments of each part, exchanged, then applied.

Slices and views: one Copy whose mapping says which coordinate of the source each element comes from.
"""

from __future__ import annotations

from collections.abc import Sequence

from tileview.core.lowering.sheet import RESULT, Fragment, Sheet, operand
from tileview.core.lowering.tilings import broadcast, dimension_of, moved, with_blocks
from tileview.core.lowering.valuetypes import RefusedError, ValueType
from tileview.model.plan import Plan, SliceOperator, ViewOperator
from tileview.model.program import AxisView, Mapping
from tileview.model.tensor import F32, Axis, Layout, Shape, Tiling


def aligned_operands(sheet: Sheet) -> list[int]:
    """Every operand copied to the broadcast projection of the result's tiling, in its own order and class."""
    tiling = sheet.result.layout.tiling
    aligned: list[int] = []
    for index, own in enumerate(sheet.operands):
        projected = broadcast(tiling, sheet.result.shape, own.shape)
        layout = Layout(own.layout.order, projected, own.layout.memory_class)
        aligned.append(sheet.copy(operand(index), sheet.derived(own, layout=layout), f"operand {index}"))
    return aligned


def lower_pointwise(sheet: Sheet, plan: Plan, kernel: str) -> Fragment:
    """Operand copies and one kernel step.

    With permission to alias, the first listed operand whose type (after its copy) is the result's gives its memory: it
    is appended as a further input and the result is aliased to that.
    """
    inputs = aligned_operands(sheet)
    donor = _donor(sheet, plan.may_alias, inputs)
    if donor is None:
        sheet.kernel(kernel, inputs, (RESULT,))
    else:
        sheet.kernel(kernel, (*inputs, donor), (RESULT,), ((0, len(inputs)),))
    return sheet.finish()


def _donor(sheet: Sheet, listed: Sequence[int], inputs: Sequence[int]) -> int | None:
    for index in listed:
        if 0 <= index < len(inputs) and sheet.type_of(inputs[index]) is sheet.result:
            return inputs[index]
    return None


def lower_scalar_attention(sheet: Sheet) -> Fragment:
    """The reference kernel: no operand copies; it writes F32 in the result's layout, then a Cast where that is not
    F32.
    """
    written = sheet.new(sheet.derived(sheet.result, precision=F32), "attention in F32")
    sheet.kernel("FlashAttention", [operand(index) for index in range(len(sheet.operands))], (written,))
    return sheet.finish(sheet.cast(written, sheet.result.precision, "result"))


def lower_layernorm_parts(sheet: Sheet, parts: int) -> Fragment:
    """Operand copies, moments, their exchange, application.

    The moments have the result's type in F32 with the last extent replaced by [parts, 2] (sum and sum of squares of
    each part). Each owner then needs those of all parts: they are copied to the same type without the feature axis, in
    ``parts`` times as many replicas.

    Raises
    ------
    RefusedError
        Unless parts ≥ 2 and the width is a multiple of 4 · parts; or where the moments have no valid layout.
    """
    width = sheet.result.shape[-1] if sheet.result.shape else 0
    if parts < 2 or width % (4 * parts):
        raise RefusedError(
            f"LayerNorm in {parts} parts needs at least 2 parts and a width ({width}) divisible by {4 * parts}"
        )
    if len(sheet.operands) != 3:
        raise RefusedError(f"LayerNorm in parts takes 3 operands, {len(sheet.operands)} are given")
    x, scale, bias = aligned_operands(sheet)
    own_type, shared_type = _moment_types(sheet, parts)
    own = sheet.new(own_type, "moments")
    sheet.kernel("LayerNormMoments", (x,), (own,))
    shared = sheet.copy(own, shared_type, "exchanged moments")
    sheet.kernel("LayerNormApply", (x, scale, bias, shared), (RESULT,))
    return sheet.finish()


def _moment_types(sheet: Sheet, parts: int) -> tuple[ValueType, ValueType]:
    """Types of the moments as computed and as exchanged.

    Axes keep division and stride and are named FromStart (the rank has grown); the feature axis has blocks of one
    part, its padding_multiple stays.
    """
    result = sheet.result
    rank = len(result.shape)
    shape = (*result.shape[:-1], parts, 2)
    tiling = result.layout.tiling
    own: list[Axis] = []
    others: list[Axis] = []
    for axis in tiling.axes:
        dimension = dimension_of(axis, rank)
        if dimension is None:
            raise RefusedError("LayerNorm in parts needs a result divided by dimensions, not linearly")
        named = moved(axis, dimension, axis.tile_stride)
        if dimension == rank - 1:
            own.append(with_blocks(named, 1, axis.padding_multiple))
        else:
            own.append(named)
            others.append(named)
    order, memory_class = result.layout.order, result.layout.memory_class
    own_tiling = Tiling(tiling.tile_count, tiling.replicas, tuple(own))
    shared_tiling = Tiling(tiling.tile_count, tiling.replicas * parts, tuple(others))
    return (
        sheet.types.get(shape, F32, Layout(order, own_tiling, memory_class)),
        sheet.types.get(shape, F32, Layout(order, shared_tiling, memory_class)),
    )


def lower_slice(sheet: Sheet, operator: SliceOperator) -> Fragment:
    """A window of the operand: its axis is offset by ``start``.

    Raises
    ------
    RefusedError
        Where the operand has no such axis.
    """
    rank = len(sheet.operands[0].shape)
    if not 0 <= operator.axis < rank:
        raise RefusedError(f"a slice of axis {operator.axis} of an operand of rank {rank}")
    offsets = [0] * rank
    offsets[operator.axis] = operator.start
    sheet.map_result(operand(0), Mapping(tuple(offsets)))
    return sheet.finish()


def lower_view(sheet: Sheet, operator: ViewOperator) -> Fragment:
    """Splits ``split_axis`` by ``factor`` into ``merge_axis``, or the other way round where it is reversed.

    Raises
    ------
    RefusedError
        Where the operand's shape cannot be viewed so.
    """
    view = AxisView(operator.split_axis, operator.merge_axis, operator.factor, operator.reversed)
    if view_shape(sheet.operands[0].shape, view) is None:
        raise RefusedError(
            f"a view that splits axis {view.split_axis} by {view.factor} into axis {view.merge_axis}"
            f"{', reversed,' if view.reversed else ''} of an operand {list(sheet.operands[0].shape)}"
        )
    sheet.map_result(operand(0), Mapping((), view))
    return sheet.finish()


def view_shape(shape: Shape, view: AxisView) -> Shape | None:
    """The shape of a view of a source: the split extent divided by the factor, the merge extent multiplied (reversed:
    the other way round); None where an axis is missing or the factor does not divide.
    """
    rank = len(shape)
    if not (0 <= view.split_axis < rank and 0 <= view.merge_axis < rank) or view.factor < 1:
        return None
    divided, multiplied = view.split_axis, view.merge_axis
    if view.reversed:
        divided, multiplied = multiplied, divided
    if divided == multiplied or shape[divided] % view.factor:
        return None
    extents = list(shape)
    extents[divided] //= view.factor
    extents[multiplied] *= view.factor
    return tuple(extents)
