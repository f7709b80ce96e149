"""What makes a timeline without a recipe fit: valid layouts, for the values whose layouts do not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Final

from tileview.analysis.repair import GroupRepair, repair_groups
from tileview.core.memory.whatif import with_layouts
from tileview.model.sizes import exact_text
from tileview.model.tensor import Layout
from tileview.model.timeline import Timeline

_MOST_TRIED: Final = 64
_CHOICES: Final = 6
"""Repairs of a group that are combined with those of other groups."""


@dataclass(frozen=True, slots=True)
class LayoutFix:
    """``repairs``: one for each group that has any; ``timeline``: with them applied.

    ``exhaustive`` where every combination offered was tried, or the first one fits.
    """

    repairs: tuple[GroupRepair, ...]
    timeline: Timeline
    tried: int
    exhaustive: bool
    text: str

    @property
    def layouts(self) -> dict[int, Layout]:
        """Index of a value → its new layout."""
        return {index: layout for repair in self.repairs for index, layout in repair.layouts.items()}


def fix_layouts(timeline: Timeline) -> LayoutFix:
    """Repair every layout that is invalid: with what fits first, else with what has the lowest total peak."""
    if timeline.verdict.fits:
        return LayoutFix((), timeline, 0, True, "It fits as it is.")
    doubt = "" if timeline.verdict.fits is False else f"It is not known whether it fits: {timeline.verdict.text}. "
    groups = repair_groups(timeline)
    offered = [group.repairs for group in groups if group.repairs]
    if not offered:
        text = "No layout is invalid, and a timeline holds no plans to swap: open the recipe of the same compile."
        if groups:
            text = "No valid layout was found for the values without one."
        return LayoutFix((), timeline, 0, True, doubt + text)
    tried = 0
    best: tuple[tuple[bool, int], tuple[GroupRepair, ...], Timeline] | None = None
    for chosen in islice(_combinations(offered), _MOST_TRIED):
        tried += 1
        layouts = {index: layout for repair in chosen for index, layout in repair.layouts.items()}
        changed = with_layouts(timeline, layouts)
        total = changed.peak.total
        key = (not changed.verdict.fits, total if isinstance(total, int) else 2**64)
        if best is None or key < best[0]:
            best = (key, chosen, changed)
        if changed.verdict.fits:
            break
    assert best is not None
    _, chosen, changed = best
    values = sum(len(repair.layouts) for repair in chosen)
    exhaustive = changed.verdict.fits is True or (
        tried < _MOST_TRIED and all(len(choices) <= _CHOICES for choices in offered)
    )
    peak = changed.peak.total
    size = f" with a total peak of {exact_text(peak)}" if isinstance(peak, int) else ""
    text = f"It fits{size} after giving {values} values valid layouts."
    if changed.verdict.fits is None:
        why = changed.verdict.text
        text = f"After giving {values} values valid layouts it is not known whether it fits: {why}."
    elif not changed.verdict.fits:
        text = f"Giving {values} values valid layouts does not make it fit."
    return LayoutFix(chosen, changed, tried, exhaustive, text)


def _combinations(offered: Sequence[Sequence[GroupRepair]]) -> Iterator[tuple[GroupRepair, ...]]:
    """One repair for each group: the least changed ones first."""
    choices = [range(min(_CHOICES, len(repairs))) for repairs in offered]
    if len(offered) > 6:
        yield tuple(repairs[0] for repairs in offered)
        return
    for picked in sorted(product(*choices), key=lambda picked: (sum(picked), picked)):
        yield tuple(repairs[index] for repairs, index in zip(offered, picked, strict=True))
