"""The boxes of the graph's drawing: operations, collapsed Repeats and ports, with pens, letters and small signs.

All boxes in view are drawn in passes, what is alike together: frames of one colour, bars of one shade, texts in one
size. Thousands of boxes then take as many calls as there are texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum, auto

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter, QPen, QPolygonF

from tileview.graphlayout import GraphPicture, NodeKind, Structure
from tileview.present.graph_boxes import STATE_SHORT, ColourMode, GraphStyle, NodeWords, StepState
from tileview.qt.base.theme import Theme

_MOST_KEPT = 20_000
"""Texts whose width is remembered, a size of letters."""


class Detail(IntEnum):
    """What a zoom can show: coloured blocks, numbers, titles and shares, everything."""

    BLOCKS = 0
    NUMBERS = 1
    TITLES = 2
    ALL = 3


def detail_at(scale: float) -> Detail:
    """The detail for a zoom: text is drawn only where it is large enough to be read."""
    if scale >= 0.72:
        return Detail.ALL
    if scale >= 0.42:
        return Detail.TITLES
    return Detail.NUMBERS if scale >= 0.22 else Detail.BLOCKS


class TextSide(Enum):
    """Where a text stands in its room."""

    LEFT = auto()
    CENTRE = auto()
    RIGHT = auto()


@dataclass(slots=True)
class Letters:
    """One font in one size, with the texts it has been used for: shortened to a width, and how wide they are then."""

    font: QFont
    metrics: QFontMetricsF = field(init=False)
    drop: float = field(init=False)
    """From the middle of a line down to its baseline."""
    _kept: dict[tuple[str, float], tuple[str, float]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.metrics = QFontMetricsF(self.font)
        self.drop = (self.metrics.ascent() - self.metrics.descent()) / 2

    def fitted(self, text: str, room: float) -> tuple[str, float]:
        """A text shortened to a room, and its width."""
        key = (text, room)
        found = self._kept.get(key)
        if found is None:
            shown = self.metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
            found = (shown, self.metrics.horizontalAdvance(shown))
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[key] = found
        return found

    def write(self, painter: QPainter, area: QRectF, text: str, side: TextSide = TextSide.LEFT) -> None:
        """Write a text in the middle of an area's height; the painter has the font and the pen already."""
        room = area.width()
        shown, width = self.fitted(text, room)
        x = area.left()
        if side is not TextSide.LEFT:
            x += (room - width) / (2 if side is TextSide.CENTRE else 1)
        painter.drawText(QPointF(x, area.top() + area.height() / 2 + self.drop), shown)

    def write_two(
        self, painter: QPainter, area: QRectF, left: str, right: str, right_ink: QColor | None = None
    ) -> None:
        """A text at the left, shortened to what the one at the right leaves; that may have a colour of its own."""
        room = area
        if right:
            pen = None if right_ink is None else painter.pen()
            if right_ink is not None:
                painter.setPen(right_ink)
            self.write(painter, area, right, TextSide.RIGHT)
            if pen is not None:
                painter.setPen(pen)
            room = area.adjusted(0, 0, -self.fitted(right, area.width())[1] - 8, 0)
        if left and room.width() > 0:
            self.write(painter, room, left)


class Lettering:
    """A font, plain and bold, in the sizes that zooms ask for."""

    def __init__(self, font: QFont) -> None:
        self._fonts = (QFont(font), QFont(font))
        self._fonts[1].setBold(True)
        self._heights = tuple(QFontMetricsF(one).height() for one in self._fonts)
        self._kept: dict[tuple[bool, int], Letters] = {}

    def height(self, bold: bool = False) -> float:
        """The height of a line at the font's own size."""
        return self._heights[bold]

    def letters(self, bold: bool, scale: float, room: float) -> Letters:
        """Letters whose lines are as high as the font's own, larger when zoomed out so that they stay readable,
        never above the room. In units of the picture.
        """
        own = self._heights[bold]
        height = min(own if scale >= 0.9 else own * 0.9 / scale, room)
        font = self._fonts[bold]
        usual = font.pixelSize() if font.pixelSize() > 0 else own * 0.84
        pixels = max(1, int(usual * height / own))
        found = self._kept.get((bold, pixels))
        if found is None:
            sized = QFont(font)
            sized.setPixelSize(pixels)
            found = self._kept[bold, pixels] = Letters(sized)
        return found


@dataclass(slots=True)
class Pens:
    """Pens and fonts of one theme, made once."""

    theme: Theme
    font: QFont
    lettering: Lettering = field(init=False)
    edge: QPen = field(init=False)
    upwards: QPen = field(init=False)
    straight: QPen = field(init=False)
    far: QColor = field(init=False)
    far_back: QColor = field(init=False)

    def __post_init__(self) -> None:
        self.lettering = Lettering(self.font)
        self.edge = QPen(self.theme.color("baseline"), 1.3)
        self.upwards = QPen(self.theme.color("over"), 1.8, Qt.PenStyle.DashLine)
        # Thin lines seen from afar are pale, but not transparent: mixing them into what is there takes ten times as
        # long.
        self.straight = QPen(self._mixed("baseline", 0.43), 0)
        self.far = self._mixed("baseline", 0.47)
        self.far_back = self._mixed("over", 0.7)

    def _mixed(self, token: str, part: float) -> QColor:
        """A colour with so much of a token over the background."""
        ink, ground = self.theme.color(token), self.theme.color("background")
        red, green, blue = (
            part * one + (1 - part) * other
            for one, other in (
                (ink.redF(), ground.redF()),
                (ink.greenF(), ground.greenF()),
                (ink.blueF(), ground.blueF()),
            )
        )
        return QColor.fromRgbF(red, green, blue)


def draw_toggle(painter: QPainter, area: QRectF, width: float, is_open: bool, ink: QColor) -> None:
    """Plus or minus in a square, in the first ``width`` of an area: collapsed or expanded."""
    side = 11.0
    box = QRectF(0, 0, side, side)
    box.moveCenter(QPointF(area.left() + width / 2, area.center().y()))
    painter.setPen(QPen(ink, 1.3))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(box)
    middle = box.center()
    lines = [QLineF(box.left() + 2.5, middle.y(), box.right() - 2.5, middle.y())]
    if not is_open:
        lines.append(QLineF(middle.x(), box.top() + 2.5, middle.x(), box.bottom() - 2.5))
    painter.drawLines(lines)


def draw_warning(painter: QPainter, rect: QRectF, theme: Theme) -> None:
    """A triangle in the corner: something here was wrong in the file."""
    corner = rect.topRight()
    shape = [QPointF(corner.x() - 14, corner.y() + 1), QPointF(corner.x() - 1, corner.y() + 1)]
    shape.append(QPointF(corner.x() - 1, corner.y() + 14))
    painter.setPen(QPen(theme.color("background"), 1))
    painter.setBrush(theme.color("over"))
    painter.drawPolygon(QPolygonF(shape))


Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

BAR = 7.0
"""Height of the bar of a box at full detail, in units of the picture."""
_BAR_PARTS = {Detail.NUMBERS: 0.4, Detail.TITLES: 0.26}
"""The same as a part of the box's height, where there are fewer words."""
_READ_PART = 0.55
"""How high the part of a bar is that stands for what is read, so that it differs without colour."""
_BANDS = {Detail.BLOCKS: 0.35, Detail.NUMBERS: 0.14, Detail.TITLES: 0.1, Detail.ALL: 0.09}
"""How high the band of a box that holds memory is, as a part of the box."""


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """How a picture looks: what its boxes say, their figures and colours, pens and fonts."""

    words: tuple[NodeWords, ...]
    style: GraphStyle
    pens: Pens

    def aside(self, node: int) -> str:
        """The lower right text of a box: what it is at fault for, the parameters it reads, or its state where the
        colours say that.
        """
        if self.style.mode is ColourMode.STEP and len(self.style.states):
            return STATE_SHORT[StepState(int(self.style.states[node]))]
        text = self.style.over_text(node) if self.style.mode is ColourMode.SHARE else ""
        text = text or self.style.read_text(node)
        if text:
            return text
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

    def __init__(self, structure: Structure, picture: GraphPicture) -> None:
        self._structure = structure
        self._picture = picture
        self._rects = [QRectF(*rect) for rect in picture.rects.tolist()]

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
        is_by_step = look.style.mode is ColourMode.STEP
        for box in boxes:
            is_filled = is_by_step and not box.is_dim
            shade = int(look.style.shade[box.node]) if is_filled else -1
            pen = "grid" if box.is_dim else "idle" if shade == StepState.IDLE else "muted"
            pen = "fault" if box.node in look.style.marks.faults and not box.is_dim else pen
            pen = "unknown" if look.words[box.node].is_unknown else pen
            is_port = self._structure.nodes[box.node].is_port
            groups.setdefault((pen, shade, box.is_dim or is_port), []).append(box)
        theme = look.pens.theme
        for (pen, shade, is_flat), members in groups.items():
            painter.setPen(_frame_pen(pen, look.pens))
            ground = theme.color("background" if is_flat else "raised")
            painter.setBrush(ground if shade < 0 else QColor(*look.style.shades[shade].tolist()))
            if detail is Detail.NUMBERS and pen not in ("unknown", "fault"):
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
        """The parts of a box's bar for what is made and for what is read; empty where it has none."""
        made, read = self._bar_parts(np.array([place]), detail, style)
        return QRectF(*made[0].tolist()), QRectF(*read[0].tolist())

    def _bar_parts(self, places: Ints, detail: Detail, style: GraphStyle) -> tuple[Floats, Floats]:
        """(k, 4) left, top, width, height of what is made and of what is read: along the lower edges of boxes, all over
        them where there are no words. Widths are 0 in styles without bars.
        """
        rects = self._picture.rects[places]
        parts = style.bars[self._picture.nodes[places]] if len(style.bars) else np.zeros((len(places), 2))
        part = _BAR_PARTS.get(detail)
        made = rects.copy()
        if detail > Detail.BLOCKS:
            height = np.full(len(rects), BAR) if part is None else rects[:, 3] * part
            made += np.stack(
                [np.full(len(rects), 3.0), rects[:, 3] - height - 2, np.full(len(rects), -6.0), 0 * height], 1
            )
            made[:, 3] = height
        read, width = made.copy(), made[:, 2].copy()
        made[:, 2] = width * parts[:, 0]
        read[:, 0] += made[:, 2]
        read[:, 2] = width * (parts[:, 1] - parts[:, 0])
        if detail > Detail.BLOCKS:
            read[:, 1] += read[:, 3] * (1 - _READ_PART)
            read[:, 3] *= _READ_PART
        return made, read

    def _paint_bars(self, painter: QPainter, places: Ints, detail: Detail, look: Look) -> None:
        """Shares as bars: what the plan of the operation makes in its colour, grey and lower what it reads."""
        if not len(look.style.bars):
            return
        made, read = self._bar_parts(places, detail, look.style)
        shades = look.style.shade[self._picture.nodes[places]]
        painter.setPen(QPen(look.pens.theme.color("muted"), 0))
        painter.setBrush(look.pens.theme.color("border"))
        painter.drawRects([QRectF(*area) for area in read[read[:, 2] > 0].tolist()])
        for shade in np.unique(shades[made[:, 2] > 0]).tolist():
            painter.setBrush(QColor(*look.style.shades[shade].tolist()))
            painter.drawRects([QRectF(*area) for area in made[(shades == shade) & (made[:, 2] > 0)].tolist()])

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
        nodes = self._picture.nodes[places]
        shades = style.shade[nodes] if style.mode is ColourMode.STEP else np.full(len(places), -1)
        for shade in np.unique(shades).tolist():
            color = theme.color("raised") if shade < 0 else QColor(*style.shades[shade].tolist())
            painter.setPen(QPen(theme.color("border") if shade < 0 else color.darker(130), 0))
            painter.setBrush(color)
            painter.drawRects([self._rects[place] for place in places[shades == shade].tolist()])
        self._paint_bars(painter, places, Detail.BLOCKS, look)
        self._paint_bands(painter, places, Detail.BLOCKS, look)
        painter.setPen(QPen(theme.color("over"), 0))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        faults = places[np.isin(nodes, list(style.marks.faults))]
        painter.drawRects([self._rects[place] for place in faults.tolist()])

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

    def _aside_ink(self, node: int, look: Look) -> QColor | None:
        """The colour of the lower right text where it is not that of the others."""
        is_over = look.style.mode is ColourMode.SHARE and node in look.style.marks.faults
        return look.pens.theme.color("over") if is_over else None

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
                        letters.write(
                            painter, box.rect.adjusted(8, 0, -8, 0), look.words[box.node].title, TextSide.CENTRE
                        )
                continue
            insides = [(box.node, self._inside(box, detail, look, header)) for box in members]
            self._write(painter, insides, scale, detail, look)

    def _inside(self, box: _Box, detail: Detail, look: Look, header: float) -> QRectF:
        """The room for a box's words: above its bar, beside its signs."""
        rect = box.rect
        inside = rect.adjusted(8, 2, -8, -2)
        if look.style.mode.has_bars:
            part = _BAR_PARTS.get(detail)
            inside.setBottom(rect.bottom() - 2 - (BAR if part is None else part * rect.height()))
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
                bold.write(painter, upper, str(self._structure.nodes[node].operation), TextSide.CENTRE)
            else:
                bold.write_two(painter, upper, look.words[node].title, look.style.share_text(node))
        if detail is Detail.ALL:
            painter.setFont(plain.font)
            for node, inside in insides:
                lower = QRectF(inside.left(), inside.top() + height / 2, inside.width(), height / 2)
                plain.write_two(painter, lower, look.words[node].detail, look.aside(node), self._aside_ink(node, look))


def _frame_pen(name: str, pens: Pens) -> QPen:
    """The pen of a frame: ``unknown``, ``fault`` (of an overflow), ``idle`` (makes no step), or a token."""
    if name == "unknown":
        return QPen(pens.theme.color("warning"), 2.2, Qt.PenStyle.DashLine)
    if name == "fault":
        return QPen(pens.theme.color("over"), 1.8)
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
