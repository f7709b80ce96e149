"""Plans that run one kernel over local shards: Add, Gelu, LayerNorm, and the scalar reference of attention."""

from __future__ import annotations

from collections.abc import Sequence

from tileview.core.lowering.sheet import RESULT, Fragment, Sheet, operand
from tileview.core.lowering.tilings import broadcast
from tileview.model.plan import Plan
from tileview.model.tensor import F32, Layout


def aligned_operands(sheet: Sheet) -> list[int]:
    """Every operand copied to the broadcast projection of the result's tiling, in its own order and class."""
    tiling = sheet.result.layout.tiling
    aligned: list[int] = []
    for index, own in enumerate(sheet.operands):
        projected = broadcast(tiling, sheet.result.shape, own.shape)
        layout = Layout(own.layout.order, projected, own.layout.memory_class)
        aligned.append(sheet.copy(operand(index), sheet.derived(own, layout=layout), f"operand {index}"))
    return aligned


def lower_pointwise(sheet: Sheet, plan: Plan, kernel: str) -> Fragment:
    """Operand copies and one kernel step.

    With permission to alias, the first listed operand whose type (after its copy) is the result's gives its memory: it
    is appended as a further input and the result is aliased to that.
    """
    inputs = aligned_operands(sheet)
    donor = _donor(sheet, plan.may_alias, inputs)
    if donor is None:
        sheet.kernel(kernel, inputs, (RESULT,))
    else:
        sheet.kernel(kernel, (*inputs, donor), (RESULT,), ((0, len(inputs)),))
    return sheet.finish()


def _donor(sheet: Sheet, listed: Sequence[int], inputs: Sequence[int]) -> int | None:
    for index in listed:
        if 0 <= index < len(inputs) and sheet.type_of(inputs[index]) is sheet.result:
            return inputs[index]
    return None


def lower_scalar_attention(sheet: Sheet) -> Fragment:
    """The reference kernel: no operand copies; it writes F32 in the result's layout, then a Cast where that is not
    F32.
    """
    written = sheet.new(sheet.derived(sheet.result, precision=F32), "attention in F32")
    sheet.kernel("FlashAttention", [operand(index) for index in range(len(sheet.operands))], (written,))
    return sheet.finish(sheet.cast(written, sheet.result.precision, "result"))
