"""The strip that says which tiles are alike, one button a group."""

from __future__ import annotations

import time
from collections.abc import Sequence

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QComboBox, QLabel, QMenu, QSizePolicy, QToolButton, QWidget

from tileview.model.timeline import Timeline
from tileview.present.tile_groups import GroupScan, TileGroup, group_text, groups_at, groups_sentence
from tileview.qt.draw.tiles_flow import FlowLayout
from tileview.qt.views.pace import Pace

_BUTTONS = 6
_MENU_ENTRIES = 60
_SCAN_SECONDS = 0.008
"""How long the tiles are compared between two events."""


class GroupStrip(QWidget):
    """Groups of identical tiles, the largest first; a click selects a group's tiles.

    Groups at one step are found at once, those over all steps a few steps at a time between events. A hidden strip does
    nothing.
    """

    chosen = Signal(object)
    """The tiles of the group, as a tuple."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self._groups: tuple[TileGroup, ...] = ()
        self._timeline: Timeline | None = None
        self._step = 0
        self._scan: GroupScan | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._advance)
        self._pace = Pace(self._restart, self)
        self._flow = FlowLayout(self, spacing=4)
        self._label = QLabel("Alike", self)
        self.scope = QComboBox(self)
        self.scope.addItem("at this step", False)
        self.scope.addItem("at all steps", True)
        self.scope.setToolTip("Tiles are alike that hold the same standard and the same interleaved bytes")
        self.scope.setAccessibleName("Steps over which tiles are compared")
        self.scope.currentIndexChanged.connect(self._restart)
        self._flow.addWidget(self._label)
        self._flow.addWidget(self.scope)
        self._buttons = [self._button() for _ in range(_BUTTONS)]
        self._more = QToolButton(self)
        self._more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._menu = QMenu(self)
        self._menu.triggered.connect(self._from_menu)
        self._more.setMenu(self._menu)
        self._flow.addWidget(self._more)
        self.show_groups((), False)

    def _button(self) -> QToolButton:
        button = QToolButton(self)
        button.clicked.connect(self._clicked)
        self._flow.addWidget(button)
        return button

    @property
    def over_all_steps(self) -> bool:
        return bool(self.scope.currentData())

    @property
    def groups(self) -> tuple[TileGroup, ...]:
        return self._groups

    def follow(self, timeline: Timeline | None, step: int | None) -> None:
        """Compare the tiles of a timeline; the groups over all steps are searched only once for each."""
        same = timeline is self._timeline
        self._timeline, self._step = timeline if step is not None else None, step or 0
        if not same or timeline is None:
            self._restart()
        elif not self.over_all_steps:
            self._pace.ask()

    def set_shown(self, shown: bool) -> None:
        """Hide the strip, or show it and catch up."""
        self.setVisible(shown)
        self._restart()

    def stop(self) -> None:
        """End the search."""
        self._pace.stop()
        self._timer.stop()
        self._scan = None

    def _restart(self) -> None:
        self.stop()
        if self._timeline is None or self.isHidden():
            self.show_groups((), False)
        elif self.over_all_steps:
            self._scan = GroupScan(self._timeline)
            self._timer.start()
        else:
            self.show_groups(groups_at(self._timeline, self._step), False)

    def _advance(self) -> None:
        scan = self._scan
        if scan is None:
            self._timer.stop()
            return
        end = time.monotonic() + _SCAN_SECONDS
        while not scan.advance() and time.monotonic() < end:
            pass
        if scan.done:
            self._timer.stop()
        self.show_groups(scan.groups() if scan.done else self._groups, not scan.done)

    def show_groups(self, groups: Sequence[TileGroup], unfinished: bool) -> None:
        """The groups found; ``unfinished`` while steps remain to be compared."""
        groups = tuple(groups)
        self._label.setText("Alike (comparing…)" if unfinished else "Alike")
        if groups == self._groups:
            return
        self._groups = groups
        self._label.setToolTip(groups_sentence(groups))
        shown = len(groups) if len(groups) <= _BUTTONS else _BUTTONS - 1
        for index, button in enumerate(self._buttons):
            button.setVisible(index < shown)
            if index < shown:
                button.setText(group_text(len(groups[index])))
                button.setToolTip(_members(groups[index]))
        rest = groups[shown:]
        self._more.setVisible(bool(rest))
        self._more.setText(f"{len(rest):,} more groups, {sum(map(len, rest)):,} tiles")
        self._menu.clear()
        for index in range(shown, min(len(groups), shown + _MENU_ENTRIES)):
            action = self._menu.addAction(f"{group_text(len(groups[index]))}: {_members(groups[index])}")
            action.setData(index)
        self._flow.invalidate()
        self.updateGeometry()

    def _clicked(self) -> None:
        sender = self.sender()
        if isinstance(sender, QToolButton) and sender in self._buttons:
            self._choose(self._buttons.index(sender))

    def _from_menu(self, action: QAction) -> None:
        self._choose(int(action.data()))

    def _choose(self, index: int) -> None:
        if index < len(self._groups):
            self.chosen.emit(self._groups[index].tiles)


def _members(group: TileGroup) -> str:
    """``L0 … L21, L46 … L67 and 12 more ranges``."""
    ranges: list[list[int]] = []
    for tile in group.tiles:
        if ranges and tile == ranges[-1][1] + 1:
            ranges[-1][1] = tile
        else:
            ranges.append([tile, tile])
    words = [f"L{a}" if a == b else f"L{a} … L{b}" for a, b in ranges[:6]]
    rest = len(ranges) - 6
    return ", ".join(words) + (f" and {rest:,} more range{'s' if rest > 1 else ''}" if rest > 0 else "")
