"""The compiler's last rewrite before it measures: which kernels are fused, and when the fused program stands.

First sums with their statistics in every region, bodies of Repeats before what holds them; then, region by region, Adds
taken into their consumers and results written as F8. Values keep their numbers; what no step mentions any more holds no
memory; new values are numbered after all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

from tileview.core.fusion.casts import fuse_casts
from tileview.core.fusion.region import Candidate, Region
from tileview.core.fusion.statistics import fuse_statistics
from tileview.core.fusion.sums import fuse_sums
from tileview.model.program import Kernel, Program, Repeat, Step, Value

_CONSUMERS: Final = frozenset({"LayerNorm", "LayerNormMoments", "Gelu", "Cast"})
"""Kernels at which a fusion may end."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A program with its fusions: ``program`` is the one given where nothing was fused.

    ``candidates`` in the order looked at, those of the way not taken included; one that both ways looked at, once.
    """

    program: Program
    candidates: tuple[Candidate, ...]
    changed: bool


Pass = Callable[[Region, list[Candidate]], list[Step] | None]


def fuse(program: Program) -> Rewritten:
    """Rewrite a composed program; what is not looked at are cycles of the whole and fit."""
    values = list(program.values)
    found: list[Candidate] = []
    steps = _rewrite(program.steps, program.outputs, values, found, (_statistics,))
    steps = _rewrite(steps, program.outputs, values, found, (_sums, fuse_casts))
    if steps is program.steps:
        return Rewritten(program, tuple(found), False)
    return Rewritten(replace(program, steps=steps, values=tuple(values)), tuple(found), True)


def _rewrite(
    steps: tuple[Step, ...],
    required: Iterable[int],
    values: list[Value],
    found: list[Candidate],
    passes: tuple[Pass, ...],
) -> tuple[Step, ...]:
    """A region after some passes, bodies first; the same object where nothing changed."""
    inside: list[Step] | None = None
    worth = False
    for position, step in enumerate(steps):
        if type(step) is Kernel:
            worth = worth or step.kernel in _CONSUMERS
        elif type(step) is Repeat:
            body = _rewrite(step.body, step.yields, values, found, passes)
            if body is not step.body:
                inside = inside or list(steps)
                inside[position] = replace(step, body=body)
    if inside is not None:
        steps = tuple(inside)
    if not worth:
        return steps
    region = Region(steps, required, values)
    for one in passes:
        made = one(region, found)
        if made is not None:
            steps = tuple(made)
            region = Region(steps, required, values)
    return steps


def _statistics(region: Region, found: list[Candidate]) -> list[Step] | None:
    return region.finished() if fuse_statistics(region, found) else None


def _sums(region: Region, found: list[Candidate]) -> list[Step] | None:
    return region.finished() if fuse_sums(region, found) else None
