"""Where tiles sit on the chip, and the grids that pictures use."""

from __future__ import annotations

import numpy as np
import pytest

from tileview.core.geometry.owners import (
    CHIP_COLUMNS,
    CHIP_ROWS,
    chip_position,
    grid,
    physical_id,
)


@pytest.mark.parametrize(
    ("logical", "row", "column", "physical"),
    [(0, 0, 0, 0), (1, 0, 2, 2), (45, 22, 2, 1410), (46, 22, 1, 1409), (1471, 0, 63, 63)],
)
def test_known_places(logical: int, row: int, column: int, physical: int) -> None:
    assert chip_position(logical) == (row, column)
    assert physical_id(logical) == physical


def test_the_map_is_a_permutation() -> None:
    assert sorted(physical_id(tile) for tile in range(1472)) == list(range(1472))


def test_logical_neighbours_share_an_exchange_port() -> None:
    for pair in range(736):
        assert physical_id(2 * pair) ^ 2 == physical_id(2 * pair + 1)


@pytest.mark.parametrize("tile", [-1, 1472])
def test_tiles_that_do_not_exist(tile: int) -> None:
    with pytest.raises(ValueError, match=str(tile)):
        chip_position(tile)


def test_chip_grid_agrees_with_single_positions() -> None:
    chip = grid(1472)
    assert chip.is_chip
    assert (chip.rows, chip.columns) == (CHIP_ROWS, CHIP_COLUMNS)
    for tile in range(1472):
        assert (chip.row[tile], chip.column[tile]) == chip_position(tile)
        assert chip.tile_at(*chip_position(tile)) == tile
    assert chip.tile_at(23, 0) is None


def test_logical_order_of_the_chip() -> None:
    logical = grid(1472, logical_order=True)
    assert not logical.is_chip
    np.testing.assert_array_equal(logical.tile.ravel(), np.arange(1472))


@pytest.mark.parametrize(
    ("tiles", "rows", "columns"), [(1, 1, 1), (2, 1, 2), (3, 2, 2), (5, 2, 3), (64, 8, 8), (65, 8, 9), (0, 0, 0)]
)
def test_other_counts_are_near_square(tiles: int, rows: int, columns: int) -> None:
    square = grid(tiles)
    assert (square.rows, square.columns) == (rows, columns)
    assert not square.is_chip
    assert [square.tile_at(*divmod(tile, columns)) for tile in range(tiles)] == list(range(tiles))
    assert (square.tile == -1).sum() == rows * columns - tiles
