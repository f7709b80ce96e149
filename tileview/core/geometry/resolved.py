"""The answer of resolving a layout: figures at once, bounds and arrays per owner when they are asked for.

The partition of one dimension: how a tiling divides it, in figures and spelt out.

A dimension of tens of thousands of partitions is described by nine integers (:class:`Split`); its bounds become tuples
(:class:`Bounds`) only for those who look at single partitions.

Whether strides form a mapping: every combination of parts falls to equally many owners.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import lcm, prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

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
            self._owner_elements = self.count_elements()
        return self._owner_elements

    def count_elements(self) -> OwnerArray:
        """As :meth:`owner_elements`, made anew and not kept: for whoever looks at very many layouts once."""
        self._check_owners()
        if self.maximum_elements > _MOST_ELEMENTS:
            raise TileViewError(f"shards of {self.maximum_elements:,} elements are too large to be listed")
        elements = self._count_elements()
        elements.flags.writeable = False
        return elements

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


OwnerArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Bounds:
    """One dimension's partitions: half-open ranges; ``stride`` and ``partitions`` say which owner holds which.

    Owner t holds partition (t // stride) mod len(starts). A partition whose logical end equals its start holds no data.
    """

    starts: tuple[int, ...]
    logical_ends: tuple[int, ...]
    physical_ends: tuple[int, ...]
    stride: int

    @property
    def partitions(self) -> int:
        return len(self.starts)

    @property
    def widths(self) -> tuple[int, ...]:
        """Physical width of each partition, padding included."""
        return tuple(end - start for start, end in zip(self.starts, self.physical_ends, strict=True))


class Split(NamedTuple):
    """How one tiled dimension is divided, in figures; :meth:`bounds` spells the partitions out.

    ``padded`` and ``logical`` are extents of one padding group, ``groups`` how many there are. A group has
    ``partitions // groups`` partitions of whole blocks of ``block`` elements, the first ones a block longer; each width
    is rounded up to ``shard_multiple``.
    """

    partitions: int
    groups: int
    block: int
    padded: int
    logical: int
    shard_multiple: int
    stride: int
    narrow: int
    """Physical width of a partition with the smaller number of blocks."""
    wide: int
    """Physical width of a partition with one block more; equal to ``narrow`` where no partition has."""

    def bounds(self) -> Bounds:
        """Start, logical end and physical end of every partition."""
        per_group = self.partitions // self.groups
        short, long = divmod(self.padded // self.block, per_group)
        edges = [(index * short + min(index, long)) * self.block for index in range(per_group + 1)]
        starts, ends = edges[:-1], edges[1:]
        logical = ends
        if self.padded != self.logical:
            limit = self.logical
            logical = [max(start, min(end, limit)) for start, end in zip(starts, ends, strict=True)]
        physical = ends
        if self.shard_multiple != 1:
            physical = [start + (self.wide if index < long else self.narrow) for index, start in enumerate(starts)]
        if self.groups > 1:
            bases = [group * self.logical for group in range(self.groups)]
            starts, logical, physical = (
                [base + edge for base in bases for edge in group] for group in (starts, logical, physical)
            )
        return Bounds(tuple(starts), tuple(logical), tuple(physical), self.stride)

    def widths(self) -> OwnerArray:
        """(partitions,): physical width of each partition."""
        per_group = self.partitions // self.groups
        long = self.padded // self.block % per_group
        one_group = np.full(per_group, self.narrow, dtype=np.int64)
        one_group[:long] = self.wide
        return np.tile(one_group, self.groups)


_MOST_ENUMERATED = 1 << 24
"""Owners that are walked one by one, at most, to judge strides that no rule covers."""


def is_mapping(divided: Sequence[tuple[int, int]], owners: int, replicas: int) -> bool:
    """Whether every combination of coordinates ⌊t / stride⌋ mod partitions occurs for exactly ``replicas`` owners t.

    Three answers, cheapest first. Where, sorted by stride, each stride is a multiple of the span (stride · partitions)
    before it and the owners are a multiple of the last span, coordinates are digits of a mixed-radix number:
    independent, a mapping. Where the owners are no multiple of some axis's span, that axis alone is uneven (its last
    coordinate occurs less often than its first): no mapping. Only what is left is counted, over one period of all axes;
    a period of more than 2^24 owners is not, and taken for no mapping (a chip has 1472).

    Parameters
    ----------
    divided : sequence of (stride, partitions)
        The axes with more than one partition; strides ≥ 1.
    owners, replicas : int
        Owners in all, and how many shall hold each part; replicas · Π partitions = owners.
    """
    chain = sorted(divided)
    span = 1
    for stride, partitions in chain:
        if stride % span:
            break
        span = stride * partitions
    else:
        if owners % span == 0:
            return True
    if any(owners % (stride * partitions) for stride, partitions in chain):
        return False
    return _counted_evenly(chain, owners, replicas)


def _counted_evenly(chain: Sequence[tuple[int, int]], owners: int, replicas: int) -> bool:
    """Count the combinations over one period, which divides ``owners`` because every span does."""
    period = lcm(*(stride * partitions for stride, partitions in chain))
    combinations = owners // replicas
    if combinations > period or period > _MOST_ENUMERATED:
        return False
    owner = np.arange(period, dtype=np.int64)
    combination = np.zeros(period, dtype=np.int64)
    for stride, partitions in chain:
        combination = combination * partitions + owner // stride % partitions
    counts = np.bincount(combination, minlength=combinations)
    return bool((counts * combinations == period).all())
