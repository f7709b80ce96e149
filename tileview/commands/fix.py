"""``tileview fix``: the fewest swaps that make a recipe fit; for a timeline, valid layouts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tileview.analysis.fix import (
    DEFAULT_LIMIT,
    MOST_PLACED,
    FixResult,
    Mode,
    Prefer,
    Progress,
    search_fixes,
    search_placed,
)
from tileview.analysis.layout_fix import LayoutFix, fix_layouts
from tileview.analysis.trials import with_swaps
from tileview.commands.base import EXIT_NO, Arguments, UsageError, clean, emit, emit_json, table, verdict_code
from tileview.commands.meter import Meter
from tileview.commands.output import refuse_source, write_recipe
from tileview.commands.placing import chosen_ranges
from tileview.commands.subject import (
    Subject,
    compared,
    load_subject,
    overrides_of,
    price_json,
    summary_json,
    with_recipe,
)
from tileview.commands.swap import swap_text
from tileview.core.cycles.words import exact_cycles
from tileview.core.estimated import Estimate
from tileview.core.fusion.verdict_words import fits_only_fused
from tileview.formats.search_state import SearchState
from tileview.formats.tensorjson import format_to_json
from tileview.model.sizes import exact_text
from tileview.model.timeline import fits_words

_MOST_PROPOSALS = 10


def run_fix(arguments: Arguments) -> int:
    """Search and report; 0 where it fits (with the swaps found), 3 where that is not known, else 1."""
    refuse_source(arguments.output, arguments.file, arguments.force)
    prefer = Prefer(arguments.prefer)
    if arguments.most_margin and prefer is Prefer.CYCLES:
        raise UsageError("--most-margin looks for the lowest total peak; it cannot prefer cycles")
    subject = compared(load_subject(arguments.file, overrides_of(arguments)))
    if not isinstance(subject.source, SearchState):
        return _fix_timeline(arguments, subject)
    meter = Meter(0, "re-plans")
    if arguments.ranges is not None:
        preset = chosen_ranges(arguments.ranges, subject.source.recipe.config.reserve_bytes)
        result = search_placed(
            subject.source.recipe,
            preset,
            arguments.max_swaps,
            subject.overrides,
            arguments.workers,
            arguments.limit or MOST_PLACED,
            lambda done, what: meter.show(done, done, f" ({what})"),
            prefer=prefer,
        ).result
        return _finish(arguments, subject, subject.source, result, meter)
    result = search_fixes(
        subject.source.recipe,
        arguments.max_swaps,
        Mode.MARGIN if arguments.most_margin else Mode.FEWEST,
        subject.overrides,
        arguments.workers,
        arguments.limit or DEFAULT_LIMIT,
        lambda progress: _show(meter, progress),
        prefer=prefer,
    )
    return _finish(arguments, subject, subject.source, result, meter)


def _finish(arguments: Arguments, subject: Subject, state: SearchState, result: FixResult, meter: Meter) -> int:
    meter.close()
    after = _after(subject, state, result)
    if arguments.output is not None and result.found:
        write_recipe(arguments.output, state, result.swaps, dict(result.homes), arguments.force)
    if arguments.json:
        emit_json(_json(subject, after, result))
    else:
        emit(_text(subject, state, after, result))
        if arguments.output is not None:
            written = f"Written: {clean(arguments.output)}" if result.found else "Nothing was written."
            emit(written)
    return EXIT_NO if after is None else verdict_code(after.verdict.fits)


def _show(meter: Meter, progress: Progress) -> None:
    found = "" if progress.best is None else f", a fix with {len(progress.best.swaps)} found"
    meter.show(progress.tried, progress.planned, f" ({progress.swaps} swaps at once{found})")


def _after(subject: Subject, state: SearchState, result: FixResult) -> Subject | None:
    if not result.found:
        return None
    homes = {**state.recipe.inputs, **result.homes}
    return with_recipe(subject, state, replace(with_swaps(state.recipe, result.swaps), inputs=homes))


def _json(subject: Subject, after: Subject | None, result: FixResult) -> dict[str, Any]:
    return {
        "found": result.found,
        "swaps": [list(swap) for swap in result.swaps],
        "before": summary_json(subject),
        "after": None if after is None else summary_json(after),
        "tried": result.tried,
        "exhaustive": result.exhaustive,
        "text": result.text,
        "homes": {str(value): format_to_json(home) for value, home in result.homes.items()},
        "proposals": [
            {"swaps": [list(swap) for swap in trial.swaps], "total": trial.peak.total, **price_json(trial.price)}
            for trial in result.proposals
            if trial.peak is not None and isinstance(trial.peak.total, int)
        ],
    }


def _text(subject: Subject, state: SearchState, after: Subject | None, result: FixResult) -> str:
    lines = [clean(result.text, 900)]
    if after is None:
        return "\n".join(lines)
    if result.swaps or result.homes:
        lines += ["", swap_text(state.recipe, subject, after, result.swaps)]
    if len(result.proposals) > 1:
        rows = [
            (
                " ".join(f"{operation}={index}" for operation, index in trial.swaps),
                exact_text(trial.peak.total),
                "" if trial.cycles is None else exact_cycles(trial.cycles),
                "fits with fusions only" if fits_only_fused(trial.verdict) else fits_words(trial.fits),
            )
            for trial in result.proposals[:_MOST_PROPOSALS]
            if trial.peak is not None
        ]
        lines += [
            "",
            table(("fixes with as few swaps", "total peak", "planner's cycles", "verdict"), rows, numbers=(1, 2)),
        ]
        if len(result.proposals) > _MOST_PROPOSALS:
            lines.append(f"and {len(result.proposals) - _MOST_PROPOSALS} more")
    return "\n".join(lines)


# -- timelines ------------------------------------------------------------------------------------------------------


def _fix_timeline(arguments: Arguments, subject: Subject) -> int:
    """A timeline has no plans to swap; invalid layouts can be given ones that do."""
    if arguments.output is not None:
        raise UsageError("a timeline holds no recipe to write; -o works on recipes only")
    assert subject.timeline is not None
    fix = fix_layouts(subject.timeline)
    timeline = fix.timeline
    after = Subject(
        subject.name,
        subject.source,
        subject.overrides,
        Estimate(None, timeline, None, timeline.verdict, timeline.notes, {}),
    )
    found = timeline.verdict.fits is True
    if arguments.json:
        emit_json(
            {
                "found": found,
                "swaps": [],
                "before": summary_json(subject),
                "after": summary_json(after) if found else None,
                "tried": fix.tried,
                "exhaustive": fix.exhaustive,
                "text": fix.text,
                "repairs": [
                    {"values": [subject.timeline.values[index].id for index in repair.layouts], "label": repair.label}
                    for repair in fix.repairs
                ],
            }
        )
    else:
        emit(_timeline_text(fix))
    subject.close()
    return verdict_code(timeline.verdict.fits)


def _timeline_text(fix: LayoutFix) -> str:
    lines = [clean(fix.text, 900)]
    for repair in fix.repairs:
        count = len(repair.layouts)
        lines.append(f"  {count:,} value{'' if count == 1 else 's'}: {clean(repair.label, 300)}")
    verdict = fix.timeline.verdict
    lines.append(f"after:  {verdict.words}: {clean(verdict.text, 600)}")
    return "\n".join(lines)
