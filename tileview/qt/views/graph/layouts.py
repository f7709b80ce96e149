"""Layouts off the window's thread: the newest request wins, the one before is cancelled."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from tileview.graphlayout import (
    LayoutCancelled,
    Neighbours,
    Picture,
    Sizes,
    Structure,
    find_neighbours,
    first_collapsed,
    layout_graph,
    read_structure,
)
from tileview.model.graph import Graph, Operation, RepeatKind
from tileview.qt.jobs.collector import HOLDS

AT_ONCE = 400
"""Graphs of so many operations and operands are laid out at once, in the window's thread: it takes less than a frame or
two, and the picture does not flicker. Larger ones go to a thread."""
JOIN_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class LayoutRequest:
    """Everything a layout needs. ``structure`` and ``neighbours`` are those of an earlier result for the same graph.

    ``collapsed`` None: as a graph is opened (:func:`tileview.graphlayout.first_collapsed`). ``around`` with ``hops``
    shows the neighbourhood of an operation only.
    """

    number: int
    graph: Graph
    sizes: Sizes
    structure: Structure | None = None
    neighbours: Neighbours | None = None
    collapsed: frozenset[int] | None = None
    around: int | None = None
    hops: int = 1


@dataclass(frozen=True, slots=True)
class LayoutResult:
    """What a request came to."""

    request: LayoutRequest
    structure: Structure
    neighbours: Neighbours
    collapsed: frozenset[int]
    picture: Picture


def run_layout(request: LayoutRequest, token: _Token | None = None) -> LayoutResult:
    """Read the graph where that is not done yet, and lay it out.

    Raises
    ------
    LayoutCancelled
        Where the token is cancelled.
    """
    structure = read_structure(request.graph) if request.structure is None else request.structure
    neighbours = find_neighbours(structure) if request.neighbours is None else request.neighbours
    collapsed = first_collapsed(structure) if request.collapsed is None else request.collapsed
    only = None
    if request.around is not None:
        start = structure.by_operation.get(request.around)
        only = neighbours.within([] if start is None else [start], request.hops)
    picture = layout_graph(structure, collapsed, only, request.sizes, token)
    return LayoutResult(request, structure, neighbours, collapsed, picture)


def count_parts(graph: Graph, most: int) -> int:
    """Operations and operands with those of all bodies; counting ends above ``most``."""
    total = 0
    waiting: list[tuple[Operation, ...]] = [graph.operations]
    while waiting and total <= most:
        operations = waiting.pop()
        total += len(operations) + sum(len(entry.inputs) for entry in operations)
        waiting.extend(entry.kind.body.operations for entry in operations if isinstance(entry.kind, RepeatKind))
    return total


class _Token:
    """A layout's token: cancelled by the window's thread, progress told in steps of a twentieth."""

    def __init__(self, owner: GraphLayouts, number: int) -> None:
        self._owner = owner
        self._number = number
        self._cancelled = False
        self._told = -1

    def cancel(self) -> None:
        self._cancelled = True

    def cancelled(self) -> bool:
        return self._cancelled

    def progress(self, fraction: float) -> None:
        twentieth = int(fraction * 20)
        if twentieth > self._told and not self._cancelled:
            self._told = twentieth
            self._owner.progressed.emit(self._number, fraction)


class GraphLayouts(QObject):
    """Runs layouts. ``ready`` carries a :class:`LayoutResult`, ``failed`` the request's number and a text,
    ``progressed`` number and fraction. All arrive in the window's thread; those of cancelled requests do not arrive
    at all.
    """

    ready = Signal(object)
    failed = Signal(object, str)
    progressed = Signal(object, float)
    _done = Signal(object, object)
    _broke = Signal(object, str)
    _ended = Signal()

    def __init__(
        self, parent: QObject | None = None, when_quiet: Callable[[Callable[[], None]], None] | None = None
    ) -> None:
        super().__init__(parent)
        self._when_quiet = when_quiet
        self._next: LayoutRequest | None = None
        self._token: _Token | None = None
        self._wanted = -1
        self._threads: list[threading.Thread] = []
        self._done.connect(self._on_done)
        self._broke.connect(self._on_broke)
        self._ended.connect(self._on_ended)
        self._held = 0

    @property
    def is_busy(self) -> bool:
        return self._wanted >= 0

    def request(self, request: LayoutRequest) -> None:
        """Lay out; whatever is under way is cancelled. Small graphs are ready when this returns."""
        self.cancel()
        self._wanted = request.number
        if count_parts(request.graph, AT_ONCE) <= AT_ONCE:
            try:
                result = run_layout(request)
            except Exception as error:
                self._on_broke(request.number, "".join(traceback.format_exception(error)))
            else:
                self._on_done(request.number, result)
            return
        self._token = _Token(self, request.number)
        self._next = request
        if self._when_quiet is None:
            self._begin()
        else:
            self._when_quiet(self._begin)

    def _begin(self) -> None:
        request, self._next = self._next, None
        if request is None or self._token is None:
            return
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        thread = threading.Thread(
            target=self._serve, args=(request, self._token), name="tileview graph layout", daemon=True
        )
        self._threads.append(thread)
        HOLDS.hold()
        self._held += 1
        thread.start()

    def cancel(self) -> None:
        """Drop what is under way; nothing is told about it any more."""
        self._wanted = -1
        self._next = None
        if self._token is not None:
            self._token.cancel()
            self._token = None

    def close(self) -> None:
        """End all threads."""
        self.cancel()
        for thread in self._threads:
            thread.join(JOIN_SECONDS)
        self._threads.clear()
        while self._held:
            self._on_ended()

    def _serve(self, request: LayoutRequest, token: _Token) -> None:
        try:
            result = run_layout(request, token)
        except LayoutCancelled:
            pass
        except Exception as error:
            if not token.cancelled():
                self._broke.emit(request.number, "".join(traceback.format_exception(error)))
        else:
            if not token.cancelled():
                self._done.emit(request.number, result)
        self._ended.emit()

    def _on_ended(self) -> None:
        if self._held:
            self._held -= 1
            HOLDS.release()

    def _on_done(self, number: int, result: LayoutResult) -> None:
        if number == self._wanted:
            self._wanted = -1
            self.ready.emit(result)

    def _on_broke(self, number: int, text: str) -> None:
        if number == self._wanted:
            self._wanted = -1
            self.failed.emit(number, text)
