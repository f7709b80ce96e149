"""The plot under every chart and map: a pyqtgraph plot with the program's theme, keys, tooltips, zoom and export.

pyqtgraph takes a tenth of a second to import: only what a view imports imports this.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPen,
    QPixmapCache,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QGraphicsRectItem, QToolTip, QWidget

from tileview.qt.base.text import plain_tip
from tileview.qt.base.theme import Theme
from tileview.qt.plot.items import Over, PlotAxis, Still

_ONE_GESTURE_SECONDS: Final = 0.6
"""Changes of one kind closer together than this are one entry of the history."""
_REMEMBERED: Final = 64


class Zoom(QObject):
    """A part ``shown`` of all there is (``bounds``), both in the plot's own units, with a short history.

    The part lies inside the bounds and is nowhere narrower than ``smallest`` units. With ``across_only`` it always has
    the height of the bounds.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None, smallest: float = 4.0, across_only: bool = False) -> None:
        super().__init__(parent)
        self.bounds, self.shown = QRectF(0, 0, 1, 1), QRectF(0, 0, 1, 1)
        self.across_only = across_only
        self._smallest = smallest
        self._past: list[QRectF] = []
        self._gesture = ("", 0.0)

    @property
    def can_go_back(self) -> bool:
        return bool(self._past)

    @property
    def is_fit(self) -> bool:
        """Whether all there is is in view."""
        return self.shown.contains(self.bounds)

    def set_bounds(self, bounds: QRectF, keep: bool) -> None:
        """Change what there is; ``keep`` leaves the part in view in place as far as it can, else all is shown and the
        history ends.
        """
        was_fit = self.is_fit
        self.bounds = QRectF(bounds)
        if not keep:
            self._past.clear()
        if not keep or was_fit:
            self.shown = QRectF(bounds)
            self.changed.emit()
        else:
            self.move_to(self.shown)

    def show_part(self, part: QRectF, gesture: str = "show") -> None:
        """Bring a part into view; what was in view can be gone back to."""
        before = QRectF(self.shown)
        if self.move_to(part):
            kind, moment = self._gesture
            now = time.monotonic()
            if gesture != kind or now - moment > _ONE_GESTURE_SECONDS:
                self._past.append(before)
                del self._past[:-_REMEMBERED]
            self._gesture = (gesture, now)

    def move_to(self, part: QRectF) -> bool:
        """Bring a part into view without an entry in the history; False where it was in view already."""
        bounds = self.bounds
        left, width = self._inside(part.left(), part.width(), bounds.left(), bounds.width())
        top, height = bounds.top(), bounds.height()
        if not self.across_only:
            top, height = self._inside(part.top(), part.height(), bounds.top(), bounds.height())
        if (left, top, width, height) == self.shown.getRect():
            return False
        self.shown = QRectF(left, top, width, height)
        self.changed.emit()
        return True

    def _inside(self, start: float, size: float, least: float, most: float) -> tuple[float, float]:
        """Start and size of a stretch about the same middle, not too small, and inside of what there is."""
        middle = start + size / 2
        size = min(max(size, min(self._smallest, most)), most)
        return min(max(middle - size / 2, least), least + most - size), size

    def zoom(self, factor: float, about: QPointF) -> None:
        """Show ``factor`` times as little; the place ``about`` stays where it is."""
        old = self.shown
        left, top = (about.x() - (about.x() - old.left()) / factor, about.y() - (about.y() - old.top()) / factor)
        self.show_part(QRectF(left, top, old.width() / factor, old.height() / factor), "zoom")

    def pan(self, across: float, up: float = 0.0) -> None:
        """Move by so many units, as far as there is anything."""
        self.show_part(self.shown.translated(across, up), "pan")

    def fit(self) -> None:
        """Show all there is."""
        self.show_part(self.bounds, "fit")

    def back(self) -> bool:
        """Show what was in view before; False where there is nothing to go back to."""
        if not self._past:
            return False
        self._gesture = ("", 0.0)
        self.move_to(self._past.pop())
        return True


KeyCommand = Callable[[QKeyEvent], Callable[[], object] | None]
"""What a key does: a function to call, or None to leave it to the window."""
Drag = Callable[[QPointF, bool], None]
"""Follows the mouse while a button is held: its place in the widget, and whether the button was let go."""

_SHIFT: Final = Qt.KeyboardModifier.ShiftModifier
_WHEEL_FACTOR: Final = 1.25
_PAN_PART: Final = 0.15
"""How much of what is in view a key moves by."""

_KEPT_KIB: Final = 32 * 1024
"""Room for the pictures that items keep; Qt's own is too small for a large screen."""

pg.setConfigOptions(antialias=False, exitCleanup=False)
QPixmapCache.setCacheLimit(_KEPT_KIB)


class Plot(pg.PlotWidget):
    """One plot: ``getPlotItem()`` and ``box`` take the items; the base does what every plot does.

    Keys go to ``keys`` first (of a view, say), then to :meth:`key`. Zooming needs a :class:`Zoom`, which several plots
    may share; without one a plot shows what :meth:`setRange` was told. Drawing that stays while a cursor moves goes
    into ``still``, texts and marks in pixels into :meth:`draw_over`.
    """

    pointed = Signal(object)
    """Where the mouse is, as a QPointF in the units of the plot, or None."""
    resized = Signal()

    def __init__(
        self,
        theme: Theme,
        name: str,
        parent: QWidget | None = None,
        *,
        zoom: Zoom | None = None,
        keys: KeyCommand | None = None,
        tip: Callable[[QPointF], str] | None = None,
        axes: dict[str, PlotAxis] | None = None,
    ) -> None:
        super().__init__(parent, axisItems=axes or {}, enableMenu=False)
        self.theme, self.zoom = theme, zoom
        self._keys, self._tip = keys, tip
        self._drag: Drag | None = None
        self._place: QPointF | None = None
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        item = self.getPlotItem()
        item.hideButtons()
        self.box: pg.ViewBox = item.getViewBox()
        self.box.setMouseEnabled(False, False)
        self.box.disableAutoRange()
        self.box.setDefaultPadding(0.0)
        for side in ("left", "bottom"):
            item.showAxis(side, side in (axes or {}))
        self.still = Still()
        self.box.addItem(self.still, ignoreBounds=True)
        self._over = Over(self._draw_over, item, kept=True)
        self._rubber = QGraphicsRectItem()
        self._rubber.setZValue(40)
        self._rubber.hide()
        self.box.addItem(self._rubber, ignoreBounds=True)
        item.layout.setContentsMargins(0, 0, 0, 0)
        self.build()
        if zoom is not None:
            zoom.changed.connect(self._take_zoom)
            self._take_zoom()
        self.set_theme(theme)

    def build(self) -> None:
        """Make the items of the plot; called once, before anything is drawn."""

    # -- look -----------------------------------------------------------------------------------------------------

    def set_theme(self, theme: Theme) -> None:
        """Take the colours of a theme, and the font of the widget."""
        self.theme = theme
        self.setBackground(theme.color("background"))
        for axis in self._axes():
            axis.dress(theme, self.font())
        pen = QPen(theme.color("accent"), 1, Qt.PenStyle.DashLine)
        pen.setCosmetic(True)
        self._rubber.setPen(pen)
        self._rubber.setBrush(theme.color("accent", 40))
        self.redraw()

    def _axes(self) -> list[PlotAxis]:
        found = (self.getPlotItem().getAxis(side) for side in ("left", "bottom", "right", "top"))
        return [axis for axis in found if isinstance(axis, PlotAxis)]

    def set_margins(self, left: float, top: float, right: float, bottom: float) -> None:
        """Pixels around the axes, for flags and texts."""
        self.getPlotItem().layout.setContentsMargins(left, top, right, bottom)

    def redraw(self) -> None:
        """Draw everything anew; subclasses fill ``still`` first."""
        self.still.update()
        self.draw_again()

    def draw_again(self) -> None:
        """Draw anew what lies over the plot."""
        self._over.update()

    def draw_over(self, painter: QPainter) -> None:
        """Draw texts and marks, in pixels of the widget."""

    def _draw_over(self, painter: QPainter) -> None:
        painter.setFont(self.font())
        self.draw_over(painter)

    def set_description(self, text: str) -> None:
        """What the plot says to those who hear it."""
        self.setAccessibleDescription(text)

    # -- places ---------------------------------------------------------------------------------------------------

    def area(self) -> QRectF:
        """Where the plot lies between its axes, in pixels of the widget."""
        self.getPlotItem().layout.activate()
        return QRectF(self.box.sceneBoundingRect())

    def pixel(self, x: float, y: float = 0.0) -> QPointF:
        """Where something of the plot lies in the widget."""
        area = self.area()
        (left, right), (low, high) = self.box.viewRange()
        across = (x - left) / (right - left) * area.width()
        up = (y - low) / (high - low) * area.height()
        return QPointF(area.left() + across, area.top() + up if self.box.yInverted() else area.bottom() - up)

    def value(self, place: QPointF | QPoint) -> QPointF:
        """What lies at a place of the widget, in the units of the plot."""
        area = self.area()
        (left, right), (low, high) = self.box.viewRange()
        across = (place.x() - area.left()) / max(area.width(), 1.0)
        up = (place.y() - area.top()) / max(area.height(), 1.0)
        up = up if self.box.yInverted() else 1 - up
        return QPointF(left + across * (right - left), low + up * (high - low))

    def _take_zoom(self) -> None:
        zoom = self.zoom
        if zoom is None:
            return
        shown = zoom.shown
        self.setXRange(shown.left(), shown.right(), padding=0)
        if not zoom.across_only:
            self.setYRange(shown.top(), shown.bottom(), padding=0)
        self.redraw()

    # -- files and clipboard ----------------------------------------------------------------------------------------

    def draw(self, painter: QPainter) -> None:
        """Draw the plot with its corner at the origin: for files."""
        kept = (self.still, self._over)
        for one in kept:
            one.keep_picture(False)
        size = QRectF(0, 0, self.width(), self.height())
        painter.fillRect(size, self.theme.color("background"))
        self.scene().prepareForPaint()
        self.scene().render(painter, size, size)
        for one in kept:
            one.keep_picture(True)

    # -- events -----------------------------------------------------------------------------------------------------

    def key(self, event: QKeyEvent) -> Callable[[], object] | None:
        """What a key does in any plot that can be zoomed: W, S (or + and −), A, D, 0, Backspace."""
        zoom = self.zoom
        if zoom is None or event.modifiers() & ~(_SHIFT | Qt.KeyboardModifier.KeypadModifier):
            return None
        step = zoom.shown.width() * _PAN_PART
        return {
            Qt.Key.Key_W: lambda: self.zoom_about_middle(1.5),
            Qt.Key.Key_Plus: lambda: self.zoom_about_middle(1.5),
            Qt.Key.Key_Equal: lambda: self.zoom_about_middle(1.5),
            Qt.Key.Key_S: lambda: self.zoom_about_middle(1 / 1.5),
            Qt.Key.Key_Minus: lambda: self.zoom_about_middle(1 / 1.5),
            Qt.Key.Key_A: lambda: zoom.pan(-step),
            Qt.Key.Key_D: lambda: zoom.pan(step),
            Qt.Key.Key_0: zoom.fit,
            Qt.Key.Key_Backspace: zoom.back,
        }.get(Qt.Key(event.key()))

    def zoom_about_middle(self, factor: float) -> None:
        """Zoom about the mouse where it is over the plot, else about the middle."""
        if self.zoom is not None:
            inside = self._place is not None and self.area().contains(self._place)
            self.zoom.zoom(factor, self.value(self._place) if inside and self._place else self.zoom.shown.center())

    def _command(self, event: QKeyEvent) -> Callable[[], object] | None:
        found = self._keys(event) if self._keys is not None else None
        return found if found is not None else self.key(event)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self._command(event):
            event.accept()
            return True
        return bool(super().event(event))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        command = self._command(event)
        if command is None:
            event.ignore()
        else:
            command()

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            text = self.tip_at(QPointF(event.pos()))
            if text:
                QToolTip.showText(event.globalPos(), plain_tip(text), self, QRect())
            else:
                QToolTip.hideText()
            return True
        return bool(super().viewportEvent(event))

    def tip_at(self, place: QPointF) -> str:
        """The tooltip at a place of the widget."""
        return "" if self._tip is None else self._tip(self.value(place))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom about the mouse; with Shift, or across: move."""
        if self.zoom is None:
            event.ignore()
            return
        delta = event.angleDelta()
        if event.modifiers() & _SHIFT or abs(delta.x()) > abs(delta.y()):
            self.zoom.pan(-(delta.x() or delta.y()) / 1200 * self.zoom.shown.width())
        elif delta.y():
            self.zoom.zoom(_WHEEL_FACTOR ** (delta.y() / 120), self.value(event.position()))
        event.accept()

    def start_drag(self, event: QMouseEvent) -> Drag | None:
        """What a button that was pressed begins; None leaves it to the items of the plot.

        Here: the middle button moves, the left one with Ctrl zooms to what it frames.
        """
        if self.zoom is None:
            return None
        if event.button() == Qt.MouseButton.MiddleButton:
            return self._pan_from(event.position())
        if event.button() == Qt.MouseButton.LeftButton and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            return self.zoom_from(event.position())
        return None

    def _pan_from(self, start: QPointF) -> Drag:
        held = self.value(start)

        def follow(place: QPointF, _done: bool) -> None:
            away = held - self.value(place)
            if self.zoom is not None:
                self.zoom.pan(away.x(), 0.0 if self.zoom.across_only else away.y())

        return follow

    def zoom_from(self, start: QPointF) -> Drag:
        """Frame a part while the mouse is dragged, then zoom to it."""
        begin = self.value(start)

        def follow(place: QPointF, done: bool) -> None:
            zoom = self.zoom
            if zoom is None:
                return
            part = QRectF(begin, self.value(place)).normalized()
            if zoom.across_only:
                part.setTop(self.box.viewRange()[1][0])
                part.setBottom(self.box.viewRange()[1][1])
            part = part.intersected(QRectF(self.box.viewRect()))
            self._rubber.setVisible(not done)
            self._rubber.setRect(part)
            if done and part.width() > 1e-6:
                zoom.show_part(part, "drag")

        return follow

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self._drag = None if event.button() == Qt.MouseButton.RightButton else self.start_drag(event)
        if self._drag is None:
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._point(event.position())
        if self._drag is None:
            super().mouseMoveEvent(event)
        else:
            self._drag(event.position(), False)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        drag, self._drag = self._drag, None
        if drag is None:
            super().mouseReleaseEvent(event)
        else:
            drag(event.position(), True)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self.zoom is not None:
            self.zoom.fit()

    def leaveEvent(self, event: QEvent) -> None:
        self._point(None)
        super().leaveEvent(event)

    def _point(self, place: QPointF | None) -> None:
        self._place = place
        inside = place is not None and self.area().contains(place)
        self.pointed.emit(self.value(place) if inside and place is not None else None)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """The menu is the view's."""
        event.ignore()

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        super().resizeEvent(event)
        if event is None or self.closed:  # pyqtgraph calls it while it builds and closes the widget
            return
        self._over.set_bounds(QRectF(self.rect()))
        self.redraw()
        self.resized.emit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    def drawForeground(self, painter: QPainter, rect: QRectF) -> None:
        """The frame of what has the keys; on the screen only."""
        if self.hasFocus() and painter.device() is self.viewport():
            painter.setPen(QPen(self.theme.color("accent"), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5))

    def sizeHint(self) -> QSize:
        return QSize(320, 160)
