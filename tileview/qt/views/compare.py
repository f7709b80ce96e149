"""Up to four states side by side: peaks, verdicts, curves on one scale, what differs, and the link to a second file."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QAction, QPainter, QPaintEvent, QPen, QPolygonF, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from tileview.model.sizes import kib_text
from tileview.model.timeline import TimelineValue
from tileview.model.timeline_file import FileValue, TimelineFile
from tileview.present.compare_rows import MOST_STATES, CompareRow, CompareState, compare_nodes
from tileview.present.compare_table import CompareSpec, shared_top, sparkline
from tileview.present.linkage import LinkValue, link, statement
from tileview.qt.bridge import Bridge
from tileview.qt.models.node_model import NodeModel
from tileview.qt.theme import Theme
from tileview.qt.views.base import View
from tileview.qt.views.elided import ElidedLabel
from tileview.qt.views.node_view import NodeView
from tileview.session.document import edited_recipe
from tileview.session.session import Pin


@dataclass(frozen=True, slots=True)
class _Shown:
    """A state that is shown: what it holds, and the pin behind it (None for the state in force)."""

    state: CompareState
    pin: Pin | None
    is_baseline: bool
    pin_index: int | None


class CurveStrip(QWidget):
    """The total of the fullest tile over the steps of one state, on the scale that all states share."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._state: CompareState | None = None
        self._top = 0
        self.setMinimumSize(QSize(60, 44))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_state(self, state: CompareState, top: int, theme: Theme) -> None:
        self._state, self._top, self._theme = state, top, theme
        self.setAccessibleName(f"Curve of {state.name}")
        self.setToolTip(f"Total of the fullest tile plus reserve, 0 … {kib_text(top)}; dashed: the budget")
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(160, 44)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect()).adjusted(0.5, 2.5, -0.5, -2.5)
        painter.fillRect(self.rect(), self._theme.color("background"))
        timeline = None if self._state is None else self._state.timeline
        if timeline is None or not self._top:
            painter.setPen(self._theme.color("muted"))
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, "no timeline")
            painter.end()
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
        painter.end()


class StateCard(QWidget):
    """One state's head: name, verdict, curve, and what can be done with it."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = QLabel()
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        font = self.title.font()
        font.setBold(True)
        self.title.setFont(font)
        self.verdict = QLabel()
        self.verdict.setTextFormat(Qt.TextFormat.PlainText)
        for label in (self.title, self.verdict):
            label.setMinimumWidth(20)
        self.curve = CurveStrip(theme, self)
        self.baseline_button = QToolButton()
        self.baseline_button.setText("Baseline")
        self.baseline_button.setToolTip("Show differences against this state")
        self.remove_button = QToolButton()
        self.remove_button.setText("Remove")
        line = QHBoxLayout()
        line.setSpacing(4)
        line.addWidget(self.verdict, 1)
        for button in (self.baseline_button, self.remove_button):
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            line.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2, 2, 2, 2)
        layout.setSpacing(2)
        layout.addWidget(self.title)
        layout.addLayout(line)
        layout.addWidget(self.curve)

    def show_state(self, shown: _Shown, top: int, theme: Theme) -> None:
        state = shown.state
        self.title.setText(f"{state.name} (baseline)" if shown.is_baseline else state.name)
        self.title.setToolTip(state.source)
        fits = state.verdict.fits
        self.verdict.setText("✓ fits" if fits else "✗ does not fit")
        self.verdict.setToolTip(state.verdict.text)
        palette = self.verdict.palette()
        palette.setColor(self.verdict.foregroundRole(), theme.color("ok" if fits else "over"))
        self.verdict.setPalette(palette)
        self.curve.show_state(state, top, theme)
        self.baseline_button.setEnabled(not shown.is_baseline)
        self.remove_button.setEnabled(shown.pin_index is not None)
        self.remove_button.setToolTip(
            "Take this state away" if shown.pin_index is not None else "Only pinned states go"
        )


class CompareView(View):
    """Baseline, the state in force, and pinned states or other files, side by side."""

    title = "Compare"
    name = "compare"

    def __init__(self, bridge: Bridge, parent: QWidget | None = None) -> None:
        super().__init__(bridge, parent)
        self._shown: list[_Shown] = []
        self._stale = False
        self.note = ElidedLabel()
        self.cards = [StateCard(bridge.theme, self) for _ in range(MOST_STATES)]
        row = QHBoxLayout()
        row.setSpacing(8)
        for position, card in enumerate(self.cards):
            row.addWidget(card, 1)
            card.setProperty("position", position)
            card.baseline_button.clicked.connect(self._baseline_clicked)
            card.remove_button.clicked.connect(self._remove_clicked)
        self.spec = CompareSpec()
        self.model = NodeModel(self.spec, bridge.theme, self)
        self.tree = NodeView(self.model, "Comparison of states", self, tree=True)
        self.tree.set_widths(40, 34)
        self.tree.set_flexible(0)
        self.tree.setMinimumHeight(60)
        self.tree.picked.connect(self._pick)
        self.link_label = QLabel()
        self.link_label.setTextFormat(Qt.TextFormat.PlainText)
        self.link_label.setWordWrap(True)
        self.link_label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.pin_button = self._button("&Pin the state in force …", "Keep it for comparison, with a name", self.pin)
        self.other_button = self._button("Compare with a &file …", "Put another file beside", self.compare_with)
        self.setFocusProxy(self.tree)
        buttons = QHBoxLayout()
        buttons.addWidget(self.pin_button)
        buttons.addWidget(self.other_button)
        buttons.addWidget(self.note, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4, 4, 4, 4)
        layout.setSpacing(4)
        layout.addLayout(buttons)
        layout.addLayout(row)
        layout.addWidget(self.tree, 1)
        layout.addWidget(self.link_label)
        self._pin_action = QAction("Pin the state in force for comparison", self)
        self._pin_action.triggered.connect(self.pin)
        self._rebuild()

    def _button(self, text: str, tip: str, slot: Callable[[], None]) -> QPushButton:
        button = QPushButton(text)
        button.setToolTip(tip)
        button.setAutoDefault(False)
        button.clicked.connect(slot)
        return button

    # -- session --------------------------------------------------------------------------------------------------

    def on_document(self) -> None:
        self.model.clear()
        self._rebuild()

    def on_state(self) -> None:
        self._rebuild()

    def on_estimate(self) -> None:
        self._rebuild()

    def on_pins(self) -> None:
        self._rebuild()

    def on_theme(self) -> None:
        self.model.set_theme(self.bridge.theme)
        self._show_cards()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._rebuild()

    def states(self) -> list[CompareState]:
        """What is compared, the baseline first."""
        return [shown.state for shown in self._shown]

    def _gather(self) -> list[_Shown]:
        """Baseline, the state in force where it is another, then the pins; four at most."""
        session = self.session
        shown: list[_Shown] = []
        baseline = session.baseline
        pins = session.pins
        if baseline is not None:
            index = next((i for i, pin in enumerate(pins) if pin is baseline), None)
            shown.append(_Shown(_state(baseline), baseline, True, index))
        document, estimate = session.document, session.estimate
        if document is not None and estimate is not None:
            same = baseline is not None and baseline.document is document and baseline.state == session.state
            if not same:
                current = Pin("in force", document, session.state, estimate)
                shown.append(_Shown(_state(current), None, False, None))
        for index, pin in enumerate(pins):
            if pin is not baseline:
                shown.append(_Shown(_state(pin), pin, False, index))
        return shown[:MOST_STATES]

    def _rebuild(self) -> None:
        """Compare anew; while the view is hidden, only remember that this is to be done."""
        if not self.isVisible() and self.window().isVisible():
            self._stale = True
            return
        self._stale = False
        self._shown = self._gather()
        states = self.states()
        self.spec.set_names([state.name for state in states])
        nodes = compare_nodes(states)
        fresh = [node.key for node in nodes if node.children and not self.model.find(node.key).isValid()]
        self.model.set_nodes(nodes)
        self.model.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, MOST_STATES)
        for column in range(MOST_STATES):
            self.tree.setColumnHidden(column + 1, column >= len(states))
        for key in fresh:
            self.tree.expand(self.model.find(key))
        self._show_cards()
        self.note.setText(self._note(len(states)))
        lines = self.link_statement()
        self.link_label.setText("\n".join(lines))
        self.link_label.setVisible(bool(lines))
        self.pin_button.setEnabled(self.session.is_current)

    def _note(self, count: int) -> str:
        if self.session.document is None:
            return "Nothing open"
        if count < 2:
            return "One state only: swap a plan, pin a state or add a file to see what differs."
        hidden = len(self.session.pins) + 2 - MOST_STATES
        return (
            f"Four states at most are shown; {hidden} more are pinned." if hidden > 0 and count == MOST_STATES else ""
        )

    def _show_cards(self) -> None:
        top = shared_top(self.states())
        for position, card in enumerate(self.cards):
            card.setVisible(position < len(self._shown))
            if position < len(self._shown):
                card.show_state(self._shown[position], top, self.bridge.theme)

    def link_statement(self) -> list[str]:
        """What matches between the open file and the one linked to it; empty where none is."""
        linked, document = self.session.linked, self.session.document
        if linked is None or document is None:
            return []
        recipe_document = document if document.is_recipe else linked
        file = linked.source if document.is_recipe else document.source
        recipe = recipe_document.recipe
        if recipe is None or not isinstance(file, TimelineFile):
            return [f"{linked.name} is linked, but only a recipe and a timeline can be of one compile."]
        estimated = self.session.timeline if recipe_document is document else None
        left = [] if estimated is None else [_link_value(i, value) for i, value in enumerate(estimated.values)]
        right = [_link_value(i, value) for i, value in enumerate(file.values)]
        sources = [step.source for step in file.steps]
        linkage = link(recipe.graph, left, right, sources, recipe.config.tile_count, file.tile_count)
        head = f"Linked: {document.name} and {linked.name}"
        return [head, *statement(linkage, left, right)]

    # -- user -----------------------------------------------------------------------------------------------------

    def pin(self) -> None:
        """Ask for the state in force to be kept, under a name that the user gives."""
        self.bridge.requested.emit("pin", None)

    def compare_with(self) -> None:
        """Ask for another file to stand beside."""
        self.bridge.requested.emit("compare_with", None)

    def _position_of(self, button: object) -> int | None:
        for position, card in enumerate(self.cards):
            if button in (card.baseline_button, card.remove_button):
                return position if position < len(self._shown) else None
        return None

    def _baseline_clicked(self) -> None:
        position = self._position_of(self.sender())
        if position is None:
            return
        pin = self._shown[position].pin
        document, estimate = self.session.document, self.session.estimate
        if pin is None and document is not None and estimate is not None:
            pin = Pin("baseline", document, self.session.state, estimate)
        if pin is not None:
            self.session.set_baseline(pin)

    def _remove_clicked(self) -> None:
        position = self._position_of(self.sender())
        index = None if position is None else self._shown[position].pin_index
        if index is not None:
            self.session.remove_pin(index)

    def _pick(self, key: Hashable) -> None:
        row = self.tree.current_row()
        if not isinstance(row, CompareRow):
            return
        if row.operation is not None:
            self.session.select_operation(row.operation)
        for shown, root in zip(self._shown, row.roots, strict=False):
            if root is not None and shown.state.timeline is self.session.timeline:
                self.session.select_allocation(root)
                return

    def view_actions(self) -> list[QAction]:
        return [self._pin_action]

    def table_csv(self) -> str | None:
        return self.tree.csv()


def _state(pin: Pin) -> CompareState:
    recipe = pin.document.recipe
    if recipe is not None:
        recipe = edited_recipe(recipe, pin.state)
    return CompareState(pin.name, pin.estimate.verdict, pin.timeline, recipe, str(pin.document.path))


def _link_value(index: int, value: TimelineValue | FileValue) -> LinkValue:
    return LinkValue(
        index,
        value.origin,
        value.name,
        value.shape,
        value.precision,
        str(value.layout or value.layout_text),
        value.bytes,
    )
