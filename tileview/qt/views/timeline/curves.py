"""The curves of the timeline, and what is written and marked on them: all that stays while the cursor moves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter, QPen, QPolygonF

from tileview.model.sizes import Unavailable, kib_text, size_text
from tileview.model.timeline import ByteArray
from tileview.present.curves import BoolArray, Stretch, column_steps, runs
from tileview.qt.base.theme import Theme
from tileview.qt.plot.items import Curve, Floats, ribbon, stairs
from tileview.qt.plot.legend import LabelPlacer, around, boxes_along, boxes_under, draw_label
from tileview.qt.views.timeline.data import PlotData, layer_brushes, reserve_brush, second_pen

_NO_PEN = QPen(Qt.PenStyle.NoPen)


class CurveItems:
    """Makes the items of the columns in view, from the bottom up."""

    def __init__(self, data: PlotData, at: Stretch, theme: Theme, top: float) -> None:
        self.data, self.at, self.theme, self.top = data, at, theme, top
        self.total = at.largest(data.curves.total)
        self.known = ~at.any(data.curves.unavailable)
        chosen = column_steps(data.curves.total, at.where)
        self.layers: list[ByteArray] = list(np.cumsum([series.sizes[chosen] for series in data.layers], axis=0))
        """(columns,) for each layer of a stack: its upper edge. Each column shows the composition of one step, the one
        with its largest total."""

    def items(self) -> list[Curve]:
        """All of them, in the order in which they are painted."""
        return [
            *self._bodies(),
            *self._baseline(),
            *self._reserve(),
            *(self._layers() if self.data.layers else self._classes()),
            *self._unavailable(),
            *self._excess(),
            *self._second(),
            self._line(self.total, self._total_pen()),
        ]

    def _line(self, heights: ByteArray, pen: QPen, where: BoolArray | None = None) -> Curve:
        return stairs(self.at.edges, np.where(self.known if where is None else where, heights, np.nan), pen)

    def _total_pen(self) -> QPen:
        pen = QPen(self.theme.color("total"), 1.6 if self.data.layers else 2.4)
        pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
        return pen

    def _band(self, start: float, stop: float, brush: QBrush) -> Curve:
        """The whole height over some steps."""
        edges: Floats = np.array([start, stop], dtype=np.float64)
        return ribbon(edges, np.zeros(1), np.full(1, self.top), brush)

    def _bodies(self) -> list[Curve]:
        """Bodies of Repeats, shaded, the darker the deeper they are nested."""
        first, last = self.at.edges[0], self.at.edges[-1]
        items = []
        dots = QPen(self.theme.color("accent", 130), 1, Qt.PenStyle.DotLine)
        for span in self.data.repeats:
            if span.stop <= first or span.start >= last:
                continue
            shade = QBrush(self.theme.color("accent", 22))
            items.append(self._band(max(span.start, first), min(span.stop, last), shade))
            for end in (span.start, span.stop):
                if first <= end <= last:
                    items.append(Curve(x=np.full(2, float(end)), y=np.array([0.0, self.top]), pen=dots))
        return items

    def _baseline(self) -> list[Curve]:
        if self.data.baseline is None:
            return []
        totals, present = self.data.baseline
        shown, colour = self.at.any(present), self.theme.color("baseline")
        curves: list[tuple[ByteArray, QPen]] = [(totals, QPen(colour, 2.5))]
        if self.data.baseline_classes is not None and not self.data.layers:
            styles = (Qt.PenStyle.DashLine, Qt.PenStyle.DotLine)
            classes = zip(self.data.baseline_classes, styles, strict=True)
            curves += [(sizes, QPen(colour, 1, style)) for sizes, style in classes]
        return [self._line(self.at.largest(sizes), pen, shown) for sizes, pen in curves]

    def _reserve(self) -> list[Curve]:
        """Between the total and total + reserve: what linked support code will take."""
        if not self.data.reserve:
            return []
        upper = self._or_none(self.total + self.data.reserve)
        dots = QPen(self.theme.color("muted"), 1, Qt.PenStyle.DotLine)
        return [
            ribbon(self.at.edges, self._or_none(self.total), upper, reserve_brush(self.theme)),
            self._line(upper, dots),
        ]

    def _or_none(self, heights: ByteArray) -> ByteArray:
        """Nothing where the usage is unavailable."""
        return np.where(self.known, heights, 0)

    def _classes(self) -> list[Curve]:
        parts = (
            (self.data.curves.standard, "standard", Qt.PenStyle.SolidLine),
            (self.data.curves.interleaved, "interleaved", Qt.PenStyle.DashLine),
        )
        return [
            self._line(self.at.largest(sizes), QPen(self.theme.color(token), 1.6, style))
            for sizes, token, style in parts
        ]

    def _layers(self) -> list[Curve]:
        """The stack from the top layer down: each covers what is below it."""
        items = []
        ground, edge = QBrush(self.theme.color("background")), QPen(self.theme.color("background"), 0.6)
        brushes = layer_brushes(self.theme, self.data.layers)
        for upper, brush in reversed(list(zip(self.layers, brushes, strict=True))):
            heights = self._or_none(upper)
            if brush.style() is not Qt.BrushStyle.SolidPattern:
                items.append(stairs(self.at.edges, heights, _NO_PEN, ground))
            items.append(stairs(self.at.edges, heights, edge, brush))
        return items

    def _unavailable(self) -> list[Curve]:
        """Steps whose usage is unavailable: a crossed band over the full height; what is known of them is a thin dashed
        line.
        """
        colour, items = self.theme.color("unavailable"), []
        for begin, end in runs(~self.known):
            left, right = float(self.at.edges[begin]), float(self.at.edges[end])
            items.append(self._band(left, right, QBrush(self.theme.color("unavailable", 36))))
            crossed = QBrush(self.theme.color("unavailable", 110), Qt.BrushStyle.DiagCrossPattern)
            items.append(self._band(left, right, crossed))
        if items:
            items.append(self._line(self.total, QPen(colour, 1.2, Qt.PenStyle.DashLine), ~self.known))
        return items

    def _excess(self) -> list[Curve]:
        """What lies above a budget: hatched."""
        limits = [(self.total + self.data.reserve, self.data.budget)]
        if not self.data.layers:
            limits.append((self.at.largest(self.data.curves.interleaved), self.data.interleaved_budget))
        items = []
        for values, limit in limits:
            over = self.known & (values > limit)
            if bool(over.any()):
                floor, upper = np.full(len(values), limit), np.where(over, values, limit)
                hatch = QBrush(self.theme.color("over"), Qt.BrushStyle.BDiagPattern)
                for brush in (QBrush(self.theme.color("over", 46)), hatch):
                    items.append(ribbon(self.at.edges, floor, upper, brush))
                items.append(self._line(upper, QPen(self.theme.color("over"), 1), over))
        return items

    def _second(self) -> list[Curve]:
        """The curves of another tile beside: thinner and broken, its classes only where nothing is stacked."""
        second = self.data.second
        if second is None:
            return []
        known, items = ~self.at.any(second.unavailable), []
        parts = [("standard", second.standard), ("interleaved", second.interleaved)] if not self.data.layers else []
        for name, sizes in [*parts, ("total", second.total)]:
            values = self.at.largest(sizes)
            if self.data.layers:
                items.append(self._line(values, QPen(self.theme.color("background"), 4), known))
            items.append(self._line(values, second_pen(self.theme, name), known))
        return items

    # -- what texts keep clear of ---------------------------------------------------------------------------------

    def heights(self) -> list[npt.NDArray[np.float64]]:
        """(columns,) bytes of the curves that texts keep clear of; no number where nothing is drawn."""
        shown, at = self.data.curves, self.at
        sizes = [self.total]
        if not self.data.layers:
            sizes += [at.largest(shown.standard), at.largest(shown.interleaved)]
        if self.data.reserve:
            sizes.append(self.total + self.data.reserve)
        if self.data.baseline is not None:
            sizes.append(at.largest(self.data.baseline[0]))
        if self.data.second is not None:
            sizes.append(at.largest(self.data.second.total))
        return [np.where(self.known, size, np.nan) for size in sizes]


_MARKER_REACH = 11.0
FLAG_GAP = 8.0
"""Pixels between the plot and the flags above it: the strip of steps over a budget lies there."""
_MOST_NOTE = 30
"""Characters of a note that are written in its flag; its tooltip has all."""
_MOST_FLAGS = 8
"""Overflows that have a flag, the worst first; the strip marks them all."""


def label_height(metrics: QFontMetricsF) -> float:
    """Pixels that the name of a line takes, its distance from the line included."""
    return metrics.height() + 3


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag above the plot at a step: the texts it may have, the longest first, and whether bytes are over there."""

    step: int
    texts: tuple[str, ...]
    is_over: bool


@dataclass(frozen=True, slots=True)
class Label:
    box: QRectF
    text: str
    ink: QColor


def flags_of(data: PlotData) -> list[Flag]:
    """The flags in the order in which they find their places: overflows, the worst first, then peaks, then notes."""
    letters: dict[int, list[str]] = {}
    names: dict[int, list[str]] = {}
    for mark in data.marks:
        letters.setdefault(mark.step, []).append(mark.letter)
        names.setdefault(mark.step, []).append(mark.name.removesuffix(" peak"))
    found, flagged = [], set()
    for over in data.overflows[:_MOST_FLAGS]:
        if over.step in flagged:
            continue
        flagged.add(over.step)
        short = "".join(letters.get(over.step, []))
        lead = f"{short} · " if short else ""
        by = f"{kib_text(over.over_bytes)} over"
        texts = [f"{lead}step {over.step:,}{over.who}: {by}", f"{lead}{by}", short or "!"]
        found.append(Flag(over.step, tuple(texts), True))
    for step in sorted(letters):
        if step not in flagged:
            short = "".join(letters[step])
            found.append(Flag(step, (f"{short} · {' and '.join(names[step])} peak", short), False))
    found += [Flag(step, (f"✎ {text[:_MOST_NOTE]}", "✎"), False) for step, text in data.notes]
    return found


class Marks:
    """The texts and marks of one picture: placed when it is made, then painted as often as need be."""

    def __init__(
        self,
        data: PlotData,
        curves: CurveItems,
        theme: Theme,
        font: QFont,
        area: QRectF,
        pixel: Callable[[float, float], QPointF],
    ) -> None:
        self.data, self.curves, self.theme, self.area = data, curves, theme, area
        self._pixel, self._font = pixel, font
        self.metrics = QFontMetricsF(font)
        start, end = pixel(curves.at.edges[0], 0), pixel(curves.at.edges[-1], curves.top)
        edges = np.interp(curves.at.edges, [curves.at.edges[0], curves.at.edges[-1]], [start.x(), end.x()])
        self._edges = edges
        above = area.adjusted(0, -FLAG_GAP - self.metrics.height(), 0, 0)
        scale = (start.y() - end.y()) / curves.top
        heights = [start.y() - size * scale for size in curves.heights()]
        self.placer = LabelPlacer(above, edges[:-1], edges[1:], heights)
        self.labels: list[Label] = []
        self.flags: list[tuple[QRectF, str, Flag]] = []
        self._markers: list[tuple[str, QPointF]] = []
        self._place_layers()
        self._place_lost()
        self._block_lines()
        self._place_markers()
        self._place_flags(flags_of(data))
        self._name_lines()
        self._name_bodies()

    # -- placing --------------------------------------------------------------------------------------------------

    def _add(self, box: QRectF, text: str, ink: str) -> None:
        self.labels.append(Label(box, text, self.theme.color(ink)))

    def _place_layers(self) -> None:
        """A layer's name stands in it where it is thick and wide enough."""
        base = np.zeros(len(self.curves.total), dtype=np.int64)
        needed = self.metrics.height() * self.curves.top / max(self.area.height(), 1)
        for series, upper in zip(self.data.layers, self.curves.layers, strict=True):
            stretches = runs(self.curves.known & (upper - base >= needed))
            begin, end = max(stretches, key=lambda run: self._edges[run[1]] - self._edges[run[0]], default=(0, 0))
            width = float(self._edges[end] - self._edges[begin])
            text = self.metrics.elidedText(series.name, Qt.TextElideMode.ElideMiddle, width - 14)
            if width >= 40 and text and text != "…":
                low, high = int(base[begin:end].max()), int(upper[begin:end].min())
                if high - low >= needed * 0.8:
                    box = QRectF(0, 0, self.metrics.horizontalAdvance(text) + 6, self.metrics.height())
                    box.moveCenter(QPointF(0, self._pixel(0, (low + high) / 2).y()))
                    box.moveLeft(float(self._edges[begin]) + 4)
                    self._add(box, text, "text")
                    self.placer.block(box)
            base = upper

    def _place_lost(self) -> None:
        for begin, end in runs(~self.curves.known):
            left, right = float(self._edges[begin]), float(self._edges[end])
            box = QRectF(0, 0, self.metrics.horizontalAdvance("unavailable") + 6, self.metrics.height())
            if right - left > box.width() + 2:
                box.moveCenter(QPointF((left + right) / 2, self.area.center().y()))
                self._add(box, "unavailable", "unavailable")
                self.placer.block(box)

    def _limits(self) -> list[tuple[int, str, str]]:
        """The lines across: bytes, name, colour. That of one class only where the class has a curve."""
        total = (self.data.budget, "budget", "budget")
        interleaved = (self.data.interleaved_budget, "interleaved budget", "interleaved")
        return [total] if self.data.layers else [total, interleaved]

    def _block_lines(self) -> None:
        for size, _, _ in self._limits():
            y = self._pixel(0, size).y()
            if y >= self.area.top():
                self.placer.block(QRectF(self.area.left(), y - 1, self.area.width(), 2))

    def _place_markers(self) -> None:
        for mark in reversed(self.data.marks):
            if not isinstance(mark.size, Unavailable) and (mark.letter == "P" or not self.data.layers):
                place = self._pixel(mark.step + 0.5, mark.size)
                if self.area.left() <= place.x() <= self.area.right():
                    self._markers.append((mark.letter, place))
                    self.placer.block(around(place, _MARKER_REACH))

    def _place_flags(self, flags: list[Flag]) -> None:
        """The longest texts with which all flags in view find a place, else those with which most do."""
        seen = []
        for flag in flags:
            x = self._pixel(flag.step + 0.5, 0).x()
            if self.area.left() <= x <= self.area.right():
                seen.append((flag, x))
        for shorter in range(3):
            placed = self._flags_placed(seen, shorter)
            if len(placed) > len(self.flags):
                self.flags = placed
            if len(placed) == len(seen):
                break
        for box, _, _ in self.flags:
            self.placer.block(box.adjusted(-3, 0, 3, 0))

    def _flags_placed(self, flags: list[tuple[Flag, float]], shorter: int) -> list[tuple[QRectF, str, Flag]]:
        """Each flag over its step or, pushed a little, beside another; without those that find no place."""
        metrics, area = QFontMetricsF(self._bold()), self.area
        top = area.top() - FLAG_GAP - metrics.height()
        placed: list[tuple[QRectF, str, Flag]] = []
        for flag, x in flags:
            for text in flag.texts[min(shorter, len(flag.texts) - 1) :]:
                width = metrics.horizontalAdvance(text) + 8
                lefts = [x - width / 2 + shift * width for shift in (0.0, -0.3, 0.3, -0.5, 0.5, -0.8, 0.8)]
                boxes = [
                    QRectF(min(max(left, area.left()), area.right() - width), top, width, metrics.height())
                    for left in lefts
                    if width <= area.width()
                ]
                taken = [other.adjusted(-3, 0, 3, 0) for other, _, _ in placed]
                free = next((box for box in boxes if not any(box.intersects(other) for other in taken)), None)
                if free is not None:
                    placed.append((free, text, flag))
                    break
        return placed

    def _name_lines(self) -> None:
        """The name of a line stands over it; where that is full, under it; at the upper edge for one further up.

        Exact bytes where they cover no curve, else only KiB.
        """
        for size, name, ink in self._limits():
            above = "" if self._pixel(0, size).y() >= self.area.top() else ", above"
            short = name.partition(" ")[0]
            offers = []
            for text in (f"{name} {size_text(size)}", f"{name} {kib_text(size)}", f"{short} {kib_text(size)}"):
                text = f"{text}{above}"
                width = self.metrics.horizontalAdvance(text) + 6
                offers += [(box, text) for box in self._line_boxes(size, width)]
            chosen = self.placer.place([box for box, _ in offers])
            if chosen is not None:
                self._add(chosen, next(text for box, text in offers if box is chosen), ink)

    def _line_boxes(self, size: int, width: float) -> list[QRectF]:
        """Where the name of a line may stand; the topmost one's also among the flags above the plot."""
        area, height = self.area, self.metrics.height()
        boxes = boxes_along(area, max(self._pixel(0, size).y(), area.top() - 1), width, height)
        if size == self.data.budget:
            beside = boxes_along(area.adjusted(0, -FLAG_GAP - height, 0, 0), area.top(), width, height)
            boxes += [box.translated(0, 2 - FLAG_GAP) for box in beside if box.bottom() < area.top()]
        return boxes

    def _name_bodies(self) -> None:
        """How often each body of a Repeat runs, in its shade."""
        for span in self.data.repeats:
            left, right = self._pixel(span.start, 0).x(), self._pixel(span.stop, 0).x()
            if right < self.area.left() + 6 or left > self.area.right() - 6:
                continue
            offers = []
            for text in (f"steps {span.start:,}–{span.stop - 1:,} run {span.count:,} times", f"×{span.count:,}"):
                width = self.metrics.horizontalAdvance(text) + 4
                boxes = boxes_under(self.area, left, right, width, self.metrics.height())
                if width < min(right, self.area.right()) - max(left, self.area.left()) or text.startswith("×"):
                    offers += [(box, text) for box in boxes]
            chosen = self.placer.place([box for box, _ in offers])
            if chosen is not None:
                self._add(chosen, next(text for box, text in offers if box is chosen), "accent")

    def _bold(self) -> QFont:
        font = QFont(self._font)
        font.setBold(True)
        return font

    # -- painting -------------------------------------------------------------------------------------------------

    def paint(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_strip(painter)
        for letter, place in self._markers:
            self._paint_marker(painter, letter, place)
        for box, text, flag in self.flags:
            self._paint_flag(painter, box, text, flag)
        painter.setFont(self._font)
        for label in self.labels:
            draw_label(painter, label.box, label.text, label.ink, self.theme.color("background"))

    def _paint_strip(self, painter: QPainter) -> None:
        """A strip along the upper edge that marks every step at which some tile is over a budget."""
        for begin, end in runs(self.curves.at.any(self.data.over)):
            left, right = float(self._edges[begin]), float(self._edges[end])
            painter.fillRect(QRectF(left, self.area.top() - 5, max(right - left, 1.0), 4), self.theme.color("over"))

    def _paint_flag(self, painter: QPainter, box: QRectF, text: str, flag: Flag) -> None:
        colour = self.theme.color("over" if flag.is_over else "mark")
        x = self._pixel(flag.step + 0.5, 0).x()
        painter.setPen(QPen(colour, 1, Qt.PenStyle.DotLine))
        painter.drawLine(QPointF(min(max(x, box.left()), box.right()), box.bottom()), QPointF(x, self.area.top()))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawRoundedRect(box, 3, 3)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setFont(self._bold())
        painter.setPen(self.theme.color("background"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def _paint_marker(self, painter: QPainter, letter: str, place: QPointF) -> None:
        """A dot for the total, round it an empty square for standard, an empty triangle for interleaved.

        Peaks often coincide: the shapes are nested, so that each is seen.
        """
        colour = self.theme.color({"P": "total", "S": "standard", "I": "interleaved"}[letter])
        if letter == "P":
            painter.setPen(QPen(self.theme.color("background"), 1.5))
            painter.setBrush(colour)
            painter.drawEllipse(place, 5, 5)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            return
        corners = [QPointF(-7, -7), QPointF(7, -7), QPointF(7, 7), QPointF(-7, 7)]
        if letter == "I":
            corners = [QPointF(0, -10), QPointF(10, 7), QPointF(-10, 7)]
        shape = QPolygonF([place + corner for corner in corners])
        for pen in (QPen(self.theme.color("background"), 4), QPen(colour, 2)):
            painter.setPen(pen)
            painter.drawPolygon(shape)
