"""What holds for the picture of any graph, broken ones included."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.graphs import graph, operation, repeat
from tileview.graphlayout import Box, EdgeLine, Way, coordinates, layout_graph, layout_region, read_structure
from tileview.graphlayout.layers import assign_layers
from tileview.graphlayout.order import crossings, make_proper, reduce_crossings
from tileview.model.graph import Graph, Operation


@st.composite
def edge_lists(draw: st.DrawFn, most: int = 14) -> tuple[int, list[tuple[int, int]]]:
    """Nodes and any edges: loops, cycles and duplicates too."""
    nodes = draw(st.integers(1, most))
    ends = st.integers(0, nodes - 1)
    return nodes, draw(st.lists(st.tuples(ends, ends), max_size=3 * most))


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Operations that read and make values of 0 … 12 at random, some in bodies: hardly any of these is a proper
    graph.
    """
    values = st.integers(0, 12)
    numbers = itertools.count()

    def region(depth: int) -> list[Operation]:
        found = []
        for _ in range(draw(st.integers(0, 4))):
            inputs = draw(st.lists(values, max_size=3))
            results = draw(st.lists(values, max_size=2))
            if depth < 3 and draw(st.integers(0, 3)) == 0:
                body = region(depth + 1)
                arguments = draw(st.lists(values, max_size=3))
                yields = draw(st.lists(values, max_size=2))
                carried, invariant = draw(st.integers(0, 2)), draw(st.integers(0, 2))
                found.append(
                    repeat(next(numbers), inputs, results, body, arguments, yields, carried, invariant, sequences=[3])
                )
            else:
                found.append(operation(next(numbers) % 7, inputs, results))
        return found

    hosts = draw(st.lists(values, max_size=2, unique=True))
    return graph(region(0), draw(st.lists(values, max_size=2)), hosts, draw(st.lists(values, max_size=2)))


@given(edge_lists(), st.integers(0, 40))
@settings(max_examples=150, deadline=None)
def test_boxes_never_overlap_and_edges_lead_down(given_graph: tuple[int, list[tuple[int, int]]], budget: int) -> None:
    nodes, edges = given_graph
    boxes = [Box(40.0 + 7 * (node % 5), 12.0 + 5 * (node % 3)) for node in range(nodes)]
    layout = layout_region(boxes, [EdgeLine(*edge, group=edge[0] % 2) for edge in edges], budget=budget)
    for one, other in itertools.combinations(range(nodes), 2):
        apart_x = (
            layout.left[one] + boxes[one].width <= layout.left[other] + 1e-6
            or layout.left[other] + boxes[other].width <= layout.left[one] + 1e-6
        )
        apart_y = (
            layout.top[one] + boxes[one].height <= layout.top[other] + 1e-6
            or layout.top[other] + boxes[other].height <= layout.top[one] + 1e-6
        )
        assert apart_x or apart_y
        if layout.layer[one] == layout.layer[other]:
            assert (layout.place[one] < layout.place[other]) == (layout.left[one] < layout.left[other])
    drawn = set()
    for route in layout.routes:
        source, target = edges[route.line]
        drawn.add(frozenset((source, target)))
        if route.way & Way.LOOP:
            assert source == target
        elif route.way & Way.UPWARDS:
            assert layout.layer[source] > layout.layer[target]
        else:
            assert layout.layer[source] < layout.layer[target]
    assert drawn == {frozenset(edge) for edge in edges}
    assert all(x >= 0 for x in layout.left)
    assert max(x + box.width for x, box in zip(layout.left, boxes, strict=True)) <= layout.width + 1e-6


@given(edge_lists(), st.integers(0, 40), st.integers(2, 6))
@settings(max_examples=100, deadline=None)
def test_in_columns_boxes_never_overlap_and_no_lane_crosses_one(
    given_graph: tuple[int, list[tuple[int, int]]], budget: int, least: int
) -> None:
    nodes, edges = given_graph
    boxes = [Box(40.0 + 7 * (node % 5), 12.0 + 5 * (node % 3)) for node in range(nodes)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coordinates, "LEAST_HEIGHT", 50.0)
        patch.setattr(coordinates, "LEAST_COLUMNS", least)
        layout = layout_region(boxes, [EdgeLine(*edge, group=edge[0] % 2) for edge in edges], budget=budget)
    areas = [
        (left, top, left + box.width, top + box.height)
        for left, top, box in zip(layout.left, layout.top, boxes, strict=True)
    ]
    for one, other in itertools.combinations(areas, 2):
        assert (one[2] <= other[0] + 1e-6 or other[2] <= one[0] + 1e-6 or one[3] <= other[1] + 1e-6) or other[3] <= one[
            1
        ] + 1e-6
    for route in layout.routes:
        assert all(0 <= x <= layout.width + 1e-6 and 0 <= y <= layout.height + 1e-6 for x, y in route.points)
        if route.way & (Way.STRAIGHT | Way.LOOP):
            continue
        for (x0, y0), (x1, y1) in itertools.pairwise(route.points):
            if x0 != x1 and y0 != y1:
                continue  # a curve between two layers, or from a box shorter than its layer
            x0, x1, y0, y1 = min(x0, x1), max(x0, x1), min(y0, y1), max(y0, y1)
            for left, top, right, bottom in areas:
                inside_x = left + 1e-6 < x1 and x0 < right - 1e-6
                inside_y = top + 1e-6 < y1 and y0 < bottom - 1e-6
                assert not (inside_x and inside_y)


@given(graphs(), st.data())
@settings(max_examples=150, deadline=None)
def test_any_graph_is_drawn_and_equal_graphs_equally(broken: Graph, data: st.DataObject) -> None:
    structure = read_structure(broken)
    indices = [node.index for node in structure.nodes]
    chosen = st.lists(st.sampled_from(indices), max_size=4) if indices else st.just([])
    collapsed = data.draw(chosen)
    only = data.draw(st.none() | chosen)
    picture = layout_graph(structure, collapsed, only)
    again = layout_graph(read_structure(broken), collapsed, only)
    assert np.array_equal(picture.rects, again.rects)
    assert np.array_equal(picture.points, again.points)
    assert np.all(np.isfinite(picture.points))
    assert len(set(picture.nodes.tolist())) == len(picture.nodes)
    if only is None and not collapsed:
        assert sorted(picture.nodes.tolist()) == indices
    right, lower = picture.rects[:, 0] + picture.rects[:, 2], picture.rects[:, 1] + picture.rects[:, 3]
    if len(picture.nodes):
        assert right.max() <= picture.width + 1e-6
        assert lower.max() <= picture.height + 1e-6
    shown = set(picture.nodes.tolist())
    for source, target in picture.edges.tolist():
        assert source in shown
        assert target in shown


@given(edge_lists(8))
@settings(max_examples=100, deadline=None)
def test_crossings_count_what_a_naive_count_finds(given_graph: tuple[int, list[tuple[int, int]]]) -> None:
    nodes, edges = given_graph
    distinct = sorted({(min(edge), max(edge)) for edge in edges if edge[0] != edge[1]})
    proper = make_proper(assign_layers(nodes, distinct), distinct)
    layers = proper.layers
    naive = 0
    for upper, lower in itertools.pairwise(layers):
        segments = [(upper.index(node), lower.index(below)) for node in upper for below in proper.down[node]]
        naive += sum(
            1 for one, other in itertools.combinations(segments, 2) if (one[0] - other[0]) * (one[1] - other[1]) < 0
        )
    assert crossings(proper, layers) == naive
    order = reduce_crossings(proper)
    assert [sorted(layer) for layer in order] == [sorted(layer) for layer in layers]
