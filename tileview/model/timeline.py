"""A memory timeline: which allocations are live at each step, and what each tile then holds.

One class serves both origins: a timeline file, and the estimate that TileView makes from a recipe. Views read only
this. Numbers per tile are numpy arrays that are made when they are looked at (:class:`TileNumbers`); nothing here
turns them into Python objects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from tileview.model.kept import KeptFor
from tileview.model.sizes import UNAVAILABLE, Size, Unavailable
from tileview.model.tensor import Layout, MemoryClass, Precision, Shape

ByteArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ClassBytes:
    """Bytes by memory class; each may be unavailable."""

    standard: Size
    interleaved: Size

    @property
    def total(self) -> Size:
        if isinstance(self.standard, Unavailable) or isinstance(self.interleaved, Unavailable):
            return UNAVAILABLE
        return self.standard + self.interleaved


@dataclass(frozen=True, slots=True)
class Peak:
    """Largest values over the initial state and all steps, over all tiles, without exchange rows.

    ``exchange_rows`` is an estimate reported beside the peaks; nothing is decided by it.
    """

    standard: Size
    interleaved: Size
    total: Size
    maximum_standard_allocation: Size
    exchange_rows: Size


@dataclass(frozen=True, slots=True)
class TimelineValue:
    """A lowered value as a timeline lists it.

    ``id`` is its own number, ``root`` the *index into values* of its allocation. ``layout`` is None where the text
    did not parse (then ``layout_text`` still shows it). ``layout_error`` says why the layout is invalid, None
    where it does. ``shard_bytes`` is the largest shard, ``aligned_bytes`` the largest aligned size, ``bytes`` =
    aligned · copies.
    """

    id: int
    origin: int | None
    root: int
    name: str
    group: str
    shape: Shape
    precision: Precision
    layout: Layout | None
    layout_text: str
    layout_error: str | None
    memory_class: MemoryClass
    storage_group: int
    shard_bytes: Size
    aligned_bytes: Size
    copies: int
    bytes: Size


@dataclass(frozen=True, slots=True)
class TimelineStep:
    """One step. ``live`` are roots (indices into values), ascending. ``source`` is the graph operation, if any.

    ``kind`` is the first word of ``operation``. ``usage`` is the usage of the tile with the largest total (the last
    such tile); ``coarse`` the sum of per-allocation maxima. In a version-1 file without per-tile numbers ``usage`` is
    what was re-derived, and ``coarse`` what the file calls usage.
    """

    index: int
    source: int | None
    operation: str
    kind: str
    execution_count: int
    live: Sequence[int]
    scratch: ClassBytes
    usage: ClassBytes
    coarse: ClassBytes


class TileNumbers(Protocol):
    """Per-tile numbers of a timeline, made when asked for. All arrays are int64, read-only, in bytes.

    Terms that are unavailable are left out of the arrays: whether a step has any is in ``unavailable_roots``.
    """

    def usage(self, step: int) -> ByteArray:
        """(tiles, 2): standard and interleaved bytes on each tile at a step, scratch included; known part only."""
        ...

    def scratch(self, step: int) -> ByteArray:
        """(tiles, 2): the step's scratch on each tile."""
        ...

    def shards(self, value: int) -> ByteArray:
        """(tiles,): payload bytes of a value (by index) on each tile, before alignment and copies; 0 where it owns
        none."""
        ...

    def allocation(self, root: int) -> ByteArray:
        """(tiles,): bytes of an allocation on each tile: the largest over its values, copies included."""
        ...

    def value_bytes(self, value: int) -> ByteArray:
        """(tiles,): bytes of one value on each tile: shard + access tail, rounded up, times copies."""
        ...

    def worst(self) -> ByteArray:
        """(steps, 4): per step the largest standard, the largest interleaved, the largest total over the tiles, and
        the (last) tile of the largest total.

        Where a large file is still being read, the steps to come have the figures that the file states for its
        fullest tile, and −1 for the tile: :func:`fullest_tile` gives that of a single step."""
        ...

    def tile_curve(self, tile: int) -> ByteArray:
        """(steps, 2): standard and interleaved bytes of one tile at every step."""
        ...


def last_largest(figures: ByteArray) -> int:
    """Where the largest of (tiles,) figures is, the last of equals; 0 where there are none.

    The compiler names the last of the tiles that reach a total peak; the same holds here for every figure of tiles, so
    that keys, verdict and words that speak of one figure name one tile.
    """
    return len(figures) - 1 - int(figures[::-1].argmax()) if len(figures) else 0


def fullest_tile(tiles: TileNumbers, step: int) -> int:
    """The last tile with the largest total at a step; 0 where there are no tiles."""
    tile = int(tiles.worst()[step, 3])
    if tile >= 0:
        return tile
    usage = tiles.usage(step)
    return last_largest(usage[:, 0] + usage[:, 1])


def steps_read(timeline: Timeline) -> int:
    """How many steps, from the first on, have their numbers per tile at hand: all but where a large file is still being
    read."""
    found: int = getattr(timeline.tiles, "scanned", len(timeline.steps))
    return found


class Origin(StrEnum):
    """Where a timeline comes from."""

    FILE = "file"
    ESTIMATE = "estimate"


class Cause(StrEnum):
    """Why a program fits, does not, or why that is not known; the order is the order in which causes are named."""

    FITS = "fits"
    CANNOT_LOWER = "cannot_lower"
    INVALID_LAYOUT = "invalid_layout"
    INTERLEAVED = "over_interleaved_budget"
    TOTAL = "over_total_budget"
    CONTIGUOUS = "standard_allocation_too_large"
    CONTRADICTION = "contradiction"
    """Not known: the file contradicts itself on the outcome."""
    DAMAGED = "damaged"
    """Not known: a number that the verdict rests on is damaged."""
    INCOMPLETE = "incomplete"
    """Not known: the program is known in part."""
    PLACED = "placed"
    """Every request has its address; this and the next are said of files that speak of addresses alone."""
    NOT_PLACED = "not_placed"
    """Not every request was given one: proved (then it does not fit), or not by the orders tried (not known)."""


def fits_words(fits: bool | None) -> str:
    """The three answers in words: ``fits``, ``does not fit``, ``not known``."""
    return "not known" if fits is None else "fits" if fits else "does not fit"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a peak is; each part None where it is not known."""

    step: int | None = None
    tile: int | None = None
    operation: int | None = None

    def __str__(self) -> str:
        """`` at step 31, tile 212, operation 12``, with what is known of it; empty where nothing is."""
        parts = []
        if self.step is not None:
            parts.append(f"step {self.step}")
        if self.tile is not None:
            parts.append(f"tile {self.tile}")
        if self.operation is not None:
            parts.append(f"operation {self.operation}")
        return f" at {', '.join(parts)}" if parts else ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Fits, does not fit, or not known (``fits`` None), and the figures behind it.

    ``limit`` names what was exceeded ("total budget", "interleaved region", "contiguous standard memory", …).
    ``needed_bytes`` (reserve included where the limit counts it) − ``available_bytes`` = ``short_bytes`` (negative:
    spare). ``step``, ``tile`` and ``operation`` say where, None where there is no single place. ``text`` is one
    sentence. ``cause`` is CONTRADICTION, DAMAGED, INCOMPLETE or NOT_PLACED where ``fits`` is None; of these only
    NOT_PLACED also stands where it is False.
    """

    fits: bool | None
    cause: Cause
    text: str
    limit: str
    needed_bytes: Size
    available_bytes: Size
    short_bytes: Size
    step: int | None = None
    tile: int | None = None
    operation: int | None = None
    at_least: bool = False
    """True where unknown operations make every sum a lower bound."""
    stated_bytes: Size | None = None
    """Of a contradiction: what is needed by the file's headline; None otherwise."""
    found_bytes: Size | None = None
    """Of a contradiction: what is needed by the steps or arrays of the file; None otherwise."""

    @property
    def words(self) -> str:
        """``fits``, ``does not fit`` or ``not known``; of addresses ``placed``, ``over`` or ``not placed``."""
        if self.cause is Cause.NOT_PLACED:
            return "not placed" if self.fits is None else "over"
        return "placed" if self.cause is Cause.PLACED else fits_words(self.fits)


@dataclass(frozen=True, slots=True)
class Account:
    """The peaks of a timeline as one part of its file gives them, and where they are.

    ``source`` names the part ("the steps"). ``at_least``: made from known parts only, so that it can show that a
    program does not fit, never that it does.
    """

    source: str
    peak: Peak
    total_place: Place = Place()
    interleaved_place: Place = Place()
    standard_place: Place = Place()
    at_least: bool = False


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the verdict on a timeline file rests on.

    ``stated``: the headline, then the headline with one of its other figures in place of a peak. ``own``: what steps,
    values and arrays give. ``claim``: the file's own word, for its own budgets. ``damage``: a sentence on each number
    that is damaged.
    """

    stated: tuple[Account, ...]
    own: tuple[Account, ...]
    claim: bool | None
    damage: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem found in a file or estimate: where (field path or value name), what, and how grave.

    ``severity``: ``error`` (part of the file is wrong), ``warning`` (disagrees with itself), ``note``.
    """

    severity: str
    place: str
    text: str
    hint: str = ""
    value: int | None = None
    step: int | None = None
    operation: int | None = None


@dataclass(frozen=True, slots=True)
class Timeline:
    """Values, steps, peaks, budgets and per-tile numbers of one program.

    ``peak`` follows version 3 (exchange rows not included) whatever the file's version; ``derived`` says that the
    per-tile numbers were computed from shapes and layouts because the file has none. ``notes`` say what the estimate
    does not model.
    """

    origin: Origin
    version: int
    scope: str
    model: str
    tile_count: int
    budget_bytes: int
    interleaved_budget_bytes: int
    reserve_bytes: int
    peak: Peak
    total_peak_step: int | None
    standard_peak_step: int | None
    interleaved_peak_step: int | None
    values: tuple[TimelineValue, ...]
    steps: tuple[TimelineStep, ...]
    tiles: TileNumbers
    unavailable_roots: frozenset[int]
    """Roots with no known size; a step that has one live has an unavailable usage."""
    aliases: Mapping[int, tuple[int, ...]]
    """Root → indices of the values of that allocation, ascending."""
    tails: Mapping[int, int]
    """Root → access tail in bytes, where its group is the left operand of a matrix product."""
    aligned_roots: frozenset[int]
    """Roots whose sizes are rounded up to whole memory elements."""
    verdict: Verdict
    derived: bool = False
    notes: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    parameters: frozenset[int] = frozenset()
    """Roots that live to the end as resident parameters, where known."""
    made_at: Mapping[int, int] = field(default_factory=dict)
    """Root → the step at which it is first live, which makes it. Inputs are not in it, nor what a file has live at its
    first step: nothing tells inputs from what that step makes."""

    @property
    def limits(self) -> tuple[int, int, int]:
        """Budget, interleaved budget and reserve, in bytes."""
        return self.budget_bytes, self.interleaved_budget_bytes, self.reserve_bytes

    def maker(self, root: int) -> int | None:
        """The operation whose plan makes an allocation: that of the step which makes it; None where none does.

        The one rule by which bytes belong to operations. A copy or a cast that a plan asks for of another operation's
        result is made by that plan, whatever value it stems from; memory that a result takes over from an operand stays
        with the operation that made it first.
        """
        step = self.made_at.get(root)
        return None if step is None else self.steps[step].source

    evidence: Evidence | None = None
    """What the verdict rests on, of a timeline as its file has it; None for estimates and changed layouts."""


def is_same_program(one: Timeline | None, other: Timeline | None) -> bool:
    """Whether two timelines hold the very same steps, values and numbers under the same budgets.

    A file's timeline is made anew with each thing that a check finds; then they differ in verdict and problems alone.
    """
    if one is None or other is None:
        return one is other
    return (
        one.steps is other.steps
        and one.values is other.values
        and one.tiles is other.tiles
        and one.unavailable_roots is other.unavailable_roots
        and one.limits == other.limits
    )


_INDEXED: Final[KeptFor[dict[int, list[int]]]] = KeptFor(4)
"""Where each operation's steps are."""


def steps_of_operation(timeline: Timeline, operation: int) -> Sequence[TimelineStep]:
    """The steps that work for an operation, in order."""
    return [timeline.steps[position] for position in positions_of_operation(timeline, operation)]


def positions_of_operation(timeline: Timeline, operation: int) -> Sequence[int]:
    """Where the steps that work for an operation are. Looks at all steps once, at the first question."""
    steps = timeline.steps

    def index() -> dict[int, list[int]]:
        places: dict[int, list[int]] = {}
        for position, step in enumerate(steps):
            if step.source is not None:
                places.setdefault(step.source, []).append(position)
        return places

    return _INDEXED.get((steps,), index).get(operation, ())
