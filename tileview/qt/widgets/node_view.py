"""The tree widget behind all tables: sorting by the header, copying, and keeping selection and scroll."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt, Signal
from PySide6.QtGui import QAction, QFontMetrics, QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeView, QWidget

from tileview.qt.views.base import View, show_menu
from tileview.qt.widgets.node_model import Index, NodeModel

_CELL_MARGIN = 8
"""Pixels left and right of a cell's text."""

_FEWEST_CHARACTERS = 6
"""Of a column that gives way to others; a tooltip has the rest."""

_KEYS = "Up and Down, Home and End move; Ctrl+C copies the selected rows as text."


class NodeView(QTreeView):
    """A table or tree over a :class:`NodeModel`.

    ``picked`` carries the key of a row that the *user* made current (never one that the program did);
    ``activated_key`` that of a row activated by double click or Enter. Ctrl+C copies the selected rows, or all where
    none is, as tab-separated text. A click on a header sorts, first from the largest down for numbers; a third click
    restores the given order.
    """

    picked = Signal(object)
    activated_key = Signal(object)

    def __init__(self, model: NodeModel, name: str, parent: QWidget | None = None, *, tree: bool = False) -> None:
        super().__init__(parent)
        self.nodes = model
        self._quiet = False
        self._flexible: dict[int, int] = {}
        self._optional: dict[int, int] = {}
        self._seen: frozenset[int] = frozenset()
        self.setModel(model)
        self.setAccessibleName(name)
        self.setAccessibleDescription(_KEYS)
        self.setRootIsDecorated(tree)
        self.setUniformRowHeights(True)
        self.setAlternatingRowColors(True)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setTabKeyNavigation(False)
        self.setExpandsOnDoubleClick(False)
        header = self.header()
        header.setSectionsClickable(True)
        header.setSortIndicatorClearable(True)
        header.setSortIndicatorShown(True)
        header.setSortIndicator(-1, Qt.SortOrder.DescendingOrder)
        header.setStretchLastSection(True)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.sortIndicatorChanged.connect(self._sort)
        self.activated.connect(self._activate)
        copy = QAction("Copy rows", self)
        copy.setShortcut(QKeySequence(QKeySequence.StandardKey.Copy))
        copy.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        copy.triggered.connect(self.copy_rows)
        self.addAction(copy)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._menu)

    def describe(self, sentence: str) -> None:
        """Say for screen readers what the table shows; the keys follow by themselves."""
        self.setAccessibleDescription(f"{sentence} {_KEYS}")

    def set_flexible(self, *columns: int) -> None:
        """Let columns share the room that others leave; where there is none they keep their width, and one scrolls."""
        self._flexible = {column: self.header().sectionSize(column) for column in columns}
        self.header().setStretchLastSection(False)
        self.fit_columns()

    def set_optional(self, *columns: int) -> None:
        """Columns that only say in another way what others do: left out, the first first, where there is no room."""
        self._optional = {column: self.header().sectionSize(column) for column in columns}
        self.fit_columns()

    def set_seen(self, *columns: int) -> None:
        """Columns that are seen without scrolling: where room is scarce, the flexible ones among them give way."""
        self._seen = frozenset(columns)
        self.fit_columns()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit_columns()

    def fit_columns(self) -> None:
        """Leave out what has no room, and spread what is left over between the flexible columns."""
        header, room = self.header(), self.viewport().width()
        fixed = {
            column: self._optional.get(column, header.sectionSize(column))
            for column in range(header.count())
            if column not in self._flexible and (column in self._optional or not header.isSectionHidden(column))
        }
        least = {column: width for column, width in self._flexible.items() if not header.isSectionHidden(column)}
        wanted = sum(least.values())
        for column in self._optional:
            hidden = sum(fixed.values()) + wanted > room
            if header.isSectionHidden(column) != hidden:
                header.setSectionHidden(column, hidden)
            if hidden:
                del fixed[column]
        spare = room - sum(fixed.values())
        if spare < wanted and self._seen:
            seen = {column: width for column, width in least.items() if column in self._seen}
            left = room - sum(width for column, width in fixed.items() if column in self._seen)
            floor, whole = self.fontMetrics().averageCharWidth() * _FEWEST_CHARACTERS, max(sum(seen.values()), 1)
            least.update({column: min(width, max(left * width // whole, floor)) for column, width in seen.items()})
        for column, width in least.items():
            header.resizeSection(column, max(spare * width // max(wanted, 1), width))

    def set_samples(self, *samples: str) -> None:
        """Make each column as wide as a text of its own kind, and as its title; what has no sample keeps its width."""
        metrics = QFontMetrics(self.font())
        for column, sample in enumerate(samples):
            title = str(self.nodes.headerData(column, Qt.Orientation.Horizontal) or "")
            texts = max(metrics.horizontalAdvance(sample), metrics.horizontalAdvance(title))
            indent = 2 * self.indentation() if column == 0 and self.rootIsDecorated() else 0
            self.header().resizeSection(column, texts + indent + _CELL_MARGIN)

    def sort_by(self, column: int, order: Qt.SortOrder = Qt.SortOrder.DescendingOrder) -> None:
        """Sort as a click on a header does; −1 is the order in which the rows are given."""
        self.header().setSortIndicator(column, order)

    # -- selection ------------------------------------------------------------------------------------------------

    def show_current(self, key: Hashable, *, scroll: bool = True) -> bool:
        """Make the row with a key current without telling ``picked``; no row for None. False where there is none."""
        index = QModelIndex() if key is None else self.nodes.find(key)
        selection = self.selectionModel()
        if not index.isValid():
            self._quiet = True
            try:
                selection.clearSelection()
                selection.setCurrentIndex(QModelIndex(), QItemSelectionModel.SelectionFlag.NoUpdate)
            finally:
                self._quiet = False
            return False
        if self.currentIndex().internalId() == index.internalId() and selection.isRowSelected(
            index.row(), index.parent()
        ):
            return True
        self._quiet = True
        self.setAutoScroll(scroll)
        try:
            flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
            selection.setCurrentIndex(index, flags)
            if scroll:
                self.scrollTo(index)
        finally:
            self.setAutoScroll(True)
            self._quiet = False
        return True

    def current_key(self) -> Hashable:
        return self.nodes.key(self.currentIndex())

    def current_row(self) -> Any:
        """The row that is current; None where none is."""
        return self.nodes.row(self.currentIndex())

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        if self._quiet or not current.isValid() or not self._is_by_user():
            return
        self.picked.emit(self.nodes.key(current))

    def _is_by_user(self) -> bool:
        """Whether the view handles a key or a mouse button: rows that go or move make others current by themselves."""
        return self._user_depth > 0

    _user_depth = 0

    def mousePressEvent(self, event: Any) -> None:
        self._user_depth += 1
        try:
            before = self.currentIndex()
            super().mousePressEvent(event)
            if (
                self.currentIndex() == before
                and before.isValid()
                and self.indexAt(event.position().toPoint()) == before
            ):
                self.picked.emit(self.nodes.key(before))
        finally:
            self._user_depth -= 1

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self._user_depth += 1
        try:
            super().keyPressEvent(event)
        finally:
            self._user_depth -= 1

    def _activate(self, index: QModelIndex) -> None:
        self.activated_key.emit(self.nodes.key(index))

    def _sort(self, column: int, order: Qt.SortOrder) -> None:
        self.nodes.sort(column, order)

    # -- copy -----------------------------------------------------------------------------------------------------

    def selected_rows(self) -> list[Any]:
        """The selected rows in the order shown; all rows where none is selected."""
        chosen = {index.internalId() for index in self.selectionModel().selectedRows()}
        rows = [self.nodes.row(index) for index in self.nodes.indexes() if not chosen or index.internalId() in chosen]
        return [row for row in rows if self.nodes.spec.is_exported(row)]

    def copy_rows(self) -> None:
        """Put the selected rows on the clipboard as tab-separated text, header first."""
        QGuiApplication.clipboard().setText(self.nodes.spec.tsv(self.selected_rows()))

    def csv_maker(self) -> Callable[[], str]:
        """What makes all rows, as they are now, into CSV; may run on any thread."""
        return partial(self.nodes.spec.csv, self.nodes.nodes)

    def menu_actions(self) -> list[QAction]:
        """What the context menu offers: what the table can do, then the export of the view around it."""
        around = self.parentWidget()
        while around is not None and not isinstance(around, View):
            around = around.parentWidget()
        own = [action for action in self.actions() if not action.isSeparator()]
        return own if around is None else [*own, *around.export_actions()]

    def _menu(self, position: Any) -> None:
        show_menu(self, self.menu_actions(), self.viewport().mapToGlobal(position))
