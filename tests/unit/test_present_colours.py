"""Colour tables."""

from __future__ import annotations

import numpy as np
import pytest

from tileview.model.tensor import MemoryClass
from tileview.present.scales import (
    LEVELS,
    Ramp,
    Slot,
    category,
    class_token,
    colour_table,
    contrast,
    ink_on,
    needs_light_ink,
    parse_rgb,
    ramp_table,
    relative_luminance,
)


@pytest.mark.parametrize("ramp", [Ramp.VIRIDIS, Ramp.CIVIDIS])
def test_sequential_ramps_grow_in_luminance(ramp: Ramp) -> None:
    luminance = [relative_luminance(tuple(rgb)) for rgb in ramp_table(ramp).tolist()]
    rises = np.diff(luminance)
    assert (rises > -0.002).all()
    assert luminance[-1] - luminance[0] > 0.6


def test_viridis_has_its_known_ends() -> None:
    table = ramp_table(Ramp.VIRIDIS)
    assert tuple(table[0]) == (0x44, 0x01, 0x54)
    assert tuple(table[-1]) == (0xFD, 0xE7, 0x25)


def test_differences_are_blue_white_orange_around_the_middle() -> None:
    table = ramp_table(Ramp.DIFFERENCE, 255).astype(int)
    assert table[127].min() >= 0xF0
    less, more = table[40], table[-41]
    assert less[2] > less[0]
    assert more[0] > more[2]
    assert relative_luminance(tuple(table[0])) < 0.1 > relative_luminance(tuple(table[-1]))


def test_reserved_slots_are_no_level() -> None:
    assert min(Slot) >= LEVELS
    table = colour_table(Ramp.VIRIDIS, {Slot.UNAVAILABLE: (1, 2, 3)})
    assert table.shape == (256, 3)
    assert table.dtype == np.uint8
    assert table[Slot.UNAVAILABLE].tolist() == [1, 2, 3]
    assert table[0].tolist() == [0x44, 0x01, 0x54]


def test_contrast_of_black_and_white_is_21() -> None:
    assert contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
    assert contrast((10, 20, 30), (10, 20, 30)) == 1
    assert ink_on((255, 255, 0)) == (0, 0, 0)
    assert ink_on((0, 0, 120)) == (255, 255, 255)
    assert parse_rgb("#0a0b0c") == parse_rgb("0a0b0c") == (10, 11, 12)


@pytest.mark.parametrize("ramp", list(Ramp))
def test_a_hatch_shows_on_every_level(ramp: Ramp) -> None:
    table = ramp_table(ramp)
    for is_light, rgb in zip(needs_light_ink(table).tolist(), table.tolist(), strict=True):
        assert contrast((255, 255, 255) if is_light else (0, 0, 0), tuple(rgb)) >= 4.5


def test_categories_never_look_the_same_twice() -> None:
    colours = [f"#00000{digit}" for digit in range(8)]
    seen = {category(index, colours) for index in range(24)}
    assert len(seen) == 24
    assert category(0, colours) == ("#000000", 0)
    assert category(9, colours) == ("#000001", 1)


def test_memory_classes_have_tokens() -> None:
    assert class_token(MemoryClass.STANDARD) == "standard"
    assert class_token(MemoryClass.INTERLEAVED) == "interleaved"


def test_placed_tiles_are_light_and_the_others_dark():
    table = ramp_table(Ramp.PLACEMENT)
    order1, order2, search, not_placed, over = (tuple(table[24 + 48 * code].tolist()) for code in range(5))
    for placed in (order1, order2, search):
        assert contrast(placed, not_placed) >= 4.7
        assert contrast(placed, over) >= 4.7
    assert contrast(order1, order2) >= 1.4
    assert contrast(not_placed, over) >= 1.4
