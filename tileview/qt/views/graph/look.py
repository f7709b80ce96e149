"""What the boxes of the graph say and look like in the state that a session is in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from PySide6.QtGui import QFont, QFontMetricsF

from tileview.analysis.fusions import fusion_facts
from tileview.analysis.holdings import holdings, host_inputs, input_readers, owners_of_values
from tileview.graphlayout import Sizes, Spacing, Structure
from tileview.model.graph import Graph
from tileview.model.recipe import Recipe
from tileview.model.timeline import Timeline, fullest_tile
from tileview.present.graph_boxes import (
    ColourMode,
    GraphStyle,
    NodeFigures,
    NodeMarks,
    NodeWords,
    cycle_figures,
    graph_style,
    no_figures,
    no_marks,
    node_figures,
    node_marks,
    node_words,
)
from tileview.present.operation_colours import COLOURED
from tileview.present.operation_rows import step_spans
from tileview.present.scales import parse_rgb
from tileview.qt.base.theme import Theme
from tileview.qt.views.graph.boxes import BAR
from tileview.session.session import Session, recipe_of_graph

_STATE_TOKENS = ("background", "background", "border", "selection", "accent")
"""Theme tokens of the states of a step: idle (with a dotted frame), coming, done, holds (with a band), runs."""
_REST_TOKEN = "field"
"""The theme token of operations without a colour of their own."""


def box_sizes(font: QFont) -> Sizes:
    """Boxes as large as the font needs for a title and a usual plan."""
    metrics = QFontMetricsF(font)
    height = metrics.height()
    wide = metrics.horizontalAdvance("grid 16 × 46 × 12, F16")
    return Sizes(
        node=(round(wide + metrics.horizontalAdvance("params 9.9 %") + 28), round(2 * height + 12 + BAR)),
        port=(round(wide), round(height + 6)),
        header=round(height + 10),
        padding=16.0,
        least_body=round(wide),
        spacing=Spacing(gap=26.0, bend_gap=16.0, layer_gap=34.0, loop=18.0),
    )


def legend_notes(words: Sequence[NodeWords], around: int | None, hops: int) -> tuple[str, ...]:
    """What the legend has to say besides the colours: unknown boxes, and that only a neighbourhood is shown."""
    notes = []
    if any(entry.is_unknown for entry in words):
        notes.append("dashed with “?”: not known to TileView, in no sum")
    if around is not None:
        notes.append(f"only operations at most {hops} away from operation {around}")
    return tuple(notes)


class GraphLook:
    """Words, figures and colours for a layout; keeps what does not change from step to step."""

    def __init__(self, session: Session) -> None:
        self.mode = ColourMode.SHARE
        self._session = session
        self._sizes: dict[int, int] = {}
        self._sizes_of: int | None = None
        self._owners: dict[int, int] = {}
        self._readers: dict[int, tuple[int, ...]] = {}
        self._hosts: frozenset[int] = frozenset()
        self._spans: dict[int, tuple[int, int]] = {}
        self._colours: Mapping[int, int] = {}
        self._marks: tuple[Structure, NodeMarks] | None = None

    def recipe(self) -> Recipe | None:
        """The current recipe; that of the linked file where a timeline is open."""
        return recipe_of_graph(self._session)

    def take_graph(self, graph: Graph | None) -> None:
        """Another graph."""
        self._owners = {} if graph is None else owners_of_values(graph)
        self._readers = {} if graph is None else input_readers(graph)
        self._hosts = frozenset() if graph is None else host_inputs(graph)

    def take_timeline(self, timeline: Timeline | None, colours: Mapping[int, int]) -> None:
        """Another estimate, with the categories of its operations."""
        self._sizes, self._sizes_of, self._marks = {}, None, None
        self._spans = {} if timeline is None else step_spans(timeline)
        has_graph = timeline is not None and self.recipe() is not None
        self._colours = colours if has_graph else {}

    def forget_marks(self) -> None:
        """What is over came to be known."""
        self._marks = None

    def words(self, structure: Structure, recipe: Recipe) -> tuple[NodeWords, ...]:
        """What the boxes say whatever the step."""
        estimate = self._session.estimate
        program = None if estimate is None else estimate.program
        unknown = {} if program is None else dict(program.unknown)
        fusions = None if estimate is None else fusion_facts(estimate)
        fused = {} if fusions is None else fusions.went_into
        return node_words(structure, recipe.graph, recipe.plans, tuple(self._session.state.swaps), unknown, fused)

    def marks(self, structure: Structure) -> NodeMarks:
        """Faults and colours, which hold whatever the step."""
        if self._session.timeline is None:
            return no_marks(structure)
        if self._marks is None or self._marks[0] is not structure:
            self._marks = structure, node_marks(structure, self._session.overflows, self._colours)
        return self._marks[1]

    def figures(self, structure: Structure) -> NodeFigures:
        """Bytes (or cycles) and states at the selected step, on the selected tile or the worst one."""
        timeline, selection = self._session.timeline, self._session.selection
        step = selection.step
        if timeline is None or step is None or step >= len(timeline.steps):
            return no_figures(structure)
        tile = fullest_tile(timeline.tiles, step) if selection.tile is None else selection.tile
        if tile >= timeline.tile_count:
            return no_figures(structure)
        if tile != self._sizes_of:
            self._sizes, self._sizes_of = {}, tile
        held = holdings(timeline, step, tile, self._owners, self._readers, self._hosts, self._sizes)
        figures = node_figures(structure, held, timeline, step, tile, self._owners, self._spans)
        if self.mode is not ColourMode.CYCLES:
            return figures
        estimate = self._session.estimate
        cycles = None if estimate is None else estimate.cycles
        return (
            replace(no_figures(structure), step=step, tile=tile)
            if cycles is None
            else cycle_figures(structure, cycles, figures)
        )

    def style(self, structure: Structure, theme: Theme) -> GraphStyle:
        """Colours and figures for the boxes."""
        if self.mode.has_bars:
            colours = [*theme.categories[:COLOURED], getattr(theme, _REST_TOKEN)]
        else:
            colours = [getattr(theme, token) for token in _STATE_TOKENS]
        return graph_style(
            structure, self.figures(structure), self.marks(structure), self.mode, [parse_rgb(text) for text in colours]
        )
