"""What is written and marked on the curves: budget lines and their names, peaks, how often bodies run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen, QPolygonF

from tileview.model.sizes import Unavailable, kib_text, size_text
from tileview.model.timeline import ByteArray
from tileview.present.curves import BoolArray
from tileview.qt.base.theme import Theme
from tileview.qt.plot.labels import LabelPlacer, around, boxes_along, boxes_under, draw_label
from tileview.qt.plot.plane import FloatArray, Plane, Stairs
from tileview.qt.views.timeline.data import PlotData

_MARKER_REACH = 11.0
_FLAG_GAP = 8.0
"""Pixels between the plot and the flags of the peaks above it: the strip of steps over a budget lies there."""


def label_height(metrics: QFontMetricsF) -> float:
    """Pixels that the name of a line takes, its distance from the line included."""
    return metrics.height() + 3


class MarkPainter:
    """Paints over the curves: lines across at the budgets, flags and markers of peaks, and then the texts.

    ``named`` are texts that stand already.
    """

    def __init__(
        self, painter: QPainter, plane: Plane, data: PlotData, theme: Theme, at: Stairs, named: Sequence[QRectF] = ()
    ) -> None:
        self.painter = painter
        self.plane = plane
        self.data = data
        self.theme = theme
        self.at = at
        self.metrics = QFontMetricsF(painter.font())
        above = plane.area.adjusted(0, -_FLAG_GAP - self.metrics.height(), 0, 0)
        self.placer = LabelPlacer(above, at.left, at.right, self._curves())
        for box in named:
            self.placer.block(box)

    def paint(self) -> None:
        limits = self._lines()
        self._peaks()
        for size, text, colour in limits:
            self._name_line(size, text, colour)
        self._name_bodies()

    def _curves(self) -> list[FloatArray]:
        """The curves that texts keep clear of, as pixels from above."""
        shown, layers = self.data.curves, bool(self.data.layers)
        sizes = [shown.total] if layers else [shown.total, shown.standard, shown.interleaved]
        if self.data.reserve:
            sizes.append(shown.total + self.data.reserve)
        if self.data.baseline is not None:
            sizes.append(self.data.baseline[0])
        if self.data.second is not None:
            sizes.append(self.data.second.total)
        missing = self.at.any(shown.unavailable)
        return [self._pixels(size, missing) for size in sizes]

    def _pixels(self, sizes: ByteArray, missing: BoolArray) -> FloatArray:
        area = self.plane.area
        heights = area.bottom() - self.at.largest(sizes).astype(np.float64) * (area.height() / self.plane.top)
        return np.where(missing, np.nan, heights)

    # -- budgets --------------------------------------------------------------------------------------------------

    def _lines(self) -> list[tuple[int, str, QColor]]:
        """Draw the lines of the budgets; gives their bytes, names and colours."""
        area, found = self.plane.area, []
        for size, name in ((self.data.budget, "budget"), (self.data.interleaved_budget, "interleaved budget")):
            colour = self.theme.color("budget" if name == "budget" else "interleaved")
            y = self.plane.y(size)
            if y >= area.top():
                style = Qt.PenStyle.SolidLine if name == "budget" else Qt.PenStyle.DashDotLine
                self.painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
                self.painter.setPen(QPen(colour, 1.5, style))
                self.painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
                self.painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                self.placer.block(QRectF(area.left(), y - 1, area.width(), 2))
            found.append((size, name, colour))
        return found

    def _name_line(self, size: int, name: str, colour: QColor) -> None:
        """The name of a line stands over it; where that is full, under it; at the upper edge for one further up.

        Exact bytes where they cover no curve, else only KiB.
        """
        above = "" if self.plane.y(size) >= self.plane.area.top() else ", above"
        offers = []
        short = name.partition(" ")[0]
        for text in (f"{name} {size_text(size)}", f"{name} {kib_text(size)}", f"{short} {kib_text(size)}"):
            text = f"{text}{above}"
            width = self.metrics.horizontalAdvance(text) + 6
            offers += [(box, text) for box in self._line_boxes(size, width)]
        chosen = self.placer.place([box for box, _ in offers])
        if chosen is not None:
            text = next(text for box, text in offers if box is chosen)
            draw_label(self.painter, chosen, text, colour, self.theme.color("background"))

    def _line_boxes(self, size: int, width: float) -> list[QRectF]:
        """Where the name of a line may stand; the topmost one's also among the flags above the plot."""
        area, height = self.plane.area, self.metrics.height()
        boxes = boxes_along(area, max(self.plane.y(size), area.top() - 1), width, height)
        if size == self.data.budget:
            beside_flags = boxes_along(area.adjusted(0, -_FLAG_GAP - height, 0, 0), area.top(), width, height)
            boxes += [box.translated(0, 2 - _FLAG_GAP) for box in beside_flags if box.bottom() < area.top()]
        return boxes

    def _name_bodies(self) -> None:
        """How often each body of a Repeat runs, in its shade."""
        for span in self.data.repeats:
            left, right = self.plane.x(span.start), self.plane.x(span.stop)
            if right < self.plane.area.left() + 6 or left > self.plane.area.right() - 6:
                continue
            text = f"×{span.count:,}"
            width = self.metrics.horizontalAdvance(text) + 4
            box = self.placer.place(boxes_under(self.plane.area, left, right, width, self.metrics.height()))
            if box is not None:
                draw_label(self.painter, box, text, self.theme.color("accent"), self.theme.color("background"))

    # -- peaks ----------------------------------------------------------------------------------------------------

    def _peaks(self) -> None:
        """A marker at each peak and, above the plot, a flag with its letter; peaks of one step share a flag."""
        area = self.plane.area
        flags: dict[int, str] = {}
        for mark in reversed(self.data.marks):
            flags[mark.step] = mark.letter + flags.get(mark.step, "")
            x = self.plane.x(mark.step + 0.5)
            if not isinstance(mark.size, Unavailable) and area.left() <= x <= area.right():
                place = QPointF(x, self.plane.y(mark.size))
                self._marker(mark.letter, place)
                self.placer.block(around(place, _MARKER_REACH))
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
            box = QRectF(left, area.top() - _FLAG_GAP - metrics.height(), width, metrics.height())
            edge = box.right() + 3
            self.placer.block(box.adjusted(-3, 0, 3, 0))
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
