"""What can be edited at an operation besides its plan: boundaries of its results, homes of its parameters."""

from __future__ import annotations

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QGridLayout, QMenu, QPushButton, QSizePolicy, QToolButton, QWidget

from tileview.analysis.home_offers import home_offers, values_together
from tileview.model.graph import Operation, RepeatKind
from tileview.model.tensor import Format
from tileview.present.detail_sections import HomeLine, homes_of_operation
from tileview.qt.base.text import safe_tip
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.widgets.docked import ElidedLabel, dock_button
from tileview.session import edits

_MOST_HOMES = 12


class OperationEdits(QWidget):
    """Buttons of one operation; empty and hidden where there is nothing to edit."""

    def __init__(self, bridge: SessionSignals, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._operation: Operation | None = None
        self._key: object = None
        self._menu: QMenu | None = None
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(0, 1)
        self.boundary_buttons: dict[int, QPushButton] = {}
        self.home_buttons: dict[int, QToolButton] = {}
        self.hide()

    def show_operation(self, operation: Operation | None) -> None:
        """Offer the edits of an operation; rebuilt only where they changed, so that the focus stays."""
        self._operation = operation
        boundaries, homes = self._boundaries(), self._homes()
        key = (None if operation is None else operation.id, tuple(boundaries), tuple(homes))
        if key == self._key:
            return
        self._key = key
        focused = self._focused()
        self._clear()
        line = 0
        for value, is_open, is_edited in boundaries:
            self._boundary_row(line, value, is_open, is_edited)
            line += 1
        for home in homes[:_MOST_HOMES]:
            self._home_row(line, home)
            line += 1
        self.setVisible(line > 0)
        again = self.boundary_buttons.get(focused[1]) if focused[0] == "boundary" else self.home_buttons.get(focused[1])
        if again is not None:
            again.setFocus()

    def _focused(self) -> tuple[str, int]:
        for value, button in self.boundary_buttons.items():
            if button.hasFocus():
                return "boundary", value
        for value, tool in self.home_buttons.items():
            if tool.hasFocus():
                return "home", value
        return "", -1

    def _clear(self) -> None:
        self.boundary_buttons.clear()
        self.home_buttons.clear()
        while self._grid.count():
            item = self._grid.takeAt(0)
            widget = None if item is None else item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()

    # -- boundaries -----------------------------------------------------------------------------------------------

    def _boundaries(self) -> list[tuple[int, bool, bool]]:
        """(value, open, edited) of each result that has a boundary; a Repeat's results are never closed."""
        operation, recipe = self._operation, self._bridge.session.recipe
        if operation is None or recipe is None or isinstance(operation.kind, RepeatKind):
            return []
        edited = self._bridge.session.state.boundaries
        return [(value, value in recipe.open_boundaries, value in edited) for value in operation.results]

    def _boundary_row(self, line: int, value: int, is_open: bool, is_edited: bool) -> None:
        label = ElidedLabel(f"Result value {value}: boundary {'open' if is_open else 'closed'}" + _edited(is_edited))
        label.setToolTip(
            "Open: consumers use the result as it is"
            if is_open
            else "Closed: the result is brought to its canonical layout"
        )
        button = dock_button("Close boundary" if is_open else "Open boundary", "", self._toggle_boundary)
        button.setAccessibleName(f"{button.text()} of value {value}")
        button.setProperty("value", str(value))  # ids have 64 bits, a number of Qt has a sign
        button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._grid.addWidget(label, line, 0)
        self._grid.addWidget(button, line, 1)
        self.boundary_buttons[value] = button

    def _toggle_boundary(self) -> None:
        sender = self.sender()
        session = self._bridge.session
        recipe, file_recipe = session.recipe, session.file_recipe
        if sender is None or recipe is None or file_recipe is None:
            return
        value = int(sender.property("value"))
        wanted = value not in recipe.open_boundaries
        of_file = value in file_recipe.open_boundaries
        session.do(edits.set_boundary(session.state, value, None if wanted == of_file else wanted))

    # -- homes ----------------------------------------------------------------------------------------------------

    def _homes(self) -> list[HomeLine]:
        session = self._bridge.session
        recipe = session.recipe
        if self._operation is None or recipe is None:
            return []
        homes = {} if session.estimate is None else session.estimate.homes
        return list(homes_of_operation(recipe, self._operation, homes, session.state.homes))

    def _home_row(self, line: int, home: HomeLine) -> None:
        label = ElidedLabel(f"{home.short}{_edited(home.is_edited)}")
        label.setToolTip(f"Home of the {home.kind.lower()} input {home.name}: {home.text}")
        button = QToolButton()
        button.setText("Change home")
        button.setAccessibleName(f"Change the home of {home.name}")
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setProperty("value", str(home.value))
        menu = QMenu(button)
        menu.setProperty("value", str(home.value))
        menu.aboutToShow.connect(self._fill_menu)
        button.setMenu(menu)
        self._grid.addWidget(label, line, 0)
        self._grid.addWidget(button, line, 1)
        self.home_buttons[home.value] = button

    def _fill_menu(self) -> None:
        """Offer homes when the menu is opened: they cost some work."""
        menu = self.sender()
        if isinstance(menu, QMenu):
            self.fill_home_menu(menu, int(menu.property("value")))

    def fill_home_menu(self, menu: QMenu, value: int) -> None:
        """The homes an input could have, and back to the file's."""
        menu.clear()
        session = self._bridge.session
        recipe = session.recipe
        if recipe is None:
            return
        homes = {} if session.estimate is None else session.estimate.homes
        current = recipe.inputs.get(value) or homes.get(value)
        for offer in home_offers(recipe, value, current):
            action = QAction(offer.text, menu)
            action.setToolTip(safe_tip(offer.tip))
            action.setCheckable(True)
            action.setChecked(offer.format == current)
            action.setData((str(value), offer.format))
            action.triggered.connect(self._take_home)
            menu.addAction(action)
        if menu.isEmpty():
            nothing = QAction("No other layout is valid", menu)
            nothing.setEnabled(False)
            menu.addAction(nothing)
        if value in session.state.homes:
            menu.addSeparator()
            back = QAction("Back to the file's home", menu)
            back.setData((str(value), None))
            back.triggered.connect(self._take_home)
            menu.addAction(back)

    def _take_home(self) -> None:
        sender = self.sender()
        if isinstance(sender, QAction):
            value, home = sender.data()
            self.take_home(int(value), home)

    def take_home(self, value: int, home: Format | None) -> None:
        """Give an input, and with it all members of its sequence, a home; None is the file's. One step of undo."""
        session = self._bridge.session
        file_recipe = session.file_recipe
        if file_recipe is None:
            return
        values = values_together(file_recipe.graph, value)
        changes = tuple(
            edits.set_home(session.state, member, None if home == file_recipe.inputs.get(member) else home)
            for member in values
        )
        if len(changes) == 1:
            session.do(changes[0])
            return
        name = next((entry.name for entry in file_recipe.graph.sequences if value in entry.values), str(value))
        session.do(edits.Together(f"Home of sequence {name}", changes))


def _edited(is_edited: bool) -> str:
    return " (edited)" if is_edited else ""
