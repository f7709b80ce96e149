"""Bytes of one value on each tile: shards, access tails, rounding to memory elements; cached by all they depend on.

Two values with equal shape, layout, owners, element size, tail and rounding share one :class:`Footprint` and its
arrays, over every estimate made in this process: re-planning after a swap computes only what the swap changed.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from tileview.core.geometry.owners import OwnerError, check_owners, spread
from tileview.core.geometry.resolve import LayoutError, LayoutErrorKind, layout_failure, resolve
from tileview.core.geometry.resolved import Resolved
from tileview.model.config import INTERLEAVED_ELEMENT_BYTES, STANDARD_ELEMENT_BYTES
from tileview.model.owners import DIRECT_OWNERS, Owners
from tileview.model.sizes import LARGEST_COUNTED_BYTES, UNAVAILABLE, Size
from tileview.model.tensor import Layout, MemoryClass, Precision, Shape
from tileview.model.timeline import ByteArray

_CACHED_FOOTPRINTS = 1 << 13


class Footprint:
    """What a value takes: largest shard, largest size, and both on every tile.

    ``error`` says why the sizes are unavailable, None where they are known. The arrays are made when asked for.
    """

    __slots__ = (
        "_bytes",
        "_rounding",
        "_shards",
        "_times",
        "aligned",
        "element_bytes",
        "error",
        "owners",
        "resolved",
        "shard",
        "tail",
    )

    def __init__(
        self,
        resolved: Resolved | None,
        error: str | None,
        element_bytes: int,
        tail: int,
        rounding: int,
        owners: Owners,
    ) -> None:
        self.resolved = resolved
        self.error = error
        self.element_bytes = element_bytes
        self.tail = tail
        self.owners = owners
        self._rounding = rounding
        self._shards: ByteArray | None = None
        self._bytes: ByteArray | None = None
        self._times: dict[int, ByteArray] = {}
        self.shard: Size = UNAVAILABLE
        self.aligned: Size = UNAVAILABLE
        if resolved is not None:
            shard = resolved.maximum_elements * element_bytes
            self.shard = shard
            self.aligned = self._size(shard)

    def _size(self, shard: int) -> int:
        """Bytes for a shard: its payload and tail, in whole memory elements where its group needs them; 0 for none."""
        if shard == 0:
            return 0
        size = shard + self.tail
        return size if self._rounding == 0 else -(-size // self._rounding) * self._rounding

    def shards(self, tile_count: int) -> ByteArray:
        """(tiles,): payload bytes on each tile; zeros where unavailable. Read-only."""
        if self._shards is None:
            if self.resolved is None:
                row = np.zeros(tile_count, dtype=np.int64)
            else:
                row = spread(self.resolved.owner_elements() * self.element_bytes, self.owners, tile_count)
            row.flags.writeable = False
            self._shards = row
        return self._shards

    def count_shards(self, tile_count: int) -> ByteArray:
        """As :meth:`shards`, made anew and not kept: for whoever looks at very many values once."""
        if self._shards is not None or self.resolved is None:
            return self.shards(tile_count)
        return spread(self.resolved.count_elements() * self.element_bytes, self.owners, tile_count)

    def times(self, factor: int, tile_count: int) -> ByteArray:
        """(tiles,): so many times the payload on each tile; the same array again where it is asked for again."""
        if factor == 1:
            return self.shards(tile_count)
        row = self._times.get(factor)
        if row is None:
            row = self._times[factor] = self.shards(tile_count) * factor
            row.flags.writeable = False
        return row

    def bytes(self, tile_count: int) -> ByteArray:
        """(tiles,): bytes on each tile, tail and rounding included, of one copy; zeros where unavailable. Read-only."""
        if self._bytes is None:
            if self.resolved is None or (self.tail == 0 and self._rounding == 0):
                self._bytes = self.shards(tile_count)
            else:
                per_owner = self.resolved.owner_elements() * self.element_bytes
                sizes = per_owner + self.tail
                if self._rounding:
                    sizes = -(-sizes // self._rounding) * self._rounding
                sizes[per_owner == 0] = 0
                row = spread(sizes, self.owners, tile_count)
                row.flags.writeable = False
                self._bytes = row
        return self._bytes

    def largest(self, tile_count: int) -> int:
        """The largest bytes of one copy on any tile, known part (an embedding may put two owners on one tile)."""
        if not isinstance(self.aligned, int):
            return 0
        if self.owners.embedding is None:
            return self.aligned
        return int(self.bytes(tile_count).max(initial=0))


def footprint(
    shape: Shape,
    precision: Precision,
    layout: Layout | None,
    tile_count: int,
    *,
    owners: Owners = DIRECT_OWNERS,
    tail: int = 0,
    element_aligned: bool = False,
    memory_class: MemoryClass = MemoryClass.STANDARD,
) -> Footprint:
    """The footprint of a value.

    Parameters
    ----------
    tail : int
        Access tail in bytes, added to every non-empty shard.
    element_aligned : bool
        Whether sizes are rounded up to whole memory elements of ``memory_class`` (16,384 or 32,768 bytes).
    """
    rounding = 0
    if element_aligned:
        rounding = INTERLEAVED_ELEMENT_BYTES if memory_class is MemoryClass.INTERLEAVED else STANDARD_ELEMENT_BYTES
    element_bytes = precision.element_bytes
    if element_bytes is None:
        return Footprint(None, f"the precision {precision} is not known", 0, tail, rounding, owners)
    if layout is None:
        return Footprint(None, "the layout cannot be read", element_bytes, tail, rounding, owners)
    return _footprint(shape, layout, element_bytes, tail, rounding, owners, tile_count)


@lru_cache(maxsize=_CACHED_FOOTPRINTS)
def _footprint(
    shape: Shape, layout: Layout, element_bytes: int, tail: int, rounding: int, owners: Owners, tile_count: int
) -> Footprint:
    try:
        resolved = resolve(shape, layout)
        check_owners(owners, resolved.owner_count, tile_count)
    except (LayoutError, OwnerError) as error:
        return Footprint(None, str(error), element_bytes, tail, rounding, owners)
    if resolved.maximum_elements * element_bytes + tail > LARGEST_COUNTED_BYTES:
        text = f"a shard of {resolved.maximum_elements * element_bytes:,} B is beyond what any tile could hold"
        return Footprint(None, text, element_bytes, tail, rounding, owners)
    return Footprint(resolved, None, element_bytes, tail, rounding, owners)


def forget_footprints() -> None:
    """Forget the footprints worked out before (for measurements from cold)."""
    _footprint.cache_clear()


def layout_fault(shape: Shape, layout: Layout | None, tile_count: int) -> str | None:
    """Why a layout cannot be used on a device: it does not resolve, or has more owners than there are tiles.

    None of an element order that is not known: then nobody can tell.
    """
    if layout is None:
        return None
    failure = layout_failure(shape, layout)
    if failure is not None:
        return None if failure.kind is LayoutErrorKind.UNKNOWN_ORDER else str(failure)
    owners = layout.tiling.tile_count
    return f"{owners} owners do not fit a device of {tile_count} tiles" if owners > tile_count else None
