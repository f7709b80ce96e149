"""The numbers per tile of a timeline file: found without parsing them, decoded when they are looked at.

Nearly all bytes of a timeline are numbers per tile (``tile_usage``, ``tile_scratch``, ``tile_shards``,
``tile_bytes``) and lists of live allocations (``live``). Parsing them all would cost ten times the file's size in
memory and most of the opening time, though a user looks at a few of them. So the file is read once, in pieces; each
such array is cut out and its place noted, and the few per cent that are left are JSON of their own, with ``{"@": n}``
where the n-th array stood.

An unescaped ``"tile_usage":`` cannot stand inside a JSON string, so what is found is a key. The array ends before the
next quote or closing brace, whatever its nesting. Where what stands there does not look like an array of numbers it
is left in the JSON, and the parser's word about it counts.

A decoded array is int64; the file's 2^64 − 1 becomes :data:`~tileview.model.timeline_file.TILE_UNAVAILABLE`. Decoding
checks everything that locating could not: that the brackets are those of a list (of pairs), that there are only whole
numbers without sign, and that none is beyond what a count of bytes can be. An array that fails is None, and
:meth:`TileArrays.check` says why.
"""

from __future__ import annotations

import os
import re
import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import orjson

from tileview.formats.files import BlockSums, Progress, Source, changed_error, check_head, no_progress, refuse_hopeless
from tileview.model.sizes import LARGEST_COUNTED_BYTES, U64_MAX
from tileview.model.timeline import ByteArray, Problem
from tileview.model.timeline_file import FILE_CHANGED

ARRAY_KEYS: Final = ("tile_usage", "tile_scratch", "tile_shards", "tile_bytes", "live")

CHUNK: Final = 1 << 22
_KEY = re.compile(b'"(?:' + b"|".join(name.encode() for name in ARRAY_KEYS) + b')"')
_OPENING = re.compile(rb"[ \t\r\n]*+:[ \t\r\n]*+\[")
_LONGEST_KEY: Final = max(map(len, ARRAY_KEYS)) + 2
_SPACE_BEFORE_ARRAY: Final = 4096
_AFTER_ARRAY: Final = b" \t\r\n,"


@dataclass(frozen=True, slots=True)
class ArraySpan:
    """A cut-out array: bytes ``start`` (its ``[``) to ``end`` of the file, and how many numbers its commas make."""

    key: str
    start: int
    end: int
    numbers: int


@dataclass(frozen=True, slots=True)
class Scan:
    """What is left of the file as JSON, the arrays cut out of it, and how to find a byte of the former in the file."""

    rest: bytes
    spans: tuple[ArraySpan, ...]
    mark: str
    sums: tuple[int, ...]
    """:func:`~tileview.formats.files.block_sum` of every block of the file."""
    _rest_starts: tuple[int, ...]
    _file_starts: tuple[int, ...]

    def span_of(self, item: object, key: str) -> ArraySpan | None:
        """The array that a value of ``rest`` stands for; None where it stands for no array of this key."""
        if isinstance(item, dict) and len(item) == 1:
            number = item.get(self.mark)
            if type(number) is int and 0 <= number < len(self.spans) and self.spans[number].key == key:
                return self.spans[number]
        return None

    def file_offset(self, offset: int) -> int:
        """The byte of the file that byte ``offset`` of ``rest`` was."""
        piece = max(0, bisect_right(self._rest_starts, offset) - 1)
        return self._file_starts[piece] + offset - self._rest_starts[piece]


def scan(source: Source, progress: Progress, share: float) -> Scan:
    """Read a file once and cut its long arrays out.

    ``progress`` runs from 0 to ``share``. Raises :class:`~tileview.errors.LoadError` where the file is no JSON text
    or changes while it is read.
    """
    check_head(source.path, source.read(0, 4096))
    state = _Scanner(source)
    while state.step():
        progress(share * min(1.0, state.base / max(1, source.size)), "locating the arrays")
    if state.base + len(state.buffer) != source.size or not source.unchanged():
        raise changed_error(source.path)
    rest = b"".join(state.pieces)
    return Scan(
        rest, tuple(state.spans), state.mark, state.sums.all(), tuple(state.rest_starts), tuple(state.file_starts)
    )


class _Scanner:
    """A window that moves over the file; what stands before ``at`` in ``buffer`` is done."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.base = 0
        self.buffer = b""
        self.at = 0
        self.ended = False
        self.pieces: list[bytes] = []
        self.spans: list[ArraySpan] = []
        self.rest_starts: list[int] = []
        self.file_starts: list[int] = []
        self.rest_length = 0
        self.mark = f"@{os.urandom(8).hex()}"
        self.sums = BlockSums()

    def emit(self, end: int) -> None:
        """Keep the bytes up to ``end`` as part of the rest."""
        if end > self.at:
            self.rest_starts.append(self.rest_length)
            self.file_starts.append(self.base + self.at)
            self.pieces.append(self.buffer[self.at : end])
            self.rest_length += end - self.at
            self.at = end

    def more(self, keep: int) -> None:
        """Done with everything before ``keep``: move the window on, and read as much again as is left in it."""
        self.emit(keep)
        kept = self.buffer[keep:]
        end = self.base + len(self.buffer)
        part = self.source.read(end, max(CHUNK, len(kept)))
        refuse_hopeless(self.source.path, part, end, self.rest_length + len(kept) + len(part))
        self.ended = not part
        self.sums.add(part)
        self.base += keep
        self.buffer = kept + part
        self.at = 0

    def step(self) -> bool:
        """Handle what the window holds, then move it on; False at the end."""
        while True:
            key = _KEY.search(self.buffer, self.at)
            if key is None:
                if self.ended:
                    self.emit(len(self.buffer))
                    return False
                self.more(max(self.at, len(self.buffer) - _LONGEST_KEY))
                return True
            opening = _OPENING.match(self.buffer, key.end())
            if opening is None:
                if not self.ended and len(self.buffer) - key.end() < _SPACE_BEFORE_ARRAY:
                    self.more(key.start())
                    return True
                self.emit(key.end())
                continue
            if not self.cut(key, opening.end() - 1):
                self.more(key.start())
                return True

    def cut(self, key: re.Match[bytes], start: int) -> bool:
        """Cut the array at ``start`` out; False where the window does not hold all of it."""
        buffer = self.buffer
        quote = buffer.find(b'"', start)
        if quote < 0:
            if not self.ended:
                return False
            quote = len(buffer)
        brace = buffer.find(b"}", start, quote)
        text = buffer[start : quote if brace < 0 else brace].rstrip(_AFTER_ARRAY)
        if not text.endswith(b"]"):
            self.emit(key.end())
            return True
        self.emit(start)
        commas = int(np.count_nonzero(np.frombuffer(text, np.uint8) == ord(",")))
        numbers = commas + 1 if commas or text.strip(b"[] \t\r\n") else 0
        offset = self.base + start
        mark = b'{"%s":%d}' % (self.mark.encode(), len(self.spans))
        self.spans.append(ArraySpan(key.group()[1:-1].decode(), offset, offset + len(text), numbers))
        self.rest_starts.append(self.rest_length)
        self.file_starts.append(offset)
        self.pieces.append(mark)
        self.rest_length += len(mark)
        self.at = start + len(text)
        return True


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
        The parsed entries, in whose array fields a placeholder or, rarely, the array itself stands.
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
