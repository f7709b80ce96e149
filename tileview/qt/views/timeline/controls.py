"""What stands around the timeline: the row of controls, the line above the plot, its tooltip, the legend."""

from __future__ import annotations

from enum import StrEnum

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QBrush, QPen
from PySide6.QtWidgets import QCheckBox, QMenu, QToolButton, QWidget

from tileview.analysis.lifetimes import LifetimeOrder
from tileview.analysis.words import at_start, step_place
from tileview.model.sizes import Unavailable, exact_text, kib_text, percent_text, size_text
from tileview.model.timeline import ByteArray, Timeline
from tileview.present.curves import BoolArray, CurveMode, Curves, PeakMark, RepeatSpan, Series, tile_at
from tileview.present.cycle_words import StepCycles
from tileview.present.tables import csv_text
from tileview.qt.base.theme import Theme
from tileview.qt.plot.legend import LegendLine
from tileview.qt.views.timeline.data import PlotData, layer_brushes, reserve_brush, second_pen
from tileview.qt.widgets.docked import FlowLayout, combo, set_data

MODE_NAMES = {
    CurveMode.BOTH: "Fullest and selected tile",
    CurveMode.WORST: "Fullest tile",
    CurveMode.LARGEST: "Largest of each class",
    CurveMode.TILE: "Selected tile",
}


def step_line(timeline: Timeline, shown: Curves, step: int, second: Curves | None = None) -> str:
    """The line above the plot: step, operation, tile, total with reserve against the budget; the second curves' tile
    and total.
    """
    entry = timeline.steps[step]
    source = "" if entry.source is None else f"op {entry.source} "
    often = f" ×{entry.execution_count:,}" if entry.execution_count > 1 else ""
    parts = [
        at_start(step_place(step, len(timeline.steps))),
        f"{source}{entry.kind}{often}",
        f"tile {tile_at(timeline, shown, step)}",
    ]
    total = int(shown.total[step])
    if shown.unavailable[step]:
        parts.append(f"usage unavailable, known part {size_text(total)}")
        return " · ".join(parts)
    beside = "" if second is None else f"tile {int(second.tiles[step])}: {_known_total(second, step)}"
    needed = total + timeline.reserve_bytes
    parts.append(f"total {size_text(total)}")
    parts.append(f"with reserve {percent_text(needed, timeline.budget_bytes)} of the budget")
    spare = timeline.budget_bytes - needed
    parts.append(f"{exact_text(spare)} spare" if spare >= 0 else f"{exact_text(-spare)} over")
    return " · ".join([*parts, beside] if beside else parts)


HINT = (
    "drag: go to a step · Shift+drag: measure a range · Ctrl+drag or wheel: zoom · W A S D: zoom and move · "
    "← →: step · N, B: overflows · P, Shift+S, I: peaks"
)
"""What mouse and keys do in the timeline."""


def measured(shown: Curves, span: tuple[int, int]) -> str:
    """A range of steps, half-open, measured: the totals at its ends, their difference, the largest and the smallest in
    it; steps whose usage is unavailable are left out and counted.
    """
    start, stop = span[0], min(span[1], len(shown))
    steps = [step for step in range(start, stop) if not shown.unavailable[step]]
    lost = stop - start - len(steps)
    parts = [f"Steps {start:,} … {stop - 1:,} ({stop - start:,})"]
    if steps:
        first, last = int(shown.total[steps[0]]), int(shown.total[steps[-1]])
        highest = max(steps, key=lambda step: int(shown.total[step]))
        lowest = min(steps, key=lambda step: int(shown.total[step]))
        sign = "+" if last > first else "−" if last < first else "±"
        parts.append(f"total {kib_text(first)} → {kib_text(last)}, {sign}{size_text(abs(last - first))}")
        parts.append(f"most {kib_text(int(shown.total[highest]))} at step {highest:,}")
        parts.append(f"least {kib_text(int(shown.total[lowest]))} at step {lowest:,}")
    if lost:
        parts.append(f"{lost:,} step{'' if lost == 1 else 's'} unavailable")
    return " · ".join(parts)


def _known_total(shown: Curves, step: int) -> str:
    return "not read yet" if shown.unavailable[step] else size_text(int(shown.total[step]))


def step_tip(
    timeline: Timeline,
    shown: Curves,
    step: int,
    *,
    layers: tuple[Series, ...] = (),
    marks: tuple[PeakMark, ...] = (),
    repeats: tuple[RepeatSpan, ...] = (),
    baseline: int | None = None,
    second: Curves | None = None,
    note: str = "",
    cycles: str = "",
) -> str:
    """The tooltip of a step: what runs, exact bytes by class, those of a second tile, what the layers of a stack hold,
    which peaks lie there, what it costs.
    """
    entry = timeline.steps[step]
    source = "" if entry.source is None else f"operation {entry.source}, "
    lines = [f"Step {step}: {source}{entry.operation}"]
    for span in repeats:
        if span.start <= step < span.stop:
            lines.append(f"inside a Repeat of {span.count:,} runs, steps {span.start} … {span.stop - 1}")
    tile = tile_at(timeline, shown, step)
    if shown.mode is CurveMode.LARGEST:
        lines.append(f"largest of each class on any tile; the largest total is on tile {tile}")
    else:
        lines.append(f"{'fullest tile' if shown.mode is CurveMode.WORST else 'tile'} {tile}")
    known = "known part of " if shown.unavailable[step] else ""
    if known:
        lost = sum(1 for root in entry.live if root in timeline.unavailable_roots)
        lines.append(f"usage unavailable: {lost:,} live allocation{'' if lost == 1 else 's'} without a known size")
    lines.append(f"{known}standard  {size_text(int(shown.standard[step]))}")
    lines.append(f"{known}interleaved  {size_text(int(shown.interleaved[step]))}")
    total = int(shown.total[step])
    lines.append(f"{known}total  {size_text(total)}")
    needed = total + timeline.reserve_bytes
    lines.append(
        f"{known}total with reserve  {size_text(needed)}, {percent_text(needed, timeline.budget_bytes)} of the budget"
    )
    if second is not None:
        lines += _second_lines(second, step, known)
    if baseline is not None:
        lines.append(f"baseline total  {size_text(baseline)}")
    lines += [f"  {series.name}  {kib_text(int(series.sizes[step]))}" for series in layers if series.sizes[step]]
    lines += [
        f"{mark.letter}: {mark.name} {'unavailable' if isinstance(mark.size, Unavailable) else size_text(mark.size)}"
        for mark in marks
        if mark.step == step
    ]
    if cycles:
        lines.append(cycles)
    if note:
        lines.append(f"note: {note}")
    return "\n".join(lines)


def _second_lines(second: Curves, step: int, known: str) -> list[str]:
    """The selected tile beside the worst one."""
    name = f"selected tile {int(second.tiles[step])}"
    if second.unavailable[step] and not known:
        return [f"{name}  not read yet"]
    parts = [("standard", second.standard), ("interleaved", second.interleaved), ("total", second.total)]
    return [f"{name}: {known}{what}  {size_text(int(sizes[step]))}" for what, sizes in parts]


def _second_fields(shown: Curves, second: Curves | None, step: int) -> list[int | None]:
    """Bytes of the second tile by class and in all; empty where they have not been read yet."""
    if second is None:
        return []
    if second.unavailable[step] and not shown.unavailable[step]:
        return [None, None, None]
    return [int(sizes[step]) for sizes in (second.standard, second.interleaved, second.total)]


def steps_csv(
    timeline: Timeline,
    shown: Curves,
    over: BoolArray,
    layers: tuple[Series, ...],
    second: Curves | None = None,
    cycles: StepCycles | None = None,
) -> str:
    """The curves as CSV, one line a step, exact bytes; second curves and layers of a stack in columns of their own."""
    header = [
        "step",
        "operation",
        "kind",
        "execution_count",
        "tile",
        "standard_bytes",
        "interleaved_bytes",
        "total_bytes",
    ]
    header += ["unavailable", "over", *(f"{series.name} bytes" for series in layers)]
    if second is not None and len(second):
        tile = int(second.tiles[0])
        header += [f"tile {tile} {what}_bytes" for what in ("standard", "interleaved", "total")]
    if cycles is not None:
        header.append("planner's cycles of all runs")
    rows = []
    for index, step in enumerate(timeline.steps):
        place = (step.index, step.source, step.kind, step.execution_count, tile_at(timeline, shown, index))
        sizes = (int(shown.standard[index]), int(shown.interleaved[index]), int(shown.total[index]))
        flags = ("yes" if shown.unavailable[index] else "no", "yes" if over[index] else "no")
        layered = [int(series.sizes[index]) for series in layers]
        priced = [] if cycles is None else [int(cycles.values[index]) if cycles.known[index] else None]
        rows.append((*place, *sizes, *flags, *layered, *_second_fields(shown, second, index), *priced))
    return csv_text(header, rows)


def timeline_legend(
    theme: Theme, data: PlotData, step: int | None, tile: int | None = None, tile_count: int = 1
) -> tuple[LegendLine, ...]:
    """What a plot's lines and fills mean, with the bytes at a step; ``tile`` is the one the curves are read from
    there.
    """
    shown, second = data.curves, data.second
    if step is not None and step >= data.steps:
        step = None

    def at(curves: Curves, sizes: ByteArray) -> str:
        if step is None:
            return ""
        if curves.unavailable[step]:
            return "unavailable" if shown.unavailable[step] else "not read yet"
        return kib_text(int(sizes[step]))

    whose, longest = _WHOSE[shown.mode], ""
    if shown.mode is not CurveMode.LARGEST and tile is not None:
        whose, longest = f"{whose} {tile}", f"total, {whose} {'0' * len(str(tile_count - 1))}"
    entries = [LegendLine(f"total, {whose}", QPen(theme.color("total"), 2.6), None, at(shown, shown.total), longest)]
    if second is not None:
        name = f"total, tile {int(second.tiles[0])}"
        entries.append(LegendLine(name, second_pen(theme, "total"), None, at(second, second.total)))
    if data.layers:
        pairs = zip(data.layers, layer_brushes(theme, data.layers), strict=True)
        entries += [LegendLine(series.name, None, brush, at(shown, series.sizes)) for series, brush in pairs]
    else:
        entries.append(LegendLine("standard", QPen(theme.color("standard"), 2), None, at(shown, shown.standard)))
        dashed = QPen(theme.color("interleaved"), 2, Qt.PenStyle.DashLine)
        entries.append(LegendLine("interleaved", dashed, None, at(shown, shown.interleaved)))
    if second is not None and not data.layers:
        for part, sizes in (("standard", second.standard), ("interleaved", second.interleaved)):
            name = f"{part}, tile {int(second.tiles[0])}"
            entries.append(LegendLine(name, second_pen(theme, part), None, at(second, sizes)))
    if data.reserve:
        pen = QPen(theme.color("muted"), 1, Qt.PenStyle.DotLine)
        entries.append(LegendLine("reserve", pen, reserve_brush(theme), kib_text(data.reserve)))
    if bool(data.over.any()):
        brush = QBrush(theme.color("over"), Qt.BrushStyle.BDiagPattern)
        count = int(data.over.sum())
        name = f"over budget at {count:,} step{'' if count == 1 else 's'}"
        entries.append(LegendLine(name, QPen(theme.color("over"), 1), brush))
    if bool(shown.unavailable.any()):
        brush = QBrush(theme.color("unavailable", 150), Qt.BrushStyle.DiagCrossPattern)
        entries.append(LegendLine("unavailable (dashed: known part)", QPen(theme.color("unavailable"), 1), brush))
    if data.baseline is not None:
        entries.append(LegendLine("baseline", QPen(theme.color("baseline"), 2.5)))
    return tuple(entries)


_WHOSE = {
    CurveMode.WORST: "fullest tile",
    CurveMode.LARGEST: "largest of each class",
    CurveMode.TILE: "tile",
}


class LifetimeFilter(StrEnum):
    """Which allocations have a bar."""

    ALL = "all"
    STEP = "step"
    """Those live at the selected step."""
    SPAN = "span"
    """Those live somewhere in the brushed range."""


class TimelineControls(QWidget):
    """Says what was chosen; keeps what is chosen."""

    mode_chosen = Signal(object)
    changed = Signal()
    """Something about the curves was chosen."""
    lifetimes_changed = Signal()
    panes_changed = Signal()
    """Whether curves, bars or both are wanted was chosen."""
    fit_wanted = Signal()
    back_wanted = Signal()
    clear_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.mode_box = combo(self, "Which tile the curves follow", [(MODE_NAMES[mode], mode) for mode in CurveMode])
        self.stack_check = QCheckBox("By operation", self)
        self.stack_check.setAccessibleName("Stack the total by operation")
        self.stack_check.setToolTip("Stack the total: parameters, then what each operation makes")
        self.stack_check.setChecked(True)
        orders = [("Lifetimes by bytes", LifetimeOrder.BYTES), ("Lifetimes by start", LifetimeOrder.START)]
        self.order_box = combo(self, "Order of the lifetimes", orders)
        filters = [
            ("All", LifetimeFilter.ALL),
            ("Live at the step", LifetimeFilter.STEP),
            ("In the range", LifetimeFilter.SPAN),
        ]
        self.filter_box = combo(self, "Which lifetimes", filters)
        self.fit_button = self._button("Fit", "Show all steps (0 or double click)")
        self.back_button = self._button("Back", "The steps shown before (Backspace)")
        self.clear_button = self._button("Clear range", "End the filter by steps (Escape)")
        self.bars_button = self._button("Lifetimes", "Lifetimes of allocations in place of the curves")
        self.bars_button.setCheckable(True)
        self.bars_button.hide()
        self.options_button = self._make_options()
        self._is_low = False
        self._flow = flow = FlowLayout(self, spacing=4)
        for widget in (
            self.mode_box,
            self.stack_check,
            self.bars_button,
            self.order_box,
            self.filter_box,
            self.fit_button,
            self.back_button,
            self.clear_button,
            self.options_button,
        ):
            flow.addWidget(widget)
        self._connect()

    def _button(self, text: str, tip: str) -> QToolButton:
        button = QToolButton(self)
        button.setText(text)
        button.setToolTip(tip)
        button.setAccessibleName(tip.partition(" (")[0])
        return button

    def _make_options(self) -> QToolButton:
        button = self._button("Options", "What else the timeline shows")
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(button)
        self.baseline_action = self._option(menu, "Show the baseline's curves behind")
        self.budget_action = self._option(menu, "Let the height reach to the budget")
        self.cycles_action = self._option(menu, "Show the cycles of each step")
        self.lifetimes_action = self._option(menu, "Show the lifetimes of allocations")
        button.setMenu(menu)
        return button

    def _option(self, menu: QMenu, text: str) -> QAction:
        action = menu.addAction(text)
        action.setCheckable(True)
        action.setChecked(True)
        return action

    def _connect(self) -> None:
        self.mode_box.currentIndexChanged.connect(self._mode)
        self.stack_check.toggled.connect(self.changed)
        self.baseline_action.toggled.connect(self.changed)
        self.budget_action.toggled.connect(self.changed)
        for action in (self.lifetimes_action, self.cycles_action):
            action.toggled.connect(self._panes)
        self.bars_button.toggled.connect(self._panes)
        self.order_box.currentIndexChanged.connect(self.lifetimes_changed)
        self.filter_box.currentIndexChanged.connect(self.lifetimes_changed)
        self.fit_button.clicked.connect(self.fit_wanted)
        self.back_button.clicked.connect(self.back_wanted)
        self.clear_button.clicked.connect(self.clear_wanted)

    def add_line(self, line: QWidget) -> None:
        """Put a widget behind the controls, in their last row or in one of its own."""
        self._flow.addWidget(line)

    def set_low(self, is_low: bool) -> None:
        """Whether there is height for either curves or bars only: then a button changes between them."""
        if is_low != self._is_low:
            self._is_low = is_low
            self._panes()

    def _panes(self) -> None:
        self.bars_button.setVisible(self._is_low and self.lifetimes_action.isChecked())
        for box in (self.order_box, self.filter_box):
            box.setVisible(self.with_lifetimes)
        for widget in (self.mode_box, self.stack_check):
            widget.setVisible(self.with_curves)
        self.panes_changed.emit()

    def _mode(self) -> None:
        self.mode_chosen.emit(CurveMode(self.mode_box.currentData()))

    def show_mode(self, mode: CurveMode) -> None:
        set_data(self.mode_box, mode)

    @property
    def stacked(self) -> bool:
        return self.stack_check.isChecked()

    @property
    def with_baseline(self) -> bool:
        return self.baseline_action.isChecked()

    @property
    def to_budget(self) -> bool:
        return self.budget_action.isChecked()

    @property
    def with_lifetimes(self) -> bool:
        """Whether the bars are shown."""
        return self.lifetimes_action.isChecked() and (not self._is_low or self.bars_button.isChecked())

    @property
    def with_cycles(self) -> bool:
        """Whether the strip of cycles is wanted."""
        return self.cycles_action.isChecked() and self.with_curves

    @property
    def with_curves(self) -> bool:
        """Whether the curves are shown: always, unless the bars take their place."""
        return not (self._is_low and self.with_lifetimes)

    @property
    def order(self) -> LifetimeOrder:
        return LifetimeOrder(self.order_box.currentData())

    @property
    def filter(self) -> LifetimeFilter:
        return LifetimeFilter(self.filter_box.currentData())
