"""The plot of memory against planner's cycles: marks by what is known of a choice, the front of best trade-offs."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from tileview.core.cycles.words import short_cycles
from tileview.model.sizes import exact_text, kib_text
from tileview.present.choices import Choice, Choices, Standing, choice_tip
from tileview.qt.base.theme import Theme
from tileview.qt.plot.base import Drag, Plot, Zoom
from tileview.qt.plot.items import ByteAxis, CycleAxis
from tileview.qt.plot.legend import LabelPlacer, around, draw_label

_REACH = 10.0
"""Pixels from a mark within which a click is meant for it."""
_MARK = 4.5
"""Half the size of a mark, in pixels."""
_AIR = 0.08
"""Part of the extent that is left free on each side."""
_COARSE = 4000
"""Where more choices than this are in view, marks within three pixels of another of their kind are not drawn."""
_MOST_LABELS = 6

_TOKENS = {
    Standing.PLACED: "ok",
    Standing.FITS: "ok",
    Standing.UNPLACED: "warning",
    Standing.OVER: "over",
    Standing.UNKNOWN: "unknown",
}
_STEPS = {
    Qt.Key.Key_Left: (False, -1),
    Qt.Key.Key_Right: (False, 1),
    Qt.Key.Key_Down: (True, -1),
    Qt.Key.Key_Up: (True, 1),
}
"""Whether a key goes by cycles, and which way."""


class ChoicePlot(Plot):
    """Across: memory; up: planner's cycles. Each choice is a mark; a dragged frame zooms, a click chooses."""

    chosen = Signal(int)
    """A choice was clicked or reached by the keys: its place."""
    activated = Signal(int)
    """A choice was double clicked, or Enter pressed on it."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        self.choices = Choices()
        self.current: int | None = None
        self.message = ""
        self._x = self._y = np.zeros(0)
        axes = {"left": CycleAxis(), "bottom": ByteAxis("bottom", "0,000 KiB")}
        super().__init__(theme, "Memory against planner's cycles", parent, zoom=Zoom(parent, smallest=64.0), axes=axes)

    # -- what is shown ----------------------------------------------------------------------------------------------

    def show_choices(self, choices: Choices, current: int | None, message: str, keep: bool) -> None:
        """Show choices; ``keep`` leaves the part in view as it is, ``message`` stands where there are none."""
        self.choices, self.current, self.message = choices, current, message
        self._x = np.array([point.memory for point in choices.points], dtype=np.float64)
        self._y = np.array([point.cycles for point in choices.points], dtype=np.float64)
        if self.zoom is not None:
            self.zoom.set_bounds(self._bounds(), keep)
        self.redraw()

    def _bounds(self) -> QRectF:
        if not len(self._x):
            return QRectF(0, 0, 1024, 1024)
        left, right, low, high = self._x.min(), self._x.max(), self._y.min(), self._y.max()
        for limit in (self.choices.limit, self.choices.planner):
            if limit is not None and limit < 2 * right:
                left, right = min(left, limit), max(right, limit)
        width, height = max(right - left, 4096.0), max(high - low, 1000.0)
        return QRectF(left - _AIR * width, low - _AIR * height, (1 + 2 * _AIR) * width, (1 + 2 * _AIR) * height)

    def set_current(self, current: int | None) -> None:
        self.current = current
        self.draw_again()

    # -- where --------------------------------------------------------------------------------------------------------

    def near(self, place: QPointF) -> list[int]:
        """The choices at a place of the widget, the nearest first; those that lie on one another in their order."""
        if not len(self._x):
            return []
        origin, across, up = self._frame()
        away = np.hypot(origin.x() + self._x * across - place.x(), origin.y() + self._y * up - place.y())
        found = np.flatnonzero(away <= _REACH)
        return [int(one) for one in found[np.lexsort((found, away[found].round(1)))]]

    def _frame(self) -> tuple[QPointF, float, float]:
        """Where the origin lies in the widget, and the pixels of a byte and of a cycle."""
        origin, other = self.pixel(0.0, 0.0), self.pixel(1e6, 1e6)
        return origin, (other.x() - origin.x()) / 1e6, (other.y() - origin.y()) / 1e6

    def mark_place(self, place: int) -> QPointF:
        """Where the mark of a choice lies in the widget."""
        return self.pixel(float(self._x[place]), float(self._y[place]))

    def tip_at(self, place: QPointF) -> str:
        near = self.near(place)
        if not near:
            return ""
        points = self.choices.points
        there = (points[near[0]].memory, points[near[0]].cycles)
        alike = [points[one] for one in near if (points[one].memory, points[one].cycles) == there]
        return choice_tip(alike, self.choices)

    # -- mouse and keys -----------------------------------------------------------------------------------------------

    def start_drag(self, event: QMouseEvent) -> Drag | None:
        if event.button() != Qt.MouseButton.LeftButton:
            return super().start_drag(event)
        start, zoom = event.position(), self.zoom_from(event.position())

        def follow(place: QPointF, done: bool) -> None:
            away = place - start
            if abs(away.x()) + abs(away.y()) > _REACH:
                zoom(place, done)
            elif done:
                zoom(start, True)
                self.click(start)

        return follow

    def click(self, place: QPointF) -> None:
        """Choose what lies here; of several on one another, the one after that which is chosen already."""
        near = self.near(place)
        if near:
            at = near.index(self.current) + 1 if self.current in near else 0
            self.chosen.emit(near[at % len(near)])

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        near = self.near(event.position())
        if near:
            self.activated.emit(self.current if self.current in near else near[0])
        else:
            super().mouseDoubleClickEvent(event)

    def key(self, event: QKeyEvent) -> Callable[[], object] | None:
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            return super().key(event)
        key = Qt.Key(event.key())
        if key in _STEPS:
            by_cycles, by = _STEPS[key]
            return lambda: self.step(by, by_cycles)
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.current is not None:
            return lambda: self.activated.emit(self.current)
        if key is Qt.Key.Key_B:
            return lambda: self.step_front(1)
        return super().key(event)

    def step(self, by: int, by_cycles: bool = False) -> None:
        """Choose the next one by memory, or by cycles."""
        count = len(self._x)
        if not count:
            return
        order = np.lexsort((self._x, self._y)) if by_cycles else np.arange(count)
        at = 0 if self.current is None else int(np.flatnonzero(order == self.current)[0]) + by
        self.chosen.emit(int(order[min(max(at, 0), count - 1)]))

    def step_front(self, by: int) -> None:
        """Choose the next of the best trade-offs, round and round."""
        front = self.choices.front
        if front:
            at = front.index(self.current) + by if self.current in front else 0
            self.chosen.emit(front[at % len(front)])

    # -- drawing --------------------------------------------------------------------------------------------------

    def redraw(self) -> None:
        line = self.fontMetrics().height()
        self.set_margins(line + 4, 4, 8, 2 * line + 12)
        super().redraw()

    def draw_over(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = self.area()
        self._draw_names(painter, area)
        if not len(self._x):
            painter.setPen(self.theme.color("muted"))
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self.message)
            return
        self._draw_legend(painter)
        painter.save()
        painter.setClipRect(area)
        placer = LabelPlacer(area, np.zeros(0), np.zeros(0), ())
        lines = [self._draw_limit(painter, area, placer), self._draw_planner(painter, area, placer)]
        self._draw_front(painter, area)
        self._draw_marks(painter)
        for box, text, token in filter(None, lines):
            draw_label(painter, box, text, self.theme.color(token), self.theme.color("background"))
        self._draw_labels(painter, area, placer)
        painter.restore()

    def _draw_names(self, painter: QPainter, area: QRectF) -> None:
        line = self.fontMetrics().height()
        painter.setPen(self.theme.color("muted"))
        below = QRectF(area.left(), self.height() - 2 * line - 8, area.width(), line + 2)
        name = self.fontMetrics().elidedText(self.choices.memory_name, Qt.TextElideMode.ElideRight, int(below.width()))
        painter.drawText(below, Qt.AlignmentFlag.AlignCenter, name)
        painter.save()
        painter.translate(2, area.bottom())
        painter.rotate(-90)
        upright = QRectF(0, 0, area.height(), line + 2)
        has_room = self.fontMetrics().horizontalAdvance("planner's cycles") <= upright.width()
        painter.drawText(upright, Qt.AlignmentFlag.AlignCenter, "planner's cycles" if has_room else "cycles")
        painter.restore()

    def _draw_legend(self, painter: QPainter) -> None:
        """One line below the axis: the marks that occur, and the front."""
        metrics = self.fontMetrics()
        x, y = 6.0, self.height() - metrics.height() / 2 - 3
        kinds = {point.standing for point in self.choices.points}
        for standing in (one for one in Standing if one in kinds):
            self._mark(painter, QPointF(x + 6, y), standing)
            x = self._legend_text(painter, x + 16, y, self.choices.words_of(standing))
        painter.setPen(self._front_pen())
        painter.drawPolyline([QPointF(x, y - 4), QPointF(x + 8, y - 4), QPointF(x + 8, y + 4), QPointF(x + 16, y + 4)])
        x = self._legend_text(painter, x + 22, y, "best trade-offs")
        self._ring(painter, QPointF(x + 6, y), "mark", 6)
        self._legend_text(painter, x + 18, y, "current")

    def _legend_text(self, painter: QPainter, x: float, y: float, text: str) -> float:
        painter.setPen(self.theme.color("text"))
        height = self.fontMetrics().height()
        width = self.fontMetrics().horizontalAdvance(text)
        painter.drawText(QRectF(x, y - height / 2, width + 2, height), Qt.AlignmentFlag.AlignVCenter, text)
        return float(x + width + 14)

    def _draw_limit(self, painter: QPainter, area: QRectF, placer: LabelPlacer) -> tuple[QRectF, str, str] | None:
        """The memory that there is: a line, and what lies within it tinted."""
        limit = self.choices.limit
        if limit is None:
            return None
        x = self.pixel(float(limit)).x()
        if x > area.left():
            inside = QRectF(area.topLeft(), QPointF(min(x, area.right()), area.bottom()))
            painter.fillRect(inside, self.theme.color("ok", 14))
        name = self.choices.limit_name
        text = name if self.choices.by_placement else f"{name} {kib_text(limit)}"
        return self._draw_line(painter, area, placer, x, text, "budget")

    def _draw_planner(self, painter: QPainter, area: QRectF, placer: LabelPlacer) -> tuple[QRectF, str, str] | None:
        """The memory that the planner assumes, beside the one that is looked at."""
        planner = self.choices.planner
        if planner is None:
            return None
        x = self.pixel(float(planner)).x()
        return self._draw_line(painter, area, placer, x, f"planner {exact_text(planner)}", "muted")

    def _draw_line(
        self, painter: QPainter, area: QRectF, placer: LabelPlacer, x: float, text: str, token: str
    ) -> tuple[QRectF, str, str] | None:
        if not area.left() <= x <= area.right():
            return None
        painter.setPen(QPen(self.theme.color(token), 1.5, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
        width, height = self.fontMetrics().horizontalAdvance(text) + 8, self.fontMetrics().height()
        tops = [area.top() + 2, area.bottom() - height - 2]
        boxes = [QRectF(left, top, width, height) for top in tops for left in (x - width - 3, x + 3)]
        box = placer.place(boxes)
        return None if box is None else (box, text, token)

    def _front_pen(self) -> QPen:
        return QPen(self.theme.color("accent"), 2)

    def _draw_front(self, painter: QPainter, area: QRectF) -> None:
        front = self.choices.front
        if not front:
            return
        corners = [QPointF(self.mark_place(front[0]).x(), area.top())]
        for place in front:
            spot = self.mark_place(place)
            corners += [QPointF(spot.x(), corners[-1].y()), spot]
        corners.append(QPointF(max(area.right(), corners[-1].x()), corners[-1].y()))
        painter.setPen(self._front_pen())
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(QPolygonF(corners))

    def _draw_marks(self, painter: QPainter) -> None:
        origin, across, up = self._frame()
        x, y = origin.x() + self._x * across, origin.y() + self._y * up
        grain = 3.0 if len(x) > _COARSE else 1.0
        seen: set[tuple[float, float, Standing]] = set()
        for place, point in enumerate(self.choices.points):
            key = (round(x[place] / grain), round(y[place] / grain), point.standing)
            if key not in seen:
                seen.add(key)
                self._mark(painter, QPointF(x[place], y[place]), point.standing)
        for place, point in enumerate(self.choices.points):
            if not point.swaps:
                self._ring(painter, QPointF(x[place], y[place]), "mark", 8)
        if self.current is not None:
            self._ring(painter, QPointF(x[self.current], y[self.current]), "accent", 11)

    def _ring(self, painter: QPainter, spot: QPointF, token: str, radius: float) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self.theme.color(token), 2))
        painter.drawEllipse(spot, radius, radius)

    def _mark(self, painter: QPainter, spot: QPointF, standing: Standing) -> None:
        """A disc, a square, a cross or a diamond: told apart without colour."""
        color = self.theme.color(_TOKENS[standing])
        box = around(spot, _MARK)
        painter.setPen(QPen(color, 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if standing is Standing.FITS and self.choices.by_placement:
            painter.drawEllipse(box)
        elif standing in (Standing.PLACED, Standing.FITS):
            painter.setPen(QPen(self.theme.color("background"), 1))
            painter.setBrush(color)
            painter.drawEllipse(box)
        elif standing is Standing.UNPLACED:
            painter.drawRect(box)
        elif standing is Standing.OVER:
            painter.drawLine(box.topLeft(), box.bottomRight())
            painter.drawLine(box.bottomLeft(), box.topRight())
        else:
            x, y = spot.x(), spot.y()
            painter.drawPolygon(QPolygonF([QPointF(x, y - 6), QPointF(x + 6, y), QPointF(x, y + 6), QPointF(x - 6, y)]))

    def _draw_labels(self, painter: QPainter, area: QRectF, placer: LabelPlacer) -> None:
        """Names of the chosen one, the current state and the best trade-offs, where there is room."""
        points, front = self.choices.points, self.choices.front
        now = [place for place, point in enumerate(points) if not point.swaps]
        wanted = dict.fromkeys([*([] if self.current is None else [self.current]), *now, *front[:1], *front[::-1]])
        named = [place for place in wanted if area.contains(self.mark_place(place))][:_MOST_LABELS]
        for place in named:
            placer.block(around(self.mark_place(place), _MARK + 2))
        for place in named:
            bold = place == self.current
            font = painter.font()
            font.setBold(bold)
            painter.setFont(font)
            text = _label(points[place])
            width = ceil(painter.fontMetrics().horizontalAdvance(text)) + 8
            box = placer.place(_beside(self.mark_place(place), width, painter.fontMetrics().height()))
            if box is not None:
                ink = self.theme.color("text" if bold or not points[place].swaps else "muted")
                draw_label(painter, box, text, ink, self.theme.color("background", 220))


def _label(point: Choice) -> str:
    return f"{point.name}: {short_cycles(point.cycles)}"


def _beside(spot: QPointF, width: float, height: float) -> list[QRectF]:
    """Places for a name: right of a mark, left, above and below."""
    x, y = spot.x(), spot.y()
    return [
        QRectF(left, top, width, height)
        for top in (y - height / 2, y - height - 12, y + 12)
        for left in (x + 14, x - width - 14, x - width / 2)
        if top != y - height / 2 or left != x - width / 2
    ]
