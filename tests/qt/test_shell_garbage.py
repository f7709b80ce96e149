"""The garbage collector runs in the GUI thread, and nowhere else."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest
from PySide6.QtCore import QObject

from tileview.qt import garbage
from tileview.qt.garbage import Collector


@pytest.fixture
def collector(qapp, monkeypatch):
    monkeypatch.setattr(garbage, "TICK_MS", 20)
    one = Collector()
    yield one
    one.close()
    assert gc.isenabled()


class Ring(QObject):
    """A Qt object that refers to itself: only the collector can free it."""

    def __init__(self) -> None:
        super().__init__()
        self.me = self


def allocate(count: int) -> list[list[int]]:
    """Many young objects, enough to start a collection if it were on."""
    return [[number] for number in range(count)]


def test_rings_are_collected_in_the_gui_thread_while_another_thread_allocates(collector, qtbot):
    where: list[int] = []
    for _ in range(20):
        weakref.finalize(Ring(), lambda: where.append(threading.get_ident()))
    before = gc.get_stats()[0]["collections"]
    kept: list[object] = []
    other = threading.Thread(target=lambda: kept.extend(allocate(200_000)))
    other.start()
    other.join()
    assert gc.get_stats()[0]["collections"] == before
    assert where == []
    qtbot.waitUntil(lambda: len(where) == 20)
    assert set(where) == {threading.get_ident()}


def test_few_objects_are_left_alone(collector, qtbot):
    gc.collect()
    before = gc.get_stats()[0]["collections"]
    for _ in range(5):
        collector.tick()
    assert gc.get_stats()[0]["collections"] == before


def test_what_is_set_aside_is_looked_at_again(collector, monkeypatch):
    monkeypatch.setattr(garbage, "_FULL_TO_ALL", 3)
    ring = Ring()
    gone = weakref.ref(ring)
    collector.collect()
    assert gc.get_freeze_count() > 0
    del ring
    collector.collect()
    assert gone() is not None
    collector.collect()
    assert gone() is None
