"""Widgets that hand the focus on to one of those in them, and whether a widget can be seen at all."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QWidget


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
