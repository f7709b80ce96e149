"""The compiler's fusions of a recipe as facts: every candidate, its price apart and together, what became of it.

Also which of the two programs, fused or composed, a timeline of the same compile agrees with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from tileview.core.cycles.words import describe_cycles
from tileview.core.estimated import Estimate
from tileview.core.fusion.fuse import fuse
from tileview.core.fusion.stand import Fusion, Reason
from tileview.core.fusion.words import fusion_sentence
from tileview.core.memory.measurement import step_words
from tileview.model.program import Program
from tileview.model.sizes import Size
from tileview.model.timeline import Timeline


@dataclass(frozen=True, slots=True)
class FusionRow:
    """One fusion that was looked at.

    ``kind``: ``residual``, ``BiasGelu``, ``AddLayerNorm``, ``F8 at source`` or ``F8 at consumer``. ``operation`` is the
    one whose kernel it becomes, ``partner`` the one whose Add or Cast goes into it. ``apart`` and ``together``:
    planner's cycles of one run of the steps it replaces and of those in their place. ``made``: it is in the fused
    program, whether that stands or not.
    """

    kind: str
    operation: int | None
    partner: int | None
    apart: Size
    together: Size
    pays: bool
    made: bool

    @property
    def words(self) -> str:
        """Why it was made or not."""
        if not isinstance(self.apart, int) or not isinstance(self.together, int):
            return "has no price"
        change = describe_cycles(self.together - self.apart)
        if not self.pays:
            return f"does not pay ({change})"
        return f"made ({change})" if self.made else f"pays ({change}), another way is cheaper"


@dataclass(frozen=True, slots=True)
class FusionFacts:
    """``text`` says which program stands and why; ``went_into``: Add → the operation whose step holds it now."""

    reason: Reason
    text: str
    rows: tuple[FusionRow, ...]
    went_into: dict[int, int]


def fusion_facts(estimate: Estimate) -> FusionFacts | None:
    """The fusions of an estimate; None for a timeline and for what cannot be lowered."""
    fusion = estimate.fusion
    if fusion is None:
        return None
    rows = tuple(
        FusionRow(one.kind, one.source, one.partner, one.before, one.after, one.pays, one.made)
        for one in fusion.candidates
    )
    went_into = {
        row.partner: row.operation
        for row in rows
        if fusion.stands and row.made and row.kind in ("BiasGelu", "AddLayerNorm")
        if row.partner is not None and row.operation is not None
    }
    return FusionFacts(fusion.reason, fusion_sentence(fusion), rows, went_into)


@dataclass(frozen=True, slots=True)
class StepAgreement:
    """How many of a timeline's steps a recipe's programs have too: with fusions (None: nothing to fuse) and without."""

    steps: int
    fused: int | None
    composed: int

    @property
    def text(self) -> str:
        """What the timeline is of, as far as its steps tell."""
        without = f"{self.composed:,} of the timeline's {self.steps:,} steps match the program without fusions"
        if self.fused is None:
            return f"{without}; there is nothing to fuse"
        if self.fused == self.composed:
            return (
                f"{without} and as many match the one with them: the steps do not tell which program the timeline is of"
            )
        which = "with" if self.fused > self.composed else "without"
        return f"{without}, {self.fused:,} match the one with them: the timeline is of the program {which} fusions"


def agreement(fusion: Fusion, timeline: Timeline) -> StepAgreement:
    """Count the steps of a file's timeline that each of the two programs has: operation, kind and execution count."""
    file: Counter[Hashable] = Counter((step.source, step.kind, step.execution_count) for step in timeline.steps)
    program = fusion.program
    if not fusion.stands and fusion.reason is not Reason.NOT_LOOKED:
        program = fuse(fusion.composed).program
    fused = None if program is fusion.composed else _matched(file, program)
    return StepAgreement(len(timeline.steps), fused, _matched(file, fusion.composed))


def _matched(file: Counter[Hashable], program: Program) -> int:
    return sum((file & Counter(_keys(program))).values())


def _keys(program: Program) -> Iterable[Hashable]:
    for entry in program.flatten():
        yield entry.step.source, step_words(entry.step)[1], entry.execution_count
