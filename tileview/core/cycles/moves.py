"""Prices of the steps that move data between tiles: Copy and Sum."""

from __future__ import annotations

from tileview.core.cycles.elementwise import ceil_div
from tileview.core.cycles.shards import Shard
from tileview.core.memory.exchange import Movement
from tileview.core.memory.scratch import share_micro_panels
from tileview.model.tensor import Order, OrderKind


def exchange(moved: Movement) -> int:
    """4 bytes a cycle, beside 3 control instructions a fragment; 600 for the synchronisation of each phase."""
    if not moved.payload or not moved.phases:
        return 0
    control = 3 * max(moved.fragments, moved.phases)
    return max(ceil_div(moved.payload, 4), control) + 600 * moved.phases


def copy_on_tile(source: Shard, result: Shard) -> int:
    """What a copy costs beside its exchange: always written once, and packed where its element order changes."""
    return ceil_div(result.bytes, 8) + 288 + _packing(source, result)


def _packing(source: Shard, result: Shard) -> int:
    order, n = result.order, result.elements
    if source.precision != result.precision or source.order == order:
        return 0
    if share_micro_panels(source.order, order, result.precision):
        return 0
    if order.kind is OrderKind.ROW_MAJOR:
        return 10 * n
    if order.kind is OrderKind.TRANSPOSED_RIGHT:
        return 3 * n + 11
    if order.kind is OrderKind.LEFT:
        return n + 11
    return _matrix_packing(order, result) if _packs_whole_blocks(order, result) else 10 * n + 11


def _packs_whole_blocks(order: Order, result: Shard) -> bool:
    if order.kind is not OrderKind.MATRIX or order.column_block != 16 or len(result.extents) < 2:
        return False
    rows = order.row_block
    return rows > 0 and rows % 16 == 0 and result.extents[-2] <= rows and result.width > 0 and result.width % 4 == 0


def _matrix_packing(order: Order, result: Shard) -> int:
    rows, panels = order.row_block, ceil_div(result.width, 16)
    blocks = ceil_div(result.elements, rows * panels * 16)
    return 300 + blocks * ceil_div(rows, 12) * 6 * (60 if result.width == 16 else 12 + 140 * panels)


def sum_on_tile(result: Shard, contributors: int, at_once: int) -> int:
    """The additions of a sum of ``contributors`` partial results, ``at_once`` of which come in a stage."""
    stages, left = divmod(contributors - 1, at_once)
    return stages * _reduction(result.elements, at_once + 1) + (_reduction(result.elements, left + 1) if left else 0)


def _reduction(elements: int, partials: int) -> int:
    if not elements or partials < 2:
        return 0
    return 282 + ceil_div(elements, 48) * 6 * (11 + 2 * (partials - 1))
