"""The computation graph of a recipe's context: inputs, sequences, operations, Repeat bodies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from tileview.model.tensor import Shape


class InputKind(StrEnum):
    """HOST data arrives with every run; a PARAMETER is resident."""

    HOST = "Host"
    PARAMETER = "Parameter"


@dataclass(frozen=True, slots=True)
class GraphInput:
    """A value that the graph is given."""

    name: str
    kind: InputKind
    value: int
    shape: Shape


@dataclass(frozen=True, slots=True)
class ValueSequence:
    """One parameter per layer, read by a Repeat: iteration i uses ``values[i]``."""

    id: int
    name: str
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class GemmKind:
    """A matrix product."""

    transpose_left: bool = False
    transpose_right: bool = False


@dataclass(frozen=True, slots=True)
class AddKind:
    """A sum, element by element."""


@dataclass(frozen=True, slots=True)
class GeluKind:
    """The Gelu function."""


@dataclass(frozen=True, slots=True)
class LayerNormKind:
    """A normalization over the last dimension."""


@dataclass(frozen=True, slots=True)
class AttentionKind:
    """Attention."""

    causal: bool
    scale: str
    """The Debug text of the scale, e.g. ``InverseSqrtQueryWidth``."""


@dataclass(frozen=True, slots=True)
class SliceKind:
    """``length`` elements of an axis, from ``start`` on."""

    axis: int
    start: int
    length: int


@dataclass(frozen=True, slots=True)
class ViewKind:
    """A part of one axis moved to another, or back."""

    split_axis: int
    merge_axis: int
    factor: int
    reversed: bool


@dataclass(frozen=True, slots=True)
class UnknownKind:
    """A kind of operation that TileView does not know; ``name`` its first word, ``text`` all of it."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Region:
    """The body of a Repeat. ``arguments`` are the carried values, then the invariants, then one per sequence."""

    arguments: tuple[int, ...]
    operations: tuple[Operation, ...]
    yields: tuple[int, ...]
    value_shapes: Mapping[int, Shape]


@dataclass(frozen=True, slots=True)
class RepeatKind:
    """``count`` runs of ``body``. The operation's inputs are the carried ones, then the invariant ones."""

    count: int
    carried_inputs: int
    invariant_inputs: int
    iterated_inputs: tuple[int, ...]
    """Sequence ids."""
    body: Region


OperationKind = (
    GemmKind | AddKind | GeluKind | LayerNormKind | AttentionKind | SliceKind | ViewKind | RepeatKind | UnknownKind
)

_KIND_NAMES = {
    GemmKind: "Gemm",
    AddKind: "Add",
    GeluKind: "Gelu",
    LayerNormKind: "LayerNorm",
    AttentionKind: "FlashAttention",
    SliceKind: "Slice",
    ViewKind: "View",
    RepeatKind: "Repeat",
}


def kind_name(kind: OperationKind) -> str:
    """The compiler's word for a kind: ``Gemm``, ``FlashAttention``, ``Repeat`` …"""
    return kind.name if isinstance(kind, UnknownKind) else _KIND_NAMES[type(kind)]


@dataclass(frozen=True, slots=True)
class Operation:
    """A node of the graph; ids are unique over the whole graph, bodies included."""

    id: int
    inputs: tuple[int, ...]
    results: tuple[int, ...]
    kind: OperationKind


@dataclass(frozen=True, slots=True)
class Graph:
    """``shapes`` holds every value outside Repeat bodies; bodies hold their own."""

    inputs: tuple[GraphInput, ...]
    sequences: tuple[ValueSequence, ...]
    operations: tuple[Operation, ...]
    outputs: tuple[int, ...]
    shapes: Mapping[int, Shape]
    next_operation: int
    next_value: int

    def kind_names(self) -> dict[int, str]:
        """Operation → the compiler's word for its kind, bodies included."""
        return {operation.id: kind_name(operation.kind) for operation, _ in self.walk()}

    def walk(self) -> Iterator[tuple[Operation, tuple[int, ...]]]:
        """Every operation in order, bodies included (a body before its Repeat), with the Repeat ids around it."""
        yield from _walk(self.operations, ())

    def shape_of(self, value: int) -> Shape | None:
        """The shape of any value, inside or outside bodies; None where the graph has none."""
        if value in self.shapes:
            return self.shapes[value]
        for operation, _ in self.walk():
            if isinstance(operation.kind, RepeatKind) and value in operation.kind.body.value_shapes:
                return operation.kind.body.value_shapes[value]
        return None


def _walk(operations: tuple[Operation, ...], around: tuple[int, ...]) -> Iterator[tuple[Operation, tuple[int, ...]]]:
    for operation in operations:
        if isinstance(operation.kind, RepeatKind):
            yield from _walk(operation.kind.body.operations, (*around, operation.id))
        yield operation, around
