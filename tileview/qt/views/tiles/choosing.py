"""Choosing tiles: by mouse and by keys, and in the strip that says which tiles are identical."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QPalette, QResizeEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QMenu, QSizePolicy, QToolButton, QWidget

from tileview.analysis.tile_groups import GroupPart, GroupScan, TileGroup, group_parts, groups_at, parts_sentence
from tileview.model.timeline import Timeline
from tileview.present.rasters import unavailable_at
from tileview.qt.base.theme import Theme
from tileview.qt.jobs.pacing import Throttle
from tileview.session.session import Session

RangeOf = Callable[[int, int], tuple[int, ...]]
"""Anchor and tile → the tiles of the range, the tile last."""
_SHIFT, _CTRL = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier


class TileChoice(QObject):
    """Turns clicks and steps of a cursor into the selected tiles of a session, the current one last.

    ``cursor`` is the tile that Ctrl and the arrows have come to without choosing it; Space adds it to the selection or
    takes it away. It is None while the cursor is with the current tile. ``anchor`` is where ranges begin.
    """

    cursor_moved = Signal(object)
    """The cursor, or None."""
    arrived = Signal(int)
    """A tile that shall be in view."""

    def __init__(self, session: Session, range_of: RangeOf, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._range_of = range_of
        self.anchor: int | None = None
        self.cursor: int | None = None

    @property
    def at(self) -> int | None:
        """Where the keys are: at the cursor, else at the current tile."""
        return self._session.selection.tile if self.cursor is None else self.cursor

    def forget(self) -> None:
        """Another document."""
        self.anchor = None
        self._set_cursor(None)

    def click(self, tile: int, modifiers: Qt.KeyboardModifier) -> None:
        """Alone a click selects a tile, with Ctrl it adds or removes it, with Shift it selects the range from the
        anchor.
        """
        self._set_cursor(None)
        if modifiers & _CTRL:
            self._toggle(tile)
        else:
            self._go(tile, bool(modifiers & _SHIFT))

    def step_to(self, tile: int, modifiers: Qt.KeyboardModifier) -> None:
        """A key leads to a tile: it is selected, with Shift a range, with Ctrl only the cursor goes there."""
        self._set_cursor(tile if modifiers & _CTRL else None)
        if not modifiers & _CTRL:
            self._go(tile, bool(modifiers & _SHIFT))
        self.arrived.emit(tile)

    def toggle(self) -> None:
        """Add the tile of the cursor to the selection, or take it away."""
        tile = self.at
        if tile is not None:
            self._toggle(tile)
            self._set_cursor(tile)

    def clear(self) -> None:
        """Select no tile."""
        self.choose(())

    def choose(self, tiles: Sequence[int]) -> None:
        """Select these tiles; ranges go on from the last."""
        self._set_cursor(None)
        self.anchor = tiles[-1] if tiles else None
        self._session.select_tiles(tuple(tiles))

    def _toggle(self, tile: int) -> None:
        self.anchor = tile
        chosen = self._session.selection.tiles
        others = tuple(other for other in chosen if other != tile)
        self._session.select_tiles(others if len(others) < len(chosen) else (*others, tile))

    def _go(self, tile: int, extend: bool) -> None:
        chosen = self._session.selection.tiles
        if not extend or not chosen:
            self.anchor = tile
            self._session.select_tiles((tile,))
            return
        if self.anchor is None:
            self.anchor = chosen[-1]
        self._session.select_tiles(self._range_of(self.anchor, tile))

    def _set_cursor(self, tile: int | None) -> None:
        if tile != self.cursor:
            self.cursor = tile
            self.cursor_moved.emit(tile)


_PARTS = 8
"""Parts of the sentence that are shown at most; as many as the width has room for."""
_MENU_ENTRIES = 60
_SCAN_SECONDS = 0.008
"""How long the tiles are compared between two events."""


class GroupStrip(QWidget):
    """``1,408 identical tiles, 63 identical, 1 unique``: each part selects its tiles; what has no room is in a menu.

    Groups at one step are found at once, those over all steps a few steps at a time between events. A hidden strip does
    nothing.
    """

    chosen = Signal(object)
    """The tiles of the part, as a tuple."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Identical tiles")
        self._groups: tuple[TileGroup, ...] = ()
        self._parts: tuple[GroupPart, ...] = ()
        self._timeline: Timeline | None = None
        self._step = 0
        self._scan: GroupScan | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._advance)
        self._pace = Throttle(self._restart, self)
        self._build()
        self.set_theme(theme)
        self.show_groups((), False)

    def _build(self) -> None:
        self.scope = QComboBox(self)
        self.scope.addItem("At this step", False)
        self.scope.addItem("At all steps", True)
        self.scope.setToolTip("Identical tiles hold the same standard and the same interleaved bytes")
        self.scope.setAccessibleName("Steps over which tiles are compared")
        self.scope.currentIndexChanged.connect(self._restart)
        self.label = QLabel(self)
        self.buttons = [self._button() for _ in range(_PARTS)]
        self.more = self._button()
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.menu = QMenu(self)
        self.menu.aboutToShow.connect(self._fill_menu)
        self.menu.triggered.connect(self._from_menu)
        self.more.setMenu(self.menu)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.scope)
        row.addSpacing(4)
        row.addWidget(self.label)
        for button in (*self.buttons, self.more):
            row.addWidget(button)
        row.addStretch(1)

    def _button(self) -> QToolButton:
        button = QToolButton(self)
        button.setAutoRaise(True)
        button.setAccessibleName("Select identical tiles")
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        font = button.font()
        font.setUnderline(True)
        button.setFont(font)
        button.clicked.connect(self._clicked)
        return button

    def set_theme(self, theme: Theme) -> None:
        """Parts look like what can be followed: in the accent colour, underlined."""
        for button in (*self.buttons, self.more):
            palette = QPalette(button.palette())
            palette.setColor(QPalette.ColorRole.ButtonText, theme.color("accent"))
            button.setPalette(palette)

    def minimumSizeHint(self) -> QSize:
        return QSize(60, self.scope.sizeHint().height())

    @property
    def over_all_steps(self) -> bool:
        return bool(self.scope.currentData())

    @property
    def is_searching(self) -> bool:
        """Whether the groups over all steps are being found."""
        return self._timer.isActive()

    @property
    def groups(self) -> tuple[TileGroup, ...]:
        return self._groups

    @property
    def sentence(self) -> str:
        """What can be read: the parts shown, and how many groups stand in the menu."""
        texts = [button.text() for button in (*self.buttons, self.more) if not button.isHidden()]
        return " ".join(texts)

    # -- finding --------------------------------------------------------------------------------------------------

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
        if shown == self.isHidden():
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

    # -- showing --------------------------------------------------------------------------------------------------

    def show_groups(self, groups: Sequence[TileGroup], unfinished: bool) -> None:
        """The groups found; ``unfinished`` while steps remain to be compared."""
        groups = tuple(groups)
        said = self.label.text()
        self.label.setText("comparing…" if unfinished else "known part:" if groups and self._is_partial() else "")
        self.label.setVisible(bool(self.label.text()))
        if groups == self._groups and said == self.label.text():
            return
        self._groups = groups
        self._parts = group_parts(groups)
        sentence = parts_sentence(self._parts) if groups else ""
        self.setAccessibleDescription(sentence)
        self.setToolTip(sentence)
        self._fit()

    def _is_partial(self) -> bool:
        """Whether something of what is compared has no known size."""
        if self._timeline is None:
            return False
        lost = self._timeline.unavailable_roots
        return bool(lost) if self.over_all_steps else bool(unavailable_at(self._timeline, self._step))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Show as many parts as there is room for beside the menu of the others."""
        parts = self._parts
        room = self.width() - self.scope.sizeHint().width() - 8
        if not self.label.isHidden():
            room -= self.label.sizeHint().width()
        shown, brief = self._fitting(room, False), False
        if shown < min(len(parts), 2):
            shown, brief = self._fitting(room, True), True
        for index, button in enumerate(self.buttons):
            button.setVisible(index < shown)
            if index < shown:
                last = index == len(parts) - 1
                self._set_button(button, parts[index].text if last else f"{parts[index].text},", parts[index].members)
        rest = parts[shown:]
        self.more.setVisible(bool(rest))
        self._set_button(self.more, self._rest_text(shown, brief), "A menu of the other groups")

    def _fitting(self, room: int, brief: bool) -> int:
        """How many parts have room beside the menu of the others."""
        shown = min(len(self._parts), _PARTS)
        while shown and sum(self._widths(shown, brief)) > room:
            shown -= 1
        return shown

    def _rest_text(self, shown: int, brief: bool) -> str:
        """``24 more groups, 345 tiles``, in brief ``24 more``; unique tiles count as groups of one."""
        tiles = sum(len(part.tiles) for part in self._parts[shown:])
        alone = sum(len(part.tiles) - 1 for part in self._parts[shown:] if part.is_unique)
        groups = len(self._parts) - shown + alone
        if brief:
            return f"{groups:,} more"
        return f"{groups:,} more group{'' if groups == 1 else 's'}, {tiles:,} tile{'' if tiles == 1 else 's'}"

    def _widths(self, shown: int, brief: bool) -> list[int]:
        """What so many parts and the menu of the others would take."""
        metrics, edge = self.more.fontMetrics(), 12
        widths = [metrics.horizontalAdvance(f"{part.text},") + edge for part in self._parts[:shown]]
        if shown < len(self._parts):
            widths.append(metrics.horizontalAdvance(self._rest_text(shown, brief)) + edge + 12)
        return widths

    @staticmethod
    def _set_button(button: QToolButton, text: str, tip: str) -> None:
        if button.text() != text:
            button.setText(text)
        button.setToolTip(tip)
        button.setAccessibleName(f"Select {text.rstrip(',')}: {tip.partition(',')[0]}")
        button.setAccessibleDescription(tip)

    def _fill_menu(self) -> None:
        """Made when it is opened: there may be a thousand groups at every step."""
        self.menu.clear()
        shown = sum(not button.isHidden() for button in self.buttons)
        for index in range(shown, min(len(self._parts), shown + _MENU_ENTRIES)):
            action = self.menu.addAction(f"{self._parts[index].text}: {self._parts[index].members}")
            action.setData(index)
        left = len(self._parts) - shown - _MENU_ENTRIES
        if left > 0:
            self.menu.addAction(f"{left:,} smaller groups").setEnabled(False)

    def _clicked(self) -> None:
        sender = self.sender()
        if isinstance(sender, QToolButton) and sender in self.buttons:
            self._choose(self.buttons.index(sender))

    def _from_menu(self, action: QAction) -> None:
        if isinstance(action.data(), int):
            self._choose(action.data())

    def _choose(self, index: int) -> None:
        if index < len(self._parts):
            self.chosen.emit(self._parts[index].tiles)
