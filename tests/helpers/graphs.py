"""Graphs made by hand or by chance, for tests and benchmarks of the graph's layout and view."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tileview.model.graph import (
    AddKind,
    AttentionKind,
    GeluKind,
    GemmKind,
    Graph,
    GraphInput,
    InputKind,
    LayerNormKind,
    Operation,
    OperationKind,
    Region,
    RepeatKind,
    UnknownKind,
    ValueSequence,
)

SHAPE = (1, 64)


def operation(
    identifier: int, inputs: Sequence[int], results: Sequence[int], kind: OperationKind | None = None
) -> Operation:
    """An operation, an Add unless a kind is given."""
    return Operation(identifier, tuple(inputs), tuple(results), AddKind() if kind is None else kind)


def graph(
    operations: Sequence[Operation],
    outputs: Sequence[int] = (),
    hosts: Sequence[int] = (0,),
    parameters: Sequence[int] = (),
    sequences: Sequence[ValueSequence] = (),
) -> Graph:
    """A graph of operations: value v of ``hosts`` is the input ``xv``, of ``parameters`` the parameter ``wv``."""
    inputs = [GraphInput(f"x{value}", InputKind.HOST, value, SHAPE) for value in hosts]
    inputs += [GraphInput(f"w{value}", InputKind.PARAMETER, value, SHAPE) for value in parameters]
    values = [entry.value for entry in inputs]
    values += [result for entry in operations for result in entry.results]
    values += [member for sequence in sequences for member in sequence.values]
    shapes = dict.fromkeys(values, SHAPE)
    most = max((entry.id for entry in operations), default=-1)
    return Graph(
        tuple(inputs),
        tuple(sequences),
        tuple(operations),
        tuple(outputs),
        shapes,
        most + 1,
        max(values, default=-1) + 1,
    )


def repeat(
    identifier: int,
    inputs: Sequence[int],
    results: Sequence[int],
    body: Sequence[Operation],
    arguments: Sequence[int],
    yields: Sequence[int],
    carried: int = 1,
    invariant: int = 0,
    sequences: Sequence[int] = (),
    count: int = 3,
) -> Operation:
    """A Repeat of a body."""
    shapes = dict.fromkeys([*arguments, *(result for entry in body for result in entry.results)], SHAPE)
    region = Region(tuple(arguments), tuple(body), tuple(yields), shapes)
    kind = RepeatKind(count, carried, invariant, tuple(sequences), region)
    return Operation(identifier, tuple(inputs), tuple(results), kind)


def transformer(layers: int = 27) -> Graph:
    """An embedding, a Repeat of a block with a residual, and a head with an unknown operation.

    ``` x0 ─ 0 Gemm ─ 6 Repeat ×layers { 1 LayerNorm ─ 2 Gemm ─ 3 FlashAttention ─ 4 Gelu ─ 5 Add (+ carried) } ─ 7
    Sort ─ output ```
    """
    sequence = ValueSequence(0, "block.weight", (90, 91))
    body = [
        operation(1, [10], [11], LayerNormKind()),
        operation(2, [11, 15], [12], GemmKind()),
        operation(3, [12], [13], AttentionKind(False, "InverseSqrtQueryWidth")),
        operation(4, [13], [14], GeluKind()),
        operation(5, [10, 14], [16], AddKind()),
    ]
    steps = [
        operation(0, [0, 1], [2], GemmKind()),
        repeat(6, [2], [3], body, [10, 15], [16], sequences=[0], count=layers),
        operation(7, [3], [4], UnknownKind("Sort", "Sort(Descending)")),
    ]
    return graph(steps, [4], [0], [1], [sequence])


def generated(size: int, seed: int = 1, skips: float = 0.2, reach: int = 40) -> Graph:
    """A long graph by chance: each operation reads one of the last four values, some also one up to ``reach`` back."""
    chance = random.Random(seed)
    kinds: list[OperationKind] = [AddKind(), GeluKind(), LayerNormKind(), GemmKind()]
    steps = []
    for index in range(size):
        inputs = [max(0, index - chance.randint(0, 3))]
        if chance.random() < skips:
            inputs.append(max(0, index - chance.randint(1, reach)))
        steps.append(operation(index, inputs, [index + 1], chance.choice(kinds)))
    return graph(steps, [size])
