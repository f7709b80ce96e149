"""The heatmap itself: tiles in their places, zoom and pan, the frames of the selection, what keys do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter

from tileview.core.geometry.chip import Grid, grid
from tileview.present.colours import Ramp, Slot, needs_light_ink
from tileview.present.curves import BoolArray, IndexArray
from tileview.present.rasters import ByteImage, Scale, fitted, slots_on_grid
from tileview.qt.base.theme import Theme
from tileview.qt.plot.zoom import Zoom
from tileview.qt.views.tiles.items import (
    CellAxis,
    CellLines,
    ColourScale,
    SlotImage,
    placed_patterns,
    slot_table,
    square_pen,
)
from tileview.qt.views.tiles.picture import CTRL, SHIFT, TilePicture

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
