"""The numbers per tile of a timeline file, decoded when they are looked at.

A decoded array is int64; the file's 2^64 − 1 becomes :data:`~tileview.model.timeline_file.TILE_UNAVAILABLE`. Decoding
checks everything that locating could not: that the brackets are those of a list (of pairs), that there are only whole
numbers without sign, and that none is beyond what a count of bytes can be. An array that fails is None, and
:meth:`TileArrays.check` says why.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import orjson

from tileview.formats.files import Progress, Source, no_progress
from tileview.formats.tilescan import Scan
from tileview.model.sizes import LARGEST_COUNTED_BYTES, U64_MAX
from tileview.model.timeline import ByteArray, Problem
from tileview.model.timeline_file import FILE_CHANGED

_DIGITS: Final = b"0123456789"
_CACHED: Final = 128
_I64_MAX: Final = 2**63 - 1

_COLUMNS: Final = {"tile_usage": 2, "tile_scratch": 2, "tile_shards": 1, "tile_bytes": 1}
STEP_KEYS: Final = ("tile_usage", "tile_scratch")
VALUE_KEYS: Final = ("tile_shards", "tile_bytes")


def decode_numbers(text: bytes) -> npt.NDArray[np.uint64] | None:
    """A flat JSON list of unsigned 64-bit integers as an array; None where it is not one.

    Compact text (no spaces) takes the fast way; any other goes through the JSON parser.
    """
    body = text[1:-1]
    if not body.strip(b" \t\r\n"):
        return np.zeros(0, np.uint64) if text[:1] == b"[" and text[-1:] == b"]" else None
    commas = body.translate(None, _DIGITS)
    if commas.strip(b",") or text[:1] != b"[" or text[-1:] != b"]":
        return _decode_slowly(text, 1)
    return _decode_body(body, len(commas) + 1)


def _decode_body(body: bytes, count: int) -> npt.NDArray[np.uint64] | None:
    """Digits and commas only; None where a number is missing, begins with a needless zero or does not fit."""
    if body[:1] == b"," or body[-1:] == b"," or b",," in body:
        return None
    array = np.fromstring(body, dtype=np.uint64, sep=",")
    if array.size != count or _has_leading_zero(body, array):
        return None
    if array.size and int(array.max()) > _I64_MAX:
        return _decode_slowly(b"[" + body + b"]", 1)
    return array


def _has_leading_zero(body: bytes, array: npt.NDArray[np.uint64]) -> bool:
    """Whether a number is written with a zero before its first digit, which JSON does not know: ``07``, ``00``."""
    begin_with_zero = body.count(b",0") + body.startswith(b"0")
    zeros = array.size - int(np.count_nonzero(array))
    return begin_with_zero != zeros or b",00" in body or body.startswith(b"00")


def _decode_slowly(text: bytes, columns: int) -> npt.NDArray[np.uint64] | None:
    """Through the JSON parser: exact for numbers up to 2^64 − 1, and strict about everything else."""
    try:
        items = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return numbers_of_list(items, columns)


def numbers_of_list(items: object, columns: int) -> npt.NDArray[np.uint64] | None:
    """A parsed list of numbers (of pairs, with two columns) as a flat array; None where it is not one."""
    if not isinstance(items, list):
        return None
    flat: Sequence[Any] = items
    if columns == 2:
        if not all(type(pair) is list and len(pair) == 2 for pair in items):
            return None
        flat = [number for pair in items for number in pair]
    if not all(type(number) is int and (0 <= number <= _I64_MAX or number == U64_MAX) for number in flat):
        return None
    return np.array(flat, dtype=np.uint64)


def _beyond_sums(numbers: npt.NDArray[np.uint64]) -> bool:
    """Whether one of the numbers is larger than what may be added up, and is not "unavailable" either."""
    if int(numbers.max(initial=0)) <= LARGEST_COUNTED_BYTES:
        return False
    return bool(np.any((numbers > LARGEST_COUNTED_BYTES) & (numbers != U64_MAX)))


class TileArrays:
    """The ``tile_…`` arrays of one file (see :class:`tileview.model.timeline_file.FileTiles`).

    Parameters
    ----------
    source : Source
        The open file, None where it has no arrays.
    tile_count : int
        How many entries each array has to have.
    steps, values : sequence of dict
        The parsed entries, in whose array fields a placeholder (see :mod:`~tileview.formats.tilescan`) or, rarely,
        the array itself stands.
    cut : Scan
        Where the n-th array lies.
    """

    def __init__(
        self,
        source: Source | None,
        tile_count: int,
        steps: Sequence[dict[str, Any]],
        values: Sequence[dict[str, Any]],
        cut: Scan,
    ) -> None:
        self._source = source
        self._tile_count = tile_count
        self._places: dict[str, npt.NDArray[np.int64]] = {}
        self._inline: dict[tuple[str, int], npt.NDArray[np.uint64] | None] = {}
        self._wrong: dict[tuple[str, int], str] = {}
        self._faulty: set[tuple[str, int]] = set()
        self._cache: OrderedDict[tuple[str, int], ByteArray] = OrderedDict()
        self._lock = threading.Lock()
        self._missing = 0
        for keys, entries in ((STEP_KEYS, steps), (VALUE_KEYS, values)):
            for key in keys:
                self._places[key] = self._locate(key, entries, cut)
        pairs = b",".join([b"[,]"] * tile_count)
        self._skeleton = {1: b"[" + b"," * (tile_count - 1) + b"]", 2: b"[" + pairs + b"]"}
        self._zero_text = b"[" + b",".join([b"[0,0]"] * tile_count) + b"]"

    def _locate(self, key: str, entries: Sequence[dict[str, Any]], cut: Scan) -> npt.NDArray[np.int64]:
        """(entries, 2): start and end of each entry's array, −1 where it has none in the file."""
        places = np.full((len(entries), 2), -1, np.int64)
        wanted = self._tile_count * _COLUMNS[key]
        for index, entry in enumerate(entries):
            item = entry.get(key)
            if item is None:
                self._missing += 1
                continue
            span = cut.span_of(item, key)
            if span is not None:
                places[index] = span.start, span.end
                if span.numbers != wanted:
                    self._wrong[key, index] = f"{span.numbers:,} numbers, expected {wanted:,}"
            else:
                array = numbers_of_list(item, _COLUMNS[key])
                self._inline[key, index] = array
                if array is None or array.size != wanted:
                    self._wrong[key, index] = "no list of whole numbers of the right length"
        return places

    @property
    def has_tiles(self) -> bool:
        return self._missing == 0 and len(self._places["tile_usage"]) + len(self._places["tile_bytes"]) > 0

    def tile_usage(self, step: int) -> ByteArray | None:
        return self._get("tile_usage", step)

    def tile_scratch(self, step: int) -> ByteArray | None:
        return self._get("tile_scratch", step)

    def tile_shards(self, value: int) -> ByteArray | None:
        return self._get("tile_shards", value)

    def tile_bytes(self, value: int) -> ByteArray | None:
        return self._get("tile_bytes", value)

    def has_changed(self) -> bool:
        return self._source is not None and self._source.has_changed()

    def close(self) -> None:
        if self._source is not None:
            self._source.close()

    def length_problems(self) -> list[Problem]:
        """Arrays of the wrong length, as far as locating them showed."""
        return [self._problem(key, index, text) for (key, index), text in self._wrong.items()]

    def check(self, progress: Progress = no_progress) -> list[Problem]:
        """Decode every array once and report those that are malformed (and are not in :meth:`length_problems`).

        Takes about a second for 200 MiB; meant for the background, after the file is shown.
        """
        total = sum(len(places) for places in self._places.values())
        done = 0
        for key, places in self._places.items():
            for index in range(len(places)):
                done += 1
                if done % 64 == 0:
                    progress(done / total, "checking the numbers per tile")
                if places[index, 0] >= 0:
                    self._decode(key, index)
        return list(self.faults())

    def faults(self) -> tuple[Problem, ...]:
        """The arrays that turned out malformed when they were decoded; first whether the file has changed."""
        text = "not a list of whole numbers (up to 2^48, or 2^64 − 1), one entry a tile"
        order = {key: rank for rank, key in enumerate((*VALUE_KEYS, *STEP_KEYS))}
        faulty = sorted(self._faulty, key=lambda entry: (order[entry[0]], entry[1]))
        found = [self._problem(key, index, text) for key, index in faulty]
        if self.has_changed():
            found.insert(0, FILE_CHANGED)
        return tuple(found)

    def _problem(self, key: str, index: int, text: str) -> Problem:
        if key in STEP_KEYS:
            return Problem("error", f"timeline.steps[{index}].{key}", text, "The array is not used.", step=index)
        return Problem("error", f"timeline.values[{index}].{key}", text, "The array is not used.", value=index)

    def _get(self, key: str, index: int) -> ByteArray | None:
        if self.has_changed():
            return None  # what is in the cache is right, but beside numbers that are gone it would mislead
        with self._lock:
            found = self._cache.get((key, index))
            if found is not None:
                self._cache.move_to_end((key, index))
                return found
        array = self._decode(key, index)
        if array is not None:
            with self._lock:
                self._cache[key, index] = array
                if len(self._cache) > _CACHED:
                    self._cache.popitem(last=False)
        return array

    def _decode(self, key: str, index: int) -> ByteArray | None:
        places = self._places[key]
        if not 0 <= index < len(places) or (key, index) in self._wrong:
            return None
        columns = _COLUMNS[key]
        numbers = self._inline.get((key, index))
        if numbers is None:
            start, end = int(places[index, 0]), int(places[index, 1])
            if start < 0 or self._source is None:
                return None
            text = self._source.read(start, end - start)
            if len(text) < end - start:
                return None
            if columns == 2 and text == self._zero_text:
                numbers = np.zeros(2 * self._tile_count, np.uint64)
            else:
                numbers = self._numbers(text, columns)
        if numbers is None or numbers.size != self._tile_count * columns or _beyond_sums(numbers):
            self._faulty.add((key, index))
            return None
        array = numbers.view(np.int64) if numbers.dtype == np.uint64 else numbers.astype(np.int64)
        result = array.reshape(self._tile_count, 2) if columns == 2 else array
        result.setflags(write=False)
        return result

    def _numbers(self, text: bytes, columns: int) -> npt.NDArray[np.uint64] | None:
        if text.translate(None, _DIGITS) != self._skeleton[columns]:
            return _decode_slowly(text, columns)
        body = text.translate(None, b"[]")
        if columns == 2 and (b"[," in text or b",]" in text):
            return None
        return _decode_body(body, columns * self._tile_count)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        del state["_lock"], state["_cache"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._cache = OrderedDict()
        self._lock = threading.Lock()
