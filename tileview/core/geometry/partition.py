"""The partition of one dimension: how a tiling divides it, in figures and spelt out.

A dimension of tens of thousands of partitions is described by nine integers (:class:`Split`); its bounds become tuples
(:class:`Bounds`) only for those who look at single partitions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

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
