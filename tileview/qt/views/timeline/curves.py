"""Drawing of the curves: everything of the timeline that stays the same while the cursor moves."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QFontMetricsF, QPainter, QPainterPath, QPen

from tileview.model.timeline import ByteArray
from tileview.present.curves import column_steps
from tileview.present.stacks import Series
from tileview.present.ticks import Tick, byte_ticks
from tileview.qt.base.theme import Theme
from tileview.qt.plot.labels import draw_label
from tileview.qt.plot.plane import Plane, Stairs, line, ribbon, runs, stairs
from tileview.qt.views.timeline.data import PlotData, layer_brushes, reserve_brush, second_pen
from tileview.qt.views.timeline.marks import MarkPainter


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
        self._named: list[QRectF] = []

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
        self._second()
        self._totals()
        self.painter.restore()
        self._over_strip()
        MarkPainter(self.painter, self.plane, self.data, self.theme, self.at, self._named).paint()
        self._axes()

    def _ground(self) -> None:
        self.painter.fillRect(self.plane.area, self.theme.color("background"))

    def _repeats(self) -> None:
        """Bodies of Repeats, shaded, the darker the deeper they are nested."""
        for span in self.data.repeats:
            box = self.plane.band(span.start, span.stop)
            if box.isEmpty():
                continue
            self.painter.fillRect(box, self.theme.color("accent", 22))
            self.painter.setPen(QPen(self.theme.color("accent", 130), 1, Qt.PenStyle.DotLine))
            if self.plane.shows(self.plane.x(span.start)):
                self.painter.drawLine(box.topLeft(), box.bottomLeft())
            if self.plane.shows(self.plane.x(span.stop)):
                self.painter.drawLine(box.topRight(), box.bottomRight())

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
            box = QRectF(place.x(), place.y() - self.metrics.ascent(), 0, self.metrics.height())
            box.setWidth(self.metrics.horizontalAdvance(text) + 6)
            draw_label(self.painter, box, text, self.theme.color("text"), self.theme.color("background"))
            self._named.append(box)

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
        text = self.metrics.elidedText(series.name, Qt.TextElideMode.ElideMiddle, best[0] - 14)
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
                label = QRectF(0, 0, self.metrics.horizontalAdvance("unavailable") + 6, self.metrics.height())
                label.moveCenter(box.center())
                draw_label(self.painter, label, "unavailable", colour, self.theme.color("background"))
                self._named.append(label)

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

    def _second(self) -> None:
        """The curves of another tile beside: thinner and broken, its classes only where nothing is stacked."""
        second = self.data.second
        if second is None:
            return
        known = ~self.at.any(second.unavailable)
        parts = [("standard", second.standard), ("interleaved", second.interleaved)] if not self.data.layers else []
        for name, sizes in [*parts, ("total", second.total)]:
            values = self.at.largest(sizes)
            for begin, end in runs(known):
                path = line(self.plane, self.at, values, begin, end)
                if self.data.layers:
                    self.painter.setPen(QPen(self.theme.color("background"), 4))
                    self.painter.drawPath(path)
                self.painter.setPen(second_pen(self.theme, name))
                self.painter.drawPath(path)

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
