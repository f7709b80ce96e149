"""What the graph in view looks like: kept in step with the session, put off while nobody sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from tileview.present.graph_style import ColourMode
from tileview.qt.views.graph.look import GraphLook, legend_notes
from tileview.qt.views.graph.scene import GraphScene

if TYPE_CHECKING:
    from tileview.qt.views.graph.view import GraphView


class GraphDress(QObject):
    """Words, figures and colours of a :class:`GraphView`, and its legend."""

    def __init__(self, view: GraphView) -> None:
        super().__init__(view)
        self._view = view
        self.look = GraphLook(view.bridge.session)
        self._stale = False

    def rebuild(self) -> None:
        """Words and colours for the picture in hand: another layout, plan or estimate."""
        view, result, recipe = self._view, self._view.result, self.look.recipe()
        if result is None or recipe is None:
            return
        scene, theme = view.canvas.scene, view.bridge.theme
        is_new = scene is None or scene.picture is not result.picture
        if not is_new and not view.isVisible():
            self._stale = True
            return
        words, style = self.look.words(result.structure, recipe), self.look.style(result, theme)
        if is_new:
            view.canvas.set_scene(GraphScene(result.structure, result.picture, words, style, theme, view.canvas.font()))
        elif scene is not None:
            scene.set_style(style, words)
            view.canvas.update()
        self._show_legend()
        view.marks.mark()

    def restyle(self) -> None:
        """Only colours and figures: another step, tile or theme."""
        view, scene, result = self._view, self._view.canvas.scene, self._view.result
        if scene is None or result is None:
            return
        if not view.isVisible():
            self._stale = True
            return
        scene.set_style(self.look.style(result, view.bridge.theme))
        self._show_legend()
        view.canvas.update()

    def freshen(self) -> None:
        """Do what was put off while the view was hidden."""
        view, scene, result = self._view, self._view.canvas.scene, self._view.result
        if self._stale and result is not None and scene is not None:
            recipe = self.look.recipe()
            words = None if recipe is None else self.look.words(result.structure, recipe)
            scene.set_style(self.look.style(result, view.bridge.theme), words)
            self._show_legend()
            view.marks.mark()
            view.canvas.update()
        self._stale = False

    def _show_legend(self) -> None:
        view, scene, result = self._view, self._view.canvas.scene, self._view.result
        if scene is not None and result is not None:
            notes = legend_notes(scene.words, result.request.around, result.request.hops)
            view.legend.show_style(scene.style, view.bridge.theme, notes)

    def set_mode(self, mode: ColourMode) -> None:
        """Colour by share or by step."""
        self.look.mode = mode
        self._view.bar.show_mode(mode)
        self.restyle()

    def next_mode(self) -> None:
        self.set_mode(ColourMode.STEP if self.look.mode is ColourMode.SHARE else ColourMode.SHARE)
