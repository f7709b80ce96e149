"""Per-tile numbers of a timeline file that has them, decoded when they are looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tileview.core.memory.file_rows import known_part
from tileview.core.memory.step_table import StepTable, Usages
from tileview.core.memory.usage import PlacedTiles
from tileview.model.kept import KeptResults
from tileview.model.sizes import LARGEST_COUNTED_BYTES
from tileview.model.timeline import ByteArray
from tileview.model.timeline_file import TILE_UNAVAILABLE, TimelineFile

_KEPT_STEPS = 64
_STEPS_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class StepsRead:
    """Consecutive steps that have been read: ``worst`` (steps, 4) as :meth:`FileNumbers.worst` has it, and ``usage``
    (steps, tiles, 2) in four bytes a number where they suffice.
    """

    first: int
    worst: ByteArray
    usage: Usages


class FileNumbers:
    """Implements :class:`tileview.model.timeline.TileNumbers` over a file's arrays.

    What the file lacks, has malformed, or says is unavailable comes from ``placed`` (which knows no scratch): the sum
    of the known allocations. :meth:`worst` and :meth:`tile_curve` need every step; they read what has not been read,
    unless :meth:`defer` has promised that someone else does and hands it in with :meth:`take`. Until that is done,
    they answer with what the file states, and :attr:`is_complete` is False.
    """

    def __init__(self, file: TimelineFile, placed: PlacedTiles) -> None:
        self._file = file
        self._placed = placed
        self._tiles = file.tile_count
        self._steps = len(file.steps)
        self._worst = np.zeros((self._steps, 4), dtype=np.int64)
        self._scanned = 0
        self._deferred = False
        self._table = StepTable(self._steps, self._tiles)
        self._usages: KeptResults[int, ByteArray] = KeptResults(_KEPT_STEPS)

    def usage(self, step: int) -> ByteArray:
        """(tiles, 2): standard and interleaved bytes on each tile at a step; known part only."""
        return self._usages.get(step, self._read_usage)

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

    def spans(self) -> Sequence[tuple[int, int, int]]:
        """(root, first step, step after the last) of every stretch in which an allocation is live."""
        return self._placed.spans()

    # -- all steps ------------------------------------------------------------------------------------------------

    @property
    def is_complete(self) -> bool:
        """Whether every step has been read."""
        return self._scanned == self._steps

    @property
    def scanned(self) -> int:
        """Steps read so far, from the first on."""
        return self._scanned

    @property
    def numbers(self) -> int:
        """How many numbers all steps together have: what tells a file that is read at once from a large one."""
        return self._steps * self._tiles * 2

    def defer(self) -> None:
        """From now on the steps are read elsewhere: until they are taken in, answer with what the file states."""
        if self._deferred or self.is_complete:
            return
        self._deferred = True
        for index in range(self._scanned, self._steps):
            usage = self._file.steps[index].usage
            known = [size if isinstance(size, int) else 0 for size in (usage.standard, usage.interleaved)]
            known = [size if size <= LARGEST_COUNTED_BYTES else 0 for size in known]
            self._worst[index] = (*known, sum(known), -1)

    def start_at(self, step: int) -> None:
        """Before anything is read: leave out the steps before ``step``, and keep no table, for a reader that only hands
        parts on."""
        self._scanned = min(step, self._steps)
        self._table.close()

    def resume(self) -> None:
        """Whoever promised to read the steps will not: they are read here, when they are asked for."""
        self._deferred = False

    def read(self, steps: int) -> StepsRead:
        """Read the next ``steps`` steps and take them in."""
        first, end = self._scanned, min(self._scanned + steps, self._steps)
        worst = np.zeros((end - first, 4), dtype=np.int64)
        usages = np.zeros((end - first, self._tiles, 2), dtype=np.int64)
        for index in range(end - first):
            usage = usages[index] = self._read_usage(first + index)
            total = usage[:, 0] + usage[:, 1]
            if len(total):
                tile = int(np.flatnonzero(total == total.max())[-1])
                worst[index] = (usage[:, 0].max(), usage[:, 1].max(), total[tile], tile)
        small = usages.max(initial=0) <= np.iinfo(np.int32).max
        compact: Usages = usages.astype(np.int32) if small else usages
        part = StepsRead(first, worst, compact)
        self.take(part)
        return part

    def take(self, part: StepsRead) -> None:
        """Take in steps that were read from the same file; parts that do not follow on what is there are ignored."""
        end = part.first + len(part.worst)
        if part.first != self._scanned or end > self._steps:
            return
        self._worst[part.first : end] = part.worst
        self._table.put(part.first, part.usage)
        self._scanned = end

    def scan(self, steps: int) -> bool:
        """Read the next ``steps`` steps; True when all are read."""
        self.read(steps)
        return self.is_complete

    def _finish(self) -> None:
        while not self._deferred and not self.is_complete:
            self.read(_STEPS_AT_ONCE)

    def worst(self) -> ByteArray:
        """(steps, 4): largest standard, interleaved and total, and the last tile of the largest total."""
        self._finish()
        view = self._worst.view()
        view.flags.writeable = False
        return view

    def tile_curve(self, tile: int) -> ByteArray:
        """(steps, 2): standard and interleaved bytes of one tile at every step; 0 at those not read yet."""
        self._finish()
        kept = self._table.curve(tile)
        if kept is not None:
            curve = kept
        else:
            curve = np.zeros((self._steps, 2), dtype=np.int64)
            for step in range(self._scanned):
                curve[step] = self._read_usage(step)[tile]
        curve.flags.writeable = False
        return curve

    def _read_usage(self, step: int) -> ByteArray:
        stored = self._file.tiles.tile_usage(step)
        if stored is None or bool((stored == TILE_UNAVAILABLE).any()):
            derived = self._placed.usage(step) + self.scratch(step)
            derived.flags.writeable = False
            return derived
        return stored
