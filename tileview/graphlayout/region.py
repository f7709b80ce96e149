"""One region laid out: boxes with positions, edges with routes. Numbers in, numbers out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntFlag

import numpy as np
import numpy.typing as npt

from tileview.graphlayout.coordinates import Lane, arrange, assign_x
from tileview.graphlayout.layers import LayerPin, assign_layers, make_acyclic
from tileview.graphlayout.order import BEND_BUDGET, Proper, make_proper, reduce_crossings
from tileview.graphlayout.structure import ProgressPart, Silent, Token, check

Point = tuple[float, float]


class Way(IntFlag):
    """How an edge is drawn.

    UPWARDS closes a cycle, STRAIGHT was too long to be led round boxes, LOOP returns to its node, BOTH stands for two
    edges, one each way.
    """

    PLAIN = 0
    UPWARDS = 1
    STRAIGHT = 2
    LOOP = 4
    BOTH = 8


@dataclass(frozen=True, slots=True)
class Box:
    """A node's size; ``pin`` puts it into the first or last layer."""

    width: float
    height: float
    pin: LayerPin | None = None


@dataclass(frozen=True, slots=True)
class EdgeLine:
    """An edge. ``group``: lines of one source and group share their way. ``source_x``, ``target_x``: where it leaves
    the lower and meets the upper border, measured from the box's left, None to have it chosen.
    """

    source: int
    target: int
    group: int = 0
    source_x: float | None = None
    target_x: float | None = None


@dataclass(frozen=True, slots=True)
class Spacing:
    """Distances, in the unit of the boxes: between boxes, around bends, between layers, the reach of a self-loop."""

    gap: float = 24.0
    bend_gap: float = 12.0
    layer_gap: float = 36.0
    loop: float = 18.0


@dataclass(frozen=True, slots=True)
class Route:
    """The drawn way of one line: points from its source's border to its target's, in pairs that are to be joined
    smoothly.
    """

    line: int
    points: tuple[Point, ...]
    way: Way


@dataclass(frozen=True, slots=True)
class RegionLayout:
    """Left upper corners of the boxes, one route for each distinct (source, target) with its ports, the extent of it
    all from (0, 0).
    """

    left: tuple[float, ...]
    top: tuple[float, ...]
    layer: tuple[int, ...]
    place: tuple[int, ...]
    """Position of each box within its layer, bends counted."""
    routes: tuple[Route, ...]
    width: float
    height: float


def layout_region(
    boxes: Sequence[Box],
    lines: Sequence[EdgeLine],
    spacing: Spacing | None = None,
    token: Token | None = None,
    budget: int = BEND_BUDGET,
) -> RegionLayout:
    """Lay out boxes in layers from top to bottom.

    Any graph is drawn: duplicates (of source and target) share one route, that of the first, unless they have ports
    of their own; cycles are broken and the edge that closes one is drawn upwards; self-loops stand at the right side
    of their box. Equal input gives equal output, whatever the machine.

    Raises
    ------
    LayoutCancelled
        As soon as the token says so; it is asked several times a stage.
    """
    spacing = Spacing() if spacing is None else spacing
    token = Silent() if token is None else token
    if not boxes:
        return RegionLayout((), (), (), (), (), 0.0, 0.0)
    acyclic = make_acyclic(len(boxes), [(line.source, line.target) for line in lines])
    first: dict[int, int] = {}
    loops: dict[int, int] = {}
    both: set[int] = set()
    others: list[tuple[int, int]] = []
    for index, at in enumerate(acyclic.of):
        if at < 0:
            loops.setdefault(lines[index].source, index)
        elif at in acyclic.reversed:
            first.setdefault(at, index)
        elif acyclic.edges[at][0] == lines[index].source:
            if first.setdefault(at, index) != index:
                others.append((at, index))
        else:
            both.add(at)
    pins = {index: box.pin for index, box in enumerate(boxes) if box.pin is not None}
    layer = assign_layers(len(boxes), acyclic.edges, pins)
    # A reversed edge runs against the others of its value and must not share their bends.
    groups = [-1 - at if at in acyclic.reversed else lines[first[at]].group for at in range(len(acyclic.edges))]
    check(token)
    proper = make_proper(layer, acyclic.edges, groups, budget)
    token.progress(0.1)
    order = reduce_crossings(proper, ProgressPart(token, 0.1, 0.6))
    widths = [box.width + (2 * spacing.loop if index in loops else 0.0) for index, box in enumerate(boxes)]
    widths += [0.0] * (proper.size - len(boxes))
    xs = assign_x(proper, order, widths, spacing.gap, spacing.bend_gap, ProgressPart(token, 0.6, 0.9))
    tracer = _Tracer(boxes, lines, proper, order, xs, spacing)
    routes = tracer.routes(acyclic.edges, first, acyclic.reversed, both, groups)
    routes += tracer.ends_of_their_own(routes, first, others)
    routes += [tracer.loop(node, index) for node, index in loops.items()]
    place = [0] * proper.size
    for row in order:
        for at, node in enumerate(row):
            place[node] = at
    token.progress(1.0)
    return tracer.finish(routes, layer, place)


@dataclass(slots=True)
class _Tracer:
    """Positions in columns, and the way of each edge between the borders of its boxes.

    ``tops`` and ``bottoms`` are the borders of the layers; ``left``, ``top`` and ``bottom`` those of the boxes.
    """

    boxes: Sequence[Box]
    lines: Sequence[EdgeLine]
    proper: Proper
    order: Sequence[Sequence[int]]
    xs: Sequence[float]
    spacing: Spacing
    tops: list[float] = field(default_factory=list)
    bottoms: list[float] = field(default_factory=list)
    left: list[float] = field(default_factory=list)
    top: list[float] = field(default_factory=list)
    bottom: list[float] = field(default_factory=list)
    lanes: dict[int, Lane] = field(default_factory=dict)

    def __post_init__(self) -> None:
        heights = [0.0] * len(self.order)
        for at, box in zip(self.proper.layer, self.boxes, strict=False):
            heights[at] = max(heights[at], box.height)
        layer, xs = np.array(self.proper.layer), np.array(self.xs)
        half = np.zeros(len(xs))
        half[: len(self.boxes)] = [box.width / 2 for box in self.boxes]
        borders = np.stack([np.full(len(heights), np.inf), np.full(len(heights), -np.inf)], axis=1)
        np.minimum.at(borders[:, 0], layer, xs - half)
        np.maximum.at(borders[:, 1], layer, xs + half)
        gaps = self._gaps_below(layer, xs)
        found = arrange(heights, gaps, borders, self.proper.edges, layer, xs, self.spacing.bend_gap)
        self.tops, self.bottoms, self.lanes = found.tops, found.bottoms, found.lanes
        self.xs = (xs + np.array(found.shifts)[layer]).tolist()
        for at, box, x in zip(self.proper.layer, self.boxes, self.xs, strict=False):
            top = (self.tops[at] + self.bottoms[at] - box.height) / 2
            self.left.append(x - box.width / 2)
            self.top.append(top)
            self.bottom.append(top + box.height)

    def _gaps_below(self, layer: npt.NDArray[np.int64], xs: npt.NDArray[np.float64]) -> list[float]:
        """What lies between a layer and the next: more where edges run far to the side, so that they do not lie flat
        on one another.
        """
        upper, lower = self.proper.edges.T
        reach = np.zeros(len(self.order))
        np.maximum.at(reach, layer[upper], np.abs(xs[upper] - xs[lower]))
        gap = self.spacing.layer_gap
        found: list[float] = (gap + np.minimum(3 * gap, 0.05 * reach)).tolist()
        return found

    def routes(
        self,
        edges: Sequence[tuple[int, int]],
        first: dict[int, int],
        turned: frozenset[int],
        both: set[int],
        groups: Sequence[int],
    ) -> list[Route]:
        leaving, meeting = self._ports(edges, first, turned, groups)
        routes = []
        for index, (upper, lower) in enumerate(edges):
            way = Way.UPWARDS if index in turned else Way.BOTH if index in both else Way.PLAIN
            bends = self.proper.ways[index]
            points = [(leaving[index], self.bottom[upper])]
            if bends is None:
                way |= Way.STRAIGHT
            else:
                points += self._bends(upper, lower, leaving[index], meeting[index], bends)
            points.append((meeting[index], self.top[lower]))
            if index in turned:
                points.reverse()
            routes.append(Route(first[index], tuple(points), way))
        return routes

    def _bends(self, upper: int, lower: int, start: float, end: float, bends: Sequence[int]) -> list[Point]:
        """Straight down to the layer's border, straight through every layer that is passed, by a lane into the next
        column, straight down into the box.
        """
        layer = self.proper.layer
        points: list[Point] = []
        if self.bottoms[layer[upper]] > self.bottom[upper]:
            points.append((start, self.bottoms[layer[upper]]))
        at, x = upper, start
        for node in (*bends, lower):
            following = end if node == lower else self.xs[node]
            if at in self.lanes:
                points += self.lanes[at].way(x, following)
            if node != lower:
                points.append((following, self.tops[layer[node]]))
                points.append((following, self.bottoms[layer[node]]))
            at, x = node, following
        if self.tops[layer[lower]] < self.top[lower]:
            points.append((end, self.tops[layer[lower]]))
        return points

    def _ports(
        self,
        edges: Sequence[tuple[int, int]],
        first: dict[int, int],
        turned: frozenset[int],
        groups: Sequence[int],
    ) -> tuple[list[float], list[float]]:
        """Where each edge leaves its upper and meets its lower box: given ports first, the others spread by where
        they come from.
        """
        leaving, meeting = [0.0] * len(edges), [0.0] * len(edges)
        outgoing: dict[int, dict[int, list[int]]] = {}
        incoming: dict[int, list[int]] = {}
        for index, (upper, lower) in enumerate(edges):
            line = self.lines[first[index]]
            given = (None, None) if index in turned else (line.source_x, line.target_x)
            if given[0] is not None:
                leaving[index] = self.left[upper] + given[0]
            else:
                outgoing.setdefault(upper, {}).setdefault(groups[index], []).append(index)
            if given[1] is not None:
                meeting[index] = self.left[lower] + given[1]
            else:
                incoming.setdefault(lower, []).append(index)
        for upper, by_group in outgoing.items():
            bundles = sorted(by_group.values(), key=lambda bundle: (self._next_x(edges, bundle[0], True), bundle[0]))
            for x, bundle in zip(self._spread(upper, len(bundles)), bundles, strict=True):
                for index in bundle:
                    leaving[index] = x
        for lower, indices in incoming.items():
            indices.sort(key=lambda index: (self._next_x(edges, index, False), index))
            for x, index in zip(self._spread(lower, len(indices)), indices, strict=True):
                meeting[index] = x
        return leaving, meeting

    def _next_x(self, edges: Sequence[tuple[int, int]], index: int, down: bool) -> float:
        upper, lower = edges[index]
        bends = self.proper.ways[index]
        if bends:
            return self.xs[bends[0] if down else bends[-1]]
        return self.xs[lower if down else upper]

    def _spread(self, node: int, count: int) -> list[float]:
        """``count`` places along the middle of a border, at most 24 units apart."""
        step = min(24.0, self.boxes[node].width * 0.7 / count)
        return [self.xs[node] + (place - (count - 1) / 2) * step for place in range(count)]

    def ends_of_their_own(
        self, routes: Sequence[Route], first: dict[int, int], others: Sequence[tuple[int, int]]
    ) -> list[Route]:
        """Routes of further lines (edge, line) between the same boxes that leave or meet these at another port; on
        their way they go with the first.
        """
        found = []
        drawn = {(at, self.lines[line].source_x, self.lines[line].target_x) for at, line in first.items()}
        for at, index in others:
            line = self.lines[index]
            if (at, line.source_x, line.target_x) in drawn:
                continue
            drawn.add((at, line.source_x, line.target_x))
            (_, top), *way, (_, bottom) = routes[at].points
            start = routes[at].points[0][0] if line.source_x is None else self.left[line.source] + line.source_x
            end = routes[at].points[-1][0] if line.target_x is None else self.left[line.target] + line.target_x
            found.append(Route(index, ((start, top), *way, (end, bottom)), routes[at].way))
        return found

    def loop(self, node: int, line: int) -> Route:
        right = self.xs[node] + self.boxes[node].width / 2
        height = self.boxes[node].height
        low, high = self.top[node] + 0.75 * height, self.top[node] + 0.25 * height
        out = right + self.spacing.loop
        return Route(line, ((right, low), (out, low), (out, high), (right, high)), Way.LOOP)

    def finish(self, routes: Sequence[Route], layer: Sequence[int], place: Sequence[int]) -> RegionLayout:
        borders = [left + box.width for left, box in zip(self.left, self.boxes, strict=True)]
        borders += [x for route in routes for x, _ in route.points]
        lower = max([y for route in routes for _, y in route.points], default=0.0)
        return RegionLayout(
            tuple(self.left),
            tuple(self.top),
            tuple(layer),
            tuple(place[: len(self.boxes)]),
            tuple(routes),
            max(borders),
            max(*self.bottom, lower),
        )
