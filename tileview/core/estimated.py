"""What a recipe or a timeline comes to, as plain data; :mod:`tileview.core.estimate` works it out for a recipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tileview.core.cycles.prices import Price, ProgramCycles
    from tileview.core.fusion.stand import Fusion, Reason
    from tileview.core.memory.assemble import OwnPeak
    from tileview.errors import PlanError
    from tileview.model.program import Program
    from tileview.model.tensor import Format
    from tileview.model.timeline import Peak, Timeline, Verdict

LOWERING_LIMIT = "plans that can be lowered"
GRAPH_LIMIT = "a graph that can be run"


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a recipe comes to.

    ``program``: the one that stands, fused or composed; None, as is ``timeline``, where the recipe cannot be lowered:
    then ``error`` says why and the verdict's cause is CANNOT_LOWER. ``notes``: which program it is and what is not
    modelled. ``homes``: graph value id of every graph input → its format, as fixed or as chosen (empty where the recipe
    cannot be lowered). ``cycles``: the planner's own price of the program and of its steps, ``fusion``: what came of
    the compiler's fusions, both None where there is no program. ``fits_without_fusion``: whether the
    composed program fits. ``other_peak``: of the program that does not stand; None where there is none, where it was
    not measured, and where its total is surely no less than that of the one that stands.
    """

    program: Program | None
    timeline: Timeline | None
    error: PlanError | None
    verdict: Verdict
    notes: tuple[str, ...]
    homes: Mapping[int, Format]
    cycles: ProgramCycles | None = None
    fusion: Fusion | None = None
    fits_without_fusion: bool | None = None
    other_peak: Peak | None = None

    @property
    def price(self) -> Price | None:
        """Cycles and exchange cycles of the program; None where there is none."""
        return None if self.cycles is None else self.cycles.price


@dataclass(frozen=True, slots=True)
class RecipeOutcome:
    """Peaks, verdict and price of a recipe, of the program that stands; None where it cannot be lowered (see
    ``error``).

    ``fusion`` says which program that is.
    ``own_peaks``: operation → the fullest of its own steps.
    """

    peak: Peak | None
    error: PlanError | None
    verdict: Verdict
    price: Price | None = None
    fusion: Reason | None = None
    own_peaks: Mapping[int, OwnPeak] = field(default_factory=dict)
