"""What the timeline shows, from the session: curves, the layers of a stack, lifetimes, notes on steps."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QBrush, QColor, QPen
from PySide6.QtWidgets import QInputDialog, QWidget

from tileview.analysis.lifetimes import Life, Lifetime, Lives, lifetime_lines, lifetimes
from tileview.analysis.loads import noted_steps, step_keys
from tileview.analysis.overflows import STANDARD_ALLOCATION, Overflow
from tileview.model.sizes import Unavailable
from tileview.model.timeline import ByteArray, Timeline, is_same_program, steps_read
from tileview.present.curves import (
    BoolArray,
    CurveMode,
    Curves,
    PeakMark,
    RepeatSpan,
    Series,
    Stacking,
    StackSource,
    curves,
    matched_max,
    matching_steps,
)
from tileview.present.operation_colours import COLOURED
from tileview.present.scales import category
from tileview.qt.base.settings import Settings
from tileview.qt.base.theme import Theme
from tileview.qt.jobs.pacing import takes_turns
from tileview.session.session import Session

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


Behind = tuple[tuple[ByteArray, BoolArray] | None, tuple[ByteArray, ByteArray] | None]
"""The baseline's total with whether there is one, and its two classes, on the steps of the current timeline."""


class CurveSource:
    """What is drawn in a mode. Those curves that do not follow the selected tile are kept while it changes."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.mode = CurveMode.BOTH
        self._kept: tuple[Timeline, tuple[object, ...], Curves] | None = None

    @property
    def tile(self) -> int | None:
        """The selected tile, where a curve follows it."""
        return self._session.selection.tile if self.mode in (CurveMode.BOTH, CurveMode.TILE) else None

    def effective(self) -> CurveMode:
        """The mode that is drawn: without a selected tile its curves give way to those of the worst one."""
        return CurveMode.WORST if self.mode in (CurveMode.BOTH, CurveMode.TILE) and self.tile is None else self.mode

    def first(self, timeline: Timeline) -> Curves:
        """The curves that classes, layers and budgets are drawn with."""
        mode = self.effective()
        key = (mode, self.tile if mode is CurveMode.TILE else None, steps_read(timeline))
        if self._kept is None or not is_same_program(self._kept[0], timeline) or self._kept[1] != key:
            self._kept = (timeline, key, curves(timeline, mode, self.tile))
        return self._kept[2]

    def second(self, timeline: Timeline) -> Curves | None:
        """The selected tile's curves, where they are wanted beside the first ones."""
        if self.effective() is not CurveMode.BOTH:
            return None
        return curves(timeline, CurveMode.TILE, self.tile)

    def behind(self, timeline: Timeline) -> Behind:
        """The baseline's curves; nothing where there is none to compare with."""
        pin, mode, tile = self._session.baseline, self.effective(), self.tile
        other = None if pin is None else pin.timeline
        if other is None or other is timeline or not other.steps:
            return (None, None)
        if mode is CurveMode.TILE and (tile is None or tile >= other.tile_count):
            return (None, None)
        before = curves(other, mode, tile)
        ranges = matching_steps(timeline, other)
        (total, present), (standard, _), (interleaved, _) = (
            matched_max(sizes, ranges) for sizes in (before.total, before.standard, before.interleaved)
        )
        lost, _ = matched_max(before.unavailable.astype(np.int64), ranges)
        return (total, present & (lost == 0)), (standard, interleaved)


_FIRST_SECONDS = 0.05
"""How long a stack may keep the window waiting when it is asked for."""
_TURN_SECONDS = 0.012
"""How long reading goes on between two events after that."""


def _read_for(stacking: Stacking, seconds: float) -> bool:
    """Read for a while; True when all has been read."""
    end = time.monotonic() + seconds
    while not stacking.advance(4):
        if time.monotonic() > end:
            return False
    return True


class LayerReader(QObject):
    """Makes the stack of one timeline. ``ready``: it is there; ``progressed``: how much has been read, of how much."""

    ready = Signal()
    progressed = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._stacking: Stacking | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._read_on)

    def layers(self, timeline: Timeline, shown: Curves, places: Callable[[], Mapping[int, int]]) -> tuple[Series, ...]:
        """The layers that add up to curves; empty while they are being read; ``places`` is asked for after that.

        While the steps of a large file are read elsewhere, their fullest tiles are not known: another estimate follows.
        """
        if steps_read(timeline) < len(timeline.steps):
            self._timer.stop()
            return ()
        stacking = self._stacking
        if stacking is None or stacking.shown is not shown:
            is_read = stacking is not None and is_same_program(stacking.source.timeline, timeline)
            known = stacking.source if stacking is not None and is_read else StackSource(timeline)
            stacking = self._stacking = Stacking(known, shown, COLOURED, places)
        if _read_for(stacking, _TURN_SECONDS if takes_turns(timeline, may_wait=True) else _FIRST_SECONDS):
            self._timer.stop()
            return stacking.layers
        self._timer.start()
        return ()

    def stop(self) -> None:
        """Read no further; what was read is kept."""
        self._timer.stop()

    def forget(self) -> None:
        """Another document."""
        self._timer.stop()
        self._stacking = None

    def _read_on(self) -> None:
        stacking = self._stacking
        if stacking is None:
            self._timer.stop()
        elif _read_for(stacking, _TURN_SECONDS):
            self._timer.stop()
            self.ready.emit()
        else:
            self.progressed.emit(min(stacking.read, stacking.count), stacking.count)


class LifetimeSource:
    """Lifetimes from the live sets; producers and uses from the program's steps where the estimate has a program."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._timeline: Timeline | None = None
        self._rows: tuple[Lifetime, ...] | None = None
        self._lives: Lives | None = None
        self._known: dict[int, Life | None] = {}

    def forget(self) -> None:
        """Another document."""
        self._timeline = None
        self._start(None)

    def _start(self, timeline: Timeline | None) -> None:
        self._timeline, self._rows, self._lives = timeline, None, None
        self._known = {}

    def _current(self) -> Timeline | None:
        timeline = self._session.timeline
        if not is_same_program(timeline, self._timeline):
            self._start(timeline)
        return timeline

    def rows(self) -> tuple[Lifetime, ...]:
        """All allocations of the current timeline; the same object until another one is."""
        timeline = self._current()
        if self._rows is None:
            self._rows = () if timeline is None else lifetimes(timeline)
        return self._rows

    def spans(self, root: int | None) -> tuple[tuple[int, int], ...]:
        """The ranges of steps at which an allocation is live; none where there is no such allocation."""
        if root is None:
            return ()
        return next((row.spans for row in self.rows() if row.root == root), ())

    def life(self, root: int) -> Life | None:
        """The steps that make and use an allocation, None where no program tells."""
        timeline, estimate = self._current(), self._session.estimate
        if timeline is None or estimate is None or estimate.program is None:
            return None
        if self._lives is None:
            self._lives = Lives(timeline, estimate.program)
        if root not in self._known:
            self._known[root] = self._lives.of(root)
        return self._known[root]

    def uses(self, root: int) -> tuple[int, ...]:
        """The steps that use an allocation, for the ticks along its bar."""
        life = self.life(root)
        return life.uses if life is not None and life.exact else ()

    def tip(self, row: Lifetime) -> str:
        """The tooltip of a bar."""
        timeline = self._current()
        if timeline is None:
            return ""
        return "\n".join(lifetime_lines(timeline, row, self._session.selection.tile, self.life(row.root)))


class StepNotes(QObject):
    """The notes on the steps of the open file; ``changed`` when one was written or taken away."""

    changed = Signal()

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(parent)
        self._session, self._window = session, parent
        self._kept: dict[str, str] = {}

    def load(self) -> None:
        """Read the notes of the file that is open now."""
        document = self._session.document
        self._kept = {} if document is None else Settings().notes(document.path)

    def by_step(self) -> dict[int, str]:
        """Step → note, on the current timeline."""
        timeline = self._session.timeline
        return {} if timeline is None else noted_steps(timeline, self._kept)

    def write(self, step: int, text: str) -> None:
        """Note something on a step; an empty text takes the note away."""
        timeline, document = self._session.timeline, self._session.document
        if timeline is None or document is None or not 0 <= step < len(timeline.steps):
            return
        key = step_keys(timeline)[step]
        self._kept.pop(key, None)
        if text.strip():
            self._kept[key] = " ".join(text.split())
        Settings().keep_notes(document.path, self._kept)
        self.changed.emit()

    def ask(self) -> None:
        """Ask for the note on the selected step."""
        step = self._session.selection.step
        if step is None or self._session.timeline is None:
            return
        dialog = QInputDialog(self._window)
        dialog.setWindowTitle(f"Note on step {step:,}")
        dialog.setLabelText("It is kept with this file's settings, not in the file. Leave it empty to delete it.")
        dialog.setTextValue(self.by_step().get(step, ""))
        dialog.textValueSelected.connect(lambda text: self.write(step, text))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
