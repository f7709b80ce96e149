"""What keys mean on the graph."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

DIRECTIONS = {
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
}
PAGES = {Qt.Key.Key_PageUp: 1, Qt.Key.Key_PageDown: -1}
_WORDS = {
    "[": "producers",
    "]": "consumers",
    "{": "next_producer",
    "}": "next_consumer",
    "+": "zoom_in",
    "=": "zoom_in",
    "-": "zoom_out",
    "0": "fit",
    "f": "centre",
    "h": "neighbourhood",
    "c": "colours",
}
"""Typed characters and commands; ``shift+f`` and the like fall through to the window."""


def command_of(event: QKeyEvent) -> str | None:
    """The command of a key: ``move``, ``page``, ``toggle``, ``find``, ``stop`` or a word of the table above.

    None for keys that are the window's. Those with a command mean something here and elsewhere in the window; here they
    are the graph's.
    """
    if event.matches(QKeySequence.StandardKey.Find):
        return "find"
    bare = event.modifiers() & ~(Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier)
    if bare != Qt.KeyboardModifier.NoModifier:
        return None
    shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
    if event.key() == Qt.Key.Key_Escape and not shift:
        return "stop"
    if event.key() in DIRECTIONS:
        return None if shift else "move"
    if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
        return "toggle"
    if event.key() in PAGES and not shift:
        return "page"
    text = event.text().lower()
    return None if shift and text.isalpha() else _WORDS.get(text)
