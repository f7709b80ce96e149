"""Broken, odd and hostile files through every command: no traceback, an exit code of the contract, nothing executed."""

from __future__ import annotations

import csv
import html
import io
import os
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.helpers.command_line import SAMPLES, Run, run
from tests.helpers.dumps import compact
from tests.helpers.hostile import MARKUP, hostile_recipe, odd_counts, unavailable_timeline, write_hostile
from tests.helpers.malformed import changed_fields, documents, inconsistent, whole_files
from tileview.present.csvtext import csv_text

BROKEN = sorted((SAMPLES / "broken").iterdir())
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]")
UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def all_commands(path: Path, folder: Path) -> list[Run]:
    out = folder / "out"
    out.mkdir(exist_ok=True)
    whole = SAMPLES / "pair-8tiles.recipe.json"
    return [
        run("summary", path),
        run("summary", path, "--json"),
        run("profile", path),
        run("profile", path, "-o", out / "profile.json"),
        run("swap", path, "0=1"),
        run("swap", path, "--json", "-o", out / "swapped.json"),
        run("alternatives", path, "--workers", "1"),
        run("alternatives", path, "--json", "--op", "0", "--workers", "1"),
        run("diff", path, whole),
        run("diff", whole, path, "--json"),
        run("diff", path, path),
        run("check", path, "--max-total", "1"),
        run("report", path, "-o", out / "report.html"),
        run("fix", path, "--max-swaps", "1"),
    ]


def assert_behaved(results: list[Run], what: str = "") -> None:
    for result in results:
        assert result.code in (0, 1, 2, 3), (what, result)
        assert "Traceback" not in result.out + result.err, what
        assert "fault in TileView" not in result.err, (what, result.err)
        if result.code == 2:
            assert result.err.startswith("tileview: "), result
            assert len(result.err) < 2000
        assert not CONTROL.search(result.err), result.err[:300]
        assert not UNSEEN.search(result.out), result.out[:300]


@pytest.mark.parametrize("path", BROKEN, ids=lambda path: path.name)
def test_every_broken_sample_in_every_command(path, tmp_path):
    assert_behaved(all_commands(path, tmp_path))


@pytest.mark.parametrize("kind", sorted(documents()))
def test_the_table_of_damages_in_commands(kind, tmp_path):
    """All of what is wrong with a file as a whole or makes no sense, and some of every field's damages."""
    document, path = documents()[kind], tmp_path / "dump.json"
    fields = list(changed_fields(document))
    codes = Counter()
    for name, raw in [*whole_files(document), *inconsistent(document), *fields[:: len(fields) // 30]]:
        path.write_bytes(raw)
        results = [
            run("check", path, "--max-total", "1"),
            run("diff", path, SAMPLES / "pair-8tiles.recipe.json"),
            run("report", path, "-o", tmp_path / "report.html", "--no-alternatives"),
            run("profile", path),
            run("swap", path, "0=1"),
        ]
        assert_behaved(results, f"{kind}, {name}")
        check = results[0].code
        assert all(result.code == 2 for result in results) or check == 1, (name, results)
        codes[check] += 1
    assert min(codes[1], codes[2]) > 20


def test_odd_numbers_of_tiles(tmp_path):
    for path in odd_counts(tmp_path).values():
        assert_behaved(all_commands(path, tmp_path))


@pytest.mark.parametrize("part", range(6))
def test_hostile_names(tmp_path, part):
    for path in list(write_hostile(tmp_path).values())[part::6]:
        assert_behaved(all_commands(path, tmp_path))


def test_what_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "fifo.json")
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "loop.json").symlink_to(tmp_path / "loop.json")
    (tmp_path / "nowhere.json").symlink_to(tmp_path / "missing")
    for name in ("fifo.json", "loop.json", "nowhere.json", "missing.json", "n" * 300 + ".json"):
        results = all_commands(tmp_path / name, tmp_path)
        assert_behaved(results)
        assert {result.code for result in results} == {2}
    assert_behaved(all_commands(tmp_path / "folder.json", tmp_path))
    assert_behaved(all_commands(Path("/dev/zero"), tmp_path))


def test_reports_escape_names_and_load_nothing(tmp_path):
    path = tmp_path / "dump.json"
    for document in (hostile_recipe(MARKUP), unavailable_timeline(MARKUP)):
        path.write_bytes(compact(document))
        assert run("report", path, "-o", tmp_path / "report.html").code in (0, 1)
        page = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert html.escape(MARKUP) in page
        assert MARKUP not in page
        rest = re.sub(r"&lt;img src=file:///etc/[a-z]+", "", page)
        assert "etc/p" not in rest
        assert not re.search(r"<(script|iframe|link|object|embed)\b", rest)
        assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:|file:|//)", rest)


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "|x", "%x", 'a,"b"\nc'])
def test_cells_that_a_spreadsheet_would_run_are_texts(name):
    (row,) = list(csv.reader(io.StringIO(csv_text(["name", "bytes"], [(name, -5)]))))[1:]
    assert row[0][:1] not in ("=", "+", "-", "@", "\t", "\r")
    assert row[0].lstrip("'") == name
    assert row[1] == "-5"
