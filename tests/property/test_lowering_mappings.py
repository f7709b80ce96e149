"""Composed mappings against brute force: every destination coordinate comes from where the two copies had it from."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from tileview.core.lowering.compose import compose_mappings
from tileview.core.lowering.pointwise import view_shape
from tileview.model.program import AxisView, Mapping
from tileview.model.tensor import Shape

Coordinate = tuple[int, ...]


def source_of(mapping: Mapping, source: Shape, coordinate: Coordinate) -> Coordinate | None:
    """The source coordinate of a destination coordinate: window, then view undone; None outside the source."""
    offsets = (*mapping.offsets, *(0,) * len(coordinate))
    moved = [c + o for c, o in zip(coordinate, offsets, strict=False)]
    view = mapping.view
    viewed = source if view is None else view_shape(source, view)
    if viewed is None or any(c >= extent for c, extent in zip(moved, viewed, strict=True)):
        return None
    if view is None:
        return tuple(moved)
    split, merge = view.split_axis, view.merge_axis
    if not view.reversed:
        # the split axis is divided into factor pieces; which piece an element is in varies fastest on the merge axis
        piece, rest = moved[merge] % view.factor, moved[merge] // view.factor
        moved[merge], moved[split] = rest, piece * viewed[split] + moved[split]
    else:
        piece, rest = moved[split] // source[split], moved[split] % source[split]
        moved[split], moved[merge] = rest, moved[merge] * view.factor + piece
    return tuple(moved)


views = st.builds(AxisView, st.integers(0, 2), st.integers(0, 2), st.sampled_from([2, 3]), st.booleans()).filter(
    lambda view: view.split_axis != view.merge_axis
)
offsets = st.lists(st.integers(0, 2), max_size=3).map(tuple)
mappings = st.builds(Mapping, offsets, st.none() | views)
shapes = st.tuples(*[st.sampled_from([1, 2, 3, 4, 6, 8, 12])] * 3)


@given(shapes, mappings, mappings, shapes, shapes)
def test_composition_is_the_one_after_the_other(
    source: Shape, a: Mapping, b: Mapping, between: Shape, destination: Shape
) -> None:
    composed = compose_mappings(a, b, source, between, destination)
    if composed is None:
        return
    for coordinate in product(*map(range, destination)):
        middle = source_of(b, between, coordinate)
        if middle is None:
            continue  # padding: what it holds does not matter
        assert source_of(composed, source, coordinate) == source_of(a, source, middle)


@given(shapes, mappings, st.data())
def test_windows_of_what_fits_always_compose(source: Shape, a: Mapping, data: st.DataObject) -> None:
    """A plain window of a copy that lies within its source is one copy, whatever view the copy has."""
    viewed = source if a.view is None else view_shape(source, a.view)
    if viewed is None:
        return
    starts = (*a.offsets, 0, 0, 0)[:3]
    if any(start >= extent for start, extent in zip(starts, viewed, strict=True)):
        return
    between = tuple(data.draw(st.integers(1, extent - start)) for start, extent in zip(starts, viewed, strict=True))
    window = tuple(data.draw(st.integers(0, extent - 1)) for extent in between)
    destination = tuple(extent - start for start, extent in zip(window, between, strict=True))
    composed = compose_mappings(a, Mapping(window), source, between, destination)
    assert composed is not None
    assert composed.view == a.view
