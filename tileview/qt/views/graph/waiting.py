"""A line over the graph while its next layout is made."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetrics, QPainter

from tileview.qt.base.theme import Theme


class WaitingLine:
    """``text`` says what is waited for (empty: nothing), ``can_stop`` that Escape, or a click here, gives it up."""

    def __init__(self) -> None:
        self.text = ""
        self.can_stop = False

    def shown(self) -> str:
        return f"{self.text}  Esc stops" if self.can_stop else self.text

    def area(self, metrics: QFontMetrics) -> QRectF:
        """Where it stands in the widget; empty where nothing is said."""
        if not self.text:
            return QRectF()
        return QRectF(8, 8, metrics.horizontalAdvance(self.shown()) + 20, metrics.height() + 10)

    def paint(self, painter: QPainter, theme: Theme) -> None:
        if not self.text:
            return
        area = self.area(painter.fontMetrics())
        painter.setPen(theme.color("border"))
        painter.setBrush(theme.color("raised"))
        painter.drawRoundedRect(area, 4, 4)
        painter.setPen(theme.color("text"))
        painter.drawText(area, int(Qt.AlignmentFlag.AlignCenter), self.shown())
