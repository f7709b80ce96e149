"""What every tile holds at every step: one sweep over the steps for the curves, single steps when they are looked at.

The full table of steps × tiles is never made: for 4,000 steps on 1472 tiles it would be 94 MB. A sweep keeps one
running sum over the tiles, looks at a few steps at a time and keeps six numbers a step; one step's row is the sum of
its live allocations, a fraction of a millisecond.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from tileview.model.timeline import ByteArray

_CHUNK_NUMBERS = 1 << 16
"""Table entries a chunk of the sweep holds at most: 512 KiB a class, so that a chunk stays in the cache."""


class AllocationSpan(NamedTuple):
    """``times`` allocations with the same bytes on each tile, live from step ``first`` up to (not at) ``last``."""

    row: ByteArray
    first: int
    last: int
    interleaved: bool
    times: int = 1


class Worst(NamedTuple):
    """Per step: largest standard, interleaved, total; the last tile of the largest total; that tile's two classes."""

    columns: ByteArray
    """(steps, 6)."""

    def public(self) -> ByteArray:
        """(steps, 4): the columns that :meth:`TileNumbers.worst` promises."""
        view = self.columns[:, :4]
        view.flags.writeable = False
        return view


NO_ROWS: Mapping[int, ByteArray] = {}


def sweep(
    spans: Iterable[AllocationSpan],
    scratch: Mapping[int, ByteArray],
    steps: int,
    tiles: int,
    interleaved_scratch: Mapping[int, ByteArray] = NO_ROWS,
) -> Worst:
    """Run through all steps and keep what is worst at each.

    Parameters
    ----------
    spans : iterable of Span
        Every allocation of known size. Rows are (tiles,) in bytes.
    scratch, interleaved_scratch : mapping
        Step → (tiles,) of scratch, for steps that have any.
    """
    result = np.zeros((steps, 6), dtype=np.int64)
    if steps == 0 or tiles == 0:
        return Worst(result)
    running = np.zeros((2, tiles), dtype=np.int64)
    changes: dict[int, list[tuple[ByteArray, ByteArray, np.ufunc]]] = {}
    has_interleaved = bool(interleaved_scratch)
    for row, first, last, interleaved, times in spans:
        if times > 1:
            row = row * times
        has_interleaved |= interleaved
        into = running[1] if interleaved else running[0]
        if first == 0:
            np.add(into, row, out=into)
        else:
            changes.setdefault(first, []).append((into, row, np.add))
        if last < steps:
            changes.setdefault(last, []).append((into, row, np.subtract))
    chunk = max(1, min(steps, _CHUNK_NUMBERS // tiles))
    tables = np.zeros((2, chunk, tiles), dtype=np.int64)
    copied = slice(0, 2 if has_interleaved else 1)
    for begin in range(0, steps, chunk):
        end = min(begin + chunk, steps)
        for step in range(begin, end):
            for into, row, change in changes.get(step, ()):
                change(into, row, out=into)
            tables[copied, step - begin] = running[copied]
            if step in scratch:
                tables[0, step - begin] += scratch[step]
            if step in interleaved_scratch:
                tables[1, step - begin] += interleaved_scratch[step]
        _reduce(tables[0, : end - begin], tables[1, : end - begin] if has_interleaved else None, result[begin:end])
    return Worst(result)


def _reduce(standard: ByteArray, interleaved: ByteArray | None, result: ByteArray) -> None:
    """Fill the six columns of some steps from their (steps, tiles) tables; None is a table of zeros."""
    length, tiles = standard.shape
    total = standard if interleaved is None else standard + interleaved
    # argmax finds the first of equals; on the mirrored table that is the last tile
    tile = tiles - 1 - np.ascontiguousarray(total[:, ::-1]).argmax(axis=1)
    every = np.arange(length)
    result[:, 2] = total[every, tile]
    result[:, 3] = tile
    if interleaved is None:
        result[:, 0] = result[:, 4] = result[:, 2]
        return
    result[:, 0] = standard.max(axis=1)
    result[:, 1] = interleaved.max(axis=1)
    result[:, 4] = standard[every, tile]
    result[:, 5] = interleaved[every, tile]


class PlacedTiles:
    """Per-tile numbers of a timeline whose allocations are placed by shape, layout and owner map.

    Implements :class:`tileview.model.timeline.TileNumbers`. Everything is made from rows, one (tiles,) array per
    value, that the callables hand out; unavailable ones are zeros.

    Parameters
    ----------
    live : sequence of tuple of int
        Roots live at each step.
    members : mapping
        Root → values of that allocation.
    interleaved : callable
        Whether an allocation is interleaved, by root.
    shard_row, byte_row : callable
        Payload and bytes (copies included) of a value on each tile.
    unavailable : frozenset of int
        Roots without a known size.
    scratch, interleaved_scratch : mapping
        Step → (tiles,) of scratch, for steps that have any.
    """

    def __init__(
        self,
        tile_count: int,
        live: Sequence[Sequence[int]],
        members: Mapping[int, tuple[int, ...]],
        interleaved: Callable[[int], bool],
        shard_row: Callable[[int], ByteArray],
        byte_row: Callable[[int], ByteArray],
        unavailable: frozenset[int],
        scratch: Mapping[int, ByteArray] = NO_ROWS,
        interleaved_scratch: Mapping[int, ByteArray] = NO_ROWS,
        spans: Sequence[tuple[int, int, int]] | None = None,
    ) -> None:
        self._tile_count = tile_count
        self._live = live
        self._members = members
        self._interleaved = interleaved
        self._shard_row = shard_row
        self._byte_row = byte_row
        self._scratch = (scratch, interleaved_scratch)
        self._unavailable = unavailable
        self._worst: Worst | None = None
        self._spans = spans
        self._usages: KeptResults[int, ByteArray] = KeptResults(64)
        self._allocations: KeptResults[int, ByteArray] = KeptResults(4096)

    def usage(self, step: int) -> ByteArray:
        """(tiles, 2): standard and interleaved bytes on each tile at a step, scratch included; known part only."""
        return self._usages.get(step, self._make_usage)

    def scratch(self, step: int) -> ByteArray:
        """(tiles, 2): the step's scratch on each tile."""
        result = np.zeros((self._tile_count, 2), dtype=np.int64)
        for column, rows in enumerate(self._scratch):
            if step in rows:
                result[:, column] = rows[step]
        result.flags.writeable = False
        return result

    def shards(self, value: int) -> ByteArray:
        """(tiles,): payload bytes of a value on each tile."""
        return self._shard_row(value)

    def value_bytes(self, value: int) -> ByteArray:
        """(tiles,): bytes of one value on each tile, tail, rounding and copies included."""
        return self._byte_row(value)

    def allocation(self, root: int) -> ByteArray:
        """(tiles,): the largest over an allocation's values; zeros where one of them is unavailable."""
        return self._allocations.get(root, self._make_allocation)

    def worst(self) -> ByteArray:
        """(steps, 4): largest standard, interleaved and total, and the last tile of the largest total."""
        return self.worst_of_all().public()

    def worst_of_all(self) -> Worst:
        """The sweep over all steps, made when first asked for.

        Allocations with the same row and lifetime, such as the members of a parameter sequence, are taken together.
        """
        if self._worst is None:
            members, is_interleaved, unavailable = self._members, self._interleaved, self._unavailable
            byte_row, allocation = self._byte_row, self.allocation
            alike: dict[tuple[int, int, int, bool], list[ByteArray]] = {}
            for root, first, last in self.spans():
                if root not in unavailable and first < last:
                    values = members[root]
                    row = byte_row(root) if len(values) == 1 else allocation(root)
                    alike.setdefault((id(row), first, last, is_interleaved(root)), []).append(row)
            spans = [AllocationSpan(rows[0], key[1], key[2], key[3], len(rows)) for key, rows in alike.items()]
            standard, interleaved = self._scratch
            self._worst = sweep(spans, standard, len(self._live), self._tile_count, interleaved)
        return self._worst

    def spans(self) -> Sequence[tuple[int, int, int]]:
        """(root, first step, step after the last) of every stretch in which an allocation is live."""
        if self._spans is None:
            self._spans = live_stretches(self._live)
        return self._spans

    def tile_curve(self, tile: int) -> ByteArray:
        """(steps, 2): standard and interleaved bytes of one tile at every step."""
        steps = len(self._live)
        curve = np.zeros((steps + 1, 2), dtype=np.int64)
        for root, first, last in self.spans():
            if root in self._unavailable:
                continue
            size = self.allocation(root)[tile]
            column = 1 if self._interleaved(root) else 0
            curve[first, column] += size
            curve[last, column] -= size
        np.cumsum(curve, axis=0, out=curve)
        for column, rows in enumerate(self._scratch):
            for step, row in rows.items():
                curve[step, column] += row[tile]
        result = curve[:steps]
        result.flags.writeable = False
        return result

    def _make_usage(self, step: int) -> ByteArray:
        sums = np.zeros((2, self._tile_count), dtype=np.int64)
        for root in self._live[step]:
            if root not in self._unavailable:
                sums[1 if self._interleaved(root) else 0] += self.allocation(root)
        for column, rows in enumerate(self._scratch):
            if step in rows:
                sums[column] += rows[step]
        result = np.ascontiguousarray(sums.T)
        result.flags.writeable = False
        return result

    def _make_allocation(self, root: int) -> ByteArray:
        if root in self._unavailable:
            return _zeros(self._tile_count)
        members = self._members[root]
        row = self._byte_row(members[0])
        others = {id(other): other for other in map(self._byte_row, members[1:]) if other is not row}
        if not others:
            return row
        result = row.copy()
        for other in others.values():
            np.maximum(result, other, out=result)
        result.flags.writeable = False
        return result


@lru_cache(maxsize=8)
def _zeros(tile_count: int) -> ByteArray:
    zeros = np.zeros(tile_count, dtype=np.int64)
    zeros.flags.writeable = False
    return zeros


def live_stretches(live: Sequence[Sequence[int]]) -> list[tuple[int, int, int]]:
    """(root, first step, step after the last) for every unbroken stretch of a root in the live sets."""
    spans: list[tuple[int, int, int]] = []
    since: dict[int, int] = {}
    previous: Sequence[int] = ()
    for step, roots in enumerate(live):
        if roots is previous:
            continue
        now, before = set(roots), set(previous)
        for root in before - now:
            spans.append((root, since.pop(root), step))
        for root in now - before:
            since[root] = step
        previous = roots
    spans.extend((root, first, len(live)) for root, first in since.items())
    return spans


K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class KeptResults(Generic[K, V]):
    """The results asked for last, at most ``limit`` of them; may be used from several threads.

    An object that caches its own methods with ``functools.lru_cache`` is part of a ring: a document's arrays would stay
    in memory until the garbage collector comes by.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._found: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K, make: Callable[[K], V]) -> V:
        """What ``make`` gives for a key, made when it is not there."""
        try:
            value = self._found[key]
            self._found.move_to_end(key)
        except KeyError:  # not there, or put out by another thread between the two lines
            value = self._found[key] = make(key)
            if len(self._found) > self._limit:
                with suppress(KeyError):
                    self._found.popitem(last=False)
        return value
