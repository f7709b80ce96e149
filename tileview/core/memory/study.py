"""Reading all numbers per tile of a timeline file: first what views need of every step, then whether they agree.

A large file is shown before this is done, from the figures that it states itself. The work is cut into parts, so that
it can run in another process and be given up at any of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tileview.core.memory.check_file import check_arrays, shortened
from tileview.core.memory.file_tiles import FileNumbers, StepsRead
from tileview.core.memory.from_file import timeline_from_file
from tileview.model.timeline import Problem
from tileview.model.timeline_file import TimelineFile

StudyPart = StepsRead | tuple[Problem, ...] | None

_STEPS_AT_ONCE: Final = 64


def study(file: TimelineFile, first: int = 0) -> Iterator[StudyPart]:
    """The parts of a study, in this order.

    :class:`~tileview.core.memory.file_tiles.StepsRead` for every run of steps from ``first`` on (none where the file
    has no numbers per tile); then None, many times, while arrays are checked; last a tuple of the problems found:
    arrays that are malformed, and where they disagree with each other or with the figures beside them.
    """
    timeline = timeline_from_file(file)
    numbers = timeline.tiles
    if isinstance(numbers, FileNumbers):
        numbers.start_at(first)
        while not numbers.is_complete:
            yield numbers.read(_STEPS_AT_ONCE)
    values: list[Problem] = []
    steps: list[Problem] = []
    for problem in check_arrays(file, timeline):
        if problem is None:
            yield None
        else:
            (values if problem.value is not None else steps).append(problem)
    faults = list(file.tiles.faults())
    yield (*shortened(faults, "arrays"), *shortened(values, "values"), *shortened(steps, "steps"))
