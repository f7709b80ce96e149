"""Axis ticks."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tileview.present.scales import binary_spacing, byte_ticks, step_spacing, step_ticks

KIB = 1024


def test_a_budget_axis_counts_in_powers_of_two() -> None:
    ticks = byte_ticks(0, 586_960, 5)
    assert [tick.value for tick in ticks] == [0, 128 * KIB, 256 * KIB, 384 * KIB, 512 * KIB]
    assert [tick.text for tick in ticks] == ["0 KiB", "128 KiB", "256 KiB", "384 KiB", "512 KiB"]


def test_every_label_has_the_unit_of_the_spacing() -> None:
    assert [tick.text for tick in byte_ticks(0, 100, 4)] == ["0 B", "32 B", "64 B", "96 B"]
    assert [tick.text for tick in byte_ticks(0, 4 << 20, 4)] == ["0 MiB", "1 MiB", "2 MiB", "3 MiB", "4 MiB"]
    assert [tick.text for tick in byte_ticks(0, 2048 * KIB, 4)] == [
        "0 KiB",
        "512 KiB",
        "1,024 KiB",
        "1,536 KiB",
        "2,048 KiB",
    ]


def test_differences_have_ticks_on_both_sides_of_zero() -> None:
    ticks = byte_ticks(-4096, 4096, 4)
    assert [(tick.value, tick.text) for tick in ticks] == [
        (-4096, "−4 KiB"),
        (-2048, "−2 KiB"),
        (0, "0 KiB"),
        (2048, "2 KiB"),
        (4096, "4 KiB"),
    ]


def test_an_axis_without_extent_has_its_one_value() -> None:
    assert [(tick.value, tick.text) for tick in byte_ticks(7, 7)] == [(7, "7 B")]


@given(st.integers(-(2**40), 2**40), st.integers(1, 2**40), st.integers(1, 20))
def test_byte_ticks_are_inside_even_and_not_too_many(low: int, extent: int, most: int) -> None:
    ticks = [tick.value for tick in byte_ticks(low, low + extent, most)]
    spacing = binary_spacing(extent, most)
    assert spacing & (spacing - 1) == 0
    assert all(low <= value <= low + extent and value % spacing == 0 for value in ticks)
    assert all(b - a == spacing for a, b in itertools.pairwise(ticks))
    assert len(ticks) <= most + 1


@pytest.mark.parametrize(
    ("extent", "most", "spacing"), [(10, 10, 1), (11, 10, 2), (21, 10, 5), (51, 10, 10), (164, 8, 50), (4000, 10, 500)]
)
def test_steps_are_counted_in_round_decimals(extent: int, most: int, spacing: int) -> None:
    assert step_spacing(extent, most) == spacing


def test_step_ticks_stay_in_range() -> None:
    assert [tick.value for tick in step_ticks(13, 47, 4)] == [20, 30, 40]
    assert [tick.text for tick in step_ticks(0, 4000, 4)] == ["0", "1,000", "2,000", "3,000", "4,000"]
    assert step_ticks(5, 4) == ()
    assert [tick.value for tick in step_ticks(0, 0)] == [0]


def test_a_scale_of_few_bytes_is_in_bytes() -> None:
    assert [tick.text for tick in byte_ticks(0, 7, 8)] == [f"{size} B" for size in range(8)]
