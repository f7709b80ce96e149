"""What lies in the plot of the tile map: axes, image, lines over it, colour bar, and the scale of each metric."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from pyqtgraph.Qt import internals
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetrics, QImage, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from tileview.analysis.placement import OUTCOMES
from tileview.core.geometry.chip import Grid, grid
from tileview.model.timeline import Timeline
from tileview.present.curves import BoolArray, IndexArray
from tileview.present.rasters import (
    ByteImage,
    FloatArray,
    Metric,
    Scale,
    ScaleMode,
    TileField,
    hatch_lines,
    islands,
    lines_within,
    mask_on_grid,
    outline,
    scale_for,
)
from tileview.present.scales import (
    LEVELS,
    OVER_LINE,
    UNIT_BYTES,
    Ramp,
    RgbArray,
    Slot,
    byte_ticks,
    colour_table,
    parse_rgb,
    ramp_table,
)
from tileview.present.state_charts import DifferenceScale
from tileview.qt.base.painting import painting, told
from tileview.qt.base.theme import Theme
from tileview.qt.plot.items import PlotAxis
from tileview.qt.plot.legend import LegendLine
from tileview.qt.views.tiles.controls import LegendEntry


class MetricScales:
    """How each metric is scaled, for each apart.

    All start locked to 0 … budget, but for the bytes of a single allocation: they end at its largest, which is the same
    at every step, so that it is as steady, and small ones are seen.
    """

    def __init__(self) -> None:
        self._modes = dict.fromkeys(Metric, ScaleMode.LOCKED) | {Metric.ALLOCATION: ScaleMode.AUTO}
        self._ends: dict[Metric, tuple[int, int]] = {}
        self._differences = DifferenceScale()

    def mode(self, metric: Metric) -> ScaleMode:
        return self._modes[metric]

    def of(
        self, timeline: Timeline, field: TileField, baseline: Timeline | None = None, matches: IndexArray | None = None
    ) -> Scale:
        """What the colours of a picture mean; differences are from ``baseline``, whose steps ``matches`` gives."""
        known = 0
        if field.metric is Metric.DIFFERENCE and baseline is not None:
            known = self._differences.largest(timeline, baseline, matches, field)
        return scale_for(timeline, field, self._modes[field.metric], self._ends.get(field.metric), known)

    def choose(
        self, metric: Metric, mode: ScaleMode, ends: tuple[int, int] | None, current: Scale | None
    ) -> tuple[int, int] | None:
        """Another scale; gives the ends of a custom one: those asked for, those it had before, or the current ones."""
        self._modes[metric] = mode
        if mode is not ScaleMode.CUSTOM:
            return None
        chosen = ends or self._ends.get(metric)
        if chosen is None:
            chosen = (0, 1 << 19) if current is None else (current.low, current.high)
        self._ends[metric] = chosen
        return chosen

    def set_ends(self, metric: Metric, ends: tuple[int, int]) -> bool:
        """Ends of a custom scale; False where the lower is not below the upper, then nothing changes."""
        if ends[0] >= ends[1]:
            return False
        self._ends[metric] = ends
        return True


FEW_OVER = 64
"""So many tiles over a budget are hatched at most: over more, the lines would hide the values."""
_INK, _HALO = "#000000", "#ffffff"
"""Lines on the colours of a ramp: these do not change with the theme."""
_BAR = 10
"""Pixels of the colour bar's width."""


def slot_table(theme: Theme, ramp: Ramp) -> RgbArray:
    """(256, 3): the colours of an image of slots in a theme."""
    return colour_table(
        ramp,
        {
            Slot.BACKGROUND: parse_rgb(theme.background),
            Slot.ABSENT: parse_rgb(theme.raised),
            Slot.UNAVAILABLE: parse_rgb(theme.surface),
        },
    )


def square_pen(color: str, width: float = 1.0, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> QPen:
    """A pen of so many pixels, however the plot is scaled; its lines end in corners, so that frames close."""
    pen: QPen = pg.mkPen(color, width=width, style=style)
    pen.setCapStyle(Qt.PenCapStyle.SquareCap)
    return pen


def legend_of(entries: Sequence[LegendEntry], theme: Theme) -> tuple[LegendLine, ...]:
    """The entries of a legend as they are drawn: hollow frames, crosses, filled swatches."""
    muted = square_pen(theme.muted)
    signs = {
        "over": (square_pen(OVER_LINE, 2), QBrush(Qt.GlobalColor.transparent)),
        "selected": (square_pen(theme.mark, 2), QBrush(Qt.GlobalColor.transparent)),
        "unavailable": (muted, QBrush(theme.color("unavailable"), Qt.BrushStyle.DiagCrossPattern)),
        "absent": (muted, QBrush(theme.color("raised"))),
    }
    signs |= {outcome: (muted, placed_brush(code)) for code, outcome in enumerate(OUTCOMES)}
    found = []
    for entry in entries:
        pen, brush = signs[entry.sign] if entry.sign in signs else (muted, QBrush(theme.color(entry.sign)))
        found.append(LegendLine(entry.text, pen, brush))
    return tuple(found)


def placed_patterns(codes: IndexArray) -> list[tuple[BoolArray, str, bool]]:
    """The hatches that tell outcomes apart without colour: (tiles, colour of the lines, whether they fall)."""
    lines = ((2, _INK, False), (3, _HALO, False), (4, _HALO, False), (4, _HALO, True))
    return [(codes == code, ink, falling) for code, ink, falling in lines]


def placed_brush(code: int) -> QBrush:
    """The fill of an outcome with its hatch."""
    red, green, blue = ramp_table(Ramp.PLACEMENT)[(code * 2 + 1) * LEVELS // (2 * len(OUTCOMES))].tolist()
    picture = QPixmap(8, 8)
    picture.fill(QColor(red, green, blue))
    with painting(picture) as painter:
        codes = np.array([code])
        for mask, ink, falling in placed_patterns(codes):
            if mask[0]:
                painter.setPen(square_pen(ink))
                painter.drawLine(*((0, 0, 7, 7) if falling else (0, 7, 7, 0)))
    return QBrush(picture)


class SlotImage(pg.ImageItem):
    """An image of slots, one pixel a tile; :meth:`show_cells` gives it the pixels, ``setLookupTable`` the colours."""

    qimage: QImage | None

    def __init__(self) -> None:
        super().__init__(axisOrder="row-major")

    def show_cells(self, cells: ByteImage, place: QRectF | None = None) -> None:
        """Show (rows, columns) slots; ``place`` in the units of the plot, by default one unit a tile."""
        self.setImage(cells, autoLevels=False, levels=(0, 255))
        self.setRect(QRectF(0, 0, cells.shape[1], cells.shape[0]) if place is None else place)

    def render(self) -> None:
        """Make the picture; in 32 bits, which Qt scales ten times as fast as one with a colour table."""
        super().render()
        if self.qimage is not None:
            self.qimage = self.qimage.convertToFormat(QImage.Format.Format_RGB32)


class CellAxis(PlotAxis):
    """Numbers in the middle of every 1st, 2nd, 4th … row or column; those of rows in logical order count tiles."""

    def __init__(self, orientation: str) -> None:
        super().__init__(orientation)
        self._grid = grid(0)
        self.setStyle(tickLength=0)

    def dress(self, theme: Theme, font: QFont, grid: bool = False) -> None:
        super().dress(theme, font)
        self.setPen(square_pen(theme.background))
        self.show_grid(self._grid)

    def show_grid(self, shown: Grid) -> None:
        """Count what the grid has along this axis."""
        self._grid = shown
        if self.orientation == "left":
            self.setWidth(self._metrics.horizontalAdvance(self._text(max(shown.rows - 1, 0))) + 8)
        else:
            self.setHeight(self._metrics.height() + 3)
        self.picture = None
        self.update()

    def _text(self, place: int) -> str:
        if self.orientation != "left":
            return f"{place}" if self._grid.is_chip else f"+{place}"
        return f"{place * (1 if self._grid.is_chip else self._grid.columns):,}"

    def ticks(self, low: float, high: float, pixels: float) -> list[tuple[float, str]]:
        low, high = sorted((low, high))  # rows count downwards
        last = self._grid.rows if self.orientation == "left" else self._grid.columns
        needed = 1.3 * self._metrics.height()
        if self.orientation != "left":
            needed = self._metrics.horizontalAdvance(self._text(max(last, 1))) + 8
        every = 1
        while every * pixels < needed * (high - low) and every < 4096:
            every *= 2
        first = -(-max(int(low), 0) // every) * every
        shown = range(first, min(int(np.ceil(high)), last), every)
        return [(place + 0.5, self._text(place)) for place in shown if low <= place + 0.5 <= high]


class CellLines(pg.GraphicsObject):
    """Hatches, the line around tiles over a budget, and the frames of what is held, selected or pointed at.

    All in cells: column from the left, row from above. Lines keep their pixels whatever the zoom.
    """

    def __init__(self) -> None:
        super().__init__()
        self._grid = grid(0)
        self._layers: dict[str, tuple[FloatArray, tuple[QPen, ...]]] = {}
        self._hatched: tuple[tuple[IndexArray, QPen, bool], ...] = ()
        self.is_plain = True
        """Whether nothing is hatched: then the lines depend only on which tiles are over."""
        self._lines = internals.PrimitiveArray(QLineF, 4)

    def set_grid(self, shown: Grid) -> None:
        self.prepareGeometryChange()
        self._grid = shown
        self._layers.clear()
        self._hatched = ()

    def boundingRect(self) -> QRectF:
        return QRectF(-0.5, -0.5, self._grid.columns + 1, self._grid.rows + 1)

    def set_over(self, slots: ByteImage, over: BoolArray, light: BoolArray, theme: Theme) -> None:
        """Line and hatch of the tiles over a budget, crosses of unavailable ones; small islands and holes have a thin
        line.

        ``slots`` and ``over`` are (tiles,), ``light`` says on which slots lines have to be light.
        """
        mask = mask_on_grid(self._grid, over)
        holes = islands(~mask & (self._grid.tile >= 0)) if bool(mask.any()) else mask
        small = islands(mask)
        red, halo = square_pen(OVER_LINE, 2), square_pen(_HALO, 4)
        self._set("over", outline((mask | holes) & ~small), halo, red)
        self._set("islands", outline(small | holes), square_pen(OVER_LINE, 1))
        hatched = []
        if 0 < int(over.sum()) <= FEW_OVER:
            for is_light, ink in ((False, _INK), (True, _HALO)):
                hatched.append((self._places(over & (light[slots] == is_light)), square_pen(ink), False))
        lost = slots == Slot.UNAVAILABLE
        if bool(lost.any()):
            pen = square_pen(theme.unavailable)
            hatched += [(self._places(lost), pen, False), (self._places(lost), pen, True)]
        self._hatched = tuple(entry for entry in hatched if len(entry[0]))
        self.is_plain = not self._hatched
        self.update()

    def set_patterns(self, tiles: Sequence[tuple[BoolArray, str, bool]]) -> None:
        """Hatches instead, and no line around tiles over a budget: (tiles, colour, whether the lines fall)."""
        for name in ("over", "islands"):
            self._set(name, np.zeros((0, 4)))
        hatched = ((self._places(mask), square_pen(ink), falling) for mask, ink, falling in tiles)
        self._hatched = tuple(entry for entry in hatched if len(entry[0]))
        self.is_plain = False
        self.update()

    def frame(self, name: str, tiles: BoolArray | None, *pens: QPen) -> None:
        """A frame around tiles, under a name of its own; None or no tile takes it away. Later pens lie above."""
        mask = None if tiles is None or len(tiles) != len(self._grid.row) else mask_on_grid(self._grid, tiles)
        self._set(name, np.zeros((0, 4)) if mask is None else outline(mask), *pens)
        self.update()

    def frame_tile(self, name: str, tile: int | None, *pens: QPen) -> None:
        """The same around one tile."""
        lines = np.zeros((0, 4))
        if tile is not None and tile < len(self._grid.row):
            x, y = int(self._grid.column[tile]), int(self._grid.row[tile])
            lines = np.array([[x, y, x + 1, y], [x, y + 1, x + 1, y + 1], [x, y, x, y + 1], [x + 1, y, x + 1, y + 1]])
        self._set(name, lines, *pens)
        self.update()

    def _set(self, name: str, lines: FloatArray | IndexArray, *pens: QPen) -> None:
        if len(lines):
            self._layers[name] = (lines.astype(np.float64), pens)
        else:
            self._layers.pop(name, None)

    def _places(self, tiles: BoolArray) -> IndexArray:
        return np.column_stack([self._grid.column[tiles], self._grid.row[tiles]])

    @told()
    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        view = self.getViewBox()
        width, height = view.viewPixelSize()
        seen = view.viewRect()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        for cells, pen, falling in self._hatched:
            inside = (cells + 1 > (seen.left(), seen.top())) & (cells < (seen.right(), seen.bottom()))
            self._draw(painter, hatch_lines(cells[inside.all(axis=1)], 1 / width, 1 / height, falling), (pen,), seen)
        for name in ("islands", "over", "held", "selected", "current", "cursor", "lit", "pointed"):
            if name in self._layers:
                self._draw(painter, *self._layers[name], seen)

    def _draw(self, painter: QPainter, lines: FloatArray, pens: tuple[QPen, ...], seen: QRectF) -> None:
        lines = lines_within(lines, seen.left(), seen.top(), seen.right(), seen.bottom())
        if len(lines):
            self._lines.resize(len(lines))
            self._lines.ndarray()[:] = lines
            for pen in pens:
                painter.setPen(pen)
                painter.drawLines(*self._lines.drawargs())


class _ScaleAxis(pg.AxisItem):
    """Bytes beside the colour bar; the limit stands out, and ticks that it would touch give way."""

    def __init__(self) -> None:
        super().__init__("right", maxTickLength=3)
        self.setStyle(autoExpandTextSpace=False, autoReduceTextSpace=False, tickTextOffset=4)
        self.limit_color = OVER_LINE
        self.limit_text = ""

    def drawPicture(self, p: QPainter, axis: object, ticks: list[object], texts: list[tuple[QRectF, int, str]]) -> None:
        limits = [spec for spec in texts if spec[2] == self.limit_text]
        super().drawPicture(p, axis, ticks, [spec for spec in texts if spec not in limits])
        p.setPen(pg.mkPen(self.limit_color))
        for rect, flags, text in limits:
            p.drawText(rect, int(flags), text)


class ColourScale(pg.PlotItem):
    """The colour bar: the ramp between the ends of the scale, bytes beside it, a line where the limit lies."""

    def __init__(self) -> None:
        self._axis = _ScaleAxis()
        super().__init__(axisItems={"right": self._axis}, enableMenu=False)
        self.hideButtons()
        self.setMouseEnabled(False, False)
        for side in ("left", "bottom", "top"):
            self.hideAxis(side)
        self.showAxis("right")
        self.layout.setColumnFixedWidth(1, _BAR)
        self._image = SlotImage()
        self._image.show_cells(np.arange(LEVELS, dtype=np.uint8)[:, None])
        self.addItem(self._image)
        self._limit = pg.InfiniteLine(angle=0)
        self.addItem(self._limit)
        self._ticks: list[tuple[int, str]] = []
        self._shown: tuple[object, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """What is written beside the bar, from the lower end up."""
        return tuple(text for _, text in self._ticks)

    def show_scale(self, scale: Scale, ramp: Ramp, marks: Sequence[tuple[int, str]], theme: Theme, height: int) -> None:
        """Show a scale; ``marks`` are bytes with a name, the first one within the scale is the limit."""
        shown = (scale, ramp, tuple(marks), theme.name, height)
        if shown == self._shown:
            return
        self._shown = shown
        table = np.zeros((256, 3), dtype=np.uint8)
        table[:LEVELS] = ramp_table(ramp)
        self._image.setLookupTable(table)
        self._image.setRect(QRectF(0, scale.low, 1, scale.high - scale.low))
        self.setRange(xRange=(0, 1), yRange=(scale.low, scale.high), padding=0)
        limit = next((size for size, _ in marks if scale.low <= size <= scale.high), None)
        self._limit.setVisible(limit is not None)
        if limit is not None:
            self._limit.setValue(limit)
            self._limit.setPen(square_pen(theme.budget, 2))
        self._axis.setPen(theme.border)
        self._axis.setTextPen(theme.muted)
        self._axis.limit_color = theme.budget
        metrics = QFontMetrics(self._axis.font())
        self._ticks = _scale_ticks(scale, limit, height, metrics.height())
        self._axis.limit_text = next((text for size, text in self._ticks if size == limit), "")
        self._axis.setTicks([[(float(value), text) for value, text in self._ticks]])
        self._axis.setWidth(max((metrics.horizontalAdvance(text) for text in self.texts), default=0) + 10)


def _scale_ticks(scale: Scale, limit: int | None, height: int, line: int) -> list[tuple[int, str]]:
    """What is written beside a bar of so many pixels: limit and ends, then round sizes where there is room.

    All in one unit, which only the lowest one names.
    """
    least = max((scale.high - scale.low) * 1.1 * line / max(height, 1), 1)
    ticks = byte_ticks(scale.low, scale.high, min(max(height // (2 * line), 1), 6))
    unit = ticks[0].text.split(" ")[-1] if ticks else "B"
    if unit in ("MiB", "GiB") and scale.high < 16 * UNIT_BYTES["MiB"]:
        unit = "KiB"
    kept: list[int] = []
    for size in (*([] if limit is None else [limit]), scale.low, scale.high, *(tick.value for tick in ticks)):
        if all(abs(size - other) >= least for other in kept):
            kept.append(size)
    size_of = UNIT_BYTES[unit]
    texts = []
    for place, size in enumerate(sorted(kept)):
        number = f"{size // size_of:,}" if size % size_of == 0 else f"{size / size_of:,.1f}"
        sign = "+" if scale.diverging and size > 0 else ""
        texts.append((size, f"{sign}{number}{' limit' if size == limit else '' if place else f' {unit}'}"))
    return [(size, text.replace("-", "−")) for size, text in texts]
