"""Invalid layouts: which check each fails, and valid layouts that could take its place.

Each check that a layout can fail has a few changes that would pass it. They are tried on the failing layout, again
on what is left failing, and so on; what resolves in the end, on the tiles that the device has, is offered with its
figures, the least changed first. Values that fail alike are repaired together: one choice, a layout of its own for
each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from math import gcd, lcm, prod
from typing import Final

from tileview.analysis.diagnosis import BadLayout
from tileview.core.geometry.resolve import LayoutErrorKind, layout_failure, resolve
from tileview.core.geometry.resolved import Resolved
from tileview.core.memory.footprint import layout_fault
from tileview.model.recipe import Recipe
from tileview.model.sizes import LARGEST_COUNTED_BYTES, UNAVAILABLE, Size, Unavailable, exact_text
from tileview.model.tensor import (
    ROW_MAJOR,
    Axis,
    AxisBase,
    Layout,
    MemoryClass,
    OrderKind,
    Padding,
    Precision,
    Shape,
    Tiling,
)
from tileview.model.timeline import Timeline

CHUNK_BYTES: Final = 256
"""Bytes an owner is given at least where a small tensor is spread in chunks, as the compiler does with parameters."""


@dataclass(frozen=True, slots=True)
class RepairChange:
    key: str
    label: str
    layout: Layout


@dataclass(frozen=True, slots=True)
class Tensor:
    """What is to be laid out, and on how many tiles."""

    shape: Shape
    element_bytes: int | None
    tiles: int

    @property
    def elements(self) -> int:
        return prod(self.shape)


KEY_TEXTS: Final[Mapping[str, str]] = {
    "fewer-owners": "at most one tile per grain",
    "chunks": f"chunks of {CHUNK_BYTES} B",
    "smaller-grain": "smaller grains",
    "dividing-grain": "grains that divide the elements",
    "grain": "grains of 8 B",
    "zero-padding": "padding Zero instead of Reject",
    "pad-to-blocks": "padding Zero to whole blocks",
    "single-blocks": "blocks of one element",
    "plain-shards": "shards not padded",
    "count-parts": "as many owners as parts times replicas",
    "replicas": "as many replicas as owners and parts allow",
    "partitions": "as many partitions as owners and replicas allow",
    "packed-strides": "packed strides",
    "fewer-replicas": "fewer replicas",
    "fewer-partitions": "fewer partitions",
    "one-padding-group": "one padding group",
    "no-zeros": "1 in place of 0",
    "owners": "at least one owner and one replica",
    "drop-axes": "axes without a dimension of their own left out",
    "drop-axes-replicate": "axes without a dimension of their own left out, replicas in their place",
    "row-major": "order RowMajor",
    "flat": "flat",
    "rows": "by rows",
    "one-owner": "whole on one tile",
}


# -- changes, by the check that fails ---------------------------------------------------------------------------------


def changes(tensor: Tensor, layout: Layout) -> Iterable[RepairChange]:
    """Changes that would pass the check a layout fails (or make it need fewer tiles)."""
    failure = layout_failure(tensor.shape, layout)
    if failure is None:
        return _fewer_tiles(tensor, layout)
    if failure.kind is LayoutErrorKind.EMPTY_AXIS_TILING and layout.tiling.is_linear:
        return _linear(tensor, layout)
    return _BY_KIND[failure.kind](tensor, layout)


def _with(layout: Layout, tiling: Tiling) -> Layout:
    return Layout(layout.order, tiling, layout.memory_class)


def _with_axes(layout: Layout, change: Callable[[Axis], Axis]) -> Layout:
    return _with(layout, replace(layout.tiling, axes=tuple(map(change, layout.tiling.axes))))


def _linear_layout(layout: Layout, owners: int, grain: int, padding: Padding) -> Layout:
    axis = replace(layout.tiling.axes[0], partitions=owners, block_size=grain, padding_multiple=grain, padding=padding)
    return _with(layout, replace(layout.tiling, tile_count=owners, axes=(axis,)))


def _linear(tensor: Tensor, layout: Layout) -> Iterable[RepairChange]:
    """A linear layout fails for want of a dimension, a grain, enough grains, or a grain that divides the elements."""
    axis, owners = layout.tiling.axes[0], layout.tiling.tile_count
    if not tensor.shape or tensor.elements == 0:
        return
    grain = axis.block_size
    if grain == 0:
        grain = _flat_grain(tensor)
        yield RepairChange("grain", f"a grain of {grain}", _linear_layout(layout, owners, grain, axis.padding))
        return
    rejects = axis.padding is Padding.REJECT and tensor.elements % grain != 0
    if rejects:
        yield RepairChange(
            "zero-padding", "padding Zero instead of Reject", _linear_layout(layout, owners, grain, Padding.ZERO)
        )
    grains = -(-tensor.elements // grain)
    if grains < owners:
        fewer = min(grains, tensor.tiles)
        change = f"at most one grain of {grain} a tile" if fewer == grains else f"{fewer:,} owners"
        yield RepairChange("fewer-owners", change, _linear_layout(layout, fewer, grain, axis.padding))
        if tensor.element_bytes is not None:
            chunks = min(fewer, -(-tensor.elements * tensor.element_bytes // CHUNK_BYTES))
            text = f"chunks of {CHUNK_BYTES} B"
            yield RepairChange("chunks", text, _linear_layout(layout, chunks, grain, axis.padding))
    if rejects and grains >= owners:
        divisor = gcd(grain, tensor.elements)
        text = f"a grain of {divisor} instead of {grain}"
        yield RepairChange("dividing-grain", text, _linear_layout(layout, owners, divisor, axis.padding))
    smaller = grain
    while smaller % 2 == 0:
        smaller //= 2
        if -(-tensor.elements // smaller) >= owners and not (
            axis.padding is Padding.REJECT and tensor.elements % smaller
        ):
            text = f"a grain of {smaller} instead of {grain}"
            yield RepairChange("smaller-grain", text, _linear_layout(layout, owners, smaller, axis.padding))
            break


def _empty_group(tensor: Tensor, layout: Layout) -> Iterable[RepairChange]:
    """No owners or no replicas: at least one of each, or as many owners as the axes make."""
    tiling = layout.tiling
    replicas = max(tiling.replicas, 1)
    parts = prod(axis.partitions for axis in tiling.axes)
    owners = tiling.tile_count or replicas * max(parts, 1)
    changed = replace(tiling, tile_count=owners, replicas=replicas)
    yield RepairChange("owners", f"{owners:,} owners and {replicas:,} replicas", _with(layout, changed))


def _zero_figures(tensor: Tensor, layout: Layout) -> Iterable[RepairChange]:
    """Figures of 0 become 1; a stride of 0 becomes the packed one."""

    def filled(axis: Axis) -> Axis:
        return replace(
            axis,
            partitions=axis.partitions or 1,
            padding_groups=axis.padding_groups or 1,
            block_size=axis.block_size or 1,
            padding_multiple=axis.padding_multiple or axis.block_size or 1,
            shard_padding_multiple=axis.shard_padding_multiple or 1,
            tile_stride=axis.tile_stride or None,
        )

    yield RepairChange("no-zeros", "1 in place of 0", _with_axes(layout, filled))


def _drop_axes(tensor: Tensor, layout: Layout) -> Iterable[RepairChange]:
    """Axes outside the shape, or tiling a dimension a second time, are left out; replicas take their place."""
    rank, seen, kept = len(tensor.shape), set(), []
    for axis in layout.tiling.axes:
        dimension = rank - axis.index if axis.base is AxisBase.END else axis.index
        if axis.base is not AxisBase.LINEAR and 0 <= dimension < rank and dimension not in seen:
            seen.add(dimension)
            kept.append(axis)
    parts = prod(axis.partitions for axis in kept)
    tiling = layout.tiling
    if parts and tiling.tile_count % parts == 0:
        replicas = tiling.tile_count // parts
        text = f"axes that the shape lacks left out, {replicas} replicas"
        changed = replace(tiling, replicas=replicas, axes=tuple(kept))
        yield RepairChange("drop-axes-replicate", text, _with(layout, changed))
    owners = tiling.replicas * parts
    changed = replace(tiling, tile_count=owners, axes=tuple(kept))
    yield RepairChange("drop-axes", "axes without a dimension of their own left out", _with(layout, changed))


def _padding_groups(tensor: Tensor, layout: Layout) -> Iterable[RepairChange]:
    changed = _with_axes(layout, lambda axis: replace(axis, padding_groups=1))
    yield RepairChange("one-padding-group", "one padding group", changed)


def _indivisible(tensor: Tensor, layout: Layout) -> Iterable[RepairChange]:
    """Zero padding to a multiple that the block divides, or blocks of one element."""

    def padded(axis: Axis) -> Axis:
        multiple = lcm(axis.padding_multiple, axis.block_size)
        return replace(axis, padding=Padding.ZERO, padding_multiple=multiple)

    zero = _with_axes(layout, lambda axis: replace(axis, padding=Padding.ZERO))
    yield RepairChange("zero-padding", "padding Zero instead of Reject", zero)
    yield RepairChange("pad-to-blocks", "padding Zero to whole blocks", _with_axes(layout, padded))
    if layout.order.kind is OrderKind.ROW_MAJOR:
        single = _with_axes(layout, lambda axis: replace(axis, block_size=1, padding_multiple=1))
        yield RepairChange("single-blocks", "blocks of one element", single)


def _indivisible_shard(tensor: Tensor, layout: Layout) -> Iterable[RepairChange]:
    zero = _with_axes(layout, lambda axis: replace(axis, padding=Padding.ZERO))
    yield RepairChange("zero-padding", "padding Zero instead of Reject", zero)
    plain = _with_axes(layout, lambda axis: replace(axis, shard_padding_multiple=1))
    yield RepairChange("plain-shards", "shards not padded", plain)


def _tile_count(tensor: Tensor, layout: Layout) -> Iterable[RepairChange]:
    """Owners and parts disagree: change the owners, the replicas, or the parts of one axis."""
    tiling = layout.tiling
    parts = prod(axis.partitions for axis in tiling.axes)
    owners = tiling.replicas * parts
    text = f"{owners:,} owners instead of {tiling.tile_count:,}, its parts times replicas"
    yield RepairChange("count-parts", text, _with(layout, replace(tiling, tile_count=owners)))
    if tiling.tile_count % parts == 0:
        replicas = tiling.tile_count // parts
        text = f"{replicas} replicas instead of {tiling.replicas}"
        yield RepairChange("replicas", text, _with(layout, replace(tiling, replicas=replicas)))
    for index, axis in enumerate(tiling.axes):
        rest = owners // axis.partitions
        if tiling.tile_count % rest == 0:
            partitions = tiling.tile_count // rest
            text = f"{partitions} partitions of axis {index} instead of {axis.partitions}"
            yield RepairChange("partitions", text, _with_partitions(layout, index, partitions, tiling.tile_count))


def _with_partitions(layout: Layout, index: int, partitions: int, owners: int) -> Layout:
    axes = list(layout.tiling.axes)
    axes[index] = replace(axes[index], partitions=partitions)
    return _with(layout, replace(layout.tiling, tile_count=owners, axes=tuple(axes)))


def _mapping(tensor: Tensor, layout: Layout) -> Iterable[RepairChange]:
    packed = _with_axes(layout, lambda axis: replace(axis, tile_stride=None))
    yield RepairChange("packed-strides", "packed strides", packed)


def _fewer_tiles(tensor: Tensor, layout: Layout) -> Iterable[RepairChange]:
    """A valid layout that has more owners than there are tiles: fewer replicas, or fewer parts of one axis."""
    tiling = layout.tiling
    if tiling.is_linear:
        axis = tiling.axes[0]
        spread = _linear_layout(layout, tensor.tiles, axis.block_size, axis.padding)
        yield RepairChange("fewer-owners", f"{tensor.tiles:,} owners instead of {tiling.tile_count:,}", spread)
        return
    parts = prod(axis.partitions for axis in tiling.axes)
    if parts <= tensor.tiles < tiling.tile_count:
        replicas = tensor.tiles // parts
        changed = replace(tiling, replicas=replicas, tile_count=replicas * parts)
        yield RepairChange(
            "fewer-replicas", f"{replicas} replicas instead of {tiling.replicas}", _with(layout, changed)
        )
    for index, axis in enumerate(tiling.axes):
        rest = tiling.tile_count // axis.partitions
        partitions = tensor.tiles // rest
        if 0 < partitions < axis.partitions:
            text = f"{partitions} partitions of axis {index} instead of {axis.partitions}"
            fewer = _with_partitions(layout, index, partitions, rest * partitions)
            yield RepairChange("fewer-partitions", text, fewer)


def _order_unknown(tensor: Tensor, layout: Layout) -> Iterable[RepairChange]:
    changed = Layout(ROW_MAJOR, layout.tiling, layout.memory_class)
    yield RepairChange("row-major", "order RowMajor", changed)


_BY_KIND: Mapping[LayoutErrorKind, Callable[[Tensor, Layout], Iterable[RepairChange]]] = {
    LayoutErrorKind.EMPTY_TILE_GROUP: _empty_group,
    LayoutErrorKind.EMPTY_AXIS_TILING: _zero_figures,
    LayoutErrorKind.TILE_COUNT_OVERFLOW: lambda tensor, layout: (),
    LayoutErrorKind.AXIS_OUT_OF_RANGE: _drop_axes,
    LayoutErrorKind.DUPLICATE_AXIS: _drop_axes,
    LayoutErrorKind.INVALID_PADDING_GROUPS: _padding_groups,
    LayoutErrorKind.INDIVISIBLE_AXIS: _indivisible,
    LayoutErrorKind.INDIVISIBLE_SHARD: _indivisible_shard,
    LayoutErrorKind.TILE_COUNT_MISMATCH: _tile_count,
    LayoutErrorKind.INVALID_TILE_MAPPING: _mapping,
    LayoutErrorKind.UNKNOWN_ORDER: _order_unknown,
}


# -- layouts that owe nothing to the failing one ----------------------------------------------------------------------


def _flat_grain(tensor: Tensor) -> int:
    """8 bytes' worth of elements, halved until it divides their number."""
    grain = 8 // (tensor.element_bytes or 8)
    while grain > 1 and tensor.elements % grain:
        grain //= 2
    return max(grain, 1)


def plain_layouts(tensor: Tensor, layout: Layout) -> Iterable[RepairChange]:
    """Flat, by rows, and one owner: for RowMajor tensors; others only as a whole on one tile."""
    memory_class: MemoryClass = layout.memory_class
    whole = Layout(layout.order, Tiling(1, 1, ()), memory_class)
    if layout.order.kind is OrderKind.ROW_MAJOR and tensor.shape and tensor.elements:
        grain = _flat_grain(tensor)
        owners = min(tensor.elements // grain, tensor.tiles)
        axis = Axis(AxisBase.LINEAR, 0, owners, block_size=grain, padding_multiple=grain)
        yield RepairChange(
            "flat", f"flat, grains of {grain}", Layout(layout.order, Tiling(owners, 1, (axis,)), memory_class)
        )
        rows = min(tensor.shape[-2], tensor.tiles) if len(tensor.shape) > 1 else 1
        if rows > 1:
            axis = Axis(AxisBase.END, 2, rows)
            yield RepairChange("rows", "by rows", Layout(layout.order, Tiling(rows, 1, (axis,)), memory_class))
    yield RepairChange("one-owner", "whole on one tile", whole)


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


def bad_layouts(timeline: Timeline) -> tuple[BadLayout, ...]:
    """Every value with an invalid layout, in the order of the values, with what would."""
    found = []
    for index, value in enumerate(timeline.values):
        if value.layout_error is None:
            continue
        failure = None if value.layout is None else layout_failure(value.shape, value.layout)
        kind = None if failure is None else failure.kind
        found.append(BadLayout(index, value.name, value.shape, kind, value.layout_error, remedy(timeline, index)))
    return tuple(found)


def remedy(timeline: Timeline, index: int) -> str:
    """What would make an invalid layout resolve, in a sentence; from the same figures as the failure."""
    value = timeline.values[index]
    if value.layout is None:
        return "The layout's text does not parse."
    return layout_remedy(value.shape, value.layout, timeline.tile_count)


def layout_remedy(shape: Shape, layout: Layout, tile_count: int) -> str:
    """:func:`remedy` for any shape and layout on a device of so many tiles."""
    tiling = layout.tiling
    elements = prod(shape)
    if tiling.is_linear and tiling.axes[0].block_size > 0:
        grain = tiling.axes[0].block_size
        grains = -(-elements // grain)
        if grains and grains < tiling.tile_count:
            return f"At most one tile per grain: {grains:,} tiles for {elements:,} elements in grains of {grain}."
        if elements and elements % grain:
            return f"A grain that divides {elements:,} elements, or zero padding."
    failure = layout_failure(shape, layout)
    if failure is None:
        return f"At most {tile_count:,} owners: there are no more tiles." if tiling.tile_count > tile_count else ""
    return _AXIS_REMEDIES.get(failure.kind, "")


def bad_homes(recipe: Recipe) -> tuple[BadLayout, ...]:
    """Graph inputs whose fixed home has an invalid layout or needs more tiles than there are.

    ``BadLayout.value`` is the graph value here.
    """
    found = []
    tiles = recipe.config.tile_count
    for given in recipe.graph.inputs:
        home = recipe.inputs.get(given.value)
        fault = None if home is None else layout_fault(given.shape, home.layout, tiles)
        if home is None or fault is None:
            continue
        failure = layout_failure(given.shape, home.layout)
        kind = None if failure is None else failure.kind
        help_text = layout_remedy(given.shape, home.layout, tiles)
        found.append(BadLayout(given.value, given.name, given.shape, kind, fault, help_text))
    return tuple(found)


_AXIS_REMEDIES = {
    LayoutErrorKind.EMPTY_TILE_GROUP: "At least one owner and one replica.",
    LayoutErrorKind.EMPTY_AXIS_TILING: "Partitions, blocks, multiples, groups and strides of at least 1.",
    LayoutErrorKind.TILE_COUNT_OVERFLOW: "Fewer partitions.",
    LayoutErrorKind.AXIS_OUT_OF_RANGE: "An axis that the shape has.",
    LayoutErrorKind.DUPLICATE_AXIS: "One axis per dimension.",
    LayoutErrorKind.INVALID_PADDING_GROUPS: "Padding groups that divide both the partitions and the extent.",
    LayoutErrorKind.INDIVISIBLE_AXIS: "A multiple and a block that divide the extent, or zero padding.",
    LayoutErrorKind.INDIVISIBLE_SHARD: "A shard multiple that divides every part, or zero padding.",
    LayoutErrorKind.TILE_COUNT_MISMATCH: "As many owners as replicas times partitions.",
    LayoutErrorKind.INVALID_TILE_MAPPING: "Strides that give every combination of parts to equally many owners.",
}


def offers(timeline: Timeline, index: int, most: int = 3) -> list[str]:
    """Some valid layouts, in words, for a value of the timeline whose own does not resolve."""
    value = timeline.values[index]
    if value.layout is None:
        return []
    return [repair.label for repair in repairs(value.shape, value.precision, value.layout, timeline.tile_count)[:most]]
