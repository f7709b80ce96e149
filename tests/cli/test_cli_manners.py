"""Usage errors, faults, interrupts, closed pipes, a missing PySide6, a missing display."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from tests.helpers.command_line import SAMPLES, assert_one_error, run, run_process, run_shell
from tileview.analysis import workers
from tileview.commands import parser as parser_module
from tileview.commands.base import clean, table

RECIPE = SAMPLES / "pair-8tiles.recipe.json"


@pytest.fixture
def interrupts():
    """Ctrl+C as programs get it by default, here and in what is started, whatever runs the tests has set."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    "arguments",
    [
        ["summary"],
        ["summary", "--nonsense"],
        ["frobnicate-this-file.json"],
        ["swap"],
        ["fix", RECIPE, "--max-swaps", "many"],
        ["screenshot", RECIPE],
        ["screenshot", RECIPE, "-o", "x.png", "--size", "big"],
        ["screenshot", RECIPE, "-o", "x.png", "--view", "sideways"],
        ["diff", RECIPE],
        ["diff", RECIPE, RECIPE, "--visited", "0"],
        ["check", RECIPE, "--max-total", "-5"],
        ["alternatives", RECIPE, "--workers", "0"],
        ["summary", RECIPE, "--budget", "99999999999999999999"],
        ["report", RECIPE, "--reserve", str(2**62 + 1), "-o", "x.html"],
        ["--nonsense"],
    ],
)
def test_usage_errors_are_one_line(arguments):
    assert_one_error(run(*arguments))


def test_help_and_version():
    for arguments in (["--help"], ["summary", "--help"], ["--version"]):
        result = run(*arguments)
        assert result.code == 0
        assert result.out
        assert result.err == ""
    for command in parser_module.COMMANDS:
        assert command in run("--help").out


def test_a_fault_of_the_program_is_one_line_and_a_log_file(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr("tileview.commands.summary.load_subject", lambda *_: 1 // 0)
    result = run("summary", RECIPE)
    assert result.code == 2
    assert result.out == ""
    assert result.err.count("\n") == 1
    assert "Traceback" not in result.err
    (log,) = (tmp_path / "tileview").iterdir()
    assert str(log) in result.err
    assert "ZeroDivisionError" in log.read_text()


def test_a_fault_without_a_place_for_the_log(monkeypatch, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(blocked))
    monkeypatch.setattr("tempfile.tempdir", str(blocked))
    monkeypatch.setattr("tileview.commands.summary.load_subject", lambda *_: 1 // 0)
    result = run("summary", RECIPE)
    assert result.code == 2
    assert "could be written" in result.err


def test_interrupt_is_quiet(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("tileview.commands.summary.load_subject", interrupted)
    result = run("summary", RECIPE)
    assert result.code == 2
    assert result.err == "tileview: interrupted\n"


WORKERS_AT_ONCE = """
import functools, os, signal, sys
from tileview.analysis import workers
from tileview.cli import main
if __name__ == "__main__":
    workers.Workers = functools.partial(workers.Workers, patience=0)
    results, wait = [], workers.wait
    def wait_and_interrupt(*arguments, **settings):
        finished, waiting = wait(*arguments, **settings)
        results.extend(finished)
        if results:
            print("workers at work", file=sys.stderr, flush=True)
            os.kill(os.getpid(), signal.SIGINT)
        return finished, waiting
    workers.wait = wait_and_interrupt
    sys.exit(main(sys.argv[1:]))
"""
"""The command line with workers from the first trial, and a Ctrl+C as soon as one of them has brought a result."""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_interrupt_of_a_search_ends_its_workers(interrupts, tmp_path):
    script = tmp_path / "at_once.py"
    script.write_text(WORKERS_AT_ONCE)
    process = subprocess.Popen(
        [sys.executable, str(script), "alternatives", str(SAMPLES / "vit3-64tiles.recipe.json"), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        cwd=SAMPLES.parent,
        env={**os.environ, "PYTHONPATH": str(SAMPLES.parent)},
        start_new_session=True,
    )
    out, err = process.communicate(timeout=120)
    assert b"workers at work" in err
    assert process.returncode == 2
    assert out == b""
    assert b"interrupted" in err
    assert b"Traceback" not in err
    deadline = time.monotonic() + 60
    while group_members(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert group_members(process.pid) == set()


WORKERS_THAT_DIE = """
import functools, multiprocessing, sys
from tileview.analysis import workers
from tileview.cli import main
if __name__ == "__main__":
    multiprocessing.set_executable("/bin/false")
    workers.Workers = functools.partial(workers.Workers, patience=0)
    sys.exit(main(sys.argv[1:]))
"""
"""The command line with workers that end before they have read anything, as where memory is short."""


@pytest.mark.skipif(not os.path.exists("/bin/false"), reason="needs a program that does nothing")
def test_workers_that_die_at_once_are_done_without(tmp_path):
    """What a start carries must not wait for a reader that is gone: the recipe is more than a pipe holds."""
    script = tmp_path / "dying.py"
    script.write_text(WORKERS_THAT_DIE)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(script), "alternatives", str(SAMPLES / "so400m.recipe.json"), "--json"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=SAMPLES.parent,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(SAMPLES.parent)},
    )
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["alternatives"]) == 101


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interrupt_while_a_worker_starts_waits_until_it_is_whole(interrupts):
    """Also where the system hands the signal to another thread, which this one's mask does not concern."""
    stop = threading.Event()
    other = threading.Thread(target=stop.wait)
    other.start()
    reached = []

    def start():
        with workers.interrupts_held():
            signal.pthread_kill(other.ident, signal.SIGINT)
            time.sleep(0.1)
            reached.append("whole")

    try:
        with pytest.raises(KeyboardInterrupt):
            start()
    finally:
        stop.set()
        other.join()
    assert reached == ["whole"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def group_members(group):
    """Processes of a process group that still run."""
    found = set()
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as file:
                    fields = file.read().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[2]) == group and fields[0] != "Z":
                found.add(int(entry))
    return found


def test_a_closed_pipe_is_no_error():
    done = run_shell(f"tileview profile {SAMPLES / 'so400m.recipe.json'} | head -c 10")
    assert (done.code, done.out, done.err) == (0, '{"version"', "")


def test_a_closed_pipe_of_text_is_no_error():
    done = run_shell(f"tileview summary {SAMPLES} {SAMPLES} --json | true")
    assert (done.code, done.out, done.err) == (1, "", "")


BLOCKED = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("PySide6", "shiboken6"):
            raise ModuleNotFoundError(f"{name} is blocked", name=name)
sys.meta_path.insert(0, Blocker())
from tileview.cli import main
if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["summary", RECIPE, "--json"], 1),
        (["swap", RECIPE, "0=1", "1=0", "--json"], 0),
        (["alternatives", RECIPE, "--json"], 1),
        (["fix", RECIPE, "--json"], 0),
        (["diff", RECIPE, RECIPE], 0),
        (["profile", RECIPE], 1),
        (["check", RECIPE], 1),
        (["report", RECIPE, "-o", "{folder}/page.html"], 1),
        (["open", RECIPE], 2),
        (["screenshot", RECIPE, "-o", "{folder}/x.png"], 2),
    ],
)
def test_everything_but_the_window_works_without_qt(arguments, code, tmp_path):
    script = tmp_path / "blocked.py"
    script.write_text(BLOCKED)
    words = [str(argument).replace("{folder}", str(tmp_path)) for argument in arguments]
    done = subprocess.run(
        [sys.executable, str(script), *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=SAMPLES.parent,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(SAMPLES.parent), "QT_QPA_PLATFORM": "offscreen"},
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    if code == 2:
        assert done.stderr.count("\n") == 1
        assert "PySide6 is not installed" in done.stderr
        assert "fault" not in done.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="displays of Linux")
def test_no_display_is_one_sentence():
    environment = {"DISPLAY": "", "WAYLAND_DISPLAY": "", "QT_QPA_PLATFORM": ""}
    result = run_process(RECIPE, environment=environment)
    assert_one_error(result, "display", "tileview summary")


def test_open_of_a_missing_file():
    result = run_process("open", "missing.json")
    assert_one_error(result, "missing.json")
    assert "command" not in result.err


def test_a_word_that_is_neither_a_file_nor_a_command():
    assert_one_error(run_process("sumary", RECIPE), "sumary", "no command of this name", "tileview --help")


def test_any_terminal_can_show_any_name(tmp_path):
    result = run_process("summary", RECIPE, environment={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert result.code == 1
    assert "Traceback" not in result.err


def test_tables_are_aligned_whatever_the_script():
    text = table(("name", "bytes"), [("重み", "1 B"), ("weight", "1,024 B"), ("e\u0301", "10 B")], numbers=(1,))
    assert text.splitlines() == ["name      bytes", "重み        1 B", "weight  1,024 B", "e\u0301          10 B"]


def test_clean_keeps_what_can_be_read():
    assert clean("vit.äöü 重み") == "vit.äöü 重み"
    assert clean("a\tb\x00\ud800") == "a\\u{9}b\\u{0}\\u{d800}"
    assert len(clean("x" * 1000, 50)) == 50
