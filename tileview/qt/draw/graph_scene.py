"""The drawing of a graph: boxes, bodies, edges and marks, in as much detail as the zoom can show.

One object draws everything. A graphics item a node is too slow at 5,000 nodes; here the boxes in view are found in one
numpy comparison, and boxes of one colour are drawn together when they are small. The same object draws on the screen
and into an SVG.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from itertools import pairwise

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen, QPolygonF

from tileview.graphlayout import NodeKind, Picture, Structure, Way
from tileview.present.graph_style import ColourMode, GraphStyle
from tileview.present.graph_words import NodeWords
from tileview.qt.theme import Theme

_CHUNK = 128
"""Edges that are drawn as one path when zoomed out."""


class Detail(IntEnum):
    """What a zoom can show: coloured blocks, numbers, titles and shares, everything."""

    BLOCKS = 0
    NUMBERS = 1
    TITLES = 2
    ALL = 3


def detail_at(scale: float) -> Detail:
    """The detail for a zoom: text is drawn only where it is large enough to be read."""
    if scale >= 0.72:
        return Detail.ALL
    if scale >= 0.42:
        return Detail.TITLES
    return Detail.NUMBERS if scale >= 0.22 else Detail.BLOCKS


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
    producers: frozenset[int] = frozenset()
    consumers: frozenset[int] = frozenset()


@dataclass(slots=True)
class _Pens:
    """Pens and fonts of one theme, made once."""

    theme: Theme
    font: QFont
    bold: QFont = field(init=False)
    edge: QPen = field(init=False)
    upwards: QPen = field(init=False)
    straight: QPen = field(init=False)

    def __post_init__(self) -> None:
        self.bold = QFont(self.font)
        self.bold.setBold(True)
        self.edge = QPen(self.theme.color("baseline"), 1.3)
        self.upwards = QPen(self.theme.color("over"), 1.8, Qt.PenStyle.DashLine)
        self.straight = QPen(self.theme.color("baseline", 150), 1.0, Qt.PenStyle.DotLine)


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
        self._paths: dict[int, QPainterPath] = {}
        self._chunks: list[tuple[QRectF, QPainterPath]] | None = None
        self._edge_boxes = _edge_boxes(picture)
        self._from = _by_end(picture.edges[:, 0])
        self._to = _by_end(picture.edges[:, 1])
        self.set_theme(theme, font)

    def set_theme(self, theme: Theme, font: QFont) -> None:
        self.theme = theme
        self._pens = _Pens(theme, font)

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

    def header(self, node: int) -> QRectF | None:
        """The part of a Repeat that toggles it: the title of an expanded one, the sign of a collapsed one."""
        place = self.place.get(node)
        if place is None or self.structure.nodes[node].kind is not NodeKind.REPEAT:
            return None
        rect = self._rects[place]
        if bool(self.picture.expanded[place]):
            return QRectF(rect.left(), rect.top(), rect.width(), self.header_height())
        return QRectF(rect.left(), rect.top(), self.header_height(), rect.height())

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
        self._paint_bodies(painter, places[is_open], area, scale, detail)
        self._paint_edges(painter, area, detail, marks)
        self._paint_marked_edges(painter, scale, marks)
        closed = places[~is_open]
        if detail is Detail.BLOCKS:
            self._paint_blocks(painter, closed, marks)
        else:
            for place in closed.tolist():
                self._paint_node(painter, place, scale, detail, marks)
        self._paint_outlines(painter, scale, marks)

    def _paint_bodies(self, painter: QPainter, places: np.ndarray, area: QRectF, scale: float, detail: Detail) -> None:
        for place in places.tolist():
            node = int(self.picture.nodes[place])
            rect = self._rects[place]
            depth = self.structure.regions[self.structure.nodes[node].region].depth
            painter.setPen(QPen(self.theme.color("border"), max(1.4, 1.0 / scale)))
            painter.setBrush(self.theme.color("surface" if depth % 2 == 0 else "background"))
            painter.drawRoundedRect(rect, 6, 6)
            head = QRectF(rect.left(), rect.top(), rect.width(), self.header_height())
            painter.fillRect(head.adjusted(1, 1, -1, 0), self.theme.color("raised"))
            if detail is Detail.BLOCKS:
                continue
            ink = self.theme.color("text")
            # The title stays in view while its box reaches beyond the sides.
            head = head.intersected(QRectF(area.left(), head.top(), area.width(), head.height()))
            self._paint_toggle(painter, head, True, ink)
            size = _text_size(self._pens.bold, scale, head.height() - 4)
            font = _sized(self._pens.bold, size)
            words = self.words[node]
            inner = head.adjusted(self.header_height() - 2, 0, -8, 0)
            right = self.style.share_texts[node]
            self._two_texts(painter, inner, font, words.title, right, ink, ink)

    # -- edges ----------------------------------------------------------------------------------------------------

    def _paint_edges(self, painter: QPainter, area: QRectF, detail: Detail, marks: Highlight) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if detail is Detail.BLOCKS:
            pen = QPen(self.theme.color("baseline", 120), 0)
            painter.setPen(pen)
            for box, path in self._edge_chunks():
                if box.intersects(area):
                    painter.drawPath(path)
            return
        boxes = self._edge_boxes
        seen = np.flatnonzero(
            (boxes[:, 0] < area.right())
            & (boxes[:, 2] > area.left())
            & (boxes[:, 1] < area.bottom())
            & (boxes[:, 3] > area.top())
        )
        heads: list[QPolygonF] = []
        for edge in seen.tolist():
            way = int(self.picture.ways[edge])
            pen = self._pens.upwards if way & (Way.UPWARDS | Way.LOOP | Way.BOTH) else self._pens.edge
            painter.setPen(self._pens.straight if way & Way.STRAIGHT else pen)
            painter.drawPath(self._path(edge))
            if detail >= Detail.TITLES:
                heads.extend(self._heads(edge, 4.5))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.theme.color("baseline"))
        for head in heads:
            painter.drawPolygon(head)

    def _paint_marked_edges(self, painter: QPainter, scale: float, marks: Highlight) -> None:
        """The edges of the selected node: what it reads solid, what reads it dashed, both stronger than the others."""
        node = marks.selected if marks.selected in self.place else marks.holder
        if node is None or node not in self.place:
            return
        width = max(2.2, 1.6 / scale)
        solid = QPen(self.theme.color("accent"), width)
        dashed = QPen(self.theme.color("accent"), width, Qt.PenStyle.CustomDashLine)
        dashed.setDashPattern([3.0, 2.0])
        for pen, edges in ((solid, self._to.get(node, ())), (dashed, self._from.get(node, ()))):
            for edge in edges:
                painter.setPen(pen)
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawPath(self._path(edge))
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(self.theme.color("accent"))
                for head in self._heads(edge, max(5.5, 3.5 / scale)):
                    painter.drawPolygon(head)

    def _points(self, edge: int) -> list[QPointF]:
        start, stop = int(self.picture.offsets[edge]), int(self.picture.offsets[edge + 1])
        return [QPointF(x, y) for x, y in self.picture.points[start:stop].tolist()]

    def _path(self, edge: int) -> QPainterPath:
        path = self._paths.get(edge)
        if path is None:
            plain = int(self.picture.ways[edge]) & (Way.LOOP | Way.STRAIGHT)
            path = _broken(self._points(edge)) if plain else _smooth(self._points(edge))
            if len(self._paths) > 4_000:
                self._paths.clear()
            self._paths[edge] = path
        return path

    def _heads(self, edge: int, size: float) -> list[QPolygonF]:
        points = self._points(edge)
        way = int(self.picture.ways[edge])
        level = way & (Way.LOOP | Way.STRAIGHT)
        heads = [_arrow(points[-2] if level else None, points[-1], size, points[-1].y() >= points[-2].y())]
        if way & Way.BOTH:
            heads.append(_arrow(points[1] if level else None, points[0], size, points[0].y() >= points[1].y()))
        return heads

    def _edge_chunks(self) -> list[tuple[QRectF, QPainterPath]]:
        """All edges as straight lines, in groups that can be left out together."""
        if self._chunks is None:
            self._chunks = []
            order = np.argsort(self._edge_boxes[:, 1], kind="stable").tolist()
            for start in range(0, len(order), _CHUNK):
                path = QPainterPath()
                for edge in order[start : start + _CHUNK]:
                    path.addPath(_broken(self._points(edge)))
                self._chunks.append((path.controlPointRect().adjusted(-1, -1, 1, 1), path))
        return self._chunks

    # -- boxes ----------------------------------------------------------------------------------------------------

    def fill(self, node: int) -> QColor:
        """The colour of a box."""
        shade = int(self.style.shade[node])
        if shade < 0:
            return self.theme.color("background" if self.structure.nodes[node].is_port else "raised")
        red, green, blue = self.style.shades[shade].tolist()
        return QColor(red, green, blue)

    def ink(self, node: int) -> QColor:
        """The colour of text on a box."""
        shade = int(self.style.shade[node])
        if shade < 0:
            return self.theme.color("text")
        red, green, blue = self.style.inks[shade].tolist()
        return QColor(red, green, blue)

    def _paint_blocks(self, painter: QPainter, places: np.ndarray, marks: Highlight) -> None:
        nodes = self.picture.nodes[places]
        shades = self.style.shade[nodes]
        for shade in np.unique(shades).tolist():
            group = places[shades == shade].tolist()
            color = self.fill(int(self.picture.nodes[group[0]]))
            border = self.theme.color("border") if shade < 0 else color.darker(130)
            painter.setPen(QPen(border, 0))
            painter.setBrush(color)
            if marks.found is None:
                painter.drawRects([self._rects[place] for place in group])
                continue
            for bright in (False, True):
                some = [p for p in group if (int(self.picture.nodes[p]) in marks.found) is bright]
                painter.setOpacity(1.0 if bright else 0.25)
                painter.drawRects([self._rects[place] for place in some])
            painter.setOpacity(1.0)

    def _paint_node(self, painter: QPainter, place: int, scale: float, detail: Detail, marks: Highlight) -> None:
        node = int(self.picture.nodes[place])
        rect = self._rects[place]
        entry = self.structure.nodes[node]
        words = self.words[node]
        is_dim = marks.found is not None and node not in marks.found
        painter.setOpacity(0.35 if is_dim else 1.0)
        pen = QPen(self.theme.color("muted"), 1.0)
        if words.is_unknown:
            pen = QPen(self.theme.color("warning"), 2.2, Qt.PenStyle.DashLine)
        painter.setPen(pen)
        painter.setBrush(self.fill(node))
        radius = rect.height() / 2 if entry.is_port else 5.0
        painter.drawRoundedRect(rect, radius, radius)
        if entry.kind is NodeKind.REPEAT:
            painter.drawRoundedRect(rect.adjusted(3, 3, -3, -3), 3, 3)
        ink = self.ink(node)
        if self.style.share_texts[node][:1] in ("≥", "n"):
            self._hatch(painter, rect)
        if entry.is_port:
            self._paint_port(painter, rect, words, scale, detail)
        else:
            self._paint_words(painter, rect, node, ink, scale, detail)
        if entry.missing:
            self._paint_warning(painter, rect)
        if node == self.style.running and self.style.mode is ColourMode.STEP:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(ink)
            painter.drawRect(QRectF(rect.left() + 3, rect.top() + 5, 3, rect.height() - 10))
        painter.setOpacity(1.0)

    def _hatch(self, painter: QPainter, rect: QRectF) -> None:
        """Lines over the lower edge of a box whose size is not known in full."""
        band = QRectF(rect.left() + 2, rect.bottom() - 8, rect.width() - 4, 6)
        painter.fillRect(band, self.theme.color("background"))
        painter.fillRect(band, QBrush(self.theme.color("unavailable"), Qt.BrushStyle.BDiagPattern))

    def _paint_port(self, painter: QPainter, rect: QRectF, words: NodeWords, scale: float, detail: Detail) -> None:
        if detail < Detail.TITLES:
            return
        font = _sized(self._pens.font, _text_size(self._pens.font, scale, rect.height() - 3) * 0.94)
        self._elided(painter, rect.adjusted(8, 0, -8, 0), font, words.title, self.theme.color("text"), True)

    def _paint_words(
        self, painter: QPainter, rect: QRectF, node: int, ink: QColor, scale: float, detail: Detail
    ) -> None:
        entry = self.structure.nodes[node]
        words, share = self.words[node], self.style.share_texts[node]
        inner = rect.adjusted(8, 2, -8, -2)
        if entry.kind is NodeKind.REPEAT:
            strip = QRectF(rect.left(), rect.top(), self.header_height(), rect.height())
            self._paint_toggle(painter, strip, False, ink)
            inner.setLeft(strip.right() - 2)
        if node == self.style.running:
            inner.setLeft(self._paint_running(painter, inner, ink, scale))
        if detail is Detail.NUMBERS:
            size = _text_size(self._pens.bold, scale, inner.height())
            self._elided(painter, inner, _sized(self._pens.bold, size), str(entry.operation), ink, True)
            return
        upper = QRectF(inner.left(), inner.top(), inner.width(), inner.height() / 2)
        lower = upper.translated(0, upper.height())
        bold = _sized(self._pens.bold, _text_size(self._pens.bold, scale, upper.height()))
        plain = _sized(self._pens.font, _text_size(self._pens.font, scale, upper.height()))
        if detail is Detail.TITLES:
            self._elided(painter, upper, bold, words.title, ink, False)
            self._elided(painter, lower, plain, share, ink, False)
            return
        self._two_texts(painter, upper, bold, words.title, share, ink, ink)
        count = len(set(entry.parameters))
        reads = "" if not count else "1 param" if count == 1 else f"{count} params"
        self._two_texts(painter, lower, plain, words.detail, reads, ink, ink)

    def _paint_running(self, painter: QPainter, inner: QRectF, ink: QColor, scale: float) -> float:
        """A triangle before the title of the step's operation; returns where the title begins."""
        size = min(inner.height() / 2 - 4, max(8.0, 7.0 / scale))
        left, middle = inner.left(), inner.top() + inner.height() / 4
        shape = [QPointF(left, middle - size / 2), QPointF(left + size, middle), QPointF(left, middle + size / 2)]
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ink)
        painter.drawPolygon(QPolygonF(shape))
        return left + size + 4

    def _paint_toggle(self, painter: QPainter, area: QRectF, is_open: bool, ink: QColor) -> None:
        """Plus or minus in a square: collapsed or expanded."""
        side = 11.0
        box = QRectF(0, 0, side, side)
        box.moveCenter(QPointF(area.left() + self.header_height() / 2, area.center().y()))
        painter.setPen(QPen(ink, 1.3))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(box)
        middle = box.center()
        lines = [QLineF(box.left() + 2.5, middle.y(), box.right() - 2.5, middle.y())]
        if not is_open:
            lines.append(QLineF(middle.x(), box.top() + 2.5, middle.x(), box.bottom() - 2.5))
        painter.drawLines(lines)

    def _paint_warning(self, painter: QPainter, rect: QRectF) -> None:
        """A triangle in the corner: something here was wrong in the file."""
        corner = rect.topRight()
        shape = [QPointF(corner.x() - 14, corner.y() + 1), QPointF(corner.x() - 1, corner.y() + 1)]
        shape.append(QPointF(corner.x() - 1, corner.y() + 14))
        painter.setPen(QPen(self.theme.color("background"), 1))
        painter.setBrush(self.theme.color("over"))
        painter.drawPolygon(QPolygonF(shape))

    # -- text -----------------------------------------------------------------------------------------------------

    def _elided(
        self, painter: QPainter, area: QRectF, font: QFont, text: str, ink: QColor, centred: bool, right: bool = False
    ) -> None:
        painter.setFont(font)
        painter.setPen(ink)
        metrics = QFontMetricsF(font)
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, area.width())
        side = Qt.AlignmentFlag.AlignHCenter if centred else Qt.AlignmentFlag.AlignLeft
        side = Qt.AlignmentFlag.AlignRight if right else side
        painter.drawText(area, int(side | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine), shown)

    def _two_texts(
        self, painter: QPainter, area: QRectF, font: QFont, left: str, right: str, ink: QColor, side: QColor
    ) -> None:
        """A text at the left, shortened to what the text at the right leaves."""
        used = QFontMetricsF(font).horizontalAdvance(right) + 8 if right else 0.0
        if right:
            self._elided(painter, area, font, right, side, False, True)
        self._elided(painter, area.adjusted(0, 0, -used, 0), font, left, ink, False)

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


def _edge_boxes(picture: Picture) -> np.ndarray:
    """(m, 4): left, top, right, lower border of each edge, a little widened."""
    if not len(picture.edges):
        return np.zeros((0, 4))
    starts = picture.offsets[:-1]
    low = np.minimum.reduceat(picture.points, starts, axis=0) - 8
    high = np.maximum.reduceat(picture.points, starts, axis=0) + 8
    return np.concatenate([low, high], axis=1)


def _by_end(ends: np.ndarray) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for edge, node in enumerate(ends.tolist()):
        found.setdefault(node, []).append(edge)
    return found


def _smooth(points: list[QPointF]) -> QPainterPath:
    path = QPainterPath(points[0])
    for before, after in pairwise(points):
        if abs(before.x() - after.x()) < 0.5:
            path.lineTo(after)
        else:
            middle = (before.y() + after.y()) / 2
            path.cubicTo(QPointF(before.x(), middle), QPointF(after.x(), middle), after)
    return path


def _broken(points: list[QPointF]) -> QPainterPath:
    path = QPainterPath(points[0])
    for point in points[1:]:
        path.lineTo(point)
    return path


def _arrow(before: QPointF | None, tip: QPointF, size: float, is_down: bool) -> QPolygonF:
    """A triangle at ``tip``, along the line from ``before``, or vertical where the edge ends so."""
    if before is None:
        dx, dy = 0.0, 1.0 if is_down else -1.0
    else:
        line = QLineF(before, tip)
        length = line.length() or 1.0
        dx, dy = line.dx() / length, line.dy() / length
    back = QPointF(tip.x() - dx * size * 1.7, tip.y() - dy * size * 1.7)
    across = QPointF(-dy * size * 0.8, dx * size * 0.8)
    return QPolygonF([tip, back + across, back - across])


def _text_size(font: QFont, scale: float, room: float) -> float:
    """Pixels in picture units: the font's own size, larger when zoomed out so that it stays readable, never above the
    room.
    """
    own = QFontMetricsF(font).height()
    wanted = own if scale >= 0.9 else own * 0.9 / scale
    return min(wanted, room)


def _sized(font: QFont, height: float) -> QFont:
    """A font whose lines are ``height`` high."""
    sized = QFont(font)
    metrics = QFontMetricsF(font)
    pixels = font.pixelSize() if font.pixelSize() > 0 else metrics.height() * 0.84
    sized.setPixelSize(max(1, int(pixels * height / metrics.height())))
    return sized
