"""What stands around the drawing of the graph, or in its place: controls, legend, overview, list of steps."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import (
    QAction,
    QBrush,
    QColor,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPicture,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QSizePolicy,
    QSpinBox,
    QToolButton,
    QToolTip,
    QVBoxLayout,
    QWidget,
)

from tileview.model.timeline import Problem, Timeline
from tileview.present.graph_boxes import MADE, READ, UNAVAILABLE, ColourMode, GraphStyle, StepState
from tileview.present.step_rows import MOST_LISTED, StepColumn, StepRow, StepSpec, step_nodes
from tileview.present.tables import Node
from tileview.qt.base.painting import painting
from tileview.qt.base.text import plain_tip
from tileview.qt.base.theme import Theme
from tileview.qt.jobs.pacing import takes_turns
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.plot.legend import Legend, LegendLine
from tileview.qt.views.graph.scene import GraphScene
from tileview.qt.widgets.docked import FocusHolder
from tileview.qt.widgets.node_model import NodeModel
from tileview.qt.widgets.node_view import NodeView

_MOST_REMARKS = 40


def graph_legend(style: GraphStyle, theme: Theme, notes: tuple[str, ...]) -> tuple[LegendLine, ...]:
    """The legend of a style, with further sentences after its own.

    What is made has the colour of the operation that the eye is to go to: that at fault, else that of the step.
    """
    frame = QPen(theme.color("muted"), 1)
    entries = []
    for shown, words in style.legend:
        pen, brush = frame, QBrush(theme.color("border"))
        if shown == MADE:
            node = style.marks.worst if style.marks.worst >= 0 else style.running
            brush = QBrush(QColor(*style.shades[int(style.shade[node]) if node >= 0 else 0].tolist()))
        elif shown == UNAVAILABLE:
            brush = QBrush(theme.color("unavailable"), Qt.BrushStyle.BDiagPattern)
        elif shown and shown != READ:
            brush = QBrush(QColor(*style.shades[int(shown)].tolist()))
            if int(shown) == StepState.IDLE:
                pen = QPen(theme.color("muted"), 1, Qt.PenStyle.DotLine)
            elif int(shown) == StepState.HOLDS:
                pen = QPen(theme.color("accent"), 2)
        entries.append(LegendLine(words, pen, brush) if shown else LegendLine(words))
    return (*entries, *map(LegendLine, notes))


class RecordedLegend:
    """A legend as it is drawn now, so that any thread can draw it."""

    def __init__(self, legend: Legend) -> None:
        self._width, self._height = legend.width(), legend.height()
        self._picture = QPicture()
        with painting(self._picture) as painter:
            painter.setFont(legend.font())
            legend.draw(painter)

    def width(self) -> int:
        return self._width

    def height(self) -> int:
        return self._height

    def draw(self, painter: QPainter) -> None:
        painter.drawPicture(0, 0, self._picture)


class GraphBar(QWidget):
    """Search, colouring, neighbourhood, remarks.

    ``searched`` carries the text at every key. ``turned`` asks for the match so many places on, ``entered`` for the one
    in view, or, where that has been done, so many places on; ``left`` ends the search. ``mode_changed`` carries a
    :class:`ColourMode`, ``neighbourhood_changed`` whether and how far, ``remark_chosen`` the operation of a remark.
    """

    searched = Signal(str)
    turned = Signal(int)
    entered = Signal(int)
    left = Signal()
    mode_changed = Signal(object)
    neighbourhood_changed = Signal(bool, int)
    remark_chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.search = QLineEdit(self)
        self.search.setPlaceholderText("Find an operation (Ctrl+F)")
        self.search.setClearButtonEnabled(True)
        self.search.setAccessibleName("Find an operation by number, kind, plan or parameter")
        self.search.setMinimumWidth(90)
        self.count = QLabel(self)
        self.count.setAccessibleName("Matches")
        self.colours = QComboBox(self)
        for mode in ColourMode:
            self.colours.addItem(mode.words, mode.value)
        self.colours.setAccessibleName("What bars, colours and shares say")
        self.colours.setToolTip("What bars, colours and shares say (C)")
        self.near = self._button("Near", "Show the neighbourhood of the selected operation only")
        self.near.setCheckable(True)
        self.near.setToolTip("Only what is this many steps from the selected operation (H)")
        self.distance = QSpinBox(self)
        self.distance.setRange(1, 9)
        self.distance.setValue(2)
        self.distance.setAccessibleName("How far the neighbourhood reaches")
        self.remarks = self._button("", "Remarks on the graph", QMenu(self))
        self.remarks.hide()
        self.menu = QMenu(self)
        self.more = self._button("…", "More commands for the graph", self.menu)
        row = QHBoxLayout(self)
        row.setContentsMargins(4, 3, 4, 3)
        row.setSpacing(5)
        row.addWidget(self.search, 1)
        for widget in (self.count, self.colours, self.near, self.distance, self.remarks, self.more):
            row.addWidget(widget)
        self.search.textChanged.connect(lambda text: self.searched.emit(text.strip()))
        self.search.installEventFilter(self)
        self.colours.activated.connect(lambda index: self.mode_changed.emit(tuple(ColourMode)[index]))
        self.near.clicked.connect(lambda is_on: self.neighbourhood_changed.emit(is_on, self.distance.value()))
        self.distance.valueChanged.connect(self._on_distance)

    def _button(self, text: str, name: str, menu: QMenu | None = None) -> QToolButton:
        button = QToolButton(self)
        button.setText(text)
        button.setAccessibleName(name)
        if menu is not None:
            button.setMenu(menu)
            button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        return button

    def clear(self) -> None:
        """Another document."""
        self.search.clear()
        self.set_neighbourhood(False)
        self.set_remarks((), ())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrow dock what the menu and the keys offer as well gives way to the search."""
        unit = self.fontMetrics().averageCharWidth()
        width = event.size().width()
        for widget, characters in ((self.near, 78), (self.distance, 78), (self.colours, 58)):
            widget.setVisible(width >= characters * unit)
        super().resizeEvent(event)

    def minimumSizeHint(self) -> QSize:
        return QSize(100, super().minimumSizeHint().height())

    def query(self) -> str:
        return self.search.text().strip()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.search and event.type() is QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Up):
                self.turned.emit(1 if event.key() == Qt.Key.Key_Down else -1)
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.entered.emit(-1 if back else 1)
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.left.emit()
                return True
        return super().eventFilter(watched, event)

    def show_mode(self, mode: ColourMode) -> None:
        self.colours.setCurrentIndex(self.colours.findData(mode.value))

    def set_neighbourhood(self, is_on: bool) -> None:
        with QSignalBlocker(self.near):
            self.near.setChecked(is_on)

    def _on_distance(self, hops: int) -> None:
        if self.near.isChecked():
            self.neighbourhood_changed.emit(True, hops)

    def set_remarks(self, problems: tuple[Problem, ...], notes: tuple[str, ...]) -> None:
        """List what is odd about the graph; choosing one selects its operation."""
        menu = self.remarks.menu()
        menu.clear()
        entries = [(f"{problem.place}: {problem.text}", problem.operation) for problem in problems]
        entries += [(note, None) for note in notes]
        for text, operation in entries[:_MOST_REMARKS]:
            shown = text if len(text) <= 120 else text[:119] + "…"
            action = QAction(shown.replace("&", "&&"), menu)
            action.setData(None if operation is None else str(operation))  # 64 bits without a sign: no number of Qt
            action.triggered.connect(self._on_remark)
            menu.addAction(action)
        count = len(entries)
        if count > _MOST_REMARKS:
            menu.addAction(f"{count - _MOST_REMARKS:,} more").setEnabled(False)
        self.remarks.setText(f"! {count:,}")
        self.remarks.setToolTip(f"{count:,} {'remark' if count == 1 else 'remarks'} on the graph")
        self.remarks.setVisible(bool(count))

    def _on_remark(self) -> None:
        action = self.sender()
        if isinstance(action, QAction):
            operation = action.data()
            self.remark_chosen.emit(None if operation is None else int(operation))


_MARGIN = 6.0
_TICKS = 16.0
"""How wide the column of ticks is."""
_LEFT = 8.0


class Overview(QWidget):
    """The boxes of a scene from top to bottom as one reads the graph, and which of them are in view.

    ``asked`` carries the node that a press or a drag leads to.
    """

    asked = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._scene: GraphScene | None = None
        self._nodes: list[int] = []
        self._at: dict[int, int] = {}
        self._seen: tuple[int, int] | None = None
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Overview of the graph")

    def sizeHint(self) -> QSize:
        return QSize(round(_LEFT + _TICKS + 10 + self.fontMetrics().horizontalAdvance("op 000")), 100)

    def show_scene(self, scene: GraphScene | None, theme: Theme) -> None:
        """Another picture, or another style of it."""
        self._theme = theme
        if scene is not self._scene:
            self._scene, self._nodes, self._seen = scene, [], None
            if scene is not None:
                nodes, picture = scene.structure.nodes, scene.picture
                shown = (node for node in scene.structure.in_order() if node in scene.place)
                self._nodes = [
                    node for node in shown if not nodes[node].is_port and not picture.expanded[scene.place[node]]
                ]
            self._at = {node: place for place, node in enumerate(self._nodes)}
        self.setAccessibleDescription("; ".join(f"{name}: {text}" for _, name, text in self._faults()))
        self.update()

    def show_area(self, area: QRectF) -> None:
        """Mark the boxes in a part of the picture as those in view."""
        seen: tuple[int, int] | None = None
        if self._scene is not None:
            nodes = self._scene.picture.nodes[self._scene.in_view(area)].tolist()
            places = [self._at[node] for node in nodes if node in self._at]
            seen = (min(places), max(places)) if places else None
        if seen != self._seen:
            self._seen = seen
            self.update()

    def _faults(self) -> list[tuple[int, str, str]]:
        """(place, name, by how much) of the boxes at fault, the worst first."""
        if self._scene is None:
            return []
        style = self._scene.style
        faults = [(node, *fault) for node, fault in style.marks.faults.items() if node in self._at]
        faults.sort(key=lambda fault: -fault[2])
        return [(self._at[node], f"op {operation}", style.over_text(node)) for node, operation, _ in faults]

    def place(self, node: int) -> QRectF:
        """Where the tick of a box stands; empty for one that has none."""
        return self._tick(self._at[node]) if node in self._at else QRectF()

    def _tick(self, place: int) -> QRectF:
        pitch = (self.height() - 2 * _MARGIN) / max(len(self._nodes), 12)
        return QRectF(_LEFT, _MARGIN + place * pitch, _TICKS, max(pitch - 1.0, 1.0))

    def _node_at(self, point: QPointF) -> int | None:
        if not self._nodes:
            return None
        pitch = (self.height() - 2 * _MARGIN) / max(len(self._nodes), 12)
        place = int((point.y() - _MARGIN) // pitch) if pitch > 0 else 0
        return self._nodes[min(max(place, 0), len(self._nodes) - 1)]

    # -- drawing --------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        with painting(self) as painter:
            painter.fillRect(self.rect(), self._theme.color("surface"))
            if self._scene is None or not self._nodes:
                return
            # More boxes than pixels: one tick for each pixel is all that can be seen.
            stride = max(1, int(len(self._nodes) // max(self.height(), 1)))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color("baseline"))
            painter.drawRects([self._tick(place) for place in range(0, len(self._nodes), stride)])
            taken = self._paint_faults(painter)
            self._paint_repeats(painter, self._scene, taken)
            if self._seen is not None:
                first, last = (self._tick(place) for place in self._seen)
                painter.setPen(QPen(self._theme.color("accent"), 1.5))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(QRectF(2, first.top() - 2, self.width() - 4, last.bottom() - first.top() + 4))

    def _paint_faults(self, painter: QPainter) -> list[QRectF]:
        """Red ticks, wider than the others, and their names as far as these do not meet; gives where these stand."""
        painter.setBrush(self._theme.color("over"))
        taken: list[QRectF] = []
        faults = self._faults()
        for place, _, _ in faults:
            tick = self._tick(place)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.drawRect(QRectF(tick.left() - 4, tick.center().y() - 1.5, tick.width() + 8, 3))
        painter.setPen(self._theme.color("over"))
        font = self.font()
        font.setBold(True)
        painter.setFont(font)
        for place, name, _ in faults:
            self._write(painter, self._tick(place).center().y(), name, taken)
        painter.setFont(self.font())
        return taken

    def _paint_repeats(self, painter: QPainter, scene: GraphScene, taken: list[QRectF]) -> None:
        """A dotted frame around the body of each outer Repeat, and how often it runs."""
        for owner, body in ((node, node.body) for node in scene.structure.nodes if node.region == 0):
            inside = (
                [self._at[node] for node in scene.structure.regions[body].nodes if node in self._at] if body else []
            )
            if not inside:
                continue
            first, last = self._tick(min(inside)), self._tick(max(inside))
            painter.setPen(QPen(self._theme.color("muted"), 1, Qt.PenStyle.DotLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(_LEFT - 4, first.top() - 1, _TICKS + 8, last.bottom() - first.top() + 2))
            painter.setPen(self._theme.color("muted"))
            self._write(painter, (first.top() + last.bottom()) / 2, f"×{owner.count}", taken)

    def _write(self, painter: QPainter, y: float, text: str, taken: list[QRectF]) -> None:
        """Write beside the ticks, unless something stands there."""
        height = self.fontMetrics().height()
        left = _LEFT + _TICKS + 6
        top = min(max(y - height / 2, 0.0), self.height() - height)
        area = QRectF(left, top, self.width() - left - 2, height)
        if not any(area.intersects(other) for other in taken):
            taken.append(area)
            painter.drawText(area, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), text)

    # -- pointer --------------------------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.mouseMoveEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        node = self._node_at(event.position())
        if event.buttons() & Qt.MouseButton.LeftButton and node is not None:
            self.asked.emit(node)

    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            node = self._node_at(QPointF(event.pos()))
            if node is not None and self._scene is not None:
                style = self._scene.style
                figures = style.over_text(node) or style.share_text(node)
                words = self._scene.words[node].title + (f": {figures}" if figures else "")
                QToolTip.showText(event.globalPos(), plain_tip(words), self)
            return True
        return super().event(event)


LISTED_PART = 10_000
"""Of more steps than :data:`MOST_LISTED`, so many are listed at a time."""


class StepsList(FocusHolder):
    """A table of steps: text of the operation, usage of the fullest tile, what is over or unavailable, peaks.

    Selecting a row selects the step and its operation.
    """

    def __init__(self, bridge: SessionSignals, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.bridge = bridge
        self.search = QLineEdit(self)
        self.search.setPlaceholderText("Find a step by its text (Ctrl+F)")
        self.search.setClearButtonEnabled(True)
        self.search.setAccessibleName("Find a step")
        self.note = QLabel(self)
        self.note.setWordWrap(True)
        self.note.setAccessibleName("Why there is no graph")
        self.model = NodeModel(StepSpec(), bridge.theme, self)
        self.table = NodeView(self.model, "Steps of the timeline", self)
        self.table.set_samples(
            "1234", "123", "Copy { mapping: Coordinate", "≥ 573.2 KiB", "≥ 100.0 %", "peak: total, standard", "27"
        )
        self.table.set_flexible(StepColumn.TEXT, StepColumn.MARKS)
        self.table.set_seen(StepColumn.STEP, StepColumn.OPERATION, StepColumn.TEXT, StepColumn.TOTAL, StepColumn.SHARE)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4, 4, 4, 0)
        layout.setSpacing(4)
        layout.addWidget(self.note)
        layout.addWidget(self.search)
        layout.addWidget(self.table, 1)
        self.lead_focus(self.table)
        self.table.picked.connect(self._pick)
        self.search.textChanged.connect(self.refresh)
        self.search.returnPressed.connect(self._first)
        self._timeline: Timeline | None = None
        self._range: tuple[int, int] | None = None
        self._listed: tuple[Node[StepRow], ...] = ()
        self._is_due = False
        """Whether the rows of a large timeline are still to be shown, each thing that takes a while in its turn."""

    def clear(self) -> None:
        """Another document."""
        self._timeline, self._listed = None, ()
        self.search.clear()
        self.model.clear()

    def _range_listed(self, timeline: Timeline) -> tuple[int, int] | None:
        """Which steps are listed: those of the range that is selected; of very many the part with the selected step."""
        selection = self.bridge.session.selection
        first, end = selection.span or (0, len(timeline.steps))
        if end - first <= MOST_LISTED:
            return selection.span
        step = min(max(selection.step or 0, first), end - 1)
        start = step - (step - first) % LISTED_PART
        return start, min(start + LISTED_PART, end)

    def show_timeline(self, timeline: Timeline | None) -> None:
        self._timeline = timeline
        if takes_turns(timeline, may_wait=True):
            self._is_due = True
            self.bridge.turns.add(self._find_nodes)
        else:
            self.refresh()

    def _find_nodes(self) -> None:
        """The first of three turns: rows are found, then given to the table, then laid out there."""
        if self._timeline is not None:
            step_nodes(self._timeline, within=self._range_listed(self._timeline))
        self.bridge.turns.add(self._list_nodes)

    def _list_nodes(self) -> None:
        self.refresh()
        self.bridge.turns.add(self._lay_out)

    def _lay_out(self) -> None:
        self._is_due = False
        self.show_selection()

    def bring_up_to_date(self) -> None:
        """Show now what would have its turn later."""
        if self._is_due:
            self.refresh()
            self._lay_out()

    def refresh(self) -> None:
        timeline = self._timeline
        query, span = self.search.text().strip(), self.bridge.session.selection.span
        listed = self._range = None if timeline is None else self._range_listed(timeline)
        nodes = () if timeline is None else step_nodes(timeline, query, span if query else listed)
        nodes = nodes if len(nodes) <= MOST_LISTED else nodes[:MOST_LISTED]
        if nodes is not self._listed:
            self._listed = nodes
            self.model.set_nodes(nodes)
        if timeline is not None:
            count = len(timeline.steps)
            shown = "" if len(nodes) == count else f" {len(nodes):,} shown."
            if listed != span and not query and listed is not None:
                shown = f" Steps {listed[0]:,} … {listed[1] - 1:,} are listed; the list follows the selected step."
            elif span is not None:
                shown = f" {len(nodes):,} of steps {span[0]} … {span[1] - 1} shown."
            self.note.setText(f"A timeline without a recipe has no graph; these are its {count:,} steps.{shown}")
        if not self._is_due:
            self._show_current()

    def csv_maker(self) -> Callable[[], str]:
        """What makes all steps that were asked for into CSV, listed or not; may run on any thread."""
        timeline, query = self._timeline, self.search.text().strip()
        if timeline is None or len(timeline.steps) <= MOST_LISTED:
            return self.table.csv_maker()
        span, spec = self.bridge.session.selection.span, self.model.spec
        return lambda: spec.csv(step_nodes(timeline, query, span))

    def show_selection(self) -> None:
        """Follow the selection: its range of steps, and the row of its step."""
        if self._is_due:
            return
        if self._timeline is not None and self._range_listed(self._timeline) != self._range:
            self.refresh()
        else:
            self._show_current()

    def _show_current(self) -> None:
        self.table.show_current(self.bridge.session.selection.step, centre=True)

    def set_theme(self) -> None:
        self.model.set_theme(self.bridge.theme)

    def _pick(self, key: object) -> None:
        session, timeline = self.bridge.session, self._timeline
        if timeline is None or not isinstance(key, int) or key >= len(timeline.steps):
            return
        session.select_step(key)
        source = timeline.steps[key].source
        if source is not None and session.selection.operation != source:
            session.select_operation(source)

    def _first(self) -> None:
        if self.model.nodes:
            self._pick(self.model.nodes[0].key)
            self.table.setFocus()
