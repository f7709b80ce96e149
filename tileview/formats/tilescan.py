"""Find the long arrays of a timeline file without parsing them.

Nearly all bytes of a timeline are numbers per tile (``tile_usage``, ``tile_scratch``, ``tile_shards``,
``tile_bytes``) and lists of live allocations (``live``). Parsing them all would cost ten times the file's size in
memory and most of the opening time, though a user looks at a few of them. So the file is read once, in pieces; each
such array is cut out and its place noted, and the few per cent that are left are JSON of their own, with ``{"@": n}``
where the n-th array stood.

An unescaped ``"tile_usage":`` cannot stand inside a JSON string, so what is found is a key. The array ends before the
next quote or closing brace, whatever its nesting. Where what stands there does not look like an array of numbers it
is left in the JSON, and the parser's word about it counts.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Final

import numpy as np

from tileview.formats.files import BlockSums, Progress, Source, changed_error, check_head, refuse_hopeless

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
