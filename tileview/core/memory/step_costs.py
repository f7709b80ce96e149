"""What a step takes beside its operands, remembered from program to program.

Successive programs of a re-planner share most of their steps and values: the objects themselves, not equals. What a
step costs depends on the step, on what it reads first and on what it makes; while all three are the same objects the
answer is the same, and finding it takes one look-up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from tileview.core.memory.exchange import step_exchange
from tileview.core.memory.scratch import Scratch, step_scratch
from tileview.model.program import Copy, Step, Sum, Value
from tileview.model.sizes import Size

_MOST_KNOWN: Final = 1 << 14


class StepCost(NamedTuple):
    """``scratch``: working memory, None where there is none. ``exchange``: bytes of exchange rows."""

    scratch: Scratch | None
    exchange: Size


FREE: Final = StepCost(None, 0)

_KNOWN: dict[tuple[int, int, int], tuple[Step, Value, Value, StepCost]] = {}
"""Costs by identity; each entry holds its objects, so that their ids stay their own."""


def step_cost(step: Step, values: Sequence[Value]) -> StepCost:
    """Scratch and exchange rows of a step; only Copy and Sum have any."""
    if not isinstance(step, (Copy, Sum)):
        return FREE
    source, result = values[step.inputs[0]], values[step.results[0]]
    key = (id(step), id(source), id(result))
    known = _KNOWN.get(key)
    if known is not None:
        return known[3]
    cost = StepCost(step_scratch(step, values), step_exchange(step, values))
    if len(_KNOWN) >= _MOST_KNOWN:
        _KNOWN.clear()
    _KNOWN[key] = (step, source, result, cost)
    return cost
