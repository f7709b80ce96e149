"""Prices of kernels over local elements: Add, Gelu, LayerNorm in its forms, casts, the scalar attention.

Each function takes the shards of the operands (donors are none) and of the first result. Constants are cycles of six
workers a tile, as the compiler has them.
"""

from __future__ import annotations

from math import prod

from tileview.core.cycles.shards import Shard
from tileview.model.tensor import OrderKind, PrecisionKind

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
