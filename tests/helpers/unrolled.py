"""A recipe with its Repeats written out, layer after layer: a long program of operations that resemble each other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tileview.model.graph import Graph, GraphInput, Operation, RepeatKind, ValueSequence
from tileview.model.recipe import Recipe
from tileview.model.tensor import Shape


class _Unroller:
    """Writes one recipe's top-level Repeats out; bodies with Repeats of their own are not taken."""

    def __init__(self, recipe: Recipe, times: int | None) -> None:
        graph = recipe.graph
        self.times = times
        self.inputs = list(graph.inputs)
        self.given = {one.value: one for one in graph.inputs}
        self.sequences = {one.id: one for one in graph.sequences}
        self.operations: list[Operation] = []
        self.shapes: dict[int, Shape] = dict(graph.shapes)
        self.plans = dict(recipe.plans)
        self.alternatives = {operation: recipe.alternatives[operation] for operation in recipe.alternatives}
        self.homes = dict(recipe.inputs)
        self.open = set(recipe.open_boundaries)
        self.next_operation, self.next_value = graph.next_operation, graph.next_value
        self.recipe = recipe

    def value(self, shape: Shape) -> int:
        self.shapes[self.next_value] = shape
        self.next_value += 1
        return self.next_value - 1

    def member(self, sequence: ValueSequence, turn: int) -> int:
        """What a turn reads of a sequence; turns beyond its end have inputs of their own, of the last one's kind."""
        if turn < len(sequence.values):
            return sequence.values[turn]
        like = self.given[sequence.values[-1]]
        value = self.value(like.shape)
        self.inputs.append(GraphInput(f"{like.name}.{turn}", like.kind, value, like.shape))
        if like.value in self.homes:
            self.homes[value] = self.homes[like.value]
        return value

    def run(self) -> Recipe:
        graph = self.recipe.graph
        for operation in graph.operations:
            kind = operation.kind
            if isinstance(kind, RepeatKind):
                self.write_out(operation, kind)
            else:
                self.operations.append(operation)
        made = Graph(
            tuple(self.inputs), (), tuple(self.operations), graph.outputs, self.shapes, self.next_operation,
            self.next_value,
        )  # fmt: skip
        changed: dict[str, Any] = {"plans": self.plans, "alternatives": self.alternatives, "inputs": self.homes}
        return replace(self.recipe, graph=made, open_boundaries=frozenset(self.open), **changed)

    def write_out(self, repeat: Operation, kind: RepeatKind) -> None:
        body = kind.body
        turns = kind.count if self.times is None else self.times
        carried, invariant = list(repeat.inputs[: kind.carried_inputs]), repeat.inputs[kind.carried_inputs :]
        boundaries = {value for value in body.value_shapes if value in self.recipe.open_boundaries}
        for turn in range(turns):
            iterated = [self.member(self.sequences[number], turn) for number in kind.iterated_inputs]
            names = dict(zip(body.arguments, (*carried, *invariant, *iterated), strict=True))
            for operation in body.operations:
                for result in operation.results:
                    is_last = turn == turns - 1 and result in body.yields
                    shape = body.value_shapes[result]
                    names[result] = repeat.results[body.yields.index(result)] if is_last else self.value(shape)
                    if result in boundaries:
                        self.open.add(names[result])
                self.operations.append(
                    Operation(
                        self.next_operation,
                        tuple(names[value] for value in operation.inputs),
                        tuple(names[value] for value in operation.results),
                        operation.kind,
                    )
                )
                for kept in (self.plans, self.alternatives):
                    if operation.id in kept:
                        kept[self.next_operation] = kept[operation.id]  # type: ignore[index,assignment]
                self.next_operation += 1
            carried = [names[value] for value in body.yields]
        for operation in body.operations:
            self.plans.pop(operation.id, None)
            self.alternatives.pop(operation.id, None)


def unrolled(recipe: Recipe, times: int | None = None) -> Recipe:
    """The recipe with the body of every Repeat written out as often as it runs, or ``times`` times."""
    return _Unroller(recipe, times).run()
