"""One tile's placement problem, ``tile-T-HASH.json``: from a file to :class:`~tileview.model.placement.TileDump`.

Version 1, and the older files without a version, which may also lack the tile, whether it was placed, the constants,
the stated placement and ``auxiliary``. The order of the keys is free.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import Any, Final

from tileview.formats.check import FieldError, Fields, described, flag, key_number, list_of, repeated_keys, shorten
from tileview.formats.debugtext import CLASSES
from tileview.formats.files import OpenFile, Progress, content_fingerprint, no_progress, parse_json, read_all
from tileview.formats.sniff import DumpKind, check_version
from tileview.model.placement import (
    BOUNDARY,
    REGION0_ELEMENT,
    REGION1_ELEMENT,
    WINDOW,
    Memory,
    Ranges,
    Request,
    Span,
    TileDump,
    TileProblem,
)
from tileview.model.timeline import Problem

_U32_MAX: Final = 2**32 - 1
_RANGE: Final = "a whole number from 0 to 2^32 − 1"
_NAME: Final = re.compile(r"tile-(\d{1,9})-")


def load_tile_dump(path: str | os.PathLike[str], progress: Progress = no_progress) -> TileDump:
    """Open a tile dump.

    Raises
    ------
    LoadError
        Not a readable file, not JSON, another version, or a field that is not what it has to be.
    """
    with OpenFile(path) as file:
        return tile_dump_from_bytes(read_all(file, progress), file.path)


def tile_dump_from_bytes(raw: bytes, path: str = "") -> TileDump:
    """:func:`load_tile_dump` for bytes in memory; ``path`` names them in errors, and the tile where they do not."""
    document = parse_json(path, raw)
    try:
        return _Reader(path, document).read(raw)
    except FieldError as error:
        raise error.at(path) from None


def number(value: object, place: str) -> int:
    """``value`` as an unsigned 32-bit integer."""
    if type(value) is int and 0 <= value <= _U32_MAX:
        return value
    raise FieldError(place, _RANGE, described(value))


def _pair(value: object, place: str) -> tuple[int, int]:
    items = list_of(value, place)
    if len(items) != 2:
        raise FieldError(place, "a pair of numbers", described(value))
    return number(items[0], f"{place}[0]"), number(items[1], f"{place}[1]")


@dataclass(slots=True)
class _Reader:
    path: str
    document: dict[str, Any]
    problems: list[Problem] = field(default_factory=list)

    def read(self, raw: bytes) -> TileDump:
        top = Fields(self.document)
        version = None
        if top.has("version"):
            version = check_version(self.path, DumpKind.TILE_DUMP, self.document["version"])
        for place, key in repeated_keys(raw, self.document):
            self.say("error", place or key, f'the key "{key}" occurs twice; the last one counts')
        memory = self.memory(top)
        requests = self.requests(top)
        placed = flag(self.document["placed"], "placed") if top.has("placed") else None
        spans = self.spans(memory, requests)
        problem = TileProblem(self.tile(), memory, requests)
        problems = tuple(self.problems)
        return TileDump(self.path, version, problem, placed, spans, problems, content_fingerprint(raw))

    def say(self, severity: str, place: str, text: str) -> None:
        self.problems.append(Problem(severity, place, text))

    def tile(self) -> int:
        """The tile that the file states, else the one of its name."""
        if self.document.get("tile") is not None:
            return number(self.document["tile"], "tile")
        name = _NAME.search(os.path.basename(self.path))
        if name is None:
            hint = "Files without the field are read under their own name, tile-T-HASH.json."
            raise FieldError("tile", _RANGE, "nothing: the field is missing, and the file's name has no tile", hint)
        return int(name.group(1))

    def memory(self, top: Fields) -> Memory:
        def constant(name: str, usual: int) -> int:
            if not top.has(name):
                return usual
            found = number(self.document[name], name)
            if found == 0 or (name != "region_boundary" and found & (found - 1)):
                raise FieldError(name, "a power of two", f"the number {found}")
            return found

        window = (
            _pair(self.document["host_scratch_range"], "host_scratch_range")
            if top.has("host_scratch_range")
            else WINDOW
        )
        return Memory(
            self.ranges(top),
            number(self.document.get("interleaved_offset", 0), "interleaved_offset"),
            constant("region_boundary", BOUNDARY),
            constant("region0_element_bytes", REGION0_ELEMENT),
            constant("region1_element_bytes", REGION1_ELEMENT),
            window,
        )

    @staticmethod
    def ranges(top: Fields) -> Ranges:
        """Ascending and disjoint; of two that are not the later one is blamed."""
        found: list[Span] = []
        for index, entry in enumerate(top.list("ranges")):
            place = f"ranges[{index}]"
            start, end = _pair(entry, place)
            if start >= end:
                raise FieldError(place, "a start below its end", f"{start} to {end}")
            if found and start < found[-1][1]:
                raise FieldError(
                    place, f"a range from {found[-1][1]} on, where the one before ends", f"{start} to {end}"
                )
            found.append((start, end))
        return tuple(found)

    def requests(self, top: Fields) -> tuple[Request, ...]:
        holders: dict[int, int] = {}
        found = []
        for index, entry in enumerate(top.list("requests")):
            place = f"requests[{index}]"
            request = _request(Fields(entry, place))
            for root in request.roots:
                if root in holders:
                    hint = "A root names one alias group, which one request holds."
                    found_in = f"root {root}, which requests[{holders[root]}] holds too"
                    raise FieldError(f"{place}.assignments", "roots that no other request holds", found_in, hint)
                holders[root] = index
            found.append(request)
        return tuple(found)

    def spans(self, memory: Memory, requests: tuple[Request, ...]) -> dict[int, Span] | None:
        if self.document.get("assigned_root_spans") is None:
            return None
        held = {root for request in requests for root in request.roots}
        found: dict[int, Span] = {}
        for key, value in Fields(self.document).object("assigned_root_spans").items():
            place = f"assigned_root_spans.{shorten(key)}"
            root, span = key_number(key, place), _pair(value, place)
            found[root] = span
            if root not in held:
                self.say("warning", place, f"no request holds root {root}")
            elif span[0] > span[1] or not any(low <= span[0] and span[1] <= high for low, high in memory.ranges):
                self.say("warning", place, f"{span[0]} to {span[1]} is outside the ranges")
        return found


def _request(fields: Fields) -> Request:
    name = fields.text("class")
    if name not in CLASSES:
        raise FieldError(fields.where("class"), " or ".join(CLASSES), f'the text "{shorten(name)}"')
    size = number(fields.raw("bytes", _RANGE), fields.where("bytes"))
    alignment = number(fields.raw("alignment", _RANGE), fields.where("alignment"))
    if alignment & (alignment - 1):
        raise FieldError(fields.where("alignment"), "a power of two", f"the number {alignment}")
    life = fields.fields("lifetime")
    first = number(life.raw("first", _RANGE), life.where("first"))
    last = number(life.raw("last", _RANGE), life.where("last"))
    if first > last:
        raise FieldError(life.place, "a first event that is not after the last", f"first {first}, last {last}")
    stride, auxiliary = (
        None if fields.values.get(key) is None else number(fields.values[key], fields.where(key))
        for key in ("region1_stride", "auxiliary")
    )
    assignments = _assignments(fields, size)
    if auxiliary is not None and assignments:
        raise FieldError(fields.where("assignments"), "none for an auxiliary request", f"{len(assignments)}")
    where = fields.where("conflicts")
    conflicts = tuple(number(root, f"{where}[{index}]") for index, root in enumerate(fields.list("conflicts")))
    return Request(CLASSES[name], size, alignment, first, last, assignments, conflicts, stride, auxiliary)


def _assignments(fields: Fields, size: int) -> tuple[tuple[int, int], ...]:
    """Offsets ascend from 0 and stay below the bytes of the request; a root stands once."""
    where = fields.where("assignments")
    found: list[tuple[int, int]] = []
    roots: set[int] = set()
    for index, entry in enumerate(fields.list("assignments")):
        root, offset = _pair(entry, f"{where}[{index}]")
        if root in roots:
            raise FieldError(where, "each root once", f"root {root} twice")
        if not found and offset:
            raise FieldError(f"{where}[{index}]", "the offset 0 first", f"the offset {offset}")
        if found and offset <= found[-1][1]:
            raise FieldError(f"{where}[{index}]", f"an offset above {found[-1][1]}", f"the offset {offset}")
        if offset >= size and (offset or size):
            raise FieldError(f"{where}[{index}]", f"an offset below the {size} bytes", f"the offset {offset}")
        roots.add(root)
        found.append((root, offset))
    return tuple(found)
