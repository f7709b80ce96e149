"""Details of what is selected: how an allocation's bytes arise, an operation's plan, a tile's load, a value's parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum

import numpy as np
from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, QUrl, Slot
from PySide6.QtGui import (
    QAction,
    QBrush,
    QFontMetrics,
    QGuiApplication,
    QImage,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QBoxLayout, QPushButton, QSizePolicy, QTabBar, QVBoxLayout, QWidget

from tileview.analysis.lifetimes import Lives
from tileview.analysis.linkage import Counterparts
from tileview.analysis.operation_words import kind_words
from tileview.analysis.tile_groups import identical_tiles
from tileview.analysis.words import allocation_name
from tileview.model.owners import DIRECT_OWNERS
from tileview.model.timeline import Timeline, fullest_tile, steps_of_operation
from tileview.present.detail_sections import (
    Line,
    Paragraphs,
    allocation_details,
    find_operation,
    operation_details,
    owners_of,
    plain_text,
    step_lines,
    tile_details,
)
from tileview.present.partition_picture import DimensionCut, PartitionPicture, caption, picture
from tileview.present.scales import Ramp, ramp_table
from tileview.qt.base.painting import painting
from tileview.qt.base.text import page_text, safe_tip
from tileview.qt.base.theme import Theme
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.plot.picture import Part
from tileview.qt.plot.picture_parts import PagePart
from tileview.qt.views.base import View, allow, show_text_menu
from tileview.qt.views.operation_edits import OperationEdits
from tileview.qt.widgets.docked import FlowLayout, GrowingText, Scrolled, dock_button
from tileview.session.session import Selection, linked_timeline

_CELL_LINES = 7.0
"""Tiles are divided by lines where they are at least this many pixels wide."""
_LINE_GAP = 3.0
"""Edges of parts are drawn where they are at least this many pixels apart; closer ones become a shade."""


class PartitionWidget(QWidget):
    """Left two of the tensor's dimensions with the edges of parts, right the tiles by their bytes."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._picture: PartitionPicture | None = None
        self.setMinimumHeight(120)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Partition over tiles")

    def sizeHint(self) -> QSize:
        return QSize(320, 150)

    def show_picture(self, picture: PartitionPicture | None, theme: Theme) -> None:
        """Draw another picture; None draws nothing."""
        self._picture, self._theme = picture, theme
        text = "" if picture is None else caption(picture)
        self.setToolTip(safe_tip(text))
        self.setAccessibleDescription(text)
        self.setVisible(picture is not None)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        with painting(self) as painter:
            self.draw(painter)

    def draw(self, painter: QPainter) -> None:
        """Draw on any painter: the widget's own, or that of a file."""
        painter.setFont(self.font())
        painter.fillRect(self.rect(), self._theme.color("background"))
        if self._picture is not None:
            self._paint(painter, self._picture)

    def _paint(self, painter: QPainter, picture: PartitionPicture) -> None:
        theme = self._theme
        metrics = QFontMetrics(self.font())
        foot = metrics.height() + 4
        room = QRectF(self.rect()).adjusted(4, 4, -4, -4 - foot)
        text = metrics.elidedText(caption(picture), Qt.TextElideMode.ElideRight, int(room.width()))
        painter.setPen(theme.color("muted"))
        painter.drawText(QRectF(room.left(), room.bottom() + 2, room.width(), foot), Qt.AlignmentFlag.AlignLeft, text)
        half = room.width() / 2 - 6
        self._draw_tensor(painter, QRectF(room.left(), room.top(), half, room.height()), picture)
        self._draw_tiles(painter, QRectF(room.right() - half, room.top(), half, room.height()), picture)

    def _draw_tensor(self, painter: QPainter, area: QRectF, picture: PartitionPicture) -> None:
        across, down = picture.across, picture.down
        if across is None or not across.padded or (down is not None and not down.padded):
            return
        x = area.width() / across.padded
        y = area.height() / (down.padded if down is not None else 1)
        theme = self._theme
        painter.fillRect(area, theme.color("raised"))
        hatch = QBrush(theme.color("muted"), Qt.BrushStyle.BDiagPattern)
        if across.padded > across.extent:
            painter.fillRect(
                QRectF(area.left() + across.extent * x, area.top(), (across.padded - across.extent) * x, area.height()),
                hatch,
            )
        if down is not None and down.padded > down.extent:
            painter.fillRect(
                QRectF(area.left(), area.top() + down.extent * y, area.width(), (down.padded - down.extent) * y), hatch
            )
        if picture.box is not None:
            left, right, top, bottom = picture.box
            box = QRectF(area.left() + left * x, area.top() + top * y, (right - left) * x, (bottom - top) * y)
            painter.fillRect(box.intersected(area), theme.color("accent", 190))
        painter.setPen(QPen(theme.color("text", 140), 0))
        for position in _visible(across, x):
            painter.drawLine(
                int(area.left() + position * x), int(area.top()), int(area.left() + position * x), int(area.bottom())
            )
        if down is not None:
            for position in _visible(down, y):
                painter.drawLine(
                    int(area.left()), int(area.top() + position * y), int(area.right()), int(area.top() + position * y)
                )
        painter.setPen(QPen(theme.color("text"), 1))
        painter.drawRect(area)

    def _draw_tiles(self, painter: QPainter, area: QRectF, picture: PartitionPicture) -> None:
        """The tiles on their grid, darker the more bytes; those without a part stay blank."""
        theme = self._theme
        if picture.tile_bytes is None or picture.grid is None:
            painter.fillRect(area, QBrush(theme.color("unavailable"), Qt.BrushStyle.DiagCrossPattern))
            painter.setPen(theme.color("text"))
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, "unavailable")
            return
        numbers = picture.tile_bytes
        most = int(numbers.max(initial=0))
        where = np.asarray(picture.grid.tile)
        ramp = ramp_table(Ramp.VIRIDIS)
        background = theme.color("raised")
        pixels = np.empty((*where.shape, 3), dtype=np.uint8)
        pixels[:] = (background.red(), background.green(), background.blue())
        held = where >= 0
        sizes = np.zeros(where.shape, dtype=np.int64)
        sizes[held] = numbers[where[held]]
        if most:
            levels = (sizes * (len(ramp) - 1)) // most
            pixels[sizes > 0] = ramp[levels[sizes > 0]]
        rows, columns = where.shape
        image = QImage(np.ascontiguousarray(pixels).data, columns, rows, columns * 3, QImage.Format.Format_RGB888)
        unit = min(area.width() / columns, area.height() / rows)
        target = QRectF(area.left(), area.top(), unit * columns, unit * rows)
        painter.drawImage(target, image.copy())
        painter.setPen(QPen(theme.color("border"), 1))
        painter.drawRect(target)
        if unit >= _CELL_LINES:
            for column in range(1, columns):
                painter.drawLine(
                    QPointF(target.left() + column * unit, target.top()),
                    QPointF(target.left() + column * unit, target.bottom()),
                )
            for row in range(1, rows):
                painter.drawLine(
                    QPointF(target.left(), target.top() + row * unit),
                    QPointF(target.right(), target.top() + row * unit),
                )
        if picture.tile is not None:
            spot = np.argwhere(where == picture.tile)
            if len(spot):
                row, column = spot[0].tolist()
                painter.setPen(QPen(theme.color("over"), 2))
                painter.drawRect(
                    QRectF(target.left() + column * unit, target.top() + row * unit, unit, unit).adjusted(-1, -1, 1, 1)
                )


def _visible(cut: DimensionCut, scale: float) -> list[int]:
    """The edges that can be told apart at a scale of so many pixels an element."""
    shown: list[int] = []
    last = -_LINE_GAP
    for edge in cut.edges:
        if edge * scale - last >= _LINE_GAP:
            shown.append(edge)
            last = edge * scale
    return shown


class SubjectButtons(QWidget):
    """Three buttons about an allocation, an operation or a tile; one that cannot act says why in its tooltip."""

    def __init__(self, bridge: SessionSignals, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._operation: int | None = None
        self._root: int | None = None
        self._tile: int | None = None
        self._name = ""
        self.alternatives = dock_button("Show alternatives", "", self._show_alternatives, self)
        self.tiles = dock_button("", "", self._select_tiles, self)
        self.copy = dock_button("Copy name", "", self._copy_name, self)
        flow = FlowLayout(self, 4)
        for button in (self.alternatives, self.tiles, self.copy):
            flow.addWidget(button)
        self.hide()

    def show_subject(
        self, name: str, operation: int | None = None, root: int | None = None, tile: int | None = None
    ) -> None:
        """What the buttons act on: an operation's alternatives, the tiles of an allocation or those identical to one
        tile, a name; an empty name hides them.
        """
        self._name, self._operation, self._root, self._tile = name, operation, root, tile
        self.setVisible(bool(name))
        self.alternatives.setVisible(tile is None)
        self.tiles.setVisible(root is not None or tile is not None)
        self.tiles.setText("Select identical tiles" if root is None else "Select its tiles")
        recipe = self._bridge.session.recipe
        reason = ""
        if operation is None:
            reason = "No operation makes it: there are no alternatives to it"
        elif recipe is None or not recipe.alternatives.get(operation):
            reason = "A timeline alone holds no alternatives" if recipe is None else "No alternatives were kept for it"
        allow(self.alternatives, f"Show the alternatives of op {operation}", reason)
        timeline = self._bridge.session.timeline
        unknown = timeline is None or (root is not None and root in timeline.unavailable_roots)
        allow(
            self.tiles,
            "Select the tiles that hold it" if root is not None else "Select the tiles that hold the same bytes",
            "Its bytes are not known" if unknown else "",
        )
        self.copy.setToolTip(f"Copy “{name}”")

    def _show_alternatives(self) -> None:
        if self._operation is not None:
            self._bridge.session.select_operation(self._operation)
            self._bridge.requested.emit("show_view", "alternatives")

    def _select_tiles(self) -> None:
        session = self._bridge.session
        timeline = session.timeline
        if timeline is None:
            return
        if self._root is not None:
            tiles = tuple(np.flatnonzero(timeline.tiles.allocation(self._root)).tolist())
        else:
            tiles = identical_tiles(timeline, session.selection.step or 0, self._tile or 0)
        session.select_tiles(tiles)

    def _copy_name(self) -> None:
        QGuiApplication.clipboard().setText(self._name)
        self._bridge.message.emit(f"Copied: {self._name}")


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
