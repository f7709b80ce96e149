"""Reading timelines of version 1, 2 and 3: fields, numbers per tile, and what is reported while the rest is shown."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.dumps import Json, compact, sample, small_timeline, with_number, with_value, without
from tileview.errors import LoadError
from tileview.formats import files
from tileview.formats.opening import open_file
from tileview.formats.tilearrays import TileArrays, decode_numbers
from tileview.formats.timeline import load_timeline, timeline_from_bytes
from tileview.model.sizes import UNAVAILABLE
from tileview.model.tensor import MemoryClass, Precision, PrecisionKind
from tileview.model.timeline import ClassBytes, Peak, Problem
from tileview.model.timeline_file import TILE_UNAVAILABLE, TimelineFile

VERSIONS = [1, 2, 3]
TIMELINES = ["pair-8tiles.v2.timeline.json", "pair-8tiles.v3.timeline.json", "vit3-64tiles.v3.timeline.json"]
UNREADABLE_LAYOUTS = [
    "",
    "Layout {",
    "Layout { order: RowMajor }",
    "RowMajor",
    "Layout { order: RowMajor, tiling: 3 }",
]


def opened(document: Json) -> TimelineFile:
    return timeline_from_bytes(compact(document), "x")


def arrays(file: TimelineFile) -> TileArrays:
    assert isinstance(file.tiles, TileArrays)
    return file.tiles


def places(file: TimelineFile) -> list[tuple[str, str]]:
    return [(problem.severity, problem.place) for problem in file.problems]


# -- the sample of version 1: facts of the format's description -----------------------------------------------------


def test_version_1_sample() -> None:
    file = timeline_from_bytes(sample("rejected-op0.timeline.json"))
    assert (file.version, file.scope, file.tile_count) == (1, "rejected-op0", 1472)
    assert (file.budget_bytes, file.interleaved_budget_bytes, file.reserve_bytes) == (586_960, 424_880, 49_152)
    assert file.peak == Peak(UNAVAILABLE, 33_920, UNAVAILABLE, UNAVAILABLE, 548)
    assert file.effective_peak_bytes is UNAVAILABLE
    assert file.contiguous_overflow_bytes == 18446744073709126735
    assert file.fits_budget is False
    assert (file.total_peak_step, file.standard_peak_step, file.interleaved_peak_step) == (0, 0, 3)
    assert file.options == (("gemm_output_packing", "Native"), ("attention_products", "Automatic"))
    assert (len(file.values), len(file.steps)) == (71, 4)
    assert [step.kind for step in file.steps] == ["Convert", "Copy", "Gemm", "Sum"]
    assert sum(value.bytes is UNAVAILABLE for value in file.values) == 43
    assert file.steps[3].scratch == ClassBytes(5_760, 0)
    assert file.steps[3].usage == ClassBytes(UNAVAILABLE, 33_920)
    assert file.steps[3].coarse is None
    assert file.peak_includes_exchange_rows
    assert file.usage_is_coarse
    assert not file.has_tiles
    assert file.tiles.tile_usage(0) is None
    assert not file.problems


def test_values_of_the_version_1_sample() -> None:
    values = timeline_from_bytes(sample("rejected-op0.timeline.json")).values
    first, weight = values[0], values[1]
    assert (first.id, first.origin, first.root, first.name) == (0, 0, 0, "vit.image.patches")
    assert (first.group, first.shape, first.storage_group) == ("vit.image.patches", (1, 729, 588), 0)
    assert (first.shard_bytes, first.aligned_bytes, first.copies, first.bytes) == (5120, 5120, 1, 5120)
    assert first.memory_class is MemoryClass.STANDARD
    assert first.layout_error is None
    assert weight.precision == Precision(PrecisionKind.F8F143, -4)
    assert weight.shape == (588, 1152)
    assert (weight.shard_bytes, weight.aligned_bytes) == (23_040, 32_768)
    for value in values:
        assert value.layout is not None
        assert str(value.layout) == value.layout_text
    assert values[70].memory_class is MemoryClass.INTERLEAVED


# -- versions 2 and 3 -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["pair-8tiles.v2.timeline.json", "pair-8tiles.v3.timeline.json", "vit3-64tiles.v3.timeline.json"]
)
@pytest.mark.parametrize("indent", [None, 1])
def test_every_number_is_the_files(name: str, indent: int | None) -> None:
    document = json.loads(sample(name))
    raw = sample(name) if indent is None else json.dumps(document, indent=indent).encode()
    file = timeline_from_bytes(raw)
    assert file.has_tiles
    assert not file.problems
    assert not arrays(file).check()
    assert file.version == document["version"]
    assert file.peak_includes_exchange_rows is (file.version == 2)
    assert not file.usage_is_coarse
    for index, entry in enumerate(document["timeline"]["values"]):
        value = file.values[index]
        assert (value.id, value.origin, value.root, value.name) == tuple(
            entry[k] for k in ("id", "origin", "root", "name")
        )
        assert str(value.precision) == entry["precision"]
        assert value.layout_text == entry["layout"]
        assert value.bytes == entry["bytes"]
        for found, key in (
            (file.tiles.tile_shards(index), "tile_shards"),
            (file.tiles.tile_bytes(index), "tile_bytes"),
        ):
            assert found is not None
            assert (found.dtype, found.shape) == (np.int64, (file.tile_count,))
            assert found.tolist() == entry[key]
    for index, entry in enumerate(document["timeline"]["steps"]):
        step = file.steps[index]
        assert (step.index, step.source, step.operation) == (index, entry["source"], entry["operation"])
        assert step.live == tuple(entry["live"])
        assert step.usage == ClassBytes(**entry["usage"])
        assert step.coarse == ClassBytes(**entry["coarse_usage"])
        for found, key in (
            (file.tiles.tile_usage(index), "tile_usage"),
            (file.tiles.tile_scratch(index), "tile_scratch"),
        ):
            assert found is not None
            assert found.shape == (file.tile_count, 2)
            assert not found.flags.writeable
            assert found.tolist() == entry[key]


def test_version_1_and_2_differ_in_what_usage_means() -> None:
    first, second = opened(small_timeline(1)), opened(small_timeline(2))
    assert [step.usage for step in first.steps] == [step.coarse for step in second.steps]
    assert first.values[0].bytes == second.values[0].bytes
    assert not first.problems


def test_version_1_ignores_fields_of_later_versions() -> None:
    file = opened({**small_timeline(3), "version": 1})
    assert not file.has_tiles
    assert file.steps[0].coarse is None
    assert not file.problems


@pytest.mark.parametrize("version", VERSIONS)
def test_optional_and_unknown_fields(version: int) -> None:
    document = small_timeline(version)
    for name in ("gemm_output_packing", "attention_products"):
        document.pop(name, None)
    for value in document["timeline"]["values"]:
        value.pop("layout_error", None)
        value.update(colour="red", more={"tile_bytes": [1, 2]})
    for step in document["timeline"]["steps"]:
        step.pop("coarse_usage", None)
        step.update(extra=[{"live": [1]}])
    document["timeline"]["notes"] = [{"live": [5]}, "tile_usage"]
    file = opened(document)
    assert file.options == ()
    assert file.values[0].layout_error is None
    assert not file.problems


@pytest.mark.parametrize("version", [2, 3])
def test_files_without_numbers_per_tile(version: int) -> None:
    document = small_timeline(version)
    for entry in [*document["timeline"]["values"], *document["timeline"]["steps"]]:
        for key in ("tile_shards", "tile_bytes", "tile_usage", "tile_scratch"):
            entry.pop(key, None)
    file = opened(document)
    assert not file.has_tiles
    assert not file.problems


def test_an_empty_timeline() -> None:
    document = small_timeline()
    document["timeline"] = {"values": [], "steps": []}
    for which in ("total", "standard", "interleaved"):
        document[f"{which}_peak_step"] = None
    file = opened(document)
    assert (file.values, file.steps) == ((), ())
    assert file.total_peak_step is None
    assert not file.has_tiles
    assert not file.problems


def test_group_and_origin_may_be_missing() -> None:
    document = small_timeline()
    del document["timeline"]["values"][0]["group"]
    document["timeline"]["values"][1]["origin"] = None
    document["timeline"]["steps"][0]["source"] = None
    file = opened(document)
    assert file.values[0].group == file.values[0].name
    assert file.values[1].origin is None
    assert file.steps[0].source is None


def test_operations_of_any_text() -> None:
    texts = ["Convert LocalKernel", "Sum { axis: 0, staging: Complete }", "", "{{{", '"quoted" [', "\n"]
    document = small_timeline()
    steps = document["timeline"]["steps"]
    for step, text in zip(steps, texts, strict=False):
        step["operation"] = text
    file = opened(document)
    assert [step.operation for step in file.steps] == texts[: len(steps)]
    assert [step.kind for step in file.steps][:2] == ["Convert", "Sum"]


def test_strings_that_look_like_arrays() -> None:
    name = '"tile_usage":[[1,2]],"live":[0]} \\'
    document = with_value(small_timeline(), "timeline.values[0].name", name)
    document["timeline"]["steps"][0]["operation"] = name
    file = opened(document)
    assert file.values[0].name == name
    assert file.steps[0].operation == name
    assert not file.problems
    assert file.has_tiles


# -- what is reported -----------------------------------------------------------------------------------------------


def test_a_root_that_names_no_value() -> None:
    file = opened(with_value(small_timeline(), "timeline.values[2].root", 99))
    assert ("error", "timeline.values[2].root") in places(file)
    assert file.values[2].root == 2


def test_a_root_that_is_an_alias_is_followed_to_its_own() -> None:
    """3 → 2 → 1: both belong to 1."""
    document = with_value(small_timeline(), "timeline.values[3].root", 2)
    file = opened(with_value(document, "timeline.values[2].root", 1))
    assert (file.values[3].root, file.values[2].root) == (1, 1)
    assert ("warning", "timeline.values[3].root") in places(file)


def test_roots_in_a_ring() -> None:
    """2 → 3 → 2: each is shown as its own allocation."""
    document = with_value(small_timeline(), "timeline.values[3].root", 2)
    file = opened(with_value(document, "timeline.values[2].root", 3))
    assert (file.values[2].root, file.values[3].root) == (2, 3)
    assert ("error", "timeline.values[2].root") in places(file)


def test_ids_that_occur_twice() -> None:
    document = small_timeline()
    document["timeline"]["values"][3]["id"] = document["timeline"]["values"][1]["id"]
    (problem,) = opened(document).problems
    assert (problem.severity, problem.place, problem.value) == ("error", "timeline.values[3].id", 3)


def test_steps_out_of_order() -> None:
    file = opened(with_value(small_timeline(), "timeline.steps[1].index", 4))
    (problem,) = file.problems
    assert (problem.place, problem.step) == ("timeline.steps[1].index", 1)
    assert [step.index for step in file.steps] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("live", "expected", "severity"),
    [
        ([0, 99], (0,), "error"),
        ([2**64 - 1, 1], (1,), "error"),
        ([3, 0, 1], (0, 1, 3), "warning"),
        ([0, 0, 1], (0, 1), "warning"),
        ([], (), None),
    ],
)
def test_live_lists(live: list[int], expected: tuple[int, ...], severity: str | None) -> None:
    file = opened(with_value(small_timeline(), "timeline.steps[1].live", live))
    assert file.steps[1].live == expected
    found = [problem for problem in file.problems if problem.place == "timeline.steps[1].live"]
    assert [problem.severity for problem in found] == ([severity] if severity else [])


def test_a_live_alias_counts_as_its_root() -> None:
    document = with_value(small_timeline(), "timeline.values[3].root", 0)
    file = opened(with_value(document, "timeline.steps[1].live", [1, 3]))
    assert file.steps[1].live == (0, 1)
    assert ("warning", "timeline.steps[1].live") in places(file)


@pytest.mark.parametrize("live", ["0", {"a": 1}, [[0]], ["0"], [1.5], [-1], [2**64], None, [True]])
def test_live_lists_that_are_refused(live: object) -> None:
    with pytest.raises(LoadError) as caught:
        opened(with_value(small_timeline(), "timeline.steps[1].live", live))
    assert caught.value.place == "timeline.steps[1].live"


def test_peak_steps_that_do_not_exist() -> None:
    file = opened({**small_timeline(), "standard_peak_step": 5})
    assert places(file) == [("error", "standard_peak_step")]
    assert file.standard_peak_step is None


@pytest.mark.parametrize(
    "text", ["", "Layout {", "Layout { order: RowMajor }", "RowMajor", "Layout { order: RowMajor, tiling: 3 }"]
)
def test_layouts_that_cannot_be_read(text: str) -> None:
    file = opened(with_value(small_timeline(), "timeline.values[0].layout", text))
    assert file.values[0].layout is None
    assert file.values[0].layout_text == text
    assert places(file) == [("warning", "timeline.values[0].layout")]


def test_unknown_precisions_and_classes() -> None:
    document = with_value(small_timeline(), "timeline.values[0].precision", "F4 { block: 32 }")
    document = with_value(document, "timeline.values[1].precision", "F4 {")
    file = opened(with_value(document, "timeline.values[2].class", "Ipu30Standard"))
    assert file.values[0].precision == Precision(PrecisionKind.UNKNOWN, text="F4 { block: 32 }")
    assert file.values[1].precision == Precision(PrecisionKind.UNKNOWN, text="F4 {")
    assert (file.values[2].memory_class, file.values[2].class_text) == (None, "Ipu30Standard")
    assert places(file) == [("warning", "timeline.values[1].precision"), ("warning", "timeline.values[2].class")]


def test_unknown_orders_keep_the_layout() -> None:
    text = small_timeline()["timeline"]["values"][0]["layout"].replace("RowMajor", "Spiral { turns: 3 }")
    file = opened(with_value(small_timeline(), "timeline.values[0].layout", text))
    assert file.values[0].layout is not None
    assert file.values[0].layout.order.text == "Spiral { turns: 3 }"
    assert not file.problems


def test_a_layout_error_is_kept() -> None:
    file = opened(with_value(small_timeline(), "timeline.values[0].layout_error", "EmptyAxisTiling"))
    assert file.values[0].layout_error == "EmptyAxisTiling"


# -- numbers per tile -----------------------------------------------------------------------------------------------

USAGE = "timeline.steps[1].tile_usage"
SHARDS = "timeline.values[1].tile_shards"


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        (USAGE, [[1, 2]] * 7),
        (USAGE, [[1, 2]] * 9),
        (USAGE, []),
        (USAGE, [1] * 8),
        (SHARDS, [1] * 7),
        (SHARDS, [1] * 9),
        (SHARDS, []),
        (SHARDS, [[1, 2]] * 8),
        (SHARDS, "none"),
        (SHARDS, {"@": 0}),
        (SHARDS, 5),
    ],
)
def test_arrays_of_the_wrong_length_are_reported_at_once(path: str, wrong: object) -> None:
    file = opened(with_value(small_timeline(), path, wrong))
    assert places(file) == [("error", path)]
    assert (file.tiles.tile_usage(1) if path == USAGE else file.tiles.tile_shards(1)) is None
    assert (file.tiles.tile_usage(2) if path == USAGE else file.tiles.tile_shards(2)) is not None
    assert not arrays(file).check()


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        (USAGE, [[1, 2]] * 6 + [[1, 2, 3], [4]]),
        (USAGE, [1] * 16),
        (USAGE, [[1, -2]] * 8),
        (USAGE, [[1, 2.5]] * 8),
        (USAGE, [[2**63, 0]] * 8),
        (USAGE, [[2**64, 0]] * 8),
        (SHARDS, [1, 2, 3, 4, 5, 6, 7, -8]),
        (SHARDS, [1, 2, 3, 4, 5, 6, 7, 1e3]),
        (SHARDS, [1, 2, 3, 4, 5, 6, 7, None]),
        (SHARDS, [[1, 2, 3, 4, 5, 6, 7, 8]]),
    ],
)
def test_arrays_that_are_no_numbers_are_found_by_the_check(path: str, wrong: object) -> None:
    file = opened(with_value(small_timeline(), path, wrong))
    checked = [*file.problems, *arrays(file).check()]
    assert [problem.place for problem in checked] == [path]
    assert (file.tiles.tile_usage(1) if path == USAGE else file.tiles.tile_shards(1)) is None


def test_unavailable_tiles() -> None:
    row = [2**64 - 1, 0, 1, 2**48, 5, 6, 7, 2**47 + 1]
    file = opened(with_value(small_timeline(), SHARDS, row))
    found = file.tiles.tile_shards(1)
    assert found is not None
    assert found.tolist() == [TILE_UNAVAILABLE, *row[1:]]
    assert not arrays(file).check()


@pytest.mark.parametrize("digits", ["18446744073709551616", "9" * 30, "9" * 5000])
def test_numbers_above_the_largest(digits: str) -> None:
    text = f"[1,2,3,4,5,6,7,{digits}]"
    file = timeline_from_bytes(with_number(small_timeline(), SHARDS, text))
    assert file.tiles.tile_shards(1) is None
    (problem,) = arrays(file).check()
    assert problem.place == SHARDS
    assert decode_numbers(text.encode()) is None


def test_arrays_missing_here_and_there() -> None:
    document = without(small_timeline(), "timeline.steps[3].tile_usage")
    file = opened(with_value(document, "timeline.values[2].tile_bytes", None))
    assert not file.has_tiles
    assert file.problems == (
        Problem("warning", "timeline.values[2].tile_bytes", "1 of 7 values lack tile_bytes; the first is number 2"),
        Problem("warning", "timeline.steps[3].tile_usage", "1 of 5 steps lack tile_usage; the first is number 3"),
    )
    assert file.tiles.tile_usage(3) is None
    assert file.tiles.tile_usage(2) is not None


def test_an_escaped_key_is_the_same_key() -> None:
    raw = compact(small_timeline()).replace(b'"tile_usage"', b'"tile_usa\\u0067e"', 2)
    file = timeline_from_bytes(raw)
    expected = small_timeline()["timeline"]["steps"]
    for index in range(len(expected)):
        usage = file.tiles.tile_usage(index)
        assert usage is not None
        assert usage.tolist() == expected[index]["tile_usage"]
    assert file.has_tiles


@pytest.mark.parametrize("index", [-1, 5, 10**9])
def test_entries_that_do_not_exist(index: int) -> None:
    file = opened(small_timeline())
    assert file.tiles.tile_usage(index) is None
    assert file.tiles.tile_scratch(index) is None


# -- files ----------------------------------------------------------------------------------------------------------


def test_from_a_path(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(sample("pair-8tiles.v3.timeline.json"))
    steps: list[float] = []
    file = load_timeline(path, lambda fraction, text: steps.append(fraction))
    assert steps == sorted(steps)
    assert steps[-1] == 1.0
    assert file.path == str(path)
    again = pickle.loads(pickle.dumps(file))
    assert (again.values, again.steps, again.peak) == (file.values, file.steps, file.peak)
    first, second = file.tiles.tile_usage(3), again.tiles.tile_usage(3)
    assert first is not None
    assert second is not None
    assert first.tolist() == second.tolist()
    file.tiles.close()
    again.tiles.close()
    assert file.tiles.tile_bytes(0) is None


def test_pickling_after_the_file_was_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "HELD_BYTES", 0)
    path = tmp_path / "x.json"
    path.write_bytes(sample("pair-8tiles.v3.timeline.json"))
    file = load_timeline(path)
    data = pickle.dumps(file)
    path.unlink()
    path.write_bytes(sample("pair-8tiles.v2.timeline.json") + b" ")
    file.tiles.close()
    again = pickle.loads(data)
    assert again.values == file.values
    assert again.tiles.tile_usage(0) is None


def test_a_cancelled_load_closes_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(sample("pair-8tiles.v3.timeline.json"))

    class Cancelled(Exception):  # noqa: N818 - raised by the watcher, no error
        pass

    def cancel(fraction: float, text: str) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        load_timeline(path, cancel)


def test_open_file_tells_the_kinds_apart(tmp_path: Path) -> None:
    for name, kind in (("pair-8tiles.recipe.json", "SearchState"), ("pair-8tiles.v2.timeline.json", "TimelineFile")):
        path = tmp_path / name
        path.write_bytes(sample(name))
        document: Any = open_file(path)
        assert type(document).__name__ == kind
        if isinstance(document, TimelineFile):
            document.tiles.close()


def test_readers_refuse_the_other_kind(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(sample("pair-8tiles.recipe.json"))
    with pytest.raises(LoadError, match="memory timeline"):
        load_timeline(path)
