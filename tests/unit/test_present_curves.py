"""Curves over the steps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.fake_timeline import Alloc, FakeProgram, Step, big_timeline, make_timeline, small_timeline
from tileview.analysis.lifetimes import live_spans
from tileview.model.sizes import UNAVAILABLE
from tileview.present.curves import (
    CurveMode,
    Stacking,
    StackSource,
    column_any,
    column_max,
    column_steps,
    columns,
    curves,
    matched_max,
    matching_steps,
    peak_marks,
    repeat_spans,
    stack,
    unavailable_steps,
)

KIB = 1024


def two_tiles():
    """Tile 0 is worst at step 0, tile 1 at step 1; the largest standard and interleaved lie on different tiles."""
    allocs = [Alloc("s", [100, 20], 0, 1), Alloc("i", [10, 60], 0, 1, interleaved=True), Alloc("late", [0, 50], 1, 1)]
    return make_timeline(FakeProgram(2, [Step(), Step()], allocs, budget=200, interleaved_budget=70, reserve=80))


def test_the_worst_tile_gives_classes_that_add_up() -> None:
    shown = curves(two_tiles(), CurveMode.WORST)
    assert shown.tiles.tolist() == [0, 1]
    assert shown.total.tolist() == [110, 130]
    assert shown.standard.tolist() == [100, 70]
    assert shown.interleaved.tolist() == [10, 60]


def test_the_largest_of_each_class_may_lie_on_different_tiles() -> None:
    shown = curves(two_tiles(), CurveMode.LARGEST)
    assert shown.total.tolist() == [110, 130]
    assert shown.standard.tolist() == [100, 100]
    assert shown.interleaved.tolist() == [60, 60]


def test_one_tile() -> None:
    shown = curves(two_tiles(), CurveMode.TILE, 1)
    assert shown.total.tolist() == [80, 130]
    assert shown.standard.tolist() == [20, 70]
    assert shown.tiles.tolist() == [1, 1]
    for tile in (None, 2, -1):
        with pytest.raises(ValueError, match="no tile"):
            curves(two_tiles(), CurveMode.TILE, tile)


def test_unavailable_steps_are_flagged_and_keep_the_known_part() -> None:
    timeline = make_timeline(FakeProgram(1, [Step(), Step()], [Alloc("known", 64, 0, 1), Alloc("lost", None, 1, 1)]))
    assert unavailable_steps(timeline).tolist() == [False, True]
    for mode in CurveMode:
        shown = curves(timeline, mode, 0)
        assert shown.total.tolist() == [64, 64]
        assert shown.unavailable.tolist() == [False, True]
    assert timeline.peak.total is UNAVAILABLE
    assert [mark.size for mark in peak_marks(timeline)] == [UNAVAILABLE] * 3


def test_peaks_have_letters_and_steps() -> None:
    timeline = small_timeline()
    assert [(mark.letter, mark.step, mark.size) for mark in peak_marks(timeline)] == [
        ("P", 5, 651_264),
        ("S", 5, 585_728),
        ("I", 1, 65_536),
    ]
    assert [mark.letter for mark in peak_marks(replace(timeline, standard_peak_step=None, total_peak_step=99))] == ["I"]


def test_repeat_bodies_nested_and_next_to_each_other() -> None:
    #  0    1 2      3      4     5        6        7      8        9
    #  Copy [Add [Gelu] Repeat×3 Sum] Repeat×27 [Cast] Repeat×2 Copy
    steps = [
        Step("Copy"),
        Step("Add", count=27),
        Step("Gelu", count=81),
        Step("Repeat", count=27),
        Step("Sum axis 0", count=27),
        Step("Repeat", count=1),
        Step("Cast", count=2),
        Step("Repeat", count=1),
        Step("Copy"),
    ]
    spans = repeat_spans(make_timeline(FakeProgram(1, steps, [])))
    assert [(span.start, span.stop, span.count, span.depth) for span in spans] == [
        (1, 5, 27, 0),
        (2, 3, 3, 1),
        (6, 7, 2, 0),
    ]


def test_a_stack_adds_up_and_names_its_layers() -> None:
    timeline = small_timeline()
    shown = curves(timeline, CurveMode.WORST)
    layers = stack(timeline, shown, top=2)
    assert [(layer.name, layer.kind) for layer in layers] == [
        ("parameters", "parameters"),
        ("op 5", "group"),
        ("op 1", "group"),
        ("other operations (2)", "rest"),
    ]
    assert sum(layer.sizes for layer in layers).tolist() == shown.total.tolist()
    # "wide" of 500 KiB lives at step 5 only, "result" of 8 KiB from step 5 to the end, 3 KiB are scratch of step 6.
    assert layers[1].operation == 5
    assert layers[1].sizes.tolist() == [0, 0, 0, 0, 0, 508 * KIB, 11 * KIB, 8 * KIB]


@pytest.mark.parametrize("mode", list(CurveMode))
def test_stacks_of_a_larger_program_add_up(mode: CurveMode) -> None:
    timeline = big_timeline(46, 60, 80, seed=5, unavailable=1)
    shown = curves(timeline, mode, 7)
    layers = stack(timeline, shown, top=5)
    assert sum(layer.sizes for layer in layers).tolist() == shown.total.tolist()
    assert not any(layer.kind == "other" for layer in layers)


def test_a_stack_is_read_a_few_arrays_at_a_time() -> None:
    timeline = small_timeline()
    source = StackSource(timeline)
    first = Stacking(source, curves(timeline, CurveMode.WORST))
    assert (first.read, first.count) == (0, 2 + 5)
    assert not first.advance(3)
    assert (first.read, first.layers) == (3, ())
    assert first.advance(100)
    for tile in range(4):
        shown = curves(timeline, CurveMode.TILE, tile)
        stacking = Stacking(source, shown)
        assert stacking.advance()
        assert sum(layer.sizes for layer in stacking.layers).tolist() == shown.total.tolist()


def test_a_stack_is_the_same_with_its_scratch_on_the_disk_or_a_full_one(monkeypatch) -> None:
    timeline = big_timeline(46, 60, 80, seed=5, unavailable=1)
    every = [curves(timeline, mode, 7) for mode in CurveMode]
    wanted = [[layer.sizes.tolist() for layer in stack(timeline, shown)] for shown in every]
    monkeypatch.setattr("tileview.present.curves._SCRATCH_IN_MEMORY", 0)
    assert [[layer.sizes.tolist() for layer in stack(timeline, shown)] for shown in every] == wanted

    def full(**_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    assert [[layer.sizes.tolist() for layer in stack(timeline, shown)] for shown in every] == wanted


def test_what_a_file_does_not_explain_is_a_layer() -> None:
    timeline = small_timeline()
    shown = curves(timeline, CurveMode.WORST)
    more = replace(shown, total=shown.total + 5)
    layers = stack(timeline, more)
    assert layers[-1].kind == "other"
    assert layers[-1].sizes.tolist() == [5] * 8


def test_without_named_parameters_what_lives_throughout_is_the_base() -> None:
    timeline = replace(small_timeline(), parameters=frozenset())
    layers = stack(timeline, curves(timeline, CurveMode.WORST))
    assert layers[0].name == "live throughout"
    assert layers[0].sizes.tolist() == [64 * KIB] * 8


def test_live_spans_against_a_naive_walk() -> None:
    timeline = big_timeline(4, 50, 60, seed=3)
    naive = {root: [step.index for step in timeline.steps if root in step.live] for root in range(len(timeline.values))}
    found = {
        root: [step for start, stop in spans for step in range(start, stop)]
        for root, spans in live_spans(timeline).items()
    }
    assert found == {root: steps for root, steps in naive.items() if steps}


@given(st.integers(1, 60), st.integers(1, 40), st.data())
def test_no_step_is_lost_between_columns(steps: int, count: int, data: st.DataObject) -> None:
    first = data.draw(st.floats(0, steps - 0.01))
    last = data.draw(st.floats(first + 0.01, steps))
    where = columns(first, last, count, steps)
    seen = set()
    for start, stop in zip(where.starts.tolist(), where.stops.tolist(), strict=True):
        assert 0 <= start < stop <= steps
        seen |= set(range(start, stop))
    inside = {step for step in range(steps) if step + 1 > first + 1e-6 and step < last - 1e-6}
    assert inside <= seen


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=80), st.integers(1, 30))
def test_down_sampling_takes_the_largest(numbers: list[int], count: int) -> None:
    values = np.array(numbers, dtype=np.int64)
    where = columns(0, len(numbers), count, len(numbers))
    naive = [max(numbers[a:b]) for a, b in zip(where.starts.tolist(), where.stops.tolist(), strict=True)]
    assert column_max(values, where).tolist() == naive
    assert max(naive) == max(numbers)
    chosen = column_steps(values, where)
    assert values[chosen].tolist() == naive
    assert all(a <= step < b for a, step, b in zip(where.starts, chosen, where.stops, strict=True))
    flags = values > 500
    assert column_any(flags, where).tolist() == [
        any(flags[a:b]) for a, b in zip(where.starts, where.stops, strict=True)
    ]


def program_of(*sources: int | None):
    return make_timeline(FakeProgram(1, [Step(source=source) for source in sources], [Alloc("a", 8, 0, -1)]))


def test_steps_correspond_by_operation() -> None:
    before = program_of(1, 1, 2, 2, 2, 3)
    after = program_of(1, 1, 2, 2, 2, 2, 2, 2, 9, 3)
    assert matching_steps(after, before).tolist() == [
        [0, 1],
        [1, 2],
        [2, 3],
        [2, 3],
        [3, 4],
        [3, 4],
        [4, 5],
        [4, 5],
        [0, 0],
        [5, 6],
    ]
    assert matching_steps(before, after)[2:5].tolist() == [[2, 4], [4, 6], [6, 8]]
    assert matching_steps(before, before).tolist() == [[index, index + 1] for index in range(6)]


def test_other_programs_correspond_by_number() -> None:
    assert matching_steps(program_of(1, 2, 3, 4), program_of(7, 8, 9)).tolist() == [[0, 1], [1, 2], [2, 3], [3, 3]]


def test_baseline_values_are_the_largest_of_what_corresponds() -> None:
    values, present = matched_max(np.array([5, 9, 7]), np.array([[0, 2], [1, 1], [2, 3]]))
    assert values.tolist() == [9, 0, 7]
    assert present.tolist() == [True, False, True]
