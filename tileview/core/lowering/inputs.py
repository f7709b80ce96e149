"""The formats of graph inputs that nothing fixes: flat for parameters, canonical for host data (and boundaries)."""

from __future__ import annotations

from math import prod

from tileview.core.lowering.tilings import REJECT, from_end, linear
from tileview.errors import PlanError
from tileview.model.config import PipelineConfig
from tileview.model.graph import GraphInput, InputKind
from tileview.model.recipe import Recipe
from tileview.model.tensor import ROW_MAJOR, Format, Layout, Precision, Shape, Tiling

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
