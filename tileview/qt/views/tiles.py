"""The tile view: memory of all tiles at the selected step, as a map of the chip or sorted by load."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QAction, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QLabel,
    QMenu,
    QSpinBox,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from tileview.core.geometry.chip import Grid, grid, physical_id
from tileview.model.config import CHIP_TILES
from tileview.model.timeline import Timeline
from tileview.present.colours import Ramp
from tileview.present.csvtext import csv_text
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
from tileview.present.tables import percent_text
from tileview.present.tile_groups import GroupScan, groups_at
from tileview.qt.bridge import Bridge
from tileview.qt.draw.tiles_flow import FlowLayout
from tileview.qt.theme import Theme
from tileview.qt.views.base import View
from tileview.qt.views.tiles_bars import Layer, LoadBars
from tileview.qt.views.tiles_groups import GroupStrip
from tileview.qt.views.tiles_legend import ColourBar
from tileview.qt.views.tiles_map import TileMap
from tileview.qt.views.tiles_text import METRIC_NAMES, headline, tile_tip

_SCAN_SECONDS = 0.008
"""How long the groups of tiles are searched for between two events."""


_SERIES = {"standard": "standard", "interleaved": "interleaved"}


class ElidedLabel(QLabel):
    """One line that ends in … where it does not fit; the whole text is the tooltip."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._full = ""
        self.setMinimumWidth(40)

    def show_text(self, text: str) -> None:
        if text != self._full:
            self._full = text
            self.setToolTip(text)
            self._elide()

    @property
    def full_text(self) -> str:
        return self._full

    def minimumSizeHint(self) -> QSize:
        return QSize(40, super().minimumSizeHint().height())

    def resizeEvent(self, event) -> None:  # type: ignore[no-untyped-def]
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        self.setText(self.fontMetrics().elidedText(self._full, Qt.TextElideMode.ElideRight, self.width()))


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
        self._anchor: int | None = None
        self._root: int | None = None
        self._field: TileField | None = None
        self._matches: tuple[int, int, IndexArray] | None = None
        self._scan: GroupScan | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._advance_scan)
        self._build()
        bridge.hovered.connect(self._hovered_elsewhere)
        self.refresh()

    # -- widgets --------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self._controls = QWidget(self)
        self._make_controls()
        self._line = ElidedLabel(self)
        self.map = TileMap(self.bridge.theme, self.tip, self)
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
        self.groups.scope_changed.connect(self._restart_groups)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(6, 4, 6, 4)
        layout.setSpacing(3)
        for widget, stretch in (
            (self._controls, 0),
            (self._line, 0),
            (self._stack, 1),
            (self.legend, 0),
            (self.groups, 0),
        ):
            layout.addWidget(widget, stretch)
        self.setFocusProxy(self.map)

    def _make_controls(self) -> None:
        flow = FlowLayout(self._controls, spacing=4)
        self.metric_box = self._combo("What is shown", [(METRIC_NAMES[metric], metric) for metric in Metric])
        self.metric_box.currentIndexChanged.connect(self._metric_chosen)
        self.order_box = self._combo("Order of the tiles", [("Chip", False), ("Logical order", True)])
        self.order_box.currentIndexChanged.connect(self._order_chosen)
        self.view_box = self._combo("Picture", [("Map", 0), ("Sorted by load", 1)])
        self.view_box.currentIndexChanged.connect(self._view_chosen)
        entries = [
            ("0 … budget", ScaleMode.LOCKED),
            ("Scale to step", ScaleMode.AUTO),
            ("Custom scale", ScaleMode.CUSTOM),
        ]
        self.scale_box = self._combo("Scale", entries)
        self.scale_box.currentIndexChanged.connect(self._scale_chosen)
        self.low_box, self.high_box = self._kib_box("Lower end of the scale"), self._kib_box("Upper end of the scale")
        self.known_check = QCheckBox("Known part", self._controls)
        self.known_check.setToolTip("Show what is known of a step with unavailable sizes; it is a lower bound")
        self.known_check.toggled.connect(self.refresh)
        self.fit_button = QToolButton(self._controls)
        self.fit_button.setText("Fit")
        self.fit_button.setToolTip("Show all tiles (0 or double click)")
        self.fit_button.clicked.connect(self._fit)
        self.options_button = self._make_options()
        for widget in (
            self.metric_box,
            self.order_box,
            self.view_box,
            self.scale_box,
            self.low_box,
            self.high_box,
            self.known_check,
            self.fit_button,
            self.options_button,
        ):
            flow.addWidget(widget)

    def _make_options(self) -> QToolButton:
        button = QToolButton(self._controls)
        button.setText("Options")
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(button)
        self.follow_action = menu.addAction("Show the selected allocation's bytes when it is selected")
        self.groups_action = menu.addAction("Show which tiles are alike")
        menu.addSeparator()
        self.ramp_actions = {
            ramp: menu.addAction(f"Colours: {ramp.value.title()}") for ramp in (Ramp.VIRIDIS, Ramp.CIVIDIS)
        }
        for action in (self.follow_action, self.groups_action, *self.ramp_actions.values()):
            action.setCheckable(True)
        for action in (self.follow_action, self.groups_action, self.ramp_actions[Ramp.VIRIDIS]):
            action.setChecked(True)
        self.groups_action.toggled.connect(self._groups_toggled)
        menu.triggered.connect(self._option_chosen)
        button.setMenu(menu)
        return button

    def _combo(self, name: str, entries: list) -> QComboBox:
        box = QComboBox(self._controls)
        box.setAccessibleName(name)
        box.setToolTip(name)
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        for text, data in entries:
            box.addItem(text, data)
        return box

    def _kib_box(self, name: str) -> QSpinBox:
        box = QSpinBox(self._controls)
        box.setAccessibleName(name)
        box.setToolTip(name)
        box.setRange(-(1 << 20), 1 << 20)
        box.setSuffix(" KiB")
        box.setKeyboardTracking(False)
        box.valueChanged.connect(self._custom_edited)
        box.hide()
        return box

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
            known=self.known_check.isChecked(),
            matches=self._matching(),
        )
        scale = scale_for(timeline, field, self._modes[self._metric], self._custom.get(self._metric))
        ramp = Ramp.DIFFERENCE if scale.diverging else self._ramp
        self.map.set_ramp(ramp)
        self.map.set_grid(self.grid)
        if self._stack.currentWidget() is self.map:
            self.map.set_cells(slot_levels(field, scale), field.over)
        else:
            self._show_bars(timeline, field, scale)
        self._show_selection()
        if self._stack.currentWidget() is self.map or field.missing:
            self.legend.set_scale(scale, ramp, self._scale_marks(timeline))
        else:
            layers = self._layers(timeline, field)
            self.legend.set_series(
                [(token, _SERIES.get(token, METRIC_NAMES[self._metric].lower())) for _, token in layers]
            )
        self.legend.set_counts(
            int(field.over.sum()),
            timeline.tile_count if field.missing else 0,
            int(field.absent.sum()) if self._metric is Metric.ALLOCATION and not field.missing else None,
        )
        if not self.groups.over_all_steps and not self.groups.isHidden():
            self.groups.show_groups(groups_at(timeline, step), False)

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
        self.groups.show_groups((), False)

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
        token = {Metric.INTERLEAVED: "interleaved", Metric.STANDARD: "standard"}.get(field.metric, "accent")
        return [(field.values, token)]

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
        if self._matches is None or self._matches[:2] != (id(timeline), id(baseline)):
            self._matches = (id(timeline), id(baseline), matching_steps(timeline, baseline))
        return self._matches[2]

    def _sync_controls(self) -> None:
        timeline, step = self.timeline, self.step
        self.order_box.setVisible(timeline is not None and timeline.tile_count == CHIP_TILES)
        mode = self._modes[self._metric]
        _set_data(self.metric_box, self._metric)
        _set_data(self.scale_box, mode)
        locked = "± power of two" if self._metric is Metric.DIFFERENCE else "0 … budget"
        if self.scale_box.itemText(0) != locked:
            self.scale_box.setItemText(0, locked)
        for box in (self.low_box, self.high_box):
            box.setVisible(mode is ScaleMode.CUSTOM)
        lost = timeline is not None and step is not None and bool(unavailable_at(timeline, step))
        self.known_check.setVisible(lost or self.known_check.isChecked())
        self.fit_button.setVisible(self._stack.currentWidget() is self.map)

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
            _set_data(self.order_box, logical)
            self.refresh()

    def set_sorted(self, by_load: bool) -> None:
        """Bars sorted by load, or the map."""
        _set_data(self.view_box, int(by_load))
        self._stack.setCurrentIndex(int(by_load))
        self.setFocusProxy(self.bars if by_load else self.map)
        self.refresh()

    def set_scale(self, mode: ScaleMode, custom: tuple[int, int] | None = None) -> None:
        """How the colour bar of the metric shown is scaled; ``custom`` are bytes at its two ends."""
        if mode is ScaleMode.CUSTOM:
            current = self.scale()
            ends = (
                custom or self._custom.get(self._metric) or ((current.low, current.high) if current else (0, 1 << 19))
            )
            self._custom[self._metric] = ends
            for box, size in ((self.low_box, ends[0]), (self.high_box, ends[1])):
                box.blockSignals(True)
                box.setValue(round(size / 1024))
                box.blockSignals(False)
        self._modes[self._metric] = mode
        self.refresh()

    def set_ramp(self, ramp: Ramp) -> None:
        """Viridis or Cividis."""
        self._ramp = ramp
        for other, action in self.ramp_actions.items():
            action.setChecked(other is ramp)
        self.refresh()

    def _metric_chosen(self) -> None:
        self.set_metric(self.metric_box.currentData())

    def _order_chosen(self) -> None:
        self.set_logical_order(bool(self.order_box.currentData()))

    def _view_chosen(self) -> None:
        self.set_sorted(bool(self.view_box.currentData()))

    def _scale_chosen(self) -> None:
        self.set_scale(self.scale_box.currentData())

    def _option_chosen(self, action: QAction) -> None:
        for ramp, choice in self.ramp_actions.items():
            if choice is action:
                self.set_ramp(ramp)

    def _groups_toggled(self, shown: bool) -> None:
        self.groups.setVisible(shown)
        self._restart_groups()

    def _custom_edited(self) -> None:
        low, high = self.low_box.value() * 1024, self.high_box.value() * 1024
        if low < high:
            self._custom[self._metric] = (low, high)
            self.refresh()

    def _fit(self) -> None:
        self.map.fit()

    # -- selection ------------------------------------------------------------------------------------------------

    def _picked(self, tile: int, modifiers: Qt.KeyboardModifier) -> None:
        chosen = self.session.selection.tiles
        if modifiers & Qt.KeyboardModifier.ControlModifier:
            self._anchor = tile
            if tile in chosen:
                self.session.select_tiles(tuple(other for other in chosen if other != tile))
            else:
                self.session.select_tiles((*chosen, tile))
        elif modifiers & Qt.KeyboardModifier.ShiftModifier and chosen:
            self._select_range(tile)
        else:
            self._anchor = tile
            self.session.select_tiles((tile,))

    def _select_range(self, tile: int) -> None:
        anchor = self._anchor if self._anchor is not None else self.session.selection.tile
        if anchor is None:
            anchor = tile
        self._anchor = anchor
        if self._stack.currentWidget() is self.map:
            self.session.select_tiles(tiles_between(self.grid, anchor, tile))
            return
        order = self.bars.order
        low, high = sorted((self.bars.place_of(anchor) or 0, self.bars.place_of(tile) or 0))
        self.session.select_tiles((*(other for other in order[low : high + 1] if other != tile), tile))

    def _go(self, tile: int, extend: bool) -> None:
        if extend:
            self._select_range(tile)
        else:
            self._anchor = tile
            self.session.select_tiles((tile,))
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
        self._anchor = None
        self.session.select_tiles(())

    def _select_all(self) -> None:
        timeline = self.timeline
        if timeline is not None:
            self.session.select_tiles(tuple(range(timeline.tile_count)))

    def _choose_group(self, tiles: tuple[int, ...]) -> None:
        self._anchor = tiles[-1]
        self.session.select_tiles(tiles)

    def _pointed(self, tile: int | None) -> None:
        self.bridge.hovered.emit(None, None, tile)

    def _hovered_elsewhere(self, operation: object, root: object, tile: object) -> None:
        self.map.set_pointed(tile if isinstance(tile, int) else None)

    # -- groups ---------------------------------------------------------------------------------------------------

    def _restart_groups(self) -> None:
        self._timer.stop()
        timeline, step = self.timeline, self.step
        self._scan = None
        if timeline is None or step is None or self.groups.isHidden():
            self.groups.show_groups((), False)
        elif self.groups.over_all_steps:
            self._scan = GroupScan(timeline)
            self._timer.start()
        else:
            self.groups.show_groups(groups_at(timeline, step), False)

    def _advance_scan(self) -> None:
        scan = self._scan
        if scan is None or scan.timeline is not self.timeline:
            self._restart_groups()
            return
        end = time.monotonic() + _SCAN_SECONDS
        while not scan.advance() and time.monotonic() < end:
            pass
        if scan.done:
            self._timer.stop()
            self.groups.show_groups(scan.groups(), False)
        else:
            self.groups.show_groups(self.groups.groups, True)

    # -- what the session tells -----------------------------------------------------------------------------------

    def on_document(self) -> None:
        self._anchor, self._root = None, None
        self._metric = Metric.TOTAL
        self.map.fit()
        self.refresh()
        self._restart_groups()

    def on_estimate(self) -> None:
        self.refresh()
        self._restart_groups()

    def on_selection(self) -> None:
        root = self.session.selection.allocation
        if root != self._root:
            self._root = root
            if self.follow_action.isChecked():
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
        actions = []
        for metric in Metric:
            actions.append(
                self._action(f"Tiles: {METRIC_NAMES[metric].lower()}", lambda _=False, m=metric: self.set_metric(m))
            )
        actions.append(self._action("Tiles: chip order", lambda _=False: self.set_logical_order(False)))
        actions.append(self._action("Tiles: logical order", lambda _=False: self.set_logical_order(True)))
        actions.append(self._action("Tiles: map", lambda _=False: self.set_sorted(False)))
        actions.append(self._action("Tiles: sorted by load", lambda _=False: self.set_sorted(True)))
        actions.append(self._action("Tiles: scale 0 … budget", lambda _=False: self.set_scale(ScaleMode.LOCKED)))
        actions.append(self._action("Tiles: scale to step", lambda _=False: self.set_scale(ScaleMode.AUTO)))
        actions.append(self._action("Tiles: select the worst tile", lambda _=False: self._go(self._worst(), False)))
        return actions

    def _action(self, text: str, slot) -> QAction:  # type: ignore[no-untyped-def]
        action = QAction(text, self)
        action.triggered.connect(slot)
        return action

    def table_csv(self) -> str | None:
        timeline, field = self.timeline, self._field
        if timeline is None or field is None:
            return None
        usage = timeline.tiles.usage(field.step)
        scratch = timeline.tiles.scratch(field.step).sum(axis=1)
        chip = grid(timeline.tile_count)
        header = ["tile", "physical", "row", "column", "standard_bytes", "interleaved_bytes", "scratch_bytes"]
        header += [
            "known_total_bytes" if unavailable_at(timeline, field.step) else "total_bytes",
            "share_of_budget",
            "over",
        ]
        rows = []
        for tile, (standard, interleaved) in enumerate(usage.tolist()):
            total = standard + interleaved
            place = (physical_id(tile), int(chip.row[tile]), int(chip.column[tile])) if chip.is_chip else (None,) * 3
            share = percent_text(total, timeline.budget_bytes)
            over = "yes" if field.over[tile] else "no"
            rows.append((tile, *place, standard, interleaved, int(scratch[tile]), total, share, over))
        return csv_text(header, rows)

    def export_svg(self, path: Path) -> bool:
        picture = self.map if self._stack.currentWidget() is self.map else self.bars
        generator = QSvgGenerator()
        generator.setFileName(str(path))
        size = QSize(picture.width(), picture.height() + self.legend.height())
        generator.setSize(size)
        generator.setViewBox(picture.rect().adjusted(0, 0, 0, self.legend.height()))
        generator.setTitle(self._line.full_text)
        painter = QPainter()
        if not painter.begin(generator):
            return False
        picture.draw(painter)
        painter.translate(0, picture.height())
        self.legend.draw(painter)
        return bool(painter.end())

    def shut_down(self) -> None:
        self._timer.stop()
        self._scan = None


def _set_data(box: QComboBox, data: object) -> None:
    """Choose the entry with some data without telling anyone."""
    index = box.findData(data)
    if index >= 0 and index != box.currentIndex():
        box.blockSignals(True)
        box.setCurrentIndex(index)
        box.blockSignals(False)
