"""Help: the key sheet and the reference pages, both from ``resources``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, QUrl, Slot
from PySide6.QtGui import QAction, QImage, QResizeEvent, QTextBlockFormat, QTextCursor, QTextDocument
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QSplitter,
    QTextBrowser,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from tileview.qt.base.command import Actions
from tileview.qt.window.palette import with_synonyms
from tileview.resources import resource

PICTURE_WIDTH = 720
LEAST_PICTURE_WIDTH = 200
PAGE_ORDER = (
    "tour", "window", "glossary", "formats", "estimate", "placement", "command-line", "changes", "speed",
    "architecture",
)  # fmt: skip
"""Pages from the one to begin with to the one to look things up in; others follow by name."""

Section = tuple[str, list[tuple[str, str]]]
"""A title, and (keys, what they do) for each line."""


def view_sections() -> list[Section]:
    """The keys that work inside one view, from ``resources/keys``.

    One file a view: ``{"title": "Tiles", "keys": [["Arrows", "Move the current tile"], …]}``.
    """
    try:
        folder = resource("keys")
    except FileNotFoundError:
        return []
    sections = []
    for path in sorted(folder.glob("*.json")):
        raw = json.loads(path.read_text(encoding="utf-8"))
        sections.append((str(raw["title"]), [(str(keys), str(text)) for keys, text in raw["keys"]]))
    return sections


def action_sections(actions: Actions, more: Sequence[QAction] = ()) -> list[Section]:
    """The keys of the commands, by menu, and of the views' own actions."""
    sections: dict[str, list[tuple[str, str]]] = {}
    for command in actions.commands():
        keys = _keys(actions.action(command.name))
        if keys:
            text = command.tip or command.text.replace("&", "")
            sections.setdefault(command.menu, []).append((keys, text))
    for action in more:
        keys = _keys(action)
        if keys:
            sections.setdefault("Views", []).append((keys, action.statusTip() or action.text().replace("&", "")))
    return list(sections.items())


def _keys(action: QAction) -> str:
    return ", ".join(key.toString(key.SequenceFormat.NativeText) for key in action.shortcuts())


class KeySheet(QDialog):
    """All keys, with a field to search them."""

    def __init__(self, sections: Sequence[Section], parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("keys")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Keys")
        self.search = QLineEdit(self)
        self.search.setPlaceholderText("Search keys")
        self.search.setAccessibleName("Search keys")
        self.search.setClearButtonEnabled(True)
        self.tree = QTreeWidget(self)
        self.tree.setAccessibleName("Keys")
        self.tree.setHeaderLabels(["Key", "What it does"])
        self.tree.setAlternatingRowColors(True)
        self.tree.setRootIsDecorated(False)
        for title, lines in sections:
            top = QTreeWidgetItem(self.tree, [title, ""])
            font = top.font(0)
            font.setBold(True)
            top.setFont(0, font)
            top.setFirstColumnSpanned(True)
            for keys, text in lines:
                QTreeWidgetItem(top, [keys, text])
        self.tree.expandAll()
        self.tree.setColumnWidth(0, self.fontMetrics().averageCharWidth() * 28)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        for widget in (self.search, self.tree, buttons):
            column.addWidget(widget)
        self.search.textChanged.connect(self._filter)
        metrics = self.fontMetrics()
        self.resize(metrics.averageCharWidth() * 90, metrics.height() * 34)

    @Slot(str)
    def _filter(self, text: str) -> None:
        wanted = [words.strip().lower() for words in with_synonyms(text)]
        for index in range(self.tree.topLevelItemCount()):
            top = self.tree.topLevelItem(index)
            assert top is not None
            whole = any(words in top.text(0).lower() for words in wanted)
            shown = 0
            for row in range(top.childCount()):
                child = top.child(row)
                assert child is not None
                texts = (child.text(0).lower(), child.text(1).lower())
                hit = whole or any(words in one for words in wanted for one in texts)
                child.setHidden(not hit)
                shown += hit
            top.setHidden(shown == 0)


class Page(QTextBrowser):
    """A page of the reference with its pictures and lines of code, which are no wider than the page."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pictures: dict[str, QImage] = {}
        """Those of the page shown, as they are drawn on a screen of their own size, by name."""

    def show_markdown(self, text: str) -> None:
        """Show another page, from its top."""
        self._pictures.clear()
        self.document().setMarkdown(text, QTextDocument.MarkdownFeature.MarkdownDialectGitHub)
        self._wrap_code()
        self.moveCursor(self.textCursor().MoveOperation.Start)

    def _wrap_code(self) -> None:
        """Let lines of code wrap too: Qt gives them as much room as they want, and one has to scroll to and fro."""
        block = self.document().begin()
        while block.isValid():
            if block.blockFormat().nonBreakableLines():
                form = QTextBlockFormat()
                form.setNonBreakableLines(False)
                QTextCursor(block).mergeBlockFormat(form)
            block = block.next()

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        """Pictures come from the program's own resources and from nowhere else."""
        name = QUrl(name)
        if kind != QTextDocument.ResourceType.ImageResource.value or name.scheme():
            return None
        try:
            picture = QImage(str(resource("pictures", Path(name.path()).name)))
        except FileNotFoundError:
            return None
        self._pictures[name.toString()] = picture
        return self._fitted(picture)

    def _fitted(self, picture: QImage) -> QImage:
        room = self.viewport().width() - 2 * round(self.document().documentMargin())
        ratio = self.devicePixelRatioF()
        width = round(min(picture.width(), PICTURE_WIDTH, max(room, LEAST_PICTURE_WIDTH)) * ratio)
        fitted = picture.scaledToWidth(width, Qt.TransformationMode.SmoothTransformation)
        fitted.setDevicePixelRatio(ratio)
        return fitted

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._pictures and event.size().width() != event.oldSize().width():
            document = self.document()
            for name, picture in self._pictures.items():
                document.addResource(QTextDocument.ResourceType.ImageResource.value, QUrl(name), self._fitted(picture))
            document.markContentsDirty(0, document.characterCount())


class Reference(QDialog):
    """The pages under ``resources/reference``, a list of them, and a field to search in the page."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("reference")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowFlag(Qt.WindowType.WindowMaximizeButtonHint)
        self.setWindowTitle("Reference")
        self._pages = reference_pages()
        self.list = QListWidget(self)
        self.list.setAccessibleName("Pages")
        self.list.addItems([title for title, _ in self._pages])
        self.page = Page(self)
        self.page.setAccessibleName("Page")
        self.page.setOpenLinks(False)
        self.page.anchorClicked.connect(self._follow)
        self.search = QLineEdit(self)
        self.search.setPlaceholderText("Search in the page")
        self.search.setAccessibleName("Search in the page")
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._search_from_top)
        self.search.returnPressed.connect(self._search_on)
        splitter = QSplitter(Qt.Orientation.Horizontal, self)
        splitter.addWidget(self.list)
        splitter.addWidget(self.page)
        splitter.setStretchFactor(1, 1)
        metrics = self.fontMetrics()
        longest = max((metrics.horizontalAdvance(title) for title, _ in self._pages), default=0)
        splitter.setSizes([longest + 4 * metrics.averageCharWidth(), metrics.averageCharWidth() * 100])
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        row = QHBoxLayout()
        row.addWidget(self.search, 1)
        row.addWidget(buttons)
        column = QVBoxLayout(self)
        column.addWidget(splitter, 1)
        column.addLayout(row)
        self.list.currentRowChanged.connect(self._show)
        wide = longest + metrics.averageCharWidth() * 14 + PICTURE_WIDTH
        self.resize(min(wide, max(parent.width(), 400)), metrics.height() * 40)
        self.list.setCurrentRow(0)

    def show_page(self, name: str) -> None:
        """Show a page by the name of its file, without the ending."""
        for row, (_, path) in enumerate(self._pages):
            if path.stem == name:
                self.list.setCurrentRow(row)

    @Slot(int)
    def _show(self, row: int) -> None:
        if 0 <= row < len(self._pages):
            text = self._pages[row][1].read_text(encoding="utf-8")
            self.page.show_markdown(text)

    @Slot(QUrl)
    def _follow(self, url: QUrl) -> None:
        """Links lead to other pages only, never out of the program."""
        if url.scheme() == "":
            self.show_page(Path(url.path()).stem)

    @Slot()
    def _search_from_top(self) -> None:
        self.page.moveCursor(self.page.textCursor().MoveOperation.Start)
        self._search_on()

    @Slot()
    def _search_on(self) -> None:
        text = self.search.text()
        if text and not self.page.find(text):
            self.page.moveCursor(self.page.textCursor().MoveOperation.Start)
            self.page.find(text)


def _rank(name: str) -> int:
    return PAGE_ORDER.index(name) if name in PAGE_ORDER else len(PAGE_ORDER)


def reference_pages() -> list[tuple[str, Path]]:
    """The pages as (title, file); the title is the first heading."""
    try:
        folder = resource("reference")
    except FileNotFoundError:
        return []
    pages = []
    for path in sorted(folder.glob("*.md"), key=lambda path: (_rank(path.stem), path.name)):
        first = path.read_text(encoding="utf-8").split("\n", 1)[0]
        pages.append((first.lstrip("# ").strip() or path.stem, path))
    return pages
