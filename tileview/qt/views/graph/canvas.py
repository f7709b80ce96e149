"""The surface the graph is drawn on: what is seen of it, zoom, pan, picking, and moving by keys."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QHelpEvent,
    QHideEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPixmap,
    QResizeEvent,
    QTransform,
    QWheelEvent,
)
from PySide6.QtWidgets import QPushButton, QSizePolicy, QToolTip, QWidget

from tileview.qt.base.painting import draw_focus, painting
from tileview.qt.base.theme import Theme
from tileview.qt.views.graph.boxes import Look
from tileview.qt.views.graph.moves import DIRECTIONS, command_of, nearest
from tileview.qt.views.graph.scene import GraphScene, Highlight

LEAST_SCALE, MOST_SCALE = 0.002, 4.0
READABLE = 0.9
"""The zoom at which everything on a box can be read."""
MARGIN = 16.0
_SPILL = 4.0
"""Pixels by which outlines reach beyond their boxes."""


class Viewport:
    """Maps a picture into a widget of a size: ``scale`` widget pixels a unit, the picture's origin at ``offset``.

    It is drawn at :attr:`snapped`, a whole number of the device's pixels from the corner (``ratio`` of them make a
    pixel of the widget): what is drawn can then be moved without being drawn anew.
    """

    def __init__(self) -> None:
        self.scale = 1.0
        self.offset = QPointF()
        self.size = QSizeF()
        self.ratio = 1.0

    @property
    def snapped(self) -> QPointF:
        """Where the picture's origin is drawn."""
        return QPointF(round(self.offset.x() * self.ratio), round(self.offset.y() * self.ratio)) / self.ratio

    @property
    def middle(self) -> QPointF:
        return QPointF(self.size.width() / 2, self.size.height() / 2)

    def transform(self) -> QTransform:
        """Picture to widget."""
        at = self.snapped
        return QTransform(self.scale, 0, 0, self.scale, at.x(), at.y())

    def to_picture(self, point: QPointF) -> QPointF:
        return (point - self.snapped) / self.scale

    def visible_area(self) -> QRectF:
        """The part of the picture in view."""
        return QRectF(self.to_picture(QPointF(0, 0)), self.to_picture(QPointF(self.size.width(), self.size.height())))

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        """Zoom about a point of the widget, its centre by default."""
        at = self.middle if at is None else at
        scale = min(max(self.scale * factor, LEAST_SCALE), MOST_SCALE)
        self.offset = at - (at - self.offset) * (scale / self.scale)
        self.scale = scale

    def centre_on(self, point: QPointF) -> None:
        """Bring a point of the picture into the middle."""
        self.offset = self.middle - point * self.scale

    def fit(self, bounds: QRectF) -> None:
        """Show all of an area; nothing changes where the widget has no room."""
        room_x, room_y = self.size.width() - 2 * MARGIN, self.size.height() - 2 * MARGIN
        if bounds.isEmpty() or room_x <= 0 or room_y <= 0:
            return
        scale = min(room_x / bounds.width(), room_y / bounds.height(), 1.25)
        self.scale = min(max(scale, LEAST_SCALE), MOST_SCALE)
        self.centre_on(bounds.center())

    def centre_box(self, rect: QRectF) -> None:
        """Bring a box into the middle; of one taller than the widget its upper end."""
        tall = rect.height() * self.scale > self.size.height()
        top = rect.top() + self.size.height() / 2 / self.scale - 8
        self.centre_on(QPointF(rect.center().x(), top) if tall else rect.center())

    def reveal(self, rect: QRectF) -> bool:
        """Move as little as is needed to have a box in view; False where nothing had to move."""
        shown = self.transform().mapRect(rect)
        whole = QRectF(QPointF(), self.size)
        room = whole.adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)
        if room.contains(shown) or (shown.height() > room.height() and shown.intersects(room)):
            return False
        if not whole.intersects(shown) or shown.width() > room.width():
            self.centre_box(rect)
            return True
        dx = max(room.left() - shown.left(), 0) or min(room.right() - shown.right(), 0)
        dy = max(room.top() - shown.top(), 0) or min(room.bottom() - shown.bottom(), 0)
        self.offset += QPointF(dx, dy)
        return True

    def keep_middle(self, before: QSizeF) -> None:
        """After another size of the widget: what was in the middle is there again."""
        self.offset += QPointF((self.size.width() - before.width()) / 2, (self.size.height() - before.height()) / 2)


@dataclass(frozen=True, slots=True)
class _State:
    """What the ground depends on besides where it is moved to. ``scene`` and ``look`` count by identity."""

    scene: GraphScene
    look: Look
    scale: float
    size: QSize
    ratio: float
    marks: Highlight


class Backing:
    """Draws the ground of scenes by way of a pixmap of the widget's size."""

    def __init__(self) -> None:
        self._pixmap = QPixmap()
        self._state: _State | None = None
        self._at = QPoint()

    def clear(self) -> None:
        """Forget what was drawn, and free it."""
        self._pixmap, self._state = QPixmap(), None

    def draw(self, painter: QPainter, scene: GraphScene, port: Viewport, marks: Highlight) -> None:
        """Draw the ground in view; what was in view before is not drawn anew while only the place has changed."""
        size = (port.size * port.ratio).toSize()
        if size.isEmpty():
            return
        ground = Highlight(marks.selected, marks.holder, None, marks.found)
        state = _State(scene, scene.look, port.scale, size, port.ratio, ground)
        at = (port.snapped * port.ratio).toPoint()
        whole = QRect(QPoint(), size)
        new = [whole]
        if state != self._state:
            if self._pixmap.size() != size or self._pixmap.devicePixelRatio() != port.ratio:
                self._pixmap = QPixmap(size)
                self._pixmap.setDevicePixelRatio(port.ratio)
        else:
            moved = at - self._at
            self._pixmap.scroll(moved.x(), moved.y(), whole)
            new = _uncovered(whole, moved)
        # Where drawing fails, nothing of it is taken for drawn.
        self._state = None
        for rect in new:
            self._draw_new(rect, scene, port, ground)
        self._state, self._at = state, at
        painter.drawPixmap(0, 0, self._pixmap)

    def _draw_new(self, rect: QRect, scene: GraphScene, port: Viewport, marks: Highlight) -> None:
        """Draw a part of the ground, given in pixels of the device."""
        shown = QRectF(QPointF(rect.topLeft()) / port.ratio, QSizeF(rect.size()) / port.ratio)
        with painting(self._pixmap) as painter:
            painter.setClipRect(shown)
            painter.fillRect(shown, scene.theme.color("background"))
            painter.setTransform(port.transform(), True)
            around = shown.adjusted(-_SPILL, -_SPILL, _SPILL, _SPILL)
            area = QRectF(port.to_picture(around.topLeft()), port.to_picture(around.bottomRight()))
            scene.paint_ground(painter, area, port.scale, marks)


def _uncovered(whole: QRect, moved: QPoint) -> list[QRect]:
    """What comes into view in an area whose contents have moved: a strip at one side, and one above or below."""
    rest = whole.translated(moved).intersected(whole)
    if rest.isEmpty():
        return [whole]
    left = 0 if moved.x() > 0 else rest.right() + 1
    top = 0 if moved.y() > 0 else rest.bottom() + 1
    beside = QRect(left, 0, abs(moved.x()), whole.height())
    above = QRect(rest.left(), top, rest.width(), abs(moved.y()))
    return [strip for strip in (beside, above) if not strip.isEmpty()]


_PANS = {"page_up": (0, 0.8), "page_down": (0, -0.8), "pan_left": (0.2, 0), "pan_right": (-0.2, 0)}
"""Commands that move the picture, by parts of the widget's width and height."""


class GraphCanvas(QWidget):
    """Draws a :class:`GraphScene` under a zoom and an offset.

    ``picked`` carries a node the user selects (None: the empty ground), ``toggled`` a Repeat to collapse or expand,
    ``hovered`` the node under the pointer or None, ``asked`` a command by key, ``menu_asked`` a node and where on the
    screen. ``moved`` comes whenever another part of the picture is seen, or the picture is another.
    """

    spills = True
    """As a part of a picture: boxes at the edge reach beyond it, it needs clipping, or cover."""

    picked = Signal(object)
    toggled = Signal(object)
    hovered = Signal(object)
    asked = Signal(str)
    menu_asked = Signal(object, QPoint)
    moved = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._scene: GraphScene | None = None
        self._marks = Highlight()
        self._viewport = Viewport()
        self._backing = Backing()
        self._press: QPointF | None = None
        self._drag: QPointF | None = None
        self._can_stop = False
        self.waiting = QPushButton(self)
        self.waiting.move(8, 8)
        self.waiting.hide()
        self.waiting.setAccessibleName("Layout of the graph")
        self.waiting.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.waiting.clicked.connect(lambda: self.asked.emit("stop" if self._can_stop else "fit"))
        self._opening = False
        self._opening_node: int | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAccessibleName("Operator graph")
        self.setAccessibleDescription("Arrow keys move between operations, Enter opens and closes a Repeat")

    def sizeHint(self) -> QSize:
        return QSize(480, 360)

    # -- content --------------------------------------------------------------------------------------------------

    @property
    def scene(self) -> GraphScene | None:
        return self._scene

    @property
    def marks(self) -> Highlight:
        return self._marks

    @property
    def scale(self) -> float:
        return self._viewport.scale

    @property
    def _port(self) -> Viewport:
        """Zoom and offset, for the size the widget has now."""
        self._viewport.size = QSizeF(self.size())
        self._viewport.ratio = self.devicePixelRatioF()
        return self._viewport

    def set_scene(self, scene: GraphScene | None) -> None:
        """Draw another picture; zoom and offset stay (see :meth:`keep_in_place`, :meth:`fit`)."""
        self._scene = scene
        self._backing.clear()
        self._look_elsewhere()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        if self._scene is not None:
            self._scene.set_theme(theme, self.font())
        self.update()

    def set_marks(self, marks: Highlight) -> None:
        if marks != self._marks:
            self._marks = marks
            self._describe()
            self.update()

    def set_waiting(self, text: str, can_stop: bool = False) -> None:
        """A button over the drawing while the next one is made, or where none is; without a text there is none.

        Pressed (or by Escape) it gives up the layout where ``can_stop``; else it asks for one.
        """
        self._can_stop = can_stop
        self.waiting.setText(f"{text}  Esc stops" if can_stop else text)
        self.waiting.adjustSize()
        self.waiting.setVisible(bool(text))

    def _describe(self) -> None:
        node = self._marks.selected
        if node is None or self._scene is None:
            self.setAccessibleDescription("No operation selected. Arrow keys move between operations.")
            return
        tip = ". ".join(self.tip(node))
        self.setAccessibleDescription(f"Selected: {tip}")

    def tip(self, node: int) -> tuple[str, ...]:
        """What the tooltip of a node says, line by line."""
        if self._scene is None:
            return ()
        return (*self._scene.words[node].tip, *self._scene.style.figure_tip(node))

    # -- zoom and pan ---------------------------------------------------------------------------------------------

    def _look_elsewhere(self) -> None:
        self.update()
        self.moved.emit()

    def transform(self) -> QTransform:
        """Picture to widget."""
        return self._viewport.transform()

    def to_widget(self, point: QPointF) -> QPointF:
        return self.transform().map(point)

    def to_picture(self, point: QPointF) -> QPointF:
        return self._viewport.to_picture(point)

    def visible_area(self) -> QRectF:
        """The part of the picture in view."""
        return self._port.visible_area()

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        """Zoom about a point of the widget, its centre by default."""
        self._opening = False
        self._port.zoom(factor, at)
        self._look_elsewhere()

    def pan(self, dx: float, dy: float) -> None:
        self._opening = False
        self._viewport.offset += QPointF(dx, dy)
        self._look_elsewhere()

    def fit(self) -> None:
        """Show the whole graph."""
        self._opening = False
        if self._scene is not None:
            self._port.fit(self._scene.bounds)
            self._look_elsewhere()

    def show_readable(self, node: int | None) -> None:
        """The view a graph opens with: all of it where that can be read, else readable, around a node or at the top.

        It is chosen anew when the widget gets another size, until the user moves it (:attr:`is_opening`).
        """
        if self._scene is None:
            return
        self.fit()
        self._opening, self._opening_node = True, node
        if self.scale >= 0.6:
            return
        self._viewport.scale = READABLE
        rect = None if node is None else self._scene.rect(node)
        if rect is not None:
            spot = QPointF(rect.center().x(), rect.top() + min(rect.height(), 60.0) / 2)
        else:
            top = self._scene.bounds.top() + self.height() / 2 / READABLE - MARGIN
            spot = QPointF(self._top_x(), top)
        self._port.centre_on(spot)
        self._look_elsewhere()

    @property
    def is_opening(self) -> bool:
        """Whether the view is still the one that :meth:`show_readable` chose."""
        return self._opening

    def _top_x(self) -> float:
        assert self._scene is not None
        rects = self._scene.picture.rects
        if not len(rects):
            return 0.0
        # Columns of a long graph begin at one height.
        first = rects[np.lexsort((rects[:, 0], rects[:, 1]))[0]]
        return float(first[0] + first[2] / 2)

    def centre(self, node: int | None, scale: float | None = None) -> bool:
        """Bring a node to the middle; False where it is not shown."""
        rect = None if self._scene is None or node is None else self._scene.rect(node)
        if rect is None:
            return False
        self._opening = False
        if scale is not None:
            self._viewport.scale = scale
        self._port.centre_box(rect)
        self._look_elsewhere()
        return True

    def ensure_visible(self, node: int | None) -> None:
        """Move as little as is needed to have a node in view."""
        rect = None if self._scene is None or node is None else self._scene.rect(node)
        if rect is not None and self._port.reveal(rect):
            self._opening = False
            self._look_elsewhere()

    def keep_in_place(self, node: int, at: QPointF) -> None:
        """Shift so that the left upper corner of a node stands at a point of the widget."""
        rect = None if self._scene is None else self._scene.rect(node)
        if rect is not None:
            self._viewport.offset += at - self.to_widget(rect.topLeft())
            self._look_elsewhere()

    def corner(self, node: int) -> QPointF | None:
        """Where the left upper corner of a node is seen in the widget: that of its title, where that stays in view."""
        rect = None if self._scene is None else self._scene.rect(node)
        if rect is None or self._scene is None:
            return None
        if bool(self._scene.picture.expanded[self._scene.place[node]]):
            rect = self._scene.header(node, self.visible_area()) or rect
        return self.to_widget(rect.topLeft())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep what is in the middle in the middle."""
        if self._opening:
            self.show_readable(self._opening_node)
        elif event.oldSize().isValid() and event.oldSize().width() > 0:
            self._port.keep_middle(QSizeF(event.oldSize()))
        self.moved.emit()
        super().resizeEvent(event)

    # -- drawing --------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        with painting(self) as painter:
            self._paint(painter)

    def _paint(self, painter: QPainter) -> None:
        painter.fillRect(self.rect(), self._theme.color("background"))
        if self._scene is not None:
            self._backing.draw(painter, self._scene, self._port, self._marks)
            painter.save()
            painter.setTransform(self.transform(), True)
            self._scene.paint_over(painter, self.visible_area(), self.scale, self._marks)
            painter.restore()
        draw_focus(painter, self, self._theme.color("accent"))

    def hideEvent(self, event: QHideEvent) -> None:
        """Nothing is kept for a view that is not seen."""
        self._backing.clear()
        super().hideEvent(event)

    def draw(self, painter: QPainter) -> None:
        """Draw what is seen as a part of an exported picture: without what the pointer is on."""
        painter.fillRect(self.rect(), self._theme.color("background"))
        if self._scene is not None:
            painter.setTransform(self.transform(), True)
            marks = replace(self._marks, hovered=None)
            self._scene.paint(painter, self.visible_area(), self.scale, marks)

    # -- pointer --------------------------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            self._press = event.position()
            self._drag = None
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        position = event.position()
        if self._press is not None:
            if self._drag is None and (position - self._press).manhattanLength() > 5:
                self._drag = self._press
                self.setCursor(Qt.CursorShape.ClosedHandCursor)
            if self._drag is not None:
                moved = position - self._drag
                self.pan(moved.x(), moved.y())
                self._drag = position
            return
        node, _ = self._hit(position)
        if node != self._marks.hovered:
            self.hovered.emit(node)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        press, drag = self._press, self._drag
        self._press = self._drag = None
        self.unsetCursor()
        if press is None or drag is not None or event.button() != Qt.MouseButton.LeftButton:
            return
        self._click(event.position())

    def _click(self, position: QPointF) -> None:
        node, on_header = self._hit(position)
        self.picked.emit(node)
        if node is not None and on_header:
            self.toggled.emit(node)

    def _hit(self, position: QPointF) -> tuple[int | None, bool]:
        """The box or title under a point of the widget, and whether it is where a Repeat toggles.

        The ground inside an expanded Repeat is ground; titles lie above everything.
        """
        scene = self._scene
        if scene is None:
            return None, False
        point = self.to_picture(position)
        title = scene.title_at(point, self.visible_area())
        if title is not None:
            return title, True
        node = scene.node_at(point)
        if node is None or bool(scene.picture.expanded[scene.place[node]]):
            return None, False
        header = scene.header(node)
        return node, header is not None and header.contains(point)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """On a collapsed Repeat: open it. On the ground: show all."""
        node, on_header = self._hit(event.position())
        if node is None:
            self.fit()
        elif not on_header and self._scene is not None and self._scene.header(node) is not None:
            self.toggled.emit(node)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """On a box: the menu of its operation (by key: of the selected one), else that of the view."""
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        node = self._marks.selected if by_key else self._hit(QPointF(event.pos()))[0]
        if node is None:
            event.ignore()
            return
        rect = None if self._scene is None or not by_key else self._scene.rect(node)
        at = event.globalPos() if rect is None else self.mapToGlobal(self.to_widget(rect.center()).toPoint())
        self.menu_asked.emit(node, at)

    def leaveEvent(self, event: QEvent) -> None:
        if self._marks.hovered is not None:
            self.hovered.emit(None)
        super().leaveEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom about the pointer; with Shift or a sideways wheel pan across, with Alt up and down."""
        turn = event.angleDelta()
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.pan(turn.y() or turn.x(), 0)
        elif abs(turn.x()) > abs(turn.y()):
            self.pan(turn.x(), 0)
        else:
            self.zoom(1.0015 ** turn.y(), event.position())
        event.accept()

    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            self._show_tip(event.pos(), event.globalPos())
            return True
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self._command(event):
            event.accept()
            return True
        return super().event(event)

    def _show_tip(self, position: QPoint, at: QPoint) -> None:
        node, _ = self._hit(QPointF(position))
        if node is None:
            QToolTip.hideText()
            return
        QToolTip.showText(at, "<br>".join(escape(line) for line in self.tip(node)), self)

    # -- keys -----------------------------------------------------------------------------------------------------

    def _command(self, event: QKeyEvent) -> str | None:
        """The command of a key; Escape is the window's unless there is something to stop."""
        command = command_of(event)
        return None if command == "stop" and not self._can_stop else command

    def keyPressEvent(self, event: QKeyEvent) -> None:
        command = self._command(event)
        if command is None:
            super().keyPressEvent(event)
        elif command == "move":
            self.step(*DIRECTIONS[Qt.Key(event.key())])
        elif command == "toggle":
            node = self._marks.selected if self._marks.holder is None else self._marks.holder
            if node is not None and self._scene is not None and self._scene.header(node) is not None:
                self.toggled.emit(node)
        elif command.startswith("zoom"):
            self.zoom(1.25 if command == "zoom_in" else 0.8)
        elif command in _PANS:
            self.pan(_PANS[command][0] * self.width(), _PANS[command][1] * self.height())
        else:
            self.asked.emit(command)

    def step(self, dx: int, dy: int) -> None:
        """Select the nearest operation in a direction; the first one in view where none is selected."""
        if self._scene is None:
            return
        current = self._marks.selected
        if current not in self._scene.place:
            current = self._marks.holder
        found = nearest(self._scene, current, dx, dy)
        if found is not None:
            self.picked.emit(found)
            self.ensure_visible(found)
