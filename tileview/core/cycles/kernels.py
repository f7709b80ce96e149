"""Prices of kernels by their largest shard: over local elements, attention, moves, matrix products.

Each function takes the shards of the operands (donors are none) and of the first result. Constants are cycles of six
workers a tile, as the compiler has them.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import NamedTuple

from tileview.core.geometry.resolve import LayoutError, resolve
from tileview.core.memory.exchange import Movement, share_micro_panels
from tileview.model.program import MergePart, ProductBlocks, SoftmaxKeys, Value
from tileview.model.tensor import Layout, MemoryClass, Order, OrderKind, Precision, PrecisionKind, Shape


class Shard(NamedTuple):
    """A value as a price sees it.

    ``extents``: for every dimension the largest physical width of its partitions, padding included; of a linear layout
    one dimension, the elements of the largest shard.
    """

    extents: Shape
    elements: int
    precision: Precision
    layout: Layout

    @property
    def kind(self) -> PrecisionKind:
        return self.precision.kind

    @property
    def order(self) -> Order:
        return self.layout.order

    @property
    def width(self) -> int:
        """The last extent; 1 where there is none."""
        return self.extents[-1] if self.extents else 1

    @property
    def rows(self) -> int:
        """The product of all extents but the last."""
        return prod(self.extents[:-1])

    @property
    def bytes(self) -> int:
        return self.elements * (self.precision.element_bytes or 0)


def shard_of(value: Value) -> Shard | None:
    """The largest shard of a value; None where its layout is invalid or its precision is not known."""
    return _shard(value.shape, value.precision, value.layout)


@lru_cache(maxsize=1 << 14)
def _shard(shape: Shape, precision: Precision, layout: Layout) -> Shard | None:
    if precision.element_bytes is None:
        return None
    try:
        resolved = resolve(shape, layout)
    except LayoutError:
        return None
    elements = resolved.maximum_elements
    if resolved.splits is None:
        return Shard((elements,), elements, precision, layout)
    extents = tuple(
        extent if split is None else split.wide
        for extent, split in zip(resolved.padded_shape, resolved.splits, strict=True)
    )
    return Shard(extents, elements, precision, layout)


def clear_cache() -> None:
    """Forget every shard (for measurements from cold)."""
    _shard.cache_clear()


_F16, _F32, _F8 = PrecisionKind.F16, PrecisionKind.F32, PrecisionKind.F8F143


def ceil_div(number: int, by: int) -> int:
    return -(-number // by)


def add(operands: list[Shard], result: Shard) -> int | None:
    """Add of two tensors; the faster forms need multiples of 4, and an operand that repeats in the other."""
    if len(operands) < 2:
        return None
    e = result.elements
    if result.kind is not _F16:
        return 3 * e + 11
    a, b = operands[0].elements, operands[1].elements
    w = min(a, b)
    if e % 4 == 0 and a % 4 == 0 and b % 4 == 0:
        if a == b == e:
            return 504 + ceil_div(e, 24) * 18
        if e in (a, b) and w and e % w == 0:
            return 504 + e // w * ceil_div(w, 24) * 18 + (e // w - 1) * 234
    return 450 + ceil_div(e, 12) * 54


def gelu(operands: list[Shard], result: Shard) -> int | None:
    """Gelu to F16, F32 or F8."""
    e = result.elements
    if result.kind is _F16:
        return ceil_div(e, 96) * 462 + 330 if e and e % 16 == 0 else gelu_of(e, 480, 120, 330, 342)
    if result.kind is _F32:
        return 10 * e + 11
    source = operands[0]
    return 138 + source.rows * (372 + ceil_div(source.width, 192) * 1002)


def gelu_of(elements: int, block: int, pair: int, whole: int, rest: int) -> int:
    """The slowest of six workers over pairs of elements that are no whole vectors."""
    slowest = 0
    for worker in range(6):
        pairs = ceil_div(elements, 2) - 8 * worker
        if pairs <= 0:
            break
        blocks = 0 if pairs < 8 else (pairs - 8) // 48 + 1
        left = max(pairs - 48 * blocks, 0)
        slowest = max(slowest, block * blocks + pair * left + (rest if left else whole))
    return slowest


def bias_gelu(operands: list[Shard], result: Shard) -> int | None:
    """Gelu of a sum with a bias of one row, to F16 or F8."""
    if len(operands) < 2:
        return None
    if result.kind is _F8:
        source = operands[0]
        left = 12 if result.order.kind is OrderKind.LEFT else 0
        return 330 + source.rows * (198 + ceil_div(source.width, 192) * 1104 + left)
    if result.kind is not _F16:
        return None
    rows, w = result.rows, result.width
    if not rows or not w:
        return 0
    row = 450 + ceil_div(w, 24) * 90 if w % 4 == 0 else 36 + _bias_gelu_row(w)
    return 222 + rows * max(row - 222, 0)


def _bias_gelu_row(width: int) -> int:
    return ceil_div(width, 96) * 462 + 330 if width % 16 == 0 else gelu_of(width, 534, 138, 426, 462)


def layer_norm(operands: list[Shard], result: Shard) -> int | None:
    """LayerNorm to F16 or F32, or to F8 (then by its input's shard)."""
    if result.kind is _F8:
        return None if not operands else _layer_norm_to_f8(operands[0], result)
    w = result.width
    return 132 + result.rows * (_statistics(w) + _apply(w))


def _layer_norm_to_f8(source: Shard, result: Shard) -> int:
    rows, w = source.rows, source.width
    write = 162 if result.order.kind is OrderKind.LEFT and rows > 1 else 6
    return 132 + rows * (_statistics(w) + ceil_div(w, 12) * 60 + 270 + ceil_div(w, 24) * write)


def _statistics(width: int) -> int:
    """One row's sum and sum of squares, with what follows from them."""
    return _moments(width) + (1329 if _is_wide(width) else 1200)


def _moments(width: int) -> int:
    return ceil_div(width, 48) * 12 + ceil_div(width, 24) * 30 + 24 if _is_wide(width) else ceil_div(width, 12) * 48


def _is_wide(width: int) -> bool:
    return width >= 96 and width % 8 == 0


def _apply(width: int) -> int:
    return 66 + ceil_div(width, 24) * 72 if width % 4 == 0 else ceil_div(width, 12) * 60


def add_layer_norm(operands: list[Shard], result: Shard) -> int | None:
    """LayerNorm of the sum of two tensors, to F16."""
    if len(operands) < 4 or result.kind is not _F16:
        return None
    w = result.width
    if _is_wide(w):
        statistics = ceil_div(w, 48) * 30 + ceil_div(w, 24) * 42 + 24 + 1386
    else:
        statistics = ceil_div(w, 12) * 72 + 1290
    apply = 66 + ceil_div(w, 24) * 84 if w % 4 == 0 else ceil_div(w, 12) * 72
    return 132 + result.rows * (statistics + apply)


def layer_norm_moments(operands: list[Shard], result: Shard) -> int | None:
    """The statistics alone, by the shard of the input."""
    source = operands[0]
    return 126 + source.rows * (_moments(source.width) + 1080)


def add_layer_norm_moments(operands: list[Shard], result: Shard) -> int | None:
    """A sum with its statistics."""
    source = operands[0]
    moments = layer_norm_moments(operands, result)
    return None if moments is None else moments + source.rows * (108 + ceil_div(source.width, 48) * 24)


def layer_norm_apply(result: Shard, parts: int) -> int:
    """LayerNorm from the statistics of ``parts`` parts."""
    w = result.width
    if w % 4 == 0:
        return 774 + result.rows * (402 + 54 * parts + ceil_div(w, 24) * 72)
    return 558 + result.rows * (324 + 54 * parts + ceil_div(w, 12) * 60)


def cast(operands: list[Shard], result: Shard) -> int | None:
    """A cast; F16 to F8 packs panels as it goes."""
    source, e = operands[0], result.elements
    if source.kind is _F16 and result.kind is _F8:
        return _cast_to_f8(source, result)
    if source.kind is _F32 and result.kind is _F16:
        return 330 + ceil_div(e, 12) * 48
    widths = (source.precision.element_bytes or 0) + (result.precision.element_bytes or 0)
    return 11 + ceil_div(e * widths, 8)


def _cast_to_f8(source: Shard, result: Shard) -> int:
    e = result.elements
    rows = _panel_rows(result)
    one_row = result.order.kind is OrderKind.LEFT and rows == 1 and source.elements == e
    if rows is None or one_row:
        return 330 + ceil_div(e, 48) * 24
    panels = ceil_div(e, 32 * rows) if rows else 0
    if rows <= 32 and panels >= 6:
        return 330 + ceil_div(panels, 6) * (120 + 72 * rows)
    return 330 + panels * (120 + ceil_div(rows, 6) * 72)


def _panel_rows(result: Shard) -> int | None:
    """Rows of a micro-panel in the order of a shard; None where it has no panels."""
    kind = result.order.kind
    if kind is OrderKind.LEFT:
        return result.rows
    if kind is OrderKind.TRANSPOSED_LEFT:
        return result.width
    if kind is OrderKind.TRANSPOSED_RIGHT:
        return 16
    return result.order.column_block if kind in (OrderKind.MATRIX, OrderKind.TRANSPOSED_MATRIX) else None


def scalar_attention(operands: list[Shard], result: Shard) -> int | None:
    """The reference kernel of attention: None where an operand has fewer than two local dimensions or another rank."""
    ranks = {len(operand.extents) for operand in operands}
    if len(operands) != 3 or len(ranks) != 1 or min(ranks) < 2:
        return None
    query, key, value = operands
    pairs = prod(query.extents[:-1]) * key.extents[-2]
    return ceil_div(pairs * (query.width + value.width) * 4, 6) + 11


_LEAST_SPLIT = 128
"""Keys from which a row can be split among workers."""


def softmax(weights: Shard, keys: SoftmaxKeys) -> int:
    """Softmax of one block of keys: the cheaper of rows whole and rows split, and packing where the weights are F8."""
    rows = weights.rows
    if rows == 0:
        return 0
    price = whole = _whole_rows(rows, keys)
    per_round, panel = 6, 16
    if keys.valid >= _LEAST_SPLIT:
        split = 408 + ceil_div(rows, 2) * 6 * (ceil_div(keys.padded, 48) * 41 + 123) + ceil_div(rows, 6) * 126
        if split < whole:
            price, per_round, panel = split, 2, 48
    if weights.precision.is_f8:
        price += ceil_div(rows, per_round) * 6 * (ceil_div(keys.padded, panel) * 7 + 8)
    return price


def _whole_rows(rows: int, keys: SoftmaxKeys) -> int:
    """A worker takes a row: whole vectors of 16 keys, then what is left of the valid keys, then the padding."""
    vectors, left = divmod(keys.valid, 16)
    any_vector = int(vectors > 0)
    full = any_vector * 2 + 41 * vectors
    rounds = ceil_div(rows, 6) * 6
    if keys.valid == keys.padded:
        return 222 + rounds * (35 + full)
    pairs = left // 2
    zeros = 8 - ceil_div(left, 2)
    empty = max(keys.padded // 16 - vectors - 1, 0)
    row = 28 + full + 5 + any_vector * 6 + 21 + (4 if vectors else 2)
    row += 2 * (pairs > 0) + 12 * pairs + 12 * (keys.valid % 2)
    row += (zeros > 0) + 2 * zeros + (empty > 0) + 10 * empty
    return 234 + rounds * row


def merge(result: Shard, part: MergePart) -> int:
    """Merge of one block's weighted values into the state."""
    rows = result.rows
    if rows == 0:
        return 0
    f16 = int(result.kind is PrecisionKind.F16)
    vectors = part.values // 16
    row = (24 if part.initial else 31) + f16 * 3 + (vectors > 0) + 3 * vectors
    row += ceil_div(part.values, 2) * ((4 if part.initial else 6) + f16)
    if part.final:
        row += 3 if part.initial else 5
    return 222 + ceil_div(rows, 6) * 6 * row


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
