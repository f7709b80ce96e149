"""What the lifetime bars show of the session's timeline, computed once for each."""

from __future__ import annotations

from tileview.analysis.lifetimes import Life, Lifetime, Lives, lifetime_lines, lifetimes
from tileview.model.timeline import Timeline, is_same_program
from tileview.session.session import Session


class LifetimeSource:
    """Lifetimes from the live sets; producers and uses from the program's steps where the estimate has a program."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._timeline: Timeline | None = None
        self._rows: tuple[Lifetime, ...] | None = None
        self._lives: Lives | None = None
        self._known: dict[int, Life | None] = {}

    def forget(self) -> None:
        """Another document."""
        self._timeline = None
        self._start(None)

    def _start(self, timeline: Timeline | None) -> None:
        self._timeline, self._rows, self._lives = timeline, None, None
        self._known = {}

    def _current(self) -> Timeline | None:
        timeline = self._session.timeline
        if not is_same_program(timeline, self._timeline):
            self._start(timeline)
        return timeline

    def rows(self) -> tuple[Lifetime, ...]:
        """All allocations of the current timeline; the same object until another one is."""
        timeline = self._current()
        if self._rows is None:
            self._rows = () if timeline is None else lifetimes(timeline)
        return self._rows

    def spans(self, root: int | None) -> tuple[tuple[int, int], ...]:
        """The ranges of steps at which an allocation is live; none where there is no such allocation."""
        if root is None:
            return ()
        return next((row.spans for row in self.rows() if row.root == root), ())

    def life(self, root: int) -> Life | None:
        """The steps that make and use an allocation, None where no program tells."""
        timeline, estimate = self._current(), self._session.estimate
        if timeline is None or estimate is None or estimate.program is None:
            return None
        if self._lives is None:
            self._lives = Lives(timeline, estimate.program)
        if root not in self._known:
            self._known[root] = self._lives.of(root)
        return self._known[root]

    def uses(self, root: int) -> tuple[int, ...]:
        """The steps that use an allocation, for the ticks along its bar."""
        life = self.life(root)
        return life.uses if life is not None and life.exact else ()

    def tip(self, row: Lifetime) -> str:
        """The tooltip of a bar."""
        timeline = self._current()
        if timeline is None:
            return ""
        return "\n".join(lifetime_lines(timeline, row, self._session.selection.tile, self.life(row.root)))
