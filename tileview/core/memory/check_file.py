"""Whether a timeline file agrees with itself.
 :func:`check_figures` compares what is cheap: sums, peaks, the verdict. :func:`check_step` and :func:`check_value`
compare per-tile arrays and are meant for what is being looked at, or for a thorough check in the background.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tileview.core.memory.footprint import footprint
from tileview.core.memory.infer import element_size
from tileview.core.memory.verdict import contiguous_bytes, contiguous_overflow
from tileview.model.config import INTERLEAVED_BYTES
from tileview.model.sizes import U64_MAX, UNAVAILABLE, Size, Unavailable, size_to_u64
from tileview.model.tensor import MemoryClass
from tileview.model.timeline import ByteArray, ClassBytes, Peak, Problem, Timeline
from tileview.model.timeline_file import TimelineFile

_MOST_REPORTED = 20
"""Disagreements of one kind that are listed one by one."""


def version3_peak(file: TimelineFile) -> tuple[Peak, list[Problem]]:
    """A file's peaks in the meaning of version 3: without the exchange rows that older versions include."""
    peak = file.peak
    if not file.peak_includes_exchange_rows:
        return peak, []
    problems: list[Problem] = []

    def without(size: Size, field: str) -> Size:
        if isinstance(size, Unavailable) or isinstance(peak.exchange_rows, Unavailable):
            return UNAVAILABLE
        if size < peak.exchange_rows:
            text = f"peak.{field}: {size:,} B cannot include the {peak.exchange_rows:,} B of exchange rows"
            problems.append(Problem("warning", f"peak.{field}", text, "The peak is unavailable."))
            return UNAVAILABLE
        return size - peak.exchange_rows

    corrected = Peak(
        without(peak.standard, "standard"),
        peak.interleaved,
        without(peak.total, "total"),
        peak.maximum_standard_allocation,
        peak.exchange_rows,
    )
    return corrected, problems


def check_figures(file: TimelineFile, coarse: tuple[list[int], list[int]], largest: Size) -> list[Problem]:
    """Disagreements among the figures of a file that need no per-tile array.

    Parameters
    ----------
    coarse : pair of lists
        Per class and step, the sum of allocation maxima by the file's own value sizes, known part.
    largest : Size
        The largest standard allocation that is live at some step, or scratch, by the same sizes.
    """
    problems = [*_check_copies(file), *_check_coarse(file, coarse), *_check_peaks(file)]
    stated = file.peak.maximum_standard_allocation
    if file.steps and size_to_u64(stated) != size_to_u64(largest):
        place = "peak.maximum_standard_allocation"
        problems.append(_differs(place, stated, largest, "live allocations and scratch"))
    total = file.peak.total
    effective: Size = UNAVAILABLE if isinstance(total, Unavailable) else total + file.reserve_bytes
    if size_to_u64(effective) != size_to_u64(file.effective_peak_bytes):
        problems.append(
            _differs("effective_peak_bytes", file.effective_peak_bytes, effective, "total peak and reserve")
        )
    if (overflow := _expected_overflow(file)) is not None and overflow != size_to_u64(file.contiguous_overflow_bytes):
        field, source = "standard_contiguous_overflow_bytes", "its largest standard allocation and limits"
        found = UNAVAILABLE if isinstance(stated, Unavailable) else overflow
        problems.append(_differs(field, known_overflow(file), found, source))
    return problems


def known_overflow(file: TimelineFile) -> Size:
    """The file's contiguous overflow; unavailable too where it is what is left of an unavailable allocation."""
    overflow = file.contiguous_overflow_bytes
    lost = isinstance(overflow, int) and overflow + INTERLEAVED_BYTES >= U64_MAX
    return UNAVAILABLE if lost else overflow


def _expected_overflow(file: TimelineFile) -> int | None:
    """The contiguous overflow as the compiler writes it, from saturated numbers; None where it cannot be told."""
    if isinstance(file.peak.exchange_rows, Unavailable):
        return None
    taken = file.reserve_bytes + file.peak.exchange_rows
    largest = file.peak.maximum_standard_allocation
    if isinstance(largest, Unavailable):
        return U64_MAX - contiguous_bytes(taken)
    return size_to_u64(contiguous_overflow(largest, taken))


def _differs(place: str, stated: Size, found: Size, source: str, step: int | None = None) -> Problem:
    return Problem("warning", place, f"the file says {_text(stated)}, {source} give {_text(found)}", step=step)


def _text(size: Size) -> str:
    return "unavailable" if isinstance(size, Unavailable) else f"{size:,} B"


def _check_copies(file: TimelineFile) -> list[Problem]:
    problems = []
    for index, value in enumerate(file.values):
        expected: Size = UNAVAILABLE
        if not isinstance(value.aligned_bytes, Unavailable):
            expected = value.aligned_bytes * value.copies
        if size_to_u64(expected) != size_to_u64(value.bytes):
            place = f"timeline.values[{index}].bytes"
            times = f"{value.copies} {'copy' if value.copies == 1 else 'copies'} of {_text(value.aligned_bytes)}"
            text = f"the file says {_text(value.bytes)}, {times} would be {_text(expected)}"
            problems.append(Problem("warning", place, text, value=index))
    return shortened_problems(problems, "values")


def _check_coarse(file: TimelineFile, coarse: tuple[list[int], list[int]]) -> list[Problem]:
    problems = []
    for index, step in enumerate(file.steps):
        stated = step.usage if file.usage_is_coarse else step.coarse
        if stated is None:
            continue
        field = "usage" if file.usage_is_coarse else "coarse_usage"
        for name, size, sums in (
            ("standard", stated.standard, coarse[0]),
            ("interleaved", stated.interleaved, coarse[1]),
        ):
            if not isinstance(size, Unavailable) and size != sums[index]:
                place = f"timeline.steps[{index}].{field}.{name}"
                problems.append(_differs(place, size, sums[index], "live allocations and scratch", index))
    return shortened_problems(problems, "steps")


def _check_peaks(file: TimelineFile) -> list[Problem]:
    """Peaks and peak steps against the steps' usage.

    The total peak is the largest total usage. A class peak is the largest over all tiles, so at least the largest
    usage of its class; in version 1, where usage is coarse, it is just that.
    """
    if not file.steps:
        return []
    problems = []
    extra = file.peak.exchange_rows if file.peak_includes_exchange_rows else 0
    columns = {
        "total": ([step.usage.total for step in file.steps], extra, file.peak.total, file.total_peak_step),
        "standard": ([s.usage.standard for s in file.steps], extra, file.peak.standard, file.standard_peak_step),
        "interleaved": (
            [s.usage.interleaved for s in file.steps],
            0,
            file.peak.interleaved,
            file.interleaved_peak_step,
        ),
    }
    for name, (usage, rows, stated, stated_step) in columns.items():
        largest = max(usage, key=size_to_u64)
        found: Size = UNAVAILABLE
        if not isinstance(largest, Unavailable) and not isinstance(rows, Unavailable):
            found = largest + rows
        exact = name == "total" or file.usage_is_coarse
        if size_to_u64(stated) < size_to_u64(found) or (exact and size_to_u64(stated) != size_to_u64(found)):
            problems.append(_differs(f"peak.{name}", stated, found, "the steps"))
        elif exact and stated_step != usage.index(largest):
            problems.append(_other_step(name, stated_step, usage.index(largest)))
        elif stated_step is not None and not 0 <= stated_step < len(file.steps):
            text = f"there is no step {stated_step}"
            problems.append(Problem("warning", f"{name}_peak_step", text))
    told = {problem.place for problem in file.problems}
    return [problem for problem in problems if problem.place not in told]


def _other_step(name: str, stated: int | None, earliest: int) -> Problem:
    said = "names no step" if stated is None else f"says {stated}"
    text = f"the file {said}, the earliest step with the largest value is {earliest}"
    return Problem("warning", f"{name}_peak_step", text)


class ClassPeaks:
    """The largest standard and interleaved usage on any tile over all steps, from the steps' arrays, and when it is
    first reached: what the file's peaks of the two classes have to be.

    What is live before the first step is live at it, so the steps decide.
    """

    def __init__(self, file: TimelineFile) -> None:
        self._file = file
        self.largest: list[tuple[int, int, int]] = []
        """Of every step the largest standard, interleaved and total on a tile; 0 where the array cannot be used."""
        self._whole = True

    def add(self, step: int) -> None:
        """Take in a step; steps come in their order."""
        usage = self._file.tiles.tile_usage(step)
        if usage is None or not len(usage) or usage.min() < 0:
            self._whole = False
            self.largest.append((0, 0, 0))
            return
        standard, interleaved = usage.max(axis=0).tolist()
        self.largest.append((standard, interleaved, int(usage.sum(axis=1).max())))

    def steps(self) -> tuple[int, int, int] | None:
        """The earliest step of the largest standard, interleaved and total usage; None where an array is missing."""
        if not self.largest or not self._whole:
            return None
        standard, interleaved, total = (column.index(max(column)) for column in zip(*self.largest, strict=True))
        return standard, interleaved, total

    def problems(self) -> list[Problem]:
        """Peaks and peak steps that differ; nothing where an array was missing or had unavailable entries."""
        file = self._file
        rows = file.peak.exchange_rows if file.peak_includes_exchange_rows else 0
        steps = self.steps()
        if steps is None or isinstance(rows, Unavailable):
            return []
        found = []
        for name, column, stated, extra, step in (
            ("standard", 0, file.peak.standard, rows, file.standard_peak_step),
            ("interleaved", 1, file.peak.interleaved, 0, file.interleaved_peak_step),
        ):
            largest = max(sizes[column] for sizes in self.largest) + extra
            if size_to_u64(stated) != largest:
                found.append(_differs(f"peak.{name}", stated, largest, "the tiles of all steps"))
            elif step != steps[column]:
                found.append(_other_step(name, step, steps[column]))
        return found


class LiveSums:
    """What the live allocations of a step hold on every tile, carried on from step to step by what came and went.

    Adding up thousands of allocations anew at each of thousands of steps would take minutes.
    """

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._live: frozenset[int] = frozenset()
        self._listed: Sequence[int] = ()
        self._sums = np.zeros((2, timeline.tile_count), dtype=np.int64)
        self.largest: list[tuple[int, int, int]] = []
        """Of every step checked, the largest standard, interleaved and total on a tile, scratch included; 0 where it
        cannot be told."""

    def at(self, live: Sequence[int]) -> ByteArray:
        """(2, tiles): standard and interleaved bytes of these roots; known part, to be copied before it is changed."""
        if live is not self._listed:
            now = frozenset(live)
            for root in now - self._live:
                self._row(root)[:] += self._timeline.tiles.allocation(root)
            for root in self._live - now:
                self._row(root)[:] -= self._timeline.tiles.allocation(root)
            self._live, self._listed = now, live
        return self._sums

    def _row(self, root: int) -> ByteArray:
        last = self._timeline.values[self._timeline.aliases[root][-1]]
        row: ByteArray = self._sums[1 if last.memory_class is MemoryClass.INTERLEAVED else 0]
        return row


def check_step(file: TimelineFile, timeline: Timeline, step: int, sums: LiveSums | None = None) -> list[Problem]:
    """Whether a step's tiles hold the sum of live allocations and scratch, and its usage is that of the fullest tile.

    ``sums`` carries the sums from one step to the next where several are checked.
    """
    usage = file.tiles.tile_usage(step)
    live = timeline.steps[step].live
    sums = sums or LiveSums(timeline)
    scratch = timeline.tiles.scratch(step)
    found = (sums.at(live) + scratch.T).T
    if len(found):
        sums.largest.append((int(found[:, 0].max()), int(found[:, 1].max()), int(found.sum(axis=1).max())))
    if usage is None or not timeline.unavailable_roots.isdisjoint(live):
        return []
    for name, array in (("tile_usage", usage), ("tile_scratch", file.tiles.tile_scratch(step))):
        if array is not None and array.min(initial=0) < 0:
            return [_unavailable_entries(f"timeline.steps[{step}].{name}", array.min(axis=1), step=step)]
    problems = []
    different = np.flatnonzero((usage != found).any(axis=1))
    if len(different):
        tile = int(different[0])
        text = (
            f"{len(different)} tiles disagree with live allocations and scratch, first tile {tile}: the file says "
            f"{usage[tile].tolist()}, they give {found[tile].tolist()}"
        )
        problems.append(Problem("warning", f"timeline.steps[{step}].tile_usage", text, step=step))
    problems += _check_stated(file, step, usage, scratch)
    return problems


def _unavailable_entries(
    place: str, numbers: ByteArray, name: str = "", value: int | None = None, step: int | None = None
) -> Problem:
    """An array with entries of 2^64 − 1 where every size is known."""
    tiles = np.flatnonzero(numbers < 0)
    count = f"{len(tiles):,} entries are" if len(tiles) > 1 else "1 entry is"
    text = f"{name}{count} unavailable (2^64 − 1), first tile {int(tiles[0])}"
    return Problem("error", place, text, "What is known is summed.", value=value, step=step)


def _check_stated(file: TimelineFile, step: int, usage: ByteArray, scratch: ByteArray) -> list[Problem]:
    """A step's stated usage and scratch against its arrays."""
    entry = file.steps[step]
    total = usage.sum(axis=1)
    problems = []
    if len(total):
        tile = int(np.flatnonzero(total == total.max())[-1])
        found = ClassBytes(int(usage[tile, 0]), int(usage[tile, 1]))
        if found != entry.usage:
            text = f"the file says {_pair(entry.usage)}, its fullest tile {tile} holds {_pair(found)}"
            problems.append(Problem("warning", f"timeline.steps[{step}].usage", text, step=step))
        largest = ClassBytes(int(scratch[:, 0].max()), int(scratch[:, 1].max()))
        if largest != entry.scratch:
            text = f"the file says {_pair(entry.scratch)}, the largest on a tile is {_pair(largest)}"
            problems.append(Problem("warning", f"timeline.steps[{step}].scratch", text, step=step))
    return problems


def _pair(sizes: ClassBytes) -> str:
    return f"standard {_text(sizes.standard)}, interleaved {_text(sizes.interleaved)}"


def check_value(file: TimelineFile, timeline: Timeline, value: int) -> list[Problem]:
    """Whether the arrays of a value have the largest entries that the file states, and its bytes follow from its
    shards.
    """
    entry = file.values[value]
    shards, sizes = file.tiles.tile_shards(value), file.tiles.tile_bytes(value)
    problems = []
    name, is_known = f"{entry.name}: ", entry.root not in timeline.unavailable_roots
    for field, array in (("tile_shards", shards), ("tile_bytes", sizes)):
        if is_known and array is not None and array.min(initial=0) < 0:
            problems.append(_unavailable_entries(f"timeline.values[{value}].{field}", array, name, value))
    if problems:
        return problems
    for field, array, stated in (("tile_shards", shards, entry.shard_bytes), ("tile_bytes", sizes, entry.bytes)):
        if array is None or isinstance(stated, Unavailable):
            continue
        largest = int(array.max(initial=0))
        if largest != stated:
            text = f"{entry.name}: the largest is {largest:,} B, the file says {stated:,} B"
            problems.append(Problem("warning", f"timeline.values[{value}].{field}", text, value=value))
    problems += _check_shards(timeline, value, shards)
    if shards is not None and sizes is not None and is_known:
        tail = timeline.tails.get(entry.root, 0)
        rounding = element_size(entry) if entry.root in timeline.aligned_roots else 1
        expected = np.where(shards > 0, -(-(shards + tail) // rounding) * rounding, 0) * entry.copies
        different = np.flatnonzero(expected != sizes)
        if len(different):
            tile = int(different[0])
            text = (
                f"{entry.name}: on {len(different)} tiles bytes do not follow from shards, first tile {tile}: "
                f"{sizes[tile]:,} B for a shard of {shards[tile]:,} B"
            )
            problems.append(Problem("warning", f"timeline.values[{value}].tile_bytes", text, value=value))
    return problems


def _check_shards(timeline: Timeline, value: int, shards: ByteArray | None) -> list[Problem]:
    """Whether a value's shards are those that its shape and layout give, on whichever tiles; nothing where they give
    none, or where the largest of them is another already."""
    entry = timeline.values[value]
    derived = footprint(entry.shape, entry.precision, entry.layout, timeline.tile_count)
    if shards is None or isinstance(entry.shard_bytes, Unavailable) or derived.shard != entry.shard_bytes:
        return []
    ours, theirs = np.sort(derived.count_shards(timeline.tile_count)), np.sort(shards)
    if np.array_equal(ours, theirs) or int(theirs[-1]) != entry.shard_bytes:
        return []
    given, found = int(theirs.sum()), int(ours.sum())
    if given == found and np.count_nonzero(theirs) < np.count_nonzero(ours):
        return []  # several owners on one tile
    text = f"{entry.name}: the shards are not of the sizes that shape and layout give"
    if given != found:
        text = f"{entry.name}: the shards of all tiles are {given:,} B, shape and layout give {found:,} B"
    return [Problem("warning", f"timeline.values[{value}].tile_shards", text, value=value)]


def check_arrays(
    file: TimelineFile, timeline: Timeline, sums: LiveSums | None = None, peaks: ClassPeaks | None = None
) -> Iterator[Problem | None]:
    """Every disagreement of per-tile arrays, values first; slow for large files, to be drawn from bit by bit.

    Gives None after each value and step, so that whoever draws can stop or report how far it is. ``sums`` and
    ``peaks``, where given, hold afterwards what was found at every step.
    """
    for value in range(len(file.values)):
        yield from check_value(file, timeline, value)
        yield None
    sums, peaks = sums or LiveSums(timeline), peaks or ClassPeaks(file)
    for step in range(len(file.steps)):
        yield from check_step(file, timeline, step, sums)
        peaks.add(step)
        yield None
    told = {problem.place for problem in timeline.problems}
    yield from (problem for problem in peaks.problems() if problem.place not in told)


def shortened_problems(problems: list[Problem], what: str) -> list[Problem]:
    """The first few problems of one kind, and how many more there are."""
    if len(problems) <= _MOST_REPORTED:
        return problems
    rest = len(problems) - _MOST_REPORTED
    last = Problem("warning", f"timeline.{what}", f"{rest:,} more disagree in the same way")
    return [*problems[:_MOST_REPORTED], last]
