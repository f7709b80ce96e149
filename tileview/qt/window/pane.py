"""What stands between a dock and its view, so that the view's inner layout does not move the other docks."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from tileview.qt.widgets.focus import FocusHolder


class Pane(FocusHolder):
    """Holds one widget and gives it all its room.

    A layout tells its parent's whenever a button in it comes or goes or a line of text wraps, and that one its own, up
    to the area of docks, which then places all docks anew: at every step of a held key, for nothing, since a dock's
    least size is its own. There is no layout here, so it ends here.
    """

    def __init__(self, inner: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._inner = inner
        inner.setParent(self)
        self.lead_focus(inner)
        self.setMinimumSize(inner.minimumSize())

    def sizeHint(self) -> QSize:
        return self._inner.sizeHint()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._inner.setGeometry(self.rect())

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            return True
        return super().event(event)
