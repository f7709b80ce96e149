"""What stands around the tiles: the row of controls, and what the view says in words, tips and its legend."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QCheckBox, QMenu, QSpinBox, QToolButton, QWidget

from tileview.analysis.loads import tile_load
from tileview.analysis.placement import OUTCOMES
from tileview.analysis.words import allocation_name, at_start, step_place
from tileview.core.geometry.chip import Grid, grid, physical_id
from tileview.model.sizes import Unavailable, exact_text, kib_text, percent_text, size_text
from tileview.model.timeline import ByteArray, Timeline, last_largest
from tileview.present.rasters import Metric, ScaleMode, TileField, unavailable_at
from tileview.present.scales import Ramp
from tileview.present.tables import csv_text, signed_exact, signed_kib
from tileview.qt.widgets.docked import FlowLayout, combo, set_data

METRIC_NAMES = {
    Metric.TOTAL: "Total",
    Metric.STANDARD: "Standard",
    Metric.INTERLEAVED: "Interleaved",
    Metric.ALLOCATION: "Allocation",
    Metric.DIFFERENCE: "Difference",
    Metric.PLACEMENT: "Placement",
}
_LARGEST = 5
"""Allocations that a tooltip lists."""


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """A sentence of the legend; ``sign`` is ``over``, ``selected``, ``unavailable`` or ``absent``, else the theme
    token of a filled swatch.
    """

    sign: str
    text: str


def place_text(grid: Grid, tile: int) -> str:
    """``Tile 212 · P 934 · row 14, column 38``; where there is no chip geometry only the logical number."""
    if not grid.is_chip:
        return f"Tile {tile}"
    return f"Tile {tile} · P {physical_id(tile)} · row {int(grid.row[tile])}, column {int(grid.column[tile])}"


def tile_tip(timeline: Timeline, chip: Grid, field: TileField, tile: int, root: int | None = None) -> str:
    """The tooltip of a tile: where it sits, exact bytes by class, share of the budget, the number the colour shows,
    and its largest allocations.
    """
    usage = timeline.tiles.usage(field.step)[tile]
    standard, interleaved = int(usage[0]), int(usage[1])
    total, scratch = standard + interleaved, int(timeline.tiles.scratch(field.step)[tile].sum())
    lines = [place_text(chip, tile)]
    lost = len(unavailable_at(timeline, field.step))
    if lost:
        lines.append(
            f"usage unavailable: {lost:,} live allocation{'s' if lost > 1 else ''} without a known size; known:"
        )
    lines.append(f"standard  {size_text(standard)}" + (f", scratch {kib_text(scratch)} of it" if scratch else ""))
    lines.append(f"interleaved  {size_text(interleaved)}{_of(interleaved, timeline.interleaved_budget_bytes, 'its')}")
    lines.append(f"total  {size_text(total)}{_of(total, timeline.budget_bytes, 'the')}")
    lines.append(_reserve_line(timeline, total, bool(lost)))
    if interleaved > timeline.interleaved_budget_bytes:
        short = interleaved - timeline.interleaved_budget_bytes
        lines.append(f"interleaved is {exact_text(short)} over its budget")
    if field.metric is Metric.ALLOCATION and root is not None:
        name = allocation_name(timeline, root)
        size = "unavailable" if field.missing else size_text(int(field.values[tile]))
        lines.append(f"{name}  {size if field.missing or not field.absent[tile] else 'nothing on this tile'}")
    if field.metric is Metric.PLACEMENT and not field.missing:
        lines.append(outcome_words(int(field.values[tile])))
    if field.metric is Metric.DIFFERENCE and not field.missing:
        difference = int(field.values[tile])
        lines.append(
            f"difference  {signed_kib(difference)} ({signed_exact(difference)}) to baseline step {field.baseline_step}"
        )
    return "\n".join(lines + _largest_lines(timeline, field.step, tile))


def _largest_lines(timeline: Timeline, step: int, tile: int) -> list[str]:
    known = [
        (item.bytes, item.name)
        for item in tile_load(timeline, step, tile).items
        if not isinstance(item.bytes, Unavailable)
    ]
    largest = sorted(known, key=lambda entry: -entry[0])[:_LARGEST]
    rest = sum(size for size, _ in known) - sum(size for size, _ in largest)
    lines = [f"  {kib_text(size)}  {name}" for size, name in largest]
    if rest:
        lines.append(f"  {kib_text(rest)}  in {len(known) - len(largest):,} more")
    return ["largest here:", *lines] if lines else []


def _of(part: int, budget: int, whose: str) -> str:
    share = percent_text(part, budget)
    return f", {share} of {whose} budget" if share else ""


def _reserve_line(timeline: Timeline, total: int, at_least: bool) -> str:
    needed = total + timeline.reserve_bytes
    spare = timeline.budget_bytes - needed
    share = percent_text(needed, timeline.budget_bytes)
    state = f"{exact_text(spare)} spare" if spare >= 0 else f"{exact_text(-spare)} over"
    return f"with reserve  {size_text(needed)}, {share}{', at least' if at_least and spare < 0 else ''}: {state}"


def tiles_headline(timeline: Timeline, field: TileField, root: int | None = None) -> str:
    """The line above the map: step, what is shown, its largest and where, how many tiles are over."""
    step = timeline.steps[field.step]
    operation = "" if step.source is None else f"op {step.source} "
    parts = [at_start(step_place(field.step, len(timeline.steps))), f"{operation}{step.kind}"]
    if field.metric is Metric.PLACEMENT:
        return field.reason if field.missing else outcome_counts(field)
    if field.missing:
        parts.append(f"unavailable: {field.reason}")
    elif field.metric is Metric.ALLOCATION and root is not None:
        held = int((~field.absent).sum())
        live = "" if root in step.live else ", not live at this step"
        parts.append(f"{allocation_name(timeline, root)} on {held:,} tile{'' if held == 1 else 's'}{live}")
    elif field.metric is Metric.DIFFERENCE:
        low, high = int(field.values.min(initial=0)), int(field.values.max(initial=0))
        parts.append(f"{signed_kib(low)} … {signed_kib(high)} to baseline step {field.baseline_step}")
    elif len(field.values):
        worst = last_largest(field.values)
        parts.append(f"most on tile {worst}: {kib_text(int(field.values[worst]))}")
    over = int(field.over.sum())
    if over:
        parts.append(f"{over:,} tile{'' if over == 1 else 's'} over budget")
    elif not field.missing:
        parts.append("none over budget")
    if field.reason and not field.missing:
        parts.append(f"known part only: {field.reason}")
    return " · ".join(parts)


def outcome_words(code: int) -> str:
    """``placed by order 1``, ``not placed``, ``over, whatever the order``."""
    outcome = OUTCOMES[code]
    return {"not placed": outcome, "over": "over, whatever the order"}.get(outcome, f"placed by {outcome}")


def outcome_counts(field: TileField, tiles: tuple[int, ...] | None = None) -> str:
    """How many tiles, or of some of them, are placed by what, and how many are not."""
    values = field.values if tiles is None else field.values[list(tiles)]
    counts = np.bincount(values, minlength=len(OUTCOMES)).tolist()
    of_all = f"of {len(values):,} tile{'' if len(values) == 1 else 's'} "
    return of_all + ", ".join(f"{count:,} {outcome_words(code)}" for code, count in enumerate(counts) if count)


def value_text(field: TileField, tile: int) -> str:
    """The number that a tile's colour shows, or what came of placing it."""
    value = int(field.values[tile])
    if field.metric is Metric.PLACEMENT:
        return outcome_words(value)
    return signed_kib(value) if field.metric is Metric.DIFFERENCE else kib_text(value)


def selection_text(field: TileField, shown: Grid, tiles: tuple[int, ...]) -> str:
    """``selected tile 174 (row 4, column 5): 555.0 KiB``; of several tiles the least, the most and the sum."""
    current = tiles[-1]
    place = f" (row {int(shown.row[current])}, column {int(shown.column[current])})" if shown.is_chip else ""
    if len(tiles) == 1:
        return f"selected tile {current}{place}" + ("" if field.missing else f": {value_text(field, current)}")
    if field.missing:
        return f"{len(tiles):,} tiles selected"
    values = field.values[list(tiles)]
    if field.metric is Metric.PLACEMENT:
        return f"{len(tiles):,} tiles selected: {outcome_counts(field, tiles)}"
    low, high = tiles[int(values.argmin())], tiles[last_largest(values)]
    write = signed_kib if field.metric is Metric.DIFFERENCE else kib_text
    return (
        f"{len(tiles):,} tiles selected: least {value_text(field, low)} (tile {low}), most {value_text(field, high)} "
        f"(tile {high}), sum {write(int(values.sum()))}"
    )


def tiles_legend(field: TileField, shown: Grid, selected: tuple[int, ...]) -> list[LegendEntry]:
    """What the lines and the colours outside the ramp mean, with how many tiles have them; what is not there is left
    out.
    """
    if field.metric is Metric.PLACEMENT and not field.missing:
        counts = np.bincount(field.values, minlength=len(OUTCOMES)).tolist()
        entries = [
            LegendEntry(outcome, f"{outcome_words(code)}: {counts[code]:,}")
            for code, outcome in enumerate(OUTCOMES)
            if counts[code]
        ]
        known = tuple(tile for tile in selected if tile < len(field.values))
        return [*entries, *([LegendEntry("selected", selection_text(field, shown, known))] if known else [])]
    over, count = int(field.over.sum()), len(field.over)
    words = f"over budget: {over:,} of {count:,} tile{'' if count == 1 else 's'}"
    entries = [LegendEntry("over", words if over else "over budget: no tile")]
    if field.missing:
        entries.append(LegendEntry("unavailable", f"unavailable: {count:,} tile{'' if count == 1 else 's'}"))
    elif field.metric is Metric.ALLOCATION:
        absent = int(field.absent.sum())
        entries.append(LegendEntry("absent", f"nothing there: {absent:,} tile{'' if absent == 1 else 's'}"))
    known = tuple(tile for tile in selected if tile < count)
    if known:
        entries.append(LegendEntry("selected", selection_text(field, shown, known)))
    return entries


def tiles_csv(timeline: Timeline, field: TileField) -> str:
    """All tiles at a step as CSV, exact bytes."""
    usage = timeline.tiles.usage(field.step)
    scratch = timeline.tiles.scratch(field.step).sum(axis=1)
    chip = grid(timeline.tile_count)
    total_name = "known_total_bytes" if unavailable_at(timeline, field.step) else "total_bytes"
    header = ["tile", "physical", "row", "column", "standard_bytes", "interleaved_bytes", "scratch_bytes"]
    header += [total_name, "share_of_budget", "over"]
    is_placed = field.metric is Metric.PLACEMENT and not field.missing
    header += ["placement"] if is_placed else []
    rows = []
    for tile, (standard, interleaved) in enumerate(usage.tolist()):
        total = standard + interleaved
        place = (physical_id(tile), int(chip.row[tile]), int(chip.column[tile])) if chip.is_chip else (None,) * 3
        share = percent_text(total, timeline.budget_bytes)
        row = (
            tile,
            *place,
            standard,
            interleaved,
            int(scratch[tile]),
            total,
            share,
            "yes" if field.over[tile] else "no",
        )
        rows.append((*row, OUTCOMES[field.values[tile]]) if is_placed else row)
    return csv_text(header, rows)


# -- the bars -------------------------------------------------------------------------------------------------------

_SERIES = {
    "standard": "standard",
    "interleaved": "interleaved",
    "warning": "more than the baseline",
    "accent": "less than the baseline",
}
"""What the colours of the bars mean, by theme token."""


def bar_layers(timeline: Timeline, field: TileField) -> list[tuple[ByteArray, str]]:
    """The layers that add up to a bar, with the tokens of their colours: the two classes of a total, else one; more and
    less of a difference.
    """
    usage = timeline.tiles.usage(field.step)
    if field.metric is Metric.TOTAL:
        return [(usage[:, 0], "standard"), (usage[:, 1], "interleaved")]
    if field.metric is Metric.DIFFERENCE:
        return [(np.maximum(field.values, 0), "warning"), (np.minimum(field.values, 0), "accent")]
    token = {Metric.INTERLEAVED: "interleaved", Metric.STANDARD: "standard"}.get(field.metric, "accent")
    return [(field.values, token)]


def bar_entries(timeline: Timeline, field: TileField) -> list[LegendEntry]:
    """Name and colour of each layer, for the legend."""
    tokens = [token for _, token in bar_layers(timeline, field)]
    if field.metric is Metric.ALLOCATION:
        return [LegendEntry(token, METRIC_NAMES[field.metric].lower()) for token in tokens]
    return [LegendEntry(token, _SERIES[token]) for token in tokens]


def scale_marks(timeline: Timeline, metric: Metric) -> list[tuple[int, str]]:
    """Bytes with a name that a metric is held against: what the reserve leaves of the budget, or the interleaved
    budget.
    """
    if metric is Metric.INTERLEAVED:
        return [(timeline.interleaved_budget_bytes, "interleaved budget")]
    if metric in (Metric.TOTAL, Metric.STANDARD):
        limit = timeline.budget_bytes - timeline.reserve_bytes
        return [(limit, "budget − reserve")] if timeline.reserve_bytes else [(limit, "budget")]
    return []


class TilesPicture(StrEnum):
    """How the tiles are arranged."""

    CHIP = "chip"
    LOGICAL = "logical"
    LOAD = "load"


_PICTURES = (
    (TilesPicture.CHIP, "Chip map"),
    (TilesPicture.LOGICAL, "Logical order"),
    (TilesPicture.LOAD, "Sorted by load"),
)


def _scale_words(metric: Metric, mode: ScaleMode) -> str:
    """Where the scale ends, and whether it moves."""
    if mode is ScaleMode.CUSTOM:
        return "between the ends you gave"
    if metric is Metric.DIFFERENCE:
        if mode is ScaleMode.AUTO:
            return "to the largest difference at this step; it moves from step to step"
        return "the power of two that holds the largest difference met so far; the same at every step, it only grows"
    if mode is ScaleMode.LOCKED:
        return f"0 to the {'interleaved ' if metric is Metric.INTERLEAVED else ''}budget; the same at every step"
    if metric is Metric.ALLOCATION:
        return (
            "0 to the most bytes that the allocation takes on a tile, so that small ones are seen; the same at every "
            "step. Choose 0 … budget to hold it against the budget"
        )
    return "0 to the largest tile at this step; it moves from step to step"


class TilesControls(QWidget):
    """Says what was chosen; shows what it is told is current."""

    metric_chosen = Signal(object)
    picture_chosen = Signal(object)
    scale_chosen = Signal(object)
    ends_chosen = Signal(object)
    """Bytes at the two ends of a custom scale."""
    known_toggled = Signal(bool)
    ramp_chosen = Signal(object)
    groups_toggled = Signal(bool)
    fit_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.metric_box = combo(self, "What is shown", [(METRIC_NAMES[metric], metric) for metric in Metric])
        self.picture_box = combo(self, "Order of the tiles", [(text, picture) for picture, text in _PICTURES])
        modes = [
            ("0 … budget", ScaleMode.LOCKED),
            ("Scale to step", ScaleMode.AUTO),
            ("Custom scale", ScaleMode.CUSTOM),
        ]
        self.scale_box = combo(self, "Scale", modes)
        self.low_box, self.high_box = self._kib_box("Lower end of the scale"), self._kib_box("Upper end of the scale")
        self.known_check = QCheckBox("Known part", self)
        self.known_check.setAccessibleName("Show the known part of unavailable steps")
        self.known_check.setToolTip("Show what is known of a step with unavailable sizes; it is a lower bound")
        self.fit_button = QToolButton(self)
        self.fit_button.setText("Fit")
        self.fit_button.setAccessibleName("Show all tiles")
        self.fit_button.setToolTip("Show all tiles (0 or double click)")
        self.options_button = self._make_options()
        self._flow = flow = FlowLayout(self, spacing=4)
        for widget in (
            self.metric_box,
            self.picture_box,
            self.scale_box,
            self.low_box,
            self.high_box,
            self.known_check,
            self.fit_button,
            self.options_button,
        ):
            flow.addWidget(widget)
        self._connect()

    def add_line(self, line: QWidget) -> None:
        """Put a widget behind the controls, in their last row or in one of its own."""
        self._flow.addWidget(line)

    def _kib_box(self, name: str) -> QSpinBox:
        box = QSpinBox(self)
        box.setAccessibleName(name)
        box.setToolTip(name)
        box.setRange(-(1 << 20), 1 << 20)
        box.setSuffix(" KiB")
        box.setKeyboardTracking(False)
        box.hide()
        return box

    def _make_options(self) -> QToolButton:
        button = QToolButton(self)
        button.setText("Options")
        button.setAccessibleName("Options of the tiles")
        button.setToolTip("What else is shown, and in which colours")
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(button)
        self.follow_action = menu.addAction("Show the selected allocation's bytes when it is selected")
        self.groups_action = menu.addAction("Show which tiles are identical")
        menu.addSeparator()
        ramps = (Ramp.VIRIDIS, Ramp.CIVIDIS)
        self.ramp_actions = {ramp: menu.addAction(f"Colours: {ramp.value.title()}") for ramp in ramps}
        for action in (self.follow_action, self.groups_action, *self.ramp_actions.values()):
            action.setCheckable(True)
        for action in (self.follow_action, self.groups_action, self.ramp_actions[Ramp.VIRIDIS]):
            action.setChecked(True)
        menu.triggered.connect(self._option_chosen)
        button.setMenu(menu)
        return button

    def _connect(self) -> None:
        self.metric_box.currentIndexChanged.connect(self._metric)
        self.picture_box.currentIndexChanged.connect(self._picture)
        self.scale_box.currentIndexChanged.connect(self._scale)
        self.low_box.valueChanged.connect(self._ends)
        self.high_box.valueChanged.connect(self._ends)
        self.known_check.toggled.connect(self.known_toggled)
        self.groups_action.toggled.connect(self.groups_toggled)
        self.fit_button.clicked.connect(self.fit_wanted)

    @property
    def known(self) -> bool:
        """Whether the known part of an unavailable step is asked for."""
        return self.known_check.isChecked()

    @property
    def follows(self) -> bool:
        """Whether selecting an allocation shows its bytes."""
        return self.follow_action.isChecked()

    def show_state(self, metric: Metric, mode: ScaleMode, *, lost: bool) -> None:
        """What is chosen; controls that would do nothing are hidden."""
        set_data(self.metric_box, metric)
        set_data(self.scale_box, mode)
        locked = "± power of two" if metric is Metric.DIFFERENCE else "0 … budget"
        largest = "0 … its largest" if metric is Metric.ALLOCATION else "Scale to step"
        for place, text in enumerate((locked, largest)):
            if self.scale_box.itemText(place) != text:
                self.scale_box.setItemText(place, text)
        self.scale_box.setToolTip(f"Scale: {_scale_words(metric, mode)}")
        for box in (self.low_box, self.high_box):
            box.setVisible(mode is ScaleMode.CUSTOM)
        self.known_check.setVisible((lost or self.known) and metric is not Metric.PLACEMENT)
        self.scale_box.setVisible(metric is not Metric.PLACEMENT)

    def show_picture(self, picture: TilesPicture, has_chip: bool) -> None:
        """The current order; only 1472 tiles have places on a chip."""
        if (self.picture_box.findData(TilesPicture.CHIP) >= 0) != has_chip:
            self.picture_box.blockSignals(True)
            if has_chip:
                self.picture_box.insertItem(0, dict(_PICTURES)[TilesPicture.CHIP], TilesPicture.CHIP)
            else:
                self.picture_box.removeItem(self.picture_box.findData(TilesPicture.CHIP))
            self.picture_box.blockSignals(False)
        set_data(self.picture_box, picture)
        self.fit_button.setVisible(picture is not TilesPicture.LOAD)

    def show_ramp(self, ramp: Ramp) -> None:
        for other, action in self.ramp_actions.items():
            action.setChecked(other is ramp)

    def show_ends(self, low: int, high: int) -> None:
        """Bytes at the ends of a custom scale."""
        for box, size in ((self.low_box, low), (self.high_box, high)):
            box.blockSignals(True)
            box.setValue(round(size / 1024))
            box.blockSignals(False)

    def _metric(self) -> None:
        self.metric_chosen.emit(Metric(self.metric_box.currentData()))

    def _picture(self) -> None:
        self.picture_chosen.emit(TilesPicture(self.picture_box.currentData()))

    def _scale(self) -> None:
        self.scale_chosen.emit(ScaleMode(self.scale_box.currentData()))

    def _ends(self) -> None:
        self.ends_chosen.emit((self.low_box.value() * 1024, self.high_box.value() * 1024))

    def _option_chosen(self, action: QAction) -> None:
        for ramp, choice in self.ramp_actions.items():
            if choice is action:
                self.ramp_chosen.emit(ramp)
