"""Identical tiles: groups of tiles with the same memory use, at one step or over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tileview.model.timeline import ByteArray, Timeline

LabelArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TileGroup:
    """Tiles with the same use; logical numbers, ascending, never empty."""

    tiles: tuple[int, ...]

    @property
    def first(self) -> int:
        return self.tiles[0]

    def __len__(self) -> int:
        return len(self.tiles)


def refine(labels: LabelArray, usage: ByteArray) -> LabelArray:
    """Split groups whose tiles differ in ``usage``; the same array where none does.

    Parameters
    ----------
    labels : (tiles,)
        Group of each tile, 0 … groups − 1, numbered by their first tile.
    usage : (tiles, n)
        Bytes of each tile.

    Notes
    -----
    Every tile is first compared with the first of its group, which costs one pass; only where one differs are the rows
    sorted. There are fewer splits than tiles, so that following thousands of steps stays cheap, and nothing rests on
    hashes.
    """
    if len(labels) == 0:
        return labels
    _, firsts = np.unique(labels, return_index=True)
    if bool((usage == usage[firsts[labels]]).all()):
        return labels
    keys = np.column_stack([labels, usage])
    _, first_places, inverse = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    rank = np.empty(len(first_places), dtype=np.int64)
    rank[np.argsort(first_places, kind="stable")] = np.arange(len(first_places))
    return rank[inverse.reshape(-1)]


def groups_of(labels: LabelArray) -> tuple[TileGroup, ...]:
    """The groups of a labelling, the largest first, equal ones by their first tile."""
    order = np.argsort(labels, kind="stable")
    bounds = np.flatnonzero(np.diff(labels[order])) + 1
    groups = [TileGroup(tuple(part.tolist())) for part in np.split(order, bounds) if len(part)]
    return tuple(sorted(groups, key=lambda group: (-len(group), group.first)))


def groups_at(timeline: Timeline, step: int) -> tuple[TileGroup, ...]:
    """Tiles that hold the same standard and the same interleaved bytes at a step."""
    usage = timeline.tiles.usage(step)
    return groups_of(refine(np.zeros(timeline.tile_count, dtype=np.int64), usage))


def identical_tiles(timeline: Timeline, step: int, tile: int) -> tuple[int, ...]:
    """The tiles that hold the same standard and the same interleaved bytes as one at a step, that one last."""
    usage = timeline.tiles.usage(step)
    found = np.flatnonzero((usage == usage[tile]).all(axis=1))
    return (*found[found != tile].tolist(), tile)


class GroupScan:
    """Groups of tiles whose standard and interleaved bytes agree at every step, found a few steps at a time.

    A window calls :meth:`advance` between events, so that a timeline of thousands of steps does not hold it up. The
    result is there when :attr:`done`; before that :meth:`groups` says how the steps looked at so far divide the tiles
    (later ones only split further).
    """

    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline
        self._labels: LabelArray = np.zeros(timeline.tile_count, dtype=np.int64)
        self._next = 0

    @property
    def done(self) -> bool:
        return self._next >= len(self.timeline.steps)

    def advance(self, steps: int = 1) -> bool:
        """Look at the next ``steps`` steps; True when all have been looked at."""
        for step in range(self._next, min(self._next + steps, len(self.timeline.steps))):
            self._labels = refine(self._labels, self.timeline.tiles.usage(step))
            self._next = step + 1
        return self.done

    def groups(self) -> tuple[TileGroup, ...]:
        return groups_of(self._labels)


@dataclass(frozen=True, slots=True)
class GroupPart:
    """A part of the sentence about groups: ``1,408 identical tiles``, ``63 identical``, ``7 unique``, and its tiles.

    Unique tiles make one part together: that there are some counts more than which.
    """

    text: str
    tiles: tuple[int, ...]

    @property
    def is_unique(self) -> bool:
        """Whether its tiles have none that is identical to them."""
        return " unique" in self.text

    @property
    def members(self) -> str:
        return tiles_text(self.tiles)


def group_parts(groups: Sequence[TileGroup]) -> tuple[GroupPart, ...]:
    """The parts of the sentence, the largest group first, unique tiles last; the first says that it counts tiles."""
    parts = [GroupPart(f"{len(group):,} identical", group.tiles) for group in groups if len(group) > 1]
    alone = tuple(sorted(group.first for group in groups if len(group) == 1))
    if alone:
        parts.append(GroupPart(f"{len(alone):,} unique", alone))
    if parts:
        parts[0] = GroupPart(f"{parts[0].text} tile{'' if len(parts[0].tiles) == 1 else 's'}", parts[0].tiles)
    return tuple(parts)


def parts_sentence(parts: Sequence[GroupPart], most: int = 4) -> str:
    """``1,408 identical tiles, 63 identical, 1 unique``; at most ``most`` groups are named, the others counted."""
    several = [part for part in parts if not part.is_unique]
    words = [part.text for part in several[:most]]
    rest = several[most:]
    if rest:
        tiles = sum(len(part.tiles) for part in rest)
        words.append(f"{tiles:,} in {len(rest):,} smaller group{'s' if len(rest) > 1 else ''}")
    words += [part.text for part in parts if part.is_unique]
    return ", ".join(words) or "no tiles"


def tiles_text(tiles: Sequence[int], most: int = 6) -> str:
    """``tiles 0 … 21, 46 … 67 and 12 more ranges``; ``tiles`` ascend."""
    ranges: list[list[int]] = []
    for tile in tiles:
        if ranges and tile == ranges[-1][1] + 1:
            ranges[-1][1] = tile
        else:
            ranges.append([tile, tile])
    words = [f"{a}" if a == b else f"{a} … {b}" for a, b in ranges[:most]]
    rest = len(ranges) - most
    what = "tile" if len(tiles) == 1 else "tiles"
    return f"{what} {', '.join(words)}" + (f" and {rest:,} more range{'s' if rest > 1 else ''}" if rest > 0 else "")
