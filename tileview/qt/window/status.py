"""The status bar: where the selection stands, what the estimate leaves out, how long it took, what runs meanwhile."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QSizePolicy, QStatusBar, QWidget

from tileview.analysis.words import step_place
from tileview.core.geometry.chip import chip_position
from tileview.model.config import CHIP_TILES
from tileview.model.graph import kind_name
from tileview.model.timeline import Origin
from tileview.present.cycle_words import cycles_note, cycles_sentence, step_name
from tileview.qt.base.text import plain_tip
from tileview.qt.jobs.session_signals import SessionSignals, Work
from tileview.session.session import Session


def step_position(session: Session) -> str:
    """``step 69/165``: index of the step, number of steps."""
    timeline, step = session.timeline, session.selection.step
    if timeline is None or not timeline.steps:
        return "no steps"
    count = len(timeline.steps)
    return f"no step of {count:,}" if step is None else step_place(step, count)


def operation_text(session: Session) -> str:
    """``op 21 Gemm``: the selected operation, else the one that the step computes."""
    timeline, selection = session.timeline, session.selection
    number = selection.operation
    kind = ""
    if timeline is not None and selection.step is not None and selection.step < len(timeline.steps):
        step = timeline.steps[selection.step]
        if number is None or number == step.source:
            number, kind = step.source, step_name(step)
    graph = session.graph
    if graph is not None and number is not None:
        kind = next((kind_name(operation.kind) for operation, _ in graph.walk() if operation.id == number), kind)
    if number is None:
        return kind or "no operation"
    return f"op {number} {kind}".rstrip()


def tile_text(session: Session) -> str:
    """``tile 212 (row 14, column 8)``; without the place on the chip for other numbers of tiles."""
    timeline, tile = session.timeline, session.selection.tile
    if tile is None:
        return "no tile"
    more = f" and {len(session.selection.tiles) - 1} more" if len(session.selection.tiles) > 1 else ""
    if timeline is not None and timeline.tile_count == CHIP_TILES and tile < CHIP_TILES:
        row, column = chip_position(tile)
        return f"tile {tile} (row {row}, column {column}){more}"
    return f"tile {tile}{more}"


def estimate_text(session: Session) -> str:
    """Where the numbers come from and how many notes there are to them."""
    timeline = session.timeline
    if timeline is None:
        return ""
    origin = "estimate" if timeline.origin is Origin.ESTIMATE else f"file, version {timeline.version}"
    count = len(timeline.notes)
    return origin if count == 0 else f"{origin}: {count} note{'s' if count != 1 else ''}"


class StatusBar(QStatusBar):
    """Permanent parts on the left, passing messages over them, running work with a way to stop it on the right."""

    def __init__(self, bridge: SessionSignals, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self.setSizeGripEnabled(False)
        self._place = QLabel(self)
        self._place.setTextFormat(Qt.TextFormat.PlainText)
        self._place.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._place.setAccessibleName("Selection")
        self._place.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._duration = ""
        self.addWidget(self._place, 1)
        self._notice = QLabel(self)
        self._notice.setTextFormat(Qt.TextFormat.PlainText)
        self._notice.setAccessibleName("Needs attention")
        self._notice.hide()
        self.addPermanentWidget(self._notice)
        self._work = WorkBar(bridge.work, self)
        self.addPermanentWidget(self._work)
        bridge.notice.connect(self._show_notice)
        bridge.selection_changed.connect(self.clearMessage)
        told = (bridge.document_changed, bridge.estimate_changed, bridge.selection_changed, bridge.pins_changed)
        for signal in told:
            signal.connect(self.refresh)

    @property
    def work(self) -> WorkBar:
        """The part that shows running work."""
        return self._work

    @Slot(str)
    def _show_notice(self, text: str) -> None:
        """A sentence that stays until it is dealt with, beside the messages that pass; none where it is empty."""
        self._notice.setText(text)
        self._notice.setToolTip(plain_tip(text))
        self._notice.setVisible(bool(text))

    def notice_text(self) -> str:
        """The sentence that is to be dealt with."""
        return self._notice.text()

    def show_duration(self, milliseconds: float) -> None:
        """How long the current estimate took."""
        self._duration = f"{milliseconds:.0f} ms" if milliseconds >= 1 else "under 1 ms"
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        session = self._bridge.session
        if session.document is None:
            self._place.setText("")
            return
        parts = [step_position(session), operation_text(session), tile_text(session), estimate_text(session)]
        parts.append(cycles_sentence(session.estimate, session.baseline))
        if self._duration and session.timeline is not None:
            parts.append(self._duration)
        text = " · ".join(part for part in parts if part)
        self._place.setText(text)
        timeline = session.timeline
        notes = timeline.notes if timeline is not None else ()
        of_cycles = cycles_note(session.estimate)
        self._place.setToolTip(plain_tip("\n".join((text, *notes, *filter(None, (of_cycles,))))))

    def place_text(self) -> str:
        """What the bar says, for tests."""
        return self._place.text()


class WorkBar(QWidget):
    """What runs: a line of text, a progress bar, buttons to pause it, where it can be, and to stop it; hidden while
    nothing does."""

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._work = work
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 4, 0)
        self._text = QLabel(self)
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._bar = QProgressBar(self)
        self._bar.setMaximumWidth(160)
        self._bar.setAccessibleName("Progress")
        self.pause = QPushButton("Pause", self)
        self.stop = QPushButton("Stop", self)
        self.stop.setAccessibleName("Stop the running work")
        for widget in (self._text, self._bar, self.pause, self.stop):
            row.addWidget(widget)
        self.hide()
        work.changed.connect(self._refresh)

    @Slot()
    def _refresh(self) -> None:
        line = self._work.newest
        self.setVisible(line is not None)
        if line is None:
            return
        self._text.setText(line.text)
        scale = max(1, line.total // 1_000_000)
        self._bar.setRange(0, line.total // scale)
        self._bar.setValue(line.done // scale)
        self.pause.setVisible(line.is_paused is not None)
        self.pause.setText("Continue" if line.is_paused else "Pause")
        self.pause.setAccessibleName(f"{self.pause.text()} evaluating alternatives")

    def text(self) -> str:
        """What is said of the work that was begun last; empty while nothing runs."""
        return "" if self._work.newest is None else self._text.text()
