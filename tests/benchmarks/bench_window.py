"""How long the window takes, and how long it ever keeps its user waiting.

``python -m tests.benchmarks.bench_window [--large OUT.json]`` prints, for the sample files: process start to the first
paint of the window, opening to the published estimate, one swap, a step with all views open, and all alternatives in
worker processes. With ``--large`` (a file made by ``tests/helpers/make_timeline.py``) it opens that as well and prints
the longest gap of the event loop meanwhile, and the peak memory. Runs without a display.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
ROOT = Path(__file__).resolve().parents[2]
_BYTECODE = tempfile.TemporaryDirectory()
COMPILED = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": _BYTECODE.name}
"""For children: modules are compiled once, as where the program is installed."""
SAMPLES = ROOT / "sample_data"

FIRST_PAINT = """
import sys, time
started = float(sys.argv[1])
from pathlib import Path
from tileview.qt.app import import_qt
import_qt()
from PySide6.QtCore import QEvent
from tileview.qt.program import make_application
from tileview.qt.window.main_window import MainWindow
application = make_application()
window = MainWindow()
window.settings.evaluate_by_itself = False
window.show()
window.open_paths([Path(sys.argv[2])], ask=False)
application.processEvents()
window.grab()
painted = time.time()
while not window.session.is_current:
    application.processEvents()
    time.sleep(0.001)
window.grab()
known = time.time()
print(f"{(painted - started) * 1000:.0f} {(known - started) * 1000:.0f}")
window.close()
# The window goes while Qt is whole, as where an event loop ends; left to the end of Python it may crash.
application.sendPostedEvents(None, QEvent.Type.DeferredDelete)
"""


class Clock:
    """Runs the event loop and remembers the longest time between two of its turns."""

    def __init__(self, application) -> None:
        self.application = application
        self.longest = 0.0

    def until(self, done: Callable[[], bool], patience: float = 600.0) -> float:
        """Seconds until ``done``; turns of the loop are a millisecond apart where nothing keeps it."""
        started = last = time.perf_counter()
        while not done():
            self.application.processEvents()
            now = time.perf_counter()
            self.longest = max(self.longest, now - last)
            last = now
            if now - started > patience:
                raise TimeoutError
            time.sleep(0.001)
        return time.perf_counter() - started


def show(text: str, seconds: float) -> None:
    print(f"{text:<58} {seconds * 1000:9.1f} ms", flush=True)


def first_paint(path: Path) -> None:
    best = None
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", FIRST_PAINT, str(time.time()), str(path)],
            capture_output=True, text=True, check=True, cwd=ROOT, env={**os.environ, **COMPILED},
        )  # fmt: skip
        figures = tuple(float(part) / 1000 for part in done.stdout.split())
        best = figures if best is None else min(best, figures)
    assert best is not None
    show(f"{path.name}: start to first paint", best[0])
    show(f"{path.name}: start to the verdict on screen", best[1])


def sample(clock: Clock, path: Path) -> None:
    window = new_window(clock)
    session = window.session
    window.files.open(path)
    show(f"{path.name}: open to estimate shown", clock.until(lambda: session.is_current))
    clock.until(lambda: settled(window))
    steps(clock, window, path.name)
    recipe = session.recipe
    if recipe is not None:
        swap(clock, window, path.name)
        window.tools.evaluation.evaluate()
        taken = clock.until(lambda: not window.tools.evaluation.is_running)
        count = sum(len(plans) for plans in recipe.alternatives.values())
        show(f"{path.name}: all {count} alternatives, workers started cold", taken)
        session.undo()
        clock.until(lambda: session.is_current)
        window.tools.evaluation.evaluate()
        taken = clock.until(lambda: not window.tools.evaluation.is_running)
        show(f"{path.name}: all {count} alternatives, workers warm", taken)
    close(clock, window)


def swap(clock: Clock, window, name: str) -> None:
    session = window.session
    recipe = session.recipe
    operation = next(
        one for one, plans in recipe.alternatives.items() if len(plans) > 1 and recipe.in_force(one) is not None
    )
    times = []
    for index in range(len(recipe.alternatives[operation])):
        if session.swap(operation, index):
            times.append(clock.until(lambda: session.is_current))
    show(f"{name}: one swap to estimate shown (median)", sorted(times)[len(times) // 2])


def steps(clock: Clock, window, name: str) -> None:
    session = window.session
    count = min(len(session.timeline.steps), 200)
    times = []
    for step in range(count):
        started = time.perf_counter()
        session.select_step(step)
        clock.application.processEvents()
        times.append(time.perf_counter() - started)
    times.sort()
    show(f"{name}: one step with all views (median of {count})", times[count // 2])
    show(f"{name}: one step with all views (slowest tenth)", times[count * 9 // 10])


def large(clock: Clock, path: Path) -> None:
    import resource

    window = new_window(clock)
    clock.longest = 0.0
    window.files.open(path)
    taken = clock.until(lambda: window.session.document is not None)
    megabytes = path.stat().st_size / 2**20
    show(f"{megabytes:.0f} MiB timeline: opened", taken)
    show(f"{megabytes:.0f} MiB timeline: longest gap of the event loop so far", clock.longest)
    taken += clock.until(lambda: window.session.is_current)
    show(f"{megabytes:.0f} MiB timeline: verdict shown", taken)
    show(f"{megabytes:.0f} MiB timeline: longest gap of the event loop", clock.longest)
    clock.until(lambda: settled(window))
    steps(clock, window, f"{megabytes:.0f} MiB timeline")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")
    close(clock, window)


def new_window(clock: Clock):
    from tileview.qt.window.main_window import MainWindow

    window = MainWindow()
    window.settings.evaluate_by_itself = False
    window.resize(1600, 1000)
    window.show()
    clock.application.processEvents()
    return window


def settled(window) -> bool:
    return not window.docks.is_busy


def close(clock: Clock, window) -> None:
    window.session.mark_clean()
    window.close()
    clock.application.processEvents()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--large", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TILEVIEW_STATE_DIR"] = folder
        from PySide6.QtCore import qInstallMessageHandler

        from tileview.qt.program import make_application

        qInstallMessageHandler(lambda *_: None)
        clock = Clock(make_application())
        for name in ("vit3-64tiles.recipe.json", "so400m.recipe.json"):
            first_paint(SAMPLES / name)
            sample(clock, SAMPLES / name)
        if arguments.large is not None:
            large(clock, arguments.large)


if __name__ == "__main__":
    main()
