"""The page that stands in the window while nothing is open: open, recent files, samples."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from tileview.qt.base.text import plain_tip
from tileview.qt.base.theme import Theme, icon, program_icon
from tileview.qt.widgets.dialogs import plain_label


class FileList(QListWidget):
    """Files by name, their folder behind; files that are gone cannot be chosen."""

    chosen = Signal(object)

    def __init__(self, title: str, with_folder: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._with_folder = with_folder
        self.setAccessibleName(title)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.itemActivated.connect(self._on_item)
        self.itemClicked.connect(self._on_item)

    def show_files(self, paths: Sequence[Path]) -> None:
        self.clear()
        for path in paths:
            gone = not path.exists()
            where = f"    {path.parent}" if self._with_folder else ""
            item = QListWidgetItem(f"{path.name}{' (missing)' if gone else ''}{where}")
            item.setData(Qt.ItemDataRole.UserRole, str(path))
            item.setToolTip(plain_tip(str(path)))
            if gone:
                item.setFlags(Qt.ItemFlag.NoItemFlags)
            self.addItem(item)
        if self.count():
            self.setCurrentRow(0)

    @Slot(QListWidgetItem)
    def _on_item(self, item: QListWidgetItem) -> None:
        self.chosen.emit(Path(str(item.data(Qt.ItemDataRole.UserRole))))

    def sizeHint(self) -> QSize:
        return QSize(self.fontMetrics().averageCharWidth() * 44, self.fontMetrics().height() * 9)


class Welcome(QWidget):
    """Says what can be opened, and opens it."""

    open_asked = Signal()
    path_chosen = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("welcome")
        page = QWidget(self)
        page.setMaximumWidth(self.fontMetrics().averageCharWidth() * 110)
        outer = QHBoxLayout(self)
        outer.addStretch(1)
        outer.addWidget(page, 8)
        outer.addStretch(1)
        column = QVBoxLayout(page)
        column.setSpacing(self.fontMetrics().height() // 2)
        column.addStretch(1)
        column.addLayout(self._heading())
        column.addWidget(
            plain_label(
                "Open a recipe (search state, version 6, 7 or 8) or a memory timeline (version 1, 2 or 3), or drop "
                "files or a folder of dumps here. The window then says whether the program fits, what overflowed "
                "where and why, and which alternatives would make it fit.",
                self,
            )
        )
        self.open_button = QPushButton("Open…", self)
        self.open_button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.open_button.clicked.connect(self.open_asked)
        column.addWidget(self.open_button)
        lists = QHBoxLayout()
        self.recent = self._list(lists, "Recent files", with_folder=True)
        self.samples = self._list(lists, "Samples", with_folder=False)
        column.addLayout(lists)
        column.addStretch(2)
        self.set_theme(theme)

    def _heading(self) -> QHBoxLayout:
        row = QHBoxLayout()
        sign = QLabel(self)
        size = self.fontMetrics().height() * 3
        sign.setPixmap(program_icon().pixmap(QSize(size, size), self.devicePixelRatioF()))
        row.addWidget(sign)
        title = QLabel("TileView", self)
        font = title.font()
        font.setPointSizeF(font.pointSizeF() * 2)
        font.setBold(True)
        title.setFont(font)
        row.addWidget(title, 1)
        return row

    def _list(self, row: QHBoxLayout, title: str, with_folder: bool) -> FileList:
        column = QVBoxLayout()
        label = QLabel(title, self)
        files = FileList(title, with_folder, self)
        label.setBuddy(files)
        files.chosen.connect(self.path_chosen)
        column.addWidget(label)
        column.addWidget(files)
        row.addLayout(column, 1)
        return files

    def set_theme(self, theme: Theme) -> None:
        self.open_button.setIcon(icon("open", theme))

    def show_files(self, recent: Sequence[Path], samples: Sequence[Path]) -> None:
        self.recent.show_files(recent)
        self.samples.show_files(samples)
