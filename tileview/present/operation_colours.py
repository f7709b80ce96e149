"""One colour for each operation, the same in every view: who makes most has the first categories of the theme."""

from __future__ import annotations

import heapq
from collections import defaultdict
from typing import Final

from tileview.analysis.holdings import step_holdings
from tileview.model.timeline import Timeline, fullest_tile

COLOURED: Final = 6
"""Operations with a colour of their own; parameters and all other operations are grey."""
_CANDIDATES: Final = 24
"""Operations whose bytes are counted: those with the fullest steps of their own."""


def operation_colours(timeline: Timeline | None) -> dict[int, int]:
    """Operation → index of its category in the theme, in order of the bytes that its plan makes.

    Counted on the fullest tile at two places, the larger counts: at the fullest step of the program, and at the fullest
    of the operation's own steps, so that what overflows later has its colour too. Of equals the lower number is first.
    The colours depend on the timeline alone: they stay as they are while one walks through the steps.
    """
    if timeline is None or not timeline.steps:
        return {}
    totals: list[int] = timeline.tiles.worst()[:, 2].tolist()
    fullest: dict[int, int] = {}
    for step in timeline.steps:
        if step.source is not None and totals[step.index] > totals[fullest.setdefault(step.source, step.index)]:
            fullest[step.source] = step.index
    peak = totals.index(max(totals))
    made = dict(step_holdings(timeline, peak, fullest_tile(timeline.tiles, peak)).own)
    chosen = heapq.nsmallest(_CANDIDATES, fullest, key=lambda operation: (-totals[fullest[operation]], operation))
    roots: defaultdict[int, list[int]] = defaultdict(list)
    for root in timeline.made_at:
        maker = timeline.maker(root)
        if maker in chosen and root not in timeline.unavailable_roots:
            roots[maker].append(root)
    for operation in chosen:
        at = fullest[operation]
        tile = fullest_tile(timeline.tiles, at)
        live = set(timeline.steps[at].live).intersection(roots[operation])
        held = sum(int(timeline.tiles.allocation(root)[tile]) for root in live)
        held += int(timeline.tiles.scratch(at)[tile].sum())
        made[operation] = max(made.get(operation, 0), held)
    ranked = sorted((operation for operation in made if made[operation]), key=lambda one: (-made[one], one))
    return {operation: index for index, operation in enumerate(ranked[:COLOURED])}
