"""Sums: an Add taken into the one kernel that reads it, or made together with its statistics.

The sum may have other uses, which is why it stays a result; the LayerNorm becomes the application of the statistics.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tileview.core.fusion.casts import STATISTICS, moments_format, moved_moments_format
from tileview.core.fusion.region import DIRECT, Candidate, Chain, FusedRegion, same_storage, same_type
from tileview.model.program import Copy, Kernel, Step, Value
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


KIND: Final = "residual"


def fuse_statistics(region: FusedRegion, found: list[Candidate]) -> bool:
    """Look at every LayerNorm and LayerNormMoments; True where one was fused."""
    changed = False
    for position, step in region.kernels(("LayerNorm", "LayerNormMoments")):
        changed |= _fuse_statistics(region, position, step, found)
    return changed


def _fuse_statistics(region: FusedRegion, position: int, step: Kernel, found: list[Candidate]) -> bool:
    x = step.inputs[0]
    chain = region.walk_back(x, position, within_storage=step.kernel == "LayerNormMoments")
    add = None if chain is None else region.steps[chain.maker]
    if chain is None or not isinstance(add, Kernel) or not _is_residual(region, chain, add):
        return False
    groups = (region.values[chain.value].storage_group,)
    if not region.is_clear(chain.maker, position, chain.copies, groups):
        return False
    base = len(region.values)
    made = _moments(add, step) if step.kernel == "LayerNormMoments" else _applied(region, add, step, chain.value)
    if made is None:
        return False
    added, copies, applied = made
    after: tuple[Step, ...] = (added, *copies, *(() if applied is None else (applied,)))
    candidate = Candidate(KIND, step.source, add.source, region.price((add, step)), region.price(after))
    found.append(candidate._replace(made=candidate.pays))
    if not candidate.pays:
        del region.values[base:]
        return False
    if not copies:
        _drop_chain(region, chain)
    region.replace(chain.maker, added)
    if applied is None:
        region.drop(position)
    else:
        region.add_before(position, copies)
        region.replace(position, applied)
    return True


def _is_residual(region: FusedRegion, chain: Chain, add: Kernel) -> bool:
    s = region.values[chain.value]
    if add.kernel != "Add" or s.precision != F16 or s.layout.order != ROW_MAJOR:
        return False
    return all(same_storage(region.values[operand], s) for operand in add.inputs[:2])


def _with_statistics(add: Kernel, statistics: int) -> Kernel:
    aliases = tuple((result + 1, operand) for result, operand in add.aliases)
    return replace(add, kernel="AddLayerNormMoments", results=(statistics, *add.results), aliases=aliases)


Made = tuple[Kernel, tuple[Copy, ...], Kernel | None]
"""The sum with its statistics, what brings these to where they are applied, and the application (None: it is there)."""


def _moments(add: Kernel, step: Kernel) -> Made:
    return _with_statistics(add, step.results[0]), (), None


def _applied(region: FusedRegion, add: Kernel, step: Kernel, summed: int) -> Made | None:
    values = region.values
    x, s = values[step.inputs[0]], values[summed]
    own = moments_format(s.shape, s.layout)
    if own is None or len(step.inputs) < 3 or not same_storage(values[step.results[0]], x):
        return None
    is_moved = not same_storage(x, s)
    shared = moved_moments_format(x.shape, x.layout, own[0][-2]) if is_moved else None
    if is_moved and shared is None:
        return None
    statistics = region.new_value(own[0], STATISTICS, own[1], s)
    added = _with_statistics(add, statistics)
    read = summed
    copies: tuple[Copy, ...] = ()
    if shared is not None:
        brought = region.new_value(shared[0], STATISTICS, shared[1], x)
        copies = (Copy(step.source, (statistics,), (brought,), policy=DIRECT),)
        read, statistics = step.inputs[0], brought
    applied = Kernel(step.source, "LayerNormApply", (read, *step.inputs[1:3], statistics), step.results)
    return added, copies, applied


def _drop_chain(region: FusedRegion, chain: Chain) -> None:
    """Drop the copies from the last backwards, up to the first whose result something else reads too."""
    for position in reversed(chain.copies):
        if not region.used_once(region.steps[position].results[0]):
            return
        region.drop(position)
