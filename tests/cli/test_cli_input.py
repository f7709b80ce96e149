"""What commands read (files, the standard input, pipes) and how they show the names that they find."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys

import pytest

from tests.helpers.command_line import SAMPLES, run, run_process, run_shell
from tileview.model.names import visible, visible_json

RECIPE = SAMPLES / "pair-8tiles.recipe.json"
TIMELINE = SAMPLES / "pair-8tiles.v3.timeline.json"
COMMANDS = [
    ("summary", "--json"),
    ("check", "--json"),
    ("profile",),
    ("alternatives", "--json"),
    ("swap", "0=0", "--json"),
    ("fix", "--json"),
]


@pytest.mark.skipif(sys.platform == "win32", reason="pipes")
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_the_standard_input_is_read_like_a_file(command: tuple[str, ...], name: str) -> None:
    wanted = run(command[0], RECIPE, *command[1:])
    found = run_process(command[0], name, *command[1:], stdin=RECIPE.read_bytes())
    scope = "stdin"
    text = wanted.out.replace(f'"file":"{RECIPE}"', f'"file":"{name}"').replace(
        '"scope":"pair-8tiles.recipe"', f'"scope":"{scope}"'
    )
    assert (found.code, found.out.strip()) == (wanted.code, text.strip())


@pytest.mark.skipif(sys.platform == "win32", reason="pipes")
def test_process_substitution_and_redirection() -> None:
    wanted = run("summary", TIMELINE).out.split("\n")[1:]
    for line in (f"tileview summary <(cat {TIMELINE})", f"tileview summary - < {TIMELINE}"):
        assert run_shell(line).out.split("\n")[1:] == wanted
    assert run_shell(f"tileview diff <(cat {TIMELINE}) {TIMELINE}").code == 0


def test_an_empty_standard_input_is_said_to_be_one() -> None:
    found = run_process("summary", "-", stdin=b"")
    assert found.code == 2
    assert "an empty file" in found.err


def test_a_report_shows_the_name_and_no_folder(tmp_path) -> None:
    folder = tmp_path / "secret project"
    folder.mkdir()
    path = folder / "dump.json"
    path.write_bytes(TIMELINE.read_bytes())
    run("report", path, "-o", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "dump.json" in page
    assert "secret project" not in page


@pytest.mark.skipif(sys.platform != "linux", reason="file names of any bytes")
def test_a_file_name_that_is_no_utf8_is_shown_by_its_bytes(tmp_path) -> None:
    path = os.path.join(os.fsencode(tmp_path), b"run-\xff\xe9.json")
    with open(path, "wb") as file:
        file.write(TIMELINE.read_bytes())
    found = run("summary", os.fsdecode(path))
    assert r"run-\xff\xe9.json" in found.out
    run("report", os.fsdecode(path), "-o", tmp_path / "r.html")
    assert r"run-\xff\xe9.json" in (tmp_path / "r.html").read_text()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("vit.Größe 漢字", "vit.Größe 漢字"),
        ("a\x1b[31mb", "a\\u{1b}[31mb"),
        ("a\u202eb", "a\\u{202e}b"),
        ("a\x9bb", "a\\u{9b}b"),
        ("a\udcffb", "a\\xffb"),
        ("a\ud800b", "a\\u{d800}b"),
        ("a\u00a0b\nc", "a\\u{a0}b\\u{a}c"),
    ],
)
def test_names_are_shown_without_what_does_not_print(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert visible(text, keep="\n") == shown.replace("\\u{a}", "\n")


@pytest.mark.parametrize("text", ["plain", "a\x7fb", "a\u202eb", "漢\U000e0001", "a\x9b", "é"])
def test_json_for_a_terminal_means_the_same(text: str) -> None:
    dumped = json.dumps({"name": text}, ensure_ascii=False)
    shown = visible_json(dumped)
    assert json.loads(shown) == {"name": text}
    assert shown.isprintable()


@pytest.mark.skipif(sys.platform == "win32", reason="terminals")
def test_a_profile_on_a_terminal_holds_no_marks(tmp_path) -> None:
    document = json.loads(TIMELINE.read_bytes())
    document["timeline"]["values"][0]["name"] = "a\u202eb\x9bc"
    path = tmp_path / "marks.json"
    path.write_text(json.dumps(document, ensure_ascii=False))
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "tileview", "profile", str(path)],
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        cwd=SAMPLES.parent,
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65_536)
        except OSError:
            break
        if not part:
            break
        shown += part
    process.wait()
    os.close(ours)
    assert json.loads(shown)["timeline"]["values"][0]["name"] == "a\u202eb\x9bc"
    assert rb"a\u202eb\u009bc" in shown
    assert run("profile", path).out.count("\u202e") == 1


def test_csv_holds_no_marks_either() -> None:
    from tileview.present.tables import csv_text

    assert csv_text(["name"], [["a\x1b[2Jb\u202e"]]) == "name\r\na\\u{1b}[2Jb\\u{202e}\r\n"


@pytest.mark.parametrize("command", [("open", "-"), ("screenshot", "-", "-o", "picture.png")])
def test_the_window_says_why_it_takes_no_standard_input(command: tuple[str, ...]) -> None:
    done = run(*command)
    assert done.code == 2
    assert "cannot show standard input; write that to a file first" in done.err
