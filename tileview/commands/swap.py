"""``tileview swap``: swap alternatives in, estimate, and write the recipe where asked."""

from __future__ import annotations

from typing import Any

from tileview.analysis.loads import describe_bytes
from tileview.analysis.trials import Swaps, with_swaps
from tileview.commands.base import (
    Arguments,
    UsageError,
    clean,
    complain,
    emit,
    emit_json,
    figure_name,
    table,
    verdict_code,
)
from tileview.commands.output import refuse_source, write_recipe
from tileview.commands.placing import place_subject, placement_json, placement_text
from tileview.commands.subject import Subject, load_recipe, operation_names, overrides_of, summary_json, with_recipe
from tileview.core.cycles.prices import Price
from tileview.core.cycles.words import cycles_between, describe_cycles, exact_cycles, percent_between
from tileview.core.fusion.verdict_words import fits_only_fused
from tileview.core.lowering.replanner import Replanner
from tileview.model.plan import Plan
from tileview.model.recipe import Recipe
from tileview.model.sizes import exact_text
from tileview.present.plan_words import plan_differences, plan_words


def run_swap(arguments: Arguments) -> int:
    """Swap, estimate, report; 1 where the result does not fit or cannot be lowered, 3 where that is not known."""
    refuse_source(arguments.output, arguments.file, arguments.force)
    replanner = Replanner()
    before, state = load_recipe(arguments.file, overrides_of(arguments), replanner)
    swaps = checked_swaps(state.recipe, arguments.swaps)
    after = with_recipe(before, state, with_swaps(state.recipe, swaps), replanner)
    ok = after.timeline is not None
    error = None if ok else after.verdict.text
    if arguments.output is not None and ok:
        write_recipe(arguments.output, state, swaps, force=arguments.force)
    if arguments.json:
        emit_json(
            {
                "ok": ok,
                "error": error,
                "before": _summary(before, arguments.place),
                "after": _summary(after, arguments.place) if ok else None,
            }
        )
    else:
        emit(swap_text(state.recipe, before, after, swaps))
        if arguments.place and ok:
            emit("\n" + placement_text(place_subject(after)))
        if arguments.output is not None and ok:
            emit(f"Written: {clean(arguments.output)}")
    if arguments.output is not None and not ok:
        complain(f"{arguments.output} was not written: {error}")
    return verdict_code(after.verdict.fits)


def _summary(subject: Subject, place: bool) -> dict[str, Any]:
    return {**summary_json(subject), **({"placement": placement_json(place_subject(subject))} if place else {})}


def checked_swaps(recipe: Recipe, swaps: list[tuple[int, int]]) -> Swaps:
    """The swaps of a command line, each operation once.

    Raises
    ------
    UsageError
        Where the recipe has no such operation or alternative, or an operation is named twice.
    """
    chosen: dict[int, int] = {}
    for operation, alternative in swaps:
        if operation not in recipe.alternatives:
            known = ", ".join(map(str, sorted(recipe.alternatives)[:12])) or "none"
            more = " …" if len(recipe.alternatives) > 12 else ""
            raise UsageError(f"operation {operation} has no alternatives in this file (those that have: {known}{more})")
        number = len(recipe.alternatives[operation])
        if alternative >= number:
            raise UsageError(f"operation {operation} has alternatives 0 to {number - 1}, not {alternative}")
        if operation in chosen:
            given = f"{operation}={chosen[operation]} and {operation}={alternative}"
            raise UsageError(f"operation {operation} is named twice ({given}); it can have one plan")
        chosen[operation] = alternative
    return tuple(sorted(chosen.items()))


def swap_text(recipe: Recipe, before: Subject, after: Subject, swaps: Swaps) -> str:
    """What was swapped and the outcome."""
    names = operation_names(recipe)
    lines = []
    for operation, alternative in swaps:
        plan = recipe.alternatives[operation][alternative]
        now = recipe.plans.get(operation)
        lines.append(f"operation {operation} {names.get(operation, '')}: alternative {alternative}")
        if plan == now:
            lines.append("  is the current plan already")
            continue
        lines.append(f"  from {clean(plan_words(now)) if now is not None else 'nothing'}")
        lines.append(f"  to   {clean(plan_words(plan))}")
        if now is not None:
            lines += [f"       {clean(difference)}" for difference in _differences(now, plan)]
    return "\n".join([*lines, *([""] if lines else []), change_text(before, after)])


def _differences(now: Plan, plan: Plan, most: int = 6) -> list[str]:
    """What differs between two plans, where their short words do not show it."""
    if plan_words(now) != plan_words(plan):
        return []
    found = plan_differences(now, plan)
    return [*found[:most], *([f"and {len(found) - most} more differences"] if len(found) > most else [])]


def cycles_lines(before: Price | None, after: Price | None) -> list[str]:
    """The planner's cycles before and after on one line; none where either program has no price."""
    if before is None or after is None:
        return []
    line = f"planner's cycles {exact_cycles(before.cycles)} → {exact_cycles(after.cycles)}"
    change = cycles_between(before.cycles, after.cycles)
    if change is not None:
        line += f": {describe_cycles(change)}{percent_between(before.cycles, after.cycles)}"
    return [line, ""]


def change_text(before: Subject, after: Subject) -> str:
    """Peaks before and after, and the verdicts."""
    lines = []
    if before.timeline is not None and after.timeline is not None:
        rows = []
        for field in ("total", "standard", "interleaved", "maximum_standard_allocation", "exchange_rows"):
            then: Any = getattr(before.timeline.peak, field)
            now: Any = getattr(after.timeline.peak, field)
            delta = describe_bytes(now - then) if isinstance(then, int) and isinstance(now, int) else ""
            rows.append((figure_name(field), exact_text(then), exact_text(now), delta))
        lines += [table(("peak", "before", "after", "change"), rows, numbers=(1, 2, 3)), ""]
    lines += cycles_lines(before.estimate.price, after.estimate.price)
    for title, subject in (("before", before), ("after", after)):
        text = subject.verdict.text
        if not fits_only_fused(subject.verdict):
            text = f"{subject.verdict.words}: {text}"
        lines.append(f"{title + ':':7} {clean(text, 600)}")
    return "\n".join(lines)
