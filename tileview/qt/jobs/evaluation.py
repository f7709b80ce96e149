"""Every alternative evaluated in the background: worker processes, results streaming into the session."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from tileview.analysis.alternatives import AlternativeResult, evaluation_order, seconds_left, time_left_text
from tileview.analysis.diagnose import verdict_place
from tileview.analysis.relief import makers
from tileview.model.recipe import Recipe
from tileview.qt.base.settings import Settings
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
    that was overtaken are dropped by the session. ``fault`` is a (sentence, details) that the user should see.
    """

    fault = Signal(str, str)
    finished = Signal()

    def __init__(self, signals: SessionSignals, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._signals = signals
        self._settings = settings
        self._runners: list[Runner] = []
        self._running: dict[Job, Runner] = {}
        self._waiting: deque[Job] = deque()
        self._revision = -1
        self._done = 0
        self._total = 0
        self._begun = 0.0
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(DELAY_MS)
        self._timer.timeout.connect(self._start_by_itself)
        signals.document_changed.connect(self.stop)
        signals.state_changed.connect(self.stop)
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
        return bool(self._running)

    # -- when -----------------------------------------------------------------------------------------------------

    @Slot()
    def _on_estimate(self) -> None:
        if self._settings.evaluate_by_itself:
            self._timer.start()

    @Slot()
    def _on_selection(self) -> None:
        if self._settings.evaluate_by_itself and not self._running:
            self._timer.start()

    @Slot()
    def _start_by_itself(self) -> None:
        """All alternatives of a recipe of ordinary size; of a huge one those of the selected operation."""
        session = self._signals.session
        recipe = session.recipe
        if recipe is None or not session.is_current or self._running:
            return
        total = sum(len(plans) for plans in recipe.alternatives.values())
        if total <= AUTOMATIC_LIMIT:
            self.evaluate(None)
        elif session.selection.operation is not None:
            self.evaluate((session.selection.operation,))

    def evaluate(self, argument: int | tuple[int, ...] | None = None) -> None:
        """Evaluate the alternatives of an operation, of several (a tuple), of all (None); known ones are left out."""
        session = self._signals.session
        recipe = session.recipe
        if recipe is None or not session.is_current:
            return
        if argument is None:
            wanted = sorted(recipe.alternatives)
        else:
            asked = (argument,) if isinstance(argument, int) else argument
            wanted = [operation for operation in asked if operation in recipe.alternatives]
        known = session.results
        missing = [
            operation
            for operation in wanted
            if any((operation, index) not in known for index in range(len(recipe.alternatives.get(operation, ()))))
        ]
        self.stop()
        if missing:
            self._start(recipe, missing)

    def _start(self, recipe: Recipe, operations: list[int]) -> None:
        session = self._signals.session
        self._revision = session.revision
        self._done = 0
        self._total = sum(len(recipe.alternatives[operation]) for operation in operations)
        chosen = session.selection.operation
        self._begun = time.monotonic()
        timeline, verdict = session.timeline, session.verdict
        place = None if timeline is None or verdict is None else verdict_place(verdict, timeline)
        at_fault = () if timeline is None or place is None else makers(timeline, place)
        shown = () if chosen is None else (chosen,)
        early = evaluation_order(set(operations).intersection((*shown, *at_fault)), shown, at_fault)
        runs = [[operation] for operation in early]
        rest = list(evaluation_order(operations, shown, at_fault)[len(early) :])
        count = min(max(1, (os.cpu_count() or 1)), 4) if self._total > 16 else 1
        while len(self._runners) < count:
            runner = Runner(self, say=self._signals.message.emit)
            runner.part.connect(self._on_part)
            runner.ended.connect(self._on_ended)
            self._runners.append(runner)
        runs += shares(recipe, rest, max(count * TASKS_A_WORKER, self._total // LARGEST_SHARE))
        key = (os.getpid(), id(self), self._revision)
        overrides = session.state.overrides
        self._waiting.extend(Job("evaluate", (key, share(recipe, run), overrides)) for run in runs)
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
        left = time_left_text(seconds_left(self._done, self._total, time.monotonic() - self._begun))
        text = ", ".join(filter(None, (f"{self._done:,} of {self._total:,} alternatives", left)))
        self._signals.work.show(WORK, text, self._done, self._total)

    @Slot(object, object)
    def _on_part(self, job: Job, results: list[AlternativeResult]) -> None:
        if job not in self._running:
            return
        self._done = min(self._done + len(results), self._total)  # a process that died begins its share anew
        self._show()
        self._signals.session.add_results(self._revision, results)

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
            self.finished.emit()

    @Slot()
    def stop(self) -> None:
        """End the run; results that are there stay as long as their state is current."""
        self._timer.stop()
        self._waiting.clear()
        running, self._running = self._running, {}
        for job, runner in running.items():
            runner.cancel(job)
        if running:
            self._signals.work.end(WORK)

    def close(self) -> None:
        """End the worker processes."""
        self.stop()
        for runner in self._runners:
            runner.close()
        self._runners.clear()
