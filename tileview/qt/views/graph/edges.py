"""The edges of the graph's drawing, found and drawn by where they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from tileview.graphlayout import (
    GraphPicture,
    Stroke,
    Strokes,
    Way,
    bent,
    clip,
    make_strokes,
    snapped_to_grid,
    stubs,
    touching,
)
from tileview.qt.views.graph.pens import Detail, Pens
from tileview.qt.views.graph.polyline import joined_polylines, polylines

Floats = npt.NDArray[np.float64]
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
