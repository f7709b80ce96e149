"""The requests of lowered programs and what becomes of every class of tiles in every preset, to the address."""

from __future__ import annotations

from functools import cache

import pytest

from tests.helpers.golden_recipes import golden_recipe, swapped
from tests.helpers.placements import Json, digest, golden_json
from tileview.analysis.placement import place_program
from tileview.core.lowering.replanner import Replanner
from tileview.core.placement.outcome import Answer, first_failing
from tileview.core.placement.proofs import prove
from tileview.core.placement.ranges import Preset, presets
from tileview.core.placement.requests import ProgramRequests, build_requests
from tileview.core.placement.search import PlacementOrder, run_order, search_placement
from tileview.model.placement import Memory, Request
from tileview.model.tensor import MemoryClass

PROGRAMS = ("vit3", "so400m", "so400m-21=3", "so400m-18=2", "so400m-4=4")
PRESETS = {
    "planner": "planner",
    "captured 482,496": "captured-482496",
    "captured 498,872": "captured-498872",
    "notes 513,920": "notes-513920",
}


@cache
def golden(name: str) -> Json:
    return golden_json(f"programs/{name}.json.gz")


@cache
def requests_of(name: str) -> ProgramRequests:
    expected = golden(name)
    recipe = golden_recipe(expected["sample"].removesuffix(".recipe.json"))
    return build_requests(Replanner().replan(swapped(recipe, expected["swaps"])))


def preset_of(name: str) -> Preset:
    reserve = golden_recipe("so400m").config.reserve_bytes
    return next(each for each in presets(reserve) if each.name == PRESETS[name])


def row(request: Request) -> list[object]:
    letter = "I" if request.memory_class is MemoryClass.INTERLEAVED else "S"
    stride = request.assignments[1][1] if len(request.assignments) > 1 else 0
    assert [offset for _, offset in request.assignments] == [i * stride for i in range(len(request.assignments))]
    life = [request.first, request.last]
    return [letter, request.bytes, request.alignment, *life, list(request.roots), stride, list(request.conflicts)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_requests_and_classes(name: str):
    expected, found = golden(name), requests_of(name)
    assert (found.events, found.count, len(found.classes)) == (
        expected["events"],
        expected["requests"],
        expected["class_count"],
    )
    for each, wanted in zip(found.classes, expected["classes"], strict=True):
        assert list(each.tiles) == wanted["tiles"]
        assert [row(request) for request in found.requests(each)] == wanted["requests"]


def test_multicast_conflicts_make_most_classes_of_so400m():
    recipe = golden_recipe("so400m")
    assert len(build_requests(Replanner().replan(recipe), multicast=False).classes) == 111


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_outcomes(name: str, preset: str):
    expected, chosen, requests = golden(name), preset_of(preset), requests_of(name)
    assert [list(span) for span in chosen.ranges] == expected["presets"][preset]
    placement = place_program(requests, chosen)
    totals = placement.totals
    counts = {"order 1": totals.order1, "order 2": totals.order2, "not placed": totals.not_placed, "over": totals.over}
    assert {key: count for key, count in counts.items() if count} == expected["totals"][preset]
    assert placement.enlargement == expected["enlargement"][preset]
    assert (placement.failing is None) == (first_failing(requests, placement.memory) is None)
    for each, outcome, wanted in zip(requests.classes, placement.outcomes, expected["classes"], strict=True):
        result, asked = wanted["outcomes"][preset], requests.asked(each, placement.memory)
        assert outcome.by == result["by"]
        proofs = prove(asked, placement.memory)
        assert (proofs.all.peak, proofs.over, list(proofs.no_place)) == (
            result["live_peak"],
            result["over"],
            result["no_place"],
        )
        assert run_order(asked, placement.memory, PlacementOrder.END_FIRST).placed is result["end_first"]
        if outcome.by is None:
            placing = outcome.placing
            assert (placing.failed, placing.hole, placing.free_bytes) == (
                result["failed"],
                result["largest_hole"],
                result["free_bytes"],
            )
            assert (outcome.answer is Answer.OVER) == proofs.impossible
        else:
            assert digest(outcome.starts) == result["digest"]
        if "addresses" in result:
            assert list(outcome.starts) == result["addresses"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_search(name: str):
    """Of each program the search with the least work: the others take a second each."""
    requests = requests_of(name)
    listed = [
        (wanted["outcomes"][preset]["search"], each, preset)
        for each, wanted in zip(requests.classes, golden(name)["classes"], strict=True)
        for preset in PRESETS
        if "search" in wanted["outcomes"][preset]
    ]
    for wanted, each, preset in sorted(listed, key=lambda entry: entry[0]["work"])[:1]:
        memory = Memory(preset_of(preset).ranges)
        found = search_placement(requests.asked(each, memory), memory)
        assert (found.placed, found.nodes, found.work) == (wanted["placed"], wanted["nodes"], wanted["work"])
        if found.starts is not None:
            assert digest(found.starts) == wanted["digest"]


def test_over_by_proof():
    """so400m-over where a real compile left 498,872 B open: 1,296 tiles are over, the other 176 placed."""
    recipe = golden_recipe("so400m-over")
    requests = build_requests(Replanner().replan(recipe))
    totals = place_program(requests, preset_of("captured 498,872"), enlarge=False).totals
    assert (totals.over, totals.placed, totals.not_placed) == (1296, 176, 0)
