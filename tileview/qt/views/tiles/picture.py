"""What the two pictures of tiles have in common: map and bars tell the same of mouse and keys."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter

from tileview.qt.base.theme import Theme
from tileview.qt.plot.axes import PlotAxis
from tileview.qt.plot.base import Drag, Plot
from tileview.qt.plot.zoom import Zoom

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
