"""From placed allocations to a timeline: usage and coarse sums per step, peaks, where they are, verdict.

Shared by every origin of a timeline: an estimate, a file without per-tile numbers, a what-if on either.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tileview.core.memory.usage import PlacedTiles
from tileview.core.memory.verdict import Budgets, Unsized, decide
from tileview.model.records import from_columns
from tileview.model.sizes import LARGEST_LIMIT_BYTES, UNAVAILABLE, Size, Unavailable
from tileview.model.timeline import ByteArray, ClassBytes, Peak, Place, TimelineStep, Verdict, last_largest

Mask = npt.NDArray[np.bool_]

NO_SCRATCH = ClassBytes(0, 0)


class StepFacts(NamedTuple):
    """What is known of a step before sums are made; ``live`` are roots, ascending."""

    source: int | None
    operation: str
    kind: str
    execution_count: int
    live: Sequence[int]
    scratch: ClassBytes


class StepWork(NamedTuple):
    """``sources``: the operation of each step. ``scratch``: step → its working memory, of steps that have any."""

    sources: Sequence[int | None]
    scratch: Mapping[int, ClassBytes]

    @classmethod
    def of(cls, facts: Sequence[StepFacts]) -> StepWork:
        """That of steps of which all is known."""
        scratch = {step: fact.scratch for step, fact in enumerate(facts) if fact.scratch is not NO_SCRATCH}
        return cls([fact.source for fact in facts], scratch)


class Spans(NamedTuple):
    """The stretches of steps in which allocations are live, as columns; one row for each.

    ``last`` is the step after the last. ``sizes``: largest bytes on any tile, 0 where the size is not ``known``.
    """

    roots: ByteArray
    first: ByteArray
    last: ByteArray
    sizes: ByteArray
    interleaved: Mask
    known: Mask


@dataclass(frozen=True, slots=True)
class Allocations:
    """The allocations of a timeline.

    ``size_of``: root → largest bytes on any tile, 0 where the size is not known. ``initial``: roots live before the
    first step.
    """

    spans: Spans
    size_of: Callable[[int], int]
    interleaved: Callable[[int], bool]
    unavailable: frozenset[int]
    initial: tuple[int, ...]

    @classmethod
    def listed(
        cls,
        largest: Mapping[int, int],
        interleaved: Callable[[int], bool],
        unavailable: frozenset[int],
        spans: Sequence[tuple[int, int, int]],
        initial: tuple[int, ...],
    ) -> Allocations:
        """Of allocations one by one: ``largest`` for roots of known size only, ``spans`` as (root, first step, step
        after the last)."""
        roots, first, last = np.array(spans, dtype=np.int64).reshape(-1, 3).T
        named = [root for root, _, _ in spans]
        sizes = np.array([largest.get(root, 0) for root in named], dtype=np.int64)
        within = np.array([interleaved(root) for root in named], dtype=bool)
        known = np.array([root not in unavailable for root in named], dtype=bool)
        table = Spans(roots, first, last, sizes, within, known)
        return cls(table, lambda root: largest.get(root, 0), interleaved, unavailable, initial)


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


def judge_allocations(
    work: StepWork,
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
    steps = len(work.sources)
    unknown = steps_unavailable_by_class(work, allocations)
    worst = placed.worst_of_all().columns
    known = list(worst[:, :3].T)
    if coarse_peaks:  # of a file: sums that may be beyond 64 bits
        known = [np.array(sums[:steps], dtype=object) for sums in coarse_sums(work, allocations)]
        known.append(known[0] + known[1])
    columns = [_Column(*one) for one in zip(known, (*unknown, unknown[0] | unknown[1]), strict=True)]
    initial = None if steps else _initial(allocations, placed)
    standard, interleaved, total = (
        column.peak() if initial is None else initial[index] for index, column in enumerate(columns)
    )
    largest, largest_place = largest_standard(work, allocations, placed)
    peak = Peak(standard, interleaved, total, largest, exchange_rows)
    total_step, interleaved_step = columns[2].step(), columns[1].step()
    known_part = peak
    if unsized:
        most = [int(column.known.max(initial=0)) for column in columns]
        known_part = Peak(most[0], most[1], most[2], largest, exchange_rows)
        total_step = columns[2].known_step()
    verdict = decide(
        known_part,
        budgets,
        total_place=_place(work, total_step, None if coarse_peaks else _worst_tile(worst, total_step)),
        interleaved_place=_interleaved_place(work, placed, known_part, budgets, interleaved_step),
        standard_place=largest_place,
        unsized=unsized,
        at_least=at_least,
    )
    own = {} if coarse_peaks else _own_peaks(work, columns[2], columns[1], budgets)
    return Judged(peak, columns[2].step(), columns[0].step(), interleaved_step, verdict, own)


def _own_peaks(work: StepWork, totals: _Column, interleaved: _Column, budgets: Budgets) -> dict[int, OwnPeak]:
    """Operation → the peak of the steps that belong to it."""
    names: dict[int | None, int] = {None: 0}
    of = np.array([names.setdefault(source, len(names)) for source in work.sources], dtype=np.int64)
    most = np.full((2, len(names)), -1, dtype=np.int64)
    for sums, column in zip(most, (totals, interleaved), strict=True):
        np.maximum.at(sums, of, column.known.astype(np.int64))
    unknown = frozenset(of[totals.unavailable].tolist())
    room = budgets.total - budgets.reserve
    spare = np.minimum(room - most[0], budgets.interleaved - most[1]).tolist()
    peaks = from_columns(OwnPeak, most[0].tolist(), spare)
    for number in unknown:
        peaks[number] = OwnPeak(UNAVAILABLE, UNAVAILABLE)
    return {operation: peak for operation, peak in zip(names, peaks, strict=True) if operation is not None}


class _Column(NamedTuple):
    """A figure at every step, (steps,): its known part, and whether it is unavailable there."""

    known: npt.NDArray[Any]
    unavailable: Mask

    def peak(self) -> Size:
        return UNAVAILABLE if self.unavailable.any() else int(self.known.max(initial=0))

    def step(self) -> int | None:
        """Earliest step with the largest value; an unavailable one is larger than any."""
        return int(self.unavailable.argmax()) if self.unavailable.any() else self.known_step()

    def known_step(self) -> int | None:
        """Earliest step with the largest known part."""
        return int(self.known.argmax()) if len(self.known) else None


def steps_unavailable_by_class(work: StepWork, allocations: Allocations) -> tuple[Mask, Mask]:
    """For each class, (steps,): whether its sum has an unavailable term."""
    standard, interleaved = np.zeros((2, len(work.sources)), dtype=bool)
    spans = allocations.spans
    for span in np.flatnonzero(~spans.known).tolist():
        which = interleaved if spans.interleaved[span] else standard
        which[spans.first[span] : spans.last[span]] = True
    for index, scratch in work.scratch.items():
        if scratch.standard is UNAVAILABLE:
            standard[index] = True
        if scratch.interleaved is UNAVAILABLE:
            interleaved[index] = True
    return standard, interleaved


def listed_steps(
    facts: Sequence[Sequence[object]], work: StepWork, allocations: Allocations, placed: PlacedTiles
) -> tuple[TimelineStep, ...]:
    """The steps as a timeline lists them; ``facts``: a column for each field of :class:`StepFacts`."""
    worst, coarse = placed.worst_of_all().columns, coarse_sums(work, allocations)
    steps = len(work.sources)
    if not steps:
        return ()
    unknown = [mask.tolist() if mask.any() else None for mask in steps_unavailable_by_class(work, allocations)]
    made: dict[tuple[Size, Size], ClassBytes] = {}

    def both(*known: list[int]) -> list[ClassBytes]:
        """One object for equal figures: neighbours often have the same."""
        standard, interleaved = (
            figures
            if missing is None
            else [UNAVAILABLE if no else one for one, no in zip(figures, missing, strict=True)]
            for figures, missing in zip(known, unknown, strict=True)
        )
        pairs = list(zip(standard, interleaved, strict=True))
        made.update((pair, ClassBytes(*pair)) for pair in set(pairs) - made.keys())
        return [made[pair] for pair in pairs]

    usage, sums = both(*worst[:, 4:6].T.tolist()), both(coarse[0][:steps], coarse[1][:steps])
    return tuple(from_columns(TimelineStep, range(steps), *facts, usage, sums))


def coarse_sums(work: StepWork, allocations: Allocations) -> tuple[list[int], list[int]]:
    """Per class and step: scratch plus, for each live allocation of known size, its largest bytes on any tile."""
    spans, steps = allocations.spans, len(work.sources)
    fits = int(spans.sizes.max(initial=0)) * len(spans.sizes) <= LARGEST_LIMIT_BYTES
    columns = np.zeros((2, steps + 1), dtype=np.int64 if fits else object)
    column = spans.interleaved.astype(np.int64)
    sizes = spans.sizes.astype(columns.dtype)
    np.add.at(columns, (column, spans.first), sizes)
    np.subtract.at(columns, (column, spans.last), sizes)
    standard, interleaved = np.cumsum(columns, axis=1).tolist()
    for index, scratch in work.scratch.items():
        if not isinstance(scratch.standard, Unavailable):
            standard[index] += scratch.standard
        if not isinstance(scratch.interleaved, Unavailable):
            interleaved[index] += scratch.interleaved
    return standard, interleaved


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


def largest_standard(work: StepWork, allocations: Allocations, placed: PlacedTiles) -> tuple[Size, Place]:
    """The largest single standard allocation that is live at some time, or scratch, and where it is first."""
    spans = allocations.spans
    counted = (spans.last > spans.first) & ~spans.interleaved
    if bool((counted & ~spans.known).any()):
        return UNAVAILABLE, Place()
    largest, place = 0, Place()
    sizes = np.where(counted, spans.sizes, 0)
    if sizes.max(initial=0) > 0:
        largest = int(sizes.max())
        those = np.flatnonzero(sizes == largest)
        chosen = those[spans.first[those].argmin()]
        tile = last_largest(placed.allocation(int(spans.roots[chosen])))
        place = _place(work, int(spans.first[chosen]), tile)
    for root in allocations.initial if not work.sources else ():
        if allocations.interleaved(root):
            continue
        if root in allocations.unavailable:
            return UNAVAILABLE, Place()
        if allocations.size_of(root) > largest:
            largest = allocations.size_of(root)
            place = _place(work, 0, last_largest(placed.allocation(root)))
    for index in sorted(work.scratch):
        scratch = work.scratch[index].standard
        if isinstance(scratch, Unavailable):
            return UNAVAILABLE, Place()
        if scratch > largest:
            largest, place = scratch, _place(work, index, last_largest(placed.scratch(index)[:, 0]))
    return largest, place


def _worst_tile(worst: ByteArray, step: int | None) -> int | None:
    return None if step is None else int(worst[step, 3])


def _place(work: StepWork, step: int | None, tile: int | None) -> Place:
    if step is None or step >= len(work.sources):
        return Place(None, tile, None)
    return Place(step, tile, work.sources[step])


def _interleaved_place(work: StepWork, placed: PlacedTiles, peak: Peak, budgets: Budgets, step: int | None) -> Place:
    """Where the interleaved peak is: looked up only where the verdict will name it."""
    if step is None or isinstance(peak.interleaved, Unavailable) or peak.interleaved <= budgets.interleaved:
        return Place()
    return _place(work, step, last_largest(placed.usage(step)[:, 1]))
