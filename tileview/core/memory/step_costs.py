"""What a step takes beside its operands, by its nature: worked out once, however its values are numbered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from tileview.core.columns import ProgramColumns
from tileview.core.memory.exchange import step_exchange
from tileview.core.memory.scratch import step_scratch
from tileview.model.program import Copy, Step, Sum, Value
from tileview.model.sizes import Size


class StepCost(NamedTuple):
    """``factor``: working memory, in shards of the step's result; 0 for none. ``exchange``: bytes of exchange rows."""

    factor: int
    exchange: Size


FREE: Final = StepCost(0, 0)

_KNOWN: dict[int, StepCost] = {}
"""Nature → cost."""


def step_costs(columns: ProgramColumns) -> list[StepCost]:
    """Scratch and exchange rows of every step of a program."""
    return columns.by_nature(_KNOWN, _cost)


def _cost(step: Step, values: Sequence[Value]) -> StepCost:
    """Only Copy and Sum have any."""
    if not isinstance(step, (Copy, Sum)):
        return FREE
    scratch = step_scratch(step, values)
    return StepCost(0 if scratch is None else scratch.factor, step_exchange(step, values))
