"""How a layout divides a tensor (contract; implementation follows)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from tileview.errors import TileViewError
from tileview.model.tensor import Layout, Shape


class LayoutErrorKind(StrEnum):
    """Why a layout does not resolve; the names are the compiler's."""

    EMPTY_TILE_GROUP = "EmptyTileGroup"
    EMPTY_AXIS_TILING = "EmptyAxisTiling"
    TILE_COUNT_OVERFLOW = "TileCountOverflow"
    AXIS_OUT_OF_RANGE = "AxisOutOfRange"
    DUPLICATE_AXIS = "DuplicateAxis"
    INVALID_PADDING_GROUPS = "InvalidPaddingGroups"
    INDIVISIBLE_AXIS = "IndivisibleAxis"
    INDIVISIBLE_SHARD = "IndivisibleShard"
    TILE_COUNT_MISMATCH = "TileCountMismatch"
    INVALID_TILE_MAPPING = "InvalidTileMapping"
    UNKNOWN_ORDER = "UnknownOrder"


class LayoutError(TileViewError):
    """A layout that does not resolve against a shape: ``kind`` and a sentence with the figures."""

    def __init__(self, kind: LayoutErrorKind, text: str) -> None:
        self.kind = kind
        super().__init__(text)


@dataclass(frozen=True, slots=True)
class Bounds:
    """One dimension's partitions: half-open ranges; ``stride`` and ``partitions`` say which owner holds which.

    Owner t holds partition (t // stride) mod len(starts).
    """

    starts: tuple[int, ...]
    logical_ends: tuple[int, ...]
    physical_ends: tuple[int, ...]
    stride: int


@dataclass(frozen=True, slots=True)
class Resolved:
    """A layout resolved against a shape. Exact integers throughout.

    ``padded_shape``: the dimensions after padding. ``maximum_elements``: elements of the largest shard.
    ``dimensions``: per dimension its bounds (one partition where untiled); None for a linear layout.
    """

    shape: Shape
    layout: Layout
    padded_shape: Shape
    maximum_elements: int
    dimensions: tuple[Bounds, ...] | None

    @property
    def owner_count(self) -> int:
        return self.layout.tiling.tile_count

    def owner_elements(self) -> npt.NDArray[np.int64]:
        """(owners,): elements each owner holds (physical: padding included)."""
        raise NotImplementedError


def resolve(shape: Shape, layout: Layout) -> Resolved:
    """Resolve, cached by (shape, layout); raises :class:`LayoutError`."""
    raise NotImplementedError


def same_distribution(shape_a: Shape, layout_a: Layout, shape_b: Shape, layout_b: Layout) -> bool:
    """Whether two layouts hold the same distribution (padded shapes, partitions and strides agree)."""
    raise NotImplementedError
