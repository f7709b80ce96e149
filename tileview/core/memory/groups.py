"""Which values share one allocation, which allocations fill whole memory elements, and which have an access tail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tileview.model.program import FlatStep, Kernel, Product, Program, Repeat

TAIL_ELEMENTS = 8
"""A matrix product reads up to 8 elements of its multiply precision past its left operand."""


@dataclass(frozen=True, slots=True)
class Groups:
    """Alias groups of a program. ``roots[i]`` is the smallest id of value i's group; ``members`` are ascending."""

    roots: tuple[int, ...]
    members: dict[int, tuple[int, ...]]
    tails: dict[int, int]
    """Root → access tail in bytes, for groups that are the first input of a matrix product."""
    aligned: frozenset[int]
    """Roots of the first inputs and the results of matrix products."""


def group_values(program: Program, flat: Sequence[FlatStep], *, with_yields: bool = False) -> Groups:
    """Union what shares memory.

    A compute step's declared (result, input) pairs; a Repeat's carried and invariant arguments with its inputs, its
    results with its carried inputs, and each iterated argument with the first member of its sequence. ``with_yields``:
    also a body's yields with the carried inputs, as where addresses are chosen.
    """
    parent = list(range(len(program.values)))

    def find(value: int) -> int:
        while parent[value] != value:
            parent[value] = parent[parent[value]]
            value = parent[value]
        return value

    def union(a: int, b: int) -> None:
        a, b = find(a), find(b)
        if a != b:
            parent[max(a, b)] = min(a, b)

    for entry in flat:
        step = entry.step
        if isinstance(step, (Kernel, Product)):
            for result, operand in step.aliases:
                union(step.results[result], step.inputs[operand])
        elif isinstance(step, Repeat):
            _union_repeat(step, union)
            if with_yields:
                for given, operand in zip(step.yields, step.inputs[: step.carried], strict=True):
                    union(given, operand)
    roots = tuple(map(find, parent))
    gathered: dict[int, list[int]] = {}
    for value, root in enumerate(roots):
        gathered.setdefault(root, []).append(value)
    tails: dict[int, int] = {}
    aligned: set[int] = set()
    for entry in flat:
        step = entry.step
        if isinstance(step, Product):
            left = roots[step.inputs[0]]
            tail = TAIL_ELEMENTS * (step.multiply.element_bytes or 0)
            tails[left] = max(tails.get(left, 0), tail)
            aligned.add(left)
            aligned.update(roots[result] for result in step.results)
    return Groups(roots, {root: tuple(ids) for root, ids in gathered.items()}, tails, frozenset(aligned))


def _union_repeat(step: Repeat, union: Callable[[int, int], None]) -> None:
    plain = len(step.inputs)
    for argument, operand in zip(step.arguments[:plain], step.inputs, strict=True):
        union(argument, operand)
    for result, operand in zip(step.results, step.inputs[: step.carried], strict=True):
        union(result, operand)
    for argument, members in zip(step.arguments[plain:], step.iterated, strict=True):
        if members:
            union(argument, members[0])
