"""Pictures for the report, as SVG text: memory over the steps, and what every tile holds at one step.

Plain strings, no names from files in them. Curves are down-sampled by maximum, so that a peak of one step never
vanishes; a tile over its budget is marked by a hatch, not by colour alone.
"""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Final

import numpy as np
import numpy.typing as npt

from tileview.core.geometry.chip import grid
from tileview.model.sizes import Unavailable, exact_text, kib_text
from tileview.model.timeline import ByteArray, Timeline

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
