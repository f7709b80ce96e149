"""One self-contained HTML page about one file: verdict, figures, pictures in SVG, what lies where.

Plain strings, no names from files in them. Curves are down-sampled by maximum, so that a peak of one step never
vanishes; a tile over its budget is marked by a hatch, not by colour alone.

Nothing in it is fetched from anywhere, nothing runs, and every name from the file is escaped and set apart from the
direction of the text around it. Long lists are cut and say how much was left out, so that the page of a 30 MiB dump
stays small.
"""

from __future__ import annotations

import base64
import html
import struct
import unicodedata
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tileview.analysis.diagnosis import ContributionGroup, Diagnosis, grouped
from tileview.analysis.loads import describe_bytes, total_peak_place
from tileview.analysis.overflows import overflow_lines
from tileview.analysis.relief import Relief
from tileview.analysis.words import sentence
from tileview.core.cycles.words import describe_cycles
from tileview.core.fusion.verdict_words import fits_only_fused
from tileview.core.geometry.chip import grid
from tileview.model.names import escaped
from tileview.model.sizes import Size, Unavailable, exact_text, kib_text, percent_text, size_text
from tileview.model.sizes import total as added
from tileview.model.tensor import MemoryClass
from tileview.model.timeline import ByteArray, Timeline, Verdict

_COLUMNS: Final = 1000
"""Points a curve has at most."""
_MOST_CELLS: Final = 4096
"""Tiles that are drawn one by one; more become one image."""

_WIDTH, _HEIGHT = 1040, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 84, 12, 12, 28

_RAMP: Final = (
    (68, 1, 84),
    (71, 44, 122),
    (59, 81, 139),
    (44, 113, 142),
    (33, 144, 141),
    (39, 173, 129),
    (92, 200, 99),
    (170, 220, 50),
    (253, 231, 37),
)
"""Viridis in eighths."""


# -- memory over the steps ------------------------------------------------------------------------------------------


def timeline_svg(timeline: Timeline) -> str:
    """Total with reserve, standard and interleaved bytes of the fullest tile at every step, with the budgets.

    Empty for a timeline without steps. Steps with unavailable sizes are drawn with what is known and shaded.
    """
    worst = timeline.tiles.worst()
    steps = len(worst)
    if not steps:
        return ""
    total = worst[:, 2] + timeline.reserve_bytes
    top = int(max(int(total.max()), timeline.budget_bytes, timeline.interleaved_budget_bytes, 1))
    frame = _Frame(steps, top)
    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="Memory of the fullest tile over the steps">',
        *frame.axes(),
        *_unavailable_bands(timeline, frame),
        frame.level(timeline.budget_bytes, "budget", f"budget {exact_text(timeline.budget_bytes)}"),
        frame.level(
            timeline.interleaved_budget_bytes,
            "budget thin",
            f"interleaved region {exact_text(timeline.interleaved_budget_bytes)}",
        ),
        frame.curve(total, "total"),
        frame.curve(worst[:, 0], "standard"),
        frame.curve(worst[:, 1], "interleaved"),
    ]
    if timeline.total_peak_step is not None and 0 <= timeline.total_peak_step < steps:
        parts.append(frame.mark(timeline.total_peak_step, int(total[timeline.total_peak_step])))
    parts.append("</svg>")
    return "".join(parts)


class _Frame:
    """Where steps and bytes lie in the picture."""

    def __init__(self, steps: int, top: int) -> None:
        self._steps = steps
        self._top = top

    def x(self, step: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * step / self._steps

    def y(self, size: int) -> float:
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * size / (self._top * 1.04)

    def axes(self) -> list[str]:
        """Lines at round binary sizes and at round steps."""
        parts = []
        spacing = 1024
        while self._top / spacing > 8:
            spacing *= 2
        for size in range(0, self._top + 1, spacing):
            y = self.y(size)
            parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
            parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{kib_text(size)}</text>')
        every = 1
        for factor in (2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 50_000, 100_000):
            if self._steps / every <= 12:
                break
            every = factor
        for step in range(0, self._steps, every):
            parts.append(f'<text x="{self.x(step + 0.5):.1f}" y="{_HEIGHT - 8}" text-anchor="middle">{step}</text>')
        return parts

    def level(self, size: int, style: str, title: str) -> str:
        y = self.y(size)
        line = f'<line class="{style}" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}">'
        return f"{line}<title>{title}</title></line>"

    def curve(self, sizes: ByteArray, style: str) -> str:
        """A staircase: each step as wide as the others, columns of several steps by their maximum."""
        count = min(self._steps, _COLUMNS)
        edges = np.linspace(0, self._steps, count + 1).astype(np.int64)
        highest = np.maximum.reduceat(sizes, edges[:-1])
        points = []
        for column in range(count):
            y = f"{self.y(int(highest[column])):.1f}"
            points.append(f"{self.x(float(edges[column])):.1f},{y} {self.x(float(edges[column + 1])):.1f},{y}")
        return f'<polyline class="{style}" points="{" ".join(points)}"/>'

    def mark(self, step: int, size: int) -> str:
        x, y = self.x(step + 0.5), self.y(size)
        title = f"<title>total peak with reserve, {exact_text(size)} at step {step}</title>"
        return f'<path class="mark" d="M{x:.1f},{y - 3:.1f} l-6,-9 h12 z">{title}</path>'

    def band(self, first: int, last: int) -> str:
        x, width = self.x(first), self.x(last) - self.x(first)
        box = (
            f'<rect class="unavailable" x="{x:.1f}" y="{_TOP}" width="{width:.1f}" height="{_HEIGHT - _TOP - _BOTTOM}">'
        )
        return f"{box}<title>unavailable: only what is known is drawn</title></rect>"


def _unavailable_bands(timeline: Timeline, frame: _Frame) -> list[str]:
    parts: list[str] = []
    first: int | None = None
    for index, step in enumerate(timeline.steps):
        missing = isinstance(step.usage.total, Unavailable)
        if missing and first is None:
            first = index
        if not missing and first is not None:
            parts.append(frame.band(first, index))
            first = None
    if first is not None:
        parts.append(frame.band(first, len(timeline.steps)))
    return parts


# -- tiles ----------------------------------------------------------------------------------------------------------


def tiles_svg(timeline: Timeline, step: int) -> str:
    """All tiles at a step on the chip's grid, from 0 to the budget; over-budget tiles hatched."""
    usage = timeline.tiles.usage(step)
    total = usage[:, 0] + usage[:, 1]
    over = (total + timeline.reserve_bytes > timeline.budget_bytes) | (usage[:, 1] > timeline.interleaved_budget_bytes)
    room = max(1, timeline.budget_bytes - timeline.reserve_bytes)
    places = grid(timeline.tile_count)
    if timeline.tile_count > _MOST_CELLS:
        return _tiles_image(total, over, room, places.tile)
    side = max(4, min(24, _WIDTH // max(1, places.columns)))
    width, height = places.columns * side, places.rows * side
    rows, columns = places.row.tolist(), places.column.tolist()
    parts = [
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="Bytes on every tile at step {step}" '
        f'style="max-width:{width}px"><defs><pattern id="hatch" width="4" height="4" patternUnits="userSpaceOnUse">'
        '<path class="hatch" d="M0,4 L4,0"/></pattern></defs>'
    ]
    for tile, (size, is_over) in enumerate(zip(total.tolist(), over.tolist(), strict=True)):
        x, y = columns[tile] * side, rows[tile] * side
        red, green, blue = ramp_colour(size / room)
        title = f"<title>Tile {tile}: {exact_text(size)}{', over budget' if is_over else ''}</title>"
        box = f'x="{x}" y="{y}" width="{side - 1}" height="{side - 1}"'
        parts.append(f'<rect {box} fill="#{red:02x}{green:02x}{blue:02x}">{title}</rect>')
        if is_over:
            parts.append(f'<rect class="over" {box} fill="url(#hatch)">{title}</rect>')
    parts.append("</svg>")
    return "".join(parts)


def ramp_colour(share: float) -> tuple[int, int, int]:
    """The colour of a share of the budget, 0 … 1; more is drawn as 1."""
    place = min(1.0, max(0.0, share)) * (len(_RAMP) - 1)
    low = min(int(place), len(_RAMP) - 2)
    part = place - low
    red, green, blue = (round(a + (b - a) * part) for a, b in zip(_RAMP[low], _RAMP[low + 1], strict=True))
    return red, green, blue


def _tiles_image(total: ByteArray, over: npt.NDArray[np.bool_], room: int, places: npt.NDArray[np.int64]) -> str:
    """Very many tiles as one picture; over-budget tiles white."""
    table = np.array([*(ramp_colour(level / 254) for level in range(255)), (255, 255, 255)], dtype=np.uint8)
    level = np.minimum(254, total * 254 // room)
    level[over] = 255
    pixels = np.zeros((*places.shape, 3), dtype=np.uint8)
    there = places >= 0
    pixels[there] = table[level[places[there]]]
    data = base64.b64encode(pixels_to_png(pixels)).decode("ascii")
    return f'<img class="tiles" alt="Bytes on every tile" src="data:image/png;base64,{data}">'


def pixels_to_png(pixels: npt.NDArray[np.uint8]) -> bytes:
    """A PNG of (rows, columns, 3) bytes of red, green and blue."""
    height, width, _ = pixels.shape
    lines = np.zeros((height, 1 + width * 3), dtype=np.uint8)
    lines[:, 1:] = pixels.reshape(height, width * 3)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines.tobytes(), 9)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


_MOST_ROWS: Final = 40
_MOST_TEXT: Final = 300


@dataclass(frozen=True, slots=True)
class SwapRow:
    """Swaps that were tried. ``total`` is None where they cannot be lowered.

    ``delta`` is the change of the total peak, ``delta_cycles`` that of the planner's cycles.
    """

    swaps: str
    plan: str
    total: Size | None
    delta: int | None
    verdict: str
    fits: bool
    delta_cycles: int | None = None


@dataclass(frozen=True, slots=True)
class ReportOperation:
    """An operation with the current plan, in words."""

    operation: int
    kind: str
    plan: str
    alternatives: int


@dataclass(frozen=True, slots=True)
class ReportInput:
    """All that a page is made from. ``facts`` are (name, text) pairs about the file; lists may be empty."""

    title: str
    facts: Sequence[tuple[str, str]]
    verdict: Verdict
    timeline: Timeline | None
    diagnosis: Diagnosis
    operations: Sequence[ReportOperation] = ()
    swaps: Sequence[SwapRow] = ()
    swaps_text: str = ""
    notes: Sequence[str] = ()
    problems: Sequence[str] = ()
    edits: Sequence[str] = ()


def render_report(given: ReportInput) -> str:
    """The page as text (to be written in UTF-8)."""
    diagnosis = given.diagnosis
    sections = [
        _head(given),
        _verdict(given, diagnosis),
        _list("Edits that are not in the file", given.edits),
        _peaks(given.timeline),
        _why(diagnosis),
        _timeline(given.timeline),
        _tiles(given.timeline),
        _swaps(given),
        _operations(given.operations),
        _list("What the estimate leaves out", given.notes),
        _list("Problems", given.problems),
    ]
    body = "\n".join(section for section in sections if section)
    return f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{_PREAMBLE}<title>{text(given.title)}</title>\n' + (
        f"<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def text(raw: str, limit: int = _MOST_TEXT) -> str:
    """Escaped for HTML: no markup, no control characters, no lone surrogates, not endlessly long."""
    shown = "".join(
        escaped(char) if unicodedata.category(char) in ("Cc", "Cf", "Cs") else char for char in raw[: limit + 1]
    )
    return html.escape(shown if len(raw) <= limit else shown[: limit - 1] + "…", quote=True)


def name(raw: str) -> str:
    """A name from a file, kept apart from the direction of the text around it."""
    return f"<bdi>{text(raw, 120)}</bdi>"


# -- sections -------------------------------------------------------------------------------------------------------


def _head(given: ReportInput) -> str:
    facts = " · ".join(f"{text(label)} <b>{text(value)}</b>" for label, value in given.facts)
    return f'<h1>{name(given.title)}</h1>\n<p class="facts">{facts}</p>'


def _verdict(given: ReportInput, diagnosis: Diagnosis) -> str:
    word = "NOT KNOWN" if given.verdict.fits is None else given.verdict.words.capitalize()
    if fits_only_fused(given.verdict):
        word = "Fits with fusions"
    style = "unknown" if given.verdict.fits is None else "fits" if given.verdict.fits else "fails"
    lines = [
        f'<section class="verdict {style}"><h2>{word}</h2>',
        f"<p>{text(sentence(diagnosis.headline), 900)}</p>",
        *(f"<p>{text(line, 900)}</p>" for line in _overflows(given, diagnosis)),
        f"<p><b>Next:</b> {text(diagnosis.next_step, 900)}</p></section>",
    ]
    return "\n".join(lines)


def _overflows(given: ReportInput, diagnosis: Diagnosis) -> list[str]:
    """One line for every overflow."""
    kinds = {row.operation: row.kind for row in given.operations}
    return overflow_lines((diagnosis.overflows or ())[:_MOST_ROWS], kinds)


def _peaks(timeline: Timeline | None) -> str:
    if timeline is None:
        return ""
    peak, budget, region = timeline.peak, timeline.budget_bytes, timeline.interleaved_budget_bytes
    needed = added((peak.total, timeline.reserve_bytes))
    rows = [
        ("Total", peak.total, timeline.total_peak_step, budget - timeline.reserve_bytes, _share(needed, budget)),
        ("Standard", peak.standard, timeline.standard_peak_step, None, ""),
        ("Interleaved", peak.interleaved, timeline.interleaved_peak_step, region, _share(peak.interleaved, region)),
        ("Largest standard allocation", peak.maximum_standard_allocation, None, None, ""),
        ("Exchange rows (not counted)", peak.exchange_rows, None, None, ""),
    ]
    cells = [
        (
            label,
            size_text(size),
            "" if step is None else str(step),
            "" if room is None else size_text(room),
            share,
        )
        for label, size, step, room, share in rows
    ]
    note = f"<p>The total may reach the budget of {size_text(timeline.budget_bytes)} less the reserve of "
    note += f"{size_text(timeline.reserve_bytes)}; its share of the budget includes the reserve. "
    note += "Peaks follow version 3: exchange rows are not part of them.</p>"
    return "<h2>Peaks</h2>\n" + _table(("Peak", "Bytes", "Step", "Limit", "Share"), cells, {1, 2, 3, 4}) + note


def _share(size: Size, room: int) -> str:
    return percent_text(size, room) if room > 0 and isinstance(size, int) else ""


def _why(diagnosis: Diagnosis) -> str:
    parts = []
    if diagnosis.figures:
        parts.append(_table((), [(figure.label, size_text(figure.bytes)) for figure in diagnosis.figures], {1}))
    parts.extend(f"<p>{text(sentence, 900)}</p>" for sentence in diagnosis.details)
    groups = grouped(diagnosis.contributions)
    if groups and diagnosis.load is not None:
        place = f"tile {diagnosis.load.tile} at step {diagnosis.load.step}"
        parts.append(f"<h3>On {place}: first what another plan would shrink most</h3>")
        rows = [_contribution(group, diagnosis.load.total) for group in groups[:_MOST_ROWS]]
        header = ("Allocation", "Class", "Bytes", "Share", "Made by", "Could be smaller")
        parts.append(_table(header, rows, {2, 3}, raw={0}))
        parts.append(_left_out(len(groups)))
    if diagnosis.reliefs:
        parts.append("<h3>What the operations there could do</h3>")
        parts.append(_reliefs(diagnosis.reliefs))
    if diagnosis.bad_layouts:
        parts.append("<h3>Values with no valid layout</h3>")
        bad = [(name(item.name), item.text, item.remedy) for item in diagnosis.bad_layouts[:_MOST_ROWS]]
        parts.append(_table(("Value", "Why", "Would be valid"), bad, set(), raw={0}))
        parts.append(_left_out(len(diagnosis.bad_layouts)))
    return "<h2>Why</h2>\n" + "\n".join(parts) if parts else ""


def _contribution(group: ContributionGroup, total: int) -> tuple[str, ...]:
    times = f" × {group.count}" if group.count > 1 else ""
    maker = "resident" if group.resident else "" if group.operation is None else f"operation {group.operation}"
    smaller = ""
    if group.choice is not None:
        smaller = f"−{exact_text(group.smaller_by)} with alternative {group.choice[1]}"
    kind = "interleaved" if group.memory_class is MemoryClass.INTERLEAVED else "standard"
    return (name(group.name) + times, kind, exact_text(group.bytes), _share(group.bytes, total), maker, smaller)


def _reliefs(found: Sequence[Relief]) -> str:
    rows = [
        (
            f"operation {relief.operation}",
            exact_text(relief.now),
            exact_text(relief.then),
            describe_bytes(relief.then - relief.now),
            str(relief.alternative),
            "fits with fusions only"
            if relief.only_fused
            else {True: "fits", None: "not known"}.get(relief.fits, "still does not fit"),
        )
        for relief in found
    ]
    header = ("Operation", "Its fullest step now", "With best alternative", "Change", "Alternative", "Alone")
    return _table(header, rows, {1, 2, 3, 4})


def _timeline(timeline: Timeline | None) -> str:
    picture = "" if timeline is None else timeline_svg(timeline)
    if not picture:
        return ""
    legend = "".join(
        f'<span class="key {style}"></span> {label} '
        for style, label in (("total", "total + reserve"), ("standard", "standard"), ("interleaved", "interleaved"))
    )
    return (
        "<h2>Memory over the steps</h2>\n<p>The fullest tile at every step; dashed: the budget and, thinner, the "
        f"interleaved region. {legend}</p>\n<figure>{picture}</figure>"
    )


def _tiles(timeline: Timeline | None) -> str:
    place = None if timeline is None else total_peak_place(timeline)
    if timeline is None or place is None:
        return ""
    room = timeline.budget_bytes - timeline.reserve_bytes
    return (
        f"<h2>Tiles at step {place.step}</h2>\n<p>Every tile at the total peak, dark for 0, bright for "
        f"{size_text(room)} (the budget less the reserve); hatched: over a budget. Fullest: tile {place.tile}.</p>"
        f"<figure>{tiles_svg(timeline, place.step)}</figure>"
    )


def _swaps(given: ReportInput) -> str:
    if not given.swaps and not given.swaps_text:
        return ""
    parts = ["<h2>Swaps tried</h2>"]
    if given.swaps_text:
        parts.append(f"<p>{text(given.swaps_text, 900)}</p>")
    rows = [
        (
            row.swaps,
            row.plan,
            "" if row.total is None else exact_text(row.total),
            "" if row.delta is None else describe_bytes(row.delta),
            "" if row.delta_cycles is None else describe_cycles(row.delta_cycles),
            row.verdict,
        )
        for row in given.swaps[:_MOST_ROWS]
    ]
    if rows:
        header = ("Swap", "Plan", "Total peak", "Change", "Planner's cycles", "Verdict")
        parts.append(_table(header, rows, {2, 3, 4}))
        parts.append(_left_out(len(given.swaps)))
    return "\n".join(parts)


def _operations(operations: Sequence[ReportOperation]) -> str:
    if not operations:
        return ""
    most = 500
    rows = [(str(row.operation), row.kind, row.plan, str(row.alternatives)) for row in operations[:most]]
    left = f"<p>and {len(operations) - most:,} more</p>" if len(operations) > most else ""
    body = _table(("Operation", "Kind", "Current plan", "Alternatives"), rows, {0, 3})
    return f"<details><summary>Current plans ({len(operations):,})</summary>{body}{left}</details>"


def _list(title: str, entries: Sequence[str]) -> str:
    if not entries:
        return ""
    items = "".join(f"<li>{text(entry, 500)}</li>" for entry in entries[: 5 * _MOST_ROWS])
    left = len(entries) - 5 * _MOST_ROWS
    more = f"<p>and {left:,} more</p>" if left > 0 else ""
    return f"<h2>{title}</h2>\n<ul>{items}</ul>{more}"


def _left_out(count: int) -> str:
    return f"<p>and {count - _MOST_ROWS:,} more</p>" if count > _MOST_ROWS else ""


def _table(header: Sequence[str], rows: Iterable[Sequence[str]], numbers: set[int], raw: set[int] | None = None) -> str:
    """A table; columns in ``numbers`` are aligned at the right, those in ``raw`` hold markup made by :func:`name`."""
    parts = ["<table>"]
    if header:
        parts.append("<thead><tr>" + "".join(f"<th{_align(i, numbers)}>{text(h)}</th>" for i, h in enumerate(header)))
        parts.append("</tr></thead>")
    parts.append("<tbody>")
    for row in rows:
        cells = (cell if raw is not None and i in raw else text(cell) for i, cell in enumerate(row))
        parts.append("<tr>" + "".join(f"<td{_align(i, numbers)}>{cell}</td>" for i, cell in enumerate(cells)) + "</tr>")
    parts.append("</tbody></table>")
    return "".join(parts)


def _align(column: int, numbers: set[int]) -> str:
    return ' class="number"' if column in numbers else ""


_PREAMBLE: Final = (
    '<meta charset="utf-8">\n<meta name="viewport" content="width=device-width">\n'
    '<meta http-equiv="Content-Security-Policy" '
    "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n"
)

_STYLE: Final = """
:root{--page:#fff;--text:#16191d;--muted:#565d68;--line:#c3c8d0;--fine:#dfe2e7;--ok:#0a6b3d;--over:#b3261e;
--standard:#0072b2;--interleaved:#b35300;--unavailable:#6d4aa3;--unknown:#00626c}
@media (prefers-color-scheme:dark){:root{--page:#16191d;--text:#eceff3;--muted:#a7b0bd;--line:#4a515c;--fine:#2b3038;
--ok:#5fd39a;--over:#ff8a80;--standard:#63b8ea;--interleaved:#f0a050;--unavailable:#b99cf0;--unknown:#5fd0dc}}
body{margin:2em auto;max-width:1080px;padding:0 1em;font:15px/1.5 system-ui,sans-serif;color:var(--text);
background:var(--page)}
h1{font-size:1.5em;margin-bottom:0;overflow-wrap:anywhere}
h2{font-size:1.2em;margin-top:1.8em}h3{font-size:1em}
.facts{color:var(--muted);margin-top:.2em}
.verdict{border-left:.5em solid;padding:.1em 1em;margin:1em 0}
.verdict h2{margin:.4em 0}.fits{border-color:var(--ok)}.fits h2{color:var(--ok)}
.fails{border-color:var(--over)}.fails h2{color:var(--over)}
.unknown{border-color:var(--unknown)}.unknown h2{color:var(--unknown)}
table{border-collapse:collapse;margin:.6em 0}
th{white-space:nowrap}
td,th{border-bottom:1px solid var(--fine);padding:.2em .9em .2em 0;text-align:left;vertical-align:top;
overflow-wrap:anywhere}
.number{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
figure{margin:.6em 0;overflow-x:auto}svg{width:100%;height:auto}svg text{font-size:11px;fill:var(--muted)}
.grid{stroke:var(--fine)}polyline{fill:none;stroke-width:1.5}
.total{stroke:var(--text)}polyline.total{stroke-width:2}.standard{stroke:var(--standard)}
polyline.standard{stroke-dasharray:6 3}.interleaved{stroke:var(--interleaved)}polyline.interleaved{stroke-dasharray:2 2}
.budget{stroke:var(--over);stroke-width:2;stroke-dasharray:8 4}.thin{stroke-width:1}
.mark{fill:var(--over)}.unavailable{fill:var(--unavailable);opacity:.25}
.hatch{stroke:#7a0000;stroke-width:1.2}.over{stroke:#7a0000;stroke-width:1.5}
.tiles{width:100%;image-rendering:pixelated}
.key{display:inline-block;width:2em;border-top:3px solid;vertical-align:middle;margin-left:1em}
.key.total{color:var(--text)}.key.standard{color:var(--standard);border-top-style:dashed}
.key.interleaved{color:var(--interleaved);border-top-style:dotted}
@media print{details{display:block}}
"""
