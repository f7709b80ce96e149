"""The answer of resolving a layout: figures at once, bounds and arrays per owner when they are asked for."""

from __future__ import annotations

from math import prod

import numpy as np

from tileview.core.geometry.partition import Bounds, OwnerArray, Split
from tileview.errors import TileViewError
from tileview.model.tensor import Layout, Shape

_MOST_LISTED = 1 << 24
"""Owners (or partitions) that are listed one by one at most; a chip has 1472."""
_MOST_ELEMENTS = 1 << 62
"""Elements of a shard that fit a 64-bit array with room to spare."""


class Resolved:
    """A layout resolved against a shape. Exact integers throughout; immutable.

    ``padded_shape``: the dimensions after padding. ``maximum_elements``: elements of the largest shard.
    ``splits``: per dimension how it is divided, None where it is not tiled; None as a whole for a linear layout.
    """

    __slots__ = ("_dimensions", "_owner_elements", "layout", "maximum_elements", "padded_shape", "shape", "splits")

    def __init__(
        self,
        shape: Shape,
        layout: Layout,
        padded_shape: Shape,
        maximum_elements: int,
        splits: tuple[Split | None, ...] | None,
    ) -> None:
        self.shape = shape
        self.layout = layout
        self.padded_shape = padded_shape
        self.maximum_elements = maximum_elements
        self.splits = splits
        self._dimensions: tuple[Bounds, ...] | None = None
        self._owner_elements: OwnerArray | None = None

    @property
    def owner_count(self) -> int:
        return self.layout.tiling.tile_count

    @property
    def dimensions(self) -> tuple[Bounds, ...] | None:
        """Per dimension its bounds (one partition where untiled); None for a linear layout.

        Raises
        ------
        TileViewError
            Where there are more partitions than any chip has tiles for: 2^24.
        """
        if self._dimensions is None and self.splits is not None:
            self._check_owners()
            self._dimensions = tuple(
                Bounds((0,), (extent,), (extent,), 1) if split is None else split.bounds()
                for split, extent in zip(self.splits, self.padded_shape, strict=True)
            )
        return self._dimensions

    @property
    def grain(self) -> int:
        """Elements of a grain of a linear layout, 0 for any other."""
        return self.layout.tiling.axes[0].block_size if self.splits is None else 0

    @property
    def is_uniform(self) -> bool:
        """True where every owner holds ``maximum_elements``."""
        if self.splits is None:
            return -(-prod(self.shape) // self.grain) % self.owner_count == 0
        return all(split is None or split.narrow == split.wide for split in self.splits)

    def owner_elements(self) -> OwnerArray:
        """(owners,): elements each owner holds (physical: padding included). Read-only, made once.

        Raises
        ------
        TileViewError
            Where there are more owners, or more elements in a shard, than any chip could hold: 2^24 and 2^62.
        """
        if self._owner_elements is None:
            self._check_owners()
            if self.maximum_elements > _MOST_ELEMENTS:
                raise TileViewError(f"shards of {self.maximum_elements:,} elements are too large to be listed")
            elements = self._count_elements()
            elements.flags.writeable = False
            self._owner_elements = elements
        return self._owner_elements

    def _check_owners(self) -> None:
        if self.owner_count > _MOST_LISTED:
            raise TileViewError(f"{self.owner_count:,} owners are too many to be listed")

    def _count_elements(self) -> OwnerArray:
        owners = self.owner_count
        if self.is_uniform:
            return np.full(owners, self.maximum_elements, dtype=np.int64)
        if self.splits is None:
            short, long = divmod(-(-prod(self.shape) // self.grain), owners)
            elements = np.full(owners, short * self.grain, dtype=np.int64)
            elements[:long] += self.grain
            return elements
        uneven = [split for split in self.splits if split is not None and split.narrow != split.wide]
        constant = prod(
            extent if split is None else split.wide
            for split, extent in zip(self.splits, self.padded_shape, strict=True)
            if split is None or split.narrow == split.wide
        )
        elements = np.full(owners, constant, dtype=np.int64)
        owner = np.arange(owners, dtype=np.int64)
        for split in uneven:
            elements *= split.widths()[owner // split.stride % split.partitions]
        return elements

    def __repr__(self) -> str:
        return f"Resolved(shape={self.shape}, owners={self.owner_count}, maximum_elements={self.maximum_elements})"
