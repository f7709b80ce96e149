"""The sum of a residual with its statistics: an Add makes what the LayerNorm that reads its sum begins with.

The sum may have other uses, which is why it stays a result; the LayerNorm becomes the application of the statistics.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tileview.core.fusion.formats import STATISTICS, moments_format, moved_moments_format
from tileview.core.fusion.region import DIRECT, Candidate, Chain, FusedRegion, same_storage
from tileview.model.program import Copy, Kernel, Step
from tileview.model.tensor import F16, ROW_MAJOR

KIND: Final = "residual"


def fuse_statistics(region: FusedRegion, found: list[Candidate]) -> bool:
    """Look at every LayerNorm and LayerNormMoments; True where one was fused."""
    changed = False
    for position, step in region.kernels(("LayerNorm", "LayerNormMoments")):
        changed |= _fuse(region, position, step, found)
    return changed


def _fuse(region: FusedRegion, position: int, step: Kernel, found: list[Candidate]) -> bool:
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
