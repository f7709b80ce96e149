"""Moving from box to box by the arrow keys."""

from __future__ import annotations

from PySide6.QtCore import QPointF

from tileview.qt.draw.graph_scene import GraphScene


def nearest(scene: GraphScene, node: int | None, dx: int, dy: int) -> int | None:
    """The operation next to one in a direction.

    Up and down follow an edge where there is one, to the nearest layer; else, and to the sides, it is the box close
    along the direction and not far beside it. From None: the topmost, then leftmost operation. Ports are passed over.
    The box around a body counts by its title.
    """
    if node is not None and node in scene.place and dy:
        found = _along_edge(scene, node, dy)
        if found is not None:
            return found
    picture, structure = scene.picture, scene.structure
    best: tuple[float, float, int] | None = None
    start = None if node is None or node not in scene.place else _anchor(scene, node)
    for place, other in enumerate(picture.nodes.tolist()):
        if structure.nodes[other].is_port or other == node:
            continue
        spot = _anchor(scene, other)
        if start is None:
            cost = (spot.y(), spot.x())
        else:
            ahead = (spot.x() - start.x()) * dx + (spot.y() - start.y()) * dy
            aside = abs((spot.x() - start.x()) * dy) + abs((spot.y() - start.y()) * dx)
            if ahead <= 1.0 or (dx and aside > 2 * ahead):
                continue
            cost = (ahead + (4.0 if dx else 0.6) * aside, ahead)
        if best is None or (*cost, place) < best:
            best = (*cost, place)
    return None if best is None else int(picture.nodes[best[2]])


def _along_edge(scene: GraphScene, node: int, dy: int) -> int | None:
    start = _anchor(scene, node)
    best: tuple[float, float, int] | None = None
    for other in scene.edges.targets(node) if dy > 0 else scene.edges.sources(node):
        if scene.structure.nodes[other].is_port:
            continue
        spot = _anchor(scene, other)
        ahead = (spot.y() - start.y()) * dy
        key = (round(ahead), abs(spot.x() - start.x()), scene.place[other])
        if ahead > 1.0 and (best is None or key < best):
            best = key
    return None if best is None else int(scene.picture.nodes[best[2]])


def _anchor(scene: GraphScene, node: int) -> QPointF:
    """Where a node is, for moving by keys: its centre, the title of an expanded Repeat."""
    rect = scene.rect(node)
    assert rect is not None
    place = scene.place[node]
    y = rect.top() + scene.header_height() / 2 if bool(scene.picture.expanded[place]) else rect.center().y()
    return QPointF(rect.center().x(), y)
