"""Where logical tiles sit: on the chip for 1472 of them, on a near-square grid for any other number.

Layouts number tiles logically. The C600 is a grid of 23 rows by 64 columns of physical tiles, physical id = row · 64 +
column; logical numbers run along it in pairs, down one column of pairs and up the next. Two physical tiles whose ids
differ in bit 1 only share a double-width exchange port.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import isqrt
from typing import Final

import numpy as np
import numpy.typing as npt

from tileview.model.config import CHIP_TILES

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
