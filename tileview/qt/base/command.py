"""Commands: every action of the window by name, with its text, keys and the condition under which it can run.

Menus, the command palette, the key sheet and what views ask for by name all read the same list, so a command is written
down once, in the room that does what it says.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence

Slot = Callable[[object], object]
Condition = Callable[[], bool]

MENUS = ("File", "Edit", "View", "Go", "Plan", "Help")
"""The menus from left to right; every command names one of them."""


def always() -> bool:
    """The condition of a command that can run at any time."""
    return True


@dataclass(frozen=True, slots=True)
class Command:
    """One thing that the window can do.

    ``slot`` takes the argument that a view gave, None where the command comes from a menu or a key. ``keys``
    are portable key sequences, the first one is shown in the menu. ``tip`` is the sentence in the status bar, the
    palette and the key sheet. ``in_menu`` False keeps a command out of the menu bar (submenus place theirs by hand).
    ``repeats`` lets a held key repeat it. ``checked`` says whether a command that switches something is on; None for
    all others.
    """

    name: str
    text: str
    menu: str
    slot: Slot
    keys: tuple[str, ...] = ()
    tip: str = ""
    condition: Condition = always
    in_menu: bool = True
    separator_before: bool = False
    repeats: bool = False
    icon: str = ""
    checked: Condition | None = None


def with_mnemonics(texts: Sequence[str], taken: str = "") -> list[str]:
    """Texts with an ampersand before a letter that no other has: of a word's beginning, else any; none is left out."""
    used = set(taken.lower())
    marked = []
    for text in texts:
        starts = [place for place, char in enumerate(text) if place == 0 or text[place - 1] == " "]
        places = [*starts, *range(len(text))]
        place = next((one for one in places if text[one].isalpha() and text[one].lower() not in used), None)
        if place is not None:
            used.add(text[place].lower())
        plain = [char.replace("&", "&&") for char in text]
        marked.append("".join(plain if place is None else [*plain[:place], "&", *plain[place:]]))
    return marked


class Actions(QObject):
    """All commands of one window, as QActions."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._commands: dict[str, Command] = {}
        self._actions: dict[str, QAction] = {}

    def add(self, commands: Iterable[Command]) -> None:
        """Make the actions of some commands; a name can be taken only once."""
        for command in commands:
            if command.name in self._commands:
                raise ValueError(f"command {command.name} is there twice")
            action = QAction(command.text, self)
            action.setObjectName(f"command.{command.name}")
            action.setShortcuts([QKeySequence(key) for key in command.keys])
            action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
            action.setAutoRepeat(command.repeats)
            action.setStatusTip(command.tip)
            action.setProperty("command", command.name)
            action.setCheckable(command.checked is not None)
            action.triggered.connect(self._triggered)
            self._commands[command.name] = command
            self._actions[command.name] = action

    def _triggered(self) -> None:
        sender = self.sender()
        if isinstance(sender, QAction):
            self.run(str(sender.property("command")), None)

    def run(self, name: str, argument: object = None) -> bool:
        """Run a command; False where it is unknown or its condition does not hold."""
        command = self._commands.get(name)
        if command is None or not command.condition():
            return False
        command.slot(argument)
        return True

    def give_way(self, taken: Collection[QKeySequence]) -> None:
        """Take these keys off the window's actions, and give back those that were taken off before.

        Where a focused widget has an action of its own on a key, Qt would find the key ambiguous and run neither.
        """
        for name, command in self._commands.items():
            keys = [QKeySequence(key) for key in command.keys]
            left = [key for key in keys if key not in taken]
            if self._actions[name].shortcuts() != left:
                self._actions[name].setShortcuts(left)

    def refresh(self) -> None:
        """Enable what can run now, check what is on."""
        for name, command in self._commands.items():
            self._actions[name].setEnabled(command.condition())
            if command.checked is not None:
                self._actions[name].setChecked(command.checked())

    def action(self, name: str) -> QAction:
        return self._actions[name]

    def command(self, name: str) -> Command:
        return self._commands[name]

    def commands(self) -> tuple[Command, ...]:
        """All commands, in the order in which they were added."""
        return tuple(self._commands.values())
