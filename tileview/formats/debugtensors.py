"""From Debug text to the model: precisions, orders, layouts, formats.

Names that TileView does not know become the model's unknown kinds with their text kept; fields that it does not know
are passed over.
"""

from __future__ import annotations

from functools import lru_cache

from tileview.formats import debugtext
from tileview.formats.debugfields import count_in, each_in, needed_in, struct_from, u64_from, unit_from, wrong_value
from tileview.formats.debugvalues import Call, DebugValue, Struct, Unit, to_text
from tileview.formats.names import AMP, BLOCK, CLASSES, PADDINGS
from tileview.model.tensor import (
    F16,
    F32,
    ROW_MAJOR,
    Axis,
    AxisBase,
    Format,
    Layout,
    Order,
    OrderKind,
    Precision,
    PrecisionKind,
    Tiling,
)


def precision_from_debug(value: DebugValue, place: str = "") -> Precision:
    """``F16``, ``F32``, ``F8F143 { scale_exponent: -4 }``; anything else is a precision of unknown kind."""
    if isinstance(value, Unit) and value.name == "F16":
        return F16
    if isinstance(value, Unit) and value.name == "F32":
        return F32
    if isinstance(value, Struct) and value.name == "F8F143":
        exponent, where = needed_in(value, "scale_exponent", place)
        if type(exponent) is not int or not -(2**63) <= exponent < 2**63:
            raise wrong_value(where, "a whole number", exponent)
        return Precision(PrecisionKind.F8F143, exponent)
    return Precision(PrecisionKind.UNKNOWN, text=to_text(value))


def order_from_debug(value: DebugValue, place: str = "") -> Order:
    """``RowMajor``, ``Amp(…)``, ``BlockMajor(… { row_block, column_block })``; anything else is of unknown kind."""
    if isinstance(value, Unit) and value.name == "RowMajor":
        return ROW_MAJOR
    if isinstance(value, Call) and len(value.items) == 1:
        inner = value.items[0]
        if value.name == "Amp" and isinstance(inner, Unit) and inner.name in AMP:
            return AMP[inner.name]
        if value.name == "BlockMajor" and isinstance(inner, Struct) and inner.name in BLOCK:
            rows, columns = count_in(inner, "row_block", place), count_in(inner, "column_block", place)
            return Order(BLOCK[inner.name], rows, columns)
    return Order(OrderKind.UNKNOWN, text=to_text(value))


def _axis_reference(value: DebugValue, place: str) -> tuple[AxisBase, int]:
    if isinstance(value, Unit) and value.name == "Linear":
        return AxisBase.LINEAR, 0
    if isinstance(value, Call) and len(value.items) == 1 and value.name in ("FromStart", "FromEnd"):
        return AxisBase(value.name), u64_from(value.items[0], place)
    raise wrong_value(place, "FromStart(…), FromEnd(…) or Linear", value)


def _stride(value: DebugValue, place: str) -> int | None:
    if isinstance(value, Unit) and value.name == "None":
        return None
    if isinstance(value, Call) and value.name == "Some" and len(value.items) == 1:
        return u64_from(value.items[0], place)
    raise wrong_value(place, "None or Some(…)", value)


def _axis(value: DebugValue, place: str) -> Axis:
    struct = struct_from(value, "AxisTiling", place)
    base, index = _axis_reference(*needed_in(struct, "axis", place))
    padding, padding_place = needed_in(struct, "padding", place)
    return Axis(
        base,
        index,
        count_in(struct, "partitions", place),
        count_in(struct, "padding_groups", place),
        count_in(struct, "block_size", place),
        count_in(struct, "padding_multiple", place),
        count_in(struct, "shard_padding_multiple", place),
        unit_from(padding, PADDINGS, padding_place),
        _stride(*needed_in(struct, "tile_stride", place)),
    )


def layout_from_debug(value: DebugValue, place: str = "") -> Layout:
    """``Layout { order: …, tiling: TensorTiling { … }, memory_class: … }``."""
    struct = struct_from(value, "Layout", place)
    order = order_from_debug(*needed_in(struct, "order", place))
    tiling_value, tiling_place = needed_in(struct, "tiling", place)
    tiling = struct_from(tiling_value, "TensorTiling", tiling_place)
    memory, memory_place = needed_in(struct, "memory_class", place)
    return Layout(
        order,
        Tiling(
            count_in(tiling, "tile_count", tiling_place),
            count_in(tiling, "replicas", tiling_place),
            each_in(tiling, "axes", tiling_place, _axis),
        ),
        unit_from(memory, CLASSES, memory_place),
    )


def format_from_debug(value: DebugValue, place: str = "") -> Format:
    """``TensorFormat { precision: …, layout: … }`` (any name will do)."""
    struct = struct_from(value, "", place)
    return Format(
        precision_from_debug(*needed_in(struct, "precision", place)),
        layout_from_debug(*needed_in(struct, "layout", place)),
    )


@lru_cache(maxsize=65_536)
def precision_from_text(text: str) -> Precision:
    """A precision from its Debug text, e.g. of a timeline's ``precision``; raises :class:`FieldError` on a syntax
    error.
    """
    return precision_from_debug(debugtext.parse(text))


@lru_cache(maxsize=65_536)
def layout_from_text(text: str) -> Layout:
    """A layout from its Debug text, e.g. of a timeline's ``layout``; raises :class:`FieldError` if it is none.

    Cached by text: a file names the same few layouts thousands of times.
    """
    return layout_from_debug(debugtext.parse(text))
