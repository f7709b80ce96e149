"""From Debug text to the model: the graph and the configuration.

Names that TileView does not know become the model's unknown kinds with their text kept; fields that it does not know
are passed over.
"""

from __future__ import annotations

from collections.abc import Callable

from tileview.formats import debugtext
from tileview.formats.check import MAXIMUM_TILES, FieldError
from tileview.formats.debugfields import (
    count_in,
    each_in,
    flag_in,
    id_from,
    items_from,
    map_in,
    needed_in,
    shape_from,
    struct_from,
    text_in,
    unit_from,
)
from tileview.formats.debugtensors import format_from_debug, precision_from_debug
from tileview.formats.debugvalues import Call, DebugValue, Struct, Unit, to_text
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
from tileview.model.sizes import LARGEST_LIMIT_BYTES

# -- graph ----------------------------------------------------------------------------------------------------------


def _graph_input(value: DebugValue, place: str) -> GraphInput:
    struct = struct_from(value, "GraphInput", place)
    kind, kind_place = needed_in(struct, "kind", place)
    return GraphInput(
        text_in(struct, "name", place),
        unit_from(kind, {item.value: item for item in InputKind}, kind_place),
        id_from(*needed_in(struct, "value", place)),
        shape_from(*needed_in(struct, "shape", place)),
    )


def _sequence(value: DebugValue, place: str) -> ValueSequence:
    struct = struct_from(value, "ValueSequence", place)
    return ValueSequence(
        id_from(*needed_in(struct, "id", place)),
        text_in(struct, "name", place),
        each_in(struct, "values", place, id_from),
    )


def _region(value: DebugValue, place: str) -> Region:
    struct = struct_from(value, "Region", place)
    return Region(
        each_in(struct, "arguments", place, id_from),
        each_in(struct, "operations", place, _operation),
        each_in(struct, "yields", place, id_from),
        map_in(struct, "value_shapes", place, shape_from),
    )


def _repeat(struct: Struct, place: str) -> RepeatKind:
    return RepeatKind(
        count_in(struct, "count", place),
        count_in(struct, "carried_inputs", place),
        count_in(struct, "invariant_inputs", place),
        each_in(struct, "iterated_inputs", place, id_from),
        _region(*needed_in(struct, "body", place)),
    )


_KINDS: dict[str, Callable[[Struct, str], OperationKind]] = {
    "Gemm": lambda s, p: GemmKind(flag_in(s, "transpose_left", p), flag_in(s, "transpose_right", p)),
    "FlashAttention": lambda s, p: AttentionKind(flag_in(s, "causal", p), to_text(needed_in(s, "scale", p)[0])),
    "Slice": lambda s, p: SliceKind(count_in(s, "axis", p), count_in(s, "start", p), count_in(s, "length", p)),
    "View": lambda s, p: ViewKind(
        count_in(s, "split_axis", p), count_in(s, "merge_axis", p), count_in(s, "factor", p), flag_in(s, "reversed", p)
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
    struct = struct_from(value, "Operation", place)
    return Operation(
        id_from(*needed_in(struct, "id", place)),
        each_in(struct, "inputs", place, id_from),
        each_in(struct, "results", place, id_from),
        _kind(*needed_in(struct, "kind", place)),
    )


def graph_from_text(text: str, *, line: int = 1) -> Graph:
    """The graph from a context's first line, ``ComputeGraph { … }``; raises :class:`FieldError`."""
    struct = struct_from(debugtext.parse(text, line=line), "ComputeGraph", "")
    return Graph(
        each_in(struct, "inputs", "", _graph_input),
        each_in(struct, "sequences", "", _sequence),
        each_in(struct, "operations", "", _operation),
        each_in(struct, "outputs", "", id_from),
        map_in(struct, "shapes", "", shape_from),
        count_in(struct, "next_operation", ""),
        count_in(struct, "next_value", ""),
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
    tiles = count_in(struct, "tile_count", "")
    if not 1 <= tiles <= MAXIMUM_TILES:
        raise FieldError("tile_count", f"a number of tiles from 1 to {MAXIMUM_TILES:,}", f"{tiles:,}")
    reserve = count_in(struct, "standard_memory_reservation_bytes", "")
    if reserve > LARGEST_LIMIT_BYTES:
        raise FieldError("standard_memory_reservation_bytes", "at most 2^62 bytes", f"{reserve:,}")
    return PipelineConfig(
        tiles,
        flag_in(struct, "capacity_baseline", ""),
        map_in(struct, "inputs", "", format_from_debug),
        map_in(struct, "automatic_inputs", "", precision_from_debug),
        reserve,
        count_in(struct, "tile_memory_budget_bytes", ""),
        tuple(others),
    )


def operator_candidates(config_text: str, *, line: int = 1) -> tuple[DebugValue, ...]:
    """The entries of ``operator_candidates``, parsed: slow (it is most of a recipe's context), so only for who asks."""
    for field in debugtext.split_struct(config_text, "PipelineConfig", line=line):
        if field.name == _CANDIDATES:
            return items_from(debugtext.parse(config_text, start=field.start, end=field.end, line=line), _CANDIDATES)
    return ()
