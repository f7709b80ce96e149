"""What stands around the drawing of the graph: the row above it, and what the legend below it means."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QAction, QBrush, QColor, QKeyEvent, QPainter, QPen, QPicture, QResizeEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QLineEdit, QMenu, QSpinBox, QToolButton, QWidget

from tileview.model.timeline import Problem
from tileview.present.graph_figures import StepState
from tileview.present.graph_style import MADE, READ, UNAVAILABLE, ColourMode, GraphStyle
from tileview.qt.base.painting import painting
from tileview.qt.base.theme import Theme
from tileview.qt.plot.legend import Legend, LegendLine

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
