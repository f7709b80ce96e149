"""``tileview check``: one line a file and an exit code, so that a compiler's CI can guard a budget."""

from __future__ import annotations

from typing import Any

from tileview.commands.base import EXIT_BAD, Arguments, clean, complain, emit, emit_json, verdict_code
from tileview.commands.placing import address_summary, placement_failure
from tileview.commands.subject import Subject, address_kind, compared, expand, load_subject, overrides_of
from tileview.core.fusion.verdict_words import fits_only_fused
from tileview.core.placement.outcome import Answer
from tileview.errors import LoadError
from tileview.model.sizes import Size, Unavailable, exact_text, size_to_json


def run_check(arguments: Arguments) -> int:
    """Check files against the budget they name and against the limits given.

    A file passes if it fits, its total peak (reserve not included) is at most ``--max-total`` and its interleaved
    peak at most ``--max-interleaved``, where these are given, and with ``--ranges`` every tile is placed in them by the
    compiler's two orders. 2 where a file cannot be read, else 1 where one fails, else 3 where it is not known of one,
    else 0.
    """
    passes: list[bool | None] = []
    bad = False
    entries: list[dict[str, Any]] = []
    for name, _ in expand(arguments.files):
        try:
            kind = address_kind(name)
            if kind is not None:
                found = address_summary(name, kind, arguments.ranges)
                placed = found.answer is Answer.PLACED
                passes.append(placed)
                entries.append(
                    {"file": name, "passes": placed, "reasons": [] if placed else [found.text], "peak": None}
                )
                if not arguments.json:
                    emit(f"{'ok  ' if placed else 'FAIL'} {clean(name)}: {clean(found.text, 600)}")
                continue
            subject = compared(load_subject(name, overrides_of(arguments)))
        except LoadError as error:
            complain(str(error))
            bad = True
            entries.append({"file": name, "passes": False, "reasons": [str(error)], "peak": None})
            continue
        reasons = failures(subject, arguments.max_total, arguments.max_interleaved)
        answer = False if reasons else subject.verdict.fits
        if arguments.ranges is not None and answer:
            answer, why = placement_failure(subject, arguments.ranges)
            reasons = [why] if why else []
        if answer is None and not reasons:
            reasons = [subject.verdict.text]
        passes.append(answer)
        entries.append(_entry(subject, answer, reasons))
        if not arguments.json:
            emit(_line(subject, answer, reasons))
        subject.close()
    if arguments.json:
        emit_json({"files": entries})
    return EXIT_BAD if bad else verdict_code(*passes)


def failures(subject: Subject, max_total: int | None, max_interleaved: int | None) -> list[str]:
    """Why a file does not pass; empty where it does, or where that is not known."""
    reasons = [subject.verdict.text] if subject.verdict.fits is False else []
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


def _line(subject: Subject, passes: bool | None, reasons: list[str]) -> str:
    if not passes:
        word = "unknown" if passes is None else "FAIL"
        return f"{word} {clean(subject.name)}: {clean('; '.join(reasons), 600)}"
    timeline = subject.timeline
    assert timeline is not None
    fused = ", fits with the compiler's fusions only" if fits_only_fused(subject.verdict) else ""
    return (
        f"ok   {clean(subject.name)}: total peak {exact_text(timeline.peak.total)}, "
        f"interleaved {exact_text(timeline.peak.interleaved)}{fused}"
    )


def _entry(subject: Subject, passes: bool | None, reasons: list[str]) -> dict[str, Any]:
    timeline = subject.timeline
    peak = None
    if timeline is not None:
        peak = {
            "total": size_to_json(timeline.peak.total),
            "standard": size_to_json(timeline.peak.standard),
            "interleaved": size_to_json(timeline.peak.interleaved),
        }
    return {"file": subject.name, "passes": passes, "reasons": reasons, "peak": peak}
