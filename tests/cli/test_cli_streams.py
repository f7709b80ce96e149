"""Standard streams that are closed, full, or hold what is no text; names of files that are no text."""

from __future__ import annotations

import json
import os
import sys

import pytest

from tests.helpers.command_line import SAMPLES, assert_one_error, run, run_process, run_shell

RECIPE = SAMPLES / "pair-8tiles.recipe.json"
NO_TEXT = os.fsdecode(b"x\xff\xfey")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("command", ["summary", "summary --json", "profile"])
def test_an_output_that_takes_nothing_is_one_sentence(command):
    done = run_shell(f"tileview {command} {RECIPE} >/dev/full")
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert done.err.startswith("tileview: standard output cannot be written: No space left")


@pytest.mark.skipif(sys.platform == "win32", reason="file descriptors")
@pytest.mark.parametrize(
    ("line", "code"),
    [
        (f"tileview summary {RECIPE} >&-", 1),
        (f"tileview profile {RECIPE} >&- 2>&-", 1),
        ("tileview summary missing.json 2>&-", 2),
        ("tileview summary missing.json 2>/dev/full", 2),
        (f"tileview check {RECIPE} <&- >&- 2>&-", 1),
        ("tileview layout --jsonl <&-", 0),
        ("tileview --version >&-", 0),
    ],
)
def test_closed_streams_leave_the_exit_code(line, code):
    done = run_shell(line)
    assert done.code == code, done.err
    assert "Traceback" not in done.err
    assert "fault" not in done.err


@pytest.mark.skipif(sys.platform == "win32", reason="file descriptors")
def test_a_file_that_is_written_never_takes_the_place_of_a_closed_stream(tmp_path):
    target = tmp_path / "out.json"
    script = f"""
import os, sys
from tileview.cli import main
kept = os.write
def write(handle, data):
    assert handle > 2, handle
    kept(2, b"a library complains")
    return kept(handle, data)
os.write = write
sys.exit(main(["swap", {str(RECIPE)!r}, "0=2", "1=1", "-o", {str(target)!r}]))
"""
    (tmp_path / "script.py").write_text(script)
    done = run_shell(f"{sys.executable} {tmp_path / 'script.py'} >&- 2>&- <&-")
    assert done.code == 0
    assert json.loads(target.read_bytes())["version"] == 6


def test_a_line_that_never_ends_is_answered_without_holding_it():
    question = json.dumps({"shape": [1], "layout": "x"}).encode()
    result = run_process("layout", "--jsonl", stdin=b"x" * 40_000_000 + b"\n" + question + b"\n\xff\n")
    answers = [json.loads(line) for line in result.out.splitlines()]
    assert [answer["error"]["kind"] for answer in answers] == ["BadInput"] * 3
    assert answers[0]["error"]["text"] == "line 1: the line is longer than 16,777,216 bytes"
    assert answers[1]["error"]["text"].startswith("line 2: ")
    assert "0xff, is not UTF-8" in answers[2]["error"]["text"]


LAYOUT = (
    '{"order": "RowMajor", "tiling": {"tile_count": 8, "replicas": 8, "axes": []}, "memory_class": "Ipu21Standard"}'
)


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ('"replicas": 8', '"replicas": 1, "replicas": 8', 'the key "replicas" twice'),
        ('"replicas": 8', '"replicas": ' + "8" * 5000, "a number of 5,000 digits"),
        ('"replicas": 8', '"replicas": NaN', "NaN is not a JSON number"),
        ('"replicas": 8', '"replicas": 18446744073709551616', "found the number 18446744073709551616"),
        ('"replicas": 8', '"replicas": -1', "found the number -1"),
        ('"replicas": 8', '"replicas": 8.0', "found 8.0"),
        ('"replicas": 8', '"replicas": 1e400', "found inf"),
        ('"axes": []', '"axes": ' + "[" * 100_000, "nested too deeply"),
        ("{", "\ufeff{", "BOM"),
    ],
)
def test_layouts_are_read_as_strictly_as_dumps(old, new, word):
    whole = json.dumps({"shape": [1], "layout": json.loads(LAYOUT)})
    assert json.loads(run_process("layout", "--jsonl", stdin=whole.encode()).out)["ok"]
    if old == "{":
        result = run_process("layout", "--jsonl", stdin=whole.replace(old, new, 1).encode())
        assert word in json.loads(result.out)["error"]["text"]
    else:
        assert_one_error(run("layout", "--shape", "1", LAYOUT.replace(old, new)), word)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="file systems that take any bytes as a name")
def test_files_whose_names_are_no_text(tmp_path):
    path = tmp_path / f"{NO_TEXT}.json"
    path.write_bytes(RECIPE.read_bytes())
    out = tmp_path / f"{NO_TEXT}.out"
    for arguments, code in (
        (["summary", path], 1),
        (["summary", path, "--json"], 1),
        (["check", path], 1),
        (["diff", path, path], 0),
        (["profile", path], 1),
        (["profile", path, "-o", out], 1),
        (["report", path, "--no-alternatives", "-o", out], 1),
        (["swap", path, "0=2", "1=1", "-o", out], 0),
        (["swap", path, "-o", path], 2),
    ):
        result = run(*arguments)
        assert result.code == code, result
        assert "fault" not in result.err
        result.out.encode("utf-8")
    assert sorted(tmp_path.iterdir()) == sorted([path, out])
