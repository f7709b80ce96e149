"""The plot of an address map: boxes, the hole and the request that did not fit, what is live, a cursor to scrub."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, floor
from typing import Final

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QFont, QKeyEvent, QMouseEvent, QPainter, QPen, QPolygonF, QTransform
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from tileview.analysis.address_map import AddressMap, Attempt
from tileview.model.placement import Span
from tileview.present.address_map import (
    BOTTOM,
    TOP,
    Colouring,
    Group,
    box_at,
    closed_name,
    closed_spans,
    columns_of,
    free_throughout,
    hole_words,
    live_bytes,
    parts_of_ranges,
    span_text,
)
from tileview.present.scales import category, ink_on, parse_rgb, step_ticks
from tileview.qt.base.painting import told
from tileview.qt.base.theme import Theme
from tileview.qt.plot.base import Drag, KeyCommand, Plot, Zoom
from tileview.qt.plot.items import PlotAxis, byte_gutter
from tileview.qt.plot.legend import draw_label

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


Floats = npt.NDArray[np.float64]

_SLACK: Final = 4
"""Pixels that the mouse may move between press and release of a click."""
_STRIP: Final = 44
"""Pixels of the curve of live bytes."""
_BAR: Final = 16
"""Pixels of the bar that stands for the request without a place."""


class AddressPlot(Plot):
    """Addresses upwards, events to the right. It knows nothing of sessions: it is told what to show, and says what was
    clicked. ``narrow``: several stand side by side, and there is room for no more than the bar on the right."""

    entry_pointed = Signal(object)
    entry_picked = Signal(object)
    column_chosen = Signal(int)
    moved = Signal(int)
    """Columns that a key moves the cursor by."""
    lifted = Signal(int)
    """Boxes that a key moves the selection by, upwards."""

    def __init__(
        self,
        theme: Theme,
        name: str,
        zoom: Zoom,
        keys: KeyCommand,
        tip: Callable[[Attempt, int], str],
        parent: QWidget | None = None,
    ) -> None:
        self._entry_tip = tip
        super().__init__(theme, name, parent, zoom=zoom, keys=keys, axes={"left": AddressAxis(), "bottom": EventAxis()})
        self.setMinimumSize(QSize(120, 120))
        self.pointed.connect(self._point_at)

    def build(self) -> None:
        self.map: AddressMap | None = None
        self.attempt: Attempt | None = None
        self.narrow = False
        self.message = ""
        self._colouring: Colouring | None = None
        self._live = np.zeros(0, dtype=np.int64)
        self._free: tuple[Span, ...] = ()
        self._columns = np.zeros((0, 2), dtype=np.int64)
        self._cursor: tuple[int, int] | None = None
        self._cursor_text = ""
        self._selected: int | None = None
        self._lit: frozenset[int] = frozenset()
        self._under: int | None = None
        self.boxes = Boxes(self.theme, self.box.viewRect)
        self.still.set_parts([self.boxes])

    # -- what is shown --------------------------------------------------------------------------------------------

    def show_attempt(
        self, tile: AddressMap | None, attempt: Attempt | None, colouring: Colouring | None, message: str = ""
    ) -> None:
        """Show one attempt at a tile, or say why there is nothing to show."""
        self.map, self.attempt, self._colouring = tile, attempt, colouring
        self.message = message
        both = tile is not None and attempt is not None
        self._live = live_bytes(tile) if tile is not None else np.zeros(0, dtype=np.int64)
        self._free = free_throughout(tile, attempt) if tile is not None and attempt is not None else ()
        self._columns = columns_of(tile) if tile is not None else np.zeros((0, 2), dtype=np.int64)
        self._under = None
        self.boxes.show_attempt(tile, attempt, colouring)
        axis = self.getPlotItem().getAxis("bottom")
        assert isinstance(axis, EventAxis)
        axis.events = 0 if tile is None else tile.events
        axis.picture = None
        for side in ("left", "bottom"):
            self.getPlotItem().getAxis(side).setVisible(both)
        self.redraw()

    def set_narrow(self, narrow: bool) -> None:
        if narrow != self.narrow:
            self.narrow = narrow
            self.redraw()

    def set_cursor(self, columns: tuple[int, int] | None, text: str) -> None:
        """The half-open columns of the step that is looked at, and what the flag under them says."""
        if (columns, text) != (self._cursor, self._cursor_text):
            self._cursor, self._cursor_text = columns, text
            self.draw_again()

    def set_selected(self, entry: int | None) -> None:
        if entry != self._selected:
            self._selected = entry
            self.draw_again()

    def set_lit(self, entries: frozenset[int]) -> None:
        """The entries that are pointed at, here or in another view."""
        if entries != self._lit:
            self._lit = entries
            self.draw_again()

    @property
    def selected(self) -> int | None:
        return self._selected

    @property
    def lit(self) -> frozenset[int]:
        return self._lit

    def set_theme(self, theme: Theme) -> None:
        self.boxes.set_theme(theme)
        super().set_theme(theme)

    def redraw(self) -> None:
        height = self.fontMetrics().height()
        right = self._right_room()
        self.set_margins(2, height + 2 if self.narrow else 4, right, _STRIP + height + 10)
        super().redraw()

    def _right_room(self) -> int:
        if self.narrow:
            return _BAR + 12
        return int(self.fontMetrics().horizontalAdvance("open 498,872 B") + 14)

    # -- places ---------------------------------------------------------------------------------------------------

    def box_of(self, entry: int) -> QRectF | None:
        """Where the box of an entry lies in the widget; None where it has none."""
        attempt = self.attempt
        if attempt is None or entry >= len(attempt.starts) or attempt.starts[entry] < 0:
            return None
        begin, end = self._columns[entry].tolist()
        low = self.pixel(begin, float(attempt.starts[entry]))
        high = self.pixel(end, float(attempt.ends[entry]))
        return QRectF(low, high).normalized()

    def _across(self, columns: Floats) -> Floats:
        """Pixels of many columns at once, inside the plot."""
        area, (left, right) = self.area(), self.box.viewRange()[0]
        places = area.left() + (columns - left) * (area.width() / (right - left))
        return np.asarray(np.clip(places, area.left(), area.right()), dtype=np.float64)

    def _upward(self, addresses: Floats) -> Floats:
        """Pixels of many addresses at once, inside the plot."""
        area, (low, high) = self.area(), self.box.viewRange()[1]
        places = area.bottom() - (addresses - low) * (area.height() / (high - low))
        return np.asarray(np.clip(places, area.top(), area.bottom()), dtype=np.float64)

    def entry_at(self, place: QPointF) -> int | None:
        """The entry at a place of the widget."""
        if not self.area().contains(place):
            return None
        return self._entry_of(self.value(place))

    def _entry_of(self, value: QPointF) -> int | None:
        if self.map is None or self.attempt is None:
            return None
        return box_at(self.map, self.attempt, int(value.x()), int(value.y()))

    def tip_at(self, place: QPointF) -> str:
        entry = self.entry_at(place)
        if entry is not None and self.attempt is not None:
            return self._entry_tip(self.attempt, entry)
        if self.map is None or not self.area().contains(place):
            return ""
        value = self.value(place)
        for span in closed_spans(self.map):
            if span[0] <= value.y() < span[1]:
                return f"closed: {closed_name(span)}, {span_text(span)}"
        return f"free at 0x{int(value.y()):X}"

    # -- mouse and keys -------------------------------------------------------------------------------------------

    def start_drag(self, event: QMouseEvent) -> Drag | None:
        """A click picks a box and its event; what is dragged scrubs the events."""
        modifiers = event.modifiers()
        if event.button() != Qt.MouseButton.LeftButton or modifiers & Qt.KeyboardModifier.ControlModifier:
            return super().start_drag(event)
        start, moving = event.position(), False

        def follow(place: QPointF, done: bool) -> None:
            nonlocal moving
            moving = moving or (place - start).manhattanLength() > _SLACK
            if self.map is not None and (moving or done):
                column = min(max(int(self.value(place).x()), 0), self.map.events + 1)
                self.column_chosen.emit(column)
                if done and not moving:
                    self.entry_picked.emit(self.entry_at(place))

        return follow

    def key(self, event: QKeyEvent) -> Callable[[], object] | None:
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if not modifiers:
            key = Qt.Key(event.key())
            across = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(key)
            up = {Qt.Key.Key_Down: -1, Qt.Key.Key_Up: 1}.get(key)
            if across is not None:
                return lambda: self.moved.emit(across)
            if up is not None:
                return lambda: self.lifted.emit(up)
            if key == Qt.Key.Key_Escape:
                return lambda: self.entry_picked.emit(None)
        return super().key(event)

    def _point_at(self, value: QPointF | None) -> None:
        entry = None if value is None else self._entry_of(value)
        if entry != self._under:
            self._under = entry
            self.entry_pointed.emit(entry)

    # -- painting -------------------------------------------------------------------------------------------------

    def draw_over(self, painter: QPainter) -> None:
        tile, attempt = self.map, self.attempt
        if tile is None or attempt is None:
            painter.setPen(self.theme.color("muted"))
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(QRectF(self.rect()).adjusted(8, 8, -8, -8), flags, self.message)
            return
        area = self.area()
        if self.narrow:
            title = QRectF(area.left(), 0, area.width(), self.fontMetrics().height())
            self._write(painter, title, f"{attempt.title}: {attempt.count:,} of {len(tile.entries):,}", "text")
        painter.save()
        painter.setClipRect(area)
        self._draw_hole(painter, area, tile, attempt)
        self._draw_boundary(painter, area, tile)
        self._draw_names(painter, area, tile)
        self._draw_marks(painter, area, tile)
        self._draw_cursor(painter, area)
        painter.restore()
        self._draw_request(painter, area, tile, attempt)
        if not self.narrow:
            self._draw_regions(painter, area, tile, attempt)
        self._draw_live(painter, area, tile)
        self._draw_flag(painter, area)

    def _write(self, painter: QPainter, box: QRectF, text: str, token: str, *, right: bool = False) -> None:
        side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
        painter.setPen(self.theme.color(token))
        text = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, int(box.width()))
        painter.drawText(box, side | Qt.AlignmentFlag.AlignVCenter, text)

    def _band(self, area: QRectF, span: Span, columns: tuple[int, int] | None = None) -> QRectF:
        """Where a span lies in the widget, the part in view."""
        begin, end = columns if columns is not None else (0, 0 if self.map is None else self.map.events + 2)
        box = QRectF(self.pixel(begin, span[0]), self.pixel(end, span[1])).normalized()
        return box.intersected(area)

    def _draw_hole(self, painter: QPainter, area: QRectF, tile: AddressMap, attempt: Attempt) -> None:
        if attempt.failed is None or attempt.hole is None:
            return
        begin, end = self._columns[attempt.failed].tolist()
        box = self._band(area, attempt.hole, (begin, end))
        if box.isEmpty():
            return
        painter.setPen(QPen(self.theme.color("warning"), 2))
        painter.setBrush(self.theme.color("warning", 40))
        painter.drawRect(box.adjusted(1, 1, -1, -1))
        height, lines = self.fontMetrics().height(), hole_words(tile, attempt)
        if box.height() < height or box.width() < 8 * height:
            return
        count = 2 if box.height() >= 2 * height + 4 else 1
        text = QRectF(box.left() + 8, box.center().y() - count * height / 2, box.width() - 16, height)
        for line in lines[:count]:
            self._write(painter, text, line, "text")
            text.translate(0, height)

    def _draw_boundary(self, painter: QPainter, area: QRectF, tile: AddressMap) -> None:
        y = self.pixel(0, tile.memory.boundary).y()
        if not area.top() <= y <= area.bottom():
            return
        painter.setPen(QPen(self.theme.color("text"), 1.2, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
        height = self.fontMetrics().height()
        if not self.narrow and area.height() > 16 * height:
            text = f"region boundary 0x{tile.memory.boundary:X}"
            box = QRectF(area.left() + 4, y + 1, self.fontMetrics().horizontalAdvance(text) + 6, height)
            draw_label(painter, box, text, self.theme.color("text"), self.theme.color("background", 200))

    def _draw_names(self, painter: QPainter, area: QRectF, tile: AddressMap) -> None:
        """Names on what is closed and in boxes that have room, bytes that are free throughout at the right."""
        height = self.fontMetrics().height()
        for span in closed_spans(tile) if tile.requests is not None else ():
            box = self._band(area, span)
            if box.height() >= height - 2:
                text = f"{closed_name(span)}: {span[1] - span[0]:,} B"
                self._write(painter, box.adjusted(6, 0, -6, 0), text, "muted")
        (low, high), per_pixel = self.box.viewRange()[1], max(area.height(), 1.0)
        least = (height - 2) * (high - low) / per_pixel
        hole = None if self.attempt is None else self.attempt.hole
        for span in self._free if not self.narrow else ():
            if span[1] - span[0] < least or span == hole:
                continue
            box = self._band(area, span)
            if box.height() >= height - 2:
                text = f"free for the whole run: {span[1] - span[0]:,} B"
                self._write(painter, box.adjusted(6, 0, -6, 0), text, "muted", right=True)
        self._draw_entry_names(painter, tile, height)

    def _draw_entry_names(self, painter: QPainter, tile: AddressMap, height: int) -> None:
        colouring, attempt = self._colouring, self.attempt
        if colouring is None or attempt is None:
            return
        x = self._across(self._columns.astype(np.float64))
        tops, bottoms = self._upward(attempt.ends.astype(np.float64)), self._upward(attempt.starts.astype(np.float64))
        wide = (x[:, 1] - x[:, 0] >= 5 * height) & (bottoms - tops >= height - 1) & (attempt.starts >= 0)
        for entry in np.flatnonzero(wide).tolist():
            box = QRectF(QPointF(x[entry, 0], tops[entry]), QPointF(x[entry, 1], bottoms[entry]))
            ground = ground_of(self.theme, colouring.groups[int(colouring.of[entry])])
            painter.setPen(QColor(*ink_on(parse_rgb(ground.name()))))
            text = f"{tile.entries[entry].name}, {tile.entries[entry].bytes:,} B"
            text = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideMiddle, int(box.width()) - 10)
            painter.drawText(box.adjusted(5, 0, -5, 0), Qt.AlignmentFlag.AlignVCenter, text)

    def _draw_marks(self, painter: QPainter, area: QRectF, tile: AddressMap) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        chosen = self._selected
        if chosen is not None and chosen < len(tile.entries):
            for other in tile.entries[chosen].conflicts:
                self._frame(painter, area, other, QPen(self.theme.color("warning"), 1.5, Qt.PenStyle.DotLine))
            self._frame(painter, area, chosen, QPen(self.theme.color("mark"), 2))
        for entry in self._lit:
            self._frame(painter, area, entry, QPen(self.theme.color("accent"), 2))

    def _frame(self, painter: QPainter, area: QRectF, entry: int, pen: QPen) -> None:
        box = self.box_of(entry)
        if box is not None and box.intersects(area):
            painter.setPen(pen)
            painter.drawRect(box.intersected(area).adjusted(-1, -1, 1, 1))

    def _draw_cursor(self, painter: QPainter, area: QRectF) -> None:
        if self._cursor is None:
            return
        left, right = self.pixel(self._cursor[0]).x(), self.pixel(self._cursor[1]).x()
        band = QRectF(left, area.top(), right - left, area.height()).intersected(area)
        painter.fillRect(band, self.theme.color("accent", 36))
        painter.setPen(QPen(self.theme.color("accent"), 1.5))
        x = min(left + (right - left) / (2 * (self._cursor[1] - self._cursor[0])), area.right())
        painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))

    def _draw_flag(self, painter: QPainter, area: QRectF) -> None:
        if self._cursor is None or not self._cursor_text:
            return
        metrics = self.fontMetrics()
        x = (self.pixel(self._cursor[0]).x() + self.pixel(self._cursor[1]).x()) / 2
        width = metrics.horizontalAdvance(self._cursor_text) + 8
        if width > area.width() or not area.left() - 1 <= x <= area.right() + 1:
            return
        left = min(max(x - width / 2, area.left()), area.right() - width)
        box = QRectF(left, area.bottom() + 2, width, metrics.height() + 1)
        draw_label(painter, box, self._cursor_text, self.theme.color("accent_text"), self.theme.color("accent"))

    def _draw_request(self, painter: QPainter, area: QRectF, tile: AddressMap, attempt: Attempt) -> None:
        """The request without a place, to scale beside the largest hole."""
        if attempt.failed is None:
            return
        entry = tile.entries[attempt.failed]
        low = attempt.hole[0] if attempt.hole is not None else tile.memory.boundary
        high = attempt.hole[1] if attempt.hole is not None else low
        x = area.right() + 6
        whole = QRectF(QPointF(x, self.pixel(0, low + entry.bytes).y()), QPointF(x + _BAR, self.pixel(0, low).y()))
        fits = QRectF(QPointF(x, self.pixel(0, high).y()), QPointF(x + _BAR, self.pixel(0, low).y()))
        bounds = QRectF(x, 1, _BAR, area.bottom() - 1)
        whole, fits = whole.intersected(bounds), fits.intersected(bounds)
        if whole.isEmpty():
            return
        painter.fillRect(fits.intersected(whole), self.theme.color("border"))
        painter.setPen(QPen(self.theme.color("warning"), 1.5, Qt.PenStyle.DashLine))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(whole)
        if self.narrow:
            return
        height = self.fontMetrics().height()
        box = QRectF(x + _BAR + 4, max(whole.top(), 1), self.width() - x - _BAR - 5, height)
        missing = entry.bytes - (high - low)
        lines = [("request", "text"), (f"{entry.bytes:,} B", "text")]
        lines += [(f"+{missing:,} B", "warning")] if missing > 0 else []
        for text, token in lines:
            self._write(painter, box, text, token)
            box.translate(0, height)

    def _draw_regions(self, painter: QPainter, area: QRectF, tile: AddressMap, attempt: Attempt) -> None:
        height, x = self.fontMetrics().height(), area.right() + 3
        taken: list[QRectF] = []
        if attempt.failed is not None and attempt.hole is not None:
            low = self.pixel(0, attempt.hole[0]).y()
            high = self.pixel(0, attempt.hole[0] + tile.entries[attempt.failed].bytes).y()
            taken.append(QRectF(x, max(high, 1), self.width(), max(low - high, 3 * height)))
        for name, span in parts_of_ranges(tile):
            box = self._band(area, span)
            if box.height() < 3:
                continue
            painter.setPen(QPen(self.theme.color("muted"), 1))
            painter.drawPolyline(
                QPolygonF([QPointF(x - 2, box.top()), QPointF(x, box.top()), QPointF(x, box.bottom() - 1),
                           QPointF(x - 2, box.bottom() - 1)])
            )  # fmt: skip
            text = QRectF(x + 4, box.center().y() - height, self.width() - x - 5, 2 * height)
            if any(text.intersects(other) for other in taken):
                continue
            taken.append(text)
            self._write(painter, QRectF(text.left(), text.top(), text.width(), height), name, "text")
            below = QRectF(text.left(), text.top() + height, text.width(), height)
            self._write(painter, below, f"{span[1] - span[0]:,} B", "muted")

    def _draw_live(self, painter: QPainter, area: QRectF, tile: AddressMap) -> None:
        """Bytes live at each event, against the open memory."""
        height = self.fontMetrics().height()
        strip = QRectF(area.left(), self.height() - _STRIP - 2, area.width(), _STRIP)
        open_, peak = tile.memory.bytes, int(self._live.max(initial=0))
        most = max(open_, peak, 1) * 1.08
        x = self._across(np.repeat(np.arange(len(self._live) + 1, dtype=np.float64), 2)[1:-1])
        y = strip.bottom() - np.repeat(self._live, 2) * (strip.height() / most)
        outline = QPolygonF([QPointF(*place) for place in zip(x.tolist(), y.tolist(), strict=True)])
        if outline.isEmpty():
            return
        outline.append(QPointF(outline.last().x(), strip.bottom()))
        outline.append(QPointF(outline.first().x(), strip.bottom()))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QBrush(self.theme.color("border")))
        painter.drawPolygon(outline)
        line_y = strip.bottom() - strip.height() * open_ / most
        painter.setPen(QPen(self.theme.color("over" if peak > open_ else "text"), 1, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(strip.left(), line_y), QPointF(strip.right(), line_y))
        if self.narrow:
            return
        gutter = QRectF(0, strip.center().y() - height, strip.left() - 4, height)
        self._write(painter, gutter, "bytes", "muted", right=True)
        self._write(painter, gutter.translated(0, height), "live", "muted", right=True)
        text = QRectF(strip.right() + 4, line_y - height / 2, self.width() - strip.right() - 5, height)
        text.moveTop(min(text.top(), self.height() - 3 * height))
        for line, token in ((f"open {open_:,} B", "text"), ("most live", "muted"), (f"{peak:,} B", "muted")):
            self._write(painter, text, line, token)
            text.translate(0, height)


def bounds_of(tile: AddressMap) -> QRectF:
    """All there is of a tile: its events, its memory, and above it the request that did not fit."""
    top = TOP
    for attempt in tile.attempts:
        if attempt.failed is not None and attempt.hole is not None:
            top = max(top, attempt.hole[0] + tile.entries[attempt.failed].bytes)
    low = min(BOTTOM, *(int(one.starts[one.starts >= 0].min(initial=BOTTOM)) for one in tile.attempts))
    return QRectF(0, low, tile.events + 2, top + 4_096 - low)
