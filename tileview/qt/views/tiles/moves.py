"""Moving among tiles and choosing them, by mouse and by keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, Qt

from tileview.model.timeline import last_largest
from tileview.present.rasters import neighbour, tiles_between
from tileview.qt.views.tiles.picking import Picking

if TYPE_CHECKING:
    from tileview.qt.views.tiles.view import TilesView

_SHIFT, _CTRL = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier


class TileMoves(QObject):
    """Turns what a :class:`TilesView` is told by mouse and keys into a selection.

    ``cursor`` is the tile that Ctrl and the arrows have come to without choosing it; Space adds it to the selection or
    takes it away. It is None while the cursor is with the current tile.
    """

    def __init__(self, view: TilesView) -> None:
        super().__init__(view)
        self._view = view
        self._session = view.session
        self._picking = Picking(self._range_of)
        self.cursor: int | None = None

    def forget(self) -> None:
        """Another document."""
        self._picking.clear()
        self._set_cursor(None)

    def picked(self, tile: int, modifiers: Qt.KeyboardModifier) -> None:
        """A click."""
        self._set_cursor(None)
        self._session.select_tiles(self._picking.click(self._session.selection.tiles, tile, modifiers))

    def moved(self, across: int, down: int, modifiers: Qt.KeyboardModifier) -> None:
        """An arrow key on the map."""
        tile = self._at()
        if self._view.timeline is not None and self._view.field is not None:
            found = self.worst() if tile is None else neighbour(self._view.grid, tile, across, down)
            self._arrive(found, modifiers)

    def moved_along(self, places: int, modifiers: Qt.KeyboardModifier) -> None:
        """An arrow key in the bars: so many places along their order."""
        bars, tile = self._view.bars, self._at()
        order = bars.order
        if order:
            place = None if tile is None else bars.place_of(tile)
            self._arrive(order[0 if place is None else min(max(place + places, 0), len(order) - 1)], modifiers)

    def toggle(self) -> None:
        """Add the tile of the cursor to the selection, or take it away."""
        tile = self._at()
        if tile is not None:
            self._session.select_tiles(self._picking.click(self._session.selection.tiles, tile, _CTRL))
            self._set_cursor(tile)

    def go_to_worst(self) -> None:
        field = self._view.field
        if field is not None and not field.missing:
            self._arrive(self.worst(), Qt.KeyboardModifier.NoModifier)

    def clear(self) -> None:
        """Select no tile."""
        self._set_cursor(None)
        self._session.select_tiles(self._picking.clear())

    def select_all(self) -> None:
        timeline = self._view.timeline
        if timeline is not None:
            self._session.select_tiles(tuple(range(timeline.tile_count)))

    def choose(self, tiles: tuple[int, ...]) -> None:
        """Select these tiles; ranges go on from the last."""
        self._set_cursor(None)
        self._picking.anchor = tiles[-1]
        self._session.select_tiles(tiles)

    def worst(self) -> int:
        """The last tile with the largest value: where a first key press leads."""
        field = self._view.field
        values = field.values if field is not None else np.zeros(1, dtype=np.int64)
        return last_largest(values)

    def _at(self) -> int | None:
        return self._session.selection.tile if self.cursor is None else self.cursor

    def _arrive(self, tile: int, modifiers: Qt.KeyboardModifier) -> None:
        if modifiers & _CTRL:
            self._set_cursor(tile)
            self._view.say_cursor()
        else:
            self._set_cursor(None)
            chosen = self._session.selection.tiles
            self._session.select_tiles(self._picking.go(chosen, tile, bool(modifiers & _SHIFT)))
        self._view.map.show_tile(tile)

    def _set_cursor(self, tile: int | None) -> None:
        self.cursor = tile
        self._view.map.set_cursor(tile)
        self._view.bars.set_cursor(tile)

    def _range_of(self, anchor: int, tile: int) -> tuple[int, ...]:
        """A range on the map, or along the order of the bars."""
        view = self._view
        if view.on_map:
            return tiles_between(view.grid, anchor, tile)
        low, high = sorted((view.bars.place_of(anchor) or 0, view.bars.place_of(tile) or 0))
        return (*(other for other in view.bars.order[low : high + 1] if other != tile), tile)
