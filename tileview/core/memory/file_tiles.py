"""Per-tile numbers of a timeline file that has them, decoded when they are looked at."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tileview.core.memory.file_rows import known_part
from tileview.core.memory.rows import LARGEST_COUNTED_BYTES
from tileview.core.memory.usage import PlacedTiles
from tileview.model.timeline import ByteArray
from tileview.model.timeline_file import TILE_UNAVAILABLE, TimelineFile

_KEPT_STEPS = 64
_KEPT_TABLE_NUMBERS = 1 << 24
"""Entries of the table of all steps that is kept once it is read (64 MiB); larger ones are read again."""


class FileNumbers:
    """Implements :class:`tileview.model.timeline.TileNumbers` over a file's arrays.

    What the file lacks, has malformed, or says is unavailable comes from ``placed`` (which knows no scratch): the sum
    of the known allocations. :meth:`scan` reads the steps a few at a time, so that a window can spread the work;
    :meth:`worst` and :meth:`tile_curve` finish it.
    """

    def __init__(self, file: TimelineFile, placed: PlacedTiles) -> None:
        self._file = file
        self._placed = placed
        self._tiles = file.tile_count
        self._steps = len(file.steps)
        self._worst = np.zeros((self._steps, 4), dtype=np.int64)
        self._scanned = 0
        self._table: npt.NDArray[np.int32] | None = None
        if self._steps * self._tiles * 2 <= _KEPT_TABLE_NUMBERS:
            self._table = np.zeros((self._steps if self._tiles else 0, self._tiles, 2), dtype=np.int32)
        self._usage: Callable[[int], ByteArray] = lru_cache(maxsize=_KEPT_STEPS)(self._read_usage)

    def usage(self, step: int) -> ByteArray:
        """(tiles, 2): standard and interleaved bytes on each tile at a step; known part only."""
        return self._usage(step)

    def scratch(self, step: int) -> ByteArray:
        """(tiles, 2): the step's scratch on each tile."""
        stored = self._file.tiles.tile_scratch(step)
        return self._stated_scratch(step) if stored is None else known_part(stored)

    def _stated_scratch(self, step: int) -> ByteArray:
        """The step's scratch on every tile: an upper bound, where its array cannot be read."""
        scratch = self._file.steps[step].scratch
        sizes = (scratch.standard, scratch.interleaved)
        row = [size if isinstance(size, int) and size <= LARGEST_COUNTED_BYTES else 0 for size in sizes]
        result = np.tile(np.array(row, dtype=np.int64), (self._tiles, 1))
        result.flags.writeable = False
        return result

    def shards(self, value: int) -> ByteArray:
        """(tiles,): payload of a value on each tile."""
        return self._placed.shards(value)

    def allocation(self, root: int) -> ByteArray:
        """(tiles,): the largest over an allocation's values."""
        return self._placed.allocation(root)

    def value_bytes(self, value: int) -> ByteArray:
        """(tiles,): bytes of one value on each tile."""
        return self._placed.value_bytes(value)

    @property
    def scanned(self) -> int:
        """Steps read so far by :meth:`scan`."""
        return self._scanned

    def scan(self, steps: int) -> bool:
        """Read the next ``steps`` steps for :meth:`worst`; True when all are read."""
        end = min(self._scanned + steps, self._steps)
        for step in range(self._scanned, end):
            usage = self._read_usage(step)
            total = usage[:, 0] + usage[:, 1]
            if len(total):
                tile = int(np.flatnonzero(total == total.max())[-1])
                self._worst[step] = (usage[:, 0].max(), usage[:, 1].max(), total[tile], tile)
            self._keep(step, usage)
        self._scanned = end
        return end == self._steps

    def worst(self) -> ByteArray:
        """(steps, 4): largest standard, interleaved and total, and the last tile of the largest total."""
        self.scan(self._steps)
        view = self._worst.view()
        view.flags.writeable = False
        return view

    def tile_curve(self, tile: int) -> ByteArray:
        """(steps, 2): standard and interleaved bytes of one tile at every step."""
        self.scan(self._steps)
        if self._table is not None:
            curve = self._table[:, tile].astype(np.int64)
        else:
            curve = np.array([self._read_usage(step)[tile] for step in range(self._steps)], dtype=np.int64)
        curve.flags.writeable = False
        return curve

    def _keep(self, step: int, usage: ByteArray) -> None:
        if self._table is None:
            return
        if usage.max(initial=0) > np.iinfo(np.int32).max:
            self._table = None
        else:
            self._table[step] = usage

    def _read_usage(self, step: int) -> ByteArray:
        stored = self._file.tiles.tile_usage(step)
        if stored is None or bool((stored == TILE_UNAVAILABLE).any()):
            derived = self._placed.usage(step) + self.scratch(step)
            derived.flags.writeable = False
            return derived
        return stored
