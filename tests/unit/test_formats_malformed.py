"""Malformed dumps: each kind of damage ends in one LoadError that names the place, or opens with a note."""

from __future__ import annotations

import gzip
import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.dumps import (
    SAMPLES,
    Json,
    compact,
    sample,
    small_recipe,
    small_timeline,
    with_number,
    with_value,
    without,
)
from tileview.errors import LoadError
from tileview.formats import files
from tileview.formats.files import OpenFile
from tileview.formats.opening import open_file
from tileview.formats.search_state import SearchState, search_state_from_bytes
from tileview.formats.sniff import DumpKind, sniff
from tileview.formats.timeline import load_timeline, timeline_from_bytes
from tileview.model.sizes import UNAVAILABLE
from tileview.model.timeline_file import TimelineFile

RECIPE, TIMELINE = small_recipe(), small_timeline()


def open_bytes(raw: bytes) -> SearchState | TimelineFile:
    if sniff("dump.json", raw[:65_536]).kind is DumpKind.RECIPE:
        return search_state_from_bytes(raw, "dump.json")
    return timeline_from_bytes(raw, "dump.json")


def refused(raw: bytes) -> LoadError:
    """The one error that opening these bytes gives."""
    with pytest.raises(LoadError) as caught:
        open_bytes(raw)
    assert caught.value.path == "dump.json"
    assert caught.value.expected
    assert caught.value.found
    assert caught.value.hint
    assert len(str(caught.value)) < 600
    assert "\n" not in str(caught.value)
    return caught.value


# -- what is no dump at all -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        (b"", "an empty file"),
        (b"   ", "white space"),
        (b"hello", "not JSON"),
        (b"[1,2]", "not an object"),
        (b"17", "not an object"),
        (b"null", "not an object"),
        (b'{"a":1}', "none of the keys"),
        (b"{}", "none of the keys"),
        (b"\xef\xbb\xbf" + compact(RECIPE), "byte order mark"),
        (compact(RECIPE).decode().encode("utf-16"), "UTF-16"),
        (compact(RECIPE).decode().encode("utf-16-le"), "UTF-16"),
        (compact(RECIPE).decode().encode("utf-16-be"), "UTF-16"),
        (compact(RECIPE).decode().encode("utf-32-le"), "UTF-32"),
        (gzip.compress(compact(RECIPE)), "gzip"),
        (b"PK\x03\x04" + b"\0" * 40, "zip"),
        (b"\x7fELF" + b"\0" * 40, "not JSON"),
        (b"\0\0\0\0", "binary data"),
    ],
)
def test_what_is_no_dump(raw: bytes, found: str) -> None:
    error = refused(raw)
    assert found in error.found or found in error.expected


def test_latin_1_names_the_byte() -> None:
    raw = compact(with_value(TIMELINE, "timeline.values[0].name", "caf\u00e9")).decode().encode("latin-1")
    error = refused(raw)
    assert "UTF-8" in error.expected
    assert "0xe9" in error.found
    raw = compact(with_value(RECIPE, "recipe.note", "caf\u00e9")).decode().encode("latin-1")
    assert refused(raw).place == f"byte {raw.index(0xE9)}"


# -- versions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [0, 9, 2**64 - 1])
def test_other_versions_of_a_recipe_are_unsupported_not_unknown(version: int) -> None:
    error = refused(compact({**RECIPE, "version": version}))
    assert (error.place, error.found) == ("version", f"version {version}")
    assert "search state" in error.expected
    assert "6" in error.hint


@pytest.mark.parametrize("version", [0, 4, 6, 100])
def test_other_versions_of_a_timeline_are_unsupported_not_unknown(version: int) -> None:
    error = refused(compact({**TIMELINE, "version": version}))
    assert (error.place, error.found) == ("version", f"version {version}")
    assert "memory timeline" in error.expected
    assert "1, 2 and 3" in error.hint


@pytest.mark.parametrize("document", [RECIPE, TIMELINE], ids=["recipe", "timeline"])
@pytest.mark.parametrize("version", ["6", None, True, 6.0, -6, [6], {}])
def test_versions_that_are_no_number(document: Json, version: object) -> None:
    assert refused(compact({**document, "version": version})).place == "version"


@pytest.mark.parametrize("document", [RECIPE, TIMELINE], ids=["recipe", "timeline"])
def test_missing_version(document: Json) -> None:
    error = refused(compact(without(document, "version")))
    assert (error.place, error.found) == ("version", "no version")


@pytest.mark.parametrize("document", [RECIPE, TIMELINE], ids=["recipe", "timeline"])
def test_keys_in_any_order(document: Json) -> None:
    assert open_bytes(compact(dict(reversed(document.items()))))


# -- missing fields and wrong types ---------------------------------------------------------------------------------

PLAN = "recipe.plans.0"
FORMAT = f"{PLAN}.requirements.inputs[0].format"
AXIS = f"{FORMAT}.layout.tiling.axes[0]"
NEEDED_IN_RECIPE = [
    "context",
    "recipe",
    "alternatives",
    "inputs",
    "recipe.plans",
    "recipe.open_boundaries",
    f"{PLAN}.operator",
    f"{PLAN}.dispatch",
    f"{PLAN}.requirements",
    f"{PLAN}.requirements.inputs",
    f"{PLAN}.requirements.output",
    f"{PLAN}.requirements.output_aliasing",
    f"{PLAN}.requirements.inputs[0].local_staging",
    f"{PLAN}.requirements.inputs[0].materialization",
    f"{FORMAT}.precision",
    f"{FORMAT}.layout",
    f"{FORMAT}.layout.order",
    f"{FORMAT}.layout.tiling",
    f"{FORMAT}.layout.memory_class",
    f"{FORMAT}.layout.tiling.tile_count",
    f"{FORMAT}.layout.tiling.replicas",
    f"{FORMAT}.layout.tiling.axes",
    f"{AXIS}.axis",
    f"{AXIS}.partitions",
    f"{AXIS}.padding_groups",
    f"{AXIS}.block_size",
    f"{AXIS}.padding_multiple",
    f"{AXIS}.shard_padding_multiple",
    f"{AXIS}.padding",
    f"{AXIS}.tile_stride",
    "alternatives.0[1].operator",
    "alternatives.0[1].requirements.output.format.layout.tiling.axes",
    "inputs.0.precision",
    "inputs.0.layout",
]
NEEDED_IN_TIMELINE = [
    "scope",
    "model",
    "tile_count",
    "budget_bytes",
    "interleaved_budget_bytes",
    "support_reserve_bytes",
    "effective_peak_bytes",
    "standard_contiguous_overflow_bytes",
    "fits_budget",
    "peak",
    "peak.standard",
    "peak.interleaved",
    "peak.total",
    "peak.exchange_rows",
    "peak.maximum_standard_allocation",
    "total_peak_step",
    "timeline",
    "timeline.values",
    "timeline.steps",
    *(
        f"timeline.values[2].{name}"
        for name in (
            "id",
            "root",
            "name",
            "shape",
            "precision",
            "layout",
            "class",
            "storage_group",
            "shard_bytes",
            "aligned_bytes",
            "copies",
            "bytes",
        )
    ),
    *(
        f"timeline.steps[1].{name}"
        for name in ("index", "source", "operation", "execution_count", "live", "scratch", "usage")
    ),
    "timeline.steps[1].usage.interleaved",
]


@pytest.mark.parametrize("path", NEEDED_IN_RECIPE)
def test_a_recipe_without_a_field(path: str) -> None:
    error = refused(compact(without(RECIPE, path)))
    assert error.place == path
    assert "missing" in error.found


@pytest.mark.parametrize("path", NEEDED_IN_TIMELINE)
def test_a_timeline_without_a_field(path: str) -> None:
    error = refused(compact(without(TIMELINE, path)))
    assert error.place == path
    assert "missing" in error.found


@pytest.mark.parametrize("path", NEEDED_IN_RECIPE)
def test_a_recipe_with_a_field_of_the_wrong_type(path: str) -> None:
    """A list with an object in it is nowhere what a field has to be; a number with a fraction neither."""
    for wrong in ([{"a": 1}], -1.5):
        assert refused(compact(with_value(RECIPE, path, wrong))).place.startswith(path)


@pytest.mark.parametrize("path", NEEDED_IN_TIMELINE)
def test_a_timeline_with_a_field_of_the_wrong_type(path: str) -> None:
    for wrong in ([{"a": 1}], -1.5):
        assert refused(compact(with_value(TIMELINE, path, wrong))).place.startswith(path)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (f"{FORMAT}.layout.memory_class", "Ipu21Magnetic"),
        (f"{AXIS}.padding", "Mirror"),
        (f"{AXIS}.axis", {"FromMiddle": 1}),
        (f"{AXIS}.tile_stride", "1"),
        (f"{PLAN}.requirements.output_aliasing", "Sometimes"),
        (f"{PLAN}.requirements.output_aliasing", {"MayAliasInputs": [-1]}),
        (f"{FORMAT}.precision", {"F8F143": {"scale_exponent": 1.5}}),
        ("recipe.plans.x", {}),
        ("recipe.plans.007", {}),
        ("inputs.-1", {}),
        ("alternatives.18446744073709551616", []),
        ("recipe.open_boundaries", [1, -1]),
        ("visited", 3),
        ("attempts", -1),
    ],
)
def test_values_that_a_recipe_cannot_have(path: str, value: object) -> None:
    error = refused(compact(with_value(RECIPE, path, value)))
    assert path.startswith(error.place.split("[")[0]) or error.place.startswith(path)


# -- numbers --------------------------------------------------------------------------------------------------------

BYTES = "timeline.values[0].shard_bytes"


@pytest.mark.parametrize("digits", ["-1", "1.0", "0.5", "1e3", "18446744073709551616", "1e300"])
def test_numbers_that_are_no_size(digits: str) -> None:
    assert refused(with_number(TIMELINE, BYTES, digits)).place == BYTES


@pytest.mark.parametrize("digits", ["1" + "0" * 5000, "NaN", "Infinity", "-Infinity", "01", "+1", "0x10"])
def test_numbers_that_are_no_json(digits: str) -> None:
    refused(with_number(TIMELINE, BYTES, digits))
    refused(with_number(RECIPE, "attempts", digits))


@pytest.mark.parametrize("number", [0, 2**53 + 1, 2**63, 2**64 - 2])
def test_large_sizes_are_exact(number: int) -> None:
    file = timeline_from_bytes(compact(with_value(TIMELINE, BYTES, number)))
    assert file.values[0].shard_bytes == number


def test_the_largest_number_is_no_size() -> None:
    file = timeline_from_bytes(compact(with_value(TIMELINE, BYTES, 2**64 - 1)))
    assert file.values[0].shard_bytes is UNAVAILABLE
    for name in ("budget_bytes", "interleaved_budget_bytes", "support_reserve_bytes"):
        assert refused(compact({**TIMELINE, name: 2**64 - 1})).place == name


@pytest.mark.parametrize("name", ["budget_bytes", "interleaved_budget_bytes", "support_reserve_bytes"])
def test_limits_that_no_sum_could_be_held_against(name: str) -> None:
    """From 2^62 on, what is needed less what there is would not be exact any more."""
    file = timeline_from_bytes(compact({**TIMELINE, name: 2**62}))
    assert 2**62 in (file.budget_bytes, file.interleaved_budget_bytes, file.reserve_bytes)
    for number in (2**62 + 1, 2**63, 2**64 - 2):
        assert refused(compact({**TIMELINE, name: number})).place == name


def test_a_reserve_that_no_sum_could_be_held_against() -> None:
    old, where = "standard_memory_reservation_bytes: 0", "context: configuration.standard_memory_reservation_bytes"
    assert old in RECIPE["context"]
    for number in (2**62 + 1, 2**64 - 1):
        context = RECIPE["context"].replace(old, f"standard_memory_reservation_bytes: {number}", 1)
        assert refused(compact({**RECIPE, "context": context})).place == where


@pytest.mark.parametrize("number", [2**48 + 1, 2**62, 2**63 - 1, 2**63, 2**64 - 2])
@pytest.mark.parametrize(
    ("path", "row"),
    [("timeline.steps[1].tile_usage", lambda n: [n, 0]), ("timeline.values[1].tile_bytes", lambda n: n)],
)
def test_numbers_per_tile_that_nothing_could_be_added_to(path: str, row: Any, number: int) -> None:
    """They would make sums wrap: the array is not used, and says so."""
    file = timeline_from_bytes(compact(with_value(TIMELINE, path, [row(number)] * 8)))
    problems = [*file.problems, *file.tiles.check()]
    assert [problem.place for problem in problems] == [path]
    assert file.tiles.tile_usage(1) is None or file.tiles.tile_bytes(1) is None
    whole = timeline_from_bytes(compact(with_value(TIMELINE, path, [row(2**48)] * 8)))
    assert not [*whole.problems, *whole.tiles.check()]


@pytest.mark.parametrize("count", [0, 2**32, 2**64 - 1])
def test_tile_counts_that_are_refused(count: int) -> None:
    assert refused(compact({**TIMELINE, "tile_count": count})).place == "tile_count"
    context = RECIPE["context"].replace("tile_count: 8", f"tile_count: {count}", 1)
    assert refused(compact({**RECIPE, "context": context})).place == "context: configuration.tile_count"


@pytest.mark.parametrize("count", [1, 65_535])
def test_tile_counts_that_do_not_match_the_arrays(count: int) -> None:
    file = timeline_from_bytes(compact({**TIMELINE, "tile_count": count}))
    assert file.tile_count == count
    wrong = [problem for problem in file.problems if "tile_" in problem.place]
    assert len(wrong) == 2 * (len(file.values) + len(file.steps))
    assert file.tiles.tile_usage(0) is None


# -- nesting and text -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("deep", ["[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000])
@pytest.mark.parametrize("key", ["version", "context", "timeline", "unknown"])
def test_nesting_100_000_deep(deep: str, key: str) -> None:
    refused(f'{{"{key}":{deep},"tile_count":1}}'.encode())


def test_nesting_in_the_context() -> None:
    lines = RECIPE["context"].split("\n")
    graph = lines[0].replace("outputs: [", "outputs: [" + "[" * 100_000, 1)
    error = refused(compact({**RECIPE, "context": "\n".join([graph, *lines[1:]])}))
    assert error.place.startswith("context, line 1, column")
    assert "nesting" in error.expected


@pytest.mark.parametrize(
    "name", ["\0", "\u202eRLO\u202d", "<&\"'", "=cmd|' /C calc'!A0", "x" * 20_000, "\U0001f642", "", " ", "a\nb"]
)
def test_names_come_through_unharmed(name: str) -> None:
    file = timeline_from_bytes(compact(with_value(TIMELINE, "timeline.values[0].name", name)))
    assert file.values[0].name == name
    assert not file.problems


def test_lone_surrogates_are_refused() -> None:
    raw = compact(TIMELINE).replace(b'"name":"', b'"name":"\\ud800', 1)
    assert "byte" in refused(raw).place


def test_a_byte_in_what_is_left_is_named_by_its_place_in_the_file() -> None:
    raw = compact(TIMELINE)
    damaged = raw.replace(b'"copies":1', b'"copies":?', 20)
    place = refused(damaged).place
    assert place == f"byte {damaged.index(b'?')}"
    late = raw[: raw.rindex(b'"operation"')] + b"?" + raw[raw.rindex(b'"operation"') :]
    assert refused(late).place == f"byte {late.index(b'?')}"


def test_a_string_that_never_ends_is_not_looked_through_again_and_again() -> None:
    """Half a million escaped quotes after an opening one: time that grows with the square would take hours."""
    endless = '"' + '\\"' * 500_000
    lines = RECIPE["context"].split("\n")
    config = lines[1].replace("operator_candidates: [", f"operator_candidates: [{endless}", 1)
    assert refused(compact({**RECIPE, "context": "\n".join([lines[0], config, lines[2]])})).place.startswith(
        "context, line 2"
    )
    graph = lines[0].replace("outputs: [", f"outputs: [{endless}", 1)
    error = refused(compact({**RECIPE, "context": "\n".join([graph, *lines[1:]])}))
    assert error.place.startswith("context, line 1")
    refused(b'{"a":[' + endless.encode())


def test_a_long_chain_of_roots() -> None:
    """Each of 20,000 values is an alias of the one before it."""
    document = small_timeline(1)
    value = document["timeline"]["values"][0]
    document["timeline"]["values"] = [{**value, "id": i, "root": max(0, i - 1)} for i in range(20_000)]
    file = timeline_from_bytes(compact(document))
    assert {item.root for item in file.values} == {0}


# -- keys and ids that occur twice ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        (b'"attempts":', b'"attempts":1,"attempts":', "attempts"),
        (b'"open_boundaries":', b'"open_boundaries":[],"open_boundaries":', "recipe.open_boundaries"),
        (b'"padding":"Reject"', b'"padding":"Zero","padding":"Reject"', "padding"),
    ],
)
def test_keys_that_occur_twice_in_a_recipe(old: bytes, new: bytes, place: str) -> None:
    error = refused(compact(RECIPE).replace(old, new, 1))
    assert error.place.endswith(place)
    assert "twice" in error.found


def test_keys_that_occur_twice_where_nothing_is_read() -> None:
    raw = compact({**RECIPE, "visited": [{"x": 1}], "extra": {"y": 1}})
    raw = raw.replace(b'"x":1', b'"x":1,"x":2').replace(b'"y":1', b'"y":1,"y":2')
    assert not search_state_from_bytes(raw).problems


def test_keys_that_occur_twice_in_a_timeline_are_a_problem() -> None:
    raw = compact(TIMELINE).replace(b'"copies":1', b'"copies":2,"copies":1', 1)
    (problem,) = timeline_from_bytes(raw).problems
    assert problem.place == "timeline.values[0]"
    assert "copies" in problem.text


# -- the file itself ------------------------------------------------------------------------------------------------


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="nothing under this name"):
        open_file(tmp_path / "missing.json")


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="a folder"):
        open_file(tmp_path)


def test_a_name_with_a_nul() -> None:
    with pytest.raises(LoadError):
        open_file("a\0b")


def test_a_name_that_is_too_long(tmp_path: Path) -> None:
    with pytest.raises(LoadError):
        open_file(tmp_path / ("x" * 5000))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")
def test_a_fifo_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(LoadError, match="a FIFO"):
        open_file(tmp_path / "fifo")


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="needs sockets")
def test_a_socket(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(tmp_path / "s"))
        with pytest.raises(LoadError, match="a socket"):
            open_file(tmp_path / "s")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs devices")
def test_a_device() -> None:
    with pytest.raises(LoadError, match="a device"):
        open_file("/dev/zero")


def test_a_file_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused by the system's answer, whoever runs the test."""
    path = tmp_path / "secret.json"
    path.write_bytes(compact(RECIPE))

    def refuse(*_: Any, **__: Any) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(LoadError, match="without permission"):
        open_file(path)


class _Shrinking(OpenFile):
    """A file that another program cuts off after the first read of its body."""

    def read(self, offset: int, length: int) -> bytes:
        part = super().read(offset, length)
        if length > 70_000:
            os.truncate(self.path, self.size // 3)
        return part


@pytest.mark.parametrize("module", ["search_state", "timeline"])
def test_a_file_that_shrinks_while_it_is_read(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "dump.json"
    path.write_bytes(sample("pair-8tiles.recipe.json" if module == "search_state" else "pair-8tiles.v3.timeline.json"))
    monkeypatch.setattr("tileview.formats.opening.OpenFile", _Shrinking)
    with pytest.raises(LoadError, match="changed while it was read"):
        open_file(path)


def test_a_timeline_that_shrinks_after_it_was_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "HELD_BYTES", 0)
    path = tmp_path / "dump.json"
    path.write_bytes(sample("pair-8tiles.v3.timeline.json"))
    file = load_timeline(path)
    assert file.tiles.tile_usage(0) is not None
    os.truncate(path, 500)
    assert file.tiles.tile_usage(len(file.steps) - 1) is None
    file.tiles.close()
    assert file.tiles.tile_usage(1) is None


def test_a_timeline_that_is_replaced_by_rename_keeps_its_numbers(tmp_path: Path) -> None:
    path = tmp_path / "dump.json"
    path.write_bytes(sample("pair-8tiles.v3.timeline.json"))
    file = load_timeline(path)
    (tmp_path / "new").write_bytes(b"{}")
    os.replace(tmp_path / "new", path)
    expected = json.loads(sample("pair-8tiles.v3.timeline.json"))["timeline"]["steps"][2]["tile_usage"]
    usage = file.tiles.tile_usage(2)
    assert usage is not None
    assert usage.tolist() == expected
    file.tiles.close()


def test_every_broken_sample_is_listed_and_behaves_as_listed() -> None:
    text = (SAMPLES / "README.md").read_text(encoding="utf-8")
    refused_part, opened_part = text.split("These open,")
    names = sorted(path.name for path in (SAMPLES / "broken").iterdir())
    assert len(names) >= 20
    for name in names:
        assert f"`{name}`" in refused_part or f"`{name}`" in opened_part, name
        if f"`{name}`" in opened_part:
            document = open_file(SAMPLES / "broken" / name)
            assert document.problems, name
            if isinstance(document, TimelineFile):
                document.tiles.close()
        else:
            with pytest.raises(LoadError):
                open_file(SAMPLES / "broken" / name)
