"""Help > Explain a compiler message…: what a pasted sentence means for the open files, its places as links."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QUrl, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from tileview.analysis.messages import Explanation, explain, find_message
from tileview.model.placement import TileDump
from tileview.model.timeline import Timeline
from tileview.qt.base.text import page_text
from tileview.qt.jobs.process import OnBase, Reporter
from tileview.qt.jobs.runner import Job, Runner, failure_of
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.session.session import linked_timeline

EXAMPLE = "tile 612 has insufficient Ipu21Standard SRAM for 82944 bytes"
_PLACES = re.compile(r"\b(tile|step|operation) (\d{1,9})\b")


def linked(text: str) -> str:
    """A sentence as part of a page: its tiles, steps and operations are links."""
    return _PLACES.sub(lambda found: f'<a href="{found[1]}:{found[2]}">{found[0]}</a>', page_text(text))


class ExplainDialog(QDialog):
    """Stays open beside the window, so that its links can be followed. The recipe is asked in a worker process."""

    def __init__(self, signals: SessionSignals, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("explain")
        self.setWindowTitle("Explain a compiler message")
        self._signals = signals
        self._session = signals.session
        self._findings: list[tuple[str, tuple[str, ...]]] = []
        self._meaning: tuple[str, ...] = ()
        self._jobs: list[Job] = []
        self._runner = Runner(self, keep=False, say=signals.message.emit)
        self._runner.ended.connect(self._on_ended)
        self._build()
        signals.document_changed.connect(self._forget)
        signals.state_changed.connect(self._forget)
        signals.theme_changed.connect(self._show)

    def _build(self) -> None:
        self.text = QPlainTextEdit(self)
        self.text.setAccessibleName("Message")
        self.text.setPlaceholderText(f"Paste a sentence or a whole log, such as: {EXAMPLE}")
        self.text.setTabChangesFocus(True)
        self.text.setMaximumHeight(self.fontMetrics().height() * 6)
        self.text.textChanged.connect(self._typed)
        label = QLabel("What the compiler &wrote", self)
        label.setBuddy(self.text)
        self.page = QTextBrowser(self)
        self.page.setAccessibleName("Explanation")
        self.page.setOpenLinks(False)
        self.page.anchorClicked.connect(self.follow)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        self.button = QPushButton("&Explain", self)
        self.button.setDefault(True)
        self.button.clicked.connect(self.explain)
        buttons.addButton(self.button, QDialogButtonBox.ButtonRole.ActionRole)
        column = QVBoxLayout(self)
        for widget in (label, self.text, self.page, buttons):
            column.addWidget(widget)
        self.resize(self.fontMetrics().averageCharWidth() * 100, self.fontMetrics().height() * 32)
        self._typed()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.text.setFocus()

    @Slot()
    def _typed(self) -> None:
        is_there = bool(self.text.toPlainText().strip())
        self.button.setEnabled(is_there)
        self.button.setToolTip("" if is_there else "Paste the message first")

    @property
    def is_busy(self) -> bool:
        return bool(self._jobs)

    @Slot()
    def explain(self) -> None:
        """Say what the message means, then what each open file says of it."""
        self._forget()
        text, session = self.text.toPlainText(), self._session
        self._meaning = explain(text).meaning
        timelines: list[tuple[str, Timeline]] = []
        dumps: list[tuple[str, TileDump]] = []
        document, beside = session.document, session.address_document
        if session.recipe is None and session.timeline is not None and document is not None:
            timelines.append((document.name, session.timeline))
        other = linked_timeline(session)
        if session.linked is not None and other is not None:
            timelines.append((session.linked.name, other))
        if beside is not None and isinstance(beside.addresses, TileDump):
            dumps.append((beside.name, beside.addresses))
        if session.file_recipe is not None and document is not None:
            asked = (session.state, document.name, text)
            self._submit(Job("explain", OnBase(session.file_recipe, asked)))
        if timelines or dumps:
            self._submit(Job(partial(_explain_files, text, timelines, dumps)))
        self._show()

    def _submit(self, job: Job) -> None:
        self._jobs.append(job)
        self._runner.submit(job)

    @Slot()
    def _forget(self) -> None:
        for job in self._jobs:
            self._runner.cancel(job)
        self._jobs, self._findings = [], []

    @Slot(object, str, object)
    def _on_ended(self, job: Job, outcome: str, payload: object) -> None:
        if job not in self._jobs:
            return
        self._jobs.remove(job)
        if isinstance(payload, Explanation):
            self._findings += payload.findings
        elif outcome != "cancelled":
            self._findings.append(("", (f"This message cannot be explained: {failure_of(outcome, payload)[0]}",)))
        self._show()

    @Slot()
    def _show(self) -> None:
        if not self._meaning:
            return
        self.page.document().setDefaultStyleSheet(f"a {{ color: {self._signals.theme.accent}; }}")
        parts = [f"<p>{page_text(one)}</p>" for one in self._meaning]
        for name, lines in self._findings:
            parts.append(f"<h4>{page_text(name)}</h4>" + "".join(f"<p>{linked(line)}</p>" for line in lines))
        if self._jobs:
            parts.append("<p>Searching the open files…</p>")
        elif self._session.document is None:
            parts.append("<p>Open the recipe, the timeline or the tile dump of that compile to see more.</p>")
        elif not self._findings and find_message(self.text.toPlainText()).tile is None:
            parts.append("<p>The open files have nothing to add.</p>")
        self.page.setHtml("".join(parts))

    @Slot(QUrl)
    def follow(self, url: QUrl) -> None:
        """Select what a link names; the links are made in this program."""
        kind, _, number = url.toString().partition(":")
        session, place = self._session, int(number)
        if kind == "tile":
            session.select_tiles((place,))
        elif kind == "step":
            session.select_step(place)
        elif kind == "operation":
            session.select(replace(session.selection, operation=place))

    def done(self, result: int) -> None:
        self._forget()
        self._runner.close()
        super().done(result)


def _explain_files(
    text: str,
    timelines: Sequence[tuple[str, Timeline]],
    dumps: Sequence[tuple[str, TileDump]],
    _reporter: Reporter,
) -> Explanation:
    return explain(text, (), timelines, dumps)
