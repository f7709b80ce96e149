"""Whose bytes the usage of a tile is: parameters under the operation that reads them, every byte counted once."""

from __future__ import annotations

import dataclasses

import pytest

from tests.helpers.fake_timeline import Alloc, FakeProgram, Step, make_timeline
from tests.helpers.graphs import graph, operation, repeat, transformer
from tests.helpers.opened import opened
from tileview.analysis.holdings import (
    Holdings,
    holdings,
    host_inputs,
    input_readers,
    owners_of_values,
    step_holdings,
)
from tileview.graphlayout import read_structure
from tileview.model.graph import Graph, RepeatKind, ValueSequence
from tileview.model.timeline import Timeline
from tileview.present.allocation_rows import AllocationFigures
from tileview.present.graph_boxes import node_figures
from tileview.present.operation_rows import OUTSIDE, RecipeOperations
from tileview.present.tables import flat_rows

KIB = 1024


def test_inputs_lead_to_the_operations_that_read_them() -> None:
    model = graph(
        [operation(0, [0, 5], [1]), operation(1, [1, 6], [2]), operation(2, [2, 6, 6], [3])], [3], parameters=(5, 6, 7)
    )
    assert input_readers(model) == {0: (0,), 5: (0,), 6: (1, 2), 7: ()}


def test_sequences_and_invariants_lead_into_the_body_and_carried_values_do_not() -> None:
    # Carried 10 (starts with input 0), invariant 11 (parameter 5), iterated 12 (90 … 92) and 13, which nobody reads.
    sequences = (ValueSequence(0, "w", (90, 91, 92)), ValueSequence(1, "unread", (95,)))
    body = [operation(1, [10, 11], [20]), operation(2, [20, 12], [21])]
    loop = repeat(3, [0, 5], [4], body, [10, 11, 12, 13], [21], 1, 1, (0, 1))
    readers = input_readers(graph([loop], [4], parameters=(5,), sequences=sequences))
    assert readers[0] == (3,)
    assert 10 not in readers
    assert readers[5] == readers[11] == (1,)
    assert readers[12] == readers[90] == readers[91] == readers[92] == (2,)
    assert readers[13] == readers[95] == (3,)


def test_through_two_repeats_and_broken_ones() -> None:
    inner = repeat(2, [20, 11], [21], [operation(1, [30, 31], [32])], [30, 31], [32], 1, 1)
    outer = repeat(3, [0, 5], [4], [operation(0, [10], [20]), inner], [10, 11], [21], 1, 1)
    readers = input_readers(graph([outer], [4], parameters=(5,)))
    assert readers[5] == readers[11] == readers[31] == (1,)
    # More arguments than there are operands or sequences: nothing stands behind them.
    broken = repeat(1, [0], [2], [operation(0, [10, 11, 12], [13])], [10, 11, 12], [13], 1, 1, (7,))
    assert input_readers(graph([broken], [2], parameters=(5,))) == {0: (1,), 5: ()}


def shared_out(allocs: list[tuple[Alloc, int | None]], model: Graph, steps: list[Step], at: int) -> Holdings:
    """Holdings on tile 0 of a program whose allocations stem from the values given."""
    timeline = make_timeline(FakeProgram(1, steps, [alloc for alloc, _ in allocs]))
    origins = [origin for _, origin in allocs]
    values = tuple(dataclasses.replace(value, origin=origins[value.id]) for value in timeline.values)
    timeline = dataclasses.replace(timeline, values=values)
    return holdings(timeline, at, 0, owners_of_values(model), input_readers(model), host_inputs(model))


def test_every_byte_is_counted_once() -> None:
    model = graph(
        [operation(0, [0, 5], [1]), operation(1, [1, 6], [2]), operation(2, [2, 6], [3])], [3], parameters=(5, 6, 7)
    )
    allocs: list[tuple[Alloc, int | None]] = [
        (Alloc("w5", 10 * KIB, 0, 1), 5),
        (Alloc("copy of w5", 3 * KIB, 0, 1), 5),
        (Alloc("w6, read by two", 20 * KIB, 0, 1), 6),
        (Alloc("w7, read by none", 1 * KIB, 0, 1), 7),
        (Alloc("of nobody", 2 * KIB, 0, 1), None),
        (Alloc("result of 0", 40 * KIB, 0, 1), 1),
        (Alloc("no size", None, 0, 1), 6),
    ]
    held = shared_out(allocs, model, [Step(source=0), Step(source=1, scratch=5 * KIB)], 1)
    assert held.own == {0: 40 * KIB, 1: 5 * KIB}
    assert held.read == {0: 13 * KIB, 1: 20 * KIB}
    assert held.shared == 20 * KIB
    assert held.outside == 3 * KIB
    assert held.unavailable == {1: 1}
    assert not held.has_hosts
    allocs.append((Alloc("copy of w5 for 1", 7 * KIB, 1, 1), 5))
    held = shared_out(allocs, model, [Step(source=0), Step(source=1, scratch=5 * KIB)], 1)
    assert held.own == {0: 40 * KIB, 1: 12 * KIB}
    assert held.read == {0: 13 * KIB, 1: 20 * KIB}
    del allocs[-1]
    allocs.append((Alloc("x0", 4 * KIB, 0, 1), 0))
    held = shared_out(allocs, model, [Step(source=0), Step(source=1, scratch=5 * KIB)], 1)
    assert held.has_hosts
    assert held.read == {0: 17 * KIB, 1: 20 * KIB}
    assert held.usage == 85 * KIB == sum(held.own.values()) + sum(held.read.values()) + held.outside


def timeline_of(name: str) -> tuple[Timeline, Graph]:
    session = opened(name)
    assert session.timeline is not None
    assert session.recipe is not None
    return session.timeline, session.recipe.graph


@pytest.mark.parametrize("name", ["so400m-over.recipe.json", "so400m.recipe.json", "vit3-64tiles.recipe.json"])
def test_nothing_of_the_peak_is_hidden_on_the_samples(name: str) -> None:
    timeline, model = timeline_of(name)
    owners, readers = owners_of_values(model), input_readers(model)
    figures = AllocationFigures(timeline)
    for step in (0, timeline.total_peak_step or 0, timeline.standard_peak_step or 0, len(timeline.steps) - 1):
        table = figures.table(step)
        assert table.tile is not None
        held = holdings(timeline, step, table.tile, owners, readers)
        assert held.usage == int(timeline.tiles.worst()[step, 2])
        assert sum(held.own.values()) + sum(held.read.values()) + held.outside == held.usage
        assert held.outside == 0
        # The table of the tile lists the same bytes.
        assert table.totals.total == held.usage


def test_the_parameters_of_a_layer_belong_to_the_operations_of_the_body() -> None:
    timeline, model = timeline_of("so400m-over.recipe.json")
    step = timeline.total_peak_step
    assert step == 69
    held = holdings(timeline, step, 174, owners_of_values(model), input_readers(model))
    # 27 layers of mlp.down.weight, 3,584 B each on that tile, are read by the Gemm that multiplies by them.
    assert held.read[21] == 27 * 3584
    assert held.read[18] == 27 * 3584
    # The copy and the cast of its operand are made by its own plan, not by the operation whose result that is.
    assert held.own[21] == 240_896
    assert 20 not in held.own
    body = {one.id for one, around in model.walk() if around}
    loops = {one.id for one, _ in model.walk() if isinstance(one.kind, RepeatKind)}
    assert sum(size for reader, size in held.read.items() if reader in body) > 0.9 * sum(held.read.values())
    assert not loops & held.read.keys()


def test_the_body_of_a_transformer_reads_its_sequence() -> None:
    assert input_readers(transformer())[90] == (2,)


def test_the_tree_and_the_graph_count_alike() -> None:
    """Every operation's row holds what its box holds, and the outermost rows add up to the usage of the tile."""
    session = opened("so400m-over.recipe.json")
    recipe, timeline = session.recipe, session.timeline
    assert recipe is not None
    assert timeline is not None
    structure = read_structure(recipe.graph)
    owners, readers = owners_of_values(recipe.graph), input_readers(recipe.graph)
    for step, tile in ((69, 174), (0, 3), (20, 1400), (164, 700)):
        held = holdings(timeline, step, tile, owners, readers)
        nodes = RecipeOperations(recipe, {}).nodes(held)
        boxes = node_figures(structure, held, timeline, step, tile, owners)
        for row in flat_rows(nodes):
            if row.operation is None:
                continue
            box = structure.by_operation[row.operation]
            assert (row.made, row.read) == (int(boxes.own[box]), int(boxes.read[box])), row.operation
        usage = int(timeline.tiles.usage(step)[tile].sum())
        assert sum(node.row.bytes for node in nodes) == usage == held.usage


def test_what_belongs_to_nobody_has_a_row_and_is_counted_once() -> None:
    model = graph([operation(0, [0, 5], [1])], [1], parameters=(5, 7))
    allocs: list[tuple[Alloc, int | None]] = [
        (Alloc("w5", 10 * KIB, 0, 1), 5),
        (Alloc("w7, read by none", 1 * KIB, 0, 1), 7),
        (Alloc("of nobody", 2 * KIB, 0, 1), None),
        (Alloc("of nobody, no size", None, 0, 1), None),
        (Alloc("of an unknown value, no size", None, 0, 1), 99),
    ]
    held = shared_out(allocs, model, [Step(source=0), Step()], 1)
    assert (held.outside, held.unavailable_outside) == (3 * KIB, 2)
    recipe = opened("pair-8tiles.recipe.json").recipe
    assert recipe is not None
    nodes = RecipeOperations(dataclasses.replace(recipe, graph=model, plans={}, alternatives={}), {}).nodes(held)
    assert nodes[0].key == OUTSIDE
    assert (nodes[0].row.made, nodes[0].row.unavailable) == (3 * KIB, 2)
    assert sum(node.row.bytes for node in nodes) == held.usage == 13 * KIB


def test_a_timeline_alone_shares_out_by_the_step_of_the_first_life() -> None:
    allocs = [
        Alloc("weights", 10 * KIB, 0, -1, parameter=True),
        Alloc("made at 1", 4 * KIB, 1, 2),
        Alloc("made at 2", 6 * KIB, 2, 2),
        Alloc("no size, from 1", None, 1, 2),
        Alloc("no size, from the start", None, 0, 2),
    ]
    steps = [Step(source=0), Step(source=1), Step(source=2, scratch=3 * KIB)]
    timeline = make_timeline(FakeProgram(1, steps, allocs))
    assert [timeline.maker(root) for root in range(5)] == [None, 1, 2, 1, None]
    held = step_holdings(timeline, 2, 0)
    assert held.own == {1: 4 * KIB, 2: 9 * KIB}
    assert (held.outside, held.usage) == (10 * KIB, 23 * KIB)
    assert held.unavailable == {1: 1}
    assert held.unavailable_outside == 1
