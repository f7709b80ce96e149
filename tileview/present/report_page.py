"""The page about one state of one file: what is tried for it, and what it is made from."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tileview.analysis.alternatives import AlternativeResult, evaluate_all, ranked
from tileview.analysis.diagnose import diagnose_fully, once_placed
from tileview.analysis.fix import FixResult, Progress, search_fixes
from tileview.analysis.placement import recipe_steps, unplaced_words
from tileview.analysis.problem_notes import notes_with_problems, problem_text
from tileview.analysis.report import ReportInput, ReportOperation, SwapRow, render_report
from tileview.analysis.trials import Cancelled, never
from tileview.core.cycles.prices import Price
from tileview.core.cycles.words import cycles_between, exact_cycles
from tileview.core.fusion.verdict_words import verdict_words
from tileview.errors import WorkError
from tileview.model.recipe import NO_OVERRIDES, Overrides, Recipe
from tileview.model.sizes import exact_text
from tileview.model.timeline import Problem, Timeline, Verdict
from tileview.present.plan_words import plan_words, words_against

_SEARCH_LIMIT: Final = 2_000
"""Re-plans that a report spends on looking for a fix; ``tileview fix`` searches further."""

Told = Callable[[int, int, str], None]
"""Called with how many are done, of how many, of what."""


def nobody(_done: int, _total: int, _what: str) -> None:
    """Where nobody watches."""


@dataclass(frozen=True, slots=True)
class ReportSubject:
    """What a page is about. ``recipe`` has the current edits, None for a timeline; ``edits`` are their labels."""

    name: str
    version: int
    verdict: Verdict
    timeline: Timeline | None
    recipe: Recipe | None = None
    overrides: Overrides = NO_OVERRIDES
    notes: Sequence[str] = ()
    problems: Sequence[Problem] = ()
    edits: Sequence[str] = ()
    known: Mapping[tuple[int, int], AlternativeResult] = field(default_factory=dict)
    """Alternatives that have been evaluated against this state already."""
    price: Price | None = None
    """The planner's cycles of a recipe."""


def make_page(
    subject: ReportSubject,
    with_swaps: bool = True,
    workers: int = 1,
    told: Told = nobody,
    cancelled: Cancelled = never,
) -> str:
    """The page as text, to be written in UTF-8; what it tries takes seconds. A page that was cancelled lacks parts."""
    swaps: list[SwapRow] = []
    text = ""
    recipe = subject.recipe
    if recipe is not None and with_swaps:
        swaps, text = _tried(subject, recipe, workers, told, cancelled)
    notes = subject.notes
    diagnosis = diagnose_fully(subject.verdict, subject.timeline, recipe, subject.overrides)
    if recipe is not None:
        words, placed = recipe_steps(subject.verdict, recipe, subject.overrides, cancelled)
        notes = (*words.lines, *notes)
        diagnosis = once_placed(diagnosis, subject.verdict, subject.timeline, recipe, unplaced_words(placed))
    return render_report(
        ReportInput(
            os.path.basename(subject.name),
            _facts(subject),
            subject.verdict,
            subject.timeline,
            diagnosis,
            [] if recipe is None else _operations(recipe),
            swaps,
            text,
            notes_with_problems(notes, subject.timeline, subject.problems),
            [problem_text(problem) for problem in subject.problems],
            subject.edits,
        )
    )


def _facts(subject: ReportSubject) -> list[tuple[str, str]]:
    timeline, overrides = subject.timeline, subject.overrides
    facts = [("", f"{'timeline' if subject.recipe is None else 'recipe'}, version {subject.version}")]
    if timeline is not None:
        facts += [
            ("tiles", f"{timeline.tile_count:,}"),
            ("steps", f"{len(timeline.steps):,}"),
            ("values", f"{len(timeline.values):,}"),
        ]
    if subject.price is not None:
        facts.append(("planner's cycles", exact_cycles(subject.price.cycles)))
    if not overrides.fusion:
        facts.append(("", "without the compiler's fusions"))
    for name, size in (("what-if budget", overrides.budget_bytes), ("what-if reserve", overrides.reserve_bytes)):
        if size is not None:
            facts.append((name, exact_text(size)))
    return facts


def _operations(recipe: Recipe) -> list[ReportOperation]:
    names = recipe.graph.kind_names()
    return [
        ReportOperation(
            operation,
            names.get(operation, "not in the graph"),
            plan_words(plan),
            len(recipe.alternatives.get(operation, ())),
        )
        for operation, plan in sorted(recipe.plans.items())
    ]


def _tried(
    subject: ReportSubject, recipe: Recipe, workers: int, told: Told, cancelled: Cancelled
) -> tuple[list[SwapRow], str]:
    """Every single swap, best first; and, where it does not fit, what a search for a fix came to."""
    try:
        results = _results(subject, recipe, workers, told, cancelled)
    except WorkError as error:
        return [], f"Swaps were not tried: {error}."
    text = f"{len(results):,} alternatives were swapped in alone; {sum(r.fits is True for r in results):,} of them fit."
    rows = [_single(recipe, result) for result in ranked(results) if not result.in_force]
    if subject.verdict.fits or cancelled():
        return rows, text

    def show(progress: Progress) -> None:
        told(progress.tried, progress.planned, "re-plans")

    fix = search_fixes(recipe, 2, overrides=subject.overrides, workers=workers, limit=_SEARCH_LIMIT, on_progress=show,
                 cancelled=cancelled)  # fmt: skip
    if fix.found and len(fix.swaps) > 1:
        rows.insert(0, _several(recipe, fix))
    return rows, f"{text} {fix.text}"


def _results(
    subject: ReportSubject, recipe: Recipe, workers: int, told: Told, cancelled: Cancelled
) -> list[AlternativeResult]:
    """All alternatives: those known, and the others evaluated now, an operation at a time."""
    wanted = {
        operation: [(operation, index) for index in range(len(plans))]
        for operation, plans in recipe.alternatives.items()
    }
    missing = [operation for operation, swaps in wanted.items() if any(swap not in subject.known for swap in swaps)]
    total = sum(len(wanted[operation]) for operation in missing)
    done = 0

    def add(part: list[AlternativeResult]) -> None:
        nonlocal done
        done += len(part)
        told(done, total, "alternatives")

    found = {swap: subject.known[swap] for swaps in wanted.values() for swap in swaps if swap in subject.known}
    if missing:
        made = evaluate_all(
            recipe, missing, workers=workers, on_results=add, cancelled=cancelled, overrides=subject.overrides
        )
        found.update(((result.operation, result.alternative), result) for result in made)
    return [found[swap] for swap in sorted(found)]


def _single(recipe: Recipe, result: AlternativeResult) -> SwapRow:
    plan = words_against(recipe, result.operation, result.alternative)
    verdict = result.error or "" if not result.ok or result.verdict is None else verdict_words(result.verdict)
    total = None if result.peak is None else result.peak.total
    swap = f"{result.operation}={result.alternative}"
    return SwapRow(swap, plan, total, result.delta_total, verdict, bool(result.fits), result.delta_cycles)


def _several(recipe: Recipe, fix: FixResult) -> SwapRow:
    assert fix.after is not None
    assert fix.after.peak is not None
    total = fix.after.peak.total
    before = None if fix.before.peak is None else fix.before.peak.total
    delta = total - before if isinstance(total, int) and isinstance(before, int) else None
    plans = "; ".join(plan_words(recipe.alternatives[operation][index]) for operation, index in fix.swaps)
    swaps = " ".join(f"{operation}={index}" for operation, index in fix.swaps)
    cycles = cycles_between(fix.before.cycles, fix.after.cycles)
    return SwapRow(swaps, plans, total, delta, verdict_words(fix.after.verdict), bool(fix.after.fits), cycles)
