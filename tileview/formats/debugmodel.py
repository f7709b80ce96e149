"""From Debug text to the model: precisions, orders, layouts, formats, the graph and the configuration.

Names that TileView does not know become the model's unknown kinds with their text kept; fields that it does not know
are passed over. A field that is needed and missing, or of the wrong type, is a
:class:`~tileview.formats.check.FieldError` whose place is the field's path.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TypeVar

from tileview.formats import debugtext
from tileview.formats.check import MAXIMUM_TILES, FieldError, join, shorten
from tileview.formats.debugvalues import Call, DebugValue, Map, Struct, Unit, to_text
from tileview.formats.names import AMP, BLOCK, CLASSES, PADDINGS
from tileview.model.config import PipelineConfig
from tileview.model.graph import (
    AddKind,
    AttentionKind,
    GeluKind,
    GemmKind,
    Graph,
    GraphInput,
    InputKind,
    LayerNormKind,
    Operation,
    OperationKind,
    Region,
    RepeatKind,
    SliceKind,
    UnknownKind,
    ValueSequence,
    ViewKind,
)
from tileview.model.sizes import LARGEST_LIMIT_BYTES, U64_MAX
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
    Shape,
    Tiling,
)

T = TypeVar("T")

# -- values of known type -------------------------------------------------------------------------------------------


def _wrong(place: str, expected: str, value: DebugValue | None) -> FieldError:
    found = "nothing: the field is missing" if value is None else shorten(to_text(value))
    return FieldError(place, expected, found)


def _need(struct: Struct, field: str, place: str) -> tuple[DebugValue, str]:
    where = join(place, field)
    value = struct.get(field)
    if value is None:
        raise _wrong(where, "a value", None)
    return value, where


def _struct(value: DebugValue, name: str, place: str) -> Struct:
    if isinstance(value, Struct) and (value.name == name or not name):
        return value
    raise _wrong(place, f"{name or 'a struct'} {{ … }}", value)


def _u64(value: DebugValue, place: str) -> int:
    if type(value) is int and 0 <= value <= U64_MAX:
        return value
    raise _wrong(place, "a whole number from 0 to 2^64 − 1", value)


def _count(struct: Struct, field: str, place: str) -> int:
    return _u64(*_need(struct, field, place))


def _flag(struct: Struct, field: str, place: str) -> bool:
    value, where = _need(struct, field, place)
    if isinstance(value, bool):
        return value
    raise _wrong(where, "true or false", value)


def _text(struct: Struct, field: str, place: str) -> str:
    value, where = _need(struct, field, place)
    if isinstance(value, str):
        return value
    raise _wrong(where, "a text in quotes", value)


def _unit(value: DebugValue, names: Mapping[str, T], place: str) -> T:
    if isinstance(value, Unit) and value.name in names:
        return names[value.name]
    raise _wrong(place, " or ".join(names), value)


def _items(value: DebugValue, place: str) -> tuple[DebugValue, ...]:
    if isinstance(value, tuple):
        return value
    raise _wrong(place, "a list", value)


def _each(struct: Struct, field: str, place: str, read: Callable[[DebugValue, str], T]) -> tuple[T, ...]:
    value, where = _need(struct, field, place)
    return tuple(read(item, f"{where}[{index}]") for index, item in enumerate(_items(value, where)))


def _id(value: DebugValue, place: str) -> int:
    """``ValueId(7)``, ``OperationId(7)``, ``ValueSequenceId(7)``, or a bare number."""
    if type(value) is Call and len(value.items) == 1:
        return _u64(value.items[0], place)
    return _u64(value, place)


def _shape(value: DebugValue, place: str) -> Shape:
    """``TensorShape([1, 4, 588])``, or the bare list."""
    if type(value) is Call and len(value.items) == 1:
        value = value.items[0]
    return tuple(_u64(item, place) for item in _items(value, place))


def _map(struct: Struct, field: str, place: str, read: Callable[[DebugValue, str], T]) -> dict[int, T]:
    """A map whose keys are ids; an id that occurs twice is an error."""
    value, where = _need(struct, field, place)
    if not isinstance(value, Map):
        raise _wrong(where, "a map", value)
    result: dict[int, T] = {}
    for key, item in value.entries:
        number = _id(key, where)
        if number in result:
            raise FieldError(where, "each id once", f"{number} twice")
        result[number] = read(item, f"{where}[{number}]")
    return result


# -- tensors --------------------------------------------------------------------------------------------------------


def precision_from_debug(value: DebugValue, place: str = "") -> Precision:
    """``F16``, ``F32``, ``F8F143 { scale_exponent: -4 }``; anything else is a precision of unknown kind."""
    if isinstance(value, Unit) and value.name == "F16":
        return F16
    if isinstance(value, Unit) and value.name == "F32":
        return F32
    if isinstance(value, Struct) and value.name == "F8F143":
        exponent, where = _need(value, "scale_exponent", place)
        if type(exponent) is not int or not -(2**63) <= exponent < 2**63:
            raise _wrong(where, "a whole number", exponent)
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
            rows, columns = _count(inner, "row_block", place), _count(inner, "column_block", place)
            return Order(BLOCK[inner.name], rows, columns)
    return Order(OrderKind.UNKNOWN, text=to_text(value))


def _axis_reference(value: DebugValue, place: str) -> tuple[AxisBase, int]:
    if isinstance(value, Unit) and value.name == "Linear":
        return AxisBase.LINEAR, 0
    if isinstance(value, Call) and len(value.items) == 1 and value.name in ("FromStart", "FromEnd"):
        return AxisBase(value.name), _u64(value.items[0], place)
    raise _wrong(place, "FromStart(…), FromEnd(…) or Linear", value)


def _stride(value: DebugValue, place: str) -> int | None:
    if isinstance(value, Unit) and value.name == "None":
        return None
    if isinstance(value, Call) and value.name == "Some" and len(value.items) == 1:
        return _u64(value.items[0], place)
    raise _wrong(place, "None or Some(…)", value)


def _axis(value: DebugValue, place: str) -> Axis:
    struct = _struct(value, "AxisTiling", place)
    base, index = _axis_reference(*_need(struct, "axis", place))
    padding, padding_place = _need(struct, "padding", place)
    return Axis(
        base,
        index,
        _count(struct, "partitions", place),
        _count(struct, "padding_groups", place),
        _count(struct, "block_size", place),
        _count(struct, "padding_multiple", place),
        _count(struct, "shard_padding_multiple", place),
        _unit(padding, PADDINGS, padding_place),
        _stride(*_need(struct, "tile_stride", place)),
    )


def layout_from_debug(value: DebugValue, place: str = "") -> Layout:
    """``Layout { order: …, tiling: TensorTiling { … }, memory_class: … }``."""
    struct = _struct(value, "Layout", place)
    order = order_from_debug(*_need(struct, "order", place))
    tiling_value, tiling_place = _need(struct, "tiling", place)
    tiling = _struct(tiling_value, "TensorTiling", tiling_place)
    memory, memory_place = _need(struct, "memory_class", place)
    return Layout(
        order,
        Tiling(
            _count(tiling, "tile_count", tiling_place),
            _count(tiling, "replicas", tiling_place),
            _each(tiling, "axes", tiling_place, _axis),
        ),
        _unit(memory, CLASSES, memory_place),
    )


def format_from_debug(value: DebugValue, place: str = "") -> Format:
    """``TensorFormat { precision: …, layout: … }`` (any name will do)."""
    struct = _struct(value, "", place)
    return Format(
        precision_from_debug(*_need(struct, "precision", place)), layout_from_debug(*_need(struct, "layout", place))
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


# -- graph ----------------------------------------------------------------------------------------------------------


def _graph_input(value: DebugValue, place: str) -> GraphInput:
    struct = _struct(value, "GraphInput", place)
    kind, kind_place = _need(struct, "kind", place)
    return GraphInput(
        _text(struct, "name", place),
        _unit(kind, {item.value: item for item in InputKind}, kind_place),
        _id(*_need(struct, "value", place)),
        _shape(*_need(struct, "shape", place)),
    )


def _sequence(value: DebugValue, place: str) -> ValueSequence:
    struct = _struct(value, "ValueSequence", place)
    return ValueSequence(
        _id(*_need(struct, "id", place)), _text(struct, "name", place), _each(struct, "values", place, _id)
    )


def _region(value: DebugValue, place: str) -> Region:
    struct = _struct(value, "Region", place)
    return Region(
        _each(struct, "arguments", place, _id),
        _each(struct, "operations", place, _operation),
        _each(struct, "yields", place, _id),
        _map(struct, "value_shapes", place, _shape),
    )


def _repeat(struct: Struct, place: str) -> RepeatKind:
    return RepeatKind(
        _count(struct, "count", place),
        _count(struct, "carried_inputs", place),
        _count(struct, "invariant_inputs", place),
        _each(struct, "iterated_inputs", place, _id),
        _region(*_need(struct, "body", place)),
    )


_KINDS: dict[str, Callable[[Struct, str], OperationKind]] = {
    "Gemm": lambda s, p: GemmKind(_flag(s, "transpose_left", p), _flag(s, "transpose_right", p)),
    "FlashAttention": lambda s, p: AttentionKind(_flag(s, "causal", p), to_text(_need(s, "scale", p)[0])),
    "Slice": lambda s, p: SliceKind(_count(s, "axis", p), _count(s, "start", p), _count(s, "length", p)),
    "View": lambda s, p: ViewKind(
        _count(s, "split_axis", p), _count(s, "merge_axis", p), _count(s, "factor", p), _flag(s, "reversed", p)
    ),
    "Repeat": _repeat,
}
_BARE_KINDS: dict[str, OperationKind] = {"Add": AddKind(), "Gelu": GeluKind(), "LayerNorm": LayerNormKind()}


def _kind(value: DebugValue, place: str) -> OperationKind:
    if isinstance(value, Unit) and value.name in _BARE_KINDS:
        return _BARE_KINDS[value.name]
    if isinstance(value, Call) and value.name in _KINDS and len(value.items) == 1:
        inner = value.items[0]
        if isinstance(inner, Struct):
            return _KINDS[value.name](inner, place)
    text = to_text(value)
    return UnknownKind(debugtext.first_word(text), text)


def _operation(value: DebugValue, place: str) -> Operation:
    struct = _struct(value, "Operation", place)
    return Operation(
        _id(*_need(struct, "id", place)),
        _each(struct, "inputs", place, _id),
        _each(struct, "results", place, _id),
        _kind(*_need(struct, "kind", place)),
    )


def graph_from_text(text: str, *, line: int = 1) -> Graph:
    """The graph from a context's first line, ``ComputeGraph { … }``; raises :class:`FieldError`."""
    struct = _struct(debugtext.parse(text, line=line), "ComputeGraph", "")
    return Graph(
        _each(struct, "inputs", "", _graph_input),
        _each(struct, "sequences", "", _sequence),
        _each(struct, "operations", "", _operation),
        _each(struct, "outputs", "", _id),
        _map(struct, "shapes", "", _shape),
        _count(struct, "next_operation", ""),
        _count(struct, "next_value", ""),
    )


# -- configuration --------------------------------------------------------------------------------------------------

_CANDIDATES = "operator_candidates"
_READ_FIELDS = (
    "tile_count",
    "capacity_baseline",
    "inputs",
    "automatic_inputs",
    "standard_memory_reservation_bytes",
    "tile_memory_budget_bytes",
)


def config_from_text(text: str, *, line: int = 1) -> PipelineConfig:
    """The configuration from a context's second line, ``PipelineConfig { … }``; raises :class:`FieldError`.

    Only the fields that the re-planner reads are parsed; the others are kept as text. ``operator_candidates``, nearly
    all of the line, is passed over by matching brackets: :func:`operator_candidates` parses it for whoever asks.
    """
    known: list[tuple[str, DebugValue]] = []
    others: list[tuple[str, str]] = []
    for field in debugtext.split_struct(text, "PipelineConfig", line=line):
        if field.name in _READ_FIELDS:
            known.append((field.name, debugtext.parse(text, start=field.start, end=field.end, line=line)))
        elif field.name != _CANDIDATES:
            others.append((field.name, text[field.start : field.end]))
    struct = Struct("PipelineConfig", tuple(known))
    tiles = _count(struct, "tile_count", "")
    if not 1 <= tiles <= MAXIMUM_TILES:
        raise FieldError("tile_count", f"a number of tiles from 1 to {MAXIMUM_TILES:,}", f"{tiles:,}")
    reserve = _count(struct, "standard_memory_reservation_bytes", "")
    if reserve > LARGEST_LIMIT_BYTES:
        raise FieldError("standard_memory_reservation_bytes", "at most 2^62 bytes", f"{reserve:,}")
    return PipelineConfig(
        tiles,
        _flag(struct, "capacity_baseline", ""),
        _map(struct, "inputs", "", format_from_debug),
        _map(struct, "automatic_inputs", "", precision_from_debug),
        reserve,
        _count(struct, "tile_memory_budget_bytes", ""),
        tuple(others),
    )


def operator_candidates(config_text: str, *, line: int = 1) -> tuple[DebugValue, ...]:
    """The entries of ``operator_candidates``, parsed: slow (it is most of a recipe's context), so only for who asks."""
    for field in debugtext.split_struct(config_text, "PipelineConfig", line=line):
        if field.name == _CANDIDATES:
            return _items(debugtext.parse(config_text, start=field.start, end=field.end, line=line), _CANDIDATES)
    return ()
