"""The tree widget behind all tables: sorting by the header, copying, and keeping selection and scroll."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QAction,
    QFont,
    QFontMetrics,
    QGuiApplication,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPalette,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolTip,
    QTreeView,
    QWidget,
)

from tileview.present.tables import Room, TableSpec, fitted_line
from tileview.qt.base.painting import told
from tileview.qt.base.text import safe_tip
from tileview.qt.widgets.node_model import Index, NodeModel

_CELL_MARGIN = 8
"""Pixels left and right of a cell's text."""

_INDENT = 12
_LINE_MARGIN = 6
"""Pixels that a row of two lines has beyond them."""

_FEWEST_CHARACTERS = 6
"""Of a column that gives way to others; a tooltip has the rest."""

_KEYS = "Up and Down, Home and End move; Ctrl+C copies the selected rows as text."


class NodeView(QTreeView):
    """A table or tree over a :class:`NodeModel`; its columns are as wide as their declarations say.

    ``picked`` carries the key of a row that the *user* made current (never one that the program did);
    ``activated_key`` that of a row activated by double click or Enter; ``pointed`` that of the row under the pointer,
    None where it left. Ctrl+C copies the selected rows, or all where none is, as tab-separated text. A click on a
    header sorts, first from the largest down for numbers; a third click restores the given order.
    """

    picked = Signal(object)
    activated_key = Signal(object)
    pointed = Signal(object)

    def __init__(self, model: NodeModel, name: str, parent: QWidget | None = None, *, tree: bool = False) -> None:
        super().__init__(parent)
        self.nodes = model
        self.shorten: Callable[[str, int], str] | None = None
        """Makes a text of the first column that has no room into one of about so many characters."""
        self._has_lines = type(model.spec).line is not TableSpec.line
        self._quiet = False
        self._flexible: dict[int, int] = {}
        self._optional: dict[int, int] = {}
        self._seen: frozenset[int] = frozenset()
        self.setModel(model)
        self.setAccessibleName(name)
        self.setAccessibleDescription(_KEYS)
        self.setRootIsDecorated(tree)
        self.setIndentation(_INDENT)
        self.setUniformRowHeights(not self._has_lines)
        self.setAlternatingRowColors(True)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setTabKeyNavigation(False)
        self.setExpandsOnDoubleClick(False)
        self.setMouseTracking(True)
        self.setItemDelegate(_Cells(self))
        header = self.header()
        header.setSectionsClickable(True)
        header.setSortIndicatorClearable(True)
        header.setSortIndicatorShown(True)
        header.setSortIndicator(-1, Qt.SortOrder.DescendingOrder)
        header.setStretchLastSection(True)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.sortIndicatorChanged.connect(self._sort)
        self.activated.connect(self._activate)
        self.entered.connect(self._point)
        copy = QAction("Copy rows", self)
        copy.setShortcut(QKeySequence(QKeySequence.StandardKey.Copy))
        copy.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        copy.triggered.connect(self.copy_rows)
        self.addAction(copy)
        self._declare()

    # -- columns --------------------------------------------------------------------------------------------------

    def _declare(self) -> None:
        """Take the columns' samples and what they do where room is scarce."""
        columns = self.nodes.spec.columns
        samples = [column.sample for column in columns]
        if not any(samples):
            return
        self.set_samples(*samples)
        places = range(len(columns))
        for place in places:
            self.setColumnHidden(place, columns[place].room is Room.NEVER)
        self.set_seen(*(place for place in places if columns[place].is_seen))
        self.set_optional(*(place for place in reversed(places) if columns[place].room is Room.SPARE))
        self.set_flexible(*(place for place in places if columns[place].room is Room.SHARED))

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

    # -- rows of two lines, and headings --------------------------------------------------------------------------

    def span_heads(self) -> None:
        """Give the headings among the outermost rows the whole width."""
        for place in range(self.nodes.rowCount()):
            is_head = self.nodes.spec.is_head(self.nodes.row(self.nodes.index(place, 0)))
            if is_head != self.isFirstColumnSpanned(place, QModelIndex()):
                self.setFirstColumnSpanned(place, QModelIndex(), is_head)

    def has_line(self, index: Index) -> bool:
        """Whether a line of its own stands under the figures of a row."""
        return self._has_lines and index.isValid() and bool(self.nodes.spec.line(self.nodes.row(index)))

    @told()
    def drawRow(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | Any) -> None:
        super().drawRow(painter, option, index)
        if self.has_line(index):
            row = self.visualRect(index.siblingAtColumn(0))
            area = QRect(row.left(), row.top(), self.viewport().width() - row.left(), row.height())
            palette = option.palette
            is_selected = self.selectionModel().isSelected(index.siblingAtColumn(0))
            role = QPalette.ColorRole.HighlightedText if is_selected else QPalette.ColorRole.Text
            painter.save()
            painter.setPen(palette.color(role))
            self.draw_line(painter, area, index)
            painter.restore()

    def draw_line(self, painter: QPainter, area: QRect, index: Index) -> None:
        """Draw the line under a row in the lower half of its area, in the painter's colour; values are never cut."""
        plain, strong = QFont(self.font()), QFont(self.font())
        strong.setBold(True)
        metrics = {False: QFontMetrics(plain), True: QFontMetrics(strong)}
        indent = metrics[False].horizontalAdvance("00")
        room = area.width() - indent - _CELL_MARGIN
        texts = fitted_line(
            self.nodes.spec.line(self.nodes.row(index)),
            room,
            lambda text, is_bold: metrics[is_bold].horizontalAdvance(text),
        )
        left, height = area.left() + indent, metrics[False].height()
        for text, is_bold in texts:
            painter.setFont(strong if is_bold else plain)
            space = area.left() + indent + room - left
            shown = metrics[is_bold].elidedText(text, Qt.TextElideMode.ElideRight, space)
            painter.drawText(left, area.bottom() - height - 1, space, height, int(Qt.AlignmentFlag.AlignVCenter), shown)
            left += metrics[is_bold].horizontalAdvance(text)

    # -- the pointer ----------------------------------------------------------------------------------------------

    def _point(self, index: QModelIndex) -> None:
        self.pointed.emit(self.nodes.key(index))

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Leave:
            self.pointed.emit(None)
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            index = self.indexAt(event.pos())
            if self.has_line(index) and event.pos().y() > self.visualRect(index).center().y():
                tip = self.nodes.spec.line_tip(self.nodes.row(index))
                QToolTip.showText(event.globalPos(), safe_tip(tip), self.viewport())
                return True
        return super().viewportEvent(event)

    # -- selection ------------------------------------------------------------------------------------------------

    def show_current(self, key: Hashable, *, scroll: bool = True, centre: bool = False) -> bool:
        """Make the row with a key current without telling ``picked``; no row for None. False where there is none.

        With ``centre`` a row out of sight comes into the middle: in a list that follows from row to row, all rows are
        then drawn anew only now and then.
        """
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
        can_scroll = self.isVisible()  # a table that was never seen has no height yet: Qt scrolls it when it is shown
        self.setAutoScroll(scroll and not (centre and can_scroll))
        try:
            flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
            selection.setCurrentIndex(index, flags)
            if scroll and can_scroll and not (centre and self.viewport().rect().contains(self._line_of(index))):
                hints = NodeView.ScrollHint
                self.scrollTo(index, hints.PositionAtCenter if centre else hints.EnsureVisible)
        finally:
            self.setAutoScroll(True)
            self._quiet = False
        return True

    def _line_of(self, index: Index) -> QRect:
        """Where a row lies from above to below, whatever part of it is scrolled out of sight sideways."""
        row = self.visualRect(index)
        return QRect(0, row.top(), 1, row.height())

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
        """The selected rows in the order shown; where none is selected all that are exported."""
        chosen = {index.internalId() for index in self.selectionModel().selectedRows()}
        every = [(index.internalId(), self.nodes.row(index)) for index in self.nodes.indexes()]
        if chosen:
            return [row for number, row in every if number in chosen]
        return [row for _, row in every if self.nodes.spec.is_exported(row)]

    def copy_rows(self) -> None:
        """Put the selected rows on the clipboard as tab-separated text, header first."""
        QGuiApplication.clipboard().setText(self.nodes.spec.tsv(self.selected_rows()))

    def csv_maker(self) -> Callable[[], str]:
        """What makes all rows, as they are now, into CSV; may run on any thread."""
        return partial(self.nodes.spec.csv, self.nodes.nodes)


class _Cells(QStyledItemDelegate):
    """Cells whose texts give way as their table says; of rows of two lines the figures stand in the upper one."""

    def __init__(self, view: NodeView) -> None:
        super().__init__(view)
        self._view = view

    @told()
    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        super().initStyleOption(option, index)
        given: Any = option
        side = given.fontMetrics.ascent() - 2
        given.decorationSize = QSize(side, side)
        if self._view.has_line(index):
            given.displayAlignment = (given.displayAlignment & Qt.AlignmentFlag.AlignHorizontal_Mask) | (
                Qt.AlignmentFlag.AlignTop
            )
        if self._view.shorten is not None and index.column() == 0:
            swatch = 0 if self._view.nodes.swatch is None else side + _CELL_MARGIN
            room, metrics = given.rect.width() - _CELL_MARGIN - swatch, given.fontMetrics
            if metrics.horizontalAdvance(given.text) > room:
                given.text = self._view.shorten(given.text, room // max(metrics.averageCharWidth(), 1))

    @told(QSize)
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        hint = super().sizeHint(option, index)
        if self._view.has_line(index):
            hint.setHeight(2 * self._view.fontMetrics().height() + _LINE_MARGIN)
        return hint
