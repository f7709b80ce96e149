"""The stages of the layout on tiny graphs: cycles, layers, bends, order, coordinates."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tileview.graphlayout.coordinates import assign_x
from tileview.graphlayout.layers import LayerPin, assign_layers, back_edges, make_acyclic, topological_order
from tileview.graphlayout.order import crossings, inversions, make_proper, reduce_crossings


class TestCycles:
    def test_a_graph_without_cycles_is_left_alone(self) -> None:
        # 0 → 1 → 2, 0 → 2
        found = make_acyclic(3, [(0, 1), (1, 2), (0, 2)])
        assert found.edges == ((0, 1), (1, 2), (0, 2))
        assert found.reversed == frozenset()
        assert found.of == (0, 1, 2)

    def test_the_edge_that_closes_a_cycle_is_turned_round(self) -> None:
        # 0 → 1 → 2 → 0
        found = make_acyclic(3, [(0, 1), (1, 2), (2, 0)])
        assert found.edges == ((0, 1), (1, 2), (0, 2))
        assert found.reversed == {2}

    def test_duplicates_share_one_edge_and_self_loops_have_none(self) -> None:
        found = make_acyclic(2, [(0, 1), (1, 1), (0, 1)])
        assert found.edges == ((0, 1),)
        assert found.of == (0, -1, 0)

    def test_a_cycle_of_two_becomes_one_edge(self) -> None:
        found = make_acyclic(2, [(0, 1), (1, 0)])
        assert found.edges == ((0, 1),)
        assert found.of == (0, 0)
        assert found.reversed == frozenset()

    def test_a_chain_of_100_000_needs_no_recursion(self) -> None:
        edges = [(index, index + 1) for index in range(100_000)]
        assert back_edges(100_001, edges) == set()
        assert topological_order(100_001, edges) == list(range(100_001))

    def test_an_order_of_a_cycle_is_refused(self) -> None:
        with pytest.raises(ValueError, match="cycle"):
            topological_order(2, [(0, 1), (1, 0)])


class TestLayers:
    def test_longest_path(self) -> None:
        # 0 → 1 → 2 → 3 and 0 → 3: 3 stands below the longer way
        assert assign_layers(4, [(0, 1), (1, 2), (2, 3), (0, 3)]) == [0, 1, 2, 3]

    def test_a_source_sinks_to_its_first_reader(self) -> None:
        # 0 → 1 → 2 → 3, 4 → 3
        assert assign_layers(5, [(0, 1), (1, 2), (2, 3), (4, 3)]) == [0, 1, 2, 3, 2]

    def test_pins_stand_at_the_borders(self) -> None:
        # argument 0 → 1 → yield 2; argument 3 → 4 → 1; yield 5 reads 4
        pins = {0: LayerPin.FIRST, 3: LayerPin.FIRST, 2: LayerPin.LAST, 5: LayerPin.LAST}
        layers = assign_layers(6, [(0, 1), (1, 2), (3, 4), (4, 1), (4, 5)], pins)
        assert layers == [0, 2, 3, 0, 1, 3]

    def test_a_star_is_wrapped_to_the_limit(self) -> None:
        edges = [(0, target) for target in range(1, 11)]
        layers = assign_layers(11, edges, limit=4)
        assert [layers.count(layer) for layer in range(4)] == [1, 4, 4, 2]

    def test_nodes_without_edges_follow_below(self) -> None:
        # 0 → 1, and nine alone: three rows of at most four
        layers = assign_layers(11, [(0, 1)])
        assert layers[:2] == [0, 1]
        assert min(layers[2:]) == 2
        assert max(layers.count(layer) for layer in set(layers[2:])) <= 4

    def test_there_are_no_gaps(self) -> None:
        layers = assign_layers(4, [(0, 1)], {2: LayerPin.FIRST, 3: LayerPin.LAST})
        assert sorted(set(layers)) == list(range(max(layers) + 1))

    def test_no_nodes(self) -> None:
        assert assign_layers(0, []) == []


class TestBends:
    def test_one_bend_for_every_layer_passed(self) -> None:
        # 0 → 1 → 2 → 3 and 0 → 3, which passes two layers
        proper = make_proper([0, 1, 2, 3], [(0, 1), (1, 2), (2, 3), (0, 3)])
        assert proper.ways == [(), (), (), (4, 5)]
        assert [proper.layer[bend] for bend in (4, 5)] == [1, 2]
        assert proper.down[0] == [1, 4]
        assert proper.up[3] == [2, 5]

    def test_edges_of_one_value_share_bends(self) -> None:
        # value 7 of node 0 is read in layers 2 and 3: the shorter edge ends on the way of the longer
        proper = make_proper([0, 1, 2, 3], [(0, 2), (0, 3), (0, 1)], [7, 7, 8])
        assert proper.ways == [(4,), (4, 5), ()]
        assert proper.size == 6
        assert sorted(proper.down[4]) == [2, 5]

    def test_over_the_budget_the_longest_are_straight(self) -> None:
        proper = make_proper([0, 1, 2, 3, 4], [(0, 2), (0, 4), (1, 3)], budget=2)
        assert proper.ways == [(5,), None, (6,)]
        assert proper.straight == 1


class TestOrder:
    def test_a_crossing_is_undone(self) -> None:
        # 0 → 3 and 1 → 2 cross as given
        proper = make_proper([0, 0, 1, 1], [(0, 3), (1, 2)])
        assert crossings(proper, [[0, 1], [2, 3]]) == 1
        order = reduce_crossings(proper)
        assert crossings(proper, order) == 0
        assert sorted(order[0]) == [0, 1]
        assert sorted(order[1]) == [2, 3]

    def test_three_by_three_complete_has_nine_crossings_in_every_order(self) -> None:
        edges = [(upper, lower) for upper in range(3) for lower in range(3, 6)]
        proper = make_proper([0, 0, 0, 1, 1, 1], edges)
        assert crossings(proper, reduce_crossings(proper)) == 9

    @pytest.mark.parametrize("count", [0, 1, 2, 3, 6])
    def test_inversions_of_every_permutation(self, count: int) -> None:
        for numbers in itertools.permutations(range(count)):
            naive = sum(one > other for one, other in itertools.combinations(numbers, 2))
            assert inversions(np.array(numbers, dtype=np.int64)) == naive

    @pytest.mark.parametrize("count", [1 << 16, (1 << 16) + 1, 100_000])
    def test_inversions_of_many_numbers(self, count: int) -> None:
        assert inversions(np.arange(count)[::-1]) == count * (count - 1) // 2
        # Halves exchanged: each of the upper half stands before each of the lower.
        assert inversions(np.roll(np.arange(count), count // 2)) == (count // 2) * (count - count // 2)

    def test_a_value_read_in_many_layers_goes_down_between_its_readers(self) -> None:
        # 0 is read by four nodes in each of two layers, the lower ones by way of one bend
        proper = make_proper([0] + [1] * 4 + [2] * 4, [(0, target) for target in range(1, 9)], [0] * 8)
        assert proper.size == 10
        assert reduce_crossings(proper)[1] == [1, 2, 9, 3, 4]

    def test_equal_input_gives_equal_output(self) -> None:
        edges = [(0, 5), (0, 6), (1, 4), (1, 7), (2, 4), (2, 6), (3, 5), (3, 4)]
        layer = [0, 0, 0, 0, 1, 1, 1, 1]
        assert reduce_crossings(make_proper(layer, edges)) == reduce_crossings(make_proper(layer, edges))


class TestCoordinates:
    def test_a_chain_is_one_vertical_line(self) -> None:
        proper = make_proper([0, 1, 2], [(0, 1), (1, 2)])
        xs = assign_x(proper, [[0], [1], [2]], [10.0, 30.0, 20.0], 5.0, 2.0)
        assert xs == [15.0, 15.0, 15.0]

    def test_nodes_below_one_another_need_no_edge_to_stand_in_line(self) -> None:
        proper = make_proper([0, 1, 2], [(0, 1)])
        assert assign_x(proper, [[0], [1], [2]], [10.0, 30.0, 20.0], 5.0, 2.0) == [15.0, 15.0, 15.0]

    def test_a_parent_stands_over_the_middle_of_two_children(self) -> None:
        proper = make_proper([0, 1, 1], [(0, 1), (0, 2)])
        xs = assign_x(proper, [[0], [1, 2]], [10.0, 10.0, 10.0], 6.0, 2.0)
        assert xs[2] - xs[1] >= 16.0
        assert xs[0] == pytest.approx((xs[1] + xs[2]) / 2)

    def test_a_long_edge_is_straight_where_it_passes_layers(self) -> None:
        # 0 → 1 → 2 → 3 → 4 beside 0 → 4
        edges = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)]
        proper = make_proper([0, 1, 2, 3, 4], edges)
        widths = [20.0] * 5 + [0.0] * 3
        xs = assign_x(proper, reduce_crossings(proper), widths, 8.0, 4.0)
        assert len({round(xs[bend], 6) for bend in (5, 6, 7)}) == 1
        assert abs(xs[5] - xs[2]) >= 14.0
