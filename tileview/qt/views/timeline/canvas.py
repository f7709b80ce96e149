"""What curves and lifetime bars have in common: one axis of steps, a cursor, a range, keys, wheel and tooltips."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen, QPixmap, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from tileview.qt.base.painting import draw_focus, painting
from tileview.qt.base.text import plain_tip
from tileview.qt.base.theme import Theme
from tileview.qt.plot.plane import Plane
from tileview.qt.views.timeline.axis import StepAxis

KeyCommand = Callable[[QKeyEvent], Callable[[], None] | None]
"""What a key does: a function to call, or None to leave it to the window."""


class StepCanvas(QWidget):
    """A widget that draws over the shared step axis: keys, wheel and tooltips in common to curves and lifetime bars."""

    pointed = Signal(object)
    """The step under the mouse, or None."""

    def __init__(self, theme: Theme, axis: StepAxis, keys: KeyCommand, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._theme = theme
        self.axis = axis
        self._keys = keys
        self._picture: QPixmap | None = None
        self._pointed: int | None = None
        self._place = QPointF()
        self.current: int | None = None
        self.span: tuple[int, int] | None = None
        axis.changed.connect(self.redraw)

    def gutter(self) -> int:
        """Pixels left of the steps: wide enough for the numbers of both canvases."""
        return self.fontMetrics().horizontalAdvance("000.0 KiB") + 12

    def redraw(self) -> None:
        """Draw anew what does not move with the cursor."""
        self._picture = None
        self.update()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.redraw()

    def set_current(self, step: int | None) -> None:
        if step != self.current:
            self.current = step
            self.update()

    def set_span(self, span: tuple[int, int] | None) -> None:
        if span != self.span:
            self.span = span
            self.update()

    def plane(self) -> Plane:
        raise NotImplementedError

    def tip(self, place: QPointF) -> str:
        raise NotImplementedError

    def render_picture(self, painter: QPainter) -> None:
        """Paint what does not move with the cursor."""
        raise NotImplementedError

    def draw(self, painter: QPainter) -> None:
        """Paint everything straight, without the kept picture: for files."""
        painter.fillRect(self.rect(), self._theme.color("background"))
        self.render_picture(painter)
        self.draw_over(painter)

    def draw_over(self, painter: QPainter) -> None:
        """Paint what moves."""
        plane = self.plane()
        painter.setClipRect(plane.area.adjusted(-1, 0, 1, 1))
        if self.span is not None:
            painter.fillRect(plane.band(*self.span), self._theme.color("accent", 46))
            painter.setPen(QPen(self._theme.color("accent"), 1))
            self._draw_upright(painter, plane, plane.x(self.span[0]))
            self._draw_upright(painter, plane, plane.x(self.span[1]))
        if self._pointed is not None:
            painter.setPen(QPen(self._theme.color("muted"), 1, Qt.PenStyle.DotLine))
            self._draw_upright(painter, plane, plane.x(self._pointed + 0.5))
        if self.current is not None:
            band = plane.band(self.current, self.current + 1)
            if band.width() > 3:
                painter.fillRect(band, self._theme.color("accent", 60))
            painter.setPen(QPen(self._theme.color("accent"), 2))
            self._draw_upright(painter, plane, plane.x(self.current + 0.5))
        painter.setClipping(False)

    @staticmethod
    def _draw_upright(painter: QPainter, plane: Plane, x: float) -> None:
        """A line from the upper to the lower edge, where it is in view."""
        if plane.shows(x):
            painter.drawLine(QPointF(x, plane.area.top()), QPointF(x, plane.area.bottom()))

    # -- events ---------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        ratio = self.devicePixelRatioF()
        if self._picture is None:
            self._picture = QPixmap(self.size() * ratio)
            self._picture.setDevicePixelRatio(ratio)
            self._picture.fill(self._theme.color("background"))
            with painting(self._picture) as inner:
                inner.setFont(self.font())
                inner.setRenderHint(QPainter.RenderHint.Antialiasing)
                self.render_picture(inner)
        with painting(self) as painter:
            painter.drawPixmap(0, 0, self._picture)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self.draw_over(painter)
            draw_focus(painter, self, self._theme.color("accent"))

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._picture = None
        super().resizeEvent(event)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self._keys(event):
            event.accept()
            return True
        if event.type() == QEvent.Type.ToolTip:
            text = self.tip(self._place)
            if text:
                QToolTip.showText(event.globalPos(), plain_tip(text), self)  # type: ignore[attr-defined]
            else:
                QToolTip.hideText()
            return True
        if event.type() == QEvent.Type.DevicePixelRatioChange:
            self.redraw()
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        command = self._keys(event)
        if command is None:
            super().keyPressEvent(event)
        else:
            command()

    def zoom_wheel(self, event: QWheelEvent) -> None:
        """Wheel: zoom about the mouse; with Shift, or across: pan."""
        delta = event.angleDelta()
        plane = self.plane()
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier or abs(delta.x()) > abs(delta.y()):
            self.axis.pan(-(delta.x() or delta.y()) / 1200 * (self.axis.last - self.axis.first))
        elif delta.y():
            self.axis.zoom(1.25 ** (delta.y() / 120), plane.place(event.position().x()))
        event.accept()

    def point_at(self, place: QPointF | None) -> None:
        """The mouse is here now; None: it left."""
        plane = self.plane()
        step = None
        if place is not None:
            self._place = place
            if plane.area.left() <= place.x() <= plane.area.right():
                step = plane.step(place.x(), self.axis.steps)
        if step != self._pointed:
            self._pointed = step
            self.pointed.emit(step)
            self.update()

    def set_pointed(self, step: int | None) -> None:
        """The step that the mouse points at in the other canvas."""
        if step != self._pointed:
            self._pointed = step
            self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self.point_at(None)
