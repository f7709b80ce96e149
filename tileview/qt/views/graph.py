"""The operator graph: boxes by layer, Repeats around their bodies, coloured by what each holds of the selected peak."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QMarginsF, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QAction, QColor, QFontMetricsF, QKeySequence, QPainter, QShowEvent
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from tileview.graphlayout import Sizes, Spacing, repeats
from tileview.model.graph import Graph
from tileview.model.plan import Plan
from tileview.model.recipe import Recipe
from tileview.model.timeline import Timeline
from tileview.present.allocation_rows import AllocationFigures
from tileview.present.graph_style import (
    ColourMode,
    GraphStyle,
    NodeFigures,
    graph_style,
    no_figures,
    node_figures,
    step_spans,
)
from tileview.present.graph_words import node_words
from tileview.present.operation_rows import owners_of_values, shares
from tileview.qt.bridge import Bridge
from tileview.qt.draw.graph_bar import GraphBar
from tileview.qt.draw.graph_canvas import GraphCanvas
from tileview.qt.draw.graph_layouts import GraphLayouts, LayoutRequest, LayoutResult
from tileview.qt.draw.graph_scene import GraphScene, Highlight
from tileview.qt.draw.legend_strip import LegendStrip
from tileview.qt.views.base import View
from tileview.qt.views.steps_list import StepsList

_STATE_TOKENS = ("background", "surface", "raised", "selection", "accent")
"""Theme tokens of the states of a step: idle, coming, done, holds, runs."""


class GraphView(View):
    """The graph of the open recipe, of the recipe linked to an open timeline, or the steps of a timeline alone."""

    title = "Graph"
    name = "graph"

    def __init__(self, bridge: Bridge, parent: QWidget | None = None) -> None:
        super().__init__(bridge, parent)
        self.bar = GraphBar(self)
        self.canvas = GraphCanvas(bridge.theme, self)
        self.legend = LegendStrip(bridge.theme, self)
        self.steps = StepsList(bridge, self)
        self.layouts = GraphLayouts(self)
        self._graph: Graph | None = None
        self._result: LayoutResult | None = None
        self._number = 0
        self._anchor: tuple[int, QPointF] | None = None
        self._fresh = True
        self._around: int | None = None
        self._found: tuple[int, ...] = ()
        self._sibling: tuple[tuple[int, ...], int] = ((), 0)
        self._mode = ColourMode.SHARE
        self._figures: AllocationFigures | None = None
        self._owners: dict[int, int] = {}
        self._spans: dict[int, tuple[int, int]] = {}
        self._stale = False
        self._build()
        self._actions = self._make_actions()
        self._connect()
        self.on_document()

    def _build(self) -> None:
        page = QWidget(self)
        inner = QVBoxLayout(page)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(0)
        inner.addWidget(self.bar)
        inner.addWidget(self.canvas, 1)
        inner.addWidget(self.legend)
        self.pages = QStackedWidget(self)
        self.pages.addWidget(page)
        self.pages.addWidget(self.steps)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self.pages)
        self.setFocusProxy(self.canvas)

    def _connect(self) -> None:
        self.canvas.picked.connect(self._pick)
        self.canvas.toggled.connect(self.toggle)
        self.canvas.hovered.connect(self._hover)
        self.canvas.asked.connect(self._asked)
        self.bridge.hovered.connect(self._on_hovered)
        self.bar.searched.connect(self._search)
        self.bar.stepped.connect(self._go_to_match)
        self.bar.left.connect(self._leave_search)
        self.bar.mode_changed.connect(self.set_mode)
        self.bar.neighbourhood_changed.connect(self._on_neighbourhood)
        self.bar.remark_chosen.connect(self._on_remark)
        self.layouts.ready.connect(self._on_layout)
        self.layouts.failed.connect(self._on_layout_failed)
        self.layouts.progressed.connect(self._on_progress)

    def _make_actions(self) -> list[QAction]:
        rows = (
            ("Find in the graph", "Ctrl+F", self.find_operation),
            ("Show the whole graph", "", self.fit),
            ("Centre the selected operation", "", self.centre_selection),
            ("Expand all Repeats", "", self.expand_all),
            ("Collapse all Repeats", "", self.collapse_all),
            ("Show the neighbourhood only", "", self.toggle_neighbourhood),
            ("Go to a producer", "", self.go_to_producer),
            ("Go to a consumer", "", self.go_to_consumer),
            ("Colour by share or by step", "", self.next_mode),
        )
        actions = []
        for text, keys, slot in rows:
            action = QAction(text, self)
            action.triggered.connect(slot)
            if keys:
                action.setShortcut(QKeySequence(keys))
                action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
                self.addAction(action)
            actions.append(action)
        self.bar.menu.addActions(actions[1:])
        return actions

    # -- what is shown --------------------------------------------------------------------------------------------

    @property
    def result(self) -> LayoutResult | None:
        """The layout in view; None while the first one is made, or where there is no graph."""
        return self._result

    @property
    def shown_style(self) -> GraphStyle | None:
        return None if self.canvas.scene is None else self.canvas.scene.style

    def _recipe(self) -> Recipe | None:
        """The recipe in force; that of the linked file where a timeline is open."""
        recipe = self.session.recipe
        if recipe is None and self.session.linked is not None:
            recipe = self.session.linked.recipe
        return recipe

    def on_document(self) -> None:
        self.layouts.cancel()
        self._result = None
        self._around = None
        self._found = ()
        self._fresh = True
        self.bar.clear()
        self.steps.clear()
        self.canvas.set_scene(None)
        self.canvas.set_marks(Highlight())
        self._take_graph()
        self.on_estimate()

    def on_pins(self) -> None:
        recipe = self._recipe()
        if (None if recipe is None else recipe.graph) is not self._graph:
            self.on_document()

    def _take_graph(self) -> None:
        recipe = self._recipe()
        self._graph = None if recipe is None else recipe.graph
        has_steps = recipe is None and self.session.document is not None
        self.pages.setCurrentIndex(1 if has_steps else 0)
        self.setFocusProxy(self.steps.table if has_steps else self.canvas)
        self._owners = {} if self._graph is None else owners_of_values(self._graph)
        if self._graph is not None:
            self._ask(collapsed=None)
        else:
            self.canvas.set_waiting("" if self.session.document is not None else "Nothing is open")
            self.legend.show_style(None, self.bridge.theme)

    def on_state(self) -> None:
        self._rebuild()

    def on_estimate(self) -> None:
        timeline = self.session.timeline
        self._figures = None if timeline is None else AllocationFigures(timeline)
        self._spans = {} if timeline is None else step_spans(timeline)
        if self._graph is None:
            self.steps.show_timeline(timeline)
        else:
            self._rebuild()
            if self.canvas.is_opening:
                self.canvas.show_readable(self._first_focus())

    def on_selection(self) -> None:
        if self._graph is None:
            self.steps.show_selection()
            return
        self._restyle()
        self._follow_selection()

    def on_theme(self) -> None:
        self.canvas.set_theme(self.bridge.theme)
        self.steps.set_theme()
        self._restyle()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._restyle()

    # -- layout ---------------------------------------------------------------------------------------------------

    def _sizes(self) -> Sizes:
        """Boxes as large as the font needs."""
        metrics = QFontMetricsF(self.canvas.font())
        height = metrics.height()
        wide = metrics.horizontalAdvance("16 × 46 × 12, F16, swapped")
        return Sizes(
            node=(round(wide + metrics.horizontalAdvance("12 params") + 28), round(2 * height + 14)),
            port=(round(wide), round(height + 6)),
            header=round(height + 10),
            padding=16.0,
            least_body=round(wide),
            spacing=Spacing(gap=26.0, bend_gap=16.0, layer_gap=34.0, loop=18.0),
        )

    def _ask(self, collapsed: frozenset[int] | None) -> None:
        """Ask for a layout of the graph in hand."""
        assert self._graph is not None
        known = self._result if self._result is not None and self._result.request.graph is self._graph else None
        self._number += 1
        self.canvas.set_waiting("Laying out …")
        self.layouts.request(
            LayoutRequest(
                self._number,
                self._graph,
                self._sizes(),
                None if known is None else known.structure,
                None if known is None else known.neighbours,
                collapsed,
                self._around,
                self.bar.hops(),
            )
        )

    def _on_progress(self, number: int, fraction: float) -> None:
        if number == self._number and self.layouts.is_busy:
            self.canvas.set_waiting(f"Laying out … {round(100 * fraction)} %")

    def _on_layout_failed(self, number: int, text: str) -> None:
        self.canvas.set_waiting("The graph could not be laid out")
        self.bridge.message.emit(f"The graph could not be laid out: {text.strip().splitlines()[-1]}")

    def _on_layout(self, result: LayoutResult) -> None:
        self._result = result
        self.canvas.set_waiting("")
        self._rebuild()
        self.bar.set_remarks(result.structure.problems, result.picture.notes)
        self.bar.set_neighbourhood(self._around is not None)
        if self._anchor is not None:
            self.canvas.keep_in_place(*self._anchor)
            self._anchor = None
        elif self._fresh:
            self._fresh = False
            self.canvas.show_readable(self._first_focus())
        elif self._around is not None:
            self.canvas.show_readable(result.structure.by_operation.get(self._around))
        self._mark()
        if not self.canvas.is_opening:
            self.canvas.ensure_visible(self.canvas.marks.selected)

    def _first_focus(self) -> int | None:
        """Where the eye should start: the selected operation, else that of the selected step."""
        marks = self._highlight()
        start = marks.selected if marks.selected is not None else marks.holder
        if start is None and self.shown_style is not None and self.shown_style.running >= 0:
            start = self._shown_node(self.shown_style.running)
        return start

    def toggle(self, node: int) -> None:
        """Collapse or expand a Repeat; its title stays where it is."""
        if self._result is None:
            return
        corner = self.canvas.corner(node)
        self._anchor = None if corner is None else (node, corner)
        self._ask(self._result.collapsed ^ {node})

    def expand_all(self) -> None:
        self._collapse(frozenset())

    def collapse_all(self) -> None:
        if self._result is not None:
            self._collapse(repeats(self._result.structure))

    def _collapse(self, collapsed: frozenset[int]) -> None:
        if self._result is not None and collapsed != self._result.collapsed:
            self._fresh = True
            self._ask(collapsed)

    # -- words, figures, colours ----------------------------------------------------------------------------------

    def _rebuild(self) -> None:
        """Words and colours for the picture in hand."""
        result, recipe = self._result, self._recipe()
        if result is None or recipe is None:
            return
        words = node_words(
            result.structure, recipe.graph, self._plans(), tuple(self.session.state.swaps), self._unknown()
        )
        style = self._make_style(result)
        scene = GraphScene(result.structure, result.picture, words, style, self.bridge.theme, self.canvas.font())
        self.canvas.set_scene(scene)
        self._show_legend(style)
        self._mark()

    def _plans(self) -> Mapping[int, Plan]:
        recipe = self._recipe()
        return {} if recipe is None else recipe.plans

    def _unknown(self) -> dict[int, str]:
        estimate = self.session.estimate
        program = None if estimate is None else estimate.program
        return {} if program is None else dict(program.unknown)

    def _restyle(self) -> None:
        """Only colours and figures: another step or tile."""
        scene, result = self.canvas.scene, self._result
        self._stale = not self.isVisible()
        if scene is None or result is None:
            return
        scene.style = self._make_style(result)
        scene.set_theme(self.bridge.theme, self.canvas.font())
        self._show_legend(scene.style)
        self.canvas.update()

    def _make_style(self, result: LayoutResult) -> GraphStyle:
        colors = [QColor(getattr(self.bridge.theme, token)) for token in ("raised", *_STATE_TOKENS)]
        neutral, *states = [(color.red(), color.green(), color.blue()) for color in colors]
        return graph_style(
            result.structure,
            self._node_figures(result),
            self._mode,
            self.bridge.theme.is_dark,
            neutral,
            result.picture.nodes,
            result.picture.expanded,
            states,
        )

    def _node_figures(self, result: LayoutResult) -> NodeFigures:
        timeline: Timeline | None = self.session.timeline
        step = self.session.selection.step
        if timeline is None or self._figures is None or step is None or step >= len(timeline.steps):
            return no_figures(result.structure)
        table = self._figures.table(step, self.session.selection.tile)
        assert table.tile is not None
        share = shares(table, timeline, self._owners)
        return node_figures(result.structure, share, timeline, step, table.tile, self._owners, self._spans)

    def _show_legend(self, style: GraphStyle) -> None:
        extra = []
        scene = self.canvas.scene
        if scene is not None and any(words.is_unknown for words in scene.words):
            extra.append("Dashed with “?”: not known to TileView, in no sum.")
        if self._around is not None:
            extra.append(f"Only operations at most {self.bar.hops()} away from operation {self._around}.")
        self.legend.show_style(style, self.bridge.theme, tuple(extra))

    @property
    def mode(self) -> ColourMode:
        return self._mode

    def set_mode(self, mode: ColourMode) -> None:
        """Colour by share or by step."""
        self._mode = mode
        self.bar.show_mode(mode)
        self._restyle()

    def next_mode(self) -> None:
        self.set_mode(ColourMode.STEP if self._mode is ColourMode.SHARE else ColourMode.SHARE)

    # -- selection ------------------------------------------------------------------------------------------------

    def _shown_node(self, node: int) -> int | None:
        """The node itself where it is shown, else the innermost shown Repeat around it."""
        result, scene = self._result, self.canvas.scene
        if result is None or scene is None:
            return None
        if node in scene.place:
            return node
        return next((owner for owner in result.structure.around(node) if owner in scene.place), None)

    def _selected_node(self) -> int | None:
        operation = self.session.selection.operation
        if operation is None or self._result is None:
            return None
        return self._result.structure.by_operation.get(operation)

    def _highlight(self) -> Highlight:
        node = self._selected_node()
        shown = None if node is None else self._shown_node(node)
        found = None
        if self._found or self.bar.query():
            found = frozenset(place for match in self._found if (place := self._shown_node(match)) is not None)
        return Highlight(
            node if shown == node else None, None if shown == node else shown, self.canvas.marks.hovered, found
        )

    def _mark(self) -> None:
        self.canvas.set_marks(self._highlight())

    def _follow_selection(self) -> None:
        before = self.canvas.marks
        self._mark()
        marks = self.canvas.marks
        node = self._selected_node()
        is_outside = node is not None and marks.selected is None and marks.holder is None
        if self._around is not None and is_outside and self._result is not None:
            self._around = self.session.selection.operation
            self._ask(self._result.collapsed)
            return
        if (marks.selected, marks.holder) != (before.selected, before.holder):
            self.canvas.ensure_visible(marks.selected if marks.selected is not None else marks.holder)

    def _pick(self, node: int | None) -> None:
        if self._result is None:
            return
        entry = None if node is None else self._result.structure.nodes[node]
        if entry is not None and entry.operation is None:
            return
        self.session.select_operation(None if entry is None else entry.operation)

    def _hover(self, node: int | None) -> None:
        entry = None if node is None or self._result is None else self._result.structure.nodes[node]
        self.bridge.hovered.emit(None if entry is None else entry.operation, None, None)

    def _on_hovered(self, operation: object, root: object, tile: object) -> None:
        node = None
        if isinstance(operation, int) and self._result is not None:
            found = self._result.structure.by_operation.get(operation)
            node = None if found is None else self._shown_node(found)
        marks = self._highlight()
        self.canvas.set_marks(Highlight(marks.selected, marks.holder, node, marks.found))

    def centre_selection(self) -> None:
        """Bring the selected operation (or that of the step) to the middle, readable."""
        start = self._first_focus()
        scale = max(self.canvas.scale, 0.75)
        if start is None or not self.canvas.centre(start, scale):
            self.bridge.message.emit("No operation is selected")

    def fit(self) -> None:
        self.canvas.fit()

    def _asked(self, command: str) -> None:
        {
            "producers": self.go_to_producer,
            "consumers": self.go_to_consumer,
            "next_producer": self._next_sibling,
            "next_consumer": self._next_sibling,
            "centre": self.centre_selection,
            "neighbourhood": self.toggle_neighbourhood,
            "colours": self.next_mode,
        }[command]()

    def go_to_producer(self) -> None:
        """Select the operation that makes the first operand; the others by { and }."""
        self._go_along(producers=True)

    def go_to_consumer(self) -> None:
        """Select the first operation that reads the result; the others by { and }."""
        self._go_along(producers=False)

    def _go_along(self, producers: bool) -> None:
        node, result = self._selected_node(), self._result
        if node is None or result is None:
            self.bridge.message.emit("Select an operation first")
            return
        sides = result.neighbours.producers if producers else result.neighbours.consumers
        others = sides[node]
        word = "producer" if producers else "consumer"
        number = result.structure.nodes[node].operation
        if not others:
            self.bridge.message.emit(f"Operation {number} has no {word}")
            return
        names = ", ".join(str(result.structure.nodes[other].operation) for other in others[:8])
        more = " …" if len(others) > 8 else ""
        self.bridge.message.emit(f"{word.capitalize()}s of operation {number}: {names}{more}")
        self._sibling = (others, 0)
        self._pick(others[0])

    def _next_sibling(self) -> None:
        """Another producer (or consumer) of the operation that [ or ] was pressed on."""
        others, at = self._sibling
        if others:
            at = (at + 1) % len(others)
            self._sibling = (others, at)
            self._pick(others[at])

    # -- neighbourhood --------------------------------------------------------------------------------------------

    def toggle_neighbourhood(self) -> None:
        """Show only what is close to the selected operation, or everything again."""
        self._on_neighbourhood(self._around is None, self.bar.hops())

    def _on_neighbourhood(self, is_on: bool, hops: int) -> None:
        if self._result is None:
            return
        around = None
        if is_on:
            around = self._around if self._around is not None else self.session.selection.operation
            if around is None and self.shown_style is not None and self.shown_style.running >= 0:
                around = self._result.structure.nodes[self.shown_style.running].operation
            if around is None:
                self.bridge.message.emit("Select an operation first")
                self.bar.set_neighbourhood(False)
                return
        self._around = around
        self._fresh = around is None
        self._ask(self._result.collapsed)

    # -- search ---------------------------------------------------------------------------------------------------

    def find_operation(self) -> None:
        """Put the cursor into the search box."""
        box = self.bar.search if self._graph is not None else self.steps.search
        box.setFocus()
        box.selectAll()

    def _search(self, text: str) -> None:
        """Mark all matches and bring the first one into view while one types."""
        scene, result = self.canvas.scene, self._result
        self._found = () if scene is None or result is None else self.bar.matching(result.structure, scene.words)
        self._mark()
        if self._found:
            self._show_match()

    def _show_match(self) -> None:
        match = self._found[self.bar.match_index()]
        self.canvas.centre(self._shown_node(match), max(self.canvas.scale, 0.5))

    def _go_to_match(self) -> None:
        """Select the current match; Repeats around it open."""
        if not self._found or self._result is None:
            return
        match = self._found[self.bar.match_index()]
        hidden = [owner for owner in self._result.structure.around(match) if owner in self._result.collapsed]
        self._pick(match)
        if hidden:
            self._ask(self._result.collapsed - set(hidden))
        self._show_match()

    def _leave_search(self) -> None:
        self.bar.search.clear()
        self.canvas.setFocus()

    def _on_remark(self, operation: object) -> None:
        if isinstance(operation, int):
            self.session.select_operation(operation)
            self.centre_selection()

    # -- export and end -------------------------------------------------------------------------------------------

    def view_actions(self) -> list[QAction]:
        return list(self._actions)

    def table_csv(self) -> str | None:
        return self.steps.table.csv() if self.pages.currentWidget() is self.steps else None

    def export_svg(self, path: Path) -> bool:
        """The whole graph at full detail, whatever part is in view, with its legend."""
        scene = self.canvas.scene
        if scene is None or self.pages.currentWidget() is self.steps:
            return False
        bounds = scene.bounds.marginsAdded(QMarginsF(16, 16, 16, 16))
        width = max(round(bounds.width()), 320)
        legend = 120
        generator = QSvgGenerator()
        generator.setFileName(str(path))
        generator.setSize(QSize(width, round(bounds.height()) + legend))
        generator.setViewBox(QRect(0, 0, width, round(bounds.height()) + legend))
        generator.setTitle("Operator graph")
        painter = QPainter()
        if not painter.begin(generator):
            return False
        painter.fillRect(QRect(0, 0, width, round(bounds.height()) + legend), self.bridge.theme.color("background"))
        painter.save()
        painter.translate(-bounds.topLeft())
        scene.paint(painter, bounds, 1.0, Highlight(self.canvas.marks.selected, self.canvas.marks.holder))
        painter.restore()
        painter.translate(0, bounds.height())
        self.legend.paint_on(painter, width)
        return painter.end()

    def shut_down(self) -> None:
        self.layouts.close()
