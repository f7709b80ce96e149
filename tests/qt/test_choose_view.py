"""Memory against cycles and the list of fusions, with real widgets."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from tests.helpers.views import Stage, stage
from tileview.analysis.alternatives import evaluate_all
from tileview.analysis.fix import search_fixes
from tileview.core.estimate import estimate
from tileview.core.placement.ranges import preset
from tileview.present.choices import ChoiceScope, Standing
from tileview.qt.plot.picture import Picture, svg_bytes
from tileview.qt.views.choose import ChooseView
from tileview.qt.views.fusions import FusionsView

OVER = "so400m-over.recipe.json"


@pytest.fixture(scope="module")
def results():
    """What every alternative of op 4 and op 21 gives."""
    from tests.helpers.opened import document

    recipe = document(OVER).recipe
    assert recipe is not None
    return list(evaluate_all(recipe, (4, 21), workers=1))


@pytest.fixture
def shown(qtbot, results) -> Stage:
    made = stage(ChooseView, qtbot, OVER, (900, 560))
    made.session.add_results(made.session.revision, results)
    made.session.select_operation(4)
    made.view.show_choices(ChoiceScope.OPERATION)
    return made


def spot(made: Stage, swaps) -> QPoint:
    plot = made.view.plot
    place = next(place for place, point in enumerate(made.view.choices.points) if point.swaps == swaps)
    return plot.mark_place(place).toPoint()


def click(made: Stage, at: QPoint, *, double: bool = False) -> None:
    plot = made.view.plot
    QTest.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, at)
    if double:
        QTest.mouseDClick(plot.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, at)


def test_a_click_selects_and_a_double_click_swaps_in(shown: Stage) -> None:
    """Alternative 3 of op 4 lies apart from the others."""
    view = shown.view
    assert view.headline.text() == "6 alternatives of op 4: 6 fit, 1 best trade-off"
    at = max((point for point in view.choices.points if point.standing is Standing.FITS), key=lambda one: one.cycles)
    assert not view.swap_button.isEnabled()
    click(shown, spot(shown, at.swaps))
    assert view.chosen == at
    assert view.chosen_label.text().startswith(f"{at.name} · 536.6 KiB (36.6 KiB spare)")
    assert view.plot.accessibleDescription().startswith(at.name)
    click(shown, spot(shown, at.swaps), double=True)
    assert shown.session.state.swaps == dict(at.swaps)
    assert shown.session.undo()
    assert shown.session.state.swaps == {}


def test_keys_reach_every_choice_and_swap_in(shown: Stage) -> None:
    view = shown.view
    plot = view.plot
    plot.setFocus()
    seen = []
    for _ in view.choices.points:
        QTest.keyClick(plot, Qt.Key.Key_Right)
        seen.append(view.chosen.swaps)
    assert seen == [point.swaps for point in view.choices.points]
    QTest.keyClick(plot, Qt.Key.Key_B)
    best = view.choices.points[view.choices.front[0]]
    assert view.chosen == best
    QTest.keyClick(plot, Qt.Key.Key_Down)
    assert view.chosen == min(view.choices.points, key=lambda point: point.cycles)
    QTest.keyClick(plot, Qt.Key.Key_Up)
    assert view.chosen == sorted(view.choices.points, key=lambda point: point.cycles)[1]
    QTest.keyClick(plot, Qt.Key.Key_B)
    QTest.keyClick(plot, Qt.Key.Key_Return)
    assert shown.session.state.swaps == dict(best.swaps)


def test_the_tooltip_names_what_lies_there(shown: Stage) -> None:
    plot = shown.view.plot
    tip = plot.tip_at(plot.mark_place(len(plot.choices.points) - 1))
    assert "617,464 B (603.0 KiB)" in tip
    assert "current: does not fit" in tip
    assert plot.tip_at(plot.area().topRight()) == ""


def test_a_dragged_frame_zooms_and_the_wheel_of_history_turns(shown: Stage) -> None:
    plot = shown.view.plot
    whole = plot.zoom.shown
    area = plot.area().toRect()
    port, left = plot.viewport(), Qt.MouseButton.LeftButton
    QTest.mousePress(port, left, Qt.KeyboardModifier.NoModifier, area.center())
    QTest.mouseMove(port, area.center() + QPoint(60, 40))
    QTest.mouseRelease(port, left, Qt.KeyboardModifier.NoModifier, area.center() + QPoint(60, 40))
    assert plot.zoom.shown.width() < whole.width() / 2
    QTest.keyClick(plot, Qt.Key.Key_Backspace)
    assert plot.zoom.shown == whole


def test_single_swaps_fixes_and_what_is_missing(shown: Stage, results) -> None:
    view, session = shown.view, shown.session
    view.show_choices(ChoiceScope.SINGLE)
    alternatives = sum(len(plans) for plans in session.recipe.alternatives.values())
    in_force = sum(session.recipe.in_force(operation) is not None for operation in session.recipe.alternatives)
    missing = alternatives - in_force - sum(not result.in_force for result in results)
    assert f"{missing} not yet evaluated" in view.headline.text()
    assert view.evaluate_button.isVisible()
    view.evaluate_button.click()
    assert shown.requests[-1] == ("evaluate_alternatives", None)
    view.show_choices(ChoiceScope.FIXES)
    assert "No fixes yet" in view.plot.accessibleDescription()
    view.fix_button.click()
    assert shown.requests[-1] == ("find_fix", None)
    found = search_fixes(session.recipe, workers=1)
    view.show_choices(found)
    assert view.headline.text().startswith(f"{len(found.proposals)} fixes: {len(found.proposals)} fit")
    view.plot.step_front(1)
    view.swap_button.click()
    assert session.history.undo_label.startswith("Fix: operation 4 to alternative ")
    shown.estimate()
    assert session.verdict.fits
    assert view.choices.points[0].swaps == ()


def test_the_memory_of_placement_takes_the_axis(shown: Stage) -> None:
    view = shown.view
    assert "placement not known" in view.choices.memory_name
    session = shown.session
    states = {point.swaps: session.state_with(point.swaps) for point in view.choices.points}
    assert session.add_needs(session.ranges, dict.fromkeys(states.values(), 500_000))
    QTest.qWait(300)
    assert view.choices.by_placement
    assert view.choices.memory_name.startswith("memory in which every tile is placed")
    assert {point.memory for point in view.choices.points} == {500_000}
    session.swap(4, 1)
    shown.estimate()
    # what is in force now was a choice before: what is known of a program stays known
    assert view.choices.now.memory == 500_000
    session.set_ranges(preset("captured-482496", 49_152))
    QTest.qWait(300)
    assert "placement not known" in view.choices.memory_name


def test_the_view_asks_for_the_memory_of_what_it_shows(shown: Stage) -> None:
    """The state in force first, then the best by what is known; nothing once the view is out of sight."""
    view, session = shown.view, shown.session
    asked: list = []
    view.bridge.needs_wanted.connect(asked.append)
    view.show_choices(ChoiceScope.OPERATION)
    points = view.choices.points
    assert asked[-1][0] == session.state
    assert asked[-1][1] == session.state_with(points[view.choices.front[0]].swaps)
    assert set(asked[-1]) == {session.state_with(point.swaps) for point in points}
    view.hide()
    view.set_in_front(False)
    QTest.qWait(300)
    assert asked[-1] == ()


def test_table_and_picture(shown: Stage) -> None:
    view = shown.view
    lines = view.table_csv().splitlines()
    assert len(lines) == len(view.choices.points) + 1
    assert lines[0].startswith('Swaps,"total peak with reserve')
    view.plot.step_front(1)
    parts = view.picture_parts()
    picture = Picture(view.title, view.picture_words(), parts, view.bridge.theme.color("background"))
    text = svg_bytes(picture).decode()
    assert "best trade-offs" in text
    assert "budget 573.2 KiB" in text
    assert "own estimate" in text


def test_where_there_is_nothing_to_choose(qtbot) -> None:
    nothing = stage(ChooseView, qtbot)
    assert nothing.view.plot.message == "Nothing open"
    assert nothing.view.table_csv() is None
    timeline = stage(ChooseView, qtbot, "rejected-op0.timeline.json")
    assert "open the recipe" in timeline.view.plot.message
    fresh = stage(ChooseView, qtbot, OVER)
    fresh.session.select_operation(21)
    assert "Evaluate" in fresh.view.plot.message
    QTest.keyClick(fresh.view.plot, Qt.Key.Key_Right)
    assert fresh.view.chosen is None


# -- fusions --------------------------------------------------------------------------------------------------------


def test_the_list_of_fusions_and_its_switch(qtbot) -> None:
    shown = stage(FusionsView, qtbot, "vit3-64tiles.recipe.json")
    view, session = shown.view, shown.session
    assert "BiasGelu: op 19's Add goes into op 20's Gelu" in shown.texts(0)
    assert "5 considered, 3 made" in view.headline.text()
    row = shown.texts(0).index("BiasGelu: op 19's Add goes into op 20's Gelu")
    shown.click(view.model.index(row, 0))
    assert session.selection.operation == 20
    assert view.switch.isChecked()
    view.switch.click()
    assert session.state.overrides.fusion is False
    assert session.history.undo_label == "Leave the compiler's fusions out"
    shown.estimate()
    assert shown.texts(0) == []
    assert "as asked for" in view.headline.text()
    assert session.estimate.program == estimate(session.recipe, session.state.overrides).program
    view.compare_button.click()
    assert shown.requests == [("compare_fusions", None)]
    assert session.undo()
    assert view.switch.isChecked()


def test_a_timeline_has_no_fusions_to_look_for(qtbot) -> None:
    shown = stage(FusionsView, qtbot, "rejected-op0.timeline.json")
    assert "as its writer measured it" in shown.view.headline.text()
    assert not shown.view.switch.isEnabled()


def test_the_window_shows_cycles_and_compares_with_and_without(driver, vit3, qtbot) -> None:
    driver.open(vit3)
    window, session = driver.window, driver.session
    composed = estimate(session.recipe, session.state.overrides).fusion.composed_cycles.total
    assert "386,131 planner's cycles" in window.status.place_text()
    strip = window.docks.views["timeline"].strip
    assert strip.has_values
    assert "op " in strip.accessibleDescription()
    assert window.commands.action("look_for_fusions").isChecked()
    driver.trigger("compare_fusions")
    qtbot.waitUntil(lambda: len(session.pins) == 1, timeout=30_000)
    assert session.pins[0].name == "without fusions"
    assert session.pins[0].estimate.price.cycles == composed == 386_131 + 4_788
    driver.trigger("look_for_fusions")
    driver.settle()
    assert "390,919 planner's cycles, +4,788" in window.status.place_text()
    assert "(" not in window.status.place_text().rpartition("planner's cycles")[2].split("·")[0]
    driver.trigger("choose")
    assert window.docks.current_view() is window.docks.views["choose"]
