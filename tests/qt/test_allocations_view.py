"""The allocation table: rows of the selection, sums, filter, groups, copy, and its part in the one selection."""

from __future__ import annotations

import csv
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtTest import QTest

from tests.helpers.opened import document, opened
from tests.helpers.views import Stage, stage
from tileview.model.sizes import Unavailable
from tileview.qt.base.theme import load_theme
from tileview.qt.views.allocations import AllocationsView
from tileview.session.session import Pin


@pytest.fixture
def shown(qtbot) -> Stage:
    made = stage(AllocationsView, qtbot, "so400m-over.recipe.json", tester=False)
    made.view.group_box.setChecked(False)
    return made


def test_it_opens_at_the_peak_on_the_fullest_tile(shown: Stage) -> None:
    assert shown.view.headline.text() == "Step 69/165, Cast, fullest tile 174"
    assert shown.view.footer.text() == "119 rows: standard 568,312 B + interleaved 0 B = 568,312 B"
    assert len(shown.texts()) == 119


def test_it_follows_step_and_tile(shown: Stage) -> None:
    shown.session.select_step(20)
    shown.session.select_tiles((5,))
    assert shown.view.headline.text().startswith("Step 20/165")
    timeline = shown.session.timeline
    assert timeline is not None
    totals = shown.view.table.totals
    assert [totals.standard, totals.interleaved] == timeline.tiles.usage(20)[5].tolist()


def test_a_click_selects_the_allocation_and_the_selection_moves_the_row(shown: Stage) -> None:
    index = shown.view.model.index(100, 0)
    root = shown.view.model.row(index).root
    shown.click(index)
    assert shown.session.selection.allocation == root
    other = shown.view.model.row(shown.view.model.index(3, 0)).root
    shown.session.select_allocation(other)
    assert shown.view.tree.current_key() == other


def test_keys_select_too(shown: Stage) -> None:
    shown.click(shown.view.model.index(0, 0))
    QTest.keyClick(shown.view.tree, Qt.Key.Key_Down)
    assert shown.session.selection.allocation == shown.view.model.row(shown.view.model.index(1, 0)).root


def test_a_change_of_step_keeps_the_selected_row_and_selects_nothing_by_itself(shown: Stage) -> None:
    root = shown.view.model.row(shown.view.model.index(2, 0)).root
    shown.session.select_allocation(root)
    before = shown.session.selection
    shown.session.select_step(10)
    assert shown.session.selection == replace(before, step=10)
    assert shown.view.tree.current_key() == root


def test_an_allocation_that_is_not_here_leaves_no_row_selected(shown: Stage) -> None:
    timeline = shown.session.timeline
    assert timeline is not None
    gone = next(root for root in timeline.steps[20].live if root not in timeline.steps[69].live)
    shown.session.select_allocation(gone)
    assert not shown.view.tree.selectionModel().hasSelection()
    assert shown.session.selection.allocation == gone


def test_filtering(shown: Stage, qtbot) -> None:
    qtbot.keyClicks(shown.view.filter_box, "mlp up")
    assert len(shown.texts()) == 28
    assert all("mlp.up" in text for text in shown.texts())
    assert shown.view.footer.text().startswith("28 rows")
    # A share is one of the whole tile, whatever the filter: 568,312 B.
    shares = {row.root: text for row, text in zip(shown.view.table.rows, shown.texts("Share"), strict=True)}
    sizes = {row.root: row.bytes for row in shown.view.table.rows}
    assert all(text == f"{100 * sizes[root] / 568_312:.1f} %" for root, text in shares.items())
    shown.view.filter_box.clear()
    assert len(shown.texts()) == 119


def test_groups(shown: Stage) -> None:
    shown.view.group_box.setChecked(True)
    tops = [shown.view.model.data(shown.view.model.index(row, 0)) for row in range(shown.view.model.rowCount())]
    assert "vit.encoder.mlp.up.weight (27)" in tops
    assert "119 rows" in shown.view.footer.text()
    root = shown.view.table.rows[60].root
    shown.session.select_allocation(root)
    assert shown.view.tree.current_key() == root
    shown.view.group_box.setChecked(False)
    assert shown.view.model.rowCount() == 119
    assert shown.view.tree.current_key() == root


def test_at_first_what_one_plan_makes_stands_together_and_sums_stay_out_of_csv(qtbot) -> None:
    shown = stage(AllocationsView, qtbot, "so400m-over.recipe.json", tester=False)
    assert shown.view.group_box.isChecked()
    top = shown.view.model.index(0, 0)
    assert shown.view.model.data(top) == "op 21: copy and cast of op 20's result (2)"
    assert shown.view.tree.isExpanded(top)
    assert shown.texts("Made by")[:3] == ["op 21"] * 3
    assert shown.texts("Bytes")[:3] == ["240,896 B", "158,976 B", "81,920 B"]
    assert shown.texts("Share")[0] == "42.4 %"
    rows = list(csv.DictReader(shown.view.table_csv().splitlines()))
    assert len(rows) == 119
    assert sum(int(row["Bytes"]) for row in rows) == 568_312


def test_names_are_cut_where_they_are_alike(qtbot) -> None:
    shown = stage(AllocationsView, qtbot, "so400m-over.recipe.json", (420, 300), tester=False)
    shown.view.group_box.setChecked(False)
    shorten = shown.view.tree.shorten
    long = [f"vit.encoder.layer{layer}.attention.output.weight" for layer in (3, 12)]
    names = [next(text for text in shown.texts() if text.startswith(name)) for name in long]
    short = [shorten(name, 32) for name in names]
    assert all("…" in text for text in short)
    assert ["layer3" in short[0], "layer12" in short[1]] == [True, True]


def test_pointing_at_a_row_lights_it_up_elsewhere_and_the_other_way_round(shown: Stage) -> None:
    told = []
    shown.bridge.hovered.connect(lambda *about: told.append(about))
    index = shown.view.model.index(0, 0)
    shown.view.tree.entered.emit(index)
    root = shown.view.model.row(index).root
    assert told == [(21, root, None)]
    ground = Qt.ItemDataRole.BackgroundRole
    assert shown.view.model.data(index, ground).name() == load_theme("light").hover
    shown.bridge.hovered.emit(21, None, None)
    lit = [one for one in shown.view.model.indexes() if shown.view.model.data(one, ground) is not None]
    assert {shown.view.model.row(one).maker for one in lit} == {21}
    assert len(lit) == 2
    shown.bridge.hovered.emit(None, None, None)
    assert not [one for one in shown.view.model.indexes() if shown.view.model.data(one, ground) is not None]


def test_the_menu_offers_what_one_does_with_an_allocation(shown: Stage) -> None:
    actions = {action.text().replace("&", ""): action for action in shown.view.menu_actions()}
    shown.click(shown.view.model.find(2))
    assert next(action.toolTip() for action in shown.view.menu_actions()) == "Select a row of an operation first"
    assert not actions["Show alternatives"].isEnabled()
    shown.click(shown.view.model.index(0, 0))
    shown.view.menu_actions()
    actions["Show alternatives"].trigger()
    assert shown.requests == [("show_view", "alternatives")]
    assert shown.session.selection.operation == 21
    actions["Copy name"].trigger()
    assert QGuiApplication.clipboard().text() == "op 21's copy of op 20's result (F16) #454"
    actions["Select identical tiles"].trigger()
    timeline = shown.session.timeline
    assert timeline is not None
    usage = timeline.tiles.usage(69)
    alike = [tile for tile in range(timeline.tile_count) if (usage[tile] == usage[174]).all()]
    assert list(shown.session.selection.tiles) == alike


def test_the_largest_stand_on_top_at_first_and_a_header_gives_the_order_of_the_program_back(shown: Stage) -> None:
    header = shown.view.tree.header()
    assert header.sortIndicatorSection() == shown.view.spec.place("Bytes")
    assert header.sortIndicatorOrder() == Qt.SortOrder.DescendingOrder
    sizes = [row.bytes for row in (shown.view.model.row(index) for index in shown.view.model.indexes())]
    assert sizes == sorted(sizes, reverse=True)
    assert shown.texts()[0] == "op 21's copy of op 20's result (F16) #454"
    shown.session.select_step(20)
    sizes = [row.bytes for row in (shown.view.model.row(index) for index in shown.view.model.indexes())]
    assert sizes == sorted(sizes, reverse=True)
    shown.view.tree.header().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
    roots = [shown.view.model.row(index).root for index in shown.view.model.indexes()]
    allocations = [root for root in roots if root is not None]
    assert roots == [*sorted(allocations), *[None] * (len(roots) - len(allocations))]


def test_ctrl_c_copies_the_selected_rows_as_lines_with_tabs(shown: Stage) -> None:
    shown.view.tree.setFocus()
    shown.click(shown.view.model.index(0, 0))
    shown.view.tree.copy_rows()
    lines = QGuiApplication.clipboard().text().split("\n")
    assert len(lines) == 2
    assert lines[0].split("\t")[:2] == ["Allocation", "Made by"]
    assert lines[1].split("\t")[:10] == [
        "op 21's copy of op 20's result (F16) #454", "21", "standard", "158976", "0", "0", "1", "158976", "155.2",
        "27.973",
    ]  # fmt: skip
    copy = shown.view.tree.actions()[0]
    assert copy.shortcut() == QKeySequence(QKeySequence.StandardKey.Copy)


def test_csv_holds_all_rows(shown: Stage) -> None:
    lines = shown.view.table_csv().strip().split("\r\n")
    assert len(lines) == 120
    assert sum(int(line.split(",")[7]) for line in lines[1:]) == 568_312


def test_a_span_shows_what_is_live_anywhere_in_it(shown: Stage) -> None:
    shown.session.select(replace(shown.session.selection, span=(60, 75)))
    assert shown.view.headline.text() == "Live anywhere in steps 60 … 74, largest on any tile"
    assert "(not live all at once)" in shown.view.footer.text()
    assert shown.view.span_button.isVisible()
    shown.view.span_button.click()
    assert shown.session.selection.span is None
    assert not shown.view.span_button.isVisible()


def test_an_edit_keeps_rows_that_stay(shown: Stage) -> None:
    resets = []
    shown.view.model.modelReset.connect(lambda: resets.append(1))
    shown.session.select_allocation(shown.view.table.rows[5].root)
    shown.view.tree.verticalScrollBar().setValue(30)
    shown.session.swap(21, 0)
    shown.estimate()
    assert resets == []
    timeline = shown.session.timeline
    assert timeline is not None
    step = shown.session.selection.step
    assert step is not None
    tile = shown.view.table.tile
    assert shown.view.table.totals.total == int(timeline.tiles.usage(step)[tile].sum())


def test_unavailable_rows_are_words(qtbot) -> None:
    shown = stage(AllocationsView, qtbot, "rejected-op0.timeline.json")
    shown.view.group_box.setChecked(False)
    assert shown.texts("Bytes").count("unavailable") == 43
    assert "43 rows unavailable, not in the sum" in shown.view.footer.text()


def test_unavailable_rows_come_first_in_the_order_at_first(qtbot) -> None:
    """They are what most likely does not fit; the rest by size, and the sum of what is known is exact."""
    shown = stage(AllocationsView, qtbot, "rejected-op0.timeline.json")
    shown.view.group_box.setChecked(False)
    bytes_ = shown.texts("Bytes")
    assert bytes_[:43] == ["unavailable"] * 43
    known = [int(text.removesuffix(" B").replace(",", "")) for text in bytes_[43:]]
    assert known == sorted(known, reverse=True)
    assert known[0] == 32_768
    assert sum(known) == shown.view.table.totals.total == 93_432
    assert all(text.startswith("✗ ") for text in shown.texts()[:43])
    assert not any(text.startswith("✗ ") for text in shown.texts()[43:])
    timeline = shown.session.timeline
    assert timeline is not None
    roots = {shown.view.model.row(index).root for index in list(shown.view.model.indexes())[:43]}
    assert roots == timeline.unavailable_roots & set(timeline.steps[0].live)
    shown.view.group_box.setChecked(True)
    tops = [shown.view.model.row(shown.view.model.index(row, 0)) for row in range(shown.view.model.rowCount())]
    unknown = [isinstance(row.bytes, Unavailable) or row.unsized > 0 for row in tops]
    assert unknown == sorted(unknown, reverse=True)
    assert any(unknown)
    shown.view.group_box.setChecked(False)
    shown.view.tree.sort_by(shown.view.spec.place("Bytes"), Qt.SortOrder.AscendingOrder)
    assert shown.texts("Bytes")[-43:] == ["unavailable"] * 43
    rows = list(csv.DictReader(shown.view.table_csv().splitlines()))
    assert not any(row["Allocation"].startswith("✗") for row in rows)


def test_every_update_passes_the_model_tester(qtbot) -> None:
    shown = stage(AllocationsView, qtbot, "pair-8tiles.recipe.json")
    timeline = shown.session.timeline
    assert timeline is not None
    for step in range(len(timeline.steps)):
        shown.session.select_step(step)
        shown.view.group_box.setChecked(step % 3 == 0)
        shown.session.select(replace(shown.session.selection, span=(0, step + 1) if step % 2 else None))
        shown.view.tree.header().setSortIndicator(step % 10, Qt.SortOrder.DescendingOrder)
    shown.view.filter_box.setText("operation")


def test_the_linked_file_s_bytes_stand_in_a_column_of_their_own(qtbot) -> None:
    shown = stage(AllocationsView, qtbot, "vit3-64tiles.recipe.json")
    assert shown.view.tree.isColumnHidden(shown.view.spec.place("Linked"))
    name = "vit3-64tiles.v3.timeline.json"
    other = opened(name)
    assert other.estimate is not None
    assert other.timeline is not None
    shown.session.link(document(name))
    shown.session.add_pin(Pin(name, document(name), other.state, other.estimate))
    assert not shown.view.tree.isColumnHidden(shown.view.spec.place("Linked"))
    rows = [shown.view.model.row(index) for index in shown.view.model.indexes()]
    assert [shown.texts("Linked")[i] for i, row in enumerate(rows) if row.root is not None] == ["same"] * sum(
        row.root is not None for row in rows
    )
    assert shown.session.timeline is not None
    shown.session.swap(35, 0)
    shown.estimate()
    shown.session.select_step(shown.session.timeline.total_peak_step)
    there = 0
    for index in shown.view.model.indexes():
        row = shown.view.model.row(index)
        text = shown.view.model.data(index.siblingAtColumn(shown.view.spec.place("Linked")))
        if row.linked is not None and row.linked != row.bytes:
            there += 1
            assert int(text.replace("−", "-").replace(",", "").split(" ")[0]) == row.linked - row.bytes
    assert there
    shown.session.link(None)
    assert shown.view.tree.isColumnHidden(shown.view.spec.place("Linked"))


def test_with_nothing_open_it_says_so(qtbot) -> None:
    shown = stage(AllocationsView, qtbot)
    assert shown.view.headline.text() == "No steps"
    assert shown.texts() == []
    shown.bridge.set_theme(load_theme("dark"))


def test_a_long_quick_series_ends_with_the_last_step(shown: Stage, qtbot) -> None:
    for step in range(60):
        shown.session.select_step(step)
    qtbot.waitUntil(lambda: shown.view.headline.text().startswith("Step 59/"), timeout=2000)
    shown.view.shut_down()
