"""The verdict on top of the window: fits or not, why, and how far the peak is from the budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Slot
from PySide6.QtGui import QBrush, QFont, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QToolTip,
    QWidget,
)

from tileview.analysis.diagnosis import Diagnosis
from tileview.model.sizes import Size, Unavailable, exact_text, kib_text
from tileview.model.timeline import Cause, Timeline, Verdict
from tileview.present.tables import outcome
from tileview.qt.base.icons import icon
from tileview.qt.base.painting import painting
from tileview.qt.base.text import plain_tip, visible
from tileview.qt.base.theme import Theme
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.plot.picture import Part
from tileview.qt.plot.picture_parts import Line, TextPart
from tileview.qt.views.base import View

_PICTURE_WIDTH = 640
"""Pixels that a picture of the verdict is wide at least."""


class CopyableLine(QLineEdit):
    """One line of text that is shortened with an ellipsis where it is too long, and can be selected and copied.

    The whole text is the tooltip; with the focus on it the text can be read by the cursor keys.
    """

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setFrame(False)
        self.setAccessibleName(name)
        self.setProperty("plain", True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(80)

    def show_text(self, text: str, tip: str = "") -> None:
        line = visible(" ".join(text.split()))
        if line != self.text():
            self.setText(line)
            self.setCursorPosition(0)
        whole = tip or text
        self.setToolTip(plain_tip(whole))
        self.setAccessibleDescription(whole)

    def is_shortened(self) -> bool:
        return self.fontMetrics().horizontalAdvance(self.text()) > self._text_area().width()

    def _text_area(self) -> QRectF:
        return QRectF(self.rect()).adjusted(2, 0, -2, 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.hasFocus() or self.hasSelectedText() or not self.is_shortened():
            super().paintEvent(event)
            return
        with painting(self) as painter:
            painter.setPen(self.palette().color(self.foregroundRole()))
            area = self._text_area()
            text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, int(area.width()))
            painter.drawText(area, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            QToolTip.showText(self.mapToGlobal(self.rect().bottomLeft()), self.toolTip(), self)
            return
        super().keyPressEvent(event)


@dataclass(frozen=True, slots=True)
class Load:
    """What the bar draws, in bytes: the worst tile by class, the reserve, the budget they are held against."""

    standard: Size
    interleaved: Size
    total: Size
    reserve: int
    budget: int

    @classmethod
    def of(cls, timeline: Timeline) -> Load:
        step = timeline.total_peak_step
        total = timeline.peak.total
        if step is not None and step < len(timeline.steps):
            usage = timeline.steps[step].usage
            if usage.total == total:
                return cls(usage.standard, usage.interleaved, total, timeline.reserve_bytes, timeline.budget_bytes)
        return cls(
            timeline.peak.standard, timeline.peak.interleaved, total, timeline.reserve_bytes, timeline.budget_bytes
        )

    @property
    def needed(self) -> Size:
        return self.total if isinstance(self.total, Unavailable) else self.total + self.reserve

    def percent_text(self) -> str:
        """Share of the budget, rounded half up in integers; one decimal."""
        needed = self.needed
        if isinstance(needed, Unavailable) or self.budget <= 0:
            return "unavailable"
        tenths = (needed * 1000 * 2 + self.budget) // (self.budget * 2)
        return f"{tenths // 10}.{tenths % 10} %"

    def text(self) -> str:
        """The bar in words."""
        return (
            f"Total peak {exact_text(self.total)} (standard {exact_text(self.standard)}, interleaved "
            f"{exact_text(self.interleaved)}) + reserve {exact_text(self.reserve)} of a budget of "
            f"{exact_text(self.budget)}" + (f": {self.percent_text()}" if self.budget > 0 else "")
        )


class LoadBar(QWidget):
    """Peak and reserve against the budget.

    Three things tell the parts apart without colour: the reserve is hatched one way, the excess the other way, and the
    budget is a line with a flag; the figure beside the bar says the same.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._load: Load | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(120)
        self.setMaximumWidth(320)
        self.setAccessibleName("Peak against the budget")

    def sizeHint(self) -> QSize:
        return QSize(160, self.fontMetrics().height() + 6)

    def show_load(self, load: Load | None) -> None:
        self._load = load
        text = "" if load is None else load.text()
        self.setToolTip(text)
        self.setAccessibleDescription(text)
        self.update()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        with painting(self) as painter:
            self.draw(painter)

    def draw(self, painter: QPainter) -> None:
        """Draw on any painter: the widget's own, or that of a file."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect()).adjusted(1, 3, -1, -3)
        theme = self._theme
        painter.setPen(QPen(theme.color("border"), 1))
        painter.setBrush(theme.color("background"))
        painter.drawRect(area)
        load = self._load
        if load is None or load.needed == load.budget == 0:
            return
        if isinstance(load.needed, Unavailable):
            painter.fillRect(area, theme.color("unavailable", 60))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("unavailable"))
            painter.setBrush(Qt.BrushStyle.DiagCrossPattern)
            painter.fillRect(area, painter.brush())
            return
        self._paint_parts(painter, area, load, load.needed)

    def _paint_parts(self, painter: QPainter, area: QRectF, load: Load, needed: int) -> None:
        theme = self._theme
        scale = area.width() / max(needed, load.budget)

        def span(start: int, end: int) -> QRectF:
            left = area.left() + start * scale
            return QRectF(left, area.top(), max(0.0, area.left() + end * scale - left), area.height())

        known = 0
        for token, size in (("standard", load.standard), ("interleaved", load.interleaved)):
            if not isinstance(size, Unavailable):
                painter.fillRect(span(known, known + size), theme.color(token))
                known += size
        reserve = span(needed - load.reserve, needed)
        painter.fillRect(reserve, theme.color("baseline", 70))
        painter.fillRect(reserve, _hatch(theme, "text", Qt.BrushStyle.BDiagPattern))
        if needed > load.budget:
            excess = span(load.budget, needed)
            painter.fillRect(excess, theme.color("over", 90))
            painter.fillRect(excess, _hatch(theme, "over", Qt.BrushStyle.FDiagPattern))
        x = area.left() + load.budget * scale
        x = min(x, area.right() - 1)
        painter.setPen(QPen(theme.color("budget"), 2))
        painter.drawLine(QPointF(x, area.top() - 3), QPointF(x, area.bottom() + 3))


def _hatch(theme: Theme, token: str, style: Qt.BrushStyle) -> QBrush:
    return QBrush(theme.color(token), style)


def verdict_word(verdict: Verdict) -> tuple[str, str, str]:
    """Words, icon and theme token of a verdict."""
    word = "CANNOT BE LOWERED" if verdict.cause is Cause.CANNOT_LOWER else verdict.words.upper()
    return word, *outcome(verdict.fits)[1:]


class VerdictBar(View):
    """Always on top: the verdict in words with its cause, the peak against the budget, what the estimate leaves out."""

    title = "Verdict"
    name = "verdict"
    needs_program = False

    def __init__(self, bridge: SessionSignals, parent: QWidget | None = None) -> None:
        super().__init__(bridge, parent)
        self.setAutoFillBackground(True)
        self._sign = QLabel(self)
        self._word = QLabel(self)
        strong = QFont(self._word.font())
        strong.setBold(True)
        self._word.setFont(strong)
        self._word.setAccessibleName("Verdict")
        self._cause = CopyableLine("Cause of the verdict", self)
        self._notes = CopyableLine("What the estimate leaves out", self)
        self._bar = LoadBar(bridge.theme, self)
        self._share = QLabel(self)
        self._share.setAccessibleName("Share of the budget")
        self.find_fix = QPushButton("Fin&d fix", self)
        self.export = QPushButton("E&xport…", self)
        self.why = QPushButton("&Why", self)
        self.why.setToolTip("The verdict taken apart")
        self.why.clicked.connect(self._ask_why)
        self.find_fix.clicked.connect(self._ask_for_fix)
        self.export.clicked.connect(self._ask_for_export)
        self._next = ""
        self._lay_out()
        self._refresh()

    def _lay_out(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(10, 6, 10, 4)
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(0)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self._sign)
        row.addWidget(self._word)
        row.addWidget(self._cause, 1)
        grid.addLayout(row, 0, 0)
        grid.addWidget(self._notes, 1, 0)
        grid.addWidget(self._bar, 0, 1)
        grid.addWidget(self._share, 1, 1)
        grid.addWidget(self.why, 0, 2, 2, 1)
        grid.addWidget(self.find_fix, 0, 3, 2, 1)
        grid.addWidget(self.export, 0, 4, 2, 1)
        grid.setColumnStretch(0, 5)
        grid.setColumnStretch(1, 1)

    def _ask_why(self) -> None:
        self.bridge.requested.emit("show_view", "why")

    def _ask_for_fix(self) -> None:
        self.bridge.requested.emit("find_fix", None)

    def _ask_for_export(self) -> None:
        self.bridge.requested.emit("export_recipe", None)

    # -- what is shown --------------------------------------------------------------------------------------------

    def on_document(self) -> None:
        self._refresh()

    def on_state(self) -> None:
        self._refresh()

    def on_estimate(self) -> None:
        self._refresh()

    def on_theme(self) -> None:
        self._bar.set_theme(self.bridge.theme)
        self._refresh()

    def _refresh(self) -> None:
        session = self.session
        document, verdict, timeline = session.document, session.verdict, session.timeline
        self.find_fix.setEnabled(document is not None and session.is_current)
        self.export.setEnabled(document is not None and document.is_recipe)
        if document is None:
            self._show("NOTHING OPEN", "note", "muted", "Open a recipe or a memory timeline, or drop one here.", "")
        elif verdict is None:
            self._show("ESTIMATING", "note", "muted", document.name, "")
        else:
            word, sign, token = verdict_word(verdict)
            if not session.is_current:
                word += " (before the last edit)"
            self._show(word, sign, token, verdict.text, self._notes_text(timeline, verdict))
        load = None if timeline is None else Load.of(timeline)
        self._bar.show_load(load)
        for widget in (self._bar, self._share, self._notes, self.why, self.find_fix, self.export):
            widget.setVisible(document is not None)
        self._share.setText("" if load is None else self._share_text(load, verdict))
        self._share.setToolTip("" if load is None else load.text())

    def _share_text(self, load: Load, verdict: Verdict | None) -> str:
        if isinstance(load.needed, Unavailable):
            return "peak unavailable"
        least = "at least " if verdict is not None and verdict.at_least else ""
        share = load.percent_text() if load.budget > 0 else kib_text(load.needed)
        return f"{least}{share} of {kib_text(load.budget)}"

    def _notes_text(self, timeline: Timeline | None, verdict: Verdict) -> str:
        parts = [f"Next: {self._next}"] if self._next else []
        if verdict.at_least:
            parts.append("Every sum is a lower bound: some of it is not known.")
        if timeline is not None:
            if timeline.derived:
                parts.append("Per-tile numbers are derived from shapes and layouts: the file has none.")
            parts.extend(timeline.notes)
        return "  ·  ".join(parts)

    def _show(self, word: str, sign: str, token: str, cause: str, notes: str) -> None:
        theme = self.bridge.theme
        self.why.setIcon(icon("help", theme))
        self.find_fix.setIcon(icon("fix", theme))
        self.export.setIcon(icon("export", theme))
        size = self.fontMetrics().height() + 2
        self._sign.setPixmap(icon(sign, theme, token).pixmap(QSize(size, size), self.devicePixelRatioF()))
        self._word.setText(word)
        palette = self._word.palette()
        palette.setColor(self._word.foregroundRole(), theme.color(token))
        self._word.setPalette(palette)
        self._cause.show_text(cause)
        self._notes.show_text(notes, notes.replace("  ·  ", "\n"))
        muted = self._notes.palette()
        muted.setColor(self._notes.foregroundRole(), theme.color("muted"))
        self._notes.setPalette(muted)
        self._share.setPalette(muted)
        self.setAccessibleDescription(f"{word}. {cause}")

    @Slot(object)
    def show_diagnosis(self, diagnosis: Diagnosis | None) -> None:
        """Say what to do next, once that is known; None takes it away."""
        self._next = "" if diagnosis is None or diagnosis.fits else diagnosis.next_step
        self._refresh()

    def picture_parts(self, whole: bool = False) -> Sequence[Part]:
        """The sentences whole, however little room the bar has for them."""
        verdict, theme = self.session.verdict, self.bridge.theme
        token = "muted" if verdict is None else verdict_word(verdict)[2]
        above = [Line(self._word.text(), token, True), Line(self._cause.text())]
        below = [Line(text, "muted") for text in (self._share.text(), self._notes.text()) if text]
        width = max(self.width() * 2 // 3, _PICTURE_WIDTH)
        parts: list[Part] = [TextPart(above, width, self.font(), theme)]
        if self._bar.isVisibleTo(self):
            parts += [self._bar, TextPart(below, width, self.font(), theme)]
        return parts

    def verdict_text(self) -> str:
        """The verdict as shown, for copying and tests."""
        return f"{self._word.text()}: {self._cause.text()}"
