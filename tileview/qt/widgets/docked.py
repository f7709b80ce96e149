"""What a small dock needs: lines cut out, rows that wrap, contents that scroll as one, buttons and choices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil

from PySide6.QtCore import QEvent, QMargins, QObject, QPoint, QRect, QSize, QSizeF, Qt, Slot
from PySide6.QtGui import QFocusEvent, QPaintEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QLabel,
    QLayout,
    QLayoutItem,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from tileview.qt.base.painting import painting
from tileview.qt.base.text import cut_words, plain_tip, safe_tip, visible_text

_ALONE = 100_000
"""A width that no row has."""


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


class LineLabel(ElidedLabel):
    """The line of text of a view: ends in … where it does not fit, the whole text is the tooltip.

    In a row of controls it stands on a line of its own, or takes what the controls leave (see :meth:`set_beside`).
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", parent, Qt.TextElideMode.ElideRight)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._least = _ALONE

    def show_text(self, text: str) -> None:
        if text != self.text():
            self.setText(text)

    @property
    def full_text(self) -> str:
        return self.text()

    def set_beside(self, characters: int | None) -> None:
        """Stand in a row with others where there is room for so many characters; None: always alone."""
        least = _ALONE if characters is None else characters * self.fontMetrics().averageCharWidth()
        if least != self._least:
            self._least = least
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        return QSize(self._least, self.fontMetrics().height() + 2)


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


class FlowLayout(QLayout):
    """Items in reading order with their size hints; hidden ones take no room. The height follows from the width.

    An item whose horizontal policy is to expand takes what is left of its row.
    """

    def __init__(self, parent: QWidget | None = None, spacing: int = 6) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setSpacing(spacing)
        self.setContentsMargins(QMargins(0, 0, 0, 0))

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._arrange(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._arrange(rect, move=True)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        """The widest single item: with that width everything can still be reached."""
        size = QSize()
        for item in self._items:
            if not item.isEmpty():
                size = size.expandedTo(item.minimumSize())
        margins = self.contentsMargins()
        return size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom())

    def _arrange(self, rect: QRect, move: bool) -> int:
        """Place the items (or only measure); the height they take."""
        margins = self.contentsMargins()
        area = rect.marginsRemoved(margins)
        for row in self._rows(area.width()):
            height = max(size.height() for _, size in row)
            x = area.x()
            for item, size in row:
                if move:
                    item.setGeometry(QRect(QPoint(x, area.y() + (height - size.height()) // 2), size))
                x += size.width() + self.spacing()
            area.setTop(area.y() + height + self.spacing())
        used = area.y() - rect.y() - margins.top()
        return max(used - self.spacing(), 0) + margins.top() + margins.bottom()

    def _rows(self, width: int) -> list[list[tuple[QLayoutItem, QSize]]]:
        rows: list[list[tuple[QLayoutItem, QSize]]] = []
        left = 0
        for item in self._items:
            if item.isEmpty():
                continue
            size = item.sizeHint()
            size.setWidth(min(size.width(), max(width, item.minimumSize().width())))
            if not rows or left < size.width():
                rows.append([])
                left = width
            rows[-1].append((item, size))
            left -= size.width() + self.spacing()
            if item.expandingDirections() & Qt.Orientation.Horizontal and left > 0:
                size.setWidth(size.width() + left + self.spacing())
                left = 0
        return rows


class FocusHolder(QWidget):
    """A group of widgets of which one is to have the focus when the group is given it.

    No focus proxy: with one, Tab goes to it from whatever stands before the group, past all that stands in the group
    before the proxy, so that buttons and fields above a picture would be reached backwards only.
    """

    _leader: QWidget | None = None

    def lead_focus(self, widget: QWidget) -> None:
        """Name the widget that takes the focus."""
        self._leader = widget

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if self._leader is not None:
            self._leader.setFocus(event.reason())


def is_in_sight(widget: QWidget) -> bool:
    """Whether some of a widget can be seen; one behind a tab lies outside its window, though Qt calls it visible.

    A window that is not active counts too.
    """
    window = widget.window()
    return widget.isVisible() and QRect(widget.mapTo(window, QPoint()), widget.size()).intersects(window.rect())


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


def dock_button(text: str, tip: str, slot: Callable[..., object], parent: QWidget | None = None) -> QPushButton:
    """A button that acts when it is clicked; Enter in a field beside it does not press it."""
    button = QPushButton(text, parent)
    button.setToolTip(tip)
    button.setAutoDefault(False)
    button.clicked.connect(slot)
    return button


def combo(parent: QWidget, name: str, entries: Sequence[tuple[str, object]]) -> QComboBox:
    """A box of choices: (text, what :meth:`QComboBox.currentData` gives).

    String enums come back from Qt as plain strings: turn them into the enum again where they are read.
    """
    box = QComboBox(parent)
    box.setAccessibleName(name)
    box.setToolTip(name)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
    for text, data in entries:
        box.addItem(text, data)
    return box


def set_data(box: QComboBox, data: object) -> None:
    """Choose the entry with some data without telling anyone."""
    index = box.findData(data)
    if index >= 0 and index != box.currentIndex():
        box.blockSignals(True)
        box.setCurrentIndex(index)
        box.blockSignals(False)
