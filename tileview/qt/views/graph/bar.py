"""The row above the graph: search, colouring, neighbourhood, remarks."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QLineEdit, QMenu, QSpinBox, QToolButton, QWidget

from tileview.graphlayout import Structure
from tileview.model.timeline import Problem
from tileview.present.graph_style import ColourMode
from tileview.present.graph_words import NodeWords
from tileview.present.tables import matches

_MODES = ((ColourMode.SHARE, "Share of peak"), (ColourMode.STEP, "By step"))
_MOST_REMARKS = 40


class GraphBar(QWidget):
    """``searched`` carries the text at every key, ``stepped`` asks to select the current match, ``left`` ends the
    search.

    ``mode_changed`` carries a :class:`ColourMode`, ``neighbourhood_changed`` whether and how far,
    ``remark_chosen`` the operation of a remark.
    """

    searched = Signal(str)
    stepped = Signal()
    left = Signal()
    mode_changed = Signal(object)
    neighbourhood_changed = Signal(bool, int)
    remark_chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.search = QLineEdit(self)
        self.search.setPlaceholderText("Find operation (Ctrl+F)")
        self.search.setClearButtonEnabled(True)
        self.search.setAccessibleName("Find an operation by number, kind, plan or parameter")
        self.search.setMinimumWidth(90)
        self.count = QLabel(self)
        self.count.setAccessibleName("Matches")
        self.colours = QComboBox(self)
        for mode, text in _MODES:
            self.colours.addItem(text, mode.value)
        self.colours.setAccessibleName("Colour of the boxes")
        self.colours.setToolTip("What the colours say (C)")
        self.near = QToolButton(self)
        self.near.setText("Near")
        self.near.setCheckable(True)
        self.near.setAccessibleName("Show the neighbourhood of the selected operation only")
        self.near.setToolTip("Only what is this many steps from the selected operation (H)")
        self.distance = QSpinBox(self)
        self.distance.setRange(1, 9)
        self.distance.setValue(2)
        self.distance.setAccessibleName("How far the neighbourhood reaches")
        self.remarks = QToolButton(self)
        self.remarks.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.remarks.setMenu(QMenu(self.remarks))
        self.remarks.setAccessibleName("Remarks on the graph")
        self.remarks.hide()
        self.menu = QMenu(self)
        self.more = QToolButton(self)
        self.more.setText("…")
        self.more.setMenu(self.menu)
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.more.setAccessibleName("More commands for the graph")
        self._found: tuple[int, ...] = ()
        self._at = 0
        row = QHBoxLayout(self)
        row.setContentsMargins(4, 3, 4, 3)
        row.setSpacing(5)
        row.addWidget(self.search, 1)
        row.addWidget(self.count)
        for widget in (self.colours, self.near, self.distance, self.remarks, self.more):
            row.addWidget(widget)
        self.search.textChanged.connect(self._on_text)
        self.search.installEventFilter(self)
        self.colours.activated.connect(self._on_mode)
        self.near.clicked.connect(self._on_near)
        self.distance.valueChanged.connect(self._on_distance)

    def clear(self) -> None:
        """Another document."""
        self.search.clear()
        self.set_neighbourhood(False)
        self.set_remarks((), ())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrow dock what the menu and the keys offer as well gives way to the search."""
        unit = self.fontMetrics().averageCharWidth()
        width = event.size().width()
        for widget, characters in ((self.near, 72), (self.distance, 72), (self.colours, 52)):
            widget.setVisible(width >= characters * unit)
        super().resizeEvent(event)

    def minimumSizeHint(self) -> QSize:
        return QSize(100, super().minimumSizeHint().height())

    # -- search ---------------------------------------------------------------------------------------------------

    def query(self) -> str:
        return self.search.text().strip()

    def matching(self, structure: Structure, words: tuple[NodeWords, ...]) -> tuple[int, ...]:
        """The operations that match, an exact number first; remembered for stepping through."""
        query = self.query()
        self._at = 0
        self._found = ()
        if query:
            hits = []
            for node in (structure.nodes[index] for index in structure.in_order()):
                if node.operation is None:
                    continue
                texts = (f"op {node.operation}", node.label, words[node.index].detail, *node.parameters)
                if matches(query, *texts):
                    hits.append(node.index)
            number = query.lower().removeprefix("op").strip()
            hits.sort(key=lambda index: str(structure.nodes[index].operation) != number)
            self._found = tuple(hits)
        self._show_count()
        return self._found

    def match_index(self) -> int:
        return self._at

    def _show_count(self) -> None:
        if not self.query():
            self.count.setText("")
        else:
            self.count.setText(f"{self._at + 1} of {len(self._found):,}" if self._found else "none")

    def _on_text(self) -> None:
        if not self.query():
            self._found = ()
            self._show_count()
        self.searched.emit(self.search.text())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.search and event.type() is QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Up):
                self._move(1 if event.key() == Qt.Key.Key_Down else -1)
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._enter(back=bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.left.emit()
                return True
        return super().eventFilter(watched, event)

    _entered = ""

    def _enter(self, back: bool) -> None:
        """Select the match in view; the next one (with Shift the one before) where that is done already."""
        if self._entered == self.query():
            self._move(-1 if back else 1)
            return
        self._entered = self.query()
        self.stepped.emit()

    def _move(self, by: int) -> None:
        if self._found:
            self._at = (self._at + by) % len(self._found)
            self._entered = self.query()
            self._show_count()
            self.stepped.emit()

    # -- colours and neighbourhood --------------------------------------------------------------------------------

    def show_mode(self, mode: ColourMode) -> None:
        self.colours.setCurrentIndex(self.colours.findData(mode.value))

    def _on_mode(self, index: int) -> None:
        self.mode_changed.emit(_MODES[index][0])

    def hops(self) -> int:
        return self.distance.value()

    def set_neighbourhood(self, is_on: bool) -> None:
        with QSignalBlocker(self.near):
            self.near.setChecked(is_on)

    def _on_near(self, is_on: bool) -> None:
        self.neighbourhood_changed.emit(is_on, self.hops())

    def _on_distance(self, hops: int) -> None:
        if self.near.isChecked():
            self.neighbourhood_changed.emit(True, hops)

    # -- remarks --------------------------------------------------------------------------------------------------

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
        if len(entries) > _MOST_REMARKS:
            menu.addAction(f"{len(entries) - _MOST_REMARKS:,} more").setEnabled(False)
        count = len(entries)
        self.remarks.setText(f"! {count:,}")
        self.remarks.setToolTip(f"{count:,} {'remark' if count == 1 else 'remarks'} on the graph")
        self.remarks.setVisible(bool(count))

    def _on_remark(self) -> None:
        action = self.sender()
        if isinstance(action, QAction):
            operation = action.data()
            self.remark_chosen.emit(None if operation is None else int(operation))
