"""The report's pictures and its escaping."""

from __future__ import annotations

import re
import struct
import zlib
from xml.etree import ElementTree

import numpy as np
import pytest

from tests.helpers.golden_recipes import golden_recipe
from tileview.analysis.report import name, pixels_to_png, ramp_colour, text, tiles_svg, timeline_svg
from tileview.core.estimate import estimate


def test_the_timeline_picture_shows_every_step_and_the_budgets():
    timeline = estimate(golden_recipe("so400m-over")).timeline
    svg = timeline_svg(timeline)
    root = ElementTree.fromstring(svg)
    curves = {line.get("class"): line.get("points").split() for line in root.iter("polyline")}
    assert set(curves) == {"total", "standard", "interleaved"}
    assert all(len(points) == 2 * len(timeline.steps) for points in curves.values())
    budget = next(line for line in root.iter("line") if line.get("class") == "budget")
    heights = [float(point.split(",")[1]) for point in curves["total"]]
    over = sum(height < float(budget.get("y1")) for height in heights) // 2
    worst = timeline.tiles.worst()[:, 2] + timeline.reserve_bytes
    assert over == int((worst > timeline.budget_bytes).sum())
    assert len([path for path in root.iter("path") if path.get("class") == "mark"]) == 1


def test_the_tile_picture_has_a_cell_a_tile_and_hatches_what_is_over():
    timeline = estimate(golden_recipe("so400m-over")).timeline
    root = ElementTree.fromstring(tiles_svg(timeline, 69))
    cells = [cell for cell in root.iter("rect") if cell.get("class") is None]
    hatched = [cell for cell in root.iter("rect") if cell.get("class") == "over"]
    usage = timeline.tiles.usage(69).sum(axis=1)
    assert len(cells) == 1472
    assert len(hatched) == int((usage + 49_152 > 586_960).sum()) > 0
    assert len({(cell.get("x"), cell.get("y")) for cell in cells}) == 1472


@pytest.mark.parametrize("share", [-1.0, 0.0, 0.3, 0.999, 1.0, 7.5])
def test_colours_are_colours(share):
    assert all(0 <= part <= 255 for part in ramp_colour(share))
    assert ramp_colour(0.0) == (68, 1, 84)
    assert ramp_colour(2.0) == ramp_colour(1.0) == (253, 231, 37)


def test_the_image_of_many_tiles_is_a_png():
    pixels = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)
    data = pixels_to_png(pixels)
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", data[16:24]) == (3, 2)
    length = struct.unpack(">I", data[33:37])[0]
    assert data[37:41] == b"IDAT"
    raw = zlib.decompress(data[41 : 41 + length])
    assert raw == b"".join(b"\0" + pixels[row].tobytes() for row in range(2))


def test_names_are_text_and_nothing_else():
    hostile = "<img src=x onerror=alert(1)>\"'&\u202e\x00\ud800" + "a" * 1000
    shown = name(hostile)
    assert re.sub(r"</?bdi>", "", shown).count("<") == 0
    assert "\u202e" not in shown
    assert "\x00" not in shown
    shown.encode("utf-8")
    assert len(shown) < 600
    assert text("vit.embedding.weight") == "vit.embedding.weight"
