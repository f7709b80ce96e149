"""Steps and allocations by what they are, not by number: what is selected or noted is found again after an edit."""

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


def same_step(before: Timeline, after: Timeline, step: int) -> int | None:
    """Where a step of one timeline is in another of the same program with other plans.

    The step with the same key; where there is none, the first of its operation; None where that has no step either.
    """
    if before.steps is after.steps or step >= len(before.steps):
        return step
    key = step_keys(before)[step]
    source = before.steps[step].source
    own = None
    for place, other in enumerate(step_keys(after)):
        if other == key:
            return place
        if own is None and source is not None and after.steps[place].source == source:
            own = place
    return own


def same_root(before: Timeline, after: Timeline, root: int) -> int | None:
    """Where an allocation of one timeline is in another of the same program: of equal name, origin, shape and precision
    the one with as many before it; None where there is none."""
    if before.values is after.values:
        return root
    wanted = before.values[root]
    key = (wanted.name, wanted.origin, wanted.shape, wanted.precision)

    def like(timeline: Timeline) -> list[int]:
        return [
            place
            for place in sorted(timeline.aliases)
            for value in (timeline.values[place],)
            if (value.name, value.origin, value.shape, value.precision) == key
        ]

    there, here = like(after), like(before)
    place = here.index(root) if root in here else len(there)
    return there[place] if place < len(there) else None
