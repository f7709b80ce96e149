"""Steps, swaps, undoes and reloads the real window many times, and shows that memory and handles stay flat.

``python -m tests.benchmarks.soak_window [--rounds 2000] [FILE]`` (a recipe or a timeline) prints every tenth of the
way: resident memory, open file handles, threads, child processes, and objects of Python and Qt. It ends with 1 where
one of them has grown by more than its allowance since a tenth of the way (what is cached has been cached by then). Runs
without a display.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from tileview.model.recipe import Overrides

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
SAMPLE = Path(__file__).resolve().parents[2] / "sample_data" / "vit3-64tiles.recipe.json"

ALLOWED = {
    "memory": 40.0,
    "handles": 4,
    "threads": 2,
    "processes": 1,
    "widgets": 60,
    "qt objects": 150,
    "objects": 60_000,
}
"""What each figure may grow by: MiB for memory, counts for the others."""


def figures(application) -> dict[str, float]:
    from PySide6.QtCore import QCoreApplication, QEvent, QObject

    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)  # done by an event loop, not by processEvents
    gc.unfreeze()
    gc.collect()
    page = os.sysconf("SC_PAGE_SIZE")
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * page / 2**20
    children = 0
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            children += int(status.read_text().rpartition(")")[2].split()[1]) == os.getpid()
        except OSError:
            continue
    return {
        "memory": resident,
        "handles": len(list(Path("/proc/self/fd").iterdir())),
        "threads": threading.active_count(),
        "processes": children,
        "widgets": len(application.allWidgets()),
        "qt objects": sum(len(one.findChildren(QObject)) for one in application.topLevelWidgets()),
        "objects": len(gc.get_objects()),
    }


class Soak:
    """One window and the things that are done to it."""

    def __init__(self, application, path: Path, seed: int) -> None:
        from tileview.qt.window.main_window import MainWindow

        self.application = application
        self.path = path
        self.random = random.Random(seed)
        self.window = MainWindow()
        self.window.settings.evaluate_by_itself = False
        self.window.resize(1280, 800)
        self.window.show()
        self.window.files.open(path)
        self.session = self.window.session
        self.until(lambda: self.session.document is not None and self.session.is_current)

    def until(self, done: Callable[[], bool]) -> None:
        end = time.monotonic() + 120
        while not done():
            self.application.processEvents()
            if time.monotonic() > end:
                raise TimeoutError
            time.sleep(0.001)

    def round(self, number: int) -> None:
        """Some steps and tiles, a swap, sometimes an undo, a redo, a reload, an evaluation."""
        session, chance = self.session, self.random
        timeline = session.timeline
        for _ in range(3):
            session.select_step(chance.randrange(len(timeline.steps)))
            session.select_tiles((chance.randrange(timeline.tile_count),))
            self.application.processEvents()
        if session.file_recipe is None:
            self.what_if(number)
            return
        recipe = session.file_recipe
        operation = chance.choice([one for one, plans in recipe.alternatives.items() if len(plans) > 1])
        session.select_operation(operation)
        session.swap(operation, chance.randrange(len(recipe.alternatives[operation])))
        if number % 3 == 0:
            session.undo()
        if number % 7 == 0:
            session.undo()
            session.redo()
        self.until(lambda: session.is_current)
        if session.timeline is None:  # a set of swaps that cannot be lowered: take the last one back
            session.undo()
            self.until(lambda: session.is_current and session.timeline is not None)
        if number % 40 == 0:
            self.window.tools.evaluation.evaluate(operation)
            self.until(lambda: not self.window.tools.evaluation.is_running)
        if number % 50 == 0:
            self.reload()

    def what_if(self, number: int) -> None:
        """The edits of a timeline alone: budgets; now and then a reload, which has all of it read and checked anew."""
        session = self.session
        session.set_overrides(Overrides(self.random.randrange(100_000, 600_000), None))
        if number % 3 == 0:
            session.undo()
        if number % 7 == 0:
            session.undo()
            session.redo()
        self.until(lambda: session.is_current)
        if number % 50 == 0:
            self.reload()
            self.until(lambda: not self.window.estimates.steps_reader.is_running and self.window.bridge.turns.is_done)

    def reload(self) -> None:
        """Replace the file by rename; the window notices by itself."""
        before = self.session.document
        part = self.path.with_suffix(".part")
        shutil.copyfile(self.path, part)
        os.replace(part, self.path)
        self.until(lambda: self.session.document is not before and self.session.is_current)
        while self.session.undo():
            pass
        self.until(lambda: self.session.is_current)

    def close(self) -> None:
        self.session.mark_clean()
        self.window.close()
        self.application.processEvents()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("file", type=Path, nargs="?", default=SAMPLE)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TILEVIEW_STATE_DIR"] = folder
        from PySide6.QtCore import qInstallMessageHandler

        from tileview.qt.program import make_application

        qInstallMessageHandler(lambda *_: None)
        application = make_application()
        copy = Path(folder, arguments.file.name)
        shutil.copyfile(arguments.file, copy)
        soak = Soak(application, copy, arguments.seed)
        every = max(1, arguments.rounds // 10)
        first: dict[str, float] = {}
        last: dict[str, float] = {}
        for number in range(1, arguments.rounds + 1):
            soak.round(number)
            if number % every == 0:
                last = figures(application)
                first = first or last
                print(f"{number:6}  " + "  ".join(f"{key} {value:,.0f}" for key, value in last.items()), flush=True)
        soak.close()
    grown = {key: last[key] - first[key] for key in first if last[key] - first[key] > ALLOWED[key]}
    print("flat" if not grown else f"grown: {grown}")
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
