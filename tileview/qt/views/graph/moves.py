"""Ways through the graph: what keys mean, from box to box, along edges, and from match to match of a search."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

from tileview.graphlayout import Structure
from tileview.present.graph_boxes import NodeWords
from tileview.present.tables import matches
from tileview.qt.views.graph.layouts import LayoutResult
from tileview.qt.views.graph.scene import GraphScene

Floats = npt.NDArray[np.float64]

DIRECTIONS = {
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
}
_KEYS = {
    Qt.Key.Key_Escape: "stop",
    Qt.Key.Key_PageUp: "page_up",
    Qt.Key.Key_PageDown: "page_down",
    **dict.fromkeys(DIRECTIONS, "move"),
}
_CHARACTERS = {
    "[": "producers",
    "]": "consumers",
    "{": "next_sibling",
    "}": "next_sibling",
    "+": "zoom_in",
    "=": "zoom_in",
    "w": "zoom_in",
    "-": "zoom_out",
    "s": "zoom_out",
    "a": "pan_left",
    "d": "pan_right",
    "0": "fit",
    "f": "centre",
    "h": "neighbourhood",
    "c": "colours",
}
"""Typed characters and commands; ``shift+f`` and the like fall through to the window."""


def command_of(event: QKeyEvent) -> str | None:
    """The command of a key on the graph, ``toggle`` and ``find`` among them; None for keys that are the window's.

    Some keys with a command mean something elsewhere in the window too; here they are the graph's.
    """
    if event.matches(QKeySequence.StandardKey.Find):
        return "find"
    bare = event.modifiers() & ~(Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier)
    if bare != Qt.KeyboardModifier.NoModifier:
        return None
    if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
        return "toggle"
    shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
    if event.key() in _KEYS:
        return None if shift else _KEYS[Qt.Key(event.key())]
    text = event.text().lower()
    return None if shift and text.isalpha() else _CHARACTERS.get(text)


def nearest(scene: GraphScene, node: int | None, dx: int, dy: int) -> int | None:
    """The operation next to one in a direction.

    Up and down follow an edge where there is one, to the nearest layer, be it at the head of the next column; else,
    and to the sides, it is the box close along the direction and not far beside it. From None: the topmost, then
    leftmost operation. Ports are passed over. The box around a body counts by its title.
    """
    nodes = scene.picture.nodes
    is_port = np.array([scene.structure.nodes[other].is_port for other in nodes.tolist()], dtype=np.bool_)
    left, top, width, height = scene.picture.rects.T
    x, y = left + width / 2, top + np.where(scene.picture.expanded, scene.header_height() / 2, height / 2)
    if node is None or node not in scene.place:
        return _least(nodes, ~is_port, y, x)
    start = scene.place[node]
    if dy:
        joined = scene.edges.targets(node) if dy > 0 else scene.edges.sources(node)
        layer = scene.picture.rows[:, 0]
        ahead = (layer - layer[start]) * dy
        allowed = ~is_port & np.isin(nodes, joined) & (ahead > 0)
        found = _least(nodes, allowed, ahead.astype(np.float64), np.abs(x - x[start]))
        if found is not None:
            return found
    ahead = (x - x[start]) * dx + (y - y[start]) * dy
    aside = np.abs((x - x[start]) * dy) + np.abs((y - y[start]) * dx)
    allowed = ~is_port & (ahead > 1.0) & (nodes != node)
    if dx:
        allowed &= aside <= 2 * ahead
    return _least(nodes, allowed, ahead + (4.0 if dx else 0.6) * aside, ahead)


def _least(nodes: npt.NDArray[np.int64], allowed: npt.NDArray[np.bool_], first: Floats, second: Floats) -> int | None:
    """The node among those allowed with the least ``first``, then ``second``, then the earliest."""
    places = np.flatnonzero(allowed)
    if not len(places):
        return None
    return int(nodes[places[np.lexsort((second[places], first[places]))[0]]])


class EdgeTrail:
    """Goes along edges: to what an operation reads from or is read by, and on to the others of these.

    Each way gives a sentence to show (or an empty one) and the node to go to (or None).
    """

    def __init__(self) -> None:
        self._others: Sequence[int] = ()
        self._at = 0

    def follow(self, result: LayoutResult | None, node: int | None, producers: bool) -> tuple[str, int | None]:
        """To the first producer or consumer of a node."""
        if result is None or node is None:
            return "Select an operation first", None
        nodes = result.structure.nodes
        others = (result.neighbours.producers if producers else result.neighbours.consumers)[node]
        word, number = "producer" if producers else "consumer", nodes[node].operation
        if not others:
            return f"Operation {number} has no {word}", None
        self._others, self._at = others, 0
        names = ", ".join(str(nodes[other].operation) for other in others[:8])
        return f"{word.capitalize()}s of operation {number}: {names}{' …' if len(others) > 8 else ''}", others[0]

    def follow_next(self, node: int | None) -> tuple[str, int | None]:
        """To another of those among which the node is."""
        if not self._others or node != self._others[self._at]:
            return "Press [ or ] first", None
        self._at = (self._at + 1) % len(self._others)
        return "", self._others[self._at]

    def clear(self) -> None:
        self._others, self._at = (), 0


class Search:
    """The matches of a query, as nodes, and which of them is looked at."""

    def __init__(self) -> None:
        self.query = ""
        self.found: tuple[int, ...] = ()
        self.at = 0

    def find(self, query: str, structure: Structure | None, words: Sequence[NodeWords]) -> None:
        """Look for operations by number, kind, plan and parameters; an exact number comes first."""
        self.query, self.found, self.at = query, (), 0
        if not query or structure is None:
            return
        hits = []
        for node in (structure.nodes[index] for index in structure.in_order()):
            texts = (f"op {node.operation}", node.label, words[node.index].detail, *node.parameters)
            if node.operation is not None and matches(query, *texts):
                hits.append(node.index)
        number = query.lower().removeprefix("op").strip()
        self.found = tuple(sorted(hits, key=lambda index: str(structure.nodes[index].operation) != number))

    @property
    def match(self) -> int | None:
        """The match that is looked at."""
        return self.found[self.at] if self.found else None

    def turn(self, by: int) -> None:
        """Look at another match."""
        if self.found:
            self.at = (self.at + by) % len(self.found)

    @property
    def count_text(self) -> str:
        """``2 of 7``."""
        if not self.query:
            return ""
        return f"{self.at + 1} of {len(self.found):,}" if self.found else "none"
