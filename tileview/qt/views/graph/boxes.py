"""The boxes of the graph's drawing: operations, collapsed Repeats and ports.

All boxes in view are drawn in passes, what is alike together: frames of one colour, bars of one shade, texts in one
size. Thousands of boxes then take as many calls as there are texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen, QPolygonF

from tileview.graphlayout import NodeKind, Picture, Structure
from tileview.present.graph_figures import STATE_SHORT, StepState
from tileview.present.graph_style import ColourMode, GraphStyle
from tileview.present.graph_words import NodeWords
from tileview.qt.plot.polyline import polylines
from tileview.qt.views.graph.lettering import Side
from tileview.qt.views.graph.shapes import Detail, Pens, bar_area, bar_areas, draw_toggle, draw_warning, stripes

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


_BANDS = {Detail.BLOCKS: 0.35, Detail.NUMBERS: 0.14, Detail.TITLES: 0.1, Detail.ALL: 0.09}
"""How high the band of a box that holds memory is, as a part of the box."""


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """How a picture looks: what its boxes say, their figures and colours, pens and fonts."""

    words: tuple[NodeWords, ...]
    style: GraphStyle
    pens: Pens

    def shade(self, node: int) -> QColor | None:
        """The colour of a node's share or state; None where it has none."""
        shade = int(self.style.shade[node])
        return None if shade < 0 else QColor(*self.style.shades[shade].tolist())

    def aside(self, node: int) -> str:
        """The lower right text of a box: the parameters it reads, or its state where the colours say that."""
        if self.style.mode is ColourMode.STEP and len(self.style.states):
            return STATE_SHORT[StepState(int(self.style.states[node]))]
        read = self.style.read_text(node)
        if read:
            return read
        count = len(set(self.style.structure.nodes[node].parameters))
        return "" if not count else "1 param" if count == 1 else f"{count} params"


@dataclass(frozen=True, slots=True)
class _Box:
    """A box in view."""

    node: int
    rect: QRectF
    is_dim: bool
    """A search passes over it: it steps back to outline and muted text, which can still be read."""


class BoxLayer:
    """All boxes of a picture that are not drawn around a body."""

    def __init__(self, structure: Structure, picture: Picture) -> None:
        self._structure = structure
        self._picture = picture
        self._rects = [QRectF(*rect) for rect in picture.rects.tolist()]
        self._filled: tuple[GraphStyle | None, list[QRectF]] = (None, [])

    def rect(self, place: int) -> QRectF:
        """Where the box in a row of the picture stands."""
        return self._rects[place]

    def paint(
        self,
        painter: QPainter,
        places: Ints,
        scale: float,
        detail: Detail,
        look: Look,
        found: frozenset[int] | None,
        header: float,
    ) -> None:
        """Draw the boxes in some rows of the picture.

        Parameters
        ----------
        found
            Matches of a search: the others are dimmed. None while none is made.
        header
            How wide the sign of a collapsed Repeat stands at its left.
        """
        nodes = self._picture.nodes[places]
        is_dim = np.zeros(len(nodes), dtype=np.bool_) if found is None else ~np.isin(nodes, list(found))
        if detail is Detail.BLOCKS:
            painter.setOpacity(0.25)
            self._paint_blocks(painter, places[is_dim], look)
            painter.setOpacity(1.0)
            self._paint_blocks(painter, places[~is_dim], look)
            return
        boxes = [
            _Box(node, self._rects[place], dim)
            for node, place, dim in zip(nodes.tolist(), places.tolist(), is_dim.tolist(), strict=True)
        ]
        self._paint_frames(painter, boxes, detail, look)
        self._paint_bars(painter, places[~is_dim], detail, look)
        self._paint_bands(painter, places[~is_dim], detail, look)
        self._paint_signs(painter, boxes, look, header)
        self._paint_words(painter, boxes, scale, detail, look, header)

    # -- frames ---------------------------------------------------------------------------------------------------

    def _paint_frames(self, painter: QPainter, boxes: Iterable[_Box], detail: Detail, look: Look) -> None:
        groups: dict[tuple[str, int, bool], list[_Box]] = {}
        for box in boxes:
            is_filled = look.style.mode is ColourMode.STEP and not box.is_dim
            shade = int(look.style.shade[box.node]) if is_filled else -1
            pen = "grid" if box.is_dim else "idle" if shade == StepState.IDLE else "muted"
            pen = "unknown" if look.words[box.node].is_unknown else pen
            is_port = self._structure.nodes[box.node].is_port
            groups.setdefault((pen, shade, box.is_dim or is_port), []).append(box)
        theme = look.pens.theme
        for (pen, shade, is_flat), members in groups.items():
            is_unknown = pen == "unknown"
            painter.setPen(_frame_pen(pen, look.pens))
            ground = theme.color("background" if is_flat else "raised")
            painter.setBrush(ground if shade < 0 else QColor(*look.style.shades[shade].tolist()))
            if detail is Detail.NUMBERS and not is_unknown:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
                painter.drawRects([box.rect for box in members if not self._is_special(box.node)])
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                members = [box for box in members if self._is_special(box.node)]
            for box in members:
                self._paint_frame(painter, box)

    def _is_special(self, node: int) -> bool:
        """Whether the shape of a box says what it is, however small it is drawn."""
        return self._structure.nodes[node].kind is not NodeKind.OPERATION

    def _paint_frame(self, painter: QPainter, box: _Box) -> None:
        entry, rect = self._structure.nodes[box.node], box.rect
        radius = rect.height() / 2 if entry.is_port else 5.0
        painter.drawRoundedRect(rect, radius, radius)
        if entry.kind is NodeKind.REPEAT:
            painter.drawRoundedRect(rect.adjusted(3, 3, -3, -3), 3, 3)

    # -- bars and blocks ------------------------------------------------------------------------------------------

    def bar(self, place: int, detail: Detail, style: GraphStyle) -> tuple[QRectF, QRectF]:
        """The plain and the striped part of a box's bar; empty where it has none."""
        if not len(style.bars):
            return QRectF(), QRectF()
        area = bar_area(self._rects[place], detail)
        plain, whole = (float(part) * area.width() for part in style.bars[int(self._picture.nodes[place])])
        return (
            QRectF(area.left(), area.top(), plain, area.height()),
            QRectF(area.left() + plain, area.top(), whole - plain, area.height()),
        )

    def _paint_bars(self, painter: QPainter, places: Ints, detail: Detail, look: Look) -> None:
        """Shares as bars: plain what the operation holds, striped the parameters and inputs it reads."""
        style = look.style
        if not len(style.bars):
            return
        nodes = self._picture.nodes[places]
        shades = style.shade[nodes]
        places, nodes, shades = places[shades >= 0], nodes[shades >= 0], shades[shades >= 0]
        areas = bar_areas(self._picture.rects[places], detail)
        width = areas[:, 2].copy()
        areas[:, 2] = width * style.bars[nodes, 1]
        painter.setPen(QPen(look.pens.theme.color("muted"), 0))
        for shade in np.unique(shades).tolist():
            painter.setBrush(QColor(*style.shades[shade].tolist()))
            painter.drawRects([QRectF(*area) for area in areas[shades == shade].tolist()])
        if detail < Detail.TITLES:
            return
        start = width * style.bars[nodes, 0]
        areas[:, 0] += start
        areas[:, 2] -= start
        inks = style.inks[shades]
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for ink in np.unique(inks, axis=0).tolist():
            color = QColor(*ink)
            color.setAlpha(190)
            painter.setPen(QPen(color, 1.2))
            painter.drawPath(polylines(stripes(areas[(inks == ink).all(axis=1)]).reshape(-1, 2, 2)))

    def _paint_bands(self, painter: QPainter, places: Ints, detail: Detail, look: Look) -> None:
        """A band below the boxes that hold memory at the step: their colour alone is close to others."""
        style = look.style
        if style.mode is not ColourMode.STEP or not len(style.states):
            return
        places = places[style.shade[self._picture.nodes[places]] == int(StepState.HOLDS)]
        left, top, width, height = self._picture.rects[places].T
        band = height * _BANDS[detail]
        areas = np.stack([left + 2, top + height - band - 2, width - 4, band], axis=1)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(look.pens.theme.color("accent"))
        painter.drawRects([QRectF(*area) for area in areas.tolist()])

    def _paint_blocks(self, painter: QPainter, places: Ints, look: Look) -> None:
        """Boxes without words, those of one colour together: filled by state, or as far as their share reaches."""
        if not len(places):
            return
        theme, style = look.pens.theme, look.style
        is_filled = style.mode is ColourMode.STEP
        border = theme.color("border")
        shades = style.shade[self._picture.nodes[places]]
        if not is_filled:
            painter.setPen(QPen(border, 0))
            painter.setBrush(theme.color("raised"))
            painter.drawRects([self._rects[place] for place in places.tolist()])
        rects = self._rects if is_filled else self._blocks(style)
        for shade in np.unique(shades).tolist():
            if shade < 0 and not is_filled:
                continue
            color = theme.color("raised") if shade < 0 else QColor(*style.shades[shade].tolist())
            painter.setPen(QPen(border if shade < 0 else color.darker(130), 0) if is_filled else Qt.PenStyle.NoPen)
            painter.setBrush(color)
            painter.drawRects([rects[place] for place in places[shades == shade].tolist()])
        self._paint_bands(painter, places, Detail.BLOCKS, look)

    def _blocks(self, style: GraphStyle) -> list[QRectF]:
        """By place: the part of a box that its share fills, where boxes have no words; made once for each style."""
        if self._filled[0] is not style:
            rects = self._picture.rects.copy()
            rects[:, 2] *= style.bars[self._picture.nodes, 1]
            self._filled = style, [QRectF(*rect) for rect in rects.tolist()]
        return self._filled[1]

    # -- signs ----------------------------------------------------------------------------------------------------

    def _paint_signs(self, painter: QPainter, boxes: Iterable[_Box], look: Look, header: float) -> None:
        """What some boxes have besides: a size not known in full, a value that nothing makes, the step's mark."""
        for box in boxes:
            entry, rect = self._structure.nodes[box.node], box.rect
            if look.style.is_partly_unknown(box.node):
                _paint_hatch(painter, rect, look.pens)
            if entry.missing:
                draw_warning(painter, rect, look.pens.theme)
            if entry.kind is NodeKind.REPEAT:
                strip = QRectF(rect.left(), rect.top(), header, rect.height())
                draw_toggle(painter, strip, header, False, self._ink(box, look))
            if box.node == look.style.running and look.style.mode is ColourMode.STEP:
                painter.fillRect(QRectF(rect.left() + 3, rect.top() + 5, 3, rect.height() - 10), self._ink(box, look))

    def _ink(self, box: _Box, look: Look) -> QColor:
        """The colour of text on a box."""
        shade = int(look.style.shade[box.node])
        if look.style.mode is ColourMode.STEP and shade >= 0 and not box.is_dim:
            return QColor(*look.style.inks[shade].tolist())
        return look.pens.theme.color("muted" if box.is_dim else "text")

    # -- words ----------------------------------------------------------------------------------------------------

    def _paint_words(
        self, painter: QPainter, boxes: Sequence[_Box], scale: float, detail: Detail, look: Look, header: float
    ) -> None:
        """Texts by ink, and those of one size together: changing the pen or the font costs as much as a short text."""
        groups: dict[tuple[int, float, bool], list[_Box]] = {}
        for box in boxes:
            is_port = self._structure.nodes[box.node].is_port
            groups.setdefault((self._ink(box, look).rgb(), box.rect.height(), is_port), []).append(box)
        for (ink, height, is_port), members in groups.items():
            painter.setPen(QColor.fromRgb(ink))
            if is_port:
                if detail >= Detail.TITLES:
                    letters = look.pens.lettering.letters(False, scale, (height - 3) * 0.94)
                    painter.setFont(letters.font)
                    for box in members:
                        letters.write(painter, box.rect.adjusted(8, 0, -8, 0), look.words[box.node].title, Side.CENTRE)
                continue
            insides = [(box.node, self._inside(box, detail, look, header)) for box in members]
            self._write(painter, insides, scale, detail, look)

    def _inside(self, box: _Box, detail: Detail, look: Look, header: float) -> QRectF:
        """The room for a box's words: above its bar, beside its signs."""
        rect = box.rect
        inside = rect.adjusted(8, 2, -8, -2)
        if look.style.mode is ColourMode.SHARE:
            inside.setBottom(bar_area(rect, detail).top())
        if self._structure.nodes[box.node].kind is NodeKind.REPEAT:
            inside.setLeft(rect.left() + header - 2)
        return inside

    def _write(
        self,
        painter: QPainter,
        insides: Sequence[tuple[int, QRectF]],
        scale: float,
        detail: Detail,
        look: Look,
    ) -> None:
        height = insides[0][1].height()
        room = {Detail.NUMBERS: height, Detail.TITLES: height * 0.72}.get(detail, height / 2)
        bold, plain = (look.pens.lettering.letters(is_bold, scale, room) for is_bold in (True, False))
        painter.setFont(bold.font)
        for node, inside in insides:
            upper = QRectF(inside)
            if detail is Detail.ALL:
                upper.setHeight(height / 2)
            if node == look.style.running:
                upper.setLeft(_paint_running(painter, upper, scale))
            if detail is Detail.NUMBERS:
                bold.write(painter, upper, str(self._structure.nodes[node].operation), Side.CENTRE)
            else:
                bold.write_two(painter, upper, look.words[node].title, look.style.share_text(node))
        if detail is Detail.ALL:
            painter.setFont(plain.font)
            for node, inside in insides:
                lower = QRectF(inside.left(), inside.top() + height / 2, inside.width(), height / 2)
                plain.write_two(painter, lower, look.words[node].detail, look.aside(node))


def _frame_pen(name: str, pens: Pens) -> QPen:
    """The pen of a frame: ``unknown``, ``idle`` (makes no step), or a token."""
    if name == "unknown":
        return QPen(pens.theme.color("warning"), 2.2, Qt.PenStyle.DashLine)
    if name == "idle":
        return QPen(pens.theme.color("muted"), 1.0, Qt.PenStyle.DotLine)
    return QPen(pens.theme.color(name), 1.0)


def _paint_hatch(painter: QPainter, rect: QRectF, pens: Pens) -> None:
    """Lines over the lower edge of a box whose size is not known in full."""
    band = QRectF(rect.left() + 2, rect.bottom() - 8, rect.width() - 4, 6)
    painter.fillRect(band, pens.theme.color("background"))
    painter.fillRect(band, QBrush(pens.theme.color("unavailable"), Qt.BrushStyle.BDiagPattern))


def _paint_running(painter: QPainter, line: QRectF, scale: float) -> float:
    """A triangle in the colour of the text, before the title of the step's operation; returns where that begins."""
    size = min(line.height() - 4, max(8.0, 7.0 / scale))
    left, middle = line.left(), line.center().y()
    shape = [QPointF(left, middle - size / 2), QPointF(left + size, middle), QPointF(left, middle + size / 2)]
    pen = QPen(painter.pen())
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(pen.color())
    painter.drawPolygon(QPolygonF(shape))
    painter.setPen(pen)
    return left + size + 4
