"""The address map in the window: files of addresses opened, what is drawn, linked, scrubbed and exported."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog

from tests.helpers.opened import opened
from tileview.analysis.address_map import FINISHED, SEARCH, STATED
from tileview.formats.opening import open_dump
from tileview.model.placement import END
from tileview.qt.files.export_view import picture_of
from tileview.qt.files.folder import FolderDialog, dumps_in, process_of, scope_in_name
from tileview.qt.plot.picture import svg_bytes
from tileview.qt.views.address_map.view import AddressMapView
from tileview.qt.views.base import Cover
from tileview.session.document import Document
from tileview.session.session import Session

ROOT = Path(__file__).resolve().parents[2]
TILE = "tile-0-5ff8df1f4e7afe02.json"
PROFILE = "placement-8.json"
BROKEN = ROOT / "tests" / "golden" / "data" / "placement" / "dumps" / "broken"


def session_on(name: str) -> Session:
    session = Session()
    session.open(Document(ROOT / "sample_data" / name, open_dump(ROOT / "sample_data" / name)))
    session.publish(session.job().run())
    return session


@pytest.fixture
def make(show_view, qtbot):
    """A shown address map on a session, once its map is made."""

    def build(session: Session, theme: str = "light", size: tuple[int, int] = (900, 700)) -> AddressMapView:
        view = show_view(AddressMapView, session, theme, size)
        qtbot.waitUntil(lambda: view.map is not None and not view.is_working, timeout=30_000)
        return view

    return build


def where(view: AddressMapView, entry: int) -> QPoint:
    return view.plots[0].box_of(entry).center().toPoint()


def index(view: AddressMapView, name: str) -> int:
    return next(at for at, entry in enumerate(view.map.entries) if entry.name.startswith(name))


def widest(view: AddressMapView) -> int:
    """The working buffer with the largest box."""
    boxes = [
        (view.plots[0].box_of(at), at)
        for at, entry in enumerate(view.map.entries)
        if entry.roots and entry.operation is not None and not entry.is_resident
    ]
    return max(boxes, key=lambda both: both[0].width() * both[0].height())[1]


# -- what it shows ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_tile_dump_is_solved_and_the_hole_is_drawn_to_scale(make, theme):
    view = make(session_on(TILE), theme)
    plot = view.plots[0]
    assert view.attempt.title == "Order 2"
    assert "55 of 210 requests placed" in view.line.full_text
    assert [title for title, button in view.buttons.items() if not button.isHidden()] == [
        STATED, "Order 1", "Order 2", "End first", SEARCH, "Side by side",
    ]  # fmt: skip
    low, high = view.attempt.hole
    start = plot.pixel(0, low).y()
    asked = view.map.entries[view.attempt.failed].bytes
    # The bar of the request stands beside the hole, as much longer as its bytes are.
    bar = (start - plot.pixel(0, low + asked).y()) / (start - plot.pixel(0, high).y())
    assert bar == pytest.approx(82_944 / 72_360, rel=0.01)
    # Above the largest sequence the colour of a whole life, between the buffers the ground.
    image = plot.grab().toImage()
    entry = index(view, "root 274")
    place = where(view, entry)
    ground = QColor(view.bridge.theme.border)
    assert image.pixelColor(place.x(), place.y()).name() == ground.name()


def test_a_recipe_is_mapped_in_the_memory_that_the_session_places_in(make, qtbot):
    session = opened("vit3-64tiles.recipe.json")
    session.select_tiles((5,))
    view = make(session)
    assert view.map.tile == 5
    assert view.map.memory.bytes == 498_872
    assert view.attempt.title == "Order 1"
    view.memory_box.setCurrentIndex(0)
    assert session.ranges.name == "planner"
    qtbot.waitUntil(lambda: view.map.memory.ranges == session.ranges.ranges, timeout=30_000)
    view.tile_box.setCurrentIndex(view.tile_box.count() - 1)
    assert session.selection.tile == view.tile_box.currentData()
    qtbot.waitUntil(lambda: view.map.tile == session.selection.tile, timeout=30_000)


def test_a_timeline_alone_says_what_to_open(show_view):
    view = show_view(AddressMapView, opened("rejected-op0.timeline.json"))
    assert "open the recipe" in view.plots[0].message
    assert view.table_csv() is None


def test_placements_side_by_side_share_one_zoom_and_the_search_joins_them(make, qtbot):
    view = make(session_on(TILE), size=(1200, 600))
    view.buttons["Side by side"].click()
    shown = [plot for plot in view.plots if not plot.isHidden()]
    assert [plot.attempt.title for plot in shown] == ["Order 1", "Order 2", "End first"]
    shown[0].setFocus()
    QTest.keyClick(shown[0], Qt.Key.Key_Plus)
    assert len({plot.value(plot.area().topLeft()).y() for plot in shown}) == 1
    assert not view.zoom.is_fit
    QTest.keyClick(shown[0], Qt.Key.Key_0)
    view.buttons[SEARCH].click()
    qtbot.waitUntil(lambda: not view.is_working, timeout=60_000)
    assert view.attempt.title == SEARCH
    assert "no placement found" in view.line.full_text
    view.buttons["Side by side"].click()
    assert [plot.attempt.title for plot in view.plots if not plot.isHidden()][-1] == SEARCH


# -- links and keys ---------------------------------------------------------------------------------------------------


def test_a_click_selects_the_allocation_and_its_step_and_a_drag_scrubs(make):
    session = opened("vit3-64tiles.recipe.json")
    view = make(session)
    plot = view.plots[0]
    wide = widest(view)
    entry = view.map.entries[wide]
    QTest.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=where(view, wide))
    assert session.selection.allocation == entry.roots[0]
    assert view.selected == wide
    assert session.selection.step == view.map.step_of(view.column)
    first, last = plot.pixel(10.5, 0x90000).toPoint(), plot.pixel(60.5, 0x90000).toPoint()
    QTest.mousePress(plot.viewport(), Qt.MouseButton.LeftButton, pos=first)
    QTest.mouseMove(plot.viewport(), last)
    QTest.mouseRelease(plot.viewport(), Qt.MouseButton.LeftButton, pos=last)
    assert view.column in (59, 60, 61)
    assert session.selection.step == view.map.step_of(view.column)
    before = view.column
    QTest.keyClick(plot, Qt.Key.Key_Right)
    assert view.column == before + 1
    QTest.keyClick(plot, Qt.Key.Key_Up)
    low = view.selected
    QTest.keyClick(plot, Qt.Key.Key_Up)
    assert view.attempt.starts[view.selected] >= view.attempt.starts[low]
    QTest.keyClick(plot, Qt.Key.Key_Escape)
    assert (view.selected, session.selection.allocation) == (None, None)


def test_hovering_and_selecting_are_linked_both_ways(make):
    session = opened("vit3-64tiles.recipe.json")
    view = make(session)
    entry = widest(view)
    one = view.map.entries[entry]
    view.bridge.hovered.emit(None, one.roots[0], None)
    assert view.plots[0].lit == frozenset((entry,))
    view.bridge.hovered.emit(one.operation, None, None)
    assert view.plots[0].lit == {at for at, each in enumerate(view.map.entries) if each.operation == one.operation}
    told = []
    view.bridge.hovered.connect(lambda *args: told.append(args))
    QTest.mouseMove(view.plots[0].viewport(), where(view, entry))
    QApplication.processEvents()
    assert told[-1] == (one.operation, one.roots[0], view.map.tile)
    session.select_allocation(one.roots[0])
    assert view.selected == entry
    session.select_step(view.map.step_of(7))
    assert view.map.step_of(view.column) == view.map.step_of(7)


def test_numbers_choose_the_placement_and_tips_name_what_lies_there(make):
    view = make(session_on(TILE))
    plot = view.plots[0]
    QTest.keyClick(plot, Qt.Key.Key_2)
    assert view.attempt.title == "Order 1"
    entry = index(view, "root 274")
    tip = plot.tip_at(plot.box_of(entry).center())
    assert tip.startswith("root 274 ×27\n0x")
    assert "lives the whole run" in tip
    assert plot.tip_at(plot.pixel(50, 0x70000)).startswith("closed: code and exchange table, 0x5C000 to 0x78000")


def test_pictures_and_tables_hold_what_is_seen(make):
    view = make(session_on(TILE))
    svg = svg_bytes(picture_of(view)).decode()
    assert "largest hole" in svg
    assert "0xC0000" in svg
    rows = view.table_csv().splitlines()
    assert len(rows) == 1 + 4 * 210
    assert rows[0].startswith("tile,placement,name,kind,class,bytes")


# -- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "kind"), [(TILE, "tile dump"), (PROFILE, "placement profile")])
def test_a_file_of_addresses_opens_in_the_window(driver, samples, tmp_path, name, kind):
    path = tmp_path / name
    shutil.copy(samples / name, path)
    driver.open(path)
    window = driver.window
    assert driver.session.document.kind == kind
    view = window.docks.views["address_map"]
    driver.qtbot.waitUntil(lambda: view.map is not None, timeout=30_000)
    assert view.isVisible()
    driver.qtbot.waitUntil(lambda: window.docks.maximised == "address_map", timeout=5000)
    for other in window.docks.views.values():
        cover = other.findChild(Cover)
        assert (cover is not None) == other.needs_program
        if cover is not None:
            assert "not a program" in cover.text()
            assert cover.geometry() == other.rect()
    assert not window.commands.action("find_fix").isEnabled()
    assert not window.commands.action("export_report").isEnabled()
    # With a program open the sentences are gone.
    driver.open(samples / "pair-8tiles.recipe.json")
    assert not any(cover.isVisible() for cover in window.findChildren(Cover))
    driver.qtbot.waitUntil(lambda: not window.docks.maximised, timeout=5000)
    assert window.docks.views["timeline"].isVisible()


def test_recipe_timeline_and_profile_opened_together_are_linked(driver, samples, tmp_path):
    names = ("pair-8tiles.recipe.json", "pair-8tiles.v3.timeline.json", PROFILE)
    paths = [Path(shutil.copy(samples / name, tmp_path / name)) for name in names]
    driver.window.open_paths([paths[2], paths[0], paths[1]])
    session = driver.session
    driver.qtbot.waitUntil(
        lambda: session.linked is not None and session.address_document is not None, timeout=30_000
    )  # fmt: skip
    driver.settle()
    assert session.document.path == paths[0]
    assert session.linked.path == paths[1]
    assert session.address_document.path == paths[2]
    view = driver.window.docks.views["address_map"]
    driver.window.docks.show_view("address_map")
    driver.qtbot.waitUntil(lambda: view.attempt is not None and view.attempt.title == FINISHED, timeout=30_000)
    driver.qtbot.waitUntil(lambda: any(entry.roots for entry in view.map.entries), timeout=30_000)
    linked = [entry for entry in view.map.entries if entry.roots]
    timeline = session.timeline
    assert all(timeline.values[root].name == entry.name for entry in linked for root in entry.roots)
    # What the profile left open can be placed in.
    titles = [view.memory_box.itemText(place) for place in range(view.memory_box.count())]
    view.memory_box.setCurrentIndex(next(at for at, title in enumerate(titles) if title.startswith("Open on tile")))
    driver.qtbot.waitUntil(lambda: view.attempt is not None and view.attempt.title != FINISHED, timeout=30_000)
    assert view.map.memory.ranges == session.ranges.ranges
    assert session.ranges.ranges[0] == (327_680, 360_448)


@pytest.mark.parametrize("name", sorted(path.name for path in BROKEN.glob("*.json")))
def test_broken_dumps_give_one_clear_error(shared_driver, name):
    driver = shared_driver
    driver.window.files.open(BROKEN / name)
    driver.qtbot.waitUntil(lambda: bool(driver.window.findChildren(QDialog)), timeout=30_000)
    dialogs = [one for one in driver.window.findChildren(QDialog) if one.isVisible()]
    assert len(dialogs) == 1
    assert driver.session.document is None
    dialogs[0].close()
    QApplication.processEvents()


def test_a_memory_profile_directory_is_one_list_with_what_belongs_together(driver, samples, tmp_path):
    folder = tmp_path / "profile"
    folder.mkdir()
    for name, source in (
        ("baseline-4711-1.json", "pair-8tiles.v3.timeline.json"),
        ("local-op0-4711-2.json", "rejected-op0.timeline.json"),
        ("placement-4711.json", PROFILE),
        (TILE, TILE),
        ("plans.json", "pair-8tiles.recipe.json"),
    ):
        shutil.copy(samples / source, folder / name)
    found = dumps_in(folder)
    assert [path.name for path in found] == [
        "baseline-4711-1.json", "local-op0-4711-2.json", "placement-4711.json", TILE, "plans.json",
    ]  # fmt: skip
    assert [process_of(path) for path in found] == ["4711", "4711", "4711", "", ""]
    assert [scope_in_name(path) for path in found] == ["baseline", "local-op0", "", "tile 0", ""]
    driver.window.tools.show_folder(folder)
    dialog = driver.window.findChild(FolderDialog)

    def column(number: int) -> list[str]:
        return [dialog.tree.topLevelItem(row).text(number) for row in range(dialog.tree.topLevelItemCount())]

    driver.qtbot.waitUntil(lambda: "waiting" not in column(3), timeout=60_000)
    assert column(2) == ["timeline", "timeline", "placement profile", "tile dump", "recipe"]
    assert "cannot be read" not in column(3)
    assert column(3)[2:4] == ["placed", "not placed"]
    dialog.tree.setCurrentItem(dialog.tree.topLevelItem(2))
    assert [path.name for path in dialog.belonging()] == ["baseline-4711-1.json", "placement-4711.json"]
    dialog.together_button.click()
    session = driver.session
    driver.qtbot.waitUntil(lambda: session.address_document is not None, timeout=30_000)
    assert (session.document.name, session.address_document.name) == ("baseline-4711-1.json", "placement-4711.json")
    driver.settle()
    dialog.close()


def test_a_profile_of_many_tiles_is_read_tile_by_tile(driver, tmp_path):
    entry = {"start": 524_288, "end": 524_352, "payload_end": 524_352, "label": 0, "kind": "parameter", "first": 0,
             "last": END, "shards": [1]}  # fmt: skip
    tiles = [{"logical": tile, "physical": tile, "allocations": [entry]} for tile in range(64)]
    document = {"schema_version": 1, "start": 311_296, "end": 950_272, "labels": ["w\nF16 [32] · Ipu21Standard"],
                "tiles": tiles}  # fmt: skip
    path = tmp_path / "placement-1.json"
    path.write_text(json.dumps(document))
    driver.open(path)
    view = driver.window.docks.views["address_map"]
    driver.qtbot.waitUntil(lambda: view.map is not None, timeout=30_000)
    assert view.tile_box.count() == 64
    view.tile_box.setCurrentIndex(40)
    driver.qtbot.waitUntil(lambda: view.map.tile == 40, timeout=30_000)
    assert view.attempt.title == FINISHED
