"""The alternatives of the operations at fault and of the selected one, ranked by what they give when swapped in."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from enum import IntEnum

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QComboBox, QWidget

from tileview.analysis.operation_words import kind_words
from tileview.model.plan import Plan
from tileview.model.recipe import Recipe
from tileview.present.alternative_rows import (
    ALTERNATIVES,
    AlternativeOutcome,
    AlternativeRow,
    Entry,
    OperationHead,
    alternative_nodes,
    alternative_rows,
    progress_words,
    with_results,
)
from tileview.present.detail_sections import find_operation
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.views.base import allow
from tileview.qt.views.table_view import RowSubject, TableView
from tileview.qt.widgets.docked import ElidedLabel, FlowLayout, WrappedLabel, dock_button

Group = tuple[OperationHead, tuple[AlternativeRow, ...]]


class AlternativeScope(IntEnum):
    """Whose alternatives are shown; the order of the choice."""

    AT_FAULT = 0
    SELECTED = 1
    ALL = 2


_SCOPES = ("At fault", "Selected", "All")
_MOST_EXPANDED = 12
"""Operations whose alternatives are all open at first."""


class AlternativesView(TableView):
    """Figures of each alternative, and below them what it changes; double click, Enter or the button swaps in."""

    title = "Alternatives"
    name = "alternatives"
    spec = ALTERNATIVES
    table_name = "Alternatives by operation"
    description = "Ranked by the peak that each gives; Enter swaps one in."
    filter_tip = "By operation, change or result: fits, over, not known, cannot be lowered"
    is_tree = True

    def __init__(self, bridge: SessionSignals, parent: QWidget | None = None) -> None:
        super().__init__(bridge, parent)
        self._shown_for: int | None = None
        self._groups: tuple[Group, ...] = ()
        self._kept: dict[int, tuple[tuple[Plan | None, int | None, Plan | None], tuple[AlternativeRow, ...]]] = {}
        self.headline = WrappedLabel()
        self.progress = ElidedLabel()
        self.scope_box = QComboBox()
        self.scope_box.addItems(_SCOPES)
        self.scope_box.setAccessibleName("Whose alternatives")
        self.scope_box.setToolTip(
            "Whose alternatives are shown: of the operations at fault and the selected one, of that alone, or of all"
        )
        self.outcome_box = QComboBox()
        self.outcome_box.addItem("All results")
        for outcome in AlternativeOutcome:
            self.outcome_box.addItem(str(outcome).capitalize(), outcome)
        self.outcome_box.setAccessibleName("Which results")
        self.outcome_box.setToolTip("Show only alternatives with this result")
        for box in (self.scope_box, self.outcome_box):
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(8)
            box.currentIndexChanged.connect(self.refill)
        bridge.placement_changed.connect(self.refill)
        self.tree.activated_key.connect(self._swap_key)
        self.tree.selectionModel().currentRowChanged.connect(self._refresh_buttons)
        self.swap_button = dock_button("&Swap in", "", self.swap_current)
        self.compare_button = dock_button("&Compare", "", self.compare_current)
        self.evaluate_button = dock_button("Eval&uate", "", self.evaluate)
        self.back_button = dock_button("File's p&lan", "", self.back_to_file)
        tip = "Memory against cycles: all alternatives of the operation in one picture, to choose by eye"
        self.choose_button = dock_button("Cycles…", tip, self.choose_by_eye)
        buttons = FlowLayout(spacing=4)
        left = (self.swap_button, self.compare_button, self.evaluate_button, self.back_button)
        for button in (*left, self.choose_button):
            buttons.addWidget(button)
        self.lay_out((self.scope_box, self.outcome_box, self.filter_box), (self.headline, self.progress, buttons))
        self._swap_action = QAction("Swap the chosen alternative in", self)
        self._swap_action.triggered.connect(self.swap_current)
        self._evaluate_action = QAction("Evaluate the alternatives shown", self)
        self._evaluate_action.triggered.connect(self.evaluate)
        self.look_first(self.refill)

    # -- session --------------------------------------------------------------------------------------------------

    def on_document(self) -> None:
        self._shown_for = None
        self._kept.clear()
        super().on_document()

    def on_alternatives(self) -> None:
        self.refill()

    def on_pins(self) -> None:
        self.refill()

    def on_overflows(self) -> None:
        self.refill()

    def on_selection(self) -> None:
        if self.session.selection.operation != self._shown_for:
            self.refill()

    # -- rows -----------------------------------------------------------------------------------------------------

    def _at_fault(self) -> dict[int, list[int]]:
        """Operation at fault → the steps at which it is, the worst overflow first."""
        found: dict[int, list[int]] = {}
        for one in self.session.overflows:
            if one.operation is not None:
                found.setdefault(one.operation, []).append(one.step)
        return found

    def _operations(self, recipe: Recipe, at_fault: dict[int, list[int]]) -> list[int]:
        """Whose alternatives are to be shown, in order."""
        scope, selected = AlternativeScope(self.scope_box.currentIndex()), self.session.selection.operation
        wanted = [] if scope is AlternativeScope.SELECTED else list(at_fault)
        if selected is not None:
            wanted.append(selected)
        if scope is AlternativeScope.ALL:
            wanted += sorted(recipe.alternatives)
        return [one for one in dict.fromkeys(wanted) if one in recipe.alternatives or one in recipe.plans]

    def _group(self, recipe: Recipe, operation: int, steps: list[int]) -> Group:
        session = self.session
        file_plan = None if session.file_recipe is None else session.file_recipe.plans.get(operation)
        key = (recipe.plans.get(operation), session.alternative_in_force(operation), file_plan)
        kept = self._kept.get(operation)
        if kept is None or kept[0][0] is not key[0] or kept[0][1:] != key[1:]:
            kept = self._kept[operation] = (key, alternative_rows(recipe, operation, key[1], file_plan, {}))
        rows = with_results(kept[1], session.results, session.placed_of)
        found = find_operation(recipe.graph, operation)
        place = f"step{'s' if len(steps) > 1 else ''} {', '.join(map(str, steps))}" if steps else ""
        count = len(recipe.alternatives.get(operation, ()))
        return OperationHead(operation, "" if found is None else kind_words(found.kind), place, count), rows

    def fill(self) -> None:
        recipe, at_fault = self.session.recipe, self._at_fault()
        self._groups = ()
        if recipe is not None:
            wanted = self._operations(recipe, at_fault)
            self._groups = tuple(self._group(recipe, one, at_fault.get(one, [])) for one in wanted)
        known = {key for key in map(self.model.key, self.model.indexes()) if isinstance(key, tuple)}
        chosen = self.outcome_box.currentData()
        nodes = alternative_nodes(self._groups, self.query, None if chosen is None else AlternativeOutcome(chosen))
        self.model.set_nodes(nodes)
        if self.query or len(nodes) <= _MOST_EXPANDED:
            for node in nodes:
                if self.query or node.key not in known:
                    self.tree.expand(self.model.find(node.key))
        self.headline.setText(self._headline(bool(nodes)))
        self.headline.setVisible(bool(self.headline.text()))
        rows = [row for _, rows in self._groups for row in rows]
        self.progress.setText(f"{progress_words(rows)}; sizes in KiB" if rows else "")
        self.progress.setVisible(bool(rows))

    def show_selected(self) -> None:
        """Turn to the current plan of an operation that was selected just now; else the row stays that was chosen."""
        operation = self.session.selection.operation
        if operation != self._shown_for:
            self._shown_for = operation
            rows = next((rows for head, rows in self._groups if head.operation == operation), ())
            row = next((row for row in rows if row.is_current), None)
            self.tree.show_current(None if row is None else (row.operation, row.index))
        self._refresh_buttons()

    def _headline(self, has_rows: bool) -> str:
        if self.session.document is None:
            return "Nothing open"
        linked, graph, operation = self.session.linked, self.session.graph, self.session.selection.operation
        if graph is None and linked is not None and linked.is_recipe:
            return f"Open {linked.name} to try alternatives: the timeline that is open beside it holds none"
        if graph is None:
            return "A timeline alone holds no alternatives: open the recipe of the same compile"
        if operation is not None and all(head.operation != operation for head, _ in self._groups):
            found = find_operation(graph, operation)
            kind = "" if found is None else f" ({kind_words(found.kind)})"
            return f"Operation {operation}{kind} has no plan to choose"
        if self._groups:
            return "" if has_rows else "No alternative is found by the filter"
        return "Select an operation to see its alternatives"

    # -- the chosen one -------------------------------------------------------------------------------------------

    def _chosen(self) -> AlternativeRow | None:
        """The alternative of the current row; None for a heading and for a plan that is none of the file's."""
        row = self.tree.current_row()
        return row if isinstance(row, AlternativeRow) and row.index is not None else None

    def _refresh_buttons(self) -> None:
        row = self._chosen()
        reason = "Choose an alternative in the table first" if row is None else ""
        if row is not None and row.is_current:
            reason = "This is the current plan already"
        allow(self.swap_button, "Make the chosen alternative the current plan (Enter)", reason)
        allow(self._swap_action, self.swap_button.toolTip(), reason)
        allow(self.compare_button, "Show the chosen alternative beside the current state", reason)
        has_missing = bool(self._missing())
        reason = "" if has_missing else "All of them are evaluated"
        allow(self.evaluate_button, "Compute the peaks of the alternatives shown", reason)
        allow(self._evaluate_action, self.evaluate_button.toolTip(), reason)
        self.evaluate_button.setVisible(has_missing)
        reason = "" if self._swapped() is not None else "The plan is the file's already"
        self.choose_button.setEnabled(bool(self._groups))
        allow(self.back_button, "Back to the plan that the file has", reason)
        self.back_button.setVisible(not reason)

    def _missing(self) -> tuple[int, ...]:
        """The operations of which not all alternatives are evaluated."""
        return tuple(
            head.operation
            for head, rows in self._groups
            if any(row.result is None and row.index is not None for row in rows)
        )

    def _swapped(self) -> int | None:
        """The operation of the current row, else the selected one, where its plan is not the file's."""
        row = self.tree.current_row()
        operation = self.session.selection.operation if row is None else row.operation
        return operation if operation in self.session.state.swaps else None

    # -- user -----------------------------------------------------------------------------------------------------

    def choose_by_eye(self) -> None:
        """Ask for the alternatives of the row's operation, else of the selected one, as a picture."""
        row = self.tree.current_row()
        self.bridge.requested.emit("choose", self.session.selection.operation if row is None else row.operation)

    def subject(self, row: Entry) -> RowSubject:
        head = next((head for head, _ in self._groups if head.operation == row.operation), None)
        name = f"op {row.operation}" + ("" if head is None else f" {head.kind}")
        if isinstance(row, AlternativeRow):
            name += f", alternative {row.index}: {row.words}"
        return RowSubject(row.operation, name=name)

    def keys_about(self, operation: int | None, root: int | None, tile: int | None) -> Iterable[Hashable]:
        return () if operation is None else (("op", operation),)

    def pick(self, key: Hashable) -> None:
        """Select the operation of the row, and keep the row."""
        row = self.tree.current_row()
        if row is not None and row.operation != self.session.selection.operation:
            self._shown_for = row.operation
            self.session.select_operation(row.operation)
            self._refresh_buttons()

    def swap_current(self) -> None:
        """Make the chosen alternative the current plan."""
        row = self._chosen()
        if row is not None and not row.is_current:
            self.session.swap(row.operation, row.index)

    def _swap_key(self, key: Hashable) -> None:
        row = self._chosen()
        if row is not None and key == (row.operation, row.index):
            self.swap_current()

    def compare_current(self) -> None:
        """Ask for the chosen alternative beside the current state."""
        row = self._chosen()
        if row is not None:
            self.bridge.requested.emit("compare_alternative", (row.operation, row.index))

    def evaluate(self) -> None:
        """Ask for the results of all alternatives that are shown."""
        missing = self._missing()
        if missing:
            self.bridge.requested.emit("evaluate_alternatives", missing)

    def back_to_file(self) -> None:
        """Take the file's plan again."""
        operation = self._swapped()
        if operation is not None:
            self.session.swap(operation, None)

    def view_actions(self) -> list[QAction]:
        return [self._swap_action, self._evaluate_action]

    def picture_words(self) -> str:
        return "\n".join(text for text in (self.headline.text(), self.progress.text()) if text)
