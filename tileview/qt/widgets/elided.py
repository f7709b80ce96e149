"""A label of one line that gives way: what has no room is cut out and shown in the tool tip."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from tileview.qt.base.painting import painting
from tileview.qt.base.text import cut_words, plain_tip, safe_tip, visible_text


class ElidedLabel(QWidget):
    """Plain text on one line, elided to the width there is: in the middle, or at another place."""

    def __init__(
        self, text: str = "", parent: QWidget | None = None, cut: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle
    ) -> None:
        super().__init__(parent)
        self._text = ""
        self._cut = cut
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setText(text)

    def text(self) -> str:
        """The whole text."""
        return self._text

    def setText(self, text: str) -> None:
        self._text = text = visible_text(text)
        self.setAccessibleName(text)
        super().setToolTip(plain_tip(text))
        self.update()

    def setToolTip(self, text: str) -> None:
        """A tooltip that says more than the text; names in it are no markup."""
        super().setToolTip(safe_tip(text))

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self._text), metrics.height() + 2)

    def minimumSizeHint(self) -> QSize:
        return QSize(20, self.fontMetrics().height() + 2)

    def paintEvent(self, event: QPaintEvent) -> None:
        with painting(self) as painter:
            text = self.fontMetrics().elidedText(self._text, self._cut, self.width())
            painter.setPen(self.palette().color(self.foregroundRole()))
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)


class WrappedLabel(QLabel):
    """Plain text over as many lines as it needs, that does not hold a narrow dock open."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)
        self.setWordWrap(True)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setMinimumWidth(40)

    def setText(self, text: str) -> None:
        """Show a text, the middle of endless words left out."""
        super().setText(cut_words(text))
