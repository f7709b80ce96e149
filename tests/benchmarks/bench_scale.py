"""Large timelines in the real window: time and memory until it can be used, gaps of its event loop, cost of a step.

``python -m tests.benchmarks.bench_scale [--folder DIR] [--sizes 110 300 830 2048]`` makes timelines of 1472 tiles and
about that many MiB in the folder (a temporary one, unless they are to be kept), opens each with the window as
``tileview open`` does, in a fresh process, and prints

* seconds from the start of the process, and from the moment that the window asks for the file, until the verdict is
  shown and all views are drawn;
* the largest memory of the window's process, and of it and its worker processes together;
* the longest gap of the event loop until everything has been read and checked in the background, and the processor
  time of its longest turn, which is what counts where other programs keep the machine busy;
* milliseconds a step, all views drawn, when steps follow each other as fast as they can, and until another tile is
  shown;
* the same for a recipe of 2,000 operations with 60,000 alternatives and a context of 10 MB, and for one of 5,000
  operations with 500,000 alternatives;
* time and memory of a plain ``orjson.loads`` of the same file, and all of it per MiB.

Linux only; runs without a display, from the repository's root.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STEP_BYTES, VALUE_BYTES = 36_270, 14_200
"""About what a step and a value take in a file for 1472 tiles."""

LARGEST_PARSED = 450
"""MiB of the largest file that is parsed as a whole for comparison: that takes ten times its size."""

_BYTECODE = tempfile.TemporaryDirectory()
COMPILED = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": _BYTECODE.name}
"""For children: modules are compiled once, as where the program is installed."""

WINDOW = """
import json, os, sys, time
started, path, steps = float(sys.argv[1]), sys.argv[2], int(sys.argv[3])
from pathlib import Path
from tileview.qt import app
from tileview.qt.jobs import process
process.begin(Path(path))
app.import_qt()
from PySide6.QtCore import QObject, QTimer, Slot, qInstallMessageHandler
qInstallMessageHandler(lambda *_: None)
from tileview.qt import program

def fail(*fault):
    sys.__excepthook__(*fault)
    os._exit(1)

class Probe(QObject):
    def __init__(self, window):
        super().__init__(window)
        sys.excepthook = fail  # a fault of the probe ends the run, no dialog waits for somebody
        self.window = window
        self.found = {"asked": time.time() - started, "asked_cpu": time.thread_time()}
        self.last, self.gap = time.perf_counter(), 0.0
        self.last_cpu, self.turn = time.thread_time(), 0.0
        self.found["progress"] = 0
        window.files.loader.progress.connect(self.told)
        self.timer = QTimer(self)
        self.timer.timeout.connect(self.tick)
        self.timer.start(1)

    @Slot(object, object, object)
    def told(self, request, done, total):
        self.found["progress"] += 1

    def settled(self):
        window = self.window
        return window.session.is_current and window.bridge.turns.is_done and not window.docks.is_busy

    @Slot()
    def tick(self):
        now = time.perf_counter()
        self.gap, self.last = max(self.gap, now - self.last), now
        now = time.thread_time()
        self.turn, self.last_cpu = max(self.turn, now - self.last_cpu), now
        found, window = self.found, self.window
        if "usable" not in found:
            if self.settled():
                window.grab()
                found["usable"] = time.time() - started
                found["usable_cpu"] = time.thread_time()
                self.last, self.last_cpu = time.perf_counter(), time.thread_time()
            return
        if window.estimates.steps_reader.is_running or not self.settled():
            return
        found["studied"] = time.time() - started
        found["gap"], found["turn"] = self.gap, self.turn
        self.timer.stop()
        self.scrub()
        window.session.mark_clean()
        window.close()

    def scrub(self):
        session, application = self.window.session, program.make_application()
        count = len(session.timeline.steps)
        times = []
        cpu = time.thread_time()
        for number in range(steps):
            begun = time.perf_counter()
            session.select_step((100 + number) % count)
            application.processEvents()
            times.append(time.perf_counter() - begun)
        cpu = (time.thread_time() - cpu) / len(times)
        times.sort()
        begun = time.perf_counter()
        session.select_tiles((7,))
        while not self.settled():
            application.processEvents()
        self.found["tile"] = time.perf_counter() - begun
        self.found.update(step=sum(times) / len(times), step_median=times[len(times) // 2],
                          step_slow=times[len(times) * 95 // 100], step_slowest=times[len(times) * 99 // 100],
                          step_cpu=cpu)

opened = program.Windows.open
def open_and_watch(self, paths):
    window = opened(self, paths)
    window.settings.evaluate_by_itself = False
    window.resize(1600, 1000)
    self.probe = Probe(window)
    return window
program.Windows.open = open_and_watch
probe = {}
closed = program.Windows.close
def close_and_keep(self):
    probe.update(self.probe.found)
    closed(self)
program.Windows.close = close_and_keep
code = app.run([Path(path)])
status = open("/proc/self/status").read()
probe["peak"] = int(status.partition("VmHWM:")[2].split()[0]) / 1024
print(json.dumps(probe))
sys.exit(code)
"""

PLAIN = """
import json, sys, time
import orjson
def peak():
    return int(open("/proc/self/status").read().partition("VmHWM:")[2].split()[0]) / 1024
begun = time.perf_counter()
document = orjson.loads(open(sys.argv[1], "rb").read())
print(json.dumps({"seconds": time.perf_counter() - begun, "peak": peak()}))
"""


class Memory(threading.Thread):
    """Samples the resident memory of a process and all that stem from it; shared pages count once for each."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid = pid
        self.largest = 0.0
        self.done = threading.Event()

    def run(self) -> None:
        page = os.sysconf("SC_PAGE_SIZE") / 2**20
        while not self.done.wait(0.02):
            parents, resident = {}, {}
            for folder in Path("/proc").glob("[0-9]*"):
                try:
                    pid = int(folder.name)
                    parents[pid] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                    resident[pid] = int((folder / "statm").read_text().split()[1]) * page
                except (OSError, ValueError):
                    continue
            tree, grown = {self.pid}, True
            while grown:
                more = {pid for pid, parent in parents.items() if parent in tree} - tree
                tree |= more
                grown = bool(more)
            self.largest = max(self.largest, sum(resident.get(pid, 0.0) for pid in tree))


def run(code: str, *arguments: str) -> tuple[dict[str, float], float]:
    """What a child prints as JSON, and the largest memory of its tree."""
    import json

    with tempfile.TemporaryDirectory() as state:
        environment = {
            **os.environ,
            **COMPILED,
            "PYTHONPATH": str(ROOT),
            "QT_QPA_PLATFORM": "offscreen",
            "TILEVIEW_STATE_DIR": state,
        }
        child = subprocess.Popen(
            [sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, text=True, env=environment
        )
        memory = Memory(child.pid)
        memory.start()
        out, _ = child.communicate()
        memory.done.set()
        memory.join()
    if child.returncode:
        raise SystemExit(f"the child ended with {child.returncode}")
    return json.loads(out.splitlines()[-1]), memory.largest


def made(folder: Path, megabytes: int) -> Path:
    from tests.helpers.make_timeline import write_timeline

    path = folder / f"scale-{megabytes}.json"
    if not path.exists():
        values = min(3000 if megabytes < 800 else 10_000, 14 * megabytes)
        steps = (megabytes * 2**20 - values * VALUE_BYTES) // STEP_BYTES
        write_timeline(path, steps, values, 1472)
    return path


def made_recipe(folder: Path, operations: int, alternatives: int, context: int) -> Path:
    from tests.helpers.make_recipe import write_recipe

    path = folder / f"scale-{operations}x{alternatives}.recipe.json"
    if not path.exists():
        write_recipe(path, operations, alternatives, 64, context)
    return path


def report(path: Path, rounds: int, steps: int) -> None:
    size = path.stat().st_size / 2**20
    print(f"\n{path.name}: {size:.1f} MiB; load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    best: dict[str, float] = {}
    whole = 0.0
    for _ in range(rounds):
        figures, tree = run(WINDOW, str(time.time()), str(path), str(steps))
        whole = max(whole, tree)
        for key, value in figures.items():
            best[key] = min(best.get(key, value), value)
    plain = run(PLAIN, str(path))[0] if size < LARGEST_PARSED else None
    usable, asked = best["usable"], best["asked"]
    rows = [
        ("start of the process to a usable window", f"{usable:8.2f} s", usable / size * 1000, "ms"),
        ("  processor time of the window's thread", f"{best['usable_cpu']:8.2f} s", None, ""),
        ("file asked for to a usable window", f"{usable - asked:8.2f} s", (usable - asked) / size * 1000, "ms"),
        ("  processor time of the window's thread", f"{best['usable_cpu'] - best['asked_cpu']:8.2f} s", None, ""),
        ("start to everything read and checked", f"{best['studied']:8.2f} s", best["studied"] / size * 1000, "ms"),
        ("progress shown, times", f"{best['progress']:8.0f}  ", None, ""),
        ("peak memory of the window's process", f"{best['peak']:8.0f} MiB", best["peak"] / size, "MiB"),
        ("peak memory with its worker processes", f"{whole:8.0f} MiB", whole / size, "MiB"),
        ("longest gap of the event loop", f"{best['gap'] * 1000:8.0f} ms", None, ""),
        ("  processor time of its longest turn", f"{best['turn'] * 1000:8.0f} ms", None, ""),
        ("a step with all views, mean", f"{best['step'] * 1000:8.1f} ms", None, ""),
        ("  processor time, mean", f"{best['step_cpu'] * 1000:8.1f} ms", None, ""),
        ("a step with all views, median", f"{best['step_median'] * 1000:8.1f} ms", None, ""),
        ("a step with all views, slowest twentieth", f"{best['step_slow'] * 1000:8.1f} ms", None, ""),
        ("a step with all views, slowest hundredth", f"{best['step_slowest'] * 1000:8.1f} ms", None, ""),
        ("until another tile is shown", f"{best['tile'] * 1000:8.1f} ms", None, ""),
    ]
    if plain is not None:
        rows += [
            ("orjson.loads alone", f"{plain['seconds']:8.2f} s", plain["seconds"] / size * 1000, "ms"),
            ("orjson.loads alone, peak memory", f"{plain['peak']:8.0f} MiB", plain["peak"] / size, "MiB"),
        ]
    for text, figure, rate, unit in rows:
        print(f"  {text:<46}{figure:>13}" + (f"{rate:9.2f} {unit} per MiB" if rate is not None else ""))
    if plain is not None:
        print(f"  usable in {usable / plain['seconds']:.2f} of the time and {whole / plain['peak']:.2f} of the memory")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, help="where the files are made and kept")
    parser.add_argument("--sizes", type=int, nargs="+", default=[110, 300, 830, 2048], metavar="MIB")
    parser.add_argument("--rounds", type=int, default=3, help="the best of so many is printed")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--no-recipe", action="store_true", help="timelines only")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for megabytes in given.sizes:
            report(made(folder, megabytes), given.rounds, given.steps)
        if not given.no_recipe:
            report(made_recipe(folder, 2000, 30, 10_000_000), 1, given.steps)
            report(made_recipe(folder, 5000, 100, 0), 1, given.steps)
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    raise SystemExit(main())
