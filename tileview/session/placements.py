"""Where the allocations of the open document's program lie: kept by state, for the verdict, the tiles, other plans."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field, replace
from typing import Any

from tileview.analysis.placement import Placeability, PlacementSteps, TilePlacements
from tileview.core.placement.ranges import CAPTURED, Preset, RangeError, checked, preset
from tileview.model.placement import Memory
from tileview.session.edits import EditState

_KEPT_STATES = 16
_KEPT_NEEDS = 4_096

Choice = tuple[int, int]
"""(operation, alternative)."""


def default_ranges(reserve: int) -> Preset:
    """The memory that is looked at where nobody has chosen another."""
    found = preset(CAPTURED, reserve)
    assert found is not None
    return found


def preset_to_json(memory: Preset) -> dict[str, object]:
    """A memory as it is kept between runs."""
    ranges = [list(span) for span in memory.ranges]
    kept: dict[str, object] = {"name": memory.name, "title": memory.title, "ranges": ranges, "origin": memory.origin}
    if memory.stated is not None:
        kept["stated"] = list(astuple(memory.stated)[1:])
    return kept


def preset_from_json(kept: Mapping[str, object], reserve: int) -> Preset | None:
    """The memory that was kept; None where nothing usable was, presets as they are today."""
    named = preset(str(kept.get("name", "")), reserve)
    if named is not None:
        return named
    stored: Mapping[str, Any] = kept
    try:
        ranges = checked([(int(start), int(end)) for start, end in stored["ranges"]])
        stated = None
        if "stated" in stored:
            offset, boundary, element0, element1, window = stored["stated"]
            stated = Memory(
                ranges, int(offset), int(boundary), int(element0), int(element1), (int(window[0]), int(window[1]))
            )
    except (KeyError, TypeError, ValueError, RangeError):
        return None
    return Preset("", str(kept.get("title", "")), ranges, str(kept.get("origin", "")), stated)


@dataclass(frozen=True, slots=True)
class PlacementResult:
    """What came of placing one state.

    ``steps`` are None where nothing can be said; ``unknown`` then says why. ``chosen``: the placement in the memory
    that the user looks at. ``complete``: smallest enlargements are looked for, no more comes.
    """

    revision: int
    state: EditState
    steps: PlacementSteps | None
    chosen: TilePlacements | None
    unknown: str = ""
    complete: bool = True


@dataclass(slots=True)
class Placements:
    """The results of one document, and the memory chosen for it. ``alternatives``: of the current state only.
    ``needs``: by state, the open bytes a tile with which every tile is placed, None where no enlargement does."""

    ranges: Preset | None = None
    alternatives: dict[Choice, Placeability | None] = field(default_factory=dict)
    needs: dict[EditState, int | None] = field(default_factory=dict)
    _kept: OrderedDict[tuple[object, ...], PlacementResult] = field(default_factory=OrderedDict)

    def clear(self) -> None:
        """Another document is open."""
        self.ranges = None
        self.alternatives.clear()
        self.needs.clear()
        self._kept.clear()

    def choose(self, ranges: Preset | None) -> None:
        """Look at another memory: what was placed there is unknown again, the three steps stay."""
        self.ranges = ranges
        self.alternatives.clear()
        self.needs.clear()
        for key, result in list(self._kept.items()):
            if result.steps is None:
                del self._kept[key]
            else:
                self._kept[key] = replace(result, chosen=None, complete=False)

    def get(self, state: EditState) -> PlacementResult | None:
        return self._kept.get(state.key())

    def put(self, result: PlacementResult) -> None:
        key = result.state.key()
        self._kept[key] = result
        self._kept.move_to_end(key)
        while len(self._kept) > _KEPT_STATES:
            self._kept.popitem(last=False)

    def add(self, found: Mapping[Choice, Placeability | None]) -> None:
        """Take in what other plans leave without a place in the memory chosen; None: cannot be told."""
        self.alternatives.update(found)

    def add_needs(self, found: Mapping[EditState, int | None]) -> None:
        """Take in the memory that states need; those known longest make room."""
        self.needs.update(found)
        for state in list(self.needs)[: max(0, len(self.needs) - _KEPT_NEEDS)]:
            del self.needs[state]
