"""The surface the graph is drawn on: what is drawn anew, and that it looks the same as when all of it is."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPointF, QRectF, QSizeF
from PySide6.QtGui import QFont, QImage, QPixmap
from PySide6.QtWidgets import QApplication

from tests.helpers.graphs import generated, graph, operation, transformer
from tileview.graphlayout import Structure, layout_graph, read_structure
from tileview.model.graph import Graph
from tileview.present.graph_boxes import ColourMode, GraphStyle, graph_style, no_figures, no_marks, node_words
from tileview.qt.base.painting import painting
from tileview.qt.base.theme import load_theme
from tileview.qt.views.graph.boxes import Lettering, Letters
from tileview.qt.views.graph.canvas import Backing, GraphCanvas, Viewport
from tileview.qt.views.graph.scene import GraphScene, Highlight


def plain(structure: Structure, mode: ColourMode = ColourMode.SHARE) -> GraphStyle:
    """A style without figures."""
    return graph_style(structure, no_figures(structure), no_marks(structure), mode, [(9, 9, 9)] * 5)


def scene_of(model: Graph, theme: str = "light") -> GraphScene:
    structure = read_structure(model)
    words = node_words(structure, model, {})
    return GraphScene(
        structure, layout_graph(structure), words, plain(structure), load_theme(theme), QApplication.font()
    )


@pytest.fixture
def make_canvas(qtbot):
    def make(model: Graph) -> GraphCanvas:
        canvas = GraphCanvas(load_theme("light"))
        qtbot.addWidget(canvas)
        canvas.resize(500, 400)
        canvas.set_scene(scene_of(model))
        canvas.show()
        qtbot.waitExposed(canvas)
        canvas.fit()
        return canvas

    return make


def pixels(canvas: GraphCanvas) -> np.ndarray:
    image = canvas.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.width(), 4)
    return rows[:, :, :3].astype(np.int64)


@pytest.fixture
def drawn(monkeypatch) -> list[QRectF]:
    """The parts of the ground (of the picture) that are drawn."""
    found: list[QRectF] = []
    real = GraphScene.paint_ground

    def watching(self, painter, area, scale, marks):
        found.append(QRectF(area))
        real(self, painter, area, scale, marks)

    monkeypatch.setattr(GraphScene, "paint_ground", watching)
    return found


class TestMoving:
    @pytest.mark.parametrize("scale", [0.05, 0.3, 0.5, 1.0])
    def test_what_has_moved_looks_as_if_drawn_anew(self, make_canvas, scale) -> None:
        canvas = make_canvas(generated(280, seed=2, skips=0.4, reach=60))
        canvas.centre(140, scale)
        pixels(canvas)
        for dx, dy in ((9, 6), (-30, 4), (0, -90), (3, 0), (-7, -7), (1.4, 2.6)):
            canvas.pan(dx, dy)
            moved = pixels(canvas)
        canvas.set_scene(canvas.scene)
        anew = pixels(canvas)
        # Smoothed lines differ by a shade where they were cut at the border of what was drawn.
        differ = np.abs(moved - anew).max(axis=2)
        assert (differ > 40).mean() < 1e-3
        assert (differ > 0).mean() < 0.02
        assert (anew != anew[0, 0]).any()

    def test_only_what_comes_into_view_is_drawn(self, make_canvas, drawn) -> None:
        canvas = make_canvas(generated(280))
        canvas.centre(140, 0.5)
        canvas.grab()
        drawn.clear()
        canvas.grab()
        assert drawn == []
        canvas.pan(10, -20)
        canvas.grab()
        # A strip of 10 at the left and one of 20 below, in units of the picture, and 4 pixels around each.
        sizes = sorted((round(area.width()), round(area.height())) for area in drawn)
        assert sizes == [((10 + 8) * 2, (400 + 8) * 2), ((490 + 8) * 2, (20 + 8) * 2)]
        drawn.clear()
        canvas.pan(900, 0)
        canvas.grab()
        assert [round(area.width()) for area in drawn] == [1016]

    def test_hovering_draws_outlines_only(self, make_canvas, drawn) -> None:
        canvas = make_canvas(generated(40))
        plain = pixels(canvas)
        drawn.clear()
        canvas.set_marks(Highlight(hovered=7))
        assert (pixels(canvas) != plain).any()
        assert drawn == []
        canvas.set_marks(Highlight())
        assert (pixels(canvas) == plain).all()

    @pytest.mark.parametrize("change", ["selection", "search", "style", "theme", "zoom", "size", "scene"])
    def test_everything_else_is_drawn_anew(self, make_canvas, drawn, change) -> None:
        canvas = make_canvas(transformer())
        canvas.grab()
        drawn.clear()
        scene = canvas.scene
        if change == "selection":
            canvas.set_marks(Highlight(selected=3))
        elif change == "search":
            canvas.set_marks(Highlight(found=frozenset({3})))
        elif change == "style":
            scene.set_style(plain(scene.structure, ColourMode.STEP))
        elif change == "theme":
            canvas.set_theme(load_theme("dark"))
        elif change == "zoom":
            canvas.zoom(1.1)
        elif change == "size":
            canvas.resize(510, 400)
        else:
            canvas.set_scene(scene_of(transformer(3)))
        canvas.grab()
        assert len(drawn) == 1

    def test_a_fault_while_drawing_leaves_nothing_half_drawn(self, qapp, drawn, monkeypatch) -> None:
        backing, port, target = Backing(), Viewport(), QPixmap(300, 200)
        port.size = QSizeF(300, 200)
        scene = scene_of(generated(40))

        def draw() -> None:
            with painting(target) as painter:
                backing.draw(painter, scene, port, Highlight())

        draw()
        port.offset += QPointF(5, 0)
        with monkeypatch.context() as broken:
            broken.setattr(scene.edges, "paint", None)
            with pytest.raises(TypeError):
                draw()
        drawn.clear()
        draw()
        assert [round(area.width()) for area in drawn] == [308]

    def test_nothing_is_kept_for_a_hidden_view(self, make_canvas, drawn) -> None:
        canvas = make_canvas(generated(40))
        canvas.grab()
        canvas.hide()
        canvas.show()
        drawn.clear()
        canvas.grab()
        assert len(drawn) == 1

    def test_drawn_at_whole_pixels_and_moved_exactly(self, make_canvas) -> None:
        canvas = make_canvas(generated(40))
        start = canvas.to_widget(QPointF())
        for _ in range(10):
            canvas.pan(0.25, -0.35)
        at = canvas.to_widget(QPointF())
        assert (at.x(), at.y()) == (round(at.x()), round(at.y()))
        assert abs(at.x() - start.x() - 2.5) <= 1
        assert abs(at.y() - start.y() + 3.5) <= 1


class TestManyEdgesOfOneOperation:
    @pytest.mark.parametrize("scale", [0.05, 1.0])
    def test_all_that_the_selected_operation_reads_is_marked(self, make_canvas, scale) -> None:
        # Operation 600 reads what 600 others make.
        steps = [operation(index, [0], [index + 1]) for index in range(600)]
        canvas = make_canvas(graph([*steps, operation(600, list(range(1, 601)), [601])], [601]))
        node = canvas.scene.structure.by_operation[600]
        canvas.centre(node, scale)
        plain = pixels(canvas)
        canvas.set_marks(Highlight(selected=node))
        marked = pixels(canvas)
        accent = load_theme("light").color("accent")
        near = np.abs(marked - (accent.blue(), accent.green(), accent.red())).max(axis=2) < 12
        assert near.sum() > 300
        assert (plain != marked).any()


class TestLetters:
    def test_texts_fit_their_room(self, qapp) -> None:
        letters = Letters(QFont())
        shown, width = letters.fitted("LayerNormalization", 40.0)
        assert shown.endswith("…")
        assert width <= 40
        assert letters.fitted("Add", 400.0)[0] == "Add"

    def test_sizes_grow_when_zoomed_out_and_never_exceed_the_room(self, qapp) -> None:
        lettering = Lettering(QFont())
        own = lettering.letters(False, 1.0, 100.0)
        assert lettering.letters(False, 1.0, 100.0) is own
        assert lettering.letters(False, 0.5, 100.0).metrics.height() > own.metrics.height()
        assert lettering.letters(False, 0.1, 12.0).metrics.height() <= 12.5
        assert lettering.letters(True, 1.0, 100.0).font.bold()
