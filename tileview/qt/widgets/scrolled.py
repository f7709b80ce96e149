"""Contents that scroll as one where their dock is small: nothing is squeezed, and all of it can be reached."""

from __future__ import annotations

from math import ceil

from PySide6.QtCore import QEvent, QObject, QSize, QSizeF, Qt, Slot
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QTextBrowser, QVBoxLayout, QWidget


class Scrolled(QScrollArea):
    """A column of widgets that is as wide as the dock and scrolls up and down; what gets the focus comes into sight."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.page = QWidget()
        self.column = QVBoxLayout(self.page)
        self.setWidget(self.page)

    def follow(self, *widgets: QWidget) -> None:
        """Bring these into sight when they get the focus by a key."""
        for widget in widgets:
            widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QFocusEvent) and event.gotFocus() and isinstance(watched, QWidget):
            self.ensureWidgetVisible(watched, 4, 4)
        return super().eventFilter(watched, event)

    def minimumSizeHint(self) -> QSize:
        return QSize(80, 40)


class GrowingText(QTextBrowser):
    """Text that is as high as what it says, for use inside :class:`Scrolled`; the cursor's line is kept in sight."""

    def __init__(self, area: Scrolled, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._area = area
        self.setOpenLinks(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
            | Qt.TextInteractionFlag.LinksAccessibleByMouse
            | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )
        layout = self.document().documentLayout()
        if layout is not None:
            layout.documentSizeChanged.connect(self._fit)
        self.cursorPositionChanged.connect(self._show_cursor)
        area.verticalScrollBar().rangeChanged.connect(self._show_cursor)  # lines that wrap anew move the cursor's

    def _fit(self, size: QSizeF) -> None:
        self.setFixedHeight(max(ceil(size.height()) + 2, self.fontMetrics().height()))

    @Slot()
    def _show_cursor(self) -> None:
        if self.hasFocus():
            spot = self.mapTo(self._area.page, self.cursorRect().center())
            self._area.ensureVisible(spot.x(), spot.y(), 0, self.fontMetrics().height())
