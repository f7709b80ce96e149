"""Up to four states beside one another: heads, charts on one axis, tiles, and a table of what differs."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize, Qt, Signal, Slot
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QInputDialog,
    QLineEdit,
    QMenu,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from tileview.analysis.fusions import agreement
from tileview.analysis.linkage import brief, link_timelines, link_values, statement
from tileview.analysis.words import sentence
from tileview.core.fusion.stand import Fusion
from tileview.core.fusion.verdict_words import verdict_words
from tileview.present.compare_rows import MOST_STATES, CompareRow, CompareSpec, CompareState, compare_nodes
from tileview.present.state_charts import StateCurve, state_curves, state_maps
from tileview.present.tables import Node, matches, outcome
from tileview.qt.base.painting import told
from tileview.qt.base.text import safe_tip
from tileview.qt.base.theme import Theme
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.plot.picture import Part
from tileview.qt.plot.picture_parts import RowPart, TitlePart
from tileview.qt.views.base import go_where_live
from tileview.qt.views.compare_charts import LETTERS, CompareCharts
from tileview.qt.views.table_view import RowSubject, TableView
from tileview.qt.widgets.docked import ElidedLabel, WrappedLabel, dock_button
from tileview.qt.widgets.node_model import NodeModel
from tileview.qt.widgets.node_view import NodeView
from tileview.session.document import edited_recipe
from tileview.session.session import Pin, Session, linked_timeline

_LABEL = "vit.encoder.attention.qk"
_ENTRY = "573.2 KiB  (−115.4 KiB, −12.8 %)"
_HALF_LABEL, _HALF_ENTRY = "Total peak + res", "573.2 KiB  −12.8 %"
_MARGIN = 12
_MOST_ENTRY = 2
"""How many times as wide as needed an entry's column may become, before the labels get the rest."""


class _Lines(QStyledItemDelegate):
    """Rows as high as their texts need, two lines at most."""

    def __init__(self, tree: CompareTree) -> None:
        super().__init__(tree)
        self._tree = tree

    @told(QSize)
    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        height = self._tree.fontMetrics().height()
        return QSize(0, height * self._tree.lines(index) + 2)


class CompareTree(NodeView):
    """All states are in view whatever the width: columns narrow down, entries take a second line, then they are cut.

    A tooltip has every entry in full.
    """

    def __init__(self, model: NodeModel, spec: CompareSpec, name: str, parent: QWidget | None = None) -> None:
        self._spec = spec
        super().__init__(model, name, parent, tree=True)
        self.setUniformRowHeights(False)
        self.setItemDelegate(_Lines(self))
        self.setIndentation(12)
        header = self.header()
        header.setStretchLastSection(False)
        header.setMinimumSectionSize(24)
        header.setTextElideMode(Qt.TextElideMode.ElideMiddle)

    def fit_columns(self) -> None:
        """Share the width between the label and the states there are."""
        header = self.header()
        states = [column for column in range(1, MOST_STATES + 1) if not header.isSectionHidden(column)]
        room = self.viewport().width()
        if not states or room <= 0:
            return
        label, entry, half_label, half = (
            self.fontMetrics().horizontalAdvance(text) + _MARGIN for text in (_LABEL, _ENTRY, _HALF_LABEL, _HALF_ENTRY)
        )
        label, half_label = label + 2 * self.indentation(), half_label + self.indentation()
        is_compact = label + entry * len(states) > room
        if is_compact:
            first = max(min(half_label, room - half * len(states)), room // (len(states) + 3))
            width = (room - first) // len(states)
        else:
            width = min((room - label) // len(states), _MOST_ENTRY * entry)
        before = [header.sectionSize(column) for column in (0, *states)]
        for column in states:
            header.resizeSection(column, width)
        header.resizeSection(0, room - width * len(states))
        if is_compact != self._spec.is_compact:
            self._spec.is_compact = is_compact
            self.setWordWrap(is_compact)
            self.nodes.forget_cells()
            self.scheduleDelayedItemsLayout()
        elif is_compact and before != [header.sectionSize(column) for column in (0, *states)]:
            self.scheduleDelayedItemsLayout()

    def lines(self, index: QModelIndex | QPersistentModelIndex) -> int:
        """How many lines an entry takes: two where its text does not fit on one, or is two."""
        if not self._spec.is_compact or self.isFirstColumnSpanned(index.row(), index.parent()):
            return 1
        text = str(index.data() or "")
        room = self.columnWidth(index.column()) - _MARGIN // 2
        if index.column() == 0:
            room -= self.indentation() * (2 if index.parent().isValid() else 1)
        return 2 if "\n" in text or self.fontMetrics().horizontalAdvance(text) > room else 1


@dataclass(frozen=True, slots=True)
class ShownState:
    """A state that is shown: what it holds, and the pin behind it (None for the current state).

    ``is_current`` where it equals the current state; ``pin_index`` is its place among the session's pins.
    """

    state: CompareState
    pin: Pin | None
    is_baseline: bool
    pin_index: int | None
    is_current: bool

    @property
    def title(self) -> str:
        """The name with its part in the comparison."""
        parts = [word for word, holds in (("baseline", self.is_baseline), ("current", self._is_marked)) if holds]
        return f"{self.state.name} ({', '.join(parts)})" if parts else self.state.name

    @property
    def _is_marked(self) -> bool:
        return self.is_current and self.pin is not None


class StateCard(QWidget):
    """One state's head. Its button offers what can be done with the state; ``asked`` carries the word for it."""

    asked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = ElidedLabel(cut=Qt.TextElideMode.ElideMiddle)
        font = self.title.font()
        font.setBold(True)
        self.title.setFont(font)
        self.menu = QMenu(self)
        self.baseline_action = self._action("Make this the &baseline", "baseline")
        self.rename_action = self._action("&Rename…", "rename")
        self.remove_action = self._action("Re&move", "remove")
        self.button = QToolButton()
        self.button.setText("…")
        self.button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.button.setMenu(self.menu)
        head = QHBoxLayout(self)
        head.setContentsMargins(2, 0, 2, 0)
        head.setSpacing(4)
        head.addWidget(self.title, 1)
        head.addWidget(self.button)

    def part(self) -> Part:
        """The head as part of a picture."""
        return TitlePart(self.title, self.title.text(), self.width())

    def _action(self, text: str, word: str) -> QAction:
        action = self.menu.addAction(text)
        action.setData(word)
        action.triggered.connect(self._ask)
        return action

    def _ask(self) -> None:
        sender = self.sender()
        if isinstance(sender, QAction):
            self.asked.emit(str(sender.data()))

    def show_state(self, shown: ShownState, letter: str, theme: Theme) -> None:
        """Show a state under its letter."""
        state = shown.state
        sign, _, tone = outcome(state.verdict.fits)
        self.title.setText(f"{letter}  {sign} {shown.title}")
        words = verdict_words(state.verdict)
        self.title.setToolTip(f"{shown.title}: {words}: {state.verdict.text}\n{state.source}")
        self.title.setAccessibleName(f"{shown.title}: {words}")
        palette = self.title.palette()
        palette.setColor(self.title.foregroundRole(), theme.color(tone))
        self.title.setPalette(palette)
        self.baseline_action.setEnabled(not shown.is_baseline)
        self.rename_action.setEnabled(shown.pin is not None)
        self.remove_action.setEnabled(shown.pin_index is not None)
        self.button.setAccessibleName(f"What can be done with {state.name}")
        self.button.setToolTip("Make it the baseline, rename or remove it")


CURRENT = "current"
_BESIDE = 140
"""Pixels of height that the view needs besides its charts."""
_HIGHER = 440
"""Pixels of height from which on there is room for more than one line on what a linked file matches."""


class CompareView(TableView):
    """Baseline, the current state, and pinned states or other files, side by side."""

    title = "Compare"
    name = "compare"
    may_be_late = True
    table_name = "Comparison of states"
    description = "Figures, choices and allocations of the states side by side."
    filter_tip = "By what is compared"
    is_tree = True

    def __init__(self, bridge: SessionSignals, parent: QWidget | None = None) -> None:
        self.spec: CompareSpec = CompareSpec()
        super().__init__(bridge, parent)
        self._shown: list[ShownState] = []
        bridge.placement_changed.connect(self._on_placement)
        self._statement: list[str] = []
        self._brief = ""
        self._marked: tuple[int | None, int | None] = (None, None)
        self._curves = state_curves(())
        self.note = ElidedLabel(cut=Qt.TextElideMode.ElideRight)
        self.cards = [StateCard(self) for _ in range(MOST_STATES)]
        self.charts = CompareCharts(self)
        self.charts.step_wanted.connect(self._go_to_step)
        row = QHBoxLayout()
        row.setSpacing(8)
        for position, card in enumerate(self.cards):
            row.addWidget(card, 1)
            card.setProperty("position", position)
            card.asked.connect(self._on_asked)
        self.tree.setMinimumHeight(60)
        self.link_label = WrappedLabel()
        self.pin_button = dock_button("Pi&n current …", "Keep the current state for comparison, with a name", self.pin)
        self.other_button = dock_button("Add a f&ile …", "Put another file beside", self.compare_with)
        self.earlier_button = dock_button("Add what was before the reload", "", self.compare_with_earlier)
        buttons = QHBoxLayout()
        buttons.addWidget(self.pin_button)
        buttons.addWidget(self.other_button)
        buttons.addWidget(self.earlier_button)
        buttons.addWidget(self.note, 1)
        buttons.addWidget(self.filter_box)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4, 4, 4, 4)
        layout.setSpacing(4)
        layout.addLayout(buttons)
        layout.addLayout(row)
        layout.addWidget(self.charts, 3)
        layout.addWidget(self.tree, 2)
        layout.addWidget(self.link_label)
        self._pin_action = QAction("Pin the current state for comparison", self)
        self._pin_action.triggered.connect(self.pin)
        self.refill()

    def make_tree(self) -> NodeView:
        return CompareTree(self.model, self.spec, self.table_name, self)

    # -- session --------------------------------------------------------------------------------------------------

    @Slot()
    def _on_placement(self) -> None:
        if not self.session.wants_placing:
            self.refill()

    def on_pins(self) -> None:
        self.refill()

    def on_selection(self) -> None:
        selection = self.session.selection
        self._show_cursor()
        marked = (selection.allocation, selection.operation)
        if marked != self._marked:
            self._marked = marked
            self._mark_selected()

    def on_theme(self) -> None:
        super().on_theme()
        self._show_cards()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_height()

    def _fit_height(self) -> None:
        """In a low dock the table takes the room of the charts, and the statement on the link that of a line."""
        is_whole = self.height() >= _HIGHER
        needed = self.charts.needed_height()
        self.charts.setMinimumHeight(needed)
        self.charts.setVisible(bool(self._shown) and self.height() >= needed + _BESIDE)
        statement = "\n".join(self._statement)
        self.link_label.setText(statement if is_whole else self._brief)
        self.link_label.setToolTip("" if is_whole else safe_tip(statement))
        self.link_label.setVisible(bool(statement))

    def states(self) -> list[CompareState]:
        """What is compared, the baseline first."""
        return [shown.state for shown in self._shown]

    def _gather(self) -> list[ShownState]:
        """Baseline, the current state where it is none of the others, then the newest pins; four at most."""
        session = self.session
        shown: list[ShownState] = []
        baseline, pins = session.baseline, session.pins
        if baseline is not None:
            index = next((i for i, pin in enumerate(pins) if pin is baseline), None)
            shown.append(ShownState(_state(session, baseline), baseline, True, index, self._is_in_force(baseline)))
        others = [(index, pin) for index, pin in enumerate(pins) if pin is not baseline]
        document, estimate = session.document, session.estimate
        kept = [baseline, *pins]
        if document is not None and estimate is not None and not any(map(self._is_in_force, kept)):
            current = Pin(CURRENT, document, session.state, estimate)
            shown.append(ShownState(_state(session, current), None, False, None, True))
        newest = others[len(shown) - MOST_STATES :]
        for index, pin in newest:
            shown.append(ShownState(_state(session, pin), pin, False, index, self._is_in_force(pin)))
        return shown

    def _is_in_force(self, pin: Pin | None) -> bool:
        return pin is not None and pin.document is self.session.document and pin.state == self.session.state

    def fill(self) -> None:
        self._shown = self._gather()
        states = self.states()
        self.spec.set_names([state.name for state in states])
        nodes = [node for one in compare_nodes(states) if (node := _filtered(one, self.query)) is not None]
        fresh = [node.key for node in nodes if node.children and not self.model.find(node.key).isValid()]
        self.model.set_nodes(nodes)
        self.model.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, MOST_STATES)
        for column in range(MOST_STATES):
            self.tree.setColumnHidden(column + 1, column >= len(states))
        self.tree.fit_columns()
        for key in fresh:
            self.tree.expand(self.model.find(key))
        self._statement = self.link_statement()
        self._show_cards()
        self.note.setText(self._note(len(states)))
        self.pin_button.setEnabled(self.session.is_current)
        earlier = self.session.earlier
        self.earlier_button.setVisible(earlier is not None and earlier not in self.session.pins)
        self.earlier_button.setToolTip("" if earlier is None else f"Put it beside: {earlier.name}")

    def show_selected(self) -> None:
        self._mark_selected(scroll=False)

    def _note(self, count: int) -> str:
        if self.session.document is None:
            return "Nothing open"
        if count < 2:
            return "One state only: swap a plan, pin a state or add a file to see what differs."
        seen = {shown.pin_index for shown in self._shown}
        hidden = sum(index not in seen for index in range(len(self.session.pins)))
        return f"Four states at most are shown; remove one to see {hidden} older." if hidden else ""

    def _show_cards(self) -> None:
        states = self.states()
        for position, card in enumerate(self.cards):
            card.setVisible(position < len(self._shown))
            if position < len(self._shown):
                card.show_state(self._shown[position], LETTERS[position], self.bridge.theme)
        self._curves = state_curves(states, self.bridge.colours())
        names = [shown.title for shown in self._shown]
        self.charts.show_states(names, self._curves, state_maps(states), self.bridge.theme)
        self._show_cursor()
        self._fit_height()

    def _current_curve(self) -> StateCurve | None:
        """The curve of the timeline that the session's steps are those of."""
        for shown, curve in zip(self._shown, self._curves.curves, strict=False):
            if shown.state.timeline is self.session.timeline:
                return curve
        return None

    def _show_cursor(self) -> None:
        curve, step = self._current_curve(), self.session.selection.step
        self.charts.set_cursor(None if curve is None or step is None else curve.place_of(step))

    def _go_to_step(self, place: int) -> None:
        """Select the last of the current state's steps that stand at a step of the first state."""
        curve = self._current_curve()
        if curve is not None and bool(curve.there[place]):
            self.session.select_step(int(curve.ranges[place, 1]) - 1)

    def link_statement(self) -> list[str]:
        """What matches between the open file and the one linked to it; empty where none is."""
        linked, document, other = self.session.linked, self.session.document, linked_timeline(self.session)
        if linked is None or document is None:
            return []
        recipe = document.recipe if document.is_recipe else linked.recipe
        own = self.session.timeline
        estimated, file = (own, other) if document.is_recipe else (other, own)
        if recipe is None or file is None or estimated is None:
            self._brief = f"{linked.name} is linked, but there is no timeline on both sides to match."
            return [self._brief]
        linkage = link_timelines(recipe.graph, recipe.config.tile_count, estimated, file)
        head = f"Linked: {document.name} and {linked.name}"
        self._brief = f"Linked: {brief(linkage)}"
        lines = [head, *statement(linkage, link_values(estimated), link_values(file))]
        fusion = self._linked_fusion()
        if fusion is not None and linkage.is_one_compile:
            text = agreement(fusion, file).text
            lines.insert(1, sentence(text))
            self._brief += f"; {text.rpartition(': ')[2]}"
        return lines

    def _linked_fusion(self) -> Fusion | None:
        """What came of the fusions of the recipe that a timeline is linked to; None while that is not estimated."""
        session, document = self.session, self.session.document
        if document is not None and document.is_recipe:
            return None if session.estimate is None else session.estimate.fusion
        pins = (*session.pins, session.baseline)
        return next((pin.estimate.fusion for pin in pins if pin is not None and pin.document is session.linked), None)

    def _mark_selected(self, scroll: bool = True) -> None:
        """Mark the row of the selected allocation, else that of the selected operation, where there is one."""
        row = self.tree.current_row()
        is_one = isinstance(row, CompareRow) and (row.operation is not None or any(row.roots))
        if is_one and (self._has_allocation(row) or self._has_operation(row)):
            return
        every = [(index, self.model.row(index)) for index in self.model.indexes()]
        found = next((index for index, one in every if self._has_allocation(one)), None)
        if found is None:
            found = next((index for index, one in every if self._has_operation(one)), None)
        if found is not None or is_one:
            self.tree.show_current(None if found is None else self.model.key(found), scroll=scroll)

    def _has_allocation(self, row: CompareRow) -> bool:
        wanted = self.session.selection.allocation
        return wanted is not None and self._root_here(row) == wanted

    def _has_operation(self, row: CompareRow) -> bool:
        return row.operation is not None and row.operation == self.session.selection.operation

    def _root_here(self, row: CompareRow) -> int | None:
        """The row's allocation in the current timeline."""
        for shown, root in zip(self._shown, row.roots, strict=False):
            if root is not None and shown.state.timeline is self.session.timeline:
                return root
        return None

    # -- user -----------------------------------------------------------------------------------------------------

    def pin(self) -> None:
        """Ask for the current state to be kept, under a name that the user gives."""
        self.bridge.requested.emit("pin", None)

    def compare_with(self) -> None:
        """Ask for another file to stand beside."""
        self.bridge.requested.emit("compare_with", None)

    def compare_with_earlier(self) -> None:
        """Put what the file held before it was read again beside the others."""
        earlier = self.session.earlier
        if earlier is not None:
            self.session.add_pin(earlier)

    def _on_asked(self, word: str) -> None:
        """Do with a card's state what its menu says."""
        sender = self.sender()
        position = next((i for i, card in enumerate(self.cards) if card is sender), len(self._shown))
        if position >= len(self._shown):
            return
        shown = self._shown[position]
        if word == "baseline":
            self._make_baseline(shown)
        elif word == "rename" and shown.pin is not None:
            self._rename(shown.pin)
        elif word == "remove" and shown.pin_index is not None:
            self.session.remove_pin(shown.pin_index)

    def _make_baseline(self, shown: ShownState) -> None:
        pin, session = shown.pin, self.session
        if pin is None and session.document is not None and session.estimate is not None:
            done = session.history.done
            pin = Pin(done[-1].label if done else "as opened", session.document, session.state, session.estimate)
        if pin is not None:
            session.set_baseline(pin)

    def _rename(self, pin: Pin) -> None:
        name, given = QInputDialog.getText(self, "Rename the state", "Name:", QLineEdit.EchoMode.Normal, pin.name)
        if given and name.strip():
            self.session.rename_pin(pin, name.strip())

    def subject(self, row: CompareRow) -> RowSubject:
        return RowSubject(row.operation, self._root_here(row), name=row.label)

    def pick(self, key: Hashable) -> None:
        """Select the row's operation, and its allocation where the open document has it, at a step where it lives."""
        row = self.tree.current_row()
        if not isinstance(row, CompareRow):
            return
        if row.operation is not None:
            self.session.select_operation(row.operation)
        root = self._root_here(row)
        if root is not None:
            self.session.select_allocation(root)
            go_where_live(self.session, root)

    def view_actions(self) -> list[QAction]:
        return [self._pin_action]

    def picture_words(self) -> str:
        return "\n".join(self._statement) or self.note.text()

    def picture_parts(self, whole: bool = False) -> Sequence[Part]:
        cards = [card.part() for card in self.cards if card.isVisibleTo(self)]
        charts = (self.charts.part(),) if self.charts.isVisibleTo(self) else ()
        return (RowPart(cards), *charts, *super().picture_parts(whole))


def _filtered(node: Node[CompareRow], query: str) -> Node[CompareRow] | None:
    """A node whose label a query finds, or those of its children whose labels it does."""
    if matches(query, node.row.label):
        return node
    kept = tuple(child for child in node.children if matches(query, child.row.label))
    return Node(node.key, node.row, kept) if kept else None


def _state(session: Session, pin: Pin) -> CompareState:
    recipe = pin.document.recipe
    if recipe is not None:
        recipe = edited_recipe(recipe, pin.state)
    estimate, placement = pin.estimate, session.placement_words_of(pin)
    return CompareState(
        pin.name, estimate.verdict, pin.timeline, recipe, str(pin.document.path), estimate.price, placement
    )
