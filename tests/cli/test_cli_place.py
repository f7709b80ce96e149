"""``place``, ``explain`` and what other commands say of placement: the contract's keys, figures and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.command_line import SAMPLES, assert_one_error, golden_file, run
from tests.helpers.placements import dump_file

SO400M = SAMPLES / "so400m.recipe.json"
VIT = SAMPLES / "vit3-64tiles.recipe.json"
KEYS = [
    "ranges", "preset", "interleaved_offset", "classes", "verdict", "placed_tiles", "not_placed_tiles", "over_tiles",
    "smallest_enlargement_bytes", "tiles",
]  # fmt: skip
TILE_KEYS = [
    "tile", "tiles", "verdict", "order", "over_bytes", "proof", "largest_hole", "free_bytes", "request_bytes",
    "live_peak",
]  # fmt: skip


def test_a_recipe_that_fits_and_is_not_placed():
    result = run("place", SO400M, "21=3", "--ranges", "captured-498872", "--json", "--no-fusion")
    assert result.code == 1
    found = result.json
    assert list(found) == KEYS
    assert (found["preset"], found["verdict"], found["classes"]) == ("captured-498872", "not placed", 445)
    assert (found["placed_tiles"], found["not_placed_tiles"], found["over_tiles"]) == (664, 808, 0)
    assert found["smallest_enlargement_bytes"] == 53_248
    first = found["tiles"][0]
    assert list(first) == TILE_KEYS
    assert (first["tile"], first["verdict"], first["order"]) == (0, "not placed", None)
    assert (first["request_bytes"], first["largest_hole"], first["free_bytes"]) == (82_944, 72_360, 134_568)
    assert sorted(tile for entry in found["tiles"] for tile in entry["tiles"]) == list(range(1472))


def test_the_planner_s_memory_is_the_default():
    result = run("place", VIT, "--json", "--no-fusion")
    assert (result.code, result.json["preset"], result.json["verdict"]) == (0, "planner", "placed")
    assert result.json["ranges"] == [[411_360, 949_168]]
    assert {entry["order"] for entry in result.json["tiles"]} == {1}


def test_one_tile_of_a_recipe():
    found = run("place", VIT, "--tile", "3", "--json", "--no-fusion").json
    assert set(found["orders"]) == {"1", "2", "end first", "search"}
    assert found["orders"]["search"]["placed"] is None
    starts = found["orders"]["1"]["starts"]
    assert [request["start"] for request in found["requests"]] == starts
    assert all(request["name"] for request in found["requests"])
    text = run("place", VIT, "--tile", "3", "--no-fusion").out
    assert "Tile 3: placed by order 1" in text
    assert "was not run (--search)" in text
    assert (
        run("place", VIT, "--tile", "3", "--search", "--json", "--no-fusion").json["orders"]["search"]["placed"] is True
    )


def test_typed_ranges_and_those_of_a_dump(tmp_path: Path):
    assert (
        run("place", VIT, "--ranges", "0x50000-0x58000,491520-949168", "--json", "--no-fusion").json["preset"] is None
    )
    for name in ("valid/tile-184-086024f1329e7b53.json", "valid/placement-90210.json"):
        found = run("place", VIT, "--ranges", dump_file(name, tmp_path), "--json").json
        assert found["ranges"] == [[327_680, 360_448], [368_376, 376_832], [491_520, 949_168]]
    offset = run("place", VIT, "--ranges", dump_file("valid/tile-40-5969d7a36c9a1d0c.json", tmp_path), "--json").json
    assert offset["interleaved_offset"] == 8_192


@pytest.mark.parametrize(
    ("name", "code", "verdict", "order", "over"),
    [
        ("tile-0-bf366e87f8961921", 0, "placed", 1, 0),
        ("tile-40-5969d7a36c9a1d0c", 0, "placed", 2, 0),
        ("tile-184-086024f1329e7b53", 1, "not placed", None, 0),
        ("tile-7-b9c071878ab4236c", 1, "over", None, 24_672),
    ],
)
def test_tile_dumps(name: str, code: int, verdict: str, order: int | None, over: int, tmp_path: Path):
    path = dump_file(f"valid/{name}.json", tmp_path)
    result = run("place", path, "--json")
    (tile,) = result.json["tiles"]
    assert (result.code, result.json["verdict"], tile["order"], tile["over_bytes"]) == (code, verdict, order, over)
    assert list(result.json)[: len(KEYS)] == KEYS
    assert result.json["notes"] == []
    assert result.json["orders"]["search"]["placed"] is (code == 0)
    assert verdict.upper() in run("place", path).out
    summary = run("summary", path, "--json")
    assert summary.code == code
    entry = summary.json["files"][0]
    assert (entry["kind"], entry["fits"], entry["verdict"]["cause"]) == ("tile dump", code == 0, verdict)
    assert run("check", path).code == code


def test_a_placement_profile_tells_what_was_open(tmp_path: Path):
    path = dump_file("valid/placement-90210.json", tmp_path)
    result = run("place", path, "--json")
    assert (result.code, result.json["placed_tiles"], result.json["verdict"]) == (0, 6, "placed")
    assert {tile["open_bytes"] for tile in result.json["tiles"]} == {498_872}
    assert "6 tiles" in run("place", path).out
    entry = run("summary", path, "--json").json["files"][0]
    assert (entry["kind"], entry["tile_count"], entry["fits"]) == ("placement profile", 6, True)


def test_what_cannot_be_placed_says_why(tmp_path: Path):
    dump = dump_file("valid/tile-40-5969d7a36c9a1d0c.json", tmp_path)
    assert_one_error(run("place", SAMPLES / "rejected-op0.timeline.json"), "a memory timeline")
    assert_one_error(run("place", VIT, "--ranges", "captured", "--no-fusion"), "not a preset", "captured-498872")
    assert_one_error(run("place", VIT, "--ranges", "500000-400000", "--no-fusion"), "empty")
    assert_one_error(run("place", VIT, "--ranges", VIT, "--no-fusion"), "a dump without ranges")
    assert_one_error(run("place", VIT, "--tile", "64", "--no-fusion"), "tiles 0 to 63")
    assert_one_error(run("place", dump, "--tile", "3"), "tile 40")
    assert_one_error(run("place", dump, "1=0"), "only a recipe")
    assert_one_error(run("place", VIT, "999=0", "--no-fusion"), "operation 999")


def test_a_program_known_in_part_is_not_known():
    result = run("place", SAMPLES / "broken" / "unknown-kinds.recipe.json", "--json")
    assert result.code == 3
    assert result.json["verdict"] is None
    assert "not known" in result.err


def test_check_guards_placement():
    assert run("check", SO400M, "--ranges", "captured-498872", "--no-fusion").code == 0
    result = run("check", SO400M, "--ranges", "captured-482496", "--no-fusion", "--json")
    assert result.code == 1
    (reason,) = result.json["files"][0]["reasons"]
    assert "82,944 B" in reason
    assert "no proof" in reason
    timeline = run("check", SAMPLES / "vit3-64tiles.v3.timeline.json", "--ranges", "planner")
    assert timeline.code == 3
    assert run("check", SAMPLES / "vit3-64tiles.v3.timeline.json").code == 0


def test_summary_and_swap_say_the_three_steps():
    entry = run("summary", VIT, "--place", "--json").json["files"][0]
    assert entry["placement"]["title"] == "Fits, placed"
    assert [step["text"] for step in entry["placement"]["steps"][1:]] == ["all 64 tiles placed"] * 2
    assert "placement" not in run("summary", VIT, "--json").json["files"][0]
    text = run("swap", SO400M, "21=3", "--place", "--no-fusion").out
    assert "Fits, not placed. Sum: 36.6 KiB spare → Planner's memory: all 1,472 tiles placed → " in text
    assert "53,248 B more would do, four elements of code or table less." in text


def test_fix_can_ask_for_placement(tmp_path: Path):
    swapped = tmp_path / "swapped.json"
    run("swap", SO400M, "21=3", "-o", swapped)
    found = run("fix", swapped, "--ranges", "captured-498872", "--max-swaps", "1", "--no-fusion", "--json")
    assert found.code == 0
    assert found.json["swaps"] == [[21, 0]]
    assert run("place", swapped, "21=0", "--ranges", "captured-498872", "--no-fusion").code == 0
    # what fits by the sum and is placed needs no swap
    assert run("fix", VIT, "--ranges", "captured-498872", "--json").json["swaps"] == []


# -- explain --------------------------------------------------------------------------------------------------------


def test_explain_names_the_request_and_what_fills_the_tile(tmp_path: Path):
    over = golden_file("so400m-over.recipe.json", tmp_path)
    message = "thread panicked: tile 612 has insufficient Ipu21Standard SRAM for 82944 bytes; 3 more"
    result = run("explain", message, over, "--json")
    assert (result.code, result.json["tile"], result.json["bytes"]) == (0, 612, 82_944)
    assert result.json["kind"] == "insufficient memory"
    (entry,) = result.json["files"]
    assert "vit.encoder.attention.qkv.weight ×27" in entry["findings"][0]
    assert any("largest first" in line for line in entry["findings"])
    assert any("single alternatives" in line or "one swap" in line for line in entry["findings"])
    assert "often not the culprit" in run("explain", message).out


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("exchange transfer count exceeds per-tile limit: 20000 > 16384", "too many transfers"),
        ("exchange tables exceed per-tile budget of 3 elements", "exchange tables too large"),
        ("repeat iterated placement constraints overlap incompatibly", "overlapping sequences"),
        ("tile 0 has insufficient Ipu21Standard SRAM for 0 bytes", "rejected ranges"),
    ],
)
def test_other_sentences(message: str, kind: str):
    result = run("explain", message, VIT, "--json")
    assert (result.code, result.json["kind"]) == (0, kind)
    assert result.json["meaning"]


def test_a_sentence_that_is_not_known():
    result = run("explain", "segmentation fault", VIT)
    assert result.code == 1
    assert result.err == ""


def test_explain_with_a_timeline_and_a_dump(tmp_path: Path):
    dump = dump_file("valid/tile-184-086024f1329e7b53.json", tmp_path)
    timeline = SAMPLES / "vit3-64tiles.v3.timeline.json"
    message = "tile 184 has insufficient Ipu21Standard SRAM for 82944 bytes"
    answer = run("explain", message, dump, timeline, "--json").json
    found = {entry["file"]: entry["findings"] for entry in answer["files"]}
    assert "root 100" in found[str(dump)][0]
    assert "no tile 184" in found[str(timeline)][0]
    other = run("explain", "tile 3 has insufficient Ipu21Standard SRAM for 5 bytes", timeline, "--json").json
    assert "Tile 3 holds most at step" in json.dumps(other)


def test_by_default_it_speaks_of_the_program_that_stands(tmp_path):
    """With fusions other tiles have no place than without; the summary's step says the same of them."""
    found = run("place", SO400M, "--ranges", "captured-498872", "--json").json
    composed = run("place", SO400M, "--ranges", "captured-498872", "--no-fusion", "--json").json
    assert composed["verdict"] == "placed"
    said = run("summary", SO400M, "--place").out
    words = (
        "all 1,472 tiles placed" if found["verdict"] == "placed" else f"{found['not_placed_tiles']:,} tiles not placed"
    )
    assert f"Captured 498,872 B: {words}" in said or words in said
