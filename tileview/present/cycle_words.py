"""Planner's cycles and the compiler's fusions as the window says them: in words, a strip and a table."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from tileview.analysis.fusions import FusionFacts, FusionRow
from tileview.analysis.words import at_start, sentence
from tileview.core.cycles.prices import ProgramCycles
from tileview.core.cycles.words import (
    cycles_between,
    describe_cycles,
    exact_cycles,
    percent_between,
    short_change,
    short_cycles,
)
from tileview.core.estimated import Estimate
from tileview.core.fusion.stand import Reason
from tileview.model.sizes import Size, Unavailable
from tileview.model.timeline import Timeline, TimelineStep
from tileview.present.tables import EMPTY_CELL, Cell, Column, Node, TableSpec, Tone
from tileview.session.session import Pin

_MOST = 2**63 - 1
"""Cycles of a step that a strip can hold; more are shown as not known."""


def cycles_sentence(estimate: Estimate | None, baseline: Pin | None = None) -> str:
    """``20.75 M planner's cycles, −4.11 M (−17 %)``; the difference is against another state, where there is one.

    Empty for a timeline and for what cannot be lowered.
    """
    price = None if estimate is None else estimate.price
    if price is None:
        return ""
    text = f"{short_cycles(price.cycles)} planner's cycles"
    other = None if baseline is None or baseline.estimate is estimate else baseline.estimate.price
    change = None if other is None else cycles_between(other.cycles, price.cycles)
    if other is None or not change:
        return text
    return f"{text}, {short_change(change)}{percent_between(other.cycles, price.cycles)}"


def cycles_note(estimate: Estimate | None) -> str:
    """What the planner's cycles of an estimate are, and of which program."""
    fusion = None if estimate is None else estimate.fusion
    if fusion is None:
        return ""
    which = "after the compiler's fusions" if fusion.reason is Reason.FUSED else "without fusions, which is used"
    told = f"Planner's cycles are the planner's own estimate of the program {which}"
    return f"{told}; not a measurement: compare differences"


@dataclass(frozen=True, slots=True)
class StepCycles:
    """Cycles of each step of a timeline, all its runs together.

    ``values``: (steps,) int64; ``known``: (steps,) bool, False where a step has no price. ``counts``: runs of each
    step. ``most``: the step that takes the most, in words.
    """

    values: npt.NDArray[np.int64]
    known: npt.NDArray[np.bool_]
    counts: tuple[int, ...]
    most: str

    def tip(self, step: int) -> str:
        """``2,700,000 planner's cycles: 27 runs of 100,000``; empty for what is no step."""
        if not 0 <= step < len(self.values):
            return ""
        if not self.known[step]:
            return "planner's cycles not known"
        total, count = int(self.values[step]), self.counts[step]
        return f"{total:,} planner's cycles" + (f": {count:,} runs of {total // count:,}" if count > 1 else "")


def step_cycles(cycles: ProgramCycles | None, timeline: Timeline | None) -> StepCycles | None:
    """The cycles of every step of a timeline that was made from the priced program; None where there is none."""
    if cycles is None or timeline is None or not cycles.steps or len(cycles.steps) != len(timeline.steps):
        return None
    sums: list[Size] = [
        price.cycles if isinstance(price.cycles, Unavailable) else price.cycles * count
        for price, count in zip(cycles.steps, cycles.counts, strict=True)
    ]
    numbers = [size if isinstance(size, int) and size <= _MOST else -1 for size in sums]
    values = np.array(numbers, dtype=np.int64)
    known = values >= 0
    values[~known] = 0
    most = ""
    if known.any():
        top = int(values.argmax())
        step = timeline.steps[top]
        who = "" if step.source is None else f", op {step.source}"
        most = f"step {top}{who} {step.kind}: {short_cycles(int(values[top]))}"
    return StepCycles(values, known, cycles.counts, most)


FUSION_TIP: Final = "Use the compiler's fusions where the fused program takes fewer cycles and fits; off: never"

_KINDS: Final = {
    "residual": "op {partner}'s Add makes the statistics of op {operation}'s LayerNorm",
    "BiasGelu": "BiasGelu: op {partner}'s Add goes into op {operation}'s Gelu",
    "AddLayerNorm": "AddLayerNorm: op {partner}'s Add goes into op {operation}'s LayerNorm",
    "F8 at source": "op {operation} writes F8 at once, in place of op {partner}'s cast",
    "F8 at consumer": "op {operation} runs where op {partner} casts its result, and writes F8",
}


def step_name(step: TimelineStep) -> str:
    """The kind of a step, ``BiasGelu to F8`` where its kernel writes F8 itself."""
    return step.operation if step.operation == f"{step.kind} to F8" else step.kind


def fusion_name(row: FusionRow) -> str:
    """What goes where, with the operations by number."""
    partner, operation = ("?" if one is None else one for one in (row.partner, row.operation))
    return _KINDS.get(row.kind, row.kind).format(partner=partner, operation=operation)


def fusion_outcome(row: FusionRow, facts: FusionFacts) -> str:
    """What came of a candidate; of one in a set that does not stand, what would have."""
    if row.made and facts.reason is not Reason.FUSED:
        return "pays, but not the whole set"
    if not isinstance(row.apart, int) or not isinstance(row.together, int):
        return "has no price"
    if not row.pays:
        return "does not pay"
    return "made" if row.made else "pays, another way is cheaper"


def fusion_lines(operation: int, facts: FusionFacts | None) -> tuple[str, ...]:
    """What an operation has to do with fusions, one sentence a line; none where it has nothing."""
    if facts is None:
        return ()
    lines = []
    if operation in facts.went_into:
        into = facts.went_into[operation]
        lines.append(f"Its Add went into op {into}'s step: only its copies are left here.")
    for row in facts.rows:
        if operation in (row.operation, row.partner):
            lines.append(f"{at_start(fusion_name(row))}: {fusion_outcome(row, facts)}{_change(row)}.")
    return tuple(lines)


def _change(row: FusionRow) -> str:
    if isinstance(row.apart, int) and isinstance(row.together, int):
        return f" ({describe_cycles(row.together - row.apart)} planner's cycles a run)"
    return ""


class FusionColumn(IntEnum):
    FUSION = 0
    APART = 1
    TOGETHER = 2
    CHANGE = 3
    OUTCOME = 4


_RUN = "Planner's cycles of one run"


class FusionSpec(TableSpec[FusionRow]):
    """Fusion · apart · together · change · outcome; prices are planner's cycles of one run."""

    columns = (
        Column("Fusion", tip="What the compiler would fuse"),
        Column("Apart", True, f"{_RUN} of the steps that it would replace", "planner's cycles"),
        Column("Together", True, f"{_RUN} of the steps in their place", "planner's cycles"),
        Column("Change", True, f"{_RUN}, together against apart", "planner's cycles"),
        Column("Outcome", tip="Whether it pays, and whether it was made"),
    )

    def __init__(self) -> None:
        self.facts: FusionFacts | None = None

    def cell(self, row: FusionRow, column: int) -> Cell:
        if column == FusionColumn.FUSION:
            return Cell(at_start(fusion_name(row)), tip=row.kind)
        if column in (FusionColumn.APART, FusionColumn.TOGETHER):
            cycles: Size = row.apart if column == FusionColumn.APART else row.together
            tone = Tone.UNAVAILABLE if isinstance(cycles, Unavailable) else Tone.TEXT
            return Cell(exact_cycles(cycles), cycles, _RUN, tone)
        if column == FusionColumn.CHANGE:
            if not isinstance(row.apart, int) or not isinstance(row.together, int):
                return EMPTY_CELL
            change = row.together - row.apart
            return Cell(describe_cycles(change), change, _RUN, Tone.OK if change < 0 else Tone.MUTED)
        if self.facts is None:
            return EMPTY_CELL
        made = row.made and self.facts.reason is Reason.FUSED
        return Cell(fusion_outcome(row, self.facts), tone=Tone.OK if made else Tone.TEXT, bold=made)


def fusion_nodes(facts: FusionFacts | None) -> tuple[Node[FusionRow], ...]:
    """One node a candidate, in the order in which the compiler looks at them."""
    rows = () if facts is None else facts.rows
    return tuple(Node(place, row) for place, row in enumerate(rows))


def fusion_headline(facts: FusionFacts | None) -> str:
    """Which program stands and why, and how many candidates there were."""
    if facts is None:
        return "A timeline is as its writer measured it: fusions are considered for recipes only"
    if not facts.rows:
        return sentence(facts.text)
    made = sum(row.made for row in facts.rows)
    held = "made" if facts.reason is Reason.FUSED else "would be made"
    return f"{at_start(facts.text)}. {len(facts.rows)} considered, {made} {held}; all of them are made, or none."
