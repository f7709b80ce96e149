"""A folder of dumps as a list: each file with its verdict, worked out in a process, as they come in."""

from __future__ import annotations

import re
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget

from tileview.qt.icons import icon
from tileview.qt.processes import Task, Worker
from tileview.qt.text import plain_tip
from tileview.qt.theme import Theme

FILE_LIMIT = 5000
COLUMNS = ("File", "Scope", "Kind", "Verdict", "Peak", "Why")
_NAME = re.compile(r"(?P<scope>.+)-(?P<pid>[0-9]+)-(?P<serial>[0-9]+)\.json", re.DOTALL)


def dumps_in(folder: Path) -> list[Path]:
    """The JSON files of a folder: dumps named SCOPE-PID-SERIAL.json by process and serial, then the others by name."""
    try:
        files = [path for path in folder.iterdir() if path.suffix == ".json" and path.is_file()]
    except OSError:
        return []

    def order(path: Path) -> tuple[int, int, int, str]:
        match = _NAME.fullmatch(path.name)
        if match is None:
            return 1, 0, 0, path.name
        return 0, int(match["pid"][:18]), int(match["serial"][:18]), path.name

    return sorted(files, key=order)[:FILE_LIMIT]


def scope_of(path: Path) -> str:
    """``rejected-op0`` of ``rejected-op0-4711-2.json``; empty for other names."""
    match = _NAME.fullmatch(path.name)
    return "" if match is None else match["scope"]


class FolderDialog(QDialog):
    """The list; Enter or a double click opens a file. Closing it ends the work."""

    chosen = Signal(object)

    def __init__(self, folder: Path, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("folder")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(f"Dumps in {folder.name}")
        self._theme = theme
        self._paths = dumps_in(folder)
        self._tasks: dict[Task, int] = {}
        self._done = 0
        self._fitting = 0
        self.tree = QTreeWidget(self)
        self.tree.setHeaderLabels(list(COLUMNS))
        self.tree.setRootIsDecorated(False)
        self.tree.setUniformRowHeights(True)
        self.tree.setAlternatingRowColors(True)
        self.tree.setAccessibleName("Dumps with their verdicts")
        self.tree.itemActivated.connect(self._on_item)
        for path in self._paths:
            item = QTreeWidgetItem([path.name, scope_of(path), "", "waiting", "", ""])
            item.setToolTip(0, plain_tip(str(path)))
            self.tree.addTopLevelItem(item)
        self._count = QLabel(self)
        self._count.setTextFormat(Qt.TextFormat.PlainText)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        self.open_button = buttons.addButton("&Open", QDialogButtonBox.ButtonRole.ActionRole)
        self.open_button.clicked.connect(self._open_current)
        column = QVBoxLayout(self)
        for widget in (self._count, self.tree, buttons):
            column.addWidget(widget)
        metrics = self.fontMetrics()
        self.resize(metrics.averageCharWidth() * 150, metrics.height() * 30)
        for index, width in enumerate((34, 18, 12, 20, 28, 60)):
            self.tree.setColumnWidth(index, metrics.averageCharWidth() * width)
        self._worker = Worker(self)
        self._worker.ended.connect(self._on_ended)
        for row, path in enumerate(self._paths):
            task = Task("verdict", str(path), harmless_to_kill=True)
            self._tasks[task] = row
            self._worker.submit(task)
        first = self.tree.topLevelItem(0)
        if first is not None:
            self.tree.setCurrentItem(first)
        self._say()

    def _say(self) -> None:
        count = len(self._paths)
        if count == 0:
            self._count.setText("There is no JSON file in this folder.")
        else:
            self._count.setText(f"{self._done:,} of {count:,} files looked at, {self._fitting:,} fit.")

    @Slot(object, str, object)
    def _on_ended(self, task: Task, outcome: str, payload: object) -> None:
        row = self._tasks.pop(task)
        item = self.tree.topLevelItem(row)
        assert item is not None
        self._done += 1
        if outcome == "done" and isinstance(payload, tuple):
            kind, fits, text, peak = payload
            self._fitting += bool(fits)
            cells, sign, token = (
                (kind, "fits" if fits else "does not fit", peak, text),
                *(("fits", "ok") if fits else ("over", "over")),
            )
        else:
            reason = payload[0] if isinstance(payload, tuple) else str(payload or outcome)
            cells, sign, token = ("", "cannot be read", "", reason), "unavailable", "unavailable"
        for index, cell in enumerate(cells, start=2):
            item.setText(index, " ".join(str(cell).split()))
        item.setToolTip(5, plain_tip(str(cells[3])))
        item.setIcon(3, icon(sign, self._theme, token))
        self._say()

    @Slot(QTreeWidgetItem)
    def _on_item(self, item: QTreeWidgetItem) -> None:
        path = self._paths[self.tree.indexOfTopLevelItem(item)]
        self.close()
        self.chosen.emit(path)

    @Slot()
    def _open_current(self) -> None:
        item = self.tree.currentItem()
        if item is not None:
            self._on_item(item)

    def done(self, result: int) -> None:
        self._worker.close()
        super().done(result)

    def closeEvent(self, event: QCloseEvent) -> None:
        self._worker.close()
        super().closeEvent(event)
