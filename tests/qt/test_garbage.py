"""Garbage is collected in the window's thread, however much other threads allocate; what survives is set aside, so that
collecting stays short, and rings in it are found all the same."""

from __future__ import annotations

import gc
import sys
import threading
import weakref

import pytest
from PySide6.QtCore import QTimer

from tests.qt.conftest import running_timers
from tileview.qt.jobs import collector as garbage
from tileview.qt.jobs.collector import HOLDS, GuiCollector


class Cycle:
    """Something that only a collection can free; remembers where it was freed."""

    freed_in: list[threading.Thread] = []  # noqa: RUF012

    def __init__(self) -> None:
        self.own = self

    def __del__(self) -> None:
        Cycle.freed_in.append(threading.current_thread())


@pytest.fixture(autouse=True)
def fresh():
    gc.collect()
    Cycle.freed_in = []
    assert gc.isenabled()
    yield
    assert gc.isenabled()


def allocate() -> None:
    """As much as makes Python collect by itself, were it allowed to."""
    kept = [[index] for index in range(20 * gc.get_threshold()[0])]
    assert kept


def test_threads_do_not_collect_and_the_window_does(qtbot) -> None:
    collector = GuiCollector()
    count = 2 * gc.get_threshold()[0]
    for _ in range(count):
        Cycle()
    thread = threading.Thread(target=allocate)
    thread.start()
    thread.join()
    assert Cycle.freed_in == []
    qtbot.waitUntil(lambda: len(Cycle.freed_in) == count, timeout=5000)
    assert set(Cycle.freed_in) == {threading.main_thread()}
    collector.close()
    collector.close()


def test_little_is_left_alone(qapp) -> None:
    collector = GuiCollector()
    gc.collect()
    Cycle()
    collector.collect()
    assert Cycle.freed_in == []
    collector.close()


def test_several_windows_and_layouts_hold_together(qtbot) -> None:
    first, second = GuiCollector(), GuiCollector()
    HOLDS.hold()
    first.close()
    assert not gc.isenabled()
    second.close()
    assert not gc.isenabled()
    HOLDS.release()
    assert gc.isenabled()


def test_a_window_has_one_and_gives_it_up(driver) -> None:
    assert not gc.isenabled()
    driver.window.close()
    assert gc.isenabled()


# -- what is set aside ----------------------------------------------------------------------------------------------


@pytest.fixture
def collector(qapp, monkeypatch):
    monkeypatch.setattr(garbage, "FULL_TO_ALL", 2)
    one = GuiCollector()
    yield one
    one.close()
    assert gc.get_freeze_count() == 0


def test_what_a_large_document_is_made_of_is_set_aside_unseen(collector, monkeypatch):
    monkeypatch.setattr(garbage.gc, "get_count", lambda: (garbage.MANY + 1, 50, 50))
    looked = []
    monkeypatch.setattr(garbage.gc, "collect", looked.append)
    before = gc.get_freeze_count()
    document = [[number] for number in range(1000)]
    collector.collect()
    assert gc.get_freeze_count() >= before + len(document)
    assert looked == []


def test_what_would_take_long_to_look_at_stays_aside(collector, monkeypatch):
    monkeypatch.setattr(garbage, "MOST_SET_ASIDE", 0)
    monkeypatch.setattr(garbage.gc, "get_count", lambda: (0, 0, 100))
    for _ in range(4):
        collector.collect()
        assert gc.get_freeze_count() > 0


def test_what_survives_is_set_aside_and_looked_at_again(collector, monkeypatch):
    monkeypatch.setattr(garbage, "MOST_SET_ASIDE", sys.maxsize)  # however much other tests have left
    monkeypatch.setattr(garbage.gc, "get_count", lambda: (0, 0, 100))
    ring = Cycle()
    gone = weakref.ref(ring)
    collector.collect()
    assert gc.get_freeze_count() > 0
    del ring
    collector.collect()  # the ring was set aside when it was alive; after this nothing is any more
    assert gone() is not None
    collector.collect()
    assert gone() is None


def test_a_timer_that_a_test_leaves_ticking_is_found(qapp) -> None:
    timer = QTimer()
    timer.start(60_000)
    assert timer in running_timers()
    timer.stop()
    assert timer not in running_timers()
