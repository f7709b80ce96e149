"""What every tile holds at every step: one sweep over the steps for the curves, single steps when they are looked at.

The full table of steps × tiles is never made: for 4,000 steps on 1472 tiles it would be 94 MB. A sweep keeps one
running sum over the tiles, looks at a few steps at a time and keeps six numbers a step; one step's row is the sum of
its live allocations, a fraction of a millisecond.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tileview.model.kept import KeptResults
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
    spans : iterable of AllocationSpan
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


_SWEPT: dict[tuple[int, bytes], bytes] = {}
"""The six numbers of a step by what its tiles hold (:func:`_sums_of_rows`), over every program of this process: after a
swap most steps hold what they held before."""
MOST_SWEPT = 1 << 16
_NEAR = 64
"""Steps between two that have to be swept that are rather swept along than begun anew."""


def clear_cache() -> None:
    """Forget the steps swept before (for measurements from cold)."""
    _SWEPT.clear()
    _SUMS.clear()


@lru_cache(maxsize=8)
def _factors(tile_count: int) -> npt.NDArray[np.uint64]:
    """(2, tiles): a factor for each tile, twice."""
    text = hashlib.shake_128(b"tiles").digest(16 * tile_count)
    return np.frombuffer(text, "<u8").reshape(2, tile_count) | np.uint64(1)


_SUMS: dict[int, tuple[ByteArray, tuple[int, int]]] = {}
"""Sums of rows by identity; each entry holds its row, so that the id stays its own."""
MOST_SUMS = 1 << 11


def _sums_of_rows(rows: Iterable[ByteArray], tiles: int) -> npt.NDArray[np.uint64]:
    """(rows, 2): two sums over each row that other rows give by chance only about once in 2^90 times.

    The sums of a sum of rows are the sums of their sums, modulo 2^64, so that those of a step's tiles follow from those
    of the allocations, and say as much as the numbers themselves.
    """
    one, other = _factors(tiles)
    found: list[tuple[int, int]] = []
    for row in rows:
        known = _SUMS.get(id(row))
        if known is None:
            if len(_SUMS) >= MOST_SUMS:
                _SUMS.clear()
            numbers = row.view(np.uint64)
            known = _SUMS[id(row)] = (row, (int(np.dot(numbers, one)), int(np.dot(numbers, other))))
        found.append(known[1])
    return np.array(found, dtype=np.uint64).reshape(-1, 2)


def _sweep_unseen(
    rows: list[ByteArray],
    spans: ByteArray,
    scratch: tuple[Mapping[int, ByteArray], Mapping[int, ByteArray]],
    steps: int,
    tiles: int,
) -> Worst:
    """What :func:`sweep` gives, of steps whose tiles hold what those of another did, without a sweep.

    ``spans``: (spans, 4) of number of the row, first step, step after the last, and whether it is interleaved.
    """
    if steps == 0 or tiles == 0:
        return Worst(np.zeros((steps, 6), dtype=np.int64))
    keys = _held(rows, spans, scratch, steps, tiles)
    found = [_SWEPT.get(key) for key in keys]
    unseen = {key: step for step, key in reversed(list(enumerate(keys))) if found[step] is None}
    if unseen:
        if len(_SWEPT) + len(unseen) > MOST_SWEPT:
            _SWEPT.clear()
        made = dict(_swept_runs(sorted(unseen.values()), rows, spans, scratch, tiles))
        new = {key: made[step] for key, step in unseen.items()}
        _SWEPT.update(new)
        found = [new[key] if one is None else one for key, one in zip(keys, found, strict=True)]
    columns = np.frombuffer(b"".join(one for one in found if one is not None), dtype=np.int64)
    return Worst(columns.reshape(steps, 6))


def _held(
    rows: list[ByteArray],
    spans: ByteArray,
    scratch: tuple[Mapping[int, ByteArray], Mapping[int, ByteArray]],
    steps: int,
    tiles: int,
) -> list[tuple[int, bytes]]:
    """What tells what every tile holds at each step: tile count and sums, two of each class."""
    which, first, last, interleaved = spans.T
    sums = _sums_of_rows(rows, tiles)[which]
    held = np.zeros((2, 2, steps + 1), dtype=np.uint64)
    for place in (0, 1):
        flat = held[place].reshape(-1)
        np.add.at(flat, interleaved * (steps + 1) + first, sums[:, place])
        np.subtract.at(flat, interleaved * (steps + 1) + last, sums[:, place])
    np.cumsum(held, axis=2, out=held)
    for column, given in enumerate(scratch):
        if given:
            held[:, column, list(given)] += _sums_of_rows(given.values(), tiles).T
    text = held[:, :, :steps].transpose(2, 0, 1).tobytes()
    return [(tiles, text[at : at + 32]) for at in range(0, 32 * steps, 32)]


def _swept_runs(
    wanted: list[int],
    rows: list[ByteArray],
    spans: ByteArray,
    scratch: tuple[Mapping[int, ByteArray], Mapping[int, ByteArray]],
    tiles: int,
) -> Iterator[tuple[int, bytes]]:
    """The six numbers of some steps, ascending, and of those between near ones.

    Allocations with the same row and lifetime, such as the members of a parameter sequence, are taken together.
    """
    breaks = [place for place in range(1, len(wanted)) if wanted[place] - wanted[place - 1] > _NEAR]
    for start, stop in zip([0, *breaks], [*breaks, len(wanted)], strict=True):
        begin, end = wanted[start], wanted[stop - 1] + 1
        length = end - begin
        which, first, last, interleaved = spans[(spans[:, 1] < end) & (spans[:, 2] > begin)].T
        lives = (np.maximum(first - begin, 0), np.minimum(last - begin, length))
        size = (len(rows), length + 1, length + 1, 2)
        alike, times = np.unique(np.ravel_multi_index((which, *lives, interleaved), size), return_counts=True)
        parts = [part.tolist() for part in (*np.unravel_index(alike, size), times)]
        together = [
            AllocationSpan(rows[row], since, until, bool(within), count)
            for row, since, until, within, count in zip(*parts, strict=True)
        ]
        standard, within = ({step - begin: row for step, row in one.items() if begin <= step < end} for one in scratch)
        columns = sweep(together, standard, length, tiles, within).columns
        yield from ((begin + place, columns[place].tobytes()) for place in range(length))


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
    kept : int
        How many rows of allocations are kept for the next question.
    held : callable, optional
        Gives, from the row of an allocation by root, the rows of all allocations of known size, and (spans, 4) of
        number of the row, first step, step after the last, and whether it is interleaved: where the caller has them at
        hand.
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
        kept: int = 4096,
        held: Callable[[Callable[[int], ByteArray]], tuple[list[ByteArray], ByteArray]] | None = None,
    ) -> None:
        self._held = held
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
        self._always: tuple[frozenset[int], ByteArray] | None = None
        self._usages: KeptResults[int, ByteArray] = KeptResults(64)
        self._allocations: KeptResults[int, ByteArray] = KeptResults(kept)

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
        """The figures of all steps, made when first asked for; only steps whose like was never swept are swept."""
        if self._worst is None:
            rows, table = self._find_held() if self._held is None else self._held(self.allocation)
            steps = len(self._live)
            self._worst = _sweep_unseen(rows, table, self._scratch, steps, self._tile_count)
        return self._worst

    def _find_held(self) -> tuple[list[ByteArray], ByteArray]:
        members, is_interleaved, unavailable = self._members, self._interleaved, self._unavailable
        byte_row, allocation = self._byte_row, self.allocation
        spans = [one for one in self.spans() if one[0] not in unavailable and one[1] < one[2]]
        held = [byte_row(root) if len(members[root]) == 1 else allocation(root) for root, _, _ in spans]
        rows = {id(row): row for row in held}
        places = dict(zip(rows, range(len(rows)), strict=True))
        table = np.empty((len(spans), 4), dtype=np.int64)
        table[:, 0] = [places[id(row)] for row in held]
        table[:, 1:3] = [one[1:] for one in spans] if spans else 0
        table[:, 3] = [is_interleaved(root) for root, _, _ in spans]
        return [*rows.values()], table

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
        throughout, resident = self._throughout()
        sums = resident.copy()
        for root in self._live[step]:
            if root not in throughout and root not in self._unavailable:
                sums[1 if self._interleaved(root) else 0] += self.allocation(root)
        for column, rows in enumerate(self._scratch):
            if step in rows:
                sums[column] += rows[step]
        result = np.ascontiguousarray(sums.T)
        result.flags.writeable = False
        return result

    def _throughout(self) -> tuple[frozenset[int], ByteArray]:
        """The roots that are known to be live at every step, and (2, tiles) what they hold together; made once."""
        if self._always is None:
            count = len(self._live)
            found = frozenset(root for root, first, end in self._spans or () if first == 0 and end == count)
            sums = np.zeros((2, self._tile_count), dtype=np.int64)
            for root in found - self._unavailable:
                sums[1 if self._interleaved(root) else 0] += self.allocation(root)
            self._always = found, sums
        return self._always

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
