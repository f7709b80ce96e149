"""The numbers of a plan within their ranges, looked at before anything is worked out from them.

A number beyond its range cannot be a plan's: the file is damaged. What the numbers of a plan come to together is left
to the rules that lower it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from tileview.core.lowering.valuetypes import RefusedError
from tileview.model.plan import (
    AttentionDispatch,
    BlockedGemm,
    LayerNormParts,
    ParallelReduction,
    Plan,
    SliceOperator,
    StagingKind,
    ViewOperator,
)
from tileview.model.tensor import Layout, OrderKind

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
