"""How the boxes of the graph are coloured, the figures on them, and a legend that says what the colours mean.

Two ways to colour: by the share of the usage of one tile at one step (the selected peak, as a rule), or by what each
operation is doing at that step. A share is a bar in the box, as long as it is large, plain for what the operation made
and striped for the parameters and inputs it reads; its colour runs from dark to bright as in the tile map, in both
themes. Colour is never alone: the share is also written on the box, the step's operation carries a mark, what is
unknown is dashed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tileview.analysis.words import counted
from tileview.graphlayout import Structure
from tileview.model.sizes import exact_text, percent_text, size_text
from tileview.present.colours import Ramp, ink_on, ramp_table
from tileview.present.graph_figures import STATE_WORDS, Ints, NodeFigures, StepState

Bytes = npt.NDArray[np.uint8]
Bools = npt.NDArray[np.bool_]
Parts = npt.NDArray[np.float64]

SHADES = 64
"""Colours of the ramp; few enough that boxes of one colour can be drawn together."""


class ColourMode(StrEnum):
    SHARE = "share"
    STEP = "step"


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

    ``shades`` (k, 3) colours, ``inks`` (k, 3) black or white for marks on them. In mode SHARE a shade colours a bar,
    ``bars`` (n, 2): how far its plain and its striped part reach, as parts of the box's width; in mode STEP it fills
    the box and ``bars`` is empty. Texts are made when they are asked for: of thousands of boxes few are read.
    """

    mode: ColourMode
    shade: Ints
    shades: Bytes
    inks: Bytes
    bars: Parts
    legend: Legend
    structure: Structure
    figures: NodeFigures

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
        """What the operation holds, for the upper corner of its box: ``42.4 %``, empty for nothing."""
        if not self._says(node):
            return ""
        own = int(self.figures.own[node])
        share = percent_text(own, self.figures.usage) if self.figures.usage else "0 %"
        if self.is_partly_unknown(node):
            return f"≥ {share}" if own else "n/a"
        return share if own else ""

    def is_partly_unknown(self, node: int) -> bool:
        """Whether an allocation of the node has no size."""
        return bool(self.figures.unavailable[node])

    def read_text(self, node: int) -> str:
        """What the parameters and inputs it reads hold, for the lower corner: ``params 17.0 %``, empty for nothing.

        ``reads`` where it may be both.
        """
        read = int(self.figures.read[node]) if self._says(node) else 0
        if not read:
            return ""
        entry = self.structure.nodes[node]
        names = len(set(entry.parameters))
        word = "params" if names > 1 or entry.body is not None else "param" if names else "input"
        if names and self.figures.has_hosts and node in self.structure.input_readers:
            word = "reads"
        return f"{word} {percent_text(read, self.figures.usage)}"

    def figure_tip(self, node: int) -> tuple[str, ...]:
        """The exact figures of a node, lines for its tooltip."""
        figures = self.figures
        if not self._says(node):
            return ()
        own, read, missing = int(figures.own[node]), int(figures.read[node]), int(figures.unavailable[node])
        where = f" on tile {figures.tile} at step {figures.step}"
        whole = exact_text(figures.usage)
        if missing:
            lines = [f"Holds at least {size_text(own)}{where}: {counted(missing, 'allocation')} unavailable"]
        elif own:
            lines = [f"Holds {size_text(own)}{where}, {percent_text(own, figures.usage)} of {whole}"]
        else:
            lines = [f"Holds nothing{where}"]
        if read:
            part = percent_text(read, figures.usage)
            lines.append(f"The parameters and inputs it reads hold {size_text(read)} there, {part} of {whole}")
        return tuple(lines)


def shade_table() -> Bytes:
    """(SHADES, 3): Viridis, dark for little and bright for much, as in the tile map."""
    return ramp_table(Ramp.VIRIDIS, SHADES)


@lru_cache(maxsize=1)
def shade_inks() -> Bytes:
    """(SHADES, 3): black or white for marks on each shade; read-only."""
    inks = _inks(shade_table())
    inks.flags.writeable = False
    return inks


def _inks(colours: Bytes) -> Bytes:
    return np.array([ink_on((r, g, b)) for r, g, b in colours.tolist()], dtype=np.uint8).reshape(-1, 3)


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
    shown: Ints | None = None,
    expanded: Bools | None = None,
    state_colours: Sequence[tuple[int, int, int]] = (),
) -> GraphStyle:
    """Colours, texts and legend for the boxes in view.

    Parameters
    ----------
    shown, expanded
        Nodes in view, and which of them are Repeats drawn around their body: the ramp ends at the largest share of a
        box that has a bar, so that the legend's end is a figure one can see.
    state_colours
        A colour for each :class:`StepState`, for mode STEP.
    """
    shown = np.arange(len(structure.nodes)) if shown is None else shown
    filled = shown if expanded is None else shown[~expanded]
    bars: Parts = np.zeros((0, 2))
    if mode is ColourMode.SHARE:
        most = int(figures.bytes[filled].max(initial=0))
        shades, inks = shade_table(), shade_inks()
        shade = shades_of(figures.bytes, most)
        # Expanded Repeats may hold more than any bar; they have none.
        bars = np.minimum(np.stack([figures.own, figures.bytes], axis=1) / max(most, 1), 1.0)
        legend = _share_legend(figures, most, bool(figures.read[filled].any()))
    else:
        shades = np.array(state_colours, dtype=np.uint8).reshape(-1, 3)
        inks = _inks(shades)
        shade = figures.states.astype(np.int64)
        shade[[node.index for node in structure.nodes if node.is_port]] = -1
        legend = _step_legend(figures)
    return GraphStyle(mode, shade, shades, inks, bars, legend, structure, figures)


# -- legend ---------------------------------------------------------------------------------------------------------


def _share_legend(figures: NodeFigures, most: int, has_stripes: bool) -> Legend:
    if figures.step is None:
        return Legend("No figures: this state has no estimate", None, ())
    least = "at least " if figures.unavailable.any() else ""
    title = f"Share of {least}{exact_text(figures.usage)} on tile {figures.tile} at step {figures.step}"
    ramp = ("0", f"{percent_text(most, figures.usage)} ({exact_text(most)})") if most and figures.usage else None
    striped = "its parameters and inputs" if figures.has_hosts else "its parameters"
    entries = [LegendEntry(f"shade:{SHADES * 3 // 4}", striped, "stripes")] * has_stripes
    if figures.unavailable.any():
        entries.append(LegendEntry("unavailable", "size unavailable", "hatch"))
    notes = []
    if figures.outside and figures.usage:
        share = percent_text(figures.outside, figures.usage)
        notes.append(f"{share} ({exact_text(figures.outside)}) belong to no box.")
    if figures.shared and figures.usage:
        share = percent_text(figures.shared, figures.usage)
        notes.append(f"{share} ({exact_text(figures.shared)}) are read by several operations: counted for the first.")
    return Legend(title, ramp, tuple(entries), tuple(notes))


_STATE_MARKS = {StepState.RUNS: "run", StepState.HOLDS: "band", StepState.IDLE: "dots"}
"""How boxes of a state are drawn besides their colour: with a triangle, with a band below, with a dotted frame."""


def _step_legend(figures: NodeFigures) -> Legend:
    if figures.step is None:
        return Legend("No figures: this state has no estimate", None, ())
    order = (StepState.RUNS, StepState.HOLDS, StepState.DONE, StepState.COMING, StepState.IDLE)
    entries = [
        LegendEntry(f"shade:{int(state)}", STATE_WORDS[state], _STATE_MARKS.get(state, ""))
        for state in order
        if state is not StepState.IDLE or figures.has_idle
    ]
    title = figures.step_text[:1].upper() + figures.step_text[1:]
    notes = () if figures.runs >= 0 else ("This step belongs to no operation of the graph.",)
    return Legend(title, None, tuple(entries), notes)
