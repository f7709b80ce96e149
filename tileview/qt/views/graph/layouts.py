"""Layouts beside the window's thread: the newest request wins, the one before is asked to stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from tileview.graphlayout import (
    GraphPicture,
    LayoutCancelled,
    Neighbours,
    Sizes,
    Structure,
    Token,
    find_neighbours,
    first_collapsed,
    layout_graph,
    read_structure,
)
from tileview.model.graph import Graph
from tileview.qt.jobs.process import CancelledError, Reporter
from tileview.qt.jobs.runner import Job, Runner, failure_of


@dataclass(frozen=True, slots=True)
class LayoutRequest:
    """Everything a layout needs. ``structure`` and ``neighbours`` are those of an earlier result for the same graph.

    ``collapsed`` None: as a graph is opened (:func:`tileview.graphlayout.first_collapsed`). ``around`` with ``hops``
    shows the neighbourhood of an operation only.
    """

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
    picture: GraphPicture


def lay_out_graph(request: LayoutRequest, token: Token | None = None) -> LayoutResult:
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


class _Token:
    """What a layout asks and tells, by way of the runner; progress in steps of a twentieth."""

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter
        self._told = -1

    def cancelled(self) -> bool:
        return self._reporter.stopped()

    def progress(self, fraction: float) -> None:
        if int(fraction * 20) > self._told:
            self._told = int(fraction * 20)
            self._reporter.progress(self._told, 20)


class GraphLayouts(QObject):
    """Runs layouts. ``ready`` carries a :class:`LayoutResult`, ``failed`` a sentence and details, ``progressed`` per
    cent. Nothing is told of a request that was cancelled, or that another one took the place of.

    Parameters
    ----------
    when_quiet : callable
        Told what to call as soon as the views have shown what is known.
    """

    ready = Signal(object)
    failed = Signal(str, str)
    progressed = Signal(int)

    def __init__(self, when_quiet: Callable[[Callable[[], None]], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._when_quiet = when_quiet
        self._runner = Runner(self)
        self._runner.progress.connect(self._on_progress)
        self._runner.ended.connect(self._on_ended)
        self._job: Job | None = None

    @property
    def is_busy(self) -> bool:
        return self._job is not None

    def request(self, request: LayoutRequest) -> None:
        """Lay out; whatever is under way is cancelled."""
        self.cancel()

        def work(reporter: Reporter) -> LayoutResult:
            try:
                return lay_out_graph(request, _Token(reporter))
            except LayoutCancelled:
                raise CancelledError from None

        job = self._job = Job(work)
        self._when_quiet(lambda: self._begin(job))

    def _begin(self, job: Job) -> None:
        if job is self._job:
            self._runner.submit(job)

    def cancel(self) -> None:
        """Drop what is under way; nothing is told about it any more."""
        if self._job is not None:
            self._runner.cancel(self._job)
            self._job = None

    def close(self) -> None:
        self.cancel()
        self._runner.close()

    def _on_progress(self, job: Job, progress: tuple[int, int, str]) -> None:
        if job is self._job:
            self.progressed.emit(100 * progress[0] // progress[1])

    def _on_ended(self, job: Job, outcome: str, payload: object) -> None:
        if job is not self._job:
            return
        self._job = None
        if outcome == "done":
            self.ready.emit(payload)
        elif outcome != "cancelled":
            self.failed.emit(*failure_of(outcome, payload))
