"""The heads of the states that are compared: letter, name, verdict, and what can be done with each."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QMenu, QToolButton, QWidget

from tileview.core.fusion.verdict_words import verdict_words
from tileview.present.compare_rows import CompareState
from tileview.present.tables import outcome
from tileview.qt.base.theme import Theme
from tileview.qt.plot.picture import Part
from tileview.qt.plot.picture_parts import TitlePart
from tileview.qt.widgets.elided import ElidedLabel
from tileview.session.session import Pin


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
