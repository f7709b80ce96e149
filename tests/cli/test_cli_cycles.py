"""``cycles``, and the planner's cycles in the other commands."""

from __future__ import annotations

from tests.helpers.command_line import SAMPLES, assert_one_error, run
from tests.helpers.golden_program import load_golden

VIT3 = SAMPLES / "vit3-64tiles.recipe.json"
OVER = SAMPLES / "so400m-over.recipe.json"


def test_every_operation_and_step():
    expected = load_golden("cycles/cycles-vit3.json.gz")
    answer = run("cycles", VIT3, "--json").json
    assert list(answer) == ["cycles", "exchange_cycles", "operations", "steps"]
    assert {key: answer[key] for key in ("cycles", "exchange_cycles", "operations")} == {
        key: expected[key] for key in ("cycles", "exchange_cycles", "operations")
    }
    assert [list(step.values()) for step in answer["steps"]] == expected["steps"]
    assert list(answer["steps"][0]) == ["index", "source", "kind", "count", "cycles", "exchange_cycles"]


def test_with_swaps():
    case = load_golden("cycles/cycles-swaps-vit3.json.gz")["swaps"][0]
    words = [f"{operation}={alternative}" for operation, alternative in case["swaps"]]
    answer = run("cycles", VIT3, *words, "--json").json
    assert (answer["cycles"], answer["operations"]) == (case["cycles"], case["operations"])
    text = run("cycles", VIT3, *words).out
    assert "planner's cycles 390,919 → 392,579: +1,660" in text


def test_summary_swap_diff_and_report_tell_them(tmp_path):
    assert "planner's cycles: 24,864,949, in exchange 7,591,399" in run("summary", OVER).out
    assert run("summary", SAMPLES / "rejected-op0.timeline.json", "--json").json["files"][0]["cycles"] is None
    fixed = tmp_path / "fixed.json"
    swap = run("swap", OVER, "4=0", "21=0", "-o", fixed)
    assert "planner's cycles 24,864,949 → 20,751,796: −4,113,153 (−17 %)" in swap.out
    counts = run("diff", OVER, fixed, "--json").json["counts"]
    assert counts["cycles"] == {"a": 24_864_949, "b": 20_751_796, "delta": -4_113_153}
    assert counts["exchange_cycles"]["b"] == 6_764_227
    page = tmp_path / "page.html"
    run("report", VIT3, "-o", page, "--no-alternatives")
    assert "planner&#x27;s cycles <b>390,919</b>" in page.read_text(encoding="utf-8")


def test_alternatives_say_the_difference():
    found = run("alternatives", VIT3, "--op", "29", "--json", "--workers", 1).json["alternatives"]
    entry = next(entry for entry in found if entry["alt"] == 9)
    assert (entry["cycles"], entry["exchange_cycles"], entry["delta_cycles"]) == (392_579, 143_272, 1_660)
    assert "+1,660" in run("alternatives", VIT3, "--op", "29", "--workers", 1).out


def test_fix_prefers_memory_or_cycles():
    for prefer in ("memory", "cycles"):
        answer = run("fix", OVER, "--prefer", prefer, "--json", "--workers", 1).json
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
