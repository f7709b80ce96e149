"""How the boxes of the graph are coloured, the figures on them, and a legend that says what the colours mean.

Two ways to colour: by the share of the usage of one tile at one step (the selected peak, as a rule), or by what each
operation is doing at that step. The figures are those of the operation tree: an allocation is counted under the
operation whose result its values stem from, scratch under the operation of the step. Colour is never alone: the share
is written on the box, the step's operation carries a mark, what is unknown is dashed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

import numpy as np
import numpy.typing as npt

from tileview.graphlayout import Structure
from tileview.model.sizes import exact_text, size_text
from tileview.model.timeline import Timeline
from tileview.present.colours import Ramp, ink_on, ramp_table
from tileview.present.operation_rows import Shares
from tileview.present.tables import percent_text
from tileview.present.words import counted

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
Bools = npt.NDArray[np.bool_]

SHADES = 64
"""Colours of the ramp; few enough that boxes of one colour can be drawn together."""


class ColourMode(StrEnum):
    SHARE = "share"
    STEP = "step"


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


# -- figures --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NodeFigures:
    """Bytes a node at one step on one tile, the bodies of Repeats included; ports have none.

    ``bytes`` (n,) int64; ``unavailable`` (n,) counts allocations without a size; ``usage`` is what the tile holds,
    ``outside`` the part of it that stems from the graph's inputs and so belongs to no box. ``states`` (n,) holds a
    :class:`StepState`, ``runs`` the node of the step itself (−1: none).
    """

    bytes: Ints
    unavailable: Ints
    usage: int
    outside: int
    step: int | None
    tile: int | None
    step_text: str
    states: npt.NDArray[np.int8]
    runs: int = -1
    has_idle: bool = False
    """Whether some operation makes no step."""


def no_figures(structure: Structure) -> NodeFigures:
    """Figures before there is an estimate."""
    zeros = np.zeros(len(structure.nodes), dtype=np.int64)
    states = np.zeros(len(structure.nodes), dtype=np.int8)
    return NodeFigures(zeros, zeros, 0, 0, None, None, "", states)


def node_figures(
    structure: Structure,
    shares: Shares,
    timeline: Timeline,
    step: int,
    tile: int,
    owners: Mapping[int, int],
    spans: Mapping[int, tuple[int, int]] | None = None,
) -> NodeFigures:
    """The figures at a step on a tile.

    Parameters
    ----------
    shares : Shares
        From :func:`tileview.present.operation_rows.shares`, at that step and tile.
    owners : mapping
        Graph value → operation, from :func:`tileview.present.operation_rows.owners_of_values`.
    spans : mapping
        From :func:`step_spans`; computed where missing.
    """
    count = len(structure.nodes)
    bytes_of, missing = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    outside = 0
    for source, into in ((shares.bytes, bytes_of), (shares.unavailable, missing)):
        for operation, number in source.items():
            node = None if operation is None else structure.by_operation.get(operation)
            if node is not None:
                into[node] += number
            elif source is shares.bytes:
                outside += number
    states = _states(structure, timeline, step, owners, step_spans(timeline) if spans is None else spans)
    _add_bodies(structure, bytes_of)
    _add_bodies(structure, missing)
    shown = timeline.steps[step]
    runs = -1 if shown.source is None else structure.by_operation.get(shown.source, -1)
    text = f"step {step}: {shown.kind}"
    idle = any(states[node.index] == StepState.IDLE and not node.is_port for node in structure.nodes)
    return NodeFigures(bytes_of, missing, shares.usage, outside, step, tile, text, states, runs, idle)


def step_spans(timeline: Timeline) -> dict[int, tuple[int, int]]:
    """Operation → first and last step that it makes."""
    found: dict[int, tuple[int, int]] = {}
    for step in timeline.steps:
        if step.source is not None:
            first, _ = found.get(step.source, (step.index, step.index))
            found[step.source] = (first, step.index)
    return found


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
        origin = timeline.values[root].origin
        node = None if origin is None else structure.by_operation.get(owners.get(origin, -1))
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


def _add_bodies(structure: Structure, numbers: Ints) -> None:
    for region in reversed(structure.regions):
        if region.owner is not None and region.nodes:
            numbers[region.owner] += numbers[list(region.nodes)].sum()


# -- colours --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """``token`` is a theme token (or ``shade:N``, a shade of the ramp), ``mark`` how the swatch is drawn besides."""

    token: str
    text: str
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Legend:
    """What the colours mean. ``ramp`` is (low text, high text) where there is one; ``notes`` are whole sentences."""

    title: str
    ramp: tuple[str, str] | None
    entries: tuple[LegendEntry, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GraphStyle:
    """How nodes look. ``shade`` (n,): index into ``shades``, −1 for a box without a shade (ports, nothing held).

    ``shades`` (k, 3) colours, ``inks`` (k, 3) black or white for text on them. ``share_texts`` are what stands in the
    box's corner (empty for none); ``figure_tips`` the exact figures for tooltips.
    """

    mode: ColourMode
    shade: Ints
    shades: Bytes
    inks: Bytes
    share_texts: tuple[str, ...]
    figure_tips: tuple[str, ...]
    legend: Legend
    running: int = -1
    states: npt.NDArray[np.int8] = field(default_factory=lambda: np.zeros(0, dtype=np.int8))


def shade_table(is_dark: bool, neutral: tuple[int, int, int]) -> Bytes:
    """(SHADES, 3): Viridis, its low end mixed with the colour of a box that holds nothing.

    On a light background it is turned round: more always stands out more, and a hundredth of the peak looks nearly
    like nothing. Lightness still changes in one direction only, so the ramp can be read in grey.
    """
    table = ramp_table(Ramp.VIRIDIS, SHADES).astype(np.float64)
    if not is_dark:
        table = table[::-1]
    weight = np.minimum(1.0, 0.25 + 1.5 * np.linspace(0.0, 1.0, SHADES))[:, np.newaxis]
    mixed: Bytes = np.rint(weight * table + (1.0 - weight) * np.array(neutral)).astype(np.uint8)
    return mixed


def shades_of(amounts: Ints, most: int) -> Ints:
    """Shades 0 … SHADES − 1 in proportion to amounts of 0 … ``most``, −1 where the amount is 0.

    Integer arithmetic: byte counts up to 2^57 are divided exactly, larger ones lose bits that no eye sees.
    """
    if most <= 0:
        return np.full(len(amounts), -1, dtype=np.int64)
    shift = max(0, most.bit_length() - 56)
    scaled = (amounts >> shift) * (SHADES - 1) // max(1, most >> shift)
    return np.where(amounts > 0, np.clip(scaled, 0, SHADES - 1), -1)


def graph_style(
    structure: Structure,
    figures: NodeFigures,
    mode: ColourMode,
    is_dark: bool,
    neutral: tuple[int, int, int] = (233, 235, 239),
    shown: Ints | None = None,
    expanded: Bools | None = None,
    state_colours: Sequence[tuple[int, int, int]] = (),
) -> GraphStyle:
    """Colours, texts and legend for the boxes in view.

    Parameters
    ----------
    neutral
        The colour of a box that holds nothing.
    shown, expanded
        Nodes in view, and which of them are Repeats drawn around their body: the ramp ends at the largest share of a
        box that is filled, so that the legend's end is a figure one can see.
    state_colours
        A colour for each :class:`StepState`, for mode STEP.
    """
    shown = np.arange(len(structure.nodes)) if shown is None else shown
    filled = shown if expanded is None else shown[~expanded]
    texts, tips = _figure_texts(structure, figures)
    if mode is ColourMode.SHARE:
        most = int(figures.bytes[filled].max(initial=0))
        shades = shade_table(is_dark, neutral)
        shade = shades_of(figures.bytes, most)
        legend = _share_legend(figures, most)
    else:
        shades = np.array(state_colours, dtype=np.uint8).reshape(-1, 3)
        shade = figures.states.astype(np.int64)
        shade[[node.index for node in structure.nodes if node.is_port]] = -1
        legend = _step_legend(figures)
    inks = np.array([ink_on((int(r), int(g), int(b))) for r, g, b in shades], dtype=np.uint8).reshape(-1, 3)
    running = figures.runs
    return GraphStyle(mode, shade, shades, inks, texts, tips, legend, running, figures.states)


def _figure_texts(structure: Structure, figures: NodeFigures) -> tuple[tuple[str, ...], tuple[str, ...]]:
    texts, tips = [], []
    where = "" if figures.tile is None else f" on tile {figures.tile} at step {figures.step}"
    for node, size, missing in zip(structure.nodes, figures.bytes.tolist(), figures.unavailable.tolist(), strict=True):
        text = tip = ""
        if not node.is_port and figures.step is not None:
            share = percent_text(size, figures.usage) if figures.usage else "0 %"
            if missing:
                text = f"≥ {share}" if size else "n/a"
                tip = f"Holds at least {size_text(size)}{where}: {counted(missing, 'allocation')} unavailable"
            elif size:
                text = share
                tip = f"Holds {size_text(size)}{where}, {share} of {exact_text(figures.usage)}"
            else:
                tip = f"Holds nothing{where}"
        texts.append(text)
        tips.append(tip)
    return tuple(texts), tuple(tips)


def _share_legend(figures: NodeFigures, most: int) -> Legend:
    if figures.step is None:
        return Legend("No figures: this state has no estimate", None, ())
    least = "at least " if figures.unavailable.any() else ""
    title = f"Share of {least}{exact_text(figures.usage)} on tile {figures.tile} at step {figures.step}"
    ramp = ("0", f"{percent_text(most, figures.usage)} ({exact_text(most)})") if most and figures.usage else None
    entries = [LegendEntry("raised", "holds nothing then")]
    if figures.unavailable.any():
        entries.append(LegendEntry("unavailable", "size unavailable", "hatch"))
    notes = []
    if figures.outside and figures.usage:
        share = percent_text(figures.outside, figures.usage)
        notes.append(f"Inputs, parameters and their copies hold {share} ({exact_text(figures.outside)}): in no box.")
    return Legend(title, ramp, tuple(entries), tuple(notes))


def _step_legend(figures: NodeFigures) -> Legend:
    if figures.step is None:
        return Legend("No figures: this state has no estimate", None, ())
    order = (StepState.RUNS, StepState.HOLDS, StepState.DONE, StepState.COMING, StepState.IDLE)
    entries = [
        LegendEntry(f"shade:{int(state)}", STATE_WORDS[state], "run" if state is StepState.RUNS else "")
        for state in order
        if state is not StepState.IDLE or figures.has_idle
    ]
    title = figures.step_text[:1].upper() + figures.step_text[1:]
    notes = () if figures.runs >= 0 else ("This step belongs to no operation of the graph.",)
    return Legend(title, None, tuple(entries), notes)
