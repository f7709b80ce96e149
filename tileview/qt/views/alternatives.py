"""The alternatives of the selected operation, ranked by what they give when swapped in alone."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QPushButton, QStyle, QVBoxLayout, QWidget

from tileview.analysis.words import kind_words
from tileview.present.alternative_rows import (
    AlternativeColumn,
    AlternativeNote,
    AlternativeRow,
    AlternativeSpec,
    alternative_nodes,
    alternative_rows,
    progress_words,
)
from tileview.present.details import find_operation
from tileview.qt.jobs.session_signals import Bridge
from tileview.qt.plot.picture import Part
from tileview.qt.plot.picture_parts import TablePart
from tileview.qt.views.base import View
from tileview.qt.widgets.elided import WrappedLabel
from tileview.qt.widgets.flow import FlowLayout
from tileview.qt.widgets.node_model import NodeModel
from tileview.qt.widgets.node_view import NodeView

_FEWEST_CHARACTERS = 40
"""Of a column of words, if it is to say more than its beginning."""
_OF_WORDS = (AlternativeColumn.PLAN, AlternativeColumn.DIFFERS, AlternativeColumn.WHY)
_OF_FIGURES = (
    AlternativeColumn.ALTERNATIVE,
    AlternativeColumn.DELTA,
    AlternativeColumn.FITS,
    AlternativeColumn.PEAK,
    AlternativeColumn.RANK,
)
"""Columns of figures, the most wanted first: those without room are left out beside lines of words."""


class AlternativesView(View):
    """Ranked table; double click, Enter or the button swaps in, undo takes back."""

    title = "Alternatives"
    name = "alternatives"

    def __init__(self, bridge: Bridge, parent: QWidget | None = None) -> None:
        super().__init__(bridge, parent)
        self._operation: int | None = None
        self._rows: tuple[AlternativeRow, ...] = ()
        self._is_narrow = False
        self.headline = WrappedLabel()
        self.progress = WrappedLabel()
        self.model = NodeModel(AlternativeSpec(), bridge.theme, self)
        self.tree = NodeView(self.model, "Alternatives of the selected operation", self)
        self.tree.describe("Ranked by the peak that each gives; Enter swaps one in.")
        self.tree.set_samples(
            "▶ 22", "grid 8 × 36 ×", "−1,367.8 KiB", "✗ 29.8 KiB over", "1,555.0 KiB",
            "inner block 96 → 144; one", "22", "total peak 568,312 B + reserve",
        )  # fmt: skip
        header = self.tree.header()
        self._widths = [header.sectionSize(column) for column in AlternativeColumn]
        self.tree.setIndentation(12)
        self.tree.setItemsExpandable(False)
        self.tree.set_flexible(*_OF_WORDS)
        self.tree.set_seen(*_OF_FIGURES)
        self.tree.activated_key.connect(self._swap_key)
        self.tree.selectionModel().currentRowChanged.connect(self._refresh_buttons)
        self.swap_button = self._button("&Swap in", "Put the chosen alternative in force (Enter)", self.swap_current)
        self.compare_button = self._button(
            "&Compare", "Show the chosen alternative beside the state in force", self.compare_current
        )
        self.evaluate_button = self._button(
            "Eval&uate", "Compute the peak of every alternative of this operation", self.evaluate
        )
        self.back_button = self._button(
            "File's p&lan", "Back to the plan that the file has in force", self.back_to_file
        )
        self.lead_focus(self.tree)
        buttons = FlowLayout(spacing=4)
        for button in (self.swap_button, self.compare_button, self.evaluate_button, self.back_button):
            buttons.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4, 4, 4, 4)
        layout.setSpacing(4)
        layout.addWidget(self.headline)
        layout.addWidget(self.tree, 1)
        layout.addWidget(self.progress)
        layout.addLayout(buttons)
        self._swap_action = QAction("Swap the chosen alternative in", self)
        self._swap_action.triggered.connect(self.swap_current)
        self._evaluate_action = QAction("Evaluate the alternatives of the selected operation", self)
        self._evaluate_action.triggered.connect(self.evaluate)
        self._refill()

    def _button(self, text: str, tip: str, slot: Callable[[], None]) -> QPushButton:
        button = QPushButton(text)
        button.setToolTip(tip)
        button.setAutoDefault(False)
        button.clicked.connect(slot)
        return button

    # -- session --------------------------------------------------------------------------------------------------

    def on_document(self) -> None:
        self._operation = None
        self.model.clear()
        self._refill()

    def on_state(self) -> None:
        self._refill()

    def on_alternatives(self) -> None:
        self._refill()

    def on_pins(self) -> None:
        self.headline.setText(self._headline())

    def on_selection(self) -> None:
        if self.session.selection.operation != self._operation:
            self._refill()

    def on_theme(self) -> None:
        self.model.set_theme(self.bridge.theme)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        """Where there is no room for columns of words, put the words in lines of their own below each alternative."""
        scroll = self.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent)
        room = self.width() - scroll - 2 * self.tree.frameWidth() - 8
        words = 2 * _FEWEST_CHARACTERS * self.fontMetrics().averageCharWidth()
        is_narrow = room < words + sum(self._widths[column] for column in _OF_FIGURES)
        for column in _OF_WORDS:
            self.tree.setColumnHidden(column, is_narrow)
        needed = 0
        for column in _OF_FIGURES:
            needed += self._widths[column]
            is_extra = column in (AlternativeColumn.PEAK, AlternativeColumn.RANK)
            self.tree.setColumnHidden(column, is_narrow and is_extra and needed > room)
        if is_narrow == self._is_narrow:
            self.tree.fit_columns()
            return
        self._is_narrow = is_narrow
        for section, width in enumerate(self._widths):
            self.tree.header().resizeSection(section, width)
        self.tree.set_flexible(*((AlternativeColumn.FITS,) if is_narrow else _OF_WORDS))
        self._show_rows()

    def _show_rows(self) -> None:
        self.model.set_nodes(alternative_nodes(self._rows, self._is_narrow))
        if self._is_narrow:
            self.tree.expandAll()
            for place in range(self.model.rowCount()):
                top = self.model.index(place, 0)
                for child in range(self.model.rowCount(top)):
                    self.tree.setFirstColumnSpanned(child, top, True)

    def _refill(self) -> None:
        recipe = self.session.recipe
        operation = self.session.selection.operation
        changed = operation != self._operation
        self._operation = operation
        self._rows = ()
        if recipe is not None and operation is not None:
            file_recipe = self.session.file_recipe
            file_plan = None if file_recipe is None else file_recipe.plans.get(operation)
            in_force = self.session.alternative_in_force(operation)
            self._rows = alternative_rows(recipe, operation, in_force, file_plan, self.session.results)
        self._show_rows()
        if changed and self._rows:
            current = next((row.index for row in self._rows if row.in_force), self._rows[0].index)
            if not self.tree.show_current(current):
                self.tree.show_current(None)
        self.headline.setText(self._headline())
        self.progress.setText(progress_words(self._rows) if self._rows else "")
        self._refresh_buttons()

    def _headline(self) -> str:
        if self.session.document is None:
            return "Nothing open"
        linked = self.session.linked
        if self.session.graph is None and linked is not None and linked.is_recipe:
            return f"Open {linked.name} to try alternatives: the timeline that is open beside it holds none"
        if self.session.graph is None:
            return "A timeline alone holds no alternatives: open the recipe of the same compile"
        if self._operation is None:
            return "Select an operation to see its alternatives"
        found = find_operation(self.session.graph, self._operation)
        kind = "" if found is None else f" ({kind_words(found.kind)})"
        if not self._rows:
            return f"Operation {self._operation}{kind} has no plan to choose"
        return f"Alternatives of operation {self._operation}{kind}"

    def _chosen(self) -> AlternativeRow | None:
        """The alternative of the current row, be it one of the lines of words; None for a plan that is none of them."""
        row = self.tree.current_row()
        if isinstance(row, AlternativeNote):
            row = next((one for one in self._rows if one.index == row.index), None)
        return row if isinstance(row, AlternativeRow) and row.index is not None else None

    def _refresh_buttons(self) -> None:
        row = self._chosen()
        self.swap_button.setEnabled(row is not None and not row.in_force)
        self.compare_button.setEnabled(row is not None and not row.in_force)
        missing = any(entry.result is None and entry.index is not None for entry in self._rows)
        self.evaluate_button.setEnabled(missing)
        self.evaluate_button.setVisible(missing)
        self.back_button.setEnabled(self._operation in self.session.state.swaps)

    # -- user -----------------------------------------------------------------------------------------------------

    def swap_current(self) -> None:
        """Put the chosen alternative in force."""
        row = self._chosen()
        if row is not None and not row.in_force:
            self.session.swap(row.operation, row.index)

    def _swap_key(self, key: Hashable) -> None:
        index = key[1] if isinstance(key, tuple) else key
        if isinstance(index, int) and self._operation is not None:
            self.session.swap(self._operation, index)

    def compare_current(self) -> None:
        """Ask for the chosen alternative beside the state in force."""
        row = self._chosen()
        if row is not None:
            self.bridge.requested.emit("compare_alternative", (row.operation, row.index))

    def evaluate(self) -> None:
        """Ask for the results of all alternatives of the operation."""
        if self._operation is not None:
            self.bridge.requested.emit("evaluate_alternatives", self._operation)

    def back_to_file(self) -> None:
        """Put the file's plan in force again."""
        if self._operation is not None:
            self.session.swap(self._operation, None)

    def view_actions(self) -> list[QAction]:
        return [self._swap_action, self._evaluate_action]

    def table_maker(self) -> Callable[[], str] | None:
        return self.tree.csv_maker()

    def picture_words(self) -> str:
        return f"{self.headline.text()}\n{self.progress.text()}"

    def picture_parts(self, whole: bool = False) -> Sequence[Part]:
        return (TablePart(self.tree, self.bridge.theme),)
