"""Graphs that name something twice, or operations that read nothing: never FITS, never a fault of the program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.command_line import SAMPLES, run

SECOND = "Operation { id: OperationId(1), inputs: [ValueId(1)], results: [ValueId(2)], kind: Gelu }"
INPUT = 'GraphInput { name: "x", kind: Host, value: ValueId(0), shape: TensorShape([8, 26900]) }'


def changed(folder: Path, before: str, after: str) -> str:
    """The smallest sample recipe with one piece of its context replaced."""
    document = json.loads((SAMPLES / "pair-8tiles.recipe.json").read_text())
    assert document["context"].count(before) == 1
    document["context"] = document["context"].replace(before, after)
    path = folder / "odd.recipe.json"
    path.write_text(json.dumps(document))
    return str(path)


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (SECOND, SECOND.replace("OperationId(1)", "OperationId(0)"), "operation 0: two operations have this id"),
        (SECOND, f"{SECOND}, {SECOND}", "operation 1: two operations have this id"),
        (
            SECOND,
            f"{SECOND}, {SECOND.replace('OperationId(1)', 'OperationId(2)')}",
            "operation 2: value 2 is made twice",
        ),
        (INPUT, f"{INPUT}, {INPUT}", "value 0 is made twice"),
    ],
    ids=["an id of two operations", "an operation twice", "a value of two operations", "an input twice"],
)
def test_a_graph_that_names_something_twice_cannot_be_lowered(
    before: str, after: str, text: str, tmp_path: Path
) -> None:
    path = changed(tmp_path, before, after)
    line = run("check", path)
    assert line.code == 1
    assert f"cannot be lowered: {text}" in line.out
    summary = run("summary", path, "--json")
    assert summary.json["files"][0]["fits"] is False
    assert "The graph itself is at fault" in run("summary", path).out


def test_a_field_of_the_configuration_that_stands_twice_is_refused_with_its_place(tmp_path: Path) -> None:
    field = "standard_memory_reservation_bytes: "
    document = json.loads((SAMPLES / "pair-8tiles.recipe.json").read_text())
    config = document["context"].split("\n")[1]
    own = config[config.index(field) : config.index(",", config.index(field))]
    answer = run("check", changed(tmp_path, own, f"{own}, {field}1"))
    assert answer.code == 2
    assert "context, line 2, column " in answer.err
    assert "each field once, not standard_memory_reservation_bytes again" in answer.err


def test_an_operation_that_reads_nothing_stops_neither_search_nor_report(tmp_path: Path) -> None:
    path = changed(tmp_path, "id: OperationId(1), inputs: [ValueId(1)]", "id: OperationId(1), inputs: []")
    assert run("summary", path).code == 1
    for arguments in (("fix", path), ("report", path, "-o", str(tmp_path / "page.html"))):
        answer = run(*arguments)
        assert answer.code in (0, 1)
        assert "fault in TileView" not in answer.err
