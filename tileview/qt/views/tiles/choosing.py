"""Moving among tiles and choosing them, by mouse and by keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Qt, Signal

from tileview.session.session import Session

RangeOf = Callable[[int, int], tuple[int, ...]]
"""Anchor and tile → the tiles of the range, the tile last."""
_SHIFT, _CTRL = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier


class TileChoice(QObject):
    """Turns clicks and steps of a cursor into the selected tiles of a session, the current one last.

    ``cursor`` is the tile that Ctrl and the arrows have come to without choosing it; Space adds it to the selection or
    takes it away. It is None while the cursor is with the current tile. ``anchor`` is where ranges begin.
    """

    cursor_moved = Signal(object)
    """The cursor, or None."""
    arrived = Signal(int)
    """A tile that shall be in view."""

    def __init__(self, session: Session, range_of: RangeOf, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._range_of = range_of
        self.anchor: int | None = None
        self.cursor: int | None = None

    @property
    def at(self) -> int | None:
        """Where the keys are: at the cursor, else at the current tile."""
        return self._session.selection.tile if self.cursor is None else self.cursor

    def forget(self) -> None:
        """Another document."""
        self.anchor = None
        self._set_cursor(None)

    def click(self, tile: int, modifiers: Qt.KeyboardModifier) -> None:
        """Alone a click selects a tile, with Ctrl it adds or removes it, with Shift it selects the range from the
        anchor.
        """
        self._set_cursor(None)
        if modifiers & _CTRL:
            self._toggle(tile)
        else:
            self._go(tile, bool(modifiers & _SHIFT))

    def step_to(self, tile: int, modifiers: Qt.KeyboardModifier) -> None:
        """A key leads to a tile: it is selected, with Shift a range, with Ctrl only the cursor goes there."""
        self._set_cursor(tile if modifiers & _CTRL else None)
        if not modifiers & _CTRL:
            self._go(tile, bool(modifiers & _SHIFT))
        self.arrived.emit(tile)

    def toggle(self) -> None:
        """Add the tile of the cursor to the selection, or take it away."""
        tile = self.at
        if tile is not None:
            self._toggle(tile)
            self._set_cursor(tile)

    def clear(self) -> None:
        """Select no tile."""
        self.choose(())

    def choose(self, tiles: Sequence[int]) -> None:
        """Select these tiles; ranges go on from the last."""
        self._set_cursor(None)
        self.anchor = tiles[-1] if tiles else None
        self._session.select_tiles(tuple(tiles))

    def _toggle(self, tile: int) -> None:
        self.anchor = tile
        chosen = self._session.selection.tiles
        others = tuple(other for other in chosen if other != tile)
        self._session.select_tiles(others if len(others) < len(chosen) else (*others, tile))

    def _go(self, tile: int, extend: bool) -> None:
        chosen = self._session.selection.tiles
        if not extend or not chosen:
            self.anchor = tile
            self._session.select_tiles((tile,))
            return
        if self.anchor is None:
            self.anchor = chosen[-1]
        self._session.select_tiles(self._range_of(self.anchor, tile))

    def _set_cursor(self, tile: int | None) -> None:
        if tile != self.cursor:
            self.cursor = tile
            self.cursor_moved.emit(tile)
