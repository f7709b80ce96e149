"""``tileview alternatives``: what each alternative would give, swapped in alone."""

from __future__ import annotations

from typing import Any

from tileview.analysis.alternatives import AlternativeResult, evaluate_all, ranked
from tileview.analysis.loads import describe_bytes
from tileview.commands.base import EXIT_OK, Arguments, UsageError, clean, emit, emit_json, table, verdict_code
from tileview.commands.meter import Meter
from tileview.commands.subject import load_recipe, operation_names, overrides_of, price_json
from tileview.core.cycles.words import describe_cycles
from tileview.core.fusion.verdict_words import verdict_words
from tileview.model.recipe import Recipe
from tileview.model.sizes import exact_text, size_to_json
from tileview.model.timeline import fits_words
from tileview.present.plan_words import words_against


def run_alternatives(arguments: Arguments) -> int:
    """Evaluate alternatives; 0 where at least one of them fits (or there is none and the recipe fits), else 3 where
    that is not known of one, else 1."""
    subject, state = load_recipe(arguments.file, overrides_of(arguments))
    recipe = state.recipe
    operations = arguments.operations
    for operation in operations or ():
        if operation not in recipe.alternatives:
            raise UsageError(f"operation {operation} has no alternatives in {arguments.file}")
    wanted = recipe.alternatives.keys() if operations is None else set(operations)
    meter = Meter(sum(len(recipe.alternatives[operation]) for operation in wanted), "alternatives")
    results = evaluate_all(
        recipe,
        operations,
        workers=arguments.workers,
        on_results=lambda part: meter.add(len(part)),
        overrides=subject.overrides,
    )
    meter.close()
    if arguments.json:
        emit_json({"alternatives": [result_json(result) for result in results]})
    else:
        emit(_text(recipe, results))
    fits = {result.fits for result in results} or {subject.verdict.fits}
    return EXIT_OK if True in fits else verdict_code(None if None in fits else False)


def result_json(result: AlternativeResult) -> dict[str, Any]:
    names = ("standard", "interleaved", "total", "maximum_standard_allocation", "exchange_rows")
    peak = result.peak
    return {
        "op": result.operation,
        "alt": result.alternative,
        "in_force": result.in_force,
        "ok": result.ok,
        "error": result.error,
        "peak": {name: None if peak is None else size_to_json(getattr(peak, name)) for name in names},
        "fits": result.fits,
        "delta_total": result.delta_total,
        **price_json(result.price),
        "delta_cycles": result.delta_cycles,
    }


def _text(recipe: Recipe, results: tuple[AlternativeResult, ...]) -> str:
    """A table per operation, best first."""
    names = operation_names(recipe)
    by_operation: dict[int, list[AlternativeResult]] = {}
    for result in results:
        by_operation.setdefault(result.operation, []).append(result)
    parts = []
    for operation, found in by_operation.items():
        rows = [_row(recipe, result) for result in ranked(found)]
        parts.append(f"operation {operation} {clean(names.get(operation, ''), 40)}".rstrip())
        header = ("alt", "total peak", "change", "planner's cycles", "verdict", "plan")
        parts.append(table(header, rows, numbers=(0, 1, 2, 3), indent=2))
        parts.append("")
    fitting = sum(result.fits is True for result in results)
    unknown = sum(result.fits is None for result in results)
    rest = f"; of {unknown:,} it is not known" if unknown else ""
    parts.append(f"{len(results):,} alternatives, {fitting:,} of them fit when swapped in alone{rest}.")
    return "\n".join(parts)


def _row(recipe: Recipe, result: AlternativeResult) -> tuple[str, ...]:
    mark = "*" if result.in_force else " "
    words = clean(words_against(recipe, result.operation, result.alternative), 160)
    if not result.ok or result.peak is None:
        return (f"{result.alternative}{mark}", "", "", "", "cannot be lowered", clean(result.error or "", 160))
    change = "" if result.delta_total is None else describe_bytes(result.delta_total)
    verdict = fits_words(result.fits) if result.verdict is None else verdict_words(result.verdict)
    cycles = "" if result.delta_cycles is None else describe_cycles(result.delta_cycles)
    return (f"{result.alternative}{mark}", exact_text(result.peak.total), change, cycles, verdict, words)
