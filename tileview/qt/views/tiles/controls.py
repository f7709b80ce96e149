"""The row of controls above the tiles, and the line of text under it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QCheckBox, QComboBox, QMenu, QSizePolicy, QSpinBox, QToolButton, QWidget

from tileview.present.rasters import Metric, ScaleMode
from tileview.present.scales import Ramp
from tileview.qt.views.tiles.words import METRIC_NAMES
from tileview.qt.widgets.docked import ElidedLabel, FlowLayout

_ALONE = 100_000
"""A width that no row has."""


class LineLabel(ElidedLabel):
    """The line of text of a view: ends in … where it does not fit, the whole text is the tooltip.

    In a row of controls it stands on a line of its own, or takes what the controls leave (see :meth:`set_beside`).
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", parent, Qt.TextElideMode.ElideRight)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._least = _ALONE

    def show_text(self, text: str) -> None:
        if text != self.text():
            self.setText(text)

    @property
    def full_text(self) -> str:
        return self.text()

    def set_beside(self, characters: int | None) -> None:
        """Stand in a row with others where there is room for so many characters; None: always alone."""
        least = _ALONE if characters is None else characters * self.fontMetrics().averageCharWidth()
        if least != self._least:
            self._least = least
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        return QSize(self._least, self.fontMetrics().height() + 2)


def combo(parent: QWidget, name: str, entries: Sequence[tuple[str, object]]) -> QComboBox:
    """A box of choices: (text, what :meth:`QComboBox.currentData` gives).

    String enums come back from Qt as plain strings: turn them into the enum again where they are read.
    """
    box = QComboBox(parent)
    box.setAccessibleName(name)
    box.setToolTip(name)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
    for text, data in entries:
        box.addItem(text, data)
    return box


def set_data(box: QComboBox, data: object) -> None:
    """Choose the entry with some data without telling anyone."""
    index = box.findData(data)
    if index >= 0 and index != box.currentIndex():
        box.blockSignals(True)
        box.setCurrentIndex(index)
        box.blockSignals(False)


class TilesPicture(StrEnum):
    """How the tiles are arranged."""

    CHIP = "chip"
    LOGICAL = "logical"
    LOAD = "load"


_PICTURES = (
    (TilesPicture.CHIP, "Chip map"),
    (TilesPicture.LOGICAL, "Logical order"),
    (TilesPicture.LOAD, "Sorted by load"),
)


def _scale_words(metric: Metric, mode: ScaleMode) -> str:
    """Where the scale ends, and whether it moves."""
    if mode is ScaleMode.CUSTOM:
        return "between the ends you gave"
    if metric is Metric.DIFFERENCE:
        if mode is ScaleMode.AUTO:
            return "to the largest difference at this step; it moves from step to step"
        return "the power of two that holds the largest difference met so far; the same at every step, it only grows"
    if mode is ScaleMode.LOCKED:
        return f"0 to the {'interleaved ' if metric is Metric.INTERLEAVED else ''}budget; the same at every step"
    if metric is Metric.ALLOCATION:
        return (
            "0 to the most bytes that the allocation takes on a tile, so that small ones are seen; the same at every "
            "step. Choose 0 … budget to hold it against the budget"
        )
    return "0 to the largest tile at this step; it moves from step to step"


class TilesControls(QWidget):
    """Says what was chosen; shows what it is told is current."""

    metric_chosen = Signal(object)
    picture_chosen = Signal(object)
    scale_chosen = Signal(object)
    ends_chosen = Signal(object)
    """Bytes at the two ends of a custom scale."""
    known_toggled = Signal(bool)
    ramp_chosen = Signal(object)
    groups_toggled = Signal(bool)
    fit_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.metric_box = combo(self, "What is shown", [(METRIC_NAMES[metric], metric) for metric in Metric])
        self.picture_box = combo(self, "Order of the tiles", [(text, picture) for picture, text in _PICTURES])
        modes = [
            ("0 … budget", ScaleMode.LOCKED),
            ("Scale to step", ScaleMode.AUTO),
            ("Custom scale", ScaleMode.CUSTOM),
        ]
        self.scale_box = combo(self, "Scale", modes)
        self.low_box, self.high_box = self._kib_box("Lower end of the scale"), self._kib_box("Upper end of the scale")
        self.known_check = QCheckBox("Known part", self)
        self.known_check.setAccessibleName("Show the known part of unavailable steps")
        self.known_check.setToolTip("Show what is known of a step with unavailable sizes; it is a lower bound")
        self.fit_button = QToolButton(self)
        self.fit_button.setText("Fit")
        self.fit_button.setAccessibleName("Show all tiles")
        self.fit_button.setToolTip("Show all tiles (0 or double click)")
        self.options_button = self._make_options()
        self._flow = flow = FlowLayout(self, spacing=4)
        for widget in (
            self.metric_box,
            self.picture_box,
            self.scale_box,
            self.low_box,
            self.high_box,
            self.known_check,
            self.fit_button,
            self.options_button,
        ):
            flow.addWidget(widget)
        self._connect()

    def add_line(self, line: QWidget) -> None:
        """Put a widget behind the controls, in their last row or in one of its own."""
        self._flow.addWidget(line)

    def _kib_box(self, name: str) -> QSpinBox:
        box = QSpinBox(self)
        box.setAccessibleName(name)
        box.setToolTip(name)
        box.setRange(-(1 << 20), 1 << 20)
        box.setSuffix(" KiB")
        box.setKeyboardTracking(False)
        box.hide()
        return box

    def _make_options(self) -> QToolButton:
        button = QToolButton(self)
        button.setText("Options")
        button.setAccessibleName("Options of the tiles")
        button.setToolTip("What else is shown, and in which colours")
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(button)
        self.follow_action = menu.addAction("Show the selected allocation's bytes when it is selected")
        self.groups_action = menu.addAction("Show which tiles are identical")
        menu.addSeparator()
        ramps = (Ramp.VIRIDIS, Ramp.CIVIDIS)
        self.ramp_actions = {ramp: menu.addAction(f"Colours: {ramp.value.title()}") for ramp in ramps}
        for action in (self.follow_action, self.groups_action, *self.ramp_actions.values()):
            action.setCheckable(True)
        for action in (self.follow_action, self.groups_action, self.ramp_actions[Ramp.VIRIDIS]):
            action.setChecked(True)
        menu.triggered.connect(self._option_chosen)
        button.setMenu(menu)
        return button

    def _connect(self) -> None:
        self.metric_box.currentIndexChanged.connect(self._metric)
        self.picture_box.currentIndexChanged.connect(self._picture)
        self.scale_box.currentIndexChanged.connect(self._scale)
        self.low_box.valueChanged.connect(self._ends)
        self.high_box.valueChanged.connect(self._ends)
        self.known_check.toggled.connect(self.known_toggled)
        self.groups_action.toggled.connect(self.groups_toggled)
        self.fit_button.clicked.connect(self.fit_wanted)

    @property
    def known(self) -> bool:
        """Whether the known part of an unavailable step is asked for."""
        return self.known_check.isChecked()

    @property
    def follows(self) -> bool:
        """Whether selecting an allocation shows its bytes."""
        return self.follow_action.isChecked()

    def show_state(self, metric: Metric, mode: ScaleMode, *, lost: bool) -> None:
        """What is chosen; controls that would do nothing are hidden."""
        set_data(self.metric_box, metric)
        set_data(self.scale_box, mode)
        locked = "± power of two" if metric is Metric.DIFFERENCE else "0 … budget"
        largest = "0 … its largest" if metric is Metric.ALLOCATION else "Scale to step"
        for place, text in enumerate((locked, largest)):
            if self.scale_box.itemText(place) != text:
                self.scale_box.setItemText(place, text)
        self.scale_box.setToolTip(f"Scale: {_scale_words(metric, mode)}")
        for box in (self.low_box, self.high_box):
            box.setVisible(mode is ScaleMode.CUSTOM)
        self.known_check.setVisible((lost or self.known) and metric is not Metric.PLACEMENT)
        self.scale_box.setVisible(metric is not Metric.PLACEMENT)

    def show_picture(self, picture: TilesPicture, has_chip: bool) -> None:
        """The current order; only 1472 tiles have places on a chip."""
        if (self.picture_box.findData(TilesPicture.CHIP) >= 0) != has_chip:
            self.picture_box.blockSignals(True)
            if has_chip:
                self.picture_box.insertItem(0, dict(_PICTURES)[TilesPicture.CHIP], TilesPicture.CHIP)
            else:
                self.picture_box.removeItem(self.picture_box.findData(TilesPicture.CHIP))
            self.picture_box.blockSignals(False)
        set_data(self.picture_box, picture)
        self.fit_button.setVisible(picture is not TilesPicture.LOAD)

    def show_ramp(self, ramp: Ramp) -> None:
        for other, action in self.ramp_actions.items():
            action.setChecked(other is ramp)

    def show_ends(self, low: int, high: int) -> None:
        """Bytes at the ends of a custom scale."""
        for box, size in ((self.low_box, low), (self.high_box, high)):
            box.blockSignals(True)
            box.setValue(round(size / 1024))
            box.blockSignals(False)

    def _metric(self) -> None:
        self.metric_chosen.emit(Metric(self.metric_box.currentData()))

    def _picture(self) -> None:
        self.picture_chosen.emit(TilesPicture(self.picture_box.currentData()))

    def _scale(self) -> None:
        self.scale_chosen.emit(ScaleMode(self.scale_box.currentData()))

    def _ends(self) -> None:
        self.ends_chosen.emit((self.low_box.value() * 1024, self.high_box.value() * 1024))

    def _option_chosen(self, action: QAction) -> None:
        for ramp, choice in self.ramp_actions.items():
            if choice is action:
                self.ramp_chosen.emit(ramp)
