"""What the worker process does with plans: judge files, search fixes, take verdicts apart."""

from __future__ import annotations

import os
from pathlib import Path

from tileview.analysis.alternatives import AlternativeResult
from tileview.analysis.diagnose import diagnose_fully
from tileview.analysis.diagnosis import Diagnosis
from tileview.analysis.fix import FixResult, Mode, Progress, search, swaps_text
from tileview.core.estimate import estimate
from tileview.core.lowering.replanner import Replanner
from tileview.formats import open_file
from tileview.model.recipe import Overrides, Recipe
from tileview.model.sizes import size_text
from tileview.qt.jobs.worker import Reporter
from tileview.session.document import Document
from tileview.session.estimate import EstimateJob
from tileview.session.state import EditState


def verdict(path: str, reporter: Reporter) -> tuple[str, bool | None, str, str, int]:
    """Kind, whether it fits, verdict and peak of a file, in words; for the list of a folder.

    The peak comes in bytes too, for sorting; −1 where it is unavailable.
    """
    document = Document(Path(path), open_file(Path(path)))
    reporter.check()
    document.read_whole()
    result = EstimateJob(0, document, EditState()).run(Replanner()).estimate
    total = None if result.timeline is None else result.timeline.peak.total
    peak = "unavailable" if total is None else size_text(total)
    size = total if isinstance(total, int) else -1
    return ("recipe" if document.is_recipe else "timeline"), result.verdict.fits, result.verdict.text, peak, size


def fix(payload: tuple[Recipe, int, str, Overrides, int], reporter: Reporter) -> FixResult:
    """Search swaps that make a recipe fit; a request to stop ends the search with the best that is known."""
    recipe, most, mode, overrides, limit = payload

    def told(state: Progress) -> None:
        best = "" if state.best is None else f"; {swaps_text(state.best.swaps)} fits"
        sets = "single swaps" if state.swaps == 1 else f"sets of {state.swaps} swaps"
        text = f"{state.tried:,} re-plans, {sets}{best}"
        if not reporter.stopped():
            reporter.progress(state.tried, state.planned, text)

    workers = min(max(1, os.cpu_count() or 1), 4)
    return search(recipe, most, Mode(mode), overrides, workers, limit, told, reporter.stopped)


def make_diagnosis(
    payload: tuple[Recipe, Overrides, Recipe | None, dict[tuple[int, int], AlternativeResult]], reporter: Reporter
) -> Diagnosis:
    """Take the verdict on a recipe apart: with growth against a baseline, and with what other plans would do."""
    recipe, overrides, before, results = payload
    replanner = Replanner()
    result = estimate(recipe, overrides, replanner)
    reporter.check()
    baseline = None if before is None else estimate(before, overrides).timeline
    reporter.check()
    return diagnose_fully(result.verdict, result.timeline, recipe, overrides, baseline, results, replanner)
