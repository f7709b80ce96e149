"""When each value of a program is touched, in the events that addresses are chosen by, and what works beside it.

Events are counted from 1, a Repeat's body once. A step takes one event, at which its inputs and results are touched,
but for a Repeat (one before and one after its body), a Copy that packs through scratch (two) and a Sum of several
contributors (two a stage, and two). Program inputs are touched at 0, parameters also at the end, outputs at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tileview.core.memory.scratch import contributors, stages, step_scratch
from tileview.model.graph import InputKind
from tileview.model.placement import END
from tileview.model.program import Copy, Program, Repeat, Step, Sum, Value


@dataclass(frozen=True, slots=True)
class Working:
    """Scratch of a step: ``factor`` shards of the value ``result`` on each tile that holds one, live ``first`` …
    ``last``. ``what`` names it: "packing", "received parts", "own part", "accumulator"."""

    step: Step
    result: int
    factor: int
    first: int
    last: int
    what: str


@dataclass(slots=True)
class Events:
    """``lives``: value → first and last touch; a value that nothing touches is left out. ``last``: the last event of
    the run. ``repeats`` in the order of the steps, outer before inner. ``stepped``: values that a step other than a
    Repeat touches. ``steps``: the index in the flattened program of the step that each event, from 1 on, belongs to."""

    lives: dict[int, tuple[int, int]] = field(default_factory=dict)
    last: int = 0
    working: list[Working] = field(default_factory=list)
    repeats: list[Repeat] = field(default_factory=list)
    stepped: set[int] = field(default_factory=set)
    steps: list[int] = field(default_factory=list)

    def touch(self, values: Iterable[int], event: int) -> None:
        for value in values:
            first, last = self.lives.get(value, (event, event))
            self.lives[value] = (min(first, event), max(last, event))


def find_events(program: Program) -> Events:
    """Walk the steps and number their events."""
    events = Events()
    for given in program.inputs:
        events.touch((given.value,), 0)
        if given.kind is InputKind.PARAMETER:
            events.touch((given.value,), END)
    _walk(program.steps, program.values, events, 0)
    events.touch(program.outputs, END)
    return events


def _walk(steps: Sequence[Step], values: tuple[Value, ...], events: Events, index: int) -> int:
    """Number the events of some steps, the first of them ``index`` of the flattened program; the index behind them."""
    for step in steps:
        if isinstance(step, Repeat):
            events.repeats.append(step)
            members = [member for sequence in step.iterated for member in sequence]
            touched = [*step.inputs, *step.results, *step.arguments, *step.yields, *members]
            events.last += 1
            events.touch(touched, events.last)
            before = len(events.steps)
            events.steps.append(0)
            index = events.steps[before] = _walk(step.body, values, events, index)
            events.last += 1
            events.touch(touched, events.last)
            events.steps.append(index)
            index += 1
            continue
        event = events.last + 1
        events.stepped.update(step.inputs, step.results)
        if isinstance(step, Sum) and contributors(step, values) > 1:
            _sum(step, event, values, events)
        elif isinstance(step, Copy) and step_scratch(step, values) is not None:
            events.touch(step.inputs, event)
            events.touch(step.results, event + 1)
            events.working.append(Working(step, step.results[0], 1, event, event + 1, "packing"))
            events.last = event + 1
        else:
            events.touch((*step.inputs, *step.results), event)
            events.last = event
        events.steps += [index] * (events.last + 1 - event)
        index += 1
    return index


def _sum(step: Sum, event: int, values: tuple[Value, ...], events: Events) -> None:
    """Two events a stage while the parts come in, one before them and one for the result."""
    count = contributors(step, values)
    at_a_time = stages(step.staging, count)
    rounds = -(-(count - 1) // at_a_time)
    even = rounds % 2 == 0
    result = step.results[0]
    events.touch(step.inputs, event)
    events.touch(step.inputs, event + 2 * rounds - 1)
    events.touch(step.results, event + 2 * rounds + 1)
    end = event + 2 * rounds
    events.working += [
        Working(step, result, at_a_time, event, end, "received parts"),
        Working(step, result, 1, event + 1, end + even, "own part"),
        Working(step, result, 1, event + 2, end + 1 - even, "accumulator"),
    ]
    events.last = end + 1
