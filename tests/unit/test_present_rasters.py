"""The heatmap as arrays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.fake_timeline import Alloc, FakeProgram, Step, make_timeline, small_timeline
from tileview.core.geometry.chip import grid
from tileview.present.rasters import (
    Metric,
    Scale,
    ScaleMode,
    fitted,
    hatch_lines,
    islands,
    lines_within,
    load_order,
    mask_on_grid,
    neighbour,
    outline,
    scale_for,
    slot_levels,
    slots_on_grid,
    tile_field,
    tiles_between,
)
from tileview.present.scales import LEVELS, Slot

KIB = 1024


def test_metrics_of_a_step() -> None:
    timeline = small_timeline()
    assert tile_field(timeline, Metric.TOTAL, 1).values.tolist() == [96 * KIB, 160 * KIB, 144 * KIB, 32 * KIB]
    assert tile_field(timeline, Metric.STANDARD, 1).values.tolist() == [96 * KIB, 96 * KIB, 80 * KIB, 32 * KIB]
    assert tile_field(timeline, Metric.INTERLEAVED, 1).values.tolist() == [0, 64 * KIB, 64 * KIB, 0]
    assert tile_field(timeline, Metric.TOTAL, 6).values.tolist() == [73 * KIB, 74 * KIB, 75 * KIB, 44 * KIB]


def test_over_is_by_total_with_reserve_or_by_interleaved() -> None:
    timeline = small_timeline()
    field = tile_field(timeline, Metric.STANDARD, 5)
    # tile 2 holds 64 + 500 + 8 + 64 = 636 KiB, which with 48 KiB of reserve is over 573.2 KiB; tile 1 436 KiB is not.
    assert field.over.tolist() == [False, False, True, False]
    budget = replace(timeline, interleaved_budget_bytes=64 * KIB - 1)
    assert tile_field(budget, Metric.TOTAL, 1).over.tolist() == [False, True, True, False]
    exact = replace(timeline, budget_bytes=160 * KIB + timeline.reserve_bytes)
    assert not tile_field(exact, Metric.TOTAL, 1).over.any()
    assert tile_field(replace(exact, budget_bytes=exact.budget_bytes - 1), Metric.TOTAL, 1).over.sum() == 1


def test_one_allocation_is_absent_where_it_holds_nothing() -> None:
    field = tile_field(small_timeline(), Metric.ALLOCATION, 5, root=1)
    assert field.values.tolist() == [32 * KIB, 32 * KIB, 16 * KIB, 0]
    assert field.absent.tolist() == [False, False, False, True]
    assert slot_levels(field, Scale(0, 32 * KIB)).tolist() == [LEVELS - 1, LEVELS - 1, (LEVELS - 1) // 2, Slot.ABSENT]
    assert tile_field(small_timeline(), Metric.ALLOCATION, 5).missing


def unavailable():
    allocs = [Alloc("known", [8, 16], 0, 1), Alloc("lost", None, 1, 1)]
    return make_timeline(FakeProgram(2, [Step(), Step()], allocs))


def test_unavailable_terms_make_every_tile_unavailable_unless_the_known_part_is_asked_for() -> None:
    timeline = unavailable()
    assert not tile_field(timeline, Metric.TOTAL, 0).missing
    field = tile_field(timeline, Metric.TOTAL, 1)
    assert field.missing
    assert field.reason == "1 live allocation has no known size"
    assert slot_levels(field, Scale(0, 100)).tolist() == [Slot.UNAVAILABLE] * 2
    known = tile_field(timeline, Metric.TOTAL, 1, known=True)
    assert not known.missing
    assert known.values.tolist() == [8, 16]
    assert tile_field(timeline, Metric.ALLOCATION, 1, root=1).missing
    assert tile_field(timeline, Metric.ALLOCATION, 1, root=0).values.tolist() == [8, 16]


def test_difference_from_the_baseline() -> None:
    timeline = small_timeline()
    before = make_timeline(
        FakeProgram(4, [Step(source=step.source) for step in timeline.steps], [Alloc("a", 70 * KIB, 0, -1)])
    )
    field = tile_field(timeline, Metric.DIFFERENCE, 7, baseline=before)
    assert field.baseline_step == 7
    assert field.values.tolist() == [2 * KIB, 2 * KIB, 2 * KIB, -30 * KIB]
    scale = scale_for(timeline, field, ScaleMode.LOCKED)
    assert (scale.low, scale.high) == (-32 * KIB, 32 * KIB)
    assert scale_for(timeline, field, ScaleMode.AUTO) == Scale(-30 * KIB, 30 * KIB)
    equal = tile_field(timeline, Metric.DIFFERENCE, 3, baseline=timeline)
    middle = slot_levels(equal, scale_for(timeline, equal, ScaleMode.LOCKED))
    assert set(middle.tolist()) == {(LEVELS - 1) // 2}
    assert tile_field(timeline, Metric.DIFFERENCE, 3).reason == "there is no baseline"
    other = make_timeline(FakeProgram(5, [Step()], []))
    assert (
        tile_field(timeline, Metric.DIFFERENCE, 0, baseline=other).reason == "the baseline has 5 tiles, this program 4"
    )
    assert tile_field(unavailable(), Metric.DIFFERENCE, 1, baseline=unavailable()).missing


def test_the_scale_is_locked_to_the_budget() -> None:
    timeline = small_timeline()
    field = tile_field(timeline, Metric.TOTAL, 0)
    assert scale_for(timeline, field, ScaleMode.LOCKED) == Scale(0, 586_960)
    assert scale_for(timeline, field, ScaleMode.AUTO) == Scale(0, 96 * KIB)
    assert scale_for(timeline, field, ScaleMode.CUSTOM, (10, 20)) == Scale(10, 20)
    assert scale_for(timeline, field, ScaleMode.CUSTOM, (20, 10)) == Scale(0, 586_960)
    assert scale_for(timeline, tile_field(timeline, Metric.INTERLEAVED, 0), ScaleMode.LOCKED) == Scale(0, 424_880)


def test_levels_are_exact_at_the_ends_and_clipped_beyond() -> None:
    field = tile_field(
        make_timeline(FakeProgram(5, [Step()], [Alloc("a", [0, 1, 99, 100, 5000], 0, 0)])), Metric.TOTAL, 0
    )
    levels = slot_levels(field, Scale(0, 100)).tolist()
    assert levels == [0, (LEVELS - 1) // 100, 99 * (LEVELS - 1) // 100, LEVELS - 1, LEVELS - 1]


def test_large_numbers_do_not_overflow() -> None:
    huge = 1 << 62
    field = tile_field(make_timeline(FakeProgram(2, [Step()], [Alloc("a", [0, huge], 0, 0)])), Metric.TOTAL, 0)
    assert slot_levels(field, Scale(0, 1 << 50)).tolist() == [0, LEVELS - 1]


def test_the_chip_has_tiles_in_their_places() -> None:
    slots = (np.arange(1472) % 200).astype(np.uint8)
    chip = slots_on_grid(grid(1472), slots)
    assert chip.shape == (23, 64)
    # logical 45 sits at row 22, column 2; 46 at row 22, column 1; 1471 at row 0, column 63
    assert chip[22, 2] == 45
    assert chip[22, 1] == 46
    assert chip[0, 63] == 1471 % 200
    logical = slots_on_grid(grid(1472, logical_order=True), slots)
    assert logical[0, :3].tolist() == [0, 1, 2]
    assert logical[1, 0] == 64


def test_places_without_a_tile_are_background() -> None:
    cells = slots_on_grid(grid(5), np.zeros(5, dtype=np.uint8))
    assert cells.tolist() == [[0, 0, 0], [0, 0, Slot.BACKGROUND]]
    assert mask_on_grid(grid(5), np.ones(5, dtype=bool)).sum() == 5


@pytest.mark.parametrize("falling", [False, True])
@pytest.mark.parametrize(("width", "height"), [(30.0, 30.0), (10.0, 17.0), (3.0, 2.0)])
def test_hatch_lines_are_diagonal_evenly_spaced_and_run_on(width: float, height: float, falling: bool) -> None:
    cells = np.array([[0, 0], [1, 0], [0, 1], [5, 7]])
    lines = hatch_lines(cells, width, height, falling)
    places: dict[tuple[int, int], set[float]] = {}
    for x0, y0, x1, y1 in lines.tolist():
        across, down = (x1 - x0) * width, (y1 - y0) * height
        assert abs(across) == pytest.approx(abs(down))
        assert (across * down > 0) == falling
        cell = int(min(x0, x1) + 1e-9), int(min(y0, y1) + 1e-9)
        assert max(x0, x1) <= cell[0] + 1 + 1e-9
        assert max(y0, y1) <= cell[1] + 1 + 1e-9
        places.setdefault(cell, set()).add(round(x0 * width + (-1 if falling else 1) * y0 * height, 6))
    assert set(places) == {(0, 0), (1, 0), (0, 1), (5, 7)}
    # All lie on one pattern of parallel lines: what two cells share is one line.
    every = sorted(set().union(*places.values()))
    gaps = np.diff(every)
    spacing = gaps.min()
    assert np.allclose(gaps / spacing, np.round(gaps / spacing))
    if width + height > 12:
        assert spacing == pytest.approx(8)


@given(st.integers(1, 7), st.integers(1, 7), st.data())
def test_islands_are_regions_of_few_cells(rows: int, columns: int, data: st.DataObject) -> None:
    flags = data.draw(st.lists(st.booleans(), min_size=rows * columns, max_size=rows * columns))
    mask = np.array(flags).reshape(rows, columns)
    expected = np.zeros_like(mask)
    left = {(int(y), int(x)) for y, x in np.argwhere(mask)}
    while left:
        region, edge = set(), [left.pop()]
        while edge:
            y, x = edge.pop()
            region.add((y, x))
            for other in ((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)):
                if other in left:
                    left.remove(other)
                    edge.append(other)
        if len(region) <= 5:
            for place in region:
                expected[place] = True
    assert islands(mask).tolist() == expected.tolist()


def test_lines_are_cut_at_a_rectangle() -> None:
    lines = np.array([[0, 0, 10, 10], [2, -5, 2, 20], [0, 12, 10, 12], [-4, 5, 3, 5], [5, 0, 0, 5], [6, 6, 8, 8.0]])
    cut = lines_within(lines, 1, 1, 9, 9)
    assert np.allclose(cut, [[1, 1, 9, 9], [2, 1, 2, 9], [1, 5, 3, 5], [4, 1, 1, 4], [6, 6, 8, 8]])


@given(st.integers(1, 6), st.integers(1, 6), st.data())
def test_an_outline_has_every_edge_once(rows: int, columns: int, data: st.DataObject) -> None:
    flags = data.draw(st.lists(st.booleans(), min_size=rows * columns, max_size=rows * columns))
    mask = np.array(flags).reshape(rows, columns)
    edges = []
    for x0, y0, x1, y1 in outline(mask).tolist():
        assert (x0 == x1) != (y0 == y1)
        steps = max(x1 - x0, y1 - y0)
        edges += [(x0 + (x1 > x0) * i, y0 + (y1 > y0) * i, x1 > x0) for i in range(steps)]
    naive = []
    padded = np.pad(mask, 1)
    for y in range(rows + 1):
        naive += [(x, y, True) for x in range(columns) if padded[y, x + 1] != padded[y + 1, x + 1]]
    for x in range(columns + 1):
        naive += [(x, y, False) for y in range(rows) if padded[y + 1, x] != padded[y + 1, x + 1]]
    assert sorted(edges) == sorted(naive)


def test_cells_fill_the_pane_without_becoming_strips() -> None:
    x, y, width, height = fitted(23, 64, 640, 460)
    assert (640 / width, 460 / height) == pytest.approx((10, 17.5))
    assert (x + width / 2, y + height / 2) == pytest.approx((32, 11.5))
    x, y, width, height = fitted(23, 64, 64, 23)
    assert (x, y, width, height) == pytest.approx((0, 0, 64, 23))
    _, _, width, height = fitted(1, 1, 5000, 4000)
    assert (5000 / width, 4000 / height) == pytest.approx((64, 64))
    assert np.isfinite(fitted(0, 0, 0, 0)).all()


def test_a_range_is_a_rectangle_on_the_chip_and_a_run_in_logical_order() -> None:
    chip, logical = grid(1472), grid(1472, logical_order=True)
    assert tiles_between(logical, 5, 2) == (3, 4, 5, 2)
    # L0 at (0, 0), L2 at (1, 0), L1 at (0, 2): the rectangle from (0, 0) to (1, 1)
    corner = chip.tile_at(1, 1)
    assert corner is not None
    between = tiles_between(chip, 0, corner)
    assert between[-1] == corner
    assert {(int(chip.row[tile]), int(chip.column[tile])) for tile in between} == {(0, 0), (0, 1), (1, 0), (1, 1)}


def test_moves_stop_at_the_edge() -> None:
    chip = grid(1472)
    assert neighbour(chip, 0, -1, 0) == 0
    assert neighbour(chip, 0, 0, 1) == 2
    assert neighbour(grid(5), 4, 1, 0) == 4
    assert neighbour(grid(5), 2, 0, 1) == 2


def test_tiles_sorted_by_load() -> None:
    assert load_order(np.array([5, 9, 5, 0])).tolist() == [1, 0, 2, 3]
