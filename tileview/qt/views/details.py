"""Details of what is selected: how an allocation's bytes arise, an operation's plan, a tile's usage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum

from PySide6.QtCore import QPoint, Qt, QUrl, Slot
from PySide6.QtGui import QAction, QGuiApplication, QPalette, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QPushButton, QTabBar, QVBoxLayout, QWidget

from tileview.analysis.allocation_names import allocation_name
from tileview.analysis.lifetimes import Lives
from tileview.analysis.linkage import Counterparts
from tileview.analysis.words import kind_words
from tileview.model.program import DIRECT_OWNERS
from tileview.model.timeline import Timeline, fullest_tile, steps_of_operation
from tileview.present.detail_sections import (
    Paragraphs,
    allocation_details,
    find_operation,
    operation_details,
    owners_of,
    plain_text,
    step_lines,
    tile_details,
)
from tileview.present.explain import Line
from tileview.present.partition_picture import picture
from tileview.qt.base.text import page_text
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.plot.picture import Part
from tileview.qt.plot.picture_parts import PagePart
from tileview.qt.views.base import View, show_text_menu
from tileview.qt.views.operation_edits import OperationEdits
from tileview.qt.views.partition import PartitionWidget
from tileview.qt.views.subject_buttons import SubjectButtons
from tileview.qt.widgets.scrolled import GrowingText, Scrolled
from tileview.session.selection import Selection
from tileview.session.session import linked_timeline


class DetailsSubject(IntEnum):
    """What the pane is about; the order of its tabs."""

    ALLOCATION = 0
    OPERATION = 1
    TILE = 2


_WIDE = 560
_HIGH = 360
"""Pixels from which on the picture stands beside the text, or above it."""


class DetailsView(View):
    """Follows the part of the selection that changed last; the tabs show the other parts."""

    title = "Details"
    name = "details"

    def __init__(self, bridge: SessionSignals, parent: QWidget | None = None) -> None:
        super().__init__(bridge, parent)
        self._seen = Selection()
        self._lives: Lives | None = None
        self._lives_of: Timeline | None = None
        self._stale = False
        self._matched: Counterparts | None = None
        self._showing: tuple[DetailsSubject, object] | None = None
        self._text = ""
        self.tabs = QTabBar()
        self.tabs.setAccessibleName("What the details are about")
        self.tabs.setExpanding(False)
        self.tabs.setDrawBase(False)
        for title in ("Allocation", "Operation", "Tile"):
            self.tabs.addTab(title)
        self.tabs.currentChanged.connect(self._refill)
        self.area = Scrolled(self)
        self.partition = PartitionWidget(bridge.theme, self)
        self.edits = OperationEdits(bridge, self)
        self.buttons = SubjectButtons(bridge, self)
        self.text = GrowingText(self.area)
        self.text.setAccessibleName("Details")
        self.text.anchorClicked.connect(self._follow)
        self.text.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.text.customContextMenuRequested.connect(self._menu)
        self.lead_focus(self.text)
        self.area.follow(*self.buttons.findChildren(QPushButton))
        self.area.page.setBackgroundRole(QPalette.ColorRole.Base)
        column = self.area.column
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        self.body = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self.body.addWidget(self.text, 3)
        self.body.addWidget(self.partition, 2, Qt.AlignmentFlag.AlignTop)
        column.addWidget(self.edits)
        column.addLayout(self.body)
        column.addWidget(self.buttons)
        column.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4, 4, 4, 4)
        layout.setSpacing(4)
        layout.addWidget(self.tabs)
        layout.addWidget(self.area, 1)
        self._copy_action = QAction("Copy details as text", self)
        self._copy_action.triggered.connect(self.copy_text)
        self.look_first(self._refill)

    # -- session --------------------------------------------------------------------------------------------------

    def on_document(self) -> None:
        self._matched = None
        self._seen = Selection()
        self._showing = None
        self._refill()

    def on_state(self) -> None:
        self._refill()

    def on_estimate(self) -> None:
        self._refill()

    def on_pins(self) -> None:
        self._refill()

    def on_theme(self) -> None:
        self._showing = None
        self._refill()

    def on_selection(self) -> None:
        """Turn to what changed: an allocation before its operation, a tile only where nothing else is selected."""
        now, before = self.session.selection, self._seen
        self._seen = now
        subject = DetailsSubject(self.tabs.currentIndex())
        if now.allocation != before.allocation and now.allocation is not None:
            subject = DetailsSubject.ALLOCATION
        elif now.operation != before.operation and now.operation is not None:
            subject = DetailsSubject.OPERATION
        elif now.tiles != before.tiles and now.tile is not None and now.allocation is None:
            subject = DetailsSubject.TILE
        self.tabs.blockSignals(True)
        self.tabs.setCurrentIndex(subject)
        self.tabs.blockSignals(False)
        self._refill()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._refill()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the picture beside the text where there is the width, above where there is the height, else below."""
        super().resizeEvent(event)
        direction = QBoxLayout.Direction.TopToBottom
        if self.width() >= _WIDE:
            direction = QBoxLayout.Direction.LeftToRight
        elif self.height() >= _HIGH:
            direction = QBoxLayout.Direction.BottomToTop
        if self.body.direction() is not direction:
            self.body.setDirection(direction)

    def _refill(self) -> None:
        """Compute the text; while the view is hidden, only remember that this is to be done."""
        if not self.isVisible() and self.window().isVisible():
            self._stale = True
            return
        self._stale = False
        subject = DetailsSubject(self.tabs.currentIndex())
        {
            DetailsSubject.ALLOCATION: self._show_allocation,
            DetailsSubject.OPERATION: self._show_operation,
            DetailsSubject.TILE: self._show_tile,
        }[subject]()

    # -- subjects -------------------------------------------------------------------------------------------------

    def _show_allocation(self) -> None:
        self.edits.show_operation(None)
        timeline, root = self.session.timeline, self.session.selection.allocation
        if timeline is None or root is None:
            self.partition.show_picture(None, self.bridge.theme)
            self._nothing("Select an allocation: in the table, on the timeline or in the heatmap.")
            return
        estimate = self.session.estimate
        program = None if estimate is None else estimate.program
        if self._lives is None or self._lives_of is not timeline:
            self._lives, self._lives_of = Lives(timeline, program), timeline
        tile = self._tile(timeline)
        sections = [*allocation_details(timeline, root, tile, self._lives, program, self._kinds(timeline))]
        counterparts = self._counterparts(timeline)
        if counterparts is not None:
            sections.insert(2, self._linked(counterparts.allocation_lines(root, tile)))
        owners = owners_of(program, timeline.values[root].id) or DIRECT_OWNERS
        self.partition.show_picture(picture(timeline, root, tile, owners), self.bridge.theme)
        name = allocation_name(timeline, root)
        self._write(name, sections, (DetailsSubject.ALLOCATION, root))
        self.buttons.show_subject(name, timeline.maker(root), root=root)

    def _kinds(self, timeline: Timeline) -> Mapping[int, str]:
        graph = self.session.graph
        if graph is not None:
            return graph.kind_names()
        return {step.source: "" for step in timeline.steps if step.source is not None}

    def _counterparts(self, timeline: Timeline | None) -> Counterparts | None:
        """What matches in the linked file; None where none is linked."""
        other = linked_timeline(self.session)
        if timeline is None or other is None:
            return None
        kept = self._matched
        if kept is None or kept.here is not timeline or kept.there is not other:
            kept = self._matched = Counterparts(timeline, other)
        return kept

    def _linked(self, lines: Sequence[str]) -> Paragraphs:
        document = self.session.linked
        return Paragraphs(f"In the linked file {'' if document is None else document.name}", tuple(lines))

    def _tile(self, timeline: Timeline) -> int | None:
        """The selected tile; where none is, the one with the largest total at the selected step."""
        selection = self.session.selection
        if selection.tile is not None or not timeline.steps:
            return selection.tile
        return fullest_tile(timeline.tiles, selection.step or 0)

    def _show_operation(self) -> None:
        self.partition.show_picture(None, self.bridge.theme)
        session = self.session
        wanted = session.selection.operation
        recipe = session.recipe
        if wanted is None:
            self.edits.show_operation(None)
            self._nothing("Select an operation: in the tree, in the graph or by a step.")
            return
        operation = None if recipe is None else find_operation(recipe.graph, wanted)
        if recipe is None or operation is None:
            self.edits.show_operation(None)
            self._show_foreign_operation(wanted)
            return
        self.edits.show_operation(operation)
        file_recipe = session.file_recipe
        file_plan = None if file_recipe is None else file_recipe.plans.get(wanted)
        sections = [*operation_details(recipe, operation, session.timeline, file_plan, session.estimate)]
        self._add_linked_operation(sections, wanted)
        self._write(f"Operation {wanted}: {kind_words(operation.kind)}", sections, (DetailsSubject.OPERATION, wanted))
        self.buttons.show_subject(f"op {wanted} {kind_words(operation.kind)}", wanted)

    def _add_linked_operation(self, sections: list[Paragraphs], operation: int) -> None:
        counterparts = self._counterparts(self.session.timeline)
        if counterparts is not None:
            sections.insert(1, self._linked(counterparts.operation_lines(operation)))

    def _show_foreign_operation(self, wanted: int) -> None:
        """An operation of a timeline: with the plan of the linked recipe, else its steps alone."""
        document = self.session.linked
        recipe = None if document is None else document.recipe
        operation = None if recipe is None else find_operation(recipe.graph, wanted)
        title = f"Operation {wanted}"
        if recipe is not None and operation is not None:
            sections = [*operation_details(recipe, operation, self.session.timeline, estimate=self.session.estimate)]
            title = f"{title}: {kind_words(operation.kind)} (plan of the linked recipe)"
        else:
            sections = [*self._steps_only(wanted)]
        self._add_linked_operation(sections, wanted)
        self._write(title, sections, (DetailsSubject.OPERATION, wanted))
        self.buttons.show_subject(f"op {wanted}", wanted)

    def _steps_only(self, operation: int) -> tuple[Paragraphs, ...]:
        """What a timeline without a recipe says of an operation."""
        timeline = self.session.timeline
        steps = [] if timeline is None else steps_of_operation(timeline, operation)
        text = "A timeline alone holds no plans: open the recipe of the same compile."
        if self.session.linked is not None:
            text = "The linked file has no such operation."
        note = Paragraphs("Plan", (text,))
        return (Paragraphs("Steps", step_lines(steps)), note) if steps else (note,)

    def _show_tile(self) -> None:
        self.partition.show_picture(None, self.bridge.theme)
        self.edits.show_operation(None)
        timeline, selection = self.session.timeline, self.session.selection
        if timeline is None or not timeline.steps:
            self._nothing("No timeline.")
            return
        step = selection.step or 0
        tile = self._tile(timeline) or 0
        self._write(f"Tile {tile}", tile_details(timeline, step, tile), (DetailsSubject.TILE, tile))
        self.buttons.show_subject(f"tile {tile}", tile=tile)

    # -- text -----------------------------------------------------------------------------------------------------

    def _nothing(self, text: str) -> None:
        self._text = text
        self._showing = None
        self.text.setPlainText(text)
        self.buttons.show_subject("")

    def _write(self, title: str, sections: Sequence[Paragraphs], showing: tuple[DetailsSubject, object]) -> None:
        """Show sections; of the same subject, the scroll position stays."""
        text = plain_text(title, tuple(sections))
        if text == self._text and showing == self._showing:
            return
        bar = self.area.verticalScrollBar()
        position = bar.value() if showing == self._showing else 0
        self._text, self._showing = text, showing
        muted = self.bridge.theme.muted
        parts = [f"<h3 style='margin:2px 0 2px 0'>{page_text(title)}</h3>"]
        for section in sections:
            parts.append(f"<p style='margin:8px 0 2px 0; color:{muted}'><b>{page_text(section.heading)}</b></p>")
            parts.extend(f"<p style='margin:1px 0 1px 10px'>{_linked_text(line)}</p>" for line in section.lines)
        self.text.setHtml("".join(parts))
        bar.setValue(position)

    @Slot(QUrl)
    def _follow(self, url: QUrl) -> None:
        """Go where a link says; links are made in this program, names in them are numbers."""
        kind, _, number = url.toString().partition(":")
        if kind == "op":
            self.session.select_operation(int(number))
        elif kind == "step":
            self.session.select_step(int(number))
        elif kind == "tile":
            self.session.select_tiles((int(number),))
        elif kind == "root":
            self.session.select_allocation(int(number))

    @property
    def plain(self) -> str:
        """What is shown, as text."""
        return self._text

    def copy_text(self) -> None:
        """Put the details on the clipboard."""
        QGuiApplication.clipboard().setText(self._text)

    def view_actions(self) -> list[QAction]:
        return [self._copy_action]

    def _menu(self, position: QPoint) -> None:
        show_text_menu(self, self.text, position)

    def picture_words(self) -> str:
        return self.partition.accessibleDescription() if self.partition.isVisibleTo(self) else ""

    def picture_parts(self, whole: bool = False) -> Sequence[Part]:
        page = PagePart(self.text, max(self.area.viewport().width(), _WIDE))
        return (page, self.partition) if self.partition.isVisibleTo(self) else (page,)


def _linked_text(line: str | Line) -> str:
    """A line as HTML; its pieces that lead somewhere are links."""
    if isinstance(line, str):
        return page_text(line)
    return "".join(
        f'<a href="{target}">{page_text(words)}</a>' if target else page_text(words) for words, target in line
    )
