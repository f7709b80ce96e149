"""The row of controls above the timeline."""

from __future__ import annotations

from enum import StrEnum

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QCheckBox, QMenu, QToolButton, QWidget

from tileview.analysis.lifetimes import LifetimeOrder
from tileview.present.curves import CurveMode
from tileview.qt.views.tiles.controls import combo, set_data
from tileview.qt.views.timeline.text import MODE_NAMES
from tileview.qt.widgets.flow import FlowLayout


class LifetimeFilter(StrEnum):
    """Which allocations have a bar."""

    ALL = "all"
    STEP = "step"
    """Those live at the selected step."""
    SPAN = "span"
    """Those live somewhere in the brushed range."""


class TimelineControls(QWidget):
    """Says what was chosen; keeps what is chosen."""

    mode_chosen = Signal(object)
    changed = Signal()
    """Something about the curves was chosen."""
    lifetimes_changed = Signal()
    panes_changed = Signal()
    """Whether curves, bars or both are wanted was chosen."""
    fit_wanted = Signal()
    back_wanted = Signal()
    clear_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.mode_box = combo(self, "Which tile the curves follow", [(MODE_NAMES[mode], mode) for mode in CurveMode])
        self.stack_check = QCheckBox("By operation", self)
        self.stack_check.setAccessibleName("Stack the total by operation")
        self.stack_check.setToolTip("Stack the total: parameters, then what each operation makes")
        self.stack_check.setChecked(True)
        orders = [("Lifetimes by bytes", LifetimeOrder.BYTES), ("Lifetimes by start", LifetimeOrder.START)]
        self.order_box = combo(self, "Order of the lifetimes", orders)
        filters = [
            ("All", LifetimeFilter.ALL),
            ("Live at the step", LifetimeFilter.STEP),
            ("In the range", LifetimeFilter.SPAN),
        ]
        self.filter_box = combo(self, "Which lifetimes", filters)
        self.fit_button = self._button("Fit", "Show all steps (0 or double click)")
        self.back_button = self._button("Back", "The steps shown before (Backspace)")
        self.clear_button = self._button("Clear range", "End the filter by steps (Escape)")
        self.bars_button = self._button("Lifetimes", "Lifetimes of allocations in place of the curves")
        self.bars_button.setCheckable(True)
        self.bars_button.hide()
        self.options_button = self._make_options()
        self._is_low = False
        self._flow = flow = FlowLayout(self, spacing=4)
        for widget in (
            self.mode_box,
            self.stack_check,
            self.bars_button,
            self.order_box,
            self.filter_box,
            self.fit_button,
            self.back_button,
            self.clear_button,
            self.options_button,
        ):
            flow.addWidget(widget)
        self._connect()

    def _button(self, text: str, tip: str) -> QToolButton:
        button = QToolButton(self)
        button.setText(text)
        button.setToolTip(tip)
        button.setAccessibleName(tip.partition(" (")[0])
        return button

    def _make_options(self) -> QToolButton:
        button = self._button("Options", "What else the timeline shows")
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(button)
        self.baseline_action = self._option(menu, "Show the baseline's curves behind")
        self.budget_action = self._option(menu, "Let the height reach to the budget")
        self.cycles_action = self._option(menu, "Show the cycles of each step")
        self.lifetimes_action = self._option(menu, "Show the lifetimes of allocations")
        button.setMenu(menu)
        return button

    def _option(self, menu: QMenu, text: str) -> QAction:
        action = menu.addAction(text)
        action.setCheckable(True)
        action.setChecked(True)
        return action

    def _connect(self) -> None:
        self.mode_box.currentIndexChanged.connect(self._mode)
        self.stack_check.toggled.connect(self.changed)
        self.baseline_action.toggled.connect(self.changed)
        self.budget_action.toggled.connect(self.changed)
        for action in (self.lifetimes_action, self.cycles_action):
            action.toggled.connect(self._panes)
        self.bars_button.toggled.connect(self._panes)
        self.order_box.currentIndexChanged.connect(self.lifetimes_changed)
        self.filter_box.currentIndexChanged.connect(self.lifetimes_changed)
        self.fit_button.clicked.connect(self.fit_wanted)
        self.back_button.clicked.connect(self.back_wanted)
        self.clear_button.clicked.connect(self.clear_wanted)

    def add_line(self, line: QWidget) -> None:
        """Put a widget behind the controls, in their last row or in one of its own."""
        self._flow.addWidget(line)

    def set_low(self, is_low: bool) -> None:
        """Whether there is height for either curves or bars only: then a button changes between them."""
        if is_low != self._is_low:
            self._is_low = is_low
            self._panes()

    def _panes(self) -> None:
        self.bars_button.setVisible(self._is_low and self.lifetimes_action.isChecked())
        for box in (self.order_box, self.filter_box):
            box.setVisible(self.with_lifetimes)
        for widget in (self.mode_box, self.stack_check):
            widget.setVisible(self.with_curves)
        self.panes_changed.emit()

    def _mode(self) -> None:
        self.mode_chosen.emit(CurveMode(self.mode_box.currentData()))

    def show_mode(self, mode: CurveMode) -> None:
        set_data(self.mode_box, mode)

    @property
    def stacked(self) -> bool:
        return self.stack_check.isChecked()

    @property
    def with_baseline(self) -> bool:
        return self.baseline_action.isChecked()

    @property
    def to_budget(self) -> bool:
        return self.budget_action.isChecked()

    @property
    def with_lifetimes(self) -> bool:
        """Whether the bars are shown."""
        return self.lifetimes_action.isChecked() and (not self._is_low or self.bars_button.isChecked())

    @property
    def with_cycles(self) -> bool:
        """Whether the strip of cycles is wanted."""
        return self.cycles_action.isChecked() and self.with_curves

    @property
    def with_curves(self) -> bool:
        """Whether the curves are shown: always, unless the bars take their place."""
        return not (self._is_low and self.with_lifetimes)

    @property
    def order(self) -> LifetimeOrder:
        return LifetimeOrder(self.order_box.currentData())

    @property
    def filter(self) -> LifetimeFilter:
        return LifetimeFilter(self.filter_box.currentData())
