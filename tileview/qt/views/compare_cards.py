"""The heads of the states that are compared: name, verdict, curve and tiles, each on the scale that all share."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from tileview.model.sizes import kib_text
from tileview.present.compare_states import CompareState
from tileview.present.compare_table import sparkline
from tileview.present.difference_maps import DifferenceMap
from tileview.present.tables import outcome
from tileview.qt.base.painting import painting
from tileview.qt.base.theme import Theme
from tileview.qt.plot.picture import Part
from tileview.qt.plot.picture_parts import ColumnPart, RowPart, TitlePart
from tileview.qt.views.difference_map import DifferenceMapWidget
from tileview.qt.widgets.elided import ElidedLabel
from tileview.session.session import Pin

_LOWEST, _HIGHEST = 48, 96
"""Pixels of height of curves and maps."""


@dataclass(frozen=True, slots=True)
class ShownState:
    """A state that is shown: what it holds, and the pin behind it (None for the state in force).

    ``is_current`` where it equals the state in force; ``pin_index`` is its place among the session's pins.
    """

    state: CompareState
    pin: Pin | None
    is_baseline: bool
    pin_index: int | None
    is_current: bool

    @property
    def title(self) -> str:
        """The name with its part in the comparison."""
        parts = [word for word, holds in (("baseline", self.is_baseline), ("in force", self._is_marked)) if holds]
        return f"{self.state.name} ({', '.join(parts)})" if parts else self.state.name

    @property
    def _is_marked(self) -> bool:
        return self.is_current and self.pin is not None


class CurveStrip(QWidget):
    """The total of the fullest tile over the steps of one state, on the scale that all states share."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._state: CompareState | None = None
        self._top = 0
        self.setMinimumSize(QSize(60, 48))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_state(self, state: CompareState, top: int, theme: Theme) -> None:
        self._state, self._top, self._theme = state, top, theme
        self.setAccessibleName(f"Curve of {state.name}")
        self.setToolTip(f"Total of the fullest tile plus reserve, 0 … {kib_text(top)}; dashed: the budget")
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(160, 48)

    def paintEvent(self, event: QPaintEvent) -> None:
        with painting(self) as painter:
            self.draw(painter)

    def draw(self, painter: QPainter) -> None:
        """Draw on any painter: the widget's own, or that of a file."""
        painter.setFont(self.font())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect()).adjusted(0.5, 2.5, -0.5, -2.5)
        painter.fillRect(self.rect(), self._theme.color("background"))
        timeline = None if self._state is None else self._state.timeline
        if timeline is None or not self._top:
            painter.setPen(self._theme.color("muted"))
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, "no timeline")
            return
        totals = sparkline(timeline, max(1, int(area.width())))
        scale = area.height() / self._top
        count = len(totals)
        width = area.width() / max(count, 1)
        points = [QPointF(area.left(), area.bottom())]
        for column, total in enumerate(totals.tolist()):
            y = area.bottom() - (total + timeline.reserve_bytes) * scale
            points.extend((QPointF(area.left() + column * width, y), QPointF(area.left() + (column + 1) * width, y)))
        points.append(QPointF(area.right(), area.bottom()))
        painter.setPen(QPen(self._theme.color("total"), 1))
        painter.setBrush(self._theme.color("standard", 70))
        painter.drawPolygon(QPolygonF(points))
        budget = QPen(self._theme.color("budget"), 1, Qt.PenStyle.DashLine)
        painter.setPen(budget)
        y = area.bottom() - timeline.budget_bytes * scale
        painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))


class StateCard(QWidget):
    """One state's head. Its button offers what can be done with the state; ``asked`` carries the word for it."""

    asked = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = ElidedLabel(cut=Qt.TextElideMode.ElideMiddle)
        font = self.title.font()
        font.setBold(True)
        self.title.setFont(font)
        self.curve = CurveStrip(theme, self)
        self.map = DifferenceMapWidget(theme, self)
        self.menu = QMenu(self)
        self.baseline_action = self._action("Make this the &baseline", "baseline")
        self.rename_action = self._action("&Rename…", "rename")
        self.remove_action = self._action("Re&move", "remove")
        self.button = QToolButton()
        self.button.setText("…")
        self.button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.button.setMenu(self.menu)
        head = QHBoxLayout()
        head.setSpacing(4)
        head.addWidget(self.title, 1)
        head.addWidget(self.button)
        pictures = QHBoxLayout()
        pictures.setSpacing(4)
        pictures.addWidget(self.curve, 1)
        pictures.addWidget(self.map)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2, 2, 2, 2)
        layout.setSpacing(2)
        layout.addLayout(head)
        layout.addLayout(pictures)

    def part(self) -> Part:
        """The head as part of a picture: its title, and curve and map where they are shown."""
        title = TitlePart(self.title, self.title.text(), self.width())
        pictures = [one for one in (self.curve, self.map) if one.isVisibleTo(self)]
        return ColumnPart((title, RowPart(pictures)) if pictures else (title,))

    def show_pictures(self, shown: bool, height: int = 0) -> None:
        """Leave curve and map out where the view is too low for them; ``height``: pixels that they may take."""
        for picture in (self.curve, self.map):
            picture.setFixedHeight(min(max(height, _LOWEST), _HIGHEST))
        self.curve.setVisible(shown)
        self.map.setVisible(shown and self.map.shown is not None)

    def _action(self, text: str, word: str) -> QAction:
        action = self.menu.addAction(text)
        action.setData(word)
        action.triggered.connect(self._ask)
        return action

    def _ask(self) -> None:
        sender = self.sender()
        if isinstance(sender, QAction):
            self.asked.emit(str(sender.data()))

    def show_state(self, shown: ShownState, top: int, difference: DifferenceMap | None, theme: Theme) -> None:
        """Show a state; ``top`` is the top of the curves' scale in bytes."""
        state = shown.state
        sign, _, tone = outcome(state.verdict.fits)
        self.title.setText(f"{sign} {shown.title}")
        words = state.verdict.words
        self.title.setToolTip(f"{shown.title}: {words}: {state.verdict.text}\n{state.source}")
        self.title.setAccessibleName(f"{shown.title}: {words}")
        palette = self.title.palette()
        palette.setColor(self.title.foregroundRole(), theme.color(tone))
        self.title.setPalette(palette)
        self.curve.show_state(state, top, theme)
        self.map.show_map(difference, state.name, theme)
        self.baseline_action.setEnabled(not shown.is_baseline)
        self.rename_action.setEnabled(shown.pin is not None)
        self.remove_action.setEnabled(shown.pin_index is not None)
        self.button.setAccessibleName(f"What can be done with {state.name}")
        self.button.setToolTip("Make it the baseline, rename or remove it")
