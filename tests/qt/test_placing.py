"""Placement in the background: after an estimate, cancelled by an edit, in the memory chosen, of other plans."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from tests.helpers.golden_recipes import golden_recipe
from tileview.analysis.placement import OUTCOMES, Placeability, State, place_program, program_requests
from tileview.core.placement.outcome import solve
from tileview.core.placement.ranges import Preset, from_parts
from tileview.model.placement import Memory
from tileview.present.choices import ChoiceScope
from tileview.present.rasters import Metric
from tileview.qt.files.explain_message import ExplainDialog, linked
from tileview.qt.files.fix import FixDialog
from tileview.qt.files.folder import COLUMNS, FolderDialog


@pytest.fixture
def placer(driver):
    """A window that places by itself."""
    driver.window.settings.place_by_itself = True

    def settled() -> bool:
        return not driver.session.wants_placing and not driver.window.tools.placing.is_busy

    driver.wait_placed = lambda: driver.qtbot.waitUntil(settled, timeout=60_000)
    return driver


def test_placement_follows_the_estimate(placer, vit3):
    told = []
    placer.window.bridge.placement_changed.connect(lambda: told.append(placer.session.is_placing))
    placer.open(vit3)
    assert placer.session.is_placing
    pending = placer.session.placement_words()
    assert [step.state for step in pending.steps] == [State.GOOD, State.PENDING, State.PENDING]
    assert [step.text for step in pending.steps[1:]] == ["placing…", "placing…"]
    placer.wait_placed()
    # every class of vit3 is placed by order 1 on every preset
    words = placer.session.placement_words()
    assert (words.title, words.state) == ("Fits, placed", State.GOOD)
    assert {OUTCOMES[code] for code in placer.session.placed.by_tile} == {"order 1"}
    assert told[-1] is False


def test_an_edit_takes_the_placement_away_and_undo_brings_it_back(placer, vit3):
    placer.open(vit3)
    placer.wait_placed()
    before = placer.session.placement
    placer.session.swap(4, 1)
    assert placer.session.placement is None
    assert placer.session.is_placing
    placer.settle()
    placer.wait_placed()
    assert placer.session.placement is not None
    placer.session.undo()
    assert placer.session.placement is before


def test_other_memory_is_placed_too(placer, vit3):
    placer.open(vit3)
    placer.wait_placed()
    steps = placer.session.placement
    narrow = Preset("", "typed", from_parts(0, 34, window=False), "")
    placer.session.set_ranges(narrow)
    assert placer.session.placed is None
    assert placer.session.placement is steps  # the verdict speaks of the same memory as before
    placer.wait_placed()
    requests = program_requests(golden_recipe("vit3-64tiles"))
    assert placer.session.placed.totals == place_program(requests, narrow, enlarge=False).totals


def test_where_it_is_not_automatic_nothing_is_placed_until_asked_for(driver, vit3):
    driver.open(vit3)
    driver.qtbot.waitUntil(lambda: not driver.session.is_placing)
    assert driver.session.placement is None
    assert "Place now" in driver.session.placement_words().sentences[0]
    driver.trigger("place")
    driver.qtbot.waitUntil(lambda: driver.session.placement is not None, timeout=60_000)
    assert driver.session.placement_words().title == "Fits, placed"


def test_a_timeline_or_a_dump_is_not_placed(placer, rejected, samples):
    placer.open(rejected)
    assert not placer.session.is_placing
    assert "its recipe can be placed" in placer.session.placement_unknown
    placer.window.files.open(samples / "tile-0-5ff8df1f4e7afe02.json")
    placer.qtbot.waitUntil(lambda: placer.session.document.addresses is not None, timeout=20_000)
    assert placer.session.placement_unknown == placer.session.document.no_program
    assert "timeline" not in placer.session.placement_unknown


def test_alternatives_of_the_selected_operation_are_placed(placer, vit3):
    placer.open(vit3)
    placer.session.select_operation(4)
    placer.window.tools.evaluation.evaluate(4)
    session = placer.session
    fits = lambda: [key for key, found in session.results.items() if found.fits]  # noqa: E731
    placer.qtbot.waitUntil(
        lambda: bool(fits()) and any(session.is_placed_known(*key) for key in fits()
                                     if session.alternative_in_force(key[0]) != key[1]),
        timeout=60_000,
    )  # fmt: skip
    known = next(key for key in fits() if session.is_placed_known(*key) and not session.results[key].in_force)
    assert session.placed_of(*known).placed


# -- the tiles ------------------------------------------------------------------------------------------------------


@pytest.fixture
def unfused(placer, samples):
    """The larger sample without the compiler's fusions, with alternative 3 of operation 21, placed: its sum is the same
    and 808 of 1,472 tiles are not placed."""
    placer.open(samples / "so400m.recipe.json")
    placer.session.set_fusion(False)
    placer.session.swap(21, 3)
    placer.settle()
    placer.wait_placed()
    return placer


def test_the_tile_map_shows_which_tiles_are_placed(unfused):
    tiles = unfused.window.docks.show_view("tiles")
    tiles.controls.metric_box.setCurrentIndex(tiles.controls.metric_box.findData(Metric.PLACEMENT))
    assert tiles.shown_metric is Metric.PLACEMENT
    assert np.bincount(tiles.field.values, minlength=5).tolist() == [664, 0, 0, 808, 0]
    assert tiles.line.full_text == "Captured 498,872 B: of 1,472 tiles 664 placed by order 1, 808 not placed"
    assert tiles.legend.texts[:2] == ("placed by order 1: 664", "not placed: 808")
    assert not tiles.controls.scale_box.isVisible()
    failing = unfused.session.placed.failing.tile
    assert "not placed" in tiles.tip(failing)
    assert ",not placed" in tiles.table_maker()().splitlines()[1 + failing]
    words = unfused.session.placement_words()
    assert words.more == "53,248 B more would do, four elements of code or table less."
    tiles.set_metric(Metric.TOTAL)
    assert tiles.controls.scale_box.isVisible()


# -- the memory that is looked at ------------------------------------------------------------------------------------


def test_what_if_says_what_more_memory_would_do(unfused):
    memory = unfused.window.docks.show_view("whatif").memory
    assert memory.box.currentText() == "Captured 498,872 B"
    assert "a real compile of a 27-layer model" in memory.origin.text()
    assert "808 of 1,472 tiles cannot be placed" in memory.result.text()
    assert memory.result.text().endswith("Placed with 53,248 B more, four elements of code or table less.")
    memory.box.setCurrentIndex(0)
    memory.box.activated.emit(0)
    unfused.wait_placed()
    assert unfused.session.placed.preset.name == "planner"
    assert memory.result.text() == "All 1,472 tiles placed."


def test_parts_typed_ranges_and_a_dump_name_other_memory_kept_with_the_file(placer, vit3, samples):
    placer.open(vit3)
    memory = placer.window.docks.show_view("whatif").memory
    texts = [memory.box.itemText(index) for index in range(memory.box.count())]
    memory.box.activated.emit(texts.index("Descriptors and elements"))
    memory.descriptors.setValue(6_160)
    memory.elements.setValue(8)
    # as the capture of 482,496 B: window, [368,368, 376,832), [507,904, 949,168)
    assert placer.session.ranges.ranges == ((327_680, 360_448), (368_368, 376_832), (507_904, 949_168))
    memory.box.activated.emit(texts.index("Typed ranges"))
    memory.typed.setText("0x78000-949169")
    memory.typed.editingFinished.emit()
    assert "ends above 949,168" in memory.complaint.text()
    memory.typed.setText("0x78000-949168")
    memory.typed.editingFinished.emit()
    assert memory.complaint.text() == ""
    assert placer.session.ranges.ranges == ((491_520, 949_168),)
    memory.take_dump(samples / "tile-0-5ff8df1f4e7afe02.json")
    placer.qtbot.waitUntil(lambda: "tile-0" in placer.session.ranges.title, timeout=20_000)
    chosen = placer.session.ranges
    memory.take_dump(vit3)
    placer.qtbot.waitUntil(lambda: "states no ranges" in memory.complaint.text(), timeout=20_000)
    assert placer.session.ranges == chosen
    placer.wait_placed()
    placer.open(samples / "pair-8tiles.recipe.json")
    assert placer.session.ranges.name == "captured-498872"
    placer.open(vit3)
    assert placer.session.ranges == chosen


def test_the_offset_of_interleaved_memory_comes_with_a_dumps_ranges(placer, vit3, samples, tmp_path):
    """Interleaved requests start 32,000 bytes behind the boundary: on a fuller tile that decides."""
    dump = json.loads((samples / "tile-0-5ff8df1f4e7afe02.json").read_bytes())
    dump["interleaved_offset"], dump["ranges"] = 32_000, [[504_000, 560_000]]
    path = tmp_path / "tile-0-0123456789abcdef.json"
    path.write_text(json.dumps(dump))
    placer.open(vit3)
    memory = placer.window.docks.show_view("whatif").memory
    memory.take_dump(path)
    placer.qtbot.waitUntil(lambda: "tile 0" in placer.session.ranges.title, timeout=20_000)
    placer.wait_placed()
    requests = program_requests(golden_recipe("vit3-64tiles"))
    asked = Memory(((504_000, 560_000),), 32_000)
    classes = [(each, solve(requests.asked(each, asked), asked)) for each in requests.classes]
    assert placer.session.placed.totals.placed == sum(len(each.tiles) for each, one in classes if one.by is not None)
    plain = place_program(requests, Preset("", "", asked.ranges, ""), enlarge=False)
    assert placer.session.placed.totals != plain.totals
    assert "interleaved memory from 0x87d00 on" in memory.origin.text()
    chosen = placer.session.ranges
    placer.open(samples / "pair-8tiles.recipe.json")
    placer.open(vit3)
    assert placer.session.ranges == chosen
    assert placer.session.ranges.memory == asked


# -- a compiler's sentence --------------------------------------------------------------------------------------------


def test_a_message_is_explained_and_its_places_are_links(driver, over):
    driver.open(over)
    driver.trigger("explain")
    dialog = driver.window.findChild(ExplainDialog)
    assert not dialog.button.isEnabled()
    dialog.text.setPlainText("error: tile 612 has insufficient Ipu21Standard SRAM for 82944 bytes")
    QTest.mouseClick(dialog.button, Qt.MouseButton.LeftButton)
    assert "found no place for this one" in dialog.page.toPlainText()
    driver.qtbot.waitUntil(lambda: not dialog.is_busy, timeout=120_000)
    text = dialog.page.toPlainText()
    assert over.name in text
    assert "82,944 B" in text
    html = dialog.page.toHtml()
    assert 'href="tile:612"' in linked("on tile 612, by step 3 of operation 21")
    assert 'href="operation:' in html
    dialog.page.anchorClicked.emit(QUrl("tile:612"))
    dialog.page.anchorClicked.emit(QUrl("operation:21"))
    dialog.page.anchorClicked.emit(QUrl("step:5"))
    chosen = driver.session.selection
    assert (chosen.tile, chosen.operation, chosen.step) == (612, 21, 5)
    dialog.reject()


def test_with_nothing_open_a_message_is_still_explained(driver):
    driver.trigger("explain")
    dialog = driver.window.findChild(ExplainDialog)
    dialog.text.setPlainText("exchange transfer count exceeds per-tile limit: 20000")
    dialog.button.click()
    assert "16,384 pieces" in dialog.page.toPlainText()
    assert "Open the recipe" in dialog.page.toPlainText()
    dialog.reject()


def test_alternatives_say_whether_they_are_placed(unfused):
    view = unfused.window.docks.show_view("alternatives")
    session = unfused.session
    session.select_operation(21)
    columns = [column.title for column in view.spec.columns]
    place = columns.index("Placed")

    def cells() -> dict[int, str]:
        rows = [(view.model.key(index), index) for index in view.model.indexes()]
        return {key[1]: view.model.data(index.siblingAtColumn(place)) for key, index in rows if key[0] == 21}

    unfused.window.tools.evaluation.evaluate(21)
    unfused.qtbot.waitUntil(lambda: cells().get(3) == "808 not", timeout=60_000)
    # with alternative 0, which the file has, order 1 places all
    unfused.qtbot.waitUntil(lambda: cells().get(0) == "✓ all", timeout=120_000)
    assert session.placed_of(21, 3) == Placeability(808, 0)


def test_memory_against_cycles_places_what_it_shows(unfused):
    """Alternative 3 of operation 21, which is in force there, needs 53,248 B more than the capture of 498,872 B;
    alternative 0 needs no more."""
    session = unfused.session
    view = unfused.window.docks.show_view("choose")
    session.select_operation(21)
    unfused.window.tools.evaluation.evaluate(21)
    view.show_choices(ChoiceScope.OPERATION)

    def memory() -> dict:
        return {point.swaps: point.memory for point in view.choices.points if point.is_placed_in}

    unfused.qtbot.waitUntil(lambda: ((21, 0),) in memory() and () in memory(), timeout=120_000)
    assert memory()[()] == 498_872 + 53_248
    assert memory()[(21, 0),] == 498_872
    assert view.choices.by_placement


# -- fixes ------------------------------------------------------------------------------------------------------------


def test_a_fix_can_ask_that_every_tile_is_placed(unfused):
    """Operation 21 back to alternative 0, its plan in the file, places every tile of the capture of 498,872 B."""
    unfused.trigger("find_fix")
    dialog = unfused.window.findChild(FixDialog)
    texts = [dialog.memory_box.itemText(index) for index in range(dialog.memory_box.count())]
    unfused.qtbot.waitUntil(lambda: not dialog.is_running, timeout=120_000)
    dialog.memory_box.setCurrentIndex(texts.index("Placed in captured 498,872 B"))
    dialog.search_button.click()
    unfused.qtbot.waitUntil(lambda: not dialog.is_running, timeout=240_000)
    assert dialog.proposals.topLevelItem(0).text(0) == "op 21 → alt 0"
    assert dialog.proposals.topLevelItem(0).text(5) == "all"
    dialog.apply_button.click()
    assert unfused.session.alternative_in_force(21) == 0


def test_a_program_that_fits_but_is_not_placed_is_searched_for_swaps_that_place_it(placer, samples):
    """144 tiles have no place in captured 498,872 B, by the golden placement of the fused program; 21 → 3 mends it."""
    placer.open(samples / "so400m.recipe.json")
    placer.wait_placed()
    banner = placer.window.verdict
    placer.qtbot.waitUntil(lambda: "144 tiles not placed in captured 498,872 B" in banner.next.plain())
    assert "Nothing to do" not in banner.next.plain()
    assert banner.find_fix.isEnabled()
    banner.find_fix.click()
    dialog = placer.window.findChild(FixDialog)
    assert dialog.memory_box.currentText() == "Placed in captured 498,872 B"
    placer.qtbot.waitUntil(lambda: not dialog.is_running, timeout=240_000)
    found = [dialog.proposals.topLevelItem(row).text(0) for row in range(dialog.proposals.topLevelItemCount())]
    assert "op 21 → alt 3" in found
    dialog.proposals.setCurrentItem(dialog.proposals.topLevelItem(found.index("op 21 → alt 3")))
    dialog.apply_button.click()
    placer.wait_placed()
    placer.qtbot.waitUntil(lambda: placer.session.placement is not None and placer.session.placement.failed is None)
    assert banner.next.plain() == "Next: Export the recipe (Ctrl+E)."


def test_the_first_of_equal_proposals_is_first_for_a_reason(driver, over):
    driver.open(over)
    driver.session.set_fusion(False)
    driver.settle()
    driver.trigger("find_fix")
    dialog = driver.window.findChild(FixDialog)
    driver.qtbot.waitUntil(lambda: dialog.proposals.topLevelItemCount() > 1, timeout=240_000)
    driver.qtbot.waitUntil(lambda: not dialog.is_running, timeout=240_000)
    totals = [dialog.proposals.topLevelItem(row).text(2) for row in range(dialog.proposals.topLevelItemCount())]
    equal = totals.count(totals[0])
    assert equal > 1
    words = dialog.findChild(QLabel, "outcome").text()
    assert f"{equal} proposals" in words
    dialog.reject()


# -- where else a verdict stands --------------------------------------------------------------------------------------


def test_markdown_and_compare_say_the_three_steps(placer, vit3):
    placer.open(vit3)
    placer.wait_placed()
    placer.trigger("copy_summary")
    text = QApplication.clipboard().text()
    assert "Fits, placed" in text
    assert text.count("all 64 tiles placed") == 2
    compare = placer.window.docks.show_view("compare")
    rows = {node.label: node for node in (compare.model.row(index) for index in compare.model.indexes())}
    assert rows["Placement"].entries[0].text == "✓ all 64 tiles placed"


def test_the_list_of_a_folder_says_what_is_placed(driver, vit3, rejected):
    driver.window.tools.show_folder([vit3, rejected])
    dialog = driver.window.findChild(FolderDialog)
    place = COLUMNS.index("Placement")
    items = [dialog.tree.topLevelItem(row) for row in range(2)]
    driver.qtbot.waitUntil(lambda: items[0].text(place).startswith("all"), timeout=120_000)
    assert items[0].text(place) == "all 64 tiles placed"
    assert "Planner's memory: all 64 tiles placed" in items[0].toolTip(place)
    driver.qtbot.waitUntil(lambda: items[1].text(place) == "not known", timeout=120_000)
    dialog.reject()
