"""Fusions: every one that the compiler would look at, with its price, and why the set of them stands or falls."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from PySide6.QtWidgets import QVBoxLayout, QWidget

from tileview.analysis.fusions import FusionRow, fusion_facts
from tileview.present.cycle_words import (
    FUSION_TIP,
    FusionColumn,
    FusionSpec,
    cycles_note,
    fusion_headline,
    fusion_nodes,
)
from tileview.qt.base.text import plain_tip
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.plot.picture import Part
from tileview.qt.plot.picture_parts import TablePart
from tileview.qt.views.base import View
from tileview.qt.widgets.docked import FlowLayout, WrappedLabel, dock_button
from tileview.qt.widgets.node_model import NodeModel
from tileview.qt.widgets.node_view import NodeView


class FusionsView(View):
    """The table of candidates; choosing one selects its operation, the buttons switch fusions and compare."""

    title = "Fusions"
    name = "fusions"

    def __init__(self, bridge: SessionSignals, parent: QWidget | None = None) -> None:
        super().__init__(bridge, parent)
        self.headline = WrappedLabel()
        self.note = WrappedLabel()
        self.spec = FusionSpec()
        self.model = NodeModel(self.spec, bridge.theme, self)
        self.tree = NodeView(self.model, "Fusions that the compiler considers", self)
        self.tree.describe("What goes into which step, what it costs apart and together, and the outcome.")
        self.tree.set_samples(
            "BiasGelu: op 19's Add goes into op 20's", "1,111,111", "1,111,111", "−1,111,111", "does not pay",
        )  # fmt: skip
        self.tree.set_flexible(FusionColumn.FUSION, FusionColumn.OUTCOME)
        self.tree.set_optional(FusionColumn.APART, FusionColumn.TOGETHER)
        self.tree.set_seen(FusionColumn.FUSION, FusionColumn.CHANGE, FusionColumn.OUTCOME)
        self.tree.picked.connect(self._pick)
        self.switch = dock_button("Use fusions", plain_tip(FUSION_TIP), self.session.set_fusion)
        self.switch.setCheckable(True)
        tip = "Show the program with the other choice of fusions beside the current one"
        self.compare_button = dock_button("With and without", tip, self._compare)
        buttons = FlowLayout(spacing=4)
        for button in (self.switch, self.compare_button):
            buttons.addWidget(button)
        self.lead_focus(self.tree)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4, 4, 4, 4)
        layout.setSpacing(4)
        for widget in (self.headline, self.tree, self.note):
            layout.addWidget(widget, int(widget is self.tree))
        layout.addLayout(buttons)
        self._refill()

    def on_document(self) -> None:
        self.model.clear()
        self._refill()

    def on_estimate(self) -> None:
        self._refill()

    def on_state(self) -> None:
        self._show_switch()

    def on_theme(self) -> None:
        self.model.set_theme(self.bridge.theme)

    def on_selection(self) -> None:
        row, operation = self.tree.current_row(), self.session.selection.operation
        if isinstance(row, FusionRow) and operation not in (row.operation, row.partner):
            self.tree.show_current(None)

    def _refill(self) -> None:
        estimate = self.session.estimate
        facts = None if estimate is None else fusion_facts(estimate)
        self.spec.facts = facts
        self.model.set_nodes(fusion_nodes(facts))
        if self.session.document is None:
            self.headline.setText("Nothing open")
        elif estimate is None:
            self.headline.setText("No estimate yet")
        elif self.session.file_recipe is not None and facts is None:
            self.headline.setText(f"No program: {estimate.verdict.text}")
        else:
            self.headline.setText(fusion_headline(facts))
        self.note.setText(cycles_note(estimate))
        self._show_switch()

    def _show_switch(self) -> None:
        has_recipe = self.session.file_recipe is not None
        self.switch.setEnabled(has_recipe)
        self.switch.setChecked(self.session.state.overrides.fusion)
        self.compare_button.setEnabled(has_recipe and self.session.is_current)

    def _compare(self) -> None:
        self.bridge.requested.emit("compare_fusions", None)

    def _pick(self, _key: Hashable) -> None:
        row = self.tree.current_row()
        if isinstance(row, FusionRow) and row.operation is not None:
            self.session.select_operation(row.operation)

    def table_maker(self) -> Callable[[], str] | None:
        return self.tree.csv_maker()

    def picture_words(self) -> str:
        return "\n".join(filter(None, (self.headline.text(), self.note.text())))

    def picture_parts(self, whole: bool = False) -> Sequence[Part]:
        return (TablePart(self.tree, self.bridge.theme),)
