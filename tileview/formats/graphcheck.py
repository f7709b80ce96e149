"""What is wrong with a graph or recipe that can be shown all the same: dangling ids, counts that do not agree.

Nothing here stops a file from opening. Each finding is a :class:`~tileview.model.timeline.Problem` with the field's
path; whether a program can still be made of it is for the re-planner to say.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tileview.model.graph import Graph, Operation, Region, RepeatKind, UnknownKind, kind_name
from tileview.model.plan import BlockedGemm, Plan, Unknown
from tileview.model.recipe import Recipe
from tileview.model.timeline import Problem

_ARITY: Final = {"Gemm": 2, "Add": 2, "Gelu": 1, "LayerNorm": 3, "FlashAttention": 3, "Slice": 1, "View": 1}


def graph_problems(graph: Graph) -> list[Problem]:
    """Ids that occur twice, values that nothing makes or that are read too early, counts that do not agree."""
    return _GraphCheck(graph).run()


class _GraphCheck:
    """One pass over the graph in program order; ``made`` holds the values known so far in the scope at hand."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.problems: list[Problem] = []
        self.operations: set[int] = set()
        self.sequences = {sequence.id: sequence for sequence in graph.sequences}

    def say(self, place: str, text: str, operation: int | None = None) -> None:
        self.problems.append(Problem("error", f"context: graph.{place}", text, operation=operation))

    def run(self) -> list[Problem]:
        graph = self.graph
        made: set[int] = set()
        for index, item in enumerate(graph.inputs):
            self.make(made, item.value, f"inputs[{index}].value")
            if item.value in graph.shapes and graph.shapes[item.value] != item.shape:
                self.say(f"inputs[{index}].shape", f"the shapes given for value {item.value} differ")
        if len(self.sequences) != len(graph.sequences):
            self.say("sequences", "two sequences have the same id")
        for index, sequence in enumerate(graph.sequences):
            self.known(made, sequence.values, f"sequences[{index}].values", f"sequence {sequence.id}")
        self.scope(graph.operations, made, graph.shapes.keys(), "operations")
        self.known(made, graph.outputs, "outputs", "the graph's outputs")
        return self.problems

    def make(self, made: set[int], value: int, place: str, operation: int | None = None) -> None:
        if value in made:
            self.say(place, f"value {value} is made twice", operation)
        made.add(value)

    def known(self, made: set[int], values: Iterable[int], place: str, who: str, operation: int | None = None) -> None:
        missing = [value for value in values if value not in made]
        if missing:
            names = ", ".join(map(str, missing[:5])) + (" …" if len(missing) > 5 else "")
            self.say(place, f"{who} names {names}, which nothing before it makes", operation)

    def scope(self, operations: tuple[Operation, ...], made: set[int], shaped: Iterable[int], place: str) -> None:
        shapes = set(shaped)
        for value in sorted(made - shapes):
            self.say(place, f"value {value} has no shape")
        for index, operation in enumerate(operations):
            where = f"{place}[{index}]"
            if operation.id in self.operations:
                self.say(f"{where}.id", f"operation {operation.id} occurs twice", operation.id)
            self.operations.add(operation.id)
            self.known(made, operation.inputs, f"{where}.inputs", f"operation {operation.id}", operation.id)
            if isinstance(operation.kind, RepeatKind):
                self.repeat(operation, operation.kind, f"{where}.kind")
            else:
                self.arity(operation, where)
            for value in operation.results:
                self.make(made, value, f"{where}.results", operation.id)
                if value not in shapes:
                    self.say(f"{where}.results", f"value {value} has no shape", operation.id)

    def arity(self, operation: Operation, where: str) -> None:
        name = kind_name(operation.kind)
        expected = _ARITY.get(name)
        if expected is not None and len(operation.inputs) != expected:
            text = f"{name} takes {expected} inputs, operation {operation.id} has {len(operation.inputs)}"
            self.say(f"{where}.inputs", text, operation.id)
        if expected is not None and len(operation.results) != 1:
            text = f"{name} makes one result, operation {operation.id} has {len(operation.results)}"
            self.say(f"{where}.results", text, operation.id)

    def repeat(self, operation: Operation, kind: RepeatKind, where: str) -> None:
        body: Region = kind.body
        passed = kind.carried_inputs + kind.invariant_inputs
        counts = (
            (len(operation.inputs), passed, "inputs (carried and invariant)"),
            (len(operation.results), kind.carried_inputs, "results (one a carried input)"),
            (len(body.arguments), passed + len(kind.iterated_inputs), "arguments (inputs, then sequences)"),
            (len(body.yields), kind.carried_inputs, "yields (one a carried input)"),
        )
        for found, expected, what in counts:
            if found != expected:
                text = f"Repeat {operation.id} has {found} {what}, its counts say {expected}"
                self.say(where, text, operation.id)
        for sequence_id in kind.iterated_inputs:
            sequence = self.sequences.get(sequence_id)
            if sequence is None:
                self.say(f"{where}.iterated_inputs", f"there is no sequence {sequence_id}", operation.id)
            elif len(sequence.values) != kind.count:
                text = f"sequence {sequence_id} has {len(sequence.values)} values for {kind.count} runs"
                self.say(f"{where}.iterated_inputs", text, operation.id)
        made: set[int] = set()
        for value in body.arguments:
            self.make(made, value, f"{where}.body.arguments", operation.id)
        self.scope(body.operations, made, body.value_shapes.keys(), f"{where}.body.operations")
        self.known(made, body.yields, f"{where}.body.yields", f"Repeat {operation.id}", operation.id)


def recipe_problems(recipe: Recipe) -> list[Problem]:
    """Operations without a plan, plans without an operation, homes and boundaries of values that do not exist."""
    operations = {operation.id: operation for operation, _ in recipe.graph.walk()}
    values: set[int] = {item.value for item in recipe.graph.inputs} | set(recipe.graph.shapes)
    for operation in operations.values():
        values.update(operation.results)
        if isinstance(operation.kind, RepeatKind):
            values.update(operation.kind.body.arguments)
    problems: list[Problem] = []
    for number, operation in operations.items():
        problems += _plan_problems(recipe, number, operation)
    for place, ids in (("recipe.plans", recipe.plans), ("alternatives", recipe.alternatives)):
        for number in ids:
            found = operations.get(number)
            if found is None or isinstance(found.kind, RepeatKind):
                what = "there is no such operation" if found is None else "it is a Repeat, which needs none"
                problems.append(Problem("warning", f"{place}.{number}", f"operation {number}: {what}; kept, not used"))
    inputs = {item.value for item in recipe.graph.inputs}
    for number in recipe.inputs:
        if number not in inputs:
            text = f"value {number} is not an input of the graph; its home is kept, not used"
            problems.append(Problem("warning", f"inputs.{number}", text))
    for number in sorted(recipe.open_boundaries - values):
        text = f"there is no value {number}; kept, not used"
        problems.append(Problem("warning", "recipe.open_boundaries", text))
    return problems


def _plan_problems(recipe: Recipe, number: int, operation: Operation) -> list[Problem]:
    """What is odd about one operation's plans."""
    if isinstance(operation.kind, RepeatKind):
        return []
    problems: list[Problem] = []
    name = kind_name(operation.kind)
    if isinstance(operation.kind, UnknownKind):
        text = f"operation {number} is of the unknown kind {name}: what depends on its memory is unavailable"
        problems.append(Problem("note", "context: graph.operations", text, operation=number))
    plan = recipe.plans.get(number)
    place = f"recipe.plans.{number}"
    if plan is None:
        hint = "Swap one of its alternatives in." if recipe.alternatives.get(number) else ""
        problems.append(Problem("error", place, f"operation {number} ({name}) has no plan", hint, operation=number))
        return problems
    if len(plan.inputs) != len(operation.inputs):
        text = f"the plan is for {len(plan.inputs)} operands, operation {number} has {len(operation.inputs)}"
        problems.append(Problem("error", f"{place}.requirements.inputs", text, operation=number))
    unknown = unknown_part(plan)
    if unknown is not None:
        text = (
            f"operation {number} uses {unknown.name}, which TileView does not know: what depends on it is unavailable"
        )
        problems.append(Problem("note", place, text, operation=number))
    if recipe.in_force(number) is None:
        kept = len(recipe.alternatives.get(number, ()))
        text = f"the current plan of operation {number} is not among its {kept} alternatives"
        problems.append(Problem("note", f"alternatives.{number}", text, operation=number))
    return problems


def unknown_part(plan: Plan) -> Unknown | None:
    """The operator, dispatch or distribution of a plan that is not known, None where all are."""
    if isinstance(plan.operator, Unknown):
        return plan.operator
    if isinstance(plan.dispatch, Unknown):
        return plan.dispatch
    if isinstance(plan.dispatch, BlockedGemm) and isinstance(plan.dispatch.distribution, Unknown):
        return plan.dispatch.distribution
    return None
