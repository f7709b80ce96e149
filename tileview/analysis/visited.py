"""The recipes that a search had tried before (``visited`` of a search state), read when they are asked for."""

from __future__ import annotations

from dataclasses import replace

from tileview.errors import LoadError
from tileview.formats.check import FieldError, Fields
from tileview.formats.planjson import PlanReader
from tileview.formats.search_state import SearchState, read_choices
from tileview.model.recipe import Recipe


def visited_recipe(state: SearchState, index: int) -> Recipe:
    """Entry ``index`` of the file's ``visited``: its plans and boundaries, with the file's graph, homes and
    alternatives.

    Raises
    ------
    LoadError
        Where the file has no such entry, or the entry is not a recipe.
    """
    entries = state.json().get("visited", [])
    place = f"visited[{index}]"
    if not 0 <= index < len(entries):
        found = f"{len(entries):,} of them" if entries else "none"
        raise LoadError(state.path, "visited", f"an entry {index}", found, "Entries are counted from 0.")
    try:
        fields = Fields(entries[index], place)
        reader = PlanReader(state.version)
        choices = read_choices(fields, reader, state.version, state.recipe.config.tile_count)
    except FieldError as error:
        raise error.at(state.path) from None
    return replace(
        state.recipe,
        plans=choices.plans,
        open_boundaries=choices.open_boundaries,
        requests=choices.requests,
        chip_tiles=choices.chip_tiles,
    )
