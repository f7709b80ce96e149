"""What lies in the plot of an address map: closed memory, one box an entry, all painted by one item; the axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, floor

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QPainter, QTransform
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from tileview.analysis.address_map import AddressMap, Attempt
from tileview.present.address_map import Colouring, Group, closed_spans, columns_of
from tileview.present.colours import category
from tileview.present.ticks import step_ticks
from tileview.qt.base.painting import told
from tileview.qt.base.theme import Theme
from tileview.qt.plot.axes import PlotAxis, byte_gutter

_PATTERNS = (Qt.BrushStyle.SolidPattern, Qt.BrushStyle.Dense3Pattern)
_GAP_FROM = 4.0
"""Pixels from which on a box leaves a line free around it."""


def group_brush(theme: Theme, group: Group) -> QBrush:
    """The fill of a group: parameters, the rest and scratch as in the timeline, operations by the categories."""
    if group.kind == "group":
        colour, pattern = category(group.place, theme.categories)
        return QBrush(QColor(colour), _PATTERNS[pattern % len(_PATTERNS)])
    if group.kind == "support":
        return QBrush(theme.color("muted"), Qt.BrushStyle.BDiagPattern)
    if group.kind == "padding":
        return QBrush(theme.color("muted"), Qt.BrushStyle.Dense6Pattern)
    if group.kind == "scratch":
        return QBrush(theme.color("scratch"), Qt.BrushStyle.Dense3Pattern)
    return QBrush(theme.color("border" if group.kind == "parameters" else "field"))


def ground_of(theme: Theme, group: Group) -> QColor:
    """The colour that a text on a box of a group stands on."""
    if group.kind == "group" and group.place < len(theme.categories):
        return QColor(theme.categories[group.place])
    return theme.color({"parameters": "border", "rest": "field"}.get(group.kind, "background"))


class Boxes(pg.GraphicsObject):  # type: ignore[misc]
    """All boxes of one attempt over the closed memory; drawn in pixels, nothing outside what is in view.

    A part of what stays still in a plot, and no item of a scene itself: ``view`` says what is in view, in the units of
    the plot.
    """

    def __init__(self, theme: Theme, view: Callable[[], QRectF]) -> None:
        super().__init__()
        self._view = view
        self._theme = theme
        self._map: AddressMap | None = None
        self._places: npt.NDArray[np.float64] = np.zeros((0, 4))
        self._groups: npt.NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._colouring: Colouring | None = None

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme

    def show_attempt(self, tile: AddressMap | None, attempt: Attempt | None, colouring: Colouring | None) -> None:
        """Show what an attempt placed; None where there is nothing to show."""
        self._map, self._colouring = tile, colouring
        if tile is None or attempt is None or colouring is None:
            self._places, self._groups = np.zeros((0, 4)), np.zeros(0, dtype=np.int64)
            return
        placed = np.flatnonzero(attempt.starts >= 0)
        both = (columns_of(tile)[placed], attempt.starts[placed, None], attempt.ends[placed, None])
        self._places = np.concatenate(both, axis=1).astype(np.float64)
        self._groups = colouring.of[placed]

    def boundingRect(self) -> QRectF:
        return QRectF(self._view())

    @told()
    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        tile, colouring = self._map, self._colouring
        if tile is None or colouring is None:
            return
        before = painter.transform()
        view = before.mapRect(QRectF(self._view()))
        painter.setTransform(QTransform())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        self._paint_closed(painter, before, view, tile)
        x = self._places[:, :2] * before.m11() + before.dx()
        y = self._places[:, 2:] * before.m22() + before.dy()
        left, right = np.maximum(x[:, 0], view.left()), np.minimum(x[:, 1], view.right())
        top, bottom = np.maximum(y[:, 1], view.top()), np.minimum(y[:, 0], view.bottom())
        seen = (left < right) & (top <= bottom)
        for number, group in enumerate(colouring.groups):
            brush = group_brush(self._theme, group)
            for at in np.flatnonzero(seen & (self._groups == number)):
                width, height = right[at] - left[at], max(bottom[at] - top[at], 1.0)
                gap = 0.5 if min(width, height) >= _GAP_FROM else 0.0
                box = QRectF(left[at] + gap, top[at] + gap, max(width, 1.0) - 2 * gap, height - 2 * gap)
                if brush.style() is not Qt.BrushStyle.SolidPattern:
                    painter.fillRect(box, self._theme.color("raised"))
                painter.fillRect(box, brush)
        painter.setTransform(before)

    def _paint_closed(self, painter: QPainter, units: QTransform, view: QRectF, tile: AddressMap) -> None:
        for start, end in closed_spans(tile):
            top, bottom = end * units.m22() + units.dy(), start * units.m22() + units.dy()
            box = QRectF(view.left(), top, view.width(), bottom - top).intersected(view)
            if not box.isEmpty():
                painter.fillRect(box, self._theme.color("raised"))
                painter.fillRect(box, QBrush(self._theme.color("grid"), Qt.BrushStyle.BDiagPattern))


class AddressAxis(PlotAxis):
    """Addresses in hexadecimal at round places."""

    def __init__(self) -> None:
        super().__init__("left")

    def dress(self, theme: Theme, font: QFont, grid: bool = True) -> None:
        super().dress(theme, font, grid)
        self.setWidth(byte_gutter(font, "0x0000000"))

    def ticks(self, low: float, high: float, pixels: float) -> Sequence[tuple[float, str]]:
        most = max(int(pixels // (2.0 * self._metrics.height())), 1)
        apart = 16
        while (high - low) / apart > most:
            apart *= 2
        first, last = ceil(low / apart), floor(high / apart)
        return [(float(place * apart), f"0x{place * apart:X}") for place in range(first, last + 1)]


class EventAxis(PlotAxis):
    """Events at round numbers, each in the middle of its column; the last column is the end of the run."""

    def __init__(self) -> None:
        super().__init__("bottom")
        self.events = 0

    def dress(self, theme: Theme, font: QFont, grid: bool = False) -> None:
        super().dress(theme, font, grid)
        self.setHeight(ceil(self._metrics.height()) + 5)

    def ticks(self, low: float, high: float, pixels: float) -> Sequence[tuple[float, str]]:
        first, last = max(floor(low), 0), min(ceil(high) - 1, self.events)
        room = self._metrics.horizontalAdvance(f"{last:,}END") + 18
        ends = self.events + 1.5
        found = [(tick.value + 0.5, tick.text) for tick in step_ticks(first, last, max(int(pixels // room), 1))]
        if not low <= ends <= high:
            return found
        clear = room * (high - low) / max(pixels, 1.0) * 0.6
        return [*((place, text) for place, text in found if place < ends - clear), (ends, "END")]
