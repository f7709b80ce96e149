"""Running commands in tests: in this process, or as a process of their own; and what their JSON must look like."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.helpers.golden_program import DATA
from tileview.cli import main

SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"

SUMMARY_KEYS = [
    "file", "kind", "version", "scope", "tile_count", "fits", "verdict", "overflows", "budget_bytes", "reserve_bytes",
    "interleaved_budget_bytes", "peak", "total_peak_step", "standard_peak_step", "interleaved_peak_step", "steps",
    "values", "cycles", "exchange_cycles", "fusion", "fits_without_fusion", "unavailable", "notes",
]  # fmt: skip
VERDICT_KEYS = [
    "cause", "text", "limit", "needed_bytes", "available_bytes", "short_bytes", "step", "tile", "operation",
    "stated_bytes", "found_bytes",
]  # fmt: skip
PEAK_KEYS = ["standard", "interleaved", "total", "maximum_standard_allocation", "exchange_rows"]


@dataclass(frozen=True)
class Run:
    """What a command gave."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.out.count("\n") == 1, f"one line expected: {self.out[:300]!r} {self.err!r}"
        return json.loads(self.out, parse_constant=_refuse)


def _refuse(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")


def run(*arguments: object) -> Run:
    """Run a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(argument) for argument in arguments])
    return Run(code, out.getvalue(), err.getvalue())


def run_process(*arguments: object, stdin: bytes | None = None, environment: dict[str, str] | None = None) -> Run:
    """Run a command as a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tileview", *map(str, arguments)],
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        timeout=120,
        check=False,
        cwd=SAMPLES.parent,
        env={**os.environ, **(environment or {})},
    )
    return Run(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


def run_shell(line: str) -> Run:
    """Run a command line with pipes and redirections, in which ``tileview`` is this one; the first command's code."""
    line = line.replace("tileview ", f"{sys.executable} -m tileview ")
    done = subprocess.run(
        ["bash", "-c", f"{line}; exit ${{PIPESTATUS[0]}}"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
        cwd=SAMPLES.parent,
    )
    return Run(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


def golden_file(name: str, folder: Path) -> Path:
    """A file of the golden data, unpacked into a folder; ``models/NAME.recipe.json`` keeps its last part only."""
    target = folder / Path(name).name
    target.write_bytes(gzip.decompress((DATA / f"{name}.gz").read_bytes()))
    return target


def assert_one_error(result: Run, *words: str) -> None:
    """Bad input: nothing on standard output, one sentence on standard error, code 2, no traceback."""
    assert result.code == 2
    assert result.out == ""
    assert result.err.count("\n") == 1, result.err
    assert result.err.startswith("tileview: ")
    assert "Traceback" not in result.err
    assert "fault in TileView" not in result.err
    for word in words:
        assert word in result.err


def is_count(value: object) -> bool:
    return type(value) is int


def assert_summary(entry: Any) -> None:
    """The shape that the contract gives a summary: keys, their order, their types."""
    assert list(entry) == SUMMARY_KEYS
    assert list(entry["verdict"]) == VERDICT_KEYS
    assert list(entry["peak"]) == PEAK_KEYS
    assert entry["overflows"] is None or bool(entry["overflows"]) is not entry["fits"]
    assert entry["kind"] in ("recipe", "timeline")
    assert entry["fits"] in (True, False, None)
    assert (entry["fits"] is None) == (entry["verdict"]["cause"] in ("contradiction", "damaged", "incomplete"))
    for key in ("version", "tile_count", "budget_bytes", "reserve_bytes", "interleaved_budget_bytes"):
        assert is_count(entry[key]), key
    numbers = [entry[key] for key in SUMMARY_KEYS[12:17]] + list(entry["peak"].values())
    numbers += [entry["verdict"][key] for key in VERDICT_KEYS[3:]]
    assert all(value is None or is_count(value) for value in numbers)
    for item in entry["unavailable"]:
        assert list(item) == ["value", "name", "reason"]
        assert is_count(item["value"])
    assert all(isinstance(note, str) for note in entry["notes"])
