"""The alternatives of a large search state, read from its file when they are looked at.

Nearly all bytes of a large recipe are alternatives, and of tens of thousands an engineer looks at some hundreds. So the
file is read once, in pieces: the list of each operation is found by its key and its place noted, and the few per cent
that are left are JSON of their own. Plans become objects one at a time, from the file's own bytes, when something asks
for them.

What no key and no bracket tells, :meth:`LateAlternatives.check` does: it reads all plans. Nothing may rest on a file
that it has not gone through yet but what a window shows meanwhile.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, overload

import orjson

from tileview.errors import LoadError
from tileview.formats.check import FieldError, join, shorten
from tileview.formats.duplicates import repeated_keys
from tileview.formats.files import BlockSums, Progress, Source, changed_error, check_head, refuse_hopeless
from tileview.formats.planjson import PlanReader
from tileview.formats.spans import elements, root, value_end
from tileview.model.plan import Plan, Unknown

LATE_BYTES: Final = 32 << 20
"""A file of so many bytes is read late; of a smaller one all plans are made at once."""
CHUNK: Final = 1 << 22
_MOST_KEPT: Final = 1 << 14
_MOST_SHARED: Final = 1 << 12
_KEY: Final = b'"alternatives"'
_PLACE: Final = re.compile(_KEY + rb":\{")
_NEXT: Final = re.compile(rb'\],"(0|[1-9][0-9]{0,18})":\[')
_FIRST: Final = re.compile(rb'\{"(0|[1-9][0-9]{0,18})":\[')
_LONGEST: Final = 32
"""No match of these is longer."""
_PLAN: Final = b'{"operator":'
"""What every plan begins with, as the compiler writes it."""


class OddTextError(FieldError):
    """Text that is no JSON, or spelt unlike the compiler's so that its plans cannot be told apart."""


@dataclass(frozen=True, slots=True)
class Listed:
    """The list of an operation's alternatives: bytes ``start`` to ``end`` of the file, and how many plans it holds."""

    start: int
    end: int
    count: int


@dataclass(frozen=True, slots=True)
class CutFile:
    """A file cut in two. ``rest``: its text with an empty object where its alternatives, bytes ``start`` to ``end``,
    are; ``lists``: operation → the list of its plans, in the order of the file; ``sums``: those of the file's blocks.
    """

    source: Source = field(repr=False)
    rest: bytes = field(repr=False)
    start: int
    end: int
    lists: Mapping[int, Listed] = field(repr=False)
    sums: tuple[int, ...] = field(repr=False)

    def file_offset(self, offset: int) -> int:
        """The byte of the file that byte ``offset`` of ``rest`` was."""
        return offset if offset <= self.start else offset - len(b"{}") - self.start + self.end

    def pieces(self, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """The bytes of the file from ``start`` to ``end``, in pieces; raises LoadError where it has changed."""
        end = self.source.size if end is None else end
        for at in range(start, end, CHUNK):
            yield read_exactly(self.source, at, min(at + CHUNK, end))


def read_exactly(source: Source, start: int, end: int) -> bytes:
    """Bytes of a file. Raises LoadError where it is no longer what was opened."""
    text = source.read(start, end - start)
    if len(text) != end - start:
        raise LoadError(source.path, "", "the file as it was opened", "another content", "Read it again (Reload).")
    return text


class _Window:
    """A part of a file in memory that moves over it: ``buffer`` begins at its byte ``base``."""

    def __init__(self, source: Source, progress: Progress, share: float) -> None:
        self.source = source
        self.buffer = b""
        self.base = 0
        self.ended = False
        self.sums = BlockSums()
        self._progress = progress
        self._share = share

    def more(self, keep: int) -> None:
        """Let go of what stands before ``keep``, and read as much again as is left."""
        kept = self.buffer[keep:]
        end = self.base + len(self.buffer)
        part = self.source.read(end, max(CHUNK, len(kept)))
        refuse_hopeless(self.source.path, part, end, len(kept) + len(part))
        self.ended = not part
        self.sums.add(part)
        self.base += keep
        self.buffer = kept + part if kept else part
        self._progress(self._share * min(1.0, end / max(1, self.source.size)), "locating the alternatives")


def cut_alternatives(source: Source, progress: Progress, share: float) -> CutFile | None:
    """Cut the alternatives out of a search state as the compiler writes it; None for any other text.

    An unescaped ``],"12":[`` is the end of one list and the beginning of the next, or part of a plan that has a number
    for a key: then the braces before it do not match. ``progress`` runs from 0 to ``share``. Raises
    :class:`~tileview.errors.LoadError` where the file is no JSON text or changes while it is read.
    """
    check_head(source.path, source.read(0, 4096))
    window = _Window(source, progress, share)
    found = None
    while found is None and not window.ended:
        window.more(0)
        found = _PLACE.search(window.buffer)
    if found is None or _place_of(window.buffer, _KEY) != found.end() - 1:
        return None
    if len(window.buffer) - found.end() < _LONGEST:
        window.more(0)
    place = found.end() - 1
    head = window.buffer[:place]
    lists: dict[int, Listed] = {}
    end = _cut_lists(window, place, lists)
    if end is None:
        return None
    rest = [head, b"{}"]
    rest.append(window.buffer[end - window.base :])
    while not window.ended:
        window.more(len(window.buffer))
        rest.append(window.buffer)
    if window.base != source.size or not source.unchanged():
        raise changed_error(source.path)
    return CutFile(source, b"".join(rest), place, end, lists, window.sums.all())


def _cut_lists(window: _Window, at: int, lists: dict[int, Listed]) -> int | None:
    """Note the lists of the object at ``at`` of the window; where in the file the object ends. None for odd text."""
    first = _FIRST.match(window.buffer, at)
    if first is None:
        return None
    number, at = int(first[1]), first.end() - 1
    while True:
        following = _NEXT.search(window.buffer, at)
        end = value_end(window.buffer, at) if following is None else following.start() + 1
        if following is None and not window.ended and len(window.buffer) - end < _LONGEST:
            window.more(at)
            at = 0
            continue
        count = _count(window.buffer[at:end])
        if count is None or number in lists:
            return None
        lists[number] = Listed(window.base + at, window.base + end, count)
        if following is None:
            return window.base + end + 1 if window.buffer[end : end + 1] == b"}" else None
        number, at = int(following[1]), following.end() - 1


def _count(text: bytes) -> int | None:
    """How many plans a list holds, by its text; None where it is not what the compiler writes."""
    if text == b"[]":
        return 0
    if not (text.startswith(b"[" + _PLAN) and text.endswith(b"}]")):
        return None
    pieces = text[1 + len(_PLAN) : -1].split(b"," + _PLAN)
    if any(piece.count(b"{") + 1 != piece.count(b"}") for piece in pieces):
        return None  # a field that is not known holds what begins as a plan does
    count = len(pieces)
    return count if not any(space in text for space in b" \n\r\t") or count == _parsed_count(text) else None


def _parsed_count(text: bytes) -> int | None:
    """How many entries a list has that may be spaced in any way; None where it is no JSON."""
    try:
        return len(orjson.loads(text))
    except orjson.JSONDecodeError:
        return None


def _place_of(raw: bytes, key: bytes) -> int | None:
    """Where the value of a top-level key begins; None where it is not reached."""
    at = root(raw) + 1
    while raw[at : at + 1] == b'"':
        end = value_end(raw, at)
        if raw[end : end + 1] != b":":
            return None
        if raw[at:end] == key:
            return end + 1
        at = value_end(raw, end + 1)
        if raw[at : at + 1] != b",":
            return None
        at += 1
    return None


class LateAlternatives(Mapping[int, Sequence[Plan]]):
    """Operation → its alternatives, each read when it is looked at; the order is the file's.

    A plan that turns out malformed, or whose file is no longer what was opened, is one whose operator is unknown:
    nothing is said of the memory it takes.
    """

    def __init__(self, cut: CutFile, version: int, plans: Mapping[int, Plan]) -> None:
        self._source = cut.source
        self._lists = cut.lists
        self._version = version
        self._plans = plans
        self._in_force: dict[int, int] = {}
        self._forget()

    def _forget(self) -> None:
        self._reader = PlanReader(self._version)
        self._kept: dict[tuple[int, int], Plan] = {}
        self._last: tuple[int, list[Any]] | None = None
        self._lock = threading.RLock()

    def find_in_force(self, chosen: Mapping[str, Any]) -> None:
        """Find which alternative each operation's plan is, given by its JSON: mostly by the text alone.

        Raises :class:`OddTextError` for what is no JSON, LoadError where the file is no longer what was opened.
        """
        for operation in self._lists:
            plan = chosen.get(str(operation))
            if plan is None:
                continue
            text, wanted = self._text(operation), orjson.dumps(plan)
            at = text.find(wanted)
            if (at == 1 or (at > 1 and text[at - 1] == ord(","))) and text[at + len(wanted)] in b",]":
                self._in_force[operation] = text.count(b"," + _PLAN, 0, at + len(_PLAN))
            elif self._values(operation) and (found := self._equal_to(operation, self._plans[operation])) is not None:
                self._in_force[operation] = found

    def check(self, progress: Progress) -> None:
        """Read all plans; one that another operation has too, to the byte, is read once.

        Raises
        ------
        FieldError
            A plan that is not what it has to be, or names a key twice; :class:`OddTextError` for what is no JSON.
        LoadError
            The file is no longer what was opened.
        """
        seen: set[int] = set()
        reader = PlanReader(self._version)
        for done, (operation, listed) in enumerate(self._lists.items()):
            if done % 64 == 0:
                progress(done / len(self._lists), "reading the alternatives")
            text = read_exactly(self._source, listed.start, listed.end)
            pieces = text[len(_PLAN) + 1 : -1].split(b"," + _PLAN) if listed.count else []
            for index, piece in enumerate(pieces):
                mark = hash(piece)
                if mark not in seen:
                    seen.add(mark)
                    reader = PlanReader(self._version) if len(seen) % _MOST_SHARED == 0 else reader
                    _check_plan(_PLAN + piece, f"alternatives.{operation}[{index}]", reader)

    def __getitem__(self, operation: int) -> Sequence[Plan]:
        if operation not in self._lists:
            raise KeyError(operation)
        return LatePlans(self, operation)

    def __iter__(self) -> Iterator[int]:
        return iter(self._lists)

    def __len__(self) -> int:
        return len(self._lists)

    def count(self, operation: int) -> int:
        """How many alternatives an operation has."""
        return self._lists[operation].count

    def text(self, operation: int, index: int) -> bytes:
        """An alternative as the file spells it."""
        text = self._text(operation)
        start, end = list(elements(text, 0))[index]
        return text[start:end]

    def _text(self, operation: int) -> bytes:
        return read_exactly(self._source, self._lists[operation].start, self._lists[operation].end)

    def index_of(self, operation: int, plan: Plan) -> int | None:
        """Which alternative equals a plan: the first; None for none. That of the file's own plan is known already."""
        if plan is self._plans.get(operation):
            return self._in_force.get(operation)
        return self._equal_to(operation, plan)

    def _equal_to(self, operation: int, plan: Plan) -> int | None:
        found = (index for index in range(self.count(operation)) if self.plan(operation, index) == plan)
        return next(found, None)

    def plan(self, operation: int, index: int) -> Plan:
        with self._lock:
            known = self._kept.get((operation, index))
            if known is not None:
                return known
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
                self._reader = PlanReader(self._version)
            plan = self._kept[operation, index] = self._read(operation, index)
            return plan

    def _read(self, operation: int, index: int) -> Plan:
        place = f"alternatives.{operation}[{index}]"
        value: object = None
        try:
            value = self._values(operation)[index]
            return self._reader.plan(value, place)
        except LoadError as error:
            plan = self._plans.get(operation)
            if plan is None:
                raise
            return replace(plan, operator=Unknown(f"damaged plan ({error})", orjson.dumps(value).decode()))

    def _values(self, operation: int) -> list[Any]:
        """The JSON of an operation's alternatives; that of the last one asked for is kept."""
        place = f"alternatives.{operation}"
        if self._last is None or self._last[0] != operation:
            try:
                values = orjson.loads(self._text(operation))
            except orjson.JSONDecodeError as error:
                raise OddTextError(place, "JSON", str(error)) from None
            if len(values) != self.count(operation):
                raise OddTextError(place, f"{self.count(operation):,} plans", f"{len(values):,}")
            self._last = operation, values
        return self._last[1]

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        for name in ("_reader", "_kept", "_last", "_lock"):
            del state[name]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()


def _check_plan(text: bytes, place: str, reader: PlanReader) -> None:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise OddTextError(place, "JSON", str(error)) from None
    for inner, key in repeated_keys(text, value):
        raise FieldError(
            join(join(place, inner) if inner else place, key), "each key once", f'the key "{shorten(key)}" twice'
        )
    reader.plan(value, place)


class LatePlans(Sequence[Plan]):
    """The alternatives of one operation. Handed to another process they are a tuple."""

    __slots__ = ("_all", "_operation")

    def __init__(self, every: LateAlternatives, operation: int) -> None:
        self._all = every
        self._operation = operation

    def __len__(self) -> int:
        return self._all.count(self._operation)

    @overload
    def __getitem__(self, index: int) -> Plan: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Plan]: ...
    def __getitem__(self, index: int | slice) -> Plan | Sequence[Plan]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(index)
        return self._all.plan(self._operation, place)

    def index(self, value: Plan, start: int = 0, stop: int | None = None) -> int:
        """As of a list. Raises ValueError where no alternative equals the plan."""
        found = self._all.index_of(self._operation, value)
        if found is None:
            raise ValueError(value)
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(other) == len(self) and all(map(Plan.__eq__, self, other))

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (list(self),)
