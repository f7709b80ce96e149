"""Homes of automatic parameters: the compact layout a parameter keeps between uses, chosen for its first consumer.

The formats of graph inputs that nothing fixes: flat for parameters, canonical for host data (and boundaries).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Final

from tileview.core.lowering.tilings import REJECT, ZERO, from_end, linear
from tileview.core.lowering.valuetypes import RefusedError, TypeTable, ValueType
from tileview.errors import PlanError
from tileview.model.config import PipelineConfig
from tileview.model.graph import GraphInput, InputKind
from tileview.model.recipe import Recipe
from tileview.model.tensor import (
    LEFT,
    ROW_MAJOR,
    TRANSPOSED_LEFT,
    Format,
    Layout,
    Order,
    OrderKind,
    Precision,
    Shape,
    Tiling,
)

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


_ROW_BUFFER_BYTES = 16_384
"""A canonical layout puts at most this many bytes of rows on a tile, where there are tiles enough."""


def flat_grain(elements: int, precision: Precision) -> int:
    """Elements of a grain of a flat layout: 8 bytes' worth, halved until it divides the elements.

    An unknown precision counts a byte an element: its sizes are unavailable whatever the grain.
    """
    grain = 8 // (precision.element_bytes or 1)
    while grain > 1 and elements % grain:
        grain //= 2
    return grain


def flat_owners(elements: int, grain: int, tiles: int) -> int:
    return min(elements // grain, tiles)


def flat_layout(shape: Shape, precision: Precision, tiles: int) -> Layout:
    """Row-major grains of 8 bytes (or the largest power-of-two part that divides) over as many tiles as there are
    grains.
    """
    elements = prod(shape)
    grain = flat_grain(elements, precision)
    return Layout(ROW_MAJOR, linear(flat_owners(elements, grain, tiles), grain))


def canonical_layout(shape: Shape, precision: Precision, config: PipelineConfig) -> Layout:
    """The format of host inputs and closed boundaries: row-major, the second-last dimension over some tiles.

    With ``capacity_baseline`` over as many tiles as there are rows or tiles. Otherwise in blocks of rows: the largest
    power of two that keeps a tile's rows (all leading dimensions counted) within 16,384 bytes, at most all rows, and
    at least what it takes to get along with the tiles there are. Below rank 2 it is the flat layout.
    """
    if len(shape) < 2:
        return flat_layout(shape, precision, config.tile_count)
    rows = shape[-2]
    if config.capacity_baseline:
        owners = min(rows, config.tile_count)
    elif rows:
        row_bytes = prod(shape) // rows * (precision.element_bytes or 1)
        capacity = max(_ROW_BUFFER_BYTES // row_bytes, 1) if row_bytes else rows
        power = 1 << (capacity.bit_length() - 1)
        block = max(min(power, rows), -(-rows // config.tile_count))
        owners = -(-rows // block)
    else:
        owners = 1
    return Layout(ROW_MAJOR, Tiling(owners, 1, (from_end(2, owners, 1, REJECT),)))


def input_format(recipe: Recipe, config: PipelineConfig, given: GraphInput) -> tuple[Format, bool]:
    """The format of a graph input, and whether its layout is left for its first consumer to choose.

    The recipe's home wins, then the configuration's; else the configuration's precision with a flat (Parameter) or
    canonical (Host) layout.

    Raises
    ------
    PlanError
        Where the configuration has no precision for the input.
    """
    fixed = recipe.inputs.get(given.value) or config.inputs.get(given.value)
    if fixed is not None:
        return fixed, False
    precision = config.automatic_inputs.get(given.value)
    if precision is None:
        raise PlanError(f"input {given.name} (value {given.value}) has no format and no precision in the configuration")
    if given.kind is InputKind.PARAMETER:
        return Format(precision, flat_layout(given.shape, precision, config.tile_count)), True
    return Format(precision, canonical_layout(given.shape, precision, config)), False
