"""The curves of the timeline as items of a plot: all that stays the same while the cursor moves."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import Qt
from PySide6.QtGui import QBrush, QPen

from tileview.model.timeline import ByteArray
from tileview.present.curves import BoolArray, Stretch, column_steps, runs
from tileview.qt.base.theme import Theme
from tileview.qt.plot.items import Curve, Floats, ribbon, stairs
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
