"""Copies whose source and result may share no memory element on a tile, because the tile receives its own multicast.

The compiler compares the pieces of its messages; the test here compares what source and result hold of the tensor, and
may state some conflicts too many or too few.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tileview.core.geometry.owners import owner_parts, owner_tiles
from tileview.core.geometry.resolve import resolve
from tileview.core.geometry.resolved import OwnerArray, Resolved
from tileview.core.memory.scratch import step_scratch
from tileview.model.owners import Owners
from tileview.model.program import Copy, Step, Value
from tileview.model.tensor import Layout, MemoryClass, Shape

_LEAST_REPLICAS = 3

TileMask = npt.NDArray[np.bool_]


def multicast_tiles(step: Step, values: tuple[Value, ...], tile_count: int) -> TileMask | None:
    """(tiles,): where a step's source and result conflict, shards on both taken for granted; None for nowhere.

    Only a Copy that neither packs nor has a view, from a standard source in one replica to a result that is not linear
    and has at least three. On a tile: the source is linear, or what both hold overlaps on every axis once the result's
    bounds are moved by the offsets.
    """
    if not isinstance(step, Copy) or step.mapping.view is not None or step_scratch(step, values) is not None:
        return None
    source, result = values[step.inputs[0]], values[step.results[0]]
    source_tiling, result_tiling = source.layout.tiling, result.layout.tiling
    if source.layout.memory_class is not MemoryClass.STANDARD or source_tiling.replicas != 1:
        return None
    if result_tiling.is_linear or result_tiling.replicas < _LEAST_REPLICAS:
        return None
    if source_tiling.is_linear:
        return np.ones(tile_count, dtype=np.bool_)
    return _overlap(
        (source.shape, source.layout, source.owners),
        (result.shape, result.layout, result.owners),
        step.mapping.offsets,
        tile_count,
    )


_Side = tuple[Shape, Layout, Owners]


@lru_cache(maxsize=1 << 10)
def _overlap(source: _Side, result: _Side, offsets: tuple[int, ...], tile_count: int) -> TileMask:
    """(tiles,): whether what source and moved result hold of the tensor overlaps. Read-only."""
    (own_starts, own_ends, own_tiles), (starts, ends, tiles) = _held(source, tile_count), _held(result, tile_count)
    rank = min(starts.shape[1], own_starts.shape[1])
    moved = np.zeros(starts.shape[1], dtype=np.int64)
    moved[: min(len(offsets), len(moved))] = offsets[: len(moved)]
    own, other = _paired(own_tiles, tiles, tile_count)
    low = np.maximum(own_starts[own, :rank], starts[other, :rank] + moved[:rank])
    high = np.minimum(own_ends[own, :rank], ends[other, :rank] + moved[:rank])
    mask = np.zeros(tile_count, dtype=np.bool_)
    mask[own_tiles[own][(low < high).all(axis=1)]] = True
    mask.flags.writeable = False
    return mask


def _held(side: _Side, tile_count: int) -> tuple[OwnerArray, OwnerArray, OwnerArray]:
    """(owners, axes) first and last logical element of each owner on every axis, and (owners,) its tile."""
    shape, layout, owners = side
    resolved = resolve(shape, layout)
    starts, ends = _logical_bounds(resolved)
    return starts, ends, owner_tiles(owners, resolved.owner_count, tile_count)


@lru_cache(maxsize=1 << 10)
def _logical_bounds(resolved: Resolved) -> tuple[OwnerArray, OwnerArray]:
    assert resolved.dimensions is not None
    parts = owner_parts(resolved)
    starts, ends = np.empty_like(parts), np.empty_like(parts)
    for axis, bounds in enumerate(resolved.dimensions):
        starts[:, axis] = np.array(bounds.starts, dtype=np.int64)[parts[:, axis]]
        ends[:, axis] = np.array(bounds.logical_ends, dtype=np.int64)[parts[:, axis]]
    return starts, ends


def _paired(own_tiles: OwnerArray, tiles: OwnerArray, tile_count: int) -> tuple[OwnerArray, OwnerArray]:
    """Every pair of owners, one of each side, that sit on one tile."""
    if len(np.unique(own_tiles)) == len(own_tiles):
        owner_on = np.full(tile_count, -1, dtype=np.int64)
        owner_on[own_tiles] = np.arange(len(own_tiles))
        other = np.flatnonzero(owner_on[tiles] >= 0)
        return owner_on[tiles[other]], other
    pairs = np.argwhere(own_tiles[:, np.newaxis] == tiles[np.newaxis, :])
    return pairs[:, 0], pairs[:, 1]
