"""The boxes of the graph: what they hold and do at a step, what they say, their colours and the legend.

An allocation is counted under the operation whose plan makes it, scratch under the operation of the step,
parameters and inputs under the operation that reads them (:mod:`tileview.analysis.holdings`).

Three ways: by the share of the usage of one tile at one step (the selected peak, as a rule), by the share of the
planner's cycles, or by what each operation is doing at the step. A share is a bar along the lower edge of the box, as
long as the share of the whole: first what the plan of the operation makes (what it computes), in the operation's own
colour, then, lower and grey, the parameters and inputs that it reads (what it exchanges). Colour is never alone: the
share is written on the box, the step's operation carries a mark, what is at fault says by how much, what is unknown is
dashed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from tileview.analysis.holdings import Holdings
from tileview.analysis.operation_words import kind_words
from tileview.analysis.overflows import Overflow
from tileview.analysis.words import counted, precision_short, shape_text
from tileview.core.cycles.prices import ProgramCycles
from tileview.core.cycles.words import exact_cycles, short_cycles
from tileview.graphlayout import LayoutNode, NodeKind, Structure
from tileview.model.graph import Graph, RepeatKind
from tileview.model.plan import (
    AttentionDispatch,
    BlockedGemm,
    GemmOperator,
    LayerNormParts,
    Orientation,
    OutputStationary,
    ParallelReduction,
    Plan,
    Pointwise,
    Unknown,
    ViewDispatch,
)
from tileview.model.sizes import Unavailable, exact_text, kib_text, percent_text, size_text
from tileview.model.tensor import Shape
from tileview.model.timeline import Timeline
from tileview.present.operation_rows import step_spans
from tileview.present.plan_words import plan_is_known, plan_words
from tileview.present.scales import ink_on

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


def short_plan(plan: Plan) -> str:
    """A plan in the few words that fit a box; :func:`tileview.present.plan_words.plan_words` says it all."""
    if isinstance(plan.operator, Unknown):
        return f"unknown operator {plan.operator.name}"
    dispatch = plan.dispatch
    if isinstance(dispatch, BlockedGemm):
        words = [_distribution(dispatch)]
        if isinstance(plan.operator, GemmOperator):
            words.append(precision_short(plan.operator.multiply))
        if dispatch.orientation is Orientation.SWAPPED:
            words.append("swapped")
        return ", ".join(words)
    if isinstance(dispatch, AttentionDispatch):
        return f"{'materialized' if dispatch.materialized else 'online'}, {dispatch.key_block_rows} key rows a block"
    if isinstance(dispatch, LayerNormParts):
        return f"in {dispatch.parts} parts"
    if isinstance(dispatch, Pointwise):
        return f"on {counted(plan.output.format.layout.tiling.tile_count, 'tile')}"
    if isinstance(dispatch, ViewDispatch):
        return "one copy"
    assert isinstance(dispatch, Unknown)
    return f"unknown dispatch {dispatch.name}"


def _distribution(dispatch: BlockedGemm) -> str:
    how = dispatch.distribution
    if isinstance(how, ParallelReduction):
        return f"grid {how.row_partitions} × {how.column_partitions} × {how.inner_partitions}"
    if isinstance(how, OutputStationary):
        return "output stationary"
    return f"unknown distribution {how.name}"


@dataclass(frozen=True, slots=True)
class NodeWords:
    """What a box says whatever the step: ``title`` (``21 Gemm``), ``detail`` (the plan), ``tip`` lines for the
    tooltip.
    """

    title: str
    detail: str
    tip: tuple[str, ...]
    is_unknown: bool = False
    is_edited: bool = False


def node_words(
    structure: Structure,
    graph: Graph,
    plans: Mapping[int, Plan],
    edited: Sequence[int] = (),
    unknown: Mapping[int, str] | None = None,
    fused: Mapping[int, int] | None = None,
) -> tuple[NodeWords, ...]:
    """The words of every node.

    Parameters
    ----------
    edited : sequence of int
        Operations whose plan is not the file's: their plan is marked with an asterisk.
    unknown : mapping
        Operation → why the estimate does not model it.
    fused : mapping
        Operation → the one whose step does its work as well.
    """
    reasons = {} if unknown is None else unknown
    joined = {} if fused is None else fused
    changed = frozenset(edited)
    operations = {operation.id: operation for operation, _ in graph.walk()}
    shapes = dict(graph.shapes)
    for operation in operations.values():
        if isinstance(operation.kind, RepeatKind):
            shapes.update(operation.kind.body.value_shapes)
    found = []
    for node in structure.nodes:
        if node.operation is None:
            found.append(_port_words(node, shapes))
            continue
        operation = operations[node.operation]
        plan = plans.get(node.operation)
        is_unknown = node.unknown or node.operation in reasons or (plan is not None and not plan_is_known(plan))
        is_edited = node.operation in changed
        title = f"{node.operation} {node.label}"
        if node.kind is NodeKind.REPEAT:
            title += f" ×{node.count}"
        detail = _detail(structure, node, plan)
        if node.operation in joined:
            detail = f"in the step of op {joined[node.operation]}"
        tip = [f"Operation {node.operation}: {kind_words(operation.kind)}"]
        if is_unknown:
            title = f"? {title}"
            reason = reasons.get(node.operation, "TileView does not know this operation or its plan")
            tip.append(f"Unknown: {reason}")
        if plan is not None:
            tip.append(f"Plan: {plan_words(plan)}{' (not the file’s plan)' if is_edited else ''}")
        made = [f"{shape_text(shapes[value])}" for value in operation.results if value in shapes]
        if made:
            tip.append(f"Makes {', '.join(made)}")
        tip.extend(_reads(node))
        found.append(NodeWords(title, f"* {detail}" if is_edited else detail, tuple(tip), is_unknown, is_edited))
    return tuple(found)


def _detail(structure: Structure, node: LayoutNode, plan: Plan | None) -> str:
    if node.body is not None:
        return counted(structure.operations_in(node.body), "operation")
    return "no plan" if plan is None else short_plan(plan)


def _reads(node: LayoutNode) -> list[str]:
    lines = []
    if node.parameters:
        names = list(dict.fromkeys(node.parameters))
        more = f" and {len(names) - 6:,} more" if len(names) > 6 else ""
        lines.append(f"Reads {counted(len(names), 'parameter')}: {', '.join(names[:6])}{more}")
    if node.missing:
        lines.append(f"Reads what nothing produces: value {', '.join(map(str, node.missing[:6]))}")
    return lines


def _port_words(node: LayoutNode, shapes: Mapping[int, Shape]) -> NodeWords:
    shape = shapes.get(node.value) if node.value is not None else None
    tip = {
        NodeKind.INPUT: "Input of the graph",
        NodeKind.OUTPUT: "Output of the graph",
        NodeKind.ARGUMENT: "Comes into the body of the Repeat",
        NodeKind.YIELD: "Handed on to the next round, and out after the last",
    }[node.kind]
    shown = "" if shape is None else f" {shape_text(shape)}"
    lines = [f"{tip}: {node.label}, value {node.value}{shown}", *_reads(node)]
    return NodeWords(node.label, "", tuple(lines))


Bytes = npt.NDArray[np.uint8]
Parts = npt.NDArray[np.float64]

MADE: Final = "made"
READ: Final = "read"
UNAVAILABLE: Final = "unavailable"


class ColourMode(StrEnum):
    """What colours and shares on the boxes say."""

    SHARE = "share"
    CYCLES = "cycles"
    STEP = "step"

    @property
    def words(self) -> str:
        return _MODE_WORDS[self]

    @property
    def has_bars(self) -> bool:
        return self is not ColourMode.STEP


_MODE_WORDS = {
    ColourMode.SHARE: "Share of the peak",
    ColourMode.CYCLES: "Share of cycles",
    ColourMode.STEP: "Step by step",
}


@dataclass(frozen=True, slots=True)
class GraphStyle:
    """How nodes look.

    ``shade`` (n,): index into ``shades``, −1 for a box without one (a port, nothing known). ``shades`` (k, 3) colours,
    ``inks`` (k, 3) black or white for texts on them. In modes with bars a shade colours one, ``bars`` (n, 2): how
    far what is made, and then what is read besides, reaches, as parts of the box's width; in mode STEP it fills the box
    and ``bars`` is empty. ``legend``: (what a swatch shows, words), where that is MADE, READ, UNAVAILABLE, the number
    of a :class:`StepState`, or empty for words alone. Texts are made when they are asked for: of thousands of boxes few
    are read.
    """

    mode: ColourMode
    shade: Ints
    shades: Bytes
    inks: Bytes
    bars: Parts
    legend: tuple[tuple[str, str], ...]
    structure: Structure
    figures: NodeFigures
    marks: NodeMarks

    @property
    def running(self) -> int:
        """The node of the step itself, −1 where none is."""
        return self.figures.runs

    @property
    def states(self) -> npt.NDArray[np.int8]:
        """(n,): a :class:`StepState` for each node."""
        return self.figures.states

    def _says(self, node: int) -> bool:
        return self.figures.step is not None and not self.structure.nodes[node].is_port

    def share_text(self, node: int) -> str:
        """What the plan of the operation makes, or all its cycles, for the upper corner of its box: ``42.4 %``."""
        if not self._says(node) or (self.mode is ColourMode.CYCLES and not self.figures.usage):
            return ""
        own = int(self.figures.own[node])
        if self.mode is ColourMode.CYCLES:
            own += int(self.figures.read[node])
        share = percent_text(own, self.figures.usage) if self.figures.usage else "0.0 %"
        if self.is_partly_unknown(node):
            return f"≥ {share}" if own else "n/a"
        return share

    def is_partly_unknown(self, node: int) -> bool:
        """Whether an allocation of the node has no size."""
        return bool(self.figures.unavailable[node])

    def read_text(self, node: int) -> str:
        """What the parameters and inputs it reads hold, for the lower corner: ``params 17.0 %`` (``reads`` where it may
        be both), or how many cycles it exchanges; empty for nothing.
        """
        read = int(self.figures.read[node]) if self._says(node) else 0
        if not read:
            return ""
        if self.mode is ColourMode.CYCLES:
            return f"exchange {percent_text(read, self.figures.usage)}"
        entry = self.structure.nodes[node]
        names = len(set(entry.parameters))
        word = "params" if names > 1 or entry.body is not None else "param" if names else "input"
        if names and self.figures.has_hosts and node in self.structure.input_readers:
            word = "reads"
        return f"{word} {percent_text(read, self.figures.usage)}"

    def over_text(self, node: int) -> str:
        """By how much the operation is at fault, ``29.8 KiB over``; a Repeat names the one in its body."""
        if node not in self.marks.faults:
            return ""
        operation, over = self.marks.faults[node]
        inside = "" if operation == self.structure.nodes[node].operation else f"op {operation}: "
        return f"{inside}{kib_text(over)} over"

    def figure_tip(self, node: int) -> tuple[str, ...]:
        """The exact figures of a node, lines for its tooltip."""
        figures = self.figures
        if not self._says(node) or (self.mode is ColourMode.CYCLES and not figures.usage):
            return ()
        own, read, missing = int(figures.own[node]), int(figures.read[node]), int(figures.unavailable[node])
        if self.mode is ColourMode.CYCLES:
            least = "at least " if missing else ""
            share = percent_text(own + read, figures.usage)
            text = f"{least}{own + read:,} of the planner's cycles in all runs, {share} of {figures.usage:,}"
            return (f"{text[:1].upper()}{text[1:]}; {read:,} of them exchange",)
        where = f" on tile {figures.tile} at step {figures.step}"
        whole = exact_text(figures.usage)
        if missing:
            lines = [f"Makes at least {size_text(own)}{where}: {counted(missing, 'allocation')} unavailable"]
        elif own:
            lines = [f"Makes {size_text(own)}{where}, {percent_text(own, figures.usage)} of {whole}"]
        else:
            lines = [f"Makes nothing{where}"]
        if read:
            part = percent_text(read, figures.usage)
            lines.append(f"The parameters and inputs it reads hold {size_text(read)} there, {part} of {whole}")
        if node in self.marks.faults:
            operation, over = self.marks.faults[node]
            lines.append(f"Operation {operation} is at fault for an overflow of {size_text(over)}")
        return tuple(lines)


def graph_style(
    structure: Structure,
    figures: NodeFigures,
    marks: NodeMarks,
    mode: ColourMode,
    colours: Sequence[tuple[int, int, int]],
) -> GraphStyle:
    """Colours, texts and legend.

    Parameters
    ----------
    colours
        In modes with bars one for each category, and a last one for all other operations; in mode STEP one for each
        :class:`StepState`.
    """
    shades = np.array(colours, dtype=np.uint8).reshape(-1, 3)
    inks = np.array([ink_on((r, g, b)) for r, g, b in shades.tolist()], dtype=np.uint8).reshape(-1, 3)
    is_port = np.array([node.is_port for node in structure.nodes], dtype=np.bool_)
    bars: Parts = np.zeros((0, 2))
    if mode.has_bars:
        shade = np.where(marks.colours < 0, len(shades) - 1, marks.colours)
        bars = np.minimum(np.stack([figures.own, figures.bytes], axis=1) / max(figures.usage, 1), 1.0)
        legend = _share_legend(figures) if mode is ColourMode.SHARE else _cycles_legend(figures)
    else:
        shade = figures.states.astype(np.int64)
        legend = _step_legend(figures)
    shade[is_port] = -1
    return GraphStyle(mode, shade, shades, inks, bars, legend, structure, figures, marks)


_NO_FIGURES = (("", "No figures: this state has no estimate"),)


def _share_legend(figures: NodeFigures) -> tuple[tuple[str, str], ...]:
    if figures.step is None:
        return _NO_FIGURES
    entries = [(MADE, "made by its plan")]
    if figures.read.any():
        entries.append((READ, "parameters and inputs it reads" if figures.has_hosts else "parameters it reads"))
    if figures.unavailable.any():
        entries.append((UNAVAILABLE, "size unavailable"))
    least = "at least " if figures.unavailable.any() else ""
    entries.append(("", f"on tile {figures.tile}, step {figures.step}: {least}{exact_text(figures.usage)}"))
    for part, words in (
        (figures.outside, "belong to no box"),
        (figures.shared, "are read by several operations: counted for the first"),
    ):
        if part and figures.usage:
            entries.append(("", f"{percent_text(part, figures.usage)} ({exact_text(part)}) {words}"))
    return tuple(entries)


def _cycles_legend(figures: NodeFigures) -> tuple[tuple[str, str], ...]:
    if figures.step is None or not figures.usage:
        return (("", "No cycles: the planner's price is not known here"),)
    least = "at least " if figures.unavailable.any() else ""
    entries = [(MADE, "computing"), (READ, "exchange")]
    entries.append(("", f"of {least}{short_cycles(figures.usage)} planner's cycles in all runs"))
    if figures.outside:
        part = percent_text(figures.outside, figures.usage)
        entries.append(("", f"{part} ({exact_cycles(figures.outside)}) belong to no box"))
    return tuple(entries)


def _step_legend(figures: NodeFigures) -> tuple[tuple[str, str], ...]:
    if figures.step is None:
        return _NO_FIGURES
    order = (StepState.RUNS, StepState.HOLDS, StepState.DONE, StepState.COMING, StepState.IDLE)
    entries = [("", figures.step_text[:1].upper() + figures.step_text[1:])]
    entries += [
        (str(int(state)), STATE_WORDS[state]) for state in order if state is not StepState.IDLE or figures.has_idle
    ]
    if figures.runs < 0:
        entries.append(("", "this step belongs to no operation of the graph"))
    return tuple(entries)
