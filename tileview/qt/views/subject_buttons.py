"""What one does with the subject of the details: show its alternatives, select its tiles, copy its name."""

from __future__ import annotations

import numpy as np
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton, QWidget

from tileview.analysis.tile_groups import identical_tiles
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.views.base import allow
from tileview.qt.widgets.flow import FlowLayout


class SubjectButtons(QWidget):
    """Three buttons about an allocation, an operation or a tile; one that cannot act says why in its tooltip."""

    def __init__(self, bridge: SessionSignals, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._operation: int | None = None
        self._root: int | None = None
        self._tile: int | None = None
        self._name = ""
        self.alternatives = QPushButton("Show alternatives", self)
        self.tiles = QPushButton(self)
        self.copy = QPushButton("Copy name", self)
        flow = FlowLayout(self, 4)
        for button, slot in (
            (self.alternatives, self._show_alternatives),
            (self.tiles, self._select_tiles),
            (self.copy, self._copy_name),
        ):
            button.setAutoDefault(False)
            button.clicked.connect(slot)
            flow.addWidget(button)
        self.hide()

    def show_subject(
        self, name: str, operation: int | None = None, root: int | None = None, tile: int | None = None
    ) -> None:
        """What the buttons act on: an operation's alternatives, the tiles of an allocation or those identical to one
        tile, a name; an empty name hides them.
        """
        self._name, self._operation, self._root, self._tile = name, operation, root, tile
        self.setVisible(bool(name))
        self.alternatives.setVisible(tile is None)
        self.tiles.setVisible(root is not None or tile is not None)
        self.tiles.setText("Select identical tiles" if root is None else "Select its tiles")
        recipe = self._bridge.session.recipe
        reason = ""
        if operation is None:
            reason = "No operation makes it: there are no alternatives to it"
        elif recipe is None or not recipe.alternatives.get(operation):
            reason = "A timeline alone holds no alternatives" if recipe is None else "No alternatives were kept for it"
        allow(self.alternatives, f"Show the alternatives of op {operation}", reason)
        timeline = self._bridge.session.timeline
        unknown = timeline is None or (root is not None and root in timeline.unavailable_roots)
        allow(
            self.tiles,
            "Select the tiles that hold it" if root is not None else "Select the tiles that hold the same bytes",
            "Its bytes are not known" if unknown else "",
        )
        self.copy.setToolTip(f"Copy “{name}”")

    def _show_alternatives(self) -> None:
        if self._operation is not None:
            self._bridge.session.select_operation(self._operation)
            self._bridge.requested.emit("show_view", "alternatives")

    def _select_tiles(self) -> None:
        session = self._bridge.session
        timeline = session.timeline
        if timeline is None:
            return
        if self._root is not None:
            tiles = tuple(np.flatnonzero(timeline.tiles.allocation(self._root)).tolist())
        else:
            tiles = identical_tiles(timeline, session.selection.step or 0, self._tile or 0)
        session.select_tiles(tiles)

    def _copy_name(self) -> None:
        QGuiApplication.clipboard().setText(self._name)
        self._bridge.message.emit(f"Copied: {self._name}")
