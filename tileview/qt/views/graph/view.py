"""The operator graph: boxes by layer, Repeats around their bodies, with what each makes of the selected peak."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QPoint, QPointF
from PySide6.QtGui import QAction, QGuiApplication, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from tileview.graphlayout import repeats
from tileview.model.graph import Graph
from tileview.present.graph_boxes import ColourMode, GraphStyle
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.plot.legend import Legend
from tileview.qt.plot.picture import Part
from tileview.qt.plot.picture_parts import TablePart
from tileview.qt.views.base import View, action_of, show_menu
from tileview.qt.views.graph.canvas import GraphCanvas
from tileview.qt.views.graph.controls import GraphBar, Overview, RecordedLegend, StepsList, graph_legend
from tileview.qt.views.graph.layouts import GraphLayouts, LayoutRequest, LayoutResult
from tileview.qt.views.graph.look import GraphLook, box_sizes, legend_notes
from tileview.qt.views.graph.moves import EdgeTrail, Search
from tileview.qt.views.graph.scene import GraphScene, Highlight, WholeGraph

_OVERVIEW_CHARACTERS = 48
"""Width of the view, in characters, from which on the overview has room."""


class GraphView(View):
    """The graph of the open recipe, of the recipe linked to an open timeline, or the steps of a timeline alone."""

    title = "Graph"
    name = "graph"

    def __init__(self, bridge: SessionSignals, parent: QWidget | None = None) -> None:
        super().__init__(bridge, parent)
        self.bar = GraphBar(self)
        self.canvas = GraphCanvas(bridge.theme, self)
        self.overview = Overview(bridge.theme, self)
        self.legend = Legend(self)
        self.legend.setAccessibleName("Legend of the graph")
        self.steps = StepsList(bridge, self)
        self._layouts = GraphLayouts(bridge.quiet.add, self)
        self._look = GraphLook(bridge.session)
        self._search = Search()
        self._trail = EdgeTrail()
        self._entered = ""
        self._graph: Graph | None = None
        self._result: LayoutResult | None = None
        self._anchor: tuple[int, QPointF] | None = None
        self._asked: frozenset[int] | None = None
        self._fresh = True
        self._around: int | None = None
        self._stale = False
        self._build()
        self._commands = self._make_commands()
        self._actions, self._box_actions = self._make_actions()
        self.bar.menu.addActions(self._actions)
        self._connect()
        self.look_first(self.on_document)

    def _build(self) -> None:
        page = QWidget(self)
        inner = QVBoxLayout(page)
        middle = QHBoxLayout()
        for layout in (inner, middle):
            layout.setContentsMargins(0, 0, 0, 0)
            layout.setSpacing(0)
        middle.addWidget(self.canvas, 1)
        middle.addWidget(self.overview)
        inner.addWidget(self.bar)
        inner.addLayout(middle, 1)
        inner.addWidget(self.legend)
        self.pages = QStackedWidget(self)
        self.pages.addWidget(page)
        self.pages.addWidget(self.steps)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self.pages)
        self.lead_focus(self.canvas)

    def _connect(self) -> None:
        self.canvas.picked.connect(self._pick)
        self.canvas.toggled.connect(self.toggle)
        self.canvas.hovered.connect(self._hover)
        self.canvas.asked.connect(lambda command: self._commands[command]())
        self.canvas.menu_asked.connect(self._show_box_menu)
        self.canvas.moved.connect(lambda: self.overview.show_area(self.canvas.visible_area()))
        self.overview.asked.connect(self.canvas.centre)
        self.bridge.hovered.connect(self._on_hovered)
        self.bar.searched.connect(self._find)
        self.bar.turned.connect(self._turn)
        self.bar.entered.connect(self._enter)
        self.bar.left.connect(self._leave_search)
        self.bar.mode_changed.connect(self.set_mode)
        self.bar.neighbourhood_changed.connect(self._set_neighbourhood)
        self.bar.remark_chosen.connect(self._on_remark)
        self._layouts.ready.connect(self._on_layout)
        self._layouts.failed.connect(self._on_layout_failed)
        self._layouts.progressed.connect(lambda part: self.canvas.set_waiting(f"Laying out … {part} %", can_stop=True))

    def _make_commands(self) -> dict[str, Callable[[], object]]:
        """What the canvas's keys ask for, by word."""
        return {
            "producers": partial(self._follow, True),
            "consumers": partial(self._follow, False),
            "next_sibling": self._follow_next,
            "centre": self.centre_selection,
            "find": self.find_operation,
            "neighbourhood": self.toggle_neighbourhood,
            "colours": self.next_mode,
            "stop": self.stop_layout,
            "fit": self.fit,
        }

    def _make_actions(self) -> tuple[list[QAction], list[QAction]]:
        """Commands for menu and palette, and those for the menu of a box. Keys are the canvas's own: the window has
        some of them too.
        """
        run = self._commands
        on_box = (
            ("Show alternatives", self.show_alternatives),
            ("Copy name", self.copy_name),
            ("Centre the selected operation", self.centre_selection),
            ("Show the neighbourhood only", self.toggle_neighbourhood),
            ("Go to a producer", run["producers"]),
            ("Go to a consumer", run["consumers"]),
        )
        rest = (
            ("Find in the graph", self.find_operation),
            ("Show the whole graph", self.fit),
            ("Expand all Repeats", self.expand_all),
            ("Collapse all Repeats", self.collapse_all),
            ("Go to another producer or consumer", self._follow_next),
            ("Show shares of the peak, of cycles, or step by step", self.next_mode),
        )
        box = [action_of(self, text, slot) for text, slot in on_box]
        return [action_of(self, text, slot) for text, slot in rest] + box[2:], box

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
        return self._look.mode

    @property
    def shown_style(self) -> GraphStyle | None:
        return None if self.canvas.scene is None else self.canvas.scene.style

    @property
    def matches(self) -> tuple[int, ...]:
        """What the search has found, as nodes."""
        return self._search.found

    def on_document(self) -> None:
        self._layouts.cancel()
        self._result = None
        self._around = None
        self._anchor = None
        self._fresh = True
        self._entered = ""
        self._trail.clear()
        self.bar.clear()
        self.steps.clear()
        self.canvas.set_scene(None)
        self.canvas.set_marks(Highlight())
        self.overview.show_scene(None, self.bridge.theme)
        self._take_graph()
        self.on_estimate()

    def on_pins(self) -> None:
        recipe = self._look.recipe()
        if (None if recipe is None else recipe.graph) is not self._graph:
            self.on_document()

    def _take_graph(self) -> None:
        recipe = self._look.recipe()
        self._graph = None if recipe is None else recipe.graph
        has_steps = recipe is None and self.session.document is not None
        self.pages.setCurrentIndex(1 if has_steps else 0)
        self.lead_focus(self.steps.table if has_steps else self.canvas)
        self._look.take_graph(self._graph)
        if self._graph is not None:
            self._ask(collapsed=None)
        else:
            self.canvas.set_waiting("" if self.session.document is not None else "Nothing is open")
            self.legend.set_entries(())

    def on_state(self) -> None:
        self._dress(with_words=True)

    def on_estimate(self) -> None:
        timeline = self.session.timeline
        self._look.take_timeline(timeline, {} if self._graph is None else self.bridge.colours())
        if self._graph is None:
            self.steps.show_timeline(timeline)
        else:
            self._dress(with_words=True)
            if self.canvas.is_opening:
                self.canvas.show_readable(self.first_focus())

    def show_all(self) -> None:
        super().show_all()
        self.steps.bring_up_to_date()

    def on_overflows(self) -> None:
        if self._graph is not None:
            self._look.forget_marks()
            self._dress()

    def on_selection(self) -> None:
        if self._graph is None:
            self.steps.show_selection()
            return
        before = self.canvas.marks
        self._dress()
        self._follow_selection(before)

    def on_theme(self) -> None:
        self.canvas.set_theme(self.bridge.theme)
        self.steps.set_theme()
        self._dress()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._freshen()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.overview.setVisible(self.width() >= _OVERVIEW_CHARACTERS * self.fontMetrics().averageCharWidth())

    # -- words and colours ----------------------------------------------------------------------------------------

    def _dress(self, with_words: bool = False) -> None:
        """Colours and figures as they are now, and words too after an edit; put off while nobody sees them."""
        result, recipe, scene = self._result, self._look.recipe(), self.canvas.scene
        if result is None or recipe is None:
            return
        theme = self.bridge.theme
        is_new = scene is None or scene.picture is not result.picture
        if not is_new and not self.isVisible():
            self._stale = True
            return
        words = self._look.words(result.structure, recipe) if with_words or is_new or scene is None else scene.words
        style = self._look.style(result.structure, theme)
        if is_new or scene is None:
            scene = GraphScene(result.structure, result.picture, words, style, theme, self.canvas.font())
            self.canvas.set_scene(scene)
        else:
            scene.set_style(style, words)
            self.canvas.update()
        self.overview.show_scene(scene, theme)
        self.overview.show_area(self.canvas.visible_area())
        notes = legend_notes(words, result.request.around, result.request.hops)
        self.legend.set_entries(graph_legend(style, theme, notes))
        self._mark()

    def _freshen(self) -> None:
        """Do what was put off while the view was hidden."""
        if self._stale:
            self._stale = False
            self._dress(with_words=True)

    def set_mode(self, mode: ColourMode) -> None:
        """What bars, colours and shares say."""
        self._look.mode = mode
        self.bar.show_mode(mode)
        self._dress()

    def next_mode(self) -> None:
        modes = tuple(ColourMode)
        self.set_mode(modes[(modes.index(self.mode) + 1) % len(modes)])

    # -- layout ---------------------------------------------------------------------------------------------------

    def _ask(self, collapsed: frozenset[int] | None) -> None:
        """Ask for a layout of the graph in hand."""
        assert self._graph is not None
        known = self._result if self._result is not None and self._result.request.graph is self._graph else None
        self._asked = collapsed
        self.canvas.set_waiting("Laying out …", can_stop=True)
        self._layouts.request(
            LayoutRequest(
                self._graph,
                box_sizes(self.canvas.font()),
                None if known is None else known.structure,
                None if known is None else known.neighbours,
                collapsed,
                self._around,
                self.bar.distance.value(),
            )
        )

    def _on_layout_failed(self, summary: str, details: str) -> None:
        self.canvas.set_waiting("The graph could not be laid out")
        self.bridge.fault.emit(f"The graph could not be laid out: {summary}", details)

    def stop_layout(self) -> None:
        """Give up the layout under way: what is shown stays as it is."""
        if not self._layouts.is_busy:
            return
        self._layouts.cancel()
        self._anchor = None
        if self._result is None:
            self.canvas.set_waiting("Not laid out: press 0 or click here to do it")
            return
        self.canvas.set_waiting("")
        self._around, self._fresh = self._result.request.around, False
        self.bar.set_neighbourhood(self._around is not None)
        self.bridge.message.emit("Layout stopped: the graph is as it was")

    def _on_layout(self, result: LayoutResult) -> None:
        is_first = self._result is None
        self._result = result
        self.canvas.set_waiting("")
        self._dress(with_words=True)
        self.bar.set_remarks(result.structure.problems, result.picture.notes)
        self.bar.set_neighbourhood(self._around is not None)
        if self._anchor is not None:
            self.canvas.keep_in_place(*self._anchor)
            self._anchor = None
        elif self._fresh:
            self._fresh = False
            self.canvas.show_readable(self.first_focus())
        elif self._around is not None:
            self.canvas.show_readable(result.structure.by_operation.get(self._around))
        self._mark()
        if is_first and self.bar.query():
            self._find(self.bar.query())
        if not self.canvas.is_opening:
            self.canvas.ensure_visible(self.canvas.marks.selected)

    def toggle(self, node: int) -> None:
        """Collapse or expand a Repeat; its title stays where it is."""
        if self._result is None:
            return
        corner = self.canvas.corner(node)
        self._anchor = None if corner is None else (node, corner)
        self._ask(self.collapsed ^ {node})

    @property
    def collapsed(self) -> frozenset[int]:
        """The Repeats that are collapsed as soon as all that has been asked for is done."""
        if self._layouts.is_busy and self._asked is not None:
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
            self._ask(collapsed)

    # -- marks and selection --------------------------------------------------------------------------------------

    def _shown(self, node: int) -> int | None:
        """The node itself where it is shown, else the innermost shown Repeat around it."""
        result, scene = self._result, self.canvas.scene
        if result is None or scene is None:
            return None
        return next((one for one in (node, *result.structure.around(node)) if one in scene.place), None)

    def _node_of(self, operation: int | None) -> int | None:
        """The node of an operation, shown or not."""
        return None if operation is None or self._result is None else self._result.structure.by_operation.get(operation)

    @property
    def selected_node(self) -> int | None:
        """The node of the selected operation, shown or not."""
        return self._node_of(self.session.selection.operation)

    def _mark(self, hovered: int | None = None) -> None:
        """Show selection, matches, and what the pointer is on somewhere."""
        node = self.selected_node
        shown = None if node is None else self._shown(node)
        found = None
        if self.bar.query():
            found = frozenset(place for match in self.matches if (place := self._shown(match)) is not None)
        is_shown = shown == node
        self.canvas.set_marks(Highlight(node if is_shown else None, None if is_shown else shown, hovered, found))

    def first_focus(self) -> int | None:
        """Where the eye should start: the selected operation, else the worst at fault, else that of the step."""
        start, style = self.selected_node, self.shown_style
        if start is None and style is not None:
            start = next((node for node in (style.marks.worst, style.running) if node >= 0), None)
        return None if start is None else self._shown(start)

    def _pick(self, node: int | None) -> None:
        """Select the operation of a node; ports cannot be selected."""
        if self._result is None:
            return
        operation = None if node is None else self._result.structure.nodes[node].operation
        if node is None or operation is not None:
            self.session.select_operation(operation)

    def _hover(self, node: int | None) -> None:
        """Tell all views what the pointer is on."""
        result = self._result
        operation = None if node is None or result is None else result.structure.nodes[node].operation
        self.bridge.hovered.emit(operation, None, None)

    def _on_hovered(self, operation: object, root: object, tile: object) -> None:
        """Outline the operation that the pointer is on in some view, or that makes the allocation it is on."""
        timeline = self.session.timeline
        if operation is None and isinstance(root, int) and timeline is not None:
            operation = timeline.maker(root)
        node = self._node_of(operation) if isinstance(operation, int) else None
        self._mark(None if node is None else self._shown(node))

    def _follow_selection(self, before: Highlight) -> None:
        """Bring what is selected into view, unless it was marked before."""
        self._mark()
        marks = self.canvas.marks
        is_outside = self.selected_node is not None and marks.selected is None and marks.holder is None
        if self._around is not None and is_outside:
            self._show_around(self.session.selection.operation)
        elif self.canvas.is_opening:
            self.canvas.show_readable(self.first_focus())
        elif (marks.selected, marks.holder) != (before.selected, before.holder):
            self.canvas.ensure_visible(marks.selected if marks.selected is not None else marks.holder)

    def _show_box_menu(self, node: int, at: QPoint) -> None:
        """The menu of a box's operation, which it selects."""
        self._pick(node)
        if self.selected_node == node:
            show_menu(self, [*self._box_actions, *self.export_actions()], at)
        else:
            show_menu(self, self.menu_actions(), at)

    def show_alternatives(self) -> None:
        """Bring the alternatives of the selected operation to the front."""
        self.bridge.requested.emit("show_view", "alternatives")

    def copy_name(self) -> None:
        """Copy the name of the selected operation, ``op 21 Gemm``."""
        node = self.selected_node
        if node is not None and self._result is not None:
            entry = self._result.structure.nodes[node]
            name = f"op {entry.operation} {entry.label}"
            QGuiApplication.clipboard().setText(name)
            self.bridge.message.emit(f"Copied: {name}")

    def centre_selection(self) -> None:
        """Bring the selected operation (or that at fault, or of the step) to the middle, readable."""
        start = self.first_focus()
        if start is None or not self.canvas.centre(start, max(self.canvas.scale, 0.75)):
            self.bridge.message.emit("No operation is selected")

    def fit(self) -> None:
        """Show the whole graph; lay it out once more where that was stopped."""
        if self._graph is not None and self._result is None and not self._layouts.is_busy:
            self._ask(None)
        self.canvas.fit()

    # -- ways through the graph -----------------------------------------------------------------------------------

    def _follow(self, producers: bool) -> None:
        self._go(*self._trail.follow(self._result, self.selected_node, producers))

    def _follow_next(self) -> None:
        self._go(*self._trail.follow_next(self.selected_node))

    def _go(self, message: str, node: int | None) -> None:
        if message:
            self.bridge.message.emit(message)
        if node is not None:
            self._pick(node)

    def toggle_neighbourhood(self) -> None:
        """Show only what is close to the selected operation, or everything again."""
        self._set_neighbourhood(self._around is None, self.bar.distance.value())

    def _set_neighbourhood(self, is_on: bool, _hops: int) -> None:
        """Another neighbourhood: around the operation it was around, else around where the eye should start."""
        around = self._around if is_on else None
        start = self.selected_node if self.selected_node is not None else self.first_focus()
        if is_on and around is None and start is not None and self._result is not None:
            around = self._result.structure.nodes[start].operation
        if is_on and around is None:
            self.bridge.message.emit("Select an operation first")
            self.bar.set_neighbourhood(False)
            return
        self._show_around(around)

    def _show_around(self, operation: int | None) -> None:
        """Show only the neighbourhood of an operation, as far as the bar says; None: everything."""
        if self._result is not None:
            self._around = operation
            self._fresh = operation is None
            self._ask(self.collapsed)

    @property
    def around(self) -> int | None:
        """The operation whose neighbourhood is shown, None where everything is."""
        return self._around

    def find_operation(self) -> None:
        """Put the cursor into the search box."""
        box = self.bar.search if self.has_graph else self.steps.search
        box.setFocus()
        box.selectAll()

    def _find(self, query: str) -> None:
        """Mark all matches and bring the first one into view while one types."""
        scene, result = self.canvas.scene, self._result
        is_ready = scene is not None and result is not None
        self._search.find(query, result.structure if result and is_ready else None, scene.words if scene else ())
        self.bar.count.setText(self._search.count_text if is_ready else "")
        self._mark()
        self._show_match()

    def _show_match(self) -> None:
        if self._search.match is not None:
            self.canvas.centre(self._shown(self._search.match), max(self.canvas.scale, 0.5))

    def _turn(self, by: int) -> None:
        """Select another match; Repeats around it open."""
        self._search.turn(by)
        self._entered = self._search.query
        self.bar.count.setText(self._search.count_text)
        match = self._search.match
        if match is None or self._result is None:
            return
        hidden = self.collapsed & set(self._result.structure.around(match))
        self._pick(match)
        if hidden:
            self._ask(self.collapsed - hidden)
        self._show_match()

    def _enter(self, by: int) -> None:
        """Select the match in view; where that is done already, another one."""
        self._turn(by if self._entered == self._search.query else 0)

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

    def table_maker(self) -> Callable[[], str] | None:
        return self.steps.csv_maker() if self.has_table() else None

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
        self._freshen()
        if not whole:
            return self.canvas, self.legend
        return WholeGraph(scene, self.canvas.marks, self.canvas.font()), RecordedLegend(self.legend)

    def is_busy(self) -> bool:
        """Whether a layout is under way."""
        return self._layouts.is_busy

    def shut_down(self) -> None:
        self._layouts.close()
