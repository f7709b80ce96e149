"""Allocations followed through several states: at the total peak of each, and over the whole program.

They are matched by origin, name, shape, precision and class, then with less and less of these (see
:mod:`tileview.analysis.loads`). What one state lacks counts as 0 bytes in the difference and is shown as missing, so
that the differences add up.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from tileview.analysis.allocation_names import allocation_name
from tileview.analysis.lifetimes import largest_bytes, live_spans
from tileview.analysis.loads import (
    LoadItem,
    TileLoad,
    allocation_value,
    item_keys,
    match_by,
    tile_load,
    total_peak_place,
)
from tileview.model.sizes import U64_MAX, Size, Unavailable, exact_text, kib_text
from tileview.model.timeline import Timeline
from tileview.present.compare_states import MISSING, CompareEntry, CompareRow, CompareState, Section
from tileview.present.tables import Tone


def peak_loads(states: Sequence[CompareState]) -> list[TileLoad | None]:
    """What each state's fullest tile holds at its own total peak; None where there is no step."""
    loads: list[TileLoad | None] = []
    for state in states:
        place = None if state.timeline is None else total_peak_place(state.timeline)
        if state.timeline is None or place is None:
            loads.append(None)
        else:
            loads.append(tile_load(state.timeline, place.step, place.tile))
    return loads


def allocations_at_peak(states: Sequence[CompareState]) -> list[CompareRow]:
    """Allocations whose bytes at the total peaks differ between the states, the largest difference first."""
    loads = peak_loads(states)
    items = [None if load is None else load.items for load in loads]
    return _rows(Section.ALLOCATIONS, states, items, "not there at the peak")


def allocations_anywhere(states: Sequence[CompareState]) -> list[CompareRow]:
    """Allocations of the programs whose bytes on their largest tile differ, or that not all programs have."""
    items = [None if state.timeline is None else _all_items(state.timeline) for state in states]
    return _rows(Section.ANYWHERE, states, items, "no such allocation")


def _all_items(timeline: Timeline) -> tuple[LoadItem, ...]:
    """Every allocation that is ever live with what it takes on its largest tile; others hold no memory."""
    items = []
    for root in sorted(live_spans(timeline)):
        last = allocation_value(timeline, root)
        items.append(LoadItem(root, allocation_name(timeline, root), last.memory_class, largest_bytes(timeline, root)))
    return tuple(items)


@dataclass(slots=True)
class _Match:
    """An allocation followed through the states."""

    name: str
    keys: tuple[Hashable, ...]
    sizes: list[Size | None]
    roots: list[int | None]


def _matched(states: Sequence[CompareState], items: Sequence[Sequence[LoadItem] | None]) -> list[_Match]:
    """Each state's items beside those of the states before it; new ones at the end."""
    matches: list[_Match] = []
    for position, (state, own) in enumerate(zip(states, items, strict=True)):
        if state.timeline is None or own is None:
            for match in matches:
                match.sizes.append(None)
                match.roots.append(None)
            continue
        timeline = state.timeline
        keys = [item_keys(timeline, item) for item in own]
        found: list[_Match] = []
        for left, right in match_by([match.keys for match in matches], keys):
            if left is not None:
                match = matches[left]
                match.sizes.append(None if right is None else own[right].bytes)
                match.roots.append(None if right is None else own[right].root)
            elif right is not None:
                item = own[right]
                before: list[None] = [None] * position
                found.append(_Match(item.name, keys[right], [*before, item.bytes], [*before, item.root]))
        matches.extend(found)
    return matches


def _rows(
    section: Section, states: Sequence[CompareState], items: Sequence[Sequence[LoadItem] | None], missing: str
) -> list[CompareRow]:
    if len(states) < 2:
        return []
    rows = []
    for match in _matched(states, items):
        present = [size for size, state in zip(match.sizes, states, strict=True) if state.timeline is not None]
        if all(size == present[0] for size in present):
            continue
        entries = _entries(match.sizes, states, missing)
        rows.append((_spread(present), CompareRow(section, match.name, entries, roots=tuple(match.roots))))
    rows.sort(key=lambda pair: -pair[0])
    return [row for _, row in rows]


def _spread(sizes: Sequence[Size | None]) -> int:
    """How far the sizes lie apart; what is unavailable in one state lies further apart than any numbers."""
    if any(isinstance(size, Unavailable) for size in sizes):
        return U64_MAX
    numbers = [size if isinstance(size, int) else 0 for size in sizes]
    return max(numbers) - min(numbers)


def _entries(
    sizes: Sequence[Size | None], states: Sequence[CompareState], missing: str
) -> tuple[CompareEntry | None, ...]:
    base = 0 if sizes[0] is None else sizes[0]
    known = base if isinstance(base, int) else None
    entries: list[CompareEntry | None] = []
    for position, (size, state) in enumerate(zip(sizes, states, strict=True)):
        if state.timeline is None:
            entries.append(None)
        elif isinstance(size, Unavailable):
            entries.append(CompareEntry("unavailable", size, tone=Tone.UNAVAILABLE))
        else:
            number = 0 if size is None else size
            both_missing = size is None and sizes[0] is None
            delta = number - known if position and known is not None and not both_missing else None
            text = MISSING if size is None else kib_text(number)
            tip = missing if size is None else exact_text(number)
            entries.append(CompareEntry(text, size, delta, tip, base=known))
    return tuple(entries)
