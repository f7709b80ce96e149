"""The timeline view: memory over the steps, budgets, peaks, the baseline behind, lifetimes of allocations below."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAction, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QScrollBar, QSplitter, QVBoxLayout, QWidget

from tileview.model.timeline import Timeline
from tileview.present.curves import (
    BoolArray,
    CurveMode,
    Curves,
    curves,
    matched_max,
    matching_steps,
    next_marked,
    over_steps,
    peak_marks,
    repeat_spans,
)
from tileview.present.lifetimes import Lifetime, filtered, lifetime_lines, lifetimes, ordered
from tileview.present.rasters import fullest_tile
from tileview.present.stacks import Series, StackSource
from tileview.qt.bridge import Bridge
from tileview.qt.draw.tiles_svg import write_svg
from tileview.qt.draw.timeline_curves import PlotData
from tileview.qt.views.base import View
from tileview.qt.views.pace import Pace
from tileview.qt.views.tiles_controls import ElidedLabel
from tileview.qt.views.timeline_axis import StepAxis
from tileview.qt.views.timeline_bars import LifetimeBars
from tileview.qt.views.timeline_controls import LifetimeFilter, TimelineControls
from tileview.qt.views.timeline_legend import CurveLegend, legend_entries
from tileview.qt.views.timeline_plot import CurvePlot
from tileview.qt.views.timeline_text import MODE_NAMES, step_line, step_tip, steps_csv

_FIRST_SECONDS = 0.05
"""How long a stack may keep the window waiting when it is asked for."""
_TURN_SECONDS = 0.012
"""How long reading goes on between two events after that."""
_LAYERS = 7
"""Groups that get a layer of their own in a stack."""


def _read_for(source: StackSource, seconds: float) -> bool:
    """Read for a while; True when all has been read."""
    end = time.monotonic() + seconds
    while not source.advance(4):
        if time.monotonic() > end:
            return False
    return True


class TimelineView(View):
    """Curves above, lifetimes below, on one axis of steps."""

    title = "Timeline"
    name = "timeline"

    def __init__(self, bridge: Bridge, parent: QWidget | None = None) -> None:
        super().__init__(bridge, parent)
        self._mode = CurveMode.WORST
        self._data: PlotData | None = None
        self._shown: tuple[CurveMode, int | None] | None = None
        self._lifetimes: tuple[Timeline, tuple[Lifetime, ...]] | None = None
        self._stack: StackSource | None = None
        self._stacking = QTimer(self)
        self._stacking.setInterval(0)
        self._stacking.timeout.connect(self._read_on)
        self._listed: tuple[object, ...] = ()
        self._listed_rows: tuple[Lifetime, ...] = ()
        self._over: BoolArray = np.zeros(0, dtype=np.bool_)
        self.axis = StepAxis(self)
        self._build()
        self._pace = Pace(self._show_lifetimes, self)
        self.axis.changed.connect(self._sync_axis)
        self.on_estimate()

    # -- widgets --------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        theme = self.bridge.theme
        self.controls = controls = TimelineControls(self)
        controls.mode_chosen.connect(self.set_mode)
        controls.changed.connect(self.refresh)
        controls.lifetimes_changed.connect(self._show_lifetimes)
        controls.fit_wanted.connect(self.axis.fit)
        controls.back_wanted.connect(self._back)
        controls.clear_wanted.connect(self._clear_span)
        self._line = ElidedLabel(self)
        self.legend = CurveLegend(self)
        self.plot = CurvePlot(theme, self.axis, self._key, self.tip, self)
        self.bars = LifetimeBars(theme, self.axis, self._key, self._lifetime_tip, self)
        self.plot.stepped.connect(self.session.select_step)
        self.plot.brushed.connect(self._brushed)
        self.plot.pointed.connect(self._pointed)
        self.plot.pointed.connect(self.bars.set_pointed)
        self.bars.pointed.connect(self.plot.set_pointed)
        self.bars.chosen.connect(self.session.select_allocation)
        self.bars.pointed_root.connect(self._pointed_root)
        self.bars.scrolled.connect(self._sync_scroll)
        self._scroll = QScrollBar(Qt.Orientation.Vertical, self)
        self._scroll.valueChanged.connect(self.bars.scroll_to)
        lower = QWidget(self)
        inner = QHBoxLayout(lower)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(0)
        inner.addWidget(self.bars, 1)
        inner.addWidget(self._scroll)
        self._lower = lower
        upper = QWidget(self)
        inner = QHBoxLayout(upper)
        inner.setContentsMargins(0, 0, self._scroll.sizeHint().width(), 0)
        inner.addWidget(self.plot)
        self._splitter = QSplitter(Qt.Orientation.Vertical, self)
        self._splitter.addWidget(upper)
        self._splitter.addWidget(lower)
        self._splitter.setStretchFactor(0, 3)
        self._splitter.setStretchFactor(1, 2)
        self._splitter.setCollapsible(0, False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(6, 4, 6, 4)
        layout.setSpacing(3)
        for widget in (controls, self._line, self.legend):
            layout.addWidget(widget)
        layout.addWidget(self._splitter, 1)
        self.setFocusProxy(self.plot)

    # -- what the view shows --------------------------------------------------------------------------------------

    @property
    def timeline(self) -> Timeline | None:
        return self.session.timeline

    @property
    def data(self) -> PlotData | None:
        """What the plot shows."""
        return self._data

    def set_mode(self, mode: CurveMode) -> None:
        """Which tile the curves follow."""
        if mode is not self._mode:
            self._mode = mode
            self.controls.show_mode(mode)
            self.refresh()

    def set_stacked(self, stacked: bool) -> None:
        """Stack the total by group."""
        self.controls.stack_check.setChecked(stacked)

    def tip(self, step: int) -> str:
        """The tooltip of a step."""
        timeline, data = self.timeline, self._data
        if timeline is None or data is None or step >= len(timeline.steps):
            return ""
        baseline = None
        if data.baseline is not None and data.baseline[1][step]:
            baseline = int(data.baseline[0][step])
        return step_tip(
            timeline, data.curves, step, layers=data.layers, marks=data.marks, repeats=data.repeats, baseline=baseline
        )

    def refresh(self) -> None:
        """Make the curves anew."""
        timeline = self.timeline
        self.plot.set_to_budget(self.controls.to_budget)
        if timeline is None or not timeline.steps:
            self._data = None
            self.plot.set_data(None, self._nothing())
            self.legend.set_entries(())
            self._line.show_text("")
            return
        mode, tile = self._mode, self.session.selection.tile
        if mode is CurveMode.TILE and tile is None:
            mode = CurveMode.WORST
        shown = curves(timeline, mode, tile)
        self._shown = (self._mode, tile if self._mode is CurveMode.TILE else None)
        self._data = PlotData(
            shown,
            timeline.budget_bytes,
            timeline.interleaved_budget_bytes,
            timeline.reserve_bytes,
            self._over,
            peak_marks(timeline),
            repeat_spans(timeline),
            self._layers(timeline, shown),
            *self._baseline_curves(timeline, mode, tile),
        )
        self.plot.set_data(self._data)
        self._show_cursor()

    def _layers(self, timeline: Timeline, shown: Curves) -> tuple[Series, ...]:
        """The stack, if one is asked for and all it needs has been read; reading goes on between events."""
        if not self.controls.stacked:
            self._stacking.stop()
            return ()
        if self._stack is None or self._stack.timeline is not timeline:
            self._stack = StackSource(timeline)
        if _read_for(self._stack, _FIRST_SECONDS):
            return self._stack.layers(shown, _LAYERS)
        self._stacking.start()
        return ()

    def _read_on(self) -> None:
        stack = self._stack
        if stack is None or stack.timeline is not self.timeline or not self.controls.stacked:
            self._stacking.stop()
        elif _read_for(stack, _TURN_SECONDS):
            self._stacking.stop()
            self.refresh()
        else:
            self._line.show_text(f"Reading what the layers need: {stack.read:,} of {stack.count:,} arrays")

    def _nothing(self) -> str:
        estimate = self.session.estimate
        if estimate is not None and estimate.timeline is None:
            return f"No timeline: {estimate.verdict.text}"
        if self.timeline is not None:
            return "The program has no steps"
        return "No estimate yet" if self.session.document is not None else "Nothing is open"

    def _baseline_curves(self, timeline: Timeline, mode: CurveMode, tile: int | None) -> tuple:
        """The baseline's total and classes on the steps of this timeline; empty where there is none to compare with."""
        pin = self.session.baseline
        other = None if pin is None else pin.timeline
        if other is None or other is timeline or not other.steps or not self.controls.with_baseline:
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

    def _show_cursor(self) -> None:
        """What follows the selection: cursor, range, lit steps, numbers."""
        timeline, data = self.timeline, self._data
        selection = self.session.selection
        self.controls.clear_button.setVisible(selection.span is not None)
        for canvas in (self.plot, self.bars):
            canvas.set_current(selection.step)
            canvas.set_span(selection.span)
        if timeline is None or data is None:
            return
        lit = None
        if selection.operation is not None:
            lit = np.fromiter((step.source == selection.operation for step in timeline.steps), dtype=np.bool_)
        root = selection.allocation
        spans = next((row.spans for row in self._all_lifetimes() if row.root == root), ()) if root is not None else ()
        self.plot.set_lit(lit, tuple(spans))
        step = selection.step
        if step is not None and step < len(timeline.steps):
            text = step_line(timeline, data.curves, step)
            if self._mode is CurveMode.TILE and selection.tile is None:
                text = f"No tile selected, worst tile shown · {text}"
            if selection.span is not None:
                text += f" · range {selection.span[0]} … {selection.span[1] - 1}"
            self._line.show_text(text)
            self.plot.setAccessibleDescription(text)
        self.legend.set_entries(legend_entries(self.bridge.theme, data, step))

    # -- lifetimes ------------------------------------------------------------------------------------------------

    def _all_lifetimes(self) -> tuple[Lifetime, ...]:
        timeline = self.timeline
        if timeline is None:
            return ()
        if self._lifetimes is None or self._lifetimes[0] is not timeline:
            self._lifetimes = (timeline, lifetimes(timeline))
        return self._lifetimes[1]

    def _show_lifetimes(self) -> None:
        selection = self.session.selection
        rows, which = self._all_lifetimes(), self.controls.filter
        self._lower.setVisible(self.controls.with_lifetimes)
        step = selection.step if which is LifetimeFilter.STEP else None
        span = selection.span if which is LifetimeFilter.SPAN else None
        key = (which, step, span, self.controls.order)
        if key != self._listed or rows is not self._listed_rows:
            self._listed, self._listed_rows = key, rows
            message = "No allocations"
            if which is LifetimeFilter.SPAN and span is None:
                message, rows = "Brush a range of steps with Shift and the mouse", ()
            self.bars.set_rows(ordered(filtered(rows, step, span), self.controls.order), message)
        self.bars.set_selected(selection.allocation)

    def _lifetime_tip(self, row: Lifetime) -> str:
        timeline = self.timeline
        return "" if timeline is None else "\n".join(lifetime_lines(timeline, row, self.session.selection.tile))

    def _sync_scroll(self) -> None:
        self._scroll.blockSignals(True)
        self._scroll.setRange(0, self.bars.most_offset())
        self._scroll.setPageStep(self.bars.page())
        self._scroll.setValue(self.bars.offset)
        self._scroll.blockSignals(False)

    def _sync_axis(self) -> None:
        self.controls.back_button.setEnabled(self.axis.can_go_back)
        self.controls.fit_button.setEnabled(not self.axis.is_fit)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        height = self.height()
        self.legend.set_most_lines(1 if height < 340 else 2 if height < 480 else 4)

    # -- keys and choices -----------------------------------------------------------------------------------------

    def _key(self, event: QKeyEvent) -> Callable[[], None] | None:
        """What a key does here; None leaves it to the window."""
        key, modifiers = Qt.Key(event.key()), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if modifiers == Qt.KeyboardModifier.AltModifier and key == Qt.Key.Key_Left:
            return self._back
        if modifiers & ~Qt.KeyboardModifier.ShiftModifier:
            return None
        shift = bool(modifiers)
        by = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(key)
        if by is not None:
            return lambda: self.move_step(by * (10 if shift else 1))
        if key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            return lambda: self._zoom(1.5)
        if shift:
            return None
        rows = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -10, Qt.Key.Key_PageDown: 10}.get(key)
        if rows is not None:
            return lambda: self._move_row(rows)
        return {
            Qt.Key.Key_Home: lambda: self.go_to(0),
            Qt.Key.Key_End: lambda: self.go_to(self.axis.steps - 1),
            Qt.Key.Key_P: lambda: self.go_to_peak("P"),
            Qt.Key.Key_S: lambda: self.go_to_peak("S"),
            Qt.Key.Key_I: lambda: self.go_to_peak("I"),
            Qt.Key.Key_N: lambda: self.go_to_over(True),
            Qt.Key.Key_B: lambda: self.go_to_over(False),
            Qt.Key.Key_F: self.centre_selection,
            Qt.Key.Key_0: self.axis.fit,
            Qt.Key.Key_Minus: lambda: self._zoom(1 / 1.5),
            Qt.Key.Key_Backspace: self._back,
            Qt.Key.Key_Escape: self._clear_span,
        }.get(key)

    def go_to(self, step: int) -> None:
        """Select a step and bring it into view."""
        self.session.select_step(step)
        self.axis.reveal(min(max(step, 0), self.axis.steps - 1))

    def move_step(self, by: int) -> None:
        """Select the step so many further on."""
        current = self.session.selection.step
        self.go_to(min(max((0 if current is None else current) + by, 0), self.axis.steps - 1))

    def go_to_peak(self, letter: str) -> None:
        """Select the step of a peak (P total, S standard, I interleaved) and the tile that reaches it."""
        timeline = self.timeline
        mark = next((mark for mark in peak_marks(timeline) if mark.letter == letter), None) if timeline else None
        if timeline is None or mark is None:
            self.bridge.message.emit("The timeline has no such peak")
        else:
            tile = fullest_tile(timeline, mark.step, {"S": 0, "I": 1}.get(letter))
            self.session.select(replace(self.session.selection, step=mark.step, tiles=(tile,)))
            self.axis.reveal(mark.step)

    def go_to_over(self, forward: bool) -> None:
        """Select the next (previous) step at which some tile is over a budget, and the fullest such tile."""
        timeline = self.timeline
        step = next_marked(self._over, self.session.selection.step, forward)
        if timeline is not None and step is not None:
            tile = fullest_tile(timeline, step)
            self.session.select(replace(self.session.selection, step=step, tiles=(tile,)))
        elif bool(self._over.any()):
            self.bridge.message.emit(f"No step {'after' if forward else 'before'} this one is over budget")
        else:
            self.bridge.message.emit("No step is over budget")

    def fit(self) -> None:
        """Show all steps."""
        self.axis.fit()

    def centre_selection(self) -> None:
        """Bring the selected step into the middle."""
        step = self.session.selection.step
        if step is not None:
            self.axis.centre(step)

    def _zoom(self, factor: float) -> None:
        current = self.session.selection.step
        self.axis.zoom(factor, (self.axis.first + self.axis.last) / 2 if current is None else current + 0.5)

    def _back(self) -> None:
        if not self.axis.back():
            self.bridge.message.emit("No earlier zoom to go back to")

    def _move_row(self, by: int) -> None:
        root = self.bars.neighbour(by)
        if root is not None:
            self.session.select_allocation(root)

    def _brushed(self, span: tuple[int, int] | None) -> None:
        self.session.select(replace(self.session.selection, span=span))

    def _clear_span(self) -> None:
        self._brushed(None)

    def _pointed(self, step: int | None) -> None:
        timeline = self.timeline
        source = None
        if timeline is not None and step is not None and step < len(timeline.steps):
            source = timeline.steps[step].source
        self.bridge.hovered.emit(source, None, None)

    def _pointed_root(self, root: int | None) -> None:
        self.bridge.hovered.emit(None, root, None)

    # -- what the session tells -----------------------------------------------------------------------------------

    def on_document(self) -> None:
        self._lifetimes, self._listed, self._stack = None, (), None
        self.axis.set_steps(1, keep=False)
        self.on_estimate(keep=False)

    def on_estimate(self, keep: bool = True) -> None:
        timeline = self.timeline
        self._over = np.zeros(0, dtype=np.bool_) if timeline is None else over_steps(timeline)
        self.axis.set_steps(1 if timeline is None else len(timeline.steps), keep)
        self.refresh()
        self._show_lifetimes()
        self._sync_axis()

    def on_selection(self) -> None:
        step = self.session.selection.step
        if step is not None and step != self.plot.current:
            self.axis.reveal(step)
        tile = self.session.selection.tile if self._mode is CurveMode.TILE else None
        timeline = self.timeline
        if timeline is not None and self._shown != (self._mode, tile):
            self.refresh()
        else:
            self._show_cursor()
        self._pace.ask()

    def on_pins(self) -> None:
        self.refresh()

    def on_theme(self) -> None:
        for canvas in (self.plot, self.bars):
            canvas.set_theme(self.bridge.theme)
        self._show_cursor()

    # -- out ------------------------------------------------------------------------------------------------------

    def view_actions(self) -> list[QAction]:
        entries: list[tuple[str, Callable[[], object]]] = [
            (f"Timeline: {MODE_NAMES[mode].lower()}", partial(self.set_mode, mode)) for mode in CurveMode
        ]
        entries += [
            ("Timeline: stack by group", self.controls.stack_check.toggle),
            ("Timeline: zoom to all steps", self.axis.fit),
            ("Timeline: zoom back", self._back),
            ("Timeline: centre the step", self.centre_selection),
            ("Timeline: clear the range", self._clear_span),
        ]
        return [self._action(text, slot) for text, slot in entries]

    def _action(self, text: str, slot: Callable[[], object]) -> QAction:
        action = QAction(text, self)
        action.triggered.connect(lambda _=False: slot())
        return action

    def table_csv(self) -> str | None:
        timeline, data = self.timeline, self._data
        return None if timeline is None or data is None else steps_csv(timeline, data.curves, data.over, data.layers)

    def export_svg(self, path: Path) -> bool:
        parts = (self.legend, self.plot, self.bars) if self.controls.with_lifetimes else (self.legend, self.plot)
        return write_svg(path, self._line.full_text, parts)

    def shut_down(self) -> None:
        self._pace.stop()
        self._stacking.stop()
