"""What a plot of curves shows, and the fills that mean the same in the plot and in its legend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import Qt
from PySide6.QtGui import QBrush, QColor, QPen

from tileview.analysis.overflows import STANDARD_ALLOCATION, Overflow
from tileview.model.sizes import Unavailable
from tileview.model.timeline import ByteArray
from tileview.present.colours import category
from tileview.present.curves import BoolArray, Curves, PeakMark, RepeatSpan, Series
from tileview.qt.base.theme import Theme

_BROKEN = {"total": (1.5, (7, 3)), "standard": (1.1, (2, 2)), "interleaved": (1.1, (7, 2, 1, 2))}
"""Width and dashes of a second tile's curves, in pixels."""
_PATTERNS = (Qt.BrushStyle.SolidPattern, Qt.BrushStyle.Dense4Pattern, Qt.BrushStyle.DiagCrossPattern)


@dataclass(frozen=True, slots=True)
class Excess:
    """A run of steps over a limit, at its worst step; ``who`` names the operation at fault (``, op 21``), or is
    empty.
    """

    step: int
    over_bytes: int
    who: str = ""


@dataclass(frozen=True, slots=True)
class PlotData:
    """What the plot shows. ``baseline``: (total, whether there is one) at each step; ``layers`` is empty where nothing
    is stacked; ``second`` are the curves of one tile beside those of the worst one.
    """

    curves: Curves
    budget: int
    interleaved_budget: int
    reserve: int
    over: BoolArray
    marks: tuple[PeakMark, ...] = ()
    repeats: tuple[RepeatSpan, ...] = ()
    layers: tuple[Series, ...] = ()
    baseline: tuple[ByteArray, BoolArray] | None = None
    baseline_classes: tuple[ByteArray, ByteArray] | None = field(default=None)
    second: Curves | None = None
    overflows: tuple[Excess, ...] = ()
    notes: tuple[tuple[int, str], ...] = ()

    @property
    def steps(self) -> int:
        return len(self.curves)

    def top(self, to_budget: bool) -> int:
        """Bytes at the upper edge: room for the largest total with reserve and, unless only data count, for the
        budget.
        """
        highest = int(self.curves.total.max(initial=0)) + self.reserve
        if self.baseline is not None:
            highest = max(highest, int(self.baseline[0].max(initial=0)))
        if self.second is not None:
            highest = max(highest, int(self.second.total.max(initial=0)))
        highest = max(highest, *(mark.size for mark in self.marks if not isinstance(mark.size, Unavailable)), 0)
        if to_budget:
            highest = max(highest, self.budget)
        return max(highest + highest // 12, 1024)


def excesses(overflows: Sequence[Overflow]) -> tuple[Excess, ...]:
    """The overflows of steps, the worst first, with the operation at fault; none where what is over is not known."""
    return tuple(
        Excess(one.step, one.over_bytes, "" if one.operation is None else f", op {one.operation}")
        for one in overflows
        if one.limit != STANDARD_ALLOCATION
    )


def second_pen(theme: Theme, part: str) -> QPen:
    """The line of a second tile's ``total``, ``standard`` or ``interleaved`` curve: the colour of the first's, thinner
    and broken in a way of its own, so that they differ without colour as well.
    """
    width, dashes = _BROKEN[part]
    pen = QPen(theme.color(part), width, Qt.PenStyle.CustomDashLine)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    pen.setDashPattern([length / width for length in dashes])
    return pen


def layer_brush(theme: Theme, series: Series) -> QBrush:
    """The fill of a layer of a stack; patterns keep categories apart where colours start again.

    Only operations have a colour, the same in every view; inputs that nothing makes are grey, apart by pattern.
    """
    if series.kind == "scratch":
        return QBrush(theme.color("scratch"), Qt.BrushStyle.Dense3Pattern)
    if series.kind == "parameters":
        return QBrush(theme.color("border"))
    if series.kind in ("rest", "other"):
        token = "field" if series.kind == "rest" else "warning"
        return QBrush(theme.color(token))
    if series.operation is None:
        return QBrush(theme.color("border"), _PATTERNS[series.place % len(_PATTERNS)])
    colour, pattern = category(series.place, theme.categories)
    return QBrush(QColor(colour), _PATTERNS[pattern % len(_PATTERNS)])


def reserve_brush(theme: Theme) -> QBrush:
    """The fill between the total and total + reserve."""
    return QBrush(theme.color("muted", 60))


def layer_brushes(theme: Theme, layers: tuple[Series, ...]) -> list[QBrush]:
    """One brush a layer."""
    return [layer_brush(theme, series) for series in layers]
