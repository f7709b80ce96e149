"""Names of budget lines, peaks and bodies: never on a line, on a mark or on one another; off the curves if possible."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QRectF

from tests.helpers.fake_session import session_of
from tests.helpers.fake_timeline import Alloc, FakeProgram, Step, make_timeline, small_timeline
from tests.helpers.opened import opened
from tileview.analysis.overflows import overflows, steps_over
from tileview.model.timeline import Timeline
from tileview.present.curves import CurveMode, curves, peak_marks, repeat_spans
from tileview.qt.base.theme import load_theme
from tileview.qt.plot.legend import LabelPlacer, boxes_along
from tileview.qt.views.timeline.curves import Marks
from tileview.qt.views.timeline.data import PlotData, excesses
from tileview.qt.views.timeline.plot import CurvePlot, StepZoom

AREA = QRectF(10, 30, 400, 200)


def flat(y: float, columns: int = 400) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    left = 10.0 + np.arange(columns)
    return left, left + 1, np.full(columns, y)


def test_a_free_box_is_taken_first_and_then_counts() -> None:
    left, right, curve = flat(200)
    placer = LabelPlacer(AREA, left, right, [curve])
    boxes = boxes_along(AREA, 100, 80, 15)
    assert boxes[0] == QRectF(AREA.right() - 83, 83, 80, 15)
    assert placer.place(boxes) == boxes[0]
    assert placer.place(boxes) != boxes[0]
    assert not placer.placed[0].intersects(placer.placed[1])


def test_a_curve_is_avoided_and_rises_between_columns_count() -> None:
    left, right, curve = flat(220)
    # Over the right half the curve runs where the name would stand.
    curve[200:] = 90
    placer = LabelPlacer(AREA, left, right, [curve])
    chosen = placer.place(boxes_along(AREA, 100, 80, 15))
    assert chosen is not None
    assert chosen.right() <= 210
    # A rise from below to above the box in one column crosses it.
    assert placer.cost(QRectF(190, 130, 40, 15)) > 0
    assert placer.cost(QRectF(100, 130, 40, 15)) == 0


def test_where_all_is_covered_the_least_is_taken_and_forbidden_is_never_taken() -> None:
    left, right, curve = flat(90)
    curve[:30] = 220
    placer = LabelPlacer(AREA, left, right, [curve, np.full(400, 110.0)])
    assert placer.place([QRectF(200, 83, 80, 15), QRectF(12, 83, 80, 15)]) == QRectF(12, 83, 80, 15)
    placer.block(AREA)
    assert placer.place(boxes_along(AREA, 100, 80, 15)) is None
    assert placer.cost(QRectF(500, 83, 80, 15)) >= 1e6


def test_nothing_is_avoided_where_no_curve_is_drawn() -> None:
    left, right, curve = flat(np.nan)
    assert LabelPlacer(AREA, left, right, [curve]).cost(QRectF(100, 60, 80, 15)) == 0


def plotted(timeline: Timeline, width: int, height: int, name: str = "light") -> CurvePlot:
    """The plot of a timeline, of that size."""
    zoom = StepZoom()
    zoom.set_steps(len(timeline.steps), keep=False)
    plot = CurvePlot(load_theme(name), zoom, lambda _: None, lambda _: "")
    plot.resize(width, height)
    data = PlotData(
        curves(timeline, CurveMode.WORST),
        timeline.budget_bytes,
        timeline.interleaved_budget_bytes,
        timeline.reserve_bytes,
        steps_over(timeline),
        peak_marks(timeline),
        repeat_spans(timeline),
        overflows=excesses(overflows(timeline) or ()),
    )
    plot.set_data(data)
    plot.grab()
    return plot


def marks_of(timeline: Timeline, width: int, height: int) -> Marks:
    """The marks of such a plot."""
    plot = plotted(timeline, width, height)
    marks = plot.marks
    assert marks is not None
    plot.deleteLater()
    return marks


def assert_apart(marks: Marks) -> None:
    placed = marks.placer.placed
    for box in placed:
        others = [other for other in marks.placer.taken if other is not box]
        assert not any(box.intersects(other) for other in others)


@pytest.mark.parametrize("name", ["so400m-over.recipe.json", "so400m.recipe.json", "vit3-64tiles.recipe.json"])
@pytest.mark.parametrize("size", [(940, 150), (940, 200), (1250, 220), (2100, 320)])
def test_both_budgets_are_named_on_the_samples(qtbot, name: str, size: tuple[int, int]) -> None:
    timeline = opened(name).timeline
    assert timeline is not None
    marks = marks_of(timeline, *size)
    assert_apart(marks)
    # Two budgets and the body of one Repeat.
    assert len(marks.placer.placed) == 3
    assert all(marks.placer.cost(QRectF(box)) >= 1e6 for box in marks.placer.placed), "what stands is taken"


@settings(max_examples=40, deadline=None)
@given(
    sizes=st.lists(st.integers(0, 700), min_size=1, max_size=25),
    height=st.integers(60, 400),
    width=st.integers(140, 900),
)
def test_texts_never_meet(qapp, sizes: list[int], height: int, width: int) -> None:
    allocs = [Alloc(f"v{step}", size * 1024, step, step, interleaved=bool(step % 3)) for step, size in enumerate(sizes)]
    program = FakeProgram(2, [Step(source=step) for step in range(len(sizes))], allocs)
    assert_apart(marks_of(make_timeline(program), width, height))


def test_the_name_of_the_budget_has_room_above_its_line(qtbot) -> None:
    session = session_of(small_timeline())
    plot = plotted(session.timeline, 900, 300)
    qtbot.addWidget(plot)
    marks = plot.marks
    y = plot.pixel(0, session.timeline.budget_bytes).y()
    assert y - plot.area().top() >= marks.metrics.height() + 3
    assert marks.placer.placed[0].bottom() <= y


def test_flags_say_what_they_mean_where_there_is_room(qtbot) -> None:
    timeline = opened("so400m-over.recipe.json").timeline
    wide = {text for _, text, _ in marks_of(timeline, 1250, 240).flags}
    # The two overflows by the verdict's figures: 30,504 B at step 69 and 14.4 KiB at step 20.
    assert any(text.startswith("PS · step 69, op 21:") and text.endswith("29.8 KiB over") for text in wide)
    assert any(text.startswith("step 20, op 4:") and text.endswith("14.4 KiB over") for text in wide)
    assert "I · interleaved peak" in wide
    narrow = marks_of(timeline, 300, 240).flags
    assert len(narrow) == 3
    boxes = [box for box, _, _ in narrow]
    assert not any(a.intersects(b) for a in boxes for b in boxes if a is not b)
