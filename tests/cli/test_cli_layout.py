"""``layout``: all golden vectors through ``--jsonl``, single questions, and malformed ones."""

from __future__ import annotations

import gzip
import json

import pytest

from tests.helpers.command_line import assert_one_error, run, run_process
from tests.helpers.golden_program import DATA
from tileview.formats.tensorjson import layout_from_json

LINEAR = (
    "Layout { order: RowMajor, tiling: TensorTiling { tile_count: 1472, replicas: 1, axes: [AxisTiling { axis: Linear, "
    "partitions: 1472, padding_groups: 1, block_size: 4, padding_multiple: 1, shard_padding_multiple: 1, "
    "padding: Reject, tile_stride: None }] }, memory_class: Ipu21Standard }"
)
KEYS = ["ok", "error", "padded_shape", "maximum_elements", "tile_elements"]


def test_all_golden_vectors_in_one_go():
    vectors = json.loads(gzip.decompress((DATA / "layout-vectors.json.gz").read_bytes()))["vectors"]
    questions = "".join(json.dumps({"shape": v["shape"], "layout": v["layout"]}) + "\n" for v in vectors)
    result = run_process("layout", "--jsonl", stdin=questions.encode())
    answers = [json.loads(line) for line in result.out.splitlines()]
    assert len(answers) == len(vectors)
    assert result.code == 1
    for vector, answer in zip(vectors, answers, strict=True):
        assert list(answer) == KEYS
        if vector["error"] is not None:
            assert answer["ok"] is False
            assert answer["error"]["kind"] == vector["error"]["variant"]
            assert answer["error"]["text"]
            assert answer["maximum_elements"] is None
            continue
        assert (answer["ok"], answer["error"]) == (True, None)
        assert answer["padded_shape"] == vector["padded_shape"]
        assert answer["maximum_elements"] == vector["maximum_elements"]
        runs = [elements for elements, owners in vector["tile_elements_runs"] for _ in range(owners)]
        assert answer["tile_elements"] == runs


def test_the_worked_linear_layout():
    result = run("layout", "--shape", "1,729,1152", LINEAR)
    assert result.code == 0
    assert result.json["maximum_elements"] == 572
    assert result.json["tile_elements"] == [572] * 928 + [568] * 544
    refused = run("layout", "--shape", "1,1,1152", LINEAR)
    assert refused.code == 1
    assert refused.json["error"]["kind"] == "EmptyAxisTiling"
    assert "288" in refused.json["error"]["text"]


def test_json_and_debug_text_mean_the_same():
    layout = {
        "order": {"Amp": "Left"},
        "tiling": {
            "tile_count": 1472,
            "replicas": 46,
            "axes": [
                {"axis": {"FromEnd": 2}, "partitions": 4, "padding_groups": 1, "block_size": 160,
                 "padding_multiple": 160, "shard_padding_multiple": 1, "padding": "Zero", "tile_stride": None},
                {"axis": {"FromEnd": 1}, "partitions": 8, "padding_groups": 1, "block_size": 2,
                 "padding_multiple": 1, "shard_padding_multiple": 1, "padding": "Reject", "tile_stride": None},
            ],
        },
        "memory_class": "Ipu21Standard",
    }  # fmt: skip
    by_json = run("layout", "--shape", "588,1152", json.dumps(layout), "--precision", "F8F143")
    by_text = run("layout", "--shape", "588,1152", str(layout_from_json(layout)), "--precision", "F8F143")
    assert by_json.json == by_text.json
    assert by_json.json["padded_shape"] == [640, 1152]
    assert by_json.json["maximum_bytes"] == 23_040
    halves = run("layout", "--shape", "588,1152", json.dumps(layout), "--precision", "F16")
    assert halves.json["maximum_bytes"] == 46_080


@pytest.mark.parametrize(
    "arguments",
    [
        ["--shape", "1,2", "nonsense"],
        ["--shape", "1,x", LINEAR],
        ["--shape", "-1", LINEAR],
        ["--shape", "18446744073709551616", LINEAR],
        [LINEAR],
        ["--shape", "4"],
        ["--shape", "4", "{"],
        ["--shape", "4", "{}"],
        ["--shape", "4", '{"order": NaN}'],
        ["--shape", "4", LINEAR.replace("1472", "18446744073709551616")],
        ["--shape", "4", LINEAR.replace("Linear", "Sideways(1)")],
        ["--shape", "4", LINEAR, "--precision", "F99x("],
        ["--jsonl", "--shape", "4"],
    ],
)
def test_malformed_questions(arguments):
    assert_one_error(run("layout", *arguments))


def test_a_malformed_line_is_answered_and_the_others_too():
    good = json.dumps({"shape": [1, 729, 1152], "layout": LINEAR, "precision": "F16"})
    lines = [
        good,
        "{",
        "[1]",
        '{"shape": [1], "layout": 7}',
        '{"shape": [1.5], "layout": "x"}',
        "[" * 100_000,
        "",
        good,
    ]
    lines += ['{"shape": [1e400], "layout": {}}', '{"shape": [true], "layout": {}}', "\udcff"]
    result = run_process("layout", "--jsonl", stdin="\n".join(lines).encode("utf-8", "surrogateescape"))
    answers = [json.loads(line) for line in result.out.splitlines()]
    assert result.code == 2
    assert len(answers) == len(lines) - 1
    assert [answer["ok"] for answer in answers] == [True, *[False] * 5, True, *[False] * 3]
    assert {answer["error"]["kind"] for answer in answers if not answer["ok"]} == {"BadInput"}
    assert answers[0]["maximum_bytes"] == 1_144
    assert "Traceback" not in result.err
