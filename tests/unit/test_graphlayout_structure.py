"""Reading graphs, whole and broken, into nodes, ports and edges."""

from __future__ import annotations

from tests.helpers.graphs import generated, graph, operation, repeat, transformer
from tileview.graphlayout import NodeKind, Structure, find_neighbours, read_structure
from tileview.model.graph import UnknownKind, ValueSequence


def texts(structure: Structure) -> list[str]:
    return [f"{problem.place}: {problem.text}" for problem in structure.problems]


def operations(structure: Structure, nodes: tuple[int, ...]) -> list[int | None]:
    return [structure.nodes[node].operation for node in nodes]


def test_parameters_are_folded_and_ports_are_small_nodes() -> None:
    # x0 → 0 (reads w1) → 1 → output
    structure = read_structure(graph([operation(0, [0, 1], [2]), operation(1, [2], [3])], [3], [0], [1]))
    kinds = [node.kind for node in structure.nodes]
    assert kinds == [NodeKind.INPUT, NodeKind.OPERATION, NodeKind.OPERATION, NodeKind.OUTPUT]
    assert structure.nodes[1].parameters == ("w1",)
    assert [(edge.source, edge.target, edge.value) for edge in structure.edges] == [(0, 1, 0), (1, 2, 2), (2, 3, 3)]
    assert structure.problems == ()


def test_a_repeat_holds_its_body_as_a_region() -> None:
    structure = read_structure(transformer(27))
    body = structure.regions[1]
    owner = structure.nodes[structure.by_operation[6]]
    assert (owner.kind, owner.count, owner.body) == (NodeKind.REPEAT, 27, 1)
    assert owner.parameters == ("block.weight",)
    assert operations(structure, body.nodes) == [None, 1, 2, 3, 4, 5, None]
    assert [structure.nodes[node].kind for node in (body.nodes[0], body.nodes[-1])] == [
        NodeKind.ARGUMENT,
        NodeKind.YIELD,
    ]
    assert structure.nodes[structure.by_operation[2]].parameters == ("block.weight (one of 2 an iteration)",)
    assert structure.operations_in(0) == 7
    assert structure.operations_in(1) == 5
    assert list(structure.around(structure.by_operation[3])) == [owner.index]
    assert texts(structure) == [
        "operation 7: operations of kind Sort are not known: drawn dashed, their memory is not in the sums"
    ]
    assert structure.nodes[structure.by_operation[7]].unknown


def test_neighbours_look_through_the_ports_of_a_body() -> None:
    structure = read_structure(transformer())
    neighbours = find_neighbours(structure)

    def of(side: tuple[tuple[int, ...], ...], number: int) -> list[int | None]:
        return operations(structure, side[structure.by_operation[number]])

    # The carried value comes from operation 0 at first, then from operation 5 of the round before.
    assert of(neighbours.producers, 1) == [0, 5]
    assert of(neighbours.producers, 5) == [0, 5, 4]
    assert of(neighbours.producers, 7) == [6]
    assert of(neighbours.consumers, 0) == [6, 1, 5]
    assert of(neighbours.consumers, 6) == [7]
    near = neighbours.within([structure.by_operation[3]], 1)
    assert sorted(structure.nodes[node].operation or 0 for node in near) == [2, 3, 4]


def test_nested_repeats() -> None:
    inner = repeat(2, [20], [21], [operation(1, [30], [31])], [30], [31])
    outer = repeat(3, [5], [6], [inner], [20], [21])
    structure = read_structure(graph([operation(0, [0], [5]), outer], [6]))
    assert [region.depth for region in structure.regions] == [0, 1, 2]
    node = structure.by_operation[1]
    assert operations(structure, tuple(structure.around(node))) == [2, 3]
    # Through two borders, and back from the round before of each.
    assert operations(structure, find_neighbours(structure).producers[node]) == [1, 0, 2]
    assert structure.problems == ()


def test_an_invariant_parameter_makes_no_port() -> None:
    body = [operation(1, [10, 11], [12])]
    structure = read_structure(graph([repeat(2, [0, 1], [3], body, [10, 11], [12], invariant=1)], [3], [0], [1]))
    assert structure.regions[1].arguments[1] is None
    assert structure.nodes[structure.by_operation[1]].parameters == ("w1",)
    assert structure.problems == ()


def test_a_value_that_nothing_produces() -> None:
    structure = read_structure(graph([operation(4, [0, 99], [1])]))
    assert structure.nodes[structure.by_operation[4]].missing == (99,)
    assert texts(structure) == ["operation 4: reads value 99, which nothing produces"]
    assert structure.problems[0].operation == 4


def test_a_value_produced_twice_keeps_its_first_producer() -> None:
    structure = read_structure(graph([operation(0, [0], [1]), operation(1, [0], [1]), operation(2, [1], [2])]))
    assert any("produced a second time" in text for text in texts(structure))
    assert operations(structure, find_neighbours(structure).producers[structure.by_operation[2]]) == [0]


def test_an_operation_id_given_twice_is_drawn_twice() -> None:
    structure = read_structure(graph([operation(0, [0], [1]), operation(0, [1], [2])]))
    assert sum(node.kind is NodeKind.OPERATION for node in structure.nodes) == 2
    assert any("given to a second operation" in text for text in texts(structure))


def test_a_value_read_several_times_is_said_once_and_parameters_are_not() -> None:
    structure = read_structure(graph([operation(0, [0, 0, 1, 1, 0], [2]), operation(1, [2], [3])], [3], [0], [1]))
    assert texts(structure) == ["operation 0: reads value 0 3 times: one line stands for all"]
    assert [problem.severity for problem in structure.problems] == ["note"]


def test_what_is_wrong_twice_is_said_once() -> None:
    structure = read_structure(graph([operation(0, [99, 99], [1]), operation(1, [2, 2], [2])]))
    found = texts(structure)
    assert len(found) == len(set(found))
    assert "operation 0: reads value 99, which nothing produces" in found


def test_a_self_loop_and_a_cycle() -> None:
    # 0 reads 2's result, 1 reads its own
    structure = read_structure(graph([operation(0, [3], [1]), operation(1, [1, 2], [2]), operation(2, [2], [3])]))
    found = texts(structure)
    assert "operation 1: reads its own result, value 2" in found
    assert "operation 0: reads value 3, which operation 2 produces only later" in found
    assert any("closes a cycle" in text for text in found)


def test_a_value_read_through_a_border_is_led_to_the_repeat() -> None:
    # the body reads value 5 of the outside without taking it as an argument
    body = [operation(1, [10, 5], [11])]
    structure = read_structure(graph([operation(0, [0], [5]), repeat(2, [0], [6], body, [10], [11])], [6]))
    ends = [
        (structure.nodes[edge.source].operation, structure.nodes[edge.target].operation) for edge in structure.edges
    ]
    assert (0, 2) in ends
    assert any("without taking it as an argument" in text for text in texts(structure))


def test_a_value_of_another_body() -> None:
    first = repeat(1, [0], [6], [operation(0, [10], [11])], [10], [11])
    second = repeat(3, [6], [7], [operation(2, [20, 11], [21])], [20], [21])
    structure = read_structure(graph([first, second], [7]))
    lifted = [edge for edge in structure.edges if edge.slot == -1]
    assert [(structure.nodes[edge.source].operation, structure.nodes[edge.target].operation) for edge in lifted] == [
        (1, 3)
    ]


def test_a_body_that_does_not_match_and_an_unknown_sequence() -> None:
    body = [operation(1, [10], [11])]
    structure = read_structure(graph([repeat(2, [0], [3], body, [10, 12], [], sequences=[7])], [3]))
    found = texts(structure)
    assert any("yields 0 values where 1 are carried" in text for text in found)
    assert any("names sequence 7, which the graph does not have" in text for text in found)
    short = repeat(2, [0], [3], body, [10], [11], sequences=[0])
    structure = read_structure(graph([short], [3], sequences=[ValueSequence(0, "s", (8,))]))
    assert any("takes 1 arguments" in text for text in texts(structure))


def test_many_problems_of_a_kind_are_counted() -> None:
    structure = read_structure(graph([operation(index, [1000 + index], [index + 1]) for index in range(200)]))
    assert len(structure.problems) == 51
    assert structure.problems[-1].text == "150 more of this kind: values that nothing produces"


def test_an_empty_graph_and_unknown_kinds() -> None:
    assert read_structure(graph([], [], [])).nodes == ()
    structure = read_structure(graph([operation(0, [0], [1], UnknownKind("Sort", "Sort"))]))
    assert structure.nodes[1].label == "Sort"


def test_deep_nesting_needs_no_recursion() -> None:
    deep = operation(0, [10], [11])
    for level in range(1, 400):
        deep = repeat(level, [10 + 2 * level], [11 + 2 * level], [deep], [8 + 2 * level], [9 + 2 * level])
    structure = read_structure(graph([deep], [], [808]))
    assert structure.regions[-1].depth == 399
    assert len(generated(10).operations) == 10


def test_the_order_in_which_one_reads() -> None:
    structure = read_structure(transformer())
    numbers = [structure.nodes[index].operation for index in structure.in_order()]
    assert [number for number in numbers if number is not None] == [0, 6, 1, 2, 3, 4, 5, 7]
