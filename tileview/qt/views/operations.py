"""The operations as a tree of regions; for a timeline without a recipe, the operations that its steps name."""

from __future__ import annotations

from collections.abc import Hashable

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from tileview.core.estimate import Estimate
from tileview.model.timeline import Timeline
from tileview.present.allocation_rows import AllocationFigures
from tileview.present.operation_rows import (
    NO_SHARES,
    OperationColumn,
    OperationRow,
    OperationSpec,
    RecipeOperations,
    Shares,
    StepOperations,
    owners_of_values,
    shares,
    step_spans,
)
from tileview.present.tables import Node
from tileview.qt.bridge import Bridge
from tileview.qt.models.node_model import NodeModel
from tileview.qt.views.base import View
from tileview.qt.views.elided import WrappedLabel
from tileview.qt.views.node_view import NodeView
from tileview.qt.views.pace import Pace

_MOST_EXPANDED = 300
"""Operations of a timeline whose steps are all shown at first; where there are more, each opens its own."""


class OperationsView(View):
    """Tree by region: kind, plan in words, alternatives, share of the selected peak, first and last step."""

    title = "Operations"
    name = "operations"

    def __init__(self, bridge: Bridge, parent: QWidget | None = None) -> None:
        super().__init__(bridge, parent)
        self._figures: AllocationFigures | None = None
        self._owners: dict[int, int] | None = None
        self._steps: StepOperations | None = None
        self._made: tuple[int, Estimate | None, RecipeOperations] | None = None
        self._spans: dict[int, tuple[int, int]] = {}
        self._stale = False
        self._pace = Pace(self._follow, self)
        self.filter_box = QLineEdit()
        self.filter_box.setPlaceholderText("Filter")
        self.filter_box.setAccessibleName("Filter operations")
        self.filter_box.setClearButtonEnabled(True)
        self.filter_box.textChanged.connect(self._refill)
        self.note = WrappedLabel()
        self.model = NodeModel(OperationSpec(), bridge.theme, self)
        self.tree = NodeView(self.model, "Operations by region", self, tree=True)
        self.tree.describe("The operations of the graph, bodies below their Repeat; Left and Right fold.")
        self.tree.setIndentation(12)
        self.tree.set_samples("1234", "FlashAttention", "100.0 %", "grid 8 × 36 × 5", "573.2 KiB", "22", "163", "163")
        self.tree.set_flexible(OperationColumn.PLAN)
        self.tree.picked.connect(self._pick)
        self.setFocusProxy(self.tree)
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
        self._load()

    # -- session --------------------------------------------------------------------------------------------------

    def on_document(self) -> None:
        self.model.clear()
        self._load()
        self._unfold()

    def _unfold(self) -> None:
        """Open the bodies of a recipe; the steps of a timeline only where they are few or looked for."""
        count = self.model.rowCount()
        if count <= _MOST_EXPANDED and (self.session.graph is not None or count == 1 or self.filter_box.text()):
            self.tree.expandToDepth(0)

    def on_state(self) -> None:
        self._refill()

    def on_estimate(self) -> None:
        self._load()

    def on_selection(self) -> None:
        self._pace.ask()

    def _follow(self) -> None:
        self._refill()
        self._show_selected()

    def on_theme(self) -> None:
        self.model.set_theme(self.bridge.theme)

    def _load(self) -> None:
        timeline = self.session.timeline
        graph = self.session.graph
        self._owners = None if graph is None else owners_of_values(graph)
        self._steps = StepOperations(timeline) if graph is None and timeline is not None else None
        self._spans = step_spans(timeline)
        self._figures = None if timeline is None else AllocationFigures(timeline)
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

    def _nodes(self, timeline: Timeline | None) -> tuple[Node[OperationRow], ...]:
        query = self.filter_box.text()
        share = self._shares(timeline)
        if self.session.graph is not None:
            return self._operations().nodes(share, query)
        return () if self._steps is None else self._steps.nodes(share, query)

    def _operations(self) -> RecipeOperations:
        """The recipe in force in words, put together again only after an edit or an estimate."""
        estimate, revision = self.session.estimate, self.session.revision
        made = self._made
        if made is None or made[0] != revision or made[1] is not estimate:
            recipe = self.session.recipe
            assert recipe is not None
            program = None if estimate is None else estimate.program
            unknown = {} if program is None else dict(program.unknown)
            edited = self.session.state.swaps.keys()
            operations = RecipeOperations(recipe, self._spans, edited=edited, unknown=unknown)
            made = self._made = (revision, estimate, operations)
        return made[2]

    def _shares(self, timeline: Timeline | None) -> Shares:
        if timeline is None or self._figures is None or not timeline.steps:
            return NO_SHARES
        selection = self.session.selection
        table = self._figures.table(selection.step or 0, selection.tile)
        return shares(table, timeline, self._owners, None if self._steps is None else self._steps.firsts)

    def _words(self, timeline: Timeline | None) -> str:
        if self.session.document is None:
            return "Nothing open"
        if self.session.graph is None:
            return "Operations that the steps name"
        if timeline is None or self.session.selection.step is None:
            return ""
        tile = self.session.selection.tile
        where = "fullest tile" if tile is None else f"tile {tile}"
        return f"At step {self.session.selection.step}, {where}"

    def _show_selected(self) -> None:
        selection = self.session.selection
        key: Hashable = selection.operation
        if self.session.graph is None and selection.operation is not None:
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

    def table_csv(self) -> str | None:
        if self._stale or self._pace.is_waiting:
            self._pace.stop()
            self._fill()
        return self.tree.csv()

    def shut_down(self) -> None:
        self._pace.stop()
