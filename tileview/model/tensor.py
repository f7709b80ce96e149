"""Precisions, element orders, layouts: what a tensor is and how a layout asks to divide it.

These classes only say what a file says; whether a layout resolves against a shape is decided by
``tileview.core.geometry``. All are immutable, hashable (the hash of a layout is computed once, as layouts are the
keys of every cache) and compare by value.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

Shape = tuple[int, ...]
"""Extents, first dimension first, each ≥ 0."""


class PrecisionKind(StrEnum):
    """The names that files use; UNKNOWN for a name that TileView does not know."""

    F16 = "F16"
    F32 = "F32"
    F8F143 = "F8F143"
    UNKNOWN = "unknown"


_ELEMENT_BYTES = {PrecisionKind.F16: 2, PrecisionKind.F32: 4, PrecisionKind.F8F143: 1}


@dataclass(frozen=True, slots=True)
class Precision:
    """How an element is stored.

    ``scale_exponent`` is set for F8F143 only. ``text`` holds what the file says where the kind is UNKNOWN.
    """

    kind: PrecisionKind
    scale_exponent: int | None = None
    text: str = ""

    @property
    def element_bytes(self) -> int | None:
        """Bytes an element: F16 2, F32 4, F8F143 1; None where the precision is unknown."""
        return _ELEMENT_BYTES.get(self.kind)

    @property
    def is_f8(self) -> bool:
        return self.kind is PrecisionKind.F8F143

    def __str__(self) -> str:
        """The Rust Debug text: ``F16``, ``F8F143 { scale_exponent: -4 }``."""
        if self.kind is PrecisionKind.UNKNOWN:
            return self.text
        if self.kind is PrecisionKind.F8F143:
            return f"F8F143 {{ scale_exponent: {self.scale_exponent} }}"
        return self.kind.value


F16 = Precision(PrecisionKind.F16)
F32 = Precision(PrecisionKind.F32)


class OrderKind(StrEnum):
    """Element orders inside a shard. LEFT … TRANSPOSED_OUTPUT are ``Amp`` orders, the MATRIX ones ``BlockMajor``."""

    ROW_MAJOR = "RowMajor"
    LEFT = "Left"
    TRANSPOSED_LEFT = "TransposedLeft"
    TRANSPOSED_RIGHT = "TransposedRight"
    OUTPUT = "Output"
    TRANSPOSED_OUTPUT = "TransposedOutput"
    MATRIX = "Matrix"
    TRANSPOSED_MATRIX = "TransposedMatrix"
    UNKNOWN = "unknown"


AMP_ORDERS = frozenset(
    {
        OrderKind.LEFT,
        OrderKind.TRANSPOSED_LEFT,
        OrderKind.TRANSPOSED_RIGHT,
        OrderKind.OUTPUT,
        OrderKind.TRANSPOSED_OUTPUT,
    }
)
BLOCK_ORDERS = frozenset({OrderKind.MATRIX, OrderKind.TRANSPOSED_MATRIX})


@dataclass(frozen=True, slots=True)
class Order:
    """An element order. ``row_block`` and ``column_block`` are set for BlockMajor orders only, else 0."""

    kind: OrderKind
    row_block: int = 0
    column_block: int = 0
    text: str = ""

    def __str__(self) -> str:
        """The Rust Debug text: ``RowMajor``, ``Amp(Left)``, ``BlockMajor(Matrix { row_block: 96, column_block: 16
        })``."""
        if self.kind is OrderKind.UNKNOWN:
            return self.text
        if self.kind in AMP_ORDERS:
            return f"Amp({self.kind.value})"
        if self.kind in BLOCK_ORDERS:
            blocks = f"row_block: {self.row_block}, column_block: {self.column_block}"
            return f"BlockMajor({self.kind.value} {{ {blocks} }})"
        return self.kind.value


ROW_MAJOR = Order(OrderKind.ROW_MAJOR)
LEFT = Order(OrderKind.LEFT)
TRANSPOSED_LEFT = Order(OrderKind.TRANSPOSED_LEFT)
TRANSPOSED_RIGHT = Order(OrderKind.TRANSPOSED_RIGHT)
OUTPUT = Order(OrderKind.OUTPUT)
TRANSPOSED_OUTPUT = Order(OrderKind.TRANSPOSED_OUTPUT)


class AxisBase(StrEnum):
    """From which end an axis counts: FromStart 0-based, FromEnd 1-based, LINEAR is the flattened tensor."""

    START = "FromStart"
    END = "FromEnd"
    LINEAR = "Linear"


class Padding(StrEnum):
    """What an axis does with an extent that its multiples do not divide."""

    REJECT = "Reject"
    ZERO = "Zero"


class MemoryClass(StrEnum):
    """Where an allocation may lie: standard memory, or only the interleaved region."""

    STANDARD = "Ipu21Standard"
    INTERLEAVED = "Ipu21Interleaved"


@dataclass(frozen=True, slots=True)
class Axis:
    """One entry of a tiling: which dimension is divided, into how many partitions, in what grains.

    ``index`` counts from ``base`` (0 for LINEAR). ``tile_stride`` None means the packed stride.
    """

    base: AxisBase
    index: int
    partitions: int
    padding_groups: int = 1
    block_size: int = 1
    padding_multiple: int = 1
    shard_padding_multiple: int = 1
    padding: Padding = Padding.REJECT
    tile_stride: int | None = None

    def __str__(self) -> str:
        """The Rust Debug text ``AxisTiling { … }``."""
        axis = "Linear" if self.base is AxisBase.LINEAR else f"{self.base.value}({self.index})"
        stride = "None" if self.tile_stride is None else f"Some({self.tile_stride})"
        return (
            f"AxisTiling {{ axis: {axis}, partitions: {self.partitions}, padding_groups: {self.padding_groups}, "
            f"block_size: {self.block_size}, padding_multiple: {self.padding_multiple}, "
            f"shard_padding_multiple: {self.shard_padding_multiple}, padding: {self.padding.value}, "
            f"tile_stride: {stride} }}"
        )


@dataclass(frozen=True, slots=True)
class Tiling:
    """How owners divide a tensor: ``tile_count`` owners, each part held by ``replicas`` of them."""

    tile_count: int
    replicas: int
    axes: tuple[Axis, ...]

    @property
    def is_linear(self) -> bool:
        """True where the only axis is LINEAR: the flattened elements are spread in grains."""
        return len(self.axes) == 1 and self.axes[0].base is AxisBase.LINEAR

    def __str__(self) -> str:
        axes = ", ".join(map(str, self.axes))
        return f"TensorTiling {{ tile_count: {self.tile_count}, replicas: {self.replicas}, axes: [{axes}] }}"


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Order, tiling and memory class of a tensor; equal by value, its hash computed once."""

    order: Order
    tiling: Tiling
    memory_class: MemoryClass = MemoryClass.STANDARD
    _hash: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.order, self.tiling, self.memory_class)))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Layout):
            return NotImplemented
        return (
            self._hash == other._hash
            and self.memory_class == other.memory_class
            and self.order == other.order
            and self.tiling == other.tiling
        )

    def __reduce__(self) -> tuple[type[Layout], tuple[Order, Tiling, MemoryClass]]:
        return Layout, (self.order, self.tiling, self.memory_class)

    def __str__(self) -> str:
        """The Rust Debug text ``Layout { order: …, tiling: …, memory_class: … }``."""
        return f"Layout {{ order: {self.order}, tiling: {self.tiling}, memory_class: {self.memory_class.value} }}"


@dataclass(frozen=True, slots=True)
class Format:
    """Precision and layout: what a plan asks of an operand, what a home is."""

    precision: Precision
    layout: Layout
