"""An Add taken into the Gelu or LayerNorm that alone reads its sum."""

from __future__ import annotations

from typing import Final

from tileview.core.fusion.region import Candidate, FusedRegion, same_type
from tileview.model.program import Copy, Kernel, Value
from tileview.model.tensor import F16, ROW_MAJOR, PrecisionKind

_FUSED: Final = {"Gelu": "BiasGelu", "LayerNorm": "AddLayerNorm"}
_OPERANDS: Final = {"Gelu": 1, "LayerNorm": 3}


def fuse_sums(region: FusedRegion, found: list[Candidate]) -> bool:
    """Look at every Gelu and LayerNorm; uses are those at the start. True where one was fused."""
    consumers = [one for one in region.kernels(tuple(_FUSED)) if region.used_once(one[1].inputs[0])]
    changed = False
    for position, step in consumers:
        changed |= _fuse(region, position, step, found)
    return changed


def _fuse(region: FusedRegion, position: int, step: Kernel, found: list[Candidate]) -> bool:
    summed = step.inputs[0]
    made_at = region.maker(summed, position)
    add = None if made_at is None else region.steps[made_at]
    if made_at is None or not isinstance(add, Kernel) or add.kernel != "Add" or len(step.results) != 1:
        return False
    if len(add.inputs) < 2 or not _fit_together(region, add, step) or not _only_copies(region, made_at, position, add):
        return False
    inputs = (*add.inputs[:2], *step.inputs[1 : _OPERANDS[step.kernel]])
    alias = _alias(region, add, step, inputs)
    aliases = () if alias is None else ((0, alias),)
    fused = Kernel(step.source, _FUSED[step.kernel], inputs, step.results, aliases)
    candidate = Candidate(fused.kernel, step.source, add.source, region.price((add, step)), region.price((fused,)))
    found.append(candidate._replace(made=candidate.pays))
    if not candidate.pays:
        return False
    region.replace(position, fused)
    region.drop(made_at)
    return True


def _fit_together(region: FusedRegion, add: Kernel, step: Kernel) -> bool:
    """Left operand, sum and result of one type and owners, F16, row-major; the right one a bias row, or the same."""
    values = region.values
    left, right = values[add.inputs[0]], values[add.inputs[1]]
    summed, result = values[step.inputs[0]], values[step.results[0]]
    if result.precision != F16 or result.layout.order != ROW_MAJOR or right.precision.kind is not PrecisionKind.F16:
        return False
    if not (_equal(left, result) and _equal(summed, result)):
        return False
    if step.kernel == "LayerNorm":
        return _equal(right, result)
    shape = right.shape
    return bool(shape and result.shape) and shape[-1] == result.shape[-1] and all(extent == 1 for extent in shape[:-1])


def _equal(a: Value, b: Value) -> bool:
    return same_type(a, b) and a.owners == b.owners


def _only_copies(region: FusedRegion, start: int, end: int, add: Kernel) -> bool:
    """Only Copies lie between, none that reads or writes the memory of the sum or of an operand."""
    values = region.values
    groups = {values[value].storage_group for value in (*add.inputs[:2], *add.results)}
    for step in region.steps[start + 1 : end]:
        if not isinstance(step, Copy):
            return False
        if any(values[value].storage_group in groups for value in (*step.inputs, *step.results)):
            return False
    return True


def _alias(region: FusedRegion, add: Kernel, step: Kernel, inputs: tuple[int, ...]) -> int | None:
    """Which input gives the result its memory: one in its storage group, or the one the sum was written over."""
    values = region.values
    result = values[step.results[0]]
    for index, value in enumerate(inputs):
        if values[value].storage_group == result.storage_group and same_type(values[value], result):
            return index
    over_sum = any(step.inputs[operand] == step.inputs[0] for made, operand in step.aliases if made == 0)
    for made, operand in add.aliases if over_sum else ():
        given = add.inputs[operand]
        if made == 0 and given in inputs and _equal(values[given], result):
            return inputs.index(given)
    return None
