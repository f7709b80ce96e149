"""Which map is wanted, and how it is made beside the window."""

from __future__ import annotations

from dataclasses import dataclass, field

from tileview.analysis.address_map import AddressMap, ProgramMaps, dump_map, profile_map, program_maps
from tileview.analysis.placement import program_requests
from tileview.core.placement.ranges import Preset, open_ranges, presets
from tileview.errors import LoadError
from tileview.formats.dumps import AddressDump
from tileview.model.placement import PlacementProfile, TileDump
from tileview.model.recipe import Overrides, Recipe, configured
from tileview.model.timeline import Timeline
from tileview.qt.jobs.process import Reporter
from tileview.session.session import Session


@dataclass(frozen=True, slots=True)
class MapChoice:
    """A memory to place a program in (``preset``), or a file's own addresses (None)."""

    title: str
    origin: str
    preset: Preset | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """All that a map is made of: a recipe, placed in ``ranges``, or the ``dump``. ``key`` tells one state of a recipe
    from another."""

    tile: int
    key: int = -1
    recipe: Recipe | None = None
    overrides: Overrides | None = None
    ranges: Preset | None = None
    dump: AddressDump | None = None
    timeline: Timeline | None = None


@dataclass(frozen=True, slots=True, eq=False)
class MadeMap:
    """A map, and the tiles that one can look at: the first of each class with how many are alike, or those that a file
    lists."""

    wanted: Wanted
    map: AddressMap
    tiles: tuple[tuple[int, int], ...]


def memories_to_show(session: Session) -> tuple[MapChoice, ...]:
    """The memories that the open files can be looked at in; a finished placement last."""
    beside, recipe = session.address_document, session.file_recipe
    addresses = None if beside is None else beside.addresses
    known: list[Preset] = []
    if recipe is not None:
        reserve = configured(recipe.config, session.state.overrides).reserve_bytes
        known = [one for one in presets(reserve) if one.bytes > 0]
        if addresses is not None and beside is not None:
            own = open_in(addresses, beside.name, session.selection.tile)
            known += [] if own is None else [own]
        if all(one.ranges != session.ranges.ranges for one in known):
            known.append(session.ranges)
    found = [MapChoice(one.title[:1].upper() + one.title[1:], one.origin, one) for one in known]
    if isinstance(addresses, PlacementProfile) and beside is not None:
        title = "As placed" if beside is session.document else f"As placed, {beside.name}"
        found.append(MapChoice(title, "where a finished compile put everything"))
    elif isinstance(addresses, TileDump) and beside is not None:
        title = "The file's own memory" if beside is session.document else f"The problem in {beside.name}"
        found.append(MapChoice(title, "requests and ranges as the tile dump states them"))
    return tuple(found)


def open_in(addresses: AddressDump, name: str, tile: int | None) -> Preset | None:
    """The memory that a file says was open, to place a program in; of a profile that of a tile, by default the first.

    None where the file lists no tile, or says that nothing was open.
    """
    if isinstance(addresses, TileDump):
        ranges, where = addresses.problem.memory.ranges, f"tile {addresses.problem.tile}"
    else:
        listed = addresses.tiles.logical()
        if not listed:
            return None
        tile = tile if tile in listed else listed[0]
        assert tile is not None
        try:
            ranges, where = open_ranges(addresses.tiles.tile(tile), addresses.labels), f"tile {tile}"
        except LoadError:
            return None
    size = sum(end - start for start, end in ranges)
    title = f"open on {where} in {name}, {size:,} B"
    return Preset("", title, ranges, f"the memory that {name} says was open") if ranges else None


def wanted_of(session: Session, choice: MapChoice, tile: int | None) -> Wanted | None:
    """What has to be made for the session as it is; None where a file lists no tile."""
    beside, recipe = session.address_document, session.recipe
    addresses = None if beside is None else beside.addresses
    if choice.preset is not None and recipe is not None:
        if tile is None:
            failing = None if session.placed is None else session.placed.failing
            tile = 0 if failing is None else failing.tile
        tile = min(tile, recipe.config.tile_count - 1)
        return Wanted(tile, session.revision, recipe, session.state.overrides, choice.preset)
    if isinstance(addresses, TileDump):
        return Wanted(addresses.problem.tile, dump=addresses)
    listed = () if addresses is None else addresses.tiles.logical()
    if not listed:
        return None
    tile = listed[0] if tile not in listed else tile
    assert tile is not None
    return Wanted(tile, dump=addresses, timeline=session.timeline if session.document is not beside else None)


@dataclass(slots=True)
class Maker:
    """Makes maps on one thread; keeps the requests of the last state of a recipe."""

    _kept: list[tuple[int, ProgramMaps]] = field(default_factory=list)

    def make(self, wanted: Wanted, reporter: Reporter) -> MadeMap:
        """Raises TileViewError where nothing can be said of the placement, or a file's tile cannot be read."""
        if wanted.recipe is None:
            assert wanted.dump is not None
            if isinstance(wanted.dump, TileDump):
                return MadeMap(wanted, dump_map(wanted.dump), ((wanted.dump.problem.tile, 1),))
            made = profile_map(wanted.dump, wanted.tile, wanted.timeline)
            return MadeMap(wanted, made, tuple((tile, 1) for tile in wanted.dump.tiles.logical()))
        if not self._kept or self._kept[0][0] != wanted.key:
            assert wanted.overrides is not None
            self._kept.clear()
            requests = program_requests(wanted.recipe, wanted.overrides)
            reporter.check()
            self._kept.append((wanted.key, program_maps(requests)))
        maps = self._kept[0][1]
        assert wanted.ranges is not None
        tiles = tuple((each.tiles[0], len(each.tiles)) for each in maps.requests.classes)
        return MadeMap(wanted, maps.tile(wanted.tile, wanted.ranges.memory), tiles)
