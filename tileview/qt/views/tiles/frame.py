"""Where the cells of the tile map lie: whole device pixels, a zoom, a centre."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QLineF, QPointF, QRect, QRectF

from tileview.core.geometry.chip import Grid
from tileview.present.rasters import cell_size


@dataclass(frozen=True, slots=True)
class TileFrame:
    """The area of the map in device pixels, a cell's width and height, and where the grid begins in the area.

    ``x`` and ``y`` are negative where a zoomed grid begins outside. ``ratio`` is device pixels a widget pixel.
    """

    grid: Grid
    area: QRect
    width: int
    height: int
    x: int
    y: int
    ratio: float

    @property
    def clip(self) -> QRectF:
        """The area in the widget's coordinates."""
        area, ratio = self.area, self.ratio
        return QRectF(area.x() / ratio, area.y() / ratio, area.width() / ratio, area.height() / ratio)

    def column_x(self, column: float) -> float:
        """The x of a column's left edge in the widget."""
        return (self.area.x() + self.x + column * self.width) / self.ratio

    def row_y(self, row: float) -> float:
        """The y of a row's upper edge in the widget."""
        return (self.area.y() + self.y + row * self.height) / self.ratio

    def cell(self, tile: int) -> QRectF:
        """Where a tile is drawn in the widget (may lie outside it when zoomed)."""
        column, row = int(self.grid.column[tile]), int(self.grid.row[tile])
        return QRectF(self.column_x(column), self.row_y(row), self.width / self.ratio, self.height / self.ratio)

    def line(self, x0: int, y0: int, x1: int, y1: int) -> QLineF | None:
        """The line between two corners of cells, upright or level, as far as it is in view; None where none of it is.

        Cut by arithmetic, because SVG files know no clipping.
        """
        clip = self.clip.adjusted(-2, -2, 2, 2)
        left, right = self.column_x(x0) - 0.5, self.column_x(x1) - 0.5
        top, bottom = self.row_y(y0) - 0.5, self.row_y(y1) - 0.5
        if right < clip.left() or left > clip.right() or bottom < clip.top() or top > clip.bottom():
            return None
        return QLineF(
            max(left, clip.left()), max(top, clip.top()), min(right, clip.right()), min(bottom, clip.bottom())
        )

    def tile_at(self, place: QPointF) -> int | None:
        """The tile at a place of the widget."""
        across, down = place.x() * self.ratio - self.area.x(), place.y() * self.ratio - self.area.y()
        if not (0 <= across < self.area.width() and 0 <= down < self.area.height()):
            return None
        return self.grid.tile_at(int((down - self.y) // self.height), int((across - self.x) // self.width))

    def place_in_cells(self, place: QPointF) -> tuple[float, float]:
        """Column and row of a place, in device pixels of the widget, with fractions."""
        across, down = place.x() - self.area.x(), place.y() - self.area.y()
        return (across - self.x) / self.width, (down - self.y) / self.height

    def visible(self) -> tuple[slice, slice]:
        """Rows and columns of the cells that can be seen."""
        first_row, first_column = max(-self.y // self.height, 0), max(-self.x // self.width, 0)
        last_row = min(-(-(self.area.height() - self.y) // self.height), self.grid.rows)
        last_column = min(-(-(self.area.width() - self.x) // self.width), self.grid.columns)
        return slice(first_row, last_row), slice(first_column, last_column)


def make_frame(grid: Grid, area: QRect, ratio: float, zoom: float, centre: tuple[float, float]) -> TileFrame:
    """The frame of a grid in an area: cells as large as fits, times the zoom; ``centre`` (in cells) is in the middle
    where the grid is larger than the area.
    """
    width, height = cell_size(grid.rows, grid.columns, area.width(), area.height(), most=round(64 * ratio))
    width, height = max(round(width * zoom), 1), max(round(height * zoom), 1)
    x = _offset(area.width(), grid.columns * width, centre[0] * width)
    y = _offset(area.height(), grid.rows * height, centre[1] * height)
    return TileFrame(grid, area, width, height, x, y, ratio)


def _offset(room: int, size: int, centre: float) -> int:
    """Where a grid of ``size`` pixels begins in ``room`` pixels: in the middle if it fits, else so that ``centre`` is
    in the middle.
    """
    if size <= room:
        return (room - size) // 2
    return int(min(max(room / 2 - centre, room - size), 0))


def centre_inside(centre: float, half: float, cells: int) -> float:
    """A centre (in cells) moved so that no emptiness beside the grid comes into view; ``half`` cells are seen on each
    side of it.
    """
    return cells / 2 if 2 * half >= cells else min(max(centre, half), cells - half)


def label_spacing(cell: float, needed: float) -> int:
    """Every how many cells a label fits: 1, 2, 4, 8 …"""
    every = 1
    while every * cell < needed and every < 4096:
        every *= 2
    return every
