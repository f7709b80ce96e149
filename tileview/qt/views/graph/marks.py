"""Which boxes of the graph are marked, and what a pointer on one of them selects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from tileview.qt.views.graph.scene import Highlight

if TYPE_CHECKING:
    from tileview.qt.views.graph.view import GraphView


class GraphMarks(QObject):
    """The selected operation, the matches of the search and the box under the pointer, on a :class:`GraphView`."""

    def __init__(self, view: GraphView) -> None:
        super().__init__(view)
        self._view = view

    def shown_node(self, node: int) -> int | None:
        """The node itself where it is shown, else the innermost shown Repeat around it."""
        result, scene = self._view.result, self._view.canvas.scene
        if result is None or scene is None:
            return None
        if node in scene.place:
            return node
        return next((owner for owner in result.structure.around(node) if owner in scene.place), None)

    def node_of(self, operation: int | None) -> int | None:
        """The node of an operation, shown or not."""
        result = self._view.result
        return None if operation is None or result is None else result.structure.by_operation.get(operation)

    def selected_node(self) -> int | None:
        """The node of the selected operation, shown or not."""
        return self.node_of(self._view.session.selection.operation)

    def highlight(self) -> Highlight:
        """The marks for what is selected and searched for now."""
        node = self.selected_node()
        shown = None if node is None else self.shown_node(node)
        found, matches = None, self._view.moves.found
        if matches or self._view.bar.query():
            found = frozenset(place for match in matches if (place := self.shown_node(match)) is not None)
        hovered = self._view.canvas.marks.hovered
        return Highlight(node if shown == node else None, None if shown == node else shown, hovered, found)

    def mark(self) -> None:
        """Show selection and matches as they are now."""
        self._view.canvas.set_marks(self.highlight())

    def first_focus(self) -> int | None:
        """Where the eye should start: the selected operation, else that of the selected step."""
        marks, style = self.highlight(), self._view.shown_style
        start = marks.selected if marks.selected is not None else marks.holder
        if start is None and style is not None and style.running >= 0:
            start = self.shown_node(style.running)
        return start

    def pick(self, node: int | None) -> None:
        """Select the operation of a node; ports cannot be selected."""
        result = self._view.result
        if result is None:
            return
        operation = None if node is None else result.structure.nodes[node].operation
        if node is None or operation is not None:
            self._view.session.select_operation(operation)

    def hover(self, node: int | None) -> None:
        """Tell all views what the pointer is on."""
        result = self._view.result
        operation = None if node is None or result is None else result.structure.nodes[node].operation
        self._view.bridge.hovered.emit(operation, None, None)

    def on_hovered(self, operation: object, root: object, tile: object) -> None:
        """Outline the operation that the pointer is on in some view."""
        found = self.node_of(operation) if isinstance(operation, int) else None
        marks = self.highlight()
        node = None if found is None else self.shown_node(found)
        self._view.canvas.set_marks(Highlight(marks.selected, marks.holder, node, marks.found))
