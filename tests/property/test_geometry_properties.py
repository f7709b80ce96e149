"""Layouts against brute force: every element counted, every owner walked."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import prod

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.helpers.random_layouts import axis_layouts, layouts, shapes
from tileview.core.geometry.owners import owner_box, owner_parts
from tileview.core.geometry.resolve import layout_failure, resolve, same_distribution
from tileview.core.geometry.resolved import is_mapping
from tileview.model.tensor import Layout, Shape


@st.composite
def cases(draw: st.DrawFn) -> tuple[Shape, Layout]:
    shape = draw(shapes)
    layout = draw(layouts(shape))
    assume(layout_failure(shape, layout) is None)
    return shape, layout


@given(cases())
def test_every_element_has_as_many_owners_as_there_are_replicas(case: tuple[Shape, Layout]) -> None:
    shape, layout = case
    resolved = resolve(shape, layout)
    held: Counter[tuple[int, ...]] = Counter()
    for owner in range(resolved.owner_count):
        box = owner_box(resolved, owner)
        held.update(product(*(range(extent.start, extent.logical_end) for extent in box)))
    everything = product(*map(range, shape)) if resolved.dimensions is not None else ((i,) for i in range(prod(shape)))
    assert held == Counter(dict.fromkeys(everything, layout.tiling.replicas if resolved.dimensions is not None else 1))


@given(cases())
def test_elements_of_an_owner_are_its_physical_box(case: tuple[Shape, Layout]) -> None:
    resolved = resolve(*case)
    elements = [
        prod(extent.physical_end - extent.start for extent in owner_box(resolved, owner))
        for owner in range(resolved.owner_count)
    ]
    assert resolved.owner_elements().tolist() == elements
    assert resolved.is_uniform == (len(set(elements)) == 1)
    if resolved.dimensions is not None:
        widest = [max(bounds.widths) for bounds in resolved.dimensions]
        assert resolved.maximum_elements == prod(widest)
    else:
        assert resolved.maximum_elements == max(elements)


@given(cases())
def test_owners_with_equal_parts_are_the_replicas(case: tuple[Shape, Layout]) -> None:
    resolved = resolve(*case)
    counts = Counter(map(tuple, owner_parts(resolved).tolist()))
    replicas = case[1].tiling.replicas if resolved.dimensions is not None else 1
    assert set(counts.values()) == {replicas}


@given(
    st.lists(st.tuples(st.integers(1, 24), st.integers(2, 4)), min_size=1, max_size=3),
    st.integers(1, 4),
)
def test_mappings_are_what_counting_says(divided: list[tuple[int, int]], replicas: int) -> None:
    owners = replicas * prod(partitions for _, partitions in divided)
    counts = Counter(tuple(t // stride % partitions for stride, partitions in divided) for t in range(owners))
    combinations = prod(partitions for _, partitions in divided)
    expected = len(counts) == combinations and set(counts.values()) == {replicas}
    assert is_mapping(divided, owners, replicas) == expected


@given(st.data())
def test_same_distribution_is_equality_of_boxes_of_all_owners(data: st.DataObject) -> None:
    shape = data.draw(shapes)
    first = data.draw(axis_layouts(shape, 16))
    second = data.draw(st.one_of(axis_layouts(shape, 16), st.just(first)))
    assume(layout_failure(shape, first) is None)
    assume(layout_failure(shape, second) is None)
    a, b = resolve(shape, first), resolve(shape, second)
    same = same_distribution(shape, first, shape, second)
    assert same == same_distribution(shape, second, shape, first)
    if same:
        assert a.padded_shape == b.padded_shape
        for owner in range(a.owner_count):
            assert owner_box(a, owner) == owner_box(b, owner)
        np.testing.assert_array_equal(a.owner_elements(), b.owner_elements())
