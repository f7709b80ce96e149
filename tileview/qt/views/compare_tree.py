"""The table of the comparison: columns that share the room, and entries on two lines where it is scarce."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize, Qt
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QWidget

from tileview.present.compare_rows import MOST_STATES, CompareSpec
from tileview.qt.base.painting import told
from tileview.qt.widgets.node_model import NodeModel
from tileview.qt.widgets.node_view import NodeView

_LABEL = "vit.encoder.attention.qk"
_ENTRY = "573.2 KiB  (−115.4 KiB, −12.8 %)"
_HALF_LABEL, _HALF_ENTRY = "Total peak + res", "573.2 KiB  −12.8 %"
_MARGIN = 12
_MOST_ENTRY = 2
"""How many times as wide as needed an entry's column may become, before the labels get the rest."""


class _Lines(QStyledItemDelegate):
    """Rows as high as their texts need, two lines at most."""

    def __init__(self, tree: CompareTree) -> None:
        super().__init__(tree)
        self._tree = tree

    @told(QSize)
    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        height = self._tree.fontMetrics().height()
        return QSize(0, height * self._tree.lines(index) + 2)


class CompareTree(NodeView):
    """All states are in view whatever the width: columns narrow down, entries take a second line, then they are cut.

    A tooltip has every entry in full.
    """

    def __init__(self, model: NodeModel, spec: CompareSpec, name: str, parent: QWidget | None = None) -> None:
        self._spec = spec
        super().__init__(model, name, parent, tree=True)
        self.setUniformRowHeights(False)
        self.setItemDelegate(_Lines(self))
        self.setIndentation(12)
        header = self.header()
        header.setStretchLastSection(False)
        header.setMinimumSectionSize(24)
        header.setTextElideMode(Qt.TextElideMode.ElideMiddle)

    def fit_columns(self) -> None:
        """Share the width between the label and the states there are."""
        header = self.header()
        states = [column for column in range(1, MOST_STATES + 1) if not header.isSectionHidden(column)]
        room = self.viewport().width()
        if not states or room <= 0:
            return
        label, entry, half_label, half = (
            self.fontMetrics().horizontalAdvance(text) + _MARGIN for text in (_LABEL, _ENTRY, _HALF_LABEL, _HALF_ENTRY)
        )
        label, half_label = label + 2 * self.indentation(), half_label + self.indentation()
        is_compact = label + entry * len(states) > room
        if is_compact:
            first = max(min(half_label, room - half * len(states)), room // (len(states) + 3))
            width = (room - first) // len(states)
        else:
            width = min((room - label) // len(states), _MOST_ENTRY * entry)
        before = [header.sectionSize(column) for column in (0, *states)]
        for column in states:
            header.resizeSection(column, width)
        header.resizeSection(0, room - width * len(states))
        if is_compact != self._spec.is_compact:
            self._spec.is_compact = is_compact
            self.setWordWrap(is_compact)
            self.nodes.forget_cells()
            self.scheduleDelayedItemsLayout()
        elif is_compact and before != [header.sectionSize(column) for column in (0, *states)]:
            self.scheduleDelayedItemsLayout()

    def lines(self, index: QModelIndex | QPersistentModelIndex) -> int:
        """How many lines an entry takes: two where its text does not fit on one, or is two."""
        if not self._spec.is_compact or self.isFirstColumnSpanned(index.row(), index.parent()):
            return 1
        text = str(index.data() or "")
        room = self.columnWidth(index.column()) - _MARGIN // 2
        if index.column() == 0:
            room -= self.indentation() * (2 if index.parent().isValid() else 1)
        return 2 if "\n" in text or self.fontMetrics().horizontalAdvance(text) > room else 1
