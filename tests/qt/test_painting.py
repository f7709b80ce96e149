"""A fault in a paint event stays a fault: the painter has ended, and the device can be destroyed."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QColor, QPixmap
from PySide6.QtWidgets import QWidget

from tileview.qt.base.painting import painting


def test_a_painter_ends_though_the_traceback_holds_it(qapp) -> None:
    pixmap = QPixmap(8, 8)

    def paint() -> None:
        with painting(pixmap) as painter:
            painter.fillRect(0, 0, 4, 4, QColor("red"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        paint()
    assert caught.traceback
    assert not pixmap.paintingActive()


def test_a_widget_that_fails_to_paint_can_be_painted_again_and_destroyed(qtbot) -> None:
    class Faulty(QWidget):
        def __init__(self) -> None:
            super().__init__()
            self.painted = 0

        def paintEvent(self, event) -> None:
            with painting(self) as painter:
                self.painted += 1
                painter.fillRect(self.rect(), QColor("blue"))
                if self.painted == 1:
                    raise ZeroDivisionError

    widget = Faulty()
    with pytest.raises(ZeroDivisionError):
        widget.grab()
    assert not widget.paintingActive()
    assert widget.grab().toImage().pixelColor(1, 1) == QColor("blue")
    widget.deleteLater()
