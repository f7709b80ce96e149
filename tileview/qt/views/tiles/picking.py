"""What clicks and arrow keys do to the selected tiles: plain, range, toggle, move."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt

RangeOf = Callable[[int, int], tuple[int, ...]]
"""Anchor and tile → the tiles of the range, the tile last."""


class Picking:
    """Keeps the anchor of ranges; gives back the tiles that are selected next, the current one last."""

    def __init__(self, range_of: RangeOf) -> None:
        self._range_of = range_of
        self.anchor: int | None = None

    def clear(self) -> tuple[int, ...]:
        self.anchor = None
        return ()

    def click(self, chosen: Sequence[int], tile: int, modifiers: Qt.KeyboardModifier) -> tuple[int, ...]:
        """A click: alone it selects the tile, with Ctrl it adds or removes it, with Shift it selects the range from the
        anchor.
        """
        if modifiers & Qt.KeyboardModifier.ControlModifier:
            self.anchor = tile
            others = tuple(other for other in chosen if other != tile)
            return others if len(others) < len(chosen) else (*others, tile)
        return self.go(chosen, tile, bool(modifiers & Qt.KeyboardModifier.ShiftModifier))

    def go(self, chosen: Sequence[int], tile: int, extend: bool) -> tuple[int, ...]:
        """Make a tile the current one; ``extend`` selects the range from the anchor to it."""
        if not extend or not chosen:
            self.anchor = tile
            return (tile,)
        if self.anchor is None:
            self.anchor = chosen[-1]
        return self._range_of(self.anchor, tile)
