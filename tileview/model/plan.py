"""Plans: what is computed (operator), how (dispatch), and what it asks of its operands (requirements)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tileview.model.tensor import Format, Precision


class Orientation(StrEnum):
    """SWAPPED computes the transposed product: the semantic right operand becomes the physical left one."""

    NORMAL = "Normal"
    SWAPPED = "Swapped"


class StagingKind(StrEnum):
    COMPLETE = "Complete"
    STREAMED = "Streamed"
    BATCHED = "Batched"


@dataclass(frozen=True, slots=True)
class Staging:
    """How a reduction brings its partial results in; ``batch`` is n of ``Batched(n)``, else 0."""

    kind: StagingKind
    batch: int = 0

    def __str__(self) -> str:
        return f"Batched({self.batch})" if self.kind is StagingKind.BATCHED else self.kind.value


# -- operators ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GemmOperator:
    """A matrix product: which operands are transposed, the precisions it multiplies and adds in."""

    transpose_left: bool
    transpose_right: bool
    multiply: Precision
    accumulate: Precision


@dataclass(frozen=True, slots=True)
class AddOperator:
    """A sum, element by element."""


@dataclass(frozen=True, slots=True)
class GeluOperator:
    """The Gelu function, element by element."""


@dataclass(frozen=True, slots=True)
class LayerNormOperator:
    """A normalization over the last dimension."""


@dataclass(frozen=True, slots=True)
class AttentionOperator:
    """Attention; ``scale`` is the Debug text of its scale."""

    causal: bool
    scale: str
    accumulate: Precision


@dataclass(frozen=True, slots=True)
class SliceOperator:
    """``length`` elements of an axis, from ``start`` on."""

    axis: int
    start: int
    length: int


@dataclass(frozen=True, slots=True)
class ViewOperator:
    """A part of one axis moved to another: split off ``factor`` there, merged here; or the way back."""

    split_axis: int
    merge_axis: int
    factor: int
    reversed: bool


@dataclass(frozen=True, slots=True)
class Unknown:
    """An operator, dispatch or distribution that TileView does not know: its name, and its JSON text."""

    name: str
    text: str


Operator = (
    GemmOperator
    | AddOperator
    | GeluOperator
    | LayerNormOperator
    | AttentionOperator
    | SliceOperator
    | ViewOperator
    | Unknown
)


# -- dispatches -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OutputStationary:
    """Every tile makes its part of the result over the whole inner extent."""


@dataclass(frozen=True, slots=True)
class ParallelReduction:
    """Parts of the inner extent on different tiles, their partial results summed."""

    row_partitions: int
    column_partitions: int
    inner_partitions: int
    result_row_partitions: int
    result_column_partitions: int
    reduction_staging: Staging


Distribution = OutputStationary | ParallelReduction | Unknown


@dataclass(frozen=True, slots=True)
class BlockedGemm:
    """A product in calls of so many inner elements and result columns."""

    inner_block: int
    output_column_block: int
    orientation: Orientation
    distribution: Distribution


@dataclass(frozen=True, slots=True)
class Pointwise:
    """A kernel, by name, that works on the shards as they lie."""

    kernel: str


@dataclass(frozen=True, slots=True)
class LayerNormParts:
    """A row of a LayerNorm in so many parts on different tiles."""

    parts: int


@dataclass(frozen=True, slots=True)
class ProductGrid:
    """A product's parts by rows, columns and inner extent."""

    rows: int
    columns: int
    inner: int


@dataclass(frozen=True, slots=True)
class AttentionDispatch:
    """``fp8_scales`` holds the scale exponents of query–key and of weights–value, None where that product stays F16."""

    fp8_scales: tuple[int | None, int | None]
    query_key: ProductGrid | None
    probability_value: ProductGrid | None
    materialized: bool
    key_block_rows: int
    padded_query_dimension: int
    padded_value_dimension: int


@dataclass(frozen=True, slots=True)
class ViewDispatch:
    """A view is a copy: nothing to choose."""


Dispatch = BlockedGemm | Pointwise | LayerNormParts | AttentionDispatch | ViewDispatch | Unknown


# -- requirements ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a plan asks of an operand, or gives as a result.

    ``local_staging`` is ``Direct`` or ``MatchRemote``; ``materialization`` is ``Complete`` or ``DispatchSlices``.
    """

    format: Format
    local_staging: str = "Direct"
    materialization: str = "Complete"


@dataclass(frozen=True, slots=True)
class Plan:
    """The choice for one operation. ``may_alias`` lists operands in the order given; empty for ``Fresh``."""

    operator: Operator
    dispatch: Dispatch
    inputs: tuple[Requirement, ...]
    output: Requirement
    may_alias: tuple[int, ...] = ()
