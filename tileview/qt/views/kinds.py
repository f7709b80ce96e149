"""Which views there are: known by name before they are there, since each takes its time to import and to make."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, cast

from PySide6 import QtCore, QtGui, QtWidgets

from tileview.qt.views.base import View

_QT_NAMES: Final = ((module, name) for module in (QtCore, QtGui, QtWidgets) for name in dir(module))


def meet_qt(seconds: float) -> bool:
    """Have PySide make its classes, for a while; True when all of them are there. In the window's thread only.

    PySide makes a class when it is first asked for. pyqtgraph asks for every one while it is imported; where that is on
    another thread and the window asks for one too, the process may end with a segmentation fault.
    """
    end = time.monotonic() + seconds
    for module, name in _QT_NAMES:
        getattr(module, name)
        if time.monotonic() > end:
            return False
    return True


@dataclass(frozen=True, slots=True)
class WindowView:
    """A view before it is made: ``name`` and ``title`` are those of its class, ``place`` says where that is.

    ``is_needed`` where it does something for others even while nobody sees it.
    """

    name: str
    title: str
    place: str
    is_needed: bool = False

    def load(self) -> type[View]:
        """Import the class; may be called on any thread once the window's has met all of Qt (:func:`meet_qt`)."""
        module, _, name = self.place.partition(":")
        return cast(type[View], getattr(importlib.import_module(f"tileview.qt.views.{module}"), name))


VIEW_KINDS: Final = (
    WindowView("operations", "Operations", "operations:OperationsView"),
    WindowView("why", "Why", "why:WhyView", is_needed=True),
    WindowView("problems", "Problems", "problems:ProblemsView", is_needed=True),
    WindowView("graph", "Graph", "graph.view:GraphView"),
    WindowView("tiles", "Tiles", "tiles.view:TilesView"),
    WindowView("alternatives", "Alternatives", "alternatives:AlternativesView"),
    WindowView("timeline", "Timeline", "timeline.view:TimelineView"),
    WindowView("allocations", "Allocations", "allocations:AllocationsView"),
    WindowView("compare", "Compare", "compare:CompareView"),
    WindowView("details", "Details", "details:DetailsView"),
    WindowView("whatif", "What if", "whatif:WhatIfView"),
    WindowView("address_map", "Address map", "address_map.view:AddressMapView"),
    WindowView("choose", "Memory against cycles", "choose:ChooseView"),
    WindowView("fusions", "Fusions", "fusions:FusionsView"),
)
"""The views, in the order of the View menu."""


class Views(Mapping[str, View]):
    """Every view of a window by its name; one that is not there yet is made when it is asked for."""

    def __init__(self, make: Callable[[WindowView], View]) -> None:
        self._make = make
        self._kinds = {kind.name: kind for kind in VIEW_KINDS}
        self.made: dict[str, View] = {}
        """Those that are there."""

    def __getitem__(self, name: str) -> View:
        if name not in self.made:
            self.made[name] = self._make(self._kinds[name])
        return self.made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)

    def __contains__(self, name: object) -> bool:
        return name in self._kinds

    def titles(self) -> dict[str, str]:
        """The title of every view by its name."""
        return {kind.name: kind.title for kind in self._kinds.values()}
