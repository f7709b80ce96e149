"""Objects that survive are set aside, so that collecting stays short; rings among them are found all the same."""

from __future__ import annotations

import gc
import weakref

import pytest
from PySide6.QtCore import QObject

from tileview.qt import garbage
from tileview.qt.garbage import GuiCollector


class Ring(QObject):
    """A Qt object that refers to itself: only the collector can free it."""

    def __init__(self) -> None:
        super().__init__()
        self.me = self


@pytest.fixture
def collector(qapp, monkeypatch):
    monkeypatch.setattr(garbage, "_FULL_TO_ALL", 2)
    one = GuiCollector()
    yield one
    one.close()
    assert gc.get_freeze_count() == 0


def test_what_a_large_document_is_made_of_is_set_aside_unseen(collector, monkeypatch):
    monkeypatch.setattr(garbage.gc, "get_count", lambda: (garbage._MANY + 1, 50, 50))
    looked = []
    monkeypatch.setattr(garbage.gc, "collect", looked.append)
    before = gc.get_freeze_count()
    document = [[number] for number in range(1000)]
    collector.collect()
    assert gc.get_freeze_count() >= before + len(document)
    assert looked == []


def test_what_would_take_long_to_look_at_stays_aside(collector, monkeypatch):
    monkeypatch.setattr(garbage, "_MOST", 0)
    monkeypatch.setattr(garbage.gc, "get_count", lambda: (0, 0, 100))
    for _ in range(4):
        collector.collect()
        assert gc.get_freeze_count() > 0


def test_what_survives_is_set_aside_and_looked_at_again(collector, monkeypatch):
    monkeypatch.setattr(garbage.gc, "get_count", lambda: (0, 0, 100))
    ring = Ring()
    gone = weakref.ref(ring)
    collector.collect()
    assert gc.get_freeze_count() > 0
    del ring
    collector.collect()  # the ring was set aside when it was alive; after this nothing is any more
    assert gone() is not None
    collector.collect()
    assert gone() is None
