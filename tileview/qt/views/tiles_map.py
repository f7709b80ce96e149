"""The heatmap itself: cells on a grid, zoom and pan, the selection's frame, what the mouse and the arrow keys do."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from PySide6.QtCore import QEvent, QLineF, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from tileview.core.geometry.chip import Grid, grid
from tileview.present.colours import Ramp
from tileview.present.curves import BoolArray
from tileview.present.rasters import ByteImage, cell_image, cell_size, mask_on_grid, on_grid, outline
from tileview.qt.draw.tiles_paint import IndexedPicture, table_of
from tileview.qt.text import plain_tip
from tileview.qt.theme import Theme

_ARROWS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}
_MOST_ZOOM = 24.0


class TileMap(QWidget):
    """Cells in whole device pixels, drawn as one indexed image; everything else is painted over it.

    The widget knows nothing of sessions: it is given a grid, a colour slot for every tile and which are over, and says
    what was clicked.
    """

    picked = Signal(object, object)
    """Tile, keyboard modifiers."""
    moved = Signal(object, object, bool)
    """Columns, rows, whether the selection shall be extended."""
    pointed = Signal(object)
    """The tile under the mouse, or None."""
    cleared = Signal()
    all_wanted = Signal()

    def __init__(self, theme: Theme, tip: Callable[[int], str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(QSize(80, 60))
        self.setAccessibleName("Tile map")
        self._theme = theme
        self._tip = tip
        self._ramp = Ramp.VIRIDIS
        self._grid: Grid = grid(0)
        self._slots: ByteImage = np.zeros(0, dtype=np.uint8)
        self._over: BoolArray = np.zeros(0, dtype=np.bool_)
        self._selected: tuple[int, ...] = ()
        self._held: BoolArray | None = None
        self._pointed: int | None = None
        self._pointed_elsewhere: int | None = None
        self._zoom = 1.0
        self._centre = (0.0, 0.0)
        self._picture: tuple[IndexedPicture, QPointF] | None = None
        self._press: QPoint | None = None
        self._press_centre = (0.0, 0.0)
        self._dragging = False

    # -- what is shown --------------------------------------------------------------------------------------------

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self._redraw()

    def set_ramp(self, ramp: Ramp) -> None:
        if ramp is not self._ramp:
            self._ramp = ramp
            self._redraw()

    def set_grid(self, shown: Grid) -> None:
        """Another arrangement of the tiles; the zoom is kept where the tiles are the same."""
        if shown is not self._grid:
            if len(shown.row) != len(self._grid.row):
                self._zoom = 1.0
            self._grid = shown
            self._slots = self._slots if len(self._slots) == len(shown.row) else np.zeros(0, dtype=np.uint8)
            self._redraw()

    def set_cells(self, slots: ByteImage, over: BoolArray) -> None:
        """A colour slot for every tile, and which are over a budget."""
        self._slots, self._over = slots, over
        self._redraw()

    def set_selected(self, tiles: Sequence[int]) -> None:
        """The selected tiles, the current one last."""
        self._selected = tuple(tile for tile in tiles if tile < len(self._grid.row))
        self.update()

    def set_held(self, held: BoolArray | None) -> None:
        """Tiles that hold the selected allocation: framed by a dotted line."""
        self._held = held
        self.update()

    def set_pointed(self, tile: int | None) -> None:
        """The tile that the mouse points at in another view."""
        if tile != self._pointed_elsewhere:
            self._pointed_elsewhere = tile
            self.update()

    def _redraw(self) -> None:
        self._picture = None
        self.update()

    # -- geometry -------------------------------------------------------------------------------------------------

    def _margins(self) -> tuple[int, int]:
        metrics = self.fontMetrics()
        last = (self._grid.rows - 1) * (1 if self._grid.is_chip else self._grid.columns)
        return metrics.horizontalAdvance(f"{max(last, 0):,}") + 8, metrics.height() + 2

    def _frame(self) -> tuple[QRect, int, int, int, int]:
        """The area of the map in device pixels, a cell's width and height, where the grid begins in the area."""
        ratio = self.devicePixelRatioF()
        left, top = self._margins()
        area = QRect(
            round(left * ratio),
            round(top * ratio),
            max(round((self.width() - left - 2) * ratio), 1),
            max(round((self.height() - top - 2) * ratio), 1),
        )
        rows, columns = self._grid.rows, self._grid.columns
        width, height = cell_size(rows, columns, area.width(), area.height(), most=round(64 * ratio))
        width, height = max(round(width * self._zoom), 1), max(round(height * self._zoom), 1)
        x = _offset(area.width(), columns * width, self._centre[0] * width)
        y = _offset(area.height(), rows * height, self._centre[1] * height)
        return area, width, height, x, y

    def cell_rect(self, tile: int) -> QRectF:
        """Where a tile is drawn, in the widget's coordinates (may lie outside it when zoomed)."""
        ratio = self.devicePixelRatioF()
        area, width, height, x, y = self._frame()
        column, row = int(self._grid.column[tile]), int(self._grid.row[tile])
        return QRectF(
            (area.x() + x + column * width) / ratio,
            (area.y() + y + row * height) / ratio,
            width / ratio,
            height / ratio,
        )

    def tile_at(self, place: QPointF) -> int | None:
        """The tile at a place of the widget."""
        ratio = self.devicePixelRatioF()
        area, width, height, x, y = self._frame()
        across, down = place.x() * ratio - area.x(), place.y() * ratio - area.y()
        if not (0 <= across < area.width() and 0 <= down < area.height()):
            return None
        return self._grid.tile_at(int((down - y) // height), int((across - x) // width))

    # -- painting -------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        try:
            self.draw(painter)
        finally:
            painter.end()

    def draw(self, painter: QPainter) -> None:
        """Paint the whole map; also used for pictures."""
        painter.fillRect(self.rect(), self._theme.color("background"))
        if len(self._slots) == 0 or len(self._slots) != len(self._grid.row):
            painter.setPen(self._theme.color("muted"))
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, "No tiles to show")
            return
        if self._picture is None:
            self._picture = self._render()
        ratio = self.devicePixelRatioF()
        area = self._frame()[0]
        painter.drawImage(self._picture[1], self._picture[0].image)
        clip = QRectF(area.x() / ratio, area.y() / ratio, area.width() / ratio, area.height() / ratio)
        self._draw_labels(painter, clip)
        painter.save()
        painter.setClipRect(clip.adjusted(-2, -2, 2, 2))
        self._draw_frames(painter)
        painter.restore()

    def _render(self) -> tuple[IndexedPicture, QPointF]:
        """The visible cells as an image, and where it begins in the widget."""
        ratio = self.devicePixelRatioF()
        area, width, height, x, y = self._frame()
        first_row, first_column = max(-y // height, 0), max(-x // width, 0)
        last_row = min(-(-(area.height() - y) // height), self._grid.rows)
        last_column = min(-(-(area.width() - x) // width), self._grid.columns)
        window = (slice(first_row, last_row), slice(first_column, last_column))
        pixels = cell_image(
            on_grid(self._grid, self._slots)[window],
            mask_on_grid(self._grid, self._over)[window],
            width,
            height,
            ramp=self._ramp,
            gap=max(round(ratio), 1) if min(width, height) >= 5 * ratio else 0,
            line=max(round(ratio), 1),
        )
        left, top = x + first_column * width, y + first_row * height
        crop_x, crop_y = max(-left, 0), max(-top, 0)
        pixels = pixels[crop_y : crop_y + area.height(), crop_x : crop_x + area.width()]
        place = QPointF((area.x() + max(left, 0)) / ratio, (area.y() + max(top, 0)) / ratio)
        return IndexedPicture(pixels, table_of(self._theme, self._ramp), ratio), place

    def _draw_labels(self, painter: QPainter, clip: QRectF) -> None:
        ratio = self.devicePixelRatioF()
        area, width, height, x, y = self._frame()
        metrics = self.fontMetrics()
        painter.setPen(self._theme.color("muted"))
        every = _label_spacing(height / ratio, metrics.height())
        per_row = 1 if self._grid.is_chip else self._grid.columns
        for row in range(0, self._grid.rows, every):
            middle = (area.y() + y + (row + 0.5) * height) / ratio
            if clip.top() <= middle <= clip.bottom():
                box = QRectF(
                    0,
                    middle - metrics.height() / 2,
                    max(clip.left(), (area.x() + max(x, 0)) / ratio) - 5,
                    metrics.height(),
                )
                flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextDontClip
                painter.drawText(box, flags, f"{row * per_row:,}")
        sign = "" if self._grid.is_chip else "+"
        widest = metrics.horizontalAdvance(f"{sign}{self._grid.columns}") + 6
        every = _label_spacing(width / ratio, widest)
        top = max(0.0, (area.y() + max(y, 0)) / ratio - metrics.height() - 2)
        for column in range(0, self._grid.columns, every):
            middle = (area.x() + x + (column + 0.5) * width) / ratio
            if clip.left() <= middle <= clip.right():
                box = QRectF(middle - widest / 2, top, widest, metrics.height())
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextDontClip, f"{sign}{column}")

    def _draw_frames(self, painter: QPainter) -> None:
        if self._held is not None and not bool(self._held.all()) and len(self._held) == len(self._grid.row):
            self._draw_outline(
                painter, self._held, self._theme.color("text"), self._theme.color("background"), 1, dotted=True
            )
        if self._selected:
            chosen = np.zeros(len(self._grid.row), dtype=np.bool_)
            chosen[list(self._selected)] = True
            self._draw_outline(painter, chosen, self._theme.color("accent"), self._theme.color("background"), 2)
            current = self.cell_rect(self._selected[-1]).adjusted(-1.5, -1.5, 0.5, 0.5)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(self._theme.color("background"), 4.5))
            painter.drawRect(current)
            painter.setPen(QPen(self._theme.color("mark"), 2))
            painter.drawRect(current)
        pointed = self._pointed if self._pointed is not None else self._pointed_elsewhere
        if pointed is not None and pointed < len(self._grid.row):
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(self._theme.color("accent"), 1.5, Qt.PenStyle.DashLine))
            painter.drawRect(self.cell_rect(pointed).adjusted(-1, -1, 0, 0))

    def _draw_outline(
        self, painter: QPainter, mask: BoolArray, colour: QColor, halo: QColor, width: int, dotted: bool = False
    ) -> None:
        ratio = self.devicePixelRatioF()
        area, cell_width, cell_height, x, y = self._frame()
        segments = outline(mask_on_grid(self._grid, mask)).astype(np.float64)
        segments[:, [0, 2]] = (area.x() + x + segments[:, [0, 2]] * cell_width) / ratio - 0.5
        segments[:, [1, 3]] = (area.y() + y + segments[:, [1, 3]] * cell_height) / ratio - 0.5
        lines = [QLineF(*segment) for segment in segments.tolist()]
        painter.setPen(QPen(halo, width + 2))
        painter.drawLines(lines)
        painter.setPen(QPen(colour, width, Qt.PenStyle.DotLine if dotted else Qt.PenStyle.SolidLine))
        painter.drawLines(lines)

    # -- zoom -----------------------------------------------------------------------------------------------------

    @property
    def zoom(self) -> float:
        return self._zoom

    def fit(self) -> None:
        """Show the whole grid."""
        self._zoom = 1.0
        self._redraw()

    def zoom_by(self, factor: float, about: QPointF | None = None) -> None:
        """Zoom in or out; the cell at ``about`` (else the middle) stays where it is."""
        ratio = self.devicePixelRatioF()
        area, width, height, x, y = self._frame()
        place = QPointF(area.center()) if about is None else about * ratio
        across, down = place.x() - area.x(), place.y() - area.y()
        column, row = (across - x) / width, (down - y) / height
        self._zoom = min(max(self._zoom * factor, 1.0), _MOST_ZOOM)
        _, width, height, _, _ = self._frame()
        self._centre = (column + (area.width() / 2 - across) / width, row + (area.height() / 2 - down) / height)
        self._redraw()

    def centre_on(self, tile: int) -> None:
        """Bring a tile into the middle, zooming in where the whole grid is shown."""
        if self._zoom <= 1.0:
            self._zoom = 3.0
        self._centre = (float(self._grid.column[tile]) + 0.5, float(self._grid.row[tile]) + 0.5)
        self._redraw()

    def show_tile(self, tile: int) -> None:
        """Move a zoomed map just so far that a tile can be seen."""
        if self._zoom > 1.0 and not QRectF(self.rect()).contains(self.cell_rect(tile)):
            self.centre_on(tile)

    # -- events ---------------------------------------------------------------------------------------------------

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self._command(event):
            event.accept()
            return True
        if event.type() == QEvent.Type.ToolTip:
            if self._pointed is None:
                QToolTip.hideText()
            else:
                QToolTip.showText(event.globalPos(), plain_tip(self._tip(self._pointed)), self)  # type: ignore[attr-defined]
            return True
        if event.type() == QEvent.Type.DevicePixelRatioChange:
            self._redraw()
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._picture = None
        super().resizeEvent(event)

    def _command(self, event: QKeyEvent) -> Callable[[], None] | None:
        """What a key does here; None leaves it to the window."""
        key, modifiers = Qt.Key(event.key()), event.modifiers()
        shift = bool(modifiers & Qt.KeyboardModifier.ShiftModifier)
        if modifiers & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier):
            select_all = key == Qt.Key.Key_A and modifiers == Qt.KeyboardModifier.ControlModifier
            return self.all_wanted.emit if select_all else None
        if key in _ARROWS:
            across, down = _ARROWS[key]
            return lambda: self.moved.emit(across, down, shift)
        if key == Qt.Key.Key_F and not shift:
            return self._centre_current
        return {
            Qt.Key.Key_0: self.fit,
            Qt.Key.Key_Plus: lambda: self.zoom_by(1.5, self._current_place()),
            Qt.Key.Key_Equal: lambda: self.zoom_by(1.5, self._current_place()),
            Qt.Key.Key_Minus: lambda: self.zoom_by(1 / 1.5, self._current_place()),
            Qt.Key.Key_Escape: self.cleared.emit,
        }.get(key)

    def _current_place(self) -> QPointF | None:
        return self.cell_rect(self._selected[-1]).center() if self._selected else None

    def _centre_current(self) -> None:
        if self._selected:
            self.centre_on(self._selected[-1])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        command = self._command(event)
        if command is None:
            super().keyPressEvent(event)
        else:
            command()

    def wheelEvent(self, event: QWheelEvent) -> None:
        delta = event.angleDelta()
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier or abs(delta.x()) > abs(delta.y()):
            self._pan((delta.x() or delta.y()) / 2, 0.0, self._centre)
        elif delta.y():
            self.zoom_by(1.25 ** (delta.y() / 120), event.position())
        event.accept()

    def _pan(self, x: float, y: float, start: tuple[float, float]) -> None:
        ratio = self.devicePixelRatioF()
        area, width, height, _, _ = self._frame()
        half_x, half_y = area.width() / width / 2, area.height() / height / 2
        self._centre = (
            _inside(start[0] - x * ratio / width, half_x, self._grid.columns),
            _inside(start[1] - y * ratio / height, half_y, self._grid.rows),
        )
        self._redraw()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            self._press, self._press_centre, self._dragging = event.position().toPoint(), self._centre, False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        place = event.position()
        if self._press is not None and event.buttons():
            moved = place.toPoint() - self._press
            if self._zoom > 1.0 and (self._dragging or moved.manhattanLength() > 4):
                self._dragging = True
                self._pan(moved.x(), moved.y(), self._press_centre)
            return
        self._point_at(self.tile_at(place))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._press is not None and not self._dragging and event.button() == Qt.MouseButton.LeftButton:
            tile = self.tile_at(event.position())
            if tile is not None:
                self.picked.emit(tile, event.modifiers())
        self._press, self._dragging = None, False

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.fit()

    def leaveEvent(self, event: QEvent) -> None:
        self._point_at(None)

    def _point_at(self, tile: int | None) -> None:
        if tile != self._pointed:
            self._pointed = tile
            self.pointed.emit(tile)
            self.update()


def _offset(room: int, size: int, centre: float) -> int:
    """Where a grid of ``size`` pixels begins in ``room`` pixels: in the middle if it fits, else so that ``centre`` is
    in the middle.
    """
    if size <= room:
        return (room - size) // 2
    return int(min(max(room / 2 - centre, room - size), 0))


def _inside(centre: float, half: float, cells: int) -> float:
    return cells / 2 if 2 * half >= cells else min(max(centre, half), cells - half)


def _label_spacing(cell: float, needed: float) -> int:
    """Every how many cells a label fits: 1, 2, 4, 8 …"""
    every = 1
    while every * cell < needed and every < 4096:
        every *= 2
    return every
