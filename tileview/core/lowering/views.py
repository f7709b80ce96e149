"""Slices and views: one Copy whose mapping says which coordinate of the source each element comes from."""

from __future__ import annotations

from tileview.core.lowering.sheet import Fragment, Sheet, operand
from tileview.core.lowering.valuetypes import RefusedError
from tileview.model.plan import SliceOperator, ViewOperator
from tileview.model.program import AxisView, Mapping
from tileview.model.tensor import Shape


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
