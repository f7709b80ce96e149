"""What the timeline says in words: the line above the plot, its tooltip."""

from __future__ import annotations

from tileview.analysis.words import at_start, step_place
from tileview.model.sizes import Unavailable, exact_text, kib_text, percent_text, size_text
from tileview.model.timeline import Timeline
from tileview.present.curves import BoolArray, CurveMode, Curves, PeakMark, RepeatSpan, Series, tile_at
from tileview.present.cycle_words import StepCycles
from tileview.present.tables import csv_text

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
