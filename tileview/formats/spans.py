"""Where the parts of a JSON text lie: byte spans of members and elements, for splicing.

The text has been parsed before, so it is known to be valid; nothing is checked here. Values are skipped by matching
brackets outside strings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

_SPACE: Final = re.compile(rb"[ \t\r\n]*+")
_STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_SCALAR: Final = re.compile(rb"[^ \t\r\n,\]}]++")
_BRACKET: Final = re.compile(rb'(?:[^"\[\]{}]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+([\[\]{}])?+', re.DOTALL)
"""Everything up to the next bracket outside strings, in one match; without one it matches too, lest it be tried from
every byte anew."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an object: ``raw[start:end]`` is its value, ``raw[key_start:end]`` all of it."""

    key: str
    key_start: int
    start: int
    end: int


def _skip_space(raw: bytes, at: int) -> int:
    match = _SPACE.match(raw, at)
    return match.end() if match else at


def value_end(raw: bytes, at: int) -> int:
    """Where the value that begins at ``at`` ends; the text's end where it has none."""
    first = raw[at : at + 1]
    if first not in (b"{", b"["):
        match = (_STRING if first == b'"' else _SCALAR).match(raw, at)
        return match.end() if match else at
    depth = 0
    for match in _BRACKET.finditer(raw, at):
        if match.group(1) is None:
            break
        if match.group(1) in b"{[":
            depth += 1
        else:
            depth -= 1
            if depth == 0:
                return match.end()
    return len(raw)


def members(raw: bytes, at: int, parsed: Mapping[str, Any] | None = None) -> Iterator[Member]:
    """The members of the object that begins at ``at``, in order.

    Where the text is known to be what the parser's own dump writes, ``parsed`` (the object) makes this much faster: a
    value's end then follows from the length of its dump.
    """
    at = _skip_space(raw, at + 1)
    while raw[at : at + 1] == b'"':
        key_start, key_end = at, value_end(raw, at)
        start = _skip_space(raw, _skip_space(raw, key_end) + 1)
        key = orjson.loads(raw[key_start:key_end])
        end = value_end(raw, start) if parsed is None else start + len(orjson.dumps(parsed[key]))
        yield Member(key, key_start, start, end)
        at = _skip_space(raw, end)
        if raw[at : at + 1] != b",":
            return
        at = _skip_space(raw, at + 1)


def elements(raw: bytes, at: int) -> Iterator[tuple[int, int]]:
    """The spans of the elements of the list that begins at ``at``, in order."""
    at = _skip_space(raw, at + 1)
    while raw[at : at + 1] not in (b"]", b""):
        end = value_end(raw, at)
        yield at, end
        at = _skip_space(raw, end)
        if raw[at : at + 1] != b",":
            return
        at = _skip_space(raw, at + 1)


def root(raw: bytes) -> int:
    """Where the document's value begins."""
    return _skip_space(raw, 0)


def splice(raw: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    """``raw`` with spans replaced: (start, end, new bytes), not overlapping, in any order."""
    parts: list[bytes] = []
    at = 0
    for start, end, new in sorted(edits, key=lambda edit: edit[:2]):
        parts += (raw[at:start], new)
        at = end
    parts.append(raw[at:])
    return b"".join(parts)
