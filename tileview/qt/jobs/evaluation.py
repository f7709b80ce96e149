"""Every alternative evaluated in the background: worker processes, results streaming into the session."""

from __future__ import annotations

import os
from collections import deque

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from tileview.analysis.alternatives import AlternativeResult
from tileview.model.recipe import Recipe
from tileview.qt.base.command import Command
from tileview.qt.base.settings import Settings
from tileview.qt.jobs.processes import Task, Worker, failure_of
from tileview.qt.jobs.session_signals import Bridge
from tileview.qt.jobs.worker_evaluate import share
from tileview.qt.window.status import Work

AUTOMATIC_LIMIT = 3000
"""More alternatives than this are evaluated only for the selected operation, unless asked for."""
DELAY_MS = 250
"""How long the window rests after an estimate before the background work begins."""
TASKS_A_WORKER = 6
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


class Evaluation(QObject):
    """Evaluates the alternatives of the state in force.

    A run belongs to one revision of the session; any edit ends it. The selected operation comes first. Results of a run
    that was overtaken are dropped by the session. ``fault`` is a (sentence, details) that the user should see.
    """

    fault = Signal(str, str)
    finished = Signal()

    def __init__(self, bridge: Bridge, settings: Settings, work: Work, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._settings = settings
        self._work = work
        self._workers: list[Worker] = []
        self._running: dict[Task, Worker] = {}
        self._waiting: deque[Task] = deque()
        self._revision = -1
        self._done = 0
        self._total = 0
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(DELAY_MS)
        self._timer.timeout.connect(self._start_by_itself)
        bridge.document_changed.connect(self.stop)
        bridge.state_changed.connect(self.stop)
        bridge.estimate_changed.connect(self._on_estimate)
        bridge.selection_changed.connect(self._on_selection)

    def commands(self) -> tuple[Command, ...]:
        return (
            Command("evaluate_alternatives", "&Evaluate all alternatives", "Plan", self._asked, ("Ctrl+R",),
                    "Work out peak and verdict of every alternative in the background", self._has_alternatives,
                    icon="run"),
            Command("evaluate_by_itself", "Evaluate &automatically", "Plan", self._toggle, (),
                    "Begin in the background as soon as an estimate is there",
                    checked=lambda: self._settings.evaluate_by_itself),
        )  # fmt: skip

    def _toggle(self, _argument: object) -> None:
        self._settings.evaluate_by_itself = not self._settings.evaluate_by_itself
        if self._settings.evaluate_by_itself:
            self._timer.start()

    def _has_alternatives(self) -> bool:
        document = self._bridge.session.document
        return document is not None and document.is_recipe and self._bridge.session.is_current

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
        session = self._bridge.session
        recipe = session.recipe
        if recipe is None or not session.is_current or self._running:
            return
        total = sum(len(plans) for plans in recipe.alternatives.values())
        if total <= AUTOMATIC_LIMIT:
            self.evaluate(None)
        elif session.selection.operation is not None:
            self.evaluate((session.selection.operation,))

    def _asked(self, argument: object) -> None:
        self.evaluate(argument if isinstance(argument, int | tuple) else None)

    def evaluate(self, argument: int | tuple[int, ...] | None = None) -> None:
        """Evaluate the alternatives of an operation, of several (a tuple), of all (None); known ones are left out."""
        session = self._bridge.session
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
        session = self._bridge.session
        self._revision = session.revision
        self._done = 0
        self._total = sum(len(recipe.alternatives[operation]) for operation in operations)
        chosen = session.selection.operation
        runs = [[chosen]] if chosen in operations and chosen is not None else []
        rest = [operation for operation in operations if operation != chosen]
        count = min(max(1, (os.cpu_count() or 1)), 4) if self._total > 16 else 1
        while len(self._workers) < count:
            worker = Worker(self)
            worker.part.connect(self._on_part)
            worker.ended.connect(self._on_ended)
            self._workers.append(worker)
        runs += shares(recipe, rest, count * TASKS_A_WORKER)
        key = (os.getpid(), id(self), self._revision)
        overrides = session.state.overrides
        self._waiting.extend(Task("evaluate", (key, share(recipe, tuple(run)), overrides)) for run in runs)
        for _ in range(IN_HAND):
            for worker in self._workers[:count]:
                self._hand_out(worker)
        self._show()

    def _hand_out(self, worker: Worker) -> None:
        """The next task, if there is one, for a worker."""
        if self._waiting:
            task = self._waiting.popleft()
            self._running[task] = worker
            worker.submit(task)

    # -- what comes back ------------------------------------------------------------------------------------------

    def _show(self) -> None:
        text = f"{self._done:,} of {self._total:,} alternatives"
        self._work.show_work(WORK, text, self._done, self._total)

    @Slot(object, object)
    def _on_part(self, task: Task, results: list[AlternativeResult]) -> None:
        if task not in self._running:
            return
        self._done += len(results)
        self._show()
        self._bridge.session.add_results(self._revision, results)

    @Slot(object, str, object)
    def _on_ended(self, task: Task, outcome: str, payload: object) -> None:
        worker = self._running.pop(task, None)
        if worker is None:
            return
        if outcome in ("failed", "lost", "refused"):
            summary, details = failure_of(outcome, payload)
            self.stop()
            self.fault.emit(f"The alternatives could not be evaluated: {summary}", details)
        self._hand_out(worker)
        if not self._running:
            self._work.end_work(WORK)
            self.finished.emit()

    @Slot()
    def stop(self) -> None:
        """End the run; results that are there stay as long as their state is in force."""
        self._timer.stop()
        self._waiting.clear()
        running, self._running = self._running, {}
        for task, worker in running.items():
            worker.cancel(task)
        if running:
            self._work.end_work(WORK)

    def close(self) -> None:
        """End the worker processes."""
        self.stop()
        for worker in self._workers:
            worker.close()
        self._workers.clear()
