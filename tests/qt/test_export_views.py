"""Every view leaves the window as PNG, SVG and CSV: whole, readable, written in one piece, errors in words."""

from __future__ import annotations

import csv
import json
import re
import threading
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

from tileview.qt.base.theme import load_theme
from tileview.qt.files import saving
from tileview.qt.files.export_view import SETTLE_MS, ExportDialog, ViewFormat, Wish, picture_of, suggested_stem
from tileview.qt.plot.picture import MOST_PIXELS, MOST_SIDE, Picture, Recording, png_image, scale_within, svg_bytes
from tileview.qt.plot.picture_parts import Line, TextPart
from tileview.qt.views.graph.scene import GraphScene
from tileview.qt.widgets.dialogs import ErrorDialog

SVG = "{http://www.w3.org/2000/svg}"
TABLES = ("operations", "problems", "tiles", "alternatives", "timeline", "allocations", "compare")
NO_TABLES = ("verdict", "why", "graph", "details", "whatif")


def views_of(driver) -> dict:
    window = driver.window
    return {window.verdict.name: window.verdict, **window.docks.views}


def export(driver, wish: Wish, target: Path) -> Path:
    """Write a view as a click on the last button does, and wait for the file."""
    exporter = driver.window.view_exporter
    assert exporter.write_view(wish, target)
    driver.qtbot.waitUntil(lambda: not exporter.is_writing, timeout=20_000)
    return target


def bring(driver, name: str) -> None:
    """Show a view, and let its dock take its size and the view make what it shows."""
    view = driver.window.docks.show_view(name)
    QTest.qWait(SETTLE_MS)
    if name == "address_map":
        driver.qtbot.waitUntil(lambda: not view.is_working, timeout=20_000)


def rows_of(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def texts(root: ElementTree.Element) -> str:
    return " ".join("".join(entry.itertext()).strip() for entry in root.iter(f"{SVG}text"))


def rendered(data: Path, ground: str) -> QImage:
    """An SVG file as a renderer that knows no clipping shows it."""
    renderer = QSvgRenderer(str(data))
    assert renderer.isValid()
    image = QImage(renderer.defaultSize(), QImage.Format.Format_RGB32)
    image.fill(QColor(ground))
    painter = QPainter(image)
    renderer.render(painter, QRectF(image.rect()))
    painter.end()
    return image


def likeness(one: QImage, other: QImage) -> float:
    """Share of sampled pixels that are alike up to the smoothing of edges."""
    assert one.size() == other.size()
    places = [(x, y) for x in range(1, one.width(), 5) for y in range(1, one.height(), 5)]
    near = 0
    for x, y in places:
        a, b = one.pixelColor(x, y), other.pixelColor(x, y)
        near += abs(a.red() - b.red()) + abs(a.green() - b.green()) + abs(a.blue() - b.blue()) < 90
    return near / len(places)


@pytest.fixture
def opened(shared_driver, over):
    """The window on the sample that does not fit, a swap and an allocation chosen, no filter set."""
    driver = shared_driver
    for view in driver.window.docks.views.values():
        if hasattr(view, "filter_box"):
            view.filter_box.clear()
    driver.open(over)
    driver.session.swap(21, 0)
    driver.settle()
    driver.qtbot.waitUntil(lambda: not driver.window.docks.views["graph"].is_busy())
    driver.session.select_allocation(next(iter(driver.session.timeline.aliases)))
    return driver


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_view_is_a_drawing_that_says_and_shows_what_the_picture_does(make_driver, over, tmp_path, theme):
    driver = make_driver(theme)
    driver.open(over)
    driver.session.select_allocation(next(iter(driver.session.timeline.aliases)))
    driver.qtbot.waitUntil(lambda: driver.window.docks.views["why"].diagnosis is not None, timeout=20_000)
    driver.qtbot.waitUntil(lambda: not driver.window.docks.views["graph"].is_busy())
    for name, view in views_of(driver).items():
        bring(driver, name)
        drawing = export(driver, Wish(view, ViewFormat.SVG), tmp_path / f"{name}.svg")
        picture = QImage(str(export(driver, Wish(view, ViewFormat.PNG, 1.0), tmp_path / f"{name}.png")))
        root = ElementTree.parse(drawing).getroot()
        size = picture_of(view).size()
        assert (root.get("width"), root.get("height")) == (str(size.width()), str(size.height())), name
        assert picture.size() == size, name
        assert f"{view.title} · so400m-over.recipe.json" in texts(root), name
        assert len(texts(root)) > 60, name
        assert likeness(rendered(drawing, "#ff00ff"), picture) > 0.9, name


def test_a_picture_has_the_pixels_asked_for(opened, tmp_path):
    view = opened.window.docks.show_view("tiles")
    size = picture_of(view).size()
    for scale in (1, 3):
        image = QImage(str(export(opened, Wish(view, ViewFormat.PNG, scale), tmp_path / "tiles.png")))
        assert image.size() == QSize(size.width() * scale, size.height() * scale)
        assert image.dotsPerMeterX() == pytest.approx(96 / 0.0254 * scale, abs=1)
    assert scale_within(QSize(100, 100), 4) == 4
    assert scale_within(QSize(100, 16_000), 4) == MOST_SIDE / 16_000
    broad = scale_within(QSize(20_000, 20_000), 1)
    assert 20_000 * 20_000 * broad**2 == pytest.approx(MOST_PIXELS)


def test_a_recording_has_the_pixels_of_what_it_recorded(opened, monkeypatch):
    """Recorded here, painted elsewhere in bands of a few rows: no seam, nothing twice, nothing left out."""
    monkeypatch.setattr("tileview.qt.plot.picture.BAND_PIXELS", 30_000)
    for name, scale in (("timeline", 1.0), ("timeline", 1.3), ("tiles", 2.0), ("problems", 1.3)):
        made = picture_of(opened.window.docks.show_view(name))
        direct, bands = png_image(made, scale), png_image(Recording(made), scale)
        assert bands.size() == direct.size()
        assert bands.devicePixelRatio() == direct.devicePixelRatio()
        one, other = (
            np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.width(), 4)[:, :, :3]
            for image in (direct, bands)
        )
        # Where a slanted edge is smoothed, a pixel may differ a little; dashes may begin anew at the edge of a band.
        apart = np.abs(one.astype(int) - other).max(axis=2)
        assert (apart > 32).mean() < (0.004 if name == "timeline" else 0.0005), (name, scale)
        assert (apart > 0).mean() < 0.01, (name, scale)


def test_tables_hold_all_rows_and_say_what_a_filter_leaves(opened, tmp_path):
    for name in TABLES:
        view = opened.window.docks.show_view(name)
        assert view.has_table()
        rows = rows_of(export(opened, Wish(view, ViewFormat.CSV), tmp_path / f"{name}.csv"))
        assert len({len(row) for row in rows}) == 1, name
        assert len(rows) > 1, name
    assert all(not views_of(opened)[name].has_table() for name in NO_TABLES)
    said = []
    opened.window.bridge.message.connect(said.append)
    view = opened.window.docks.show_view("allocations")
    whole = len(view.table.rows)
    view.filter_box.setText("mlp")
    rows = rows_of(export(opened, Wish(view, ViewFormat.CSV), tmp_path / "some.csv"))
    assert 1 < len(rows) < whole
    assert all("mlp" in row[0] for row in rows[1:])
    opened.qtbot.waitUntil(lambda: bool(said) and "some.csv" in said[-1])
    assert said[-1].endswith("Only the rows that the filter “mlp” leaves.")


def test_the_rows_in_sight_are_drawn_and_counted(opened):
    view = opened.window.docks.show_view("operations")
    opened.window.resize(1280, 800)
    root = ElementTree.fromstring(svg_bytes(picture_of(view)))
    words = texts(root)
    shown = re.search(r"([0-9]+) of ([0-9]+) rows", words)
    assert shown is not None
    assert int(shown[2]) == len(list(view.model.indexes()))
    heights = {view.tree.visualRect(index).height() for index in view.model.indexes()} - {0}
    assert int(shown[1]) == view.tree.viewport().height() // max(heights)
    assert "Gemm" in words


def test_the_whole_graph_holds_every_operation_the_part_in_view_does_not(opened):
    view = opened.window.docks.show_view("graph")
    view.canvas.centre(view.result.structure.by_operation[0], 1.0)
    seen = texts(ElementTree.fromstring(svg_bytes(picture_of(view))))
    whole = texts(ElementTree.fromstring(svg_bytes(picture_of(view, whole=True))))
    assert "0 Gemm" in seen
    assert "20 Gelu" not in seen
    assert "20 Gelu" in whole


def test_the_whole_graph_is_drawn_beside_the_window_and_can_be_stopped(opened, monkeypatch, tmp_path):
    exporter, view = opened.window.view_exporter, opened.window.docks.show_view("graph")
    threads = []
    real = GraphScene.paint

    def paint(scene, *words):
        if scene is not view.canvas.scene:
            threads.append(threading.current_thread())
        real(scene, *words)

    monkeypatch.setattr(GraphScene, "paint", paint)
    whole = export(opened, Wish(view, ViewFormat.SVG, whole=True), tmp_path / "whole.svg")
    assert len(threads) == 1
    assert threading.main_thread() not in threads
    monkeypatch.undo()
    assert "20 Gelu" in texts(ElementTree.parse(whole).getroot())
    hold = threading.Event()

    def wait(*_words):
        if threading.current_thread() is not threading.main_thread():
            hold.wait(20)

    monkeypatch.setattr(GraphScene, "paint", wait)
    said = []
    opened.window.bridge.message.connect(said.append)
    assert exporter.write_view(Wish(view, ViewFormat.PNG, whole=True), tmp_path / "never.png")
    assert opened.window.bridge.work.running() == ("view",)
    assert not exporter.write_view(Wish(view, ViewFormat.PNG), tmp_path / "second.png")
    assert "still being written" in said[-1]
    opened.window.status.work.stop.click()
    hold.set()
    opened.qtbot.waitUntil(lambda: said[-1].startswith("Stopped"))
    assert list(tmp_path.glob("*.png")) == []
    assert opened.window.bridge.work.running() == ()


def test_the_part_of_the_graph_in_view_ends_at_its_frame(opened, tmp_path):
    view = opened.window.docks.show_view("graph")
    view.canvas.centre(view.result.structure.by_operation[12], 3.0)
    drawing = export(opened, Wish(view, ViewFormat.SVG), tmp_path / "graph.svg")
    image = rendered(drawing, "#ff00ff")
    ground = view.bridge.theme.surface
    edge = {image.pixelColor(x, y).name() for y in range(image.height()) for x in (1, 6, image.width() - 3)}
    assert edge == {ground}
    assert len(list(ElementTree.parse(drawing).iter(f"{SVG}clipPath"))) > 0


def test_names_are_escaped_and_what_xml_forbids_is_left_out(driver, samples, tmp_path):
    content = json.loads((samples / "pair-8tiles.v3.timeline.json").read_text(encoding="utf-8"))
    name = "<b>&\"'\x01\ufffe]]>\u202emlp"
    for value in content["timeline"]["values"]:
        value["name"] = name
    path = tmp_path / "odd & <name>.timeline.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    driver.window.resize(1600, 1000)
    driver.open(path)
    driver.session.select_allocation(next(iter(driver.session.timeline.aliases)))
    for kind, view in views_of(driver).items():
        bring(driver, kind)
        if kind == "address_map":  # a timeline lists no addresses: nothing to draw
            continue
        picture = picture_of(view)
        root = ElementTree.fromstring(svg_bytes(Picture(name, name, picture.parts, picture.ground)))
        assert root.find(f"{SVG}title").text == "<b>&\"'��]]>\u202emlp"
        assert not list(root.iter(f"{SVG}script"))
    bring(driver, "allocations")
    assert "<b>&" in texts(ElementTree.fromstring(svg_bytes(picture_of(driver.window.docks.views["allocations"]))))
    assert re.fullmatch(r"[\w.\-]+", suggested_stem(view))


def test_a_view_with_nothing_to_show_is_no_picture_and_says_why(driver, samples, tmp_path):
    driver.open(samples / "pair-8tiles.v3.timeline.json")
    bring(driver, "address_map")
    view = driver.window.docks.views["address_map"]
    assert not driver.window.view_exporter.write_view(Wish(view, ViewFormat.SVG), tmp_path / "map.svg")
    dialog = driver.window.findChild(ErrorDialog)
    assert dialog.text().startswith("The view Address map has nothing to show. A timeline lists bytes, not addresses")
    dialog.close()
    assert list(tmp_path.glob("*.svg")) == []


def test_a_title_is_one_line_for_which_a_narrow_picture_grows(driver, samples, tmp_path):
    name = "a-b" * 10
    short, endless = tmp_path / f"{name}.json", tmp_path / f"{name * 7}.json"
    for path in (short, endless):
        path.write_bytes((samples / "pair-8tiles.recipe.json").read_bytes())
        driver.open(path)
        view = driver.window.docks.show_view("operations")
        view.resize(200, 400)
        picture = picture_of(view)
        root = ElementTree.fromstring(svg_bytes(picture))
        title = "".join(next(root.iter(f"{SVG}text")).itertext()).strip()
        if path == short:
            assert title == f"Operations · {name}.json"
        else:
            assert re.fullmatch(r"Operations · [ab-]+…[ab-]+\.json", title)
        assert picture.size().width() < 640
    assert picture.title == f"Operations · {name * 7}.json"


def test_a_drawing_names_a_font_that_every_machine_has(qapp):
    part = TextPart([Line("a text")], 200, qapp.font(), load_theme("light"))
    raw = svg_bytes(Picture("t", "d", [part], QColor("white"))).decode()
    families = re.findall(r'font-family="([^"]*)"', raw)
    assert families
    assert all(family.endswith(", sans-serif") for family in families)


# -- asking -----------------------------------------------------------------------------------------------------------


def ask(driver, monkeypatch, answer: tuple[str, str], view: str | None = None) -> tuple[ExportDialog, list[tuple]]:
    """Begin an export, with the answer that the file dialog will give."""
    asked: list[tuple] = []

    def choose(_parent, title, name, kinds, **_options):
        asked.append((title, name, kinds))
        return answer

    monkeypatch.setattr(QFileDialog, "getSaveFileName", choose)
    driver.window.commands.run("export_view", view)
    return driver.window.findChild(ExportDialog), asked


def test_the_focused_view_is_offered_and_the_ending_decides(opened, monkeypatch, tmp_path):
    opened.window.docks.show_view("timeline")
    target = tmp_path / "my.picture.svg"
    dialog, asked = ask(opened, monkeypatch, (str(target), "PNG image (*.png)"))
    assert dialog.view_box.currentText() == "Timeline"
    assert dialog.wish() == Wish(opened.window.docks.views["timeline"], ViewFormat.PNG, 2.0, False)
    dialog.accept()
    opened.qtbot.waitUntil(target.exists)
    assert asked[0][0] == "Export Timeline"
    assert Path(asked[0][1]).name == "so400m-over.timeline.png"
    assert asked[0][2] == "PNG image (*.png);;SVG drawing (*.svg);;CSV table (*.csv)"
    ElementTree.parse(target)


def test_a_name_without_an_ending_gets_the_one_of_the_kind_chosen(opened, monkeypatch, tmp_path):
    dialog, _ = ask(opened, monkeypatch, (str(tmp_path / "v1.5"), "CSV table (*.csv)"), "allocations")
    assert dialog.view_box.currentText() == "Allocations"
    dialog.accept()
    opened.qtbot.waitUntil((tmp_path / "v1.5.csv").exists)
    assert (tmp_path / "v1.5.csv").read_text(encoding="utf-8").startswith("Allocation,Made by,Class,")


def test_the_dialog_offers_what_a_view_can_be(opened, monkeypatch):
    dialog, _ = ask(opened, monkeypatch, ("", ""), "graph")
    kinds = [dialog.kind_box.itemData(row) for row in range(dialog.kind_box.count())]
    assert kinds == [".png", ".svg"]
    assert not dialog.whole_box.isHidden()
    dialog.whole_box.setChecked(True)
    assert dialog.wish().whole
    assert "All of the graph" in dialog.note.text()
    dialog.view_box.setCurrentIndex(dialog.view_box.findData("allocations"))
    assert dialog.whole_box.isHidden()
    assert not dialog.wish().whole
    dialog.kind_box.setCurrentIndex(dialog.kind_box.findData(".csv"))
    assert not dialog.scale_box.isEnabled()
    assert dialog.note.text().startswith("All rows")
    dialog.kind_box.setCurrentIndex(dialog.kind_box.findData(".png"))
    opened.window.docks.views["allocations"].filter_box.setText("mlp")
    dialog.kind_box.setCurrentIndex(dialog.kind_box.findData(".csv"))
    assert "the filter “mlp” leaves" in dialog.note.text()
    named = [dialog.view_box, dialog.kind_box, dialog.scale_box]
    assert [box.accessibleName() for box in named] == ["View", "As", "Scale"]
    dialog.reject()


def test_a_view_behind_others_comes_forward_and_is_up_to_date(opened, monkeypatch, tmp_path):
    docks = opened.window.docks
    docks.show_view("operations")
    opened.qtbot.waitUntil(lambda: not docks.views["problems"].is_in_sight)
    target = tmp_path / "problems.csv"
    dialog, _ = ask(opened, monkeypatch, (str(target), "CSV table (*.csv)"), "problems")
    dialog.accept()
    opened.qtbot.waitUntil(target.exists)
    assert docks.views["problems"].is_in_sight
    assert "over" in target.read_text(encoding="utf-8")


def test_the_open_file_is_never_replaced_and_others_only_when_confirmed(opened, monkeypatch, tmp_path):
    content = opened.session.document.path.read_bytes()
    dialog, _ = ask(opened, monkeypatch, (str(opened.session.document.path) + ".png", "PNG image (*.png)"), "tiles")
    (tmp_path / "so400m-over.recipe.json.png").symlink_to(opened.session.document.path)
    dialog.accept()
    error = opened.window.findChild(ErrorDialog)
    assert "is the file that is open" in error.text()
    error.close()
    assert opened.session.document.path.read_bytes() == content
    (tmp_path / "there.svg").write_text("mine", encoding="utf-8")
    asked = []
    monkeypatch.setattr(saving, "confirm", lambda *words: asked.append(words) or False)
    dialog, _ = ask(opened, monkeypatch, (str(tmp_path / "there.svg"), "SVG drawing (*.svg)"), "tiles")
    dialog.accept()
    assert len(asked) == 1
    assert (tmp_path / "there.svg").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("kind", list(ViewFormat))
def test_what_cannot_be_written_is_said_in_words(opened, tmp_path, kind):
    view = opened.window.docks.show_view("tiles")
    target = tmp_path / "missing" / f"tiles{kind.value}"
    assert opened.window.view_exporter.write_view(Wish(view, kind), target)
    opened.qtbot.waitUntil(lambda: opened.window.findChild(ErrorDialog) is not None)
    dialog = opened.window.findChild(ErrorDialog)
    assert "the folder does not exist" in dialog.text()
    assert "Traceback" not in dialog.text()
    dialog.close()


def test_nothing_open_is_nothing_to_export(driver, tmp_path):
    view = driver.window.docks.views["graph"]
    assert not driver.window.view_exporter.write_view(Wish(view, ViewFormat.PNG), tmp_path / "graph.png")
    dialog = driver.window.findChild(ErrorDialog)
    assert "Nothing is open" in dialog.text()
    assert not driver.window.commands.action("export_view").isEnabled()
    dialog.close()
    assert list(tmp_path.glob("*.png")) == []


def test_every_menu_of_a_view_offers_its_export(opened, monkeypatch):
    asked = []
    monkeypatch.setattr(opened.window.commands, "run", lambda *words: asked.append(words))
    for name, view in views_of(opened).items():
        found = [action for action in view.menu_actions() if action.text() == "&Export this view…"]
        assert len(found) == 1, name
        found[0].trigger()
        assert asked[-1] == ("export_view", name)


def test_a_white_page_keeps_its_drawing_sharp(opened):
    """At twice the scale a table has twice the detail: no picture is a screen blown up."""
    view = opened.window.docks.show_view("allocations")
    picture = picture_of(view)
    small, large = png_image(picture, 1.0), png_image(picture, 2.0)
    blown = small.scaled(large.size())
    assert likeness(blown, large) < 0.999
