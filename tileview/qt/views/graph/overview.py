"""All of the graph beside the part in view: a bar with a tick for each box, those at fault in red by name."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from tileview.qt.base.painting import painting
from tileview.qt.base.text import plain_tip
from tileview.qt.base.theme import Theme
from tileview.qt.views.graph.scene import GraphScene

_MARGIN = 6.0
_TICKS = 16.0
"""How wide the column of ticks is."""
_LEFT = 8.0


class Overview(QWidget):
    """The boxes of a scene from top to bottom as one reads the graph, and which of them are in view.

    ``asked`` carries the node that a press or a drag leads to.
    """

    asked = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._scene: GraphScene | None = None
        self._nodes: list[int] = []
        self._at: dict[int, int] = {}
        self._seen: tuple[int, int] | None = None
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Overview of the graph")

    def sizeHint(self) -> QSize:
        return QSize(round(_LEFT + _TICKS + 10 + self.fontMetrics().horizontalAdvance("op 000")), 100)

    def show_scene(self, scene: GraphScene | None, theme: Theme) -> None:
        """Another picture, or another style of it."""
        self._theme = theme
        if scene is not self._scene:
            self._scene, self._nodes, self._seen = scene, [], None
            if scene is not None:
                nodes, picture = scene.structure.nodes, scene.picture
                shown = (node for node in scene.structure.in_order() if node in scene.place)
                self._nodes = [
                    node for node in shown if not nodes[node].is_port and not picture.expanded[scene.place[node]]
                ]
            self._at = {node: place for place, node in enumerate(self._nodes)}
        self.setAccessibleDescription("; ".join(f"{name}: {text}" for _, name, text in self._faults()))
        self.update()

    def show_area(self, area: QRectF) -> None:
        """Mark the boxes in a part of the picture as those in view."""
        seen: tuple[int, int] | None = None
        if self._scene is not None:
            nodes = self._scene.picture.nodes[self._scene.in_view(area)].tolist()
            places = [self._at[node] for node in nodes if node in self._at]
            seen = (min(places), max(places)) if places else None
        if seen != self._seen:
            self._seen = seen
            self.update()

    def _faults(self) -> list[tuple[int, str, str]]:
        """(place, name, by how much) of the boxes at fault, the worst first."""
        if self._scene is None:
            return []
        style = self._scene.style
        faults = [(node, *fault) for node, fault in style.marks.faults.items() if node in self._at]
        faults.sort(key=lambda fault: -fault[2])
        return [(self._at[node], f"op {operation}", style.over_text(node)) for node, operation, _ in faults]

    def place(self, node: int) -> QRectF:
        """Where the tick of a box stands; empty for one that has none."""
        return self._tick(self._at[node]) if node in self._at else QRectF()

    def _tick(self, place: int) -> QRectF:
        pitch = (self.height() - 2 * _MARGIN) / max(len(self._nodes), 12)
        return QRectF(_LEFT, _MARGIN + place * pitch, _TICKS, max(pitch - 1.0, 1.0))

    def _node_at(self, point: QPointF) -> int | None:
        if not self._nodes:
            return None
        pitch = (self.height() - 2 * _MARGIN) / max(len(self._nodes), 12)
        place = int((point.y() - _MARGIN) // pitch) if pitch > 0 else 0
        return self._nodes[min(max(place, 0), len(self._nodes) - 1)]

    # -- drawing --------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        with painting(self) as painter:
            painter.fillRect(self.rect(), self._theme.color("surface"))
            if self._scene is None or not self._nodes:
                return
            # More boxes than pixels: one tick for each pixel is all that can be seen.
            stride = max(1, int(len(self._nodes) // max(self.height(), 1)))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color("baseline"))
            painter.drawRects([self._tick(place) for place in range(0, len(self._nodes), stride)])
            taken = self._paint_faults(painter)
            self._paint_repeats(painter, self._scene, taken)
            if self._seen is not None:
                first, last = (self._tick(place) for place in self._seen)
                painter.setPen(QPen(self._theme.color("accent"), 1.5))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(QRectF(2, first.top() - 2, self.width() - 4, last.bottom() - first.top() + 4))

    def _paint_faults(self, painter: QPainter) -> list[QRectF]:
        """Red ticks, wider than the others, and their names as far as these do not meet; gives where these stand."""
        painter.setBrush(self._theme.color("over"))
        taken: list[QRectF] = []
        faults = self._faults()
        for place, _, _ in faults:
            tick = self._tick(place)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.drawRect(QRectF(tick.left() - 4, tick.center().y() - 1.5, tick.width() + 8, 3))
        painter.setPen(self._theme.color("over"))
        font = self.font()
        font.setBold(True)
        painter.setFont(font)
        for place, name, _ in faults:
            self._write(painter, self._tick(place).center().y(), name, taken)
        painter.setFont(self.font())
        return taken

    def _paint_repeats(self, painter: QPainter, scene: GraphScene, taken: list[QRectF]) -> None:
        """A dotted frame around the body of each outer Repeat, and how often it runs."""
        for owner, body in ((node, node.body) for node in scene.structure.nodes if node.region == 0):
            inside = (
                [self._at[node] for node in scene.structure.regions[body].nodes if node in self._at] if body else []
            )
            if not inside:
                continue
            first, last = self._tick(min(inside)), self._tick(max(inside))
            painter.setPen(QPen(self._theme.color("muted"), 1, Qt.PenStyle.DotLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(_LEFT - 4, first.top() - 1, _TICKS + 8, last.bottom() - first.top() + 2))
            painter.setPen(self._theme.color("muted"))
            self._write(painter, (first.top() + last.bottom()) / 2, f"×{owner.count}", taken)

    def _write(self, painter: QPainter, y: float, text: str, taken: list[QRectF]) -> None:
        """Write beside the ticks, unless something stands there."""
        height = self.fontMetrics().height()
        left = _LEFT + _TICKS + 6
        top = min(max(y - height / 2, 0.0), self.height() - height)
        area = QRectF(left, top, self.width() - left - 2, height)
        if not any(area.intersects(other) for other in taken):
            taken.append(area)
            painter.drawText(area, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), text)

    # -- pointer --------------------------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.mouseMoveEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        node = self._node_at(event.position())
        if event.buttons() & Qt.MouseButton.LeftButton and node is not None:
            self.asked.emit(node)

    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            node = self._node_at(QPointF(event.pos()))
            if node is not None and self._scene is not None:
                style = self._scene.style
                figures = style.over_text(node) or style.share_text(node)
                words = self._scene.words[node].title + (f": {figures}" if figures else "")
                QToolTip.showText(event.globalPos(), plain_tip(words), self)
            return True
        return super().event(event)
