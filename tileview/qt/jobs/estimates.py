"""Keeps the session's estimate current: computes it beside the window after each edit, publishes what comes back."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, Signal, Slot

from tileview.core.lowering.replanner import Replanner
from tileview.core.memory.file_tiles import FileNumbers
from tileview.present.ahead import find_ahead
from tileview.qt.jobs.loading import StepsReader
from tileview.qt.jobs.pacing import takes_turns
from tileview.qt.jobs.process import Reporter
from tileview.qt.jobs.runner import Job, Runner, failure_of
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.session.document import Document
from tileview.session.edits import EditState
from tileview.session.estimate_jobs import EstimateJob, EstimateResult
from tileview.session.session import Pin

READ_HERE = 1 << 20
"""Numbers per tile that are read before a file is shown; where there are more, a process reads them meanwhile."""
SCANNED_AT_ONCE = 100
"""Steps of a file that are read between two looks at what is wanted."""
NEWEST = "estimate"
READING = "steps"


class Estimates(QObject):
    """Computes the estimates that a session asks for, and those of states to be compared.

    While keys are held down only the newest state is computed; estimates of compared states wait for it, and each of
    them is computed. ``took`` says how many milliseconds the current estimate needed; ``fault`` reports one that could
    not be computed (sentence, details); ``compared`` a document whose estimate now stands among the pins.
    """

    took = Signal(float)
    fault = Signal(str, str)
    compared = Signal(object)

    def __init__(self, signals: SessionSignals, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._signals = signals
        self._planned_for: Document | None = None
        self._replanner: Replanner | None = None
        self._runner = Runner(self)
        self._runner.progress.connect(self._on_reading)
        self._runner.ended.connect(self._on_ended)
        self.steps_reader = StepsReader(signals, self)
        self.steps_reader.renewed.connect(self.ask)
        signals.document_changed.connect(self._ask_soon)
        signals.state_changed.connect(self._ask_soon)
        signals.quiet.is_engaged = self._is_engaged

    def _is_engaged(self) -> bool:
        return self._runner.is_busy

    @Slot()
    def _ask_soon(self) -> None:
        self._signals.quiet.add(self.ask, is_first=True)

    @Slot()
    def ask(self) -> None:
        """Have computed what the session lacks."""
        wanted = self._signals.session.job()
        if wanted is not None:
            self._runner.submit(Job(partial(self._compute, wanted), about=wanted, place=NEWEST, is_first=True))

    def compare(self, document: Document) -> None:
        """Estimate another document as its file has it, and pin it under its name."""
        self._compare(document, EditState(), document.name)

    def compare_swap(self, operation: int, alternative: int) -> None:
        """Estimate the current state with one more swap, and pin it."""
        session = self._signals.session
        if session.document is not None:
            state = session.state.with_swap(operation, alternative)
            self._compare(session.document, state, f"operation {operation}, alternative {alternative}")

    def compare_fusion(self, fusion: bool) -> None:
        """Estimate the current state with or without the compiler's fusions, and pin it."""
        session = self._signals.session
        if session.document is not None:
            overrides = replace(session.state.overrides, fusion=fusion)
            name = "with fusions" if fusion else "without fusions"
            self._compare(session.document, session.state.with_overrides(overrides), name)

    def _compare(self, document: Document, state: EditState, name: str) -> None:
        wanted = EstimateJob(0, document, state)
        self._runner.submit(Job(partial(self._compute_aside, wanted), payload=name, about=wanted))

    # -- on the thread ------------------------------------------------------------------------------------------------

    def _compute(self, wanted: EstimateJob, reporter: Reporter) -> tuple[EstimateResult, float]:
        if wanted.document is not self._planned_for:
            self._planned_for = wanted.document
            self._replanner = Replanner()
        started = time.perf_counter()
        try:
            result = wanted.run(self._replanner)
            self._read_steps(result, reporter, may_defer=True)
            timeline = result.estimate.timeline
            if timeline is not None and takes_turns(timeline, may_wait=True):
                find_ahead(timeline, has_graph=wanted.document.graph is not None)
        except Exception:
            self._replanner = Replanner()
            raise
        return result, (time.perf_counter() - started) * 1000.0

    def _compute_aside(self, wanted: EstimateJob, reporter: Reporter) -> tuple[EstimateResult, float]:
        result = wanted.run(None)
        self._read_steps(result, reporter)
        return result, 0.0

    def _read_steps(self, result: EstimateResult, reporter: Reporter, may_defer: bool = False) -> None:
        """Have the fullest tile of every step at hand before views ask for it.

        The per-tile arrays of a file are read here, some steps at a time: in the window's thread that would take
        seconds. Those of a large one are left to a process, where ``may_defer``: a parser of numbers holds the
        interpreter's lock. Ends early where another estimate is wanted.
        """
        timeline = result.estimate.timeline
        if timeline is None or not isinstance(timeline.tiles, FileNumbers):
            return
        numbers = timeline.tiles
        if may_defer and numbers.numbers > READ_HERE:
            numbers.defer()
            return
        count = len(timeline.steps)
        for done in range(0, count, SCANNED_AT_ONCE):
            if reporter.stopped() or self._runner.is_awaited or numbers.scan(SCANNED_AT_ONCE):
                return
            if done >= SCANNED_AT_ONCE:
                reporter.progress(min(done + SCANNED_AT_ONCE, count), count)

    # -- what comes back ----------------------------------------------------------------------------------------------

    @Slot(object, object)
    def _on_reading(self, _job: Job, payload: tuple[int, int, str]) -> None:
        done, count, _ = payload
        self._signals.work.show(READING, f"Reading step {done:,} of {count:,}", done, count)

    @Slot(object, str, object)
    def _on_ended(self, job: Job, outcome: str, payload: object) -> None:
        self._signals.work.end(READING)
        wanted = job.about
        assert isinstance(wanted, EstimateJob)
        session = self._signals.session
        if outcome == "done" and isinstance(payload, tuple):
            result, milliseconds = payload
            if job.place != NEWEST:
                session.add_pin(Pin(str(job.payload), wanted.document, result.state, result.estimate))
                self.compared.emit(wanted.document)
            elif session.publish(result):
                self.took.emit(milliseconds)
            else:
                self.ask()
        elif outcome != "cancelled":
            summary, details = failure_of(outcome, payload)
            if job.place != NEWEST:
                self.fault.emit(f"{wanted.document.name}: {summary}", details)
            elif wanted.revision == session.revision:
                known = "" if outcome == "refused" else "The estimate could not be computed: "
                self.fault.emit(f"{known}{summary}", details)

    def close(self) -> None:
        self.steps_reader.close()
        self._runner.close()
