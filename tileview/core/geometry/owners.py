"""From owners to tiles, and what each owner holds.

A layout speaks of owners 0 … n − 1; a value's owner map places them: owner o sits at ordinal (o + rotation) mod D,
where D is the embedding's length or the device's tile count, and its tile is that ordinal or the embedding's entry.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np

from tileview.core.geometry.resolved import OwnerArray, Resolved
from tileview.errors import TileViewError
from tileview.model.owners import Owners


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
