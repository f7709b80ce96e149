"""What a comparison is made of: the states that stand side by side, and rows with one entry a state."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tileview.model.recipe import Recipe
from tileview.model.sizes import Size
from tileview.model.timeline import Timeline, Verdict
from tileview.present.tables import Tone

MOST_STATES = 4
MISSING = "–"
"""What a state shows where it has not what another has."""


@dataclass(frozen=True, slots=True)
class CompareState:
    """One state. ``recipe`` has its edits in force, None for a timeline; no ``timeline`` where it cannot be lowered."""

    name: str
    verdict: Verdict
    timeline: Timeline | None
    recipe: Recipe | None
    source: str = ""
    """The file, for the tip."""


class Section(StrEnum):
    SUMMARY = "Summary"
    PLANS = "Plans"
    HOMES = "Homes of inputs"
    BOUNDARIES = "Boundaries"
    ALLOCATIONS = "Allocations at the total peak"
    ANYWHERE = "Allocations of the whole program, on their largest tile"
    UNMATCHED = "Unmatched: not in all states"


@dataclass(frozen=True, slots=True)
class CompareEntry:
    """One state's entry in a row. ``size`` is a figure in bytes, ``delta`` its difference from the first state's."""

    text: str
    size: Size | None = None
    delta: int | None = None
    tip: str = ""
    tone: Tone = Tone.TEXT
    base: int | None = None


@dataclass(frozen=True, slots=True)
class CompareRow:
    """A row: one entry a state, None where it has nothing there. ``operation`` and ``roots`` are for selecting."""

    section: Section
    label: str
    entries: tuple[CompareEntry | None, ...]
    tip: str = ""
    operation: int | None = None
    roots: tuple[int | None, ...] = ()
    is_head: bool = False
