"""Owners on tiles: rotation, embedding, and what does not fit."""

from __future__ import annotations

import numpy as np
import pytest

from tileview.core.geometry.owners import OwnerError, owner_box, owner_parts, owner_tiles, spread
from tileview.core.geometry.resolve import resolve
from tileview.model.owners import DIRECT_OWNERS, Owners
from tileview.model.tensor import ROW_MAJOR, Axis, AxisBase, Layout, Padding, Tiling


def test_rotation_wraps_around_the_device() -> None:
    # owners 0 1 2 from tile 3 of 4:  tile 0 ← 1, tile 1 ← 2, tile 3 ← 0
    assert owner_tiles(Owners(rotation=3), 3, 4).tolist() == [3, 0, 1]
    assert spread(np.array([10, 20, 30]), Owners(rotation=3), 4).tolist() == [20, 30, 0, 10]


def test_embedding_is_rotated_by_its_own_length() -> None:
    owners = Owners(rotation=1, embedding=(7, 2, 5))
    assert owner_tiles(owners, 3, 8).tolist() == [2, 5, 7]
    assert spread(np.array([10, 20, 30]), owners, 8).tolist() == [0, 0, 10, 0, 0, 20, 0, 30]


def test_rotation_larger_than_the_device() -> None:
    assert owner_tiles(Owners(rotation=2**63 + 1), 2, 4).tolist() == [1, 2]


@pytest.mark.parametrize(
    ("owners", "count"),
    [(DIRECT_OWNERS, 5), (Owners(embedding=(0, 1)), 3), (Owners(embedding=(0, 4)), 1), (Owners(embedding=(0, -1)), 2)],
)
def test_what_does_not_fit(owners: Owners, count: int) -> None:
    with pytest.raises(OwnerError):
        owner_tiles(owners, count, 4)
    with pytest.raises(OwnerError):
        spread(np.zeros(count, dtype=np.int64), owners, 4)


def test_box_of_an_owner() -> None:
    # 5 rows in 2 parts of blocks of 2 (6 after padding): rows 0-3 and 4-5, of which row 5 is padding
    axis = Axis(AxisBase.START, 0, 2, block_size=2, padding_multiple=2, padding=Padding.ZERO, tile_stride=1)
    resolved = resolve((5, 3), Layout(ROW_MAJOR, Tiling(4, 2, (axis,))))
    assert owner_box(resolved, 1) == ((4, 5, 6), (0, 3, 3))
    assert owner_box(resolved, 2) == ((0, 4, 4), (0, 3, 3))
    assert owner_parts(resolved).tolist() == [[0, 0], [1, 0], [0, 0], [1, 0]]
    with pytest.raises(IndexError):
        owner_box(resolved, 4)


def test_box_of_a_linear_owner_ends_with_the_elements() -> None:
    axis = Axis(AxisBase.LINEAR, 0, 2, block_size=4, padding_multiple=4, padding=Padding.ZERO)
    resolved = resolve((3, 3), Layout(ROW_MAJOR, Tiling(2, 1, (axis,))))
    # 9 elements are 3 grains of 4: two for owner 0, one for owner 1, whose last three elements are padding
    assert owner_box(resolved, 0) == ((0, 8, 8),)
    assert owner_box(resolved, 1) == ((8, 9, 12),)
