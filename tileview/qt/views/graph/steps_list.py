"""The steps of a timeline, where the graph would stand if there were one."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QLineEdit, QVBoxLayout, QWidget

from tileview.model.timeline import Timeline
from tileview.present.step_rows import StepColumn, StepSpec, step_nodes
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.widgets.docked import FocusHolder
from tileview.qt.widgets.node_model import NodeModel
from tileview.qt.widgets.node_view import NodeView


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
        self._span: tuple[int, int] | None = None

    def clear(self) -> None:
        """Another document."""
        self._timeline = None
        self.search.clear()
        self.model.clear()

    def show_timeline(self, timeline: Timeline | None) -> None:
        self._timeline = timeline
        self.refresh()

    def refresh(self) -> None:
        timeline = self._timeline
        span = self._span = self.bridge.session.selection.span
        nodes = () if timeline is None else step_nodes(timeline, self.search.text().strip(), span)
        self.model.set_nodes(nodes)
        if timeline is not None:
            count = len(timeline.steps)
            shown = "" if len(nodes) == count else f" {len(nodes):,} shown."
            if span is not None:
                shown = f" {len(nodes):,} of steps {span[0]} … {span[1] - 1} shown."
            self.note.setText(f"A timeline without a recipe has no graph; these are its {count:,} steps.{shown}")
        self._show_current()

    def show_selection(self) -> None:
        """Follow the selection: its range of steps, and the row of its step."""
        if self.bridge.session.selection.span != self._span:
            self.refresh()
        else:
            self._show_current()

    def _show_current(self) -> None:
        self.table.show_current(self.bridge.session.selection.step)

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
