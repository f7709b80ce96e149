"""Why: the verdict taken apart, worked out beside the window, with links to what it names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QPoint, Qt, QTimer, QUrl, Slot
from PySide6.QtWidgets import QDockWidget, QTextBrowser, QVBoxLayout, QWidget

from tileview.analysis.diagnose import diagnose, levers_only
from tileview.analysis.diagnosis import Diagnosis
from tileview.core.estimated import Estimate
from tileview.model.recipe import Recipe
from tileview.present.why_parts import WhyOverflow, why_overflow
from tileview.qt.jobs.process import OnBase, Reporter
from tileview.qt.jobs.runner import Job, Runner, failure_of
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.plot.picture import Part
from tileview.qt.plot.picture_parts import PagePart
from tileview.qt.views.base import View, show_text_menu
from tileview.qt.views.why_text import page
from tileview.session.document import edited_recipe
from tileview.session.state import EditState

DELAY_MS = 150
MOST_OVERFLOWS = 4
"""Overflows that are taken apart; the rest are counted."""
_PAGE_WIDTH = 560
"""Pixels that a picture of the page is wide at least."""


class WhyView(View):
    """The diagnosis of the current state.

    Re-plans of a recipe's alternatives are part of it, so it is made in a worker process; for a timeline on a
    thread. A diagnosis of a state that was left meanwhile is dropped; the newest one is told to the others.
    """

    title = "Why"
    name = "why"

    def __init__(self, bridge: SessionSignals, parent: QWidget | None = None) -> None:
        super().__init__(bridge, parent)
        self._diagnosis: Diagnosis | None = None
        self._job: Job | None = None
        self._came_for: Path | None = None
        """The file for which the view has come to the front."""
        self._asked_of: Estimate | None = None
        """The estimate whose diagnosis is shown or being made."""
        self.browser = QTextBrowser(self)
        self.browser.setOpenLinks(False)
        self.browser.setFrameShape(QTextBrowser.Shape.NoFrame)
        self.browser.setAccessibleName("Diagnosis")
        self.browser.anchorClicked.connect(self.follow)
        self.browser.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.browser.customContextMenuRequested.connect(self._menu)
        self.lead_focus(self.browser)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.browser)
        self._runner = Runner(self, say=bridge.message.emit)
        self._runner.part.connect(self._on_part)
        self._runner.ended.connect(self._on_ended)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(DELAY_MS)
        self._timer.timeout.connect(self._start)

    @property
    def diagnosis(self) -> Diagnosis | None:
        """The diagnosis of the current state, None while it is not made."""
        return self._diagnosis

    def is_busy(self) -> bool:
        return self._timer.isActive() or self._job is not None

    # -- when -----------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        super().begin()
        if self.session.is_current:
            self.on_estimate()

    def on_document(self) -> None:
        self._forget()

    def on_state(self) -> None:
        if not (self.session.is_current and self.session.estimate is self._asked_of):
            self._forget()

    def on_estimate(self) -> None:
        self._timer.start()
        self._come_forward()

    def on_theme(self) -> None:
        self._show()

    def _come_forward(self) -> None:
        """Put the tab in front for a file that was opened just now and fails, or may. The focus stays where it is."""
        document, verdict = self.session.document, self.session.verdict
        if document is None or verdict is None or document.path == self._came_for:
            return
        self._came_for = document.path
        dock = self.parentWidget()
        while dock is not None and not isinstance(dock, QDockWidget):
            dock = dock.parentWidget()
        if dock is not None and verdict.fits is not True:
            dock.raise_()

    def _forget(self) -> None:
        self._timer.stop()
        if self._job is not None:
            self._runner.cancel(self._job)
            self._job = None
        self._take(None)

    @Slot()
    def _start(self) -> None:
        session = self.session
        estimate, recipe = session.estimate, session.recipe
        self._asked_of = estimate
        if estimate is None or not session.is_current:
            return
        if recipe is None:
            self._job = Job(partial(_diagnose, estimate), place=self.name)
        else:
            asked = (session.state, self._baseline(), levers_only(session.results))
            self._job = Job("diagnose", OnBase(session.file_recipe, asked), place=self.name)
        self._runner.submit(self._job)

    def _baseline(self) -> EditState | Recipe | None:
        """What growth is measured against: a state of this file, or another's recipe; None where it is the state in
        force.
        """
        session = self.session
        baseline = session.baseline
        if baseline is None or (baseline.state == session.state and baseline.document is session.document):
            return None
        if baseline.document is session.document:
            return baseline.state
        recipe = baseline.document.recipe
        return None if recipe is None else edited_recipe(recipe, baseline.state)

    @Slot(object, object)
    def _on_part(self, job: Job, payload: object) -> None:
        if job is self._job and isinstance(payload, Diagnosis):
            self._take(payload)

    @Slot(object, str, object)
    def _on_ended(self, job: Job, outcome: str, payload: object) -> None:
        if job is not self._job:
            return
        self._job = None
        if outcome == "done" and isinstance(payload, Diagnosis):
            self._take(payload)
        elif outcome != "cancelled":
            self._on_failed(*failure_of(outcome, payload))

    def _on_failed(self, summary: str, details: str) -> None:
        text = f"The diagnosis could not be made: {summary}"
        self.browser.setPlainText(text)
        if details:
            self.bridge.fault.emit(text, details)

    # -- what is shown --------------------------------------------------------------------------------------------

    def _take(self, diagnosis: Diagnosis | None) -> None:
        self._diagnosis = diagnosis
        timeline = self.session.timeline
        if diagnosis is not None and timeline is not None:
            self.session.tell_overflows(timeline, diagnosis.overflows)
        self._show()
        self.bridge.diagnosed.emit(diagnosis)

    def _show(self) -> None:
        if self._diagnosis is None:
            self.browser.setPlainText("" if self.session.document is None else "Looking for the cause …")
            return
        color = self.bridge.theme.accent
        self.browser.document().setDefaultStyleSheet(f"a {{ color: {color}; }} th {{ text-align: left; }}")
        self.browser.setHtml(
            page(
                self._diagnosis,
                self._names(),
                self.bridge.theme,
                self._overflows(),
                self.bridge.colours(),
                has_plans=self.session.recipe is not None,
            )
        )

    def _overflows(self) -> list[WhyOverflow]:
        diagnosis, session = self._diagnosis, self.session
        timeline = session.timeline
        if diagnosis is None or timeline is None or not diagnosis.overflows:
            return []
        shown = diagnosis.overflows[:MOST_OVERFLOWS]
        return [why_overflow(timeline, one, diagnosis.reliefs, session.recipe) for one in shown]

    def _names(self) -> dict[int, str]:
        graph, timeline = self.session.graph, self.session.timeline
        if graph is not None:
            return graph.kind_names()
        steps = () if timeline is None else timeline.steps
        return {step.source: step.kind for step in steps if step.source is not None}

    @Slot(QUrl)
    def follow(self, url: QUrl) -> None:
        """Do what a link says; the links are made in this program, names in them are numbers."""
        kind, *rest = url.toString().split(":")
        session = self.session
        if kind == "op":
            session.select_operation(int(rest[0]))
        elif kind == "root":
            session.select_allocation(int(rest[0]))
        elif kind == "place":
            session.select(replace(session.selection, step=int(rest[0]), tiles=(int(rest[1]),)))
        elif kind == "swap":
            session.swap(int(rest[0]), int(rest[1]))
        elif kind == "view":
            self.bridge.requested.emit("show_view", rest[0])
        elif kind == "do":
            self.bridge.requested.emit(rest[0], None)

    def text(self) -> str:
        """The page as plain text."""
        return self.browser.toPlainText()

    @Slot(QPoint)
    def _menu(self, position: QPoint) -> None:
        show_text_menu(self, self.browser, position)

    def picture_parts(self, whole: bool = False) -> Sequence[Part]:
        return (PagePart(self.browser, max(self.browser.viewport().width(), _PAGE_WIDTH)),)

    def shut_down(self) -> None:
        self._timer.stop()
        self._job = None
        self._runner.close()


def _diagnose(estimate: Estimate, _reporter: Reporter) -> Diagnosis:
    return diagnose(estimate.verdict, estimate.timeline)
