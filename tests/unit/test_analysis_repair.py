"""Layouts offered in place of failing ones: each check's own repair, groups, and that everything offered resolves."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.golden_program import load_golden, read_layout
from tests.helpers.random_layouts import layouts, shapes
from tests.helpers.small_programs import WHOLE, kernel, program, value
from tileview.analysis.repair import Repair, repair_groups, repairs
from tileview.core.geometry.resolve import LayoutErrorKind, layout_failure, resolve
from tileview.core.memory.measurement import measure
from tileview.core.memory.whatif import with_layouts
from tileview.model.sizes import UNAVAILABLE
from tileview.model.tensor import (
    F16,
    LEFT,
    ROW_MAJOR,
    Axis,
    AxisBase,
    Layout,
    Order,
    OrderKind,
    Padding,
    Precision,
    PrecisionKind,
    Shape,
    Tiling,
)


def linear(owners: int, grain: int, padding: Padding = Padding.REJECT) -> Layout:
    axis = Axis(AxisBase.LINEAR, 0, owners, block_size=grain, padding_multiple=grain, padding=padding)
    return Layout(ROW_MAJOR, Tiling(owners, 1, (axis,)))


def tiled(owners: int, *axes: Axis, replicas: int = 1, order: Order = ROW_MAJOR) -> Layout:
    return Layout(order, Tiling(owners, replicas, axes))


def by_key(offered: tuple[Repair, ...]) -> dict[tuple[str, ...], Repair]:
    return {repair.key: repair for repair in offered}


def test_too_many_owners_for_the_grains_of_the_sample() -> None:
    offered = by_key(repairs((1, 1, 1152), F16, linear(1472, 4), 1472))
    fewer = offered[("fewer-owners",)]
    assert fewer.layout == linear(288, 4)
    assert (fewer.owners, fewer.shard_bytes, fewer.total_bytes) == (288, 8, 2304)
    chunks = offered[("chunks",)]
    # 2,304 bytes in chunks of 256: 9 owners of 32 grains each
    assert chunks.layout == linear(9, 4)
    assert (chunks.owners, chunks.shard_bytes) == (9, 256)
    assert "9 tiles, largest shard 256 B" in chunks.label


def test_smaller_grains_keep_the_owners_where_there_are_enough_elements() -> None:
    offered = by_key(repairs((100,), F16, linear(64, 4), 64))
    # 100 elements: 25 grains of 4, 50 of 2, 100 of 1: only single elements make 64 owners
    assert offered[("smaller-grain",)].layout == linear(64, 1)


def test_rejected_remainder_is_padded_or_divided() -> None:
    offered = by_key(repairs((10,), F16, linear(2, 4), 64))
    assert offered[("zero-padding",)].layout == linear(2, 4, Padding.ZERO)
    assert offered[("dividing-grain",)].layout == linear(2, 2)


@pytest.mark.parametrize(
    ("layout", "kind", "key", "repaired"),
    [
        (
            tiled(5, Axis(AxisBase.START, 0, 4)),
            LayoutErrorKind.TILE_COUNT_MISMATCH,
            ("count-parts",),
            tiled(4, Axis(AxisBase.START, 0, 4)),
        ),
        (
            tiled(8, Axis(AxisBase.START, 0, 4)),
            LayoutErrorKind.TILE_COUNT_MISMATCH,
            ("replicas",),
            tiled(8, Axis(AxisBase.START, 0, 4), replicas=2),
        ),
        (
            tiled(8, Axis(AxisBase.START, 0, 4)),
            LayoutErrorKind.TILE_COUNT_MISMATCH,
            ("partitions",),
            tiled(8, Axis(AxisBase.START, 0, 8)),
        ),
        (
            tiled(4, Axis(AxisBase.START, 0, 2, tile_stride=1), Axis(AxisBase.START, 1, 2, tile_stride=1)),
            LayoutErrorKind.INVALID_TILE_MAPPING,
            ("packed-strides",),
            tiled(4, Axis(AxisBase.START, 0, 2), Axis(AxisBase.START, 1, 2)),
        ),
        (
            tiled(2, Axis(AxisBase.START, 0, 2, padding_groups=3)),
            LayoutErrorKind.INVALID_PADDING_GROUPS,
            ("one-padding-group",),
            tiled(2, Axis(AxisBase.START, 0, 2)),
        ),
        (
            tiled(2, Axis(AxisBase.START, 0, 2, block_size=3, padding_multiple=3)),
            LayoutErrorKind.INDIVISIBLE_AXIS,
            ("zero-padding",),
            tiled(2, Axis(AxisBase.START, 0, 2, block_size=3, padding_multiple=3, padding=Padding.ZERO)),
        ),
        (
            tiled(2, Axis(AxisBase.START, 0, 2, block_size=3)),
            LayoutErrorKind.INDIVISIBLE_AXIS,
            ("pad-to-blocks",),
            tiled(2, Axis(AxisBase.START, 0, 2, block_size=3, padding_multiple=3, padding=Padding.ZERO)),
        ),
        (
            tiled(2, Axis(AxisBase.START, 0, 2, shard_padding_multiple=3)),
            LayoutErrorKind.INDIVISIBLE_SHARD,
            ("plain-shards",),
            tiled(2, Axis(AxisBase.START, 0, 2)),
        ),
        (
            tiled(2, Axis(AxisBase.START, 0, 2, block_size=0)),
            LayoutErrorKind.EMPTY_AXIS_TILING,
            ("no-zeros",),
            tiled(2, Axis(AxisBase.START, 0, 2)),
        ),
        (
            tiled(0, Axis(AxisBase.START, 0, 2), replicas=0),
            LayoutErrorKind.EMPTY_TILE_GROUP,
            ("owners",),
            tiled(2, Axis(AxisBase.START, 0, 2)),
        ),
        (
            tiled(6, Axis(AxisBase.START, 0, 2), Axis(AxisBase.END, 5, 3)),
            LayoutErrorKind.AXIS_OUT_OF_RANGE,
            ("drop-axes-replicate",),
            tiled(6, Axis(AxisBase.START, 0, 2), replicas=3),
        ),
        (
            tiled(4, Axis(AxisBase.START, 0, 2), Axis(AxisBase.END, 2, 2)),
            LayoutErrorKind.DUPLICATE_AXIS,
            ("drop-axes",),
            tiled(2, Axis(AxisBase.START, 0, 2)),
        ),
        (
            tiled(2, Axis(AxisBase.START, 0, 2), order=Order(OrderKind.UNKNOWN, text="Spiral")),
            LayoutErrorKind.UNKNOWN_ORDER,
            ("row-major",),
            tiled(2, Axis(AxisBase.START, 0, 2)),
        ),
        (
            tiled(4, Axis(AxisBase.START, 0, 2**31), Axis(AxisBase.START, 1, 4)),
            LayoutErrorKind.TILE_COUNT_OVERFLOW,
            ("one-owner",),
            tiled(1),
        ),
    ],
)
def test_each_check_has_a_repair(layout: Layout, kind: LayoutErrorKind, key: tuple[str, ...], repaired: Layout) -> None:
    failure = layout_failure((8, 10), layout)
    assert failure is not None
    assert failure.kind is kind
    assert by_key(repairs((8, 10), F16, layout, 64))[key].layout == repaired


def test_two_faults_take_two_changes() -> None:
    # a block of 0, and 5 owners for 4 parts
    layout = tiled(5, Axis(AxisBase.START, 0, 4, block_size=0))
    assert by_key(repairs((8, 10), F16, layout, 64))[("no-zeros", "count-parts")].layout == tiled(
        4, Axis(AxisBase.START, 0, 4)
    )


def test_a_layout_for_a_larger_device_is_made_smaller() -> None:
    offered = by_key(repairs((64, 8), F16, tiled(32, Axis(AxisBase.START, 0, 16), replicas=2), 16))
    assert offered[("fewer-replicas",)].layout == tiled(16, Axis(AxisBase.START, 0, 16))
    assert offered[("fewer-partitions",)].layout == tiled(16, Axis(AxisBase.START, 0, 8), replicas=2)


def test_what_resolves_needs_no_repair() -> None:
    assert repairs((8,), F16, WHOLE, 4) == ()


def test_the_least_changed_and_then_the_smallest_shard_comes_first() -> None:
    offered = repairs((1, 1, 1152), F16, linear(1472, 4), 1472)
    assert [repair.key for repair in offered[:2]] == [("fewer-owners",), ("chunks",)]
    assert offered[-1].key == ("one-owner",)


def test_an_unknown_precision_has_no_bytes() -> None:
    odd = Precision(PrecisionKind.UNKNOWN, text="F6")
    offered = repairs((8,), odd, linear(9, 1), 16)
    assert offered
    assert all(repair.shard_bytes is UNAVAILABLE for repair in offered)


@given(st.data())
def test_everything_offered_resolves_on_the_device(data: st.DataObject) -> None:
    shape: Shape = data.draw(shapes)
    layout = data.draw(layouts(shape))
    tiles = data.draw(st.integers(1, 50))
    axes = list(layout.tiling.axes)
    if axes:
        broken = data.draw(st.sampled_from(["partitions", "block_size", "padding_groups", "padding_multiple", "index"]))
        axes[-1] = replace(axes[-1], **{broken: data.draw(st.integers(0, 7))})
    layout = Layout(layout.order, replace(layout.tiling, axes=tuple(axes)), layout.memory_class)
    usable = layout_failure(shape, layout) is None and layout.tiling.tile_count <= tiles
    offered = repairs(shape, F16, layout, tiles)
    assert bool(offered) != usable
    for repair in offered:
        resolved = resolve(shape, repair.layout)
        assert resolved.owner_count == repair.owners <= tiles
        assert repair.shard_bytes == 2 * resolved.maximum_elements
        assert repair.total_bytes == 2 * int(resolved.owner_elements().sum())
        assert repair.layout.order == layout.order
    assert len({repair.layout for repair in offered}) == len(offered)


def test_every_failing_golden_layout_can_be_repaired() -> None:
    vectors = load_golden("layout-vectors.json.gz")["vectors"] + load_golden("layout-vectors-order.json")["vectors"]
    failing = [vector for vector in vectors if vector["error"] is not None]
    assert len(failing) > 400
    for vector in failing:
        assert repairs(tuple(vector["shape"]), F16, read_layout(vector["layout"]), 1472), vector


def test_groups_hold_what_fails_alike() -> None:
    values = [
        value(0, (8,), linear(4, 4), name="a"),
        value(1, (16,), linear(8, 4), name="b"),
        value(2, (8,), tiled(3, Axis(AxisBase.START, 0, 2), order=LEFT), name="c"),
        value(3, (8,), tiled(8, replicas=8), name="d"),
        value(4),
    ]
    timeline = measure(program(values, [kernel(0, 1, 2, 3, to=4)], host=(0, 1, 2, 3)), 586_960, 0)
    groups = repair_groups(timeline)
    assert [(group.kind, group.values) for group in groups] == [
        (LayoutErrorKind.EMPTY_AXIS_TILING, (0, 1)),
        (LayoutErrorKind.TILE_COUNT_MISMATCH, (2,)),
        (None, (3,)),
    ]
    assert groups[0].text.startswith("2 values, first a: 4 tiles requested, only 2 grains")
    first = groups[0].repairs[0]
    assert first.key == ("fewer-owners",)
    assert (first.layouts[0], first.layouts[1]) == (linear(2, 4), linear(4, 4))
    assert (first.most_owners, first.shard_bytes) == (4, 8)
    assert first.label == "at most one tile per grain: 2 to 4 tiles, largest shard 8 B"
    layouts_of_all: dict[int, Layout] = {}
    for group in groups:
        layouts_of_all.update(group.repairs[0].layouts)
    assert with_layouts(timeline, layouts_of_all).verdict.fits


def test_one_layout_for_values_of_several_sizes_names_the_largest_shard() -> None:
    """8 and 16 elements of 2 bytes, whole on one owner: 32 B, not the 16 B of the first."""
    values = [value(0, (8,), linear(4, 4), name="a"), value(1, (16,), linear(8, 4), name="b"), value(2)]
    timeline = measure(program(values, [kernel(0, 1, to=2)], host=(0, 1)), 586_960, 0)
    (group,) = repair_groups(timeline)
    whole = next(repair for repair in group.repairs if repair.key == ("one-owner",))
    assert (whole.most_owners, whole.shard_bytes) == (1, 32)
    assert whole.label == "whole on one tile: 1 tile, largest shard 32 B"


@pytest.mark.parametrize(("shape", "offered"), [((1, 8), {"one-owner"}), ((4, 8), {"rows", "one-owner"})])
def test_a_single_row_is_offered_as_a_whole_only(shape: tuple[int, ...], offered: set[str]) -> None:
    found = repairs(shape, Precision(PrecisionKind.F16), linear(64, 4), 64)
    assert {repair.key[0] for repair in found} & {"rows", "one-owner"} == offered
