"""The drawing of a graph: boxes, bodies, edges and marks, in as much detail as the zoom can show.

One object draws everything. A graphics item a node is too slow at 5,000 nodes; here the boxes in view are found in one
numpy comparison, and boxes of one colour are drawn together when they are small. The same object draws on the screen
and into an SVG.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter, QPen, QPolygonF

from tileview.graphlayout import NodeKind, Picture, Structure
from tileview.present.graph_figures import STATE_SHORT, StepState
from tileview.present.graph_style import ColourMode, GraphStyle
from tileview.present.graph_words import NodeWords
from tileview.qt.draw.graph_edges import EdgeLayer
from tileview.qt.draw.graph_shapes import (
    Detail,
    Pens,
    bar_area,
    detail_at,
    draw_stripes,
    draw_toggle,
    draw_warning,
    elided,
    sized,
    text_size,
    two_texts,
)
from tileview.qt.theme import Theme


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
        picture: Picture,
        words: tuple[NodeWords, ...],
        style: GraphStyle,
        theme: Theme,
        font: QFont,
    ) -> None:
        self.structure = structure
        self.picture = picture
        self.words = words
        self.style = style
        self.place = picture.place_of()
        self._left, self._top = picture.rects[:, 0], picture.rects[:, 1]
        self._right = self._left + picture.rects[:, 2]
        self._bottom = self._top + picture.rects[:, 3]
        self._rects = [QRectF(*rect) for rect in picture.rects.tolist()]
        self.edges = EdgeLayer(picture)
        self._kept_blocks: tuple[GraphStyle | None, list[QRectF]] = (None, [])
        self.set_theme(theme, font)

    def set_theme(self, theme: Theme, font: QFont) -> None:
        self.theme = theme
        self._pens = Pens(theme, font)

    @property
    def bounds(self) -> QRectF:
        return QRectF(0, 0, self.picture.width, self.picture.height)

    # -- finding --------------------------------------------------------------------------------------------------

    def rect(self, node: int) -> QRectF | None:
        """Where a node stands; None where it is not shown."""
        place = self.place.get(node)
        return None if place is None else self._rects[place]

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
        rect, height = self._rects[place], self.header_height()
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
        for place in self.in_view(area)[self.picture.expanded[self.in_view(area)]].tolist():
            node = int(self.picture.nodes[place])
            head = self.header(node, area)
            if head is not None and head.contains(point):
                found = node
        return found

    def header_height(self) -> float:
        return QFontMetricsF(self._pens.bold).height() + 10

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
        detail = detail_at(scale)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, detail > Detail.BLOCKS)
        painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
        places = self.in_view(area)
        is_open = self.picture.expanded[places]
        self._paint_bodies(painter, places[is_open], scale)
        self.edges.paint(painter, area, scale, detail, self._pens)
        node = marks.selected if marks.selected in self.place else marks.holder
        if node is not None:
            self.edges.paint_marked(painter, scale, node, self._pens)
        closed = places[~is_open]
        if detail is Detail.BLOCKS:
            self._paint_blocks(painter, closed, marks)
        else:
            for place in closed.tolist():
                self._paint_node(painter, place, scale, detail, marks)
        self._paint_titles(painter, places[is_open], area, scale, detail)
        self._paint_outlines(painter, scale, marks)

    def _paint_bodies(self, painter: QPainter, places: np.ndarray, scale: float) -> None:
        for place in places.tolist():
            node = int(self.picture.nodes[place])
            rect = self._rects[place]
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
            font = sized(self._pens.bold, text_size(self._pens.bold, scale, head.height() - 4))
            inner = head.adjusted(self.header_height() - 2, 0, -8, 0)
            share = " + ".join(filter(None, (self.style.share_text(node), self.style.read_text(node))))
            two_texts(painter, inner, font, self.words[node].title, share, ink, ink)

    # -- boxes ----------------------------------------------------------------------------------------------------

    def shade(self, node: int) -> QColor | None:
        """The colour of a node's share or state; None where it has none."""
        shade = int(self.style.shade[node])
        return None if shade < 0 else QColor(*self.style.shades[shade].tolist())

    def fill(self, node: int) -> QColor:
        """The colour of a box: its state's, else neutral (a share colours its bar)."""
        shade = self.shade(node) if self.style.mode is ColourMode.STEP else None
        if shade is not None:
            return shade
        return self.theme.color("background" if self.structure.nodes[node].is_port else "raised")

    def ink(self, node: int) -> QColor:
        """The colour of text on a box."""
        if self.style.mode is ColourMode.STEP and int(self.style.shade[node]) >= 0:
            return QColor(*self.style.inks[int(self.style.shade[node])].tolist())
        return self.theme.color("text")

    def bar(self, node: int, detail: Detail) -> tuple[QRectF, QRectF]:
        """The plain and the striped part of a box's bar; empty where it has none."""
        rect = self.rect(node)
        if rect is None or not len(self.style.bars):
            return QRectF(), QRectF()
        area = bar_area(rect, detail)
        plain, whole = (float(part) * area.width() for part in self.style.bars[node])
        return (
            QRectF(area.left(), area.top(), plain, area.height()),
            QRectF(area.left() + plain, area.top(), whole - plain, area.height()),
        )

    def _paint_blocks(self, painter: QPainter, places: np.ndarray, marks: Highlight) -> None:
        """Boxes without words, those of one colour together: filled by state, or as far as their share reaches."""
        nodes = self.picture.nodes[places]
        shades = self.style.shade[nodes]
        filled = self.style.mode is ColourMode.STEP
        border = self.theme.color("border")
        for bright in (True,) if marks.found is None else (False, True):
            some = np.ones(len(places), dtype=np.bool_)
            if marks.found is not None:
                some = np.fromiter(((node in marks.found) is bright for node in nodes.tolist()), np.bool_, len(nodes))
                painter.setOpacity(1.0 if bright else 0.25)
            if not filled:
                painter.setPen(QPen(border, 0))
                painter.setBrush(self.theme.color("raised"))
                painter.drawRects([self._rects[place] for place in places[some].tolist()])
            for shade in np.unique(shades[some]).tolist():
                group = nodes[some & (shades == shade)].tolist()
                color = self.shade(group[0]) or self.theme.color("raised")
                if filled:
                    painter.setPen(QPen(border if shade < 0 else color.darker(130), 0))
                    painter.setBrush(color)
                    painter.drawRects([self._rects[self.place[node]] for node in group])
                elif shade >= 0:
                    blocks = self._blocks()
                    painter.setPen(Qt.PenStyle.NoPen)
                    painter.setBrush(color)
                    painter.drawRects([blocks[self.place[node]] for node in group])
        painter.setOpacity(1.0)

    def _blocks(self) -> list[QRectF]:
        """By place: the part of a box that its share fills, where boxes have no words; made once for each style."""
        style, kept = self._kept_blocks
        if style is not self.style:
            rects = self.picture.rects.copy()
            rects[:, 2] *= self.style.bars[self.picture.nodes, 1]
            kept = [QRectF(*rect) for rect in rects.tolist()]
            self._kept_blocks = (self.style, kept)
        return kept

    def _paint_bar(self, painter: QPainter, node: int, detail: Detail) -> None:
        """The share as a bar: plain what the operation holds, striped the parameters and inputs it reads."""
        shade = int(self.style.shade[node])
        if shade < 0 or not len(self.style.bars):
            return
        plain, striped = self.bar(node, detail)
        painter.setPen(QPen(self.theme.color("muted"), 0))
        painter.setBrush(QColor(*self.style.shades[shade].tolist()))
        painter.drawRect(plain.united(striped))
        if detail >= Detail.TITLES:
            draw_stripes(painter, striped, QColor(*self.style.inks[shade].tolist()))

    def _paint_node(self, painter: QPainter, place: int, scale: float, detail: Detail, marks: Highlight) -> None:
        node = int(self.picture.nodes[place])
        rect = self._rects[place]
        entry = self.structure.nodes[node]
        words = self.words[node]
        # What a search passes over steps back to outline and muted text, which can still be read.
        is_dim = marks.found is not None and node not in marks.found
        pen = QPen(self.theme.color("grid" if is_dim else "muted"), 1.0)
        if words.is_unknown:
            pen = QPen(self.theme.color("warning"), 2.2, Qt.PenStyle.DashLine)
        painter.setPen(pen)
        painter.setBrush(self.theme.color("background") if is_dim else self.fill(node))
        radius = rect.height() / 2 if entry.is_port else 5.0
        painter.drawRoundedRect(rect, radius, radius)
        if entry.kind is NodeKind.REPEAT:
            painter.drawRoundedRect(rect.adjusted(3, 3, -3, -3), 3, 3)
        ink = self.theme.color("muted") if is_dim else self.ink(node)
        if not is_dim:
            self._paint_bar(painter, node, detail)
        if self.style.is_partly_unknown(node):
            self._hatch(painter, rect)
        if entry.is_port:
            self._paint_port(painter, rect, words, ink, scale, detail)
        else:
            self._paint_words(painter, rect, node, ink, scale, detail)
        if entry.missing:
            draw_warning(painter, rect, self.theme)
        if node == self.style.running and self.style.mode is ColourMode.STEP:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(ink)
            painter.drawRect(QRectF(rect.left() + 3, rect.top() + 5, 3, rect.height() - 10))

    def _hatch(self, painter: QPainter, rect: QRectF) -> None:
        """Lines over the lower edge of a box whose size is not known in full."""
        band = QRectF(rect.left() + 2, rect.bottom() - 8, rect.width() - 4, 6)
        painter.fillRect(band, self.theme.color("background"))
        painter.fillRect(band, QBrush(self.theme.color("unavailable"), Qt.BrushStyle.BDiagPattern))

    def _paint_port(
        self, painter: QPainter, rect: QRectF, words: NodeWords, ink: QColor, scale: float, detail: Detail
    ) -> None:
        if detail < Detail.TITLES:
            return
        font = sized(self._pens.font, text_size(self._pens.font, scale, rect.height() - 3) * 0.94)
        elided(painter, rect.adjusted(8, 0, -8, 0), font, words.title, ink, True)

    def _paint_words(
        self, painter: QPainter, rect: QRectF, node: int, ink: QColor, scale: float, detail: Detail
    ) -> None:
        entry = self.structure.nodes[node]
        words, share = self.words[node], self.style.share_text(node)
        inner = rect.adjusted(8, 2, -8, -2)
        if self.style.mode is ColourMode.SHARE:
            inner.setBottom(bar_area(rect, detail).top())
        if entry.kind is NodeKind.REPEAT:
            strip = QRectF(rect.left(), rect.top(), self.header_height(), rect.height())
            draw_toggle(painter, strip, self.header_height(), False, ink)
            inner.setLeft(strip.right() - 2)
        if node == self.style.running:
            inner.setLeft(self._paint_running(painter, inner, ink, scale, detail))
        if detail is Detail.NUMBERS:
            size = text_size(self._pens.bold, scale, inner.height())
            elided(painter, inner, sized(self._pens.bold, size), str(entry.operation), ink, True)
            return
        if detail is Detail.TITLES:
            bold = sized(self._pens.bold, text_size(self._pens.bold, scale, inner.height() * 0.72))
            two_texts(painter, inner, bold, words.title, share, ink, ink)
            return
        upper = QRectF(inner.left(), inner.top(), inner.width(), inner.height() / 2)
        lower = upper.translated(0, upper.height())
        bold = sized(self._pens.bold, text_size(self._pens.bold, scale, upper.height()))
        plain = sized(self._pens.font, text_size(self._pens.font, scale, upper.height()))
        two_texts(painter, upper, bold, words.title, share, ink, ink)
        two_texts(painter, lower, plain, words.detail, self._aside(node), ink, ink)

    def _aside(self, node: int) -> str:
        """The lower right text of a box: the parameters it reads, or its state where the colours say that."""
        if self.style.mode is ColourMode.STEP and len(self.style.states):
            return STATE_SHORT[StepState(int(self.style.states[node]))]
        if self.style.read_text(node):
            return self.style.read_text(node)
        count = len(set(self.structure.nodes[node].parameters))
        return "" if not count else "1 param" if count == 1 else f"{count} params"

    def _paint_running(self, painter: QPainter, inner: QRectF, ink: QColor, scale: float, detail: Detail) -> float:
        """A triangle before the title of the step's operation; returns where the title begins."""
        size = min(inner.height() / 2 - 4, max(8.0, 7.0 / scale))
        left, middle = inner.left(), inner.top() + inner.height() / (4 if detail is Detail.ALL else 2)
        shape = [QPointF(left, middle - size / 2), QPointF(left + size, middle), QPointF(left, middle + size / 2)]
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ink)
        painter.drawPolygon(QPolygonF(shape))
        return left + size + 4

    # -- marks ----------------------------------------------------------------------------------------------------

    def _paint_outlines(self, painter: QPainter, scale: float, marks: Highlight) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for node in marks.found or ():
            self._outline(painter, node, 3.0, QPen(self.theme.color("warning"), max(2.0, 1.5 / scale)))
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

    def _outline(self, painter: QPainter, node: int, out: float, pen: QPen) -> None:
        rect = self.rect(node)
        if rect is not None:
            painter.setPen(pen)
            painter.drawRoundedRect(rect.adjusted(-out, -out, out, out), 6 + out / 2, 6 + out / 2)
