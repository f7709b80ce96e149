"""LayerNorm divided into parts along its feature axis: moments of each part, exchanged, then applied."""

from __future__ import annotations

from tileview.core.lowering.pointwise import aligned_operands
from tileview.core.lowering.sheet import RESULT, Fragment, Sheet
from tileview.core.lowering.tilings import dimension_of, moved, with_blocks
from tileview.core.lowering.valuetypes import RefusedError, ValueType
from tileview.model.tensor import F32, Axis, Layout, Tiling


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
