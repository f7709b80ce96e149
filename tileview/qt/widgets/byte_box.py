"""A field for a number of bytes."""

from __future__ import annotations

from PySide6.QtCore import QLocale, Qt
from PySide6.QtGui import QValidator
from PySide6.QtWidgets import QSpinBox, QWidget

from tileview.model.sizes import exact_text


class ByteBox(QSpinBox):
    """Exact bytes. More than the most can be typed and becomes the most.

    Qt's own box refuses the digit that makes a number too large: of 620000 it would take 62000, without a word.
    """

    def __init__(self, most: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSingleStep(1024)
        self.setSuffix(" B")
        self.setGroupSeparatorShown(True)
        self.setLocale(QLocale(QLocale.Language.English, QLocale.Country.UnitedStates))
        self.setKeyboardTracking(False)
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.set_most(most)

    def set_most(self, most: int) -> None:
        """The largest number taken."""
        self.setRange(0, most)
        self.setToolTip(f"0 … {exact_text(most)}")

    def validate(self, text: str, place: int) -> tuple[QValidator.State, str, int]:
        if self._is_too_much(text):
            return QValidator.State.Intermediate, text, place
        return super().validate(text, place)

    def fixup(self, text: str) -> str:
        return self.textFromValue(self.maximum()) + self.suffix() if self._is_too_much(text) else super().fixup(text)

    def _is_too_much(self, text: str) -> bool:
        digits = text.removesuffix(self.suffix()).replace(",", "").strip()
        return digits.isascii() and digits.isdigit() and int(digits[:20]) > self.maximum()
