"""Keeps the session's estimate current: asks the estimator after each edit, publishes what comes back."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot

from tileview.qt.jobs.estimator import Estimator, Failure
from tileview.qt.jobs.session_signals import Bridge
from tileview.qt.jobs.why import Study
from tileview.qt.window.status import Work
from tileview.session.document import Document
from tileview.session.estimate import EstimateJob, EstimateResult
from tileview.session.session import Pin
from tileview.session.state import EditState

COMPARED = "compared file"
READING = "steps"


class Estimates(QObject):
    """Ties a session to an :class:`Estimator`.

    ``took`` says how many milliseconds the estimate in force needed; ``fault`` reports one that could not be
    computed (sentence, details); ``compared`` a document whose estimate now stands among the pins.
    """

    took = Signal(float)
    fault = Signal(str, str)
    compared = Signal(object)

    def __init__(self, bridge: Bridge, work: Work, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._work = work
        self.estimator = Estimator(self)
        self.estimator.finished.connect(self._on_finished)
        self.estimator.failed.connect(self._on_failed)
        self.estimator.finished_aside.connect(self._on_aside)
        self.estimator.failed_aside.connect(self._on_aside_failed)
        self.estimator.reading.connect(self._on_reading)
        self.estimator.busy_changed.connect(self._on_busy)
        self.study = Study(bridge, work, self)
        self.study.renewed.connect(self.ask)
        bridge.document_changed.connect(self._ask_soon)
        bridge.state_changed.connect(self._ask_soon)
        bridge.quiet.is_engaged = self._is_engaged

    def _is_engaged(self) -> bool:
        return self.estimator.is_busy

    @Slot()
    def _ask_soon(self) -> None:
        self._bridge.quiet.add(self.ask, is_first=True)

    @Slot()
    def ask(self) -> None:
        """Have computed what the session lacks."""
        job = self._bridge.session.job()
        if job is not None:
            self.estimator.request(job)

    def compare(self, document: Document) -> None:
        """Estimate another document as its file has it, and pin it under its name."""
        self.estimator.request_aside(EstimateJob(0, document, EditState()), COMPARED)

    def compare_swap(self, operation: int, alternative: int) -> None:
        """Estimate the state in force with one more swap, and pin it."""
        session = self._bridge.session
        document = session.document
        if document is not None:
            state = session.state.with_swap(operation, alternative)
            job = EstimateJob(0, document, state)
            self.estimator.request_aside(job, f"operation {operation}, alternative {alternative}")

    @Slot(int, int)
    def _on_reading(self, done: int, count: int) -> None:
        self._work.show_work(READING, f"Reading step {done:,} of {count:,}", done, count)

    @Slot(bool)
    def _on_busy(self, busy: bool) -> None:
        if not busy:
            self._work.end_work(READING)

    @Slot(object, float)
    def _on_finished(self, result: EstimateResult, milliseconds: float) -> None:
        if self._bridge.session.publish(result):
            self.took.emit(milliseconds)
        else:
            self.ask()

    @Slot(object)
    def _on_failed(self, failure: Failure) -> None:
        if failure.job.revision == self._bridge.session.revision:
            self.fault.emit(failure.summary, failure.details)

    @Slot(object, object)
    def _on_aside(self, result: EstimateResult, tag: object) -> None:
        session = self._bridge.session
        name = result.document.name if tag == COMPARED else str(tag)
        session.add_pin(Pin(name, result.document, result.state, result.estimate))
        self.compared.emit(result.document)

    @Slot(object, object)
    def _on_aside_failed(self, failure: Failure, _tag: object) -> None:
        self.fault.emit(f"{failure.job.document.name}: {failure.summary}", failure.details)

    def close(self) -> None:
        self.study.close()
        self.estimator.close()
