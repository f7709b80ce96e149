"""The problems of what is open, where they are, and what would repair them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QDockWidget,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from tileview.analysis.home_offers import home_groups, homes_of_offer
from tileview.analysis.repair import GroupRepair, RepairGroup, repair_groups
from tileview.analysis.words import counted
from tileview.model.timeline import Timeline
from tileview.present.problem_rows import (
    SEVERITIES,
    ProblemColumn,
    ProblemRow,
    ProblemSpec,
    home_problems,
    problem_nodes,
    tally,
)
from tileview.present.tables import Node, matches
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.plot.picture import Part
from tileview.qt.plot.picture_parts import TablePart
from tileview.qt.views.base import View
from tileview.qt.views.going import go_where_live
from tileview.qt.widgets.elided import ElidedLabel, WrappedLabel
from tileview.qt.widgets.flow import FlowLayout
from tileview.qt.widgets.node_model import NodeModel
from tileview.qt.widgets.node_view import NodeView
from tileview.session import edits

_OFFER_LINES = 8
"""Lines of text that the list of repairs may take; it scrolls beyond."""


class ProblemsView(View):
    """Tree of problems; selecting one goes to its place. Layouts that do not resolve are repaired a kind at a time."""

    title = "Problems"
    name = "problems"

    def __init__(self, bridge: SessionSignals, parent: QWidget | None = None) -> None:
        super().__init__(bridge, parent)
        self._all: tuple[Node[ProblemRow], ...] = ()
        self._groups: tuple[RepairGroup, ...] = ()
        self._groups_of: Timeline | None = None
        self._offered: RepairGroup | None = None
        self._stale = False
        self._is_new = False
        self.headline = ElidedLabel(cut=Qt.TextElideMode.ElideRight)
        self.filter_box = QLineEdit()
        self.filter_box.setPlaceholderText("Filter")
        self.filter_box.setAccessibleName("Filter problems")
        self.filter_box.setClearButtonEnabled(True)
        self.filter_box.textChanged.connect(self._fill)
        self.model = NodeModel(ProblemSpec(), bridge.theme, self)
        self.tree = NodeView(self.model, "Problems", self, tree=True)
        self.tree.describe("Gravest first; moving to a row shows its place in the other views.")
        self.tree.setIndentation(12)
        self.tree.set_samples(
            "✗ error", "43 invalid layouts", "1,472 tiles requested, only 288 grains", "At most 288 owners"
        )
        self.tree.set_flexible(ProblemColumn.PLACE, ProblemColumn.TEXT, ProblemColumn.HINT)
        self.tree.picked.connect(self._pick)
        self.tree.selectionModel().currentRowChanged.connect(self._refresh_repairs)
        self.repair_label = WrappedLabel()
        self.repair_list = QListWidget()
        self.repair_list.setAccessibleName("Layouts that resolve")
        self.repair_list.setWordWrap(True)
        self.repair_list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.repair_list.setMaximumHeight(_OFFER_LINES * self.fontMetrics().lineSpacing())
        self.repair_list.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Maximum)
        self.one_button = QPushButton("Apply to this &one")
        self.one_button.setToolTip("Give the selected value this layout")
        self.all_button = QPushButton("Appl&y to all")
        for button in (self.one_button, self.all_button):
            button.setAutoDefault(False)
        self.one_button.clicked.connect(self.apply_one)
        self.all_button.clicked.connect(self.apply_all)
        self.lead_focus(self.tree)
        self._lay_out()
        self._rebuild()

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.addWidget(self.headline, 1)
        top.addWidget(self.filter_box)
        self.filter_box.setMaximumWidth(160)
        bottom = FlowLayout(spacing=4)
        bottom.addWidget(self.all_button)
        bottom.addWidget(self.one_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4, 4, 4, 4)
        layout.setSpacing(4)
        layout.addLayout(top)
        layout.addWidget(self.tree, 1)
        layout.addWidget(self.repair_label)
        layout.addWidget(self.repair_list)
        layout.addLayout(bottom)

    # -- session --------------------------------------------------------------------------------------------------

    def on_document(self) -> None:
        self._is_new = True
        self.model.clear()
        self._rebuild()

    def on_estimate(self) -> None:
        self._rebuild()
        if self._is_new:
            self._is_new = False
            self._come_forward()

    def on_state(self) -> None:
        self._refresh_repairs()

    def on_theme(self) -> None:
        self.model.set_theme(self.bridge.theme)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._rebuild()

    def _rebuild(self) -> None:
        """Find the problems anew; while the view is hidden, only remember that this is to be done."""
        if not self.isVisible() and self.window().isVisible():
            self._stale = True
        else:
            self._rebuild_now()

    def _rebuild_now(self) -> None:
        self._stale = False
        session = self.session
        timeline = session.timeline
        estimate = session.estimate
        program = None if estimate is None else estimate.program
        unknown = () if program is None else program.unknown
        recipe = session.recipe
        self._all = problem_nodes(timeline, session.problems, session.verdict, unknown, home_problems(recipe))
        if recipe is not None:
            self._groups = home_groups(recipe)
        elif timeline is not self._groups_of:
            self._groups = () if timeline is None else repair_groups(timeline)
        self._groups_of = timeline
        self._fill()

    def _come_forward(self) -> None:
        """Put the tab in front for a newly opened timeline with errors: there the repairs are what comes next.

        A recipe has its plans beside it instead, unless it cannot be lowered at all. The focus stays where it is.
        """
        session = self.session
        if session.document is None or (session.graph is not None and session.timeline is not None):
            return
        if self._stale:
            self._rebuild_now()
        dock = self.parentWidget()
        while dock is not None and not isinstance(dock, QDockWidget):
            dock = dock.parentWidget()
        if dock is not None and any(node.row.severity == SEVERITIES[0] for node in self._all):
            dock.raise_()

    def _fill(self) -> None:
        query = self.filter_box.text()
        was_empty = self.model.rowCount() == 0
        self.model.set_nodes([node for found in self._all if (node := _filtered(found, query)) is not None])
        if was_empty and len(self._all) == 1:
            self.tree.expandToDepth(0)
        self.headline.setText("Nothing open" if self.session.document is None else tally(self._all))
        self._refresh_repairs()

    # -- repairs --------------------------------------------------------------------------------------------------

    def _group(self) -> RepairGroup | None:
        """The group of the current row; the first one where no row is current, so that a repair is always in sight."""
        row = self.tree.current_row()
        wanted = self._target(row)
        if wanted is not None:
            return next((group for group in self._groups if wanted in group.values), None)
        return self._groups[0] if self._groups and (row is None or row.repairable) else None

    def _target(self, row: ProblemRow | None) -> int | None:
        """What of a row can be repaired: a value of a timeline, or an input of a recipe by its graph value."""
        if row is None:
            return None
        return row.value if self.session.graph is None else row.home

    def _refresh_repairs(self) -> None:
        group, row = self._group(), self.tree.current_row()
        follows = self.session.graph is not None and row is not None and row.repairable and group is None
        for widget in (self.repair_list, self.one_button, self.all_button):
            widget.setVisible(group is not None)
        self.repair_label.setVisible(group is not None or follows)
        if group is None:
            self.repair_label.setText("Layouts follow from the plans: swap a plan or change a home to repair them.")
            return
        self._show_offers(group)
        count = len(group.values)
        what = "layout" if self.session.graph is None else "home"
        alike = f"{counted(count, 'value' if what == 'layout' else 'input')} that fail{'s' if count == 1 else ''} alike"
        if group.repairs:
            offered = counted(len(group.repairs), f"{what} that resolves", f"{what}s that resolve")
            self.repair_label.setText(f"{offered} for {alike}")
        else:
            self.repair_label.setText(f"No single change makes the {what}s of {alike} resolve")
        self.all_button.setText(f"Appl&y to all {count} of a kind" if count > 1 else "Appl&y")
        self.all_button.setEnabled(bool(group.repairs))
        self.one_button.setVisible(count > 1)
        self.one_button.setEnabled(bool(group.repairs) and self._target(row) is not None)

    def _show_offers(self, group: RepairGroup) -> None:
        """List the layouts that resolve; the one that was chosen stays chosen where it is still on offer."""
        if self._offered is group:
            return
        chosen = self._chosen_key()
        self._offered = group
        self.repair_list.clear()
        self.repair_list.addItems([repair.label for repair in group.repairs])
        keys = [repair.key for repair in group.repairs]
        if keys:
            self.repair_list.setCurrentRow(keys.index(chosen) if chosen in keys else 0)

    def _chosen_key(self) -> tuple[str, ...] | None:
        row = self.repair_list.currentRow()
        offered = () if self._offered is None else self._offered.repairs
        return offered[row].key if 0 <= row < len(offered) else None

    def _repair(self) -> tuple[RepairGroup, GroupRepair] | None:
        group = self._group()
        index = self.repair_list.currentRow()
        if group is None or not 0 <= index < len(group.repairs):
            return None
        return group, group.repairs[index]

    def apply_all(self) -> None:
        """Repair every value or input that fails alike, as one edit."""
        found = self._repair()
        if found is not None:
            self._apply(found[1], found[0].values)

    def apply_one(self) -> None:
        """Repair the selected value or input alone (an input with the other members of its sequence)."""
        found, wanted = self._repair(), self._target(self.tree.current_row())
        if found is not None and wanted is not None:
            self._apply(found[1], (wanted,))

    def _apply(self, repair: GroupRepair, values: tuple[int, ...]) -> None:
        session = self.session
        recipe = session.recipe
        if recipe is None:
            layouts = {value: repair.layouts[value] for value in values}
            title = f"Repair {counted(len(values), 'layout')}: {repair.label}"
            session.do(edits.set_layouts(session.state, title, layouts))
            return
        homes = homes_of_offer(recipe, repair, values, session.state.overrides)
        if not homes:
            self.bridge.message.emit("The planner finds no homes: something else stands in the way of lowering.")
            return
        title = f"Repair {counted(len(homes), 'home')}: {repair.label}"
        changes = tuple(edits.set_home(session.state, value, home) for value, home in homes.items())
        session.do(edits.Together(title, changes))

    # -- user -----------------------------------------------------------------------------------------------------

    def _pick(self, key: Hashable) -> None:
        """Go to the place of a problem: step and tile, allocation, operation, as far as it has them."""
        row = self.tree.current_row()
        if not isinstance(row, ProblemRow):
            return
        selection = self.session.selection
        if row.step is not None:
            selection = replace(selection, step=row.step)
        if row.tile is not None:
            selection = replace(selection, tiles=(row.tile,))
        if row.operation is not None:
            selection = replace(selection, operation=row.operation)
        self.session.select(selection)
        if row.root is not None:
            self.session.select_allocation(row.root)
            go_where_live(self.session, row.root)

    def find_operation(self) -> None:
        """Take the keys to the filter: what the window's search does in this view."""
        self.filter_box.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.filter_box.selectAll()

    def centre_selection(self) -> None:
        """Scroll to the row that is selected."""
        self.tree.scrollTo(self.tree.currentIndex(), NodeView.ScrollHint.PositionAtCenter)

    def table_maker(self) -> Callable[[], str] | None:
        return self.tree.csv_maker()

    def picture_words(self) -> str:
        return self.headline.text()

    def picture_parts(self, whole: bool = False) -> Sequence[Part]:
        return (TablePart(self.tree, self.bridge.theme),)


def _filtered(node: Node[ProblemRow], query: str) -> Node[ProblemRow] | None:
    """A node with those of its children that a query finds; with all of them where it finds the node alone.

    Children go first: the line above them names one of them, and would keep all whenever that one is looked for.
    """
    kept = tuple(found for child in node.children if (found := _filtered(child, query)) is not None)
    if kept:
        return Node(node.key, node.row, kept)
    return node if matches(query, node.row.place, node.row.text, node.row.kind, node.row.severity) else None
