"""Items of plots: curves drawn in pixels, what stays still while a cursor moves, and what lies over a plot."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QPainter, QPen, QTransform
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from tileview.qt.base.painting import told

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
