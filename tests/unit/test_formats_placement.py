"""Tile dumps and placement profiles: every field read, every golden fault named where it is, one at a time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.placements import dump_file, golden_json
from tileview.analysis.placement_files import (
    profile_facts,
    spans_of,
    stated_against_derived,
    study_tile,
)
from tileview.errors import LoadError
from tileview.formats.opening import open_dump, open_file
from tileview.formats.placement import load_placement, overlapping, placement_from_bytes, profile_problems
from tileview.formats.sniff import DumpKind, sniff
from tileview.formats.tile_dump import load_tile_dump, tile_dump_from_bytes
from tileview.model.placement import END, PlacementProfile, TileDump
from tileview.model.tensor import MemoryClass

MANIFEST = golden_json("dumps/manifest.json")
Json = dict[str, Any]

SMALL: Json = {
    "version": 1, "tile": 5, "placed": True, "ranges": [[491_520, 949_168]], "interleaved_offset": 0,
    "region_boundary": 524_288, "region0_element_bytes": 16_384, "region1_element_bytes": 32_768,
    "host_scratch_range": [327_680, 360_448],
    "requests": [{
        "auxiliary": None, "class": "Ipu21Standard", "region1_stride": None,
        "lifetime": {"first": 0, "last": 4_294_967_295, "seen": True}, "bytes": 6_144, "alignment": 8,
        "assignments": [[2, 0], [5, 3_072]], "conflicts": [],
    }],
    "assigned_root_spans": {"2": [491_520, 497_664], "5": [491_520, 497_664]},
}  # fmt: skip
PROFILE: Json = {
    "schema_version": 1, "start": 311_296, "end": 950_272, "labels": ["w\nF16 [8, 64] · Ipu21Standard"],
    "tiles": [{"logical": 0, "physical": 0, "allocations": [{
        "start": 491_520, "end": 491_648, "payload_end": 491_640, "label": 0, "kind": "parameter", "first": 0,
        "last": 4_294_967_295, "shards": [3],
    }]}],
}  # fmt: skip


def raw(document: Json, **changes: Any) -> bytes:
    return json.dumps({**document, **changes}).encode()


def refused(read: Any, content: bytes, name: str = "tile-5-0.json") -> LoadError:
    with pytest.raises(LoadError) as caught:
        read(content, name)
    return caught.value


# -- tile dumps -----------------------------------------------------------------------------------------------------


def test_a_tile_dump_is_read_whole():
    found = tile_dump_from_bytes(raw(SMALL), "x.json")
    assert (found.version, found.problem.tile, found.placed, found.problems) == (1, 5, True, ())
    memory, (request,) = found.problem.memory, found.problem.requests
    assert (memory.ranges, memory.interleaved_offset, memory.window) == (((491_520, 949_168),), 0, (327_680, 360_448))
    assert (memory.boundary, memory.region0_element, memory.region1_element) == (524_288, 16_384, 32_768)
    assert (request.memory_class, request.bytes, request.alignment) == (MemoryClass.STANDARD, 6_144, 8)
    assert (request.first, request.last, request.assignments) == (0, END, ((2, 0), (5, 3_072)))
    assert found.spans == {2: (491_520, 497_664), 5: (491_520, 497_664)}


def test_what_older_captures_lack():
    gone = ("version", "tile", "placed", "region_boundary", "region0_element_bytes", "region1_element_bytes",
            "host_scratch_range", "assigned_root_spans")  # fmt: skip
    old = {key: value for key, value in SMALL.items() if key not in gone}
    del old["requests"][0]["auxiliary"]
    found = tile_dump_from_bytes(raw(old), "/some/where/tile-612-0123456789abcdef.json")
    assert (found.version, found.problem.tile, found.placed, found.spans) == (None, 612, None, None)
    assert found.problem.memory == tile_dump_from_bytes(raw(SMALL)).problem.memory
    assert refused(tile_dump_from_bytes, raw(old), "dump.json").place == "tile"


def with_request(**changes: Any) -> bytes:
    return raw(SMALL, requests=[{**SMALL["requests"][0], **changes}])


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (raw(SMALL, ranges=[[5, 5]]), "ranges[0]"),
        (raw(SMALL, ranges=[[1, 4], [3, 9]]), "ranges[1]"),
        (raw(SMALL, ranges=[[1, 4, 5]]), "ranges[0]"),
        (raw(SMALL, ranges=[[-1, 4]]), "ranges[0][0]"),
        (raw(SMALL, version=2), "version"),
        (raw(SMALL, tile="5"), "tile"),
        (raw(SMALL, region0_element_bytes=0), "region0_element_bytes"),
        (raw(SMALL, region1_element_bytes=3), "region1_element_bytes"),
        (with_request(**{"class": "Ipu22"}), "requests[0].class"),
        (with_request(bytes=2**32), "requests[0].bytes"),
        (with_request(bytes=1.5), "requests[0].bytes"),
        (with_request(alignment=24), "requests[0].alignment"),
        (with_request(lifetime={"first": 3, "last": 2}), "requests[0].lifetime"),
        (with_request(assignments=[[2, 8], [5, 16]]), "requests[0].assignments[0]"),
        (with_request(assignments=[[2, 0], [5, 0]]), "requests[0].assignments[1]"),
        (with_request(assignments=[[2, 0], [5, 6_144]]), "requests[0].assignments[1]"),
        (with_request(assignments=[[2, 0], [2, 8]]), "requests[0].assignments"),
        (with_request(auxiliary=0), "requests[0].assignments"),
        (with_request(conflicts=["2"]), "requests[0].conflicts[0]"),
        (raw(SMALL, requests=SMALL["requests"] * 2), "requests[1].assignments"),
        (raw(SMALL, assigned_root_spans={"x": [1, 2]}), "assigned_root_spans.x"),
    ],
)
def test_what_is_wrong_with_a_tile_dump_is_said_where_it_is(content: bytes, place: str):
    assert refused(tile_dump_from_bytes, content).place == place


def test_a_span_outside_the_ranges_is_noted():
    found = tile_dump_from_bytes(raw(SMALL, assigned_root_spans={"2": [400_000, 406_144], "77": [491_520, 491_521]}))
    assert [problem.place for problem in found.problems] == ["assigned_root_spans.2", "assigned_root_spans.77"]


@pytest.mark.parametrize("entry", [e for e in MANIFEST["valid"] if "placed" in e], ids=lambda entry: entry["file"])
def test_golden_tile_dumps_state_what_the_rules_give(entry: Json, tmp_path: Path):
    dump = load_tile_dump(dump_file(entry["file"], tmp_path))
    study = study_tile(dump.problem.tile, dump.problem.requests, dump.problem.memory, searching=True)
    expected = {0: "order 1", 40: "order 2", 184: None, 7: None}[dump.problem.tile]
    assert dump.problems == ()
    assert dump.placed is entry["placed"]
    assert study.outcome.by == expected
    assert spans_of(dump.problem.requests, study.outcome.starts, dump.problem.memory) == dump.spans
    assert stated_against_derived(dump, study) == ()
    if dump.problem.tile == 7:
        assert (study.proofs.over, study.proofs.all.event) == (24_672, 168)


def test_what_differs_from_the_rules_is_noted():
    dump = tile_dump_from_bytes(raw(SMALL, placed=False, assigned_root_spans={"2": [600_000, 606_144]}))
    study = study_tile(5, dump.problem.requests, dump.problem.memory, searching=True)
    assert [problem.place for problem in stated_against_derived(dump, study)] == ["placed", "assigned_root_spans"]


# -- placement profiles ---------------------------------------------------------------------------------------------


def test_a_profile_is_read_whole():
    found = placement_from_bytes(raw(PROFILE))
    tile = found.tiles.tile(0)
    assert (found.version, found.start, found.end, found.tiles.logical()) == (1, 311_296, 950_272, (0,))
    assert found.labels == ("w\nF16 [8, 64] · Ipu21Standard",)
    assert (tile.spans.tolist(), tile.lives.tolist()) == ([[491_520, 491_640, 491_648]], [[0, END]])
    assert (tile.labels.tolist(), tile.kinds, tile.shards(0)) == ([0], ("parameter",), (3,))


def with_entry(**changes: Any) -> bytes:
    entry = {**PROFILE["tiles"][0]["allocations"][0], **changes}
    return raw(PROFILE, tiles=[{"logical": 0, "physical": 0, "allocations": [entry]}])


ENTRY = "tiles[0].allocations[0]"


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (raw(PROFILE, schema_version=2), "schema_version"),
        (with_entry(label=1), f"{ENTRY}.label"),
        (with_entry(payload_end=491_649), f"{ENTRY}.payload_end"),
        (with_entry(payload_end=491_519), f"{ENTRY}.payload_end"),
        (with_entry(first=5, last=4), f"{ENTRY}.first"),
        (with_entry(start=-1), f"{ENTRY}.start"),
        (with_entry(end=1.5), f"{ENTRY}.end"),
        (with_entry(kind=3), f"{ENTRY}.kind"),
        (with_entry(shards=["x"]), f"{ENTRY}.shards[0]"),
        (raw(PROFILE, tiles=PROFILE["tiles"] * 2), "tiles[1].logical"),
        (raw(PROFILE, labels=[3]), "labels[0]"),
        (raw(PROFILE, tiles=[]), "tiles"),
        (raw(PROFILE, tiles={}), "tiles"),
        (raw(PROFILE, tiles=[{"logical": 0, "physical": 0}]), "tiles[0].allocations"),
        (raw(PROFILE).replace(b'"tiles"', b'"tile"').replace(b'"allocations"', b'"x"'), "tiles"),
    ],
)
def test_what_is_wrong_with_a_profile_is_said_where_it_is(content: bytes, place: str):
    assert refused(placement_from_bytes, content, "placement-1.json").place == place


def test_keys_and_spaces_may_stand_in_any_order():
    entry = dict(reversed(PROFILE["tiles"][0]["allocations"][0].items()))
    tiles = [{"allocations": [entry, entry], "physical": 4, "logical": tile} for tile in (3, 1)]
    document = {"tiles": tiles, **{key: value for key, value in PROFILE.items() if key != "tiles"}}
    for content in (json.dumps(document, indent=2), json.dumps(document, separators=(",", ":"))):
        found = placement_from_bytes(content.encode())
        assert found.tiles.logical() == (3, 1)
        assert found.tiles.tile(1).spans.tolist() == [[491_520, 491_640, 491_648]] * 2


def test_entries_that_overlap_and_unknown_kinds_are_noted():
    entry = PROFILE["tiles"][0]["allocations"][0]
    later = {**entry, "start": 491_600, "first": 9, "kind": "mystery"}
    apart = {**entry, "start": 491_648, "payload_end": 491_650, "end": 491_660}
    entries = [entry, apart, later]
    found = placement_from_bytes(raw(PROFILE, tiles=[{"logical": 0, "physical": 0, "allocations": entries}]))
    problems = list(profile_problems(found))
    assert [problem.place for problem in problems] == [f"{ENTRY[:-3]}[2].kind", f"{ENTRY[:-3]}[2]"]
    assert overlapping(found.tiles.tile(0)) == (0, 2)


def test_golden_profiles(tmp_path: Path):
    small = load_placement(dump_file("valid/placement-4711.json", tmp_path))
    assert [tile.shards(2) for tile in [small.tiles.tile(0)]] == [(3, 9)]
    assert [facts.physical for facts in profile_facts(small)] == [0, 2]
    assert list(profile_problems(small)) == []
    vit = load_placement(dump_file("valid/placement-90210.json", tmp_path))
    facts = list(profile_facts(vit))
    assert [each.logical for each in facts] == list(range(6))
    ranges = ((327_680, 360_448), (368_376, 376_832), (491_520, 949_168))
    assert {each.ranges for each in facts} == {ranges}
    small.tiles.close()
    vit.tiles.close()


# -- all of them ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", MANIFEST["broken"], ids=lambda entry: entry["file"])
def test_each_broken_dump_gives_one_clear_error(entry: Json, tmp_path: Path):
    path = dump_file(entry["file"], tmp_path)
    with pytest.raises(LoadError) as caught:
        open_dump(path)
    error = caught.value
    assert str(path) in str(error)
    assert error.expected
    assert error.found
    assert error.hint
    if entry["where"] != "end of file":
        assert error.place == entry["where"]


@pytest.mark.parametrize("entry", MANIFEST["valid"], ids=lambda entry: entry["file"])
def test_dumps_are_told_apart(entry: Json, tmp_path: Path):
    path = dump_file(entry["file"], tmp_path)
    found = open_dump(path)
    kind = sniff(str(path), path.read_bytes()[:4096]).kind
    if "tile-" in entry["file"]:
        assert (type(found), kind) == (TileDump, DumpKind.TILE_DUMP)
    else:
        assert (type(found), kind) == (PlacementProfile, DumpKind.PLACEMENT)
    with pytest.raises(LoadError, match="addresses, not a program"):
        open_file(path)
