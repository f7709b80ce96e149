"""The drawing of a graph: boxes, bodies, edges and marks, in as much detail as the zoom can show.

One object draws everything. A graphics item a node is too slow at 5,000 nodes; here the boxes in view are found in one
numpy comparison, and boxes of one colour are drawn together when they are small. The same object draws on the screen
and into an SVG.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QPainter, QPen

from tileview.graphlayout import GraphPicture, NodeKind, Structure
from tileview.present.graph_style import ColourMode, GraphStyle
from tileview.present.graph_words import NodeWords
from tileview.qt.base.theme import Theme
from tileview.qt.views.graph.boxes import BoxLayer, Look
from tileview.qt.views.graph.edges import EdgeLayer
from tileview.qt.views.graph.pens import Detail, Pens, detail_at, draw_toggle

_MARGIN = 16.0
"""Around a whole graph in an exported picture."""
_MANY = 200
"""Matches of a search in view above which their outlines are thin."""


@dataclass(frozen=True, slots=True)
class Highlight:
    """What is marked besides the colours; nodes as indices into the structure.

    ``holder`` is the collapsed Repeat that holds the selected operation. ``found`` are the matches of a search, None
    while none is made: then nothing is dimmed.
    """

    selected: int | None = None
    holder: int | None = None
    hovered: int | None = None
    found: frozenset[int] | None = None


class GraphScene:
    """A picture with its words and its style, ready to be drawn."""

    def __init__(
        self,
        structure: Structure,
        picture: GraphPicture,
        words: tuple[NodeWords, ...],
        style: GraphStyle,
        theme: Theme,
        font: QFont,
    ) -> None:
        self.structure = structure
        self.picture = picture
        self.place = picture.place_of()
        self.look = Look(words, style, Pens(theme, font))
        self._left, self._top = picture.rects[:, 0], picture.rects[:, 1]
        self._right = self._left + picture.rects[:, 2]
        self._bottom = self._top + picture.rects[:, 3]
        self.edges = EdgeLayer(picture)
        self._boxes = BoxLayer(structure, picture)

    @property
    def words(self) -> tuple[NodeWords, ...]:
        return self.look.words

    @property
    def style(self) -> GraphStyle:
        return self.look.style

    @property
    def theme(self) -> Theme:
        return self.look.pens.theme

    def set_theme(self, theme: Theme, font: QFont) -> None:
        self.look = replace(self.look, pens=Pens(theme, font))

    def set_style(self, style: GraphStyle, words: tuple[NodeWords, ...] | None = None) -> None:
        """Other figures and colours, and other words where some are given."""
        self.look = replace(self.look, style=style, words=self.look.words if words is None else words)

    @property
    def bounds(self) -> QRectF:
        return QRectF(0, 0, self.picture.width, self.picture.height)

    # -- finding --------------------------------------------------------------------------------------------------

    def rect(self, node: int) -> QRectF | None:
        """Where a node stands; None where it is not shown."""
        place = self.place.get(node)
        return None if place is None else self._boxes.rect(place)

    def node_at(self, point: QPointF) -> int | None:
        """The innermost box under a point."""
        x, y = point.x(), point.y()
        hits = np.flatnonzero((self._left <= x) & (x < self._right) & (self._top <= y) & (y < self._bottom))
        return int(self.picture.nodes[hits[-1]]) if len(hits) else None

    def header(self, node: int, area: QRectF | None = None) -> QRectF | None:
        """The part of a Repeat that toggles it: the title of an expanded one, the sign of a collapsed one.

        A title stays inside ``area`` (what is in view) as long as its box is partly there, below the titles of the
        boxes around it, so that one can see and close the body one is in.
        """
        place = self.place.get(node)
        if place is None or self.structure.nodes[node].kind is not NodeKind.REPEAT:
            return None
        rect, height = self._boxes.rect(place), self.header_height()
        if not bool(self.picture.expanded[place]):
            return QRectF(rect.left(), rect.top(), height, rect.height())
        top, left, right = rect.top(), rect.left(), rect.right()
        if area is not None:
            depth = self.structure.regions[self.structure.nodes[node].region].depth
            top = min(max(top, area.top() + depth * height), rect.bottom() - height)
            left, right = max(left, area.left()), min(right, area.right())
        return QRectF(left, top, max(0.0, right - left), height)

    def title_at(self, point: QPointF, area: QRectF) -> int | None:
        """The expanded Repeat whose title is under a point; the innermost where titles lie over one another."""
        found = None
        places = self.in_view(area)
        for place in places[self.picture.expanded[places]].tolist():
            node = int(self.picture.nodes[place])
            head = self.header(node, area)
            if head is not None and head.contains(point):
                found = node
        return found

    def header_height(self) -> float:
        return self.look.pens.lettering.height(bold=True) + 10

    def in_view(self, area: QRectF) -> np.ndarray:
        """Places (rows of the picture) of the boxes that touch an area, parents first."""
        return np.flatnonzero(
            (self._left < area.right())
            & (self._right > area.left())
            & (self._top < area.bottom())
            & (self._bottom > area.top())
        )

    # -- drawing --------------------------------------------------------------------------------------------------

    def paint(self, painter: QPainter, area: QRectF, scale: float, marks: Highlight) -> None:
        """Draw what lies in ``area`` (picture coordinates) through a painter that already has the transform.

        ``scale`` is screen pixels a unit; it decides the detail.
        """
        self.paint_ground(painter, area, scale, marks)
        self.paint_over(painter, area, scale, marks)

    def paint_ground(self, painter: QPainter, area: QRectF, scale: float, marks: Highlight) -> None:
        """Bodies, edges and boxes: what an area holds looks the same in whatever larger area it is drawn."""
        detail = detail_at(scale)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, detail > Detail.BLOCKS)
        painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
        places = self.in_view(area)
        is_open = self.picture.expanded[places]
        self._paint_bodies(painter, places[is_open], scale)
        self.edges.paint(painter, area, scale, detail, self.look.pens)
        node = marks.selected if marks.selected in self.place else marks.holder
        if node is not None:
            self.edges.paint_marked(painter, area, scale, node, detail, self.look.pens)
        self._boxes.paint(painter, places[~is_open], scale, detail, self.look, marks.found, self.header_height())

    def paint_over(self, painter: QPainter, area: QRectF, scale: float, marks: Highlight) -> None:
        """What depends on the view or changes with the pointer: titles that stay in view, outlines of marked boxes."""
        places = self.in_view(area)
        self._paint_titles(painter, places[self.picture.expanded[places]], area, scale, detail_at(scale))
        self._paint_outlines(painter, area, scale, marks)

    def _paint_bodies(self, painter: QPainter, places: np.ndarray, scale: float) -> None:
        for place in places.tolist():
            node = int(self.picture.nodes[place])
            rect = self._boxes.rect(place)
            depth = self.structure.regions[self.structure.nodes[node].region].depth
            painter.setPen(QPen(self.theme.color("border"), max(1.4, 1.0 / scale)))
            painter.setBrush(self.theme.color("surface" if depth % 2 == 0 else "background"))
            painter.drawRoundedRect(rect, 6, 6)

    def _paint_titles(self, painter: QPainter, places: np.ndarray, area: QRectF, scale: float, detail: Detail) -> None:
        """The titles of expanded Repeats, above all boxes, as they may lie over what scrolls beneath them."""
        for place in places.tolist():
            node = int(self.picture.nodes[place])
            head = self.header(node, area)
            if head is None or head.isEmpty():
                continue
            painter.setPen(QPen(self.theme.color("border"), 1))
            painter.setBrush(self.theme.color("raised"))
            painter.drawRoundedRect(head, 4, 4)
            if detail is Detail.BLOCKS:
                continue
            ink = self.theme.color("text")
            draw_toggle(painter, head, self.header_height(), True, ink)
            letters = self.look.pens.lettering.letters(True, scale, head.height() - 4)
            inner = head.adjusted(self.header_height() - 2, 0, -8, 0)
            joint = " + " if self.style.mode is ColourMode.SHARE else ", "
            share = joint.join(filter(None, (self.style.share_text(node), self.style.read_text(node))))
            over = self.style.over_text(node)
            figures = [f"{over} · {share}", over, ""] if over else [share, self.style.share_text(node), ""]
            room = inner.width() - letters.metrics.horizontalAdvance(self.words[node].title) - 8
            share = next(text for text in figures if not text or letters.metrics.horizontalAdvance(text) <= room)
            painter.setFont(letters.font)
            painter.setPen(ink)
            letters.write_two(painter, inner, self.words[node].title, share)

    def bar(self, node: int, detail: Detail) -> tuple[QRectF, QRectF]:
        """The parts of a box's bar for what is made and what is read; empty where it has none."""
        place = self.place.get(node)
        return (QRectF(), QRectF()) if place is None else self._boxes.bar(place, detail, self.style)

    # -- marks ----------------------------------------------------------------------------------------------------

    def _paint_outlines(self, painter: QPainter, area: QRectF, scale: float, marks: Highlight) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if marks.found:
            self._outline_found(painter, area, scale, marks.found)
        if marks.hovered is not None:
            self._outline(painter, marks.hovered, 2.0, QPen(self.theme.color("accent"), max(2.0, 1.5 / scale)))
        if marks.holder is not None and marks.holder != marks.selected:
            pen = QPen(self.theme.color("mark"), max(2.5, 2.0 / scale), Qt.PenStyle.DashLine)
            self._outline(painter, marks.holder, 5.0, pen)
        if marks.selected is not None:
            # A band of background between box and outline: seen on any fill, and without colour.
            width = max(3.5, 2.5 / scale)
            self._outline(painter, marks.selected, width * 0.6, QPen(self.theme.color("background"), width))
            self._outline(painter, marks.selected, width * 1.5, QPen(self.theme.color("mark"), width))
            if marks.selected in self.place:
                self.edges.paint_marked_heads(painter, area, scale, marks.selected, self.look.pens)

    def _outline_found(self, painter: QPainter, area: QRectF, scale: float, found: frozenset[int]) -> None:
        """The matches of a search in view; where they are many, thin and all at once."""
        places = self.in_view(area.adjusted(-8, -8, 8, 8))
        nodes = self.picture.nodes[places]
        nodes, places = nodes[np.isin(nodes, list(found))], places[np.isin(nodes, list(found))]
        color = self.theme.color("warning")
        if len(nodes) <= _MANY:
            for node in nodes.tolist():
                self._outline(painter, node, 3.0, QPen(color, max(2.0, 1.5 / scale)))
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(QPen(color, 0))
        painter.drawRects([self._boxes.rect(place).adjusted(-3, -3, 3, 3) for place in places.tolist()])
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)

    def _outline(self, painter: QPainter, node: int, out: float, pen: QPen) -> None:
        rect = self.rect(node)
        if rect is not None:
            painter.setPen(pen)
            painter.drawRoundedRect(rect.adjusted(-out, -out, out, out), 6 + out / 2, 6 + out / 2)


class WholeGraph:
    """All of a graph at full detail, whatever part of it is in view, as a part of an exported picture.

    It draws with a scene of its own, so that it can be drawn on another thread than the one in view.
    """

    def __init__(self, scene: GraphScene, marks: Highlight, font: QFont) -> None:
        self._scene = GraphScene(scene.structure, scene.picture, scene.words, scene.style, scene.theme, font)
        self._marks = Highlight(marks.selected, marks.holder)
        self._bounds = scene.bounds.adjusted(-_MARGIN, -_MARGIN, _MARGIN, _MARGIN)

    def width(self) -> int:
        return ceil(self._bounds.width())

    def height(self) -> int:
        return ceil(self._bounds.height())

    def draw(self, painter: QPainter) -> None:
        painter.fillRect(0, 0, self.width(), self.height(), self._scene.theme.color("background"))
        painter.translate(-self._bounds.topLeft())
        self._scene.paint(painter, self._bounds, 1.0, self._marks)
