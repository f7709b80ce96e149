"""The price of a matrix product, by the blocks its plan cuts it into."""

from __future__ import annotations

from math import prod

from tileview.core.cycles.elementwise import ceil_div
from tileview.core.cycles.shards import Shard
from tileview.model.program import ProductBlocks
from tileview.model.tensor import MemoryClass, Order, OrderKind, PrecisionKind

_WORKERS = 6
_SECOND_LAST = frozenset({OrderKind.TRANSPOSED_LEFT, OrderKind.TRANSPOSED_OUTPUT, OrderKind.MATRIX})
"""Orders of a result whose second last dimension is the columns that a call writes side by side."""


def product(left: Shard, right: Shard, result: Shard, multiply: PrecisionKind, blocks: ProductBlocks) -> int | None:
    """The price of a product; None for a block of 0, or where a dimension of the plan is none of the shard's.

    Three kernels: F16 into packed row blocks, right operands from interleaved memory, and the general one.
    """
    if max(blocks.inner_dimension, 0) >= len(left.extents) or blocks.column_dimension >= len(result.extents):
        return None
    row_block = _packed_rows(result.order)
    column_block = blocks.column_block if row_block is None else min(blocks.column_block, row_block)
    inner = left.extents[blocks.inner_dimension]
    if blocks.most_inner is not None:
        inner = min(inner, blocks.most_inner)
    columns = result.extents[blocks.column_dimension]
    if blocks.inner_block < 1 or column_block < 1:
        return None
    calls = ceil_div(inner, blocks.inner_block) * ceil_div(columns, column_block)
    i, c = min(blocks.inner_block, inner), min(column_block, columns)
    if multiply is PrecisionKind.F8F143:
        i = ceil_div(i, 2)
    rows = _rows(result, blocks.column_dimension, c)
    panels = ceil_div(i, 16)
    interleaved = right.layout.memory_class is MemoryClass.INTERLEAVED
    if multiply is PrecisionKind.F16 and row_block is not None:
        price = 342 + panels * ceil_div(c, 16) * (_slowest_worker(rows) + (170 if interleaved else 202))
    elif multiply is not PrecisionKind.F32 and interleaved:
        price = 294 + panels * ceil_div(c, 16) * (4 * rows + 160)
    else:
        weight, load = (4, 2126) if multiply is PrecisionKind.F32 else (1, 1063)
        price = 294 + panels * (ceil_div(c * weight * rows, 4) + ceil_div(ceil_div(c, 16) * load, 4))
    return calls * price


def _packed_rows(order: Order) -> int | None:
    """The row block of a result in blocks of 2^k ≥ 16 rows by 16 columns, else None."""
    if order.kind not in (OrderKind.MATRIX, OrderKind.TRANSPOSED_MATRIX) or order.column_block != 16:
        return None
    rows = order.row_block
    return rows if rows >= 16 and rows & (rows - 1) == 0 else None


def _rows(result: Shard, column_dimension: int, columns: int) -> int:
    """Rows of a call: all local extents, the columns counted as a call's, but the one its panels run along."""
    extents = [columns if axis == column_dimension else extent for axis, extent in enumerate(result.extents)]
    left_out = len(extents) - (2 if result.order.kind in _SECOND_LAST else 1)
    return prod(extent for axis, extent in enumerate(extents) if axis != left_out)


def _slowest_worker(rows: int) -> int:
    """Cycles of the slowest of six workers, each with its share of the rows in panels of 16."""
    share, more = divmod(rows, _WORKERS)
    slowest = 0
    for worker in range(_WORKERS):
        own = share + (worker < more)
        first = worker * share + min(worker, more)
        if own:
            slowest = max(slowest, 24 * own + 184 * ceil_div(first % 16 + own, 16))
    return slowest
