"""Computations begin when the window is at rest."""

from __future__ import annotations

import time

import pytest

from tileview.qt.jobs import idle_queue as quiet
from tileview.qt.jobs.idle_queue import Quiet
from tileview.qt.jobs.staggered import Turns


@pytest.fixture
def turns(qapp):
    one = Turns()
    yield one
    one.close()


@pytest.fixture
def rest(turns):
    one = Quiet(turns)
    yield one
    one.close()


class Calls:
    """What was called, in order; methods of one object compare equal, as those of a window's parts do."""

    def __init__(self) -> None:
        self.made: list[str] = []

    def one(self) -> None:
        self.made.append("one")

    def two(self) -> None:
        self.made.append("two")


def test_nothing_is_called_at_once_and_everything_in_the_end(rest, qtbot) -> None:
    calls = Calls()
    rest.add(calls.one)
    rest.add(calls.two)
    rest.add(calls.one)
    assert calls.made == []
    qtbot.waitUntil(lambda: rest.is_done)
    assert calls.made == ["one", "two"]
    rest.add(calls.one)
    qtbot.waitUntil(lambda: len(calls.made) == 3)


def test_what_is_first_goes_first(rest, qtbot) -> None:
    calls = Calls()
    rest.add(calls.one)
    rest.add(calls.two, is_first=True)
    qtbot.waitUntil(lambda: rest.is_done)
    assert calls.made == ["two", "one"]


def test_views_that_take_turns_are_waited_for(rest, turns, qtbot) -> None:
    order = []

    def turn() -> None:
        time.sleep(0.01)
        order.append("turn")

    for _ in range(5):
        turns.add(turn)
    rest.add(lambda: order.append("computation"))
    qtbot.waitUntil(lambda: rest.is_done)
    assert order == ["turn"] * 5 + ["computation"]


def test_a_computation_is_waited_for_but_not_for_ever(rest, qtbot, monkeypatch) -> None:
    calls, engaged = Calls(), [True]
    rest.is_engaged = lambda: engaged[0]
    rest.add(calls.one)
    qtbot.wait(100)
    assert calls.made == []
    engaged[0] = False
    qtbot.waitUntil(lambda: calls.made == ["one"])
    engaged[0] = True
    rest.add(calls.one, is_first=True)
    qtbot.waitUntil(lambda: calls.made == ["one", "one"])
    monkeypatch.setattr(quiet, "ENGAGED_SECONDS", 0.05)
    rest.add(calls.two)
    qtbot.waitUntil(lambda: calls.made == ["one", "one", "two"])


def test_a_window_that_is_never_at_rest_does_not_hold_it_up(rest, qtbot, monkeypatch) -> None:
    monkeypatch.setattr(quiet, "CALM_SECONDS", -1.0)
    monkeypatch.setattr(quiet, "PATIENCE_SECONDS", 0.05)
    calls = Calls()
    started = time.monotonic()
    rest.add(calls.one, is_first=True)
    while not calls.made and time.monotonic() - started < 10:  # as where a key is held down
        rest.add(calls.one, is_first=True)
        qtbot.wait(2)
    assert calls.made


def test_closing_forgets_what_waits(rest, qtbot) -> None:
    calls = Calls()
    rest.add(calls.one)
    rest.close()
    qtbot.wait(50)
    assert calls.made == []
