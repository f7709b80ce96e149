"""Conversions: bringing a value to a precision and layout through at most two copies and a cast."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tileview.core.geometry.resolve import LayoutError, resolve
from tileview.core.lowering.sheet import DIRECT, STAGED
from tileview.core.lowering.tilings import ZERO, last_axis, replaced, with_order
from tileview.core.lowering.valuetypes import TypeTable, ValueType
from tileview.model.tensor import ROW_MAJOR, Layout, OrderKind, Precision, PrecisionKind, Shape, Tiling

CAST: Final = None
"""In place of a copy's policy: the hop is a Cast."""

Hop = tuple[ValueType, str | None]
"""One step of a conversion: the type it makes, and the policy of its Copy, or CAST."""

_PANEL_WIDTH: Final = 32
"""Row-major shards are packed into F8 panels this many elements wide."""


def is_packed(precision: Precision, target: Precision) -> bool:
    """F16 to F8: packed into panels as it is cast."""
    return precision.kind is PrecisionKind.F16 and target.is_f8


def is_f8_cast(precision: Precision, target: Precision) -> bool:
    return precision != target and (precision.is_f8 or target.is_f8)


def initial_layout(precision: Precision, target: ValueType) -> Layout:
    """The layout a value of ``precision`` is first brought to; row-major for casts to or from F8 that do not pack."""
    if is_f8_cast(precision, target.precision) and not is_packed(precision, target.precision):
        return with_order(target.layout, ROW_MAJOR)
    return target.layout


def conversion(types: TypeTable, source: ValueType, target: ValueType, slices: bool) -> tuple[Hop, ...]:
    """The hops that bring a value of type ``source`` to ``target``, none where it has that type.

    Three formats in turn: the source's precision in the layout the cast needs, the target's precision, the target. One
    that the value has already is skipped.

    Parameters
    ----------
    slices : bool
        The requirement is ``DispatchSlices``: the plan's own steps move the data, so nothing moves a value that has the
        target's precision.
    """
    known = source.conversions.get((target, slices))
    if known is None:
        known = source.conversions[target, slices] = tuple(_hops(types, source, target, slices))
    return known


def _hops(types: TypeTable, source: ValueType, target: ValueType, slices: bool) -> list[Hop]:
    own, wanted = source.precision, target.precision
    f8_cast, packed = is_f8_cast(own, wanted), is_packed(own, wanted)
    initial = initial_layout(own, target)
    if (
        packed
        and target.layout.order.kind is OrderKind.LEFT
        and source.layout.order.kind is OrderKind.ROW_MAJOR
        and _can_stage_rows(source.shape, target.layout)
    ):
        initial = with_order(target.layout, ROW_MAJOR)
    first = initial if f8_cast else source.layout
    middle = target.layout if packed else first
    hops: list[Hop] = []
    current = source
    for precision, layout in ((own, first), (wanted, middle), (wanted, target.layout)):
        step = types.get(source.shape, precision, layout)
        if step is current or (slices and current.precision == wanted):
            continue
        if precision != current.precision:
            hops.append((step, CAST))
        else:
            hops.append((step, DIRECT if layout.order == current.layout.order else STAGED))
        current = step
    return hops


def _can_stage_rows(shape: Shape, layout: Layout) -> bool:
    """Whether a Left layout can first be taken row-major, to be packed panel by panel as it is cast.

    It divides dimensions (not linearly) of a shape of rank ≥ 2, resolves, every shard of the last dimension is a
    multiple of 4 wide (physically), and, where one is no multiple of 32, the layout resolves with shards padded to 32.
    """
    rank = len(shape)
    if layout.tiling.is_linear or rank < 2:
        return False
    try:
        resolved = resolve(shape, with_order(layout, ROW_MAJOR))
        split = (resolved.splits or ())[rank - 1]
        widths = (resolved.padded_shape[rank - 1],) if split is None else (split.narrow, split.wide)
        if any(width % 4 for width in widths):
            return False
        if any(width % _PANEL_WIDTH for width in widths):
            resolve(shape, _padded_to_panels(layout, rank))
    except LayoutError:
        return False
    return True


def _padded_to_panels(layout: Layout, rank: int) -> Layout:
    """The layout row-major, its last dimension's shards padded with zeros to whole panels."""
    tiling = layout.tiling
    position, axis = last_axis(tiling, rank)
    padded = replace(axis, shard_padding_multiple=_PANEL_WIDTH, padding=ZERO)
    return Layout(
        ROW_MAJOR,
        Tiling(tiling.tile_count, tiling.replicas, replaced(tiling.axes, position, padded)),
        layout.memory_class,
    )
