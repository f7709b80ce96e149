"""The tile view: memory of all tiles at the selected step, as a map of the chip or sorted by load."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
from PySide6.QtCore import QPointF, Qt, Slot
from PySide6.QtGui import QAction, QContextMenuEvent, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from tileview.analysis.tile_groups import identical_tiles
from tileview.analysis.words import at_start
from tileview.core.geometry.chip import Grid, grid
from tileview.model.config import CHIP_TILES
from tileview.model.sizes import kib_text
from tileview.model.timeline import Timeline, last_largest
from tileview.present.curves import IndexArray, matching_steps
from tileview.present.rasters import (
    Metric,
    Scale,
    ScaleMode,
    TileField,
    neighbour,
    slot_levels,
    tile_field,
    tiles_between,
    unavailable_at,
)
from tileview.present.scales import Ramp
from tileview.present.tables import signed_kib
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.plot.legend import Legend
from tileview.qt.plot.picture import Part
from tileview.qt.views.base import View, action_of, show_menu
from tileview.qt.views.tiles.choosing import GroupStrip, TileChoice
from tileview.qt.views.tiles.controls import (
    METRIC_NAMES,
    TilesControls,
    TilesPicture,
    bar_entries,
    bar_layers,
    scale_marks,
    tile_tip,
    tiles_csv,
    tiles_headline,
    tiles_legend,
    value_text,
)
from tileview.qt.views.tiles.items import MetricScales, legend_of
from tileview.qt.views.tiles.pictures import LoadBars, TileMap
from tileview.qt.widgets.docked import LineLabel


class TilesView(View):
    """All tiles at the selected step, on a scale that is locked until the user chooses otherwise."""

    title = "Tiles"
    name = "tiles"

    def __init__(self, bridge: SessionSignals, parent: QWidget | None = None) -> None:
        super().__init__(bridge, parent)
        self._metric = Metric.TOTAL
        self._metric_before = Metric.TOTAL
        self._logical = False
        self._ramp = Ramp.VIRIDIS
        self._scales = MetricScales()
        self._root: int | None = None
        self._field: TileField | None = None
        self._matches: tuple[Timeline, Timeline, IndexArray] | None = None
        self.make_in_parts(self._build())

    # -- widgets --------------------------------------------------------------------------------------------------

    def _build(self) -> Iterator[None]:
        theme = self.bridge.theme
        self.controls = controls = TilesControls(self)
        controls.metric_chosen.connect(self.set_metric)
        controls.picture_chosen.connect(self._choose_picture)
        controls.scale_chosen.connect(self.set_scale)
        controls.ends_chosen.connect(self._ends_chosen)
        controls.known_toggled.connect(self.refresh)
        controls.ramp_chosen.connect(self.set_ramp)
        controls.groups_toggled.connect(self._show_groups)
        self.line = LineLabel(controls)
        controls.add_line(self.line)
        yield
        self.map = TileMap(theme, self.tip)
        yield
        self.bars = LoadBars(theme, self.tip)
        yield
        controls.fit_wanted.connect(self.map.fit)
        self.choice = TileChoice(self.session, self._range_of, self)
        self.choice.cursor_moved.connect(self._show_cursor)
        self.choice.arrived.connect(self.map.show_tile)
        for picture in (self.map, self.bars):
            picture.picked.connect(self.choice.click)
            picture.toggled.connect(self.choice.toggle)
            picture.cleared.connect(self.choice.clear)
            picture.tile_pointed.connect(self._pointed)
            picture.all_wanted.connect(self._select_all)
        self.map.moved.connect(self._move_on_map)
        self.bars.moved.connect(self._move_along)
        self._stack = QStackedWidget(self)
        self._stack.addWidget(self.map)
        self._stack.addWidget(self.bars)
        self.legend = Legend(self)
        self.legend.setAccessibleName("Legend of the tiles")
        self.groups = GroupStrip(theme, self)
        self.groups.chosen.connect(self.choice.choose)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(6, 4, 6, 4)
        layout.setSpacing(3)
        for widget, stretch in ((controls, 0), (self._stack, 1), (self.legend, 0), (self.groups, 0)):
            layout.addWidget(widget, stretch)
        self.lead_focus(self.map)
        self.bridge.hovered.connect(self._hovered_elsewhere)
        self.bridge.placement_changed.connect(self._on_placement)
        self.look_first(self.refresh)

    # -- what the view shows --------------------------------------------------------------------------------------

    @property
    def timeline(self) -> Timeline | None:
        return self.session.timeline

    @property
    def shown_metric(self) -> Metric:
        return self._metric

    @property
    def field(self) -> TileField | None:
        """The numbers behind the picture."""
        return self._field

    @property
    def step(self) -> int | None:
        """The step shown: the selected one, else the first."""
        timeline = self.timeline
        if timeline is None or not timeline.steps:
            return None
        chosen = self.session.selection.step
        return 0 if chosen is None else min(chosen, len(timeline.steps) - 1)

    @property
    def grid(self) -> Grid:
        """The arrangement of the tiles on the map."""
        timeline = self.timeline
        return grid(0 if timeline is None else timeline.tile_count, logical_order=self._logical)

    def tip(self, tile: int) -> str:
        timeline, field = self.timeline, self._field
        if timeline is None or field is None or tile >= timeline.tile_count or field.step >= len(timeline.steps):
            return ""
        return tile_tip(timeline, grid(timeline.tile_count), field, tile, self.session.selection.allocation)

    def scale(self) -> Scale | None:
        """What the colours mean now."""
        timeline, field = self.timeline, self._field
        if timeline is None or field is None:
            return None
        return self._scales.of(timeline, field, self._baseline(), self._matching())

    def refresh(self) -> None:
        """Show the session anew: everything that is visible follows from it."""
        timeline, step = self.timeline, self.step
        self._sync_controls()
        if timeline is None or step is None:
            self._field = None
            self._show_nothing()
            return
        selection, placed = self.session.selection, self.session.placed
        self._field = field = tile_field(
            timeline,
            self._metric,
            step,
            root=selection.allocation,
            baseline=self._baseline(),
            known=self.controls.known,
            matches=self._matching(),
            outcomes=None if placed is None else placed.by_tile,
            unplaced=self._why_unplaced(),
        )
        scale = self._scales.of(timeline, field, self._baseline(), self._matching())
        is_placement = self._metric is Metric.PLACEMENT
        ramp = Ramp.PLACEMENT if is_placement else Ramp.DIFFERENCE if scale.diverging else self._ramp
        self.map.set_ramp(ramp)
        self.map.set_grid(self.grid)
        marks = scale_marks(timeline, self._metric)
        if self.on_map and is_placement:
            self.map.set_outcomes(slot_levels(field, scale), field.values)
        elif self.on_map:
            self.map.set_cells(slot_levels(field, scale), field.over)
            self.map.set_scale(scale, marks)
        else:
            self._show_bars(timeline, field, scale)
        self._show_selection()
        self.groups.follow(timeline, step)

    def _why_unplaced(self) -> str:
        session = self.session
        why = session.placement_unknown
        return f"Placement is not known: {why}" if why else f"Placing in {session.ranges.title}…"

    def _show_nothing(self) -> None:
        estimate = self.session.estimate
        if estimate is not None:
            self.line.show_text(f"No timeline: {estimate.verdict.text}")
        else:
            self.line.show_text("No estimate yet" if self.session.document is not None else "Nothing is open")
        self.map.set_grid(grid(0))
        self.map.set_cells(np.zeros(0, dtype=np.uint8), np.zeros(0, dtype=np.bool_))
        self.bars.set_message("No tiles to show")
        self.legend.set_entries(())
        self.groups.follow(None, None)

    def _show_bars(self, timeline: Timeline, field: TileField, scale: Scale) -> None:
        if field.metric is Metric.PLACEMENT:
            self.bars.set_message("The map shows which tiles are placed.")
            return
        if field.missing:
            self.bars.set_message(f"Unavailable: {field.reason}")
            return
        limits = scale_marks(timeline, field.metric)
        self.bars.set_values(field.values, bar_layers(timeline, field), (scale.low, scale.high), limits)

    def _show_selection(self) -> None:
        timeline, field = self.timeline, self._field
        if timeline is None or field is None:
            return
        selection = self.session.selection
        self.map.set_selected(selection.tiles)
        self.bars.set_selected(selection.tiles)
        held = None
        root = selection.allocation
        if root is not None and self._metric is not Metric.ALLOCATION and root not in timeline.unavailable_roots:
            held = timeline.tiles.allocation(root) > 0
        self.map.set_held(held)
        self._show_legend(timeline, field)
        text = tiles_headline(timeline, field, root)
        if field.metric is Metric.PLACEMENT and not field.missing:
            text = f"{at_start(self.session.ranges.title)}: {text}"
        self.line.show_text(text)
        for picture in (self.map, self.bars):
            picture.set_description("; ".join([text, *self.legend.texts[1:]]))

    def _show_legend(self, timeline: Timeline, field: TileField) -> None:
        scale = self.scale()
        entries = tiles_legend(field, self.grid, self.session.selection.tiles)
        words: list[str] = []
        if not self.on_map and not field.missing and field.metric is not Metric.PLACEMENT:
            entries = [*bar_entries(timeline, field), *entries]
        elif scale is not None and field.metric is not Metric.PLACEMENT:
            write = signed_kib if scale.diverging else kib_text
            words = [f"{write(scale.low)} to {write(scale.high)}"]
            words += [f"{name} {kib_text(size)}" for size, name in scale_marks(timeline, self._metric)]
        self.legend.set_entries(legend_of(entries, self.bridge.theme))
        self.legend.setAccessibleDescription("; ".join([*words, *self.legend.texts]))

    def _show_cursor(self, cursor: int | None) -> None:
        """Show and tell the tile that the cursor has come to: what it holds, and how it is chosen."""
        self.map.set_cursor(cursor)
        self.bars.set_cursor(cursor)
        field = self._field
        if cursor is not None and field is not None and cursor < len(field.values):
            text = f"tile {cursor}{'' if field.missing else f': {value_text(field, cursor)}'} (Space: select or not)"
            self.line.show_text(text)
            self.map.set_description(text)
        elif field is not None:
            self._show_selection()

    def _baseline(self) -> Timeline | None:
        pin = self.session.baseline
        return None if pin is None else pin.timeline

    def _matching(self) -> IndexArray | None:
        timeline, baseline = self.timeline, self._baseline()
        if self._metric is not Metric.DIFFERENCE or timeline is None or baseline is None:
            return None
        if self._matches is None or self._matches[0] is not timeline or self._matches[1] is not baseline:
            self._matches = (timeline, baseline, matching_steps(timeline, baseline))
        return self._matches[2]

    def _sync_controls(self) -> None:
        timeline, step = self.timeline, self.step
        self.controls.show_state(
            self._metric,
            self._scales.mode(self._metric),
            lost=timeline is not None and step is not None and bool(unavailable_at(timeline, step)),
        )
        has_chip = timeline is not None and timeline.tile_count == CHIP_TILES
        on_map = TilesPicture.CHIP if has_chip and not self._logical else TilesPicture.LOGICAL
        self.controls.show_picture(on_map if self.on_map else TilesPicture.LOAD, has_chip)

    @property
    def on_map(self) -> bool:
        """Whether the map is shown, not the bars."""
        return self._stack.currentWidget() is self.map

    # -- choices --------------------------------------------------------------------------------------------------

    def set_metric(self, metric: Metric) -> None:
        """Show another number of each tile."""
        if metric is not self._metric:
            self._metric = metric
            self.refresh()

    def _choose_picture(self, picture: TilesPicture) -> None:
        if picture is TilesPicture.LOAD:
            self.set_sorted(True)
        else:
            self._logical = picture is TilesPicture.LOGICAL
            self.set_sorted(False)

    def set_logical_order(self, logical: bool) -> None:
        """Logical order, or the places on the chip (which only 1472 tiles have)."""
        if logical != self._logical:
            self._logical = logical
            self._arranged()

    def set_sorted(self, by_load: bool) -> None:
        """Bars sorted by load, or the map."""
        self._stack.setCurrentIndex(int(by_load))
        self.lead_focus(self.bars if by_load else self.map)
        self._arranged()

    def set_ramp(self, ramp: Ramp) -> None:
        """Viridis or Cividis."""
        self._ramp = ramp
        self._arranged()

    def _arranged(self) -> None:
        self.controls.show_ramp(self._ramp)
        self.refresh()

    def set_scale(self, mode: ScaleMode, custom: tuple[int, int] | None = None) -> None:
        """How the colour bar of the metric shown is scaled; ``custom`` are bytes at its two ends."""
        ends = self._scales.choose(self._metric, mode, custom, self.scale())
        if ends is not None:
            self.controls.show_ends(*ends)
        self.refresh()

    def _ends_chosen(self, ends: tuple[int, int]) -> None:
        if self._scales.set_ends(self._metric, ends):
            self.refresh()

    def _show_groups(self) -> None:
        high_enough = self.height() >= 15 * self.fontMetrics().height()
        self.groups.set_shown(self.controls.groups_action.isChecked() and high_enough)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the tiles the height they need first: groups and legend give way."""
        super().resizeEvent(event)
        height, line = self.height(), self.fontMetrics().height()
        self.legend.setVisible(height >= 10 * line)
        self.line.set_beside(12 if height < 26 * line else None)
        self._show_groups()

    def fit(self) -> None:
        """Show all tiles."""
        self.map.fit()

    def centre_selection(self) -> None:
        """Bring the current tile into the middle of the map."""
        tile = self.session.selection.tile
        if tile is not None:
            self.map.centre_on(tile)

    # -- tiles ----------------------------------------------------------------------------------------------------

    def _move_on_map(self, across: int, down: int, modifiers: Qt.KeyboardModifier) -> None:
        tile, field = self.choice.at, self._field
        if field is not None:
            found = last_largest(field.values) if tile is None else neighbour(self.grid, tile, across, down)
            self.choice.step_to(found, modifiers)

    def _move_along(self, places: int, modifiers: Qt.KeyboardModifier) -> None:
        """Go so many places along the order of the bars."""
        tile, order = self.choice.at, self.bars.order
        if order:
            place = None if tile is None else self.bars.place_of(tile)
            found = order[0 if place is None else min(max(place + places, 0), len(order) - 1)]
            self.choice.step_to(found, modifiers)

    def _range_of(self, anchor: int, tile: int) -> tuple[int, ...]:
        """A range on the map, or along the order of the bars."""
        if self.on_map:
            return tiles_between(self.grid, anchor, tile)
        low, high = sorted((self.bars.place_of(anchor) or 0, self.bars.place_of(tile) or 0))
        return (*(other for other in self.bars.order[low : high + 1] if other != tile), tile)

    def select_worst(self) -> None:
        """Select the last tile with the largest value."""
        field = self._field
        if field is not None and not field.missing:
            self.choice.step_to(last_largest(field.values), Qt.KeyboardModifier.NoModifier)

    def _select_all(self) -> None:
        if self.timeline is not None:
            self.session.select_tiles(tuple(range(self.timeline.tile_count)))

    def select_identical(self, tile: int) -> None:
        """Select the tiles that hold the same standard and the same interleaved bytes as one at the step shown."""
        timeline, field = self.timeline, self._field
        if timeline is not None and field is not None:
            self.choice.choose(identical_tiles(timeline, field.step, tile))

    def tile_actions(self, tile: int) -> list[QAction]:
        """What a context menu offers for a tile."""
        return [
            action_of(self, f"&Select the tiles identical to tile {tile}", partial(self.select_identical, tile)),
            action_of(self, "Show its &allocations", partial(self._show_allocations, tile)),
            action_of(self, f"&Copy name (tile {tile})", partial(_copy, f"tile {tile}")),
            action_of(self, "Copy its &figures", partial(_copy, self.tip(tile))),
        ]

    def _show_allocations(self, tile: int) -> None:
        self.choice.choose((tile,))
        self.bridge.requested.emit("show_view", "allocations")

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        picture = self.map if self.on_map else self.bars
        place = picture.mapFromGlobal(event.globalPos())
        tile = picture.tile_at(QPointF(place)) if picture.rect().contains(place) else None
        actions = [] if tile is None or self._field is None else self.tile_actions(tile)
        show_menu(self, [*actions, *self.menu_actions()], event.globalPos())

    def _pointed(self, tile: int | None) -> None:
        self.bridge.hovered.emit(None, None, tile)

    def _hovered_elsewhere(self, operation: object, root: object, tile: object) -> None:
        """Light up the tile that is pointed at anywhere, or the tiles that hold the allocation."""
        timeline, lit = self.timeline, None
        if timeline is not None and isinstance(tile, int) and tile < timeline.tile_count:
            lit = np.zeros(timeline.tile_count, dtype=np.bool_)
            lit[tile] = True
        elif timeline is not None and isinstance(root, int) and root in timeline.aliases:
            lit = None if root in timeline.unavailable_roots else timeline.tiles.allocation(root) > 0
        self.map.set_lit(lit)

    # -- what the session tells -----------------------------------------------------------------------------------

    def on_document(self) -> None:
        self.choice.forget()
        self._root = None
        self._metric = Metric.TOTAL
        self.map.fit()
        self.refresh()

    def on_estimate(self) -> None:
        self.refresh()

    @Slot()
    def _on_placement(self) -> None:
        if self._metric is Metric.PLACEMENT:
            self.refresh()

    def on_selection(self) -> None:
        root = self.session.selection.allocation
        if root != self._root:
            self._root = root
            if self.controls.follows:
                self._follow(root)
        field = self._field
        if field is not None and field.step == self.step and self._metric is not Metric.ALLOCATION is field.metric:
            self._show_selection()
        else:
            self.refresh()

    def _follow(self, root: int | None) -> None:
        if root is not None and self._metric is not Metric.ALLOCATION:
            self._metric_before, self._metric = self._metric, Metric.ALLOCATION
        elif root is None and self._metric is Metric.ALLOCATION:
            self._metric = self._metric_before

    def on_pins(self) -> None:
        self._matches = None
        if self._metric is Metric.DIFFERENCE:
            self.refresh()

    def on_theme(self) -> None:
        theme = self.bridge.theme
        for widget in (self.map, self.bars, self.groups):
            widget.set_theme(theme)
        self.refresh()

    # -- out ------------------------------------------------------------------------------------------------------

    def view_actions(self) -> list[QAction]:
        entries: list[tuple[str, Callable[[], object]]] = [
            (f"Tiles: {METRIC_NAMES[metric].lower()}", partial(self.set_metric, metric)) for metric in Metric
        ]
        entries += [
            ("Tiles: chip order", partial(self.set_logical_order, False)),
            ("Tiles: logical order", partial(self.set_logical_order, True)),
            ("Tiles: map", partial(self.set_sorted, False)),
            ("Tiles: sorted by load", partial(self.set_sorted, True)),
            ("Tiles: scale 0 … budget", partial(self.set_scale, ScaleMode.LOCKED)),
            ("Tiles: scale to step", partial(self.set_scale, ScaleMode.AUTO)),
            ("Tiles: select the fullest tile", self.select_worst),
        ]
        return [action_of(self, text, slot) for text, slot in entries]

    def table_maker(self) -> Callable[[], str] | None:
        timeline, field = self.timeline, self._field
        return None if timeline is None or field is None else partial(tiles_csv, timeline, field)

    def picture_words(self) -> str:
        return self.line.full_text

    def picture_parts(self, whole: bool = False) -> Sequence[Part]:
        return (self.map if self.on_map else self.bars, self.legend)

    def shut_down(self) -> None:
        self.groups.stop()


def _copy(text: str) -> None:
    QGuiApplication.clipboard().setText(text)
