"""Steps by what they are, not by number: what is noted on one is found again after an edit."""

from __future__ import annotations

from collections.abc import Mapping

from tileview.model.timeline import Timeline


def step_keys(timeline: Timeline) -> list[str]:
    """A key for each step: its operation, its kind, and how many such steps come before it."""
    seen: dict[tuple[int | None, str], int] = {}
    keys = []
    for step in timeline.steps:
        kind = (step.source, step.kind)
        seen[kind] = seen.get(kind, 0) + 1
        keys.append(f"{'-' if step.source is None else step.source} {step.kind} {seen[kind]}")
    return keys


def noted_steps(timeline: Timeline, notes: Mapping[str, str]) -> dict[int, str]:
    """Step → note, for the notes whose step the timeline has."""
    if not notes:
        return {}
    return {step: notes[key] for step, key in enumerate(step_keys(timeline)) if key in notes}
