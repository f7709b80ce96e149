"""Crossing reduction: the order of nodes and bends within each layer."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence

from tileview.graphlayout.proper import Proper
from tileview.graphlayout.token import Silent, Token, check

_LARGE = 10_000
"""Above this many nodes and bends there are four sweeps only, and the first two are not counted."""
_SMALL = 1500
"""Up to this many nodes and bends neighbours are also exchanged one by one, which is slow and better."""


def crossings_between(upper: Sequence[int], down: Sequence[Sequence[int]], position: Sequence[int]) -> int:
    """Crossings of the edges from one layer, in its order, to the next, whose nodes stand at ``position``."""
    total = 0
    seen: list[int] = []
    for node in upper:
        below = down[node]
        ends = [position[below[0]]] if len(below) == 1 else sorted([position[other] for other in below])
        for end in ends:
            total += len(seen) - bisect_right(seen, end)
        for end in ends:
            if not seen or end >= seen[-1]:
                seen.append(end)
            else:
                insort(seen, end)
    return total


def crossings(proper: Proper, layers: Sequence[Sequence[int]]) -> int:
    """Crossings of a whole drawing; ``layers`` in their order from left to right."""
    position = _positions(layers, proper.size)
    return sum(crossings_between(upper, proper.down, position) for upper in layers[:-1])


def reduce_crossings(proper: Proper, token: Token | None = None) -> list[list[int]]:
    """An order of each layer with few crossings; equal input gives equal output.

    Barycentre sweeps downwards and upwards, the best order seen is kept: 24 sweeps for small graphs, fewer for large
    ones (by size, never by clock, so that a slow machine draws the same picture). Small graphs then exchange
    neighbours as long as that removes crossings.
    """
    token = Silent() if token is None else token
    layers = _first_order(proper)
    best = [list(layer) for layer in layers]
    least = crossings(proper, layers)
    is_large = proper.size > _LARGE
    sweeps = 4 if is_large else 24 if proper.size <= 2_000 else 10
    without_gain = 0
    for sweep in range(sweeps):
        check(token)
        token.progress(sweep / sweeps)
        if least == 0 or without_gain >= 4:
            break
        _sweep(proper, layers, downwards=sweep % 2 == 0)
        if is_large and sweep < sweeps - 2:
            # Counting costs as much as sweeping, and the first sweeps hardly ever hold the best order.
            continue
        count = crossings(proper, layers)
        if count < least:
            best = [list(layer) for layer in layers]
            least = count
            without_gain = 0
        else:
            without_gain += 1
    if least and proper.size <= _SMALL:
        _exchange(proper, best, token)
    token.progress(1.0)
    return best


def _positions(layers: Sequence[Sequence[int]], size: int) -> list[int]:
    position = [0] * size
    for layer in layers:
        for place, node in enumerate(layer):
            position[node] = place
    return position


def _first_order(proper: Proper) -> list[list[int]]:
    """Layers in the order of a depth-first walk from the top, so that connected parts start side by side."""
    layers: list[list[int]] = [[] for _ in proper.layers]
    seen = bytearray(proper.size)
    for layer in proper.layers:
        for start in layer:
            stack = [start]
            while stack:
                node = stack.pop()
                if seen[node]:
                    continue
                seen[node] = 1
                layers[proper.layer[node]].append(node)
                stack.extend(below for below in reversed(proper.down[node]) if not seen[below])
    return layers


def _sweep(proper: Proper, layers: list[list[int]], downwards: bool) -> None:
    """Sort each layer by the mean position of its neighbours in the layer before; others keep their place."""
    position = _positions(layers, proper.size)
    neighbours = proper.up if downwards else proper.down
    indices = range(1, len(layers)) if downwards else range(len(layers) - 2, -1, -1)
    for index in indices:
        layer = layers[index]
        if len(layer) > 1:
            keys = {}
            for place, node in enumerate(layer):
                near = neighbours[node]
                if len(near) == 1:
                    keys[node] = float(position[near[0]])
                elif near:
                    keys[node] = sum([position[other] for other in near]) / len(near)
                else:
                    keys[node] = _kept_key(layer, place, neighbours, position)
            layer.sort(key=keys.__getitem__)
        for place, node in enumerate(layer):
            position[node] = place


def _kept_key(layer: Sequence[int], place: int, neighbours: Sequence[Sequence[int]], position: Sequence[int]) -> float:
    """The key of a node without neighbours: that of the nearest node to its left that has some."""
    for before in range(place - 1, max(-1, place - 64), -1):
        near = neighbours[layer[before]]
        if near:
            return sum([position[other] for other in near]) / len(near)
    return -1.0


def _exchange(proper: Proper, layers: list[list[int]], token: Token) -> None:
    position = _positions(layers, proper.size)
    for _ in range(8):
        check(token)
        improved = False
        for layer in layers:
            for place in range(len(layer) - 1):
                left, right = layer[place], layer[place + 1]
                now = _pair(proper, left, right, position)
                if now and _pair(proper, right, left, position) < now:
                    layer[place], layer[place + 1] = right, left
                    position[left], position[right] = place + 1, place
                    improved = True
        if not improved:
            return


def _pair(proper: Proper, left: int, right: int, position: Sequence[int]) -> int:
    """Crossings between the edges of two neighbours, ``left`` standing left of ``right``."""
    total = 0
    for sides in (proper.up, proper.down):
        others = sorted(position[other] for other in sides[right])
        for other in sides[left]:
            # Ends of the right node that lie strictly left of an end of the left node cross it.
            total += _below(others, position[other])
    return total


def _below(ordered: Sequence[int], limit: int) -> int:
    count = 0
    for value in ordered:
        if value >= limit:
            break
        count += 1
    return count
