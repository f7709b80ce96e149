"""The plot of the curves and the steps in view: what moves over them, and what the mouse does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QObject, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from tileview.present.curves import BoolArray, runs, stretch
from tileview.qt.base.theme import Theme
from tileview.qt.plot.base import Drag, KeyCommand, Plot, Zoom
from tileview.qt.plot.items import ByteAxis, Over, StepAxis
from tileview.qt.views.timeline.curves import FLAG_GAP, CurveItems, Marks, label_height
from tileview.qt.views.timeline.data import PlotData


class StepZoom(Zoom):
    """A range of steps ``first`` … ``last``, fractions allowed, inside 0 … ``steps``; at least 4 are in view."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent, smallest=4.0, across_only=True)

    @property
    def steps(self) -> int:
        return int(self.bounds.width())

    @property
    def first(self) -> float:
        return self.shown.left()

    @property
    def last(self) -> float:
        return self.shown.right()

    def set_steps(self, steps: int, keep: bool) -> None:
        """So many steps now; see :meth:`Zoom.set_bounds`."""
        self.set_bounds(QRectF(0, 0, max(steps, 1), 1), keep)

    def show(self, first: float, last: float, gesture: str = "show") -> None:
        """Make a range visible; what was visible can be gone back to."""
        self.show_part(QRectF(first, 0, last - first, 1), gesture)

    def reveal(self, step: int) -> None:
        """Move just so far that a step is visible; no entry of the history, because the cursor is gone back to by its
        own keys.
        """
        size = self.shown.width()
        if step < self.first:
            self.move_to(QRectF(step - size * 0.1, 0, size, 1))
        elif step + 1 > self.last:
            self.move_to(QRectF(step + 1 - size * 0.9, 0, size, 1))

    def centre(self, step: int) -> None:
        """Bring a step into the middle, zooming in where all steps are shown."""
        size = self.shown.width()
        if self.is_fit:
            size = max(self.steps / 4, min(40.0, self.steps))
        self.show(step + 0.5 - size / 2, step + 0.5 + size / 2, "centre")


_GRIP = 4.0
"""Pixels beside an edge of the range from which it is dragged."""
RIGHT = 10
"""Pixels free at the right of all plots over steps."""


def pixel_pen(colour: object, width: float = 1.0, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> QPen:
    """A line whose width is in pixels whatever the units of the plot."""
    pen: QPen = pg.mkPen(color=colour, width=width, style=style, cosmetic=True)
    return pen


class StepPlot(Plot):
    """A plot over steps: a cursor at the selected step, a line at the one under the mouse, and a range."""

    pointed_step = Signal(object)
    """The step under the mouse, or None."""
    zoom: StepZoom

    def build(self) -> None:
        self.current: int | None = None
        self.span: tuple[int, int] | None = None
        self.pointed_at: int | None = None
        self.region = pg.LinearRegionItem(movable=True, swapMode="sort")
        self.band = pg.LinearRegionItem(movable=False)
        self.cursor_line, self.pointer = (pg.InfiniteLine(angle=90, movable=False) for _ in range(2))
        for above, item in ((10, self.region), (15, self.pointer), (18, self.band), (20, self.cursor_line)):
            item.setZValue(above)
            item.hide()
            self.box.addItem(item, ignoreBounds=True)
        self.pointed.connect(self._take_pointer)

    def set_theme(self, theme: Theme) -> None:
        accent = theme.color("accent")
        self.region.setBrush(theme.color("accent", 46))
        self.region.setHoverBrush(theme.color("accent", 60))
        self.band.setBrush(theme.color("accent", 60))
        for line in self.region.lines:
            line.setPen(pixel_pen(accent))
            line.setHoverPen(pixel_pen(accent, 3))
        for line in self.band.lines:
            line.setPen(pg.mkPen(None))
        self.cursor_line.setPen(pixel_pen(accent, 2))
        self.pointer.setPen(pixel_pen(theme.color("muted"), 1, Qt.PenStyle.DotLine))
        super().set_theme(theme)

    def step_at(self, x: float) -> int:
        """The step at a place, cut to those there are."""
        return min(max(int(np.floor(x)), 0), max(self.zoom.steps - 1, 0))

    def set_current(self, step: int | None) -> None:
        """The selected step."""
        self.current = step
        self._place_cursor()

    def set_span(self, span: tuple[int, int] | None) -> None:
        """The range of steps, half-open; None for no range."""
        self.span = span
        self._place_span()

    def set_pointed(self, step: int | None) -> None:
        """The step that the mouse points at, here or in another plot of the view."""
        if step != self.pointed_at:
            self.pointed_at = step
            self._place_pointer()

    def _take_pointer(self, place: QPointF | None) -> None:
        step = None if place is None else self.step_at(place.x())
        if step != self.pointed_at:
            self.set_pointed(step)
            self.pointed_step.emit(step)

    def _shows(self, x: float) -> bool:
        return self.zoom.first <= x <= self.zoom.last

    def _place_cursor(self) -> None:
        step = self.current
        middle = -1.0 if step is None else step + 0.5
        self.cursor_line.setVisible(self._shows(middle))
        wide = self.area().width() > 3 * self.zoom.shown.width()
        self.band.setVisible(self.cursor_line.isVisible() and wide)
        if step is not None:
            self.cursor_line.setValue(middle)
            self.band.setRegion((max(step, self.zoom.first), min(step + 1, self.zoom.last)))

    def _place_span(self) -> None:
        span, zoom = self.span, self.zoom
        seen = span is not None and span[1] > zoom.first and span[0] < zoom.last
        self.region.setVisible(seen)
        if span is not None and seen:
            self.region.blockSignals(True)
            self.region.setRegion((max(span[0], zoom.first), min(span[1], zoom.last)))
            self.region.blockSignals(False)
            for line, end in zip(self.region.lines, span, strict=True):
                line.setVisible(self._shows(end))

    def _place_pointer(self) -> None:
        middle = -1.0 if self.pointed_at is None else self.pointed_at + 0.5
        self.pointer.setVisible(self._shows(middle))
        self.pointer.setValue(middle)

    def redraw(self) -> None:
        self._place_cursor()
        self._place_span()
        self._place_pointer()
        super().redraw()


class CurvePlot(StepPlot):
    """Curves, cursor, range, budgets."""

    stepped = Signal(object)
    brushed = Signal(object)
    """A half-open range of steps, or None."""

    def __init__(
        self, theme: Theme, zoom: StepZoom, keys: KeyCommand, tip: Callable[[int], str], parent: QWidget | None = None
    ) -> None:
        axes = {"left": ByteAxis(), "bottom": StepAxis()}
        super().__init__(
            theme, "Memory over the steps", parent, zoom=zoom, keys=keys, axes=axes,
            tip=lambda place: tip(self.step_at(place.x())) if self.data is not None else "",
        )  # fmt: skip
        self.setMinimumSize(QSize(120, 60))

    def build(self) -> None:
        self.data: PlotData | None = None
        self.message = "No timeline to show"
        self.marks: Marks | None = None
        self._to_budget = True
        self._operation: BoolArray | None = None
        self._lifetime: tuple[tuple[int, int], ...] = ()
        super().build()
        self.budgets = tuple(pg.InfiniteLine(angle=0, movable=False) for _ in range(2))
        for line in self.budgets:
            line.setZValue(5)
            line.hide()
            self.box.addItem(line, ignoreBounds=True)
        self._lit = Over(self._draw_lit, self.getPlotItem(), above=30)
        self._chip = Over(self._draw_chip, self.getPlotItem(), above=60)
        self.region.sigRegionChangeFinished.connect(self._edge_moved)

    def set_theme(self, theme: Theme) -> None:
        self.budgets[0].setPen(pixel_pen(theme.color("budget"), 1.5))
        self.budgets[1].setPen(pixel_pen(theme.color("interleaved"), 1.5, Qt.PenStyle.DashDotLine))
        super().set_theme(theme)

    def set_data(self, data: PlotData | None, message: str = "No timeline to show") -> None:
        self.data, self.message = data if data is not None and data.steps else None, message
        self.redraw()

    def set_to_budget(self, to_budget: bool) -> None:
        """Whether the height reaches to the budget even where the curves stay far below it."""
        if to_budget != self._to_budget:
            self._to_budget = to_budget
            self.redraw()

    def set_lit(self, operation: BoolArray | None, lifetime: tuple[tuple[int, int], ...]) -> None:
        """Steps of an operation, and those at which an allocation is live: drawn along the lower edge."""
        if operation is not self._operation or lifetime != self._lifetime:
            self._operation, self._lifetime = operation, lifetime
            self._lit.update()

    @property
    def lit_steps(self) -> BoolArray | None:
        """The steps of the operation that is lit."""
        return self._operation

    @property
    def lit_spans(self) -> tuple[tuple[int, int], ...]:
        """The steps at which the allocation that is lit is live."""
        return self._lifetime

    @property
    def top(self) -> float:
        """Bytes at the upper edge."""
        return float(self.box.viewRange()[1][1])

    def _find_top(self, height: float) -> int:
        """Bytes at the upper edge: those of the data, and so many more that the name of the budget stands above its
        line.
        """
        data = self.data
        assert data is not None
        top, room = data.top(self._to_budget), label_height(QFontMetricsF(self.font())) + 2
        if data.budget <= top and height > 4 * room:
            top = max(top, int(data.budget * height / (height - room)) + 1)
        return top

    def redraw(self) -> None:
        """Make the items of the columns in view, and find places for the texts."""
        data = self.data
        for side in ("left", "bottom"):
            self.getPlotItem().showAxis(side, data is not None)
        for line in self.budgets:
            line.setVisible(data is not None)
        if data is None:
            self.still.set_parts(())
            self.marks = None
        else:
            line_height = self.fontMetrics().height()
            self.set_margins(0, line_height + FLAG_GAP + 4, RIGHT, 0)
            area = self.area()
            top = self._find_top(area.height())
            self.setYRange(0, top, padding=0)
            at = stretch(self.zoom.first, self.zoom.last, max(int(area.width()), 1), data.steps)
            curves = CurveItems(data, at, self.theme, top)
            self.still.set_parts(curves.items())
            for line, size in zip(self.budgets, (data.budget, data.interleaved_budget), strict=True):
                line.setValue(size)
                line.setVisible(size <= top and (line is self.budgets[0] or not data.layers))
            self.marks = Marks(data, curves, self.theme, self.font(), area, self.pixel)
            self._lit.set_bounds(QRectF(area.left(), area.bottom() - 10, area.width(), 10))
        super().redraw()
        self._place_chip()

    def draw_over(self, painter: QPainter) -> None:
        if self.marks is not None:
            self.marks.paint(painter)
        else:
            painter.setPen(self.theme.color("muted"))
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(self.rect().adjusted(8, 8, -8, -8), flags, self.message)

    def set_current(self, step: int | None) -> None:
        super().set_current(step)
        self._place_chip()

    def _place_chip(self) -> None:
        """Put the number of the selected step on the axis, over whatever tick is there."""
        axis = self.getPlotItem().getAxis("bottom")
        shown = self.data is not None and self.current is not None and self._shows(self.current + 0.5)
        self._chip.setVisible(shown)
        if not shown or self.current is None:
            axis.leave_free(None)
            return
        metrics, area = self.fontMetrics(), self.area()
        width = metrics.horizontalAdvance(f"step {self.current:,}") + 10
        x = self.pixel(self.current + 0.5).x()
        left = min(max(x - width / 2, 0.0), self.width() - width)
        self._chip.set_bounds(QRectF(left, area.bottom() + 3, width, metrics.height() + 1))
        self._chip.update()
        axis.leave_free((self.value(QPointF(left, 0)).x(), self.value(QPointF(left + width, 0)).x()))

    def _draw_chip(self, painter: QPainter) -> None:
        box = self._chip.boundingRect()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.theme.color("accent"))
        painter.drawRoundedRect(box, 3, 3)
        painter.setPen(self.theme.color("accent_text"))
        painter.setFont(self.font())
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, f"step {self.current:,}")

    def _draw_lit(self, painter: QPainter) -> None:
        area, data = self.area(), self.data
        if data is None:
            return
        spans: list[tuple[float, float, int, str]] = []
        if self._operation is not None:
            at = stretch(self.zoom.first, self.zoom.last, max(int(area.width()), 1), data.steps)
            found = [(at.edges[begin], at.edges[end]) for begin, end in runs(at.any(self._operation))]
            spans += [(start, stop, 4, "accent") for start, stop in found]
        spans += [(start, stop, 9, "warning") for start, stop in self._lifetime]
        for start, stop, up, token in spans:
            left, right = max(self.pixel(start).x(), area.left()), min(self.pixel(stop).x(), area.right())
            if right > left:
                box = QRectF(left, area.bottom() - up, max(right - left, 2), 4)
                painter.fillRect(box, self.theme.color(token))

    # -- mouse ----------------------------------------------------------------------------------------------------

    def start_drag(self, event: QMouseEvent) -> Drag | None:
        """A drag scrubs; with Shift it brushes a range, with Ctrl or below the plot it zooms. An edge of the range is
        left to pyqtgraph.
        """
        place = event.position()
        if self.data is None or event.button() != Qt.MouseButton.LeftButton:
            return super().start_drag(event)
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            return self._brush_from(self.value(place).x())
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier or place.y() > self.area().bottom() + 1:
            return self.zoom_from(place)
        if any(line.isVisible() and abs(self.pixel(line.value()).x() - place.x()) <= _GRIP for line in self._grips()):
            return None
        self._scrub(place, False)
        return self._scrub

    def _grips(self) -> list[pg.InfiniteLine]:
        return list(self.region.lines) if self.region.isVisible() else []

    def _scrub(self, place: QPointF, done: bool) -> None:
        if not done:
            self.stepped.emit(self.step_at(self.value(place).x()))

    def _brush_from(self, start: float) -> Drag:
        span: tuple[int, int] | None = None

        def follow(place: QPointF, done: bool) -> None:
            nonlocal span
            if done:
                self.brushed.emit(span)
                return
            low, high = sorted(min(max(x, 0.0), float(self.zoom.steps)) for x in (start, self.value(place).x()))
            if np.ceil(high) > np.floor(low):
                span = (int(np.floor(low)), int(np.ceil(high)))
                self.set_span(span)

        return follow

    def _edge_moved(self) -> None:
        """An edge of the range was dragged: the range is of whole steps."""
        if self.span is None:
            return
        low, high = (round(end) for end in self.region.getRegion())
        first, last = self.span
        low = first if first < self.zoom.first and low <= self.zoom.first else low
        high = last if last > self.zoom.last and high >= self.zoom.last else high
        low = min(max(low, 0), self.zoom.steps - 1)
        self.brushed.emit((low, min(max(high, low + 1), self.zoom.steps)))
