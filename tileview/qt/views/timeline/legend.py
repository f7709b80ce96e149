"""What the lines and fills of the timeline mean, with the bytes at the selected step."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from tileview.model.sizes import kib_text
from tileview.model.timeline import ByteArray
from tileview.present.curves import CurveMode, Curves
from tileview.qt.base.painting import painting
from tileview.qt.base.text import plain_tip
from tileview.qt.base.theme import Theme
from tileview.qt.views.timeline.data import PlotData, layer_brushes, reserve_brush, second_pen

_SWATCH = 22


@dataclass(frozen=True, slots=True)
class Entry:
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


def legend_entries(
    theme: Theme, data: PlotData, step: int | None, tile: int | None = None, tile_count: int = 1
) -> tuple[Entry, ...]:
    """What a plot's lines and fills mean, with the bytes at a step; ``tile`` is the one the curves are read from
    there.
    """
    shown, second = data.curves, data.second
    if step is not None and step >= data.steps:
        step = None

    def at(curves: Curves, sizes: ByteArray) -> str:
        if step is None:
            return ""
        if curves.unavailable[step]:
            return "unavailable" if shown.unavailable[step] else "not read yet"
        return kib_text(int(sizes[step]))

    whose, longest = _WHOSE[shown.mode], ""
    if shown.mode is not CurveMode.LARGEST and tile is not None:
        whose, longest = f"{whose} L{tile}", f"total, {whose} L{'0' * len(str(tile_count - 1))}"
    entries = [Entry(f"total, {whose}", QPen(theme.color("total"), 2.6), None, at(shown, shown.total), longest)]
    if second is not None:
        name = f"total, tile L{int(second.tiles[0])}"
        entries.append(Entry(name, second_pen(theme, "total"), None, at(second, second.total)))
    if data.layers:
        pairs = zip(data.layers, layer_brushes(theme, data.layers), strict=True)
        entries += [Entry(series.name, None, brush, at(shown, series.sizes)) for series, brush in pairs]
    else:
        entries.append(Entry("standard", QPen(theme.color("standard"), 2), None, at(shown, shown.standard)))
        dashed = QPen(theme.color("interleaved"), 2, Qt.PenStyle.DashLine)
        entries.append(Entry("interleaved", dashed, None, at(shown, shown.interleaved)))
    if second is not None and not data.layers:
        for part, sizes in (("standard", second.standard), ("interleaved", second.interleaved)):
            name = f"{part}, L{int(second.tiles[0])}"
            entries.append(Entry(name, second_pen(theme, part), None, at(second, sizes)))
    if data.reserve:
        pen = QPen(theme.color("muted"), 1, Qt.PenStyle.DotLine)
        entries.append(Entry("reserve", pen, reserve_brush(theme), kib_text(data.reserve)))
    if bool(data.over.any()):
        brush = QBrush(theme.color("over"), Qt.BrushStyle.BDiagPattern)
        count = int(data.over.sum())
        name = f"over budget at {count:,} step{'' if count == 1 else 's'}"
        entries.append(Entry(name, QPen(theme.color("over"), 1), brush))
    if bool(shown.unavailable.any()):
        brush = QBrush(theme.color("unavailable", 150), Qt.BrushStyle.DiagCrossPattern)
        entries.append(Entry("unavailable (dashed: known part)", QPen(theme.color("unavailable"), 1), brush))
    if data.baseline is not None:
        entries.append(Entry("baseline", QPen(theme.color("baseline"), 2.5)))
    return tuple(entries)


_WHOSE = {
    CurveMode.WORST: "worst tile",
    CurveMode.LARGEST: "largest of each class",
    CurveMode.TILE: "tile",
}


class CurveLegend(QWidget):
    """Entries in reading order, on as many lines as they need."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName("Legend")
        self._entries: tuple[Entry, ...] = ()
        self._rooms: dict[str, int] = {}
        self._most = 99

    def set_most_lines(self, most: int) -> None:
        """Show at most so many lines; what does not fit is counted, and listed in the tooltip."""
        if most != self._most:
            self._most = most
            self.updateGeometry()
            self.update()

    def set_entries(self, entries: tuple[Entry, ...]) -> None:
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

    def _room(self, entry: Entry) -> int:
        """Room for an entry whatever its number becomes, so that entries do not jump while the cursor moves."""
        name = entry.widest or entry.name
        room = self._rooms.get(name)
        if room is None:
            metrics = self.fontMetrics()
            widest = f"{name} 0,000.0 KiB" if entry.number else name
            room = _SWATCH + 4 + max(metrics.horizontalAdvance(widest), metrics.horizontalAdvance(entry.text)) + 12
            self._rooms[name] = room
        return room

    def _lines(self, width: int) -> list[list[Entry]]:
        lines: list[list[Entry]] = []
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
                lines[-1][-1:] = [Entry(f"and {rest + 1:,} more")]
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
