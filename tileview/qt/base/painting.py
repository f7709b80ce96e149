"""Painters that end whatever happens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPaintDevice, QPainter, QPen
from PySide6.QtWidgets import QWidget


@contextmanager
def painting(device: QPaintDevice) -> Iterator[QPainter]:
    """A painter on a widget, pixmap or picture, ended when the block is left.

    Python ends a painter when the last reference to it goes. After an exception the traceback holds one: the painter
    stays active, and Qt aborts the program when the device is destroyed ("Cannot destroy paint device that is being
    painted"). So every painter is made here, and a fault in a paint event stays a fault that can be reported.
    """
    painter = QPainter(device)
    try:
        yield painter
    finally:
        painter.end()


def draw_focus(painter: QPainter, widget: QWidget, color: QColor) -> None:
    """A frame around a widget that has the keys; nothing around another."""
    if widget.hasFocus():
        painter.setPen(QPen(color, 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(QRectF(widget.rect()).adjusted(0.5, 0.5, -0.5, -0.5))
