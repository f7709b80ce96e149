"""When each allocation is live.

Inputs are live from the start, everything else from the step that first mentions it. At a step, live = live before ∪
what the step reads or writes; after it, what has passed its last use is dropped. Program outputs and Parameter inputs
live to the end; an input that nothing uses is dropped after step 0.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tileview.model.graph import InputKind
from tileview.model.program import FlatStep, Program, Repeat, Step


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """``initial``: roots live before the first step. ``live[i]``: roots live at step i. Both ascending.

    ``spans``: root → half-open range of steps; allocations that are never live are left out.
    """

    initial: tuple[int, ...]
    live: tuple[tuple[int, ...], ...]
    spans: dict[int, tuple[int, int]]
    parameters: frozenset[int]


def mentions(step: Step) -> Iterable[int]:
    """The values a step reads or writes; a Repeat also every member of its sequences and its body's yields."""
    if isinstance(step, Repeat):
        members = [value for sequence in step.iterated for value in sequence]
        return (*step.inputs, *step.results, *members, *step.yields)
    return (*step.inputs, *step.results)


def find_lifetimes(program: Program, flat: Sequence[FlatStep], roots: Sequence[int]) -> Lifetimes:
    """The lifetimes of a program's allocations, named by their roots."""
    end = len(flat)
    used = [{roots[value] for value in mentions(entry.step)} for entry in flat]
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    parameters = frozenset(roots[i.value] for i in program.inputs if i.kind is InputKind.PARAMETER)
    initial = sorted({roots[entry.value] for entry in program.inputs})
    for root in initial:
        first[root] = 0
        last[root] = 0
    for index, step_roots in enumerate(used):
        for root in step_roots:
            first.setdefault(root, index)
            last[root] = index
    for root in parameters | {roots[output] for output in program.outputs}:
        last[root] = end
    dropped: dict[int, list[int]] = {}
    for root, index in last.items():
        dropped.setdefault(index, []).append(root)
    current = list(initial)
    present = set(initial)
    live: list[tuple[int, ...]] = []
    for index, step_roots in enumerate(used):
        for root in step_roots - present:
            insort(current, root)
            present.add(root)
        live.append(tuple(current))
        for root in dropped.get(index, ()):
            present.remove(root)
            del current[bisect_left(current, root)]
    spans = {root: (start, min(last[root] + 1, end)) for root, start in first.items()}
    return Lifetimes(tuple(initial), tuple(live), spans, parameters)
