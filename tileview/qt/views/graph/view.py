"""The operator graph: boxes by layer, Repeats around their bodies, coloured by what each holds of the selected peak."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPointF
from PySide6.QtGui import QAction, QShowEvent
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from tileview.graphlayout import repeats
from tileview.model.graph import Graph
from tileview.present.graph_style import ColourMode, GraphStyle
from tileview.qt.jobs.session_signals import Bridge
from tileview.qt.plot.picture import Part
from tileview.qt.plot.picture_parts import TablePart
from tileview.qt.views.base import View
from tileview.qt.views.graph.bar import GraphBar
from tileview.qt.views.graph.canvas import GraphCanvas
from tileview.qt.views.graph.dress import GraphDress
from tileview.qt.views.graph.layouts import GraphLayouts, LayoutRequest, LayoutResult
from tileview.qt.views.graph.legend import LegendStrip
from tileview.qt.views.graph.look import box_sizes
from tileview.qt.views.graph.marks import GraphMarks
from tileview.qt.views.graph.moves import GraphMoves, make_actions
from tileview.qt.views.graph.picture import SeenGraph, WholeGraph, WidthLegend
from tileview.qt.views.graph.scene import Highlight
from tileview.qt.views.graph.steps_list import StepsList


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
        self.layouts = GraphLayouts(self, bridge.quiet.add)
        self.marks = GraphMarks(self)
        self.dress = GraphDress(self)
        self.moves = GraphMoves(self)
        self._graph: Graph | None = None
        self._result: LayoutResult | None = None
        self._number = 0
        self._anchor: tuple[int, QPointF] | None = None
        self._asked: frozenset[int] | None = None
        self._fresh = True
        self._around: int | None = None
        self._build()
        self._actions = make_actions(self)
        self.bar.menu.addActions(self._actions)
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
        self.lead_focus(self.canvas)

    def _connect(self) -> None:
        self.canvas.picked.connect(self.marks.pick)
        self.canvas.toggled.connect(self.toggle)
        self.canvas.hovered.connect(self.marks.hover)
        self.canvas.asked.connect(self.moves.run)
        self.bridge.hovered.connect(self.marks.on_hovered)
        self.bar.searched.connect(self.moves.search)
        self.bar.stepped.connect(self.moves.go_to_match)
        self.bar.left.connect(self.moves.leave_search)
        self.bar.mode_changed.connect(self.dress.set_mode)
        self.bar.neighbourhood_changed.connect(self.moves.set_neighbourhood)
        self.bar.remark_chosen.connect(self.moves.on_remark)
        self.layouts.ready.connect(self._on_layout)
        self.layouts.failed.connect(self._on_layout_failed)
        self.layouts.progressed.connect(self._on_progress)

    # -- what is shown --------------------------------------------------------------------------------------------

    @property
    def has_graph(self) -> bool:
        return self._graph is not None

    @property
    def result(self) -> LayoutResult | None:
        """The layout in view; None while the first one is made, or where there is no graph."""
        return self._result

    @property
    def mode(self) -> ColourMode:
        return self.dress.look.mode

    @property
    def shown_style(self) -> GraphStyle | None:
        return None if self.canvas.scene is None else self.canvas.scene.style

    def on_document(self) -> None:
        self.layouts.cancel()
        self._result = None
        self._around = None
        self._anchor = None
        self._fresh = True
        self.moves.clear()
        self.bar.clear()
        self.steps.clear()
        self.canvas.set_scene(None)
        self.canvas.set_marks(Highlight())
        self._take_graph()
        self.on_estimate()

    def on_pins(self) -> None:
        recipe = self.dress.look.recipe()
        if (None if recipe is None else recipe.graph) is not self._graph:
            self.on_document()

    def _take_graph(self) -> None:
        recipe = self.dress.look.recipe()
        self._graph = None if recipe is None else recipe.graph
        has_steps = recipe is None and self.session.document is not None
        self.pages.setCurrentIndex(1 if has_steps else 0)
        self.lead_focus(self.steps.table if has_steps else self.canvas)
        self.dress.look.take_graph(self._graph)
        if self._graph is not None:
            self.ask(collapsed=None)
        else:
            self.canvas.set_waiting("" if self.session.document is not None else "Nothing is open")
            self.legend.show_style(None, self.bridge.theme)

    def on_state(self) -> None:
        self.dress.rebuild()

    def on_estimate(self) -> None:
        timeline = self.session.timeline
        self.dress.look.take_timeline(timeline)
        if self._graph is None:
            self.steps.show_timeline(timeline)
        else:
            self.dress.rebuild()
            if self.canvas.is_opening:
                self.canvas.show_readable(self.marks.first_focus())

    def on_selection(self) -> None:
        if self._graph is None:
            self.steps.show_selection()
            return
        self.dress.restyle()
        self._follow_selection()

    def on_theme(self) -> None:
        self.canvas.set_theme(self.bridge.theme)
        self.steps.set_theme()
        self.dress.restyle()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.dress.freshen()

    # -- layout ---------------------------------------------------------------------------------------------------

    def ask(self, collapsed: frozenset[int] | None) -> None:
        """Ask for a layout of the graph in hand."""
        assert self._graph is not None
        known = self._result if self._result is not None and self._result.request.graph is self._graph else None
        self._number += 1
        self._asked = collapsed
        self.canvas.set_waiting("Laying out …", can_stop=True)
        self.layouts.request(
            LayoutRequest(
                self._number,
                self._graph,
                box_sizes(self.canvas.font()),
                None if known is None else known.structure,
                None if known is None else known.neighbours,
                collapsed,
                self._around,
                self.bar.hops(),
            )
        )

    def _on_progress(self, number: int, fraction: float) -> None:
        if number == self._number and self.layouts.is_busy:
            self.canvas.set_waiting(f"Laying out … {round(100 * fraction)} %", can_stop=True)

    def _on_layout_failed(self, number: int, text: str) -> None:
        self.canvas.set_waiting("The graph could not be laid out")
        self.bridge.fault.emit(f"The graph could not be laid out: {text.strip().splitlines()[-1]}", text)

    def stop_layout(self) -> None:
        """Give up the layout under way: what is shown stays as it is."""
        if not self.layouts.is_busy:
            return
        self.layouts.cancel()
        self._anchor = None
        if self._result is None:
            self.canvas.set_waiting("Not laid out: press 0 or click here to do it")
            return
        self.canvas.set_waiting("")
        self._around, self._fresh = self._result.request.around, False
        self.bar.set_neighbourhood(self._around is not None)
        self.bridge.message.emit("Layout stopped: the graph is as it was")

    def lay_out_again(self) -> None:
        """Ask for the first layout once more, where it was stopped."""
        if self._graph is not None and self._result is None and not self.layouts.is_busy:
            self.ask(None)

    def _on_layout(self, result: LayoutResult) -> None:
        is_first = self._result is None
        self._result = result
        self.canvas.set_waiting("")
        self.dress.rebuild()
        self.bar.set_remarks(result.structure.problems, result.picture.notes)
        self.bar.set_neighbourhood(self._around is not None)
        if self._anchor is not None:
            self.canvas.keep_in_place(*self._anchor)
            self._anchor = None
        elif self._fresh:
            self._fresh = False
            self.canvas.show_readable(self.marks.first_focus())
        elif self._around is not None:
            self.canvas.show_readable(result.structure.by_operation.get(self._around))
        self.marks.mark()
        if is_first and self.bar.query():
            self.moves.search(self.bar.query())
        if not self.canvas.is_opening:
            self.canvas.ensure_visible(self.canvas.marks.selected)

    def toggle(self, node: int) -> None:
        """Collapse or expand a Repeat; its title stays where it is."""
        if self._result is None:
            return
        corner = self.canvas.corner(node)
        self._anchor = None if corner is None else (node, corner)
        self.ask(self.collapsed ^ {node})

    @property
    def collapsed(self) -> frozenset[int]:
        """The Repeats that are collapsed as soon as all that has been asked for is done."""
        if self.layouts.is_busy and self._asked is not None:
            return self._asked
        return frozenset() if self._result is None else self._result.collapsed

    def expand_all(self) -> None:
        self._collapse(frozenset())

    def collapse_all(self) -> None:
        if self._result is not None:
            self._collapse(repeats(self._result.structure))

    def _collapse(self, collapsed: frozenset[int]) -> None:
        if self._result is not None and collapsed != self.collapsed:
            self._fresh = True
            self.ask(collapsed)

    # -- selection ------------------------------------------------------------------------------------------------

    def _follow_selection(self) -> None:
        before = self.canvas.marks
        self.marks.mark()
        marks = self.canvas.marks
        node = self.marks.selected_node()
        is_outside = node is not None and marks.selected is None and marks.holder is None
        if self._around is not None and is_outside and self._result is not None:
            self._around = self.session.selection.operation
            self.ask(self.collapsed)
            return
        if self.canvas.is_opening:
            self.canvas.show_readable(self.marks.first_focus())
        elif (marks.selected, marks.holder) != (before.selected, before.holder):
            self.canvas.ensure_visible(marks.selected if marks.selected is not None else marks.holder)

    def centre_selection(self) -> None:
        """Bring the selected operation (or that of the step) to the middle, readable."""
        start = self.marks.first_focus()
        scale = max(self.canvas.scale, 0.75)
        if start is None or not self.canvas.centre(start, scale):
            self.bridge.message.emit("No operation is selected")

    def fit(self) -> None:
        self.lay_out_again()
        self.canvas.fit()

    def find_operation(self) -> None:
        """Put the cursor into the search box."""
        box = self.bar.search if self.has_graph else self.steps.search
        box.setFocus()
        box.selectAll()

    def show_around(self, operation: int | None) -> None:
        """Show only the neighbourhood of an operation, as far as the bar says; None: everything."""
        if self._result is not None:
            self._around = operation
            self._fresh = operation is None
            self.ask(self.collapsed)

    @property
    def around(self) -> int | None:
        """The operation whose neighbourhood is shown, None where everything is."""
        return self._around

    # -- export and end -------------------------------------------------------------------------------------------

    def view_actions(self) -> list[QAction]:
        return list(self._actions)

    def table_maker(self) -> Callable[[], str] | None:
        return self.steps.table.csv_maker() if self.pages.currentWidget() is self.steps else None

    def has_table(self) -> bool:
        return self.pages.currentWidget() is self.steps

    def table_filter(self) -> str:
        return self.steps.search.text().strip()

    @property
    def whole_name(self) -> str:
        return "graph" if self.has_graph else ""

    def picture_words(self) -> str:
        return "" if self.has_graph else self.steps.note.text()

    def picture_parts(self, whole: bool = False) -> Sequence[Part]:
        scene = self.canvas.scene
        if not self.has_graph:
            return (TablePart(self.steps.table, self.bridge.theme),)
        if scene is None:
            return ()
        self.dress.freshen()
        graph = WholeGraph(scene, self.canvas.marks, self.canvas.font()) if whole else SeenGraph(self.canvas, scene)
        return (graph, WidthLegend(self.legend, graph.width()))

    def is_busy(self) -> bool:
        """Whether a layout is under way."""
        return self.layouts.is_busy

    def shut_down(self) -> None:
        self.layouts.close()
