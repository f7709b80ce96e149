"""What is over a limit, where keys and lists lead, whose bytes are at fault, and how all of it is said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.helpers.command_line import SAMPLES, run
from tests.helpers.fake_timeline import Alloc, FakeProgram, Step, make_timeline
from tests.helpers.opened import opened
from tileview.analysis.diagnose import diagnose_fully
from tileview.analysis.holdings import holdings, input_readers, owners_of_values
from tileview.analysis.loads import PeakPlace, peak_place, tile_load
from tileview.analysis.overflows import (
    fullest_tile_over,
    next_place_over,
    overflow_lines,
    overflow_phrases,
    overflow_sentence,
    overflows,
    steps_over,
)
from tileview.model.recipe import Recipe
from tileview.model.timeline import Timeline
from tileview.present.allocation_rows import AllocationFigures
from tileview.present.curves import CurveMode, curves, stack

BOTH = (
    "Two steps overflow: step 69 (op 21 Gemm: its 155.3 KiB copy and 80.0 KiB cast of op 20's result) by 29.8 KiB on "
    "tile 174; step 20 (op 4 Gemm: its 162.0 KiB scratch for its Sum, 32.0 KiB partial result and 27.0 KiB result) by "
    "14.4 KiB on tile 153."
)


def sample(name: str = "so400m-over.recipe.json") -> tuple[Timeline, Recipe]:
    session = opened(name)
    assert session.timeline is not None
    assert session.recipe is not None
    return session.timeline, session.recipe


def test_one_operation_is_at_fault_everywhere() -> None:
    """The copy (158,976 B) and the cast (81,920 B) of operation 20's result are made by operation 21's plan."""
    timeline, recipe = sample()
    at_69 = {root: int(timeline.tiles.allocation(root)[174]) for root in timeline.steps[69].live}
    copy, cast = (root for root, size in at_69.items() if size in (158_976, 81_920))
    assert [timeline.values[root].name for root in (copy, cast)] == ["operation 20 result 0"] * 2
    assert [timeline.maker(root) for root in (copy, cast)] == [21, 21]
    held = holdings(timeline, 69, 174, owners_of_values(recipe.graph), input_readers(recipe.graph))
    assert held.own[21] == 240_896
    assert 20 not in held.own
    found = overflows(timeline)
    assert found is not None
    assert [(one.step, one.tile, one.tiles_over, one.operation, one.over_bytes) for one in found] == [
        (69, 174, 1246, 21, 30_504),
        (20, 153, 71, 4, 14_760),
    ]
    assert [(item.root, item.bytes) for item in found[0].made] == [(copy, 158_976), (cast, 81_920)]
    why = diagnose_fully(timeline.verdict, timeline, recipe)
    assert {item.operation for item in why.contributions if item.root in (copy, cast)} == {21}
    assert [layer.sizes[69] for layer in stack(timeline, curves(timeline, CurveMode.WORST))
            if layer.operation == 21] == [240_896]  # fmt: skip


def test_one_name_everywhere() -> None:
    timeline, recipe = sample()
    names = {"op 21's copy of op 20's result (F16) #454", "op 21's cast of op 20's result (F8) #455"}
    assert names <= {row.name for row in AllocationFigures(timeline).table(69, 174).rows}
    assert names <= {item.name for item in tile_load(timeline, 69, 174).items}
    assert names <= {item.name for item in diagnose_fully(timeline.verdict, timeline, recipe).contributions}
    found = overflows(timeline)
    assert found is not None
    assert names == {item.name for item in found[0].made}


def test_every_overflow_is_told() -> None:
    timeline, recipe = sample()
    found = overflows(timeline)
    assert found is not None
    kinds = recipe.graph.kind_names()
    assert overflow_sentence(found, kinds) == BOTH
    links = [target for _, target in overflow_phrases(found, kinds) if target]
    assert links == ["step:69", "op:21", "root:454", "root:455", "tile:174",
                     "step:20", "op:4", "root:380", "root:378", "tile:153"]  # fmt: skip
    assert overflow_lines(found, kinds)[1].endswith("by 14.4 KiB on tile 153; 71 tiles are over.")
    assert overflow_sentence(found, {}, most=1).endswith("by 29.8 KiB on tile 174; and 1 more.")


def test_the_command_line_lists_them() -> None:
    def told(name: str) -> Any:
        return run("summary", "--json", SAMPLES / name).json["files"][0]["overflows"]

    first, second = told("so400m-over.recipe.json")
    assert first == {
        "step": 69,
        "first_step": 69,
        "last_step": 69,
        "tile": 174,
        "tiles_over": 1246,
        "operation": 21,
        "limit": "total",
        "over_bytes": 30504,
        "allocations": [
            {"id": 454, "name": "op 21's copy of op 20's result (F16) #454", "class": "Ipu21Standard", "bytes": 158976,
             "operation": 21},
            {"id": 455, "name": "op 21's cast of op 20's result (F8) #455", "class": "Ipu21Standard", "bytes": 81920,
             "operation": 21},
        ],
    }  # fmt: skip
    assert [item["id"] for item in second["allocations"]] == [None, 380, 378]
    assert BOTH in " ".join(run("summary", SAMPLES / "so400m-over.recipe.json").out.split())
    assert told("so400m.recipe.json") == []
    assert told("rejected-op0.timeline.json") is None


def two_tiles() -> Timeline:
    """Tile 0 holds 500,000 B in standard memory and fits, tile 1 430,000 B in interleaved memory and does not."""
    allocs = [Alloc("s", [500_000, 0], 0, 1), Alloc("i", [0, 430_000], 1, 1, interleaved=True)]
    return make_timeline(FakeProgram(2, [Step(), Step(source=3)], allocs))


def test_the_next_step_over_budget_is_shown_on_a_tile_that_is_over() -> None:
    timeline = two_tiles()
    assert steps_over(timeline).tolist() == [False, True]
    assert next_place_over(timeline, None, True) == PeakPlace(1, 1)
    assert next_place_over(timeline, 1, True) is None
    assert next_place_over(timeline, None, False) == PeakPlace(1, 1)
    assert next_place_over(timeline, 1, False) is None
    assert [peak_place(timeline, letter) for letter in "PSI"] == [PeakPlace(0, 0), PeakPlace(0, 0), PeakPlace(1, 1)]
    assert peak_place(replace(timeline, total_peak_step=None), "P") is None


def test_the_fullest_tile_over_is_the_last_of_equals() -> None:
    allocs = [Alloc("s", [90, 20, 90], 0, 0), Alloc("i", [1, 60, 2], 0, 0, interleaved=True)]
    timeline = make_timeline(FakeProgram(3, [Step()], allocs, budget=200, interleaved_budget=59, reserve=0))
    assert fullest_tile_over(timeline, 0) == 1
    assert fullest_tile_over(replace(timeline, interleaved_budget_bytes=60), 0) == 2


def test_runs_of_steps_and_the_interleaved_region() -> None:
    steps = [Step(source=1), Step(source=2), Step(source=2, scratch=30), Step(source=3), Step(source=4)]
    allocs = [
        Alloc("w", 50, 0, -1, parameter=True),
        Alloc("a", 60, 1, 2),
        Alloc("b", 80, 4, 4, interleaved=True),
    ]
    timeline = make_timeline(FakeProgram(1, steps, allocs, budget=100, interleaved_budget=70, reserve=0))
    found = overflows(timeline)
    assert found is not None
    assert [(one.limit, one.first_step, one.last_step, one.step, one.operation, one.over_bytes) for one in found] == [
        ("total", 1, 2, 2, 2, 40),
        ("total", 4, 4, 4, 4, 30),
        ("interleaved", 4, 4, 4, 4, 10),
    ]
    assert [(item.root, item.bytes) for item in found[0].made] == [(1, 60), (None, 30)]
    assert overflow_sentence(found[:1], {2: "Add"}).startswith("One run of steps overflows: step 2 of steps 1 to 2 (op")


@pytest.mark.parametrize("fits", [True, False])
def test_a_verdict_that_the_steps_contradict_is_not_known(fits: bool) -> None:
    timeline = two_tiles() if fits else make_timeline(FakeProgram(1, [Step()], [Alloc("a", 10, 0, 0)]))
    told = replace(timeline, verdict=replace(timeline.verdict, fits=fits))
    assert overflows(told) is None
