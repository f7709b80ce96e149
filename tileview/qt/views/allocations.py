"""The allocation table: what fills one tile at one step, row by row, adding up to the usage shown elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QShowEvent
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from tileview.analysis.linkage import Counterparts
from tileview.model.timeline import Timeline
from tileview.present.allocation_rows import EMPTY_TABLE, AllocationFigures, AllocationTable
from tileview.present.allocation_table import (
    AllocationColumn,
    AllocationSpec,
    flat_nodes,
    footer,
    grouped_nodes,
    headline,
)
from tileview.qt.jobs.session_signals import Bridge
from tileview.qt.jobs.throttle import Pace
from tileview.qt.plot.picture import Part
from tileview.qt.plot.picture_parts import TablePart
from tileview.qt.views.base import View
from tileview.qt.widgets.elided import ElidedLabel, WrappedLabel
from tileview.qt.widgets.node_model import NodeModel
from tileview.qt.widgets.node_view import NodeView
from tileview.session.session import linked_timeline


class AllocationsView(View):
    """Allocations at the selected step on the selected tile (else the fullest), or over the selected span of steps.

    At first the largest stand on top, since one looks for what fills the tile.
    """

    title = "Allocations"
    name = "allocations"

    def __init__(self, bridge: Bridge, parent: QWidget | None = None) -> None:
        super().__init__(bridge, parent)
        self._figures: AllocationFigures | None = None
        self._table: AllocationTable = EMPTY_TABLE
        self._stale = False
        self._pace = Pace(self._follow, self)
        self.headline = ElidedLabel(cut=Qt.TextElideMode.ElideRight)
        self.filter_box = QLineEdit()
        self.filter_box.setPlaceholderText("Filter")
        self.filter_box.setAccessibleName("Filter allocations")
        self.filter_box.setClearButtonEnabled(True)
        self.filter_box.textChanged.connect(self._refill)
        self.group_box = QCheckBox("Group by se&quence")
        self.group_box.setToolTip("Put the tensors of a parameter sequence under one row with their sum")
        self.group_box.toggled.connect(self._regroup)
        self.span_button = QPushButton("&All steps again")
        self.span_button.setToolTip("End the filter to a span of steps")
        self.span_button.clicked.connect(self._end_span)
        self.span_button.hide()
        self.model = NodeModel(AllocationSpec(), bridge.theme, self)
        self.tree = NodeView(self.model, "Allocations on a tile", self)
        self.tree.describe("What fills the tile at the step; the rows add up to the usage shown below.")
        self.tree.set_samples(
            "vit.encoder…mlp.up", "interleaved", "586,960 B", "16,384 B", "16 B", "1", "1,586,960 B",
            "100.0 %", "1,573.2 KiB", "−158,976 B",
        )  # fmt: skip
        self.tree.setColumnHidden(AllocationColumn.LINKED, True)
        self.tree.set_flexible(AllocationColumn.NAME)
        self.tree.set_optional(AllocationColumn.KIB)
        self.tree.sort_by(AllocationColumn.BYTES)
        self.tree.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.tree.picked.connect(self._pick)
        self.footer = WrappedLabel()
        self.lead_focus(self.tree)
        self._lay_out()
        self._group_action = QAction("Group allocations by parameter sequence", self)
        self._group_action.setCheckable(True)
        self._group_action.toggled.connect(self.group_box.setChecked)
        self.group_box.toggled.connect(self._group_action.setChecked)
        self._rebuild()

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.addWidget(self.headline, 1)
        top.addWidget(self.span_button)
        top.addWidget(self.group_box)
        top.addWidget(self.filter_box)
        self.filter_box.setToolTip("By name or group")
        self.filter_box.setMaximumWidth(200)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4, 4, 4, 4)
        layout.setSpacing(4)
        layout.addLayout(top)
        layout.addWidget(self.tree, 1)
        layout.addWidget(self.footer)

    # -- session --------------------------------------------------------------------------------------------------

    def on_document(self) -> None:
        self.model.clear()
        self._rebuild()

    def on_estimate(self) -> None:
        self._rebuild()

    def on_pins(self) -> None:
        self._rebuild()

    def on_selection(self) -> None:
        self._pace.ask()

    def _follow(self) -> None:
        self._refill()
        self._show_selected()

    def on_theme(self) -> None:
        self.model.set_theme(self.bridge.theme)

    def _rebuild(self) -> None:
        timeline, other = self.session.timeline, linked_timeline(self.session)
        if timeline is None:
            self._figures = None
        elif self._is_outdated(timeline, other):
            counterparts = None if other is None else Counterparts(timeline, other)
            self._figures = AllocationFigures(timeline, counterparts)
        self.tree.setColumnHidden(AllocationColumn.LINKED, timeline is None or other is None)
        self.tree.fit_columns()
        self._refill()
        self._show_selected()

    def _is_outdated(self, timeline: Timeline, other: Timeline | None) -> bool:
        """Whether the figures at hand are of another timeline, or matched with another one."""
        figures = self._figures
        if figures is None or figures.timeline is not timeline:
            return True
        return other is not (None if figures.counterparts is None else figures.counterparts.there)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._refill()
            self._show_selected()

    def _refill(self) -> None:
        """Compute the rows of the selection; while the view is hidden, only remember that this is to be done."""
        if not self.isVisible() and self.window().isVisible():
            self._stale = True
        else:
            self._fill()

    def _fill(self) -> None:
        self._stale = False
        selection = self.session.selection
        table = EMPTY_TABLE
        if self._figures is not None:
            table = self._figures.table(selection.step or 0, selection.tile, selection.span, self.filter_box.text())
        self._table = table
        self.model.set_nodes(grouped_nodes(table) if self.group_box.isChecked() else flat_nodes(table))
        self.headline.setText(headline(table, self.session.timeline))
        self.footer.setText(footer(table))
        self.span_button.setVisible(selection.span is not None)

    @property
    def table(self) -> AllocationTable:
        """What is shown."""
        return self._table

    def _show_selected(self) -> None:
        self.tree.show_current(self.session.selection.allocation)

    # -- user -----------------------------------------------------------------------------------------------------

    def _regroup(self) -> None:
        self.tree.setRootIsDecorated(self.group_box.isChecked())
        self._refill()
        self._show_selected()

    def _pick(self, key: Hashable) -> None:
        if isinstance(key, int):
            self.session.select_allocation(key)

    def _end_span(self) -> None:
        self.session.select(replace(self.session.selection, span=None))

    def find_operation(self) -> None:
        """Take the keys to the filter: what the window's search does in this view."""
        self.filter_box.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.filter_box.selectAll()

    def view_actions(self) -> list[QAction]:
        return [self._group_action]

    def centre_selection(self) -> None:
        """Scroll to the row that is selected."""
        self.tree.scrollTo(self.tree.currentIndex(), NodeView.ScrollHint.PositionAtCenter)

    def table_maker(self) -> Callable[[], str] | None:
        if self._stale or self._pace.is_waiting:
            self._pace.stop()
            self._fill()
        return self.tree.csv_maker()

    def picture_words(self) -> str:
        return f"{self.headline.text()}\n{self.footer.text()}"

    def picture_parts(self, whole: bool = False) -> Sequence[Part]:
        return (TablePart(self.tree, self.bridge.theme),)

    def shut_down(self) -> None:
        self._pace.stop()
