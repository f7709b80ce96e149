"""Why a program does not fit (or how narrowly it does): figures that add up, causes ranked, a next step.

The verdict says which limit is exceeded and where. The diagnosis takes that place apart: what the tile holds there,
which of it another choice would shrink, what grew against a baseline, which layouts are invalid and what would
resolve. The ranking follows the cause, not the victim: an allocation that another alternative of its operation would
shrink most stands above one that is merely large, and the allocation that happened to come last has no special place
at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tileview.analysis.diagnosis import BadLayout, Contribution, Diagnosis, Lever
from tileview.analysis.diagnosis_words import details, figures
from tileview.analysis.loads import (
    LoadChange,
    PeakPlace,
    TileLoad,
    compare_loads,
    interleaved_peak_place,
    standard_peak_place,
    tile_load,
    total_peak_place,
)
from tileview.analysis.next_step import next_step
from tileview.analysis.overflows import overflows
from tileview.analysis.relief import Cure, Relief, Shrinkage, cure, makers, reliefs
from tileview.core.fusion.verdict_words import fits_only_fused
from tileview.model.recipe import NO_OVERRIDES, Overrides, Recipe
from tileview.model.sizes import Unavailable
from tileview.model.timeline import Cause, Timeline, Verdict

if TYPE_CHECKING:
    from tileview.analysis.alternatives import AlternativeResult
    from tileview.core.lowering.replanner import Replanner
    from tileview.model.tensor import Layout

_MOST_NAMED = 5
_LIMITS = (Cause.TOTAL, Cause.INTERLEAVED, Cause.CONTIGUOUS)
"""Causes that another plan may do away with."""


def diagnose_fully(
    verdict: Verdict,
    timeline: Timeline | None,
    recipe: Recipe | None = None,
    overrides: Overrides = NO_OVERRIDES,
    baseline: Timeline | None = None,
    results: Mapping[tuple[int, int], AlternativeResult] | None = None,
    replanner: Replanner | None = None,
    check: Callable[[], object] = bool,
) -> Diagnosis:
    """:func:`diagnose`, having measured what other plans of the operations at fault would do: some re-plans.

    ``check`` is called before each of them, and may raise to give up.
    """
    found: tuple[Relief, ...] = ()
    remedy_together: Cure | None = None
    place = None if timeline is None else verdict_place(verdict, timeline)
    if timeline is not None and recipe is not None and place is not None and verdict.cause in _LIMITS:
        at_fault = [one.operation for one in overflows(timeline) or () if one.operation is not None]
        asked = dict.fromkeys((*at_fault, *makers(timeline, place)))
        found = reliefs(recipe, timeline, verdict.cause, asked, overrides, replanner, check=check)
        remedy_together = cure(recipe, found, at_fault, overrides, replanner)
    return diagnose(verdict, timeline, recipe, baseline, results, found, remedy_together)


def once_placed(
    diagnosis: Diagnosis,
    verdict: Verdict,
    timeline: Timeline | None,
    recipe: Recipe | None,
    unplaced: str | None,
) -> Diagnosis:
    """The diagnosis with the next step that holds once placement is known; ``unplaced`` as :func:`next_step` has it."""
    return replace(diagnosis, next_step=next_step(diagnosis, verdict, timeline, recipe, unplaced=unplaced).text)


def diagnose(
    verdict: Verdict,
    timeline: Timeline | None,
    recipe: Recipe | None = None,
    baseline: Timeline | None = None,
    results: Mapping[tuple[int, int], AlternativeResult] | None = None,
    reliefs: tuple[Relief, ...] = (),
    together: Cure | None = None,
) -> Diagnosis:
    """Take a verdict apart.

    Parameters
    ----------
    verdict, timeline
        Of the estimate; no timeline where the recipe cannot be lowered.
    recipe : Recipe or None
        The recipe behind the estimate, where there is one: its alternatives say what could be smaller.
    baseline : Timeline or None
        What growth is measured against.
    results : mapping or None
        (operation, alternative) → its evaluation, as far as known: gives the levers.
    reliefs : tuple of Relief
        What :func:`tileview.analysis.relief.reliefs` measured, where it has been asked: decides the ranking.
    together : Cure or None
        What :func:`tileview.analysis.relief.cure` measured.
    """
    levers = _levers(results or {})
    bad: tuple[BadLayout, ...] = ()
    if timeline is None:
        if recipe is not None:
            from tileview.analysis.repair import bad_homes

            bad = bad_homes(recipe)
        refused = Diagnosis(
            verdict.cause,
            verdict.fits,
            verdict.text,
            (),
            tuple(f"{item.name}: {item.text}. {item.remedy}".rstrip() for item in bad[:_MOST_NAMED]),
            "",
            levers=levers,
            bad_layouts=bad,
            overflows=None,
        )
        return replace(refused, next_step=next_step(refused, verdict, None, recipe).text)
    place = verdict_place(verdict, timeline)
    load = None if place is None else tile_load(timeline, place.step, place.tile)
    contributions = () if load is None else _contributions(timeline, load, recipe, reliefs)
    changes: tuple[LoadChange, ...] = ()
    if baseline is not None and load is not None:
        changes = _growth(timeline, load, baseline)
        contributions = _with_growth(contributions, changes)
    repaired: tuple[tuple[int, Layout], ...] = ()
    if any(value.layout_error is not None for value in timeline.values):
        from tileview.analysis.layout_fix import fix_layouts  # few files have an invalid layout
        from tileview.analysis.repair import bad_layouts

        bad = bad_layouts(timeline)
        repaired = tuple(fix_layouts(timeline).layouts.items()) if recipe is None else ()
    found = Diagnosis(
        cause=verdict.cause,
        fits=verdict.fits,
        headline=verdict.text,
        figures=figures(verdict, timeline, load),
        details=details(verdict, timeline, load, contributions, changes, bad, reliefs),
        next_step="",
        place=place,
        load=load,
        contributions=contributions,
        changes=changes,
        reliefs=reliefs,
        levers=levers,
        bad_layouts=bad,
        repaired=repaired,
        cure=together,
        overflows=overflows(timeline),
    )
    return replace(found, next_step=next_step(found, verdict, timeline, recipe).text)


def verdict_place(verdict: Verdict, timeline: Timeline) -> PeakPlace | None:
    """Step and tile that the verdict speaks of; the total peak's where it names none."""
    if (
        verdict.step is not None
        and verdict.tile is not None
        and verdict.step < len(timeline.steps)
        and verdict.tile < timeline.tile_count
    ):
        return PeakPlace(verdict.step, verdict.tile)
    if verdict.cause is Cause.INTERLEAVED:
        return interleaved_peak_place(timeline)
    if verdict.cause is Cause.CONTIGUOUS:
        return standard_peak_place(timeline)
    return total_peak_place(timeline)


# -- parts ----------------------------------------------------------------------------------------------------------


def _contributions(
    timeline: Timeline, load: TileLoad, recipe: Recipe | None, reliefs: tuple[Relief, ...]
) -> tuple[Contribution, ...]:
    shrinkage = Shrinkage(timeline, recipe)
    found = []
    for item in load.items:
        if item.root is None:
            source = timeline.steps[load.step].source
            found.append(Contribution(None, item.name, item.memory_class, item.bytes, source, False))
            continue
        best = None if isinstance(item.bytes, Unavailable) else shrinkage.best(item.root, load.tile)
        found.append(
            Contribution(
                item.root,
                item.name,
                item.memory_class,
                item.bytes,
                timeline.maker(item.root),
                item.root in timeline.parameters,
                0 if best is None else best.bytes,
                None if best is None else (best.operation, best.alternative),
                group=timeline.values[item.root].group,
            )
        )
    saved = {relief.operation: relief.saved for relief in reliefs}
    found = [item if item.operation is None else replace(item, relief=saved.get(item.operation, 0)) for item in found]
    return tuple(sorted(found, key=_rank))


def _rank(item: Contribution) -> tuple[int, int, int, int]:
    """What shrinks most first, then what is largest; ties in the order of the allocations.

    An allocation shrinks with its operation: by what was measured for that, else by what the formats promise.
    """
    size = -1 if isinstance(item.bytes, Unavailable) else item.bytes
    return (-item.relief, -item.smaller_by, -size, -1 if item.root is None else item.root)


def _growth(timeline: Timeline, load: TileLoad, baseline: Timeline) -> tuple[LoadChange, ...]:
    """The load against the baseline's at the counterpart of its step (its own peak where there is none), same tile."""
    step = counterpart_step(timeline, load.step, baseline)
    if step is None:
        place = total_peak_place(baseline)
        step = None if place is None else place.step
    if step is None or load.tile >= baseline.tile_count:
        return ()
    changes = compare_loads(baseline, tile_load(baseline, step, load.tile), timeline, load)
    return tuple(sorted(changes, key=lambda change: -(change.delta or 0)))


def counterpart_step(timeline: Timeline, step: int, other: Timeline) -> int | None:
    """The step of another timeline that does the same: equal source and kind, the same one of them in order."""
    wanted = (timeline.steps[step].source, timeline.steps[step].kind)
    ordinal = sum((earlier.source, earlier.kind) == wanted for earlier in timeline.steps[:step])
    for candidate in other.steps:
        if (candidate.source, candidate.kind) == wanted:
            if ordinal == 0:
                return candidate.index
            ordinal -= 1
    return None


def _with_growth(items: tuple[Contribution, ...], changes: Sequence[LoadChange]) -> tuple[Contribution, ...]:
    deltas = {(change.root_b, change.memory_class): change.delta for change in changes if change.b is not None}
    return tuple(replace(item, growth=deltas.get((item.root, item.memory_class))) for item in items)


def levers_only(results: Mapping[tuple[int, int], AlternativeResult]) -> dict[tuple[int, int], AlternativeResult]:
    """The results that a diagnosis looks at: of each operation the best."""
    return {(item.operation, item.alternative): item for item in _best(results).values()}


def _best(results: Mapping[tuple[int, int], AlternativeResult]) -> dict[int, AlternativeResult]:
    best: dict[int, AlternativeResult] = {}
    for result in results.values():
        if not result.ok or result.in_force or result.delta_total is None:
            continue
        known = best.get(result.operation)
        if known is None or _lever_key(result) < _lever_key(known):
            best[result.operation] = result
    return best


def _levers(results: Mapping[tuple[int, int], AlternativeResult]) -> tuple[Lever, ...]:
    best = _best(results)
    return tuple(
        Lever(
            item.operation,
            item.alternative,
            item.delta_total or 0,
            item.fits,
            item.verdict is not None and fits_only_fused(item.verdict),
        )
        for item in sorted(best.values(), key=_lever_key)
        if item.fits is True or (item.delta_total or 0) < 0
    )


def _lever_key(result: AlternativeResult) -> tuple[bool, int, int, int]:
    return (not result.fits, result.delta_total or 0, result.operation, result.alternative)
