"""Valid layouts, in place of an invalid one.
 Each check that a layout can fail has a few changes that would pass it. They are tried on the failing layout, again
on what is left failing, and so on; what resolves in the end, on the tiles that the device has, is offered with its
figures, the least changed first. Values that fail alike are repaired together: one choice, a layout of its own for
each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tileview.analysis.repair_changes import KEY_TEXTS, Tensor, changes, plain_layouts
from tileview.core.geometry.resolve import LayoutErrorKind, layout_failure, resolve
from tileview.core.geometry.resolved import Resolved
from tileview.core.memory.footprint import layout_fault
from tileview.model.sizes import LARGEST_COUNTED_BYTES, UNAVAILABLE, Size, Unavailable, exact_text
from tileview.model.tensor import Layout, Precision, Shape
from tileview.model.timeline import Timeline

_MOST_CHANGES = 4


@dataclass(frozen=True, slots=True)
class Repair:
    """A valid layout.

    ``key`` names what was changed, equal for values that are repaired alike; ``label`` says it in words with the
    figures of this value. ``shard_bytes`` is the payload of the largest shard, ``total_bytes`` that of all owners.
    """

    key: tuple[str, ...]
    label: str
    layout: Layout
    owners: int
    shard_bytes: Size
    total_bytes: Size


@dataclass(frozen=True, slots=True)
class GroupRepair:
    """One choice that repairs every value of a group. ``layouts``: index into the timeline's values → layout."""

    key: tuple[str, ...]
    label: str
    layouts: Mapping[int, Layout]
    most_owners: int
    shard_bytes: Size
    """Largest shard over the group."""


@dataclass(frozen=True, slots=True)
class RepairGroup:
    """Values whose layouts fail alike. ``values`` are indices into the timeline's values, ascending.

    ``kind`` is None for valid layouts but have more owners than there are tiles.
    """

    kind: LayoutErrorKind | None
    text: str
    values: tuple[int, ...]
    repairs: tuple[GroupRepair, ...]


def repairs(shape: Shape, precision: Precision, layout: Layout, tile_count: int) -> tuple[Repair, ...]:
    """Valid layouts against ``shape`` on at most ``tile_count`` tiles, the least changed first.

    Among equally many changes the smaller largest shard comes first. A valid layout already has none; one that
    needs more tiles than there are is repaired too.
    """
    tensor = Tensor(shape, precision.element_bytes, tile_count)
    if _resolved(tensor, layout) is not None:
        return ()
    found: dict[Layout, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    seen = {layout}
    front: list[tuple[Layout, tuple[str, ...], tuple[str, ...]]] = [(layout, (), ())]
    for _ in range(_MOST_CHANGES):
        behind, front = front, []
        for current, keys, labels in behind:
            for change in changes(tensor, current):
                if change.layout in seen:
                    continue
                seen.add(change.layout)
                entry = ((*keys, change.key), (*labels, change.label))
                if _resolved(tensor, change.layout) is not None:
                    found[change.layout] = entry
                else:
                    front.append((change.layout, *entry))
    for change in plain_layouts(tensor, layout):
        if change.layout not in found and _resolved(tensor, change.layout) is not None:
            found[change.layout] = ((change.key,), (change.label,))
    made = [_repair(tensor, new, keys, labels) for new, (keys, labels) in found.items()]
    plain = {"one-owner", "rows", "flat"}
    return tuple(
        sorted(made, key=lambda r: (bool(plain & set(r.key)), len(r.key), _order(r.shard_bytes), -r.owners, r.label))
    )


def offers(timeline: Timeline, index: int, most: int = 3) -> list[str]:
    """Some valid layouts, in words, for a value of the timeline whose own does not resolve."""
    value = timeline.values[index]
    if value.layout is None:
        return []
    return [repair.label for repair in repairs(value.shape, value.precision, value.layout, timeline.tile_count)[:most]]


def _order(size: Size) -> int:
    return -1 if isinstance(size, Unavailable) else size


def _resolved(tensor: Tensor, layout: Layout) -> Resolved | None:
    """The resolved layout; None where it does not resolve, needs more tiles than there are, or has absurd shards."""
    if layout_failure(tensor.shape, layout) is not None or layout.tiling.tile_count > tensor.tiles:
        return None
    resolved = resolve(tensor.shape, layout)
    return resolved if resolved.maximum_elements <= LARGEST_COUNTED_BYTES else None


def _repair(tensor: Tensor, layout: Layout, keys: tuple[str, ...], labels: tuple[str, ...]) -> Repair:
    resolved = resolve(tensor.shape, layout)
    shard: Size = UNAVAILABLE
    total: Size = UNAVAILABLE
    if tensor.element_bytes is not None:
        shard = resolved.maximum_elements * tensor.element_bytes
        total = int(resolved.owner_elements().sum()) * tensor.element_bytes
    owners = resolved.owner_count
    label = f"{', '.join(labels)}: {_counted_owners(owners)}, largest shard {exact_text(shard)}"
    return Repair(keys, label, layout, owners, shard, total)


def _counted_owners(owners: int) -> str:
    return "1 tile" if owners == 1 else f"{owners:,} tiles"


# -- groups ----------------------------------------------------------------------------------------------------------


def repair_groups(timeline: Timeline) -> tuple[RepairGroup, ...]:
    """The values of a timeline whose layouts fail, those that fail alike together, with what repairs all of them.

    Alike: the same check fails, the order is of the same kind, and the axes refer to the same dimensions. Values that
    are never live are included: they hold no memory, but their layouts are as wrong.
    """
    gathered: dict[tuple[object, ...], list[int]] = {}
    for index, value in enumerate(timeline.values):
        if value.layout is None:
            continue
        if layout_fault(value.shape, value.layout, timeline.tile_count) is not None:
            failure = layout_failure(value.shape, value.layout)
            kind = None if failure is None else failure.kind
            gathered.setdefault((kind, *_pattern(value.layout)), []).append(index)
    return tuple(_group(timeline, indices) for indices in gathered.values())


def _pattern(layout: Layout) -> tuple[object, ...]:
    axes = tuple((axis.base, axis.index) for axis in layout.tiling.axes)
    return layout.order.kind, layout.tiling.is_linear, axes


def _group(timeline: Timeline, indices: list[int]) -> RepairGroup:
    """The repairs, by key, that every value of the group has."""
    known: dict[tuple[Shape, Precision, Layout], dict[tuple[str, ...], Repair]] = {}
    choices: list[dict[tuple[str, ...], Repair]] = []
    for index in indices:
        value = timeline.values[index]
        assert value.layout is not None
        case = (value.shape, value.precision, value.layout)
        if case not in known:
            offered = repairs(value.shape, value.precision, value.layout, timeline.tile_count)
            known[case] = {repair.key: repair for repair in reversed(offered)}
        choices.append(known[case])
    first = timeline.values[indices[0]]
    assert first.layout is not None
    failure = layout_failure(first.shape, first.layout)
    fault = layout_fault(first.shape, first.layout, timeline.tile_count)
    common = [key for key in reversed(choices[0]) if all(key in choice for choice in choices)]
    made = tuple(_group_repair(key, dict(zip(indices, (c[key] for c in choices), strict=True))) for key in common)
    count = f"{len(indices)} values, first {first.name}" if len(indices) > 1 else first.name
    return RepairGroup(None if failure is None else failure.kind, f"{count}: {fault}", tuple(indices), made)


def _group_repair(key: tuple[str, ...], chosen: Mapping[int, Repair]) -> GroupRepair:
    some = next(iter(chosen.values()))
    owners = sorted({repair.owners for repair in chosen.values()})
    shards = [repair.shard_bytes for repair in chosen.values()]
    shard: Size = UNAVAILABLE
    if not any(isinstance(size, Unavailable) for size in shards):
        shard = max(size for size in shards if not isinstance(size, Unavailable))
    label = some.label
    if len({(repair.layout, repair.shard_bytes) for repair in chosen.values()}) > 1:
        span = f"{owners[0]:,} to {owners[-1]:,} tiles" if len(owners) > 1 else _counted_owners(owners[0])
        label = f"{KEY_TEXTS.get(key[-1], key[-1])}: {span}, largest shard {exact_text(shard)}"
    return GroupRepair(key, label, {i: r.layout for i, r in chosen.items()}, owners[-1], shard)
