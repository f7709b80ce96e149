"""The program as a process: it starts, it ends with 0 at any moment, and says why where it cannot start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap

import pytest

from tileview.qt import app as entrance
from tileview.qt.files.recovery import left_behind

RUN = """
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
from tileview.qt import program
from tileview.qt.jobs import process as early
from tileview.qt.app import run

early.LARGE_BYTES = {large}
opened = program.Windows.open

def open_and_close(self, paths):
    window = opened(self, paths)
    QTimer.singleShot({delay}, window, window.close)
    return window

program.Windows.open = open_and_close
code = run([Path(name) for name in sys.argv[1:]])
print("code", code)
sys.exit(code)
"""


def run(script: str, *arguments: str, **environment: str | None) -> subprocess.CompletedProcess[str]:
    named = {**os.environ, **environment}
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(script), *arguments],
        env={key: value for key, value in named.items() if value is not None},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(
    ("delay", "large", "name"),
    [
        (0, 1, "vit3-64tiles.recipe.json"),
        (150, 1, "vit3-64tiles.recipe.json"),
        (600, 10**9, "so400m-over.recipe.json"),
        (2500, 10**9, "vit3-64tiles.recipe.json"),
        (1200, 10**9, "rejected-op0.timeline.json"),
    ],
)
def test_the_process_ends_with_0_when_the_window_closes(samples, delay, large, name):
    done = run(RUN.format(delay=delay, large=large), str(samples / name))
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert "QThread" not in done.stderr
    assert done.stdout.endswith("code 0\n")


def test_several_files_open_in_several_windows(samples):
    script = RUN.format(delay=4000, large=10**9) + "\nassert not __import__('threading').enumerate()[1:]"
    done = run(script, str(samples / "pair-8tiles.recipe.json"), str(samples / "vit3-64tiles.recipe.json"))
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_display_it_says_so_in_one_sentence_and_ends_with_2():
    done = run(
        "import sys; from tileview.qt.app import run; sys.exit(run([]))",
        DISPLAY=None,
        WAYLAND_DISPLAY=None,
        QT_QPA_PLATFORM=None,
    )
    assert done.returncode == 2
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1
    assert "display" in lines[0]
    assert "xvfb" in lines[0]
    assert "tileview summary" in lines[0]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="X11 is looked at on Linux only")
@pytest.mark.parametrize("display", [":987", "nowhere.invalid:0", "rubbish"])
def test_a_display_that_does_not_answer_is_told_from_none(display, monkeypatch):
    """The libraries of X11 count as present, but for the real one that asks the server: every Qt has that."""
    real = entrance.ctypes.CDLL
    monkeypatch.setattr(entrance.ctypes, "CDLL", lambda name: real(name) if name == "libxcb.so.1" else object())
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    assert f"no X server answers at DISPLAY={display!r}" in entrance.trouble()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="X11 is looked at on Linux only")
def test_without_its_x_server_the_program_ends_with_2_and_one_sentence():
    """A machine without a display may lack Qt's libraries for one as well: then they are named first."""
    done = run(
        "import sys; from tileview.qt.app import run; sys.exit(run([]))",
        DISPLAY=":987",
        WAYLAND_DISPLAY=None,
        QT_QPA_PLATFORM=None,
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "DISPLAY=':987'" in done.stderr or "apt-get install libxcb" in done.stderr
    assert "tileview summary" in done.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="platforms are looked at on Linux only")
@pytest.mark.parametrize("platform", ["rubbish", "linuxfb:fb=/nowhere"])
def test_a_platform_that_does_not_start_is_one_sentence_and_no_abort(platform):
    done = run("import sys; from tileview.qt.app import run; sys.exit(run([]))", QT_QPA_PLATFORM=platform)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert repr(platform) in done.stderr
    assert "tileview summary" in done.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="libraries are looked at on Linux only")
def test_missing_libraries_are_named_as_packages(monkeypatch):
    def absent(name):
        if name in ("libEGL.so.1", "libxcb-cursor.so.0"):
            raise OSError(name)
        return object()

    monkeypatch.setattr(entrance.ctypes, "CDLL", absent)
    monkeypatch.setenv("QT_QPA_PLATFORM", "xcb")
    text = entrance.trouble()
    assert "apt-get install libegl1 libxcb-cursor0)" in text
    assert "tileview summary" in text
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    assert "apt-get install libegl1)" in entrance.trouble()


def test_offscreen_needs_no_display(monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    assert entrance.trouble(offscreen=True) is None


def test_without_pyside_it_says_so(monkeypatch):
    monkeypatch.setattr(entrance.importlib.util, "find_spec", lambda name: None)
    assert "PySide6-Essentials is not installed" in entrance.trouble()


def test_screenshot_draws_the_window(samples, tmp_path):
    out = tmp_path / "picture.png"
    script = """
        import sys
        from tileview.qt.app import screenshot
        screenshot(sys.argv[1], sys.argv[2], size=(1200, 700), theme="dark", step=3, tile=2, operation=4, view="tiles")
        """
    done = run(script, str(samples / "vit3-64tiles.recipe.json"), str(out), DISPLAY=None, QT_QPA_PLATFORM=None)
    assert done.returncode == 0, done.stderr
    data = out.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert (int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")) == (1200, 700)


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        ({"step": 10_000}, "there is no step 10000"),
        ({"tile": 64}, "there is no tile 64"),
        ({"operation": 999}, "there is no operation 999"),
    ],
)
def test_screenshot_of_what_is_not_there_is_refused(samples, tmp_path, qapp, wanted, text):
    from tileview.errors import TileViewError
    from tileview.qt.app import screenshot

    with pytest.raises(TileViewError, match=text):
        screenshot(samples / "vit3-64tiles.recipe.json", tmp_path / "x.png", **wanted)
    assert not (tmp_path / "x.png").exists()


SWAP_AND_WAIT = """
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
from tileview.qt import program
from tileview.qt.app import run

opened = program.Windows.open

def open_and_edit(self, paths):
    window = opened(self, paths)

    def edit():
        if window.session.document is None:
            return
        if window.session.history.is_clean:
            window.session.swap(0, 2)
        elif window.files.recovery.file.exists():
            print("ready", flush=True)
            timer.stop()

    timer = QTimer(window)
    timer.timeout.connect(edit)
    timer.start(50)
    return window

program.Windows.open = open_and_edit
sys.exit(run([Path(name) for name in sys.argv[1:]]))
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 2), (signal.SIGTERM, 2), (signal.SIGKILL, -9)])
def test_edits_survive_when_the_process_is_ended_from_outside(pair, number, code, state_folder):
    process = subprocess.Popen(
        [sys.executable, "-c", SWAP_AND_WAIT, str(pair)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == code, errors
    kept = left_behind().kept
    assert [dict(one.state.swaps) for one in kept] == [{0: 2}]
    assert kept[0].document == pair
