"""The formats against the compiler's own files: read completely, written back to the byte."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from functools import cache
from typing import Any

import orjson
import pytest

from tests.helpers import make_samples
from tests.helpers.dumps import SAMPLES, compact, sample
from tests.helpers.golden_program import DATA, load_golden, read_program
from tests.helpers.opened import rendered
from tileview.core.memory.measurement import measure
from tileview.formats import debugtensors, debugtext
from tileview.formats.search_state import search_state_from_bytes
from tileview.formats.tensorjson import format_to_json, layout_from_json, layout_to_json
from tileview.formats.tilearrays import TileArrays
from tileview.formats.timeline import timeline_from_bytes
from tileview.formats.timeline_writer import dump_timeline, written_contiguous_overflow
from tileview.model.sizes import UNAVAILABLE
from tileview.model.timeline import ClassBytes, Timeline, Verdict

MODELS = sorted(path.name for path in (DATA / "models").glob("*.recipe.json.gz"))
SAMPLE_RECIPES = sorted(path.name for path in SAMPLES.glob("*.recipe.json"))
PROFILES = [("vit3", "selected"), ("vit3", "composed"), ("so400m", "composed")]
OPTIONS = (("gemm_output_packing", "Automatic"), ("attention_products", "Automatic"))


def recipe_bytes(name: str) -> bytes:
    return gzip.decompress((DATA / "models" / name).read_bytes()) if name in MODELS else sample(name)


@pytest.mark.parametrize("name", [*MODELS, *SAMPLE_RECIPES])
def test_recipes(name: str) -> None:
    """Opens without an error, is written back to the byte, and every piece of it is printed as it was."""
    raw = recipe_bytes(name)
    state = search_state_from_bytes(raw, name)
    assert {problem.severity for problem in state.problems} <= {"note"}
    assert not state.recipe.requests
    assert rendered(state) == raw
    document = json.loads(raw)
    graph, config, _ = document["context"].split("\n")
    assert debugtext.to_text(debugtext.parse(graph)) == graph
    assert debugtext.to_text(debugtext.parse(config)) == config
    for value, home in state.recipe.inputs.items():
        assert orjson.dumps(format_to_json(home)) == compact(document["inputs"][str(value)])
    for operation, plans in state.recipe.alternatives.items():
        assert len(plans) == len(document["alternatives"][str(operation)])
        for plan, entry in zip(plans, document["alternatives"][str(operation)], strict=True):
            for found, wanted in zip(plan.inputs, entry["requirements"]["inputs"], strict=True):
                assert format_to_json(found.format) == wanted["format"]
                assert (found.local_staging, found.materialization) == (
                    wanted["local_staging"],
                    wanted["materialization"],
                )


def test_rule_recipes() -> None:
    count = 0
    for line in gzip.decompress((DATA / "rules.jsonl.gz").read_bytes()).splitlines():
        rule = json.loads(line)
        state = search_state_from_bytes(compact(rule["recipe"]), rule["name"])
        assert not [problem for problem in state.problems if problem.severity != "note"], rule["name"]
        count += 1
    assert count == 205


def test_layouts_in_json_and_in_debug_text_are_one() -> None:
    vectors = load_golden("layout-vectors.json.gz")["vectors"]
    assert len(vectors) > 300
    for entry in vectors:
        layout = layout_from_json(entry["layout"])
        assert layout_to_json(layout) == entry["layout"]
        assert debugtensors.layout_from_text(str(layout)) == layout


@cache
def profile(name: str, level: str) -> dict[str, Any]:
    document: dict[str, Any] = load_golden(f"{name}-profile.json.gz")[level]
    return document


@pytest.mark.parametrize(("name", "level"), PROFILES)
def test_profiles_are_read_completely(name: str, level: str) -> None:
    document = profile(name, level)
    file = timeline_from_bytes(compact(document))
    assert not file.problems
    assert isinstance(file.tiles, TileArrays)
    assert not file.tiles.check()
    assert file.has_tiles
    assert (file.total_peak_step, file.standard_peak_step) == (
        document["total_peak_step"],
        document["standard_peak_step"],
    )
    for index, step in enumerate(document["timeline"]["steps"]):
        usage, scratch = file.tiles.tile_usage(index), file.tiles.tile_scratch(index)
        assert usage is not None
        assert scratch is not None
        assert usage.tolist() == step["tile_usage"]
        assert scratch.tolist() == step["tile_scratch"]
        assert file.steps[index].live == tuple(step["live"])
    for index, value in enumerate(document["timeline"]["values"]):
        shards, tile_bytes = file.tiles.tile_shards(index), file.tiles.tile_bytes(index)
        assert shards is not None
        assert tile_bytes is not None
        assert shards.tolist() == value["tile_shards"]
        assert tile_bytes.tolist() == value["tile_bytes"]
        assert str(file.values[index].layout) == value["layout"]


@cache
def measured(name: str, level: str) -> Timeline:
    document = profile(name, level)
    program = read_program(load_golden(f"{name}-program.json.gz")[level])
    return measure(program, document["budget_bytes"], document["support_reserve_bytes"], document["scope"])


def with_texts_of(timeline: Timeline, document: dict[str, Any]) -> Timeline:
    """The timeline with the sentences of a document, whose wording is free."""
    steps = zip(timeline.steps, document["timeline"]["steps"], strict=True)
    worded = tuple(replace(step, operation=entry["operation"]) for step, entry in steps)
    return replace(timeline, model=document["model"], steps=worded)


@pytest.mark.parametrize(("name", "level"), PROFILES)
def test_profiles_are_written_to_the_byte(name: str, level: str) -> None:
    document = profile(name, level)
    timeline = with_texts_of(measured(name, level), document)
    assert dump_timeline(timeline, OPTIONS) == compact(document)


def test_later_files_have_no_options() -> None:
    written = json.loads(dump_timeline(measured("vit3", "composed")))
    assert not {"gemm_output_packing", "attention_products"} & written.keys()


# -- what is unavailable --------------------------------------------------------------------------------------------


def test_the_overflow_of_an_unavailable_allocation() -> None:
    """The checked fact of the version-1 sample: 2^64 − 1 − 424,880."""
    assert written_contiguous_overflow(UNAVAILABLE, 49_152 + 548) == 18446744073709126735
    assert written_contiguous_overflow(424_880, 0) == 0
    assert written_contiguous_overflow(424_881, UNAVAILABLE) == 1


def test_unavailable_sizes_are_written_as_the_compiler_writes_them() -> None:
    """The allocation of value 0 is lost: its sizes, and every sum of its class that contains it, are 2^64 − 1."""
    largest = 2**64 - 1
    timeline = measured("vit3", "composed")
    root = timeline.values[0].root
    members = timeline.aliases[root]
    column = "standard" if timeline.values[members[-1]].memory_class.value == "Ipu21Standard" else "interleaved"
    lost = replace(timeline.values[0], shard_bytes=UNAVAILABLE, aligned_bytes=UNAVAILABLE, bytes=UNAVAILABLE)
    steps = tuple(
        replace(step, usage=ClassBytes(UNAVAILABLE, step.usage.interleaved)) if root in step.live else step
        for step in timeline.steps
    )
    verdict: Verdict = replace(timeline.verdict, fits=False)
    peak = replace(timeline.peak, standard=UNAVAILABLE, total=UNAVAILABLE)
    changed = replace(
        timeline,
        values=(lost, *timeline.values[1:]),
        steps=steps,
        peak=peak,
        verdict=verdict,
        unavailable_roots=frozenset({root}),
    )
    document = json.loads(dump_timeline(changed))
    assert document["fits_budget"] is False
    assert (document["peak"]["total"], document["effective_peak_bytes"]) == (largest, largest)
    entry = document["timeline"]["values"][0]
    assert (entry["shard_bytes"], entry["aligned_bytes"], entry["bytes"]) == (largest, largest, largest)
    assert entry["layout_error"]
    assert set(entry["tile_shards"]) == set(entry["tile_bytes"]) == {largest}
    before = profile("vit3", "composed")["timeline"]["steps"]
    which = 0 if column == "standard" else 1
    for step, old in zip(document["timeline"]["steps"], before, strict=True):
        for found, wanted in zip(step["tile_usage"], old["tile_usage"], strict=True):
            assert found[1 - which] == wanted[1 - which]
            assert found[which] == (largest if root in step["live"] else wanted[which])
    again = timeline_from_bytes(dump_timeline(changed))
    assert not again.problems
    assert again.values[0].bytes is UNAVAILABLE


# -- the sample files -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scope", ["pair-8tiles", "vit3-64tiles"])
def test_sample_timelines_are_the_estimates_of_the_sample_recipes(scope: str) -> None:
    """Every number; the wording of steps and of the model is free."""
    stored = json.loads(sample(f"{scope}.v3.timeline.json"))
    fresh = json.loads(make_samples.version_3(sample(f"{scope}.recipe.json"), scope))
    for document in (stored, fresh):
        document.pop("model")
        for step in document["timeline"]["steps"]:
            step.pop("operation")
    assert stored == fresh


def test_edited_samples_are_what_the_script_makes() -> None:
    made = make_samples.edits(sample("pair-8tiles.recipe.json"), sample("pair-8tiles.v3.timeline.json"))
    assert {path.name for path in (SAMPLES / "broken").iterdir()} == {
        name.removeprefix("broken/") for name in made if name.startswith("broken/")
    }
    for name, content in made.items():
        assert sample(name) == content, name


def test_the_version_2_sample_means_the_same() -> None:
    second = timeline_from_bytes(sample("pair-8tiles.v2.timeline.json"))
    third = timeline_from_bytes(sample("pair-8tiles.v3.timeline.json"))
    rows = third.peak.exchange_rows
    assert isinstance(rows, int)
    assert rows > 0
    for name in ("standard", "total"):
        old, new = getattr(second.peak, name), getattr(third.peak, name)
        assert old == new + rows
    assert second.peak.interleaved == third.peak.interleaved
    assert second.values == third.values
    assert second.steps == third.steps
