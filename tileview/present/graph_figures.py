"""What the boxes of the graph hold at a step, and what each operation is doing then.

An allocation is counted under the operation whose plan makes it, scratch under the operation of the step,
parameters and inputs under the operation that reads them (:mod:`tileview.analysis.holdings`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from tileview.analysis.holdings import Holdings
from tileview.analysis.overflows import Overflow
from tileview.core.cycles.prices import ProgramCycles
from tileview.graphlayout import Structure
from tileview.model.sizes import Unavailable
from tileview.model.timeline import Timeline
from tileview.present.operation_rows import step_spans

Ints = npt.NDArray[np.int64]


class StepState(IntEnum):
    """What an operation is doing at a step; IDLE makes no step at all."""

    IDLE = 0
    COMING = 1
    DONE = 2
    HOLDS = 3
    RUNS = 4


STATE_WORDS = {
    StepState.RUNS: "runs at this step",
    StepState.HOLDS: "holds memory then",
    StepState.DONE: "done, holds nothing",
    StepState.COMING: "still to come",
    StepState.IDLE: "makes no step of its own",
}
STATE_SHORT = {
    StepState.RUNS: "runs",
    StepState.HOLDS: "holds",
    StepState.DONE: "done",
    StepState.COMING: "to come",
    StepState.IDLE: "no step",
}
"""The same in one word, for the boxes: the colours of some states lie close together."""


@dataclass(frozen=True, slots=True)
class NodeFigures:
    """Bytes a node at one step on one tile, the bodies of Repeats included; ports have none.

    ``own`` (n,) int64: what its operations made, with scratch; ``read`` (n,) int64: the parameters and inputs that they
    read; ``unavailable`` (n,) counts allocations without a size. ``usage`` is what the tile holds, ``outside`` the part
    that belongs to no box, ``shared`` the part of ``read`` that several operations read and the first has.
    ``states`` (n,) holds a :class:`StepState`, ``runs`` the node of the step itself (−1: none).
    """

    own: Ints
    read: Ints
    unavailable: Ints
    usage: int
    outside: int
    shared: int
    step: int | None
    tile: int | None
    step_text: str
    states: npt.NDArray[np.int8]
    runs: int = -1
    has_idle: bool = False
    """Whether some operation makes no step."""
    has_hosts: bool = False
    """Whether ``read`` holds anything that is no parameter."""

    @property
    def bytes(self) -> Ints:
        """(n,) int64: both together."""
        return self.own + self.read


@dataclass(frozen=True, slots=True)
class NodeMarks:
    """What holds of nodes whatever the step. ``colours`` (n,): the category of an operation
    (:func:`tileview.present.operation_colours.operation_colours`), −1 for grey; a Repeat has that of the first in its
    body. ``faults``: node → (operation at fault, bytes over), for a Repeat the worst in its body. ``worst`` is the node
    of the worst overflow's operation, −1 where nothing is over.
    """

    colours: Ints
    faults: Mapping[int, tuple[int, int]]
    worst: int = -1


def no_marks(structure: Structure) -> NodeMarks:
    """Marks before there is an estimate."""
    return NodeMarks(np.full(len(structure.nodes), -1, dtype=np.int64), {})


def node_marks(structure: Structure, found: Sequence[Overflow], colours: Mapping[int, int]) -> NodeMarks:
    """The marks for overflows, the worst first, and colours of operations."""
    marks = no_marks(structure).colours
    for operation, colour in sorted(colours.items(), key=lambda item: -item[1]):
        node = structure.by_operation.get(operation)
        if node is not None:
            marks[[node, *structure.around(node)]] = colour
    faults: dict[int, tuple[int, int]] = {}
    for one in found:
        node = None if one.operation is None else structure.by_operation.get(one.operation)
        if one.operation is None or node is None:
            continue
        for place in (node, *structure.around(node)):
            if one.over_bytes > faults.get(place, (0, 0))[1]:
                faults[place] = one.operation, one.over_bytes
    worst = -1 if not found or found[0].operation is None else structure.by_operation.get(found[0].operation, -1)
    return NodeMarks(marks, faults, worst)


def no_figures(structure: Structure) -> NodeFigures:
    """Figures before there is an estimate."""
    zeros = np.zeros(len(structure.nodes), dtype=np.int64)
    states = np.zeros(len(structure.nodes), dtype=np.int8)
    return NodeFigures(zeros, zeros, zeros, 0, 0, 0, None, None, "", states)


def node_figures(
    structure: Structure,
    held: Holdings,
    timeline: Timeline,
    step: int,
    tile: int,
    owners: Mapping[int, int],
    spans: Mapping[int, tuple[int, int]] | None = None,
) -> NodeFigures:
    """The figures at a step on a tile.

    Parameters
    ----------
    held : Holdings
        From :func:`tileview.analysis.holdings.holdings`, at that step and tile.
    owners : mapping
        Graph value → operation, from :func:`tileview.analysis.holdings.owners_of_values`.
    spans : mapping
        From :func:`tileview.present.operation_rows.step_spans`; computed where missing.
    """
    own, lost_own = _by_node(structure, held.own)
    read, lost_read = _by_node(structure, held.read)
    missing, _ = _by_node(structure, held.unavailable)
    states = _states(structure, timeline, step, owners, step_spans(timeline) if spans is None else spans)
    shown = timeline.steps[step]
    return NodeFigures(
        own,
        read,
        missing,
        held.usage,
        held.outside + lost_own + lost_read,
        held.shared,
        step,
        tile,
        f"step {step}: {shown.kind}",
        states,
        -1 if shown.source is None else structure.by_operation.get(shown.source, -1),
        any(not structure.nodes[index].is_port for index in np.flatnonzero(states == int(StepState.IDLE)).tolist()),
        held.has_hosts,
    )


def cycle_figures(structure: Structure, cycles: ProgramCycles, figures: NodeFigures) -> NodeFigures:
    """The planner's cycles of all runs in place of bytes: ``own`` what is computed, ``read`` the exchange.

    ``unavailable`` counts operations without a price; step, tile and states stay those of ``figures``.
    """
    prices = cycles.operations()
    known = {one: price for one, price in prices.items() if not isinstance(price.cycles, Unavailable)}
    exchange = {one: int(price.exchange) for one, price in known.items()}  # type: ignore[arg-type]
    computed = {one: int(price.cycles) - exchange[one] for one, price in known.items()}  # type: ignore[arg-type]
    own, lost_own = _by_node(structure, computed)
    read, lost_read = _by_node(structure, exchange)
    missing, _ = _by_node(structure, {one: 1 for one in prices if one not in known})
    outside = cycles.known - sum(computed.values()) - sum(exchange.values()) + lost_own + lost_read
    return replace(
        figures, own=own, read=read, unavailable=missing, usage=cycles.known, outside=outside, shared=0, has_hosts=False
    )


def _by_node(structure: Structure, numbers: Mapping[int, int]) -> tuple[Ints, int]:
    """Numbers by operation as (n,) by node, bodies added to their Repeats; and the sum of those without a node."""
    found, lost = np.zeros(len(structure.nodes), dtype=np.int64), 0
    for operation, number in numbers.items():
        node = structure.by_operation.get(operation)
        if node is None:
            lost += number
        else:
            found[node] += number
    for region in reversed(structure.regions):
        if region.owner is not None and region.nodes:
            found[region.owner] += found[list(region.nodes)].sum()
    return found, lost


def _states(
    structure: Structure,
    timeline: Timeline,
    step: int,
    owners: Mapping[int, int],
    spans: Mapping[int, tuple[int, int]],
) -> npt.NDArray[np.int8]:
    states = np.zeros(len(structure.nodes), dtype=np.int8)
    for operation, (first, _) in spans.items():
        node = structure.by_operation.get(operation)
        if node is not None:
            states[node] = StepState.COMING if first > step else StepState.DONE
    for root in timeline.steps[step].live:
        origin, maker = timeline.values[root].origin, timeline.maker(root)
        if maker is None and origin is not None:
            maker = owners.get(origin)
        node = None if maker is None else structure.by_operation.get(maker)
        if node is not None:
            states[node] = StepState.HOLDS
    source = timeline.steps[step].source
    node = None if source is None else structure.by_operation.get(source)
    if node is not None:
        states[node] = StepState.RUNS
    for region in reversed(structure.regions):
        if region.owner is not None and region.nodes:
            inner = states[list(region.nodes)]
            states[region.owner] = max(int(states[region.owner]), _body_state(inner))
    return states


def _body_state(inner: npt.NDArray[np.int8]) -> int:
    """The state of a body: its most active operation's; HOLDS where some are done and some to come."""
    most = int(inner.max(initial=0))
    if most == StepState.DONE and bool((inner == StepState.COMING).any()):
        return StepState.HOLDS
    return most
