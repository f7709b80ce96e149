"""``cycles``, and the planner's cycles in the other commands."""

from __future__ import annotations

from tests.helpers.command_line import SAMPLES, assert_one_error, run
from tests.helpers.golden_program import load_golden

VIT3 = SAMPLES / "vit3-64tiles.recipe.json"
OVER = SAMPLES / "so400m-over.recipe.json"


def test_every_operation_and_step():
    expected = load_golden("cycles/cycles-vit3.json.gz")
    answer = run("cycles", VIT3, "--no-fusion", "--json").json
    assert list(answer) == ["cycles", "exchange_cycles", "operations", "steps"]
    assert {key: answer[key] for key in ("cycles", "exchange_cycles", "operations")} == {
        key: expected[key] for key in ("cycles", "exchange_cycles", "operations")
    }
    assert [list(step.values()) for step in answer["steps"]] == expected["steps"]
    assert list(answer["steps"][0]) == ["index", "source", "kind", "count", "cycles", "exchange_cycles"]


def test_with_swaps():
    case = load_golden("cycles/cycles-swaps-vit3.json.gz")["swaps"][0]
    words = [f"{operation}={alternative}" for operation, alternative in case["swaps"]]
    answer = run("cycles", VIT3, *words, "--no-fusion", "--json").json
    assert (answer["cycles"], answer["operations"]) == (case["cycles"], case["operations"])
    text = run("cycles", VIT3, *words, "--no-fusion").out
    assert "planner's cycles 390,919 → 392,579: +1,660" in text


def test_summary_swap_diff_and_report_tell_them(tmp_path):
    assert "planner's cycles: 24,864,949, in exchange 7,591,399" in run("summary", OVER).out
    assert run("summary", SAMPLES / "rejected-op0.timeline.json", "--json").json["files"][0]["cycles"] is None
    fixed = tmp_path / "fixed.json"
    swap = run("swap", OVER, "4=0", "21=0", "-o", fixed, "--no-fusion")
    assert "planner's cycles 24,864,949 → 20,751,796: −4,113,153 (−17 %)" in swap.out
    counts = run("diff", OVER, fixed, "--no-fusion", "--json").json["counts"]
    assert counts["cycles"] == {"a": 24_864_949, "b": 20_751_796, "delta": -4_113_153}
    assert counts["exchange_cycles"]["b"] == 6_764_227
    page = tmp_path / "page.html"
    run("report", VIT3, "-o", page, "--no-alternatives", "--no-fusion")
    assert "planner&#x27;s cycles <b>390,919</b>" in page.read_text(encoding="utf-8")


def test_alternatives_say_the_difference():
    found = run("alternatives", VIT3, "--op", "29", "--no-fusion", "--json", "--workers", 1).json["alternatives"]
    entry = next(entry for entry in found if entry["alt"] == 9)
    assert (entry["cycles"], entry["exchange_cycles"], entry["delta_cycles"]) == (392_579, 143_272, 1_660)
    assert "+1,660" in run("alternatives", VIT3, "--op", "29", "--no-fusion", "--workers", 1).out


def test_fix_prefers_memory_or_cycles():
    for prefer in ("memory", "cycles"):
        answer = run("fix", OVER, "--no-fusion", "--prefer", prefer, "--json", "--workers", 1).json
        assert answer["swaps"] == [[4, 1], [21, 3]]
        cycles = [proposal["cycles"] for proposal in answer["proposals"]]
        assert cycles == sorted(cycles)
        assert answer["after"]["cycles"] == cycles[0] == 19_947_061
    assert_one_error(run("fix", OVER, "--prefer", "cycles", "--most-margin"), "--most-margin")


def test_what_cannot_be_priced():
    """LayerNorm in two parts of operation 3 cannot be lowered."""
    refused = load_golden("swaps-vit3.json.gz")["singles"]
    swaps = next(case["swaps"] for case in refused if not case["ok"])
    words = [f"{operation}={alternative}" for operation, alternative in swaps]
    result = run("cycles", VIT3, *words, "--json")
    assert result.code == 1
    assert (result.json["cycles"], result.json["steps"]) == (None, [])
    assert_one_error(run("cycles", SAMPLES / "rejected-op0.timeline.json"), "a recipe")


def test_with_fusions_the_fused_program_is_priced():
    expected = load_golden("fusion/fusion-vit3.json.gz")["fused"]
    answer = run("cycles", VIT3, "--json").json
    assert (answer["cycles"], answer["exchange_cycles"]) == (expected["cycles"], expected["exchange_cycles"])
    assert answer["operations"] == expected["operations"]
    for change in expected["changed_steps"]:
        assert answer["steps"][change["index"]]["kind"] == change["kind"]
    text = run("cycles", VIT3).out
    assert "the program is the one after the compiler's fusions (−4,788 planner's cycles" in text
    assert any("19 Add" in line and "its sum is in the step of operation 20" in line for line in text.splitlines())


def test_summary_says_which_program_stands():
    for file, words, fits in ((VIT3, "fused", True), (OVER, "does not fit fused", False)):
        entry = run("summary", file, "--json").json["files"][0]
        assert (entry["fusion"], entry["fits_without_fusion"]) == (words, fits)
        entry = run("summary", file, "--no-fusion", "--json").json["files"][0]
        assert (entry["fusion"], entry["fits_without_fusion"]) == ("off", fits)
    pair = run("summary", SAMPLES / "pair-8tiles.recipe.json", "--json").json["files"][0]
    assert pair["fusion"] == "nothing to fuse"
    timeline = run("summary", SAMPLES / "rejected-op0.timeline.json", "--json").json["files"][0]
    assert (timeline["fusion"], timeline["fits_without_fusion"]) == (None, None)


def test_one_swap_repairs_what_two_did_without_fusions():
    answer = run("fix", OVER, "--json", "--workers", 1).json
    assert answer["swaps"] == [[4, 1]]
    assert (answer["after"]["fits"], answer["after"]["fits_without_fusion"]) == (True, False)
    result = run("swap", OVER, "4=0")
    assert result.code == 0
    assert "after:  fits with the compiler's fusions (total 500,344 B; without them 30,504 B over)" in result.out


def test_a_timeline_is_said_to_be_of_one_of_the_two_programs(tmp_path):
    sample = SAMPLES / "vit3-64tiles.v3.timeline.json"
    notes = run("diff", VIT3, sample, "--json").json["notes"]
    assert any("150 of the timeline's 150 steps match the program without fusions, 146" in note for note in notes)
    fused = tmp_path / "fused.json"
    assert run("profile", VIT3, "-o", fused).code == 0
    notes = run("diff", fused, VIT3, "--json").json["notes"]
    assert any(note.endswith("the timeline is of the program with fusions.") for note in notes)
    assert any("147 match the one with them" in note for note in notes)


def test_check_and_report_call_a_fit_by_fusions_so(tmp_path):
    fixed, page = tmp_path / "fixed.json", tmp_path / "page.html"
    assert run("swap", OVER, "4=0", "-o", fixed).code == 0
    result = run("check", fixed)
    assert result.code == 0
    assert "fits with the compiler's fusions only" in result.out
    assert run("check", fixed, "--no-fusion").code == 1
    assert run("report", fixed, "-o", page, "--no-alternatives").code == 0
    text = page.read_text(encoding="utf-8")
    assert "<h2>Fits with fusions</h2>" in text
    assert "without them 30,504 B over" in text
    assert "FITS WITH FUSIONS" in run("summary", fixed).out
