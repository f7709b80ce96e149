"""What a file is, from its first bytes: kind and version, before anything is parsed.

An unknown version is not an unknown format: a search state of version 9 is reported as such, with the versions that
TileView reads, and not as "not a dump".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from tileview.errors import LoadError
from tileview.formats.check import described
from tileview.formats.files import RAW_HINT, OpenFile, check_head


class DumpKind(StrEnum):
    """The kinds of dump."""

    RECIPE = "recipe"
    TIMELINE = "timeline"
    TILE_DUMP = "tile dump"
    PLACEMENT = "placement profile"


SUPPORTED: Final[dict[DumpKind, tuple[int, ...]]] = {
    DumpKind.RECIPE: (6, 7, 8),
    DumpKind.TIMELINE: (1, 2, 3),
    DumpKind.TILE_DUMP: (1,),
    DumpKind.PLACEMENT: (1,),
}
"""The versions that are read, per kind."""

TITLES: Final = {
    DumpKind.RECIPE: "search state",
    DumpKind.TIMELINE: "memory timeline",
    DumpKind.TILE_DUMP: "tile dump",
    DumpKind.PLACEMENT: "placement profile",
}
_RECIPE_KEYS = frozenset({"context", "recipe", "alternatives", "visited", "attempts"})
_TIMELINE_KEYS = frozenset(
    {"timeline", "tile_count", "budget_bytes", "peak", "scope", "interleaved_budget_bytes", "support_reserve_bytes"}
)
_TILE_DUMP_KEYS = frozenset({"assigned_root_spans", "requests", "ranges", "interleaved_offset", "host_scratch_range"})
_PLACEMENT_KEYS = frozenset({"schema_version", "labels", "tiles"})
_KEYS = (
    (DumpKind.RECIPE, _RECIPE_KEYS),
    (DumpKind.TIMELINE, _TIMELINE_KEYS),
    (DumpKind.TILE_DUMP, _TILE_DUMP_KEYS),
    (DumpKind.PLACEMENT, _PLACEMENT_KEYS),
)
_HEAD_BYTES: Final = 65_536
TOLD_BYTES: Final = 1 << 24
"""How much of a file of another version is looked at for what can be said of it."""

_EARLIER_HINT = "An early version 6 build of the compiler loads versions 1 to 5 and saves them as 6."

_SPACE = re.compile(rb"[ \t\r\n]*+")
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_SCALAR = re.compile(rb"[^\s,\]}]++")
_STRUCTURE = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}"]', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Sniffed:
    """``version`` is None where the first bytes do not reach it; the reader then finds it."""

    kind: DumpKind
    version: int | None


def sniff(path: str, head: bytes, more: Callable[[], bytes] | None = None) -> Sniffed:
    """Decide kind and version from a file's first bytes (some 64 KiB are plenty).

    ``more`` gives more of them, for an error that tells what can be said of a file of another version.

    Raises
    ------
    LoadError
        Not JSON in UTF-8, no kind of dump that is known, or a version of it that TileView does not read.
    """
    check_head(path, head)
    kind: DumpKind | None = None
    version: int | None = None
    for key, value in _top_level(head):
        if key in ("version", "schema_version") and version is None and value is not None:
            version = _version(path, key, value)
        if kind is None:
            kind = next((each for each, keys in _KEYS if key in keys), None)
        if kind is not None and version is not None:
            break
    if kind is None:
        expected = (
            "a search state (context, recipe, …), a memory timeline (tile_count, …), a tile dump (ranges, requests, …) "
            "or a placement profile (labels, tiles, …)"
        )
        raise LoadError(path, "", expected, "an object with none of the keys of these", RAW_HINT)
    if version is not None:
        check_version(path, kind, version, more or (lambda: head))
    return Sniffed(kind, version)


def sniff_file(file: OpenFile) -> Sniffed:
    """:func:`sniff` for an open file."""
    return sniff(file.path, file.read(0, _HEAD_BYTES), lambda: file.read(0, TOLD_BYTES))


def check_version(path: str, kind: DumpKind, version: object, head: Callable[[], bytes] = bytes) -> int:
    """The version if it is one that is read; else a :class:`LoadError` that names those that are.

    Of a search state it also says what the file's first bytes (``head`` gives them) tell of it.
    """
    if type(version) is int and version in SUPPORTED[kind]:
        return version
    numbers = [str(number) for number in SUPPORTED[kind]]
    listed = " or ".join([", ".join(numbers[:-1]), numbers[-1]] if len(numbers) > 1 else numbers)
    found = f"version {version}" if type(version) is int else described(version)
    if version is None:
        found = "no version"
    versions = "version" if len(numbers) == 1 else "versions"
    hint = f"TileView reads {versions} {listed.replace(' or ', ' and ')} of a {TITLES[kind]}."
    if kind is DumpKind.RECIPE:
        if type(version) is int and 1 <= version < min(SUPPORTED[kind]):
            found = f"search state version {version}, written by an earlier build of the compiler"
            hint = f"TileView reads {listed.replace(' or ', ' and ')}. {_EARLIER_HINT}"
        else:
            hint += f" No search state beyond version {max(SUPPORTED[kind])} is known."
        hint = f"{hint}{_known_of(head())}"
    place = "schema_version" if kind is DumpKind.PLACEMENT else "version"
    raise LoadError(path, place, f"{listed} (a {TITLES[kind]})", found, hint)


def _known_of(head: bytes) -> str:
    """What the first bytes of a search state say of its program, as a sentence after others; empty for nothing."""
    graph, whole, rest = head.partition(b"PipelineConfig {")
    tiles = re.search(rb"\btile_count: ([0-9]{1,9})\b", rest)
    facts = [f"{int(tiles[1]):,} tiles"] if tiles else []
    if whole:
        for word, name in ((rb"Operation \{ id: ", "operation"), (rb"GraphInput \{ ", "input")):
            count = len(re.findall(word, graph))
            facts.append(f"{count:,} {name}{'' if count == 1 else 's'}")
    return f" It is of a program with {', '.join(facts)}." if facts else ""


def _version(path: str, key: str, value: bytes) -> int:
    if re.fullmatch(rb"[0-9]{1,20}", value):
        return int(value)
    listed = "; ".join(f"{TITLES[kind]}: {', '.join(map(str, known))}" for kind, known in SUPPORTED.items())
    hint = f"TileView reads these versions: {listed}."
    raise LoadError(path, key, "a whole number", value[:40].decode(errors="replace"), hint)


def _top_level(head: bytes) -> Iterator[tuple[str, bytes | None]]:
    """The top-level keys that the bytes reach, with the text of values that are numbers, words or strings (else
    None)."""
    at = _SPACE.match(head, 0).end() + 1  # type: ignore[union-attr]
    while True:
        key = _STRING.match(head, _skip(head, at))
        if key is None:
            return
        name = key.group()[1:-1].decode(errors="replace")
        at = _skip(head, key.end())
        if head[at : at + 1] != b":":
            return
        at = _skip(head, at + 1)
        end = _value_end(head, at)
        simple = end is not None and head[at : at + 1] not in (b"{", b"[")
        yield name, head[at:end] if simple else None
        if end is None:
            return
        at = _skip(head, end)
        if head[at : at + 1] != b",":
            return
        at += 1


def _skip(head: bytes, at: int) -> int:
    match = _SPACE.match(head, at)
    return match.end() if match else at


def _value_end(head: bytes, at: int) -> int | None:
    """Where the value at ``at`` ends, None where the bytes end first."""
    first = head[at : at + 1]
    if first == b'"':
        match = _STRING.match(head, at)
        return match.end() if match else None
    if first not in (b"{", b"["):
        match = _SCALAR.match(head, at)
        return match.end() if match and match.end() < len(head) else None
    depth = 0
    for match in _STRUCTURE.finditer(head, at):
        symbol = match.group()
        if symbol in b"[{":
            depth += 1
        elif symbol in b"]}":
            depth -= 1
            if depth == 0:
                return match.end()
        elif symbol == b'"':
            return None
    return None
