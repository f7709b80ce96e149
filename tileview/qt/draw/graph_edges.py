"""The edges of the graph's drawing, found and drawn by where they are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen, QPolygonF

from tileview.graphlayout import Picture, Way
from tileview.qt.draw.graph_shapes import Detail, Pens, arrow, broken, smooth

_CHUNK = 128
"""Edges that are drawn as one path when zoomed out."""
_STRAIGHT_BELOW = 0.04
"""The zoom below which an edge is one straight line: a box is then smaller than 8 pixels, its bends smaller still."""


class EdgeLayer:
    """All edges of a picture. Paths are made when they first come into view."""

    def __init__(self, picture: Picture) -> None:
        self.picture = picture
        self._paths: dict[int, QPainterPath] = {}
        self._chunks: list[tuple[QRectF, list[int]]] = []
        self._chunk_paths: dict[int, QPainterPath] = {}
        self._straight: list[QLineF] | None = None
        self._edge_boxes = _edge_boxes(picture)
        self._from = _by_end(picture.edges[:, 0])
        self._to = _by_end(picture.edges[:, 1])

    def targets(self, node: int) -> list[int]:
        """The nodes that edges lead to from a node."""
        return [int(self.picture.edges[edge, 1]) for edge in self._from.get(node, ())]

    def sources(self, node: int) -> list[int]:
        """The nodes that edges come from into a node."""
        return [int(self.picture.edges[edge, 0]) for edge in self._to.get(node, ())]

    def paint(self, painter: QPainter, area: QRectF, scale: float, detail: Detail, pens: Pens) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if detail is Detail.BLOCKS:
            pen = QPen(pens.theme.color("baseline", 120), 0)
            painter.setPen(pen)
            if scale < _STRAIGHT_BELOW:
                painter.drawLines(self._lines())
                return
            for path in self._edge_chunks(area):
                painter.drawPath(path)
            return
        boxes = self._edge_boxes
        seen = np.flatnonzero(
            (boxes[:, 0] < area.right())
            & (boxes[:, 2] > area.left())
            & (boxes[:, 1] < area.bottom())
            & (boxes[:, 3] > area.top())
        )
        straight = (self.picture.ways[seen] & Way.STRAIGHT) != 0
        if straight.any():
            # Thousands of these may cross the view and would say nothing: only those that end in it are drawn.
            lines = self._lines()
            painter.setPen(pens.straight)
            ending = seen[straight & self._ends_in(seen, area)]
            painter.drawLines([lines[edge] for edge in ending.tolist()])
        for edge in seen[~straight].tolist():
            way = int(self.picture.ways[edge])
            pen = pens.upwards if way & (Way.UPWARDS | Way.LOOP | Way.BOTH) else pens.edge
            painter.setPen(pen)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPath(self._path(edge))
            if detail >= Detail.TITLES:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(pen.color())
                for head in self._heads(edge, 4.5):
                    painter.drawPolygon(head)

    def _ends_in(self, edges: np.ndarray, area: QRectF) -> np.ndarray:
        """Which of some edges start or end in an area."""
        found = np.zeros(len(edges), dtype=np.bool_)
        for places in (self.picture.offsets[edges], self.picture.offsets[edges + 1] - 1):
            x, y = self.picture.points[places].T
            found |= (x > area.left()) & (x < area.right()) & (y > area.top()) & (y < area.bottom())
        return found

    def paint_marked(self, painter: QPainter, scale: float, node: int, pens: Pens) -> None:
        """The edges of the selected node: what it reads solid, what reads it dashed, both stronger than the others."""
        width = max(2.2, 1.6 / scale)
        solid = QPen(pens.theme.color("accent"), width)
        dashed = QPen(pens.theme.color("accent"), width, Qt.PenStyle.CustomDashLine)
        dashed.setDashPattern([3.0, 2.0])
        for pen, edges in ((solid, self._to.get(node, ())), (dashed, self._from.get(node, ()))):
            for edge in edges:
                painter.setPen(pen)
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawPath(self._path(edge))
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(pens.theme.color("accent"))
                for head in self._heads(edge, max(5.5, 3.5 / scale)):
                    painter.drawPolygon(head)

    def _points(self, edge: int) -> list[QPointF]:
        start, stop = int(self.picture.offsets[edge]), int(self.picture.offsets[edge + 1])
        return [QPointF(x, y) for x, y in self.picture.points[start:stop].tolist()]

    def _path(self, edge: int) -> QPainterPath:
        path = self._paths.get(edge)
        if path is None:
            plain = int(self.picture.ways[edge]) & (Way.LOOP | Way.STRAIGHT)
            path = broken(self._points(edge)) if plain else smooth(self._points(edge))
            if len(self._paths) > 4_000:
                self._paths.clear()
            self._paths[edge] = path
        return path

    def _heads(self, edge: int, size: float) -> list[QPolygonF]:
        points = self._points(edge)
        way = int(self.picture.ways[edge])
        level = way & (Way.LOOP | Way.STRAIGHT)
        heads = [arrow(points[-2] if level else None, points[-1], size, points[-1].y() >= points[-2].y())]
        if way & Way.BOTH:
            heads.append(arrow(points[1] if level else None, points[0], size, points[0].y() >= points[1].y()))
        return heads

    def _lines(self) -> list[QLineF]:
        """Every edge from its first to its last point."""
        if self._straight is None:
            first, last = self.picture.offsets[:-1], self.picture.offsets[1:] - 1
            ends = np.concatenate([self.picture.points[first], self.picture.points[last]], axis=1)
            self._straight = [QLineF(*line) for line in ends.tolist()]
        return self._straight

    def _edge_chunks(self, area: QRectF) -> Iterator[QPainterPath]:
        """The edges near an area as broken lines, in groups that are made when they first come into view."""
        if not self._chunks:
            order = np.argsort(self._edge_boxes[:, 1], kind="stable")
            for start in range(0, len(order), _CHUNK):
                edges = order[start : start + _CHUNK]
                low, high = self._edge_boxes[edges, :2].min(axis=0), self._edge_boxes[edges, 2:].max(axis=0)
                self._chunks.append((QRectF(QPointF(*low.tolist()), QPointF(*high.tolist())), edges.tolist()))
        for number, (box, members) in enumerate(self._chunks):
            if not box.intersects(area):
                continue
            path = self._chunk_paths.get(number)
            if path is None:
                path = QPainterPath()
                for edge in members:
                    path.addPath(broken(self._points(edge)))
                self._chunk_paths[number] = path
            yield path


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
