"""What the lines and fills of a plot mean: entries in reading order, on as many lines as they need."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from tileview.qt.base.painting import painting
from tileview.qt.base.text import plain_tip

_SWATCH = 22


@dataclass(frozen=True, slots=True)
class LegendLine:
    """A line (``pen``) or an area (``brush``, framed by ``pen`` where there is one), its name, and a number."""

    name: str
    pen: QPen | None = None
    brush: QBrush | None = None
    number: str = ""
    widest: str = ""
    """The longest that ``name`` can become as the cursor moves, where that changes it."""

    @property
    def text(self) -> str:
        return f"{self.name} {self.number}" if self.number else self.name


class Legend(QWidget):
    """Entries in reading order, on as many lines as they need."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName("Legend")
        self._entries: tuple[LegendLine, ...] = ()
        self._rooms: dict[str, int] = {}
        self._most = 99

    def set_most_lines(self, most: int) -> None:
        """Show at most so many lines; what does not fit is counted, and listed in the tooltip."""
        if most != self._most:
            self._most = most
            self.updateGeometry()
            self.update()

    def set_entries(self, entries: tuple[LegendLine, ...]) -> None:
        names = [entry.widest or entry.name for entry in self._entries]
        self._entries = entries
        if names != [entry.widest or entry.name for entry in entries]:
            self._rooms.clear()
            self.updateGeometry()
        self.setAccessibleDescription(", ".join(entry.text for entry in entries))
        self.setToolTip(plain_tip("\n".join(entry.text for entry in entries)))
        self.update()

    @property
    def texts(self) -> tuple[str, ...]:
        """The words of the legend."""
        return tuple(entry.text for entry in self._entries)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return len(self._lines(width)) * (self.fontMetrics().height() + 2)

    def sizeHint(self) -> QSize:
        return QSize(200, self.heightForWidth(max(self.width(), 120)))

    def minimumSizeHint(self) -> QSize:
        return QSize(80, self.heightForWidth(max(self.width(), 120)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.updateGeometry()

    def _room(self, entry: LegendLine) -> int:
        """Room for an entry whatever its number becomes, so that entries do not jump while the cursor moves."""
        name = entry.widest or entry.name
        room = self._rooms.get(name)
        if room is None:
            metrics = self.fontMetrics()
            widest = f"{name} 0,000.0 KiB" if entry.number else name
            room = _SWATCH + 4 + max(metrics.horizontalAdvance(widest), metrics.horizontalAdvance(entry.text)) + 12
            self._rooms[name] = room
        return room

    def _lines(self, width: int) -> list[list[LegendLine]]:
        lines: list[list[LegendLine]] = []
        left = 0
        for entry in self._entries:
            needed = self._room(entry)
            if not lines or needed > left:
                lines.append([])
                left = width
            lines[-1].append(entry)
            left -= needed
        if len(lines) > self._most:
            rest = sum(map(len, lines[self._most :]))
            lines = lines[: self._most]
            if lines:
                lines[-1][-1:] = [LegendLine(f"and {rest + 1:,} more")]
        return lines

    def paintEvent(self, event: QPaintEvent) -> None:
        with painting(self) as painter:
            self.draw(painter)

    def draw(self, painter: QPainter) -> None:
        metrics = self.fontMetrics()
        height = metrics.height() + 2
        for row, entries in enumerate(self._lines(self.width())):
            x = 0
            for entry in entries:
                box = QRectF(x + 1, row * height + 3, _SWATCH - 2, height - 6)
                if entry.brush is not None:
                    painter.setBrush(entry.brush)
                    painter.setPen(entry.pen if entry.pen is not None else QPen(self.palette().mid().color(), 1))
                    painter.drawRect(box)
                elif entry.pen is not None:
                    painter.setPen(entry.pen)
                    painter.drawLine(QPointF(box.left(), box.center().y()), QPointF(box.right(), box.center().y()))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.setPen(self.palette().windowText().color())
                place = QRectF(x + _SWATCH + 4, row * height, self.width() - x - _SWATCH - 4, height)
                text = metrics.elidedText(entry.text, Qt.TextElideMode.ElideRight, int(place.width()))
                painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
                x += self._room(entry)
