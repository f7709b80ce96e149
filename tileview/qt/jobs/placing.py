"""Placement in the background: after an estimate is shown its program is placed, then the plans that are looked at."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from tileview.analysis.alternatives import AlternativeResult
from tileview.core.placement.ranges import Preset
from tileview.qt.base.settings import Settings
from tileview.qt.jobs.place_tasks import PlaceOrder
from tileview.qt.jobs.process import OnBase
from tileview.qt.jobs.runner import Job, Runner, failure_of
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.session.edits import EditState
from tileview.session.placements import PlacementResult, default_ranges, preset_from_json, preset_to_json

WORK = "placement"
DELAY_MS = 60
"""How long the window rests before something is placed: while a key is held down nothing is."""
MOST_ALTERNATIVES = 24
"""Other plans of the selected operation that are placed unasked, and of all others together, those with the lowest
peaks first: each may take as long as the program itself."""
SWITCHED_OFF = "placing is not automatic (Plan, Place now)"
STOPPED = "placing was stopped (Plan, Place now)"

_PROGRAM, _PLANS, _NEEDS = "place", "place alternatives", "place needs"


class Placing(QObject):
    """Places the current state of one window, then other plans in the memory that is looked at; newest wins.

    An edit ends what runs. ``fault`` is a (sentence, details) that the user should see.
    """

    fault = Signal(str, str)

    def __init__(self, signals: SessionSignals, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._signals = signals
        self._settings = settings
        self._job: Job | None = None
        self._kept: tuple[Path, Preset] | None = None
        self._wanted: tuple[EditState, ...] = ()
        self._runner = Runner(self, say=signals.message.emit)
        self._runner.part.connect(self._on_part)
        self._runner.ended.connect(self._on_ended)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(DELAY_MS)
        self._timer.timeout.connect(self._start)
        signals.document_changed.connect(self._open)
        signals.placement_changed.connect(self._keep_memory)
        signals.state_changed.connect(self._forget)
        signals.needs_wanted.connect(self._want)
        signals.estimate_changed.connect(self._timer.start)
        signals.selection_changed.connect(self._timer.start)
        signals.placement_changed.connect(self._timer.start)
        signals.alternatives_changed.connect(self._timer.start)

    @property
    def is_busy(self) -> bool:
        return self._job is not None

    def toggle(self) -> None:
        """Switch whether placing begins by itself."""
        self._settings.place_by_itself = not self._settings.place_by_itself
        if self._settings.place_by_itself:
            self.place()

    def can_run(self) -> bool:
        """Whether there is something to place."""
        session = self._signals.session
        return session.file_recipe is not None and session.is_current and session.timeline is not None

    def place(self) -> None:
        """Place the current state, whether or not that is automatic."""
        self._forget()
        if self.can_run():
            self._submit_program()

    # -- the memory of a file ---------------------------------------------------------------------------------------

    @Slot()
    def _open(self) -> None:
        """Look at the memory again that was chosen for this file before."""
        self._forget()
        session = self._signals.session
        recipe, document = session.file_recipe, session.document
        if recipe is not None and document is not None:
            kept = self._settings.memory(document.path)
            session.set_ranges(preset_from_json(kept, recipe.config.reserve_bytes))

    @Slot()
    def _keep_memory(self) -> None:
        session = self._signals.session
        recipe, document = session.file_recipe, session.document
        if recipe is None or document is None or self._kept == (document.path, session.ranges):
            return
        self._kept = document.path, session.ranges
        usual = session.ranges == default_ranges(recipe.config.reserve_bytes)
        self._settings.keep_memory(document.path, {} if usual else preset_to_json(session.ranges))

    # -- when -----------------------------------------------------------------------------------------------------

    @Slot()
    def _forget(self) -> None:
        """End what runs: its answer is no longer wanted."""
        self._timer.stop()
        job, self._job = self._job, None
        if job is not None:
            self._runner.cancel(job)
            self._signals.work.end(WORK)

    @Slot()
    def stop(self) -> None:
        """End what runs because the user says so; nothing is placed before the next edit."""
        if self._job is not None and self._job.work == _PROGRAM:
            self._tell_unknown(STOPPED)
        self._forget()

    @Slot()
    def _start(self) -> None:
        """Begin with what is wanted most, if it is not under way."""
        session = self._signals.session
        if not self.can_run():
            return
        running = None if self._job is None else self._job.work
        stale = self._job is not None and self._job.about != (session.revision, session.ranges)
        if session.wants_placing:
            if running == _PROGRAM and not stale:
                return
            self._forget()
            if self._settings.place_by_itself or session.placement is not None:
                self._submit_program()
            else:
                self._tell_unknown(SWITCHED_OFF)
        elif running is None and self._settings.place_by_itself and session.placement and not self._submit_needs():
            self._submit_plans()

    def _submit_program(self) -> None:
        session = self._signals.session
        fits = session.verdict is not None and bool(session.verdict.fits)
        order = PlaceOrder(session.revision, session.state, session.ranges, fits, session.placement)
        self._submit(_PROGRAM, order, "Placing the tiles' allocations")

    @Slot(object)
    def _want(self, states: tuple[EditState, ...]) -> None:
        """Work out next in how much memory these states are placed."""
        if states != self._wanted:
            self._wanted = states
            self._timer.start()

    def _submit_needs(self) -> bool:
        """What the view of memory against cycles waits for; False where that is nothing."""
        session = self._signals.session
        known = session.needs()
        missing = tuple(state for state in self._wanted if state not in known)
        if missing:
            # few at a time: an edit or another scope comes next
            self._submit(_NEEDS, (session.ranges, missing[:4]), f"Looking for the memory that {len(missing):,} need")
        return bool(missing)

    def _submit_plans(self) -> None:
        """The selected operation's plans that fit, then the best of the others."""
        session = self._signals.session
        fitting = sorted((result for result in session.results.values() if result.fits), key=_by_peak)
        selected = session.selection.operation
        own = [(one.operation, one.alternative) for one in fitting if one.operation == selected]
        others = [(one.operation, one.alternative) for one in fitting if one.operation != selected]
        wanted = (*own[:MOST_ALTERNATIVES], *others[:MOST_ALTERNATIVES])
        missing = tuple(choice for choice in wanted if not session.is_placed_known(*choice))
        if missing:
            # few at a time: a selection made meanwhile comes next
            share = tuple(choice for choice in missing if choice[0] == missing[0][0])[:4]
            self._submit(_PLANS, (session.state, session.ranges, share), f"Placing {len(missing):,} alternatives")

    def _submit(self, kind: str, asked: object, text: str) -> None:
        session = self._signals.session
        about = (session.revision, session.ranges)
        self._job = Job(kind, OnBase(session.file_recipe, asked), about=about, place=WORK)
        self._runner.submit(self._job)
        self._signals.work.show(WORK, text)

    # -- what comes back ------------------------------------------------------------------------------------------

    @Slot(object, object)
    def _on_part(self, job: Job, payload: object) -> None:
        if job is not self._job:
            return
        session = self._signals.session
        if isinstance(payload, PlacementResult):
            session.publish_placement(payload)
        elif isinstance(payload, dict):
            revision, ranges = cast(tuple[int, Preset], job.about)
            if job.work == _NEEDS:
                session.add_needs(ranges, payload)
            else:
                session.add_placed(revision, ranges, payload)

    @Slot(object, str, object)
    def _on_ended(self, job: Job, outcome: str, payload: object) -> None:
        if job is not self._job:
            return
        self._job = None
        self._signals.work.end(WORK)
        if outcome == "done":
            if isinstance(payload, PlacementResult):
                self._signals.session.publish_placement(payload)
            self._timer.start()
            return
        if outcome == "cancelled":
            return
        summary, details = failure_of(outcome, payload)
        self._tell_unknown(summary.rstrip("."))
        if details:
            self.fault.emit(f"The program could not be placed: {summary}", details)

    def _tell_unknown(self, why: str) -> None:
        session = self._signals.session
        session.publish_placement(
            PlacementResult(session.revision, session.state, session.placement, session.placed, why)
        )

    def close(self) -> None:
        """End the worker process."""
        self._forget()
        self._runner.close()


def _by_peak(result: AlternativeResult) -> tuple[int, int, int]:
    total = None if result.peak is None else result.peak.total
    return total if isinstance(total, int) else 1 << 64, result.operation, result.alternative
