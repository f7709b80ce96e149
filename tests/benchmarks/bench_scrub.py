"""How many frames a second the views keep up with while a key is held: scrubbing through 500 steps of 1472 tiles.

Run it with ``QT_QPA_PLATFORM=offscreen python -m tests.benchmarks.bench_scrub``. Every step is selected in the session
and both views are painted in full, at once, as they are on the screen. The aim is 30 frames a second for the tiles at
the size of their dock and when they fill a large window. A second run holds 4,000 steps with 3,000 values in the
timeline.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication

from tests.helpers.fake_session import session_of
from tests.helpers.fake_timeline import big_timeline
from tileview.qt.base.theme import load_theme
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.views.base import View
from tileview.qt.views.tiles.view import TilesView
from tileview.qt.views.timeline.view import TimelineView


def scrub(view: View, application: QApplication, steps: range) -> float:
    """Frames a second over the steps."""
    picture = view.map if isinstance(view, TilesView) else view.plot  # type: ignore[attr-defined]
    begin = time.perf_counter()
    for step in steps:
        view.session.select_step(step)
        picture.viewport().repaint()
        application.processEvents()
    return len(steps) / (time.perf_counter() - begin)


def milliseconds(action: Callable[[], object]) -> float:
    begin = time.perf_counter()
    action()
    return (time.perf_counter() - begin) * 1000


def show(view: View, width: int, height: int, application: QApplication) -> None:
    view.resize(width, height)
    view.show()
    application.processEvents()


def bench_tiles(application: QApplication, theme: str) -> None:
    timeline = big_timeline(1472, 500, 600)
    for step in range(500):
        timeline.tiles.usage(step)
    for width, height, by_load in ((600, 380, False), (1600, 1000, False), (600, 380, True)):
        session = session_of(timeline)
        bridge = SessionSignals(session, load_theme(theme))
        view = TilesView(bridge)
        show(view, width, height, application)
        view.set_sorted(by_load)
        frames = scrub(view, application, range(500))
        picture = "sorted by load" if by_load else "map"
        print(f"tiles, {picture:14} {width}×{height}: {frames:7.1f} frames/s over 500 steps of 1472 tiles")
        view.shut_down()
        view.close()
        bridge.close()


def bench_timeline(application: QApplication, theme: str) -> None:
    timeline = big_timeline(64, 4000, 3000)
    for step in range(4000):
        timeline.tiles.usage(step)
    session = session_of(timeline)
    bridge = SessionSignals(session, load_theme(theme))
    began = time.perf_counter()
    view = TimelineView(bridge)
    show(view, 1400, 600, application)
    print(f"timeline, 4,000 steps, 3,000 values: first paint {(time.perf_counter() - began) * 1000:.0f} ms")
    print(f"timeline, scrubbing: {scrub(view, application, range(0, 4000, 8)):.1f} frames/s")
    stacked = milliseconds(lambda: (view.set_stacked(True), view.plot.repaint()))
    print(f"timeline, stack by operation: {stacked:.0f} ms")
    times = []
    for turn in range(40):
        times.append(
            milliseconds(
                lambda turn=turn: (
                    view.axis.zoom(1.2 if turn < 20 else 1 / 1.2, 2000.0),
                    view.plot.repaint(),
                    view.bars.repaint(),
                )
            )  # type: ignore[misc]
        )
    print(f"timeline, zooming a stack: {sum(times) / len(times):.1f} ms a frame, at most {max(times):.1f} ms")
    times = [
        milliseconds(lambda row=row: (view.bars.scroll_to(row), view.bars.repaint())) for row in range(0, 2000, 20)
    ]  # type: ignore[misc]
    print(f"timeline, scrolling lifetimes: {sum(times) / len(times):.1f} ms a frame")
    view.shut_down()
    view.close()
    bridge.close()


def main() -> None:
    application = QApplication.instance() or QApplication(sys.argv)
    assert isinstance(application, QApplication)
    application.setStyle("Fusion")
    theme = sys.argv[1] if len(sys.argv) > 1 else "light"
    bench_tiles(application, theme)
    bench_timeline(application, theme)


if __name__ == "__main__":
    main()
