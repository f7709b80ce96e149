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
    transpose_left: bool
    transpose_right: bool
    multiply: Precision
    accumulate: Precision


@dataclass(frozen=True, slots=True)
class AddOperator:
    pass


@dataclass(frozen=True, slots=True)
class GeluOperator:
    pass


@dataclass(frozen=True, slots=True)
class LayerNormOperator:
    pass


@dataclass(frozen=True, slots=True)
class AttentionOperator:
    causal: bool
    scale: str
    accumulate: Precision


@dataclass(frozen=True, slots=True)
class SliceOperator:
    axis: int
    start: int
    length: int


@dataclass(frozen=True, slots=True)
class ViewOperator:
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
    pass


@dataclass(frozen=True, slots=True)
class ParallelReduction:
    row_partitions: int
    column_partitions: int
    inner_partitions: int
    result_row_partitions: int
    result_column_partitions: int
    reduction_staging: Staging


Distribution = OutputStationary | ParallelReduction | Unknown


@dataclass(frozen=True, slots=True)
class BlockedGemm:
    inner_block: int
    output_column_block: int
    orientation: Orientation
    distribution: Distribution


@dataclass(frozen=True, slots=True)
class Pointwise:
    kernel: str


@dataclass(frozen=True, slots=True)
class LayerNormParts:
    parts: int


@dataclass(frozen=True, slots=True)
class ProductGrid:
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
    pass


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
