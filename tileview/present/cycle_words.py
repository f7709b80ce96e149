"""Planner's cycles as the window says them: in a sentence, as a strip under the timeline, with what they are of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tileview.core.cycles.prices import ProgramCycles
from tileview.core.cycles.words import cycles_between, percent_between, short_change, short_cycles
from tileview.core.estimated import Estimate
from tileview.core.fusion.stand import Reason
from tileview.model.sizes import Size, Unavailable
from tileview.model.timeline import Timeline
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
