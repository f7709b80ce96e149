"""Which map is wanted, and how it is made beside the window."""

from __future__ import annotations

from dataclasses import dataclass, field

from tileview.analysis.address_map import AddressMap, ProgramMaps, dump_map, profile_map, program_maps
from tileview.analysis.placement import program_requests
from tileview.core.placement.ranges import CAPTURED, Preset, open_ranges, presets
from tileview.formats import AddressDump
from tileview.model.placement import Memory, PlacementProfile, TileDump
from tileview.model.recipe import Overrides, Recipe
from tileview.model.timeline import Timeline
from tileview.qt.jobs.process import Reporter
from tileview.session.session import Session

FINISHED = "finished"
"""The choice of memory that stands for a finished placement as it is."""
OWN = "own"
"""The choice of the memory that a file states."""
FIRST_CHOICE = CAPTURED


@dataclass(frozen=True, slots=True)
class Choice:
    """A memory to place in; ``key`` is a preset's name, :data:`OWN` or :data:`FINISHED`."""

    key: str
    title: str
    origin: str
    preset: Preset | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """All that a map is made of. A recipe gives a program's map in a memory, else ``dump`` is drawn. ``key`` tells one
    state of a recipe from another."""

    tile: int
    choice: Choice
    key: tuple[object, ...] = ()
    recipe: Recipe | None = None
    overrides: Overrides | None = None
    is_shown: bool = True
    dump: AddressDump | None = None
    timeline: Timeline | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """A map, and the tiles that one can look at: the first of each class with how many are alike, or those that a file
    lists."""

    wanted: Wanted
    map: AddressMap
    tiles: tuple[tuple[int, int], ...]


def choices(session: Session) -> tuple[Choice, ...]:
    """The memories that the open files can be placed in."""
    document, beside = session.document, session.address_document
    addresses = None if beside is None else beside.addresses
    found: list[Choice] = []
    recipe = session.recipe
    if recipe is not None:
        reserve = recipe.config.reserve_bytes if session.state.overrides.reserve_bytes is None else (
            session.state.overrides.reserve_bytes
        )  # fmt: skip
        found = [Choice(one.name, one.title, one.origin, one) for one in presets(reserve) if one.bytes > 0]
    if addresses is None or beside is None:
        return tuple(found)
    if isinstance(addresses, PlacementProfile):
        title = f"as placed, {beside.name}" if document is not beside else "as placed"
        found.append(Choice(FINISHED, title, "where a finished compile put everything"))
    if isinstance(addresses, TileDump) or recipe is not None:
        title = f"open in {beside.name}" if document is not beside else "the file's own memory"
        found.append(Choice(OWN, title, f"the memory that {beside.name} says was open"))
    return tuple(found)


def first_choice(found: tuple[Choice, ...]) -> Choice | None:
    """The memory that is shown at first: that of a file of addresses, else the captured one."""
    by_key = {one.key: one for one in found}
    return by_key.get(FINISHED) or by_key.get(OWN) or by_key.get(FIRST_CHOICE) or next(iter(found), None)


def wanted_of(session: Session, choice: Choice, tile: int | None) -> Wanted | None:
    """What has to be made for the session as it is; None where the tile of a file cannot be."""
    beside = session.address_document
    addresses = None if beside is None else beside.addresses
    recipe = session.recipe
    if choice.key == FINISHED or recipe is None:
        if addresses is None:
            return None
        timeline = session.timeline if session.document is not beside else None
        if isinstance(addresses, TileDump):
            return Wanted(addresses.problem.tile, choice, dump=addresses)
        listed = addresses.tiles.logical()
        if not listed:
            return None
        tile = listed[0] if tile is None or tile not in listed else tile
        return Wanted(tile, choice, dump=addresses, timeline=timeline)
    estimate = session.estimate
    fusion = None if estimate is None else estimate.fusion
    fused = fusion is not None and fusion.stands
    tile = min(tile or 0, recipe.config.tile_count - 1)
    key = (session.revision, fused)
    dump = addresses if choice.key == OWN else None
    return Wanted(tile, choice, key, recipe, session.state.overrides, not fused, dump)


@dataclass(slots=True)
class Maker:
    """Makes maps on one thread; keeps the requests of the last state of a recipe."""

    _kept: list[tuple[tuple[object, ...], ProgramMaps]] = field(default_factory=list)

    def make(self, wanted: Wanted, reporter: Reporter) -> Made:
        """Raises TileViewError where nothing can be said of the placement, or a file's tile cannot be read."""
        if wanted.recipe is None:
            assert wanted.dump is not None
            if isinstance(wanted.dump, TileDump):
                return Made(wanted, dump_map(wanted.dump), ((wanted.dump.problem.tile, 1),))
            made = profile_map(wanted.dump, wanted.tile, wanted.timeline)
            return Made(wanted, made, tuple((tile, 1) for tile in wanted.dump.tiles.logical()))
        if not self._kept or self._kept[0][0] != wanted.key:
            self._kept.clear()
            assert wanted.overrides is not None
            requests = program_requests(wanted.recipe, wanted.overrides)
            reporter.check()
            self._kept.append((wanted.key, program_maps(requests, is_shown=wanted.is_shown)))
        maps = self._kept[0][1]
        tiles = tuple((each.tiles[0], len(each.tiles)) for each in maps.requests.classes)
        return Made(wanted, maps.tile(wanted.tile, memory_of(wanted)), tiles)


def memory_of(wanted: Wanted) -> Memory:
    """The memory that a choice stands for."""
    if wanted.choice.preset is not None:
        return Memory(wanted.choice.preset.ranges)
    assert wanted.dump is not None
    if isinstance(wanted.dump, TileDump):
        return wanted.dump.problem.memory
    listed = wanted.dump.tiles.logical()
    tile = wanted.tile if wanted.tile in listed else listed[0]
    return Memory(open_ranges(wanted.dump.tiles.tile(tile), wanted.dump.labels))
