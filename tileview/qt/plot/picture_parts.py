"""Parts of exported pictures that are made from widgets: captions, tables, pages of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QPointF, QRect, QRectF, QSizeF, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QFont,
    QFontMetrics,
    QIcon,
    QPainter,
    QPolygonF,
    QTextDocument,
)
from PySide6.QtWidgets import QTextEdit, QTreeView, QWidget

from tileview.qt.base.text import cut_words
from tileview.qt.base.theme import Theme
from tileview.qt.plot.picture import Part
from tileview.qt.widgets.node_view import NodeView

_WRAP = int(Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
_ENDLESS = 1_000_000
_CELL = 3


@dataclass(frozen=True, slots=True)
class Line:
    """A paragraph of a :class:`TextPart`: its text, the token of its colour, and whether it is bold."""

    text: str
    token: str = "text"
    is_bold: bool = False


class TextPart:
    """Paragraphs, wrapped to a width."""

    def __init__(self, lines: Sequence[Line], width: int, font: QFont, theme: Theme) -> None:
        self._width, self._theme = width, theme
        self._lines: list[tuple[str, QFont, QColor, int]] = []
        for line in lines:
            own = QFont(font)
            own.setBold(line.is_bold)
            text = cut_words(line.text)
            room = QFontMetrics(own).boundingRect(QRect(0, 0, width, _ENDLESS), _WRAP, text)
            self._lines.append((text, own, theme.color(line.token), room.height()))

    def width(self) -> int:
        return self._width

    def height(self) -> int:
        return sum(height for *_, height in self._lines)

    def draw(self, painter: QPainter) -> None:
        y = 0
        for text, font, color, height in self._lines:
            painter.setFont(font)
            painter.setPen(color)
            painter.drawText(QRect(0, y, self._width, height), _WRAP, text)
            y += height


class PagePart:
    """A page of rich text, all of it, also what is scrolled out of sight."""

    def __init__(self, page: QTextEdit, width: int) -> None:
        self._palette = page.palette()
        self._document: QTextDocument = page.document().clone()
        self._document.setPageSize(QSizeF(width, -1))
        self._document.setTextWidth(width)
        self._width = width

    def width(self) -> int:
        return self._width

    def height(self) -> int:
        return ceil(self._document.size().height())

    def draw(self, painter: QPainter) -> None:
        context = QAbstractTextDocumentLayout.PaintContext()
        context.palette = self._palette
        layout = self._document.documentLayout()
        if layout is not None:
            layout.draw(painter, context)


class RowPart:
    """Parts beside one another."""

    def __init__(self, parts: Sequence[Part], gap: int = 8) -> None:
        self._parts, self._gap = parts, gap

    def width(self) -> int:
        return sum(part.width() for part in self._parts) + self._gap * max(len(self._parts) - 1, 0)

    def height(self) -> int:
        return max((part.height() for part in self._parts), default=0)

    def draw(self, painter: QPainter) -> None:
        for part in self._parts:
            painter.save()
            part.draw(painter)
            painter.restore()
            painter.translate(part.width() + self._gap, 0)


class ColumnPart:
    """Parts below one another."""

    def __init__(self, parts: Sequence[Part], gap: int = 2) -> None:
        self._parts, self._gap = parts, gap

    def width(self) -> int:
        return max((part.width() for part in self._parts), default=0)

    def height(self) -> int:
        return sum(part.height() for part in self._parts) + self._gap * max(len(self._parts) - 1, 0)

    def draw(self, painter: QPainter) -> None:
        for part in self._parts:
            painter.save()
            part.draw(painter)
            painter.restore()
            painter.translate(0, part.height() + self._gap)


class TitlePart:
    """A text on one line, in the font and colour of a label, cut to a width."""

    def __init__(self, label: QWidget, text: str, width: int) -> None:
        self._label, self._text, self._width = label, text, width

    def width(self) -> int:
        return self._width

    def height(self) -> int:
        return self._label.fontMetrics().height() + 2

    def draw(self, painter: QPainter) -> None:
        painter.setFont(self._label.font())
        painter.setPen(self._label.palette().color(self._label.foregroundRole()))
        area = QRect(0, 0, self._width, self.height())
        _draw_text(painter, area, self._text, None, Qt.TextElideMode.ElideMiddle)


class TablePart:
    """Header and rows of a table as far as they are in sight, without its scroll bars; and how many rows there are.

    Every text is cut to its cell, and every cell to the table, so that nothing has to be clipped.
    """

    def __init__(self, tree: QTreeView, theme: Theme) -> None:
        self._tree, self._theme = tree, theme
        self._room = tree.viewport().rect()
        header = tree.header()
        self._top = 0 if header.isHidden() else header.height()
        rows = [index for index in _in_sight(tree) if tree.visualRect(index).bottom() <= self._room.bottom()]
        self._rows = rows
        self._end = tree.visualRect(rows[-1]).bottom() + 1 if rows else 0
        self._foot = self._words()

    def _words(self) -> str:
        """How much of the table is in sight; empty where all of it is."""
        flat = not self._tree.rootIsDecorated()
        count = self._tree.model().rowCount() if flat else _row_count(self._tree)
        seen = sum(not flat or not index.parent().isValid() for index in self._rows)
        if count == 0:
            return "No rows"
        return "" if seen == count else f"{seen:,} of {count:,} rows"

    def width(self) -> int:
        return self._room.width()

    def height(self) -> int:
        foot = self._tree.fontMetrics().height() + 4 if self._foot else 0
        return self._top + self._end + foot

    def draw(self, painter: QPainter) -> None:
        painter.setFont(self._tree.font())
        self._draw_header(painter)
        painter.translate(0, self._top)
        for place, index in enumerate(self._rows):
            self._draw_row(painter, index, place)
        painter.setPen(self._theme.color("border"))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(QRectF(0.5, -self._top + 0.5, self.width() - 1, self._top + self._end - 1))
        if self._foot:
            painter.setPen(self._theme.color("muted"))
            area = QRect(0, self._end + 2, self.width(), self._tree.fontMetrics().height() + 2)
            painter.drawText(area, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), self._foot)

    def _draw_header(self, painter: QPainter) -> None:
        header, model = self._tree.header(), self._tree.model()
        if self._top == 0:
            return
        painter.fillRect(QRect(0, 0, self.width(), self._top), self._theme.color("raised"))
        painter.setPen(self._theme.color("text"))
        for section in range(header.count()):
            if header.isSectionHidden(section):
                continue
            left = header.sectionViewportPosition(section)
            area = QRect(left, 0, header.sectionSize(section), self._top).intersected(self._room_of(self._top))
            text = str(model.headerData(section, Qt.Orientation.Horizontal) or "")
            side = model.headerData(section, Qt.Orientation.Horizontal, Qt.ItemDataRole.TextAlignmentRole)
            if header.isSortIndicatorShown() and header.sortIndicatorSection() == section:
                text += " ▾" if header.sortIndicatorOrder() is Qt.SortOrder.DescendingOrder else " ▴"
            _draw_text(painter, area, text, side, Qt.TextElideMode.ElideRight)
            if 0 < left < self.width():
                painter.fillRect(QRect(left - 1, 2, 1, self._top - 4), self._theme.color("border"))

    def _room_of(self, height: int) -> QRect:
        return QRect(0, 0, self.width(), height)

    def _draw_row(self, painter: QPainter, index: QModelIndex, place: int) -> None:
        tree, theme = self._tree, self._theme
        line = tree.visualRect(index)
        area = QRect(0, line.top(), self.width(), line.height())
        selected = tree.selectionModel().isSelected(index)
        ground = "selection" if selected else "surface" if place % 2 and tree.alternatingRowColors() else "background"
        painter.fillRect(area, theme.color(ground))
        if tree.rootIsDecorated() or index.parent().isValid():
            self._draw_branch(painter, index, line)
        spanned = tree.isFirstColumnSpanned(index.row(), index.parent())
        has_line = isinstance(tree, NodeView) and tree.has_line(index)
        header = tree.header()
        for column in range(1 if spanned else header.count()):
            if header.isSectionHidden(column):
                continue
            cell = index.siblingAtColumn(column)
            box = area.adjusted(max(line.left(), 0), 0, 0, 0) if spanned else tree.visualRect(cell)
            box = box.intersected(area)
            if has_line:
                box.setHeight(box.height() // 2)
            self._draw_cell(painter, cell, box, selected)
        if isinstance(tree, NodeView) and has_line:
            painter.setPen(theme.color("selection_text" if selected else "text"))
            tree.draw_line(painter, area.adjusted(max(line.left(), 0), 0, 0, 0), index)

    def _draw_cell(self, painter: QPainter, cell: QModelIndex, area: QRect, selected: bool) -> None:
        if area.width() <= 2 * _CELL:
            return
        font = cell.data(Qt.ItemDataRole.FontRole)
        painter.setFont(font if isinstance(font, QFont) else self._tree.font())
        ink = None if selected else cell.data(Qt.ItemDataRole.ForegroundRole)
        plain = self._theme.color("selection_text" if selected else "text")
        painter.setPen(ink if isinstance(ink, QColor) else plain)
        sign = cell.data(Qt.ItemDataRole.DecorationRole)
        if isinstance(sign, QIcon):
            side = self._tree.fontMetrics().height()
            sign.paint(painter, QRect(area.left() + _CELL, area.center().y() - side // 2, side, side))
            area = area.adjusted(side + _CELL, 0, 0, 0)
        side = cell.data(Qt.ItemDataRole.TextAlignmentRole)
        _draw_text(painter, area, str(cell.data() or ""), side, self._tree.textElideMode())

    def _draw_branch(self, painter: QPainter, index: QModelIndex, line: QRect) -> None:
        """The triangle of a row that can be folded."""
        tree = self._tree
        if not tree.model().hasChildren(index):
            return
        middle = QPointF(line.left() - tree.indentation() / 2, line.center().y() + 0.5)
        if middle.x() < 4:
            return
        corners = ((-3, -2), (3, -2), (0, 3)) if tree.isExpanded(index) else ((-2, -3), (-2, 3), (3, 0))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("muted"))
        painter.drawPolygon(QPolygonF([middle + QPointF(x, y) for x, y in corners]))


def _draw_text(painter: QPainter, area: QRect, text: str, side: object, cut: Qt.TextElideMode) -> None:
    """A text on one line, or on the lines it has where there is room for them; each cut to its room."""
    room = area.adjusted(_CELL, 0, -_CELL, 0)
    if room.width() <= 0 or not text:
        return
    flags = side if isinstance(side, int) else int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    metrics = painter.fontMetrics()
    lines = text.split("\n")
    if len(lines) > 1 and room.height() >= len(lines) * metrics.height():
        shown = "\n".join(metrics.elidedText(line, cut, room.width()) for line in lines)
        painter.drawText(room, flags | int(Qt.TextFlag.TextDontClip), shown)
        return
    shown = metrics.elidedText(" ".join(lines), cut, room.width())
    painter.drawText(room, flags | int(Qt.TextFlag.TextSingleLine | Qt.TextFlag.TextDontClip), shown)


def _in_sight(tree: QTreeView) -> Iterator[QModelIndex]:
    """The rows that lie in the viewport, wholly or in part, by their first shown column."""
    bottom = tree.viewport().height()
    index = tree.indexAt(QPoint(1, 1))
    index = index.siblingAtColumn(0) if index.isValid() else tree.model().index(0, 0)
    while index.isValid() and tree.visualRect(index).top() < bottom:
        if tree.visualRect(index).top() >= 0:
            yield index
        index = tree.indexBelow(index)


def _row_count(tree: QTreeView) -> int:
    """The rows that can be scrolled to."""
    model = tree.model()

    def below(parent: QModelIndex | QPersistentModelIndex) -> int:
        count = model.rowCount(parent)
        return count + sum(
            below(child) for row in range(count) if tree.isExpanded(child := model.index(row, 0, parent))
        )

    return below(QModelIndex())
