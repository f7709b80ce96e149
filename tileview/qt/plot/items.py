"""Axes and items of plots: ticks in the theme's colours, curves in pixels, what lies over them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from math import ceil, floor

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QFont, QFontMetricsF, QPainter, QPen, QTransform
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from tileview.present.scales import Tick, byte_ticks, cycle_ticks, step_ticks
from tileview.qt.base.painting import told
from tileview.qt.base.theme import Theme

_TICK = 3
_MOST_GAPS = 16
"""One tick says nothing of the scale: with less than two, gaps are halved until there are so many of them."""


class PlotAxis(pg.AxisItem):
    """An axis whose ticks come from :mod:`tileview.present.scales`."""

    def __init__(self, orientation: str) -> None:
        super().__init__(orientation)
        self.setStyle(
            tickLength=_TICK, tickTextOffset=2, autoExpandTextSpace=False, autoReduceTextSpace=False, maxTextLevel=0,
            tickAlpha=255, hideOverlappingLabels=False,
        )  # fmt: skip
        self.enableAutoSIPrefix(False)
        self._texts: dict[float, str] = {}
        self._metrics = QFontMetricsF(QFont())

    def dress(self, theme: Theme, font: QFont, grid: bool = False) -> None:
        """Take the colours of a theme and a font; ``grid`` draws the ticks on as lines across the plot."""
        self._metrics = QFontMetricsF(font)
        self.setTickFont(font)
        self.setPen(theme.color("border"))
        self.setTextPen(theme.color("muted"))
        self.setTickPen(theme.color("grid" if grid else "muted"))
        self.setGrid(255 if grid else False)
        self.setZValue(-1000 if grid else 0)

    def boundingRect(self) -> QRectF:
        """With room for the texts at both ends, which pyqtgraph would leave out."""
        room, upright = self._metrics.height(), self.orientation in ("left", "right")
        bounds: QRectF = super().boundingRect()
        return bounds.adjusted(0, -room, 0, room) if upright else bounds.adjusted(-room, 0, room, 0)

    def ticks(self, low: float, high: float, pixels: float) -> Sequence[tuple[float, str]]:
        """Places and texts of the ticks of a range so many pixels long."""
        raise NotImplementedError

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        try:
            self._texts = dict(self.ticks(low, high, size))
        except Exception:
            # pyqtgraph holds a painter while it asks: what got past it would end the process.
            self._texts = {}
            sys.excepthook(*sys.exc_info())
        return [(1.0, list(self._texts))]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        return [self._texts[value] for value in values]


def byte_gutter(font: QFont, widest: str = "000.0 KiB") -> int:
    """Pixels that an upright axis of bytes takes; a plot below it without one leaves as many free."""
    return ceil(QFontMetricsF(font).horizontalAdvance(widest)) + 8


class ByteAxis(PlotAxis):
    """Bytes at multiples of a power of two; ``widest`` is the longest text it makes room for."""

    def __init__(self, orientation: str = "left", widest: str = "000.0 KiB") -> None:
        super().__init__(orientation)
        self._widest = widest

    def dress(self, theme: Theme, font: QFont, grid: bool = True) -> None:
        super().dress(theme, font, grid)
        if self.orientation in ("left", "right"):
            self.setWidth(byte_gutter(font, self._widest))
        else:
            self.setHeight(ceil(self._metrics.height()) + _TICK + 2)

    def ticks(self, low: float, high: float, pixels: float) -> Sequence[tuple[float, str]]:
        upright = self.orientation in ("left", "right")
        room = 2.0 * self._metrics.height() if upright else self._metrics.horizontalAdvance(self._widest) + 12
        least, most, gaps = ceil(low), floor(high), max(int(pixels // room), 1)
        found = byte_ticks(least, most, gaps)
        while len(found) < 2 and gaps < _MOST_GAPS and least < most:
            gaps *= 2
            found = byte_ticks(least, most, gaps)
        return _places(found, 0.0)


class CycleAxis(PlotAxis):
    """Planner's cycles, upwards."""

    _WIDEST = "00,000,000"

    def __init__(self) -> None:
        super().__init__("left")

    def dress(self, theme: Theme, font: QFont, grid: bool = True) -> None:
        super().dress(theme, font, grid)
        self.setWidth(byte_gutter(font, self._WIDEST))

    def ticks(self, low: float, high: float, pixels: float) -> Sequence[tuple[float, str]]:
        return _places(cycle_ticks(ceil(low), floor(high), max(int(pixels // (2 * self._metrics.height())), 1)), 0.0)


class StepAxis(PlotAxis):
    """Steps at round numbers, each in the middle of its step; ``offset`` 0 for counts that begin at a place."""

    def __init__(self, orientation: str = "bottom", offset: float = 0.5) -> None:
        super().__init__(orientation)
        self._offset = offset
        self._taken: tuple[float, float] | None = None
        self._gone: frozenset[float] = frozenset()

    def dress(self, theme: Theme, font: QFont, grid: bool = False) -> None:
        super().dress(theme, font, grid)
        self.setHeight(ceil(self._metrics.height()) + _TICK + 2)

    def ticks(self, low: float, high: float, pixels: float) -> Sequence[tuple[float, str]]:
        first, last = max(floor(low), 0), ceil(high) - 1
        room = self._metrics.horizontalAdvance(f"{last:,}") + 18
        places = _places(step_ticks(first, last, max(int(pixels // room), 1)), self._offset)
        self._gone = self._covered(places)
        return [(place, "" if place in self._gone else text) for place, text in places]

    def leave_free(self, taken: tuple[float, float] | None) -> None:
        """Write no number between two places (in steps): something else is written there."""
        self._taken = taken
        if self._covered([(place, text or " ") for place, text in self._texts.items()]) != self._gone:
            self.picture = None
            self.update()

    def _covered(self, places: Sequence[tuple[float, str]]) -> frozenset[float]:
        """The ticks whose numbers would lie where none may."""
        if self._taken is None or self.width() <= 0:
            return frozenset()
        low, high = self._taken
        a_pixel = (self.range[1] - self.range[0]) / self.width()
        half = (self._metrics.horizontalAdvance(f"{ceil(self.range[1]):,}") / 2 + 3) * a_pixel
        return frozenset(place for place, _ in places if low - half < place < high + half)


def _places(ticks: Sequence[Tick], offset: float) -> list[tuple[float, str]]:
    return [(tick.value + offset, tick.text) for tick in ticks]


Floats = npt.NDArray[np.float64]
Draw = Callable[[QPainter], None]


class Curve(pg.PlotCurveItem):
    """A curve, or the area under or between curves, whose lines, dashes and hatching are measured in pixels.

    pyqtgraph draws in the units of the plot, which stretches hatching, in files dashes too.
    """

    @told()
    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        if self.xData is None or not len(self.xData):
            return
        before = painter.transform()
        shape = QTransform.fromScale(before.m11(), before.m22()).map(self.getPath())
        painter.setTransform(QTransform.fromTranslate(before.dx(), before.dy()))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, bool(self.opts["antialias"]))
        brush, pen = self.opts["brush"], self.opts["pen"]
        if self.opts["fillLevel"] is not None and brush is not None:
            painter.fillPath(shape, brush)
        if pen is not None and pen.style() is not Qt.PenStyle.NoPen:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(pen)
            painter.drawPath(shape)
        painter.setTransform(before)


def stairs(edges: Floats, heights: npt.NDArray[np.generic], pen: QPen, brush: QBrush | None = None) -> Curve:
    """A staircase over columns between ``edges`` (one more than heights); with a brush the area under it is filled.

    A height that is no number (NaN) leaves a gap.
    """
    return Curve(
        x=edges, y=np.asarray(heights, dtype=np.float64), stepMode="center", connect="finite", pen=pen, brush=brush,
        fillLevel=None if brush is None else 0,
    )  # fmt: skip


def ribbon(edges: Floats, lower: npt.NDArray[np.generic], upper: npt.NDArray[np.generic], brush: QBrush) -> Curve:
    """The area between two staircases over the same columns."""
    x = np.repeat(edges, 2)[1:-1]
    there, back = np.repeat(np.asarray(upper, np.float64), 2), np.repeat(np.asarray(lower, np.float64), 2)
    return Curve(
        x=np.concatenate([x, x[::-1]]), y=np.concatenate([there, back[::-1]]), pen=None, brush=brush,
        fillLevel="enclosed",
    )  # fmt: skip


class KeptItem(pg.GraphicsObject):
    """An item whose picture is kept until it is told to update."""

    def keep_picture(self, on: bool) -> None:
        """Whether the picture is kept; not while a file is drawn."""
        mode = QGraphicsItem.CacheMode
        self.setCacheMode(mode.DeviceCoordinateCache if on else mode.NoCache)


class Still(KeptItem):
    """What stays the same while a cursor moves, painted once: one picture is kept, not one for each curve.

    Its parts are items in the units of the plot, painted in their order.
    """

    def __init__(self) -> None:
        super().__init__()
        self._parts: Sequence[pg.GraphicsObject] = ()
        self.keep_picture(True)

    @property
    def parts(self) -> Sequence[pg.GraphicsObject]:
        return self._parts

    def set_parts(self, parts: Sequence[pg.GraphicsObject]) -> None:
        self._parts = tuple(parts)
        self.prepareGeometryChange()
        self.update()

    def boundingRect(self) -> QRectF:
        return QRectF(self.viewRect())

    def viewTransformChanged(self) -> None:
        super().viewTransformChanged()
        self.prepareGeometryChange()
        self.update()

    @told()
    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        for part in self._parts:
            painter.save()
            part.paint(painter, option, widget)
            painter.restore()


class Over(KeptItem):
    """Draws in pixels of the whole plot, axes and margins included: texts, flags, marks."""

    def __init__(self, draw: Draw, parent: QGraphicsItem, above: float = 50.0, kept: bool = False) -> None:
        super().__init__(parent)
        self.keep_picture(kept)
        self._draw = draw
        self._bounds = QRectF()
        self.setZValue(above)

    def set_bounds(self, bounds: QRectF) -> None:
        if bounds != self._bounds:
            self.prepareGeometryChange()
            self._bounds = QRectF(bounds)

    def boundingRect(self) -> QRectF:
        return self._bounds

    @told()
    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        self._draw(painter)
