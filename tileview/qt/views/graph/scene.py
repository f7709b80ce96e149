"""The drawing of a graph: boxes, bodies, edges and marks, in as much detail as the zoom can show.

One object draws everything. A graphics item a node is too slow at 5,000 nodes; here the boxes in view are found in one
numpy comparison, and boxes of one colour are drawn together when they are small. The same object draws on the screen
and into an SVG.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QByteArray, QDataStream, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPainterPath, QPen

from tileview.graphlayout import (
    GraphPicture,
    NodeKind,
    Stroke,
    Strokes,
    Structure,
    Way,
    bent,
    clip,
    make_strokes,
    snapped_to_grid,
    stubs,
    touching,
)
from tileview.present.graph_boxes import ColourMode, GraphStyle, NodeWords
from tileview.qt.base.theme import Theme
from tileview.qt.views.graph.boxes import BoxLayer, Detail, Look, Pens, detail_at, draw_toggle

Floats = npt.NDArray[np.float64]

_ELEMENT = np.dtype([("kind", ">i4"), ("x", ">f8"), ("y", ">f8")])
"""A point as Qt streams it; kind 0 moves there, kind 1 draws a line there."""


def polylines(points: Floats) -> QPainterPath:
    """A path of several lines (k, s, 2): each goes through its s points, in order.

    Qt reads a path back from the form in which it streams one; numpy makes that form at once, where adding 10,000
    points one by one takes milliseconds at every repaint.
    """
    return joined_polylines([points])


def joined_polylines(groups: list[Floats]) -> QPainterPath:
    """The same of groups of lines, each with a number of points of its own."""
    path = QPainterPath()
    groups = [group for group in groups if group.size]
    if not groups:
        return path
    elements = np.empty(sum(group.shape[0] * group.shape[1] for group in groups), dtype=_ELEMENT)
    elements["kind"] = 1
    start = 0
    for group in groups:
        stop = start + group.shape[0] * group.shape[1]
        part = elements[start:stop]
        part["kind"][:: group.shape[1]] = 0
        part["x"], part["y"] = group[:, :, 0].ravel(), group[:, :, 1].ravel()
        start = stop
    # After the points: where the last line starts, and the fill rule (odd-even).
    last = len(elements) - groups[-1].shape[1]
    data = QByteArray(struct.pack(">i", len(elements)) + elements.tobytes() + struct.pack(">ii", last, 0))
    stream = QDataStream(data)
    stream >> path
    return path


Ints = npt.NDArray[np.int64]
Area = tuple[float, float, float, float]

_STEPS = {Detail.NUMBERS: 6, Detail.TITLES: 10, Detail.ALL: 16}
"""Straight pieces of an S."""
_DENSE = 12_000
"""Lines of a picture above which those seen from afar are drawn as those seen from further away (on the grid of
pixels, where many fall together), and those seen close by are thin."""
_CROWDED = 400
"""Straight long edges, and lines of one operation's edges, above which they are drawn thin and without smoothing: an
operation may read what 5,000 others make.
"""
_STUB, _STUB_MOST = 80.0, 500.0
"""Pixels of a straight long edge that are drawn at each of its ends, and units of the picture at most."""
_HEAD = 4.5
"""Half the width of an arrow head."""


class EdgeLayer:
    """All edges of a picture."""

    def __init__(self, picture: GraphPicture) -> None:
        self.picture = picture
        self._heads = _all_heads(picture)
        self._is_dense = len(picture.strokes) > _DENSE
        self._straight = picture.strokes.of(Stroke.STRAIGHT).lines
        self._bound = picture.strokes.take(picture.strokes.kinds != Stroke.STRAIGHT)
        self._is_crowded = len(self._straight) > _CROWDED
        self._marked: tuple[int, tuple[_Bunch, _Bunch]] | None = None

    def targets(self, node: int) -> list[int]:
        """The nodes that edges lead to from a node."""
        found: list[int] = self.picture.edges[self.picture.edges[:, 0] == node, 1].tolist()
        return found

    def sources(self, node: int) -> list[int]:
        """The nodes that edges come from into a node."""
        found: list[int] = self.picture.edges[self.picture.edges[:, 1] == node, 0].tolist()
        return found

    def paint(self, painter: QPainter, area: QRectF, scale: float, detail: Detail, pens: Pens) -> None:
        """Draw the edges in an area, in as much detail as the zoom can show."""
        seen = _widened(area, 8.0 + 2.0 / scale)
        strokes = self._bound.within(seen)
        is_far = detail is Detail.BLOCKS or (detail is Detail.NUMBERS and self._is_dense)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        self._smooth(painter, not is_far and not self._is_crowded)
        painter.setPen(pens.straight)
        # Led straight, thousands would cross the view and hide it: what is drawn says where each begins and ends.
        ends = stubs(self._straight, min(_STUB / scale, _STUB_MOST))
        ends = ends[touching(ends, seen)]
        painter.drawPath(polylines(clip(snapped_to_grid(ends, 1 / scale) if is_far else ends, seen).reshape(-1, 2, 2)))
        self._smooth(painter, not is_far)
        for kind, pen in ((Stroke.PLAIN, pens.edge), (Stroke.BACK, pens.upwards)):
            part = strokes.of(kind)
            if is_far:
                painter.setPen(QPen(pens.far_back if kind is Stroke.BACK else pens.far, 0))
                painter.drawPath(polylines(clip(snapped_to_grid(part.lines, 1 / scale), seen).reshape(-1, 2, 2)))
            else:
                # Lines of one pixel are drawn as such, broader ones as shapes: in a throng ten times as long.
                is_thin = self._is_dense and kind is Stroke.PLAIN
                painter.setPen(QPen(pen.color(), 0) if is_thin else pen)
                _draw(painter, part, seen, _STEPS[detail], _period(pen))
        self._smooth(painter, detail > Detail.BLOCKS)
        if detail >= Detail.TITLES:
            for is_back, pen in ((False, pens.edge), (True, pens.upwards)):
                self._heads.of(is_back).paint(painter, seen, _HEAD, pen.color())

    def _smooth(self, painter: QPainter, is_smooth: bool) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, is_smooth)

    def paint_marked(
        self, painter: QPainter, area: QRectF, scale: float, node: int, detail: Detail, pens: Pens
    ) -> None:
        """The edges of the selected node: what it reads solid, what reads it dashed, both stronger than the others."""
        accent, width = pens.theme.color("accent"), max(2.2, 1.6 / scale)
        seen = _widened(area, 8.0 + 4 * width)
        for bunch, dashes in zip(self._of(node), ([], [3.0, 2.0]), strict=True):
            is_crowded = len(bunch.strokes) > _CROWDED
            pen = QPen(accent, 0 if is_crowded else width)
            if dashes:
                pen.setDashPattern(dashes)
            painter.setPen(pen)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            period = sum(dashes) * (1 / scale if is_crowded else width)
            self._smooth(painter, detail > Detail.BLOCKS and not is_crowded)
            if is_crowded:
                lines = clip(snapped_to_grid(bunch.strokes.lines, 1 / scale), seen, period)
                painter.drawPath(polylines(lines.reshape(-1, 2, 2)))
            else:
                _draw(painter, bunch.strokes, seen, _STEPS.get(detail, _STEPS[Detail.NUMBERS]), period)
        self._smooth(painter, detail > Detail.BLOCKS)
        self._of(node)[1].heads.paint(painter, seen, max(_HEAD + 1, 3.5 / scale), accent)

    def paint_marked_heads(self, painter: QPainter, area: QRectF, scale: float, node: int, pens: Pens) -> None:
        """The heads of what the selected node reads, to be drawn above its outline."""
        size = max(_HEAD + 2.5, 3.5 / scale)
        self._of(node)[0].heads.paint(painter, _widened(area, 8.0 + 2 * size), size, pens.theme.color("accent"))

    def _of(self, node: int) -> tuple[_Bunch, _Bunch]:
        """The edges into a node and those from it; kept for the node that is selected."""
        if self._marked is None or self._marked[0] != node:
            edges = self.picture.edges
            self._marked = node, (self._bunch(edges[:, 1] == node), self._bunch(edges[:, 0] == node))
        return self._marked[1]

    def _bunch(self, chosen: npt.NDArray[np.bool_]) -> _Bunch:
        """Some edges on their own."""
        picture, edges = self.picture, np.flatnonzero(chosen)
        counts = picture.offsets[edges + 1] - picture.offsets[edges]
        offsets = np.concatenate([[0], np.cumsum(counts)])
        within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts)
        points = picture.points[np.repeat(picture.offsets[edges], counts) + within]
        ways = picture.ways[edges]
        return _Bunch(make_strokes(points, offsets, ways), _heads_of(points, offsets, ways))


@dataclass(frozen=True, slots=True)
class _Heads:
    """Arrow heads: ``tips`` (h, 2), the direction (h, 2) in which each points, and whether it belongs to an edge
    that runs against the others (h,).
    """

    tips: Floats
    along: Floats
    is_back: npt.NDArray[np.bool_]

    def of(self, is_back: bool) -> _Heads:
        chosen = self.is_back == is_back
        return _Heads(self.tips[chosen], self.along[chosen], self.is_back[chosen])

    def paint(self, painter: QPainter, area: Area, size: float, color: QColor) -> None:
        """Triangles at the tips in an area."""
        left, top, right, bottom = _widened(QRectF(area[0], area[1], area[2] - area[0], area[3] - area[1]), 2 * size)
        x, y = self.tips.T
        seen = (x > left) & (x < right) & (y > top) & (y < bottom)
        if not seen.any():
            return
        tips, along = self.tips[seen], self.along[seen]
        if len(tips) > _CROWDED:
            # Where thousands of edges meet one box, heads stand closer together than they are wide.
            _, some = np.unique(np.rint(tips / (size / 4)), axis=0, return_index=True)
            tips, along = tips[some], along[some]
        back, across = tips - along * size * 1.7, along[:, ::-1] * (-size * 0.8, size * 0.8)
        path = polylines(np.stack([tips, back + across, back - across], axis=1))
        # Heads that lie on one another must not cut holes into each other.
        path.setFillRule(Qt.FillRule.WindingFill)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawPath(path)


@dataclass(frozen=True, slots=True)
class _Bunch:
    """The edges of one node."""

    strokes: Strokes
    heads: _Heads


def _all_heads(picture: GraphPicture) -> _Heads:
    return _heads_of(picture.points, picture.offsets, picture.ways)


def _heads_of(points: Floats, offsets: Ints, ways: Ints) -> _Heads:
    """An arrow head at the end of each edge, for an edge both ways also at its start."""
    both = np.flatnonzero(ways & Way.BOTH)
    tips = np.concatenate([offsets[1:] - 1, offsets[both]])
    before = np.concatenate([offsets[1:] - 2, offsets[both] + 1])
    way = np.concatenate([ways, ways[both]])
    line = points[tips] - points[before]
    # A curve ends upright, whatever lies before.
    upright = way & (Way.LOOP | Way.STRAIGHT) == 0
    line[upright, 0] = 0.0
    line[upright, 1] = np.where(line[upright, 1] >= 0, 1.0, -1.0)
    length = np.hypot(line[:, 0], line[:, 1])
    along = line / np.where(length > 0, length, 1.0)[:, None]
    return _Heads(points[tips], along, way & (Way.UPWARDS | Way.LOOP | Way.BOTH) != 0)


def _draw(painter: QPainter, strokes: Strokes, area: Area, steps: int, period: float) -> None:
    """Lines and curves as one path, cut where they leave the area."""
    left, top, right, bottom = area
    plain = clip(strokes.lines[~strokes.curved], area, period).reshape(-1, 2, 2)
    curves = strokes.lines[strokes.curved]
    low, high = np.minimum(curves[:, 0], curves[:, 2]), np.maximum(curves[:, 0], curves[:, 2])
    is_long = high - low > right - left
    in_view = (high > left) & (low < right) & (curves[:, 3] > top) & (curves[:, 1] < bottom)
    # A curve far wider than what is in view would cost as much as all of it: of such only the pieces in view.
    pieces = bent(curves[is_long & in_view], 4 * steps)
    pieces = np.concatenate([pieces[:, :-1], pieces[:, 1:]], axis=2).reshape(-1, 4)
    groups = [plain, bent(curves[~is_long & in_view], steps), clip(pieces, area, period).reshape(-1, 2, 2)]
    painter.drawPath(joined_polylines(groups))


def _period(pen: QPen) -> float:
    """The length of a pen's dash and gap; 0 for an unbroken line."""
    return float(sum(pen.dashPattern())) * pen.widthF() if pen.style() is not Qt.PenStyle.SolidLine else 0.0


def _widened(area: QRectF, by: float) -> Area:
    return area.left() - by, area.top() - by, area.right() + by, area.bottom() + by


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
