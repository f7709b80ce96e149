"""Values with invalid layouts: which rule each breaks, and what would resolve."""

from __future__ import annotations

from math import prod

from tileview.analysis.diagnosis import BadLayout
from tileview.core.geometry.resolve import LayoutErrorKind, layout_failure
from tileview.core.memory.footprint import layout_fault
from tileview.model.recipe import Recipe
from tileview.model.tensor import Layout, Shape
from tileview.model.timeline import Timeline


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
