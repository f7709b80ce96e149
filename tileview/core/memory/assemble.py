"""From placed allocations to a timeline: usage and coarse sums per step, peaks, where they are, verdict.

Shared by every origin of a timeline: an estimate, a file without per-tile numbers, a what-if on either.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tileview.core.memory.usage import PlacedTiles
from tileview.core.memory.verdict import Budgets, Unsized, decide
from tileview.model.program import from_columns
from tileview.model.sizes import UNAVAILABLE, Size, Unavailable
from tileview.model.timeline import ByteArray, ClassBytes, Peak, Place, TimelineStep, Verdict, last_largest

NO_SCRATCH = ClassBytes(0, 0)


class StepFacts(NamedTuple):
    """What is known of a step before sums are made; ``live`` are roots, ascending."""

    source: int | None
    operation: str
    kind: str
    execution_count: int
    live: Sequence[int]
    scratch: ClassBytes


@dataclass(frozen=True, slots=True)
class Allocations:
    """The allocations of a timeline, by root.

    ``largest``: largest bytes on any tile, roots of known size only. ``spans``: (root, first step, step after the
    last). ``initial``: roots live before the first step.
    """

    largest: Mapping[int, int]
    interleaved: Callable[[int], bool]
    unavailable: frozenset[int]
    spans: Sequence[tuple[int, int, int]]
    initial: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OwnPeak:
    """The fullest of one operation's own steps.

    ``total``: its largest total on any tile; ``spare``: what is left there of the total budget or of the interleaved
    region, whichever is nearer its end, negative where it is over. Both are unavailable where a term of them is.
    """

    total: Size
    spare: Size


@dataclass(frozen=True, slots=True)
class Judged:
    """Peaks, the earliest steps that have them, the verdict, and the peak of each operation's own steps (not of coarse
    sums)."""

    peak: Peak
    total_peak_step: int | None
    standard_peak_step: int | None
    interleaved_peak_step: int | None
    verdict: Verdict
    own_peaks: Mapping[int, OwnPeak]


@dataclass(frozen=True, slots=True)
class Assembled:
    """Everything that follows from allocations, lifetimes and budgets."""

    steps: tuple[TimelineStep, ...]
    judged: Judged


def assemble(facts: Sequence[StepFacts], allocations: Allocations, placed: PlacedTiles, judged: Judged) -> Assembled:
    """List the steps beside what :func:`judge_allocations` made of the same."""
    return Assembled(listed_steps(facts, allocations, placed), judged)


def judge_allocations(
    facts: Sequence[StepFacts],
    allocations: Allocations,
    placed: PlacedTiles,
    budgets: Budgets,
    exchange_rows: Size,
    unsized: tuple[Unsized, ...],
    *,
    at_least: bool = False,
    coarse_peaks: bool = False,
) -> Judged:
    """Sum, find the peaks, decide.

    Parameters
    ----------
    exchange_rows : int or unavailable
        Reported with the peaks; nothing is decided by it.
    unsized : tuple of Unsized
        Values without a known size that are live at some step (or at the start).
    at_least : bool
        Whether unknown operations make every sum a lower bound.
    coarse_peaks : bool
        Whether peaks are taken of the coarse sums, as version-1 files do, instead of what single tiles hold.
    """
    unknown = steps_unavailable_by_class(facts, allocations)
    worst = placed.worst_of_all().columns
    known: list[list[int]] = worst[:, :3].T.tolist()
    if coarse_peaks:
        standard_sums, interleaved_sums = coarse_sums(facts, allocations)
        known = [sums[: len(facts)] for sums in (standard_sums, interleaved_sums)]
        known.append([a + b for a, b in zip(*known, strict=True)])
    either = [a or b for a, b in zip(*unknown, strict=True)]
    columns = [_Column(figures, missing) for figures, missing in zip(known, (*unknown, either), strict=True)]
    initial = None if facts else _initial(allocations, placed)
    standard, interleaved, total = (
        column.peak() if initial is None else initial[index] for index, column in enumerate(columns)
    )
    largest, largest_place = largest_standard(facts, allocations, placed)
    peak = Peak(standard, interleaved, total, largest, exchange_rows)
    total_step, interleaved_step = columns[2].step(), columns[1].step()
    known_part = peak
    if unsized:
        most = [max(column.known, default=0) for column in columns]
        known_part = Peak(most[0], most[1], most[2], largest, exchange_rows)
        total_step = columns[2].known_step()
    verdict = decide(
        known_part,
        budgets,
        total_place=_place(facts, total_step, None if coarse_peaks else _worst_tile(worst, total_step)),
        interleaved_place=_interleaved_place(facts, placed, known_part, budgets, interleaved_step),
        standard_place=largest_place,
        unsized=unsized,
        at_least=at_least,
    )
    own = {} if coarse_peaks else _own_peaks(facts, columns[2], columns[1], budgets)
    return Judged(peak, columns[2].step(), columns[0].step(), interleaved_step, verdict, own)


def _own_peaks(
    facts: Sequence[StepFacts], totals: _Column, interleaved: _Column, budgets: Budgets
) -> dict[int, OwnPeak]:
    """Operation → the peak of the steps that belong to it."""
    names: dict[int | None, int] = {None: 0}
    of = np.array([names.setdefault(fact.source, len(names)) for fact in facts], dtype=np.int64)
    most = np.full((2, len(names)), -1, dtype=np.int64)
    for sums, column in zip(most, (totals, interleaved), strict=True):
        np.maximum.at(sums, of, np.array(column.known, dtype=np.int64))
    unknown = frozenset(of[np.array(totals.unavailable, dtype=bool)].tolist())
    room = budgets.total - budgets.reserve
    spare = np.minimum(room - most[0], budgets.interleaved - most[1]).tolist()
    peaks = from_columns(OwnPeak, most[0].tolist(), spare)
    for number in unknown:
        peaks[number] = OwnPeak(UNAVAILABLE, UNAVAILABLE)
    return {operation: peak for operation, peak in zip(names, peaks, strict=True) if operation is not None}


class _Column(NamedTuple):
    """A figure at every step: its known part, and whether it is unavailable there."""

    known: Sequence[int]
    unavailable: Sequence[bool]

    def peak(self) -> Size:
        if any(self.unavailable):
            return UNAVAILABLE
        return max(self.known, default=0)

    def step(self) -> int | None:
        """Earliest step with the largest value; an unavailable one is larger than any."""
        if not self.known:
            return None
        if True in self.unavailable:
            return self.unavailable.index(True)
        return self.known_step()

    def known_step(self) -> int | None:
        """Earliest step with the largest known part."""
        return self.known.index(max(self.known)) if self.known else None


def steps_unavailable_by_class(facts: Sequence[StepFacts], allocations: Allocations) -> tuple[list[bool], list[bool]]:
    """For each class, at which steps its sum has an unavailable term."""
    result = ([False] * len(facts), [False] * len(facts))
    for root, first, last in allocations.spans if allocations.unavailable else ():
        if root in allocations.unavailable:
            which = result[1 if allocations.interleaved(root) else 0]
            which[first:last] = [True] * (last - first)
    for index, fact in enumerate(facts):
        scratch = fact.scratch
        if scratch is NO_SCRATCH:
            continue
        if scratch.standard is UNAVAILABLE:
            result[0][index] = True
        if scratch.interleaved is UNAVAILABLE:
            result[1][index] = True
    return result


def listed_steps(facts: Sequence[StepFacts], allocations: Allocations, placed: PlacedTiles) -> tuple[TimelineStep, ...]:
    """The steps as a timeline lists them."""
    unknown, worst = steps_unavailable_by_class(facts, allocations), placed.worst_of_all().columns
    coarse = coarse_sums(facts, allocations)
    made: dict[tuple[Size, Size], ClassBytes] = {}

    def both(standard: Sequence[int], interleaved: Sequence[int]) -> list[ClassBytes]:
        """One object for equal figures: neighbours often have the same."""
        known = zip(standard, interleaved, *unknown, strict=False)
        pairs = [(UNAVAILABLE if no_a else a, UNAVAILABLE if no_b else b) for a, b, no_a, no_b in known]
        return [made.get(pair) or made.setdefault(pair, ClassBytes(*pair)) for pair in pairs]

    usage, sums = both(*worst[:, 4:6].T.tolist()), both(*coarse)
    return tuple(from_columns(TimelineStep, range(len(facts)), *zip(*facts, strict=True), usage, sums) if facts else ())


def coarse_sums(facts: Sequence[StepFacts], allocations: Allocations) -> tuple[list[int], list[int]]:
    """Per class and step: scratch plus, for each live allocation of known size, its largest bytes on any tile."""
    sums = ([0] * (len(facts) + 1), [0] * (len(facts) + 1))
    largest, interleaved_of = allocations.largest, allocations.interleaved
    for root, first, last in allocations.spans:
        if (size := largest.get(root)) is not None:
            column = sums[1 if interleaved_of(root) else 0]
            column[first] += size
            column[last] -= size
    for column in sums:
        running = 0
        for index, change in enumerate(column):
            running += change
            column[index] = running
    for index, fact in enumerate(facts):
        if fact.scratch is NO_SCRATCH:
            continue
        standard, interleaved = fact.scratch.standard, fact.scratch.interleaved
        if not isinstance(standard, Unavailable):
            sums[0][index] += standard
        if not isinstance(interleaved, Unavailable):
            sums[1][index] += interleaved
    return sums


def _initial(allocations: Allocations, placed: PlacedTiles) -> tuple[Size, Size, Size]:
    """Largest standard, interleaved and total of a program without steps: its inputs."""
    rows: list[list[ByteArray]] = [[], []]
    missing = [False, False]
    for root in allocations.initial:
        which = 1 if allocations.interleaved(root) else 0
        if root in allocations.unavailable:
            missing[which] = True
        else:
            rows[which].append(placed.allocation(root))
    standard, interleaved = (np.sum(group, axis=0) if group else np.zeros(1, dtype=np.int64) for group in rows)
    return (
        UNAVAILABLE if missing[0] else int(standard.max(initial=0)),
        UNAVAILABLE if missing[1] else int(interleaved.max(initial=0)),
        UNAVAILABLE if any(missing) else int((standard + interleaved).max(initial=0)),
    )


def largest_standard(facts: Sequence[StepFacts], allocations: Allocations, placed: PlacedTiles) -> tuple[Size, Place]:
    """The largest single standard allocation that is live at some time, or scratch, and where it is first."""
    largest, place = 0, Place()
    sources = [(first, root) for root, first, last in allocations.spans if last > first]
    sources += [(0, root) for root in allocations.initial if not facts]
    if any(root in allocations.unavailable and not allocations.interleaved(root) for _, root in sources):
        return UNAVAILABLE, Place()
    sizes, is_interleaved = allocations.largest, allocations.interleaved
    best: tuple[int, int] | None = None
    for first, root in sources:
        size = sizes.get(root, 0)
        if size < largest or is_interleaved(root):
            continue
        if size > largest or (best is not None and first < best[0]):
            largest, best = size, (first, root)
    if best is not None:
        tile = last_largest(placed.allocation(best[1]))
        place = _place(facts, best[0], tile)
    for index, fact in enumerate(facts):
        if fact.scratch is NO_SCRATCH:
            continue
        scratch = fact.scratch.standard
        if isinstance(scratch, Unavailable):
            return UNAVAILABLE, Place()
        if scratch > largest:
            largest, place = scratch, _place(facts, index, last_largest(placed.scratch(index)[:, 0]))
    return largest, place


def _worst_tile(worst: ByteArray, step: int | None) -> int | None:
    return None if step is None else int(worst[step, 3])


def _place(facts: Sequence[StepFacts], step: int | None, tile: int | None) -> Place:
    if step is None or step >= len(facts):
        return Place(None, tile, None)
    return Place(step, tile, facts[step].source)


def _interleaved_place(
    facts: Sequence[StepFacts], placed: PlacedTiles, peak: Peak, budgets: Budgets, step: int | None
) -> Place:
    """Where the interleaved peak is: looked up only where the verdict will name it."""
    if step is None or isinstance(peak.interleaved, Unavailable) or peak.interleaved <= budgets.interleaved:
        return Place()
    return _place(facts, step, last_largest(placed.usage(step)[:, 1]))
