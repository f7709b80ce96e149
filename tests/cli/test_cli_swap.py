"""``swap``: every golden number through the command, and a recipe that differs in the swapped plans only."""

from __future__ import annotations

import json

import pytest

from tests.helpers.command_line import PEAK_KEYS, SAMPLES, assert_one_error, assert_summary, golden_file, run
from tests.helpers.dumps import compact
from tests.helpers.golden_program import load_golden
from tests.helpers.hostile import wide_recipe


def swap(*arguments):
    result = run("swap", *arguments, "--json")
    answer = result.json
    assert list(answer) == ["ok", "error", "before", "after"]
    assert_summary(answer["before"])
    if answer["ok"]:
        assert answer["error"] is None
        assert_summary(answer["after"])
    else:
        assert isinstance(answer["error"], str)
        assert answer["after"] is None
    return result.code, answer


def words(swaps):
    return [f"{operation}={alternative}" for operation, alternative in swaps]


def golden(name):
    """Several swaps at once, what cannot be lowered, and every fortieth single one (vit3 has 957)."""
    entries = load_golden(f"swaps-{name}.json.gz")
    singles = entries["singles"]
    step = max(1, len(singles) // 24)
    chosen = [entry for i, entry in enumerate(singles) if i % step == 0 or not entry["ok"]]
    return chosen + entries["several"]


CASES = [(name, index) for name in ("vit3", "so400m") for index in range(len(golden(name)))]
FILES = {"vit3": "vit3-64tiles.recipe.json", "so400m": "so400m.recipe.json"}


@pytest.mark.parametrize(("name", "index"), CASES)
def test_golden_swaps(name, index):
    expected = golden(name)[index]
    code, answer = swap(SAMPLES / FILES[name], *words(expected["swaps"]), "--no-fusion")
    assert answer["ok"] is expected["ok"]
    if not expected["ok"]:
        assert code == 1
        return
    after = answer["after"]
    assert after["peak"] == {key: expected["peak"][key] for key in PEAK_KEYS}
    assert after["fits"] is expected["fits"]
    assert after["total_peak_step"] == expected["total_peak_step"]
    assert (after["steps"], after["values"]) == (expected["steps"], expected["values"])
    assert code == (0 if expected["fits"] else 1)


def test_the_recipe_over_budget_in_force_after_one_and_after_two():
    expected = load_golden("so400m-over.json.gz")
    for entry in [expected["in_force"], *expected["after_one"], *expected["after_two"]]:
        code, answer = swap(SAMPLES / "so400m-over.recipe.json", *words(entry["swaps"]), "--no-fusion")
        assert answer["before"]["peak"] == expected["in_force"]["peak"]
        assert answer["after"]["peak"] == entry["peak"]
        assert answer["after"]["fits"] is entry["fits"]
        assert code == (0 if entry["fits"] else 1)


def test_the_written_recipe_fits_and_differs_in_the_swapped_plans_only(tmp_path):
    source = SAMPLES / "so400m-over.recipe.json"
    target = tmp_path / "fixed.json"
    code, answer = swap(source, "4=0", "21=0", "-o", target)
    assert (code, answer["after"]["fits"]) == (0, True)
    before, after = json.loads(source.read_bytes()), json.loads(target.read_bytes())
    for operation in ("4", "21"):
        assert after["recipe"]["plans"].pop(operation) == before["alternatives"][operation][0]
        del before["recipe"]["plans"][operation]
    assert before == after
    assert list(before) == list(after)
    again = run("summary", target, "--json").json["files"][0]
    assert again["fits"] is True
    assert again["peak"] == answer["after"]["peak"]


def test_no_swap_writes_the_file_byte_for_byte(tmp_path):
    source = golden_file("vit3-64tiles.recipe.json", tmp_path)
    target = tmp_path / "same.json"
    code, _ = swap(source, "-o", target)
    assert code == 0
    assert target.read_bytes() == source.read_bytes()


def test_the_file_that_was_read_is_not_overwritten_unless_asked(tmp_path):
    source = golden_file("models/i02_pair_standard_t8.recipe.json", tmp_path)
    data = source.read_bytes()
    assert_one_error(run("swap", source, "0=1", "1=0", "-o", source, "--json"), "was read")
    link = tmp_path / "link.json"
    link.symlink_to(source)
    assert_one_error(run("swap", source, "0=1", "1=0", "-o", link, "--json"), "was read")
    assert source.read_bytes() == data
    assert run("swap", source, "0=1", "1=0", "-o", source, "--force", "--json").code == 0
    assert source.read_bytes() != data


def test_what_cannot_be_lowered_is_not_written(tmp_path):
    target = tmp_path / "never.json"
    refused = next(entry for entry in load_golden("swaps-vit3.json.gz")["singles"] if not entry["ok"])
    result = run("swap", SAMPLES / "vit3-64tiles.recipe.json", *words(refused["swaps"]), "-o", target, "--json")
    assert result.code == 1
    assert result.json["ok"] is False
    assert not target.exists()
    assert result.err.count("\n") == 1


@pytest.mark.parametrize(
    ("swaps", "word"),
    [(["99=0"], "99"), (["4=7"], "0 to 6"), (["4"], "OP=ALT"), (["4=x"], "whole number"), (["-1=0"], "arguments")],
)
def test_swaps_that_do_not_exist(swaps, word):
    assert_one_error(run("swap", SAMPLES / "so400m-over.recipe.json", *swaps, "--json"), word)


def test_operations_with_the_largest_numbers_can_be_named(tmp_path):
    path = tmp_path / "wide.json"
    path.write_bytes(compact(wide_recipe()))
    last = 2**64 - 1
    after = run("swap", path, f"{last}=1", f"{last - 1}=1", "--json").json["after"]
    assert (after["fits"], after["peak"]["total"]) == (True, 53_800)
    assert {entry["op"] for entry in run("alternatives", path, "--op", last, "--json").json["alternatives"]} == {last}
    assert_one_error(run("swap", path, f"{last + 1}=1"), "'18446744073709551616' is more than 2^64 − 1")
    assert_one_error(run("swap", path, "5=1"), f"(those that have: {last - 1}, {last})")


def test_a_timeline_has_nothing_to_swap():
    assert_one_error(run("swap", SAMPLES / "rejected-op0.timeline.json", "0=0"), "a recipe", "timeline")


def test_text_shows_plans_and_changes():
    result = run("swap", SAMPLES / "so400m-over.recipe.json", "4=0", "21=0")
    assert result.code == 0
    for text in ("568,312 B", "500,344 B", "−67,968 B", "operation 21 Gemm: alternative 0", "grid 8 × 18 × 9"):
        assert text in result.out


def test_a_folder_that_cannot_be_written_to(tmp_path):
    target = tmp_path / "no-such-folder" / "out.json"
    assert_one_error(run("swap", SAMPLES / "so400m-over.recipe.json", "4=0", "-o", target, "--json"), "out.json")


def test_proposals_say_where_only_the_fused_program_fits() -> None:
    """Swapping 4 → 1 alone leaves the program without fusions 30,504 B over."""
    over = SAMPLES / "so400m-over.recipe.json"
    rows = [line for line in run("fix", over).out.splitlines() if line.startswith("4=")]
    assert len(rows) == 6
    assert all(row.endswith("fits with fusions only") for row in rows)
    rows = [line for line in run("fix", over, "--no-fusion").out.splitlines() if line.startswith("4=")]
    assert rows
    assert all(row.endswith(" fits") for row in rows)
