"""What all views around one table have in common: filter, rows made when seen, export, keys, objects under the pointer.

A view says which table it shows and fills it (:meth:`TableView.fill`); it says of a row what it is about
(:meth:`TableView.subject`), and which rows are about something (:meth:`TableView.keys_about`). All else is here.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QAction, QGuiApplication, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from tileview.analysis.tile_groups import groups_at
from tileview.model.timeline import fullest_tile
from tileview.present.tables import TableSpec
from tileview.qt.jobs.pacing import Throttle
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.plot.picture import Part
from tileview.qt.plot.picture_parts import TablePart
from tileview.qt.views.base import View, action_of, allow
from tileview.qt.widgets.node_model import NodeModel
from tileview.qt.widgets.node_view import NodeView
from tileview.session.session import Selection

_FILTER_WIDTH = 200


@dataclass(frozen=True, slots=True)
class RowSubject:
    """What a row is about: an operation, an allocation by its root, a tile; and what it is called."""

    operation: int | None = None
    root: int | None = None
    tile: int | None = None
    name: str = ""


NOTHING = RowSubject()


class TableView(View):
    """A view around one table. Rows are made anew when the view is seen; while it is hidden only that is remembered."""

    spec: TableSpec[Any]
    table_name = ""
    description = ""
    filter_tip = ""
    is_tree = False

    def __init__(self, bridge: SessionSignals, parent: QWidget | None = None) -> None:
        super().__init__(bridge, parent)
        self._is_stale = False
        self._filled_for: Selection | None = None
        self._pace = Throttle(self.refill, self)
        self.filter_box = QLineEdit()
        self.filter_box.setPlaceholderText("Filter")
        self.filter_box.setAccessibleName(f"Filter {self.title.lower()}")
        self.filter_box.setToolTip(self.filter_tip)
        self.filter_box.setClearButtonEnabled(True)
        self.filter_box.setMaximumWidth(_FILTER_WIDTH)
        self.filter_box.textChanged.connect(self.refill)
        self.model = NodeModel(self.spec, bridge.theme, self)
        self.tree = self.make_tree()
        self.tree.describe(self.description)
        self.tree.picked.connect(self.pick)
        self.tree.pointed.connect(self._point)
        bridge.hovered.connect(self._light)
        self.lead_focus(self.tree)
        self.alternatives_action = action_of(self, "Show &alternatives", self.show_alternatives)
        self.identical_action = action_of(self, "Select &identical tiles", self.select_identical)
        self.name_action = action_of(self, "Copy &name", self.copy_name)

    def make_tree(self) -> NodeView:
        return NodeView(self.model, self.table_name, self, tree=self.is_tree)

    def lay_out(self, above: Sequence[QWidget], below: Sequence[QWidget | QHBoxLayout | Any] = ()) -> None:
        """Put the table between a row of widgets, of which the first takes the room, and others below it."""
        top = QHBoxLayout()
        for place, widget in enumerate(above):
            top.addWidget(widget, int(place == 0))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4, 4, 4, 4)
        layout.setSpacing(4)
        layout.addLayout(top)
        layout.addWidget(self.tree, 1)
        for one in below:
            if isinstance(one, QWidget):
                layout.addWidget(one)
            else:
                layout.addLayout(one)

    # -- rows -----------------------------------------------------------------------------------------------------

    def fill(self) -> None:
        """Give the model the rows of the session as it is, and say beside them what they are."""
        raise NotImplementedError

    def show_selected(self) -> None:
        """Make the row of the selection current, where there is one."""

    @property
    def query(self) -> str:
        """The words that rows are filtered by."""
        return self.filter_box.text()

    @Slot()
    def refill(self) -> None:
        """Make the rows anew; while the view is hidden, only remember that this is to be done."""
        if not self.isVisible() and self.window().isVisible():
            self._is_stale = True
        else:
            self.refill_now()

    def refill_now(self) -> None:
        self._is_stale = False
        self._filled_for = self.session.selection
        self.fill()
        self.tree.span_heads()
        self.show_selected()

    def bring_up_to_date(self) -> None:
        """Make the rows that were put off."""
        if self._is_stale or self._pace.is_waiting:
            self._pace.stop()
            self.refill_now()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.bring_up_to_date()

    # -- session --------------------------------------------------------------------------------------------------

    def on_document(self) -> None:
        self.model.clear()
        self.refill()

    def on_state(self) -> None:
        self.refill()

    def on_estimate(self) -> None:
        self.refill()

    def on_selection(self) -> None:
        if self.session.selection != self._filled_for:
            self._pace.ask()

    def on_theme(self) -> None:
        self.model.set_theme(self.bridge.theme)

    def shut_down(self) -> None:
        self._pace.stop()

    # -- user -----------------------------------------------------------------------------------------------------

    def pick(self, key: Hashable) -> None:
        """The user made the row with a key current."""

    def find_operation(self) -> None:
        """Take the keys to the filter: what the window's search does in this view."""
        self.filter_box.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.filter_box.selectAll()

    def centre_selection(self) -> None:
        """Scroll to the row that is selected."""
        self.tree.scrollTo(self.tree.currentIndex(), NodeView.ScrollHint.PositionAtCenter)

    # -- what rows are about --------------------------------------------------------------------------------------

    def subject(self, row: Any) -> RowSubject:
        """What a row is about."""
        return NOTHING

    def keys_about(self, operation: int | None, root: int | None, tile: int | None) -> Iterable[Hashable]:
        """The keys of the rows that are about an operation, an allocation or a tile."""
        return ()

    @property
    def current_subject(self) -> RowSubject:
        row = self.tree.current_row()
        return NOTHING if row is None else self.subject(row)

    @Slot(object)
    def _point(self, key: Hashable) -> None:
        row = None if key is None else self.model.row(self.model.find(key))
        about = NOTHING if row is None else self.subject(row)
        self.bridge.hovered.emit(about.operation, about.root, about.tile)

    @Slot(object, object, object)
    def _light(self, operation: int | None, root: int | None, tile: int | None) -> None:
        self.model.light(self.keys_about(operation, root, tile))

    def show_alternatives(self) -> None:
        """Turn to the alternatives of the current row's operation."""
        operation = self.current_subject.operation
        if operation is not None:
            self.session.select_operation(operation)
            self.bridge.requested.emit("show_view", "alternatives")

    def select_identical(self) -> None:
        """Select all tiles that hold the same bytes at the selected step as the row's tile, else as the selected one.

        Where neither is, as the fullest.
        """
        timeline, selection = self.session.timeline, self.session.selection
        if timeline is None or not timeline.steps:
            return
        step = selection.step or 0
        tile = self.current_subject.tile
        tile = selection.tile if tile is None else tile
        tile = fullest_tile(timeline.tiles, step) if tile is None else tile
        self.session.select_tiles(next(group.tiles for group in groups_at(timeline, step) if tile in group.tiles))

    def copy_name(self) -> None:
        """Put the name of what the current row is about on the clipboard."""
        QGuiApplication.clipboard().setText(self.current_subject.name)

    def object_actions(self) -> list[QAction]:
        """What one does with what the current row is about; what cannot be done says why."""
        about, timeline = self.current_subject, self.session.timeline
        operation = about.operation
        reason = "" if operation is not None else "Select a row of an operation first"
        recipe = self.session.recipe
        if operation is not None and (recipe is None or not recipe.alternatives.get(operation)):
            reason = "A timeline alone holds no alternatives" if recipe is None else "No alternatives were kept for it"
        allow(self.alternatives_action, "The other plans of this operation", reason)
        has_steps = timeline is not None and bool(timeline.steps)
        allow(self.identical_action, "Tiles that hold the same bytes at this step", "" if has_steps else "No steps")
        allow(self.name_action, about.name, "" if about.name else "Select a row first")
        return [self.alternatives_action, self.identical_action, self.name_action]

    def menu_actions(self) -> list[QAction]:
        return [*self.object_actions(), *super().menu_actions()]

    # -- export ---------------------------------------------------------------------------------------------------

    def table_maker(self) -> Callable[[], str] | None:
        self.bring_up_to_date()
        return self.tree.csv_maker()

    def picture_parts(self, whole: bool = False) -> Sequence[Part]:
        return (TablePart(self.tree, self.bridge.theme),)
