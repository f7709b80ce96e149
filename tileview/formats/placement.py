"""The finished placement of all tiles, ``placement-PID.json``, schema 1: read tile by tile.

Nearly all bytes of such a file are the tiles' lists of allocations, some 634,000 entries for 27 layers. So the file
is read once, in pieces, and each list is cut out and its place noted; what is left is JSON of its own. A list is
parsed and checked when its tile is looked at.

An unescaped ``"allocations":`` cannot stand inside a JSON string, so what is found is a key. Between two of them
stand the end of one list and the plain numbers of a tile, so the last ``]`` before the next key ends the list; only
the last list of a file is walked through for its end.
"""

from __future__ import annotations

import os
import re
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Any, Final

import numpy as np
import orjson

from tileview.errors import LoadError
from tileview.formats.check import FieldError, Fields, described, text_of
from tileview.formats.files import (
    BLOCK_BYTES,
    MemorySource,
    OpenFile,
    Progress,
    Source,
    block_sum,
    changed_error,
    check_head,
    fingerprint,
    no_progress,
    parse_json,
    refuse_hopeless,
    seal_as_read,
)
from tileview.formats.sniff import DumpKind, check_version
from tileview.formats.spans import value_end
from tileview.formats.tile_dump import number
from tileview.model.placement import KINDS, PlacementProfile, ProfileTile, SpanArray
from tileview.model.timeline import Problem

_CHUNK: Final = 1 << 22
_KEY: Final = re.compile(rb'"allocations"[ \t\r\n]*+:[ \t\r\n]*+\[')
_OVERLAP: Final = 4096
_KEPT_TILES: Final = 64
_CHECKED_AT_ONCE: Final = 1 << 24
"""Files up to 16 MiB are checked to the last entry when they are opened; of larger ones each tile when it is read."""
_NUMBERS: Final = ("start", "end", "payload_end", "label", "first", "last")


def load_placement(path: str | os.PathLike[str], progress: Progress = no_progress) -> PlacementProfile:
    """Open a placement profile. The file stays open for its tiles until ``tiles.close()``.

    Raises
    ------
    LoadError
        Not a readable file, not JSON, another schema, or a field that is not what it has to be.
    """
    file = OpenFile(path)
    try:
        return placement_from_source(file, progress)
    except BaseException:
        file.close()
        raise


def placement_from_bytes(raw: bytes, path: str = "") -> PlacementProfile:
    """:func:`load_placement` for bytes in memory; ``path`` names them in errors."""
    return placement_from_source(MemorySource(raw, path))


def placement_from_source(source: Source, progress: Progress = no_progress) -> PlacementProfile:
    """:func:`load_placement` for an open source, which has to stay open while the profile is in use."""
    path = source.path
    spans = _lists(source, progress)
    rest, starts = _rest(source, spans)
    document = parse_json(path, rest, lambda offset: _file_offset(offset, spans, starts))
    version = check_version(path, DumpKind.PLACEMENT, document.get("schema_version"))
    try:
        top = Fields(document)
        labels = tuple(text_of(label, f"labels[{index}]") for index, label in enumerate(top.list("labels")))
        start, end = (number(top.raw(name, "an address"), name) for name in ("start", "end"))
        if start > end:
            raise FieldError("end", f"an address from {start} on", f"the number {end}")
        listed = top.list("tiles")
        if not listed:
            raise FieldError("tiles", "the allocations of at least one tile", "an empty list")
        tiles = _Tiles(source, len(labels), listed, spans)
    except FieldError as error:
        raise error.at(path) from None
    sums = list(_sums(source))
    seal_as_read(source, sums)
    profile = PlacementProfile(path, version, start, end, labels, tiles, fingerprint=fingerprint(sums))
    if source.size <= _CHECKED_AT_ONCE:
        for logical in tiles.logical():
            tiles.tile(logical)
    progress(1.0, "read")
    return profile


def _sums(source: Source) -> Iterator[int]:
    """What the content is told from another by, block by block."""
    for at in range(0, source.size, BLOCK_BYTES):
        yield block_sum(source.read(at, BLOCK_BYTES))


def profile_problems(profile: PlacementProfile) -> Iterator[Problem]:
    """What is odd about a profile though it can be shown: entries that overlap while both live, unknown kinds.

    Reads all tiles, one at a time; raises LoadError where one is not as it must be.
    """
    for index, logical in enumerate(profile.tiles.logical()):
        tile = profile.tiles.tile(logical)
        for kind in sorted(set(tile.kinds) - set(KINDS)):
            place = f"tiles[{index}].allocations[{tile.kinds.index(kind)}].kind"
            yield Problem("note", place, f'the kind "{kind}" is not known')
        found = overlapping(tile)
        if found is not None:
            one, other = found
            yield Problem(
                "warning",
                f"tiles[{index}].allocations[{other}]",
                f"overlaps allocations[{one}] while both live",
            )


def overlapping(tile: ProfileTile) -> tuple[int, int] | None:
    """The first two entries of a tile (by index) that share bytes while both live; None where none do."""
    order = np.argsort(tile.spans[:, 0], kind="stable")
    starts, ends = tile.spans[order, 0], tile.spans[order, 2]
    firsts, lasts = tile.lives[order, 0], tile.lives[order, 1]
    reach = np.searchsorted(starts, ends, side="left")
    for offset in range(1, len(order)):
        below = np.flatnonzero(reach > np.arange(len(order)) + offset)
        if not len(below):
            return None
        above = below + offset
        together = (firsts[below] <= lasts[above]) & (firsts[above] <= lasts[below]) & (starts[above] < ends[above])
        if together.any():
            at = below[together.argmax()]
            return int(min(order[at], order[at + offset])), int(max(order[at], order[at + offset]))
    return None


# -- locating the lists ---------------------------------------------------------------------------------------------

_Cut = tuple[int, int]


def _lists(source: Source, progress: Progress) -> list[_Cut]:
    """Where the list of each tile lies, from its ``[`` to behind its ``]``."""
    check_head(source.path, source.read(0, _OVERLAP))
    keys: list[_Cut] = []
    at, kept = 0, b""
    while True:
        part = source.read(at + len(kept), _CHUNK)
        refuse_hopeless(source.path, part, at + len(kept), len(kept) + len(part))
        if not part:
            break
        window = kept + part
        last = 0
        for found in _KEY.finditer(window):
            keys.append((at + found.start(), at + found.end() - 1))
            last = found.end()
        keep = max(last, len(window) - _OVERLAP)
        at += keep
        kept = window[keep:]
        progress(0.9 * min(1.0, at / max(1, source.size)), "locating the tiles")
    ends: list[_Cut | None] = [*keys, None][1:]
    return [(opening, _end(source, opening, end)) for (_, opening), end in zip(keys, ends, strict=True)]


def _end(source: Source, opening: int, following: _Cut | None) -> int:
    """Behind the ``]`` of a list: the last one before the next list's key, or, for the last list, its own."""
    if following is not None:
        low = max(opening, following[0] - _OVERLAP)
        closing = source.read(low, following[0] - low).rfind(b"]")
        if closing >= 0:
            return low + closing + 1
    limit = source.size if following is None else following[0]
    return opening + value_end(source.read(opening, limit - opening), 0)


def _rest(source: Source, spans: list[_Cut]) -> tuple[bytes, list[int]]:
    """The file with each list replaced by its number, and where in that the number of each stands."""
    pieces: list[bytes] = []
    starts: list[int] = []
    at = length = 0
    for index, (start, end) in enumerate(spans):
        mark = b"%d" % index
        pieces += (source.read(at, start - at), mark)
        length += start - at
        starts.append(length)
        length += len(mark)
        at = end
    refuse_hopeless(source.path, b"", at, length + max(0, source.size - at))
    pieces.append(source.read(at, source.size - at))
    return b"".join(pieces), starts


def _file_offset(offset: int, spans: list[_Cut], starts: list[int]) -> int:
    """The byte of the file that a byte of the rest was."""
    shift = 0
    for index, ((start, end), at) in enumerate(zip(spans, starts, strict=True)):
        if at >= offset:
            break
        shift += end - start - len(str(index))
    return offset + shift


# -- reading tiles --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Listed:
    index: int
    physical: int
    span: _Cut


class _Tiles:
    """The tiles of one file (see :class:`tileview.model.placement.ProfileTiles`); the last ones read are kept."""

    def __init__(self, source: Source, labels: int, entries: list[Any], spans: list[_Cut]) -> None:
        self._source = source
        self._labels = labels
        self._listed: dict[int, _Listed] = {}
        self._kept: OrderedDict[int, ProfileTile] = OrderedDict()
        for index, entry in enumerate(entries):
            fields = Fields(entry, f"tiles[{index}]")
            logical = number(fields.raw("logical", "a tile"), fields.where("logical"))
            physical = number(fields.raw("physical", "a tile"), fields.where("physical"))
            mark = fields.raw("allocations", "a list")
            if type(mark) is not int or not 0 <= mark < len(spans):
                raise FieldError(fields.where("allocations"), "a list", described(mark))
            if logical in self._listed:
                found = f"tile {logical}, which tiles[{self._listed[logical].index}] is already"
                raise FieldError(fields.where("logical"), "every tile once", found)
            self._listed[logical] = _Listed(index, physical, spans[mark])

    def logical(self) -> tuple[int, ...]:
        return tuple(self._listed)

    def tile(self, logical: int) -> ProfileTile:
        kept = self._kept.get(logical)
        if kept is None:
            kept = self._read(logical, self._listed[logical])
            self._kept[logical] = kept
            if len(self._kept) > _KEPT_TILES:
                self._kept.popitem(last=False)
        return kept

    def close(self) -> None:
        self._source.close()

    def _read(self, logical: int, listed: _Listed) -> ProfileTile:
        start, end = listed.span
        raw = self._source.read(start, end - start)
        if self._source.has_changed():
            raise changed_error(self._source.path)
        place = f"tiles[{listed.index}].allocations"
        if len(raw) < end - start:
            raise changed_error(self._source.path)
        try:
            entries = orjson.loads(raw)
        except orjson.JSONDecodeError as error:
            hint = "The file is damaged: write it again."
            raise LoadError(self._source.path, place, "a list", str(error).split(": line ")[0], hint) from None
        try:
            return _tile(logical, listed.physical, entries, place, self._labels)
        except FieldError as error:
            raise error.at(self._source.path) from None


_OF_ENTRY: Final = itemgetter(*_NUMBERS)


def _tile(logical: int, physical: int, entries: list[Any], place: str, labels: int) -> ProfileTile:
    """The entries of a tile as columns; the first that is not as it must be is an error."""
    try:
        shards = [entry["shards"] for entry in entries]
        flat = list(chain.from_iterable(map(_OF_ENTRY, entries)))
        table = _numbers(flat).reshape(-1, len(_NUMBERS))
        shard_numbers, ends = (
            _numbers(list(chain.from_iterable(shards))),
            np.cumsum(list(map(len, shards)), dtype=np.int64),
        )
        kinds = tuple([entry["kind"] for entry in entries])
        sound = _sound(table, labels) and set(map(type, kinds)) <= {str} and set(map(type, shards)) <= {list}
    except (KeyError, TypeError, OverflowError):
        sound = False
    if not sound:
        for index, entry in enumerate(entries):
            _check_entry(Fields(entry, f"{place}[{index}]"), labels)
    for array in (table, shard_numbers, ends):
        array.flags.writeable = False
    spans = table[:, [0, 2, 1]]
    return ProfileTile(logical, physical, spans, table[:, 4:], table[:, 3], kinds, shard_numbers, ends)


def _numbers(values: list[Any]) -> SpanArray:
    """Whole numbers as an array; TypeError where one is none."""
    if not set(map(type, values)) <= {int}:
        raise TypeError
    return np.array(values, dtype=np.int64)


def _sound(table: SpanArray, labels: int) -> bool:
    """Whether the numbers of all entries are as they must be."""
    if not table.size:
        return True
    start, end, payload, label, first, last = table.T
    ordered = (start <= payload) & (payload <= end) & (first <= last) & (label < labels)
    return bool(ordered.all()) and int(table.min()) >= 0 and int(table.max()) <= 2**32 - 1


def _check_entry(fields: Fields, labels: int) -> None:
    """Raise FieldError for what is wrong with one entry."""
    values = {name: number(fields.raw(name, "a whole number"), fields.where(name)) for name in _NUMBERS}
    if values["label"] >= labels:
        raise FieldError(fields.where("label"), f"a label from 0 to {labels - 1}", f"the number {values['label']}")
    if not values["start"] <= values["payload_end"] <= values["end"]:
        span = f"{values['start']} to {values['end']}"
        raise FieldError(fields.where("payload_end"), f"an address in the span {span}", f"{values['payload_end']}")
    if values["first"] > values["last"]:
        found = f"first {values['first']}, last {values['last']}"
        raise FieldError(fields.where("first"), "a first event that is not after the last", found)
    fields.text("kind")
    for index, shard in enumerate(fields.list("shards")):
        number(shard, f"{fields.where('shards')}[{index}]")
