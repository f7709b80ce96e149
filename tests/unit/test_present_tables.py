"""Sorting, filtering, numbers as text, and the allocation table that adds up to the usage."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.fake_timeline import Alloc, FakeProgram, Step, big_timeline, make_timeline, plain, small_timeline
from tests.helpers.opened import opened
from tileview.model.sizes import UNAVAILABLE, Unavailable, percent_text
from tileview.model.tensor import MemoryClass
from tileview.model.timeline import Timeline
from tileview.present.allocation_rows import (
    ALLOCATIONS,
    AllocationFigures,
    RowKind,
    allocations_footer,
    allocations_headline,
    flat_nodes,
    grouped_nodes,
)
from tileview.present.tables import (
    Tone,
    bytes_cell,
    delta_cell,
    kib_cell,
    matches,
    natural_key,
    signed_exact,
    signed_kib,
    sort_order,
)

KIB = 1024


# -- sorting and text -----------------------------------------------------------------------------------------------


def test_sorting_is_stable_and_puts_what_has_no_value_last_in_both_directions() -> None:
    values = [3, None, UNAVAILABLE, 1, 3, 2]
    assert sort_order(values) == [3, 5, 0, 4, 2, 1]
    assert sort_order(values, descending=True) == [0, 4, 5, 3, 2, 1]
    assert sort_order(values, descending=True, unknown_first=True) == [2, 0, 4, 5, 3, 1]


def test_numbers_inside_names_sort_as_numbers() -> None:
    names = ["layer 10", "layer 9", "Layer 1", "b"]
    assert [names[i] for i in sort_order(names)] == ["b", "Layer 1", "layer 9", "layer 10"]


@given(st.text())
def test_any_two_natural_keys_compare(text: str) -> None:
    assert natural_key(text) <= natural_key(text)
    assert isinstance(natural_key(text) < natural_key("a1"), bool)


@given(st.lists(st.integers(0, 2**64)))
def test_big_numbers_sort_exactly(values: list[int]) -> None:
    assert [values[i] for i in sort_order(values)] == sorted(values)


def test_a_filter_wants_every_word_somewhere() -> None:
    assert matches("mlp up", "vit.layer0.MLP.up", "group")
    assert matches("", "anything")
    assert not matches("mlp down", "vit.layer0.mlp.up", "group")


def test_percent_is_rounded_half_up_from_integers() -> None:
    assert percent_text(1, 3) == "33.3 %"
    assert percent_text(1, 2000) == "0.1 %"
    assert percent_text(1, 2001) == "0.0 %"
    assert percent_text(-1, 4, signed=True) == "−25.0 %"
    assert percent_text(1, 4, signed=True) == "+25.0 %"
    assert percent_text(5, 0) == ""
    assert percent_text(2**63, 2**64) == "50.0 %"


def test_differences_show_their_sign_and_never_round_to_nothing() -> None:
    assert signed_exact(-16) == "−16 B"
    assert signed_exact(1024) == "+1,024 B"
    assert signed_kib(0) == "0 KiB"
    assert signed_kib(-15_784) == "−15.4 KiB"
    assert signed_kib(51) == "+51 B"
    assert signed_kib(52) == "+0.1 KiB"
    assert signed_kib(UNAVAILABLE) == "unavailable"


def test_cells_of_bytes() -> None:
    assert bytes_cell(23_040).text == "23,040 B"
    assert bytes_cell(23_040).tip == "22.5 KiB"
    assert kib_cell(23_040).text == "22.5 KiB"
    assert kib_cell(23_040).tip == "23,040 B"
    assert kib_cell(UNAVAILABLE).text == "unavailable"
    assert kib_cell(UNAVAILABLE).tone is Tone.UNAVAILABLE
    assert isinstance(kib_cell(UNAVAILABLE).value, Unavailable)
    assert delta_cell(5).tone is Tone.OVER
    assert delta_cell(-5).tone is Tone.OK


# -- allocations ----------------------------------------------------------------------------------------------------


def test_rows_of_a_step_and_tile() -> None:
    # step 5 of the small timeline, tile 2: weights 64, product 64 interleaved, wide 500, result 8 KiB; no scratch
    table = AllocationFigures(small_timeline()).table(5, 2)
    assert [(plain(row.name), row.bytes) for row in table.rows] == [
        ("weights", 64 * KIB),
        ("product", 64 * KIB),
        ("wide", 500 * KIB),
        ("result", 8 * KIB),
    ]
    assert table.totals.standard == 572 * KIB
    assert table.totals.interleaved == 64 * KIB
    assert table.tile == 2
    assert not table.tile_is_worst


def test_without_a_tile_the_fullest_one_is_shown() -> None:
    table = AllocationFigures(small_timeline()).table(5)
    assert table.tile == 2
    assert table.tile_is_worst


def test_scratch_is_a_row_of_its_own() -> None:
    table = AllocationFigures(small_timeline()).table(6, 1)
    scratch = [row for row in table.rows if row.kind is RowKind.SCRATCH]
    assert [(row.bytes, row.memory_class) for row in scratch] == [(2 * KIB, MemoryClass.STANDARD)]


def test_an_allocation_that_the_tile_does_not_hold_has_no_row() -> None:
    names = [plain(row.name) for row in AllocationFigures(small_timeline()).table(1, 3).rows]
    assert names == ["weights"]


def test_unavailable_rows_say_so_and_are_in_no_sum() -> None:
    timeline = make_timeline(FakeProgram(2, [Step()], [Alloc("known", 100, 0, 0), Alloc("lost", None, 0, 0)]))
    table = AllocationFigures(timeline).table(0, 0)
    lost = next(row for row in table.rows if plain(row.name) == "lost")
    assert isinstance(lost.bytes, Unavailable)
    assert table.totals.total == 100
    assert table.totals.unavailable == 1
    assert "1 row unavailable" in allocations_footer(table)
    cell = ALLOCATIONS.cell(lost, ALLOCATIONS.place("Bytes"))
    assert cell.text == "unavailable"


def test_a_span_gathers_what_is_live_anywhere_in_it() -> None:
    # steps 0 and 1 of the small timeline: left is live at both, product from 1 on
    table = AllocationFigures(small_timeline()).table(0, None, (0, 2))
    assert [(plain(row.name), row.bytes) for row in table.rows] == [
        ("weights", 64 * KIB),
        ("left", 32 * KIB),
        ("product", 64 * KIB),
    ]
    assert table.is_span
    assert table.tile is None
    on_tile = AllocationFigures(small_timeline()).table(0, 2, (0, 2))
    assert [row.bytes for row in on_tile.rows] == [64 * KIB, 16 * KIB, 64 * KIB]


def test_a_span_has_the_largest_scratch_in_it() -> None:
    table = AllocationFigures(small_timeline()).table(3, 3, (3, 7))
    assert [row.bytes for row in table.rows if row.kind is RowKind.SCRATCH] == [4 * KIB]


def test_usage_that_a_file_cannot_account_for_is_a_row() -> None:
    timeline = small_timeline()

    class Lying:
        """Tiles that claim 7 bytes more than their allocations hold."""

        def __getattr__(self, name: str) -> object:
            return getattr(timeline.tiles, name)

        def usage(self, step: int) -> np.ndarray:
            return timeline.tiles.usage(step) + np.array([7, 0])

    table = AllocationFigures(replace(timeline, tiles=Lying())).table(5, 2)
    odd = [row for row in table.rows if row.kind is RowKind.UNEXPLAINED]
    assert [row.bytes for row in odd] == [7]
    assert table.totals.standard == 572 * KIB + 7


def test_filtering_by_name_or_group() -> None:
    figures = AllocationFigures(small_timeline())
    assert [plain(row.name) for row in figures.table(5, 2, None, "WEI").rows] == ["weights"]
    assert figures.table(5, 2, None, "nothing").rows == ()


def test_an_empty_timeline_has_an_empty_table() -> None:
    timeline = make_timeline(FakeProgram(4, [], []))
    table = AllocationFigures(timeline).table(0)
    assert table.rows == ()
    assert allocations_headline(table, timeline) == "No steps"


def _assert_adds_up(timeline: Timeline, step: int, tile: int) -> None:
    table = AllocationFigures(timeline).table(step, tile)
    assert [table.totals.standard, table.totals.interleaved] == timeline.tiles.usage(step)[tile].tolist()
    for row in table.rows:
        assert row.kind is not RowKind.UNEXPLAINED
        parts = (row.payload, row.align, row.tail)
        if isinstance(row.bytes, int) and row.kind is RowKind.ALLOCATION:
            assert all(isinstance(part, int) for part in parts)
            assert sum(parts) * row.copies == row.bytes  # type: ignore[arg-type, operator]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**31), st.data())
def test_rows_add_up_to_the_usage_of_random_timelines(seed: int, data: st.DataObject) -> None:
    timeline = big_timeline(tiles=24, steps=12, allocs=20, seed=seed)
    step = data.draw(st.integers(0, 11))
    tile = data.draw(st.integers(0, 23))
    _assert_adds_up(timeline, step, tile)


@pytest.mark.parametrize(
    "name", ["vit3-64tiles.recipe.json", "rejected-op0.timeline.json", "pair-8tiles.v3.timeline.json"]
)
def test_rows_add_up_to_the_usage_of_samples(name: str) -> None:
    timeline = opened(name).timeline
    assert timeline is not None
    for step in range(0, len(timeline.steps), 7):
        for tile in {0, timeline.tile_count // 2, timeline.tile_count - 1}:
            _assert_adds_up(timeline, step, tile)


def test_the_split_of_the_sample_s_left_operand() -> None:
    # 160 × 144 F8 = 23,040 payload, 8 B tail, two standard memory elements of 16,384 = 32,768: 9,720 alignment
    timeline = opened("rejected-op0.timeline.json").timeline
    assert timeline is not None
    row = next(row for row in AllocationFigures(timeline).table(0, 0).rows if plain(row.name) == "vit.embedding.weight")
    assert (row.payload, row.tail, row.align, row.copies, row.bytes) == (23_040, 8, 9_720, 1, 32_768)


# -- groups and sorting ---------------------------------------------------------------------------------------------


def _grouped() -> Timeline:
    allocs = [
        Alloc("layer0.w", 100, 0, 0, group="w"),
        Alloc("other", 50, 0, 0),
        Alloc("layer1.w", 200, 0, 0, group="w"),
        Alloc("layer2.w", None, 0, 0, group="w"),
    ]
    return make_timeline(FakeProgram(1, [Step()], allocs))


def test_groups_sum_their_members_and_leave_singles_alone() -> None:
    nodes = grouped_nodes(AllocationFigures(_grouped()).table(0, 0))
    assert [(plain(node.row.name), len(node.children)) for node in nodes] == [("w", 3), ("other", 0)]
    head = nodes[0].row
    assert head.bytes == 300
    assert head.note == "1 member unavailable, not in the sum"
    assert [child.row.root for child in nodes[0].children] == [0, 2, 3]


def test_sorting_reaches_into_groups() -> None:
    spec = ALLOCATIONS
    nodes = spec.sorted_nodes(
        grouped_nodes(AllocationFigures(_grouped()).table(0, 0)), ALLOCATIONS.place("Bytes"), descending=True
    )
    assert [plain(node.row.name) for node in nodes] == ["w", "other"]
    # Largest first: what has no size stands above all that has one.
    assert [plain(child.row.name) for child in nodes[0].children] == ["layer2.w", "layer1.w", "layer0.w"]
    nodes = spec.sorted_nodes(nodes, ALLOCATIONS.place("Bytes"), descending=False)
    assert [plain(node.row.name) for node in nodes] == ["other", "w"]
    assert [plain(child.row.name) for child in nodes[1].children] == ["layer0.w", "layer1.w", "layer2.w"]
    nodes = spec.sorted_nodes(nodes, ALLOCATIONS.place("Payload"), descending=True)
    assert [plain(child.row.name) for child in nodes[0].children] == ["layer1.w", "layer0.w", "layer2.w"]


def test_what_has_no_size_is_marked_in_words_and_by_a_sign() -> None:
    spec = ALLOCATIONS
    head, other = grouped_nodes(AllocationFigures(_grouped()).table(0, 0))
    lost = head.children[2].row
    name = spec.cell(lost, ALLOCATIONS.place("Allocation"))
    assert (name.text, name.value, name.bold, name.tone) == ("✗ layer2.w #3", "layer2.w #3", True, Tone.UNAVAILABLE)
    assert "Its size is unavailable: it is in no sum." in name.tip
    assert spec.cell(lost, ALLOCATIONS.place("Bytes")).text == "unavailable"
    # The group's sum leaves it out and says so.
    assert spec.cell(head.row, ALLOCATIONS.place("Allocation")).text == "✗ w (3)"
    assert spec.cell(head.row, ALLOCATIONS.place("Bytes")).text == "≥ 300 B"
    assert spec.cell(head.row, ALLOCATIONS.place("Bytes")).value == 300
    assert spec.cell(head.row, ALLOCATIONS.place("KiB")).text == "≥ 0.3 KiB"
    assert spec.cell(other.row, ALLOCATIONS.place("Allocation")).text == "other #1"
    assert spec.cell(other.row, ALLOCATIONS.place("Bytes")).text == "50 B"


def test_csv_has_exact_bytes_and_units_in_the_header() -> None:
    nodes = flat_nodes(AllocationFigures(_grouped()).table(0, 0))
    lines = ALLOCATIONS.csv(nodes).split("\r\n")
    assert lines[0].split(",")[:10] == [
        "Allocation", "Made by", "Class", "Payload (bytes)", "Align (bytes)", "Tail (bytes)", "Copies", "Bytes", "KiB",
        "Share (%)",
    ]  # fmt: skip
    assert lines[1].split(",")[:10] == [
        "layer0.w #0",
        "input",
        "standard",
        "100",
        "0",
        "0",
        "1",
        "100",
        "0.1",
        "28.571",
    ]
    assert lines[4].split(",")[7:9] == ["unavailable", "unavailable"]


def test_every_name_carries_the_number_of_its_value() -> None:
    allocs = [Alloc("same", 1, 0, 0), Alloc("same", 2, 0, 0), Alloc("lone", 3, 0, 0)]
    table = AllocationFigures(make_timeline(FakeProgram(1, [Step()], allocs))).table(0, 0)
    shown = [ALLOCATIONS.cell(row, ALLOCATIONS.place("Allocation")).text for row in table.rows]
    assert shown == ["same #0", "same #1", "lone #2"]


def test_shares_are_of_the_usage_of_the_tile() -> None:
    spec = ALLOCATIONS
    table = AllocationFigures(small_timeline()).table(1, 0)
    # tile 0 at step 1: weights 64 and left 32 KiB
    assert [spec.cell(row, ALLOCATIONS.place("Share")).text for row in table.rows] == ["66.7 %", "33.3 %"]
    assert allocations_footer(table) == "2 rows: standard 98,304 B + interleaved 0 B = 98,304 B"
