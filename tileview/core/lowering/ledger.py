"""The values of a program being lowered, as columns, and the regions their steps stand in.

What lowered values are called: by the graph value they stem from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tileview.core.lowering.valuetypes import ValueType
from tileview.model.graph import Graph, Operation, RepeatKind
from tileview.model.program import Step, Value
from tileview.model.tensor import Shape


class Ledger:
    """Lowered values by number: graph origin, type, storage group, whether one counts as a parameter.

    ``automatic`` holds the parameters whose layout is still open, with the number of copies a home must have room for.
    Columns, not objects: types and groups of inputs and arguments change until the whole program is lowered. ``made``
    holds the finished value where nothing can change it any more, else None.
    """

    __slots__ = ("automatic", "groups", "made", "origins", "parameters", "types")

    def __init__(self) -> None:
        self.origins: list[int] = []
        self.types: list[ValueType] = []
        self.groups: list[int] = []
        self.parameters: list[bool] = []
        self.made: list[Value | None] = []
        self.automatic: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self.types)

    def begin_with(self, other: Ledger, count: int) -> None:
        """Take over the first ``count`` values of a ledger, in place of those here."""
        self.origins, self.types, self.groups = other.origins[:count], other.types[:count], other.groups[:count]
        self.parameters, self.made = other.parameters[:count], other.made[:count]

    def add(self, origin: int, value_type: ValueType, group: int | None = None, parameter: bool = False) -> int:
        """A new value; without a group it is a storage group of its own."""
        number = len(self.types)
        self.origins.append(origin)
        self.types.append(value_type)
        self.groups.append(number if group is None else group)
        self.parameters.append(parameter)
        self.made.append(None)
        return number

    def add_temporaries(self, origin: int, types: Sequence[ValueType]) -> range:
        """A plan's temporaries: groups of their own, no parameters."""
        start = len(self.types)
        numbers = range(start, start + len(types))
        self.origins.extend([origin] * len(types))
        self.types.extend(types)
        self.groups.extend(numbers)
        self.parameters.extend([False] * len(types))
        self.made.extend([None] * len(types))
        return numbers


class LoweredRegion:
    """A list of operations being lowered: the graph, or the body of a Repeat.

    ``environment``: graph value → the lowered value its consumers use. ``uses``: how often each graph value is used
    here, outputs or yields included. ``casts``: (value, type) → the result of the first Cast of that value to that
    type here.
    """

    __slots__ = ("casts", "environment", "shapes", "steps", "uses")

    def __init__(self, environment: dict[int, int], shapes: Mapping[int, Shape], uses: Mapping[int, int]) -> None:
        self.environment = environment
        self.shapes = shapes
        self.uses = uses
        self.steps: list[Step] = []
        self.casts: dict[tuple[int, ValueType], int] = {}


ValueNames = dict[int, tuple[str, str]]
"""Graph value → name, and the group its memory is counted under."""


def value_names(graph: Graph) -> ValueNames:
    """Names of all graph values.

    A graph input keeps its name; its group is its sequence's name if it is in one. A result is called ``operation N
    result i``, which is its group too. A body argument is called after what it stands for (for a sequence, the
    sequence) with `` (body argument)`` behind, and counted under that value's group.
    """
    sequence_of: dict[int, str] = {}
    for sequence in graph.sequences:
        for member in sequence.values:
            sequence_of.setdefault(member, sequence.name)
    names = {given.value: (given.name, sequence_of.get(given.value, given.name)) for given in graph.inputs}
    _name_results(graph.operations, {sequence.id: sequence.name for sequence in graph.sequences}, names)
    return names


def name_of(names: ValueNames, value: int) -> tuple[str, str]:
    """Name and group of a graph value; ``value ORIGIN`` for one that is neither input, result nor argument."""
    found = names.get(value)
    if found is None:
        text = f"value {value}"
        return text, text
    return found


def _name_results(operations: tuple[Operation, ...], sequences: dict[int, str], names: ValueNames) -> None:
    for operation in operations:
        for index, result in enumerate(operation.results):
            text = f"operation {operation.id} result {index}"
            names[result] = (text, text)
        if isinstance(operation.kind, RepeatKind):
            stood_for = [name_of(names, value) for value in operation.inputs]
            for sequence in operation.kind.iterated_inputs:
                text = sequences.get(sequence, f"sequence {sequence}")
                stood_for.append((text, text))
            body = operation.kind.body
            for argument, (name, group) in zip(body.arguments, stood_for, strict=False):
                names[argument] = (f"{name} (body argument)", group)
            _name_results(body.operations, sequences, names)
