"""The operations as a tree of regions; for a timeline without a recipe, the operations that its steps name."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from tileview.analysis.holdings import (
    NO_HOLDINGS,
    Holdings,
    holdings,
    host_inputs,
    input_readers,
    owners_of_values,
    step_holdings,
)
from tileview.core.estimate import Estimate
from tileview.model.graph import Graph
from tileview.model.timeline import Timeline, fullest_tile
from tileview.present.operation_rows import OperationRow, RecipeOperations, StepOperations, step_spans
from tileview.present.operation_table import OperationColumn, OperationSpec, counted_words, footer
from tileview.present.tables import Node
from tileview.qt.base.text import plain_tip
from tileview.qt.jobs.session_signals import Bridge
from tileview.qt.jobs.throttle import Pace
from tileview.qt.plot.picture import Part
from tileview.qt.plot.picture_parts import TablePart
from tileview.qt.views.base import View
from tileview.qt.widgets.elided import WrappedLabel
from tileview.qt.widgets.node_model import NodeModel
from tileview.qt.widgets.node_view import NodeView
from tileview.session.session import recipe_of_graph

_MOST_EXPANDED = 300
"""Operations of a timeline whose steps are all shown at first; where there are more, each opens its own."""


class OperationsView(View):
    """Tree by region: kind, plan in words, alternatives, share of the selected peak, first and last step."""

    title = "Operations"
    name = "operations"

    def __init__(self, bridge: Bridge, parent: QWidget | None = None) -> None:
        super().__init__(bridge, parent)
        self._held: Holdings = NO_HOLDINGS
        self._graph: Graph | None = None
        self._owners: dict[int, int] = {}
        self._readers: dict[int, tuple[int, ...]] = {}
        self._hosts: frozenset[int] = frozenset()
        self._sizes: tuple[int | None, dict[int, int]] = (None, {})
        self._steps: StepOperations | None = None
        self._made: tuple[Graph, int, Estimate | None, RecipeOperations] | None = None
        self._spans: dict[int, tuple[int, int]] = {}
        self._stale = False
        self._pace = Pace(self._follow, self)
        self.filter_box = QLineEdit()
        self.filter_box.setPlaceholderText("Filter")
        self.filter_box.setAccessibleName("Filter operations")
        self.filter_box.setClearButtonEnabled(True)
        self.filter_box.textChanged.connect(self._refill)
        self.note = WrappedLabel()
        self.footer = WrappedLabel()
        self.model = NodeModel(OperationSpec(), bridge.theme, self)
        self.tree = NodeView(self.model, "Operations by region", self, tree=True)
        self.tree.describe("The operations of the graph, bodies below their Repeat; Left and Right fold.")
        self.tree.setIndentation(12)
        self.tree.set_samples(
            "1234", "FlashAttention", "100.0 %", "grid 8 × 36 × 5", "573.2 KiB", "573.2 KiB", "22", "163", "163"
        )
        self.tree.set_flexible(OperationColumn.PLAN)
        self.tree.set_seen(OperationColumn.OPERATION, OperationColumn.KIND, OperationColumn.SHARE, OperationColumn.PLAN)
        self.tree.picked.connect(self._pick)
        self.lead_focus(self.tree)
        top = QHBoxLayout()
        top.addWidget(self.note, 1)
        top.addWidget(self.filter_box)
        self.filter_box.setToolTip("By number, kind or plan")
        self.filter_box.setMaximumWidth(160)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4, 4, 4, 4)
        layout.setSpacing(4)
        layout.addLayout(top)
        layout.addWidget(self.tree, 1)
        layout.addWidget(self.footer)
        self._load()

    # -- session --------------------------------------------------------------------------------------------------

    def on_document(self) -> None:
        self.model.clear()
        self._load()
        self._unfold()

    def _unfold(self) -> None:
        """Open the bodies of a recipe; the steps of a timeline only where they are few or looked for."""
        count = self.model.rowCount()
        if count <= _MOST_EXPANDED and (self._graph is not None or count <= 2 or self.filter_box.text()):
            self.tree.expandToDepth(0)

    def on_state(self) -> None:
        self._refill()

    def on_estimate(self) -> None:
        self._load()

    def on_pins(self) -> None:
        """A linked recipe gives a timeline its graph, or takes it away again."""
        recipe = recipe_of_graph(self.session)
        if (None if recipe is None else recipe.graph) is not self._graph:
            self._load()
            self._unfold()

    def on_selection(self) -> None:
        self._pace.ask()

    def _follow(self) -> None:
        self._refill()
        self._show_selected()

    def on_theme(self) -> None:
        self.model.set_theme(self.bridge.theme)

    def _load(self) -> None:
        timeline, recipe = self.session.timeline, recipe_of_graph(self.session)
        graph = None if recipe is None else recipe.graph
        if graph is not self._graph:
            self._graph = graph
            self._owners = {} if graph is None else owners_of_values(graph)
            self._readers = {} if graph is None else input_readers(graph)
            self._hosts = frozenset() if graph is None else host_inputs(graph)
        self._steps = StepOperations(timeline) if graph is None and timeline is not None else None
        self._spans = step_spans(timeline)
        self._sizes = (None, {})
        self._refill()
        self._show_selected()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._refill()
            self._show_selected()

    def _refill(self) -> None:
        """Rebuild the rows; while the view is hidden, only remember that this is to be done."""
        if not self.isVisible() and self.window().isVisible():
            self._stale = True
        else:
            self._fill()

    def _fill(self) -> None:
        self._stale = False
        timeline = self.session.timeline
        was_empty = self.model.rowCount() == 0
        self.model.set_nodes(self._nodes(timeline))
        if was_empty or self.filter_box.text():
            self._unfold()
        self.note.setText(self._words(timeline))
        has_graph = self._graph is not None
        self.footer.setText(footer(self._held, has_graph))
        self.footer.setToolTip(plain_tip(counted_words(self._held, has_graph)))
        self.footer.setVisible(bool(self.footer.text()))

    def _nodes(self, timeline: Timeline | None) -> tuple[Node[OperationRow], ...]:
        query, span = self.filter_box.text(), self.session.selection.span
        self._held = self._share_out(timeline)
        if self._graph is not None:
            return self._operations(self._graph).nodes(self._held, query, span)
        return () if self._steps is None else self._steps.nodes(self._held, query, span)

    def _operations(self, graph: Graph) -> RecipeOperations:
        """The recipe in force in words, put together again only after an edit or an estimate."""
        estimate, revision = self.session.estimate, self.session.revision
        made = self._made
        if made is None or made[0] is not graph or made[1] != revision or made[2] is not estimate:
            recipe = recipe_of_graph(self.session)
            assert recipe is not None
            program = None if estimate is None else estimate.program
            unknown = {} if program is None else dict(program.unknown)
            edited = self.session.state.swaps.keys()
            operations = RecipeOperations(recipe, self._spans, edited=edited, unknown=unknown)
            made = self._made = (graph, revision, estimate, operations)
        return made[3]

    def _share_out(self, timeline: Timeline | None) -> Holdings:
        """Whose the bytes are at the selected step on the selected tile, else on the fullest: as in the graph."""
        selection = self.session.selection
        step = selection.step or 0
        if timeline is None or step >= len(timeline.steps):
            return NO_HOLDINGS
        tile = fullest_tile(timeline.tiles, step) if selection.tile is None else selection.tile
        if tile >= timeline.tile_count:
            return NO_HOLDINGS
        if tile != self._sizes[0]:
            self._sizes = (tile, {})
        sizes = self._sizes[1]
        if self._steps is not None:
            return step_holdings(timeline, step, tile, sizes)
        return holdings(timeline, step, tile, self._owners, self._readers, self._hosts, sizes)

    def _words(self, timeline: Timeline | None) -> str:
        selection = self.session.selection
        if self.session.document is None:
            return "Nothing open"
        span = "" if selection.span is None else f", only steps {selection.span[0]} … {selection.span[1] - 1}"
        if self._graph is None:
            return f"Operations that the steps name{span}"
        if timeline is None or selection.step is None:
            return ""
        where = "fullest tile" if selection.tile is None else f"tile {selection.tile}"
        return f"At step {selection.step}, {where}{span}"

    def _show_selected(self) -> None:
        selection = self.session.selection
        key: Hashable = selection.operation
        if self._graph is None and selection.operation is not None:
            key = ("source", selection.operation)
        self.tree.show_current(key)

    # -- user -----------------------------------------------------------------------------------------------------

    def _pick(self, key: Hashable) -> None:
        if isinstance(key, int):
            self.session.select_operation(key)
        elif isinstance(key, tuple) and key[0] == "source" and key[1] is not None:
            self.session.select_operation(key[1])
        elif isinstance(key, tuple) and key[0] == "step":
            self.session.select_step(key[1])

    def find_operation(self) -> None:
        """Take the keys to the filter: what the window's search does in this view."""
        self.filter_box.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.filter_box.selectAll()

    def centre_selection(self) -> None:
        """Scroll to the row that is selected."""
        self.tree.scrollTo(self.tree.currentIndex(), NodeView.ScrollHint.PositionAtCenter)

    def table_maker(self) -> Callable[[], str] | None:
        if self._stale or self._pace.is_waiting:
            self._pace.stop()
            self._fill()
        return self.tree.csv_maker()

    def picture_words(self) -> str:
        return self.note.text()

    def picture_parts(self, whole: bool = False) -> Sequence[Part]:
        return (TablePart(self.tree, self.bridge.theme),)

    def shut_down(self) -> None:
        self._pace.stop()
