"""A strip of bars, one a step, under the curves: what each step costs besides memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter

from tileview.present.curves import BoolArray, stretch
from tileview.qt.plot.axes import byte_gutter
from tileview.qt.views.timeline.plot import RIGHT, StepPlot

_LINES = 2.4
"""Height of the strip, in lines of text."""


class StepStrip(StepPlot):
    """Bars over the steps, on the axis of the curves; hidden as long as there is nothing to show.

    Where several steps share a pixel, its bar is the largest of them. Steps without a known number have none.
    """

    def build(self) -> None:
        self._values: npt.NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._known: BoolArray = np.zeros(0, dtype=np.bool_)
        self._name, self._most = "", ""
        self._tell: Callable[[int], str] | None = None
        super().build()
        self.bars = pg.BarGraphItem(x=[], height=[], width=1.0, pen=None)
        self.box.addItem(self.bars, ignoreBounds=True)
        self.hide()

    def show_values(
        self,
        values: npt.NDArray[np.int64] | None,
        known: BoolArray,
        name: str,
        most: str,
        tell: Callable[[int], str] | None = None,
    ) -> None:
        """Show a number a step; None hides the strip.

        Parameters
        ----------
        values : (steps,) int
        known : (steps,) bool
            False where the number of a step is not known.
        name : str
            What the numbers are, on two lines at most: it is written in the gutter.
        most : str
            The largest in words, with its step.
        tell : callable, optional
            What the tooltip of a step says of its number.
        """
        self._values = np.zeros(0, dtype=np.int64) if values is None else values
        self._known, self._name, self._most, self._tell = known, name, most, tell
        self.setVisible(self.has_values)
        self.setFixedHeight(int(_LINES * self.fontMetrics().height()))
        self.set_description(f"{name}: {most}")
        self.redraw()

    @property
    def has_values(self) -> bool:
        return bool(len(self._values))

    def tip_at(self, place: QPointF) -> str:
        step = self.step_at(self.value(place).x())
        if step >= len(self._values):
            return ""
        if self._tell is not None:
            return f"Step {step}: {self._tell(step)}"
        return f"Step {step}: {f'{int(self._values[step]):,} {self._name}' if self._known[step] else 'not known'}"

    def redraw(self) -> None:
        self.set_margins(byte_gutter(self.font()), 2, RIGHT, 0)
        if len(self._values):
            at = stretch(self.zoom.first, self.zoom.last, max(int(self.area().width()), 1), len(self._values))
            heights = at.largest(np.where(self._known, self._values, 0))
            self.setYRange(0, max(int(self._values.max(initial=0)), 1), padding=0)
            self.bars.setOpts(x0=at.edges[:-1], x1=at.edges[1:], height=heights, brush=self.theme.color("muted"))
        super().redraw()

    def draw_over(self, painter: QPainter) -> None:
        area = self.area()
        painter.setPen(self.theme.color("muted"))
        gutter = QRectF(4, area.top(), area.left() - 8, area.height())
        painter.drawText(gutter, Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignVCenter, self._name)
        metrics = self.fontMetrics()
        room = QRectF(area.left() + 4, area.top(), metrics.horizontalAdvance(self._most) + 2, metrics.height())
        painter.fillRect(room, self.theme.color("background", 200))
        painter.drawText(QPointF(room.left(), room.top() + metrics.ascent()), self._most)
