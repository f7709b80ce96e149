"""An address map as it is drawn: what has which colour, where a box lies, what is live, what is said of it."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tileview.analysis.address_map import AddressEntry, AddressMap, Attempt
from tileview.analysis.placement_files import event_text
from tileview.model.placement import DATA_END, END, Span

BOTTOM: Final = 311_296
"""Where the memory of a tile begins."""
TOP: Final = 950_272
_MOST_OPERATIONS: Final = 6

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Group:
    """Boxes of one colour. ``kind``: ``parameters``, ``group`` (an operation), ``rest``, ``scratch``, ``support`` or
    ``padding``; ``place`` counts the groups that take a colour of their own."""

    name: str
    kind: str
    place: int = 0
    operation: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Colouring:
    """``groups`` in the order of the legend; ``of``: (entries,) the group of each entry."""

    groups: tuple[Group, ...]
    of: Numbers


def columns_of(tile: AddressMap) -> Numbers:
    """(entries, 2): half-open columns of each life. Column e is event e, one more stands for the end of the run."""
    lives = np.array([(one.first, one.last) for one in tile.entries], dtype=np.int64).reshape(-1, 2)
    lives = np.where(lives == END, tile.events + 1, lives)
    lives[:, 1] += 1
    return lives


def live_bytes(tile: AddressMap) -> Numbers:
    """(events + 2,): bytes of all requests that live in each column; support and padding are not counted."""
    change = np.zeros(tile.events + 3, dtype=np.int64)
    lives = columns_of(tile)
    for (begin, end), entry in zip(lives.tolist(), tile.entries, strict=True):
        if entry.kind not in ("support", "padding"):
            change[begin] += entry.bytes
            change[end] -= entry.bytes
    return np.cumsum(change)[:-1]


def colouring(tile: AddressMap, places: Mapping[int, int] | None = None) -> Colouring:
    """Parameters in grey, operations in the categories that ``places`` gives them in every view; where it names none,
    those that hold most where most is live."""
    live = live_bytes(tile)
    fullest = int(live.argmax()) if len(live) else 0
    held: dict[int, list[int]] = {}
    for (begin, end), entry in zip(columns_of(tile).tolist(), tile.entries, strict=True):
        if entry.operation is not None and not entry.is_resident:
            sums = held.setdefault(entry.operation, [0, 0])
            sums[0] += entry.bytes * (begin <= fullest < end)
            sums[1] = max(sums[1], entry.bytes)
    known = {one: places[one] for one in sorted(places, key=places.__getitem__) if one in held} if places else {}
    if not known:
        ranked = sorted(held, key=lambda one: (-held[one][0], -held[one][1], one))[:_MOST_OPERATIONS]
        known = {one: place for place, one in enumerate(ranked)}
    groups = [Group("live the whole run", "parameters")]
    groups += [Group(f"op {one}", "group", place, one) for one, place in known.items()]
    where = {group.operation: index for index, group in enumerate(groups) if group.operation is not None}
    rest = len(groups)
    groups += [Group("other", "rest"), Group("scratch", "scratch"), Group("support", "support")]
    groups.append(Group("padding", "padding"))

    def of(entry: AddressEntry) -> int:
        if entry.kind in ("support", "padding"):
            return rest + (2 if entry.kind == "support" else 3)
        if entry.is_resident:
            return 0
        if entry.operation in where:
            return where[entry.operation]
        return rest + (entry.kind == "scratch")

    return Colouring(tuple(groups), np.array([of(entry) for entry in tile.entries], dtype=np.int64))


def closed_spans(tile: AddressMap, low: int = BOTTOM, high: int = TOP) -> tuple[Span, ...]:
    """What is not open between two addresses."""
    found, at = [], low
    for start, end in tile.memory.ranges:
        if at < min(start, high):
            found.append((at, min(start, high)))
        at = max(at, end)
    if at < high:
        found.append((at, high))
    return tuple(found)


def closed_name(span: Span) -> str:
    """What lies in a span that is closed, as a rule."""
    start, end = span
    if end <= 362_208:
        return "runtime and state"
    if start >= DATA_END:
        return "loader"
    if start >= 376_832 or end - start >= 16_384:
        return "code and exchange table"
    return "host descriptors"


def box_at(tile: AddressMap, attempt: Attempt, column: int, address: int) -> int | None:
    """The entry whose box covers a column and an address; of several the one that is drawn last."""
    lives = columns_of(tile)
    hits = np.flatnonzero(
        (lives[:, 0] <= column)
        & (column < lives[:, 1])
        & (attempt.starts >= 0)
        & (attempt.starts <= address)
        & (address < attempt.ends)
    )
    return int(hits[-1]) if len(hits) else None


def span_text(span: Span) -> str:
    """``0xD6108 to 0xE7BB0, 72,360 B``."""
    return f"0x{span[0]:X} to 0x{span[1]:X}, {span[1] - span[0]:,} B"


def life_text(entry: AddressEntry) -> str:
    if entry.is_resident:
        return "the whole run"
    if entry.first == entry.last:
        return event_text(entry.first)
    return f"{event_text(entry.first)} to {event_text(entry.last)}"


def entry_lines(tile: AddressMap, attempt: Attempt, index: int) -> list[str]:
    """What a tooltip says of an entry."""
    entry = tile.entries[index]
    lines = [entry.name]
    start, end = int(attempt.starts[index]), int(attempt.ends[index])
    if start >= 0:
        lines.append(span_text((start, end)))
        behind = end - int(attempt.payload_ends[index])
        if behind:
            lines.append(f"of these {behind:,} B access tail or rounding")
    else:
        lines.append(f"{entry.bytes:,} B, no address")
    words = [entry.kind]
    if entry.memory_class is not None:
        words.append(entry.memory_class.name.lower())
    if entry.alignment is not None:
        words.append(f"alignment {entry.alignment} B")
    lines.append(", ".join(words))
    lines.append(f"lives {life_text(entry)}")
    if entry.operation is not None:
        lines.append(f"made by op {entry.operation}")
    if entry.conflicts:
        names = ", ".join(tile.entries[other].name for other in entry.conflicts[:3])
        more = f" and {len(entry.conflicts) - 3:,} more" if len(entry.conflicts) > 3 else ""
        lines.append(f"shares no memory element with {names}{more}")
    return lines


def address_csv(tile: AddressMap) -> str:
    """One row an entry and attempt: where it lies, hex and bytes exact."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        ("tile", "placement", "name", "kind", "class", "bytes", "alignment", "first", "last", "start", "end", "state")
    )
    for attempt in tile.attempts:
        for index, entry in enumerate(tile.entries):
            start, end = int(attempt.starts[index]), int(attempt.ends[index])
            state = "placed" if start >= 0 else "no place" if index == attempt.failed else "not reached"
            writer.writerow(
                (
                    tile.tile,
                    attempt.title,
                    entry.name,
                    entry.kind,
                    "" if entry.memory_class is None else entry.memory_class.value,
                    entry.bytes,
                    "" if entry.alignment is None else entry.alignment,
                    entry.first,
                    "END" if entry.last == END else entry.last,
                    "" if start < 0 else f"0x{start:X}",
                    "" if start < 0 else f"0x{end:X}",
                    state,
                )
            )
    return out.getvalue()


def free_throughout(tile: AddressMap, attempt: Attempt) -> tuple[Span, ...]:
    """The pieces of open memory in which nothing lies at any event."""
    placed = attempt.starts >= 0
    taken = sorted(zip(attempt.starts[placed].tolist(), attempt.ends[placed].tolist(), strict=True))
    found = []
    for low, high in tile.memory.ranges:
        at = low
        for start, end in taken:
            if end <= at or start >= high:
                continue
            if at < start:
                found.append((at, start))
            at = max(at, end)
        if at < high:
            found.append((at, high))
    return tuple(found)


def parts_of_ranges(tile: AddressMap) -> tuple[tuple[str, Span], ...]:
    """The open memory by name: ``window``, ``region 0``, ``region 1``."""
    memory, found = tile.memory, []
    for start, end in memory.ranges:
        if memory.window[0] <= start and end <= memory.window[1]:
            found.append(("window", (start, end)))
            continue
        if start < memory.boundary:
            found.append(("region 0", (start, min(end, memory.boundary))))
        if end > memory.boundary:
            found.append(("region 1", (max(start, memory.boundary), end)))
    return tuple(found)


def hole_words(tile: AddressMap, attempt: Attempt) -> tuple[str, str]:
    """Two sentences on the largest hole and the request that found none; empty where every request was placed."""
    if attempt.failed is None:
        return "", ""
    entry = tile.entries[attempt.failed]
    if attempt.hole is None:
        return "no free memory that it may use", f"{entry.name} needs {entry.bytes:,} B in one piece"
    start, end = attempt.hole
    missing = entry.bytes - (end - start)
    needs = f"{entry.name} needs {entry.bytes:,} B in one piece"
    short = f": {missing:,} B too large" if missing > 0 else ", but not at these addresses: alignment or conflicts"
    return f"largest hole: {end - start:,} B, 0x{start:X} to 0x{end:X}", needs + short
