"""The memory that a command line names with ``--ranges``: a preset, typed ranges, or what a dump left open."""

from __future__ import annotations

import os

from tileview.analysis.placement_files import ranges_of_dump
from tileview.commands.base import UsageError, clean
from tileview.core.placement.ranges import PLANNER, Preset, RangeError, parse_ranges, preset, presets
from tileview.errors import LoadError
from tileview.formats.opening import open_dump
from tileview.formats.search_state import SearchState
from tileview.model.config import STANDARD_ELEMENT_BYTES
from tileview.model.placement import PlacementProfile, TileDump

DEFAULT_RESERVE = 3 * STANDARD_ELEMENT_BYTES
"""The planner's usual reserve, for files that state none."""


def chosen_ranges(text: str | None, reserve: int, tile: int | None = None) -> Preset:
    """The memory of ``--ranges``: a preset's name, typed ranges, or a dump's own.

    Raises
    ------
    UsageError, RangeError, LoadError
        No such preset or file, ranges that the compiler would refuse, a file that is not a dump with ranges.
    """
    known = preset(PLANNER if text is None else text, reserve)
    if known is not None:
        if known.ranges[0][0] >= known.ranges[0][1]:
            raise UsageError(f"the reserve of {reserve:,} B leaves no memory to place anything in")
        return known
    assert text is not None
    if os.path.exists(text):
        return _ranges_of_file(text, tile)
    if not text[:1].isdigit():
        names = ", ".join(each.name for each in presets(reserve))
        raise UsageError(f"{clean(text)} is not a preset ({names}), no ranges such as 491520-949168, and no file")
    return Preset("", "the ranges given", parse_ranges(text), "typed")


def _ranges_of_file(name: str, tile: int | None) -> Preset:
    source = open_dump(name)
    try:
        if not isinstance(source, TileDump | PlacementProfile):
            raise LoadError(name, "", "a tile dump or a placement profile", "a dump without ranges")
        return ranges_of_dump(source, clean(os.path.basename(name), 60), tile)
    except RangeError as error:
        raise UsageError(f"{clean(name)} {error}") from None
    finally:
        if not isinstance(source, SearchState | TileDump):
            source.tiles.close()
