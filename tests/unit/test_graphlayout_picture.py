"""Whole pictures: boxes in their places, bodies in their Repeats, edges from border to border."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.graphs import generated, graph, operation, repeat, transformer
from tileview.graphlayout import (
    Box,
    EdgeLine,
    GraphPicture,
    LayoutCancelled,
    Sizes,
    Structure,
    Way,
    first_collapsed,
    layout_graph,
    layout_region,
    read_structure,
    repeats,
)


def rect(picture: GraphPicture, node: int) -> np.ndarray:
    return picture.rects[picture.place_of()[node]]


def shown(structure: Structure, picture: GraphPicture) -> set[int | None]:
    return {structure.nodes[int(node)].operation for node in picture.nodes} - {None}


class TestRegion:
    def test_a_chain_goes_straight_down(self) -> None:
        # 0 → 1 → 2
        layout = layout_region([Box(100, 20)] * 3, [EdgeLine(0, 1), EdgeLine(1, 2)])
        assert layout.left == (0.0, 0.0, 0.0)
        assert layout.top == (0.0, 56.0, 112.0)
        assert (layout.width, layout.height) == (100.0, 132.0)
        assert layout.routes[0].points == ((50.0, 20.0), (50.0, 56.0))

    def test_an_edge_past_a_box_runs_beside_it(self) -> None:
        # 0 → 1 → 2, 0 → 2
        layout = layout_region([Box(100, 20)] * 3, [EdgeLine(0, 1, 1), EdgeLine(1, 2, 2), EdgeLine(0, 2, 1)])
        passing = layout.routes[2].points
        left, right = layout.left[1], layout.left[1] + 100
        assert all(not left < x < right for x, y in passing if 56 <= y <= 76)

    def test_duplicates_self_loops_and_cycles_are_drawn_once_each(self) -> None:
        lines = [EdgeLine(0, 1), EdgeLine(0, 1), EdgeLine(1, 1), EdgeLine(1, 2), EdgeLine(2, 0)]
        layout = layout_region([Box(100, 20)] * 3, lines)
        ways = {route.line: route.way for route in layout.routes}
        assert ways == {0: Way.PLAIN, 3: Way.PLAIN, 4: Way.UPWARDS, 2: Way.LOOP}
        upwards = next(route for route in layout.routes if route.way is Way.UPWARDS)
        assert upwards.points[0][1] > upwards.points[-1][1]

    def test_a_cycle_of_two_is_one_line_with_two_ends(self) -> None:
        layout = layout_region([Box(100, 20)] * 2, [EdgeLine(1, 0), EdgeLine(0, 1)])
        assert [(route.line, route.way) for route in layout.routes] == [(1, Way.BOTH)]

    def test_given_ports_are_kept(self) -> None:
        layout = layout_region([Box(100, 20), Box(200, 20)], [EdgeLine(0, 1, 0, 10.0, 150.0)])
        start, end = layout.routes[0].points[0], layout.routes[0].points[-1]
        assert start[0] == layout.left[0] + 10
        assert end[0] == layout.left[1] + 150

    def test_lines_between_the_same_boxes_with_other_ports_have_ends_of_their_own(self) -> None:
        lines = [
            EdgeLine(0, 2, 0, 10.0, 20.0),
            EdgeLine(0, 2, 0, 10.0, 70.0),
            EdgeLine(0, 2, 0, 10.0, 20.0),
            EdgeLine(0, 1),
            EdgeLine(1, 2),
        ]
        layout = layout_region([Box(100, 20)] * 3, lines)
        routes = {route.line: route.points for route in layout.routes}
        assert sorted(routes) == [0, 1, 3, 4]
        assert routes[0][:-1] == routes[1][:-1]
        assert routes[0][-1][0] == layout.left[2] + 20
        assert routes[1][-1] == (layout.left[2] + 70, routes[0][-1][1])

    def test_nothing(self) -> None:
        assert layout_region([], []).width == 0

    def test_cancel(self) -> None:
        class Cancelled:
            def cancelled(self) -> bool:
                return True

            def progress(self, fraction: float) -> None:
                pass

        with pytest.raises(LayoutCancelled):
            layout_region([Box(10, 10)] * 2, [EdgeLine(0, 1)], token=Cancelled())

    def test_progress_rises_to_one(self) -> None:
        told: list[float] = []

        class Watching:
            def cancelled(self) -> bool:
                return False

            def progress(self, fraction: float) -> None:
                told.append(fraction)

        layout_graph(read_structure(transformer()), token=Watching())
        assert told == sorted(told)
        assert told[-1] == pytest.approx(1.0)


class TestNested:
    def test_an_expanded_repeat_contains_its_body(self) -> None:
        structure = read_structure(transformer())
        picture = layout_graph(structure)
        left, top, width, height = rect(picture, structure.by_operation[6])
        for number in (1, 2, 3, 4, 5):
            x, y, w, h = rect(picture, structure.by_operation[number])
            assert left < x
            assert x + w < left + width
            assert top + Sizes().header < y
            assert y + h < top + height
        assert picture.expanded.tolist().count(True) == 1

    def test_edges_meet_a_body_at_its_ports(self) -> None:
        structure = read_structure(transformer())
        picture = layout_graph(structure)
        owner = structure.by_operation[6]
        argument, result = structure.regions[1].arguments[0], structure.regions[1].yields[0]
        assert argument is not None
        for edge, (source, target) in enumerate(picture.edges.tolist()):
            points = picture.points[picture.offsets[edge] : picture.offsets[edge + 1]]
            if target == owner:
                x, _, w, _ = rect(picture, argument)
                assert points[-1][0] == pytest.approx(x + w / 2)
            if source == owner:
                x, _, w, _ = rect(picture, result)
                assert points[0][0] == pytest.approx(x + w / 2)

    def test_a_value_carried_twice_meets_both_ports(self) -> None:
        # 0 makes value 1; the Repeat carries it in both of its arguments
        body = [operation(1, [10, 11], [12]), operation(2, [11], [13])]
        model = graph([operation(0, [0], [1]), repeat(3, [1, 1], [4, 5], body, [10, 11], [12, 13], carried=2)], [4, 5])
        structure = read_structure(model)
        picture = layout_graph(structure)
        owner, source = structure.by_operation[3], structure.by_operation[0]
        ends = sorted(
            float(picture.points[picture.offsets[edge + 1] - 1][0])
            for edge, row in enumerate(picture.edges.tolist())
            if row == [source, owner]
        )
        ports = [rect(picture, port) for port in structure.regions[1].arguments if port is not None]
        assert ends == pytest.approx(sorted(float(x + w / 2) for x, _, w, _ in ports))

    def test_a_collapsed_repeat_is_one_box(self) -> None:
        structure = read_structure(transformer())
        picture = layout_graph(structure, repeats(structure))
        assert shown(structure, picture) == {0, 6, 7}
        assert rect(picture, structure.by_operation[6])[2:].tolist() == [190.0, 46.0]

    def test_large_graphs_start_collapsed(self) -> None:
        small, body = read_structure(transformer()), [operation(i, [1000 + i], [1001 + i]) for i in range(200)]
        assert first_collapsed(small) == frozenset()
        large = read_structure(graph([repeat(500, [0], [3], body, [1000], [1200])], [3]))
        assert first_collapsed(large) == {large.by_operation[500]}

    def test_only_some_nodes(self) -> None:
        structure = read_structure(transformer())
        wanted = [structure.by_operation[number] for number in (2, 3)]
        picture = layout_graph(structure, only=wanted)
        assert shown(structure, picture) == {2, 3, 6}
        whole = layout_graph(structure, only=[structure.by_operation[6]])
        assert shown(structure, whole) == {1, 2, 3, 4, 5, 6}

    def test_every_edge_starts_and_ends_on_a_border(self) -> None:
        structure = read_structure(generated(120, seed=5, skips=0.5))
        picture = layout_graph(structure)
        for edge, (source, target) in enumerate(picture.edges.tolist()):
            points = picture.points[picture.offsets[edge] : picture.offsets[edge + 1]]
            x, y, w, h = rect(picture, source)
            assert x <= points[0][0] <= x + w
            assert points[0][1] == pytest.approx(y + h)
            x, y, w, _ = rect(picture, target)
            assert x <= points[-1][0] <= x + w
            assert points[-1][1] == pytest.approx(y)

    def test_an_empty_graph(self) -> None:
        picture = layout_graph(read_structure(graph([], [], [])))
        assert picture.nodes.shape == (0,)
        assert picture.rects.shape == (0, 4)

    def test_long_edges_do_not_scatter_a_drawing(self) -> None:
        # No layer holds more than 6 boxes of 190 and a few dozen bends; whole blocks would make it 20,000 wide.
        assert layout_graph(read_structure(generated(500, seed=2, skips=0.5, reach=160))).width < 8_000

    def test_a_long_chain_is_folded_into_columns(self) -> None:
        chain = graph([operation(at, [at], [at + 1]) for at in range(1000)], [1000])
        structure = read_structure(chain)
        picture = layout_graph(structure)
        assert picture.height < 8_000
        assert picture.width > 10 * Sizes().node[0]
        tops = [rect(picture, structure.by_operation[number])[1] for number in range(1000)]
        heads = [number for number in range(1, 1000) if tops[number] < tops[number - 1]]
        assert len(heads) >= 5
        # An edge from the foot of a column to the head of the next: down, right, up, right, down.
        foot, head = structure.by_operation[heads[0] - 1], structure.by_operation[heads[0]]
        edge = next(at for at, row in enumerate(picture.edges.tolist()) if row == [foot, head])
        points = picture.points[picture.offsets[edge] : picture.offsets[edge + 1]]
        turns = [tuple(np.sign(step).astype(int)) for step in np.diff(points, axis=0)]
        assert turns == [(0, 1), (1, 0), (0, -1), (1, 0), (0, 1)]

    def test_what_can_be_scrolled_stays_in_one_piece(self) -> None:
        structure = read_structure(graph([operation(at, [at], [at + 1]) for at in range(200)], [200]))
        assert layout_graph(structure).width == Sizes().node[0]

    def test_columns_are_cut_where_few_edges_pass(self) -> None:
        # Blocks of 10 operations, each with a value that is read through all of it.
        steps = []
        for at in range(1000):
            skip = [at // 10 * 10] if at % 10 > 1 else []
            steps.append(operation(at, [at, *skip], [at + 1]))
        structure = read_structure(graph(steps, [1000]))
        picture = layout_graph(structure)
        tops = [rect(picture, structure.by_operation[number])[1] for number in range(1000)]
        heads = [number for number in range(1, 1000) if tops[number] < tops[number - 1] - 1000]
        assert len(heads) >= 4
        # Where two edges pass: below the last operation of a block, the one before and the one after; else three.
        assert all(head % 10 in (0, 1, 9) for head in heads)

    def test_a_star_is_as_wide_as_its_rows(self) -> None:
        # One value read by 600 operations: rows of 36 boxes of 190 with 24 between them, straight below one another.
        star = graph([operation(index, [0], [index + 1]) for index in range(600)], [])
        assert layout_graph(read_structure(star)).width < 36 * (190 + 24) + 400

    def test_straight_edges_are_noted(self) -> None:
        lines = generated(3000, seed=3, skips=0.9, reach=3000)
        picture = layout_graph(read_structure(lines))
        straight = int(np.count_nonzero(picture.ways & Way.STRAIGHT))
        assert straight
        words = "long edges are drawn at their ends only, in full for the selected operation"
        assert picture.notes == (f"{straight:,} {words}",)
