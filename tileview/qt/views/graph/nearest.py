"""Moving from box to box by the arrow keys."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tileview.qt.views.graph.scene import GraphScene

Floats = npt.NDArray[np.float64]


def nearest(scene: GraphScene, node: int | None, dx: int, dy: int) -> int | None:
    """The operation next to one in a direction.

    Up and down follow an edge where there is one, to the nearest layer, be it at the head of the next column; else,
    and to the sides, it is the box close along the direction and not far beside it. From None: the topmost, then
    leftmost operation. Ports are passed over. The box around a body counts by its title.
    """
    nodes = scene.picture.nodes
    is_port = np.array([scene.structure.nodes[other].is_port for other in nodes.tolist()], dtype=np.bool_)
    x, y = _anchors(scene)
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


def _anchors(scene: GraphScene) -> tuple[Floats, Floats]:
    """Where boxes are, for moving by keys: their centres, of expanded Repeats the middle of the title."""
    left, top, width, height = scene.picture.rects.T
    middle = np.where(scene.picture.expanded, scene.header_height() / 2, height / 2)
    return left + width / 2, top + middle
