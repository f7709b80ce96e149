"""What the worker process does with a timeline that is shown already: read its numbers per tile to their end."""

from __future__ import annotations

import time

from tileview.core.memory.accounts import Findings
from tileview.core.memory.file_tiles import StepsRead
from tileview.core.memory.study import study as parts_of_study
from tileview.model.timeline import Problem
from tileview.model.timeline_file import TimelineFile
from tileview.qt.jobs.worker import Reporter

TOLD_SECONDS = 0.1
"""How often progress goes out, and how long a request to stop may wait."""


def study(payload: tuple[TimelineFile, int], reporter: Reporter) -> tuple[Problem, ...]:
    """Read the numbers per tile from a step on, and check all of them.

    What was read goes out in parts (:class:`~tileview.core.memory.file_tiles.StepsRead`), so does what it means for the
    verdict (:class:`~tileview.core.memory.accounts.Findings`); the result is what the check has found.
    """
    file, first = payload
    steps, checks = len(file.steps), len(file.steps) + len(file.values)
    done, total, text, told = 0, 0, "", 0.0
    problems: tuple[Problem, ...] = ()
    for part in parts_of_study(file, first):
        if isinstance(part, Findings):
            reporter.part(part)
        elif isinstance(part, StepsRead):
            reporter.part(part)
            done = part.first + len(part.worst)
            total, text = steps, f"Reading step {done:,} of {steps:,}"
            done = 0 if done == steps else done
        elif part is not None:
            problems = part
        else:
            done += 1
            total, text = checks, "Checking the numbers per tile"
        if time.monotonic() - told > TOLD_SECONDS:
            told = time.monotonic()
            reporter.progress(done, total, text)
    file.tiles.close()
    return problems
