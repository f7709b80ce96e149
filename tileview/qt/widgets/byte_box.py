"""A field for a number of bytes."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QValidator
from PySide6.QtWidgets import QSpinBox, QWidget

from tileview.model.sizes import bytes_from_text, exact_text


class ByteBox(QSpinBox):
    """Exact bytes, typed in every way that TileView prints them.

    What is not understood stays as it was typed, with the value as it was; what is more than the most becomes the most.
    Both are said by :attr:`complaint`.
    """

    judged = Signal()
    """A text was taken or refused: :attr:`complaint` may be another."""

    def __init__(self, most: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.complaint = ""
        self._kept = ""
        self.setSingleStep(1024)
        self.setKeyboardTracking(False)
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.set_most(most)
        self.editingFinished.connect(self.judged)

    def set_most(self, most: int) -> None:
        """The largest number taken."""
        self.setRange(0, most)
        self.setToolTip(f"0 … {exact_text(most)}")

    def setValue(self, value: int) -> None:
        """Show a number in place of what was typed."""
        self._kept = self.complaint = ""
        super().setValue(value)
        self.lineEdit().setText(self.textFromValue(self.value()))
        self.judged.emit()

    def stepBy(self, steps: int) -> None:
        self._kept = self.complaint = ""
        super().stepBy(steps)

    def validate(self, text: str, place: int) -> tuple[QValidator.State, str, int]:
        return QValidator.State.Acceptable, text, place

    def valueFromText(self, text: str) -> int:
        try:
            number = bytes_from_text(text)
        except ValueError as error:
            self._kept, self.complaint = text, f"Not understood: {error}."
            return self.value()
        self._kept = self.complaint = ""
        if number > self.maximum():
            self.complaint = f"{exact_text(number)} is cut to {exact_text(self.maximum())}: a tile has no more."
        return min(number, self.maximum())

    def textFromValue(self, value: int) -> str:
        return self._kept or exact_text(value)
