"""The problems of what is open, where they are, and what would repair them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from operator import is_

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QListWidget, QSizePolicy, QWidget

from tileview.analysis.home_offers import home_groups, homes_of_offer
from tileview.analysis.repair import GroupRepair, RepairGroup, repair_groups
from tileview.analysis.words import counted
from tileview.present.problem_rows import (
    CANNOT_LOWER,
    PROBLEMS,
    ProblemRow,
    error_count,
    home_problems,
    problem_nodes,
    tally,
)
from tileview.present.tables import Node, matches
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.views.base import allow, go_where_live
from tileview.qt.views.table_view import RowSubject, TableView
from tileview.qt.widgets.docked import ElidedLabel, FlowLayout, WrappedLabel, dock_button
from tileview.session import edits

_OFFER_LINES = 8
"""Lines of text that the list of repairs may take; it scrolls beyond."""


class ProblemsView(TableView):
    """Tree of problems; selecting one goes to its place. Values with no valid layout are repaired a kind at a time."""

    title = "Problems"
    name = "problems"
    spec = PROBLEMS
    table_name = "Problems"
    description = "Gravest first; moving to a row shows its place in the other views."
    filter_tip = "By place, kind or text"
    is_tree = True
    needs_program = False

    def __init__(self, bridge: SessionSignals, parent: QWidget | None = None) -> None:
        super().__init__(bridge, parent)
        self._found: _Found | None = None
        self._groups: tuple[RepairGroup, ...] = ()
        self._offered: RepairGroup | None = None
        self.headline = ElidedLabel(cut=Qt.TextElideMode.ElideRight)
        self.tree.selectionModel().currentRowChanged.connect(self._refresh_repairs)
        self.repair_label = WrappedLabel()
        self.repair_list = QListWidget()
        self.repair_list.setAccessibleName("Valid layouts")
        self.repair_list.setWordWrap(True)
        self.repair_list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.repair_list.setMaximumHeight(_OFFER_LINES * self.fontMetrics().lineSpacing())
        self.repair_list.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Maximum)
        self.one_button = dock_button("Apply to this &one", "", self.apply_one)
        self.all_button = dock_button("Appl&y to all", "", self.apply_all)
        buttons = FlowLayout(spacing=4)
        buttons.addWidget(self.all_button)
        buttons.addWidget(self.one_button)
        self.lay_out((self.headline, self.filter_box), (self.repair_label, self.repair_list, buttons))
        self.look_first(self.refill)

    # -- session --------------------------------------------------------------------------------------------------

    def on_document(self) -> None:
        self.setWindowTitle(self.title)
        super().on_document()

    def on_estimate(self) -> None:
        super().on_estimate()
        self.bridge.turns.add(self._count, is_for_later=True)

    def begin(self) -> None:
        super().begin()
        if self.session.is_current:
            self.on_estimate()

    def on_state(self) -> None:
        self._refresh_repairs()

    def on_selection(self) -> None:
        """Problems are the same whatever is selected."""

    def _problems(self) -> tuple[Node[ProblemRow], ...]:
        """What is wrong with the open file and its estimate, found once for both."""
        session = self.session
        timeline, recipe, verdict = session.timeline, session.recipe, session.verdict
        found, key = self._found, (session.document, timeline, recipe, verdict)
        if found is not None and all(map(is_, found.of, key)):
            return found.nodes
        program = None if session.estimate is None else session.estimate.program
        unknown = () if program is None else program.unknown
        nodes = problem_nodes(timeline, session.problems, verdict, unknown, home_problems(recipe))
        if recipe is not None:
            self._groups = home_groups(recipe)
        elif found is None or found.of[1] is not timeline:
            self._groups = () if timeline is None else repair_groups(timeline)
        self._found = _Found(key, nodes)
        return nodes

    def fill(self) -> None:
        problems, was_empty = self._problems(), self.model.rowCount() == 0
        self.model.set_nodes([node for found in problems if (node := _filtered(found, self.query)) is not None])
        if was_empty and len(problems) == 1:
            self.tree.expandToDepth(0)
        self.headline.setText("Nothing open" if self.session.document is None else tally(problems))
        self._refresh_repairs()

    @Slot()
    def _count(self) -> None:
        """Say on the tab how many errors there are, also while the view is behind another."""
        errors = error_count(self._problems())
        self.setWindowTitle(f"{self.title} ({errors:,})" if errors else self.title)

    # -- repairs --------------------------------------------------------------------------------------------------

    def _group(self) -> RepairGroup | None:
        """The group of the current row; the first one where no row is current, or the one that says what they lead to,
        so that a repair is always in sight.
        """
        row = self.tree.current_row()
        wanted = self._target(row)
        if wanted is not None:
            return next((group for group in self._groups if wanted in group.values), None)
        is_about_it = row is None or row.repairable or row.kind == CANNOT_LOWER
        return self._groups[0] if self._groups and is_about_it else None

    def _target(self, row: ProblemRow | None) -> int | None:
        """What of a row can be repaired: a value of a timeline, or an input of a recipe by its graph value."""
        if row is None:
            return None
        return row.value if self.session.graph is None else row.home

    def _refresh_repairs(self) -> None:
        group, row = self._group(), self.tree.current_row()
        follows = self.session.graph is not None and row is not None and row.repairable and group is None
        for widget in (self.repair_list, self.one_button, self.all_button):
            if widget.hasFocus() and group is None:
                self.tree.setFocus()  # else the focus would go to whatever stands next, such as a search box
            widget.setVisible(group is not None)
        self.repair_label.setVisible(group is not None or follows)
        if group is None:
            self.repair_label.setText("Layouts follow from the plans: swap a plan or change a home to repair them.")
            return
        self._show_offers(group)
        count = len(group.values)
        what = "layout" if self.session.graph is None else "home"
        whose = counted(count, "value" if what == "layout" else "input")
        if group.repairs:
            offered = counted(len(group.repairs), f"valid {what}")
            alike = " that fail in the same way" if count > 1 else ""
            self.repair_label.setText(f"{offered} for {whose}{alike}")
        else:
            self.repair_label.setText(f"No single change makes the {what}s of {whose} valid")
        none = "" if group.repairs else f"No single change makes the {what}s valid"
        self.all_button.setText(f"Appl&y to all {count}" if count > 1 else "Appl&y")
        allow(self.all_button, f"Give {whose} this {what}, in one edit", none)
        self.one_button.setVisible(count > 1)
        if self._target(row) is None:
            none = none or f"Select one {what} in the table first"
        allow(self.one_button, f"Give the selected {'value' if what == 'layout' else 'input'} this {what}", none)

    def _show_offers(self, group: RepairGroup) -> None:
        """List the valid layouts; the one that was chosen stays chosen where it is still on offer."""
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
            self.bridge.message.emit("The planner finds no homes: something else prevents lowering.")
            return
        title = f"Repair {counted(len(homes), 'home')}: {repair.label}"
        changes = tuple(edits.set_home(session.state, value, home) for value, home in homes.items())
        session.do(edits.Together(title, changes))

    # -- user -----------------------------------------------------------------------------------------------------

    def pick(self, key: Hashable) -> None:
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

    def subject(self, row: ProblemRow) -> RowSubject:
        return RowSubject(row.operation, row.root, row.tile, row.place)

    def keys_about(self, operation: int | None, root: int | None, tile: int | None) -> Iterable[Hashable]:
        if operation is None and root is None:
            return
        for node in self.model.nodes:
            for one in (node, *node.children):
                row = one.row
                if row.operation == operation is not None or row.root == root is not None:
                    yield one.key

    def picture_words(self) -> str:
        return self.headline.text()


@dataclass(frozen=True, slots=True)
class _Found:
    """Problems, and what they are those of: document, timeline, recipe, verdict."""

    of: tuple[object, ...]
    nodes: tuple[Node[ProblemRow], ...]


def _filtered(node: Node[ProblemRow], query: str) -> Node[ProblemRow] | None:
    """A node with those of its children that a query finds; with all of them where it finds the node alone.

    Children go first: the line above them names one of them, and would keep all whenever that one is looked for.
    """
    kept = tuple(found for child in node.children if (found := _filtered(child, query)) is not None)
    if kept:
        return Node(node.key, node.row, kept)
    return node if matches(query, node.row.place, node.row.text, node.row.kind, node.row.severity) else None
