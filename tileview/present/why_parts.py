"""Each overflow taken apart: what the step needs on its fullest tile, in parts that add up, and what cures it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from tileview.analysis.overflows import INTERLEAVED, TOTAL, Overflow
from tileview.analysis.relief import Relief
from tileview.analysis.words import allocation_name, counted
from tileview.model.recipe import Recipe
from tileview.model.tensor import MemoryClass
from tileview.model.timeline import Timeline
from tileview.present.plan_words import plan_differences

MOST_MADE = 4
"""Allocations of the operation at fault that are named; the rest are one part."""


class PartKind(StrEnum):
    """Whose bytes a part is: parameters and inputs, the operation at fault, other operations, the reserve."""

    READ = "read"
    MADE = "made"
    OTHER = "other"
    RESERVE = "reserve"


@dataclass(frozen=True, slots=True)
class WhyPart:
    """One term of the sum; ``root`` is the allocation that it is, None where it is several or none."""

    kind: PartKind
    label: str
    bytes: int
    root: int | None = None


@dataclass(frozen=True, slots=True)
class WhyOverflow:
    """An overflow with its ``parts``, which add up to ``needed``; ``limit`` is what it is held against, in bytes.

    ``cure`` says what the best alternative of the operation at fault changes and by how much its fullest step shrinks;
    ``swap`` is that alternative. Both are empty where none needs less.
    """

    overflow: Overflow
    parts: tuple[WhyPart, ...]
    needed: int
    limit: int
    cure: str = ""
    swap: tuple[int, int] | None = None
    saved: int = 0


def why_overflow(
    timeline: Timeline, overflow: Overflow, reliefs: Sequence[Relief] = (), recipe: Recipe | None = None
) -> WhyOverflow:
    """Take one overflow apart; reads the allocations that are live at its step."""
    if overflow.limit not in (TOTAL, INTERLEAVED):
        made = tuple(WhyPart(PartKind.MADE, item.name, item.bytes, item.root) for item in overflow.made)
        needed = sum(part.bytes for part in made)
        parts, limit = made, needed - overflow.over_bytes
    else:
        parts = _parts(timeline, overflow)
        needed = sum(part.bytes for part in parts)
        limit = timeline.budget_bytes if overflow.limit == TOTAL else timeline.interleaved_budget_bytes
    relief = next((one for one in reliefs if one.operation == overflow.operation and one.saved > 0), None)
    if relief is None:
        return WhyOverflow(overflow, parts, needed, limit)
    swap = (relief.operation, relief.alternative)
    return WhyOverflow(overflow, parts, needed, limit, _cure_words(recipe, relief), swap, relief.saved)


def _parts(timeline: Timeline, overflow: Overflow) -> tuple[WhyPart, ...]:
    step = timeline.steps[overflow.step]
    is_total = overflow.limit == TOTAL
    made: list[WhyPart] = []
    read: list[int] = []
    other: list[int] = []
    for root in step.live:
        if root in timeline.unavailable_roots:
            continue
        last = timeline.values[timeline.aliases.get(root, (root,))[-1]]
        if not is_total and last.memory_class is not MemoryClass.INTERLEAVED:
            continue
        size = int(timeline.tiles.allocation(root)[overflow.tile])
        if not size:
            continue
        maker = timeline.maker(root)
        if maker is None:
            read.append(size)
        elif maker == overflow.operation:
            made.append(WhyPart(PartKind.MADE, allocation_name(timeline, root), size, root))
        else:
            other.append(size)
    scratch = timeline.tiles.scratch(overflow.step)[overflow.tile]
    extra = int(scratch.sum()) if is_total else int(scratch[1])
    if extra and step.source == overflow.operation:
        made.append(WhyPart(PartKind.MADE, f"scratch for its {step.kind}", extra))
    elif extra:
        other.append(extra)
    made.sort(key=lambda part: -part.bytes)
    left = [part.bytes for part in made[MOST_MADE:]]
    parts = [
        _together(PartKind.READ, "parameters and inputs", read),
        *made[:MOST_MADE],
        _together(PartKind.MADE, "more of its plan", left),
        _together(PartKind.OTHER, "made by other operations", other),
    ]
    parts = [part for part in parts if part.bytes]
    if is_total and timeline.reserve_bytes:
        parts.append(WhyPart(PartKind.RESERVE, "reserve for support code", timeline.reserve_bytes))
    return tuple(parts)


def _together(kind: PartKind, label: str, sizes: Sequence[int]) -> WhyPart:
    return WhyPart(kind, f"{label}, {counted(len(sizes), 'allocation')}", sum(sizes))


def _cure_words(recipe: Recipe | None, relief: Relief) -> str:
    """``grid 8 × 36 × 5 → 8 × 18 × 9``: what the alternative changes; empty without a recipe."""
    plans = () if recipe is None else recipe.alternatives.get(relief.operation, ())
    current = None if recipe is None else recipe.plans.get(relief.operation)
    if current is None or relief.alternative >= len(plans):
        return ""
    return "; ".join(plan_differences(current, plans[relief.alternative])[:2])
