"""Details: follow the selection, add up, and offer boundaries and homes as edits."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.helpers.opened import document, opened
from tests.helpers.views import Stage, stage
from tileview.analysis.home_offers import home_offers
from tileview.qt.base.theme import load_theme
from tileview.qt.views import details
from tileview.qt.views.details import DetailsSubject, DetailsView
from tileview.session.session import Pin


@pytest.fixture
def shown(qtbot) -> Stage:
    return stage(DetailsView, qtbot, "so400m-over.recipe.json")


def test_an_allocation_in_words_with_its_picture(qtbot) -> None:
    shown = stage(DetailsView, qtbot, "rejected-op0.timeline.json")
    shown.session.select_allocation(1)
    assert "160 × 144 elements × 1 B = 23,040 B, + 8 B access tail" in shown.view.plain
    assert "rounded up to 2 memory elements of 16,384 B = 32,768 B" in shown.view.plain
    assert shown.view.partition.isVisible()
    assert not shown.view.partition.grab().isNull()
    shown.session.select_tiles((3,))
    assert "On tile 3: 23,040 B payload" in shown.view.plain


def test_an_allocation_without_a_size_is_drawn_and_explained(qtbot) -> None:
    shown = stage(DetailsView, qtbot, "rejected-op0.timeline.json")
    shown.session.select_allocation(2)
    assert "no valid layout: 1,472 tiles requested, only 288 grains (1,152 elements, 4 a grain)" in shown.view.plain
    assert not shown.view.partition.grab().isNull()


def test_it_turns_to_what_changed_last(shown: Stage) -> None:
    shown.session.select_operation(21)
    assert shown.view.tabs.currentIndex() == DetailsSubject.OPERATION
    assert shown.view.plain.startswith("Operation 21: Gemm")
    timeline = shown.session.timeline
    assert timeline is not None
    shown.session.select_allocation(timeline.steps[69].live[-1])
    assert shown.view.tabs.currentIndex() == DetailsSubject.ALLOCATION
    assert "Made by op 21 Gemm, step 6" in shown.view.plain
    shown.session.select_allocation(None)
    shown.session.select_tiles((7,))
    assert shown.view.tabs.currentIndex() == DetailsSubject.TILE
    assert shown.view.plain.startswith("Tile 7")


def test_tabs_show_the_other_parts_of_the_selection(shown: Stage) -> None:
    shown.session.select_operation(21)
    shown.view.tabs.setCurrentIndex(DetailsSubject.TILE)
    assert shown.view.plain.startswith("Tile 174")
    assert "30,504 B over" in shown.view.plain


def test_the_boundary_button_opens_closes_and_is_undone(shown: Stage) -> None:
    shown.session.select_operation(21)
    button = shown.view.edits.boundary_buttons[362]
    assert button.text() == "Open boundary"
    button.click()
    assert dict(shown.session.state.boundaries) == {362: True}
    again = shown.view.edits.boundary_buttons[362]
    assert again.text() == "Close boundary"
    again.click()
    assert not shown.session.state.boundaries
    shown.session.undo()
    assert dict(shown.session.state.boundaries) == {362: True}


def test_a_repeat_has_no_boundary_to_close(shown: Stage) -> None:
    shown.session.select_operation(24)
    assert shown.view.edits.boundary_buttons == {}


def test_homes_on_offer_are_edits_for_a_whole_sequence(shown: Stage) -> None:
    shown.session.select_operation(21)
    recipe = shown.session.recipe
    assert recipe is not None
    (value,) = shown.view.edits.home_buttons
    menu = shown.view.edits.home_buttons[value].menu()
    shown.view.edits.fill_home_menu(menu, value)
    assert sum(action.isChecked() for action in menu.actions()) == 1
    other = next(action for action in menu.actions() if not action.isChecked())
    other.trigger()
    assert len(shown.session.state.homes) == 27
    assert len(shown.session.history.done) == 1
    shown.view.edits.fill_home_menu(menu, value)
    assert menu.actions()[-1].text() == "Back to the file's home"
    menu.actions()[-1].trigger()
    assert not shown.session.state.homes


def test_a_home_is_in_the_estimate_that_follows(qtbot) -> None:
    shown = stage(DetailsView, qtbot, "vit3-64tiles.recipe.json")
    shown.session.select_operation(0)
    value = next(iter(shown.view.edits.home_buttons))
    recipe = shown.session.recipe
    assert recipe is not None
    current = recipe.inputs[value]
    offer = next(offer for offer in home_offers(recipe, value, current) if offer.format != current)
    shown.view.edits.take_home(value, offer.format)
    shown.estimate()
    timeline = shown.session.timeline
    assert timeline is not None
    name = next(entry.name for entry in recipe.graph.inputs if entry.value == value)
    lowered = next(entry for entry in timeline.values if entry.origin == value and entry.name == name)
    assert lowered.layout == offer.format.layout
    assert lowered.shard_bytes == offer.shard_bytes


def test_an_operation_of_a_timeline_alone_shows_its_steps(qtbot) -> None:
    shown = stage(DetailsView, qtbot, "rejected-op0.timeline.json")
    shown.session.select_operation(0)
    assert "Step 2: Gemm" in shown.view.plain
    assert "A timeline alone holds no plans" in shown.view.plain


def link_sample(shown: Stage, name: str) -> None:
    other = opened(name)
    assert other.estimate is not None
    shown.session.link(document(name))
    shown.session.add_pin(Pin(name, document(name), other.state, other.estimate))


def test_the_linked_timeline_is_told_beside_an_allocation_and_an_operation(qtbot) -> None:
    shown = stage(DetailsView, qtbot, "vit3-64tiles.recipe.json")
    timeline = shown.session.timeline
    assert timeline is not None
    root = timeline.steps[106].live[-1]
    shown.session.select_allocation(root)
    assert "linked file" not in shown.view.plain
    link_sample(shown, "vit3-64tiles.v3.timeline.json")
    size = int(timeline.tiles.allocation(root).max())
    assert "In the linked file vit3-64tiles.v3.timeline.json" in shown.view.plain
    assert f"On its largest tile: {size:,} B (same)." in shown.view.plain
    assert shown.session.selection.operation == 35
    shown.view.tabs.setCurrentIndex(DetailsSubject.OPERATION)
    assert "Largest total of a tile while it runs: 79,872 B (same)." in shown.view.plain
    shown.session.swap(35, 0)
    shown.estimate()
    assert "less than here)" in shown.view.plain


def test_an_operation_of_a_timeline_shows_the_plan_of_the_linked_recipe(qtbot) -> None:
    shown = stage(DetailsView, qtbot, "vit3-64tiles.v3.timeline.json")
    shown.session.select_operation(35)
    assert "open the recipe of the same compile" in shown.view.plain
    link_sample(shown, "vit3-64tiles.recipe.json")
    assert shown.view.plain.startswith("Operation 35: FlashAttention (plan of the linked recipe)")
    assert "key blocks of 64 rows" in shown.view.plain
    assert "(same)." in shown.view.plain


def test_an_operation_names_who_makes_its_operands_and_who_reads_its_result(shown: Stage) -> None:
    shown.session.select_operation(21)
    assert "Operand 0: value 361, result of operation 20" in shown.view.plain
    assert "Result 0: value 362, [1,729,1152], read by operation 22" in shown.view.plain
    graph = shown.session.graph
    assert graph is not None
    for operation, _ in graph.walk():
        shown.session.select_operation(operation.id)
        for value in operation.results:
            readers = sorted(found.id for found, _ in graph.walk() if value in found.inputs)
            if readers:
                assert f"read by operation{'s' if len(readers) > 1 else ''} {readers[0]}" in shown.view.plain


def test_names_from_files_are_text_and_no_markup(shown: Stage, monkeypatch) -> None:
    monkeypatch.setattr(details, "allocation_name", lambda *_: "<b>a</b>")
    timeline = shown.session.timeline
    shown.session.select_allocation(timeline.values[0].root)
    assert "<b>a</b>" in shown.view.text.toPlainText()


def test_with_nothing_selected_it_says_what_to_do(qtbot) -> None:
    shown = stage(DetailsView, qtbot)
    assert shown.view.plain.startswith("Select an allocation")
    shown.view.tabs.setCurrentIndex(DetailsSubject.OPERATION)
    assert shown.view.plain.startswith("Select an operation")
    shown.view.tabs.setCurrentIndex(DetailsSubject.TILE)
    assert shown.view.plain == "No timeline."
    shown.bridge.set_theme(load_theme("dark"))


@pytest.mark.parametrize("size", [(340, 110), (340, 600), (800, 240)])
def test_text_and_picture_are_whole_in_a_dock_of_any_size(qtbot, size) -> None:
    shown = stage(DetailsView, qtbot, "so400m-over.recipe.json", size=size)
    timeline = shown.session.timeline
    assert timeline is not None
    shown.session.select_allocation(timeline.steps[69].live[-1])
    qtbot.wait(20)
    view = shown.view
    assert view.text.height() >= int(view.text.document().size().height())
    assert view.partition.height() >= view.partition.minimumHeight()
    assert not view.text.geometry().intersects(view.partition.geometry())
    beside = view.partition.x() > view.text.x()
    above = view.partition.y() < view.text.y()
    assert (beside, above) == (size[0] == 800, size[1] == 600)
    view.area.ensureWidgetVisible(view.partition)
    spot = view.partition.mapTo(view.area, view.partition.rect().center())
    assert view.area.rect().contains(spot)


def test_the_text_is_read_by_key_to_its_end(qtbot) -> None:
    shown = stage(DetailsView, qtbot, "so400m-over.recipe.json", size=(340, 110))
    shown.session.select_operation(21)
    shown.view.activateWindow()
    shown.view.text.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(shown.view.text.hasFocus, timeout=2000)
    QTest.keyClick(shown.view.text, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    bar = shown.view.area.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.value() > 0, timeout=2000)

    def has_cursor_in_sight() -> bool:
        spot = shown.view.text.mapTo(shown.view.area, shown.view.text.cursorRect().center())
        return shown.view.area.rect().contains(spot)

    qtbot.waitUntil(has_cursor_in_sight)


def test_copying(shown: Stage, qapp) -> None:
    shown.session.select_operation(21)
    shown.view.copy_text()
    assert qapp.clipboard().text().startswith("Operation 21: Gemm")


def test_maker_and_readers_are_named_with_links(shown: Stage) -> None:
    timeline = shown.session.timeline
    assert timeline is not None
    root = next(root for root in timeline.steps[69].live if timeline.values[root].id == 454)
    shown.session.select_allocation(root)
    assert "Made by op 21 Gemm, step 68 Copy. Read by step 69 Cast." in shown.view.plain
    page = shown.view.text.toHtml()
    assert all(f'href="{target}"' in page for target in ("op:21", "step:68", "step:69"))
    shown.session.select_operation(None)
    shown.view.text.anchorClicked.emit(QUrl("op:21"))
    assert shown.session.selection.operation == 21
    shown.view.text.anchorClicked.emit(QUrl("step:68"))
    assert shown.session.selection.step == 68


def test_links_are_reached_and_followed_by_keys(shown: Stage) -> None:
    """Tab goes from link to link, Enter follows one."""
    session = shown.session
    session.select_allocation(454)
    session.select_operation(None)
    text = shown.view.text
    text.setFocus()
    QTest.keyClick(text, Qt.Key.Key_Tab)
    assert text.hasFocus()
    link = text.textCursor().charFormat().anchorHref()
    assert link.startswith("op:")
    QTest.keyClick(text, Qt.Key.Key_Return)
    assert session.selection.operation == int(link.removeprefix("op:"))


def test_the_buttons_act_on_the_subject(shown: Stage, qtbot) -> None:
    session, buttons = shown.session, shown.view.buttons
    asked: list[tuple[str, object]] = []
    shown.bridge.requested.connect(lambda what, about: asked.append((what, about)))
    session.select_allocation(454)
    timeline = session.timeline
    assert timeline is not None
    QTest.mouseClick(buttons.tiles, Qt.MouseButton.LeftButton)
    holding = timeline.tiles.allocation(454)
    assert session.selection.tiles == tuple(tile for tile in range(1472) if holding[tile])
    QTest.mouseClick(buttons.copy, Qt.MouseButton.LeftButton)
    assert QApplication.clipboard().text() == "op 21's copy of op 20's result (F16) #454"
    session.select_operation(None)
    shown.view.tabs.setCurrentIndex(DetailsSubject.ALLOCATION)
    QTest.mouseClick(buttons.alternatives, Qt.MouseButton.LeftButton)
    assert session.selection.operation == 21
    assert asked == [("show_view", "alternatives")]
    root = min(timeline.parameters)
    session.select_allocation(root)
    assert not buttons.alternatives.isEnabled()
    assert "No operation makes it" in buttons.alternatives.toolTip()
    shown.view.tabs.setCurrentIndex(DetailsSubject.TILE)
    assert not buttons.alternatives.isVisibleTo(shown.view)
    session.select_tiles((174,))
    QTest.mouseClick(buttons.tiles, Qt.MouseButton.LeftButton)
    usage = timeline.tiles.usage(session.selection.step)
    same = tuple(tile for tile in range(1472) if tuple(usage[tile]) == tuple(usage[174]))
    assert session.selection.tiles == same
