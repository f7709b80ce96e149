"""How the boxes of the graph are coloured, the figures on them, and a legend that says what the colours mean.

Three ways: by the share of the usage of one tile at one step (the selected peak, as a rule), by the share of the
planner's cycles, or by what each operation is doing at the step. A share is a bar along the lower edge of the box, as
long as the share of the whole: first what the plan of the operation makes (what it computes), in the operation's own
colour, then, lower and grey, the parameters and inputs that it reads (what it exchanges). Colour is never alone: the
share is written on the box, the step's operation carries a mark, what is at fault says by how much, what is unknown is
dashed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from tileview.analysis.words import counted
from tileview.core.cycles.words import exact_cycles, short_cycles
from tileview.graphlayout import Structure
from tileview.model.sizes import exact_text, kib_text, percent_text, size_text
from tileview.present.colours import ink_on
from tileview.present.graph_figures import STATE_WORDS, Ints, NodeFigures, NodeMarks, StepState

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
