"""The estimate of a recipe: re-planned, measured, judged, with what it leaves out said by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tileview.core.estimated import GRAPH_LIMIT, LOWERING_LIMIT, Estimate, RecipeOutcome
from tileview.core.fusion.stand import Fusion, M, Reason, stand, unfused
from tileview.core.fusion.verdict_words import with_fusions
from tileview.core.fusion.words import fusion_sentence
from tileview.core.lowering.replanner import Replanner
from tileview.core.memory.assemble import Judged
from tileview.core.memory.measurement import Measurement
from tileview.core.memory.verdict import Budgets, contiguous_bytes, cut_note
from tileview.errors import GraphError, PlanError
from tileview.model.config import INTERLEAVED_BYTES, PipelineConfig
from tileview.model.program import Program
from tileview.model.recipe import Overrides, Recipe, configured
from tileview.model.sizes import UNAVAILABLE
from tileview.model.tensor import Format
from tileview.model.timeline import Cause, Verdict

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
    budgets = _budgets(config)
    made: list[Measurement] = []

    def measured(program: Program) -> Judged:
        made.append(Measurement(program))
        return made[-1].judged(budgets)

    fusion, _ = _stand(composed, config, overrides, measured)
    if not fusion.stands:
        made.append(Measurement(composed))
    timeline = made[-1].timeline(budgets, scope)
    without, other = timeline.verdict, None if fusion.tried is None else fusion.tried.peak
    if fusion.stands:
        unfused_too = _without_fusions(Measurement(composed), made[-1], budgets, with_peak=True)
        if unfused_too is not None:
            without, other = unfused_too.verdict, unfused_too.peak
    cut = cut_note(config.tile_budget_bytes)
    notes = (*request_notes(recipe), fusion_sentence(fusion), *GENERAL_NOTES, *cut, *timeline.notes)
    timeline = replace(timeline, verdict=with_fusions(timeline.verdict, timeline.peak.total, without), notes=notes)
    program = fusion.program
    homes, cycles = input_homes(program), fusion.cycles
    return Estimate(program, timeline, None, timeline.verdict, notes, homes, cycles, fusion, without.fits, other)


def _without_fusions(
    composed: Measurement, fused: Measurement, budgets: Budgets, *, with_peak: bool = False
) -> Judged | None:
    """The composed program measured, where the fused one stands; None where it fits beyond doubt.

    ``with_peak``: it is measured as well where its total peak may be below the fused one's.
    """
    most = composed.at_most(fused, with_peak)
    if (
        most is not None
        and not (with_peak and most.may_be_less)
        and most.interleaved <= budgets.interleaved
        and most.total + budgets.reserve <= budgets.total
        and most.largest <= contiguous_bytes(budgets.reserve)
    ):
        return None
    return composed.judged(budgets)


def _budgets(config: PipelineConfig) -> Budgets:
    return Budgets(config.budget_bytes, INTERLEAVED_BYTES, config.reserve_bytes)


def _stand(
    composed: Program, config: PipelineConfig, overrides: Overrides | None, measured: Callable[[Program], M | None]
) -> tuple[Fusion, M | None]:
    if overrides is not None and not overrides.fusion:
        return unfused(composed, Reason.OFF), None
    checkpoints = dict(config.fields).get("diagnostic_checkpoints") == "true"
    return stand(composed, measured, checkpoints)


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

    budgets, plain = _budgets(config), Measurement(composed)
    made: list[Measurement] = []

    def measured(program: Program) -> Judged | None:
        made.append(Measurement(program))
        if worker.composed_first and plain.proves_over(made[-1], budgets):
            return None
        return made[-1].judged(budgets)

    fusion, fused = _stand(composed, config, overrides, measured)
    worker.composed_first = fusion.reason is Reason.DOES_NOT_FIT
    judged = fused if fused is not None and fusion.stands else plain.judged(budgets)
    verdict = judged.verdict
    if fusion.stands:
        unfused_too = _without_fusions(plain, made[-1], budgets)
        if unfused_too is not None:
            verdict = with_fusions(verdict, judged.peak.total, unfused_too.verdict)
    return RecipeOutcome(judged.peak, None, verdict, fusion.cycles.price, fusion.reason, judged.own_peaks)


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
        return Measurement(program).judged(_budgets(config))

    return _stand(composed, config, overrides, measured)[0].program


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
