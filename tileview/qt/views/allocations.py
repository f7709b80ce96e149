"""The allocation table: what fills one tile at one step, row by row, adding up to the usage shown elsewhere."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QColor, QResizeEvent
from PySide6.QtWidgets import QCheckBox, QPushButton, QWidget

from tileview.analysis.linkage import Counterparts
from tileview.analysis.words import shortened_names
from tileview.present.allocation_rows import (
    ALLOCATIONS,
    EMPTY_TABLE,
    AllocationFigures,
    AllocationRow,
    AllocationTable,
    RowKind,
    allocations_footer,
    allocations_headline,
    flat_nodes,
    grouped_nodes,
)
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.views.table_view import RowSubject, TableView
from tileview.qt.widgets.docked import ElidedLabel, WrappedLabel
from tileview.session.session import linked_timeline

_LINKED = ALLOCATIONS.place("Linked")
_LEAST_FOR_FOOTER = 14
"""Lines of text that the view is high at least where the sum has a line of its own."""


class AllocationsView(TableView):
    """Allocations at the selected step on the selected tile (else the fullest), or over the selected span of steps.

    At first what one plan makes, and the tensors of a sequence, stand together, the largest on top: one looks for what
    fills the tile.
    """

    title = "Allocations"
    name = "allocations"
    spec = ALLOCATIONS
    table_name = "Allocations on a tile"
    description = "What fills the tile at the step; the rows add up to the usage shown below."
    filter_tip = "By name, group or operation; shares stay those of the whole tile"
    is_tree = True

    def __init__(self, bridge: SessionSignals, parent: QWidget | None = None) -> None:
        super().__init__(bridge, parent)
        self._figures: AllocationFigures | None = None
        self._table: AllocationTable = EMPTY_TABLE
        self._short: tuple[int, dict[str, str]] = (0, {})
        self.headline = ElidedLabel(cut=Qt.TextElideMode.ElideRight)
        self.group_box = QCheckBox("By se&quence")
        self.group_box.setToolTip("What one plan makes, and the tensors of a sequence, under one row with their sum")
        self.group_box.setChecked(True)
        self.group_box.toggled.connect(self._regroup)
        self.span_button = QPushButton("&All steps again")
        self.span_button.setToolTip("End the filter to a span of steps")
        self.span_button.clicked.connect(self._end_span)
        self.span_button.hide()
        self.tree.setColumnHidden(_LINKED, True)
        self.tree.sort_by(ALLOCATIONS.place("Bytes"))
        self.tree.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.tree.shorten = self._shorten
        self.model.swatch = self._swatch
        self.footer = WrappedLabel()
        self.lay_out((self.headline, self.span_button, self.group_box, self.filter_box), (self.footer,))
        self._group_action = QAction("Allocations by sequence", self)
        self._group_action.setCheckable(True)
        self._group_action.setChecked(True)
        self._group_action.toggled.connect(self.group_box.setChecked)
        self.group_box.toggled.connect(self._group_action.setChecked)
        self.look_first(self.refill)

    def _swatch(self, row: AllocationRow) -> QColor | None:
        """The colour that what makes a row has in every view; inputs are light, other operations darker grey."""
        theme = self.bridge.theme
        if row.maker is None:
            return theme.color("border") if row.kind is not RowKind.UNEXPLAINED and row.made is None else None
        place = self.bridge.colours().get(row.maker)
        return theme.color("field") if place is None else QColor(theme.categories[place])

    def on_pins(self) -> None:
        self.refill()

    # -- rows -----------------------------------------------------------------------------------------------------

    def _follow_session(self) -> None:
        """Take the figures of the timeline, matched with the linked one."""
        timeline, other = self.session.timeline, linked_timeline(self.session)
        figures = self._figures
        if timeline is None:
            self._figures = None
        elif (
            figures is None
            or figures.timeline is not timeline
            or other is not (None if figures.counterparts is None else figures.counterparts.there)
        ):
            self._figures = AllocationFigures(timeline, None if other is None else Counterparts(timeline, other))
        is_hidden = timeline is None or other is None
        if is_hidden != self.tree.isColumnHidden(_LINKED):
            self.tree.setColumnHidden(_LINKED, is_hidden)
            self.tree.fit_columns()

    def fill(self) -> None:
        self._follow_session()
        selection = self.session.selection
        table = EMPTY_TABLE
        if self._figures is not None:
            table = self._figures.table(selection.step or 0, selection.tile, selection.span, self.query)
        self._table = table
        self._short = (0, {})
        was_empty = self.model.rowCount() == 0
        self.model.set_nodes(grouped_nodes(table) if self.group_box.isChecked() else flat_nodes(table))
        if self.query:
            self.tree.expandAll()
        elif was_empty and self.model.rowCount() and self.model.row(self.model.index(0, 0)).maker is not None:
            self.tree.expand(self.model.index(0, 0))
        self.footer.setText(allocations_footer(table))
        self._tell()
        self.span_button.setVisible(selection.span is not None)

    def _tell(self) -> None:
        """Say what is shown above the rows and their sum below them; in a low view, where both have room, above."""
        metrics = self.fontMetrics()
        words = allocations_headline(self._table, self.session.timeline)
        total = self.footer.text() if self.session.timeline is not None else ""
        both = f"{words}: {total}"
        is_low = self.height() < _LEAST_FOR_FOOTER * metrics.height()
        is_above = is_low and metrics.horizontalAdvance(both) <= self.headline.width()
        self.footer.setVisible(bool(total) and not is_above)
        self.headline.setText(both if is_above and total else words)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._tell()

    @property
    def table(self) -> AllocationTable:
        """What is shown."""
        return self._table

    def _shorten(self, text: str, limit: int) -> str:
        """A name in about so many characters, cut where it is like the others, never where it differs from them."""
        if self._short[0] != limit or text not in self._short[1]:
            cells = [self.spec.cell(row, 0).text for row in map(self.model.row, self.model.indexes())]
            names = [*dict.fromkeys((*cells, text))]
            self._short = (limit, dict(zip(names, shortened_names(names, limit), strict=True)))
        return self._short[1][text]

    def show_selected(self) -> None:
        self.tree.show_current(self.session.selection.allocation)

    # -- user -----------------------------------------------------------------------------------------------------

    def _regroup(self) -> None:
        self.tree.setRootIsDecorated(self.group_box.isChecked())
        self.refill()

    def pick(self, key: Hashable) -> None:
        if isinstance(key, int):
            self.session.select_allocation(key)

    def subject(self, row: AllocationRow) -> RowSubject:
        return RowSubject(row.maker, row.root, name=row.name)

    def keys_about(self, operation: int | None, root: int | None, tile: int | None) -> Iterable[Hashable]:
        if root is not None:
            return (root,)
        return [row.root for row in self._table.rows if operation is not None and row.maker == operation]

    def _end_span(self) -> None:
        self.session.select(replace(self.session.selection, span=None))

    def view_actions(self) -> list[QAction]:
        return [self._group_action]

    def picture_words(self) -> str:
        return f"{allocations_headline(self._table, self.session.timeline)}\n{self.footer.text()}"
