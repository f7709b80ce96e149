"""The tile view: memory of all tiles at the selected step, as a map of the chip or sorted by load."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from tileview.core.geometry.chip import Grid, grid
from tileview.model.config import CHIP_TILES
from tileview.model.timeline import Timeline
from tileview.present.colours import Ramp
from tileview.present.curves import IndexArray, matching_steps
from tileview.present.rasters import (
    Metric,
    Scale,
    ScaleMode,
    TileField,
    neighbour,
    scale_for,
    slot_levels,
    tile_field,
    tiles_between,
    unavailable_at,
)
from tileview.qt.bridge import Bridge
from tileview.qt.draw.tiles_svg import write_svg
from tileview.qt.theme import Theme
from tileview.qt.views.base import View
from tileview.qt.views.tiles_bars import Layer, LoadBars
from tileview.qt.views.tiles_controls import LineLabel, TilesControls
from tileview.qt.views.tiles_groups import GroupStrip
from tileview.qt.views.tiles_legend import ColourBar
from tileview.qt.views.tiles_map import TileMap
from tileview.qt.views.tiles_picking import Picking
from tileview.qt.views.tiles_text import METRIC_NAMES, headline, tile_tip, tiles_csv

_SERIES = {
    "standard": "standard",
    "interleaved": "interleaved",
    "warning": "more than the baseline",
    "accent": "less than the baseline",
}
"""What the colours of the bars mean, by theme token."""


class TilesView(View):
    """All tiles at the selected step.

    The scale is locked to 0 … budget until the user chooses otherwise, for each metric apart. The picture of a single
    allocation starts with a scale that ends at its largest bytes: they are the same at every step, so that it is as
    steady, and small ones are seen.
    """

    title = "Tiles"
    name = "tiles"

    def __init__(self, bridge: Bridge, parent: QWidget | None = None) -> None:
        super().__init__(bridge, parent)
        self._metric = Metric.TOTAL
        self._metric_before = Metric.TOTAL
        self._logical = False
        self._ramp = Ramp.VIRIDIS
        self._modes = dict.fromkeys(Metric, ScaleMode.LOCKED) | {Metric.ALLOCATION: ScaleMode.AUTO}
        self._custom: dict[Metric, tuple[int, int]] = {}
        self._picking = Picking(self._range_of)
        self._root: int | None = None
        self._field: TileField | None = None
        self._matches: tuple[Timeline, Timeline, IndexArray] | None = None
        self._build()
        bridge.hovered.connect(self._hovered_elsewhere)
        self.refresh()

    # -- widgets --------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self.controls = controls = TilesControls(self)
        controls.metric_chosen.connect(self.set_metric)
        controls.logical_chosen.connect(self.set_logical_order)
        controls.sorted_chosen.connect(self.set_sorted)
        controls.scale_chosen.connect(self.set_scale)
        controls.ends_chosen.connect(self._ends_chosen)
        controls.known_toggled.connect(self.refresh)
        controls.ramp_chosen.connect(self.set_ramp)
        controls.groups_toggled.connect(self._show_groups)
        self._line = LineLabel(self)
        self.map = TileMap(self.bridge.theme, self.tip, self)
        controls.fit_wanted.connect(self.map.fit)
        self.bars = LoadBars(self.bridge.theme, self.tip, self)
        for picture in (self.map, self.bars):
            picture.picked.connect(self._picked)
            picture.pointed.connect(self._pointed)
            picture.cleared.connect(self._clear_selection)
            picture.all_wanted.connect(self._select_all)
        self.map.moved.connect(self._moved)
        self.bars.moved.connect(self._moved_along)
        self._stack = QStackedWidget(self)
        self._stack.addWidget(self.map)
        self._stack.addWidget(self.bars)
        self.legend = ColourBar(self.bridge.theme, self)
        self.groups = GroupStrip(self)
        self.groups.chosen.connect(self._choose_group)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(6, 4, 6, 4)
        layout.setSpacing(3)
        for widget, stretch in (
            (controls, 0),
            (self._line, 0),
            (self._stack, 1),
            (self.legend, 0),
            (self.groups, 0),
        ):
            layout.addWidget(widget, stretch)
        self.setFocusProxy(self.map)

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
        """The tooltip of a tile."""
        timeline, field = self.timeline, self._field
        if timeline is None or field is None or tile >= timeline.tile_count or field.step >= len(timeline.steps):
            return ""
        return tile_tip(timeline, grid(timeline.tile_count), field, tile, self.session.selection.allocation)

    def scale(self) -> Scale | None:
        """What the colours mean now."""
        timeline, field = self.timeline, self._field
        if timeline is None or field is None:
            return None
        return scale_for(timeline, field, self._modes[field.metric], self._custom.get(field.metric))

    def refresh(self) -> None:
        """Show the session anew: everything that is visible follows from it."""
        timeline, step = self.timeline, self.step
        self._sync_controls()
        if timeline is None or step is None:
            self._field = None
            self._show_nothing()
            return
        selection = self.session.selection
        self._field = field = tile_field(
            timeline,
            self._metric,
            step,
            root=selection.allocation,
            baseline=self._baseline(),
            known=self.controls.known,
            matches=self._matching(),
        )
        scale = scale_for(timeline, field, self._modes[self._metric], self._custom.get(self._metric))
        ramp = Ramp.DIFFERENCE if scale.diverging else self._ramp
        self.map.set_ramp(ramp)
        self.map.set_grid(self.grid)
        if self._on_map:
            self.map.set_cells(slot_levels(field, scale), field.over)
        else:
            self._show_bars(timeline, field, scale)
        self._show_selection()
        if self._on_map or field.missing:
            self.legend.set_scale(scale, ramp, self._scale_marks(timeline))
        else:
            layers = self._layers(timeline, field)
            self.legend.set_series([(token, self._series_name(token)) for _, token in layers])
        self.legend.set_counts(
            int(field.over.sum()),
            timeline.tile_count if field.missing else 0,
            int(field.absent.sum()) if self._metric is Metric.ALLOCATION and not field.missing else None,
        )
        self.groups.follow(timeline, step)

    def _show_nothing(self) -> None:
        estimate = self.session.estimate
        if estimate is not None:
            self._line.show_text(f"No timeline: {estimate.verdict.text}")
        else:
            self._line.show_text("No estimate yet" if self.session.document is not None else "Nothing is open")
        self.map.set_grid(grid(0))
        self.map.set_cells(np.zeros(0, dtype=np.uint8), np.zeros(0, dtype=np.bool_))
        self.bars.set_message("No tiles to show")
        self.legend.set_counts(0, 0, None)
        self.groups.follow(None, None)

    def _show_bars(self, timeline: Timeline, field: TileField, scale: Scale) -> None:
        if field.missing:
            self.bars.set_message(f"Unavailable: {field.reason}")
            return
        layers = self._layers(timeline, field)
        self.bars.set_values(field.values, layers, (scale.low, scale.high), self._scale_marks(timeline))

    def _layers(self, timeline: Timeline, field: TileField) -> list[Layer]:
        """What the bars are made of."""
        usage = timeline.tiles.usage(field.step)
        if field.metric is Metric.TOTAL:
            return [(usage[:, 0], "standard"), (usage[:, 1], "interleaved")]
        if field.metric is Metric.DIFFERENCE:
            return [(np.maximum(field.values, 0), "warning"), (np.minimum(field.values, 0), "accent")]
        token = {Metric.INTERLEAVED: "interleaved", Metric.STANDARD: "standard"}.get(field.metric, "accent")
        return [(field.values, token)]

    def _series_name(self, token: str) -> str:
        return METRIC_NAMES[self._metric].lower() if self._metric is Metric.ALLOCATION else _SERIES[token]

    def _scale_marks(self, timeline: Timeline) -> list[tuple[int, str]]:
        if self._metric is Metric.INTERLEAVED:
            return [(timeline.interleaved_budget_bytes, "interleaved budget")]
        if self._metric in (Metric.TOTAL, Metric.STANDARD):
            limit = timeline.budget_bytes - timeline.reserve_bytes
            return [(limit, "budget − reserve")] if timeline.reserve_bytes else [(limit, "budget")]
        return []

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
        text = headline(timeline, field, selection.tile, root)
        if len(selection.tiles) > 1:
            text += f" · {len(selection.tiles):,} tiles selected"
        self._line.show_text(text)
        self.map.setAccessibleDescription(text)

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
            self._modes[self._metric],
            has_chip=timeline is not None and timeline.tile_count == CHIP_TILES,
            lost=timeline is not None and step is not None and bool(unavailable_at(timeline, step)),
            on_map=self._on_map,
        )

    @property
    def _on_map(self) -> bool:
        return self._stack.currentWidget() is self.map

    # -- choices --------------------------------------------------------------------------------------------------

    def set_metric(self, metric: Metric) -> None:
        """Show another number of each tile."""
        if metric is not self._metric:
            self._metric = metric
            self.refresh()

    def set_logical_order(self, logical: bool) -> None:
        """Logical order, or the places on the chip (which only 1472 tiles have)."""
        if logical != self._logical:
            self._logical = logical
            self._arranged()

    def set_sorted(self, by_load: bool) -> None:
        """Bars sorted by load, or the map."""
        self._stack.setCurrentIndex(int(by_load))
        self.setFocusProxy(self.bars if by_load else self.map)
        self._arranged()

    def set_ramp(self, ramp: Ramp) -> None:
        """Viridis or Cividis."""
        self._ramp = ramp
        self._arranged()

    def _arranged(self) -> None:
        self.controls.show_arrangement(self._logical, not self._on_map, self._ramp)
        self.refresh()

    def set_scale(self, mode: ScaleMode, custom: tuple[int, int] | None = None) -> None:
        """How the colour bar of the metric shown is scaled; ``custom`` are bytes at its two ends."""
        if mode is ScaleMode.CUSTOM:
            current = self.scale()
            ends = custom or self._custom.get(self._metric)
            if ends is None:
                ends = (0, 1 << 19) if current is None else (current.low, current.high)
            self._custom[self._metric] = ends
            self.controls.show_ends(*ends)
        self._modes[self._metric] = mode
        self.refresh()

    def _ends_chosen(self, ends: tuple[int, int]) -> None:
        if ends[0] < ends[1]:
            self._custom[self._metric] = ends
            self.refresh()

    def _show_groups(self, shown: bool) -> None:
        self.groups.set_shown(shown)

    def fit(self) -> None:
        """Show all tiles."""
        self.map.fit()

    def centre_selection(self) -> None:
        """Bring the current tile into the middle of the map."""
        tile = self.session.selection.tile
        if tile is not None:
            self.map.centre_on(tile)

    # -- selection ------------------------------------------------------------------------------------------------

    def _picked(self, tile: int, modifiers: Qt.KeyboardModifier) -> None:
        self.session.select_tiles(self._picking.click(self.session.selection.tiles, tile, modifiers))

    def _range_of(self, anchor: int, tile: int) -> tuple[int, ...]:
        """A range on the map, or along the order of the bars."""
        if self._on_map:
            return tiles_between(self.grid, anchor, tile)
        low, high = sorted((self.bars.place_of(anchor) or 0, self.bars.place_of(tile) or 0))
        return (*(other for other in self.bars.order[low : high + 1] if other != tile), tile)

    def _go(self, tile: int, extend: bool) -> None:
        self.session.select_tiles(self._picking.go(self.session.selection.tiles, tile, extend))
        self.map.show_tile(tile)

    def _moved(self, across: int, down: int, extend: bool) -> None:
        tile = self.session.selection.tile
        if self.timeline is None or self._field is None:
            return
        self._go(self._worst() if tile is None else neighbour(self.grid, tile, across, down), extend)

    def _moved_along(self, places: int, extend: bool) -> None:
        order, tile = self.bars.order, self.session.selection.tile
        if not order:
            return
        place = None if tile is None else self.bars.place_of(tile)
        self._go(order[0 if place is None else min(max(place + places, 0), len(order) - 1)], extend)

    def _worst(self) -> int:
        """The last tile with the largest value: where a first key press leads."""
        values = self._field.values if self._field is not None else np.zeros(1, dtype=np.int64)
        return len(values) - 1 - int(np.argmax(values[::-1]))

    def _clear_selection(self) -> None:
        self.session.select_tiles(self._picking.clear())

    def _select_all(self) -> None:
        timeline = self.timeline
        if timeline is not None:
            self.session.select_tiles(tuple(range(timeline.tile_count)))

    def _choose_group(self, tiles: tuple[int, ...]) -> None:
        self._picking.anchor = tiles[-1]
        self.session.select_tiles(tiles)

    def _pointed(self, tile: int | None) -> None:
        self.bridge.hovered.emit(None, None, tile)

    def _hovered_elsewhere(self, operation: object, root: object, tile: object) -> None:
        self.map.set_pointed(tile if isinstance(tile, int) else None)

    # -- what the session tells -----------------------------------------------------------------------------------

    def on_document(self) -> None:
        self._picking.clear()
        self._root = None
        self._metric = Metric.TOTAL
        self.map.fit()
        self.refresh()

    def on_estimate(self) -> None:
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
        theme: Theme = self.bridge.theme
        for widget in (self.map, self.bars, self.legend):
            widget.set_theme(theme)

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
            ("Tiles: select the worst tile", self._go_to_worst),
        ]
        return [self._action(text, slot) for text, slot in entries]

    def _action(self, text: str, slot: Callable[[], object]) -> QAction:
        action = QAction(text, self)
        action.triggered.connect(lambda _=False: slot())
        return action

    def _go_to_worst(self) -> None:
        if self._field is not None and not self._field.missing:
            self._go(self._worst(), False)

    def table_csv(self) -> str | None:
        timeline, field = self.timeline, self._field
        return None if timeline is None or field is None else tiles_csv(timeline, field)

    def export_svg(self, path: Path) -> bool:
        picture = self.map if self._on_map else self.bars
        return write_svg(path, self._line.full_text, (picture, self.legend))

    def shut_down(self) -> None:
        self.groups.stop()
