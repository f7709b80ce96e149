"""Going places: the command palette, the go-to line, steps, peaks, operations and tiles by key."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Slot
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QDialog, QLabel, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from tileview.analysis.loads import peak_place
from tileview.analysis.overflows import next_place_over, steps_over
from tileview.model.graph import kind_name
from tileview.qt.base.command import Command
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.session.session import Selection, Session

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


MOST_PLACES = 100
"""Selections that are kept to walk back to."""
LEAP = 10
"""Steps that a step key moves with Shift held."""


@dataclass(frozen=True, slots=True)
class Destination:
    """Somewhere to go, as typed: ``kind`` is ``operation``, ``step`` or ``tile``."""

    kind: str
    number: int


def places_named(session: Session, text: str) -> list[tuple[Destination, str]]:
    """What a typed text can mean, the likeliest first, each with a line that describes it.

    ``step 12``, ``op 21``, ``tile 212``, ``L212`` and ``12`` (all three that exist), or part of an operation's kind.
    """
    words = text.strip().lower()
    if not words:
        return []
    match = re.fullmatch(r"(op|operation|o|step|s|tile|t|l)?\s*#?\s*([0-9]{1,9})", words)
    if match is None:
        return _operations_like(session, words)
    number = int(match.group(2))
    kinds = {"o": ["operation"], "s": ["step"], "t": ["tile"], "l": ["tile"]}.get(
        (match.group(1) or "")[:1], ["operation", "step", "tile"]
    )
    found = ((Destination(kind, number), _description(session, kind, number)) for kind in kinds)
    return [(place, line) for place, line in found if line is not None]


def _description(session: Session, kind: str, number: int) -> str | None:
    timeline = session.timeline
    if kind == "operation":
        return _operation_lines(session).get(number)
    if timeline is None:
        return None
    if kind == "step" and number < len(timeline.steps):
        return f"step {number} · {timeline.steps[number].kind}"
    if kind == "tile" and number < timeline.tile_count:
        return f"tile {number}"
    return None


def _operation_lines(session: Session) -> dict[int, str]:
    graph = session.graph
    if graph is not None:
        return {operation.id: f"op {operation.id} {kind_name(operation.kind)}" for operation, _ in graph.walk()}
    timeline = session.timeline
    if timeline is None:
        return {}
    return {step.source: f"op {step.source} {step.kind}" for step in timeline.steps if step.source is not None}


def _operations_like(session: Session, words: str) -> list[tuple[Destination, str]]:
    lines = sorted(_operation_lines(session).items())
    return [(Destination("operation", number), line) for number, line in lines if words in line.lower()][:200]


def go_to(session: Session, place: Destination) -> None:
    """Select a place; an operation takes its first step along."""
    timeline = session.timeline
    selection = session.selection
    if place.kind == "step":
        session.select_step(place.number)
    elif place.kind == "tile":
        session.select_tiles((place.number,))
    else:
        step = selection.step
        if timeline is not None:
            step = next((one.index for one in timeline.steps if one.source == place.number), step)
        session.select(replace(selection, operation=place.number, step=step, allocation=None))


class SelectionTrail:
    """The selections of one document in the order in which they were made, to walk back and forth.

    A walk from step to step is one place: only where it ended is kept.
    """

    def __init__(self) -> None:
        self._places: list[Selection] = []
        self._at = -1
        self._walks = False

    def clear(self) -> None:
        self._places, self._at, self._walks = [], -1, False

    def note(self, selection: Selection) -> None:
        """A selection was made; what lay ahead is forgotten."""
        if self._at >= 0:
            last = self._places[self._at]
            if selection == last:
                return
            is_walk = replace(last, step=selection.step) == selection
            if is_walk and self._walks:
                self._places[self._at :] = [selection]
                return
            self._walks = is_walk
        self._places[self._at + 1 :] = [selection]
        del self._places[:-MOST_PLACES]
        self._at = len(self._places) - 1

    def step(self, by: int) -> Selection | None:
        """The selection before (−1) or after (+1) the current one; None at an end."""
        place = self._at + by
        if not 0 <= place < len(self._places):
            return None
        self._at, self._walks = place, False
        return self._places[place]


class Navigator(QObject):
    """The commands of the Go menu."""

    def __init__(self, bridge: SessionSignals, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._trail = SelectionTrail()
        bridge.document_changed.connect(self._trail.clear)
        bridge.selection_changed.connect(self._note)

    @property
    def _session(self) -> Session:
        return self._bridge.session

    def commands(self) -> tuple[Command, ...]:
        """Step keys, peaks and over-budget steps."""
        there = self._has_steps
        return (
            Command("selection_back", "Selection bac&k", "Go", lambda _: self._walk(-1), ("Alt+Left",),
                    "The selection before this one", there, icon="previous"),
            Command("selection_on", "Selection for&ward", "Go", lambda _: self._walk(1), ("Alt+Right",),
                    "The selection after this one", there, icon="next"),
            Command("step_next", "&Next step", "Go", lambda _: self._move(1), ("Right",), "One step forward", there,
                    repeats=True, icon="next"),
            Command("step_previous", "&Previous step", "Go", lambda _: self._move(-1), ("Left",), "One step back",
                    there, repeats=True, icon="previous"),
            Command("step_leap", "&Ten steps forward", "Go", lambda _: self._move(LEAP), ("Shift+Right",),
                    "Ten steps forward", there, repeats=True),
            Command("step_leap_back", "Ten steps &back", "Go", lambda _: self._move(-LEAP), ("Shift+Left",),
                    "Ten steps back", there, repeats=True),
            Command("step_first", "&First step", "Go", lambda _: self._to(0), ("Home",), "The first step", there),
            Command("step_last", "&Last step", "Go", lambda _: self._to(-1), ("End",), "The last step", there),
            Command("peak_total", "Total p&eak", "Go", lambda _: self._to_peak("total"), ("P",),
                    "The step with the largest total, and the tile that reaches it", there, separator_before=True,
                    icon="peak"),
            Command("peak_standard", "&Standard peak", "Go", lambda _: self._to_peak("standard"),
                    ("Shift+S", "S"),
                    "The step with the most standard memory on a tile (S alone zooms out in pictures)", there),
            Command("peak_interleaved", "&Interleaved peak", "Go", lambda _: self._to_peak("interleaved"), ("I",),
                    "The step with the most interleaved memory on a tile", there),
            Command("over_next", "Next step &over the budget", "Go", lambda _: self._over_budget(1), ("N",),
                    "The next step that does not fit", there, repeats=True),
            Command("over_previous", "Pre&vious step over the budget", "Go", lambda _: self._over_budget(-1), ("B",),
                    "The previous step that does not fit", there, repeats=True),
        )  # fmt: skip

    @Slot()
    def _note(self) -> None:
        self._trail.note(self._session.selection)

    def _walk(self, by: int) -> None:
        selection = self._trail.step(by)
        if selection is None:
            self._bridge.message.emit(f"There is no selection {'before' if by < 0 else 'after'} this one.")
        else:
            self._session.select(selection)

    def _has_steps(self) -> bool:
        timeline = self._session.timeline
        return timeline is not None and bool(timeline.steps)

    def _move(self, by: int) -> None:
        self._session.select_step(max(0, (self._session.selection.step or 0) + by))

    def _to(self, step: int) -> None:
        timeline = self._session.timeline
        if timeline is not None:
            self._session.select_step(step if step >= 0 else len(timeline.steps) + step)

    def _to_peak(self, kind: str) -> None:
        """Go to a peak step, and to the tile that reaches it there."""
        timeline = self._session.timeline
        if timeline is None:
            return
        place = peak_place(timeline, {"total": "P", "standard": "S", "interleaved": "I"}[kind])
        if place is None:
            self._bridge.message.emit(f"The {kind} peak is not reached at a step of this timeline.")
            return
        self._session.select(replace(self._session.selection, step=place.step, tiles=(place.tile,)))

    def _over_budget(self, direction: int) -> None:
        timeline = self._session.timeline
        if timeline is None:
            return
        place = next_place_over(timeline, self._session.selection.step, direction > 0)
        if place is None:
            which = "later" if direction > 0 else "earlier"
            text = (
                f"No {which} step is over the budget." if steps_over(timeline).any() else "No step is over the budget."
            )
            self._bridge.message.emit(text)
            return
        self._session.select(replace(self._session.selection, step=place.step, tiles=(place.tile,)))
