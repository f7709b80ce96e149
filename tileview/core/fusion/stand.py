"""All or nothing: whether the fused program or the composed one is what the compiler goes on with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeVar

from tileview.core.cycles.prices import Price, ProgramCycles, program_cycles
from tileview.core.fusion.fuse import fuse
from tileview.core.fusion.region import Candidate
from tileview.model.program import Program
from tileview.model.timeline import Peak, Verdict


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
