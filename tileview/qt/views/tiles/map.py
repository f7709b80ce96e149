"""The heatmap itself: cells on a grid, zoom and pan, the selection's frame, what the mouse and the arrow keys do."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from tileview.core.geometry.chip import Grid, grid
from tileview.present.colours import Ramp
from tileview.present.curves import BoolArray
from tileview.present.rasters import ByteImage, cell_image, mask_on_grid, on_grid, outline
from tileview.qt.base.painting import draw_focus, painting
from tileview.qt.base.text import plain_tip
from tileview.qt.base.theme import Theme
from tileview.qt.views.tiles.frame import TileFrame, centre_inside, label_spacing, make_frame
from tileview.qt.views.tiles.paint import IndexedPicture, table_of

_ARROWS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}
_MOVING = (
    Qt.KeyboardModifier.NoModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.ControlModifier,
)
"""Modifiers with which arrows move: the current tile, the end of a range, the cursor alone."""
_MOST_ZOOM = 24.0


class TileMap(QWidget):
    """Cells in whole device pixels, drawn as one indexed image; everything else is painted over it.

    The widget knows nothing of sessions: it is given a grid, a colour slot for every tile and which are over, and says
    what was clicked.
    """

    picked = Signal(object, object)
    """Tile, keyboard modifiers."""
    moved = Signal(object, object, object)
    """Columns, rows, keyboard modifiers."""
    toggled = Signal()
    """The tile of the cursor shall be added to the selection or taken away."""
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
        self._cursor: int | None = None
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

    def set_cursor(self, tile: int | None) -> None:
        """The tile that Ctrl and the arrows have come to, None where the cursor is with the selection."""
        if tile != self._cursor:
            self._cursor = tile
            self.update()

    def set_held(self, held: BoolArray | None) -> None:
        """Tiles that hold the selected allocation: framed by a dotted line."""
        self._held = held
        self.update()

    def set_pointed(self, tile: int | None) -> None:
        """The tile that the mouse points at in another view."""
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

    def _frame(self) -> TileFrame:
        ratio = self.devicePixelRatioF()
        left, top = self._margins()
        area = QRect(
            round(left * ratio),
            round(top * ratio),
            max(round((self.width() - left - 2) * ratio), 1),
            max(round((self.height() - top - 2) * ratio), 1),
        )
        return make_frame(self._grid, area, ratio, self._zoom, self._centre)

    def cell_rect(self, tile: int) -> QRectF:
        """Where a tile is drawn, in the widget's coordinates (may lie outside it when zoomed)."""
        return self._frame().cell(tile)

    def tile_at(self, place: QPointF) -> int | None:
        """The tile at a place of the widget."""
        return self._frame().tile_at(place)

    # -- painting -------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        with painting(self) as painter:
            self.draw(painter)
            draw_focus(painter, self, self._theme.color("accent"))

    def draw(self, painter: QPainter) -> None:
        """Paint the whole map; also used for pictures."""
        painter.fillRect(self.rect(), self._theme.color("background"))
        if len(self._slots) == 0 or len(self._slots) != len(self._grid.row):
            painter.setPen(self._theme.color("muted"))
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, "No tiles to show")
            return
        if self._picture is None:
            self._picture = self._render()
        painter.drawImage(self._picture[1], self._picture[0].image)
        frame = self._frame()
        self._draw_labels(painter, frame)
        painter.save()
        painter.setClipRect(frame.clip.adjusted(-2, -2, 2, 2))
        self._draw_frames(painter, frame)
        painter.restore()

    def _render(self) -> tuple[IndexedPicture, QPointF]:
        """The visible cells as an image, and where it begins in the widget."""
        frame = self._frame()
        ratio, area, width, height = frame.ratio, frame.area, frame.width, frame.height
        window = frame.visible()
        pixels = cell_image(
            on_grid(self._grid, self._slots)[window],
            mask_on_grid(self._grid, self._over)[window],
            width,
            height,
            ramp=self._ramp,
            gap=max(round(ratio), 1) if min(width, height) >= 5 * ratio else 0,
            line=max(round(ratio), 1),
        )
        left, top = frame.x + window[1].start * width, frame.y + window[0].start * height
        crop_x, crop_y = max(-left, 0), max(-top, 0)
        pixels = pixels[crop_y : crop_y + area.height(), crop_x : crop_x + area.width()]
        place = QPointF((area.x() + max(left, 0)) / ratio, (area.y() + max(top, 0)) / ratio)
        return IndexedPicture(pixels, table_of(self._theme, self._ramp), ratio), place

    def _draw_labels(self, painter: QPainter, frame: TileFrame) -> None:
        metrics, clip = self.fontMetrics(), frame.clip
        painter.setPen(self._theme.color("muted"))
        every = label_spacing(frame.height / frame.ratio, metrics.height())
        per_row = 1 if self._grid.is_chip else self._grid.columns
        right = max(clip.left(), frame.column_x(0)) - 5
        for row in range(0, self._grid.rows, every):
            middle = frame.row_y(row + 0.5)
            if clip.top() <= middle <= clip.bottom():
                box = QRectF(0, middle - metrics.height() / 2, right, metrics.height())
                flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextDontClip
                painter.drawText(box, flags, f"{row * per_row:,}")
        sign = "" if self._grid.is_chip else "+"
        widest = metrics.horizontalAdvance(f"{sign}{self._grid.columns}") + 6
        every = label_spacing(frame.width / frame.ratio, widest)
        top = max(0.0, max(clip.top(), frame.row_y(0)) - metrics.height() - 2)
        for column in range(0, self._grid.columns, every):
            middle = frame.column_x(column + 0.5)
            if clip.left() <= middle <= clip.right():
                box = QRectF(middle - widest / 2, top, widest, metrics.height())
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextDontClip, f"{sign}{column}")

    def _draw_frames(self, painter: QPainter, frame: TileFrame) -> None:
        theme = self._theme
        mark, ground, accent = theme.color("mark"), theme.color("background"), theme.color("accent")
        if self._held is not None and not bool(self._held.all()) and len(self._held) == len(self._grid.row):
            self._draw_outline(painter, frame, self._held, QPen(theme.color("text"), 1, Qt.PenStyle.DotLine))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if self._selected:
            chosen = np.zeros(len(self._grid.row), dtype=np.bool_)
            chosen[list(self._selected)] = True
            self._draw_outline(painter, frame, chosen, QPen(accent, 2))
            self._frame_cell(painter, frame, self._selected[-1], (QPen(ground, 4.5), QPen(mark, 2)))
        if self._cursor is not None:
            pens = (QPen(ground, 4), QPen(mark, 2, Qt.PenStyle.DotLine))
            self._frame_cell(painter, frame, self._cursor, pens)
        pointed = self._pointed if self._pointed is not None else self._pointed_elsewhere
        if pointed is not None:
            self._frame_cell(painter, frame, pointed, (QPen(accent, 1.5, Qt.PenStyle.DashLine),))

    def _frame_cell(self, painter: QPainter, frame: TileFrame, tile: int, pens: Sequence[QPen]) -> None:
        """A frame around one tile, as far as it is in view."""
        if tile < len(self._grid.row):
            box = frame.cell(tile).adjusted(-1.5, -1.5, 0.5, 0.5).intersected(frame.clip.adjusted(-2, -2, 2, 2))
            for pen in pens if not box.isEmpty() else ():
                painter.setPen(pen)
                painter.drawRect(box)

    def _draw_outline(self, painter: QPainter, frame: TileFrame, mask: BoolArray, pen: QPen) -> None:
        """A line around tiles, over a wider one in the colour of the ground, so that it shows on every colour."""
        segments = outline(mask_on_grid(self._grid, mask)).tolist()
        lines = [line for segment in segments if (line := frame.line(*segment)) is not None]
        for drawn in (QPen(self._theme.color("background"), pen.widthF() + 2), pen):
            painter.setPen(drawn)
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
        before = self._frame()
        area = before.area
        place = QPointF(area.center()) if about is None else about * before.ratio
        column, row = before.place_in_cells(place)
        self._zoom = min(max(self._zoom * factor, 1.0), _MOST_ZOOM)
        after = self._frame()
        across, down = place.x() - area.x(), place.y() - area.y()
        self._centre = (
            column + (area.width() / 2 - across) / after.width,
            row + (area.height() / 2 - down) / after.height,
        )
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
        key, modifiers = Qt.Key(event.key()), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if modifiers & Qt.KeyboardModifier.AltModifier:
            return None
        if key in _ARROWS and modifiers in _MOVING:
            across, down = _ARROWS[key]
            return lambda: self.moved.emit(across, down, modifiers)
        if key == Qt.Key.Key_Space and not modifiers & Qt.KeyboardModifier.ShiftModifier:
            return self.toggled.emit
        if modifiers & Qt.KeyboardModifier.ControlModifier:
            select_all = key == Qt.Key.Key_A and modifiers == Qt.KeyboardModifier.ControlModifier
            return self.all_wanted.emit if select_all else None
        if key == Qt.Key.Key_F and not modifiers:
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
        frame = self._frame()
        width, height = frame.width, frame.height
        half_x, half_y = frame.area.width() / width / 2, frame.area.height() / height / 2
        self._centre = (
            centre_inside(start[0] - x * frame.ratio / width, half_x, self._grid.columns),
            centre_inside(start[1] - y * frame.ratio / height, half_y, self._grid.rows),
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
