"""``alternatives``, ``fix``, ``diff``, ``profile``, ``check`` and ``report``."""

from __future__ import annotations

import gzip
import json
import re

import pytest

from tests.helpers.command_line import (
    PEAK_KEYS,
    SAMPLES,
    assert_one_error,
    assert_summary,
    golden_file,
    run,
    run_process,
)
from tests.helpers.golden_program import DATA, load_golden

OVER = SAMPLES / "so400m-over.recipe.json"
FITS = SAMPLES / "so400m.recipe.json"
ALTERNATIVE_KEYS = [
    "op", "alt", "in_force", "ok", "error", "peak", "fits", "delta_total", "cycles", "exchange_cycles", "delta_cycles",
]  # fmt: skip
REJECTED = SAMPLES / "rejected-op0.timeline.json"

# -- alternatives ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2])
def test_alternatives_are_the_golden_ones_in_order(workers, tmp_path):
    name = "a05_mlp_t8_f8_nofit"
    recipe = golden_file(f"models/{name}.recipe.json", tmp_path)
    expected = load_golden(f"models/{name}.expected.json.gz")
    result = run("alternatives", recipe, "--no-fusion", "--json", "--workers", workers)
    found = result.json["alternatives"]
    keys = [(entry["op"], entry["alt"]) for entry in found]
    assert keys == sorted(keys)
    by_key = {(entry["op"], entry["alt"]): entry for entry in expected["swaps"]}
    assert set(keys) == set(by_key)
    base = expected["in_force"]["peak"]["total"]
    plans = json.loads(recipe.read_bytes())
    for entry in found:
        assert list(entry) == ALTERNATIVE_KEYS
        golden = by_key[entry["op"], entry["alt"]]
        assert entry["ok"] is golden["ok"]
        if golden["ok"]:
            assert entry["fits"] is golden["fits"]
            assert entry["peak"] == {key: golden["peak"][key] for key in PEAK_KEYS}
            assert entry["delta_total"] == golden["peak"]["total"] - base
        alternatives = plans["alternatives"][str(entry["op"])]
        assert entry["in_force"] is (alternatives.index(plans["recipe"]["plans"][str(entry["op"])]) == entry["alt"])
    assert result.code == (0 if any(entry["ok"] and entry["fits"] for entry in expected["swaps"]) else 1)


def test_alternatives_of_single_operations():
    result = run("alternatives", OVER, "--op", 4, "21", "--no-fusion", "--json", "--workers", 1)
    assert [(entry["op"], entry["alt"]) for entry in result.json["alternatives"]] == [
        *((4, alternative) for alternative in range(7)),
        *((21, alternative) for alternative in range(4)),
    ]
    assert result.code == 1
    assert {entry["delta_total"] for entry in result.json["alternatives"] if entry["op"] == 21} == {0, -15_744}
    fused = run("alternatives", OVER, "--op", 4, "21", "--json", "--workers", 1)
    assert fused.code == 0
    fitting = {(entry["op"], entry["alt"]) for entry in fused.json["alternatives"] if entry["fits"]}
    assert fitting == {(4, alternative) for alternative in (0, 1, 2, 3, 5, 6)}
    assert_one_error(run("alternatives", OVER, "--op", "1234", "--json"), "1234")
    assert "cannot be lowered" in run("alternatives", SAMPLES / "vit3-64tiles.recipe.json", "--op", "3").out


# -- fix ------------------------------------------------------------------------------------------------------------


def test_fix_finds_the_two_swaps_and_writes_them(tmp_path):
    target = tmp_path / "fixed.json"
    result = run("fix", OVER, "--no-fusion", "--json", "-o", target)
    answer = result.json
    assert result.code == 0
    assert list(answer)[:5] == ["found", "swaps", "before", "after", "tried"]
    assert answer["found"] is True
    assert answer["exhaustive"] is True
    assert answer["swaps"] == [[4, 1], [21, 3]]
    assert_summary(answer["before"])
    assert_summary(answer["after"])
    assert answer["after"]["peak"]["total"] == 500_344
    again = run("summary", target, "--no-fusion", "--json").json["files"][0]
    assert (again["fits"], again["peak"]) == (True, answer["after"]["peak"])
    expected, written = json.loads(OVER.read_bytes()), json.loads(target.read_bytes())
    for operation, alternative in (("4", 1), ("21", 3)):
        expected["recipe"]["plans"][operation] = expected["alternatives"][operation][alternative]
    assert written == expected


def test_fix_says_when_too_few_swaps_are_allowed():
    result = run("fix", OVER, "--no-fusion", "--json", "--max-swaps", 1, "--workers", 1)
    answer = result.json
    assert (result.code, answer["found"], answer["exhaustive"]) == (1, False, True)
    assert answer["swaps"] == []
    assert answer["after"] is None
    assert "exhaustive" in answer["text"]


def test_fix_says_when_it_was_cut_short():
    answer = run("fix", OVER, "--no-fusion", "--json", "--limit", 5, "--workers", 1).json
    assert (answer["found"], answer["exhaustive"]) == (False, False)
    assert answer["tried"] <= 7


def test_fix_of_what_fits_already():
    result = run("fix", FITS, "--json")
    assert (result.code, result.json["found"], result.json["swaps"]) == (0, True, [])


def test_fix_of_a_timeline_repairs_its_layouts():
    result = run("fix", REJECTED, "--json")
    answer = result.json
    assert (result.code, answer["found"], answer["swaps"]) == (0, True, [])
    assert_summary(answer["after"])
    assert answer["after"]["unavailable"] == []
    assert sum(len(repair["values"]) for repair in answer["repairs"]) == 43
    assert_one_error(run("fix", REJECTED, "-o", "x.json"), "recipe")


# -- diff -----------------------------------------------------------------------------------------------------------


def test_diff_of_a_file_with_itself_is_empty():
    for path in (FITS, REJECTED, SAMPLES / "pair-8tiles.v2.timeline.json"):
        result = run("diff", path, path, "--json")
        assert result.code == 0
        answer = result.json
        assert answer["same"] is True
        for key in ("plans", "homes", "boundaries", "steps", "unmatched"):
            assert answer[key] == []
        assert all(not loads["items"] for loads in answer["allocations"])


def test_diff_of_the_two_recipes_names_plans_and_bytes():
    result = run("diff", OVER, FITS, "--json")
    answer = result.json
    assert result.code == 1
    a, b = json.loads(OVER.read_bytes()), json.loads(FITS.read_bytes())
    different = [int(key) for key, plan in a["recipe"]["plans"].items() if plan != b["recipe"]["plans"][key]]
    assert [entry["op"] for entry in answer["plans"]] == different
    assert all(entry["differs"] for entry in answer["plans"])
    assert answer["peaks"]["total"] == {"a": 568_312, "b": 500_344, "delta": 500_344 - 568_312}
    (total,) = [loads for loads in answer["allocations"] if loads["peak"] == "total"]
    assert (total["a"]["total"], total["b"]["total"]) == (568_312, 500_344)
    assert sum(item["delta"] for item in total["items"]) == 500_344 - 568_312


def test_diff_says_what_differs_where_two_plans_are_the_same_words(tmp_path):
    other = tmp_path / "other.recipe.json"
    assert run("swap", FITS, "0=1", "-o", other).code == 0
    text = run("diff", FITS, other).out
    assert "operation 0 Gemm: alternative 0 → 1" in text
    assert "; operand 0: materialization Complete → DispatchSlices" in text
    assert text.count("grid 8 × 36 × 5") == 1


def test_diff_of_a_recipe_and_its_own_profile_finds_nothing(tmp_path):
    profile = tmp_path / "profile.json"
    assert run("profile", FITS, "-o", profile).code == 0
    result = run("diff", FITS, profile, "--json")
    assert (result.code, result.json["same"]) == (0, True)
    assert any("timeline holds no plans" in note for note in result.json["notes"])


def test_diff_brings_version_2_and_3_peaks_together_and_says_so():
    result = run("diff", SAMPLES / "pair-8tiles.v2.timeline.json", SAMPLES / "pair-8tiles.v3.timeline.json", "--json")
    answer = result.json
    assert all(number["delta"] == 0 for number in answer["peaks"].values())
    assert any("exchange rows" in note and "version 3" in note for note in answer["notes"])
    assert result.code == 0


def test_diff_against_a_visited_recipe(tmp_path):
    document = json.loads((SAMPLES / "pair-8tiles.recipe.json").read_bytes())
    other = json.loads(json.dumps(document["recipe"]))
    operation = next(key for key, plans in document["alternatives"].items() if plans[0] != other["plans"][key])
    other["plans"][operation] = document["alternatives"][operation][0]
    document["visited"] = [document["recipe"], other]
    path = tmp_path / "r.json"
    path.write_text(json.dumps(document))
    assert run("diff", path, "--visited", 0, "--json").json["same"] is True
    answer = run("diff", path, "--visited", 1, "--json").json
    assert [entry["op"] for entry in answer["plans"]] == [int(operation)]
    assert_one_error(run("diff", path, "--visited", 2), "visited", "2")
    other["plans"][operation] = {"operator": "Add"}
    path.write_text(json.dumps(document))
    assert_one_error(run("diff", path, "--visited", 1), "visited[1]")
    assert_one_error(run("diff", path), "--visited")
    assert "Plans" in run("diff", OVER, FITS).out


# -- profile --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["vit3", "so400m"])
def test_profile_holds_the_golden_numbers(name, tmp_path):
    target = tmp_path / "profile.json"
    recipe = SAMPLES / ("vit3-64tiles.recipe.json" if name == "vit3" else "so400m.recipe.json")
    assert run("profile", recipe, "-o", target, "--no-fusion").code == 0
    expected = json.loads(gzip.decompress((DATA / f"{name}-profile.json.gz").read_bytes()))["composed"]
    found = json.loads(target.read_bytes())
    assert found["version"] == 3
    for key in ("tile_count", "budget_bytes", "interleaved_budget_bytes", "fits_budget", "peak", "total_peak_step"):
        assert found[key] == expected[key], key
    for key in ("effective_peak_bytes", "standard_contiguous_overflow_bytes", "support_reserve_bytes"):
        assert found[key] == expected[key], key
    values = {value["id"]: value for value in found["timeline"]["values"]}
    for value in expected["timeline"]["values"]:
        for key in ("root", "shape", "shard_bytes", "aligned_bytes", "copies", "bytes", "tile_bytes", "tile_shards"):
            assert values[value["id"]][key] == value[key], (value["id"], key)
    for step, golden in zip(found["timeline"]["steps"], expected["timeline"]["steps"], strict=True):
        for key in ("index", "source", "execution_count", "live", "scratch", "usage", "tile_usage", "tile_scratch"):
            assert step[key] == golden[key], (golden["index"], key)


def test_profile_to_standard_output_is_the_same(tmp_path):
    target = tmp_path / "profile.json"
    recipe = SAMPLES / "pair-8tiles.recipe.json"
    assert run("profile", recipe, "-o", target).code == 1
    result = run_process("profile", recipe)
    assert result.code == 1
    assert result.out.encode() == target.read_bytes()
    assert result.err.count("\n") == 1


def test_profile_writes_unavailable_sizes_as_the_compiler_does(tmp_path):
    target = tmp_path / "profile.json"
    assert run("profile", REJECTED, "-o", target).code == 1
    values = json.loads(target.read_bytes())["timeline"]["values"]
    missing = [value for value in values if value["layout_error"] is not None]
    assert len(missing) == 43
    assert {value["bytes"] for value in missing} == {2**64 - 1}
    again = run("summary", target, "--no-fusion", "--json").json["files"][0]
    assert len(again["unavailable"]) == 43
    assert again["version"] == 3


# -- check ----------------------------------------------------------------------------------------------------------


def test_check_guards_budgets():
    assert run("check", FITS).code == 0
    assert run("check", FITS, "--max-total", 500_344, "--max-interleaved", 114_688).code == 0
    result = run("check", FITS, "--max-total", 500_343)
    assert result.code == 1
    assert result.out.count("\n") == 1
    assert "1 B over the limit of 500,343 B" in result.out
    assert run("check", FITS, "--max-interleaved", "111KiB").code == 1
    assert run("check", FITS, "--max-interleaved", "112KiB").code == 0
    both = run("check", FITS, OVER)
    assert both.code == 1
    assert [line.split()[0] for line in both.out.splitlines()] == ["ok", "FAIL"]
    assert run("check", FITS, SAMPLES / "broken" / "empty.json").code == 2
    answer = run("check", FITS, OVER, "--json").json["files"]
    assert [entry["passes"] for entry in answer] == [True, False]
    assert answer[0]["peak"]["total"] == 500_344
    assert answer[1]["reasons"]
    assert_one_error(run("check", FITS, "--max-total", "lots"), "lots")


# -- report ---------------------------------------------------------------------------------------------------------


def assert_self_contained(page):
    assert page.startswith("<!DOCTYPE html>")
    assert len(page) < 5 * 2**20
    assert "<script" not in page
    for link in re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?([^"')>\s]*)""", page):
        assert link.startswith(("data:", "#")), link


def test_report_of_a_recipe(tmp_path):
    target = tmp_path / "page.html"
    result = run("report", OVER, "-o", target)
    assert result.code == 1
    page = target.read_text(encoding="utf-8")
    assert_self_contained(page)
    for words in ("Does not fit", "568,312 B", "30,504 B", "4=1", "500,344 B", "<svg", "operation 21"):
        assert words in page
    assert page.count("<rect") >= 1472


def test_report_of_a_timeline_with_invalid_layouts(tmp_path):
    target = tmp_path / "page.html"
    assert run("report", REJECTED, "-o", target).code == 1
    page = target.read_text(encoding="utf-8")
    assert_self_contained(page)
    assert "vit.embedding.bias" in page
    assert "288" in page


def test_report_escapes_names(tmp_path):
    document = json.loads((SAMPLES / "pair-8tiles.v3.timeline.json").read_bytes())
    for value in document["timeline"]["values"]:
        value["name"] = value["group"] = "<script>alert(1)</script>&\"'\u202e\x07"
    path, target = tmp_path / "<b>t.json", tmp_path / "page.html"
    path.write_text(json.dumps(document))
    assert run("report", path, "-o", target).code == 1
    page = target.read_text(encoding="utf-8")
    assert_self_contained(page)
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
    assert "\u202e" not in page
    assert "\x07" not in page
    assert "&lt;b&gt;t.json" in page


def test_report_does_not_replace_its_source(tmp_path):
    path = golden_file("models/i02_pair_standard_t8.recipe.json", tmp_path)
    result = run("report", path, "-o", path)
    assert_one_error(result, "was read")
    assert "--force" not in result.err
    assert "--force" in run("swap", path, "-o", path).err


def test_report_names_what_contradicts_itself_in_a_timeline(tmp_path):
    document = json.loads((SAMPLES / "pair-8tiles.v3.timeline.json").read_bytes())
    document["timeline"]["steps"][3]["tile_usage"][5][0] += 1
    path, target = tmp_path / "t.json", tmp_path / "page.html"
    path.write_text(json.dumps(document))
    assert run("report", path, "-o", target).code == 1
    assert "timeline.steps[3].tile_usage" in target.read_text(encoding="utf-8")


# -- invalid homes --------------------------------------------------------------------------------------


def with_bad_homes(path, target, values):
    """The recipe with these inputs' homes asking for more owners than their grains make."""
    document = json.loads(path.read_bytes())
    for value in values:
        home = document["inputs"][str(value)]["layout"]
        home["order"] = "RowMajor"
        axis = {
            "axis": "Linear", "partitions": 999_999, "padding_groups": 1, "block_size": 4, "padding_multiple": 1,
            "shard_padding_multiple": 1, "padding": "Reject", "tile_stride": None,
        }  # fmt: skip
        home["tiling"] = {"tile_count": 999_999, "replicas": 1, "axes": [axis]}
    target.write_text(json.dumps(document, separators=(",", ":")))
    return document


def test_fix_gives_inputs_homes_that_resolve(tmp_path):
    source, target = tmp_path / "bad.json", tmp_path / "good.json"
    original = json.loads((SAMPLES / "vit3-64tiles.recipe.json").read_bytes())
    with_bad_homes(SAMPLES / "vit3-64tiles.recipe.json", source, [1, 2])
    before = run("summary", source, "--json")
    assert before.code == 1
    assert before.json["files"][0]["verdict"]["cause"] == "cannot_lower"
    page = run("summary", source).out
    assert "Give these 2 inputs valid homes" in page
    assert "tiles requested" in page or "tiles at most" in page
    result = run("fix", source, "--json", "-o", target)
    answer = result.json
    assert (result.code, answer["found"], answer["swaps"]) == (0, True, [])
    assert sorted(answer["homes"]) == ["1", "2"]
    after = run("summary", target, "--json").json["files"][0]
    assert after["fits"] is True
    assert after["peak"] == answer["after"]["peak"]
    # The homes in the file are those that the planner chooses by itself, so these are the ones that come back.
    assert json.loads(target.read_bytes()) == original


def test_fix_puts_a_plan_in_where_one_is_missing(tmp_path):
    source, target = SAMPLES / "broken" / "dangling.recipe.json", tmp_path / "fixed.json"
    result = run("fix", source, "--json", "-o", target)
    assert (result.code, result.json["found"]) == (0, True)
    assert result.json["swaps"] == [[0, 1], [1, 1]]
    assert run("summary", target, "--json").json["files"][0]["fits"] is True


def test_plans_that_sound_alike_are_told_apart():
    pair, vit = SAMPLES / "pair-8tiles.recipe.json", SAMPLES / "vit3-64tiles.recipe.json"
    for words in ("1 owner, on local shards", "8 owners, on local shards"):
        assert words in run("alternatives", pair, "--op", "0").out
        assert words in run("swap", pair, "0=1").out
    # In force is alternative 4; 5 has the same grids and blocks but takes its operands in slices.
    difference = "operand 0: materialization Complete → DispatchSlices"
    assert difference in run("alternatives", vit, "--op", "35").out
    assert difference in run("swap", vit, "35=5").out
