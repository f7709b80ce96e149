"""Curves over the steps of a timeline: which tile they follow, what is marked on them, how they are down-sampled.

Every number is the core's: a curve is read from :class:`tileview.model.timeline.TileNumbers`, stacks are those numbers
grouped. Steps whose usage is unavailable keep the known part in the arrays and are flagged, so that a view can draw
them as a band of their own.

A stack is what the total is made of: layers of parameters and of what each operation makes. An allocation is in the
layer of the operation whose plan makes it, the scratch of a step in that of its operation; what no operation makes and
is no parameter has a layer under its own name. Layers need every allocation and the scratch of every step on one tile.
A file holds those as text that is decoded when it is looked at, which takes a second or two for a hundred megabytes:
:class:`StackSource` reads them a few at a time; of the scratch it keeps what stacks of other tiles need.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Final

import numpy as np
import numpy.typing as npt

from tileview.analysis.lifetimes import live_spans
from tileview.core.memory.step_table import StepTable
from tileview.model.kept import KeptFor
from tileview.model.sizes import LARGEST_COUNTED_BYTES, Size, Unavailable
from tileview.model.timeline import ByteArray, ClassBytes, Timeline, fullest_tile, steps_read

BoolArray = npt.NDArray[np.bool_]
IndexArray = npt.NDArray[np.int64]


class CurveMode(StrEnum):
    """Which tile the curves follow."""

    BOTH = "both"
    """The fullest tile and, beside it, one tile: the curves of WORST, with those of TILE as second ones."""
    WORST = "worst"
    """At each step the tile with the largest total; its two classes add up to it."""
    LARGEST = "largest"
    """At each step the largest of each class, whichever tile has it; the classes need not add up."""
    TILE = "tile"
    """One tile."""


@dataclass(frozen=True, slots=True)
class Curves:
    """Bytes at every step, arrays of (steps,): known parts only, ``unavailable`` where something is missing.

    ``tiles`` holds the tile that ``total`` is read from at each step, −1 where it has not been read yet
    (:func:`tile_at`). In every mode but LARGEST total = standard + interleaved.
    """

    mode: CurveMode
    total: ByteArray
    standard: ByteArray
    interleaved: ByteArray
    tiles: IndexArray
    unavailable: BoolArray

    def __len__(self) -> int:
        return len(self.total)


def _is_unavailable(part: ClassBytes) -> bool:
    return isinstance(part.standard, Unavailable) or isinstance(part.interleaved, Unavailable)


@dataclass(frozen=True, slots=True)
class _Stated:
    """What steps say of themselves: (steps,) whether a term could not be computed, and (steps, 2) usage of the fullest
    tile, −1 where that is no number of bytes."""

    unavailable: BoolArray
    usage: ByteArray


_STATED: Final[KeptFor[_Stated]] = KeptFor(2)


def _stated(timeline: Timeline) -> _Stated:
    missing = timeline.unavailable_roots

    def read() -> _Stated:
        steps = timeline.steps
        unavailable = np.fromiter(
            (
                _is_unavailable(step.usage)
                or _is_unavailable(step.scratch)
                or (bool(missing) and not missing.isdisjoint(step.live))
                for step in steps
            ),
            dtype=np.bool_,
            count=len(steps),
        )
        sizes = (size for step in steps for size in (step.usage.standard, step.usage.interleaved))
        counted = (-1 if isinstance(size, Unavailable) or size > LARGEST_COUNTED_BYTES else size for size in sizes)
        usage = np.fromiter(counted, dtype=np.int64, count=2 * len(steps)).reshape(-1, 2)
        unavailable.flags.writeable = usage.flags.writeable = False
        return _Stated(unavailable, usage)

    return _STATED.get((timeline.steps, missing), read)


def unavailable_steps(timeline: Timeline) -> BoolArray:
    """(steps,): whether the usage of a step has a term that could not be computed."""
    return _stated(timeline).unavailable


def curves(timeline: Timeline, mode: CurveMode, tile: int | None = None) -> Curves:
    """The curves of a timeline; ``tile`` is needed for :attr:`CurveMode.TILE`.

    Those of :attr:`CurveMode.BOTH` are the fullest tile's; the second ones are asked for as those of a tile.

    Raises
    ------
    ValueError
        Where the mode is TILE and there is no such tile.
    """
    unavailable = unavailable_steps(timeline)
    steps = len(timeline.steps)
    if mode is CurveMode.TILE:
        if tile is None or not 0 <= tile < timeline.tile_count:
            raise ValueError(f"no tile {tile}: the program has {timeline.tile_count}")
        own = timeline.tiles.tile_curve(tile)
        unavailable = unavailable | (np.arange(steps) >= steps_read(timeline))
        tiles = np.full(steps, tile, dtype=np.int64)
        return Curves(mode, own[:, 0] + own[:, 1], own[:, 0], own[:, 1], tiles, unavailable)
    worst = timeline.tiles.worst()
    if mode is CurveMode.LARGEST:
        return Curves(mode, worst[:, 2], worst[:, 0], worst[:, 1], worst[:, 3], unavailable)
    classes = _stated(timeline).usage.copy()
    for index in np.flatnonzero(unavailable | (classes < 0).any(axis=1)).tolist():
        tile = int(worst[index, 3])
        classes[index] = worst[index, :2] if tile < 0 else timeline.tiles.usage(index)[tile]
    total = classes[:, 0] + classes[:, 1]
    return Curves(CurveMode.WORST, total, classes[:, 0], classes[:, 1], worst[:, 3], unavailable)


def tile_at(timeline: Timeline, shown: Curves, step: int) -> int:
    """The tile that a curve is read from at a step, read now where it has not been yet."""
    tile = int(shown.tiles[step])
    return tile if tile >= 0 else fullest_tile(timeline.tiles, step)


# -- what is marked ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PeakMark:
    """A peak: its letter on the plot and on the keyboard, what it is, where and how much."""

    letter: str
    name: str
    step: int
    size: Size


def peak_marks(timeline: Timeline) -> tuple[PeakMark, ...]:
    """Total (P), standard (S) and interleaved (I) peak, as far as the timeline has a step for them."""
    peaks = (
        ("P", "total peak", timeline.total_peak_step, timeline.peak.total),
        ("S", "standard peak", timeline.standard_peak_step, timeline.peak.standard),
        ("I", "interleaved peak", timeline.interleaved_peak_step, timeline.peak.interleaved),
    )
    return tuple(
        PeakMark(letter, name, step, size)
        for letter, name, step, size in peaks
        if step is not None and 0 <= step < len(timeline.steps)
    )


@dataclass(frozen=True, slots=True)
class RepeatSpan:
    """The steps of a Repeat's body, ``start`` … ``stop`` (half-open), run ``count`` times; ``depth`` 0 is outermost."""

    start: int
    stop: int
    count: int
    depth: int


def repeat_spans(timeline: Timeline) -> tuple[RepeatSpan, ...]:
    """The bodies of all Repeats, found from kinds and execution counts.

    A body's steps stand right before the Repeat's own step and have a larger execution count than it; the body ends,
    going backwards, at the first step that has not. A Repeat that runs once cannot be told from its surroundings and
    has no span: there is nothing to say about it. The count is that of the body's own steps (those of nested bodies run
    more often).
    """
    found: list[tuple[int, int, int]] = []
    steps = timeline.steps
    for index, step in enumerate(steps):
        if step.kind != "Repeat":
            continue
        start = index
        while start > 0 and steps[start - 1].execution_count > step.execution_count:
            start -= 1
        if start < index:
            own = min(inner.execution_count for inner in steps[start:index])
            found.append((start, index, own // max(step.execution_count, 1)))
    return tuple(
        RepeatSpan(start, stop, count, sum(1 for a, b, _ in found if a <= start and stop < b))
        for start, stop, count in sorted(found)
    )


# -- down-sampling -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Columns:
    """Which steps fall into each column of a picture: column c shows steps ``starts[c]`` … ``stops[c]`` (half-open, not
    empty)."""

    starts: IndexArray
    stops: IndexArray

    def __len__(self) -> int:
        return len(self.starts)


def columns(first: float, last: float, count: int, steps: int) -> Columns:
    """``count`` columns over the steps ``first`` … ``last`` (step i occupies i … i + 1).

    Every step that a column touches belongs to it, so that no step falls between two columns; where a step is wider
    than a column, several columns show it.
    """
    edges = np.linspace(first, last, count + 1)
    starts = np.clip(np.floor(edges[:-1] + 1e-9).astype(np.int64), 0, max(steps - 1, 0))
    stops = np.clip(np.ceil(edges[1:] - 1e-9).astype(np.int64), starts + 1, max(steps, 1))
    return Columns(starts, stops)


def column_max(values: ByteArray, where: Columns) -> ByteArray:
    """(columns,): the largest value of each column, so that a peak of one step is seen however many share its
    column."""
    if len(values) == 0:
        return np.zeros(len(where), dtype=np.int64)
    padded = np.append(values, values[-1])
    bounds = np.column_stack([where.starts, where.stops]).reshape(-1)
    reduced: ByteArray = np.maximum.reduceat(padded, bounds)[::2]
    return reduced


def column_any(flags: BoolArray, where: Columns) -> BoolArray:
    """(columns,): whether a flag is set anywhere in the column."""
    sums = np.concatenate([[0], np.cumsum(flags, dtype=np.int64)])
    return np.asarray(sums[where.stops] > sums[where.starts], dtype=np.bool_)


def column_steps(values: ByteArray, where: Columns) -> IndexArray:
    """(columns,): the earliest step with the largest value of each column.

    A stack is down-sampled by choosing one step a column: maxima of each layer taken alone would not add up to the
    curve.
    """
    highest = column_max(values, where)
    result = where.starts.copy()
    several = np.flatnonzero(where.stops - where.starts > 1)
    longest = int((where.stops - where.starts).max(initial=1))
    open_ = several
    for offset in range(longest):
        if not len(open_):
            break
        candidate = where.starts[open_] + offset
        found = (candidate < where.stops[open_]) & (values[np.minimum(candidate, len(values) - 1)] == highest[open_])
        result[open_[found]] = candidate[found]
        open_ = open_[~found]
    return result


@dataclass(frozen=True, slots=True)
class Stretch:
    """The columns in view: column c lies between ``edges[c]`` and ``edges[c + 1]`` (steps, fractions allowed) and shows
    the steps of ``where``.
    """

    edges: npt.NDArray[np.float64]
    where: Columns

    def largest(self, values: ByteArray) -> ByteArray:
        """(columns,): the largest value of each."""
        return column_max(values, self.where)

    def any(self, flags: BoolArray) -> BoolArray:
        """(columns,): whether a flag is set anywhere in it."""
        return column_any(flags, self.where)


def stretch(first: float, last: float, pixels: int, steps: int) -> Stretch:
    """The columns of the steps ``first`` … ``last``: one a step where those are wider than a pixel, else one a pixel,
    which then shows the largest of its steps.
    """
    begin, end = max(int(np.floor(first)), 0), min(int(np.ceil(last)), steps)
    if end - begin <= pixels:
        shown = np.arange(begin, end, dtype=np.int64)
        return Stretch(np.clip(np.arange(begin, end + 1, dtype=np.float64), first, last), Columns(shown, shown + 1))
    return Stretch(np.linspace(first, last, pixels + 1), columns(first, last, pixels, steps))


def runs(flags: BoolArray) -> list[tuple[int, int]]:
    """The half-open ranges in which a flag is set."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


# -- baseline ------------------------------------------------------------------------------------------------------


def matching_steps(current: Timeline, baseline: Timeline) -> IndexArray:
    """(steps, 2): for each step of ``current`` the half-open range of ``baseline``'s steps that correspond to it.

    Steps of one operation correspond in proportion: where an operation took 3 steps and takes 6 now, each old step
    stands for two new ones. Steps of an operation that the baseline has not have an empty range. Where less than half
    of the steps find theirs (another program), steps correspond by number.
    """
    own, other = _runs(current), _runs(baseline)
    ranges = np.zeros((len(current.steps), 2), dtype=np.int64)
    both = np.array([(*own[key], *other[key]) for key in own if key in other], dtype=np.int64).reshape(-1, 4)
    counts = both[:, 1] - both[:, 0]
    found = int(counts.sum())
    start, stop, first, last = np.repeat(both, counts, axis=0).T
    steps = np.arange(found) - np.repeat(np.cumsum(counts) - counts, counts) + start
    places, own_count, other_count = steps - start, stop - start, last - first
    ranges[steps, 0] = first + places * other_count // own_count
    ranges[steps, 1] = first - (-(places + 1) * other_count // own_count)
    if 2 * found < len(current.steps):
        numbers = np.arange(len(current.steps), dtype=np.int64)
        return np.minimum(np.column_stack([numbers, numbers + 1]), len(baseline.steps))
    return ranges


def _runs(timeline: Timeline) -> dict[tuple[int | None, int], tuple[int, int]]:
    """(operation, how many runs of it before) → its run of steps in a row."""
    runs: dict[tuple[int | None, int], tuple[int, int]] = {}
    seen: dict[int | None, int] = {}
    start = 0
    for index in range(1, len(timeline.steps) + 1):
        if index < len(timeline.steps) and timeline.steps[index].source == timeline.steps[start].source:
            continue
        source = timeline.steps[start].source
        number = seen.get(source, 0)
        seen[source] = number + 1
        runs[source, number] = (start, index)
        start = index
    return runs


def matched_max(values: ByteArray, ranges: IndexArray) -> tuple[ByteArray, BoolArray]:
    """Baseline bytes on the current steps: the largest of each range, and whether there is one."""
    present = ranges[:, 1] > ranges[:, 0]
    result = np.zeros(len(ranges), dtype=np.int64)
    if len(values) and bool(present.any()):
        result[present] = column_max(values, Columns(ranges[present, 0], ranges[present, 1]))
    return result, present


@dataclass(frozen=True, slots=True)
class Series:
    """One layer of a stack: (steps,) bytes. ``kind`` is ``parameters``, ``group``, ``rest``, ``scratch`` or ``other``;
    ``operation`` is set for what one operation makes, ``place`` is the category that colours a group."""

    name: str
    kind: str
    sizes: ByteArray
    operation: int | None = None
    place: int = 0


_Group = int | str
"""The operation that makes a layer, or the name of what none makes."""


def _order(group: _Group) -> tuple[bool, int, str]:
    """Operations by number, then names."""
    return (False, group, "") if isinstance(group, int) else (True, 0, group)


NO_BYTES = ClassBytes(0, 0)
PARAMETERS = "parameters"
THROUGHOUT = "live throughout"
SCRATCH = "scratch"
REST = "other operations"
UNEXPLAINED = "not explained by the allocations"
_SCRATCH_IN_MEMORY = 1 << 22
_SCRATCH_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class _Members:
    """What is drawn as one layer: allocations, and steps whose scratch it is."""

    roots: list[int]
    steps: list[int]


class StackSource:
    """What stacks of a timeline are made from, a few arrays at a time (:class:`Stacking`).

    The scratch of the steps that have any is read once and kept, on the disk where it is large; allocations are left to
    the timeline.
    """

    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline
        self.spans = live_spans(timeline)
        self.steps = [step.index for step in timeline.steps if step.scratch != NO_BYTES]
        self._table = StepTable(len(self.steps), timeline.tile_count, 1, _SCRATCH_IN_MEMORY)
        self._fullest = np.zeros((len(self.steps), 2), dtype=np.int64)
        self._read = 0

    def read_scratch(self) -> Iterator[None]:
        """Read the scratch that has not been read yet; yields after each step."""
        while self._read < len(self.steps):
            first, end = self._read, min(self._read + _SCRATCH_AT_ONCE, len(self.steps))
            part = np.zeros((end - first, self.timeline.tile_count, 1), dtype=np.int64)
            for index, step in enumerate(self.steps[first:end]):
                part[index, :, 0] = self._scratch(step)
                tile = fullest_tile(self.timeline.tiles, step)
                self._fullest[first + index] = tile, part[index, tile, 0]
                yield
            small = part.max(initial=0) <= np.iinfo(np.int32).max
            self._table.put(first, part.astype(np.int32) if small else part)
            self._read = end

    def _scratch(self, step: int) -> ByteArray:
        sizes: ByteArray = self.timeline.tiles.scratch(step).sum(axis=1)
        return sizes

    def scratch_on(self, tiles: IndexArray) -> dict[int, int]:
        """Step → bytes of its scratch on the tile given for it in ``tiles`` (steps,), of the steps that have any."""
        wanted = tiles[self.steps]
        one = self._table.curve(int(wanted[0])) if len(wanted) and bool((wanted == wanted[0]).all()) else None
        if one is not None:
            return dict(zip(self.steps, one[:, 0].tolist(), strict=True))
        found = dict(zip(self.steps, self._fullest[:, 1].tolist(), strict=True))
        for index in np.flatnonzero(wanted != self._fullest[:, 0]).tolist():
            found[self.steps[index]] = int(self._scratch(self.steps[index])[wanted[index]])
        return found

    def members(self, resident: frozenset[int]) -> tuple[_Members, _Members, dict[_Group, _Members]]:
        """What is resident, the scratch of steps that name no operation, and all else by the operation that makes it
        (or, where none is known, by its group).
        """
        base, unnamed = _Members([], []), _Members([], [])
        groups: dict[_Group, _Members] = {}
        for root in self.spans:
            maker = self.timeline.maker(root)
            group = self.timeline.values[root].group if maker is None else maker
            held = base if root in resident else groups.setdefault(group, _Members([], []))
            held.roots.append(root)
        for step in self.steps:
            source = self.timeline.steps[step].source
            held = unnamed if source is None else groups.setdefault(source, _Members([], []))
            held.steps.append(step)
        return base, unnamed, groups


class Stacking:
    """A stack in the making: once :meth:`advance` has said True, ``layers`` add up to ``shown.total`` at every step.

    From the bottom: parameters (where the timeline names none, what is live at every step), then the ``top`` operations
    by what they make, those with ``places`` (operation → category) in their order, then those that hold most at the
    largest total, then by their largest bytes, the rest in one layer, then the scratch of steps that name no operation.
    Where a file disagrees with itself, so that the allocations do not add up to its usage, the difference is a layer of
    its own: the sum always is the curve. In LARGEST mode the layers are those of the tile with the largest total.

    ``places`` is asked for when every array has been read once. ``read``: arrays read so far, of ``count``; those of
    the ``top`` operations are read again.
    """

    def __init__(
        self, source: StackSource, shown: Curves, top: int = 6, places: Callable[[], Mapping[int, int]] = dict
    ) -> None:
        self.source, self.shown = source, shown
        self.read, self.count = 0, len(source.steps) + len(source.spans)
        self.layers: tuple[Series, ...] = ()
        self._scratch: dict[int, int] = {}
        self._tiles = np.zeros(0, dtype=np.int64)
        self._is_made = False
        self._work = self._make(top, places)

    def advance(self, arrays: int | None = None) -> bool:
        """Read the next ``arrays`` arrays, all that are left with None; True when the layers are there."""
        self.read += sum(1 for _ in islice(self._work, arrays))
        return self._is_made

    def _make(self, top: int, places: Callable[[], Mapping[int, int]]) -> Iterator[None]:
        shown, timeline = self.shown, self.source.timeline
        count = len(timeline.steps)
        yield from self.source.read_scratch()
        resident, name = _resident(timeline)
        self._tiles = shown.tiles.copy()
        for step in np.flatnonzero(self._tiles < 0).tolist():
            self._tiles[step] = tile_at(timeline, shown, step)
        self._scratch = self.source.scratch_on(self._tiles)
        base, unnamed, members = self.source.members(resident)
        fullest = int(np.argmax(shown.total)) if count else 0
        rest = np.zeros(count, dtype=np.int64)
        weights: dict[_Group, tuple[int, int]] = {}
        for group, held in members.items():
            first, sizes = yield from self._held(held)
            rest[first : first + len(sizes)] += sizes
            there = int(sizes[fullest - first]) if 0 <= fullest - first < len(sizes) else 0
            weights[group] = -there, -int(sizes.max(initial=0))
        parameters = yield from self._whole(base)
        given: dict[_Group, int] = dict(places().items())
        last = len(given)
        ranked = sorted(members, key=lambda group: (given.get(group, last), weights[group], _order(group)))
        free = iter(sorted(set(range(last + top)).difference(given.values())))
        layers = [Series(name, "parameters", parameters)] if resident else []
        for group in ranked[:top]:
            operation, title = (group, f"op {group}") if isinstance(group, int) else (None, group)
            place = given[group] if group in given else next(free)
            sizes = yield from self._whole(members[group])
            layers.append(Series(title, "group", sizes, operation, place))
            rest -= sizes
        if len(ranked) > top:
            layers.append(Series(f"{REST} ({len(ranked) - top:,})", "rest", rest))
        left = yield from self._whole(unnamed)
        if bool(left.any()):
            layers.append(Series(SCRATCH, "scratch", left))
        missing = shown.total - sum((layer.sizes for layer in layers), np.zeros(count, dtype=np.int64))
        if bool(missing.any()):
            layers.append(Series(UNEXPLAINED, "other", missing))
        self.layers, self._is_made = tuple(layers), True

    def _held(self, members: _Members) -> Generator[None, None, tuple[int, ByteArray]]:
        """The first step at which members are live, and their bytes from there on, on the tile of each step: of few
        steps mostly, as most groups are live at few. Yields after each array.
        """
        spans = self.source.spans
        starts = [spans[root][0][0] for root in members.roots] + members.steps
        ends = [spans[root][-1][1] for root in members.roots] + [step + 1 for step in members.steps]
        first = min(starts, default=0)
        sizes = np.zeros(max(ends, default=0) - first, dtype=np.int64)
        for root in members.roots:
            on_tiles = self.source.timeline.tiles.allocation(root)
            for start, stop in spans[root]:
                sizes[start - first : stop - first] += on_tiles[self._tiles[start:stop]]
            yield
        for step in members.steps:
            sizes[step - first] += self._scratch[step]
        return first, sizes

    def _whole(self, members: _Members) -> Generator[None, None, ByteArray]:
        """(steps,) the same at every step."""
        first, sizes = yield from self._held(members)
        result = np.zeros(len(self._tiles), dtype=np.int64)
        result[first : first + len(sizes)] = sizes
        return result


def stack(
    timeline: Timeline, shown: Curves, top: int = 6, places: Callable[[], Mapping[int, int]] = dict
) -> tuple[Series, ...]:
    """The layers of a timeline at once; see :class:`Stacking`."""
    stacking = Stacking(StackSource(timeline), shown, top, places)
    stacking.advance()
    return stacking.layers


def _resident(timeline: Timeline) -> tuple[frozenset[int], str]:
    if timeline.parameters:
        return timeline.parameters, PARAMETERS
    if not timeline.steps:
        return frozenset(), THROUGHOUT
    always = frozenset(timeline.steps[0].live)
    for step in timeline.steps[1:]:
        if not always:
            break
        always = always.intersection(step.live)
    return always, THROUGHOUT
