"""``tileview check``: one line a file and an exit code, so that a compiler's CI can guard a budget."""

from __future__ import annotations

from typing import Any

from tileview.commands.base import EXIT_BAD, EXIT_NO, EXIT_OK, clean, complain, emit, emit_json
from tileview.commands.parser import Arguments
from tileview.commands.subject import Subject, expand, load, overrides_of
from tileview.core.fusion.words import fits_only_fused
from tileview.errors import LoadError
from tileview.model.sizes import Size, Unavailable, exact_text, size_to_json


def run_check(arguments: Arguments) -> int:
    """Check files against the budget they name and against the limits given.

    A file passes if it fits, its total peak (reserve not included) is at most ``--max-total`` and its interleaved
    peak at most ``--max-interleaved``, where these are given. 2 where a file cannot be read, else 1 where one fails,
    else 0.
    """
    code = EXIT_OK
    bad = False
    entries: list[dict[str, Any]] = []
    for name, _ in expand(arguments.files):
        try:
            subject = load(name, overrides_of(arguments))
        except LoadError as error:
            complain(str(error))
            bad = True
            entries.append({"file": name, "passes": False, "reasons": [str(error)], "peak": None})
            continue
        reasons = failures(subject, arguments.max_total, arguments.max_interleaved)
        if reasons:
            code = EXIT_NO
        entries.append(_entry(subject, reasons))
        if not arguments.json:
            emit(_line(subject, reasons))
        subject.close()
    if arguments.json:
        emit_json({"files": entries})
    return EXIT_BAD if bad else code


def failures(subject: Subject, max_total: int | None, max_interleaved: int | None) -> list[str]:
    """Why a file does not pass; empty where it does."""
    reasons = [] if subject.verdict.fits else [subject.verdict.text]
    timeline = subject.timeline
    if timeline is not None:
        reasons += _over("total peak", timeline.peak.total, max_total)
        reasons += _over("interleaved peak", timeline.peak.interleaved, max_interleaved)
    return reasons


def _over(what: str, size: Size, most: int | None) -> list[str]:
    if most is None:
        return []
    if isinstance(size, Unavailable):
        return [f"{what} is unavailable"]
    if size <= most:
        return []
    return [f"{what} {exact_text(size)} is {exact_text(size - most)} over the limit of {exact_text(most)}"]


def _line(subject: Subject, reasons: list[str]) -> str:
    if reasons:
        return f"FAIL {clean(subject.name)}: {clean('; '.join(reasons), 600)}"
    timeline = subject.timeline
    assert timeline is not None
    fused = ", fits with the compiler's fusions only" if fits_only_fused(subject.verdict) else ""
    return (
        f"ok   {clean(subject.name)}: total peak {exact_text(timeline.peak.total)}, "
        f"interleaved {exact_text(timeline.peak.interleaved)}{fused}"
    )


def _entry(subject: Subject, reasons: list[str]) -> dict[str, Any]:
    timeline = subject.timeline
    peak = None
    if timeline is not None:
        peak = {
            "total": size_to_json(timeline.peak.total),
            "standard": size_to_json(timeline.peak.standard),
            "interleaved": size_to_json(timeline.peak.interleaved),
        }
    return {"file": subject.name, "passes": not reasons, "reasons": reasons, "peak": peak}
