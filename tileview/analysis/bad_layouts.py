"""Values whose layouts do not resolve: which rule each breaks, and what would resolve."""

from __future__ import annotations

from tileview.analysis.diagnosis import BadLayout
from tileview.analysis.repair import repairs
from tileview.core.geometry.resolve import LayoutErrorKind, layout_failure
from tileview.model.timeline import Timeline


def bad_layouts(timeline: Timeline) -> tuple[BadLayout, ...]:
    """Every value whose layout does not resolve, in the order of the values, with what would."""
    found = []
    for index, value in enumerate(timeline.values):
        if value.layout_error is None:
            continue
        failure = None if value.layout is None else layout_failure(value.shape, value.layout)
        kind = None if failure is None else failure.kind
        found.append(BadLayout(index, value.name, value.shape, kind, value.layout_error, remedy(timeline, index)))
    return tuple(found)


def remedy(timeline: Timeline, index: int) -> str:
    """What would make a layout that does not resolve resolve, in a sentence; from the same figures as the failure."""
    value = timeline.values[index]
    layout = value.layout
    if layout is None:
        return "The layout's text does not parse."
    tiling = layout.tiling
    elements = 1
    for extent in value.shape:
        elements *= extent
    if tiling.is_linear and tiling.axes[0].block_size > 0:
        grain = tiling.axes[0].block_size
        grains = -(-elements // grain)
        if grains and grains < tiling.tile_count:
            return f"At most {grains:,} owners can hold {elements:,} elements in grains of {grain}."
        if elements and elements % grain:
            return f"A grain that divides {elements:,} elements, or zero padding."
    failure = layout_failure(value.shape, layout)
    return "" if failure is None else _AXIS_REMEDIES.get(failure.kind, "")


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


def offers(timeline: Timeline, bad: BadLayout, most: int = 3) -> list[str]:
    """Some layouts that resolve, in words, for a value whose own does not."""
    value = timeline.values[bad.value]
    if value.layout is None:
        return []
    return [repair.label for repair in repairs(value.shape, value.precision, value.layout, timeline.tile_count)[:most]]
