"""Compare: up to four states, baseline and pins, and the statement on a linked file."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QInputDialog

from tests.helpers.opened import document, opened
from tests.helpers.views import Stage, stage
from tileview.present.compare_rows import Section
from tileview.present.scales import Ramp, ramp_table
from tileview.qt.base.theme import load_theme
from tileview.qt.views.compare import CompareView
from tileview.session.session import Pin


@pytest.fixture
def shown(qtbot) -> Stage:
    return stage(CompareView, qtbot, "so400m-over.recipe.json")


def names(shown: Stage) -> list[str]:
    return [state.name for state in shown.view.states()]


def test_an_unedited_file_is_one_state(shown: Stage) -> None:
    assert names(shown) == ["as opened"]
    assert shown.view.note.text().startswith("One state only")
    assert [card.isVisible() for card in shown.view.cards] == [True, False, False, False]


def test_an_edit_stands_beside_the_baseline_with_differences(shown: Stage) -> None:
    shown.session.swap(21, 0)
    shown.estimate()
    assert names(shown) == ["as opened", "current"]
    row = shown.view.model.find(("Summary", "Total peak"))
    assert shown.view.model.data(row.siblingAtColumn(1)) == "555.0 KiB"
    assert shown.view.model.data(row.siblingAtColumn(2)) == "539.6 KiB  (−15.4 KiB, −2.8 %)"
    assert "Plans (1)" in shown.texts()
    assert "Operation 21" in shown.texts()
    assert not shown.view.tree.isColumnHidden(2)
    assert shown.view.tree.isColumnHidden(3)


def test_pins_stay_can_be_the_baseline_and_go(shown: Stage) -> None:
    shown.session.swap(21, 0)
    shown.estimate()
    shown.session.pin_current("smaller grid")
    shown.session.undo()
    assert names(shown) == ["as opened", "smaller grid"]
    shown.view.cards[1].baseline_action.trigger()
    assert names(shown)[0] == "smaller grid"
    assert shown.view.cards[0].title.text() == "A  ✗ smaller grid (baseline)"
    baseline = shown.session.baseline
    assert baseline is not None
    assert baseline.name == "smaller grid"
    shown.view.cards[0].remove_action.trigger()
    assert shown.session.pins == ()


def test_four_states_at_most(shown: Stage) -> None:
    session = shown.session
    session.swap(21, 0)
    shown.estimate()
    for name in ("p", "q", "r"):
        session.pin_current(name)
    session.swap(21, 3)
    shown.estimate()
    # What was added last is what is to be seen.
    assert names(shown) == ["as opened", "current", "q", "r"]
    assert shown.view.note.text() == "Four states at most are shown; remove one to see 1 older."
    assert all(card.isVisible() for card in shown.view.cards)
    shown.view.cards[3].remove_action.trigger()
    assert names(shown) == ["as opened", "current", "p", "q"]
    assert shown.view.note.text() == ""


def test_another_file_beside(shown: Stage) -> None:
    other = opened("vit3-64tiles.recipe.json")
    assert other.estimate is not None
    shown.session.add_pin(Pin("other", document("vit3-64tiles.recipe.json"), other.state, other.estimate))
    assert names(shown) == ["as opened", "other"]
    assert any(text.startswith("Unmatched") for text in shown.texts())


def test_a_recipe_against_a_timeline(shown: Stage) -> None:
    other = opened("rejected-op0.timeline.json")
    assert other.estimate is not None
    shown.session.add_pin(Pin("dump", document("rejected-op0.timeline.json"), other.state, other.estimate))
    row = shown.view.model.find(("Summary", "Total peak"))
    assert shown.view.model.data(row.siblingAtColumn(2)) == "unavailable"


def test_the_link_is_stated(qtbot) -> None:
    shown = stage(CompareView, qtbot, "vit3-64tiles.recipe.json")
    assert not shown.view.link_label.isVisible()
    shown.session.link(document("vit3-64tiles.v3.timeline.json"))
    text = shown.view.link_label.text()
    assert text.startswith("Linked: vit3-64tiles.recipe.json and vit3-64tiles.v3.timeline.json")
    assert "All matched values have the same shape, precision, layout and size." in text
    shown.session.link(document("rejected-op0.timeline.json"))
    assert "not of one compile" in shown.view.link_label.text()
    shown.session.link(None)
    assert not shown.view.link_label.isVisible()


def test_selecting_a_row_selects_its_operation_or_allocation(shown: Stage) -> None:
    shown.session.swap(21, 0)
    shown.estimate()
    index = next(i for i in shown.view.model.indexes() if shown.view.model.data(i) == "Operation 21")
    shown.click(index)
    assert shown.session.selection.operation == 21
    rows = [i for i in shown.view.model.indexes() if len(shown.view.model.row(i).roots) == 2]
    here = next(i for i in rows if shown.view.model.row(i).roots[1] is not None)
    shown.click(here)
    assert shown.session.selection.allocation == shown.view.model.row(here).roots[1]


def test_a_row_of_an_allocation_goes_to_a_step_where_it_lives(shown: Stage) -> None:
    shown.session.swap(21, 0)
    shown.estimate()
    timeline = shown.session.timeline
    assert timeline is not None
    heads = [shown.view.model.index(row, 0) for row in range(shown.view.model.rowCount())]
    head = next(i for i in heads if shown.view.model.data(i).startswith("Allocations of the whole program"))
    for row in range(shown.view.model.rowCount(head)):
        index = shown.view.model.index(row, 0, head)
        root = shown.view.model.row(index).roots[1]
        if root is not None:
            shown.click(index)
            assert shown.session.selection.allocation == root
            assert root in timeline.steps[shown.session.selection.step or 0].live


def test_what_is_selected_elsewhere_is_marked_here(shown: Stage) -> None:
    shown.session.swap(21, 0)
    shown.estimate()
    shown.session.select_operation(21)
    assert shown.view.tree.current_row().label == "Operation 21"
    root = next(row.roots[1] for row in map(shown.view.model.row, shown.view.model.indexes()) if any(row.roots[1:]))
    shown.session.select_allocation(root)
    assert shown.view.tree.current_row().roots[1] == root
    shown.session.select_operation(2)
    shown.session.select_allocation(None)
    assert shown.view.tree.current_row() is None


def test_the_whole_programs_are_compared_allocation_by_allocation(shown: Stage) -> None:
    before = shown.session.timeline
    shown.session.swap(21, 0)
    shown.estimate()
    after = shown.session.timeline
    assert before is not None
    assert after is not None
    told = 0
    for row in map(shown.view.model.row, shown.view.model.indexes()):
        if row.section is not Section.ANYWHERE or row.is_head:
            continue
        told += 1
        for timeline, entry, root in zip((before, after), row.entries, row.roots, strict=True):
            largest = None if root is None else int(timeline.tiles.allocation(root).max())
            assert entry.size == largest
        assert row.entries[1].delta == (row.entries[1].size or 0) - (row.entries[0].size or 0)
    assert told


def test_maps_show_what_each_tile_differs_by_on_one_scale(shown: Stage) -> None:
    shown.view.resize(900, 800)
    session = shown.session
    before = session.timeline
    for alternative in (0, 3):
        session.swap(21, alternative)
        shown.estimate()
        session.pin_current(f"alternative {alternative}")
    first, second, third = shown.view.charts.maps
    assert [tiles.isVisible() for tiles in (first, second, third)] == [True, True, True]
    assert second.shown.scale == third.shown.scale
    assert before is not None
    # The first state is shown as it is, at its peak.
    usage = before.tiles.usage(before.total_peak_step)
    assert first.shown.field.values.tolist() == usage.sum(axis=1).tolist()
    for tiles, state in zip((second, third), shown.view.states()[1:], strict=True):
        field = tiles.shown.field
        assert field.baseline_step == before.total_peak_step
        here, there = state.timeline.tiles.usage(field.step), before.tiles.usage(field.baseline_step)
        assert field.values.tolist() == (here.sum(axis=1) - there.sum(axis=1)).tolist()
        assert f"{int((field.values < 0).sum()):,} less" in tiles.accessibleDescription()
    image = second.grab().toImage()
    for tile in (0, 700, 1471):
        place = second.cell_rect(tile).center().toPoint()
        colour = image.pixelColor(place)
        row, column = np.argwhere(np.asarray(second.shown.grid.tile) == tile)[0].tolist()
        level = int(second.shown.slots[row, column])
        assert (colour.red(), colour.green(), colour.blue()) == tuple(ramp_table(Ramp.DIFFERENCE)[level].tolist())
        difference = int(second.shown.field.values[tile])
        if abs(difference) > second.shown.scale.high // 20:
            assert (difference < 0) == (colour.blue() > colour.red())


def test_charts_are_equal_and_share_one_labelled_axis(shown: Stage) -> None:
    session = shown.session
    shown.view.resize(900, 760)
    before = session.timeline
    session.swap(21, 0)
    shown.estimate()
    after = session.timeline
    assert before is not None
    assert after is not None
    charts = shown.view.charts
    first, second = charts.charts[:2]
    assert abs(first.height() - second.height()) <= 1
    assert first.box.viewRange() == second.box.viewRange()
    assert first.area().left() == second.area().left() == charts.difference.area().left()
    assert first.area().width() == second.area().width() == charts.difference.area().width()
    assert charts.axis_name.text() == "steps of A"
    top = first.box.viewRange()[1][1]
    assert top > int(before.tiles.worst()[:, 2].max()) + before.reserve_bytes
    # What a chart says of a step is what the states need there.
    curves = [chart.tip_at(chart.pixel(before.total_peak_step + 0.5, top / 2)) for chart in (first, second)]
    need = int(before.tiles.worst()[before.total_peak_step, 2]) + before.reserve_bytes
    assert curves[0] == curves[1]
    assert f"A  {need / 1024:.1f} KiB" in curves[0]
    place = first.pixel(before.total_peak_step + 0.5, top / 2).toPoint()
    QTest.mouseClick(first.viewport(), Qt.MouseButton.LeftButton, pos=place)
    chosen = session.selection.step
    assert chosen is not None
    assert after.steps[chosen].source == before.steps[before.total_peak_step].source


def test_charts_follow_the_theme(shown: Stage) -> None:
    for name in ("dark", "light"):
        theme = load_theme(name)
        shown.bridge.set_theme(theme)
        for plot in (shown.view.charts.charts[0], shown.view.charts.maps[0]):
            assert plot.grab().toImage().pixelColor(1, 1).name() == theme.background


def test_the_version_before_a_reload_can_be_put_beside(shown: Stage) -> None:
    session = shown.session
    assert not shown.view.earlier_button.isVisible()
    session.swap(21, 0)
    shown.estimate()
    old = session.timeline
    session.open(document("so400m-over.recipe.json"))
    shown.estimate()
    assert names(shown) == ["as opened"]
    assert shown.view.earlier_button.isVisible()
    shown.view.earlier_button.click()
    assert names(shown) == ["as opened", "before the reload"]
    assert shown.view.states()[1].timeline is old
    assert not shown.view.earlier_button.isVisible()
    # Another file has no version before it.
    session.open(document("vit3-64tiles.recipe.json"))
    assert session.earlier is None


def test_states_of_other_devices_have_no_map_but_say_why(shown: Stage) -> None:
    other = opened("vit3-64tiles.recipe.json")
    assert other.estimate is not None
    shown.session.add_pin(Pin("other", document("vit3-64tiles.recipe.json"), other.state, other.estimate))
    shown_map = shown.view.charts.maps[1]
    assert shown_map.shown.field.missing
    assert "the baseline has 1,472 tiles, this program 64" in shown_map.accessibleDescription()
    assert not shown_map.grab().isNull()
    program = shown.view.model.find(("Summary", "Program"))
    assert shown.view.model.data(program.siblingAtColumn(1)).endswith("1,472 tiles")
    assert shown.view.model.data(program.siblingAtColumn(2)).endswith("64 tiles")


def test_pins_are_renamed_the_baseline_too(shown: Stage, monkeypatch) -> None:
    asked = []

    def answer(_parent, _title, _label, _mode, text):
        asked.append(text)
        return " by hand ", True

    monkeypatch.setattr(QInputDialog, "getText", answer)
    shown.session.swap(21, 0)
    shown.estimate()
    shown.session.pin_current("smaller grid")
    shown.view.cards[1].rename_action.trigger()
    shown.view.cards[0].rename_action.trigger()
    assert asked == ["smaller grid", "as opened"]
    assert names(shown) == ["by hand", "by hand"]
    assert shown.session.baseline is not None
    assert shown.session.baseline.name == "by hand"
    header = shown.view.model.headerData(2, Qt.Orientation.Horizontal)
    assert header == "by hand"
    monkeypatch.setattr(QInputDialog, "getText", lambda *_: ("", False))
    shown.view.cards[1].rename_action.trigger()
    assert names(shown) == ["by hand", "by hand"]


def test_a_pinned_state_in_force_stands_there_once(shown: Stage) -> None:
    shown.session.swap(21, 0)
    shown.estimate()
    shown.session.pin_current("smaller grid")
    assert names(shown) == ["as opened", "smaller grid"]
    assert shown.view.cards[1].title.text() == "B  ✗ smaller grid (current)"
    shown.session.swap(21, 3)
    shown.estimate()
    assert names(shown) == ["as opened", "current", "smaller grid"]


def test_the_state_in_force_can_be_the_baseline(shown: Stage) -> None:
    shown.session.swap(21, 0)
    shown.estimate()
    shown.view.cards[1].baseline_action.trigger()
    assert names(shown) == ["Swap operation 21 to alternative 0"]
    shown.session.undo()
    assert names(shown) == ["Swap operation 21 to alternative 0", "current"]
    row = shown.view.model.find(("Summary", "Total peak"))
    assert shown.view.model.data(row.siblingAtColumn(2)) == "555.0 KiB  (+15.4 KiB, +2.8 %)"


def test_the_link_is_stated_the_other_way_round(qtbot) -> None:
    shown = stage(CompareView, qtbot, "vit3-64tiles.v3.timeline.json")
    recipe = document("vit3-64tiles.recipe.json")
    shown.session.link(recipe)
    assert "no timeline on both sides" in shown.view.link_label.text()
    other = opened("vit3-64tiles.recipe.json")
    assert other.estimate is not None
    shown.session.add_pin(Pin("recipe", recipe, other.state, other.estimate))
    text = shown.view.link_label.text()
    assert "268 of the timeline's 268 values matched by origin and name." in text
    assert "All matched values have the same shape, precision, layout and size." in text


def test_keys_reach_what_a_card_offers(shown: Stage) -> None:
    card = shown.view.cards[0]
    assert card.button.focusPolicy() & Qt.FocusPolicy.TabFocus
    assert card.button.accessibleName() == "What can be done with as opened"
    assert [action.text().replace("&", "") for action in card.menu.actions()] == [
        "Make this the baseline",
        "Rename…",
        "Remove",
    ]
    assert card.title.accessibleName() == "as opened (baseline, current): does not fit"


def test_a_recipe_and_its_timeline_beside_each_other_in_the_window(driver, vit3, samples, monkeypatch) -> None:
    driver.open(vit3)
    timeline = samples / "vit3-64tiles.v3.timeline.json"
    driver.window.files.compare_with(timeline)
    driver.qtbot.waitUntil(lambda: len(driver.session.pins) == 1, timeout=30_000)
    view = driver.window.docks.views["compare"]
    driver.qtbot.waitUntil(lambda: view.is_in_sight, timeout=5000)
    assert [state.name for state in view.states()] == ["as opened", timeline.name]
    assert "268 of the timeline's 268 values matched" in "\n".join(view.link_statement())
    is_of = "the timeline is of the program without fusions"
    said = view.link_statement()[1]
    assert said.startswith("150 of the timeline's 150 steps match the program without fusions")
    assert said.endswith(f"{is_of}.")
    matched = "Linked: 268 values matched, 0 of them differ, 2 only in the recipe's estimate"
    assert view.link_label.text() == f"{matched}; {is_of}"
    driver.session.swap(35, 0)
    driver.settle()
    assert [state.name for state in view.states()] == ["as opened", "current", timeline.name]
    assert "matched values differ" in "\n".join(view.link_statement())
    assert "matched values differ" in view.link_label.toolTip()
    assert view.link_label.text().startswith("Linked: ")
    assert "0 of them differ" not in view.link_label.text()
    monkeypatch.setattr(QInputDialog, "getText", lambda *_: ("online attention", True))
    view.pin_button.click()
    assert [pin.name for pin in driver.session.pins] == [timeline.name, "online attention"]
    assert "online attention" in view.table_csv().split("\r\n")[0]
    driver.session.undo()
    driver.settle()


def test_what_it_asks_of_the_window(shown: Stage) -> None:
    shown.view.pin_button.click()
    shown.view.other_button.click()
    assert shown.requests == [("pin", None), ("compare_with", None)]


@pytest.mark.parametrize("height", [140, 500])
def test_in_a_low_dock_the_table_has_the_room(qtbot, height: int) -> None:
    shown = stage(CompareView, qtbot, "so400m-over.recipe.json", size=(620, height))
    shown.session.swap(21, 0)
    shown.estimate()
    qtbot.wait(20)
    charts = shown.view.charts
    assert [chart.isVisible() for chart in charts.charts[:2]] == [height == 500] * 2
    assert [tiles.isVisible() for tiles in charts.maps[:2]] == [height == 500] * 2
    assert shown.view.rect().contains(shown.view.tree.geometry())
    shown.view.resize(620, 640 - height)
    qtbot.wait(20)
    assert charts.maps[1].isVisible() == (height == 140)


def test_themes_and_nothing_open(qtbot) -> None:
    shown = stage(CompareView, qtbot)
    assert shown.view.note.text() == "Nothing open"
    shown.bridge.set_theme(load_theme("dark"))
    assert not shown.view.grab().isNull()


def four_states(shown: Stage) -> None:
    """The file, two swaps and another file beside it."""
    for alternative in (0, 3):
        shown.session.swap(21, alternative)
        shown.estimate()
        shown.session.pin_current(f"so400m with alternative {alternative} of operation 21")
    other = opened("so400m.recipe.json")
    assert other.estimate is not None
    shown.session.add_pin(Pin("so400m.recipe.json", document("so400m.recipe.json"), other.state, other.estimate))
    assert len(names(shown)) == 4


@pytest.mark.parametrize("width", [580, 745, 900, 1262])
def test_four_states_are_in_view_without_scrolling(qtbot, width: int) -> None:
    shown = stage(CompareView, qtbot, "so400m-over.recipe.json", (width, 420))
    four_states(shown)
    qtbot.wait(10)
    tree, model = shown.view.tree, shown.view.model
    assert tree.horizontalScrollBar().maximum() == 0
    row = model.find(("Summary", "Total peak"))
    room, metrics = tree.viewport().width(), tree.fontMetrics()
    sizes = set()
    for column in range(1, 5):
        cell = row.siblingAtColumn(column)
        box = tree.visualRect(cell)
        sizes.add(box.width())
        assert 0 <= box.left() < box.right() <= room
        lines = model.data(cell).split("\n")
        # Bytes and per cent are never cut; at the narrowest the difference may be, and the tooltip has it.
        assert metrics.horizontalAdvance(lines[0]) <= box.width(), (width, lines)
        assert len(lines) * metrics.height() <= box.height()
        if width >= 745:
            assert all(metrics.horizontalAdvance(line) <= box.width() for line in lines)
        header = model.headerData(column, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
        assert header == names(shown)[column - 1]
    assert len(sizes) == 1
    exact = shown.session.baseline.timeline.peak.total
    for column, state in enumerate(shown.view.states()[1:], start=2):
        delta = state.timeline.peak.total - exact
        cell = row.siblingAtColumn(column)
        sign = "−" if delta < 0 else "+" if delta else ""
        tip = model.data(cell, Qt.ItemDataRole.ToolTipRole)
        if delta:
            assert f"{sign}{abs(delta):,} B, " in tip
            assert f"{sign}{abs(delta) / 1024:.1f} KiB" in model.data(cell)
            assert f"{sign}{abs(delta) / exact * 100:.1f} %" in model.data(cell)
    assert ("\n" in model.data(row.siblingAtColumn(2))) == (width < 1262)


def test_columns_change_their_form_with_the_width_and_the_table_for_files_does_not(qtbot) -> None:
    shown = stage(CompareView, qtbot, "so400m-over.recipe.json", (1400, 420))
    four_states(shown)
    row = shown.view.model.find(("Summary", "Total peak")).siblingAtColumn(2)
    assert shown.view.model.data(row) == "539.6 KiB  (−15.4 KiB, −2.8 %)"
    wide, high = shown.view.table_csv(), shown.view.tree.visualRect(row).height()
    shown.view.resize(745, 420)
    qtbot.waitUntil(lambda: shown.view.tree.visualRect(row).height() > high, timeout=2000)
    assert shown.view.model.data(row) == "539.6 KiB  −2.8 %\n−15.4 KiB"
    assert shown.view.table_csv() == wide
    verdict = shown.view.model.find(("Summary", "Verdict"))
    assert shown.view.tree.visualRect(verdict).height() == high
    shown.view.resize(1400, 420)
    qtbot.waitUntil(lambda: shown.view.tree.visualRect(row).height() == high, timeout=2000)
    assert shown.view.model.data(row) == "539.6 KiB  (−15.4 KiB, −2.8 %)"


def test_two_states_take_the_room_of_four(qtbot) -> None:
    shown = stage(CompareView, qtbot, "so400m-over.recipe.json", (745, 420))
    shown.session.swap(21, 0)
    shown.estimate()
    tree = shown.view.tree
    assert tree.horizontalScrollBar().maximum() == 0
    assert tree.columnWidth(1) == tree.columnWidth(2)
    assert sum(tree.columnWidth(column) for column in range(3)) == tree.viewport().width()
    cell = shown.view.model.find(("Summary", "Total peak")).siblingAtColumn(2)
    assert shown.view.model.data(cell) == "539.6 KiB  (−15.4 KiB, −2.8 %)"


def test_a_statement_on_a_linked_file_leaves_the_table_its_room(qtbot) -> None:
    shown = stage(CompareView, qtbot, "so400m-over.recipe.json", (745, 320))
    shown.session.link(document("vit3-64tiles.v3.timeline.json"))
    label = shown.view.link_label
    assert label.text().startswith("Linked: not of one compile: ")
    assert label.height() <= 2 * (label.fontMetrics().height() + 2)
    assert "the recipe plans for 1,472 tiles, the timeline has 64" in label.toolTip()
    shown.view.resize(745, 600)
    assert "the recipe plans for 1,472 tiles, the timeline has 64" in label.text()
