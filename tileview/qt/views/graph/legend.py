"""A legend that wraps to the width it has: a title, a ramp with its ends, swatches, and sentences."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QLinearGradient, QPainter, QPaintEvent, QPen, QPolygonF, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from tileview.present.colours import ink_on
from tileview.present.graph_style import GraphStyle
from tileview.qt.base.painting import painting
from tileview.qt.base.theme import Theme
from tileview.qt.views.graph.shapes import draw_stripes

_SPACE = 14.0
_SWATCH = 14.0
_RAMP = 90.0


@dataclass(frozen=True, slots=True)
class _Item:
    """A piece of the legend: ``kind`` is ``title``, ``ramp``, ``swatch`` or ``note``."""

    kind: str
    text: str
    color: QColor | None = None
    mark: str = ""
    low: str = ""

    def lead(self) -> float:
        """Width before the text."""
        return {"swatch": _SWATCH + 5, "ramp": 0.0}.get(self.kind, 0.0)


class LegendStrip(QWidget):
    """Shows the legend of a graph's style; its height follows its width."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._style: GraphStyle | None = None
        self._items: list[_Item] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Legend of the graph")

    def show_style(self, style: GraphStyle | None, theme: Theme, extra: tuple[str, ...] = ()) -> None:
        """Show the legend of a style, with further sentences after its own."""
        self._theme = theme
        self._style = style
        self._items = [] if style is None else _items(style, theme, extra)
        self.setAccessibleDescription(self.text())
        self.updateGeometry()
        self.setFixedHeight(self.height_for(self.width()))
        self.update()

    def text(self) -> str:
        """The legend in words."""
        return "; ".join(f"{item.low} to {item.text}" if item.kind == "ramp" else item.text for item in self._items)

    def sizeHint(self) -> QSize:
        return QSize(320, self.height_for(max(self.width(), 320)))

    def minimumSizeHint(self) -> QSize:
        return QSize(80, self._line_height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        height = self.height_for(event.size().width())
        if height != self.height():
            self.setFixedHeight(height)

    def _line_height(self) -> int:
        return self.fontMetrics().height() + 4

    def _width(self, item: _Item) -> float:
        text = float(self.fontMetrics().horizontalAdvance(item.text))
        if item.kind == "ramp":
            return text + _RAMP + 10 + self.fontMetrics().horizontalAdvance(item.low)
        return text + item.lead()

    def _lines(self, width: int) -> list[list[tuple[float, _Item]]]:
        """Items with their x, line by line."""
        lines: list[list[tuple[float, _Item]]] = [[]]
        x = 6.0
        for item in self._items:
            for part in self._parts(item, width - 12):
                if lines[-1] and x + self._width(part) > width - 6:
                    lines.append([])
                    x = 6.0
                lines[-1].append((x, part))
                x += self._width(part) + _SPACE
        return lines

    def _parts(self, item: _Item, room: float) -> list[_Item]:
        """An item, cut between words where it is a text longer than a line."""
        if item.kind not in ("title", "note") or self._width(item) <= room:
            return [item]
        rows = [""]
        for word in item.text.split(" "):
            longer = f"{rows[-1]} {word}".strip()
            if rows[-1] and self.fontMetrics().horizontalAdvance(longer) > room:
                rows.append(word)
            else:
                rows[-1] = longer
        return [_Item(item.kind, row) for row in rows]

    def height_for(self, width: int) -> int:
        """The height the legend needs at a width."""
        return 0 if not self._items else len(self._lines(width)) * self._line_height() + 4

    def paintEvent(self, event: QPaintEvent) -> None:
        with painting(self) as painter:
            painter.fillRect(self.rect(), self._theme.color("surface"))
            self.paint_on(painter, self.width())

    def paint_on(self, painter: QPainter, width: int) -> float:
        """Draw at the origin, as wide as given; returns the height. For exports too."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self.font())
        y = 2.0
        for line in self._lines(width):
            for x, item in line:
                self._paint_item(painter, QRectF(x, y, width - x - 6, self._line_height()), item)
            y += self._line_height()
        return y + 2

    def _paint_item(self, painter: QPainter, area: QRectF, item: _Item) -> None:
        if item.kind == "ramp":
            area = self._paint_ramp(painter, area, item)
        elif item.kind == "swatch":
            self._paint_swatch(painter, area, item)
            area = area.adjusted(item.lead(), 0, 0, 0)
        painter.setPen(self._theme.color("muted" if item.kind == "note" else "text"))
        text = self.fontMetrics().elidedText(item.text, Qt.TextElideMode.ElideRight, int(area.width()) + 1)
        painter.drawText(area, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), text)

    def _paint_ramp(self, painter: QPainter, area: QRectF, item: _Item) -> QRectF:
        painter.setPen(self._theme.color("text"))
        painter.drawText(area, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), item.low)
        left = area.left() + self.fontMetrics().horizontalAdvance(item.low) + 5
        bar = QRectF(left, area.center().y() - 5, _RAMP, 10)
        gradient = QLinearGradient(bar.topLeft(), bar.topRight())
        assert self._style is not None
        shades = self._style.shades.tolist()
        for place in range(0, len(shades), 4):
            gradient.setColorAt(place / (len(shades) - 1), QColor(*shades[place]))
        gradient.setColorAt(1.0, QColor(*shades[-1]))
        painter.setPen(QPen(self._theme.color("border"), 1))
        painter.setBrush(QBrush(gradient))
        painter.drawRect(bar)
        return area.adjusted(bar.right() + 5 - area.left(), 0, 0, 0)

    def _paint_swatch(self, painter: QPainter, area: QRectF, item: _Item) -> None:
        box = QRectF(area.left(), area.center().y() - _SWATCH / 2 + 1, _SWATCH, _SWATCH - 2)
        painter.setPen(QPen(self._theme.color("muted"), 1))
        painter.setBrush(item.color or Qt.BrushStyle.NoBrush)
        if item.mark == "dash":
            painter.setPen(QPen(self._theme.color("warning"), 1.8, Qt.PenStyle.DashLine))
        if item.mark == "dots":
            painter.setPen(QPen(self._theme.color("muted"), 1, Qt.PenStyle.DotLine))
        painter.drawRect(box)
        if item.mark == "band":
            painter.fillRect(QRectF(box.left() + 1, box.bottom() - 4, box.width() - 2, 3), self._theme.color("accent"))
        if item.mark == "stripes" and item.color is not None:
            rgb = (item.color.red(), item.color.green(), item.color.blue())
            draw_stripes(painter, box, QColor(*ink_on(rgb)))
        if item.mark == "hatch":
            painter.fillRect(box.adjusted(1, 1, -1, -1), self._theme.color("background"))
            painter.fillRect(
                box.adjusted(1, 1, -1, -1), QBrush(self._theme.color("unavailable"), Qt.BrushStyle.BDiagPattern)
            )
        if item.mark == "run":
            middle = box.center()
            shape = [QPointF(middle.x() - 3, middle.y() - 4), QPointF(middle.x() + 4, middle.y())]
            shape.append(QPointF(middle.x() - 3, middle.y() + 4))
            painter.setPen(Qt.PenStyle.NoPen)
            is_light = item.color is None or item.color.lightness() > 127
            painter.setBrush(QColor(Qt.GlobalColor.black if is_light else Qt.GlobalColor.white))
            painter.drawPolygon(QPolygonF(shape))


def _items(style: GraphStyle, theme: Theme, extra: tuple[str, ...]) -> list[_Item]:
    legend = style.legend
    items = [_Item("title", legend.title)]
    if legend.ramp is not None:
        items.append(_Item("ramp", legend.ramp[1], low=legend.ramp[0]))
    for entry in legend.entries:
        if entry.token.startswith("shade:"):
            color = QColor(*style.shades[int(entry.token.removeprefix("shade:"))].tolist())
        else:
            color = theme.color(entry.token)
        items.append(_Item("swatch", entry.text, color, entry.mark))
    items += [_Item("note", text) for text in (*legend.notes, *extra)]
    return items
