"""The largest shard of a value: what the planner's prices look at instead of single tiles."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import NamedTuple

from tileview.core.geometry.resolve import LayoutError, resolve
from tileview.model.program import Value
from tileview.model.tensor import Layout, Order, Precision, PrecisionKind, Shape


class Shard(NamedTuple):
    """A value as a price sees it.

    ``extents``: for every dimension the largest physical width of its partitions, padding included; of a linear layout
    one dimension, the elements of the largest shard.
    """

    extents: Shape
    elements: int
    precision: Precision
    layout: Layout

    @property
    def kind(self) -> PrecisionKind:
        return self.precision.kind

    @property
    def order(self) -> Order:
        return self.layout.order

    @property
    def width(self) -> int:
        """The last extent; 1 where there is none."""
        return self.extents[-1] if self.extents else 1

    @property
    def rows(self) -> int:
        """The product of all extents but the last."""
        return prod(self.extents[:-1])

    @property
    def bytes(self) -> int:
        return self.elements * (self.precision.element_bytes or 0)


def shard_of(value: Value) -> Shard | None:
    """The largest shard of a value; None where its layout is invalid or its precision is not known."""
    return _shard(value.shape, value.precision, value.layout)


@lru_cache(maxsize=1 << 14)
def _shard(shape: Shape, precision: Precision, layout: Layout) -> Shard | None:
    if precision.element_bytes is None:
        return None
    try:
        resolved = resolve(shape, layout)
    except LayoutError:
        return None
    elements = resolved.maximum_elements
    if resolved.splits is None:
        return Shard((elements,), elements, precision, layout)
    extents = tuple(
        extent if split is None else split.wide
        for extent, split in zip(resolved.padded_shape, resolved.splits, strict=True)
    )
    return Shard(extents, elements, precision, layout)


def clear_cache() -> None:
    """Forget every shard (for measurements from cold)."""
    _shard.cache_clear()
