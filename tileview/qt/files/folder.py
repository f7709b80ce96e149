"""Dumps as a list, those of a folder or many named at once: each with its verdict, worked out in a process."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from tileview.analysis.placement import StepWords
from tileview.analysis.words import counted
from tileview.model.sizes import exact_text, kib_text
from tileview.present.tables import outcome as shown_as
from tileview.qt.base.text import plain_tip
from tileview.qt.base.theme import Theme, icon
from tileview.qt.jobs.runner import Job, Runner, failure_of
from tileview.qt.views.base import allow
from tileview.qt.widgets.dialogs import LOGGER

FILE_LIMIT = 5000
COLUMNS = ("File", "Scope", "Kind", "Verdict", "Peak", "Placement", "Process", "Over by", "Why")
PLACEMENT = COLUMNS.index("Placement")
_WIDTHS = (31, 12, 18, 19, 14, 24, 9, 14, 34)
"""Of the columns, in characters."""
_UNREAD = "cannot be read"
_WORDS = {
    True: ("fits", "fit"),
    False: ("does not fit", "do not fit"),
    None: ("not known", "not known"),
    _UNREAD: (_UNREAD, _UNREAD),
}
"""What files are counted by in the line above the list: of one, of several."""
_NAME = re.compile(r"(?P<scope>.+)-(?P<pid>[0-9]+)-(?P<serial>[0-9]+)\.json", re.DOTALL)
_PLACEMENT = re.compile(r"placement-(?P<pid>[0-9]+)\.json")
_TILE = re.compile(r"tile-(?P<tile>[0-9]+)-[0-9a-fA-F]{16}\.json")


def dumps_in(folder: Path) -> list[Path]:
    """The JSON files of a folder: by process the dumps SCOPE-PID-SERIAL.json by serial, then its placement profile
    placement-PID.json; then tile dumps tile-T-HASH.json by tile, which name no process; then the others by name.

    Raises
    ------
    OSError
        Where the folder cannot be listed.
    """
    files = [path for path in folder.iterdir() if path.suffix == ".json" and path.is_file()]

    def order(path: Path) -> tuple[int, int, int, str]:
        if tile := _TILE.fullmatch(path.name):
            return 1, int(tile["tile"][:18]), 0, path.name
        if placement := _PLACEMENT.fullmatch(path.name):
            return 0, int(placement["pid"][:18]), 10**18, path.name
        if match := _NAME.fullmatch(path.name):
            return 0, int(match["pid"][:18]), int(match["serial"][:18]), path.name
        return 2, 0, 0, path.name

    return sorted(files, key=order)


def scope_in_name(path: Path) -> str:
    """``rejected-op0`` of ``rejected-op0-4711-2.json``, ``tile 612`` of a tile dump; empty for other names."""
    if tile := _TILE.fullmatch(path.name):
        return f"tile {int(tile['tile'])}"
    match = _NAME.fullmatch(path.name)
    return "" if match is None else match["scope"]


def process_of(path: Path) -> str:
    """The process that wrote a dump, by which timelines and a placement profile belong together; empty where its name
    does not say."""
    if _TILE.fullmatch(path.name):
        return ""
    match = _PLACEMENT.fullmatch(path.name) or _NAME.fullmatch(path.name)
    return "" if match is None else match["pid"]


class _Row(QTreeWidgetItem):
    """A file of the list; sorts by the place it was given (no column), by bytes, or by text."""

    def __init__(self, place: int, path: Path) -> None:
        super().__init__([path.name, scope_in_name(path), "", "waiting", "", "", process_of(path), "", ""])
        self.place, self.path = place, path
        self.peak = self.over = -1

    def __lt__(self, other: QTreeWidgetItem) -> bool:
        tree = self.treeWidget()
        column = -1 if tree is None else tree.sortColumn()
        if not isinstance(other, _Row) or column < 0 or COLUMNS[column] == "File":
            return self.place < getattr(other, "place", 0)
        if COLUMNS[column] == "Peak":
            return (self.peak, self.place) < (other.peak, other.place)
        if COLUMNS[column] == "Over by":
            return (self.over, self.place) < (other.over, other.place)
        return (self.text(column), self.place) < (other.text(column), other.place)


class FolderDialog(QDialog):
    """The list; Enter or a double click opens a file, a click on a header or the box above sorts.

    Closing it ends the work; whoever opens a file from it hides it, so that one can come back.
    """

    chosen = Signal(object)
    together = Signal(object)
    """Paths to be opened as one: a program first, what belongs to it beside it."""

    def __init__(self, source: Path | Sequence[Path], theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("folder")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._theme = theme
        found, self._trouble = self._list(source)
        self._paths = found[:FILE_LIMIT]
        self._left_out = len(found) - len(self._paths)
        self._jobs: dict[Job, _Row] = {}
        self._done = 0
        self._counts = dict.fromkeys(_WORDS, 0)
        self.tree = QTreeWidget(self)
        self.tree.setHeaderLabels(list(COLUMNS))
        self.tree.setRootIsDecorated(False)
        self.tree.setUniformRowHeights(True)
        self.tree.setAlternatingRowColors(True)
        self.tree.setSelectionMode(QTreeWidget.SelectionMode.ExtendedSelection)
        self.tree.setAccessibleName("Dumps with their verdicts")
        self.tree.itemActivated.connect(self._on_item)
        rows = [_Row(place, path) for place, path in enumerate(self._paths)]
        for row in rows:
            row.setToolTip(0, plain_tip(str(row.path)))
        self.tree.addTopLevelItems(rows)
        header = self.tree.header()
        header.setSectionsClickable(True)
        header.setSortIndicatorShown(True)
        header.setSortIndicator(0, Qt.SortOrder.AscendingOrder)
        header.sortIndicatorChanged.connect(self._sort)
        header.moveSection(COLUMNS.index("Over by"), COLUMNS.index("Verdict") + 1)
        self._make_sorting()
        self.count_label = QLabel(self)
        self.count_label.setTextFormat(Qt.TextFormat.PlainText)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        self.together_button = buttons.addButton("Open &together", QDialogButtonBox.ButtonRole.ActionRole)
        self.together_button.setToolTip("Open the selected files as one, or a file with the others of its process")
        self.together_button.clicked.connect(self._open_together)
        self.compare_button = buttons.addButton("&Compare selected", QDialogButtonBox.ButtonRole.ActionRole)
        self.compare_button.clicked.connect(self._compare_selected)
        self.tree.itemSelectionChanged.connect(self._allow_compare)
        self._allow_compare()
        self.open_button = buttons.addButton("&Open", QDialogButtonBox.ButtonRole.ActionRole)
        self.open_button.clicked.connect(self._open_current)
        column = QVBoxLayout(self)
        top = QHBoxLayout()
        top.addWidget(self.count_label, 1)
        top.addWidget(self._sort_label)
        top.addWidget(self.sort_box)
        top.addWidget(self.down_check)
        column.addLayout(top)
        column.addWidget(self.tree)
        column.addWidget(buttons)
        metrics = self.fontMetrics()
        self.resize(metrics.averageCharWidth() * (sum(_WIDTHS) + 6), metrics.height() * 30)
        for index, width in enumerate(_WIDTHS):
            self.tree.setColumnWidth(index, metrics.averageCharWidth() * width)
        for name in ("Scope", "Process"):
            place = COLUMNS.index(name)
            self.tree.setColumnHidden(place, not any(row.text(place) for row in rows))
        self._runner = Runner(self)
        self._runner.part.connect(self._on_part)
        self._runner.ended.connect(self._on_ended)
        for row in rows:
            job = Job("verdict", str(row.path), may_kill=True)
            self._jobs[job] = row
            self._runner.submit(job)
        first = self.tree.topLevelItem(0)
        if first is not None:
            self.tree.setCurrentItem(first)
        self.tree.setFocus()
        self._say()

    def _make_sorting(self) -> None:
        """What clicks on the header do, for the keyboard."""
        self.sort_box = QComboBox(self)
        self.sort_box.setAccessibleName("Sort by")
        self.sort_box.addItems(list(COLUMNS))
        self._sort_label = QLabel("&Sort by", self)
        self._sort_label.setBuddy(self.sort_box)
        self.down_check = QCheckBox("&Descending", self)
        self.down_check.setAccessibleName("Sort in descending order")
        self.sort_box.currentIndexChanged.connect(self._sort_chosen)
        self.down_check.toggled.connect(self._sort_chosen)

    @Slot()
    def _sort_chosen(self) -> None:
        order = Qt.SortOrder.DescendingOrder if self.down_check.isChecked() else Qt.SortOrder.AscendingOrder
        self.tree.header().setSortIndicator(self.sort_box.currentIndex(), order)

    def _list(self, source: Path | Sequence[Path]) -> tuple[list[Path], str]:
        """The files of a folder in their order, files named in that in which they were; and why there are none."""
        if not isinstance(source, Path):
            self.setWindowTitle(f"{len(source):,} dumps")
            return list(dict.fromkeys(path.absolute() for path in source)), ""
        self.setWindowTitle(f"Dumps in {source.name}")
        try:
            return dumps_in(source), ""
        except OSError as error:
            return [], f"{source} cannot be listed: {error.strerror or error}."

    def _say(self) -> None:
        count = len(self._paths)
        if count == 0:
            self.count_label.setText(self._trouble or "There is no JSON file in this folder.")
            return
        left = f" {self._left_out:,} further files are not listed." if self._left_out else ""
        found = ", ".join(counted(number, *_WORDS[key]) for key, number in self._counts.items() if number)
        told = f": {found}" if found else ""
        self.count_label.setText(f"{self._done:,} of {count:,} files checked{told}.{left}")

    @Slot(object, object)
    def _on_part(self, job: Job, payload: tuple[str, bool | None, str, str, str, int, int]) -> None:
        """The verdict by the sum, before the file is placed."""
        item = self._jobs[job]
        kind, fits, words, text, peak, item.peak, item.over = payload
        for name, size in (("Over by", item.over), ("Peak", item.peak)):
            item.setToolTip(COLUMNS.index(name), exact_text(size) if size >= 0 else "")
        item.setText(COLUMNS.index("Over by"), kib_text(item.over) if item.over > 0 else "")
        self._counts[fits] += 1
        self._show(item, (kind, words, peak, "placing…", text), shown_as(fits)[1], str(shown_as(fits)[2]))

    @Slot(object, str, object)
    def _on_ended(self, job: Job, outcome: str, payload: object) -> None:
        item = self._jobs.pop(job)
        self._done += 1
        if outcome == "done" and isinstance(payload, StepWords):
            item.setText(PLACEMENT, payload.steps[2].text)
            item.setToolTip(PLACEMENT, plain_tip("\n".join(payload.lines)))
        elif outcome == "done":
            item.setText(PLACEMENT, item.text(COLUMNS.index("Verdict")))
        elif outcome != "done":
            reason, details = failure_of(outcome, payload)
            if details:
                LOGGER.error("%s: %s\n%s", item.path, reason, details)
            self._counts[_UNREAD] += 1
            self._show(item, ("", _UNREAD, "", "", reason), "unavailable", "unavailable")
        self._say()

    def _show(self, item: _Row, cells: tuple[str, ...], sign: str, token: str) -> None:
        for name, cell in zip(("Kind", "Verdict", "Peak", "Placement", "Why"), cells, strict=True):
            item.setText(COLUMNS.index(name), " ".join(str(cell).split()))
        item.setToolTip(COLUMNS.index("Why"), plain_tip(cells[-1]))
        item.setIcon(3, icon(sign, self._theme, token))

    @Slot(int, Qt.SortOrder)
    def _sort(self, column: int, order: Qt.SortOrder) -> None:
        """Once, on a click: rows that moved whenever a file has been looked at would be hard to follow, and slow."""
        self.tree.sortItems(column, order)
        with QSignalBlocker(self.sort_box), QSignalBlocker(self.down_check):
            self.sort_box.setCurrentIndex(column)
            self.down_check.setChecked(order == Qt.SortOrder.DescendingOrder)
        current = self.tree.currentItem()
        if current is not None:
            self.tree.scrollToItem(current)

    @Slot(QTreeWidgetItem)
    def _on_item(self, item: QTreeWidgetItem) -> None:
        if isinstance(item, _Row):
            self.chosen.emit(item.path)

    @Slot()
    def _open_current(self) -> None:
        item = self.tree.currentItem()
        if item is not None:
            self._on_item(item)

    def belonging(self) -> list[Path]:
        """The selected files where there are several; else the current one, and of its process the file first in the
        list and the placement profile."""
        chosen = [item.path for item in self.tree.selectedItems() if isinstance(item, _Row)]
        if len(chosen) != 1 or not process_of(chosen[0]):
            return chosen
        same = [path for path in self._paths if process_of(path) == process_of(chosen[0])]
        beside = [path for path in same if _PLACEMENT.fullmatch(path.name)] or same[:1]
        if chosen[0] in beside:
            return [path for path in same[:1] if path not in beside] + chosen
        return [*chosen, *(path for path in beside if path != chosen[0])]

    def _selected(self) -> list[Path]:
        """The selected files, in the order of the list."""
        chosen = (self.tree.topLevelItem(row) for row in range(self.tree.topLevelItemCount()))
        return [item.path for item in chosen if isinstance(item, _Row) and item.isSelected()]

    @Slot()
    def _allow_compare(self) -> None:
        reason = "" if len(self.tree.selectedItems()) > 1 else "Select two files or more, with Ctrl or Shift"
        allow(self.compare_button, "Open the first of the selected files and the others beside it in Compare", reason)

    @Slot()
    def _compare_selected(self) -> None:
        self.together.emit(self._selected())

    @Slot()
    def _open_together(self) -> None:
        paths = self.belonging()
        if paths:
            self.together.emit(paths)

    def done(self, result: int) -> None:
        self._runner.close()
        super().done(result)

    def closeEvent(self, event: QCloseEvent) -> None:
        self._runner.close()
        super().closeEvent(event)
