"""``tileview report``: one self-contained HTML page."""

from __future__ import annotations

from tileview.commands.base import Arguments, clean, emit, verdict_code
from tileview.commands.meter import Meter
from tileview.commands.output import refuse_source, write_file
from tileview.commands.subject import compared, load_subject, overrides_of
from tileview.present.report_page import ReportSubject, make_page


def run_report(arguments: Arguments) -> int:
    """Write the page; 0, 1 or 3 by the verdict."""
    refuse_source(arguments.output, arguments.file)
    subject = compared(load_subject(arguments.file, overrides_of(arguments)))
    timeline = subject.timeline
    meter = Meter(0, "")
    page = make_page(
        ReportSubject(
            subject.name,
            subject.source.version,
            subject.verdict,
            timeline,
            subject.recipe,
            subject.overrides,
            subject.estimate.notes if timeline is None else timeline.notes,
            subject.problems,
            price=subject.estimate.price,
        ),
        not arguments.no_alternatives,
        arguments.workers,
        lambda done, total, what: meter.show(done, total, f" {what}"),
    )
    meter.close()
    write_file(arguments.output, page.encode("utf-8", errors="backslashreplace"), arguments.file)
    emit(f"Written: {clean(arguments.output)}")
    subject.close()
    return verdict_code(subject.verdict.fits)
