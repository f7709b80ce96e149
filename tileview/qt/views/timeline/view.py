"""The timeline view: memory over the steps, budgets, peaks, the baseline behind, lifetimes of allocations below."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QPalette, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QScrollBar, QSplitter, QVBoxLayout, QWidget

from tileview.analysis.lifetimes import Lifetime, filtered, ordered
from tileview.analysis.overflows import steps_over
from tileview.model.timeline import ByteArray, Timeline
from tileview.present.curves import (
    BoolArray,
    CurveMode,
    Curves,
    Series,
    peak_marks,
    repeat_spans,
    tile_at,
)
from tileview.present.cycle_words import StepCycles, step_cycles
from tileview.qt.jobs.pacing import Throttle, takes_turns
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.plot.legend import Legend
from tileview.qt.plot.picture import Part
from tileview.qt.views.base import View, action_of
from tileview.qt.views.timeline.bars import LifetimeBars, StepStrip
from tileview.qt.views.timeline.controls import (
    HINT,
    MODE_NAMES,
    LifetimeFilter,
    TimelineControls,
    measured,
    step_line,
    step_tip,
    steps_csv,
    timeline_legend,
)
from tileview.qt.views.timeline.data import CurveSource, LayerReader, LifetimeSource, PlotData, StepNotes, excesses
from tileview.qt.views.timeline.moves import TimelineMoves
from tileview.qt.views.timeline.plot import CurvePlot, StepPlot, StepZoom
from tileview.qt.widgets.docked import ElidedLabel, LineLabel

LEAST_FOR_BOTH = 22
"""Lines of text that the view is high at least where curves and lifetimes are shown together."""
LEAST_FOR_CYCLES = 16
LEAST_FOR_ALL = 25
"""The same for the strip of cycles, below curves alone and with lifetimes as well: six lines are the curves' own."""


class TimelineView(View):
    """Curves above, lifetimes below, on one axis of steps."""

    title = "Timeline"
    name = "timeline"

    def __init__(self, bridge: SessionSignals, parent: QWidget | None = None) -> None:
        super().__init__(bridge, parent)
        self._data: PlotData | None = None
        self._shown: tuple[CurveMode, int | None] | None = None
        self.source = CurveSource(bridge.session)
        self.lives = LifetimeSource(bridge.session)
        self.notes = StepNotes(bridge.session, self)
        self.notes.changed.connect(self.refresh)
        self._reader = LayerReader(self)
        self._reader.ready.connect(self.refresh)
        self._reader.progressed.connect(self._reading)
        self._listed: tuple[object, ...] = ()
        self._listed_rows: tuple[Lifetime, ...] = ()
        self._lifetimes_wait = False
        self._hovered: int | None = None
        self._lit: tuple[object, BoolArray | None] = (None, None)
        self.over: BoolArray = np.zeros(0, dtype=np.bool_)
        self.cycles: StepCycles | None = None
        self.axis = StepZoom(self)
        self.moves = TimelineMoves(
            bridge.session, self.axis, lambda by: self.bars.neighbour(by), self.notes.ask, bridge.message.emit, self
        )
        self._pace = Throttle(self._show_lifetimes, self)
        self.make_in_parts(self._build())

    # -- widgets --------------------------------------------------------------------------------------------------

    def _build(self) -> Iterator[None]:
        theme, keys = self.bridge.theme, self.moves.key
        self.controls = controls = TimelineControls(self)
        self.line = LineLabel(controls)
        controls.add_line(self.line)
        self.legend = Legend(self)
        yield
        self.plot = CurvePlot(theme, self.axis, keys, self.tip, self)
        yield
        self.strip = StepStrip(theme, "Cycles of the steps", self, zoom=self.axis, keys=keys)
        yield
        self.bars = LifetimeBars(theme, self.axis, keys, self.lives.tip, self.lives.uses, self._place_of, self)
        self.plots: tuple[StepPlot, ...] = (self.plot, self.strip, self.bars)
        yield
        self.hint = ElidedLabel(HINT, self, Qt.TextElideMode.ElideRight)
        self.hint.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.scroll_bar = QScrollBar(Qt.Orientation.Vertical, self)
        self.scroll_bar.setAccessibleName("Scroll the lifetimes")
        self._upper, self._lower = QWidget(self), QWidget(self)
        upper = QVBoxLayout(self._upper)
        upper.setContentsMargins(0, 0, self.scroll_bar.sizeHint().width(), 0)
        upper.setSpacing(0)
        upper.addWidget(self.plot, 1)
        upper.addWidget(self.strip)
        lower = QHBoxLayout(self._lower)
        lower.setContentsMargins(0, 0, 0, 0)
        lower.setSpacing(0)
        lower.addWidget(self.bars, 1)
        lower.addWidget(self.scroll_bar)
        self._splitter = QSplitter(Qt.Orientation.Vertical, self)
        self._splitter.addWidget(self._upper)
        self._splitter.addWidget(self._lower)
        self._splitter.setStretchFactor(0, 7)
        self._splitter.setStretchFactor(1, 3)
        self._splitter.setCollapsible(0, False)
        self._splitter.setSizes([7000, 3000])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(6, 4, 6, 4)
        layout.setSpacing(3)
        layout.addWidget(controls)
        layout.addWidget(self.legend)
        layout.addWidget(self._splitter, 1)
        layout.addWidget(self.hint)
        self.lead_focus(self.plot)
        self._connect()
        self.look_first(self.on_document)

    def _connect(self) -> None:
        controls = self.controls
        controls.mode_chosen.connect(self.set_mode)
        controls.changed.connect(self.refresh)
        controls.lifetimes_changed.connect(self._show_lifetimes)
        controls.fit_wanted.connect(self.axis.fit)
        controls.back_wanted.connect(self.moves.back)
        controls.clear_wanted.connect(self.moves.clear_range)
        controls.panes_changed.connect(self._show_panes)
        self.plot.stepped.connect(self.session.select_step)
        self.plot.brushed.connect(self.moves.set_range)
        for one in self.plots:
            one.pointed_step.connect(self._pointed)
        self.bars.chosen.connect(self.session.select_allocation)
        self.bars.pointed_root.connect(self._pointed_root)
        self.bars.scrolled.connect(self._sync_scroll)
        self.scroll_bar.valueChanged.connect(self.bars.scroll_to)
        self.bridge.hovered.connect(self._on_hover)
        self.axis.changed.connect(self._sync_axis)

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
        if mode is not self.source.mode:
            self.source.mode = mode
            self.controls.show_mode(mode)
            self.refresh()

    def set_stacked(self, stacked: bool) -> None:
        """Stack the total by operation."""
        self.controls.stack_check.setChecked(stacked)

    def tip(self, step: int) -> str:
        timeline, data = self.timeline, self._data
        if timeline is None or data is None or step >= len(timeline.steps):
            return ""
        baseline = None
        if data.baseline is not None and data.baseline[1][step]:
            baseline = int(data.baseline[0][step])
        return step_tip(
            timeline,
            data.curves,
            step,
            layers=data.layers,
            marks=data.marks,
            repeats=data.repeats,
            baseline=baseline,
            second=data.second,
            note=dict(data.notes).get(step, ""),
            cycles="" if self.cycles is None else self.cycles.tip(step),
        )

    def refresh(self) -> None:
        """Make the curves anew."""
        timeline = self.timeline
        self.plot.set_to_budget(self.controls.to_budget)
        if timeline is None or not timeline.steps:
            self._data = None
            self.plot.set_data(None, self._nothing())
            self.legend.set_entries(())
            self.line.show_text("")
            return
        source = self.source
        shown = source.first(timeline)
        self._shown = (source.mode, source.tile)
        self._data = PlotData(
            shown,
            timeline.budget_bytes,
            timeline.interleaved_budget_bytes,
            timeline.reserve_bytes,
            self.over,
            peak_marks(timeline),
            repeat_spans(timeline),
            self._layers(timeline, shown),
            *(source.behind(timeline) if self.controls.with_baseline else (None, None)),
            source.second(timeline),
            excesses(self.session.overflows),
            tuple(self.notes.by_step().items()),
        )
        self.plot.set_data(self._data)
        self._show_cursor()

    def _layers(self, timeline: Timeline, shown: Curves) -> tuple[Series, ...]:
        """The stack, if one is asked for and all it needs has been read; reading goes on between events."""
        if not self.controls.stacked:
            self._reader.stop()
            return ()
        return self._reader.layers(timeline, shown, lambda: self.bridge.colours(is_read=True))

    def _place_of(self, root: int) -> int | None:
        """The category of the operation that makes an allocation."""
        timeline = self.timeline
        maker = None if timeline is None else timeline.maker(root)
        return None if maker is None else self.bridge.colours().get(maker)

    def _reading(self, read: int, count: int) -> None:
        self.line.show_text(f"Reading what the layers need: {read:,} of {count:,} arrays")

    def _nothing(self) -> str:
        estimate = self.session.estimate
        if estimate is not None and estimate.timeline is None:
            return f"No timeline: {estimate.verdict.text}"
        if self.timeline is not None:
            return "The program has no steps"
        return "No estimate yet" if self.session.document is not None else "Nothing is open"

    def _show_cursor(self) -> None:
        """What follows the selection: cursor, range, lit steps, numbers."""
        timeline, data = self.timeline, self._data
        selection = self.session.selection
        self.controls.clear_button.setVisible(selection.span is not None)
        for one in self.plots:
            one.set_current(selection.step)
            one.set_span(selection.span)
        self.hint.setText(HINT if data is None or selection.span is None else measured(data.curves, selection.span))
        if timeline is None or data is None:
            return
        self._show_lit()
        step = selection.step
        if step is not None and step < len(timeline.steps):
            text = step_line(timeline, data.curves, step, data.second)
            if self.source.mode is CurveMode.TILE and selection.tile is None:
                text = f"No tile selected, fullest tile shown · {text}"
            if selection.span is not None:
                text += f" · range {selection.span[0]} … {selection.span[1] - 1}"
            self.line.show_text(text)
            self.plot.set_description(text)
        tile = None if step is None or step >= len(timeline.steps) else tile_at(timeline, data.curves, step)
        self.legend.set_entries(timeline_legend(self.bridge.theme, data, step, tile, timeline.tile_count))

    def _show_lit(self) -> None:
        """Light the steps of the operation that is pointed at somewhere, else of the selected one."""
        timeline, selection = self.timeline, self.session.selection
        operation = selection.operation if self._hovered is None else self._hovered
        key = (timeline, operation)
        if timeline is None or operation is None:
            self._lit = (key, None)
        elif self._lit[0] != key:
            flags = np.fromiter((step.source == operation for step in timeline.steps), dtype=np.bool_)
            self._lit = (key, flags)
        self.plot.set_lit(self._lit[1], self.lives.spans(selection.allocation))

    def show_cycles(
        self,
        values: ByteArray | None,
        known: BoolArray,
        name: str = "planner's cycles",
        most: str = "",
        tell: Callable[[int], str] | None = None,
    ) -> None:
        """Show a number a step under the curves; see :meth:`StepStrip.show_values`."""
        self.strip.show_values(values, known, name, most, tell)
        self._show_panes()

    def _show_prices(self) -> None:
        """The planner's cycles of every step under the curves, where there is a price."""
        estimate = self.session.estimate
        self.cycles = None if estimate is None else step_cycles(estimate.cycles, self.timeline)
        if self.cycles is None:
            self.show_cycles(None, np.zeros(0, dtype=np.bool_))
        else:
            self.show_cycles(self.cycles.values, self.cycles.known, most=self.cycles.most, tell=self.cycles.tip)

    # -- lifetimes ------------------------------------------------------------------------------------------------

    def _show_lifetimes(self) -> None:
        self._lifetimes_wait = False
        selection = self.session.selection
        rows, which = self.lives.rows(), self.controls.filter
        step = selection.step if which is LifetimeFilter.STEP else None
        span = selection.span if which is LifetimeFilter.SPAN else None
        key = (which, step, span, self.controls.order)
        if key != self._listed or rows is not self._listed_rows:
            self._listed, self._listed_rows = key, rows
            message = "No allocations"
            if which is LifetimeFilter.SPAN and span is None:
                message, rows = "Shift-drag to choose a range of steps", ()
            self.bars.set_rows(ordered(filtered(rows, step, span), self.controls.order), message)
        self.bars.set_selected(selection.allocation)

    def _sync_scroll(self) -> None:
        self.scroll_bar.blockSignals(True)
        self.scroll_bar.setRange(0, self.bars.most_offset())
        self.scroll_bar.setPageStep(self.bars.page())
        self.scroll_bar.setValue(self.bars.offset)
        self.scroll_bar.blockSignals(False)

    def _sync_axis(self) -> None:
        self.controls.back_button.setEnabled(self.axis.can_go_back)
        self.controls.fit_button.setEnabled(not self.axis.is_fit)

    def _show_panes(self) -> None:
        self._upper.setVisible(self.controls.with_curves)
        self._show_strip()
        self._lower.setVisible(self.controls.with_lifetimes)

    def _show_strip(self) -> None:
        controls = self.controls
        least = LEAST_FOR_ALL if controls.with_lifetimes else LEAST_FOR_CYCLES
        has_room = self.height() >= least * self.fontMetrics().height()
        self.strip.setVisible(controls.with_cycles and self.strip.has_values and has_room)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the curves the height they need first: what gives way is lines of the legend, the lifetimes (a button
        shows them in place of the curves), the line of text (which moves beside the controls), then the legend.
        """
        super().resizeEvent(event)
        height, line = self.height(), self.fontMetrics().height()
        is_low = height < LEAST_FOR_BOTH * line
        self.controls.set_low(is_low)
        self.line.set_beside(24 if is_low else None)
        self.legend.setVisible(height >= 10 * line)
        self.hint.setVisible(height >= 20 * line)
        self._show_strip()
        self.legend.set_most_lines(1 if height < 18 * line else 2 if height < 28 * line else 4)

    # -- choices --------------------------------------------------------------------------------------------------

    def fit(self) -> None:
        """Show all steps."""
        self.axis.fit()

    def centre_selection(self) -> None:
        """Bring the selected step into the middle."""
        self.moves.centre()

    def _on_hover(self, operation: int | None, root: int | None, _tile: int | None) -> None:
        if self.timeline is not None:
            self._hovered = operation
            self._show_lit()
            self.bars.set_lit(root)

    def _pointed(self, step: int | None) -> None:
        timeline = self.timeline
        for one in self.plots:
            one.set_pointed(step)
        source = None
        if timeline is not None and step is not None and step < len(timeline.steps):
            source = timeline.steps[step].source
        self.bridge.hovered.emit(source, None, None)

    def _pointed_root(self, root: int | None) -> None:
        self.bridge.hovered.emit(None, root, None)

    # -- what the session tells -----------------------------------------------------------------------------------

    def on_document(self) -> None:
        self._listed = ()
        self.lives.forget()
        self._reader.forget()
        self.notes.load()
        self._hovered = None
        self.axis.set_steps(1, keep=False)
        self.on_estimate(keep=False)

    def on_estimate(self, keep: bool = True) -> None:
        timeline = self.timeline
        self.over = np.zeros(0, dtype=np.bool_) if timeline is None else steps_over(timeline)
        self.axis.set_steps(1 if timeline is None else len(timeline.steps), keep)
        self._show_prices()
        self.refresh()
        self._lifetimes_wait = takes_turns(timeline, may_wait=not self._listed_rows)
        if self._lifetimes_wait:
            self.bridge.turns.add(self._show_lifetimes)
        else:
            self._show_lifetimes()
        self._sync_axis()

    def on_selection(self) -> None:
        step = self.session.selection.step
        if step is not None and step != self.plot.current:
            self.axis.reveal(step)
        timeline = self.timeline
        if timeline is not None and self._shown != (self.source.mode, self.source.tile):
            self.refresh()
        else:
            self._show_cursor()
        if not self._lifetimes_wait:
            self._pace.ask()

    def on_pins(self) -> None:
        self.refresh()

    def on_overflows(self) -> None:
        self.refresh()

    def on_theme(self) -> None:
        for one in self.plots:
            one.set_theme(self.bridge.theme)
        self._show_cursor()

    # -- out ------------------------------------------------------------------------------------------------------

    def view_actions(self) -> list[QAction]:
        entries: list[tuple[str, Callable[[], object]]] = [
            (f"Timeline: {MODE_NAMES[mode].lower()}", partial(self.set_mode, mode)) for mode in CurveMode
        ]
        entries += [
            ("Timeline: stack by operation", self.controls.stack_check.toggle),
            ("Timeline: zoom to all steps", self.axis.fit),
            ("Timeline: zoom back", self.moves.back),
            ("Timeline: zoom to the range", self.moves.zoom_to_range),
            ("Timeline: centre the step", self.moves.centre),
            ("Timeline: begin a range at the step", self.moves.begin_range),
            ("Timeline: end the range with the step", self.moves.end_range),
            ("Timeline: clear the range", self.moves.clear_range),
            ("Timeline: note on the step…", self.notes.ask),
        ]
        return [action_of(self, text, slot) for text, slot in entries]

    def table_maker(self) -> Callable[[], str] | None:
        timeline, data = self.timeline, self._data
        if timeline is None or data is None:
            return None
        return partial(steps_csv, timeline, data.curves, data.over, data.layers, data.second, self.cycles)

    def picture_words(self) -> str:
        return self.line.full_text

    def picture_parts(self, whole: bool = False) -> Sequence[Part]:
        parts: list[Part] = []
        if self.controls.with_curves:
            parts += [self.legend, self.plot]
            if self.strip.isVisible():
                parts.append(self.strip)
        if self.controls.with_lifetimes:
            parts.append(self.bars)
        return parts

    def shut_down(self) -> None:
        self._pace.stop()
        self._reader.stop()
