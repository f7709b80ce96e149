"""Flat and canonical layouts and the homes of parameters, against the worked figures and brute force."""

from __future__ import annotations

from math import prod

import pytest

from tileview.core.geometry.resolve import resolve
from tileview.core.lowering.homes import HomeLimits, canonical_layout, flat_layout, home_order, home_type
from tileview.core.lowering.valuetypes import RefusedError, TypeTable
from tileview.model.config import PipelineConfig
from tileview.model.tensor import (
    F16,
    F32,
    LEFT,
    OUTPUT,
    ROW_MAJOR,
    TRANSPOSED_LEFT,
    TRANSPOSED_OUTPUT,
    TRANSPOSED_RIGHT,
    Order,
    OrderKind,
    Padding,
    Precision,
    PrecisionKind,
    Shape,
)

F8 = Precision(PrecisionKind.F8F143, -4)
ROOMY = HomeLimits(586_960, 49_152)


def config(tiles: int, *, baseline: bool = False) -> PipelineConfig:
    return PipelineConfig(tiles, baseline, {}, {}, 49_152, 586_960)


@pytest.mark.parametrize(
    ("shape", "precision", "tiles", "owners", "grain"),
    [
        ((1, 1, 144), F16, 64, 36, 4),  # 8 bytes are 4 elements, which divide 144
        ((1, 1, 1152), F16, 1472, 288, 4),
        ((588, 144), F8, 64, 64, 8),
        ((3, 2), F16, 8, 3, 2),  # 4 does not divide 6, 2 does
        ((5,), F32, 8, 5, 1),
        ((7,), F8, 4, 4, 1),
        ((), F16, 8, 1, 1),
    ],
)
def test_flat(shape: Shape, precision: Precision, tiles: int, owners: int, grain: int) -> None:
    layout = flat_layout(shape, precision, tiles)
    (axis,) = layout.tiling.axes
    assert layout.order == ROW_MAJOR
    assert (layout.tiling.tile_count, layout.tiling.replicas) == (owners, 1)
    assert (axis.partitions, axis.block_size, axis.padding_multiple) == (owners, grain, grain)
    assert axis.padding is Padding.REJECT


@pytest.mark.parametrize(
    ("shape", "precision", "tiles", "owners"),
    [
        ((1, 4, 588), F16, 64, 1),
        ((1, 729, 1152), F16, 1472, 183),  # 2,304 B a row: 7 rows fit, 4 are a power of two
        ((1, 729, 3456), F16, 1472, 365),  # 6,912 B a row: 2 rows
        ((2, 150, 48), F16, 64, 3),  # both batch entries count: 192 B a row, 85 fit, 64 are a power of two
        ((1, 20_000, 1), F16, 2, 2),  # 8,192 rows fit a tile, but there are only 2 tiles
        ((1, 4, 20_000), F16, 64, 4),  # one row alone is more than 16,384 B
        ((1, 40, 8), F16, 3, 1),
    ],
)
def test_canonical(shape: Shape, precision: Precision, tiles: int, owners: int) -> None:
    layout = canonical_layout(shape, precision, config(tiles))
    (axis,) = layout.tiling.axes
    assert layout.tiling.tile_count == axis.partitions == owners
    assert (axis.index, axis.block_size, axis.padding) == (2, 1, Padding.REJECT)


def test_canonical_with_capacity_baseline_takes_a_tile_a_row() -> None:
    assert canonical_layout((1, 40, 8), F16, config(64, baseline=True)).tiling.tile_count == 40
    assert canonical_layout((1, 40, 8), F16, config(16, baseline=True)).tiling.tile_count == 16


def test_canonical_below_rank_2_is_flat() -> None:
    assert canonical_layout((40,), F16, config(64, baseline=True)) == flat_layout((40,), F16, 64)


@pytest.mark.parametrize(("shape", "owners"), [((1, 1, 144), 2), ((1, 4, 144), 5), ((1, 1, 4), 1)])
def test_row_major_home_takes_a_tile_for_256_bytes(shape: Shape, owners: int) -> None:
    types = TypeTable(64)
    home = home_type(types, types.get(shape, F16, flat_layout(shape, F16, 64)), ROW_MAJOR, 1, ROOMY)
    assert home.layout.tiling.tile_count == owners


def test_home_of_an_f8_weight() -> None:
    """[588, 144] F8 on 64 tiles: TransposedLeft in blocks of 32 × 16, 19 × 3 owners, shards of 32 × 48."""
    types = TypeTable(64)
    home = home_type(types, types.get((588, 144), F8, flat_layout((588, 144), F8, 64)), TRANSPOSED_LEFT, 1, ROOMY)
    assert [axis.partitions for axis in home.layout.tiling.axes] == [19, 3]
    assert resolve(home.shape, home.layout).maximum_elements == 32 * 48


GRAINS = {  # rows, columns of a block; a micro panel is 32 bytes
    LEFT: lambda size: (16, 32 // size),
    TRANSPOSED_LEFT: lambda size: (32 // size, 16),
    TRANSPOSED_RIGHT: lambda size: (16, 32 // size),
    OUTPUT: lambda size: (1, 16),
    TRANSPOSED_OUTPUT: lambda size: (16, 1),
}


@pytest.mark.parametrize("order", list(GRAINS), ids=str)
@pytest.mark.parametrize("precision", [F8, F16, F32], ids=str)
@pytest.mark.parametrize(("shape", "tiles"), [((40, 70), 6), ((3, 33, 16), 11), ((100, 16), 64), ((16, 200), 7)])
def test_blocked_home_is_the_best_of_all(order: Order, precision: Precision, shape: Shape, tiles: int) -> None:
    """Of every p × q grid within the tiles that a p can have most columns of: least shard, least total, least p."""
    size = precision.element_bytes
    assert size is not None
    row_grain, column_grain = GRAINS[order](size)
    rows, columns = -(-shape[-2] // row_grain), -(-shape[-1] // column_grain)
    best = min(
        (-(-rows // p) * row_grain * -(-columns // q) * column_grain, -(-rows // p) * -(-columns // q) * p * q, p, q)
        for p in range(1, min(rows, tiles) + 1)
        for q in [min(columns, tiles // p)]
        if q
    )
    types = TypeTable(tiles)
    home = home_type(types, types.get(shape, precision, flat_layout(shape, precision, tiles)), order, 1, ROOMY)
    assert home.layout.order == order
    row_axis, column_axis = home.layout.tiling.axes
    assert (row_axis.partitions, column_axis.partitions) == best[2:]
    assert (row_axis.block_size, column_axis.block_size) == (row_grain, column_grain)
    assert resolve(shape, home.layout).maximum_elements == best[0] * prod(shape[:-2])


def test_block_orders_become_the_order_they_pack_into() -> None:
    assert home_order(Order(OrderKind.MATRIX, 96, 16)) == TRANSPOSED_LEFT
    assert home_order(Order(OrderKind.TRANSPOSED_MATRIX, 96, 16)) == LEFT
    assert home_order(OUTPUT) == OUTPUT


def test_home_limit_counts_copies_and_reserve() -> None:
    """A Left home of 2,048 bytes on the only tile, three times, with a reserve of 100."""
    types = TypeTable(1)
    current = types.get((32, 32), F16, flat_layout((32, 32), F16, 1))
    assert home_type(types, current, LEFT, 3, HomeLimits(6_244, 100)).problem is None
    with pytest.raises(RefusedError, match="6,244 B of 6,243 B"):
        home_type(types, current, LEFT, 3, HomeLimits(6_243, 100))


def test_row_major_home_that_fits_nowhere() -> None:
    types = TypeTable(64)
    current = types.get((4096,), F16, flat_layout((4096,), F16, 64))
    assert home_type(types, current, ROW_MAJOR, 1, HomeLimits(128, 0)).layout.tiling.tile_count == 64
    with pytest.raises(RefusedError, match="needs 69 tiles"):
        home_type(types, current, ROW_MAJOR, 1, HomeLimits(127, 0))
    with pytest.raises(RefusedError, match="not one grain"):
        home_type(types, current, ROW_MAJOR, 1, HomeLimits(7, 0))
    with pytest.raises(RefusedError, match="not one grain"):
        home_type(types, current, ROW_MAJOR, 1, HomeLimits(100, 200))


def test_rank_1_has_a_row_major_home_only() -> None:
    types = TypeTable(4)
    current = types.get((64,), F16, flat_layout((64,), F16, 4))
    with pytest.raises(RefusedError, match="no home in order"):
        home_type(types, current, LEFT, 1, ROOMY)
