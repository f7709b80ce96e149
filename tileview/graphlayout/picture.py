"""The whole graph laid out: bodies of Repeats in their boxes or collapsed, and the lines of its edges.

Edges of one value share their way down: drawn edge by edge, a value that 5,000 operations read would be drawn as
240,000 lines, most of them over one another. Here every line is there once, and lines that lie end to end are one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from tileview.graphlayout.layers import LayerPin
from tileview.graphlayout.region import Box, EdgeLine, RegionLayout, Spacing, Way, layout_region
from tileview.graphlayout.structure import Edge, NodeKind, ProgressPart, RegionNodes, Silent, Structure, Token, check

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_UPRIGHT = 0.5
"""Sideways, a line that moves less than this counts as upright."""


class Stroke(IntEnum):
    """What a line belongs to: a usual edge, one that runs against the others (back, to itself, or both ways), or one
    that was too long to be led round boxes.
    """

    PLAIN = 0
    BACK = 1
    STRAIGHT = 2


@dataclass(frozen=True, slots=True)
class Strokes:
    """Lines (k, 4) from the upper end (x, y) to the lower end, what they belong to (k,): :class:`Stroke`, and which
    (k,) are drawn as an S, upright at both ends.
    """

    lines: Floats
    kinds: npt.NDArray[np.int8]
    curved: Bools

    def __len__(self) -> int:
        return len(self.lines)

    def within(self, area: tuple[float, float, float, float]) -> Strokes:
        """Those that may be seen in an area (left, top, right, bottom)."""
        return self.take(touching(self.lines, area))

    def take(self, chosen: Bools) -> Strokes:
        return Strokes(self.lines[chosen], self.kinds[chosen], self.curved[chosen])

    def of(self, kind: Stroke) -> Strokes:
        return self.take(self.kinds == kind)


def touching(lines: Floats, area: tuple[float, float, float, float]) -> Bools:
    """(k,): lines (k, 4), upper ends first, whose bounds touch an area (left, top, right, bottom)."""
    left, top, right, bottom = area
    x0, y0, x1, y1 = lines.T
    is_beside = (np.minimum(x0, x1) >= right) | (np.maximum(x0, x1) <= left)
    found: Bools = (y0 < bottom) & (y1 > top) & ~is_beside
    return found


def snapped_to_grid(lines: Floats, step: float) -> Floats:
    """(m, 4): lines with their ends on a grid of ``step``, each once, without those that become points.

    On a grid of pixels thousands of lines of a picture that is seen from afar are one.
    """
    cells = np.rint(lines / step)
    cells = cells[_first_of_equal(cells)]
    moves = (cells[:, 0] != cells[:, 2]) | (cells[:, 1] != cells[:, 3])
    found: Floats = cells[moves] * step
    return found


def stubs(lines: Floats, length: float) -> Floats:
    """(m, 4): both ends of lines (k, 4), so long; the whole line where the ends would meet."""
    along = lines[:, 2:] - lines[:, :2]
    whole = np.hypot(along[:, 0], along[:, 1])
    is_long = whole > 2 * length
    lines, rest, along = lines[is_long], lines[~is_long], along[is_long] * (length / whole[is_long])[:, None]
    begin = np.concatenate([lines[:, :2], lines[:, :2] + along], axis=1)
    end = np.concatenate([lines[:, 2:] - along, lines[:, 2:]], axis=1)
    return np.concatenate([rest, begin, end])


def make_strokes(points: Floats, offsets: Ints, ways: Ints) -> Strokes:
    """The lines of edges.

    Parameters
    ----------
    points, offsets, ways
        Of a :class:`GraphPicture`: the points of edge e are ``points[offsets[e]:offsets[e + 1]]``.
    """
    counts = np.diff(offsets)
    edge = np.repeat(np.arange(len(counts)), counts)
    starts = np.flatnonzero(edge[1:] == edge[:-1]) if len(edge) else np.zeros(0, dtype=np.int64)
    lines = np.concatenate([points[starts], points[starts + 1]], axis=1)
    way = ways[edge[starts]]
    kinds = np.where(way & (Way.UPWARDS | Way.LOOP | Way.BOTH) != 0, int(Stroke.BACK), int(Stroke.PLAIN))
    kinds[way & Way.STRAIGHT != 0] = int(Stroke.STRAIGHT)
    turned = (lines[:, 1] > lines[:, 3]) | ((lines[:, 1] == lines[:, 3]) & (lines[:, 0] > lines[:, 2]))
    lines[turned] = lines[turned][:, [2, 3, 0, 1]]
    once = _first_of_equal(np.concatenate([lines, kinds[:, None]], axis=1))
    lines, kinds, way = lines[once], kinds[once], way[once]
    curved = (np.abs(lines[:, 0] - lines[:, 2]) >= _UPRIGHT) & (way & (Way.STRAIGHT | Way.LOOP) == 0)
    upright = (lines[:, 0] == lines[:, 2]) & (lines[:, 1] < lines[:, 3])
    joined, joined_kinds = _end_to_end(lines[upright], kinds[upright])
    return Strokes(
        np.concatenate([lines[~upright], joined]),
        np.concatenate([kinds[~upright], joined_kinds]).astype(np.int8),
        np.concatenate([curved[~upright], np.zeros(len(joined), dtype=np.bool_)]),
    )


def _first_of_equal(rows: Floats) -> Ints:
    """Indices of one row of each set of equal ones, in an order that depends on the rows only."""
    mixed = np.zeros(len(rows), dtype=np.uint64)
    for column in rows.T:
        # Equal rows have equal sums; unequal ones with equal sums are told apart below, or stay twice.
        mixed = (mixed ^ (column + 0.0).view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    order = np.argsort(mixed, kind="stable")
    ordered = rows[order]
    is_first = np.ones(len(rows), dtype=np.bool_)
    is_first[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return np.sort(order[is_first])


def _end_to_end(lines: Floats, kinds: Ints) -> tuple[Floats, Ints]:
    """Upright lines at one x and of one kind, joined where they meet or overlap."""
    if not len(lines):
        return lines, kinds
    order = np.lexsort((lines[:, 1], lines[:, 0], kinds))
    lines, kinds = lines[order], kinds[order]
    is_other = np.ones(len(lines), dtype=np.bool_)
    is_other[1:] = (lines[1:, 0] != lines[:-1, 0]) | (kinds[1:] != kinds[:-1])
    # One running maximum over all columns: each column stands below all of the one before.
    height = lines[:, 3].max() - lines[:, 1].min() + 1.0
    shift = np.cumsum(is_other) * height
    lowest = np.maximum.accumulate(lines[:, 3] + shift)
    begins = is_other.copy()
    begins[1:] |= lines[1:, 1] + shift[1:] > lowest[:-1] + 1e-3
    first = np.flatnonzero(begins)
    bottom = np.maximum.reduceat(lines[:, 3], first)
    joined = np.stack([lines[first, 0], lines[first, 1], lines[first, 0], bottom], axis=1)
    return joined, kinds[first]


def clip(lines: Floats, area: tuple[float, float, float, float], period: float = 0.0) -> Floats:
    """The parts of lines (k, 4) that lie in an area (left, top, right, bottom); lines outside it are left out.

    With a ``period`` a line is cut at whole multiples of it from its start, so that the dashes of a dashed line stay
    where they are while the area moves.
    """
    left, top, right, bottom = area
    start, along = lines[:, :2], lines[:, 2:] - lines[:, :2]
    enters, leaves = np.zeros(len(lines)), np.ones(len(lines))
    for axis, low, high in ((0, left, right), (1, top, bottom)):
        with np.errstate(divide="ignore", invalid="ignore"):
            one, other = (low - start[:, axis]) / along[:, axis], (high - start[:, axis]) / along[:, axis]
        is_still = along[:, axis] == 0
        is_out = is_still & ((start[:, axis] < low) | (start[:, axis] > high))
        enters = np.maximum(enters, np.where(is_still, np.where(is_out, 2.0, 0.0), np.minimum(one, other)))
        leaves = np.minimum(leaves, np.where(is_still, 1.0, np.maximum(one, other)))
    seen = enters < leaves
    start, along, enters, leaves = start[seen], along[seen], enters[seen], leaves[seen]
    if period:
        part = period / np.maximum(np.hypot(along[:, 0], along[:, 1]), 1e-9)
        enters = np.floor(enters / part) * part
    return np.concatenate([start + along * enters[:, None], start + along * leaves[:, None]], axis=1)


def bent(lines: Floats, steps: int) -> Floats:
    """(k, steps + 1, 2): points along each S from the start to the end of a line (k, 4), upright at both ends.

    The S is the cubic whose control points lie half way down, above one another with the ends.
    """
    t = np.linspace(0.0, 1.0, steps + 1)
    across = t * t * (3 - 2 * t)
    down = 1.5 * t * (1 - t) + t**3
    x = lines[:, 0, None] + (lines[:, 2] - lines[:, 0])[:, None] * across
    y = lines[:, 1, None] + (lines[:, 3] - lines[:, 1])[:, None] * down
    return np.stack([x, y], axis=2)


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes in pixels at zoom 1. ``header`` is the height of an expanded Repeat's title, ``padding`` what stands
    round its body.
    """

    node: tuple[float, float] = (190.0, 46.0)
    port: tuple[float, float] = (120.0, 20.0)
    header: float = 26.0
    padding: float = 14.0
    least_body: float = 190.0
    spacing: Spacing = field(default_factory=Spacing)


@dataclass(frozen=True, slots=True)
class GraphPicture:
    """Where everything is, in pixels at zoom 1, from (0, 0) to (``width``, ``height``).

    ``nodes`` (n,): the shown nodes, as indices into the structure, parents before what they hold. ``rects`` (n, 4):
    left, top, width, height. ``expanded`` (n,): Repeats whose body is shown inside. ``rows`` (n, 2): layer and place
    in it, within the node's own region. ``edges`` (m, 2): source node, target node; ``ways`` (m,):
    :class:`Way` flags; the points of edge e are ``points[offsets[e]:offsets[e + 1]]``. ``strokes`` are the lines that
    these edges consist of. ``notes`` say what was simplified.
    """

    nodes: Ints
    rects: Floats
    expanded: npt.NDArray[np.bool_]
    rows: Ints
    edges: Ints
    ways: Ints
    offsets: Ints
    points: Floats
    strokes: Strokes
    width: float
    height: float
    notes: tuple[str, ...] = ()

    def place_of(self) -> dict[int, int]:
        """Node → row of ``nodes`` and ``rects``."""
        return {int(node): place for place, node in enumerate(self.nodes)}


def repeats(structure: Structure) -> frozenset[int]:
    """All Repeats, as node indices."""
    return frozenset(node.index for node in structure.nodes if node.kind is NodeKind.REPEAT)


def first_collapsed(structure: Structure, limit: int = 150) -> frozenset[int]:
    """Which Repeats are collapsed when a graph is opened: none up to ``limit`` nodes, all of a larger graph."""
    return repeats(structure) if len(structure.nodes) > limit else frozenset()


def layout_graph(
    structure: Structure,
    collapsed: Collection[int] = (),
    only: Collection[int] | None = None,
    sizes: Sizes | None = None,
    token: Token | None = None,
) -> GraphPicture:
    """Lay out all regions that are to be seen, innermost first, each inside the box of its Repeat.

    Parameters
    ----------
    collapsed
        Repeats (node indices) whose body is not shown.
    only
        Nodes to show, None for all. The Repeats around a shown node are shown too, as are ports next to one; a Repeat
        that is itself named is shown with its whole body.

    Raises
    ------
    LayoutCancelled
        As soon as the token says so.
    """
    sizes = Sizes() if sizes is None else sizes
    token = Silent() if token is None else token
    shown = _shown(structure, frozenset(collapsed), only)
    regions = [region for region in structure.regions if region.index in shown]
    total = sum(len(shown[region.index]) for region in regions) or 1
    done = 0
    laid: dict[int, RegionLayout] = {}
    extents: dict[int, tuple[float, float]] = {}
    lines: dict[int, tuple[list[Edge], list[EdgeLine]]] = {}
    for region in reversed(regions):
        check(token)
        nodes = shown[region.index]
        boxes = [_box(structure, node, extents, sizes) for node in nodes]
        lines[region.index] = _lines(structure, region, nodes, shown, laid, sizes)
        part = ProgressPart(token, done / total, (done + len(nodes)) / total)
        layout = layout_region(boxes, lines[region.index][1], sizes.spacing, part)
        laid[region.index] = layout
        body_width = max(layout.width, sizes.least_body)
        extents[region.index] = (
            body_width + 2 * sizes.padding,
            layout.height + sizes.header + 2 * sizes.padding,
        )
        done += len(nodes)
    return _assemble(structure, regions, shown, laid, extents, lines, sizes)


def _shown(structure: Structure, collapsed: frozenset[int], only: Collection[int] | None) -> dict[int, list[int]]:
    """Region → its shown nodes; regions that are not shown are missing (the graph itself never is)."""
    wanted = None if only is None else _with_surroundings(structure, set(only))
    whole: set[int] = set()
    result: dict[int, list[int]] = {}
    for region in structure.regions:
        if region.owner is not None:
            parent = structure.nodes[region.owner].region
            if parent not in result or region.owner in collapsed or region.owner not in result[parent]:
                continue
            if parent in whole or (only is not None and region.owner in only):
                whole.add(region.index)
        if wanted is None or region.index in whole:
            result[region.index] = list(region.nodes)
        else:
            result[region.index] = [node for node in region.nodes if node in wanted]
    return {index: nodes for index, nodes in result.items() if nodes or index == 0}


def _with_surroundings(structure: Structure, only: set[int]) -> set[int]:
    wanted = set(only)
    for node in only:
        wanted.update(structure.around(node))
    for edge in structure.edges:
        for end, other in ((edge.source, edge.target), (edge.target, edge.source)):
            if structure.nodes[end].is_port and other in only:
                wanted.add(end)
    return wanted


def _box(structure: Structure, index: int, extents: Mapping[int, tuple[float, float]], sizes: Sizes) -> Box:
    node = structure.nodes[index]
    if node.is_port:
        pin = {NodeKind.ARGUMENT: LayerPin.FIRST, NodeKind.YIELD: LayerPin.LAST}.get(node.kind)
        return Box(*sizes.port, pin)
    if node.body is not None and node.body in extents:
        return Box(*extents[node.body])
    return Box(*sizes.node)


def _lines(
    structure: Structure,
    region: RegionNodes,
    nodes: list[int],
    shown: Mapping[int, list[int]],
    laid: Mapping[int, RegionLayout],
    sizes: Sizes,
) -> tuple[list[Edge], list[EdgeLine]]:
    number = {node: place for place, node in enumerate(nodes)}
    ports = {node: _port_places(structure, node, shown, laid, sizes) for node in nodes}
    edges, lines = [], []
    for index in region.edges:
        edge = structure.edges[index]
        if edge.source not in number or edge.target not in number:
            continue
        source_x = ports[edge.source].get((False, edge.result))
        target_x = ports[edge.target].get((True, edge.slot))
        edges.append(edge)
        lines.append(EdgeLine(number[edge.source], number[edge.target], edge.value, source_x, target_x))
    return edges, lines


def _port_places(
    structure: Structure,
    index: int,
    shown: Mapping[int, list[int]],
    laid: Mapping[int, RegionLayout],
    sizes: Sizes,
) -> dict[tuple[bool, int], float]:
    """Where an expanded Repeat is met: (True, operand) → x of its argument, (False, result) → x of the yield that
    becomes it.
    """
    body = structure.nodes[index].body
    if body is None or body not in laid:
        return {}
    region = structure.regions[body]
    number = {node: place for place, node in enumerate(shown[body])}
    layout = laid[body]
    shift = _body_shift(layout, sizes) + sizes.port[0] / 2
    places: dict[tuple[bool, int], float] = {}
    for slot, port in enumerate(region.arguments):
        if port is not None and port in number:
            places[True, slot] = layout.left[number[port]] + shift
    for slot, port in enumerate(region.yields):
        if port in number:
            places[False, slot] = layout.left[number[port]] + shift
    return places


def _body_shift(layout: RegionLayout, sizes: Sizes) -> float:
    """How far right of its Repeat's left border a body begins: it is centred where it is narrower than the title."""
    return sizes.padding + max(0.0, (sizes.least_body - layout.width) / 2)


def _assemble(
    structure: Structure,
    regions: list[RegionNodes],
    shown: Mapping[int, list[int]],
    laid: Mapping[int, RegionLayout],
    extents: Mapping[int, tuple[float, float]],
    lines: Mapping[int, tuple[list[Edge], list[EdgeLine]]],
    sizes: Sizes,
) -> GraphPicture:
    """Shift every region to its place inside its Repeat, parents first, and join all into arrays."""
    nodes: list[int] = []
    rects: list[tuple[float, float, float, float]] = []
    expanded: list[bool] = []
    rows: list[tuple[int, int]] = []
    edges: list[tuple[int, int]] = []
    ways: list[int] = []
    offsets = [0]
    points: list[tuple[float, float]] = []
    shifts: list[tuple[float, float]] = []
    corner: dict[int, tuple[float, float]] = {}
    for region in regions:
        layout = laid[region.index]
        if region.owner is None:
            dx, dy = 0.0, 0.0
        else:
            left, top = corner[region.owner]
            dx = left + _body_shift(layout, sizes)
            dy = top + sizes.header + sizes.padding
        for place, index in enumerate(shown[region.index]):
            box = _box(structure, index, extents, sizes)
            corner[index] = (layout.left[place] + dx, layout.top[place] + dy)
            nodes.append(index)
            rects.append((*corner[index], box.width, box.height))
            expanded.append(structure.nodes[index].body in laid)
            rows.append((layout.layer[place], layout.place[place]))
        for route in layout.routes:
            edge = lines[region.index][0][route.line]
            edges.append((edge.source, edge.target))
            ways.append(int(route.way))
            points.extend(route.points)
            offsets.append(len(points))
            shifts.append((dx, dy))
    straight = sum(1 for way in ways if way & Way.STRAIGHT)
    simplified = f"{straight:,} long edges are drawn at their ends only, in full for the selected operation"
    notes = (simplified,) if straight else ()
    places, starts, flags = (
        np.array(points, dtype=np.float64).reshape(-1, 2),
        np.array(offsets, dtype=np.int64),
        np.array(ways, dtype=np.int64),
    )
    places += np.repeat(np.array(shifts, dtype=np.float64).reshape(-1, 2), np.diff(starts), axis=0)
    return GraphPicture(
        np.array(nodes, dtype=np.int64),
        np.array(rects, dtype=np.float64).reshape(-1, 4),
        np.array(expanded, dtype=np.bool_),
        np.array(rows, dtype=np.int64).reshape(-1, 2),
        np.array(edges, dtype=np.int64).reshape(-1, 2),
        flags,
        starts,
        places,
        make_strokes(places, starts, flags),
        laid[0].width,
        laid[0].height,
        notes,
    )
