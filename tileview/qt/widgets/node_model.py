"""The one item model behind all tables and trees: it hands on what a :class:`TableSpec` says.

Rows are known by keys. New rows are compared with those shown, and only the difference is told to the views (rows
removed, moved within a layout change, inserted, data changed), so that selection, expansion and scroll position
survive every update. A reset happens for a new document only (:meth:`NodeModel.clear`). Indexes carry integer ids only.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QFont

from tileview.present.tables import Cell, Node, TableSpec, Tone
from tileview.qt.base.painting import told
from tileview.qt.base.text import safe_tip, visible_text
from tileview.qt.base.theme import Theme

KEY_ROLE = Qt.ItemDataRole.UserRole
"""The key of a row, whatever the column."""
SORT_ROLE = Qt.ItemDataRole.UserRole + 1
"""What the column sorts the row by, as text."""

Index = QModelIndex | QPersistentModelIndex
_SHOWN = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
_LEAF = _SHOWN | Qt.ItemFlag.ItemNeverHasChildren
"""Of a row without children: then a view does not ask after them, for every row that it lays out."""
_MOST_RUNS = 256
"""Runs of inserted or removed rows told one by one; where there are more, all siblings go and come at once."""


class _Item:
    """A row that is shown: its node, its place among its siblings, the ids of its children.

    Children are ``given`` as nodes and become items when a view, or anyone, looks below the row: ``is_made``.
    """

    __slots__ = ("cells", "children", "given", "is_made", "key", "parent", "position", "row")

    def __init__(self, key: Hashable, row: Any, parent: int, position: int, given: Sequence[Node[Any]]) -> None:
        self.key = key
        self.row = row
        self.parent = parent
        self.position = position
        self.children: list[int] = []
        self.given = given
        self.is_made = not given
        self.cells: dict[int, Cell] = {}

    @property
    def count(self) -> int:
        return len(self.children) if self.is_made else len(self.given)


class NodeModel(QAbstractItemModel):
    """See the module. :meth:`set_nodes` takes the rows; sorting by a header click is done through the spec."""

    def __init__(self, spec: TableSpec[Any], theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.spec = spec
        self.swatch: Callable[[Any], QColor | None] | None = None
        """What gives a row's colour, shown before its name."""
        self._width = len(spec.columns)
        self._colours = _colours(theme)
        self._light = QColor(theme.hover)
        self._bold = QFont()
        self._bold.setBold(True)
        self._items: dict[int, _Item] = {0: _Item(None, None, -1, 0, ())}
        self._places: dict[Hashable, int] | None = None
        self._next_id = 1
        self._nodes: tuple[Node[Any], ...] = ()
        self._lit: frozenset[Hashable] = frozenset()
        self._column = -1
        self._descending = False

    # -- rows -----------------------------------------------------------------------------------------------------

    @property
    def nodes(self) -> tuple[Node[Any], ...]:
        """What is shown, in the order shown."""
        return self._nodes

    def set_nodes(self, nodes: Sequence[Node[Any]]) -> None:
        """Show these rows, in this order where no column is sorted by."""
        nodes = tuple(nodes)
        self._unsorted = nodes
        if self._column >= 0:
            nodes = self.spec.sorted_nodes(nodes, self._column, self._descending)
        self._nodes = nodes
        self._update(0, nodes)

    def clear(self) -> None:
        """Forget all rows: another document."""
        self.beginResetModel()
        self._items = {0: _Item(None, None, -1, 0, ())}
        self._places = None
        self._nodes = ()
        self._unsorted = ()
        self.endResetModel()

    def light(self, keys: Iterable[Hashable]) -> None:
        """Light up the rows with these keys, and no others: what is under the pointer elsewhere."""
        wanted = frozenset(keys)
        changed = self._lit ^ wanted
        self._lit = wanted
        if not changed or len(self._items) == 1:
            return
        places = self._made_places()
        for key in changed:
            if key in places:
                first = self._index_of(places[key])
                last = first.siblingAtColumn(self._width - 1)
                self.dataChanged.emit(first, last, [Qt.ItemDataRole.BackgroundRole])

    def set_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self._colours = _colours(theme)
        self._light = QColor(theme.hover)
        self._tell_data(0, [Qt.ItemDataRole.ForegroundRole])

    def forget_cells(self) -> None:
        """Ask the spec for every cell again: it says the same in another form."""
        for item in self._items.values():
            item.cells.clear()
        self._tell_data(0, [Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole])

    def row(self, index: Index) -> Any:
        """The row at an index; None for an invalid one."""
        return self._items[index.internalId()].row if index.isValid() else None

    def key(self, index: Index) -> Hashable:
        return self._items[index.internalId()].key if index.isValid() else None

    def find(self, key: Hashable, column: int = 0) -> QModelIndex:
        """The first row with a key, in any depth; an invalid index where there is none."""
        found = self._made_places().get(key)
        if found is None and self._make_all(0):
            found = self._made_places().get(key)
        return QModelIndex() if found is None else self.createIndex(self._items[found].position, column, found)

    def _made_places(self) -> dict[Hashable, int]:
        if self._places is None:
            self._places = {}
            for item_id, item in self._items.items():
                if item_id:
                    self._places.setdefault(item.key, item_id)
        return self._places

    def indexes(self, parent: int = 0) -> Iterator[QModelIndex]:
        """Every row's first index, in the order shown, children after their parent."""
        for child in self._children(parent):
            yield self.createIndex(self._items[child].position, 0, child)
            yield from self.indexes(child)

    # -- difference -----------------------------------------------------------------------------------------------

    def _index_of(self, item_id: int) -> QModelIndex:
        return QModelIndex() if item_id == 0 else self.createIndex(self._items[item_id].position, 0, item_id)

    def _update(self, parent: int, nodes: Sequence[Node[Any]]) -> None:
        """Make the children of an item those of ``nodes`` with the fewest signals."""
        children = self._children(parent)
        if not children or not nodes:
            if children:
                self._remove(parent, 0, len(children))
            if nodes:
                self._insert(parent, 0, nodes)
            return
        wanted = {node.key: node for node in nodes}
        shown = {self._items[child].key for child in children}
        removed = _runs([self._items[child].key not in wanted for child in children])
        added = _runs([node.key not in shown for node in nodes])
        if len(removed) + len(added) > _MOST_RUNS:
            removed = [(0, len(children))] if children else []
            added = [(0, len(nodes))] if nodes else []
        for start, stop in reversed(removed):
            self._remove(parent, start, stop)
        kept = {self._items[child].key: child for child in self._items[parent].children}
        self._reorder(parent, [kept[node.key] for node in nodes if node.key in kept])
        for start, stop in added:
            self._insert(parent, start, nodes[start:stop])
        self._refresh(parent, nodes)

    def _remove(self, parent: int, start: int, stop: int) -> None:
        self.beginRemoveRows(self._index_of(parent), start, stop - 1)
        item = self._items[parent]
        for child in item.children[start:stop]:
            self._forget(child)
        del item.children[start:stop]
        self._number(parent, start)
        self.endRemoveRows()

    def _forget(self, item_id: int) -> None:
        self._places = None
        for child in self._items.pop(item_id).children:
            self._forget(child)

    def _children(self, item_id: int) -> list[int]:
        """The ids of an item's children, which are made if they are not."""
        item = self._items[item_id]
        if not item.is_made:
            item.is_made = True
            item.children = [self._make(item_id, position, node) for position, node in enumerate(item.given)]
        return item.children

    def _make_all(self, parent: int) -> bool:
        """Make every item below one; False where all were made already."""
        is_new = not self._items[parent].is_made
        for child in self._children(parent):
            is_new = self._make_all(child) or is_new
        return is_new

    def _insert(self, parent: int, start: int, nodes: Sequence[Node[Any]]) -> None:
        self.beginInsertRows(self._index_of(parent), start, start + len(nodes) - 1)
        made = [self._make(parent, start + position, node) for position, node in enumerate(nodes)]
        self._items[parent].children[start:start] = made
        self._number(parent, start + len(made))
        self.endInsertRows()

    def _make(self, parent: int, position: int, node: Node[Any]) -> int:
        self._places = None
        item_id = self._next_id
        self._next_id += 1
        self._items[item_id] = _Item(node.key, node.row, parent, position, node.children)
        return item_id

    def _number(self, parent: int, start: int) -> None:
        children = self._items[parent].children
        for position in range(start, len(children)):
            self._items[children[position]].position = position

    def _reorder(self, parent: int, order: list[int]) -> None:
        """Put the children of an item in another order, telling the views once."""
        if order == self._items[parent].children:
            return
        self.layoutAboutToBeChanged.emit()
        before = self.persistentIndexList()
        self._items[parent].children = order
        self._number(parent, 0)
        after = []
        for index in before:
            item = self._items.get(index.internalId())
            after.append(self.createIndex(item.position, index.column(), index.internalId()) if item else QModelIndex())
        self.changePersistentIndexList(before, after)
        self.layoutChanged.emit()

    def _refresh(self, parent: int, nodes: Sequence[Node[Any]]) -> None:
        """Take the rows' new content; tell the range that changed."""
        item = self._items[parent]
        first, last = -1, -1
        for position, (child, node) in enumerate(zip(tuple(item.children), nodes, strict=True)):
            shown = self._items[child]
            if shown.row is not node.row:
                if shown.row != node.row:
                    first = position if first < 0 else first
                    last = position
                shown.row = node.row
                shown.cells.clear()
            if shown.given is not node.children:
                if shown.is_made or len(shown.given) != len(node.children):
                    self._update(child, node.children)
                shown.given = node.children
        if first >= 0:
            columns = len(self.spec.columns) - 1
            self.dataChanged.emit(
                self.createIndex(first, 0, item.children[first]), self.createIndex(last, columns, item.children[last])
            )

    def _tell_data(self, parent: int, roles: list[int]) -> None:
        children = self._items[parent].children
        if children:
            self.dataChanged.emit(
                self.createIndex(0, 0, children[0]),
                self.createIndex(len(children) - 1, len(self.spec.columns) - 1, children[-1]),
                roles,
            )
        for child in children:
            self._tell_data(child, roles)

    # -- what Qt asks ---------------------------------------------------------------------------------------------

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        item_id = 0
        if parent.isValid():
            if parent.column() != 0:
                return QModelIndex()
            item_id = parent.internalId()
        item = self._items.get(item_id)
        if item is None or not 0 <= row < item.count or not 0 <= column < self._width:
            return QModelIndex()
        children = item.children if item.is_made else self._children(item_id)
        return self.createIndex(row, column, children[row])

    def parent(self, index: Index = QModelIndex()) -> Any:  # noqa: B008
        item = self._items.get(index.internalId()) if index.isValid() else None
        return QModelIndex() if item is None or item.parent <= 0 else self._index_of(item.parent)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        if parent.isValid() and parent.column() != 0:
            return 0
        item = self._items.get(parent.internalId() if parent.isValid() else 0)
        return 0 if item is None else item.count

    def hasChildren(self, parent: Index = QModelIndex()) -> bool:  # noqa: B008
        return self.rowCount(parent) > 0

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return self._width

    def flags(self, index: Index) -> Qt.ItemFlag:
        item = self._items.get(index.internalId()) if index.isValid() else None
        if item is None:
            return Qt.ItemFlag.NoItemFlags
        return _LEAF if item.is_made and not item.children else _SHOWN

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(self.spec.columns):
            return None
        column = self.spec.columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.title
        if role == Qt.ItemDataRole.ToolTipRole:
            return column.tip or None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if column.numeric else _LEFT
        return None

    @told()
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        answer = _ANSWERS.get(role)
        if answer is None or not index.isValid():
            return None
        item = self._items.get(index.internalId())
        return None if item is None else answer(self, item, index.column())

    def cell(self, item: _Item, column: int) -> Cell:
        """What a cell says, made once until its row changes: a view asks for ten roles of it at every paint."""
        found = item.cells.get(column)
        if found is None:
            found = item.cells[column] = self.spec.cell(item.row, column)
        return found

    def _text(self, item: _Item, column: int) -> str:
        return visible_text(self.cell(item, column).text)

    def _tip(self, item: _Item, column: int) -> str | None:
        return safe_tip(self.cell(item, column).tip) or None

    def _colour(self, item: _Item, column: int) -> QColor:
        return self._colours[self.cell(item, column).tone]

    def _swatch(self, item: _Item, column: int) -> QColor | None:
        return None if column or self.swatch is None or item.row is None else self.swatch(item.row)

    def _font(self, item: _Item, column: int) -> QFont | None:
        return self._bold if self.cell(item, column).bold else None

    def _ground(self, item: _Item, column: int) -> QColor | None:
        return self._light if item.key in self._lit else None

    def _side(self, item: _Item, column: int) -> int:
        return _RIGHT if self.spec.is_right(item.row, column) else _LEFT

    def _spoken(self, item: _Item, column: int) -> str:
        return f"{self.spec.columns[column].title}: {self.cell(item, column).text}"

    def _sort_text(self, item: _Item, column: int) -> str:
        value = self.spec.sort_value(item.row, column)
        return "" if value is None else str(value)

    def _key_text(self, item: _Item, column: int) -> str:
        return str(item.key)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; −1 is the order in which the rows were given."""
        self._column = column
        self._descending = order == Qt.SortOrder.DescendingOrder
        self.set_nodes(self._unsorted)

    _unsorted: tuple[Node[Any], ...] = ()


_LEFT = (Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter).value
_RIGHT = (Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter).value

_ANSWERS: dict[int, Callable[[NodeModel, _Item, int], Any]] = {
    Qt.ItemDataRole.DisplayRole: NodeModel._text,
    Qt.ItemDataRole.ToolTipRole: NodeModel._tip,
    Qt.ItemDataRole.ForegroundRole: NodeModel._colour,
    Qt.ItemDataRole.BackgroundRole: NodeModel._ground,
    Qt.ItemDataRole.FontRole: NodeModel._font,
    Qt.ItemDataRole.DecorationRole: NodeModel._swatch,
    Qt.ItemDataRole.TextAlignmentRole: NodeModel._side,
    Qt.ItemDataRole.AccessibleTextRole: NodeModel._spoken,
    KEY_ROLE: NodeModel._key_text,
    SORT_ROLE: NodeModel._sort_text,
}
"""What a role shows: text, colours and alignment only, never a number wider than Qt takes."""


def _colours(theme: Theme) -> dict[Tone, QColor]:
    return {tone: QColor(getattr(theme, tone.value)) for tone in Tone}


def _runs(marks: Sequence[bool]) -> list[tuple[int, int]]:
    """Half-open runs of marked positions, ascending."""
    runs: list[tuple[int, int]] = []
    for position, marked in enumerate(marks):
        if marked:
            if runs and runs[-1][1] == position:
                runs[-1] = (runs[-1][0], position + 1)
            else:
                runs.append((position, position + 1))
    return runs
