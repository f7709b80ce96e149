"""``tileview report``: one self-contained HTML page."""

from __future__ import annotations

from tileview.analysis.alternatives import AlternativeResult, evaluate_all, ranked
from tileview.analysis.fix import FixResult, Progress, search
from tileview.analysis.report import OperationRow, ReportInput, SwapRow, render_report
from tileview.commands.alternatives import words_against
from tileview.commands.base import EXIT_NO, EXIT_OK, clean, emit
from tileview.commands.output import refuse_source, write_file
from tileview.commands.parser import Arguments
from tileview.commands.progress import Meter
from tileview.commands.subject import Subject, load, notes_of, operation_names, overrides_of, problem_text
from tileview.commands.summary import diagnosis_of
from tileview.model.recipe import Recipe
from tileview.present.plan_words import plan_words

_SEARCH_LIMIT = 2_000
"""Re-plans that a report spends on looking for a fix; ``tileview fix`` searches further."""


def run_report(arguments: Arguments) -> int:
    """Write the page; 0 or 1 by the verdict."""
    refuse_source(arguments.output, arguments.file, False)
    subject = load(arguments.file, overrides_of(arguments))
    swaps: list[SwapRow] = []
    swaps_text = ""
    if subject.recipe is not None and not arguments.no_alternatives:
        swaps, swaps_text = _tried(subject, subject.recipe, arguments.workers)
    page = render_report(report_input(subject, swaps, swaps_text))
    write_file(arguments.output, page.encode("utf-8", errors="backslashreplace"), arguments.file)
    emit(f"Written: {clean(arguments.output)}")
    subject.close()
    return EXIT_OK if subject.verdict.fits else EXIT_NO


def report_input(subject: Subject, swaps: list[SwapRow], swaps_text: str) -> ReportInput:
    """What the page is made from."""
    timeline, recipe = subject.timeline, subject.recipe
    facts = [("", f"{subject.kind}, version {subject.source.version}")]
    if timeline is not None:
        facts += [
            ("tiles", f"{timeline.tile_count:,}"),
            ("steps", f"{len(timeline.steps):,}"),
            ("values", f"{len(timeline.values):,}"),
        ]
    return ReportInput(
        subject.name,
        facts,
        subject.verdict,
        timeline,
        diagnosis_of(subject),
        [] if recipe is None else _operations(recipe),
        swaps,
        swaps_text,
        notes_of(subject),
        [problem_text(problem) for problem in subject.problems],
    )


def _operations(recipe: Recipe) -> list[OperationRow]:
    names = operation_names(recipe)
    return [
        OperationRow(
            operation,
            names.get(operation, "not in the graph"),
            plan_words(plan),
            len(recipe.alternatives.get(operation, ())),
        )
        for operation, plan in sorted(recipe.plans.items())
    ]


def _tried(subject: Subject, recipe: Recipe, workers: int) -> tuple[list[SwapRow], str]:
    """Every single swap, best first; and, where it does not fit, what a search for a fix came to."""
    meter = Meter(sum(map(len, recipe.alternatives.values())), "alternatives")
    results = evaluate_all(
        recipe, workers=workers, on_results=lambda part: meter.add(len(part)), overrides=subject.overrides
    )
    meter.close()
    text = f"{len(results):,} alternatives were swapped in alone; {sum(r.fits for r in results):,} of them fit."
    rows = [_single(recipe, result) for result in ranked(results) if not result.in_force]
    if subject.verdict.fits:
        return rows, text
    meter = Meter(0, "re-plans")

    def show(progress: Progress) -> None:
        meter.show(progress.tried, progress.planned)

    fix = search(recipe, 2, overrides=subject.overrides, workers=workers, limit=_SEARCH_LIMIT, on_progress=show)
    meter.close()
    if fix.found and len(fix.swaps) > 1:
        rows.insert(0, _several(recipe, fix))
    return rows, f"{text} {fix.text}"


def _single(recipe: Recipe, result: AlternativeResult) -> SwapRow:
    plan = words_against(recipe, result.operation, result.alternative)
    verdict = result.error or "" if not result.ok else "fits" if result.fits else "does not fit"
    total = None if result.peak is None else result.peak.total
    return SwapRow(f"{result.operation}={result.alternative}", plan, total, result.delta_total, verdict, result.fits)


def _several(recipe: Recipe, fix: FixResult) -> SwapRow:
    assert fix.after is not None
    assert fix.after.peak is not None
    total = fix.after.peak.total
    before = None if fix.before.peak is None else fix.before.peak.total
    delta = total - before if isinstance(total, int) and isinstance(before, int) else None
    plans = "; ".join(plan_words(recipe.alternatives[operation][index]) for operation, index in fix.swaps)
    swaps = " ".join(f"{operation}={index}" for operation, index in fix.swaps)
    return SwapRow(swaps, plans, total, delta, "fits", True)
