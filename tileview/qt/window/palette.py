"""The command palette and the "go to" line: a field to type into, a list of what that can mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Slot
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QDialog, QLabel, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

SHOWN_LIMIT = 200


@dataclass(frozen=True, slots=True)
class PaletteEntry:
    """A line of the list. ``extra`` stands behind the text (menu, key), ``run`` is called after the dialog closed."""

    text: str
    extra: str
    run: Callable[[], object]
    enabled: bool = True
    tip: str = ""


SYNONYMS = {
    "address": "address map", "chart": "timeline", "curve": "timeline", "diff": "compare", "explain": "why",
    "heat": "tiles", "heatmap": "tiles", "help": "reference", "history": "selection", "hotkeys": "keys",
    "map": "tiles", "memory": "allocations", "peak": "peak", "plans": "alternatives", "save": "export",
    "search": "find", "settings": "theme", "shortcuts": "keys", "solve": "fix", "zoom": "show all",
}  # fmt: skip
"""Words that people look for, and what it is called here."""


def with_synonyms(query: str) -> list[str]:
    """A query, and the same in the words of this program."""
    own = SYNONYMS.get(query.strip().lower())
    return [query] if own is None or own == query.strip().lower() else [query, own]


def rank(query: str, text: str) -> int | None:
    """How well a text answers a query: smaller is better, None where it does not at all.

    All words of the query must occur (at a word's start before anywhere), or its letters in order.
    """
    words, low = query.lower().split(), text.lower()
    if not words:
        return 0
    positions = [low.find(word) for word in words]
    if all(position >= 0 for position in positions):
        starts = sum(1 for word in words if low.startswith(word) or f" {word}" in low)
        return 10 * (len(words) - starts) + min(min(positions), 9)
    rest = iter(low)
    letters = "".join(words)
    return 1000 + len(low) if all(letter in rest for letter in letters) else None


class Chooser(QDialog):
    """A line edit above a list; Enter runs the current entry, the arrows move in the list while typing goes on."""

    def __init__(self, title: str, placeholder: str, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self._over = parent
        self.setObjectName("chooser")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.line = QLineEdit(self)
        self.line.setPlaceholderText(placeholder)
        self.line.setAccessibleName(title)
        self.line.setClearButtonEnabled(True)
        self.list = QListWidget(self)
        self.list.setAccessibleName(f"{title}: matches")
        self.list.setUniformItemSizes(True)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._hint = QLabel(self)
        self._hint.setTextFormat(Qt.TextFormat.PlainText)
        self._hint.setMinimumWidth(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 8, 8, 6)
        column.addWidget(self.line)
        column.addWidget(self.list)
        column.addWidget(self._hint)
        self._entries: list[PaletteEntry] = []
        self.line.textChanged.connect(self.refresh)
        self.line.installEventFilter(self)
        self.list.itemClicked.connect(self._on_clicked)
        self.list.currentRowChanged.connect(self._on_row)

    def matches(self, query: str) -> Sequence[PaletteEntry]:
        """What the query can mean, best first."""
        raise NotImplementedError

    def start(self) -> None:
        """Show the dialog at the top of its parent."""
        window = self._over
        width = min(max(window.width() * 2 // 5, self.fontMetrics().averageCharWidth() * 60), window.width() - 40)
        self.resize(width, min(window.height() * 3 // 5, self.fontMetrics().height() * 24))
        corner = window.mapToGlobal(QPoint((window.width() - width) // 2, window.height() // 10))
        self.move(corner)
        self.refresh()
        self.show()
        self.line.setFocus(Qt.FocusReason.PopupFocusReason)

    @Slot()
    def refresh(self) -> None:
        self._entries = list(self.matches(self.line.text()))[:SHOWN_LIMIT]
        self.list.clear()
        for entry in self._entries:
            item = QListWidgetItem(f"{entry.text}    {entry.extra}" if entry.extra else entry.text)
            if not entry.enabled:
                item.setFlags(Qt.ItemFlag.NoItemFlags)
            self.list.addItem(item)
        first = next((row for row, entry in enumerate(self._entries) if entry.enabled), -1)
        self.list.setCurrentRow(first)
        if not self._entries:
            self._hint.setText("Nothing matches." if self.line.text().strip() else self.line.placeholderText())

    @Slot(int)
    def _on_row(self, row: int) -> None:
        self._hint.setText(self._entries[row].tip if 0 <= row < len(self._entries) else "")

    @Slot(QListWidgetItem)
    def _on_clicked(self, item: QListWidgetItem) -> None:
        self._run(self.list.row(item))

    def _run(self, row: int) -> None:
        if 0 <= row < len(self._entries) and self._entries[row].enabled:
            run = self._entries[row].run
            self.close()
            run()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.line and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            key = event.key()
            if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._run(self.list.currentRow())
                return True
            if key in (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
                self._step({Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -10}.get(Qt.Key(key), 10))
                return True
        return super().eventFilter(watched, event)

    def _step(self, by: int) -> None:
        """Move in the list over what cannot run."""
        row, step, left = self.list.currentRow(), (1 if by > 0 else -1), abs(by)
        last = row
        while left > 0 and 0 <= row + step < len(self._entries):
            row += step
            if self._entries[row].enabled:
                last, left = row, left - 1
        self.list.setCurrentRow(last)


class CommandPalette(Chooser):
    """Every action of the window, found by typing."""

    def __init__(self, entries: Sequence[PaletteEntry], parent: QWidget) -> None:
        super().__init__("All commands", "Type a command", parent)
        self._all = list(entries)

    def matches(self, query: str) -> Sequence[PaletteEntry]:
        """Best first; the bare name of a view goes to it, whatever commands begin with the same word."""
        going = f"go to {query.strip().lower()}"
        found = []
        for index, entry in enumerate(self._all):
            orders = [rank(words, f"{entry.text} {entry.extra}") for words in with_synonyms(query)]
            order = -1 if entry.text.lower() == going else min((one for one in orders if one is not None), default=None)
            if order is not None:
                found.append((order, not entry.enabled, index))
        found.sort()
        return [self._all[index] for _, _, index in found]


class GoTo(Chooser):
    """An operation, a step or a tile by number or name."""

    def __init__(self, find: Callable[[str], Sequence[PaletteEntry]], parent: QWidget) -> None:
        super().__init__("Go to operation, step or tile", "op 21, step 12, tile 212, or a kind such as Gemm", parent)
        self._find = find

    def matches(self, query: str) -> Sequence[PaletteEntry]:
        return self._find(query)


def entry_of(action: QAction, menu: str, tip: str = "", before: str = "") -> PaletteEntry:
    """An action as a line of the palette; ``before`` stands before its text."""
    text = before + action.text().replace("&&", "\0").replace("&", "").replace("\0", "&")
    keys = ", ".join(key.toString(key.SequenceFormat.NativeText) for key in action.shortcuts())
    state = " (on)" if action.isCheckable() and action.isChecked() else ""
    extra = " · ".join(part for part in (menu, keys) if part)
    return PaletteEntry(f"{text}{state}", extra, action.trigger, action.isEnabled(), tip or action.statusTip())
