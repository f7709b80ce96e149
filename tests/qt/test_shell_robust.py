"""A fault anywhere becomes a dialog and a line in the log, and the window lives on; it can be closed at any moment."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.qt.conftest import SAMPLES
from tileview.formats.opening import open_file
from tileview.qt.files import export_view, exports
from tileview.qt.files.export_view import Wish
from tileview.qt.jobs.loading import LoadRequest
from tileview.qt.jobs.process import ChildProcess
from tileview.qt.views.graph import layouts
from tileview.qt.widgets.dialogs import ErrorDialog
from tileview.qt.window.faults import FaultHandler, log_path
from tileview.session.document import Document

TIMELINE = SAMPLES / "pair-8tiles.v3.timeline.json"
ROOT = str(Path(__file__).resolve().parents[2])

FAULTS = """
import sys, threading, time
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from tileview.qt import program
from tileview.qt.app import run
from tileview.qt.widgets.dialogs import ErrorDialog
from tileview.qt.window.faults import log_path

class Boom(Exception):
    pass

def boom(*more, **named):
    raise Boom("a fault on purpose")

def dialog(window):
    return next((one for one in QApplication.topLevelWidgets() if isinstance(one, ErrorDialog)), None)

opened = program.Windows.open

def open_and_break(self, paths):
    window = opened(self, paths)
    steps = iter(course(window))

    def go_on():
        if not window.session.is_current:
            return
        if next(steps, None) is None:
            timer.stop()
            window.session.mark_clean()
            window.close()

    timer = QTimer(window)
    timer.timeout.connect(go_on)
    timer.start(40)
    return window

def wait(window, text):
    for _ in range(200):
        found = dialog(window)
        if found is not None and found.isVisible():
            assert text in found.text(), found.text()
            found.close()
            print("told", flush=True)
            return
        yield True
    print("nothing was told", flush=True)

def course(window):
    {course}
    window.session.swap(0, 1)
    for _ in range(50):
        if window.session.is_current:
            break
        yield True
    assert window.session.is_current
    window.grab()
    assert "Boom" in log_path().read_text()
    print("lives", flush=True)

program.Windows.open = open_and_break
sys.exit(run([Path(sys.argv[1])]))
"""


def run_course(course: str) -> subprocess.CompletedProcess[str]:
    script = FAULTS.replace("{course}", course.strip().replace("\n", "\n    "))
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", script, str(SAMPLES / "pair-8tiles.recipe.json")],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONPATH": ROOT},
    )


COURSES = {
    "a slot": """
QTimer.singleShot(0, window, boom)
yield from wait(window, "Boom: a fault on purpose")
""",
    "a model": """
model = window.docks.views["operations"].model
model.spec.cell, kept = boom, model.spec.cell
model.forget_cells()
window.docks.show_view("operations").tree.viewport().update()
yield from wait(window, "Boom: a fault on purpose")
model.spec.cell = kept
""",
    "a painter": """
from tileview.qt.views.tiles.pictures import TileMap
kept, TileMap.draw_over = TileMap.draw_over, boom
window.docks.show_view("tiles").map.draw_again()
yield from wait(window, "a fault on purpose")
TileMap.draw_over = kept
""",
    "a thread": """
threading.Thread(target=boom).start()
yield from wait(window, "Boom: a fault on purpose")
""",
    "a view that shows the selection": """
view = window.docks.views["details"]
view.on_selection, kept = boom, view.on_selection
window.session.select_step(1)
yield from wait(window, "Boom: a fault on purpose")
view.on_selection = kept
""",
    "a command": """
window.commands.action("reload").triggered.connect(boom)
window.commands.action("reload").trigger()
yield from wait(window, "Boom: a fault on purpose")
window.commands.action("reload").triggered.disconnect(boom)
""",
}


def test_a_fault_is_told_and_logged_and_the_window_lives():
    """All of them in one window, one after another: it has to live on after each."""
    course = "\n".join(f'print("{place}", flush=True)\n{lines.strip()}' for place, lines in COURSES.items())
    done = run_course(course)
    assert done.returncode == 0, done.stderr
    expected = [line for place in COURSES for line in (place, "told")]
    assert done.stdout.splitlines() == [*expected, "lives"], done.stderr


def test_a_failing_estimate_is_told_and_the_next_one_runs():
    course = """
from tileview.session.estimate_jobs import EstimateJob
kept, EstimateJob.run = EstimateJob.run, boom
window.session.swap(0, 2)
until = time.monotonic() + 30
while dialog(window) is None and time.monotonic() < until:
    QApplication.processEvents()  # the state in force has no estimate: this generator is driven by hand
EstimateJob.run = kept
assert "Boom" in dialog(window).text()
dialog(window).close()
print("told", flush=True)
"""
    done = run_course(course)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["told", "lives"], done.stderr


def shown_errors(driver) -> list[ErrorDialog]:
    return [one for one in driver.window.findChildren(ErrorDialog) if one.isVisible()]


def told_and_logged(driver) -> str:
    """The text of the one dialog about a fault; its details are in the log too."""
    (dialog,) = shown_errors(driver)
    assert "Traceback" in dialog.text()
    assert "Boom" in log_path().read_text(encoding="utf-8")
    dialog.close()
    return dialog.text()


def break_workers(patch):
    """Every task of a worker process fails."""
    failed = ("failed", ("Boom: a fault on purpose", "Traceback: Boom"))
    patch.setattr(ChildProcess, "send", lambda self, message: setattr(self, "token", message[0]))
    patch.setattr(ChildProcess, "receive", lambda self: (self.token, "error", failed))


def boom(*_arguments):
    raise RuntimeError("Boom")


def fail_evaluation(driver, _monkeypatch, _path):
    driver.window.tools.evaluation.evaluate()


def fail_fix(driver, _monkeypatch, _path):
    driver.window.tools.find_fix()


def fail_diagnosis(driver, _monkeypatch, _path):
    why = driver.window.docks.views["why"]
    why.on_estimate()
    driver.qtbot.waitUntil(lambda: "Boom" in why.text(), timeout=20_000)


def fail_study(driver, _monkeypatch, _path):
    driver.window.files.show_document(Document(TIMELINE, open_file(TIMELINE)))


def fail_layout(driver, monkeypatch, _path):
    monkeypatch.setattr(layouts, "lay_out_graph", boom)
    graph = driver.window.docks.views["graph"]
    graph.toggle_neighbourhood()
    driver.qtbot.waitUntil(lambda: not graph.is_busy(), timeout=20_000)


def fail_loading(driver, _monkeypatch, _path):
    loader = driver.window.files.loader
    loader.failed.emit(LoadRequest(Path("x.json"), "open"), "x.json could not be read: Boom", "Traceback: Boom")


def fail_export(driver, monkeypatch, path):
    monkeypatch.setattr(exports, "dump_timeline", boom)
    driver.window.exporter.export_timeline(path)


def fail_picture(driver, monkeypatch, path):
    monkeypatch.setattr(export_view, "png_image", boom)
    driver.window.view_exporter.write_view(Wish(driver.window.verdict), path)


def fail_report(driver, _monkeypatch, path):
    driver.window.report_exporter.export_report(path)


@pytest.mark.parametrize(
    "fail",
    [
        fail_evaluation,
        fail_fix,
        fail_diagnosis,
        fail_study,
        fail_layout,
        fail_loading,
        fail_export,
        fail_picture,
        fail_report,
    ],
)
def test_a_fault_of_what_works_in_the_background_is_told_and_logged(driver, pair, fail, monkeypatch, tmp_path):
    driver.open(pair)
    why = driver.window.docks.views["why"]
    driver.qtbot.waitUntil(lambda: why.diagnosis is not None, timeout=30_000)
    faults = FaultHandler()
    try:
        with monkeypatch.context() as patch:
            break_workers(patch)
            fail(driver, patch, tmp_path / "out")
            driver.qtbot.waitUntil(lambda: bool(shown_errors(driver)), timeout=30_000)
        assert "Boom" in told_and_logged(driver)
        driver.window.files.show_document(Document(pair, open_file(pair)))
        driver.session.swap(0, 1)
        driver.settle()
    finally:
        faults.close()
        driver.session.mark_clean()


def test_faults_that_follow_each_other_are_one_dialog(driver, pair):
    driver.open(pair)
    for number in range(30):
        driver.window.bridge.fault.emit(f"fault {number}", f"details {number}")
    (dialog,) = driver.window.findChildren(ErrorDialog)
    assert "fault 29" in dialog.label.text()
    assert "details 1\n" in dialog.text()
    dialog.close()


CLOSE = """
import sys, threading
from pathlib import Path
from PySide6.QtCore import QTimer
from tileview.qt import program
from tileview.qt.jobs import evaluation, process as early
from tileview.qt.app import run

early.LARGE_BYTES = 1000
evaluation.DELAY_MS = 0
opened = program.Windows.open

def open_and_close(self, paths):
    window = opened(self, paths)
    window.settings.evaluate_by_itself = False

    def begin():
        if not window.session.is_current:
            return
        timer.stop()
        {work}
        QTimer.singleShot(int(sys.argv[2]), window, window.close)

    timer = QTimer(window)
    timer.timeout.connect(begin)
    timer.start(5)
    return window

program.Windows.open = open_and_close
code = run([Path(sys.argv[1])])
left = [one for one in threading.enumerate() if one is not threading.main_thread()]
print("threads", [one.name for one in left], flush=True)
sys.exit(code)
"""
WORK = {
    "evaluation": "window.tools.evaluation.evaluate()",
    "fix": "window.tools.find_fix()",
    "loading": "window.files.open(Path(sys.argv[1]).with_name('vit3-64tiles.recipe.json'))",
    "reading": "window.files.open(Path(sys.argv[1]).with_name('vit3-64tiles.v3.timeline.json'))",
    "comparison": "window.files.compare_with(Path(sys.argv[1]).with_name('so400m.recipe.json'))",
    "folder": "window.tools.show_folder(Path(sys.argv[1]).parent)",
    "diagnosis": "window.docks.show_view('why')",
    "report": "window.report_exporter.export_report(Path(sys.argv[3]))",
    "export": "window.exporter.export_timeline(Path(sys.argv[3]))",
}


def children_of(pid: int) -> set[int]:
    found = set()
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.add(int(status.parent.name))
    return found


@pytest.mark.parametrize("work", sorted(WORK))
def test_closing_in_the_middle_of_anything_ends_with_0_and_leaves_nothing(work, tmp_path):
    """At once, and when the work is well under way; both at the same time, for nothing but time."""
    script = CLOSE.replace("{work}", WORK[work])
    arguments = [
        [str(SAMPLES / "so400m-over.recipe.json"), str(delay), str(tmp_path / f"{delay}.json")] for delay in (0, 400)
    ]
    processes = [
        subprocess.Popen(
            [sys.executable, "-X", "faulthandler", "-c", script, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": ROOT},
        )
        for words in arguments
    ]
    helpers: set[int] = set()
    end = time.monotonic() + 90
    while any(process.poll() is None for process in processes) and time.monotonic() < end:
        helpers |= set[int]().union(*(children_of(process.pid) for process in processes))
        time.sleep(0.02)
    for process in processes:
        out, errors = process.communicate(timeout=30)
        assert process.returncode == 0, errors
        assert out == "threads []\n"
        assert "Traceback" not in errors
    until = time.monotonic() + 10
    while any(Path(f"/proc/{pid}").exists() for pid in helpers) and time.monotonic() < until:
        time.sleep(0.05)
    assert not [pid for pid in helpers if Path(f"/proc/{pid}").exists()]
    assert not list(tmp_path.glob("*.part"))
