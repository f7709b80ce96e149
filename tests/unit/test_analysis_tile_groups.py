"""Groups of identical tiles."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.fake_timeline import Alloc, FakeProgram, Step, make_timeline
from tileview.analysis.tile_groups import GroupScan, TileGroup, group_parts, groups_at, parts_sentence, tiles_text


def make_chip():
    """1472 tiles: one holds more at step 1, 63 at step 0."""
    first, second = np.full(1472, 640), np.full(1472, 128)
    first[1408:1471] = 64
    second[1471] = 4096
    return make_timeline(
        FakeProgram(1472, [Step(), Step()], [Alloc("a", first.tolist(), 0, 0), Alloc("b", second.tolist(), 1, 1)])
    )


def test_groups_of_a_step_are_its_own() -> None:
    timeline = make_chip()
    assert [len(group) for group in groups_at(timeline, 0)] == [1409, 63]
    assert [len(group) for group in groups_at(timeline, 1)] == [1471, 1]
    assert groups_at(timeline, 1)[1].tiles == (1471,)


def test_groups_over_all_steps_split_by_each() -> None:
    scan = GroupScan(make_chip())
    assert not scan.done
    assert not scan.advance(1)
    assert [len(group) for group in scan.groups()] == [1409, 63]
    assert scan.advance(1)
    groups = scan.groups()
    assert [len(group) for group in groups] == [1408, 63, 1]
    assert parts_sentence(group_parts(groups)) == "1,408 identical tiles, 63 identical, 1 unique"


def test_sentences() -> None:
    def groups(*sizes: int) -> list[TileGroup]:
        return [TileGroup(tuple(range(size))) for size in sizes]

    assert parts_sentence(group_parts(groups(64))) == "64 identical tiles"
    assert parts_sentence(group_parts(groups(1))) == "1 unique tile"
    assert parts_sentence(group_parts(groups(1, 1, 1))) == "3 unique tiles"
    assert parts_sentence(group_parts([])) == "no tiles"
    assert (
        parts_sentence(group_parts(groups(9, 8, 7, 6, 5, 4, 1)))
        == "9 identical tiles, 8 identical, 7 identical, 6 identical, 9 in 2 smaller groups, 1 unique"
    )


@settings(max_examples=60)
@given(st.data())
def test_groups_are_those_of_a_naive_comparison(data: st.DataObject) -> None:
    tiles, steps = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 5))
    number = st.integers(0, 2)
    allocs = [
        Alloc(
            f"v{index}",
            data.draw(st.lists(number, min_size=tiles, max_size=tiles)),
            index,
            index,
            interleaved=bool(index % 2),
        )
        for index in range(steps)
    ]
    timeline = make_timeline(FakeProgram(tiles, [Step()] * steps, allocs))
    scan = GroupScan(timeline)
    scan.advance(steps)
    naive: dict[tuple[object, ...], list[int]] = {}
    for tile in range(tiles):
        key = tuple(tuple(timeline.tiles.usage(step)[tile].tolist()) for step in range(steps))
        naive.setdefault(key, []).append(tile)
    assert {group.tiles for group in scan.groups()} == {tuple(found) for found in naive.values()}
    sizes = [len(group) for group in scan.groups()]
    assert sizes == sorted(sizes, reverse=True)


def test_no_steps_and_no_tiles_end_at_once() -> None:
    assert GroupScan(make_timeline(FakeProgram(4, [], []))).done
    scan = GroupScan(make_timeline(FakeProgram(4, [], [])))
    assert [group.tiles for group in scan.groups()] == [(0, 1, 2, 3)]


def test_the_sentence_in_parts_that_can_be_chosen() -> None:
    groups = (TileGroup((0, 1, 2, 5)), TileGroup((3, 4)), TileGroup((6,)), TileGroup((7,)))
    parts = group_parts(groups)
    assert [(part.text, part.tiles) for part in parts] == [
        ("4 identical tiles", (0, 1, 2, 5)),
        ("2 identical", (3, 4)),
        ("2 unique", (6, 7)),
    ]
    assert ", ".join(part.text for part in parts) == parts_sentence(parts)
    assert parts[0].members == "tiles 0 … 2, 5"
    assert group_parts(()) == ()


def test_many_ranges_are_counted() -> None:
    assert tiles_text(range(0, 20, 2), 3) == "tiles 0, 2, 4 and 7 more ranges"
    assert tiles_text((4, 5, 9), 1) == "tiles 4 … 5 and 1 more range"
