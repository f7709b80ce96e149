"""The estimate of a recipe: re-planned, measured, judged, with what it leaves out said by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace

from tileview.core.cycles.prices import Price, ProgramCycles
from tileview.core.fusion.stand import Fusion, M, Reason, stand, unfused
from tileview.core.fusion.words import fusion_sentence, with_fusions
from tileview.core.lowering.replanner import Replanner
from tileview.core.memory.assemble import Judged, OwnPeak
from tileview.core.memory.groups import mentions
from tileview.core.memory.measurement import footprint, measure, measure_peaks
from tileview.core.memory.verdict import cut_note
from tileview.errors import GraphError, PlanError
from tileview.model.config import INTERLEAVED_BYTES, INTERLEAVED_ELEMENT_BYTES, PipelineConfig
from tileview.model.program import Program
from tileview.model.recipe import Overrides, Recipe
from tileview.model.sizes import UNAVAILABLE
from tileview.model.tensor import Format
from tileview.model.timeline import Cause, Peak, Timeline, Verdict
from tileview.records import record

GENERAL_NOTES = ("made before addresses are chosen: gaps between allocations are not counted",)
"""What every estimate of a recipe leaves out."""

_NOT_MODELLED = {
    "cast_before_copies": "casts moved before copies",
    "packing": "copies packed in row batches",
    "reduction_groups": "independent Sums run together",
    "cast_storage": "casts that reuse their input's storage",
    "owners": "chosen owners",
    "options.cast_before_copies": "every eligible cast moved before its copies",
    "options.reuse_cast_inputs": "casts that reuse their input's storage",
    "options.packing_rows": "large copies packed in row batches",
    "options.parallel_reductions": "independent Sums run together",
    "options.disjoint_copy_sources": "sources of neighbouring copies on disjoint tiles",
}
"""What the fields of a recipe ask for that the re-planner does not do."""

LOWERING_LIMIT = "plans that can be lowered"
GRAPH_LIMIT = "a graph that can be run"


@record
class Estimate:
    """What a recipe comes to.

    ``program``: the one that stands, fused or composed; None, as is ``timeline``, where the recipe cannot be lowered:
    then ``error`` says why and the verdict's cause is CANNOT_LOWER. ``notes``: which program it is and what is not
    modelled. ``homes``: graph value id of every graph input → its format, as fixed or as chosen (empty where the recipe
    cannot be lowered). ``cycles``: the planner's own price of the program and of its steps, ``fusion``: what came of
    the compiler's fusions, both None where there is no program. ``without_fusion``: the verdict on the composed
    program. ``other_peak``: of the program that does not stand, None where there is none or it was not measured.
    """

    program: Program | None
    timeline: Timeline | None
    error: PlanError | None
    verdict: Verdict
    notes: tuple[str, ...]
    homes: Mapping[int, Format]
    cycles: ProgramCycles | None = None
    fusion: Fusion | None = None
    without_fusion: Verdict | None = None
    other_peak: Peak | None = None

    @property
    def price(self) -> Price | None:
        """Cycles and exchange cycles of the program; None where there is none."""
        return None if self.cycles is None else self.cycles.price


def estimate(
    recipe: Recipe,
    overrides: Overrides | None = None,
    replanner: Replanner | None = None,
    scope: str = "estimate",
) -> Estimate:
    """Re-plan a recipe, fuse and measure the program, and judge it.

    Parameters
    ----------
    recipe : Recipe
        The current plans, homes and boundaries.
    overrides : Overrides, optional
        What-if budget and reserve (bytes). They count wherever the configuration's do: also when homes that the recipe
        leaves open are chosen, and when it is decided whether the fused program stands. And whether to fuse at all.
    replanner : Replanner, optional
        Keeps what earlier estimates of the same document worked out; never needed, only faster. One thread at a time.
    scope : str
        Name of the timeline.

    Returns
    -------
    Estimate
        Never raises for a recipe that cannot be lowered: that is a verdict.
    """
    config = configured(recipe.config, overrides)
    worker = Replanner() if replanner is None else replanner
    try:
        composed = worker.replan(recipe, config)
    except PlanError as error:
        notes = (*request_notes(recipe), *GENERAL_NOTES, *cut_note(config.tile_budget_bytes))
        return Estimate(None, None, error, _cannot_lower(error, config), notes, {})

    def measured(program: Program) -> Timeline:
        return measure(program, config.tile_budget_bytes, config.reserve_bytes, scope)

    fusion, fused = _stand(composed, config, overrides, measured)
    timeline = fused if fused is not None and fusion.stands else measured(composed)
    without, other = timeline.verdict, None if fusion.tried is None else fusion.tried.peak
    if fusion.stands:
        judged = measure_peaks(composed, config.tile_budget_bytes, config.reserve_bytes)
        without, other = judged.verdict, judged.peak
    cut = cut_note(config.tile_budget_bytes)
    notes = (*request_notes(recipe), fusion_sentence(fusion), *GENERAL_NOTES, *cut, *timeline.notes)
    timeline = replace(timeline, verdict=with_fusions(timeline.verdict, timeline.peak.total, without), notes=notes)
    program = fusion.program
    homes, cycles = input_homes(program), fusion.cycles
    return Estimate(program, timeline, None, timeline.verdict, notes, homes, cycles, fusion, without, other)


def _stand(
    composed: Program, config: PipelineConfig, overrides: Overrides | None, measured: Callable[[Program], M]
) -> tuple[Fusion, M | None]:
    if overrides is not None and not overrides.fusion:
        return unfused(composed, Reason.OFF), None
    checkpoints = dict(config.fields).get("diagnostic_checkpoints") == "true"
    return stand(composed, measured, checkpoints)


@record
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


def judge_recipe(
    recipe: Recipe, overrides: Overrides | None = None, replanner: Replanner | None = None
) -> RecipeOutcome:
    """What :func:`estimate` says of peaks, verdict and price, without program and timeline, in less time."""
    config = configured(recipe.config, overrides)
    worker = Replanner() if replanner is None else replanner
    try:
        composed = worker.replan(recipe, config)
    except PlanError as error:
        return RecipeOutcome(None, error, _cannot_lower(error, config))

    def measured(program: Program) -> Judged:
        return measure_peaks(program, config.tile_budget_bytes, config.reserve_bytes)

    fusion, fused = _stand(composed, config, overrides, measured)
    judged = fused if fused is not None and fusion.stands else measured(composed)
    verdict = judged.verdict
    if fusion.stands and not _is_sure_to_fit_composed(fusion, judged.peak, config):
        verdict = with_fusions(verdict, judged.peak.total, measured(composed).verdict)
    return RecipeOutcome(judged.peak, None, verdict, fusion.cycles.price, fusion.reason, judged.own_peaks)


def _is_sure_to_fit_composed(fusion: Fusion, fused: Peak, config: PipelineConfig) -> bool:
    """Whether the composed program fits beyond doubt, without being measured; False where it may or may not.

    Values that both programs have are live in the fused one wherever they are in the composed one, or longer. So the
    composed one takes at most what the fused does and what was dropped: values, each with the rounding of its group to
    memory elements, and the scratch of copies that made them. No limit is below the interleaved region's size.
    """
    kept = {value for entry in fusion.program.flatten() for value in mentions(entry.step)}
    dropped = {result for entry in fusion.composed.flatten() for result in entry.step.results} - kept
    total, tiles = fused.total, fusion.composed.tile_count
    if not isinstance(total, int):
        return False
    for number in dropped:
        value = fusion.composed.values[number]
        size = footprint(value.shape, value.precision, value.layout, tiles, owners=value.owners)
        if size.error is not None:
            return False
        total += 2 * size.largest(tiles) + INTERLEAVED_ELEMENT_BYTES
    return total + config.reserve_bytes <= min(config.budget_bytes, INTERLEAVED_BYTES)


def standing_program(recipe: Recipe, overrides: Overrides | None = None, replanner: Replanner | None = None) -> Program:
    """The program of a recipe that stands, fused or composed, without its timeline.

    Raises
    ------
    PlanError
        The recipe cannot be lowered.
    """
    config = configured(recipe.config, overrides)
    composed = (replanner or Replanner()).replan(recipe, config)

    def measured(program: Program) -> Judged:
        return measure_peaks(program, config.tile_budget_bytes, config.reserve_bytes)

    return _stand(composed, config, overrides, measured)[0].program


def configured(config: PipelineConfig, overrides: Overrides | None) -> PipelineConfig:
    """The configuration with what-if values in place of its own."""
    if overrides is None or (overrides.budget_bytes is None and overrides.reserve_bytes is None):
        return config
    return replace(
        config,
        tile_budget_bytes=config.tile_budget_bytes if overrides.budget_bytes is None else overrides.budget_bytes,
        reserve_bytes=config.reserve_bytes if overrides.reserve_bytes is None else overrides.reserve_bytes,
    )


def request_notes(recipe: Recipe) -> tuple[str, ...]:
    """A sentence for everything the recipe asks of the compiler that the re-planner does not model."""
    return tuple(
        f"the recipe asks for {_asked_for(field)} ({field}: {entries}): not modelled"
        for field, entries in recipe.requests
    )


def _asked_for(field: str) -> str:
    return _NOT_MODELLED.get(field) or _NOT_MODELLED.get(field.partition(".")[0], "what TileView does not know")


def input_homes(program: Program) -> dict[int, Format]:
    """Graph value → format of every graph input of a program."""
    values = program.values
    return {
        values[given.value].origin: Format(values[given.value].precision, values[given.value].layout)
        for given in program.inputs
    }


def _cannot_lower(error: PlanError, config: PipelineConfig) -> Verdict:
    return Verdict(
        fits=False,
        cause=Cause.CANNOT_LOWER,
        text=f"cannot be lowered: {error}",
        limit=GRAPH_LIMIT if isinstance(error, GraphError) else LOWERING_LIMIT,
        needed_bytes=UNAVAILABLE,
        available_bytes=config.budget_bytes,
        short_bytes=UNAVAILABLE,
        operation=error.operation,
    )
