"""The storage of exchange programs: an estimate reported beside the peaks, by which nothing is decided.

A step that moves data between tiles costs (phases + 9 · fragments) · 4 bytes. Only Sum and Copy do.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tileview.core.geometry.resolve import LayoutError, Resolved, resolve, same_distribution
from tileview.core.memory.scratch import contributors, stages
from tileview.model.program import Copy, Step, Sum, Value
from tileview.model.sizes import UNAVAILABLE, Size
from tileview.model.tensor import Layout, Order, OrderKind, Precision, PrecisionKind, Shape

_FRAGMENT_BYTES = 256
_GRID_FRAGMENT_BYTES = 16_592
_LEFT_GRAIN = {PrecisionKind.F16: 16, PrecisionKind.F8F143: 32, PrecisionKind.F32: 8}
_OUTPUT_GRAIN = 16
_FEW_PAIRS = 256
"""Pairs of partitions up to which a plain loop is faster than arrays."""


def step_exchange(step: Step, values: tuple[Value, ...]) -> Size:
    """Bytes of exchange rows a step needs; unavailable where a layout it moves between does not resolve."""
    if isinstance(step, Sum):
        result = values[step.results[0]]
        element_bytes = result.precision.element_bytes
        if element_bytes is None:
            return UNAVAILABLE
        try:
            shard = resolve(result.shape, result.layout).maximum_elements * element_bytes
        except LayoutError:
            return UNAVAILABLE
        remote = contributors(step, values) - 1
        payload = shard * remote
        return _cost(-(-remote // stages(step.staging, remote + 1)), -(-payload // _FRAGMENT_BYTES))
    if isinstance(step, Copy):
        source, result = values[step.inputs[0]], values[step.results[0]]
        same_owners = source.owners == result.owners
        return _copy(
            source.shape,
            source.precision,
            source.layout,
            result.shape,
            result.precision,
            result.layout,
            same_owners,
            step.mapping.view is not None,
            step.mapping.is_identity,
        )
    return 0


def _cost(phases: int, fragments: int) -> int:
    return (phases + 9 * max(fragments, phases)) * 4


@lru_cache(maxsize=1 << 13)
def _copy(
    source_shape: Shape,
    source_precision: Precision,
    source_layout: Layout,
    shape: Shape,
    precision: Precision,
    layout: Layout,
    same_owners: bool,
    has_view: bool,
    is_identity: bool,
) -> Size:
    """Rows of a copy: none where nothing moves, else one phase and its fragments."""
    try:
        source, result = resolve(source_shape, source_layout), resolve(shape, layout)
    except LayoutError:
        return UNAVAILABLE
    source_bytes, result_bytes = source_precision.element_bytes, precision.element_bytes
    if source_bytes is None or result_bytes is None:
        return UNAVAILABLE
    if same_owners and not has_view and same_distribution(source_shape, source_layout, shape, layout):
        return 0
    largest = result.maximum_elements * result_bytes
    sends = min(-(-largest * result.owner_count // source.owner_count), source.maximum_elements * source_bytes)
    payload = max(largest, sends)
    linear = source.splits is None or result.splits is None
    fragments: int | None = None
    if (
        is_identity
        and not linear
        and source_shape == shape
        and source_precision == precision
        and source_layout.order == layout.order
    ):
        fragments = grid_fragments(source, result, result_bytes, order_grain(layout.order, precision))
    if fragments is None:
        size = _FRAGMENT_BYTES
        if linear and source_layout.tiling != layout.tiling:
            for order, side in ((source_layout.order, source_precision), (layout.order, precision)):
                if grain := order_grain(order, side):
                    size = min(size, grain * (side.element_bytes or 0))
        fragments = -(-payload // size)
    return _cost(1, fragments)


def order_grain(order: Order, precision: Precision) -> int:
    """Elements of the last axis an order keeps together: Left 16 in F16, 32 in F8, 8 in F32; Output 16; others 0."""
    if order.kind is OrderKind.LEFT:
        return _LEFT_GRAIN.get(precision.kind, 0)
    return _OUTPUT_GRAIN if order.kind is OrderKind.OUTPUT else 0


class _Axis(NamedTuple):
    """Partitions of one axis as (start, physical end); the largest width among them."""

    parts: tuple[tuple[int, int], ...]
    width: int


def grid_fragments(source: Resolved, result: Resolved, element_bytes: int, grain: int) -> int | None:
    """Fragments of a copy between two grids over one shape; None where the grid count has no answer.

    Orders other than RowMajor, Left and Output have none, unless all bounds agree; nor has a last axis whose bounds
    are no multiples of the order's grain.
    """
    own, peer = _axes(source), _axes(result)
    if own == peer:
        return -(-prod(axis.width for axis in own) * element_bytes // _GRID_FRAGMENT_BYTES)
    kind = source.layout.order.kind
    if kind is not OrderKind.ROW_MAJOR:
        if grain == 0:
            return None
        split_own, split_peer = _panels(own, grain), _panels(peer, grain)
        if split_own is None or split_peer is None:
            return None
        own, peer = split_own, split_peer
    return max(_count(own, peer, element_bytes), _count(peer, own, element_bytes))


def _axes(resolved: Resolved) -> tuple[_Axis, ...]:
    assert resolved.dimensions is not None
    return tuple(
        _Axis(tuple(zip(bounds.starts, bounds.physical_ends, strict=True)), max(bounds.widths))
        for bounds in resolved.dimensions
    )


def _panels(axes: tuple[_Axis, ...], grain: int) -> tuple[_Axis, ...] | None:
    """Axes of panel-major memory: panels of the last axis first, one panel's columns last."""
    *before, last = axes
    if any(start % grain or end % grain for start, end in last.parts):
        return None
    panels = _Axis(tuple((start // grain, end // grain) for start, end in last.parts), last.width // grain)
    return (panels, *before, _Axis(((0, grain),), grain))


def _count(own: tuple[_Axis, ...], peer: tuple[_Axis, ...], element_bytes: int) -> int:
    """Contiguous runs that the busiest partition of ``own`` exchanges with ``peer``, each in pieces of 16,592 bytes.

    Rows before the last axis whose bounds differ repeat the same cuts; what follows that axis is contiguous.
    """
    differing = max(index for index, (a, b) in enumerate(zip(own, peer, strict=True)) if a.parts != b.parts)
    trailing = prod(axis.width for axis in own[differing + 1 :]) * element_bytes
    before = prod(axis.width for axis in own[:differing])
    return before * _busiest(own[differing].parts, peer[differing].parts, trailing)


def _busiest(own: tuple[tuple[int, int], ...], peer: tuple[tuple[int, int], ...], trailing: int) -> int:
    """The most pieces that one partition of ``own`` exchanges with all of ``peer``, which need no order."""
    if len(own) * len(peer) > _FEW_PAIRS and max(end for _, end in (*own, *peer)) * trailing < 2**62:
        return _busiest_of_many(np.array(own, dtype=np.int64), np.array(peer, dtype=np.int64), trailing)
    most = 0
    for start, end in own:
        pieces = 0
        for other_start, other_end in peer:
            overlap = min(end, other_end) - max(start, other_start)
            if overlap > 0:
                pieces += -(-overlap * trailing // _GRID_FRAGMENT_BYTES)
        most = max(most, pieces)
    return most


def _busiest_of_many(own: npt.NDArray[np.int64], peer: npt.NDArray[np.int64], trailing: int) -> int:
    """The same with arrays (partitions, 2), a few rows at a time so that temporary arrays stay small."""
    rows = max(1, (1 << 18) // len(peer))
    most = 0
    for first in range(0, len(own), rows):
        part = own[first : first + rows]
        overlap = np.minimum(part[:, 1:], peer[:, 1]) - np.maximum(part[:, :1], peer[:, 0])
        pieces = -(-np.maximum(overlap, 0) * trailing // _GRID_FRAGMENT_BYTES)
        most = max(most, int(pieces.sum(axis=1).max()))
    return most
