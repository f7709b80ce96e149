"""Prices of the two kernels of an attention in blocks: softmax and merge."""

from __future__ import annotations

from tileview.core.cycles.elementwise import ceil_div
from tileview.core.cycles.shards import Shard
from tileview.model.program import MergePart, SoftmaxKeys
from tileview.model.tensor import PrecisionKind

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
