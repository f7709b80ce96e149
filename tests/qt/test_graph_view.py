"""The graph view driven as a user drives it."""

from __future__ import annotations

import dataclasses
import gc
import itertools
import threading
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QColor, QContextMenuEvent, QHelpEvent, QImage, QKeyEvent, QWheelEvent
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication, QToolTip

from tests.helpers.graphs import generated, graph, operation, repeat, transformer
from tileview.analysis.fusions import fusion_facts
from tileview.formats.opening import open_file
from tileview.graphlayout import LayoutCancelled, NodeKind, coordinates
from tileview.model.graph import Graph
from tileview.present.graph_boxes import ColourMode, NodeFigures, StepState
from tileview.present.scales import relative_luminance
from tileview.qt.base.theme import load_theme
from tileview.qt.files.export_view import picture_of
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.plot.picture import svg_bytes
from tileview.qt.views.graph import layouts as graph_layouts
from tileview.qt.views.graph.boxes import Detail
from tileview.qt.views.graph.view import GraphView
from tileview.session.document import Document
from tileview.session.session import Session

SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"
RECIPE = SAMPLES / "vit3-64tiles.recipe.json"
OVER = SAMPLES / "so400m-over.recipe.json"
TIMELINE = SAMPLES / "rejected-op0.timeline.json"


class Pane:
    """A shown view with the ways a test moves it."""

    def __init__(self, qtbot, theme: str = "light", size: tuple[int, int] = (700, 600)) -> None:
        self.qtbot = qtbot
        self.session = Session()
        self.bridge = SessionSignals(self.session, load_theme(theme))
        self.messages: list[str] = []
        self.bridge.message.connect(self.messages.append)
        self.view = GraphView(self.bridge)
        self.view.resize(*size)
        self.view.show()
        qtbot.waitExposed(self.view)
        self.canvas = self.view.canvas

    def open(self, path: Path) -> None:
        self.session.open(Document(path, open_file(path)))
        self.session.publish(self.session.job().run())
        self.settle()

    def open_graph(self, model: Graph, wait: bool = True) -> None:
        """A document whose recipe holds this graph; nothing is estimated."""
        source = open_file(RECIPE)
        recipe = dataclasses.replace(source.recipe, graph=model, plans={}, alternatives={})
        self.session.open(Document(RECIPE, dataclasses.replace(source, recipe=recipe)))
        if wait:
            self.settle()

    def settle(self) -> None:
        """Wait until all that was asked for is laid out."""
        self.qtbot.waitUntil(lambda: not self.view.is_busy(), timeout=20_000)

    def node(self, number: int) -> int:
        return self.view.result.structure.by_operation[number]

    def shown(self) -> set[int]:
        structure = self.view.result.structure
        return {structure.nodes[node].operation for node in self.canvas.scene.place} - {None}

    def point(self, number: int, dx: float = 0.5, dy: float = 0.5) -> QPoint:
        """A point of a box, as parts of its width and height, in the canvas."""
        rect = self.canvas.scene.rect(self.node(number))
        at = QPointF(rect.left() + dx * rect.width(), rect.top() + dy * rect.height())
        return self.canvas.to_widget(at).toPoint()

    def click(self, at: QPoint) -> None:
        self.qtbot.mouseClick(self.canvas, Qt.MouseButton.LeftButton, pos=at)
        self.settle()

    def legend(self) -> str:
        return self.view.legend.accessibleDescription()

    def figures(self) -> NodeFigures:
        return self.view.shown_style.figures

    def trigger(self, text: str) -> None:
        """What a click on an entry of the view's menu does."""
        next(action for action in self.view.view_actions() if action.text() == text).trigger()
        self.settle()

    def title(self, number: int) -> QPoint:
        head = self.canvas.scene.header(self.node(number), self.canvas.visible_area())
        return self.canvas.to_widget(head.center()).toPoint()

    def key(self, key: Qt.Key | str, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        self.qtbot.keyClick(self.canvas, key, modifier)
        self.settle()

    def find(self, text: str) -> None:
        self.view.bar.search.setText(text)

    def search_key(self, key: Qt.Key) -> None:
        self.qtbot.keyClick(self.view.bar.search, key)
        self.settle()

    @property
    def operation(self) -> int | None:
        return self.session.selection.operation

    def image(self) -> QImage:
        QApplication.processEvents()
        return self.canvas.grab().toImage()

    def close(self) -> None:
        self.view.shut_down()
        self.bridge.close()
        self.view.close()
        self.view.deleteLater()


@pytest.fixture
def make_pane(qtbot):
    panes: list[Pane] = []

    def make(**options) -> Pane:
        panes.append(Pane(qtbot, **options))
        return panes[-1]

    yield make
    for pane in panes:
        pane.close()


@pytest.fixture
def pane(make_pane) -> Pane:
    return make_pane()


@pytest.fixture
def sample(pane) -> Pane:
    pane.open(RECIPE)
    return pane


class TestContent:
    def test_every_operation_of_the_sample_is_a_box_and_no_parameter_is(self, sample) -> None:
        assert sample.shown() == set(range(46))
        structure = sample.view.result.structure
        kinds = [structure.nodes[node].kind for node in sample.canvas.scene.place]
        assert kinds.count(NodeKind.INPUT) == 1
        assert sample.canvas.scene.picture.expanded.sum() == 1

    def test_shares_add_up_to_the_usage_of_the_worst_tile(self, sample) -> None:
        timeline, step = sample.session.timeline, sample.session.selection.step
        figures = sample.figures()
        worst = int(timeline.tiles.worst()[step, 2])
        held = sum(
            int(figures.bytes[node.index])
            for node in sample.view.result.structure.nodes
            if node.kind is NodeKind.OPERATION
        )
        assert held + figures.outside == worst == 79_872
        assert figures.outside == 0
        top = [node.index for node in sample.view.result.structure.nodes if node.region == 0]
        assert int(figures.bytes[top].sum()) == worst
        assert f"on tile 0, step {step}: 79,872 B" in sample.legend()

    def test_step_and_tile_change_the_figures(self, sample) -> None:
        sample.session.select_step(3)
        assert "step 3:" in sample.legend()
        sample.session.select_tiles((17,))
        assert "on tile 17, step 3:" in sample.legend()

    def test_the_first_view_shows_the_operation_of_the_peak(self, sample) -> None:
        running = sample.view.shown_style.running
        assert sample.view.result.structure.nodes[running].operation == 35
        rect = sample.canvas.transform().mapRect(sample.canvas.scene.rect(running))
        assert sample.canvas.rect().toRectF().contains(rect)

    def test_a_swapped_plan_is_marked(self, sample) -> None:
        sample.session.swap(0, 2)
        assert sample.canvas.scene.words[sample.node(0)].detail.startswith("* ")
        sample.session.undo()
        assert not sample.canvas.scene.words[sample.node(0)].detail.startswith("* ")

    def test_nothing_open_and_closing_again(self, sample) -> None:
        sample.session.open(None)
        assert sample.canvas.scene is None
        assert sample.legend() == ""
        assert sample.canvas.waiting.text() == "Nothing is open"
        sample.key(Qt.Key.Key_Down)
        sample.key("0")
        assert not sample.image().isNull()

    def test_a_hidden_view_catches_up_when_it_is_shown(self, sample) -> None:
        sample.view.hide()
        sample.session.select_step(5)
        assert "step 5:" not in sample.legend()
        sample.view.show()
        assert "step 5:" in sample.legend()

    def test_a_recipe_linked_to_a_timeline_gives_it_its_graph(self, pane) -> None:
        pane.open(SAMPLES / "vit3-64tiles.v3.timeline.json")
        assert pane.view.pages.currentWidget() is pane.view.steps
        pane.session.link(Document(RECIPE, open_file(RECIPE)))
        pane.settle()
        assert pane.shown() == set(range(46))
        assert "79,872 B" in pane.legend()
        pane.session.link(None)
        assert pane.view.pages.currentWidget() is pane.view.steps


class TestPicking:
    def test_a_click_selects_and_a_click_on_the_ground_clears(self, sample) -> None:
        sample.canvas.centre(sample.node(37))
        sample.click(sample.point(37))
        assert sample.operation == 37
        assert sample.canvas.marks.selected == sample.node(37)
        assert "37 " in sample.canvas.accessibleDescription() or "37:" in sample.canvas.accessibleDescription()
        sample.click(QPoint(3, sample.canvas.height() - 3))
        assert sample.operation is None

    def test_ports_cannot_be_selected(self, sample) -> None:
        port = next(node.index for node in sample.view.result.structure.nodes if node.kind is NodeKind.INPUT)
        sample.canvas.centre(port)
        sample.click(sample.canvas.to_widget(sample.canvas.scene.rect(port).center()).toPoint())
        assert sample.operation is None

    def test_a_drag_pans_and_selects_nothing(self, sample) -> None:
        sample.canvas.centre(sample.node(37))
        before = sample.point(37)
        sample.qtbot.mousePress(sample.canvas, Qt.MouseButton.LeftButton, pos=before)
        sample.qtbot.mouseMove(sample.canvas, before + QPoint(20, 10))
        sample.qtbot.mouseMove(sample.canvas, before + QPoint(60, 40))
        sample.qtbot.mouseRelease(sample.canvas, Qt.MouseButton.LeftButton, pos=before + QPoint(60, 40))
        assert (sample.point(37) - before - QPoint(60, 40)).manhattanLength() <= 2
        assert sample.operation is None

    def test_a_selection_from_elsewhere_is_brought_into_view(self, sample) -> None:
        sample.canvas.centre(sample.node(0), 1.0)
        sample.session.select_operation(45)
        assert sample.canvas.marks.selected == sample.node(45)
        assert sample.canvas.rect().contains(sample.point(45))

    def test_hover_is_told_and_shown(self, sample) -> None:
        told: list[tuple[object, object, object]] = []
        sample.bridge.hovered.connect(lambda *what: told.append(what))
        sample.canvas.centre(sample.node(37))
        sample.qtbot.mouseMove(sample.canvas, sample.point(37))
        assert told[-1] == (37, None, None)
        assert sample.canvas.marks.hovered == sample.node(37)
        sample.bridge.hovered.emit(38, None, None)
        assert sample.canvas.marks.hovered == sample.node(38)
        assert sample.operation is None

    def test_an_allocation_hovered_elsewhere_lights_up_the_operation_that_makes_it(self, sample) -> None:
        timeline = sample.session.timeline
        root = next(root for root in timeline.made_at if timeline.maker(root) == 35)
        sample.bridge.hovered.emit(None, root, None)
        assert sample.canvas.marks.hovered == sample.node(35)
        sample.bridge.hovered.emit(None, None, None)
        assert sample.canvas.marks.hovered is None

    def menu(self, pane, number: int, choose: str = "") -> list[str]:
        """The entries of the menu of a box, opened by the right button; one of them is chosen."""
        texts: list[str] = []

        def answer() -> None:
            menu = QApplication.activePopupWidget()
            texts.extend(action.text().replace("&", "") for action in menu.actions())
            for action in menu.actions():
                if action.text() == choose:
                    action.trigger()
            menu.close()

        QTimer.singleShot(0, answer)
        at = pane.point(number)
        event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, pane.canvas.mapToGlobal(at))
        QApplication.sendEvent(pane.canvas, event)
        return texts

    def test_the_menu_of_a_box_offers_what_one_does_with_the_operation(self, sample) -> None:
        asked: list[tuple[str, object]] = []
        sample.bridge.requested.connect(lambda name, argument: asked.append((name, argument)))
        sample.canvas.centre(sample.node(36))
        texts = self.menu(sample, 36, "Show alternatives")
        assert texts[:2] == ["Show alternatives", "Copy name"]
        assert "Copy picture" in texts
        assert sample.operation == 36
        assert asked == [("show_view", "alternatives")]
        sample.canvas.centre(sample.node(35))
        self.menu(sample, 35, "Copy name")
        assert QApplication.clipboard().text() == "op 35 FlashAttention"

    def test_the_tooltip_has_exact_figures_and_escapes_names(self, sample) -> None:
        sample.canvas.centre(sample.node(35))
        at = sample.point(35)
        event = QHelpEvent(QEvent.Type.ToolTip, at, sample.canvas.mapToGlobal(at))
        QApplication.sendEvent(sample.canvas, event)
        assert "61,952 B" in QToolTip.text()
        assert "35: FlashAttention" in QToolTip.text()
        QToolTip.hideText()
        pane = sample
        pane.open_graph(graph([operation(0, [0, 1], [2])], [2], [0], [1]))
        model = pane.session.graph
        inputs = tuple(dataclasses.replace(entry, name="<b>&x") for entry in model.inputs)
        pane.open_graph(dataclasses.replace(model, inputs=inputs))
        at = pane.point(0)
        QApplication.sendEvent(pane.canvas, QHelpEvent(QEvent.Type.ToolTip, at, pane.canvas.mapToGlobal(at)))
        assert "&lt;b&gt;&amp;x" in QToolTip.text()
        QToolTip.hideText()


class TestRepeats:
    def test_a_click_on_the_title_collapses_and_the_title_stays(self, sample) -> None:
        sample.canvas.centre(sample.node(24), 0.6)
        sample.canvas.pan(60, 30)
        before = sample.canvas.corner(sample.node(24))
        sample.click(sample.title(24))
        assert sample.shown() == {0, 1, 2, *range(24, 46)}
        assert sample.operation == 24
        after = sample.canvas.corner(sample.node(24))
        assert (after - before).manhattanLength() < 1
        sample.key(Qt.Key.Key_Return)
        assert sample.shown() == set(range(46))

    def test_a_selection_inside_a_collapsed_repeat_marks_the_repeat(self, sample) -> None:
        sample.trigger("Collapse all Repeats")
        sample.session.select_operation(12)
        marks = sample.canvas.marks
        assert (marks.selected, marks.holder) == (None, sample.node(24))
        sample.key(Qt.Key.Key_Return)
        assert sample.canvas.marks.selected == sample.node(12)

    def test_double_click_opens_a_collapsed_repeat(self, sample) -> None:
        sample.trigger("Collapse all Repeats")
        sample.canvas.centre(sample.node(24))
        sample.qtbot.mouseDClick(sample.canvas, Qt.MouseButton.LeftButton, pos=sample.point(24, 0.6))
        sample.settle()
        assert 3 in sample.shown()

    def test_the_title_stays_in_view_inside_a_tall_body(self, sample) -> None:
        sample.canvas.centre(sample.node(20), 1.0)
        assert sample.canvas.scene.rect(sample.node(24)).top() < sample.canvas.visible_area().top()
        assert sample.canvas.rect().contains(sample.title(24))
        sample.click(sample.title(24))
        assert 20 not in sample.shown()

    def test_nested_repeats_open_one_by_one(self, pane) -> None:
        inner = repeat(2, [20], [21], [operation(1, [30], [31])], [30], [31])
        pane.open_graph(graph([repeat(3, [0], [6], [inner], [20], [21])], [6]))
        assert pane.shown() == {1, 2, 3}
        pane.trigger("Collapse all Repeats")
        assert pane.shown() == {3}
        pane.view.toggle(pane.node(3))
        pane.settle()
        assert pane.shown() == {2, 3}
        pane.trigger("Expand all Repeats")
        assert pane.shown() == {1, 2, 3}


class TestKeys:
    def test_arrows_move_between_boxes(self, pane) -> None:
        # x0 ─ 0 ─┬ 1 ┬─ 3
        #         └ 2 ┘
        steps = [operation(0, [0], [1]), operation(1, [1], [2]), operation(2, [1], [3]), operation(3, [2, 3], [4])]
        pane.open_graph(graph(steps, [4]))
        walked = []
        for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Down):
            pane.key(key)
            walked.append(pane.operation)
        assert walked == [0, 1, 2, 1, 3]
        pane.key(Qt.Key.Key_Up)
        assert pane.operation in (1, 2)

    def test_down_leads_from_the_foot_of_a_column_to_the_head_of_the_next(self, pane, monkeypatch) -> None:
        monkeypatch.setattr(coordinates, "LEAST_HEIGHT", 500.0)
        pane.open_graph(graph([operation(at, [at], [at + 1]) for at in range(60)], [60]))
        tops = [pane.canvas.scene.rect(pane.node(number)).top() for number in range(60)]
        head = next(number for number in range(1, 60) if tops[number] < tops[number - 1])
        pane.session.select_operation(head - 1)
        pane.key(Qt.Key.Key_Down)
        assert pane.operation == head
        assert pane.canvas.rect().contains(pane.point(head))
        pane.key(Qt.Key.Key_Up)
        assert pane.operation == head - 1
        # The graph opens at its first column, though all begin at one height.
        pane.session.select_operation(None)
        pane.open_graph(graph([operation(at, [at], [at + 1]) for at in range(61)], [61]))
        assert pane.canvas.rect().contains(pane.point(0))

    def test_producers_and_consumers(self, pane) -> None:
        pane.open_graph(transformer())
        pane.session.select_operation(5)
        pane.key("[")
        assert pane.operation == 0
        assert pane.messages[-1] == "Producers of operation 5: 0, 5, 4"
        pane.key("{", Qt.KeyboardModifier.ShiftModifier)
        pane.key("{", Qt.KeyboardModifier.ShiftModifier)
        assert pane.operation == 4
        pane.session.select_operation(6)
        pane.key("]")
        assert pane.operation == 7
        pane.key("]")
        assert pane.messages[-1] == "Operation 7 has no consumer"

    def test_zoom_fit_and_centre(self, sample) -> None:
        sample.key("0")
        whole = sample.canvas.scale
        corners = sample.canvas.transform().mapRect(sample.canvas.scene.bounds)
        assert sample.canvas.rect().toRectF().contains(corners)
        sample.key("+")
        assert sample.canvas.scale == pytest.approx(whole * 1.25)
        sample.key("-")
        assert sample.canvas.scale == pytest.approx(whole)
        sample.session.select_operation(20)
        sample.key("f")
        assert (sample.point(20) - sample.canvas.rect().center()).manhattanLength() < 4
        assert sample.canvas.scale >= 0.75
        sample.qtbot.mouseDClick(sample.canvas, Qt.MouseButton.LeftButton, pos=QPoint(2, sample.canvas.height() - 2))
        assert sample.canvas.scale == pytest.approx(whole)

    def test_w_a_s_d_zoom_and_move(self, sample) -> None:
        sample.canvas.centre(sample.node(35), 1.0)
        before = sample.point(35)
        sample.key("w")
        assert sample.canvas.scale == pytest.approx(1.25)
        sample.key("s")
        assert sample.canvas.scale == pytest.approx(1.0)
        assert (sample.point(35) - before).manhattanLength() <= 2
        sample.key("a")
        assert sample.point(35).x() - before.x() == pytest.approx(0.2 * sample.canvas.width(), abs=2)
        sample.key("d")
        assert (sample.point(35) - before).manhattanLength() <= 2

    def test_pages_scroll(self, sample) -> None:
        before = sample.point(35)
        sample.key(Qt.Key.Key_PageDown)
        assert sample.point(35).y() - before.y() == pytest.approx(-0.8 * sample.canvas.height(), abs=2)
        sample.key(Qt.Key.Key_PageUp)
        assert (sample.point(35) - before).manhattanLength() <= 2

    def test_the_wheel_zooms_about_the_pointer(self, sample) -> None:
        at = QPointF(200, 150)
        before = sample.canvas.to_picture(at)
        event = QWheelEvent(
            at,
            sample.canvas.mapToGlobal(at),
            QPoint(),
            QPoint(0, 120),
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(sample.canvas, event)
        after = sample.canvas.to_picture(at)
        # What is under the pointer stays there; it is drawn at whole pixels.
        assert (after - before).manhattanLength() * sample.canvas.scale <= 1.0

    def test_keys_are_kept_from_the_window(self, sample) -> None:
        from PySide6.QtGui import QKeyEvent

        def claims(key: Qt.Key, text: str = "", modifiers=Qt.KeyboardModifier.NoModifier) -> bool:
            event = QKeyEvent(QEvent.Type.ShortcutOverride, key, modifiers, text)
            event.ignore()
            QApplication.sendEvent(sample.canvas, event)
            return event.isAccepted()

        assert claims(Qt.Key.Key_Left)
        assert claims(Qt.Key.Key_BracketLeft, "[")
        assert not claims(Qt.Key.Key_Left, modifiers=Qt.KeyboardModifier.ShiftModifier)
        assert not claims(Qt.Key.Key_P, "p")
        assert not claims(Qt.Key.Key_Z, "z", Qt.KeyboardModifier.ControlModifier)


class TestOverview:
    def test_it_names_what_is_at_fault_and_marks_it_in_red(self, pane) -> None:
        pane.open(OVER)
        overview = pane.view.overview
        assert overview.accessibleDescription() == "op 21: 29.8 KiB over; op 4: 14.4 KiB over"
        image = overview.grab().toImage()
        red = pane.bridge.theme.color("over")

        def at(number: int) -> QColor:
            spot = overview.place(pane.node(number)).center()
            return image.pixelColor(int(spot.x()), int(spot.y()))

        assert at(21) == at(4) == red
        assert at(2) == at(10) == at(45) == pane.bridge.theme.color("baseline")
        ticks = [overview.place(pane.node(number)).top() for number in (0, 3, 21, 23, 25, 45)]
        assert ticks == sorted(ticks)
        # The Repeat is drawn around its body: it has no tick of its own.
        assert overview.place(pane.node(24)).isEmpty()
        pane.trigger("Collapse all Repeats")
        assert overview.accessibleDescription() == "op 21: op 21: 29.8 KiB over"
        assert overview.place(pane.node(21)).isEmpty()
        assert not overview.place(pane.node(24)).isEmpty()

    def test_a_press_leads_there_and_the_part_in_view_follows(self, sample) -> None:
        overview = sample.view.overview
        sample.key("0")
        whole = overview.grab().toImage()
        for number in (2, 40):
            at = overview.place(sample.node(number)).center().toPoint()
            sample.qtbot.mouseClick(overview, Qt.MouseButton.LeftButton, pos=at)
            assert (sample.point(number) - sample.canvas.rect().center()).manhattanLength() < 4
        sample.key("f")
        assert overview.grab().toImage() != whole

    def test_it_gives_way_in_a_narrow_view(self, make_pane) -> None:
        assert not make_pane(size=(260, 300)).view.overview.isVisible()
        assert make_pane(size=(700, 300)).view.overview.isVisible()


class TestSearch:
    def test_matches_are_marked_and_the_first_comes_into_view_while_one_types(self, sample) -> None:
        sample.key(Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
        assert sample.view.bar.search.hasFocus()
        sample.qtbot.keyClicks(sample.view.bar.search, "gelu")
        assert sample.view.bar.count.text() == "1 of 2"
        assert sample.canvas.marks.found == {sample.node(20), sample.node(42)}
        assert sample.operation is None
        assert sample.canvas.rect().contains(sample.point(20))
        sample.search_key(Qt.Key.Key_Return)
        assert sample.operation == 20
        sample.search_key(Qt.Key.Key_Return)
        assert sample.operation == 42
        sample.search_key(Qt.Key.Key_Up)
        assert sample.operation == 20
        sample.search_key(Qt.Key.Key_Escape)
        assert sample.view.bar.search.text() == ""
        assert sample.canvas.marks.found is None

    def test_numbers_come_first_and_parameters_are_searched(self, sample) -> None:
        sample.find("4")
        assert sample.view.matches[0] == sample.node(4)
        sample.find("embedding.weight")
        assert sample.view.matches == (sample.node(0),)
        sample.find("no such thing")
        assert sample.view.bar.count.text() == "none"
        assert sample.canvas.marks.found == frozenset()

    def test_a_match_in_a_collapsed_repeat_opens_it(self, sample) -> None:
        sample.trigger("Collapse all Repeats")
        sample.find("12")
        assert sample.canvas.marks.found == {sample.node(24)}
        sample.search_key(Qt.Key.Key_Return)
        assert sample.operation == 12
        assert sample.canvas.marks.selected == sample.node(12)


class TestNeighbourhood:
    def test_only_what_is_near(self, sample) -> None:
        sample.session.select_operation(35)
        sample.view.bar.distance.setValue(1)
        sample.key("h")
        assert sample.shown() == {32, 33, 34, 35, 36}
        assert "at most 1 away from operation 35" in sample.legend()
        sample.view.bar.distance.setValue(2)
        sample.settle()
        assert sample.shown() == {29, 30, 31, 32, 33, 34, 35, 36, 37}
        sample.session.select_operation(45)
        sample.settle()
        assert 45 in sample.shown()
        assert 35 not in sample.shown()
        sample.key("h")
        assert sample.shown() == set(range(46))
        assert not sample.view.bar.near.isChecked()

    def test_a_body_is_shown_inside_its_repeat(self, sample) -> None:
        sample.session.select_operation(20)
        sample.view.bar.distance.setValue(1)
        sample.key("h")
        assert sample.shown() == {19, 20, 21, 24}

    def test_without_a_selection_it_says_so(self, pane) -> None:
        pane.open_graph(transformer())
        pane.view.bar.near.click()
        assert pane.messages[-1] == "Select an operation first"
        assert not pane.view.bar.near.isChecked()


class TestColours:
    def probe(self, pane, number: int, dx: float = 0.02, dy: float = 0.5) -> QColor:
        """The colour at a place of a box, at its left edge by default."""
        image = pane.image()
        ratio = image.devicePixelRatio()
        at = pane.point(number, dx, dy)
        return QColor(image.pixel(int(at.x() * ratio), int(at.y() * ratio)))

    def bar_colours(self, pane, number: int, part: int) -> list[str]:
        """The colours along the middle of the plain (0) or striped (1) part of a box's bar."""
        image, scene = pane.image(), pane.canvas.scene
        bar = pane.canvas.transform().mapRect(scene.bar(pane.node(number), Detail.ALL)[part])
        y = int(bar.center().y())
        return [QColor(image.pixel(x, y)).name() for x in range(int(bar.left()) + 2, int(bar.right()) - 2)]

    @pytest.mark.parametrize("theme", ["light", "dark"])
    def test_bars_have_the_colour_of_the_operation_and_the_length_of_the_share(self, make_pane, theme) -> None:
        pane = make_pane(theme=theme)
        pane.open(OVER)
        colours = [QColor(text).name() for text in pane.bridge.theme.categories]
        pane.canvas.centre(pane.node(21), 1.0)
        assert set(self.bar_colours(pane, 21, 0)) == {colours[0]}
        assert set(self.bar_colours(pane, 21, 1)) == {pane.bridge.theme.color("border").name()}
        made, read = pane.canvas.scene.bar(pane.node(21), Detail.ALL)
        # Of 568,312 B on the fullest tile the plan makes 240,896 and 27 parameters of 3,584 are read.
        whole = pane.canvas.scene.rect(pane.node(21)).width() - 6
        assert made.width() / whole == pytest.approx(240_896 / 568_312)
        assert read.width() / whole == pytest.approx(27 * 3584 / 568_312)
        assert read.left() == pytest.approx(made.right())
        # What is read is lower, so that it differs without colour.
        assert read.height() < 0.7 * made.height()
        assert read.bottom() == pytest.approx(made.bottom())
        pane.session.select_step(20)
        pane.canvas.centre(pane.node(4), 1.0)
        assert set(self.bar_colours(pane, 4, 0)) == {colours[1]}

    def test_bytes_belong_to_the_operation_whose_plan_makes_them(self, pane) -> None:
        pane.open(OVER)
        style = pane.view.shown_style
        said = {number: style.share_text(pane.node(number)) for number in (18, 19, 20, 21, 22)}
        assert said == {18: "0.0 %", 19: "0.0 %", 20: "0.0 %", 21: "42.4 %", 22: "0.0 %"}
        assert style.read_text(pane.node(21)) == "param 17.0 %"
        assert pane.canvas.scene.words[pane.node(21)].title == "21 Gemm"
        assert pane.canvas.scene.words[pane.node(21)].detail == "grid 8 × 36 × 5, F8"
        assert "no box" not in pane.legend()
        tip = "\n".join(pane.canvas.tip(pane.node(21)))
        assert "Makes 235.3 KiB (240,896 B) on tile 174 at step 69, 42.4 % of 568,312 B" in tip
        assert "The parameters and inputs it reads hold 94.5 KiB (96,768 B) there, 17.0 % of 568,312 B" in tip
        # The Repeat around adds up its body: 42.6 % made, 53.5 % parameters.
        around = pane.node(24)
        assert (style.share_text(around), style.read_text(around)) == ("42.6 %", "params 53.5 %")

    def test_the_operations_at_fault_say_by_how_much_and_the_worst_is_looked_at(self, pane) -> None:
        pane.open(OVER)
        style = pane.view.shown_style
        faults = {number: style.over_text(pane.node(number)) for number in (4, 20, 21, 24)}
        assert faults == {4: "14.4 KiB over", 20: "", 21: "29.8 KiB over", 24: "op 21: 29.8 KiB over"}
        assert pane.view.first_focus() == pane.node(21)
        assert pane.canvas.rect().contains(pane.point(21))
        pane.session.select_step(3)
        pane.canvas.centre(pane.node(0))
        pane.key("f")
        assert (pane.point(21) - pane.canvas.rect().center()).manhattanLength() < 4

    @pytest.mark.parametrize("scale", [0.05, 0.3, 0.5, 1.0])
    def test_bars_are_seen_at_every_zoom(self, sample, scale) -> None:
        sample.canvas.centre(sample.node(35), scale)
        image = sample.image()
        style = sample.view.shown_style
        most = QColor(*style.shades[style.shade[sample.node(35)]].tolist())
        rect = sample.canvas.transform().mapRect(sample.canvas.scene.rect(sample.node(35))).toRect()
        found = [
            QColor(image.pixel(x, y)) == most
            for x in range(rect.left(), rect.right() + 1)
            for y in range(rect.top(), rect.bottom() + 1)
        ]
        assert any(found)

    def test_by_step(self, sample) -> None:
        sample.view.bar.colours.setCurrentIndex(2)
        sample.view.bar.colours.activated.emit(2)
        assert sample.view.mode is ColourMode.STEP
        sample.canvas.centre(sample.node(35), 1.0)
        assert self.probe(sample, 36) == sample.bridge.theme.color("background")
        sample.canvas.centre(sample.node(0), 1.0)
        assert self.probe(sample, 0) == sample.bridge.theme.color("border")
        step = sample.session.selection.step
        assert sample.session.timeline.steps[step].kind == "Product"
        assert sample.legend().startswith(f"Step {step}: Product, runs at this step")
        sample.key("c")
        assert sample.view.mode is ColourMode.SHARE
        assert sample.view.bar.colours.currentIndex() == 0

    def test_by_cycles(self, pane) -> None:
        pane.open(OVER)
        pane.key("c")
        assert pane.view.mode is ColourMode.CYCLES
        cycles = pane.session.estimate.cycles
        prices = cycles.operations()
        style, node = pane.view.shown_style, pane.node(21)
        assert int(style.figures.bytes[node]) == prices[21].cycles
        assert style.share_text(node) == f"{100 * prices[21].cycles / cycles.total:.1f} %"
        assert style.read_text(node) == f"exchange {100 * prices[21].exchange / cycles.total:.1f} %"
        assert f"{prices[21].cycles:,} of the planner's cycles" in pane.canvas.tip(node)[-1]
        whole = pane.canvas.scene.rect(node).width() - 6
        made, read = pane.canvas.scene.bar(node, Detail.ALL)
        assert (made.width() + read.width()) / whole == pytest.approx(prices[21].cycles / cycles.total)
        boxes = [one.index for one in style.structure.nodes if one.region == 0]
        assert int(style.figures.bytes[boxes].sum()) + style.figures.outside == cycles.total
        assert "exchange" in pane.legend()

    def test_what_the_compiler_fuses_says_in_whose_step_it_went(self, pane) -> None:
        pane.open(OVER)
        went = fusion_facts(pane.session.estimate).went_into
        details = {one: pane.canvas.scene.words[pane.node(one)].detail for one in range(46)}
        said = {number: text for number, text in details.items() if "in the step of" in text}
        assert said == {number: f"in the step of op {other}" for number, other in went.items()}

    @pytest.mark.parametrize("theme", ["light", "dark"])
    @pytest.mark.parametrize("scale", [0.3, 1.0])
    def test_states_of_a_step_differ_without_colour(self, make_pane, theme, scale) -> None:
        pane = make_pane(theme=theme)
        pane.open(OVER)
        pane.view.set_mode(ColourMode.STEP)
        structure, states = pane.view.result.structure, pane.view.shown_style.states

        def light(state: StepState) -> tuple[list[float], int]:
            """Luminance down the left part of a box in a state, and how often it changes along its upper border."""
            operations = [node for node in structure.nodes if node.kind is NodeKind.OPERATION]
            node = next(node.index for node in operations if states[node.index] == state)
            pane.canvas.centre(node, scale)
            image = pane.image()
            rect = pane.canvas.transform().mapRect(pane.canvas.scene.rect(node))
            x, y = int(rect.left()) + 5, round(rect.top())
            rows, columns = range(int(rect.top()) + 3, int(rect.bottom())), range(int(rect.left()) + 8, int(x + 45))
            down = [relative_luminance(image.pixelColor(x, at).getRgb()[:3]) for at in rows]
            changes = []
            for row in (y - 1, y, y + 1):
                along = [relative_luminance(image.pixelColor(at, row).getRgb()[:3]) for at in columns]
                changes.append(sum(abs(a - b) > 0.02 for a, b in itertools.pairwise(along)))
            return down, max(changes)

        coming, idle, done, holds, runs = (
            light(state)
            for state in (StepState.COMING, StepState.IDLE, StepState.DONE, StepState.HOLDS, StepState.RUNS)
        )
        ground = coming[0][0]
        # Filled or not, and how dark; a band below what holds memory; a dotted frame around what makes no step.
        assert idle[0][0] == ground
        fills = sorted(state[0][0] for state in (coming, done, runs))
        assert all((high + 0.05) / (low + 0.05) > 1.3 for low, high in itertools.pairwise(fills))
        assert max(holds[0]) - min(holds[0]) > 0.15
        assert max(done[0][:-4]) - min(done[0][:-4]) < 0.02
        assert idle[1] > coming[1] + 5

    def test_the_selected_box_has_a_double_outline_in_any_theme(self, sample) -> None:
        sample.session.select_operation(36)
        sample.canvas.centre(sample.node(36), 1.0)
        image = sample.image()
        rect = sample.canvas.transform().mapRect(sample.canvas.scene.rect(sample.node(36)))
        y = int(rect.center().y())
        band = [QColor(image.pixel(int(rect.left()) - out, y)).lightness() for out in range(1, 10)]
        # From the box outwards: a band of background, then a dark line at least two pixels wide.
        assert max(band[:3]) > 200
        assert sum(light < 80 for light in band) >= 2

    def test_unknown_operations_are_dashed_and_listed(self, pane) -> None:
        pane.open_graph(transformer())
        assert pane.canvas.scene.words[pane.node(7)].title == "? 7 Sort"
        assert "dashed" in pane.legend()
        assert pane.view.bar.remarks.text() == "! 1"
        pane.canvas.centre(pane.node(7), 1.0)
        image = pane.image()
        rect = pane.canvas.transform().mapRect(pane.canvas.scene.rect(pane.node(7)))
        warning = pane.bridge.theme.color("warning")
        y = int(rect.top())
        line = [QColor(image.pixel(x, y)) for x in range(int(rect.left()) + 12, int(rect.right()) - 12)]
        near = [abs(color.lightness() - warning.lightness()) < 40 for color in line]
        assert any(near)
        assert not all(near)
        action = pane.view.bar.remarks.menu().actions()[0]
        action.trigger()
        assert pane.operation == 7

    def test_the_theme_changes_everything(self, sample) -> None:
        sample.bridge.set_theme(load_theme("dark"))
        image = sample.image()
        assert QColor(image.pixel(3, image.height() - 3)).lightness() < 60


class TestOddGraphs:
    def test_cycles_loops_duplicates_and_dangling_values_are_drawn_and_named(self, pane) -> None:
        steps = [operation(0, [3, 3], [1]), operation(1, [1, 2], [2]), operation(2, [2, 99], [3])]
        pane.open_graph(graph(steps, [3]))
        assert pane.shown() == {0, 1, 2}
        texts = [action.text() for action in pane.view.bar.remarks.menu().actions()]
        assert any("closes a cycle" in text for text in texts)
        assert any("reads its own result" in text for text in texts)
        assert any("nothing produces" in text for text in texts)
        assert not pane.image().isNull()

    def test_an_empty_graph(self, pane) -> None:
        pane.open_graph(graph([], [], []))
        assert pane.shown() == set()
        pane.key("0")
        pane.key(Qt.Key.Key_Down)
        assert not pane.image().isNull()


class TestLargeGraphs:
    def test_the_window_waits_for_no_layout_and_the_next_one_takes_its_place(self, pane, monkeypatch) -> None:
        threads: list[threading.Thread] = []
        real = graph_layouts.lay_out_graph

        def watching(request, token=None):
            threads.append(threading.current_thread())
            return real(request, token)

        monkeypatch.setattr(graph_layouts, "lay_out_graph", watching)
        pane.open_graph(generated(900), wait=False)
        assert pane.view.is_busy()
        pane.open_graph(generated(40))
        assert pane.shown() == set(range(40))
        assert threading.main_thread() not in threads

    def test_garbage_is_not_collected_on_the_thread(self, pane, monkeypatch) -> None:
        assert gc.isenabled()
        seen: list[bool] = []
        real = graph_layouts.lay_out_graph

        def watching(request, token=None):
            seen.append(gc.isenabled())
            return real(request, token)

        monkeypatch.setattr(graph_layouts, "lay_out_graph", watching)
        pane.open_graph(generated(40))
        pane.qtbot.waitUntil(gc.isenabled, timeout=5_000)
        assert seen == [False]

    def test_closing_in_the_middle_ends_the_thread(self, make_pane) -> None:
        pane = make_pane()
        pane.open_graph(generated(2_000), wait=False)
        assert pane.view.is_busy()
        pane.view.shut_down()
        assert not pane.view.is_busy()
        assert pane.view.result is None
        assert gc.isenabled()

    def test_a_failing_layout_is_told(self, pane, monkeypatch) -> None:
        def broken(request, token=None):
            raise RuntimeError("no paper")

        monkeypatch.setattr(graph_layouts, "lay_out_graph", broken)
        told = []
        pane.view.bridge.fault.connect(lambda summary, details: told.append((summary, details)))
        pane.open_graph(generated(40))
        ((summary, details),) = told
        assert summary == "The graph could not be laid out: RuntimeError: no paper"
        assert details.startswith("Traceback")

    def test_every_zoom_draws(self, pane) -> None:
        pane.open_graph(generated(280, skips=0.5))
        for scale in (0.01, 0.1, 0.3, 0.5, 1.0, 3.0):
            pane.canvas.centre(pane.node(140), scale)
            image = pane.image()
            assert len({image.pixel(x, y) for x in range(0, image.width(), 3) for y in range(0, image.height(), 3)}) > 2


def pairs(count: int = 2) -> Graph:
    """Repeats of a body of two operations, one after the other."""
    steps = []
    for number in range(count):
        first = 1000 + 10 * number
        body = [operation(2 * number + at, [first + at], [first + at + 1]) for at in (0, 1)]
        steps.append(repeat(100 + number, [number], [number + 1], body, [first], [first + 2]))
    return graph(steps, [count])


class Held:
    """Layouts on the thread wait until they are let go, or cancelled."""

    def __init__(self, monkeypatch) -> None:
        self.monkeypatch = monkeypatch
        self.go = threading.Event()
        self.asked: list[graph_layouts.LayoutRequest] = []
        real = graph_layouts.lay_out_graph

        def waiting(request, token=None):
            self.asked.append(request)
            while not self.go.wait(0.005):
                if token.cancelled():
                    raise LayoutCancelled
            return real(request, token)

        monkeypatch.setattr(graph_layouts, "lay_out_graph", waiting)

    def finish(self, pane) -> None:
        self.go.set()
        pane.settle()
        self.go.clear()


@pytest.fixture
def held(monkeypatch) -> Held:
    return Held(monkeypatch)


class TestStoppingAndChangingOnesMind:
    def test_the_first_layout_is_stopped_and_asked_for_again(self, pane, held) -> None:
        pane.open_graph(generated(40), wait=False)
        assert pane.view.is_busy()
        pane.key(Qt.Key.Key_Escape)
        assert not pane.view.is_busy()
        assert pane.view.result is None
        assert not pane.image().isNull()
        held.go.set()
        pane.key("0")
        held.finish(pane)
        assert pane.shown() == set(range(40))

    def test_a_click_on_the_button_stops_and_starts_again_too(self, pane, held) -> None:
        pane.open_graph(generated(40), wait=False)
        assert pane.canvas.waiting.text() == "Laying out …  Esc stops"
        pane.canvas.waiting.click()
        assert not pane.view.is_busy()
        pane.canvas.waiting.click()
        assert pane.view.is_busy()
        held.finish(pane)
        assert pane.shown() == set(range(40))

    def test_a_stopped_change_leaves_the_graph_as_it_was(self, pane, held) -> None:
        pane.open_graph(pairs(), wait=False)
        held.finish(pane)
        before = pane.shown()
        pane.view.collapse_all()
        pane.key(Qt.Key.Key_Escape)
        assert (pane.shown(), pane.view.is_busy()) == (before, False)
        assert "stopped" in pane.messages[-1]
        pane.session.select_operation(1)
        pane.qtbot.keyClick(pane.canvas, "h")
        assert pane.view.around == 1
        assert "only operations" not in pane.legend()
        pane.key(Qt.Key.Key_Escape)
        assert pane.view.around is None
        assert not pane.view.bar.near.isChecked()
        assert pane.shown() == before

    def test_escape_is_the_windows_while_nothing_is_laid_out(self, sample) -> None:
        event = QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier)
        event.ignore()
        QApplication.sendEvent(sample.canvas, event)
        assert not event.isAccepted()

    def test_two_repeats_opened_one_right_after_the_other(self, pane, held) -> None:
        pane.open_graph(pairs(3), wait=False)
        held.finish(pane)
        for number in (100, 102):
            pane.view.toggle(pane.node(number))
        held.finish(pane)
        assert pane.view.result.collapsed == {pane.node(100), pane.node(102)}

    def test_another_file_opens_at_its_own_place(self, pane, held) -> None:
        pane.open_graph(pairs(3), wait=False)
        held.finish(pane)
        pane.view.toggle(pane.node(102))
        pane.open_graph(pairs(2), wait=False)
        held.finish(pane)
        assert pane.canvas.is_opening
        assert pane.shown() == {0, 1, 2, 3, 100, 101}

    def test_what_is_typed_before_the_graph_is_there_is_found_in_it(self, pane, held) -> None:
        pane.open_graph(generated(40), wait=False)
        pane.qtbot.keyClicks(pane.view.bar.search, "37")
        assert pane.canvas.marks.found in (None, frozenset())
        held.finish(pane)
        assert pane.canvas.marks.found == {pane.node(37)}
        assert pane.view.bar.count.text() == "1 of 1"

    def test_siblings_are_those_of_what_was_followed(self, pane) -> None:
        steps = [operation(0, [0], [1]), operation(1, [0], [2]), operation(2, [1, 2], [3]), operation(3, [3], [4])]
        pane.open_graph(graph(steps, [4]))
        pane.session.select_operation(2)
        pane.key("[")
        assert pane.operation == 0
        pane.key("}")
        assert pane.operation == 1
        pane.session.select_operation(3)
        pane.key("}")
        assert pane.operation == 3
        assert pane.messages[-1] == "Press [ or ] first"


class TestExport:
    def test_svg_holds_all_titles(self, sample) -> None:
        root = ElementTree.fromstring(svg_bytes(picture_of(sample.view, whole=True)))
        texts = [element.text or "" for element in root.iter() if element.tag.endswith("text")]
        for title in ("0 Gemm", "24 Repeat ×3", "35 FlashAttention", "45 Add"):
            assert title in texts
        assert any("79,872 B" in text for text in texts)

    def test_a_timeline_alone_offers_no_whole_graph(self, pane) -> None:
        pane.open(TIMELINE)
        assert pane.view.whole_name == ""
        assert pane.view.has_table()
        pane.open(RECIPE)
        assert pane.view.whole_name == "graph"
        assert not pane.view.has_table()


class TestSteps:
    def test_a_timeline_alone_shows_its_steps(self, pane) -> None:
        pane.open(TIMELINE)
        steps = pane.view.steps
        assert pane.view.pages.currentWidget() is steps
        assert steps.model.rowCount() == 4
        QAbstractItemModelTester(steps.model, QAbstractItemModelTester.FailureReportingMode.Fatal, steps.model)
        texts = [steps.model.index(row, 2).data() for row in range(4)]
        assert [text.split(" ")[0] for text in texts] == ["Convert", "Copy", "Gemm", "Sum"]
        assert pane.view.table_csv().count("\n") >= 4

    def test_selecting_a_row_selects_the_step(self, pane) -> None:
        pane.open(TIMELINE)
        table = pane.view.steps.table
        at = table.visualRect(pane.view.steps.model.index(2, 1)).center()
        pane.qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=at)
        assert pane.session.selection.step == 2
        assert pane.session.selection.operation == 0
        pane.session.select_step(3)
        assert table.current_key() == 3

    def test_searching_steps(self, pane) -> None:
        pane.open(TIMELINE)
        pane.view.find_operation()
        pane.view.steps.search.setText("sum")
        assert pane.view.steps.model.rowCount() == 1
        pane.qtbot.keyClick(pane.view.steps.search, Qt.Key.Key_Return)
        assert pane.session.selection.step == 3


def test_everything_has_a_name_for_screen_readers(sample) -> None:
    view = sample.view
    widgets = [view, view.canvas, view.legend, view.steps.table, view.steps.search, view.bar.search, view.bar.colours]
    widgets += [view.bar.near, view.bar.distance, view.bar.more, view.bar.remarks, view.bar.count]
    assert all(widget.accessibleName() for widget in widgets)
    assert all(action.text() for action in view.view_actions())


@pytest.mark.parametrize("size", [(240, 200), (1200, 900)])
def test_the_legend_wraps_and_nothing_overlaps(make_pane, size) -> None:
    pane = make_pane(size=size)
    pane.open(RECIPE)
    QApplication.processEvents()
    legend, canvas = pane.view.legend, pane.canvas
    assert legend.height() == legend.heightForWidth(legend.width())
    assert canvas.geometry().bottom() < legend.geometry().top()
    assert pane.view.bar.geometry().bottom() < canvas.geometry().top()
    bar = pane.view.bar
    shown = [widget for widget in (bar.search, bar.colours, bar.near, bar.distance, bar.more) if widget.isVisible()]
    assert bar.search in shown
    assert all(bar.rect().contains(widget.geometry()) for widget in shown)


def test_in_the_window_the_keys_belong_to_where_the_focus_is(driver, over) -> None:
    driver.open(over)
    view = driver.window.docks.show_view("graph")
    driver.qtbot.waitUntil(lambda: view.canvas.hasFocus() and not view.is_busy())
    step = driver.session.selection.step
    assert driver.session.selection.operation == 21
    driver.qtbot.keyClick(view.canvas, Qt.Key.Key_Up)
    assert (driver.session.selection.step, driver.session.selection.operation) == (step, 20)
    driver.qtbot.keyClick(view.canvas, "0")
    assert view.canvas.transform().mapRect(view.canvas.scene.bounds).height() < view.canvas.height()
    driver.trigger("centre")
    assert (view.canvas.to_widget(view.canvas.scene.rect(view.selected_node).center()).y()) == pytest.approx(
        view.canvas.height() / 2, abs=2
    )
    driver.trigger("find")
    driver.qtbot.waitUntil(view.bar.search.hasFocus)
