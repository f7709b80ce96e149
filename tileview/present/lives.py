"""When allocations live, and which steps make and use them."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from tileview.model.program import Program, Repeat
from tileview.model.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Life:
    """One allocation's life: live at steps ``first`` … ``last``, both included.

    ``producer`` is the first step that writes a value of it (None: an input, or not known); ``first_use`` and
    ``last_use`` are the first and the last step that read or write one. ``exact`` is True where they come from the
    program's steps; without a program (a timeline file alone) they are the ends of the live range.
    """

    first: int
    last: int
    producer: int | None
    first_use: int
    last_use: int
    exact: bool
    uses: tuple[int, ...] = ()
    """Every step that reads or writes a value of it, ascending; empty where that is not known."""


def is_live(live: tuple[int, ...], root: int) -> bool:
    """Whether a root is in a step's live set, which is ascending."""
    place = bisect_left(live, root)
    return place < len(live) and live[place] == root


def live_span(timeline: Timeline, root: int) -> tuple[int, int] | None:
    """First and last step at which an allocation is live; None where it never is.

    Looked up when asked for: the live sets of a large timeline hold millions of entries, and one looks at few roots.
    """
    steps = timeline.steps
    first = next((step.index for step in steps if is_live(step.live, root)), None)
    if first is None:
        return None
    return first, next(step.index for step in reversed(steps) if is_live(step.live, root))


class Lives:
    """The lives of all allocations of a timeline, from its live sets and, where it is at hand, its program."""

    def __init__(self, timeline: Timeline, program: Program | None = None) -> None:
        self._timeline = timeline
        self._uses: dict[int, list[int]] = {}
        self._producers: dict[int, int] = {}
        self._exact = False
        if program is not None and self._fits(program):
            self._exact = True
            self._read(program)

    def _fits(self, program: Program) -> bool:
        return len(program.flatten()) == len(self._timeline.steps)

    def _read(self, program: Program) -> None:
        """Note which steps touch which allocation; a Repeat also uses its sequences' members and its body's yields."""
        roots = {value.id: value.root for value in self._timeline.values}
        for flat in program.flatten():
            step = flat.step
            touched = [*step.inputs, *step.results]
            if isinstance(step, Repeat):
                touched.extend(step.yields)
                touched.extend(member for members in step.iterated for member in members)
            for value in touched:
                root = roots.get(value)
                if root is not None:
                    self._uses.setdefault(root, []).append(flat.index)
            for value in step.results:
                root = roots.get(value)
                if root is not None:
                    self._producers.setdefault(root, flat.index)

    def of(self, root: int) -> Life | None:
        """The life of an allocation; None for one that is never live."""
        ends = live_span(self._timeline, root)
        if ends is None:
            return None
        first, last = ends
        uses = self._uses.get(root)
        if not uses:
            producer = None if first == 0 or self._exact else first
            return Life(first, last, producer, first, last, False)
        return Life(first, last, self._producers.get(root), uses[0], uses[-1], True, tuple(dict.fromkeys(uses)))
