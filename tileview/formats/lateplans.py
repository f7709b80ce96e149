"""The alternatives of a large search state, read when they are looked at.

Nearly all bytes of a large recipe are alternatives, and of tens of thousands an engineer looks at some hundreds. So the
file is cut: the list of each operation is found by its key, parsed once to be sure that it is JSON (and how many plans
it holds), and let go; plans become objects one at a time, from the file's own bytes, when something asks for them.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final, overload

import orjson

from tileview.formats.check import FieldError
from tileview.formats.files import Progress
from tileview.formats.planjson import PlanReader
from tileview.formats.spans import elements, root, value_end
from tileview.model.plan import Plan, Unknown

LATE_BYTES: Final = 32 << 20
"""A file of so many bytes is read late; a smaller one is checked to its last plan at once."""
_MOST_KEPT: Final = 1 << 14
_NEXT: Final = re.compile(rb'\],"(0|[1-9][0-9]{0,18})":\[')
_FIRST: Final = re.compile(rb'\{"(0|[1-9][0-9]{0,18})":\[')

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class CutFile:
    """A file cut in two. ``rest``: its text with an empty object where its alternatives, ``raw[start:end]``, are;
    ``lists``: operation → the span of its list, in the order of the file.
    """

    rest: bytes
    start: int
    end: int
    lists: Mapping[int, Span]


def cut_alternatives(raw: bytes) -> CutFile | None:
    """Cut the alternatives out of a search state as the compiler writes it; None for any other text.

    An unescaped ``],"12":[`` is the end of one list and the beginning of the next, or part of a plan that has a number
    for a key: then the pieces are no JSON, which whoever parses them notices.
    """
    place = _place_of(raw, b'"alternatives"')
    first = None if place is None else _FIRST.match(raw, place)
    if place is None or first is None:
        return None
    starts = [(int(first[1]), first.start(1) - 1, first.end() - 1)]
    starts += [(int(match[1]), match.start(1) - 1, match.end() - 1) for match in _NEXT.finditer(raw, first.end() - 1)]
    end_of_last = value_end(raw, starts[-1][2])
    if raw[end_of_last : end_of_last + 1] != b"}" or len({number for number, _, _ in starts}) != len(starts):
        return None
    lists = {number: (start, following - 1) for (number, _, start), (_, following, _) in pairwise(starts)}
    lists[starts[-1][0]] = (starts[-1][2], end_of_last)
    end = end_of_last + 1
    return CutFile(b"%b{}%b" % (raw[:place], raw[end:]), place, end, lists)


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

    A plan that turns out malformed is one whose operator is unknown: nothing is said of the memory it takes.
    """

    def __init__(self, raw: bytes, lists: Mapping[int, Span], version: int, plans: Mapping[int, Plan]) -> None:
        self._raw = raw
        self._lists = lists
        self._version = version
        self._plans = plans
        self._counts: dict[int, int] = {}
        self._in_force: dict[int, int] = {}
        self._forget()

    def _forget(self) -> None:
        self._reader = PlanReader(self._version)
        self._kept: dict[tuple[int, int], Plan] = {}
        self._last: tuple[int, list[Any]] | None = None
        self._lock = threading.RLock()

    def look_through(self, chosen: Mapping[str, Any], progress: Progress) -> bool:
        """Parse every list once, keep its length and which plan is the current one; False where a piece is not what the
        compiler writes.
        """
        for done, (operation, (start, end)) in enumerate(self._lists.items()):
            text = self._raw[start:end]
            try:
                plans = orjson.loads(text)
                if orjson.dumps(plans) != text:
                    return False
            except (orjson.JSONDecodeError, orjson.JSONEncodeError):
                return False
            self._counts[operation] = len(plans)
            plan = chosen.get(str(operation))
            if plan in plans:
                self._in_force[operation] = plans.index(plan)
            if done % 64 == 0:
                progress(0.3 + 0.6 * done / len(self._lists), "reading the alternatives")
        return True

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
        return self._counts[operation]

    def text(self, operation: int, index: int) -> bytes:
        """An alternative as the file spells it."""
        start, end = list(elements(self._raw, self._lists[operation][0]))[index]
        return self._raw[start:end]

    def index_of(self, operation: int, plan: Plan) -> int | None:
        """Which alternative equals a plan: the first; None for none. That of the file's own plan is known already."""
        if plan is self._plans.get(operation) and operation in self._in_force:
            return self._in_force[operation]
        found = (index for index in range(self.count(operation)) if self.plan(operation, index) == plan)
        return next(found, None)

    def plan(self, operation: int, index: int) -> Plan:
        with self._lock:
            known = self._kept.get((operation, index))
            if known is not None:
                return known
            if self._last is None or self._last[0] != operation:
                start, end = self._lists[operation]
                self._last = operation, orjson.loads(self._raw[start:end])
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
                self._reader = PlanReader(self._version)
            plan = self._kept[operation, index] = self._read(operation, index, self._last[1][index])
            return plan

    def _read(self, operation: int, index: int, value: object) -> Plan:
        try:
            return self._reader.plan(value, f"alternatives.{operation}[{index}]")
        except FieldError as error:
            plan = self._plans.get(operation)
            if plan is None:
                raise
            return replace(plan, operator=Unknown(f"damaged plan ({error})", orjson.dumps(value).decode()))

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        for name in ("_reader", "_kept", "_last", "_lock"):
            del state[name]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()


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
