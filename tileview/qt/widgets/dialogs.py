"""Small dialogs: an error with its details, the question about unsaved edits, About."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from enum import Enum

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import (
    QAbstractButton,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QMessageBox,
    QPlainTextEdit,
    QPushButton,
    QStyle,
    QVBoxLayout,
    QWidget,
)

from tileview.formats.sniff import SUPPORTED, TITLES
from tileview.qt.base.text import cut_words

LOGGER = logging.getLogger("tileview.window")
"""Faults go here; :class:`tileview.qt.window.faults.FaultHandler` gives it a file."""
_FAULT = "fault"


def plain_label(text: str, parent: QWidget | None = None) -> QLabel:
    """A label that shows a text as it is (names from files may look like HTML), wraps it and lets it be copied."""
    label = QLabel(parent)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setText(cut_words(text))
    label.setWordWrap(True)
    label.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    return label


class ErrorDialog(QDialog):
    """A sentence, the details behind a button, and a way to copy both."""

    def __init__(self, title: str, summary: str, details: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("error")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self._summary = summary
        self._details = details
        self._more = 0
        row = QHBoxLayout()
        sign = QLabel(self)
        picture = self.style().standardIcon(QStyle.StandardPixmap.SP_MessageBoxCritical)
        sign.setPixmap(picture.pixmap(self.style().pixelMetric(QStyle.PixelMetric.PM_MessageBoxIconSize)))
        row.addWidget(sign, 0, Qt.AlignmentFlag.AlignTop)
        self.label = plain_label(summary, self)
        self.label.setAccessibleName("Error")
        self.label.setMinimumWidth(self.fontMetrics().averageCharWidth() * 60)
        row.addWidget(self.label, 1)
        self._text = QPlainTextEdit(details, self)
        self._text.setReadOnly(True)
        self._text.setAccessibleName("Details")
        self._text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self._text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._text.setMinimumHeight(self.fontMetrics().height() * 14)
        self._text.hide()
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        self.copy = QPushButton("&Copy", self)
        self.copy.clicked.connect(self._copy)
        buttons.addButton(self.copy, QDialogButtonBox.ButtonRole.ActionRole)
        self.details = QPushButton("&Details", self)
        self.details.setCheckable(True)
        self.details.setVisible(bool(details))
        self.details.toggled.connect(self._toggle)
        buttons.addButton(self.details, QDialogButtonBox.ButtonRole.ActionRole)
        close = buttons.button(QDialogButtonBox.StandardButton.Close)
        close.setDefault(True)
        close.setFocus()
        column = QVBoxLayout(self)
        column.addLayout(row)
        column.addWidget(self._text, 1)
        column.addWidget(buttons)

    def text(self) -> str:
        """Summary and details, as they are copied."""
        return f"{self._summary}\n\n{self._details}".rstrip() + "\n"

    def add(self, summary: str, details: str) -> None:
        """Another error while the dialog is open: counted in the summary, appended to the details."""
        self._more += 1
        self.label.setText(cut_words(f"{self._summary}\n\n{self._more} more since; the latest: {summary}"))
        if self._more <= 20:
            self._details = f"{self._details}\n\n{details}"
            self._text.setPlainText(self._details)
            self.details.setVisible(True)

    @Slot(bool)
    def _toggle(self, shown: bool) -> None:
        self._text.setVisible(shown)
        self.adjustSize()

    @Slot()
    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.text())


def show_error(title: str, summary: str, details: str, parent: QWidget) -> None:
    """Show why something was not done; where the program itself is at fault (there are details), log it as well.

    Faults while one is on the screen are added to it: one that comes with every estimate must not bury the window.
    """
    if not details:
        ErrorDialog(title, summary, "", parent).open()
        return
    LOGGER.error("%s\n%s", summary, details)
    shown = parent.findChild(ErrorDialog, _FAULT)
    if shown is not None and shown.isVisible():
        shown.add(summary, details)
        return
    dialog = ErrorDialog(title, summary, details, parent)
    dialog.setObjectName(_FAULT)
    dialog.open()


class EditsAnswer(Enum):
    """What to do with edits that would be lost."""

    EXPORT = "export"
    RECOVER = "recover"
    DISCARD = "discard"
    CANCEL = "cancel"


def _question(parent: QWidget, name: str, icon: QMessageBox.Icon, title: str, text: str, more: str) -> QMessageBox:
    """A question without buttons yet, its texts shown as they are."""
    box = QMessageBox(parent)
    box.setObjectName(name)
    box.setIcon(icon)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setWindowTitle(title)
    box.setText(cut_words(text))
    box.setInformativeText(cut_words(more))
    return box


def _answer(box: QMessageBox, default: QPushButton, escape: QPushButton) -> QAbstractButton | None:
    """Ask; the button that was pressed."""
    box.setDefaultButton(default)
    box.setEscapeButton(escape)
    box.exec()
    clicked = box.clickedButton()
    box.deleteLater()
    return clicked


def ask_about_edits(parent: QWidget, name: str, labels: list[str], can_export: bool) -> EditsAnswer:
    """Ask before edits are lost; ``labels`` are the current edits, oldest first."""
    count = len(labels)
    text = f"{name} has {count} edit{'s' if count != 1 else ''} that {'are' if count != 1 else 'is'} not exported."
    shown = "\n".join(labels[-8:]) + (f"\n… and {count - 8} earlier" if count > 8 else "")
    box = _question(parent, "unsaved", QMessageBox.Icon.Warning, "Edits not exported", text, shown)
    export = None
    if can_export:
        export = box.addButton("Export…", QMessageBox.ButtonRole.AcceptRole)
    discard = box.addButton("Discard edits", QMessageBox.ButtonRole.DestructiveRole)
    cancel = box.addButton(QMessageBox.StandardButton.Cancel)
    clicked = _answer(box, cancel if export is None else export, cancel)
    if export is not None and clicked is export:
        return EditsAnswer.EXPORT
    return EditsAnswer.DISCARD if clicked is discard else EditsAnswer.CANCEL


def ask_to_recover(parent: QWidget, text: str, labels: Sequence[str]) -> EditsAnswer:
    """Ask what is to become of edits that a crash has left; whoever closes the question is asked again another time."""
    box = _question(parent, "recover", QMessageBox.Icon.Question, "Edits from before", text, "\n".join(labels))
    recover = box.addButton("Open with edits", QMessageBox.ButtonRole.AcceptRole)
    discard = box.addButton("Discard edits", QMessageBox.ButtonRole.DestructiveRole)
    later = box.addButton("Not now", QMessageBox.ButtonRole.RejectRole)
    clicked = _answer(box, recover, later)
    if clicked is recover:
        return EditsAnswer.RECOVER
    return EditsAnswer.DISCARD if clicked is discard else EditsAnswer.CANCEL


def confirm(parent: QWidget, title: str, text: str, yes: str, more: str = "") -> bool:
    """A question with one verb to do it; the safe answer is the default."""
    box = _question(parent, "confirm", QMessageBox.Icon.Question, title, text, more)
    button = box.addButton(yes, QMessageBox.ButtonRole.AcceptRole)
    cancel = box.addButton(QMessageBox.StandardButton.Cancel)
    return _answer(box, cancel, cancel) is button


def _installed(package: str) -> str:
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "unknown"


def _readable() -> list[tuple[str, str]]:
    """The formats that are read, with their versions."""
    return [(f"Reads {TITLES[kind]}s of version", ", ".join(map(str, known))) for kind, known in SUPPORTED.items()]


def about(parent: QWidget, versions: list[tuple[str, str]]) -> QDialog:
    """What this program is and what it runs on."""
    dialog = QDialog(parent)
    dialog.setObjectName("about")
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setWindowTitle("About TileView")
    column = QVBoxLayout(dialog)
    title = QLabel("TileView", dialog)
    font = title.font()
    font.setBold(True)
    font.setPointSizeF(font.pointSizeF() * 1.5)
    title.setFont(font)
    column.addWidget(title)
    column.addWidget(
        plain_label(
            "See which allocation overflowed a tile, swap an alternative plan in, and export a fixed recipe. "
            "Estimates are made before addresses are chosen: placement may still fail for a program that fits.",
            dialog,
        )
    )
    found = [*versions, *((name, _installed(name)) for name in ("networkx", "orjson")), *_readable()]
    lines = "\n".join(f"{name} {version}" for name, version in found)
    column.addWidget(plain_label(lines, dialog))
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, dialog)
    buttons.rejected.connect(dialog.reject)
    copy = buttons.addButton("&Copy", QDialogButtonBox.ButtonRole.ActionRole)
    copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(lines))
    column.addWidget(buttons)
    return dialog
