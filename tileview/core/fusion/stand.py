"""The compiler's last rewrite before it measures: which kernels are fused, and whether the fused program stands.

First sums with their statistics in every region, bodies of Repeats before what holds them; then, region by region, Adds
taken into their consumers and results written as F8. Values keep their numbers; what no step mentions any more holds no
memory; new values are numbered after all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, Protocol, TypeVar

from tileview.core.cycles.prices import Price, ProgramCycles, program_cycles
from tileview.core.fusion.casts import fuse_casts
from tileview.core.fusion.region import Candidate, FusedRegion, StepPrices
from tileview.core.fusion.sums import fuse_statistics, fuse_sums
from tileview.model.program import Kernel, Program, Repeat, Step, Value
from tileview.model.timeline import Peak, Verdict

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


class Reason(StrEnum):
    """Why the program that stands is the one it is."""

    NOTHING = "nothing to fuse"
    FUSED = "fused"
    NO_GAIN = "no cycles gained"
    DOES_NOT_FIT = "does not fit fused"
    OFF = "off"
    NOT_LOOKED = "not looked for"


class Measured(Protocol):
    """What a measurement of a program says of it."""

    @property
    def peak(self) -> Peak: ...

    @property
    def verdict(self) -> Verdict: ...


M = TypeVar("M", bound=Measured)


@dataclass(frozen=True, slots=True)
class Tried:
    """A fused program that does not stand: its price, and peak and verdict where it was measured."""

    price: Price
    peak: Peak | None = None
    verdict: Verdict | None = None


@dataclass(frozen=True, slots=True)
class Fusion:
    """What came of a composed program's fusions.

    ``program`` and ``cycles`` are of the program that stands. ``candidates``: every fusion looked at. ``tried`` is the
    fused program where it does not stand. ``why`` says why fusions were not looked for.
    """

    reason: Reason
    program: Program
    composed: Program
    cycles: ProgramCycles
    composed_cycles: ProgramCycles
    candidates: tuple[Candidate, ...] = ()
    tried: Tried | None = None
    why: str = ""

    @property
    def stands(self) -> bool:
        """Whether the fused program is the one that stands."""
        return self.reason is Reason.FUSED


def unfused(program: Program, reason: Reason, why: str = "") -> Fusion:
    """The composed program stands without having been looked at."""
    cycles = program_cycles(program)
    return Fusion(reason, program, program, cycles, cycles, why=why)


def stand(
    composed: Program, measure: Callable[[Program], M | None], checkpoints: bool = False
) -> tuple[Fusion, M | None]:
    """Fuse a composed program and decide which of the two stands.

    The fused one does only where its cycles are less (an unavailable total is never less), and it fits; whether the
    composed one fits does not count.

    Parameters
    ----------
    measure : callable
        Measures the fused program against budget and reserve; called only where cycles are less. None: it does not fit
        beyond doubt, and was not measured.
    checkpoints : bool
        The configuration asks for diagnostic checkpoints: the compiler then fuses nothing.

    Returns
    -------
    (Fusion, measurement of the fused program or None)
    """
    if checkpoints:
        return unfused(composed, Reason.NOT_LOOKED, "the configuration asks for diagnostic checkpoints"), None
    if composed.unknown:
        why = f"operation {composed.unknown[0][0]} is not modelled"
        return unfused(composed, Reason.NOT_LOOKED, why), None
    rewritten = fuse(composed)
    before, found = program_cycles(composed), rewritten.candidates
    if not rewritten.changed:
        return Fusion(Reason.NOTHING, composed, composed, before, before, found), None
    after = program_cycles(rewritten.program)
    if not (isinstance(after.total, int) and isinstance(before.total, int) and after.total < before.total):
        return Fusion(Reason.NO_GAIN, composed, composed, before, before, found, Tried(after.price)), None
    made = measure(rewritten.program)
    if made is None or not made.verdict.fits:
        tried = Tried(after.price) if made is None else Tried(after.price, made.peak, made.verdict)
        return Fusion(Reason.DOES_NOT_FIT, composed, composed, before, before, found, tried), made
    return Fusion(Reason.FUSED, rewritten.program, composed, after, before, found), made
