"""Painters that end whatever happens, and items whose faults in painting end nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar, cast

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPaintDevice, QPainter, QPen
from PySide6.QtWidgets import QWidget

_Method = TypeVar("_Method", bound=Callable[..., Any])


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


def _nothing() -> None:
    return None


def told(instead: Callable[[], Any] = _nothing) -> Callable[[_Method], _Method]:
    """Mark a method that Qt calls while it draws: what fails in it goes to the handler of faults, and nothing further.

    Such a call stands in the midst of Qt's own code, often behind another call from Python (the event, the row, the
    scene). On Python 3.11 an error that leaves it there ends the process with a segmentation fault.

    Parameters
    ----------
    instead : callable
        Makes what Qt is answered then.
    """

    def mark(method: _Method) -> _Method:
        @wraps(method)
        def safe(*arguments: Any, **named: Any) -> Any:
            try:
                return method(*arguments, **named)
            except Exception:
                sys.excepthook(*sys.exc_info())
                return instead()

        return cast(_Method, safe)

    return mark


def draw_focus(painter: QPainter, widget: QWidget, color: QColor) -> None:
    """A frame around a widget that has the keys; nothing around another."""
    if widget.hasFocus():
        painter.setPen(QPen(color, 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(QRectF(widget.rect()).adjusted(0.5, 0.5, -0.5, -0.5))
