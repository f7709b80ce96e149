"""Files that contradict themselves, are damaged or known in part: through the core and through the commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.command_line import SAMPLES, assert_one_error, golden_file, run
from tileview.core.memory.from_file import timeline_from_file
from tileview.formats.timeline import load_timeline
from tileview.model.timeline import Cause


def fault(name: str, folder: Path) -> Path:
    return golden_file(f"faults/{name}.json", folder)


CONTRADICTIONS = {
    "F2-plausible": (500_000, 860_800),
    "F2-interleaved": (1_000, 860_800),
    "F2-v1": (1_000, 860_800),
    "F2-v3as2": (600_000 - 121_112, 860_800),
}
"""File → what its headline needs (exchange rows taken out), and what its steps need."""


@pytest.mark.parametrize("name", sorted(CONTRADICTIONS))
def test_a_false_headline_is_not_known(name: str, tmp_path: Path) -> None:
    path = fault(name, tmp_path)
    verdict = timeline_from_file(load_timeline(path)).verdict
    assert (verdict.fits, verdict.cause) == (None, Cause.CONTRADICTION)
    assert (verdict.stated_bytes, verdict.found_bytes) == CONTRADICTIONS[name]
    answer = run("summary", path, "--json")
    assert answer.code == 3
    (entry,) = answer.json["files"]
    assert entry["fits"] is None
    assert entry["verdict"]["cause"] == "contradiction"
    assert (entry["verdict"]["stated_bytes"], entry["verdict"]["found_bytes"]) == CONTRADICTIONS[name]
    text = run("summary", path)
    assert text.code == 3
    assert ": NOT KNOWN" in text.out
    assert "Nothing to do" not in text.out
    line = run("check", path)
    assert line.code == 3
    assert line.out.startswith("unknown ")
    assert f"{CONTRADICTIONS[name][0]:,} B" in line.out
    assert f"{CONTRADICTIONS[name][1]:,} B" in line.out
    assert line.out.count("\n") == 1
    assert run("check", path, "--json").json["files"][0]["passes"] is None
    page = tmp_path / "page.html"
    assert run("report", path, "-o", page).code == 3
    assert "<h2>NOT KNOWN</h2>" in page.read_text()
    assert run("profile", path).code == 3
    assert run("fix", path).code == 3
    assert "not known" in run("diff", path, path).out


def test_the_step_of_the_peak_is_the_true_one(tmp_path: Path) -> None:
    path = fault("E06-wrong-step", tmp_path)
    answer = run("summary", path, "--json")
    assert answer.code == 1
    (entry,) = answer.json["files"]
    verdict = entry["verdict"]
    assert (verdict["short_bytes"], verdict["step"], verdict["tile"], verdict["operation"]) == (273_840, 2, 0, 1)
    assert verdict["text"].endswith("at step 2, tile 0, operation 1")
    assert (entry["total_peak_step"], entry["standard_peak_step"]) == (2, 2)
    assert any("total_peak_step" in note for note in entry["notes"])


def test_an_entry_that_is_unavailable_is_no_number(tmp_path: Path) -> None:
    path = fault("E03-tb-2p64-1", tmp_path)
    answer = run("summary", path)
    assert answer.code == 1
    assert "-1 B" not in answer.out
    assert "−1 B" not in answer.out
    assert "the largest is 0 B" not in answer.out
    assert "1 entry is unavailable (2^64 − 1), first tile 0" in answer.out


def test_the_same_entry_in_a_file_that_fits_makes_it_not_known(tmp_path: Path) -> None:
    document = json.loads((SAMPLES / "vit3-64tiles.v3.timeline.json").read_bytes())
    assert run("check", SAMPLES / "vit3-64tiles.v3.timeline.json").code == 0
    for damage in (2**64 - 1, "x", None):
        value = document["timeline"]["values"][1]
        kept = list(value["tile_bytes"])
        value["tile_bytes"] = [damage, *kept[1:]] if damage is not None else kept[:-1]
        path = tmp_path / "damaged.json"
        path.write_text(json.dumps(document))
        answer = run("summary", path, "--json")
        assert answer.code == 3, damage
        (entry,) = answer.json["files"]
        assert (entry["fits"], entry["verdict"]["cause"]) == (None, "damaged")
        assert "timeline.values[1].tile_bytes" in entry["verdict"]["text"]
        value["tile_bytes"] = kept


def test_budgets_of_zero(tmp_path: Path) -> None:
    answer = run("summary", fault("E05-all0", tmp_path))
    assert answer.code == 1
    assert "860,800 B over the budget of 0 B at step 2, tile 0, operation 1" in answer.out


def test_a_graph_that_reads_what_nothing_makes(tmp_path: Path) -> None:
    answer = run("summary", fault("E13-cycle", tmp_path))
    assert answer.code == 1
    assert "it reads value 2, which nothing before it makes" in answer.out
    assert "Try another plan" not in answer.out
    assert "The graph itself is at fault" in answer.out


def test_a_plan_number_of_zero_cannot_be_lowered(tmp_path: Path) -> None:
    path = fault("kb0.recipe", tmp_path)
    answer = run("check", path)
    assert answer.code == 1
    assert "cannot be lowered: operation 0: the plan's key_block_rows is 0, it must be at least 1" in answer.out
    assert run("fix", path, "--workers", "1", "--limit", "20").code in (0, 1)
    assert run("report", path, "-o", tmp_path / "page.html", "--no-alternatives").code == 1
    assert run("profile", path).code == 2


def test_alternatives_with_numbers_of_zero_cannot_be_lowered(tmp_path: Path) -> None:
    path = fault("zero-fix.recipe", tmp_path)
    answer = run("alternatives", path, "--json", "--workers", "1")
    assert answer.code in (0, 1)
    refused = [found["error"] for found in answer.json["alternatives"] if not found["ok"]]
    assert any("it must be at least 1" in error for error in refused)
    assert run("fix", path, "--workers", "1", "--limit", "20").code in (0, 1)


def test_a_reserve_near_2_62(tmp_path: Path) -> None:
    (entry,) = run("summary", fault("reserve62.timeline", tmp_path), "--json").json["files"]
    assert entry["verdict"]["needed_bytes"] == 2**62 + 860_800
    assert entry["verdict"]["short_bytes"] == 2**62 + 860_800 - 586_960


# -- what is typed --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("typed", ["488,6KiB", "48,5", "1,00,000", "48.5", "1_00", "5 GiB"])
def test_numbers_that_are_not_understood_are_refused(typed: str) -> None:
    answer = run("check", SAMPLES / "so400m.recipe.json", "--max-total", typed)
    assert_one_error(answer, typed)


def test_a_decimal_comma_is_told_to_use_a_point() -> None:
    answer = run("check", SAMPLES / "so400m.recipe.json", "--max-total", "48,5KiB")
    assert_one_error(answer, "use a point", "48.5KiB")


def test_one_operation_is_swapped_once() -> None:
    assert_one_error(run("swap", SAMPLES / "pair-8tiles.recipe.json", "0=2", "0=1"), "operation 0 is named twice")


def test_a_budget_above_the_chip_is_said_to_be_cut() -> None:
    for name in ("so400m.recipe.json", "vit3-64tiles.v3.timeline.json"):
        (entry,) = run("summary", SAMPLES / name, "--budget", "700000", "--json").json["files"]
        assert entry["budget_bytes"] == 586_960
        assert "the budget of 700,000 B is cut to the 586,960 B that a tile has for plans" in entry["notes"]
