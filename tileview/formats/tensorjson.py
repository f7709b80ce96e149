"""Precisions, orders, layouts and formats in a recipe's JSON, read and written.

Enums are written as serde does: a variant without payload is its bare name, one with a payload ``{"Name": payload}``.
What TileView does not know is kept as the model's unknown kind, with a Debug text that can be turned into the same JSON
again.
"""

from __future__ import annotations

from typing import Any, Final, TypeVar

from tileview.formats import debugtext
from tileview.formats.check import FieldError, Fields, described, signed, u64
from tileview.formats.debugtext import AMP, BLOCK, CLASSES, PADDINGS, Call, DebugValue, Map, Struct, Unit
from tileview.model.tensor import (
    AMP_ORDERS,
    BLOCK_ORDERS,
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

T = TypeVar("T")

MAX_UNKNOWN_DEPTH: Final = 32
"""Deepest nesting of something unknown that is kept as text."""


def variant(value: object, place: str) -> tuple[str, Any]:
    """An enum as serde writes it: (name, payload), payload None for a bare name."""
    if isinstance(value, str):
        return value, None
    if isinstance(value, dict) and len(value) == 1:
        ((name, payload),) = value.items()
        return name, payload
    raise FieldError(place, 'a name or {"Name": …}', described(value))


def one_of(value: object, names: dict[str, T], place: str) -> T:
    """The entry that a bare name stands for."""
    if isinstance(value, str) and value in names:
        return names[value]
    raise FieldError(place, " or ".join(names), described(value))


# -- Debug text of JSON and back ------------------------------------------------------------------------------------


def json_to_debug(value: object, depth: int = 0) -> DebugValue:
    """The Debug value that an enum's JSON most likely stands for.

    ``{"A": 5}`` gives ``A(5)``, ``{"A": {"x": 1}}`` gives ``A { x: 1 }``. Used for orders, precisions and scales that
    TileView does not know, so that one text is shown for both origins; :func:`debug_to_json` undoes it. Raises
    :class:`FieldError` beyond :data:`MAX_UNKNOWN_DEPTH` levels.
    """
    if depth > MAX_UNKNOWN_DEPTH:
        raise FieldError("", f"nesting of at most {MAX_UNKNOWN_DEPTH} levels", described(value))
    if isinstance(value, str):
        return Unit(value) if _is_name(value) else value
    if value is None:
        return Unit("None")
    if isinstance(value, list):
        return tuple(json_to_debug(item, depth + 1) for item in value)
    if isinstance(value, dict):
        if len(value) == 1:
            ((name, payload),) = value.items()
            if _is_name(name):
                return _named(name, payload, depth + 1)
        return Map(tuple((key, json_to_debug(item, depth + 1)) for key, item in value.items()))
    assert isinstance(value, (bool, int, float))
    return value


def _is_name(text: str) -> bool:
    """Whether a JSON string can be a variant's or field's bare name (and would not be read back as something else)."""
    return text.isascii() and text.isidentifier() and text not in ("true", "false", "inf", "NaN", "None", "Some")


def _named(name: str, payload: object, depth: int) -> DebugValue:
    if isinstance(payload, dict) and payload and all(map(_is_name, payload)):
        inner = json_to_debug(payload, depth)
        if len(payload) != 1 or not isinstance(next(iter(payload.values())), dict):
            return Struct(name, tuple((key, json_to_debug(item, depth + 1)) for key, item in payload.items()))
        return Call(name, (inner,))
    return Call(name, (json_to_debug(payload, depth),))


def debug_to_json(value: DebugValue) -> Any:
    """The JSON that serde writes for a Debug value of an enum; raises :class:`FieldError` for what has no JSON."""
    if isinstance(value, Unit):
        return None if value.name == "None" else value.name
    if isinstance(value, Call) and value.name and len(value.items) == 1:
        inner = debug_to_json(value.items[0])
        return inner if value.name == "Some" else {value.name: inner}
    if isinstance(value, Struct):
        return {value.name: {name: debug_to_json(item) for name, item in value.fields}}
    if isinstance(value, Map):
        return {str(key): debug_to_json(item) for key, item in value.entries}
    if isinstance(value, tuple):
        return [debug_to_json(item) for item in value]
    if isinstance(value, (bool, int, float, str)):
        return value
    raise FieldError("", "an enum", debugtext.to_text(value))


def debug_text_of_json(value: object, place: str) -> str:
    """:func:`json_to_debug`, printed."""
    try:
        return debugtext.to_text(json_to_debug(value))
    except FieldError as error:
        raise error.under(place) from None


# -- formats --------------------------------------------------------------------------------------------------------


def precision_from_json(value: object, place: str = "") -> Precision:
    """``"F16"``, ``"F32"``, ``{"F8F143": {"scale_exponent": n}}``; any other variant is of unknown kind."""
    name, payload = variant(value, place)
    if payload is None and name == "F16":
        return F16
    if payload is None and name == "F32":
        return F32
    if name == "F8F143" and payload is not None:
        inner = Fields(payload, f"{place}.F8F143")
        exponent = signed(inner.raw("scale_exponent", "a whole number"), inner.where("scale_exponent"))
        return Precision(PrecisionKind.F8F143, exponent)
    return Precision(PrecisionKind.UNKNOWN, text=debug_text_of_json(value, place))


def order_from_json(value: object, place: str = "") -> Order:
    """``"RowMajor"``, ``{"Amp": …}``, ``{"BlockMajor": {…: {row_block, column_block}}}``; any other variant is
    unknown."""
    name, payload = variant(value, place)
    if name == "RowMajor" and payload is None:
        return ROW_MAJOR
    if name == "Amp" and isinstance(payload, str) and payload in AMP:
        return AMP[payload]
    if name == "BlockMajor" and payload is not None:
        kind, blocks = variant(payload, f"{place}.BlockMajor")
        if kind in BLOCK:
            inner = Fields(blocks, f"{place}.BlockMajor.{kind}")
            return Order(BLOCK[kind], inner.u64("row_block"), inner.u64("column_block"))
    return Order(OrderKind.UNKNOWN, text=debug_text_of_json(value, place))


def _axis(value: object, place: str) -> Axis:
    fields = Fields(value, place)
    name, payload = variant(fields.raw("axis", "an axis"), fields.where("axis"))
    if name == "Linear" and payload is None:
        base, index = AxisBase.LINEAR, 0
    elif name in ("FromStart", "FromEnd") and payload is not None:
        base, index = AxisBase(name), u64(payload, f"{place}.axis.{name}")
    else:
        raise FieldError(fields.where("axis"), "FromStart, FromEnd or Linear", described(fields.values["axis"]))
    return Axis(
        base,
        index,
        fields.u64("partitions"),
        fields.u64("padding_groups"),
        fields.u64("block_size"),
        fields.u64("padding_multiple"),
        fields.u64("shard_padding_multiple"),
        one_of(fields.raw("padding", "Reject or Zero"), PADDINGS, fields.where("padding")),
        fields.optional_u64("tile_stride"),
    )


def layout_from_json(value: object, place: str = "") -> Layout:
    """``{"order": …, "tiling": {"tile_count", "replicas", "axes"}, "memory_class": …}``."""
    fields = Fields(value, place)
    order = order_from_json(fields.raw("order", "an order"), fields.where("order"))
    tiling = fields.fields("tiling")
    axes = tuple(_axis(axis, f"{tiling.where('axes')}[{index}]") for index, axis in enumerate(tiling.list("axes")))
    memory = one_of(fields.raw("memory_class", "a memory class"), CLASSES, fields.where("memory_class"))
    return Layout(order, Tiling(tiling.u64("tile_count"), tiling.u64("replicas"), axes), memory)


def format_to_json(item: Format) -> dict[str, Any]:
    """A format as the compiler writes it, keys in its order; raises :class:`FieldError` for an unknown text without
    JSON."""
    return {"precision": _precision_json(item.precision), "layout": layout_to_json(item.layout)}


def _precision_json(precision: Precision) -> Any:
    if precision.kind is PrecisionKind.UNKNOWN:
        return debug_to_json(debugtext.parse(precision.text))
    if precision.is_f8:
        return {"F8F143": {"scale_exponent": precision.scale_exponent}}
    return precision.kind.value


def _order_json(order: Order) -> Any:
    if order.kind is OrderKind.UNKNOWN:
        return debug_to_json(debugtext.parse(order.text))
    if order.kind in AMP_ORDERS:
        return {"Amp": order.kind.value}
    if order.kind in BLOCK_ORDERS:
        return {"BlockMajor": {order.kind.value: {"row_block": order.row_block, "column_block": order.column_block}}}
    return order.kind.value


def layout_to_json(layout: Layout) -> dict[str, Any]:
    """A layout as the compiler writes it, keys in its order."""
    axes = [
        {
            "axis": "Linear" if axis.base is AxisBase.LINEAR else {axis.base.value: axis.index},
            "partitions": axis.partitions,
            "padding_groups": axis.padding_groups,
            "block_size": axis.block_size,
            "padding_multiple": axis.padding_multiple,
            "shard_padding_multiple": axis.shard_padding_multiple,
            "padding": axis.padding.value,
            "tile_stride": axis.tile_stride,
        }
        for axis in layout.tiling.axes
    ]
    return {
        "order": _order_json(layout.order),
        "tiling": {"tile_count": layout.tiling.tile_count, "replicas": layout.tiling.replicas, "axes": axes},
        "memory_class": layout.memory_class.value,
    }
