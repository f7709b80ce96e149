"""``summary``: JSON by the contract, exit codes, folders, and one clear sentence for every bad file."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.helpers.command_line import SAMPLES, assert_one_error, assert_summary, golden_file, run
from tests.helpers.golden_program import load_golden


def summary(*arguments):
    result = run("summary", *arguments, "--json")
    assert list(result.json) == ["files"]
    (entry,) = result.json["files"]
    assert_summary(entry)
    return result.code, entry


@pytest.mark.parametrize("name", ["vit3", "so400m"])
def test_a_recipe_that_fits_has_the_golden_peaks(name, tmp_path):
    recipe = golden_file("vit3-64tiles.recipe.json" if name == "vit3" else "so400m.recipe.json", tmp_path)
    code, entry = summary(recipe, "--no-fusion")
    expected = load_golden(f"swaps-{name}.json.gz")["baseline"]
    assert code == 0
    assert entry["fits"] is True
    assert entry["peak"] == expected["peak"]
    assert entry["total_peak_step"] == expected["total_peak_step"]
    assert (entry["steps"], entry["values"]) == (expected["steps"], expected["values"])
    assert entry["verdict"]["cause"] == "fits"
    assert entry["verdict"]["needed_bytes"] == expected["peak"]["total"] + 49_152
    assert entry["verdict"]["short_bytes"] == expected["peak"]["total"] + 49_152 - 586_960
    assert (entry["kind"], entry["version"]) == ("recipe", 6)


def test_a_recipe_over_budget_names_limit_place_and_bytes(tmp_path):
    code, entry = summary(golden_file("so400m-over.recipe.json", tmp_path))
    expected = load_golden("so400m-over.json.gz")["in_force"]
    assert code == 1
    assert entry["fits"] is False
    assert entry["peak"] == expected["peak"]
    verdict = entry["verdict"]
    assert (verdict["cause"], verdict["limit"]) == ("over_total_budget", "total budget")
    assert (verdict["needed_bytes"], verdict["available_bytes"]) == (568_312 + 49_152, 586_960)
    assert verdict["short_bytes"] == 30_504
    assert (verdict["step"], verdict["operation"]) == (69, 21)
    assert "30,504 B over" in verdict["text"]


def test_a_rejected_operation_names_its_43_invalid_layouts():
    code, entry = summary(SAMPLES / "rejected-op0.timeline.json")
    assert code == 1
    assert (entry["kind"], entry["version"], entry["scope"]) == ("timeline", 1, "rejected-op0")
    assert (entry["tile_count"], entry["steps"], entry["values"]) == (1472, 4, 71)
    assert len(entry["unavailable"]) == 43
    assert entry["unavailable"][0]["name"] == "vit.embedding.bias"
    assert "1,472" in entry["unavailable"][0]["reason"]
    assert "288" in entry["unavailable"][0]["reason"]
    assert entry["peak"]["total"] is None
    assert entry["peak"]["maximum_standard_allocation"] is None
    assert (entry["peak"]["interleaved"], entry["peak"]["exchange_rows"]) == (33_920, 548)
    assert entry["interleaved_peak_step"] == 3
    assert entry["verdict"]["cause"] == "invalid_layout"
    assert entry["verdict"]["needed_bytes"] is None
    assert (entry["budget_bytes"], entry["reserve_bytes"]) == (586_960, 49_152)
    assert entry["interleaved_budget_bytes"] == 424_880


def test_a_what_if_budget_changes_the_verdict(tmp_path):
    recipe = golden_file("vit3-64tiles.recipe.json", tmp_path)
    peak = load_golden("swaps-vit3.json.gz")["baseline"]["peak"]["total"]
    code, entry = summary(recipe, "--budget", peak + 10, "--reserve", 10)
    assert (code, entry["fits"], entry["verdict"]["short_bytes"]) == (0, True, 0)
    code, entry = summary(recipe, "--budget", peak + 9, "--reserve", 10)
    assert (code, entry["fits"], entry["verdict"]["short_bytes"]) == (1, False, 1)


def test_text_gives_the_figures_with_units():
    result = run("summary", SAMPLES / "so400m-over.recipe.json")
    assert result.code == 1
    assert "DOES NOT FIT" in result.out
    for words in ("568,312 B", "617,464 B", "30,504 B", "step 69", "operation 21", "Next:", "Notes:"):
        assert words in result.out
    assert run("summary", SAMPLES / "so400m.recipe.json").out.splitlines()[0].endswith(": FITS")


def test_with_an_operation_that_is_not_known_the_verdict_is_not_known(tmp_path):
    document = json.loads((SAMPLES / "vit3-64tiles.recipe.json").read_bytes())
    document["recipe"]["plans"]["4"]["dispatch"] = {"Hyper": {"size": 1}}
    target = tmp_path / "unknown.json"
    target.write_text(json.dumps(document))
    lines = run("summary", target).out.splitlines()
    assert lines[0].endswith(": NOT KNOWN")
    assert "total peak at least" in lines[2]
    assert "at least, bytes" in lines[4]
    assert any("operation 4 is not modelled" in line and "Hyper" in line for line in lines)
    assert (
        run("summary", target, "--json")
        .json["files"][0]["verdict"]["text"]
        .startswith("operations that are not known may need more: total peak at least")
    )


def test_explain_adds_a_diagnosis_whose_figures_add_up():
    result = run("summary", SAMPLES / "so400m-over.recipe.json", "--json", "--explain")
    diagnosis = result.json["files"][0]["diagnosis"]
    figures = {figure["label"]: figure["bytes"] for figure in diagnosis["figures"]}
    assert figures["standard"] + figures["interleaved"] == figures["total peak"] == 568_312
    assert figures["total peak"] + figures["reserve"] == figures["needed"]
    assert figures["needed"] - figures["budget"] == figures["over by"] == 30_504
    assert sum(item["bytes"] for item in diagnosis["contributions"]) == 568_312


def test_several_files_and_one_that_cannot_be_read():
    good, bad = SAMPLES / "so400m.recipe.json", SAMPLES / "broken" / "truncated.recipe.json"
    result = run("summary", good, bad, "--json")
    assert result.code == 2
    assert [entry["file"] for entry in result.json["files"]] == [str(good)]
    assert [entry["file"] for entry in result.json["errors"]] == [str(bad)]
    assert result.err.count("\n") == 1


def test_a_folder_becomes_a_table_of_verdicts(tmp_path):
    shutil.copy(SAMPLES / "so400m.recipe.json", tmp_path / "a.json")
    result = run("summary", tmp_path)
    assert result.code == 0
    assert [line.split()[1] for line in result.out.splitlines()] == ["verdict", "fits"]
    shutil.copy(SAMPLES / "rejected-op0.timeline.json", tmp_path / "b.json")
    result = run("summary", tmp_path)
    assert result.code == 1
    assert len(result.out.splitlines()) == 3
    assert "DOES NOT FIT" in result.out.splitlines()[2]
    (tmp_path / "c.json").write_text("[1, 2")
    (tmp_path / "notes.txt").write_text("not a dump, and not looked at")
    result = run("summary", tmp_path)
    assert result.code == 2
    assert "unreadable" in result.out.splitlines()[3]
    assert result.err.count("\n") == 1


def test_an_empty_folder_is_a_usage_error(tmp_path):
    assert_one_error(run("summary", tmp_path), "no .json files")


BROKEN = sorted(path.name for path in (SAMPLES / "broken").iterdir())
SHOWN = {"dangling.recipe.json", "dangling.timeline.json", "unknown-kinds.recipe.json"}


@pytest.mark.parametrize("name", [name for name in BROKEN if name not in SHOWN])
def test_a_broken_file_gives_one_sentence(name):
    result = run("summary", SAMPLES / "broken" / name)
    assert_one_error(result, name, "expected", "found")


@pytest.mark.parametrize("name", sorted(SHOWN))
def test_what_can_be_shown_of_a_broken_file_is_shown(name):
    code, entry = summary(SAMPLES / "broken" / name)
    assert code == 1
    assert entry["fits"] is False
    assert entry["verdict"]["text"]


def edited(data, path, value):
    """The JSON text of a sample with one field replaced."""
    document = json.loads(data)
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return json.dumps(document)


CASES = {
    "wrong version": (("version",), 99, "99"),
    "version of a wrong type": (("version",), "six", "version"),
    "a number of tiles as text": (("tile_count",), "64", "tile_count"),
    "negative bytes": (("timeline", "values", 0, "bytes"), -1, "-1"),
    "a float": (("timeline", "values", 0, "shard_bytes"), 1.5, "1.5"),
    "2^64": (("timeline", "steps", 0, "scratch", "standard"), 2**64, "scratch.standard"),
    "values that are no list": (("timeline", "values"), {}, "timeline.values"),
}


@pytest.mark.parametrize("case", sorted(CASES))
def test_a_malformed_field_is_named(case, tmp_path):
    path, value, word = CASES[case]
    target = tmp_path / "t.json"
    target.write_text(edited((SAMPLES / "pair-8tiles.v3.timeline.json").read_bytes(), path, value))
    assert_one_error(run("summary", target), str(target), word)


@pytest.mark.parametrize(
    "text",
    ["", "null", "[]", "3", '"version"', "{", '{"version":6}', '{"version":NaN,"context":""}', "\0\0\0", "{}garbage"],
)
def test_what_is_no_dump_at_all(text, tmp_path):
    target = tmp_path / "x.json"
    target.write_text(text)
    assert_one_error(run("summary", target), str(target))


def test_a_file_that_is_not_there(tmp_path):
    assert_one_error(run("summary", tmp_path / "missing.json"), "missing.json")


def test_nan_inside_a_timeline(tmp_path):
    target = tmp_path / "t.json"
    target.write_text(edited((SAMPLES / "pair-8tiles.v3.timeline.json").read_bytes(), ("budget_bytes",), float("nan")))
    assert_one_error(run("summary", target), str(target))


def test_names_cannot_reach_the_terminal_raw(tmp_path):
    document = json.loads((SAMPLES / "pair-8tiles.v3.timeline.json").read_bytes())
    for value in document["timeline"]["values"]:
        value["name"] = "evil\x1b[2J\u202e\nname"
    target = tmp_path / "t.json"
    target.write_text(json.dumps(document))
    result = run("summary", target)
    assert result.code == 1
    assert "\x1b" not in result.out
    assert "\u202e" not in result.out
    assert "evil\\u{1b}[2J\\u{202e}\\u{a}name" in result.out


# -- timelines that contradict themselves ---------------------------------------------------------------------------


def changed_timeline(folder, *place, by=1):
    """The sample of version 3 with one number changed."""
    document = json.loads((SAMPLES / "vit3-64tiles.v3.timeline.json").read_bytes())
    holder = document
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] += by
    path = folder / "changed.timeline.json"
    path.write_bytes(json.dumps(document, separators=(",", ":")).encode())
    return path


@pytest.mark.parametrize(
    ("place", "named"),
    [
        (("timeline", "steps", 3, "usage", "standard"), "timeline.steps[3].usage"),
        (("timeline", "steps", 3, "tile_usage", 5, 0), "timeline.steps[3].tile_usage"),
        (("timeline", "steps", 3, "tile_scratch", 5, 0), "timeline.steps[3].scratch"),
        (("timeline", "values", 1, "tile_shards", 2), "timeline.values[1].tile_shards"),
        (("timeline", "values", 1, "tile_bytes", 2), "timeline.values[1].tile_bytes"),
        (("peak", "standard"), "peak.standard"),
        (("interleaved_peak_step",), "interleaved_peak_step"),
    ],
)
def test_numbers_per_tile_that_contradict_the_rest_are_among_the_notes(place, named, tmp_path):
    path = changed_timeline(tmp_path, *place)
    code, entry = summary(path)
    assert code == 0
    assert any(note.startswith(f"warning: {named}: ") for note in entry["notes"]), entry["notes"]
    assert f"- warning: {named}: " in run("summary", path).out
