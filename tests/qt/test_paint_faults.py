"""A fault while something is painted, in a plot or a table, is told, and the process lives."""

from __future__ import annotations

import sys

import pytest
from PySide6.QtGui import QPainter

from tileview.qt.base.theme import load_theme
from tileview.qt.plot.base import Plot
from tileview.qt.plot.items import Curve, StepAxis


class _Broken(Plot):
    """Fails wherever it draws."""

    def draw_over(self, painter: QPainter) -> None:
        {}["over"]  # raised by the interpreter itself, as most faults are


class _BrokenCurve(Curve):
    def getPath(self) -> object:
        return {}["curve"]


class _BrokenAxis(StepAxis):
    def ticks(self, low: float, high: float, pixels: float) -> list[tuple[float, str]]:
        return {}["axis"]


def test_a_fault_in_any_item_is_told_and_nothing_more(qtbot, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, fault, trace: found.append(fault.args[0]))
    plot = _Broken(load_theme("light"), "broken", axes={"bottom": _BrokenAxis("bottom")})
    qtbot.addWidget(plot)
    curve = _BrokenCurve(x=[0.0, 1.0], y=[0.0, 1.0])
    plot.still.set_parts((curve,))
    plot.resize(300, 200)
    plot.show()
    assert not plot.grab().isNull()
    assert {"over", "curve", "axis"} <= set(found)
    found.clear()
    plot.redraw()
    assert not plot.grab().isNull()
    assert "over" in found


def test_a_fault_in_a_cell_is_told_and_nothing_more(driver, over, monkeypatch: pytest.MonkeyPatch) -> None:
    driver.open(over)
    view = driver.window.docks.show_view("alternatives")
    found = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, fault, trace: found.append(fault.args[0]))
    monkeypatch.setattr(type(view.model.spec), "cell", lambda *_: {}["cell"])
    monkeypatch.setattr(type(view.model.spec), "line", lambda *_: {}["line"])
    view.refill_now()
    view.on_theme()
    assert not view.grab().isNull()
    assert {"cell", "line"} & set(found)
