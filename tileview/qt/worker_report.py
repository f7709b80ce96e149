"""What the worker process does for a report: estimate the state it is about, try its alternatives, make the page."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tileview.analysis.alternatives import AlternativeResult
from tileview.formats.search_state import search_state_from_bytes
from tileview.model.timeline import Problem
from tileview.model.timeline_file import TimelineFile
from tileview.present.report_page import ReportSubject, make_page
from tileview.qt.worker import Reporter
from tileview.session.document import Document, edited_recipe
from tileview.session.estimate import EstimateJob
from tileview.session.state import EditState


@dataclass(frozen=True, slots=True)
class ReportJob:
    """A state to report on; ``problems`` is all that is known to be wrong with the file and its estimate.

    A recipe is handed over as the bytes it was read from: its objects would hold the window up while they are sent.
    """

    path: Path
    source: bytes | TimelineFile
    state: EditState
    edits: tuple[str, ...]
    problems: tuple[Problem, ...]
    known: Mapping[tuple[int, int], AlternativeResult] = field(default_factory=dict)


def report(job: ReportJob, reporter: Reporter) -> bytes:
    """The page of a state, as ``tileview report`` writes it, with the edits in force."""
    source = search_state_from_bytes(job.source, str(job.path)) if isinstance(job.source, bytes) else job.source
    document = Document(job.path, source)
    estimate = EstimateJob(0, document, job.state).run().estimate
    reporter.check()
    recipe, timeline = document.recipe, estimate.timeline
    subject = ReportSubject(
        job.path.name,
        source.version,
        estimate.verdict,
        timeline,
        None if recipe is None else edited_recipe(recipe, job.state),
        job.state.overrides,
        estimate.notes if timeline is None else timeline.notes,
        job.problems,
        job.edits,
        job.known,
        estimate.price,
    )

    def told(done: int, total: int, what: str) -> None:
        if not reporter.stopped():
            reporter.progress(done, total, f"Report: {done:,} of {total:,} {what}")

    workers = min(max(1, os.cpu_count() or 1), 4)
    page = make_page(subject, True, workers, told, reporter.stopped)
    reporter.check()
    return page.encode("utf-8", errors="backslashreplace")
