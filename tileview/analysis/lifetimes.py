"""When allocations live, which steps make and use them, and their lifetimes as bars and in words."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from tileview.analysis.loads import largest_bytes
from tileview.analysis.words import allocation_name
from tileview.core.memory.groups import LiveSet
from tileview.core.memory.usage import live_stretches
from tileview.model.kept import KeptFor
from tileview.model.program import Program, Repeat
from tileview.model.sizes import Size, Unavailable, size_text
from tileview.model.tensor import MemoryClass
from tileview.model.timeline import Timeline, TimelineStep


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
    reads: tuple[int, ...] = ()
    """Those that read one."""


def is_live(live: Sequence[int], root: int) -> bool:
    """Whether a root is in a step's live set, which is ascending."""
    place = bisect_left(live, root)
    return place < len(live) and live[place] == root


def live_span(timeline: Timeline, root: int) -> tuple[int, int] | None:
    """First and last step at which an allocation is live; None where it never is.

    Looked up when asked for: the live sets of a large timeline hold millions of entries, and one looks at few roots.
    """
    steps = timeline.steps
    if steps and isinstance(steps[0].live, LiveSet):
        start, end = steps[0].live.span(root)
        return (start, end - 1) if start < end else None
    first = next((step.index for step in steps if is_live(step.live, root)), None)
    if first is None:
        return None
    return first, next(step.index for step in reversed(steps) if is_live(step.live, root))


class Lives:
    """The lives of all allocations of a timeline, from its live sets and, where it is at hand, its program."""

    def __init__(self, timeline: Timeline, program: Program | None = None) -> None:
        self._timeline = timeline
        self._uses: dict[int, list[int]] = {}
        self._reads: dict[int, list[int]] = {}
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
            read = [*step.inputs]
            if isinstance(step, Repeat):
                read.extend(step.yields)
                read.extend(member for members in step.iterated for member in members)
            for values, noted in (([*read, *step.results], self._uses), (read, self._reads)):
                for value in values:
                    root = roots.get(value)
                    if root is not None:
                        noted.setdefault(root, []).append(flat.index)
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
        reads = tuple(dict.fromkeys(self._reads.get(root, ())))
        every = tuple(dict.fromkeys(uses))
        return Life(first, last, self._producers.get(root), uses[0], uses[-1], True, every, reads)


@dataclass(frozen=True, slots=True)
class Lifetime:
    """One allocation. ``spans`` are half-open ranges of steps, ascending; never empty.

    ``size`` is its largest bytes on any tile, copies included. ``resident``: a parameter, which lives to the end of the
    program whether it is used there or not.
    """

    root: int
    name: str
    group: str
    memory_class: MemoryClass
    size: Size
    spans: tuple[tuple[int, int], ...]
    resident: bool

    @property
    def first(self) -> int:
        """The first step at which it is live."""
        return self.spans[0][0]

    @property
    def last(self) -> int:
        """The last step at which it is live."""
        return self.spans[-1][1] - 1

    def live_at(self, step: int) -> bool:
        return any(start <= step < stop for start, stop in self.spans)

    def meets(self, start: int, stop: int) -> bool:
        """Whether it is live at some step of a half-open range."""
        return any(a < stop and start < b for a, b in self.spans)


class LifetimeOrder(StrEnum):
    """How the rows are sorted."""

    BYTES = "bytes"
    """Unavailable sizes first, then the largest; equal ones by first step."""
    START = "start"
    """The earliest first step first; equal ones by bytes."""


def lifetimes(timeline: Timeline) -> tuple[Lifetime, ...]:
    """All allocations that are live at some step, by first step, then number."""
    of = (timeline.steps, timeline.values, timeline.unavailable_roots)
    return _LIFETIMES.get(of, lambda: _lifetimes(timeline))


_LIFETIMES: Final[KeptFor[tuple[Lifetime, ...]]] = KeptFor(2)


def _lifetimes(timeline: Timeline) -> tuple[Lifetime, ...]:
    rows = []
    for root, spans in live_spans(timeline).items():
        members = timeline.aliases.get(root, (root,))
        last = timeline.values[members[-1]]
        rows.append(
            Lifetime(
                root,
                allocation_name(timeline, root),
                timeline.values[root].group,
                last.memory_class,
                largest_bytes(timeline, root),
                tuple(spans),
                root in timeline.parameters,
            )
        )
    return tuple(rows)


def ordered(rows: Iterable[Lifetime], order: LifetimeOrder) -> tuple[Lifetime, ...]:
    """The rows sorted; see :class:`LifetimeOrder`. The number decides last, so that the order never wavers."""
    if order is LifetimeOrder.BYTES:
        return tuple(sorted(rows, key=lambda row: (_descending(row.size), row.first, row.root)))
    return tuple(sorted(rows, key=lambda row: (row.first, _descending(row.size), row.root)))


def _descending(size: Size) -> tuple[int, int]:
    return (0, 0) if isinstance(size, Unavailable) else (1, -size)


def filtered(
    rows: Iterable[Lifetime], step: int | None = None, span: tuple[int, int] | None = None
) -> tuple[Lifetime, ...]:
    """The rows live at a step, or at some step of a half-open range; all where neither is given."""
    return tuple(
        row for row in rows if (step is None or row.live_at(step)) and (span is None or row.meets(span[0], span[1]))
    )


def step_label(step: TimelineStep) -> str:
    """``step 69: operation 21, Product``."""
    source = "" if step.source is None else f"operation {step.source}, "
    return f"step {step.index}: {source}{step.operation}"


def lifetime_lines(
    timeline: Timeline, row: Lifetime, tile: int | None = None, life: Life | None = None
) -> tuple[str, ...]:
    """What a tooltip says of an allocation: name, class, bytes, first and last use, producer and last consumer.

    With the ``life`` that a program's steps give, these are the steps that write and read it. Without one they follow
    from the live sets: the producer is the step at which it becomes live, the last consumer the one after which it is
    dropped; that is what the lifetime rule makes of first and last mention. What is live at step 0 was there from the
    start or made there, which live sets do not tell apart, and what is live at the last step may be a result; both are
    said as such.
    """
    members = len(timeline.aliases.get(row.root, (row.root,)))
    kind = "interleaved" if row.memory_class is MemoryClass.INTERLEAVED else "standard"
    lines = [row.name if members == 1 else f"{row.name} ({members} values in one allocation)"]
    lines.append(f"{kind}, largest on a tile {size_text(row.size)}")
    if tile is not None and not isinstance(row.size, Unavailable):
        lines.append(f"on tile {tile} {size_text(int(timeline.tiles.allocation(row.root)[tile]))}")
    length = sum(stop - start for start, stop in row.spans)
    lines.append(f"live at steps {row.first} … {row.last}, {length:,} of {len(timeline.steps):,}")
    if row.resident:
        lines.append("parameter: resident from the start to the end")
    if life is not None and life.exact:
        lines += _use_lines(timeline, row, life)
        return tuple(lines)
    if row.resident:
        return tuple(lines)
    first, last = timeline.steps[row.first], timeline.steps[row.last]
    start_text = (
        f"first use {step_label(first)}" if row.first else f"there from the start, or made in {step_label(first)}"
    )
    at_end = row.last == len(timeline.steps) - 1
    lines.append(start_text)
    lines.append(f"live to the end ({step_label(last)})" if at_end else f"last use {step_label(last)}")
    return tuple(lines)


def _use_lines(timeline: Timeline, row: Lifetime, life: Life) -> list[str]:
    """Producer, first and last use, as the program's steps have them."""
    lines = []
    if life.producer is not None:
        lines.append(f"made in {step_label(timeline.steps[life.producer])}")
    elif not row.resident:
        lines.append("there from the start")
    readers = [step for step in life.uses if step != life.producer]
    if readers:
        lines.append(f"first used in {step_label(timeline.steps[readers[0]])}")
        lines.append(f"last used in {step_label(timeline.steps[readers[-1]])}")
        lines.append(f"{len(readers):,} step{'' if len(readers) == 1 else 's'} in all use it")
    else:
        lines.append("no step reads it")
    return lines


def live_spans(timeline: Timeline) -> Mapping[int, Sequence[tuple[int, int]]]:
    """Root → the half-open ranges of steps in which it is live, ascending; roots by first step, then number.

    One range in every program the compiler makes; a file may say otherwise, and is shown as it is. Where the numbers
    per tile know them, they are not worked out again.
    """
    known = getattr(timeline.tiles, "spans", None)
    stretches = live_stretches([step.live for step in timeline.steps]) if known is None else known()
    found: dict[int, list[tuple[int, int]]] = {}
    for root, start, stop in sorted(stretches, key=lambda stretch: (stretch[1], stretch[0])):
        if start < stop:
            found.setdefault(root, []).append((start, stop))
    return found
