"""The compiler's last rewrite before it measures: which kernels are fused, and when the fused program stands.

First sums with their statistics in every region, bodies of Repeats before what holds them; then, region by region, Adds
taken into their consumers and results written as F8. Values keep their numbers; what no step mentions any more holds no
memory; new values are numbered after all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tileview.core.fusion.casts import fuse_casts
from tileview.core.fusion.region import Candidate, FusedRegion, StepPrices
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


Pass = Callable[[FusedRegion, list[Candidate]], list[Step] | None]


def fuse(program: Program) -> Rewritten:
    """Rewrite a composed program; what is not looked at are cycles of the whole and fit."""
    values = list(program.values)
    found: list[Candidate] = []
    whole = _Nested(program.steps, program.outputs, values, StepPrices(program))
    whole.rewrite((_statistics,), found)
    whole.rewrite((_sums, fuse_casts), found)
    steps = whole.finished()
    if steps is program.steps:
        return Rewritten(program, tuple(found), False)
    return Rewritten(replace(program, steps=steps, values=tuple(values)), tuple(found), True)


class _Nested:
    """A region and those of the Repeats in it, in order. Indexed when a pass looks at it, and again once it changed."""

    def __init__(
        self, steps: tuple[Step, ...], required: Iterable[int], values: list[Value], prices: StepPrices
    ) -> None:
        self._prices = prices
        self._given = steps
        self._steps: Sequence[Step] = steps
        self._required = required
        self._values = values
        self._region: FusedRegion | None = None
        self._bodies = [_Nested(step.body, step.yields, values, prices) for step in steps if type(step) is Repeat]
        self._is_worth_it = any(type(step) is Kernel and step.kernel in _CONSUMERS for step in steps)

    def rewrite(self, passes: Sequence[Pass], found: list[Candidate]) -> None:
        """Make some passes, bodies first."""
        for body in self._bodies:
            body.rewrite(passes, found)
        for one in passes if self._is_worth_it else ():
            if self._region is None:
                self._region = FusedRegion(self._steps, self._required, self._values, self._prices)
            made = one(self._region, found)
            if made is not None:
                self._steps, self._region = made, None

    def finished(self) -> tuple[Step, ...]:
        """The steps with the bodies as they are now; the object given where nothing changed."""
        bodies = [body.finished() for body in self._bodies]
        if self._steps is self._given and all(map(_is_same, bodies, self._bodies)):
            return self._given
        left = iter(bodies)
        return tuple([replace(step, body=next(left)) if type(step) is Repeat else step for step in self._steps])

    @property
    def given(self) -> tuple[Step, ...]:
        return self._given


def _is_same(steps: tuple[Step, ...], nested: _Nested) -> bool:
    return steps is nested.given


def _statistics(region: FusedRegion, found: list[Candidate]) -> list[Step] | None:
    return region.finished() if fuse_statistics(region, found) else None


def _sums(region: FusedRegion, found: list[Candidate]) -> list[Step] | None:
    return region.finished() if fuse_sums(region, found) else None
