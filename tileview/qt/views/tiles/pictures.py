"""The two pictures of tiles: the map of the chip, and one bar a tile, sorted by load; keys mean the same in both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QKeyEvent, QMouseEvent, QPainter, QPolygonF

from tileview.core.geometry.chip import Grid, grid
from tileview.model.sizes import kib_text
from tileview.model.timeline import ByteArray
from tileview.present.curves import BoolArray, IndexArray
from tileview.present.rasters import ByteImage, Scale, fitted, load_order, slots_on_grid
from tileview.present.scales import Ramp, Slot, needs_light_ink
from tileview.qt.base.theme import Theme
from tileview.qt.plot.base import Drag, Plot, Zoom
from tileview.qt.plot.items import ByteAxis, PlotAxis
from tileview.qt.plot.legend import draw_label
from tileview.qt.views.tiles.items import (
    CellAxis,
    CellLines,
    ColourScale,
    SlotImage,
    placed_patterns,
    slot_table,
    square_pen,
)

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
_SLACK = 4
"""Pixels that the mouse may move between press and release of a click."""


class TilePicture(Plot):
    """A plot of tiles that knows nothing of sessions: it is told what to show, and says what was clicked."""

    picked = Signal(object, object)
    """Tile, keyboard modifiers."""
    toggled = Signal()
    """The tile of the cursor shall be added to the selection or taken away."""
    tile_pointed = Signal(object)
    """The tile under the mouse, or None."""
    cleared = Signal()
    all_wanted = Signal()

    def __init__(
        self, theme: Theme, name: str, tip: Callable[[int], str], axes: dict[str, PlotAxis], zoom: Zoom | None = None
    ) -> None:
        self._tile_tip = tip
        self._under: int | None = None
        self.message = ""
        super().__init__(theme, name, zoom=zoom, axes=axes)
        self.setMinimumSize(QSize(80, 60))
        self.pointed.connect(self._point_at)

    def say(self, text: str) -> None:
        """Say why nothing is shown; an empty text takes that away."""
        if text != self.message:
            self.message = text
            self.draw_again()

    def draw_over(self, painter: QPainter) -> None:
        if self.message:
            painter.setPen(self.theme.color("muted"))
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(QRectF(self.rect()).adjusted(8, 8, -8, -8), flags, self.message)

    def tile_of(self, value: QPointF) -> int | None:
        """The tile at a place in the units of the plot."""
        raise NotImplementedError

    def tile_at(self, place: QPointF) -> int | None:
        return self.tile_of(self.value(place)) if self.area().contains(place) else None

    def tip_at(self, place: QPointF) -> str:
        tile = self.tile_at(place)
        return "" if tile is None else self._tile_tip(tile)

    def key(self, event: QKeyEvent) -> Callable[[], object] | None:
        key, modifiers = Qt.Key(event.key()), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if key == Qt.Key.Key_Space and modifiers in (Qt.KeyboardModifier.NoModifier, CTRL):
            return self.toggled.emit
        if key == Qt.Key.Key_A and modifiers == CTRL:
            return self.all_wanted.emit
        if key == Qt.Key.Key_Escape and not modifiers:
            return self.cleared.emit
        return super().key(event)

    def start_drag(self, event: QMouseEvent) -> Drag | None:
        """A click picks a tile, whatever is dragged moves the picture."""
        if event.button() != Qt.MouseButton.LeftButton:
            return super().start_drag(event)
        start, held, modifiers = event.position(), self.value(event.position()), event.modifiers()
        moving = False

        def follow(place: QPointF, done: bool) -> None:
            nonlocal moving
            moving = moving or (place - start).manhattanLength() > _SLACK
            if moving and self.zoom is not None:
                away = held - self.value(place)
                self.zoom.pan(away.x(), away.y())
            tile = self.tile_at(place)
            if done and not moving and tile is not None:
                self.picked.emit(tile, modifiers)

        return follow

    def _point_at(self, value: QPointF | None) -> None:
        tile = None if value is None else self.tile_of(value)
        if tile != self._under:
            self._under = tile
            self.tile_pointed.emit(tile)


_ARROWS = {Qt.Key.Key_Left: (-1, 0), Qt.Key.Key_Right: (1, 0), Qt.Key.Key_Up: (0, -1), Qt.Key.Key_Down: (0, 1)}
_MOVING = (Qt.KeyboardModifier.NoModifier, SHIFT, CTRL)
"""Modifiers with which arrows move: the current tile, the end of a range, the cursor alone."""
_MOST_ZOOM = 24.0
_EDGE = 2
"""Pixels of ground around the cells, for the frames of those at the edge."""
_BAR_FROM = 260
"""Pixels of width from which on there is room for the colour bar."""


class _EvenZoom(Zoom):
    """A zoom that scales both ways alike: cells keep their form."""

    def zoom(self, factor: float, about: QPointF) -> None:
        most = _MOST_ZOOM * self.shown.width() / self.bounds.width()
        super().zoom(min(factor, most), about)


class TileMap(TilePicture):
    """One image of all tiles; lines, hatches and frames are items above it."""

    moved = Signal(object, object, object)
    """Columns, rows, keyboard modifiers."""

    def __init__(self, theme: Theme, tip: Callable[[int], str]) -> None:
        self._rows, self._columns = CellAxis("left"), CellAxis("top")
        self._grid: Grid = grid(0)
        self._ramp = Ramp.VIRIDIS
        self._slots: ByteImage = np.zeros(0, dtype=np.uint8)
        self._over_tiles: BoolArray = np.zeros(0, dtype=np.bool_)
        self._current: int | None = None
        self._image = SlotImage()
        self._lines = CellLines()
        self.scale_bar = ColourScale()
        self.scale_bar.setVisible(False)
        self.view_zoom = _EvenZoom(smallest=1.0)
        super().__init__(theme, "Tile map", tip, {"left": self._rows, "top": self._columns}, self.view_zoom)
        item = self.getPlotItem()
        item.showAxis("top")
        self.box.invertY(True)
        for one in (self._image, self._lines):
            self.box.addItem(one, ignoreBounds=True)
        item.layout.addItem(self.scale_bar, 2, 5)
        item.layout.setColumnFixedWidth(4, 8)
        self.set_margins(2, 2, 2, 4)
        self.box.sigResized.connect(self._arrange)
        self._colour()

    # -- what is shown --------------------------------------------------------------------------------------------

    def set_theme(self, theme: Theme) -> None:
        super().set_theme(theme)
        self._colour()

    def set_ramp(self, ramp: Ramp) -> None:
        if ramp is not self._ramp:
            self._ramp = ramp
            self._colour()

    def _colour(self) -> None:
        table = slot_table(self.theme, self._ramp)
        self._image.setLookupTable(table)
        self._light = needs_light_ink(table)
        if len(self._slots):
            self._lines.set_over(self._slots, self._over_tiles, self._light, self.theme)

    def set_grid(self, shown: Grid) -> None:
        """Another arrangement of the tiles; the zoom is kept where the tiles are the same."""
        if shown is self._grid:
            return
        same = len(shown.row) == len(self._grid.row)
        self._grid = shown
        self._slots, self._over_tiles = np.zeros(0, dtype=np.uint8), np.zeros(0, dtype=np.bool_)
        self._lines.set_grid(shown)
        for axis in (self._rows, self._columns):
            axis.show_grid(shown)
        if not same:
            self.fit()
        self._arrange()

    def set_cells(self, slots: ByteImage, over: BoolArray) -> None:
        """A colour slot for every tile, and which are over a budget."""
        is_new = len(slots) != len(self._slots) or not np.array_equal(over, self._over_tiles)
        self._slots, self._over_tiles = slots, over
        shown = len(slots) > 0 and len(slots) == len(self._grid.row)
        self.say("" if shown else "No tiles to show")
        for item in (self._image, self._lines):
            item.setVisible(shown)
        if not shown:
            self.scale_bar.setVisible(False)
        if shown:
            self._image.show_cells(slots_on_grid(self._grid, slots))
            if is_new or not self._lines.is_plain:
                self._lines.set_over(slots, over, self._light, self.theme)

    def set_outcomes(self, slots: ByteImage, codes: IndexArray) -> None:
        """The same for what came of placing the tiles: hatches tell them apart too, nothing is said of budgets."""
        self.set_cells(slots, np.zeros(len(slots), dtype=np.bool_))
        self._lines.set_patterns(placed_patterns(codes))
        self.scale_bar.setVisible(False)

    def set_scale(self, scale: Scale, marks: Sequence[tuple[int, str]]) -> None:
        """What the colours mean; ``marks`` are limits in bytes with their names."""
        self.scale_bar.setVisible(self.width() >= _BAR_FROM)
        self.scale_bar.show_scale(scale, self._ramp, marks, self.theme, int(self.box.height()))

    def set_selected(self, tiles: Sequence[int]) -> None:
        """The selected tiles, the current one last."""
        theme, chosen = self.theme, np.zeros(len(self._grid.row), dtype=np.bool_)
        known = [tile for tile in tiles if tile < len(chosen)]
        chosen[known] = True
        self._current = known[-1] if known else None
        halo = square_pen(theme.background, 4)
        self._lines.frame("selected", chosen if len(known) > 1 else None, halo, square_pen(theme.accent, 2))
        self._lines.frame_tile("current", self._current, square_pen(theme.background, 5), square_pen(theme.mark, 2))

    def set_cursor(self, tile: int | None) -> None:
        """The tile that Ctrl and the arrows have come to, None where the cursor is with the selection."""
        pens = square_pen(self.theme.background, 4), square_pen(self.theme.mark, 2, Qt.PenStyle.DotLine)
        self._lines.frame_tile("cursor", tile, *pens)

    def set_held(self, held: BoolArray | None) -> None:
        """Tiles that hold the selected allocation: framed by a dotted line."""
        whole = held is None or bool(held.all())
        pens = square_pen(self.theme.background, 3), square_pen(self.theme.text, 1, Qt.PenStyle.DotLine)
        self._lines.frame("held", None if whole else held, *pens)

    def set_lit(self, tiles: BoolArray | None) -> None:
        """Tiles of what the mouse points at in another view."""
        pens = square_pen(self.theme.background, 4), square_pen(self.theme.accent, 2, Qt.PenStyle.DashLine)
        self._lines.frame("lit", tiles, *pens)

    # -- where it is shown ----------------------------------------------------------------------------------------

    def cell_rect(self, tile: int) -> QRectF:
        """Where a tile is drawn, in the widget's coordinates (may lie outside it when zoomed)."""
        x, y = float(self._grid.column[tile]), float(self._grid.row[tile])
        return QRectF(self.pixel(x, y), self.pixel(x + 1, y + 1))

    def tile_of(self, value: QPointF) -> int | None:
        return self._grid.tile_at(int(np.floor(value.y())), int(np.floor(value.x())))

    @property
    def magnification(self) -> float:
        """1 where the whole grid is shown."""
        return float(self.view_zoom.bounds.width() / self.view_zoom.shown.width())

    def _arrange(self) -> None:
        """Fit the grid into the plot anew, or keep how large it is shown, and its middle."""
        times, middle = self.magnification, self.view_zoom.shown.center()
        width, height = max(self.box.width(), 2 * _EDGE + 1), max(self.box.height(), 2 * _EDGE + 1)
        fit = QRectF(*fitted(self._grid.rows, self._grid.columns, width - 2 * _EDGE, height - 2 * _EDGE).tolist())
        across, down = _EDGE * fit.width() / (width - 2 * _EDGE), _EDGE * fit.height() / (height - 2 * _EDGE)
        fit.adjust(-across, -down, across, down)
        self.view_zoom.set_bounds(fit, keep=times > 1.001)
        if times > 1.001:
            self._show(times, middle, self.view_zoom.move_to)

    def _show(self, times: float, middle: QPointF, show: Callable[[QRectF], object]) -> None:
        size = self.view_zoom.bounds.size() / times
        show(QRectF(middle - QPointF(size.width() / 2, size.height() / 2), size))

    def fit(self) -> None:
        """Show the whole grid."""
        self.view_zoom.fit()

    def centre_on(self, tile: int) -> None:
        """Bring a tile into the middle, zooming in where the whole grid is shown."""
        middle = QPointF(float(self._grid.column[tile]) + 0.5, float(self._grid.row[tile]) + 0.5)
        times = self.magnification
        self._show(times if times > 1.001 else 3.0, middle, self.view_zoom.show_part)

    def show_tile(self, tile: int) -> None:
        """Move a zoomed map just so far that a tile can be seen."""
        cell = QRectF(float(self._grid.column[tile]), float(self._grid.row[tile]), 1, 1)
        if not self.view_zoom.shown.contains(cell):
            self.centre_on(tile)

    # -- pictures and keys ----------------------------------------------------------------------------------------

    def draw(self, painter: QPainter) -> None:
        with self._cut():
            super().draw(painter)

    @contextmanager
    def _cut(self) -> Iterator[None]:
        """Have the image end where the plot does: not everything that shows a file clips."""
        if self.magnification <= 1.001 or not len(self._slots):
            yield
            return
        seen, cells = self.view_zoom.shown, slots_on_grid(self._grid, self._slots)
        padded = np.pad(cells, 1, constant_values=Slot.BACKGROUND)
        places = []
        for start, size, pixels, most in (
            (seen.top(), seen.height(), int(self.box.height()), self._grid.rows + 1),
            (seen.left(), seen.width(), int(self.box.width()), self._grid.columns + 1),
        ):
            middles = start + (np.arange(pixels) + 0.5) * size / pixels
            places.append(np.clip(np.floor(middles).astype(np.int64) + 1, 0, most))
        try:
            self._image.show_cells(padded[np.ix_(*places)], seen)
            yield
        finally:
            self._image.show_cells(cells)

    def key(self, event: QKeyEvent) -> Callable[[], object] | None:
        key, modifiers = Qt.Key(event.key()), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if key in _ARROWS and modifiers in _MOVING:
            across, down = _ARROWS[key]
            return lambda: self.moved.emit(across, down, modifiers)
        if key == Qt.Key.Key_F and not modifiers:
            return self._centre_current
        return super().key(event)

    def zoom_about_middle(self, factor: float) -> None:
        """Zoom about the current tile, where there is one."""
        if self._current is None:
            super().zoom_about_middle(factor)
        else:
            self.view_zoom.zoom(factor, self.value(self.cell_rect(self._current).center()))

    def _centre_current(self) -> None:
        if self._current is not None:
            self.centre_on(self._current)


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
        self._draw_excess(painter)
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

    def _draw_excess(self, painter: QPainter) -> None:
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
