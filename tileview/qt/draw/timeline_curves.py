"""Drawing of the curves: everything of the timeline that stays the same while the cursor moves."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen, QPolygonF

from tileview.model.sizes import Unavailable, kib_text, size_text
from tileview.model.timeline import ByteArray
from tileview.present.colours import category
from tileview.present.curves import BoolArray, Curves, PeakMark, RepeatSpan, column_steps
from tileview.present.stacks import Series
from tileview.present.ticks import Tick, byte_ticks
from tileview.qt.draw.tiles_paint import draw_text_on
from tileview.qt.draw.timeline_plane import Plane, Stairs, line, ribbon, runs, stairs
from tileview.qt.theme import Theme

_PATTERNS = (Qt.BrushStyle.SolidPattern, Qt.BrushStyle.Dense4Pattern, Qt.BrushStyle.DiagCrossPattern)


@dataclass(frozen=True, slots=True)
class PlotData:
    """What the plot shows. ``baseline``: (total, whether there is one) at each step; ``layers`` is empty where nothing
    is stacked.
    """

    curves: Curves
    budget: int
    interleaved_budget: int
    reserve: int
    over: BoolArray
    marks: tuple[PeakMark, ...] = ()
    repeats: tuple[RepeatSpan, ...] = ()
    layers: tuple[Series, ...] = ()
    baseline: tuple[ByteArray, BoolArray] | None = None
    baseline_classes: tuple[ByteArray, ByteArray] | None = field(default=None)

    @property
    def steps(self) -> int:
        return len(self.curves)

    def top(self, to_budget: bool) -> int:
        """Bytes at the upper edge: room for the largest total with reserve and, unless only data count, for the
        budget.
        """
        highest = int(self.curves.total.max(initial=0)) + self.reserve
        if self.baseline is not None:
            highest = max(highest, int(self.baseline[0].max(initial=0)))
        highest = max(highest, *(mark.size for mark in self.marks if not isinstance(mark.size, Unavailable)), 0)
        if to_budget:
            highest = max(highest, self.budget)
        return max(highest + highest // 12, 1024)


def layer_brush(theme: Theme, index: int, series: Series) -> QBrush:
    """The fill of a layer of a stack; patterns keep categories apart where colours start again."""
    if series.kind == "scratch":
        return QBrush(theme.color("scratch"), Qt.BrushStyle.Dense3Pattern)
    if series.kind == "parameters":
        return QBrush(theme.color("border"))
    if series.kind in ("rest", "other"):
        token = "raised" if series.kind == "rest" else "warning"
        return QBrush(theme.color(token))
    colour, pattern = category(index, theme.categories)
    return QBrush(QColor(colour), _PATTERNS[pattern % len(_PATTERNS)])


def reserve_brush(theme: Theme) -> QBrush:
    """The fill between the total and total + reserve."""
    return QBrush(theme.color("muted", 60))


def layer_brushes(theme: Theme, layers: tuple[Series, ...]) -> list[QBrush]:
    """One brush a layer: groups take the categories in turn."""
    brushes, groups = [], 0
    for series in layers:
        brushes.append(layer_brush(theme, groups, series))
        groups += series.kind == "group"
    return brushes


class CurvePainter:
    """Paints one plane of curves. All text is drawn with halos, so that it reads on any fill."""

    def __init__(self, painter: QPainter, plane: Plane, data: PlotData, theme: Theme) -> None:
        self.painter = painter
        self.plane = plane
        self.data = data
        self.theme = theme
        self.at: Stairs = stairs(plane, data.steps)
        self.total = self.at.largest(data.curves.total)
        self.missing = self.at.any(data.curves.unavailable)
        self.known = ~self.missing
        self.metrics = QFontMetricsF(painter.font())

    def paint(self) -> None:
        self._ground()
        self.painter.save()
        self.painter.setClipRect(self.plane.area.adjusted(-1, -1, 1, 1))
        self.painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        self._repeats()
        self._grid()
        self._baseline()
        self._reserve()
        if self.data.layers:
            self._layers()
        else:
            self._classes()
        self._unavailable()
        self._excess()
        self._totals()
        self.painter.restore()
        self._repeat_counts()
        self._over_strip()
        self._limits()
        self._peaks()
        self._axes()

    def _ground(self) -> None:
        self.painter.fillRect(self.plane.area, self.theme.color("background"))

    def _repeats(self) -> None:
        """Bodies of Repeats, shaded, the darker the deeper they are nested."""
        for span in self.data.repeats:
            left, right = self.plane.x(span.start), self.plane.x(span.stop)
            box = QRectF(left, self.plane.area.top(), right - left, self.plane.area.height())
            if box.right() < self.plane.area.left() or box.left() > self.plane.area.right():
                continue
            self.painter.fillRect(box, self.theme.color("accent", 22))
            self.painter.setPen(QPen(self.theme.color("accent", 130), 1, Qt.PenStyle.DotLine))
            self.painter.drawLine(box.topLeft(), box.bottomLeft())
            self.painter.drawLine(box.topRight(), box.bottomRight())

    def _repeat_counts(self) -> None:
        """How often each body runs, at the upper edge of its shade."""
        taken: dict[int, float] = {}
        for span in self.data.repeats:
            left, right = max(self.plane.x(span.start), self.plane.area.left()), self.plane.x(span.stop)
            if right < self.plane.area.left() or left > self.plane.area.right():
                continue
            text = f"×{span.count:,}"
            if left + 3 >= taken.get(span.depth, -1.0):
                y = self.plane.area.top() + self.metrics.ascent() + 1 + span.depth * self.metrics.height()
                ink, halo = self.theme.color("accent"), self.theme.color("background")
                draw_text_on(self.painter, QPointF(left + 3, y), text, ink, halo)
                taken[span.depth] = left + 7 + self.metrics.horizontalAdvance(text)

    def _grid(self) -> None:
        self.painter.setPen(QPen(self.theme.color("grid"), 1))
        for tick in self._byte_ticks():
            y = self.plane.y(tick.value)
            self.painter.drawLine(QPointF(self.plane.area.left(), y), QPointF(self.plane.area.right(), y))

    def _byte_ticks(self) -> tuple[Tick, ...]:
        return byte_ticks(0, self.plane.top, max(int(self.plane.area.height() // (2.0 * self.metrics.height())), 1))

    def _baseline(self) -> None:
        if self.data.baseline is None:
            return
        totals, present = self.data.baseline
        shown = self.at.any(present)
        colour = self.theme.color("baseline")
        curves: list[tuple[ByteArray, QPen]] = [(totals, QPen(colour, 2.5))]
        if self.data.baseline_classes is not None and not self.data.layers:
            styles = (Qt.PenStyle.DashLine, Qt.PenStyle.DotLine)
            curves += [
                (sizes, QPen(colour, 1, style)) for sizes, style in zip(self.data.baseline_classes, styles, strict=True)
            ]
        for sizes, pen in curves:
            self.painter.setPen(pen)
            values = self.at.largest(sizes)
            for begin, end in runs(shown):
                self.painter.drawPath(line(self.plane, self.at, values, begin, end))

    def _fill(self, area: QPainterPath, brush: QBrush, pen: QPen | Qt.PenStyle = Qt.PenStyle.NoPen) -> None:
        self.painter.setPen(pen)
        self.painter.setBrush(brush)
        self.painter.drawPath(area)
        self.painter.setBrush(Qt.BrushStyle.NoBrush)

    def _reserve(self) -> None:
        """Between the total and total + reserve: what linked support code will take."""
        if not self.data.reserve:
            return
        upper = self.total + self.data.reserve
        brush = reserve_brush(self.theme)
        for begin, end in runs(self.known):
            self._fill(ribbon(self.plane, self.at, self.total, upper, begin, end), brush)
            self.painter.setPen(QPen(self.theme.color("muted"), 1, Qt.PenStyle.DotLine))
            self.painter.drawPath(line(self.plane, self.at, upper, begin, end))

    def _classes(self) -> None:
        for sizes, token, style in (
            (self.data.curves.standard, "standard", Qt.PenStyle.SolidLine),
            (self.data.curves.interleaved, "interleaved", Qt.PenStyle.DashLine),
        ):
            self.painter.setPen(QPen(self.theme.color(token), 1.6, style))
            values = self.at.largest(sizes)
            for begin, end in runs(self.known):
                self.painter.drawPath(line(self.plane, self.at, values, begin, end))

    def _layers(self) -> None:
        """The stack: each column shows the composition of one step, the one with its largest total."""
        chosen = column_steps(self.data.curves.total, self.at.where)
        base = np.zeros(len(chosen), dtype=np.int64)
        brushes = layer_brushes(self.theme, self.data.layers)
        names: list[tuple[QPointF, str]] = []
        for series, brush in zip(self.data.layers, brushes, strict=True):
            upper = base + series.sizes[chosen]
            for begin, end in runs(self.known):
                edge = QPen(self.theme.color("background"), 0.6)
                self._fill(ribbon(self.plane, self.at, base, upper, begin, end), brush, edge)
            name = self._layer_name(series, base, upper)
            if name is not None:
                names.append(name)
            base = upper
        for place, text in names:
            draw_text_on(self.painter, place, text, self.theme.color("text"), self.theme.color("background"))

    def _layer_name(self, series: Series, base: ByteArray, upper: ByteArray) -> tuple[QPointF, str] | None:
        """Where a layer is thick and wide enough for its name to be written into it."""
        needed = self.metrics.height() * self.plane.top / self.plane.area.height()
        best: tuple[float, int, int] | None = None
        for begin, end in runs(self.known & (upper - base >= needed)):
            width = float(self.at.right[end - 1] - self.at.left[begin])
            if best is None or width > best[0]:
                best = (width, begin, end)
        if best is None or best[0] < 60:
            return None
        text = self.metrics.elidedText(series.name, Qt.TextElideMode.ElideMiddle, best[0] - 8)
        low, high = int(base[best[1] : best[2]].max()), int(upper[best[1] : best[2]].min())
        if high - low < needed * 0.8:
            return None
        y = self.plane.y((low + high) / 2) + self.metrics.ascent() / 2 - 1
        return QPointF(float(self.at.left[best[1]]) + 4, y), text

    def _unavailable(self) -> None:
        """Steps whose usage is unavailable: a crossed band over the full height; what is known of them is a thin dashed
        line.
        """
        colour = self.theme.color("unavailable")
        for begin, end in runs(self.missing):
            left, right = float(self.at.left[begin]), float(self.at.right[end - 1])
            box = QRectF(left, self.plane.area.top(), max(right - left, 1.0), self.plane.area.height())
            self.painter.fillRect(box, self.theme.color("unavailable", 36))
            self.painter.fillRect(box, QBrush(self.theme.color("unavailable", 110), Qt.BrushStyle.DiagCrossPattern))
            self.painter.setPen(QPen(colour, 1.2, Qt.PenStyle.DashLine))
            self.painter.drawPath(line(self.plane, self.at, self.total, begin, end))
            if right - left > self.metrics.horizontalAdvance("unavailable") + 8:
                place = QPointF((left + right - self.metrics.horizontalAdvance("unavailable")) / 2, box.center().y())
                draw_text_on(self.painter, place, "unavailable", colour, self.theme.color("background"))

    def _excess(self) -> None:
        """What stands above a budget: hatched and framed."""
        self._excess_of(self.total + self.data.reserve, self.data.budget)
        if not self.data.layers:
            self._excess_of(self.at.largest(self.data.curves.interleaved), self.data.interleaved_budget)

    def _excess_of(self, values: ByteArray, limit: int) -> None:
        floor = np.full(len(values), limit, dtype=np.int64)
        for begin, end in runs((values > limit) & self.known):
            polygon = ribbon(self.plane, self.at, floor, values, begin, end)
            self._fill(polygon, QBrush(self.theme.color("over", 46)))
            brush = QBrush(self.theme.color("over"), Qt.BrushStyle.BDiagPattern)
            self._fill(polygon, brush, QPen(self.theme.color("over"), 1))

    def _totals(self) -> None:
        pen = QPen(self.theme.color("total"), 2.4)
        pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
        self.painter.setPen(pen)
        for begin, end in runs(self.known):
            self.painter.drawPath(line(self.plane, self.at, self.total, begin, end))

    def _over_strip(self) -> None:
        """A strip along the upper edge that marks every step at which some tile is over a budget."""
        for begin, end in runs(self.at.any(self.data.over)):
            left, right = float(self.at.left[begin]), float(self.at.right[end - 1])
            box = QRectF(left, self.plane.area.top() - 5, max(right - left, 1.0), 4)
            self.painter.fillRect(box, self.theme.color("over"))

    def _limits(self) -> None:
        """Budget lines with their bytes; a line above the plot is named at its upper edge."""
        area = self.plane.area
        taken: list[float] = []
        for size, name in ((self.data.budget, "budget"), (self.data.interleaved_budget, "interleaved budget")):
            y = self.plane.y(size)
            inside = y >= area.top()
            colour = self.theme.color("budget" if name == "budget" else "interleaved")
            number = size_text(size) if area.height() > 8 * self.metrics.height() else kib_text(size)
            text = f"{name} {number}" + ("" if inside else ", above")
            if inside:
                style = Qt.PenStyle.SolidLine if name == "budget" else Qt.PenStyle.DashDotLine
                self.painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
                self.painter.setPen(QPen(colour, 1.5, style))
                self.painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
                self.painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            text = self.metrics.elidedText(text, Qt.TextElideMode.ElideRight, area.width() - 8)
            base = y - 3 if inside else area.top() + self.metrics.ascent()
            while any(abs(base - other) < self.metrics.height() for other in taken):
                base += self.metrics.height()
            base = max(base, area.top() + self.metrics.ascent())
            taken.append(base)
            place = QPointF(area.right() - self.metrics.horizontalAdvance(text) - 4, base)
            draw_text_on(self.painter, place, text, colour, self.theme.color("background"))

    def _peaks(self) -> None:
        """A marker at each peak and, above the plot, a flag with its letter; peaks of one step share a flag."""
        area = self.plane.area
        flags: dict[int, str] = {}
        for mark in reversed(self.data.marks):
            flags[mark.step] = mark.letter + flags.get(mark.step, "")
            x = self.plane.x(mark.step + 0.5)
            if not isinstance(mark.size, Unavailable) and area.left() <= x <= area.right():
                self._marker(mark.letter, QPointF(x, self.plane.y(mark.size)))
        font = QFont(self.painter.font())
        font.setBold(True)
        self.painter.setFont(font)
        metrics = QFontMetricsF(font)
        edge = -1e9
        for step, letters in sorted(flags.items()):
            x = self.plane.x(step + 0.5)
            if not area.left() <= x <= area.right():
                continue
            width = metrics.horizontalAdvance(letters) + 8
            left = min(max(x - width / 2, edge, area.left()), area.right() - width)
            box = QRectF(left, area.top() - 8 - metrics.height(), width, metrics.height())
            edge = box.right() + 3
            self.painter.setPen(QPen(self.theme.color("mark"), 1, Qt.PenStyle.DotLine))
            self.painter.drawLine(QPointF(box.center().x(), box.bottom()), QPointF(x, area.top()))
            self.painter.setPen(Qt.PenStyle.NoPen)
            self.painter.setBrush(self.theme.color("mark"))
            self.painter.drawRoundedRect(box, 3, 3)
            self.painter.setPen(self.theme.color("background"))
            self.painter.drawText(box, Qt.AlignmentFlag.AlignCenter, letters)
        font.setBold(False)
        self.painter.setFont(font)

    def _marker(self, letter: str, place: QPointF) -> None:
        """A dot for the total, round it an empty square for standard, an empty triangle for interleaved.

        Peaks often coincide: the shapes are nested, so that each is seen.
        """
        token = {"P": "total", "S": "standard", "I": "interleaved"}[letter]
        if letter == "P":
            self.painter.setPen(QPen(self.theme.color("background"), 1.5))
            self.painter.setBrush(self.theme.color(token))
            self.painter.drawEllipse(place, 5, 5)
            self.painter.setBrush(Qt.BrushStyle.NoBrush)
            return
        corners = [QPointF(-7, -7), QPointF(7, -7), QPointF(7, 7), QPointF(-7, 7)]
        if letter == "I":
            corners = [QPointF(0, -10), QPointF(10, 7), QPointF(-10, 7)]
        shape = QPolygonF([place + corner for corner in corners])
        for pen in (QPen(self.theme.color("background"), 4), QPen(self.theme.color(token), 2)):
            self.painter.setPen(pen)
            self.painter.drawPolygon(shape)

    def _axes(self) -> None:
        area = self.plane.area
        self.painter.setPen(QPen(self.theme.color("border"), 1))
        self.painter.drawLine(area.bottomLeft(), area.bottomRight())
        self.painter.drawLine(area.topLeft(), area.bottomLeft())
        self.painter.setPen(self.theme.color("muted"))
        for tick in self._byte_ticks():
            y = self.plane.y(tick.value)
            box = QRectF(0, y - self.metrics.height() / 2, area.left() - 5, self.metrics.height())
            self.painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, tick.text)
