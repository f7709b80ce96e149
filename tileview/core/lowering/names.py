"""What lowered values are called: by the graph value they stem from."""

from __future__ import annotations

from tileview.model.graph import Graph, Operation, RepeatKind

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
