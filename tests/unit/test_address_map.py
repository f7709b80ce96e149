"""The facts of an address map: what the orders reached, where a box lies, what is live, closed and free."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path

import numpy as np
import pytest

from tileview.analysis.address_map import SEARCH, STATED, by_search, dump_map, profile_map, program_maps
from tileview.analysis.placement import program_requests
from tileview.analysis.placement_files import dump_verdict, profile_verdict
from tileview.core.memory.measurement import measure
from tileview.core.placement.events import find_events
from tileview.core.placement.ranges import CAPTURED, preset
from tileview.formats.placement import load_placement, placement_from_bytes
from tileview.formats.search_state import load_search_state
from tileview.formats.tile_dump import load_tile_dump, tile_dump_from_bytes
from tileview.model.config import PLANNED_BYTES
from tileview.model.placement import END, Memory
from tileview.model.program import Repeat
from tileview.model.timeline import Cause
from tileview.present.address_map import (
    address_csv,
    box_at,
    closed_spans,
    colouring,
    columns_of,
    entry_lines,
    free_throughout,
    hole_words,
    live_bytes,
    parts_of_ranges,
)

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "sample_data"
TILE = SAMPLES / "tile-0-5ff8df1f4e7afe02.json"
PROFILE = SAMPLES / "placement-8.json"
GOLDEN = ROOT / "tests" / "golden" / "data" / "placement"


def two_requests(**changes) -> bytes:
    """A tile with 64 open bytes: 48 that live 1 … 2, 32 that live 2 … END, so that one of them finds no place."""

    def request(root: int, size: int, first: int, last: int) -> dict:
        return {
            "auxiliary": None, "class": "Ipu21Standard", "region1_stride": None, "bytes": size, "alignment": 8,
            "lifetime": {"first": first, "last": last, "seen": True}, "assignments": [[root, 0]], "conflicts": [],
        }  # fmt: skip

    return json.dumps(
        {
            "version": 1, "tile": 3, "placed": False, "ranges": [[524_288, 524_352]],
            "requests": [request(7, 48, 1, 2), request(9, 32, 2, END)],
            "assigned_root_spans": {"7": [524_288, 524_336]},
            **changes,
        }
    ).encode()  # fmt: skip


def test_the_orders_of_the_sample_reach_what_the_golden_problem_says():
    tile = dump_map(load_tile_dump(TILE))
    by_title = {one.title: one for one in tile.attempts}
    assert list(by_title) == [STATED, "Order 1", "Order 2", "End first"]
    assert [by_title[one].count for one in ("Order 1", "Order 2", "End first")] == [97, 55, 19]
    order2 = by_title["Order 2"]
    # So400m with 21 = 3 in 498,872 B: 82,944 B find no hole, the largest is 72,360 B up to the end of the data.
    assert order2.hole == (0xD6108, 0xE7BB0)
    assert tile.entries[order2.failed].bytes == 82_944
    assert order2.free_bytes == 134_568
    assert tile.memory.bytes == 498_872


def test_stated_places_are_those_of_the_file():
    dump = load_tile_dump(TILE)
    tile = dump_map(dump)
    stated = tile.attempt(STATED)
    for at, request in enumerate(dump.problem.requests):
        span = dump.spans.get(request.roots[0]) if request.roots else None
        assert (stated.starts[at], stated.ends[at]) == ((-1, -1) if span is None else span)


@pytest.mark.parametrize("name", sorted(path.name for path in GOLDEN.glob("hand.json*")))
def test_attempts_hold_the_golden_addresses(name):
    raw = (GOLDEN / name).read_bytes()
    problems = json.loads(gzip.decompress(raw) if name.endswith(".gz") else raw)["problems"]
    for problem in problems:
        document = {"version": 1, "tile": problem["tile"], "placed": False, "ranges": problem["ranges"],
                    "interleaved_offset": problem["interleaved_offset"], "requests": problem["requests"]}  # fmt: skip
        tile = dump_map(tile_dump_from_bytes(json.dumps(document).encode(), "tile-0-0.json"))
        for title, key in (("Order 1", "order1"), ("Order 2", "order2"), ("End first", "end_first")):
            expected = problem["expected"][key]
            wanted = [-1 if start is None else start for start in expected["addresses"]]
            attempt = tile.attempt(title)
            assert attempt.starts.tolist() == wanted, (problem["name"], title)
            assert attempt.failed == expected.get("failed"), (problem["name"], title)
            if attempt.failed is not None:
                hole = attempt.hole or (0, 0)
                assert hole[1] - hole[0] == expected["largest_hole"], (problem["name"], title)


def test_the_search_is_an_attempt_of_its_own():
    tile = dump_map(tile_dump_from_bytes(two_requests(ranges=[[524_288, 524_368]])))
    found = by_search(tile)
    assert found.title == SEARCH
    assert found.count == 2
    over = by_search(dump_map(tile_dump_from_bytes(two_requests())))
    assert over.count == 0
    assert "over by 16 B whatever the order" in over.text
    with pytest.raises(ValueError, match="finished placement"):
        by_search(profile_map(load_placement(PROFILE), 0))


def test_boxes_columns_and_live_bytes():
    tile = dump_map(tile_dump_from_bytes(two_requests()))
    assert tile.events == 2
    assert columns_of(tile).tolist() == [[1, 3], [2, 4]]
    assert live_bytes(tile).tolist() == [0, 48, 80, 32]
    order1 = tile.attempt("Order 1")
    assert order1.starts.tolist() == [524_288, -1]
    assert box_at(tile, order1, 1, 524_300) == 0
    assert box_at(tile, order1, 3, 524_300) is None
    assert box_at(tile, order1, 1, 524_340) is None
    assert order1.failed == 1
    assert order1.hole == (524_336, 524_352)
    assert free_throughout(tile, order1) == ((524_336, 524_352),)
    assert closed_spans(tile, 524_000, 525_000) == ((524_000, 524_288), (524_352, 525_000))
    assert parts_of_ranges(tile) == (("region 1", (524_288, 524_352)),)
    assert hole_words(tile, order1) == (
        "largest hole: 16 B, 0x80030 to 0x80040",
        "root 9 needs 32 B in one piece: 16 B too large",
    )
    assert entry_lines(tile, order1, 1)[:2] == ["root 9", "32 B, no address"]


def test_live_bytes_are_the_sum_over_the_lives_of_a_brute_count():
    tile = dump_map(load_tile_dump(TILE))
    requests = load_tile_dump(TILE).problem.requests
    for column in range(tile.events + 2):
        event = END if column == tile.events + 1 else column
        live = sum(one.bytes for one in requests if one.first <= event <= one.last)
        assert live_bytes(tile)[column] == live
    assert int(live_bytes(tile).max()) == 486_400


def test_the_table_has_a_row_an_entry_and_placement():
    tile = dump_map(tile_dump_from_bytes(two_requests()))
    rows = list(csv.DictReader(io.StringIO(address_csv(tile))))
    assert [(row["placement"], row["name"], row["state"], row["start"]) for row in rows[:4]] == [
        (STATED, "root 7", "placed", "0x80000"),
        (STATED, "root 9", "not reached", ""),
        ("Order 1", "root 7", "placed", "0x80000"),
        ("Order 1", "root 9", "no place", ""),
    ]
    assert rows[3]["last"] == "END"


def test_events_of_a_program_name_the_steps_that_touch_them():
    recipe = load_search_state(SAMPLES / "vit3-64tiles.recipe.json").recipe
    requests = program_requests(recipe)
    events = find_events(requests.program)
    flat = requests.program.flatten()
    assert len(events.steps) == events.last == requests.events
    seen = set(events.steps)
    assert seen == set(range(len(flat)))
    for index, entry in enumerate(flat):
        count = events.steps.count(index)
        assert count >= 2 if isinstance(entry.step, Repeat) else count >= 1
    maps = program_maps(requests)
    tile = maps.tile(5, Memory(preset(CAPTURED, recipe.config.reserve_bytes).ranges))
    for entry in tile.entries:
        if entry.kind == "scratch":  # works only while its step does
            steps = {tile.step_of(event) for event in range(entry.first, entry.last + 1)}
            assert len(steps) == 1
            assert flat[steps.pop()].step.source == entry.operation
    timeline = measure(requests.program, PLANNED_BYTES, 0)
    for entry in tile.entries:
        if len(entry.roots) == 1:
            assert entry.operation == timeline.maker(entry.roots[0])
    shown = colouring(tile)
    assert len(shown.of) == len(tile.entries)
    assert all(shown.groups[group].kind == "parameters" for group in shown.of[[e.is_resident for e in tile.entries]])


def test_a_finished_placement_is_drawn_as_it_stands_and_linked_by_name():
    profile = load_placement(PROFILE)
    tile = profile_map(profile, 0)
    raw = json.loads(PROFILE.read_text())
    listed = raw["tiles"][0]["allocations"]
    attempt = tile.attempts[0]
    assert attempt.starts.tolist() == [one["start"] for one in listed]
    assert attempt.payload_ends.tolist() == [one["payload_end"] for one in listed]
    assert [one.kind for one in tile.entries] == [one["kind"] for one in listed]
    recipe = load_search_state(SAMPLES / "pair-8tiles.recipe.json").recipe
    timeline = measure(program_requests(recipe).program, PLANNED_BYTES, 0)
    linked = profile_map(profile, 0, timeline)
    by_name = {entry.name: entry.roots for entry in linked.entries if entry.roots}
    for name, roots in by_name.items():
        assert {timeline.values[root].name for root in roots} == {name}
    assert all(not entry.roots for entry in linked.entries if entry.kind in ("support", "padding"))


def test_values_of_a_finished_placement_are_linked_by_number_and_origin():
    recipe = load_search_state(SAMPLES / "pair-8tiles.recipe.json").recipe
    timeline = measure(program_requests(recipe).program, PLANNED_BYTES, 0)
    value = next(one for one in timeline.values if one.origin is not None)
    number = timeline.values.index(value)
    labels = [
        f"value {number} · origin {value.origin}\nF16 [8]",
        f"value 99999 · origin {value.origin}\nF16 [8]",
        "gone",
    ]
    entry = {"start": 524_288, "end": 524_296, "payload_end": 524_296, "kind": "activation", "shards": [1]}
    document = {
        "schema_version": 1, "start": 311_296, "end": 950_272, "labels": labels,
        "tiles": [{"logical": 0, "physical": 0, "allocations": [
            {**entry, "label": label, "first": label, "last": label} for label in range(3)
        ]}],
    }  # fmt: skip
    tile = profile_map(placement_from_bytes(json.dumps(document).encode()), 0, timeline)
    among = {one.root for one in timeline.values if one.origin == value.origin}
    assert tile.entries[0].roots == (value.root,)
    assert set(tile.entries[1].roots) == among
    assert tile.entries[2].roots == ()


def test_verdicts_say_no_more_than_is_known():
    over, _ = dump_verdict(tile_dump_from_bytes(two_requests()))
    assert (over.fits, over.cause, over.short_bytes, over.words) == (False, Cause.NOT_PLACED, 16, "over")
    sample, problems = dump_verdict(load_tile_dump(TILE))
    assert (sample.fits, sample.words, sample.short_bytes) == (None, "not placed", 82_944 - 72_360)
    assert '"tile 0 has insufficient Ipu21Standard SRAM for 82944 bytes"' in sample.text
    assert problems == ()
    placed, stated = dump_verdict(tile_dump_from_bytes(two_requests(ranges=[[524_288, 524_400]])))
    assert (placed.fits, placed.words) == (True, "placed")
    assert [problem.place for problem in stated] == ["placed", "assigned_root_spans"]
    assert profile_verdict(load_placement(PROFILE)).words == "placed"


def test_padding_and_support_are_not_live_tensors():
    tile = profile_map(load_placement(PROFILE), 0)
    tensors = [entry for entry in tile.entries if entry.kind not in ("support", "padding")]
    assert int(np.max(live_bytes(tile))) == sum(entry.bytes for entry in tensors)
