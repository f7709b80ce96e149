"""Tiles sorted by load: one bar a tile, the largest on the left, against the budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QBrush, QKeyEvent, QPainter, QPolygonF

from tileview.model.sizes import kib_text
from tileview.model.timeline import ByteArray
from tileview.present.rasters import load_order
from tileview.qt.base.theme import Theme
from tileview.qt.plot.axes import ByteAxis
from tileview.qt.plot.labels import draw_label
from tileview.qt.views.tiles.items import square_pen
from tileview.qt.views.tiles.picture import CTRL, SHIFT, TilePicture

Layer = tuple[ByteArray, str]
"""Bytes of each tile, theme token of the colour."""
_ALONG = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Up: -10, Qt.Key.Key_Down: 10}
_MOST_LAYERS = 2


class LoadBars(TilePicture):
    """Bars of all tiles in descending order of what is shown; layers of one bar are stacked."""

    moved = Signal(object, object)
    """Places along the order, keyboard modifiers."""

    def __init__(self, theme: Theme, tip: Callable[[int], str]) -> None:
        self._order = np.zeros(0, dtype=np.int64)
        self._ranks = np.zeros(0, dtype=np.int64)
        self._layers: list[Layer] = []
        self._tops: ByteArray = np.zeros(0, dtype=np.int64)
        self._limits: list[tuple[int, str]] = []
        self._marked: list[tuple[int, str]] = []
        self._selected: tuple[int, ...] = ()
        self._cursor: int | None = None
        self._bars = [pg.BarGraphItem(x0=[], width=1, height=[], pen=None) for _ in range(_MOST_LAYERS)]
        self._lines = [pg.InfiniteLine(angle=0) for _ in range(2)]
        self._current, self._pointer = pg.InfiniteLine(angle=90), pg.InfiniteLine(angle=90)
        super().__init__(theme, "Tiles sorted by load", tip, {"left": ByteAxis()})
        for item in (*self._bars, *self._lines, self._current, self._pointer):
            self.box.addItem(item, ignoreBounds=True)
        self.set_margins(2, self.fontMetrics().height(), 8, 2 * self.fontMetrics().height() + 4)

    # -- what is shown --------------------------------------------------------------------------------------------

    def set_values(
        self, values: ByteArray, layers: Sequence[Layer], scale: tuple[int, int], limits: Sequence[tuple[int, str]]
    ) -> None:
        """What decides the order, the layers that add up to it, the ends of the axis, and lines across with their
        names.
        """
        self._order = load_order(values)
        self._ranks = np.empty_like(self._order)
        self._ranks[self._order] = np.arange(len(self._order))
        self._layers = [(sizes[self._order], token) for sizes, token in layers]
        self._limits = list(limits)
        low = min(scale[0], int(values.min(initial=0)))
        high = max(scale[1], int(values.max(initial=0)), low + 1)
        self.say("")
        self.setXRange(0, max(len(values), 1), padding=0)
        self.setYRange(low, high, padding=0)
        self._show_bars()
        self._show_marks()

    def set_message(self, text: str) -> None:
        """Why there is nothing to show."""
        self._layers, self._limits = [], []
        self._order = self._ranks = np.zeros(0, dtype=np.int64)
        self._show_bars()
        self._show_marks()
        self.say(text)

    def set_selected(self, tiles: Sequence[int]) -> None:
        self._selected = tuple(tiles)
        self._show_marks()

    def set_cursor(self, tile: int | None) -> None:
        """The tile that Ctrl and the arrows have come to."""
        self._cursor = tile
        self._show_marks()

    @property
    def order(self) -> tuple[int, ...]:
        """Tile numbers from left to right."""
        return tuple(self._order.tolist())

    def place_of(self, tile: int) -> int | None:
        """Where a tile stands in the order."""
        return int(self._ranks[tile]) if tile < len(self._ranks) else None

    def tile_of(self, value: QPointF) -> int | None:
        return int(self._order[int(value.x())]) if 0 <= value.x() < len(self._order) else None

    # -- drawing --------------------------------------------------------------------------------------------------

    def redraw(self) -> None:
        """Draw everything anew: theme or size have changed."""
        super().redraw()
        if self._bars[0].scene() is not None:
            self._show_bars()
            self._show_marks()

    def _show_bars(self) -> None:
        """Bars, with gaps where there is room for them."""
        count = len(self._order)
        base = np.zeros(count, dtype=np.int64)
        gap = 1 / (self.area().width() / count) if count and self.area().width() / count >= 4 else 0.0
        shown = [(base, np.zeros(count, dtype=np.int64), QBrush())] * len(self._bars)
        for place, (sizes, token) in enumerate(self._layers):
            shown[place] = (base, sizes, QBrush(self.theme.color(token)))
            base = base + sizes
        self._tops = base
        for item, (lower, sizes, brush) in zip(self._bars, shown, strict=True):
            some = sizes != 0
            x = np.flatnonzero(some)
            item.setOpts(x0=x, y0=lower[some], height=sizes[some], width=1 - gap, brush=brush, pen=None)
        for line, limit in zip(self._lines, [*self._limits, None, None], strict=False):
            line.setVisible(limit is not None)
            if limit is not None:
                line.setValue(limit[0])
                line.setPen(square_pen(self.theme.budget, 1.5, Qt.PenStyle.DashLine))

    def _show_marks(self) -> None:
        places = [place for tile in self._selected if (place := self.place_of(tile)) is not None]
        self._marked = [(place, "accent") for place in places[:-1]] + [(place, "mark") for place in places[-1:]]
        cursor = None if self._cursor is None else self.place_of(self._cursor)
        for line, place, style in (
            (self._current, places[-1] if places else None, Qt.PenStyle.SolidLine),
            (self._pointer, cursor, Qt.PenStyle.DotLine),
        ):
            line.setVisible(place is not None)
            if place is not None:
                line.setValue(place + 0.5)
                line.setPen(square_pen(self.theme.mark, 1.5, style))
        self.draw_again()

    def draw_over(self, painter: QPainter) -> None:
        super().draw_over(painter)
        if not len(self._order):
            return
        metrics, area = self.fontMetrics(), self.area()
        self._draw_excess(painter, area)
        painter.setPen(Qt.PenStyle.NoPen)
        for place, token in self._marked:
            x = area.left() + (place + 0.5) * area.width() / len(self._order)
            painter.setBrush(self.theme.color(token))
            painter.drawPolygon([QPointF(x - 4, area.bottom() + 8), QPointF(x + 4, area.bottom() + 8),
                                 QPointF(x, area.bottom() + 1)])  # fmt: skip
        painter.setPen(self.theme.color("muted"))
        text = f"{len(self._order):,} tiles, the largest on the left"
        text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, int(area.width()))
        painter.drawText(QPointF(area.left(), area.bottom() + 10 + metrics.ascent()), text)
        taken: list[QRectF] = []
        for size, name in self._limits:
            y = self.pixel(0, size).y()
            text = metrics.elidedText(f"{name} {kib_text(size)}", Qt.TextElideMode.ElideRight, int(area.width()) - 8)
            box = QRectF(0, y - metrics.height() - 2, metrics.horizontalAdvance(text) + 6, metrics.height())
            box.moveRight(area.right())
            while any(box.intersects(other) for other in taken):
                box.translate(0, metrics.height())
            taken.append(box)
            draw_label(painter, box, text, self.theme.color("budget"), self.theme.color("background"))

    def _draw_excess(self, painter: QPainter, area: QRectF) -> None:
        """Hatch what lies over the limit: the first bars, as they are sorted."""
        limit = self._limits[0][0] if self._limits else None
        count = 0 if limit is None else int((self._tops > limit).sum())
        if limit is None or not count:
            return
        outline = QPolygonF([self.pixel(0, limit)])
        for place, top in enumerate(self._tops[:count].tolist()):
            outline.append(self.pixel(place, top))
            outline.append(self.pixel(place + 1, top))
        outline.append(self.pixel(count, limit))
        painter.setPen(square_pen(self.theme.over))
        painter.setBrush(self.theme.color("background", 170))
        painter.drawPolygon(outline)
        painter.setBrush(QBrush(self.theme.color("over"), Qt.BrushStyle.BDiagPattern))
        painter.drawPolygon(outline)

    def key(self, event: QKeyEvent) -> Callable[[], object] | None:
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        by = _ALONG.get(Qt.Key(event.key()))
        if by is not None and not modifiers & ~(CTRL | SHIFT):
            return lambda: self.moved.emit(by, modifiers)
        return super().key(event)
