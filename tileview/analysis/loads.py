"""What one tile holds at one step, as a list that adds up; two such lists matched, steps and allocations found again.

Both the diagnosis and the comparison of two files rest on this: a *load* is every live allocation's bytes on the tile
plus the step's scratch, and the sum of its rows is the tile's usage to the byte. What is selected or noted is known
again after an edit by what it is, not by its number.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from tileview.analysis.words import allocation_name, scratch_name
from tileview.model.sizes import UNAVAILABLE, Size, Unavailable, exact_text
from tileview.model.tensor import MemoryClass
from tileview.model.timeline import Timeline, TimelineValue, fullest_tile, last_largest


def step_keys(timeline: Timeline) -> list[str]:
    """A key for each step: its operation, its kind, and how many such steps come before it."""
    seen: dict[tuple[int | None, str], int] = {}
    keys = []
    for step in timeline.steps:
        kind = (step.source, step.kind)
        seen[kind] = seen.get(kind, 0) + 1
        keys.append(f"{'-' if step.source is None else step.source} {step.kind} {seen[kind]}")
    return keys


def noted_steps(timeline: Timeline, notes: Mapping[str, str]) -> dict[int, str]:
    """Step → note, for the notes whose step the timeline has."""
    if not notes:
        return {}
    return {step: notes[key] for step, key in enumerate(step_keys(timeline)) if key in notes}


def same_step(before: Timeline, after: Timeline, step: int) -> int | None:
    """Where a step of one timeline is in another of the same program with other plans.

    The step with the same key; where there is none, the first of its operation; None where that has no step either.
    """
    if before.steps is after.steps or step >= len(before.steps):
        return step
    key = step_keys(before)[step]
    source = before.steps[step].source
    own = None
    for place, other in enumerate(step_keys(after)):
        if other == key:
            return place
        if own is None and source is not None and after.steps[place].source == source:
            own = place
    return own


def same_root(before: Timeline, after: Timeline, root: int) -> int | None:
    """Where an allocation of one timeline is in another of the same program: of equal name, origin, shape and precision
    the one with as many before it; None where there is none."""
    if before.values is after.values:
        return root
    wanted = before.values[root]
    key = (wanted.name, wanted.origin, wanted.shape, wanted.precision)

    def like(timeline: Timeline) -> list[int]:
        return [
            place
            for place in sorted(timeline.aliases)
            for value in (timeline.values[place],)
            if (value.name, value.origin, value.shape, value.precision) == key
        ]

    there, here = like(after), like(before)
    place = here.index(root) if root in here else len(there)
    return there[place] if place < len(there) else None


@dataclass(frozen=True, slots=True)
class LoadItem:
    """One allocation on the tile. ``root`` is an index into the timeline's values, None for the step's scratch.

    ``bytes`` is unavailable where the size is not known.
    """

    root: int | None
    name: str
    memory_class: MemoryClass
    bytes: Size


@dataclass(frozen=True, slots=True)
class TileLoad:
    """Everything on a tile at a step. ``standard`` and ``interleaved`` are the sums of what is known, scratch included.

    ``unexplained`` is what a file's own usage holds beyond the sum of its parts (0 unless a file disagrees with
    itself); it is part of neither sum.
    """

    step: int
    tile: int
    items: tuple[LoadItem, ...]
    standard: int
    interleaved: int
    unexplained: int = 0

    @property
    def total(self) -> int:
        return self.standard + self.interleaved


def tile_load(timeline: Timeline, step: int, tile: int) -> TileLoad:
    """The load of a tile at a step; allocations with nothing on the tile are left out, unavailable ones are kept.

    Raises
    ------
    IndexError
        Where the timeline has no such step or tile.
    """
    if not 0 <= step < len(timeline.steps) or not 0 <= tile < timeline.tile_count:
        raise IndexError(f"no step {step} or no tile {tile}")
    items: list[LoadItem] = []
    sums = {MemoryClass.STANDARD: 0, MemoryClass.INTERLEAVED: 0}
    for root in timeline.steps[step].live:
        last = allocation_value(timeline, root)
        size: Size = UNAVAILABLE
        if root not in timeline.unavailable_roots:
            size = int(timeline.tiles.allocation(root)[tile])
            if not size:
                continue
            sums[last.memory_class] += size
        items.append(LoadItem(root, allocation_name(timeline, root), last.memory_class, size))
    scratch = timeline.tiles.scratch(step)[tile]
    for memory_class, number in zip(sums, scratch.tolist(), strict=True):
        if number:
            sums[memory_class] += number
            items.append(LoadItem(None, scratch_name(timeline, step), memory_class, number))
    stated = int(timeline.tiles.usage(step)[tile].sum())
    found = sum(sums.values())
    return TileLoad(
        step,
        tile,
        tuple(items),
        sums[MemoryClass.STANDARD],
        sums[MemoryClass.INTERLEAVED],
        stated - found,
    )


def allocation_value(timeline: Timeline, root: int) -> TimelineValue:
    """The last value of an allocation: its class is the allocation's."""
    return timeline.values[timeline.aliases.get(root, (root,))[-1]]


@dataclass(frozen=True, slots=True)
class PeakPlace:
    """Where a peak is."""

    step: int
    tile: int


def total_peak_place(timeline: Timeline) -> PeakPlace | None:
    """Step and (last) tile of the largest known total; None in an empty timeline."""
    return _place(timeline, timeline.total_peak_step, 2)


def standard_peak_place(timeline: Timeline) -> PeakPlace | None:
    """Step and (last) tile of the largest known standard usage."""
    return _place(timeline, timeline.standard_peak_step, 0)


def interleaved_peak_place(timeline: Timeline) -> PeakPlace | None:
    """Step and (last) tile of the largest known interleaved usage."""
    return _place(timeline, timeline.interleaved_peak_step, 1)


def peak_place(timeline: Timeline, letter: str) -> PeakPlace | None:
    """Where the keys P, S and I lead: to the peaks that the timeline has a step for."""
    step, find = {
        "P": (timeline.total_peak_step, total_peak_place),
        "S": (timeline.standard_peak_step, standard_peak_place),
        "I": (timeline.interleaved_peak_step, interleaved_peak_place),
    }[letter]
    return find(timeline) if step is not None and 0 <= step < len(timeline.steps) else None


def _place(timeline: Timeline, step: int | None, column: int) -> PeakPlace | None:
    worst = timeline.tiles.worst()
    if not len(worst) or not timeline.tile_count:
        return None
    if step is None or not 0 <= step < len(worst):
        step = int(worst[:, column].argmax())
    if column == 2:
        return PeakPlace(step, fullest_tile(timeline.tiles, step))
    usage = timeline.tiles.usage(step)[:, column]
    return PeakPlace(step, last_largest(usage))


# -- matching two lists ---------------------------------------------------------------------------------------------


def match_by(a: Sequence[Sequence[Hashable]], b: Sequence[Sequence[Hashable]]) -> list[tuple[int | None, int | None]]:
    """Pair the items of two lists whose keys agree, the strictest key first.

    Parameters
    ----------
    a, b : sequences
        For each item its keys, strictest first; all items have equally many. Items with equal keys are paired in order.

    Returns
    -------
    list of (index in a or None, index in b or None)
        In the order of ``a``, then what only ``b`` has.
    """
    partner: dict[int, int] = {}
    taken: set[int] = set()
    rounds = len(a[0]) if a else 0
    for level in range(rounds):
        waiting: dict[Hashable, list[int]] = {}
        for index in range(len(b) - 1, -1, -1):
            if index not in taken:
                waiting.setdefault(b[index][level], []).append(index)
        for index, keys in enumerate(a):
            if index not in partner and waiting.get(keys[level]):
                partner[index] = waiting[keys[level]].pop()
                taken.add(partner[index])
    pairs: list[tuple[int | None, int | None]] = [(index, partner.get(index)) for index in range(len(a))]
    pairs.extend((None, index) for index in range(len(b)) if index not in taken)
    return pairs


def describe_bytes(difference: int) -> str:
    """``+1,024 B``, ``−1,024 B``, ``±0 B``."""
    sign = "±" if difference == 0 else "+" if difference > 0 else "−"
    return sign + exact_text(abs(difference))


@dataclass(frozen=True, slots=True)
class LoadChange:
    """One row of a comparison of two loads; ``a`` or ``b`` None where only the other side has it.

    ``delta`` = b − a with a missing side counted as 0; None where a size is unavailable.
    """

    name: str
    memory_class: MemoryClass
    a: Size | None
    b: Size | None
    delta: int | None
    root_b: int | None = None


def compare_loads(
    timeline_a: Timeline, load_a: TileLoad, timeline_b: Timeline, load_b: TileLoad
) -> tuple[LoadChange, ...]:
    """Match two loads item by item; the known deltas add up to the difference of the known sums.

    Allocations are matched by origin, name, shape, precision and class, then with less and less of these, so that a
    value whose layout or class changed is still the same value.
    """
    pairs = match_by(
        [item_keys(timeline_a, item) for item in load_a.items], [item_keys(timeline_b, item) for item in load_b.items]
    )
    changes = []
    for left, right in pairs:
        item_a = None if left is None else load_a.items[left]
        item_b = None if right is None else load_b.items[right]
        item = item_b or item_a
        assert item is not None
        before = None if item_a is None else item_a.bytes
        after = None if item_b is None else item_b.bytes
        numbers = [0 if size is None else size for size in (before, after)]
        delta = numbers[1] - numbers[0] if isinstance(numbers[0], int) and isinstance(numbers[1], int) else None
        changes.append(
            LoadChange(
                item.name,
                item.memory_class,
                before,
                after,
                delta,
                None if item_b is None else item_b.root,
            )
        )
    return tuple(changes)


def item_keys(timeline: Timeline, item: LoadItem) -> tuple[Hashable, ...]:
    """Keys of an allocation for :func:`match_by`, strictest first."""
    if item.root is None:
        scratch = ("scratch", item.memory_class)
        return (scratch, scratch, scratch, scratch)
    value = timeline.values[item.root]
    who = (value.origin, value.name)
    return (
        (*who, value.shape, value.precision, item.memory_class),
        (*who, value.shape, value.precision),
        (*who, value.shape),
        (value.name, value.shape),
    )


def largest_bytes(timeline: Timeline, root: int) -> Size:
    """The largest bytes of an allocation on any tile: the largest over its values; unavailable where one of them is."""
    if root in timeline.unavailable_roots:
        return UNAVAILABLE
    largest = 0
    for member in timeline.aliases.get(root, (root,)):
        size = timeline.values[member].bytes
        if isinstance(size, Unavailable):
            return UNAVAILABLE
        largest = max(largest, size)
    return largest
