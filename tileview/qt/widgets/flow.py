"""A layout that puts widgets in rows and starts a new row where the width ends, so that no control is ever cut off."""

from __future__ import annotations

from PySide6.QtCore import QMargins, QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class FlowLayout(QLayout):
    """Items in reading order with their size hints; hidden ones take no room. The height follows from the width.

    An item whose horizontal policy is to expand takes what is left of its row.
    """

    def __init__(self, parent: QWidget | None = None, spacing: int = 6) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setSpacing(spacing)
        self.setContentsMargins(QMargins(0, 0, 0, 0))

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._arrange(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._arrange(rect, move=True)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        """The widest single item: with that width everything can still be reached."""
        size = QSize()
        for item in self._items:
            if not item.isEmpty():
                size = size.expandedTo(item.minimumSize())
        margins = self.contentsMargins()
        return size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom())

    def _arrange(self, rect: QRect, move: bool) -> int:
        """Place the items (or only measure); the height they take."""
        margins = self.contentsMargins()
        area = rect.marginsRemoved(margins)
        for row in self._rows(area.width()):
            height = max(size.height() for _, size in row)
            x = area.x()
            for item, size in row:
                if move:
                    item.setGeometry(QRect(QPoint(x, area.y() + (height - size.height()) // 2), size))
                x += size.width() + self.spacing()
            area.setTop(area.y() + height + self.spacing())
        used = area.y() - rect.y() - margins.top()
        return max(used - self.spacing(), 0) + margins.top() + margins.bottom()

    def _rows(self, width: int) -> list[list[tuple[QLayoutItem, QSize]]]:
        rows: list[list[tuple[QLayoutItem, QSize]]] = []
        left = 0
        for item in self._items:
            if item.isEmpty():
                continue
            size = item.sizeHint()
            size.setWidth(min(size.width(), max(width, item.minimumSize().width())))
            if not rows or left < size.width():
                rows.append([])
                left = width
            rows[-1].append((item, size))
            left -= size.width() + self.spacing()
            if item.expandingDirections() & Qt.Orientation.Horizontal and left > 0:
                size.setWidth(size.width() + left + self.spacing())
                left = 0
        return rows
