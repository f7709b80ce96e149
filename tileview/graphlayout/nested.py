"""The whole graph laid out: bodies of Repeats inside their boxes, or collapsed into one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tileview.graphlayout.layers import LayerPin
from tileview.graphlayout.region import Box, EdgeLine, RegionLayout, Spacing, Way, layout_region
from tileview.graphlayout.strokes import Strokes, make_strokes
from tileview.graphlayout.structure import Edge, NodeKind, ProgressPart, RegionNodes, Silent, Structure, Token, check

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


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
