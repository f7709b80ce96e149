"""``tileview report``: one self-contained HTML page."""

from __future__ import annotations

from tileview.commands.base import EXIT_NO, EXIT_OK, clean, emit
from tileview.commands.output import refuse_source, write_file
from tileview.commands.parser import Arguments
from tileview.commands.progress import Meter
from tileview.commands.subject import compared, load, overrides_of
from tileview.present.report_page import ReportSubject, make_page


def run_report(arguments: Arguments) -> int:
    """Write the page; 0 or 1 by the verdict."""
    refuse_source(arguments.output, arguments.file)
    subject = compared(load(arguments.file, overrides_of(arguments)))
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
    return EXIT_OK if subject.verdict.fits else EXIT_NO
