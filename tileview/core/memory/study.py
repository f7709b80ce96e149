"""Reading all numbers per tile of a timeline file: first what views need of every step, then whether they agree.

A large file is shown before this is done, from the figures that it states itself. The work is cut into parts, so that
it can run in another process and be given up at any of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tileview.core.memory.accounts import TILES, Findings, sums_account
from tileview.core.memory.check_file import ClassPeaks, LiveSums, check_arrays, shortened_problems
from tileview.core.memory.file_tiles import FileNumbers, StepsRead
from tileview.core.memory.from_file import timeline_from_file
from tileview.model.sizes import Size
from tileview.model.timeline import Place, Problem, Timeline, last_largest
from tileview.model.timeline_file import TimelineFile

StudyPart = StepsRead | Findings | tuple[Problem, ...] | None

_STEPS_AT_ONCE: Final = 64


def study_parts(file: TimelineFile, first: int = 0) -> Iterator[StudyPart]:
    """The parts of a study, in this order.

    :class:`~tileview.core.memory.file_tiles.StepsRead` for every run of steps from ``first`` on (none where the file
    has no numbers per tile); then None, many times, while arrays are checked; then what they mean for the verdict
    (:class:`~tileview.core.memory.accounts.Findings`, for
    :func:`~tileview.core.memory.whatif.with_findings`); last a tuple of the problems found: arrays that are
    malformed, and where they disagree with each other or with the figures beside them.
    """
    timeline = timeline_from_file(file)
    numbers = timeline.tiles
    if isinstance(numbers, FileNumbers):
        numbers.start_at(first)
        while not numbers.is_complete:
            yield numbers.read(_STEPS_AT_ONCE)
    values: list[Problem] = []
    steps: list[Problem] = []
    sums, peaks = LiveSums(timeline), ClassPeaks(file)
    for problem in check_arrays(file, timeline, sums, peaks):
        if problem is None:
            yield None
        else:
            (values if problem.value is not None else steps).append(problem)
    faults = list(file.tiles.faults())
    yield _findings(timeline, sums, peaks, [*faults, *values, *steps])
    yield (
        *shortened_problems(faults, "arrays"),
        *shortened_problems(values, "values"),
        *shortened_problems(steps, "steps"),
    )


def _findings(timeline: Timeline, sums: LiveSums, peaks: ClassPeaks, problems: list[Problem]) -> Findings:
    """What the arrays give for the peaks, and which of them are damaged."""
    damage = tuple(f"{problem.place}: {problem.text}" for problem in problems if problem.severity == "error")
    if not isinstance(timeline.tiles, FileNumbers) or timeline.evidence is None or not timeline.tile_count:
        return Findings((), damage)
    known_in_part = bool(damage or timeline.evidence.damage or timeline.unavailable_roots)
    own = timeline.evidence.own
    largest: Size = own[0].peak.maximum_standard_allocation if own else 0

    def place(step: int | None, interleaved: bool) -> Place:
        if step is None:
            return Place()
        usage = timeline.tiles.usage(step)
        return Place(step, last_largest(usage[:, 1] if interleaved else usage.sum(axis=1)), timeline.steps[step].source)

    return Findings(
        (
            *sums_account(TILES, peaks.largest, largest, place, known_in_part),
            *sums_account("its allocations", sums.largest, largest, place, known_in_part),
        ),
        damage,
        peaks.steps(),
    )
