"""The plot of the curves: what moves over them, and what the mouse does."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFontMetricsF,
    QMouseEvent,
    QPainter,
    QPen,
    QWheelEvent,
)
from PySide6.QtWidgets import QWidget

from tileview.present.curves import BoolArray
from tileview.present.ticks import step_ticks
from tileview.qt.base.theme import Theme
from tileview.qt.plot.plane import Plane, runs, stairs
from tileview.qt.views.timeline.axis import StepAxis
from tileview.qt.views.timeline.canvas import KeyCommand, StepCanvas
from tileview.qt.views.timeline.curves import CurvePainter
from tileview.qt.views.timeline.data import PlotData
from tileview.qt.views.timeline.marks import label_height


class Drag(Enum):
    """What the mouse is doing."""

    NONE = 0
    SCRUB = 1
    BRUSH = 2
    ZOOM = 3
    PAN = 4


class CurvePlot(StepCanvas):
    """Curves, cursor, brushed range."""

    stepped = Signal(object)
    brushed = Signal(object)
    """A half-open range of steps, or None."""

    def __init__(
        self, theme: Theme, axis: StepAxis, keys: KeyCommand, tip: Callable[[int], str], parent: QWidget | None = None
    ) -> None:
        super().__init__(theme, axis, keys, parent)
        self.setMinimumSize(QSize(120, 60))
        self.setAccessibleName("Memory over the steps")
        self._tip = tip
        self._data: PlotData | None = None
        self._message = "No timeline to show"
        self._to_budget = True
        self._operation: BoolArray | None = None
        self._lifetime: tuple[tuple[int, int], ...] = ()
        self._drag = Drag.NONE
        self._start = 0.0
        self._rubber: tuple[float, float] | None = None

    def set_data(self, data: PlotData | None, message: str = "No timeline to show") -> None:
        self._data, self._message = data, message
        self.redraw()

    def set_to_budget(self, to_budget: bool) -> None:
        """Whether the height reaches to the budget even where the curves stay far below it."""
        self._to_budget = to_budget
        self.redraw()

    def set_lit(self, operation: BoolArray | None, lifetime: tuple[tuple[int, int], ...]) -> None:
        """Steps of the selected operation, and those at which the selected allocation is live: drawn along the lower
        edge.
        """
        self._operation, self._lifetime = operation, lifetime
        self.update()

    def plane(self) -> Plane:
        line = self.fontMetrics().height()
        left, top = self.gutter(), line + 12
        area = QRectF(left, top, max(self.width() - left - 10, 10), max(self.height() - top - line - 8, 10))
        highest = 1024 if self._data is None else self._top(area.height())
        return Plane(area, self.axis.first, self.axis.last, highest)

    def _top(self, height: float) -> int:
        """Bytes at the upper edge: those of the data, and so many more that the name of the budget stands above its
        line.
        """
        data = self._data
        assert data is not None
        top, room = data.top(self._to_budget), label_height(QFontMetricsF(self.font())) + 2
        if data.budget <= top and height > 4 * room:
            top = max(top, int(data.budget * height / (height - room)) + 1)
        return top

    def tip(self, place: QPointF) -> str:
        return "" if self._data is None or self._pointed is None else self._tip(self._pointed)

    def render_picture(self, painter: QPainter) -> None:
        if self._data is None or not self._data.steps:
            painter.setPen(self._theme.color("muted"))
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(self.rect().adjusted(8, 8, -8, -8), flags, self._message)
            return
        CurvePainter(painter, self.plane(), self._data, self._theme).paint()

    def draw_over(self, painter: QPainter) -> None:
        if self._data is None or not self._data.steps:
            return
        super().draw_over(painter)
        plane = self.plane()
        self._draw_ticks(painter, plane)
        self._draw_lit(painter, plane)
        if self._rubber is not None:
            painter.setPen(QPen(self._theme.color("accent"), 1, Qt.PenStyle.DashLine))
            painter.setBrush(self._theme.color("accent", 40))
            painter.drawRect(plane.band(*self._rubber))
            painter.setBrush(Qt.BrushStyle.NoBrush)
        if self.current is not None:
            self._draw_step_label(painter, plane)

    def _draw_lit(self, painter: QPainter, plane: Plane) -> None:
        painter.setClipRect(plane.area)
        if self._operation is not None:
            at = stairs(plane, self.axis.steps)
            for begin, end in runs(at.any(self._operation)):
                left, right = float(at.left[begin]), float(at.right[end - 1])
                painter.fillRect(
                    QRectF(left, plane.area.bottom() - 4, max(right - left, 2), 4), self._theme.color("accent")
                )
        for start, stop in self._lifetime:
            band = plane.band(start, stop)
            if not band.isEmpty():
                box = QRectF(band.left(), plane.area.bottom() - 9, max(band.width(), 2), 4)
                painter.fillRect(box, self._theme.color("warning"))
        painter.setClipping(False)

    def _draw_step_label(self, painter: QPainter, plane: Plane) -> None:
        """The number of the current step on the axis, over whatever tick stands there."""
        assert self.current is not None
        x = plane.x(self.current + 0.5)
        if not plane.area.left() <= x <= plane.area.right():
            return
        box = self._step_box(plane)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("accent"))
        painter.drawRoundedRect(box, 3, 3)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(self._theme.color("accent_text"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, f"{self.current:,}")

    def _step_box(self, plane: Plane) -> QRectF:
        """Where the number of the current step stands on the axis."""
        metrics = self.fontMetrics()
        width = metrics.horizontalAdvance(f"{self.current:,}") + 10
        left = min(max(plane.x((self.current or 0) + 0.5) - width / 2, 0.0), self.width() - width)
        return QRectF(left, plane.area.bottom() + 3, width, metrics.height())

    def _draw_ticks(self, painter: QPainter, plane: Plane) -> None:
        """The numbers on the axis of steps, but for those that the current step's would cover."""
        metrics, area = self.fontMetrics(), plane.area
        widest = metrics.horizontalAdvance(f"{self.axis.steps:,}") + 18
        taken = QRectF() if self.current is None else self._step_box(plane)
        last = min(int(np.ceil(plane.last)), self.axis.steps) - 1
        painter.setPen(self._theme.color("muted"))
        for tick in step_ticks(max(int(np.floor(plane.first)), 0), last, max(int(area.width() // widest), 1)):
            x = plane.x(tick.value + 0.5)
            width = metrics.horizontalAdvance(tick.text) + 2
            box = QRectF(x - width / 2, area.bottom() + 3, width, metrics.height())
            if area.left() <= x <= area.right():
                painter.drawLine(QPointF(x, area.bottom()), QPointF(x, area.bottom() + 3))
                if not box.intersects(taken):
                    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, tick.text)

    # -- mouse ----------------------------------------------------------------------------------------------------

    def wheelEvent(self, event: QWheelEvent) -> None:
        self.zoom_wheel(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._data is None:
            return
        plane, place = self.plane(), event.position()
        self._start = plane.place(place.x())
        if event.button() == Qt.MouseButton.MiddleButton:
            self._drag = Drag.PAN
        elif event.button() == Qt.MouseButton.LeftButton:
            modifiers = event.modifiers()
            if modifiers & Qt.KeyboardModifier.ShiftModifier:
                self._drag = Drag.BRUSH
            elif modifiers & Qt.KeyboardModifier.ControlModifier or place.y() > plane.area.bottom() + 1:
                self._drag = Drag.ZOOM
            else:
                self._drag = Drag.SCRUB
                self._scrub(place)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        place = event.position()
        self.point_at(place)
        here = self.plane().place(place.x())
        if self._drag is Drag.SCRUB:
            self._scrub(place)
        elif self._drag is Drag.PAN:
            self.axis.pan(self._start - here)
        elif self._drag in (Drag.BRUSH, Drag.ZOOM):
            low, high = sorted(
                (min(max(self._start, 0.0), float(self.axis.steps)), min(max(here, 0.0), float(self.axis.steps)))
            )
            self._rubber = (low, high) if self._drag is Drag.ZOOM else (float(np.floor(low)), float(np.ceil(high)))
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        drag, rubber = self._drag, self._rubber
        self._drag, self._rubber = Drag.NONE, None
        self.update()
        if rubber is None:
            if drag is Drag.BRUSH:
                self.brushed.emit(None)
            return
        if drag is Drag.BRUSH and rubber[1] > rubber[0]:
            self.brushed.emit((int(rubber[0]), int(rubber[1])))
        elif drag is Drag.ZOOM and rubber[1] - rubber[0] > 1e-6:
            self.axis.show(*rubber, "drag")

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.axis.fit()

    def _scrub(self, place: QPointF) -> None:
        self.stepped.emit(self.plane().step(place.x(), self.axis.steps))
