"""What a worker process does with files. Imports no more than reading needs: someone waits for it."""

from __future__ import annotations

import gc
import time
from pathlib import Path

from tileview.core.memory.accounts import Findings
from tileview.core.memory.file_tiles import StepsRead
from tileview.core.memory.study import study_parts as parts_of_study
from tileview.formats.dumps import Dump
from tileview.formats.opening import open_dump
from tileview.formats.search_state import SearchState, alternatives_problems
from tileview.model.timeline import Problem
from tileview.model.timeline_file import TimelineFile
from tileview.qt.jobs.process import Reporter

TOLD_SECONDS = 0.1
"""How often progress goes out, and how long a request to stop may wait."""


def read_source(path: str, reporter: Reporter) -> Dump:
    """Read a file into a document's source.

    Nothing that a reader makes refers back to itself, so looking for such cycles among its objects would be in vain.
    """

    def told(fraction: float, text: str) -> None:
        reporter.progress(int(fraction * 1000), 1000, text)

    gc.disable()
    try:
        return open_dump(Path(path), told, is_checked=False)
    finally:
        gc.enable()


def check_late(state: SearchState, reporter: Reporter) -> tuple[Problem, ...]:
    """What is wrong in the alternatives of a large recipe that is shown already."""
    told = time.monotonic()

    def tell(share: float, text: str) -> None:
        nonlocal told
        reporter.check()
        if time.monotonic() - told > TOLD_SECONDS:
            told = time.monotonic()
            reporter.progress(int(share * 1000), 1000, "Checking the alternatives")

    return alternatives_problems(state, tell)


def study_rest(payload: tuple[TimelineFile, int], reporter: Reporter) -> tuple[Problem, ...]:
    """Read the numbers per tile of a timeline that is shown already, from a step on, and check all of them.

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
