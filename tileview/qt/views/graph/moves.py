"""Ways through the graph: search, and from an operation to those it reads from and that read from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction

from tileview.qt.views.base import action_of

if TYPE_CHECKING:
    from tileview.qt.views.graph.view import GraphView


class GraphMoves(QObject):
    """Moves the selection of a :class:`GraphView` along edges and from match to match."""

    def __init__(self, view: GraphView) -> None:
        super().__init__(view)
        self._view = view
        self.found: tuple[int, ...] = ()
        """Matches of the search, as nodes."""
        self._sibling: tuple[tuple[int, ...], int] = ((), 0)

    def clear(self) -> None:
        """Another document."""
        self.found = ()
        self._sibling = ((), 0)

    # -- along edges ----------------------------------------------------------------------------------------------

    def go_to_producer(self) -> None:
        """Select the operation that makes the first operand; the others by { and }."""
        self._go_along(producers=True)

    def go_to_consumer(self) -> None:
        """Select the first operation that reads the result; the others by { and }."""
        self._go_along(producers=False)

    def _go_along(self, producers: bool) -> None:
        node, result = self._view.marks.selected_node(), self._view.result
        if node is None or result is None:
            self._view.bridge.message.emit("Select an operation first")
            return
        sides = result.neighbours.producers if producers else result.neighbours.consumers
        others = sides[node]
        word = "producer" if producers else "consumer"
        number = result.structure.nodes[node].operation
        if not others:
            self._view.bridge.message.emit(f"Operation {number} has no {word}")
            return
        names = ", ".join(str(result.structure.nodes[other].operation) for other in others[:8])
        more = " …" if len(others) > 8 else ""
        self._view.bridge.message.emit(f"{word.capitalize()}s of operation {number}: {names}{more}")
        self._sibling = (others, 0)
        self._view.marks.pick(others[0])

    def next_sibling(self) -> None:
        """Another producer (or consumer) of the operation that [ or ] was pressed on."""
        others, at = self._sibling
        if not others or self._view.marks.selected_node() != others[at]:
            self._view.bridge.message.emit("Press [ or ] first")
        else:
            at = (at + 1) % len(others)
            self._sibling = (others, at)
            self._view.marks.pick(others[at])

    # -- neighbourhood --------------------------------------------------------------------------------------------

    def toggle_neighbourhood(self) -> None:
        """Show only what is close to the selected operation, or everything again."""
        self.set_neighbourhood(self._view.around is None, self._view.bar.hops())

    def set_neighbourhood(self, is_on: bool, hops: int) -> None:
        """Another neighbourhood: around the operation it was around, else the selected one, else that of the step."""
        view, result = self._view, self._view.result
        if result is None:
            return
        around = None
        if is_on:
            around = view.around if view.around is not None else view.session.selection.operation
            if around is None and view.shown_style is not None and view.shown_style.running >= 0:
                around = result.structure.nodes[view.shown_style.running].operation
            if around is None:
                view.bridge.message.emit("Select an operation first")
                view.bar.set_neighbourhood(False)
                return
        view.show_around(around)

    # -- search ---------------------------------------------------------------------------------------------------

    def search(self, text: str) -> None:
        """Mark all matches and bring the first one into view while one types."""
        scene, result = self._view.canvas.scene, self._view.result
        self.found = () if scene is None or result is None else self._view.bar.matching(result.structure, scene.words)
        self._view.marks.mark()
        if self.found:
            self._show_match()

    def _show_match(self) -> None:
        match = self.found[self._view.bar.match_index()]
        self._view.canvas.centre(self._view.marks.shown_node(match), max(self._view.canvas.scale, 0.5))

    def go_to_match(self) -> None:
        """Select the current match; Repeats around it open."""
        if not self.found or self._view.result is None:
            return
        match = self.found[self._view.bar.match_index()]
        hidden = self._view.collapsed & set(self._view.result.structure.around(match))
        self._view.marks.pick(match)
        if hidden:
            self._view.ask(self._view.collapsed - hidden)
        self._show_match()

    def leave_search(self) -> None:
        self._view.bar.search.clear()
        self._view.canvas.setFocus()

    def on_remark(self, operation: object) -> None:
        if isinstance(operation, int):
            self._view.session.select_operation(operation)
            self._view.centre_selection()

    # -- commands -------------------------------------------------------------------------------------------------

    def run(self, command: str) -> None:
        """A command by its word, as the canvas's keys name it."""
        {
            "producers": self.go_to_producer,
            "consumers": self.go_to_consumer,
            "next_producer": self.next_sibling,
            "next_consumer": self.next_sibling,
            "centre": self._view.centre_selection,
            "find": self._view.find_operation,
            "neighbourhood": self.toggle_neighbourhood,
            "colours": self._view.dress.next_mode,
            "stop": self._view.stop_layout,
            "fit": self._view.fit,
        }[command]()


def make_actions(view: GraphView) -> list[QAction]:
    """Commands for menu and palette. Keys are the canvas's own: the window has some of them too."""
    moves = view.moves
    rows: tuple[tuple[str, Callable[[], object]], ...] = (
        ("Find in the graph", view.find_operation),
        ("Show the whole graph", view.fit),
        ("Centre the selected operation", view.centre_selection),
        ("Expand all Repeats", view.expand_all),
        ("Collapse all Repeats", view.collapse_all),
        ("Show the neighbourhood only", moves.toggle_neighbourhood),
        ("Go to a producer", moves.go_to_producer),
        ("Go to a consumer", moves.go_to_consumer),
        ("Go to another producer or consumer", moves.next_sibling),
        ("Colour by share or by step", view.dress.next_mode),
    )
    return [action_of(view, text, slot) for text, slot in rows]
