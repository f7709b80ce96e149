"""Homes of automatic parameters: the compact layout a parameter keeps between uses, chosen for its first consumer."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Final

from tileview.core.lowering.inputs import flat_grain, flat_owners
from tileview.core.lowering.tilings import ZERO, from_end, linear
from tileview.core.lowering.valuetypes import RefusedError, TypeTable, ValueType
from tileview.model.tensor import LEFT, ROW_MAJOR, TRANSPOSED_LEFT, Layout, Order, OrderKind, Precision, Shape, Tiling

_MICRO_BYTES: Final = 32
_OWNER_BYTES: Final = 256
"""A row-major home takes a tile for every 256 bytes."""


@dataclass(frozen=True, slots=True)
class HomeLimits:
    """``limit_bytes``: min(tile budget, 586,960). A home, once for every copy, and the reserve must stay within it."""

    limit_bytes: int
    reserve_bytes: int


def home_order(order: Order) -> Order:
    """The order of the home of a parameter that is needed in ``order``: block orders become the Amp order they pack
    into.
    """
    if order.kind is OrderKind.MATRIX:
        return TRANSPOSED_LEFT
    if order.kind is OrderKind.TRANSPOSED_MATRIX:
        return LEFT
    return order


def home_type(types: TypeTable, current: ValueType, order: Order, copies: int, limits: HomeLimits) -> ValueType:
    """The home of a parameter whose first consumer needs it in ``order``; its precision stays.

    Parameters
    ----------
    copies : int
        How many members the home serves: a Repeat's count for one parameter a layer, else 1.

    Raises
    ------
    RefusedError
        Where no home of that order fits.
    """
    wanted = home_order(order)
    shape, precision = current.shape, current.precision
    if wanted.kind is OrderKind.ROW_MAJOR:
        layout = _row_major_home(shape, precision, types.tile_count, copies, limits)
    else:
        if len(shape) < 2:
            raise RefusedError(f"a parameter {list(shape)} has no home in order {wanted}")
        layout = Layout(wanted, _blocked_home(shape, precision, wanted, types.tile_count))
    home = types.get(shape, precision, layout)
    if home.problem is not None:
        raise RefusedError(f"the home {home} {home.problem}")
    resolved, size = home.resolved, precision.element_bytes
    if resolved is not None and size is not None:
        needed = resolved.maximum_elements * size * copies + limits.reserve_bytes
        if needed > limits.limit_bytes:
            raise RefusedError(
                f"the home {home} takes {resolved.maximum_elements * size:,} B a tile for each of {copies}, "
                f"with the reserve {needed:,} B of {limits.limit_bytes:,} B"
            )
    return home


def _row_major_home(shape: Shape, precision: Precision, tiles: int, copies: int, limits: HomeLimits) -> Layout:
    """Flat grains on a tile for every 256 bytes, on more where so many would not fit."""
    elements = prod(shape)
    size = precision.element_bytes or 1
    grain = flat_grain(elements, precision)
    flat = flat_owners(elements, grain, tiles)
    chunks = (limits.limit_bytes - limits.reserve_bytes) // (grain * size * copies) if copies else 0
    if chunks <= 0:
        raise RefusedError(
            f"not one grain of {grain} elements of a parameter {list(shape)} fits {copies} times beside the reserve"
        )
    grains = -(-elements // grain)
    owners = max(min(-(-elements * size // _OWNER_BYTES), flat), -(-grains // chunks))
    if owners > flat:
        raise RefusedError(f"a parameter {list(shape)} needs {owners} tiles to fit {copies} times, {flat} can be had")
    return Layout(ROW_MAJOR, linear(owners, grain))


def block_grains(order: Order, precision: Precision) -> tuple[int, int]:
    """Rows and columns of the blocks that an Amp order is made of; a micro panel is 32 bytes wide."""
    micro = _MICRO_BYTES // (precision.element_bytes or 1)
    grains = {
        OrderKind.LEFT: (16, micro),
        OrderKind.TRANSPOSED_LEFT: (micro, 16),
        OrderKind.TRANSPOSED_RIGHT: (16, micro),
        OrderKind.OUTPUT: (1, 16),
        OrderKind.TRANSPOSED_OUTPUT: (16, 1),
    }
    return grains[order.kind]


def _blocked_home(shape: Shape, precision: Precision, order: Order, tiles: int) -> Tiling:
    """Rows over p and columns over q owners, with the smallest shard, then the fewest blocks in all, then the smallest
    p.
    """
    row_grain, column_grain = block_grains(order, precision)
    row_blocks, column_blocks = -(-shape[-2] // row_grain), -(-shape[-1] // column_grain)
    best: tuple[int, int, int, int] | None = None
    for p in range(1, min(row_blocks, tiles) + 1):
        q = min(column_blocks, tiles // p)
        if q:
            shard = -(-row_blocks // p) * row_grain * (-(-column_blocks // q) * column_grain)
            candidate = (shard, shard * p * q, p, q)
            if best is None or candidate < best:
                best = candidate
    if best is None:
        raise RefusedError(f"a parameter {list(shape)} without elements has no home in order {order}")
    _, _, p, q = best
    return Tiling(p * q, 1, (from_end(2, p, row_grain, ZERO), from_end(1, q, column_grain, ZERO)))
