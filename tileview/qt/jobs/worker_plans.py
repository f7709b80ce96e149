"""What the worker process does with plans: judge files, search fixes, take verdicts apart."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
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
from tileview.model.timeline import Timeline
from tileview.qt.jobs.worker import Reporter
from tileview.session.document import Document, edited_recipe
from tileview.session.estimate import EstimateJob
from tileview.session.state import EditState


def verdict(path: str, reporter: Reporter) -> tuple[str, bool, str, str, int]:
    """Kind, whether it fits, verdict and peak of a file, in words; for the list of a folder.

    The peak comes in bytes too, for sorting; −1 where it is unavailable.
    """
    document = Document(Path(path), open_file(Path(path)))
    reporter.check()
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


@dataclass(slots=True)
class _Kept:
    """The recipe of the file that is diagnosed, what was lowered of it, and the last baseline with its timeline."""

    recipe: Recipe
    replanner: Replanner = field(default_factory=Replanner)
    baseline: tuple[EditState | Recipe, Overrides, Timeline | None] | None = None

    def before(self, before: EditState | Recipe, overrides: Overrides) -> Timeline | None:
        """The timeline of a baseline: a state of the same file, or another file's recipe."""
        if self.baseline is None or self.baseline[:2] != (before, overrides):
            same = isinstance(before, EditState)
            recipe = edited_recipe(self.recipe, before) if isinstance(before, EditState) else before
            made = estimate(recipe, overrides, self.replanner if same else None).timeline
            self.baseline = before, overrides, made
        return self.baseline[2]


_KEPT: list[_Kept] = []

Asked = tuple[EditState, EditState | Recipe | None, dict[tuple[int, int], AlternativeResult]]


def make_diagnosis(payload: tuple[Recipe | None, Asked], reporter: Reporter) -> Diagnosis:
    """Take the verdict on a state of a recipe apart: with growth against a baseline, and with what other plans would
    do.

    The recipe of the file comes with the first question only; it is kept, and what was lowered of it, so that the next
    state of the same file takes little.
    """
    base, (state, before, results) = payload
    if base is not None:
        _KEPT[:] = [_Kept(base)]
    kept = _KEPT[0]
    recipe, overrides = edited_recipe(kept.recipe, state), state.overrides
    result = estimate(recipe, overrides, kept.replanner)
    reporter.check()
    baseline = None if before is None else kept.before(before, overrides)
    reporter.check()
    return diagnose_fully(result.verdict, result.timeline, recipe, overrides, baseline, results, kept.replanner)
