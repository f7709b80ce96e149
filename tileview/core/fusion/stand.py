"""All or nothing: whether the fused program or the composed one is what the compiler goes on with."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tileview.core.cycles.prices import Price, ProgramCycles, program_cycles
from tileview.core.fusion.fuse import fuse
from tileview.core.fusion.region import Candidate
from tileview.core.memory.assemble import Judged
from tileview.core.memory.estimate import measure_peaks
from tileview.model.program import Program


class Reason(StrEnum):
    """Why the program that stands is the one it is."""

    NOTHING = "nothing to fuse"
    FUSED = "fused"
    NO_GAIN = "no cycles gained"
    DOES_NOT_FIT = "does not fit fused"
    OFF = "off"
    NOT_LOOKED = "not looked for"


@dataclass(frozen=True, slots=True)
class Fusion:
    """What came of a composed program's fusions.

    ``program`` and ``cycles`` are of the program that stands. ``candidates``: every fusion looked at. ``tried`` is the
    price of the fused program where it does not stand, ``judged`` its peaks and verdict where it was measured. ``why``
    says why fusions were not looked for.
    """

    reason: Reason
    program: Program
    composed: Program
    cycles: ProgramCycles
    composed_cycles: ProgramCycles
    candidates: tuple[Candidate, ...] = ()
    tried: Price | None = None
    judged: Judged | None = None
    why: str = ""


def unfused(program: Program, reason: Reason, why: str = "") -> Fusion:
    """The composed program stands without having been looked at."""
    cycles = program_cycles(program)
    return Fusion(reason, program, program, cycles, cycles, why=why)


def stand(composed: Program, budget_bytes: int, reserve_bytes: int, checkpoints: bool = False) -> Fusion:
    """Fuse a composed program and decide which of the two stands.

    The fused one does only where its cycles are less (an unavailable total is never less), and it fits; whether the
    composed one fits does not count.

    Parameters
    ----------
    budget_bytes, reserve_bytes : int
        What the fused program is measured against.
    checkpoints : bool
        The configuration asks for diagnostic checkpoints: the compiler then fuses nothing.
    """
    if checkpoints:
        return unfused(composed, Reason.NOT_LOOKED, "the configuration asks for diagnostic checkpoints")
    if composed.unknown:
        return unfused(composed, Reason.NOT_LOOKED, f"operation {composed.unknown[0][0]} is not modelled")
    rewritten = fuse(composed)
    before = program_cycles(composed)
    if not rewritten.changed:
        return Fusion(Reason.NOTHING, composed, composed, before, before, rewritten.candidates)
    after = program_cycles(rewritten.program)
    if not (isinstance(after.total, int) and isinstance(before.total, int) and after.total < before.total):
        return Fusion(Reason.NO_GAIN, composed, composed, before, before, rewritten.candidates, after.price)
    judged = measure_peaks(rewritten.program, budget_bytes, reserve_bytes)
    if not judged.verdict.fits:
        found = (rewritten.candidates, after.price, judged)
        return Fusion(Reason.DOES_NOT_FIT, composed, composed, before, before, *found)
    return Fusion(Reason.FUSED, rewritten.program, composed, after, before, rewritten.candidates, None, judged)
