"""From owners to tiles, what each owner holds, and where logical tiles sit on the chip.

Layouts number tiles logically. The C600 is a grid of 23 rows by 64 columns of physical tiles, physical id = row · 64 +
column; logical numbers run along it in pairs, down one column of pairs and up the next. Two physical tiles whose ids
differ in bit 1 only share a double-width exchange port.

A layout speaks of owners 0 … n − 1; a value's owner map places them: owner o sits at ordinal (o + rotation) mod D,
where D is the embedding's length or the device's tile count, and its tile is that ordinal or the embedding's entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import isqrt, prod
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tileview.core.geometry.resolved import OwnerArray, Resolved
from tileview.errors import TileViewError
from tileview.model.config import CHIP_TILES
from tileview.model.owners import Owners

CHIP_ROWS: Final = 23
CHIP_COLUMNS: Final = 64

IndexArray = npt.NDArray[np.int64]


def chip_position(logical: int) -> tuple[int, int]:
    """Row and column of a logical tile of the 1472-tile chip.

    With pair p = L div 2 and lane l = L mod 2, block b = p div 23 and r = p mod 23: odd blocks run backwards, so the
    row is 22 − r there and r elsewhere; the column is (b div 2) · 4 + (b mod 2) + 2 · l.

    Raises
    ------
    ValueError
        For a number that no tile has.
    """
    if not 0 <= logical < CHIP_TILES:
        raise ValueError(f"the chip has tiles 0 … {CHIP_TILES - 1}, not {logical}")
    pair, lane = divmod(logical, 2)
    block, r = divmod(pair, CHIP_ROWS)
    row = CHIP_ROWS - 1 - r if block % 2 else r
    return row, block // 2 * 4 + block % 2 + 2 * lane


def physical_id(logical: int) -> int:
    """Physical id (row · 64 + column) of a logical tile of the 1472-tile chip."""
    row, column = chip_position(logical)
    return row * CHIP_COLUMNS + column


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """A picture's grid. ``row`` and ``column`` are (tiles,); ``tile`` is (rows, columns), −1 for no tile.

    The first two are indexed by logical number.
    ``is_chip``: positions are physical ones; otherwise tiles stand in logical order, row by row. Arrays are read-only.
    """

    rows: int
    columns: int
    row: IndexArray
    column: IndexArray
    tile: IndexArray
    is_chip: bool

    def tile_at(self, row: int, column: int) -> int | None:
        """The logical tile drawn at a place, None where there is none (outside included)."""
        if not (0 <= row < self.rows and 0 <= column < self.columns):
            return None
        tile = int(self.tile[row, column])
        return None if tile < 0 else tile


@lru_cache(maxsize=64)
def grid(tile_count: int, *, logical_order: bool = False) -> Grid:
    """The grid on which ``tile_count`` tiles are drawn.

    1472 tiles have the chip's 23 × 64 places, or, in logical order, the same grid filled row by row. Other numbers have
    no chip geometry: logical order on ⌈√n⌉ columns.
    """
    is_chip = tile_count == CHIP_TILES and not logical_order
    tiles = np.arange(tile_count, dtype=np.int64)
    if tile_count == CHIP_TILES:
        rows, columns = CHIP_ROWS, CHIP_COLUMNS
    else:
        columns = isqrt(tile_count - 1) + 1 if tile_count > 0 else 0
        rows = -(-tile_count // columns) if columns else 0
    if is_chip:
        pair, lane = np.divmod(tiles, 2)
        block, r = np.divmod(pair, CHIP_ROWS)
        row = np.where(block % 2 == 1, CHIP_ROWS - 1 - r, r)
        column = block // 2 * 4 + block % 2 + 2 * lane
    else:
        row, column = np.divmod(tiles, max(columns, 1))
    places = np.full((rows, columns), -1, dtype=np.int64)
    places[row, column] = tiles
    for array in (row, column, places):
        array.flags.writeable = False
    return Grid(rows, columns, row, column, places, is_chip)


class OwnerError(TileViewError):
    """An owner map that needs tiles which the device (or the embedding) does not have."""


def check_owners(owners: Owners, owner_count: int, tile_count: int) -> None:
    """Raise :class:`OwnerError` where an owner has no tile: more owners than places, or an entry beyond the device."""
    places = tile_count if owners.embedding is None else len(owners.embedding)
    if owner_count > places:
        where = f"a device of {tile_count} tiles" if owners.embedding is None else f"an embedding of {places} tiles"
        raise OwnerError(f"{owner_count} owners do not fit {where}")
    if owners.embedding is not None:
        for tile in owners.embedding:
            if not 0 <= tile < tile_count:
                raise OwnerError(f"the embedding names tile {tile} of a device of {tile_count} tiles")


def owner_tiles(owners: Owners, owner_count: int, tile_count: int) -> OwnerArray:
    """(owners,): the tile of each owner.

    Raises
    ------
    OwnerError
        Where an owner has no tile.
    """
    check_owners(owners, owner_count, tile_count)
    places = tile_count if owners.embedding is None else len(owners.embedding)
    if places == 0:
        return np.zeros(0, dtype=np.int64)
    ordinals = (np.arange(owner_count, dtype=np.int64) + owners.rotation % places) % places
    if owners.embedding is None:
        return ordinals
    return np.array(owners.embedding, dtype=np.int64)[ordinals]


def spread(per_owner: OwnerArray, owners: Owners, tile_count: int) -> OwnerArray:
    """(tiles,): numbers per owner put on their tiles, 0 elsewhere; where an embedding names a tile twice, their sum.

    Raises
    ------
    OwnerError
        Where an owner has no tile.
    """
    count = len(per_owner)
    check_owners(owners, count, tile_count)
    result = np.zeros(tile_count, dtype=np.int64)
    if owners.embedding is not None:
        np.add.at(result, owner_tiles(owners, count, tile_count), per_owner)
    elif count:
        start = owners.rotation % tile_count
        straight = min(count, tile_count - start)
        result[start : start + straight] = per_owner[:straight]
        result[: count - straight] = per_owner[straight:]
    return result


class Extent(NamedTuple):
    """What an owner holds of one dimension: data in [start, logical_end), memory for [start, physical_end)."""

    start: int
    logical_end: int
    physical_end: int


def owner_box(resolved: Resolved, owner: int) -> tuple[Extent, ...]:
    """The box an owner holds: one extent a dimension; for a linear layout one extent of the flattened elements.

    Raises
    ------
    IndexError
        For an owner that the layout does not have.
    """
    if not 0 <= owner < resolved.owner_count:
        raise IndexError(f"owner {owner} of {resolved.owner_count}")
    if resolved.dimensions is None:
        grain = resolved.grain
        elements = prod(resolved.shape)
        short, long = divmod(-(-elements // grain), resolved.owner_count)
        start = (owner * short + min(owner, long)) * grain
        end = start + (short + (owner < long)) * grain
        return (Extent(start, min(end, elements), end),)
    box = []
    for bounds in resolved.dimensions:
        part = owner // bounds.stride % bounds.partitions
        box.append(Extent(bounds.starts[part], bounds.logical_ends[part], bounds.physical_ends[part]))
    return tuple(box)


@lru_cache(maxsize=256)
def owner_parts(resolved: Resolved) -> OwnerArray:
    """(owners, dimensions): the partition an owner holds; for a linear layout (owners, 1): the owner.

    Replicas are the owners whose rows are equal.
    """
    owner = np.arange(resolved.owner_count, dtype=np.int64)
    if resolved.splits is None:
        parts = owner[:, np.newaxis].copy()
    else:
        parts = np.zeros((resolved.owner_count, len(resolved.splits)), dtype=np.int64)
        for dimension, split in enumerate(resolved.splits):
            if split is not None:
                parts[:, dimension] = owner // split.stride % split.partitions
    parts.flags.writeable = False
    return parts
