"""Rules of placement that the golden problems do not force, each worked out by hand in a comment."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.placements import LOW, B, interleaved, standard
from tests.helpers.small_programs import kernel, program, value
from tileview.core.placement.events import find_events
from tileview.core.placement.fit import places, spell_out
from tileview.core.placement.orders import OrderRun, PlacementOrder, run_order
from tileview.core.placement.outcome import Answer, first_failing, smallest_enlargement, solve, try_orders
from tileview.core.placement.proofs import prove
from tileview.core.placement.ranges import (
    RangeError,
    checked,
    elements_of,
    enlargements,
    from_parts,
    open_ranges,
    parse_ranges,
    presets,
)
from tileview.core.placement.requests import build_requests
from tileview.core.placement.search import search_placement
from tileview.errors import PlanError
from tileview.model.owners import Owners
from tileview.model.placement import END, Memory, ProfileTile, Ranges, Request
from tileview.model.plan import Staging, StagingKind
from tileview.model.program import IDENTITY, Copy, Mapping, Product, Repeat, Sum, Value
from tileview.model.tensor import F16, F32, LEFT, ROW_MAJOR, Axis, AxisBase, Layout, MemoryClass, Padding, Tiling


def run(order: PlacementOrder, ranges: Ranges, *requests: Request, offset: int = 0) -> OrderRun:
    memory = Memory(ranges, offset)
    return run_order(spell_out(requests, memory), memory, order)


# -- fitting --------------------------------------------------------------------------------------------------------


def test_the_page_s_own_checks():
    # the smaller request is second by size, and its alignment lets it lie lower
    wide = ((393_224, 397_312),)
    small, large = standard(16, 1, 2, 2), standard(64, 1, 2, 1, align=32)
    assert run(PlacementOrder.FIRST_USE, wide, large, small).starts == (393_248, 393_224)
    # two that conflict keep an element apart, though they never live together
    apart = (standard(64, 1, 2, 1, conflicts=(2,)), standard(64, 5, 9, 2))
    assert run(PlacementOrder.FIRST_USE, ((393_472, 458_752),), *apart).starts == (393_472, 409_600)
    assert run(PlacementOrder.SIZE, ((393_472, 458_752),), *apart).starts == (409_600, 393_472)
    # in region 1 the interleaved request comes last by first use, first by size
    three = (standard(32, 0, 1, 1), standard(32, 0, 3, 2), interleaved(96, 2, 3, 3))
    first = run(PlacementOrder.FIRST_USE, ((B, B + 128),), *three)
    assert (first.failed, first.hole, first.free_bytes) == (2, 64, 96)
    assert run(PlacementOrder.SIZE, ((B, B + 128),), *three).starts == (B, B + 96, B)


@pytest.mark.parametrize("side", [0, 1])
def test_one_side_is_enough_for_a_conflict(side: int):
    listed = [(2,), ()] if side == 0 else [(), (1,)]
    found = run(
        PlacementOrder.FIRST_USE,
        ((LOW, LOW + 65_536),),
        standard(64, 1, 1, 1, conflicts=listed[0]),
        standard(64, 1, 1, 2, conflicts=listed[1]),
    )
    assert found.starts == (LOW, LOW + 16_384)


def test_a_root_that_nobody_holds_and_a_request_s_own_mean_nothing():
    memory = Memory(((LOW, LOW + 65_536),))
    asked = spell_out((standard(64, 1, 1, 1, conflicts=(1, 99)), standard(64, 1, 1, 2)), memory)
    assert asked.conflicts == [(), ()]


def test_a_start_is_aligned_again_behind_what_is_forbidden_though_the_lives_never_meet():
    # elements of region 0 end at multiples of 16,384; with an alignment of 65,536 the next start lies further up
    low = 393_216  # 6 · 65,536
    found = run(
        PlacementOrder.FIRST_USE,
        ((low, low + 131_072),),
        standard(64, 1, 1, 1, conflicts=(2,)),
        standard(64, 5, 6, 2, align=65_536),
    )
    assert found.starts == (low, low + 65_536)


def test_ranges_that_touch_stay_apart_until_something_is_given_back():
    halves = ((LOW, LOW + 64), (LOW + 64, LOW + 128))
    over_both = standard(128, 5, 6, 2)
    assert run(PlacementOrder.FIRST_USE, halves, standard(8, 5, 6, 1), over_both).failed == 1
    # the first request dies before the second begins: what it gives back is merged with all that touches
    assert run(PlacementOrder.FIRST_USE, halves, standard(8, 1, 2, 1), over_both).starts == (LOW, LOW)
    # by size, pieces that touch always stay apart
    assert run(PlacementOrder.SIZE, halves, over_both).failed == 0


def test_nothing_at_all_needs_a_free_range_and_cuts_it_until_something_is_given_back():
    ranges = ((LOW, LOW + 64),)
    nothing = Request(MemoryClass.STANDARD, 0, 8, 1, 9, ((1, 0),))
    # order 2 takes the 32 bytes first; 0 bytes then go to the lowest start of what is left
    assert run(PlacementOrder.SIZE, ranges, standard(32, 1, 9, 2), nothing).starts == (LOW, LOW + 32)
    # a full range has no place for it
    assert run(PlacementOrder.SIZE, ranges, standard(64, 1, 9, 2), nothing).failed == 1
    # order 1 takes the 16 bytes first; the cut behind them heals when they are given back, before event 5
    found = run(PlacementOrder.FIRST_USE, ranges, standard(16, 1, 2, 2), nothing, standard(64, 5, 6, 3))
    assert found.starts == (LOW, LOW + 16, LOW)
    # given back itself, it leaves nothing behind that would cut
    short = Request(MemoryClass.STANDARD, 0, 8, 1, 2, ((1, 0),))
    assert run(PlacementOrder.FIRST_USE, ranges, standard(16, 1, 2, 2), short, standard(64, 5, 6, 3)).starts[2] == LOW
    # by size, an empty span that lives with a request cuts its memory in two
    first = standard(16, 1, 9, 2, align=32)
    assert run(PlacementOrder.SIZE, ranges, first, nothing, standard(8, 1, 9, 4)).starts == (LOW, LOW + 24, LOW + 16)


def test_an_alignment_of_0_counts_as_1():
    assert run(PlacementOrder.FIRST_USE, ((LOW + 3, LOW + 64),), standard(8, 1, 1, 1, align=0)).starts == (LOW + 3,)


def test_the_window_is_closed_to_what_lives_before_or_after_the_run():
    window = (327_680, 360_448)
    ranges = (window, (LOW, LOW + 64))
    assert run(PlacementOrder.FIRST_USE, ranges, standard(64, 1, 5, 1)).starts == (327_680,)
    assert run(PlacementOrder.FIRST_USE, ranges, standard(64, 0, 5, 1)).starts == (LOW,)
    assert run(PlacementOrder.FIRST_USE, ranges, standard(64, 1, END, 1)).starts == (LOW,)


def test_members_of_a_strided_request_take_whole_elements_in_region_1_only():
    memory = Memory(((LOW, LOW + 65_536), (B, B + 131_072)))
    pair = Request(MemoryClass.STANDARD, 200, 8, 1, 2, ((1, 0), (2, 100)), (), 32_768)
    asked = spell_out((pair,), memory)
    assert places(asked, 0, memory.ranges, memory) == [
        (LOW, LOW + 65_536 - 16_384, 200, 16_384),
        (B, B + 65_536, 65_536, 32_768),
    ]
    assert prove(asked, memory).all.peak == 200


# -- proofs ---------------------------------------------------------------------------------------------------------


def test_interleaved_bytes_are_held_against_what_lies_behind_the_offset():
    requests = (interleaved(60, 1, 2, 1), interleaved(60, 2, 3, 2))
    memory = Memory(((LOW, LOW + 4_096), (B, B + 128)), 32)
    found = prove(spell_out(requests, memory), memory)
    # 120 bytes at event 2; of 128 bytes behind the boundary 32 lie before the offset
    assert (found.interleaved.peak, found.interleaved.event, found.interleaved.capacity) == (120, 2, 96)
    assert found.over == 24
    assert solve(spell_out(requests, memory), memory).answer is Answer.OVER


def test_a_search_begins_only_where_the_bytes_prove_nothing():
    memory = Memory(((LOW, LOW + 64),))
    found = search_placement(spell_out((standard(40, 1, 2, 1), standard(40, 2, 3, 2)), memory), memory)
    assert (found.placed, found.nodes, found.excess) == (False, 0, 16)


def test_a_search_can_be_ended():
    memory = Memory(((LOW, LOW + 64),))
    found = search_placement(spell_out((standard(40, 1, 2, 1),), memory), memory, lambda: True)
    assert (found.placed, found.ended) == (False, True)


# -- ranges ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ranges", "word"),
    [
        (((LOW, LOW),), "empty"),
        (((LOW + 64, LOW),), "empty"),
        (((LOW, LOW + 64), (LOW + 32, LOW + 96)), "before the one in front"),
        (((LOW, 949_169),), "above 949,168"),
        (((362_204, LOW),), "below 362,208"),
        (((327_680, 360_444),), "below 362,208"),
    ],
)
def test_ranges_that_the_compiler_refuses(ranges: Ranges, word: str):
    with pytest.raises(RangeError, match=word) as caught:
        checked(ranges)
    assert "tile 0 has insufficient Ipu21Standard SRAM for 0 bytes" in str(caught.value)


def test_ranges_that_the_compiler_takes():
    touching = ((327_680, 360_448), (362_208, LOW), (LOW, 949_168))
    assert checked(touching) == touching


def test_typed_ranges():
    assert parse_ranges("0x50000-0x58000, 491520-949168") == ((327_680, 360_448), (491_520, 949_168))
    for text in ("", "491520", "a-b", "1-2-3", "491520-949168,"):
        with pytest.raises(RangeError):
            parse_ranges(text)


def test_descriptors_and_elements_make_the_captured_presets():
    found = {each.name: each for each in presets(49_152)}
    assert {name: each.bytes for name, each in found.items()} == {
        "planner": 537_808,
        "captured-482496": 482_496,
        "captured-498872": 498_872,
        "notes-513920": 513_920,
    }
    assert from_parts(6_168, 7) == found["captured-498872"].ranges
    assert from_parts(6_168, 7, window=False) == found["captured-498872"].ranges[1:]
    assert from_parts(100, 0) == ((327_680, 360_448), (362_308, 949_168))
    with pytest.raises(RangeError):
        from_parts(14_624, 7)


def test_steps_of_an_enlargement():
    # 10,000 bytes lie between the ranges: the third step is cut short and merges them
    ranges = ((362_208, 400_000), (410_000, 500_000), (600_000, 700_000))
    assert list(enlargements(ranges)) == [
        (0, ranges),
        (4_096, ((362_208, 400_000), (405_904, 500_000), (600_000, 700_000))),
        (8_192, ((362_208, 400_000), (401_808, 500_000), (600_000, 700_000))),
        (12_288, ((362_208, 500_000), (600_000, 700_000))),
    ]
    assert list(enlargements(((362_208, 376_831),))) == [(0, ((362_208, 376_831),))]
    assert [more for more, _ in enlargements(((376_832, 400_000),))] == [0, 4_096, 8_192, 12_288, 16_384]
    assert [elements_of(more) for more in (0, 4_096, 16_384, 53_248)] == [0, 1, 1, 4]


def test_an_enlargement_that_does_not_exist():
    # 440,000 bytes in one piece: region 1 has 424,880, and nothing crosses its boundary
    layout = Layout(ROW_MAJOR, Tiling(1, 1, ()))
    values = [value(number, (220_000,), layout) for number in range(2)]
    requests = build_requests(program(values, [kernel(0, to=1)], outputs=(1,), host=(0,)))
    memory = Memory(((500_000, 949_168),))
    assert first_failing(requests, memory) == 0
    assert smallest_enlargement(requests, memory) is None


def test_what_a_profile_leaves_open():
    rows = [
        # start, payload_end, end, first, last, label, kind
        (327_680, 360_448, 360_448, 0, 0, 0, "support"),
        (327_680, 360_448, 360_448, END, END, 0, "support"),
        (360_448, 362_208, 362_208, 0, END, 1, "support"),
        (362_208, 368_376, 368_376, 0, END, 2, "support"),
        (376_832, 491_520, 491_520, 0, END, 3, "support"),
        (500_000, 500_400, 500_400, 0, END, 4, "support"),
        (600_000, 600_400, 600_400, 0, END, 1, "parameter"),
        (949_168, 949_168, 950_272, 0, END, 1, "padding"),
    ]
    labels = (
        "host exchange aperture",
        "runtime state",
        "host descriptors",
        "generated tile programs",
        "cycle profile samples",
        "Per-tile image data / host descriptors",
    )
    numbers = np.array([row[:6] for row in rows])
    kinds = tuple(row[6] for row in rows)
    none = np.zeros(0, np.int64)
    tile = ProfileTile(0, 0, numbers[:, :3], numbers[:, 3:5], numbers[:, 5], kinds, none, np.zeros(8, np.int64))
    assert open_ranges(tile, labels) == ((327_680, 360_448), (368_376, 376_832), (491_520, 949_168))
    numbers, kinds, ends = numbers[2:], kinds[2:], np.zeros(6, np.int64)
    closed = ProfileTile(0, 0, numbers[:, :3], numbers[:, 3:5], numbers[:, 5], kinds, none, ends)
    assert open_ranges(closed, labels)[0] == (368_376, 376_832)


# -- requests of a program ------------------------------------------------------------------------------------------


def split(partitions: int, replicas: int = 1, order: object = ROW_MAJOR) -> Layout:
    axes = (Axis(AxisBase.END, 1, partitions, padding=Padding.REJECT),)
    return Layout(order, Tiling(partitions * replicas, replicas, axes))  # type: ignore[arg-type]


def lives(events: object) -> list[tuple[str, int, int]]:
    return [(work.what, work.first, work.last) for work in events.working]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("contributors", "staging", "result", "working"),
    [
        # r = 3 at once: k = 1 stage, 4 events; the input is read at 1 … 2, the result made at 4
        (4, Staging(StagingKind.COMPLETE), 4, [("received parts", 1, 3), ("own part", 2, 3), ("accumulator", 3, 4)]),
        # r = 3 in batches of 2: k = 2 stages, 6 events; k even moves the ends of own part and accumulator
        (4, Staging(StagingKind.BATCHED, 2), 6, [("received parts", 1, 5), ("own part", 2, 6), ("accumulator", 3, 5)]),
        # r = 3 one by one: k = 3 stages, 8 events
        (4, Staging(StagingKind.STREAMED), 8, [("received parts", 1, 7), ("own part", 2, 7), ("accumulator", 3, 8)]),
        # r = 4 one by one: k = 4 stages, 10 events
        (5, Staging(StagingKind.STREAMED), 10, [("received parts", 1, 9), ("own part", 2, 10), ("accumulator", 3, 9)]),
        (1, Staging(StagingKind.COMPLETE), 1, []),
    ],
)
def test_events_of_a_sum(contributors: int, staging: Staging, result: int, working: list[tuple[str, int, int]]):
    values = [value(0, (contributors, 8)), value(1, (8,))]
    events = find_events(program(values, [Sum(None, (0,), (1,), 0, staging)], outputs=(1,), host=(0,)))
    assert events.last == result
    assert events.lives[1] == (result, END)
    assert events.lives[0] == (0, max(result - 2, 1))
    assert lives(events) == working


def test_a_copy_that_packs_takes_two_events():
    left = Layout(LEFT, Tiling(1, 1, (Axis(AxisBase.END, 2, 1, block_size=16, padding_multiple=16),)))
    values = [value(0, (16, 16)), value(1, (16, 16), left), value(2, (16, 16), left)]
    steps = [Copy(None, (0,), (1,)), kernel(1, to=2)]
    events = find_events(program(values, steps, outputs=(2,), host=(0,)))
    assert (events.last, events.lives) == (3, {0: (0, 1), 1: (2, 3), 2: (3, END)})
    assert lives(events) == [("packing", 1, 2)]
    requests = build_requests(program(values, steps, outputs=(2,), host=(0,)))
    assert [(t.what, t.alignment, t.first, t.last) for t in requests.templates[3:]] == [("packing", 8, 1, 2)]


def test_a_repeat_touches_all_it_has_before_and_after_its_body():
    # 0 carried, 1 and 2 a sequence; body: 3 = argument of 0, 4 = argument of the sequence, 5 = the yield; 6 the result
    values = [value(number) for number in range(7)]
    body = (kernel(3, 4, to=5),)
    repeat = Repeat(None, 2, (0,), (6,), 1, ((1, 2),), (3, 4), body, (5,))
    made = program(values, [repeat], outputs=(6,), host=(0,), parameters=(1, 2))
    events = find_events(made)
    assert events.last == 3
    assert events.lives == {
        0: (0, 3), 1: (0, END), 2: (0, END), 3: (1, 3), 4: (1, 3), 5: (1, 3), 6: (1, END),
    }  # fmt: skip
    requests = build_requests(made)
    # the sequence is one request; the argument shares memory with its first member, the yield with the carried input
    assert [(t.roots, t.first, t.last, t.alignment) for t in requests.templates] == [
        ((1, 2), 0, END, 8),
        ((0,), 0, END, 8),
    ]
    assert requests.sizes[:, 0].tolist() == [32, 16]


def test_what_no_step_but_a_repeat_touches_is_aligned_to_4():
    values = [value(number) for number in range(4)]
    repeat = Repeat(None, 2, (0,), (2,), 1, (), (1,), (), (1,))
    requests = build_requests(program(values, [repeat], outputs=(2,), host=(0, 3)))
    assert [(t.roots, t.alignment) for t in requests.templates] == [((0,), 4), ((3,), 4)]


def test_sequences_that_share_only_some_members_are_refused():
    values = [value(number) for number in range(6)]

    def repeat(*sequences: tuple[int, ...]) -> Repeat:
        return Repeat(None, 2, (), (), 0, sequences, tuple(range(4, 4 + len(sequences))), (), ())

    same = program(values, [repeat((0, 1), (1, 0))], parameters=(0, 1, 2))
    assert build_requests(same).templates[0].roots == (0, 1)
    with pytest.raises(PlanError, match="repeat iterated placement constraints overlap incompatibly"):
        build_requests(program(values, [repeat((0, 1), (1, 2))], parameters=(0, 1, 2)))


def test_a_product_s_first_input_and_result_conflict_and_the_input_has_a_tail():
    values = [value(number) for number in range(3)]
    made = program(values, [Product(None, (0, 1), (2,), F16, F32)], outputs=(2,), host=(0, 1))
    requests = build_requests(made)
    found = requests.requests(requests.classes[0])
    assert [(r.roots, r.bytes, r.alignment, r.conflicts) for r in found] == [
        ((0,), 32, 32, (2,)),
        ((1,), 16, 32, ()),
        ((2,), 16, 32, (0,)),
    ]


MULTICAST = split(4), Layout(ROW_MAJOR, Tiling(4, 4, ()))


def conflicts_of(source: Value, result: Value, mapping: Mapping = IDENTITY) -> list[int]:
    """The tiles on which a copy's source and result conflict."""
    made = program([source, result], [Copy(None, (0,), (1,), mapping)], outputs=(1,), host=(0,))
    requests = build_requests(made)
    assert not build_requests(made, multicast=False).conflicts
    return sorted(
        tile for each in requests.classes for tile in each.tiles if any(r.conflicts for r in requests.requests(each))
    )


def test_a_tile_that_receives_its_own_multicast_states_a_conflict():
    source, everywhere = MULTICAST
    assert conflicts_of(value(0, (8,), source), value(1, (8,), everywhere)) == [0, 1, 2, 3]


def test_each_condition_of_a_multicast_conflict():
    source, everywhere = MULTICAST
    plain = value(0, (8,), source)
    inter = Layout(ROW_MAJOR, source.tiling, MemoryClass.INTERLEAVED)
    assert conflicts_of(value(0, (8,), inter), value(1, (8,), everywhere)) == []  # the source is interleaved
    assert conflicts_of(value(0, (8,), split(2, 2)), value(1, (8,), everywhere)) == []  # has replicas itself
    assert conflicts_of(plain, value(1, (8,), split(2, 2))) == []  # the result has fewer than three
    linear = Layout(ROW_MAJOR, Tiling(4, 1, (Axis(AxisBase.LINEAR, 0, 4, block_size=2),)))
    assert conflicts_of(plain, value(1, (8,), linear)) == []  # the result is linear
    spread = Layout(ROW_MAJOR, Tiling(4, 1, (Axis(AxisBase.LINEAR, 0, 4, block_size=2),)))
    assert conflicts_of(value(0, (8,), spread), value(1, (8,), everywhere)) == [0, 1, 2, 3]  # a linear source
    # the result is a slice: elements 4 … 7, which tiles 2 and 3 hold of the source
    assert conflicts_of(plain, value(1, (4,), everywhere), Mapping((4,))) == [2, 3]
    # with another owner map the source's parts lie elsewhere: tile 0 holds part 3
    assert conflicts_of(value(0, (8,), source, owners=Owners(1)), value(1, (4,), everywhere), Mapping((4,))) == [0, 3]
    # tiles without a shard of both
    three = Layout(ROW_MAJOR, Tiling(3, 3, ()))
    assert conflicts_of(plain, value(1, (8,), three)) == [0, 1, 2]


def test_tiles_with_equal_requests_form_a_class():
    made = program([value(0, (6,), split(3)), value(1, (6,), split(3))], [kernel(0, to=1)], outputs=(1,), host=(0,))
    requests = build_requests(made)
    assert [(each.tiles, each.bytes) for each in requests.classes] == [((0, 1, 2), (4, 4)), ((3,), ())]
    assert try_orders(requests.asked(requests.classes[1], Memory(((LOW, B),))), Memory(((LOW, B),))).placed
    assert requests.class_of(2) is requests.classes[0]
