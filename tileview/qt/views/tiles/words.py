"""What the tile view says in words: names, tooltips, the line above the map, the legend, the table for files."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tileview.analysis.loads import tile_load
from tileview.analysis.placement import OUTCOMES
from tileview.analysis.words import allocation_name, at_start, step_place
from tileview.core.geometry.chip import Grid, grid, physical_id
from tileview.model.sizes import Unavailable, exact_text, kib_text, percent_text, size_text
from tileview.model.timeline import ByteArray, Timeline, last_largest
from tileview.present.rasters import Metric, TileField, unavailable_at
from tileview.present.tables import csv_text, signed_exact, signed_kib

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
