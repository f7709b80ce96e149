"""Working memory of a step beside its operands: partial sums in flight, and the packing of a reordering copy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tileview.model.plan import Staging, StagingKind
from tileview.model.program import Copy, Step, Sum, Value
from tileview.model.tensor import Order, OrderKind, Precision, PrecisionKind

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
