"""The states that are compared as charts on one axis: their totals, their tiles, and how they differ from the first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QWidget

from tileview.model.sizes import kib_text
from tileview.present.compare_rows import MOST_STATES
from tileview.present.curves import REST, Columns, column_any, column_max, column_steps, columns
from tileview.present.rasters import FloatArray
from tileview.present.scales import Ramp
from tileview.present.state_charts import StateCurve, StateCurves, StateMap
from tileview.present.tables import signed_kib
from tileview.qt.base.theme import Theme
from tileview.qt.plot.base import Drag, Plot, Zoom
from tileview.qt.plot.items import ByteAxis, StepAxis, stairs
from tileview.qt.plot.legend import Legend, LegendLine
from tileview.qt.plot.picture import Part
from tileview.qt.plot.picture_parts import ColumnPart, RowPart
from tileview.qt.views.tiles.items import ColourScale, SlotImage, slot_table, square_pen
from tileview.qt.views.timeline.data import layer_brush, reserve_brush

LETTERS = "ABCD"
"""What the states are called in charts, the first one A."""
_MAP_WIDTH = 250
_LEAST = 40
"""Pixels that a chart has at least for its curve."""


class _Chart(Plot):
    """A chart whose steps are the first state's; a click tells the step."""

    step_wanted = Signal(int)

    def __init__(self, theme: Theme, name: str, zoom: Zoom) -> None:
        self._curves: StateCurves | None = None
        self._cursor: int | None = None
        axes = {"left": ByteAxis(widest="−000.0 KiB"), "bottom": StepAxis()}
        super().__init__(theme, name, zoom=zoom, axes=axes)
        line = self.fontMetrics().height()
        self.setMinimumSize(QSize(80, 2 * line + _LEAST))
        self.set_margins(0, line + 2, 6, 2)

    def set_cursor(self, place: int | None) -> None:
        """Mark a step of the first state."""
        if place != self._cursor:
            self._cursor = place
            self.draw_again()

    def tip_at(self, place: QPointF) -> str:
        step = self._step(place)
        return (
            "" if step is None or self._curves is None else self._curves.tip(LETTERS[: len(self._curves.curves)], step)
        )

    def columns(self) -> tuple[FloatArray, Columns]:
        """Edges and steps of the columns in view: one a step, or one a pixel where several steps share it."""
        assert self.zoom is not None
        steps = 0 if self._curves is None else self._curves.steps
        first, last, pixels = self.zoom.shown.left(), self.zoom.shown.right(), max(int(self.area().width()), 1)
        if last - first > pixels:
            return np.linspace(first, last, pixels + 1), columns(first, last, pixels, steps)
        shown = np.arange(max(int(first), 0), min(int(np.ceil(last)), steps), dtype=np.int64)
        return np.append(shown, shown[-1:] + 1).astype(np.float64), Columns(shown, shown + 1)

    def _step(self, place: QPointF) -> int | None:
        step = int(np.floor(self.value(place).x()))
        inside = self._curves is not None and 0 <= step < self._curves.steps and self.area().contains(place)
        return step if inside else None

    def start_drag(self, event: QMouseEvent) -> Drag | None:
        if event.button() != Qt.MouseButton.LeftButton or event.modifiers():
            return super().start_drag(event)

        def follow(place: QPointF, done: bool) -> None:
            step = self._step(place)
            if done and step is not None:
                self.step_wanted.emit(step)

        return follow

    def draw_over(self, painter: QPainter) -> None:
        area = self.area()
        painter.setPen(QPen(self.theme.color("border"), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(area)
        if self._cursor is not None:
            band = QRectF(self.pixel(self._cursor), self.pixel(self._cursor + 1))
            band.setTop(area.top())
            band.setBottom(area.bottom())
            band = band.intersected(area)
            if not band.isEmpty():
                painter.setPen(QPen(self.theme.color("accent"), 1))
                painter.drawRect(band)

    def write(self, painter: QPainter, text: str, token: str, *, right: bool = False) -> None:
        """Write a line of text above the plot, from its left or up to its right end."""
        area = self.area()
        line = QRectF(
            area.left(), area.top() - self.fontMetrics().height() - 1, area.width(), self.fontMetrics().height()
        )
        _write(painter, line, text, self.theme.color(token), right)


def _write(painter: QPainter, line: QRectF, text: str, color: QColor, right: bool = False) -> None:
    painter.setPen(color)
    shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, int(line.width()))
    side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
    painter.drawText(line, side | Qt.AlignmentFlag.AlignVCenter, shown)


class StateChart(_Chart):
    """The fullest tile and reserve of one state, against its budget."""

    def __init__(self, theme: Theme, zoom: Zoom) -> None:
        self._curve: StateCurve | None = None
        self._letter = ""
        super().__init__(theme, "Chart of a state", zoom)

    def show_curve(self, title: str, place: int, curves: StateCurves, theme: Theme) -> None:
        """Show one state's curve; all charts have the same axes. Only one that stands alone has numbers of steps."""
        is_alone, line = len(curves.curves) == 1, self.fontMetrics().height()
        self.getPlotItem().showAxis("bottom", is_alone)
        self.set_margins(0, line + 2, 6, 2 if is_alone else line // 2)
        self.setMinimumHeight((2 if is_alone else 1) * line + _LEAST)
        self._letter, self._curves, self._curve = LETTERS[place], curves, curves.curves[place]
        self.setYRange(curves.low, curves.high + (curves.high - curves.low) * 0.08, padding=0)
        curve, words = self._curve, "no timeline"
        if curve is not None and bool(curve.there.any()):
            peak = int(curve.needed.argmax())
            words = f"most {kib_text(int(curve.needed[peak]))}, budget {kib_text(curve.budget)}"
        start = f"; the axis starts at {kib_text(curves.low)}" if curves.low else ""
        self.setAccessibleName(f"Chart of {LETTERS[place]}, {title}")
        self.set_description(f"Fullest tile and reserve at every step: {words}{start}")
        self.set_theme(theme)

    def redraw(self) -> None:
        curve, curves = self._curve, self._curves
        parts = []
        if curve is not None and curves is not None and curves.steps:
            edges, where = self.columns()
            there = column_any(curve.there, where)
            heights = np.where(there, column_max(curve.needed, where), curves.low).astype(np.float64)
            brush = reserve_brush(self.theme) if curve.layers else QBrush(self.theme.color("standard", 110))
            parts = [stairs(edges, heights, square_pen(self.theme.total), brush)]
            chosen = column_steps(curve.needed, where)
            tops = list(np.cumsum([layer.sizes[chosen] for layer in curve.layers], axis=0))
            for layer, top in reversed(list(zip(curve.layers, tops, strict=True))):
                shown = np.maximum(top, curves.low).astype(np.float64)
                parts.append(stairs(edges, shown, QPen(Qt.PenStyle.NoPen), layer_brush(self.theme, layer)))
            for part in parts:
                part.setFillLevel(curves.low)
            limit = np.full(len(heights), float(curve.budget))
            over = np.where(heights > curve.budget, heights, np.nan)
            parts += [stairs(edges, heights, square_pen(self.theme.total)),
                      stairs(edges, over, square_pen(self.theme.over, 3)),
                      stairs(edges, limit, square_pen(self.theme.budget, 1.5, Qt.PenStyle.DashLine))]  # fmt: skip
        self.still.set_parts(parts)
        super().redraw()

    def draw_over(self, painter: QPainter) -> None:
        super().draw_over(painter)
        curve = self._curve
        if curve is None or not bool(curve.there.any()):
            self.write(painter, f"{self._letter}  no timeline", "muted")
            return
        peak = int(curve.needed.argmax())
        needed, spare = int(curve.needed[peak]), curve.budget - int(curve.needed[peak])
        state = f"{kib_text(spare)} spare" if spare >= 0 else f"{kib_text(-spare)} over"
        where = f"most {kib_text(needed)}: {state}" + (f"; {curve.lost}" if curve.lost else "")
        self.write(painter, f"{self._letter}  {where}", "ok" if spare >= 0 else "over")
        self.write(painter, f"budget {kib_text(curve.budget)}", "budget", right=True)


class DifferenceChart(_Chart):
    """How the states differ from the first one at every step: orange is more, blue less; further ones as lines."""

    def __init__(self, theme: Theme, zoom: Zoom) -> None:
        super().__init__(theme, "Difference from the first state", zoom)

    def show_curves(self, curves: StateCurves, theme: Theme) -> None:
        self._curves = curves
        reach = max(curves.reach, 1024)
        self.setYRange(-1.15 * reach, 1.15 * reach, padding=0)
        self.set_description(f"Differences from A at every step, at most {kib_text(curves.reach)}")
        self.set_theme(theme)

    def redraw(self) -> None:
        parts = []
        if self._curves is not None and self._curves.steps:
            edges, where = self.columns()
            for place, curve in enumerate(self._curves.curves[1:]):
                if curve is None:
                    continue
                more = np.maximum(column_max(curve.difference, where), 0).astype(np.float64)
                less = np.minimum(-column_max(-curve.difference, where), 0).astype(np.float64)
                if place == 0:
                    for part, token in ((more, "warning"), (less, "accent")):
                        color = self.theme.color(token)
                        parts.append(stairs(edges, part, QPen(Qt.PenStyle.NoPen), QBrush(color)))
                else:
                    style = (Qt.PenStyle.DashLine, Qt.PenStyle.DotLine)[place - 1]
                    parts += [stairs(edges, part, square_pen(self.theme.text, 1.5, style)) for part in (more, less)]
            parts.append(stairs(edges, np.zeros(len(edges) - 1), square_pen(self.theme.muted)))
        self.still.set_parts(parts)
        super().redraw()

    def draw_over(self, painter: QPainter) -> None:
        super().draw_over(painter)
        if self._curves is None:
            return
        names = ["filled", "dashed", "dotted"]
        several = len(self._curves.curves) > 2
        letters = LETTERS[1 : len(self._curves.curves)]
        words = [f"{one} − A{f' {name}' if several else ''}" for one, name in zip(letters, names, strict=False)]
        self.write(painter, ", ".join(words), "text")
        curve = self._curves.curves[1] if len(self._curves.curves) > 1 else None
        if curve is not None:
            low, high = int(curve.difference.min(initial=0)), int(curve.difference.max(initial=0))
            ends = f"B: {signed_kib(low)} to {signed_kib(high)}" if low or high else "B: the same at every step"
            self.write(painter, ends, "muted", right=True)


class StateMapPlot(Plot):
    """The tiles of one state in their places, with a colour bar; hidden without a map."""

    def __init__(self, theme: Theme) -> None:
        self._shown: StateMap | None = None
        self._letter = ""
        self._image = SlotImage()
        self._bar = ColourScale()
        super().__init__(theme, "Tiles of a state")
        self.setMinimumSize(QSize(100, 24))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self.box.addItem(self._image, ignoreBounds=True)
        self.box.invertY(True)
        self.getPlotItem().layout.addItem(self._bar, 2, 5)
        self.getPlotItem().layout.setColumnFixedWidth(4, 6)
        line = self.fontMetrics().height()
        self.set_margins(2, line + 2, 2, line // 2)

    def sizeHint(self) -> QSize:
        return QSize(_MAP_WIDTH, 60)

    @property
    def shown(self) -> StateMap | None:
        return self._shown

    def show_map(self, shown: StateMap | None, letter: str, name: str, theme: Theme) -> None:
        """Draw another map; None hides the plot."""
        self._shown, self._letter = shown, letter
        self.setAccessibleName(f"Tiles of {letter}, {name}")
        self.set_description("" if shown is None else shown.text)
        self.setVisible(shown is not None)
        self.set_theme(theme)

    def cell_rect(self, tile: int) -> QRectF:
        """Where a tile is drawn in the widget."""
        assert self._shown is not None
        x, y = float(self._shown.grid.column[tile]), float(self._shown.grid.row[tile])
        return QRectF(self.pixel(x, y), self.pixel(x + 1, y + 1))

    def tip_at(self, place: QPointF) -> str:
        shown = self._shown
        if shown is None:
            return ""
        value = self.value(place)
        tile = shown.grid.tile_at(int(np.floor(value.y())), int(np.floor(value.x())))
        lines = [shown.text]
        if tile is not None and not shown.field.missing and self.area().contains(place):
            size = int(shown.field.values[tile])
            lines.insert(0, f"tile {tile}: {signed_kib(size) if shown.scale.diverging else kib_text(size)}")
        return "\n".join(lines)

    def redraw(self) -> None:
        shown = self._shown
        if shown is not None:
            rows, columns = shown.slots.shape
            ramp = Ramp.DIFFERENCE if shown.scale.diverging else Ramp.VIRIDIS
            self._image.setLookupTable(slot_table(self.theme, ramp))
            self._image.show_cells(shown.slots)
            self.setRange(QRectF(0, 0, max(columns, 1), max(rows, 1)), padding=0)
            self._bar.show_scale(shown.scale, ramp, (), self.theme, int(self.box.height()))
        super().redraw()

    def draw_over(self, painter: QPainter) -> None:
        if self._shown is not None and self._shown.field.missing:
            painter.fillRect(self.area(), QBrush(self.theme.color("unavailable"), Qt.BrushStyle.DiagCrossPattern))
        painter.setPen(QPen(self.theme.color("border"), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(self.area())
        if self._shown is not None:
            what = f"{self._letter} − A" if self._shown.scale.diverging else self._letter
            height = self.fontMetrics().height()
            line = QRectF(self.area().left(), self.area().top() - height - 1, self.width() - self.area().left(), height)
            _write(painter, line, f"{what}, step {self._shown.field.step}", self.theme.color("text"))


class CompareCharts(QWidget):
    """A row for each state, curve and tiles, all curves of one height and on one axis; below them the differences.

    A row is made when there is a state for it: plots take a while, and most windows compare nothing.
    """

    step_wanted = Signal(int)
    """A step of the first state."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.zoom = Zoom(self, across_only=True)
        self.charts: list[StateChart] = []
        self.maps: list[StateMapPlot] = []
        self.difference: DifferenceChart | None = None
        self.axis_name = QLabel("steps of A")
        self.axis_name.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom)
        self.legend = Legend(self)
        self.legend.set_most_lines(1)
        self._rows = grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(2)
        grid.addWidget(self.legend, 0, 0, 1, 2)
        grid.addWidget(self.axis_name, MOST_STATES + 1, 1)
        grid.setColumnStretch(0, 1)
        self._curves: StateCurves | None = None
        self.setMinimumHeight(1)

    def _make_rows(self, count: int, theme: Theme) -> None:
        """Make what is missing to show ``count`` states."""
        while len(self.charts) < count:
            chart, tiles, row = StateChart(theme, self.zoom), StateMapPlot(theme), len(self.charts) + 1
            self._rows.addWidget(chart, row, 0)
            self._rows.addWidget(tiles, row, 1)
            chart.step_wanted.connect(self.step_wanted)
            self.charts.append(chart)
            self.maps.append(tiles)
        if count > 1 and self.difference is None:
            self.difference = DifferenceChart(theme, self.zoom)
            self._rows.addWidget(self.difference, MOST_STATES + 1, 0)
            self.difference.step_wanted.connect(self.step_wanted)

    def _all(self) -> list[StateChart | DifferenceChart]:
        return [*self.charts, *([] if self.difference is None else [self.difference])]

    def hasHeightForWidth(self) -> bool:
        """As the legend has one line, the height does not follow from the width; else the hints of all would count."""
        return False

    def needed_height(self) -> int:
        """Pixels below which the charts say nothing."""
        shown: list[int] = [chart.minimumHeight() + 2 for chart in self.charts if not chart.isHidden()]
        if not self.legend.isHidden():
            shown.append(self.fontMetrics().height() + 4)
        if self.difference is not None and not self.difference.isHidden():
            shown.append(self.difference.minimumHeight())
        return sum(shown)

    def show_states(
        self, names: Sequence[str], curves: StateCurves, maps: Sequence[StateMap | None], theme: Theme
    ) -> None:
        if self._curves is None or curves.steps != self._curves.steps:
            self.zoom.set_bounds(QRectF(0, 0, max(curves.steps, 1), 1), keep=False)
        self._curves = curves
        self._make_rows(len(names), theme)
        for place, (chart, tiles) in enumerate(zip(self.charts, self.maps, strict=True)):
            chart.setVisible(place < len(names))
            self._rows.setRowStretch(place + 1, 3 if place < len(names) else 0)
            if place < len(names):
                chart.show_curve(names[place], place, curves, theme)
                tiles.show_map(maps[place], LETTERS[place], names[place], theme)
            else:
                tiles.show_map(None, "", "", theme)
        self._rows.setRowStretch(MOST_STATES + 1, 2 if len(names) > 1 else 0)
        self._explain(curves, theme)
        self.axis_name.setVisible(len(names) > 1)
        if self.difference is not None:
            self.difference.setVisible(len(names) > 1)
            self.difference.show_curves(curves, theme)

    def _explain(self, curves: StateCurves, theme: Theme) -> None:
        """Say what the fills mean: one colour an operation in all charts; parameters first, then in their order."""
        kinds = ("parameters", "group", "scratch", "rest", "other")
        found: dict[tuple[int, int], LegendLine] = {}
        for curve in curves.curves:
            for layer in () if curve is None else curve.layers:
                name = REST if layer.kind == "rest" else layer.name
                found[kinds.index(layer.kind), layer.place] = LegendLine(name, None, layer_brush(theme, layer))
        entries = [found[key] for key in sorted(found)]
        if entries:
            entries.append(LegendLine("reserve", None, reserve_brush(theme)))
        if len(curves.curves) > 1:
            entries.append(LegendLine("less than A", None, QBrush(theme.color("accent"))))
            entries.append(LegendLine("more than A", None, QBrush(theme.color("warning"))))
        self.legend.set_entries(tuple(entries))
        self.legend.setVisible(bool(entries))

    def set_cursor(self, place: int | None) -> None:
        """Mark a step of the first state in all charts."""
        for chart in self._all():
            chart.set_cursor(place)

    def part(self) -> Part:
        """The charts as part of a picture."""
        rows = [
            RowPart([one for one in pair if one.isVisibleTo(self)])
            for pair in (
                *zip(self.charts, self.maps, strict=True),
                *((one,) for one in self._all()[len(self.charts) :]),
            )
            if pair[0].isVisibleTo(self)
        ]
        return ColumnPart([*([] if self.legend.isHidden() else [self.legend]), *rows])
