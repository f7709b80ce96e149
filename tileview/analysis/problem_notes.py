"""What is wrong with a file though it can be shown, and what has no size, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tileview.model.sizes import Unavailable
from tileview.model.timeline import Problem, Timeline, TimelineValue

_MOST_PROBLEMS: Final = 20
NO_SIZE: Final = "its size cannot be computed"


def unavailable_values(timeline: Timeline | None) -> list[tuple[TimelineValue, str]]:
    """Every value without a known size, and why."""
    if timeline is None:
        return []
    return [(value, value.layout_error or NO_SIZE) for value in timeline.values if isinstance(value.bytes, Unavailable)]


def notes_with_problems(notes: Sequence[str], timeline: Timeline | None, problems: Sequence[Problem]) -> list[str]:
    """Notes, and what is wrong with the file though it can be shown; values without a size are told elsewhere."""
    sizeless = {f"no size: {reason}" for _, reason in unavailable_values(timeline)}
    serious = [problem for problem in problems if problem.severity != "note" and problem.text not in sizeless]
    found = [*notes, *(problem_text(problem) for problem in serious[:_MOST_PROBLEMS])]
    if len(serious) > _MOST_PROBLEMS:
        found.append(f"and {len(serious) - _MOST_PROBLEMS} further problems")
    return found


def problem_text(problem: Problem) -> str:
    """A problem on one line, with its place and what would help."""
    place = f"{problem.place}: " if problem.place else ""
    hint = f". {problem.hint}" if problem.hint else ""
    return f"{problem.severity}: {place}{problem.text.rstrip('.') if hint else problem.text}{hint}"
