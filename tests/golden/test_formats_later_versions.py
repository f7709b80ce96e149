"""Search states of versions 7 and 8: the same programs as in version 6, spelt in another way."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.golden_program import DATA
from tests.helpers.golden_recipes import golden_recipe, peak_json, swapped
from tests.helpers.opened import rendered
from tileview.core.estimate import estimate
from tileview.core.estimated import Estimate
from tileview.core.lowering.replanner import Replanner
from tileview.errors import LoadError
from tileview.formats.save import Changes
from tileview.formats.search_state import SearchState, load_search_state, search_state_from_bytes
from tileview.model.plan import Pointwise, Unknown
from tileview.model.recipe import Overrides

Json = dict[str, Any]
FOLDER = DATA / "v8"
EXPECTED: dict[str, Json] = json.loads(gzip.decompress((FOLDER / "expected.json.gz").read_bytes()))
OPENED = [name for name, case in EXPECTED.items() if "peak" in case]
BROKEN = [name for name in EXPECTED if name.startswith("broken/")]
MAPPED = "f01_gemm_swapped_t64.v8.recipe.json.gz"
OPTIONS = ("cast_before_copies", "reuse_cast_inputs", "packing_rows", "parallel_reductions", "disjoint_copy_sources")

COMPOSED = Overrides(fusion=False)
"""The recorded figures are of the program without the compiler's fusions."""


def raw_of(name: str) -> bytes:
    return gzip.decompress((FOLDER / name).read_bytes())


def opened(name: str) -> SearchState:
    return search_state_from_bytes(raw_of(name), name)


def changed(name: str, path: str, value: object) -> bytes:
    """A file with one value put in another's place, or added; ``path`` has dots between keys and indices."""
    document = json.loads(raw_of(name))
    *parents, last = path.split(".")
    place = document
    for key in parents:
        place = place[int(key) if isinstance(place, list) else key]
    place[int(last) if isinstance(place, list) else last] = value
    return json.dumps(document, separators=(",", ":")).encode()


def noted(made: Estimate) -> list[str]:
    return [name for name in OPTIONS if any(f"(options.{name}: " in note for note in made.notes)]


@pytest.mark.parametrize("name", OPENED)
def test_figures(name: str) -> None:
    case = EXPECTED[name]
    state = opened(name)
    assert state.version == int(name.split(".v")[1][0])
    assert not [problem for problem in state.problems if problem.severity != "note"]
    replanner = Replanner()
    made = estimate(state.recipe, COMPOSED, replanner)
    timeline = made.timeline
    assert timeline is not None
    assert peak_json(timeline.peak) == case["peak"]
    assert (made.verdict.fits, len(timeline.steps), len(timeline.values)) == (
        case["fits"],
        case["steps"],
        case["values"],
    )
    assert timeline.total_peak_step == case["total_peak_step"]
    assert timeline.tiles.worst()[:, 3].tolist() == case["worst_tile"]
    at_peak = timeline.tiles.usage(case["total_peak_step"])
    assert at_peak.tolist() == case["tile_usage_at_total_peak"]
    usage = [[step.usage.standard, step.usage.interleaved] for step in timeline.steps]
    assert usage == [row[:2] for row in case["step_usage"]]
    assert sorted(noted(made)) == sorted(case.get("options_noted", []))
    for swap in case.get("swaps", ()):
        after = estimate(swapped(state.recipe, swap["swaps"]), COMPOSED, replanner)
        assert (after.error is None) == swap["ok"]
        if after.timeline is not None:
            assert (after.timeline.peak.total, after.verdict.fits) == (swap["total"], swap["fits"])


@pytest.mark.parametrize("name", OPENED)
def test_written_back_to_the_byte(name: str) -> None:
    state = opened(name)
    assert rendered(state) == raw_of(name)
    assert rendered(state, Changes()) == raw_of(name)


@pytest.mark.parametrize("name", [name for name, case in EXPECTED.items() if "export_of" in case])
def test_export_of_a_swap(name: str) -> None:
    case = EXPECTED[name]
    assert rendered(opened(case["export_of"]), Changes(plans=dict(case["swaps"]))) == raw_of(name)


@pytest.mark.parametrize("name", BROKEN)
def test_broken(name: str) -> None:
    case = EXPECTED[name]
    raw = gzip.decompress((FOLDER / f"{name}.gz").read_bytes())
    path = case["path"].replace("alternatives.0.0", "alternatives.0[0]")
    if case["opens"]:
        assert path in [problem.place for problem in search_state_from_bytes(raw, name).problems]
        return
    with pytest.raises(LoadError) as caught:
        search_state_from_bytes(raw, name)
    assert caught.value.place == path


def test_plans_are_those_of_version_6() -> None:
    wanted = golden_recipe("vit3-64tiles")
    for version in (7, 8):
        found = opened(f"vit3.v{version}.recipe.json.gz").recipe
        assert found.plans == wanted.plans
        assert dict(found.alternatives) == dict(wanted.alternatives)
        assert (found.inputs, found.open_boundaries) == (wanted.inputs, wanted.open_boundaries)


@pytest.mark.parametrize("rotated", [5, 37])
def test_a_mapping_moves_every_number_to_its_tile(rotated: int) -> None:
    """The mapping t → (rotated t + 3) mod 64 is not its own inverse."""
    chip = [(rotated * tile + 3) % 64 for tile in range(64)]
    plain = estimate(opened(MAPPED).recipe).timeline
    state = search_state_from_bytes(changed(MAPPED, "recipe.options.tile_mapping", chip))
    moved = estimate(state.recipe).timeline
    assert plain is not None
    assert moved is not None
    assert moved.peak == plain.peak
    assert moved.verdict.fits == plain.verdict.fits
    for step in range(len(plain.steps)):
        assert (moved.tiles.usage(step)[chip] == plain.tiles.usage(step)).all()
        assert (moved.tiles.scratch(step)[chip] == plain.tiles.scratch(step)).all()
        totals = plain.tiles.usage(step).sum(axis=1)
        last = max(chip[tile] for tile in np.flatnonzero(totals == totals.max()))
        assert moved.tiles.worst()[step, 3] == last


@pytest.mark.parametrize(
    "mapping", [list(range(63)), [0] * 64, [*range(63), 64], [1] * 63 + [0], [*range(1, 65)]], ids=str
)
def test_a_mapping_that_is_no_permutation_is_a_problem_and_ignored(mapping: list[int]) -> None:
    state = search_state_from_bytes(changed(MAPPED, "recipe.options.tile_mapping", mapping))
    assert [problem.severity for problem in state.problems if problem.place == "recipe.options.tile_mapping"] == [
        "error"
    ]
    assert not state.recipe.chip_tiles
    found, plain = estimate(state.recipe).timeline, estimate(opened(MAPPED).recipe).timeline
    assert found is not None
    assert plain is not None
    assert (found.tiles.worst() == plain.tiles.worst()).all()


@pytest.mark.parametrize(
    ("option", "value", "is_noted"),
    [
        ("parallel_reductions", 1, False),
        ("parallel_reductions", 2, True),
        ("packing_rows", 0, False),
        ("packing_rows", 1, True),
        ("packing_rows", 65_535, True),
        ("reuse_cast_inputs", True, True),
        ("disjoint_copy_sources", True, True),
        ("cast_before_copies", True, True),
        ("cast_before_copies", False, False),
    ],
)
def test_options_that_ask_for_something_are_noted(option: str, value: object, is_noted: bool) -> None:
    state = search_state_from_bytes(changed(MAPPED, f"recipe.options.{option}", value))
    assert noted(estimate(state.recipe)) == ([option] if is_noted else [])
    assert state.recipe.requests == (((f"options.{option}", json.dumps(value)),) if is_noted else ())


def test_unknown_options_and_fields_of_version_6_are_noted_unless_empty() -> None:
    raw = changed(MAPPED, "recipe.options.later", 3)
    assert search_state_from_bytes(raw).recipe.requests == (("options.later", "3"),)
    raw = changed(MAPPED, "recipe.packing", [{"operation": 3}])
    assert search_state_from_bytes(raw).recipe.requests == (("packing", '{"operation":3}'),)
    for path in ("recipe.options.later", "recipe.packing"):
        assert not search_state_from_bytes(changed(MAPPED, path, [])).recipe.requests


def test_version_7_notes_what_version_6_does() -> None:
    owners = {"inputs": {}, "operators": {}, "results": [4]}
    raw = changed("vit3.v7.recipe.json.gz", "recipe.owners", owners)
    assert search_state_from_bytes(raw).recipe.requests == (("owners.results", "[4]"),)


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        ("recipe.options.packing_rows", 65_536, "recipe.options.packing_rows"),
        ("recipe.options.packing_rows", -1, "recipe.options.packing_rows"),
        ("recipe.options.tile_mapping", None, "recipe.options.tile_mapping"),
        ("recipe.options.tile_mapping", [1.5], "recipe.options.tile_mapping[0]"),
        ("recipe.options.reuse_cast_inputs", 1, "recipe.options.reuse_cast_inputs"),
        ("recipe.plans.0.reuse_inputs", "Fresh", "recipe.plans.0.reuse_inputs"),
        ("recipe.plans.0.reuse_inputs", [-1], "recipe.plans.0.reuse_inputs[0]"),
        ("recipe.plans.0.requirements", {}, "recipe.plans.0.requirements"),
        ("recipe.plans.0.output", {"format": {}}, "recipe.plans.0.output.precision"),
    ],
)
def test_malformed(path: str, value: object, place: str) -> None:
    with pytest.raises(LoadError) as caught:
        search_state_from_bytes(changed(MAPPED, path, value))
    assert caught.value.place == place


@pytest.mark.parametrize("option", [*OPTIONS, "tile_mapping"])
def test_every_option_is_required(option: str) -> None:
    document = json.loads(raw_of(MAPPED))
    del document["recipe"]["options"][option]
    with pytest.raises(LoadError) as caught:
        search_state_from_bytes(json.dumps(document).encode())
    assert caught.value.place == f"recipe.options.{option}"


def test_dispatches_of_the_other_spelling_are_unknown() -> None:
    """``Pointwise`` in version 8, ``LocalKernel`` in version 6, and a ``LocalKernel`` that no kernel follows from."""
    dispatch = {"Pointwise": {"kernel": "Gelu"}}
    plan = search_state_from_bytes(changed(MAPPED, "recipe.plans.0.dispatch", dispatch)).recipe.plans[0]
    assert isinstance(plan.dispatch, Unknown)
    later = opened("vit3.v8.recipe.json.gz").recipe.plans
    local = [number for number, plan in later.items() if isinstance(plan.dispatch, Pointwise)]
    assert local == [n for n, p in golden_recipe("vit3-64tiles").plans.items() if isinstance(p.dispatch, Pointwise)]
    assert local
    plan = search_state_from_bytes(changed(MAPPED, "recipe.plans.0.dispatch", "LocalKernel")).recipe.plans[0]
    assert plan.dispatch == Unknown("LocalKernel", '"LocalKernel"')


def test_an_empty_list_of_reused_inputs_is_a_fresh_result() -> None:
    plain = opened(MAPPED).recipe
    found = search_state_from_bytes(changed(MAPPED, "recipe.plans.0.reuse_inputs", [])).recipe
    assert found.plans[0] == replace(plain.plans[0], may_alias=())


@pytest.mark.parametrize("version", [1, 5])
def test_earlier_versions_are_named_with_what_can_be_said_of_them(version: int) -> None:
    with pytest.raises(LoadError) as caught:
        search_state_from_bytes(changed(MAPPED, "version", version))
    text = str(caught.value)
    assert f"search state version {version}, written by an earlier build of the compiler" in text
    assert "TileView reads 6, 7 and 8. An early version 6 build of the compiler loads versions 1 to 5" in text
    assert "64 tiles" in text
    assert f"{len(list(opened(MAPPED).recipe.graph.walk()))} operations" in text


@pytest.mark.parametrize("version", [0, 9])
def test_unknown_versions_name_those_that_are_read(version: int) -> None:
    with pytest.raises(LoadError) as caught:
        search_state_from_bytes(changed(MAPPED, "version", version))
    assert "TileView reads versions 6, 7 and 8 of a search state" in str(caught.value)
    assert "No search state beyond version 8 is known." in str(caught.value)
    assert "64 tiles" in str(caught.value)


@pytest.mark.parametrize("version", [9, None])
def test_a_program_of_another_version_is_told_of_beyond_the_first_bytes(version: int | None, tmp_path: Path) -> None:
    """so400m's graph alone takes more than the 64 KiB that tell what kind of file it is."""
    document = json.loads(gzip.decompress((DATA / "so400m.recipe.json.gz").read_bytes()))
    recipe = golden_recipe("so400m")
    del document["version"]
    path = tmp_path / "later.json"
    path.write_text(json.dumps(document if version is None else {"version": version, **document}))
    with pytest.raises(LoadError) as caught:
        load_search_state(path)
    assert f"1,472 tiles, {len(list(recipe.graph.walk()))} operations" in str(caught.value)


def test_a_number_of_packing_rows_that_is_no_whole_one_names_its_range() -> None:
    with pytest.raises(LoadError, match="from 0 to 65,535"):
        search_state_from_bytes(changed(MAPPED, "recipe.options.packing_rows", 64.0))
