"""Horizontal coordinates: four extreme alignments of the layers, and the middle of them.
 The method is that of Brandes and Köpf: nodes are lined up with the median of their neighbours into vertical blocks,
long edges first; the blocks are packed to the left; this is done for both vertical and both horizontal directions,
and each node takes the mean of the two middle results. As all four keep the order and the distances within layers, so
does the mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from tileview.graphlayout.proper import Proper
from tileview.graphlayout.token import Part, Silent, Token, check

_WIDE = 2.5
"""A drawing wider than this many times its widest layer is tried again with shorter blocks."""
_LARGE = 10_000
"""Nodes and bends above which short blocks are taken at once."""
_LARGE_BLOCK = 6
"""Layers that a block spans at most in a large drawing. Long blocks push one another aside over hundreds of layers,
until everything lies scattered over a drawing that is fifty times as wide as its layers.
"""


def assign_x(
    proper: Proper,
    layers: Sequence[Sequence[int]],
    widths: Sequence[float],
    gap: float,
    bend_gap: float,
    token: Token | None = None,
) -> list[float]:
    """The centre of every node and bend, the leftmost border at 0.

    Blocks are as long as they can be, so that long edges are straight; where that makes the drawing much wider than
    its layers, they are cut.

    Parameters
    ----------
    layers
        The order of each layer, from :func:`tileview.graphlayout.order.reduce_crossings`.
    widths
        Width of every node and bend (bends may have 0).
    gap, bend_gap
        Least distance between the borders of two nodes, and where a bend is one of them.
    """
    token = Silent() if token is None else token
    if not proper.size:
        return []
    conflicts = _conflicts(proper, layers)
    attempts = (_LARGE_BLOCK,) if proper.size > _LARGE else (proper.size, 2 * _LARGE_BLOCK, _LARGE_BLOCK)
    enough = _WIDE * _natural_width(proper, layers, widths, gap, bend_gap)
    xs: list[float] = []
    for number, limit in enumerate(attempts):
        part = Part(token, number / len(attempts), (number + 1) / len(attempts))
        xs = _centred(_middle(proper, layers, conflicts, widths, gap, bend_gap, limit, part), widths)
        if max(x + width / 2 for x, width in zip(xs, widths, strict=True)) <= enough:
            break
    return xs


def _natural_width(
    proper: Proper, layers: Sequence[Sequence[int]], widths: Sequence[float], gap: float, bend_gap: float
) -> float:
    """The width of the widest layer, packed."""
    widest = 0.0
    for layer in layers:
        gaps = sum(gap if a < proper.nodes and b < proper.nodes else bend_gap for a, b in pairwise(layer))
        widest = max(widest, sum(widths[node] for node in layer) + gaps)
    return widest


def _centred(xs: list[float], widths: Sequence[float]) -> list[float]:
    """The same with the leftmost border at 0."""
    left = min(x - width / 2 for x, width in zip(xs, widths, strict=True))
    return [x - left for x in xs]


def _middle(
    proper: Proper,
    layers: Sequence[Sequence[int]],
    conflicts: set[tuple[int, int]],
    widths: Sequence[float],
    gap: float,
    bend_gap: float,
    limit: int,
    token: Token,
) -> list[float]:
    """The mean of the two middle of the four alignments, with blocks of at most ``limit`` nodes."""
    results: list[list[float]] = []
    for upwards in (False, True):
        for rightwards in (False, True):
            check(token)
            token.progress(len(results) / 4)
            turned = [list(reversed(layer)) if rightwards else list(layer) for layer in layers]
            if upwards:
                turned.reverse()
            neighbours = proper.down if upwards else proper.up
            root, align = _align(proper.size, turned, neighbours, conflicts, limit)
            xs = _compact(proper, turned, root, align, widths, gap, bend_gap)
            results.append([-x for x in xs] if rightwards else xs)
    return _balance(results, widths)


def _conflicts(proper: Proper, layers: Sequence[Sequence[int]]) -> set[tuple[int, int]]:
    """Edges (upper, lower) that cross a stretch between two bends: the stretch stays straight, they give way."""
    position = [0] * proper.size
    for layer in layers:
        for place, node in enumerate(layer):
            position[node] = place
    found: set[tuple[int, int]] = set()
    for upper, lower in pairwise(layers):
        left, done = 0, 0
        for place, node in enumerate(lower):
            inner = _above_bend(proper, node)
            if inner is None and place != len(lower) - 1:
                continue
            right = len(upper) - 1 if inner is None else position[inner]
            while done <= place:
                other = lower[done]
                for above in proper.up[other]:
                    at = position[above]
                    if (at < left or at > right) and not (above >= proper.nodes and other >= proper.nodes):
                        found.add((above, other))
                done += 1
            left = right
    return found


def _above_bend(proper: Proper, node: int) -> int | None:
    """The bend above a bend, None where the stretch above is not between two bends."""
    if node < proper.nodes or not proper.up[node]:
        return None
    above = proper.up[node][0]
    return above if above >= proper.nodes else None


def _align(
    size: int,
    layers: Sequence[Sequence[int]],
    neighbours: Sequence[Sequence[int]],
    conflicts: set[tuple[int, int]],
    limit: int,
) -> tuple[list[int], list[int]]:
    """Blocks of nodes that share an x: the root of each node, and the next node of its block (cyclic)."""
    position = [0] * size
    for layer in layers:
        for place, node in enumerate(layer):
            position[node] = place
    root = list(range(size))
    align = list(range(size))
    length = [1] * size
    for layer in layers[1:]:
        furthest = -1
        for node in layer:
            near = neighbours[node]
            if not near:
                continue
            near = sorted(near, key=position.__getitem__) if len(near) > 1 else near
            middle = (len(near) - 1) // 2
            for candidate in near[middle : len(near) // 2 + 1]:
                if align[node] != node:
                    break
                if length[root[candidate]] >= limit:
                    continue
                free = (candidate, node) not in conflicts and (node, candidate) not in conflicts
                if free and furthest < position[candidate]:
                    align[candidate] = node
                    root[node] = root[candidate]
                    length[root[node]] += 1
                    align[node] = root[candidate]
                    furthest = position[candidate]
    return root, align


def _compact(
    proper: Proper,
    layers: Sequence[Sequence[int]],
    root: Sequence[int],
    align: Sequence[int],
    widths: Sequence[float],
    gap: float,
    bend_gap: float,
) -> list[float]:
    """Pack the blocks: as far left as their left neighbours allow, then back right as far as the right ones leave
    room.
    """
    size = proper.size
    after: list[dict[int, float]] = [{} for _ in range(size)]
    waiting = [0] * size
    for layer in layers:
        for left, right in pairwise(layer):
            apart = gap if left < proper.nodes and right < proper.nodes else bend_gap
            distance = (widths[left] + widths[right]) / 2 + apart
            a, b = root[left], root[right]
            known = after[a].get(b)
            if known is None:
                after[a][b] = distance
                waiting[b] += 1
            elif distance > known:
                after[a][b] = distance
    order = [node for node in range(size) if root[node] == node and waiting[node] == 0]
    at = [0.0] * size
    for block in order:
        x = at[block]
        for other, distance in after[block].items():
            if x + distance > at[other]:
                at[other] = x + distance
            waiting[other] -= 1
            if waiting[other] == 0:
                order.append(other)
    for block in reversed(order):
        if after[block]:
            most = min(at[other] - distance for other, distance in after[block].items())
            if most > at[block]:
                at[block] = most
    return [at[root[node]] for node in range(size)]


def _balance(results: Sequence[list[float]], widths: Sequence[float]) -> list[float]:
    """The mean of the two middle of four results, after moving them to one border of the narrowest."""
    borders = []
    for xs in results:
        low = min(x - width / 2 for x, width in zip(xs, widths, strict=True))
        high = max(x + width / 2 for x, width in zip(xs, widths, strict=True))
        borders.append((low, high))
    narrowest = min(range(len(results)), key=lambda index: (borders[index][1] - borders[index][0], index))
    shifts = []
    for index in range(len(results)):
        side = index % 2  # even results are packed to the left, odd ones to the right
        shifts.append(borders[narrowest][side] - borders[index][side])
    balanced = []
    for values in zip(*results, strict=True):
        middle = sorted(value + shift for value, shift in zip(values, shifts, strict=True))[1:3]
        balanced.append((middle[0] + middle[1]) / 2)
    return balanced
