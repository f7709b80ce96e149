"""The operations as a tree of regions; for a timeline without a recipe, the operations that its steps name."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

from tileview.analysis.holdings import (
    NO_HOLDINGS,
    Holdings,
    holdings,
    host_inputs,
    input_readers,
    owners_of_values,
    step_holdings,
)
from tileview.core.estimated import Estimate
from tileview.model.graph import Graph
from tileview.model.timeline import Timeline, fullest_tile
from tileview.present.operation_rows import (
    OPERATIONS,
    OperationRow,
    RecipeOperations,
    StepOperations,
    counted_words,
    operations_footer,
    step_spans,
)
from tileview.present.tables import Node
from tileview.qt.base.text import plain_tip
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.views.table_view import RowSubject, TableView
from tileview.qt.widgets.docked import WrappedLabel
from tileview.session.session import recipe_of_graph

_MOST_EXPANDED = 300
"""Operations of a timeline whose steps are all shown at first; where there are more, each opens its own."""


class OperationsView(TableView):
    """Tree by region: kind, plan in words, alternatives, share of the selected peak, first and last step."""

    title = "Operations"
    name = "operations"
    spec = OPERATIONS
    table_name = "Operations by region"
    description = "The operations of the graph, bodies below their Repeat; Left and Right fold."
    filter_tip = "By number, kind or plan"
    is_tree = True

    def __init__(self, bridge: SessionSignals, parent: QWidget | None = None) -> None:
        super().__init__(bridge, parent)
        self._graph: Graph | None = None
        self._timeline: Timeline | None = None
        self._owners: dict[int, int] = {}
        self._readers: dict[int, tuple[int, ...]] = {}
        self._hosts: frozenset[int] = frozenset()
        self._sizes: tuple[int | None, dict[int, int]] = (None, {})
        self._steps: StepOperations | None = None
        self._made: tuple[Graph, int, Estimate | None, RecipeOperations] | None = None
        self.model.swatch = self._swatch
        self.note = WrappedLabel()
        self.footer = WrappedLabel()
        self.lay_out((self.note, self.filter_box), (self.footer,))
        self.look_first(self.refill)

    def on_pins(self) -> None:
        """A linked recipe gives a timeline its graph, or takes it away again."""
        if self._graph_of_session() is not self._graph:
            self.refill()

    def _swatch(self, row: OperationRow) -> QColor | None:
        """The colour of an operation that has one of its own."""
        place = None if row.operation is None or row.step is not None else self.bridge.colours().get(row.operation)
        return None if place is None else QColor(self.bridge.theme.categories[place])

    # -- rows -----------------------------------------------------------------------------------------------------

    def _graph_of_session(self) -> Graph | None:
        recipe = recipe_of_graph(self.session)
        return None if recipe is None else recipe.graph

    def _follow_session(self) -> bool:
        """Take what does not change with the selection; True where other operations are to be shown."""
        timeline, graph = self.session.timeline, self._graph_of_session()
        is_other = graph is not self._graph
        if is_other:
            self._graph = graph
            self._owners = {} if graph is None else owners_of_values(graph)
            self._readers = {} if graph is None else input_readers(graph)
            self._hosts = frozenset() if graph is None else host_inputs(graph)
        if is_other or timeline is not self._timeline:
            self._timeline = timeline
            self._steps = StepOperations(timeline) if graph is None and timeline is not None else None
            self._sizes = (None, {})
        return is_other

    def fill(self) -> None:
        is_other = self._follow_session()
        was_empty = self.model.rowCount() == 0
        held = self._share_out()
        self.model.set_nodes(self._nodes(held))
        if was_empty or is_other or self.query:
            self._unfold()
        self.note.setText(self._words())
        has_graph = self._graph is not None
        self.footer.setText(operations_footer(held, has_graph))
        self.footer.setToolTip(plain_tip(counted_words(held, has_graph)))
        self.footer.setVisible(bool(self.footer.text()))

    def _unfold(self) -> None:
        """Open the bodies of a recipe; the steps of a timeline only where they are few or looked for."""
        count = self.model.rowCount()
        if count <= _MOST_EXPANDED and (self._graph is not None or count <= 2 or self.query):
            self.tree.expandToDepth(0)

    def _nodes(self, held: Holdings) -> tuple[Node[OperationRow], ...]:
        span = self.session.selection.span
        if self._graph is not None:
            return self._operations(self._graph).nodes(held, self.query, span)
        return () if self._steps is None else self._steps.nodes(held, self.query, span)

    def _operations(self, graph: Graph) -> RecipeOperations:
        """The current recipe in words, put together again only after an edit or an estimate."""
        estimate, revision = self.session.estimate, self.session.revision
        made = self._made
        if made is None or made[0] is not graph or made[1] != revision or made[2] is not estimate:
            recipe = recipe_of_graph(self.session)
            assert recipe is not None
            program = None if estimate is None else estimate.program
            unknown = {} if program is None else dict(program.unknown)
            edited, spans = self.session.state.swaps.keys(), step_spans(self._timeline)
            cycles = None if estimate is None else estimate.cycles
            operations = RecipeOperations(recipe, spans, edited=edited, unknown=unknown, cycles=cycles)
            made = self._made = (graph, revision, estimate, operations)
        return made[3]

    def _share_out(self) -> Holdings:
        """Whose the bytes are at the selected step on the selected tile, else on the fullest: as in the graph."""
        timeline, selection = self._timeline, self.session.selection
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

    def _words(self) -> str:
        selection = self.session.selection
        if self.session.document is None:
            return "Nothing open"
        span = "" if selection.span is None else f", only steps {selection.span[0]} … {selection.span[1] - 1}"
        if self._graph is None:
            return f"Operations that the steps name{span}"
        if self._timeline is None or selection.step is None:
            return ""
        where = "fullest tile" if selection.tile is None else f"tile {selection.tile}"
        return f"At step {selection.step}, {where}{span}"

    # -- selection ------------------------------------------------------------------------------------------------

    def _key_of(self, operation: int | None) -> Hashable:
        return ("source", operation) if self._graph is None and operation is not None else operation

    def show_selected(self) -> None:
        self.tree.show_current(self._key_of(self.session.selection.operation))

    def pick(self, key: Hashable) -> None:
        row = self.tree.current_row()
        if not isinstance(row, OperationRow):
            return
        if row.operation is not None:
            self.session.select_operation(row.operation)
        elif row.step is not None:
            self.session.select_step(row.step)

    def subject(self, row: OperationRow) -> RowSubject:
        name = "" if row.operation is None else f"op {row.operation} {row.short or row.kind}"
        return RowSubject(row.operation, name=name or row.kind)

    def keys_about(self, operation: int | None, root: int | None, tile: int | None) -> Iterable[Hashable]:
        return () if operation is None else (self._key_of(operation),)

    def picture_words(self) -> str:
        return self.note.text()
