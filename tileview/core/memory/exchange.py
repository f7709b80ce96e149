"""What a step moves between tiles, the exchange programs for it, and its working memory beside operands.

Only Sum and Copy move data. Exchange rows, (phases + 9 · fragments) · 4 bytes a step, are an estimate reported beside
the peaks, by which nothing is decided; the planner's cycles are made of the same figures.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Final, NamedTuple

from tileview.core.geometry.resolve import LayoutError, resolve, same_distribution
from tileview.core.geometry.resolved import Resolved
from tileview.model.plan import Staging, StagingKind
from tileview.model.program import Copy, Step, Sum, Value
from tileview.model.sizes import UNAVAILABLE, Size, Unavailable
from tileview.model.tensor import Layout, Order, OrderKind, Precision, PrecisionKind, Shape

_ROWS_THEN_COLUMNS = frozenset({OrderKind.LEFT, OrderKind.TRANSPOSED_RIGHT, OrderKind.TRANSPOSED_MATRIX})
_COLUMNS_THEN_ROWS = frozenset({OrderKind.TRANSPOSED_LEFT, OrderKind.MATRIX})


class Scratch(NamedTuple):
    """A step's scratch is ``factor`` times the shard of ``result`` (a value id), on every tile that owns one."""

    result: int
    factor: int


def share_micro_panels(a: Order, b: Order, precision: Precision) -> bool:
    """Whether two element orders are built from the same micro-panels, so that a copy between them only exchanges.

    Rows then columns: Amp Left, Amp TransposedRight, BlockMajor TransposedMatrix. Columns then rows: Amp
    TransposedLeft, BlockMajor Matrix. The others have none, and no order has any in F32.
    """
    if precision.kind not in (PrecisionKind.F16, PrecisionKind.F8F143):
        return False
    kinds = {a.kind, b.kind}
    return kinds <= _ROWS_THEN_COLUMNS or kinds <= _COLUMNS_THEN_ROWS


def stages(staging: Staging, contributors: int) -> int:
    """How many remote partial results a sum brings in at a time."""
    remote = max(contributors - 1, 1)
    if staging.kind is StagingKind.COMPLETE:
        return remote
    return 1 if staging.kind is StagingKind.STREAMED else min(staging.batch, remote)


def step_scratch(step: Step, values: Sequence[Value]) -> Scratch | None:
    """The scratch of a step, all of it standard memory; None where it needs none.

    Sum over c contributors with s of them a stage: s + 2 result shards. Copy between equal precisions whose element
    orders differ and share no micro-panels: one. Nothing else has scratch. Repeat counts do not multiply it.
    """
    if isinstance(step, Sum):
        return Scratch(step.results[0], stages(step.staging, contributors(step, values)) + 2)
    if isinstance(step, Copy):
        source, result = values[step.inputs[0]], values[step.results[0]]
        a, b = source.layout.order, result.layout.order
        if source.precision == result.precision and a != b and not share_micro_panels(a, b, result.precision):
            return Scratch(step.results[0], 1)
    return None


def contributors(step: Sum, values: Sequence[Value]) -> int:
    """Extent of the dimension that a Sum adds over."""
    return values[step.inputs[0]].shape[step.axis]


_FRAGMENT_BYTES = 256
_GRID_FRAGMENT_BYTES = 16_592
_LEFT_GRAIN = {PrecisionKind.F16: 16, PrecisionKind.F8F143: 32, PrecisionKind.F32: 8}
_OUTPUT_GRAIN = 16


class Movement(NamedTuple):
    """What the busiest tile of a step moves: bytes, in so many phases and contiguous fragments."""

    payload: int
    phases: int
    fragments: int


NOTHING_MOVES: Final = Movement(0, 0, 0)


def step_exchange(step: Step, values: Sequence[Value]) -> Size:
    """Bytes of exchange rows a step needs; unavailable where a layout it moves between does not resolve."""
    moved = step_movement(step, values)
    if moved is None:
        return UNAVAILABLE
    return (moved.phases + 9 * max(moved.fragments, moved.phases)) * 4


def step_movement(step: Step, values: Sequence[Value]) -> Movement | None:
    """What a step moves between tiles; None where a layout it moves between does not resolve, or for stages of none."""
    if isinstance(step, Sum):
        result = values[step.results[0]]
        element_bytes = result.precision.element_bytes
        if element_bytes is None:
            return None
        try:
            shard = resolve(result.shape, result.layout).maximum_elements * element_bytes
        except LayoutError:
            return None
        remote = contributors(step, values) - 1
        payload, at_once = shard * remote, stages(step.staging, remote + 1)
        if at_once < 1:
            return None
        return Movement(payload, -(-remote // at_once), -(-payload // _FRAGMENT_BYTES))
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
    return NOTHING_MOVES


def step_fragments(step: Step, values: tuple[Value, ...]) -> Size:
    """Pieces that a step's busiest tile exchanges, as its exchange rows count them; 0 where nothing moves."""
    rows = step_exchange(step, values)
    if isinstance(rows, Unavailable) or rows == 0:
        return rows
    phases = 1
    if isinstance(step, Sum):
        remote = contributors(step, values) - 1
        phases = -(-remote // stages(step.staging, remote + 1))
    return (rows // 4 - phases) // 9


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
) -> Movement | None:
    """What a copy moves: nothing, or its payload in one phase and so many fragments."""
    try:
        source, result = resolve(source_shape, source_layout), resolve(shape, layout)
    except LayoutError:
        return None
    source_bytes, result_bytes = source_precision.element_bytes, precision.element_bytes
    if source_bytes is None or result_bytes is None:
        return None
    if same_owners and not has_view and same_distribution(source_shape, source_layout, shape, layout):
        return NOTHING_MOVES
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
    return Movement(payload, 1, fragments)


def order_grain(order: Order, precision: Precision) -> int:
    """Elements of the last axis an order keeps together: Left 16 in F16, 32 in F8, 8 in F32; Output 16; others 0."""
    if order.kind is OrderKind.LEFT:
        return _LEFT_GRAIN.get(precision.kind, 0)
    return _OUTPUT_GRAIN if order.kind is OrderKind.OUTPUT else 0


class _Axis(NamedTuple):
    """Partitions of one axis by start and physical end; the largest width among them."""

    starts: tuple[int, ...]
    ends: tuple[int, ...]
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
    assert resolved.splits is not None
    return tuple(
        _Axis(bounds.starts, bounds.physical_ends, extent if split is None else split.wide)
        for bounds, split, extent in zip(resolved.dimensions, resolved.splits, resolved.padded_shape, strict=True)
    )


def _panels(axes: tuple[_Axis, ...], grain: int) -> tuple[_Axis, ...] | None:
    """Axes of panel-major memory: panels of the last axis first, one panel's columns last."""
    *before, last = axes
    if any(start % grain for start in last.starts) or any(end % grain for end in last.ends):
        return None
    starts, ends = (tuple(edge // grain for edge in edges) for edges in (last.starts, last.ends))
    return (_Axis(starts, ends, last.width // grain), *before, _Axis((0,), (grain,), grain))


def _count(own: tuple[_Axis, ...], peer: tuple[_Axis, ...], element_bytes: int) -> int:
    """Contiguous runs that the busiest partition of ``own`` exchanges with ``peer``, each in pieces of 16,592 bytes.

    Rows before the last axis whose bounds differ repeat the same cuts; what follows that axis is contiguous.
    """
    differing = max(index for index, (a, b) in enumerate(zip(own, peer, strict=True)) if a[:2] != b[:2])
    trailing = prod(axis.width for axis in own[differing + 1 :]) * element_bytes
    before = prod(axis.width for axis in own[:differing])
    return before * _busiest(own[differing], peer[differing], trailing)


def _busiest(own: _Axis, peer: _Axis, trailing: int) -> int:
    """The most pieces that one partition of ``own`` exchanges with all of ``peer``.

    Where the peer's partitions are in order, those that overlap are neighbours, found by bisection; with padding groups
    they need not be, and all are looked at.
    """
    starts, ends = peer.starts, peer.ends
    in_order = list(starts) == sorted(starts) and list(ends) == sorted(ends)
    most = 0
    for start, end in zip(own.starts, own.ends, strict=True):
        first, last = (bisect_right(ends, start), bisect_left(starts, end)) if in_order else (0, len(starts))
        pieces = 0
        for other in range(first, last):
            overlap = min(end, ends[other]) - max(start, starts[other])
            if overlap > 0:
                pieces += -(-overlap * trailing // _GRID_FRAGMENT_BYTES)
        most = max(most, pieces)
    return most


def clear_cache() -> None:
    """Forget every cached copy (for measurements from cold)."""
    _copy.cache_clear()
