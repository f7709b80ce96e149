"""What a worker process does with plans: evaluate them, judge files, search fixes, take verdicts apart, report."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tileview.analysis.alternatives import AlternativeResult
from tileview.analysis.alternatives import evaluate_alternative as evaluate_one
from tileview.analysis.diagnose import diagnose, diagnose_fully
from tileview.analysis.diagnosis import Diagnosis
from tileview.analysis.fix import (
    MOST_PLACED,
    Mode,
    PlacedFix,
    Prefer,
    Progress,
    RankedFix,
    rank_equal,
    search_fixes,
    search_placed,
    swaps_sentence,
)
from tileview.analysis.placement import NO_REQUESTS, StepWords, recipe_steps, verdict_step_words
from tileview.analysis.trials import Evaluator, Swap, Trial
from tileview.core.estimate import estimate
from tileview.core.lowering.replanner import Replanner
from tileview.core.placement.ranges import Preset
from tileview.formats.files import MemorySource, Source
from tileview.formats.opening import open_dump
from tileview.formats.search_state import search_state_from_source
from tileview.model.recipe import NO_OVERRIDES, Overrides, Recipe
from tileview.model.sizes import kib_text
from tileview.model.timeline import Problem, Timeline
from tileview.model.timeline_file import TimelineFile
from tileview.qt.jobs.process import Reporter
from tileview.session.document import Document, edited_recipe
from tileview.session.edits import EditState
from tileview.session.estimate_jobs import EstimateJob

PART_SECONDS = 0.15
"""How often results go out."""
MOST_WORKERS = 4
MANY_STEPS = 1000
"""Re-plans of a program with more steps take so long that nobody is to wait for all of a diagnosis."""


def worker_count() -> int:
    """How many processes share what can be shared out."""
    return min(max(1, os.cpu_count() or 1), MOST_WORKERS)


# -- alternatives -----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Planned:
    """What the last evaluation lowered, kept for the next one of the same state."""

    key: object
    recipe: Recipe
    replanner: Replanner
    baseline: Trial


_KEPT: list[_Planned] = []


def evaluate_share(payload: tuple[object, Recipe, Overrides, frozenset[Swap]], reporter: Reporter) -> None:
    """Evaluate every alternative of a recipe's share but those known; results go out in parts, a few times a second.

    The payload's key says which state the share is of: all shares of one state are evaluated against what was lowered
    for the first of them.
    """
    key, part, overrides, known = payload
    if not _KEPT or _KEPT[0].key != key:
        replanner = Replanner()
        _KEPT[:] = [_Planned(key, part, replanner, Evaluator(part, overrides, replanner).trial(()))]
    planned = _KEPT[0]
    recipe = replace(planned.recipe, alternatives=part.alternatives)
    found: list[AlternativeResult] = []
    sent = time.monotonic()
    for operation, plans in part.alternatives.items():
        for index in range(len(plans)):
            reporter.check()
            if (operation, index) in known:
                continue
            found.append(evaluate_one(recipe, operation, index, planned.replanner, overrides, planned.baseline))
            if time.monotonic() - sent > PART_SECONDS:
                reporter.part(found)
                found, sent = [], time.monotonic()
    reporter.part(found)


# -- verdicts and fixes -----------------------------------------------------------------------------------------------


def verdict(path: str, reporter: Reporter) -> StepWords | None:
    """What the list of a folder says of a file: first, as a part, kind, whether it fits, that and its reason in words,
    the peak in words and in bytes for sorting, −1 where it is unavailable, and by how many bytes it is over (−1: not);
    then the three steps of the verdict.

    None for a file that speaks of addresses.
    """
    document = Document(Path(path), open_dump(Path(path)))
    reporter.check()
    document.read_whole()
    result = EstimateJob(0, document, EditState()).run(Replanner()).estimate
    short = result.verdict.short_bytes
    over = short if result.verdict.fits is False and isinstance(short, int) else -1
    if document.addresses is not None:
        document.close()
        reporter.part((document.kind, result.verdict.fits, result.verdict.words, result.verdict.text, "", -1, over))
        return None
    total = None if result.timeline is None else result.timeline.peak.total
    peak = "unavailable" if total is None else kib_text(total)
    size = total if isinstance(total, int) else -1
    reporter.part((document.kind, result.verdict.fits, result.verdict.words, result.verdict.text, peak, size, over))
    if document.recipe is None:
        return verdict_step_words(result.verdict, None, NO_REQUESTS)
    return recipe_steps(result.verdict, document.recipe, NO_OVERRIDES, reporter.stopped)[0]


FixOrder = tuple[Recipe, int, str, Overrides, int, str, Preset, bool]
"""Recipe, most swaps, mode, what-if values, most re-plans, what is preferred, the memory to place in, whether every
tile has to be placed there."""


def fix(payload: FixOrder, reporter: Reporter) -> RankedFix | PlacedFix:
    """Search swaps that make a recipe fit; a request to stop ends the search with the best that is known.

    Where placement is not asked for, the result goes out as a part, and again with proposals of equal peak ranked by
    it.
    """
    recipe, most, mode, overrides, limit, prefer, preset, placing = payload
    if placing:
        return _fix_placed(payload, reporter)

    def told(state: Progress) -> None:
        best = "" if state.best is None else f"; {swaps_sentence(state.best.swaps)} fits"
        sets = "single swaps" if state.swaps == 1 else f"sets of {state.swaps} swaps"
        text = f"{state.tried:,} re-plans, {sets}{best}"
        if not reporter.stopped():
            reporter.progress(state.tried, state.planned, text)

    asked = (recipe, most, Mode(mode), overrides, worker_count(), limit)
    result = search_fixes(*asked, told, reporter.stopped, Prefer(prefer))
    if reporter.stopped():
        return RankedFix(result, "", ())
    reporter.part(result)
    return rank_equal(recipe, result, preset, Mode(mode), overrides, Prefer(prefer), reporter.stopped)


def _fix_placed(payload: FixOrder, reporter: Reporter) -> PlacedFix:
    recipe, most, _, overrides, _, prefer, preset, _ = payload

    def told(tried: int, text: str) -> None:
        if not reporter.stopped():
            reporter.progress(tried, MOST_PLACED, f"{tried:,} programs placed, {text}")

    asked = (recipe, preset, most, overrides, worker_count())
    return search_placed(*asked, on_placed=told, cancelled=reporter.stopped, prefer=Prefer(prefer))


@dataclass(slots=True)
class _Diagnosed:
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


_DIAGNOSED: list[_Diagnosed] = []

Asked = tuple[EditState, EditState | Recipe | None, dict[tuple[int, int], AlternativeResult]]


def make_diagnosis(payload: tuple[Recipe | None, Asked], reporter: Reporter) -> Diagnosis:
    """Take the verdict on a state of a recipe apart: with growth against a baseline, and with what other plans do.

    What other plans do takes re-plans, of a large program seconds: then the rest goes out first, as a part.
    The recipe of the file comes with the first question only; it is kept, and what was lowered of it, so that the next
    state of the same file takes little.
    """
    base, (state, before, results) = payload
    if base is not None:
        _DIAGNOSED[:] = [_Diagnosed(base)]
    kept = _DIAGNOSED[0]
    recipe, overrides = edited_recipe(kept.recipe, state), state.overrides
    result = estimate(recipe, overrides, kept.replanner)
    reporter.check()
    baseline = None if before is None else kept.before(before, overrides)
    reporter.check()
    made = result.timeline
    if made is not None and len(made.steps) > MANY_STEPS and result.verdict.fits is False:
        reporter.part(diagnose(result.verdict, made, recipe, baseline, results))
    return diagnose_fully(result.verdict, made, recipe, overrides, baseline, results, kept.replanner, reporter.check)


# -- reports ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ReportOrder:
    """A state to report on; ``problems`` is all that is known to be wrong with the file and its estimate.

    A recipe is handed over as the bytes it was read from, or the file where it is large: its objects would hold the
    window up while they are sent.
    """

    path: Path
    source: bytes | Source | TimelineFile
    state: EditState
    edits: tuple[str, ...]
    problems: tuple[Problem, ...]
    known: Mapping[tuple[int, int], AlternativeResult] = field(default_factory=dict)


def report(order: ReportOrder, reporter: Reporter) -> bytes:
    """The page of a state, as ``tileview report`` writes it, with the current edits."""
    from tileview.present.report_page import ReportSubject, make_page  # no other task needs what draws pages

    source = order.source
    if isinstance(source, bytes):
        source = MemorySource(source, str(order.path))
    document = Document(order.path, source if isinstance(source, TimelineFile) else search_state_from_source(source))
    result = EstimateJob(0, document, order.state).run().estimate
    reporter.check()
    assert document.source.version is not None, "a file without a program has no report"
    recipe, timeline = document.recipe, result.timeline
    subject = ReportSubject(
        order.path.name,
        document.source.version,
        result.verdict,
        timeline,
        None if recipe is None else edited_recipe(recipe, order.state),
        order.state.overrides,
        result.notes if timeline is None else timeline.notes,
        order.problems,
        order.edits,
        order.known,
        result.price,
    )

    def told(done: int, total: int, what: str) -> None:
        if not reporter.stopped():
            reporter.progress(done, total, f"Report: {done:,} of {total:,} {what}")

    page = make_page(subject, True, worker_count(), told, reporter.stopped)
    reporter.check()
    return page.encode("utf-8", errors="backslashreplace")
