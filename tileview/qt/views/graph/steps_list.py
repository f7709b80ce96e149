"""The steps of a timeline, where the graph would stand if there were one."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QLabel, QLineEdit, QVBoxLayout, QWidget

from tileview.model.timeline import Timeline
from tileview.present.step_rows import StepColumn, StepRow, StepSpec, step_nodes
from tileview.present.tables import Node
from tileview.qt.jobs.pacing import takes_turns
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.widgets.docked import FocusHolder
from tileview.qt.widgets.node_model import NodeModel
from tileview.qt.widgets.node_view import NodeView

MOST_LISTED = 20_000
LISTED_PART = 10_000
"""Of more steps than fit into one list, so many are listed at a time: a table of 50,000 rows is felt."""


class StepsList(FocusHolder):
    """A table of steps: text of the operation, usage of the fullest tile, what is over or unavailable, peaks.

    Selecting a row selects the step and its operation.
    """

    def __init__(self, bridge: SessionSignals, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.bridge = bridge
        self.search = QLineEdit(self)
        self.search.setPlaceholderText("Find a step by its text (Ctrl+F)")
        self.search.setClearButtonEnabled(True)
        self.search.setAccessibleName("Find a step")
        self.note = QLabel(self)
        self.note.setWordWrap(True)
        self.note.setAccessibleName("Why there is no graph")
        self.model = NodeModel(StepSpec(), bridge.theme, self)
        self.table = NodeView(self.model, "Steps of the timeline", self)
        self.table.set_samples(
            "1234", "123", "Copy { mapping: Coordinate", "≥ 573.2 KiB", "≥ 100.0 %", "peak: total, standard", "27"
        )
        self.table.set_flexible(StepColumn.TEXT, StepColumn.MARKS)
        self.table.set_seen(StepColumn.STEP, StepColumn.OPERATION, StepColumn.TEXT, StepColumn.TOTAL, StepColumn.SHARE)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4, 4, 4, 0)
        layout.setSpacing(4)
        layout.addWidget(self.note)
        layout.addWidget(self.search)
        layout.addWidget(self.table, 1)
        self.lead_focus(self.table)
        self.table.picked.connect(self._pick)
        self.search.textChanged.connect(self.refresh)
        self.search.returnPressed.connect(self._first)
        self._timeline: Timeline | None = None
        self._range: tuple[int, int] | None = None
        self._listed: tuple[Node[StepRow], ...] = ()
        self._is_due = False
        """Whether the rows of a large timeline are still to be shown, each thing that takes a while in its turn."""

    def clear(self) -> None:
        """Another document."""
        self._timeline, self._listed = None, ()
        self.search.clear()
        self.model.clear()

    def _range_listed(self, timeline: Timeline) -> tuple[int, int] | None:
        """Which steps are listed: those of the range that is selected; of very many the part with the selected step."""
        selection = self.bridge.session.selection
        first, end = selection.span or (0, len(timeline.steps))
        if end - first <= MOST_LISTED:
            return selection.span
        step = min(max(selection.step or 0, first), end - 1)
        start = step - (step - first) % LISTED_PART
        return start, min(start + LISTED_PART, end)

    def show_timeline(self, timeline: Timeline | None) -> None:
        self._timeline = timeline
        if takes_turns(timeline, may_wait=True):
            self._is_due = True
            self.bridge.turns.add(self._find_nodes)
        else:
            self.refresh()

    def _find_nodes(self) -> None:
        """The first of three turns: rows are found, then given to the table, then laid out there."""
        if self._timeline is not None:
            step_nodes(self._timeline, within=self._range_listed(self._timeline))
        self.bridge.turns.add(self._list_nodes)

    def _list_nodes(self) -> None:
        self.refresh()
        self.bridge.turns.add(self._lay_out)

    def _lay_out(self) -> None:
        self._is_due = False
        self.show_selection()

    def bring_up_to_date(self) -> None:
        """Show now what would have its turn later."""
        if self._is_due:
            self.refresh()
            self._lay_out()

    def refresh(self) -> None:
        timeline = self._timeline
        query, span = self.search.text().strip(), self.bridge.session.selection.span
        listed = self._range = None if timeline is None else self._range_listed(timeline)
        nodes = () if timeline is None else step_nodes(timeline, query, span if query else listed)
        nodes = nodes if len(nodes) <= MOST_LISTED else nodes[:MOST_LISTED]
        if nodes is not self._listed:
            self._listed = nodes
            self.model.set_nodes(nodes)
        if timeline is not None:
            count = len(timeline.steps)
            shown = "" if len(nodes) == count else f" {len(nodes):,} shown."
            if listed != span and not query and listed is not None:
                shown = f" Steps {listed[0]:,} … {listed[1] - 1:,} are listed; the list follows the selected step."
            elif span is not None:
                shown = f" {len(nodes):,} of steps {span[0]} … {span[1] - 1} shown."
            self.note.setText(f"A timeline without a recipe has no graph; these are its {count:,} steps.{shown}")
        if not self._is_due:
            self._show_current()

    def csv_maker(self) -> Callable[[], str]:
        """What makes all steps that were asked for into CSV, listed or not; may run on any thread."""
        timeline, query = self._timeline, self.search.text().strip()
        if timeline is None or len(timeline.steps) <= MOST_LISTED:
            return self.table.csv_maker()
        span, spec = self.bridge.session.selection.span, self.model.spec
        return lambda: spec.csv(step_nodes(timeline, query, span))

    def show_selection(self) -> None:
        """Follow the selection: its range of steps, and the row of its step."""
        if self._is_due:
            return
        if self._timeline is not None and self._range_listed(self._timeline) != self._range:
            self.refresh()
        else:
            self._show_current()

    def _show_current(self) -> None:
        self.table.show_current(self.bridge.session.selection.step, centre=True)

    def set_theme(self) -> None:
        self.model.set_theme(self.bridge.theme)

    def _pick(self, key: object) -> None:
        session, timeline = self.bridge.session, self._timeline
        if timeline is None or not isinstance(key, int) or key >= len(timeline.steps):
            return
        session.select_step(key)
        source = timeline.steps[key].source
        if source is not None and session.selection.operation != source:
            session.select_operation(source)

    def _first(self) -> None:
        if self.model.nodes:
            self._pick(self.model.nodes[0].key)
            self.table.setFocus()
