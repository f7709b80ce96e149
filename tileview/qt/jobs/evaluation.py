"""Every alternative evaluated in the background: worker processes, results streaming into the session and kept."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import cast

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from tileview.analysis.alternatives import AlternativeResult, evaluation_order, seconds_left, time_left_text
from tileview.analysis.diagnose import verdict_place
from tileview.analysis.relief import makers
from tileview.analysis.trials import Swap
from tileview.model.recipe import Recipe
from tileview.qt.base.settings import Settings
from tileview.qt.jobs.result_store import ResultStore
from tileview.qt.jobs.runner import Job, Runner, failure_of
from tileview.qt.jobs.session_signals import SessionSignals

AUTOMATIC_LIMIT = 3000
"""More alternatives than this are evaluated only for the selected operation, unless asked for."""
DELAY_MS = 250
"""How long the window rests after an estimate before the background work begins."""
TASKS_A_WORKER = 6
LARGEST_SHARE = 2000
"""Alternatives of a task at most, about: a worker takes in one while it works on another."""
IN_HAND = 2
"""Tasks that a worker has at a time: one that it works on, one to go on with. Which gets the rest depends on how fast
each is."""
SAVE_SECONDS = 60
"""How often what has come in is kept while a run goes on: a crash costs no more."""
REORDER_FROM = 500
"""Where more alternatives than this are to come, an operation that is selected meanwhile goes before them."""
WORK = "evaluate"


def shares(recipe: Recipe, operations: list[int], parts: int) -> list[list[int]]:
    """Operations in runs of neighbours, about as many alternatives each: neighbours share most of their lowering."""
    counts = [len(recipe.alternatives.get(operation, ())) for operation in operations]
    target = max(1, sum(counts) // max(1, parts))
    result: list[list[int]] = []
    current: list[int] = []
    filled = 0
    for operation, count in zip(operations, counts, strict=True):
        current.append(operation)
        filled += count
        if filled >= target:
            result.append(current)
            current, filled = [], 0
    return [*result, current] if current else result


def share(recipe: Recipe, operations: Sequence[int]) -> Recipe:
    """The part of a recipe that evaluating some operations' alternatives needs: of a large one, little."""
    return replace(recipe, alternatives={operation: recipe.alternatives.get(operation, ()) for operation in operations})


class Evaluation(QObject):
    """Evaluates the alternatives of the current state.

    A run belongs to one revision of the session; any edit ends it. The selected operation comes
    first, then those that hold memory where the verdict is decided. Results of a run
    that was overtaken are dropped by the session. Those of every state are kept (:class:`ResultStore`), and are there
    when it comes back, at the next opening too; a run does what is missing. While the user has it paused, nothing
    begins by itself. ``fault`` is a (sentence, details) that the user should see; ``turned``: what
    :attr:`is_running` or :attr:`is_paused` say has changed.
    """

    fault = Signal(str, str)
    finished = Signal()
    turned = Signal()

    def __init__(self, signals: SessionSignals, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._signals = signals
        self._settings = settings
        self._runners: list[Runner] = []
        self._running: dict[Job, Runner] = {}
        self._waiting: deque[Job] = deque()
        self._revision = -1
        self._known = self._done = self._total = 0
        self._begun = 0.0
        self._asked: int | tuple[int, ...] | None = None
        self._to_come: frozenset[int] = frozenset()
        self._is_paused = False
        self._is_wanted = False
        self._told = (False, False)
        self._store: ResultStore | None = None
        self._results: Mapping[Swap, AlternativeResult] = {}
        self._saved = 0
        self._save_at = 0.0
        self._loading: Job | None = None
        self._unsaved: dict[Job, tuple[ResultStore, list[AlternativeResult]]] = {}
        self._has_warned = False
        self._keeper = Runner(self)
        self._keeper.ended.connect(self._on_kept)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(DELAY_MS)
        self._timer.timeout.connect(self._start_by_itself)
        signals.document_changed.connect(self._on_document)
        signals.state_changed.connect(self._on_state)
        signals.estimate_changed.connect(self._on_estimate)
        signals.selection_changed.connect(self._on_selection)

    def toggle(self) -> None:
        """Switch whether evaluation begins by itself."""
        self._settings.evaluate_by_itself = not self._settings.evaluate_by_itself
        if self._settings.evaluate_by_itself:
            self._timer.start()

    def can_run(self) -> bool:
        """Whether there is something to evaluate."""
        document = self._signals.session.document
        return document is not None and document.is_recipe and self._signals.session.is_current

    @property
    def is_running(self) -> bool:
        """Whether alternatives are evaluated, or will be once what is kept of them has been read."""
        return bool(self._running) or self._is_wanted

    @property
    def is_paused(self) -> bool:
        return self._is_paused

    def can_pause(self) -> bool:
        """Whether there is something to pause or to go on with."""
        return self.is_running or self._is_paused

    @Slot()
    def toggle_pause(self) -> None:
        """Rest, with the results that are there, or go on with what is missing."""
        if self._is_paused:
            self._is_paused = False
            self._signals.work.end(WORK)
            self.evaluate(self._asked)
        elif self.is_running:
            self._is_paused = True
            self._halt()
            self._keep()
            self._show()
        self._tell()

    def _tell(self) -> None:
        """Say so where it runs, rests or is paused now and was not before."""
        now = (self.is_running, self._is_paused)
        if now != self._told:
            self._told = now
            self.turned.emit()

    # -- when -----------------------------------------------------------------------------------------------------

    @Slot()
    def _on_document(self) -> None:
        self.stop()
        self._store = None

    @Slot()
    def _on_state(self) -> None:
        if self._results is self._signals.session.results:
            return  # exported: the edits are those that they were
        self._halt()
        self._keep()
        self._store = None
        if self._is_paused:
            self._signals.work.show(WORK, "Paused: alternatives are not evaluated", is_paused=True)
        self._tell()

    @Slot()
    def _on_estimate(self) -> None:
        """Read what is kept of the state first, then begin."""
        session = self._signals.session
        if self._store is None and self.can_run() and session.document is not None:
            self._store = store = ResultStore(session.document, session.state)
            self._results, self._saved = session.results, 0
            self._loading = Job(lambda _: store.load(), about=session.revision)
            self._keeper.submit(self._loading)
        elif self._loading is None and self._settings.evaluate_by_itself:
            self._timer.start()

    @Slot()
    def _on_selection(self) -> None:
        """Begin with what is selected; of a long run it becomes the next."""
        chosen = self._signals.session.selection.operation
        if not self._running:
            if self._settings.evaluate_by_itself:
                self._timer.start()
        elif chosen in self._to_come and (chosen, 0) not in self._results and self._total - self._done > REORDER_FROM:
            self._timer.start()

    @Slot()
    def _start_by_itself(self) -> None:
        """All alternatives of a recipe of ordinary size; of a huge one those of the selected operation."""
        session = self._signals.session
        recipe = session.recipe
        if recipe is None or not session.is_current or self._is_paused or self._loading is not None:
            return
        total = sum(len(plans) for plans in recipe.alternatives.values())
        if self._running:
            self.evaluate(self._asked)
        elif total <= AUTOMATIC_LIMIT:
            self.evaluate(None)
        elif session.selection.operation is not None:
            self.evaluate((session.selection.operation,))

    def evaluate(self, argument: int | tuple[int, ...] | None = None) -> None:
        """Evaluate the alternatives of an operation, of several (a tuple), of all (None); known ones are left out."""
        session = self._signals.session
        recipe = session.recipe
        if recipe is None or not session.is_current:
            return
        self._halt()
        self._asked, self._is_paused = argument, False
        self._is_wanted = self._loading is not None
        if not self._is_wanted:
            asked = (argument,) if isinstance(argument, int) else sorted(recipe.alternatives)
            wanted = argument if isinstance(argument, tuple) else asked
            self._start(recipe, [operation for operation in wanted if operation in recipe.alternatives])
        self._tell()

    def _start(self, recipe: Recipe, wanted: list[int]) -> None:
        session = self._signals.session
        known: dict[int, list[Swap]] = {}
        for swap in session.results:
            known.setdefault(swap[0], []).append(swap)
        counts = {operation: len(recipe.alternatives[operation]) for operation in wanted}
        operations = [operation for operation in wanted if len(known.get(operation, ())) < counts[operation]]
        self._revision = session.revision
        self._total = sum(counts.values())
        self._known = self._done = sum(len(known.get(operation, ())) for operation in wanted)
        if not operations:
            return
        chosen = session.selection.operation
        self._begun = time.monotonic()
        timeline, verdict = session.timeline, session.verdict
        place = None if timeline is None or verdict is None else verdict_place(verdict, timeline)
        at_fault = () if timeline is None or place is None else makers(timeline, place)
        shown = () if chosen is None else (chosen,)
        early = evaluation_order(set(operations).intersection((*shown, *at_fault)), shown, at_fault)
        runs = [[operation] for operation in early]
        rest = list(evaluation_order(operations, shown, at_fault)[len(early) :])
        self._to_come = frozenset(operations) - frozenset(early)
        count = min(max(1, (os.cpu_count() or 1)), 4) if self._total - self._done > 16 else 1
        while len(self._runners) < count:
            runner = Runner(self, say=self._signals.message.emit)
            runner.part.connect(self._on_part)
            runner.ended.connect(self._on_ended)
            self._runners.append(runner)
        runs += shares(recipe, rest, max(count * TASKS_A_WORKER, self._total // LARGEST_SHARE))
        key = (os.getpid(), id(self), self._revision)
        overrides = session.state.overrides
        for run in runs:
            done = frozenset(swap for operation in run for swap in known.get(operation, ()))
            self._waiting.append(Job("evaluate", (key, share(recipe, run), overrides, done)))
        for _ in range(IN_HAND):
            for runner in self._runners[:count]:
                self._hand_out(runner)
        self._show()

    def _hand_out(self, runner: Runner) -> None:
        """The next task, if there is one, for a worker."""
        if self._waiting:
            job = self._waiting.popleft()
            self._running[job] = runner
            runner.submit(job)

    # -- what comes back ------------------------------------------------------------------------------------------

    def _show(self) -> None:
        text = f"{self._done:,} of {self._total:,} alternatives"
        done, total = self._done - self._known, self._total - self._known
        left = time_left_text(seconds_left(done, total, time.monotonic() - self._begun))
        text = f"Paused: {text}" if self._is_paused else ", ".join(filter(None, (text, left)))
        self._signals.work.show(WORK, text, self._done, self._total, self._is_paused)

    @Slot(object, object)
    def _on_part(self, job: Job, results: list[AlternativeResult]) -> None:
        if job not in self._running:
            return
        self._done = min(self._done + len(results), self._total)  # a process that died begins its share anew
        self._show()
        self._signals.session.add_results(self._revision, results)
        if time.monotonic() > self._save_at:
            self._keep()

    @Slot(object, str, object)
    def _on_ended(self, job: Job, outcome: str, payload: object) -> None:
        runner = self._running.pop(job, None)
        if runner is None:
            return
        if outcome not in ("done", "cancelled"):
            summary, details = failure_of(outcome, payload)
            self.stop()
            text = f"The alternatives could not be evaluated: {summary}"
            if details:
                self.fault.emit(text, details)
            else:
                self._signals.message.emit(text)
        self._hand_out(runner)
        if not self._running:
            self._signals.work.end(WORK)
            if len(self._results) <= AUTOMATIC_LIMIT:
                self._keep()
            self._tell()
            self.finished.emit()

    # -- what is kept ---------------------------------------------------------------------------------------------

    def _keep(self) -> None:
        """Have kept what has come in since the last time."""
        self._save_at = time.monotonic() + SAVE_SECONDS
        store = self._store
        if store is not None and len(self._results) > self._saved:
            results = list(self._results.values())
            self._saved = len(results)
            job = Job(lambda _: store.save(results))
            self._unsaved[job] = store, results
            self._keeper.submit(job)

    @Slot(object, str, object)
    def _on_kept(self, job: Job, outcome: str, payload: object) -> None:
        if job is self._loading:
            self._loading = None
            if isinstance(payload, list) and self._signals.session.add_results(cast(int, job.about), payload):
                self._saved = len(payload)
            if self._is_wanted:
                self.evaluate(self._asked)
            elif self._settings.evaluate_by_itself and not job.is_cancelled:
                self._timer.start()
        elif self._unsaved.pop(job, None) is not None and outcome == "failed" and not self._has_warned:
            self._has_warned = True
            self._signals.message.emit(
                f"Results cannot be kept for the next opening: {failure_of(outcome, payload)[0]}"
            )

    # -- the end --------------------------------------------------------------------------------------------------

    def _halt(self) -> None:
        """End the run; results that are there stay as long as their state is current."""
        self._timer.stop()
        self._waiting.clear()
        self._is_wanted = False
        running, self._running = self._running, {}
        for job, runner in running.items():
            runner.cancel(job)
        self._signals.work.end(WORK)

    @Slot()
    def stop(self) -> None:
        """End the run because the user says so, or because another file is open; nothing is paused any more."""
        self._halt()
        self._keep()
        self._is_paused = False
        if self._loading is not None:
            self._keeper.cancel(self._loading)
        self._tell()

    def close(self) -> None:
        """End the worker processes; what has come in is kept."""
        self.stop()
        for runner in self._runners:
            runner.close()
        self._runners.clear()
        self._keeper.close()
        for store, results in self._unsaved.values():
            with suppress(OSError):
                store.save(results)
        self._unsaved.clear()
